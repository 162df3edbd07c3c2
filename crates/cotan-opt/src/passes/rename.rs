//! Other names for variables: of a whole block in place, and of one value whose type names its dims otherwise.
//!
//! A variable may be replaced by an operand of the same type only. Where the types differ in the names of equal dims,
//! code further on may rely on those names, so the value keeps a variable of its own.

use cotan_ir::{Atom, Block, CheckKind, Const, Dim, Op, Ty, Var, VarInfo};
use rustc_hash::FxHashSet;

/// The variables that types name.
pub(super) fn lengths(vars: &[VarInfo]) -> FxHashSet<Var> {
    vars.iter().flat_map(|info| info.ty.dim_vars()).collect()
}

/// The variables that are numbers of elements or of iterations, which no negative number may stand for: those that types
/// name, and extents of parallel loops.
pub(super) fn sizes(vars: &[VarInfo], body: &Block) -> FxHashSet<Var> {
    let parallel = body.walk().filter_map(|s| if let Op::Par(p) = &s.op { Some(p) } else { None });
    let mut sizes = lengths(vars);
    sizes.extend(parallel.flat_map(|p| &p.extents).filter_map(|extent| extent.var()));
    sizes
}

/// Whether variable `v` may be replaced by an operand that it equals: one of the same type, and not a negative number
/// if the variable is one of the [`sizes`]. Code that never runs may ask for that.
pub(super) fn may_become(v: Var, a: Atom, vars: &[VarInfo], sizes: &FxHashSet<Var>) -> bool {
    let ty = &vars[v.index()].ty;
    match a {
        Atom::Var(u) => vars[u.index()].ty == *ty,
        Atom::Const(c) => {
            let is_negative = c.as_i64().is_some_and(|n| n < 0);
            ty.is_scalar() && ty.elem == c.elem() && !(is_negative && sizes.contains(&v))
        }
    }
}

/// A value under another type: a check that always holds.
pub(super) fn retyped(value: Atom) -> Op {
    Op::Check { cond: Const::bool(true).into(), kind: CheckKind::ShapeMismatch, args: Vec::new(), value }
}

/// Replaces the variables that the dims of a type name.
pub(crate) fn rename_ty(ty: &mut Ty, name: &impl Fn(Var) -> Atom) {
    for d in &mut ty.dims {
        if let Dim::Var(v) = *d {
            *d = Dim::from_atom(name(v));
        }
    }
}

/// Replaces the operands in the block, inner blocks included.
pub(crate) fn substitute(block: &mut Block, with: &impl Fn(Atom) -> Atom) {
    for s in &mut block.stmts {
        s.op.map_operands(&mut |a| with(a));
        s.op.blocks_mut().iter_mut().for_each(|b| substitute(b, with));
    }
    block.results.iter_mut().for_each(|a| *a = with(*a));
}

/// Replaces every variable of the block, bound or used.
pub(super) fn rename_block(block: &mut Block, name: &impl Fn(Var) -> Var) {
    for s in &mut block.stmts {
        s.op.map_operands(&mut |a| rename_atom(a, name));
        s.op.map_names(&mut |v| name(v));
        s.op.blocks_mut().iter_mut().for_each(|b| rename_block(b, name));
        s.results.iter_mut().for_each(|v| *v = name(*v));
    }
    block.results.iter_mut().for_each(|a| *a = rename_atom(*a, name));
}

fn rename_atom(a: Atom, name: &impl Fn(Var) -> Var) -> Atom {
    match a {
        Atom::Var(v) => name(v).into(),
        Atom::Const(_) => a,
    }
}
