//! Write effects on accumulators of enclosing regions.

use cotan_ir::{Stmt, Var};
use rustc_hash::FxHashSet;

/// Whether a statement writes to no accumulator of a region around it, so that its copies may be exchanged.
pub(crate) fn is_closed(s: &Stmt) -> bool {
    written_around(s).next().is_none()
}

/// The accumulators of enclosing regions that a statement writes to, in no particular order.
pub(crate) fn written_around(s: &Stmt) -> impl Iterator<Item = Var> + use<> {
    let own: FxHashSet<Var> = s.walk().flat_map(|s| s.op.accs()).map(|acc| acc.var).collect();
    let written: FxHashSet<Var> = s.op.blocks().iter().flat_map(cotan_ir::written_accs).collect();
    written.into_iter().filter(move |acc| !own.contains(acc))
}
