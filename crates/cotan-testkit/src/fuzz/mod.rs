//! Random and damaged input: whatever it is, nothing panics, and engines do the same.
//!
//! A [`Target`] is a door of Cotan with a judge behind it. [`feed`] makes the input of a seed, [`judge`] gives one to the
//! target: it says what the input reached, or what is wrong. Inputs are bytes, so that the coverage-guided targets in
//! `fuzz/` share the judges.

mod arguments;
pub mod campaign;
pub mod corpus;
pub mod counts;
mod damage;
mod differential;
mod engines;
mod link;
mod literals;
mod loaders;
mod misfits;
mod program;
mod texts;
mod tokens;

use crate::parallel::guarded;
use crate::random::Rng;
pub use corpus::Corpus;
use std::collections::BTreeSet;

/// What is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The decoder and parser: bytes.
    Parser,
    /// The checker, lowering and differentiation: damaged programs.
    Checker,
    /// The parser and verifier of the core IR: damaged IR text.
    Ir,
    /// Compiled code against the interpreter: generated programs.
    Differential,
    /// What the commands do with mutated programs: checks, formats twice, runs and differentiates on both engines.
    Commands,
    /// The same with programs that are made around numbers in sizes, indices, slices and trip counts.
    Literals,
    /// The readers of `.npy`, `.npz` and JSON: damaged files.
    Loaders,
    /// Entries of the cache and the linker: damaged objects.
    Link,
    /// Calls from Rust with values that fit no signature.
    Misfits,
}

impl Target {
    /// Every target.
    pub const ALL: [Target; 9] = [
        Target::Parser,
        Target::Checker,
        Target::Ir,
        Target::Differential,
        Target::Commands,
        Target::Literals,
        Target::Loaders,
        Target::Link,
        Target::Misfits,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Parser => "parser",
            Target::Checker => "checker",
            Target::Ir => "ir",
            Target::Differential => "differential",
            Target::Commands => "commands",
            Target::Literals => "literals",
            Target::Loaders => "loaders",
            Target::Link => "link",
            Target::Misfits => "misfits",
        }
    }

    /// The target of that name.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// What an input reached, in words that do not depend on its numbers: codes, outcomes, operations. A corpus holds an input
/// for each.
pub type Reached = BTreeSet<String>;

/// An input that broke something.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The input.
    pub input: Vec<u8>,
    /// What happened.
    pub message: String,
}

/// Feeds one random input; the seed names it.
pub fn feed(target: Target, corpus: &Corpus, seed: u64) -> Result<Reached, Failure> {
    let input = input(target, corpus, seed);
    judge_guarded(target, &input).map_err(|message| Failure { input, message })
}

/// The random input of a seed.
pub fn input(target: Target, corpus: &Corpus, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    match target {
        Target::Parser | Target::Checker | Target::Ir => texts::input(target, corpus, seed, &mut rng),
        Target::Commands => program::mutated(&mut rng, corpus).into_bytes(),
        Target::Literals => literals::program(&mut rng).into_bytes(),
        Target::Loaders => loaders::input(&mut rng),
        Target::Link => link::input(&mut rng),
        Target::Differential | Target::Misfits => seed.to_le_bytes().to_vec(),
    }
}

/// Gives one input to a target, and takes a panic for a failure.
pub fn judge_guarded(target: Target, input: &[u8]) -> Result<Reached, String> {
    guarded(|| judge(target, input)).and_then(|outcome| outcome)
}

/// Gives one input to a target: what it reached, or what is wrong with the outcome. For the differential target and for
/// misfits the first eight bytes are a seed.
pub fn judge(target: Target, input: &[u8]) -> Result<Reached, String> {
    match target {
        Target::Parser => texts::parse(input),
        Target::Checker => texts::check(input),
        Target::Ir => texts::read_ir(input),
        Target::Differential => differential::compare(seed(input)),
        Target::Commands | Target::Literals => program::judge(&String::from_utf8_lossy(input)),
        Target::Loaders => loaders::read(input),
        Target::Link => link::load(input),
        Target::Misfits => misfits::call(seed(input)),
    }
}

fn seed(input: &[u8]) -> u64 {
    let mut seed = [0; 8];
    seed.iter_mut().zip(input).for_each(|(s, byte)| *s = *byte);
    u64::from_le_bytes(seed)
}

/// A message without what is of this input alone: numbers, and what stands in backticks.
fn kind_of(message: &str) -> String {
    let outside: Vec<&str> = message.lines().next().unwrap_or_default().split('`').step_by(2).collect();
    outside.join("`").chars().filter(|c| !c.is_ascii_digit()).collect()
}
