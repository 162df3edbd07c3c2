//! Parallelism: which nodes are kernels of their own, with many threads, and which need the host.

use crate::cost::{MOST, cost};
use cotan_loops::node::{Effect, any};
use cotan_loops::{BufferKind, Home, Independence, LoopFunction, Node, Operand};

/// Iterations that are known to be at most so many are not worth threads where a single one runs.
const FEW: i64 = 16;

/// What a node outside of kernels is to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A thread runs it, with what is around it.
    Thread,
    /// A kernel of many threads.
    Kernel,
    /// The host decides which of its parts run, and each part has a role.
    Control,
    /// The host does it: routines and output.
    Host,
}

impl Role {
    /// That of a node.
    pub(crate) fn of(f: &LoopFunction, node: &Node) -> Role {
        if is_host(node) {
            Role::Host
        } else if needs_host(node) || holds_result(f, node) {
            Role::Control
        } else if is_wide(node) {
            Role::Kernel
        } else if node.lists().into_iter().any(|list| any(list, &mut is_wide)) || is_too_large(node) {
            Role::Control
        } else {
            Role::Thread
        }
    }
}

/// Whether a device has nothing like it.
fn is_host(node: &Node) -> bool {
    node.has(Effect::UsesLibrary) || node.has(Effect::Prints)
}

/// Whether something in it is for the host.
pub(crate) fn needs_host(node: &Node) -> bool {
    any(std::slice::from_ref(node), &mut is_host)
}

/// Whether it is control that is too large for a kernel.
fn is_too_large(node: &Node) -> bool {
    let is_control = matches!(node, Node::Scope(_) | Node::For(_) | Node::While(..) | Node::If(..) | Node::Switch(..));
    is_control && cost(node) > MOST
}

/// Whether memory of a result of the function is given inside of it.
fn holds_result(f: &LoopFunction, node: &Node) -> bool {
    let mut is_result = |inner: &Node| {
        matches!(inner, Node::Alloc { buffer, .. }
            if matches!(f.buffers[buffer.index()].kind, BufferKind::Allocated(Home::Result(_))))
    };
    node.lists().into_iter().any(|list| any(list, &mut is_result))
}

/// Whether many threads can share it.
pub(crate) fn is_wide(node: &Node) -> bool {
    if let Node::For(l) = node {
        l.independence == Independence::All && !are_few(std::iter::once(l.count))
    } else if let Node::Reduce(reduction) = node {
        !are_few(reduction.indices.iter().map(|(_, count)| *count))
    } else if let Node::Copy { count, .. } = node {
        !are_few(std::iter::once(*count))
    } else {
        false
    }
}

fn are_few(mut counts: impl Iterator<Item = Operand>) -> bool {
    let product = counts.try_fold(1_i64, |all, count| all.checked_mul(count.as_i64()?.max(0)));
    product.is_some_and(|n| n <= FEW)
}
