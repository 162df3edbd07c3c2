//! Store-to-load forwarding and dead store elimination.
//!
//! A value that was just written to an array is not read from it, and an overwritten value is not written. A read of the
//! place of a write gives what was written, also through writes to other places. A part that is written
//! twice, and that nobody reads in between, is written once.
//!
//! A tensor that was written is taken in the place of a read only as long as nothing changes it in place: it would have to
//! be copied. Who reads an array needs the checks of all indices that it was written at. So the writes that are passed
//! over are at indices of loops and parameters, and what is made of them; and if a check would be lost all the same,
//! everything stays as it is.

use super::compose_reads::{Part, changed, has_dims};
use super::dce::dce;
use super::eliminate_checks::checks;
use super::rename::{lengths, may_become, retyped};
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Op, Var, count_uses};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "forward_stores",
    doc: "Reads of elements that were just written take the written value, and overwritten writes go.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| forward_stores(f),
};

/// How many writes a read is followed through.
const MOST_WRITES: usize = 32;

/// The function without reads of what was just written, and without writes that are overwritten unseen; it has no dead
/// code.
pub fn forward_stores(f: Function) -> Function {
    let f = dce(f);
    let mut body = f.body.clone();
    let mut plain = FxHashSet::default();
    plain.extend(&f.params);
    let mut pass = Reads { f: &f, lengths: lengths(&f.vars), plain, writes: FxHashMap::default() };
    pass.block(&mut body);
    let n_uses = count_uses(&body, &f.vars);
    pass.drop_overwritten(&mut body, &n_uses);
    if body == f.body {
        return f;
    }
    let direct = dce(Function { body, ..f.clone() });
    let (mut needed, mut left) = (FxHashSet::default(), FxHashSet::default());
    checks(&f.body, &mut needed);
    checks(&direct.body, &mut left);
    if needed.is_subset(&left) { direct } else { f }
}

struct Reads<'a> {
    f: &'a Function,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    /// Parameters, the numbers of loops, and what primitives make of them: no check is behind these.
    plain: FxHashSet<Var>,
    /// The arrays that come of a write: what was written to, where, and what.
    writes: FxHashMap<Var, (Part, Atom)>,
}

impl Reads<'_> {
    fn block(&mut self, block: &mut Block) {
        // The writes of this block of something that nothing has changed since.
        let mut fresh: FxHashSet<Var> = FxHashSet::default();
        for s in &mut block.stmts {
            for a in changed(&s.op) {
                fresh.retain(|v| self.writes.get(v).is_none_or(|(_, value)| *value != a));
            }
            self.plain.extend(s.op.indices().into_iter().map(|(index, _)| index));
            if let Op::Prim { args, .. } = &s.op
                && self.are_plain(args)
            {
                self.plain.extend(&s.results);
            }
            s.op.blocks_mut().iter_mut().for_each(|b| self.block(b));
            if let Op::Update { array, indices, value } = &s.op {
                let to = Part { array: *array, indices: indices.clone() };
                self.writes.insert(s.results[0], (to, *value));
                fresh.insert(s.results[0]);
            }
            let Op::Index { array, indices } = &mut s.op else { continue };
            let Some((value, rest)) = self.written(*array, indices, &fresh) else { continue };
            let result = s.results[0];
            if rest.is_empty() {
                if may_become(result, value, &self.f.vars, &self.lengths) {
                    s.op = retyped(value);
                }
            } else if has_dims(self.f, value, &rest, result) {
                (*array, *indices) = (value, rest);
            }
        }
    }

    /// What was written to a place of an array, and the indices of that place in what was written. A tensor must be
    /// `fresh`: written in the same block, and not changed since.
    fn written(&self, mut array: Atom, indices: &[Atom], fresh: &FxHashSet<Var>) -> Option<(Atom, Vec<Atom>)> {
        for _ in 0..MOST_WRITES {
            let v = array.var()?;
            let (to, value) = self.writes.get(&v).filter(|(to, _)| self.are_plain(&to.indices))?;
            if let Some(rest) = indices.strip_prefix(&to.indices[..]) {
                let is_near = self.f.atom_ty(*value).is_scalar() || fresh.contains(&v);
                return is_near.then(|| (*value, rest.to_vec()));
            }
            let are_apart = |(a, b): (&Atom, &Atom)| a.constant().is_some() && b.constant().is_some() && a != b;
            if !indices.iter().zip(&to.indices).any(are_apart) {
                return None;
            }
            array = to.array;
        }
        None
    }

    fn are_plain(&self, atoms: &[Atom]) -> bool {
        atoms.iter().filter_map(|a| a.var()).all(|v| self.plain.contains(&v))
    }

    /// Lets writes start from the array before a write of the same block that they overwrite and nobody else sees.
    fn drop_overwritten(&self, block: &mut Block, n_uses: &[u32]) {
        let mut writes: FxHashMap<Var, Part> = FxHashMap::default();
        for s in &mut block.stmts {
            if let Op::Update { array, indices, .. } = &mut s.op {
                let is_overwritten = |v: &Var, before: &Part| {
                    n_uses[v.index()] == 1
                        && self.f.vars[v.index()].record.is_none()
                        && before.indices.starts_with(indices)
                        && self.are_plain(&before.indices)
                        && self.f.atom_ty(before.array) == *self.f.ty(*v)
                };
                if let Some(v) = array.var()
                    && let Some(before) = writes.get(&v)
                    && is_overwritten(&v, before)
                {
                    *array = before.array;
                }
                writes.insert(s.results[0], Part { array: *array, indices: indices.clone() });
            }
            s.op.blocks_mut().iter_mut().for_each(|b| self.drop_overwritten(b, n_uses));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::{Module, parse_function, verify};
    use cotan_ops::Registry;

    fn becomes(text: &str, expected: &str) {
        let direct = |text: &str| {
            let f = crate::simplify(forward_stores(
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
    fn what_was_written_is_not_read_again() {
        becomes(
            "fn f(n: i64, m: i64, x: f64[n, m], v: f64[m], s: f64) {
  a: f64[n, m] = update x[0] = v
  b: f64[n, m] = update a[1, 0] = s
  row: f64[m] = b[0]
  e: f64 = b[0, 2]
  t: f64 = b[1, 0]
  r: f64 = par i < n (add from 0.0) {
    u: f64 = b[1, 0]
    w: f64 = mul u, 2.0
    yield w
  }
  return b, row, e, t, r
}
",
            "fn f(n: i64, m: i64, x: f64[n, m], v: f64[m], s: f64) {
  a: f64[n, m] = update x[0] = v
  b: f64[n, m] = update a[1, 0] = s
  e: f64 = v[2]
  r: f64 = par i < n (add from 0.0) {
    w: f64 = mul s, 2.0
    yield w
  }
  return b, v, e, s, r
}
",
        );
    }

    #[test]
    fn another_place_is_read() {
        let text = "fn f(n: i64, m: i64, x: f64[n, m], s: f64, i: i64) {
  a: f64[n, m] = update x[0, 1] = s
  e: f64 = a[0, 2]
  k: i64 = max i, 0
  b: f64[n, m] = update a[0, 3] = e
  row: f64[m] = b[0]
  c: f64[n, m] = update b[k, 3] = 1.0
  g: f64 = c[0, 3]
  return c, row, g
}
";
        becomes(text, text);
    }

    #[test]
    fn a_tensor_that_was_changed_since_is_read_from_where_it_was_written() {
        let text = "fn f(n: i64, m: i64, x: f64[n, m], y: f64[m]) {
  v: f64[m] = exp y
  a: f64[n, m] = update x[0] = v
  w: f64[m] = update v[0] = 1.0
  row: f64[m] = a[0]
  return a, w, row
}
";
        becomes(text, text);
    }

    #[test]
    fn a_check_that_only_the_array_needs_is_not_lost() {
        let at_checked_place = "fn f(n: i64, x: f64[n], i: i64, s: f64) {
  ok: bool = in_range i, n
  at: i64 = check ok R0001(i, n) i
  a: f64[n] = update x[at] = s
  e: f64 = a[at]
  return e
}
";
        let behind = "fn f(n: i64, x: f64[n], i: i64, s: f64) {
  ok: bool = in_range i, n
  at: i64 = check ok R0001(i, n) i
  a: f64[n] = update x[at] = s
  b: f64[n] = update a[0] = s
  e: f64 = b[0]
  return e
}
";
        becomes(at_checked_place, at_checked_place);
        becomes(behind, behind);
    }

    #[test]
    fn what_is_overwritten_unseen_is_not_written() {
        becomes(
            "fn f(n: i64, m: i64, x: f64[n, m], v: f64[m], i: i64) {
  a: f64[n, m] = update x[i, 0] = 1.0
  zero: f64[m] = fill 0.0
  b: f64[n, m] = update a[i] = zero
  c: f64[n, m] = update b[i] = v
  return c
}
",
            "fn f(n: i64, m: i64, x: f64[n, m], v: f64[m], i: i64) {
  c: f64[n, m] = update x[i] = v
  return c
}
",
        );
    }

    #[test]
    fn what_somebody_sees_or_what_is_overwritten_in_part_is_written() {
        let text = "fn f(n: i64, m: i64, x: f64[n, m], v: f64[m], i: i64, k: i64) {
  a: f64[n, m] = update x[i] = v
  b: f64[n, m] = update a[i, 0] = 1.0
  c: f64[n, m] = update b[k, 0] = 2.0
  d: f64[n, m] = update c[k, 0] = 3.0
  return c, d
}
";
        becomes(text, text);
    }
}
