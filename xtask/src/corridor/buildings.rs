//! Rows of buildings along the roads.
//!
//! Statistics (see `scenarios/tamagawa/PROVENANCE.md`): along the main road, heights are log-normal with median 15 m and
//! 90th percentile 43 m, as measured within 50 m of the real road; plots have 8 to 25 m of frontage and 10 to 20 m of
//! depth, stand 3 to 4 m from the kerb (the footway) and 0.3 to 0.8 m from each other, with an alley of 2 to 4 m after
//! one plot in eight. Along the cross streets: median 10 m, 90th percentile 20 m, 8 to 16 m by 9 to 14 m, 2 to 2.5 m
//! from the kerb. Rows run right up to the corners, where a triangle of 2 m is cut off, as building law asks for.

use super::facts::{MainRoad, carriageway_offset};
use super::random::{between, draw, log_normal};
use super::roads::{Arm, MAIN_LANE_WIDTH, MAIN_LANES, STUB, arms};
use super::shapes::{Convex, Point};

/// A building to be written.
pub(crate) struct Building {
    pub(crate) outline: Convex,
    /// Metres; 0 until heights are dealt out.
    pub(crate) height: f64,
    /// Stands along the main road.
    pub(crate) frontage: bool,
}

/// Deepest plot of the main road's rows; cross-street rows begin behind it.
const DEEPEST: f64 = 20.0;
/// Buildings stay at least so far from each other, in metres.
const GAP: f64 = 0.25;
/// Buildings stay at least so far from the edge of any lane, in metres.
const CLEARANCE: f64 = 0.75;
/// Smaller plots are not built on, in square metres.
const LEAST_AREA: f64 = 30.0;
/// Lowest and highest building, in metres.
const HEIGHTS: (f64, f64) = (5.0, 200.0);

/// Distance from the centre line to the main road's outer kerb.
fn kerb(along: f64) -> f64 {
    carriageway_offset(along) + MAIN_LANES as f64 * MAIN_LANE_WIDTH / 2.0
}

/// All buildings, in the order in which plots are taken: main road first, then cross streets, then the ends.
pub(crate) fn all(road: &MainRoad) -> Vec<Building> {
    let arms: Vec<[Arm; 2]> = (0..road.junctions.len()).map(|i| arms(road, i)).collect();
    let mut buildings = Vec::new();
    for side in 0..2 {
        main_row(road, &arms, side, &mut buildings);
    }
    for (i, pair) in arms.iter().enumerate() {
        for (side, arm) in pair.iter().enumerate() {
            let back = kerb(road.junctions[i].along) + 4.0 + DEEPEST + 0.5;
            for flank in 0..2 {
                side_row(arm, (i, side, flank), back, &mut buildings);
            }
        }
    }
    end_blocks(road, &mut buildings);
    without_overlaps(buildings)
}

/// More than a skewed cross street can move sideways along a plot, in metres.
const SKEW_REACH: f64 = 8.0;

/// Where along the main road the line of houses of a cross street meets that of the main road: beyond the street
/// (`way` 1) or before it (-1).
fn corner(road: &MainRoad, arm: &Arm, i: usize, way: f64) -> f64 {
    let along = road.junctions[i].along;
    let ahead = road.centre.smooth_direction(along);
    // From the street's axis where it passes the footway, at the middle of the setbacks.
    let lateral = kerb(along) + 3.5;
    let on_axis = arm.direction * (lateral / arm.direction.cross(ahead).abs());
    along + on_axis.dot(ahead) + way * (arm.half_width + 2.25) / arm.direction.cross(ahead).abs()
}

/// One side of the main road, from end to end; cut at the cross streets.
fn main_row(road: &MainRoad, arms: &[[Arm; 2]], side: usize, buildings: &mut Vec<Building>) {
    let sign = if side == 0 { 1.0 } else { -1.0 };
    let place = |along: f64, lateral: f64| {
        let normal = road.centre.smooth_direction(along).left();
        road.centre.at(along) + normal * (sign * lateral)
    };
    let count = road.junctions.len();
    // Blocks between cross streets, and one beyond each end.
    for block in 0..=count {
        let from = if block == 0 {
            road.junctions[0].along - STUB
        } else {
            corner(road, &arms[block - 1][side], block - 1, 1.0)
        };
        let to = if block == count {
            road.junctions[count - 1].along + STUB
        } else {
            corner(road, &arms[block][side], block, -1.0)
        };
        let mut start = from;
        let mut number = 0;
        while start < to {
            let along = start;
            let u = |purpose| draw(purpose, block, side, number);
            let mut end = along + between(8.0, 25.0, u("frontage"));
            // No sliver at the end of the block: the last plot takes what is left.
            if to - end < 10.0 {
                end = to;
            }
            let front = between(3.0, 4.0, u("setback"));
            let at_corner = (number == 0 && block > 0) || (end >= to && block < count);
            // Corner plots are deep, so that the cross street's row follows without a gap.
            let depth = if at_corner {
                DEEPEST
            } else {
                between(10.0, DEEPEST, u("depth"))
            };
            let middle = (along + end) / 2.0;
            let face = kerb(along).max(kerb(middle)).max(kerb(end)) + front;
            let next = end;
            // Corner plots reach into the cross street and are cut along it.
            let reach = |touches: bool| if touches { SKEW_REACH } else { 0.0 };
            let along = along - reach(number == 0 && block > 0);
            let end = end + reach(end >= to && block < count);
            let corners = vec![
                place(along, face),
                place(end, face),
                place(end, face + depth),
                place(along, face + depth),
            ];
            let mut outline = Convex::new(corners);
            for (i, pair) in arms.iter().enumerate() {
                // Only the streets at the ends of the block come near.
                if i + 1 == block || i == block {
                    outline = outline.and_then(|shape| cut_at_street(&shape, &pair[side], i, side));
                }
            }
            push(outline, true, buildings);
            let alley = if u("alley") < 0.125 {
                between(2.0, 4.0, u("alley width"))
            } else {
                between(0.3, 0.8, u("gap"))
            };
            start = next + alley;
            number += 1;
        }
    }
}

/// The part of a plot on its own side of a cross street, with the corner to the main road cut off.
fn cut_at_street(shape: &Convex, arm: &Arm, i: usize, side: usize) -> Option<Convex> {
    let centre = shape
        .corners()
        .iter()
        .fold(Point { x: 0.0, y: 0.0 }, |sum, &p| sum + p)
        * (1.0 / shape.corners().len() as f64);
    let left = arm.direction.cross(centre - arm.origin) > 0.0;
    let setback = between(2.0, 2.5, draw("side setback", i, side, usize::from(left)));
    let away = if left {
        arm.direction.left()
    } else {
        arm.direction.left() * -1.0
    };
    let line = arm.origin + away * (arm.half_width + setback);
    // Left of the street: keep what lies to the left of its direction, and the other way round.
    let direction = if left {
        arm.direction
    } else {
        arm.direction * -1.0
    };
    let kept = shape.left_of(line, direction)?;
    // The corner nearest to the junction: 2 m off each of its sides, if the plot reaches the street.
    let corner = *kept.corners().iter().min_by(|a, b| {
        (**a - arm.origin)
            .length()
            .total_cmp(&(**b - arm.origin).length())
    })?;
    if (corner - line).cross(arm.direction).abs() > 1.0 {
        return Some(kept);
    }
    let towards = (away + arm.direction).unit();
    let cut = corner + towards * (2.0 / 2.0_f64.sqrt());
    let across = towards.left() * -1.0;
    kept.left_of(cut, across)
}

/// One flank of a cross street, from behind the main road's row to its end.
fn side_row(
    arm: &Arm,
    (i, side, flank): (usize, usize, usize),
    back: f64,
    buildings: &mut Vec<Building>,
) {
    let away = if flank == 0 {
        arm.direction.left()
    } else {
        arm.direction.left() * -1.0
    };
    let place = |far: f64, off: f64| arm.origin + arm.direction * far + away * off;
    let mut far = back;
    let mut number = (2 * side + flank) * 1000;
    while far < arm.length {
        let u = |purpose| draw(purpose, i, number, 1);
        let end = far + between(8.0, 16.0, u("frontage"));
        let face = arm.half_width + between(2.0, 2.5, u("setback"));
        let depth = between(9.0, 14.0, u("depth"));
        let outline = Convex::new(vec![
            place(far, face),
            place(end, face),
            place(end, face + depth),
            place(far, face + depth),
        ]);
        push(outline, false, buildings);
        far = end + between(0.3, 0.8, u("gap"));
        number += 1;
    }
    // A building closes the view at the end of the street.
    let depth = 12.0;
    let reach = arm.half_width + 6.0;
    if flank == 0 {
        let outline = Convex::new(vec![
            place(arm.length + 6.0, -reach),
            place(arm.length + 6.0, reach),
            place(arm.length + 6.0 + depth, reach),
            place(arm.length + 6.0 + depth, -reach),
        ]);
        push(outline, false, buildings);
    }
}

/// What stands beyond the turnarounds, so that the road does not end in a void.
fn end_blocks(road: &MainRoad, buildings: &mut Vec<Building>) {
    let count = road.junctions.len();
    for (end, along, outwards) in [
        (0, road.junctions[0].along - STUB, -1.0),
        (1, road.junctions[count - 1].along + STUB, 1.0),
    ] {
        let direction = road.centre.smooth_direction(along) * outwards;
        let origin = road.centre.at(along);
        let front = kerb(along) + 4.0;
        for number in 0..5 {
            let from = (f64::from(number) - 2.5) * 16.0 + 0.25;
            let place =
                |ahead: f64, left: f64| origin + direction * ahead + direction.left() * left;
            let u = |purpose| draw(purpose, end, number as usize, 2);
            let depth = between(10.0, DEEPEST, u("depth"));
            let outline = Convex::new(vec![
                place(front, from),
                place(front + depth, from),
                place(front + depth, from + 15.5),
                place(front, from + 15.5),
            ]);
            push(outline, true, buildings);
        }
    }
}

fn push(outline: Option<Convex>, frontage: bool, buildings: &mut Vec<Building>) {
    if let Some(outline) = outline
        && outline.area() >= LEAST_AREA
    {
        buildings.push(Building {
            outline,
            height: 0.0,
            frontage,
        });
    }
}

/// Gives all buildings their heights: the quantiles of the documented distribution, dealt out in a fixed shuffle, so that
/// the rows have the documented median and percentile and not one sample's.
pub(crate) fn set_heights(buildings: &mut [Building]) {
    for (frontage, median, p90) in [(true, 15.0, 43.0), (false, 10.0, 20.0)] {
        let mut order: Vec<usize> = (0..buildings.len())
            .filter(|&i| buildings[i].frontage == frontage)
            .collect();
        order.sort_by(|&a, &b| draw("height", a, 0, 0).total_cmp(&draw("height", b, 0, 0)));
        let count = order.len() as f64;
        for (rank, i) in order.into_iter().enumerate() {
            let height = log_normal(median, p90, (rank as f64 + 0.5) / count);
            buildings[i].height = height.clamp(HEIGHTS.0, HEIGHTS.1);
        }
    }
}

/// Without those that would touch an earlier one.
fn without_overlaps(buildings: Vec<Building>) -> Vec<Building> {
    let mut kept: Vec<Building> = Vec::new();
    for building in buildings {
        if !kept
            .iter()
            .any(|other| near(&other.outline, &building.outline, GAP))
        {
            kept.push(building);
        }
    }
    kept
}

/// The buildings that keep clear of all `lanes` (stretches of lane as convex shapes), and how many do not.
pub(crate) fn clear_of(buildings: Vec<Building>, lanes: &[Convex]) -> (Vec<Building>, usize) {
    let before = buildings.len();
    let kept: Vec<Building> = buildings
        .into_iter()
        .filter(|building| {
            !lanes
                .iter()
                .any(|lane| near(lane, &building.outline, CLEARANCE))
        })
        .collect();
    let dropped = before - kept.len();
    (kept, dropped)
}

fn near(a: &Convex, b: &Convex, margin: f64) -> bool {
    let ((low_a, high_a), (low_b, high_b)) = (a.bounds(), b.bounds());
    low_a.x < high_b.x + margin
        && low_b.x < high_a.x + margin
        && low_a.y < high_b.y + margin
        && low_b.y < high_a.y + margin
        && a.touches(b, margin)
}
