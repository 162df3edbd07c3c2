//! The pipelines: plain lists of passes.

use crate::passes::{
    accumulate_to_map::accumulate_to_map,
    compose_reads::compose_reads,
    contract_fma::contract_fma,
    cse::cse,
    dce::dce,
    drop_order::drop_order,
    eliminate_checks::{KnownExtents, eliminate_checks},
    flatten_reductions::flatten_reductions,
    forward_accumulators::forward_accumulators,
    forward_stores::forward_stores,
    fuse::fuse,
    guard_zeros::guard_zeros,
    inline::{InlineLimit, inline},
    licm::{Moves, licm},
    merge_switches::merge_switches,
    recognize_matmul::recognize_matmul,
    region_cse::{region_cse, reuse_iteration_values},
    renumber::renumber,
    scalar_replacement::scalar_replacement,
    scatter_to_gather::scatter_to_gather,
    sum_before_map::sum_before_map,
    unroll::unroll,
};
use cotan_ir::{Function, Module};

/// More rounds than this find nothing in practice; the bound keeps the cost linear.
const MAX_ROUNDS: usize = 8;

/// Repeated expressions, identities, dead code and own-slot accumulators, until nothing changes. Results keep their bits,
/// and errors that somebody needs stay. The function has a table of just its own variables.
pub fn simplify(mut f: Function) -> Function {
    for _ in 0..MAX_ROUNDS {
        let before = f.body.clone();
        f = accumulate_to_map(dce(cse(f)));
        if f.body == before {
            break;
        }
    }
    renumber(f)
}

/// What lowered source code goes through before it is run or differentiated: calls inlined, simplified, parts of arrays
/// read directly, products and sums contracted. This decides the bits of the primal.
pub fn prepare(module: &Module, f: &Function, limit: InlineLimit) -> Function {
    let inlined = inline(module, f, limit);
    let direct = changed_by(changed_by(simplify(inlined), compose_reads), forward_stores);
    simplify(contract_fma(direct))
}

/// What a pass makes of a function that is simplified, simplified again if it did anything.
fn changed_by(f: Function, pass: impl Fn(Function) -> Function) -> Function {
    let changed = pass(f.clone());
    if changed == f { f } else { simplify(changed) }
}

/// Small loops written out, small tensors as scalars and the work of branches shared, until nothing changes. For code
/// that is to be run and no more differentiated: what reverse mode records, and how it shares among ties, is decided
/// before.
pub fn straighten(f: Function) -> Function {
    let mut f = simplify(f);
    for _ in 0..MAX_ROUNDS {
        let before = f.body.clone();
        f = simplify(merge_switches(simplify(scalar_replacement(unroll(f)))));
        if f.body == before {
            break;
        }
    }
    f
}

/// What code goes through before it runs, when no derivative of it is written any more: straightened, loop-invariant code
/// outside of loops, work that a zero makes needless in branches, no checks that hold for certain, loops over the same
/// indices fused, reductions over several indices taken as one and neighbours gathered, and no order for the sake of checks
/// that are gone. An element that is read without
/// a check may not be read any earlier; what comes after range analysis reads later, if anything, and finds more where there
/// are no checks.
pub fn optimize(f: Function) -> Function {
    optimize_given(f, &[])
}

fn optimize_given(f: Function, given: &[KnownExtents]) -> Function {
    simplify(drop_order(flatten_reductions(fused_given(f, given))))
}

/// All of it but the order.
fn fused_given(f: Function, given: &[KnownExtents]) -> Function {
    let without_checks = |f| simplify(eliminate_checks(f, given));
    let fused = |f| simplify(fuse(f));
    let hoisted = simplify(licm(straighten(f), Moves::All));
    let plain = fused(without_checks(simplify(guard_zeros(hoisted))));
    let gathered = scatter_to_gather(plain.clone());
    // The ends of what is gathered are conditions that mostly hold.
    if gathered == plain { plain } else { without_checks(fused(simplify(gathered))) }
}

/// What code goes through last, derivatives written and calls inlined: what was just written is not read again, sums of
/// contributions go straight to where they end up, or are added up by matrix products, or taken before linear maps, which
/// may round them elsewhere, what a derivative would run again is run once, and the rest is optimized.
pub fn finish(f: Function) -> Function {
    finish_given(f, &[])
}

/// The same for a function whose callers make sure of something.
pub fn finish_given(f: Function, given: &[KnownExtents]) -> Function {
    let f = changed_by(simplify(f), forward_stores);
    let f = simplify(reuse_iteration_values(simplify(region_cse(
        simplify(recognize_matmul(forward_accumulators(f))),
        given,
    ))));
    // Loops that are fused show what one iteration does to all that it sums up.
    let f = simplify(sum_before_map(fused_given(f, given)));
    simplify(drop_order(flatten_reductions(f)))
}
