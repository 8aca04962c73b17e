//! A run that is shown while it computes: what there is of it, and how fast it may go.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use covey_simulator::Observer;
use covey_simulator::events::StepView;
use covey_simulator::recording::{Growth, Reader, RecordingError};
use serde_json::{Value, json};

/// The slowest and the fastest that a run can be told to go, in seconds of the run per second.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// A run that is under way, shared by the run, the server and whoever waits for its end.
#[derive(Debug, Clone, Default)]
pub struct Live(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    growth: Growth,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    paused: bool,
    /// Seconds of the run per second; none: as fast as it can.
    speed: Option<f64>,
    /// The moment of the run that was computed last.
    time_us: i64,
    /// That moment is measured, so that it is recorded.
    measured: bool,
    done: bool,
}

impl Live {
    /// What the run's recorder is to tell of every chunk.
    #[must_use]
    pub fn growth(&self) -> &Growth {
        &self.0.growth
    }

    /// Watches a run and holds it where it is told to.
    #[must_use]
    pub fn pace(&self) -> Pace {
        Pace {
            live: self.clone(),
            last: None,
        }
    }

    /// Lets so many seconds of the run pass in one.
    ///
    /// # Errors
    /// That is too slow or too fast; the text says so.
    pub fn set_pace(&self, speed: f64) -> Result<(), String> {
        if !SPEEDS.contains(&speed) {
            let (least, most) = (SPEEDS.start(), SPEEDS.end());
            return Err(format!("found {speed}, expected {least} to {most}"));
        }
        self.lock().speed = Some(speed);
        self.0.changed.notify_all();
        Ok(())
    }

    /// The run has ended, well or not.
    pub fn end(&self) {
        self.lock().done = true;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens what there is of the recording; where the run left nothing to follow, because its recording was there already, `file`.
    pub(crate) fn reader(&self, file: &Path) -> Result<Option<Reader>, RecordingError> {
        match Reader::growing(&self.0.growth)? {
            None if self.lock().done => Reader::open(file).map(Some),
            other => Ok(other),
        }
    }

    pub(crate) fn state(&self, cycles: u32) -> Value {
        let state = self.lock();
        json!({
            "time_s": state.time_us as f64 * 1e-6,
            "measured": state.measured,
            "cycles": cycles,
            "paused": state.paused,
            "speed": state.speed,
            "done": state.done,
        })
    }

    /// Does what the page asks for; an error says what is wrong with it.
    pub(crate) fn command(&self, words: &[&str]) -> Result<(), String> {
        match words {
            ["pause"] => self.lock().paused = true,
            ["go"] => self.lock().paused = false,
            ["speed", "full"] => self.lock().speed = None,
            ["speed", number] => {
                let speed = number.parse();
                let speed =
                    speed.map_err(|_| format!("speed: found `{number}`, expected a number"))?;
                return self.set_pace(speed);
            }
            _ => return Err("expected `pause`, `go` or `speed` with a number".to_string()),
        }
        self.0.changed.notify_all();
        Ok(())
    }
}

/// Holds a run while it is paused, and slows it down.
#[derive(Debug)]
pub struct Pace {
    live: Live,
    /// When the step before was let go, and its moment in the run.
    last: Option<(Instant, i64)>,
}

impl Observer for Pace {
    fn step(&mut self, view: &StepView<'_>) {
        let now_us = view.now.micros();
        let mut state = self.live.lock();
        state.time_us = now_us;
        state.measured = view.measured;
        loop {
            // What is not measured is not shown, so that nobody wants it slow.
            let wait = match (state.paused, state.speed, self.last) {
                (true, _, _) => Duration::from_secs(3600),
                (false, Some(speed), Some((at, then_us))) if view.measured => {
                    let due =
                        Duration::from_secs_f64((now_us - then_us).max(0) as f64 * 1e-6 / speed);
                    due.saturating_sub(at.elapsed())
                }
                _ => Duration::ZERO,
            };
            if wait.is_zero() {
                break;
            }
            let waited = self.live.0.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        self.last = Some((Instant::now(), now_us));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_and_changes_nothing() {
        let live = Live::default();
        for words in [
            &["stop"][..],
            &["speed"],
            &["speed", "0"],
            &["speed", "nan"],
            &[],
        ] {
            assert!(live.command(words).is_err(), "{words:?}");
        }
        live.command(&["pause"]).unwrap();
        live.command(&["speed", "0.25"]).unwrap();
        let state = live.state(7);
        assert_eq!(state["paused"], true);
        assert_eq!(state["speed"], 0.25);
        assert_eq!(state["cycles"], 7);
        live.command(&["speed", "full"]).unwrap();
        live.command(&["go"]).unwrap();
        let state = live.state(7);
        assert_eq!(
            (&state["paused"], &state["speed"]),
            (&json!(false), &json!(null))
        );
    }
}
