//! Privatisation, asked the other way round: what iterations of a loop combine values into that is not their own.

use super::shape::BufferUse;
use super::visit::walk;
use super::{Buffer, For, Local, Node, Reduce, Target};
use cotan_ir::Monoid;
use rustc_hash::FxHashSet;

/// What iterations of a loop combine values into, where another one may combine values into the same: variables that they
/// do not begin anew, and memory that they do not allocate. Each is listed once for each monoid.
pub fn shared_targets(l: &For) -> Vec<(Monoid, Target)> {
    combined_outside(&l.body)
}

/// The same of a reduction. Its sums are no such: what they take up has an order.
pub fn shared_beside_sums(reduction: &Reduce) -> Vec<(Monoid, Target)> {
    let is_sum = |target: Target| reduction.sums.iter().any(|sum| sum.target.has_memory_of(target));
    combined_outside(&reduction.body).into_iter().filter(|(_, target)| !is_sum(*target)).collect()
}

fn combined_outside(body: &[Node]) -> Vec<(Monoid, Target)> {
    let (mut locals, mut buffers) = (FxHashSet::<Local>::default(), FxHashSet::<Buffer>::default());
    let mut shared: Vec<(Monoid, Target)> = Vec::new();
    walk(body, &mut |node| {
        if let Node::Set(local, _) = node {
            locals.insert(*local);
        } else if let Node::Bind { buffer, to } = node {
            // A name of memory of the iteration.
            if buffers.contains(&to.buffer) {
                buffers.insert(*buffer);
            }
        } else if let Node::Combine { monoid, target, .. } = node {
            let is_own = match target {
                Target::Local(local) => locals.contains(local),
                Target::Element(place) => buffers.contains(&place.buffer),
            };
            let is_known = |(known, other): &(Monoid, Target)| known == monoid && other.has_memory_of(*target);
            if !is_own && !shared.iter().any(is_known) {
                shared.push((*monoid, *target));
            }
        } else {
            node.each_buffer(&mut |buffer, usage| {
                if matches!(usage, BufferUse::Allocate | BufferUse::OpenStack) {
                    buffers.insert(buffer);
                }
            });
        }
    });
    shared
}
