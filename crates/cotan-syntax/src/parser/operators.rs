//! Infix operators: precedence climbing over the table in [`crate::precedence`].
//!
//! Operators that wait for their right operand are kept on a stack of their own. So an expression
//! takes one frame of the program's stack, however many levels of operators it has.

use super::mistakes::Slip;
use super::{Bracket, Parser, expressions, foreign, mistakes};
use crate::ast::{Chain, Expr, ExprKind, Link, Pipe, Range, Stage};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::precedence::{self, Associativity, Infix, InfixKind};
use crate::span::Span;
use crate::token::TokenKind;

/// A run of operators of one level whose last operand is still being read.
struct Open {
    start: Span,
    first: Expr,
    /// The operators that have their operands.
    steps: Vec<Step>,
    /// The operator that waits for its operand.
    infix: Infix,
    op_span: Span,
    /// Whether the run is an error such as `a < b < c`.
    is_rejected: bool,
}

struct Step {
    kind: InfixKind,
    op_span: Span,
    operand: Expr,
}

impl Open {
    /// Whether `next` belongs to the operand that this run waits for, or goes on with the run.
    fn waits_for(&self, next: Option<Infix>) -> bool {
        next.is_some_and(|next| {
            next.level > self.infix.level || next.level == self.infix.level && next.associativity != Associativity::None
        })
    }

    /// Whether `next` goes on with this run.
    fn goes_on_with(&self, next: Infix) -> bool {
        next.level == self.infix.level && next.associativity == Associativity::Left
    }
}

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expr(&mut self) -> Expr {
        operators(self, 0)
    }

    /// Reads an expression that is one level deeper than the one around it.
    pub(super) fn deeper_expr(&mut self) -> Expr {
        self.deeper_operators(0)
    }

    /// Reads an expression like [`operators`], one level deeper.
    pub(super) fn deeper_operators(&mut self, level: u8) -> Expr {
        if !self.enter() {
            return self.missing_expr();
        }
        let expr = operators(self, level);
        self.leave();
        expr
    }

    /// Reads a range without a start.
    pub(super) fn open_range(&mut self) -> Expr {
        let inclusive = self.at(TokenKind::DotDotEq);
        let op_span = self.bump();
        let hi = self.starts_expression().then(|| self.deeper_operators(precedence::RANGE + 1));
        range(self, op_span, None, hi, inclusive, op_span)
    }
}

/// Reads an expression with the infix operators of `level` and tighter.
fn operators(parser: &mut Parser<'_>, level: u8) -> Expr {
    let mut open: Vec<Open> = Vec::new();
    let mut start = parser.token().span;
    let mut left = expressions::prefix(parser, level);
    loop {
        let next = infix(parser, level);
        let mut closed = None;
        while let Some(run) = open.pop_if(|run| !run.waits_for(next.map(|(infix, _)| infix))) {
            closed = Some(run.infix);
            start = run.start;
            left = finish(parser, run, left);
        }
        let Some((infix, slip)) = next else {
            let may_go_on = level == 0 && foreign::conditionals::may_follow_expression(parser.peek());
            return if may_go_on { foreign::conditionals::after_expression(parser, left) } else { left };
        };
        let is_rejected = reject_chaining(parser, closed, infix, left.span);
        let op_span = take_operator(parser, slip);
        if let InfixKind::Range { inclusive } = infix.kind
            && !parser.starts_expression()
        {
            left = range(parser, start, Some(left), None, inclusive, op_span);
            continue;
        }
        match open.last_mut() {
            Some(run) if run.goes_on_with(infix) => {
                run.steps.push(Step { kind: run.infix.kind, op_span: run.op_span, operand: left });
                run.infix = infix;
                run.op_span = op_span;
            }
            _ => {
                // A run from the right makes the tree one level deeper with each operator.
                if infix.associativity == Associativity::Right && !parser.enter() {
                    continue;
                }
                open.push(Open { start, first: left, steps: Vec::new(), infix, op_span, is_rejected });
            }
        }
        let is_right = infix.associativity == Associativity::Right;
        start = parser.token().span;
        left = expressions::prefix(parser, infix.level + u8::from(!is_right));
    }
}

/// The infix operator that stands here, if it is of `level` or tighter, and the slip if it
/// is written in a wrong way.
fn infix(parser: &Parser<'_>, level: u8) -> Option<(Infix, Option<Slip>)> {
    if parser.at_new_line() && !precedence::continues_line(parser.peek()) {
        return None;
    }
    let (infix, slip) = match precedence::infix(parser.peek()) {
        Some(infix) => (infix, mistakes::slip_at_operator(parser)),
        None => {
            let slip = mistakes::slip(parser)?;
            (slip.meant()?, Some(slip))
        }
    };
    (infix.level >= level).then_some((infix, slip))
}

/// Moves past an infix operator and reports its slip.
fn take_operator(parser: &mut Parser<'_>, slip: Option<Slip>) -> Span {
    match slip {
        Some(slip) => mistakes::take_slip(parser, slip),
        None => parser.bump(),
    }
}

/// Makes the node of a run, whose last operand is `last`.
fn finish(parser: &mut Parser<'_>, run: Open, last: Expr) -> Expr {
    let Open { start, first, mut steps, infix, op_span, is_rejected } = run;
    if infix.associativity == Associativity::Right {
        parser.leave();
    }
    if is_rejected {
        return parser.error_expr(start.to(last.span));
    }
    if let InfixKind::Range { inclusive } = infix.kind {
        return range(parser, start, Some(first), Some(last), inclusive, op_span);
    }
    steps.push(Step { kind: infix.kind, op_span, operand: last });
    let is_pipe = infix.kind == InfixKind::Pipe;
    let (n_links, n_stages) = if is_pipe { (0, steps.len()) } else { (steps.len(), 0) };
    let mut rest = Vec::with_capacity(n_links);
    let mut stages = Vec::with_capacity(n_stages);
    for Step { kind, op_span, operand } in steps {
        match kind {
            InfixKind::Binary(op) => rest.push(Link { id: parser.node(), op, op_span, operand }),
            InfixKind::Pipe => stages.push(Stage { id: parser.node(), op_span, function: operand }),
            InfixKind::Range { .. } => {}
        }
    }
    let kind = match infix.kind {
        InfixKind::Pipe => ExprKind::Pipe(Box::new(Pipe { first, stages })),
        InfixKind::Binary(_) | InfixKind::Range { .. } => ExprKind::Binary(Box::new(Chain { first, rest })),
    };
    parser.expr_node(start, kind)
}

/// Makes the node of a range. Only in brackets may an end be missing.
fn range(
    parser: &mut Parser<'_>,
    start: Span,
    lo: Option<Expr>,
    hi: Option<Expr>,
    inclusive: bool,
    op_span: Span,
) -> Expr {
    let in_brackets = parser.bracket == Bracket::Square;
    if !in_brackets && (lo.is_none() || hi.is_none()) {
        let missing = if lo.is_none() { "start" } else { "end" };
        let message = format!("expected a range with two ends, found `{}` without {missing}", parser.text(op_span));
        let diagnostic = Diagnostic::error(codes::OPEN_RANGE, op_span, message)
            .help("only an index may leave an end out, as in `a[1..]`");
        parser.report_earlier(diagnostic);
    }
    parser.expr_node(start, ExprKind::Range(Box::new(Range { lo, hi, inclusive, op_span, in_brackets })))
}

/// Reports `a < b < c`: `closed` is the operator of the expression at `left`. Says whether
/// there was something to report.
fn reject_chaining(parser: &mut Parser<'_>, closed: Option<Infix>, next: Infix, left: Span) -> bool {
    let Some(closed) = closed.filter(|closed| closed.level == next.level) else {
        return false;
    };
    let text = |token: TokenKind| token.text().unwrap_or("");
    let message = format!("expected the end of the operands of `{}`, found `{}`", text(closed.token), text(next.token));
    let help = if next.level == precedence::RANGE {
        "a range has two ends; put parentheses round an end that is a range"
    } else {
        "compare in pairs: `a < b && b < c`; or put parentheses round one comparison"
    };
    let diagnostic = Diagnostic::error(codes::CHAINED_OPERATORS, parser.token().span, message)
        .label(left, "this is already a complete expression")
        .help(help);
    parser.report(diagnostic);
    true
}
