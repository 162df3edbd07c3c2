//! Expressions, from the outside in.

use super::Machine;
use super::frame::Closure;
use super::number::Number;
use super::value::{Flow, Stop, Tensor, Value, bug, caught, needed};
use cotan_ir::{CheckKind, Const, Elem};
use cotan_ops::SELECT;
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::typed::{
    Axes, BinaryOp, Callable, Chain, Expr, ExprKind, FieldValue, FloatConstant, GenericId, Link, Literal, LogicOp,
    Range, Type,
};
use cotan_syntax::Span;
use cotan_syntax::ast::FoldOp;

impl<'p> Machine<'p> {
    /// The value of an expression.
    pub(super) fn expr(&mut self, e: &'p Expr) -> Flow<Value> {
        let value = expr_kind(self, e)?;
        self.settle(&e.ty, &value)?;
        Ok(value)
    }

    /// An expression whose failure is that of its own value only. Strict operators evaluate all their operands so, and
    /// then meet the failure among them that happened first.
    pub(super) fn part(&mut self, e: &'p Expr) -> Flow<Value> {
        let value = self.expr(e);
        caught(value)
    }

    /// A callable of the current body.
    pub(super) fn closure(&self, callable: &'p Callable) -> Closure<'p> {
        Closure { callable, frame: self.frame.clone() }
    }

    pub(super) fn literal(&self, literal: &Literal, ty: &Type) -> Flow<Const> {
        let elem = self.elem(ty)?;
        let parsed = |text: &str| -> Flow<Const> {
            let read = if elem == Elem::F32 {
                text.parse().map(Const::f32)
            } else {
                text.parse().map(|x| Const::float(elem, x))
            };
            read.map_err(|e| Stop::Bug(format!("`{text}`: {e}")))
        };
        match literal {
            Literal::Bool(value) => Ok(Const::bool(*value)),
            Literal::Int(value) if elem.is_integer() => Ok(Const::integer(elem, *value)),
            Literal::Int(value) => parsed(&value.to_string()),
            Literal::Float(text) => parsed(text),
            Literal::Constant(constant) => Ok(Const::float(
                elem,
                match constant {
                    FloatConstant::Inf => f64::INFINITY,
                    FloatConstant::Nan => f64::NAN,
                    FloatConstant::Pi => std::f64::consts::PI,
                    FloatConstant::E => std::f64::consts::E,
                },
            )),
        }
    }

    /// The first value of a range, and how many there are.
    pub(super) fn range(&mut self, range: &'p Range, span: Span) -> Flow<(i128, usize)> {
        let (lo, hi) = (self.part(&range.lo)?, self.part(&range.hi)?);
        needed([&lo, &hi])?;
        let (lo, hi) = (lo.integer()?, hi.integer()?);
        let hi = if range.inclusive { hi + 1 } else { hi };
        // So many iterations must be countable in the type of the bounds. Of a `u64` there may be more than an i64
        // counts; those never end.
        let n = (hi - lo).max(0);
        let greatest = if self.elem(&range.lo.ty)? == Elem::U64 { u64::MAX.into() } else { i64::MAX.into() };
        self.checks.check(n <= greatest, CheckKind::IntegerOverflow, span)?;
        Ok((lo, n.min(i64::MAX.into()) as usize))
    }

    /// Checks the extents of a value against a type.
    pub(super) fn check_shape(&mut self, ty: &Type, value: &Value, span: Span) -> Flow<()> {
        match (self.ty(ty).as_ref(), value) {
            (Type::Tensor { elem, dims }, Value::Tensor(tensor)) => {
                for (dim, found) in dims.iter().zip(&tensor.dims) {
                    let Some(expected) = self.exact_size(dim) else { continue };
                    self.checks.check(i64::try_from(expected).is_ok(), CheckKind::IntegerOverflow, span)?;
                    self.checks.check(expected == *found as i128, CheckKind::ShapeMismatch, span)?;
                }
                tensor.cells.first().map_or(Ok(()), |first| self.check_shape(elem, first, span))
            }
            (Type::Tuple(parts), Value::Fields(values)) => {
                parts.iter().zip(values).try_for_each(|(ty, value)| self.check_shape(ty, value, span))
            }
            (Type::Struct(of), Value::Fields(values)) => {
                let types = self.program.field_types(of);
                types.iter().zip(values).try_for_each(|(ty, value)| self.check_shape(ty, value, span))
            }
            (Type::Enum(of), Value::Variant(index, values)) => {
                let types = self.program.payload_types(of, *index);
                types.iter().zip(values).try_for_each(|(ty, value)| self.check_shape(ty, value, span))
            }
            (
                Type::Error
                | Type::Never
                | Type::Scalar(_)
                | Type::Function(_)
                | Type::Tensor { .. }
                | Type::Tuple(_)
                | Type::Struct(_)
                | Type::Enum(_)
                | Type::Param(_),
                _,
            ) => Ok(()),
        }
    }
}

fn expr_kind<'p>(machine: &mut Machine<'p>, e: &'p Expr) -> Flow<Value> {
    match &e.kind {
        ExprKind::Error => bug("an expression with an error"),
        ExprKind::Literal(literal) => machine.literal(literal, &e.ty).map(|c| Value::Number(Number::Plain(c))),
        ExprKind::Local(id) => machine.local(*id)?.met(),
        ExprKind::Size(id) => size_value(machine, *id),
        ExprKind::Tuple(parts) => parts.iter().map(|part| machine.part(part)).collect::<Flow<_>>().map(Value::Fields),
        ExprKind::Array(parts) => array(machine, parts, e),
        ExprKind::Struct(fields) => structure(machine, fields, None, &e.ty),
        ExprKind::StructUpdate { fields, base } => structure(machine, fields, Some(base), &e.ty),
        ExprKind::Variant { index, fields } => variant(machine, *index, fields, &e.ty),
        ExprKind::Match(it) => machine.choose(it),
        ExprKind::Print(print) => {
            let values: Vec<Value> = print.values().map(|value| machine.part(value)).collect::<Flow<_>>()?;
            needed(&values)?;
            Ok(Value::unit())
        }
        ExprKind::Assert(assert) => asserted(machine, &assert.condition, e.span),
        ExprKind::After { value, .. } => machine.expr(value),
        ExprKind::Field { base, index } => {
            let base = machine.expr(base)?;
            machine.field(&base, *index, &e.ty)?.met()
        }
        ExprKind::Unary { op, operand } => {
            let operand = machine.expr(operand)?;
            let elem = elem_of(machine, &e.ty);
            machine.checks.unary(*op, elem, &operand, e.span)
        }
        ExprKind::Chain(it) => chain(machine, it),
        ExprKind::Logic { op, operands } => logic(machine, *op, operands),
        ExprKind::Primitive { row, wraps, args } => {
            let args: Vec<Value> = args.iter().map(|arg| machine.part(arg)).collect::<Flow<_>>()?;
            machine.may_need_less |= **row == SELECT && matches!(args[0], Value::Failed(_));
            let elem = elem_of(machine, &e.ty);
            machine.checks.primitive((row, *wraps), elem, &args, e.span)
        }
        ExprKind::Cast(operand) => {
            let value = machine.expr(operand)?;
            let elem = machine.elem(&e.ty)?;
            machine.checks.cast(&value, elem, e.span)
        }
        ExprKind::Range(range) => range_tensor(machine, range, e),
        ExprKind::Index { base, indices } => {
            let base = machine.part(base)?;
            machine.index(&base, indices)
        }
        ExprKind::Fold { op, axes, operand } => fold(machine, *op, axes, operand, e),
        ExprKind::FoldBy { function, init, operand } => machine.fold_by(function, init.as_deref(), operand, e),
        ExprKind::Call { callee, args } => machine.call(callee, args, e.span),
        ExprKind::Builtin { builtin, args } => machine.builtin(*builtin, args, e),
        ExprKind::ShapeCheck(operand) => {
            let value = machine.expr(operand)?;
            machine.check_shape(&e.ty, &value, e.span)?;
            Ok(value)
        }
        ExprKind::AsTangent(operand) => {
            let value = machine.expr(operand)?;
            machine.tangent_of(&operand.ty, &value, &mut Number::clone)
        }
        ExprKind::If(it) => {
            for (condition, arm) in &it.arms {
                if machine.condition(condition)? {
                    return machine.expr(arm);
                }
            }
            it.otherwise.as_ref().map_or_else(|| Ok(Value::unit()), |arm| machine.expr(arm))
        }
        ExprKind::Block(block) => machine.block(block),
        ExprKind::For(it) => machine.for_loop(it, e.span),
        ExprKind::While(it) => machine.while_loop(it),
        ExprKind::Break => Err(Stop::Break),
        ExprKind::Continue => Err(Stop::Continue),
        ExprKind::Return(None) => Err(Stop::Return(Value::unit())),
        ExprKind::Return(Some(value)) => Err(Stop::Return(machine.expr(value)?)),
    }
}

fn variant<'p>(machine: &mut Machine<'p>, index: usize, fields: &'p [FieldValue], ty: &Type) -> Flow<Value> {
    let ty = machine.ty(ty).into_owned();
    let Type::Enum(of) = &ty else { return bug("expected a type of an enum") };
    let mut values = vec![Value::unit(); machine.program.payload_types(of, index).len()];
    for field in fields {
        values[field.index] = machine.part(&field.value)?;
    }
    Ok(Value::Variant(index, values))
}

fn fold<'p>(machine: &mut Machine<'p>, op: FoldOp, axes: &Axes, operand: &'p Expr, e: &'p Expr) -> Flow<Value> {
    let tensor = machine.expr(operand)?.elements()?;
    let elem = machine.elem(&e.ty)?;
    let axes = axes.of_rank(tensor.dims.len());
    // Of no axes there is nothing to fold.
    if axes.is_empty() {
        return tensor.into_value().met();
    }
    machine.checks.fold(op, &axes, &tensor, elem, e.span)?.met()
}

fn chain<'p>(machine: &mut Machine<'p>, chain: &'p Chain) -> Flow<Value> {
    let mut value = machine.part(&chain.first)?;
    for link in &chain.rest {
        let operand = machine.part(&link.operand)?;
        let step = step(machine, link, &value, &operand);
        value = caught(step)?;
    }
    value.met()
}

/// The element type of numbers of a type; none of anything else.
fn elem_of(machine: &Machine<'_>, ty: &Type) -> Option<Elem> {
    machine.elem(ty).ok()
}

fn step<'p>(machine: &mut Machine<'p>, link: &'p Link, value: &Value, operand: &Value) -> Flow<Value> {
    let value = if link.op == BinaryOp::MatMul {
        let elem = machine.elem(&link.ty)?;
        needed([value, operand])?;
        machine.checks.matrix_product(value.tensor()?, operand.tensor()?, elem, link.span)?
    } else {
        let elem = elem_of(machine, &link.ty);
        machine.checks.binary(link.op, elem, [value, operand], link.span)?
    };
    machine.settle(&link.ty, &value)?;
    Ok(value)
}

fn size_value(machine: &Machine<'_>, id: GenericId) -> Flow<Value> {
    match machine.size(&Dim::atom(Atom::Size(id))) {
        Some(n) => Ok(Value::Number(Number::Plain(Const::i64(n)))),
        None => machine.checks.unknown_size(),
    }
}

fn structure<'p>(
    machine: &mut Machine<'p>,
    fields: &'p [FieldValue],
    base: Option<&'p Expr>,
    ty: &Type,
) -> Flow<Value> {
    let ty = machine.ty(ty).into_owned();
    let Type::Struct(of) = &ty else { return bug("expected a struct type") };
    let mut values: Vec<Option<Value>> = vec![None; machine.program.struct_def(of.def).fields.len()];
    for field in fields {
        let value = machine.part(&field.value)?;
        values[field.index] = Some(value);
    }
    let base = base.map(|base| machine.part(base)).transpose()?;
    let value = |(k, value): (usize, Option<Value>)| match (value, &base) {
        (Some(value), _) => Ok(value),
        (None, Some(Value::Failed(failure))) => Ok(Value::Failed(*failure)),
        (None, Some(base)) => base.field(k),
        (None, None) => bug("a field without a value"),
    };
    values.into_iter().enumerate().map(value).collect::<Flow<_>>().map(Value::Fields)
}

fn array<'p>(machine: &mut Machine<'p>, parts: &'p [Expr], e: &'p Expr) -> Flow<Value> {
    let cells: Vec<Value> = parts.iter().map(|part| machine.part(part)).collect::<Flow<_>>()?;
    machine.stack(&parts[0].ty, &[parts.len()], cells, e.span)
}

fn logic<'p>(machine: &mut Machine<'p>, op: LogicOp, operands: &'p [Expr]) -> Flow<Value> {
    let decides = op == LogicOp::Or;
    let mut failed = None;
    for operand in operands {
        match machine.part(operand)? {
            // A later operand may decide, and then nobody needs this one.
            Value::Failed(failure) => {
                machine.may_need_less = true;
                failed.get_or_insert(failure);
            }
            value @ (Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..)) => {
                if value.truth()? == decides {
                    return Ok(truth(decides));
                }
            }
        }
    }
    failed.map_or_else(|| Ok(truth(!decides)), |failure| Err(Stop::Failed(failure)))
}

fn range_tensor<'p>(machine: &mut Machine<'p>, range: &'p Range, e: &'p Expr) -> Flow<Value> {
    let (lo, n) = machine.range(range, e.span)?;
    let elem = machine.elem(&e.ty)?;
    let cell = |k: usize| Value::Number(Number::Plain(Const::integer(elem, lo + k as i128)));
    Ok(Value::Tensor(Tensor::new(vec![n], (0..n).map(cell).collect())))
}

/// A truth value.
pub(super) fn truth(value: bool) -> Value {
    Value::Number(Number::Plain(Const::bool(value)))
}

/// `assert(condition, "message")`
fn asserted<'p>(machine: &mut Machine<'p>, condition: &'p Expr, span: Span) -> Flow<Value> {
    let holds = machine.condition(condition)?;
    machine.checks.check(holds, CheckKind::Assertion, span)?;
    Ok(Value::unit())
}
