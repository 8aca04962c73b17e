//! A run that is shown in the browser while it computes.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use clap::Args;
use covey_experiment::outputs::{Beginning, Job, Output, OutputError, Recordings, Sink};
use covey_simulator::Observer;
use covey_simulator::recording::Growth;
use covey_viewer::{Library, Live, Pace};

use crate::failure::{Failure, note};
use crate::view;

// Options of a command that can show its run.
#[derive(Debug, Default, Args)]
pub(crate) struct ShowOptions {
    /// Show the run in the browser while it computes: one seed, which is recorded; the page can pause it and slow it down, and stays
    /// until Ctrl-C
    #[arg(long)]
    pub(crate) view: bool,
    /// How many seconds of the run pass in one while it is shown, 0.01 to 100, to begin with; default: as many as it can
    #[arg(long, value_name = "X", requires = "view")]
    pace: Option<f64>,
    /// The page's port; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 0, requires = "view")]
    port: u16,
    /// Only print the page's address, do not start a browser
    #[arg(long, requires = "view")]
    no_open: bool,
}

impl ShowOptions {
    /// Begins to serve the run of a seed whose results go to `out`; none where it is not to be shown.
    pub(crate) fn begin<'a>(
        &self,
        out: &'a Path,
        seeds: &'a [u64],
    ) -> Result<Option<Shown<'a>>, Failure> {
        if !self.view {
            return Ok(None);
        }
        let [seed] = *seeds else {
            let found = format!("found {} seeds, expected one", seeds.len());
            return Err(Failure::input("--view", found));
        };
        let recordings = Recordings {
            folder: out,
            seeds,
            worlds: 1,
            watched: None,
        };
        let file: PathBuf = recordings.path(&Job { world: 0, seed });
        let live = Live::default();
        if let Some(pace) = self.pace {
            live.set_pace(pace)
                .map_err(|problem| Failure::input("--pace", problem))?;
        }
        let server = view::bind(self.port, Library::live(&live, &file))?;
        let url = server.url();
        note(&format!("{url}: the run as it computes"));
        let serving = std::thread::spawn(move || server.run());
        if !self.no_open {
            view::open(&url);
        }
        Ok(Some(Shown {
            held: Held { live, recordings },
            serving,
        }))
    }
}

/// A run that is shown.
#[derive(Debug)]
pub(crate) struct Shown<'a> {
    held: Held<'a>,
    serving: JoinHandle<()>,
}

impl Shown<'_> {
    /// What holds the run where the page says so.
    pub(crate) fn output(&self) -> &dyn Output {
        &self.held
    }

    /// What the recorder tells of every chunk.
    pub(crate) fn growth(&self) -> &Growth {
        self.held.live.growth()
    }

    /// The run has ended, well or not.
    pub(crate) fn end(&self) {
        self.held.live.end();
    }

    /// Serves on until the process is ended.
    pub(crate) fn stay(self) {
        note("finished; the page stays until Ctrl-C");
        // It never ends by itself, and whatever ended it left nothing to do.
        let _ = self.serving.join();
    }
}

/// Leaves nothing, but holds the run.
#[derive(Debug)]
struct Held<'a> {
    live: Live,
    /// Where the recording is made, the run is watched.
    recordings: Recordings<'a>,
}

impl Output for Held<'_> {
    fn is_missing(&self, job: &Job, run: &str) -> bool {
        self.recordings.is_missing(job, run)
    }

    fn begin(&self, _run: &Beginning<'_>) -> Result<Box<dyn Sink + '_>, OutputError> {
        Ok(Box::new(Holding(self.live.pace())))
    }
}

struct Holding(Pace);

impl Sink for Holding {
    fn observer(&mut self) -> &mut dyn Observer {
        &mut self.0
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        Ok(())
    }
}
