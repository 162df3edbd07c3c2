//! Patterns: whether they fit the type of what they are matched against, and what they bind.

use cotan_ir::Elem;
use cotan_syntax::ast::{self, Ident, PatternLiteral};
use cotan_syntax::{Diagnostic, Span};

use super::exhaustive::PatternCheck;
use super::infer::Strictness;
use super::scope::path_name;
use super::{BodyChecker, enums, literal_fields, literals, structs};
use crate::codes;
use crate::typed::{ExprKind, Field, Literal, LocalId, Pattern, PatternKind, PatternRange, PayloadForm, Variant};
use crate::types::{EnumType, Type};

/// The names that a pattern binds.
#[derive(Default)]
pub(super) struct Binder {
    bound: Vec<(Ident, LocalId)>,
    /// In an alternative after the first: the names of the first, whose locals it binds again.
    again: Option<Vec<(Ident, LocalId)>>,
}

impl BodyChecker<'_, '_> {
    /// A pattern that must match every value of type `ty`; `place` says where it stands.
    pub(super) fn irrefutable(&mut self, pattern: &ast::Pattern, ty: &Type, place: &'static str) -> Pattern {
        let n_errors = self.module.diagnostics.len();
        let pattern = self.pattern(pattern, ty);
        if self.module.diagnostics.len() == n_errors && may_fail(&pattern) {
            self.pattern_checks.push(PatternCheck::irrefutable(pattern.clone(), place));
        }
        pattern
    }

    /// A pattern for a value of type `ty`.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, ty: &Type) -> Pattern {
        pattern_in(self, pattern, ty, &mut Binder::default())
    }
}

fn pattern_in(checker: &mut BodyChecker<'_, '_>, pattern: &ast::Pattern, ty: &Type, binder: &mut Binder) -> Pattern {
    let span = pattern.span;
    checker.node_types.push((pattern.id, ty.clone()));
    let kind = match &pattern.kind {
        ast::PatternKind::Wildcard | ast::PatternKind::Error => PatternKind::Wildcard,
        ast::PatternKind::Name { mutable, name } => match variant_of_name(checker, name, mutable.is_some(), ty) {
            Some(kind) => kind,
            None => PatternKind::Local(bind_name(checker, name, mutable.is_some(), ty, binder)),
        },
        ast::PatternKind::Literal(literal) => match pattern_literal(checker, literal, ty) {
            Some(value) => PatternKind::Literal(value),
            None => PatternKind::Wildcard,
        },
        ast::PatternKind::Range { lo, hi, inclusive } => range_pattern(checker, lo, hi, *inclusive, ty, span),
        ast::PatternKind::Tuple(parts) => tuple_pattern(checker, parts, ty, span, binder),
        ast::PatternKind::Variant { path, args } => variant_pattern(checker, path, args, ty, span, binder),
        ast::PatternKind::Struct { path, fields, rest } => {
            struct_pattern(checker, path, fields, rest.is_some(), ty, span, binder)
        }
        ast::PatternKind::Or(alternatives) => or_pattern(checker, alternatives, ty, binder),
    };
    Pattern { span, ty: ty.clone(), kind }
}

fn bind_name(
    checker: &mut BodyChecker<'_, '_>,
    name: &Ident,
    mutable: bool,
    ty: &Type,
    binder: &mut Binder,
) -> LocalId {
    if binder.bound.iter().any(|(other, _)| other.name == name.name) {
        checker.module.report_twice(name, "variable");
    }
    let first = binder.again.as_ref().and_then(|names| names.iter().find(|(other, _)| other.name == name.name));
    let local = match first.cloned() {
        Some((first, local)) => {
            let wanted = checker.locals.get(local).ty.clone();
            let value = crate::typed::Expr { ty: ty.clone(), ..crate::typed::Expr::error(name.span) };
            let origin = Some((first.span, "bound here first"));
            checker.fit_as(value, &wanted, &format!("`{}`", name.name), Strictness::Exact, origin);
            local
        }
        None => {
            if binder.again.is_some() {
                report_or_binding(checker, name, "is not bound in the first alternative");
            }
            checker.locals.bind(&name.name, name.span, ty.clone(), mutable)
        }
    };
    binder.bound.push((name.clone(), local));
    local
}

fn report_or_binding(checker: &mut BodyChecker<'_, '_>, name: &Ident, what: &str) {
    let message = format!("expected alternatives that bind the same names, found that `{}` {what}", name.name);
    checker.report(
        Diagnostic::error(codes::OR_BINDINGS, name.span, message)
            .help("bind the name in every alternative, or write an arm for each"),
    );
}

/// `a | b`
fn or_pattern(
    checker: &mut BodyChecker<'_, '_>,
    alternatives: &[ast::Pattern],
    ty: &Type,
    binder: &mut Binder,
) -> PatternKind {
    let n_before = binder.bound.len();
    let mut patterns = Vec::new();
    let mut first: Option<Vec<(Ident, LocalId)>> = None;
    for alternative in alternatives {
        let outer = binder.again.clone();
        if let Some(first) = &first {
            binder.again = Some(first.clone());
        }
        patterns.push(pattern_in(checker, alternative, ty, binder));
        binder.again = outer;
        let bound = binder.bound.split_off(n_before);
        match &first {
            None => first = Some(bound),
            Some(first) => {
                let is_missing = |(name, _): &&(Ident, LocalId)| !bound.iter().any(|(b, _)| b.name == name.name);
                for (name, _) in first.iter().filter(is_missing) {
                    report_or_binding(checker, name, "is not bound in every alternative");
                }
            }
        }
    }
    binder.bound.extend(first.unwrap_or_default());
    PatternKind::Or(patterns)
}

fn pattern_literal(checker: &mut BodyChecker<'_, '_>, literal: &PatternLiteral, ty: &Type) -> Option<Literal> {
    let value = literals::literal(checker, &literal.literal, literal.negative, literal.span);
    let value = checker.fit(value, ty, "this pattern");
    if value.ty.has_error() {
        return None;
    }
    if let ExprKind::Literal(literal) = value.kind { Some(literal) } else { None }
}

fn range_pattern(
    checker: &mut BodyChecker<'_, '_>,
    lo: &PatternLiteral,
    hi: &PatternLiteral,
    inclusive: bool,
    ty: &Type,
    span: Span,
) -> PatternKind {
    let (Some(lo), Some(hi)) = (pattern_literal(checker, lo, ty), pattern_literal(checker, hi, ty)) else {
        return PatternKind::Wildcard;
    };
    if matches!(lo, Literal::Bool(_)) {
        let message = "expected numbers as the ends of a range, found `bool`";
        checker.report(Diagnostic::error(codes::PATTERN, span, message).help("name the values: `true | false`"));
        return PatternKind::Wildcard;
    }
    if is_empty_range(&lo, &hi, inclusive) {
        let message = "expected a range with a value in it, found one whose end is before its start";
        checker.report(
            Diagnostic::error(codes::EMPTY_PATTERN_RANGE, span, message)
                .help("the smaller end comes first; `lo..=hi` has both of its ends in it"),
        );
        return PatternKind::Wildcard;
    }
    PatternKind::Range(PatternRange { lo, hi, inclusive })
}

fn tuple_pattern(
    checker: &mut BodyChecker<'_, '_>,
    parts: &[ast::Pattern],
    ty: &Type,
    span: Span,
    binder: &mut Binder,
) -> PatternKind {
    let fits = matches!(ty, Type::Tuple(types) if types.len() == parts.len());
    if !fits && !ty.has_error() {
        let found = checker.show(ty);
        let message = format!("expected a tuple of {} parts for this pattern, found `{found}`", parts.len());
        let help = match ty.parts() {
            [] => "bind the value to one name".to_owned(),
            types => format!("the value has {} parts: name each, or write `_`", types.len()),
        };
        checker.report(Diagnostic::error(codes::PATTERN, span, message).help(help));
    }
    let fields = parts.iter().enumerate().map(|(at, part)| {
        let ty = if fits { ty.parts()[at].clone() } else { Type::Error };
        (at, pattern_in(checker, part, &ty, binder))
    });
    PatternKind::Fields(fields.collect())
}

// ---- variants

/// What a bare name means where an enum stands: a variant, if the enum has one of that name.
fn variant_of_name(checker: &mut BodyChecker<'_, '_>, name: &Ident, mutable: bool, ty: &Type) -> Option<PatternKind> {
    let Type::Enum(of) = ty else { return None };
    if mutable {
        return None;
    }
    let index = checker.module.enums[of.def.0 as usize].variants.iter().position(|v| v.name == name.name)?;
    Some(unit_pattern(checker, of, index, name.span))
}

fn unit_pattern(checker: &mut BodyChecker<'_, '_>, of: &EnumType, index: usize, span: Span) -> PatternKind {
    let variant = checker.module.enums[of.def.0 as usize].variants[index].clone();
    checker.module.note_use(span, variant.name_span);
    if variant.form != PayloadForm::Unit {
        let wanted = pattern_of(&variant);
        enums::report_payload(
            checker,
            &variant,
            span,
            &format!("`{wanted}` as the pattern"),
            "the name alone",
            &wanted,
        );
    }
    PatternKind::Variant { index, fields: Vec::new() }
}

/// The variant of the enum `ty` that a path names; reports if there is none.
fn variant_named(checker: &mut BodyChecker<'_, '_>, path: &ast::Path, ty: &Type) -> Option<(EnumType, usize)> {
    let (name, owner) = path.segments.split_last()?;
    let Type::Enum(of) = ty else {
        if !ty.has_error() {
            let message = format!("expected a pattern for `{}`, found the variant `{}`", checker.show(ty), name.name);
            checker.report(
                Diagnostic::error(codes::PATTERN, path.span, message)
                    .help("variants are matched against values of their enum; bind anything else to a name"),
            );
        }
        return None;
    };
    let is_other =
        |this: &mut BodyChecker<'_, '_>| enums::enum_before_variant(this, path).is_none_or(|head| head.id != of.def);
    if !owner.is_empty() && is_other(checker) {
        let wanted = checker.module.enum_name(of.def.0);
        let owner = path_name(path).trim_end_matches(&format!(".{}", name.name)).to_owned();
        let message = format!("expected a variant of `{wanted}`, found one of `{owner}`");
        checker.report(
            Diagnostic::error(codes::PATTERN, path.span, message)
                .help(format!("write `{wanted}.` before the variant, or the variant alone")),
        );
        return None;
    }
    let index = checker.module.find_variant(of.def, name)?;
    Some((of.clone(), index))
}

/// `Circle(r)`, `S.Circle(r)`, `S.Dot`
fn variant_pattern(
    checker: &mut BodyChecker<'_, '_>,
    path: &ast::Path,
    args: &[ast::Pattern],
    ty: &Type,
    span: Span,
    binder: &mut Binder,
) -> PatternKind {
    let found = variant_named(checker, path, ty);
    let Some((of, index)) = found else {
        args.iter().for_each(|arg| drop(pattern_in(checker, arg, &Type::Error, binder)));
        return PatternKind::Wildcard;
    };
    if path.span.end == span.end {
        return unit_pattern(checker, &of, index, span);
    }
    let variant = checker.module.enums[of.def.0 as usize].variants[index].clone();
    if variant.form != PayloadForm::Tuple || variant.fields.len() != args.len() {
        let wanted = pattern_of(&variant);
        let found = match args.len() {
            1 => "one part in parentheses".to_owned(),
            n => format!("{n} parts in parentheses"),
        };
        enums::report_payload(checker, &variant, span, &format!("`{wanted}` as the pattern"), &found, &wanted);
    }
    let mut types = checker.module.declarations().payload_types(&of, index);
    types.resize(types.len().max(args.len()), Type::Error);
    let fields = args.iter().zip(types).enumerate();
    let fields = fields.map(|(at, (arg, ty))| (at, pattern_in(checker, arg, &ty, binder))).collect();
    PatternKind::Variant { index, fields }
}

/// `P { x, y: q, .. }` of a struct or a variant.
fn struct_pattern(
    checker: &mut BodyChecker<'_, '_>,
    path: &ast::Path,
    fields: &[ast::FieldPattern],
    has_rest: bool,
    ty: &Type,
    span: Span,
    binder: &mut Binder,
) -> PatternKind {
    if let Type::Enum(_) = ty {
        return variant_fields_pattern(checker, path, fields, has_rest, ty, span, binder);
    }
    let expected = structs::struct_named(checker, path);
    let def = match ty {
        Type::Struct(of) if expected == Some(of.def) => checker.module.structs.get(of.def.0 as usize).cloned(),
        Type::Error
        | Type::Never
        | Type::Scalar(_)
        | Type::Tensor { .. }
        | Type::Tuple(_)
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Function(_)
        | Type::Param(_) => None,
    };
    if def.is_none() && expected.is_some() && !ty.has_error() {
        let (name, found) = (path_name(path), checker.show(ty));
        let message = format!("expected the struct `{name}` for this pattern, found `{found}`");
        checker.report(Diagnostic::error(codes::PATTERN, span, message).help("bind the value to one name"));
    }
    let mut parts = Vec::new();
    for field in fields {
        let found = def.as_ref().and_then(|_| structs::find_field(checker, (ty, field.name.span), &field.name));
        let (at, field_ty) = found.unwrap_or((0, Type::Error));
        let part = pattern_in(checker, &field.pattern, &field_ty, binder);
        parts.push((at, part));
    }
    if let Some(def) = def.filter(|_| !has_rest) {
        report_missing_patterns(checker, &parts, &def.fields, &def.name, span);
    }
    PatternKind::Fields(parts)
}

fn variant_fields_pattern(
    checker: &mut BodyChecker<'_, '_>,
    path: &ast::Path,
    fields: &[ast::FieldPattern],
    has_rest: bool,
    ty: &Type,
    span: Span,
    binder: &mut Binder,
) -> PatternKind {
    let found = variant_named(checker, path, ty).map(|(of, index)| {
        let variant = checker.module.enums[of.def.0 as usize].variants[index].clone();
        (index, variant, checker.module.declarations().payload_types(&of, index))
    });
    if let Some((_, variant, _)) = &found
        && variant.form != PayloadForm::Struct
    {
        let wanted = pattern_of(variant);
        enums::report_payload(
            checker,
            variant,
            span,
            &format!("`{wanted}` as the pattern"),
            "fields in braces",
            &wanted,
        );
        fields.iter().for_each(|field| drop(pattern_in(checker, &field.pattern, &Type::Error, binder)));
        return PatternKind::Wildcard;
    }
    let mut parts: Vec<(usize, Pattern)> = Vec::new();
    for field in fields {
        let at = found.as_ref().and_then(|(_, variant, _)| {
            let at = variant.fields.iter().position(|other| other.name == field.name.name);
            if at.is_none() {
                let names = variant.fields.iter().map(|field| field.name.as_str()).collect();
                literal_fields::report_unknown_field(
                    checker,
                    &field.name,
                    &format!("the variant `{}`", variant.name),
                    names,
                );
            }
            at
        });
        let field_ty = match (at, &found) {
            (Some(at), Some((_, variant, types))) => {
                checker.module.note_use(field.name.span, variant.fields[at].span);
                types[at].clone()
            }
            _ => Type::Error,
        };
        if at.is_some_and(|at| parts.iter().any(|(other, _)| *other == at)) {
            checker.module.report_twice(&field.name, "field");
        }
        let part = pattern_in(checker, &field.pattern, &field_ty, binder);
        parts.extend(at.map(|at| (at, part)));
    }
    let Some((index, variant, _)) = found else { return PatternKind::Wildcard };
    if !has_rest {
        report_missing_patterns(checker, &parts, &variant.fields, &variant.name, span);
    }
    PatternKind::Variant { index, fields: parts }
}

fn report_missing_patterns(
    checker: &mut BodyChecker<'_, '_>,
    parts: &[(usize, Pattern)],
    fields: &[Field],
    owner: &str,
    span: Span,
) {
    let is_missing = |(at, _): &(usize, &Field)| parts.iter().all(|(other, _)| other != at);
    let missing = fields.iter().enumerate().filter(is_missing).map(|(_, field)| format!("`{}`", field.name));
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        let message = format!("expected a pattern for every field of `{owner}`, found none for {}", missing.join(", "));
        checker.report(Diagnostic::error(codes::PATTERN, span, message).help("add `..` for the other fields"));
    }
}

/// Whether a pattern has a part that does not match everything of its type, or might not.
fn may_fail(pattern: &Pattern) -> bool {
    let mut found = false;
    pattern.each(&mut |part| {
        found |= match part.kind {
            PatternKind::Wildcard | PatternKind::Local(_) | PatternKind::Fields(_) => false,
            PatternKind::Literal(_) | PatternKind::Range(_) | PatternKind::Variant { .. } | PatternKind::Or(_) => true,
        };
    });
    found
}

/// How a variant is matched.
fn pattern_of(variant: &Variant) -> String {
    match variant.form {
        PayloadForm::Unit => variant.name.clone(),
        PayloadForm::Tuple => format!("{}({})", variant.name, vec!["_"; variant.fields.len()].join(", ")),
        PayloadForm::Struct => format!("{} {{ .. }}", variant.name),
    }
}

/// Whether no number lies in a range; of floats only what their values say.
fn is_empty_range(lo: &Literal, hi: &Literal, inclusive: bool) -> bool {
    match (lo, hi) {
        (Literal::Int(lo), Literal::Int(hi)) => {
            if inclusive {
                lo > hi
            } else {
                lo >= hi
            }
        }
        _ => match (lo.constant(Elem::F64).as_float(), hi.constant(Elem::F64).as_float()) {
            (Some(lo), Some(hi)) => {
                if inclusive {
                    lo > hi
                } else {
                    lo >= hi
                }
            }
            _ => false,
        },
    }
}
