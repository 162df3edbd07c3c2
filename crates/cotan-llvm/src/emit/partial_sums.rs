//! Where blocks of reductions end: calls of the host.

use super::function::FunctionEmitter;
use super::output::elem_number;
use cotan_ir::Monoid;
use cotan_loops::{BlockWork, PartialSums};

impl FunctionEmitter<'_> {
    pub(super) fn partial_sums(&mut self, sums: &PartialSums) {
        let PartialSums { work, monoid, lanes, size, stride, number } = *sums;
        let name = match work {
            BlockWork::Close => "cotan_close_blocks",
            BlockWork::Combine => "cotan_combine_levels",
        };
        // Rare, so that registers are saved around the call and not around the loop that it is in.
        self.out.module.declare(&format!(
            "declare void @{name}(i32, i32, ptr nocapture, i64, i64, i64) \
             cold nounwind willreturn memory(argmem: readwrite)"
        ));
        let elem = elem_number(self.f.buffers[lanes.buffer.index()].elem);
        let (lanes, size, number) = (self.address(lanes), self.operand(size), self.operand(number));
        let monoid = monoid_number(monoid);
        self.out.line(&format!(
            "call void @{name}(i32 {monoid}, i32 {elem}, ptr {lanes}, i64 {size}, i64 {stride}, i64 {number})"
        ));
    }
}

/// How the host tells monoids apart: by their place among all of them.
fn monoid_number(monoid: Monoid) -> usize {
    Monoid::ALL.iter().position(|other| *other == monoid).unwrap_or(0)
}
