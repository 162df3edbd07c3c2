//! Functions of traits where they are called: `s.area()`, `Area.area(s)`.

use cotan_syntax::ast::{self, Ident, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::arguments::Source;
use super::bounds::param_of;
use super::callee::Callee;
use super::schemes::function_scheme;
use super::scope::Found;
use super::{BodyChecker, FnId, ModuleChecker, arguments, builtins, foreign_members};
use crate::codes;
use crate::instances::impls::Binding;
use crate::suggest::closest;
use crate::typed::Expr;
use crate::types::{Generic, GenericArg, Substitution, TraitId, TraitRef, Type};

/// A function of a trait that a type may have.
struct Candidate {
    of: TraitId,
    method: FnId,
    /// What the parameters of the trait are, as far as the type says.
    args: Vec<Option<GenericArg>>,
}

/// `Area.area`
pub(super) fn trait_callee<'s>(
    checker: &mut BodyChecker<'_, '_>,
    id: TraitId,
    found: &Found,
    ops: &'s [PostfixOp],
) -> (Callee<'s>, usize) {
    let methods = checker.module.traits[id.0 as usize].methods.clone();
    let (name, span) = (&found.name, found.span);
    let Some(PostfixOp { kind: PostfixKind::Field(method), .. }) = ops.get(found.n_dots) else {
        let first = methods.first().map_or("f", |id| checker.module.method_name(*id)).to_owned();
        let message = format!("expected a function, found the trait `{name}`");
        let diagnostic = Diagnostic::error(codes::NOT_CALLABLE, span, message);
        checker.report(diagnostic.help(format!("name one of its functions: `{name}.{first}`")));
        return (Callee::Failed, found.n_dots);
    };
    match methods.iter().copied().find(|id| checker.module.method_name(*id) == method.name) {
        Some(id) => {
            let definition = checker.module.signature(id).name_span;
            checker.module.note_use(method.span, definition);
            checker.function_callee(id, span.to(method.span), ops, found.n_dots + 1)
        }
        None => {
            let names = methods.iter().map(|id| checker.module.method_name(*id));
            let help = match closest(&method.name, names) {
                Some(near) => format!("did you mean `{name}.{near}`?"),
                None => format!("add it to the declaration of `{name}`"),
            };
            let message = format!("expected a function of the trait `{name}`, found `{}`", method.name);
            checker.report(Diagnostic::error(codes::METHOD, method.span, message).help(help));
            (Callee::Failed, found.n_dots + 1)
        }
    }
}

/// `value.name(args)`
pub(super) fn method(
    checker: &mut BodyChecker<'_, '_>,
    value: Expr,
    name: &Ident,
    args: &[ast::Arg],
    span: Span,
) -> Expr {
    if value.ty.has_error() {
        let given = arguments::given(args);
        checker.check_anyway(given.into_sources());
        return Expr::error(span);
    }
    let mut candidates = candidates_for(checker, &value.ty, name);
    // No impl is for a literal whose type is open: what follows depends on the type, so its default comes early.
    if candidates.is_empty() && checker.infer.vars.default_in(&value.ty) {
        candidates = candidates_for(checker, &value.ty, name);
    }
    if candidates.len() > 1 {
        return report_ambiguous(checker, &value, name, &candidates, span);
    }
    let Some(found) = candidates.pop() else {
        if name.name == "rev" && args.is_empty() {
            return builtins::reverse(checker, value, span);
        }
        return report_no_method(checker, &value, name, args, span);
    };
    let definition = checker.module.signature(found.method).name_span;
    checker.module.note_use(name.span, definition);
    let given = std::iter::once(Some(GenericArg::Type(value.ty.clone()))).chain(found.args).collect();
    let mut arguments = arguments::given(args);
    arguments.positional.insert(0, Source::Typed(value));
    let callee = method_callee(checker.module, found.method, name.span, given);
    checker.apply(callee, arguments, span)
}

/// The functions of that name that a type may have.
fn candidates_for(checker: &mut BodyChecker<'_, '_>, ty: &Type, name: &Ident) -> Vec<Candidate> {
    let ty = checker.infer.vars.resolve_type(ty);
    let mut candidates = Vec::new();
    for at in 0..checker.module.traits.len() {
        let def = &checker.module.traits[at];
        let method = def.methods.iter().copied().find(|id| checker.module.method_name(*id) == name.name);
        let Some(method) = method else { continue };
        let of = TraitId(at as u32);
        let mut refs = bounds_of(&checker.generics, &ty, of);
        refs.extend(impls_for(checker.module, &ty, of));
        let Some(first) = refs.pop() else { continue };
        // Several impls for one type differ in the parameters of the trait: the arguments decide.
        let args = if refs.is_empty() { first } else { vec![None; first.len()] };
        candidates.push(Candidate { of, method, args });
    }
    candidates
}

/// The trait as the bounds of a type parameter give it.
fn bounds_of(generics: &[Generic], ty: &Type, of: TraitId) -> Vec<Vec<Option<GenericArg>>> {
    let bounds = param_of(ty).and_then(|at| generics.get(at)).map_or(&[] as &[TraitRef], |g| &g.traits);
    let found = bounds.iter().filter(|bound| bound.def == of);
    found.map(|bound| bound.args.iter().cloned().map(Some).collect()).collect()
}

/// The trait as impls give it to a type.
fn impls_for(module: &ModuleChecker<'_>, ty: &Type, of: TraitId) -> Vec<Vec<Option<GenericArg>>> {
    let mut found = Vec::new();
    for candidate in module.impls.iter().filter(|candidate| candidate.trait_ref.def == of) {
        let mut binding = Binding::new(&candidate.generics);
        if !binding.ty(&candidate.target, ty) {
            continue;
        }
        let is_known = binding.known.iter().all(Option::is_some);
        let known = binding.known.into_iter().enumerate();
        let args = known.map(|(k, arg)| arg.unwrap_or_else(|| candidate.generics[k].as_arg(k)));
        let at_impl = Substitution::new(args.collect());
        let args = candidate.trait_ref.args.iter().map(|arg| at_impl.arg(arg).filter(|_| is_known));
        found.push(args.collect());
    }
    found
}

fn report_ambiguous(
    checker: &mut BodyChecker<'_, '_>,
    value: &Expr,
    name: &Ident,
    candidates: &[Candidate],
    span: Span,
) -> Expr {
    let names: Vec<String> = candidates
        .iter()
        .map(|candidate| format!("`{}`", checker.module.traits[candidate.of.0 as usize].name))
        .collect();
    let first = names.first().map_or("", String::as_str).trim_matches('`').to_owned();
    let shown = checker.show_value(value);
    let message =
        format!("expected one trait with the function `{}` for {shown}, found {}", name.name, names.join(" and "));
    let mut diagnostic = Diagnostic::error(codes::AMBIGUOUS_METHOD, name.span, message);
    for candidate in candidates {
        diagnostic = diagnostic.label(checker.module.signature(candidate.method).name_span, "one is declared here");
    }
    checker.report(diagnostic.help(format!("name the trait: `{first}.{}(value)`", name.name)));
    Expr::error(span)
}

fn report_no_method(
    checker: &mut BodyChecker<'_, '_>,
    value: &Expr,
    name: &Ident,
    args: &[ast::Arg],
    span: Span,
) -> Expr {
    let shown = checker.show(&value.ty);
    let traits = &checker.module.traits;
    let has_it = |of: &&crate::typed::Trait| of.methods.iter().any(|id| checker.module.method_name(*id) == name.name);
    if let Some(of) = traits.iter().find(has_it) {
        let help = match param_of(&value.ty).and_then(|at| checker.generics.get(at)) {
            Some(generic) => format!("add the trait to the bounds of `{}`: `{0}: {}`", generic.name, of.name),
            None => format!("write `impl {} for {shown} {{ ... }}`", of.name),
        };
        let message =
            format!("expected a type with the trait `{}` before `.{}()`, found `{shown}`", of.name, name.name);
        checker.report(Diagnostic::error(codes::LACKS_TRAIT, name.span, message).help(help));
        return Expr::error(span);
    }
    let methods = traits.iter().flat_map(|of| &of.methods).map(|id| checker.module.method_name(*id));
    let near = closest(&name.name, methods.chain(["rev"])).map(str::to_owned);
    let message = format!("expected a function of a trait, found `{}` after a `{shown}`", name.name);
    let diagnostic = Diagnostic::error(codes::METHOD, name.span, message);
    let diagnostic = foreign_members::explain_method(checker, (value, name), args, span, diagnostic);
    checker.report(match (diagnostic.help.is_empty(), near) {
        (false, _) => diagnostic,
        (true, Some(near)) => diagnostic.help(format!("did you mean `.{near}()`?")),
        (true, None) => diagnostic.help("functions of traits and `.rev()` are called like this, all others by name"),
    });
    Expr::error(span)
}

/// A function of a trait with what is known of its generics.
fn method_callee<'s>(
    module: &ModuleChecker<'_>,
    id: FnId,
    span: Span,
    mut given: Vec<Option<GenericArg>>,
) -> Callee<'s> {
    let signature = module.signature(id).clone();
    given.resize(signature.generics.len(), None);
    Callee::Scheme(Box::new(function_scheme(id, signature, span, given)))
}
