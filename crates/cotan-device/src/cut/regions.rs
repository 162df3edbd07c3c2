//! Memory of threads: which arrays a kernel makes for itself, and which of them only the run knows the size of.

use crate::plan::{PlanParts, Region, Size};
use cotan_loops::node::walk;
use cotan_loops::{Buffer, BufferKind, Local, Node, Operand};

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
            kernel.regions.push(Region { buffer, size });
        }
    }
}

fn number(growing: &mut Vec<Buffer>, buffer: Buffer) -> usize {
    growing.iter().position(|other| *other == buffer).unwrap_or_else(|| {
        growing.push(buffer);
        growing.len() - 1
    })
}
