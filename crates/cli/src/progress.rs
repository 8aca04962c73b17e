//! How far the work is, on standard error: bars that are drawn again on a terminal, a line now and then elsewhere.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use covey_experiment::pool::PoolState;

use crate::terminal::{cut, error_width};

/// Where nobody watches a terminal, the first lines come after so long, to show that it works and how fast, ...
const FIRST_LINES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(15),
];
/// ... and then one after so long each.
const BETWEEN_LINES: Duration = Duration::from_secs(30);
/// A terminal is drawn anew after so long.
const REDRAW: Duration = Duration::from_millis(200);
/// Width of a bar.
const BAR: usize = 24;

/// Tells how far the workers are: bars on a terminal, a line now and then elsewhere.
pub(crate) struct Progress {
    /// What the jobs are called, by number.
    names: Vec<String>,
    kind: Kind,
    last: Option<Instant>,
    /// Lines of the last drawing on a terminal; elsewhere, lines so far.
    drawn: usize,
}

/// When line number `number`, from 0, is due after the start.
fn line_due(number: usize) -> Duration {
    match FIRST_LINES.get(number) {
        Some(&due) => due,
        None => {
            let more = (number + 1 - FIRST_LINES.len()) as u32;
            FIRST_LINES[FIRST_LINES.len() - 1] + BETWEEN_LINES * more
        }
    }
}

#[derive(PartialEq)]
enum Kind {
    Silent,
    Lines,
    Bars,
}

impl Progress {
    /// Progress over jobs with these names.
    pub(crate) fn new(names: Vec<String>, quiet: bool) -> Self {
        let kind = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Kind::Silent,
            (false, true) => Kind::Bars,
            (false, false) => Kind::Lines,
        };
        Self {
            names,
            kind,
            last: None,
            drawn: 0,
        }
    }

    /// Says something above the bars.
    pub(crate) fn say(&mut self, text: &str) {
        let mut said = String::new();
        match self.kind {
            Kind::Silent => return,
            Kind::Bars if self.drawn > 0 => {
                let _ = write!(said, "\x1b[{}A\x1b[J", self.drawn);
                self.drawn = 0;
                self.last = None;
            }
            Kind::Bars | Kind::Lines => {}
        }
        let _ = writeln!(said, "{text}");
        let _ = io::stderr().lock().write_all(said.as_bytes());
    }

    /// Shows the present state, if it is time to.
    pub(crate) fn show(&mut self, state: &PoolState) {
        let ended = state.workers.iter().all(|w| w.job.is_none());
        let now = Instant::now();
        // On a terminal the last state replaces the one before; a log needs no last line, for results follow.
        let due = match self.kind {
            Kind::Silent => false,
            Kind::Bars => {
                let waited = self
                    .last
                    .is_none_or(|last| now.duration_since(last) >= REDRAW);
                waited || ended
            }
            Kind::Lines => !ended && state.elapsed >= line_due(self.drawn),
        };
        if !due {
            return;
        }
        self.last = Some(now);
        let mut text = String::new();
        if self.kind == Kind::Bars {
            if self.drawn > 0 {
                let _ = write!(text, "\x1b[{}A", self.drawn);
            }
            let width = error_width();
            let lines = self.lines(state, width);
            for line in &lines {
                let _ = writeln!(text, "\x1b[2K{line}");
            }
            // Fewer lines than before: the rest is wiped.
            text.push_str("\x1b[J");
            self.drawn = lines.len();
        } else {
            let _ = writeln!(text, "{}", total(state));
            // Lines that were due in a long silence are not made up for.
            while state.elapsed >= line_due(self.drawn) {
                self.drawn += 1;
            }
        }
        // Progress that cannot be shown is no reason to stop.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Lines that fit a terminal so wide: each must be one, or the next drawing would not replace it.
    fn lines(&self, state: &PoolState, width: Option<usize>) -> Vec<String> {
        let share = state.done_share() / state.jobs.max(1) as f64;
        let total = total(state);
        let room = width.map_or(BAR, |width| width.saturating_sub(total.chars().count() + 4));
        let mut lines = match room.min(BAR) {
            0..8 => vec![total],
            cells => vec![format!("{}  {total}", bar(share, cells))],
        };
        for (number, worker) in state.workers.iter().enumerate() {
            let Some(job) = worker.job else { continue };
            let name = self.names.get(job).map_or("", String::as_str);
            let name: String = name.chars().take(44).collect();
            let left = worker
                .left()
                .map_or(String::new(), |left| format!(", {} left", for_people(left)));
            let how_far = match worker.traffic {
                true => format!("SUMO makes its traffic, {}", for_people(worker.elapsed)),
                false => format!("{:.0} %{left}", worker.share * 100.0),
            };
            lines.push(format!("  worker {}: {name}, {how_far}", number + 1));
        }
        lines.iter().map(|line| cut(line, width)).collect()
    }
}

fn total(state: &PoolState) -> String {
    let left = match state.left() {
        Some(left) if state.done < state.jobs => format!(", {} left", for_people(left)),
        _ => String::new(),
    };
    let makes = state.workers.iter().filter(|worker| worker.traffic).count();
    let phase = match makes {
        0 => "",
        _ => ", SUMO makes traffic",
    };
    format!(
        "{} of {} done, {:.0} %, {} so far{left}{phase}",
        state.done,
        state.jobs,
        100.0 * state.done_share() / state.jobs.max(1) as f64,
        for_people(state.elapsed)
    )
}

fn bar(share: f64, cells: usize) -> String {
    let full = ((share.clamp(0.0, 1.0)) * cells as f64).round() as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(cells - full))
}

/// A duration as people say it.
pub(crate) fn for_people(duration: Duration) -> String {
    let s = duration.as_secs();
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        3600..172_800 => format!("{} h {} min", s / 3600, s / 60 % 60),
        _ => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use covey_experiment::pool::WorkerState;

    use super::*;

    #[test]
    fn whole_and_workers_have_their_time_left() {
        let progress = Progress {
            names: vec!["seed 1".to_string(), "seed 2".to_string()],
            kind: Kind::Bars,
            last: None,
            drawn: 0,
        };
        let state = PoolState {
            jobs: 2,
            done: 1,
            elapsed: Duration::from_secs(90),
            workers: vec![
                WorkerState {
                    job: Some(1),
                    weight: 1,
                    share: 0.5,
                    elapsed: Duration::from_secs(30),
                    traffic: false,
                },
                WorkerState {
                    job: None,
                    weight: 1,
                    share: 1.0,
                    elapsed: Duration::from_secs(1),
                    traffic: false,
                },
            ],
        };
        for width in [40, 60] {
            let lines = progress.lines(&state, Some(width));
            assert!(lines.iter().all(|line| line.chars().count() <= width));
        }
        let mut waiting = state.clone();
        waiting.workers[0].traffic = true;
        let lines = progress.lines(&waiting, Some(120));
        assert!(
            lines[0].ends_with("30 s left, SUMO makes traffic"),
            "{lines:?}"
        );
        assert_eq!(lines[1], "  worker 1: seed 2, SUMO makes its traffic, 30 s");
        assert_eq!(
            progress.lines(&state, None),
            [
                "[##################------]  1 of 2 done, 75 %, 1 min 30 s so far, 30 s left",
                "  worker 1: seed 2, 50 %, 30 s left",
            ]
        );
    }

    #[test]
    fn a_log_hears_soon_and_then_now_and_again() {
        let due: Vec<u64> = (0..6).map(|number| line_due(number).as_secs()).collect();
        assert_eq!(due, [1, 5, 15, 45, 75, 105]);
    }

    #[test]
    fn durations_are_for_people() {
        let text = |s| for_people(Duration::from_secs(s));
        assert_eq!(text(59), "59 s");
        assert_eq!(text(3725), "1 h 2 min");
        assert_eq!(text(400_000), "4 days");
    }
}
