//! The elements that nodes read and write, as far as other iterations may meet them.

use super::bounds::{Counter, Poly};
use super::values::Values;
use cotan_loops::node::{
    Buffer, BufferKind, BufferUse, Effect, For, Independence, Local, LoopFunction, Node, Operand, Place, Target,
    Tensor, Threads, View,
};
use rustc_hash::FxHashSet;

/// Elements of a buffer that are read or written.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) buffer: Buffer,
    pub(super) writes: bool,
    /// Of each element, in terms of counters and fixed numbers; `None` if it may be any.
    pub(super) offset: Option<Poly>,
    /// The counters of the loops around, the innermost first.
    pub(super) counters: Vec<Counter>,
    /// Those counts of these loops, which run, that are fixed.
    pub(super) counts: Vec<Poly>,
}

/// Collects what nodes do.
pub(super) struct Accesses<'a> {
    pub(super) values: &'a Values<'a>,
    pub(super) f: &'a LoopFunction,
    /// The number of a local that there is not yet.
    pub(super) fresh: u32,
    /// The counters that offsets may have beside those around.
    pub(super) outer: Vec<Local>,
    pub(super) found: Vec<Access>,
    /// The buffers that nodes allocate for themselves.
    pub(super) own: FxHashSet<Buffer>,
    counters: Vec<(Counter, Vec<Poly>)>,
}

impl<'a> Accesses<'a> {
    pub(super) fn new(f: &'a LoopFunction, values: &'a Values<'a>, outer: Vec<Local>, fresh: u32) -> Accesses<'a> {
        Accesses { values, f, fresh, outer, found: Vec::new(), own: FxHashSet::default(), counters: Vec::new() }
    }

    /// A counter of nobody.
    pub(super) fn counter(&mut self) -> Local {
        self.fresh += 1;
        Local(self.fresh - 1)
    }

    /// Takes up nodes; nothing if they do what iterations of a wavefront may not do.
    pub(super) fn nodes(&mut self, nodes: &[Node]) -> Option<()> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        // The first error has to stay the first, and output in order; what calls do is not known, and lanes come later.
        let is_ordered = node.has_effect() && !node.has(Effect::UsesLibrary);
        if is_ordered || matches!(node, Node::LoadLanes { .. } | Node::StoreLanes { .. } | Node::Segment(_)) {
            return None;
        }
        if let Node::Load(_, from) = node {
            return self.element(*from, false);
        }
        if let Node::Store(to, _) | Node::Combine { target: Target::Element(to), .. } = node {
            return self.element(*to, true);
        }
        if let Node::Copy { from, to, count } = node {
            return [(from, false), (to, true)].into_iter().try_for_each(|(place, writes)| {
                let k = self.counter();
                let offset = self.values.of(place.offset)?.plus(&Poly::unknown(k))?;
                self.within(k, *count, |this| this.push(place.buffer, Some(offset), writes))
            });
        }
        if let Node::Product(product) = node {
            let [rows, columns, summed] = product.extents;
            self.view(&product.to, [rows, columns], true)?;
            self.view(&product.left, [rows, summed], false)?;
            return self.view(&product.right, [summed, columns], false);
        }
        if let Node::Routine(routine) = node {
            self.array(&routine.to, true)?;
            return routine.from.iter().try_for_each(|array| self.array(array, false));
        }
        if let Node::For(l) = node {
            return self.counted(l);
        }
        self.whole_buffers(node)?;
        node.lists().into_iter().try_for_each(|list| self.nodes(list))
    }

    /// Takes up any element of the buffers that a node touches, and the buffers that it allocates.
    fn whole_buffers(&mut self, node: &Node) -> Option<()> {
        let mut uses = Vec::new();
        node.each_buffer(&mut |buffer, usage| uses.push((buffer, usage)));
        uses.into_iter().try_for_each(|(buffer, usage)| match usage {
            BufferUse::Allocate => {
                self.own.insert(buffer);
                matches!(self.f.buffers[buffer.index()].kind, BufferKind::Allocated(_)).then_some(())
            }
            BufferUse::Read => self.push(buffer, None, false),
            BufferUse::Write | BufferUse::Update => self.push(buffer, None, true),
            // What stacks do is not known.
            BufferUse::OpenStack | BufferUse::ExtendStack | BufferUse::Bind | BufferUse::Alias | BufferUse::Receive => {
                None
            }
            BufferUse::Note => Some(()),
        })
    }

    fn counted(&mut self, l: &For) -> Option<()> {
        match (&l.threads, l.independence) {
            (
                Threads::One | Threads::May(_),
                Independence::None | Independence::Block | Independence::Ordered | Independence::All,
            ) => {}
            (Threads::Each | Threads::Wave(_), _) => return None,
        }
        self.within(l.index, l.count, |this| this.nodes(&l.body))
    }

    /// Takes up what a loop does.
    fn within(&mut self, index: Local, count: Operand, body: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let counts = self.values.counts(count)?;
        let most = counts.iter().map(|count| count.minus(&Poly::number(1))).collect::<Option<_>>()?;
        self.counters.push((Counter { local: index, most }, counts));
        body(self)?;
        self.counters.pop();
        Some(())
    }

    fn view(&mut self, view: &View, extents: [Operand; 2], writes: bool) -> Option<()> {
        let [row, column] = [self.counter(), self.counter()];
        let mut offset = self.values.of(view.place.offset)?;
        for (stride, index) in view.strides.into_iter().zip([row, column]) {
            offset = offset.plus(&self.values.of(stride)?.times(&Poly::unknown(index))?)?;
        }
        self.within(row, extents[0], |this| {
            this.within(column, extents[1], |this| this.push(view.place.buffer, Some(offset), writes))
        })
    }

    /// A dense array, taken up row by row.
    fn array(&mut self, array: &Tensor, writes: bool) -> Option<()> {
        let offset = self.values.of(array.place.offset)?;
        self.along(array, offset, 0, writes)
    }

    fn along(&mut self, array: &Tensor, offset: Poly, axis: usize, writes: bool) -> Option<()> {
        let Some(extent) = array.dims.get(axis) else { return self.push(array.place.buffer, Some(offset), writes) };
        let index = self.counter();
        let mut step = Poly::unknown(index);
        for inner in &array.dims[axis + 1..] {
            step = step.times(&self.values.of(*inner)?)?;
        }
        let offset = offset.plus(&step)?;
        self.within(index, *extent, |this| this.along(array, offset, axis + 1, writes))
    }

    fn element(&mut self, place: Place, writes: bool) -> Option<()> {
        let offset = self.values.of(place.offset)?;
        self.push(place.buffer, Some(offset), writes)
    }

    fn push(&mut self, buffer: Buffer, offset: Option<Poly>, writes: bool) -> Option<()> {
        match self.f.buffers[buffer.index()].kind {
            BufferKind::Param(_) | BufferKind::Allocated(_) => {}
            // They may be other names of what is written.
            BufferKind::Stack | BufferKind::Bound => return None,
        }
        let mut counters: Vec<Counter> = self.counters.iter().rev().map(|(counter, _)| counter.clone()).collect();
        for k in 0..counters.len() {
            let (these, around) = counters.split_at_mut(k + 1);
            these[k].most.retain(|most| self.is_known(most, around));
        }
        let offset = offset.filter(|offset| self.is_known(offset, &counters));
        let counts = self.counters.iter().flat_map(|(_, counts)| counts);
        let counts = counts.filter(|count| self.is_fixed(count)).cloned().collect();
        self.found.push(Access { buffer, writes, offset, counters, counts });
        Some(())
    }

    fn is_fixed(&self, poly: &Poly) -> bool {
        poly.unknowns().into_iter().all(|local| self.values.is_fixed(local.into()))
    }

    /// Whether all that a polynomial mentions is a counter or fixed.
    fn is_known(&self, poly: &Poly, counters: &[Counter]) -> bool {
        let is_counter = |local: &Local| self.outer.contains(local) || counters.iter().any(|c| c.local == *local);
        poly.unknowns().into_iter().all(|local| is_counter(&local) || self.values.is_fixed(local.into()))
    }
}
