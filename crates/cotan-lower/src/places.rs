//! Assignments: functional updates of the leaves of a mutable local.

use cotan_ir::Atom;
use cotan_ops::{MAX, MIN};

use super::Result;
use super::body::{Body, Share, Value};
use super::code::Code;
use super::indexing::{Selection, is_everything, plain_positions};
use cotan_sema::typed::{AssignOp, LocalId, Place, PlaceStepKind};

impl<'p> Body<'_, 'p> {
    /// `place op value`. The indices of the place are evaluated once, after the value.
    pub(super) fn store(&mut self, place: &'p Place, op: AssignOp, value: Value) -> Result<()> {
        let local = &self.current().table[place.root.0 as usize];
        let names = self.layout.leaf_names(&local.name, &local.ty);
        let root = self.local(place.root);
        let mut range = 0..root.len();
        let mut ty = &local.ty;
        let mut path: Vec<Vec<Selection>> = Vec::new();
        for step in &place.steps {
            match &step.kind {
                PlaceStepKind::Field(index) => {
                    let part = self.layout.part_leaves(ty, *index);
                    range = range.start + part.start..range.start + part.end;
                }
                PlaceStepKind::Index(indices) => self.at(step.span, |body| {
                    let Some(leaf) = root.get(range.start) else { return Result::Ok(()) };
                    let whole = body.whole_extents(*leaf, Some((place.root, range.start)));
                    let dims = part_extents(&body.code, whole, &path);
                    // Positions in a row that was selected by position continue it.
                    let continues = path.last().is_some_and(|s| plain_positions(s).is_some());
                    let mut selections = if continues { path.pop().unwrap_or_default() } else { Vec::new() };
                    let dims = [vec![Atom::i64(0); selections.len()], dims].concat();
                    body.push_selections(&mut selections, indices, &dims, None)?;
                    path.push(selections);
                    Ok(())
                })?,
            }
            ty = &step.ty;
        }
        let mut new = root;
        for (k, value) in range.zip(value) {
            let leaf = new[k];
            if let Some(share) = self.share(place.root, k) {
                match share {
                    Share::Slot(_) => {}
                    Share::Accumulator(acc) => {
                        self.contribute(acc, &path, value)?;
                        continue;
                    }
                    Share::Elsewhere => continue,
                }
            }
            let stored = changed(self, place.root, k, leaf, &path, op, value)?;
            self.code.name_leaf(&names[k], &local.name, stored);
            new[k] = stored;
        }
        self.current_mut().locals[place.root.0 as usize] = Some(new);
        Ok(())
    }
}

/// A leaf of a local with the part at the end of a path changed.
fn changed(
    body: &mut Body<'_, '_>,
    local: LocalId,
    number: usize,
    leaf: Atom,
    path: &[Vec<Selection>],
    op: AssignOp,
    value: Atom,
) -> Result<Atom> {
    let mut path = path.to_vec();
    let mut guard = None;
    if let Some(first) = path.first_mut() {
        (*first, guard) = body.in_slot(local, number, std::mem::take(first));
    }
    let value = match op {
        AssignOp::Set => value,
        AssignOp::Binary(_) | AssignOp::Max | AssignOp::Min => {
            let mut old = vec![leaf];
            for selections in &path {
                old = body.read(&old, selections)?;
            }
            combine(body, op, old[0], value)?
        }
    };
    let value = body.code.guarded(value, guard);
    write(body, leaf, &path, value)
}

/// The extents of what a path selects of a tensor.
fn part_extents(code: &Code, whole: Vec<Atom>, path: &[Vec<Selection>]) -> Vec<Atom> {
    let mut extents = whole;
    for selections in path {
        let rest = extents.split_off(selections.len().min(extents.len()));
        extents = selections.iter().flat_map(|s| code.selected_extents(*s)).chain(rest).collect();
    }
    extents
}

fn combine(body: &mut Body<'_, '_>, op: AssignOp, old: Atom, value: Atom) -> Result<Atom> {
    let elem = body.code.b.ty(old).elem;
    let old = body.code.computed(old);
    let new = match op {
        AssignOp::Set => value,
        AssignOp::Binary(op) => body.binary(op, old, value)?,
        AssignOp::Max => body.code.element_wise(&MAX, &[old, value]),
        AssignOp::Min => body.code.element_wise(&MIN, &[old, value]),
    };
    Ok(body.code.convert(new, elem))
}

/// `leaf` with the part at the end of the path replaced.
fn write(body: &mut Body<'_, '_>, leaf: Atom, path: &[Vec<Selection>], value: Atom) -> Result<Atom> {
    let Some((selections, rest)) = path.split_first() else { return Ok(value) };
    let value = if rest.is_empty() {
        value
    } else {
        let part = body.read(&vec![leaf], selections)?[0];
        write(body, part, rest, value)?
    };
    write_selected(body, leaf, selections, value)
}

fn write_selected<'a, 'p>(body: &mut Body<'a, 'p>, leaf: Atom, selections: &[Selection], value: Atom) -> Result<Atom> {
    if is_everything(selections) {
        return Ok(value);
    }
    if let Some(positions) = plain_positions(selections) {
        return Ok(body.code.b.update(leaf, &positions, value).into());
    }
    // Axes at the end that are replaced whole go along with each position before them.
    let n_written = selections.iter().rposition(|s| !is_everything(&[*s])).map_or(0, |last| last + 1);
    let selections = &selections[..n_written];
    let extents: Vec<Atom> = selections.iter().flat_map(|s| body.code.selected_extents(*s)).collect();
    write_positions(body, leaf, selections, &extents, &mut Vec::new(), value)
}

/// One loop for each remaining axis of the selected part, an update in the innermost.
fn write_positions(
    body: &mut Body<'_, '_>,
    leaf: Atom,
    selections: &[Selection],
    extents: &[Atom],
    at: &mut Vec<Atom>,
    value: Atom,
) -> Result<Atom> {
    let Some((extent, inner)) = extents.split_first() else {
        let positions = body.positions(selections, at);
        let element: Atom = body.code.b.index(value, at).into();
        return Ok(body.code.b.update(leaf, &positions, element).into());
    };
    let name = match leaf {
        Atom::Var(v) => body.code.b.info(v).name.to_string(),
        Atom::Const(_) => "written".to_owned(),
    };
    let results = body.counted(*extent, &[(&name, leaf)], &mut |body, index, carried| {
        at.push(index);
        let written = write_positions(body, carried[0], selections, inner, at, value);
        at.pop();
        Ok(vec![written?])
    })?;
    Ok(results[0])
}
