//! Ranges and integers.

use cotan_syntax::ast;
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::expressions::error;
use crate::codes;
use crate::dims::Dim;
use crate::typed::{Expr, ExprKind, Literal, Range};
use crate::types::Type;
use crate::unify::Elems;

impl BodyChecker<'_, '_> {
    /// A range as a tensor of integers.
    pub(super) fn range_value(&mut self, range: &ast::Range, span: Span) -> Expr {
        let Some(range) = self.range(range, span) else { return error(span) };
        let dim = self.range_extent(&range, span);
        let ty = Type::tensor(range.lo.ty.clone(), vec![dim]);
        Expr { span, ty, kind: ExprKind::Range(Box::new(range)) }
    }

    fn range_extent(&mut self, range: &Range, span: Span) -> Dim {
        let zero = Dim::constant(0);
        let one = Dim::constant(i64::from(range.inclusive));
        let length = match (self.size_of(&range.lo), self.size_of(&range.hi)) {
            (Some(lo), Some(hi)) if lo == zero => hi.plus(&one).filter(Dim::is_surely_non_negative),
            (Some(lo), Some(hi)) => {
                let length = hi.plus(&one).and_then(|hi| hi.minus(&lo));
                length.filter(|length| length.as_constant().is_some_and(|value| value >= 0))
            }
            _ => None,
        };
        length.map_or_else(|| self.new_size(span), Dim::at_run_time)
    }

    /// The bounds of a range, of one integer type.
    pub(super) fn range(&mut self, range: &ast::Range, span: Span) -> Option<Range> {
        let (Some(lo), Some(hi)) = (&range.lo, &range.hi) else {
            // An open end outside of an index has been reported by the parser.
            [&range.lo, &range.hi].into_iter().flatten().for_each(|end| drop(self.expr(end)));
            return None;
        };
        let (lo, hi) = (self.expr(lo), self.expr(hi));
        let (lo, hi) = (self.integer(lo, "a bound of the range")?, self.integer(hi, "a bound of the range")?);
        let wanted = lo.ty.clone();
        let hi = self.fit(hi, &wanted, "the upper bound of the range");
        (!hi.ty.has_error()).then_some(Range { lo, hi, inclusive: range.inclusive }).filter(|_| span.end >= span.start)
    }

    /// The value, if it is an integer scalar; reported otherwise.
    pub(super) fn integer(&mut self, value: Expr, subject: &str) -> Option<Expr> {
        if value.ty.has_error() {
            return None;
        }
        if let Type::Scalar(scalar) = value.ty
            && self.vars.require(scalar, Elems::integer())
        {
            return Some(value);
        }
        let message = format!("expected an integer for {subject}, found {}", self.show_value(&value));
        let help = match (&value.ty, &value.kind) {
            (Type::Scalar(_), ExprKind::Literal(Literal::Float(_))) => "write an integer without a point",
            (Type::Scalar(scalar), _) if self.vars.is_within(*scalar, Elems::any_float()) => {
                "convert with `as i64`, which is checked"
            }
            _ => "give an integer such as `n` or `3`",
        };
        self.report(Diagnostic::error(codes::INTEGER_EXPECTED, value.span, message).help(help));
        None
    }
}
