//! The elements that all iterations of a loop change in turn.
//!
//! Of the memory from outside that an iteration changes, each buffer is touched in one place alone: by a `Combine`, or by a load,
//! one instruction and a store. That place stands in counted loops, whose counters tell which element it is. Two
//! iterations of these loops never mean the same element (row-major order): a step of one counter moves the offset by more
//! than all counters inside of it do together, or by less than nothing.

use crate::invariants::Renamed;
use crate::wavefront::bounds::{Counter, Facts, Poly};
use crate::wavefront::values::Values;
use cotan_loops::node::{
    Buffer, BufferUse, Definitions, Expr, Local, LoopFunction, Node, Operand, Place, Target, walk,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of the sums of a loop.
pub(super) struct Sums {
    /// What changes elements by a load and a store: the buffer, the element as it was, and as it will be.
    updates: Vec<(Buffer, Local, Local)>,
}

impl Sums {
    /// Those of a loop with this counter and body, if they are all that its iterations share.
    pub(super) fn of(
        f: &LoopFunction,
        definitions: &Definitions,
        renamed: &Renamed,
        (index, body): (Local, &[Node]),
    ) -> Option<Sums> {
        let touched = Touched::of(body);
        let changed = touched.changed();
        if changed.is_empty() || !changed.iter().all(|buffer| renamed.has_one_name(f, *buffer)) {
            return None;
        }
        let values = Values::new(f, definitions, (index, body), &[]);
        let mut finder = Finder {
            definitions,
            values: &values,
            fresh: f.locals.len() as u32,
            touched,
            changed,
            loops: Vec::new(),
            updates: Vec::new(),
            n_found: 0,
        };
        finder.list(body)?;
        (finder.n_found == finder.changed.len()).then_some(Sums { updates: finder.updates })
    }

    /// The same nodes, in which the load, the instruction and the store of a sum follow each other, at one offset.
    pub(super) fn in_rows(&self, nodes: Vec<Node>) -> Vec<Node> {
        let mut moved: FxHashMap<Local, Node> = FxHashMap::default();
        let mut list = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            node.map_lists(|inner| self.in_rows(inner));
            if let Node::Load(local, _) | Node::Let(local, _) = node
                && self.updates.iter().any(|(_, old, new)| [old, new].contains(&&local))
            {
                moved.insert(local, node);
                continue;
            }
            if let Node::Store(to, _) = node
                && let Some((_, old, new)) = self.updates.iter().find(|(buffer, ..)| *buffer == to.buffer)
            {
                list.push(Node::Load(*old, to));
                list.extend(moved.remove(new));
            }
            list.push(node);
        }
        list
    }
}

/// How nodes touch buffers and read locals.
#[derive(Default)]
struct Touched {
    /// How many nodes touch a buffer.
    buffers: FxHashMap<Buffer, usize>,
    written: FxHashSet<Buffer>,
    allocated: FxHashSet<Buffer>,
    reads: FxHashMap<Local, usize>,
}

impl Touched {
    fn of(nodes: &[Node]) -> Touched {
        let mut touched = Touched::default();
        walk(nodes, &mut |node| {
            node.each_operand(&mut |operand| {
                if let Operand::Local(local) = operand {
                    *touched.reads.entry(local).or_default() += 1;
                }
            });
            node.each_buffer(&mut |buffer, usage| {
                if usage == BufferUse::Allocate {
                    touched.allocated.insert(buffer);
                    return;
                }
                *touched.buffers.entry(buffer).or_default() += 1;
                if [BufferUse::Write, BufferUse::Update].contains(&usage) {
                    touched.written.insert(buffer);
                }
            });
        });
        touched
    }

    /// The buffers from outside that are changed.
    fn changed(&self) -> FxHashSet<Buffer> {
        self.written.difference(&self.allocated).copied().collect()
    }
}

struct Finder<'a> {
    definitions: &'a Definitions,
    values: &'a Values<'a>,
    /// The number of a local that there is not.
    fresh: u32,
    touched: Touched,
    changed: FxHashSet<Buffer>,
    /// The loops around that stand in the body: counters and counts, the outermost first.
    loops: Vec<(Local, Operand)>,
    updates: Vec<(Buffer, Local, Local)>,
    /// How many sums were found.
    n_found: usize,
}

impl Finder<'_> {
    fn list(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            if let Node::Combine { target: Target::Element(place), .. } = node
                && self.changed.contains(&place.buffer)
            {
                self.sum(*place, 1)?;
            } else if let Node::Store(to, value) = node
                && self.changed.contains(&to.buffer)
            {
                self.update(*to, *value, nodes)?;
            } else if let Node::For(l) = node {
                self.loops.push((l.index, l.count));
                self.list(&l.body)?;
                self.loops.pop();
            } else if let Node::Scope(list) = node {
                self.list(list)?;
            }
            // What stands in branches is not found, and then there are fewer sums than buffers that are changed.
        }
        Some(())
    }

    /// A place at which a number of nodes touch a buffer, and iterations of the loops around never the same element.
    fn sum(&mut self, place: Place, n_nodes: usize) -> Option<()> {
        let is_all = self.touched.buffers.get(&place.buffer) == Some(&n_nodes);
        if !is_all || !self.are_apart(&self.values.of(place.offset)?)? {
            return None;
        }
        self.n_found += 1;
        Some(())
    }

    /// A store of what one instruction makes of the element.
    fn update(&mut self, to: Place, value: Operand, list: &[Node]) -> Option<()> {
        let Operand::Local(new) = value else { return None };
        let Expr::Native { args, .. } = self.definitions.get(&new)? else { return None };
        let is_here = |of: Local| list.iter().any(|node| matches!(node, Node::Let(local, _) if *local == of));
        let (old, from) = list.iter().find_map(|node| {
            let Node::Load(local, from) = node else { return None };
            (from.buffer == to.buffer).then_some((*local, *from))
        })?;
        let are_read_once = [old, new].iter().all(|local| self.touched.reads.get(local) == Some(&1));
        let is_same = self.values.of(from.offset)? == self.values.of(to.offset)?;
        if !is_here(new) || !args.contains(&old.into()) || !are_read_once || !is_same {
            return None;
        }
        self.updates.push((to.buffer, old, new));
        self.sum(to, 2)
    }

    /// Whether no two iterations of the loops around mean the same offset.
    fn are_apart(&self, offset: &Poly) -> Option<bool> {
        let mut facts = self.values.facts();
        let mut counts = Vec::new();
        for (_, count) in &self.loops {
            let of_loop = self.values.counts(*count)?;
            if !of_loop.iter().all(|count| self.is_fixed(count)) {
                return None;
            }
            of_loop.iter().for_each(|count| facts.runs(count));
            counts.push(of_loop);
        }
        let indices: Vec<Local> = self.loops.iter().map(|(index, _)| *index).collect();
        let mut unknowns = offset.unknowns().into_iter();
        let is_known = unknowns.all(|local| indices.contains(&local) || self.values.is_fixed(local.into()));
        let nest = Nest { indices, counts, facts, fresh: self.fresh };
        Some(is_known && (0..nest.indices.len()).all(|level| nest.steps_over(level, offset).is_some()))
    }

    fn is_fixed(&self, poly: &Poly) -> bool {
        poly.unknowns().into_iter().all(|local| self.values.is_fixed(local.into()))
    }
}

/// Loops around a sum, the outermost first.
struct Nest {
    indices: Vec<Local>,
    /// What their counts are at most.
    counts: Vec<Vec<Poly>>,
    /// What is known of numbers where all of them run.
    facts: Facts,
    fresh: u32,
}

impl Nest {
    /// Shows that offsets differ where the counters outside of a loop are the same and its own ones are not.
    fn steps_over(&self, level: usize, offset: &Poly) -> Option<()> {
        let mut facts = self.facts.clone();
        for count in &self.counts[level] {
            facts.runs(&count.minus(&Poly::number(1))?);
        }
        let (own, distance) = (self.indices[level], Local(self.fresh));
        let further = Poly::unknown(own).plus(&Poly::unknown(distance))?.plus(&Poly::number(1))?;
        let (mut other, mut counters) = (offset.with(own, &further)?, Vec::new());
        for k in (level + 1..self.indices.len()).rev() {
            let fresh = Local(self.fresh + k as u32);
            other = other.with(self.indices[k], &Poly::unknown(fresh))?;
            let most = self.ends(k, &Poly::number(1))?;
            counters.push(Counter { local: fresh, most: most.clone() });
            counters.push(Counter { local: self.indices[k], most });
        }
        let two = Poly::number(2);
        counters.push(Counter { local: distance, most: self.ends(level, &two.plus(&Poly::unknown(own))?)? });
        counters.push(Counter { local: own, most: self.ends(level, &two)? });
        for k in (0..level).rev() {
            counters.push(Counter { local: self.indices[k], most: self.ends(k, &Poly::number(1))? });
        }
        let difference = other.minus(offset)?;
        let negated = Poly::number(0).minus(&difference)?;
        [difference, negated].iter().any(|poly| facts.is_positive(poly, &counters)).then_some(())
    }

    /// The counts of a loop less a polynomial.
    fn ends(&self, k: usize, less: &Poly) -> Option<Vec<Poly>> {
        self.counts[k].iter().map(|count| count.minus(less)).collect()
    }
}
