//! Warnings and notes about derivatives that are right and perhaps not what was meant.

use cotan_syntax::{Diagnostic, Span};

use super::activity::{self, Cast, LoopDependence, Summary, bit};
use crate::codes;
use crate::typed::{
    Body, Callable, CallableKind, Derivative, Expr, FnId, FunctionBody, Lambda, Part, Pattern, PatternKind, Program,
};

/// The most places that one warning shows beside its own.
const MOST_LABELS: usize = 8;

/// Looks at every derivative of a program: declared with an attribute, or written as an expression.
pub(super) fn check(program: &Program) -> Vec<Diagnostic> {
    let derivatives = derivatives(program);
    if derivatives.is_empty() {
        return Vec::new();
    }
    let summaries = activity::summaries(program);
    let mut warnings: Vec<Diagnostic> = Vec::new();
    for (body, derivative) in derivatives {
        let Some(base) = Base::of(program, &summaries, body, &derivative.base) else { continue };
        for warning in base.warnings(derivative.span, &derivative.wrt) {
            add(&mut warnings, warning);
        }
    }
    warnings
}

/// Adds a warning. One that says the same of the same place because of another derivative is one with it: the places of the
/// derivatives are its labels.
fn add(warnings: &mut Vec<Diagnostic>, warning: Diagnostic) {
    let is_same = |known: &&mut Diagnostic| {
        let (known, new) = (&**known, &warning);
        known.code == new.code && known.primary == new.primary && known.message == new.message
    };
    match warnings.iter_mut().find(is_same) {
        Some(known) => {
            for label in warning.labels {
                if known.labels.len() < MOST_LABELS && known.labels.iter().all(|other| other.span != label.span) {
                    known.labels.push(label);
                }
            }
        }
        None => warnings.push(warning),
    }
}

/// Looks at a derivative of a valid program that a host is going to ask for, with respect to the parameters at the
/// positions `wrt`. The function itself stands for the place that asks.
pub fn derivative_warnings(program: &Program, function: FnId, wrt: &[usize]) -> Vec<Diagnostic> {
    let summaries = activity::summaries(program);
    let span = program.function(function).name_span;
    Base::of_function(program, &summaries, function).warnings(span, wrt)
}

/// All derivatives, each with the body that it stands in if it is an expression.
fn derivatives(program: &Program) -> Vec<(Option<&Body>, &Derivative)> {
    let mut found = Vec::new();
    for function in &program.functions {
        match &function.body {
            FunctionBody::Source(body) => {
                each_derivative(&body.value, &mut |derivative| found.push((Some(body), derivative)))
            }
            FunctionBody::Derivative(derivative) => found.push((None, derivative)),
            FunctionBody::Required(_) => {}
        }
    }
    found
}

fn each_derivative<'p>(expr: &'p Expr, f: &mut dyn FnMut(&'p Derivative)) {
    expr.each_part(&mut |part| part_derivatives(part, f));
}

fn part_derivatives<'p>(part: Part<'p>, f: &mut dyn FnMut(&'p Derivative)) {
    match part {
        Part::Expr(expr) => each_derivative(expr, f),
        Part::Callable(callable) => {
            if let CallableKind::Derivative(derivative) = &callable.kind {
                f(derivative);
            }
            callable.each_part(&mut |part| part_derivatives(part, f));
        }
    }
}

/// What is differentiated.
struct Base {
    /// What the parameters are called in messages, and where they stand.
    params: Vec<(String, Span)>,
    summary: Summary,
}

impl Base {
    /// What a callable of the body does; None if that is not known, or smooth.
    fn of(program: &Program, summaries: &[Summary], body: Option<&Body>, callable: &Callable) -> Option<Base> {
        match &callable.kind {
            CallableKind::Function { function, .. } => Some(Self::of_function(program, summaries, *function)),
            CallableKind::Lambda(lambda) => body.map(|body| Self::of_lambda(program, summaries, body, lambda)),
            CallableKind::Vmap(vmap) => Self::of(program, summaries, body, &vmap.base),
            CallableKind::Param(_) | CallableKind::Derivative(_) => None,
        }
    }

    fn of_function(program: &Program, summaries: &[Summary], function: FnId) -> Base {
        let params = program.function(function).params.iter().map(|param| (format!("`{}`", param.name), param.span));
        Base { params: params.collect(), summary: summaries[function.0 as usize].clone() }
    }

    fn of_lambda(program: &Program, summaries: &[Summary], body: &Body, lambda: &Lambda) -> Base {
        let params = lambda.params.iter().enumerate();
        let params = params.map(|(at, param)| (pattern_name(body, param, at), param.span));
        Base { params: params.collect(), summary: activity::of_lambda(program, summaries, body, lambda) }
    }

    fn warnings(&self, span: Span, wrt: &[usize]) -> Vec<Diagnostic> {
        let cut = self.cut_gradients(span, wrt).into_iter().chain(self.cut_ways(span, wrt));
        cut.chain(self.deciding_loops(span, wrt)).collect()
    }

    /// Casts that end one of several ways from a parameter to the result.
    fn cut_ways(&self, span: Span, wrt: &[usize]) -> Vec<Diagnostic> {
        let cast_on_the_way = |at: &usize| {
            let has_others = self.summary.result.smooth & bit(*at) != 0;
            let cast = self.summary.casts.iter().find(|cast| cast.of & bit(*at) != 0);
            cast.filter(|_| has_others).map(|cast| (*at, cast))
        };
        let note = |(at, cast): (usize, &Cast)| {
            let (name, param) = &self.params[at];
            let message = format!(
                "a cast to an integer ends one of the ways from {name} to the result: the derivative is that of the others"
            );
            Diagnostic::info(codes::CUT_WAY, span, message)
                .repeated(format!("{:?} {param:?}", cast.span), "and here")
                .label(cast.span, "no derivative flows through this cast")
                .label(*param, "from here")
                .help("compute with floats on this way too, or say that it is constant: `stop_gradient(..)` around what is cast")
        };
        wrt.iter().filter_map(cast_on_the_way).map(note).collect()
    }

    /// Parameters whose every way to the result is cut.
    fn cut_gradients(&self, span: Span, wrt: &[usize]) -> Vec<Diagnostic> {
        let result = &self.summary.result;
        let is_cut = |at: &&usize| result.any & bit(**at) != 0 && result.smooth & bit(**at) == 0;
        let warning = |at: &usize| {
            let cut = result.cut?;
            let (name, param) = &self.params[*at];
            let message = format!(
                "the derivative with respect to {name} is zero everywhere: no way from it to the result is smooth"
            );
            Some(
                Diagnostic::warning(codes::CUT_GRADIENT, span, message)
                    .repeated(format!("{cut:?} {param:?}"), "and here")
                    .label(cut, "the derivative stops here: integers, comparisons and rounding have none")
                    .label(*param, "from here")
                    .help("compute with floats on the way, or leave the parameter out of the derivative"),
            )
        };
        wrt.iter().filter(is_cut).filter_map(warning).collect()
    }

    /// Loops whose number of iterations nothing but differentiable values decide.
    fn deciding_loops(&self, span: Span, wrt: &[usize]) -> Vec<Diagnostic> {
        let all = wrt.iter().fold(0, |bits, at| bits | bit(*at));
        let decided = |it: &&LoopDependence| it.deciders.iter().all(|decider| *decider != 0 && decider & !all == 0);
        let warning = |it: &LoopDependence| {
            let at = wrt.iter().find(|at| it.deciders.iter().any(|decider| decider & bit(**at) != 0));
            let name = at.map_or("", |at| self.params[*at].0.as_str());
            let message =
                format!("{name}, which is differentiated, alone decides how often this loop runs, maybe never");
            Diagnostic::warning(codes::UNDIFFERENTIATED_TRIP_COUNT, it.span, message)
                .label(span, "differentiated because of this")
                .help("the number of iterations has no derivative: bound it by an integer too, or run the loop once before the test")
        };
        self.summary.loops.iter().filter(decided).map(warning).collect()
    }
}

/// What the parameter of a lambda at a position is called in messages.
fn pattern_name(body: &Body, pattern: &Pattern, at: usize) -> String {
    match pattern.kind {
        PatternKind::Local(local) if !body.locals[local.0 as usize].name.starts_with('$') => {
            format!("`{}`", body.locals[local.0 as usize].name)
        }
        PatternKind::Local(_)
        | PatternKind::Wildcard
        | PatternKind::Literal(_)
        | PatternKind::Range(_)
        | PatternKind::Fields(_)
        | PatternKind::Variant { .. }
        | PatternKind::Or(_) => format!("argument `{}`", at + 1),
    }
}
