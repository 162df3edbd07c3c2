//! Lambdas: functions that are written where they are passed on.

use cotan_syntax::{Diagnostic, Span, ast};

use super::BodyChecker;
use super::infer::Strictness;
use super::instantiate::add_values;
use super::locals::Frame;
use crate::codes;
use crate::typed::{Callable, CallableKind, Expr, Lambda, LocalId, Pattern, PatternKind};
use crate::types::Type;

impl BodyChecker<'_, '_> {
    /// A lambda whose parameters have these types.
    pub(super) fn lambda(&mut self, lambda: &ast::Lambda, params: &[Type], span: Span) -> Option<Callable> {
        if lambda.params.len() != params.len() {
            let message = format!("expected a lambda with {} parameters, found {}", params.len(), lambda.params.len());
            let names = ["a", "b", "c", "d"];
            let example: Vec<&str> = names.into_iter().cycle().take(params.len()).collect();
            self.report(
                Diagnostic::error(codes::LAMBDA_PARAMETERS, span, message)
                    .help(format!("write `|{}| ...`", example.join(", "))),
            );
            return None;
        }
        Some(self.in_frame(span, params, |this| {
            let patterns = lambda.params.iter().zip(params).map(|(param, ty)| {
                let ty = match &param.ty {
                    Some(written) => lambda_param_type(this, written, ty),
                    None => ty.clone(),
                };
                this.irrefutable(&param.pattern, &ty, "a lambda")
            });
            let patterns: Vec<Pattern> = patterns.collect();
            let body = this.expr(&lambda.body);
            (patterns, body)
        }))
    }

    /// A lambda that the compiler writes: `inside` gets the locals that stand for the parameters.
    pub(super) fn in_lambda(
        &mut self,
        params: &[Type],
        span: Span,
        inside: impl FnOnce(&mut Self, &[LocalId]) -> Expr,
    ) -> Callable {
        self.in_frame(span, params, |this| {
            let mut locals = Vec::new();
            let mut patterns = Vec::new();
            for (at, ty) in params.iter().enumerate() {
                let local = this.locals.push(&format!("${at}"), span, ty.clone(), false);
                locals.push(local);
                patterns.push(Pattern { span, ty: ty.clone(), kind: PatternKind::Local(local) });
            }
            let body = inside(this, &locals);
            (patterns, body)
        })
    }

    /// Checks the body of a lambda, with what belongs to it alone kept apart.
    fn in_frame(
        &mut self,
        span: Span,
        params: &[Type],
        inside: impl FnOnce(&mut Self) -> (Vec<Pattern>, Expr),
    ) -> Callable {
        let first_local = self.locals.len();
        let first_size = self.infer.sizes.len();
        let may_print = std::mem::take(&mut self.lends_output);
        self.locals.frames.push(Frame { first_local, may_print, ..Frame::default() });
        let (patterns, body) = self.scoped(inside);
        let frame = self.locals.frames.pop().unwrap_or_default();
        let body = match &frame.result {
            // The values of `return` decide; the end of the body must agree.
            Some(result) => self.fit(body, &result.clone(), "the result of the lambda"),
            None => body,
        };
        let found = match (&body.ty, frame.result) {
            (Type::Never, Some(result)) => result,
            (ty, _) => ty.clone(),
        };
        let result = self.infer.sizes.escape(&found, first_local, first_size, span);
        let mut captures = frame.captures.clone();
        for local in &frame.captures {
            // What stands in the dims of a captured tensor is captured with it.
            add_values(&self.locals.get(*local).ty, &mut captures);
        }
        let captures = captures.into_iter().collect();
        let lambda = Lambda { params: patterns, captures, body };
        Callable { span, params: params.to_vec(), result, kind: CallableKind::Lambda(Box::new(lambda)) }
    }
}

/// The type of a parameter that is written must be that of the argument.
fn lambda_param_type(checker: &mut BodyChecker<'_, '_>, written: &ast::TypeExpr, found: &Type) -> Type {
    let ty = checker.written_type(written, Some(found));
    let value = Expr { ty: found.clone(), ..Expr::error(written.span) };
    let fitted = checker.fit_as(value, &ty, "a parameter of the lambda", Strictness::Exact, None);
    if fitted.ty.has_error() { Type::Error } else { found.clone() }
}
