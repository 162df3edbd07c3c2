//! Scalar types that are not known yet: those of literals, and of element type parameters at a
//! call. Everything else about a type is known when its expression has been checked, so this is
//! all that there is to infer.

use cotan_ir::Elem;
use cotan_syntax::Span;

use crate::types::{Bound, Scalar, ScalarVar, Type};

/// A set of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elems(u16);

impl Elems {
    /// The element types for which `has` holds.
    pub(crate) fn filter(has: impl Fn(Elem) -> bool) -> Self {
        Self(Elem::ALL.into_iter().filter(|elem| has(*elem)).fold(0, |bits, elem| bits | 1 << elem as u16))
    }

    /// All element types.
    pub(crate) fn any() -> Self {
        Self::filter(|_| true)
    }

    /// Integer and float types.
    pub(crate) fn numeric() -> Self {
        Self::of_bound(Bound::Numeric)
    }

    /// Integer types.
    pub(crate) fn integer() -> Self {
        Self::of_bound(Bound::Integer)
    }

    /// Float types, those for storage included.
    pub(crate) fn any_float() -> Self {
        Self::filter(Elem::is_float)
    }

    /// What an integer literal may be: an integer, or a float.
    pub(crate) fn number() -> Self {
        Self::filter(|elem| elem.is_integer() || elem.is_float())
    }

    /// Float types that are computed with.
    pub(crate) fn float() -> Self {
        Self::of_bound(Bound::Float)
    }

    /// `bool` alone.
    pub(crate) fn bool() -> Self {
        Self::filter(|elem| elem == Elem::Bool)
    }

    /// The types that have a trait.
    pub(crate) fn of_bound(bound: Bound) -> Self {
        Self::filter(|elem| bound.admits(elem))
    }

    fn has(self, elem: Elem) -> bool {
        self.0 & (1 << elem as u16) != 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// What is known of a scalar type that is not decided.
#[derive(Clone, Copy, Debug)]
struct Free {
    allowed: Elems,
    default: Option<Elem>,
    /// Where it became an integer: as an index, or as an end of a range.
    position: Option<Span>,
}

impl Free {
    /// What it is if nothing else decides it. An integer literal where only a float may stand is an f64.
    fn fallback(self) -> Option<Elem> {
        let default = self.default?;
        [default, Elem::F64].into_iter().find(|elem| self.allowed.has(*elem))
    }

    /// Adds what is known of another type that turned out to be this one. What was an integer among defaults stays one:
    /// elements that nothing decides are those of the literals beside them.
    fn take_default(&mut self, other: Free) {
        let defaults = [self.default, other.default];
        let integer = defaults.into_iter().flatten().find(|elem| elem.is_integer() && self.allowed.has(*elem));
        self.default = integer.or(self.default).or(other.default);
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Free(Free),
    Bound(Scalar),
}

/// The scalar types that a body leaves open, and what has been found out about them.
#[derive(Debug, Default)]
pub(crate) struct ScalarVars {
    states: Vec<State>,
    /// The bounds of the element type parameters of the function, by position among its generics.
    bounds: Vec<Option<Bound>>,
}

impl ScalarVars {
    /// No variables, in a function whose generics have these bounds.
    pub(crate) fn new(bounds: Vec<Option<Bound>>) -> Self {
        Self { states: Vec::new(), bounds }
    }

    /// A type among `allowed`; `default` if nothing decides it.
    pub(crate) fn fresh(&mut self, allowed: Elems, default: Option<Elem>) -> Scalar {
        self.states.push(State::Free(Free { allowed, default, position: None }));
        Scalar::Var(ScalarVar(self.states.len() as u32 - 1))
    }

    /// The type of an integer literal: any number, an i64 if nothing asks for another one.
    pub(crate) fn integer_literal(&mut self) -> Scalar {
        self.fresh(Elems::number(), Some(Elem::I64))
    }

    /// The type of a float literal.
    pub(crate) fn float_literal(&mut self) -> Scalar {
        self.fresh(Elems::any_float(), Some(Elem::F64))
    }

    /// What is known of a scalar type by now.
    pub(crate) fn resolve(&self, scalar: Scalar) -> Scalar {
        let mut scalar = scalar;
        while let Scalar::Var(var) = scalar {
            match self.states[var.0 as usize] {
                State::Bound(next) => scalar = next,
                State::Free(_) => break,
            }
        }
        scalar
    }

    /// The types that a scalar type may turn out to be.
    pub(crate) fn allowed(&self, scalar: Scalar) -> Elems {
        match self.resolve(scalar) {
            Scalar::Of(elem) => Elems::filter(|other| other == elem),
            Scalar::Param(id) => match self.bounds.get(id.0 as usize).copied().flatten() {
                Some(bound) => Elems::of_bound(bound),
                None => Elems::any(),
            },
            Scalar::Var(var) => match self.states[var.0 as usize] {
                State::Free(free) => free.allowed,
                State::Bound(_) => Elems::any(),
            },
        }
    }

    /// Whether a scalar type is among `elems`, whatever it turns out to be.
    pub(crate) fn is_within(&self, scalar: Scalar, elems: Elems) -> bool {
        self.allowed(scalar).is_within(elems)
    }

    /// The default of a type that nothing has decided yet.
    pub(crate) fn default_of(&self, scalar: Scalar) -> Option<Elem> {
        match self.resolve(scalar) {
            Scalar::Var(var) => match self.states[var.0 as usize] {
                State::Free(free) => free.fallback(),
                State::Bound(_) => None,
            },
            Scalar::Of(_) | Scalar::Param(_) => None,
        }
    }

    /// Makes a scalar type one of `elems`; `false` if it is not.
    pub(crate) fn require(&mut self, scalar: Scalar, elems: Elems) -> bool {
        match self.resolve(scalar) {
            Scalar::Var(var) => {
                let State::Free(free) = &mut self.states[var.0 as usize] else { return true };
                let allowed = free.allowed.and(elems);
                if allowed.is_empty() {
                    return false;
                }
                free.allowed = allowed;
                true
            }
            known @ (Scalar::Of(_) | Scalar::Param(_)) => self.is_within(known, elems),
        }
    }

    /// Makes the scalar type of an index, or of an end of a range, an integer; `false` if it is none.
    pub(crate) fn require_position(&mut self, scalar: Scalar, place: Span) -> bool {
        let holds = self.require(scalar, Elems::integer());
        if let Scalar::Var(var) = self.resolve(scalar)
            && let State::Free(free) = &mut self.states[var.0 as usize]
            && holds
        {
            free.position.get_or_insert(place);
        }
        holds
    }

    /// Where an open type became that of an index.
    pub(crate) fn position(&self, scalar: Scalar) -> Option<Span> {
        let Scalar::Var(var) = self.resolve(scalar) else { return None };
        if let State::Free(free) = self.states[var.0 as usize] { free.position } else { None }
    }

    /// Makes two scalar types one; `false` if they differ.
    pub(crate) fn unify(&mut self, a: Scalar, b: Scalar) -> bool {
        let (a, b) = (self.resolve(a), self.resolve(b));
        if a == b {
            return true;
        }
        let (var, other) = match (a, b) {
            (_, Scalar::Var(var)) => (var, a),
            (Scalar::Var(var), _) => (var, b),
            (Scalar::Of(_) | Scalar::Param(_), Scalar::Of(_) | Scalar::Param(_)) => return false,
        };
        let State::Free(free) = self.states[var.0 as usize] else { return false };
        if !self.require(other, free.allowed) {
            return false;
        }
        if let Scalar::Var(kept) = other
            && let State::Free(kept) = &mut self.states[kept.0 as usize]
        {
            kept.take_default(free);
            kept.position = kept.position.or(free.position);
        }
        self.states[var.0 as usize] = State::Bound(other);
        true
    }

    /// Decides a scalar type at the end of a body; `None` if nothing decides it.
    pub(crate) fn decide(&self, scalar: Scalar) -> Option<Scalar> {
        match self.resolve(scalar) {
            Scalar::Var(var) => match self.states[var.0 as usize] {
                State::Free(free) => free.fallback().map(Scalar::Of),
                State::Bound(_) => None,
            },
            known @ (Scalar::Of(_) | Scalar::Param(_)) => Some(known),
        }
    }

    /// Gives what is open in a type its default; whether anything was open.
    pub(crate) fn default_in(&mut self, ty: &Type) -> bool {
        let mut is_any = false;
        ty.clone().each_scalar_mut(&mut |scalar| {
            if let Some(default) = self.default_of(*scalar) {
                is_any |= self.unify(*scalar, Scalar::Of(default));
            }
        });
        is_any
    }

    /// What is known of a type by now.
    pub(crate) fn resolve_type(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        ty.each_scalar_mut(&mut |scalar| *scalar = self.resolve(*scalar));
        ty
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::GenericId;

    #[test]
    fn literals_take_the_type_of_what_they_meet_and_default_last() {
        let mut vars = ScalarVars::new(vec![Some(Bound::Float)]);
        let (a, b, c) = (vars.float_literal(), vars.float_literal(), vars.integer_literal());
        assert!(vars.unify(a, b));
        assert!(vars.unify(b, Scalar::Of(Elem::F32)));
        assert_eq!(vars.decide(a), Some(Scalar::Of(Elem::F32)));
        assert_eq!(vars.decide(c), Some(Scalar::Of(Elem::I64)));
        assert!(vars.require(c, Elems::integer()));
        assert!(!vars.unify(a, c), "no type is integer and float");
        let d = vars.float_literal();
        assert!(vars.unify(d, Scalar::Param(GenericId(0))));
        assert!(!vars.unify(c, Scalar::Param(GenericId(0))));
    }

    #[test]
    fn an_integer_literal_is_a_float_where_one_is_asked_for() {
        let mut vars = ScalarVars::default();
        let (a, b, c) = (vars.integer_literal(), vars.float_literal(), vars.integer_literal());
        assert!(vars.unify(a, b));
        assert_eq!(vars.decide(a), Some(Scalar::Of(Elem::F64)));
        assert!(vars.require(c, Elems::float()));
        assert_eq!(vars.decide(c), Some(Scalar::Of(Elem::F64)));
        assert!(!vars.require(c, Elems::integer()), "what is a float is no index");
    }

    #[test]
    fn a_type_without_default_takes_that_of_a_literal() {
        let mut vars = ScalarVars::default();
        let t = vars.fresh(Elems::numeric(), None);
        assert_eq!(vars.decide(t), None);
        let literal = vars.integer_literal();
        assert!(vars.unify(t, literal));
        assert_eq!(vars.decide(t), Some(Scalar::Of(Elem::I64)));
        let (elements, literal) = (vars.fresh(Elems::any(), Some(Elem::F64)), vars.integer_literal());
        assert!(vars.unify(elements, literal));
        assert_eq!(vars.decide(elements), Some(Scalar::Of(Elem::I64)), "nothing asks for a float");
        assert!(!vars.require(t, Elems::bool()));
    }
}
