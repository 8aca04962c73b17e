//! Scales, ticks and axes.

use super::{Anchor, Paint, SMALL, Stroke, Svg, TEXT, width};

/// From data to a coordinate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    /// Straight.
    Linear { data: (f64, f64), range: (f64, f64) },
    /// By decades; data above 0.
    Log { data: (f64, f64), range: (f64, f64) },
    /// Two straight pieces with a gap between them, for a few values far from the rest.
    Broken {
        near: ((f64, f64), (f64, f64)),
        far: ((f64, f64), (f64, f64)),
    },
}

fn straight(x: f64, data: (f64, f64), range: (f64, f64)) -> f64 {
    let span = data.1 - data.0;
    let share = if span.abs() > f64::EPSILON * data.0.abs() {
        (x - data.0) / span
    } else {
        0.5
    };
    range.0 + share * (range.1 - range.0)
}

impl Scale {
    pub(crate) fn linear(data: (f64, f64), range: (f64, f64)) -> Self {
        Self::Linear { data, range }
    }

    /// Where `x` lies, kept within the axis.
    pub(crate) fn at(&self, x: f64) -> f64 {
        match *self {
            Self::Linear { data, range } => straight(clamp(x, data), data, range),
            Self::Log { data, range } => {
                let log = (data.0.log10(), data.1.log10());
                straight(clamp(x, data).log10(), log, range)
            }
            Self::Broken { near, far } => {
                if x <= (near.0.1 + far.0.0) / 2.0 {
                    straight(clamp(x, near.0), near.0, near.1)
                } else {
                    straight(clamp(x, far.0), far.0, far.1)
                }
            }
        }
    }

    /// Whether `x` has a place of its own on the axis.
    pub(crate) fn shows(&self, x: f64) -> bool {
        let within = |(lo, hi): (f64, f64)| (lo..=hi).contains(&x);
        match *self {
            Self::Linear { data, .. } | Self::Log { data, .. } => within(data),
            Self::Broken { near, far } => within(near.0) || within(far.0),
        }
    }

    /// Tick values with their labels, about `count` of them.
    fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let labelled = |(lo, hi), count| {
            let ticks = ticks(lo, hi, count);
            let decimals = decimals_for(&ticks);
            ticks
                .into_iter()
                .map(|x| (x, plain(x, decimals)))
                .collect::<Vec<_>>()
        };
        match *self {
            Self::Linear { data, .. } => labelled(data, count),
            Self::Log { data, .. } => log_ticks(data, count),
            Self::Broken { near, far } => {
                let mut all = labelled(near.0, count);
                all.extend(labelled(far.0, 2));
                all
            }
        }
    }
}

fn clamp(x: f64, (lo, hi): (f64, f64)) -> f64 {
    if x.is_nan() { lo } else { x.max(lo).min(hi) }
}

/// A number with a real minus sign.
pub(crate) fn plain(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| c == '0' || c == '.') => zero.to_string(),
        Some(digits) => format!("\u{2212}{digits}"),
        None => text,
    }
}

/// Round values between `lo` and `hi`, about `count` of them.
pub(crate) fn ticks(lo: f64, hi: f64, count: usize) -> Vec<f64> {
    let span = hi - lo;
    if !span.is_finite() || span <= 0.0 {
        return vec![lo];
    }
    let rough = span / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    // The smallest round step that gives not many more than asked for.
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&step| step >= rough * 0.7)
        .unwrap_or(10.0 * power);
    let first = (lo / step - 1e-9).ceil() as i64;
    let last = (hi / step + 1e-9).floor() as i64;
    (first..=last).take(64).map(|i| i as f64 * step).collect()
}

fn log_ticks((lo, hi): (f64, f64), count: usize) -> Vec<(f64, String)> {
    let decades = (hi / lo).log10().max(0.01);
    let digits: &[f64] = if decades * 3.0 <= count as f64 + 1.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let mut all = Vec::new();
    for power in (lo.log10().floor() as i32)..=(hi.log10().ceil() as i32) {
        for digit in digits {
            let x = digit * 10f64.powi(power);
            if x >= lo * 0.999 && x <= hi * 1.001 {
                let decimals = usize::try_from(-power).unwrap_or(0);
                all.push((x, plain(x, decimals)));
            }
        }
    }
    all
}

/// Decimals that tell neighbouring ticks apart.
pub(crate) fn decimals_for(ticks: &[f64]) -> usize {
    let step = ticks
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(f64::INFINITY, f64::min);
    if !step.is_finite() || step <= 0.0 {
        return 1;
    }
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 6.0) as usize
}

/// A plot's rectangle with its two scales.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

impl Panel {
    pub(crate) fn point(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Vertical grid lines, tick labels and the label below; `label` carries the unit.
    pub(crate) fn x_axis(&self, svg: &mut Svg, label: &str, count: usize) {
        let mut free = 0.0;
        for (x, text) in self.x.ticks(count) {
            let at = self.x.at(x);
            svg.line(
                (at, self.top),
                (at, self.bottom),
                Stroke::solid(Paint::GRID, 1.0),
            );
            // A label that would touch the one before is left out; none leaves the drawing.
            let half = width(&text, SMALL) / 2.0;
            let middle = at.max(half + 1.0).min(svg.width - half - 1.0);
            if middle - half >= free {
                svg.muted((middle, self.bottom + 15.0), Anchor::Middle, SMALL, &text);
                free = middle + half + 4.0;
            }
        }
        if let Scale::Broken { near, far } = &self.x {
            let middle = (near.1.1 + far.1.0) / 2.0;
            svg.line(
                (self.left, self.bottom),
                (middle - 3.0, self.bottom),
                Stroke::solid(Paint::MUTED, 1.0),
            );
            svg.line(
                (middle + 3.0, self.bottom),
                (self.right, self.bottom),
                Stroke::solid(Paint::MUTED, 1.0),
            );
            for dx in [-3.0, 3.0] {
                svg.line(
                    (middle + dx - 2.5, self.bottom + 5.0),
                    (middle + dx + 2.5, self.bottom - 5.0),
                    Stroke::solid(Paint::MUTED, 1.2),
                );
            }
        } else {
            svg.line(
                (self.left, self.bottom),
                (self.right, self.bottom),
                Stroke::solid(Paint::MUTED, 1.0),
            );
        }
        let middle = (self.left + self.right) / 2.0;
        svg.text((middle, self.bottom + 33.0), Anchor::Middle, TEXT, label);
    }

    /// Horizontal grid lines, tick labels and the label above the panel's left edge, flush with `label_x`.
    pub(crate) fn y_axis(&self, svg: &mut Svg, label: &str, label_x: f64, count: usize) {
        for (y, text) in self.y.ticks(count) {
            let at = self.y.at(y);
            svg.line(
                (self.left, at),
                (self.right, at),
                Stroke::solid(Paint::GRID, 1.0),
            );
            svg.muted((self.left - 6.0, at + 4.0), Anchor::End, SMALL, &text);
        }
        svg.text((label_x, self.top - 10.0), Anchor::Start, TEXT, label);
    }

    /// A marked vertical line across the panel.
    pub(crate) fn rule_x(&self, svg: &mut Svg, x: f64) {
        let at = self.x.at(x);
        svg.line(
            (at, self.top),
            (at, self.bottom),
            Stroke::solid(Paint::INK, 1.2),
        );
    }

    /// A marked horizontal line across the panel.
    pub(crate) fn rule_y(&self, svg: &mut Svg, y: f64, stroke: Stroke) {
        let at = self.y.at(y);
        svg.line((self.left, at), (self.right, at), stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 6.6, 4), vec![0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(-0.11, 0.5, 4), vec![0.0, 0.2, 0.4]);
        assert_eq!(ticks(3.0, 3.0, 4), vec![3.0]);
        assert_eq!(ticks(0.0, f64::NAN, 4), vec![0.0]);
        assert_eq!(decimals_for(&[0.0, 0.05, 0.1]), 2);
        assert_eq!(decimals_for(&[0.0, 10.0]), 0);
    }

    #[test]
    fn scales_stay_on_the_axis() {
        let scale = Scale::linear((0.0, 10.0), (100.0, 200.0));
        assert_eq!(scale.at(5.0), 150.0);
        assert_eq!(scale.at(50.0), 200.0);
        assert_eq!(scale.at(f64::NAN), 100.0);
        let broken = Scale::Broken {
            near: ((0.0, 0.5), (0.0, 80.0)),
            far: ((1.2, 1.4), (90.0, 100.0)),
        };
        assert_eq!(broken.at(0.25), 40.0);
        assert_eq!(broken.at(1.3), 95.0);
        assert!(broken.shows(0.4) && broken.shows(1.4) && !broken.shows(0.8));
        let log = Scale::Log {
            data: (0.1, 10.0),
            range: (0.0, 100.0),
        };
        assert_eq!(log.at(1.0), 50.0);
        let labels: Vec<String> = log.ticks(8).into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["0.1", "0.2", "0.5", "1", "2", "5", "10"]);
    }

    #[test]
    fn a_minus_is_a_minus_and_zero_has_none() {
        assert_eq!(plain(-0.25, 2), "\u{2212}0.25");
        assert_eq!(plain(-0.001, 2), "0.00");
    }
}
