//! Sums of lanes that keep the order of iterations: the lanes of a strip change an element one after the other.
//!
//! The values of all lanes go to a few words of memory, and a loop over the lanes takes them up from the first one on. So the
//! instruction is that of scalar code, with what later passes make of it, as a product and a sum in one.

use super::Writer;
use cotan_ir::{Elem, Monoid, bug};
use cotan_loops::node::{Expr, Local, Node, Operand, Place, Target};
use rustc_hash::FxHashMap;

impl Writer<'_, '_> {
    /// Combines an element with the value of each lane.
    pub(super) fn combine_in_order(&mut self, monoid: Monoid, place: Place, value: Operand) {
        let product = self.shapes.sums.product(value, self.shapes.definitions).cloned();
        let terms = product.as_ref().map_or(vec![value], |product| product.operands()[..2].to_vec());
        self.change_in_order(place, &terms, |w, sum, terms| {
            let value = match &product {
                None => terms[0],
                Some(product) => {
                    let mut expr = product.clone();
                    expr.operands_mut()[..2].copy_from_slice(&terms);
                    let elem = w.tables.locals[sum.index()].elem;
                    w.define("term", elem, 1, expr)
                }
            };
            w.push(Node::Combine { monoid, target: Target::Local(sum), value });
        });
    }

    /// Changes an element by the instruction that defines `new` of what it was, `old`, for each lane.
    pub(super) fn update_in_order(&mut self, place: Place, new: Local) {
        let Some(Expr::Native { instruction, elem, args }) = self.shapes.definitions.get(&new).cloned() else {
            bug!("vectorise", self.f, "no instruction changes an element to {new:?}")
        };
        let is_old = |arg: &Operand| self.shapes.sums.is_old(*arg);
        let (at, terms): (Vec<usize>, Vec<Operand>) =
            args.iter().enumerate().filter(|(_, arg)| !is_old(arg)).map(|(at, arg)| (at, *arg)).unzip();
        self.change_in_order(place, &terms, |w, sum, terms| {
            let info = w.tables.locals[sum.index()].clone();
            let old = w.define(&info.name, info.elem, 1, Expr::Copy(sum.into()));
            let mut args = vec![old; args.len()];
            at.iter().zip(terms).for_each(|(at, term)| args[*at] = term);
            let new = w.define(&info.name, info.elem, 1, Expr::Native { instruction, elem, args });
            w.push(Node::Set(sum, new));
        });
    }

    /// Changes an element by the terms of each lane; `change` is given the variable that holds it meanwhile.
    fn change_in_order(
        &mut self,
        place: Place,
        terms: &[Operand],
        change: impl FnOnce(&mut Self, Local, Vec<Operand>),
    ) {
        let info = self.f.buffers[place.buffer.index()].clone();
        let place = Place { offset: self.scalar(place.offset), ..place };
        let start = self.tables.local(&info.name, info.elem, 1, false);
        let sum = self.tables.local(&info.name, info.elem, 1, true);
        let mut used = FxHashMap::default();
        let mut stored = Vec::with_capacity(terms.len());
        for term in terms {
            let term = if self.shapes.is_uniform(*term) { self.scalar(*term) } else { self.in_lanes(*term) };
            stored.push(self.stored(term, &mut used));
        }
        self.push(Node::Load(start, place));
        self.push(Node::Set(sum, start.into()));
        let lane = self.tables.local("lane", Elem::I64, 1, false);
        let body = self.list(|w| {
            let terms = stored.iter().map(|term| w.loaded(*term, lane.into())).collect();
            change(w, sum, terms);
        });
        self.push_loop(lane, self.n_live, body, false);
        let end = self.define(&info.name, info.elem, 1, Expr::Copy(sum.into()));
        self.push(Node::Store(place, end));
    }
}
