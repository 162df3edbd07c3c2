//! Functions of the prelude on the floats of values, leaf by leaf.

use cotan_ir::{Atom, Const, Dim, Elem, Ty};
use cotan_ops::{ABS, ADD, AND, CONCAT, EQ, ISFINITE, LE, MAX, MIN, MUL, OR, RESHAPE, SELECT, SUB};
use cotan_sema::typed::Type;
use cotan_syntax::ast::FoldOp;

use super::Result;
use super::body::{Body, Closure, Value};
use super::code::Code;
use super::vectors::Operand;

impl<'p> Body<'_, 'p> {
    /// `f` of the floats of the operands, an element at a time.
    pub(super) fn map_leaves(&mut self, f: Closure<'p>, operands: &[Operand<'_>]) -> Result<Value> {
        let (ty, _) = &operands[0];
        self.leaf_by_leaf(ty, operands, &mut |body, args| {
            let args: Value = args.iter().map(|arg| body.code.convert(*arg, Elem::F64)).collect();
            let extents: Vec<Atom> = body.code.b.ty(args[0]).dims.iter().map(|dim| dim.atom()).collect();
            let made = if extents.is_empty() {
                body.apply(f, args.into_iter().map(|arg| vec![arg]).collect(), &[])?
            } else {
                body.stacked(&extents, &mut |body, at| {
                    let elements = args.iter().map(|arg| vec![body.code.b.index(*arg, at).into()]).collect();
                    body.apply(f, elements, &[])
                })?
            };
            Ok(made[0])
        })
    }

    /// The sum of all floats of a value.
    pub(super) fn sum_of_leaves(&mut self, ty: &Type, value: Value) -> Result<Atom> {
        let floats = floats(self, ty, &value);
        total(self, &floats)
    }

    /// The sum of the products of the floats of two values, or of a value and a tangent.
    pub(super) fn inner(&mut self, operands: &[Operand<'_>]) -> Result<Atom> {
        let [a, b] = [&operands[0], &operands[1]].map(|(ty, value)| floats(self, ty, value));
        let products: Value = a.iter().zip(&b).map(|(a, b)| self.code.element_wise(&MUL, &[*a, *b])).collect();
        total(self, &products)
    }

    /// The norm of all floats of a value, as one vector.
    pub(super) fn norm_of_leaves(&mut self, ty: &Type, value: Value) -> Result<Atom> {
        let floats = floats(self, ty, &value);
        let mut length = Atom::i64(0);
        let mut parts = Value::new();
        for float in floats {
            let n = n_elements(&mut self.code, float);
            let ty = Ty { elem: Elem::F64, dims: vec![Dim::from_atom(n)] };
            parts.push(match self.code.b.ty(float).is_scalar() {
                true => self.code.fill(float, &ty.dims),
                false => self.code.b.tensor(RESHAPE.op(), &[float], &[], ty).into(),
            });
            length = self.code.prim(&ADD, &[length, n]);
        }
        let ty = Ty { elem: Elem::F64, dims: vec![Dim::from_atom(length)] };
        let all = self.code.b.tensor(CONCAT.op(), &parts, &[0], ty).into();
        self.code.norm(all)
    }

    /// How many floats there are in a value.
    pub(super) fn count_of_leaves(&mut self, ty: &Type, value: Value) -> Atom {
        let floats = floats(self, ty, &value);
        floats.into_iter().fold(Atom::i64(0), |count, float| {
            let n = n_elements(&mut self.code, float);
            self.code.prim(&ADD, &[count, n])
        })
    }
}

/// Whether all floats of two values, or of a value and a tangent, agree up to a tolerance.
pub(super) fn close(body: &mut Body<'_, '_>, operands: &[Operand<'_>], tolerance: Atom) -> Result<Atom> {
    let [a, b] = [&operands[0], &operands[1]].map(|(ty, value)| floats(body, ty, value));
    let mut all: Atom = Const::bool(true).into();
    for (a, b) in a.into_iter().zip(b) {
        let near = body.code.near(a, b, tolerance);
        let near = match body.code.b.ty(near).is_scalar() {
            true => near,
            false => body.fold_all(FoldOp::And, near)?,
        };
        all = body.code.prim(&AND, &[all, near]);
    }
    Ok(all)
}

impl Code {
    /// Whether floats agree, element by element: they are equal, or their difference is a number of at most the tolerance
    /// times the largest of 1 and their magnitudes. No NaN is made on the way: equal infinities are not subtracted, and
    /// none is multiplied.
    fn near(&mut self, a: Atom, b: Atom, tolerance: Atom) -> Atom {
        let is_equal = self.element_wise(&EQ, &[a, b]);
        let other = self.element_wise(&SELECT, &[is_equal, Const::f64(0.0).into(), b]);
        let difference = self.element_wise(&SUB, &[a, other]);
        let gap = self.element_wise(&ABS, &[difference]);
        let [a_size, b_size] = [a, b].map(|x| self.element_wise(&ABS, &[x]));
        let size = self.element_wise(&MAX, &[a_size, b_size]);
        let size = self.element_wise(&MAX, &[size, Const::f64(1.0).into()]);
        let size = self.element_wise(&MIN, &[size, Const::f64(f64::MAX).into()]);
        let bound = self.element_wise(&MUL, &[size, tolerance]);
        let is_number = self.element_wise(&ISFINITE, &[gap]);
        let is_small = self.element_wise(&LE, &[gap, bound]);
        let is_near = self.element_wise(&AND, &[is_number, is_small]);
        self.element_wise(&OR, &[is_equal, is_near])
    }
}

/// How many elements a number or a tensor has.
fn n_elements(code: &mut Code, tensor: Atom) -> Atom {
    let dims = code.b.ty(tensor).dims;
    dims.iter().fold(Atom::i64(1), |count, dim| code.prim(&MUL, &[count, dim.atom()]))
}

/// The sum of all elements of f64s and tensors of them.
fn total(body: &mut Body<'_, '_>, floats: &[Atom]) -> Result<Atom> {
    let mut total: Atom = Const::f64(0.0).into();
    for float in floats {
        let sum = match body.code.b.ty(*float).is_scalar() {
            true => *float,
            false => body.fold_all(FoldOp::Add, *float)?,
        };
        total = body.code.prim(&ADD, &[total, sum]);
    }
    Ok(total)
}

/// The floats of a value as f64s.
fn floats(body: &mut Body<'_, '_>, ty: &Type, value: &[Atom]) -> Value {
    let types = body.layout.leaf_types(ty);
    let is_float = |(_, leaf): &(&Atom, &super::values::LeafTy)| !leaf.is_tag && leaf.elem.is_float();
    value.iter().zip(&types).filter(is_float).map(|(float, _)| body.code.convert(*float, Elem::F64)).collect()
}
