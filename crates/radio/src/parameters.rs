//! Every constant of the channel, in one place.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// The three link states of TR 37.885 clause 6.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// Line of sight.
    Los,
    /// Same street, line of sight blocked by a vehicle.
    NlosV,
    /// A building between the antennas.
    Nlos,
}

/// How often blocks are lost for noise alone, by signal-to-noise ratio.
///
/// [`FromStr`] and [`name`](Self::name) use the names given below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BlockErrorCurve {
    /// `qpsk-r05-190b`: R1-160284, QPSK r = 0.5, 190 B, 280 km/h. The default.
    #[cfg_attr(feature = "serde", serde(rename = "qpsk-r05-190b"))]
    QpskR05,
    /// `qpsk-r07-190b`: R1-160284, QPSK r = 0.7, 190 B, 280 km/h.
    #[cfg_attr(feature = "serde", serde(rename = "qpsk-r07-190b"))]
    QpskR07,
    /// `urban-los-mcs7-350b`: WiLabV2Xsim, MCS 7, 350 B, urban line of sight.
    #[cfg_attr(feature = "serde", serde(rename = "urban-los-mcs7-350b"))]
    UrbanLosMcs7,
    /// `crossing-nlos-mcs7-350b`: WiLabV2Xsim, MCS 7, 350 B, crossing without line of sight.
    #[cfg_attr(feature = "serde", serde(rename = "crossing-nlos-mcs7-350b"))]
    CrossingNlosMcs7,
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

/// The collision tables, after González-Martín et al. 2019, by subchannels and transmit power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CollisionTable {
    /// `s2-23dbm`: 2 subchannels, 23 dBm. The default.
    #[cfg_attr(feature = "serde", serde(rename = "s2-23dbm"))]
    S2Pt23,
    /// `s2-20dbm`: 2 subchannels, 20 dBm.
    #[cfg_attr(feature = "serde", serde(rename = "s2-20dbm"))]
    S2Pt20,
    /// `s4-23dbm`: 4 subchannels, 23 dBm.
    #[cfg_attr(feature = "serde", serde(rename = "s4-23dbm"))]
    S4Pt23,
    /// `s4-20dbm`: 4 subchannels, 20 dBm.
    #[cfg_attr(feature = "serde", serde(rename = "s4-20dbm"))]
    S4Pt20,
}

/// Which channel busy ratio an offered load stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BusyRatio {
    /// `offered`: min(1, load). The default.
    #[cfg_attr(feature = "serde", serde(rename = "offered"))]
    Offered,
    /// `overlapping`: l - l²/(8 - 4l) up to l = 1, then 0.5 + l/4 up to 1, from eq. (29) and (34) of
    /// González-Martín et al. 2019: transmissions that share a resource occupy it once.
    #[cfg_attr(feature = "serde", serde(rename = "overlapping"))]
    Overlapping,
}

/// A name that is none of those known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {found:?}: expected one of {expected}")]
pub struct UnknownName {
    what: &'static str,
    found: String,
    expected: String,
}

macro_rules! named {
    ($type:ty, $what:literal, $($variant:ident = $name:literal),+) => {
        impl $type {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name used in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(found: &str) -> Result<Self, UnknownName> {
                Self::ALL.iter().copied().find(|one| one.name() == found).ok_or_else(|| UnknownName {
                    what: $what,
                    found: found.chars().take(40).collect(),
                    expected: [$($name),+].join(", "),
                })
            }
        }
    };
}

named!(
    LinkKind,
    "link state",
    Los = "los",
    NlosV = "nlosv",
    Nlos = "nlos"
);
named!(
    BlockErrorCurve,
    "block-error curve",
    QpskR05 = "qpsk-r05-190b",
    QpskR07 = "qpsk-r07-190b",
    UrbanLosMcs7 = "urban-los-mcs7-350b",
    CrossingNlosMcs7 = "crossing-nlos-mcs7-350b"
);
named!(
    CollisionTable,
    "collision table",
    S2Pt23 = "s2-23dbm",
    S2Pt20 = "s2-20dbm",
    S4Pt23 = "s4-23dbm",
    S4Pt20 = "s4-20dbm"
);
named!(
    BusyRatio,
    "busy ratio",
    Offered = "offered",
    Overlapping = "overlapping"
);

/// A parameter outside its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("channel parameter `{field}` is {found}: expected a number from {} to {}", expected.start(), expected.end())]
pub struct ParameterError {
    /// The field's name.
    pub field: &'static str,
    /// Its value.
    pub found: f64,
    /// What it may be.
    pub expected: RangeInclusive<f64>,
}

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
    /// Carrier frequency, GHz. Default 5.9 (ITS band; the letter's Table I).
    pub carrier_ghz: f64,
    /// Transmit power, dBm. Default 23 (TR 36.885 A.1.1; TR 37.885 clause 6.1).
    pub tx_power_dbm: f64,
    /// Gain of each of the two antennas, dBi. Default 3 (TR 36.885 A.1.1, vehicle).
    pub antenna_gain_dbi: f64,
    /// Receiver's noise figure, dB. Default 9 (TR 36.885 A.1.1).
    pub noise_figure_db: f64,
    /// Thermal noise density, dBm/Hz. Default -174 (290 K).
    pub noise_density_dbm_per_hz: f64,
    /// Resource blocks of 180 kHz that the noise is taken over. Default 20: one of two 25-block
    /// subchannels holds 20 for data (TS 36.213 transport blocks, MCS 6: 261 B).
    pub resource_blocks: f64,
    /// Received power below which nothing is decoded, dBm. Default none; -90.4 is TS 36.101's
    /// reference sensitivity as used by Molina-Masegosa and Gozálvez 2017.
    pub sensitivity_dbm: Option<f64>,
    /// Shortest distance that path loss is computed for, m. Default 3 (TR 36.885 A.1.4).
    pub min_distance_m: f64,
    /// Greatest distance in line of sight, m. Default 500 (Boban, thesis 2012, Table 4.5).
    pub range_los_m: f64,
    /// Greatest distance behind a vehicle, m. Default 400 (same).
    pub range_nlosv_m: f64,
    /// Greatest distance behind a building, m. Default 300 (same).
    pub range_nlos_m: f64,
    /// Standard deviation of shadowing in line of sight, dB; 0 switches it off. Default 3
    /// (TR 37.885 Table 6.2.1-1).
    pub shadowing_los_db: f64,
    /// Standard deviation of shadowing behind a vehicle, dB. Default 3 (same).
    pub shadowing_nlosv_db: f64,
    /// Standard deviation of shadowing behind a building, dB. Default 4 (same).
    pub shadowing_nlos_db: f64,
    /// Decorrelation distance of shadowing in line of sight, m. Default 10 (TR 36.885 A.1.4, urban).
    pub decorrelation_los_m: f64,
    /// Decorrelation distance in the other states, m. Default 13 (TR 37.885 clause 6.2.3, as ns-3
    /// has it).
    pub decorrelation_nlos_m: f64,
    /// Mean blockage where the blocker is taller than one antenna only, or level with one, dB.
    /// Default 5 (TR 37.885 clause 6.2.1, case 3).
    pub blockage_partial_mean_db: f64,
    /// Its standard deviation, dB. Default 4 (same).
    pub blockage_partial_std_db: f64,
    /// Mean blockage where the blocker is taller than both antennas, dB. Default 9 (same, case 2).
    pub blockage_full_mean_db: f64,
    /// Its standard deviation, dB. Default 4.5 (same).
    pub blockage_full_std_db: f64,
    /// Block-error curve of LOS and NLOSv links. Default `qpsk-r05-190b` (R1-160284).
    pub block_error: BlockErrorCurve,
    /// Block-error curve of NLOS links. Default `qpsk-r05-190b`.
    pub block_error_nlos: BlockErrorCurve,
    /// Collision loss. Default table `s2-23dbm` (González-Martín et al. 2019).
    pub collision: CollisionLaw,
    /// Busy ratio of an offered load. Default `offered`.
    pub busy_ratio: BusyRatio,
    /// Subframes per second, for half duplex: who sends in n of them hears nothing in n of them.
    /// Default 1000 (LTE; González-Martín et al. 2019 eq. 7). Infinite is not allowed: a very large
    /// number switches half duplex off.
    pub subframes_per_s: f64,
    /// Bytes that a tile carries per second. Default 242,000: 2 subchannels x 1000 subframes x
    /// 121 B; a scenario's calibrated value replaces it.
    pub capacity_bytes_per_s: f64,
    /// Whether a tile's carried bytes are held under its capacity in every window, beyond what
    /// thinning does on average. Default yes (the letter's Table I, "hard cap").
    pub hard_cap: bool,
}

impl Default for ChannelParameters {
    fn default() -> Self {
        Self {
            carrier_ghz: 5.9,
            tx_power_dbm: 23.0,
            antenna_gain_dbi: 3.0,
            noise_figure_db: 9.0,
            noise_density_dbm_per_hz: -174.0,
            resource_blocks: 20.0,
            sensitivity_dbm: None,
            min_distance_m: 3.0,
            range_los_m: 500.0,
            range_nlosv_m: 400.0,
            range_nlos_m: 300.0,
            shadowing_los_db: 3.0,
            shadowing_nlosv_db: 3.0,
            shadowing_nlos_db: 4.0,
            decorrelation_los_m: 10.0,
            decorrelation_nlos_m: 13.0,
            blockage_partial_mean_db: 5.0,
            blockage_partial_std_db: 4.0,
            blockage_full_mean_db: 9.0,
            blockage_full_std_db: 4.5,
            block_error: BlockErrorCurve::QpskR05,
            block_error_nlos: BlockErrorCurve::QpskR05,
            collision: CollisionLaw::Table(CollisionTable::S2Pt23),
            busy_ratio: BusyRatio::Offered,
            subframes_per_s: 1000.0,
            capacity_bytes_per_s: 242_000.0,
            hard_cap: true,
        }
    }
}

impl ChannelParameters {
    /// Checks that every number is in its range.
    ///
    /// # Errors
    /// Names the first field that is not, NaN included.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let (coefficient, exponent) = match self.collision {
            CollisionLaw::PowerLaw {
                coefficient,
                exponent,
            } => (coefficient, exponent),
            CollisionLaw::Table(_) => (0.0, 0.0),
        };
        let sensitivity = self.sensitivity_dbm.unwrap_or(-200.0);
        let ranges = [
            ("carrier_ghz", self.carrier_ghz, 0.5..=100.0),
            ("tx_power_dbm", self.tx_power_dbm, -50.0..=60.0),
            ("antenna_gain_dbi", self.antenna_gain_dbi, -30.0..=30.0),
            ("noise_figure_db", self.noise_figure_db, 0.0..=30.0),
            (
                "noise_density_dbm_per_hz",
                self.noise_density_dbm_per_hz,
                -200.0..=-100.0,
            ),
            ("resource_blocks", self.resource_blocks, 1.0..=275.0),
            ("sensitivity_dbm", sensitivity, -200.0..=0.0),
            ("min_distance_m", self.min_distance_m, 0.1..=100.0),
            ("range_los_m", self.range_los_m, 0.0..=100_000.0),
            ("range_nlosv_m", self.range_nlosv_m, 0.0..=100_000.0),
            ("range_nlos_m", self.range_nlos_m, 0.0..=100_000.0),
            ("shadowing_los_db", self.shadowing_los_db, 0.0..=20.0),
            ("shadowing_nlosv_db", self.shadowing_nlosv_db, 0.0..=20.0),
            ("shadowing_nlos_db", self.shadowing_nlos_db, 0.0..=20.0),
            (
                "decorrelation_los_m",
                self.decorrelation_los_m,
                0.001..=10_000.0,
            ),
            (
                "decorrelation_nlos_m",
                self.decorrelation_nlos_m,
                0.001..=10_000.0,
            ),
            (
                "blockage_partial_mean_db",
                self.blockage_partial_mean_db,
                0.0..=60.0,
            ),
            (
                "blockage_partial_std_db",
                self.blockage_partial_std_db,
                0.0..=20.0,
            ),
            (
                "blockage_full_mean_db",
                self.blockage_full_mean_db,
                0.0..=60.0,
            ),
            (
                "blockage_full_std_db",
                self.blockage_full_std_db,
                0.0..=20.0,
            ),
            ("collision.coefficient", coefficient, 0.0..=1.0),
            ("collision.exponent", exponent, 0.0..=20.0),
            ("subframes_per_s", self.subframes_per_s, 1.0..=1e12),
            (
                "capacity_bytes_per_s",
                self.capacity_bytes_per_s,
                1.0..=1e12,
            ),
        ];
        match ranges
            .into_iter()
            .find(|(_, found, expected)| !expected.contains(found))
        {
            Some((field, found, expected)) => Err(ParameterError {
                field,
                found,
                expected,
            }),
            None => Ok(()),
        }
    }

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
            "channel parameter `resource_blocks` is NaN: expected a number from 1 to 275"
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
