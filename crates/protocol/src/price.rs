//! The regional congestion price: projected dual ascent on the measured occupancy.

/// The price of airtime in one tile.
///
/// `price <- max(0, price + step (occupancy - target))`, once per beacon interval. The occupancy is what was measured of
/// the cooperative load (digests, reports, broadcasts), without the mandatory beacons, which no admission can change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Price {
    value: f64,
    step: f64,
    target: f64,
}

impl Price {
    /// A price that begins at `value`, moves by `step` per update and steers the occupancy to `target`.
    #[must_use]
    pub(crate) fn new(value: f64, step: f64, target: f64) -> Self {
        let value = if value.is_finite() {
            value.max(0.0)
        } else {
            0.0
        };
        Self {
            value,
            step,
            target,
        }
    }

    /// The price after the last update.
    #[must_use]
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// One beacon interval with `occupancy` measured; a measurement that is not finite is left out.
    pub(crate) fn update(&mut self, occupancy: f64) {
        let next = self.value + self.step * (occupancy - self.target);
        if next.is_finite() {
            self.value = next.max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_above_the_target_and_never_falls_below_zero() {
        let mut price = Price::new(0.0, 0.5, 0.3);
        price.update(0.5);
        assert!((price.value() - 0.1).abs() < 1e-12);
        price.update(0.0);
        assert_eq!(price.value(), 0.0);
        price.update(f64::NAN);
        assert_eq!(price.value(), 0.0);
        assert_eq!(Price::new(f64::INFINITY, 0.5, 0.3).value(), 0.0);
        assert_eq!(Price::new(-1.0, 0.5, 0.3).value(), 0.0);
        let mut price = Price::new(2.0, 0.5, 0.3);
        price.update(0.1);
        assert!((price.value() - 1.9).abs() < 1e-12);
        price.update(f64::INFINITY);
        assert!((price.value() - 1.9).abs() < 1e-12);
    }
}
