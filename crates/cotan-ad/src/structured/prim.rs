//! Scalar primitives: one product per partial of the op table's row.

use crate::cotangent::Scope;
use crate::jvp::{Forward, TangentScope};
use crate::vjp::Reverse;
use cotan_ir::{Atom, Builder, Elem, Prim, Stmt, Var};
use cotan_ops::{Partial, Term};

impl Forward<'_, '_> {
    pub(crate) fn jvp_prim(&mut self, s: &Stmt, prim: Prim, args: &[Atom], scope: &mut TangentScope) {
        self.primal(s, scope);
        let y = s.results[0];
        let mut totals: Vec<(usize, Option<Atom>)> = self.lanes_of(y).map(|lane| (lane, None)).collect();
        if totals.is_empty() {
            return;
        }
        self.b.set_span(s.span.tangent());
        let name = self.tan_name(y);
        let site = Use::new(&self.b, prim, scope.env.atoms(args), scope.env.atom(y.into()));
        for (k, a) in args.iter().enumerate() {
            if totals.iter().all(|(lane, _)| self.known_tangent(*a, *lane, scope).is_none()) {
                continue;
            }
            let Some(factor) = site.tangent_factor(&mut self.b, k) else { continue };
            for (lane, total) in &mut totals {
                let Some(tan) = self.known_tangent(*a, *lane, scope) else { continue };
                let term = factor.times(&mut self.b, tan, &name);
                *total = Some(match *total {
                    None => term,
                    Some(sum) => self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into(),
                });
            }
        }
        scope.tans.extend(totals.into_iter().filter_map(|(lane, total)| Some(((y, lane), total?))));
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_prim(&mut self, result: Var, prim: Prim, args: &[Atom], scope: &mut Scope) {
        let Some(c) = self.take(result, scope) else { return };
        let site = Use::new(&self.b, prim, scope.env.atoms(args), scope.env.atom(result.into()));
        for (k, a) in args.iter().enumerate() {
            let Some(x) = self.active.member(*a) else { continue };
            if let Some(slope) = self.slopes.through(result, k) {
                let partial = scope.env.atom(slope.partial);
                let name = slope.operand.var().map(|v| self.cot_name(v)).unwrap_or_default();
                let contribution = Factor::Partial { partial, product: &cotan_ops::MULZ }.times(&mut self.b, c, &name);
                self.add(slope.operand, contribution, scope);
                continue;
            }
            let name = self.cot_name(x);
            let slope = self.slopes.of(result, k).map(|slope| scope.env.atom(slope));
            if let Some(factor) = site.cotangent_factor(&mut self.b, k, slope) {
                let contribution = factor.times(&mut self.b, c, &name);
                self.add(*a, contribution, scope);
            }
        }
    }
}

/// One use of a primitive.
pub(crate) struct Use {
    row: &'static cotan_ops::PrimRow,
    /// The element type that the row's `T` stands for, or that it is computed with.
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

    /// Partial `k`, if it is another operand, as those of a product are.
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

    /// What takes a tangent of operand `k` to its part of the tangent of the result; `None` where that is zero.
    fn tangent_factor(&self, b: &mut Builder, k: usize) -> Option<Factor> {
        self.factor(b, k, None, self.result_elem)
    }

    /// What takes the cotangent of the result to its part of that of operand `k`. The partial may be there already.
    fn cotangent_factor(&self, b: &mut Builder, k: usize, partial: Option<Atom>) -> Option<Factor> {
        self.factor(b, k, partial, self.elems[k])
    }

    /// Partial `k`, which may be there already; a conversion goes to the type `to`.
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

/// A partial derivative, written once for all that it is multiplied with.
enum Factor {
    One,
    MinusOne,
    Conversion(Elem),
    Partial { partial: Atom, product: &'static cotan_ops::PrimRow },
}

impl Factor {
    fn times(&self, b: &mut Builder, x: Atom, name: &str) -> Atom {
        match self {
            Factor::One => x,
            Factor::MinusOne => b.named(name).prim(cotan_ops::NEG.prim(), &[x]).into(),
            Factor::Conversion(to) if b.ty(x).elem == *to => x,
            Factor::Conversion(to) => b.named(name).prim(cotan_ops::cast_to(*to).prim(), &[x]).into(),
            Factor::Partial { partial, product } => b.named(name).prim(product.prim(), &[x, *partial]).into(),
        }
    }
}
