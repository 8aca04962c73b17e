//! `covey schema`: every key of a scenario file, for editors and readers.

use clap::Args;
use covey_simulator::scenario;

use crate::failure::{Failure, print};

/// Print the JSON schema of scenario files, or a table of all their keys
///
/// Both are made from the definitions that scenarios are checked with. An editor with Taplo or Even Better TOML uses the schema
/// for a file whose first line is `#:schema PATH/scenario.schema.json`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey schema\n  \
    covey schema --markdown")]
pub(crate) struct Arguments {
    /// A table of all keys instead: default, unit, range, meaning, source
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.markdown {
        return print(&scenario::markdown());
    }
    let schema = serde_json::to_string_pretty(&scenario::json_schema())
        .map_err(|error| Failure::Other(error.to_string()))?;
    print(&format!("{schema}\n"))
}
