//! Every constant of the channel, in one place.

use std::str::FromStr;

use covey_parameters::ranges::at_least;
use covey_parameters::{Choice, Field, Key, Kind, Parameter, Value, Visit, choices, parameters};

pub use covey_parameters::OutOfRange as ParameterError;

use crate::scheduling::{ChannelModel, SidelinkParameters};

choices! {
    /// The three link states of TR 37.885 clause 6.2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum LinkKind {
        /// Line of sight.
        Los = "los",
        /// Same street, line of sight blocked by a vehicle.
        NlosV = "nlosv",
        /// A building between the antennas.
        Nlos = "nlos",
    }
}

choices! {
    /// How often blocks are lost for noise alone, by signal-to-noise ratio.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BlockErrorCurve {
        /// R1-160284, QPSK r = 0.5, 190 B, 280 km/h.
        QpskR05 = "qpsk-r05-190b",
        /// R1-160284, QPSK r = 0.7, 190 B, 280 km/h.
        QpskR07 = "qpsk-r07-190b",
        /// WiLabV2Xsim, MCS 7, 350 B, urban line of sight.
        UrbanLosMcs7 = "urban-los-mcs7-350b",
        /// WiLabV2Xsim, MCS 7, 350 B, crossing without line of sight.
        CrossingNlosMcs7 = "crossing-nlos-mcs7-350b",
    }
}

/// Collisions: how often a message is lost because another one used the same resource.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(untagged)
)]
pub enum CollisionLaw {
    /// A published table by busy ratio and distance.
    Table(CollisionTable),
    /// `coefficient` x busy ratio ^ `exponent`, at every distance, at most 1.
    PowerLaw {
        /// Loss on a full channel (0 to 1).
        coefficient: f64,
        /// Steepness (0 to 20).
        exponent: f64,
    },
}

/// The numbers of [`CollisionLaw::PowerLaw`].
const POWER_LAW: &[Field] = &[
    Field::new("coefficient", Kind::Number, "Loss on a full channel.")
        .required()
        .range(at_least(0.0).at_most(1.0))
        .source("reading 22"),
    Field::new(
        "exponent",
        Kind::Number,
        "How steeply loss grows with the busy ratio.",
    )
    .required()
    .range(at_least(0.0).at_most(20.0))
    .source("reading 22"),
];

impl Parameter for CollisionLaw {
    const KIND: Kind = Kind::Either(CollisionTable::CHOICES, POWER_LAW);

    fn value(&self) -> Value {
        match self {
            Self::Table(table) => table.value(),
            Self::PowerLaw { .. } => Value::Group,
        }
    }

    fn visit(&self, key: &Key<'_>, field: &'static Field, visit: &mut Visit<'_>) {
        match self {
            Self::Table(table) => table.visit(key, field, visit),
            Self::PowerLaw {
                coefficient,
                exponent,
            } => {
                for (number, part) in [coefficient, exponent].into_iter().zip(POWER_LAW) {
                    number.visit(&key.join(part.name), part, visit);
                }
            }
        }
    }

    fn check(&self, key: &Key<'_>, _: &'static Field) -> Result<(), ParameterError> {
        match self {
            Self::Table(_) => Ok(()),
            Self::PowerLaw {
                coefficient,
                exponent,
            } => [coefficient, exponent]
                .into_iter()
                .zip(POWER_LAW)
                .try_for_each(|(number, part)| number.check(&key.join(part.name), part)),
        }
    }
}

choices! {
    /// The collision tables, after González-Martín et al. 2019, by subchannels and transmit power.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CollisionTable {
        /// 2 subchannels, 23 dBm.
        S2Pt23 = "s2-23dbm",
        /// 2 subchannels, 20 dBm.
        S2Pt20 = "s2-20dbm",
        /// 4 subchannels, 23 dBm.
        S4Pt23 = "s4-23dbm",
        /// 4 subchannels, 20 dBm.
        S4Pt20 = "s4-20dbm",
    }
}

choices! {
    /// Which channel busy ratio an offered load stands for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BusyRatio {
        /// min(1, load).
        Offered = "offered",
        /// l - l²/(8 - 4l) up to l = 1, then 0.5 + l/4 up to 1, from eq. (29) and (34) of González-Martín et al. 2019:
        /// transmissions that share a resource occupy it once.
        Overlapping = "overlapping",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(BlockErrorCurve, CollisionTable, BusyRatio);

/// A name that is none of those known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {found:?}: expected one of {expected}")]
pub struct UnknownName {
    what: &'static str,
    found: String,
    expected: String,
}

/// The value of this name among those of `choices`.
fn find<T: Copy>(
    what: &'static str,
    found: &str,
    choices: &[Choice],
    named: fn(&str) -> Option<T>,
) -> Result<T, UnknownName> {
    named(found).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
        UnknownName {
            what,
            found: found.chars().take(40).collect(),
            expected: names.join(", "),
        }
    })
}

macro_rules! by_name {
    ($($type:ty = $what:literal),+ $(,)?) => {
        $(impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(found: &str) -> Result<Self, UnknownName> {
                find($what, found, Self::CHOICES, Self::named)
            }
        })+
    };
}

by_name!(
    LinkKind = "link state",
    BlockErrorCurve = "block-error curve",
    CollisionTable = "collision table",
    BusyRatio = "busy ratio",
);

parameters! {
    /// The channel's constants. The defaults are the letter's channel as docs/channel.md reads it.
    ///
    /// TR 36.885 and TR 37.885 are 3GPP reports (V14.0.0 and V15.3.0).
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(
        feature = "serde",
        derive(serde::Serialize, serde::Deserialize),
        serde(default, deny_unknown_fields)
    )]
    pub struct ChannelParameters {
        /// Carrier frequency, in the ITS band.
        carrier_ghz: f64 = 5.9, unit "GHz", range at_least(0.5).at_most(100.0), source "letter, table I; TR 37.885";
        /// Transmit power.
        tx_power_dbm: f64 = 23.0, unit "dBm", range at_least(-50.0).at_most(60.0),
            source "letter, table I; TR 36.885 A.1.1, TR 37.885 clause 6.1";
        /// Gain of each of the two antennas.
        antenna_gain_dbi: f64 = 3.0, unit "dBi", range at_least(-30.0).at_most(30.0), source "TR 36.885 A.1.1, vehicle";
        /// Receiver's noise figure.
        noise_figure_db: f64 = 9.0, unit "dB", range at_least(0.0).at_most(30.0), source "TR 36.885 A.1.1";
        /// Thermal noise density at 290 K.
        noise_density_dbm_per_hz: f64 = -174.0, unit "dBm/Hz", range at_least(-200.0).at_most(-100.0), source "docs/channel.md";
        /// What the noise is taken over: one of two 25-block subchannels holds 20 blocks for data (MCS 6: 261 B).
        resource_blocks: f64 = 20.0, unit "blocks of 180 kHz", range at_least(1.0).at_most(275.0),
            source "letter, table I; TS 36.213 transport blocks";
        /// Received power below which nothing is decoded. -90.4 is TS 36.101's reference sensitivity as used by Molina-
        /// Masegosa and Gozálvez 2017.
        sensitivity_dbm: Option<f64> = None, unit "dBm", range at_least(-200.0).at_most(0.0), source "docs/channel.md";
        /// Shortest distance that path loss is computed for.
        min_distance_m: f64 = 3.0, unit "m", range at_least(0.1).at_most(100.0), source "TR 36.885 A.1.4";
        /// Greatest distance in line of sight.
        range_los_m: f64 = 500.0, unit "m", range at_least(0.0).at_most(100_000.0),
            source "reading 26; Boban, thesis 2012, table 4.5";
        /// Greatest distance behind a vehicle.
        range_nlosv_m: f64 = 400.0, unit "m", range at_least(0.0).at_most(100_000.0),
            source "reading 26; Boban, thesis 2012, table 4.5";
        /// Greatest distance behind a building.
        range_nlos_m: f64 = 300.0, unit "m", range at_least(0.0).at_most(100_000.0),
            source "reading 26; Boban, thesis 2012, table 4.5";
        /// Standard deviation of shadowing in line of sight; 0 switches it off.
        shadowing_los_db: f64 = 3.0, unit "dB", range at_least(0.0).at_most(20.0), source "TR 37.885 table 6.2.1-1";
        /// Standard deviation of shadowing behind a vehicle.
        shadowing_nlosv_db: f64 = 3.0, unit "dB", range at_least(0.0).at_most(20.0), source "TR 37.885 table 6.2.1-1";
        /// Standard deviation of shadowing behind a building.
        shadowing_nlos_db: f64 = 4.0, unit "dB", range at_least(0.0).at_most(20.0), source "TR 37.885 table 6.2.1-1";
        /// Decorrelation distance of shadowing in line of sight.
        decorrelation_los_m: f64 = 10.0, unit "m", range at_least(0.001).at_most(10_000.0), source "TR 36.885 A.1.4, urban";
        /// Decorrelation distance in the other states.
        decorrelation_nlos_m: f64 = 13.0, unit "m", range at_least(0.001).at_most(10_000.0),
            source "TR 37.885 clause 6.2.3, as ns-3 has it";
        /// Mean blockage where the blocker is taller than one antenna only, or level with one.
        blockage_partial_mean_db: f64 = 5.0, unit "dB", range at_least(0.0).at_most(60.0),
            source "TR 37.885 clause 6.2.1, case 3";
        /// Standard deviation of that blockage.
        blockage_partial_std_db: f64 = 4.0, unit "dB", range at_least(0.0).at_most(20.0),
            source "TR 37.885 clause 6.2.1, case 3";
        /// Mean blockage where the blocker is taller than both antennas.
        blockage_full_mean_db: f64 = 9.0, unit "dB", range at_least(0.0).at_most(60.0), source "TR 37.885 clause 6.2.1, case 2";
        /// Standard deviation of that blockage.
        blockage_full_std_db: f64 = 4.5, unit "dB", range at_least(0.0).at_most(20.0), source "TR 37.885 clause 6.2.1, case 2";
        /// Block-error curve of LOS and NLOSv links.
        block_error: BlockErrorCurve = BlockErrorCurve::QpskR05, source "letter, table I (published curve); R1-160284";
        /// Block-error curve of NLOS links.
        block_error_nlos: BlockErrorCurve = BlockErrorCurve::QpskR05, source "letter, table I (published curve); R1-160284";
        /// Collision loss: a published table, or a power law of the busy ratio.
        collision: CollisionLaw = CollisionLaw::Table(CollisionTable::S2Pt23), source "reading 22; González-Martín et al. 2019";
        /// Busy ratio of an offered load.
        busy_ratio: BusyRatio = BusyRatio::Offered, source "docs/channel.md";
        /// Subframes, for half duplex: who sends in n of them hears nothing in n of them. A very large number switches
        /// half duplex off.
        subframes_per_s: f64 = 1000.0, unit "per s", range at_least(1.0).at_most(1e12),
            source "LTE; González-Martín et al. 2019 eq. 7";
        /// What a tile carries: 2 subchannels x 1000 subframes x 121 B. In a scenario it is the protocol's
        /// `capacity_bytes_per_s`.
        capacity_bytes_per_s: f64 = 242_000.0, unit "B/s", range at_least(1.0).at_most(1e12), source "reading 11";
        /// How the channel is modelled: by load, or event by event.
        model: ChannelModel = ChannelModel::Load, source "letter (load level); docs/channel.md";
        /// The scheduled sidelink of the model `sps`.
        sidelink: SidelinkParameters = SidelinkParameters::default(), source "docs/channel.md";
        /// Whether a tile's carried bytes are held under its capacity in every window, beyond what thinning does on
        /// average.
        hard_cap: bool = true, source "letter, table I";
    }
}

impl ChannelParameters {
    /// Standard deviation of shadowing, dB.
    #[inline]
    pub fn shadowing_db(&self, kind: LinkKind) -> f64 {
        match kind {
            LinkKind::Los => self.shadowing_los_db,
            LinkKind::NlosV => self.shadowing_nlosv_db,
            LinkKind::Nlos => self.shadowing_nlos_db,
        }
    }

    /// Decorrelation distance of shadowing, m.
    #[inline]
    pub fn decorrelation_m(&self, kind: LinkKind) -> f64 {
        match kind {
            LinkKind::Los => self.decorrelation_los_m,
            LinkKind::NlosV | LinkKind::Nlos => self.decorrelation_nlos_m,
        }
    }

    /// Greatest distance, m.
    #[inline]
    pub fn range_m(&self, kind: LinkKind) -> f64 {
        match kind {
            LinkKind::Los => self.range_los_m,
            LinkKind::NlosV => self.range_nlosv_m,
            LinkKind::Nlos => self.range_nlos_m,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        assert_eq!(ChannelParameters::default().validate(), Ok(()));
    }

    #[test]
    fn a_bad_value_is_refused_by_name_and_range() {
        let bad = ChannelParameters {
            resource_blocks: f64::NAN,
            ..Default::default()
        };
        assert_eq!(
            bad.validate().unwrap_err().to_string(),
            "resource_blocks: found NaN, expected 1 to 275 blocks of 180 kHz"
        );
        let bad = ChannelParameters {
            collision: CollisionLaw::PowerLaw {
                coefficient: 1.5,
                exponent: 3.0,
            },
            ..Default::default()
        };
        assert_eq!(bad.validate().unwrap_err().field, "collision.coefficient");
        let bad = ChannelParameters {
            sensitivity_dbm: Some(f64::INFINITY),
            ..Default::default()
        };
        assert_eq!(bad.validate().unwrap_err().field, "sensitivity_dbm");
    }

    #[test]
    fn names_are_read_back() {
        for curve in BlockErrorCurve::ALL {
            assert_eq!(curve.name().parse(), Ok(*curve));
        }
        for table in CollisionTable::ALL {
            assert_eq!(table.name().parse(), Ok(*table));
        }
        for kind in LinkKind::ALL {
            assert_eq!(kind.name().parse(), Ok(*kind));
        }
        assert_eq!(
            "LOS".parse::<LinkKind>().unwrap_err().to_string(),
            "unknown link state \"LOS\": expected one of los, nlosv, nlos"
        );
    }
}
