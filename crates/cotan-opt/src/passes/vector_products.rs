//! Strength reduction of matrix products with a side of 1: products with a vector, outer products, scaled vectors.
//!
//! Reverse mode writes the adjoint of every product as a product of matrices: vectors become matrices with a side of 1, and
//! the other factor is transposed. Here `w^T y` becomes `y w`, which reads `w` as it lies in memory, `y x^T` becomes a parallel
//! loop that fuses with others, and no transpose is left that only such products read. Sums have the same terms in the same order.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Const, Dim, Elem, Function, Op, Par, ParResult, Span, Stmt, Ty, Var, VarInfo};
use cotan_ops::{ADD, FMA, MATMUL, MULZ, RESHAPE, TRANSPOSE, is_one_run, is_strong};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "vector_products",
    doc: "Matrix products with a side of 1 become products with a vector, outer products or scaled vectors.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| vector_products(f),
};

/// The function without products of matrices with a side of 1.
pub fn vector_products(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let body = Reduce { f: &mut f, forms: FxHashMap::default(), written: Vec::new(), span: Span::NONE }.block(body);
    Function { body, ..f }
}

/// What a tensor is made of.
#[derive(Clone, Copy)]
enum Form {
    /// The elements of this one in the same order.
    Reshaped(Atom),
    /// A matrix with its axes exchanged.
    Transposed(Atom),
}

struct Reduce<'a> {
    f: &'a mut Function,
    forms: FxHashMap<Var, Form>,
    /// The statements of the block that is being written.
    written: Vec<Stmt>,
    span: Span,
}

impl Reduce<'_> {
    fn block(&mut self, block: Block) -> Block {
        let outside = std::mem::take(&mut self.written);
        for mut s in block.stmts {
            s.op.map_blocks(|b| self.block(b));
            self.span = s.span;
            self.simplify(&mut s);
            self.enter(&s);
            self.written.push(s);
        }
        let stmts = std::mem::replace(&mut self.written, outside);
        Block { stmts, ..block }
    }

    fn enter(&mut self, s: &Stmt) {
        let form = if let Some(args) = s.op.args_of_tensor(RESHAPE.op()) {
            Form::Reshaped(args[0])
        } else if let Some(matrix) = transposed(&s.op) {
            Form::Transposed(matrix)
        } else {
            return;
        };
        self.forms.insert(s.results[0], form);
    }

    fn simplify(&mut self, s: &mut Stmt) {
        let Op::Tensor { op, args, attrs } = &mut s.op else { return };
        if *op == RESHAPE.op() {
            if let Some(Form::Reshaped(source)) = self.form(args[0]) {
                args[0] = source;
            }
        } else if *op == MATMUL.op()
            && let [a, b] = args[..]
            && !is_one_run(attrs)
            && let Some(op) = self.product(a, b, is_strong(attrs), &self.f.ty(s.results[0]).clone())
        {
            s.op = op;
        }
    }

    fn form(&self, a: Atom) -> Option<Form> {
        a.var().and_then(|v| self.forms.get(&v)).copied()
    }

    /// The matrix of which this one is the transpose.
    fn transpose_of(&self, a: Atom) -> Option<Atom> {
        match self.form(a) {
            Some(Form::Transposed(matrix)) => Some(matrix),
            Some(Form::Reshaped(_)) | None => None,
        }
    }

    /// Another way to the product of these factors, whose result has type `ty`.
    fn product(&mut self, a: Atom, b: Atom, is_strong: bool, ty: &Ty) -> Option<Op> {
        let (left, right) = (self.f.atom_ty(a).dims.clone(), self.f.atom_ty(b).dims.clone());
        let one = Dim::Const(1);
        match (&left[..], &right[..]) {
            ([_, _], [_]) => Some(product(b, self.transpose_of(a)?, is_strong)),
            ([_], [_, _]) => Some(product(self.transpose_of(b)?, a, is_strong)),
            ([m, k], [_, n]) if *k == one => Some(self.outer(a, b, [*m, *n], is_strong, ty)),
            ([m, k], [_, n]) if *n == one => {
                let vector = self.vector(b, *k);
                let op = match (self.transpose_of(a), *m == one) {
                    (_, true) => product(self.vector(a, *k), vector, is_strong),
                    (Some(matrix), false) => product(vector, matrix, is_strong),
                    (None, false) => product(a, vector, is_strong),
                };
                Some(self.reshaped(op, Ty::new(ty.elem, if *m == one { vec![] } else { vec![*m] })))
            }
            ([m, k], [_, n]) if *m == one => {
                let vector = self.vector(a, *k);
                let op = match self.transpose_of(b) {
                    Some(matrix) => product(matrix, vector, is_strong),
                    None => product(vector, b, is_strong),
                };
                Some(self.reshaped(op, Ty::new(ty.elem, vec![*n])))
            }
            (_, _) => None,
        }
    }

    /// The products of all pairs of elements of two vectors.
    fn outer(&mut self, a: Atom, b: Atom, sides: [Dim; 2], is_strong: bool, ty: &Ty) -> Op {
        let (mut indices, mut dims, mut stmts) = (Vec::new(), Vec::new(), Vec::new());
        let values = [(a, sides[0]), (b, sides[1])].map(|(factor, side)| {
            if side == Dim::Const(1) {
                return self.single(factor);
            }
            let (vector, index) = (self.vector(factor, side), self.var("i", Ty::scalar(Elem::I64)));
            let element = self.var("elem", Ty::scalar(ty.elem));
            let op = Op::Index { array: vector, indices: vec![index.into()] };
            stmts.push(Stmt { results: vec![element], op, span: self.span });
            indices.push(index);
            dims.push(side);
            element.into()
        });
        let outside = std::mem::replace(&mut self.written, stmts);
        let value = self.term(values, is_strong, ty.elem);
        let stmts = std::mem::replace(&mut self.written, outside);
        if indices.is_empty() {
            self.written.extend(stmts);
            return Op::Tensor { op: RESHAPE.op(), args: vec![value], attrs: Vec::new() };
        }
        let extents = dims.iter().map(|dim| dim.atom()).collect();
        let body = Block { stmts, results: vec![value] };
        let op = Op::Par(Box::new(Par { indices, extents, kinds: vec![ParResult::Stacked], accs: Vec::new(), body }));
        if dims == ty.dims { op } else { self.reshaped(op, Ty::new(ty.elem, dims)) }
    }

    /// A sum of one product, as products define it.
    fn term(&mut self, [x, y]: [Atom; 2], is_strong: bool, elem: Elem) -> Atom {
        let (zero, ty) = (Const::zero(elem).into(), Ty::scalar(elem));
        if !is_strong {
            return self.define("product", ty, Op::Prim { prim: FMA.prim(), args: vec![x, y, zero] });
        }
        let product = self.define("product", ty.clone(), Op::Prim { prim: MULZ.prim(), args: vec![x, y] });
        self.define("product", ty, Op::Prim { prim: ADD.prim(), args: vec![zero, product] })
    }

    /// The elements of a matrix with a side of 1.
    fn vector(&mut self, a: Atom, length: Dim) -> Atom {
        match self.form(a) {
            Some(Form::Transposed(matrix)) => self.vector(matrix, length),
            Some(Form::Reshaped(source)) if self.f.atom_ty(source).dims == [length] => source,
            Some(Form::Reshaped(source)) => self.flat(source, length),
            None => self.flat(a, length),
        }
    }

    fn flat(&mut self, a: Atom, length: Dim) -> Atom {
        let ty = Ty::new(self.f.atom_ty(a).elem, vec![length]);
        self.define("vector", ty, Op::Tensor { op: RESHAPE.op(), args: vec![a], attrs: Vec::new() })
    }

    /// The element of a matrix with two sides of 1.
    fn single(&mut self, a: Atom) -> Atom {
        match self.form(a) {
            Some(Form::Transposed(matrix)) => self.single(matrix),
            Some(Form::Reshaped(source)) if self.f.atom_ty(source).is_scalar() => source,
            Some(Form::Reshaped(_)) | None => {
                let ty = Ty::scalar(self.f.atom_ty(a).elem);
                self.define("elem", ty, Op::Index { array: a, indices: vec![Const::i64(0).into(); 2] })
            }
        }
    }

    /// What an operation gives under type `ty`, as an operation that brings it under another one.
    fn reshaped(&mut self, op: Op, ty: Ty) -> Op {
        let value = self.define("product", ty, op);
        Op::Tensor { op: RESHAPE.op(), args: vec![value], attrs: Vec::new() }
    }

    fn define(&mut self, name: &str, ty: Ty, op: Op) -> Atom {
        let result = self.var(name, ty);
        let s = Stmt { results: vec![result], op, span: self.span };
        self.enter(&s);
        self.written.push(s);
        result.into()
    }

    fn var(&mut self, name: &str, ty: Ty) -> Var {
        self.f.add_var(VarInfo { name: name.into(), ty, record: None })
    }
}

fn product(a: Atom, b: Atom, is_strong: bool) -> Op {
    let attrs = vec![i64::from(is_strong)];
    Op::Tensor { op: MATMUL.op(), args: vec![a, b], attrs }
}

/// The matrix that an operation exchanges the axes of.
pub(super) fn transposed(op: &Op) -> Option<Atom> {
    let Op::Tensor { op, args, attrs } = op else { return None };
    (*op == TRANSPOSE.op() && attrs[..] == [1, 0]).then(|| args[0])
}
