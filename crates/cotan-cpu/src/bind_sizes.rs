//! Late specialisation: sizes become constants when everything about a nest has been decided.
//!
//! Which loops have lanes, how they are cut for threads, and what order sums have, is that of the nest for all sizes, as its
//! passes have run. What is left for the constants is what the machine's compiler makes of them: short loops are written out,
//! offsets fold, and small arrays, which lie in the frame now, become registers. So it has the bits of the general code whatever
//! adds up in it, unlike a specialisation of the core IR.

use cotan_ir::Const;
use cotan_loops::node::{
    BufferInfo, BufferKind, Home, Local, LoopFunction, Node, Operand, Param, each_operand_mut, walk,
};
use rustc_hash::FxHashMap;

/// Bytes of an array that may lie in the frame.
const MOST_BYTES: i64 = 4096;
/// Bytes of all of them.
const MOST_BYTES_OF_ALL: i64 = 32 << 10;

/// Puts constants in the place of integer parameters: the position of each, and what calls pass there.
pub fn bind_sizes(f: &mut LoopFunction, sizes: &[(usize, i64)]) {
    let mut constants: FxHashMap<Local, Operand> = FxHashMap::default();
    for (k, size) in sizes {
        if let Some(Param::Scalar(local)) = f.params.get(*k) {
            constants.insert(*local, Operand::Const(Const::i64(*size)));
        }
    }
    each_operand_mut(&mut f.body, &mut |operand| {
        if let Operand::Local(local) = operand
            && let Some(constant) = constants.get(local)
        {
            *operand = *constant;
        }
    });
    move_to_frame(f);
}

/// Small arrays of the arena, whose sizes are known by now, lie in the frame.
fn move_to_frame(f: &mut LoopFunction) {
    let mut left = MOST_BYTES_OF_ALL;
    let buffers = &mut f.buffers;
    walk(&f.body, &mut |node| {
        if let Node::Alloc { buffer, extents } = node {
            let info: &mut BufferInfo = &mut buffers[buffer.index()];
            let bytes = extents.iter().try_fold(info.elem.bytes() as i64, |n, extent| n.checked_mul(extent.as_i64()?));
            if info.kind == BufferKind::Allocated(Home::Arena)
                && let Some(bytes) = bytes.filter(|bytes| (0..=MOST_BYTES.min(left)).contains(bytes))
            {
                info.kind = BufferKind::Allocated(Home::Frame);
                left -= bytes;
            }
        }
    });
}
