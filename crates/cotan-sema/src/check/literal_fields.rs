//! The fields that a literal of a struct or of a variant gives.

use cotan_syntax::ast::{self, Ident};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::arguments::Source;
use crate::codes;
use crate::suggest::closest;
use crate::typed::{self, Expr, FieldValue};
use crate::types::Type;

/// What a literal gives for the fields of `owner`, with their types and what a message calls them.
pub(super) fn field_sources<'s>(
    given: &[(usize, &'s ast::FieldInit)],
    fields: &[typed::Field],
    owner: &str,
) -> Vec<(Type, String, Source<'s>)> {
    let source = |(at, field): &(usize, &'s ast::FieldInit)| {
        let subject = format!("the field `{}` of `{owner}`", fields[*at].name);
        (fields[*at].ty.clone(), subject, Source::Ast(&field.value))
    };
    given.iter().map(source).collect()
}

/// Values for the fields that a literal gives.
pub(super) fn field_values(given: &[(usize, &ast::FieldInit)], values: Vec<Expr>) -> Vec<FieldValue> {
    given.iter().zip(values).map(|((index, _), value)| FieldValue { index: *index, value }).collect()
}

/// The fields that a literal gives, each once and by position, in the order in which they are written.
pub(super) fn given_fields<'s>(
    checker: &mut BodyChecker<'_, '_>,
    written: &'s [ast::FieldInit],
    fields: &[typed::Field],
    owner: &str,
) -> Vec<(usize, &'s ast::FieldInit)> {
    let mut given: Vec<(usize, &ast::FieldInit)> = Vec::new();
    for field in written {
        let Some(at) = fields.iter().position(|other| other.name == field.name.name) else {
            checker.expr(&field.value);
            let names = fields.iter().map(|field| field.name.as_str());
            report_unknown_field(checker, &field.name, owner, names.collect());
            continue;
        };
        if given.iter().any(|(other, _)| *other == at) {
            checker.module.report_twice(&field.name, "field");
            checker.expr(&field.value);
            continue;
        }
        checker.module.note_use(field.name.span, fields[at].span);
        given.push((at, field));
    }
    given
}

/// Reports the fields of `owner` that a literal lacks.
pub(super) fn report_missing_fields(
    checker: &mut BodyChecker<'_, '_>,
    given: &[(usize, &ast::FieldInit)],
    fields: &[typed::Field],
    owner: (&str, Span),
    span: Span,
) {
    let is_missing = |(at, _): &(usize, _)| !given.iter().any(|(other, _)| other == at);
    let missing = fields.iter().enumerate().filter(is_missing).map(|(_, field)| format!("`{}`", field.name));
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        let message =
            format!("expected a value for every field of `{}`, found none for {}", owner.0, missing.join(", "));
        checker.report(
            Diagnostic::error(codes::MISSING_FIELDS, span, message)
                .label(owner.1, "declared here")
                .help("give the missing fields, or take them from another value with `..value`"),
        );
    }
}

pub(super) fn report_unknown_field(checker: &mut BodyChecker<'_, '_>, name: &Ident, owner: &str, fields: Vec<&str>) {
    if name.name.is_empty() {
        return;
    }
    let help = match closest(&name.name, fields.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if fields.is_empty() => "it has no fields".to_owned(),
        None => format!("its fields are `{}`", fields.join("`, `")),
    };
    let message = format!("expected a field of {owner}, found `{}`", name.name);
    checker.report(Diagnostic::error(codes::UNKNOWN_FIELD, name.span, message).help(help));
}
