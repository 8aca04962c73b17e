//! The elements of a net as they stand in the file, before names are looked up.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::geometry::{Point, Polyline};
use crate::map_error::{MapError, WarningKind, Warnings};
use crate::network::{EdgeKind, Location, Phase, Request};
use crate::xml::{Element, Elements, Node};

/// SUMO's lane width where none is written.
const DEFAULT_LANE_WIDTH: f64 = 3.2;

pub(super) struct RawEdge {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) kind: EdgeKind,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) priority: i32,
    pub(super) road_type: String,
    pub(super) lanes: Vec<RawLane>,
}

pub(super) struct RawLane {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) width: f64,
    pub(super) speed: f64,
    pub(super) length: f64,
    pub(super) shape: Polyline,
    pub(super) drivable: bool,
}

pub(super) struct RawJunction {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) position: Point,
    pub(super) outline: Vec<Point>,
    pub(super) incoming: Vec<String>,
    pub(super) internal: Vec<String>,
    pub(super) requests: Vec<(u64, u32, Request)>,
}

pub(super) struct RawConnection {
    pub(super) line: u64,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) from_lane: u32,
    pub(super) to_lane: u32,
    pub(super) via: Option<String>,
    pub(super) light: Option<(String, u32)>,
    pub(super) direction: String,
}

pub(super) struct RawProgram {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) program: String,
    pub(super) offset: f64,
    pub(super) phases: Vec<Phase>,
}

/// All of a net file that matters.
#[derive(Default)]
pub(super) struct Document {
    pub(super) left_hand: bool,
    pub(super) location: Option<Location>,
    pub(super) edges: Vec<RawEdge>,
    pub(super) junctions: Vec<RawJunction>,
    pub(super) connections: Vec<RawConnection>,
    pub(super) programs: Vec<RawProgram>,
    /// Program to begin with, by light, as the file's `WAUT` elements say.
    pub(super) first_programs: BTreeMap<String, String>,
    /// `startProg` of each `WAUT`.
    switches: BTreeMap<String, String>,
}

/// The element of depth 2 that is open.
enum Open {
    Edge,
    Junction,
    Program,
    Connection,
    /// Something that is not read; its children are not looked at.
    Skipped,
}

impl Document {
    pub(super) fn read<R: BufRead>(
        elements: &mut Elements<R>,
        warnings: &mut Warnings,
    ) -> Result<Self, MapError> {
        let mut document = Self::default();
        let mut open = Open::Skipped;
        let mut seen_root = false;
        let mut depth = 0_usize;
        loop {
            match elements.next()? {
                Node::Open(element) => {
                    depth = element.depth;
                    match depth {
                        1 => {
                            if element.name() != "net" || seen_root {
                                return Err(MapError::WrongRoot {
                                    file: element.file.to_owned(),
                                    line: element.line,
                                    found: crate::shorten::shorten(element.name()),
                                    expected: "net",
                                });
                            }
                            seen_root = true;
                            document.left_hand =
                                element.flag("lefthand")? || element.flag("leftHand")?;
                        }
                        2 => open = document.top(&element, warnings)?,
                        3 => document.child(&open, &element, warnings)?,
                        _ => {}
                    }
                }
                Node::Close => {
                    if depth == 2 && matches!(open, Open::Edge) {
                        close_edge(document.edges.last(), elements.file())?;
                    }
                    depth = depth.saturating_sub(1);
                }
                Node::End => break,
            }
        }
        if !seen_root {
            return Err(MapError::Syntax {
                file: elements.file().to_owned(),
                line: 1,
                problem: "there is no <net> element".to_owned(),
            });
        }
        Ok(document)
    }

    fn top(&mut self, element: &Element<'_>, warnings: &mut Warnings) -> Result<Open, MapError> {
        match element.name() {
            "edge" => {
                self.edges.push(edge(element, warnings)?);
                Ok(Open::Edge)
            }
            "junction" => {
                self.junctions.push(junction(element)?);
                Ok(Open::Junction)
            }
            "connection" => {
                self.connections.push(connection(element)?);
                Ok(Open::Connection)
            }
            "tlLogic" => {
                self.programs.push(program(element)?);
                Ok(Open::Program)
            }
            "location" => {
                if self.location.is_none() {
                    self.location = Some(location(element)?);
                }
                Ok(Open::Skipped)
            }
            "WAUT" => {
                let id = element.required("id", "the name of the switching plan")?;
                if let Some(program) = element.text("startProg")? {
                    self.switches.insert(id.into_owned(), program.into_owned());
                }
                Ok(Open::Skipped)
            }
            "wautJunction" => {
                let plan = element.required("wautID", "the name of a switching plan")?;
                let light = element.required("junctionID", "the name of a traffic light")?;
                if let Some(program) = self.switches.get(plan.as_ref()) {
                    self.first_programs
                        .insert(light.into_owned(), program.clone());
                }
                Ok(Open::Skipped)
            }
            // Road types and free parameters say nothing that the edges do not say again.
            "type" | "param" => Ok(Open::Skipped),
            other => {
                warnings.add(
                    WarningKind::SkippedElement,
                    other,
                    element.file,
                    element.line,
                );
                Ok(Open::Skipped)
            }
        }
    }

    fn child(
        &mut self,
        open: &Open,
        element: &Element<'_>,
        warnings: &mut Warnings,
    ) -> Result<(), MapError> {
        match (open, element.name()) {
            (Open::Edge, "lane") => {
                if let Some(edge) = self.edges.last_mut() {
                    let position = edge.lanes.len();
                    edge.lanes
                        .push(lane(element, edge.kind, position, warnings)?);
                }
            }
            (Open::Junction, "request") => {
                if let Some(junction) = self.junctions.last_mut() {
                    junction.requests.push(request(element)?);
                }
            }
            (Open::Program, "phase") => {
                if let Some(program) = self.programs.last_mut() {
                    let phase = phase(element, program)?;
                    program.phases.push(phase);
                }
            }
            (Open::Skipped, _) | (_, "param" | "stopOffset" | "neigh") => {}
            (_, other) => {
                warnings.add(
                    WarningKind::SkippedElement,
                    other,
                    element.file,
                    element.line,
                );
            }
        }
        Ok(())
    }
}

fn edge(element: &Element<'_>, warnings: &mut Warnings) -> Result<RawEdge, MapError> {
    let function = element.text("function")?.unwrap_or_default();
    let kind = match function.as_ref() {
        "" | "normal" => EdgeKind::Normal,
        "internal" => EdgeKind::Internal,
        "crossing" | "walkingarea" => EdgeKind::Pedestrian,
        _ => EdgeKind::Other,
    };
    if matches!(kind, EdgeKind::Pedestrian | EdgeKind::Other) {
        warnings.add(
            WarningKind::EdgeFunction,
            &function,
            element.file,
            element.line,
        );
    }
    let owned = |text: Option<std::borrow::Cow<'_, str>>| text.map(std::borrow::Cow::into_owned);
    let from = owned(element.text("from")?);
    let to = owned(element.text("to")?);
    if kind == EdgeKind::Normal {
        for (end, name) in [(&from, "from"), (&to, "to")] {
            if end.is_none() {
                return Err(element.missing(name, "the id of a junction"));
            }
        }
    }
    let priority = match element.text("priority")? {
        None => -1,
        Some(text) => text
            .trim()
            .parse()
            .map_err(|_| element.bad("priority", &text, "a whole number"))?,
    };
    Ok(RawEdge {
        line: element.line,
        name: element.required("id", "the edge's name")?.into_owned(),
        kind,
        from,
        to,
        priority,
        road_type: owned(element.text("type")?).unwrap_or_default(),
        lanes: Vec::new(),
    })
}

/// Puts the lanes in order and checks that none is missing.
fn close_edge(edge: Option<&RawEdge>, file: &str) -> Result<(), MapError> {
    match edge {
        Some(edge) if edge.lanes.is_empty() => Err(MapError::MissingAttribute {
            file: file.to_owned(),
            line: edge.line,
            element: format!("<edge id=\"{}\">", crate::shorten::shorten(&edge.name)),
            attribute: "lane",
            expected: "at least one <lane> inside",
        }),
        _ => Ok(()),
    }
}

fn lane(
    element: &Element<'_>,
    kind: EdgeKind,
    position: usize,
    warnings: &mut Warnings,
) -> Result<RawLane, MapError> {
    const SHAPE: &str = "the centre line as points \"x,y x,y\"";
    let points = element
        .points("shape")?
        .ok_or_else(|| element.missing("shape", SHAPE))?;
    let shape = Polyline::new(points).ok_or_else(|| element.bad("shape", "", SHAPE))?;
    let length = element
        .positive("length", "a length in metres, at least 0")?
        .unwrap_or_else(|| shape.length());
    if length <= 0.0 || shape.length() <= 0.0 {
        warnings.add(WarningKind::ZeroLengthLane, "", element.file, element.line);
    }
    // SUMO goes by the order; on internal edges some releases write 0 for all lanes.
    let index = u32::try_from(position).unwrap_or(u32::MAX);
    let written = element.index("index", "the lane's number, from 0 at the kerb")?;
    if kind == EdgeKind::Normal && written.is_some_and(|written| written != index) {
        return Err(element.bad(
            "index",
            &written.unwrap_or_default().to_string(),
            "the lanes of an edge in order, numbered from 0",
        ));
    }
    let drivable = drivable(
        element.text("allow")?.as_deref(),
        element.text("disallow")?.as_deref(),
    );
    if !drivable {
        warnings.add(WarningKind::ClosedLane, "", element.file, element.line);
    }
    Ok(RawLane {
        line: element.line,
        name: element.required("id", "the lane's name")?.into_owned(),
        index,
        width: element
            .positive("width", "a width in metres, at least 0")?
            .unwrap_or(DEFAULT_LANE_WIDTH),
        speed: element
            .positive("speed", "a speed in m/s, at least 0")?
            .ok_or_else(|| element.missing("speed", "a speed in m/s"))?,
        length,
        shape,
        drivable,
    })
}

/// Passenger cars may use a lane with these permissions.
fn drivable(allow: Option<&str>, disallow: Option<&str>) -> bool {
    let names = |list: &str| {
        list.split_ascii_whitespace()
            .any(|class| class == "passenger" || class == "all")
    };
    match (allow, disallow) {
        (Some(allow), _) if !allow.trim().is_empty() => names(allow),
        (_, Some(disallow)) => !names(disallow),
        _ => true,
    }
}

fn junction(element: &Element<'_>) -> Result<RawJunction, MapError> {
    let list = |name| -> Result<Vec<String>, MapError> {
        Ok(element
            .text(name)?
            .unwrap_or_default()
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect())
    };
    let coordinate = |name| {
        element
            .number(name, "a coordinate in metres")?
            .ok_or_else(|| element.missing(name, "a coordinate in metres"))
    };
    Ok(RawJunction {
        line: element.line,
        name: element.required("id", "the junction's name")?.into_owned(),
        kind: element
            .required("type", "the junction's type")?
            .into_owned(),
        position: Point::new(coordinate("x")?, coordinate("y")?),
        outline: element.points("shape")?.unwrap_or_default(),
        incoming: list("incLanes")?,
        internal: list("intLanes")?,
        requests: Vec::new(),
    })
}

fn request(element: &Element<'_>) -> Result<(u64, u32, Request), MapError> {
    const BITS: &str = "a row of 0 and 1, as long as the junction has requests";
    let bits = |name: &'static str| -> Result<Vec<bool>, MapError> {
        let text = element.required(name, BITS)?;
        // The file writes the highest index first.
        text.trim()
            .bytes()
            .rev()
            .map(|bit| match bit {
                b'0' => Ok(false),
                b'1' => Ok(true),
                _ => Err(element.bad(name, &text, BITS)),
            })
            .collect()
    };
    let index = element
        .index("index", "the row's number, from 0")?
        .ok_or_else(|| element.missing("index", "the row's number, from 0"))?;
    Ok((
        element.line,
        index,
        Request {
            yields_to: bits("response")?,
            foes: bits("foes")?,
            waits_inside: element.flag("cont")?,
        },
    ))
}

fn connection(element: &Element<'_>) -> Result<RawConnection, MapError> {
    const NUMBER: &str = "a lane's number, from 0";
    let edge = |name| {
        element
            .required(name, "the id of an edge")
            .map(std::borrow::Cow::into_owned)
    };
    let lane = |name| {
        element
            .index(name, NUMBER)?
            .ok_or_else(|| element.missing(name, NUMBER))
    };
    let light = match element.text("tl")? {
        None => None,
        Some(light) => {
            const PLACE: &str = "the place in the light's state, from 0, or -1 for none";
            // SUMO writes -1 where the light does not rule this way over the junction.
            if element
                .text("linkIndex")?
                .is_some_and(|text| text.trim() == "-1")
            {
                None
            } else {
                let place = element
                    .index("linkIndex", PLACE)?
                    .ok_or_else(|| element.missing("linkIndex", PLACE))?;
                Some((light.into_owned(), place))
            }
        }
    };
    Ok(RawConnection {
        line: element.line,
        from: edge("from")?,
        to: edge("to")?,
        from_lane: lane("fromLane")?,
        to_lane: lane("toLane")?,
        via: element.text("via")?.map(std::borrow::Cow::into_owned),
        light,
        direction: element.text("dir")?.unwrap_or_default().into_owned(),
    })
}

fn program(element: &Element<'_>) -> Result<RawProgram, MapError> {
    // SUMO also takes `begin`: the program starts with the simulation, which is what an offset of 0 means here.
    let offset = match element.text("offset")?.as_deref().map(str::trim) {
        Some("begin") => 0.0,
        _ => element
            .number("offset", "seconds, or `begin`")?
            .unwrap_or_default(),
    };
    Ok(RawProgram {
        line: element.line,
        name: element
            .required("id", "the traffic light's name")?
            .into_owned(),
        program: element.text("programID")?.unwrap_or_default().into_owned(),
        offset,
        phases: Vec::new(),
    })
}

fn phase(element: &Element<'_>, program: &RawProgram) -> Result<Phase, MapError> {
    const STATE: &str =
        "one of the letters GgyYrRsuoO a link, as many in each phase of the program";
    let duration = element
        .positive("duration", "seconds, at least 0")?
        .ok_or_else(|| element.missing("duration", "seconds"))?;
    let text = element.required("state", STATE)?;
    let state = text.trim().as_bytes().to_vec();
    let known = state.iter().all(|letter| b"GgyYrRsuoO".contains(letter));
    let even = program
        .phases
        .first()
        .is_none_or(|first| first.state.len() == state.len());
    if !known || !even {
        return Err(element.bad("state", &text, STATE));
    }
    Ok(Phase { duration, state })
}

fn location(element: &Element<'_>) -> Result<Location, MapError> {
    let offset = element.points("netOffset")?.unwrap_or_default();
    Ok(Location {
        projection: element
            .text("projParameter")?
            .map_or_else(|| "!".to_owned(), std::borrow::Cow::into_owned),
        offset: offset.first().copied().unwrap_or_default(),
    })
}
