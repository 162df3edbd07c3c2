//! The buffers that nodes mention.

use crate::nest::{Buffer, CallResult, Node, Piece, Sharing, Target, Threads};

/// Visits every mention of a buffer in a node, in the lists in it too.
pub(crate) fn each_buffer(node: &mut Node, see: &mut dyn FnMut(&mut Buffer)) {
    match node {
        Node::Load(_, place)
        | Node::Store(place, _)
        | Node::LoadLanes { from: place, .. }
        | Node::StoreLanes { to: place, .. }
        | Node::Combine { target: Target::Element(place), .. } => see(&mut place.buffer),
        Node::Copy { from, to, count: _ } => {
            see(&mut from.buffer);
            see(&mut to.buffer);
        }
        Node::Blocks(blocks) => see(&mut blocks.lanes.buffer),
        Node::Alloc { buffer, extents: _ } | Node::StackOpen(buffer) | Node::StackExtend(buffer, _) => see(buffer),
        Node::Bind { buffer, to } => {
            see(buffer);
            see(&mut to.buffer);
        }
        Node::Product(product) => {
            for view in [&mut product.to, &mut product.left, &mut product.right] {
                see(&mut view.place.buffer);
            }
        }
        Node::Routine(routine) => routine.arrays_mut().for_each(|array| see(&mut array.place.buffer)),
        Node::Print { text: _, value, extents } => {
            value.iter_mut().for_each(|value| see(&mut value.place.buffer));
            extents.iter_mut().for_each(|place| see(&mut place.buffer));
        }
        Node::Call { callee: _, args, results } => {
            for arg in args {
                match arg {
                    Piece::Tensor(tensor) => see(&mut tensor.place.buffer),
                    Piece::Scalar(_) => {}
                }
            }
            for result in results {
                match result {
                    CallResult::Scalar(_) => {}
                    CallResult::Into(tensor) => see(&mut tensor.place.buffer),
                    CallResult::New(buffer, _) => see(buffer),
                }
            }
        }
        Node::Let(..)
        | Node::Set(..)
        | Node::Combine { target: Target::Local(_), .. }
        | Node::CountRecord(..)
        | Node::Check { .. } => {}
        Node::For(l) => {
            if let Threads::May(Sharing { steps: _, sums }) = &mut l.threads {
                for sum in sums {
                    match &mut sum.target {
                        Target::Element(place) => see(&mut place.buffer),
                        Target::Local(_) => {}
                    }
                }
            }
            l.body.iter_mut().for_each(|node| each_buffer(node, see));
        }
        Node::Scope(_) | Node::Segment(_) | Node::While(..) | Node::If(..) | Node::Switch(..) => {
            node.lists_mut().into_iter().flatten().for_each(|node| each_buffer(node, see));
        }
    }
}
