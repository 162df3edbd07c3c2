//! Lists in brackets.

use super::Formatter;
use super::layout::OpenGroup;
use crate::ast::{Arg, Expr, ExprKind, PostfixKind};
use crate::token::TokenKind;

/// How the elements of a list in braces are separated where each has a line of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// By commas, one after the last too.
    Comma,
    /// By the line ends.
    Line,
}

impl Formatter<'_> {
    /// A list of `n` elements in parentheses or brackets; the next token is the opening one.
    pub(super) fn list(&mut self, n: usize, element: impl FnMut(&mut Self, usize)) {
        self.list_with_hug(n, None, element);
    }

    /// The same, where the element `hug` may go over lines alone.
    pub(super) fn list_with_hug(&mut self, n: usize, hug: Option<usize>, mut element: impl FnMut(&mut Self, usize)) {
        self.next();
        let group = self.layout.open();
        self.layout.indent();
        if n > 0 {
            self.layout.line_or("");
        }
        for k in 0..n {
            let start = self.layout.mark();
            element(self, k);
            let end = self.layout.mark();
            if hug == Some(k) {
                self.layout.hug(&group, start, end);
            }
            if k + 1 < n {
                self.comma();
                self.layout.line_or(" ");
            }
        }
        if n > 0 {
            self.skip(TokenKind::Comma);
            self.layout.when_broken(",");
        }
        self.end_list(group, |f| {
            if n > 0 {
                f.layout.line_or("")
            }
        });
    }

    /// Prints the end of a list, with the comments before it inside.
    fn end_list(&mut self, group: OpenGroup, last_break: impl FnOnce(&mut Self)) {
        self.comments();
        self.layout.dedent();
        last_break(self);
        self.layout.close(group);
        self.bare_next();
    }

    /// A comma, which may be missing where a line ends.
    pub(super) fn comma(&mut self) {
        if self.at(TokenKind::Comma) {
            self.bare_next();
        } else {
            self.layout.text(",");
        }
    }

    /// A list of `n` elements in braces; the next token is the brace. `has_comma_at_end` is whether a
    /// comma may follow the last one.
    pub(super) fn braces(
        &mut self,
        n: usize,
        separator: Separator,
        has_comma_at_end: bool,
        mut element: impl FnMut(&mut Self, usize),
    ) {
        let is_open = self.newline_follows() && n > 0;
        self.next();
        if n == 0 && !self.has_comments() {
            self.bare_next();
            return;
        }
        let group = self.layout.open();
        self.layout.indent();
        self.sticky_break(is_open, false);
        for k in 0..n {
            element(self, k);
            let is_last = k + 1 == n;
            match separator {
                Separator::Comma if is_last => {
                    self.skip(TokenKind::Comma);
                    if has_comma_at_end {
                        self.layout.when_broken(",");
                    }
                }
                Separator::Comma => self.comma(),
                Separator::Line => {
                    self.skip(TokenKind::Comma);
                    if !is_last {
                        self.layout.when_flat(",");
                    }
                }
            }
            if !is_last {
                let blank = self.blank_follows();
                self.sticky_break(is_open, blank);
            }
        }
        self.end_list(group, |f| f.sticky_break(is_open, false));
    }

    /// The break after a brace or between what stands in it: a line end if the author opened it.
    pub(super) fn sticky_break(&mut self, is_open: bool, blank: bool) {
        if is_open {
            self.layout.newline(blank);
        } else {
            self.layout.sticky_line_or(" ", blank);
        }
    }

    /// Arguments in parentheses or brackets.
    pub(super) fn args(&mut self, args: &[Arg]) {
        self.list_with_hug(args.len(), hugged(args), |f, k| f.arg(&args[k]));
    }

    fn arg(&mut self, arg: &Arg) {
        if arg.name.is_some() {
            self.next();
            self.spaced_next();
        }
        self.expr(&arg.value);
    }

    /// An array literal: rows stay as they are written, and literals fill lines.
    pub(super) fn array(&mut self, elements: &[Expr]) {
        let starts_line = |f: &Self, element: &Expr| {
            let at = f.tokens.partition_point(|token| token.span.start < element.span.start);
            f.tokens[at].newline_before
        };
        let rows: Vec<bool> = elements.iter().map(|element| starts_line(self, element)).collect();
        let has_rows = rows.iter().skip(1).any(|&starts| starts);
        let is_filled = elements.iter().all(is_number);
        self.next();
        let group = self.layout.open();
        self.layout.indent();
        for (k, element) in elements.iter().enumerate() {
            if k > 0 {
                self.comma();
            }
            match (has_rows, k) {
                (true, 0) => self.layout.newline(false),
                (true, _) if rows[k] => {
                    let blank = self.blank_follows();
                    self.layout.newline(blank);
                }
                (true, _) => self.layout.fill(),
                (false, 0) => self.layout.sticky_line_or("", false),
                (false, _) if is_filled => self.layout.fill(),
                (false, _) => self.layout.sticky_line_or(" ", false),
            }
            self.expr(element);
        }
        if !elements.is_empty() {
            self.skip(TokenKind::Comma);
            self.layout.when_broken(",");
        }
        self.end_list(group, |f| match (elements.is_empty(), has_rows) {
            (true, _) => {}
            (false, true) => f.layout.newline(false),
            (false, false) => f.layout.sticky_line_or("", false),
        });
    }
}

/// A number with or without a sign.
fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary { operand, .. } => matches!(operand.kind, ExprKind::Literal(_)),
        ExprKind::Name(_)
        | ExprKind::Hole
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Struct(_)
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

/// The one argument that may go over lines alone: the only lambda with a block, or the last argument.
pub(super) fn hugged(args: &[Arg]) -> Option<usize> {
    let ends_in_brace = |arg: &Arg| tail(&arg.value).is_some();
    let with_block = |arg: &Arg| matches!(arg.value.kind, ExprKind::Lambda(_)) && ends_in_brace(arg);
    let n_blocks = args.iter().filter(|arg| with_block(arg)).count();
    match n_blocks {
        0 => args.last().filter(|arg| ends_in_brace(arg)).map(|_| args.len() - 1),
        1 => args.iter().position(with_block),
        _ => None,
    }
}

/// The brace or array that an expression ends in, if it ends in one.
fn tail(expr: &Expr) -> Option<&Expr> {
    let mut at = expr;
    loop {
        at = match &at.kind {
            ExprKind::Block(_) | ExprKind::Struct(_) | ExprKind::Array(_) | ExprKind::Match(_) => return Some(at),
            ExprKind::Lambda(lambda) => &lambda.body,
            ExprKind::Fold(fold) => &fold.operand,
            ExprKind::Unary { operand, .. } => operand,
            ExprKind::Postfix(postfix) => match &postfix.ops.last()?.kind {
                PostfixKind::Call(args) => &args.last()?.value,
                PostfixKind::Index(_)
                | PostfixKind::Field(_)
                | PostfixKind::TupleField { .. }
                | PostfixKind::Cast(_) => {
                    return None;
                }
            },
            ExprKind::Literal(_)
            | ExprKind::Name(_)
            | ExprKind::Hole
            | ExprKind::Tuple(_)
            | ExprKind::Binary(_)
            | ExprKind::Pipe(_)
            | ExprKind::Range(_)
            | ExprKind::FoldBy(_)
            | ExprKind::Ascription { .. }
            | ExprKind::LetIn(_)
            | ExprKind::If(_)
            | ExprKind::For(_)
            | ExprKind::While(_)
            | ExprKind::Break
            | ExprKind::Continue
            | ExprKind::Return(_)
            | ExprKind::Error => return None,
        };
    }
}
