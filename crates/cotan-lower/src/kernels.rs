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
        let shared = self.shared_leaves(&sharing.accumulated);
        if !shared.iter().any(|leaf| leaf.is_ordered) {
            return self.par_loop(l, space, sharing, &shared);
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
        self.par_loop(l, space, sharing, &shared)?;
        let together = std::mem::replace(&mut self.current_mut().locals, after);
        for SharedLeaf { local, leaf, .. } in apart {
            let at = local.0 as usize;
            let (Some(value), Some(checked)) = (&together[at], self.local(*local).get(*leaf).copied()) else {
                continue;
            };
            // The sequential pass has made the checks of the loop.
            let value = self.element_wise(&AFTER, &[value[*leaf], checked]);
            if let Some(local) = &mut self.current_mut().locals[at] {
                local[*leaf] = value;
            }
        }
        Ok(())
    }

    /// The loop as a `par`, without the accumulations that depend on the order.
    fn par_loop(&mut self, l: &'p For, space: &Space, sharing: &'p Sharing, shared: &[SharedLeaf]) -> Result<()> {
        let owned = self.owned_leaves(&sharing.owned)?;
        let count = self.at_least_zero(space.count);
        let index = self.b.var(&space.name, Ty::scalar(Elem::I64));
        self.non_negative.insert(index);
        self.bounded.insert(index);
        let accs = self.accumulators(shared);
        let outside = self.current().locals.clone();
        let flow = std::mem::take(&mut self.flow);
        let in_loop = std::mem::replace(&mut self.in_loop, true);
        self.b.open_block();
        let slots = self.scoped(|body| {
            let at = body.bind_iteration(l, space, index.into())?;
            for leaf in &owned {
                let slot = body.open_slot(leaf, space, at, count);
                body.share_leaf(leaf.local, leaf.leaf, Share::Slot(slot));
            }
            match escapes(&l.body).continues {
                true => body.run(&l.body, &Rest::Join(&UNIT)).map(|_| ())?,
                false => body.expr(&l.body).map(|_| ())?,
            }
            Result::Ok(owned.iter().map(|leaf| body.local(leaf.local)[leaf.leaf]).collect::<Value>())
        })?;
        let block = self.b.close_block(slots);
        self.flow = flow;
        self.in_loop = in_loop;
        self.current_mut().shares.clear();
        self.current_mut().locals = outside;
        let kinds = vec![ParResult::Stacked; owned.len()];
        let results = self.b.finish_par(vec![index], vec![count], kinds, accs, block);
        let (stacked, sums) = results.split_at(owned.len());
        for (leaf, slots) in owned.iter().zip(stacked) {
            let whole = self.close_slots(leaf, (*slots).into(), space, count);
            self.set_leaf(leaf.local, leaf.leaf, whole);
        }
        let accumulated = shared.iter().filter(|leaf| !leaf.is_ordered);
        for (leaf, sum) in accumulated.zip(sums) {
            let elem = self.b.ty(self.local(leaf.local)[leaf.leaf]).elem;
            let sum = self.convert((*sum).into(), elem);
            self.set_leaf(leaf.local, leaf.leaf, sum);
        }
        Ok(())
    }

    fn set_leaf(&mut self, local: LocalId, leaf: usize, value: Atom) {
        let entry = &self.current().table[local.0 as usize];
        let (name, of) = (self.leaf_names(&entry.name, &entry.ty)[leaf].clone(), entry.name.clone());
        self.name_leaf(&name, &of, value);
        if let Some(Some(local)) = self.current_mut().locals.get_mut(local.0 as usize) {
            local[leaf] = value;
        }
    }

    fn share_leaf(&mut self, local: LocalId, leaf: usize, share: Share) {
        self.current_mut().shares.insert((local, leaf), share);
    }

    fn at_least_zero(&mut self, n: Atom) -> Atom {
        if self.is_non_negative(n) { n } else { self.clamped(n) }
    }

    fn clamped(&mut self, n: Atom) -> Atom {
        let n = self.prim(&MAX, &[n, Atom::i64(0)]);
        self.note_non_negative(n);
        n
    }

    // ---- accumulators

    fn shared_leaves(&mut self, accumulated: &[Accumulated]) -> Vec<SharedLeaf> {
        let mut leaves = Vec::new();
        for part in accumulated {
            for leaf in self.leaves_at(part.root, &part.path) {
                let elem = self.b.ty(self.local(part.root)[leaf]).elem;
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
    fn accumulators(&mut self, shared: &[SharedLeaf]) -> Vec<Acc> {
        let mut accs = Vec::new();
        for leaf in shared {
            if leaf.is_ordered {
                self.share_leaf(leaf.local, leaf.leaf, Share::Elsewhere);
                continue;
            }
            let init = self.computed(self.local(leaf.local)[leaf.leaf]);
            let ty = self.b.ty(init);
            let var = self.b.var(&self.current().table[leaf.local.0 as usize].name.clone(), ty);
            accs.push(Acc { var, kind: AccKind::Reduce(leaf.monoid), init: Some(init) });
            self.share_leaf(leaf.local, leaf.leaf, Share::Accumulator(var));
        }
        accs
    }

    /// The numbers of the leaves of a part of a local.
    fn leaves_at(&self, local: LocalId, path: &[usize]) -> std::ops::Range<usize> {
        let mut ty = self.current().table[local.0 as usize].ty.clone();
        let mut leaves = 0..self.n_leaves(&ty);
        for index in path {
            let part = self.part_leaves(&ty, *index);
            leaves = leaves.start + part.start..leaves.start + part.end;
            ty = self.part_types(&ty).get(*index).cloned().unwrap_or(typed::Type::UNIT);
        }
        leaves
    }

    // ---- slots

    fn owned_leaves(&mut self, owned: &'p [Owned]) -> Result<Vec<OwnedLeaf>> {
        let mut leaves = Vec::new();
        for part in owned {
            let slot = match &part.slot {
                typed::Slot::Element { factor, offset } => {
                    Positions::Element { factor: Atom::i64(*factor), offset: self.sum(offset)? }
                }
                typed::Slot::Block(length) => {
                    let is_size = matches!(length.as_slice(), [(1, Some(e))] if matches!(e.kind, ExprKind::Size(_)));
                    let length = self.sum(length)?;
                    // A product of sizes may have wrapped.
                    Positions::Block { length: if is_size { length } else { self.clamped(length) } }
                }
            };
            for leaf in self.leaves_at(part.root, &part.path) {
                let array = self.local(part.root)[leaf];
                leaves.push(OwnedLeaf { local: part.root, leaf, array, axis: part.axis, slot });
            }
        }
        Ok(leaves)
    }

    /// The sum of terms. Nothing here fails: where an index of the loop does, it says so itself.
    fn sum(&mut self, terms: &'p [(i64, Option<Expr>)]) -> Result<Atom> {
        let mut sum = Atom::i64(0);
        for (factor, e) in terms {
            let term = match e {
                None => Atom::i64(*factor),
                Some(e) => {
                    let value = self.unchecked(e)?;
                    self.prim(&MUL, &[Atom::i64(*factor), value])
                }
            };
            sum = self.prim(&ADD, &[sum, term]);
        }
        Ok(sum)
    }

    /// What belongs to the iteration at `i` of a tensor.
    fn open_slot(&mut self, leaf: &OwnedLeaf, space: &Space, i: Atom, count: Atom) -> Slot {
        let Ty { elem, dims } = self.b.ty(leaf.array);
        let extent = dims[leaf.axis].atom();
        let leading: Vec<Atom> = dims[..leaf.axis].iter().map(|dim| dim.atom()).collect();
        let rest = dims[leaf.axis + 1..].to_vec();
        let zeros = |body: &mut Self| body.fill(Const::zero(elem).into(), &rest);
        let element = |body: &mut Self, at: &[Atom]| -> Atom { body.b.index(leaf.array, at).into() };
        match leaf.slot {
            Positions::Element { factor, offset } => {
                let scaled = if factor == Atom::i64(1) { i } else { self.prim(&MUL, &[factor, i]) };
                let base = if offset == Atom::i64(0) { scaled } else { self.prim(&ADD, &[scaled, offset]) };
                let is_in_range = is_whole_axis(leaf, space, count, extent);
                let inside = match is_in_range {
                    true => Const::bool(true).into(),
                    false => self.prim(&IN_RANGE, &[base, extent]),
                };
                let value = self.each_cell(&leading, &mut |body, at| {
                    let at = [at, &[base]].concat();
                    body.choose(inside, &|body| element(body, &at), &zeros)
                });
                self.set_leaf(leaf.local, leaf.leaf, value);
                Slot { axis: leaf.axis, extent, base, kind: SlotKind::Element { is_in_range } }
            }
            Positions::Block { length } => {
                let base = self.prim(&MUL, &[i, length]);
                let cells = [leading.as_slice(), &[length]].concat();
                let value = self.each_cell(&cells, &mut |body, at| {
                    let (j, leading) = at.split_last().expect("invariant: an index for each extent");
                    let position = body.prim(&ADD, &[base, *j]);
                    let inside = body.prim(&IN_RANGE, &[position, extent]);
                    let at = [leading, &[position]].concat();
                    body.choose(inside, &|body| element(body, &at), &zeros)
                });
                self.set_leaf(leaf.local, leaf.leaf, value);
                Slot { axis: leaf.axis, extent, base, kind: SlotKind::Block }
            }
        }
    }

    /// The tensor after the loop, given the slots of all iterations.
    fn close_slots(&mut self, leaf: &OwnedLeaf, slots: Atom, space: &Space, count: Atom) -> Atom {
        let dims = self.b.ty(leaf.array).dims;
        let extent = dims[leaf.axis].atom();
        if leaf.axis == 0 && !space.reversed && is_whole_axis(leaf, space, count, extent) {
            return slots;
        }
        let cells: Vec<Atom> = dims[..=leaf.axis].iter().map(|dim| dim.atom()).collect();
        self.each_cell(&cells, &mut |body, at| {
            let (position, leading) = at.split_last().expect("invariant: an index for each extent");
            let (i, place, fits) = body.iteration_of(leaf.slot, *position);
            let lo = body.first_value(space);
            let mut number = body.prim(&SUB, &[i, lo]);
            if space.reversed {
                let last = body.prim(&SUB, &[count, Atom::i64(1)]);
                number = body.prim(&SUB, &[last, number]);
            }
            let runs = body.prim(&IN_RANGE, &[number, count]);
            let runs = body.both(fits, runs);
            let in_slot: Vec<Atom> = [number].into_iter().chain(leading.iter().copied()).chain(place).collect();
            body.choose(runs, &|body| body.b.index(slots, &in_slot).into(), &|body| body.b.index(leaf.array, at).into())
        })
    }

    /// The iteration that a position belongs to, the place of the position in its slot, and whether there is one.
    fn iteration_of(&mut self, positions: Positions, position: Atom) -> (Atom, Option<Atom>, Atom) {
        match positions {
            Positions::Element { factor, offset } => {
                let scaled = self.prim(&SUB, &[position, offset]);
                if factor == Atom::i64(1) {
                    return (scaled, None, Const::bool(true).into());
                }
                let i = self.prim(&DIV, &[scaled, factor]);
                let back = self.prim(&MUL, &[i, factor]);
                let fits = self.prim(&EQ, &[back, scaled]);
                (i, None, fits)
            }
            Positions::Block { length } => {
                let i = self.prim(&DIV, &[position, length]);
                let place = self.prim(&REM, &[position, length]);
                let fits = self.prim(&GT, &[length, Atom::i64(0)]);
                (i, Some(place), fits)
            }
        }
    }

    /// The first value of the range, as an i64.
    fn first_value(&mut self, space: &Space) -> Atom {
        match space.lo {
            Some(lo) if self.b.ty(lo).elem != Elem::I64 => self.prim(cast_to(Elem::I64), &[lo]),
            Some(lo) => lo,
            None => Atom::i64(0),
        }
    }

    /// Stacks a leaf over all cells; the leaf itself if there are no extents.
    fn each_cell(&mut self, extents: &[Atom], cell: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom) -> Atom {
        if extents.is_empty() {
            return cell(self, &[]);
        }
        let indices: Vec<Var> = self.index_vars(extents.len());
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.b.open_block();
        let value = self.scoped(|body| cell(body, &at));
        let block = self.b.close_block(vec![value]);
        self.b.finish_par(indices, extents.to_vec(), vec![ParResult::Stacked], Vec::new(), block)[0].into()
    }

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
            let value = self.scoped(arm);
            self.b.close_block(vec![value])
        });
        self.b.finish_switch(cond, arms.into())[0].into()
    }
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
