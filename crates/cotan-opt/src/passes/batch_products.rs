//! Batching of products: products with the rows of a matrix, one in each iteration, become one product of matrices.
//!
//! A loop over a sequence multiplies a matrix by each of its elements: what a step reads of its input depends on nothing that
//! the loop carries. All these products are one product of matrices in front of the loop, which is faster by far, and its terms
//! come in the same order. It takes as many rows as the matrix has from which the elements come, so it is done where the
//! loop runs that often, and in no parallel loop, whose iterations would need memory for a product each.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Loop, Op, Span, Stmt, Ty, Var, VarInfo};
use cotan_ops::{MATMUL, TRANSPOSE};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "batch_products",
    doc: "Products of a matrix with the rows of another one, one in each iteration, become a product of matrices.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| batch_products(f),
};

/// The function with products of sequential loops batched.
pub fn batch_products(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let body = Batches { f: &mut f }.block(body);
    Function { body, ..f }
}

struct Batches<'a> {
    f: &'a mut Function,
}

/// A product with a row.
struct Product {
    matrix: Atom,
    /// Whether the matrix is the left factor.
    is_left: bool,
    /// The matrix that the row is from.
    rows: Atom,
    /// Which row it is.
    at: Atom,
    attrs: Vec<i64>,
}

impl Batches<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            if !matches!(s.op, Op::Par(_)) {
                s.op.map_blocks(|b| self.block(b));
            }
            let span = s.span;
            if let Op::Loop(l) = &mut s.op {
                self.batch(l, span, &mut stmts);
            }
            stmts.push(s);
        }
        Block { stmts, ..block }
    }

    /// Takes the products of a loop out of it, to the end of `before`.
    fn batch(&mut self, l: &mut Loop, span: Span, before: &mut Vec<Stmt>) {
        let Some(count) = l.count else { return };
        let inside: FxHashSet<Var> = bound_in(l);
        let mut rows: FxHashMap<Var, [Atom; 2]> = FxHashMap::default();
        for s in &mut l.body.stmts {
            if let Op::Index { array, indices } = &s.op
                && let [at] = indices[..]
                && self.is_sequence(*array, count, &inside)
            {
                rows.insert(s.results[0], [*array, at]);
            } else if let Some(product) = self.product(&s.op, &rows, &inside)
                && self.has_dims_of(&product, s.results[0])
            {
                let batch = self.before_the_loop(&product, s.results[0], span, before);
                s.op = Op::Index { array: batch, indices: vec![product.at] };
            }
        }
    }

    /// Whether a matrix from outside has a row for each iteration.
    fn is_sequence(&self, matrix: Atom, count: Atom, inside: &FxHashSet<Var>) -> bool {
        let ty = self.f.atom_ty(matrix);
        is_outside(matrix, inside) && ty.rank() == 2 && ty.dims[0].atom() == count
    }

    fn product(&self, op: &Op, rows: &FxHashMap<Var, [Atom; 2]>, inside: &FxHashSet<Var>) -> Option<Product> {
        let Op::Tensor { op, args, attrs } = op else { return None };
        let [a, b] = args[..] else { return None };
        let row = |v: Atom| v.var().and_then(|v| rows.get(&v)).copied();
        let is_matrix = |m: Atom| self.f.atom_ty(m).rank() == 2 && is_outside(m, inside);
        let (matrix, is_left, [rows, at]) = match (row(a), row(b)) {
            (None, Some(row)) if is_matrix(a) => (a, true, row),
            (Some(row), None) if is_matrix(b) => (b, false, row),
            (_, _) => return None,
        };
        (*op == MATMUL.op()).then(|| Product { matrix, is_left, rows, at, attrs: attrs.clone() })
    }

    /// Whether lengths go by the names that they have outside, where the product will stand.
    fn has_dims_of(&self, product: &Product, one: Var) -> bool {
        let (matrix, rows) = (&self.f.atom_ty(product.matrix).dims, &self.f.atom_ty(product.rows).dims);
        let (summed, left) = if product.is_left { (matrix[1], matrix[0]) } else { (matrix[0], matrix[1]) };
        summed == rows[1] && self.f.ty(one).dims == [left]
    }

    /// The product of all rows with a matrix.
    fn before_the_loop(&mut self, product: &Product, one: Var, span: Span, before: &mut Vec<Stmt>) -> Atom {
        let elem = self.f.ty(one).elem;
        let mut right = product.matrix;
        if product.is_left {
            let mut dims = self.f.atom_ty(right).dims.clone();
            dims.reverse();
            let op = Op::Tensor { op: TRANSPOSE.op(), args: vec![right], attrs: vec![1, 0] };
            right = self.define("transpose", Ty::new(elem, dims), op, span, before);
        }
        let dims = vec![self.f.atom_ty(product.rows).dims[0], self.f.ty(one).dims[0]];
        let op = Op::Tensor { op: MATMUL.op(), args: vec![product.rows, right], attrs: product.attrs.clone() };
        let name = self.f.name_of(one).to_owned();
        self.define(&name, Ty::new(elem, dims), op, span, before)
    }

    fn define(&mut self, name: &str, ty: Ty, op: Op, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        let result = self.f.add_var(VarInfo { name: name.into(), ty, record: None });
        stmts.push(Stmt { results: vec![result], op, span });
        result.into()
    }
}

/// What a loop binds, at any depth.
pub(super) fn bound_in(l: &Loop) -> FxHashSet<Var> {
    let mut bound: FxHashSet<Var> = l.params.iter().copied().chain([l.index]).collect();
    bound.extend(l.accs.iter().map(|acc| acc.var));
    for s in l.body.walk() {
        bound.extend(s.results.iter().copied().chain(s.op.binders()));
    }
    bound
}

/// Whether an operand is none of these.
pub(super) fn is_outside(a: Atom, inside: &FxHashSet<Var>) -> bool {
    a.var().is_none_or(|v| !inside.contains(&v))
}
