//! Defaulting at the end of a body, where open scalar types are decided, and the end of a module.

use cotan_ir::{Const, Elem};
use cotan_syntax::ast::NodeId;
use cotan_syntax::{Diagnostic, Span};

use super::{BodyChecker, Checked, FnId, ModuleChecker, Signature, exhaustive, quotients, runtime_sizes};
use crate::codes;
use crate::instances;
use crate::limits::Limits;
use crate::order;
use crate::show::Names;
use crate::typed::{self, Body, Callable, CallableKind, Expr, ExprKind, FunctionBody, Literal, PatternKind, Program};
use crate::types::{Bound, Generic, GenericArg, GenericKind, Scalar, Type};
use crate::unify::ScalarVars;

impl ModuleChecker<'_> {
    /// A type in the signature of a function, as text.
    pub(super) fn show_in(&self, signature: &Signature, ty: &Type) -> String {
        let param = |at: u32| signature.params.get(at as usize).map_or_else(|| "?".to_owned(), |p| p.name.clone());
        let structs = |at: u32| self.struct_name(at);
        let enums = |at: u32| self.enum_name(at);
        let vars = ScalarVars::default();
        Names { generics: &signature.generics, structs: &structs, enums: &enums, locals: &param, vars: &vars }.ty(ty)
    }

    /// A type that is made of these parameters alone, as text.
    pub(super) fn show_over(&self, generics: &[Generic], ty: &Type) -> String {
        let (structs, enums) = (|at: u32| self.struct_name(at), |at: u32| self.enum_name(at));
        let vars = ScalarVars::default();
        Names { generics, structs: &structs, enums: &enums, locals: &|_| "?".to_owned(), vars: &vars }.ty(ty)
    }

    /// Puts the program together.
    pub(super) fn finish(mut self) -> Checked {
        let callees = callees(&self);
        let sorted = order::sort(&callees);
        for cycle in &sorted.cycles {
            let error = order::cycle_error(cycle, &|at| self.signatures[at].name.clone());
            self.report(error);
        }
        let order = sorted.order.into_iter().map(|at| FnId(at as u32)).collect();
        let results: Vec<Type> = self.signatures.iter().map(|signature| signature.result.clone()).collect();
        for body in self.bodies.iter_mut().flatten() {
            if let FunctionBody::Derivative(derivative) = body
                && let CallableKind::Function { function, .. } = derivative.base.kind
            {
                derivative.base.result = results[function.0 as usize].clone();
            }
        }
        let n_functions = self.signatures.len();
        let functions = self.signatures.into_iter().zip(self.bodies).filter_map(|(signature, body)| {
            Some(typed::Function {
                name: signature.name,
                span: signature.span,
                name_span: signature.name_span,
                doc: signature.doc,
                generics: signature.generics,
                n_written_generics: signature.n_written_generics,
                params: signature.params,
                result: signature.result,
                body: body?,
                prints: signature.prints,
                rules: signature.rules,
                mode: signature.hints.mode,
                recompute: signature.hints.recompute,
            })
        });
        let mut program = Program {
            structs: self.structs,
            enums: self.enums,
            traits: self.traits,
            impls: self.impls,
            functions: Vec::with_capacity(n_functions),
            order,
        };
        program.functions.extend(functions);
        let mut diagnostics = self.diagnostics;
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.extend(super::rule_cycles::check(&program));
            diagnostics.extend(super::captured_floats::check(&program));
            diagnostics.extend(instances_error(&program, &self.limits));
            diagnostics.extend(super::moves::check(&program));
            diagnostics.extend(super::kernels::check(&mut program));
            diagnostics.extend(super::warnings::check(&program));
        }
        diagnostics.sort_by_key(|diagnostic| (diagnostic.primary.span.file, diagnostic.primary.span.start));
        let mut facts = self.facts;
        facts.definitions.sort_by_key(|found| found.span);
        Checked { program, diagnostics, facts, found_results: self.found_results }
    }
}

/// Records the type at a node for the language server.
pub(super) fn record_type(checker: &mut ModuleChecker<'_>, node: NodeId, ty: &Type) {
    if let Some(slot) = checker.facts.types[checker.current.0 as usize].get_mut(node.0 as usize) {
        *slot = Some(ty.clone());
    }
}

/// For each function those that it calls or differentiates, with the place.
fn callees(checker: &ModuleChecker<'_>) -> Vec<Vec<order::Callee>> {
    let mut callees = vec![Vec::new(); checker.signatures.len()];
    for edge in &checker.edges {
        callees[edge.caller.0 as usize].push(order::Callee { at: edge.callee.0 as usize, span: edge.span });
    }
    for (at, body) in checker.bodies.iter().enumerate() {
        if let Some(FunctionBody::Derivative(derivative)) = body
            && let CallableKind::Function { function, .. } = derivative.base.kind
        {
            callees[at].push(order::Callee { at: function.0 as usize, span: derivative.span });
        }
    }
    callees
}

/// Decides all scalar types and gives the finished body.
pub(super) fn finish(mut checker: BodyChecker<'_, '_>, value: Expr) -> Body {
    report_undecided(&mut checker, value.span);
    runtime_sizes::report_open_sizes(&mut checker);
    want_traits(&mut checker);
    let mut locals = std::mem::take(&mut checker.locals.all);
    locals.shrink_to_fit();
    let mut body = Body { locals, sizes: std::mem::take(&mut checker.infer.sizes.all), value };
    let mut checks = std::mem::take(&mut checker.pattern_checks);
    let mut node_types = std::mem::take(&mut checker.node_types);
    let infer = &checker.infer;
    let bound = |at: u32| match checker.generics.get(at as usize).map(|generic| generic.kind) {
        Some(GenericKind::Scalar(bound)) => bound,
        Some(GenericKind::Size | GenericKind::Type { .. } | GenericKind::Pack) | None => Bound::Numeric,
    };
    let mut misfits = Vec::new();
    typed::TypeVisitor {
        ty: &mut |ty| infer.decide_type(ty),
        callable: &mut |callable: &mut Callable| {
            if let CallableKind::Function { generics, .. } = &mut callable.kind {
                generics.iter_mut().for_each(|arg| infer.decide_arg(arg));
            }
        },
        expr: &mut |expr| {
            if let ExprKind::Literal(literal) = &expr.kind {
                misfits.extend(literal_misfit(literal, &expr.ty, expr.span, &bound));
            }
        },
    }
    .body(&mut body);
    node_types.iter_mut().for_each(|(_, ty)| infer.decide_type(ty));
    for check in &mut checks {
        check.each_type(&mut |ty| infer.decide_type(ty));
        for (pattern, _) in &check.patterns {
            pattern.each(&mut |part| match &part.kind {
                PatternKind::Literal(literal) => misfits.extend(literal_misfit(literal, &part.ty, part.span, &bound)),
                PatternKind::Range(range) => {
                    misfits.extend(literal_misfit(&range.lo, &part.ty, part.span, &bound));
                    misfits.extend(literal_misfit(&range.hi, &part.ty, part.span, &bound));
                }
                PatternKind::Wildcard
                | PatternKind::Local(_)
                | PatternKind::Fields(_)
                | PatternKind::Variant { .. }
                | PatternKind::Or(_) => {}
            });
        }
    }
    node_types.iter().for_each(|(node, ty)| record_type(checker.module, *node, ty));
    checks.iter().for_each(|check| exhaustive::check_patterns(&mut checker, check, &body.locals));
    misfits.into_iter().for_each(|misfit| report_literal(&mut checker, misfit));
    // What is wrong may be what leaves a quotient an integer.
    if !has_error_in(checker.module, body.value.span) {
        quotients::check(checker.module, &body);
    }
    body
}

/// Whether an error was reported in a body.
fn has_error_in(checker: &ModuleChecker<'_>, body: Span) -> bool {
    let is_here =
        |d: &Diagnostic| d.is_error() && d.primary.span.file == body.file && body.contains(d.primary.span.start);
    checker.diagnostics.iter().any(is_here)
}

/// Reports the element types that nothing decides, unless something in the same body failed that might have.
fn report_undecided(checker: &mut BodyChecker<'_, '_>, body: Span) {
    let undecided = std::mem::take(&mut checker.undecided);
    if !undecided.is_empty() && has_error_in(checker.module, body) {
        return;
    }
    for (scalar, span, name) in undecided {
        if checker.infer.vars.decide(scalar).is_none() {
            let message = format!("expected an argument that decides the element type {name}, found none");
            checker.report(
                Diagnostic::error(codes::UNDECIDED_TYPE, span, message)
                    .help("give it in brackets, as in `zeros[f64](n)`"),
            );
        }
    }
}

/// Hands on the uses of generics whose arguments must have traits, with what the arguments are.
fn want_traits(checker: &mut BodyChecker<'_, '_>) {
    for mut wanted in std::mem::take(&mut checker.wanted_traits) {
        wanted.args.iter_mut().for_each(|arg| checker.infer.decide_arg(arg));
        checker.module.wanted_traits.push(wanted);
    }
}

/// Reports a literal that does not fit its type.
fn report_literal(checker: &mut BodyChecker<'_, '_>, (span, value, name): (Span, String, String)) {
    let message = format!("expected a literal that fits `{name}`, found `{value}`");
    let is_integer = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let help = match Elem::from_name(&name).and_then(Elem::integer_range) {
        Some((least, most)) => format!("`{name}` holds {least} to {most}: use a wider type"),
        None if is_integer => {
            format!("`{name}` would round it: use a wider type, or a float that says so, such as `1e20`")
        }
        None => "its magnitude is too large: use a wider type, or `inf`".to_owned(),
    };
    checker.report(Diagnostic::error(codes::LITERAL_RANGE, span, message).help(help));
}

/// What is wrong with the specialisations that a program needs: too many, too long a chain, or functions that call
/// themselves through a trait.
fn instances_error(program: &Program, limits: &Limits) -> Option<Diagnostic> {
    let is_generic = |function: &typed::Function| function.generics.iter().any(|g| g.kind != GenericKind::Size);
    if !program.functions.iter().any(is_generic) {
        return super::instances::check(program, limits);
    }
    let functions = program.functions.iter().enumerate().filter(|(_, function)| !function.is_shapeless());
    let wanted = functions.map(|(at, function)| {
        let args = function.generics.iter().enumerate().map(|(k, generic)| match generic.kind {
            GenericKind::Scalar(bound) => GenericArg::Scalar(Scalar::Of(bound.default_elem())),
            GenericKind::Size | GenericKind::Type { .. } | GenericKind::Pack => generic.as_arg(k),
        });
        (FnId(at as u32), args.collect())
    });
    match instances::specialise(program, &wanted.collect::<Vec<_>>(), limits) {
        Ok(specialised) => super::instances::check(&specialised.program, limits),
        Err(error) => Some(*error),
    }
}

/// Whether a type can hold a literal: an integer exactly, a float without becoming infinite.
fn literal_fits(literal: &Literal, elem: Elem) -> bool {
    match (literal, elem) {
        (Literal::Int(value), _) => match elem.integer_range() {
            Some((least, most)) => (least..=most).contains(value),
            None => literal.constant(elem).as_float().is_some_and(|float| is_exactly(float, *value)),
        },
        (Literal::Float(digits), Elem::F32) => digits.parse::<f32>().is_ok_and(f32::is_finite),
        (Literal::Float(digits), _) if elem.is_float() => {
            let value = digits.parse().ok().and_then(|value| Const::float(elem, value).as_float());
            value.is_some_and(f64::is_finite)
        }
        // A float where an integer is expected is reported where the two meet.
        (Literal::Float(_) | Literal::Bool(_) | Literal::Constant(_), _) => true,
    }
}

/// Whether a float is an integer. A float beyond all of them would become the largest.
fn is_exactly(float: f64, value: i128) -> bool {
    float.abs() < i128::MAX as f64 && float as i128 == value
}

/// A literal that does not fit its type: where, the value, and the type.
fn literal_misfit(
    literal: &Literal,
    ty: &Type,
    span: Span,
    bound: &dyn Fn(u32) -> Bound,
) -> Option<(Span, String, String)> {
    let text = match literal {
        Literal::Int(value) => value.to_string(),
        Literal::Float(digits) => digits.clone(),
        Literal::Bool(_) | Literal::Constant(_) => return None,
    };
    match ty.scalar()? {
        Scalar::Of(elem) if !literal_fits(literal, elem) => Some((span, text, elem.name().to_owned())),
        Scalar::Param(id) => {
            let may_be = |elem: &Elem| bound(id.0).admits(*elem);
            let misfit = Elem::ALL.into_iter().filter(may_be).find(|elem| !literal_fits(literal, *elem))?;
            Some((span, text, misfit.name().to_owned()))
        }
        Scalar::Of(_) | Scalar::Var(_) => None,
    }
}
