//! Tests: functions that `cotan test` calls.

use cotan_ir::Elem;
use cotan_syntax::Diagnostic;
use cotan_syntax::ast::Attr;

use super::{ModuleChecker, Signature};
use crate::codes;
use crate::types::Type;

/// The attribute of tests.
pub(super) const TEST: &str = "test";

/// Reports a test that can't be called without arguments, or whose result does not say if it passed.
pub(super) fn check_test(checker: &mut ModuleChecker<'_>, attrs: &[Attr], signature: &Signature) {
    let Some(attr) = attrs.iter().find(|attr| attr.name.name == TEST) else { return };
    let name = &signature.name;
    let found = if !signature.generics.is_empty() {
        "generic parameters".to_owned()
    } else if !signature.params.is_empty() {
        "parameters".to_owned()
    } else if matches!(signature.result, Type::Error) || signature.result == Type::of(Elem::Bool) {
        return;
    } else {
        format!("the result `{}`", checker.show_in(signature, &signature.result))
    };
    let message = format!("expected a test without parameters that gives `bool`, found {found} of `{name}`");
    checker.report(
        Diagnostic::error(codes::TEST_SIGNATURE, signature.name_span, message)
            .label(attr.span, "this makes it a test")
            .help(format!("write `@test fn {name}() -> bool`, and compare: `abs(x - y) < 1e-12`")),
    );
}
