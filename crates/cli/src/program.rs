//! The program at hand: its arms, and the name that it goes by.

use std::env::consts::EXE_SUFFIX;
use std::path::Path;

use clap::Command;
use covey_simulator::{Arms, Strategy};

/// The name that texts are written with.
const WRITTEN: &str = "covey";

/// A program with its arms.
pub(crate) struct Program {
    pub(crate) arms: Arms,
    name: String,
}

impl Program {
    /// The program that runs, with these arms.
    pub(crate) fn new(arms: Arms) -> Self {
        let called = std::env::args_os().next().unwrap_or_default();
        let file = Path::new(&called).file_name().unwrap_or_default();
        let file = file.to_string_lossy();
        let name = file.strip_suffix(EXE_SUFFIX).unwrap_or(&file);
        let name = if name.is_empty() { WRITTEN } else { name };
        Self {
            arms,
            name: name.to_string(),
        }
    }

    /// A text whose commands, in backticks or at the beginning of a line, are called by this program's name.
    pub(crate) fn named(&self, text: &str) -> String {
        if self.name == WRITTEN {
            return text.to_string();
        }
        text.replace("`covey ", &format!("`{} ", self.name))
            .replace("\n  covey ", &format!("\n  {} ", self.name))
            .replace("| covey ", &format!("| {} ", self.name))
    }

    /// The command line with the names of this program and of its arms in its help.
    pub(crate) fn speaking(&self, command: Command) -> Command {
        let arms = self.arms_for_help();
        let command = command.mut_subcommand("run", |run| {
            run.mut_arg("arm", |arm| {
                let help = arm.get_help().map(ToString::to_string).unwrap_or_default();
                arm.long_help(format!("{help}\n\n{arms}"))
            })
        });
        self.renamed(command).bin_name(self.name.clone())
    }

    /// Every arm with what it does.
    fn arms_for_help(&self) -> String {
        let mut text = "B is an allowance, a share of capacity such as 0.4.".to_string();
        let patterns: Vec<String> = self.arms.iter().map(Strategy::pattern).collect();
        let width = patterns.iter().map(String::len).max().unwrap_or(0);
        for (pattern, strategy) in patterns.iter().zip(self.arms.iter()) {
            text.push_str(&format!("\n  {pattern:width$}  {}", strategy.summary));
        }
        text
    }

    /// Examples and remarks of a command and those below it, under this program's name.
    fn renamed(&self, mut command: Command) -> Command {
        if let Some(text) = command.get_after_help().map(ToString::to_string) {
            command = command.after_help(self.named(&text));
        }
        if let Some(text) = command.get_long_about().map(ToString::to_string) {
            command = command.long_about(self.named(&text));
        }
        command
            .mut_args(|mut argument| {
                if let Some(text) = argument.get_help().map(ToString::to_string) {
                    argument = argument.help(self.named(&text));
                }
                if let Some(text) = argument.get_long_help().map(ToString::to_string) {
                    argument = argument.long_help(self.named(&text));
                }
                argument
            })
            .mut_subcommands(|below| self.renamed(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_the_program_that_runs_and_nothing_else() {
        let program = Program {
            arms: Arms::builtin(),
            name: "mine".to_string(),
        };
        let text =
            "`covey arms` lists them\n  covey run x\n  echo 1 | covey digest -, out/covey x.covey";
        assert_eq!(
            program.named(text),
            "`mine arms` lists them\n  mine run x\n  echo 1 | mine digest -, out/covey x.covey"
        );
    }
}
