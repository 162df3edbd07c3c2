//! Preparation of a function for differentiation: source to source, without knowledge of a sweep.
//!
//! A private copy is simplified first: a duplicated read would be recorded twice, and a duplicated accumulation hides that an
//! accumulator is a stacked result. Then the passes of [`PASSES`] run in their order. Debug builds verify the function
//! after each. The loops to differentiate forward are chosen before the first pass that changes loops.

mod checkpoints;
mod clamp_counts;
mod collapse_nests;
mod forward_regions;
mod pass;
mod products;
mod slopes;

pub use self::pass::Pass;

use self::pass::Preparation;
use crate::state::{Prepared, Session};
use cotan_ir::{Derived, Function};
use cotan_opt::passes::inline::inline;

/// The passes in front of a derivative, in their order.
pub static PASSES: &[&Pass] =
    &[&products::PASS, &clamp_counts::PASS, &collapse_nests::PASS, &checkpoints::PASS, &slopes::PASS];

/// The copy of `f` for the derivative `d`.
pub(crate) fn prepared(session: &mut Session<'_>, f: &Function, d: &Derived) -> Prepared {
    let mut f = cotan_opt::simplify(inline(session.module(), f, session.limits().inline));
    let mut preparation = Preparation::new(session, d);
    for pass in PASSES.iter().filter(|pass| pass.modes.contains(&d.mode)) {
        f = (pass.run)(f, &mut preparation);
        preparation.session.observe(pass.name, &f);
    }
    let active = preparation.active(&f);
    let Preparation { regions, segmented, slopes, .. } = preparation;
    Prepared { f, active, segmented, regions, slopes }
}

/// A function after one pass alone, as the derivative `d` of it would see it.
pub(crate) fn after_pass(session: &mut Session<'_>, pass: &Pass, f: Function, d: &Derived) -> Function {
    let f = (pass.run)(f, &mut Preparation::new(session, d));
    session.observe(pass.name, &f);
    f
}
