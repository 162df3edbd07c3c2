//! Memory of threads: which arrays a kernel makes for itself, which of them only the run knows the size of, and which may lie in the
//! private memory of a thread.

use crate::plan::{Kernel, PlanParts, Region, Size};
use cotan_loops::node::walk;
use cotan_loops::{Buffer, BufferInfo, BufferKind, Local, Node, Operand};

/// The bytes of private memory that a thread has, at most. Drivers hang, or spill, where it is much more.
const MOST_PRIVATE: u64 = 2048;

/// The bytes of an element there, at most.
const ELEMENT: u64 = 8;

/// An array that grows has room for so many elements there, or none.
const FEWEST: u64 = 16;

/// Lists the arrays that grow, and the regions of each kernel.
pub(super) fn size(plan: &mut PlanParts) {
    let is_stack = |buffer: &Buffer| plan.function.buffers[buffer.index()].kind == BufferKind::Stack;
    plan.growing = (0..plan.function.buffers.len() as u32).map(Buffer).filter(is_stack).collect();
    for kernel in &mut plan.kernels {
        let is_known = |extent: &Operand, arguments: &[Local]| match extent {
            Operand::Const(_) => true,
            Operand::Local(local) => arguments.contains(local),
        };
        let mut regions = Vec::new();
        walk(&kernel.body, &mut |node| {
            if let Node::StackOpen(buffer) = node {
                regions.push((*buffer, None));
            } else if let Node::Alloc { buffer, extents } = node {
                let known = extents.iter().all(|extent| is_known(extent, &kernel.arguments));
                regions.push((*buffer, known.then(|| extents.clone())));
            }
        });
        for (buffer, extents) in regions {
            let size = match extents {
                Some(extents) => Size::Known(extents),
                None => Size::Growing(number(&mut plan.growing, buffer)),
            };
            kernel.regions.push(Region { buffer, size, private: None, names: Vec::new() });
        }
        make_private(kernel, &plan.function.buffers);
    }
}

fn number(growing: &mut Vec<Buffer>, buffer: Buffer) -> usize {
    growing.iter().position(|other| *other == buffer).unwrap_or_else(|| {
        growing.push(buffer);
        growing.len() - 1
    })
}

/// Says which regions of a kernel may lie in private memory: those of constant size as long as there is room, and then those that
/// grow, as far as they have no more elements than there is room for, all the same. Names of such a region have to be names of
/// nothing else, as a name of device memory is an address.
fn make_private(kernel: &mut Kernel, buffers: &[BufferInfo]) {
    let names = Names::of(kernel);
    let mut regions = std::mem::take(&mut kernel.regions);
    let mut room = MOST_PRIVATE / ELEMENT;
    let mut growing = Vec::new();
    for (position, region) in regions.iter_mut().enumerate() {
        let Some(found) = names.of_array_alone(region.buffer, kernel, buffers) else { continue };
        region.names = found;
        match &region.size {
            Size::Known(extents) => {
                region.private = elements(extents).filter(|n| u64::from(*n) <= room);
                room -= region.private.map_or(0, u64::from);
            }
            Size::Growing(_) => growing.push(position),
        }
    }
    let share = room.checked_div(growing.len() as u64).unwrap_or(0);
    // A power of two, so that sizes are few.
    let share = if share < FEWEST { 0 } else { 1_u64 << share.ilog2() };
    if kernel.shape.is_parallel() && share > 0 {
        growing.iter().for_each(|position| regions[*position].private = u32::try_from(share).ok());
    }
    kernel.regions = regions;
}

/// How many elements an array of constant extents has.
fn elements(extents: &[Operand]) -> Option<u32> {
    let extent = |extent: &Operand| u32::try_from(extent.as_i64()?.max(0)).ok();
    extents.iter().try_fold(1_u32, |n, count| n.checked_mul(extent(count)?)).filter(|n| *n > 0)
}

/// What names of memory a kernel binds, and to what.
struct Names(Vec<(Buffer, Buffer)>);

impl Names {
    fn of(kernel: &Kernel) -> Names {
        let mut bound = Vec::new();
        walk(&kernel.body, &mut |node| {
            if let Node::Bind { buffer, to } = node
                && !bound.contains(&(*buffer, to.buffer))
            {
                bound.push((*buffer, to.buffer));
            }
        });
        Names(bound)
    }

    /// The names of an array, unless one of them may be the name of something else as well, or is handed over.
    fn of_array_alone(&self, array: Buffer, kernel: &Kernel, buffers: &[BufferInfo]) -> Option<Vec<Buffer>> {
        let mut found = vec![array];
        let mut at = 0;
        while let Some(target) = found.get(at).copied() {
            for (name, _) in self.0.iter().filter(|(_, to)| *to == target) {
                if !found.contains(name) {
                    found.push(*name);
                }
            }
            at += 1;
        }
        let is_alone = |name: &Buffer| {
            let is_bound_to_it = self.0.iter().filter(|(of, _)| of == name).all(|(_, to)| found.contains(to));
            let is_given =
                [&kernel.buffers, &kernel.reads_names, &kernel.writes_names].iter().any(|all| all.contains(name));
            is_bound_to_it && !is_given && buffers[name.index()].elem == buffers[array.index()].elem
        };
        found.iter().all(is_alone).then(|| found[1..].to_vec())
    }
}
