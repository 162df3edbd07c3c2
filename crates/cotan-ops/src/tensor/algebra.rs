//! Formulas on matrices, for the rules of operations on them: each function appends the statements that compute its
//! result. Leading axes are a batch, the same for all operands. Products are those of derivatives, in which a factor
//! that is exactly 0 wins.

use crate::{
    ADD, ARGSORT, CONCAT, EQ, LE, LT, MATMUL, MAX, MIN, MULZ, NEG, PrimRow, RECIP, RESHAPE, SELECT, SLICE, SQUARE,
    STRONG, SUB, TRANSPOSE, typed_number,
};
use cotan_ir::{Atom, Builder, Dim, Elem, Monoid, ParResult, Ty, Var};

/// Which elements of a matrix stay: those on and below the diagonal, or above it, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Triangle {
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
    /// Below the diagonal.
    StrictlyLower,
    /// Above the diagonal.
    StrictlyUpper,
}

/// Writes formulas.
pub(crate) struct Algebra<'b> {
    pub(crate) b: &'b mut Builder,
}

impl Algebra<'_> {
    pub(crate) fn prim(&mut self, row: &'static PrimRow, args: &[Atom]) -> Atom {
        self.b.prim(row.prim(), args).into()
    }

    pub(crate) fn add(&mut self, x: Atom, y: Atom) -> Atom {
        self.prim(&ADD, &[x, y])
    }

    pub(crate) fn sub(&mut self, x: Atom, y: Atom) -> Atom {
        self.prim(&SUB, &[x, y])
    }

    pub(crate) fn neg(&mut self, x: Atom) -> Atom {
        self.prim(&NEG, &[x])
    }

    /// The product of elements.
    pub(crate) fn times(&mut self, x: Atom, y: Atom) -> Atom {
        self.prim(&MULZ, &[x, y])
    }

    /// The matrix product.
    pub(crate) fn product(&mut self, x: Atom, y: Atom) -> Atom {
        let (tx, ty) = (self.b.ty(x), self.b.ty(y));
        let mut dims = tx.dims.clone();
        let last = dims.len() - 1;
        dims[last] = ty.dims[last];
        self.b.tensor(MATMUL.op(), &[x, y], &STRONG, Ty::new(tx.elem, dims)).into()
    }

    /// The last two axes exchanged.
    pub(crate) fn transposed(&mut self, x: Atom) -> Atom {
        let Ty { elem, mut dims, .. } = self.b.ty(x);
        let last = dims.len() as i64 - 1;
        dims.swap(last as usize, last as usize - 1);
        let perm: Vec<i64> = (0..last - 1).chain([last, last - 1]).collect();
        self.b.tensor(TRANSPOSE.op(), &[x], &perm, Ty::new(elem, dims)).into()
    }

    /// A tensor of these dims, element by element.
    pub(crate) fn each(&mut self, dims: &[Dim], f: impl FnOnce(&mut Self, &[Atom]) -> Atom) -> Atom {
        let indices: Vec<Var> = dims.iter().map(|_| self.b.var("i", Ty::scalar(Elem::I64))).collect();
        let at: Vec<Atom> = indices.iter().map(|i| Atom::from(*i)).collect();
        self.b.open_block();
        let element = f(self, &at);
        let body = self.b.close_block(vec![element]);
        let extents = dims.iter().map(|d| d.atom()).collect();
        self.b.finish_par(indices, extents, vec![ParResult::Stacked], Vec::new(), body)[0].into()
    }

    /// The sum of the vector that leading indices select.
    pub(crate) fn sum_of(&mut self, v: Atom, indices: &[Atom]) -> Atom {
        let Ty { elem, dims, .. } = self.b.ty(v);
        let zero = typed_number(elem, 0.0).into();
        let Some(n) = dims.last() else { return v };
        let k = self.b.var("k", Ty::scalar(Elem::I64));
        self.b.open_block();
        let at: Vec<Atom> = indices.iter().copied().chain([k.into()]).collect();
        let element = self.at(v, &at);
        let body = self.b.close_block(vec![element]);
        let kinds = vec![ParResult::Reduced { monoid: Monoid::Add, init: zero }];
        self.b.finish_par(vec![k], vec![n.atom()], kinds, Vec::new(), body)[0].into()
    }

    /// The element of a tensor.
    pub(crate) fn at(&mut self, x: Atom, indices: &[Atom]) -> Atom {
        self.b.index(x, indices).into()
    }

    /// The elements of a triangle of each matrix, zeros elsewhere.
    pub(crate) fn triangle(&mut self, x: Atom, which: Triangle) -> Atom {
        let Ty { elem, dims, .. } = self.b.ty(x);
        let zero = typed_number(elem, 0.0).into();
        self.each(&dims, |this, at| {
            let [.., i, j] = *at else { return zero };
            let stays = match which {
                Triangle::Lower => this.prim(&LE, &[j, i]),
                Triangle::Upper => this.prim(&LE, &[i, j]),
                Triangle::StrictlyLower => this.prim(&LT, &[j, i]),
                Triangle::StrictlyUpper => this.prim(&LT, &[i, j]),
            };
            let element = this.at(x, at);
            this.prim(&SELECT, &[stays, element, zero])
        })
    }

    /// Lower triangles with half the diagonal: what a symmetric matrix is the sum of with its transpose.
    pub(crate) fn half(&mut self, x: Atom) -> Atom {
        let Ty { elem, dims, .. } = self.b.ty(x);
        let [zero, half, one] = [0.0, 0.5, 1.0].map(|n| Atom::from(typed_number(elem, n)));
        self.each(&dims, |this, at| {
            let [.., i, j] = *at else { return zero };
            let is_diagonal = this.prim(&EQ, &[i, j]);
            let is_below = this.prim(&LT, &[j, i]);
            let weight = this.prim(&SELECT, &[is_diagonal, half, zero]);
            let weight = this.prim(&SELECT, &[is_below, one, weight]);
            let element = this.at(x, at);
            this.times(weight, element)
        })
    }

    /// Symmetric matrices with these lower triangles.
    pub(crate) fn mirrored(&mut self, x: Atom) -> Atom {
        let Ty { elem, dims, .. } = self.b.ty(x);
        let zero = typed_number(elem, 0.0).into();
        self.each(&dims, |this, at| {
            let [ref batch @ .., i, j] = *at else { return zero };
            let (row, column) = (this.prim(&MAX, &[i, j]), this.prim(&MIN, &[i, j]));
            let mirror: Vec<Atom> = batch.iter().copied().chain([row, column]).collect();
            this.at(x, &mirror)
        })
    }

    /// The transpose of [`Algebra::mirrored`]: lower triangles to which what is above the diagonal has been added.
    pub(crate) fn folded(&mut self, x: Atom) -> Atom {
        let Ty { elem, dims, .. } = self.b.ty(x);
        let zero = typed_number(elem, 0.0).into();
        self.each(&dims, |this, at| {
            let [ref batch @ .., i, j] = *at else { return zero };
            let mirror: Vec<Atom> = batch.iter().copied().chain([j, i]).collect();
            let (element, other) = (this.at(x, at), this.at(x, &mirror));
            let both = this.add(element, other);
            let (is_below, is_diagonal) = (this.prim(&LT, &[j, i]), this.prim(&EQ, &[i, j]));
            let kept = this.prim(&SELECT, &[is_diagonal, element, zero]);
            this.prim(&SELECT, &[is_below, both, kept])
        })
    }

    /// `1 / (v[j] - v[i])` off the diagonal, zeros on it.
    pub(crate) fn gaps(&mut self, v: Atom) -> Atom {
        let Ty { elem, mut dims, .. } = self.b.ty(v);
        dims.extend(dims.last().copied());
        let zero = typed_number(elem, 0.0).into();
        self.each(&dims, |this, at| {
            let [ref batch @ .., i, j] = *at else { return zero };
            let of = |k: Atom| batch.iter().copied().chain([k]).collect::<Vec<Atom>>();
            let (row, column) = (this.at(v, &of(i)), this.at(v, &of(j)));
            let gap = this.sub(column, row);
            let inverse = this.prim(&RECIP, &[gap]);
            let is_diagonal = this.prim(&EQ, &[i, j]);
            this.prim(&SELECT, &[is_diagonal, zero, inverse])
        })
    }

    /// The inverse of each element.
    pub(crate) fn inverse(&mut self, v: Atom) -> Atom {
        self.prim(&RECIP, &[v])
    }

    /// The square of each element.
    pub(crate) fn square(&mut self, v: Atom) -> Atom {
        self.prim(&SQUARE, &[v])
    }

    /// Matrices with these vectors as diagonals.
    pub(crate) fn diagonal(&mut self, v: Atom) -> Atom {
        let Ty { elem, mut dims, .. } = self.b.ty(v);
        dims.extend(dims.last().copied());
        let zero = typed_number(elem, 0.0).into();
        self.each(&dims, |this, at| {
            let [.., i, j] = *at else { return zero };
            let is_diagonal = this.prim(&EQ, &[i, j]);
            let element = this.at(v, &at[..at.len() - 1]);
            this.prim(&SELECT, &[is_diagonal, element, zero])
        })
    }

    /// The diagonals of matrices.
    pub(crate) fn of_diagonal(&mut self, x: Atom) -> Atom {
        let dims = self.b.ty(x).dims;
        let n = dims.len() - 1;
        self.each(&dims[..n], |this, at| {
            let both: Vec<Atom> = at.iter().copied().chain(at.last().copied()).collect();
            this.at(x, &both)
        })
    }

    /// Each column of a matrix times an element of a vector.
    pub(crate) fn columns_times(&mut self, x: Atom, v: Atom) -> Atom {
        let dims = self.b.ty(x).dims;
        self.each(&dims, |this, at| {
            let n = at.len();
            let of_v: Vec<Atom> = at[..n - 2].iter().chain(&at[n - 1..]).copied().collect();
            let (element, factor) = (this.at(x, at), this.at(v, &of_v));
            this.times(factor, element)
        })
    }

    /// So many rows of each matrix, from one on.
    pub(crate) fn rows(&mut self, x: Atom, lo: Atom, n: Dim) -> Atom {
        let Ty { elem, mut dims, .. } = self.b.ty(x);
        let axis = dims.len() - 2;
        dims[axis] = n;
        self.b.tensor(SLICE.op(), &[x, lo], &[axis as i64], Ty::new(elem, dims)).into()
    }

    /// The only row of each matrix, as a vector.
    pub(crate) fn row(&mut self, x: Atom, lo: Atom) -> Atom {
        let row = self.rows(x, lo, Dim::Const(1));
        let Ty { elem, mut dims, .. } = self.b.ty(row);
        dims.remove(dims.len() - 2);
        self.b.tensor(RESHAPE.op(), &[row], &[], Ty::new(elem, dims)).into()
    }

    /// A vector as a matrix of one row.
    pub(crate) fn as_row(&mut self, v: Atom) -> Atom {
        let Ty { elem, mut dims, .. } = self.b.ty(v);
        dims.insert(dims.len() - 1, Dim::Const(1));
        self.b.tensor(RESHAPE.op(), &[v], &[], Ty::new(elem, dims)).into()
    }

    /// Matrices one below the other, so many rows in all.
    pub(crate) fn stacked(&mut self, parts: &[Atom], n_rows: Dim) -> Atom {
        let Ty { elem, mut dims, .. } = self.b.ty(parts[0]);
        let axis = dims.len() - 2;
        dims[axis] = n_rows;
        self.b.tensor(CONCAT.op(), parts, &[axis as i64], Ty::new(elem, dims)).into()
    }

    /// The matrix on the diagonal of which there are ones.
    pub(crate) fn identity_like(&mut self, x: Atom) -> Atom {
        let Ty { elem, dims, .. } = self.b.ty(x);
        let [zero, one] = [0.0, 1.0].map(|n| Atom::from(typed_number(elem, n)));
        self.each(&dims, |this, at| {
            let [.., i, j] = *at else { return zero };
            let is_diagonal = this.prim(&EQ, &[i, j]);
            this.prim(&SELECT, &[is_diagonal, one, zero])
        })
    }

    /// Lower triangles, with ones on the diagonal.
    pub(crate) fn unit_lower(&mut self, x: Atom) -> Atom {
        let Ty { elem, dims, .. } = self.b.ty(x);
        let [zero, one] = [0.0, 1.0].map(|n| Atom::from(typed_number(elem, n)));
        self.each(&dims, |this, at| {
            let [.., i, j] = *at else { return zero };
            let (is_below, is_diagonal) = (this.prim(&LT, &[j, i]), this.prim(&EQ, &[i, j]));
            let element = this.at(x, at);
            let rest = this.prim(&SELECT, &[is_diagonal, one, zero]);
            this.prim(&SELECT, &[is_below, element, rest])
        })
    }

    /// The rows of each matrix at positions, which are in range.
    pub(crate) fn rows_at(&mut self, x: Atom, positions: Atom) -> Atom {
        let dims = self.b.ty(x).dims;
        self.each(&dims, |this, at| {
            let [ref batch @ .., i, j] = *at else { return x };
            let of: Vec<Atom> = batch.iter().copied().chain([i]).collect();
            let row = this.at(positions, &of);
            let at: Vec<Atom> = batch.iter().copied().chain([row, j]).collect();
            this.at(x, &at)
        })
    }

    /// Matrices with the rows of these at positions, each of which stands once.
    pub(crate) fn rows_to(&mut self, x: Atom, positions: Atom) -> Atom {
        let dims = self.b.ty(positions).dims;
        let ty = Ty::new(Elem::I64, dims);
        // The permutation that undoes one is the order of its elements.
        let undone = self.b.tensor(ARGSORT.op(), &[positions], &[], ty).into();
        self.rows_at(x, undone)
    }
}
