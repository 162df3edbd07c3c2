//! Bodies of functions, each with the result that is declared for it or that it has.

use cotan_ir::Elem;
use cotan_syntax::{Span, ast};

use super::infer::Strictness;
use super::locals::Frame;
use super::{BodyChecker, ModuleChecker, finish, loss_results, sizes};
use crate::modules::ModuleId;
use crate::typed::{Body, FnId, FunctionBody};
use crate::types::Type;

/// A body to check.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    /// The module that it stands in.
    pub(super) module: ModuleId,
    /// Whose body it is.
    pub(super) function: FnId,
    /// The declaration.
    pub(super) item: &'a ast::Function,
    /// Whether the body decides the type of the result: it is the loss under `@grad`, at this place.
    /// What stands beside the loss is declared.
    pub(super) inferred_for: Option<Span>,
}

/// Checks all bodies, in the order of the source.
pub(super) fn check(module: &mut ModuleChecker<'_>) {
    for at in 0..module.plans.len() {
        let plan = module.plans[at];
        module.current = plan.module;
        let n_errors = module.n_errors;
        let (body, result) = function_body(BodyChecker::new(module, plan.function), plan);
        if plan.item.signature.result.is_none() && module.n_errors == n_errors {
            note_result(module, plan, &body.value.ty);
        }
        module.bodies[plan.function.0 as usize] = Some(FunctionBody::Source(body));
        if plan.inferred_for.is_some() {
            module.signatures[plan.function.0 as usize].result = result;
        }
    }
    for (base, diagnostic) in std::mem::take(&mut module.result_errors) {
        if !module.signature(base).result.has_error() {
            module.report(diagnostic);
        }
    }
}

/// Notes the type of a body whose function has none for its result.
fn note_result(module: &mut ModuleChecker<'_>, plan: Plan<'_>, ty: &Type) {
    if ty.has_error() || *ty == Type::Never {
        return;
    }
    let text = if ty.is_unit() { "()".to_owned() } else { module.show_in(module.signature(plan.function), ty) };
    module.found_results.push((plan.item.signature.span, text));
}

/// Checks a whole body. Gives it with the type of its result.
fn function_body(mut checker: BodyChecker<'_, '_>, plan: Plan<'_>) -> (Body, Type) {
    let signature = checker.module.signature(plan.function).clone();
    checker.is_kernel = plan.item.form == ast::FunctionForm::Kernel;
    for param in &signature.params {
        checker.locals.bind(&param.name, param.span, param.ty.clone(), param.mutable);
    }
    if signature.prints {
        checker.locals.push("$output", signature.name_span, Type::of(Elem::I64), true);
    }
    for _ in 0..signature.n_open_sizes {
        checker.infer.sizes.fresh(signature.span);
    }
    let declared = plan.inferred_for.is_none().then(|| signature.result.clone());
    checker.locals.frames = vec![Frame { result: declared.clone(), may_print: signature.prints, ..Frame::default() }];
    let value = checker.expr(&plan.item.body);
    let (value, result) = match (declared, plan.inferred_for) {
        (Some(declared), _) => {
            let origin = plan.item.signature.result.as_ref().map(|ty| (ty.span, "the declared result"));
            let subject = format!("the result of `{}`", signature.name.trim_end_matches(".primal"));
            let wanted = sizes::without_holes(&mut checker.infer, &declared, &value.ty, signature.n_open_sizes);
            (checker.fit_as(value, &wanted, &subject, Strictness::Exact, origin), declared)
        }
        (None, attr) => {
            let value = match checker.locals.frames.first().and_then(|frame| frame.result.clone()) {
                // The values of `return` decide; the end of the body must agree.
                Some(returned) => checker.fit(value, &returned, "the end of the body"),
                None => value,
            };
            let value = loss_results::loss(&mut checker, value, &signature, plan.item, attr);
            let mut result = checker.infer.vars.resolve_type(&value.ty);
            if let (Type::Tuple(found), Type::Tuple(declared)) = (&mut result, &signature.result) {
                found[1..].clone_from_slice(&declared[1..]);
            }
            (value, result)
        }
    };
    let mut result = result;
    let vars = &checker.infer.vars;
    result.each_scalar_mut(&mut |scalar| *scalar = vars.decide(*scalar).unwrap_or(*scalar));
    (finish::finish(checker, value), result)
}
