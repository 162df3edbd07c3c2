//! Gathers: lanes that read elements apart from each other.
//!
//! Elements at a small stride are read with those between them, and shuffled. Others are read one by one: a machine's own
//! gather takes at least as long as that on most machines (1.3 and 2.3 ns an element against 0.7 where it is slowed down for
//! the sake of secrecy), but it is short, so long functions have it. A lane that does not run reads a zero of the frame, which
//! needs no branch.

use super::function::FunctionEmitter;
use super::lanes::{in_all_lanes_of_mask, lane_pointers, memory_form};
use super::text::{in_lanes, in_memory};
use cotan_ir::Elem;
use cotan_loops::node::{Operand, Place};

/// The largest stride at which elements are read with those between them.
const SMALL_STRIDE: i64 = 4;

/// Elements that an LLVM function reads one by one, at most.
const MOST_READ: u32 = 512;

/// A zero for lanes that do not run.
const ZERO: &str = "%zero";

impl FunctionEmitter<'_> {
    /// The right side of a definition that reads elements apart from each other.
    pub(super) fn gather(&mut self, from: Place, elem: Elem, lanes: u32, mask: Option<Operand>) -> String {
        if let Some(stride @ 2..=SMALL_STRIDE) = self.strides.of(self.f, from.offset) {
            return with_those_between(self, from, elem, (lanes, stride as u32), mask);
        }
        if self.n_read_singly + lanes > MOST_READ {
            return by_the_machine(self, from, elem, lanes, mask);
        }
        self.n_read_singly += lanes;
        one_by_one(self, from, elem, lanes, mask)
    }
}

/// Reads the elements at a stride and those between them up to the last one, but for those that lanes need not have.
fn with_those_between(
    emitter: &mut FunctionEmitter<'_>,
    from: Place,
    elem: Elem,
    (lanes, stride): (u32, u32),
    mask: Option<Operand>,
) -> String {
    let ty = in_memory(elem);
    let all = lanes * stride;
    let numbers = |number: &dyn Fn(u32) -> u32, n: u32| {
        let numbers: Vec<String> = (0..n).map(|k| format!("i32 {}", number(k))).collect();
        numbers.join(", ")
    };
    let wanted = match mask {
        None => {
            let bits: Vec<&str> = (0..all).map(|k| if k % stride == 0 { "i1 true" } else { "i1 false" }).collect();
            format!("<{all} x i1> <{}>", bits.join(", "))
        }
        Some(mask) => {
            // Those between come from a vector of nothing.
            let mask = emitter.typed_spread(mask, lanes);
            let spread = numbers(&|k| if k % stride == 0 { k / stride } else { lanes }, all);
            let bits = emitter
                .out
                .define(&format!("shufflevector {mask}, <{lanes} x i1> zeroinitializer, <{all} x i32> <{spread}>"));
            format!("<{all} x i1> {bits}")
        }
    };
    let offsets = emitter.typed(from.offset);
    let first = emitter.out.define(&format!("extractelement {offsets}, i64 0"));
    let base = emitter.base(from.buffer);
    let address = emitter.out.define(&format!("getelementptr {ty}, ptr {base}, i64 {first}"));
    let (wide, form) = (in_lanes(ty, all), memory_form(elem, all));
    emitter
        .out
        .module
        .declare(&format!("declare {wide} @llvm.masked.load.{form}.p0(ptr, i32 immarg, <{all} x i1>, {wide})"));
    let read = emitter.out.define(&format!(
        "call {wide} @llvm.masked.load.{form}.p0(ptr {address}, i32 {}, {wanted}, {wide} zeroinitializer)",
        elem.bytes()
    ));
    let taken = numbers(&|k| k * stride, lanes);
    format!("shufflevector {wide} {read}, {wide} poison, <{lanes} x i32> <{taken}>")
}

/// Reads each element by itself.
fn one_by_one(emitter: &mut FunctionEmitter<'_>, from: Place, elem: Elem, lanes: u32, mask: Option<Operand>) -> String {
    let ty = in_memory(elem);
    let mut pointers = lane_pointers(emitter, from);
    if let Some(mask) = mask {
        let mask = emitter.typed_spread(mask, lanes);
        if !emitter.out.slots.contains(ZERO) {
            emitter.out.slots += &format!("  {ZERO} = alloca i64, align 8\n  store i64 0, ptr {ZERO}\n");
        }
        let all = format!("<{lanes} x ptr>");
        let first = emitter.out.define(&format!("insertelement {all} poison, ptr {ZERO}, i64 0"));
        let zeros =
            emitter.out.define(&format!("shufflevector {all} {first}, {all} poison, <{lanes} x i32> zeroinitializer"));
        pointers = emitter.out.define(&format!("select {mask}, {all} {pointers}, {all} {zeros}"));
    }
    let whole = in_lanes(ty, lanes);
    let mut read = "poison".to_owned();
    for lane in 0..lanes - 1 {
        let element = element(emitter, &pointers, (ty, elem), (lanes, lane));
        read = emitter.out.define(&format!("insertelement {whole} {read}, {ty} {element}, i64 {lane}"));
    }
    let last = element(emitter, &pointers, (ty, elem), (lanes, lanes - 1));
    format!("insertelement {whole} {read}, {ty} {last}, i64 {}", lanes - 1)
}

fn element(
    emitter: &mut FunctionEmitter<'_>,
    pointers: &str,
    (ty, elem): (&str, Elem),
    (lanes, lane): (u32, u32),
) -> String {
    let pointer = emitter.out.define(&format!("extractelement <{lanes} x ptr> {pointers}, i64 {lane}"));
    emitter.out.define(&format!("load {ty}, ptr {pointer}, align {}", elem.bytes()))
}

/// Reads all elements by an instruction of the machine.
fn by_the_machine(
    emitter: &mut FunctionEmitter<'_>,
    from: Place,
    elem: Elem,
    lanes: u32,
    mask: Option<Operand>,
) -> String {
    let mask = in_all_lanes_of_mask(emitter, mask, lanes);
    let pointers = lane_pointers(emitter, from);
    let (whole, form) = (in_lanes(in_memory(elem), lanes), memory_form(elem, lanes));
    let name = format!("@llvm.masked.gather.{form}.v{lanes}p0");
    let all = format!("<{lanes} x ptr>");
    emitter.out.module.declare(&format!("declare {whole} {name}({all}, i32 immarg, <{lanes} x i1>, {whole})"));
    format!("call {whole} {name}({all} {pointers}, i32 {}, {mask}, {whole} zeroinitializer)", elem.bytes())
}
