//! Floating-car data as XML.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::borrow::Cow;

use super::elements::{attribute, xml_error};
use super::error::{FcdError, Place};
use super::input::Text;
use super::row::{Resolver, Row, Tag, parse_time};
use super::{Item, Rows};

/// Reads `<fcd-export>` as a stream.
pub(super) struct XmlRows {
    reader: Reader<Text>,
    buffer: Vec<u8>,
    /// Open elements.
    depth: usize,
    /// The depth inside the present `<timestep>`; 0 outside.
    step_depth: usize,
    root_seen: bool,
}

impl XmlRows {
    pub(super) fn new(text: Text) -> Self {
        Self {
            reader: Reader::from_reader(text),
            buffer: Vec::new(),
            depth: 0,
            step_depth: 0,
            root_seen: false,
        }
    }

    fn open_tag(
        &mut self,
        tag: &BytesStart<'_>,
        empty: bool,
        resolver: &mut Resolver<'_>,
    ) -> Result<Option<Item>, FcdError> {
        let text = self.reader.get_ref();
        let name = tag.name();
        let name = name.as_ref();
        if self.depth == 0 {
            if name != "fcd-export" {
                return Err(FcdError::Syntax {
                    place: text.place(),
                    found: format!("<{name}>"),
                    expected: "<fcd-export>, the root of SUMO floating-car data".into(),
                });
            }
            self.root_seen = true;
        }
        let inside = self.step_depth > 0 && self.depth == self.step_depth;
        if !empty {
            self.depth += 1;
        }
        if name == "timestep" {
            let time = attribute(tag, "time").ok_or_else(|| FcdError::MissingField {
                place: text.place(),
                element: "<timestep>".into(),
                field: "time",
            })?;
            let time_us = parse_time(&time).ok_or_else(|| FcdError::BadValue {
                place: text.place(),
                element: "<timestep>".into(),
                field: "time",
                found: format!("`{time}`"),
                expected: "a number of seconds",
            })?;
            self.step_depth = if empty { 0 } else { self.depth };
            resolver.begin_step();
            return Ok(Some(Item::Time {
                time_us,
                number: text.line(),
            }));
        }
        let kind = match name {
            "vehicle" => Tag::Vehicle,
            "person" => Tag::Person,
            "container" => Tag::Container,
            _ => return Ok(None),
        };
        if !inside {
            return Err(FcdError::Syntax {
                place: text.place(),
                found: format!("<{name}> outside a <timestep>"),
                expected: "it inside one".into(),
            });
        }
        let sample = read_row(text, tag, kind, resolver)?;
        Ok(sample.map(Item::Sample))
    }
}

fn read_row(
    text: &Text,
    tag: &BytesStart<'_>,
    kind: Tag,
    resolver: &mut Resolver<'_>,
) -> Result<Option<super::row::Sample>, FcdError> {
    let mut id = Cow::Borrowed("");
    let mut kind_name = Cow::Borrowed("");
    let mut lane = Cow::Borrowed("");
    let mut edge = Cow::Borrowed("");
    let mut vehicle = Cow::Borrowed("");
    // x, y, angle, speed, pos
    let mut numbers = [None; 5];
    const FIELDS: [&str; 5] = ["x", "y", "angle", "speed", "pos"];
    let mut attributes = tag.attributes();
    attributes.with_checks(false);
    for attribute in attributes {
        let attribute = attribute.map_err(|error| FcdError::Syntax {
            place: text.place(),
            found: error.to_string(),
            expected: "attributes as name=\"value\"".into(),
        })?;
        let name = attribute.key.as_ref();
        let number = FIELDS.iter().position(|field| *field == name);
        let target = match name {
            "id" => &mut id,
            "type" => &mut kind_name,
            "lane" => &mut lane,
            "edge" => &mut edge,
            "vehicle" => &mut vehicle,
            _ if number.is_some() => {
                let Some(i) = number else { continue };
                numbers[i] = Some(attribute.value.trim().parse::<f64>().map_err(|_| {
                    FcdError::BadValue {
                        place: text.place(),
                        element: format!("<{}>", tag.name().as_ref()),
                        field: FIELDS[i],
                        found: format!("`{}`", attribute.value),
                        expected: "a number",
                    }
                })?);
                continue;
            }
            _ => continue,
        };
        *target = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| FcdError::Syntax {
                place: text.place(),
                found: error.to_string(),
                expected: "an attribute's text".into(),
            })?;
    }
    let missing = |field: &'static str| FcdError::MissingField {
        place: text.place(),
        element: if id.is_empty() {
            format!("<{}>", tag.name().as_ref())
        } else {
            format!("<{} id=\"{id}\">", tag.name().as_ref())
        },
        field,
    };
    if id.is_empty() {
        return Err(missing("id"));
    }
    let row = Row {
        size: [None; 3],
        tag: kind,
        id: &id,
        x: numbers[0].ok_or_else(|| missing("x"))?,
        y: numbers[1].ok_or_else(|| missing("y"))?,
        angle: numbers[2].ok_or_else(|| missing("angle"))?,
        speed: numbers[3].ok_or_else(|| missing("speed"))?,
        kind: &kind_name,
        lane: &lane,
        edge: &edge,
        vehicle: &vehicle,
        pos: numbers[4],
    };
    resolver.resolve(&row, &|| text.place(), text.line())
}

impl Rows for XmlRows {
    fn next_item(&mut self, resolver: &mut Resolver<'_>) -> Result<Item, FcdError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = loop {
            buffer.clear();
            self.reader.get_mut().begin_item();
            let event = match self.reader.read_event_into(&mut buffer) {
                Ok(event) => event,
                Err(error) => break Err(xml_error(self.reader.get_ref(), error)),
            };
            let (tag, empty) = match event {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => {
                    // The reader has checked that it closes the element opened last.
                    if self.depth == self.step_depth {
                        self.step_depth = 0;
                    }
                    self.depth = self.depth.saturating_sub(1);
                    continue;
                }
                Event::Eof if self.depth > 0 || !self.root_seen => {
                    let text = self.reader.get_ref();
                    break Err(FcdError::Truncated {
                        place: text.place(),
                        found: if self.root_seen {
                            "the file ends before </fcd-export>".into()
                        } else {
                            "the file ends before <fcd-export>".into()
                        },
                    });
                }
                Event::Eof => break Ok(Item::End),
                _ => continue,
            };
            match self.open_tag(&tag, empty, resolver) {
                Ok(Some(item)) => break Ok(item),
                Ok(None) => {}
                Err(error) => break Err(error),
            }
        };
        self.buffer = buffer;
        result
    }

    fn place(&self, number: u64) -> Place {
        self.reader.get_ref().place_at(number)
    }
}
