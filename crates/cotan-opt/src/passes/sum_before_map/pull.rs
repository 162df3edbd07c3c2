//! A sum taken out of a nest, and the map done behind it.

use super::Found;
use crate::passes::rename::{rename_block, rename_ty, substitute};
use cotan_ir::{
    Acc, AccKind, Atom, Block, Const, Dim, Elem, Function, Monoid, Op, Par, Span, Stmt, Symbol, Ty, Var, VarInfo, bug,
    print_stmt,
};
use cotan_ops::{ADD, FILL, MIN};
use rustc_hash::{FxHashMap, FxHashSet};

/// Takes a sum out of a nest. Gives what is to stand in front of the nest and behind it.
pub(super) fn pull(f: &mut Function, s: &mut Stmt, found: &Found) -> (Vec<Stmt>, Vec<Stmt>) {
    let Op::Par(p) = &mut s.op else {
        bug!("sum_before_map", print_stmt(f, s), "a sum is taken out of a parallel loop")
    };
    let (mut copy, acc) = (p.clone(), p.accs.remove(found.acc));
    let result = s.results.remove(p.kinds.len() + found.acc);
    keep_writes(&mut p.body, &|to| to != acc.var);

    let mut write = Write { f, before: Vec::new(), behind: Vec::new(), span: s.span };
    for source in &found.slice.sources {
        let elem = write.f.ty(source.var).elem;
        let own = write.f.ty(source.var).dims.clone();
        let dims = source.levels.iter().map(|l| Dim::from_atom(l.extent)).chain(own.iter().copied()).collect();
        let ty = Ty::new(elem, dims);
        let name = write.f.vars[source.var.index()].name.clone();
        let zero = Op::Tensor { op: FILL.op(), args: vec![Const::float(elem, 0.0).into()], attrs: Vec::new() };
        let zeros = write.define(true, "zeros", ty.clone(), zero);
        let sum = write.var(name.clone(), ty.clone());
        let total = write.var(name.clone(), ty);
        p.accs.push(Acc { var: sum, kind: AccKind::Reduce(Monoid::Add), init: Some(zeros.into()) });
        s.results.push(total);
        let indices: Vec<Atom> = source.levels.iter().map(|l| l.index.into()).collect();
        let add = Op::AccAdd { acc: sum, indices: indices.clone(), value: source.var.into() };
        append(&mut p.body, source.var, &|span| Stmt { results: Vec::new(), op: add.clone(), span });

        let whole = write.var(name, Ty::new(elem, own));
        substitute(&mut copy.body, &|a| if a == Atom::Var(source.var) { whole.into() } else { a });
        let read = if indices.is_empty() {
            Op::Prim { prim: ADD.prim(), args: vec![Const::float(elem, 0.0).into(), total.into()] }
        } else {
            Op::Index { array: total.into(), indices }
        };
        append(&mut copy.body, source.var, &|span| Stmt { results: vec![whole], op: read.clone(), span });
    }

    copy.kinds.clear();
    copy.body.results.clear();
    copy.accs = vec![acc];
    let mut own = vec![copy.accs[0].var];
    bound_in(&copy.body, &mut own);
    let own: FxHashSet<Var> = own.into_iter().collect();
    keep_writes(&mut copy.body, &|to| own.contains(&to));
    for (index, extent) in copy.indices.clone().iter().zip(&mut copy.extents) {
        if found.points.contains(index) {
            *extent = write.at_most_one(*extent);
        }
    }
    let copy = write.renamed(*copy);
    write.behind.push(Stmt { results: vec![result], op: Op::Par(Box::new(copy)), span: s.span });
    (write.before, write.behind)
}

/// Drops the writes to other accumulators.
fn keep_writes(block: &mut Block, keep: &dyn Fn(Var) -> bool) {
    block.stmts.retain(|s| !matches!(&s.op, Op::AccAdd { acc, .. } if !keep(*acc)));
    block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut()).for_each(|b| keep_writes(b, keep));
}

/// Puts a statement behind the one that defines a variable.
fn append(block: &mut Block, v: Var, stmt: &dyn Fn(Span) -> Stmt) {
    if let Some(at) = block.stmts.iter().position(|s| s.results.contains(&v)) {
        let stmt = stmt(block.stmts[at].span);
        return block.stmts.insert(at + 1, stmt);
    }
    block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut()).for_each(|b| append(b, v, stmt));
}

/// Statements that are being written.
struct Write<'a> {
    f: &'a mut Function,
    before: Vec<Stmt>,
    behind: Vec<Stmt>,
    span: Span,
}

impl Write<'_> {
    fn var(&mut self, name: Symbol, ty: Ty) -> Var {
        self.f.vars.push(VarInfo { name, ty, record: None });
        Var(self.f.vars.len() as u32 - 1)
    }

    fn define(&mut self, is_before: bool, name: &str, ty: Ty, op: Op) -> Var {
        let result = self.var(name.into(), ty);
        let to = if is_before { &mut self.before } else { &mut self.behind };
        to.push(Stmt { results: vec![result], op, span: self.span });
        result
    }

    /// An extent cut to one iteration, if there is any.
    fn at_most_one(&mut self, extent: Atom) -> Atom {
        match extent.constant().and_then(Const::as_i64) {
            Some(n) => Const::i64(n.min(1)).into(),
            None => {
                let args = vec![extent, Const::i64(1).into()];
                self.define(false, "once", Ty::scalar(Elem::I64), Op::Prim { prim: MIN.prim(), args }).into()
            }
        }
    }

    /// A nest under names of its own.
    fn renamed(&mut self, mut p: Par) -> Par {
        let mut bound = p.indices.clone();
        bound.extend(p.accs.iter().map(|acc| acc.var));
        bound_in(&p.body, &mut bound);
        let names: FxHashMap<Var, Var> = bound
            .iter()
            .map(|v| {
                let VarInfo { name, ty, record: _ } = self.f.vars[v.index()].clone();
                (*v, self.var(name, ty))
            })
            .collect();
        let name = |v: Var| names.get(&v).copied().unwrap_or(v);
        for v in bound.iter().map(|v| names[v]) {
            rename_ty(&mut self.f.vars[v.index()].ty, &|v| name(v).into());
        }
        p.indices.iter_mut().for_each(|v| *v = name(*v));
        p.accs.iter_mut().for_each(|acc| acc.var = name(acc.var));
        rename_block(&mut p.body, &name);
        p
    }
}

/// The variables that a block binds, inner blocks included.
fn bound_in(block: &Block, bound: &mut Vec<Var>) {
    for s in &block.stmts {
        bound.extend(s.op.binders());
        s.op.blocks().iter().for_each(|b| bound_in(b, bound));
        bound.extend(&s.results);
    }
}
