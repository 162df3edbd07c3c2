//! Traits and impls: their declarations, and whether an impl is what its trait asks for.

use std::collections::BTreeSet;

use cotan_syntax::ast::{self, Item, ItemKind};
use cotan_syntax::{Diagnostic, Span};

use super::declarations::{Owner, Plan};
use super::type_exprs::TypeScope;
use super::{ModuleChecker, Signature};
use crate::codes;
use crate::dims::Atom;
use crate::suggest::closest;
use crate::typed::{self, Declarations, FnId, FunctionBody, TraitMethod};
use crate::types::{Generic, GenericArg, GenericKind, Substitution, TraitId, TraitRef, Type};

impl<'a> ModuleChecker<'a> {
    /// The parameters of all traits, which bounds speak of.
    pub(super) fn resolve_trait_generics(&mut self) {
        for at in 0..self.trait_items.len() {
            let (module, item) = self.trait_items[at];
            self.traits[at].generics = self.within(module, |this| this.generics(&item.generics, &[]));
        }
    }

    /// Takes in the functions that traits ask for.
    pub(super) fn declare_traits(&mut self) {
        for at in 0..self.trait_items.len() {
            let (module, item) = self.trait_items[at];
            self.current = module;
            let id = TraitId(at as u32);
            let owner = Owner { generics: self.generics_in_trait(id), self_type: None };
            for method in &item.methods {
                self.report_unknown_attributes(&method.attrs, "function of a trait");
                let name = &method.signature.name;
                let known = self.traits[at].methods.clone();
                if known.iter().any(|other| self.method_name(*other) == name.name) {
                    self.report_twice(name, "function");
                    continue;
                }
                let mut signature = self.read_signature(method.doc.as_ref(), &method.signature, &owner);
                self.require_receiver(&signature);
                signature.name = format!("{}.{}", self.traits[at].name, signature.name);
                let index = known.len();
                let function =
                    self.add_function(signature, Some(FunctionBody::Required(TraitMethod { of: id, index })));
                self.traits[at].methods.push(function);
            }
        }
    }

    /// `Self` and the parameters of a trait, as the functions of the trait have them.
    fn generics_in_trait(&self, id: TraitId) -> Vec<Generic> {
        let own = &self.traits[id.0 as usize].generics;
        let args: Vec<GenericArg> = own.iter().enumerate().map(|(at, generic)| generic.as_arg(at + 1)).collect();
        let shift = Substitution::new(args.clone());
        let this = Generic {
            name: "Self".to_owned(),
            kind: GenericKind::Type { is_differentiable: false },
            traits: vec![TraitRef { def: id, args }],
        };
        let shifted = own.iter().map(|generic| Generic {
            traits: generic.traits.iter().filter_map(|of| shift.trait_ref(of)).collect(),
            ..generic.clone()
        });
        std::iter::once(this).chain(shifted).collect()
    }

    /// The first parameter of a function of a trait is the value that it is called on.
    fn require_receiver(&mut self, signature: &Signature) {
        let is_self = |param: &typed::Param| matches!(param.ty, Type::Param(id) if id.0 == 0) || param.ty.has_error();
        if signature.params.first().is_some_and(is_self) {
            return;
        }
        let message =
            format!("expected `Self` as the type of the first parameter of `{}`, found another", signature.name);
        self.report(
            Diagnostic::error(codes::NO_RECEIVER, signature.span, message)
                .help(format!("write `fn {}(s: Self, ...)`: it is called as `value.{0}(...)`", signature.name)),
        );
    }

    /// The name of a function of a trait or impl without that of its owner.
    pub(super) fn method_name(&self, id: FnId) -> &str {
        let name = &self.signature(id).name;
        name.rsplit('.').next().unwrap_or(name)
    }

    /// Takes in an impl: the bodies of its functions are checked with all others.
    pub(super) fn declare_impl(&mut self, item: &'a Item, declared: &'a ast::Impl) {
        self.report_unknown_attributes(&item.attrs, "impl");
        let generics = self.generics(&declared.generics, &[&declared.target]);
        let mut scope = TypeScope::new(generics.clone());
        let target = self.value_type(&declared.target, &mut scope);
        scope.self_type = Some(target.clone());
        let trait_ref = self.trait_ref(&declared.trait_ref, &mut scope);
        let owner = Owner { generics: generics.clone(), self_type: Some(target.clone()) };
        let span = Span::new(item.span.file, item.span.start, declared.target.span.end);
        let Some(trait_ref) = trait_ref.filter(|_| !target.has_error()) else { return };
        if !self.is_fit_target(&generics, &trait_ref, &target, declared.target.span) {
            return;
        }
        let mut found = typed::Impl { span, generics, trait_ref, target, methods: Vec::new() };
        if self.report_overlap(&found) {
            return;
        }
        self.methods_of_impl(&mut found, declared, &owner);
        self.impls.push(found);
    }

    /// The functions of an impl in the order of the trait.
    fn methods_of_impl(&mut self, found: &mut typed::Impl, declared: &'a ast::Impl, owner: &Owner) {
        let def = self.traits[found.trait_ref.def.0 as usize].clone();
        let wanted: Vec<String> = def.methods.iter().map(|id| self.method_name(*id).to_owned()).collect();
        let mut given: Vec<Option<FnId>> = vec![None; wanted.len()];
        let head = head_name(self.declarations(), &found.target);
        for item in &declared.items {
            let ItemKind::Function(function) = &item.kind else { continue };
            let name = &function.signature.name;
            let at = wanted.iter().position(|other| *other == name.name);
            let Some(at) = at else {
                self.report_extra_method(&def, &wanted, name);
                continue;
            };
            if given[at].is_some() {
                self.report_twice(name, "function");
                continue;
            }
            let hints = self.impl_hints(&item.attrs);
            let mut signature = self.read_signature(item.doc.as_ref(), &function.signature, owner);
            self.compare_method(found, def.methods[at], &signature);
            signature.name = format!("{}.{head}.{}", def.name, name.name);
            signature.hints = hints;
            let id = self.add_function(signature, None);
            let module = self.current;
            self.plans.push(Plan { module, function: id, item: function, inferred_for: None });
            given[at] = Some(id);
        }
        let missing: Vec<&String> =
            wanted.iter().zip(&given).filter(|(_, id)| id.is_none()).map(|(name, _)| name).collect();
        if let Some(first) = missing.first() {
            let message =
                format!("expected the function `{first}` of the trait `{}` in the `impl`, found none", def.name);
            let mut diagnostic = Diagnostic::error(codes::MISSING_METHOD, found.span, message);
            if let Some(at) = wanted.iter().position(|name| name == *first) {
                diagnostic = diagnostic.label(self.signature(def.methods[at]).span, "asked for here");
            }
            let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            self.report(diagnostic.help(format!("add {}", names.join(" and "))));
        }
        // An impl that lacks a function has been reported: what it is for still has the trait.
        found.methods = given.into_iter().zip(&def.methods).map(|(id, wanted)| id.unwrap_or(*wanted)).collect();
    }

    fn report_extra_method(&mut self, def: &typed::Trait, wanted: &[String], name: &ast::Ident) {
        let help = match closest(&name.name, wanted.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it outside of the `impl`, or add it to the trait".to_owned(),
        };
        let message = format!("expected a function of the trait `{}`, found `{}`", def.name, name.name);
        self.report(
            Diagnostic::error(codes::EXTRA_METHOD, name.span, message)
                .label(def.name_span, "the trait is declared here")
                .help(help),
        );
    }

    /// The function of an impl has the signature that the trait asks for.
    fn compare_method(&mut self, of: &typed::Impl, wanted: FnId, given: &Signature) {
        let wanted = self.signature(wanted).clone();
        let n_trait = of.trait_ref.args.len();
        let n_own = given.generics.len() - of.generics.len();
        let own = given.generics.iter().enumerate().skip(of.generics.len()).map(|(at, generic)| generic.as_arg(at));
        let args =
            std::iter::once(GenericArg::Type(of.target.clone())).chain(of.trait_ref.args.iter().cloned()).chain(own);
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
            let shown = differing.map(|(wanted, found)| (self.show_in(given, wanted), self.show_in(given, found)));
            shown.map_or_else(String::new, |(wanted, found)| format!("expected `{wanted}`, found `{found}`"))
        };
        let message = format!("{mismatch} in the function `{}` of the trait", given.name);
        self.report(
            Diagnostic::error(codes::METHOD_SIGNATURE, given.span, message)
                .label(wanted.span, "asked for here")
                .help("write the signature of the trait, with the type of the `impl` for `Self`"),
        );
    }

    /// Whether impls can be told apart by this target and decide their parameters by it; reports it if not.
    fn is_fit_target(&mut self, generics: &[Generic], of: &TraitRef, target: &Type, span: Span) -> bool {
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
            let shown = self.with_generics(generics, |names| names.ty(target));
            let message = format!("expected a type that decides the parameter `{name}` of the `impl`, found `{shown}`");
            (message, format!("leave `{name}` out, or use it in the type"))
        } else {
            return true;
        };
        self.report(Diagnostic::error(codes::IMPL_TARGET, span, message).help(help));
        false
    }

    /// Two impls of a trait must not be for one type.
    fn report_overlap(&mut self, found: &typed::Impl) -> bool {
        let Some(other) = self.impls.iter().find(|other| super::overlap::may_overlap(other, found)) else {
            return false;
        };
        let other_span = other.span;
        let name = &self.traits[found.trait_ref.def.0 as usize].name;
        let message = format!("expected one `impl` of the trait `{name}` for each type, found a second that overlaps");
        self.report(
            Diagnostic::error(codes::OVERLAPPING_IMPLS, found.span, message)
                .label(other_span, "the first is here")
                .help("impls are told apart by structure and element types, not by sizes: remove one, or make its type narrower"),
        );
        true
    }
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
