//! Parameters in brackets as they are declared: sizes, types with their traits, shape packs.

use cotan_ir::Elem;
use cotan_syntax::Diagnostic;
use cotan_syntax::ast::{self, TypeExpr, TypeKind};

use super::type_scope::TypeScope;
use super::{Def, ModuleChecker, sizes, type_exprs};
use crate::codes;
use crate::suggest::closest;
use crate::types::{Bound, Generic, GenericArg, GenericKind, TraitRef, Type};

impl ModuleChecker<'_> {
    /// The parameters in brackets of a declaration. One without bound is a size, unless it stands as a type in one of
    /// `uses`, the types of the declaration: then it is any type.
    pub(super) fn generics(&mut self, params: &[ast::GenericParam], uses: &[&TypeExpr]) -> Vec<Generic> {
        more_generics(self, Vec::new(), params, uses, None)
    }

    /// A trait with its parameters as it is written: `Area`, `Scale[f64]`.
    pub(super) fn trait_ref(&mut self, written: &TypeExpr, scope: &mut TypeScope<'_>) -> Option<TraitRef> {
        let name = bound_name(written);
        let Some(found) = bound_path(written).and_then(|path| self.follow_path(path)) else {
            if !name.is_empty() {
                let help = match closest(name, self.traits.iter().map(|of| of.name.as_str())) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("declare it: `trait {name} {{ fn f(s: Self) -> f64 }}`"),
                };
                let message = format!("expected a trait, found the unknown name `{name}`");
                self.report(Diagnostic::error(codes::NOT_A_TRAIT, written.span, message).help(help));
            }
            return None;
        };
        let Def::Trait(id) = found.def else {
            if matches!(found.def, Def::Unusable) {
                return None;
            }
            let message = format!("expected a trait, found `{name}`, which is none");
            self.report(
                Diagnostic::error(codes::NOT_A_TRAIT, written.span, message)
                    .label(found.definition, "declared here")
                    .help("traits of the program are declared with `trait`"),
            );
            return None;
        };
        let args: &[ast::Arg] = match &written.kind {
            TypeKind::Apply { args, .. } => args,
            TypeKind::Path(_) | TypeKind::Tuple(_) | TypeKind::Function { .. } | TypeKind::Error => &[],
        };
        let generics = self.traits[id.0 as usize].generics.clone();
        if !type_exprs::has_argument_count(self, name, &generics, args.len(), written.span) {
            return None;
        }
        let args: Option<Vec<GenericArg>> = generics
            .iter()
            .zip(args)
            .map(|(generic, arg)| type_exprs::generic_arg(self, generic, &arg.value, scope))
            .collect();
        Some(TraitRef { def: id, args: args? })
    }
}

/// The parameters of a declaration inside of one that has parameters of its own.
pub(super) fn more_generics(
    checker: &mut ModuleChecker<'_>,
    outer: Vec<Generic>,
    params: &[ast::GenericParam],
    uses: &[&TypeExpr],
    self_type: Option<&Type>,
) -> Vec<Generic> {
    let mut generics = outer;
    for param in params {
        let name = &param.name.name;
        if generics.iter().any(|generic| generic.name == *name) {
            checker.report_twice(&param.name, "parameter");
        }
        let kind = if param.pack.is_some() {
            GenericKind::Pack
        } else if param.bounds.is_empty() && uses.iter().any(|ty| is_type_in(name, ty)) {
            GenericKind::Type { is_differentiable: false }
        } else {
            generic_kind(checker, &param.bounds, name)
        };
        if let (GenericKind::Pack, Some(bound)) = (kind, param.bounds.first()) {
            let message = format!("expected no bound after the shape pack `..{name}`, found one");
            checker.report(
                Diagnostic::error(codes::UNKNOWN_BOUND, bound.span, message)
                    .help(format!("write `..{name}`: a pack is made of sizes")),
            );
        }
        let mut scope = TypeScope::new(generics.clone());
        scope.self_type = self_type.cloned();
        let traits = match kind {
            GenericKind::Size | GenericKind::Pack => Vec::new(),
            GenericKind::Scalar(_) | GenericKind::Type { .. } => {
                param.bounds.iter().filter_map(|bound| trait_bound(checker, bound, &mut scope)).collect()
            }
        };
        generics.push(Generic { name: name.clone(), kind, traits, tangent_of: None });
    }
    let has_tangent = |generic: &Generic| {
        let is_differentiable = generic.kind == (GenericKind::Type { is_differentiable: true });
        is_differentiable && generic.tangent_of.is_none() && uses.iter().any(|ty| names_tangent(&generic.name, ty))
    };
    let tangents = generics.iter().enumerate().filter(|(_, generic)| has_tangent(generic));
    let tangents: Vec<Generic> = tangents.map(|(at, generic)| Generic::tangent(&generic.name, at)).collect();
    generics.extend(tangents);
    generics
}

/// What a parameter may stand for, by the traits of the language among its bounds.
fn generic_kind(checker: &mut ModuleChecker<'_>, bounds: &[TypeExpr], param: &str) -> GenericKind {
    let mut kind = None;
    for bound in bounds {
        let name = bound_name(bound);
        let found = match (trait_def(checker, bound), Bound::from_name(name)) {
            (Some(Def::Trait(_) | Def::Unusable), _) => GenericKind::Type { is_differentiable: false },
            (_, Some(Bound::Differentiable)) => GenericKind::Type { is_differentiable: true },
            (_, Some(found)) => GenericKind::Scalar(found),
            (_, None) if name == "nat" => GenericKind::Size,
            (_, None) => report_unknown_bound(checker, bound, name, param),
        };
        kind = match (kind, found) {
            (None, found) => Some(found),
            (Some(old), found) => Some(both_kinds(checker, old, found, bound, param)),
        };
    }
    kind.unwrap_or(GenericKind::Size)
}

/// What a parameter with two bounds may stand for.
fn both_kinds(
    checker: &mut ModuleChecker<'_>,
    old: GenericKind,
    found: GenericKind,
    bound: &TypeExpr,
    param: &str,
) -> GenericKind {
    let implied = match (old, found) {
        (GenericKind::Type { is_differentiable: a }, GenericKind::Type { is_differentiable: b }) => {
            return GenericKind::Type { is_differentiable: a || b };
        }
        (GenericKind::Scalar(scalar), GenericKind::Type { is_differentiable })
        | (GenericKind::Type { is_differentiable }, GenericKind::Scalar(scalar))
            if !is_differentiable || scalar.implies(Bound::Differentiable) =>
        {
            Some(scalar)
        }
        (GenericKind::Scalar(a), GenericKind::Scalar(b)) if a.implies(b) => Some(a),
        (GenericKind::Scalar(a), GenericKind::Scalar(b)) if b.implies(a) => Some(b),
        (GenericKind::Size | GenericKind::Scalar(_) | GenericKind::Type { .. } | GenericKind::Pack, _) => None,
    };
    if let Some(scalar) = implied {
        return GenericKind::Scalar(scalar);
    }
    let message = format!("expected bounds of `{param}` of which one has the other, found two that don't");
    checker.report(
        Diagnostic::error(codes::UNKNOWN_BOUND, bound.span, message)
            .help("write the narrower one alone: `Float` and `Integer` have `Numeric`, which has `Ord` and `Eq`"),
    );
    old
}

fn report_unknown_bound(checker: &mut ModuleChecker<'_>, bound: &TypeExpr, name: &str, param: &str) -> GenericKind {
    if matches!(bound.kind, TypeKind::Error) {
        return GenericKind::Size;
    }
    let mut known: Vec<&str> = checker.traits.iter().map(|of| of.name.as_str()).collect();
    known.push("nat");
    Bound::ALL.into_iter().for_each(|bound| known.push(bound.as_str()));
    let help = match closest(name, known.into_iter()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write `{param}` for a size, or `{param}: Float` for an element type"),
    };
    let message = format!("expected `nat` or a trait as the bound of `{param}`, found `{name}`");
    checker.report(Diagnostic::error(codes::UNKNOWN_BOUND, bound.span, message).help(help));
    // `N: i64` was meant as a size, everything else as a trait.
    if Elem::from_name(name).is_some() { GenericKind::Size } else { GenericKind::Scalar(Bound::Float) }
}

/// What a bound names, without a word on what it does not.
fn trait_def(checker: &mut ModuleChecker<'_>, bound: &TypeExpr) -> Option<Def> {
    let path = bound_path(bound)?;
    let n_uses = checker.facts.definitions.len();
    let n_errors = checker.diagnostics.len();
    let found = checker.follow_path(path).map(|found| found.def);
    checker.facts.definitions.truncate(n_uses);
    checker.take_back(n_errors);
    found
}

/// The trait of the program that a bound names, if it names one.
fn trait_bound(checker: &mut ModuleChecker<'_>, bound: &TypeExpr, scope: &mut TypeScope<'_>) -> Option<TraitRef> {
    match trait_def(checker, bound) {
        Some(Def::Trait(_)) => checker.trait_ref(bound, scope),
        Some(
            Def::Function(_)
            | Def::Pending
            | Def::Gradients(_)
            | Def::Struct(_)
            | Def::Enum(_)
            | Def::Alias(_)
            | Def::Constant(_)
            | Def::Module(_)
            | Def::Unusable,
        )
        | None => None,
    }
}

/// The path of the trait that a bound stands for.
fn bound_path(bound: &TypeExpr) -> Option<&ast::Path> {
    match &bound.kind {
        TypeKind::Path(path) => Some(path),
        TypeKind::Apply { base, .. } => bound_path(base),
        TypeKind::Tuple(_) | TypeKind::Function { .. } | TypeKind::Error => None,
    }
}

/// The last name of the path of a bound.
fn bound_name(bound: &TypeExpr) -> &str {
    bound_path(bound).and_then(|path| path.segments.last()).map_or("", |segment| segment.name.as_str())
}

/// Whether a type has the tangent of a parameter in it.
fn names_tangent(param: &str, ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeKind::Apply { base, args, .. } if type_exprs::is_tangent(base) => {
            args.iter().any(|arg| sizes::names_in_expr(&arg.value).iter().any(|name| name == param))
        }
        TypeKind::Apply { base, .. } => names_tangent(param, base),
        TypeKind::Tuple(parts) => parts.iter().any(|part| names_tangent(param, part)),
        TypeKind::Function { params, result } => {
            names_tangent(param, result) || params.iter().any(|ty| names_tangent(param, ty))
        }
        TypeKind::Path(_) | TypeKind::Error => false,
    }
}

/// Whether a name stands as a type in a type, and not as a size.
fn is_type_in(name: &str, ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeKind::Path(path) => matches!(path.segments.as_slice(), [segment] if segment.name == name),
        TypeKind::Apply { base, .. } => is_type_in(name, base) || names_tangent(name, ty),
        TypeKind::Tuple(parts) => parts.iter().any(|part| is_type_in(name, part)),
        TypeKind::Function { params, result } => {
            is_type_in(name, result) || params.iter().any(|param| is_type_in(name, param))
        }
        TypeKind::Error => false,
    }
}
