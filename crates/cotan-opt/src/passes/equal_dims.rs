//! Equality of dims: statements that rely on sizes being equal under different names.
//!
//! Types name sizes. That two names stand for one number is known from a check that was passed, or from code that runs only
//! then, and is not said again: a contribution goes to an accumulator of another name. Where the check has not been made,
//! memory of one size would be taken for memory of another; so such a statement may not run any earlier.

use cotan_ir::{Atom, Dim, Op, ParResult, Stmt, Ty, Var};
use cotan_ops::tensor_row;

/// Whether a statement, the blocks in it left out, relies on such sizes; `ty` gives the types of variables.
pub(super) fn relies_on_equal_dims(ty: &impl Fn(Var) -> Ty, s: &Stmt) -> bool {
    let dims = |a: Atom| a.var().map_or_else(Vec::new, |v| ty(v).dims);
    let of = |v: Var| ty(v).dims;
    match &s.op {
        Op::Prim { args, .. } => {
            let result = of(s.results[0]);
            args.iter().map(|a| dims(*a)).any(|found| !found.is_empty() && found != result)
        }
        Op::Tensor { op, args, attrs } => {
            let of_args: Vec<Vec<Dim>> = args.iter().map(|a| dims(*a)).collect();
            let of_args: Vec<&[Dim]> = of_args.iter().map(Vec::as_slice).collect();
            match tensor_row(*op).shape.holds(&of_args, attrs, &of(s.results[0])) {
                Some(holds) => !holds,
                // Of the others, those that take scalars alone.
                None => of_args.iter().any(|dims| !dims.is_empty()),
            }
        }
        Op::Index { array, indices } => dims(*array).get(indices.len()..) != Some(&of(s.results[0])),
        Op::Update { array, indices, value } => {
            let all = dims(*array);
            all != of(s.results[0]) || all.get(indices.len()..) != Some(&dims(*value))
        }
        Op::AccAdd { acc, indices, value } => of(*acc).get(indices.len()..) != Some(&dims(*value)),
        Op::Par(p) => {
            let extents: Vec<Dim> = p.extents.iter().map(|e| Dim::from_atom(*e)).collect();
            let results = p.kinds.iter().zip(&p.body.results).zip(&s.results);
            let mut differ = results.map(|((kind, given), result)| match kind {
                ParResult::Stacked => [&extents[..], &dims(*given)].concat() != of(*result),
                ParResult::Reduced { init, .. } => dims(*given) != of(*result) || dims(*init) != of(*result),
            });
            let of_accs = &s.results[p.kinds.len()..];
            differ.any(|differs| differs)
                || p.accs.iter().zip(of_accs).any(|(acc, result)| {
                    of(acc.var) != of(*result) || acc.init.is_some_and(|init| dims(init) != of(*result))
                })
        }
        Op::Loop(l) => {
            let results = l.split(&s.results);
            let (next, elements) = l.body.results.split_at(l.params.len());
            let carried = l.params.iter().zip(&l.inits).zip(next).zip(results.carried);
            let mut differ = carried.map(|(((param, init), next), result)| {
                let own = of(*param);
                dims(*init) != own || dims(*next) != own || of(*result) != own
            });
            let accs = l.accs.iter().zip(results.accs);
            let mut accs_differ = accs.filter_map(|(acc, result)| {
                let init = dims(acc.init?);
                Some(of(acc.var) != init || of(*result) != init)
            });
            // The first dim is the number of iterations.
            let mut stacked = elements.iter().zip(results.stacked);
            differ.any(|differs| differs)
                || accs_differ.any(|differs| differs)
                || stacked.any(|(element, result)| of(*result).get(1..) != Some(&dims(*element)))
        }
        Op::Switch { arms, .. } => {
            let given = arms.iter().flat_map(|arm| arm.results.iter().zip(&s.results));
            given.map(|(given, result)| (dims(*given), of(*result))).any(|(given, result)| given != result)
        }
        Op::Call { .. } => true,
        Op::Check { value, .. } => dims(*value) != of(s.results[0]),
    }
}
