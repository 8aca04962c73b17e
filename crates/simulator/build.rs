//! Lists the arms: every file of `src/arms` but `mod.rs` is one, and becomes a module and an entry of the table.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/arms");
    let missing = |name| io::Error::other(format!("{name} is not set: cargo sets it"));
    let root = env::var("CARGO_MANIFEST_DIR").map_err(|_| missing("CARGO_MANIFEST_DIR"))?;
    let out = env::var("OUT_DIR").map_err(|_| missing("OUT_DIR"))?;
    let folder = Path::new(&root).join("src/arms");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if let Some(name) = name
            && path.extension().is_some_and(|extension| extension == "rs")
            && name != "mod"
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    let mut text = String::new();
    let mut write = |line: String| writeln!(text, "{line}").map_err(io::Error::other);
    for name in &names {
        let file = folder.join(format!("{name}.rs"));
        write(format!("#[path = {file:?}]\npub mod {name};"))?;
    }
    write("/// Every arm that comes with Covey, by the name of its file.".to_owned())?;
    write(format!("static TABLE: [&Strategy; {}] = [", names.len()))?;
    for name in &names {
        write(format!("    &{name}::ARM,"))?;
    }
    write("];".to_owned())?;
    fs::write(Path::new(&out).join("arms.rs"), text)
}
