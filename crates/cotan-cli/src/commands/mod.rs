//! The commands, one file each.

mod bench;
pub(crate) mod certify;
mod check;
mod check_table;
mod doctor;
mod emit;
mod explain;
pub(crate) mod fmt;
mod grad;
mod hessian;
mod hvp;
mod jacobian;
mod jvp;
mod new;
mod ops;
mod run;
mod sparse;
mod test;
mod vjp;
mod watch;

use crate::args::Command;
use crate::diagnostics::Failure;

/// Runs a command; gives the exit code.
pub(crate) fn run(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Grad(args) => grad::run(&args),
        Command::Jvp(args) => jvp::run(&args),
        Command::Vjp(args) => vjp::run(&args),
        Command::Jacobian(args) => jacobian::run(&args),
        Command::Hessian(args) => hessian::run(&args),
        Command::Hvp(args) => hvp::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Test(args) => test::run(&args),
        Command::New(args) => new::run(&args),
        Command::Emit(args) => emit::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Ops(args) => ops::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Doctor(args) => doctor::run(&args),
    }
}
