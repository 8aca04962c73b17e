//! `covey messages`: frames and messages as JSON.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use covey_its::cam::{PathPoint, WirePosition};
use covey_its::frame::{Decoded, Message, decode_any, message_name};
use covey_its::pcap::{CaptureTime, ReadError, Reader};
use covey_its::{Cam, CarriedDigest, Cpm, CpmObject, FusedState, decode_frame};
use covey_protocol::messages::Content;
use serde::Serialize;

use crate::failure::{Failure, note, print};
use crate::{hex, pcapng};

/// How many bytes of output are gathered.
const PRINTED_AT_ONCE: usize = 1 << 16;

/// Show ITS messages, from captures or in hex, as JSON
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey messages decode examples/messages.pcap\n  \
    covey messages decode 020100001267c0ffee")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    way: Way,
}

#[derive(Debug, Subcommand)]
enum Way {
    /// Print the frames of a capture, or one frame in hex, as one JSON object a line
    ///
    /// Each object has a "type": "cam", "cpm" (a host's fused state is a CPM with "fused"), the name of another ETSI message, whose
    /// bytes are under "raw", or "unknown" for anything else. Values that a message marks as unavailable are null.
    ///
    /// Frames that cannot be read are told on standard error; the others are printed all the same, and the exit code is 2.
    #[command(after_help = "Examples:\n  \
        covey messages decode examples/messages.pcap\n  \
        covey messages decode examples/messages.pcap | jq -c 'select(.fused) | .fused.contributors'\n  \
        covey messages decode 020100001267c0ffee")]
    Decode(Decode),
}

#[derive(Debug, Args)]
struct Decode {
    /// A capture (pcap or pcapng, Ethernet; `-` for standard input), or the hex digits of an Ethernet frame, a GeoNetworking packet or an ITS message
    #[arg(value_name = "FILE.pcap|HEX")]
    input: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Way::Decode(Decode { input }) = &arguments.way;
    if input.as_os_str() == "-" {
        return decode_capture("standard input", io::stdin().lock());
    }
    if input.exists() {
        let name = input.display().to_string();
        let file = File::open(input)
            .map_err(|error| Failure::input(&name, format!("cannot be read: {error}")))?;
        return decode_capture(&name, file);
    }
    // Wireshark and others put colons between bytes.
    let text = input.to_string_lossy().replace(':', "");
    let bytes = hex::parse(text.strip_prefix("0x").unwrap_or(&text)).map_err(|problem| {
        Failure::input(
            shortened(&input.to_string_lossy()),
            format!("there is no such file, and it is not hex: {problem}"),
        )
    })?;
    let name = shortened(&input.to_string_lossy());
    print(&(decode(&name, &bytes)? + "\n"))
}

/// Names a long argument by its beginning.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

fn decode_capture(name: &str, input: impl Read) -> Result<(), Failure> {
    let mut lines = String::new();
    let mut unread = 0;
    let outcome = read_capture(name, input, |frame| match frame {
        Ok(line) => {
            lines += &line;
            lines.push('\n');
            match lines.len() > PRINTED_AT_ONCE {
                true => print(&std::mem::take(&mut lines)),
                false => Ok(()),
            }
        }
        Err(problem) => {
            unread += 1;
            note(&problem);
            Ok(())
        }
    });
    print(&lines)?;
    let frames = outcome?;
    if unread == 0 {
        return Ok(());
    }
    Err(Failure::input(
        name,
        format!("{unread} of {frames} frames cannot be read"),
    ))
}

/// Hands every frame of a capture to `each`: as JSON, or what is wrong with it. Gives how many there are.
pub(crate) fn read_capture(
    name: &str,
    input: impl Read,
    mut each: impl FnMut(Result<String, String>) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let refused = |error: ReadError| Failure::input(name, error);
    let input = pcapng::as_pcap(BufReader::new(input))
        .map_err(|error| Failure::input(name, format!("cannot be read: {error}")))?;
    let has_places = input.has_places();
    let mut capture = Reader::new(input).map_err(refused)?;
    while let Some((time, frame)) = capture.next_frame().map_err(refused)? {
        let number = capture.frame_number();
        match decode_frame(&frame) {
            Ok(decoded) => each(Ok(line(&decoded, Some((number, time)))?))?,
            Err(error) => {
                let place = match has_places {
                    true => format!(" at byte {}", capture.frame_offset()),
                    false => String::new(),
                };
                each(Err(format!("{name}: frame {number}{place}: {error}")))?;
            }
        }
    }
    Ok(capture.frame_number())
}

/// A frame, a packet or a message as JSON.
pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<String, Failure> {
    let decoded = decode_any(bytes).map_err(|error| Failure::input(name, error))?;
    line(&decoded, None)
}

/// The line of a frame, and where in a capture it stands.
fn line(decoded: &Decoded, place: Option<(u64, CaptureTime)>) -> Result<String, Failure> {
    let (kind, body) = match &decoded.message {
        Message::Cam(cam) => ("cam", Body::Cam(cam.into())),
        Message::Cpm(cpm) => ("cpm", Body::Cpm(cpm.into())),
        Message::Other(bytes) => {
            let id = bytes.get(1).copied();
            let kind = id.and_then(message_name).unwrap_or("unknown");
            (kind, Body::Other(OtherLine::message(bytes)))
        }
        Message::Nothing(bytes) => ("unknown", Body::Other(OtherLine::raw(bytes))),
    };
    let line = Line {
        kind,
        frame: place.map(|(number, _)| number),
        time_s: place.map(|(_, CaptureTime(micros))| micros as f64 / 1e6),
        address: decoded
            .address
            .map(|bytes| bytes.map(|byte| format!("{byte:02x}")).join(":")),
        ethertype: decoded.ethertype.map(|number| format!("{number:#06x}")),
        packet: decoded.packet_type.map(packet_name),
        secured: decoded.signed,
        source: decoded.position.map(Place::from),
        port: decoded.port,
        body,
    };
    serde_json::to_string(&line).map_err(|error| Failure::Other(error.to_string()))
}

/// What is told of every frame. What a frame does not have (an Ethernet header, a place in a capture) is left out.
#[derive(Debug, Serialize)]
struct Line {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    /// When it was captured, in seconds of Unix time.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ethertype: Option<String>,
    /// The kind of GeoNetworking packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    packet: Option<&'static str>,
    secured: bool,
    /// Where the packet came from, by its GeoNetworking header.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Cam(CamLine),
    Cpm(CpmLine),
    Other(OtherLine),
}

/// What is not read: its header, where it has one, and its bytes.
#[derive(Debug, Serialize)]
struct OtherLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    station_id: Option<u32>,
    raw: String,
}

impl OtherLine {
    fn raw(bytes: &[u8]) -> Self {
        Self {
            protocol_version: None,
            message_id: None,
            station_id: None,
            raw: hex::text(bytes),
        }
    }

    /// With the ITS PDU header, which all messages have in common.
    fn message(bytes: &[u8]) -> Self {
        let station = bytes.get(2..6).and_then(|four| four.try_into().ok());
        Self {
            protocol_version: bytes.first().copied(),
            message_id: bytes.get(1).copied(),
            station_id: station.map(u32::from_be_bytes),
            ..Self::raw(bytes)
        }
    }
}

fn packet_name(packet_type: u8) -> &'static str {
    match packet_type {
        1 => "beacon",
        2 => "unicast",
        3 => "geo-anycast",
        4 => "geo-broadcast",
        5 => "broadcast",
        6 => "location-service",
        _ => "unknown",
    }
}

/// `steps` of 1/`per` unit. Divided, since the quotient prints as the decimal number that is meant.
fn scaled(steps: impl Into<f64>, per: f64) -> f64 {
    steps.into() / per
}

fn tenths<T: Into<f64>>(steps: Option<T>) -> Option<f64> {
    steps.map(|steps| scaled(steps, 10.0))
}

/// In degrees; none where unavailable.
#[derive(Debug, Serialize)]
struct Place {
    latitude: Option<f64>,
    longitude: Option<f64>,
}

impl From<WirePosition> for Place {
    fn from(position: WirePosition) -> Self {
        let degrees = |steps: i32, most: i32| {
            (steps.unsigned_abs() <= most.unsigned_abs()).then(|| scaled(steps, 1e7))
        };
        Self {
            latitude: degrees(position.latitude, 900_000_000),
            longitude: degrees(position.longitude, 1_800_000_000),
        }
    }
}

#[derive(Debug, Serialize)]
struct CamLine {
    station_id: u32,
    station_type: u8,
    generation_ms: u16,
    #[serde(flatten)]
    place: Place,
    heading_deg: Option<f64>,
    speed_m_s: Option<f64>,
    backward: Option<bool>,
    length_m: Option<f64>,
    width_m: Option<f64>,
    low_frequency: bool,
    path: Vec<PathLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<DigestLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest_raw: Option<String>,
}

#[derive(Debug, Serialize)]
struct PathLine {
    latitude_deg: Option<f64>,
    longitude_deg: Option<f64>,
    age_s: Option<f64>,
}

#[derive(Debug, Serialize)]
struct DigestLine {
    hex: String,
    cells: Vec<(i32, i32)>,
}

impl From<&Cam> for CamLine {
    fn from(cam: &Cam) -> Self {
        let (digest, digest_raw) = match &cam.digest {
            None => (None, None),
            Some(CarriedDigest::Cells(digest)) => (
                Some(DigestLine {
                    hex: hex::text(&digest.encode()),
                    cells: digest
                        .cells()
                        .iter()
                        .map(|cell| (cell.ix, cell.iy))
                        .collect(),
                }),
                None,
            ),
            Some(CarriedDigest::Unreadable(bytes) | CarriedDigest::Foreign(bytes)) => {
                (None, Some(hex::text(bytes)))
            }
        };
        Self {
            station_id: cam.station_id,
            station_type: cam.station_type,
            generation_ms: cam.generation_ms,
            place: cam.position.into(),
            heading_deg: tenths(cam.heading),
            speed_m_s: cam.speed.map(|speed| scaled(speed, 100.0)),
            backward: cam.backward,
            length_m: tenths(cam.length),
            width_m: tenths(cam.width),
            low_frequency: cam.path.is_some(),
            path: cam.path.iter().flatten().map(PathLine::from).collect(),
            digest,
            digest_raw,
        }
    }
}

impl From<&PathPoint> for PathLine {
    fn from(point: &PathPoint) -> Self {
        let degrees = |steps: i32| (steps <= 131_071).then(|| scaled(steps, 1e7));
        Self {
            latitude_deg: degrees(point.latitude),
            longitude_deg: degrees(point.longitude),
            age_s: point.age.map(|age| scaled(age, 100.0)),
        }
    }
}

#[derive(Debug, Serialize)]
struct CpmLine {
    station_id: u32,
    reference_time_ms: u64,
    #[serde(flatten)]
    place: Place,
    segment: Option<(u8, u8)>,
    orientation_deg: Option<f64>,
    sensors: Vec<SensorLine>,
    objects_known: u8,
    objects: Vec<ObjectLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fused: Option<FusedLine>,
}

#[derive(Debug, Serialize)]
struct SensorLine {
    id: u8,
    kind: u8,
    range_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sector_deg: Option<[f64; 2]>,
}

#[derive(Debug, Serialize)]
struct ObjectLine {
    id: Option<u16>,
    measured_ms: i16,
    east_m: f64,
    north_m: f64,
    velocity_m_s: Option<(f64, f64)>,
    length_m: Option<f64>,
    width_m: Option<f64>,
    height_m: Option<f64>,
    quality: Option<u8>,
}

#[derive(Debug, Serialize)]
struct FusedLine {
    tile: (i32, i32),
    sequence: u32,
    epoch: u32,
    tenure_ms: u32,
    price: f64,
    cycle_age_ms: u16,
    unchanged_age_ms: u16,
    lease_ms: u16,
    content: &'static str,
    full: bool,
    contributors: Vec<u32>,
    requested: Vec<u32>,
    withdrawn_stations: Vec<u32>,
    withdrawn: Vec<u16>,
    stations: Vec<u32>,
}

impl From<&Cpm> for CpmLine {
    fn from(cpm: &Cpm) -> Self {
        Self {
            station_id: cpm.station_id,
            reference_time_ms: cpm.reference_ms,
            place: cpm.position.into(),
            segment: cpm.segment,
            orientation_deg: tenths(cpm.orientation.flatten()),
            sensors: cpm
                .sensors
                .iter()
                .map(|sensor| SensorLine {
                    id: sensor.id,
                    kind: sensor.kind,
                    range_m: tenths(sensor.range),
                    sector_deg: sensor
                        .sector
                        .map(|sector| sector.map(|tenth| f64::from(tenth) / 10.0)),
                })
                .collect(),
            objects_known: cpm.objects_known,
            objects: cpm.objects.iter().map(ObjectLine::from).collect(),
            fused: cpm.fused.as_ref().map(FusedLine::from),
        }
    }
}

impl From<&CpmObject> for ObjectLine {
    fn from(object: &CpmObject) -> Self {
        Self {
            id: object.id,
            measured_ms: object.measured_ms,
            east_m: scaled(object.east, 100.0),
            north_m: scaled(object.north, 100.0),
            velocity_m_s: object
                .velocity
                .map(|(east, north)| (scaled(east, 100.0), scaled(north, 100.0))),
            length_m: tenths(object.length),
            width_m: tenths(object.width),
            height_m: tenths(object.height),
            quality: object.quality,
        }
    }
}

impl From<&FusedState> for FusedLine {
    fn from(fused: &FusedState) -> Self {
        Self {
            tile: (fused.tile.tx, fused.tile.ty),
            sequence: fused.sequence,
            epoch: fused.epoch,
            tenure_ms: fused.tenure_ms,
            price: scaled(fused.price, covey_its::fused::PRICE_STEPS),
            cycle_age_ms: fused.cycle_age_ms,
            unchanged_age_ms: fused.unchanged_age_ms,
            lease_ms: fused.lease_ms,
            content: match fused.content {
                Content::AllVisible => "all-visible",
                Content::SilentOnly => "silent-only",
                Content::Demanded => "demanded",
                Content::Requested => "requested",
                Content::Included => "included",
            },
            full: fused.full,
            contributors: fused.contributors.clone(),
            requested: fused.requested.clone(),
            withdrawn_stations: fused.withdrawn_stations.clone(),
            withdrawn: fused.withdrawn.clone(),
            stations: fused.stations.clone(),
        }
    }
}
