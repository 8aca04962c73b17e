//! How wide text will be.

/// Advance widths of the printable ASCII characters of DejaVu Sans in thousandths of its size: the widest of the fonts that a
/// reader is likely to have, so that what fits here fits there.
const ADVANCE: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// An upper estimate of the width of a text of the given size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let thousandths: f64 = text
        .chars()
        .map(|c| {
            let c = if c == '\u{a0}' { ' ' } else { c };
            let index = (c as usize).wrapping_sub(0x20);
            f64::from(ADVANCE.get(index).copied().unwrap_or(838))
        })
        .sum();
    thousandths * size / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_texts_are_wider() {
        assert!(width("mmm", 12.0) > width("iii", 12.0));
        assert!((width("0.25", 10.0) - (3.0 * 6.36 + 3.18)).abs() < 1e-9);
    }
}
