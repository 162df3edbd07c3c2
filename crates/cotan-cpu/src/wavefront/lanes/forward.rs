//! Store-to-load forwarding along diagonals: what iterations store stays at hand for those that need it.
//!
//! The elements of a diagonal lie a row and a column apart, so lanes would gather them. What the iterations of the last
//! diagonals have stored is kept in a ring of small arrays as well, with an element for each row of the strip; there the
//! neighbours of a diagonal lie side by side. Rows in front of the strip have elements of their own in it, for what its first
//! rows read of the strip before.
//!
//! It takes a table of which each iteration stores one element that no other one does, so that a neighbour has the value that
//! was stored last.

use super::super::bounds::Poly;
use super::super::legal::Loops;
use super::super::values::Values;
use super::super::write::Writer;
use super::nest::{Nest, defining};
use crate::invariants::give_own_names;
use cotan_ir::Span;
use cotan_loops::node::{
    Buffer, BufferInfo, BufferKind, BufferUse, Home, Local, LocalUse, LoopFunction, Node, Operand, Part, Place, walk,
};
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// Neighbours that are looked for: so many rows and columns away at most.
const FAR: i64 = 2;

/// A load of what another iteration has stored.
struct Forwarded {
    position: usize,
    /// How many rows and columns that iteration lies before.
    distance: [i64; 2],
}

/// What is kept of a table.
pub(super) struct Ring {
    table: Buffer,
    kept: Buffer,
    /// The position of the store in the body.
    store: usize,
    loads: Vec<Forwarded>,
    skew: i64,
    /// How many rows a strip has, and how many before it are kept.
    rows: i64,
    before: i64,
}

/// The elements of a ring that the diagonal of a step reads and writes: the first of each.
pub(super) struct Slots {
    store: Operand,
    loads: Vec<Operand>,
}

/// The rings of a nest, in buffers that there are not yet.
pub(super) fn rings(
    f: &LoopFunction,
    values: &Values,
    loops: &Loops,
    nest: &Nest,
    (skew, rows): (i64, i64),
) -> Vec<Ring> {
    let mut found: Vec<(Buffer, usize)> = Vec::new();
    for (position, node) in nest.body.iter().enumerate() {
        if let Node::Store(place, _) = node
            && n_changes(&nest.body, place.buffer) == 1
        {
            found.push((place.buffer, position));
        }
    }
    let ring = |(table, store): (Buffer, usize)| {
        let offset = |position: usize| {
            let (Node::Store(place, _) | Node::Load(_, place)) = &nest.body[position] else { return None };
            if place.buffer == table { values.of(place.offset) } else { None }
        };
        let stored = offset(store).filter(|offset| loops.are_all_apart(offset))?;
        let forwarded = |position: usize| {
            let distance = distance(&stored, &offset(position)?, nest.indices, skew)?;
            Some(Forwarded { position, distance })
        };
        let loads: Vec<Forwarded> = (0..nest.body.len()).filter(|k| *k != store).filter_map(forwarded).collect();
        let before = loads.iter().map(|load| load.distance[0]).max()?;
        Some(Ring { table, kept: table, store, loads, skew, rows, before })
    };
    let mut rings: Vec<Ring> = found.into_iter().filter_map(ring).collect();
    for (ring, number) in rings.iter_mut().zip(f.buffers.len()..) {
        ring.kept = Buffer(number as u32);
    }
    rings
}

/// How many nodes change a buffer.
fn n_changes(nodes: &[Node], buffer: Buffer) -> usize {
    let mut n = 0;
    walk(nodes, &mut |node| {
        node.each_part(&mut |part| {
            if let Part::Buffer(changed, BufferUse::Write | BufferUse::Update) = part {
                n += usize::from(*changed == buffer);
            }
        });
    });
    n
}

/// How many rows and columns before an iteration that one lies which stores what it loads, if that runs earlier.
fn distance(stored: &Poly, loaded: &Poly, [i, j]: [Local; 2], skew: i64) -> Option<[i64; 2]> {
    let candidates = (0..=FAR).flat_map(|rows| (-FAR..=FAR).map(move |columns| [rows, columns]));
    let earlier = |local: Local, n: i64| Poly::unknown(local).minus(&Poly::number(n.into()));
    candidates.into_iter().filter(|[rows, columns]| rows * skew + columns > 0).find(|[rows, columns]| {
        let moved = || stored.with(i, &earlier(i, *rows)?)?.with(j, &earlier(j, *columns)?)?.minus(loaded);
        moved().is_some_and(|difference| difference.is_zero())
    })
}

impl Ring {
    /// How many diagonals are kept: a power of two.
    fn n_slots(&self) -> i64 {
        let most = self.loads.iter().map(|load| self.steps_back(load)).max().unwrap_or(0);
        (most + 1).unsigned_abs().next_power_of_two() as i64
    }

    fn width(&self) -> i64 {
        self.rows + self.before
    }

    fn steps_back(&self, load: &Forwarded) -> i64 {
        load.distance[0] * self.skew + load.distance[1]
    }

    /// What is known of its buffer.
    pub(super) fn info(&self, f: &LoopFunction) -> BufferInfo {
        let BufferInfo { name, elem, .. } = f.buffers[self.table.index()].clone();
        let (kind, span) = (BufferKind::Allocated(Home::Frame), Span::default());
        BufferInfo { name, elem, kind, span, is_record: false }
    }

    pub(super) fn allocate(&self) -> Node {
        Node::Alloc { buffer: self.kept, extents: vec![Operand::i64(self.n_slots() * self.width())] }
    }

    /// How many operations lie between what the iteration before in the row has stored and what this one stores.
    pub(super) fn chain(&self, nest: &Nest) -> usize {
        let mut length: FxHashMap<Local, usize> = FxHashMap::default();
        for (position, node) in nest.body.iter().enumerate() {
            if let Node::Load(local, _) = node
                && self.loads.iter().any(|load| load.position == position && load.distance[0] == 0)
            {
                length.insert(*local, 0);
            }
            let mut most: Option<usize> = None;
            let mut see = |operand| {
                if let Operand::Local(local) = operand {
                    most = most.max(length.get(&local).copied());
                }
            };
            walk(std::slice::from_ref(node), &mut |node| node.each_operand(&mut see));
            if position == self.store {
                return most.unwrap_or(0);
            }
            if let Some(most) = most {
                walk(std::slice::from_ref(node), &mut |node| {
                    node.each_part(&mut |part| {
                        if let Part::Local(local, LocalUse::Define | LocalUse::Assign | LocalUse::Combine) = part {
                            length.insert(*local, most + 1);
                        }
                    });
                });
            }
        }
        0
    }

    /// The first column whose neighbours are all stored by iterations.
    pub(super) fn first_column(&self) -> i64 {
        self.loads.iter().map(|load| load.distance[1]).max().unwrap_or(0).max(0)
    }

    pub(super) fn slots(&self, w: &mut Writer, step: Operand) -> Slots {
        let store = self.slot(w, step, 0, 0);
        let loads = self.loads.iter().map(|load| self.slot(w, step, self.steps_back(load), load.distance[0]));
        Slots { store, loads: loads.collect() }
    }

    fn slot(&self, w: &mut Writer, step: Operand, steps_back: i64, rows_before: i64) -> Operand {
        let number = w.i64(Instruction::Sub, step, Operand::i64(steps_back));
        let number = w.i64(Instruction::And, number, Operand::i64(self.n_slots() - 1));
        let start = w.i64(Instruction::Mul, number, Operand::i64(self.width()));
        w.i64(Instruction::Add, start, Operand::i64(self.before - rows_before))
    }

    /// Brings what the first rows of a full diagonal read of rows in front of the strip into the ring.
    pub(super) fn fill(&self, w: &mut Writer, nest: &Nest, slots: &Slots, [first, step]: [Operand; 2]) {
        let [i, j] = nest.indices;
        for (load, slot) in self.loads.iter().zip(&slots.loads) {
            let Node::Load(local, _) = nest.body[load.position] else { continue };
            for row in 0..load.distance[0] {
                w.open();
                w.define_as(i, Instruction::Add, first, Operand::i64(row));
                w.define_as(j, Instruction::Sub, step, Operand::i64(row * self.skew));
                let iteration = [&nest.before[..], &nest.body[..=load.position]].concat();
                defining(&iteration, local).into_iter().for_each(|node| w.push(node));
                let offset = w.i64(Instruction::Add, *slot, Operand::i64(row));
                w.push(Node::Store(Place { buffer: self.kept, offset }, local.into()));
                let mut nodes = w.close();
                give_own_names(w.f, &mut nodes);
                nodes.into_iter().for_each(|node| w.push(node));
            }
        }
    }

    /// Keeps what the store at a position stores, if it is that of the table.
    pub(super) fn keep(&self, w: &mut Writer, slots: &Slots, row: Operand, position: usize, value: Operand) {
        if self.store == position {
            let offset = w.i64(Instruction::Add, slots.store, row);
            w.push(Node::Store(Place { buffer: self.kept, offset }, value));
        }
    }

    /// The load at a position from the ring, if it is one of what was stored.
    pub(super) fn forwarded(&self, w: &mut Writer, slots: &Slots, row: Operand, position: usize) -> Option<Place> {
        let k = self.loads.iter().position(|load| load.position == position)?;
        let offset = w.i64(Instruction::Add, slots.loads[k], row);
        Some(Place { buffer: self.kept, offset })
    }
}
