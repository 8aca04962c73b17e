//! Writing a recording.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use covey_world::{Map, VehicleId, VehicleState};

use super::bytes::Fault;
use super::file::{self, Entry, KINDS, Kind, MAX_BLOCK, MAX_BLOCKS};
use super::growth::{Grown, Growth};
use super::manifest::{self, Curve, Header, Manifest, TileCurve, VehicleHeader};
use super::values::Encoder;
use super::{
    ArmCycle, CHUNK_CYCLES, CycleRelevance, CycleSeen, DemandDecision, HostDecision, Placed,
    RecordingError, Relevant, Seen, StepRecord, cycles, decisions, demands, motion,
};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The file.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Packed bytes by kind of block, in the order of [`Kind`].
    pub by_kind: [u64; KINDS],
    /// Recorded steps.
    pub steps: u32,
    /// Evaluated cycles.
    pub cycles: u32,
}

/// Writes a recording, chunk by chunk. Dropped before [`Writer::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    temporary: PathBuf,
    out: Option<BufWriter<File>>,
    written: u64,
    index: Vec<Entry>,
    header: Header,
    level: i32,
    vehicles: BTreeMap<u32, VehicleHeader>,
    curves: Vec<Curve>,
    first_step: Option<u32>,
    last_step: u32,
    steps: u32,
    first_cycle: Option<u32>,
    cycles: u32,
    /// The chunk being filled.
    chunk: u32,
    motion: Vec<StepRecord>,
    relevance: Vec<CycleRelevance>,
    arms: Vec<Pending>,
    /// Who reads at the same time.
    growth: Option<Growth>,
}

/// What an arm did in the chunk being filled.
#[derive(Default)]
struct Pending {
    cycles: Vec<ArmCycle>,
    decisions: Encoder,
    demands: Encoder,
    seen: Vec<CycleSeen>,
    /// Every tile, since the beginning of the run.
    tiles: BTreeMap<[i32; 2], Curve>,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cycles", self.cycles.len())
    }
}

impl Writer {
    /// Begins a recording that will be called `path`.
    ///
    /// # Errors
    /// The file cannot be written, or the header makes no sense.
    pub fn create(path: &Path, header: &Header, map: &Map) -> Result<Self, RecordingError> {
        if header.step_us == 0
            || header.cycle_us == 0
            || !header.cycle_us.is_multiple_of(header.step_us)
        {
            return Err(misuse(format!(
                "a cycle of {} us in steps of {} us, expected a whole number of steps",
                header.cycle_us, header.step_us
            )));
        }
        if header.arms.is_empty() || header.arms.len() > 1000 {
            return Err(misuse(format!(
                "{} arms, expected 1 to 1000",
                header.arms.len()
            )));
        }
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let failed = |source| RecordingError::Write {
            file: path.to_owned(),
            source,
        };
        let file = File::create(&temporary).map_err(failed)?;
        let arms = header.arms.len();
        let mut writer = Self {
            path: path.to_owned(),
            temporary,
            out: Some(BufWriter::new(file)),
            written: 0,
            index: Vec::new(),
            header: header.clone(),
            level: 6,
            vehicles: BTreeMap::new(),
            curves: vec![Curve::default(); arms],
            first_step: None,
            last_step: 0,
            steps: 0,
            first_cycle: None,
            cycles: 0,
            chunk: 0,
            motion: Vec::new(),
            relevance: Vec::new(),
            arms: (0..arms).map(|_| Pending::default()).collect(),
            growth: None,
        };
        writer.raw(file::MAGIC)?;
        writer.raw(&file::VERSION.to_le_bytes())?;
        writer.block(Kind::World, 0, 0, manifest::world_json(map).as_bytes())?;
        Ok(writer)
    }

    /// Notes the fingerprint of the results that the recording belongs to.
    pub(super) fn of_run(&mut self, fingerprint: &str) {
        self.header.run = fingerprint.to_string();
    }

    /// Notes the revision of the program that records.
    pub(super) fn of_revision(&mut self, revision: &str) {
        self.header.revision = revision.to_string();
    }

    /// Tells `growth` of every chunk that is written from now on.
    pub fn watched_by(&mut self, growth: &Growth) {
        self.growth = Some(growth.clone());
    }

    /// Records where everyone is at step number `step` (time over step length). `equipped` is asked once a vehicle.
    ///
    /// # Errors
    /// Steps do not ascend, vehicles do not ascend by number, or the file cannot be written.
    pub fn step(
        &mut self,
        step: u32,
        vehicles: &[VehicleState],
        equipped: &dyn Fn(VehicleId) -> bool,
    ) -> Result<(), RecordingError> {
        if self.first_step.is_some() && step != self.last_step + 1 {
            return Err(misuse(format!("step {step} after step {}", self.last_step)));
        }
        if !vehicles.is_sorted_by(|a, b| a.id < b.id) {
            return Err(misuse(format!("step {step}: vehicles do not ascend")));
        }
        self.first_step.get_or_insert(step);
        let chunk = self.chunk_of_cycle(self.cycle_of(step));
        if chunk != self.chunk {
            self.flush()?;
            self.chunk = chunk;
            self.tell()?;
        }
        self.last_step = step;
        self.steps += 1;
        let mut placed = Vec::with_capacity(vehicles.len());
        for v in vehicles {
            self.vehicles
                .entry(v.id.0)
                .or_insert_with(|| VehicleHeader::new(v.id.0, v.body, equipped(v.id)));
            let turn = v.heading / std::f64::consts::TAU;
            placed.push(Placed {
                id: v.id.0,
                x_cm: manifest::cm(v.position.x),
                y_cm: manifest::cm(v.position.y),
                heading: ((turn - turn.floor()) * 65_536.0).round() as u32 as u16,
                speed_cm_s: (v.speed * 100.0).round() as u16,
            });
        }
        self.motion.push(StepRecord {
            step,
            vehicles: placed,
        });
        Ok(())
    }

    /// Records which objects are relevant to whom in the cycle of the last step, by vehicle, then object.
    ///
    /// # Errors
    /// No step came before, the cycle has some already, or pairs do not ascend.
    pub fn relevance(&mut self, pairs: &[Relevant]) -> Result<(), RecordingError> {
        let cycle = self.present_cycle()?;
        if self
            .relevance
            .last()
            .is_some_and(|last| last.cycle == cycle)
        {
            return Err(misuse(format!("cycle {cycle}: relevance given twice")));
        }
        if !pairs.is_sorted_by(|a, b| (a.vehicle, a.object) < (b.vehicle, b.object)) {
            return Err(misuse(format!(
                "cycle {cycle}: relevant pairs do not ascend"
            )));
        }
        let first = *self.first_cycle.get_or_insert(cycle);
        self.cycles = cycle - first + 1;
        for curve in &mut self.curves {
            curve.resize(self.cycles as usize);
        }
        self.relevance.push(CycleRelevance {
            cycle,
            pairs: pairs.to_vec(),
        });
        Ok(())
    }

    /// Records what arm number `arm` did in the cycle of the last step, and what its hosts decided.
    ///
    /// # Errors
    /// No such arm; another cycle; a list of roles or knowledge whose length is not that of the vehicles or pairs.
    pub fn arm_cycle(
        &mut self,
        arm: usize,
        cycle: ArmCycle,
        decisions: &[HostDecision],
    ) -> Result<(), RecordingError> {
        let present = self.present_cycle()?;
        let pairs = match self.relevance.last() {
            Some(last) if last.cycle == present => last.pairs.len(),
            _ => return Err(misuse(format!("cycle {present}: relevance was not given"))),
        };
        let vehicles = self.motion.last().map_or(0, |step| step.vehicles.len());
        if cycle.cycle != present || cycle.roles.len() != vehicles || cycle.knowledge.len() != pairs
        {
            return Err(misuse(format!(
                "arm {arm}: found cycle {} with {} roles and {} pieces of knowledge, expected cycle {present} with {vehicles} and {pairs}",
                cycle.cycle,
                cycle.roles.len(),
                cycle.knowledge.len()
            )));
        }
        let (Some(pending), Some(curve)) = (self.arms.get_mut(arm), self.curves.get_mut(arm))
        else {
            return Err(misuse(format!("arm {arm} of {}", self.header.arms.len())));
        };
        let hosts = cycle
            .tiles
            .iter()
            .filter(|tile| tile.host.is_some())
            .count();
        for row in &cycle.tiles {
            curve.add(
                row,
                1.0 / cycle.tiles.len() as f64,
                1.0 / hosts.max(1) as f64,
            );
            let own = pending.tiles.entry(row.tile).or_default();
            own.resize(self.cycles as usize);
            own.add(row, 1.0, 1.0);
        }
        for decision in decisions {
            decisions::push(&mut pending.decisions, present, decision);
        }
        pending.cycles.push(cycle);
        Ok(())
    }

    /// Records what hosts of arm number `arm` chose by demand in the cycle of the last step.
    ///
    /// # Errors
    /// No such arm, or no step came before.
    pub fn demands(
        &mut self,
        arm: usize,
        decisions: &[DemandDecision],
    ) -> Result<(), RecordingError> {
        let present = self.present_cycle()?;
        let count = self.arms.len();
        let pending = self.arms.get_mut(arm);
        let pending = pending.ok_or_else(|| misuse(format!("arm {arm} of {count}")))?;
        for decision in decisions {
            demands::push(&mut pending.demands, present, decision);
        }
        Ok(())
    }

    /// Records who could have told of what arm number `arm` missed in the cycle of the last step.
    ///
    /// # Errors
    /// No such arm, or no step came before.
    pub fn seen(&mut self, arm: usize, missed: &[Seen]) -> Result<(), RecordingError> {
        let cycle = self.present_cycle()?;
        let count = self.arms.len();
        let pending = self.arms.get_mut(arm);
        let pending = pending.ok_or_else(|| misuse(format!("arm {arm} of {count}")))?;
        let missed = missed.to_vec();
        pending.seen.push(CycleSeen { cycle, missed });
        Ok(())
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<Summary, RecordingError> {
        self.flush()?;
        for ((arm, kind), json) in self.ends()? {
            self.block(kind, arm, 0, &json)?;
        }
        let manifest = self.manifest();
        let json = serde_json::to_vec(&manifest).map_err(|error| misuse(error.to_string()))?;
        self.block(Kind::Manifest, 0, 0, &json)?;
        let mut index = Vec::with_capacity(self.index.len() * file::ENTRY);
        let mut by_kind = [0; KINDS];
        for entry in &self.index {
            entry.put(&mut index);
            by_kind[entry.kind as usize] += u64::from(entry.packed);
        }
        let trailer = file::trailer(&index, self.index.len() as u32, self.written);
        self.raw(&index)?;
        self.raw(&trailer)?;
        if let Some(out) = self.out.take() {
            let done = out
                .into_inner()
                .map_err(std::io::IntoInnerError::into_error);
            done.and_then(|file| file.sync_all())
                .and_then(|()| fs::rename(&self.temporary, &self.path))
                .map_err(|source| self.failed(source))?;
        }
        if let Some(growth) = &self.growth {
            growth.tell(Grown {
                file: self.path.clone(),
                index: std::mem::take(&mut self.index),
                manifest,
                ..Grown::default()
            });
        }
        Ok(Summary {
            file: self.path.clone(),
            bytes: self.written,
            by_kind,
            steps: self.steps,
            cycles: self.cycles,
        })
    }

    /// What the recording says about itself, as far as it has come.
    fn manifest(&self) -> Manifest {
        Manifest {
            schema: manifest::SCHEMA.to_string(),
            header: self.header.clone(),
            chunk_cycles: CHUNK_CYCLES,
            first_step: self.first_step.unwrap_or(0),
            steps: self.steps,
            first_cycle: self.first_cycle.unwrap_or(0),
            cycles: self.cycles,
            vehicles: self.vehicles.values().cloned().collect(),
        }
    }

    /// The blocks that stand at the end: arms and their tiles over time.
    fn ends(&self) -> Result<BTreeMap<(u16, Kind), Vec<u8>>, RecordingError> {
        let failed = |error: serde_json::Error| misuse(error.to_string());
        let mut ends = BTreeMap::new();
        for (number, (arm, curve)) in (0u16..).zip(self.arms.iter().zip(&self.curves)) {
            let tiles = arm.tiles.iter();
            let tiles: Vec<TileCurve> = tiles
                .map(|(&tile, curve)| {
                    let mut curve = curve.clone();
                    curve.resize(self.cycles as usize);
                    TileCurve { tile, curve }
                })
                .collect();
            let json = serde_json::to_vec(&tiles).map_err(failed)?;
            ends.insert((number, Kind::Tiles), json);
            let json = serde_json::to_vec(curve).map_err(failed)?;
            ends.insert((number, Kind::Curve), json);
        }
        Ok(ends)
    }

    /// Tells whoever reads at the same time what there is now.
    fn tell(&mut self) -> Result<(), RecordingError> {
        let Some(growth) = self.growth.clone() else {
            return Ok(());
        };
        if let Some(out) = &mut self.out {
            out.flush().map_err(|source| RecordingError::Write {
                file: self.path.clone(),
                source,
            })?;
        }
        growth.tell(Grown {
            file: self.temporary.clone(),
            index: self.index.clone(),
            ends: self.ends()?,
            manifest: self.manifest(),
            ..Grown::default()
        });
        Ok(())
    }

    fn cycle_of(&self, step: u32) -> u32 {
        step / (self.header.cycle_us / self.header.step_us)
    }

    fn chunk_of_cycle(&self, cycle: u32) -> u32 {
        cycle / CHUNK_CYCLES
    }

    fn present_cycle(&self) -> Result<u32, RecordingError> {
        match self.first_step {
            Some(_) => Ok(self.cycle_of(self.last_step)),
            None => Err(misuse("a cycle before the first step".to_string())),
        }
    }

    fn flush(&mut self) -> Result<(), RecordingError> {
        let chunk = self.chunk;
        if !self.motion.is_empty() {
            let bytes = motion::encode(&std::mem::take(&mut self.motion));
            self.block(Kind::Motion, 0, chunk, &bytes)?;
        }
        if !self.relevance.is_empty() {
            let bytes = cycles::encode_relevance(&std::mem::take(&mut self.relevance));
            self.block(Kind::Relevance, 0, chunk, &bytes)?;
        }
        for arm in 0..self.arms.len() {
            let cycles = std::mem::take(&mut self.arms[arm].cycles);
            if !cycles.is_empty() {
                let bytes = cycles::encode_arm(&cycles);
                self.block(Kind::Arm, arm as u16, chunk, &bytes)?;
            }
            let decisions = std::mem::take(&mut self.arms[arm].decisions);
            if !decisions.is_empty() {
                let bytes = decisions.finish();
                self.block(Kind::Decisions, arm as u16, chunk, &bytes)?;
            }
            let demands = std::mem::take(&mut self.arms[arm].demands);
            if !demands.is_empty() {
                let bytes = demands.finish();
                self.block(Kind::Demands, arm as u16, chunk, &bytes)?;
            }
            let seen = std::mem::take(&mut self.arms[arm].seen);
            if !seen.is_empty() {
                let bytes = cycles::encode_seen(&seen);
                self.block(Kind::Seen, arm as u16, chunk, &bytes)?;
            }
        }
        Ok(())
    }

    fn block(
        &mut self,
        kind: Kind,
        arm: u16,
        chunk: u32,
        bytes: &[u8],
    ) -> Result<(), RecordingError> {
        if bytes.len() > MAX_BLOCK as usize || self.index.len() >= MAX_BLOCKS as usize {
            return Err(misuse(format!(
                "chunk {chunk} has {} bytes of {kind:?}, expected at most {MAX_BLOCK}: too many vehicles for one recording",
                bytes.len()
            )));
        }
        let packed = zstd::bulk::compress(bytes, self.level).map_err(|e| self.failed(e))?;
        self.index.push(Entry {
            kind,
            arm,
            chunk,
            offset: self.written,
            packed: packed.len() as u32,
            unpacked: bytes.len() as u32,
            check: file::check_of(&packed),
        });
        self.raw(&packed)
    }

    fn raw(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.written += bytes.len() as u64;
        match &mut self.out {
            Some(out) => out
                .write_all(bytes)
                .map_err(|source| RecordingError::Write {
                    file: self.path.clone(),
                    source,
                }),
            None => Ok(()),
        }
    }

    fn failed(&self, source: std::io::Error) -> RecordingError {
        RecordingError::Write {
            file: self.path.clone(),
            source,
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // After `finish` there is no such file; before it, half a recording is of no use.
        let _ = fs::remove_file(&self.temporary);
    }
}

fn misuse(text: Fault) -> RecordingError {
    RecordingError::Misuse(text)
}
