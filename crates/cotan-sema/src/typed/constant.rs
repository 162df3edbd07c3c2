//! Constant expressions, such as the defaults of parameters: literals, arrays and tuples of them.

use super::{Expr, ExprKind, Type};
use cotan_syntax::Span;

impl Expr {
    /// A constant expression at another place.
    pub fn at(&self, span: Span) -> Self {
        let mut moved = self.clone();
        moved.each_constant(&mut |part| part.span = span);
        moved
    }

    /// A constant expression with other types.
    pub fn with_types(mut self, of: &dyn Fn(&Type) -> Type) -> Self {
        self.each_constant(&mut |part| part.ty = of(&part.ty));
        self
    }

    /// Calls `f` for a constant expression and its parts.
    fn each_constant(&mut self, f: &mut dyn FnMut(&mut Self)) {
        f(self);
        if let ExprKind::Tuple(parts) | ExprKind::Array(parts) = &mut self.kind {
            parts.iter_mut().for_each(|part| part.each_constant(f));
        }
        if let ExprKind::Unary { operand, .. } = &mut self.kind {
            operand.each_constant(f);
        }
    }
}
