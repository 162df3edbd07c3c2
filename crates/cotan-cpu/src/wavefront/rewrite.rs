//! Writing a wavefront.
//!
//! Iterations of the outer loop come in tiles, those of the inner loop in ranges. A stage is what stands before the inner
//! loop, a range of it, or what stands behind, for all iterations of a tile one after the other. How long tiles and ranges
//! are follows from sizes alone.

use super::TaskSizes;
use super::legal::Stage;
use super::plan::{Plan, Survey, list_of_mut};
use super::write::{Writer, number};
use cotan_ir::{Elem, bug};
use cotan_loops::node::{
    Buffer, BufferInfo, BufferKind, Expr, For, Home, Independence, Local, LoopFunction, Node, Operand, Place, Threads,
    Wave, each_operand_mut, walk_mut,
};
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// Slots beside one for every stage: so many tiles may be ahead.
const SLOTS_AHEAD: i64 = 2;

/// The nodes that a nest becomes.
pub(super) fn rewrite(f: &mut LoopFunction, survey: &Survey, sizes: &TaskSizes, plan: &Plan, outer: For) -> Node {
    let mut writer = Writer::new(f, &survey.definitions, &plan.inside);
    writer.open();
    Rewrite::new(&mut writer, plan, outer).write(sizes);
    Node::Scope(writer.close())
}

struct Rewrite<'w, 'a> {
    w: &'w mut Writer<'a>,
    plan: &'w Plan,
    /// The counter of the outer loop, and its count.
    index: Local,
    count: Operand,
    may_flush: bool,
    list: Vec<Node>,
    inner: For,
    /// Where parts hand on what: arrays with the number of elements of a slot, and scalars.
    arrays: Vec<(Buffer, Buffer, Operand, [bool; 3])>,
    scalars: FxHashMap<Local, Buffer>,
}

/// Where a loop is cut: into pieces of a length, the last of which may be shorter.
#[derive(Clone, Copy)]
struct Cuts {
    count: Operand,
    length: Operand,
    n: Operand,
}

impl<'w, 'a> Rewrite<'w, 'a> {
    fn new(w: &'w mut Writer<'a>, plan: &'w Plan, mut outer: For) -> Rewrite<'w, 'a> {
        let mut list = std::mem::take(list_of_mut(&mut outer.body));
        // What is left in its place is never run.
        let Node::For(inner) = std::mem::replace(&mut list[plan.at], Node::Scope(Vec::new())) else {
            bug!("wavefronts", w.f, "the plan of a wavefront has an inner loop")
        };
        let (index, count, may_flush) = (outer.index, outer.count, outer.may_flush);
        let (arrays, scalars) = (Vec::new(), FxHashMap::default());
        Rewrite { w, plan, index, count, may_flush, list, inner: *inner, arrays, scalars }
    }

    fn runs(&self, stage: Stage) -> bool {
        !self.plan.parts[stage as usize].is_empty()
    }

    fn write(mut self, sizes: &TaskSizes) {
        let count = self.hoisted(self.count);
        let inner_count = self.hoisted(self.inner.count);
        let [before, inside, behind] = self.steps();
        let ranges = self.cut_inner(inner_count, inside, sizes);
        let around = i64::from(self.runs(Stage::Before)) + i64::from(self.runs(Stage::Behind));
        let stages = self.w.i64(Instruction::Add, ranges.n, Operand::i64(around));
        let length = self.w.float_of(ranges.length);
        let inside = self.w.f64(Instruction::Mul, inside, length);
        let longest = self.w.f64(Instruction::Max, before, behind);
        let longest = self.w.f64(Instruction::Max, longest, inside);
        let longest = self.w.f64(Instruction::Max, longest, number(1.0));
        let (tiles, slots) = self.cut_outer(count, longest, stages, sizes);
        self.allocate(slots, tiles.length);
        let n = self.w.i64(Instruction::Mul, tiles.n, stages);
        let number = self.w.local("task", Elem::I64);
        let wave = Wave { stages, slots };
        let mut body = self.body(number.into(), wave, tiles, ranges);
        // Its pieces are work for threads already.
        walk_mut(&mut body, &mut |node| {
            if let Node::For(l) = node {
                l.threads = Threads::One;
            }
        });
        self.w.push(Node::For(Box::new(For {
            index: number,
            count: n,
            threads: Threads::Wave(wave),
            independence: Independence::None,
            lanes: 1,
            may_flush: false,
            body,
        })));
    }

    fn hoisted(&mut self, operand: Operand) -> Operand {
        self.w.hoisted(operand).expect("invariant: the plan has seen that it is fixed")
    }

    // ---- sizes

    /// The steps of what stands before the inner loop, of an iteration of it, and of what stands behind.
    fn steps(&mut self) -> [Operand; 3] {
        let [before, behind] = [Stage::Before, Stage::Behind].map(|stage| {
            let nodes: Vec<Node> = self.plan.parts[stage as usize].iter().map(|k| self.list[*k].clone()).collect();
            self.w.steps(&nodes)
        });
        [before, self.w.steps(&self.inner.body), behind]
    }

    /// Ranges of the inner loop.
    fn cut_inner(&mut self, count: Operand, steps: Operand, sizes: &TaskSizes) -> Cuts {
        let count = self.w.i64(Instruction::Max, count, Operand::i64(0));
        let all = self.w.float_of(count);
        let fewest = self.w.f64(Instruction::Mul, all, number(1.0 / sizes.most_ranges));
        let least = self.w.f64(Instruction::Max, steps, number(1.0));
        let worth = self.w.f64(Instruction::Div, number(sizes.steps_of_range), least);
        let length = self.w.f64(Instruction::Max, fewest, worth);
        self.cuts(count, length)
    }

    /// Tiles of the outer loop, and how many of them have memory of their own.
    fn cut_outer(&mut self, count: Operand, longest: Operand, stages: Operand, sizes: &TaskSizes) -> (Cuts, Operand) {
        let count = self.w.i64(Instruction::Max, count, Operand::i64(0));
        let mut length = self.w.f64(Instruction::Div, number(sizes.steps_of_task), longest);
        let slots = self.w.i64(Instruction::Add, stages, Operand::i64(SLOTS_AHEAD));
        if self.plan.arrays.is_empty() {
            return (self.cuts(count, length), slots);
        }
        let mut bytes = number(0.0);
        for (buffer, extents, _) in &self.plan.arrays {
            let mut size = number(self.w.f.buffers[buffer.index()].elem.bytes() as f64);
            for extent in extents {
                let extent = self.w.hoisted(*extent).expect("invariant: the plan has seen that it is fixed");
                let extent = self.w.float_of(extent);
                let extent = self.w.f64(Instruction::Max, extent, number(0.0));
                size = self.w.f64(Instruction::Mul, size, extent);
            }
            bytes = self.w.f64(Instruction::Add, bytes, size);
        }
        let of_slots = self.w.float_of(slots);
        let bytes = self.w.f64(Instruction::Mul, bytes, of_slots);
        let bytes = self.w.f64(Instruction::Max, bytes, number(1.0));
        let room = self.w.f64(Instruction::Div, number(sizes.bytes), bytes);
        length = self.w.define(
            "w",
            Elem::F64,
            Expr::Native { instruction: Instruction::Min, elem: Elem::F64, args: vec![length, room] },
        );
        // Where there is no room for one iteration in each slot, there is one slot, and one thread.
        let fits = self.w.define(
            "is",
            Elem::Bool,
            Expr::Native { instruction: Instruction::Ge, elem: Elem::F64, args: vec![room, number(1.0)] },
        );
        let args = vec![fits, slots, Operand::i64(1)];
        let slots =
            self.w.define("slots", Elem::I64, Expr::Native { instruction: Instruction::Select, elem: Elem::I64, args });
        (self.cuts(count, length), slots)
    }

    /// Pieces of about a length, an f64.
    fn cuts(&mut self, count: Operand, length: Operand) -> Cuts {
        let length = self.w.int_of(length);
        let length = self.w.i64(Instruction::Min, length, count);
        let length = self.w.i64(Instruction::Max, length, Operand::i64(1));
        let over = self.w.i64(Instruction::Sub, length, Operand::i64(1));
        let n = self.w.i64(Instruction::Add, count, over);
        let n = self.w.i64(Instruction::Div, n, length);
        Cuts { count, length, n }
    }

    /// The first number of a piece, and how many there are.
    fn piece(&mut self, cuts: Cuts, number: Operand) -> (Operand, Operand) {
        let first = self.w.i64(Instruction::Mul, number, cuts.length);
        let left = self.w.i64(Instruction::Sub, cuts.count, first);
        (first, self.w.i64(Instruction::Min, cuts.length, left))
    }

    // ---- memory

    /// Gives what parts hand on a place for each iteration of a tile in each slot.
    fn allocate(&mut self, slots: Operand, length: Operand) {
        let n = self.w.i64(Instruction::Mul, slots, length);
        for (buffer, extents, parts) in &self.plan.arrays {
            let extents: Vec<Operand> = extents.iter().map(|extent| self.hoisted(*extent)).collect();
            let info = self.w.f.buffers[buffer.index()].clone();
            let all = self.buffer(BufferInfo { kind: BufferKind::Allocated(Home::Arena), ..info });
            self.w.f.buffers[buffer.index()].kind = BufferKind::Bound;
            let size = extents.iter().fold(Operand::i64(1), |size, extent| self.w.i64(Instruction::Mul, size, *extent));
            self.w.push(Node::Alloc { buffer: all, extents: [vec![n], extents].concat() });
            self.arrays.push((*buffer, all, size, *parts));
        }
        let spilled = self.plan.spilled.iter().map(|(local, _)| *local);
        for local in spilled.chain(self.plan.handed_on.iter().map(|(local, ..)| *local)) {
            let info = &self.w.f.locals[local.index()];
            let (name, elem) = (info.name.clone(), info.elem);
            let (kind, span) = (BufferKind::Allocated(Home::Arena), cotan_ir::Span::NONE);
            let all = self.buffer(BufferInfo { name, elem, kind, span, is_record: false });
            self.w.push(Node::Alloc { buffer: all, extents: vec![n] });
            self.scalars.insert(local, all);
        }
    }

    fn buffer(&mut self, info: BufferInfo) -> Buffer {
        self.w.f.buffers.push(info);
        Buffer(self.w.f.buffers.len() as u32 - 1)
    }

    // ---- stages

    fn body(&mut self, task: Operand, wave: Wave, tiles: Cuts, ranges: Cuts) -> Vec<Node> {
        self.w.open();
        let tile = self.w.i64(Instruction::Div, task, wave.stages);
        let stage = self.w.i64(Instruction::Rem, task, wave.stages);
        let (first, n) = self.piece(tiles, tile);
        let slot = self.w.i64(Instruction::Rem, tile, wave.slots);
        let at = self.w.i64(Instruction::Mul, slot, tiles.length);
        let has_before = self.runs(Stage::Before);
        let range = self.w.i64(Instruction::Sub, stage, Operand::i64(has_before.into()));
        let mut arms = self.stage(Stage::Inner, first, n, at, Some((ranges, range)));
        if self.runs(Stage::Behind) {
            let is_behind = self.w.is(Instruction::Eq, range, ranges.n);
            let behind = self.stage(Stage::Behind, first, n, at, None);
            arms = vec![Node::If(is_behind, behind, arms)];
        }
        if has_before {
            let is_before = self.w.is(Instruction::Eq, stage, Operand::i64(0));
            let before = self.stage(Stage::Before, first, n, at, None);
            arms = vec![Node::If(is_before, before, arms)];
        }
        arms.into_iter().for_each(|node| self.w.push(node));
        self.w.close()
    }

    /// A stage for the iterations of a tile, from the number `first` on, whose places begin at `at`.
    fn stage(
        &mut self,
        stage: Stage,
        first: Operand,
        n: Operand,
        at: Operand,
        range: Option<(Cuts, Operand)>,
    ) -> Vec<Node> {
        self.w.open();
        let may_flush = self.may_flush || stage == Stage::Inner && self.inner.may_flush;
        let range = range.map(|(cuts, number)| self.piece(cuts, number));
        let k = self.w.local("k", Elem::I64);
        self.w.open();
        let at = self.w.i64(Instruction::Add, at, k.into());
        let mut names = FxHashMap::default();
        let t = self.w.i64(Instruction::Add, first, k.into());
        names.insert(self.index, t);
        self.begin(stage, at, &mut names);
        let mut nodes = self.nodes_of(stage, &mut names);
        if let Some((first, n)) = range {
            nodes.push(self.inner_loop(first, n, &names));
        }
        nodes.extend(self.end(stage, at));
        if allocates(&nodes) {
            nodes = vec![Node::Scope(nodes)];
        }
        nodes.into_iter().for_each(|node| self.w.push(node));
        let body = self.w.close();
        let (threads, independence) = (Threads::One, Independence::None);
        let l = For { index: k, count: n, threads, independence, lanes: 1, may_flush, body };
        self.w.push(Node::For(Box::new(l)));
        self.w.close()
    }

    /// What a stage begins with: it takes what others hand on.
    fn begin(&mut self, stage: Stage, at: Operand, names: &mut FxHashMap<Local, Operand>) {
        let bound: Vec<(Buffer, Buffer, Operand)> = self
            .arrays
            .iter()
            .filter(|(.., parts)| parts[stage as usize])
            .map(|(b, all, n, _)| (*b, *all, *n))
            .collect();
        for (buffer, all, size) in bound {
            let offset = self.w.i64(Instruction::Mul, at, size);
            self.w.push(Node::Bind { buffer, to: Place { buffer: all, offset } });
        }
        for (local, parts) in &self.plan.spilled {
            if parts[stage as usize] {
                let value = self.load(*local, at);
                names.insert(*local, value.into());
            }
        }
        for (local, mentions, _) in &self.plan.handed_on {
            if stage != Stage::Before && mentions[stage as usize] {
                let value = self.load(*local, at);
                self.w.push(Node::Set(*local, value.into()));
            }
        }
    }

    fn load(&mut self, local: Local, at: Operand) -> Local {
        let value = self.w.local_like(local);
        self.w.push(Node::Load(value, Place { buffer: self.scalars[&local], offset: at }));
        value
    }

    /// What a stage ends with: it hands on what others take.
    fn end(&mut self, stage: Stage, at: Operand) -> Vec<Node> {
        let place = |buffer| Place { buffer, offset: at };
        let mut nodes = Vec::new();
        if stage == Stage::Before {
            let spilled = self.plan.spilled.iter().map(|(local, _)| *local);
            nodes.extend(spilled.map(|local| Node::Store(place(self.scalars[&local]), local.into())));
        }
        for (local, _, sets) in &self.plan.handed_on {
            if sets[stage as usize] {
                let value = self.w.local_like(*local);
                nodes.push(Node::Let(value, Expr::Copy((*local).into())));
                nodes.push(Node::Store(place(self.scalars[local]), value.into()));
            }
        }
        nodes
    }

    /// The nodes of a part, in which `names` stand for what others define. What several parts run is copied.
    fn nodes_of(&mut self, stage: Stage, names: &mut FxHashMap<Local, Operand>) -> Vec<Node> {
        let mut nodes = Vec::new();
        for k in &self.plan.parts[stage as usize] {
            // Others may need what is shared, too.
            let is_shared = *k < self.plan.at && matches!(self.list[*k], Node::Let(..) | Node::Load(..));
            let mut node = match is_shared {
                true => self.list[*k].clone(),
                false => std::mem::replace(&mut self.list[*k], Node::Scope(Vec::new())),
            };
            each_operand_mut(std::slice::from_mut(&mut node), &mut |operand| rename(operand, names));
            if is_shared
                && stage != Stage::Before
                && let Node::Let(local, _) | Node::Load(local, _) = &mut node
            {
                let copy = self.w.local_like(*local);
                names.insert(*local, copy.into());
                *local = copy;
            }
            nodes.push(node);
        }
        nodes
    }

    /// The inner loop from a number on.
    fn inner_loop(&mut self, first: Operand, n: Operand, names: &FxHashMap<Local, Operand>) -> Node {
        let mut body = std::mem::take(&mut self.inner.body);
        each_operand_mut(&mut body, &mut |operand| rename(operand, names));
        let index = self.w.local("k", Elem::I64);
        let args = vec![first, index.into()];
        let number = Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args };
        body.insert(0, Node::Let(self.inner.index, number));
        let (threads, independence) = (Threads::One, Independence::None);
        Node::For(Box::new(For { index, count: n, threads, independence, lanes: 1, may_flush: false, body }))
    }
}

fn rename(operand: &mut Operand, names: &FxHashMap<Local, Operand>) {
    if let Operand::Local(local) = operand
        && let Some(name) = names.get(local)
    {
        *operand = *name;
    }
}

/// Whether nodes take memory from the arena that nothing inside gives back.
fn allocates(nodes: &[Node]) -> bool {
    let takes = |node: &Node| {
        let inside = || node.lists().into_iter().any(allocates);
        matches!(node, Node::Alloc { .. }) || !matches!(node, Node::Scope(_)) && inside()
    };
    nodes.iter().any(takes)
}
