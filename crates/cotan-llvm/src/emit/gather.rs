//! Gathers and scatters: lanes that read or write elements apart from each other.
//!
//! Elements at a small stride are read and written together with those between them, under a mask without these, and shuffled.
//! Others are read and written one by one: where its microcode slows a machine's own gather down for the sake of secrecy, that takes
//! longer (1.3 ns an element with AVX-512 and 2.3 with AVX2, against 0.7), but it is short, so long functions have it. A lane that
//! does not run reads a zero of the frame, and writes to where nobody reads, which needs no branch.

use super::function::FunctionEmitter;
use super::lanes::{lane_pointers, mask_or_all, memory_form};
use super::text::{in_lanes, in_memory};
use cotan_ir::Elem;
use cotan_loops::node::{Operand, Place};

/// The largest stride at which elements are read with those between them.
const SMALL_STRIDE: i64 = 4;

/// Elements that an LLVM function reads and writes one by one, at most.
const MOST_SINGLE: u32 = 512;

/// A zero for lanes that do not run.
const ZERO: &str = "%zero";

/// What lanes that do not run write to.
const NOWHERE: &str = "%nowhere";

/// Elements that lanes read or write.
#[derive(Clone, Copy)]
pub(super) struct Elements {
    pub(super) place: Place,
    pub(super) elem: Elem,
    pub(super) lanes: u32,
    /// Which lanes do; all of them if there is none.
    pub(super) mask: Option<Operand>,
}

/// How elements are read and written.
enum Way {
    /// With those between them, at this stride.
    Between(u32),
    OneByOne,
    /// By an instruction of the machine.
    Whole,
}

impl FunctionEmitter<'_> {
    /// The right side of a definition that reads elements apart from each other.
    pub(super) fn gather(&mut self, from: Elements) -> String {
        match way(self, from) {
            Way::Between(stride) => read_between(self, from, stride),
            Way::OneByOne => read_one_by_one(self, from),
            Way::Whole => read_whole(self, from),
        }
    }

    /// Writes elements apart from each other.
    pub(super) fn scatter(&mut self, to: Elements, value: &str) {
        match way(self, to) {
            Way::Between(stride) => write_between(self, to, stride, value),
            Way::OneByOne => write_one_by_one(self, to, value),
            Way::Whole => write_whole(self, to, value),
        }
    }
}

fn way(emitter: &mut FunctionEmitter<'_>, Elements { place, lanes, .. }: Elements) -> Way {
    if let Some(stride @ 2..=SMALL_STRIDE) = emitter.strides.of(emitter.f, place.offset) {
        return Way::Between(stride as u32);
    }
    if emitter.n_single + lanes > MOST_SINGLE {
        return Way::Whole;
    }
    emitter.n_single += lanes;
    Way::OneByOne
}

// ---- with those between

/// The mask of elements at a stride among those between them, and the address of the first.
fn between(
    emitter: &mut FunctionEmitter<'_>,
    Elements { place, elem, lanes, mask }: Elements,
    stride: u32,
) -> (String, String) {
    let all = lanes * stride;
    let wanted = match mask {
        None => {
            let bits: Vec<&str> = (0..all).map(|k| if k % stride == 0 { "i1 true" } else { "i1 false" }).collect();
            format!("<{all} x i1> <{}>", bits.join(", "))
        }
        Some(mask) => {
            let mask = emitter.typed_spread(mask, lanes);
            let spread = spread_out(lanes, stride);
            let bits = emitter.out.define(&format!("shufflevector {mask}, <{lanes} x i1> zeroinitializer, {spread}"));
            format!("<{all} x i1> {bits}")
        }
    };
    let offsets = emitter.typed(place.offset);
    let first = emitter.out.define(&format!("extractelement {offsets}, i64 0"));
    let base = emitter.base(place.buffer);
    (wanted, emitter.out.define(&format!("getelementptr {}, ptr {base}, i64 {first}", in_memory(elem))))
}

/// The numbers by which a shuffle of two vectors puts the first one's lanes at a stride, and the second one's first between them.
fn spread_out(lanes: u32, stride: u32) -> String {
    let number = |k: u32| if k.is_multiple_of(stride) { k / stride } else { lanes };
    let numbers: Vec<String> = (0..lanes * stride).map(|k| format!("i32 {}", number(k))).collect();
    format!("<{} x i32> <{}>", lanes * stride, numbers.join(", "))
}

fn read_between(emitter: &mut FunctionEmitter<'_>, from: Elements, stride: u32) -> String {
    let (wanted, address) = between(emitter, from, stride);
    let Elements { elem, lanes, .. } = from;
    let all = lanes * stride;
    let (wide, form) = (in_lanes(in_memory(elem), all), memory_form(elem, all));
    let name = format!("@llvm.masked.load.{form}.p0");
    emitter.out.module.declare(&format!("declare {wide} {name}(ptr, i32 immarg, <{all} x i1>, {wide})"));
    let read = emitter
        .out
        .define(&format!("call {wide} {name}(ptr {address}, i32 {}, {wanted}, {wide} zeroinitializer)", elem.bytes()));
    let taken: Vec<String> = (0..lanes).map(|k| format!("i32 {}", k * stride)).collect();
    format!("shufflevector {wide} {read}, {wide} poison, <{lanes} x i32> <{}>", taken.join(", "))
}

fn write_between(emitter: &mut FunctionEmitter<'_>, to: Elements, stride: u32, value: &str) {
    let (wanted, address) = between(emitter, to, stride);
    let Elements { elem, lanes, .. } = to;
    let all = lanes * stride;
    let (narrow, wide) = (in_lanes(in_memory(elem), lanes), in_lanes(in_memory(elem), all));
    let spread = spread_out(lanes, stride);
    let spread = emitter.out.define(&format!("shufflevector {narrow} {value}, {narrow} poison, {spread}"));
    let name = format!("@llvm.masked.store.{}.p0", memory_form(elem, all));
    emitter.out.module.declare(&format!("declare void {name}({wide}, ptr, i32 immarg, <{all} x i1>)"));
    emitter.out.line(&format!("call void {name}({wide} {spread}, ptr {address}, i32 {}, {wanted})", elem.bytes()));
}

// ---- one by one

/// The addresses of elements; those of lanes that do not run are another one, of 8 bytes in the frame that are zero at first.
fn pointers_or(emitter: &mut FunctionEmitter<'_>, elements: Elements, other: &str) -> String {
    let Elements { place, lanes, mask, .. } = elements;
    let pointers = lane_pointers(emitter, place);
    let Some(mask) = mask else { return pointers };
    let slot = format!("  {other} = alloca i64, align 8\n  store i64 0, ptr {other}\n");
    if !emitter.out.slots.contains(&slot) {
        emitter.out.slots += &slot;
    }
    let mask = emitter.typed_spread(mask, lanes);
    let all = format!("<{lanes} x ptr>");
    let first = emitter.out.define(&format!("insertelement {all} poison, ptr {other}, i64 0"));
    let others =
        emitter.out.define(&format!("shufflevector {all} {first}, {all} poison, <{lanes} x i32> zeroinitializer"));
    emitter.out.define(&format!("select {mask}, {all} {pointers}, {all} {others}"))
}

fn read_one_by_one(emitter: &mut FunctionEmitter<'_>, from: Elements) -> String {
    let pointers = pointers_or(emitter, from, ZERO);
    let Elements { elem, lanes, .. } = from;
    let (ty, whole) = (in_memory(elem), in_lanes(in_memory(elem), lanes));
    let mut read = "poison".to_owned();
    let mut insertion = String::new();
    for lane in 0..lanes {
        if lane > 0 {
            read = emitter.out.define(&insertion);
        }
        let pointer = emitter.out.define(&format!("extractelement <{lanes} x ptr> {pointers}, i64 {lane}"));
        let element = emitter.out.define(&format!("load {ty}, ptr {pointer}, align {}", elem.bytes()));
        insertion = format!("insertelement {whole} {read}, {ty} {element}, i64 {lane}");
    }
    insertion
}

fn write_one_by_one(emitter: &mut FunctionEmitter<'_>, to: Elements, value: &str) {
    let pointers = pointers_or(emitter, to, NOWHERE);
    let Elements { elem, lanes, .. } = to;
    let (ty, whole) = (in_memory(elem), in_lanes(in_memory(elem), lanes));
    for lane in 0..lanes {
        let pointer = emitter.out.define(&format!("extractelement <{lanes} x ptr> {pointers}, i64 {lane}"));
        let element = emitter.out.define(&format!("extractelement {whole} {value}, i64 {lane}"));
        emitter.out.line(&format!("store {ty} {element}, ptr {pointer}, align {}", elem.bytes()));
    }
}

// ---- by the machine

fn read_whole(emitter: &mut FunctionEmitter<'_>, Elements { place, elem, lanes, mask }: Elements) -> String {
    let mask = mask_or_all(emitter, mask, lanes);
    let pointers = lane_pointers(emitter, place);
    let (whole, all) = (in_lanes(in_memory(elem), lanes), format!("<{lanes} x ptr>"));
    let name = format!("@llvm.masked.gather.{}.v{lanes}p0", memory_form(elem, lanes));
    emitter.out.module.declare(&format!("declare {whole} {name}({all}, i32 immarg, <{lanes} x i1>, {whole})"));
    format!("call {whole} {name}({all} {pointers}, i32 {}, {mask}, {whole} zeroinitializer)", elem.bytes())
}

fn write_whole(emitter: &mut FunctionEmitter<'_>, Elements { place, elem, lanes, mask }: Elements, value: &str) {
    let mask = mask_or_all(emitter, mask, lanes);
    let pointers = lane_pointers(emitter, place);
    let (whole, all) = (in_lanes(in_memory(elem), lanes), format!("<{lanes} x ptr>"));
    let name = format!("@llvm.masked.scatter.{}.v{lanes}p0", memory_form(elem, lanes));
    emitter.out.module.declare(&format!("declare void {name}({whole}, {all}, i32 immarg, <{lanes} x i1>)"));
    emitter.out.line(&format!("call void {name}({whole} {value}, {all} {pointers}, i32 {}, {mask})", elem.bytes()));
}
