//! Warnings about derivatives that are right and probably not what was meant.

use cotan_syntax::Diagnostic;

use super::activity::{self, LoopDependence, Summary, bit};
use crate::codes;
use crate::typed::{CallableKind, Derivative, Function, FunctionBody, Program};

/// Looks at every derivative that is declared with an attribute.
pub(super) fn check(program: &Program) -> Vec<Diagnostic> {
    let has_derivatives = program.functions.iter().any(|function| matches!(function.body, FunctionBody::Derivative(_)));
    if !has_derivatives {
        return Vec::new();
    }
    let summaries = activity::summaries(program);
    let mut warnings: Vec<Diagnostic> = Vec::new();
    for function in &program.functions {
        let FunctionBody::Derivative(derivative) = &function.body else { continue };
        let CallableKind::Function { function: base, .. } = derivative.base.kind else { continue };
        let summary = &summaries[base.0 as usize];
        let base = program.function(base);
        for warning in
            cut_gradients(derivative, base, summary).into_iter().chain(deciding_loops(derivative, base, summary))
        {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

/// Parameters whose every way to the result is cut.
fn cut_gradients(derivative: &Derivative, base: &Function, summary: &Summary) -> Vec<Diagnostic> {
    let is_cut = |at: &&usize| summary.result.any & bit(**at) != 0 && summary.result.smooth & bit(**at) == 0;
    let warning = |at: &usize| {
        let cut = summary.result.cut?;
        let name = &base.params[*at].name;
        let message = format!(
            "the derivative with respect to `{name}` is zero everywhere: no way from it to the result is smooth"
        );
        Some(
            Diagnostic::warning(codes::CUT_GRADIENT, derivative.span, message)
                .label(cut, "the derivative stops here: integers, comparisons and rounding have none")
                .label(base.params[*at].span, "from here")
                .help("compute with floats on the way, or leave the parameter out of the derivative"),
        )
    };
    derivative.wrt.iter().filter(is_cut).filter_map(warning).collect()
}

/// Loops whose number of iterations nothing but differentiable values decide.
fn deciding_loops(derivative: &Derivative, base: &Function, summary: &Summary) -> Vec<Diagnostic> {
    let wrt = derivative.wrt.iter().fold(0, |bits, at| bits | bit(*at));
    let decided = |it: &&LoopDependence| it.deciders.iter().all(|decider| *decider != 0 && decider & !wrt == 0);
    let warning = |it: &LoopDependence| {
        let at = derivative.wrt.iter().find(|at| it.deciders.iter().any(|decider| decider & bit(**at) != 0));
        let name = at.map_or("", |at| base.params[*at].name.as_str());
        let message = format!("`{name}`, which is differentiated, alone decides how often this loop runs, maybe never");
        Diagnostic::warning(codes::UNDIFFERENTIATED_TRIP_COUNT, it.span, message)
            .label(derivative.span, "differentiated because of this")
            .help("the number of iterations has no derivative: bound it by an integer too, or run the loop once before the test")
    };
    let loops = summary.loops.iter().filter(decided);
    loops.map(warning).collect()
}
