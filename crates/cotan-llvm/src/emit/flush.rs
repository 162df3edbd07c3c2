//! Loops in which subnormal results become zero: a mode of the processor, set around a function of their own. LLVM knows
//! nothing of the mode, so the loop may not share a function with code that runs without it.

use super::function::FunctionEmitter;
use super::writer::FunctionWriter;
use cotan_loops::{For, Node};

/// The bit of the control register that flushes results.
const FLUSH_TO_ZERO: u32 = 1 << 15;

impl FunctionEmitter<'_> {
    /// A loop, which is `node`.
    pub(super) fn flushing(&mut self, node: &Node, l: &For) {
        let piece = self.piece(std::slice::from_ref(node), &l.body, |inner| inner.counted(l));
        let old = register_slot(&mut self.out);
        let new = register_slot(&mut self.out);
        self.out.module.declare("declare void @llvm.x86.sse.stmxcsr(ptr)");
        self.out.module.declare("declare void @llvm.x86.sse.ldmxcsr(ptr)");
        self.out.line(&format!("call void @llvm.x86.sse.stmxcsr(ptr {old})"));
        let bits = self.out.define(&format!("load i32, ptr {old}"));
        let bits = self.out.define(&format!("or i32 {bits}, {FLUSH_TO_ZERO}"));
        self.out.line(&format!("store i32 {bits}, ptr {new}"));
        self.out.line(&format!("call void @llvm.x86.sse.ldmxcsr(ptr {new})"));
        let status = self.out.call_status(&piece);
        self.out.line(&format!("call void @llvm.x86.sse.ldmxcsr(ptr {old})"));
        self.take_outputs(&status, piece);
    }
}

fn register_slot(out: &mut FunctionWriter<'_>) -> String {
    let name = out.temporary();
    out.slot(&name, "i32");
    name
}
