//! The functions of the prelude along the last axis: sorting, positions of extremes, running totals; and gathers.
//!
//! Sorting is a reading at sorted positions, and the positions carry no derivative: so the derivative of a sort is that
//! of a gather, in both modes and to any order.

use cotan_ir::{Atom, Const, Elem, Monoid, Ty};
use cotan_ops::{ADD, ARGSORT, EQ, ISNAN, MUL, OR, PrimRow, SELECT};
use cotan_syntax::Span;
use cotan_syntax::ast::FoldOp;

use super::Result;
use super::body::{Body, Value};
use super::code::Code;
use super::folds::{greatest, least};
use super::indexing::Selection;

impl Body<'_, '_> {
    /// The elements along the last axis in ascending order.
    pub(super) fn sorted(&mut self, tensor: Atom) -> Result<Atom> {
        let positions = self.code.sorted_positions(tensor);
        let extents = extents(&self.code, tensor);
        let sorted = self.stacked(&extents, &mut |body, at| {
            let position = body.code.b.index(positions, at).into();
            let row = &at[..at.len() - 1];
            Ok(vec![body.code.b.index(tensor, &[row, &[position]].concat()).into()])
        })?;
        Ok(sorted[0])
    }

    /// The first position of the greatest (least) element along the last axis, or of NaN.
    pub(super) fn position_of_extreme(&mut self, monoid: Monoid, tensor: Atom) -> Result<Atom> {
        let elem = self.code.b.ty(tensor).elem;
        let extents = extents(&self.code, tensor);
        let (kept, last) = extents.split_at(extents.len() - 1);
        let neutral = if monoid == Monoid::Max { least(elem) } else { greatest(elem) };
        let none = Const::i64(i64::MAX);
        let positions = self.stacked(kept, &mut |body, outer| {
            let element = |code: &mut Code, at: &[Atom]| code.b.index(tensor, &[outer, at].concat()).into();
            let best = body.code.reduce(monoid, neutral, last, &mut |code, at| element(code, at));
            let first = body.code.reduce(Monoid::Min, none, last, &mut |code, at| {
                let x = element(code, at);
                let mut is_best = code.prim(&EQ, &[x, best]);
                if elem.is_float() {
                    // If there is a NaN, it is the extreme, and nothing equals it.
                    let is_nan = code.prim(&ISNAN, &[x]);
                    is_best = code.prim(&OR, &[is_best, is_nan]);
                }
                code.prim(&SELECT, &[is_best, at[0], none.into()])
            });
            Ok(vec![body.code.not_of_nothing(last, first)])
        })?;
        Ok(positions[0])
    }

    /// What the elements along the last axis up to each one add up or multiply to.
    pub(super) fn running(&mut self, op: FoldOp, tensor: Atom) -> Result<Atom> {
        let elem = self.code.b.ty(tensor).elem;
        let extents = extents(&self.code, tensor);
        let (kept, last) = extents.split_at(extents.len() - 1);
        let (name, start, row): (_, _, &'static PrimRow) =
            if op == FoldOp::Mul { ("product", 1, &MUL) } else { ("sum", 0, &ADD) };
        let start = Const::number(elem, start).into();
        let running = self.stacked(kept, &mut |body, outer| {
            let results = body.counted(last[0], &[(name, start)], &mut |body, index, total| {
                let x = body.code.b.index(tensor, &[outer, &[index]].concat()).into();
                let args = [total[0], x];
                let next = if elem.is_float() { body.code.prim(row, &args) } else { body.code.fitting(row, &args) };
                Ok(vec![next, next])
            })?;
            Ok(vec![results[1]])
        })?;
        Ok(running[0])
    }

    /// The elements (rows) of a value at positions, each of which is checked.
    pub(super) fn gathered(&mut self, value: &Value, positions: Atom, span: Span) -> Result<Value> {
        let Some(leaf) = value.first() else { return Ok(Value::new()) };
        let extent = extents(&self.code, *leaf)[0];
        self.read(value, &[Selection::Gather { positions, extent, span }])
    }
}

impl Code {
    /// The positions of the elements along the last axis in ascending order.
    pub(super) fn sorted_positions(&mut self, tensor: Atom) -> Atom {
        let tensor = self.computed(tensor);
        let Ty { dims, .. } = self.b.ty(tensor);
        self.b.tensor(ARGSORT.op(), &[tensor], &[], Ty::new(Elem::I64, dims)).into()
    }
}

fn extents(code: &Code, tensor: Atom) -> Vec<Atom> {
    code.b.ty(tensor).dims.iter().map(|dim| dim.atom()).collect()
}
