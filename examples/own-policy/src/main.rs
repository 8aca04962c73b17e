//! Covey with one more arm: a policy of one's own, with every command that Covey has.
//!
//! `docs/write-a-policy.md` walks through it.

mod most_uncovered;

use std::process::ExitCode;

use covey::{ArmError, Arms, Strategy};
use most_uncovered::MostUncovered;

fn main() -> Result<ExitCode, ArmError> {
    let arms = Arms::builtin().with(Strategy::own(
        "most-uncovered",
        "hosts ask whoever sees the most that nobody covers, by the byte",
        |_seed| Box::new(MostUncovered),
    ))?;
    Ok(covey::main_with(arms))
}
