//! The reverse and the forward loop over a tape.
//!
//! Both read the same partials of the op table and multiply by `mulz`, so an exact zero wins over whatever the partial
//! is. The reverse loop visits every node once, from the last to the first, when its cotangent is complete; that needs
//! contributions to go to smaller numbers, which is checked. Derivatives of a node have the type that its values are
//! computed with.

use crate::error::{RuntimeError, bug};
use crate::tape::node::{Step, Tape};
use crate::tape::row_use::{Id, RowUse};
use cotan_ir::Const;
use cotan_ops::{DIV, EQ, MULZ, Partial, cast_to, typed_number};

impl Tape {
    /// The cotangent of every node, from cotangents of some nodes.
    pub fn reverse(&self, seeds: &[(Id, u64)]) -> Result<Vec<u64>, RuntimeError> {
        let mut cots = vec![0; self.len()];
        for (id, seed) in seeds {
            self.contribute(&mut cots, *id, *seed)?;
        }
        for id in (0..self.len() as Id).rev() {
            let cot = cots[id as usize];
            if self.numbers().is_zero(self.elem(id).computed(), cot) {
                continue;
            }
            self.each_partial(id, &mut |operand, partial| {
                if operand >= id {
                    return bug(format!("node {id} contributes to node {operand}"));
                }
                let contribution = self.pulled(id, operand, partial, cot)?;
                self.contribute(&mut cots, operand, contribution)
            })?;
        }
        Ok(cots)
    }

    /// The tangent of every node, from tangents of some leaves.
    pub fn forward(&self, seeds: &[(Id, u64)]) -> Result<Vec<u64>, RuntimeError> {
        let mut tans = vec![0; self.len()];
        for (id, seed) in seeds {
            self.contribute(&mut tans, *id, *seed)?;
        }
        for id in 0..self.len() as Id {
            self.each_partial(id, &mut |operand, partial| {
                let tan = tans[operand as usize];
                if self.numbers().is_zero(self.elem(operand).computed(), tan) {
                    return Ok(());
                }
                let contribution = self.pulled(operand, id, partial, tan)?;
                self.contribute(&mut tans, id, contribution)
            })?;
        }
        Ok(tans)
    }

    /// The operands of a node that carry derivatives, each with its partial.
    fn each_partial(
        &self,
        id: Id,
        f: &mut dyn FnMut(Id, LocalPartial) -> Result<(), RuntimeError>,
    ) -> Result<(), RuntimeError> {
        match self.step(id) {
            Step::Leaf => Ok(()),
            Step::Row(at) => self.each_partial_of_row(id, &at, f),
            Step::Combination(terms) => terms.iter().try_for_each(|(part, bits)| f(*part, LocalPartial::Factor(*bits))),
            Step::Contest { parts, .. } => {
                let winners = self.equals(id, parts)?;
                if winners.is_empty() {
                    // Nothing equals a NaN, and every part has its part in there being no number.
                    return parts.iter().try_for_each(|part| f(*part, LocalPartial::Factor(self.value(id))));
                }
                let count = typed_number(self.elem(id), winners.len() as f64);
                winners.into_iter().try_for_each(|part| f(part, LocalPartial::Share(count)))
            }
        }
    }

    fn each_partial_of_row(
        &self,
        id: Id,
        at: &RowUse,
        f: &mut dyn FnMut(Id, LocalPartial) -> Result<(), RuntimeError>,
    ) -> Result<(), RuntimeError> {
        for (operand, partial) in at.ids.iter().zip(at.row.partials) {
            let Some(operand) = *operand else { continue };
            match partial {
                Partial::Zero { .. } => {}
                Partial::Convert => f(operand, LocalPartial::Convert)?,
                Partial::Term { term, .. } => {
                    let (_, factor) = self.numbers().term(term, at, (self.elem(id), self.value(id)))?;
                    f(operand, LocalPartial::Factor(factor))?;
                }
            }
        }
        Ok(())
    }

    /// A derivative of node `from` carried over to node `to`.
    fn pulled(&self, from: Id, to: Id, partial: LocalPartial, derivative: u64) -> Result<u64, RuntimeError> {
        let (numbers, elem) = (self.numbers(), self.elem(from).computed());
        let derivative = (elem, derivative);
        let (_, bits) = match partial {
            LocalPartial::Factor(factor) => numbers.apply_row(&MULZ, &[derivative, (elem, factor)])?,
            LocalPartial::Share(count) => numbers.apply_row(&DIV, &[derivative, (elem, numbers.constant(count))])?,
            LocalPartial::Convert => numbers.apply_row(cast_to(self.elem(to).computed()), &[derivative])?,
        };
        Ok(bits)
    }

    /// The parts of a contest that are equal to its result.
    fn equals(&self, id: Id, parts: &[Id]) -> Result<Vec<Id>, RuntimeError> {
        let elem = self.elem(id);
        let mut ties = Vec::new();
        for part in parts {
            let (_, is_equal) = self.numbers().apply_row(&EQ, &[(elem, self.value(*part)), (elem, self.value(id))])?;
            if is_equal != 0 {
                ties.push(*part);
            }
        }
        Ok(ties)
    }

    fn contribute(&self, sums: &mut [u64], id: Id, more: u64) -> Result<(), RuntimeError> {
        let sum = &mut sums[id as usize];
        *sum = self.numbers().sum(self.elem(id).computed(), *sum, more)?;
        Ok(())
    }
}

/// The derivative of a node with respect to one operand, at the values on the tape.
#[derive(Clone, Copy)]
enum LocalPartial {
    /// This factor.
    Factor(u64),
    /// One part in this many equal ones.
    Share(Const),
    /// The conversion between two float types.
    Convert,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Bug;
    use crate::numbers::Numbers;
    use cotan_ir::Elem;
    use cotan_ops::MUL;

    #[test]
    fn a_contribution_to_a_node_that_is_no_smaller_is_refused() {
        let mut tape = Tape::new(Numbers::Ieee, 1 << 20);
        let bits = 2.0f64.to_bits();
        let x = tape.leaf(Elem::F64, bits).expect("there is room");
        let own_number = u64::from(x) + 1;
        let elems = [Elem::F64, Elem::F64];
        let y = tape.row(&MUL, &elems, &[x.into(), own_number], (Elem::F64, bits)).expect("there is room");
        let what = "node 1 contributes to node 1".to_owned();
        let refused = Err(RuntimeError::Bug(Bug { what, statement: None }));
        assert_eq!(tape.reverse(&[(y, 1.0f64.to_bits())]), refused);
    }

    #[test]
    fn a_node_without_cotangent_contributes_nothing_even_where_its_partial_is_no_number() {
        let mut tape = Tape::new(Numbers::Ieee, 1 << 20);
        let [x, nan] = [3.0, f64::NAN].map(|v: f64| tape.leaf(Elem::F64, v.to_bits()).expect("there is room"));
        let operands = [x, nan].map(u64::from);
        let product = (Elem::F64, f64::NAN.to_bits());
        let y = tape.row(&MUL, &[Elem::F64; 2], &operands, product).expect("there is room");
        assert_eq!(tape.reverse(&[(y, (-0.0f64).to_bits())]), Ok(vec![0, 0, 0]));
    }
}
