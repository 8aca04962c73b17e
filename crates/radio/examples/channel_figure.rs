//! Writes docs/figures/channel-delivery.svg, or the file named as argument: delivery over distance
//! by link state and load, averaged over fading.

use std::fmt::Write as _;
use std::path::PathBuf;

use covey_radio::{Blockage, Channel, LinkKind};

/// Offered load over capacity, colour (Okabe and Ito's set, safe for colour-blind readers), dashes.
const LOADS: [(f64, &str, &str); 5] = [
    (0.0, "#000000", ""),
    (0.3, "#0072B2", "9 3"),
    (0.64, "#009E73", "5 3"),
    (0.93, "#E69F00", "2 3"),
    (1.99, "#D55E00", "9 3 2 3"),
];
const STATES: [(LinkKind, &str); 3] = [
    (LinkKind::Los, "line of sight (LOS)"),
    (LinkKind::NlosV, "behind a car (NLOSv)"),
    (LinkKind::Nlos, "behind a building (NLOS)"),
];
const PANEL: (f64, f64) = (250.0, 230.0);
const LEFT: f64 = 62.0;
const TOP: f64 = 62.0;
const GAP: f64 = 34.0;
const MOST_M: f64 = 500.0;

fn main() -> std::io::Result<()> {
    let default = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/figures/channel-delivery.svg"
    );
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(default), PathBuf::from);
    std::fs::write(path, figure(&Channel::default()))
}

/// Share of offered messages that arrive, for a receiver that sends ten times a second.
fn delivery(channel: &Channel, distance_m: f64, kind: LinkKind, load: f64) -> f64 {
    Channel::kept_share(load)
        * (1.0 - channel.half_duplex_loss(10.0))
        * (1.0 - channel.mean_block_error(distance_m, kind, Blockage::Partial))
        * (1.0 - channel.collision_loss(load, distance_m))
}

fn figure(channel: &Channel) -> String {
    let width = LEFT + 3.0 * PANEL.0 + 2.0 * GAP + 24.0;
    let height = TOP + PANEL.1 + 50.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" role=\"img\" \
         aria-label=\"Delivery over distance for three link states and five loads\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    labels(&mut svg);
    curves(&mut svg, channel);
    svg + "</svg>\n"
}

/// Titles, axes' numbers and the key.
fn labels(svg: &mut String) {
    let mut text = |x: f64, y: f64, anchor: &str, more: &str, content: &str| {
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{more}>{content}</text>"
        );
    };
    let middle = TOP + PANEL.1 / 2.0;
    let turned = format!(" transform=\"rotate(-90 16 {middle})\"");
    text(
        16.0,
        middle,
        "middle",
        &turned,
        "share of offered messages delivered",
    );
    text(LEFT, 20.0, "start", "", "offered load / capacity:");
    for (n, (load, ..)) in LOADS.iter().enumerate() {
        text(
            LEFT + 190.0 + 90.0 * n as f64,
            20.0,
            "start",
            "",
            &load.to_string(),
        );
    }
    for (n, (_, title)) in STATES.iter().enumerate() {
        let left = LEFT + n as f64 * (PANEL.0 + GAP);
        text(
            left + PANEL.0 / 2.0,
            TOP - 10.0,
            "middle",
            " font-weight=\"bold\"",
            title,
        );
        text(
            left + PANEL.0 / 2.0,
            TOP + PANEL.1 + 38.0,
            "middle",
            "",
            "distance (m)",
        );
        for metres in (0..=500).step_by(100) {
            let x = left + f64::from(metres) / MOST_M * PANEL.0;
            text(x, TOP + PANEL.1 + 18.0, "middle", "", &metres.to_string());
        }
    }
    for fifths in 0..=5 {
        let share = f64::from(fifths) / 5.0;
        text(
            LEFT - 8.0,
            TOP + (1.0 - share) * PANEL.1 + 4.0,
            "end",
            "",
            &format!("{share:.1}"),
        );
    }
}

/// Grids, ranges and delivery over distance, a panel for each state.
fn curves(svg: &mut String, channel: &Channel) {
    let mut line = |points: &str, colour: &str, stroke: &str, dashes: &str| {
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"{stroke}\" stroke-dasharray=\"{dashes}\"/>"
        );
    };
    for (n, (_, colour, dashes)) in LOADS.iter().enumerate() {
        let x = LEFT + 150.0 + 90.0 * n as f64;
        line(&format!("{x},16 {},16", x + 34.0), colour, "2", dashes);
    }
    for (n, (kind, _)) in STATES.iter().enumerate() {
        let left = LEFT + n as f64 * (PANEL.0 + GAP);
        let point = |metres: f64, share: f64| {
            let (x, y) = (
                left + metres / MOST_M * PANEL.0,
                TOP + (1.0 - share) * PANEL.1,
            );
            format!("{x:.1},{y:.1} ")
        };
        for fifths in 0..=5 {
            let share = f64::from(fifths) / 5.0;
            line(
                &(point(0.0, share) + &point(MOST_M, share)),
                "#dddddd",
                "0.7",
                "",
            );
        }
        for metres in (0..=500).step_by(100).map(f64::from) {
            line(
                &(point(metres, 0.0) + &point(metres, 1.0)),
                "#dddddd",
                "0.7",
                "",
            );
        }
        line(
            &(point(0.0, 1.0) + &point(0.0, 0.0) + &point(MOST_M, 0.0)),
            "#333333",
            "1",
            "",
        );
        let range_m = channel.parameters().range_m(*kind).min(MOST_M);
        // Beyond its range a link delivers nothing.
        line(
            &(point(range_m, 0.0) + &point(range_m, 1.0)),
            "#888888",
            "1.5",
            "",
        );
        for (load, colour, dashes) in LOADS {
            let points: String = (0..=(range_m / 5.0) as u32)
                .map(|n| 5.0 * f64::from(n))
                .map(|metres| point(metres, delivery(channel, metres, *kind, load)))
                .collect();
            line(points.trim_end(), colour, "2", dashes);
        }
    }
}
