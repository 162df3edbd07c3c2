//! A cost model of kernels: what drivers take to compile nodes, in words of SPIR-V that compile as long. An exact fused multiply-add and
//! checks are weighed by what `decisions/vulkan.md` has measured; the others are estimates, as these two are most of it.

use cotan_ir::Elem;
use cotan_loops::node::walk;
use cotan_loops::{Expr, Node};
use cotan_ops::Instruction;

/// The cost of a kernel of one thread, at most, where it can be cut.
pub(crate) const MOST: usize = 30_000;

/// An exact fused multiply-add: of f64 by its error-free form, and of others by one of f64.
const FMA: usize = 400;
const NARROW_FMA: usize = 100;

/// A function that only a host has an instruction for: loops.
const HOST_FUNCTION: usize = 1_500;

/// An early end of a thread: all behind it becomes conditional.
const CHECK: usize = 1_000;

/// Whatever ends a loop is an early end where a driver cuts it.
const LOOP: usize = CHECK + 50;

/// Partial results of a reduction, level by level.
const REDUCTION: usize = 3_000;

/// An element: its address, and access.
const ACCESS: usize = 25;

const OTHER: usize = 8;

/// The cost of a node with all that is in it.
pub(crate) fn cost(node: &Node) -> usize {
    let mut all = 0;
    walk(std::slice::from_ref(node), &mut |node| all += own_cost(node));
    all
}

fn own_cost(node: &Node) -> usize {
    match node {
        Node::Let(_, Expr::Native { instruction: Instruction::Fma, elem, .. }) => {
            if *elem == Elem::F64 {
                FMA
            } else {
                NARROW_FMA
            }
        }
        Node::Let(_, Expr::Host { .. }) => HOST_FUNCTION,
        Node::Check { .. } => CHECK,
        Node::For(_) | Node::While(..) | Node::Copy { .. } => LOOP,
        Node::Reduce(reduction) => LOOP + REDUCTION * reduction.sums.len(),
        Node::Load(..) | Node::Store(..) | Node::Combine { .. } => ACCESS,
        Node::Let(..)
        | Node::Set(..)
        | Node::LoadLanes { .. }
        | Node::StoreLanes { .. }
        | Node::PartialSums(_)
        | Node::Alloc { .. }
        | Node::StackOpen(_)
        | Node::StackExtend(..)
        | Node::Bind { .. }
        | Node::CountRecord(..)
        | Node::Scope(_)
        | Node::Segment(_)
        | Node::If(..)
        | Node::Switch(..)
        | Node::Product(_)
        | Node::Routine(_)
        | Node::Print { .. }
        | Node::Call { .. } => OTHER,
    }
}
