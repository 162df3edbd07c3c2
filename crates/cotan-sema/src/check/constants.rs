//! Constants and the defaults of parameters: their types, and their values, which are known before the program runs.

use cotan_syntax::ast::{self, Expr as Ast, ExprKind as AstKind, PostfixKind};
use cotan_syntax::{Diagnostic, Span};

use super::evaluate::evaluate;
use super::infer::Strictness;
use super::scope::Found;
use super::type_scope::TypeScope;
use super::{BodyChecker, Def, ModuleChecker, finish};
use crate::codes;
use crate::dims::Dim;
use crate::modules::ModuleId;
use crate::prelude;
use crate::typed::{Expr, ExprKind, Literal};
use crate::types::{Generic, Type};

/// A `const` declaration.
pub(super) struct Constant<'a> {
    pub(super) module: ModuleId,
    pub(super) item: &'a ast::Const,
    pub(super) state: State,
}

/// How far a constant has come.
pub(super) enum State {
    Unseen,
    /// Its value is being computed.
    Open,
    /// Its value; `None` if there is none, which has been reported.
    Done(Option<Expr>),
}

impl ModuleChecker<'_> {
    /// The value of a constant as an expression of literals. Reports a constant that is defined by itself.
    pub(super) fn resolve_constant(&mut self, at: usize, use_span: Span) -> Option<Expr> {
        let Constant { module, item, ref state } = self.constants[at];
        match state {
            State::Done(value) => return value.clone(),
            State::Open => {
                let message = format!("expected another value behind `{0}`, found `{0}` itself", item.name.name);
                self.report(
                    Diagnostic::error(codes::CONSTANT_CYCLE, item.name.span, message)
                        .label(use_span, "needed here")
                        .help("let one of the constants be a number"),
                );
                return None;
            }
            State::Unseen => {}
        }
        if !self.enter_declaration(item.name.span) {
            self.constants[at].state = State::Done(None);
            return None;
        }
        self.constants[at].state = State::Open;
        let value = self.within(module, |this| {
            let wanted = item.ty.as_ref().map(|ty| (this.value_type(ty, &mut TypeScope::new(Vec::new())), ty.span));
            constant_value(this, &item.value, wanted, &[], &format!("the constant `{}`", item.name.name))
        });
        self.declaration_depth -= 1;
        self.constants[at].state = State::Done(value.clone());
        value
    }

    /// A constant where a declared name that is no size stands in a size.
    pub(super) fn declared_size(&mut self, found: &Found) -> Option<Dim> {
        match found.def {
            Def::Constant(at) => constant_size(self, at, found),
            Def::Unusable => None,
            Def::Function(_)
            | Def::Pending
            | Def::Module(_)
            | Def::Gradients(_)
            | Def::Struct(_)
            | Def::Enum(_)
            | Def::Alias(_)
            | Def::Trait(_) => {
                let message = format!("expected a size, found `{}`, which is no number", found.name);
                self.report(
                    Diagnostic::error(codes::NOT_A_SIZE, found.span, message)
                        .label(found.definition, "declared here")
                        .help("sizes are made of integers, constants, size parameters and integer parameters"),
                );
                None
            }
        }
    }
}

/// The value of an expression that must be constant, of the type that is wanted.
pub(super) fn constant_value(
    checker: &mut ModuleChecker<'_>,
    expr: &Ast,
    wanted: Option<(Type, Span)>,
    generics: &[Generic],
    subject: &str,
) -> Option<Expr> {
    if let Err((span, found)) = constant_syntax(checker, expr) {
        if !found.is_empty() {
            let message = format!("expected numbers, operators and constants for {subject}, found {found}");
            checker.report(
                Diagnostic::error(codes::NOT_CONSTANT, span, message)
                    .help("compute it in a function: `fn value() -> f64 = ...`"),
            );
        }
        return None;
    }
    let mut body = BodyChecker::outside(checker, generics.to_vec());
    let mut value = body.expr(expr);
    if let Some((ty, span)) = wanted {
        value = body.fit_as(value, &ty, subject, Strictness::Exact, Some((span, "the declared type")));
    }
    let n_errors = body.module.diagnostics.len();
    let body = finish::finish(body, value);
    if body.value.ty.has_error() || checker.diagnostics.len() > n_errors {
        return None;
    }
    match evaluate(&body.value) {
        Ok(value) => Some(value),
        Err(diagnostic) => {
            checker.report(*diagnostic);
            None
        }
    }
}

/// Whether an expression may be constant by its form: no names but those of constants, no functions but those on
/// numbers. Otherwise where it is not, and what stands there; nothing, if that has been reported.
fn constant_syntax(checker: &ModuleChecker<'_>, expr: &Ast) -> Result<(), (Span, String)> {
    let other = |found: &str| Err((expr.span, found.to_owned()));
    match &expr.kind {
        AstKind::Literal(_) | AstKind::Name(_) => Ok(()),
        AstKind::Tuple(parts) | AstKind::Array(parts) => {
            parts.iter().try_for_each(|part| constant_syntax(checker, part))
        }
        AstKind::Unary { operand, .. } | AstKind::Ascription { operand, .. } => constant_syntax(checker, operand),
        AstKind::Binary(chain) => {
            constant_syntax(checker, &chain.first)?;
            chain.rest.iter().try_for_each(|link| constant_syntax(checker, &link.operand))
        }
        AstKind::Postfix(postfix) => {
            constant_syntax(checker, &postfix.base)?;
            for op in &postfix.ops {
                match &op.kind {
                    PostfixKind::Field(_) | PostfixKind::TupleField { .. } | PostfixKind::Cast(_) => {}
                    PostfixKind::Call(args) if is_scalar_function(checker, &postfix.base) => {
                        args.iter().try_for_each(|arg| constant_syntax(checker, &arg.value))?;
                    }
                    PostfixKind::Call(_) => return other("a call"),
                    PostfixKind::Index(_) => return other("an index"),
                }
            }
            Ok(())
        }
        AstKind::Hole => other("`_`"),
        AstKind::Struct(_) => other("a struct"),
        AstKind::Pipe(_) => other("`|>`"),
        AstKind::Range(_) => other("a range"),
        AstKind::Fold(_) | AstKind::FoldBy(_) => other("a fold"),
        AstKind::Lambda(_) => other("a lambda"),
        AstKind::If(it) => {
            for arm in &it.arms {
                constant_syntax(checker, &arm.condition)?;
                constant_block(checker, &arm.block)?;
            }
            it.otherwise.as_ref().map_or(Ok(()), |block| constant_block(checker, block))
        }
        AstKind::Block(block) => constant_block(checker, block),
        AstKind::LetIn(_) => other("`let`"),
        AstKind::Match(_) => other("`match`"),
        AstKind::For(_) | AstKind::While(_) => other("a loop"),
        AstKind::Break | AstKind::Continue | AstKind::Return(_) => other("a jump"),
        AstKind::Error => other(""),
    }
}

fn constant_block(checker: &ModuleChecker<'_>, block: &ast::Block) -> Result<(), (Span, String)> {
    match (block.statements.first(), &block.value) {
        (None, Some(value)) => constant_syntax(checker, value),
        (Some(statement), _) => Err((statement.span, "a statement".to_owned())),
        (None, None) => Err((block.span, "an empty block".to_owned())),
    }
}

/// Whether an expression is the name of a function of the prelude on numbers.
fn is_scalar_function(checker: &ModuleChecker<'_>, expr: &Ast) -> bool {
    let AstKind::Name(name) = &expr.kind else { return false };
    checker.find(name).is_none() && prelude::scalar_function(name).is_some()
}

/// The size that a constant stands for; reports one that is no integer.
fn constant_size(checker: &mut ModuleChecker<'_>, at: usize, found: &Found) -> Option<Dim> {
    let value = checker.resolve_constant(at, found.span)?;
    if let ExprKind::Literal(Literal::Int(value)) = value.kind
        && let Ok(size) = i64::try_from(value)
    {
        return Some(Dim::constant(size));
    }
    let message = format!("expected a size, found the constant `{}`, which is no integer", found.name);
    checker.report(
        Diagnostic::error(codes::NOT_A_SIZE, found.span, message)
            .label(found.definition, "declared here")
            .help("declare it with the type `i64`"),
    );
    None
}

/// Computes all constants, those that nothing uses included.
pub(super) fn resolve_constants(checker: &mut ModuleChecker<'_>) {
    for at in 0..checker.constants.len() {
        let span = checker.constants[at].item.name.span;
        checker.resolve_constant(at, span);
    }
}
