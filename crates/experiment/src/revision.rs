//! Which program this is.

use std::sync::OnceLock;

/// The commit that the program was built from, with `+changes` where the source differed from it.
pub const REVISION: &str = env!("COVEY_REVISION");

/// The program itself, by the hash of its file: what was computed by another one is never mixed in. The revision where the file
/// cannot be read.
#[must_use]
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        std::env::current_exe()
            .ok()
            .and_then(|file| crate::world::hash_file(&file).ok())
            .unwrap_or_else(|| REVISION.to_string())
    })
}
