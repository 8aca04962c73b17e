//! For how long what a station says of itself is news to somebody.

use crate::link::LinkQuality;
use crate::parameters::Parameters;

/// No station that beacons is silent for longer, in seconds: EN 302 637-2, and then some.
const LONGEST_S: f64 = 1.2;

/// How a station tells of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spoken {
    /// The age of its last beacon, in seconds.
    pub age_s: f64,
    /// From one beacon to the next, in seconds, as far as one can tell by how it was heard.
    pub every_s: f64,
    /// Chance that what is taken for it is somebody else, who says nothing.
    pub doubt: f64,
    /// Chance that its beacons get lost for everybody at present.
    pub lost: f64,
}

/// A beacon may come later than it is due by so much of the time between two.
const LATE: f64 = 0.5;

impl Spoken {
    /// From its last beacon, `age_s` seconds ago, and the time between two that were heard, which is longer where some were lost: a
    /// share `heard` of them comes. None where only one was heard: the rule of beaconing tells then.
    #[must_use]
    pub fn new(
        parameters: &Parameters,
        speed: f64,
        age_s: f64,
        between_s: Option<f64>,
        heard: f64,
    ) -> Self {
        let rule = parameters.beacon_interval_s(speed);
        let told = between_s.map_or(rule, |between_s| heard * between_s);
        let every_s = if told.is_finite() { told } else { rule };
        Self {
            age_s: age_s.max(0.0),
            every_s: every_s.clamp(parameters.beacon_s.min(LONGEST_S), LONGEST_S),
            doubt: 0.0,
            lost: 0.0,
        }
    }

    /// The same where of all stations the beacons of a share `together` get lost for everybody for a while, as where two keep sending at the
    /// same time. Of this station whoever judges hears a share `heard`: the more in a row it did not hear, the more likely nobody does.
    #[must_use]
    pub fn lost_together(self, together: f64, heard: f64) -> Self {
        let unheard = libm::floor((self.age_s / self.every_s - LATE).clamp(0.0, 1e3));
        let by_chance = (1.0 - together) * libm::pow((1.0 - heard).clamp(0.0, 1.0), unheard);
        let lost = match unheard >= 1.0 && together > 0.0 {
            true => together / (together + by_chance),
            false => 0.0,
        };
        Self { lost, ..self }
    }

    /// The same with so much doubt whether it is this station.
    #[must_use]
    pub fn in_doubt(self, doubt: f64) -> Self {
        Self { doubt, ..self }
    }

    /// Chance that somebody to whom a share `heard` of its messages gets through has none, `ahead_s` seconds from now, that is
    /// younger than `deadline_s`.
    #[must_use]
    pub fn missed(&self, heard: f64, deadline_s: f64, ahead_s: f64) -> f64 {
        let lost = 1.0 - heard;
        // The last one may still be young enough.
        let last = match self.age_s + ahead_s <= deadline_s + 1e-9 {
            true => lost,
            false => 1.0,
        };
        let by_chance = if self.every_s <= deadline_s {
            libm::pow(lost, deadline_s / self.every_s)
        } else {
            // Another may come until then.
            let another = (deadline_s.min(ahead_s) / self.every_s).clamp(0.0, 1.0);
            last * (1.0 - heard * another)
        };
        self.lost * last + (1.0 - self.lost) * by_chance
    }
}

/// What others were told of an object, and when: where it was said, and how old it will be, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Saying {
    pub(crate) from: crate::grid::Position,
    pub(crate) age_s: f64,
}

/// Chance that somebody at `place` got none of `said` that is younger than `deadline_s`.
pub(crate) fn missed(
    links: &LinkQuality,
    said: &[Saying],
    place: crate::grid::Position,
    deadline_s: f64,
) -> f64 {
    let young = said.iter().filter(|s| s.age_s <= deadline_s + 1e-9);
    young.map(|s| 1.0 - links.between(s.from, place)).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beacon_tells_for_as_long_as_it_is_fresh() {
        let parameters = Parameters::default();
        let every = |between_s| Spoken::new(&parameters, 0.0, 0.05, between_s, 0.8).every_s;
        assert_eq!(
            [every(None), every(Some(0.125)), every(Some(0.5))],
            [0.1, 0.1, 0.4]
        );
        assert_eq!([every(Some(f64::NAN)), every(Some(9.0))], [0.1, LONGEST_S]);
        // Often enough: two within the deadline.
        let often = Spoken {
            age_s: 0.05,
            every_s: 0.1,
            doubt: 0.0,
            lost: 0.0,
        };
        assert!((often.missed(0.9, 0.2, 0.0) - 0.01).abs() < 1e-12);
        // Once a second: while the last is young, and by chance.
        let rare = |age_s, ahead_s| {
            let rare = Spoken {
                age_s,
                every_s: 1.0,
                doubt: 0.0,
                lost: 0.0,
            };
            (rare.missed(0.9, 0.2, ahead_s) * 1e6).round() / 1e6
        };
        assert_eq!([rare(0.1, 0.0), rare(0.3, 0.0)], [0.1, 1.0]);
        assert_eq!([rare(0.0, 0.2), rare(0.1, 0.2)], [0.082, 0.82]);
    }

    #[test]
    fn who_is_not_heard_in_a_row_is_lost_to_all() {
        let parameters = Parameters::default();
        let of = |age_s, heard| {
            let spoken = Spoken::new(&parameters, 0.0, age_s, None, heard);
            spoken.lost_together(0.03, heard)
        };
        // Within its time, and a little late.
        assert_eq!([of(0.05, 0.95).lost, of(0.14, 0.95).lost], [0.0; 2]);
        // One unheard may be chance, two nearby hardly are; far off more of them are needed.
        assert!((0.3..0.5).contains(&of(0.16, 0.95).lost));
        assert!(of(0.26, 0.95).lost > 0.9);
        assert!((0.2..0.4).contains(&of(0.26, 0.75).lost));
        assert!(of(0.56, 0.75).lost > 0.9);
        // Then the last one tells while it is young.
        assert!(of(0.26, 0.95).missed(0.95, 0.2, 0.0) > 0.9);
        assert!(of(0.26, 0.95).missed(0.95, 0.5, 0.0) < 0.06);
        let never = Spoken::new(&parameters, 0.0, 0.9, None, 0.9).lost_together(0.0, 0.9);
        assert_eq!(never.lost, 0.0);
    }

    #[test]
    fn what_was_said_in_time_counts() {
        let links = LinkQuality::fixed(&[0.9, 0.5]);
        let place = crate::grid::Position::new(0.0, 0.0);
        let said = |x: f64, age_s| Saying {
            from: crate::grid::Position::new(x, 0.0),
            age_s,
        };
        let all = [said(10.0, 0.1), said(60.0, 0.2), said(10.0, 0.3)];
        assert!((missed(&links, &all, place, 0.2) - 0.05).abs() < 1e-12);
        assert_eq!(missed(&links, &[], place, 0.2), 1.0);
    }
}
