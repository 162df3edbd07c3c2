//! Name resolution in a body: what names stand for, and the locals that they bind.

use cotan_ir::Elem;
use cotan_syntax::ast::{Ident, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::scope::Found;
use super::vmap_axes::VMAP;
use super::{BodyChecker, Def, tile_shapes};
use crate::codes;
use crate::dims::{GenericId, LocalId};
use crate::modules::einsum::EINSUM;
use crate::prelude;
use crate::suggest::closest;
use crate::typed::{Expr, ExprKind, Literal, NamedForm};
use crate::types::{GenericKind, Type};

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
                .help("functions are no values: call it, or pass it on as an argument, as in `map(f, v)`"),
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
        return (item_value(checker, &found), found.n_dots);
    }
    (plain_name(checker, name, span), 0)
}

/// The value of a declaration.
fn item_value(checker: &mut BodyChecker<'_, '_>, found: &Found) -> Expr {
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
        Def::Struct(_) | Def::Alias(_) => {
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

/// The value of a name that is no declaration.
fn plain_name(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span) -> Expr {
    if let Some(local) = checker.lookup_local(name, span) {
        let ty = checker.locals.get(local).ty.clone();
        if matches!(ty, Type::Function(_)) {
            return checker.function_as_value(span, &format!("the function `{name}`"));
        }
        return Expr { span, ty, kind: ExprKind::Local(local) };
    }
    if let Some(at) = checker.generics.iter().position(|generic| generic.name == name) {
        return match checker.generics[at].kind {
            GenericKind::Size => Expr { span, ty: Type::of(Elem::I64), kind: ExprKind::Size(GenericId(at as u32)) },
            GenericKind::Scalar(_) => not_a_value(checker, name, "an element type", span, "write `x as T` to convert"),
            GenericKind::Type { .. } => not_a_value(checker, name, "a type", span, "take a value of it as a parameter"),
            GenericKind::Pack => {
                let help = format!("write `..{name}` among the sizes of a function such as `zeros`");
                not_a_value(checker, name, "a shape pack", span, &help)
            }
        };
    }
    if let Some(constant) = prelude::constant(name) {
        let scalar = checker.infer.vars.float_literal();
        return Expr { span, ty: Type::Scalar(scalar), kind: ExprKind::Literal(Literal::Constant(constant)) };
    }
    if prelude::scalar_function(name).is_some() || prelude::builtin(name).is_some() {
        return checker.function_as_value(span, &format!("the function `{name}`"));
    }
    unknown_name(checker, name, span)
}

/// Reports a name that stands for nothing.
pub(super) fn unknown_name(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span) -> Expr {
    if name.is_empty() {
        return Expr::error(span);
    }
    if name == "tile" {
        tile_shapes::report_stray_tile(checker, span);
        return Expr::error(span);
    }
    let help = {
        let locals = checker.locals.names();
        let items = checker.module.declared_names();
        let generics = checker.generics.iter().map(|generic| generic.name.as_str());
        let forms = NamedForm::all().map(|form| form.name).chain([VMAP, EINSUM]);
        let known = locals.chain(generics).chain(items).chain(prelude::names()).chain(forms);
        match (checker.module.enum_with(name), foreign_name(name), closest(name, known)) {
            (Some(owner), ..) => format!("write the name of the enum before the variant: `{owner}.{name}`"),
            (None, Some(help), _) => help.to_owned(),
            (None, None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None, None) => format!("bind it with `let {name} = ...`, or make it a parameter"),
        }
    };
    checker.report(
        Diagnostic::error(codes::UNKNOWN_NAME, span, format!("expected a name that is declared, found `{name}`"))
            .help(help),
    );
    Expr::error(span)
}

fn not_a_value(checker: &mut BodyChecker<'_, '_>, name: &str, found: &str, span: Span, help: &str) -> Expr {
    let message = format!("expected a value, found {found}, `{name}`");
    checker.report(Diagnostic::error(codes::NOT_A_VALUE, span, message).help(help));
    Expr::error(span)
}

/// The name in `.name`.
pub(super) fn field_name(op: Option<&PostfixOp>) -> Option<&Ident> {
    match op.map(|op| &op.kind) {
        Some(PostfixKind::Field(name)) => Some(name),
        Some(PostfixKind::Call(_) | PostfixKind::Index(_) | PostfixKind::TupleField { .. } | PostfixKind::Cast(_))
        | None => None,
    }
}

/// What names of other languages are called here.
fn foreign_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "println" | "printf" => "write `print(x)`, in a function that is marked `@io`",
        "len" | "length" => "sizes stand in the types: name the size of a parameter and use it",
        "ln" => "the natural logarithm is `log`",
        "fabs" => "the absolute value is `abs`",
        "arange" | "range" => "write a range, as in `0..n`",
        "matmul" => "write `a @ b`",
        "True" => "write `true`",
        "False" => "write `false`",
        "PI" => "the constant is called `pi`",
        "np" | "math" | "torch" | "jnp" => "the functions of the prelude need no module before them",
        _ => return None,
    })
}
