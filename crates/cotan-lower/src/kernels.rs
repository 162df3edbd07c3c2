//! Parallel loops of kernels.
//!
//! A loop becomes one `par`. Of a tensor that it owns, an iteration works on its slot: that is read at the start, and
//! what it is at the end is stacked; after the loop the stacked slots are gathered into the tensor. What iterations
//! accumulate goes into accumulators, in the order of the iterations.
//!
//! Products, and sums of integers, which may overflow, are accumulated one iteration after the other by the sequential
//! form of the loop. Where the loop takes maxima or minima of floats too, or adds what is stored narrow, a second pass
//! does that alone: only a `par` knows all that ties, and rounds once.

use cotan_ir::{Acc, AccKind, Atom, Const, Elem, Monoid, ParResult, Ty, Var};
use cotan_ops::{ADD, AFTER, DIV, EQ, GT, IN_RANGE, MAX, MUL, REM, SUB, cast_to};

use super::Result;
use super::body::{Body, Share, Slot, SlotKind, Value};
use super::code::Code;
use super::control::{Rest, UNIT};
use super::loops::Space;
use super::walk::escapes;
use cotan_sema::typed::{self, Accumulated, AssignOp, BinaryOp, Expr, ExprKind, For, LocalId, Owned, Sharing};

/// A leaf of an owned tensor.
struct OwnedLeaf {
    local: LocalId,
    leaf: usize,
    /// The tensor before the loop.
    array: Atom,
    axis: usize,
    slot: Positions,
}

/// Which positions belong to the iteration at `i`.
#[derive(Clone, Copy)]
enum Positions {
    /// `factor * i + offset`
    Element { factor: Atom, offset: Atom },
    /// `i * length..(i + 1) * length`
    Block { length: Atom },
}

/// A leaf to which iterations contribute.
struct SharedLeaf {
    local: LocalId,
    leaf: usize,
    monoid: Monoid,
    /// Whether it is of a storage type.
    is_narrow: bool,
    /// Whether the order of contributions shows: they are made one iteration after the other.
    is_ordered: bool,
}

impl<'p> Body<'_, 'p> {
    /// An outermost loop of a kernel.
    pub(super) fn parallel_loop(&mut self, l: &'p For, space: &Space, sharing: &'p Sharing) -> Result<()> {
        let shared = shared_leaves(self, &sharing.accumulated);
        if !shared.iter().any(|leaf| leaf.is_ordered) {
            return par_loop(self, l, space, sharing, &shared);
        }
        let needs_par = |leaf: &&SharedLeaf| {
            !leaf.is_ordered && (leaf.is_narrow || matches!(leaf.monoid, Monoid::Max | Monoid::Min))
        };
        let apart: Vec<&SharedLeaf> = shared.iter().filter(needs_par).collect();
        let before = self.current().locals.clone();
        self.sequential_for(l, space)?;
        if apart.is_empty() {
            return Ok(());
        }
        let after = std::mem::replace(&mut self.current_mut().locals, before);
        par_loop(self, l, space, sharing, &shared)?;
        let together = std::mem::replace(&mut self.current_mut().locals, after);
        for SharedLeaf { local, leaf, .. } in apart {
            let at = local.0 as usize;
            let (Some(value), Some(checked)) = (&together[at], self.local(*local).get(*leaf).copied()) else {
                continue;
            };
            // The sequential pass has made the checks of the loop.
            let value = self.code.element_wise(&AFTER, &[value[*leaf], checked]);
            if let Some(local) = &mut self.current_mut().locals[at] {
                local[*leaf] = value;
            }
        }
        Ok(())
    }
}

impl Code {
    /// One of two leaves of one type. Only that is computed.
    pub(super) fn choose(
        &mut self,
        cond: Atom,
        yes: &dyn Fn(&mut Self) -> Atom,
        no: &dyn Fn(&mut Self) -> Atom,
    ) -> Atom {
        match cond.truth() {
            Some(true) => return yes(self),
            Some(false) => return no(self),
            None => {}
        }
        let arms = [yes, no].map(|arm| {
            self.b.open_block();
            let value = arm(self);
            self.b.close_block(vec![value])
        });
        self.b.finish_switch(cond, arms.into())[0].into()
    }
}

/// The loop as a `par`, without the accumulations that depend on the order.
fn par_loop<'p>(
    body: &mut Body<'_, 'p>,
    l: &'p For,
    space: &Space,
    sharing: &'p Sharing,
    shared: &[SharedLeaf],
) -> Result<()> {
    let owned = owned_leaves(body, &sharing.owned)?;
    let count = at_least_zero(&mut body.code, space.count);
    let index = body.code.b.var(&space.name, Ty::scalar(Elem::I64));
    body.code.non_negative.insert(index);
    body.code.bounded.insert(index);
    let accs = accumulators(body, shared);
    let outside = body.current().locals.clone();
    let flow = std::mem::take(&mut body.flow);
    let in_loop = std::mem::replace(&mut body.in_loop, true);
    body.code.b.open_block();
    let slots = body.scoped(|body| {
        let at = body.bind_iteration(l, space, index.into())?;
        for leaf in &owned {
            let slot = open_slot(body, leaf, space, at, count);
            share_leaf(body, leaf.local, leaf.leaf, Share::Slot(slot));
        }
        match escapes(&l.body).continues {
            true => body.run(&l.body, &Rest::Join(&UNIT)).map(|_| ())?,
            false => body.expr(&l.body).map(|_| ())?,
        }
        Result::Ok(owned.iter().map(|leaf| body.local(leaf.local)[leaf.leaf]).collect::<Value>())
    })?;
    let block = body.code.b.close_block(slots);
    body.flow = flow;
    body.in_loop = in_loop;
    body.current_mut().shares.clear();
    body.current_mut().locals = outside;
    let kinds = vec![ParResult::Stacked; owned.len()];
    let results = body.code.b.finish_par(vec![index], vec![count], kinds, accs, block);
    let (stacked, sums) = results.split_at(owned.len());
    for (leaf, slots) in owned.iter().zip(stacked) {
        let whole = close_slots(&mut body.code, leaf, (*slots).into(), space, count);
        set_leaf(body, leaf.local, leaf.leaf, whole);
    }
    let accumulated = shared.iter().filter(|leaf| !leaf.is_ordered);
    for (leaf, sum) in accumulated.zip(sums) {
        let elem = body.code.b.ty(body.local(leaf.local)[leaf.leaf]).elem;
        let sum = body.code.convert((*sum).into(), elem);
        set_leaf(body, leaf.local, leaf.leaf, sum);
    }
    Ok(())
}

fn set_leaf(body: &mut Body<'_, '_>, local: LocalId, leaf: usize, value: Atom) {
    let entry = &body.current().table[local.0 as usize];
    let (name, of) = (body.layout.leaf_names(&entry.name, &entry.ty)[leaf].clone(), entry.name.clone());
    body.code.name_leaf(&name, &of, value);
    if let Some(Some(local)) = body.current_mut().locals.get_mut(local.0 as usize) {
        local[leaf] = value;
    }
}

fn share_leaf(body: &mut Body<'_, '_>, local: LocalId, leaf: usize, share: Share) {
    body.current_mut().shares.insert((local, leaf), share);
}

fn at_least_zero(code: &mut Code, n: Atom) -> Atom {
    if code.is_non_negative(n) { n } else { clamped(code, n) }
}

fn clamped(code: &mut Code, n: Atom) -> Atom {
    let n = code.prim(&MAX, &[n, Atom::i64(0)]);
    code.note_non_negative(n);
    n
}

// ---- accumulators

fn shared_leaves(body: &mut Body<'_, '_>, accumulated: &[Accumulated]) -> Vec<SharedLeaf> {
    let mut leaves = Vec::new();
    for part in accumulated {
        for leaf in leaves_at(body, part.root, &part.path) {
            let elem = body.code.b.ty(body.local(part.root)[leaf]).elem;
            let monoid = match part.op {
                AssignOp::Max => Monoid::Max,
                AssignOp::Min => Monoid::Min,
                AssignOp::Binary(BinaryOp::Mul) => Monoid::Mul,
                AssignOp::Binary(_) | AssignOp::Set => Monoid::Add,
            };
            let is_ordered = monoid == Monoid::Mul || monoid == Monoid::Add && elem.is_integer();
            let is_narrow = elem.storage().is_some();
            leaves.push(SharedLeaf { local: part.root, leaf, monoid, is_narrow, is_ordered });
        }
    }
    leaves
}

/// Accumulators for the leaves whose order of contributions does not show. What is stored narrow is accumulated as
/// it is computed, and narrowed once: rounded at every step, the order would show.
fn accumulators(body: &mut Body<'_, '_>, shared: &[SharedLeaf]) -> Vec<Acc> {
    let mut accs = Vec::new();
    for leaf in shared {
        if leaf.is_ordered {
            share_leaf(body, leaf.local, leaf.leaf, Share::Elsewhere);
            continue;
        }
        let init = body.code.computed(body.local(leaf.local)[leaf.leaf]);
        let ty = body.code.b.ty(init);
        let var = body.code.b.var(&body.current().table[leaf.local.0 as usize].name.clone(), ty);
        accs.push(Acc { var, kind: AccKind::Reduce(leaf.monoid), init: Some(init) });
        share_leaf(body, leaf.local, leaf.leaf, Share::Accumulator(var));
    }
    accs
}

/// The numbers of the leaves of a part of a local.
fn leaves_at(body: &Body<'_, '_>, local: LocalId, path: &[usize]) -> std::ops::Range<usize> {
    let mut ty = body.current().table[local.0 as usize].ty.clone();
    let mut leaves = 0..body.layout.n_leaves(&ty);
    for index in path {
        let part = body.layout.part_leaves(&ty, *index);
        leaves = leaves.start + part.start..leaves.start + part.end;
        ty = body.layout.part_types(&ty).get(*index).cloned().unwrap_or(typed::Type::UNIT);
    }
    leaves
}

// ---- slots

fn owned_leaves<'p>(body: &mut Body<'_, 'p>, owned: &'p [Owned]) -> Result<Vec<OwnedLeaf>> {
    let mut leaves = Vec::new();
    for part in owned {
        let slot = match &part.slot {
            typed::Slot::Element { factor, offset } => {
                Positions::Element { factor: Atom::i64(*factor), offset: sum(body, offset)? }
            }
            typed::Slot::Block(length) => {
                let is_size = matches!(length.as_slice(), [(1, Some(e))] if matches!(e.kind, ExprKind::Size(_)));
                let length = sum(body, length)?;
                // A product of sizes may have wrapped.
                Positions::Block { length: if is_size { length } else { clamped(&mut body.code, length) } }
            }
        };
        for leaf in leaves_at(body, part.root, &part.path) {
            let array = body.local(part.root)[leaf];
            leaves.push(OwnedLeaf { local: part.root, leaf, array, axis: part.axis, slot });
        }
    }
    Ok(leaves)
}

/// The sum of terms. Nothing here fails: where an index of the loop does, it says so itself.
fn sum<'p>(body: &mut Body<'_, 'p>, terms: &'p [(i64, Option<Expr>)]) -> Result<Atom> {
    let mut sum = Atom::i64(0);
    for (factor, e) in terms {
        let term = match e {
            None => Atom::i64(*factor),
            Some(e) => {
                let value = body.unchecked(e)?;
                body.code.prim(&MUL, &[Atom::i64(*factor), value])
            }
        };
        sum = body.code.prim(&ADD, &[sum, term]);
    }
    Ok(sum)
}

/// What belongs to the iteration at `i` of a tensor.
fn open_slot(body: &mut Body<'_, '_>, leaf: &OwnedLeaf, space: &Space, i: Atom, count: Atom) -> Slot {
    let Ty { elem, dims } = body.code.b.ty(leaf.array);
    let extent = dims[leaf.axis].atom();
    let leading: Vec<Atom> = dims[..leaf.axis].iter().map(|dim| dim.atom()).collect();
    let rest = dims[leaf.axis + 1..].to_vec();
    let zeros = |code: &mut Code| code.fill(Const::zero(elem).into(), &rest);
    let element = |code: &mut Code, at: &[Atom]| -> Atom { code.b.index(leaf.array, at).into() };
    match leaf.slot {
        Positions::Element { factor, offset } => {
            let scaled = if factor == Atom::i64(1) { i } else { body.code.prim(&MUL, &[factor, i]) };
            let base = if offset == Atom::i64(0) { scaled } else { body.code.prim(&ADD, &[scaled, offset]) };
            let is_in_range = is_whole_axis(leaf, space, count, extent);
            let inside = match is_in_range {
                true => Const::bool(true).into(),
                false => body.code.prim(&IN_RANGE, &[base, extent]),
            };
            let value = each_cell(&mut body.code, &leading, &mut |code, at| {
                let at = [at, &[base]].concat();
                code.choose(inside, &|code| element(code, &at), &zeros)
            });
            set_leaf(body, leaf.local, leaf.leaf, value);
            Slot { axis: leaf.axis, extent, base, kind: SlotKind::Element { is_in_range } }
        }
        Positions::Block { length } => {
            let base = body.code.prim(&MUL, &[i, length]);
            let cells = [leading.as_slice(), &[length]].concat();
            let value = each_cell(&mut body.code, &cells, &mut |code, at| {
                let (j, leading) = at.split_last().expect("invariant: an index for each extent");
                let position = code.prim(&ADD, &[base, *j]);
                let inside = code.prim(&IN_RANGE, &[position, extent]);
                let at = [leading, &[position]].concat();
                code.choose(inside, &|code| element(code, &at), &zeros)
            });
            set_leaf(body, leaf.local, leaf.leaf, value);
            Slot { axis: leaf.axis, extent, base, kind: SlotKind::Block }
        }
    }
}

/// The tensor after the loop, given the slots of all iterations.
fn close_slots(code: &mut Code, leaf: &OwnedLeaf, slots: Atom, space: &Space, count: Atom) -> Atom {
    let dims = code.b.ty(leaf.array).dims;
    let extent = dims[leaf.axis].atom();
    if leaf.axis == 0 && !space.reversed && is_whole_axis(leaf, space, count, extent) {
        return slots;
    }
    let cells: Vec<Atom> = dims[..=leaf.axis].iter().map(|dim| dim.atom()).collect();
    each_cell(code, &cells, &mut |code, at| {
        let (position, leading) = at.split_last().expect("invariant: an index for each extent");
        let (i, place, fits) = iteration_of(code, leaf.slot, *position);
        let lo = first_value(code, space);
        let mut number = code.prim(&SUB, &[i, lo]);
        if space.reversed {
            let last = code.prim(&SUB, &[count, Atom::i64(1)]);
            number = code.prim(&SUB, &[last, number]);
        }
        let runs = code.prim(&IN_RANGE, &[number, count]);
        let runs = code.both(fits, runs);
        let in_slot: Vec<Atom> = [number].into_iter().chain(leading.iter().copied()).chain(place).collect();
        code.choose(runs, &|code| code.b.index(slots, &in_slot).into(), &|code| code.b.index(leaf.array, at).into())
    })
}

/// The iteration that a position belongs to, the place of the position in its slot, and whether there is one.
fn iteration_of(code: &mut Code, positions: Positions, position: Atom) -> (Atom, Option<Atom>, Atom) {
    match positions {
        Positions::Element { factor, offset } => {
            let scaled = code.prim(&SUB, &[position, offset]);
            if factor == Atom::i64(1) {
                return (scaled, None, Const::bool(true).into());
            }
            let i = code.prim(&DIV, &[scaled, factor]);
            let back = code.prim(&MUL, &[i, factor]);
            let fits = code.prim(&EQ, &[back, scaled]);
            (i, None, fits)
        }
        Positions::Block { length } => {
            let i = code.prim(&DIV, &[position, length]);
            let place = code.prim(&REM, &[position, length]);
            let fits = code.prim(&GT, &[length, Atom::i64(0)]);
            (i, Some(place), fits)
        }
    }
}

/// The first value of the range, as an i64.
fn first_value(code: &mut Code, space: &Space) -> Atom {
    match space.lo {
        Some(lo) if code.b.ty(lo).elem != Elem::I64 => code.prim(cast_to(Elem::I64), &[lo]),
        Some(lo) => lo,
        None => Atom::i64(0),
    }
}

/// Stacks a leaf over all cells; the leaf itself if there are no extents.
fn each_cell(code: &mut Code, extents: &[Atom], cell: &mut dyn FnMut(&mut Code, &[Atom]) -> Atom) -> Atom {
    if extents.is_empty() {
        return cell(code, &[]);
    }
    let indices: Vec<Var> = code.index_vars(extents.len());
    let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
    code.b.open_block();
    let value = cell(code, &at);
    let block = code.b.close_block(vec![value]);
    code.b.finish_par(indices, extents.to_vec(), vec![ParResult::Stacked], Vec::new(), block)[0].into()
}

/// Whether the positions of an owned axis are the iterations of the loop, one to one.
fn is_whole_axis(leaf: &OwnedLeaf, space: &Space, count: Atom, extent: Atom) -> bool {
    let is_index = match leaf.slot {
        Positions::Element { factor, offset } => factor == Atom::i64(1) && offset == Atom::i64(0),
        Positions::Block { .. } => false,
    };
    let starts_at_zero = space.lo.and_then(|lo| lo.constant()).is_some_and(|lo| lo.is_number(0));
    is_index && starts_at_zero && count == extent
}
