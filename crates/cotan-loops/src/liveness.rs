//! Which variables of the core IR are still needed at the point that is being lowered.
//!
//! Lowering walks blocks in order, and keeps one frame per open block. A variable is needed later if a statement after
//! the current one reads it, in its own block or, where control gets there, in an enclosing one; and, seen from the body
//! of a loop, if it lives outside and any statement of the body reads it: the next iteration will.

use cotan_ir::{Block, Op, Var};
use rustc_hash::FxHashMap;

/// The open blocks, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    frames: Vec<Frame>,
    /// The number of frames that were open when a variable was bound.
    depth_of: FxHashMap<Var, usize>,
}

#[derive(Debug)]
struct Frame {
    /// The last statement that reads a variable, at any depth; the number of statements for a result of the block.
    last_use: FxHashMap<Var, usize>,
    /// The current statement.
    position: usize,
    /// Whether the block runs again when it ends.
    repeats: bool,
}

impl Scopes {
    /// Opens a block.
    pub(crate) fn open(&mut self, block: &Block, repeats: bool) {
        let mut last_use = FxHashMap::default();
        for (position, stmt) in block.stmts.iter().enumerate() {
            each_use(&stmt.op, &mut |v| {
                last_use.insert(v, position);
            });
        }
        for v in block.results.iter().filter_map(|a| a.var()) {
            last_use.insert(v, block.stmts.len());
        }
        self.frames.push(Frame { last_use, position: 0, repeats });
    }

    /// Moves on to a statement of the innermost block.
    pub(crate) fn advance(&mut self, position: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.position = position;
        }
    }

    /// Closes the innermost block.
    pub(crate) fn close(&mut self) {
        self.frames.pop();
    }

    /// Notes that the innermost block binds a variable.
    pub(crate) fn bind(&mut self, v: Var) {
        self.depth_of.insert(v, self.frames.len());
    }

    /// Whether a variable was bound by the innermost block.
    pub(crate) fn is_local(&self, v: Var) -> bool {
        self.depth_of.get(&v) == Some(&self.frames.len())
    }

    /// Whether a variable may be read after the current statement.
    pub(crate) fn is_live_after(&self, v: Var) -> bool {
        let Some(depth) = self.depth_of.get(&v) else { return false };
        // The frames that see the variable, innermost first; the outermost of them is the one that bound it.
        (*depth..=self.frames.len()).rev().any(|k| {
            let Some(frame) = k.checked_sub(1).and_then(|k| self.frames.get(k)) else { return false };
            let last = frame.last_use.get(&v);
            last.is_some_and(|last| *last > frame.position || frame.repeats && k > *depth)
        })
    }
}

/// Visits every variable that an operation reads, inner blocks included.
fn each_use(op: &Op, see: &mut dyn FnMut(Var)) {
    op.each_operand(&mut |a| {
        if let Some(v) = a.var() {
            see(v);
        }
    });
    for block in op.blocks() {
        for stmt in &block.stmts {
            each_use(&stmt.op, see);
        }
        block.results.iter().filter_map(|a| a.var()).for_each(&mut *see);
    }
}

/// Whether an inner block of an operation reads a variable.
pub(crate) fn is_read_inside(op: &Op, v: Var) -> bool {
    let mut found = false;
    for block in op.blocks() {
        block.stmts.iter().for_each(|s| each_use(&s.op, &mut |w| found |= w == v));
        found |= block.results.iter().any(|a| a.var() == Some(v));
    }
    found
}
