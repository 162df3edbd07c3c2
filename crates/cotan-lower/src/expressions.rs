//! Expressions: literals, aggregates, locals; everything else is handed to the file of its kind.

use cotan_ir::{Atom, Const, Elem};
use cotan_ops::{EQ, FILL, NOT, OR, PrimRow, REVERSE, STOP_GRADIENT};

use super::Result;
use super::body::{Body, Closure, Value};
use super::code::Code;
use super::control::Choice;
use super::payloads::is_there;
use super::steps;
use super::values::LeafTy;
use super::values::elem_of;
use super::vectors::{Operand, is_by_leaves};
use cotan_sema::typed::{Callable, Expr, ExprKind, FieldValue, Literal, LogicOp, Type, UnaryOp};

impl<'p> Body<'_, 'p> {
    /// The value of an expression that control leaves at its end only.
    pub(super) fn expr(&mut self, e: &'p Expr) -> Result<Value> {
        let limits = self.lowering.limits;
        if self.lowering.n_operations + self.code.b.vars().len() > limits.operations {
            return Err(Box::new(limits.too_many_operations(&self.symbol, e.span)));
        }
        self.at(e.span, |body| {
            let value = expr_kind(body, e)?;
            body.know_sizes(&e.ty, &value);
            Ok(value)
        })
    }

    /// A callable that stands in the current frame.
    pub(super) fn closure(&self, callable: &'p Callable) -> Closure<'p> {
        Closure { callable, frame: self.frame }
    }

    /// The value of a local in scope.
    pub(super) fn local(&self, id: cotan_sema::typed::LocalId) -> Value {
        self.current().locals.get(id.0 as usize).cloned().flatten().unwrap_or_default()
    }

    pub(super) fn literal(&self, literal: &Literal, ty: &Type) -> Atom {
        let elem = ty.scalar().map_or(Elem::F64, elem_of);
        literal.constant(elem).into()
    }

    /// `value op operand`, where the operand runs only if `value` does not decide. An operand that only computes is run
    /// in any case: nobody can tell.
    pub(super) fn lazy(
        &mut self,
        op: LogicOp,
        value: Atom,
        operand: &mut dyn FnMut(&mut Self) -> Result<Atom>,
    ) -> Result<Atom> {
        let decided = op == LogicOp::Or;
        match value.truth() {
            Some(known) if known == decided => return Ok(value),
            Some(_) => return operand(self),
            None => {}
        }
        self.code.b.open_block();
        let right = self.scoped(&mut *operand)?;
        let mut block = self.code.b.close_block(vec![right]);
        let is_cheap = block.stmts.len() <= CHEAP
            && block.stmts.iter().all(|s| matches!(s.op, cotan_ir::Op::Prim { .. } | cotan_ir::Op::Tensor { .. }));
        if is_cheap {
            self.code.b.stmts().append(&mut block.stmts);
            let row = if decided { &cotan_ops::OR } else { &cotan_ops::AND };
            return Ok(self.code.prim(row, &[value, right]));
        }
        let known = cotan_ir::Block { stmts: Vec::new(), results: vec![Const::bool(decided).into()] };
        let arms = if decided { vec![known, block] } else { vec![block, known] };
        let name = if decided { "or" } else { "and" };
        Ok(self.code.b.named(name).finish_switch(value, arms)[0].into())
    }
}

impl Code {
    /// Copies of a scalar in the shape of `dims`; a scalar stays what it is.
    pub(super) fn fill(&mut self, value: Atom, dims: &[cotan_ir::Dim]) -> Atom {
        if dims.is_empty() {
            return value;
        }
        let elem = self.b.ty(value).elem;
        self.b.tensor(FILL.op(), &[value], &[], cotan_ir::Ty::new(elem, dims.to_vec())).into()
    }

    /// Each leaf backwards along its first axis.
    pub(super) fn reversed(&mut self, value: Value) -> Value {
        let reverse = |leaf: Atom| {
            let ty = self.b.ty(leaf);
            self.b.tensor(REVERSE.op(), &[leaf], &[0], ty).into()
        };
        value.into_iter().map(reverse).collect()
    }

    /// The value through which no derivative flows; what carries none is left alone.
    pub(super) fn without_derivative(&mut self, value: Value) -> Value {
        let stop = |leaf: Atom| {
            if leaf.var().is_some() && self.b.ty(leaf).is_float() {
                self.b.prim(STOP_GRADIENT.prim(), &[leaf]).into()
            } else {
                leaf
            }
        };
        value.into_iter().map(stop).collect()
    }
}

fn expr_kind<'p>(body: &mut Body<'_, 'p>, e: &'p Expr) -> Result<Value> {
    match &e.kind {
        ExprKind::Error | ExprKind::Break | ExprKind::Continue | ExprKind::Return(_) => Ok(Value::new()),
        ExprKind::Literal(literal) => Ok(vec![body.literal(literal, &e.ty)]),
        ExprKind::Local(id) => Ok(body.local(*id)),
        ExprKind::Size(id) => {
            let size = cotan_sema::dims::Dim::atom(cotan_sema::dims::Atom::Size(*id));
            Ok(vec![body.size(&size).expect("invariant: a size parameter is known")])
        }
        ExprKind::Tuple(parts) => {
            let mut value = Value::new();
            for part in parts {
                value.extend(body.expr(part)?);
            }
            Ok(value)
        }
        ExprKind::Array(parts) => body.array(parts, &e.ty),
        ExprKind::Struct(fields) => structure(body, fields, &e.ty, None),
        ExprKind::StructUpdate { fields, base } => structure(body, fields, &e.ty, Some(base)),
        ExprKind::Variant { index, fields } => body.variant(&e.ty, *index, fields),
        ExprKind::Field { .. } | ExprKind::Index { .. } => body.part(e),
        ExprKind::Unary { op, operand } => {
            let operands = [(&operand.ty, body.expr(operand)?)];
            let row = op.row();
            on_vectors(body, row, &e.ty, &operands, &mut |body, args| Ok(unary(&mut body.code, *op, args[0])))
        }
        ExprKind::Chain(chain) => body.chain(chain),
        ExprKind::Logic { op, operands } => Ok(vec![logic(body, *op, operands)?]),
        ExprKind::Primitive { row, wraps, args } => {
            let mut operands = Vec::new();
            for arg in args {
                operands.push((&arg.ty, body.expr(arg)?));
            }
            on_vectors(body, row, &e.ty, &operands, &mut |body, args| Ok(body.code.primitive(row, *wraps, args)))
        }
        ExprKind::Cast(operand) => {
            let value = body.scalar(operand)?;
            let elem = e.ty.scalar().map_or(Elem::F64, elem_of);
            Ok(vec![body.code.cast(value, elem)])
        }
        ExprKind::Range(range) => Ok(vec![body.range_tensor(range)?]),
        ExprKind::Fold { op, axes, operand } => {
            let value = body.scalar(operand)?;
            Ok(vec![body.fold(*op, &axes.of_rank(operand.ty.dims().len()), value)?])
        }
        ExprKind::FoldBy { function, init, operand } => {
            let function = body.closure(function);
            body.fold_by(function, init.as_deref(), operand, &e.ty)
        }
        ExprKind::Call { callee, args } => {
            let callee = body.closure(callee);
            body.call(callee, args)
        }
        ExprKind::Builtin { builtin, args } => body.builtin(*builtin, args, e),
        ExprKind::ShapeCheck(operand) => shape_check(body, operand, &e.ty),
        ExprKind::AsTangent(operand) => {
            let value = body.expr(operand)?;
            let kept = body.layout.leaves_of_tangent(&operand.ty, &e.ty);
            Ok(value.into_iter().zip(kept).filter_map(|(leaf, is_kept)| is_kept.then_some(leaf)).collect())
        }
        ExprKind::Print(step) => Ok(vec![steps::output_step(body, step)?]),
        ExprKind::Assert(step) => Ok(vec![steps::assert_step(body, step)?]),
        ExprKind::After { value, token } => steps::after(body, value, token),
        ExprKind::If(branch) => body.chosen_value(Choice::If(branch), &e.ty),
        ExprKind::Match(it) => {
            let value = body.expr(&it.scrutinee)?;
            body.chosen_value(Choice::Match(it, &value), &e.ty)
        }
        ExprKind::Block(block) => body.block(block),
        ExprKind::For(l) => body.for_loop(l).map(|_| Value::new()),
        ExprKind::While(l) => body.while_loop(l).map(|_| Value::new()),
    }
}

fn structure<'p>(
    body: &mut Body<'_, 'p>,
    fields: &'p [FieldValue],
    ty: &Type,
    base: Option<&'p Expr>,
) -> Result<Value> {
    let mut values: Vec<Option<Value>> = vec![None; body.layout.part_types(ty).len()];
    for field in fields {
        let value = body.expr(&field.value)?;
        values[field.index] = Some(value);
    }
    let base = match base {
        Some(base) => body.expr(base)?,
        None => Value::new(),
    };
    let mut all = Value::new();
    for (k, value) in values.into_iter().enumerate() {
        let leaves = body.layout.part_leaves(ty, k);
        all.extend(value.unwrap_or_else(|| base.get(leaves).map(<[Atom]>::to_vec).unwrap_or_default()));
    }
    Ok(all)
}

/// What works on numbers, and on vectors leaf by leaf.
fn on_vectors<'a, 'p>(
    body: &mut Body<'a, 'p>,
    row: &PrimRow,
    ty: &Type,
    operands: &[Operand<'_>],
    f: &mut dyn FnMut(&mut Body<'a, 'p>, &[Atom]) -> Result<Atom>,
) -> Result<Value> {
    if is_by_leaves(row, ty, operands) {
        return body.leaf_by_leaf(ty, operands, f);
    }
    let args: Vec<Atom> = operands.iter().map(|(_, value)| value[0]).collect();
    Ok(vec![f(body, &args)?])
}

fn unary(code: &mut Code, op: UnaryOp, operand: Atom) -> Atom {
    match op {
        UnaryOp::Neg => code.negate(operand),
        UnaryOp::Not => code.prim(&cotan_ops::NOT, &[operand]),
    }
}

/// `a && b && ..`: each operand runs only where those before it have not decided.
fn logic<'p>(body: &mut Body<'_, 'p>, op: LogicOp, operands: &'p [Expr]) -> Result<Atom> {
    let (first, rest) = operands.split_first().expect("invariant: an operator has operands");
    let mut value = body.scalar(first)?;
    for operand in rest {
        value = body.lazy(op, value, &mut |body| body.scalar(operand))?;
    }
    Ok(value)
}

/// The value, whose extents must be those of `ty`.
fn shape_check<'p>(body: &mut Body<'_, 'p>, operand: &'p Expr, ty: &Type) -> Result<Value> {
    let value = body.expr(operand)?;
    let expected = body.layout.leaf_types(ty);
    let mut checked = Value::new();
    for (k, expected) in expected.iter().enumerate() {
        let leaf = value[k];
        let found = body.code.b.ty(leaf);
        if expected.is_payload() {
            checked.push(payload_check(body, expected, &value, k));
            continue;
        }
        let mut dims = Vec::new();
        for (dim, found) in expected.dims.iter().zip(&found.dims) {
            let known = body.size(dim);
            if known.is_none() {
                body.know_size(dim, found.atom());
            }
            dims.push(known.unwrap_or(found.atom()));
        }
        checked.push(body.code.with_dims(leaf, &dims, cotan_ir::CheckKind::ShapeMismatch));
    }
    Ok(checked)
}

/// Leaf number `k` of a value, a payload, whose extents must be those of its type if it is there.
fn payload_check(body: &mut Body<'_, '_>, expected: &LeafTy, value: &Value, k: usize) -> Atom {
    let mut leaf = value[k];
    let found = body.code.b.ty(leaf).dims;
    for (dim, found) in expected.dims.iter().zip(found) {
        let found = found.atom();
        let Some(size) = body.size(dim).filter(|size| *size != found) else { continue };
        let is_there = is_there(&mut body.code.b, value, expected);
        let is_equal = body.code.prim(&EQ, &[size, found]);
        let cond = match is_there.truth() {
            Some(true) => is_equal,
            Some(false) => continue,
            None => {
                let is_gone = body.code.prim(&NOT, &[is_there]);
                body.code.prim(&OR, &[is_gone, is_equal])
            }
        };
        leaf = body.code.check(cond, cotan_ir::CheckKind::ShapeMismatch, &[size, found], leaf);
    }
    leaf
}

/// An operand of `&&` or `||` with at most this many statements, none of which can fail, is computed in any case.
const CHEAP: usize = 8;
