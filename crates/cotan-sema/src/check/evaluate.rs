//! Constant evaluation by the rows of the op table, with the values that a running program would compute.

use cotan_ir::{Const, Elem};
use cotan_ops::{ADD, DIV, MUL, NE, NEG, NOT, Needs, POWI, PrimRow, SHIFT_FITS, SUB, cast_fits, cast_to};
use cotan_syntax::{Diagnostic, Span};

use crate::codes;
use crate::dims::Dim;
use crate::typed::{BinaryOp, Chain, Expr, ExprKind, FloatConstant, Literal, LogicOp, UnaryOp};
use crate::types::{Scalar, Type};

/// Why an expression has no value, boxed because it is rare.
type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A checked expression as literals, arrays and tuples of them.
pub(super) fn evaluate(expr: &Expr) -> Result<Expr> {
    let all = |parts: &[Expr]| parts.iter().map(evaluate).collect::<Result<Vec<Expr>>>();
    let span = expr.span;
    match &expr.kind {
        ExprKind::Literal(_) => Ok(expr.clone()),
        ExprKind::Tuple(parts) => Ok(Expr { kind: ExprKind::Tuple(all(parts)?), ..expr.clone() }),
        ExprKind::Array(parts) => Ok(Expr { kind: ExprKind::Array(all(parts)?), ..expr.clone() }),
        ExprKind::Field { base, index } => {
            let base = evaluate(base)?;
            let ExprKind::Tuple(parts) = base.kind else { return Err(not_constant(base.span)) };
            parts.into_iter().nth(*index).ok_or_else(|| not_constant(span))
        }
        ExprKind::Unary { op, operand } => each(&[evaluate(operand)?], &expr.ty, span, &|args| match op {
            UnaryOp::Not => apply(&NOT, args, span),
            UnaryOp::Neg => {
                fits(&NEG, args, span)?;
                apply(&NEG, args, span)
            }
        }),
        ExprKind::Chain(run) => chain(run),
        ExprKind::Logic { op, operands } => Ok(literal(logic(*op, operands)?, &expr.ty, span)),
        ExprKind::Primitive { wraps: true, .. } => Err(not_constant(span)),
        ExprKind::Primitive { row, wraps: false, args } => {
            each(&all(args)?, &expr.ty, span, &|args| primitive(row, args.to_vec(), span))
        }
        ExprKind::Cast(operand) => {
            let elem = elem_of(expr.ty.elem(), span)?;
            each(&[evaluate(operand)?], &expr.ty, span, &|args| cast(args[0], elem, span))
        }
        ExprKind::ShapeCheck(operand) => {
            let value = evaluate(operand)?;
            match has_extents(&value, expr.ty.dims()) {
                true => Ok(Expr { ty: expr.ty.clone(), ..value }),
                false => Err(fails("that its extents are others than those of its type", span)),
            }
        }
        ExprKind::If(_) if expr.ty.dims().iter().any(|dim| dim.as_constant().is_none()) => Err(not_constant(span)),
        ExprKind::If(it) => {
            // The branch that is not taken is not computed, as in a running program.
            for (condition, value) in &it.arms {
                if scalar(condition)?.as_bool() == Some(true) {
                    return evaluate(value);
                }
            }
            it.otherwise.as_ref().map_or_else(|| Err(not_constant(span)), evaluate)
        }
        ExprKind::Block(block) => match (block.statements.as_slice(), &block.value) {
            ([], Some(value)) => evaluate(value),
            (_, _) => Err(not_constant(span)),
        },
        ExprKind::Error
        | ExprKind::Local(_)
        | ExprKind::Size(_)
        | ExprKind::Struct(_)
        | ExprKind::StructUpdate { .. }
        | ExprKind::Variant { .. }
        | ExprKind::Range(_)
        | ExprKind::Index { .. }
        | ExprKind::Fold { .. }
        | ExprKind::FoldBy { .. }
        | ExprKind::Call { .. }
        | ExprKind::Builtin { .. }
        | ExprKind::AsTangent(_)
        | ExprKind::Print(_)
        | ExprKind::Assert(_)
        | ExprKind::After { .. }
        | ExprKind::Match(_)
        | ExprKind::For(_)
        | ExprKind::While(_)
        | ExprKind::Break
        | ExprKind::Continue
        | ExprKind::Return(_) => Err(not_constant(span)),
    }
}

/// An operation on numbers, element by element where a value is an array; numbers among arrays lift.
fn each(args: &[Expr], ty: &Type, span: Span, f: &dyn Fn(&[Const]) -> Result<Const>) -> Result<Expr> {
    let rows = |arg: &Expr| if let ExprKind::Array(rows) = &arg.kind { Some(rows.len()) } else { None };
    let Some(n) = args.iter().find_map(rows) else {
        let args: Vec<Const> = args.iter().map(scalar).collect::<Result<_>>()?;
        return Ok(literal(f(&args)?, ty, span));
    };
    let row_ty = Type::tensor(ty.elem().clone(), ty.dims().get(1..).unwrap_or_default().to_vec());
    let row = |at: usize| {
        let part = |arg: &Expr| {
            let ExprKind::Array(rows) = &arg.kind else { return Ok(arg.clone()) };
            rows.get(at).cloned().ok_or_else(|| not_constant(span))
        };
        let args: Vec<Expr> = args.iter().map(part).collect::<Result<_>>()?;
        each(&args, &row_ty, span, f)
    };
    let rows = (0..n).map(row).collect::<Result<_>>()?;
    Ok(Expr { span, ty: ty.clone(), kind: ExprKind::Array(rows) })
}

/// Whether a value has the extents of a type.
fn has_extents(value: &Expr, dims: &[Dim]) -> bool {
    let Some((first, inner)) = dims.split_first() else { return true };
    let ExprKind::Array(rows) = &value.kind else { return false };
    first.as_constant() == i64::try_from(rows.len()).ok() && rows.iter().all(|row| has_extents(row, inner))
}

/// The value of a scalar expression.
fn scalar(expr: &Expr) -> Result<Const> {
    let value = evaluate(expr)?;
    let elem = elem_of(&value.ty, expr.span)?;
    if let ExprKind::Literal(literal) = &value.kind {
        return Ok(literal.constant(elem));
    }
    // Negative infinity, which has no literal.
    let ExprKind::Unary { op: UnaryOp::Neg, .. } = value.kind else { return Err(not_constant(expr.span)) };
    Ok(Const::float(elem, f64::NEG_INFINITY))
}

fn logic(op: LogicOp, operands: &[Expr]) -> Result<Const> {
    for operand in operands {
        let value = scalar(operand)?.as_bool() == Some(true);
        // What stands after the operand that decides is not evaluated, as in a running program.
        if value == (op == LogicOp::Or) {
            return Ok(Const::bool(value));
        }
    }
    Ok(Const::bool(op == LogicOp::And))
}

fn cast(value: Const, elem: Elem, span: Span) -> Result<Const> {
    if value.elem() == elem {
        return Ok(value);
    }
    if let (Some(row), true) = (cast_fits(elem), value.elem() != Elem::Bool)
        && apply(row, &[value], span)?.as_bool() == Some(false)
    {
        return Err(fails(&format!("that it does not fit `{}`", elem.name()), span));
    }
    apply(cast_to(elem), &[value], span)
}

fn chain(chain: &Chain) -> Result<Expr> {
    let mut value = evaluate(&chain.first)?;
    for link in &chain.rest {
        let args = [value, evaluate(&link.operand)?];
        value = each(&args, &link.ty, link.span, &|args| binary(link.op, args[0], args[1], link.span))?;
    }
    Ok(value)
}

fn binary(op: BinaryOp, left: Const, right: Const, span: Span) -> Result<Const> {
    let right = if op == BinaryOp::PowInt && right.elem() != Elem::I64 {
        apply(cast_to(Elem::I64), &[right], span)?
    } else {
        right
    };
    let args = [left, right];
    if left.elem().is_integer() {
        match op {
            BinaryOp::Add => fits(&ADD, &args, span)?,
            BinaryOp::Sub => fits(&SUB, &args, span)?,
            BinaryOp::Mul => fits(&MUL, &args, span)?,
            BinaryOp::Div | BinaryOp::Rem => {
                divisor(right, "that `/` or `%` divides by zero", span)?;
                if op == BinaryOp::Div {
                    fits(&DIV, &args, span)?;
                }
            }
            BinaryOp::PowInt => {
                if right.as_integer().is_some_and(|exponent| exponent < 0) {
                    return Err(fails("that `**` has an integer and a negative exponent", span));
                }
                fits(&POWI, &args, span)?;
            }
            BinaryOp::Pow
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::MatMul => {}
        }
    }
    apply(op.row(), &args, span)
}

fn primitive(row: &'static PrimRow, mut args: Vec<Const>, span: Span) -> Result<Const> {
    if (*row == POWI || row.needs() == Needs::Distance) && args[1].elem() != Elem::I64 {
        args[1] = apply(cast_to(Elem::I64), &[args[1]], span)?;
    }
    match row.needs() {
        Needs::Nothing => {}
        Needs::Divisor => divisor(args[1], &format!("that `{}` divides by zero", row.name()), span)?,
        Needs::Distance => {
            if apply(&SHIFT_FITS, &args, span)?.as_bool() == Some(false) {
                return Err(fails(&format!("that `{}` shifts by more bits than there are", row.name()), span));
            }
        }
    }
    if args[0].elem().is_signed() {
        fits(row, &args, span)?;
    }
    apply(row, &args, span)
}

/// Fails where a divisor is 0.
fn divisor(value: Const, found: &str, span: Span) -> Result<()> {
    let is_zero = apply(&NE, &[value, Const::zero(value.elem())], span)?.as_bool() == Some(false);
    if is_zero { Err(fails(found, span)) } else { Ok(()) }
}

fn apply(row: &'static PrimRow, args: &[Const], span: Span) -> Result<Const> {
    row.eval(args).map_err(|_| not_constant(span))
}

/// Fails where the result of an integer operation does not fit its type.
fn fits(row: &'static PrimRow, args: &[Const], span: Span) -> Result<()> {
    let Some(fits) = row.fits.filter(|_| args[0].elem().is_integer()) else { return Ok(()) };
    if apply(fits, args, span)?.as_bool() == Some(true) {
        return Ok(());
    }
    Err(fails(&format!("that it overflows `{}`", args[0].elem().name()), span))
}

/// The element type of a scalar; those of type parameters are known only where the constant is used.
fn elem_of(ty: &Type, span: Span) -> Result<Elem> {
    match ty {
        Type::Scalar(Scalar::Of(elem)) => Ok(*elem),
        Type::Scalar(Scalar::Param(_)) => Err(Box::new(
            Diagnostic::error(
                codes::NOT_CONSTANT,
                span,
                "expected a literal for a parameter of generic type, found `a computation`",
            )
            .help("write the number itself, as in `eps: T = 1e-6`"),
        )),
        Type::Scalar(Scalar::Var(_))
        | Type::Error
        | Type::Never
        | Type::Tensor { .. }
        | Type::Tuple(_)
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Param(_)
        | Type::Function(_) => Err(not_constant(span)),
    }
}

/// A number as an expression.
fn literal(value: Const, ty: &Type, span: Span) -> Expr {
    let make = |literal| Expr { span, ty: ty.clone(), kind: ExprKind::Literal(literal) };
    Literal::of(value).map(make).unwrap_or_else(|| {
        let operand = Box::new(make(Literal::Constant(FloatConstant::Inf)));
        Expr { span, ty: ty.clone(), kind: ExprKind::Unary { op: UnaryOp::Neg, operand } }
    })
}

fn not_constant(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(
            codes::NOT_CONSTANT,
            span,
            "expected an expression made of numbers, operators and other constants, found another one",
        )
        .help("compute it in a function: `fn value() -> f64 = ...`"),
    )
}

fn fails(found: &str, span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(codes::CONSTANT_FAILS, span, format!("expected a constant with a value, found {found}"))
            .help("use smaller numbers or a wider type"),
    )
}
