//! Delivery over distance in all settings, ours and theirs, as SVG.

use std::fmt::Write;

use covey_radio::highway::{Measured, Published};

/// Width and height of a panel's plot, and of the room around it, in pixels.
const PLOT: [f64; 2] = [190.0, 130.0];
const ROOM: [f64; 4] = [42.0, 26.0, 12.0, 34.0];
const COLUMNS: usize = 4;
const FARTHEST_M: f64 = 500.0;

/// The figure.
pub(super) fn draw(published: &[Published], measured: &[Measured]) -> String {
    let [left, above, right, below] = ROOM;
    let panel = [left + PLOT[0] + right, above + PLOT[1] + below];
    let rows = published.len().div_ceil(COLUMNS);
    let [width, height] = [panel[0] * COLUMNS as f64, panel[1] * rows as f64 + 30.0];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\" fill=\"#222\">\n<title>Delivery over distance, Covey and published</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (at, (theirs, ours)) in published.iter().zip(measured).enumerate() {
        let x = left + panel[0] * (at % COLUMNS) as f64;
        let y = 24.0 + above + panel[1] * (at / COLUMNS) as f64;
        axes(&mut svg, x, y, theirs, at);
        line(
            &mut svg,
            x,
            y,
            &theirs.distance_m,
            &theirs.pdr,
            "#e08214",
            "5 3",
        );
        line(
            &mut svg,
            x,
            y,
            &theirs.distance_m,
            &ours.pdr,
            "#2166ac",
            "none",
        );
    }
    let _ = write!(
        svg,
        "<line x1=\"42\" x2=\"70\" y1=\"16\" y2=\"16\" stroke=\"#2166ac\" stroke-width=\"2\"/><text x=\"76\" y=\"20\">Covey, slot by slot</text>\n\
         <line x1=\"200\" x2=\"228\" y1=\"16\" y2=\"16\" stroke=\"#e08214\" stroke-width=\"2\" stroke-dasharray=\"5 3\"/>\
         <text x=\"234\" y=\"20\">González-Martín et al. 2019, simulated</text>\n</svg>\n"
    );
    svg
}

/// A panel's frame, grid and labels.
fn axes(svg: &mut String, x: f64, y: f64, setting: &Published, at: usize) {
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let level = y + PLOT[1] * (1.0 - share);
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" x2=\"{:.0}\" y1=\"{level:.1}\" y2=\"{level:.1}\" stroke=\"#ddd\"/>",
            x + PLOT[0]
        );
        if at.is_multiple_of(COLUMNS) {
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{:.0} %</text>",
                x - 5.0,
                level + 4.0,
                100.0 * share
            );
        }
    }
    for metres in [0.0, 250.0, 500.0] {
        // The last one stays within the figure.
        let anchor = if metres < FARTHEST_M { "middle" } else { "end" };
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{metres} m</text>",
            x + PLOT[0] * metres / FARTHEST_M,
            y + PLOT[1] + 15.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{:.1}\" font-weight=\"bold\">{} subch., {} dBm, {} Hz, {}/m</text>",
        y - 7.0,
        setting.subchannels,
        setting.tx_dbm,
        setting.rate_hz,
        setting.vehicles_per_m
    );
}

fn line(
    svg: &mut String,
    x: f64,
    y: f64,
    metres: &[f64],
    shares: &[f64],
    colour: &str,
    dashes: &str,
) {
    let points: Vec<String> = metres
        .iter()
        .zip(shares)
        .map(|(metres, share)| {
            let at = [
                x + PLOT[0] * metres / FARTHEST_M,
                y + PLOT[1] * (1.0 - share),
            ];
            format!("{:.1},{:.1}", at[0], at[1])
        })
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>",
        points.join(" ")
    );
}
