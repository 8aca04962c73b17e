//! OpenStreetMap's protobuf: any bytes are XML that can be read, or an error; never more of it than was allowed.

use covey_traffic::import::pbf::to_xml;
use quick_xml::Reader;
use quick_xml::events::Event;

/// Bytes of XML that one input may become.
const MOST: u64 = 1 << 20;

pub(crate) fn run(bytes: &[u8]) {
    let mut xml = Vec::new();
    let told = to_xml(bytes, &mut xml, MOST);
    assert!(xml.len() as u64 <= MOST, "{} bytes", xml.len());
    match told {
        Ok(()) => read(&String::from_utf8(xml).expect("XML is text")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// All elements are closed, all characters are XML's, and every node has a place.
fn read(xml: &str) {
    let foreign = |&c: &char| c < ' ' && c != '\n' || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert_eq!(xml.chars().find(foreign), None, "a character XML has not");
    let mut reader = Reader::from_str(xml);
    let mut open = 0;
    loop {
        let event = reader.read_event().expect("XML can be read");
        open += match event {
            Event::Start(_) => 1,
            Event::End(_) => -1,
            _ => 0,
        };
        match event {
            Event::Start(element) | Event::Empty(element) => {
                let mut places = 0;
                for attribute in element.attributes() {
                    let attribute = attribute.expect("attributes can be read");
                    if [&b"lat"[..], b"lon"].contains(&attribute.key.as_ref()) {
                        let value = std::str::from_utf8(&attribute.value).map(str::parse::<f64>);
                        assert!(matches!(value, Ok(Ok(degrees)) if degrees.is_finite()));
                        places += 1;
                    }
                }
                let is_node = element.name().as_ref() == b"node";
                assert_eq!(places, if is_node { 2 } else { 0 });
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open, 0, "an element is left open");
}

/// A number, seven bits a byte, the lowest first.
fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field that holds a number.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field that holds bytes.
fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    let head = [varint(field << 3 | 2), varint(value.len() as u64)].concat();
    [&head, value].concat()
}

/// A part of a file, with its content in one field of the blob: the field says how it is packed.
fn blob(kind: &str, field: u64, content: &[u8]) -> Vec<u8> {
    let blob = bytes(field, content);
    let header = [bytes(1, kind.as_bytes()), number(3, blob.len() as u64)].concat();
    let length = (header.len() as u32).to_be_bytes();
    [&length, &header[..], &blob].concat()
}

/// Elements of all kinds, and their texts.
fn block() -> Vec<u8> {
    let strings = ["", "highway", "primary", "a\"<&\u{1}"];
    let strings = strings.map(|text| bytes(1, text.as_bytes())).concat();
    // Signed numbers are doubled, and one less where they are negative.
    let node = [
        number(1, 13),
        bytes(2, &[1]),
        bytes(3, &[2]),
        number(8, 20),
        number(9, 19),
    ];
    let dense = [
        bytes(1, &[2, 2]),
        bytes(8, &[40, 1]),
        bytes(9, &[60, 2]),
        bytes(10, &[0, 1, 3, 0]),
    ];
    let way = [
        number(1, 100),
        bytes(2, &[1]),
        bytes(3, &[2]),
        bytes(8, &[2, 2]),
    ];
    let relation = [
        number(1, 5),
        bytes(8, &[1, 0, 0]),
        bytes(9, &[2, 2, 2]),
        bytes(10, &[0, 1, 2]),
    ];
    [
        bytes(1, &strings),
        bytes(
            2,
            &[bytes(1, &node.concat()), bytes(2, &dense.concat())].concat(),
        ),
        bytes(
            2,
            &[bytes(3, &way.concat()), bytes(4, &relation.concat())].concat(),
        ),
        number(17, 1_000),
        number(19, 5_000),
    ]
    .concat()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let features = [bytes(4, b"OsmSchema-V0.6"), bytes(4, b"DenseNodes")].concat();
    let header = blob("OSMHeader", 1, &features);
    let block = block();
    // Packed without packing: a stored block of deflate, with the sum of its bytes.
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in &block {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let length = block.len() as u16;
    let zlib = [
        &[0x78, 0x01, 0x01][..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        &block,
        &(b << 16 | a).to_be_bytes(),
    ];
    // One frame, whose size fits into a byte, with one raw block, the last.
    assert!(length < 256);
    let zstd = [
        &[0x28, 0xb5, 0x2f, 0xfd, 0x20, length as u8][..],
        &(u32::from(length) << 3 | 1).to_le_bytes()[..3],
        &block,
    ];
    [(1, block.clone()), (3, zlib.concat()), (7, zstd.concat())]
        .map(|(field, content)| [header.clone(), blob("OSMData", field, &content)].concat())
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_hold_elements_of_all_kinds() {
        for seed in seeds() {
            let mut xml = Vec::new();
            to_xml(&seed[..], &mut xml, MOST).unwrap();
            let xml = String::from_utf8(xml).unwrap();
            for element in ["<node", "<way", "<relation", "<tag", "<nd", "<member"] {
                assert!(xml.contains(element), "{element}: {xml}");
            }
        }
    }
}
