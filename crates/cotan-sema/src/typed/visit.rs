//! Visitor of all types of a typed tree, to fill in what inference found out.

use super::{Body, Callable, Expr, PartMut, Pattern, PatternKind, Role, Type};

/// Something that changes types.
pub struct TypeVisitor<'f> {
    /// Called for every type.
    pub ty: &'f mut dyn FnMut(&mut Type),
    /// Called for everything that is called or passed on, after its parts.
    pub callable: &'f mut dyn FnMut(&mut Callable),
    /// Called for every expression, after its parts.
    pub expr: &'f mut dyn FnMut(&mut Expr),
}

impl TypeVisitor<'_> {
    /// Visits a body: its locals, then its value.
    pub fn body(&mut self, body: &mut Body) {
        body.locals.iter_mut().for_each(|local| (self.ty)(&mut local.ty));
        self.expr(&mut body.value);
    }

    fn expr(&mut self, expr: &mut Expr) {
        (self.ty)(&mut expr.ty);
        expr.each_role_mut(&mut |role| self.role(role));
        (self.expr)(expr);
    }

    /// Visits a callable.
    pub fn callable(&mut self, callable: &mut Callable) {
        callable.each_role_mut(&mut |role| self.role(role));
        (self.callable)(callable);
    }

    fn role(&mut self, role: PartMut<'_>) {
        match role {
            Role::Operand(expr) | Role::Later(expr) => self.expr(expr),
            Role::Callable(callable) => self.callable(callable),
            Role::Pattern(pattern) => self.pattern(pattern),
            Role::Type(ty) => (self.ty)(ty),
        }
    }

    /// Visits a pattern and all patterns in it.
    pub fn pattern(&mut self, pattern: &mut Pattern) {
        (self.ty)(&mut pattern.ty);
        match &mut pattern.kind {
            PatternKind::Wildcard | PatternKind::Local(_) | PatternKind::Literal(_) | PatternKind::Range(_) => {}
            PatternKind::Fields(fields) | PatternKind::Variant { fields, .. } => {
                fields.iter_mut().for_each(|(_, field)| self.pattern(field));
            }
            PatternKind::Or(alternatives) => {
                alternatives.iter_mut().for_each(|alternative| self.pattern(alternative));
            }
        }
    }
}
