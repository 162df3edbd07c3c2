//! Trait bounds: whether types have the traits that declarations ask for, found out when all impls and all bodies are known.

use cotan_syntax::{Diagnostic, Span};

use super::ModuleChecker;
use super::type_exprs::{self, WantedTraits};
use crate::codes;
use crate::dims::GenericId;
use crate::instances::impls::select;
use crate::show::Names;
use crate::types::{Generic, GenericArg, GenericKind, Scalar, Substitution, TraitRef, Type};
use crate::unify::ScalarVars;

/// How deep impls may ask for other impls; types that need more are not sensible.
const MAX_DEPTH: usize = 64;

/// A trait that a type lacks.
struct Lack {
    ty: Type,
    /// The trait as text.
    wanted: String,
    help: String,
}

/// Reports every type argument that lacks a trait.
pub(super) fn check_wanted_traits(checker: &mut ModuleChecker<'_>) {
    let mut reported: Vec<Span> = Vec::new();
    for wanted in std::mem::take(&mut checker.wanted_traits) {
        let at_use = Substitution::new(wanted.args.clone());
        for (at, (generic, arg)) in wanted.wanted.iter().zip(&wanted.args).enumerate() {
            if let Some(lack) = lack_of(checker, (&wanted.wanted, at), arg, &at_use, &wanted.generics, 0)
                && !reported.contains(&wanted.span)
            {
                reported.push(wanted.span);
                report_lack(checker, &wanted, generic, &lack);
            }
        }
    }
}

fn report_lack(checker: &mut ModuleChecker<'_>, wanted: &WantedTraits, generic: &Generic, lack: &Lack) {
    let shown = with_generics(checker, &wanted.generics, |names| names.ty(&lack.ty));
    let message = format!(
        "expected a type with the trait `{}` for `{}` of `{}`, found `{shown}`",
        lack.wanted, generic.name, wanted.name
    );
    let help = lack.help.replace("{}", &shown);
    checker.report(Diagnostic::error(codes::LACKS_TRAIT, wanted.span, message).help(help));
}

/// The first trait that an argument lacks of those that a parameter asks for.
fn lack_of(
    checker: &ModuleChecker<'_>,
    (declared, at): (&[Generic], usize),
    arg: &GenericArg,
    at_use: &Substitution,
    generics: &[Generic],
    depth: usize,
) -> Option<Lack> {
    let ty = arg.as_type().filter(|ty| !ty.has_error())?;
    let generic = &declared[at];
    if generic.kind == (GenericKind::Type { is_differentiable: true }) && generic.tangent_of.is_none() {
        let lack = |help: String| Some(Lack { ty: ty.clone(), wanted: "Differentiable".to_owned(), help });
        if !checker.is_differentiable(&ty, generics) {
            return lack("the types with the trait `Differentiable` have floats in them".to_owned());
        }
        let has_tangent = declared.iter().any(|other| other.tangent_of == Some(GenericId(at as u32)));
        if !has_tangent && type_exprs::tangent_in(checker, &ty, generics) != ty {
            let help = "`{}` has leaves without a derivative: let the signature say `tangent[{T}]` for its gradient";
            return lack(help.replace("{T}", &generic.name));
        }
    }
    let wanted = generic.traits.iter().filter_map(|of| at_use.trait_ref(of));
    wanted.into_iter().find_map(|of| lack_of_trait(checker, &ty, &of, generics, depth))
}

/// What keeps a type from having a trait of the program.
fn lack_of_trait(
    checker: &ModuleChecker<'_>,
    ty: &Type,
    of: &TraitRef,
    generics: &[Generic],
    depth: usize,
) -> Option<Lack> {
    if param_of(ty).and_then(|at| generics.get(at)).is_some_and(|generic| generic.traits.contains(of)) {
        return None;
    }
    let name = with_generics(checker, generics, |names| names.trait_ref(&checker.traits[of.def.0 as usize].name, of));
    let lack = |help: String| Some(Lack { ty: ty.clone(), wanted: name.clone(), help });
    let Some((at, known)) = select(&checker.impls, of, ty) else {
        return match param_of(ty).and_then(|at| generics.get(at)) {
            Some(generic) => lack(format!("add the trait to the bounds of `{}`: `{0}: {name}`", generic.name)),
            None => lack(format!("write `impl {name} for {{}} {{ ... }}`")),
        };
    };
    let found = &checker.impls[at];
    let args: Vec<GenericArg> =
        known.into_iter().enumerate().map(|(k, arg)| arg.unwrap_or_else(|| found.generics[k].as_arg(k))).collect();
    let at_impl = Substitution::new(args.clone());
    if at_impl.ty(&found.target) != *ty || at_impl.trait_ref(&found.trait_ref).as_ref() != Some(of) {
        let target = with_generics(checker, &found.generics, |names| names.ty(&found.target));
        return lack(format!("the `impl` is for `{target}`: the sizes must be equal, and known to be"));
    }
    if depth >= MAX_DEPTH {
        return lack("the impls ask for one another without end".to_owned());
    }
    let bounds = found.generics.iter().zip(&args);
    let all = &found.generics;
    bounds.enumerate().find_map(|(at, (_, arg))| lack_of(checker, (all, at), arg, &at_impl, generics, depth + 1))
}

/// Shows types that are made of these parameters.
pub(super) fn with_generics(
    checker: &ModuleChecker<'_>,
    generics: &[Generic],
    show: impl FnOnce(&Names<'_>) -> String,
) -> String {
    let structs = |at: u32| checker.struct_name(at);
    let enums = |at: u32| checker.enum_name(at);
    let vars = ScalarVars::default();
    show(&Names { generics, structs: &structs, enums: &enums, locals: &|_| "_".to_owned(), vars: &vars })
}

/// The position of the parameter that a type is.
pub(super) fn param_of(ty: &Type) -> Option<usize> {
    match ty {
        Type::Param(id) | Type::Scalar(Scalar::Param(id)) => Some(id.0 as usize),
        Type::Error
        | Type::Never
        | Type::Scalar(Scalar::Of(_) | Scalar::Var(_))
        | Type::Tensor { .. }
        | Type::Tuple(_)
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Function(_) => None,
    }
}
