//! `model N SEED`: puts the graphs of N random programs, and of every function that people wrote, before the proved model.
//! Fails if the model, the tape engine or the shipped derivative disagree.

use anyhow::{Context, Result, bail};
use cotan_testkit::campaign::mixed;
use cotan_testkit::derived_case::{Case, Subject};
use cotan_testkit::model::{Graph, ask, executable, graph, subjects};
use cotan_testkit::parallel::{guarded, map};
use std::collections::BTreeMap;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [n, seed] = args.as_slice() else { bail!("usage: model N SEED") };
    let (n, seed): (u64, u64) = (n.parse().context("N is a number")?, seed.parse().context("SEED is a number")?);
    let Some(oracle) = executable() else { bail!("the model is not built: run `cargo xtask proofs` first") };
    let (mut n_graphs, mut next, mut wrong) = (0, seed, 0);
    // Some programs have no graph, so more than N are made.
    while n_graphs < n {
        let seeds: Vec<u64> = (next..next + 500).collect();
        next += 500;
        let mut made = graphs(&seeds, |seed| (format!("seed {seed}"), mixed(*seed)), &mut wrong);
        made.truncate((n - n_graphs) as usize);
        n_graphs += made.len() as u64;
        wrong += judged(&oracle, &made)?;
    }
    println!("random: {n_graphs} graphs of {} programs, {wrong} disagree", next - seed);
    let mut wrong_real = 0;
    let made = graphs(&subjects(), Clone::clone, &mut wrong_real);
    for chunk in made.chunks(20) {
        wrong_real += judged(&oracle, chunk)?;
    }
    println!(
        "real: {} graphs, {} nodes, {wrong_real} disagree",
        made.len(),
        made.iter().map(|g| g.n_nodes).sum::<usize>()
    );
    match wrong + wrong_real {
        0 => Ok(()),
        n => bail!("{n} graphs disagree"),
    }
}

/// The graphs that there are. Prints disagreements between the derivative and the tape, and counts reasons for which there
/// is no graph.
#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn graphs<T: Sync>(
    items: &[T],
    subject: impl Fn(&T) -> (String, Result<Subject, String>) + Sync,
    wrong: &mut usize,
) -> Vec<Graph> {
    let outcomes = map(items, |item| {
        let (name, subject) = subject(item);
        let outcome = guarded(|| subject.and_then(Case::new).and_then(|case| graph(&case)));
        (name, outcome.and_then(|outcome| outcome))
    });
    let (mut made, mut reasons) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
    for (name, outcome) in outcomes {
        match outcome {
            Ok(Ok(graph)) => made.push(graph),
            Ok(Err(reason)) => reasons.entry(reason).or_default().push(name),
            Err(reason) => {
                *wrong += 1;
                println!("{name}: {reason}");
            }
        }
    }
    for (reason, names) in reasons {
        println!("no graph of {}, such as {}: {reason}", names.len(), names[0]);
    }
    made
}

/// How many graphs the model disagrees on; prints the first of them.
#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn judged(oracle: &std::path::PathBuf, graphs: &[Graph]) -> Result<usize> {
    let wrong = ask(oracle, graphs).map_err(anyhow::Error::msg)?;
    if let Some(first) = wrong.first() {
        println!("{}: the model says\n{}the tape\n{}", first.label, first.found, first.expected);
    }
    Ok(wrong.len())
}
