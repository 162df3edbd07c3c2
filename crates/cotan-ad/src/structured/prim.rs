//! Scalar primitives: one product per partial of the op table's row.

use crate::cotangent::Scope;
use crate::jvp::{Forward, TangentScope};
use crate::vjp::Reverse;
use cotan_ir::{Atom, Builder, Elem, Prim, Stmt, Var};
use cotan_ops::Partial;

impl Forward<'_, '_> {
    pub(crate) fn jvp_prim(&mut self, s: &Stmt, prim: Prim, args: &[Atom], scope: &mut TangentScope) {
        self.primal(s, scope);
        let y = s.results[0];
        if !self.active.has(y) {
            return;
        }
        self.b.set_span(s.span.tangent());
        let name = self.tan_name(y);
        let site = Use::new(&self.b, prim, scope.env.atoms(args), scope.env.atom(y.into()));
        let mut total: Option<Atom> = None;
        for (k, a) in args.iter().enumerate() {
            let Some(tan) = self.known_tangent(*a, scope) else { continue };
            let Some(term) = site.tangent(&mut self.b, k, tan, &name) else { continue };
            total = Some(match total {
                None => term,
                Some(sum) => self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into(),
            });
        }
        scope.tans.extend(total.map(|t| (y, t)));
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_prim(&mut self, result: Var, prim: Prim, args: &[Atom], scope: &mut Scope) {
        let Some(c) = self.take(result, scope) else { return };
        let site = Use::new(&self.b, prim, scope.env.atoms(args), scope.env.atom(result.into()));
        for (k, a) in args.iter().enumerate() {
            let Some(x) = self.active.member(*a) else { continue };
            let name = self.cot_name(x);
            if let Some(contribution) = site.cotangent(&mut self.b, k, c, &name) {
                self.add(*a, contribution, scope);
            }
        }
    }
}

/// One use of a primitive in the target.
struct Use {
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
    fn new(b: &Builder, prim: Prim, args: Vec<Atom>, result: Atom) -> Use {
        let row = cotan_ops::row(prim);
        let elems: Vec<Elem> = args.iter().map(|a| b.ty(*a).elem).collect();
        let result_elem = b.ty(result).elem;
        Use { row, elem: row.t_of(&elems).unwrap_or(result_elem).computed(), elems, args, result, result_elem }
    }

    /// What a tangent of operand `k` adds to the tangent of the result.
    fn tangent(&self, b: &mut Builder, k: usize, tan: Atom, name: &str) -> Option<Atom> {
        self.scaled(b, k, tan, self.result_elem, name)
    }

    /// What the cotangent of the result adds to that of operand `k`.
    fn cotangent(&self, b: &mut Builder, k: usize, cot: Atom, name: &str) -> Option<Atom> {
        self.scaled(b, k, cot, self.elems[k], name)
    }

    /// `x` times partial `k`; a conversion goes to the type `to`.
    fn scaled(&self, b: &mut Builder, k: usize, x: Atom, to: Elem, name: &str) -> Option<Atom> {
        let (term, always_finite) = match &self.row.partials[k] {
            Partial::Zero { .. } => return None,
            Partial::Convert => {
                let to = to.computed();
                let is_same = b.ty(x).elem == to;
                return Some(if is_same { x } else { b.named(name).prim(cotan_ops::cast_to(to).prim(), &[x]).into() });
            }
            Partial::Term { term, always_finite } => (term, *always_finite),
        };
        if term.number() == Some(1.0) {
            return Some(x);
        }
        if term.number() == Some(-1.0) {
            return Some(b.named(name).prim(cotan_ops::NEG.prim(), &[x]).into());
        }
        let span = b.span();
        b.set_span(span.partial());
        let partial = term.emit(b, self.elem, &self.args, self.result);
        b.set_span(span);
        let constant = partial.constant().and_then(|c| c.as_float());
        if constant == Some(0.0) {
            // An exact zero wins against whatever it is multiplied with.
            return None;
        }
        let is_finite = always_finite || constant.is_some_and(f64::is_finite);
        let product = if is_finite { &cotan_ops::MUL } else { &cotan_ops::MULZ };
        Some(b.named(name).prim(product.prim(), &[x, partial]).into())
    }
}
