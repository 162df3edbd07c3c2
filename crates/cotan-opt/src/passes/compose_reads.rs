//! Composition of reads: an index of an index is one index of the array.
//!
//! What reads single rows of a matrix that was taken from a larger array then adds, in reverse mode, single rows to the
//! derivative of that array, and no matrix of zeros and rows is made. So this comes before derivatives are written.
//!
//! Nothing is read any later than where something changes its array in place: a copy of the whole would be dearer than
//! one of the part. A read in an inner block stays one of the part, which is nearer: contributions to it are added up
//! there.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Op, OperandRole, Var};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "compose_reads",
    doc: "Reads of a part of an array that was itself read from an array become reads of that array.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| compose_reads(f),
};

/// The function with parts of arrays read from the arrays themselves.
pub fn compose_reads(mut f: Function) -> Function {
    let mut body = std::mem::take(&mut f.body);
    block(&f, &mut body);
    f.body = body;
    f
}

/// A part of an array.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) array: Atom,
    pub(super) indices: Vec<Atom>,
}

fn block(f: &Function, b: &mut Block) {
    // What nothing has changed since.
    let mut parts: FxHashMap<Var, Part> = FxHashMap::default();
    for s in &mut b.stmts {
        for a in changed(&s.op) {
            parts.retain(|_, part| part.array != a);
        }
        s.op.blocks_mut().iter_mut().for_each(|inner| block(f, inner));
        let Op::Index { array, indices } = &mut s.op else { continue };
        let result = s.results[0];
        if let Some(outer) = array.var().and_then(|v| parts.get(&v)) {
            let all = [&outer.indices[..], indices].concat();
            if has_dims(f, outer.array, &all, result) {
                (*array, *indices) = (outer.array, all);
            }
        }
        if !f.ty(result).is_scalar() {
            parts.insert(result, Part { array: *array, indices: indices.clone() });
        }
    }
}

/// Whether the part of an array at these indices has the dims of a variable, name by name.
pub(super) fn has_dims(f: &Function, array: Atom, indices: &[Atom], v: Var) -> bool {
    f.atom_ty(array).dims.get(indices.len()..) == Some(&f.ty(v).dims)
}

/// The arrays that an operation may change in place.
pub(super) fn changed(op: &Op) -> Vec<Atom> {
    let mut all = op.operands_as(OperandRole::may_be_overwritten);
    if let Op::Switch { arms, .. } = op {
        all.extend(arms.iter().flat_map(|arm| &arm.stmts).flat_map(|s| changed(&s.op)));
        all.extend(arms.iter().flat_map(|arm| &arm.results));
    } else if let Op::Tensor { args, .. } = op {
        // It may give an operand a new name, and more happens to that. So may a check.
        all.extend(args);
    } else if let Op::Check { value, .. } = op {
        all.push(*value);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::{Module, parse_function, verify};
    use cotan_ops::Registry;

    fn becomes(text: &str, expected: &str) {
        let direct = |text: &str| {
            let f = crate::simplify(compose_reads(
                parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}")),
            ));
            verify(&Module::default(), &f).unwrap_or_else(|errors| panic!("{}\n{f}", errors[0]));
            f.to_string()
        };
        let found = direct(text);
        assert_eq!(found, expected, "found\n{found}");
        assert_eq!(direct(expected), expected);
    }

    #[test]
    fn a_row_of_a_matrix_of_an_array_is_a_row_of_the_array() {
        becomes(
            "fn f(n: i64, m: i64, a: f64[n, 2, 4, m], i: i64) {
  ok: bool = in_range i, n
  at: i64 = check ok R0001(i, n) i
  matrix: f64[2, 4, m] = a[at]
  half: f64[4, m] = matrix[1]
  row: f64[m] = half[3]
  own: bool = in_range i, m
  place: i64 = check own R0001(i, m) i
  x: f64 = row[place]
  return row, x
}
",
            "fn f(n: i64, m: i64, a: f64[n, 2, 4, m], i: i64) {
  ok: bool = in_range i, n
  at: i64 = check ok R0001(i, n) i
  row: f64[m] = a[at, 1, 3]
  own: bool = in_range i, m
  place: i64 = check own R0001(i, m) i
  x: f64 = a[at, 1, 3, place]
  return row, x
}
",
        );
    }

    #[test]
    fn a_part_that_others_need_stays_beside_it() {
        becomes(
            "fn f(n: i64, m: i64, a: f64[n, m], i: i64) {
  at: i64 = check true R0001(i, n) i
  row: f64[m] = a[0]
  x: f64 = row[1]
  e: f64[m] = exp row
  return x, e
}
",
            "fn f(n: i64, m: i64, a: f64[n, m], i: i64) {
  row: f64[m] = a[0]
  x: f64 = a[0, 1]
  e: f64[m] = exp row
  return x, e
}
",
        );
    }

    #[test]
    fn a_part_is_read_where_its_array_was_changed_and_in_inner_loops() {
        let text = "fn f(n: i64, m: i64, x: f64[n, m]) {
  y: f64[n, m] = loop i < n (a: f64[n, m] = x) {
    row: f64[m] = a[i]
    b: f64[n, m] = update a[0, 0] = 1.0
    first: f64 = row[0]
    s: f64 = par j < m (add from first) {
      e: f64 = row[j]
      yield e
    }
    c: f64[n, m] = update b[i, 0] = s
    yield c
  }
  return y
}
";
        becomes(text, text);
    }
}
