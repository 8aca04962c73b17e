//! A node: the loop around a station, with clocks, sockets and signals.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration as Span, Instant as Monotonic};

use covey_its::{MAX_MESSAGE_LEN, Sensor};
use covey_protocol::associate::Accuracy;
use covey_protocol::messages::Size;
use covey_protocol::{AgentId, AgentState, Cell, Duration, Event, Instant, RoadMap};
use covey_simulator::{Arm, MapReference, Prepared, Scenario};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::clock::Clock;
use crate::config::{Checked, LogLevel};
pub use crate::failure::NodeError;
use crate::link::Link;
use crate::logging::{Level, Log};
use crate::opening;
use crate::secure::Security;
use crate::secure::pki::read_security;
use crate::station::{Settings, Station};
use crate::status::{self, Shared, Shown};
use crate::vehicle::lines::{Answer, Context, Line, SensedLine, cells, instant, millis};
use crate::vehicle::sources::Word;

/// Frames taken from the socket before anything else gets its turn.
const BATCH: usize = 64;
/// Words that wait.
const MOST_WORDS: usize = 256;
/// Bad lines that the log tells of in a second.
const MOST_TOLD: u32 = 10;
/// Who is told of events.
const MOST_WATCHERS: usize = 16;
/// What the sensors see may be told so long ahead, by who plays a recording or a simulation.
const MOST_AHEAD: Duration = Duration::from_millis(200);
/// The sensor type "several, fused" of TS 103 324.
const FUSED_SENSORS: u8 = 12;

/// What a station of this configuration is like, and its map.
///
/// # Errors
/// The scenario cannot be used, or the arm has no hosts.
pub fn settings(checked: &Checked) -> Result<Settings, NodeError> {
    let config = &checked.config;
    let wrong = |problem: String| NodeError::input(checked, problem);
    let of_scenario = |problem: String| wrong(format!("scenario: {problem}"));
    let file = checked.path(&config.scenario).unwrap_or_default();
    let scenario = Scenario::read(&file).map_err(|e| of_scenario(e.to_string()))?;
    let prepared = Prepared::new(&scenario).map_err(|e| of_scenario(e.to_string()))?;
    let arm: Arm = config
        .arm
        .parse()
        .map_err(|error| wrong(format!("arm: {error}")))?;
    let mut profile = arm.profile(0, &prepared).ok_or_else(|| {
        wrong(format!(
            "arm: found `{}`, expected an arm with hosts, such as proposed@0.4",
            config.arm
        ))
    })?;
    // Numbers of reports mean something to their senders alone.
    profile.association = Some(Accuracy {
        position_m: config.vehicle.accuracy_m,
        velocity_m_per_s: 0.0,
        sizes: true,
    });
    let reference = MapReference::of(&prepared.scenario, &prepared.map)
        .map_err(|e| of_scenario(e.to_string()))?;
    let range = (config.vehicle.range_m * 10.0).round() as u16;
    Ok(Settings {
        id: AgentId(config.station_id.unwrap_or(0)),
        profile,
        reference: Arc::new(reference),
        sensors: vec![Sensor {
            id: 1,
            kind: FUSED_SENSORS,
            range: Some(range),
            sector: None,
        }],
        station_type: config.vehicle.station_type as u8,
        decide_after: Duration::from_seconds(config.radio.decide_after_ms / 1_000.0),
    })
}

/// Reads all that a configuration names, and opens nothing.
///
/// # Errors
/// Something of it is wrong.
pub fn check(checked: &Checked) -> Result<(), NodeError> {
    settings(checked)?;
    opening::replay(checked)?;
    read_keys(checked).map(|_| ())
}

fn read_keys(checked: &Checked) -> Result<Option<Security>, NodeError> {
    let signing = &checked.config.security;
    match (
        checked.path(&signing.folder),
        checked.path(&signing.tickets),
    ) {
        (Some(folder), Some(tickets)) => match read_security(&folder, &tickets) {
            Ok(security) => Ok(Some(security)),
            Err(error) => {
                let key = match error.file().starts_with(&tickets) {
                    true => "security.tickets",
                    false => "security.folder",
                };
                Err(NodeError::input(checked, format!("{key}: {error}")))
            }
        },
        _ => Ok(None),
    }
}

/// Runs a node until it is told to stop (SIGTERM, SIGINT, and with `while_stdin` the end of standard input).
///
/// # Errors
/// It cannot start.
pub fn run(checked: &Checked, while_stdin: bool) -> Result<(), NodeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| NodeError::machine(checked, "the runtime", &error))?;
    let result = runtime.block_on(start(checked, while_stdin));
    // Threads that wait for a device do not keep it.
    runtime.shutdown_timeout(Span::from_millis(100));
    result
}

async fn start(checked: &Checked, while_stdin: bool) -> Result<(), NodeError> {
    let config = &checked.config;
    let log = Log::new(match config.log {
        LogLevel::Error => Level::Error,
        LogLevel::Warn => Level::Warn,
        LogLevel::Info => Level::Info,
        LogLevel::Debug => Level::Debug,
    });
    let settings = settings(checked)?;
    let security = read_keys(checked)?;
    let user = opening::user(checked)?;
    let link = opening::link(checked)?;
    let (words, heard) = mpsc::channel(MOST_WORDS);
    let socket = opening::sources(checked, &words, user.as_ref()).await?;
    let shared: Shared = Arc::new(Mutex::new(Shown::default()));
    let mut port = None;
    if let Some(wanted) = config.status_port {
        let listener = status::open(wanted as u16).await.map_err(|error| {
            NodeError::machine(checked, &format!("status_port: {wanted}"), &error)
        })?;
        port = listener.local_addr().ok().map(|address| address.port());
        tokio::spawn(status::serve(listener, Arc::clone(&shared)));
    }
    if let Some(user) = &user {
        opening::go_on_as(checked, user)?;
    }
    let mut clock = Clock::new();
    let now = clock.now();
    let signed = security.is_some();
    let node = Node {
        station: Station::new(settings, security, now),
        size: Size {
            length: config.vehicle.length_m,
            width: config.vehicle.width_m,
            height: config.vehicle.height_m,
        },
        range_m: config.vehicle.range_m,
        busy_file: checked.path(&config.radio.busy_file),
        change: config.security.change_s,
        patience: config.security.patience_s,
        changed: now,
        begun: now,
        shown_at: now,
        last: None,
        cells: None,
        watchers: Vec::new(),
        ahead: VecDeque::new(),
        kept: None,
        measured: false,
        refused: false,
        namesakes: (0, now),
        told: (Monotonic::now(), 0),
        shared,
        clock,
        link,
        log,
    };
    log.tell(
        Level::Info,
        now,
        "started",
        json!({
            "station": node.station.id().0,
            "signed": signed,
            "status_port": port,
            "congestion": measured_by(node.measured),
        }),
    );
    let ended = node.serve(heard, while_stdin).await;
    if let Some(path) = socket {
        let _ = std::fs::remove_file(path);
    }
    ended.map_err(|error| {
        let interface = &config.radio.interface;
        NodeError::machine(checked, &format!("radio.interface: {interface}"), &error)
    })
}

struct Node {
    station: Station,
    size: Size,
    range_m: f64,
    busy_file: Option<PathBuf>,
    change: f64,
    patience: f64,
    /// When the name was last changed.
    changed: Instant,
    begun: Instant,
    shown_at: Instant,
    /// The own vehicle as it was told last.
    last: Option<AgentState>,
    /// Cells in view of a place, where the vehicle does not tell them.
    cells: Option<(Cell, Vec<Cell>)>,
    watchers: Vec<Sender<String>>,
    /// What the sensors will have seen, once it is that time.
    ahead: VecDeque<(Instant, SensedLine)>,
    kept: Option<Sender<()>>,
    /// The busy ratio is the modem's.
    measured: bool,
    /// The interface did not take the last frame.
    refused: bool,
    /// Frames of namesakes that the log told of, and when.
    namesakes: (u64, Instant),
    /// Since when, and of how many bad lines the log told within that second.
    told: (Monotonic, u32),
    shared: Shared,
    clock: Clock,
    link: Link,
    log: Log,
}

impl Node {
    /// Until it is told to stop.
    ///
    /// # Errors
    /// The interface is no longer there.
    async fn serve(mut self, mut heard: Receiver<Word>, while_stdin: bool) -> io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let (ended, mut end) = mpsc::channel::<()>(1);
        if while_stdin {
            std::thread::spawn(move || {
                let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
                drop(ended);
            });
        } else {
            // Held for as long as the loop runs.
            self.kept = Some(ended);
        }
        let mut buffer = vec![0; MAX_MESSAGE_LEN + 1];
        let stopped_by = loop {
            let now = self.clock.now();
            self.catch_up(now);
            if now >= self.station.wake_at() {
                self.tick(now);
            }
            let next = self.ahead.front().map(|&(at, _)| at);
            let wake = next.map_or(self.station.wake_at(), |at| at.min(self.station.wake_at()));
            let wait = wake.since(now).micros().clamp(0, 200_000);
            tokio::select! {
                received = self.link.receive(&mut buffer) => match received {
                    Ok(length) => self.hear(&mut buffer, length),
                    // A peer that is gone, or an interface that is down: it may come back.
                    Err(_) => tokio::time::sleep(Span::from_millis(10)).await,
                },
                Some(word) = heard.recv() => self.take(word),
                () = tokio::time::sleep(Span::from_micros(wait as u64)) => {}
                _ = terminate.recv() => break "SIGTERM",
                _ = interrupt.recv() => break "SIGINT",
                _ = end.recv() => break "the end of standard input",
            }
            self.send();
            if self.link.is_gone() {
                break "the interface, which is no longer there";
            }
        };
        let now = self.clock.now();
        self.log
            .tell(Level::Info, now, "stopped", json!({ "by": stopped_by }));
        match self.link.is_gone() {
            true => Err(io::ErrorKind::NotConnected.into()),
            false => Ok(()),
        }
    }

    /// Takes a frame and those that wait behind it, some at a time.
    fn hear(&mut self, buffer: &mut [u8], mut length: usize) {
        for _ in 0..BATCH {
            let now = self.clock.now();
            self.station.hear(now, &buffer[..length]);
            match self.link.try_receive(buffer) {
                Ok(next) => length = next,
                Err(_) => break,
            }
        }
    }

    fn send(&mut self) {
        for frame in self.station.take_frames() {
            let refused = self.link.send(&frame).err();
            if let Some(error) = &refused {
                self.station.tally_mut().send_errors += 1;
                // Told once: a beacon is due ten times a second.
                if !self.refused {
                    let now = self.clock.now();
                    let why = json!({ "problem": error.to_string() });
                    self.log.tell(Level::Warn, now, "radio-refuses", why);
                }
            } else if self.refused {
                let now = self.clock.now();
                self.log.tell(Level::Info, now, "radio-works", json!({}));
            }
            self.refused = refused.is_some();
        }
    }

    fn tick(&mut self, now: Instant) {
        if self.station.tally().clock_steps != self.clock.steps() {
            self.station.clock_was_set(self.clock.steps());
        }
        self.station.tick(now);
        self.send();
        for (at, event) in self.station.take_events() {
            self.tell(at, &event);
        }
        let since = now.since(self.shown_at);
        if since.micros() < 0 || since.seconds() >= 0.2 {
            self.shown_at = now;
            self.read_busy(now);
            self.note_namesakes(now);
            self.change_name(now);
            self.show(now);
        }
    }

    fn read_busy(&mut self, now: Instant) {
        if let Some(file) = &self.busy_file {
            let text = std::fs::read_to_string(file);
            let share = text.ok().and_then(|text| text.trim().parse::<f64>().ok());
            self.station.set_busy(share);
        }
        let (_, measured) = self.station.occupancy(now);
        if measured != self.measured {
            self.measured = measured;
            let by = json!({ "by": measured_by(measured) });
            self.log.tell(Level::Info, now, "congestion", by);
        }
    }

    /// Says that another station has the own number, at most once a minute.
    fn note_namesakes(&mut self, now: Instant) {
        let heard = self.station.tally().namesakes;
        let (told, at) = self.namesakes;
        let since = now.since(at).seconds();
        if heard > told && (told == 0 || !(0.0..60.0).contains(&since)) {
            self.namesakes = (heard, now);
            let fields = json!({ "station": self.station.id().0, "frames": heard });
            self.log.tell(Level::Warn, now, "namesake", fields);
        }
    }

    fn change_name(&mut self, now: Instant) {
        let since = now.since(self.changed).seconds();
        if self.change <= 0.0 || (0.0..self.change).contains(&since) {
            return;
        }
        let patience_over = !(0.0..self.change + self.patience).contains(&since);
        let before = self.station.id().0;
        if self.station.change_pseudonym(now, patience_over) {
            self.changed = now;
            self.log.tell(
                Level::Info,
                now,
                "pseudonym-changed",
                json!({ "from": before, "to": self.station.id().0 }),
            );
        }
    }

    fn show(&mut self, now: Instant) {
        let (occupancy, measured) = self.station.occupancy(now);
        let participant = self.station.participant();
        let host = participant.host();
        let refusals = participant.refusals();
        let shown = Shown {
            station: self.station.id().0,
            role: match host {
                Some(_) => "host",
                None if participant.is_admitted() => "contributor",
                None => "listener",
            },
            tile: host.map(|host| [host.tile().tx, host.tile().ty]),
            contributors: host.map_or(0, |host| host.contributors().len()),
            price: host.map_or(0.0, covey_protocol::host::Host::price),
            objects: participant.listener().iter().len(),
            occupancy,
            measured_by: measured_by(measured),
            signed: self.station.security().is_some(),
            has_place: self.station.here(now).is_some(),
            uptime_s: now.since(self.begun).seconds(),
            tally: *self.station.tally(),
            refusals: vec![
                ("ahead", refusals.ahead),
                ("old", refusals.old),
                ("repeated", refusals.repeated),
                ("places", refusals.places),
                ("hosts", refusals.hosts),
                ("stations", refusals.stations),
                ("others", refusals.others),
                ("jumps", refusals.jumps),
            ],
        };
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = shown;
    }

    /// Tells the log and all who watch what happened.
    fn tell(&mut self, at: Instant, event: &Event) {
        let (level, name, fields) = match event {
            Event::TookOffice(tile) => (
                Level::Info,
                "took-office",
                json!({ "tile": [tile.tx, tile.ty] }),
            ),
            Event::LeftOffice(tile) => (
                Level::Info,
                "left-office",
                json!({ "tile": [tile.tx, tile.ty] }),
            ),
            Event::Admitted { host } => (Level::Info, "admitted", json!({ "host": host.0 })),
            Event::Released => (Level::Info, "released", json!({})),
            Event::ClockJumped { by } => {
                (Level::Warn, "clock-jumped", json!({ "by_s": by.seconds() }))
            }
            Event::DigestTooLarge => (Level::Warn, "digest-too-large", json!({})),
            Event::Dropped(agent) => (Level::Debug, "dropped", json!({ "station": agent.0 })),
            Event::Decided(decision) => (
                Level::Debug,
                "decided",
                json!({ "binding": format!("{:?}", decision.binding) }),
            ),
            _ => return,
        };
        self.log.tell(level, at, name, fields);
        if level <= Level::Warn || level == Level::Info {
            let line = answer(&Answer::Event {
                time_ms: millis(at),
                event: name.to_string(),
            });
            self.watchers.retain(|watcher| {
                !matches!(
                    watcher.try_send(line.clone()),
                    Err(mpsc::error::TrySendError::Closed(_))
                )
            });
        }
    }

    fn context(&self, now: Instant) -> Context<'_, MapReference> {
        Context {
            reference: &self.station.settings().reference,
            own: self.station.id(),
            last: self.last,
            size: self.size,
            now,
        }
    }

    /// Takes what the vehicle tells.
    fn take(&mut self, word: Word) {
        let now = self.clock.now();
        let (from, reply, result) = match word {
            Word::Line(line, reply) => {
                let result = self.take_line(now, line, reply.as_ref());
                ("vehicle".to_string(), reply, result)
            }
            Word::Fix(fix) => {
                let told = self.context(now).fix(&fix);
                (
                    "vehicle".to_string(),
                    None,
                    told.map(|(state, at)| self.locate(now, state, at)),
                )
            }
            Word::Cpm(cpm) => ("vehicle.cpm".to_string(), None, self.take_cpm(now, &cpm)),
            Word::Bad(from, problem, reply) => (from, reply, Err(problem)),
        };
        let Err(problem) = result else {
            return;
        };
        self.station.tally_mut().bad_lines += 1;
        // By the clock that nobody sets: a vehicle that is broken may set the other one.
        if self.told.0.elapsed() >= Span::from_secs(1) {
            self.told = (Monotonic::now(), 0);
        }
        self.told.1 += 1;
        // All are counted; a source that is broken does not fill the disk.
        if self.told.1 <= MOST_TOLD {
            let fields = json!({ "from": from, "problem": problem });
            self.log.tell(Level::Warn, now, "bad-line", fields);
        }
        if let Some(reply) = reply {
            let _ = reply.try_send(answer(&Answer::Error { problem }));
        }
    }

    fn take_line(
        &mut self,
        now: Instant,
        line: Line,
        reply: Option<&Sender<String>>,
    ) -> Result<(), String> {
        match line {
            Line::State(line) => {
                let (state, at) = self.context(now).state(&line)?;
                self.locate(now, state, at);
            }
            Line::Sensed(line) => {
                let at = line.time_ms.map(instant);
                match at.filter(|&at| at > now && at.since(now) < MOST_AHEAD) {
                    Some(at) if self.ahead.len() < MOST_WORDS => self.ahead.push_back((at, line)),
                    _ => self.sense(now, &line)?,
                }
            }
            Line::Count {} => {
                if let Some(reply) = reply {
                    let _ = reply.try_send(self.counts());
                }
            }
            Line::Clock(line) => {
                if line.ahead_ms.abs() > 1e12 {
                    return Err(format!("clock: found {} ms, expected less", line.ahead_ms));
                }
                self.clock.set_ahead((line.ahead_ms * 1_000.0) as i64);
            }
            Line::Ask {} => {
                if let Some(reply) = reply {
                    let _ = reply.try_send(self.known(now));
                }
            }
            Line::Watch {} => {
                self.watchers.retain(|watcher| !watcher.is_closed());
                if self.watchers.len() >= MOST_WATCHERS {
                    return Err(format!(
                        "watch: found {MOST_WATCHERS} who watch, expected fewer"
                    ));
                }
                self.watchers.extend(reply.cloned());
            }
        }
        Ok(())
    }

    /// Takes what was told ahead of its time, and is not any more.
    fn catch_up(&mut self, now: Instant) {
        while let Some((at, line)) = self.ahead.pop_front() {
            if at > now && at.since(now) < MOST_AHEAD {
                self.ahead.push_front((at, line));
                return;
            }
            if self.sense(now, &line).is_err() {
                self.station.tally_mut().bad_lines += 1;
            }
        }
    }

    fn sense(&mut self, now: Instant, line: &SensedLine) -> Result<(), String> {
        let objects = self.context(now).objects(line)?;
        match &line.cells {
            Some(list) => self.station.sense(now, &objects, &cells(list)),
            None => {
                let view = self.view();
                self.station.sense(now, &objects, &view);
            }
        }
        Ok(())
    }

    /// All counts, as a line.
    fn counts(&self) -> String {
        let listed = self.station.tally().list().into_iter();
        answer(&Answer::Counts {
            station: self.station.id().0,
            resident_kb: resident_kb(),
            counts: listed
                .map(|(name, _, value)| (name.to_string(), value))
                .collect(),
        })
    }

    fn locate(&mut self, now: Instant, state: AgentState, at: Instant) {
        self.last = Some(state);
        self.station.locate(now, &state, at);
    }

    /// Objects of a CPM of the own perception, whose numbers are tracks.
    fn take_cpm(&mut self, now: Instant, cpm: &covey_its::Cpm) -> Result<(), String> {
        let reference = Arc::clone(&self.station.settings().reference);
        let wire = covey_its::Wire::new(&*reference, covey_its::ItsTime(0));
        let mut report = wire.report(cpm).map_err(|error| error.to_string())?;
        for object in &mut report.objects {
            if let Some((_, number)) = object.id.scope() {
                object.id = covey_protocol::ObjectId::perceived(self.station.id(), number);
            }
        }
        let view = self.view();
        self.station.sense(now, &report.objects, &view);
        Ok(())
    }

    /// Cells within range that no building hides, worked out anew when the vehicle comes into another cell.
    fn view(&mut self) -> Vec<Cell> {
        let settings = self.station.settings();
        let cell_m = settings.profile.parameters.cell_m;
        let Some(own) = self.last else {
            return Vec::new();
        };
        let Some(here) = Cell::containing(own.position, cell_m) else {
            return Vec::new();
        };
        if let Some((of, view)) = &self.cells
            && *of == here
        {
            return view.clone();
        }
        let view = view_from(
            own.position,
            here,
            cell_m,
            self.range_m,
            settings.profile.map.as_deref(),
        );
        self.cells = Some((here, view.clone()));
        view
    }

    /// All that is known, as a line.
    fn known(&self, now: Instant) -> String {
        let context = self.context(now);
        let participant = self.station.participant();
        let listed = participant.listener().iter();
        answer(&Answer::Known {
            time_ms: millis(now),
            station: self.station.id().0,
            hosts: participant
                .host()
                .map(|host| [host.tile().tx, host.tile().ty]),
            reports: participant.is_admitted(),
            objects: listed.map(|known| context.known(known)).collect(),
        })
    }
}

/// Where the busy ratio comes from, in words.
fn measured_by(measured: bool) -> &'static str {
    match measured {
        true => "the modem's file",
        false => "own counts",
    }
}

fn answer(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

/// Kilobytes of memory that the process has, where the machine tells.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// The cells whose middle lies within `range_m` of `own` and behind no building.
fn view_from(
    own: covey_protocol::Position,
    here: Cell,
    cell_m: f64,
    range_m: f64,
    map: Option<&dyn RoadMap>,
) -> Vec<Cell> {
    let reach = (range_m / cell_m).ceil() as i32;
    let mut view = Vec::new();
    for ix in here.ix - reach..=here.ix + reach {
        for iy in here.iy - reach..=here.iy + reach {
            let middle = covey_protocol::Position::new(
                (f64::from(ix) + 0.5) * cell_m,
                (f64::from(iy) + 0.5) * cell_m,
            );
            let hidden = || map.is_some_and(|map| map.building_between(own, middle));
            if middle.distance(own) <= range_m && !hidden() {
                view.push(Cell::new(ix, iy));
            }
        }
    }
    view
}
