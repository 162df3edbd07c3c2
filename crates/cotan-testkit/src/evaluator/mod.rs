//! A direct evaluator of the typed tree: what a program means, said a second time. Of output it knows only that it needs
//! its values.
//!
//! It shares nothing with the lowering and nothing with the engines. Values are structured, locals are environments,
//! control is the host's, derivatives are forward mode on scalars; of a scalar primitive it asks the op table, which has
//! tests of its own.
//!
//! **What must agree.** Results are those of the core IR without contraction, to the bit: every sum and product is
//! reduced in the documented order. Contraction rounds `a * b + c` once instead of twice, so optimised code is compared
//! within a tolerance, and so are derivatives, whose sums the language leaves free.
//!
//! **Failing checks.** Here everything runs in the order of the source. A failed check leaves a failure in place of the
//! value that it guards, and evaluation goes on: whoever needs that value fails with it, and all others do not. A
//! condition or trip count that failed leaves a failure in everything that its statement would have changed; what a type
//! tells of a value, such as the number of its elements, does not fail with it. At the end
//! there are all checks that failed, in order, and the first one that the result needs, if any. An engine agrees
//! ([`Outcome::agrees`]) exactly if
//!
//! - the result needs no failed check, and the engine gives the same value: it may skip what nobody needs; or
//! - the engine reports one of the failed checks, and none that the result needs comes before it: it may not make one
//!   up, nor report a later one than it must.
//!
//! An optimiser may find that a choice makes no difference, a branch with equal arms or a jump at the end, so that nobody
//! needs what decides about it; and that a derivative does not need all that its function needs. That is not known here:
//! of a run in which such a check failed the evaluator says nothing about optimised code ([`Outcome::may_need_less`]).

mod builtins;
mod calls;
mod checks;
mod combinators;
mod derivatives;
mod expressions;
mod folds;
mod frame;
mod host;
mod indexing;
mod kernels;
mod last_axis;
mod number;
mod operators;
mod outcome;
mod patterns;
mod rules;
mod statements;
mod traits;
mod value;
mod vectors;
mod vmaps;

pub use outcome::{Call, Linear, Outcome, same_host, takes_derivatives};
pub use value::Failure;

use checks::Checks;
use cotan_sema::typed::{DerivativeMode, Program};
use cotan_syntax::Span;
use frame::Frame;
use std::rc::Rc;

/// More than any test needs, and a bound on a loop that does not end.
const MAX_STEPS: u64 = 20_000_000;

/// The state of a run.
struct Machine<'p> {
    program: &'p Program,
    /// The body that runs.
    frame: Rc<Frame<'p>>,
    checks: Checks,
    /// The mode of each derivative that was begun.
    modes: Vec<DerivativeMode>,
    steps: u64,
    /// The call that was begun last.
    call_span: Span,
    /// The first failed check that output needs.
    unprinted: Option<Failure>,
    /// Whether a failed check decided what runs, or made a derivative fail.
    may_need_less: bool,
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program) -> Machine<'p> {
        Machine {
            program,
            frame: Rc::new(Frame::default()),
            checks: Checks::default(),
            modes: Vec::new(),
            steps: 0,
            call_span: Span::default(),
            unprinted: None,
            may_need_less: false,
        }
    }
}
