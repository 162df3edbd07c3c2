//! Structured zeros: a tensor that is zero but for one slice, as a basis vector, is worked on as that slice.
//!
//! A Jacobian pushes a basis vector forward or back for each of its columns or rows, and the derivative of that adds a matrix that
//! is zero but for a row to another one. What products in which an exact zero wins ([`MULZ`], strong products of matrices) make
//! of such a tensor is zero elsewhere, too. So its slice alone goes from one operation to the next ([`slices`]). It is used
//! where a product sums over the slices, which leaves one term of each sum, and where the tensor is added to an accumulator.
//! What else reads the tensor finds it as it was. Zeros are of either sign: what is added up from zero is the same
//! for both.

mod slices;

use super::vector_products::transposed;
use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{
    AccKind, Atom, Block, Builder, Const, Dim, Elem, Function, Monoid, Op, Par, ParResult, Stmt, Ty, Var, count_uses,
};
use cotan_ops::{ADD, MATMUL, MULZ, RESHAPE, is_one_run, is_strong};
use rustc_hash::{FxHashMap, FxHashSet};
use slices::Slice;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "one_hot",
    doc: "Tensors that are zero but for one slice, as basis vectors, are multiplied and added up as that slice.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| one_hot(f),
};

/// The function with products and sums of slices in the place of those of tensors that are zero elsewhere.
pub fn one_hot(f: Function) -> Function {
    let splats = Splats::of(&f.body);
    let is_basis = |s: &Stmt| matches!(&s.op, Op::Update { array, .. } if splats.is_zero(*array));
    if !f.body.walk().any(is_basis) {
        return f;
    }
    let mut pass = Propagate {
        b: Builder::on(f.vars.clone()),
        n_uses: count_uses(&f.body, &f.vars),
        splats,
        slices: FxHashMap::default(),
        linear: FxHashMap::default(),
        sums: FxHashSet::default(),
        fires: false,
    };
    let body = pass.block(f.body.clone());
    if !pass.fires {
        return f;
    }
    Function { vars: pass.b.into_vars(), body, ..f }
}

struct Propagate {
    b: Builder,
    /// How often the variables of the function are used.
    n_uses: Vec<u32>,
    splats: Splats,
    /// The tensors that are zero but for a slice.
    slices: FxHashMap<Var, Slice>,
    /// The products, transposes and reshapes, of which a slice is as much work as its part of the whole.
    linear: FxHashMap<Var, Op>,
    /// The accumulators that are sums.
    sums: FxHashSet<Var>,
    /// Whether a slice was used.
    fires: bool,
}

/// What stands at one position of an axis of a factor.
#[derive(Clone, Copy)]
enum Line {
    /// All of a vector or number.
    Whole(Atom),
    /// The elements of a vector or matrix that have this number on this axis.
    Part { of: Atom, axis: usize, at: Atom },
}

impl Propagate {
    fn block(&mut self, block: Block) -> Block {
        self.b.open_block();
        for mut s in block.stmts {
            let sums = s.op.accs().iter().filter(|acc| acc.kind == AccKind::Reduce(Monoid::Add)).map(|acc| acc.var);
            self.sums.extend(sums);
            s.op.map_blocks(|b| self.block(b));
            self.b.set_span(s.span);
            self.statement(s);
        }
        self.b.close_block(block.results)
    }

    fn statement(&mut self, mut s: Stmt) {
        if let Op::AccAdd { acc, indices, value } = &s.op
            && self.sums.contains(acc)
            && let Some(slice) = self.slice(*value)
            && self.add(*acc, indices, slice)
        {
            self.fires = true;
            return;
        }
        if let Some(Product { factors, attrs }) = self.product(&s.op)
            && is_strong(&attrs)
            && !is_one_run(&attrs)
            && let Some(op) = self.one_term(factors, s.results[0])
        {
            self.fires = true;
            s.op = op;
        }
        let found = self.slice_of_result(&s);
        if let [result] = s.results[..] {
            let is_linear = s.op.args_of_tensor(RESHAPE.op()).is_some() || transposed(&s.op).is_some();
            if is_linear || self.product(&s.op).is_some() {
                self.linear.insert(result, s.op.clone());
            }
            self.slices.extend(found.map(|slice| (result, slice)));
        }
        self.b.stmts().push(s);
    }

    fn slice(&self, a: Atom) -> Option<Slice> {
        self.slices.get(&a.var()?).copied()
    }

    /// Adds a tensor that is zero but for a slice to a part of an accumulator.
    fn add(&mut self, acc: Var, part: &[Atom], Slice { axis, at, value }: Slice) -> bool {
        let mut indices = part.to_vec();
        if axis == 0 {
            indices.push(at);
            self.b.acc_add(acc, &indices, value);
            return true;
        }
        let [rows] = self.b.ty(value).dims[..] else { return false };
        self.b.open_block();
        let row = self.b.var("i", Ty::scalar(Elem::I64));
        let element = self.b.index(value, &[row.into()]);
        indices.extend([row.into(), at]);
        self.b.acc_add(acc, &indices, element.into());
        let body = self.b.close_block(Vec::new());
        self.b.finish_par(vec![row], vec![rows.atom()], Vec::new(), Vec::new(), body);
        true
    }

    /// A product that sums over the slices of one factor, of which one counts. Sides of 1 get no index.
    fn one_term(&mut self, [a, b]: [Atom; 2], result: Var) -> Option<Op> {
        let last = self.b.ty(a).rank() - 1;
        let of_a = self.slice(a).filter(|slice| slice.axis == last);
        let of_b = self.slice(b).filter(|slice| slice.axis == 0);
        let at = of_a.or(of_b)?.at;
        let line = |of: Atom, axis: usize, slice: Option<Slice>| match slice {
            Some(slice) if slice.at == at => Line::Whole(slice.value),
            Some(_) | None => Line::Part { of, axis, at },
        };
        let lines = [line(a, last, of_a), line(b, 0, of_b)];
        let ranks = [last, self.b.ty(b).rank() - 1];
        let sides = [(a, 0), (b, 1)].map(|(factor, axis)| self.b.ty(factor).dims.get(axis).copied());
        self.b.open_block();
        let (mut indices, mut dims) = (Vec::new(), Vec::new());
        let mut factors = [a, b];
        for side in 0..2 {
            let dim = sides[side].filter(|_| ranks[side] == 1);
            let index = dim.filter(|dim| *dim != Dim::Const(1)).map(|_| self.b.var("i", Ty::scalar(Elem::I64)));
            indices.extend(index);
            dims.extend(index.and(dim));
            let at = dim.map(|_| index.map_or(Const::i64(0).into(), Atom::Var));
            factors[side] = self.element(lines[side], at);
        }
        let zero = Const::zero(self.b.ty(a).elem).into();
        let product = self.b.named("product").prim(MULZ.prim(), &factors);
        let product = self.b.named("product").prim(ADD.prim(), &[zero, product.into()]);
        let body = self.b.close_block(vec![product.into()]);
        if indices.is_empty() {
            let value = body.results[0];
            self.b.stmts().extend(body.stmts);
            return Some(Op::Tensor { op: RESHAPE.op(), args: vec![value], attrs: Vec::new() });
        }
        let (extents, kinds) = (dims.iter().map(|dim| dim.atom()).collect(), vec![ParResult::Stacked]);
        let op = Op::Par(Box::new(Par { indices, extents, kinds, accs: Vec::new(), body }));
        let ty = Ty::new(self.b.ty(a).elem, dims);
        if ty == *self.b.var_ty(result) {
            return Some(op);
        }
        let value = self.b.var("product", ty);
        self.b.push(vec![value], op);
        Some(Op::Tensor { op: RESHAPE.op(), args: vec![value.into()], attrs: Vec::new() })
    }

    /// An element of a line.
    fn element(&mut self, line: Line, index: Option<Atom>) -> Atom {
        match (line, index) {
            (Line::Whole(value), None) => value,
            (Line::Whole(vector), Some(i)) => self.b.index(vector, &[i]).into(),
            (Line::Part { of, at, .. }, None) => self.b.index(of, &[at]).into(),
            (Line::Part { of, axis, at }, Some(i)) => {
                let (of, axis) = match self.transpose_of(of) {
                    Some(matrix) => (matrix, 1 - axis),
                    None => (of, axis),
                };
                let indices = if axis == 0 { [at, i] } else { [i, at] };
                self.b.index(of, &indices).into()
            }
        }
    }

    /// The matrix that this one is the transpose of.
    fn transpose_of(&self, a: Atom) -> Option<Atom> {
        transposed(self.linear.get(&a.var()?)?)
    }

    /// The factors of a product of two vectors or matrices. Batches of products are left alone.
    fn product(&self, op: &Op) -> Option<Product> {
        let Op::Tensor { op, args, attrs } = op else { return None };
        let is_product = *op == MATMUL.op() && args.iter().all(|a| (1..=2).contains(&self.b.ty(*a).rank()));
        is_product.then(|| Product { factors: [args[0], args[1]], attrs: attrs.clone() })
    }
}

/// A product of vectors or matrices.
struct Product {
    factors: [Atom; 2],
    attrs: Vec<i64>,
}
