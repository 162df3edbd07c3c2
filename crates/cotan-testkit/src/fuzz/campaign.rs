//! Many inputs to a target, on all cores, with what came of them.

use super::{Corpus, Failure, Target, feed};
use crate::parallel;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An input that takes longer hangs, unless the machine was busy with something else.
pub const LONGEST: Duration = Duration::from_secs(10);

/// What to feed.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// To what.
    pub target: Target,
    /// The first seed.
    pub first: u64,
    /// How many inputs, at most.
    pub count: u64,
    /// How long, at most.
    pub time: Duration,
    /// It ends with so many findings.
    pub findings: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// Inputs.
    pub inputs: u64,
    /// Seconds of processors.
    pub processor_seconds: f64,
    /// Seconds.
    pub seconds: f64,
    /// What broke, with its seed.
    pub findings: Vec<(u64, Failure)>,
    /// How many inputs reached what.
    pub reached: BTreeMap<String, u64>,
}

impl Campaign {
    /// Feeds the inputs. The seeds that are being fed stand in a file, should the process end.
    pub fn run(&self, corpus: &Corpus, running: Option<&Running>) -> Outcome {
        let (start, processor) = (Instant::now(), processor_seconds());
        let (next, workers) = (AtomicU64::new(0), AtomicUsize::new(0));
        let (findings, reached) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
        let n_found = || findings.lock().unwrap_or_else(PoisonError::into_inner).len();
        parallel::on_all_cores(|| {
            let worker = workers.fetch_add(1, Ordering::Relaxed);
            let mut own: BTreeMap<String, u64> = BTreeMap::new();
            let mut load = Load::now();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= self.count || start.elapsed() >= self.time || n_found() >= self.findings {
                    // It was not fed.
                    next.fetch_sub(1, Ordering::Relaxed);
                    break;
                }
                let seed = self.first + n;
                if let Some(running) = running {
                    running.note(worker, seed);
                }
                if load.since.elapsed() > Load::AGE {
                    load = Load::now();
                }
                let begun = Instant::now();
                let outcome = feed(self.target, corpus, seed).and_then(|reached| {
                    let took = begun.elapsed();
                    if took <= LONGEST || load.is_starved() {
                        return Ok(reached);
                    }
                    let input = super::input(self.target, corpus, seed);
                    Err(Failure { input, message: format!("it took {:.1} s", took.as_secs_f64()) })
                });
                match outcome {
                    Ok(all) => all.into_iter().for_each(|what| *own.entry(what).or_default() += 1),
                    Err(failure) => findings.lock().unwrap_or_else(PoisonError::into_inner).push((seed, failure)),
                }
            }
            let mut reached = reached.lock().unwrap_or_else(PoisonError::into_inner);
            own.into_iter().for_each(|(what, n)| *reached.entry(what).or_insert(0) += n);
        });
        Outcome {
            inputs: next.into_inner(),
            processor_seconds: processor_seconds() - processor,
            seconds: start.elapsed().as_secs_f64(),
            findings: findings.into_inner().unwrap_or_else(PoisonError::into_inner),
            reached: reached.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// When so many seconds of processors had been taken.
struct Load {
    since: Instant,
    processor_seconds: f64,
}

impl Load {
    /// How old it may be where an input begins: to ask takes longer than most inputs.
    const AGE: Duration = Duration::from_secs(1);

    /// Seconds of processors for each second below which the machine was busy with something else.
    const STARVED: f64 = 0.5;

    fn now() -> Load {
        Load { since: Instant::now(), processor_seconds: processor_seconds() }
    }

    /// Whether this process has had few of the processors since.
    fn is_starved(&self) -> bool {
        processor_seconds() - self.processor_seconds < Load::STARVED * self.since.elapsed().as_secs_f64()
    }
}

/// Seconds of processors that this process has taken.
fn processor_seconds() -> f64 {
    /// The kernel's unit in this file, on every system that has it.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may have blanks; it ends with the last parenthesis.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}

/// A file with the seed that each worker feeds.
#[derive(Debug)]
pub struct Running {
    file: File,
    path: PathBuf,
}

impl Running {
    /// Makes the file anew.
    pub fn create(path: &Path) -> std::io::Result<Running> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Running { file: File::create(path)?, path: path.to_owned() })
    }

    fn note(&self, worker: usize, seed: u64) {
        // Without it a finding is harder to name, and no less found.
        drop(self.file.write_all_at(&seed.to_le_bytes(), worker as u64 * 8));
    }

    /// The seeds in a file that a process left.
    pub fn left(path: &Path) -> Vec<u64> {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?))).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // All seeds are done.
        drop(fs::remove_file(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_counts_what_it_feeds_and_keeps_the_seeds_in_a_file() {
        let path = std::env::temp_dir().join(format!("cotan-running-{}", std::process::id()));
        let running = Running::create(&path).unwrap();
        running.note(1, 7);
        assert_eq!(Running::left(&path), [0, 7]);
        let corpus = Corpus { programs: vec!["fn f() -> f64 = 1.0\n".to_owned()], ir: Vec::new() };
        let campaign =
            Campaign { target: Target::Parser, first: 0, count: 20, time: Duration::from_secs(60), findings: 1 };
        let outcome = campaign.run(&corpus, Some(&running));
        assert_eq!((outcome.inputs, outcome.findings.len()), (20, 0));
        drop(running);
        assert!(Running::left(&path).is_empty());
    }
}
