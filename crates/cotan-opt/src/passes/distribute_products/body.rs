//! What the statements of a loop are: products with a matrix from outside, additions of outer products, and all others.

use super::pays;
use cotan_ir::{AccKind, Atom, Const, Function, Monoid, Op, Par, Stmt, Ty, Var};
use cotan_ops::{ADD, MATMUL, MULZ};
use rustc_hash::FxHashMap;

/// What a statement of the loop is.
pub(super) enum Role {
    /// It runs in a loop.
    Computed,
    /// It becomes a product of matrices between two loops.
    Product(Product),
    /// It becomes a product of matrices behind the loops.
    Outer(Outer),
}

/// A product of a matrix from outside with a vector of the iteration.
pub(super) struct Product {
    pub(super) matrix: Atom,
    /// Whether the matrix is the left factor.
    pub(super) is_left: bool,
    pub(super) vector: Var,
    pub(super) attrs: Vec<i64>,
}

/// The addition of an outer product of two vectors of the iteration to an accumulator of the loop.
pub(super) struct Outer {
    pub(super) acc: Var,
    pub(super) left: Var,
    pub(super) right: Var,
}

/// The body of a loop over one index.
pub(super) struct Body<'a> {
    pub(super) f: &'a Function,
    pub(super) p: &'a Par,
    pub(super) index: Var,
    /// The positions of the statements that define variables.
    pub(super) defined: FxHashMap<Var, usize>,
}

impl<'a> Body<'a> {
    pub(super) fn of(f: &'a Function, p: &'a Par) -> Option<Body<'a>> {
        let [index] = p.indices[..] else { return None };
        let results = |(k, s): (usize, &'a Stmt)| s.results.iter().map(move |r| (*r, k));
        let defined = p.body.stmts.iter().enumerate().flat_map(results).collect();
        Some(Body { f, p, index, defined })
    }

    /// The roles of all statements.
    pub(super) fn roles(&self) -> Vec<Role> {
        self.p.body.stmts.iter().map(|s| self.role(s)).collect()
    }

    fn role(&self, s: &Stmt) -> Role {
        if let Some(product) = self.product(s) {
            Role::Product(product)
        } else if let Some(outer) = self.outer(s) {
            Role::Outer(outer)
        } else {
            Role::Computed
        }
    }

    pub(super) fn is_outside(&self, a: Atom) -> bool {
        a.var().is_none_or(|v| v != self.index && !self.defined.contains_key(&v))
    }

    /// The statement that defines an operand.
    fn definition(&self, v: Var) -> Option<&'a Stmt> {
        self.defined.get(&v).map(|k| &self.p.body.stmts[*k])
    }

    /// The matrix from outside of which a variable is the row of the iteration.
    pub(super) fn rows(&self, v: Var) -> Option<Atom> {
        let Op::Index { array, indices } = &self.definition(v)?.op else { return None };
        let ty = self.f.atom_ty(*array);
        let is_whole = ty.rank() == 2 && ty.dims[0].atom() == self.p.extents[0];
        (is_whole && self.is_outside(*array) && indices[..] == [self.index.into()]).then_some(*array)
    }

    /// Whether a statement reads a part of an array from outside, at indices that are known in every loop.
    pub(super) fn is_view(&self, s: &Stmt) -> bool {
        let Op::Index { array, indices } = &s.op else { return false };
        self.is_outside(*array) && indices.iter().all(|i| *i == self.index.into() || self.is_outside(*i))
    }

    fn product(&self, s: &Stmt) -> Option<Product> {
        let Op::Tensor { op, args, attrs } = &s.op else { return None };
        let [a, b] = args[..] else { return None };
        let vector = |a: Atom| a.var().filter(|v| self.defined.contains_key(v) && self.f.ty(*v).rank() == 1);
        let matrix = |a: Atom| {
            let ty = self.f.atom_ty(a);
            self.is_outside(a) && ty.rank() == 2 && has_library(&ty) && !pays::is_small(&ty)
        };
        let (matrix, is_left, vector) = match (vector(a), vector(b)) {
            (None, Some(v)) if matrix(a) => (a, true, v),
            (Some(v), None) if matrix(b) => (b, false, v),
            (_, _) => return None,
        };
        // Lengths go by the names that they have outside, where the product will stand.
        let dims = self.f.atom_ty(matrix).dims;
        let [other, summed] = if is_left { [dims[0], dims[1]] } else { [dims[1], dims[0]] };
        let has_dims = self.f.ty(vector).dims == [summed] && self.f.ty(s.results[0]).dims == [other];
        (*op == MATMUL.op() && has_dims).then(|| Product { matrix, is_left, vector, attrs: attrs.clone() })
    }

    /// A loop that adds products of the elements of two vectors. Those in which an exact zero wins belong to derivatives, whose
    /// sums have no order.
    fn outer(&self, s: &Stmt) -> Option<Outer> {
        let Op::Par(inner) = &s.op else { return None };
        let [row, column] = inner.indices[..] else { return None };
        let (last, stmts) = inner.body.stmts.split_last()?;
        let Op::AccAdd { acc, indices, value } = &last.op else { return None };
        let ty = self.f.ty(*acc);
        let extents = || ty.dims.iter().map(|d| d.atom());
        let is_sum = self.p.accs.iter().any(|a| a.var == *acc && a.kind == AccKind::Reduce(Monoid::Add));
        let is_whole = indices[..] == [row.into(), column.into()] && extents().eq(inner.extents.iter().copied());
        if !is_sum || !is_whole || !has_library(ty) || pays::is_small(ty) || !s.results.is_empty() {
            return None;
        }
        let [x, y] = factors(stmts, *value)?;
        let (left, right) = if element(stmts, x, row).is_some() { (x, y) } else { (y, x) };
        let (left, right) = (element(stmts, left, row)?, element(stmts, right, column)?);
        let has_dims = [left, right].iter().zip(&ty.dims).all(|(v, dim)| self.f.ty(*v).dims == [*dim]);
        let are_inside = self.defined.contains_key(&left) && self.defined.contains_key(&right);
        (has_dims && are_inside && stmts.len() <= MOST_STMTS_OF_TERM).then_some(Outer { acc: *acc, left, right })
    }
}

/// Two elements, their product, and what is added to nothing.
const MOST_STMTS_OF_TERM: usize = 4;

pub(super) fn has_library(ty: &Ty) -> bool {
    matches!(ty.elem, cotan_ir::Elem::F32 | cotan_ir::Elem::F64)
}

fn defined_in(stmts: &[Stmt], a: Atom) -> Option<&Stmt> {
    stmts.iter().find(|s| a.var().is_some_and(|v| s.results.contains(&v)))
}

/// The factors of a product in which a zero wins. One that is added to zero differs by the sign of a zero, which no sum feels.
pub(super) fn factors(stmts: &[Stmt], value: Atom) -> Option<[Atom; 2]> {
    let op = &defined_in(stmts, value)?.op;
    if let Some([zero, rest]) = op.args_of(ADD.prim()) {
        return if zero.constant().and_then(Const::as_float) == Some(0.0) { factors(stmts, *rest) } else { None };
    }
    op.args_of(MULZ.prim())?.try_into().ok()
}

/// The vector of which an operand is the element at an index.
pub(super) fn element(stmts: &[Stmt], a: Atom, at: Var) -> Option<Var> {
    let Op::Index { array, indices } = &defined_in(stmts, a)?.op else { return None };
    array.var().filter(|_| indices[..] == [at.into()])
}
