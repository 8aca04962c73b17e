//! Which resources stations hold: semi-persistent grants with their counters.

use super::medium::CLASSES;

/// Which of a station's grants: message class, block of the message, first or second transmission of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Purpose {
    pub(super) class: u8,
    pub(super) block: u16,
    pub(super) again: bool,
}

impl Purpose {
    /// A number for draws.
    pub(super) fn number(self) -> u32 {
        u32::from(self.block) << 1 | u32::from(self.again)
    }

    /// The first transmission of the same block.
    pub(super) fn first(self) -> Self {
        Self {
            again: false,
            ..self
        }
    }
}

/// A resource that a station uses again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grant {
    pub(super) purpose: Purpose,
    /// The next slot in which it may be used.
    pub(super) next: u64,
    pub(super) period: u16,
    pub(super) first: u8,
    pub(super) count: u8,
    /// Uses that are left.
    pub(super) uses: u32,
}

/// What one station holds and plans.
#[derive(Clone, Debug, Default)]
pub(super) struct Station {
    pub(super) grants: Vec<Grant>,
    /// Slots in which it will send.
    pub(super) planned: Vec<u64>,
    /// Subchannels that it will send in, by class.
    pub(super) granted: [u32; CLASSES],
}

impl Station {
    /// The grant for a message of `count` subchannels that may go between two slots, where there is one that fits. A reservation
    /// that does not fit, or of which more than `unused` uses in a row have passed, is given up.
    pub(super) fn held(
        &mut self,
        purpose: Purpose,
        count: u8,
        [from, to]: [u64; 2],
        unused: u32,
    ) -> Option<usize> {
        let at = self
            .grants
            .iter()
            .position(|grant| grant.purpose == purpose)?;
        let grant = &mut self.grants[at];
        let mut passed = 0;
        while grant.next < from {
            grant.next += u64::from(grant.period.max(1));
            passed += 1;
        }
        if passed >= unused.max(1) || grant.count < count || grant.next > to {
            self.grants.swap_remove(at);
            return None;
        }
        Some(at)
    }

    /// Whether it sends in a slot already, or would again and again if it took the slot every `period`.
    pub(super) fn is_taken(&self, slot: u64, period: u16) -> bool {
        if self.planned.contains(&slot) {
            return true;
        }
        self.grants.iter().any(|grant| {
            let common = match period {
                0 => u64::from(grant.period),
                period => greatest_common_divisor(u64::from(grant.period), u64::from(period)),
            };
            common > 0 && slot.abs_diff(grant.next).is_multiple_of(common)
        })
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEACON: Purpose = Purpose {
        class: 0,
        block: 0,
        again: false,
    };

    fn station() -> Station {
        Station {
            grants: vec![Grant {
                purpose: BEACON,
                next: 130,
                period: 100,
                first: 0,
                count: 1,
                uses: 7,
            }],
            planned: vec![47],
            ..Station::default()
        }
    }

    #[test]
    fn a_reservation_lasts_while_it_is_used_and_fits() {
        // A message of slot 100 takes the reserved 130.
        assert_eq!(station().held(BEACON, 1, [101, 200], 1), Some(0));
        // One of slot 150 comes when 130 has passed unused: the reservation lapses, unless two may pass.
        assert_eq!(station().held(BEACON, 1, [151, 250], 1), None);
        let mut patient = station();
        assert_eq!(patient.held(BEACON, 1, [151, 250], 2), Some(0));
        assert_eq!(patient.grants[0].next, 230);
        // It needs two subchannels, or must be out before.
        for (count, to) in [(2, 200), (1, 129)] {
            let mut station = station();
            assert_eq!(station.held(BEACON, count, [101, to], 1), None);
            assert!(station.grants.is_empty());
        }
        let report = Purpose { class: 1, ..BEACON };
        assert_eq!(station().held(report, 1, [101, 200], 1), None);
    }

    #[test]
    fn nobody_plans_two_transmissions_in_one_slot() {
        let station = station();
        assert!(station.is_taken(47, 0) && !station.is_taken(48, 0));
        // Its beacons go at 130, 230 and so on; every 200 slots from 30 on would meet them, every 100 from 31 not.
        assert!(station.is_taken(30, 200) && station.is_taken(230, 0));
        assert!(!station.is_taken(31, 100));
    }
}
