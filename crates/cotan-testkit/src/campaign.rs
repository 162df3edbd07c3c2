//! Many random programs under all oracles, on all cores.

use crate::derived_case::{Case, Subject, Way};
use crate::generate::{Construct, Coverage, ir, source};
use crate::oracles::{COMPILED, FIRST_ORDER, Oracle, SECOND_ORDER, Verdict};
use crate::parallel::{self, guarded};
use crate::progress::Progress;
use crate::shrink::shrink;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// Number of programs.
    pub programs: u64,
    /// The first seed; the others follow it.
    pub seed: u64,
    /// How many of the programs are compiled, too: the first ones.
    pub compiled: u64,
    /// The one oracle that is asked, if it is not all of them.
    pub only: Option<Oracle>,
    /// Whether to stop at the first failure.
    pub stop_at_failure: bool,
    /// Whether stderr tells how far it is.
    pub shows_progress: bool,
}

/// A program that an oracle found wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// How to make it again.
    pub label: String,
    /// Who found it.
    pub oracle: &'static str,
    /// What is wrong.
    pub reason: String,
    /// Its text.
    pub program: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, found by `{}`: {}\n\n{}", self.label, self.oracle, self.reason, self.program)
    }
}

/// What a campaign found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Programs run.
    pub programs: u64,
    /// Points at which finite differences could judge, of how many in f64; of one oracle alone, programs that it could.
    pub usable: (u64, u64),
    /// Why one oracle alone could not judge programs, with how many of them.
    pub unusable: BTreeMap<String, u64>,
    /// What was tested under which derivative.
    pub coverage: Coverage,
    /// Statements of each program.
    pub statements: Vec<usize>,
    /// Failures, by seed.
    pub failures: Vec<Failure>,
}

impl Outcome {
    /// The share of points at which finite differences could judge.
    pub fn usable_share(&self) -> f64 {
        self.usable.0 as f64 / self.usable.1.max(1) as f64
    }

    /// Half of the programs have at least so many statements.
    pub fn median_statements(&self) -> usize {
        let mut sorted = self.statements.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0)
    }

    /// The figures in one line; `constructs` are those that were to be tested.
    pub fn figures(&self, constructs: &[Construct]) -> String {
        let (construct, way, least) = self.coverage.least(constructs);
        let (variant, least_variant) = self.coverage.least_variant();
        let first = self.failures.first().map(|f| format!("; first: {f}")).unwrap_or_default();
        let reasons: String = self.unusable.iter().map(|(why, n)| format!(", {n}: {why}")).collect();
        format!(
            "{} programs, {} failures, median {} statements, least cell {least} ({construct:?} under {}), least variant of \
             the tree {least_variant} ({variant}), usable {:.1} %{reasons}{first}",
            self.programs,
            self.failures.len(),
            self.median_statements(),
            way.name(),
            100.0 * self.usable_share()
        )
    }

    fn merge(&mut self, other: Outcome) {
        self.programs += other.programs;
        self.usable.0 += other.usable.0;
        self.usable.1 += other.usable.1;
        other.unusable.into_iter().for_each(|(why, n)| *self.unusable.entry(why).or_default() += n);
        self.coverage.merge(&other.coverage);
        self.statements.extend(other.statements);
        self.failures.extend(other.failures);
    }
}

impl Campaign {
    /// Runs it. `program` makes the subject of a seed.
    pub fn run(&self, program: impl Fn(u64) -> Result<Subject, String> + Sync) -> Outcome {
        let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let total = Mutex::new(Outcome::default());
        let progress = self.shows_progress.then(|| Progress::new("programs", self.programs));
        parallel::on_all_cores(|| {
            let mut mine = Outcome::default();
            while !stop.load(Ordering::Relaxed) {
                let k = next.fetch_add(1, Ordering::Relaxed);
                if k >= self.programs {
                    break;
                }
                let n_failures = mine.failures.len();
                judge(self.seed + k, self.ask(k), &program, &mut mine);
                progress.iter().for_each(|progress| progress.step(mine.failures.len() > n_failures));
                if self.stop_at_failure && !mine.failures.is_empty() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            total.lock().unwrap_or_else(PoisonError::into_inner).merge(mine);
        });
        let mut outcome = total.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.failures.sort_by_key(|f| f.seed);
        outcome
    }
}

/// Who is asked about a program.
#[derive(Clone, Copy)]
enum Asked {
    /// All oracles; those of compiled code if it is compiled.
    All { is_compiled: bool },
    /// One of them.
    Only(Oracle),
}

impl Campaign {
    /// Who is asked about the k-th program.
    fn ask(&self, k: u64) -> Asked {
        self.only.map_or(Asked::All { is_compiled: k < self.compiled }, Asked::Only)
    }
}

/// The program of a seed: mostly source text, every fourth core IR.
pub fn mixed(seed: u64) -> Result<Subject, String> {
    if seed % 4 == 3 { Ok(ir::subject(seed)) } else { source::subject(seed) }
}

/// Programs of the whole language, as many as asked for: each is judged by every oracle, on every engine.
pub fn whole_language(programs: u64) -> Outcome {
    let campaign = Campaign {
        programs,
        seed: 2_000_000,
        compiled: programs,
        only: None,
        stop_at_failure: false,
        shows_progress: true,
    };
    campaign.run(source::subject)
}

/// Puts one program before all oracles and adds what they say.
fn judge(seed: u64, asked: Asked, program: &impl Fn(u64) -> Result<Subject, String>, outcome: &mut Outcome) {
    outcome.programs += 1;
    let mut at = Stage { label: format!("program {seed}"), oracle: "compilation", program: String::new() };
    // A panic of what is tested is a failure like any other.
    let verdict = guarded(|| examine(seed, asked, program, outcome, &mut at));
    let Err(reason) = verdict.and_then(|v| v) else { return };
    outcome.failures.push(Failure { seed, label: at.label, oracle: at.oracle, reason, program: at.program });
}

/// A smaller program that the same oracle finds wrong, if the failing one was made from source.
pub fn smaller(failure: &Failure, program: impl Fn(u64) -> Result<Subject, String>) -> Option<String> {
    let seed = failure.seed;
    let generated = program(seed).ok()?.source?;
    let small = shrink(&generated, |candidate| {
        let mut outcome = Outcome::default();
        judge(seed, Asked::All { is_compiled: true }, &|_| candidate.subject(seed), &mut outcome);
        outcome.failures.first().is_some_and(|f| f.oracle == failure.oracle)
    });
    Some(small.subject(seed).ok()?.text())
}

/// Where a program is on its way through the oracles.
struct Stage {
    label: String,
    oracle: &'static str,
    program: String,
}

fn examine(
    seed: u64,
    asked: Asked,
    program: &impl Fn(u64) -> Result<Subject, String>,
    outcome: &mut Outcome,
    at: &mut Stage,
) -> Result<(), String> {
    let subject = program(seed)?;
    at.label = subject.label.clone();
    at.program = subject.text();
    at.oracle = "derivation";
    outcome.statements.push(subject.n_statements());
    let (constructs, variants) = (subject.constructs.clone(), subject.variants.clone());
    let mut case = Case::new(subject)?;
    let is_compiled = match asked {
        Asked::All { is_compiled } => is_compiled,
        Asked::Only(oracle) => {
            let verdict = ask(&oracle, &case, at)?;
            outcome.usable.1 += 1;
            match verdict {
                Verdict::Unusable(why) => *outcome.unusable.entry(why).or_default() += 1,
                Verdict::Holds | Verdict::Fails(_) => outcome.usable.0 += 1,
            }
            return Ok(());
        }
    };
    for oracle in FIRST_ORDER {
        let verdict = ask(oracle, &case, at)?;
        if oracle.name == "finite difference" && case.elem() == cotan_ir::Elem::F64 {
            outcome.usable.1 += 1;
            outcome.usable.0 += u64::from(verdict == Verdict::Holds);
        }
    }
    if is_compiled {
        COMPILED.iter().try_for_each(|oracle| ask(oracle, &case, at).map(drop))?;
    }
    at.oracle = "second derivation";
    case.derive_twice()?;
    ask(&SECOND_ORDER, &case, at)?;
    outcome.coverage.count(&constructs, &Way::ALL);
    outcome.coverage.count_variants(&variants);
    Ok(())
}

fn ask(oracle: &Oracle, case: &Case, at: &mut Stage) -> Result<Verdict, String> {
    at.oracle = oracle.name;
    match (oracle.ask)(case) {
        Verdict::Fails(reason) => Err(reason),
        verdict @ (Verdict::Holds | Verdict::Unusable(_)) => Ok(verdict),
    }
}
