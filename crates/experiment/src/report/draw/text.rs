//! Text: escaping, and how wide it will be.

use std::borrow::Cow;

/// Text as it stands in HTML or SVG, in an element or an attribute. Characters that XML forbids are replaced.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let plain = |c: char| {
        !matches!(c, '&' | '<' | '>' | '"' | '\'')
            && (c >= ' ' || c == '\n' || c == '\t')
            && !matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
    };
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if plain(c) => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    Cow::Owned(out)
}

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
    fn nothing_of_a_text_can_become_markup() {
        assert_eq!(
            escape("<script>\"&'\u{0}\u{1b}é"),
            "&lt;script&gt;&quot;&amp;&#39;\u{fffd}\u{fffd}é"
        );
        assert!(matches!(escape("plain text, 5.8 %"), Cow::Borrowed(_)));
    }

    #[test]
    fn wider_texts_are_wider() {
        assert!(width("mmm", 12.0) > width("iii", 12.0));
        assert!((width("0.25", 10.0) - (3.0 * 6.36 + 3.18)).abs() < 1e-9);
    }
}
