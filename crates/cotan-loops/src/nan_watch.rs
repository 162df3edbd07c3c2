//! NaN detection at stores: results that are watched for NaN while they are stored.
//!
//! Somebody has to look through a result, which takes a while if it is large. A result that the code only stores to is
//! looked at in registers on the way; one that it adds to in place has been touched more often than it is looked at.

use crate::node::{Argument, Buffer, BufferKind, BufferUse, Home, LoopFunction, Node, walk};
use crate::pass::NestPass;
use rustc_hash::FxHashSet;

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "watch_results",
    doc: "Notes the results that are watched for NaN while they are stored.",
    run: |f, _| watch_results(f),
};

/// Watches every float result that is only stored to.
pub fn watch_results(f: &mut LoopFunction) {
    let touched = touched(&f.body);
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
fn touched(nodes: &[Node]) -> FxHashSet<Buffer> {
    let mut touched = FxHashSet::default();
    walk(nodes, &mut |node| {
        if matches!(node, Node::Store(..) | Node::StoreLanes { .. }) {
            return;
        }
        node.each_buffer(&mut |buffer, usage| {
            if !matches!(usage, BufferUse::Allocate | BufferUse::Note) {
                touched.insert(buffer);
            }
        });
    });
    touched
}
