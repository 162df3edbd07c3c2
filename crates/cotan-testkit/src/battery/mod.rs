//! Every operation of a registry as a program of its own, under all oracles. Nothing here names an operation.

mod contexts;
mod digits;
pub mod mutants;
mod subjects;

pub use contexts::check_forms;

use crate::derived_case::{Case, Subject};
use crate::oracles::{COMPILED_IN_EVERY_WAY, FIRST_ORDER, SECOND_ORDER, Verdict};
use crate::parallel;
use cotan_ir::Elem;
use cotan_ops::{PrimRow, Registry, TensorRow};
use subjects::Use;

/// Sampled points of every primitive in each of its float types.
const POINTS: u64 = 8;

/// The oracle that sees values alone.
const FINITE_DIFFERENCE: &str = "finite difference";

/// An operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// A scalar primitive.
    Prim(&'static PrimRow),
    /// An operation on tensors.
    Tensor(&'static TensorRow),
}

impl Operation {
    /// The operations of a registry.
    pub fn all(registry: &Registry) -> Vec<Operation> {
        let prims = registry.prims().iter().copied().map(Operation::Prim);
        prims.chain(registry.tensor_ops().iter().copied().map(Operation::Tensor)).collect()
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Prim(row) => row.name(),
            Operation::Tensor(record) => record.name(),
        }
    }

    /// Programs of this operation alone, with arguments from its samples: none where no float comes out of it.
    pub fn subjects(self, elem: Elem, points: std::ops::Range<u64>) -> Vec<Subject> {
        self.uses(elem, points).iter().map(Use::alone).collect()
    }

    /// Uses with arguments from its samples.
    fn uses(self, elem: Elem, points: std::ops::Range<u64>) -> Vec<Use> {
        match self {
            Operation::Prim(row) => subjects::of_row(row, elem, &[], points),
            Operation::Tensor(record) => subjects::of_record(record, elem, points),
        }
    }

    /// Whether its values say otherwise than its derivatives, as those of what stops them.
    fn redirects_derivative(self) -> bool {
        match self {
            Operation::Prim(row) => row.redirects_derivative(),
            Operation::Tensor(_) => false,
        }
    }
}

/// What the battery found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Operations with a float among operands and results.
    pub operations: usize,
    /// Points in all.
    pub points: usize,
    /// Points in f64, where finite differences are precise enough to judge.
    pub double_points: usize,
    /// Those of them at which they could.
    pub usable: usize,
    /// What is wrong.
    pub failures: Vec<String>,
}

/// Puts every operation before all oracles.
pub fn check_all(registry: &Registry) -> Report {
    let mut report = Report::default();
    for operation in Operation::all(registry) {
        let of = |elem| operation.subjects(elem, 0..POINTS).into_iter().map(move |subject| (elem, subject));
        let subjects: Vec<(Elem, Subject)> = of(Elem::F64).chain(of(Elem::F32)).collect();
        report.operations += usize::from(!subjects.is_empty());
        report.points += subjects.len();
        report.double_points += subjects.iter().filter(|(elem, _)| *elem == Elem::F64).count();
        let verdicts = parallel::map(&subjects, |(elem, subject)| (*elem, check(operation, *elem, subject.clone())));
        for (at, (elem, verdict)) in verdicts.into_iter().enumerate() {
            match verdict {
                Ok(is_usable) => report.usable += usize::from(is_usable && elem == Elem::F64),
                Err(e) => report.failures.push(format!("{} on {elem}, point {at}: {e}", operation.name())),
            }
        }
    }
    report
}

/// Whether finite differences could judge, or what is wrong.
fn check(operation: Operation, elem: Elem, subject: Subject) -> Result<bool, String> {
    let mut case = Case::new(subject)?;
    let mut is_usable = false;
    for oracle in FIRST_ORDER.iter().chain([&COMPILED_IN_EVERY_WAY]) {
        if oracle.name == FINITE_DIFFERENCE && operation.redirects_derivative() {
            is_usable = elem == Elem::F64;
            continue;
        }
        match (oracle.ask)(&case) {
            Verdict::Fails(reason) => return Err(format!("`{}`: {reason}", oracle.name)),
            Verdict::Holds => is_usable |= oracle.name == FINITE_DIFFERENCE,
            Verdict::Unusable(_) => {}
        }
    }
    if case.wrt.is_empty() {
        // There is nothing to differentiate by.
        return Ok(true);
    }
    case.derive_twice()?;
    match (SECOND_ORDER.ask)(&case) {
        Verdict::Fails(reason) => Err(format!("`{}`: {reason}", SECOND_ORDER.name)),
        Verdict::Holds | Verdict::Unusable(_) => Ok(is_usable),
    }
}
