//! Signal plans.
//!
//! All junctions share one cycle, as coordinated arterials in Japan do, of 120 s (Tokyo's main roads run 100 to 150 s by
//! day). The order of phases is the usual Japanese one: green with permissive right turns, yellow, green arrow for right
//! turns, yellow, all red; then the cross street. Yellow is 3 s, all red 4 s (some 30 to 40 m are to be cleared).
//!
//! Offsets are stratified: junction i starts its cycle k(i)/22 of a cycle late, k a fixed shuffle of 0 to 21. So at any
//! instant the same number of junctions (give or take one) shows the main road green, and any window of a run sees the
//! same mix of green and red. A real coordination would favour one direction and one speed; what it is there, is not known.

use std::fmt::Write as _;

use super::random::draw;

/// Seconds.
pub(crate) const CYCLE: f64 = 120.0;

/// What a way over the junction belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Movement {
    /// Main road, straight and left.
    Main,
    /// Main road, right.
    MainRight,
    /// Cross street, straight and left.
    Side,
    /// Cross street, right.
    SideRight,
}

/// One junction's plan.
pub(crate) struct Plan {
    /// Seconds by which the cycle starts late.
    pub(crate) offset: f64,
    /// Seconds of green for the cross street: 32 where it has two lanes a direction, else 24.
    pub(crate) side_green: f64,
}

/// One plan a junction, by the lanes of its cross street.
pub(crate) fn plans(cross_lanes: &[usize]) -> Vec<Plan> {
    let count = cross_lanes.len();
    // A shuffle of the strata (Fisher and Yates).
    let mut strata: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        let j = (draw("offset", i, 0, 0) * (i + 1) as f64) as usize;
        strata.swap(i, j);
    }
    cross_lanes
        .iter()
        .zip(strata)
        .map(|(&lanes, stratum)| Plan {
            offset: (stratum as f64 * CYCLE / count as f64 * 10.0).round() / 10.0,
            side_green: if lanes > 1 { 32.0 } else { 24.0 },
        })
        .collect()
}

impl Plan {
    /// The light's program as SUMO's plain XML.
    pub(crate) fn logic(&self, id: &str, links: &[Movement]) -> String {
        // Letters for main, main right, side, side right.
        let fixed = [
            (3.0, "ygrr"),
            (10.0, "rGrr"),
            (3.0, "ryrr"),
            (4.0, "rrrr"),
            (self.side_green, "rrGg"),
            (3.0, "rryy"),
            (4.0, "rrrr"),
        ];
        let main_green = CYCLE - fixed.iter().map(|(seconds, _)| seconds).sum::<f64>();
        let mut text = format!(
            "    <tlLogic id=\"{id}\" type=\"static\" programID=\"0\" offset=\"{}\">\n",
            self.offset
        );
        for (seconds, letters) in [(main_green, "Ggrr")].into_iter().chain(fixed) {
            let letters: Vec<char> = letters.chars().collect();
            let state: String = links
                .iter()
                .map(|link| match link {
                    Movement::Main => letters[0],
                    Movement::MainRight => letters[1],
                    Movement::Side => letters[2],
                    Movement::SideRight => letters[3],
                })
                .collect();
            let _ = writeln!(
                text,
                "        <phase duration=\"{seconds}\" state=\"{state}\"/>"
            );
        }
        text + "    </tlLogic>\n"
    }
}
