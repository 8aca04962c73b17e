//! What can be asked for.
//!
//! | path | answer |
//! |---|---|
//! | `/`, `/app.js`, ... | the web app |
//! | `/playground/`, `/playground/playground.js`, ... | the playground |
//! | `/api/recordings` | `[{"name", "scenario", "seed", "arms", "live"}]`, by number |
//! | `/api/live` | a run that is under way: `{"time_s", "measured", "cycles", "paused", "speed", "done"}` |
//! | `/api/live/pause`, `/api/live/go`, `/api/live/speed/X` | holds it, lets it go on, lets X seconds of it pass in one (`full`: as fast as it can); for the page alone |
//! | `/api/R/manifest`, `/api/R/world` | JSON |
//! | `/api/R/motion/CHUNK`, `/api/R/relevance/CHUNK`, `/api/R/arm/ARM/CHUNK` | a block, unpacked |
//! | `/api/R/curve/ARM`, `/api/R/tiles/ARM` | JSON: an arm, and every tile of it, over time |
//! | `/api/R/decision/ARM/CYCLE/HOST` | the snapshot that the host decided on, the decision made again from it, and what was recorded; `by` says `score` or `demand` |
//! | `/api/R/snapshot/ARM/CYCLE/HOST` | the snapshot alone, as a file for `covey decide` |
//! | `/api/R/again/ARM/CYCLE/HOST/WHAT/VALUE` | the same decision with another `price`, `allowance` or `budget` |
//! | `/api/R/alone/ARM/CYCLE/HOST/ID,ID,...` | what reports of these candidates would be worth by themselves, where hosts choose by demand |
//! | `/api/R/seen/ARM/CHUNK` | JSON: who could have told of what was missed, `{"CYCLE": {"PAIR": [ID, ...]}}` |

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use covey_simulator::recording::{
    CycleSeen, DemandDecision, DemandSnapshot, HostDecision, Kind, Pick, Reader, RecordingError,
    Selection, Snapshot, Track, files_in,
};
use serde_json::{Map, Value, json};

use crate::assets;
use crate::http::{Answer, Request};
use crate::live::Live;

/// The recordings that are served.
#[derive(Debug, Default)]
pub struct Library {
    recordings: Vec<Recording>,
    damaged: Vec<RecordingError>,
}

#[derive(Debug)]
struct Recording {
    name: String,
    /// None before a run that is under way has left anything.
    reader: Mutex<Option<Reader>>,
    /// The run that writes it, and where it will be.
    live: Option<(Live, PathBuf)>,
}

impl Recording {
    /// Its reader, with all that was written up to now.
    fn open(&self) -> Result<MutexGuard<'_, Option<Reader>>, RecordingError> {
        // A thread that panicked while reading leaves the reader as it was: reads seek first.
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some((live, file))) = (&*reader, &self.live) {
            *reader = live.reader(file)?;
        }
        if let Some(reader) = &mut *reader {
            reader.follow();
        }
        Ok(reader)
    }
}

impl Library {
    /// Nothing but the pages: for the playground.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The recording of a run that is under way, which will be `file`.
    #[must_use]
    pub fn live(live: &Live, file: &Path) -> Self {
        let name = file.file_stem().unwrap_or_default();
        Self {
            recordings: vec![Recording {
                name: name.to_string_lossy().into_owned(),
                reader: Mutex::new(None),
                live: Some((live.clone(), file.to_owned())),
            }],
            damaged: Vec::new(),
        }
    }

    /// Opens the recordings of a folder, or the one recording that `path` is. Those that cannot be read are left out
    /// ([`Self::damaged`]) where there are others.
    ///
    /// # Errors
    /// There is none, or none of them can be read.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let mut recordings = Vec::new();
        let mut damaged = Vec::new();
        for file in files_in(path)? {
            let name = file.file_stem().unwrap_or_default();
            match Reader::open(&file) {
                Ok(reader) => recordings.push(Recording {
                    name: name.to_string_lossy().into_owned(),
                    reader: Mutex::new(Some(reader)),
                    live: None,
                }),
                Err(error) => damaged.push(error),
            }
        }
        if recordings.is_empty()
            && let Some(error) = damaged.pop()
        {
            return Err(error);
        }
        Ok(Self {
            recordings,
            damaged,
        })
    }

    /// What is wrong with the recordings that were left out.
    pub fn damaged(&self) -> impl Iterator<Item = &RecordingError> {
        self.damaged.iter()
    }

    /// Names of the recordings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.recordings
            .iter()
            .map(|recording| recording.name.as_str())
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let path = request.path.as_str();
        if let Some(asset) = assets::find(path) {
            let mut answer = Answer::ok(asset.content_type, asset.bytes.to_vec());
            answer.runs_wasm = path.starts_with(assets::PLAYGROUND);
            return answer;
        }
        let mut parts = path.split('/').skip(1);
        if parts.next() != Some("api") {
            return nothing();
        }
        let parts: Vec<&str> = parts.collect();
        if parts == ["recordings"] {
            return self.list();
        }
        let Some((number, rest)) = parts.split_first() else {
            return nothing();
        };
        if *number == "live" {
            return self.under_way(rest, request.by_page);
        }
        let recording = number
            .parse()
            .ok()
            .and_then(|n: usize| self.recordings.get(n));
        let Some(recording) = recording else {
            return Answer::text(404, "there is no recording of that number");
        };
        let answered = recording.open().and_then(|mut reader| match &mut *reader {
            Some(reader) => answer(reader, rest),
            None => Ok(Some(Answer::text(404, "the run has not come that far"))),
        });
        match answered {
            Ok(Some(answer)) => answer,
            Ok(None) => nothing(),
            Err(error) => Answer::text(422, &error.to_string()),
        }
    }

    /// What is asked and wanted of the run that is under way.
    fn under_way(&self, words: &[&str], by_page: bool) -> Answer {
        let found = self
            .recordings
            .iter()
            .find_map(|r| Some((r, r.live.as_ref()?)));
        let Some((recording, (live, _))) = found else {
            return Answer::text(404, "no run is under way here");
        };
        if !words.is_empty() {
            if !by_page {
                return Answer::text(403, "only the page may say how fast the run goes");
            }
            if let Err(problem) = live.command(words) {
                return Answer::text(422, &problem);
            }
        }
        match recording.open() {
            Ok(reader) => {
                let cycles = reader.as_ref().map_or(0, |reader| reader.manifest().cycles);
                Answer::json(live.state(cycles).to_string())
            }
            Err(error) => Answer::text(422, &error.to_string()),
        }
    }

    fn list(&self) -> Answer {
        let list: Vec<_> = self
            .recordings
            .iter()
            .map(|recording| {
                let reader = recording.open();
                let reader = reader.as_ref().ok().and_then(|reader| reader.as_ref());
                let Some(reader) = reader else {
                    return json!({"name": recording.name, "scenario": "", "seed": 0, "arms": [], "live": true});
                };
                let header = &reader.manifest().header;
                let arms: Vec<_> = header.arms.iter().map(|arm| arm.name.as_str()).collect();
                json!({"name": recording.name, "scenario": header.scenario, "seed": header.seed, "arms": arms, "live": recording.live.is_some()})
            })
            .collect();
        Answer::json(json!(list).to_string())
    }
}

fn nothing() -> Answer {
    Answer::text(404, "there is nothing here")
}

fn answer(reader: &mut Reader, parts: &[&str]) -> Result<Option<Answer>, RecordingError> {
    let block = |bytes: Option<Vec<u8>>| bytes.map(|b| Answer::ok("application/octet-stream", b));
    let n = |text: &str| text.parse::<u32>().ok();
    let arm_of = |text: &str| text.parse::<u16>().ok();
    match *parts {
        ["manifest"] => Ok(serde_json::to_string(reader.manifest())
            .ok()
            .map(Answer::json)),
        ["world"] => Ok(Some(Answer::ok("application/json", reader.world()?))),
        ["motion", chunk] => match n(chunk) {
            Some(chunk) => Ok(block(reader.block(Kind::Motion, 0, chunk)?)),
            None => Ok(None),
        },
        ["relevance", chunk] => match n(chunk) {
            Some(chunk) => Ok(block(reader.block(Kind::Relevance, 0, chunk)?)),
            None => Ok(None),
        },
        ["arm", arm, chunk] => match (arm_of(arm), n(chunk)) {
            (Some(arm), Some(chunk)) => Ok(block(reader.block(Kind::Arm, arm, chunk)?)),
            _ => Ok(None),
        },
        [what @ ("curve" | "tiles"), arm] => match arm_of(arm) {
            Some(arm) => {
                let kind = if what == "curve" {
                    Kind::Curve
                } else {
                    Kind::Tiles
                };
                let bytes = reader.block(kind, arm, 0)?;
                Ok(bytes.map(|bytes| Answer::ok("application/json", bytes)))
            }
            None => Ok(None),
        },
        ["seen", arm, chunk] => match (arm_of(arm), n(chunk)) {
            (Some(arm), Some(chunk)) => Ok(Some(seen(&reader.seen(arm, chunk)?))),
            _ => Ok(None),
        },
        [what, arm, cycle, host, ref rest @ ..] => {
            let (Some(arm), Some(cycle), Ok(host)) = (arm_of(arm), n(cycle), host.parse()) else {
                return Ok(None);
            };
            let place = Place { arm, cycle, host };
            match (what, rest) {
                ("decision", []) => decision(reader, &place, None, false),
                ("snapshot", []) => decision(reader, &place, None, true),
                ("again", [what, value]) => match Change::new(what, value) {
                    Ok(change) => decision(reader, &place, Some(change), false),
                    Err(text) => Ok(Some(Answer::text(422, &text))),
                },
                ("alone", [ids]) => alone(reader, &place, ids),
                _ => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// A host's decision of a cycle.
struct Place {
    arm: u16,
    cycle: u32,
    host: u64,
}

/// What is to be otherwise when a host decides again.
#[derive(Clone, Copy)]
enum Change {
    Price(f64),
    Allowance(f64),
    Budget(f64),
}

impl Change {
    fn new(what: &str, value: &str) -> Result<Self, String> {
        let found = value.parse().ok().filter(|x: &f64| (0.0..=1e9).contains(x));
        let number = found.ok_or_else(|| format!("{what}: found `{value}`, expected 0 to 1e9"))?;
        match what {
            "price" => Ok(Self::Price(number)),
            "allowance" => Ok(Self::Allowance(number)),
            "budget" => Ok(Self::Budget(number)),
            _ => Err(format!(
                "found `{what}`, expected `price`, `allowance` or `budget`"
            )),
        }
    }

    /// None where hosts of this kind have no such number.
    fn of_score(self, snapshot: &mut Snapshot) -> Option<()> {
        match self {
            Self::Price(price) => snapshot.price = price,
            Self::Allowance(allowance) => snapshot.rules.allowance = allowance,
            Self::Budget(_) => return None,
        }
        Some(())
    }

    /// None where hosts of this kind have no such number.
    fn of_demand(self, snapshot: &mut DemandSnapshot) -> Option<()> {
        match self {
            Self::Budget(bytes) => snapshot.problem.budget_bytes = bytes,
            Self::Price(_) | Self::Allowance(_) => return None,
        }
        Some(())
    }
}

fn decision(
    reader: &mut Reader,
    place: &Place,
    change: Option<Change>,
    snapshot_only: bool,
) -> Result<Option<Answer>, RecordingError> {
    let &Place { arm, cycle, host } = place;
    let no_such = "hosts of this arm have no such number";
    let explained = if let Some(mut recorded) = reader.decision(arm, cycle, host)? {
        match change.map_or(Some(()), |change| change.of_score(&mut recorded.snapshot)) {
            Some(()) => by_score(cycle, &recorded),
            None => return Ok(Some(Answer::text(422, no_such))),
        }
    } else if let Some(mut recorded) = reader.demand(arm, cycle, host)? {
        match change.map_or(Some(()), |change| change.of_demand(&mut recorded.snapshot)) {
            Some(()) => by_demand(cycle, &recorded),
            None => return Ok(Some(Answer::text(422, no_such))),
        }
    } else {
        let text = "that host decided nothing in that cycle";
        return Ok(Some(Answer::text(404, text)));
    };
    Ok(Some(match explained {
        Ok(mut explained) if snapshot_only => {
            let mut answer = Answer::json(explained["snapshot"].take().to_string());
            answer.save_as = Some(format!("snapshot-arm{arm}-cycle{cycle}-host{host}.json"));
            answer
        }
        Ok(explained) => Answer::json(explained.to_string()),
        Err(what) => Answer::text(
            422,
            &format!("{what} is not a finite number: the recorded snapshot makes no sense"),
        ),
    }))
}

/// Candidates that are looked at by themselves in one request.
const MOST_ALONE: usize = 32;

/// What the report of each of some candidates would be worth if nobody else reported and nothing were repeated.
fn alone(reader: &mut Reader, place: &Place, ids: &str) -> Result<Option<Answer>, RecordingError> {
    let Some(recorded) = reader.demand(place.arm, place.cycle, place.host)? else {
        return Ok(None);
    };
    let ids: Vec<u64> = ids.split(',').filter_map(|id| id.parse().ok()).collect();
    let mut problem = recorded.snapshot.problem;
    let candidates = std::mem::take(&mut problem.candidates);
    problem.budget_bytes = f64::MAX;
    problem.least_gain = 0.0;
    for object in &mut problem.objects {
        object.repeat_bytes = None;
    }
    let mut rows = Vec::new();
    for candidate in candidates {
        if rows.len() < MOST_ALONE && ids.contains(&candidate.id.0) {
            let id = candidate.id.0;
            problem.candidates = vec![candidate];
            let chosen = Selection::choose(&problem);
            let own = chosen.picks.iter().find(|p| p.pick == Pick::Report(0));
            let [gain, bytes] = own.map_or([0.0; 2], |own| [own.gain, own.bytes]);
            rows.push(json!({"id": id, "gain": gain, "bytes": bytes}));
        }
    }
    Ok(Some(Answer::json(json!(rows).to_string())))
}

fn seen(cycles: &[CycleSeen]) -> Answer {
    let pairs = |cycle: &CycleSeen| -> Map<String, Value> {
        let missed = cycle.missed.iter();
        missed
            .map(|one| (one.pair.to_string(), json!(one.by)))
            .collect()
    };
    let all: Map<String, Value> = cycles
        .iter()
        .map(|cycle| (cycle.cycle.to_string(), Value::Object(pairs(cycle))))
        .collect();
    Answer::json(Value::Object(all).to_string())
}

fn by_score(cycle: u32, recorded: &HostDecision) -> Result<Value, String> {
    let outcome = recorded.snapshot.decide();
    if let Some(what) = outcome.overflow() {
        return Err(what);
    }
    let changes = recorded.changes.iter().map(|c| {
        json!({"action": c.action.name(), "id": c.id.0, "because": c.because.name(), "score": c.score})
    });
    Ok(json!({
        "by": "score",
        "cycle": cycle,
        "tile": recorded.tile,
        "snapshot": recorded.snapshot.to_value(),
        "decision": outcome,
        "recorded": {"changes": changes.collect::<Vec<_>>(), "binding": recorded.binding.name()},
    }))
}

fn by_demand(cycle: u32, recorded: &DemandDecision) -> Result<Value, String> {
    let outcome = recorded.snapshot.decide();
    if let Some(what) = outcome.overflow() {
        return Err(what);
    }
    let problem = &recorded.snapshot.problem;
    let picks = recorded.picks.iter().map(|&pick| match pick {
        Pick::Report(k) => json!({"pick": "report", "id": problem.candidates[k as usize].id.0}),
        Pick::Repeat(k) => json!({"pick": "repeat", "id": problem.objects[k as usize].id.0}),
        Pick::Request(k) => json!({"pick": "request", "id": problem.objects[k as usize].id.0}),
    });
    Ok(json!({
        "by": "demand",
        "cycle": cycle,
        "tile": recorded.tile,
        "snapshot": recorded.snapshot.to_value(),
        "decision": outcome,
        "recorded": {"picks": picks.collect::<Vec<_>>()},
        "tracks": tracks(recorded),
    }))
}

/// Where the host believed objects to be, in the grid's plane.
fn tracks(recorded: &DemandDecision) -> Vec<Value> {
    let metres = |cm: i32| f64::from(cm) / 100.0;
    let tracks = recorded.tracks.iter();
    let row = |track: &Track| {
        let object = recorded
            .snapshot
            .problem
            .objects
            .get(track.object as usize)?;
        Some(json!({
            "id": object.id.0,
            "x": metres(track.x_cm),
            "y": metres(track.y_cm),
            "heading": f64::from(track.heading) / 65536.0 * std::f64::consts::TAU,
            "length": metres(track.length_cm.into()),
            "width": metres(track.width_cm.into()),
            "age_ms": track.age_ms,
        }))
    };
    tracks.filter_map(row).collect()
}
