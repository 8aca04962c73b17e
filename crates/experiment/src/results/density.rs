//! Density and penetration: the letter's future work as a figure and a table.

use covey_simulator::Arms;

use super::sweep::{ArmRuns, WorldRuns};
use crate::names::ArmName;
use crate::report::draw::{
    Anchor, Look, Paint, Panel, SMALL, Scale, Stroke, Svg, TEXT, coordinate, plain,
};
use crate::report::figures::{Swatch, extent, legend};
use crate::text_table::TextTable;

/// The keys of the plan, in the order of [`WorldRuns::key`].
pub(crate) const KEYS: [&str; 2] = ["traffic.main_density", "penetration"];
/// The letter's critical density, in vehicles per km and lane.
const CRITICAL: f64 = 28.72;

/// Worlds by density: ascending densities, each with (penetration, world), ascending.
type Grid<'a> = Vec<(f64, Vec<(f64, &'a WorldRuns)>)>;

fn grid(worlds: &[WorldRuns]) -> Grid<'_> {
    let mut grid: Grid<'_> = Vec::new();
    for world in worlds {
        let [Some(density), Some(penetration)] = [0, 1].map(|i| world.key.get(i)?.number()) else {
            continue;
        };
        match grid.iter_mut().find(|(d, _)| *d == density) {
            Some((_, row)) => row.push((penetration, world)),
            None => grid.push((density, vec![(penetration, world)])),
        }
    }
    grid.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, row) in &mut grid {
        row.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    grid
}

/// The table: a row per density and penetration, deficit and load of every arm.
pub(crate) fn table(worlds: &[WorldRuns]) -> Option<String> {
    let grid = grid(worlds);
    let first = grid.first()?.1.first()?.1;
    let arms: Vec<&str> = first.arms.iter().map(|(arm, _)| arm.as_str()).collect();
    let heads: Vec<String> = arms.iter().map(|arm| format!("#{arm}")).collect();
    let mut head = vec!["#density", "#penetration, %"];
    head.extend(heads.iter().map(String::as_str));
    let mut table = TextTable::new(&head);
    for (density, row) in &grid {
        for (penetration, world) in row {
            let mut cells = vec![
                format!("{density} ({} k_c)", coordinate(density / CRITICAL)),
                format!("{:.0}", 100.0 * penetration),
            ];
            cells.extend(arms.iter().map(|arm| {
                let runs = world.arm(arm);
                match (
                    runs.and_then(ArmRuns::deficit),
                    runs.and_then(ArmRuns::load),
                ) {
                    (Some(deficit), Some(load)) => format!("{:.2} / {load:.3}", 100.0 * deficit),
                    _ => "\u{2013}".to_string(),
                }
            }));
            table.row(cells);
        }
    }
    Some(table.markdown())
}

/// What a row of panels shows.
struct Quantity {
    label: &'static str,
    of: fn(&ArmRuns) -> Option<f64>,
    unit: &'static str,
    decimals: usize,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity {
        label: "deficit (% of decision-relevant objects)",
        of: |runs| Some(100.0 * runs.deficit()?),
        unit: " %",
        decimals: 2,
    },
    Quantity {
        label: "cooperative offered load (share of channel capacity)",
        of: ArmRuns::load,
        unit: "",
        decimals: 3,
    },
];

const WIDTH: f64 = 960.0;
const PLOT: f64 = 190.0;

/// The figure: a column of panels per density, deficit above and load below, over penetration.
pub(crate) fn figure(worlds: &[WorldRuns], known: &Arms) -> Option<String> {
    let grid = grid(worlds);
    let first = grid.first()?.1.first()?.1;
    let arms: Vec<(&str, Look)> = first
        .arms
        .iter()
        .map(|(arm, _)| (arm.as_str(), ArmName::new(arm, known).look()))
        .collect();
    let items: Vec<(Swatch, String)> = arms
        .iter()
        .map(|&(arm, look)| (Swatch::Marker(look, false), arm.to_string()))
        .collect();
    let mut trial = Svg::new(WIDTH, 10.0);
    let head = legend(&mut trial, 8.0, 4.0, &items) + 44.0;
    let pitch = PLOT + 62.0;
    let mut svg = Svg::new(WIDTH, head + pitch + PLOT + 46.0);
    legend(&mut svg, 8.0, 4.0, &items);
    let width = (WIDTH - 14.0) / grid.len() as f64;
    for (i, quantity) in QUANTITIES.iter().enumerate() {
        let values = grid
            .iter()
            .flat_map(|(_, row)| row.iter())
            .flat_map(|(_, world)| {
                world
                    .arms
                    .iter()
                    .filter_map(|(_, runs)| (quantity.of)(runs))
            });
        let range = extent(values, true);
        let top = head + i as f64 * pitch;
        for (j, (density, row)) in grid.iter().enumerate() {
            let left = 40.0 + j as f64 * width;
            let right = left + width - 46.0;
            let panel = Panel {
                left,
                top,
                right,
                bottom: top + PLOT,
                x: Scale::linear((0.1, 1.05), (left, right)),
                y: Scale::linear(range, (top + PLOT, top)),
            };
            if i == 0 {
                let title = format!(
                    "{} k_c ({density} veh/km/lane)",
                    coordinate(density / CRITICAL)
                );
                svg.bold((left, top - 28.0), Anchor::Start, TEXT, &title);
            }
            draw_panel(&mut svg, &panel, quantity, (*density, row), &arms);
            if j == 0 {
                svg.text((8.0, top - 10.0), Anchor::Start, TEXT, quantity.label);
            }
        }
    }
    Some(svg.file(
        "Deficit and cooperative load of five arms over penetration, one column of panels for each density",
    ))
}

fn draw_panel(
    svg: &mut Svg,
    panel: &Panel,
    quantity: &Quantity,
    (density, row): (f64, &[(f64, &WorldRuns)]),
    arms: &[(&str, Look)],
) {
    panel.y_axis(svg, "", panel.left, 5);
    for (penetration, _) in row {
        let x = panel.x.at(*penetration);
        svg.line(
            (x, panel.top),
            (x, panel.bottom),
            Stroke::solid(Paint::GRID, 1.0),
        );
        let text = format!("{:.0}", 100.0 * penetration);
        svg.muted((x, panel.bottom + 15.0), Anchor::Middle, SMALL, &text);
    }
    svg.line(
        (panel.left, panel.bottom),
        (panel.right, panel.bottom),
        Stroke::solid(Paint::MUTED, 1.0),
    );
    let middle = (panel.left + panel.right) / 2.0;
    svg.text(
        (middle, panel.bottom + 33.0),
        Anchor::Middle,
        TEXT,
        "penetration (%)",
    );
    for &(arm, look) in arms {
        let points: Vec<(f64, f64)> = row
            .iter()
            .filter_map(|(x, world)| Some((*x, (quantity.of)(world.arm(arm)?)?)))
            .collect();
        let line: Vec<(f64, f64)> = points.iter().map(|&(x, y)| panel.point(x, y)).collect();
        svg.polyline(&line, Stroke::solid(Paint::of(look), 1.5));
        for ((x, y), at) in points.iter().zip(&line) {
            let title = format!(
                "{arm}, {density} vehicles per km and lane, {:.0} % penetration: {}{}",
                100.0 * x,
                plain(*y, quantity.decimals),
                quantity.unit
            );
            svg.titled(&title, |svg| svg.marker(*at, look, 4.0, false));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::sweep::tests::world;

    #[test]
    fn every_world_is_in_table_and_figure() {
        let mut worlds = Vec::new();
        for density in [28.72, 14.36] {
            for penetration in [0.8, 0.2] {
                let deficit = [density * 0.001, density * 0.001 + 0.01];
                worlds.push(world(
                    &[density.into(), penetration.into()],
                    &[("cam-only", &deficit), ("demand@0.15", &[0.01, 0.012])],
                ));
            }
        }
        let text = table(&worlds).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(
            rows[0],
            "| density | penetration, % | cam-only | demand@0.15 |"
        );
        assert_eq!(
            rows[2],
            "| 14.36 (0.5 k_c) | 20 | 1.94 / 0.250 | 1.10 / 0.250 |"
        );
        assert_eq!(rows.len(), 6);
        let svg = figure(&worlds, &Arms::builtin()).unwrap();
        assert_eq!(svg.matches("vehicles per km and lane, ").count(), 16);
        assert!(svg.contains("1 k_c (28.72 veh/km/lane)") && !svg.contains("NaN"));
        assert_eq!(figure(&[], &Arms::builtin()), None);
    }
}
