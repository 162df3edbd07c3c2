//! `oracle N SEED [--compiled M] [--only ORACLE] [--source] [--keep-going | --shrink]`: random programs under all oracles,
//! or under one; with
//! `--source` all are made as source text. Fails at the first that is found wrong, with its text, made smaller if asked;
//! with `--keep-going` at the end, with one line for each.

use anyhow::{Context, Result, bail};
use cotan_testkit::campaign::{Campaign, mixed, smaller};
use cotan_testkit::derived_case::Subject;
use cotan_testkit::generate::{Construct, source};
use cotan_testkit::oracles::{COMPILED, FIRST_ORDER};

/// How the program of a seed is made.
type Make = fn(u64) -> Result<Subject, String>;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let keep_going = args.iter().any(|a| a == "--keep-going");
    let show_smaller = args.iter().any(|a| a == "--shrink");
    let is_source = args.iter().any(|a| a == "--source");
    args.retain(|a| a != "--keep-going" && a != "--shrink" && a != "--source");
    let only = match args.iter().position(|a| a == "--only") {
        None => None,
        Some(k) => {
            let name = args.get(k + 1).context("`--only` takes the name of an oracle")?.clone();
            args.drain(k..k + 2);
            let mut all = FIRST_ORDER.iter().chain(COMPILED);
            Some(*all.find(|o| o.name == name).with_context(|| format!("there is no oracle `{name}`"))?)
        }
    };
    let (programs, seed, compiled) = match args.as_slice() {
        [n, seed] => (number(n)?, number(seed)?, 0),
        [n, seed, flag, m] if flag == "--compiled" => (number(n)?, number(seed)?, number(m)?),
        _ => bail!("usage: oracle N SEED [--compiled M] [--only ORACLE] [--source] [--keep-going | --shrink]"),
    };
    let (program, constructs) =
        if is_source { (source::subject as Make, Construct::of_source()) } else { (mixed as Make, Construct::ALL) };
    let campaign = Campaign { programs, seed, compiled, only, stop_at_failure: !keep_going, shows_progress: true };
    let outcome = campaign.run(program);
    println!("{}\n{}", outcome.coverage, outcome.figures(constructs));
    if keep_going {
        outcome.failures.iter().for_each(|f| println!("{}, found by `{}`: {}", f.label, f.oracle, f.reason));
    } else if let Some(failure) = outcome.failures.first() {
        println!("found after {} programs by `{}`\n{failure}", outcome.programs, failure.oracle);
        if let Some(small) = show_smaller.then(|| smaller(failure, program)).flatten() {
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
