//! Recorded floating-car data as a source of traffic.
//!
//! [`FloatingCarData`] reads what SUMO writes with `--fcd-output`: XML, CSV or Parquet, the first two also gzipped. The
//! format is found from the file's content. Files are read as a stream: only two instants of the recording are in memory
//! at a time, whatever its length.
//!
//! # What becomes of a row
//! - SUMO's point is the middle of the front bumper, ours the centre of the body; SUMO's angle is in degrees clockwise from
//!   north, ours in radians counter-clockwise from east.
//! - The body comes from the type (see [`body`]); columns `length`, `width` and `height` of a CSV file, in metres, come before it. A negative speed (reversing) counts as standing.
//! - The lane must be one of the net's. Without a `lane` the vehicle is off the road; without a `pos` the position along
//!   the lane is that of the nearest point of its centre line.
//! - `<person>` elements are pedestrians, off the road; persons who ride in a vehicle and containers are left out. CSV and
//!   Parquet keep no element names: there a row without a lane but with an edge is a person. [`FcdOptions::persons`] leaves
//!   all of them out.
//! - What drivers mean to do next is not in such files: `next` is none. [`crate::Recording::derive_next`] finds it out
//!   afterwards, from where they went.
//!
//! # Time
//! Frames come every [`STEP_US`] from the asked begin, or from the recording's first instant. Between two
//! instants of the recording, positions and speeds are interpolated linearly and headings the shorter way round. On the way
//! from one lane to another, a vehicle is on the earlier lane for the first half of the time and on the later one after
//! that. A body is there from its first to its last instant of each unbroken stretch: if it is missing from an instant,
//! if two instants are further apart than 1.5 times the recording's step (the shortest seen so far), or if it would have
//! had to go faster than 100 m/s (SUMO's teleports), it has left and comes back under its old number. The source ends with
//! the recording's last instant.
//!
//! Bodies are numbered in the order in which they first appear in a frame; those that appear in the same one, in the
//! file's order.

pub mod body;
mod csv;
pub(crate) mod elements;
mod error;
mod input;
mod parquet;
mod row;
mod xml;

pub use body::VehicleTypes;
pub use error::{At, FcdError, Place};

use covey_world::{Frame, Network, VehicleId, VehicleState};
use std::io::BufRead;
use std::path::Path;

use crate::{Recording, STEP_US, Source};
use input::Opened;
pub(crate) use row::parse_time as time_us;
use row::{Resolver, Sample, turn};

/// Nothing on the road moves faster, in m/s: it was put elsewhere.
const FASTEST: f64 = 100.0;

/// What is next in a recording.
enum Item {
    Time {
        time_us: i64,
        number: u64,
    },
    /// A body at that instant.
    Sample(Sample),
    End,
}

/// A format of recordings.
trait Rows {
    fn next_item(&mut self, resolver: &mut Resolver<'_>) -> Result<Item, FcdError>;
    /// The place of a line or row.
    fn place(&self, number: u64) -> Place;
}

/// How to read a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct FcdOptions {
    /// The recording's time at which our time 0 is, in microseconds; its first instant if not given. Before the first
    /// instant there is nobody.
    pub begin_us: Option<i64>,
    /// Bodies by type; SUMO's built-in types, and for others their names, unless told more.
    pub types: VehicleTypes,
    /// Persons on foot are read too.
    pub persons: bool,
}

impl Default for FcdOptions {
    fn default() -> Self {
        Self {
            begin_us: None,
            types: VehicleTypes::sumo_defaults(),
            persons: true,
        }
    }
}

/// Reads `duration_s` seconds of the recording at `path`, made on `network`, and keeps them; fewer where it ends earlier.
/// What drivers meant to do next is found out with the help of the `look_ahead_s` seconds that follow.
///
/// # Errors
/// The file cannot be read, is damaged, or does not belong to the network.
pub fn record(
    path: &Path,
    network: &Network,
    options: FcdOptions,
    duration_s: f64,
    look_ahead_s: f64,
) -> Result<Recording, FcdError> {
    let frames = |seconds: f64| (seconds.max(0.0) * 1e6 / STEP_US as f64).round() as usize;
    let mut source = FloatingCarData::open(path, network, options)?;
    let mut recording = Recording::capture(&mut source, frames(duration_s + look_ahead_s))?;
    recording.derive_next(network);
    recording.truncate(frames(duration_s));
    recording.origin = path.display().to_string();
    Ok(recording)
}

/// When somebody is on the road in a recording: the first and the last instant, in the recording's own seconds; none where nobody
/// ever is.
///
/// # Errors
/// The file cannot be read, is damaged, or does not belong to the network.
pub fn span(path: &Path, network: &Network) -> Result<Option<(f64, f64)>, FcdError> {
    let mut source = FloatingCarData::open(path, network, FcdOptions::default())?;
    let mut frame = Frame::default();
    let mut span: Option<(i64, i64)> = None;
    let mut at = 0;
    while source.next_frame(&mut frame)? {
        if !frame.vehicles.is_empty() {
            span = Some((span.map_or(at, |(first, _)| first), at));
        }
        at += STEP_US;
    }
    let begin = source.begin_us.unwrap_or(0);
    let seconds = |us: i64| (begin + us) as f64 / 1e6;
    Ok(span.map(|(first, last)| (seconds(first), seconds(last))))
}

/// All bodies at one instant of the recording.
#[derive(Debug, Default)]
struct Instant {
    time_us: i64,
    samples: Vec<Sample>,
}

/// A floating-car recording, read as a stream. The [module](self) says how.
pub struct FloatingCarData<'n> {
    network: &'n Network,
    rows: Box<dyn Rows + Send>,
    resolver: Resolver<'n>,
    /// The instant announced last, whose bodies have not been read.
    announced: Option<i64>,
    ended: bool,
    /// The last instant at or before the present time.
    earlier: Option<Instant>,
    /// The first instant after it.
    later: Option<Instant>,
    begin_us: Option<i64>,
    /// The shortest time between two instants so far.
    step_us: Option<i64>,
    frames: i64,
    /// Our number for each name, once it was in a frame.
    ids: Vec<Option<VehicleId>>,
    /// The names in order of our numbers.
    numbered: Vec<u32>,
    /// For each name, its place among the later instant's samples, valid where the stamp is the present one.
    place_in_later: Vec<(u64, u32)>,
    stamp: u64,
}

impl<'n> FloatingCarData<'n> {
    /// Opens a recording made on `network`.
    ///
    /// # Errors
    /// The file cannot be read, is no floating-car data, lacks columns or has no instant that can be read.
    pub fn open(path: &Path, network: &'n Network, options: FcdOptions) -> Result<Self, FcdError> {
        let name = path.display().to_string();
        Self::new(name, input::open(path)?, network, options)
    }

    /// Reads a recording as text (XML or CSV, also gzipped) from a stream, such as the output of a running SUMO. `name` stands for the
    /// file in errors.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn from_stream(
        name: &str,
        stream: Box<dyn BufRead + Send>,
        network: &'n Network,
        options: FcdOptions,
    ) -> Result<Self, FcdError> {
        let opened = input::text(name.to_owned(), stream)?;
        Self::new(name.to_owned(), opened, network, options)
    }

    fn new(
        name: String,
        opened: Opened,
        network: &'n Network,
        options: FcdOptions,
    ) -> Result<Self, FcdError> {
        let rows: Box<dyn Rows + Send> = match opened {
            Opened::Xml(text) => Box::new(xml::XmlRows::new(text)),
            Opened::Csv(text) => Box::new(csv::CsvRows::new(text)?),
            Opened::Parquet(file) => Box::new(parquet::ParquetRows::new(name, file)?),
        };
        let mut source = Self {
            network,
            rows,
            resolver: Resolver::new(network, options.types, options.persons),
            announced: None,
            ended: false,
            earlier: None,
            later: None,
            begin_us: options.begin_us,
            step_us: None,
            frames: 0,
            ids: Vec::new(),
            numbered: Vec::new(),
            place_in_later: Vec::new(),
            stamp: 0,
        };
        source.later = source.read_instant(Instant::default())?;
        if let (None, Some(first)) = (source.begin_us, &source.later) {
            source.begin_us = Some(first.time_us);
        }
        Ok(source)
    }

    /// The recording's time at our time 0, in microseconds; none for an empty recording without an asked begin.
    #[must_use]
    pub fn begin_us(&self) -> Option<i64> {
        self.begin_us
    }

    /// Reads the next instant into `reused`; none at the end.
    fn read_instant(&mut self, mut reused: Instant) -> Result<Option<Instant>, FcdError> {
        reused.samples.clear();
        if self.ended {
            return Ok(None);
        }
        self.stamp += 1;
        loop {
            match self.rows.next_item(&mut self.resolver)? {
                Item::Time { time_us, number } => {
                    let previous = self.announced.replace(time_us);
                    let Some(previous) = previous else { continue };
                    if time_us <= previous {
                        return Err(FcdError::TimeNotGrowing {
                            place: self.rows.place(number),
                            time: time_us as f64 / 1e6,
                            previous: previous as f64 / 1e6,
                        });
                    }
                    let step = time_us - previous;
                    self.step_us = Some(self.step_us.map_or(step, |s| s.min(step)));
                    reused.time_us = previous;
                    return Ok(Some(reused));
                }
                Item::Sample(sample) => {
                    let names = self.resolver.names();
                    self.place_in_later.resize(names, (0, 0));
                    self.ids.resize(names, None);
                    let seen = &mut self.place_in_later[sample.key as usize];
                    if seen.0 == self.stamp {
                        return Err(FcdError::Twice {
                            place: self.rows.place(sample.number),
                            vehicle: self.resolver.name(sample.key).to_owned(),
                            time: self.announced.unwrap_or(0) as f64 / 1e6,
                        });
                    }
                    *seen = (self.stamp, reused.samples.len() as u32);
                    reused.samples.push(sample);
                }
                Item::End => {
                    self.ended = true;
                    let Some(time_us) = self.announced.take() else {
                        return Ok(None);
                    };
                    reused.time_us = time_us;
                    return Ok(Some(reused));
                }
            }
        }
    }

    fn push(&mut self, frame: &mut Frame, sample: &Sample) {
        let slot = &mut self.ids[sample.key as usize];
        let id = *slot.get_or_insert_with(|| {
            self.numbered.push(sample.key);
            VehicleId((self.numbered.len() - 1) as u32)
        });
        frame.vehicles.push(VehicleState {
            id,
            position: sample.centre,
            heading: sample.heading,
            speed: sample.speed,
            body: sample.body,
            lane: sample.lane,
            lane_position: sample.lane_position,
            next: None,
        });
    }
}

/// Where a body is between two samples, at `share` of the time from the earlier to the later.
fn between(network: &Network, a: &Sample, b: &Sample, share: f64) -> Sample {
    let mix = |a: f64, b: f64| a + (b - a) * share;
    let way = b.centre - a.centre;
    let (lane, lane_position) = if a.lane == b.lane {
        (a.lane, mix(a.lane_position, b.lane_position))
    } else if share < 0.5 {
        let end = a
            .lane
            .map_or(0.0, |lane| network.lanes[lane.index()].length);
        let there = a.lane_position + way.length() * share;
        (a.lane, there.min(end.max(a.lane_position)))
    } else {
        let there = b.lane_position - way.length() * (1.0 - share);
        (b.lane, there.max(0.0f64.min(b.lane_position)))
    };
    Sample {
        key: a.key,
        centre: a.centre + way * share,
        heading: turn(a.heading + turn(b.heading - a.heading) * share),
        speed: mix(a.speed, b.speed),
        body: a.body,
        lane,
        lane_position,
        number: a.number,
    }
}

impl Source for FloatingCarData<'_> {
    type Error = FcdError;

    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, FcdError> {
        frame.vehicles.clear();
        let Some(begin) = self.begin_us else {
            return Ok(false);
        };
        let now = begin.saturating_add(self.frames.saturating_mul(STEP_US));
        while let Some(later) = self.later.take_if(|later| later.time_us <= now) {
            let reused = self.earlier.replace(later).unwrap_or_default();
            self.later = self.read_instant(reused)?;
        }
        frame.time_us = self.frames * STEP_US;
        match (&self.earlier, &self.later) {
            (None, None) => return Ok(false),
            (Some(earlier), None) if earlier.time_us < now => return Ok(false),
            _ => self.frames += 1,
        }
        let Some(earlier) = self.earlier.take() else {
            return Ok(true);
        };
        if earlier.time_us == now {
            for sample in &earlier.samples {
                self.push(frame, sample);
            }
        } else if let Some(later) = self.later.take() {
            let gap = later.time_us - earlier.time_us;
            if self.step_us.is_none_or(|step| gap * 2 <= step * 3) {
                let share = (now - earlier.time_us) as f64 / gap as f64;
                // A few metres are a lane change or a correction.
                let farthest = FASTEST * gap as f64 / 1e6 + 5.0;
                for a in &earlier.samples {
                    let (stamp, place) = self.place_in_later[a.key as usize];
                    if stamp == self.stamp {
                        let b = &later.samples[place as usize];
                        if a.centre.distance(b.centre) <= farthest {
                            self.push(frame, &between(self.network, a, b, share));
                        }
                    }
                }
            }
            self.later = Some(later);
        }
        self.earlier = Some(earlier);
        frame.vehicles.sort_unstable_by_key(|v| v.id);
        Ok(true)
    }

    fn vehicle_name(&self, id: VehicleId) -> Option<&str> {
        let key = self.numbered.get(id.0 as usize)?;
        Some(self.resolver.name(*key))
    }

    fn vehicle_type(&self, id: VehicleId) -> Option<&str> {
        let key = self.numbered.get(id.0 as usize)?;
        Some(self.resolver.kind(*key))
    }
}
