//! The metrics of the field (docs/metrics.md) that tables and summaries work out from outcomes alike.

use covey_simulator::Outcome;
use covey_simulator::outcome::{DISTANCE_BIN_M, DISTANCE_BINS, Mean};

/// The busy ratio: as participants measure it where slots are simulated, else the share of capacity that is offered, at most 1.
pub(crate) fn busy_ratio(o: &Outcome) -> &Mean {
    if o.cbr.count > 0 {
        &o.cbr
    } else {
        &o.field.taken
    }
}

/// The age in seconds below or at which a share of all lies, from a histogram in steps; none of nothing.
pub(crate) fn age_quantile(ages: &[u64], share: f64) -> Option<f64> {
    let all: u64 = ages.iter().sum();
    let rank = (share * all as f64).ceil().max(1.0) as u64;
    let mut sum = 0;
    let at = ages.iter().position(|&count| {
        sum += count;
        sum >= rank
    })?;
    Some(at as f64 * covey_traffic::STEP_US as f64 / 1e6)
}

/// Distances over which delivery of beacons is told.
pub(crate) const DELIVERY_RANGES: [DeliveryRange; 5] = {
    let bins = DISTANCE_BINS / 5;
    let mut ranges = [DeliveryRange { first: 0, bins }; 5];
    let mut at = 0;
    while at < ranges.len() {
        ranges[at].first = at * bins;
        at += 1;
    }
    ranges
};

/// Some of the distance bins of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveryRange {
    first: usize,
    bins: usize,
}

impl DeliveryRange {
    /// From and to, in metres.
    pub(crate) fn metres(self) -> [f64; 2] {
        [self.first, self.first + self.bins].map(|bin| bin as f64 * DISTANCE_BIN_M)
    }

    /// Pairs of a sampled sender's beacon and a receiver in range, and those delivered.
    pub(crate) fn reception(self, o: &Outcome) -> [u64; 2] {
        let bins = o.reception.iter().skip(self.first).take(self.bins);
        bins.fold([0; 2], |sum, bin| [sum[0] + bin[0], sum[1] + bin[1]])
    }

    /// The time between two beacons received of the same sender.
    pub(crate) fn gap(self, o: &Outcome) -> Mean {
        let bins = o.inter_reception.iter().skip(self.first).take(self.bins);
        bins.fold(Mean::default(), |sum, bin| Mean {
            sum: sum.sum + bin.sum,
            count: sum.count + bin.count,
        })
    }

    /// What a column of the table of runs is called that tells `what` of it.
    pub(crate) fn column(self, what: &str) -> String {
        let [from, to] = self.metres();
        format!("sampled_{what}_{from}_{to}m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_quantile_where_there_are_any() {
        assert_eq!(age_quantile(&[], 0.95), None);
        assert_eq!(age_quantile(&[0, 0], 0.95), None);
        assert_eq!(age_quantile(&[1], 0.95), Some(0.0));
        // 95 of 100 are at most one step old.
        assert_eq!(age_quantile(&[50, 45, 4, 1], 0.95), Some(0.05));
        assert_eq!(age_quantile(&[50, 44, 5, 1], 0.95), Some(0.1));
    }
}
