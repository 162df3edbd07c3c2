//! Outer products that a nest of loops adds up beside other things get loops of their own.
//!
//! A loop over the rows of a matrix computes the factor of a row, and adds it times each element of a vector to the row. It keeps the
//! factors of all rows, a vector, and what it would have added becomes an outer product of two vectors, behind it.

use super::body::{element, factors, has_library};
use super::pays;
use cotan_ir::{
    AccKind, Atom, Builder, Dim, Elem, Function, Monoid, Op, Par, ParResult, Stmt, Ty, Var, bug, print_stmt,
};
use cotan_ops::MULZ;

/// An outer product in a nest: where the factor of each row is, and the vector of the columns.
struct Nested {
    acc: Var,
    /// The position of the inner loop in the body of the outer one.
    inner: usize,
    /// The position in the inner loop of what adds.
    add: usize,
    /// The scalar of an iteration of the outer loop.
    factor: Var,
    /// The vector that the inner loop goes through.
    vector: Var,
    /// Whether the outer loop goes through the rows of the accumulator.
    is_by_rows: bool,
}

/// The loop with outer products that nests in it add to its sums as statements of their own. `None` if there are none.
pub(super) fn unnested(f: &mut Function, p: &Par) -> Option<Par> {
    let mut unnested = p.clone();
    let mut found = false;
    let mut k = 0;
    while k < unnested.body.stmts.len() {
        let nested = if let Op::Par(outer) = &unnested.body.stmts[k].op { nested(f, &unnested, outer) } else { None };
        let Some(nested) = nested else {
            k += 1;
            continue;
        };
        let product = take_out(f, &mut unnested.body.stmts[k], &nested);
        unnested.body.stmts.insert(k + 1, product);
        found = true;
    }
    found.then_some(unnested)
}

/// The first outer product of a nest in a loop.
fn nested(f: &Function, p: &Par, outer: &Par) -> Option<Nested> {
    let [row] = outer.indices[..] else { return None };
    let is_inside = |v: Var| outer.body.stmts.iter().any(|s| s.results.contains(&v));
    if !outer.accs.is_empty() {
        return None;
    }
    outer.body.stmts.iter().enumerate().find_map(|(at, s)| {
        let Op::Par(inner) = &s.op else { return None };
        let [column] = inner.indices[..] else { return None };
        inner.body.stmts.iter().enumerate().find_map(|(add, s)| {
            let Op::AccAdd { acc, indices, value } = &s.op else { return None };
            let is_by_rows = indices[..] == [row.into(), column.into()];
            let extents = [outer.extents[0], inner.extents[0]];
            let extents = if is_by_rows { extents } else { [extents[1], extents[0]] };
            let ty = f.ty(*acc);
            let is_sum = p.accs.iter().any(|a| a.var == *acc && a.kind == AccKind::Reduce(Monoid::Add));
            let is_whole = (is_by_rows || indices[..] == [column.into(), row.into()])
                && ty.dims.iter().map(|d| d.atom()).eq(extents)
                && has_library(ty)
                && !pays::is_small(ty);
            let [x, y] = factors(&inner.body.stmts, *value).filter(|_| is_sum && is_whole)?;
            let of_column = |a: Atom| element(&inner.body.stmts, a, column).filter(|v| !is_inside(*v));
            let (factor, vector) = match (of_column(x), of_column(y)) {
                (Some(vector), None) => (y, vector),
                (None, Some(vector)) => (x, vector),
                (_, _) => return None,
            };
            let factor = factor.var().filter(|v| is_inside(*v) && f.ty(*v).is_scalar())?;
            Some(Nested { acc: *acc, inner: at, add, factor, vector, is_by_rows })
        })
    })
}

/// Takes an outer product out of a nest, which keeps the factors of all rows.
fn take_out(f: &mut Function, s: &mut Stmt, nested: &Nested) -> Stmt {
    let span = s.span;
    let Op::Par(outer) = &mut s.op else {
        bug!("distribute_products", print_stmt(f, s), "an outer product is taken out of a parallel loop")
    };
    let extent = outer.extents[0];
    let Op::Par(inner) = &mut outer.body.stmts[nested.inner].op else {
        bug!("distribute_products", print_stmt(f, s), "the loop over columns is no parallel loop")
    };
    let columns = inner.extents[0];
    inner.body.stmts.remove(nested.add);
    let mut b = Builder::on(std::mem::take(&mut f.vars));
    b.set_span(span);
    let kept = outer.body.results.iter().position(|r| *r == nested.factor.into());
    let kept = kept.unwrap_or_else(|| {
        let ty = b.var_ty(nested.factor).stacked([Dim::from_atom(extent)]);
        s.results.push(b.var("factors", ty));
        outer.kinds.push(ParResult::Stacked);
        outer.body.results.push(nested.factor.into());
        outer.body.results.len() - 1
    });
    let rows = s.results[kept];
    b.open_block();
    let [i, j] = ["i", "j"].map(|name| b.var(name, Ty::scalar(Elem::I64)));
    let left = b.index(rows.into(), &[i.into()]);
    let right = b.index(nested.vector.into(), &[j.into()]);
    let product = b.prim(MULZ.prim(), &[left.into(), right.into()]);
    let (at, indices, extents) = if nested.is_by_rows {
        ([i.into(), j.into()], vec![i, j], vec![extent, columns])
    } else {
        ([j.into(), i.into()], vec![j, i], vec![columns, extent])
    };
    b.acc_add(nested.acc, &at, product.into());
    let body = b.close_block(Vec::new());
    f.vars = b.into_vars();
    let loops = Par { indices, extents, kinds: Vec::new(), accs: Vec::new(), body };
    Stmt { results: Vec::new(), op: Op::Par(Box::new(loops)), span }
}
