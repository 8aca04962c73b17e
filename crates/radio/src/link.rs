//! From distance and state to path loss, signal-to-noise ratio, block errors and collision loss.

use crate::parameters::{
    BlockErrorCurve, BusyRatio, ChannelParameters, CollisionLaw, CollisionTable, LinkKind,
    ParameterError,
};
use crate::reception::{CollisionRow, PairLink};
use crate::tables::{self, BUSY_RATIO_STEP, CollisionCells, DISTANCES_M};

/// What stands between two antennas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkState {
    /// Nothing.
    Los,
    /// Vehicles; the tallest counts.
    NlosV {
        /// Height of the tallest blocking vehicle above ground, m.
        blocker_height_m: f64,
    },
    /// A building.
    Nlos,
}

impl LinkState {
    /// The state without the blocker's height.
    #[inline]
    pub fn kind(self) -> LinkKind {
        match self {
            Self::Los => LinkKind::Los,
            Self::NlosV { .. } => LinkKind::NlosV,
            Self::Nlos => LinkKind::Nlos,
        }
    }
}

/// The three cases of vehicle blockage in TR 37.885 clause 6.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blockage {
    /// Case 1: both antennas are strictly higher than the blocker. No loss.
    Clear,
    /// Case 3: all else. A blocker level with an antenna belongs here, so that cars of one height
    /// with antennas on their roofs make partial blockage of each other.
    Partial,
    /// Case 2: both antennas are strictly lower than the blocker.
    Full,
}

impl Blockage {
    /// The case of two antennas and a blocker by their heights in one unit.
    #[inline]
    pub fn of(antennas: [f64; 2], blocker: f64) -> Self {
        let [a, b] = antennas;
        if a > blocker && b > blocker {
            Self::Clear
        } else if a < blocker && b < blocker {
            Self::Full
        } else {
            Self::Partial
        }
    }
}

/// The mean channel at one point: no shadowing, no draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanLink {
    /// Path loss, dB; for NLOSv with the mean blockage of case 3.
    pub path_loss_db: f64,
    /// Signal-to-noise ratio, dB.
    pub snr_db: f64,
    /// Block error rate at that ratio.
    pub bler: f64,
    /// Collision loss at that load and distance.
    pub collision_loss: f64,
    /// (1 - `bler`) (1 - `collision_loss`): half duplex, thinning and the range limit left out.
    pub delivery: f64,
    /// Whether a simulation delivers over this distance at all.
    pub in_range: bool,
}

/// A channel with checked parameters, ready for use.
#[derive(Clone, Debug)]
pub struct Channel {
    parameters: ChannelParameters,
    /// SNR at 0 dB path loss.
    snr_at_no_loss_db: f64,
    /// Received power at 0 dB path loss.
    power_at_no_loss_dbm: f64,
    /// Path loss at 1 m: LOS and NLOSv, NLOS.
    loss_at_1m_db: [f64; 2],
    collision_cells: Option<&'static CollisionCells>,
}

impl Default for Channel {
    fn default() -> Self {
        Self::compile(ChannelParameters::default())
    }
}

impl Channel {
    /// Checks the parameters and prepares what follows from them.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(parameters: ChannelParameters) -> Result<Self, ParameterError> {
        parameters.validate()?;
        Ok(Self::compile(parameters))
    }

    fn compile(parameters: ChannelParameters) -> Self {
        let p = &parameters;
        let noise_dbm = p.noise_density_dbm_per_hz
            + 10.0 * libm::log10(180e3 * p.resource_blocks)
            + p.noise_figure_db;
        let power_at_no_loss_dbm = p.tx_power_dbm + 2.0 * p.antenna_gain_dbi;
        // TR 37.885 Table 6.2.1-1, urban.
        let log_carrier = libm::log10(p.carrier_ghz);
        let loss_at_1m_db = [38.77 + 18.2 * log_carrier, 36.85 + 18.9 * log_carrier];
        let collision_cells = match p.collision {
            CollisionLaw::PowerLaw { .. } => None,
            CollisionLaw::Table(table) => Some(match table {
                CollisionTable::S2Pt23 => &tables::S2_23DBM,
                CollisionTable::S2Pt20 => &tables::S2_20DBM,
                CollisionTable::S4Pt23 => &tables::S4_23DBM,
                CollisionTable::S4Pt20 => &tables::S4_20DBM,
            }),
        };
        Self {
            snr_at_no_loss_db: power_at_no_loss_dbm - noise_dbm,
            power_at_no_loss_dbm,
            loss_at_1m_db,
            collision_cells,
            parameters,
        }
    }

    /// What this channel was made from.
    pub fn parameters(&self) -> &ChannelParameters {
        &self.parameters
    }

    /// Path loss without shadowing and blockage, dB (TR 37.885 Table 6.2.1-1, urban).
    #[inline]
    pub fn path_loss_db(&self, distance_m: f64, kind: LinkKind) -> f64 {
        let distance_m = distance_m.clamp(self.parameters.min_distance_m, f64::INFINITY);
        let log_distance = libm::log(distance_m) * std::f64::consts::LOG10_E;
        match kind {
            LinkKind::Los | LinkKind::NlosV => self.loss_at_1m_db[0] + 16.7 * log_distance,
            LinkKind::Nlos => self.loss_at_1m_db[1] + 30.0 * log_distance,
        }
    }

    /// Mean and standard deviation of vehicle blockage before it is cut at 0 dB, in dB
    /// (TR 37.885 clause 6.2.1).
    ///
    /// The report calls the loss log-normal; it is normal in dB, or the cut would be void.
    #[inline]
    pub fn blockage_db(&self, distance_m: f64, case: Blockage) -> (f64, f64) {
        let p = &self.parameters;
        let (mean, std) = match case {
            Blockage::Clear => return (0.0, 0.0),
            Blockage::Partial => (p.blockage_partial_mean_db, p.blockage_partial_std_db),
            Blockage::Full => (p.blockage_full_mean_db, p.blockage_full_std_db),
        };
        // The distance term is positive from 541 m on, beyond the default ranges.
        let far = if distance_m > 500.0 {
            15.0 * libm::log10(distance_m) - 41.0
        } else {
            0.0
        };
        (mean + far.max(0.0), std)
    }

    /// Mean of vehicle blockage after it is cut at 0 dB, in dB: what a simulation draws on average. For X normal with mean m
    /// and deviation s it is m Phi(m/s) + s phi(m/s).
    pub fn mean_blockage_db(&self, distance_m: f64, case: Blockage) -> f64 {
        let (mean, std) = self.blockage_db(distance_m, case);
        if std <= 0.0 {
            return mean.max(0.0);
        }
        let z = mean / std;
        let below = 0.5 * (1.0 + libm::erf(z * std::f64::consts::FRAC_1_SQRT_2));
        let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * std::f64::consts::PI);
        mean * below + std * density
    }

    /// Block error rate at a signal-to-noise ratio: 1 below the curve, its last value above.
    #[inline]
    pub fn block_error(&self, snr_db: f64, kind: LinkKind) -> f64 {
        let curve = match kind {
            LinkKind::Los | LinkKind::NlosV => self.parameters.block_error,
            LinkKind::Nlos => self.parameters.block_error_nlos,
        };
        let points = match curve {
            BlockErrorCurve::QpskR05 => tables::QPSK_R05_190B,
            BlockErrorCurve::QpskR07 => tables::QPSK_R07_190B,
            BlockErrorCurve::UrbanLosMcs7 => tables::URBAN_LOS_MCS7_350B,
            BlockErrorCurve::CrossingNlosMcs7 => tables::CROSSING_NLOS_MCS7_350B,
        };
        tables::interpolate(points, snr_db)
    }

    /// The link over `distance_m` with this loss in all: block errors, and nothing beyond range or
    /// under the sensitivity.
    #[inline]
    pub(crate) fn link(&self, distance_m: f64, kind: LinkKind, loss_db: f64) -> PairLink {
        let deaf = self
            .parameters
            .sensitivity_dbm
            .is_some_and(|least_dbm| self.power_at_no_loss_dbm - loss_db < least_dbm);
        if deaf || !self.in_range(distance_m, kind) {
            return PairLink::new(distance_m, 0.0);
        }
        PairLink::new(
            distance_m,
            1.0 - self.block_error(self.snr_at_no_loss_db - loss_db, kind),
        )
    }

    /// What is received over a loss in all, in mW.
    #[inline]
    pub fn received_mw(&self, loss_db: f64) -> f64 {
        libm::exp((self.power_at_no_loss_dbm - loss_db) * (std::f64::consts::LN_10 / 10.0))
    }

    /// What is received on average, in mW: over shadowing, and for NLOSv with the mean blockage of case 3.
    pub fn mean_received_mw(&self, distance_m: f64, kind: LinkKind) -> f64 {
        let blockage = match kind {
            LinkKind::NlosV => self.mean_blockage_db(distance_m, Blockage::Partial),
            LinkKind::Los | LinkKind::Nlos => 0.0,
        };
        // The mean of what is normal in dB lies above the power at the mean.
        let deviation = self.parameters.shadowing_db(kind) * (std::f64::consts::LN_10 / 10.0);
        let loss_db = self.path_loss_db(distance_m, kind) + blockage;
        self.received_mw(loss_db) * libm::exp(0.5 * deviation * deviation)
    }

    fn in_range(&self, distance_m: f64, kind: LinkKind) -> bool {
        distance_m <= self.parameters.range_m(kind)
    }

    /// The channel busy ratio of an offered load over capacity; NaN counts as full.
    #[inline]
    pub fn busy_ratio(&self, load: f64) -> f64 {
        let busy = match self.parameters.busy_ratio {
            BusyRatio::Offered => load,
            BusyRatio::Overlapping if load <= 1.0 => load - load * load / (8.0 - 4.0 * load),
            BusyRatio::Overlapping => 0.5 + load / 4.0,
        };
        if busy < 1.0 { busy.max(0.0) } else { 1.0 }
    }

    /// Collision loss at an offered load over capacity and a distance.
    ///
    /// Tables are interpolated in both; what lies outside them takes the value at their edge
    /// (0.85, 10 m, 500 m).
    pub fn collision_loss(&self, load: f64, distance_m: f64) -> f64 {
        let distance_m = distance_m.clamp(DISTANCES_M[0], DISTANCES_M[14]);
        let column = DISTANCES_M[1..14].partition_point(|d| *d <= distance_m);
        let [d0, d1] = [DISTANCES_M[column], DISTANCES_M[column + 1]];
        let weight = (distance_m - d0) / (d1 - d0);
        let at = |column| self.collision_at(load, column);
        at(column) * (1.0 - weight) + at(column + 1) * weight
    }

    /// Collision survival over distance at an offered load over capacity, for fast reception.
    pub fn row(&self, load: f64) -> CollisionRow {
        CollisionRow::new(std::array::from_fn(|column| {
            1.0 - self.collision_at(load, column)
        }))
    }

    /// Collision loss at the table's column.
    fn collision_at(&self, load: f64, column: usize) -> f64 {
        let busy = self.busy_ratio(load);
        match (self.collision_cells, self.parameters.collision) {
            (Some(cells), _) => {
                let position = (busy / BUSY_RATIO_STEP).min((cells.len() - 1) as f64);
                let below = (position as usize).min(cells.len() - 2);
                let weight = position - below as f64;
                let at = |row: usize| f64::from(cells[row][column]) / 1e5;
                at(below) * (1.0 - weight) + at(below + 1) * weight
            }
            (
                None,
                CollisionLaw::PowerLaw {
                    coefficient,
                    exponent,
                },
            ) => coefficient * libm::pow(busy, exponent),
            (None, CollisionLaw::Table(_)) => unreachable!("a table has cells"),
        }
    }

    /// Half duplex: the chance that a vehicle misses a message because it sends itself in that
    /// subframe, where it sends in this many subframes per second.
    pub fn half_duplex_loss(&self, subframes_per_s: f64) -> f64 {
        (subframes_per_s / self.parameters.subframes_per_s).clamp(0.0, 1.0)
    }

    /// Capacity thinning: the share min(1, C/L) of messages that a tile with this offered load over
    /// capacity carries. NaN stays NaN, which keeps none.
    #[inline]
    pub fn kept_share(load: f64) -> f64 {
        if load <= 1.0 { 1.0 } else { 1.0 / load }
    }

    /// The mean channel at one point.
    ///
    /// NLOSv takes the mean blockage of case 3 (5.20 dB and the distance term, see
    /// [`mean_blockage_db`](Self::mean_blockage_db)). The block error rate is that of the mean SNR, not the mean over shadowing: see [`mean_block_error`](Self::mean_block_error).
    pub fn mean(&self, distance_m: f64, kind: LinkKind, load: f64) -> MeanLink {
        let blockage = match kind {
            LinkKind::NlosV => self.mean_blockage_db(distance_m, Blockage::Partial),
            LinkKind::Los | LinkKind::Nlos => 0.0,
        };
        let path_loss_db = self.path_loss_db(distance_m, kind) + blockage;
        let snr_db = self.snr_at_no_loss_db - path_loss_db;
        let bler = self.block_error(snr_db, kind);
        let collision_loss = self.collision_loss(load, distance_m);
        MeanLink {
            path_loss_db,
            snr_db,
            bler,
            collision_loss,
            delivery: (1.0 - bler) * (1.0 - collision_loss),
            in_range: self.in_range(distance_m, kind),
        }
    }

    /// Block error rate averaged over shadowing, and for NLOSv over blockage of this case.
    pub fn mean_block_error(&self, distance_m: f64, kind: LinkKind, case: Blockage) -> f64 {
        let snr_db = self.snr_at_no_loss_db - self.path_loss_db(distance_m, kind);
        let sigma = self.parameters.shadowing_db(kind);
        let weights = normal_weights();
        let over_shadowing =
            |snr_db: f64| normal_mean(&weights, |z| self.block_error(snr_db - sigma * z, kind));
        match kind {
            LinkKind::Los | LinkKind::Nlos => over_shadowing(snr_db),
            LinkKind::NlosV => {
                let (mean, std) = self.blockage_db(distance_m, case);
                normal_mean(&weights, |z| {
                    over_shadowing(snr_db - (mean + std * z).max(0.0))
                })
            }
        }
    }
}

/// Expectation of a function of a standard normal variable, by the trapezoid rule, which is all but
/// exact for smooth functions under this weight.
fn normal_mean(weights: &[(f64, f64)], f: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    for &(z, weight) in weights {
        sum += weight * f(z);
        all += weight;
    }
    sum / all
}

/// Where that rule looks, and what each place weighs.
fn normal_weights() -> Vec<(f64, f64)> {
    let place = |step: i32| {
        let z = 0.04 * f64::from(step);
        (z, libm::exp(-0.5 * z * z))
    };
    (-150..=150).map(place).collect()
}
