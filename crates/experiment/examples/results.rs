//! What `cargo xtask results` runs: makes `results/`, figures and the generated parts of documents from finished output folders.
//!
//! `results ROOT OUT`: the top of the repository, and the folder of outputs.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use covey_experiment::results;
use covey_simulator::Arms;

fn main() -> ExitCode {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [root, out] = folders.as_slice() else {
        eprintln!("expected two folders: the top of the repository, and where outputs are");
        return ExitCode::from(2);
    };
    match results::make(root, out, &Arms::builtin()) {
        Ok(made) => {
            for path in &made.written {
                println!("wrote {}", path.display());
            }
            if made.written.is_empty() {
                println!("nothing to write: all is as the outputs say");
            }
            for remark in &made.remarks {
                println!("note: {remark}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
