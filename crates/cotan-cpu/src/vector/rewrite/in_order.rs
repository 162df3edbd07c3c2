//! Sums of lanes that keep the order of iterations: the lanes of a strip change an element one after the other.
//!
//! The values of all lanes go to a few words of memory, and a loop over the lanes takes them up from the first one on. So the
//! instruction is that of scalar code, with what later passes make of it, as a product and a sum in one.

use super::Writer;
use cotan_ir::{Elem, Monoid, Span, bug};
use cotan_loops::node::{BufferInfo, BufferKind, Expr, Home, Local, Node, Operand, Place, Target};

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
        let kept: Vec<Kept> = terms.iter().map(|term| self.kept(*term)).collect();
        self.push(Node::Load(start, place));
        self.push(Node::Set(sum, start.into()));
        let lane = self.tables.local("lane", Elem::I64, 1, false);
        let body = self.list(|w| {
            let terms = kept.iter().map(|kept| w.of_kept(*kept, lane)).collect();
            change(w, sum, terms);
        });
        self.push_loop(lane, self.n_live, body, false);
        let end = self.define(&info.name, info.elem, 1, Expr::Copy(sum.into()));
        self.push(Node::Store(place, end));
    }

    /// Puts the lanes of a value where they can be taken up by number.
    fn kept(&mut self, value: Operand) -> Kept {
        if self.shapes.is_uniform(value) {
            return Kept::Scalar(self.scalar(value));
        }
        let value = self.in_lanes(value);
        let (kind, elem) = (BufferKind::Allocated(Home::Frame), self.elem_of(value));
        let info = BufferInfo { name: "terms".into(), elem, kind, span: Span::NONE, is_record: false };
        let buffer = self.new_buffer(info);
        self.head.push(Node::Alloc { buffer, extents: vec![Operand::i64(self.lanes.into())] });
        let place = Place { buffer, offset: Operand::i64(0) };
        self.push(Node::StoreLanes { to: place, value, mask: None });
        Kept::Lanes(place, elem)
    }

    fn of_kept(&mut self, kept: Kept, lane: Local) -> Operand {
        match kept {
            Kept::Scalar(value) => value,
            Kept::Lanes(place, elem) => {
                let term = self.tables.local("term", elem, 1, false);
                self.push(Node::Load(term, Place { offset: lane.into(), ..place }));
                term.into()
            }
        }
    }
}

/// What lanes add.
#[derive(Clone, Copy)]
enum Kept {
    /// The same in all lanes.
    Scalar(Operand),
    /// The elements of an array.
    Lanes(Place, Elem),
}
