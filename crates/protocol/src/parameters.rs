//! Every number of the protocol, with unit, default and source.

use core::fmt;

use crate::admission::{Factors, Rules};
use crate::beacons::BeaconRule;
use crate::ids::AgentId;
use crate::messages::{Broadcast, Content};
use crate::time::Duration;

/// Which objects a host's broadcast carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum BroadcastContent {
    /// All objects that are fresh at the host within its footprint.
    #[default]
    All,
    /// Of those, only objects whose own beacons the host does not hear.
    SilentOnly,
}

/// At which size the allowance and the price count a host's broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum BroadcastSize {
    /// As if it listed every object: the allowance holds in every cycle, whatever changes.
    #[default]
    FullRefresh,
    /// As the last one was: with the share of objects that it listed, and what it withdrew. More contributors fit between two
    /// full refreshes, and some are shed after each.
    LastCycle,
}

/// The parameters of the protocol. "Letter" is the research letter that the protocol comes from; "reading" is how this
/// project reads a point that the letter leaves open (docs/readings.md).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Parameters {
    /// Side of a cell of the coverage grid, in metres. Default 20; letter, table of parameters.
    pub cell_m: f64,
    /// Side of a tile, in metres. Default 500; letter, table of parameters.
    pub tile_m: f64,
    /// Radius of the host's broadcast footprint, in metres: service scope, candidates and broadcast objects lie within.
    /// Default 300; reading 15.
    pub footprint_m: f64,
    /// Only participants of the host's own tile are candidates. Default false: all of its footprint; reading 15.
    pub candidates_in_tile_only: bool,
    /// Service cycle T_s, in seconds. Default 0.2; letter, table of parameters.
    pub cycle_s: f64,
    /// When in the cycle the host fuses, decides and broadcasts, in seconds. Default 0.15; reading 31.
    pub decision_phase_s: f64,
    /// Interval of beacons, in seconds; also of price updates. Default 0.1; letter, table of parameters (CAM at 10 Hz).
    pub beacon_s: f64,
    /// When beacons are sent. Default at the fixed rate of `beacon_s`; `triggered` is EN 302 637-2 with `beacon_s` as the
    /// shortest interval: reading 44.
    pub beacons: BeaconRule,
    /// Spacing of the slots over which beacons and reports are spread, in seconds. Default 0.05; letter (step), reading 31.
    pub slot_s: f64,
    /// Hard bound on the airtime of a cycle, T_max, in seconds. Default 0.2 (one cycle); reading 10.
    pub t_max_s: f64,
    /// Ageing of the coverage map, kappa, per second. Default 2 (time constant 0.5 s); letter, table of parameters.
    pub kappa_per_s: f64,
    /// Score that admits a candidate. Default 0.25; letter, table of parameters.
    pub eta_add: f64,
    /// Score at which a contributor is removed; at most `eta_add`. Default -0.25; letter, table of parameters.
    pub eta_rem: f64,
    /// Changes of the contributor set per cycle. Default 1; letter, table of parameters.
    pub n_max: u32,
    /// Per-host allowance b, as a share of capacity. Default 0.4; letter, swept over 0.2, 0.4, 0.8.
    pub allowance: f64,
    /// Regional congestion target Gamma, as a share of capacity. Default 0.3; letter, table of parameters.
    pub target: f64,
    /// Step mu of the price per beacon interval. Default 0.5; letter, section on congestion control.
    pub price_step: f64,
    /// Physical rate R_phy, in bytes per second. Default 650,000 (QPSK r = 0.5 in 10 MHz); reading 10.
    pub rate_bytes_per_s: f64,
    /// Capacity share C of a tile, in bytes per second. Default 242,000 (2,000 subchannel-subframes of 121 B), calibrated per
    /// scenario; reading 11.
    pub capacity_bytes_per_s: f64,
    /// Airtime that one unit of the price pays for, in seconds. Default 0.001; reading 10.
    pub airtime_unit_s: f64,
    /// Novelty counts in the score. Default true; false in an ablation of the letter.
    pub novelty: bool,
    /// Task risk counts in the score. Default true; false in two ablations of the letter.
    pub risk: bool,
    /// Timely delivery counts in the score. Default true; false in the ablations of the letter.
    pub timeliness: bool,
    /// Soft-state time, in seconds: how long an agent unheard of is remembered, a host believed in office, an object known.
    /// Default 1; letter (refresh of 1 s bounds staleness), readings 28 and 37.
    pub soft_state_s: f64,
    /// Full refresh of the broadcast, in seconds. Default 1; letter, section on the vehicular instantiation.
    pub refresh_s: f64,
    /// How long an admission holds without another word from the host, in seconds. Default 0.6 (three cycles).
    pub lease_s: f64,
    /// Displacement above which a broadcast lists an object anew, in metres. Default 0.1; reading 20.
    pub changed_m: f64,
    /// Change of velocity above which a broadcast lists an object anew, in m/s. Default 0.1; reading 20.
    pub changed_m_per_s: f64,
    /// Objects neither listed nor withdrawn count as refreshed. Default true; reading 20.
    pub silence_refreshes: bool,
    /// What broadcasts carry. Default all fresh objects; reading 20.
    pub broadcast_content: BroadcastContent,
    /// At which size broadcasts count against the allowance. Default at full refresh; reading 12.
    pub broadcast_counts: BroadcastSize,
    /// Reports carry only objects that send no beacon. Default false; reading 18.
    pub report_silent_only: bool,
    /// Every how many beacons a digest is sent; 0 for none. Default 1; letter (each beacon carries a digest), reading 32.
    pub digest_every: u32,
    /// Cycles over which the decoded share of a contributor's reports is taken. Default 10, at most 32; reading 38.
    pub report_window: u32,
    /// Beacons over which the decoded share of an agent's beacons is taken. Default 20, at most 32.
    pub beacon_window: u32,
    /// Reaction time tau_r, in seconds. Default 0.2; letter, table of parameters.
    pub reaction_s: f64,
    /// Braking a_br, in m/s2. Default 9; letter, table of parameters.
    pub braking_m_per_s2: f64,
    /// Bytes of a report or broadcast without content. Default 121; TR 103 562 table 3, reading 21.
    pub message_bytes: f64,
    /// Bytes of the sensor information of a report. Default 35; TR 103 562 table 3, reading 21.
    pub sensor_bytes: f64,
    /// Bytes of an object in a report or broadcast. Default 35; TR 103 562 table 3, reading 21.
    pub object_bytes: f64,
    /// Bytes of a withdrawn object in a broadcast. Default 4; reading 20.
    pub withdrawn_bytes: f64,
    /// Bytes of a contributor's entry in a broadcast. Default 4: a station id.
    pub contributor_bytes: f64,
    /// Bytes of a requested object in a broadcast. Default 3: a number that the host gave the object.
    pub requested_bytes: f64,
    /// When a host hands its office over inside its tile. Default none: it stays while it is in the tile, as in the letter.
    pub handover: Option<Handover>,
}

/// When a host hands over to one nearer the tile's centre.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Handover {
    /// It is further than this from the centre, in metres.
    pub beyond_m: f64,
    /// Another one is nearer the centre by at least this, in metres.
    pub nearer_m: f64,
}

impl Handover {
    /// A host more than 100 m off hands over to one at least 50 m nearer.
    pub const USUAL: Self = Self {
        beyond_m: 100.0,
        nearer_m: 50.0,
    };
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            cell_m: 20.0,
            tile_m: 500.0,
            footprint_m: 300.0,
            candidates_in_tile_only: false,
            cycle_s: 0.2,
            decision_phase_s: 0.15,
            beacon_s: 0.1,
            beacons: BeaconRule::Periodic,
            slot_s: 0.05,
            t_max_s: 0.2,
            kappa_per_s: 2.0,
            eta_add: 0.25,
            eta_rem: -0.25,
            n_max: 1,
            allowance: 0.4,
            target: 0.3,
            price_step: 0.5,
            rate_bytes_per_s: 650_000.0,
            capacity_bytes_per_s: 242_000.0,
            airtime_unit_s: 0.001,
            novelty: true,
            risk: true,
            timeliness: true,
            soft_state_s: 1.0,
            refresh_s: 1.0,
            lease_s: 0.6,
            changed_m: 0.1,
            changed_m_per_s: 0.1,
            silence_refreshes: true,
            broadcast_content: BroadcastContent::All,
            broadcast_counts: BroadcastSize::FullRefresh,
            report_silent_only: false,
            digest_every: 1,
            report_window: 10,
            beacon_window: 20,
            reaction_s: 0.2,
            braking_m_per_s2: 9.0,
            message_bytes: 121.0,
            sensor_bytes: 35.0,
            object_bytes: 35.0,
            withdrawn_bytes: 4.0,
            contributor_bytes: 4.0,
            requested_bytes: 3.0,
            handover: None,
        }
    }
}

/// A parameter out of range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterError {
    /// The field of [`Parameters`].
    pub field: &'static str,
    /// Its value.
    pub found: f64,
    /// What it may be.
    pub expected: &'static str,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: found {}, expected {}",
            self.field, self.found, self.expected
        )
    }
}

impl core::error::Error for ParameterError {}

impl Parameters {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let check = |field, found: f64, fine: bool, expected| {
            if fine && found.is_finite() {
                Ok(())
            } else {
                Err(ParameterError {
                    field,
                    found,
                    expected,
                })
            }
        };
        let positive = |field, x: f64| check(field, x, x > 0.0, "a number above 0");
        let not_negative = |field, x: f64| check(field, x, x >= 0.0, "a number of at least 0");
        // Times are counted in whole microseconds.
        let lasting = |field, x: f64| {
            check(
                field,
                x,
                (1e-6..=3_600.0).contains(&x),
                "0.000001 to 3600 seconds",
            )
        };

        check(
            "cell_m",
            self.cell_m,
            (0.5..=500.0).contains(&self.cell_m),
            "0.5 to 500 metres",
        )?;
        check(
            "tile_m",
            self.tile_m,
            (self.cell_m..=20_000.0).contains(&self.tile_m) && self.tile_m / self.cell_m <= 1_000.0,
            "at least cell_m, at most 1,000 times cell_m and at most 20,000 metres",
        )?;
        check(
            "footprint_m",
            self.footprint_m,
            self.footprint_m > 0.0 && self.footprint_m <= self.tile_m,
            "above 0 and at most tile_m, so that what the footprint sees fits into the host's window",
        )?;
        lasting("cycle_s", self.cycle_s)?;
        lasting("beacon_s", self.beacon_s)?;
        lasting("slot_s", self.slot_s)?;
        check(
            "decision_phase_s",
            self.decision_phase_s,
            (0.0..self.cycle_s).contains(&self.decision_phase_s),
            "at least 0 and below cycle_s",
        )?;
        not_negative("t_max_s", self.t_max_s)?;
        not_negative("kappa_per_s", self.kappa_per_s)?;
        check("eta_add", self.eta_add, true, "a number")?;
        check(
            "eta_rem",
            self.eta_rem,
            self.eta_rem <= self.eta_add,
            "at most eta_add",
        )?;
        check(
            "allowance",
            self.allowance,
            self.allowance > 0.0 && self.allowance <= 1.0,
            "above 0 and at most 1 (a share of capacity)",
        )?;
        check(
            "target",
            self.target,
            self.target > 0.0 && self.target <= 1.0,
            "above 0 and at most 1 (a share of capacity)",
        )?;
        not_negative("price_step", self.price_step)?;
        positive("rate_bytes_per_s", self.rate_bytes_per_s)?;
        positive("capacity_bytes_per_s", self.capacity_bytes_per_s)?;
        positive("airtime_unit_s", self.airtime_unit_s)?;
        lasting("soft_state_s", self.soft_state_s)?;
        lasting("refresh_s", self.refresh_s)?;
        lasting("lease_s", self.lease_s)?;
        not_negative("changed_m", self.changed_m)?;
        not_negative("changed_m_per_s", self.changed_m_per_s)?;
        for (field, window) in [
            ("report_window", self.report_window),
            ("beacon_window", self.beacon_window),
        ] {
            check(
                field,
                f64::from(window),
                (1..=32).contains(&window),
                "1 to 32",
            )?;
        }
        lasting("reaction_s", self.reaction_s)?;
        positive("braking_m_per_s2", self.braking_m_per_s2)?;
        not_negative("message_bytes", self.message_bytes)?;
        not_negative("sensor_bytes", self.sensor_bytes)?;
        not_negative("object_bytes", self.object_bytes)?;
        not_negative("withdrawn_bytes", self.withdrawn_bytes)?;
        not_negative("contributor_bytes", self.contributor_bytes)?;
        not_negative("requested_bytes", self.requested_bytes)?;
        if let Some(handover) = self.handover {
            not_negative("handover.beyond_m", handover.beyond_m)?;
            positive("handover.nearer_m", handover.nearer_m)?;
        }
        Ok(())
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

    /// Bytes of a report of `objects` objects.
    #[must_use]
    pub fn report_bytes(&self, objects: f64) -> f64 {
        self.message_bytes + self.sensor_bytes + self.object_bytes * objects
    }

    /// Bytes of a broadcast.
    #[must_use]
    pub fn broadcast_bytes(&self, broadcast: &Broadcast) -> f64 {
        self.message_bytes
            + self.object_bytes * broadcast.objects.len() as f64
            + self.withdrawn_bytes * broadcast.withdrawn.len() as f64
            + self.contributor_bytes * broadcast.contributors.len() as f64
            + self.requested_bytes * broadcast.requested.len() as f64
    }

    /// What contributors are asked to report.
    #[must_use]
    pub fn content(&self) -> Content {
        if self.report_silent_only {
            Content::SilentOnly
        } else {
            Content::AllVisible
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
        phase(agent, self.slot_s, self.decision_phase_s)
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
}
