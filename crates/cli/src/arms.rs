//! `covey arms`: the policies that can be compared.

use clap::Args;
use covey_simulator::arms::{Look, Paint, Shape};
use covey_simulator::{Arm, Strategy};
use serde_json::{Value, json};

use crate::failure::{Failure, print, say};
use crate::program::Program;
use crate::terminal::output_width;
use crate::terminal_table::Table;

/// List the arms: the policies that can be compared
///
/// B is the allowance: the share of a tile's capacity that its host may spend on reports and on its own broadcast. Arms stand in the
/// order of tables, each with its marker in figures.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  covey arms\n  covey arms --json")]
pub(crate) struct Arguments {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, program: &Program) -> Result<(), Failure> {
    let known = &program.arms;
    let letter = known.letter();
    let mut added = known.beyond();
    added.retain(|arm| !letter.contains(arm));
    if arguments.json {
        let arms: Vec<Value> = known.iter().map(described).collect();
        let all = json!({"arms": arms, "reproduce": names(&letter), "beyond": names(&added)});
        return print(&format!("{all}\n"));
    }
    let mut table = Table::new(2, &["arm", "marker", "what it does"]);
    for strategy in known.iter() {
        table.row(vec![
            strategy.pattern(),
            marker(strategy.look),
            strategy.summary.to_string(),
        ]);
    }
    say(&program.named(&format!(
        "{}\n`covey reproduce` runs {}: {}\n`covey reproduce --beyond` adds {}: {}\n",
        table.fit(output_width()),
        letter.len(),
        names(&letter).join(", "),
        added.len(),
        names(&added).join(", ")
    )))
}

fn names(arms: &[Arm]) -> Vec<String> {
    arms.iter().map(ToString::to_string).collect()
}

fn described(strategy: &Strategy) -> Value {
    json!({
        "name": strategy.name,
        "pattern": strategy.pattern(),
        "hosted": strategy.is_hosted(),
        "description": strategy.summary,
        "order": strategy.order,
        "colour": colour(strategy.look.paint),
        "shape": shape(strategy.look.shape),
    })
}

fn marker(look: Look) -> String {
    format!("{} {}", colour(look.paint), shape(look.shape))
}

fn colour(paint: Paint) -> &'static str {
    match paint {
        Paint::Ink => "black",
        Paint::Muted => "grey",
        Paint::Sky => "sky-blue",
        other => other.name(),
    }
}

fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Circle => "circle",
        Shape::Square => "square",
        Shape::Diamond => "diamond",
        Shape::TriangleUp => "triangle",
        Shape::TriangleDown => "triangle down",
        Shape::Pentagon => "pentagon",
        Shape::Hexagon => "hexagon",
        Shape::Star => "star",
        Shape::Cross => "cross",
    }
}
