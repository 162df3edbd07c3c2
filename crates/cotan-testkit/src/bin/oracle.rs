//! `oracle N SEED [--compiled M] [--keep-going | --shrink]`: random programs under all oracles. Fails at the first that
//! is found wrong, with its text, made smaller if asked; with `--keep-going` at the end, with one line for each.

use anyhow::{Context, Result, bail};
use cotan_testkit::campaign::{Campaign, mixed, smaller};

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let keep_going = args.iter().any(|a| a == "--keep-going");
    let show_smaller = args.iter().any(|a| a == "--shrink");
    args.retain(|a| a != "--keep-going" && a != "--shrink");
    let (programs, seed, compiled) = match args.as_slice() {
        [n, seed] => (number(n)?, number(seed)?, 0),
        [n, seed, flag, m] if flag == "--compiled" => (number(n)?, number(seed)?, number(m)?),
        _ => bail!("usage: oracle N SEED [--compiled M] [--keep-going | --shrink]"),
    };
    let outcome = Campaign { programs, seed, compiled, stop_at_failure: !keep_going }.run(mixed);
    println!("{}", outcome.coverage);
    println!("programs: {}", outcome.programs);
    println!("median of statements: {}", outcome.median_statements());
    println!("usable points: {:.1} %", 100.0 * outcome.usable_share());
    if keep_going {
        outcome.failures.iter().for_each(|f| println!("{}, found by `{}`: {}", f.label, f.oracle, f.reason));
    } else if let Some(failure) = outcome.failures.first() {
        println!("found after {} programs by `{}`\n{failure}", outcome.programs, failure.oracle);
        if let Some(small) = show_smaller.then(|| smaller(failure, mixed)).flatten() {
            println!("a smaller program:\n{small}");
        }
    }
    match outcome.failures.len() {
        0 => Ok(()),
        n => bail!("{n} of {} programs fail", outcome.programs),
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse().with_context(|| format!("`{text}` is no number"))
}
