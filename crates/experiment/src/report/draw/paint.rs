//! Colours and marker shapes.
//!
//! What an arm looks like is told by the table of arms; here is how it is drawn.

use covey_simulator::arms;
pub(crate) use covey_simulator::arms::{Look, Shape};

use super::coordinate;

/// A colour with a light and a dark value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// What everything is drawn on.
    Paper,
    /// Lines to read values by.
    Grid,
    /// One of the colours that arms may have.
    Mark(arms::Paint),
}

impl Paint {
    pub(crate) const PAPER: Self = Self::Paper;
    pub(crate) const GRID: Self = Self::Grid;
    pub(crate) const INK: Self = Self::Mark(arms::Paint::Ink);
    pub(crate) const MUTED: Self = Self::Mark(arms::Paint::Muted);
    pub(crate) const BLUE: Self = Self::Mark(arms::Paint::Blue);
    pub(crate) const VERMILLION: Self = Self::Mark(arms::Paint::Vermillion);
    pub(crate) const PURPLE: Self = Self::Mark(arms::Paint::Purple);
    pub(crate) const GREEN: Self = Self::Mark(arms::Paint::Green);
    pub(crate) const ORANGE: Self = Self::Mark(arms::Paint::Orange);
    pub(crate) const SKY: Self = Self::Mark(arms::Paint::Sky);
    pub(crate) const YELLOW: Self = Self::Mark(arms::Paint::Yellow);

    /// Of an arm's marks and lines.
    pub(crate) const fn of(look: Look) -> Self {
        Self::Mark(look.paint)
    }
}

/// Name, value on light paper, value on dark paper.
const PAINTS: [(Paint, &str, &str, &str); 11] = [
    (Paint::PAPER, "paper", "#ffffff", "#15181c"),
    (Paint::INK, "ink", "#1b1f24", "#e8eaed"),
    (Paint::MUTED, "muted", "#59616b", "#a3abb5"),
    (Paint::GRID, "grid", "#dfe3e8", "#333a42"),
    (Paint::BLUE, "blue", "#0072b2", "#2f9be0"),
    (Paint::VERMILLION, "vermillion", "#d55e00", "#e8732a"),
    (Paint::PURPLE, "purple", "#cc79a7", "#d98fb8"),
    (Paint::GREEN, "green", "#009e73", "#13b389"),
    (Paint::ORANGE, "orange", "#e69f00", "#eeaf1f"),
    (Paint::SKY, "sky", "#56b4e9", "#7cc8f2"),
    (Paint::YELLOW, "yellow", "#f0e442", "#f0e442"),
];

impl Paint {
    fn row(self) -> &'static (Paint, &'static str, &'static str, &'static str) {
        // Every variant is listed; the first stands in only to keep this free of panics.
        PAINTS
            .iter()
            .find(|row| row.0 == self)
            .unwrap_or(&PAINTS[0])
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().1
    }

    /// The value on light paper.
    pub(crate) fn light(self) -> &'static str {
        self.row().2
    }
}

/// The style sheet of all figures: variables for both colour schemes, print always on light paper, and the classes.
pub(crate) fn css() -> String {
    let variables = |dark: bool| -> String {
        PAINTS
            .iter()
            .map(|&(_, name, light, night)| {
                format!("--{name}:{};", if dark { night } else { light })
            })
            .collect()
    };
    let classes: String = PAINTS
        .iter()
        .map(|(_, name, _, _)| {
            format!(".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}")
        })
        .collect();
    format!(
        ":root{{{}}}@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}{classes}",
        variables(false),
        variables(true)
    )
}

/// The corners of a shape; a circle has many.
pub(super) fn corners(shape: Shape, (x, y): (f64, f64), r: f64) -> Vec<(f64, f64)> {
    let place = |&(dx, dy): &(f64, f64)| (x + r * dx, y + r * dy);
    match outline(shape) {
        Some(corners) => corners.iter().map(place).collect(),
        None => (0..32)
            .map(|i| f64::from(i) / 32.0 * std::f64::consts::TAU)
            .map(|turn| place(&(turn.cos(), turn.sin())))
            .collect(),
    }
}

/// The opening of an element of this shape, without its style.
pub(super) fn shape(shape: Shape, (x, y): (f64, f64), r: f64) -> String {
    let Some(corners) = outline(shape) else {
        return format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"",
            coordinate(x),
            coordinate(y),
            coordinate(r)
        );
    };
    let points: Vec<String> = corners
        .iter()
        .map(|&(dx, dy)| format!("{},{}", coordinate(x + r * dx), coordinate(y + r * dy)))
        .collect();
    format!("<polygon points=\"{}\"", points.join(" "))
}

/// Corners of a marker of radius 1 around 0; none for the circle.
fn outline(shape: Shape) -> Option<&'static [(f64, f64)]> {
    Some(match shape {
        Shape::Circle => return None,
        Shape::Square => &[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
        Shape::Diamond => &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
        Shape::TriangleUp => &[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)],
        Shape::TriangleDown => &[(0.0, 1.15), (1.1, -0.8), (-1.1, -0.8)],
        Shape::Pentagon => &[
            (0.0, -1.1),
            (1.05, -0.34),
            (0.65, 0.89),
            (-0.65, 0.89),
            (-1.05, -0.34),
        ],
        Shape::Hexagon => &[
            (-0.55, -0.95),
            (0.55, -0.95),
            (1.1, 0.0),
            (0.55, 0.95),
            (-0.55, 0.95),
            (-1.1, 0.0),
        ],
        Shape::Star => &[
            (0.0, -1.25),
            (0.32, -0.4),
            (1.19, -0.39),
            (0.51, 0.17),
            (0.73, 1.01),
            (0.0, 0.53),
            (-0.73, 1.01),
            (-0.51, 0.17),
            (-1.19, -0.39),
            (-0.32, -0.4),
        ],
        Shape::Cross => &[
            (-1.0, -0.6),
            (-0.6, -1.0),
            (0.0, -0.4),
            (0.6, -1.0),
            (1.0, -0.6),
            (0.4, 0.0),
            (1.0, 0.6),
            (0.6, 1.0),
            (0.0, 0.4),
            (-0.6, 1.0),
            (-1.0, 0.6),
            (-0.4, 0.0),
        ],
    })
}
