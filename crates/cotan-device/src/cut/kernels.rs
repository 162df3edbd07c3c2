//! What kernels need and leave: arguments of the host, memory, and the cells by which kernels hand over scalars and names.

use crate::places::OnDevice;
use crate::plan::{Cell, Kernel, PlanParts, Rounds, Shape, Step};
use cotan_loops::node::{BufferUse, LocalUse, OperandUse, Part, walk};
use cotan_loops::{Buffer, Local, Operand, Target};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// Gives kernels their arguments, memory and cells.
pub(super) fn connect(plan: &mut PlanParts, device: &OnDevice) {
    let inside: Vec<Inside> = plan.kernels.iter().map(Inside::of).collect();
    let (mut locals, mut names) = (Owners::default(), Owners::default());
    each_read_back(&plan.steps, &mut |step| match step {
        ReadBack::Local(local) => locals.add(local, None),
        ReadBack::Name(buffer) => names.add(buffer, None),
    });
    for (number, inside) in inside.iter().enumerate() {
        inside.locals.order.iter().for_each(|local| locals.add(*local, Some(number)));
        inside.buffers.order.iter().for_each(|buffer| names.add(*buffer, Some(number)));
    }
    for (kernel, inside) in plan.kernels.iter_mut().zip(&inside) {
        for &local in &inside.locals.order {
            if !device.locals.contains(&local) {
                kernel.arguments.push(local);
            } else if locals.are_several(local) {
                let cell = Cell(plan.cells.count() as u32);
                plan.cells.locals.entry(local).or_insert(cell);
                if !inside.defined.contains(&local) {
                    kernel.reads.push(local);
                }
                if inside.defined.contains(&local) || inside.changed.contains(&local) {
                    kernel.writes.push(local);
                }
            }
        }
        for &buffer in &inside.buffers.order {
            let is_named_inside = inside.named.contains(&buffer);
            if !device.names.contains(&buffer) {
                if !inside.own.contains(&buffer) {
                    kernel.buffers.push(buffer);
                }
            } else if names.are_several(buffer) {
                let cell = Cell(plan.cells.count() as u32);
                plan.cells.buffers.entry(buffer).or_insert(cell);
                if is_named_inside { &mut kernel.writes_names } else { &mut kernel.reads_names }.push(buffer);
            }
        }
    }
}

/// Who mentions what: kernels by number, or the host.
struct Owners<T>(FxHashMap<T, (Option<usize>, bool)>);

impl<T> Default for Owners<T> {
    fn default() -> Owners<T> {
        Owners(FxHashMap::default())
    }
}

impl<T: Copy + Eq + Hash> Owners<T> {
    fn add(&mut self, what: T, owner: Option<usize>) {
        let (first, several) = self.0.entry(what).or_insert((owner, false));
        *several |= *first != owner;
    }

    fn are_several(&self, what: T) -> bool {
        self.0.get(&what).is_some_and(|(_, several)| *several)
    }
}

/// A set in the order in which it was filled, so that plans do not depend on hashes.
struct Ordered<T> {
    order: Vec<T>,
    members: FxHashSet<T>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Ordered<T> {
        Ordered { order: Vec::new(), members: FxHashSet::default() }
    }
}

impl<T: Copy + Eq + Hash> Ordered<T> {
    fn add(&mut self, member: T) {
        if self.members.insert(member) {
            self.order.push(member);
        }
    }
}

/// What a kernel mentions.
#[derive(Default)]
struct Inside {
    locals: Ordered<Local>,
    buffers: Ordered<Buffer>,
    /// Locals that its nodes define.
    defined: FxHashSet<Local>,
    /// Mutable locals that its nodes assign to or combine into.
    changed: FxHashSet<Local>,
    /// Buffers that it gives memory.
    own: FxHashSet<Buffer>,
    /// Buffers that it binds.
    named: FxHashSet<Buffer>,
}

impl Inside {
    fn of(kernel: &Kernel) -> Inside {
        let mut inside = Inside::default();
        if let Shape::Reduce { sums, .. } = &kernel.shape {
            for sum in sums {
                match sum.target {
                    Target::Local(local) => inside.change(local),
                    Target::Element(place) => inside.buffers.add(place.buffer),
                }
            }
        }
        walk(&kernel.body, &mut |node| node.each_part(&mut |part| inside.part(&part)));
        let indices: FxHashSet<Local> = kernel.shape.indices().into_iter().map(|(index, _)| index).collect();
        inside.locals.order.retain(|local| !indices.contains(local));
        inside
    }

    fn change(&mut self, local: Local) {
        self.locals.add(local);
        self.changed.insert(local);
    }

    fn part(&mut self, part: &Part<'_>) {
        match *part {
            Part::Local(&local, LocalUse::Define) => {
                self.locals.add(local);
                self.defined.insert(local);
            }
            Part::Local(&local, LocalUse::Assign | LocalUse::Combine) => self.change(local),
            Part::Local(&local, LocalUse::Test) | Part::Operand(&Operand::Local(local), OperandUse::Read) => {
                self.locals.add(local);
            }
            Part::Buffer(_, BufferUse::Note) => {}
            Part::Buffer(&buffer, usage) => {
                self.buffers.add(buffer);
                if matches!(usage, BufferUse::Allocate | BufferUse::OpenStack) {
                    self.own.insert(buffer);
                } else if usage == BufferUse::Bind {
                    self.named.insert(buffer);
                }
            }
            Part::Local(_, LocalUse::Note) | Part::Operand(..) | Part::List(_) | Part::Effect(_) => {}
        }
    }
}

/// What a step of the host wants to know of the device.
enum ReadBack {
    Local(Local),
    Name(Buffer),
}

fn each_read_back(steps: &[Step], see: &mut impl FnMut(ReadBack)) {
    for step in steps {
        if let Step::ReadBack(local) = step {
            see(ReadBack::Local(*local));
        } else if let Step::ReadName(buffer) = step {
            see(ReadBack::Name(*buffer));
        } else if let Step::Rounds(Rounds { live, count, .. }) = step {
            see(ReadBack::Local(*live));
            see(ReadBack::Local(*count));
        }
        step.lists().into_iter().for_each(|list| each_read_back(list, see));
    }
}
