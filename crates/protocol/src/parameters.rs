//! Every number of the protocol, with unit, range, default and source.

use covey_parameters::{choices, parameters};

use crate::admission::{Factors, Rules};
use crate::beacons::BeaconRule;
use crate::ids::AgentId;
use crate::measured::{Maker, RoadType};
use crate::messages::{Broadcast, Content};
use crate::security::Security;
use crate::time::Duration;

pub use covey_parameters::OutOfRange as ParameterError;

choices! {
    /// Which objects a host's broadcast carries.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BroadcastContent {
        /// All objects that are fresh at the host within its footprint.
        All = "all",
        /// Of those, only objects whose own beacons the host does not hear.
        SilentOnly = "silent-only",
    }
}

choices! {
    /// At which size the allowance and the price count a host's broadcast.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BroadcastSize {
        /// As if it listed every object: the allowance holds in every cycle, whatever changes.
        FullRefresh = "full-refresh",
        /// As the last one was: with the share of objects that it listed, and what it withdrew. More contributors fit between
        /// two full refreshes, and some are shed after each.
        LastCycle = "last-cycle",
    }
}

choices! {
    /// Which objects a contributor's report carries where its host does not choose by need.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ReportContent {
        /// Those that the generation rules of TS 103 324 want, from what the contributor itself included before.
        Included = "included",
        /// All visible objects, every time.
        All = "all",
        /// Only objects that send no beacon, every time.
        Silent = "silent",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(BroadcastContent, BroadcastSize, ReportContent);

parameters! {
    /// The parameters of the protocol. "Letter" is the research letter that the protocol comes from; "reading" is how this
    /// project reads a point that the letter leaves open (docs/readings.md).
    #[derive(Debug, Clone, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
    pub struct Parameters, checked by Self::agree {
        /// Side of a cell of the coverage grid.
        cell_m: f64 = 20.0, unit "m", range at_least(0.5).at_most(500.0), source "letter, table I (design)";
        /// Side of a tile: at least a cell, at most 1,000 of them.
        tile_m: f64 = 500.0, unit "m", range above(0.0).at_most(20_000.0), source "letter, table I (design)";
        /// Radius of the host's broadcast footprint: service scope, candidates and broadcast objects lie within. At most
        /// `tile_m`.
        footprint_m: f64 = 300.0, unit "m", range above(0.0), source "reading 15";
        /// Only participants of the host's own tile are candidates, not all of its footprint.
        candidates_in_tile_only: bool = false, source "reading 15";
        /// Service cycle T_s.
        cycle_s: f64 = 0.2, unit "s", range at_least(1e-6).at_most(3_600.0), source "letter, table I (T_s)";
        /// When in the cycle the host fuses, decides and broadcasts; below `cycle_s`.
        decision_phase_s: f64 = 0.15, unit "s", range at_least(0.0), source "reading 31";
        /// Interval of beacons, and of price updates.
        beacon_s: f64 = 0.1, unit "s", range at_least(1e-6).at_most(3_600.0),
            source "letter, table I (CAM at 10 Hz); EN 302 637-2";
        /// When beacons are sent.
        beacons: BeaconRule = BeaconRule::Periodic, source "letter; reading 44";
        /// Whose cars' beacons are sent where they are measured ones.
        beacon_maker: Maker = Maker::Volkswagen, source "Molina-Masegosa et al., IEEE TVT 2020";
        /// On which roads these were measured.
        beacon_road: RoadType = RoadType::Urban, source "Molina-Masegosa et al., IEEE TVT 2020";
        /// Whether messages are signed; sizes of measured beacons hold the signature already.
        security: Security = Security::None, source "TS 103 097, 7.1.1; docs/readings.md, signed messages";
        /// Spacing of the slots over which beacons and reports are spread.
        slot_s: f64 = 0.05, unit "s", range at_least(1e-6).at_most(3_600.0), source "letter, table I (step); reading 31";
        /// Hard bound T_max on the airtime of a cycle: one cycle, which these allowances never reach.
        t_max_s: f64 = 0.2, unit "s", range at_least(0.0), source "reading 10";
        /// Ageing of the coverage map, kappa: a time constant of half a second.
        kappa_per_s: f64 = 2.0, unit "per s", range at_least(0.0), source "letter, table I";
        /// Score that admits a candidate.
        eta_add: f64 = 0.25, unit "value units", source "letter, table I; reading 41";
        /// Score at which a contributor is removed; at most `eta_add`.
        eta_rem: f64 = -0.25, unit "value units", source "letter, table I; reading 41";
        /// Changes of the contributor set per cycle.
        n_max: u32 = 1, unit "changes per cycle", source "letter, table I";
        /// Per-host allowance b; the letter sweeps over 0.2, 0.4 and 0.8, and an arm's name overrides it.
        allowance: f64 = 0.4, unit "share of capacity", range above(0.0).at_most(1.0), source "letter, table I";
        /// Regional congestion target Gamma.
        target: f64 = 0.3, unit "share of capacity", range above(0.0).at_most(1.0), source "letter, table I";
        /// Step mu of the price per beacon interval.
        price_step: f64 = 0.5, range at_least(0.0), source "letter, congestion control (µ)";
        /// Physical rate R_phy: QPSK r = 0.5 in 10 MHz.
        rate_bytes_per_s: f64 = 650_000.0, unit "B/s", range above(0.0), source "reading 10";
        /// Capacity share C of a tile: 2 subchannels in 1,000 subframes of 121 B each.
        capacity_bytes_per_s: f64 = 242_000.0, unit "B/s", range above(0.0), source "reading 11";
        /// Airtime that one unit of the price pays for.
        airtime_unit_s: f64 = 0.001, unit "s", range above(0.0), source "reading 10";
        /// Novelty counts in the score; not so in an ablation of the letter.
        novelty: bool = true, source "letter; reading 36";
        /// Task risk counts in the score; not so in two ablations of the letter.
        risk: bool = true, source "letter; reading 36";
        /// Timely delivery counts in the score; not so in the ablations of the letter.
        timeliness: bool = true, source "letter; reading 36";
        /// Soft-state time: how long an agent unheard of is remembered, a host believed in office, an object known.
        soft_state_s: f64 = 1.0, unit "s", range at_least(1e-6).at_most(3_600.0),
            source "letter (a refresh of 1 s bounds staleness); readings 28, 37";
        /// Full refresh of the broadcast.
        refresh_s: f64 = 1.0, unit "s", range at_least(1e-6).at_most(3_600.0), source "letter, vehicular instantiation";
        /// How long an admission holds without another word from the host.
        lease_s: f64 = 0.6, unit "s", range at_least(1e-6).at_most(3_600.0), source "design: three cycles";
        /// Displacement above which a broadcast lists an object anew.
        changed_m: f64 = 0.1, unit "m", range at_least(0.0), source "reading 20";
        /// Change of velocity above which a broadcast lists an object anew.
        changed_m_per_s: f64 = 0.1, unit "m/s", range at_least(0.0), source "reading 20";
        /// Objects neither listed nor withdrawn count as refreshed.
        silence_refreshes: bool = true, source "reading 20";
        /// What broadcasts carry.
        broadcast_content: BroadcastContent = BroadcastContent::All, source "reading 20";
        /// At which size broadcasts count against the allowance.
        broadcast_counts: BroadcastSize = BroadcastSize::FullRefresh, source "reading 12";
        /// What reports carry, where the host does not choose by need.
        report_content: ReportContent = ReportContent::Included, source "reading 18";
        /// A contributor that has nothing to report still sends header and sensor information, so that hosts can tell silence
        /// from loss. Where a host chooses by need, silence is an answer and nothing is sent.
        empty_reports: bool = true, source "reading 18";
        /// Every how many beacons a digest is sent; 0 for none. In the letter each beacon carries one.
        digest_every: u32 = 1, unit "beacons", source "letter; reading 32";
        /// Cycles over which the decoded share of a contributor's reports is taken.
        report_window: u32 = 10, unit "cycles", range at_least(1.0).at_most(32.0), source "reading 38";
        /// Beacons over which the decoded share of an agent's beacons is taken.
        beacon_window: u32 = 20, unit "beacons", range at_least(1.0).at_most(32.0), source "reading 38";
        /// Reaction time tau_r.
        reaction_s: f64 = 0.2, unit "s", range at_least(1e-6).at_most(3_600.0), source "letter, table I (τ_r)";
        /// Braking a_br.
        braking_m_per_s2: f64 = 9.0, unit "m/s²", range above(0.0), source "letter, table I (a_br)";
        /// Bytes of a report or broadcast without content.
        message_bytes: f64 = 121.0, unit "B", range at_least(0.0), source "TR 103 562, table 3; reading 21";
        /// Bytes of the sensor information of a report.
        sensor_bytes: f64 = 35.0, unit "B", range at_least(0.0), source "TR 103 562, table 3; reading 21";
        /// Bytes of an object in a report or broadcast.
        object_bytes: f64 = 35.0, unit "B", range at_least(0.0), source "TR 103 562, table 3; reading 21";
        /// Bytes of a withdrawn object in a broadcast.
        withdrawn_bytes: f64 = 4.0, unit "B", range at_least(0.0), source "reading 20";
        /// Bytes of a contributor's entry in a broadcast.
        contributor_bytes: f64 = 4.0, unit "B", range at_least(0.0), source "design: a station id";
        /// Bytes of a requested object in a broadcast.
        requested_bytes: f64 = 3.0, unit "B", range at_least(0.0), source "design: a number that the host gave the object";
        /// When a host hands its office over inside its tile. None: it stays while it is in the tile, as in the letter.
        handover: Option<Handover> = None, source "letter; docs/protocol.md, handover";
        /// What is believed of what others say, and how much of it is kept.
        guard: Guard = Guard::default(), source "docs/security.md";
    }
}

parameters! {
    /// What is believed of what others say, and how much of it is kept. The letter takes everybody for cooperative; these bounds are
    /// wide enough that whoever is never meets one (docs/security.md has the reasons).
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
    pub struct Guard {
        /// A message from up to so far ahead of the own clock was said when it was heard; one from farther ahead is passed over.
        ahead_s: f64 = 0.05, unit "s", range at_least(0.0).at_most(1.0),
            source "design: clocks of stations differ by some tens of ms";
        /// A call so much earlier than the one before it happens at the same time; by more, the own clock was set back and all
        /// that was heard is forgotten. Set forward by more than the soft-state time it is, too.
        clock_back_s: f64 = 0.1, unit "s", range at_least(0.0).at_most(10.0), source "design: half a cycle";
        /// Nobody who is heard is farther off than this, whatever it says.
        reach_m: f64 = 1_500.0, unit "m", range above(0.0), source "design: three times the range of PC5 in a street";
        /// No station is faster than this from one word to the next.
        fastest_m_per_s: f64 = 100.0, unit "m/s", range above(0.0), source "design: 360 km/h";
        /// Positions may be off by so much besides: errors, rounding, the way from the middle of a body to its front.
        margin_m: f64 = 50.0, unit "m", range at_least(0.0), source "design";
        /// Whoever is not heard to beacon is believed in office for as many broadcasts as a host sends in this time.
        unseen_s: f64 = 3.0, unit "s", range at_least(0.0), source "design: 15 words of a host that also beacons twice as often are without a beacon once in 14 million";
        /// A host that neither lists a station nor asks anybody whom one hears, for so long, is believed in office no more.
        serve_s: f64 = 3.0, unit "s", range above(0.0), source "design: 15 cycles, three full refreshes";
        /// For so long after a host did not serve, or was handed over to and did not take office, others are believed in office
        /// only once they have served, and hosts hand over only to those who speak as hosts already.
        wary_s: f64 = 60.0, unit "s", range at_least(0.0), source "design";
        /// A host of which at least this share of the beacons of a soft-state time was heard, and no broadcast, has fallen silent and is
        /// passed over at once; of one that is heard worse, broadcasts may be lost. Above 1: everybody is waited for.
        silent_share: f64 = 2.0, unit "share", range above(0.0).at_most(2.0),
            source "design: off, since a host of a cooperative run may be heard to beacon while its broadcasts are lost";
        /// A new host begins with a price of at most this: an idle channel brings it to nothing within 45 s.
        price: f64 = 64.0, unit "price", range at_least(0.0), source "design: above all prices of cooperative runs";
        /// One word of a host holds for so long at most, whatever lease it tells.
        lease_s: f64 = 1.0, unit "s", range above(0.0), source "design: five cycles";
        /// A contributor reports for so many hosts at most, the nearest.
        grants: u32 = 8, unit "hosts", range at_least(1.0).at_most(1_000.0), source "design: the own tile and those around it";
        /// No host asks anybody who is farther off than its footprint and this.
        grant_margin_m: f64 = 200.0, unit "m", range at_least(0.0), source "design: two vehicles that part for a soft-state time";
        /// Nobody senses anything farther off than this.
        sense_m: f64 = 500.0, unit "m", range above(0.0), source "design: beyond all sensors of TR 103 562";
        /// Objects of one message that are looked at; the rest is passed over.
        message_objects: u32 = 512, unit "objects", range at_least(1.0).at_most(1_000_000.0), source "design: more than eight CPMs hold";
        /// Objects in a broadcast that only stations which were not asked speak of; the nearest are taken.
        unconfirmed: u32 = 192, unit "objects", range at_least(0.0).at_most(1_000_000.0), source "design";
        /// Objects in a broadcast, the nearest first.
        listed: u32 = 360, unit "objects", range at_least(1.0).at_most(1_000_000.0), source "design: as many stations as eight CPMs hold";
        /// Reports in a row without an object, or lost though beacons come, after which a contributor is not asked for `wary_s`; after
        /// more, where by its beacons bad luck can be the reason.
        empty_reports: u32 = 32, unit "cycles", range at_least(1.0).at_most(1_000_000.0), source "design: 6.4 s";
        /// Objects that only one contributor tells of although others look there and see nothing, beyond which it is believed as if
        /// it had not been asked; forgotten by a half in 2 s.
        contradicted: f64 = 40.0, unit "objects", range above(0.0), source "design";
        /// Stations remembered. Those heard only once or twice are let go first, then the farthest.
        stations: u32 = 1_024, unit "stations", range at_least(8.0).at_most(1_000_000.0), source "design: thrice what a crowded street has";
        /// Objects remembered, by a listener and by a host; the oldest are let go first.
        objects: u32 = 4_096, unit "objects", range at_least(8.0).at_most(1_000_000.0), source "design";
        /// Hosts remembered; the longest unheard is let go first.
        hosts: u32 = 32, unit "hosts", range at_least(2.0).at_most(1_000_000.0), source "design: three times the tiles in reach";
        /// Reports and broadcasts remembered for choosing content; the oldest is let go first.
        sayings: u32 = 2_048, unit "messages", range at_least(1.0).at_most(1_000_000.0), source "design";
        /// Senders ahead of the own clock that are remembered; the longest unheard is let go first.
        future: u32 = 256, unit "stations", range at_least(1.0).at_most(1_000_000.0), source "design";
        /// Steps of work of one decision by demand, after which it goes with the best found so far: a step is about ten nanoseconds.
        work: u32 = 1_500_000, unit "steps", range at_least(1_000.0).at_most(4e9), source "design: 15 ms";
    }
}

parameters! {
    /// When a host hands over to one nearer the tile's centre.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
    pub struct Handover without default {
        /// It is further than this from the centre; 100 is usual.
        beyond_m: f64, unit "m", range at_least(0.0), source "design";
        /// Another one is nearer the centre by at least this; 50 is usual.
        nearer_m: f64, unit "m", range above(0.0), source "design";
    }
}

impl Handover {
    /// A host more than 100 m off hands over to one at least 50 m nearer.
    pub const USUAL: Self = Self {
        beyond_m: 100.0,
        nearer_m: 50.0,
    };
}

impl Parameters {
    /// The rules between parameters.
    fn agree(&self) -> Result<(), ParameterError> {
        let check = |field, found, fine, expected| match fine {
            true => Ok(()),
            false => Err(ParameterError::new(field, found, expected)),
        };
        check(
            "tile_m",
            self.tile_m,
            self.tile_m >= self.cell_m && self.tile_m / self.cell_m <= 1_000.0,
            "at least cell_m, at most 1,000 times cell_m and at most 20,000 metres",
        )?;
        check(
            "footprint_m",
            self.footprint_m,
            self.footprint_m <= self.tile_m,
            "above 0 and at most tile_m, so that what the footprint sees fits into the host's window",
        )?;
        check(
            "decision_phase_s",
            self.decision_phase_s,
            self.decision_phase_s < self.cycle_s,
            "at least 0 and below cycle_s",
        )?;
        check(
            "eta_rem",
            self.eta_rem,
            self.eta_rem <= self.eta_add,
            "at most eta_add",
        )
    }

    /// The rules of a host's decision.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules {
            cycle_s: self.cycle_s,
            t_max_s: self.t_max_s,
            kappa_per_s: self.kappa_per_s,
            eta_add: self.eta_add,
            eta_rem: self.eta_rem,
            n_max: self.n_max,
            allowance: self.allowance,
            rate_bytes_per_s: self.rate_bytes_per_s,
            capacity_bytes_per_s: self.capacity_bytes_per_s,
            airtime_unit_s: self.airtime_unit_s,
            factors: Factors {
                novelty: self.novelty,
                risk: self.risk,
                timeliness: self.timeliness,
            },
        }
    }

    /// How soon an agent at `speed` m/s must know of a standing object: tau_r + v / (2 a_br), in seconds.
    #[must_use]
    pub fn reaction_deadline_s(&self, speed: f64) -> f64 {
        self.reaction_s + speed / (2.0 * self.braking_m_per_s2)
    }

    /// Bytes of a report or broadcast without content, signed where messages are; mostly by digest.
    #[must_use]
    pub fn empty_bytes(&self) -> f64 {
        self.message_bytes + f64::from(self.security.bytes(false))
    }

    /// Bytes of a report of `objects` objects.
    #[must_use]
    pub fn report_bytes(&self, objects: f64) -> f64 {
        self.empty_bytes() + self.sensor_bytes + self.object_bytes * objects
    }

    /// Bytes of a broadcast.
    #[must_use]
    pub fn broadcast_bytes(&self, broadcast: &Broadcast) -> f64 {
        self.empty_bytes()
            + self.object_bytes * broadcast.objects.len() as f64
            + self.withdrawn_bytes * broadcast.withdrawn.len() as f64
            + self.contributor_bytes * broadcast.contributors.len() as f64
            + self.requested_bytes * broadcast.requested.len() as f64
    }

    /// What contributors are asked to report.
    #[must_use]
    pub fn content(&self) -> Content {
        match self.report_content {
            ReportContent::Included => Content::Included,
            ReportContent::All => Content::AllVisible,
            ReportContent::Silent => Content::SilentOnly,
        }
    }

    /// When in the beacon interval `agent` sends its beacons.
    #[must_use]
    pub fn beacon_phase(&self, agent: AgentId) -> Duration {
        phase(agent, self.slot_s, self.beacon_s)
    }

    /// When in the cycle `agent` sends its report: in one of the slots before the host decides.
    #[must_use]
    pub fn report_phase(&self, agent: AgentId) -> Duration {
        self.slot_within(agent, self.decision_phase_s)
    }

    /// The slot of `agent` among the whole slots within `span_s`.
    #[must_use]
    pub fn slot_within(&self, agent: AgentId, span_s: f64) -> Duration {
        phase(agent, self.slot_s, span_s)
    }
}

/// One of the whole slots within `span_s`, by the agent's mixed number.
fn phase(agent: AgentId, slot_s: f64, span_s: f64) -> Duration {
    let slots = libm::floor(span_s / slot_s + 1e-9) as u64;
    let slot = agent.mixed() % slots.max(1);
    Duration::from_seconds(slot_s).times(slot as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn defaults_are_valid_and_errors_name_the_field() {
        assert_eq!(Parameters::default().validate(), Ok(()));
        let refuse = |change: fn(&mut Parameters)| {
            let mut parameters = Parameters::default();
            change(&mut parameters);
            parameters.validate().unwrap_err().to_string()
        };
        assert_eq!(
            refuse(|p| p.allowance = 0.0),
            "allowance: found 0, expected above 0 and at most 1 (a share of capacity)"
        );
        assert_eq!(
            refuse(|p| p.eta_rem = 1.0),
            "eta_rem: found 1, expected at most eta_add"
        );
        assert!(refuse(|p| p.cycle_s = f64::NAN).starts_with("cycle_s: found NaN"));
        assert!(refuse(|p| p.report_window = 33).starts_with("report_window: found 33"));
        assert!(refuse(|p| p.decision_phase_s = 0.2).starts_with("decision_phase_s"));
    }

    #[test]
    fn slots_are_those_of_the_letter() {
        let p = Parameters::default();
        let mut beacons = [0; 2];
        let mut reports = [0; 3];
        for id in 0..3_000 {
            beacons[(p.beacon_phase(AgentId(id)).micros() / 50_000) as usize] += 1;
            reports[(p.report_phase(AgentId(id)).micros() / 50_000) as usize] += 1;
        }
        assert!(beacons.iter().all(|&n| n > 1_400), "{beacons:?}");
        assert!(reports.iter().all(|&n| n > 900), "{reports:?}");
    }

    #[test]
    fn a_standing_vehicle_must_know_within_the_reaction_time() {
        let p = Parameters::default();
        assert_eq!(p.reaction_deadline_s(0.0), 0.2);
        assert_eq!(p.reaction_deadline_s(9.0), 0.7);
    }

    #[test]
    fn a_broadcast_is_as_long_as_what_it_holds() {
        use crate::{AgentId, Instant, ObjectId, Position, Tile};
        let p = Parameters {
            message_bytes: 100.0,
            object_bytes: 35.0,
            withdrawn_bytes: 5.0,
            contributor_bytes: 4.0,
            requested_bytes: 7.0,
            sensor_bytes: 20.0,
            ..Parameters::default()
        };
        let object = crate::messages::ObjectState {
            id: ObjectId(1),
            position: Position::default(),
            velocity: crate::Velocity::default(),
            size: crate::messages::Size::default(),
            sensed_at: Instant::ZERO,
            confidence: crate::messages::Confidence::FULL,
        };
        let broadcast = Broadcast {
            host: AgentId(1),
            tile: Tile::new(0, 0),
            at: Instant::ZERO,
            position: Position::default(),
            sequence: 0,
            epoch: 0,
            tenure: Duration::ZERO,
            price: 0.0,
            cycle_start: Instant::ZERO,
            contributors: alloc::vec![AgentId(2); 3],
            lease: Duration::ZERO,
            content: Content::AllVisible,
            requested: alloc::vec![ObjectId(1); 5],
            full: true,
            objects: alloc::vec![object; 2],
            withdrawn: alloc::vec![ObjectId(1); 4],
            unchanged_since: Instant::ZERO,
        };
        assert_eq!(
            p.broadcast_bytes(&broadcast),
            100.0 + 70.0 + 20.0 + 12.0 + 35.0
        );
        assert_eq!(p.report_bytes(3.0), 100.0 + 20.0 + 105.0);
        let signed = Parameters {
            security: Security::Signed,
            ..p
        };
        assert_eq!(signed.empty_bytes(), 193.0);
    }

    #[test]
    fn values_that_do_not_go_together_are_refused_and_the_last_that_do_are_not() {
        let fits = |change: fn(&mut Parameters)| {
            let mut parameters = Parameters::default();
            change(&mut parameters);
            parameters.validate().is_ok()
        };
        assert!(fits(|p| p.cell_m = 500.0));
        assert!(fits(|p| (p.tile_m, p.footprint_m) = (20_000.0, 300.0)));
        assert!(!fits(|p| (p.tile_m, p.cell_m) = (20_000.0, 19.9)));
        assert!(!fits(
            |p| (p.tile_m, p.cell_m, p.footprint_m) = (400.0, 401.0, 300.0)
        ));
        assert!(fits(|p| p.footprint_m = 500.0) && !fits(|p| p.footprint_m = 500.1));
        assert!(fits(|p| p.eta_rem = 0.25) && !fits(|p| p.eta_rem = 0.26));
        assert!(fits(|p| p.decision_phase_s = 0.199) && !fits(|p| p.decision_phase_s = 0.2));
    }
}
