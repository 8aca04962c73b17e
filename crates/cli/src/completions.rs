//! `covey completions` and `covey man`: made from the same definitions as the help.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use covey_experiment::files;

use crate::failure::{Failure, print};
use crate::laboratory::file_failure;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey completions bash > ~/.local/share/bash-completion/completions/covey\n  \
    covey completions zsh > ~/.zfunc/_covey\n  \
    covey completions fish > ~/.config/fish/completions/covey.fish")]
pub(crate) struct Arguments {
    /// For which shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Write man pages, one for each command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  covey man --out ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// The folder to write them to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, command: &mut Command) -> Result<(), Failure> {
    let name = command.get_bin_name().unwrap_or("covey").to_string();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command, name, &mut script);
    print(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(arguments: &ManArguments, command: &Command) -> Result<(), Failure> {
    files::make_folder(&arguments.out).map_err(file_failure)?;
    let name = command.get_bin_name().unwrap_or("covey").to_string();
    pages(arguments, command, &name)
}

fn pages(arguments: &ManArguments, command: &Command, name: &str) -> Result<(), Failure> {
    let path = arguments.out.join(format!("{name}.1"));
    let mut page = Vec::new();
    // Man pages go by one word, and long names are long-lived here: a few of them.
    let named: &'static str = name.to_string().leak();
    clap_mangen::Man::new(command.clone().name(named))
        .render(&mut page)
        .map_err(|error| Failure::Other(error.to_string()))?;
    files::write(&path, &page).map_err(file_failure)?;
    for below in command.get_subcommands() {
        if below.get_name() != "help" {
            pages(arguments, below, &format!("{name}-{}", below.get_name()))?;
        }
    }
    Ok(())
}
