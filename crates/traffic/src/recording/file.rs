//! Recordings in files.
//!
//! Layout, all numbers little endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `COVEYTRC` |
//! | 8..12 | version of the layout, 2 |
//! | 12..20 | length of the unpacked body |
//! | 20..52 | BLAKE3 hash of all that follows |
//! | 52.. | the body, packed with zstd |
//!
//! The body: origin (length as u32, UTF-8); number of vehicles (u32), and for each its length, width and height (f64), kind
//! (u8: 0 car, 1 heavy, 2 two-wheeler, 3 pedestrian, 4 bicycle, 5 rail, 6 other, 7 roadside), name and type; number of steps (u32) and for each its number of entries
//! (u32); then one column after the other: vehicle (u32, less the one before it in the step), x, y (f64), heading, speed,
//! position along the lane (f32), lane, connection (u32, all ones for none). All but the first column are combined by
//! exclusive-or with the same vehicle's entry before, which makes most bits 0. Each column is written byte by byte: the lowest bytes
//! of all entries, then the next ones.

use covey_world::scene::BodyKind;
use covey_world::{Body, Network};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{NONE, Recording};

const MAGIC: &[u8; 8] = b"COVEYTRC";
const VERSION: u32 = 2;
const HEADER: usize = 52;

/// Why a recording cannot be saved or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum RecordingFileError {
    /// The file cannot be written.
    #[error("{file}: cannot be written: {source}")]
    Write {
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{file}: found {found}, expected a traffic recording of version {VERSION}")]
    NotARecording { file: PathBuf, found: String },
    /// The file is damaged.
    #[error("{file}: the recording is damaged: {found}; delete it and make it again")]
    Damaged { file: PathBuf, found: String },
    /// The recording names lanes or connections that the network lacks.
    #[error(
        "{file}: the recording was made on another net (it names {found}, the net has {there})"
    )]
    OtherNetwork {
        file: PathBuf,
        found: String,
        /// What the net has.
        there: usize,
    },
}

impl Recording {
    /// Writes the recording to `path`: under another name first, so that nobody ever sees half a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), RecordingFileError> {
        let failed = |source| RecordingFileError::Write {
            file: path.to_owned(),
            source,
        };
        let body = self.body_bytes();
        let packed = zstd::bulk::compress(&body, 3).map_err(failed)?;
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&(body.len() as u64).to_le_bytes());
        header.extend_from_slice(blake3::hash(&packed).as_bytes());
        write_whole(path, &[&header, &packed]).map_err(failed)
    }

    /// Reads a recording made on `network` from `path`.
    ///
    /// # Errors
    /// The file cannot be read, is something else, is damaged, or belongs to another network.
    pub fn load(path: &Path, network: &Network) -> Result<Self, RecordingFileError> {
        let unreadable = |source| RecordingFileError::Read {
            file: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut header = [0; HEADER];
        let mut length = 0;
        while length < HEADER {
            match file.read(&mut header[length..]).map_err(unreadable)? {
                0 => break,
                n => length += n,
            }
        }
        let other = |found: String| RecordingFileError::NotARecording {
            file: path.to_owned(),
            found,
        };
        let damaged = |found: &str| RecordingFileError::Damaged {
            file: path.to_owned(),
            found: found.to_owned(),
        };
        if length < 8 || header[..8] != *MAGIC {
            return Err(other("another kind of file".into()));
        }
        if length < HEADER {
            return Err(damaged("it is cut short"));
        }
        let number = |at: usize, n: usize| {
            header[at..at + n]
                .iter()
                .rev()
                .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        let version = number(8, 4);
        if version != u64::from(VERSION) {
            return Err(other(format!("version {version}")));
        }
        let unpacked = usize::try_from(number(12, 8)).map_err(|_| damaged("its length"))?;
        let mut packed = Vec::new();
        file.read_to_end(&mut packed).map_err(unreadable)?;
        if blake3::hash(&packed).as_bytes()[..] != header[20..52] {
            return Err(damaged("its content does not match its checksum"));
        }
        let mut body = Vec::new();
        zstd::Decoder::new(&packed[..])
            .and_then(|decoder| decoder.take(unpacked as u64 + 1).read_to_end(&mut body))
            .map_err(|_| damaged("its content cannot be unpacked"))?;
        if body.len() != unpacked {
            return Err(damaged("its content has another length than stated"));
        }
        let recording =
            Self::from_body(&body).ok_or_else(|| damaged("its content is cut short"))?;
        let beyond = |column: &[u32], there: usize| {
            let highest = column.iter().filter(|&&i| i != NONE).max().copied();
            highest.filter(|&i| i as usize >= there)
        };
        let checks = [
            ("lane", &recording.lanes, network.lanes.len()),
            ("connection", &recording.nexts, network.connections.len()),
        ];
        for (what, column, there) in checks {
            if let Some(highest) = beyond(column, there) {
                return Err(RecordingFileError::OtherNetwork {
                    file: path.to_owned(),
                    found: format!("{what} {highest}"),
                    there,
                });
            }
        }
        Ok(recording)
    }

    fn body_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40 * self.entries() + 64 * self.vehicles() + 1024);
        let text = |out: &mut Vec<u8>, text: &str| {
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        };
        text(&mut out, &self.origin);
        out.extend_from_slice(&(self.bodies.len() as u32).to_le_bytes());
        for ((body, name), kind) in self.bodies.iter().zip(&self.names).zip(&self.types) {
            for size in [body.length, body.width, body.height] {
                out.extend_from_slice(&size.to_le_bytes());
            }
            out.push(match body.kind {
                BodyKind::Car => 0,
                BodyKind::Heavy => 1,
                BodyKind::TwoWheeler => 2,
                BodyKind::Pedestrian => 3,
                BodyKind::Bicycle => 4,
                BodyKind::Rail => 5,
                BodyKind::Other => 6,
                BodyKind::Roadside => 7,
            });
            text(&mut out, name);
            text(&mut out, kind);
        }
        out.extend_from_slice(&(self.steps() as u32).to_le_bytes());
        for window in self.starts.windows(2) {
            out.extend_from_slice(&((window[1] - window[0]) as u32).to_le_bytes());
        }
        let mut deltas = Vec::with_capacity(self.ids.len());
        for window in self.starts.windows(2) {
            let mut before = 0;
            for &id in &self.ids[window[0]..window[1]] {
                deltas.push(u64::from(id.wrapping_sub(before)));
                before = id;
            }
        }
        planes(&mut out, &deltas, 4);
        let bits64 = |column: &[f64]| column.iter().map(|v| v.to_bits()).collect();
        let bits32 = |column: &[f32]| column.iter().map(|v| u64::from(v.to_bits())).collect();
        let whole = |column: &[u32]| column.iter().map(|v| u64::from(*v)).collect();
        let columns: [(Vec<u64>, usize); 7] = [
            (bits64(&self.xs), 8),
            (bits64(&self.ys), 8),
            (bits32(&self.headings), 4),
            (bits32(&self.speeds), 4),
            (bits32(&self.lane_positions), 4),
            (whole(&self.lanes), 4),
            (whole(&self.nexts), 4),
        ];
        for (mut column, width) in columns {
            let mut before = vec![0; self.bodies.len()];
            for (value, &id) in column.iter_mut().zip(&self.ids) {
                let before = &mut before[id as usize];
                let now = *value;
                *value ^= *before;
                *before = now;
            }
            planes(&mut out, &column, width);
        }
        out
    }

    fn from_body(body: &[u8]) -> Option<Self> {
        let mut rest = Rest(body);
        let origin = rest.text()?;
        let (bodies, names, types) = rest.vehicles()?;
        let vehicles = bodies.len();
        let steps = rest.u32()? as usize;
        if steps > rest.0.len() / 4 {
            return None;
        }
        let mut starts = Vec::with_capacity(steps + 1);
        starts.push(0);
        let mut entries = 0usize;
        for _ in 0..steps {
            entries = entries.checked_add(rest.u32()? as usize)?;
            starts.push(entries);
        }
        if rest.0.len() != entries.checked_mul(40)? {
            return None;
        }
        let ids = rest.ids(&starts, vehicles)?;
        let mut column = |width: usize| -> Option<Vec<u64>> {
            let mut column = rest.planes(entries, width)?;
            let mut before = vec![0; vehicles];
            for (value, &id) in column.iter_mut().zip(&ids) {
                let before = &mut before[id as usize];
                *value ^= *before;
                *before = *value;
            }
            Some(column)
        };
        let f64s = |column: Vec<u64>| column.into_iter().map(f64::from_bits).collect();
        let u32s = |column: Vec<u64>| column.into_iter().map(|v| v as u32).collect();
        let f32s = |column: Vec<u64>| {
            column
                .into_iter()
                .map(|v| f32::from_bits(v as u32))
                .collect()
        };
        let xs = f64s(column(8)?);
        let ys = f64s(column(8)?);
        let headings = f32s(column(4)?);
        let speeds = f32s(column(4)?);
        let lane_positions = f32s(column(4)?);
        let lanes = u32s(column(4)?);
        let nexts = u32s(column(4)?);
        Some(Self {
            origin,
            starts,
            ids,
            xs,
            ys,
            headings,
            speeds,
            lane_positions,
            lanes,
            nexts,
            bodies,
            names,
            types,
        })
    }
}

/// Appends the lowest bytes of all values, then the next ones, `width` in all.
fn planes(out: &mut Vec<u8>, column: &[u64], width: usize) {
    for byte in 0..width {
        out.extend(column.iter().map(|value| (value >> (8 * byte)) as u8));
    }
}

/// What is left to read of a body.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// The body, the name and the type of every vehicle.
    fn vehicles(&mut self) -> Option<(Vec<Body>, Vec<String>, Vec<String>)> {
        let vehicles = self.u32()? as usize;
        // A vehicle takes at least 33 bytes: a false number cannot make us ask for more memory than the file is long.
        if vehicles > self.0.len() / 33 {
            return None;
        }
        let mut bodies = Vec::with_capacity(vehicles);
        let mut names = Vec::with_capacity(vehicles);
        let mut types = Vec::with_capacity(vehicles);
        for _ in 0..vehicles {
            let mut size = [0.0; 3];
            for size in &mut size {
                *size = f64::from_le_bytes(self.take(8)?.try_into().ok()?);
            }
            let kind = match self.take(1)? {
                [0] => BodyKind::Car,
                [1] => BodyKind::Heavy,
                [2] => BodyKind::TwoWheeler,
                [3] => BodyKind::Pedestrian,
                [4] => BodyKind::Bicycle,
                [5] => BodyKind::Rail,
                [6] => BodyKind::Other,
                [7] => BodyKind::Roadside,
                _ => return None,
            };
            bodies.push(Body {
                length: size[0],
                width: size[1],
                height: size[2],
                kind,
            });
            names.push(self.text()?);
            types.push(self.text()?);
        }
        Some((bodies, names, types))
    }

    /// Who is in which entry: ids rise within a step, by differences.
    fn ids(&mut self, starts: &[usize], vehicles: usize) -> Option<Vec<u32>> {
        let entries = *starts.last()?;
        let mut ids = Vec::with_capacity(entries);
        let deltas = self.planes(entries, 4)?;
        for window in starts.windows(2) {
            let mut id = 0u32;
            for &delta in &deltas[window[0]..window[1]] {
                id = id.wrapping_add(delta as u32);
                if id as usize >= vehicles {
                    return None;
                }
                ids.push(id);
            }
        }
        Some(ids)
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let n = self.u32()? as usize;
        String::from_utf8(self.take(n)?.to_vec()).ok()
    }

    fn planes(&mut self, entries: usize, width: usize) -> Option<Vec<u64>> {
        let bytes = self.take(entries.checked_mul(width)?)?;
        let mut column = vec![0u64; entries];
        for (byte, plane) in bytes.chunks_exact(entries.max(1)).enumerate() {
            for (value, &b) in column.iter_mut().zip(plane) {
                *value |= u64::from(b) << (8 * byte);
            }
        }
        Some(column)
    }
}

/// Writes a file under a temporary name beside `path` and renames it.
pub(crate) fn write_whole(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(
        ".{}-{}.part",
        std::process::id(),
        COUNTER.fetch_add(1, Ordering::Relaxed)
    ));
    let temporary = path.with_file_name(temporary);
    let written = (|| {
        let mut file = File::create(&temporary)?;
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // Nothing of it may stay behind; the first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}
