//! The `cotan` command: a thin shell over the library. Files, environment and terminal are touched here and nowhere
//! else.

mod args;
mod commands;
mod derivative_at;
mod diagnostics;
mod environment;
mod examples;
mod exit;
mod files;
mod input;
mod look;
mod machine;
mod output;
mod panics;
#[cfg(test)]
mod promises;
mod session;
mod terminal;
mod usage;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    panics::tell_panics();
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return usage::explain(&e).into(),
    };
    let is_json = cli.command.is_json();
    match panics::guarded(|| commands::run(cli.command)) {
        Ok(status) => status.into(),
        Err(failure) => {
            output::print_failure(&failure, is_json);
            failure.status.into()
        }
    }
}
