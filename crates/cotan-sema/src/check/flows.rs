//! What the manifest of operations says of a function: from which parameters derivatives flow, and which of the operations
//! in its definition have conventions at kinks.

use std::collections::BTreeMap;

use super::activity::{self, bit, has_float};
use crate::prelude;
use crate::typed::{
    BinaryOp, Builtin, CallableKind, Chain, Expr, ExprKind, FnId, Function, FunctionBody, Part, Program, Type,
};
use crate::types::{GenericKind, Scalar};
use cotan_ir::Elem;
use cotan_ops::{Condition, Differentiability, Kinks, PrimRow};
use cotan_syntax::ast::FoldOp;

/// Whether a derivative flows from a parameter into the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    Flows,
    /// The parameter has floats, but on every way to the result something stops the derivative.
    Stopped,
    /// The parameter is marked `@nodiff`.
    Declared,
    /// There are no floats in the result.
    NoFloatInResult,
    /// There are no floats in the parameter.
    NoFloat,
    /// The parameter is a function.
    Function,
}

/// Operations with conventions at points where their derivative is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conventions {
    /// By the name of the operation: the convention, and whether there is a kink inside the domain of the operation, and
    /// not only at the border of it.
    pub at: BTreeMap<&'static str, (String, bool)>,
}

/// What is known of the derivatives of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DerivativeFacts {
    /// One for each parameter.
    pub flows: Vec<Flow>,
    /// The conventions of the operations in its definition, and in those of the functions that it calls.
    pub conventions: Conventions,
}

/// Whether a type is that of numbers, or tensors of them, which the bound of their type keeps from being floats.
fn is_of_integers(function: &Function, ty: &Type) -> bool {
    let Some(Scalar::Param(id)) = ty.scalar() else { return false };
    let Some(GenericKind::Scalar(bound)) = function.generics.get(id.0 as usize).map(|generic| generic.kind) else {
        return false;
    };
    !Elem::ALL.into_iter().any(|elem| elem.is_float() && bound.admits(elem))
}

/// The facts of all functions of a valid program.
pub fn derivative_facts(program: &Program) -> Vec<DerivativeFacts> {
    let summaries = activity::summaries(program);
    let mut facts = vec![DerivativeFacts::default(); program.functions.len()];
    for id in &program.order {
        let function = program.function(*id);
        let has_result = has_float(program, &function.result);
        let smooth = summaries[id.0 as usize].result.smooth;
        let flow = |(at, param): (usize, &crate::typed::Param)| match () {
            () if matches!(param.ty, Type::Function(_)) => Flow::Function,
            () if !has_float(program, &param.ty) || is_of_integers(function, &param.ty) => Flow::NoFloat,
            () if !has_result => Flow::NoFloatInResult,
            () if param.nodiff => Flow::Declared,
            () if smooth & bit(at) == 0 => Flow::Stopped,
            () => Flow::Flows,
        };
        let flows = function.params.iter().enumerate().map(flow).collect();
        let mut walk = Walk { program, facts: &facts, found: Conventions::default() };
        match &function.body {
            FunctionBody::Source(body) => walk.expr(&body.value),
            FunctionBody::Derivative(derivative) => walk.part(Part::Callable(&derivative.base)),
            FunctionBody::Required(_) => {}
        }
        facts[id.0 as usize] = DerivativeFacts { flows, conventions: walk.found };
    }
    facts
}

/// A walk over a definition. Functions that it calls have been walked over.
struct Walk<'p> {
    program: &'p Program,
    facts: &'p [DerivativeFacts],
    found: Conventions,
}

impl Walk<'_> {
    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Expr(expr) => self.expr(expr),
            Part::Callable(callable) => {
                match &callable.kind {
                    CallableKind::Function { function, .. } => self.function(*function),
                    CallableKind::Lambda(_)
                    | CallableKind::Param(_)
                    | CallableKind::Derivative(_)
                    | CallableKind::Vmap(_) => {}
                }
                callable.each_part(&mut |part| self.part(part));
            }
        }
    }

    fn function(&mut self, id: FnId) {
        let found = self.facts[id.0 as usize].conventions.at.clone();
        self.found.at.extend(found);
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Builtin { builtin: Builtin::StopGradient, .. } = &expr.kind {
            return;
        }
        self.own(expr);
        expr.each_part(&mut |part| self.part(part));
    }

    /// The conventions of the operation that an expression is.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of the kinds of expressions these alone compute with floats")]
    fn own(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Primitive { row, .. } if has_float(self.program, &expr.ty) => self.row(row),
            ExprKind::Chain(chain) => self.chain(chain),
            ExprKind::Fold { op, .. } if has_float(self.program, &expr.ty) => self.fold(*op),
            ExprKind::Builtin { builtin, .. } => self.builtin(*builtin),
            _ => {}
        }
    }

    fn insert(&mut self, name: &'static str, convention: &str, is_inside: bool) {
        self.found.at.insert(name, (convention.to_owned(), is_inside));
    }

    fn row(&mut self, row: &'static PrimRow) {
        match row.kinks {
            Kinks::At(convention) => self.insert(row.name(), convention, row.domain.iter().any(is_inside)),
            Kinks::Smooth | Kinks::Flat => {}
        }
    }

    fn chain(&mut self, chain: &Chain) {
        let mut left = &chain.first.ty;
        for link in &chain.rest {
            if has_float(self.program, left) {
                match link.op {
                    BinaryOp::Rem => self.row(&cotan_ops::REM),
                    BinaryOp::Pow => self.row(&cotan_ops::POW),
                    BinaryOp::PowInt => self.row(&cotan_ops::POWI),
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                        self.insert("if", "where two branches meet, the derivative is that of the branch taken", true);
                    }
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::MatMul => {}
                }
            }
            left = &link.ty;
        }
    }

    fn fold(&mut self, op: FoldOp) {
        const TIES: &str = "elements that tie share the derivative equally";
        match op {
            FoldOp::Max => self.insert("max/", TIES, true),
            FoldOp::Min => self.insert("min/", TIES, true),
            FoldOp::Add | FoldOp::Mul | FoldOp::Sub | FoldOp::Div | FoldOp::And | FoldOp::Or => {}
        }
    }

    fn builtin(&mut self, builtin: Builtin) {
        if let Some(convention) = prelude::convention(builtin) {
            self.insert(prelude::builtin_name(builtin), convention, true);
        }
        if let Builtin::Operation(op, _) = builtin {
            for operand in cotan_ops::tensor_row(op).operands {
                match operand.differentiability {
                    Differentiability::Smooth { condition: Some(condition) } => {
                        self.insert(op.name(), &format!("smooth where {condition}"), false);
                    }
                    Differentiability::Piecewise { convention } => self.insert(op.name(), convention, true),
                    Differentiability::Smooth { condition: None }
                    | Differentiability::Zero { .. }
                    | Differentiability::None { .. } => {}
                }
            }
        }
    }
}

/// Whether what a condition excludes has points of the domain on both sides.
fn is_inside(condition: &Condition) -> bool {
    match condition {
        Condition::Above(..) | Condition::Below(..) | Condition::NotPole(_) | Condition::NotGammaPole(_) => false,
        Condition::IsNot(..)
        | Condition::NotWhole(_)
        | Condition::NotHalf(_)
        | Condition::NotWholeRatio(..)
        | Condition::Differ(..)
        | Condition::NotBothZero(..)
        | Condition::OffCut(..) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn facts(text: &str) -> Vec<DerivativeFacts> {
        let (module, _) = cotan_syntax::parse(cotan_syntax::FileId(0), text);
        let checked = crate::check(&module.into(), &Limits::default());
        assert!(checked.is_valid(), "{:?}", checked.diagnostics);
        derivative_facts(&checked.program)
    }

    #[test]
    fn a_parameter_says_why_no_derivative_flows_from_it() {
        let of = |text| facts(text)[0].flows.clone();
        assert_eq!(of("fn f(x: f64, n: i64) -> f64 = x * (n as f64)"), [Flow::Flows, Flow::NoFloat]);
        assert_eq!(of("fn f(x: f64, y: f64) -> f64 = x * stop_gradient(y)"), [Flow::Flows, Flow::Stopped]);
        assert_eq!(of("fn f(x: f64, y: f64) -> bool = x < y"), [Flow::NoFloatInResult, Flow::NoFloatInResult]);
        assert_eq!(of("fn f(@nodiff x: f64, y: f64) -> f64 = x * y"), [Flow::Declared, Flow::Flows]);
        assert_eq!(of("fn f(g: (f64) -> f64, x: f64) -> f64 = g(x)"), [Flow::Function, Flow::Flows]);
        assert_eq!(of("fn f[T, N](x: T[N], i: i64) -> T = x[i]"), [Flow::Flows, Flow::NoFloat]);
    }

    #[test]
    fn conventions_are_those_of_the_operations_that_a_derivative_meets() {
        let of = |text: &str| -> Vec<(&'static str, bool)> {
            let last = facts(text).pop().expect("a function");
            last.conventions.at.iter().map(|(name, (_, is_inside))| (*name, *is_inside)).collect()
        };
        assert_eq!(
            of("fn g(x: f64) -> f64 = abs(x)\nfn f(x: f64) -> f64 = log(g(x))"),
            [("abs", true), ("log", false)]
        );
        assert_eq!(of("fn f(x: f64[3]) -> f64 = (max/ x) + norm(x)"), [("max/", true), ("norm", true)]);
        assert_eq!(of("fn f(x: f64[3]) -> f64 = x[0] - stop_gradient(max/ x)"), []);
        assert_eq!(of("fn f(x: f64) -> f64 = if x > 0.0 { x } else { 0.1 * x }"), [("if", true)]);
        assert_eq!(of("fn f(x: f64, n: i64) -> f64 = if n > 0 { x } else { abs(n) as f64 }"), []);
    }
}
