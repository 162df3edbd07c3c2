//! Infix operators.

use super::Formatter;
use crate::ast::{BinaryOp, Chain, Expr, ExprKind, Pipe, Range};

/// What stands between an operator and its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// Spaces, and a break after the operator if the line is full.
    Loose,
    /// Nothing.
    Tight,
}

impl Formatter<'_> {
    /// `a + b - c`: as many operands on a line as it holds.
    pub(super) fn chain(&mut self, chain: &Chain) {
        let is_dense = self.is_dense && is_plain_arithmetic(chain);
        let group = self.layout.open();
        let mut previous = &chain.first;
        // Of a fold by a function, `f/v` or `f/init/v`, the operands that are still to come.
        let mut n_folded = 0;
        self.operand(&chain.first, is_dense);
        self.layout.indent_always();
        for link in &chain.rest {
            if link.op == BinaryOp::Div && self.starts_fold(previous) {
                n_folded = 2;
            }
            let is_fold = link.op == BinaryOp::Div && n_folded > 0 && self.is_written_tight();
            n_folded = if is_fold { n_folded - 1 } else { 0 };
            let spacing = if is_dense || is_fold { Spacing::Tight } else { Spacing::Loose };
            self.operator(spacing);
            self.operand(&link.operand, is_dense);
            previous = &link.operand;
        }
        self.layout.dedent();
        self.layout.close(group);
    }

    fn operand(&mut self, operand: &Expr, is_dense: bool) {
        let outside = std::mem::replace(&mut self.is_dense, is_dense);
        self.expr(operand);
        self.is_dense = outside;
    }

    fn operator(&mut self, spacing: Spacing) {
        match spacing {
            Spacing::Loose => {
                self.layout.space();
                self.bare_next();
                self.layout.fill();
            }
            Spacing::Tight => self.next(),
        }
    }

    /// Whether an operand may be the function of a fold: a bare name that is no variable here.
    fn starts_fold(&self, operand: &Expr) -> bool {
        match &operand.kind {
            ExprKind::Name(name) => operand.span.len() as usize == name.len() && !self.bound.contains(name.as_str()),
            ExprKind::Literal(_)
            | ExprKind::Hole
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Struct(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary(_)
            | ExprKind::Pipe(_)
            | ExprKind::Range(_)
            | ExprKind::Fold(_)
            | ExprKind::FoldBy(_)
            | ExprKind::Postfix(_)
            | ExprKind::Ascription { .. }
            | ExprKind::Lambda(_)
            | ExprKind::LetIn(_)
            | ExprKind::If(_)
            | ExprKind::Match(_)
            | ExprKind::Block(_)
            | ExprKind::For(_)
            | ExprKind::While(_)
            | ExprKind::Break
            | ExprKind::Continue
            | ExprKind::Return(_)
            | ExprKind::Error => false,
        }
    }

    /// Whether the next token touches its neighbours in the source. What `f/v` means is known to the
    /// checker only, so that it stays as the author wrote it.
    fn is_written_tight(&self) -> bool {
        let touches = |left: usize, right: usize| match (self.tokens.get(left), self.tokens.get(right)) {
            (Some(left), Some(right)) => left.span.end == right.span.start,
            _ => false,
        };
        self.pos > 0 && touches(self.pos - 1, self.pos) && touches(self.pos, self.pos + 1)
    }

    /// `x |> f |> g`: on one line, or one stage a line.
    pub(super) fn pipe(&mut self, pipe: &Pipe) {
        let first_of = |f: &Self, start: u32| f.tokens.partition_point(|token| token.span.start < start);
        let is_open = pipe.stages.iter().any(|stage| self.tokens[first_of(self, stage.op_span.start)].newline_before);
        let group = self.layout.open();
        self.expr(&pipe.first);
        self.layout.indent();
        for (k, stage) in pipe.stages.iter().enumerate() {
            if is_open {
                self.layout.newline(false);
            } else {
                self.layout.sticky_line_or(" ", false);
            }
            self.next_and_space();
            let start = self.layout.mark();
            self.expr(&stage.function);
            if k + 1 == pipe.stages.len() && !is_open {
                let end = self.layout.mark();
                self.layout.hug(&group, start, end);
            }
        }
        self.layout.dedent();
        self.layout.close(group);
    }

    /// `lo..hi`, with dense ends.
    pub(super) fn range(&mut self, range: &Range) {
        let outside = std::mem::replace(&mut self.is_dense, true);
        if let Some(lo) = &range.lo {
            self.expr(lo);
        }
        self.next();
        if let Some(hi) = &range.hi {
            self.expr(hi);
        }
        self.is_dense = outside;
    }
}

/// Whether the chain reads well without spaces: undotted arithmetic, no prefix operator after the first
/// operand.
fn is_plain_arithmetic(chain: &Chain) -> bool {
    chain.rest.iter().all(|link| {
        let is_arithmetic =
            matches!(link.op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem);
        is_arithmetic && !matches!(link.operand.kind, ExprKind::Unary { .. } | ExprKind::Fold(_) | ExprKind::FoldBy(_))
    })
}
