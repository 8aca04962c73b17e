//! Recorded floating-car data: what a file becomes, and what is said of broken ones.

mod common;

use common::{corner, folder, frames};
use covey_traffic::Source;
use covey_traffic::recorded::{FcdError, FcdOptions, FloatingCarData, record};
use covey_world::network::LaneIx;
use covey_world::scene::BodyKind;
use covey_world::{Body, Frame, VehicleId};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::f64::consts::FRAC_PI_2;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
    <timestep time="5.00">
        <vehicle id="b" x="90.00" y="0.00" angle="90.00" type="DEFAULT_VEHTYPE" speed="10.00" pos="90.00" lane="e_0" slope="0.00"/>
        <vehicle id="a&amp;z" x="20.00" y="0.00" angle="90.00" type="city_bus" speed="0.00" pos="20.00" lane="e_0" slope="0.00"/>
    </timestep>
    <timestep time="6.00">
        <vehicle id="b" x="100.00" y="0.00" angle="90.00" type="DEFAULT_VEHTYPE" speed="10.00" pos="0.00" lane=":j_0_0" slope="0.00"/>
        <vehicle id="a&amp;z" x="20.00" y="0.00" angle="90.00" type="city_bus" speed="0.00" pos="20.00" lane="e_0" slope="0.00"/>
        <person id="p" x="50.00" y="-3.00" angle="270.00" type="DEFAULT_PEDTYPE" speed="1.00" pos="50.00" edge="e" slope="0.00"/>
        <container id="c" x="50.00" y="-3.00" angle="270.00" type="DEFAULT_CONTAINERTYPE" speed="1.00" pos="50.00" edge="e" slope="0.00"/>
    </timestep>
    <timestep time="7.00">
        <vehicle id="b" x="106.00" y="4.00" angle="0.00" type="DEFAULT_VEHTYPE" speed="10.00" pos="0.00" lane="n_0" slope="0.00"/>
        <person id="p" x="49.00" y="-3.00" angle="270.00" type="DEFAULT_PEDTYPE" speed="1.00" pos="49.00" edge="e" slope="0.00"/>
    </timestep>
</fcd-export>
"#;

const CSV: &str = "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_angle;vehicle_type;vehicle_speed;vehicle_pos;vehicle_lane;vehicle_edge;vehicle_slope
5.00;b;90.00;0.00;90.00;DEFAULT_VEHTYPE;10.00;90.00;e_0;;0.00
5.00;a&z;20.00;0.00;90.00;city_bus;0.00;20.00;e_0;;0.00
6.00;b;100.00;0.00;90.00;DEFAULT_VEHTYPE;10.00;0.00;:j_0_0;;0.00
6.00;a&z;20.00;0.00;90.00;city_bus;0.00;20.00;e_0;;0.00
6.00;p;50.00;-3.00;270.00;DEFAULT_PEDTYPE;1.00;50.00;;e;0.00
6.00;c;50.00;-3.00;270.00;DEFAULT_CONTAINERTYPE;1.00;50.00;;e;0.00
7.00;b;106.00;4.00;0.00;DEFAULT_VEHTYPE;10.00;0.00;n_0;;0.00
7.00;p;49.00;-3.00;270.00;DEFAULT_PEDTYPE;1.00;49.00;;e;0.00
";

fn read(path: &Path, options: FcdOptions) -> Result<Vec<Frame>, FcdError> {
    let network = corner();
    frames(FloatingCarData::open(path, &network, options)?)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_recording_becomes_frames_every_50_ms() {
    let folder = folder("becomes_frames");
    let path = folder.join("trace.xml");
    fs::write(&path, XML).unwrap();
    let frames = read(&path, FcdOptions::default()).unwrap();
    assert_eq!(frames.len(), 41, "both ends of two seconds");
    assert!(frames.iter().zip(0..).all(|(f, i)| f.time_us == i * 50_000));

    let at_begin = &frames[0].vehicles;
    assert_eq!(at_begin.len(), 2);
    assert_eq!(at_begin[0].id, VehicleId(0), "b comes first in the file");
    assert!(
        (at_begin[0].position.x - 87.5).abs() < 1e-9,
        "the body's centre"
    );
    assert_eq!(at_begin[0].heading, 0.0);
    assert_eq!(at_begin[0].lane, Some(LaneIx(0)));
    assert_eq!(at_begin[0].body.length, 5.0);
    assert_eq!(at_begin[1].body, Body::HEAVY);
    assert!((at_begin[1].position.x - 13.5).abs() < 1e-9);

    // A quarter of the way to the junction: still on the first lane.
    let early = &frames[5].vehicles[0];
    assert!((early.position.x - 90.0).abs() < 1e-9);
    assert_eq!((early.lane, early.lane_position), (Some(LaneIx(0)), 92.5));
    // Three quarters: on the later lane, not before its beginning.
    let late = &frames[15].vehicles[0];
    assert_eq!((late.lane, late.lane_position), (Some(LaneIx(1)), 0.0));

    // The bus is in the instants at 5 and 6 s, the pedestrian in those at 6 and 7 s.
    assert_eq!(frames[20].vehicles.len(), 3);
    assert_eq!(frames[20].vehicles[2].body.kind, BodyKind::Pedestrian);
    assert_eq!(frames[20].vehicles[2].lane, None);
    let ids: Vec<u32> = frames[21].vehicles.iter().map(|v| v.id.0).collect();
    assert_eq!(ids, [0, 2]);
    // Half way round the corner.
    assert!((frames[30].vehicles[0].heading - FRAC_PI_2 / 2.0).abs() < 1e-9);
    let walker = &frames[30].vehicles[1];
    assert!(
        (walker.position.x - 49.5).abs() < 1e-9,
        "persons are centred"
    );
}

#[test]
fn all_text_formats_and_names_give_the_same_frames() {
    let folder = folder("same_frames");
    let expected = {
        let path = folder.join("trace.xml");
        fs::write(&path, XML).unwrap();
        read(&path, FcdOptions::default()).unwrap()
    };
    let commas = CSV.replace(';', ",");
    let plain = CSV
        .replace("timestep_", "")
        .replace("vehicle_", "")
        .replace('\n', "\r\n");
    let full = CSV.replace("vehicle_", "timestep_vehicle_");
    let with_bom = format!("\u{feff}{CSV}");
    // Another order of columns, one column more, quotes.
    let reordered: String = CSV
        .lines()
        .map(|line| {
            let mut fields: Vec<&str> = line.split(';').collect();
            fields.reverse();
            let quoted = format!("\"{}\"", fields[2]);
            fields[2] = &quoted;
            format!("extra;{}\n", fields.join(";"))
        })
        .collect();
    let files: [(&str, Vec<u8>); 8] = [
        ("a.csv", CSV.into()),
        ("commas.csv", commas.into()),
        ("plain.csv", plain.into()),
        ("full.csv", full.into()),
        ("bom.csv", with_bom.into()),
        ("reordered.csv", reordered.into()),
        ("not-what-it-is-called.parquet", gzip(XML.as_bytes())),
        ("packed.xml", gzip(CSV.as_bytes())),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        let found = read(&path, FcdOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn the_asked_begin_counts() {
    let folder = folder("asked_begin");
    let path = folder.join("trace.xml");
    fs::write(&path, XML).unwrap();
    let begin = |begin_us| {
        let options = FcdOptions {
            begin_us: Some(begin_us),
            persons: false,
            ..FcdOptions::default()
        };
        read(&path, options).unwrap()
    };
    let all = begin(5_000_000);
    assert!(
        all.iter()
            .flat_map(|f| &f.vehicles)
            .all(|v| v.body.kind != BodyKind::Pedestrian)
    );
    // From within: the same states, numbered anew.
    let late = begin(6_050_000);
    assert_eq!(late.len(), 20);
    assert_eq!(late[0].time_us, 0);
    assert_eq!(late[0].vehicles[0], all[21].vehicles[0]);
    // Not a multiple of the step, and before the recording: nobody until it begins.
    let early = begin(4_890_000);
    assert_eq!(early.len(), 43);
    assert!(early[..3].iter().all(|f| f.vehicles.is_empty()));
    assert!((early[3].vehicles[0].position.x - 87.9).abs() < 1e-9);
    assert!(begin(8_000_000).is_empty());
}

#[test]
fn a_gap_means_left_and_back_under_the_old_number() {
    let folder = folder("gap");
    let path = folder.join("trace.csv");
    let mut text = String::from("time,id,x,y,angle,speed,lane\n");
    for (time, who) in [
        ("0.0", "ab"),
        ("0.1", "ab"),
        ("0.2", "b"),
        ("0.3", "ab"),
        // The recording itself pauses here.
        ("1.0", "ab"),
        ("1.1", "c"),
    ] {
        for id in who.chars() {
            text += &format!("{time},{id},10,0,90,1,e_0\n");
        }
    }
    fs::write(&path, text).unwrap();
    let network = corner();
    let mut source = FloatingCarData::open(&path, &network, FcdOptions::default()).unwrap();
    let mut frame = Frame::default();
    let mut there = Vec::new();
    while source.next_frame(&mut frame).unwrap() {
        let ids: String = frame
            .vehicles
            .iter()
            .map(|v| source.vehicle_name(v.id).unwrap())
            .collect();
        there.push(ids);
    }
    let mut expected = vec!["ab", "ab", "ab", "b", "b", "b", "ab"];
    expected.extend([""; 13]);
    expected.extend(["ab", "", "c"]);
    assert_eq!(there, expected);
    assert_eq!(source.vehicle_name(VehicleId(2)), Some("c"));
    assert_eq!(source.vehicle_name(VehicleId(3)), None);
    // Without `pos` the place on the lane is that of the nearest point.
    let frames = read(&path, FcdOptions::default()).unwrap();
    assert_eq!(frames[0].vehicles[0].lane_position, 10.0);
}

#[test]
fn nobody_flies_where_sumo_teleports() {
    let folder = folder("teleport");
    let path = folder.join("trace.csv");
    let text =
        "time,id,x,y,angle,speed\n0,a,10,0,90,9\n0,b,10,5,90,9\n1,a,19,0,90,9\n1,b,190,5,90,9\n";
    fs::write(&path, text).unwrap();
    let frames = read(&path, FcdOptions::default()).unwrap();
    let there: Vec<usize> = frames.iter().map(|f| f.vehicles.len()).collect();
    assert_eq!(there[0], 2);
    assert!(there[1..20].iter().all(|n| *n == 1));
    assert_eq!(there[20], 2);
}

#[test]
fn a_window_is_kept_with_what_was_meant() {
    let folder = folder("window");
    let path = folder.join("trace.xml");
    fs::write(&path, XML).unwrap();
    let recording = record(&path, &corner(), FcdOptions::default(), 1.0, 1.0).unwrap();
    assert_eq!(recording.steps(), 20);
    assert_eq!(
        recording.frame(0),
        read(&path, FcdOptions::default()).unwrap().first().cloned()
    );
    assert_eq!(recording.name(VehicleId(1)), Some("a&z"));
    assert_eq!(recording.origin, path.display().to_string());
}

#[test]
fn passengers_are_not_on_foot() {
    let folder = folder("passengers");
    let path = folder.join("trace.xml");
    let row = |tag: &str, id: &str, x: f64, rest: &str| {
        format!("<{tag} id=\"{id}\" x=\"{x}\" y=\"0\" angle=\"90\" speed=\"0\" {rest}/>")
    };
    let text = format!(
        "<fcd-export><timestep time=\"0\">{}{}{}{}</timestep></fcd-export>",
        row("vehicle", "v", 50.0, "lane=\"e_0\""),
        row("person", "rides", 50.0, "edge=\"e\""),
        row("person", "says so", 80.0, "edge=\"e\" vehicle=\"w\""),
        row("person", "walks", 70.0, "edge=\"e\""),
    );
    fs::write(&path, text).unwrap();
    let frames = read(&path, FcdOptions::default()).unwrap();
    assert_eq!(frames[0].vehicles.len(), 2);
    assert_eq!(frames[0].vehicles[1].position.x, 70.0);
}

/// The text of the error that a file with this content gives.
fn complaint(name: &str, content: &[u8]) -> String {
    let folder = folder(&format!("complaint-{name}"));
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    let error = match read(&path, FcdOptions::default()) {
        Ok(frames) => panic!("{name}: {} frames instead of an error", frames.len()),
        Err(error) => error.to_string(),
    };
    let prefix = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
    assert!(error.starts_with(&prefix), "{error}");
    error[prefix.len()..].to_owned()
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "a table of broken files and what is said of each"
)]
fn broken_files_are_named_with_line_and_reason() {
    let changed = |from: &str, to: &str| {
        assert!(XML.contains(from));
        XML.replacen(from, to, 1).into_bytes()
    };
    let csv_changed = |from: &str, to: &str| CSV.replacen(from, to, 1).into_bytes();
    let zipped = gzip(XML.as_bytes());
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "unknown-lane.xml",
            changed("lane=\"n_0\"", "lane=\"north_0\""),
            "unknown-lane.xml, line 15: vehicle `b` is on lane `north_0`, which the net does not have; does the net belong to this recording?",
        ),
        (
            "no-x.xml",
            changed("<vehicle id=\"b\" x=\"90.00\"", "<vehicle id=\"b\""),
            "no-x.xml, line 5: <vehicle id=\"b\"> has no `x`, which is needed",
        ),
        (
            "no-id.xml",
            changed("<vehicle id=\"b\"", "<vehicle"),
            "no-id.xml, line 5: <vehicle> has no `id`, which is needed",
        ),
        (
            "nan.xml",
            changed("x=\"90.00\"", "x=\"nan\""),
            "nan.xml, line 5: vehicle `b`: `x` is NaN, expected a finite number",
        ),
        (
            "word.xml",
            changed("speed=\"10.00\"", "speed=\"fast\""),
            "word.xml, line 5: <vehicle>: `speed` is `fast`, expected a number",
        ),
        (
            "back.xml",
            changed("time=\"6.00\"", "time=\"4.00\""),
            "back.xml, line 8: time 4 s follows 5 s; times must grow from step to step",
        ),
        (
            "twice.xml",
            changed("id=\"a&amp;z\"", "id=\"b\""),
            "twice.xml, line 6: vehicle `b` is listed twice at 5 s",
        ),
        (
            "no-time.xml",
            changed(" time=\"6.00\"", ""),
            "no-time.xml, line 8: <timestep> has no `time`, which is needed",
        ),
        (
            "geo.xml",
            changed("x=\"90.00\" y=\"0.00\"", "x=\"139.70432\" y=\"935.65806\""),
            "geo.xml, line 5: vehicle `b` is at (139.70432, 935.65806), 937 m from its lane `e_0`; was the recording made on another net, or with `--fcd-output.geo` or `--fcd-output.utm` (leave these out)?",
        ),
        (
            "net.xml",
            b"<?xml version=\"1.0\"?>\n<net version=\"1.9\"></net>".to_vec(),
            "net.xml, line 2: found <net>, expected <fcd-export>, the root of SUMO floating-car data",
        ),
        (
            "cut.xml",
            XML.as_bytes()[..700].to_vec(),
            "cut.xml, line 10: the file breaks off: tag not closed: `>` not found before end of input; was it cut short, or is it still being written?",
        ),
        (
            "cut-between.xml",
            XML.as_bytes()[..XML.find("<timestep time=\"7").unwrap()].to_vec(),
            "cut-between.xml, line 14: the file breaks off: the file ends before </fcd-export>; was it cut short, or is it still being written?",
        ),
        (
            "cut.xml.gz",
            zipped[..zipped.len() - 20].to_vec(),
            "cut.xml.gz, line ",
        ),
        (
            "columns.csv",
            csv_changed("vehicle_angle", "vehicle_direction"),
            "columns.csv: column `angle` is missing; found the columns `timestep_time, vehicle_id, vehicle_x, vehicle_y, vehicle_direction, vehicle_type, vehicle_speed, vehicle_pos, vehicle_lane, vehicle_edge, vehicle_slope`; needed are time, id, x, y, angle and speed (SUMO's prefixes such as `vehicle_` may stand before them)",
        ),
        (
            "fields.csv",
            csv_changed("6.00;b;100.00;", "6.00;b;"),
            "fields.csv, line 4: found 10 fields, expected 11 as in the header, separated by `;`",
        ),
        (
            "cut.csv",
            CSV.as_bytes()[..CSV.len() - 20].to_vec(),
            "cut.csv, line 9: the file breaks off: the last line has 6 of 11 fields; was it cut short, or is it still being written?",
        ),
        (
            "number.csv",
            csv_changed("100.00", "1OO.00"),
            "number.csv, line 4: vehicle `b`: `x` is `1OO.00`, expected a number",
        ),
        (
            "empty-field.csv",
            csv_changed("100.00", ""),
            "empty-field.csv, line 4: vehicle `b` has no `x`, which is needed",
        ),
        (
            "time.csv",
            csv_changed("6.00;b", "then;b"),
            "time.csv, line 4: vehicle `b`: `time` is `then`, expected a number of seconds",
        ),
        (
            "empty.xml",
            vec![],
            "empty.xml: found an empty file, expected SUMO floating-car data (XML, CSV or Parquet, XML and CSV also gzipped)",
        ),
        (
            "short.parquet",
            b"PAR1 and nothing else".to_vec(),
            "short.parquet, row 1: the Parquet file is damaged: ",
        ),
    ];
    for (name, content, expected) in cases {
        let found = complaint(name, &content);
        if expected.ends_with(' ') {
            assert!(found.starts_with(expected), "{name}:\n{found}\n{expected}");
        } else {
            assert_eq!(found, expected, "{name}");
        }
    }
    let missing = read(Path::new("no such file.xml"), FcdOptions::default());
    let text = missing.unwrap_err().to_string();
    assert!(
        text.starts_with("no such file.xml: cannot be read: "),
        "{text}"
    );
}

#[test]
fn a_file_cut_at_any_byte_never_panics() {
    let network = corner();
    for whole in [XML.as_bytes().to_vec(), CSV.into(), gzip(XML.as_bytes())] {
        for end in 0..whole.len() {
            let stream = Box::new(Cursor::new(whole[..end].to_vec()));
            let options = FcdOptions::default();
            let result =
                FloatingCarData::from_stream("cut", stream, &network, options).and_then(frames);
            if whole[0] != b't' {
                // All but tables say where they end.
                let closed = whole[..end].ends_with(b"</fcd-export>");
                assert_eq!(result.is_ok(), closed, "cut at {end}");
            }
        }
    }
}

#[test]
fn a_tag_without_end_does_not_fill_the_memory() {
    let network = corner();
    // Ten thousand million bytes, should anyone read them all.
    let endless = std::io::Read::chain(
        &b"<fcd-export><timestep time=\""[..],
        std::io::Read::take(std::io::repeat(b'1'), 10_000_000_000),
    );
    let stream = Box::new(std::io::BufReader::new(endless));
    let error = FloatingCarData::from_stream("endless", stream, &network, FcdOptions::default())
        .and_then(frames)
        .unwrap_err()
        .to_string();
    assert!(error.contains("longer than"), "{error}");
}
