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
use crate::state::{ForwardRegions, Prepared, Segmented, Session, Slopes};
use cotan_ir::{Derived, Function, Mode};
use cotan_opt::passes::inline::inline;
use cotan_opt::passes::licm::{Moves, licm};

/// The passes in front of a derivative, in their order.
pub static PASSES: &[&Pass] =
    &[&products::PASS, &clamp_counts::PASS, &HOIST_INTEGERS, &collapse_nests::PASS, &checkpoints::PASS, &slopes::PASS];

static HOIST_INTEGERS: Pass = Pass {
    name: "hoist_integers",
    doc: "Loop-invariant integer arithmetic moves out of loops, so that the counts of inner loops are known outside.",
    modes: &[Mode::Vjp],
    run: |f, _| licm(f, Moves::Integers),
};

/// The copy of `f` for the derivative `d`.
pub(crate) fn prepared(session: &mut Session<'_>, f: &Function, d: &Derived) -> Prepared {
    let mut f = cotan_opt::simplify(inline(session.module(), f, session.limits().inline));
    let (regions, segmented, slopes) = (ForwardRegions::default(), Segmented::default(), Slopes::default());
    let mut preparation = Preparation { session, d, regions, segmented, slopes };
    for pass in PASSES.iter().filter(|pass| pass.modes.contains(&d.mode)) {
        f = (pass.run)(f, &mut preparation);
        preparation.session.observe(pass.name, &f);
    }
    let active = preparation.active(&f);
    let Preparation { regions, segmented, slopes, .. } = preparation;
    Prepared { f, active, segmented, regions, slopes }
}
