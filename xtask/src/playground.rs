//! The playground: the simulator as WebAssembly, and the page around it, in `crates/viewer/playground`.
//!
//! Both are committed, so that building the binary needs neither Node nor another target. Beside them stands a hash of every source that
//! the WebAssembly was built from, as the compiler lists them: where one has changed since, the step `web` names it. Where the target is
//! installed and the compiler is the same, that step builds the file again and compares.

use std::path::{Path, PathBuf};

use crate::process::Call;
use crate::step_report::Report;

/// Where the built files are.
const BUILT: &str = "crates/viewer/playground";
const WASM: &str = "playground.wasm";
const SOURCE: &str = "source.txt";
/// Files of the playground that are not built from `web/`.
pub(crate) const OTHERS: [&str; 2] = [WASM, SOURCE];
/// What it is built for: standard input and output, and nothing else of the system.
const TARGET: &str = "wasm32-wasip1";
/// How many changed sources are named.
const NAMED: usize = 5;

/// Builds the WebAssembly and puts it where it belongs, with the hashes of its sources.
pub(crate) fn run(root: &Path, report: &mut Report) {
    if !is_installed(root) {
        report.complain(Ok(vec![format!(
            "the target {TARGET} is not installed: `rustup target add {TARGET}`"
        )]));
        return;
    }
    if report.call(build(root)) {
        let put = || -> Result<(), String> {
            let failed = |error: std::io::Error| format!("{BUILT}: {error}");
            let record = record(root)?;
            let wasm = std::fs::read(made(root, "wasm")).map_err(failed)?;
            std::fs::write(root.join(BUILT).join(WASM), wasm).map_err(failed)?;
            std::fs::write(root.join(BUILT).join(SOURCE), record).map_err(failed)
        };
        report.complain(put().map(|()| Vec::new()));
    }
}

/// Says what is wrong with the built file.
pub(crate) fn check(root: &Path, report: &mut Report) {
    let changed = changed(root);
    let sound = matches!(&changed, Ok(complaints) if complaints.is_empty());
    report.complain(changed);
    if !sound || !is_installed(root) {
        return;
    }
    match (recorded_compiler(root), compiler(root)) {
        (Ok(then), Ok(now)) if then == now => {
            if report.call(build(root)) {
                report.complain(compare(root));
            }
        }
        (Ok(then), Ok(now)) => report.note(format!(
            "{BUILT}/{WASM} was built by {then}, this is {now}: not compared"
        )),
        (Err(error), _) | (_, Err(error)) => report.complain(Err(error)),
    }
}

fn again() -> &'static str {
    "run `cargo xtask playground` and commit the result"
}

/// Sources that are not what the built file was made from.
fn changed(root: &Path) -> Result<Vec<String>, String> {
    let mut named = Vec::new();
    for line in recorded(root)?.lines().skip(1) {
        let Some((hash, name)) = line.split_once(' ') else {
            return Err(format!(
                "{BUILT}/{SOURCE}: found `{line}`, expected a hash and a file"
            ));
        };
        if hash_of(root, name).ok().as_deref() != Some(hash) {
            named.push(name.to_string());
        }
    }
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let more = match named.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.truncate(NAMED);
    Ok(vec![format!(
        "{BUILT}/{WASM} was built before {}{more} changed: {}",
        named.join(", "),
        again()
    )])
}

/// The file built now against the committed one.
fn compare(root: &Path) -> Result<Vec<String>, String> {
    let read = |path: PathBuf| {
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let same = read(made(root, "wasm"))? == read(root.join(BUILT).join(WASM))?;
    Ok(match same {
        true => Vec::new(),
        false => vec![format!(
            "{BUILT}/{WASM} is not what its sources give: {}",
            again()
        )],
    })
}

fn build(root: &Path) -> Call {
    let words = [
        "build",
        "--quiet",
        "--locked",
        "--profile",
        "playground",
        "--target",
        TARGET,
        "-p",
        "covey-playground",
    ];
    // No path of this machine is in the file, and the same file comes out elsewhere.
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))
        .unwrap_or_default();
    let flags = [
        format!("--remap-path-prefix={home}=/cargo"),
        format!("--remap-path-prefix={}=/covey", root.display()),
    ];
    Call::new(root, "cargo", &words).env("CARGO_ENCODED_RUSTFLAGS", &flags.join("\u{1f}"))
}

fn made(root: &Path, ending: &str) -> PathBuf {
    root.join("target")
        .join(TARGET)
        .join("playground")
        .join(format!("covey-playground.{ending}"))
}

fn is_installed(root: &Path) -> bool {
    let list = Call::new(root, "rustup", &["target", "list", "--installed"]).read();
    list.is_ok_and(|list| list.lines().any(|line| line.trim() == TARGET))
}

fn compiler(root: &Path) -> Result<String, String> {
    let version = Call::new(root, "rustc", &["--version"]).read()?;
    Ok(version.trim().to_string())
}

fn recorded(root: &Path) -> Result<String, String> {
    let file = root.join(BUILT).join(SOURCE);
    std::fs::read_to_string(file).map_err(|error| format!("{BUILT}/{SOURCE}: {error}; {}", again()))
}

fn recorded_compiler(root: &Path) -> Result<String, String> {
    Ok(recorded(root)?
        .lines()
        .next()
        .unwrap_or_default()
        .to_string())
}

/// The compiler, then a hash and a name for every source of ours that went into the file.
fn record(root: &Path) -> Result<String, String> {
    let list = made(root, "d");
    let text =
        std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let mut lines = vec![compiler(root)?];
    // A folder stands for the files in it, which are listed as well.
    let files = sources(root, &text).into_iter();
    for name in files.filter(|name| root.join(name).is_file()) {
        lines.push(format!("{} {name}", hash_of(root, &name)?));
    }
    Ok(lines.join("\n") + "\n")
}

/// The files of the repository in a list of the compiler: `TARGET: FILE FILE …`, with `\ ` for a blank in a name.
fn sources(root: &Path, list: &str) -> Vec<String> {
    let list = list.lines().next().unwrap_or_default();
    let files = list.split_once(": ").map_or("", |(_, files)| files);
    let files = files.replace("\\ ", "\u{0}");
    let mut names: Vec<String> = files
        .split(' ')
        .map(|file| file.replace('\u{0}', " "))
        .filter_map(|file| {
            let inside = Path::new(&file).strip_prefix(root).ok()?;
            let inside = inside.to_string_lossy().replace('\\', "/");
            // What build scripts wrote comes from sources that are listed.
            (!inside.starts_with("target/")).then_some(inside)
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// FNV-1a: against mistakes, not against malice.
fn hash_of(root: &Path, name: &str) -> Result<String, String> {
    let bytes = std::fs::read(root.join(name)).map_err(|error| format!("{name}: {error}"))?;
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = bytes.into_iter().fold(0xcbf2_9ce4_8422_2325u64, mix);
    Ok(format!("{hash:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_source_is_named() {
        let root = std::env::temp_dir().join(format!("covey-playground-{}", std::process::id()));
        let built = root.join(BUILT);
        std::fs::create_dir_all(&built).unwrap();
        std::fs::write(root.join("a.rs"), "one").unwrap();
        let line = |name: &str| format!("{} {name}", hash_of(&root, name).unwrap());
        std::fs::write(built.join(SOURCE), format!("rustc 1\n{}\n", line("a.rs"))).unwrap();
        assert_eq!(changed(&root).unwrap(), Vec::<String>::new());
        std::fs::write(root.join("a.rs"), "two").unwrap();
        let complaints = changed(&root).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        assert!(
            complaints[0].contains("before a.rs changed"),
            "{complaints:?}"
        );
    }

    #[test]
    fn only_our_own_sources_are_listed() {
        let list = "/r/target/x.wasm: /r/crates/a\\ b.rs /cargo/serde.rs /r/target/out/arms.rs /r/crates/a\\ b.rs\n\nmore:\n";
        assert_eq!(sources(Path::new("/r"), list), ["crates/a b.rs"]);
    }
}
