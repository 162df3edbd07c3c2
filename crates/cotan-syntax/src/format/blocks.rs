//! Blocks and statements, and the expressions that are made of blocks.

use super::Formatter;
use super::lists::Separator;
use crate::ast::{Assign, Attr, Block, Expr, ExprKind, For, If, Let, Match, Stmt, StmtKind, While};
use crate::token::TokenKind;

/// Whether a block decides alone if it stands on one line, or together with others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Alone,
    Others,
}

impl Formatter<'_> {
    /// A block with its attributes. It stays on one line if the author wrote it so, it fits and holds at
    /// most one statement.
    pub(super) fn block(&mut self, block: &Block) {
        self.attrs(&block.attrs);
        self.braced(block, Company::Alone);
    }

    fn braced(&mut self, block: &Block, company: Company) {
        let n = block.statements.len() + usize::from(block.value.is_some());
        let is_open = self.newline_follows() || n > 1;
        self.next();
        if n == 0 && !self.has_comments() {
            self.bare_next();
            return;
        }
        let group = (company == Company::Alone).then(|| self.layout.open());
        self.layout.indent();
        self.sticky_break(is_open, false);
        for (k, statement) in block.statements.iter().enumerate() {
            if k > 0 {
                self.between_statements();
            }
            self.statement(statement);
        }
        if let Some(value) = &block.value {
            if !block.statements.is_empty() {
                self.between_statements();
            }
            self.expr(value);
        } else if matches!(block.statements.last(), Some(Stmt { kind: StmtKind::Expr(_), .. })) {
            // The `;` says that the expression is not the value of the block.
            if self.at(TokenKind::Semicolon) {
                self.bare_next();
            }
        } else {
            self.skip(TokenKind::Semicolon);
        }
        self.comments();
        self.layout.dedent();
        self.sticky_break(is_open, false);
        if let Some(group) = group {
            self.layout.close(group);
        }
        self.bare_next();
    }

    fn between_statements(&mut self) {
        self.skip(TokenKind::Semicolon);
        let blank = self.blank_follows();
        self.layout.newline(blank);
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Let(binding) => self.binding(binding),
            StmtKind::Assign(assign) => self.assign(assign),
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Error => self.tokens_of(statement.span),
        }
    }

    pub(super) fn binding(&mut self, binding: &Let) {
        self.next_and_space();
        self.pattern(&binding.pattern);
        if let Some(ty) = &binding.ty {
            self.type_after_colon(ty);
        }
        self.layout.space();
        self.bare_next();
        self.right_side(&binding.value);
    }

    fn assign(&mut self, assign: &Assign) {
        self.expr(&assign.place);
        self.layout.space();
        // `max=` is two tokens.
        while self.token().span.start < assign.op_span.end {
            self.bare_next();
        }
        self.right_side(&assign.value);
    }

    /// What stands after `=` or `=>`: on the same line, or on the next if it fits only there.
    pub(super) fn right_side(&mut self, value: &Expr) {
        if self.has_comments() {
            self.layout.indent_always();
            self.layout.space();
            self.expr(value);
            self.layout.dedent();
        } else if stays_on_line(value) {
            self.layout.space();
            self.expr(value);
        } else {
            let group = self.layout.open_assignment();
            self.layout.indent();
            self.layout.line_or(" ");
            self.expr(value);
            self.layout.dedent();
            self.layout.close(group);
        }
    }

    /// `if`: all blocks on one line, or none.
    pub(super) fn if_expr(&mut self, parts: &If) {
        let group = self.layout.open();
        for (k, arm) in parts.arms.iter().enumerate() {
            if k > 0 {
                self.layout.space();
                self.next_and_space();
            }
            self.next_and_space();
            self.head(&arm.condition);
            self.braced(&arm.block, Company::Others);
        }
        if let Some(block) = &parts.otherwise {
            self.layout.space();
            self.next_and_space();
            self.braced(block, Company::Others);
        }
        self.layout.close(group);
    }

    /// The expression before a brace, and a space. Its further lines stand deeper than the body.
    fn head(&mut self, expr: &Expr) {
        self.layout.indent_always();
        self.expr(expr);
        self.layout.dedent();
        self.layout.space();
    }

    pub(super) fn match_expr(&mut self, parts: &Match) {
        self.next_and_space();
        self.head(&parts.scrutinee);
        self.braces(parts.arms.len(), Separator::Line, false, |f, k| {
            let arm = &parts.arms[k];
            f.pattern(&arm.pattern);
            if let Some(guard) = &arm.guard {
                f.spaced_next();
                f.expr(guard);
            }
            f.layout.space();
            f.bare_next();
            f.right_side(&arm.body);
        });
    }

    pub(super) fn for_expr(&mut self, parts: &For) {
        self.attrs(&parts.attrs);
        self.next_and_space();
        self.pattern(&parts.pattern);
        self.spaced_next();
        self.head(&parts.iterable);
        self.block(&parts.body);
    }

    pub(super) fn while_expr(&mut self, parts: &While) {
        self.attrs(&parts.attrs);
        self.next_and_space();
        self.head(&parts.condition);
        self.block(&parts.body);
    }

    /// Attributes, each with what follows it on the same line or not, as written.
    pub(super) fn attrs(&mut self, attrs: &[Attr]) {
        for attr in attrs {
            self.next_n(2);
            if self.at(TokenKind::LParen) && self.token().span.start < attr.span.end {
                self.args(&attr.args);
            }
            if self.token().newline_before {
                self.layout.newline(false);
            } else {
                self.layout.space();
            }
        }
    }
}

/// Whether an expression begins on the line of its `=`, however long it is: what is made of blocks and
/// stages breaks well inside.
fn stays_on_line(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Pipe(_)
        | ExprKind::Lambda(_)
        | ExprKind::If(_)
        | ExprKind::Match(_)
        | ExprKind::Block(_)
        | ExprKind::For(_)
        | ExprKind::While(_)
        | ExprKind::Break
        | ExprKind::Continue
        | ExprKind::Return(_) => true,
        ExprKind::Literal(_)
        | ExprKind::Name(_)
        | ExprKind::Hole
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Struct(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary(_)
        | ExprKind::Range(_)
        | ExprKind::Fold(_)
        | ExprKind::FoldBy(_)
        | ExprKind::Postfix(_)
        | ExprKind::Ascription { .. }
        | ExprKind::LetIn(_)
        | ExprKind::Error => false,
    }
}
