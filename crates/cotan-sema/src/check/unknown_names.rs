//! Names that stand for nothing: reports that say what is meant.

use cotan_syntax::ast::{Arg, Expr, ExprKind, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::foreign_members::{Sizes, sizes_named};
use super::meant::{Meant, Use};
use super::scope::field_name;
use super::vmap_axes::VMAP;
use super::{BodyChecker, tile_shapes};
use crate::codes;
use crate::foreign;
use crate::modules::einsum::EINSUM;
use crate::modules::paths::last_name;
use crate::prelude;
use crate::suggest::{closest, surely};
use crate::typed::NamedForm;

/// The remark at every place of an unknown name but the first.
pub(super) const AGAIN: &str = "and here";

/// A path that leads nowhere, with what follows it.
struct Unknown<'u> {
    path: Vec<&'u str>,
    span: Span,
    /// The arguments after it and the whole call.
    call: Option<(&'u [Arg], Span)>,
}

/// Reports a value or function that is not there; `ops` follow its name. Gives how many of them are names of the path
/// that it is the beginning of, as in `np.linalg.inv`.
pub(super) fn report_value(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span, ops: &[PostfixOp]) -> usize {
    if name.is_empty() {
        return 0;
    }
    if name == "tile" {
        tile_shapes::report_stray_tile(checker, span);
        return 0;
    }
    let path = path(checker, name, ops);
    let used = path.len() - 1;
    let span = ops[..used].last().map_or(span, |op| span.to(op.span));
    let call = match ops.get(used) {
        Some(PostfixOp { kind: PostfixKind::Call(args), span: end, .. }) => Some((args.as_slice(), span.to(*end))),
        Some(_) | None => None,
    };
    let path_name = path.join(".");
    let message = format!("expected a name that is declared, found `{path_name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, span, message);
    let diagnostic = explained(checker, &Unknown { path, span, call }, diagnostic);
    // What mends one use may differ from what mends another.
    let remark = diagnostic.help.first().filter(|_| !diagnostic.fix.is_empty()).cloned();
    checker.report(diagnostic.repeated(path_name, remark.unwrap_or_else(|| AGAIN.to_owned())));
    used
}

/// Reports a place that is not declared.
pub(super) fn report_place(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span) {
    if name.is_empty() {
        return;
    }
    let help = match closest(name, checker.locals.names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("bind it with `let {name} = ...`, or with `let mut {name} = ...` if it changes"),
    };
    let message = format!("expected a name that is declared, found `{name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, span, message).help(help);
    checker.report(diagnostic.repeated(name, AGAIN));
}

/// Reports the call of a function that a module of the library does not have, where it is known what is meant: `linalg.eye(2)`.
/// Gives how many of `ops` are names of the path.
pub(super) fn member_call(
    checker: &mut BodyChecker<'_, '_>,
    module: &str,
    span: Span,
    ops: &[PostfixOp],
) -> Option<usize> {
    let [
        PostfixOp { kind: PostfixKind::Field(name), .. },
        PostfixOp { kind: PostfixKind::Call(args), span: end, .. },
        ..,
    ] = ops
    else {
        return None;
    };
    let library = checker.module.library_module(module)?;
    if checker.module.library.has(library, &name.name) {
        return None;
    }
    let written = written_args(checker, args);
    let path = [last_name(library), name.name.as_str()];
    let meant = checker.module.meant(&path, Use::Call(&written))?;
    let message = format!("expected a declaration of the module `{module}`, found `{}`", name.name);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_ITEM, name.span, message);
    let diagnostic = diagnostic.help(help_for_meant(&meant, &[module, &name.name], Use::Call(&written)));
    let call = span.to(*end);
    checker.report(checker.module.with_fix(&meant, diagnostic, span.to(name.span), Some(call)));
    Some(1)
}

/// The names of a path. Only behind a module or package do names belong to it.
fn path<'n>(checker: &BodyChecker<'_, '_>, name: &'n str, ops: &'n [PostfixOp]) -> Vec<&'n str> {
    let is_module = foreign::is_namespace(name) || checker.module.library.module(name).is_some();
    let rest = ops.iter().map_while(|op| field_name(Some(op))).filter(|_| is_module);
    std::iter::once(name).chain(rest.map(|ident| ident.name.as_str())).collect()
}

/// The diagnostic with what to write: what is near in scope, then what the library and other languages have of that
/// name, then what is near among all names.
fn explained(checker: &BodyChecker<'_, '_>, unknown: &Unknown<'_>, diagnostic: Diagnostic) -> Diagnostic {
    let (name, is_bare) = (unknown.path[0], unknown.path.len() == 1);
    if let (Some(sizes), Some((_, call))) = (size_asked_for(checker, unknown), unknown.call) {
        return sizes.on(diagnostic, call);
    }
    if let Some(owner) = checker.module.enum_with(name).filter(|_| is_bare) {
        return diagnostic.help(format!("write the name of the enum before the variant: `{owner}.{name}`"));
    }
    let locals = || checker.locals.names().chain(checker.generics.iter().map(|generic| generic.name.as_str()));
    if let (true, None, Some(near)) = (is_bare, unknown.call, closest(name, locals())) {
        return diagnostic.help(format!("did you mean `{near}`?"));
    }
    let args = unknown.call.map(|(args, _)| written_args(checker, args));
    let used = args.as_deref().map_or(Use::Value, Use::Call);
    if let Some(meant) = checker.module.meant(&unknown.path, used) {
        let diagnostic = diagnostic.help(help_for_meant(&meant, &unknown.path, used));
        return checker.module.with_fix(&meant, diagnostic, unknown.span, unknown.call.map(|(_, span)| span));
    }
    if let Some(help) = help_for_module(checker, &unknown.path) {
        return diagnostic.help(help);
    }
    let forms = NamedForm::all().map(|form| form.name).chain([VMAP, EINSUM]);
    let known = locals().chain(checker.module.declared_names()).chain(prelude::names()).chain(forms);
    let known: Vec<&str> = known.collect();
    if let Some(near) = surely(name, known.iter().copied()) {
        return diagnostic.help(format!("did you mean `{near}`?")).fix(unknown.span, near);
    }
    diagnostic.help(match (closest(name, known.into_iter()), unknown.call, checker.module.library.owners(name).next()) {
        (Some(near), ..) => format!("did you mean `{near}`?"),
        (None, Some(_), _) => format!("declare it, or look for it with `cotan ops {name}`"),
        (None, None, Some(owner)) => format!(
            "bind it with `let {name} = ...`; for the function of the library, write `import {owner}` at the top of \
             the file"
        ),
        (None, None, None) => format!("bind it with `let {name} = ...`, or make it a parameter"),
    })
}

/// What `len(v)` of a variable is.
fn size_asked_for(checker: &BodyChecker<'_, '_>, unknown: &Unknown<'_>) -> Option<Sizes> {
    let ([Arg { value: Expr { kind: ExprKind::Name(name), .. }, .. }], _) = unknown.call? else { return None };
    let local = checker.locals.named(name)?;
    sizes_named(checker, &checker.locals.get(local).ty, unknown.path.last()?)
}

/// The arguments as they are written; `None` for one that is too long to quote, or has a name.
fn written_args(checker: &BodyChecker<'_, '_>, args: &[Arg]) -> Vec<Option<String>> {
    let positional = |arg: &Arg| arg.name.is_none().then_some(arg.value.span);
    args.iter().map(|arg| positional(arg).and_then(|span| checker.module.written(span)).map(str::to_owned)).collect()
}

/// The proposal, with the arguments that stay after it.
fn help_for_meant(meant: &Meant, path: &[&str], used: Use<'_>) -> String {
    let found = path.join(".");
    let Use::Call(args) = used else { return meant.help(&meant.code, &found) };
    let args: Option<Vec<&str>> = args.iter().map(Option::as_deref).collect();
    match args.filter(|_| !meant.is_whole_call && !meant.code.is_empty()) {
        Some(args) => {
            let args = args.join(", ");
            meant.help(&format!("{}({args})", meant.code), &format!("{found}({args})"))
        }
        None => meant.help(&meant.code, &found),
    }
}

/// What to say of a module that has no such declaration, or of its name alone.
fn help_for_module(checker: &BodyChecker<'_, '_>, path: &[&str]) -> Option<String> {
    let [name, rest @ ..] = path else { return None };
    if let (Some(module), true) = (checker.module.library.module(name), rest.is_empty()) {
        return Some(format!("write `import {module}` at the top of the file, and a dot and a name after `{name}`"));
    }
    let last = path.last().filter(|_| foreign::is_namespace(name))?;
    Some(format!("there are no modules of other languages here; `cotan ops {last}` searches what there is"))
}
