//! Structural operations: loops that move elements. One function each.

use super::matmul::matmul;
use super::output::print;
use super::work::sharing_of_elements;
use super::{Lowering, Value};
use crate::node::{Node, Operand, Routine, Tensor};
use cotan_ir::{Atom, Const, Elem, TensorOp, Var, bug};
use cotan_ops::{
    CONCAT, Evaluation, FILL, FROM_ELEMENTS, IOTA, MATMUL, PAD, PRINT, RESHAPE, REVERSE, SLICE, TRANSPOSE, TensorRow,
    cast_to, tensor_row,
};

/// Steps of moving an element to another place of the order of axes, which the caches decide.
const STEPS_OF_PERMUTED: f64 = 16.0;

/// Lowers one use: the result variable, operands, attributes.
type Rule = fn(&mut Lowering, Var, &[Value], &[i64]) -> Value;

/// Every structural operation.
static RULES: [(&TensorRow, Rule); 11] = [
    (&SLICE, slice),
    (&PAD, pad),
    (&REVERSE, reverse),
    (&CONCAT, concat),
    (&FILL, fill),
    (&FROM_ELEMENTS, from_elements),
    (&IOTA, iota),
    (&RESHAPE, reshape),
    (&TRANSPOSE, transpose),
    (&MATMUL, matmul),
    (&PRINT, print),
];

/// Whether this crate lowers an operation on tensors.
pub fn lowers(op: TensorOp) -> bool {
    match tensor_row(op).evaluation {
        Evaluation::Direct(_) => rule(op).is_some(),
        Evaluation::Routine(_) => true,
    }
}

fn rule(op: TensorOp) -> Option<Rule> {
    let record = tensor_row(op);
    RULES.iter().find(|(known, _)| std::ptr::eq(*known, record)).map(|(_, rule)| *rule)
}

impl Lowering<'_> {
    pub(super) fn tensor_op(&mut self, result: Var, op: TensorOp, args: &[Atom], attrs: &[i64]) {
        let args: Vec<Value> = args.iter().map(|a| self.value_of(*a)).collect();
        let value = match tensor_row(op).evaluation {
            Evaluation::Routine(_) => call_routine(self, result, op, &args, attrs),
            Evaluation::Direct(_) => {
                let rule = rule(op).unwrap_or_else(|| bug!("lowering to nests", self.f, "no rule for `{}`", op.name()));
                rule(self, result, &args, attrs)
            }
        };
        self.bind(result, value);
    }

    /// Loops over all index tuples of these extents.
    pub(super) fn for_all(&mut self, extents: &[Operand], write: &mut dyn FnMut(&mut Self, &[Operand])) {
        self.for_all_after(extents, &mut Vec::new(), write);
    }

    fn for_all_after(
        &mut self,
        extents: &[Operand],
        at: &mut Vec<Operand>,
        write: &mut dyn FnMut(&mut Self, &[Operand]),
    ) {
        match extents.get(at.len()) {
            None => write(self, at),
            Some(n) => self.for_each_apart("k", *n, |this, k| {
                at.push(k);
                this.for_all_after(extents, at, write);
                at.pop();
            }),
        }
    }

    /// Copies a tensor with its axes in another order: axis `k` of the target is axis `perm[k]` of the source.
    pub(super) fn permute(&mut self, from: &Tensor, to: &Tensor, perm: &[i64]) {
        let sharing = sharing_of_elements(self, &to.dims, STEPS_OF_PERMUTED);
        self.for_all(&to.dims.clone(), &mut |this, at| {
            let mut source = vec![Operand::i64(0); at.len()];
            for (axis, index) in perm.iter().zip(at) {
                source[*axis as usize] = *index;
            }
            let (source, target) = (this.part(from, &source), this.part(to, at));
            let value = this.load("x", from.elem, source.place);
            this.store(target.place, value);
        });
        if let Some(sharing) = sharing {
            self.may_fork(sharing);
        }
    }

    /// The result of an operation that gives a tensor or, without dims, a scalar: `write` fills a place.
    pub(super) fn written(&mut self, result: Var, write: impl FnOnce(&mut Self, &Tensor)) -> Value {
        let is_scalar = self.f.ty(result).is_scalar();
        let to = if is_scalar {
            self.allocate("scalar", self.f.ty(result).elem, Vec::new())
        } else {
            self.allocate_for(result)
        };
        write(self, &to);
        if is_scalar { Value::Scalar(self.load(self.f.name_of(result), to.elem, to.place)) } else { Value::Tensor(to) }
    }
}

/// A call of a numerical routine.
fn call_routine(this: &mut Lowering, result: Var, op: TensorOp, args: &[Value], attrs: &[i64]) -> Value {
    let mut from = Vec::new();
    for arg in args {
        from.push(match arg {
            Value::Tensor(tensor) => tensor.clone(),
            Value::Scalar(operand) => {
                let elem = this.elem_of(*operand);
                let scalar = this.allocate("scalar", elem, Vec::new());
                this.store(scalar.place, *operand);
                scalar
            }
        });
    }
    this.written(result, |this, to| {
        let routine = Routine { op, attrs: attrs.to_vec(), to: to.clone(), from };
        this.push(Node::Routine(Box::new(routine)));
    })
}

/// A tensor seen as `[before the axis, the axis, after it]`.
fn around_axis(this: &mut Lowering, t: &Tensor, axis: usize) -> Tensor {
    let outer = this.count(&t.dims[..axis]);
    let inner = this.count(&t.dims[axis + 1..]);
    Tensor { dims: vec![outer, t.dims[axis], inner], ..t.clone() }
}

/// Copies runs of `n` positions along the middle axis, from position `from_lo` on of one tensor to `to_lo` on of
/// another.
fn copy_runs(this: &mut Lowering, from: &Tensor, from_lo: Operand, to: &Tensor, to_lo: Operand, n: Operand) {
    this.for_each_apart("outer", from.dims[0], |this, i| {
        let source = this.part(from, &[i, from_lo]);
        let target = this.part(to, &[i, to_lo]);
        let count = this.mul(n, source.dims[0]);
        this.push(Node::Copy { from: source.place, to: target.place, count });
    });
}

fn scalar(value: &Value) -> Operand {
    match value {
        Value::Scalar(operand) => *operand,
        Value::Tensor(_) => bug!("lowering to nests", format_args!("{value:?}"), "a position is a number"),
    }
}

fn slice(this: &mut Lowering, result: Var, args: &[Value], attrs: &[i64]) -> Value {
    let axis = attrs[0] as usize;
    let to = this.allocate_for(result);
    let (from, into) = (around_axis(this, &args[0].tensor(), axis), around_axis(this, &to, axis));
    copy_runs(this, &from, scalar(&args[1]), &into, Operand::i64(0), into.dims[1]);
    Value::Tensor(to)
}

fn pad(this: &mut Lowering, result: Var, args: &[Value], attrs: &[i64]) -> Value {
    let axis = attrs[0] as usize;
    let to = this.allocate_for(result);
    this.put(to.place, &Value::Scalar(Operand::Const(Const::zero(to.elem))), &to.dims);
    let (from, into) = (around_axis(this, &args[0].tensor(), axis), around_axis(this, &to, axis));
    copy_runs(this, &from, Operand::i64(0), &into, scalar(&args[1]), from.dims[1]);
    Value::Tensor(to)
}

fn reverse(this: &mut Lowering, result: Var, args: &[Value], attrs: &[i64]) -> Value {
    let axis = attrs[0] as usize;
    let to = this.allocate_for(result);
    let (from, into) = (around_axis(this, &args[0].tensor(), axis), around_axis(this, &to, axis));
    let last = this.sub(from.dims[1], Operand::i64(1));
    this.for_all(&from.dims[..2], &mut |this, at| {
        let mirrored = this.sub(last, at[1]);
        let (source, target) = (this.part(&from, at), this.part(&into, &[at[0], mirrored]));
        this.copy_tensor(&source, target.place);
    });
    Value::Tensor(to)
}

fn concat(this: &mut Lowering, result: Var, args: &[Value], attrs: &[i64]) -> Value {
    let axis = attrs[0] as usize;
    let to = this.allocate_for(result);
    let into = around_axis(this, &to, axis);
    let mut lo = Operand::i64(0);
    for arg in args {
        let from = around_axis(this, &arg.tensor(), axis);
        copy_runs(this, &from, Operand::i64(0), &into, lo, from.dims[1]);
        lo = this.add(lo, from.dims[1]);
    }
    Value::Tensor(to)
}

fn fill(this: &mut Lowering, result: Var, args: &[Value], _: &[i64]) -> Value {
    if this.f.ty(result).is_scalar() {
        return args[0].clone();
    }
    let to = this.allocate_for(result);
    match &args[0] {
        Value::Scalar(_) => this.put(to.place, &args[0], &to.dims),
        Value::Tensor(inner) => {
            let (lead, _) = to.dims.split_at(to.dims.len() - inner.dims.len());
            let copies = this.count(lead);
            let size = this.count(&inner.dims);
            this.for_each_apart("copy", copies, |this, i| {
                let offset = this.mul(i, size);
                let target = this.shifted(to.place, offset);
                this.copy_tensor(inner, target);
            });
        }
    }
    Value::Tensor(to)
}

fn from_elements(this: &mut Lowering, result: Var, args: &[Value], _: &[i64]) -> Value {
    if this.f.ty(result).is_scalar() {
        return args[0].clone();
    }
    let to = this.allocate_for(result);
    for (k, element) in args.iter().enumerate() {
        let place = this.shifted(to.place, Operand::i64(k as i64));
        this.store(place, scalar(element));
    }
    Value::Tensor(to)
}

fn iota(this: &mut Lowering, result: Var, _: &[Value], _: &[i64]) -> Value {
    let to = this.allocate_for(result);
    this.for_each_apart("k", to.dims[0], |this, k| {
        let value = if to.elem == Elem::I64 { k } else { this.apply("number", cast_to(to.elem), &[k]) };
        let place = this.shifted(to.place, k);
        this.store(place, value);
    });
    Value::Tensor(to)
}

/// The same elements in the same memory.
fn reshape(this: &mut Lowering, result: Var, args: &[Value], _: &[i64]) -> Value {
    let ty = this.f.ty(result);
    match &args[0] {
        Value::Tensor(from) if ty.is_scalar() => Value::Scalar(this.load(this.f.name_of(result), ty.elem, from.place)),
        Value::Tensor(from) => Value::Tensor(Tensor { dims: this.dims(ty), ..from.clone() }),
        Value::Scalar(_) => fill(this, result, args, &[]),
    }
}

fn transpose(this: &mut Lowering, result: Var, args: &[Value], perm: &[i64]) -> Value {
    let from = args[0].tensor();
    if this.transposed.contains(&result) {
        // Whoever reads it knows that its last two axes are exchanged in memory.
        return Value::Tensor(Tensor { dims: this.dims(this.f.ty(result)), ..from });
    }
    let to = this.allocate_for(result);
    this.permute(&from, &to, perm);
    Value::Tensor(to)
}
