//! Returns from loops: a loop carries whether a `return` in it ran, and its value.
//!
//! A leaf whose extents are known before the loop is carried, starting from zeros that nobody reads. What a loop carries
//! keeps its shape, so a leaf whose length only the iteration that returns knows is written to a log; the loop carries
//! its lengths.

use cotan_ir::{Acc, AccKind, Atom, Const, Dim as IrDim, Elem, Ty, Var};
use cotan_ops::{MUL, RESHAPE};

use super::body::{Body, Value};
use super::code::Code;
use super::values::LeafTy;
use cotan_sema::dims::Dim;

/// What is carried for one leaf of the value.
enum Carried {
    /// The leaf itself.
    Leaf,
    /// The number of its elements, which stand in a log.
    Log { log: usize },
}

/// A length that only the iteration knows.
#[derive(Clone, Debug, PartialEq)]
enum Length {
    /// A size of the source.
    Size(Dim),
    /// The extent of a payload, which may not be there.
    Payload { leaf: usize, axis: usize },
}

/// What is carried for the value of a `return`.
pub(super) struct Returning {
    leaves: Vec<LeafTy>,
    carried: Vec<Carried>,
    /// Lengths that only the iteration knows; each is carried, after the leaves.
    lengths: Vec<Length>,
    /// Names and start values.
    pub(super) inits: Vec<(String, Atom)>,
    /// Element types of the logs, with the positions of their lengths among the inits.
    pub(super) logs: Vec<(Elem, usize)>,
}

impl Body<'_, '_> {
    /// What a loop carries that may return.
    pub(super) fn returning(&mut self) -> Returning {
        let ty = self.result.clone();
        let leaves = self.layout.leaf_types(&ty);
        let mut plan = Returning {
            leaves: leaves.clone(),
            carried: Vec::new(),
            lengths: Vec::new(),
            inits: vec![("returned".to_owned(), Const::bool(false).into())],
            logs: Vec::new(),
        };
        for leaf in &leaves {
            match self.clamped_ty(leaf) {
                Some(ty) => {
                    let zeros = self.code.fill(Const::zero(leaf.elem).into(), &ty.dims);
                    plan.inits.push(("result".to_owned(), zeros));
                    plan.carried.push(Carried::Leaf);
                }
                None => {
                    plan.logs.push((leaf.elem, plan.inits.len()));
                    plan.carried.push(Carried::Log { log: plan.logs.len() - 1 });
                    plan.inits.push(("n_elements".to_owned(), Atom::i64(0)));
                }
            }
        }
        for (k, leaf) in leaves.iter().enumerate() {
            for (axis, dim) in leaf.dims.iter().enumerate() {
                let length = length_of(k, leaf, axis);
                if self.size(dim).is_none() && !plan.lengths.contains(&length) {
                    plan.lengths.push(length);
                    plan.inits.push(("n".to_owned(), Atom::i64(0)));
                }
            }
        }
        plan
    }

    /// The value that a loop returned, from its results.
    pub(super) fn returned_value(&mut self, plan: &Returning, carried: &[Atom], logs: &[Atom]) -> Value {
        let lengths = &carried[carried.len() - plan.lengths.len()..];
        for length in lengths {
            self.code.note_non_negative(*length);
        }
        let mut value = Value::new();
        for (k, leaf) in plan.leaves.iter().enumerate() {
            value.push(match &plan.carried[k] {
                Carried::Leaf => carried[k + 1],
                Carried::Log { log } => {
                    let mut dims = Vec::new();
                    for (axis, dim) in leaf.dims.iter().enumerate() {
                        let known = self.size(dim);
                        let length = length_of(k, leaf, axis);
                        let at = plan.lengths.iter().position(|other| *other == length);
                        dims.push(IrDim::from_atom(known.or(at.map(|at| lengths[at])).unwrap_or(Atom::i64(0))));
                    }
                    let ty = Ty::new(leaf.elem, dims);
                    self.code.b.tensor(RESHAPE.op(), &[logs[*log]], &[], ty).into()
                }
            });
        }
        value
    }
}

impl Code {
    /// Accumulators for the logs of a loop.
    pub(super) fn logs(&mut self, logs: &[(Elem, usize)]) -> Vec<Acc> {
        let log = |(elem, _): &(Elem, usize)| {
            let var = self.b.var("result_elements", Ty::new(*elem, vec![IrDim::Const(0)]));
            Acc { var, kind: AccKind::Log, init: None }
        };
        logs.iter().map(log).collect()
    }

    /// The next carried values at the end of an iteration: those of `result` if there is one, else the old ones.
    pub(super) fn next_returned(
        &mut self,
        plan: &Returning,
        returned: Atom,
        result: Option<Value>,
        params: &[Atom],
        logs: &[Var],
    ) -> Vec<Atom> {
        let Some(result) = result else { return params.to_vec() };
        let mut next = vec![returned];
        for (k, carried) in plan.carried.iter().enumerate() {
            match carried {
                Carried::Leaf => {
                    let extents: Vec<Atom> = self.b.ty(params[k + 1]).dims.iter().map(|dim| dim.atom()).collect();
                    next.push(self.leaf_like(&plan.leaves[k], &result, k, &extents));
                }
                Carried::Log { log } => {
                    let elements = write_log(self, result[k], logs[*log]);
                    next.push(elements);
                }
            }
        }
        for length in &plan.lengths {
            let place = plan.leaves.iter().enumerate().find_map(|(k, leaf)| {
                let axis = (0..leaf.dims.len()).find(|axis| length_of(k, leaf, *axis) == *length)?;
                Some((result[k], axis))
            });
            next.push(place.map_or(Atom::i64(0), |(leaf, axis)| self.b.ty(leaf).dims[axis].atom()));
        }
        next
    }
}

/// Writes the elements of a leaf to a log; gives their number. A leaf that is not returned has none.
fn write_log(code: &mut Code, leaf: Atom, log: Var) -> Atom {
    let Ty { elem, dims } = code.b.ty(leaf);
    let mut n_elements = dims[0].atom();
    for dim in &dims[1..] {
        n_elements = code.prim(&MUL, &[n_elements, dim.atom()]);
    }
    let ty = Ty::new(elem, vec![IrDim::from_atom(n_elements)]);
    let elements = if dims.len() == 1 { leaf } else { code.b.tensor(RESHAPE.op(), &[leaf], &[], ty).into() };
    let index = code.index_vars(1);
    code.b.open_block();
    let element = code.b.index(elements, &[index[0].into()]);
    code.b.acc_add(log, &[index[0].into()], element.into());
    let block = code.b.close_block(Vec::new());
    code.b.finish_par(index, vec![n_elements], Vec::new(), Vec::new(), block);
    n_elements
}

/// What carries an extent of a leaf that only the iteration knows.
fn length_of(k: usize, leaf: &LeafTy, axis: usize) -> Length {
    if leaf.is_payload() { Length::Payload { leaf: k, axis } } else { Length::Size(leaf.dims[axis].clone()) }
}
