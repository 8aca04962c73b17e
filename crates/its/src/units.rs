//! From SI units to the integers of the standard, with their ends.

/// `value / unit`, rounded, clamped to `low..=high`; not-a-number gives none.
pub(crate) fn clamped(value: f64, unit: f64, low: i32, high: i32) -> Option<i32> {
    let steps = libm::round(value / unit);
    if steps.is_nan() {
        return None;
    }
    // `as` saturates, so that infinity is clamped, too.
    Some((steps as i32).clamp(low, high))
}

/// As [`clamped`], but a value beyond the ends gives none.
pub(crate) fn within(value: f64, unit: f64, low: i32, high: i32) -> Option<i32> {
    let steps = libm::round(value / unit);
    (steps >= f64::from(low) && steps <= f64::from(high)).then_some(steps as i32)
}

/// A length in steps of 0.1 m, from 1 to `most`; a length of 0 or less, or none at all, is unavailable.
pub(crate) fn decimetres(metres: f64, most: u16) -> Option<u16> {
    if metres > 0.0 {
        clamped(metres, 0.1, 1, i32::from(most)).map(|steps| steps as u16)
    } else {
        None
    }
}

/// A bearing in degrees as tenths, 0 to 3599; not-a-number is unavailable.
pub(crate) fn decidegrees(bearing: f64) -> Option<u16> {
    within(bearing, 0.1, 0, 3600).map(|tenths| (tenths % 3600) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_clamped_and_nothing_wraps() {
        assert_eq!(clamped(1e300, 0.01, -5, 5), Some(5));
        assert_eq!(clamped(f64::NEG_INFINITY, 0.01, -5, 5), Some(-5));
        assert_eq!(clamped(f64::NAN, 0.01, -5, 5), None);
        assert_eq!(within(1310.72, 0.01, -131_071, 131_070), None);
        assert_eq!(within(1310.70, 0.01, -131_071, 131_070), Some(131_070));
        assert_eq!(decimetres(0.0, 1022), None);
        assert_eq!(decimetres(0.01, 1022), Some(1));
        assert_eq!(decimetres(400.0, 1022), Some(1022));
        assert_eq!(decidegrees(359.99), Some(0));
        assert_eq!(decidegrees(f64::NAN), None);
    }
}
