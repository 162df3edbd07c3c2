//! What is zero but for a slice, and slices of other tensors.

use super::{Product, Propagate, transposed};
use cotan_ir::{Atom, Dim, Elem, Op, ParResult, Prim, Stmt, Ty};
use cotan_ops::{ADD, MATMUL, MULZ, NEG, RESHAPE, SUB, is_strong};

/// The only part of a tensor that may differ from zero: the elements with number `at` on an axis.
#[derive(Clone, Copy)]
pub(super) struct Slice {
    pub(super) axis: usize,
    pub(super) at: Atom,
    /// These elements, under the other axes.
    pub(super) value: Atom,
}

impl Propagate {
    /// The slice of what a statement makes, if it is zero elsewhere.
    pub(super) fn slice_of_result(&mut self, s: &Stmt) -> Option<Slice> {
        let [result] = s.results[..] else { return None };
        if let Op::Update { array, indices, value } = &s.op {
            let [at] = indices[..] else { return None };
            return self.splats.is_zero(*array).then_some(Slice { axis: 0, at, value: *value });
        }
        if let Op::Prim { prim, args } = &s.op {
            return self.slice_of_prim(*prim, args);
        }
        if let Some(args) = s.op.args_of_tensor(RESHAPE.op()) {
            let of = self.slice(args[0])?;
            let axis = self.axis_of(&self.b.ty(args[0]), of.axis, self.b.var_ty(result))?;
            let ty = without(self.b.var_ty(result), axis);
            return Some(Slice { axis, value: self.reshaped(of.value, ty), ..of });
        }
        if let Some(matrix) = transposed(&s.op) {
            let of = self.slice(matrix)?;
            return Some(Slice { axis: 1 - of.axis, ..of });
        }
        let Product { factors: [a, b], attrs } = self.product(&s.op).filter(|product| is_strong(&product.attrs))?;
        if let Some(of) = self.slice(a).filter(|of| of.axis == 0 && self.b.ty(a).rank() == 2) {
            return Some(Slice { value: self.row_of_product(of.value, b, &attrs), ..of });
        }
        let of = self.slice(b).filter(|of| of.axis == 1)?;
        let axis = self.b.var_ty(result).rank() - 1;
        Some(Slice { axis, value: self.column_of_product(a, of.value, &attrs), ..of })
    }

    /// The slice of what a primitive makes of tensors element by element.
    fn slice_of_prim(&mut self, prim: Prim, args: &[Atom]) -> Option<Slice> {
        if prim == MULZ.prim() {
            let of = args.iter().find_map(|a| self.slice(*a))?;
            let factors = [self.part(args[0], of)?, self.part(args[1], of)?];
            return Some(Slice { value: self.b.prim(prim, &factors).into(), ..of });
        }
        if ![NEG.prim(), ADD.prim(), SUB.prim()].contains(&prim) {
            return None;
        }
        let slices: Option<Vec<Slice>> = args.iter().map(|a| self.slice(*a)).collect();
        let slices = slices?;
        let of = slices[0];
        if slices.iter().any(|slice| (slice.axis, slice.at) != (of.axis, of.at)) {
            return None;
        }
        let values: Vec<Atom> = slices.iter().map(|slice| slice.value).collect();
        Some(Slice { value: self.b.prim(prim, &values).into(), ..of })
    }

    /// What another tensor of the same type has where this slice is; a constant stands for a tensor of it.
    fn part(&mut self, a: Atom, of: Slice) -> Option<Atom> {
        match self.slice(a) {
            Some(own) if (own.axis, own.at) == (of.axis, of.at) => Some(own.value),
            Some(_) | None => self.slice_at(a, of.axis, of.at),
        }
    }

    /// The elements of a tensor with number `at` on an axis. Of a product that is used for nothing else no other element is wanted.
    fn slice_at(&mut self, a: Atom, axis: usize, at: Atom) -> Option<Atom> {
        let Some(v) = a.var() else { return Some(a) };
        let ty = self.b.ty(a);
        if let Some(op) = self.linear.get(&v).cloned()
            && self.n_uses.get(v.index()) == Some(&1)
        {
            if let Some(matrix) = transposed(&op) {
                return self.slice_at(matrix, 1 - axis, at);
            }
            if let Some(args) = op.args_of_tensor(RESHAPE.op()) {
                let from = self.axis_of(&ty, axis, &self.b.ty(args[0]));
                if let Some(part) = from.and_then(|axis| self.slice_at(args[0], axis, at)) {
                    return Some(self.reshaped(part, without(&ty, axis)));
                }
            }
            if let Some(Product { factors: [a, b], attrs }) = self.product(&op) {
                if axis == 0 && self.b.ty(a).rank() == 2 {
                    let row = self.slice_at(a, 0, at)?;
                    return Some(self.row_of_product(row, b, &attrs));
                }
                let column = self.slice_at(b, 1, at)?;
                return Some(self.column_of_product(a, column, &attrs));
            }
        }
        match (axis, ty.rank()) {
            (0, _) => Some(self.b.index(a, &[at]).into()),
            (1, 2) => Some(self.column(a, at)),
            (_, _) => None,
        }
    }

    fn column(&mut self, matrix: Atom, at: Atom) -> Atom {
        if let Some(matrix) = self.transpose_of(matrix) {
            return self.b.index(matrix, &[at]).into();
        }
        let rows = self.b.ty(matrix).dims[0].atom();
        self.b.open_block();
        let row = self.b.var("i", Ty::scalar(Elem::I64));
        let element = self.b.index(matrix, &[row.into(), at]);
        let body = self.b.close_block(vec![element.into()]);
        self.b.finish_par(vec![row], vec![rows], vec![ParResult::Stacked], Vec::new(), body)[0].into()
    }

    /// A row of a product of a matrix with `b`, from the row of that matrix. Sums have the order that they have in the whole.
    fn row_of_product(&mut self, row: Atom, b: Atom, attrs: &[i64]) -> Atom {
        let (ty, right) = (self.b.ty(row), self.b.ty(b));
        let one = Dim::Const(1);
        let row = self.reshaped(row, ty.stacked([one]));
        let rest = right.dims[1..].to_vec();
        let product = Ty::new(ty.elem, [vec![one], rest.clone()].concat());
        let product = self.b.named("product").tensor(MATMUL.op(), &[row, b], attrs, product);
        self.reshaped(product.into(), Ty::new(ty.elem, rest))
    }

    /// A column of a product of `a` with a matrix, from the column of that matrix.
    fn column_of_product(&mut self, a: Atom, column: Atom, attrs: &[i64]) -> Atom {
        let (left, ty) = (self.b.ty(a), self.b.ty(column));
        let one = Dim::Const(1);
        let column = self.reshaped(column, Ty::new(ty.elem, vec![ty.dims[0], one]));
        let rest = left.dims[..left.rank() - 1].to_vec();
        let product = Ty::new(ty.elem, [rest.clone(), vec![one]].concat());
        let product = self.b.named("product").tensor(MATMUL.op(), &[a, column], attrs, product);
        self.reshaped(product.into(), Ty::new(ty.elem, rest))
    }

    fn reshaped(&mut self, a: Atom, ty: Ty) -> Atom {
        if self.b.ty(a).dims == ty.dims { a } else { self.b.tensor(RESHAPE.op(), &[a], &[], ty).into() }
    }

    /// Where an axis is under a type that has the same extents, but for those of 1.
    fn axis_of(&self, from: &Ty, axis: usize, to: &Ty) -> Option<usize> {
        let long = |ty: &Ty| -> Vec<usize> { (0..ty.rank()).filter(|k| ty.dims[*k] != Dim::Const(1)).collect() };
        let (old, new) = (long(from), long(to));
        let is_same = old.len() == new.len() && old.iter().zip(&new).all(|(k, l)| from.dims[*k] == to.dims[*l]);
        let position = old.iter().position(|k| *k == axis).filter(|_| is_same)?;
        Some(new[position])
    }
}

fn without(ty: &Ty, axis: usize) -> Ty {
    let mut dims = ty.dims.clone();
    dims.remove(axis);
    Ty::new(ty.elem, dims)
}
