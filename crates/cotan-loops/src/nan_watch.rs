//! Results that are watched for NaN while they are stored.
//!
//! Somebody has to look through a result, which takes a while if it is large. A result that the code only stores to is
//! looked at in registers on the way; one that it adds to in place has been touched more often than it is looked at.

use crate::node::{Argument, Buffer, BufferKind, CallResult, Home, LoopFunction, Node, Target};
use rustc_hash::FxHashSet;

/// Watches every float result that is only stored to.
pub fn watch_results(f: &mut LoopFunction) {
    let mut touched = FxHashSet::default();
    touch(&f.body, &mut touched);
    let is_watched = |b: &Buffer| {
        let info = &f.buffers[b.index()];
        let is_result = matches!(info.kind, BufferKind::Allocated(Home::Result(_)));
        // Storage types are no floats to a machine.
        is_result && info.elem.is_float() && info.elem.storage().is_none() && !touched.contains(b)
    };
    f.watched = (0..f.buffers.len()).map(|k| Buffer(k as u32)).filter(is_watched).collect();
}

/// The positions of the results that are not watched.
pub fn unwatched_results(f: &LoopFunction) -> Vec<usize> {
    let is_watched = |piece: &Argument| match piece {
        Argument::Scalar(_) => false,
        Argument::Tensor(tensor) => f.watched.contains(&tensor.place.buffer),
    };
    f.results.iter().enumerate().filter(|(_, piece)| !is_watched(piece)).map(|(k, _)| k).collect()
}

/// The buffers that are mentioned elsewhere than as the target of a store.
fn touch(nodes: &[Node], touched: &mut FxHashSet<Buffer>) {
    for node in nodes {
        match node {
            Node::Load(_, from) | Node::LoadLanes { from, .. } => {
                touched.insert(from.buffer);
            }
            Node::Combine { target: Target::Element(place), .. } | Node::Bind { to: place, .. } => {
                touched.insert(place.buffer);
            }
            Node::PartialSums(blocks) => {
                touched.insert(blocks.lanes.buffer);
            }
            Node::Copy { from, to, .. } => touched.extend([from.buffer, to.buffer]),
            Node::Product(product) => touched.extend(product.views().map(|view| view.place.buffer)),
            Node::Routine(routine) => touched.extend(routine.arrays().map(|array| array.place.buffer)),
            Node::Print { value, extents, .. } => {
                touched.extend(value.iter().map(|tensor| tensor.place.buffer));
                touched.extend(extents.iter().map(|place| place.buffer));
            }
            Node::Call { args, results, .. } => {
                touched.extend(args.iter().filter_map(|piece| match piece {
                    Argument::Scalar(_) => None,
                    Argument::Tensor(tensor) => Some(tensor.place.buffer),
                }));
                touched.extend(results.iter().filter_map(|result| match result {
                    CallResult::Scalar(_) => None,
                    CallResult::Into(tensor) => Some(tensor.place.buffer),
                    CallResult::New(buffer, _) => Some(*buffer),
                }));
            }
            Node::Store(..)
            | Node::StoreLanes { .. }
            | Node::Combine { target: Target::Local(_), .. }
            | Node::Let(..)
            | Node::Set(..)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Scope(_)
            | Node::Segment(_)
            | Node::For(_)
            | Node::While(..)
            | Node::If(..)
            | Node::Switch(..)
            | Node::Check { .. } => {}
        }
        node.lists().into_iter().for_each(|list| touch(list, touched));
    }
}
