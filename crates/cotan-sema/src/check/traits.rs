//! Traits and impls: their declarations, and whether an impl is what its trait asks for.

use std::collections::BTreeSet;

use cotan_syntax::ast::{self, Item, ItemKind};
use cotan_syntax::{Diagnostic, Span};

use super::bodies::Plan;
use super::declarations::Owner;
use super::type_scope::TypeScope;
use super::{ModuleChecker, Signature, bounds, declarations, loop_attributes};
use crate::codes;
use crate::dims::Atom;
use crate::suggest::closest;
use crate::typed::{self, Declarations, FnId, FunctionBody, TraitMethod};
use crate::types::{Generic, GenericArg, GenericKind, Substitution, TraitId, TraitRef, Type};

impl<'a> ModuleChecker<'a> {
    /// The name of a function of a trait or impl without that of its owner.
    pub(super) fn method_name(&self, id: FnId) -> &str {
        let name = &self.signature(id).name;
        name.rsplit('.').next().unwrap_or(name)
    }
}

/// The parameters of all traits, which bounds speak of.
pub(super) fn resolve_trait_generics(checker: &mut ModuleChecker<'_>) {
    for at in 0..checker.trait_items.len() {
        let (module, item) = checker.trait_items[at];
        checker.traits[at].generics = checker.within(module, |this| this.generics(&item.generics, &[]));
    }
}

/// Takes in the functions that traits ask for.
pub(super) fn declare_traits(checker: &mut ModuleChecker<'_>) {
    for at in 0..checker.trait_items.len() {
        let (module, item) = checker.trait_items[at];
        checker.current = module;
        let id = TraitId(at as u32);
        let owner = Owner { generics: generics_in_trait(checker, id), self_type: None };
        for method in &item.methods {
            checker.report_unknown_attributes(&method.attrs, "function of a trait");
            let name = &method.signature.name;
            let known = checker.traits[at].methods.clone();
            if known.iter().any(|other| checker.method_name(*other) == name.name) {
                checker.report_twice(name, "function");
                continue;
            }
            let mut signature = declarations::read_signature(checker, method.doc.as_ref(), &method.signature, &owner);
            require_receiver(checker, &signature);
            signature.name = format!("{}.{}", checker.traits[at].name, signature.name);
            let index = known.len();
            let function = checker.add_function(signature, Some(FunctionBody::Required(TraitMethod { of: id, index })));
            checker.traits[at].methods.push(function);
        }
    }
}

/// `Self` and the parameters of a trait, as the functions of the trait have them.
fn generics_in_trait(checker: &ModuleChecker<'_>, id: TraitId) -> Vec<Generic> {
    let own = &checker.traits[id.0 as usize].generics;
    let args: Vec<GenericArg> = own.iter().enumerate().map(|(at, generic)| generic.as_arg(at + 1)).collect();
    let shift = Substitution::new(args.clone());
    let this = Generic {
        name: "Self".to_owned(),
        kind: GenericKind::Type { is_differentiable: false },
        traits: vec![TraitRef { def: id, args }],
        tangent_of: None,
    };
    let shifted = own.iter().map(|generic| Generic {
        traits: generic.traits.iter().filter_map(|of| shift.trait_ref(of)).collect(),
        ..generic.clone()
    });
    std::iter::once(this).chain(shifted).collect()
}

/// The first parameter of a function of a trait is the value that it is called on.
fn require_receiver(checker: &mut ModuleChecker<'_>, signature: &Signature) {
    let is_self = |param: &typed::Param| matches!(param.ty, Type::Param(id) if id.0 == 0) || param.ty.has_error();
    if signature.params.first().is_some_and(is_self) {
        return;
    }
    let message = format!("expected `Self` as the type of the first parameter of `{}`, found another", signature.name);
    checker.report(
        Diagnostic::error(codes::NO_RECEIVER, signature.span, message)
            .help(format!("write `fn {}(s: Self, ...)`: it is called as `value.{0}(...)`", signature.name)),
    );
}

/// Takes in an impl: the bodies of its functions are checked with all others.
pub(super) fn declare_impl<'a>(checker: &mut ModuleChecker<'a>, item: &'a Item, declared: &'a ast::Impl) {
    checker.report_unknown_attributes(&item.attrs, "impl");
    let generics = checker.generics(&declared.generics, &[&declared.target]);
    let mut scope = TypeScope::new(generics.clone());
    let target = checker.value_type(&declared.target, &mut scope);
    scope.self_type = Some(target.clone());
    let trait_ref = checker.trait_ref(&declared.trait_ref, &mut scope);
    let owner = Owner { generics: generics.clone(), self_type: Some(target.clone()) };
    let span = Span::new(item.span.file, item.span.start, declared.target.span.end);
    let Some(trait_ref) = trait_ref.filter(|_| !target.has_error()) else { return };
    if !is_fit_target(checker, &generics, &trait_ref, &target, declared.target.span) {
        return;
    }
    let mut found = typed::Impl { span, generics, trait_ref, target, methods: Vec::new() };
    if report_overlap(checker, &found) {
        return;
    }
    methods_of_impl(checker, &mut found, declared, &owner);
    checker.impls.push(found);
}

/// The functions of an impl in the order of the trait.
fn methods_of_impl<'a>(
    checker: &mut ModuleChecker<'a>,
    found: &mut typed::Impl,
    declared: &'a ast::Impl,
    owner: &Owner,
) {
    let def = checker.traits[found.trait_ref.def.0 as usize].clone();
    let wanted: Vec<String> = def.methods.iter().map(|id| checker.method_name(*id).to_owned()).collect();
    let mut given: Vec<Option<FnId>> = vec![None; wanted.len()];
    let head = head_name(checker.declarations(), &found.target);
    for item in &declared.items {
        let ItemKind::Function(function) = &item.kind else { continue };
        let name = &function.signature.name;
        let at = wanted.iter().position(|other| *other == name.name);
        let Some(at) = at else {
            report_extra_method(checker, &def, &wanted, name);
            continue;
        };
        if given[at].is_some() {
            checker.report_twice(name, "function");
            continue;
        }
        let hints = loop_attributes::impl_hints(checker, &item.attrs);
        let mut signature = declarations::read_signature(checker, item.doc.as_ref(), &function.signature, owner);
        compare_method(checker, found, def.methods[at], &signature);
        signature.name = format!("{}.{head}.{}", def.name, name.name);
        signature.hints = hints;
        let id = checker.add_function(signature, None);
        let module = checker.current;
        checker.plans.push(Plan { module, function: id, item: function, inferred_for: None });
        given[at] = Some(id);
    }
    let missing: Vec<&String> =
        wanted.iter().zip(&given).filter(|(_, id)| id.is_none()).map(|(name, _)| name).collect();
    if let Some(first) = missing.first() {
        let message = format!("expected the function `{first}` of the trait `{}` in the `impl`, found none", def.name);
        let mut diagnostic = Diagnostic::error(codes::MISSING_METHOD, found.span, message);
        if let Some(at) = wanted.iter().position(|name| name == *first) {
            diagnostic = diagnostic.label(checker.signature(def.methods[at]).span, "asked for here");
        }
        let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
        checker.report(diagnostic.help(format!("add {}", names.join(" and "))));
    }
    // An impl that lacks a function has been reported: what it is for still has the trait.
    found.methods = given.into_iter().zip(&def.methods).map(|(id, wanted)| id.unwrap_or(*wanted)).collect();
}

fn report_extra_method(checker: &mut ModuleChecker<'_>, def: &typed::Trait, wanted: &[String], name: &ast::Ident) {
    let help = match closest(&name.name, wanted.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "declare it outside of the `impl`, or add it to the trait".to_owned(),
    };
    let message = format!("expected a function of the trait `{}`, found `{}`", def.name, name.name);
    checker.report(
        Diagnostic::error(codes::EXTRA_METHOD, name.span, message)
            .label(def.name_span, "the trait is declared here")
            .help(help),
    );
}

/// The function of an impl has the signature that the trait asks for.
fn compare_method(checker: &mut ModuleChecker<'_>, of: &typed::Impl, wanted: FnId, given: &Signature) {
    let wanted = checker.signature(wanted).clone();
    let n_trait = of.trait_ref.args.len();
    let n_own = given.generics.len() - of.generics.len();
    let own = given.generics.iter().enumerate().skip(of.generics.len()).map(|(at, generic)| generic.as_arg(at));
    let args = std::iter::once(GenericArg::Type(of.target.clone())).chain(of.trait_ref.args.iter().cloned()).chain(own);
    let at_impl = Substitution::new(args.collect());
    let of_trait = &wanted.generics[1 + n_trait..];
    let own = &given.generics[of.generics.len()..];
    let same_generics = of_trait.len() == n_own
        && of_trait.iter().zip(own).all(|(a, b)| {
            let traits: Option<Vec<TraitRef>> = a.traits.iter().map(|of| at_impl.trait_ref(of)).collect();
            a.kind == b.kind && traits.as_ref() == Some(&b.traits)
        });
    let params: Vec<Type> = wanted.params.iter().map(|param| at_impl.ty(&param.ty)).collect();
    let result = at_impl.ty(&wanted.result);
    let is_same = |a: &Type, b: &Type| a.has_error() || b.has_error() || a == b;
    let fits = same_generics
        && params.len() == given.params.len()
        && params.iter().zip(&given.params).all(|(wanted, given)| is_same(wanted, &given.ty))
        && is_same(&result, &given.result);
    if fits {
        return;
    }
    let mismatch = if !same_generics || params.len() != given.params.len() {
        let (wanted, found) = (params.len(), given.params.len());
        if same_generics {
            format!("expected {wanted} parameters, found {found}")
        } else {
            "expected the parameters in brackets that the trait gives it, found others".to_owned()
        }
    } else {
        let pairs = params.iter().zip(given.params.iter().map(|param| &param.ty)).chain([(&result, &given.result)]);
        let differing = pairs.into_iter().find(|(wanted, found)| !is_same(wanted, found));
        let shown = differing.map(|(wanted, found)| (checker.show_in(given, wanted), checker.show_in(given, found)));
        shown.map_or_else(String::new, |(wanted, found)| format!("expected `{wanted}`, found `{found}`"))
    };
    let message = format!("{mismatch} in the function `{}` of the trait", given.name);
    checker.report(
        Diagnostic::error(codes::METHOD_SIGNATURE, given.span, message)
            .label(wanted.span, "asked for here")
            .help("write the signature of the trait, with the type of the `impl` for `Self`"),
    );
}

/// Whether impls can be told apart by this target and decide their parameters by it; reports it if not.
fn is_fit_target(
    checker: &mut ModuleChecker<'_>,
    generics: &[Generic],
    of: &TraitRef,
    target: &Type,
    span: Span,
) -> bool {
    let mut used: BTreeSet<u32> = BTreeSet::new();
    let mut has_formula = false;
    let mut args = of.args.clone();
    args.push(GenericArg::Type(target.clone()));
    for arg in &mut args {
        if let Some(ty) = arg.as_type() {
            ty.each_param(&mut |id| {
                used.insert(id.0);
            });
        }
        arg.each_dim_mut(&mut |dim| match dim.as_atom() {
            Some(Atom::Size(id) | Atom::Pack(id)) => {
                used.insert(id.0);
            }
            Some(Atom::Value(_) | Atom::Runtime(_) | Atom::Floor(..)) => has_formula = true,
            None => has_formula |= dim.as_constant().is_none(),
        });
    }
    let n_packs = target.dims().iter().filter(|dim| dim.as_pack().is_some()).count();
    let unused = (0..generics.len()).find(|at| !used.contains(&(*at as u32)));
    let (message, help) = if has_formula || n_packs > 1 {
        let message = "expected sizes that are parameters or integers in the type of an `impl`, found others";
        (message.to_owned(), "give each extent a parameter of its own: `impl[N] Area for f64[N]`".to_owned())
    } else if let Some(at) = unused {
        let name = &generics[at].name;
        let shown = bounds::with_generics(checker, generics, |names| names.ty(target));
        let message = format!("expected a type that decides the parameter `{name}` of the `impl`, found `{shown}`");
        (message, format!("leave `{name}` out, or use it in the type"))
    } else {
        return true;
    };
    checker.report(Diagnostic::error(codes::IMPL_TARGET, span, message).help(help));
    false
}

/// Two impls of a trait must not be for one type.
fn report_overlap(checker: &mut ModuleChecker<'_>, found: &typed::Impl) -> bool {
    let Some(other) = checker.impls.iter().find(|other| super::overlap::may_overlap(other, found)) else {
        return false;
    };
    let other_span = other.span;
    let name = &checker.traits[found.trait_ref.def.0 as usize].name;
    let message = format!("expected one `impl` of the trait `{name}` for each type, found a second that overlaps");
    checker.report(
        Diagnostic::error(codes::OVERLAPPING_IMPLS, found.span, message).label(other_span, "the first is here").help(
            "impls are told apart by structure and element types, not by sizes: remove one, or make its type narrower",
        ),
    );
    true
}

/// A word for a type, for the names of the functions of its impls.
fn head_name(of: Declarations<'_>, ty: &Type) -> String {
    match ty {
        Type::Scalar(crate::types::Scalar::Of(elem)) => elem.name().to_owned(),
        Type::Tensor { elem, dims } => format!("{}_r{}", head_name(of, elem), dims.len()),
        Type::Tuple(parts) => {
            let parts: String = parts.iter().map(|part| format!("_{}", head_name(of, part))).collect();
            format!("t{parts}")
        }
        Type::Struct(ty) => of.structs.get(ty.def.0 as usize).map_or_else(String::new, |def| def.name.clone()),
        Type::Enum(ty) => of.enums.get(ty.def.0 as usize).map_or_else(String::new, |def| def.name.clone()),
        Type::Error | Type::Never | Type::Scalar(_) | Type::Function(_) | Type::Param(_) => "x".to_owned(),
    }
}
