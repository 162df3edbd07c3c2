//! Nests of parallel loops around one write to an accumulator: what a term of a sum is made of, and how that becomes an array.
//!
//! Rank-one updates and matrix products are sums of terms with two factors. Which indices a factor depends on says which of
//! the two it is, and of which array, or of which one that has to be made.

use cotan_ir::{Atom, Block, Dim, Function, Op, Par, ParResult, Span, Stmt, Symbol, Ty, Var, VarInfo};
use cotan_ops::{ADD, MULZ};
use rustc_hash::{FxHashMap, FxHashSet};

/// One level of a nest: an index and its extent.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub(super) index: Var,
    pub(super) extent: Atom,
}

/// How often an accumulator is written to in a block.
pub(super) fn writes(block: &Block, acc: Var) -> usize {
    block.walk().filter(|s| s.op.written() == Some(acc)).count()
}

/// The way from a nest to where it writes to an accumulator.
#[derive(Default)]
pub(super) struct Path {
    pub(super) levels: Vec<Level>,
    /// The statements on the way that stand in no inner region.
    pub(super) computed: Vec<Stmt>,
    /// Indices and value of the write.
    pub(super) written: Option<(Vec<Atom>, Atom)>,
}

impl Path {
    /// Goes down to the write; `None` if it is in anything but parallel loops.
    pub(super) fn follow(&mut self, p: &Par, acc: Var) -> Option<()> {
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

    /// The factors of a derivative's product, in the order of the sides whose indices they depend on.
    pub(super) fn factors(&self, f: &Function, product: Atom, sides: [FxHashSet<Var>; 2]) -> Option<[Atom; 2]> {
        let s = self.definition(product)?;
        if let Some(args) = s.op.args_of(ADD.prim()) {
            let zero = args.iter().position(|a| a.constant().is_some_and(|c| c.as_float() == Some(0.0)))?;
            return self.factors(f, args[1 - zero], sides);
        }
        let args = s.op.args_of(MULZ.prim())?;
        let needed = [self.needs(f, args[0])?, self.needs(f, args[1])?];
        let turned = [&needed[1], &needed[0]];
        if needed == sides {
            Some([args[0], args[1]])
        } else if turned == [&sides[0], &sides[1]] {
            Some([args[1], args[0]])
        } else {
            None
        }
    }

    /// Whether a variable is bound on the way.
    pub(super) fn defines(&self, v: Var) -> bool {
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

/// Drops what a block writes to an accumulator.
pub(super) fn drop_writes(block: &mut Block, acc: Var) {
    block.stmts.retain(|s| !matches!(&s.op, Op::AccAdd { acc: to, .. } if *to == acc));
    block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut()).for_each(|b| drop_writes(b, acc));
}

/// Statements that are being written.
pub(super) struct Write<'a> {
    pub(super) f: &'a mut Function,
    pub(super) written: Vec<Stmt>,
    pub(super) span: Span,
}

impl Write<'_> {
    fn var(&mut self, name: Symbol, ty: Ty) -> Var {
        self.f.vars.push(VarInfo { name, ty, record: None });
        Var(self.f.vars.len() as u32 - 1)
    }

    pub(super) fn push(&mut self, result: Var, op: Op) {
        self.written.push(Stmt { results: vec![result], op, span: self.span });
    }

    pub(super) fn define(&mut self, name: &str, ty: Ty, op: Op) -> Var {
        let result = self.var(name.into(), ty);
        self.push(result, op);
        result
    }

    /// The array of what a factor is at the indices of so many loops: one that is there, or one that is made.
    pub(super) fn array(&mut self, levels: &[Level], factor: Atom, computed: &[Stmt]) -> Atom {
        let lengths = levels.iter().map(|l| Dim::from_atom(l.extent)).collect();
        let whole = Ty::new(self.f.atom_ty(factor).elem, lengths);
        if let Some((array, indices)) = element(factor, computed)
            && indices.iter().copied().eq(levels.iter().map(|l| Atom::Var(l.index)))
            && self.f.atom_ty(array) == whole
        {
            return array;
        }
        let mut copies: FxHashMap<Var, Var> = FxHashMap::default();
        for level in levels {
            let index = self.copy(level.index);
            copies.insert(level.index, index);
        }
        let indices = levels.iter().map(|l| copies[&l.index]).collect();
        let mut stmts = Vec::new();
        let value = self.computed(factor, computed, &mut copies, &mut stmts);
        let body = Block { stmts, results: vec![value] };
        let extents = levels.iter().map(|l| l.extent).collect();
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
pub(super) fn element(a: Atom, computed: &[Stmt]) -> Option<(Atom, Vec<Atom>)> {
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
