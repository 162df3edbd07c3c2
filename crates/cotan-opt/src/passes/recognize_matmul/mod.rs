//! Idiom recognition: sums that three nested parallel loops add up become matrix products.
//!
//! The reverse sweep of a product that was written as loops adds to the cotangent of each factor, `a_cot[i, k] += c_cot[i, j]
//! b[k, j]`, in loops over `i`, `j` and `k`. That is a matrix product: the sum over one index, of two factors of which each
//! depends on that index and on one index of the element. It is made one where each side of it may be large; a matrix that
//! is not in memory as it is needed, because a factor is computed in the loops, is made first, which takes as many steps as
//! it has elements. What else the loops do they go on doing.
//!
//! Only products in which an exact zero wins ([`MULZ`]) are taken: they belong to derivatives, whose order of adding up is
//! free. The sums of `+/` have a documented order, and loops of values round each product. The order is that of the loops
//! anyway, unless a sum does not start from zero or is long.

use crate::pass::{Pass, Promise};
use cotan_ir::{
    Acc, AccKind, Atom, Block, Const, Dim, Elem, Function, Monoid, Op, Par, ParResult, Span, Stmt, Symbol, Ty, Var,
    VarInfo,
};
use cotan_ops::{ADD, FILL, MATMUL, MULZ, STRONG, TRANSPOSE};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "recognize_matmul",
    doc: "Sums of products in three nested parallel loops become matrix products.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| recognize_matmul(f),
};

/// Products of two numbers below which loops are as good, where that is known.
const LEAST_WORK: i64 = 1 << 14;
/// The least extent of a product that is made.
const LEAST_SIDE: i64 = 4;

/// The function with matrix products in the place of sums in nests of its own block.
pub fn recognize_matmul(mut f: Function) -> Function {
    let mut at = 0;
    while at < f.body.stmts.len() {
        while let Some(found) = find(&f, &f.body.stmts[at]) {
            take_out(&mut f, at, &found);
        }
        at += 1;
    }
    f
}

/// One level of a nest: an index and its extent.
#[derive(Clone, Copy)]
struct Level {
    index: Var,
    extent: Atom,
}

/// A sum in a nest that is a matrix product.
struct Found {
    /// Which accumulator of the nest.
    acc: usize,
    /// Rows, columns, terms.
    levels: [Level; 3],
    /// The factors of a term, of which the first belongs to a row and the second to a column.
    factors: [Atom; 2],
    /// What the loops compute of scalars and rows, in order.
    computed: Vec<Stmt>,
}

fn find(f: &Function, nest: &Stmt) -> Option<Found> {
    let Op::Par(p) = &nest.op else { return None };
    p.accs.iter().enumerate().find_map(|(number, acc)| product_of(f, p, number, acc))
}

fn product_of(f: &Function, p: &Par, number: usize, acc: &Acc) -> Option<Found> {
    let ty = f.ty(acc.var);
    let is_sum = acc.kind == AccKind::Reduce(Monoid::Add) && matches!(ty.elem, Elem::F32 | Elem::F64);
    if !is_sum || ty.rank() != 2 || writes(&p.body, acc.var) != 1 {
        return None;
    }
    let mut path = Path { levels: Vec::new(), computed: Vec::new(), written: None };
    path.follow(p, acc.var)?;
    let (indices, value) = path.written.clone()?;
    let [first, second] = indices[..] else { return None };
    let level = |a: Atom| path.levels.iter().copied().find(|level| Atom::Var(level.index) == a);
    let (row, column) = (level(first)?, level(second)?);
    let [term] = path.levels.iter().filter(|l| l.index != row.index && l.index != column.index).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let levels = [row, column, *term];
    let is_whole = ty.dims[0].atom() == row.extent && ty.dims[1].atom() == column.extent;
    let are_outside = |a: &Atom| a.var().is_none_or(|v| !path.defines(v));
    if path.levels.len() != 3 || !is_whole || !levels.iter().all(|l| are_outside(&l.extent)) || is_small(&levels) {
        return None;
    }
    let Op::Prim { prim, args } = &path.definition(value)?.op else { return None };
    if *prim != MULZ.prim() {
        return None;
    }
    let of = |a: Atom| path.needs(f, a);
    let [x, y] = [of(args[0])?, of(args[1])?];
    let side = |side: Level| FxHashSet::from_iter([side.index, term.index]);
    let factors = if x == side(row) && y == side(column) {
        [args[0], args[1]]
    } else if x == side(column) && y == side(row) {
        [args[1], args[0]]
    } else {
        return None;
    };
    Some(Found { acc: number, levels, factors, computed: path.computed })
}

/// Whether it is known that loops are as good.
fn is_small(levels: &[Level; 3]) -> bool {
    let known = levels.map(|l| l.extent.constant().and_then(Const::as_i64));
    let work = known.iter().try_fold(1_i64, |work, n| Some(work.saturating_mul((*n)?)));
    known.iter().flatten().any(|n| *n < LEAST_SIDE) || work.is_some_and(|work| work < LEAST_WORK)
}

/// How often an accumulator is written to in a block.
fn writes(block: &Block, acc: Var) -> usize {
    block.walk().filter(|s| s.op.written() == Some(acc)).count()
}

/// The way from a nest to where it writes to an accumulator.
struct Path {
    levels: Vec<Level>,
    /// The statements on the way that stand in no inner region.
    computed: Vec<Stmt>,
    /// Indices and value of the write.
    written: Option<(Vec<Atom>, Atom)>,
}

impl Path {
    /// Goes down to the write; `None` if it is in anything but parallel loops.
    fn follow(&mut self, p: &Par, acc: Var) -> Option<()> {
        self.levels
            .extend(p.indices.iter().zip(&p.extents).map(|(index, extent)| Level { index: *index, extent: *extent }));
        for s in &p.body.stmts {
            if let Op::AccAdd { acc: to, indices, value } = &s.op
                && *to == acc
            {
                self.written = Some((indices.clone(), *value));
                return Some(());
            } else if let Op::Par(inner) = &s.op
                && writes(&inner.body, acc) > 0
            {
                return self.follow(inner, acc);
            } else {
                self.computed.push(s.clone())
            }
        }
        None
    }

    fn definition(&self, a: Atom) -> Option<&Stmt> {
        let v = a.var()?;
        self.computed.iter().find(|s| s.results.contains(&v))
    }

    /// Whether a variable is bound on the way.
    fn defines(&self, v: Var) -> bool {
        self.levels.iter().any(|l| l.index == v) || self.computed.iter().any(|s| s.results.contains(&v))
    }

    /// Whether an index is in range whenever its own loop runs: a factor is computed where other loops may not run.
    fn is_in_range(&self, index: Atom, dim: Dim) -> bool {
        self.levels.iter().any(|l| Atom::Var(l.index) == index && l.extent == dim.atom())
    }

    /// The indices that a value depends on, if it is computed of elements by arithmetic on scalars alone.
    fn needs(&self, f: &Function, a: Atom) -> Option<FxHashSet<Var>> {
        let Some(v) = a.var().filter(|v| self.defines(*v)) else { return Some(FxHashSet::default()) };
        let Some(s) = self.definition(a) else { return Some(FxHashSet::from_iter([v])) };
        let ty = f.ty(v);
        let is_simple = if matches!(s.op, Op::Prim { .. }) {
            ty.is_scalar()
        } else if let Op::Index { array, indices } = &s.op {
            let dims = f.atom_ty(*array).dims;
            let are_outside = dims.iter().all(|d| d.var().is_none_or(|v| !self.defines(v)));
            are_outside && indices.iter().zip(dims).all(|(index, dim)| self.is_in_range(*index, dim))
        } else {
            false
        };
        if !is_simple {
            return None;
        }
        let mut all = FxHashSet::default();
        for operand in s.op.operands() {
            all.extend(self.needs(f, operand)?);
        }
        Some(all)
    }
}

/// Takes a sum out of the nest at a position, and writes the product behind the nest.
fn take_out(f: &mut Function, at: usize, found: &Found) {
    let span = f.body.stmts[at].span;
    let nest = &mut f.body.stmts[at];
    let Op::Par(p) = &mut nest.op else { return };
    let acc = p.accs.remove(found.acc);
    let result = nest.results.remove(p.kinds.len() + found.acc);
    drop_writes(&mut p.body, acc.var);
    let [row, column, term] = found.levels;
    let mut write = Write { f, written: Vec::new(), span };
    let left = write.matrix([row, term], found.factors[0], &found.computed);
    let right = write.matrix([term, column], found.factors[1], &found.computed);
    let op = Op::Tensor { op: MATMUL.op(), args: vec![left, right], attrs: STRONG.to_vec() };
    match acc.init.filter(|init| !write.is_zero(*init)) {
        None => write.push(result, op),
        Some(init) => {
            let ty = write.f.ty(result).clone();
            let product = write.define("product", ty, op);
            write.push(result, Op::Prim { prim: ADD.prim(), args: vec![init, product.into()] });
        }
    }
    let written = write.written;
    f.body.stmts.splice(at + 1..at + 1, written);
}

fn drop_writes(block: &mut Block, acc: Var) {
    block.stmts.retain(|s| !matches!(&s.op, Op::AccAdd { acc: to, .. } if *to == acc));
    block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut()).for_each(|b| drop_writes(b, acc));
}

/// Statements that are being written.
struct Write<'a> {
    f: &'a mut Function,
    written: Vec<Stmt>,
    span: Span,
}

impl Write<'_> {
    fn var(&mut self, name: Symbol, ty: Ty) -> Var {
        self.f.vars.push(VarInfo { name, ty, record: None });
        Var(self.f.vars.len() as u32 - 1)
    }

    fn push(&mut self, result: Var, op: Op) {
        self.written.push(Stmt { results: vec![result], op, span: self.span });
    }

    fn define(&mut self, name: &str, ty: Ty, op: Op) -> Var {
        let result = self.var(name.into(), ty);
        self.push(result, op);
        result
    }

    fn is_zero(&self, a: Atom) -> bool {
        let is_zero = |a: Atom| a.constant().is_some_and(|c| c.as_float() == Some(0.0));
        let is_filled = |s: &Stmt| {
            let fills = matches!(&s.op, Op::Tensor { op, args, .. } if *op == FILL.op() && is_zero(args[0]));
            fills && a.var() == s.results.first().copied()
        };
        is_zero(a) || self.f.body.stmts.iter().any(is_filled)
    }

    /// The matrix of what a factor is at two indices: an array, one with its axes exchanged, or one that is made.
    fn matrix(&mut self, levels: [Level; 2], factor: Atom, computed: &[Stmt]) -> Atom {
        let ty = |elem: Elem, levels: [Level; 2]| Ty::new(elem, levels.map(|l| Dim::from_atom(l.extent)).to_vec());
        let elem = self.f.atom_ty(factor).elem;
        let whole = ty(elem, levels);
        if let Some((array, indices)) = element(factor, computed)
            && let [first, second] = indices[..]
        {
            let [row, column] = levels.map(|l| Atom::Var(l.index));
            let turned = ty(elem, [levels[1], levels[0]]);
            if (first, second) == (row, column) && self.f.atom_ty(array) == whole {
                return array;
            }
            if (first, second) == (column, row) && self.f.atom_ty(array) == turned {
                let op = Op::Tensor { op: TRANSPOSE.op(), args: vec![array], attrs: vec![1, 0] };
                return self.define("transposed", whole, op).into();
            }
        }
        let mut copies: FxHashMap<Var, Var> = FxHashMap::default();
        for level in levels {
            let index = self.copy(level.index);
            copies.insert(level.index, index);
        }
        let indices = levels.map(|l| copies[&l.index]).to_vec();
        let mut stmts = Vec::new();
        let value = self.computed(factor, computed, &mut copies, &mut stmts);
        let body = Block { stmts, results: vec![value] };
        let extents = levels.map(|l| l.extent).to_vec();
        let par = Par { indices, extents, kinds: vec![ParResult::Stacked], accs: Vec::new(), body };
        self.define("factor", whole, Op::Par(Box::new(par))).into()
    }

    fn copy(&mut self, v: Var) -> Var {
        let info = self.f.vars[v.index()].clone();
        self.var(info.name, info.ty)
    }

    /// A value of the nest computed again, by copies of its statements.
    fn computed(
        &mut self,
        a: Atom,
        computed: &[Stmt],
        copies: &mut FxHashMap<Var, Var>,
        stmts: &mut Vec<Stmt>,
    ) -> Atom {
        let Some(v) = a.var() else { return a };
        if let Some(copy) = copies.get(&v) {
            return (*copy).into();
        }
        let Some(s) = computed.iter().find(|s| s.results.contains(&v)) else { return a };
        let mut op = s.op.clone();
        op.map_operands(&mut |a| self.computed(a, computed, copies, stmts));
        let result = self.copy(v);
        copies.insert(v, result);
        stmts.push(Stmt { results: vec![result], op, span: s.span });
        result.into()
    }
}

/// The array and the indices of what is one of its elements.
fn element(a: Atom, computed: &[Stmt]) -> Option<(Atom, Vec<Atom>)> {
    let v = a.var()?;
    let Some(s) = computed.iter().find(|s| s.results.contains(&v)) else { return Some((a, Vec::new())) };
    if let Op::Index { array, indices } = &s.op {
        let (array, mut outer) = element(*array, computed)?;
        outer.extend(indices);
        Some((array, outer))
    } else if let Op::Prim { prim, args } = &s.op
        && *prim == ADD.prim()
    {
        // The sign of a zero makes no difference to a product in which it wins.
        match args[..] {
            [Atom::Const(c), value] | [value, Atom::Const(c)] if c.as_float() == Some(0.0) => element(value, computed),
            _ => None,
        }
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
