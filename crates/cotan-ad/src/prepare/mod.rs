//! Preparation of a function for differentiation: source to source, without knowledge of a sweep.
//!
//! A private copy is simplified first: a duplicated read would be recorded twice, and a duplicated accumulation hides that an
//! accumulator is a stacked result. In both modes products become loops. Reverse mode also clamps trip counts to lengths,
//! chooses the loops to differentiate forward, collapses perfect nests, cuts loops at checkpoints and adds slopes.

mod checkpoints;
mod clamp_counts;
mod collapse_nests;
mod forward_regions;
mod products;
mod slopes;

use self::checkpoints::segment_loops;
use self::clamp_counts::clamp_counts;
use self::collapse_nests::collapse_nests;
use self::forward_regions::choose_regions;
use self::products::lower_products;
use self::slopes::add_slopes;
use crate::analysis::activity::VarSet;
use crate::state::{ForwardRegions, Prepared, Segmented, Session, Slopes};
use cotan_ir::{Function, Mode};
use cotan_opt::passes::inline::inline;
use cotan_opt::passes::licm::{Moves, licm};

/// The copy to differentiate in this mode.
pub(crate) fn prepared(
    session: &mut Session<'_>,
    f: &Function,
    mode: Mode,
    active: impl Fn(&Function) -> VarSet,
) -> Prepared {
    let mut f = cotan_opt::simplify(inline(session.module(), f, session.limits().inline));
    let products = active(&f);
    lower_products(&mut f, &products);
    let (mut regions, mut segmented, mut slopes) = (ForwardRegions::default(), Segmented::default(), Slopes::default());
    match mode {
        Mode::Vjp => {
            clamp_counts(&mut f);
            f = licm(f, Moves::Integers);
            // Before checkpoints change the loops, because they must not change the choice.
            regions = choose_regions(session, &f, &active(&f));
            f = collapse_nests(f, &regions, &active);
            segmented = segment_loops(&mut f, &regions);
            let active = active(&f);
            slopes = add_slopes(&mut f, &active, &regions);
        }
        Mode::Jvp => {}
    }
    let active = active(&f);
    Prepared { f, active, segmented, regions, slopes }
}
