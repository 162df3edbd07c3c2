//! What a nest of two loops becomes as a wavefront, if it may be one.
//!
//! The body of the outer loop is cut into three: what stands before the inner loop, the inner loop, what stands behind.
//! Each part runs apart from the others, for several iterations of the outer loop, so what one of them makes for another
//! needs a place for each of these: an array gets one, with a slot for each iteration under way, and so does a scalar.
//! Integers that are cheap to compute again are computed again, and elements that nobody changes are loaded again.

use super::access::{Access, Accesses};
use super::legal::{Loops, Stage};
use super::values::Values;
use cotan_ir::bug;
use cotan_loops::node::{
    Argument, Buffer, BufferKind, Definitions, Expr, For, Home, Independence, Local, LoopFunction, Node, Operand,
    Target, Threads, definitions_of, each_definition, walk,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of a whole function.
pub(super) struct Survey {
    pub(super) definitions: Definitions,
    /// How often mutable locals are mentioned.
    mentions: FxHashMap<Local, usize>,
}

impl Survey {
    pub(super) fn of(f: &LoopFunction) -> Survey {
        let definitions = definitions_of(&f.body);
        let mut mentions = FxHashMap::default();
        let mut see = |local: Local| *mentions.entry(local).or_default() += 1;
        each_mutable(f, &f.body, &mut see);
        for operand in f.results.iter().flat_map(Argument::operands) {
            if let Operand::Local(local) = operand {
                see(local);
            }
        }
        Survey { definitions, mentions }
    }
}

/// Visits the mentions of mutable locals.
fn each_mutable(f: &LoopFunction, nodes: &[Node], see: &mut impl FnMut(Local)) {
    walk(nodes, &mut |node| {
        node.each_operand(&mut |operand| match operand {
            Operand::Local(local) if f.locals[local.index()].is_mutable => see(local),
            Operand::Local(_) | Operand::Const(_) => {}
        });
        if let Node::Set(local, _) = node {
            see(*local);
        }
    });
}

/// What a stage reads of locals and touches of buffers, and which mutable locals it changes.
#[derive(Default)]
struct Touched {
    reads: FxHashSet<Local>,
    sets: FxHashSet<Local>,
    buffers: FxHashSet<Buffer>,
}

impl Touched {
    /// Those of a node and of the nodes in it.
    fn of(node: &Node) -> Touched {
        let mut touched = Touched::default();
        touched.add(node);
        touched
    }

    fn add(&mut self, node: &Node) {
        walk(std::slice::from_ref(node), &mut |node| {
            node.each_buffer(&mut |buffer, _| {
                self.buffers.insert(buffer);
            });
            node.each_operand(&mut |operand| {
                if let Operand::Local(local) = operand {
                    self.reads.insert(local);
                }
            });
            if let Node::Set(local, _) | Node::Combine { target: Target::Local(local), .. } = node {
                self.sets.insert(*local);
            }
        });
    }

    fn mentions(&self, local: Local) -> bool {
        self.reads.contains(&local) || self.sets.contains(&local)
    }
}

/// An array that parts hand on, its extents, and which parts mention it.
pub(super) type HandedArray = (Buffer, Vec<Operand>, [bool; 3]);
/// A mutable local that parts hand on: which mention it, and which change it.
pub(super) type HandedLocal = (Local, [bool; 3], [bool; 3]);

/// How a nest becomes a wavefront.
pub(super) struct Plan {
    /// The position of the inner loop in the body of the outer one.
    pub(super) at: usize,
    /// The positions of what each part runs, of the inner loop itself nothing but what it needs.
    pub(super) parts: [Vec<usize>; 3],
    /// Values that are made before the inner loop and used in it or behind, and by which parts.
    pub(super) spilled: Vec<(Local, [bool; 3])>,
    /// Mutable locals that parts hand on: which read them, and which change them.
    pub(super) handed_on: Vec<HandedLocal>,
    /// Arrays that parts hand on, their extents, and which parts mention them.
    pub(super) arrays: Vec<HandedArray>,
    /// What the nest defines, its counter as well.
    pub(super) inside: FxHashSet<Local>,
}

/// The list that is the body of a loop.
pub(super) fn list_of(body: &[Node]) -> &[Node] {
    match body {
        [Node::Scope(list)] => list,
        _ => body,
    }
}

/// The same, to change it.
pub(super) fn list_of_mut(body: &mut Vec<Node>) -> &mut Vec<Node> {
    if !matches!(&body[..], [Node::Scope(_)]) {
        return body;
    }
    let Node::Scope(list) = &mut body[0] else {
        bug!("wavefronts", "the body of a loop", "a list of one scope has a scope")
    };
    list
}

/// Whether a loop runs one iteration after the other as far as is known.
pub(crate) fn is_sequential(l: &For) -> bool {
    l.threads == Threads::One && l.independence == Independence::None && l.lanes == 1
}

/// How `outer` becomes a wavefront with the loop at a position of its body as the inner one.
pub(super) fn plan(f: &LoopFunction, survey: &Survey, outer: &For, at: usize) -> Option<Plan> {
    let (outer_index, outer_count) = (outer.index, outer.count);
    let list = list_of(&outer.body);
    let touched: Vec<Touched> = list.iter().map(Touched::of).collect();
    let Node::For(inner) = &list[at] else { return None };
    if !is_sequential(inner) {
        return None;
    }
    let mut nest = Nest {
        f,
        survey,
        list,
        at,
        touched,
        values: Values::new(f, &survey.definitions, (outer_index, list), &[outer_count, inner.count]),
        parts: Default::default(),
        spilled: FxHashMap::default(),
    };
    if !nest.values.is_fixed(inner.count) || !nest.values.is_fixed(outer_count) {
        return None;
    }
    let Met { all, written, fresh } = nest.accesses([outer_index, inner.index])?;
    nest.divide(&written)?;
    let arrays = nest.arrays()?;
    let handed_on = nest.mutable_locals()?;
    nest.may_overlap(&all, fresh, [(outer_index, outer_count), (inner.index, inner.count)])?;
    let mut inside = FxHashSet::from_iter([outer_index]);
    each_definition(nest.list, &mut |local, _| {
        inside.insert(local);
    });
    let mut spilled: Vec<(Local, [bool; 3])> = nest.spilled.into_iter().collect();
    spilled.sort_unstable_by_key(|(local, _)| *local);
    Some(Plan { at, parts: nest.parts, spilled, handed_on, arrays, inside })
}

/// What a nest reads and writes.
struct Met {
    /// Of what is not its own.
    all: Vec<(Stage, Access)>,
    /// The buffers that it writes, its own as well.
    written: FxHashSet<Buffer>,
    /// The number of a local that is in none of it.
    fresh: u32,
}

struct Nest<'a> {
    f: &'a LoopFunction,
    survey: &'a Survey,
    list: &'a [Node],
    at: usize,
    /// What each node of the list touches.
    touched: Vec<Touched>,
    values: Values<'a>,
    parts: [Vec<usize>; 3],
    spilled: FxHashMap<Local, [bool; 3]>,
}

impl Nest<'_> {
    fn stage(&self, position: usize) -> Stage {
        match position.cmp(&self.at) {
            std::cmp::Ordering::Less => Stage::Before,
            std::cmp::Ordering::Equal => Stage::Inner,
            std::cmp::Ordering::Greater => Stage::Behind,
        }
    }

    fn inner(&self) -> &[Node] {
        self.list[self.at].lists().into_iter().next().unwrap_or_default()
    }

    /// What the nest reads and writes.
    fn accesses(&self, [t, s]: [Local; 2]) -> Option<Met> {
        let mut all = Vec::new();
        let mut fresh = self.f.locals.len() as u32;
        let mut own = FxHashSet::default();
        for stage in Stage::ALL {
            let outer = if stage == Stage::Inner { vec![t, s] } else { vec![t] };
            let mut accesses = Accesses::new(self.f, &self.values, outer, fresh);
            match stage {
                Stage::Before => accesses.nodes(&self.list[..self.at])?,
                Stage::Inner => accesses.nodes(self.inner())?,
                Stage::Behind => accesses.nodes(&self.list[self.at + 1..])?,
            }
            fresh = accesses.fresh;
            own.extend(accesses.own.drain());
            all.extend(accesses.found.into_iter().map(|access| (stage, access)));
        }
        let is_result = |b: &Buffer| matches!(self.f.buffers[b.index()].kind, BufferKind::Allocated(Home::Result(_)));
        if own.iter().any(is_result) {
            return None;
        }
        let written = all.iter().filter(|(_, access)| access.writes).map(|(_, access)| access.buffer).collect();
        all.retain(|(_, access)| !own.contains(&access.buffer));
        Some(Met { all, written, fresh })
    }

    fn may_overlap(&self, all: &[(Stage, Access)], fresh: u32, loops: [(Local, Operand); 2]) -> Option<()> {
        let counts = [self.values.counts(loops[0].1)?, self.values.counts(loops[1].1)?];
        let loops =
            Loops { indices: loops.map(|(index, _)| index), counts, facts: self.values.facts(), fresh, skew: None };
        loops.may_overlap(all).then_some(())
    }

    /// Whether a node may run again, or later, with the same result.
    fn is_movable(&self, position: usize, written: &FxHashSet<Buffer>) -> bool {
        let is_set = |local: Local, stages: &[Stage]| {
            (0..self.list.len()).any(|k| stages.contains(&self.stage(k)) && self.touched[k].sets.contains(&local))
        };
        if let Node::Let(local, expr) = &self.list[position] {
            return match expr {
                Expr::Copy(Operand::Local(from)) if self.f.locals[from.index()].is_mutable => {
                    !is_set(*from, &[Stage::Before, Stage::Inner])
                }
                Expr::Copy(_) => true,
                Expr::Native { .. } => !self.f.elem(*local).is_float(),
                Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
                    false
                }
            };
        }
        matches!(&self.list[position], Node::Load(_, from) if !written.contains(&from.buffer))
    }

    /// Finds out what each part runs.
    fn divide(&mut self, written: &FxHashSet<Buffer>) -> Option<()> {
        let mut definer: FxHashMap<Local, usize> = FxHashMap::default();
        for (position, node) in self.list[..self.at].iter().enumerate() {
            if let Node::Let(local, _) | Node::Load(local, _) = node {
                definer.insert(*local, position);
            }
        }
        let movable: Vec<bool> = (0..self.at).map(|k| self.is_movable(k, written)).collect();
        let stays = |k: &usize| !movable[*k] && !matches!(self.list[*k], Node::Alloc { .. });
        let anchored: [Vec<usize>; 3] =
            [(0..self.at).filter(stays).collect(), Vec::new(), (self.at + 1..self.list.len()).collect()];
        for stage in [Stage::Behind, Stage::Inner, Stage::Before] {
            let mut runs = anchored[stage as usize].clone();
            let mut wanted: Vec<Local> = match stage {
                Stage::Inner => {
                    let mut touched = Touched::default();
                    self.inner().iter().for_each(|node| touched.add(node));
                    touched.reads.into_iter().collect()
                }
                Stage::Before | Stage::Behind => {
                    let touched = runs.iter().flat_map(|k| &self.touched[*k].reads).copied();
                    // Arrays of a part of its own are allocated there.
                    let own = self.own_allocations(stage);
                    let extents = own.iter().flat_map(|k| self.touched[*k].reads.iter().copied());
                    let wanted = touched.chain(extents).collect();
                    runs.extend(own);
                    wanted
                }
            };
            let mut seen = FxHashSet::default();
            while let Some(local) = wanted.pop() {
                let Some(position) = definer.get(&local).copied().filter(|_| seen.insert(local)) else { continue };
                if movable[position] {
                    runs.push(position);
                    wanted.extend(self.touched[position].reads.iter().copied());
                } else if stage != Stage::Before {
                    self.spilled.entry(local).or_default()[stage as usize] = true;
                }
            }
            runs.sort_unstable();
            runs.dedup();
            self.parts[stage as usize] = runs;
        }
        Some(())
    }

    /// The parts that mention a buffer.
    fn parts_with(&self, buffer: Buffer) -> [bool; 3] {
        let mut parts = [false; 3];
        for (k, touched) in self.touched.iter().enumerate() {
            let is_allocation = matches!(self.list[k], Node::Alloc { .. });
            parts[self.stage(k) as usize] |= !is_allocation && touched.buffers.contains(&buffer);
        }
        parts
    }

    /// The allocations before the inner loop for one part alone.
    fn own_allocations(&self, stage: Stage) -> Vec<usize> {
        let is_own = |k: &usize| {
            let Node::Alloc { buffer, .. } = self.list[*k] else { return false };
            matches!(
                (self.parts_with(buffer), stage),
                ([_, false, false], Stage::Before) | ([false, false, true], Stage::Behind)
            )
        };
        (0..self.at).filter(is_own).collect()
    }

    /// The arrays that parts, or iterations of the inner loop, hand on.
    fn arrays(&self) -> Option<Vec<HandedArray>> {
        let own = [self.own_allocations(Stage::Before), self.own_allocations(Stage::Behind)].concat();
        let mut arrays = Vec::new();
        for (k, node) in self.list[..self.at].iter().enumerate() {
            if let Node::Alloc { buffer, extents } = node
                && !own.contains(&k)
            {
                if !extents.iter().all(|extent| self.values.is_fixed(*extent)) {
                    return None;
                }
                arrays.push((*buffer, extents.clone(), self.parts_with(*buffer)));
            }
        }
        Some(arrays)
    }

    /// The mutable locals that parts hand on; nothing if iterations of the outer loop do so in a way that a wavefront can't.
    fn mutable_locals(&self) -> Option<Vec<HandedLocal>> {
        let mut counts: FxHashMap<Local, usize> = FxHashMap::default();
        each_mutable(self.f, self.list, &mut |local| *counts.entry(local).or_default() += 1);
        let mut inner_counts: FxHashMap<Local, usize> = FxHashMap::default();
        each_mutable(self.f, self.inner(), &mut |local| *inner_counts.entry(local).or_default() += 1);
        let mut locals: Vec<(Local, usize)> = counts.into_iter().collect();
        locals.sort_unstable();
        let mut handed_on = Vec::new();
        for (local, count) in locals {
            if !self.touched.iter().any(|touched| touched.sets.contains(&local)) {
                continue;
            }
            let is_all = |count: Option<&usize>| count == self.survey.mentions.get(&local);
            if is_all(inner_counts.get(&local)) && is_set_first(self.inner(), local) {
                continue;
            }
            let (mut mentions, mut sets) = ([false; 3], [false; 3]);
            for stage in [Stage::Before, Stage::Behind] {
                for k in &self.parts[stage as usize] {
                    mentions[stage as usize] |= self.touched[*k].mentions(local);
                    sets[stage as usize] |= self.touched[*k].sets.contains(&local);
                }
            }
            let movable = self.parts[Stage::Inner as usize].iter().any(|k| self.touched[*k].mentions(local));
            mentions[Stage::Inner as usize] = movable || self.touched[self.at].mentions(local);
            sets[Stage::Inner as usize] = self.touched[self.at].sets.contains(&local);
            let n_parts = mentions.into_iter().filter(|m| *m).count();
            if is_all(Some(&count)) && is_set_first(self.list, local) {
                if n_parts > 1 {
                    handed_on.push((local, mentions, sets));
                }
            } else if n_parts > 1 || mentions[Stage::Inner as usize] {
                return None;
            }
        }
        Some(handed_on)
    }
}

/// Whether what runs first of all that mentions a mutable local is an assignment to it.
pub(super) fn is_set_first(list: &[Node], local: Local) -> bool {
    let mentions = |node: &&Node| Touched::of(node).mentions(local);
    let mut mentioning = list.iter().filter(mentions);
    match mentioning.next() {
        Some(Node::Set(set, value)) => *set == local && *value != Operand::Local(local),
        Some(container) => {
            let mut own = false;
            container.each_operand(&mut |operand| own |= operand == Operand::Local(local));
            let lists = container.lists();
            let is_set_inside = |list: &&[Node]| !list.iter().any(|node| mentions(&node)) || is_set_first(list, local);
            !own && !lists.is_empty() && mentioning.next().is_none() && lists.iter().all(is_set_inside)
        }
        None => false,
    }
}
