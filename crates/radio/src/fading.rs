//! What changes slowly on a link: shadowing and blockage.

use crate::link::{Blockage, Channel, LinkState};
use crate::reception::PairLink;
use covey_draws::{Draws, Purpose};

/// Where the two ends of a link are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkGeometry {
    /// One antenna's horizontal position less the other's, m; in the same order at every update.
    pub offset_m: [f64; 2],
    /// Heights of the antennas above ground, m.
    pub antennas_m: [f64; 2],
    /// What stands between them.
    pub state: LinkState,
}

/// The draws that fading needs at one step.
#[derive(Clone, Copy, Debug)]
pub struct FadingDraws {
    shadowing: Draws,
    blockage: Draws,
}

impl FadingDraws {
    /// The draws of this step in the run with this seed.
    pub const fn new(seed: u64, step: u64) -> Self {
        Self {
            shadowing: Draws::new(seed, Purpose::Shadowing, 0, step),
            blockage: Draws::new(seed, Purpose::Blockage, 0, step),
        }
    }
}

/// Fading of one unordered pair, from its first update on.
///
/// Shadowing is a Gauss-Markov process over travelled distance with unit variance; the state's
/// standard deviation scales it when it is read, so a change of state neither jumps in rank nor
/// leaves the wrong variance behind. Blockage is drawn once for each unbroken stretch of updates in
/// one [`Blockage`] case. Both take their draws by (pair, step), so a pair's fading is a function of
/// the seed and of the pair's own path since its first update, of nothing else: pairs may be
/// updated in any order and on any thread. Drop the state when the pair parts, and begin with a new
/// one when it meets again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairFading {
    /// The last update and its result.
    last: Option<(LinkGeometry, PairLink)>,
    /// Shadowing in standard deviations.
    shadowing: f32,
    /// The blockage episode under way, and its draw in standard deviations.
    episode: Option<(Blockage, f32)>,
    /// All that the last update lost, in dB.
    loss_db: f32,
}

impl PairFading {
    /// Path loss, shadowing and blockage at the last update, in dB.
    pub fn loss_db(&self) -> f64 {
        f64::from(self.loss_db)
    }
}

impl Channel {
    /// Advances the fading of the pair {a, b} to this step and gives its link until the next.
    ///
    /// The first update of a [`PairFading`] begins it. Positions that are not finite give a lost
    /// link and leave the fading as it was.
    pub fn update(
        &self,
        fading: &mut PairFading,
        draws: &FadingDraws,
        [a, b]: [u32; 2],
        geometry: &LinkGeometry,
    ) -> PairLink {
        let [dx, dy] = geometry.offset_m;
        let dz = geometry.antennas_m[0] - geometry.antennas_m[1];
        let distance_m = (dx * dx + dy * dy + dz * dz).sqrt();
        if !distance_m.is_finite() {
            return PairLink::LOST;
        }
        let kind = geometry.state.kind();

        let innovation = || draws.shadowing.between(a, b).normal();
        fading.shadowing = match &fading.last {
            None => innovation() as f32,
            // Queues stand still: most links there need no work at all.
            Some((last, link)) if last == geometry => return *link,
            Some((last, _)) => {
                let [mx, my] = [dx - last.offset_m[0], dy - last.offset_m[1]];
                let moved_m = (mx * mx + my * my).sqrt();
                let kept = libm::exp(-moved_m / self.parameters().decorrelation_m(kind));
                let fresh = (1.0 - kept * kept).sqrt() * innovation();
                (kept * f64::from(fading.shadowing) + fresh) as f32
            }
        };

        let mut blockage_db = 0.0;
        fading.episode = match geometry.state {
            LinkState::Los | LinkState::Nlos => None,
            LinkState::NlosV { blocker_height_m } => {
                let case = Blockage::of(geometry.antennas_m, blocker_height_m);
                let draw = match fading.episode {
                    Some((under_way, draw)) if under_way == case => draw,
                    _ => draws.blockage.between(a, b).normal() as f32,
                };
                let (mean, std) = self.blockage_db(distance_m, case);
                blockage_db = (mean + std * f64::from(draw)).max(0.0);
                Some((case, draw))
            }
        };

        let loss_db = self.path_loss_db(distance_m, kind)
            + self.parameters().shadowing_db(kind) * f64::from(fading.shadowing)
            + blockage_db;
        let link = self.link(distance_m, kind, loss_db);
        fading.loss_db = loss_db as f32;
        fading.last = Some((*geometry, link));
        link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shadowing of many pairs at two updates with `moved_m` between them.
    fn samples(state: LinkState, moved_m: f64) -> Vec<[f64; 2]> {
        let channel = Channel::default();
        let pairs = 0..10_000;
        pairs
            .map(|pair| {
                let mut fading = PairFading::default();
                [(0, 0.0), (1, moved_m)].map(|(step, y)| {
                    let geometry = LinkGeometry {
                        offset_m: [90.0, y],
                        antennas_m: [1.6; 2],
                        state,
                    };
                    let draws = FadingDraws::new(3, step);
                    channel.update(&mut fading, &draws, [pair, 77_777], &geometry);
                    f64::from(fading.shadowing)
                })
            })
            .collect()
    }

    #[test]
    fn shadowing_keeps_its_variance_and_decorrelates_over_distance() {
        for (state, decorrelation_m) in [(LinkState::Los, 10.0), (LinkState::Nlos, 13.0)] {
            for moved_m in [0.0, 1.0, 7.0, 30.0] {
                let samples = samples(state, moved_m);
                let mean = |f: &dyn Fn(&[f64; 2]) -> f64| {
                    samples.iter().map(f).sum::<f64>() / samples.len() as f64
                };
                let correlation = mean(&|[a, b]| a * b);
                let expected = f64::exp(-moved_m / decorrelation_m);
                assert!(
                    (correlation - expected).abs() < 0.04,
                    "{moved_m} m: {correlation}"
                );
                assert!((mean(&|[_, b]| b * b) - 1.0).abs() < 0.04);
                assert!(mean(&|[_, b]| *b).abs() < 0.03);
            }
        }
        assert!(samples(LinkState::Los, 0.0).iter().all(|[a, b]| a == b));
    }
}
