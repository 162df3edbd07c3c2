//! Loop distribution of accumulation: a parallel loop whose iterations combine values into what they share becomes one that
//! writes down the contributions, each with its destination, and loops that add them up. All of these have iterations that
//! are independent, and contributions of a destination stay in the order of the iterations.
//!
//! How much room the contributions of an iteration need has to follow from the sizes of the loops in it. The iterations are
//! done in tiles, so that the memory for contributions has a bound. Loops of which that is not known are done in
//! [groups](super::grouped), and so are those that compute little and add often to each element.

use super::own::Subscripts;
use super::writer::{Writer, counted, store};
use crate::parallel::Role;
use cotan_ir::{Elem, Monoid};
use cotan_loops::node::{Definitions, LocalUse, Part, definitions_of, walk};
use cotan_loops::{Buffer, Expr, For, Independence, Local, LoopFunction, Node, Operand, Place, Target, shared_targets};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// Contributions of a tile, where an iteration has not more.
const TILE: i64 = 1 << 22;

/// Distributes the loops of a function that are for many threads.
pub(super) fn distribute_accumulation(f: &mut LoopFunction) {
    let sizes = Sizes::of(f);
    let subscripts = Subscripts::of(f);
    let body = std::mem::take(&mut f.body);
    f.body = list(f, &sizes, &subscripts, body);
}

fn list(f: &mut LoopFunction, sizes: &Sizes, subscripts: &Subscripts, nodes: Vec<Node>) -> Vec<Node> {
    let mut out = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        match (Role::of(f, &node), &node) {
            (Role::Kernel, Node::For(l)) if subscripts.are_shared(l) => {
                let mut writer = Writer { f };
                let distributed = Scattering::of(&mut writer, sizes, subscripts, l);
                out.push(match distributed {
                    Some(distributed) => writer.grouped_where_dense(sizes, subscripts, l, distributed),
                    None => writer.grouped(sizes, subscripts, l).unwrap_or(node),
                });
            }
            (Role::Control, _) => {
                node.map_lists(|inner| list(f, sizes, subscripts, inner));
                out.push(node);
            }
            (Role::Kernel | Role::Thread | Role::Host, _) => out.push(node),
        }
    }
    out
}

/// The extents of the arrays of a function, where they are allocated once.
pub(super) struct Sizes(FxHashMap<Buffer, Option<Vec<Operand>>>);

impl Sizes {
    fn of(f: &LoopFunction) -> Sizes {
        let mut sizes: FxHashMap<Buffer, Option<Vec<Operand>>> = FxHashMap::default();
        walk(&f.body, &mut |node| {
            if let Node::Alloc { buffer, extents } = node {
                let is_fixed = |extent: &Operand| match extent {
                    Operand::Const(_) => true,
                    Operand::Local(local) => !f.locals[local.index()].is_mutable,
                };
                let known = extents.iter().all(is_fixed).then(|| extents.clone());
                sizes.entry(*buffer).and_modify(|other| *other = None).or_insert(known);
            }
        });
        Sizes(sizes)
    }

    /// How many elements a target has.
    pub(super) fn size(&self, out: &mut Writer<'_>, target: Target, nodes: &mut Vec<Node>) -> Option<Operand> {
        let extents = match target {
            Target::Local(_) => Vec::new(),
            Target::Element(place) => self.0.get(&place.buffer)?.clone()?,
        };
        let mut size = Operand::i64(1);
        for extent in extents {
            let extent = out.int(Instruction::Max, extent, Operand::i64(0), nodes);
            size = out.int(Instruction::Mul, size, extent, nodes);
        }
        Some(size)
    }
}

/// The contributions to one target.
pub(super) struct Contributions {
    pub(super) monoid: Monoid,
    pub(super) target: Target,
    pub(super) elem: Elem,
    /// How many elements the target has.
    pub(super) size: Operand,
    /// How many contributions an iteration has at most.
    each: Operand,
    /// Whether an iteration may have less.
    may_lack: bool,
    /// Where the next one of the iteration goes.
    next: Local,
    /// The destinations, `size` where there is no contribution. A number has none: there, nothing is the neutral element.
    pub(super) keys: Option<Buffer>,
    pub(super) values: Buffer,
}

/// A loop that is being distributed.
struct Scattering<'s, 'f> {
    out: &'s mut Writer<'f>,
    inside: Definitions,
    changed: FxHashSet<Local>,
    /// What each iteration has elements of its own of.
    own: Vec<Target>,
    /// Whether what was asked last is less in some iterations than it is at most.
    may_lack: bool,
}

impl Scattering<'_, '_> {
    fn of(out: &mut Writer<'_>, sizes: &Sizes, subscripts: &Subscripts, l: &For) -> Option<Node> {
        let loops = perfect_nest(l);
        let indices: Vec<(Local, Operand)> = loops.iter().map(|l| (l.index, l.count)).collect();
        let body = &loops[loops.len() - 1].body;
        let is_own = |target: Target| loops.iter().all(|l| subscripts.has_own_elements(l, target));
        let mut changed = FxHashSet::default();
        walk(std::slice::from_ref(&Node::For(Box::new(l.clone()))), &mut |node| {
            node.each_part(&mut |part| {
                if let Part::Local(local, LocalUse::Define | LocalUse::Assign | LocalUse::Combine) = part {
                    changed.insert(*local);
                }
            });
        });
        let own =
            shared_targets(&l.body).into_iter().map(|(_, target)| target).filter(|target| is_own(*target)).collect();
        let mut this = Scattering { out, inside: definitions_of(body), changed, own, may_lack: false };
        let mut nodes = Vec::new();
        let mut all = Vec::new();
        for (monoid, target) in shared_targets(&l.body).into_iter().filter(|(_, target)| !is_own(*target)) {
            all.push(this.contributions(sizes, monoid, target, body, &mut nodes)?);
        }
        let is_twice = |a: &Contributions| all.iter().filter(|b| b.target.has_memory_of(a.target)).count() > 1;
        if all.iter().any(is_twice) {
            return None;
        }
        this.tiles(&indices, body, all, &mut nodes);
        Some(Node::Scope(nodes))
    }

    /// What an iteration contributes to a target, if sizes say how much that is.
    fn contributions(
        &mut self,
        sizes: &Sizes,
        monoid: Monoid,
        target: Target,
        body: &[Node],
        nodes: &mut Vec<Node>,
    ) -> Option<Contributions> {
        let size = sizes.size(self.out, target, nodes)?;
        self.may_lack = false;
        let each = self.bound(body, target, nodes)?;
        let may_lack = self.may_lack;
        let (elem, keys) = match target {
            Target::Local(local) => (self.out.f.elem(local), None),
            Target::Element(place) => (self.out.elem(place.buffer), Some(self.out.buffer("keys", Elem::I64))),
        };
        let values = self.out.buffer("values", elem);
        if let (Target::Element(place), Some(keys)) = (target, keys) {
            // Who has no room for contributions is told what they are for.
            let span = self.out.f.buffers[place.buffer.index()].span;
            [keys, values].into_iter().for_each(|buffer| self.out.f.buffers[buffer.index()].span = span);
        }
        let next = self.out.mutable("next", Elem::I64);
        Some(Contributions { monoid, target, elem, size, each, may_lack, next, keys, values })
    }

    // ---- bounds

    /// How many contributions to a target nodes make at most.
    fn bound(&mut self, list: &[Node], target: Target, nodes: &mut Vec<Node>) -> Option<Operand> {
        let mut total = Operand::i64(0);
        for node in list {
            let more = self.bound_of(node, target, nodes)?;
            total = self.out.int(Instruction::Add, total, more, nodes);
        }
        Some(total)
    }

    fn bound_of(&mut self, node: &Node, target: Target, nodes: &mut Vec<Node>) -> Option<Operand> {
        if let Node::Combine { target: other, .. } = node {
            return Some(Operand::i64(other.has_memory_of(target).into()));
        }
        let mut most = Operand::i64(0);
        let mut sum = Operand::i64(0);
        for list in node.lists() {
            let bound = self.bound(list, target, nodes)?;
            most = self.out.int(Instruction::Max, most, bound, nodes);
            sum = self.out.int(Instruction::Add, sum, bound, nodes);
        }
        if most == Operand::i64(0) {
            return Some(most);
        }
        if let Node::For(l) = node {
            self.times(l.count, most, nodes)
        } else if let Node::Reduce(reduction) = node {
            reduction.indices.iter().try_fold(most, |all, (_, count)| self.times(*count, all, nodes))
        } else if let Node::If(..) | Node::Switch(..) = node {
            self.may_lack = true;
            Some(most)
        } else if let Node::Scope(_) | Node::Segment(_) = node {
            Some(sum)
        } else {
            None
        }
    }

    fn times(&mut self, count: Operand, each: Operand, nodes: &mut Vec<Node>) -> Option<Operand> {
        let count = self.outside(count, nodes)?;
        let count = self.out.int(Instruction::Max, count, Operand::i64(0), nodes);
        Some(self.out.int(Instruction::Mul, count, each, nodes))
    }

    /// An operand of the body as one in front of the loop, if it is the same in each iteration.
    fn outside(&mut self, operand: Operand, nodes: &mut Vec<Node>) -> Option<Operand> {
        let Operand::Local(local) = operand else { return Some(operand) };
        if !self.changed.contains(&local) {
            return Some(operand);
        }
        match self.inside.get(&local)?.clone() {
            Expr::Copy(operand) => self.outside(operand, nodes),
            Expr::Native { instruction, elem: Elem::I64, args } if is_plain(instruction) => {
                let [a, b] = args[..] else { return None };
                let (a, b) = (self.outside(a, nodes)?, self.outside(b, nodes)?);
                Some(self.out.int(instruction, a, b, nodes))
            }
            Expr::Native { .. }
            | Expr::Host { .. }
            | Expr::Iota(_)
            | Expr::Any(_)
            | Expr::First(_)
            | Expr::Fold(..)
            | Expr::Lane(_) => None,
        }
    }

    // ---- loops

    /// The loop over tiles.
    fn tiles(&mut self, indices: &[(Local, Operand)], body: &[Node], all: Vec<Contributions>, nodes: &mut Vec<Node>) {
        let (zero, one) = (Operand::i64(0), Operand::i64(1));
        let mut counts = Vec::new();
        for (_, count) in indices {
            counts.push(self.out.int(Instruction::Max, *count, zero, nodes));
        }
        let n = self.out.product(&counts, nodes);
        let most =
            all.iter().fold(one, |most, contributions| self.out.int(Instruction::Max, most, contributions.each, nodes));
        let wanted = self.out.int(Instruction::Div, Operand::i64(TILE), most, nodes);
        let tile = self.out.int(Instruction::Max, wanted, one, nodes);
        let n_tiles = self.out.ratio_up(n, tile, nodes);
        let number = self.out.local("tile", Elem::I64);
        let mut inner = Vec::new();
        let first = self.out.int(Instruction::Mul, number.into(), tile, &mut inner);
        let left = self.out.int(Instruction::Sub, n, first, &mut inner);
        let here = self.out.int(Instruction::Min, left, tile, &mut inner);
        for contributions in &all {
            let extents = vec![here, contributions.each];
            for buffer in contributions.keys.into_iter().chain([contributions.values]) {
                inner.push(Node::Alloc { buffer, extents: extents.clone() });
            }
        }
        let t = self.out.local("t", Elem::I64);
        let mut each = Vec::new();
        self.begin(indices, &counts, first, t, &all, &mut each);
        each.extend(self.recorded(body, &all));
        self.fill(t, &all, &mut each);
        inner.push(counted(t, here, Independence::All, each));
        for contributions in &all {
            let count = self.out.int(Instruction::Mul, here, contributions.each, &mut inner);
            self.out.add_up(contributions, count, &mut inner);
        }
        nodes.push(counted(number, n_tiles, Independence::None, vec![Node::Scope(inner)]));
    }

    /// The indices of an iteration, the last of which counts fastest, and where its contributions begin.
    fn begin(
        &mut self,
        indices: &[(Local, Operand)],
        counts: &[Operand],
        first: Operand,
        t: Local,
        all: &[Contributions],
        nodes: &mut Vec<Node>,
    ) {
        let mut rest = self.out.int(Instruction::Add, first, t.into(), nodes);
        for (position, (index, _)) in indices.iter().enumerate().rev() {
            let args = if position == 0 { None } else { Some(vec![rest, counts[position]]) };
            let native = |instruction, args| Expr::Native { instruction, elem: Elem::I64, args };
            let expr = args.clone().map_or(Expr::Copy(rest), |args| native(Instruction::Rem, args));
            nodes.push(Node::Let(*index, expr));
            if position > 0 {
                rest = self.out.int(Instruction::Div, rest, counts[position], nodes);
            }
        }
        for contributions in all {
            let start = self.out.int(Instruction::Mul, t.into(), contributions.each, nodes);
            nodes.push(Node::Set(contributions.next, start));
        }
    }

    /// The body, in which contributions are written down.
    fn recorded(&mut self, body: &[Node], all: &[Contributions]) -> Vec<Node> {
        let mut out = Vec::with_capacity(body.len());
        for node in body {
            if let Node::Combine { target, value, .. } = node
                && let Some(contributions) = all.iter().find(|c| c.target.has_memory_of(*target))
            {
                self.record(contributions, *target, *value, &mut out);
            } else if let Node::Combine { monoid, target: Target::Element(place), value } = node
                && self.own.iter().any(|target| target.has_memory_of(Target::Element(*place)))
            {
                self.out.update(*place, *monoid, *value, &mut out);
            } else {
                let mut node = node.clone();
                node.map_lists(|inner| self.recorded(&inner, all));
                out.push(node);
            }
        }
        out
    }

    fn record(&mut self, contributions: &Contributions, target: Target, value: Operand, nodes: &mut Vec<Node>) {
        let next = contributions.next;
        let at = self.out.local("at", Elem::I64);
        nodes.push(Node::Let(at, Expr::Copy(next.into())));
        if let (Some(keys), Target::Element(Place { offset, .. })) = (contributions.keys, target) {
            nodes.push(store(keys, at.into(), offset));
        }
        nodes.push(store(contributions.values, at.into(), value));
        let behind = self.out.int(Instruction::Add, at.into(), Operand::i64(1), nodes);
        nodes.push(Node::Set(next, behind));
    }

    /// Fills what is left of the room of an iteration.
    fn fill(&mut self, t: Local, all: &[Contributions], nodes: &mut Vec<Node>) {
        for contributions in all.iter().filter(|contributions| contributions.may_lack) {
            let one = Operand::i64(1);
            let next = self.out.int(Instruction::Add, t.into(), one, nodes);
            let end = self.out.int(Instruction::Mul, next, contributions.each, nodes);
            let start = self.out.local("start", Elem::I64);
            nodes.push(Node::Let(start, Expr::Copy(contributions.next.into())));
            let left = self.out.int(Instruction::Sub, end, start.into(), nodes);
            let k = self.out.local("k", Elem::I64);
            let mut body = Vec::new();
            let at = self.out.int(Instruction::Add, start.into(), k.into(), &mut body);
            match contributions.keys {
                Some(keys) => body.push(store(keys, at, contributions.size)),
                None => body.push(store(contributions.values, at, contributions.neutral())),
            }
            nodes.push(counted(k, left, Independence::None, body));
        }
    }
}

/// Whether an instruction on two i64s can be done anywhere.
fn is_plain(instruction: Instruction) -> bool {
    matches!(instruction, Instruction::Add | Instruction::Sub | Instruction::Mul | Instruction::Min | Instruction::Max)
}

/// A loop, and those that are all that is in it.
fn perfect_nest(l: &For) -> Vec<&For> {
    let mut loops = vec![l];
    while let [Node::For(inner)] = &loops[loops.len() - 1].body[..]
        && inner.independence == Independence::All
        && !loops.iter().any(|l| inner.count == l.index.into())
    {
        loops.push(inner);
    }
    loops
}
