//! Errors of measurement as tables: spreads between seeds and windows, and how small a difference the seeds can show.

use super::draw::plain;
use crate::power::{self, Comparison, Spread};
use crate::summary::{Summary, WINDOWS};
use crate::text_table::TextTable;

fn points(value: Option<f64>) -> String {
    value.map_or_else(|| "\u{2013}".to_string(), |x| plain(x, 2))
}

/// What both tables show, and by which formula.
pub(crate) fn explanation() -> String {
    format!(
        "Deficits are noisy: seeds differ, and so do windows of one seed (the measured window cut into {WINDOWS} equal ones; mean over seeds of the standard \
         deviation between them). The smallest paired difference that N seeds show with 80 % power at 5 %, two-sided, is \
         (t(0.975, N \u{2212} 1) + t(0.8, N \u{2212} 1)) sd / sqrt(N), with sd the standard deviation of the difference between seeds: what is smaller may be \
         there and not be seen."
    )
}

/// A row per arm: how much its deficit spreads.
pub(crate) fn spreads(summary: &Summary) -> TextTable {
    let mut table = TextTable::new(&[
        "arm",
        "#deficit, %",
        "#sd between seeds, points",
        "#sd between windows of a seed, points",
    ]);
    for Spread {
        arm,
        seeds: _,
        between_seeds,
        between_windows,
    } in power::spreads(summary)
    {
        let deficit = summary.arms.get(&arm).and_then(|of| of.deficit.mean);
        table.row(vec![
            arm,
            points(deficit.map(|x| 100.0 * x)),
            points(between_seeds),
            points(between_windows),
        ]);
    }
    table
}

/// A row per comparison of the letter: the smallest difference that the seeds show.
pub(crate) fn comparisons(summary: &Summary) -> TextTable {
    let mut table = TextTable::new(&[
        "arm",
        "against",
        "#seeds",
        "#points less",
        "#sd between seeds",
        "#sd between windows of a seed",
        "#smallest difference shown",
    ]);
    for Comparison {
        better,
        worse,
        seeds,
        difference,
        between_seeds,
        between_windows,
        smallest,
    } in power::comparisons(summary)
    {
        table.row(vec![
            better,
            worse,
            seeds.to_string(),
            points(Some(difference)),
            points(between_seeds),
            points(between_windows),
            points(smallest),
        ]);
    }
    table
}
