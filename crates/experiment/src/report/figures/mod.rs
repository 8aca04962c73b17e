//! The figures, one module each. Every figure is drawn twice: wide for screens and print, narrow for phones, with text of the
//! same size in both.

pub(crate) mod benefit;
mod forest;
mod labels;
pub(crate) mod ladder;
pub(crate) mod letter;
pub(crate) mod misses;
pub(crate) mod pareto;
pub(crate) mod score;
pub(crate) mod time;
pub(crate) mod timing;

use super::draw::{Anchor, Look, Paint, SMALL, Stroke, Svg, plain, width};
use super::view::Interval;

/// For which width a figure is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Wide,
    Narrow,
}

impl Layout {
    pub(crate) fn width(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 360.0,
        }
    }

    pub(crate) fn is_wide(self) -> bool {
        self == Self::Wide
    }
}

/// A finished figure.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// Name of the file, without folder.
    pub(crate) file: &'static str,
    /// One sentence for those who cannot see it.
    pub(crate) label: String,
    wide: Svg,
    narrow: Svg,
}

impl Figure {
    /// Draws both layouts.
    pub(crate) fn new(file: &'static str, label: &str, draw: impl Fn(Layout) -> Svg) -> Self {
        Self {
            file,
            label: label.to_string(),
            wide: draw(Layout::Wide),
            narrow: draw(Layout::Narrow),
        }
    }

    /// Both layouts for the page, of which one shows.
    pub(crate) fn inline(&self) -> String {
        let mut html = self.wide.inline(&self.label, "wide");
        html.push_str(&self.narrow.inline(&self.label, "narrow"));
        html
    }

    /// The wide layout as a file of its own.
    pub(crate) fn svg(&self) -> String {
        self.wide.file(&self.label)
    }

    /// The same for papers.
    pub(crate) fn pdf(&self) -> Vec<u8> {
        self.wide.pdf(&self.label)
    }
}

/// What stands before a legend's text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Swatch {
    Marker(Look, bool),
    Line(Stroke),
    Bar(Paint, f64),
}

/// Draws a legend from the left, as many lines as it takes; the y below it.
pub(crate) fn legend(svg: &mut Svg, left: f64, top: f64, items: &[(Swatch, String)]) -> f64 {
    let right = svg.width - 4.0;
    let (mut x, mut y) = (left, top + 10.0);
    for (swatch, text) in items {
        let lead = match swatch {
            Swatch::Marker(..) => 16.0,
            Swatch::Line(_) => 30.0,
            Swatch::Bar(..) => 18.0,
        };
        let needed = lead + width(text, SMALL);
        if x > left && x + needed > right {
            x = left;
            y += 18.0;
        }
        match *swatch {
            Swatch::Marker(look, hollow) => svg.marker((x + 6.0, y - 4.0), look, 4.5, hollow),
            Swatch::Line(stroke) => svg.line((x, y - 4.0), (x + 24.0, y - 4.0), stroke),
            Swatch::Bar(paint, opacity) => {
                svg.rect((x, y - 9.0), (13.0, 10.0), paint, opacity);
            }
        }
        svg.text((x + lead, y), Anchor::Start, SMALL, text);
        x += needed + 14.0;
    }
    if items.is_empty() { top } else { y + 8.0 }
}

/// `4.9` or `4.9 [4.5, 5.3]`.
pub(crate) fn with_interval(value: Interval, decimals: usize, unit: &str) -> String {
    format!(
        "{}{unit} [{}, {}]",
        plain(value.mean, decimals),
        plain(value.lo, decimals),
        plain(value.hi, decimals)
    )
}

/// Ends of an axis that holds `values`, zero if `zero`, with a little air.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>, zero: bool) -> (f64, f64) {
    let (mut lo, mut hi) = if zero {
        (0.0, 0.0)
    } else {
        (f64::INFINITY, f64::NEG_INFINITY)
    };
    for value in values.into_iter().filter(|x| x.is_finite()) {
        lo = value.min(lo);
        hi = value.max(hi);
    }
    if !(lo.is_finite() && hi.is_finite()) || hi - lo < 1e-12 {
        let middle = if lo.is_finite() { lo } else { 0.0 };
        return (
            if zero { middle.min(0.0) } else { middle - 0.5 },
            middle + 1.0,
        );
    }
    let air = (hi - lo) * 0.05;
    (
        if lo < 0.0 || !zero { lo - air } else { lo },
        if hi > 0.0 || !zero { hi + air } else { hi },
    )
}
