//! Accumulation: iterations of a parallel loop write variables from outside through a slot of the iteration or into an
//! accumulator.

use cotan_ir::{Atom, CheckKind, Var};
use cotan_ops::{ADD, AFTER, IN_RANGE, SUB};

use super::Result;
use super::body::{Body, Share, Slot, SlotKind};
use super::code::Code;
use super::indexing::{Selection, is_everything};
use cotan_sema::dims::LocalId;

/// A position that the slot of an iteration lies at, if it is in range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    position: Atom,
    extent: Atom,
}

impl<'p> Body<'_, 'p> {
    /// Whether a parallel loop around writes a part of a local.
    pub(super) fn is_shared(&self, local: LocalId) -> bool {
        self.current().shares.keys().any(|(other, _)| *other == local)
    }

    /// How a parallel loop around writes a leaf of a local.
    pub(super) fn share(&self, local: LocalId, leaf: usize) -> Option<Share> {
        self.current().shares.get(&(local, leaf)).copied()
    }

    /// The extents of the tensor that a leaf is, or is the slot of.
    pub(super) fn whole_extents(&self, leaf: Atom, origin: Option<(LocalId, usize)>) -> Vec<Atom> {
        let mut extents: Vec<Atom> = self.code.b.ty(leaf).dims.iter().map(|dim| dim.atom()).collect();
        if let Some(slot) = origin.and_then(|(local, leaf)| slot(self, local, leaf)) {
            match slot.kind {
                SlotKind::Element { .. } => extents.insert(slot.axis, slot.extent),
                SlotKind::Block => extents[slot.axis] = slot.extent,
            }
        }
        extents
    }

    /// Selections of a tensor as selections of the slot of this iteration. Where nothing of them is left that could
    /// carry the check of the position that is the slot's, that is a guard of what is selected.
    pub(super) fn in_slot(
        &mut self,
        local: LocalId,
        leaf: usize,
        mut selections: Vec<Selection>,
    ) -> (Vec<Selection>, Option<Guard>) {
        let Some(slot) = slot(self, local, leaf) else { return (selections, None) };
        let Some(Selection::At(position)) = selections.get(slot.axis).copied() else { return (selections, None) };
        if slot.kind == SlotKind::Block {
            let offset = self.code.prim(&SUB, &[position, slot.base]);
            self.code.note_non_negative(offset);
            selections[slot.axis] = Selection::At(offset);
            return (selections, None);
        }
        selections.remove(slot.axis);
        if slot.kind == (SlotKind::Element { is_in_range: true }) {
            return (selections, None);
        }
        for selection in &mut selections {
            match selection {
                Selection::At(other) | Selection::Slice { lo: other, .. } => {
                    let is_bounded = matches!(other, Atom::Var(v) if self.code.bounded.contains(v));
                    *other = self.code.prim(&AFTER, &[*other, position]);
                    self.code.note_non_negative(*other);
                    if is_bounded {
                        self.code.note_bounded(*other);
                    }
                    return (selections, None);
                }
                Selection::Whole(_) | Selection::Gather { .. } => {}
            }
        }
        (selections, Some(Guard { position, extent: slot.extent }))
    }

    /// Contributes to the part of an accumulator at the end of a path.
    pub(super) fn contribute(&mut self, acc: Var, path: &[Vec<Selection>], value: Atom) -> Result<()> {
        let mut selections = one_step(&mut self.code, path);
        let n_written = selections.iter().rposition(|s| !is_everything(&[*s])).map_or(0, |last| last + 1);
        selections.truncate(n_written);
        let extents: Vec<Atom> = selections.iter().flat_map(|s| self.code.selected_extents(*s)).collect();
        let dims = self.code.b.var_ty(acc).dims[n_written..].to_vec();
        if extents.is_empty() {
            let positions = self.positions(&selections, &[]);
            let value = if self.code.b.ty(value).is_scalar() { self.code.fill(value, &dims) } else { value };
            self.code.b.acc_add(acc, &positions, value);
            return Ok(());
        }
        let indices = self.code.index_vars(extents.len());
        self.code.b.open_block();
        self.scoped(|body| {
            let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
            let positions = body.positions(&selections, &at);
            let element = match body.code.b.ty(value).is_scalar() {
                true => body.code.fill(value, &dims),
                false => body.code.b.index(value, &at).into(),
            };
            body.code.b.acc_add(acc, &positions, element);
        });
        let block = self.code.b.close_block(Vec::new());
        self.code.b.finish_par(indices, extents, Vec::new(), Vec::new(), block);
        Ok(())
    }
}

impl Code {
    /// A value behind a guard.
    pub(super) fn guarded(&mut self, value: Atom, guard: Option<Guard>) -> Atom {
        let Some(Guard { position, extent }) = guard else { return value };
        let cond = self.prim(&IN_RANGE, &[position, extent]);
        self.check(cond, CheckKind::IndexRange, &[position, extent], value)
    }
}

fn slot(body: &Body<'_, '_>, local: LocalId, leaf: usize) -> Option<Slot> {
    match body.share(local, leaf)? {
        Share::Slot(slot) => Some(slot),
        Share::Accumulator(_) | Share::Elsewhere => None,
    }
}

/// A path of selections as one of the whole tensor.
fn one_step(code: &mut Code, path: &[Vec<Selection>]) -> Vec<Selection> {
    let mut all: Vec<Selection> = Vec::new();
    for selections in path {
        let mut inner = selections.iter().copied();
        for selection in &mut all {
            *selection = match *selection {
                Selection::Slice { lo, .. } => match inner.next() {
                    Some(part) => part_of_slice(code, lo, part),
                    None => *selection,
                },
                Selection::Whole(_) => inner.next().unwrap_or(*selection),
                Selection::At(_) | Selection::Gather { .. } => *selection,
            };
        }
        all.extend(inner);
    }
    all
}

/// A selection of a slice that begins at `lo`, as one of the whole axis.
fn part_of_slice(code: &mut Code, lo: Atom, part: Selection) -> Selection {
    match part {
        Selection::At(position) => {
            let position = code.prim(&ADD, &[lo, position]);
            Selection::At(position)
        }
        Selection::Slice { lo: inner, length } => Selection::Slice { lo: code.prim(&ADD, &[lo, inner]), length },
        Selection::Whole(length) => Selection::Slice { lo, length },
        Selection::Gather { .. } => part,
    }
}
