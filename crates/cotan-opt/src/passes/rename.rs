//! Other names for variables: of a whole block in place, and of one value whose type names its dims otherwise.
//!
//! A variable may be replaced by an operand of the same type only. Where the types differ in the names of equal dims,
//! code further on may rely on those names, so the value keeps a variable of its own.

use cotan_ir::{Acc, Atom, Block, CheckKind, Const, Dim, Op, Ty, Var, VarInfo};

/// Whether an operand has exactly this type, names of dims included.
pub(super) fn has_ty(vars: &[VarInfo], a: Atom, ty: &Ty) -> bool {
    match a {
        Atom::Var(v) => vars[v.index()].ty == *ty,
        Atom::Const(c) => ty.is_scalar() && ty.elem == c.elem(),
    }
}

/// A value under another type: a check that always holds.
pub(super) fn retyped(value: Atom) -> Op {
    Op::Check { cond: Const::bool(true).into(), kind: CheckKind::ShapeMismatch, args: Vec::new(), value }
}

/// Replaces every variable of the block by what `name` says. What the block binds must become variables.
pub(super) fn rename_block(block: &mut Block, name: &impl Fn(Var) -> Atom) {
    for s in &mut block.stmts {
        s.op.map_operands(&mut |a| rename_atom(a, name));
        match &mut s.op {
            Op::AccAdd { acc, .. } => rename_binder(acc, name),
            Op::Par(p) => {
                p.indices.iter_mut().for_each(|v| rename_binder(v, name));
                rename_accs(&mut p.accs, name);
            }
            Op::Loop(l) => {
                rename_binder(&mut l.index, name);
                l.params.iter_mut().for_each(|v| rename_binder(v, name));
                rename_accs(&mut l.accs, name);
            }
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => {}
        }
        s.op.blocks_mut().iter_mut().for_each(|b| rename_block(b, name));
        s.results.iter_mut().for_each(|v| rename_binder(v, name));
    }
    block.results.iter_mut().for_each(|a| *a = rename_atom(*a, name));
}

/// Replaces the variables that the dims of a type name.
pub(super) fn rename_ty(ty: &mut Ty, name: &impl Fn(Var) -> Atom) {
    ty.dims.iter_mut().for_each(|d| *d = Dim::from_atom(rename_atom(d.atom(), name)));
}

fn rename_accs(accs: &mut [Acc], name: &impl Fn(Var) -> Atom) {
    accs.iter_mut().for_each(|acc| rename_binder(&mut acc.var, name));
}

fn rename_binder(v: &mut Var, name: &impl Fn(Var) -> Atom) {
    *v = name(*v).var().expect("invariant: what is bound stays a variable");
}

fn rename_atom(a: Atom, name: &impl Fn(Var) -> Atom) -> Atom {
    match a {
        Atom::Var(v) => name(v),
        Atom::Const(_) => a,
    }
}
