//! The pipelines: plain lists of passes.

use crate::passes::{
    compact::compact,
    contract::contract,
    cse::cse,
    dce::dce,
    direct::direct,
    flatten::flatten,
    fuse::fuse,
    gather::gather,
    hoist::{Moves, hoist},
    inline::{InlineLimit, inline},
    linear::linear,
    merge_switches::merge_switches,
    order::order,
    own_slots::own_slots,
    parts::parts,
    products::products,
    ranges::{Given, ranges_given},
    scalar_replacement::scalar_replacement,
    sink::sink,
    twins::{recall, twins_given},
    unroll::unroll,
    writes::writes,
};
use cotan_ir::{Function, Module};

/// More rounds than this find nothing in practice; the bound keeps the cost linear.
const MAX_ROUNDS: usize = 8;

/// Repeated expressions, identities, dead code and own-slot accumulators, until nothing changes. Results keep their bits,
/// and errors that somebody needs stay. The function has a table of just its own variables.
pub fn simplify(mut f: Function) -> Function {
    for _ in 0..MAX_ROUNDS {
        let before = f.body.clone();
        f = own_slots(dce(cse(f)));
        if f.body == before {
            break;
        }
    }
    compact(f)
}

/// What lowered source code goes through before it is run or differentiated: calls inlined, simplified, parts of arrays
/// read directly, products and sums contracted. This decides the bits of the primal.
pub fn prepare(module: &Module, f: &Function, limit: InlineLimit) -> Function {
    let inlined = inline(module, f, limit);
    let direct = changed_by(changed_by(simplify(inlined), parts), writes);
    simplify(contract(direct))
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

fn optimize_given(f: Function, given: &[Given]) -> Function {
    simplify(order(flatten(fused_given(f, given))))
}

/// All of it but the order.
fn fused_given(f: Function, given: &[Given]) -> Function {
    let without_checks = |f| simplify(ranges_given(f, given));
    let fused = |f| simplify(fuse(f));
    let hoisted = simplify(hoist(straighten(f), Moves::All));
    let plain = fused(without_checks(simplify(sink(hoisted))));
    let gathered = gather(plain.clone());
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
pub fn finish_given(f: Function, given: &[Given]) -> Function {
    let f = changed_by(simplify(f), writes);
    let f = simplify(recall(simplify(twins_given(simplify(products(direct(f))), given))));
    // Loops that are fused show what one iteration does to all that it sums up.
    let f = simplify(linear(fused_given(f, given)));
    simplify(order(flatten(f)))
}
