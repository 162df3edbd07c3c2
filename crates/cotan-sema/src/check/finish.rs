//! The end of a body, where open scalar types are decided, and the end of a module.

use cotan_ir::{Const, Elem};
use cotan_syntax::ast::NodeId;
use cotan_syntax::{Diagnostic, Span};

use super::{BodyChecker, Checked, ModuleChecker, Signature};
use crate::codes;
use crate::show::Names;
use crate::typed::{self, Body, CallableKind, Expr, ExprKind, FunctionBody, Literal, Program};
use crate::types::{Bound, GenericArg, GenericKind, Scalar, Type};
use crate::unify::ScalarVars;

impl ModuleChecker<'_> {
    /// Records the type at a node for the language server.
    pub(super) fn record_type(&mut self, node: NodeId, ty: &Type) {
        if let Some(slot) = self.facts.types[self.current.0 as usize].get_mut(node.0 as usize) {
            *slot = Some(ty.clone());
        }
    }

    /// A type in the signature of a function, as text.
    pub(super) fn show_in(&self, signature: &Signature, ty: &Type) -> String {
        let param = |at: u32| signature.params.get(at as usize).map_or_else(|| "?".to_owned(), |p| p.name.clone());
        let structs = |at: u32| self.struct_name(at);
        let vars = ScalarVars::default();
        Names { generics: &signature.generics, structs: &structs, locals: &param, vars: &vars }.ty(ty)
    }

    /// Puts the program together.
    pub(super) fn finish(mut self) -> Checked {
        let order = self.order_functions();
        let results: Vec<Type> = self.signatures.iter().map(|signature| signature.result.clone()).collect();
        for body in self.bodies.iter_mut().flatten() {
            if let FunctionBody::Derivative(derivative) = body
                && let CallableKind::Function { function, .. } = derivative.base.kind
            {
                derivative.base.result = results[function.0 as usize].clone();
            }
        }
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
                rules: signature.rules,
                mode: signature.hints.mode,
                recompute: signature.hints.recompute,
            })
        });
        let mut program = Program { structs: self.structs, functions: functions.collect(), order };
        let mut diagnostics = self.diagnostics;
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.extend(super::rule_cycles::check(&program));
            diagnostics.extend(super::instances::check(&program, &self.limits));
            diagnostics.extend(super::moves::check(&program));
            diagnostics.extend(super::kernels::check(&mut program));
            diagnostics.extend(super::warnings::check(&program));
        }
        diagnostics.sort_by_key(|diagnostic| (diagnostic.primary.span.file, diagnostic.primary.span.start));
        let mut facts = self.facts;
        facts.definitions.sort_by_key(|found| found.span);
        Checked { program, diagnostics, facts }
    }
}

impl BodyChecker<'_, '_> {
    /// Decides all scalar types and gives the finished body.
    pub(super) fn finish(mut self, value: Expr) -> Body {
        for (scalar, span, name) in std::mem::take(&mut self.undecided) {
            if self.vars.decide(scalar).is_none() {
                let message = format!("expected an argument that decides the element type {name}, found none");
                self.report(
                    Diagnostic::error(codes::UNDECIDED_TYPE, span, message)
                        .help("give it in brackets, as in `zeros[f64](n)`"),
                );
            }
        }
        let locals = std::mem::take(&mut self.locals);
        let mut body = Body { locals, sizes: std::mem::take(&mut self.sizes), value };
        let vars = &self.vars;
        // What nothing decides has been reported; any type will do.
        let decide = |scalar: Scalar| vars.decide(scalar).unwrap_or(Scalar::Of(Elem::F64));
        let decide_type = |ty: &mut Type| ty.each_scalar_mut(&mut |scalar| *scalar = decide(*scalar));
        let generics = &self.generics;
        let mut misfits = Vec::new();
        typed::TypeVisitor {
            ty: &mut |ty| decide_type(ty),
            arg: &mut |arg: &mut GenericArg| arg.each_scalar_mut(&mut |scalar| *scalar = decide(*scalar)),
            expr: &mut |expr| {
                let bound = |at: u32| match generics.get(at as usize).map(|generic| generic.kind) {
                    Some(GenericKind::Scalar(bound)) => bound,
                    Some(GenericKind::Size) | None => Bound::Numeric,
                };
                if let Some(misfit) = literal_misfit(expr, &bound) {
                    misfits.push(misfit);
                }
            },
        }
        .body(&mut body);
        for (node, mut ty) in std::mem::take(&mut self.node_types) {
            decide_type(&mut ty);
            self.module.record_type(node, &ty);
        }
        for (span, value, name) in misfits {
            let message = format!("expected a literal that fits `{name}`, found `{value}`");
            let help = match Elem::from_name(&name).and_then(Elem::integer_range) {
                Some((least, most)) => format!("`{name}` holds {least} to {most}: use a wider type"),
                None => "its magnitude is too large: use a wider type, or `inf`".to_owned(),
            };
            self.report(Diagnostic::error(codes::LITERAL_RANGE, span, message).help(help));
        }
        body
    }
}

/// Whether a type can hold a literal: an integer as it is, a float without becoming infinite.
fn literal_fits(literal: &Literal, elem: Elem) -> bool {
    match (literal, elem) {
        (Literal::Int(value), _) => elem.integer_range().is_none_or(|(least, most)| (least..=most).contains(value)),
        (Literal::Float(digits), Elem::F32) => digits.parse::<f32>().is_ok_and(f32::is_finite),
        (Literal::Float(digits), _) if elem.is_float() => {
            let value = digits.parse().ok().and_then(|value| Const::float(elem, value).as_float());
            value.is_some_and(f64::is_finite)
        }
        (Literal::Float(_), _) => false,
        (Literal::Bool(_) | Literal::Constant(_), _) => true,
    }
}

/// A literal that does not fit its type: where, the value, and the type.
fn literal_misfit(expr: &Expr, bound: &dyn Fn(u32) -> Bound) -> Option<(Span, String, String)> {
    let ExprKind::Literal(literal) = &expr.kind else { return None };
    let text = match literal {
        Literal::Int(value) => value.to_string(),
        Literal::Float(digits) => digits.clone(),
        Literal::Bool(_) | Literal::Constant(_) => return None,
    };
    match expr.ty.scalar()? {
        Scalar::Of(elem) if !literal_fits(literal, elem) => Some((expr.span, text, elem.name().to_owned())),
        Scalar::Param(id) => {
            let may_be = |elem: &Elem| bound(id.0).admits(*elem);
            let misfit = Elem::ALL.into_iter().filter(may_be).find(|elem| !literal_fits(literal, *elem))?;
            Some((expr.span, text, misfit.name().to_owned()))
        }
        Scalar::Of(_) | Scalar::Var(_) => None,
    }
}
