//! Reading parts of tensors: elements, rows, slices, gathers, ranges as tensors.

use cotan_ir::{Atom, CheckKind, Const, Dim as IrDim, ParResult, Ty};
use cotan_ops::{ADD, IOTA, LE, MAX, SLICE, SUB};
use cotan_syntax::Span;

use super::Result;
use super::body::{Body, Value};
use super::code::Code;
use cotan_sema::dims::{Dim, LocalId};
use cotan_sema::typed::{Expr, ExprKind, Index, Range};

/// What is selected along one axis. Positions are checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Selection {
    /// One position: the axis goes away.
    At(Atom),
    /// So many positions from one on.
    Slice { lo: Atom, length: Atom },
    /// All positions; as many as this.
    Whole(Atom),
    /// The positions that an integer tensor holds, each to be checked against the extent where it is used.
    Gather { positions: Atom, extent: Atom, span: Span },
}

impl Selection {
    fn is_at(self) -> bool {
        matches!(self, Selection::At(_))
    }

    fn is_whole(self) -> bool {
        matches!(self, Selection::Whole(_))
    }

    fn keeps_axis(self) -> bool {
        matches!(self, Selection::Slice { .. } | Selection::Whole(_))
    }
}

/// Leaves with what is selected of them, before it is read.
pub(super) struct Rows {
    leaves: Value,
    selections: Vec<Selection>,
    /// The local that the leaves are those of, with the number of the first among its leaves.
    origin: Option<(LocalId, usize)>,
}

impl Rows {
    /// All of a value.
    fn all(leaves: Value) -> Self {
        Self { leaves, selections: Vec::new(), origin: None }
    }
}

impl<'p> Body<'_, 'p> {
    /// `base[indices]` or `base.field`. Parts of parts are read in one step: `x[i][j]` is `x[i, j]`, and of `p[i].x` only
    /// the leaves of `x` are read.
    pub(super) fn part(&mut self, e: &'p Expr) -> Result<Value> {
        let rows = rows_of(self, e)?;
        read_rows(self, &rows)
    }

    /// Evaluates indices for the axes after those that are selected already. `kept` are the sizes of the result as the
    /// source calls them, from its first axis on.
    pub(super) fn push_selections(
        &mut self,
        selections: &mut Vec<Selection>,
        indices: &'p [Index],
        dims: &[Atom],
        kept: Option<&[Dim]>,
    ) -> Result<()> {
        let mut result_axis = selections.iter().filter(|s| !s.is_at()).count();
        for index in indices {
            let extent = dims[selections.len()];
            let selection = match index {
                Index::At(e) => {
                    let position = self.scalar(e)?;
                    self.at(e.span, |body| Selection::At(body.code.checked_index(position, extent)))
                }
                Index::Slice { lo: None, hi: None, .. } => Selection::Whole(extent),
                Index::Slice { lo, hi, inclusive, span } => {
                    let lo = bound(self, lo.as_ref(), Atom::i64(0))?;
                    let hi = bound(self, hi.as_ref(), extent)?;
                    let name = kept.and_then(|kept| kept.get(result_axis)).cloned();
                    self.at(*span, |body| checked_slice(body, lo, hi, *inclusive, extent, name.as_ref()))
                }
                Index::Gather(e) => Selection::Gather { positions: self.scalar(e)?, extent, span: e.span },
            };
            result_axis += match selection {
                Selection::At(_) => 0,
                Selection::Slice { .. } | Selection::Whole(_) => 1,
                Selection::Gather { positions, .. } => self.code.b.ty(positions).rank(),
            };
            selections.push(selection);
        }
        Ok(())
    }

    /// The selected part of every leaf.
    pub(super) fn read(&mut self, value: &Value, selections: &[Selection]) -> Result<Value> {
        let n_leading = selections.iter().take_while(|s| s.is_at()).count();
        let (leading, rest) = selections.split_at(n_leading);
        let n_mixed = rest.iter().rposition(|s| !s.keeps_axis()).map_or(0, |last| last + 1);
        let (mixed, slices) = rest.split_at(n_mixed);
        let positions: Vec<Atom> = leading.iter().filter_map(|s| position(*s)).collect();
        if n_mixed == 0 {
            let mut parts = Value::new();
            for leaf in value {
                let part = if positions.is_empty() { *leaf } else { self.code.b.index(*leaf, &positions).into() };
                parts.push(sliced(&mut self.code, part, slices, 0));
            }
            return Ok(parts);
        }
        // Slices of the last axes are taken first, as they are the same in all iterations.
        let value: Value =
            value.iter().map(|leaf| sliced(&mut self.code, *leaf, slices, n_leading + n_mixed)).collect();
        each_position(self, mixed, &mut |body, mixed| {
            let all = [&positions, mixed].concat();
            Ok(value.iter().map(|leaf| body.code.b.index(*leaf, &all).into()).collect())
        })
    }

    /// The positions in the array for one position in the result.
    pub(super) fn positions(&mut self, selections: &[Selection], at: &[Atom]) -> Vec<Atom> {
        let mut at = at.iter().copied();
        let mut positions = Vec::new();
        for selection in selections {
            positions.push(match *selection {
                Selection::At(position) => position,
                Selection::Whole(_) => next(&mut at),
                Selection::Slice { lo, .. } if lo == Atom::i64(0) => next(&mut at),
                Selection::Slice { lo, .. } => {
                    let offset = next(&mut at);
                    self.code.prim(&ADD, &[lo, offset])
                }
                Selection::Gather { positions, extent, span } => {
                    let rank = self.code.b.ty(positions).rank();
                    let place: Vec<Atom> = at.by_ref().take(rank).collect();
                    self.at(span, |body| {
                        let position = body.code.b.index(positions, &place).into();
                        body.code.checked_index(position, extent)
                    })
                }
            });
        }
        positions
    }

    /// `lo..hi` as a tensor.
    pub(super) fn range_tensor(&mut self, range: &'p Range) -> Result<Atom> {
        let values = self.range_values(range)?;
        let count = if self.code.is_non_negative(values.count) {
            values.count
        } else {
            let count = self.code.prim(&MAX, &[values.count, Atom::i64(0)]);
            self.code.note_non_negative(count);
            count
        };
        let elem = self.code.b.ty(values.lo).elem;
        let numbers = self.code.iota(elem, count);
        if values.lo.constant().is_some_and(|c| c.is_number(0)) {
            return Ok(numbers);
        }
        Ok(self.code.element_wise(&ADD, &[values.lo, numbers]))
    }
}

impl Code {
    /// The extents of the axes of the result that belong to a selection.
    pub(super) fn selected_extents(&self, selection: Selection) -> Vec<Atom> {
        match selection {
            Selection::At(_) => Vec::new(),
            Selection::Slice { length, .. } => vec![length],
            Selection::Whole(extent) => vec![extent],
            Selection::Gather { positions, .. } => self.b.ty(positions).dims.iter().map(|dim| dim.atom()).collect(),
        }
    }

    /// `0, 1, ..`, so many.
    pub(super) fn iota(&mut self, elem: cotan_ir::Elem, count: Atom) -> Atom {
        let ty = Ty::new(elem, vec![IrDim::from_atom(count)]);
        self.b.tensor(IOTA.op(), &[], &[], ty).into()
    }
}

fn rows_of<'a, 'p>(body: &mut Body<'a, 'p>, e: &'p Expr) -> Result<Rows> {
    if let ExprKind::Local(id) = &e.kind {
        return Ok(Rows { origin: Some((*id, 0)), ..Rows::all(body.local(*id)) });
    }
    if let ExprKind::Field { base, index } = &e.kind {
        let mut rows = rows_of(body, base)?;
        let part = body.layout.part_leaves(&base.ty, *index);
        rows.origin = rows.origin.map(|(local, first)| (local, first + part.start));
        rows.leaves = rows.leaves.get(part).map(<[Atom]>::to_vec).unwrap_or_default();
        return Ok(rows);
    }
    let ExprKind::Index { base, indices } = &e.kind else { return Ok(Rows::all(body.expr(e)?)) };
    let mut rows = rows_of(body, base)?;
    if plain_positions(&rows.selections).is_none() {
        rows = Rows::all(read_rows(body, &rows)?);
    }
    if let Some(leaf) = rows.leaves.first() {
        let dims = body.whole_extents(*leaf, rows.origin);
        body.push_selections(&mut rows.selections, indices, &dims, Some(e.ty.dims()))?;
    }
    Ok(rows)
}

fn read_rows(body: &mut Body<'_, '_>, rows: &Rows) -> Result<Value> {
    let Some((local, first)) = rows.origin.filter(|(local, _)| body.is_shared(*local)) else {
        return body.read(&rows.leaves, &rows.selections);
    };
    let mut value = Value::new();
    for (k, leaf) in rows.leaves.iter().enumerate() {
        let (selections, guard) = body.in_slot(local, first + k, rows.selections.clone());
        let leaf = body.code.guarded(*leaf, guard);
        value.extend(body.read(&vec![leaf], &selections)?);
    }
    Ok(value)
}

fn bound<'p>(body: &mut Body<'_, 'p>, e: Option<&'p Expr>, missing: Atom) -> Result<Atom> {
    match e {
        Some(e) => body.scalar(e),
        None => Ok(missing),
    }
}

/// A slice that lies in its axis. `size` is its length as the source calls it.
fn checked_slice<'a, 'p>(
    body: &mut Body<'a, 'p>,
    lo: Atom,
    hi: Atom,
    inclusive: bool,
    extent: Atom,
    size: Option<&Dim>,
) -> Selection {
    let (given_lo, given_hi) = (lo, hi);
    let (lo, hi) = (body.code.as_i64(lo), body.code.as_i64(hi));
    let hi = if inclusive { body.code.fitting(&ADD, &[hi, Atom::i64(1)]) } else { hi };
    let mut bounds = Vec::new();
    if !body.code.is_non_negative(lo) {
        bounds.push((Atom::i64(0), lo));
    }
    bounds.extend([(lo, hi), (hi, extent)].into_iter().filter(|(a, b)| a != b));
    let is_empty_below = |body: &Body<'a, 'p>, (a, b): (Atom, Atom)| a == Atom::i64(0) && body.code.is_non_negative(b);
    let mut cond = Atom::Const(Const::bool(true));
    for (a, b) in bounds {
        if is_empty_below(body, (a, b)) {
            continue;
        }
        let holds = body.code.prim(&LE, &[a, b]);
        cond = body.code.both(cond, holds);
    }
    let shown = [body.code.reported(given_lo, lo), body.code.reported(given_hi, hi), extent];
    let lo = body.code.check(cond, CheckKind::SliceRange, &shown, lo);
    let named = size.and_then(|size| body.size(size));
    let length = match named {
        Some(length) if body.code.is_non_negative(length) || size.is_some_and(Dim::is_surely_non_negative) => length,
        // Who needs no element, only how many there are, needs the check too.
        Some(length) => {
            let length = body.code.check(cond, CheckKind::SliceRange, &shown, length);
            if let Some(size) = size {
                body.know_size(size, length);
            }
            length
        }
        None if lo == Atom::i64(0) => hi,
        None => body.code.prim(&SUB, &[hi, lo]),
    };
    body.code.note_non_negative(lo);
    body.code.note_non_negative(length);
    Selection::Slice { lo, length }
}

/// Slices of the axes from `first` on.
fn sliced(code: &mut Code, leaf: Atom, slices: &[Selection], first: usize) -> Atom {
    let mut leaf = leaf;
    for (k, slice) in slices.iter().enumerate() {
        if let Selection::Slice { lo, length } = slice {
            let mut ty = code.b.ty(leaf);
            ty.dims[first + k] = IrDim::from_atom(*length);
            leaf = code.b.tensor(SLICE.op(), &[leaf, *lo], &[(first + k) as i64], ty).into();
        }
    }
    leaf
}

/// Stacks what `f` gives for all positions that a mix of selections selects.
fn each_position<'a, 'p>(
    body: &mut Body<'a, 'p>,
    selections: &[Selection],
    f: &mut dyn FnMut(&mut Body<'a, 'p>, &[Atom]) -> Result<Value>,
) -> Result<Value> {
    let mut extents: Vec<Atom> = Vec::new();
    for selection in selections {
        extents.extend(body.code.selected_extents(*selection));
    }
    if extents.is_empty() {
        let positions: Vec<Atom> = selections.iter().filter_map(|s| position(*s)).collect();
        return f(body, &positions);
    }
    let indices = body.code.index_vars(extents.len());
    body.code.b.open_block();
    let elements = body.scoped(|body| {
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        let positions = body.positions(selections, &at);
        f(body, &positions)
    })?;
    let kinds = vec![ParResult::Stacked; elements.len()];
    let block = body.code.b.close_block(elements);
    let results = body.code.b.finish_par(indices, extents, kinds, Vec::new(), block);
    Ok(results.into_iter().map(Atom::Var).collect())
}

fn position(selection: Selection) -> Option<Atom> {
    match selection {
        Selection::At(position) => Some(position),
        Selection::Slice { .. } | Selection::Whole(_) | Selection::Gather { .. } => None,
    }
}

fn next(at: &mut dyn Iterator<Item = Atom>) -> Atom {
    at.next().expect("invariant: one index for each axis of the result")
}

/// Whether all axes are selected whole.
pub(super) fn is_everything(selections: &[Selection]) -> bool {
    selections.iter().all(|s| s.is_whole())
}

/// The positions, if each axis is selected by one.
pub(super) fn plain_positions(selections: &[Selection]) -> Option<Vec<Atom>> {
    selections.iter().map(|s| position(*s)).collect()
}
