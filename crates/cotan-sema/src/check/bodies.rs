//! Bodies of functions, each with the result that is declared for it or that it has.

use cotan_ir::Elem;
use cotan_syntax::ast;

use super::declarations::Plan;
use super::fit::Strictness;
use super::{BodyChecker, Frame, ModuleChecker, finish, loss_results, sizes};
use crate::typed::{Body, FunctionBody};
use crate::types::Type;

/// Checks all bodies, in the order of the source.
pub(super) fn check(module: &mut ModuleChecker<'_>) {
    for at in 0..module.plans.len() {
        let plan = module.plans[at];
        module.current = plan.module;
        let (body, result) = function_body(BodyChecker::new(module, plan.function), plan);
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

/// Checks a whole body. Gives it with the type of its result.
fn function_body(mut checker: BodyChecker<'_, '_>, plan: Plan<'_>) -> (Body, Type) {
    let signature = checker.module.signature(plan.function).clone();
    checker.is_kernel = plan.item.form == ast::FunctionForm::Kernel;
    for param in &signature.params {
        checker.bind(&param.name, param.span, param.ty.clone(), param.mutable);
    }
    if signature.prints {
        let token = checker.bind("", signature.name_span, Type::of(Elem::I64), true);
        checker.locals[token.0 as usize].name = "$output".to_owned();
    }
    for _ in 0..signature.n_open_sizes {
        checker.new_size(signature.span);
    }
    let declared = plan.inferred_for.is_none().then(|| signature.result.clone());
    checker.frames = vec![Frame { result: declared.clone(), may_print: signature.prints, ..Frame::default() }];
    let value = checker.expr(&plan.item.body);
    let (value, result) = match (declared, plan.inferred_for) {
        (Some(declared), _) => {
            let origin = plan.item.signature.result.as_ref().map(|ty| (ty.span, "the declared result"));
            let subject = format!("the result of `{}`", signature.name.trim_end_matches(".primal"));
            let wanted = sizes::without_holes(&mut checker, &declared, &value.ty, signature.n_open_sizes);
            (checker.fit_as(value, &wanted, &subject, Strictness::Exact, origin), declared)
        }
        (None, attr) => {
            let value = match checker.frames.first().and_then(|frame| frame.result.clone()) {
                // The values of `return` decide; the end of the body must agree.
                Some(returned) => checker.fit(value, &returned, "the end of the body"),
                None => value,
            };
            let value = loss_results::loss(&mut checker, value, &signature, plan.item, attr);
            let mut result = checker.vars.resolve_type(&value.ty);
            if let (Type::Tuple(found), Type::Tuple(declared)) = (&mut result, &signature.result) {
                found[1..].clone_from_slice(&declared[1..]);
            }
            (value, result)
        }
    };
    let mut result = result;
    let vars = &checker.vars;
    result.each_scalar_mut(&mut |scalar| *scalar = vars.decide(*scalar).unwrap_or(*scalar));
    (finish::finish(checker, value), result)
}
