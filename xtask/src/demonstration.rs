//! The bundled demonstration, recorded anew by the command that its README names.

use std::path::Path;
use std::process::Command;

const FOLDER: &str = "examples/blind-junction";

/// Records it with a release build of this source, and puts it where it belongs.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(root.join(FOLDER).join("README.md"))
        .map_err(|error| format!("{FOLDER}/README.md: {error}"))?;
    let command = text
        .lines()
        .find_map(|line| line.strip_prefix("covey run "));
    let command = command.ok_or_else(|| format!("{FOLDER}/README.md names no `covey run`"))?;
    let out = root.join("target/demonstration");
    // Where there was nothing, there is nothing to remove.
    let _ = std::fs::remove_dir_all(&out);
    let build = [
        "run",
        "--quiet",
        "--locked",
        "--release",
        "-p",
        "covey",
        "--",
    ];
    let status = Command::new("cargo")
        .current_dir(root)
        .args(build)
        .arg("run")
        .args(command.split_whitespace())
        .arg("--out")
        .arg(&out)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("`covey run {command}` did not end well: {status}"));
    }
    let unreadable = |error: std::io::Error| format!("{}: {error}", out.display());
    for entry in std::fs::read_dir(&out).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".covey") {
            std::fs::copy(entry.path(), root.join(FOLDER).join(&name))
                .map_err(|error| format!("{FOLDER}/{name}: {error}"))?;
            println!("{FOLDER}/{name}");
        }
    }
    Ok(())
}
