//! Type compatibility: whether a value fits the type that is wanted, and what to say if not.

use cotan_ir::Elem;
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;
use crate::dims::{Dim, Relation};
use crate::typed::{Expr, ExprKind, Literal};
use crate::types::{EnumType, GenericArg, Scalar, StructType, Type};

/// How strictly sizes must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Sizes known from the signature must have one normal form.
    Exact,
    /// The user asks for a check: only sizes that surely differ are an error.
    Ascribed,
}

/// Why a type does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// The structure or a scalar type differs.
    Type,
    /// The number of dims differs.
    Rank,
    /// These sizes differ: wanted, found.
    Size(Dim, Dim),
}

impl BodyChecker<'_, '_> {
    /// Relates a type to the one that is wanted, deciding scalar types on the way. `Ok(true)` if
    /// the sizes must be checked at run time.
    pub(super) fn relate(&mut self, found: &Type, wanted: &Type, how: Strictness) -> Result<bool, Misfit> {
        match (found, wanted) {
            (Type::Error | Type::Never, _) | (_, Type::Error) => Ok(false),
            (Type::Scalar(a), Type::Scalar(b)) => {
                if self.vars.unify(*b, *a) {
                    Ok(false)
                } else {
                    Err(Misfit::Type)
                }
            }
            (Type::Tensor { elem: a, dims: found }, Type::Tensor { elem: b, dims: wanted }) => {
                let mut needs_check = self.relate(a, b, how)?;
                needs_check |= self.relate_shapes(found, wanted, how)?;
                Ok(needs_check)
            }
            (Type::Param(a), Type::Param(b)) if a == b => Ok(false),
            (Type::Tuple(found), Type::Tuple(wanted)) if found.len() == wanted.len() => {
                let mut needs_check = false;
                for (found, wanted) in found.iter().zip(wanted) {
                    needs_check |= self.relate(found, wanted, how)?;
                }
                Ok(needs_check)
            }
            (Type::Struct(found), Type::Struct(wanted))
                if found.def == wanted.def
                    && found.tangent == wanted.tangent
                    && found.args.len() == wanted.args.len() =>
            {
                self.relate_args(&found.args, &wanted.args, how)
            }
            (Type::Enum(found), Type::Enum(wanted))
                if found.def == wanted.def
                    && found.tangent == wanted.tangent
                    && found.args.len() == wanted.args.len() =>
            {
                self.relate_args(&found.args, &wanted.args, how)
            }
            (Type::Function(found), Type::Function(wanted)) if found.params.len() == wanted.params.len() => {
                for (found, wanted) in found.params.iter().zip(&wanted.params) {
                    if self.relate(found, wanted, how)? {
                        return Err(Misfit::Type);
                    }
                }
                if self.relate(&found.result, &wanted.result, how)? { Err(Misfit::Type) } else { Ok(false) }
            }
            (
                Type::Scalar(_)
                | Type::Tensor { .. }
                | Type::Tuple(_)
                | Type::Struct(_)
                | Type::Enum(_)
                | Type::Function(_)
                | Type::Param(_),
                _,
            ) => Err(Misfit::Type),
        }
    }

    fn relate_args(&mut self, found: &[GenericArg], wanted: &[GenericArg], how: Strictness) -> Result<bool, Misfit> {
        let mut needs_check = false;
        for (found, wanted) in found.iter().zip(wanted) {
            needs_check |= match (found, wanted) {
                (GenericArg::Size(found), GenericArg::Size(wanted)) => self.relate_dims(found, wanted, how)?,
                (GenericArg::Scalar(a), GenericArg::Scalar(b)) if self.vars.unify(*b, *a) => false,
                (GenericArg::Type(found), GenericArg::Type(wanted)) => self.relate(found, wanted, how)?,
                (GenericArg::Pack(found), GenericArg::Pack(wanted)) => self.relate_shapes(found, wanted, how)?,
                (GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_), _) => {
                    return Err(Misfit::Type);
                }
            };
        }
        Ok(needs_check)
    }

    /// Whether extents must be checked at run time. A shape pack is equal to itself alone: it stands for as many sizes.
    fn relate_shapes(&mut self, found: &[Dim], wanted: &[Dim], how: Strictness) -> Result<bool, Misfit> {
        let packs_differ = |(found, wanted): (&Dim, &Dim)| found.as_pack() != wanted.as_pack();
        if found.len() != wanted.len() || found.iter().zip(wanted).any(packs_differ) {
            return Err(Misfit::Rank);
        }
        let mut needs_check = false;
        for (found, wanted) in found.iter().zip(wanted) {
            needs_check |= self.relate_dims(found, wanted, how)?;
        }
        Ok(needs_check)
    }

    /// Whether sizes must be checked at run time. A size that is open becomes the other one.
    fn relate_dims(&mut self, found: &Dim, wanted: &Dim, how: Strictness) -> Result<bool, Misfit> {
        let (found, wanted) = (self.resolve_size(found), self.resolve_size(wanted));
        if self.decide_size(&found, &wanted) {
            return Ok(false);
        }
        let surely_differ = || found.minus(&wanted).is_some_and(|difference| difference.as_constant().is_some());
        match found.relation(&wanted) {
            Relation::Equal => Ok(false),
            Relation::Check => Ok(true),
            Relation::Differ if how == Strictness::Ascribed && !surely_differ() => Ok(true),
            Relation::Differ => Err(Misfit::Size(wanted, found)),
        }
    }

    /// The value as one of type `wanted`: as it is, checked at run time, or reported. `subject`
    /// says what is wanted, as in "the argument `x` of `f`".
    pub(super) fn fit(&mut self, value: Expr, wanted: &Type, subject: &str) -> Expr {
        self.fit_as(value, wanted, subject, Strictness::Exact, None)
    }

    /// [`Self::fit`] with a place that says where the wanted type comes from.
    pub(super) fn fit_as(
        &mut self,
        value: Expr,
        wanted: &Type,
        subject: &str,
        how: Strictness,
        origin: Option<(Span, &str)>,
    ) -> Expr {
        if value.ty == *wanted {
            return value;
        }
        let value = as_tangent(value, wanted);
        match self.relate(&value.ty.clone(), wanted, how) {
            Ok(false) => value,
            Ok(true) => shape_check(value, wanted.clone()),
            Err(misfit) => {
                let misfit = match self.narrowed(&value, wanted, how) {
                    Some(Ok(narrowed)) => return narrowed,
                    Some(Err(misfit)) => misfit,
                    None => misfit,
                };
                report_misfit(self, &value, wanted, subject, &misfit, origin);
                Expr { ty: Type::Error, ..value }
            }
        }
    }

    /// The type that two alternatives of an expression have together. Sizes that may differ
    /// become a run-time size of its own.
    pub(super) fn join(&mut self, first: &Type, second: &Type, span: Span) -> Result<Type, Misfit> {
        match (first, second) {
            (Type::Never | Type::Error, other) | (other, Type::Never | Type::Error) => Ok(other.clone()),
            (Type::Tensor { elem: a, dims: first }, Type::Tensor { elem: b, dims: second })
                if first.len() == second.len() =>
            {
                let elem = self.join(a, b, span)?;
                Ok(Type::tensor(elem, self.join_shapes(first, second, span)?))
            }
            (Type::Tuple(first), Type::Tuple(second)) if first.len() == second.len() => {
                let parts: Result<Vec<Type>, Misfit> =
                    first.iter().zip(second).map(|(a, b)| self.join(a, b, span)).collect();
                parts.map(Type::Tuple)
            }
            (Type::Struct(a), Type::Struct(b)) if a.def == b.def && a.tangent == b.tangent => {
                Ok(Type::Struct(StructType { args: self.join_args(&a.args, &b.args, span)?, ..a.clone() }))
            }
            (Type::Enum(a), Type::Enum(b)) if a.def == b.def && a.tangent == b.tangent => {
                Ok(Type::Enum(EnumType { args: self.join_args(&a.args, &b.args, span)?, ..a.clone() }))
            }
            _ => match self.relate(second, first, Strictness::Exact) {
                Ok(_) => Ok(first.clone()),
                Err(misfit) => Err(misfit),
            },
        }
    }

    fn join_args(
        &mut self,
        first: &[GenericArg],
        second: &[GenericArg],
        span: Span,
    ) -> Result<Vec<GenericArg>, Misfit> {
        let mut joined = Vec::new();
        for (a, b) in first.iter().zip(second) {
            joined.push(match (a, b) {
                (GenericArg::Size(a), GenericArg::Size(b)) => {
                    let is_new = self.relate_dims(b, a, Strictness::Exact)?;
                    GenericArg::Size(if is_new { self.new_size(span) } else { a.clone() })
                }
                (GenericArg::Scalar(a), GenericArg::Scalar(b)) if self.vars.unify(*a, *b) => GenericArg::Scalar(*a),
                (GenericArg::Type(a), GenericArg::Type(b)) => GenericArg::Type(self.join(a, b, span)?),
                (GenericArg::Pack(a), GenericArg::Pack(b)) => GenericArg::Pack(self.join_shapes(a, b, span)?),
                (GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_), _) => {
                    return Err(Misfit::Type);
                }
            });
        }
        Ok(joined)
    }

    /// The extents that two alternatives have together.
    fn join_shapes(&mut self, first: &[Dim], second: &[Dim], span: Span) -> Result<Vec<Dim>, Misfit> {
        self.relate_shapes(second, first, Strictness::Exact)?;
        let mut joined = Vec::new();
        for (a, b) in first.iter().zip(second) {
            let is_new = self.relate_dims(b, a, Strictness::Exact)?;
            joined.push(if is_new { self.new_size(span) } else { a.clone() });
        }
        Ok(joined)
    }
}

/// The value with its extents checked to be those of `ty` at run time.
pub(super) fn shape_check(value: Expr, ty: Type) -> Expr {
    Expr { span: value.span, ty, kind: ExprKind::ShapeCheck(Box::new(value)) }
}

fn report_misfit(
    checker: &mut BodyChecker<'_, '_>,
    value: &Expr,
    wanted: &Type,
    subject: &str,
    misfit: &Misfit,
    origin: Option<(Span, &str)>,
) {
    let (found, wanted_text) = (checker.show_value(value), checker.show(wanted));
    let subject = if subject.is_empty() { String::new() } else { format!(" for {subject}") };
    let message = format!("expected `{wanted_text}`{subject}, found {found}");
    let mut diagnostic = match misfit {
        Misfit::Type => Diagnostic::error(codes::MISMATCH, value.span, message),
        Misfit::Rank => Diagnostic::error(codes::RANK_MISMATCH, value.span, message),
        Misfit::Size(want, found) => {
            let note = format!("expected the size `{}`, found `{}`", checker.show_dim(want), checker.show_dim(found));
            Diagnostic::error(codes::SHAPE_MISMATCH, value.span, message).note(note)
        }
    };
    if let Some((span, text)) = origin {
        diagnostic = diagnostic.label(span, text);
    }
    let help = misfit_help(checker, value, wanted, misfit);
    checker.report(diagnostic.help(help));
}

/// What to do about a value that does not fit.
pub(super) fn misfit_help(checker: &mut BodyChecker<'_, '_>, value: &Expr, wanted: &Type, misfit: &Misfit) -> String {
    match misfit {
        Misfit::Size(want, found) => match (want.as_constant(), found.as_constant()) {
            (Some(_), Some(_)) => "give a tensor of the size that is expected".to_owned(),
            _ => format!("if the sizes are equal, say so with an ascription: `(value : {})`", checker.show(wanted)),
        },
        Misfit::Rank => "index the tensor, or change its shape with `reshape` or `broadcast`".to_owned(),
        Misfit::Type => conversion_help(checker, value, wanted),
    }
}

fn conversion_help(checker: &mut BodyChecker<'_, '_>, value: &Expr, wanted: &Type) -> String {
    if let (Some(found), Some(want)) = (value.ty.scalar(), wanted.scalar())
        && value.ty.dims().len() == wanted.dims().len()
    {
        return scalar_help(checker, value, found, want);
    }
    let is_unit_block = value.ty.is_unit() && matches!(value.kind, ExprKind::Block(_) | ExprKind::If(_));
    match (&value.ty, wanted) {
        _ if is_unit_block => "end the block with an expression: its value is the value of the block".to_owned(),
        (Type::Tensor { .. }, Type::Scalar(_)) if starts_with_fold(value) => {
            "a fold binds tighter than infix operators: put parentheses around its operand, as in `+/(a .* b)`"
                .to_owned()
        }
        (Type::Tensor { .. }, Type::Scalar(_)) => {
            "fold the tensor, as in `+/ v`, or take an element, as in `v[i]`".to_owned()
        }
        (Type::Scalar(_), Type::Tensor { dims, .. }) => {
            let dims: Vec<String> = dims.iter().map(|dim| checker.show_dim(dim)).collect();
            format!("repeat the scalar with `full([{}], x)`", dims.join(", "))
        }
        (Type::Struct(a), Type::Struct(b)) if a.def == b.def && a.tangent => {
            "the tangent of a struct has no integers in it: build the struct from its fields".to_owned()
        }
        (Type::Enum(a), Type::Enum(b)) if a.def == b.def && a.tangent => {
            "the tangent of an enum has no integers in it: build the value from its payload".to_owned()
        }
        (_, want) if want.is_unit() => "bind the value with `let`, or leave it out".to_owned(),
        _ => format!("give a value of type `{}`", checker.show(wanted)),
    }
}

/// How to make one scalar type of another.
pub(super) fn scalar_help(checker: &mut BodyChecker<'_, '_>, value: &Expr, found: Scalar, wanted: Scalar) -> String {
    let target = match checker.vars.resolve(wanted) {
        open @ Scalar::Var(_) => checker.vars.default_of(open).map_or("f64", Elem::name).to_owned(),
        known @ (Scalar::Of(_) | Scalar::Param(_)) => checker.show_scalar(known),
    };
    let is_float = checker.vars.is_within(wanted, crate::unify::Elems::any_float());
    let is_integer = checker.vars.is_within(wanted, crate::unify::Elems::integer());
    if let (true, ExprKind::Literal(Literal::Int(number))) = (is_float, &value.kind) {
        return format!("write the float `{number}.0`");
    }
    if let (true, ExprKind::Literal(Literal::Float(digits))) = (is_integer, &value.kind) {
        let whole = digits.split(['.', 'e', 'E']).next().unwrap_or(digits);
        return format!("write the integer `{whole}`, or convert with `as {target}`");
    }
    if is_float && checker.vars.default_of(found).is_some() {
        return "write the literal that it comes from as a float, such as `1.0`".to_owned();
    }
    let from_bool = checker.vars.resolve(found) == Scalar::Of(Elem::Bool);
    match (from_bool, checker.vars.resolve(wanted) == Scalar::Of(Elem::Bool)) {
        (_, true) => "compare, as in `x != 0`".to_owned(),
        (true, false) => format!("convert with `as {target}`, which gives 0 or 1"),
        (false, false) => format!("convert with `as {target}`"),
    }
}

/// The value as a tangent, where a struct stands for its own.
fn as_tangent(value: Expr, wanted: &Type) -> Expr {
    let ty = toward_tangent(&value.ty, wanted);
    if ty == value.ty {
        return value;
    }
    Expr { span: value.span, ty, kind: ExprKind::AsTangent(Box::new(value)) }
}

/// A type with its structs replaced by their tangents wherever these are wanted.
fn toward_tangent(found: &Type, wanted: &Type) -> Type {
    match (found, wanted) {
        (Type::Struct(of), Type::Struct(to)) if of.def == to.def && to.tangent => {
            Type::Struct(StructType { tangent: true, ..of.clone() })
        }
        (Type::Enum(of), Type::Enum(to)) if of.def == to.def && to.tangent => {
            Type::Enum(EnumType { tangent: true, ..of.clone() })
        }
        (Type::Tuple(parts), Type::Tuple(to)) if parts.len() == to.len() => {
            Type::Tuple(parts.iter().zip(to).map(|(part, to)| toward_tangent(part, to)).collect())
        }
        (Type::Tensor { elem, dims }, Type::Tensor { elem: to, .. }) => {
            Type::tensor(toward_tangent(elem, to), dims.clone())
        }
        (
            Type::Error
            | Type::Never
            | Type::Scalar(_)
            | Type::Tensor { .. }
            | Type::Tuple(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Function(_)
            | Type::Param(_),
            _,
        ) => found.clone(),
    }
}

/// Whether a run of operators begins with a fold, as `+/ a .* b` does.
fn starts_with_fold(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Chain(chain) if matches!(chain.first.kind, ExprKind::Fold { .. }))
}
