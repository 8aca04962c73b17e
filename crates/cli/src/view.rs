//! `covey view`: the page that shows a recorded run.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use covey_experiment::files::{self, Pending};
use covey_simulator::recording::{Reader, RecordingError, files_in};
use covey_viewer::{Library, McapError, PLAYGROUND, Server, write_mcap};

use crate::failure::{Failure, note, print};
use crate::laboratory::file_failure;

/// Show a recorded run in the browser, or a junction to play with
///
/// Serves the page and the recordings of DIR on the loopback address until it is stopped (Ctrl-C). Everything is in this
/// program: nothing is loaded from elsewhere, and nothing but the page and the recordings can be read through it.
/// With --playground it serves a junction to draw and drag under two policies, with the simulator in the page itself.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey view examples/blind-junction\n  \
    covey view out --port 7400 --no-open\n  \
    covey view --playground\n  \
    covey view out/seed-1.covey --mcap seed-1.mcap")]
pub(crate) struct Arguments {
    /// A folder with recordings (files that end in .covey), or one recording
    #[arg(value_name = "DIR", required_unless_present = "playground")]
    path: Option<PathBuf>,
    /// A junction to draw and drag, two policies side by side
    #[arg(long, conflicts_with_all = ["path", "mcap"])]
    playground: bool,
    /// The port; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Only print the address, do not start a browser
    #[arg(long)]
    no_open: bool,
    /// Write the recording as MCAP to FILE (Foxglove opens it; `-` for standard output) instead of showing it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "no_open"])]
    mcap: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // One of them is there: clap sees to it.
    let folder = arguments.path.as_deref().unwrap_or(Path::new("."));
    if let Some(out) = &arguments.mcap {
        return export(folder, out);
    }
    let library = match arguments.playground {
        true => Library::empty(),
        false => Library::open(folder).map_err(failure)?,
    };
    for error in library.damaged() {
        note(&format!("left out: {error}"));
    }
    let names: Vec<String> = library.names().map(str::to_string).collect();
    let server = bind(arguments.port, library)?;
    let (url, what) = match arguments.playground {
        true => (
            format!("{}{PLAYGROUND}", server.url()),
            "a junction to play with".to_string(),
        ),
        false => (server.url(), names.join(", ")),
    };
    print(&format!("{url}\n"))?;
    note(&format!("{what}: open the address above; Ctrl-C stops."));
    if !arguments.no_open {
        open(&url);
    }
    server.run();
    Ok(())
}

pub(crate) fn bind(port: u16, library: Library) -> Result<Server, Failure> {
    Server::bind(port, library).map_err(|e| Failure::Input(e.to_string()))
}

fn export(folder: &Path, out: &Path) -> Result<(), Failure> {
    let files = files_in(folder).map_err(failure)?;
    let [file] = files.as_slice() else {
        return Err(Failure::input(
            folder.display(),
            format!("{} recordings, expected one: name its file", files.len()),
        ));
    };
    let mut reader = Reader::open(file).map_err(failure)?;
    let mut pending = Pending::new(out).map_err(file_failure)?;
    match write_mcap(&mut reader, &mut pending) {
        Ok(_) => pending.commit().map_err(file_failure),
        // Whoever read has seen enough.
        Err(McapError::Write(error)) if is_gone(out, &error) => Ok(()),
        Err(McapError::Recording(error)) => Err(failure(error)),
        Err(other) => Err(Failure::Other(format!("{}: {other}", out.display()))),
    }
}

/// The other end of a pipe was closed.
fn is_gone(out: &Path, error: &io::Error) -> bool {
    files::is_stream(out) && error.kind() == io::ErrorKind::BrokenPipe
}

fn failure(error: RecordingError) -> Failure {
    Failure::Input(error.to_string())
}

/// Starts the person's browser; where there is none, the address is on the screen anyway.
pub(crate) fn open(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        // Wait elsewhere, so that no dead process stays behind.
        std::thread::spawn(move || child.wait());
    }
}
