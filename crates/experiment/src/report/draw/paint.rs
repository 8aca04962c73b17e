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
const PAINTS: [(Paint, &str, &str, &str); 30] = [
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
    (
        Paint::Mark(arms::Paint::Ochre),
        "ochre",
        "#815200",
        "#ffc66b",
    ),
    (Paint::Mark(arms::Paint::Pine), "pine", "#064839", "#20ad70"),
    (Paint::Mark(arms::Paint::Rose), "rose", "#b47d87", "#c63658"),
    (
        Paint::Mark(arms::Paint::Azure),
        "azure",
        "#0595cf",
        "#137c99",
    ),
    (Paint::Mark(arms::Paint::Navy), "navy", "#004069", "#b6d1ff"),
    (
        Paint::Mark(arms::Paint::Cobalt),
        "cobalt",
        "#015595",
        "#85b4fc",
    ),
    (
        Paint::Mark(arms::Paint::Violet),
        "violet",
        "#6817e2",
        "#5a58ef",
    ),
    (
        Paint::Mark(arms::Paint::Cornflower),
        "cornflower",
        "#3f8afb",
        "#276cc0",
    ),
    (
        Paint::Mark(arms::Paint::Umber),
        "umber",
        "#5d3000",
        "#fd9c17",
    ),
    (
        Paint::Mark(arms::Paint::Bronze),
        "bronze",
        "#6f4100",
        "#d2bb92",
    ),
    (Paint::Mark(arms::Paint::Jade), "jade", "#168362", "#147a59"),
    (
        Paint::Mark(arms::Paint::Crimson),
        "crimson",
        "#8b0044",
        "#fec3c5",
    ),
    (
        Paint::Mark(arms::Paint::Brick),
        "brick",
        "#b15841",
        "#cb4f0b",
    ),
    (
        Paint::Mark(arms::Paint::Russet),
        "russet",
        "#884a48",
        "#fc7377",
    ),
    (
        Paint::Mark(arms::Paint::Royal),
        "royal",
        "#1867fd",
        "#aabddd",
    ),
    (
        Paint::Mark(arms::Paint::Ultramarine),
        "ultramarine",
        "#0a05c1",
        "#898eaf",
    ),
    (
        Paint::Mark(arms::Paint::Indigo),
        "indigo",
        "#232b91",
        "#717bff",
    ),
    (
        Paint::Mark(arms::Paint::Slate),
        "slate",
        "#5b7fa4",
        "#1d85cc",
    ),
    (
        Paint::Mark(arms::Paint::Olive),
        "olive",
        "#8f8f56",
        "#e9f8af",
    ),
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

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// What eyes of a kind see of linear light: normal, protanopia, deuteranopia (Machado, Oliveira and Fernandes 2009).
    const EYES: [(&str, [Rgb; 3]); 3] = [
        (
            "normal",
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        (
            "protanopia",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
    ];

    fn times(matrix: &[Rgb; 3], v: Rgb) -> Rgb {
        matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
    }

    fn linear(hex: &str) -> Rgb {
        [1, 3, 5].map(|at| {
            let part = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            match part <= 0.04045 {
                true => part / 12.92,
                false => ((part + 0.055) / 1.055).powf(2.4),
            }
        })
    }

    /// Oklab, in which equal distances look about equally different.
    fn oklab(light: Rgb) -> Rgb {
        let cones = times(
            &[
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            light,
        );
        times(
            &[
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            cones.map(|cone| cone.max(0.0).cbrt()),
        )
    }

    /// How far apart two colours are for those eyes that tell them apart worst.
    fn apart(a: &str, b: &str) -> f64 {
        let seen = |hex: &str, eye: &[Rgb; 3]| {
            oklab(times(eye, linear(hex)).map(|part| part.clamp(0.0, 1.0)))
        };
        let distances = EYES.iter().map(|(_, eye)| {
            let (a, b) = (seen(a, eye), seen(b, eye));
            (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
        });
        distances.fold(f64::INFINITY, f64::min)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let [r, g, b] = linear(hex);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    /// A colour on light paper and on dark.
    fn values(paint: arms::Paint) -> [&'static str; 2] {
        let row = Paint::Mark(paint).row();
        [row.2, row.3]
    }

    /// The worst pair of the colours that Okabe and Ito give, yellow and black aside.
    fn okabe_and_ito() -> f64 {
        let known = [
            "#0072b2", "#d55e00", "#cc79a7", "#009e73", "#e69f00", "#56b4e9",
        ];
        let pairs = known.iter().flat_map(|a| known.map(|b| (*a, b)));
        let pairs = pairs.filter(|(a, b)| a != b);
        pairs
            .map(|(a, b)| apart(a, b))
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn arms_have_colours_of_their_own_that_all_eyes_tell_apart() {
        let builtin = arms::Arms::builtin();
        let all: Vec<(&str, bool, arms::Paint)> = builtin
            .iter()
            .map(|s| {
                let main = s.letter != arms::Part::No || s.name == crate::names::DEMAND;
                (s.name, main, s.look.paint)
            })
            .chain([("an own arm", false, Look::PLAIN.paint)])
            .collect();
        assert!(all.len() > 20, "{}", all.len());
        let enough = okabe_and_ito();
        assert!((0.07..0.08).contains(&enough), "{enough}");
        for (i, &(name, main, paint)) in all.iter().enumerate() {
            for &(other, also, its) in &all[..i] {
                let least = if main && also { enough } else { 0.045 };
                for (a, b) in values(paint).into_iter().zip(values(its)) {
                    let found = apart(a, b);
                    assert!(
                        found >= least,
                        "{name} {a} and {other} {b} are {found:.3} apart, expected {least:.3}"
                    );
                }
            }
        }
    }

    #[test]
    fn arms_stand_out_on_light_and_dark_paper() {
        let builtin = arms::Arms::builtin();
        let looks = builtin.iter().map(|s| s.look);
        for look in looks.chain([Look::PLAIN]) {
            let [light, dark] = values(look.paint);
            // Paper of figures; panel and ground of the viewer.
            for (paint, papers) in [
                (light, ["#ffffff", "#ffffff", "#f4f2ee"]),
                (dark, ["#15181c", "#1c2229", "#14181d"]),
            ] {
                for paper in papers {
                    let found = contrast(paint, paper);
                    assert!(found >= 3.0, "{paint} on {paper}: {found:.2}");
                }
            }
        }
    }
}
