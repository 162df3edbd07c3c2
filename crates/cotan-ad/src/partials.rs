//! Partial derivatives of one use of a primitive, written out from the terms of its row.

use cotan_ir::{Atom, Builder, Elem, Prim};
use cotan_ops::{Partial, Term};

/// One use of a primitive.
pub(crate) struct Use {
    row: &'static cotan_ops::PrimRow,
    /// The element type of the row's `T`, or the type of its arithmetic.
    elem: Elem,
    /// The element types of the operands.
    elems: Vec<Elem>,
    args: Vec<Atom>,
    result: Atom,
    result_elem: Elem,
}

impl Use {
    pub(crate) fn new(b: &Builder, prim: Prim, args: Vec<Atom>, result: Atom) -> Use {
        let row = cotan_ops::row(prim);
        let elems: Vec<Elem> = args.iter().map(|a| b.ty(*a).elem).collect();
        let result_elem = b.ty(result).elem;
        Use { row, elem: row.t_of(&elems).unwrap_or(result_elem).computed(), elems, args, result, result_elem }
    }

    pub(crate) fn args(&self) -> &[Atom] {
        &self.args
    }

    /// Whether partial `k` costs little beside the primitive.
    pub(crate) fn is_beside(&self, k: usize) -> bool {
        matches!(self.row.partials[k], Partial::Term { beside: true, .. })
    }

    /// Partial `k`, if it is another operand, as in a product.
    pub(crate) fn factor_beside(&self, k: usize) -> Option<Atom> {
        match &self.row.partials[k] {
            Partial::Term { term: Term::Arg(j), .. } => Some(self.args[*j]),
            Partial::Term { .. } | Partial::Zero { .. } | Partial::Convert => None,
        }
    }

    /// Partial `k`, if it is a term.
    pub(crate) fn partial(&self, b: &mut Builder, k: usize) -> Option<Atom> {
        match &self.row.partials[k] {
            Partial::Term { term, .. } => Some(term.emit(b, self.elem, &self.args, self.result)),
            Partial::Zero { .. } | Partial::Convert => None,
        }
    }

    /// The factor from the tangent of operand `k` to its share of the result's tangent; `None` where that is zero.
    pub(crate) fn tangent_factor(&self, b: &mut Builder, k: usize) -> Option<Factor> {
        self.factor(b, k, None, self.result_elem)
    }

    /// The factor from the cotangent of the result to its share of that of operand `k`. `partial` is given if it is computed
    /// already.
    pub(crate) fn cotangent_factor(&self, b: &mut Builder, k: usize, partial: Option<Atom>) -> Option<Factor> {
        self.factor(b, k, partial, self.elems[k])
    }

    /// The factor of partial `k`; a conversion goes to the type `to`.
    fn factor(&self, b: &mut Builder, k: usize, partial: Option<Atom>, to: Elem) -> Option<Factor> {
        let (term, always_finite) = match &self.row.partials[k] {
            Partial::Zero { .. } => return None,
            Partial::Convert => return Some(Factor::Conversion(to.computed())),
            Partial::Term { term, always_finite, .. } => (term, *always_finite),
        };
        if term.number() == Some(1.0) {
            return Some(Factor::One);
        }
        if term.number() == Some(-1.0) {
            return Some(Factor::MinusOne);
        }
        let span = b.span();
        b.set_span(span.partial());
        let partial = partial.or_else(|| self.partial(b, k))?;
        b.set_span(span);
        let constant = partial.constant().and_then(|c| c.as_float());
        if constant == Some(0.0) {
            // An exact zero wins against whatever it is multiplied with.
            return None;
        }
        let is_finite = always_finite || constant.is_some_and(f64::is_finite);
        Some(Factor::Partial { partial, product: if is_finite { &cotan_ops::MUL } else { &cotan_ops::MULZ } })
    }
}

/// A partial derivative as a factor, emitted once for all products with it.
pub(crate) enum Factor {
    One,
    MinusOne,
    Conversion(Elem),
    Partial { partial: Atom, product: &'static cotan_ops::PrimRow },
}

impl Factor {
    pub(crate) fn times(&self, b: &mut Builder, x: Atom, name: &str) -> Atom {
        match self {
            Factor::One => x,
            Factor::MinusOne => b.named(name).prim(cotan_ops::NEG.prim(), &[x]).into(),
            Factor::Conversion(to) if b.ty(x).elem == *to => x,
            Factor::Conversion(to) => b.named(name).prim(cotan_ops::cast_to(*to).prim(), &[x]).into(),
            Factor::Partial { partial, product } => b.named(name).prim(product.prim(), &[x, *partial]).into(),
        }
    }
}
