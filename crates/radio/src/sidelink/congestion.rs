//! How much of the channel a station may take, by how busy it finds it (TS 103 574 V1.1.1 table 1).

/// The share of all subchannels over a second that messages of this priority (PPPP, 1 the highest) and below may take together, at
/// a busy ratio; none where there is no limit.
pub fn occupancy_limit(busy_ratio: f64, priority: u32) -> Option<f64> {
    let limits = match busy_ratio {
        busy if busy <= 0.3 => return None,
        busy if busy <= 0.65 => [None, Some(0.03), Some(0.02)],
        busy if busy <= 0.8 => [Some(0.02), Some(0.006), Some(0.004)],
        _ => [Some(0.02), Some(0.003), Some(0.002)],
    };
    match priority {
        ..=2 => limits[0],
        3..=5 => limits[1],
        6.. => limits[2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_table() {
        let row = |busy| [1, 2, 3, 5, 6, 8].map(|priority| occupancy_limit(busy, priority));
        assert_eq!(row(0.3), [None; 6]);
        let [a, b, c] = [None, Some(0.03), Some(0.02)];
        assert_eq!(row(0.65), [a, a, b, b, c, c]);
        let [a, b, c] = [0.02, 0.006, 0.004].map(Some);
        assert_eq!(row(0.8), [a, a, b, b, c, c]);
        assert_eq!(row(0.81)[2], Some(0.003));
    }
}
