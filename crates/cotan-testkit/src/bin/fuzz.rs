//! Random and damaged input to the targets of [`cotan_testkit::fuzz`].
//!
//! - `fuzz TARGET SECONDS` feeds other inputs in every run, `fuzz TARGET --count N` the first N;
//! - `fuzz --all SECONDS` gives each target so many seconds, in a process of its own, and adds to the counts of the repository;
//! - `fuzz TARGET --input FILE` feeds one file, `fuzz TARGET --seed N` one seed;
//! - `fuzz TARGET --minimise N` writes the corpus of the target anew from what it has and the first N inputs.
//!
//! What breaks a target is left in a file in `target/fuzz`, and the command fails.

use anyhow::{Context, Result, bail};
use cotan_testkit::files::workspace_file;
use cotan_testkit::fuzz::campaign::{Campaign, LONGEST, Outcome, Running};
use cotan_testkit::fuzz::counts::{self, Count};
use cotan_testkit::fuzz::{Corpus, Target, corpus, input, judge_guarded};
use cotan_testkit::parallel;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Findings of a target after which its campaign ends.
const FINDINGS: usize = 20;

/// Characters of a finding that are shown.
const LONGEST_MESSAGE: usize = 1_000;

/// How long one process may take longer than it was told to before it is taken to hang.
const GRACE: Duration = Duration::from_secs(60);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["--all", seconds] => all(number(seconds)?),
        [name, "--count", n] => campaign(target(name)?, 0, number(n)?, Duration::from_secs(1 << 30)),
        [name, "--from", first, seconds] => {
            campaign(target(name)?, number(first)?, u64::MAX, Duration::from_secs(number(seconds)?))
        }
        [name, "--input", path] => {
            let bytes = std::fs::read(path).with_context(|| format!("reading {path}"))?;
            one(target(name)?, &bytes)
        }
        [name, "--seed", seed] => one(target(name)?, &input(target(name)?, &Corpus::load(), number(seed)?)),
        [name, "--minimise", n] => {
            let (files, bytes) = corpus::minimise(target(name)?, &Corpus::load(), number(n)?)?;
            print(&format!("{name}: {files} inputs, {bytes} bytes"));
            Ok(())
        }
        [name, seconds] => campaign(target(name)?, fresh(), u64::MAX, Duration::from_secs(number(seconds)?)),
        _ => bail!(
            "usage: fuzz TARGET SECONDS | TARGET --count N | TARGET --from SEED SECONDS | TARGET --input FILE | \
             TARGET --seed N | TARGET --minimise N | --all SECONDS"
        ),
    }
}

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn print(text: &str) {
    println!("{text}");
}

fn target(name: &str) -> Result<Target> {
    let known: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
    Target::from_name(name).with_context(|| format!("there is no target `{name}`, but {}", known.join(", ")))
}

fn number(text: &str) -> Result<u64> {
    text.parse().with_context(|| format!("`{text}` is no number"))
}

/// A first seed that no other run has.
fn fresh() -> u64 {
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
    (now ^ u64::from(std::process::id()) << 48) >> 4
}

fn one(target: Target, input: &[u8]) -> Result<()> {
    print(&String::from_utf8_lossy(input));
    let judged = parallel::map(&[input], |input| judge_guarded(target, input));
    match judged.into_iter().next() {
        Some(Ok(reached)) => {
            print(&format!("reaches {reached:?}"));
            Ok(())
        }
        Some(Err(message)) => bail!("{message}"),
        None => bail!("nothing was judged"),
    }
}

fn folder() -> PathBuf {
    workspace_file("target/fuzz")
}

/// The file with the seeds that are being fed.
fn running(target: Target) -> PathBuf {
    folder().join(format!("{}.running", target.name()))
}

fn campaign(target: Target, first: u64, count: u64, time: Duration) -> Result<()> {
    let running = Running::create(&running(target))?;
    let outcome = Campaign { target, first, count, time, findings: FINDINGS }.run(&Corpus::load(), Some(&running));
    drop(running);
    report(target, &outcome)?;
    if outcome.findings.is_empty() { Ok(()) } else { bail!("{} findings", outcome.findings.len()) }
}

/// One line of counts, one for what was reached, and the findings with their files.
fn report(target: Target, outcome: &Outcome) -> Result<()> {
    let Outcome { inputs, processor_seconds, seconds, findings, reached } = outcome;
    let count = Count::of(outcome);
    print(&format!(
        "{}: {inputs} inputs, {processor_seconds:.1} s of processors, {:.1} inputs for each of them, {:.1} for each of {seconds:.1} s, {} findings",
        target.name(),
        count.rate(),
        *inputs as f64 / seconds.max(1e-9),
        findings.len()
    ));
    let mut most: Vec<(&String, &u64)> = reached.iter().collect();
    most.sort_by_key(|(what, n)| (std::cmp::Reverse(**n), (*what).clone()));
    let most: Vec<String> = most.iter().take(12).map(|(what, n)| format!("{n} x {what}")).collect();
    print(&format!("  reached {}, most often {}", reached.len(), most.join(", ")));
    for (seed, failure) in findings {
        let path = folder().join(format!("{}-{seed}", target.name()));
        std::fs::write(&path, &failure.input).with_context(|| format!("writing {}", path.display()))?;
        let message: String = failure.message.chars().take(LONGEST_MESSAGE).collect();
        print(&format!("  seed {seed}: {message}; it is in {}", path.display()));
    }
    Ok(())
}

/// Feeds every target in processes of its own, so that one that ends is a finding and not the end.
fn all(seconds: u64) -> Result<()> {
    let mut broken = Vec::new();
    for target in Target::ALL {
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut crashes = 0;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| left.as_secs() > 0) {
            let first = fresh();
            match child(target, first, left)? {
                Ended::Fine => break,
                Ended::Found => {
                    broken.push(format!("{}: see above", target.name()));
                    break;
                }
                Ended::Crashed(how) => {
                    let seeds = Running::left(&running(target));
                    broken.push(format!("{}: {how} at one of the seeds {seeds:?}", target.name()));
                    let inputs = seeds.iter().max().map_or(0, |last| last.saturating_sub(first));
                    let crashed = Count { inputs, processor_seconds: 0.0, findings: 1 };
                    counts::add(&counts::file(), target, crashed).map_err(anyhow::Error::msg)?;
                    crashes += 1;
                    if crashes >= FINDINGS {
                        break;
                    }
                }
            }
        }
    }
    for (name, count) in counts::read(&counts::file()).map_err(anyhow::Error::msg)? {
        let Count { inputs, processor_seconds, findings } = count;
        print(&format!(
            "{name:>14}: {inputs:>9} inputs, {:>6.1} processor minutes, {findings} findings",
            processor_seconds / 60.0
        ));
    }
    if broken.is_empty() { Ok(()) } else { bail!("{}", broken.join("\n")) }
}

enum Ended {
    Fine,
    Found,
    Crashed(String),
}

/// Runs a campaign in another process, and adds what it counts.
fn child(target: Target, first: u64, time: Duration) -> Result<Ended> {
    let program = std::env::current_exe().context("the path of this process")?;
    let seconds = time.as_secs().to_string();
    let mut command = Command::new(program);
    command.args([target.name(), "--from", &first.to_string(), &seconds]).stdout(std::process::Stdio::piped());
    let mut process = command.spawn().context("starting a campaign")?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = process.try_wait()? {
            break status;
        }
        if begun.elapsed() > time + LONGEST + GRACE {
            process.kill()?;
            process.wait()?;
            return Ok(Ended::Crashed("a hang".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let output = process.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    print(text.trim_end());
    let Some(count) = text.lines().find_map(|line| counted(line, target)) else {
        return Ok(Ended::Crashed(status.to_string()));
    };
    counts::add(&counts::file(), target, count).map_err(anyhow::Error::msg)?;
    Ok(if status.success() { Ended::Fine } else { Ended::Found })
}

/// The counts in the line that [`report`] prints.
fn counted(line: &str, target: Target) -> Option<Count> {
    let rest = line.strip_prefix(target.name())?.strip_prefix(": ")?;
    let mut parts = rest.split(", ");
    let number = |part: Option<&str>| part?.split(' ').next().map(str::to_owned);
    let inputs = number(parts.next())?.parse().ok()?;
    let processor_seconds = number(parts.next())?.parse().ok()?;
    let findings = number(parts.last())?.parse().ok()?;
    Some(Count { inputs, processor_seconds, findings })
}
