//! What Ctrl-C and a polite kill do.
//!
//! Nothing that is half done is ever kept as done, so the program may end at any instant. While seeds are computed it ends them
//! first, and says how far it got; a worker that does not end within [`PATIENCE`] is not waited for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use covey_experiment::files;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::failure::{Failure, note};

/// How long workers have to end.
const PATIENCE: Duration = Duration::from_millis(600);

/// The signals in hand.
#[derive(Debug, Clone)]
pub(crate) struct Stopping {
    stop: Arc<AtomicBool>,
    /// A signal ends the program where it is.
    at_once: Arc<AtomicBool>,
}

impl Stopping {
    /// Takes the signals in hand, once for the whole program.
    pub(crate) fn install() -> Result<&'static Self, Failure> {
        static INSTALLED: OnceLock<Stopping> = OnceLock::new();
        if let Some(installed) = INSTALLED.get() {
            return Ok(installed);
        }
        let stopping = Self {
            stop: Arc::new(AtomicBool::new(false)),
            at_once: Arc::new(AtomicBool::new(true)),
        };
        let other = |error: std::io::Error| Failure::Other(format!("signals: {error}"));
        for signal in [SIGINT, SIGTERM] {
            let at_once = || Arc::clone(&stopping.at_once);
            signal_hook::flag::register_conditional_shutdown(signal, 1, at_once())
                .map_err(other)?;
            signal_hook::flag::register(signal, Arc::clone(&stopping.stop)).map_err(other)?;
            // The second one does not wait.
            signal_hook::flag::register(signal, at_once()).map_err(other)?;
        }
        Ok(INSTALLED.get_or_init(|| stopping))
    }

    /// The flag that a signal sets.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// From now on until the value is dropped, a signal only sets the flag.
    pub(crate) fn gently(&self) -> Gently<'_> {
        self.at_once.store(false, Ordering::Relaxed);
        Gently {
            of: self,
            since: None,
        }
    }
}

/// While seeds are computed.
#[derive(Debug)]
pub(crate) struct Gently<'a> {
    of: &'a Stopping,
    since: Option<Instant>,
}

impl Gently<'_> {
    /// Ends the program where workers have had their time to end after a signal, with `word` for the user.
    pub(crate) fn look(&mut self, word: impl FnOnce() -> String) {
        if !self.of.stop.load(Ordering::Relaxed) {
            return;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() > PATIENCE {
            files::abandon();
            note(&format!("error: {}", word()));
            std::process::exit(1);
        }
    }
}

impl Drop for Gently<'_> {
    fn drop(&mut self) {
        self.of.at_once.store(true, Ordering::Relaxed);
    }
}
