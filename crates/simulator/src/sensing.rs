//! What sensors make of what is there: they miss, invent and misplace (docs/sensing.md). All of it is none by default.
//!
//! Draws are addressed by seed, by who looks, by what is there and by the step, so that errors do not depend on what arms do, and what
//! somebody saw some steps ago can be found out again. Drivers' eyes, of vehicles without a radio, make no errors.

use covey_draws::{Draws, Purpose};
use covey_protocol::messages::ObjectState;
use covey_protocol::{Instant, Position, Velocity};

use crate::errors::Errors;
use crate::ids::Step;
use crate::readings::Sensing;

/// Seconds of a step.
const STEP_S: f64 = covey_traffic::STEP_US as f64 * 1e-6;

/// Across and along the way of an object, in metres: nearer than that, a state is one of it, errors apart.
const ACROSS_M: f64 = 2.0;
const ALONG_M: f64 = 3.0;
/// Errors of so many standard deviations are allowed for besides.
const DEVIATIONS: f64 = 3.0;
/// Much more than rounding leaves open of a distance, as a share.
const ROUNDING: f64 = 1e-9;

impl Sensing {
    /// What sensors tell of objects is right: none is displaced, missed or invented.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.misses() && !self.distorts() && self.ghosts_per_s <= 0.0 && self.latency_s <= 0.0
    }

    /// Steps from a look until what it saw may be at hand.
    pub(crate) fn latency_steps(&self) -> u32 {
        (self.latency_s / STEP_S - 1e-6).ceil().max(0.0) as u32
    }

    /// Objects in sight are missed.
    pub(crate) fn misses(&self) -> bool {
        self.missed > 0.0 || self.missed_far > 0.0 || self.missed_hidden > 0.0
    }

    /// Objects are seen where they are not, or to go otherwise than they do.
    pub(crate) fn distorts(&self) -> bool {
        [
            self.position_error_m,
            self.speed_error_m_per_s,
            self.heading_error_deg,
            self.position_bias_m,
            self.speed_bias_m_per_s,
            self.heading_bias_deg,
        ]
        .into_iter()
        .any(|error| error > 0.0)
    }

    /// Standard deviation of a sensed position, per axis, in metres.
    pub(crate) fn position_deviation_m(&self) -> f64 {
        self.position_error_m.hypot(self.position_bias_m)
    }

    /// Standard deviation of a sensed velocity, along or across the way, whichever is more at 50 km/h, in m/s.
    pub(crate) fn velocity_deviation(&self) -> f64 {
        const SPEED: f64 = 50.0 / 3.6;
        let along = self.speed_error_m_per_s.hypot(self.speed_bias_m_per_s);
        let turned = self.heading_error_deg.hypot(self.heading_bias_deg);
        along.max(SPEED * turned.to_radians())
    }

    /// The chance that something is missed at a distance, of which a share shows.
    fn miss_chance(&self, distance_m: f64, range_m: f64, shown: f64) -> f64 {
        let far = if range_m > 0.0 {
            (distance_m / range_m).clamp(0.0, 1.0)
        } else {
            1.0
        };
        self.missed + self.missed_far * far + self.missed_hidden * (1.0 - shown)
    }

    /// At `step`, `observer` misses `object`, at a distance of its sensors of some range; `shown` tells how much of it shows, where
    /// that matters.
    pub(crate) fn is_missed(
        &self,
        seed: u64,
        [observer, object]: [u32; 2],
        step: Step,
        [distance_m, range_m]: [f64; 2],
        shown: impl FnOnce() -> f64,
    ) -> bool {
        let shown = if self.missed_hidden > 0.0 {
            shown()
        } else {
            1.0
        };
        let chance = self.miss_chance(distance_m, range_m, shown);
        let spell = (self.missed_for_s / STEP_S).round().max(1.0) as u64;
        let number = if spell == 1 {
            u64::from(step.0)
        } else {
            // Spells of a pair begin at a time of its own.
            let first = Draws::new(seed, Purpose::Missed, 1, 0).at(observer, object);
            (u64::from(step.0) + first.bits() % spell) / spell
        };
        let draws = Draws::new(seed, Purpose::Missed, 0, number);
        draws.at(observer, object).uniform() < chance
    }

    /// The errors of all who look at `step`.
    pub(crate) fn noise(&self, seed: u64, step: Step) -> Noise<'_> {
        let draws = |class| Draws::new(seed, Purpose::Sensed, class, u64::from(step.0));
        Noise {
            sensing: self,
            seed,
            draws: [0, 1, 2, 3].map(draws),
        }
    }
}

/// What sensors make of what is there at one step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise<'a> {
    sensing: &'a Sensing,
    seed: u64,
    /// Along both axes, of speeds, of headings.
    draws: [Draws; 4],
}

/// So many objects are dealt with at a time.
const AT_ONCE: usize = 32;

/// The place of something, and how it moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Moving {
    pub(crate) position: Position,
    pub(crate) velocity: Velocity,
}

/// How fast something goes, and in which direction; what stands still has none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Way {
    speed: f64,
    direction: Option<[f64; 2]>,
}

impl From<Velocity> for Way {
    fn from(Velocity { x, y }: Velocity) -> Self {
        let speed = x.hypot(y);
        Self {
            speed,
            direction: (speed > 1e-6).then(|| [x / speed, y / speed]),
        }
    }
}

impl Noise<'_> {
    /// What `observer`, that goes along `heading`, makes of objects with these numbers; `way` tells which way the object with a place
    /// among them really goes.
    pub(crate) fn distort_all(
        &self,
        observer: u32,
        heading: f64,
        numbers: &[u32],
        states: &mut [Moving],
        way: impl Fn(usize) -> Way,
    ) {
        let sensing = self.sensing;
        if !sensing.distorts() || states.is_empty() {
            return;
        }
        let heading = heading.sin_cos();
        let errors = [
            sensing.position_error_m,
            sensing.position_error_m,
            sensing.speed_error_m_per_s,
            sensing.heading_error_deg,
        ];
        let biases = [
            sensing.position_bias_m,
            sensing.position_bias_m,
            sensing.speed_bias_m_per_s,
            sensing.heading_bias_deg,
        ];
        let always = [0u8, 1, 2, 3].map(|class| {
            let bias = biases[usize::from(class)];
            if bias > 0.0 {
                let draws = Draws::new(self.seed, Purpose::SensorBias, class, 0);
                bias * draws.at(observer, 0).normal()
            } else {
                0.0
            }
        });
        let chunks = states.chunks_mut(AT_ONCE).zip(numbers.chunks(AT_ONCE));
        for (chunk, (some, ids)) in chunks.enumerate() {
            let mut off = [[0.0; AT_ONCE]; 4];
            for ((off, draws), error) in off.iter_mut().zip(&self.draws).zip(errors) {
                if error > 0.0 {
                    draws.fill_normals(observer, ids, off);
                    off.iter_mut().for_each(|off| *off *= error);
                }
            }
            for (k, state) in some.iter_mut().enumerate() {
                let off = [0, 1, 2, 3].map(|class: usize| off[class][k]);
                self.distort(heading, off, always, way(AT_ONCE * chunk + k), state);
            }
        }
    }

    /// What somebody that goes along a heading, of which sine and cosine are given, makes of `state`, off by so much this time, and
    /// always; it really goes this `way`.
    fn distort(
        &self,
        heading: (f64, f64),
        off: [f64; 4],
        always: [f64; 4],
        way: Way,
        state: &mut Moving,
    ) {
        state.position.x += off[0];
        state.position.y += off[1];
        if self.sensing.position_bias_m > 0.0 {
            let (sin, cos) = heading;
            state.position.x += always[0] * cos - always[1] * sin;
            state.position.y += always[0] * sin + always[1] * cos;
        }
        let (faster, turned) = (off[2] + always[2], off[3] + always[3]);
        // What stands still has no direction but that of the one who looks.
        let [dx, dy] = way.direction.unwrap_or([heading.1, heading.0]);
        let (sin, cos) = turned.to_radians().sin_cos();
        let speed = way.speed + faster;
        state.velocity =
            Velocity::new(speed * (dx * cos - dy * sin), speed * (dx * sin + dy * cos));
    }
}

/// How near a known state, moved to the present, must be to an object to be one of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gate {
    across_m: f64,
    along_m: f64,
    reach_m: f64,
}

impl Gate {
    /// The gate under the errors in force; none where there are none, and every state is one of the object that it came from.
    pub(crate) fn new(errors: &Errors, sensing: &Sensing) -> Option<Self> {
        if errors.are_none() && sensing.is_exact() {
            return None;
        }
        let deviation = errors
            .position_error_m
            .hypot(errors.object_error_m)
            .hypot(sensing.position_deviation_m());
        let [across_m, along_m] = [ACROSS_M, ALONG_M].map(|m| m + DEVIATIONS * deviation);
        Some(Self {
            across_m,
            along_m,
            reach_m: across_m.hypot(along_m),
        })
    }

    /// Nothing farther off is within the gate of anything.
    pub(crate) fn reach_m(self) -> f64 {
        self.reach_m
    }

    /// A state is within the gate of an object, whose heading is asked for only if that matters.
    pub(crate) fn holds(
        self,
        object: Position,
        heading: impl FnOnce() -> f64,
        state: Position,
    ) -> bool {
        let squared = (state.x - object.x).powi(2) + (state.y - object.y).powi(2);
        let surely = self.across_m.min(self.along_m) * (1.0 - ROUNDING);
        if squared <= surely * surely {
            return true;
        }
        let farthest = self.reach_m() * (1.0 + ROUNDING);
        if squared > farthest * farthest {
            return false;
        }
        self.distance_along(object, heading().sin_cos(), state)
            .is_some()
    }

    /// How far a state is off an object, sine and cosine of whose heading are given; none beyond the gate.
    pub(crate) fn distance_along(
        self,
        object: Position,
        (sin, cos): (f64, f64),
        state: Position,
    ) -> Option<f64> {
        let off = [state.x - object.x, state.y - object.y];
        let along = off[0] * cos + off[1] * sin;
        let across = off[1] * cos - off[0] * sin;
        let within = along.abs() <= self.along_m && across.abs() <= self.across_m;
        within.then(|| off[0].hypot(off[1]))
    }
}

/// Where something was when it was sensed, and how it moved: all that it takes to say where it is later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Whereabouts {
    pub(crate) sensed_at: Instant,
    pub(crate) position: Position,
    pub(crate) velocity: Velocity,
}

impl From<&ObjectState> for Whereabouts {
    fn from(state: &ObjectState) -> Self {
        Self {
            sensed_at: state.sensed_at,
            position: state.position,
            velocity: state.velocity,
        }
    }
}

impl Whereabouts {
    /// Where it is at some time if it goes on as it went.
    pub(crate) fn later(&self, at: Instant) -> Position {
        let seconds = at.since(self.sensed_at).seconds();
        Position::new(
            self.position.x + seconds * self.velocity.x,
            self.position.y + seconds * self.velocity.y,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(x: f64, speed: f64) -> Moving {
        Moving {
            position: Position::new(x, 0.0),
            velocity: Velocity::new(0.0, speed),
        }
    }

    /// What an observer that goes along `heading` makes of `state` at a step.
    fn seen_by(sensing: &Sensing, [observer, step]: [u32; 2], heading: f64, state: &mut Moving) {
        // Among others, so that nobody depends on who else is there.
        let mut all = [object(0.0, 0.0); AT_ONCE + 2];
        all[AT_ONCE] = *state;
        let noise = sensing.noise(3, Step(step));
        let distort = |all: &mut [Moving]| {
            let ways: Vec<Way> = all.iter().map(|one| one.velocity.into()).collect();
            let numbers = vec![9; all.len()];
            noise.distort_all(observer, heading, &numbers, all, |k| ways[k]);
        };
        distort(&mut all);
        let mut alone = [*state];
        distort(&mut alone);
        assert_eq!(alone[0], all[AT_ONCE]);
        *state = alone[0];
    }

    /// The share of looks at a distance, of which a share shows, that miss; 200 pairs over 200 looks each.
    fn missed(sensing: &Sensing, distance: f64, shown: f64) -> f64 {
        let misses = (0..200).flat_map(|pair| (0..200).map(move |look| (pair, look)));
        let misses = misses.filter(|&(pair, look)| {
            sensing.is_missed(3, [pair, 7], Step(2 * look), [distance, 150.0], || shown)
        });
        misses.count() as f64 / 40_000.0
    }

    #[test]
    fn as_many_are_missed_as_should_be() {
        let some = Sensing {
            missed: 0.05,
            ..Sensing::default()
        };
        assert!((missed(&some, 0.0, 0.0) - 0.05).abs() < 0.005);
        assert!((missed(&some, 150.0, 1.0) - 0.05).abs() < 0.005);
        let far = Sensing {
            missed_far: 0.4,
            ..some
        };
        for (distance, expected) in [(0.0, 0.05), (75.0, 0.25), (150.0, 0.45)] {
            let share = missed(&far, distance, 1.0);
            assert!((share - expected).abs() < 0.01, "{distance}: {share}");
        }
        let hidden = Sensing {
            missed_hidden: 0.6,
            ..some
        };
        for (shown, expected) in [(1.0, 0.05), (0.5, 0.35), (0.0, 0.65)] {
            let share = missed(&hidden, 0.0, shown);
            assert!((share - expected).abs() < 0.01, "{shown}: {share}");
        }
        assert_eq!(missed(&Sensing::default(), 150.0, 0.0), 0.0);
        assert!(Sensing::default().is_exact());
    }

    #[test]
    fn misses_last_as_long_as_they_should() {
        let correlation = |missed_for_s: f64| {
            let sensing = Sensing {
                missed: 0.2,
                missed_for_s,
                ..Sensing::default()
            };
            let is = |pair, step| {
                let at = [0.0, 150.0];
                let missed = sensing.is_missed(3, [pair, 7], Step(step), at, || 1.0);
                f64::from(u8::from(missed)) - 0.2
            };
            // A look and the one half a second later, of 4,000 pairs.
            let products = (0..4_000).map(|pair| is(pair, 40) * is(pair, 50));
            products.sum::<f64>() / 4_000.0 / 0.16
        };
        assert!(correlation(0.0).abs() < 0.06);
        // Half of the spells of a second last for half a second more.
        assert!((correlation(1.0) - 0.5).abs() < 0.08);
        let whole = Sensing {
            missed: 0.2,
            missed_for_s: 1.0,
            ..Sensing::default()
        };
        assert!((missed(&whole, 0.0, 1.0) - 0.2).abs() < 0.02);
    }

    /// What observers make of an object at 10 m/s: errors of x, y, speed and heading, by observer and look.
    fn errors(sensing: &Sensing, observers: u32, looks: u32) -> Vec<Vec<[f64; 4]>> {
        let see = |observer, look| {
            let mut state = object(50.0, 10.0);
            seen_by(sensing, [observer, look], 0.0, &mut state);
            let Velocity { x, y } = state.velocity;
            let turned = (-x).atan2(y).to_degrees();
            [
                state.position.x - 50.0,
                state.position.y,
                x.hypot(y) - 10.0,
                turned,
            ]
        };
        let of = |observer| (0..looks).map(|look| see(observer, look)).collect();
        (0..observers).map(of).collect()
    }

    #[test]
    fn independent_errors_have_their_spread_and_no_memory() {
        let sensing = Sensing {
            position_error_m: 1.0,
            speed_error_m_per_s: 0.5,
            heading_error_deg: 3.0,
            ..Sensing::default()
        };
        let all = errors(&sensing, 100, 100);
        for (quantity, spread) in [1.0, 1.0, 0.5, 3.0].into_iter().enumerate() {
            let values = || all.iter().flatten().map(|e| e[quantity]);
            let mean = values().sum::<f64>() / 1e4;
            let deviation = (values().map(|x| x * x).sum::<f64>() / 1e4).sqrt();
            assert!(mean.abs() < 0.05 * spread, "{quantity}: {mean}");
            assert!(
                (deviation / spread - 1.0).abs() < 0.03,
                "{quantity}: {deviation}"
            );
            let next = all.iter().flat_map(|of| of.windows(2));
            let products = next.map(|two| two[0][quantity] * two[1][quantity]);
            let correlation = products.sum::<f64>() / 9_900.0 / (spread * spread);
            assert!(correlation.abs() < 0.05, "{quantity}: {correlation}");
        }
    }

    #[test]
    fn a_sensors_own_errors_stay_and_differ_from_those_of_others() {
        let sensing = Sensing {
            position_bias_m: 1.0,
            speed_bias_m_per_s: 0.5,
            heading_bias_deg: 3.0,
            ..Sensing::default()
        };
        let all = errors(&sensing, 2_000, 3);
        for (quantity, spread) in [1.0, 1.0, 0.5, 3.0].into_iter().enumerate() {
            for of in &all {
                assert!((of[0][quantity] - of[2][quantity]).abs() < 1e-9);
            }
            let squares = all.iter().map(|of| of[0][quantity] * of[0][quantity]);
            let deviation = (squares.sum::<f64>() / 2_000.0).sqrt();
            assert!(
                (deviation / spread - 1.0).abs() < 0.06,
                "{quantity}: {deviation}"
            );
        }
        // It turns with the vehicle that carries the sensor.
        let mut ahead = object(0.0, 0.0);
        let mut aside = object(0.0, 0.0);
        seen_by(&sensing, [5, 1], 0.0, &mut ahead);
        let quarter = std::f64::consts::FRAC_PI_2;
        seen_by(&sensing, [5, 1], quarter, &mut aside);
        assert!((ahead.position.x - aside.position.y).abs() < 1e-9);
        assert!((ahead.position.y + aside.position.x).abs() < 1e-9);
    }

    #[test]
    fn the_gate_is_as_wide_as_errors_make_it() {
        let none = Gate::new(&Errors::default(), &Sensing::default());
        assert_eq!(none, None);
        let errors = Errors {
            position_error_m: 0.3,
            object_error_m: 0.4,
            ..Errors::default()
        };
        let sensing = Sensing {
            position_error_m: 1.2,
            ..Sensing::default()
        };
        // Together 1.3 m.
        let gate = Gate::new(&errors, &sensing).unwrap();
        assert!((gate.across_m - 5.9).abs() < 1e-9, "{gate:?}");
        assert!((gate.along_m - 6.9).abs() < 1e-9, "{gate:?}");
        let here = Position::new(10.0, 20.0);
        let north = std::f64::consts::FRAC_PI_2;
        let off = |x, y| {
            let state = Position::new(10.0 + x, 20.0 + y);
            let off = gate.distance_along(here, north.sin_cos(), state);
            assert_eq!(gate.holds(here, || north, state), off.is_some());
            off
        };
        assert!(off(0.0, 6.8).is_some_and(|m| (m - 6.8).abs() < 1e-9));
        assert_eq!(off(0.0, 7.0), None);
        assert_eq!(off(6.0, 0.0), None);
        assert!(off(5.8, 6.8).is_some());
    }
}
