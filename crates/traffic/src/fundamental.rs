//! The fundamental diagram: flow over density on the main road, and the critical density where flow is highest.
//!
//! Flow and density are Edie's: vehicle-metres and vehicle-seconds on the road over its lane-metres and the time, so that flow
//! is density times mean speed whatever the signals do. They count everybody on the main road, its junctions included.
//!
//! It works for any [`Source`]: [`measure`] takes a function that makes one for a density and a seed.

use crate::Source;
use covey_world::Frame;
use covey_world::network::{EdgeIx, Network, Turn};
use std::fmt::Write as _;
use thiserror::Error;

/// The road that is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MainRoad {
    /// For each lane of the network: it is part of the road, internal lanes between its edges included.
    pub lanes: Vec<bool>,
    /// Kilometres of lane, the straight ways over its junctions included.
    pub lane_km: f64,
}

impl MainRoad {
    /// The road made up of `edges`.
    #[must_use]
    pub fn new(network: &Network, edges: &[EdgeIx]) -> Self {
        let mut lanes = vec![false; network.lanes.len()];
        let mut metres = 0.0;
        for edge in edges {
            for lane in &network.edges[edge.index()].lanes {
                let data = &network.lanes[lane.index()];
                if data.drivable {
                    lanes[lane.index()] = true;
                    metres += data.shape.length();
                }
            }
        }
        let streets = lanes.clone();
        for connection in &network.connections {
            if streets[connection.from.index()] && streets[connection.to.index()] {
                for lane in &connection.via {
                    lanes[lane.index()] = true;
                    if connection.turn == Turn::Straight {
                        metres += network.lanes[lane.index()].shape.length();
                    }
                }
            }
        }
        Self {
            lanes,
            lane_km: metres / 1000.0,
        }
    }
}

/// Which densities to measure, and for how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Densities to set, vehicles per km and lane, ascending.
    pub densities: Vec<f64>,
    /// Seeds; the results are their means.
    pub seeds: Vec<u64>,
    /// Seconds measured in each run, after whatever warm-up the source has. Whole signal cycles are best.
    pub seconds: f64,
}

impl Default for Plan {
    /// 5 to 100 vehicles per km and lane in 11 steps, one seed, 240 s.
    fn default() -> Self {
        Self {
            densities: vec![
                5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 85.0, 100.0,
            ],
            seeds: vec![1],
            seconds: 240.0,
        }
    }
}

/// One point of the diagram: means over the seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The density set, vehicles per km and lane.
    pub set: f64,
    /// The density found, vehicles per km and lane.
    pub density: f64,
    /// Flow, vehicles per hour and lane.
    pub flow: f64,
    /// Mean speed, m/s.
    pub speed: f64,
    /// Share of vehicles slower than 0.1 m/s.
    pub stopped: f64,
}

/// Where flow is highest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Critical {
    /// Flow falls on both sides.
    Found {
        /// The critical density k_c, vehicles per km and lane: the top of a parabola through the samples around the highest.
        density: f64,
        /// The flow there, vehicles per hour and lane.
        flow: f64,
    },
    /// Flow still rises (or does not fall by 2 %) at the highest density measured.
    StillRising {
        /// That density.
        at: f64,
    },
    /// Flow falls from the lowest density on.
    Falling {
        /// That density.
        at: f64,
    },
    /// Fewer than three samples.
    TooFew,
}

/// Flow over density, as measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// The samples by ascending density.
    pub samples: Vec<Sample>,
    /// Where flow is highest.
    pub critical: Critical,
}

/// Why a diagram could not be measured.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum MeasureError<B: std::error::Error, R: std::error::Error> {
    /// The source could not be made.
    #[error("at {density} vehicles per km and lane: {source}")]
    Make {
        /// The density asked for.
        density: f64,
        source: B,
    },
    /// The source failed on the way.
    #[error("at {density} vehicles per km and lane, after {seconds} s: {source}")]
    Run {
        /// The density asked for.
        density: f64,
        seconds: f64,
        source: R,
    },
}

/// Measures the diagram of `road` with sources that `make` makes for a density and a seed.
///
/// # Errors
/// The first error of `make` or of a source.
pub fn measure<S: Source, B: std::error::Error>(
    road: &MainRoad,
    plan: &Plan,
    mut make: impl FnMut(f64, u64) -> Result<S, B>,
) -> Result<Diagram, MeasureError<B, S::Error>> {
    let mut samples = Vec::new();
    for &density in &plan.densities {
        let mut total = Totals::default();
        for &seed in &plan.seeds {
            let mut source =
                make(density, seed).map_err(|source| MeasureError::Make { density, source })?;
            total
                .watch(&mut source, road, plan.seconds)
                .map_err(|(seconds, source)| MeasureError::Run {
                    density,
                    seconds,
                    source,
                })?;
        }
        samples.push(total.sample(density, road));
    }
    samples.sort_by(|a, b| a.density.total_cmp(&b.density));
    let critical = critical(&samples);
    Ok(Diagram { samples, critical })
}

#[derive(Default)]
struct Totals {
    frames: f64,
    vehicles: f64,
    speed: f64,
    stopped: f64,
}

impl Totals {
    fn watch<S: Source>(
        &mut self,
        source: &mut S,
        road: &MainRoad,
        seconds: f64,
    ) -> Result<(), (f64, S::Error)> {
        let mut frame = Frame::default();
        let mut start = None;
        let end = (seconds * 1e6) as i64;
        let mut elapsed = 0;
        while source
            .next_frame(&mut frame)
            .map_err(|e| (elapsed as f64 / 1e6, e))?
        {
            elapsed = frame.time_us - *start.get_or_insert(frame.time_us);
            if elapsed >= end {
                break;
            }
            self.frames += 1.0;
            for vehicle in &frame.vehicles {
                let on_road = vehicle
                    .lane
                    .is_some_and(|lane| road.lanes.get(lane.index()) == Some(&true));
                if on_road {
                    self.vehicles += 1.0;
                    self.speed += vehicle.speed;
                    self.stopped += f64::from(u8::from(vehicle.speed < 0.1));
                }
            }
        }
        Ok(())
    }

    fn sample(&self, set: f64, road: &MainRoad) -> Sample {
        let vehicles = self.vehicles.max(1.0);
        let speed = self.speed / vehicles;
        let density = self.vehicles / self.frames.max(1.0) / road.lane_km.max(1e-9);
        Sample {
            set,
            density,
            flow: density * speed * 3.6,
            speed,
            stopped: self.stopped / vehicles,
        }
    }
}

/// Finds the top of the diagram.
fn critical(samples: &[Sample]) -> Critical {
    if samples.len() < 3 {
        return Critical::TooFew;
    }
    let last = samples.len() - 1;
    let mut top = 0;
    for (i, sample) in samples.iter().enumerate() {
        if sample.flow > samples[top].flow {
            top = i;
        }
    }
    let highest = samples[top].flow;
    if top == last || samples[last].flow > 0.98 * highest {
        return Critical::StillRising {
            at: samples[last].density,
        };
    }
    if top == 0 {
        return Critical::Falling {
            at: samples[0].density,
        };
    }
    // The samples around the top that are nearly as high tell its place better than the highest alone.
    let mut from = top - 1;
    let mut to = top + 1;
    while from > 0 && samples[from - 1].flow > 0.9 * highest {
        from -= 1;
    }
    while to < last && samples[to + 1].flow > 0.9 * highest {
        to += 1;
    }
    let middle = samples[top].density;
    let (a, b, c) = parabola(&samples[from..=to], middle);
    if a < 0.0 {
        let density = (middle - b / (2.0 * a)).clamp(samples[from].density, samples[to].density);
        let x = density - middle;
        return Critical::Found {
            density,
            flow: a * x * x + b * x + c,
        };
    }
    Critical::Found {
        density: middle,
        flow: highest,
    }
}

/// The least-squares parabola a x² + b x + c through flow over density minus `middle`.
fn parabola(samples: &[Sample], middle: f64) -> (f64, f64, f64) {
    let mut m = [[0.0_f64; 4]; 3];
    for sample in samples {
        let x = sample.density - middle;
        let row = [x * x, x, 1.0];
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] += row[i] * row[j];
            }
            m[i][3] += row[i] * sample.flow;
        }
    }
    for i in 0..3 {
        let pivot = (i..3)
            .max_by(|&p, &q| m[p][i].abs().total_cmp(&m[q][i].abs()))
            .unwrap_or(i);
        m.swap(i, pivot);
        if m[i][i].abs() < 1e-12 {
            return (0.0, 0.0, 0.0);
        }
        for r in 0..3 {
            if r != i {
                let factor = m[r][i] / m[i][i];
                let pivot_row = m[i];
                for (cell, p) in m[r].iter_mut().zip(pivot_row) {
                    *cell -= factor * p;
                }
            }
        }
    }
    (m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2])
}

impl std::fmt::Display for Critical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Found { density, flow } => write!(
                f,
                "critical density k_c = {density:.1} vehicles/km/lane (flow {flow:.0} vehicles/h/lane); 1.5 k_c = {:.1}",
                1.5 * density
            ),
            Self::StillRising { at } => write!(
                f,
                "critical density not found: flow is still rising, or has not fallen by 2 %, at {at:.1} vehicles/km/lane"
            ),
            Self::Falling { at } => write!(
                f,
                "critical density not found: flow falls from the lowest density measured, {at:.1} vehicles/km/lane"
            ),
            Self::TooFew => {
                f.write_str("critical density not found: at least three densities are needed")
            }
        }
    }
}

impl Diagram {
    /// The samples as a Markdown table, and the critical density.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| density set | density found (veh/km/lane) | flow (veh/h/lane) | mean speed (m/s) | stopped (%) |\n|---|---|---|---|---|\n",
        );
        for s in &self.samples {
            let _ = writeln!(
                text,
                "| {:.2} | {:.1} | {:.0} | {:.2} | {:.1} |",
                s.set,
                s.density,
                s.flow,
                s.speed,
                100.0 * s.stopped
            );
        }
        let _ = writeln!(text, "\n{}", self.critical);
        text
    }

    /// The diagram as a figure.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        let most = |value: fn(&Sample) -> f64| {
            let highest = self.samples.iter().map(value).fold(1.0, f64::max);
            let step = tick_step(highest);
            ((highest / step).ceil() * step, step)
        };
        let (x_end, x_step) = most(|s| s.density);
        let (y_end, y_step) = most(|s| s.flow);
        let (left, right, top, bottom) = (80.0, 620.0, 50.0, 370.0);
        let x = |density: f64| left + (right - left) * density / x_end;
        let y = |flow: f64| bottom - (bottom - top) * flow / y_end;
        let mut svg = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 660 430\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"660\" height=\"430\" fill=\"white\"/>\n",
        );
        let _ = writeln!(
            svg,
            "<text x=\"350\" y=\"28\" text-anchor=\"middle\" font-size=\"16\">{}</text>",
            escape(title)
        );
        for tick in ticks(x_end, x_step) {
            let at = x(tick);
            let _ = writeln!(
                svg,
                "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
                bottom + 18.0
            );
        }
        for tick in ticks(y_end, y_step) {
            let at = y(tick);
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
                left - 8.0,
                at + 4.5
            );
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333\"/>",
            right - left,
            bottom - top
        );
        let points: Vec<String> = self
            .samples
            .iter()
            .map(|s| format!("{:.1},{:.1}", x(s.density), y(s.flow)))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"1.5\"/>",
            points.join(" ")
        );
        for s in &self.samples {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"#1f5fa8\"/>",
                x(s.density),
                y(s.flow)
            );
        }
        let note = if let Critical::Found { density, .. } = self.critical {
            let at = x(density);
            let _ = writeln!(
                svg,
                "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#b03030\" stroke-dasharray=\"6 4\"/>"
            );
            format!("k_c = {density:.1}")
        } else {
            String::from("k_c not found")
        };
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#b03030\">{note}</text>",
            right - 8.0,
            bottom - 10.0
        );
        let _ = writeln!(
            svg,
            "<text x=\"350\" y=\"412\" text-anchor=\"middle\">density (vehicles per km and lane)</text>\n<text x=\"22\" y=\"210\" text-anchor=\"middle\" transform=\"rotate(-90 22 210)\">flow (vehicles per hour and lane)</text>\n</svg>"
        );
        svg
    }
}

/// 0 and every `step` up to `end`.
fn ticks(end: f64, step: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(0.0), move |tick| Some(tick + step))
        .take_while(move |&tick| tick <= end + 1e-9)
}

/// A round distance between ticks: about eight of them up to `highest`.
fn tick_step(highest: f64) -> f64 {
    let mut step = 1.0;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle().take(24) {
        if highest / step <= 8.0 {
            break;
        }
        step *= factor;
    }
    step
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(flow: impl Fn(f64) -> f64) -> Vec<Sample> {
        (1..=10)
            .map(|k| {
                let density = 10.0 * f64::from(k);
                Sample {
                    set: density,
                    density,
                    flow: flow(density),
                    speed: 1.0,
                    stopped: 0.0,
                }
            })
            .collect()
    }

    #[test]
    fn the_top_of_a_parabola_is_found_between_samples() {
        let Critical::Found { density, flow } =
            critical(&samples(|k| 500.0 - 0.2 * (k - 43.0) * (k - 43.0)))
        else {
            panic!("not found");
        };
        assert!((density - 43.0).abs() < 1e-6 && (flow - 500.0).abs() < 1e-6);
    }

    #[test]
    fn a_flow_that_does_not_fall_has_no_critical_density() {
        let rising = critical(&samples(|k| k));
        assert_eq!(rising, Critical::StillRising { at: 100.0 });
        assert!(rising.to_string().contains("still rising"));
        let flat = critical(&samples(|k| if k < 50.0 { k } else { 50.0 }));
        assert_eq!(flat, Critical::StillRising { at: 100.0 });
        assert_eq!(critical(&samples(|k| -k)), Critical::Falling { at: 10.0 });
        assert_eq!(critical(&[]), Critical::TooFew);
    }

    #[test]
    fn the_figure_names_its_axes_and_is_closed() {
        let samples = samples(|k| 500.0 - 0.2 * (k - 43.0) * (k - 43.0));
        let critical = critical(&samples);
        let svg = Diagram { samples, critical }.svg("a < b");
        assert!(svg.contains("density (vehicles per km and lane)"));
        assert!(svg.contains("flow (vehicles per hour and lane)"));
        assert!(svg.contains("a &lt; b") && svg.contains("k_c = 43.0"));
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}
