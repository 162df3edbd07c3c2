//! Expressions.

use super::Formatter;
use super::lists::Separator;
use crate::ast::{Expr, ExprKind, Fold, FoldBy, Lambda, LetIn, Postfix, PostfixKind, StructLiteral};
use crate::token::TokenKind;

impl Formatter<'_> {
    /// An expression with the parentheses round it.
    pub(super) fn expr(&mut self, expr: &Expr) {
        let own = usize::from(matches!(expr.kind, ExprKind::Tuple(_)));
        let parens = self.parens(expr.span.end).saturating_sub(own);
        self.next_n(parens);
        self.bare_expr(expr);
        self.close_parens(parens);
    }

    fn bare_expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Hole | ExprKind::Break | ExprKind::Continue => {
                self.next();
            }
            ExprKind::Tuple(parts) if parts.len() == 1 => {
                // Here the comma makes the tuple.
                self.next();
                self.expr(&parts[0]);
                self.bare_next();
                self.next();
            }
            ExprKind::Tuple(parts) => self.list(parts.len(), |f, k| f.expr(&parts[k])),
            ExprKind::Array(elements) => self.array(elements),
            ExprKind::Struct(literal) => self.struct_literal(literal),
            ExprKind::Unary { operand, .. } => {
                self.next();
                self.expr(operand);
            }
            ExprKind::Binary(chain) => self.chain(chain),
            ExprKind::Pipe(pipe) => self.pipe(pipe),
            ExprKind::Range(range) => self.range(range),
            ExprKind::Fold(fold) => self.fold(fold),
            ExprKind::FoldBy(fold) => self.fold_by(fold),
            ExprKind::Postfix(postfix) => self.postfix(postfix),
            ExprKind::Ascription { operand, ty } => {
                self.expr(operand);
                self.spaced_next();
                self.ty(ty);
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::LetIn(parts) => self.let_in(parts),
            ExprKind::If(parts) => self.if_expr(parts),
            ExprKind::Match(parts) => self.match_expr(parts),
            ExprKind::Block(block) => self.block(block),
            ExprKind::For(parts) => self.for_expr(parts),
            ExprKind::While(parts) => self.while_expr(parts),
            ExprKind::Return(value) => {
                self.next();
                if let Some(value) = value {
                    self.layout.space();
                    self.expr(value);
                }
            }
            ExprKind::Error => self.tokens_of(expr.span),
        }
    }

    fn struct_literal(&mut self, literal: &StructLiteral) {
        self.tokens_of(literal.path.span);
        if self.at(TokenKind::LBracket) {
            self.args(&literal.generics);
        }
        self.layout.space();
        let n_fields = literal.fields.len();
        let n = n_fields + usize::from(literal.base.is_some());
        self.braces(n, Separator::Comma, literal.base.is_none(), |f, _| {
            // `..base` may stand between the fields.
            let at = f.token().span;
            match (literal.fields.iter().find(|field| field.name.span == at), &literal.base) {
                (Some(field), _) if field.shorthand => f.next(),
                (Some(field), _) => {
                    f.next();
                    f.next_and_space();
                    f.expr(&field.value);
                }
                (None, Some(base)) => {
                    f.next();
                    f.expr(base);
                }
                (None, None) => f.next(),
            }
        });
    }

    /// `+/ v`, `+/(a .* b)`, `max/[axis = 0] m`
    fn fold(&mut self, fold: &Fold) {
        while self.token().span.start < fold.op_span.end {
            self.next();
        }
        if let Some(selector) = &fold.selector {
            // A comma after `all` would make it an operand.
            self.tokens_of(selector.span);
        }
        if fold.selector.is_some() || !self.at(TokenKind::LParen) {
            self.layout.space();
        }
        self.expr(&fold.operand);
    }

    fn fold_by(&mut self, fold: &FoldBy) {
        self.expr(&fold.function);
        self.next();
        if let Some(init) = &fold.init {
            self.expr(init);
            self.next();
        }
        self.expr(&fold.operand);
    }

    fn postfix(&mut self, postfix: &Postfix) {
        self.expr(&postfix.base);
        for op in &postfix.ops {
            match &op.kind {
                PostfixKind::Call(args) => self.spread(|f| f.args(args)),
                PostfixKind::Index(args) => self.spread(|f| f.args(args)),
                PostfixKind::Field(_) | PostfixKind::TupleField { .. } => self.next_n(2),
                PostfixKind::Cast(ty) => {
                    self.spaced_next();
                    self.ty(ty);
                }
            }
        }
    }

    /// Prints what is not dense, whatever stands round it.
    fn spread(&mut self, print: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.is_dense, false);
        print(self);
        self.is_dense = outside;
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.next();
        let n = lambda.params.len();
        for (k, param) in lambda.params.iter().enumerate() {
            self.pattern(&param.pattern);
            if let Some(ty) = &param.ty {
                self.type_after_colon(ty);
            }
            if k + 1 < n {
                self.bare_next();
                self.layout.space();
            }
        }
        // `||` is one token; `| |` is two.
        if self.skip(TokenKind::Comma) || self.at(TokenKind::Bar) {
            self.next();
        }
        self.layout.space();
        self.spread(|f| f.expr(&lambda.body));
    }

    fn let_in(&mut self, parts: &LetIn) {
        self.binding(&parts.binding);
        self.spaced_next();
        self.expr(&parts.body);
    }
}
