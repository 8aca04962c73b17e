//! OpenStreetMap's protobuf format to its XML format, as far as SUMO's converters need it: nodes, ways and relations with
//! their tags; no history and no authors.

use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe};

use osmpbf::{Element, ElementReader, RelMemberType};

/// Why a protobuf file could not be turned into XML.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PbfError {
    /// The file is damaged.
    #[error("damaged protobuf file ({0})")]
    Damaged(String),
    /// The XML cannot be written.
    #[error("cannot write OSM XML ({0})")]
    Write(#[from] io::Error),
}

/// Writes all of `reader`, an `.osm.pbf`, as OSM XML.
///
/// # Errors
/// If the file is damaged or the XML cannot be written.
pub fn to_xml(reader: impl Read + Send, mut writer: impl Write) -> Result<(), PbfError> {
    writeln!(
        writer,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\" generator=\"covey\">"
    )?;
    let mut result = Ok(());
    // The library takes some damage (an unknown kind of member, coordinates that overflow) as a reason to panic.
    let read = panic::catch_unwind(AssertUnwindSafe(|| {
        ElementReader::new(reader).for_each(|element| {
            if result.is_ok() {
                result = write(&element, &mut writer);
            }
        })
    }));
    match read {
        Err(_) => return Err(PbfError::Damaged("values out of range".to_owned())),
        Ok(Err(error)) => return Err(PbfError::Damaged(error.to_string())),
        Ok(Ok(())) => result?,
    }
    writeln!(writer, "</osm>")?;
    Ok(())
}

fn write(element: &Element<'_>, writer: &mut impl Write) -> Result<(), PbfError> {
    match element {
        Element::Node(node) => {
            open_node(writer, node.id(), node.lat(), node.lon())?;
            tags(writer, node.tags())?;
            writeln!(writer, "</node>")?;
        }
        Element::DenseNode(node) => {
            open_node(writer, node.id(), node.lat(), node.lon())?;
            tags(writer, node.tags())?;
            writeln!(writer, "</node>")?;
        }
        Element::Way(way) => {
            write!(writer, "<way id=\"{}\" version=\"1\">", way.id())?;
            for reference in way.refs() {
                write!(writer, "<nd ref=\"{reference}\"/>")?;
            }
            tags(writer, way.tags())?;
            writeln!(writer, "</way>")?;
        }
        Element::Relation(relation) => {
            write!(writer, "<relation id=\"{}\" version=\"1\">", relation.id())?;
            for member in relation.members() {
                let kind = match member.member_type {
                    RelMemberType::Node => "node",
                    RelMemberType::Way => "way",
                    RelMemberType::Relation => "relation",
                };
                let role = member
                    .role()
                    .map_err(|error| PbfError::Damaged(error.to_string()))?;
                write!(
                    writer,
                    "<member type=\"{kind}\" ref=\"{}\" role=\"{}\"/>",
                    member.member_id,
                    Escaped(role)
                )?;
            }
            tags(writer, relation.tags())?;
            writeln!(writer, "</relation>")?;
        }
    }
    Ok(())
}

fn open_node(writer: &mut impl Write, id: i64, lat: f64, lon: f64) -> io::Result<()> {
    write!(
        writer,
        "<node id=\"{id}\" version=\"1\" lat=\"{lat:.7}\" lon=\"{lon:.7}\">"
    )
}

fn tags<'a>(
    writer: &mut impl Write,
    tags: impl Iterator<Item = (&'a str, &'a str)>,
) -> io::Result<()> {
    for (key, value) in tags {
        write!(
            writer,
            "<tag k=\"{}\" v=\"{}\"/>",
            Escaped(key),
            Escaped(value)
        )?;
    }
    Ok(())
}

/// Text as an attribute's value. Control characters, which XML cannot hold, become spaces.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write as _;
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c if c.is_control() => f.write_char(' ')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
