//! Colours and marker shapes.
//!
//! The colours are those of Okabe and Ito, which stay apart for readers with any of the common kinds of colour blindness; a
//! shape goes with each, so that nothing is told by colour alone.

use super::coordinate;

/// A colour with a light and a dark value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Paper,
    Ink,
    Muted,
    Grid,
    Blue,
    Vermillion,
    Purple,
    Green,
    Orange,
    Sky,
    Yellow,
}

/// Name, value on light paper, value on dark paper.
const PAINTS: [(Paint, &str, &str, &str); 11] = [
    (Paint::Paper, "paper", "#ffffff", "#15181c"),
    (Paint::Ink, "ink", "#1b1f24", "#e8eaed"),
    (Paint::Muted, "muted", "#59616b", "#a3abb5"),
    (Paint::Grid, "grid", "#dfe3e8", "#333a42"),
    (Paint::Blue, "blue", "#0072b2", "#2f9be0"),
    (Paint::Vermillion, "vermillion", "#d55e00", "#e8732a"),
    (Paint::Purple, "purple", "#cc79a7", "#d98fb8"),
    (Paint::Green, "green", "#009e73", "#13b389"),
    (Paint::Orange, "orange", "#e69f00", "#eeaf1f"),
    (Paint::Sky, "sky", "#56b4e9", "#7cc8f2"),
    (Paint::Yellow, "yellow", "#f0e442", "#f0e442"),
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

/// A marker's outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Diamond,
    TriangleUp,
    TriangleDown,
    Pentagon,
    Hexagon,
    Star,
    Cross,
}

/// Colour and shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) paint: Paint,
    pub(crate) shape: Shape,
}

/// How a strategy looks in every figure.
pub(crate) fn look(strategy: &str) -> Look {
    let (paint, shape) = match strategy {
        "proposed" => (Paint::Blue, Shape::Circle),
        "random" => (Paint::Vermillion, Shape::TriangleUp),
        "random-redraw" => (Paint::Purple, Shape::TriangleDown),
        "cpm-rmr" => (Paint::Green, Shape::Square),
        "cpm-etsi" => (Paint::Orange, Shape::Diamond),
        "cam-only" => (Paint::Ink, Shape::Cross),
        "coverage-only" => (Paint::Sky, Shape::Square),
        "conditional" => (Paint::Sky, Shape::Pentagon),
        "conditional-risk" => (Paint::Sky, Shape::Hexagon),
        "oracle" => (Paint::Muted, Shape::Star),
        "demand" => (Paint::Ink, Shape::Star),
        "demand-random" => (Paint::Ink, Shape::TriangleUp),
        "demand-digest" => (Paint::Ink, Shape::Square),
        "omniscient" => (Paint::Muted, Shape::Diamond),
        "proposed-lean" => (Paint::Blue, Shape::Pentagon),
        "cmass" => (Paint::Vermillion, Shape::Hexagon),
        "max-age" => (Paint::Purple, Shape::Square),
        "nearest" => (Paint::Green, Shape::TriangleDown),
        "cpm-utility" => (Paint::Orange, Shape::Hexagon),
        _ => (Paint::Yellow, Shape::Star),
    };
    Look { paint, shape }
}

/// The opening of an element of this shape, without its style.
pub(super) fn shape(shape: Shape, (x, y): (f64, f64), r: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let points: Vec<String> = corners
            .iter()
            .map(|&(dx, dy)| format!("{},{}", coordinate(x + r * dx), coordinate(y + r * dy)))
            .collect();
        format!("<polygon points=\"{}\"", points.join(" "))
    };
    match shape {
        Shape::Circle => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"",
            coordinate(x),
            coordinate(y),
            coordinate(r)
        ),
        Shape::Square => polygon(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)]),
        Shape::Diamond => polygon(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
        Shape::TriangleUp => polygon(&[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)]),
        Shape::TriangleDown => polygon(&[(0.0, 1.15), (1.1, -0.8), (-1.1, -0.8)]),
        Shape::Pentagon => polygon(&[
            (0.0, -1.1),
            (1.05, -0.34),
            (0.65, 0.89),
            (-0.65, 0.89),
            (-1.05, -0.34),
        ]),
        Shape::Hexagon => polygon(&[
            (-0.55, -0.95),
            (0.55, -0.95),
            (1.1, 0.0),
            (0.55, 0.95),
            (-0.55, 0.95),
            (-1.1, 0.0),
        ]),
        Shape::Star => polygon(&[
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
        ]),
        Shape::Cross => polygon(&[
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
        ]),
    }
}
