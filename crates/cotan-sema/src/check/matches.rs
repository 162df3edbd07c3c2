//! `match`.

use cotan_syntax::{Span, ast};

use super::control::value_of;
use super::exhaustive::PatternCheck;
use super::{BodyChecker, control, operators};
use crate::typed::{Expr, ExprKind, Match, MatchArm};
use crate::types::Type;

/// `match e { p if g => a, ... }`
pub(super) fn match_expr(checker: &mut BodyChecker<'_, '_>, it: &ast::Match, span: Span) -> Expr {
    let scrutinee = checker.expr(&it.scrutinee);
    let ty = scrutinee.ty.clone();
    let first_local = checker.locals.len();
    let first_size = checker.infer.sizes.len();
    let mut are_patterns_right = true;
    let mut arms = Vec::new();
    for arm in &it.arms {
        let n_errors = checker.module.diagnostics.len();
        let checked = checker.scoped(|this| {
            let pattern = this.pattern(&arm.pattern, &ty);
            are_patterns_right &= this.module.diagnostics.len() == n_errors;
            let guard = arm.guard.as_ref().map(|guard| {
                let guard = this.expr(guard);
                operators::condition(this, guard, "the guard of an arm")
            });
            let body = this.expr(&arm.body);
            MatchArm { span: arm.span, pattern, guard, body }
        });
        arms.push(checked);
    }
    if are_patterns_right && !ty.has_error() && ty != Type::Never {
        let patterns = arms.iter().map(|arm| (arm.pattern.clone(), arm.guard.is_some())).collect();
        checker.pattern_checks.push(PatternCheck::of_match(&scrutinee, patterns));
    }
    let bodies: Vec<(Type, Span)> = arms.iter().map(|arm| (arm.body.ty.clone(), value_of(&arm.body).span)).collect();
    let ty = control::join_arms(checker, &bodies, first_local, first_size, span);
    Expr { span, ty, kind: ExprKind::Match(Box::new(Match { scrutinee, arms })) }
}
