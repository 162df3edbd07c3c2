//! What becomes of an accumulator: the contributions to an element, in order, and where each comes from.

use super::Gather;
use super::again::{cost, dear_part};
use super::nest::{Clamp, Nest, Reach, Write};
use cotan_ir::{AccKind, Atom, Const, Elem, ElemSet, Monoid, Par};

/// How many arrays of contributions are made at most: each is written and read once more.
const MOST_LEAVES: usize = 6;
/// What computing a contribution or a condition again may cost.
const MOST_AGAIN: u64 = 8;
/// By how much an array may be longer or shorter than the loop.
const MOST_LONGER: i64 = 16;

/// An accumulator that is computed element by element.
pub(super) struct Plan {
    /// Its position among the accumulators of the `par`.
    pub(super) acc: usize,
    pub(super) elem: Elem,
    pub(super) start: Start,
    /// In the order in which they are added.
    pub(super) contributions: Vec<Contribution>,
    /// The values that are stacked for them.
    pub(super) leaves: Vec<Leaf>,
    /// By how much each dim is longer than its loop, where that is known.
    pub(super) longer: Vec<Option<i64>>,
}

/// What an element starts from.
pub(super) enum Start {
    Constant(Const),
    /// The element of this array.
    Array(Atom),
}

/// What iterations add to the element at this offset.
pub(super) struct Contribution {
    pub(super) offset: Vec<i64>,
    /// Truth values of the iteration, and what they must be.
    pub(super) conditions: Vec<(Atom, bool)>,
    /// The number that one of the loops must have: an axis, and how far from its first or last number.
    pub(super) only: Option<End>,
    pub(super) value: Atom,
    /// The number of the leaf that it is computed of.
    pub(super) leaf: Option<usize>,
}

/// An iteration near an end of a loop.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) axis: usize,
    pub(super) is_at_start: bool,
    pub(super) distance: i64,
}

/// A value of an iteration that is stacked.
#[derive(PartialEq)]
pub(super) struct Leaf {
    pub(super) value: Atom,
    /// The loop in whose body it is bound.
    pub(super) level: usize,
    /// The arms around it there.
    pub(super) arms: Vec<(usize, usize)>,
}

impl Gather<'_> {
    /// What becomes of an accumulator of a `par`, if that is worth it.
    pub(super) fn plan(&self, p: &Par, acc: usize) -> Option<Plan> {
        let own = &p.accs[acc];
        let ty = self.f.ty(own.var);
        if own.kind != AccKind::Reduce(Monoid::Add) || !ElemSet::FLOAT.has(ty.elem) || ty.is_scalar() {
            return None;
        }
        let init = own.init?;
        let start = self.splats.constant(init).map_or(Start::Array(init), Start::Constant);
        let nest = Nest::of(self.f, p, own.var);
        let writes = nest.writes(own.var)?;
        let reaches: Vec<Reach> = writes.iter().map(|w| nest.reach(w.indices, &self.extents)).collect::<Option<_>>()?;
        let is_shared = reaches.iter().any(|reach| reach.offset != reaches[0].offset);
        // The extents of inner loops are known outside, too.
        let is_box = nest.extents.iter().all(|n| n.var().is_none_or(|v| !nest.is_bound(v)));
        if !is_shared || !is_box || ty.rank() != nest.indices.len() {
            return None;
        }
        let longer: Vec<Option<i64>> =
            ty.dims.iter().zip(&nest.extents).map(|(d, n)| self.extents.difference(d.atom(), *n)).collect();
        let is_close = longer.iter().all(|by| by.is_some_and(|by| by.abs() <= MOST_LONGER));
        // The end of the array must be that of the loop where indices are clamped.
        let is_whole = |reach: &Reach| reach.clamp.as_ref().is_none_or(|clamp| longer[clamp.axis] == Some(0));
        if !is_close && matches!(start, Start::Array(_)) || !reaches.iter().all(is_whole) {
            return None;
        }
        let mut plan = Plan { acc, elem: ty.elem, start, contributions: Vec::new(), leaves: Vec::new(), longer };
        let is_left_idle = p.kinds.is_empty() && !nest.writes_elsewhere(own.var);
        let all_again =
            is_left_idle && writes.iter().all(|w| self.conditions(&nest, w).is_some() && self.is_cheap(&nest, w));
        for (w, reach) in writes.iter().zip(reaches) {
            let (conditions, leaf) = match self.conditions(&nest, w) {
                Some(conditions) if all_again => (conditions, None),
                Some(conditions) => (conditions, self.leaf(&nest, w)),
                None => (Vec::new(), Some(whole(&nest, w))),
            };
            let leaf = leaf.map(|leaf| plan.number(leaf));
            let whole = Contribution { offset: reach.offset, conditions, only: None, value: w.value, leaf };
            plan.contributions.extend(reach.clamp.iter().flat_map(|clamp| whole.beyond(clamp)));
            plan.contributions.push(whole);
        }
        // The later an iteration, the less is between it and the element.
        plan.contributions.sort_by(|a, b| b.offset.cmp(&a.offset));
        (plan.leaves.len() <= MOST_LEAVES).then_some(plan)
    }

    /// The conditions of a write, if they can be evaluated again.
    fn conditions(&self, nest: &Nest, w: &Write) -> Option<Vec<(Atom, bool)>> {
        let known = |(selector, (_, arm)): (&Atom, &(usize, usize))| {
            let is_bool = self.f.atom_ty(*selector).elem == Elem::Bool;
            let cost = cost(self.f, nest, *selector, false)?;
            (is_bool && cost <= MOST_AGAIN).then_some((*selector, *arm == 0))
        };
        w.selectors.iter().zip(&w.arms).map(known).collect()
    }

    fn is_cheap(&self, nest: &Nest, w: &Write) -> bool {
        cost(self.f, nest, w.value, true).is_some_and(|cost| cost <= MOST_AGAIN)
    }

    /// What has to be stacked for a contribution whose conditions are known.
    fn leaf(&self, nest: &Nest, w: &Write) -> Option<Leaf> {
        let value = dear_part(self.f, nest, w.value)?;
        let (level, depth) = nest.site(value)?;
        Some(Leaf { value: value.into(), level, arms: w.arms[..depth].to_vec() })
    }
}

impl Contribution {
    /// The contributions of those iterations that would write beyond the end: to the first or last element.
    fn beyond(&self, clamp: &Clamp) -> impl Iterator<Item = Contribution> {
        let Clamp { axis, is_at_start, beyond } = *clamp;
        (0..beyond).map(move |distance| {
            let mut offset = self.offset.clone();
            offset[axis] = if is_at_start { -distance } else { distance };
            let only = Some(End { axis, is_at_start, distance });
            Contribution { offset, conditions: self.conditions.clone(), only, value: self.value, leaf: self.leaf }
        })
    }
}

/// A contribution as it is, with all arms around it.
fn whole(nest: &Nest, w: &Write) -> Leaf {
    Leaf { value: w.value, level: nest.positions.len(), arms: w.arms.clone() }
}

impl Plan {
    fn number(&mut self, leaf: Leaf) -> usize {
        self.leaves.iter().position(|other| *other == leaf).unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        })
    }
}
