//! `covey arms`: the policies that can be compared.

use clap::Args;
use covey_simulator::Arm;
use covey_simulator::arm::STRATEGIES;
use serde_json::json;

use crate::failure::{Failure, print};
use crate::table::Table;

/// List the arms: the policies that can be compared
///
/// B is the allowance: the share of a tile's capacity that its host may spend on reports and on its own broadcast.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  covey arms\n  covey arms --json")]
pub(crate) struct Arguments {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let letter: Vec<String> = Arm::letter().iter().map(ToString::to_string).collect();
    if arguments.json {
        let arms: Vec<_> = STRATEGIES
            .iter()
            .map(|s| json!({"name": s.name(), "hosted": s.is_hosted(), "description": s.description()}))
            .collect();
        return print(&format!("{}\n", json!({"arms": arms, "reproduce": letter})));
    }
    let mut table = Table::new(1, &["arm", "what it does"]);
    for strategy in STRATEGIES {
        let name = match strategy.is_hosted() {
            true => format!("{}@B", strategy.name()),
            false => strategy.name().to_string(),
        };
        table.row(vec![name, strategy.description().to_string()]);
    }
    print(&format!(
        "{}\n`covey reproduce` runs {}: {}\n",
        table.render(),
        letter.len(),
        letter.join(", ")
    ))
}
