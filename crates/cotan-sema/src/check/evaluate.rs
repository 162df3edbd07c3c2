//! The values of constant expressions, computed by the rows of the op table as a running program would.

use cotan_ir::{Const, Elem};
use cotan_ops::{
    ABS_FITS, ADD_FITS, DIV_FITS, MUL_FITS, NE, NEG, NEG_FITS, NOT, POWI, POWI_FITS, PrimRow, SUB_FITS, cast_fits,
    cast_to, lookup,
};
use cotan_syntax::{Diagnostic, Span};

use crate::codes;
use crate::lower::row_of;
use crate::typed::{BinaryOp, Chain, Expr, ExprKind, FloatConstant, Literal, LogicOp, UnaryOp};
use crate::types::{Scalar, Type};

/// Why an expression has no value, boxed because it is rare.
type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A checked expression as literals, arrays and tuples of them.
pub(super) fn evaluate(expr: &Expr) -> Result<Expr> {
    let all = |parts: &[Expr]| parts.iter().map(evaluate).collect::<Result<_>>();
    let value = match &expr.kind {
        ExprKind::Literal(_) => return Ok(expr.clone()),
        ExprKind::Tuple(parts) => return Ok(Expr { kind: ExprKind::Tuple(all(parts)?), ..expr.clone() }),
        ExprKind::Array(parts) => return Ok(Expr { kind: ExprKind::Array(all(parts)?), ..expr.clone() }),
        ExprKind::Field { base, index } => {
            let base = evaluate(base)?;
            let ExprKind::Tuple(parts) = base.kind else { return Err(not_constant(base.span)) };
            return parts.into_iter().nth(*index).ok_or_else(|| not_constant(expr.span));
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => apply(&NOT, &[scalar(operand)?], expr.span)?,
        ExprKind::Unary { op: UnaryOp::Neg, operand } => {
            let operand = scalar(operand)?;
            fits(&NEG_FITS, &[operand], expr.span)?;
            apply(&NEG, &[operand], expr.span)?
        }
        ExprKind::Chain(run) => chain(run)?,
        ExprKind::Logic { op, operands } => logic(*op, operands)?,
        ExprKind::Primitive { name, args } => {
            let args: Vec<Const> = args.iter().map(scalar).collect::<Result<_>>()?;
            primitive(name, args, expr.span)?
        }
        ExprKind::Cast(operand) => cast(scalar(operand)?, elem_of(&expr.ty, expr.span)?, expr.span)?,
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
        | ExprKind::ShapeCheck(_)
        | ExprKind::AsTangent(_)
        | ExprKind::Print(_)
        | ExprKind::If(_)
        | ExprKind::Match(_)
        | ExprKind::Block(_)
        | ExprKind::For(_)
        | ExprKind::While(_)
        | ExprKind::Break
        | ExprKind::Continue
        | ExprKind::Return(_) => return Err(not_constant(expr.span)),
    };
    Ok(literal(value, expr))
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

fn chain(chain: &Chain) -> Result<Const> {
    let mut value = scalar(&chain.first)?;
    for link in &chain.rest {
        value = binary(link.op, value, scalar(&link.operand)?, link.span)?;
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
            BinaryOp::Add => fits(&ADD_FITS, &args, span)?,
            BinaryOp::Sub => fits(&SUB_FITS, &args, span)?,
            BinaryOp::Mul => fits(&MUL_FITS, &args, span)?,
            BinaryOp::Div | BinaryOp::Rem => {
                let zero = Const::zero(right.elem());
                if apply(&NE, &[right, zero], span)?.as_bool() == Some(false) {
                    return Err(fails("that `/` or `%` divides by zero", span));
                }
                if op == BinaryOp::Div {
                    fits(&DIV_FITS, &args, span)?;
                }
            }
            BinaryOp::PowInt => {
                if right.as_integer().is_some_and(|exponent| exponent < 0) {
                    return Err(fails("that `**` has an integer and a negative exponent", span));
                }
                fits(&POWI_FITS, &args, span)?;
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
    apply(row_of(op), &args, span)
}

fn primitive(name: &str, mut args: Vec<Const>, span: Span) -> Result<Const> {
    let Some(row) = lookup(name) else { return Err(not_constant(span)) };
    if std::ptr::eq(row, &cotan_ops::ABS) && args[0].elem().is_signed() {
        fits(&ABS_FITS, &args, span)?;
    }
    if std::ptr::eq(row, &POWI) && args[1].elem() != Elem::I64 {
        args[1] = apply(cast_to(Elem::I64), &[args[1]], span)?;
    }
    apply(row, &args, span)
}

fn apply(row: &'static PrimRow, args: &[Const], span: Span) -> Result<Const> {
    row.eval(args).map_err(|_| not_constant(span))
}

/// Fails where the result of an integer operation does not fit its type.
fn fits(row: &'static PrimRow, args: &[Const], span: Span) -> Result<()> {
    if !args[0].elem().is_integer() || apply(row, args, span)?.as_bool() == Some(true) {
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

/// A scalar in place of the expression that it is the value of.
fn literal(value: Const, of: &Expr) -> Expr {
    let make = |literal| Expr { kind: ExprKind::Literal(literal), ..of.clone() };
    Literal::of(value).map(make).unwrap_or_else(|| {
        let operand = Box::new(make(Literal::Constant(FloatConstant::Inf)));
        Expr { kind: ExprKind::Unary { op: UnaryOp::Neg, operand }, ..of.clone() }
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
