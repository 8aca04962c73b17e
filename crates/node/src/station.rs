//! A participant behind real frames: bytes in, bytes out, in whatever time the caller keeps.
//!
//! A station has no clock and no socket. [`hear`](Station::hear) takes an Ethernet frame, [`locate`](Station::locate) and
//! [`sense`](Station::sense) what the own vehicle tells, [`tick`](Station::tick) lets time pass; afterwards
//! [`take_frames`](Station::take_frames) gives what is to be sent, and [`wake_at`](Station::wake_at) when to tick next.
//!
//! Instants count ITS time from its beginning.

use std::collections::VecDeque;
use std::sync::Arc;

use covey_its::cam::{CarriedDigest, WirePosition};
use covey_its::frame::{self, Decoded, PORT_CAM, PORT_CPM, Source};
use covey_its::{
    Cam, Cpm, CpmOptions, EncodeError, GeoReference as _, ItsTime, Numbering, Sensor, Wire,
    decode_frame,
};
use covey_protocol::messages::{Beacon, Broadcast, Message, Report};
use covey_protocol::{
    AgentId, AgentState, Cell, Duration, Event, Input, Instant, ObjectState, Output, Participant,
    Position, Profile, Tile,
};
use covey_simulator::MapReference;

use crate::gate::Gate;
use crate::load::Load;
use crate::reception::{Assembled, Assembly, Duplicates};
use crate::secure::certificate::{AID_CAM, AID_CPM};
use crate::secure::{Refusal, Security};
use crate::tally::Tally;

/// A position is moved on along its heading for this long; after that the station has none, and is silent.
const DEAD_RECKONING: Duration = Duration::from_millis(1_500);
/// A decision later than this after its slot is late.
const LATE: Duration = Duration::from_millis(50);
/// Events that nobody took are forgotten, the oldest first.
const MOST_EVENTS: usize = 1_024;

/// What a station is like.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its number; with signatures that of its ticket takes its place.
    pub id: AgentId,
    /// Parameters, policy, map.
    pub profile: Profile,
    /// Where the grid lies on Earth.
    pub reference: Arc<MapReference>,
    /// Sensors that its reports tell.
    pub sensors: Vec<Sensor>,
    /// What kind of station its messages say (TS 102 894-2).
    pub station_type: u8,
    /// How long after its slot a decision is made: beacons of the same instant are on their way.
    pub decide_after: Duration,
}

/// Where the own vehicle was.
#[derive(Debug, Clone, Copy)]
struct Fix {
    state: AgentState,
    at: Instant,
}

/// One participant with its bytes.
#[derive(Debug)]
pub struct Station {
    settings: Settings,
    participant: Participant,
    security: Option<Security>,
    numbering: Numbering,
    fix: Option<Fix>,
    gate: Gate,
    duplicates: Duplicates,
    /// Own packets of late.
    sent: Duplicates,
    assembly: Assembly,
    load: Load,
    /// How busy the channel is, where something else than own counts tells.
    busy: Option<f64>,
    occupied_at: Instant,
    decided: Option<Instant>,
    /// When the participant wants to be woken, and when it is.
    wanted: Instant,
    wake: Instant,
    tally: Tally,
    frames: Vec<Vec<u8>>,
    events: VecDeque<(Instant, Event)>,
}

impl Station {
    /// Switched on at `now`.
    #[must_use]
    pub fn new(mut settings: Settings, security: Option<Security>, now: Instant) -> Self {
        if let Some(security) = &security {
            settings.id = AgentId(u64::from(security.ticket().station_id()));
        }
        Self {
            participant: Participant::new(&settings.profile, settings.id, now),
            settings,
            security,
            numbering: Numbering::new(),
            fix: None,
            gate: Gate::new(now),
            duplicates: Duplicates::default(),
            sent: Duplicates::default(),
            assembly: Assembly::default(),
            load: Load::default(),
            busy: None,
            occupied_at: now,
            decided: None,
            wanted: now,
            wake: now,
            tally: Tally::default(),
            frames: Vec::new(),
            events: VecDeque::new(),
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> AgentId {
        self.settings.id
    }

    /// The participant behind it.
    #[must_use]
    pub fn participant(&self) -> &Participant {
        &self.participant
    }

    /// What it counted.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What somebody around it counted.
    pub fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// What it is like.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its tickets, where it signs.
    #[must_use]
    pub fn security(&self) -> Option<&Security> {
        self.security.as_ref()
    }

    /// When to tick next, at the latest.
    #[must_use]
    pub fn wake_at(&self) -> Instant {
        self.wake
    }

    /// Frames to send, in order.
    pub fn take_frames(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.frames)
    }

    /// What happened, in order.
    pub fn take_events(&mut self) -> Vec<(Instant, Event)> {
        self.events.drain(..).collect()
    }

    /// The channel is so busy, as a share, by somebody who measures it better than by counting.
    pub fn set_busy(&mut self, share: Option<f64>) {
        self.busy = share.filter(|share| (0.0..=1.0).contains(share));
    }

    /// How busy the channel is: the share, and whether it was measured elsewhere.
    pub fn occupancy(&mut self, now: Instant) -> (f64, bool) {
        if let Some(busy) = self.busy {
            return (busy, true);
        }
        let p = &self.settings.profile.parameters;
        let office = self
            .participant
            .host()
            .map(covey_protocol::host::Host::tile);
        let here = self.fix.map(|fix| fix.state.position);
        let tile = office.or_else(|| Tile::containing(here?, p.tile_m));
        let cycle = Duration::from_seconds(p.cycle_s);
        let share = tile.map_or(0.0, |tile| {
            self.load.share(now, tile, cycle, p.capacity_bytes_per_s)
        });
        (share, false)
    }

    /// The time that the participant is told. Slots are served a few milliseconds late, by the machine or on purpose; until that is done
    /// it is still the instant of the slot, so that all stations act at the same instants, as the protocol has it.
    fn settled(&self, now: Instant) -> Instant {
        let p = &self.settings.profile.parameters;
        let cycle = Duration::from_seconds(p.cycle_s);
        let slot = now.floor_to(cycle, Duration::from_seconds(p.decision_phase_s));
        let pending = self.decided != Some(slot);
        if pending && now.since(slot) < self.settings.decide_after + LATE {
            return slot;
        }
        let late = now.since(self.wake);
        if late.micros() > 0 && late < LATE {
            return self.wake;
        }
        // Messages tell whole milliseconds; who reckons with more would take itself for a little longer in office than others do.
        now.floor_to(Duration::from_millis(1), Duration::ZERO)
    }

    /// Where the vehicle is at `now`, if that was told of late.
    #[must_use]
    pub fn here(&self, now: Instant) -> Option<AgentState> {
        let fix = self.fix?;
        let age = now.since(fix.at);
        if age > DEAD_RECKONING || age.micros() < -DEAD_RECKONING.micros() {
            return None;
        }
        let velocity = fix.state.velocity();
        let seconds = age.seconds();
        let position = Position::new(
            fix.state.position.x + velocity.x * seconds,
            fix.state.position.y + velocity.y * seconds,
        );
        let state = AgentState {
            position,
            ..fix.state
        };
        Some(as_beaconed(&self.settings.reference, &state))
    }

    /// The vehicle was in `state` at `at`.
    pub fn locate(&mut self, now: Instant, state: &AgentState, at: Instant) {
        if !state.is_finite() {
            return;
        }
        if self.fix.replace(Fix { state: *state, at }).is_none() {
            // Who does not know where it is is not on the air yet: it is switched on now.
            self.participant = Participant::new(&self.settings.profile, self.settings.id, now);
        }
        let now = self.settled(now);
        if let Some(here) = self.here(now) {
            self.handle(now, Input::Moved(&here));
        }
    }

    /// The vehicle's sensors see this.
    pub fn sense(&mut self, now: Instant, objects: &[ObjectState], cells: &[Cell]) {
        let (real, now) = (now, self.settled(now));
        let mut objects = objects.to_vec();
        for object in &mut objects {
            // Sensed just now, which is a moment after the time that the participant is told.
            if object.sensed_at > now && object.sensed_at <= real {
                object.sensed_at = now;
            }
        }
        let objects = &objects;
        self.handle(now, Input::Sensed { objects, cells });
    }

    /// Time has come to `now`.
    pub fn tick(&mut self, now: Instant) {
        let (real, now) = (now, self.settled(now));
        for late in self.assembly.overdue(real) {
            self.tally.incomplete += 1;
            self.take_in_cpm(now, late);
        }
        let p = &self.settings.profile.parameters;
        let (cycle, beacon) = (
            Duration::from_seconds(p.cycle_s),
            Duration::from_seconds(p.beacon_s),
        );
        let slot = real.floor_to(cycle, Duration::from_seconds(p.decision_phase_s));
        let decision = slot + self.settings.decide_after;
        let Some(here) = self.here(now) else {
            // Nothing can be said without a place. Ticks go on, so that one that comes is noticed.
            self.wake = now + beacon;
            self.decided = None;
            return;
        };
        self.handle(now, Input::Moved(&here));
        let since = now.since(self.occupied_at);
        if since.micros() < 0 || since.micros() >= beacon.micros() {
            self.occupied_at = now.floor_to(beacon, Duration::ZERO);
            let (share, _) = self.occupancy(now);
            self.handle(now, Input::Occupancy(share));
        }
        if real < decision && self.decided != Some(slot) {
            self.wake = decision;
            return;
        }
        self.handle(now, Input::Tick);
        self.note_decision(real, slot, cycle);
        self.wake = self.wanted.min(slot + cycle);
        if self.wake <= real {
            self.wake = real + Duration::from_millis(1);
        }
    }

    /// Counts cycles, and those that are late or left out.
    fn note_decision(&mut self, now: Instant, slot: Instant, cycle: Duration) {
        let Some(before) = self.decided.replace(slot) else {
            self.tally.cycles += 1;
            return;
        };
        let passed = slot.since(before).micros() / cycle.micros().max(1);
        if !(0..=50).contains(&passed) {
            // The clock was set, or the machine slept; the participant begins anew.
            self.tally.cycles += 1;
        } else if passed > 0 {
            self.tally.cycles += passed as u64;
            self.tally.missed_cycles += passed as u64 - 1;
            self.tally.late_cycles += u64::from(now.since(slot) > LATE);
        }
    }

    /// The clock was set, so many times by now: cycles between then and now were never there.
    pub fn clock_was_set(&mut self, times: u64) {
        self.tally.clock_steps = times;
        self.decided = None;
    }

    /// Takes the next ticket, and with it another name. Whoever hosts keeps its name while it does, unless `patience_over`; gives
    /// whether the name was changed.
    ///
    /// All that others know of the old name ends with it: its tracks age out within the soft-state time, and hosts do not ask it any
    /// more. The station itself goes on with what it heard, a host in its office ([`Participant::rename`]).
    pub fn change_pseudonym(&mut self, now: Instant, patience_over: bool) -> bool {
        if self.participant.host().is_some() && !patience_over {
            return false;
        }
        let Some(security) = &mut self.security else {
            return false;
        };
        if !security.change(now.micros()) {
            return false;
        }
        self.settings.id = AgentId(u64::from(security.ticket().station_id()));
        let now = self.settled(now);
        self.participant.rename(now, self.settings.id);
        self.numbering = Numbering::new();
        self.tally.pseudonyms += 1;
        true
    }

    /// An Ethernet frame was received.
    pub fn hear(&mut self, now: Instant, bytes: &[u8]) {
        self.tally.frames += 1;
        let Some((header, packet)) = bytes.split_at_checked(frame::ETHERNET_LEN) else {
            self.tally.unreadable += 1;
            return;
        };
        if header[12..14] != frame::ETHERTYPE.to_be_bytes() {
            self.tally.not_geonetworking += 1;
            return;
        }
        let mut address = [0; 6];
        address.copy_from_slice(&header[6..12]);
        // By what was sent, not by whom: it may come back after the name was changed.
        if self.sent.knows(packet) {
            self.tally.own += 1;
            return;
        }
        if address == self.address() {
            self.tally.namesakes += 1;
            return;
        }
        if !self.gate.admit(now, address) {
            self.tally.flooded += 1;
            return;
        }
        if self.duplicates.heard(now, packet) {
            self.tally.duplicates += 1;
            return;
        }
        let now = self.settled(now);
        if !self.take_apart(now, bytes) {
            self.gate.regret(address);
        }
    }

    /// Checks and reads a frame; gives whether it was any good.
    fn take_apart(&mut self, now: Instant, bytes: &[u8]) -> bool {
        let opened;
        let mut plain = bytes;
        if let Some(security) = &mut self.security {
            match security.open(now.micros(), bytes) {
                Ok(inner) => {
                    opened = inner;
                    plain = &opened;
                }
                Err(refusal) => {
                    *self.refused(refusal) += 1;
                    // Who is not known yet may be true.
                    return refusal == Refusal::UnknownSigner;
                }
            }
        }
        let Ok(decoded) = decode_frame(plain) else {
            self.tally.unreadable += 1;
            return false;
        };
        let air_len = bytes.len() - frame::ETHERNET_LEN;
        self.take_in(now, decoded, air_len)
    }

    fn refused(&mut self, refusal: Refusal) -> &mut u64 {
        match refusal {
            Refusal::Unsigned => &mut self.tally.unsigned,
            Refusal::Unreadable => &mut self.tally.unreadable,
            Refusal::WronglySigned => &mut self.tally.wrongly_signed,
            Refusal::Expired => &mut self.tally.expired,
            Refusal::Replayed => &mut self.tally.replayed,
            Refusal::UnknownSigner => &mut self.tally.unknown_signer,
            Refusal::NotPermitted => &mut self.tally.not_permitted,
        }
    }

    fn take_in(&mut self, now: Instant, decoded: Decoded, air_len: usize) -> bool {
        let reference = Arc::clone(&self.settings.reference);
        let wire = wire(&reference);
        match decoded.message {
            frame::Message::Cam(cam) => {
                let beacon = match decoded.time_ms {
                    Some(packet_ms) => wire.beacon_in(&cam, packet_ms, now),
                    None => wire.beacon(&cam, now),
                };
                let Ok(beacon) = beacon else {
                    self.tally.unreadable += 1;
                    return false;
                };
                self.tally.beacons_heard += 1;
                let tile = self.tile_of(beacon.state.position);
                self.load.book(now, tile, digest_len(&cam));
                self.handle(now, Input::Beacon(&beacon));
            }
            frame::Message::Cpm(cpm) => {
                let place = cpm.position.to_earth();
                let place = place.and_then(|earth| reference.to_plane(earth));
                let tile = place.and_then(|place| self.tile_of(place));
                self.load.book(now, tile, air_len);
                if let Some(whole) = self.assembly.take(now, cpm) {
                    return self.take_in_cpm(now, whole);
                }
            }
            _ => self.tally.other_messages += 1,
        }
        true
    }

    /// A report or a broadcast, put together as far as it came.
    fn take_in_cpm(&mut self, now: Instant, whole: Assembled) -> bool {
        let reference = Arc::clone(&self.settings.reference);
        let wire = wire(&reference);
        let fused = whole.parts.first().is_some_and(|part| part.fused.is_some());
        if fused {
            if !whole.complete {
                return false;
            }
            let Ok(broadcast) = wire.broadcast(&whole.parts) else {
                self.tally.unreadable += 1;
                return false;
            };
            self.tally.broadcasts_heard += 1;
            self.heed(now, &broadcast);
            return true;
        }
        let mut report: Option<Report> = None;
        for part in &whole.parts {
            let Ok(read) = wire.report(part) else {
                self.tally.unreadable += 1;
                return false;
            };
            match &mut report {
                None => report = Some(read),
                Some(report) => {
                    report.sensor_information |= read.sensor_information;
                    report.objects.extend(read.objects);
                }
            }
        }
        if let Some(report) = &report {
            self.tally.reports_heard += 1;
            self.handle(now, Input::Report(report));
        }
        true
    }

    /// A broadcast was heard. Two hosts of one tile compare the places that their broadcasts tell, which are not rounded as those
    /// of beacons are: while it is compared, the own place is the one that the other host knows.
    fn heed(&mut self, now: Instant, broadcast: &Broadcast) {
        let office = self
            .participant
            .host()
            .map(covey_protocol::host::Host::tile);
        let rival = (office == Some(broadcast.tile))
            .then(|| self.here(now))
            .flatten();
        let Some(here) = rival else {
            return self.handle(now, Input::Broadcast(broadcast));
        };
        let told = AgentState {
            position: as_broadcast(&self.settings.reference, here.position),
            ..here
        };
        self.handle(now, Input::Moved(&here));
        self.handle(now, Input::Moved(&told));
        self.handle(now, Input::Broadcast(broadcast));
        self.handle(now, Input::Moved(&here));
    }

    fn tile_of(&self, position: Position) -> Option<Tile> {
        Tile::containing(position, self.settings.profile.parameters.tile_m)
    }

    /// The own link-layer address.
    #[must_use]
    pub fn address(&self) -> [u8; 6] {
        let [a, b, c, d] = (self.settings.id.0 as u32).to_be_bytes();
        [0x02, 0, a, b, c, d]
    }

    fn note(&mut self, now: Instant, event: Event) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back((now, event));
    }

    /// Tells the participant, and does what it says.
    fn handle(&mut self, now: Instant, input: Input<'_>) {
        self.participant.handle_input(now, input);
        while let Some(output) = self.participant.poll_output() {
            match output {
                Output::Transmit(message) => {
                    let unsent = self.transmit(now, &message).is_err();
                    self.tally.unsent += u64::from(unsent);
                }
                Output::Event(event) => {
                    self.tally.offices += u64::from(matches!(event, Event::TookOffice(_)));
                    self.note(now, event);
                }
                Output::WakeAt(at) => {
                    self.wanted = at;
                    break;
                }
                _ => {}
            }
        }
    }

    fn transmit(&mut self, now: Instant, message: &Message) -> Result<(), EncodeError> {
        match message {
            Message::Beacon(beacon) => self.send_beacon(now, beacon),
            Message::Report(report) => self.send_report(now, report),
            Message::Broadcast(broadcast) => self.send_broadcast(now, broadcast),
        }
    }

    fn send_beacon(&mut self, now: Instant, beacon: &Beacon) -> Result<(), EncodeError> {
        let reference = Arc::clone(&self.settings.reference);
        let wire = wire(&reference);
        let mut cam = wire.cam(beacon, None)?;
        cam.station_type = self.settings.station_type;
        let source = Source::of_cam(&cam, wire.its_time(now)?);
        let frame = frame::encode_frame(&cam.encode()?, PORT_CAM, &source)?;
        let tile = self.tile_of(beacon.state.position);
        self.load.book(now, tile, digest_len(&cam));
        self.push(now, AID_CAM, frame);
        self.tally.beacons_sent += 1;
        Ok(())
    }

    fn send_report(&mut self, now: Instant, report: &Report) -> Result<(), EncodeError> {
        let reference = Arc::clone(&self.settings.reference);
        let wire = wire(&reference);
        let state = self.here(now).unwrap_or_default();
        let cpms = wire.report_cpms(report, &state, &self.options(), &mut self.numbering)?;
        self.tally.left_out += cpms.left_out as u64;
        self.send_cpms(now, &state, &cpms.messages)?;
        self.tally.reports_sent += 1;
        Ok(())
    }

    fn send_broadcast(&mut self, now: Instant, broadcast: &Broadcast) -> Result<(), EncodeError> {
        let reference = Arc::clone(&self.settings.reference);
        let wire = wire(&reference);
        let cpms = wire.broadcast_cpms(broadcast, &self.options(), &mut self.numbering)?;
        self.tally.left_out += cpms.left_out as u64;
        let state = self.here(now).unwrap_or_default();
        self.send_cpms(now, &state, &cpms.messages)?;
        self.tally.broadcasts_sent += 1;
        Ok(())
    }

    fn options(&self) -> CpmOptions {
        CpmOptions {
            sensors: self.settings.sensors.clone(),
            ..CpmOptions::default()
        }
    }

    fn send_cpms(
        &mut self,
        now: Instant,
        state: &AgentState,
        cpms: &[Cpm],
    ) -> Result<(), EncodeError> {
        let source = self.source(now, state)?;
        let tile = self.tile_of(state.position);
        for cpm in cpms {
            let frame = frame::encode_frame(&cpm.encode()?, PORT_CPM, &source)?;
            let length = self.push(now, AID_CPM, frame);
            self.load.book(now, tile, length);
        }
        Ok(())
    }

    /// What a packet's header says of its sender.
    fn source(&self, now: Instant, state: &AgentState) -> Result<Source, EncodeError> {
        let wire = wire(&self.settings.reference);
        let beacon = Beacon {
            sender: self.settings.id,
            at: now,
            state: *state,
            digest: None,
            low_frequency: false,
        };
        let cam = wire.cam(&beacon, None)?;
        Ok(Source::of_cam(&cam, wire.its_time(now)?).of_type(self.settings.station_type))
    }

    /// Signs, where frames are signed, and puts it on the way; gives its length without Ethernet.
    fn push(&mut self, now: Instant, aid: u32, frame: Vec<u8>) -> usize {
        let frame = match &mut self.security {
            None => frame,
            Some(security) => match security.seal(now.micros(), aid, &frame) {
                Ok(sealed) => sealed,
                Err(_) => {
                    self.tally.unsent += 1;
                    return 0;
                }
            },
        };
        if let Some(security) = &self.security {
            [self.tally.certificates_asked, self.tally.certificates_given] = security.counts;
        }
        self.tally.frames_sent += 1;
        let packet = &frame[frame::ETHERNET_LEN..];
        let length = packet.len();
        self.sent.heard(now, packet);
        self.frames.push(frame);
        length
    }
}

/// A state with its place as others take it from a beacon: whoever compares places with others has to reckon with the same numbers as
/// they do. A beacon tells the middle of the front, of which heading and length give the middle of the body. Done twice it
/// gives the same place as done once.
#[must_use]
pub fn as_beaconed(reference: &MapReference, state: &AgentState) -> AgentState {
    let wire = wire(reference);
    let beacon = Beacon {
        sender: AgentId(0),
        at: Instant::ZERO,
        state: *state,
        digest: None,
        low_frequency: false,
    };
    let cam = wire.cam(&beacon, None).ok();
    let heard = cam.and_then(|cam| wire.beacon(&cam, Instant::ZERO).ok());
    AgentState {
        position: heard.map_or(state.position, |heard| heard.state.position),
        ..*state
    }
}

/// A place as others take it from a broadcast.
fn as_broadcast(reference: &MapReference, position: Position) -> Position {
    let told = reference.to_earth(position).and_then(WirePosition::of);
    let earth = told.and_then(WirePosition::to_earth);
    earth
        .and_then(|earth| reference.to_plane(earth))
        .unwrap_or(position)
}

/// The wire of a station: its instants are ITS time.
fn wire(reference: &MapReference) -> Wire<'_> {
    Wire::new(reference, ItsTime(0))
}

/// Bytes that a digest adds to a CAM.
fn digest_len(cam: &Cam) -> usize {
    match &cam.digest {
        // The digest, its length, and what announces an extension.
        Some(CarriedDigest::Cells(digest)) => digest.encode().len() + 3,
        _ => 0,
    }
}
