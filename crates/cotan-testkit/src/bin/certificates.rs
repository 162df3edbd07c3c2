//! `certificates N SEED`: puts certificates before the proved checker: those of N random straight-line programs, of N random
//! programs of every kind, of functions that people wrote, and broken ones.

use anyhow::{Context, Result, bail};
use cotan_testkit::campaign::mixed;
use cotan_testkit::case::{Case, Subject};
use cotan_testkit::certificates::{Verdict, broken, of_case, straight_line, verdict};
use cotan_testkit::model::subjects;
use cotan_testkit::parallel::{guarded, map};
use cotan_testkit::random::Rng;
use std::collections::BTreeMap;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [n, seed] = args.as_slice() else { bail!("usage: certificates N SEED") };
    let (n, seed): (u64, u64) = (n.parse().context("N is a number")?, seed.parse().context("SEED is a number")?);
    let seeds: Vec<u64> = (seed..seed + n).collect();
    report("straight line", &seeds, |seed| (format!("seed {seed}"), Ok(straight_line(*seed))))?;
    report("random", &seeds, |seed| (format!("seed {seed}"), mixed(*seed)))?;
    report("real", &subjects(), Clone::clone)?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn report<T: Sync>(
    what: &str,
    items: &[T],
    subject: impl Fn(&T) -> (String, Result<Subject, String>) + Sync,
) -> Result<()> {
    let outcomes = map(items, |item| {
        let (name, subject) = subject(item);
        let outcome = guarded(|| subject.and_then(Case::new).and_then(|case| of_case(&case)));
        let outcome = outcome.and_then(|outcome| outcome).and_then(|outcome| outcome.map_err(|e| e.to_string()));
        let judged = outcome.and_then(|certificate| {
            let verdict = verdict(&certificate.text)?;
            Ok((certificate, verdict))
        });
        (name, judged)
    });
    let (mut accepted, mut reasons) = (0, BTreeMap::<String, Vec<String>>::new());
    let mut sound = Vec::new();
    for (name, outcome) in outcomes {
        match outcome {
            Ok((certificate, Verdict::Accepted)) => {
                accepted += 1;
                sound.push((name, certificate));
            }
            Ok((_, Verdict::NotShown(at))) => {
                let reason = if at.starts_with("within") { format!("not shown {at}") } else { "not shown".to_owned() };
                reasons.entry(reason).or_default().push(name);
            }
            Ok((_, Verdict::Refused(why))) => reasons.entry(why).or_default().push(name),
            Err(e) => reasons.entry(e).or_default().push(name),
        }
    }
    println!("{what}: {accepted} of {} accepted", items.len());
    for (reason, names) in reasons {
        println!("  {}, such as {:?}: {reason}", names.len(), &names[..names.len().min(4)]);
    }
    let mut rng = Rng::new(7);
    let wrong: Vec<_> =
        sound.iter().filter_map(|(name, c)| broken(&c.text, &mut rng).map(|broken| (name.clone(), broken))).collect();
    let judged = map(&wrong, |(_, broken)| verdict(&broken.text));
    let mut refused = 0;
    for ((name, broken), verdict) in wrong.iter().zip(judged) {
        match verdict.map_err(anyhow::Error::msg)? {
            Verdict::Accepted => println!("  accepted: {name}: {}", broken.what),
            Verdict::NotShown(_) | Verdict::Refused(_) => refused += 1,
        }
    }
    println!("{what}, broken: {refused} of {} refused", wrong.len());
    Ok(())
}
