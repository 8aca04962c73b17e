//! XML elements out of a plain or gzipped stream, with line numbers and bounded memory.
//!
//! Guarantees, for any bytes whatsoever: no panic, no endless loop, and an error that names file and line. At most
//! [`Limits::max_element_bytes`] are held at a time, and reading stops after [`Limits::max_bytes`] unpacked bytes or when a
//! gzip stream unpacks to more than [`Limits::max_ratio`] times its size.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::map_error::MapError;
use crate::shorten::shorten;

/// How much a file may unpack to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes after unpacking; 2 GiB unless told otherwise (the largest city nets are some hundred megabytes).
    pub max_bytes: u64,
    /// Bytes of one element with its attributes; 16 MiB unless told otherwise.
    pub max_element_bytes: u64,
    /// Unpacked bytes per gzip byte, once more than 64 MiB are unpacked; 200 unless told otherwise (SUMO's files reach
    /// 10 to 40).
    pub max_ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 2 << 30,
            max_element_bytes: 16 << 20,
            max_ratio: 200,
        }
    }
}

/// Below so many unpacked bytes the ratio is not looked at.
const RATIO_FREE_BYTES: u64 = 64 << 20;

/// Larger coordinates (in metres) are errors: they would drown centimetres, or sum up to infinity.
const MAX_COORDINATE: f64 = 1e8;

/// Larger numbers of any other kind are errors.
const MAX_NUMBER: f64 = 1e12;

/// Counts the bytes that are taken from a packed stream.
struct Counted<R> {
    inner: R,
    taken: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.taken += n as u64;
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.taken += n as u64;
        self.inner.consume(n);
    }
}

enum Source<R: BufRead> {
    Plain(R),
    Gzip(Box<BufReader<MultiGzDecoder<Counted<R>>>>),
}

/// Counts lines and enforces the limits.
struct Metered<R: BufRead> {
    source: Source<R>,
    limits: Limits,
    /// Line of the next byte, from 1.
    line: u64,
    total: u64,
    /// Bytes of the element that is being read.
    element: u64,
}

impl<R: BufRead> Metered<R> {
    fn broken_limit(&self) -> Option<String> {
        if self.total > self.limits.max_bytes {
            return Some(format!(
                "the file unpacks to more than {} bytes",
                self.limits.max_bytes
            ));
        }
        if self.element > self.limits.max_element_bytes {
            return Some(format!(
                "one element has more than {} bytes",
                self.limits.max_element_bytes
            ));
        }
        if let Source::Gzip(reader) = &self.source
            && self.total > RATIO_FREE_BYTES
            && self.total / self.limits.max_ratio.max(1) > reader.get_ref().get_ref().taken
        {
            return Some(format!(
                "the gzip stream unpacks to more than {} times its size",
                self.limits.max_ratio
            ));
        }
        None
    }
}

impl<R: BufRead> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(buffer.len());
        buffer[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Metered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.broken_limit().is_some() {
            return Err(io::Error::other("limit"));
        }
        match &mut self.source {
            Source::Plain(reader) => reader.fill_buf(),
            Source::Gzip(reader) => reader.fill_buf(),
        }
    }

    fn consume(&mut self, n: usize) {
        // The buffer is full already, so asking for it again costs nothing and cannot fail.
        let buffer = match &mut self.source {
            Source::Plain(reader) => reader.fill_buf(),
            Source::Gzip(reader) => reader.fill_buf(),
        };
        if let Ok(buffer) = buffer {
            let taken = &buffer[..n.min(buffer.len())];
            self.line += taken.iter().filter(|&&byte| byte == b'\n').count() as u64;
        }
        self.total += n as u64;
        self.element += n as u64;
        match &mut self.source {
            Source::Plain(reader) => reader.consume(n),
            Source::Gzip(reader) => reader.consume(n),
        }
    }
}

/// What comes next in the stream.
pub(crate) enum Node<'a> {
    /// An element begins.
    Open(Element<'a>),
    /// The innermost open element ends.
    Close,
    /// The document is over, all elements closed.
    End,
}

/// The beginning of an element, with its attributes.
pub(crate) struct Element<'a> {
    start: BytesStart<'a>,
    pub(crate) file: &'a str,
    pub(crate) line: u64,
    /// 1 for the outermost element.
    pub(crate) depth: usize,
}

/// A stream of elements.
pub(crate) struct Elements<R: BufRead> {
    reader: quick_xml::Reader<Metered<R>>,
    file: String,
    buffer: Vec<u8>,
    depth: usize,
    gzip: bool,
}

impl Elements<BufReader<File>> {
    /// Elements of the file at `path`.
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<Self, MapError> {
        let file = path.display().to_string();
        match File::open(path) {
            Ok(handle) => Self::new(&file, BufReader::with_capacity(1 << 16, handle), limits),
            Err(source) => Err(MapError::Open { file, source }),
        }
    }
}

impl<R: BufRead> Elements<R> {
    /// Elements of `reader`, called `file` in messages. Gzip is known by its first two bytes, not by the name.
    pub(crate) fn new(file: &str, mut reader: R, limits: Limits) -> Result<Self, MapError> {
        let gzip = loop {
            match reader.fill_buf() {
                // A buffer of one byte cannot tell; none of the readers in use gives one unless the file is that short.
                Ok(head) => break head.starts_with(&[0x1f, 0x8b]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(MapError::Open {
                        file: file.to_owned(),
                        source,
                    });
                }
            }
        };
        let source = if gzip {
            let counted = Counted {
                inner: reader,
                taken: 0,
            };
            Source::Gzip(Box::new(BufReader::with_capacity(
                1 << 16,
                MultiGzDecoder::new(counted),
            )))
        } else {
            Source::Plain(reader)
        };
        let mut reader = quick_xml::Reader::from_reader(Metered {
            source,
            limits,
            line: 1,
            total: 0,
            element: 0,
        });
        reader.config_mut().expand_empty_elements = true;
        Ok(Self {
            reader,
            file: file.to_owned(),
            buffer: Vec::new(),
            depth: 0,
            gzip,
        })
    }

    /// The name in messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// What comes next; text, comments and declarations are passed over.
    pub(crate) fn next(&mut self) -> Result<Node<'_>, MapError> {
        loop {
            self.buffer.clear();
            self.reader.get_mut().element = 0;
            // White space between elements is an event of its own, so this is the line where the next event begins.
            let line = self.reader.get_ref().line;
            // The borrow checker cannot see that the buffer is free again when the loop goes on, so the events that are
            // returned are told apart before they are read as such.
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(error) => return Err(self.fault(error, line)),
            };
            match event {
                Event::Start(start) => {
                    self.depth += 1;
                    let start = start.into_owned();
                    return Ok(Node::Open(Element {
                        start,
                        file: &self.file,
                        line,
                        depth: self.depth,
                    }));
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Node::Close);
                }
                Event::Eof if self.depth > 0 => {
                    return Err(MapError::Syntax {
                        file: self.file.clone(),
                        line,
                        problem: format!("the file ends with {} elements still open", self.depth),
                    });
                }
                Event::Eof => return Ok(Node::End),
                _ => {}
            }
        }
    }

    fn fault(&self, error: quick_xml::Error, line: u64) -> MapError {
        let file = self.file.clone();
        if let Some(problem) = self.reader.get_ref().broken_limit() {
            return MapError::TooLarge {
                file,
                line,
                problem,
            };
        }
        match error {
            quick_xml::Error::Io(source) => MapError::Read {
                file,
                line,
                advice: if self.gzip {
                    "the gzip stream is cut short or damaged, fetch or make the file again"
                } else {
                    "check the disk and the file"
                },
                source: io::Error::new(source.kind(), source.to_string()),
            },
            quick_xml::Error::Encoding(error) => MapError::Syntax {
                file,
                line,
                problem: format!("not UTF-8 ({error})"),
            },
            other => MapError::Syntax {
                file,
                line,
                problem: other.to_string(),
            },
        }
    }
}

impl Element<'_> {
    pub(crate) fn name(&self) -> &str {
        self.start.name().into_inner()
    }

    /// The attribute `name`, or none. The first counts where a broken file has it twice.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<Cow<'_, str>>, MapError> {
        let mut attributes = self.start.attributes();
        // Looking for doubles would cost quadratic time on hostile input.
        attributes.with_checks(false);
        for attribute in attributes {
            let attribute = attribute.map_err(|error| self.syntax(error.to_string()))?;
            if attribute.key.into_inner() == name {
                return match attribute.normalized_value(XmlVersion::Implicit1_0) {
                    Ok(value) => Ok(Some(value)),
                    Err(error) => Err(self.syntax(error.to_string())),
                };
            }
        }
        Ok(None)
    }

    fn syntax(&self, problem: String) -> MapError {
        MapError::Syntax {
            file: self.file.to_owned(),
            line: self.line,
            problem,
        }
    }

    /// How the element is called in messages: `<lane id="a_0">`.
    pub(crate) fn label(&self) -> String {
        match self.text("id") {
            Ok(Some(id)) => format!("<{} id=\"{}\">", shorten(self.name()), shorten(&id)),
            _ => format!("<{}>", shorten(self.name())),
        }
    }

    /// The attribute `name`, or an error that says what it should hold.
    pub(crate) fn required(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Cow<'_, str>, MapError> {
        self.text(name)?.ok_or_else(|| self.missing(name, expected))
    }

    /// `name` is absent.
    pub(crate) fn missing(&self, name: &'static str, expected: &'static str) -> MapError {
        MapError::MissingAttribute {
            file: self.file.to_owned(),
            line: self.line,
            element: self.label(),
            attribute: name,
            expected,
        }
    }

    /// `name` holds something that it should not.
    pub(crate) fn bad(&self, name: &'static str, found: &str, expected: &'static str) -> MapError {
        MapError::BadAttribute {
            file: self.file.to_owned(),
            line: self.line,
            element: self.label(),
            attribute: name,
            found: shorten(found),
            expected,
        }
    }

    /// A number, if the attribute is there.
    pub(crate) fn number(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<f64>, MapError> {
        match self.text(name)? {
            None => Ok(None),
            Some(text) => match text.trim().parse::<f64>() {
                Ok(value) if value.abs() <= MAX_NUMBER => Ok(Some(value)),
                _ => Err(self.bad(name, &text, expected)),
            },
        }
    }

    /// A number that is at least 0, if the attribute is there.
    pub(crate) fn positive(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<f64>, MapError> {
        match self.number(name, expected)? {
            Some(value) if value < 0.0 => Err(self.bad(name, &value.to_string(), expected)),
            other => Ok(other),
        }
    }

    /// A whole number that is at least 0, if the attribute is there.
    pub(crate) fn index(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<u32>, MapError> {
        match self.text(name)? {
            None => Ok(None),
            Some(text) => match text.trim().parse::<u32>() {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(self.bad(name, &text, expected)),
            },
        }
    }

    /// True or false as SUMO writes it; absent means false.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, MapError> {
        match self.text(name)? {
            None => Ok(false),
            Some(text) => match text.trim().to_ascii_lowercase().as_str() {
                "1" | "true" | "t" | "yes" | "on" | "x" => Ok(true),
                "0" | "false" | "f" | "no" | "off" | "-" | "" => Ok(false),
                _ => Err(self.bad(name, &text, "true or false")),
            },
        }
    }

    /// Points written as `x,y x,y` or `x,y,z x,y,z`; heights are passed over.
    pub(crate) fn points(&self, name: &'static str) -> Result<Option<Vec<crate::Point>>, MapError> {
        const EXPECTED: &str =
            "points written as \"x,y x,y\" or \"x,y,z x,y,z\", numbers of metres up to 1e8";
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let mut points = Vec::new();
        for token in text.split_ascii_whitespace() {
            let mut numbers = [0.0; 3];
            let mut count = 0;
            for number in token.split(',') {
                match number.parse::<f64>() {
                    Ok(value) if value.abs() <= MAX_COORDINATE && count < 3 => {
                        numbers[count] = value;
                    }
                    _ => return Err(self.bad(name, token, EXPECTED)),
                }
                count += 1;
            }
            if count < 2 {
                return Err(self.bad(name, token, EXPECTED));
            }
            points.push(crate::Point::new(numbers[0], numbers[1]));
        }
        Ok(Some(points))
    }
}
