//! `mutants [OPERATION]`: breaks the rules of the op table, or of one operation, and shows which mutants the battery does
//! not notice. Fails if one of them is real.

use anyhow::{Result, bail};
use cotan_ops::Registry;
use cotan_testkit::battery::Operation;
use cotan_testkit::battery::mutants::{Fate, Mutant, judge, judge_all, without_derivative};

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let registry = Registry::standard();
    let mutants = match std::env::args().nth(1) {
        None => judge_all(registry),
        Some(name) => match Operation::all(registry).into_iter().find(|operation| operation.name() == name) {
            Some(operation) => judge(operation),
            None => bail!("there is no operation `{name}`"),
        },
    };
    let mutants = mutants.map_err(anyhow::Error::msg)?;
    let of = |fate: Fate| mutants.iter().filter(move |mutant| mutant.fate == fate);
    let show = |mutant: &Mutant| {
        println!("  {} {}: {}", mutant.operation, mutant.mode_name(), mutant.what);
    };
    println!("no derivative:");
    for (name, reason) in without_derivative(registry) {
        println!("  {name}: {reason}");
    }
    println!("the same function at all sampled points:");
    of(Fate::Same).for_each(show);
    println!("missed:");
    of(Fate::Missed).for_each(show);
    let [noticed, missed, same] = [Fate::Noticed, Fate::Missed, Fate::Same].map(|fate| of(fate).count());
    println!("{} mutants: {noticed} noticed, {missed} missed, {same} the same function", mutants.len());
    if missed > 0 {
        bail!("{missed} broken rules go unnoticed");
    }
    Ok(())
}
