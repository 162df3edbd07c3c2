//! Loops in which subnormal results become zero: a mode of the processor, set around a function of their own. LLVM knows
//! nothing of the mode, so the loop may not share a function with code that runs without it.

use super::function::FunctionEmitter;
use cotan_loops::{For, Node};

/// The bit of the control register that flushes results.
const FLUSH_TO_ZERO: u32 = 1 << 15;

impl FunctionEmitter<'_> {
    /// A loop, which is `node`.
    pub(super) fn flushing(&mut self, node: &Node, l: &For) {
        let piece = self.piece(std::slice::from_ref(node), &l.body, |inner| inner.counted(l));
        let old = self.register_slot();
        let new = self.register_slot();
        self.module.declare("declare void @llvm.x86.sse.stmxcsr(ptr)");
        self.module.declare("declare void @llvm.x86.sse.ldmxcsr(ptr)");
        self.line(&format!("call void @llvm.x86.sse.stmxcsr(ptr {old})"));
        let bits = self.define(&format!("load i32, ptr {old}"));
        let bits = self.define(&format!("or i32 {bits}, {FLUSH_TO_ZERO}"));
        self.line(&format!("store i32 {bits}, ptr {new}"));
        self.line(&format!("call void @llvm.x86.sse.ldmxcsr(ptr {new})"));
        let status = self.call_status(&piece);
        self.line(&format!("call void @llvm.x86.sse.ldmxcsr(ptr {old})"));
        self.take_outputs(&status, piece);
    }

    fn register_slot(&mut self) -> String {
        let name = self.temporary();
        self.slot(&name, "i32");
        name
    }
}
