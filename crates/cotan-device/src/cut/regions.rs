//! Memory of threads: which arrays a kernel makes for itself, and which of them only the run knows the size of.

use crate::plan::{PlanParts, Region, Size};
use cotan_loops::node::walk;
use cotan_loops::{Buffer, BufferKind, Local, Node, Operand};

/// The bytes of private memory that a thread has, at most. Drivers hang, or spill, where it is much more.
const MOST_PRIVATE: u64 = 2048;

/// The bytes of an element there, at most.
const ELEMENT: u64 = 8;

/// Lists the arrays that grow, and the regions of each kernel.
pub(super) fn size(plan: &mut PlanParts) {
    let is_stack = |buffer: &Buffer| plan.function.buffers[buffer.index()].kind == BufferKind::Stack;
    plan.growing = (0..plan.function.buffers.len() as u32).map(Buffer).filter(is_stack).collect();
    for kernel in &mut plan.kernels {
        let is_known = |extent: &Operand, arguments: &[Local]| match extent {
            Operand::Const(_) => true,
            Operand::Local(local) => arguments.contains(local),
        };
        let (mut regions, mut bound) = (Vec::new(), Vec::new());
        walk(&kernel.body, &mut |node| {
            if let Node::StackOpen(buffer) = node {
                regions.push((*buffer, None));
            } else if let Node::Alloc { buffer, extents } = node {
                let known = extents.iter().all(|extent| is_known(extent, &kernel.arguments));
                regions.push((*buffer, known.then(|| extents.clone())));
            } else if let Node::Bind { to, .. } = node {
                bound.push(to.buffer);
            }
        });
        let mut room = MOST_PRIVATE;
        for (buffer, extents) in regions {
            let private = extents.as_ref().filter(|_| !bound.contains(&buffer)).and_then(|extents| elements(extents));
            let size = match (extents, private) {
                (Some(_), Some(elements)) if u64::from(elements) * ELEMENT <= room => {
                    room -= u64::from(elements) * ELEMENT;
                    Size::Private(elements)
                }
                (Some(extents), _) => Size::Known(extents),
                (None, _) => Size::Growing(number(&mut plan.growing, buffer)),
            };
            kernel.regions.push(Region { buffer, size });
        }
    }
}

/// How many elements an array of constant extents has.
fn elements(extents: &[Operand]) -> Option<u32> {
    let extent = |extent: &Operand| u32::try_from(extent.as_i64()?.max(0)).ok();
    extents.iter().try_fold(1_u32, |n, count| n.checked_mul(extent(count)?)).filter(|n| *n > 0)
}

fn number(growing: &mut Vec<Buffer>, buffer: Buffer) -> usize {
    growing.iter().position(|other| *other == buffer).unwrap_or_else(|| {
        growing.push(buffer);
        growing.len() - 1
    })
}
