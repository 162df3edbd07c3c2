//! Parallel loops, and operations on whole arrays, that run one after the other over the same indices become one.
//!
//! An array that is made element by element, and read by a later loop at that loop's own indices, need not be made: the
//! loop computes the element where it reads it. If somebody else reads the array later on, the loop gives it as one more
//! result. Every element is computed once, from the same operands, so results keep their bits; what may fail stays where it
//! is.

use super::rename::{lengths, rename_block, substitute};
use super::users::users;
use cotan_ir::{Atom, Block, Elem, Function, Op, Par, ParResult, Stmt, Ty, Var, VarInfo, free_vars};
use cotan_ops::FILL;
use rustc_hash::FxHashSet;

/// Statements up to which the body of a loop may grow.
const MOST_STMTS: usize = 100;

/// The function with loops fused.
pub fn fuse(mut f: Function) -> Function {
    let lengths = lengths(&f.vars);
    let body = std::mem::take(&mut f.body);
    let body = Fuse { f: &mut f, lengths }.block(body);
    Function { body, ..f }
}

/// How the elements of an array are made, at the indices of the loop that takes them.
struct Element {
    stmts: Vec<Stmt>,
    value: Atom,
}

/// A statement that makes an array, and the one that takes its elements.
struct Pair {
    producer: usize,
    consumer: usize,
    array: Var,
    /// Whether somebody else reads the array, too.
    is_kept: bool,
}

struct Fuse<'a> {
    f: &'a mut Function,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
}

impl Fuse<'_> {
    fn block(&mut self, mut block: Block) -> Block {
        for s in &mut block.stmts {
            s.op.blocks_mut().iter_mut().for_each(|b| *b = self.block(std::mem::take(b)));
        }
        while let Some(pair) = self.pair(&block) {
            self.join(&mut block, &pair);
        }
        block
    }

    /// The last pair that can be joined.
    fn pair(&self, block: &Block) -> Option<Pair> {
        let users = users(self.f, block);
        (0..block.stmts.len()).rev().find_map(|producer| {
            let s = &block.stmts[producer];
            let [array] = s.results[..] else { return None };
            if !self.makes_elements(s) {
                return None;
            }
            let readers = users.get(&array)?;
            let takes = |k: usize| k < block.stmts.len() && self.takes(&block.stmts[k], array);
            if self.is_filled(s) {
                // One value in the place of an array costs nothing, however many read it.
                let consumer = readers.iter().copied().find(|k| takes(*k))?;
                return Some(Pair { producer, consumer, array, is_kept: false });
            }
            let consumer = *readers.iter().min()?;
            let is_kept = readers.iter().any(|k| *k != consumer);
            let between = block.stmts.get(producer + 1..consumer)?;
            let joins = takes(consumer)
                && !between.iter().any(|other| self.may_overwrite(other, s))
                && size(&block.stmts[consumer]) + size(s) <= MOST_STMTS;
            joins.then_some(Pair { producer, consumer, array, is_kept })
        })
    }

    /// Whether a statement makes an array element by element and cannot fail.
    fn makes_elements(&self, s: &Stmt) -> bool {
        let ty = self.f.ty(s.results[0]);
        match &s.op {
            Op::Prim { .. } => !ty.is_scalar(),
            Op::Tensor { op, .. } => *op == FILL.op() && !ty.is_scalar(),
            Op::Par(p) => {
                matches!(p.kinds[..], [ParResult::Stacked])
                    && p.accs.is_empty()
                    && p.indices.len() == ty.dims.len()
                    && self.is_plain(&p.body)
            }
            Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => false,
        }
    }

    /// Whether a block does nothing but compute scalars, and cannot fail.
    fn is_plain(&self, block: &Block) -> bool {
        block.stmts.iter().all(|s| {
            let is_plain = match &s.op {
                Op::Prim { .. } | Op::Index { .. } => true,
                Op::Switch { arms, .. } => arms.iter().all(|arm| self.is_plain(arm)),
                Op::Tensor { .. }
                | Op::Update { .. }
                | Op::AccAdd { .. }
                | Op::Par(_)
                | Op::Loop(_)
                | Op::Call { .. }
                | Op::Check { .. } => false,
            };
            is_plain && s.results.iter().all(|r| self.f.ty(*r).is_scalar() && !self.lengths.contains(r))
        })
    }

    /// Whether a statement goes through the elements of an array, and reads it at no other place.
    fn takes(&self, s: &Stmt, array: Var) -> bool {
        let dims = &self.f.ty(array).dims;
        match &s.op {
            // Of higher rank it is one loop over all elements now, and would become several.
            Op::Prim { .. } => dims.len() == 1 && self.f.ty(s.results[0]).dims == *dims,
            Op::Par(p) => {
                let same = p.extents.iter().map(|e| Some(*e)).eq(dims.iter().map(|d| Some(d.atom())));
                let (own, others) = self.reads(p, array);
                same && own > 0 && others == 0
            }
            Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => false,
        }
    }

    /// How often a loop reads an array at its own indices, by itself, and how often otherwise.
    fn reads(&self, p: &Par, array: Var) -> (usize, usize) {
        let (mut own, mut others) = (0, 0);
        for s in &p.body.stmts {
            if self.is_own_read(p, s, array) {
                own += 1;
                continue;
            }
            s.op.each_operand(&mut |a| others += usize::from(a == Atom::Var(array)));
            let binders = s.op.binders();
            for b in s.op.blocks() {
                others += usize::from(free_vars(self.f, b, &binders).contains(&array));
            }
        }
        p.body.results.iter().for_each(|a| others += usize::from(*a == Atom::Var(array)));
        let init_of = |kind: &ParResult| matches!(kind, ParResult::Reduced { init, .. } if *init == Atom::Var(array));
        others += p.kinds.iter().filter(|kind| init_of(kind)).count();
        others += p.accs.iter().filter(|acc| acc.init == Some(array.into())).count();
        (own, others)
    }

    fn is_own_read(&self, p: &Par, s: &Stmt, array: Var) -> bool {
        match &s.op {
            Op::Index { array: of, indices } => {
                *of == Atom::Var(array)
                    && indices.iter().copied().eq(p.indices.iter().map(|i| Atom::Var(*i)))
                    && !self.lengths.contains(&s.results[0])
            }
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => false,
        }
    }

    /// Whether a statement may want to change an array in place that another one reads.
    fn may_overwrite(&self, s: &Stmt, reader: &Stmt) -> bool {
        let mut read = reader.op.operands();
        let binders = reader.op.binders();
        for b in reader.op.blocks() {
            read.extend(free_vars(self.f, b, &binders).into_iter().map(Atom::Var));
        }
        let reads = |a: &Atom| a.var().is_some_and(|v| !self.f.ty(v).is_scalar()) && read.contains(a);
        match &s.op {
            Op::Update { array, .. } => reads(array),
            Op::Loop(l) => l.inits.iter().any(reads) || l.accs.iter().filter_map(|acc| acc.init).any(|a| reads(&a)),
            Op::Par(p) => p.accs.iter().filter_map(|acc| acc.init).any(|a| reads(&a)),
            Op::Call { args, .. } => args.iter().any(reads),
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::AccAdd { .. }
            | Op::Switch { .. }
            | Op::Check { .. } => false,
        }
    }

    fn join(&mut self, block: &mut Block, pair: &Pair) {
        let is_filled = self.is_filled(&block.stmts[pair.producer]);
        let mut taken = block.stmts[pair.consumer].clone();
        let mut p = self.as_par(&taken);
        let element = self.element(&block.stmts[pair.producer], &p.indices);
        let mut body =
            Block { stmts: Vec::with_capacity(p.body.stmts.len() + element.stmts.len()), ..Block::default() };
        let mut read = FxHashSet::default();
        let mut made = Some(element.stmts);
        for s in std::mem::take(&mut p.body.stmts) {
            if self.is_own_read(&p, &s, pair.array) {
                body.stmts.extend(made.take().into_iter().flatten());
                read.extend(s.results);
            } else {
                body.stmts.push(s);
            }
        }
        body.results = std::mem::take(&mut p.body.results);
        substitute(&mut body, &|a| if a.var().is_some_and(|v| read.contains(&v)) { element.value } else { a });
        p.body = body;
        if pair.is_kept {
            p.kinds.insert(0, ParResult::Stacked);
            p.body.results.insert(0, element.value);
            taken.results.insert(0, pair.array);
        }
        taken.op = Op::Par(Box::new(p));
        block.stmts[pair.consumer] = taken;
        let is_still_read = is_filled && users(self.f, block).contains_key(&pair.array);
        if !is_still_read {
            block.stmts.remove(pair.producer);
        }
    }

    /// A parallel loop, or an operation on whole arrays as one.
    fn as_par(&mut self, s: &Stmt) -> Par {
        match &s.op {
            Op::Par(p) => p.as_ref().clone(),
            Op::Prim { prim, args } => {
                let ty = self.f.ty(s.results[0]).clone();
                let indices: Vec<Var> = ty.dims.iter().map(|_| self.scalar("i", Elem::I64)).collect();
                let (stmts, value) = self.element_of_prim(s, *prim, args, &indices);
                let extents = ty.dims.iter().map(|d| d.atom()).collect();
                let body = Block { stmts, results: vec![value] };
                Par { indices, extents, kinds: vec![ParResult::Stacked], accs: Vec::new(), body }
            }
            Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => panic!("bug: what takes no elements was chosen to take some"),
        }
    }

    /// How an element is made at these indices.
    fn element(&mut self, s: &Stmt, indices: &[Var]) -> Element {
        match &s.op {
            Op::Prim { prim, args } => {
                let (stmts, value) = self.element_of_prim(s, *prim, args, indices);
                Element { stmts, value }
            }
            Op::Tensor { args, .. } => {
                // A tensor fills the leading dims.
                let rank = self.f.atom_ty(args[0]).dims.len();
                let (stmts, value) = self.read(s, args[0], &indices[indices.len() - rank..]);
                Element { stmts: stmts.into_iter().collect(), value }
            }
            Op::Par(p) => {
                let mut body = p.body.clone();
                let name = |v: Var| p.indices.iter().position(|i| *i == v).map_or(v, |k| indices[k]);
                rename_block(&mut body, &name);
                Element { value: body.results[0], stmts: body.stmts }
            }
            Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => panic!("bug: what makes no elements was chosen to make some"),
        }
    }

    fn element_of_prim(&mut self, s: &Stmt, prim: cotan_ir::Prim, args: &[Atom], indices: &[Var]) -> (Vec<Stmt>, Atom) {
        let mut stmts = Vec::with_capacity(args.len() + 1);
        let mut elements = Vec::with_capacity(args.len());
        for a in args {
            let (read, element) = self.read(s, *a, indices);
            stmts.extend(read);
            elements.push(element);
        }
        let name = self.f.name_of(s.results[0]).to_owned();
        let value = self.scalar(&name, self.f.ty(s.results[0]).elem);
        stmts.push(Stmt { results: vec![value], op: Op::Prim { prim, args: elements }, span: s.span });
        (stmts, value.into())
    }

    /// An element of an operand; a scalar is its own.
    fn read(&mut self, s: &Stmt, array: Atom, indices: &[Var]) -> (Option<Stmt>, Atom) {
        let ty = self.f.atom_ty(array);
        if ty.is_scalar() {
            return (None, array);
        }
        let v = self.scalar("elem", ty.elem);
        let indices = indices.iter().map(|i| Atom::Var(*i)).collect();
        (Some(Stmt { results: vec![v], op: Op::Index { array, indices }, span: s.span }), v.into())
    }

    /// Whether all elements of what a statement makes are one value that is there already.
    fn is_filled(&self, s: &Stmt) -> bool {
        match &s.op {
            Op::Tensor { args, .. } => self.f.atom_ty(args[0]).is_scalar(),
            Op::Par(p) => {
                let is_index = |a: &Atom| a.var().is_some_and(|v| p.indices.contains(&v));
                p.body.stmts.is_empty() && !p.body.results.iter().any(is_index)
            }
            Op::Prim { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => false,
        }
    }

    fn scalar(&mut self, name: &str, elem: Elem) -> Var {
        self.f.add_var(VarInfo { name: name.into(), ty: Ty { elem, dims: Vec::new() }, record: None })
    }
}

/// Statements, inner blocks included.
fn size(s: &Stmt) -> usize {
    1 + s.op.blocks().iter().flat_map(|b| &b.stmts).map(size).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::{Module, parse_function, verify};
    use cotan_ops::Ops;

    fn fused(text: &str) -> String {
        let f = crate::simplify(fuse(parse_function(text, &Ops).unwrap_or_else(|e| panic!("{e}"))));
        verify(&Module::default(), &f).unwrap_or_else(|errors| panic!("{}\n{f}", errors[0]));
        f.to_string()
    }

    fn becomes(text: &str, expected: &str) {
        let found = fused(text);
        assert_eq!(found, expected, "found\n{found}");
        assert_eq!(fused(expected), expected);
    }

    fn stays(text: &str) {
        becomes(text, text);
    }

    #[test]
    fn whole_arrays_one_after_the_other_are_one_loop() {
        becomes(
            "fn f(n: i64, c: f64, x: f64[n]) {
  a: f64[n] = fill c
  b: f64[n] = mul a, x
  d: f64[n] = exp b
  s: f64 = par i < n (add from 0.0) {
    e: f64 = d[i]
    yield e
  }
  return s
}
",
            "fn f(n: i64, c: f64, x: f64[n]) {
  s: f64 = par i < n (add from 0.0) {
    elem: f64 = x[i]
    b: f64 = mul c, elem
    d: f64 = exp b
    yield d
  }
  return s
}
",
        );
    }

    #[test]
    fn a_row_that_fills_a_matrix_is_read_at_its_column() {
        becomes(
            "fn f(n: i64, m: i64, x: f64[n]) {
  a: f64[m, n] = fill x
  s: f64 = par i < m, j < n (add from 0.0) {
    e: f64 = a[i, j]
    yield e
  }
  return s
}
",
            "fn f(n: i64, m: i64, x: f64[n]) {
  s: f64 = par i < m, j < n (add from 0.0) {
    elem: f64 = x[j]
    yield elem
  }
  return s
}
",
        );
    }

    #[test]
    fn an_array_that_is_read_again_is_one_more_result() {
        becomes(
            "fn f(n: i64, x: f64[n]) {
  a: f64[n] = par i < n (stack) {
    e: f64 = x[i]
    r: f64 = mul e, e
    yield r
  }
  b: f64[n] = exp a
  return a, b
}
",
            "fn f(n: i64, x: f64[n]) {
  a: f64[n], b: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    r: f64 = mul e, e
    b.1: f64 = exp r
    yield r, b.1
  }
  return a, b
}
",
        );
    }

    #[test]
    fn an_array_that_is_read_at_other_places_is_made_first() {
        for place in ["a[next]", "a[0]"] {
            stays(
                &format!(
                    "fn f(n: i64, x: f64[n]) {{
  a: f64[n] = exp x
  m: i64 = sub n, 1
  b: f64[n] = par i < n (stack) {{
    next: i64 = min i, m
    e: f64 = {place}
    r: f64 = add e, 1.0
    yield r
  }}
  return b
}}
"
                )
                .replace("    next: i64 = min i, m\n", if place == "a[0]" { "" } else { "    next: i64 = min i, m\n" })
                .replace("  m: i64 = sub n, 1\n", if place == "a[0]" { "" } else { "  m: i64 = sub n, 1\n" }),
            );
        }
    }

    #[test]
    fn what_an_inner_loop_reads_again_and_again_is_made_once() {
        stays(
            "fn f(n: i64, x: f64[n]) {
  a: f64[n] = exp x
  b: f64[n, n] = par i < n, j < n (stack) {
    e: f64 = a[j]
    g: f64 = a[i]
    r: f64 = mul e, g
    yield r
  }
  return b
}
",
        );
    }

    #[test]
    fn what_may_fail_or_be_changed_in_place_between_stays_where_it_is() {
        stays(
            "fn f(n: i64, x: f64[n]) {
  a: f64[n] = par i < n (stack) {
    e: f64 = x[i]
    ok: bool = gt e, 0.0
    c: f64 = check ok R0012() e
    yield c
  }
  b: f64[n] = exp a
  return b
}
",
        );
        stays(
            "fn f(n: i64, x: f64[n], k: i64) {
  y: f64[n] = reverse x {0}
  a: f64[n] = sin y
  u: f64[n] = update y[k] = 0.0
  b: f64[n] = cos a
  return u, b
}
",
        );
    }
}
