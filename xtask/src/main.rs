//! Tasks.

mod corridor;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    match arguments.split_first() {
        Some((task, rest)) if task == "corridor" => match corridor::run(root, rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                corridor::say(&error);
                ExitCode::FAILURE
            }
        },
        _ => ExitCode::SUCCESS,
    }
}
