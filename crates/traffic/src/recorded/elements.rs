//! Elements and attributes of XML files.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::error::{At, FcdError, Place};
use super::input::{Opened, Text, open};

/// The value of an attribute, unescaped; none where it is absent or cannot be read.
pub(crate) fn attribute<'a>(tag: &'a BytesStart<'_>, name: &str) -> Option<Cow<'a, str>> {
    let mut attributes = tag.attributes();
    attributes.with_checks(false);
    attributes
        .flatten()
        .find(|a| a.key.as_ref() == name)
        .and_then(|a| a.normalized_value(XmlVersion::Implicit1_0).ok())
}

/// The error for what the XML reader stumbled over.
pub(super) fn xml_error(text: &Text, error: quick_xml::Error) -> FcdError {
    use quick_xml::errors::{IllFormedError, SyntaxError};
    match error {
        quick_xml::Error::Io(error) => text.broken(io::Error::new(error.kind(), error.to_string())),
        quick_xml::Error::Syntax(
            error @ (SyntaxError::UnclosedTag
            | SyntaxError::UnclosedSingleQuotedAttributeValue
            | SyntaxError::UnclosedDoubleQuotedAttributeValue
            | SyntaxError::UnclosedComment
            | SyntaxError::UnclosedXmlDecl
            | SyntaxError::UnclosedPI
            | SyntaxError::UnclosedCData
            | SyntaxError::UnclosedDoctype),
        ) => FcdError::Truncated {
            place: text.place(),
            found: error.to_string(),
        },
        quick_xml::Error::IllFormed(IllFormedError::MissingEndTag(tag)) => FcdError::Truncated {
            place: text.place(),
            found: format!("<{tag}> is never closed"),
        },
        error => FcdError::Syntax {
            place: text.place(),
            found: error.to_string(),
            expected: "well-formed XML".into(),
        },
    }
}

/// The text of an XML file, plain or gzipped.
pub(crate) fn text_of(path: &Path) -> Result<Text, FcdError> {
    match open(path)? {
        Opened::Xml(text) => Ok(text),
        _ => Err(FcdError::Syntax {
            place: Place {
                file: path.display().to_string(),
                at: At::Line(1),
            },
            found: "something else".into(),
            expected: "XML".into(),
        }),
    }
}

/// Shows every element of an XML file, plain or gzipped, to `visit`, in order.
pub(crate) fn visit_elements(
    path: &Path,
    mut visit: impl FnMut(&BytesStart<'_>),
) -> Result<(), FcdError> {
    let text = text_of(path)?;
    let mut reader = Reader::from_reader(text);
    let mut buffer = Vec::new();
    let mut depth = 0;
    loop {
        buffer.clear();
        reader.get_mut().begin_item();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) => {
                depth += 1;
                visit(&tag);
            }
            Ok(Event::Empty(tag)) => visit(&tag),
            Ok(Event::End(_)) => depth -= 1,
            Ok(Event::Eof) if depth > 0 => {
                return Err(FcdError::Truncated {
                    place: reader.get_ref().place(),
                    found: "the file ends before its last element is closed".into(),
                });
            }
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(xml_error(reader.get_ref(), error)),
        }
    }
}
