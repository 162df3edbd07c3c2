//! `@vjp_for(f)` and `@jvp_for(f)`: functions that replace the derived rule of another one.
//!
//! The types of a rule follow from the signature of `f` alone; the names of its generics are its own, so what each
//! stands for is found by matching the parameters.

use cotan_syntax::{Diagnostic, Span};

use super::attributes::RuleAttr;
use super::{Def, FnId, ModuleChecker, Signature, declared};
use crate::codes;
use crate::instances::impls::Binding;
use crate::suggest::closest;
use crate::typed::{self, Callable, CallableKind, DerivativeMode, forms};
use crate::types::{Generic, GenericArg, GenericKind, Scalar, Substitution, Type};

/// The types of a rule, over the generics of the function that it is for.
struct RuleTypes {
    params: Vec<(String, Type)>,
    result: Type,
}

/// Gives every function the rules that were declared for it. All signatures are known.
pub(super) fn resolve_rules(checker: &mut ModuleChecker<'_>) {
    for (module, rule, attr) in std::mem::take(&mut checker.rules) {
        checker.current = module;
        if let Some(of) = rule_target(checker, &attr) {
            set_rule(checker, of, rule, &attr);
        }
    }
}

/// The function that a rule is for; reports a name that can't have one.
fn rule_target(checker: &mut ModuleChecker<'_>, attr: &RuleAttr) -> Option<FnId> {
    let (first, rest) = attr.of.split_first()?;
    let span = attr.of.last().map_or(first.span, |last| first.span.to(last.span));
    let found = checker.follow(&first.name, first.span, |at| rest.get(at));
    let of = match found.as_ref().filter(|found| found.n_dots == rest.len()).map(|found| found.def) {
        Some(Def::Function(of)) => of,
        Some(Def::Unusable | Def::Pending) => return None,
        Some(
            Def::Gradients(_)
            | Def::Struct(_)
            | Def::Enum(_)
            | Def::Alias(_)
            | Def::Constant(_)
            | Def::Trait(_)
            | Def::Module(_),
        )
        | None => {
            let message = format!("expected a function of this program in `@{}`, found `{}`", attr.name(), attr.of());
            let help = match closest(&first.name, checker.declared_names()) {
                Some(near) if near != first.name => format!("did you mean `{near}`?"),
                Some(_) | None => "name the function whose derivative the body gives".to_owned(),
            };
            checker.report(Diagnostic::error(codes::RULE_TARGET, span, message).help(help));
            return None;
        }
    };
    let target = checker.signature(of).clone();
    let types = target.params.iter().map(|param| &param.ty);
    if types.chain([&target.result]).any(Type::has_error) {
        return None;
    }
    let is_smooth = |ty: &Type| checker.is_differentiable(ty, &target.generics);
    let problem = if attr.mode == DerivativeMode::Forward && target.n_open_sizes > 0 {
        Some(("gives a size that only the run knows", "say the size of the result, or give it a `@vjp_for`"))
    } else if !is_smooth(&target.result) {
        Some(("gives nothing with a derivative", "only results with floats in them have derivatives"))
    } else if !target.params.iter().any(|param| !param.nodiff && is_smooth(&param.ty)) {
        Some(("has no parameter with a derivative", "only parameters with floats in them have derivatives"))
    } else {
        None
    };
    let Some((why, help)) = problem else { return Some(of) };
    let message = format!("expected a function that can have a rule of its own, found `{}`, which {why}", attr.of());
    checker.report(
        Diagnostic::error(codes::RULE_TARGET, attr.span, message).label(target.name_span, "declared here").help(help),
    );
    None
}

/// Checks the signature of a rule, and that it is the only one.
fn set_rule(checker: &mut ModuleChecker<'_>, of: FnId, rule: FnId, attr: &RuleAttr) {
    let (target, found) = (checker.signature(of).clone(), checker.signature(rule).clone());
    let wanted = rule_types(checker, &target, attr.mode);
    let types = found.params.iter().map(|param| &param.ty);
    if types.chain([&found.result]).any(Type::has_error) {
        return;
    }
    let Some(generics) = match_rule(checker, &target, &found, &wanted, attr) else { return };
    write_tangents(checker, rule, target.params.len(), attr.mode);
    let callable = Callable {
        span: attr.span,
        params: wanted.params.into_iter().map(|(_, ty)| ty).collect(),
        result: wanted.result,
        kind: CallableKind::Function { function: rule, generics },
    };
    let rules = &mut checker.signatures[of.0 as usize].rules;
    let slot = match attr.mode {
        DerivativeMode::Reverse => &mut rules.vjp,
        DerivativeMode::Forward => &mut rules.jvp,
    };
    let Some(first) = slot else {
        *slot = Some(callable);
        return;
    };
    let first = first.span;
    let message = format!("expected one `@{}` for `{}`, found a second", attr.name(), target.name);
    checker.report(
        Diagnostic::error(codes::RULE_TWICE, attr.span, message)
            .label(first, "the first stands here")
            .help("leave one of them out"),
    );
}

/// Where a rule names a struct for a tangent or cotangent, the tangent of the struct is meant.
fn write_tangents(checker: &mut ModuleChecker<'_>, rule: FnId, n_args: usize, mode: DerivativeMode) {
    let mut signature = checker.signature(rule).clone();
    // The result of the function stands before its cotangent.
    let n_values = n_args + usize::from(mode == DerivativeMode::Reverse);
    for param in &mut signature.params[n_values..] {
        param.ty = checker.declarations().tangent(&param.ty);
    }
    signature.result = match (mode, signature.result.parts()) {
        (DerivativeMode::Forward, [value, tangent]) => {
            Type::Tuple(vec![value.clone(), checker.declarations().tangent(tangent)])
        }
        (DerivativeMode::Forward | DerivativeMode::Reverse, _) => checker.declarations().tangent(&signature.result),
    };
    checker.signatures[rule.0 as usize] = signature;
}

/// The signature that a rule must have.
fn rule_types(checker: &ModuleChecker<'_>, target: &Signature, mode: DerivativeMode) -> RuleTypes {
    let mut params: Vec<(String, Type)> =
        target.params.iter().map(|param| (param.name.clone(), param.ty.clone())).collect();
    let is_smooth = |param: &&typed::Param| !param.nodiff && checker.is_differentiable(&param.ty, &target.generics);
    let tangent = |param: &typed::Param| checker.declarations().tangent(&param.ty);
    let smooth = || target.params.iter().filter(is_smooth);
    let value = target.result.clone();
    let value_tangent = checker.declarations().tangent(&value);
    let result = match mode {
        DerivativeMode::Reverse => {
            params.extend([("result".to_owned(), value), ("result_cot".to_owned(), value_tangent)]);
            forms::one_or_tuple(smooth().map(tangent).collect())
        }
        DerivativeMode::Forward => {
            params.extend(smooth().map(|param| (format!("{}_tan", param.name), tangent(param))));
            Type::Tuple(vec![value, value_tangent])
        }
    };
    RuleTypes { params, result }
}

/// What the generics of a rule stand for; reports a signature that does not fit.
fn match_rule(
    checker: &mut ModuleChecker<'_>,
    target: &Signature,
    found: &Signature,
    wanted: &RuleTypes,
    attr: &RuleAttr,
) -> Option<Vec<GenericArg>> {
    let n = wanted.params.len();
    if found.params.len() != n {
        let message = format!("expected {n} parameters of a rule for `{}`, found {}", target.name, found.params.len());
        return report_rule(checker, target, wanted, found.span, message, attr);
    }
    let mut known: Vec<Option<GenericArg>> = vec![None; found.generics.len()];
    let mut binding = Binding::new(&found.generics);
    for ((_, wanted), found) in wanted.params.iter().zip(&found.params) {
        learn(&found.ty, wanted, &mut known);
        binding.ty(&found.ty, wanted);
    }
    let known: Vec<Option<GenericArg>> =
        known.into_iter().zip(binding.known).map(|(known, bound)| known.or(bound)).collect();
    for (k, generic) in found.generics.iter().enumerate() {
        let is_right = match (&known[k], generic.kind) {
            (Some(GenericArg::Size(_)), GenericKind::Size) => true,
            (Some(GenericArg::Scalar(scalar)), GenericKind::Scalar(bound)) => match scalar {
                Scalar::Of(elem) => bound.admits(*elem),
                Scalar::Param(id) => match target.generics.get(id.0 as usize).map(|generic| generic.kind) {
                    Some(GenericKind::Scalar(other)) => other.implies(bound),
                    Some(GenericKind::Size | GenericKind::Type { .. } | GenericKind::Pack) | None => false,
                },
                Scalar::Var(_) => false,
            },
            (Some(GenericArg::Type(_)), GenericKind::Type { .. }) => true,
            (Some(GenericArg::Pack(_)), GenericKind::Pack) => true,
            (
                Some(GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_)) | None,
                _,
            ) => false,
        };
        if !is_right {
            let message = format!(
                "expected generics of the rule that the parameters of `{}` decide, found `{}`",
                target.name, generic.name
            );
            return report_rule(checker, target, wanted, found.span, message, attr);
        }
    }
    let generics: Vec<GenericArg> = known.into_iter().flatten().collect();
    let at = Substitution::new(generics.clone());
    for ((_, wanted_ty), param) in wanted.params.iter().zip(&found.params) {
        let ty = at.ty(&param.ty);
        if !declared::is_gradient_type(checker, &ty, wanted_ty) {
            let message = format!(
                "expected `{}` of the rule to be `{}`, found `{}`",
                param.name,
                checker.show_in(target, wanted_ty),
                checker.show_in(found, &param.ty)
            );
            return report_rule(checker, target, wanted, param.span, message, attr);
        }
    }
    if !declared::is_gradient_type(checker, &at.ty(&found.result), &wanted.result) {
        let message = format!(
            "expected the result `{}` of the rule, found `{}`",
            checker.show_in(target, &wanted.result),
            checker.show_in(found, &found.result)
        );
        return report_rule(checker, target, wanted, found.span, message, attr);
    }
    Some(generics)
}

fn report_rule(
    checker: &mut ModuleChecker<'_>,
    target: &Signature,
    wanted: &RuleTypes,
    span: Span,
    message: String,
    attr: &RuleAttr,
) -> Option<Vec<GenericArg>> {
    let params: Vec<String> =
        wanted.params.iter().map(|(name, ty)| format!("{name}: {}", checker.show_in(target, ty))).collect();
    let generics: Vec<String> = target.generics[..target.n_written_generics].iter().map(show_generic).collect();
    let generics = if generics.is_empty() { String::new() } else { format!("[{}]", generics.join(", ")) };
    let result = checker.show_in(target, &wanted.result);
    let help = format!("a rule for it is `fn rule{generics}({}) -> {result}`", params.join(", "));
    checker.report(
        Diagnostic::error(codes::RULE_SIGNATURE, span, message)
            .label(attr.span, "because of this")
            .label(target.name_span, "declared here")
            .help(help),
    );
    None
}

fn show_generic(generic: &Generic) -> String {
    match generic.kind {
        GenericKind::Size | GenericKind::Type { .. } => generic.name.clone(),
        GenericKind::Pack => format!("..{}", generic.name),
        GenericKind::Scalar(bound) => format!("{}: {}", generic.name, bound.as_str()),
    }
}

/// Learns what generics in `found` stand for where it is to be `wanted`. Whether the types fit is looked at later.
fn learn(found: &Type, wanted: &Type, known: &mut [Option<GenericArg>]) {
    let dims = |ty: &Type| {
        let mut dims = Vec::new();
        ty.clone().each_dim_mut(&mut |dim| dims.push(dim.clone()));
        dims
    };
    let scalars = |ty: &Type| {
        let mut scalars = Vec::new();
        ty.clone().each_scalar_mut(&mut |scalar| scalars.push(*scalar));
        scalars
    };
    for (found, wanted) in dims(found).iter().zip(dims(wanted)) {
        if let Some(crate::dims::Atom::Size(id)) = found.as_atom()
            && let Some(slot) = known.get_mut(id.0 as usize)
        {
            slot.get_or_insert(GenericArg::Size(wanted));
        }
    }
    for (found, wanted) in scalars(found).into_iter().zip(scalars(wanted)) {
        if let Scalar::Param(id) = found
            && let Some(slot) = known.get_mut(id.0 as usize)
        {
            slot.get_or_insert(GenericArg::Scalar(wanted));
        }
    }
}
