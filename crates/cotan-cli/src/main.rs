//! The `cotan` command: a thin shell over the library. Files, environment and terminal are touched here and nowhere
//! else.

mod args;
mod commands;
mod diagnostics;
mod environment;
mod exit;
mod files;
mod input;
mod machine;
mod output;
mod point;
#[cfg(test)]
mod promises;
mod session;
mod terminal;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    exit::guarded(command)
}

fn command() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // A closed pipe is no reason to complain about.
            let _ = e.print();
            return if e.use_stderr() { exit::USAGE.into() } else { exit::DONE.into() };
        }
    };
    let is_json = cli.command.is_json();
    match commands::run(cli.command) {
        Ok(status) => status.into(),
        Err(failure) => {
            failure.print(is_json);
            failure.status.into()
        }
    }
}
