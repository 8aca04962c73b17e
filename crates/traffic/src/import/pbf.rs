//! OpenStreetMap's protobuf format to its XML format, as far as SUMO's converters need it: nodes, ways and relations with
//! their tags; no history and no authors.
//!
//! A file is a row of blobs, each with a short header before it. What a blob holds is described by its messages ([`format`]),
//! and decoded by prost without a compiler of protobuf. Blocks are read one after the other, so a file may be larger than memory; and
//! so are the elements of a block, which take many times as much room as in the file when they are empty.

mod format;

use std::io::{self, Read, Write};

use prost::Message;

use format::{
    Blob, BlobHeader, DenseNodes, HeaderBlock, MemberType, Node, Packed, PrimitiveBlock,
    PrimitiveGroup, Relation, Way,
};

/// The format's own limits, in bytes: of a blob's header, and of a blob, packed or not.
const HEADER_LIMIT: u32 = 64 << 10;
const BLOB_LIMIT: u64 = 32 << 20;
/// What a file may ask of its readers.
const FEATURES: [&str; 2] = ["OsmSchema-V0.6", "DenseNodes"];

/// Why a protobuf file could not be turned into XML.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PbfError {
    /// The file is damaged.
    #[error("damaged protobuf file ({0})")]
    Damaged(String),
    /// The file is of a kind that is not read.
    #[error(
        "protobuf file that needs {0}, which is not read; osmium or osmconvert turn it into .osm"
    )]
    Foreign(String),
    /// There is more of it than allowed: many elements may have one long text.
    #[error("protobuf file that becomes more than {0} bytes of XML")]
    TooLarge(u64),
    /// The XML cannot be written.
    #[error("cannot write OSM XML ({0})")]
    Write(#[from] io::Error),
}

impl PbfError {
    fn damaged(what: impl std::fmt::Display) -> Self {
        Self::Damaged(what.to_string())
    }
}

/// Writes all of `reader`, an `.osm.pbf`, as OSM XML of at most `max_bytes`.
///
/// # Errors
/// If the file is damaged, packed or made in a way that is not read, becomes too large, or if the XML cannot be written.
pub fn to_xml(mut reader: impl Read, writer: impl Write, max_bytes: u64) -> Result<(), PbfError> {
    let mut writer = Limited {
        writer,
        left: max_bytes,
        is_full: false,
    };
    let written = write_all(&mut reader, &mut writer);
    match written {
        Err(PbfError::Write(_)) if writer.is_full => Err(PbfError::TooLarge(max_bytes)),
        written => written,
    }
}

fn write_all(reader: &mut impl Read, writer: &mut impl Write) -> Result<(), PbfError> {
    writeln!(
        writer,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\" generator=\"covey\">"
    )?;
    while let Some((kind, content)) = next_blob(reader)? {
        match kind.as_str() {
            "OSMHeader" => check_features(&decoded(&content)?)?,
            "OSMData" => write_block(&decoded(&content)?, writer)?,
            // As the format wants it: what is not known is passed over.
            _ => {}
        }
    }
    writeln!(writer, "</osm>")?;
    Ok(())
}

/// Takes so many bytes and no more.
struct Limited<W> {
    writer: W,
    left: u64,
    is_full: bool,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full = bytes.len() as u64 > self.left;
        if self.is_full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let written = self.writer.write(bytes)?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn decoded<M: Message + Default>(bytes: &[u8]) -> Result<M, PbfError> {
    M::decode(bytes).map_err(PbfError::damaged)
}

/// The next blob's kind and what is packed in it, or nothing at the file's end.
fn next_blob(reader: &mut impl Read) -> Result<Option<(String, Vec<u8>)>, PbfError> {
    let mut length = Vec::with_capacity(4);
    let read = reader.by_ref().take(4).read_to_end(&mut length);
    read.map_err(PbfError::damaged)?;
    if length.is_empty() {
        return Ok(None);
    }
    let length: [u8; 4] = length
        .try_into()
        .map_err(|_| PbfError::damaged("it ends within the length of a header"))?;
    let length = u32::from_be_bytes(length);
    if length > HEADER_LIMIT {
        let text = format!("a header of {length} bytes; at most {HEADER_LIMIT} are allowed");
        return Err(PbfError::Damaged(text));
    }
    let header: BlobHeader = decoded(&exactly(reader, u64::from(length))?)?;
    let size = u64::try_from(header.datasize).unwrap_or(u64::MAX);
    if size > BLOB_LIMIT {
        let text = format!(
            "a blob of {} bytes; at most {BLOB_LIMIT} are allowed",
            header.datasize
        );
        return Err(PbfError::Damaged(text));
    }
    let blob: Blob = decoded(&exactly(reader, size)?)?;
    Ok(Some((header.kind, unpacked(blob)?)))
}

/// As many bytes as said; memory is taken only for those that are there.
fn exactly(reader: &mut impl Read, length: u64) -> Result<Vec<u8>, PbfError> {
    let mut bytes = Vec::new();
    let read = reader.by_ref().take(length).read_to_end(&mut bytes);
    let read = read.map_err(PbfError::damaged)? as u64;
    if read < length {
        let text = format!("it ends {} bytes early", length - read);
        return Err(PbfError::Damaged(text));
    }
    Ok(bytes)
}

fn unpacked(blob: Blob) -> Result<Vec<u8>, PbfError> {
    let foreign = |packing: &str| Err(PbfError::Foreign(format!("the packing {packing}")));
    match blob.data {
        None => Ok(Vec::new()),
        Some(Packed::Raw(bytes)) => Ok(bytes),
        Some(Packed::Zlib(bytes)) => inflated(flate2::read::ZlibDecoder::new(&bytes[..])),
        Some(Packed::Zstd(bytes)) => {
            inflated(zstd::stream::read::Decoder::new(&bytes[..]).map_err(PbfError::damaged)?)
        }
        Some(Packed::Lzma(_)) => foreign("lzma"),
        Some(Packed::Lz4(_)) => foreign("lz4"),
    }
}

fn inflated(decoder: impl Read) -> Result<Vec<u8>, PbfError> {
    let mut bytes = Vec::new();
    let read = decoder.take(BLOB_LIMIT + 1).read_to_end(&mut bytes);
    if read.map_err(PbfError::damaged)? as u64 > BLOB_LIMIT {
        let text = format!("a blob of more than {BLOB_LIMIT} bytes when unpacked");
        return Err(PbfError::Damaged(text));
    }
    Ok(bytes)
}

fn check_features(header: &HeaderBlock) -> Result<(), PbfError> {
    let mut wanted = header.required_features.iter();
    match wanted.find(|feature| !FEATURES.contains(&feature.as_str())) {
        None => Ok(()),
        Some(feature) => Err(PbfError::Foreign(format!("the feature `{feature}`"))),
    }
}

/// A block with what its elements refer to.
struct Block<'a> {
    strings: &'a [Vec<u8>],
    granularity: i64,
    offset: (i64, i64),
}

fn write_block(block: &PrimitiveBlock, writer: &mut impl Write) -> Result<(), PbfError> {
    let table = Block {
        strings: block.strings.as_ref().map_or(&[], |table| &table.strings),
        granularity: i64::from(block.granularity()),
        offset: (block.lat_offset(), block.lon_offset()),
    };
    for group in &block.groups {
        table.write_group(&decoded(group)?, writer)?;
    }
    Ok(())
}

impl Block<'_> {
    fn write_group(&self, group: &PrimitiveGroup, writer: &mut impl Write) -> Result<(), PbfError> {
        for node in &group.nodes {
            self.write_node(&decoded(node)?, writer)?;
        }
        if let Some(nodes) = &group.dense {
            self.write_dense(nodes, writer)?;
        }
        for way in &group.ways {
            self.write_way(&decoded(way)?, writer)?;
        }
        for relation in &group.relations {
            self.write_relation(&decoded(relation)?, writer)?;
        }
        Ok(())
    }

    fn string(&self, index: u32) -> Result<&str, PbfError> {
        let bytes = self.strings.get(index as usize).ok_or_else(|| {
            let known = self.strings.len();
            PbfError::Damaged(format!("text {index} of a table of {known}"))
        })?;
        std::str::from_utf8(bytes).map_err(PbfError::damaged)
    }

    /// Degrees of what is stored.
    fn degrees(&self, offset: i64, value: i64) -> Result<f64, PbfError> {
        let nano = self.granularity.checked_mul(value);
        let nano = nano.and_then(|nano| nano.checked_add(offset));
        let nano = nano.ok_or_else(|| PbfError::damaged("a coordinate out of range"))?;
        Ok(1e-9 * nano as f64)
    }

    fn open_node(
        &self,
        writer: &mut impl Write,
        id: i64,
        (lat, lon): (i64, i64),
    ) -> Result<(), PbfError> {
        let lat = self.degrees(self.offset.0, lat)?;
        let lon = self.degrees(self.offset.1, lon)?;
        write!(
            writer,
            "<node id=\"{id}\" version=\"1\" lat=\"{lat:.7}\" lon=\"{lon:.7}\">"
        )?;
        Ok(())
    }

    fn write_node(&self, node: &Node, writer: &mut impl Write) -> Result<(), PbfError> {
        self.open_node(writer, node.id, (node.lat, node.lon))?;
        self.write_tags(&node.keys, &node.values, writer)?;
        writeln!(writer, "</node>")?;
        Ok(())
    }

    /// Nodes of which each says how it differs from the last. Tags of all are one list, with a 0 after each node's.
    fn write_dense(&self, nodes: &DenseNodes, writer: &mut impl Write) -> Result<(), PbfError> {
        let count = nodes.ids.len();
        if nodes.lats.len() != count || nodes.lons.len() != count {
            return Err(PbfError::damaged("nodes and places differ in number"));
        }
        let (mut ids, mut lats, mut lons) =
            (Sum::new("node"), Sum::new("place"), Sum::new("place"));
        let mut tags = nodes.tags.iter();
        for ((&id, &lat), &lon) in nodes.ids.iter().zip(&nodes.lats).zip(&nodes.lons) {
            let place = (lats.add(lat)?, lons.add(lon)?);
            self.open_node(writer, ids.add(id)?, place)?;
            while let Some(&key) = tags.next().filter(|&&key| key != 0) {
                let value = tags
                    .next()
                    .ok_or_else(|| PbfError::damaged("a tag without a value"))?;
                self.write_tag(key, *value, writer)?;
            }
            writeln!(writer, "</node>")?;
        }
        Ok(())
    }

    fn write_way(&self, way: &Way, writer: &mut impl Write) -> Result<(), PbfError> {
        write!(writer, "<way id=\"{}\" version=\"1\">", way.id)?;
        let mut nodes = Sum::new("node");
        for &step in &way.refs {
            write!(writer, "<nd ref=\"{}\"/>", nodes.add(step)?)?;
        }
        self.write_tags(&way.keys, &way.values, writer)?;
        writeln!(writer, "</way>")?;
        Ok(())
    }

    fn write_relation(&self, relation: &Relation, writer: &mut impl Write) -> Result<(), PbfError> {
        let count = relation.members.len();
        if relation.roles.len() != count || relation.types.len() != count {
            return Err(PbfError::damaged("members and roles differ in number"));
        }
        write!(writer, "<relation id=\"{}\" version=\"1\">", relation.id)?;
        let mut members = Sum::new("member");
        let kinds = relation.roles.iter().zip(&relation.types);
        for (&step, (&role, &kind)) in relation.members.iter().zip(kinds) {
            let kind = match MemberType::try_from(kind) {
                Ok(MemberType::Node) => "node",
                Ok(MemberType::Way) => "way",
                Ok(MemberType::Relation) => "relation",
                Err(_) => return Err(PbfError::Damaged(format!("a member of kind {kind}"))),
            };
            write!(
                writer,
                "<member type=\"{kind}\" ref=\"{}\" role=\"{}\"/>",
                members.add(step)?,
                Escaped(self.string(role)?)
            )?;
        }
        self.write_tags(&relation.keys, &relation.values, writer)?;
        writeln!(writer, "</relation>")?;
        Ok(())
    }

    fn write_tags(
        &self,
        keys: &[u32],
        values: &[u32],
        writer: &mut impl Write,
    ) -> Result<(), PbfError> {
        if keys.len() != values.len() {
            return Err(PbfError::damaged("tags and values differ in number"));
        }
        for (&key, &value) in keys.iter().zip(values) {
            self.write_tag(key, value, writer)?;
        }
        Ok(())
    }

    fn write_tag(&self, key: u32, value: u32, writer: &mut impl Write) -> Result<(), PbfError> {
        let (key, value) = (self.string(key)?, self.string(value)?);
        write!(
            writer,
            "<tag k=\"{}\" v=\"{}\"/>",
            Escaped(key),
            Escaped(value)
        )?;
        Ok(())
    }
}

/// Numbers of which each is stored as its difference to the last.
struct Sum {
    of: &'static str,
    value: i64,
}

impl Sum {
    fn new(of: &'static str) -> Self {
        Self { of, value: 0 }
    }

    fn add(&mut self, step: i64) -> Result<i64, PbfError> {
        let sum = self.value.checked_add(step);
        self.value = sum.ok_or_else(|| PbfError::Damaged(format!("a {} out of range", self.of)))?;
        Ok(self.value)
    }
}

/// Text as an attribute's value. Characters that XML cannot hold become spaces.
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
                '\u{fffe}' | '\u{ffff}' => f.write_char(' ')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
