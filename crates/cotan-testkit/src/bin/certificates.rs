//! `certificates N SEED`: puts certificates before the proved checker: those of N random straight-line programs, of functions
//! that people wrote, and the same certificates with something broken in them.

use anyhow::{Context, Result, bail};
use cotan_testkit::certificates::{Verdict, broken, of_case, straight_line, verdict};
use cotan_testkit::derived_case::{Case, Subject};
use cotan_testkit::model::examples;
use cotan_testkit::parallel::{guarded, map};
use cotan_testkit::random::Rng;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [n, seed] = args.as_slice() else { bail!("usage: certificates N SEED") };
    let (n, seed): (u64, u64) = (n.parse().context("N is a number")?, seed.parse().context("SEED is a number")?);
    let seeds: Vec<u64> = (seed..seed + n).collect();
    let random = judged(&seeds, |seed| (format!("seed {seed}"), Ok(straight_line(*seed))))?;
    let accepted: Vec<&(String, String)> = random.iter().flatten().collect();
    println!("straight line: {} of {n} accepted", accepted.len());
    let mut rng = Rng::new(seed);
    let wrong: Vec<_> =
        accepted.iter().filter_map(|(name, text)| broken(text, &mut rng).map(|broken| (name, broken))).collect();
    let verdicts = map(&wrong, |(_, broken)| verdict(&broken.text));
    let mut refused = 0;
    for ((name, broken), verdict) in wrong.iter().zip(verdicts) {
        match verdict.map_err(anyhow::Error::msg)? {
            // By the theorem it is right all the same.
            Verdict::Accepted => println!("  accepted: {name}: {}", broken.what),
            Verdict::NotShown(_) | Verdict::Refused(_) => refused += 1,
        }
    }
    println!("broken: {refused} of {} refused", wrong.len());
    let of_people = examples();
    let real = judged(&of_people, Clone::clone)?;
    println!("examples: {} of {} accepted", real.iter().flatten().count(), of_people.len());
    Ok(())
}

/// Name and text of each certificate that is accepted; prints what happens to the others.
#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn judged<T: Sync>(
    items: &[T],
    subject: impl Fn(&T) -> (String, Result<Subject, String>) + Sync,
) -> Result<Vec<Option<(String, String)>>> {
    let outcomes = map(items, |item| {
        let (name, subject) = subject(item);
        let made = guarded(|| subject.and_then(Case::new).and_then(|case| of_case(&case)));
        let made = made.and_then(|made| made).and_then(|made| made.map_err(|e| e.to_string()));
        let outcome = made.and_then(|certificate| Ok((verdict(&certificate.text)?, certificate.text)));
        (name, outcome)
    });
    let kept = outcomes.into_iter().map(|(name, outcome)| match outcome {
        Ok((Verdict::Accepted, text)) => Some((name, text)),
        Ok((Verdict::NotShown(at), _)) => {
            println!("  not shown: {name}: {at}");
            None
        }
        Ok((Verdict::Refused(reason), _)) | Err(reason) => {
            println!("  none: {name}: {reason}");
            None
        }
    });
    Ok(kept.collect())
}
