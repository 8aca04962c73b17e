//! `covey messages decode` as a user meets it: captures, hex of any layer, other stacks' frames, and what is refused.

mod common;

use covey_its::frame::{PORT_CAM, PORT_CPM, Source, encode_frame};
use covey_its::pcap::{CaptureTime, Writer};
use covey_its::{Cam, CarriedDigest, Cpm, ItsTime, samples};
use serde_json::{Value, json};

use crate::common::{Directory, covey, covey_unread};

/// 2026-11-15 23:00:00.123 UTC, in microseconds.
const TIME: i64 = 1_794_783_600_123_000;

fn framed(message: &[u8], port: u16) -> Vec<u8> {
    let source = Source::of_cam(&samples::cam(), ItsTime(700_000_000_123));
    encode_frame(message, port, &source).expect("a valid frame")
}

fn cam_frame(cam: &Cam) -> Vec<u8> {
    framed(&cam.encode().expect("a valid CAM"), PORT_CAM)
}

fn cpm_frame(cpm: &Cpm) -> Vec<u8> {
    framed(&cpm.encode().expect("a valid CPM"), PORT_CPM)
}

fn fused_state() -> Cpm {
    Cpm {
        sensors: vec![samples::sensor()],
        ..samples::fused_state(2, 3, 2)
    }
}

/// Every 50 ms a frame.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    for (step, frame) in frames.iter().enumerate() {
        let at = CaptureTime(TIME + 50_000 * step as i64);
        writer.write(at, frame).expect("memory");
    }
    writer.finish().expect("memory")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode(input: &str) -> Vec<Value> {
    let output = covey(&["messages", "decode", input], "").done();
    output
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn cam_object() -> Value {
    json!({
        "type": "cam", "secured": false,
        "station_id": 4711, "station_type": 5, "generation_ms": 65_535,
        "latitude": 35.591_234_5, "longitude": 139.669_876_5,
        "heading_deg": 123.4, "speed_m_s": 13.89, "backward": false, "length_m": 4.5, "width_m": 1.8,
        "low_frequency": false, "path": [],
        "digest": {
            "hex": "c50100000003fffffffe000707",
            "cells": [[3, -2], [4, -2], [5, -2], [6, -2], [7, -2], [8, -2], [9, -2]],
        },
    })
}

/// `object` with the fields of `more`.
fn with(mut object: Value, more: Value) -> Value {
    let (Some(fields), Value::Object(more)) = (object.as_object_mut(), more) else {
        panic!("objects");
    };
    fields.extend(more);
    object
}

#[test]
fn a_message_in_hex_of_any_layer() {
    let cam = samples::cam_with_digest();
    let frame = cam_frame(&cam);
    let packet = json!({
        "packet": "broadcast", "port": 2001, "source": {"latitude": 35.591_234_5, "longitude": 139.669_876_5},
    });
    let ethernet = json!({"address": "02:00:00:00:12:67", "ethertype": "0x8947"});
    assert_eq!(decode(&hex(&cam.encode().unwrap())), [cam_object()]);
    let packet = with(cam_object(), packet);
    assert_eq!(decode(&hex(&frame[14..]))[0], packet);
    let whole = with(packet, ethernet);
    assert_eq!(decode(&hex(&frame))[0], whole);
    // As other programs show bytes.
    let bytes: Vec<String> = frame.iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(decode(&bytes.join(":"))[0], whole);
    assert_eq!(decode(&bytes.join(" "))[0], whole);
    assert_eq!(decode(&format!("0x{}", hex(&frame)))[0], whole);
}

#[test]
fn a_capture_has_a_line_for_each_frame_in_order() {
    let folder = Directory::new("messages-capture");
    let file = folder.file(
        "a.pcap",
        capture(&[
            cam_frame(&samples::cam_with_digest()),
            cpm_frame(&samples::report(1)),
            cpm_frame(&fused_state()),
        ]),
    );
    let lines = decode(&file);
    assert_eq!(lines.len(), 3);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line["frame"], index + 1);
        assert_eq!(line["time_s"], (TIME + 50_000 * index as i64) as f64 / 1e6);
    }
    let [cam, cpm, fused] = &lines[..] else {
        panic!("three lines");
    };
    assert_eq!(cam["type"], "cam");
    assert_eq!(cpm["type"], "cpm");
    assert_eq!(cpm["port"], 2009);
    assert_eq!(cpm["station_id"], 4711);
    assert_eq!(cpm["reference_time_ms"], 700_000_000_123_u64);
    assert_eq!(cpm["orientation_deg"], 90.0);
    assert_eq!(cpm["objects_known"], 1);
    assert_eq!(
        cpm["objects"],
        json!([{
            "id": 0, "measured_ms": -50, "east_m": -123.45, "north_m": 1310.7, "velocity_m_s": [13.89, -163.82],
            "length_m": 4.5, "width_m": 1.8, "height_m": 1.5, "quality": 15,
        }])
    );
    assert_eq!(cpm.get("fused"), None);
    assert_eq!(fused["type"], "cpm");
    assert_eq!(fused["objects"].as_array().map(Vec::len), Some(2));
    assert_eq!(fused["objects"][0]["id"], 0);
    assert_eq!(fused["objects"][1]["id"], 65_534);
    assert_eq!(
        fused["sensors"],
        json!([{"id": 1, "kind": 12, "range_m": 150.0}])
    );
    assert_eq!(
        fused["fused"],
        json!({
            "tile": [-3, 8_388_607], "sequence": 7, "epoch": 4_294_967_295_u32, "tenure_ms": 12_000, "price": 0.7,
            "cycle_age_ms": 150, "unchanged_age_ms": 150, "lease_ms": 600, "content": "requested", "full": true,
            "contributors": [0, 1, 2], "requested": [3_000_000_001_u32],
            "withdrawn_stations": [3_000_000_000_u32, 3_000_000_001_u32], "withdrawn": [32_768, 32_769],
            "stations": [3_000_000_000_u32],
        })
    );
    let none = folder.file("none.pcap", capture(&[]));
    assert_eq!(decode(&none), [Value::Null; 0]);
}

#[test]
fn a_digest_that_cannot_be_read_is_given_as_bytes() {
    let read = |digest| {
        let cam = Cam {
            digest: Some(digest),
            ..samples::cam()
        };
        let mut lines = decode(&hex(&cam_frame(&cam)));
        lines.remove(0)
    };
    let no_digest = read(CarriedDigest::Unreadable(vec![0xC5, 9, 9]));
    assert_eq!(no_digest["digest_raw"], "c50909");
    assert_eq!(no_digest["station_id"], 4711);
    assert_eq!(no_digest.get("digest"), None);
    let no_string = read(CarriedDigest::Foreign(vec![200, 1, 2]));
    assert_eq!(no_string["digest_raw"], "c80102");
    assert_eq!(no_string["speed_m_s"], 13.89);
    // Damaged on the way: the last byte of the digest.
    let mut frame = cam_frame(&samples::cam_with_digest());
    let last = frame.len() - 2;
    frame[last] ^= 0x55;
    let damaged = decode(&hex(&frame)).remove(0);
    assert_eq!(damaged["type"], "cam");
    assert_eq!(damaged.get("digest"), None);
    assert_eq!(damaged["digest_raw"].as_str().map(str::len), Some(26));
}

#[test]
fn frames_of_other_stacks_are_told_as_far_as_they_are_known() {
    let folder = Directory::new("messages-other");
    let denm = [2, 1, 0, 0, 0x12, 0x67, 0xAB, 0xCD];
    let frame = framed(&denm, 2002);
    // A GeoNetworking beacon, an ARP request, an encrypted packet.
    let mut beacon = frame[..50].to_vec();
    beacon[18..20].copy_from_slice(&[0, 0x10]);
    beacon[22..24].copy_from_slice(&[0, 0]);
    let mut arp = vec![0xFF; 42];
    arp[12..14].copy_from_slice(&[8, 6]);
    let mut secured = frame[..18].to_vec();
    secured[14] = 0x12;
    secured.extend([3, 0x82, 1, 2, 3, 4, 5]);
    let old_cam = [1, 2, 0, 0, 0, 9, 77];
    let file = folder.file(
        "other.pcap",
        capture(&[
            frame,
            framed(&[2, 99, 0, 0, 0, 1, 7], 4000),
            framed(&old_cam, PORT_CAM),
            beacon,
            arp,
            secured,
            framed(&[], 2002),
        ]),
    );
    let lines = decode(&file);
    let kinds: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    assert_eq!(
        kinds,
        [
            "denm", "unknown", "cam", "unknown", "unknown", "unknown", "unknown"
        ]
    );
    assert_eq!(lines[0]["port"], 2002);
    assert_eq!(lines[0]["station_id"], 4711);
    assert_eq!(lines[0]["raw"], "020100001267abcd");
    assert_eq!(lines[1]["message_id"], 99);
    // An older CAM: known by its header only.
    assert_eq!(lines[2]["protocol_version"], 1);
    assert_eq!(lines[2]["raw"], "0102000000094d");
    assert_eq!(lines[3]["packet"], "beacon");
    assert_eq!(lines[3]["source"]["latitude"], 35.591_234_5);
    assert_eq!(lines[4]["ethertype"], "0x0806");
    assert_eq!(lines[5]["secured"], true);
    assert_eq!(lines[6]["raw"], "");
    assert_eq!(decode("0201000012670000")[0]["type"], "denm");
}

#[test]
fn values_that_are_unavailable_are_null() {
    let cam = Cam {
        position: covey_its::cam::WirePosition::UNAVAILABLE,
        heading: None,
        speed: None,
        backward: None,
        length: None,
        width: None,
        path: Some(vec![]),
        ..samples::cam()
    };
    let line = &decode(&hex(&cam.encode().unwrap()))[0];
    for key in [
        "latitude",
        "longitude",
        "heading_deg",
        "speed_m_s",
        "backward",
        "length_m",
        "width_m",
    ] {
        assert_eq!(line.get(key), Some(&Value::Null), "{key}");
    }
    assert_eq!(line["low_frequency"], true);
}

#[test]
fn a_frame_that_cannot_be_read_is_named_and_the_others_are_printed() {
    let folder = Directory::new("messages-damaged");
    let cam = cam_frame(&samples::cam_with_digest());
    let cut = cam[..cam.len() - 9].to_vec();
    let mut no_cam = cam.clone();
    no_cam[59] = 77;
    let file = folder.file("b.pcap", capture(&[cam.clone(), cut, cam.clone(), no_cam]));
    let call = covey(&["messages", "decode", &file], "");
    assert_eq!(call.code, Some(2));
    assert_eq!(call.stdout.lines().count(), 2);
    assert!(call.stdout.contains("\"frame\":3"));
    let second = 24 + 16 + cam.len() + 16;
    for told in [
        format!("{file}: frame 2 at byte {second}: the GeoNetworking payload ends after 52 bytes"),
        "frame 4 at byte".to_string(),
        "the message id is 77, expected a CAM".to_string(),
        "2 of 4 frames cannot be read".to_string(),
    ] {
        assert!(call.stderr.contains(&told), "no {told:?} in {call:?}");
    }
    // A capture that is cut: what came before is printed.
    let whole = capture(&[cam.clone(), cam]);
    let file = folder.file("c.pcap", &whole[..whole.len() - 1]);
    let call = covey(&["messages", "decode", &file], "");
    assert_eq!((call.code, call.stdout.lines().count()), (Some(2), 1));
    let told = format!(
        "{file}: the capture ends at byte {}, inside packet 2",
        whole.len() - 1
    );
    assert!(call.stderr.contains(&told), "{call:?}");
}

#[test]
fn what_is_no_message_is_refused() {
    let decode = |input: &str| covey(&["messages", "decode", input], "");
    decode("").refused(&["FILE.pcap"]);
    decode(" ").refused(&["begins with []"]);
    decode("no-such-file.pcap").refused(&["no-such-file.pcap", "no such file", "not hex"]);
    decode("0202f").refused(&["0202f", "5 hex digits"]);
    decode("ffff").refused(&["ffff", "GeoNetworking"]);
    decode("0202").refused(&["0202"]);
    decode("0202000012").refused(&["CAM"]);
    let frame = hex(&cam_frame(&samples::cam()));
    decode(&frame[..frame.len() - 2]).refused(&["the GeoNetworking payload ends after"]);
    let long = hex(&[2; 9_000]);
    decode(&long).refused(&["02020202", "9000 bytes"]);
    let folder = Directory::new("messages-refused");
    decode(&folder.path("")).refused(&["messages-refused"]);
    for (name, content) in [
        ("empty.pcap", &b""[..]),
        ("text.pcap", b"{\"cells\":[[1,2],[3,4],[5,6]]}"),
        // The beginning of a pcapng file.
        (
            "new.pcapng",
            b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        ),
    ] {
        let file = folder.file(name, content);
        decode(&file).refused(&[name, "capture"]);
    }
    let mut huge = capture(&[]);
    huge.extend([0xFF; 16]);
    let file = folder.file("huge.pcap", huge);
    decode(&file).refused(&["packet 1 at byte 24 claims"]);
}

#[test]
fn the_example_capture_is_made_of_the_sample_messages() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/messages.pcap");
    let expected = capture(&[
        cam_frame(&samples::cam()),
        cam_frame(&samples::cam_with_digest()),
        cpm_frame(&samples::report(2)),
        cpm_frame(&fused_state()),
    ]);
    if std::env::var_os("COVEY_WRITE_EXAMPLES").is_some() {
        std::fs::write(file, &expected).expect("the example is written");
    }
    assert!(
        std::fs::read(file).is_ok_and(|found| found == expected),
        "examples/messages.pcap is out of date: run this test with COVEY_WRITE_EXAMPLES=1"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let cam = hex(&samples::cam().encode().unwrap());
    assert_eq!(
        covey_unread(&["messages", "decode", &cam], "").code,
        Some(0)
    );
}
