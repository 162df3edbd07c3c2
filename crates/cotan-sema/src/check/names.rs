//! Name resolution in a body: what names stand for, and the locals that they bind.

use cotan_ir::Elem;
use cotan_syntax::ast::{PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::scope::{Found, field_name};
use super::{BodyChecker, Def, unknown_names};
use crate::codes;
use crate::dims::{GenericId, LocalId};
use crate::prelude;
use crate::typed::{Expr, ExprKind, Literal};
use crate::types::{GenericKind, StructId, Type};

/// What reports about functions where values are needed have in common.
pub(super) const NO_VALUE: &str = "a function is no value";

impl BodyChecker<'_, '_> {
    /// The local that a name stands for, recorded as a use and as a capture.
    pub(super) fn lookup_local(&mut self, name: &str, span: Span) -> Option<LocalId> {
        let local = self.locals.named(name)?;
        let definition = self.locals.get(local).span;
        self.module.note_use(span, definition);
        self.locals.capture(local);
        Some(local)
    }

    /// Whether a name stands for a declaration, and for nothing that hides it.
    pub(super) fn is_item(&self, name: &str) -> bool {
        self.locals.named(name).is_none()
            && !self.generics.iter().any(|generic| generic.name == name)
            && self.module.find(name).is_some()
    }

    /// Reports a function where a value is needed.
    pub(super) fn function_as_value(&mut self, span: Span, what: &str) -> Expr {
        let message = format!("expected a value, found {what}");
        self.report(
            Diagnostic::error(codes::FUNCTION_AS_VALUE, span, message)
                .help("functions are no values: call it, or pass it on as an argument, as in `map(f, v)`")
                .repeated(NO_VALUE, "nor is this one"),
        );
        Expr::error(span)
    }

    /// Runs `inside` in a scope of its own.
    pub(super) fn scoped<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.locals.enter();
        let result = inside(self);
        self.locals.leave();
        result
    }
}

/// The value of a name; after that of a module `ops` say what is meant. Gives it with how many of them did.
pub(super) fn name(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span, ops: &[PostfixOp]) -> (Expr, usize) {
    if checker.is_item(name)
        && let Some(found) = checker.module.follow(name, span, |at| field_name(ops.get(at)))
    {
        let call = ops.get(found.n_dots);
        return (item_value(checker, &found, call), found.n_dots);
    }
    match plain_name(checker, name, span) {
        Some(value) => (value, 0),
        None => (Expr::error(span), unknown_names::report_value(checker, name, span, ops)),
    }
}

/// The value of a declaration; `next` follows its name.
fn item_value(checker: &mut BodyChecker<'_, '_>, found: &Found, next: Option<&PostfixOp>) -> Expr {
    let span = found.span;
    match found.def {
        Def::Function(_) | Def::Pending => checker.function_as_value(span, &format!("the function `{}`", found.name)),
        Def::Gradients(_) => {
            not_a_value(checker, &found.name, "a set of gradients", span, "name one and call it, as in `dloss.w(x)`")
        }
        Def::Constant(at) => match checker.module.resolve_constant(at, span) {
            Some(value) => value.at(span),
            None => Expr::error(span),
        },
        Def::Struct(id) => struct_value(checker, found, id, next),
        Def::Alias(_) => {
            not_a_value(checker, &found.name, "a type", span, "make a value of it with `{ ... }` after the name")
        }
        Def::Enum(id) => {
            let help = checker.module.construct_help(id);
            not_a_value(checker, &found.name, "an enum", span, &help)
        }
        Def::Module(_) => {
            let help = "write a dot and the name of a declaration after it";
            not_a_value(checker, &found.name, "a module", span, help)
        }
        Def::Trait(_) => not_a_value(checker, &found.name, "a trait", span, "call one of its functions: `value.f()`"),
        Def::Unusable => Expr::error(span),
    }
}

/// Reports the name of a struct where a value is needed, also one that is called as if it were a function: `P(1.0, 2.0)`.
fn struct_value(checker: &mut BodyChecker<'_, '_>, found: &Found, id: StructId, next: Option<&PostfixOp>) -> Expr {
    let name = &found.name;
    let message = format!("expected a value, found a type, `{name}`");
    let diagnostic = Diagnostic::error(codes::NOT_A_VALUE, found.span, message);
    let diagnostic = match literal_of_call(checker, found, id, next) {
        Some((code, span)) => diagnostic.help(format!("fields are named: `{code}`")).fix(span, code),
        None => diagnostic.help("make a value of it with `{ ... }` after the name"),
    };
    checker.report(diagnostic);
    Expr::error(found.span)
}

/// The literal that a call of a struct stands for, if it has an argument for each field, and the place of the call.
fn literal_of_call(
    checker: &BodyChecker<'_, '_>,
    found: &Found,
    id: StructId,
    next: Option<&PostfixOp>,
) -> Option<(String, Span)> {
    let PostfixOp { kind: PostfixKind::Call(args), span, .. } = next? else { return None };
    let fields = &checker.module.structs[id.0 as usize].fields;
    if fields.len() != args.len() || args.iter().any(|arg| arg.name.is_some()) {
        return None;
    }
    let given = args.iter().map(|arg| checker.module.written(arg.value.span)).collect::<Option<Vec<_>>>()?;
    let parts: Vec<String> =
        fields.iter().zip(given).map(|(field, value)| format!("{}: {value}", field.name)).collect();
    Some((format!("{} {{ {} }}", found.name, parts.join(", ")), found.span.to(*span)))
}

/// The value of a name that is no declaration; `None` for one that stands for nothing.
fn plain_name(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span) -> Option<Expr> {
    if let Some(local) = checker.lookup_local(name, span) {
        let ty = checker.locals.get(local).ty.clone();
        if matches!(ty, Type::Function(_)) {
            return Some(checker.function_as_value(span, &format!("the function `{name}`")));
        }
        return Some(Expr { span, ty, kind: ExprKind::Local(local) });
    }
    if let Some(at) = checker.generics.iter().position(|generic| generic.name == name) {
        return Some(match checker.generics[at].kind {
            GenericKind::Size => Expr { span, ty: Type::of(Elem::I64), kind: ExprKind::Size(GenericId(at as u32)) },
            GenericKind::Scalar(_) => not_a_value(checker, name, "an element type", span, "write `x as T` to convert"),
            GenericKind::Type { .. } => not_a_value(checker, name, "a type", span, "take a value of it as a parameter"),
            GenericKind::Pack => {
                let help = format!("write `..{name}` among the sizes of a function such as `zeros`");
                not_a_value(checker, name, "a shape pack", span, &help)
            }
        });
    }
    if let Some(constant) = prelude::constant(name) {
        let scalar = checker.infer.vars.float_literal();
        let kind = ExprKind::Literal(Literal::Constant(constant));
        return Some(Expr { span, ty: Type::Scalar(scalar), kind });
    }
    let is_function = prelude::scalar_function(name).is_some() || prelude::builtin(name).is_some();
    is_function.then(|| checker.function_as_value(span, &format!("the function `{name}`")))
}

fn not_a_value(checker: &mut BodyChecker<'_, '_>, name: &str, found: &str, span: Span, help: &str) -> Expr {
    let message = format!("expected a value, found {found}, `{name}`");
    checker.report(Diagnostic::error(codes::NOT_A_VALUE, span, message).help(help));
    Expr::error(span)
}
