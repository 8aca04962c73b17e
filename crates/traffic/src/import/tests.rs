//! An invented town of one crossing.

use super::*;
use covey_world::network::JunctionKind;

/// Two streets that cross under a light, one building with a height, one with storeys; invented, in the sea off Japan.
const TOWN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6" generator="hand">
  <node id="1" version="1" lat="34.0000" lon="142.0000"/>
  <node id="2" version="1" lat="34.0000" lon="142.0020"><tag k="highway" v="traffic_signals"/></node>
  <node id="3" version="1" lat="34.0000" lon="142.0040"/>
  <node id="4" version="1" lat="33.9985" lon="142.0020"/>
  <node id="5" version="1" lat="34.0015" lon="142.0020"/>
  <node id="11" version="1" lat="34.0002" lon="142.0010"/>
  <node id="12" version="1" lat="34.0002" lon="142.0012"/>
  <node id="13" version="1" lat="34.0003" lon="142.0012"/>
  <node id="14" version="1" lat="34.0003" lon="142.0010"/>
  <node id="21" version="1" lat="34.0002" lon="142.0025"/>
  <node id="22" version="1" lat="34.0002" lon="142.0027"/>
  <node id="23" version="1" lat="34.0003" lon="142.0027"/>
  <way id="100" version="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="name" v="A &amp; B"/></way>
  <way id="101" version="1"><nd ref="4"/><nd ref="2"/><nd ref="5"/><tag k="highway" v="residential"/></way>
  <way id="102" version="1"><nd ref="11"/><nd ref="12"/><nd ref="13"/><nd ref="14"/><nd ref="11"/><tag k="building" v="yes"/><tag k="height" v="21"/></way>
  <way id="103" version="1"><nd ref="21"/><nd ref="22"/><nd ref="23"/><nd ref="21"/><tag k="building" v="house"/><tag k="building:levels" v="4"/></way>
</osm>
"#;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("covey-import-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn sumo() -> Sumo {
    match Sumo::find() {
        Ok(sumo) => sumo,
        Err(error) => panic!("this test needs SUMO; `cargo xtask setup` installs it: {error}"),
    }
}

#[test]
fn a_town_becomes_a_map() {
    let folder = folder("town");
    let osm = folder.join("town.osm");
    std::fs::write(&osm, TOWN).unwrap();
    let out = folder.join("out");
    let imported = import_osm(&osm, &out, &sumo(), &ImportOptions::default()).unwrap();
    assert!(imported.left_hand && imported.map.network.left_hand);
    let lights = imported
        .map
        .network
        .junctions
        .iter()
        .filter(|junction| junction.kind == JunctionKind::TrafficLight)
        .count();
    assert_eq!(lights, 1);
    let mut heights: Vec<f64> = imported.map.buildings.iter().map(|b| b.height).collect();
    heights.sort_by(f64::total_cmp);
    assert_eq!(heights, [12.0, 21.0]);
    let note = std::fs::read_to_string(out.join("PROVENANCE.md")).unwrap();
    assert!(
        note.contains("town.osm") && note.contains("left-hand"),
        "{note}"
    );
    // Nothing but the result is left.
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 3);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_converter_that_fails_says_why() {
    let folder = folder("fails");
    let osm = folder.join("cut.osm");
    std::fs::write(&osm, &TOWN[..900]).unwrap();
    let error = import_osm(
        &osm,
        &folder.join("out"),
        &sumo(),
        &ImportOptions::default(),
    )
    .unwrap_err()
    .to_string();
    assert!(error.starts_with("netconvert failed on "), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn extracts_are_told_apart_by_their_bytes() {
    let folder = folder("bytes");
    let plain = folder.join("plain.osm");
    let unpack_bytes = |bytes: &[u8]| {
        let osm = folder.join("extract");
        std::fs::write(&osm, bytes).unwrap();
        let result = unpack(&osm, &plain, 1 << 20);
        result.map(|place| (place, std::fs::read_to_string(&plain).unwrap()))
    };
    let (place, text) = unpack_bytes(TOWN.as_bytes()).unwrap();
    assert_eq!((place, text.as_str()), (Some((142.0, 34.0)), TOWN));

    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(TOWN.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    assert_eq!(unpack_bytes(&packed).unwrap().1, TOWN);
    let error = unpack_bytes(&packed[..packed.len() / 2])
        .unwrap_err()
        .to_string();
    assert!(error.contains("gzip stream is damaged"), "{error}");

    let (place, text) = unpack_bytes(&town_in_protobuf()).unwrap();
    assert_eq!(place, Some((142.0, 34.0)));
    assert_eq!(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\" generator=\"covey\">\n\
         <node id=\"1\" version=\"1\" lat=\"34.0000000\" lon=\"142.0000000\"></node>\n\
         <node id=\"2\" version=\"1\" lat=\"34.0000001\" lon=\"142.0000002\"></node>\n\
         <way id=\"100\" version=\"1\"><nd ref=\"1\"/><nd ref=\"2\"/><tag k=\"name\" v=\"A &amp; B\"/></way>\n</osm>\n"
    );
    let whole = town_in_protobuf();
    for cut in 70..whole.len() {
        // Cut between blobs, what is left is a whole file with less in it; anywhere else it is an error. Never a panic.
        let _ = unpack_bytes(&whole[..cut]);
    }
    let error = unpack_bytes(b"PK\x03\x04 a zip file")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("neither XML nor gzip nor protobuf"),
        "{error}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A protobuf field: number, then a varint or bytes.
fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn blob(out: &mut Vec<u8>, kind: &str, content: &[u8]) {
    let mut raw = Vec::new();
    bytes(&mut raw, 1, content);
    let mut header = Vec::new();
    bytes(&mut header, 1, kind.as_bytes());
    number(&mut header, 3, raw.len() as u64);
    out.extend_from_slice(&(header.len() as u32).to_be_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(&raw);
}

/// Two nodes (dense) and a way, as the OSM wiki describes the format.
fn town_in_protobuf() -> Vec<u8> {
    let mut header = Vec::new();
    bytes(&mut header, 4, b"OsmSchema-V0.6");
    bytes(&mut header, 4, b"DenseNodes");
    let mut strings = Vec::new();
    for string in ["", "name", "A & B"] {
        bytes(&mut strings, 1, string.as_bytes());
    }
    let packed = |values: &[i64]| {
        let mut out = Vec::new();
        for &value in values {
            varint(&mut out, zigzag(value));
        }
        out
    };
    let mut dense = Vec::new();
    bytes(&mut dense, 1, &packed(&[1, 1]));
    bytes(&mut dense, 8, &packed(&[340_000_000, 1]));
    bytes(&mut dense, 9, &packed(&[1_420_000_000, 2]));
    let mut way = Vec::new();
    number(&mut way, 1, 100);
    bytes(&mut way, 2, &[1]);
    bytes(&mut way, 3, &[2]);
    bytes(&mut way, 8, &packed(&[1, 1]));
    let mut nodes = Vec::new();
    bytes(&mut nodes, 2, &dense);
    let mut ways = Vec::new();
    bytes(&mut ways, 3, &way);
    let mut block = Vec::new();
    bytes(&mut block, 1, &strings);
    bytes(&mut block, 2, &nodes);
    bytes(&mut block, 2, &ways);
    let mut out = Vec::new();
    blob(&mut out, "OSMHeader", &header);
    blob(&mut out, "OSMData", &block);
    out
}

#[test]
fn names_and_sides_of_the_road() {
    assert_eq!(base_name(Path::new("x/my town.osm.pbf")), "my-town");
    assert_eq!(base_name(Path::new("a.osm.gz")), "a");
    assert_eq!(base_name(Path::new(".osm")), "map");
    assert!(drives_on_the_left(139.7, 35.66));
    assert!(drives_on_the_left(-0.1, 51.5));
    assert!(!drives_on_the_left(2.35, 48.85));
    assert!(!drives_on_the_left(-74.0, 40.7));
    assert!(!drives_on_the_left(1.85, 50.95));
}

fn xml_of(file: &[u8]) -> Result<String, pbf::PbfError> {
    let mut xml = Vec::new();
    pbf::to_xml(file, &mut xml, 1 << 20)?;
    Ok(String::from_utf8(xml).unwrap())
}

/// A blob whose content is packed, as the field says how.
fn packed_blob(out: &mut Vec<u8>, field: u64, content: &[u8]) {
    let mut packed = Vec::new();
    bytes(&mut packed, field, content);
    let mut header = Vec::new();
    bytes(&mut header, 1, b"OSMData");
    number(&mut header, 3, packed.len() as u64);
    out.extend_from_slice(&(header.len() as u32).to_be_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(&packed);
}

/// A node by itself, one in columns with a tag, and a relation of three kinds of members.
fn block_of_all_kinds() -> Vec<u8> {
    let mut strings = Vec::new();
    for string in ["", "outer", "type", "a\"b\u{ffff}"] {
        bytes(&mut strings, 1, string.as_bytes());
    }
    let mut node = Vec::new();
    number(&mut node, 1, zigzag(-7));
    bytes(&mut node, 2, &[2]);
    bytes(&mut node, 3, &[3]);
    number(&mut node, 8, zigzag(10));
    number(&mut node, 9, zigzag(-10));
    let mut dense = Vec::new();
    bytes(&mut dense, 1, &[2, 2]);
    bytes(&mut dense, 8, &[0, 0]);
    bytes(&mut dense, 9, &[0, 0]);
    bytes(&mut dense, 10, &[0, 2, 1, 0]);
    let mut relation = Vec::new();
    number(&mut relation, 1, 5);
    bytes(&mut relation, 8, &[1, 0, 0]);
    bytes(&mut relation, 9, &[2, 2, 2]);
    bytes(&mut relation, 10, &[0, 1, 2]);
    let mut group = Vec::new();
    bytes(&mut group, 1, &node);
    bytes(&mut group, 2, &dense);
    bytes(&mut group, 4, &relation);
    let mut block = Vec::new();
    bytes(&mut block, 1, &strings);
    bytes(&mut block, 2, &group);
    number(&mut block, 17, 1000);
    number(&mut block, 19, 5_000);
    block
}

#[test]
fn protobuf_of_all_kinds_and_packings() {
    let block = block_of_all_kinds();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(&block).unwrap();
    let zlib = zlib.finish().unwrap();
    let zstd = zstd::encode_all(&block[..], 1).unwrap();
    for (field, content) in [(1, &block), (3, &zlib), (7, &zstd)] {
        let mut file = Vec::new();
        packed_blob(&mut file, field, content);
        assert_eq!(
            xml_of(&file).unwrap(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\" generator=\"covey\">\n\
             <node id=\"-7\" version=\"1\" lat=\"0.0000150\" lon=\"-0.0000100\"><tag k=\"type\" v=\"a&quot;b \"/></node>\n\
             <node id=\"1\" version=\"1\" lat=\"0.0000050\" lon=\"0.0000000\"></node>\n\
             <node id=\"2\" version=\"1\" lat=\"0.0000050\" lon=\"0.0000000\"><tag k=\"type\" v=\"outer\"/></node>\n\
             <relation id=\"5\" version=\"1\"><member type=\"node\" ref=\"1\" role=\"outer\"/>\
             <member type=\"way\" ref=\"2\" role=\"\"/><member type=\"relation\" ref=\"3\" role=\"\"/></relation>\n</osm>\n"
        );
    }
}

#[test]
fn protobuf_that_is_not_read_says_what_it_needs() {
    let mut file = Vec::new();
    packed_blob(&mut file, 6, b"lz4");
    let error = xml_of(&file).unwrap_err().to_string();
    assert!(error.contains("needs the packing lz4"), "{error}");
    let mut header = Vec::new();
    bytes(&mut header, 4, b"HistoricalInformation");
    let mut file = Vec::new();
    blob(&mut file, "OSMHeader", &header);
    let error = xml_of(&file).unwrap_err().to_string();
    assert!(
        error.contains("the feature `HistoricalInformation`"),
        "{error}"
    );
    let error = xml_of(&u32::MAX.to_be_bytes()).unwrap_err().to_string();
    assert!(error.contains("a header of 4294967295 bytes"), "{error}");
}

#[test]
fn a_text_that_many_elements_have_is_not_written_for_ever() {
    let mut strings = Vec::new();
    bytes(&mut strings, 1, b"");
    bytes(&mut strings, 1, &[b'a'; 10_000]);
    let mut dense = Vec::new();
    for field in [1, 8, 9] {
        bytes(&mut dense, field, &[2]);
    }
    bytes(&mut dense, 10, &[1; 2_000]);
    let mut group = Vec::new();
    bytes(&mut group, 2, &dense);
    let mut block = Vec::new();
    bytes(&mut block, 1, &strings);
    bytes(&mut block, 2, &group);
    let mut file = Vec::new();
    packed_blob(&mut file, 1, &block);
    let mut xml = Vec::new();
    let error = pbf::to_xml(&file[..], &mut xml, 1 << 20).unwrap_err();
    assert_eq!(
        error.to_string(),
        "protobuf file that becomes more than 1048576 bytes of XML"
    );
    assert!(xml.len() <= 1 << 20);
}

#[test]
fn a_blob_that_unpacks_to_too_much_is_refused() {
    let zeros = vec![0; 33 << 20];
    let mut file = Vec::new();
    packed_blob(&mut file, 7, &zstd::encode_all(&zeros[..], 1).unwrap());
    let error = xml_of(&file).unwrap_err().to_string();
    assert!(error.contains("bytes when unpacked"), "{error}");
}

proptest::proptest! {
    /// Whatever a file holds, reading it ends, and without a panic.
    #[test]
    fn damaged_protobuf_never_panics(
        at in 0_usize..10_000,
        value: u8,
        length in 0_usize..10_000,
        tail in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40),
    ) {
        let mut file = town_in_protobuf();
        packed_blob(&mut file, 1, &block_of_all_kinds());
        let (at, length) = (at % file.len(), length % file.len());
        file[at] = value;
        let _ = xml_of(&file);
        file.truncate(length);
        file.extend(tail);
        let _ = xml_of(&file);
    }
}
