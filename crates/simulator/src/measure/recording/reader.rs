//! Reading a recording.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::bytes::Fault;
use super::file::{self, ENTRY, Entry, HEADER, Kind, MAX_BLOCKS, TRAILER};
use super::growth::{Grown, Growth};
use super::manifest::{Curve, Manifest, SCHEMA, TileCurve};
use super::values::Decoder;
use super::{
    ArmCycle, CHUNK_CYCLES, CycleRelevance, CycleSeen, DemandDecision, EXTENSION, HostDecision,
    RecordingError, StepRecord, cycles, decisions, demands, motion,
};

/// Vehicles, arms and cycles that a manifest may name; more is no recording of ours.
const MAX_VEHICLES: usize = 1 << 20;

/// Something that can be read at any place.
trait Bytes: Read + Seek + Send {}
impl<T: Read + Seek + Send> Bytes for T {}

/// An opened recording: the index and the manifest are checked, blocks are read when asked for.
pub struct Reader {
    path: PathBuf,
    bytes: Box<dyn Bytes>,
    /// Sorted by key.
    index: Vec<Entry>,
    manifest: Manifest,
    /// Where it is still being written.
    growing: Option<Growing>,
}

/// What is followed, and what of it is not in the file yet.
struct Growing {
    growth: Growth,
    edition: u64,
    ends: BTreeMap<(u16, Kind), Vec<u8>>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Reader({}, {} blocks)",
            self.path.display(),
            self.index.len()
        )
    }
}

/// The recordings in a folder, by name; or the one file that `path` is.
///
/// # Errors
/// The folder cannot be read or has none.
pub fn files_in(path: &Path) -> Result<Vec<PathBuf>, RecordingError> {
    let unreadable = |source| RecordingError::Read {
        file: path.to_owned(),
        source,
    };
    if std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|e| e == EXTENSION) && file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(RecordingError::Nothing {
            folder: path.to_owned(),
        });
    }
    files.sort();
    Ok(files)
}

/// Decodes the unpacked bytes of a block to its last byte, and forgets them; says what is wrong with them.
///
/// # Errors
/// They are not a block of this kind.
pub fn check_block(kind: Kind, bytes: &[u8]) -> Result<(), String> {
    match kind {
        Kind::Motion => motion::decode(bytes).map(drop),
        Kind::Relevance => cycles::decode_relevance(bytes).map(drop),
        Kind::Arm => cycles::decode_arm(bytes).map(drop),
        Kind::Seen => cycles::decode_seen(bytes).map(drop),
        Kind::Decisions => {
            let decoder = Decoder::new(bytes)?;
            let mut entries = decoder.entries.iter();
            entries.try_for_each(|entry| decisions::decode(&decoder.values, entry).map(drop))
        }
        Kind::Demands => {
            let decoder = Decoder::new(bytes)?;
            let mut entries = decoder.entries.iter();
            entries.try_for_each(|entry| demands::decode(&decoder.values, entry).map(drop))
        }
        Kind::Manifest => json(serde_json::from_slice::<Manifest>(bytes).map(drop)),
        Kind::Curve => json(serde_json::from_slice::<Curve>(bytes).map(drop)),
        Kind::Tiles => json(serde_json::from_slice::<Vec<TileCurve>>(bytes).map(drop)),
        Kind::World => json(serde_json::from_slice::<serde_json::Value>(bytes).map(drop)),
    }
}

fn json(outcome: Result<(), serde_json::Error>) -> Result<(), String> {
    outcome.map_err(|error| error.to_string())
}

/// A recording whose index is not read yet.
struct Opening<'a> {
    path: &'a Path,
    bytes: Box<dyn Bytes>,
}

impl Opening<'_> {
    fn unreadable(&self, source: std::io::Error) -> RecordingError {
        RecordingError::Read {
            file: self.path.to_owned(),
            source,
        }
    }

    fn damaged(&self, found: impl Into<Fault>) -> RecordingError {
        RecordingError::Damaged {
            file: self.path.to_owned(),
            found: found.into(),
        }
    }

    fn foreign(&self, found: impl Into<String>) -> RecordingError {
        RecordingError::NotARecording {
            file: self.path.to_owned(),
            found: found.into(),
        }
    }

    /// At most `n` bytes from `offset` on.
    fn some(&mut self, offset: u64, n: usize) -> Result<Vec<u8>, RecordingError> {
        let mut out = Vec::new();
        let outcome = match self.bytes.seek(SeekFrom::Start(offset)) {
            Ok(_) => (&mut self.bytes).take(n as u64).read_to_end(&mut out),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(_) => Ok(out),
            Err(error) => Err(self.unreadable(error)),
        }
    }

    /// Just `n` bytes from `offset` on.
    fn read(&mut self, offset: u64, n: usize) -> Result<Vec<u8>, RecordingError> {
        let out = self.some(offset, n)?;
        if out.len() == n {
            Ok(out)
        } else {
            Err(self.damaged("it is cut short"))
        }
    }

    /// Looks at what every recording begins with; gives the file's length.
    fn check_head(&mut self) -> Result<u64, RecordingError> {
        let length = match self.bytes.seek(SeekFrom::End(0)) {
            Ok(length) => length,
            Err(error) => return Err(self.unreadable(error)),
        };
        let head = self.some(0, HEADER)?;
        if head.len() < 8 || head[..8] != *file::MAGIC {
            return Err(self.foreign("another kind of file"));
        }
        if head.len() < HEADER || length < (HEADER + TRAILER) as u64 {
            return Err(self.damaged("it is cut short"));
        }
        let version = number(&head[8..12]);
        if version != u64::from(file::VERSION) {
            return Err(self.foreign(format!(
                "a recording of version {version} (this program reads version {})",
                file::VERSION
            )));
        }
        Ok(length)
    }

    /// The index of a file of this length.
    fn index(&mut self, length: u64) -> Result<Vec<Entry>, RecordingError> {
        let end = length - TRAILER as u64;
        let trailer = self.read(end, TRAILER)?;
        if trailer[44..] != *file::END {
            return Err(self.damaged("its end is missing: it was cut short or not finished"));
        }
        let (offset, count) = (number(&trailer[..8]), number(&trailer[8..12]));
        let size = count * ENTRY as u64;
        if count > u64::from(MAX_BLOCKS) || offset.checked_add(size) != Some(end) {
            return Err(self.damaged(format!("an index of {count} blocks at byte {offset}")));
        }
        let index = self.read(offset, size as usize)?;
        if blake3::hash(&index).as_bytes()[..] != trailer[12..44] {
            return Err(self.damaged("its index does not match its checksum"));
        }
        let mut index = index
            .chunks_exact(ENTRY)
            .map(|bytes| Entry::take(bytes, offset))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|fault| self.damaged(fault))?;
        index.sort_by_key(Entry::key);
        if index.windows(2).any(|pair| pair[0].key() == pair[1].key()) {
            return Err(self.damaged("a block occurs twice"));
        }
        Ok(index)
    }
}

impl Reader {
    /// Opens a recording.
    ///
    /// # Errors
    /// The file cannot be read, is something else, or is damaged.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(|source| RecordingError::Read {
            file: path.to_owned(),
            source,
        })?;
        Self::new(path, file)
    }

    /// Opens a recording that is in memory or elsewhere; `path` stands for it in errors.
    ///
    /// # Errors
    /// It cannot be read, is something else, or is damaged.
    pub fn new(
        path: &Path,
        bytes: impl Read + Seek + Send + 'static,
    ) -> Result<Self, RecordingError> {
        let mut opening = Opening {
            path,
            bytes: Box::new(bytes),
        };
        let length = opening.check_head()?;
        let index = opening.index(length)?;
        let mut reader = Self {
            path: path.to_owned(),
            bytes: opening.bytes,
            index,
            manifest: Manifest::default(),
            growing: None,
        };
        reader.manifest = reader.read_manifest()?;
        Ok(reader)
    }

    /// Opens a recording that is still being written; none before there is anything to read in it. [`Self::follow`] looks for more.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn growing(growth: &Growth) -> Result<Option<Self>, RecordingError> {
        let Some(grown) = growth.newer(0) else {
            return Ok(None);
        };
        // Once it is finished the file has another name: then it is opened by that.
        let file = File::open(&grown.file).map_err(|source| RecordingError::Read {
            file: grown.file.clone(),
            source,
        })?;
        let mut reader = Self {
            path: grown.file.clone(),
            bytes: Box::new(file),
            index: Vec::new(),
            manifest: Manifest::default(),
            growing: None,
        };
        reader.take(growth, grown);
        Ok(Some(reader))
    }

    /// Takes over what was written since, where the recording is still being written.
    pub fn follow(&mut self) {
        let Some(growing) = &self.growing else { return };
        if let Some(grown) = growing.growth.newer(growing.edition) {
            let growth = growing.growth.clone();
            self.take(&growth, grown);
        }
    }

    fn take(&mut self, growth: &Growth, grown: Grown) {
        self.index = grown.index;
        self.manifest = grown.manifest;
        self.growing = Some(Growing {
            growth: growth.clone(),
            edition: grown.edition,
            ends: grown.ends,
        });
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the recording says about itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The numbers of the chunks that hold motion, ascending.
    #[must_use]
    pub fn chunks(&self) -> Vec<u32> {
        let motion = self.index.iter().filter(|e| e.kind == Kind::Motion);
        motion.map(|e| e.chunk).collect()
    }

    /// The chunk of a cycle.
    #[must_use]
    pub fn chunk_of(&self, cycle: u32) -> u32 {
        cycle / CHUNK_CYCLES
    }

    /// The unpacked bytes of a block; none where there is no such block.
    ///
    /// # Errors
    /// The file cannot be read or the block is damaged.
    pub fn block(
        &mut self,
        kind: Kind,
        arm: u16,
        chunk: u32,
    ) -> Result<Option<Vec<u8>>, RecordingError> {
        let Ok(at) = self
            .index
            .binary_search_by_key(&(kind, arm, chunk), Entry::key)
        else {
            let growing = self.growing.as_ref().filter(|_| chunk == 0);
            return Ok(growing.and_then(|growing| growing.ends.get(&(arm, kind)).cloned()));
        };
        let entry = self.index[at];
        let mut packed = Vec::new();
        let unreadable = |source| RecordingError::Read {
            file: self.path.clone(),
            source,
        };
        self.bytes
            .seek(SeekFrom::Start(entry.offset))
            .map_err(unreadable)?;
        (&mut self.bytes)
            .take(u64::from(entry.packed))
            .read_to_end(&mut packed)
            .map_err(unreadable)?;
        let name = format!("the {kind:?} block of arm {arm}, chunk {chunk}");
        if file::check_of(&packed) != entry.check {
            return Err(self.damaged(format!("{name} does not match its checksum")));
        }
        // The unpacked length is limited by the index, so a bomb ends here.
        match zstd::bulk::decompress(&packed, entry.unpacked as usize) {
            Ok(bytes) if bytes.len() == entry.unpacked as usize => Ok(Some(bytes)),
            Ok(bytes) => Err(self.damaged(format!(
                "{name} has {} bytes, expected {}",
                bytes.len(),
                entry.unpacked
            ))),
            Err(error) => Err(self.damaged(format!("{name} cannot be unpacked: {error}"))),
        }
    }

    /// Roads and buildings, as JSON.
    ///
    /// # Errors
    /// The block is missing or damaged.
    pub fn world(&mut self) -> Result<Vec<u8>, RecordingError> {
        self.block(Kind::World, 0, 0)?
            .ok_or_else(|| self.damaged("it holds no map".to_string()))
    }

    /// Positions of a chunk.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn steps(&mut self, chunk: u32) -> Result<Vec<StepRecord>, RecordingError> {
        let bytes = self.block(Kind::Motion, 0, chunk)?;
        self.decoded(bytes, motion::decode)
    }

    /// Relevant pairs of a chunk.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn relevance(&mut self, chunk: u32) -> Result<Vec<CycleRelevance>, RecordingError> {
        let bytes = self.block(Kind::Relevance, 0, chunk)?;
        self.decoded(bytes, cycles::decode_relevance)
    }

    /// What an arm did in a chunk.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn arm_cycles(&mut self, arm: u16, chunk: u32) -> Result<Vec<ArmCycle>, RecordingError> {
        let bytes = self.block(Kind::Arm, arm, chunk)?;
        self.decoded(bytes, cycles::decode_arm)
    }

    /// Who could have told of what an arm missed in a chunk; empty in recordings of older programs.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn seen(&mut self, arm: u16, chunk: u32) -> Result<Vec<CycleSeen>, RecordingError> {
        let bytes = self.block(Kind::Seen, arm, chunk)?;
        self.decoded(bytes, cycles::decode_seen)
    }

    /// An arm over time.
    ///
    /// # Errors
    /// The block is missing or damaged.
    pub fn curve(&mut self, arm: u16) -> Result<Curve, RecordingError> {
        let bytes = self.block(Kind::Curve, arm, 0)?;
        let bytes = bytes.ok_or_else(|| self.damaged(format!("it holds no curve of arm {arm}")))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| self.damaged(format!("the curve of arm {arm}: {error}")))
    }

    /// Who decided in a chunk: cycle and host.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn deciders(&mut self, arm: u16, chunk: u32) -> Result<Vec<(u32, u64)>, RecordingError> {
        let mut all = Vec::new();
        for kind in [Kind::Decisions, Kind::Demands] {
            if let Some(bytes) = self.block(kind, arm, chunk)? {
                let decoder = Decoder::new(&bytes).map_err(|fault| self.damaged(fault))?;
                all.extend(decoder.entries.iter().map(|e| (e.cycle, e.host)));
            }
        }
        Ok(all)
    }

    /// A host's decision in a cycle; none where it made none, or chose by demand.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn decision(
        &mut self,
        arm: u16,
        cycle: u32,
        host: u64,
    ) -> Result<Option<HostDecision>, RecordingError> {
        let Some(bytes) = self.block(Kind::Decisions, arm, self.chunk_of(cycle))? else {
            return Ok(None);
        };
        let decoder = Decoder::new(&bytes).map_err(|fault| self.damaged(fault))?;
        let decision = decoder.find(cycle, host);
        let decision = decision.map(|entry| decisions::decode(&decoder.values, entry));
        decision.transpose().map_err(|fault| self.damaged(fault))
    }

    /// A host's choice by demand in a cycle; none where it made none.
    ///
    /// # Errors
    /// The block is damaged.
    pub fn demand(
        &mut self,
        arm: u16,
        cycle: u32,
        host: u64,
    ) -> Result<Option<DemandDecision>, RecordingError> {
        let Some(bytes) = self.block(Kind::Demands, arm, self.chunk_of(cycle))? else {
            return Ok(None);
        };
        let decoder = Decoder::new(&bytes).map_err(|fault| self.damaged(fault))?;
        let decision = decoder.find(cycle, host);
        let decision = decision.map(|entry| demands::decode(&decoder.values, entry));
        decision.transpose().map_err(|fault| self.damaged(fault))
    }

    fn decoded<T>(
        &self,
        bytes: Option<Vec<u8>>,
        decode: fn(&[u8]) -> Result<Vec<T>, Fault>,
    ) -> Result<Vec<T>, RecordingError> {
        match bytes {
            Some(bytes) => decode(&bytes).map_err(|fault| self.damaged(fault)),
            None => Ok(Vec::new()),
        }
    }

    fn read_manifest(&mut self) -> Result<Manifest, RecordingError> {
        let bytes = self
            .block(Kind::Manifest, 0, 0)?
            .ok_or_else(|| self.damaged("it holds no manifest".to_string()))?;
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|error| self.damaged(format!("its manifest: {error}")))?;
        let header = &manifest.header;
        let fault = if manifest.schema != SCHEMA {
            Some(format!("schema `{}`, expected `{SCHEMA}`", manifest.schema))
        } else if manifest.chunk_cycles != CHUNK_CYCLES {
            Some(format!("chunks of {} cycles", manifest.chunk_cycles))
        } else if header.step_us == 0
            || header.cycle_us == 0
            || !header.cycle_us.is_multiple_of(header.step_us)
        {
            Some(format!(
                "a cycle of {} us in steps of {} us",
                header.cycle_us, header.step_us
            ))
        } else if header.decision_us >= header.cycle_us
            || !header.decision_us.is_multiple_of(header.step_us)
        {
            Some(format!("decisions {} us into a cycle", header.decision_us))
        } else if !(header.cell_m > 0.0 && header.tile_m > 0.0) {
            Some("cells or tiles without a size".to_string())
        } else if header.arms.is_empty() {
            Some("no arms".to_string())
        } else if manifest.vehicles.len() > MAX_VEHICLES {
            Some(format!("{} vehicles", manifest.vehicles.len()))
        } else {
            None
        };
        match fault {
            Some(fault) => Err(self.damaged(format!("its manifest: {fault}"))),
            None => Ok(manifest),
        }
    }

    fn damaged(&self, found: Fault) -> RecordingError {
        RecordingError::Damaged {
            file: self.path.clone(),
            found,
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}
