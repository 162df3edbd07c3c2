//! Values with lanes: how scalars spread over them, how lanes are read, written, and combined.

use super::function::FunctionEmitter;
use super::gather::Elements;
use super::instruction::Form;
use super::text::{constant, in_all_lanes, in_lanes, in_memory, register};
use cotan_ir::{Elem, Monoid, bug};
use cotan_loops::node::{Buffer, Expr, Local, Operand, Place, Target, combining};
use cotan_runtime::abi::layout;

impl FunctionEmitter<'_> {
    pub(super) fn form(&self, operand: Operand) -> Form {
        Form { elem: self.f.operand_elem(operand), lanes: self.f.lanes(operand) }
    }

    /// An operand as a value of so many lanes.
    pub(super) fn spread(&mut self, operand: Operand, lanes: u32) -> String {
        let elem = register(self.f.operand_elem(operand));
        match operand {
            Operand::Const(c) => in_all_lanes(elem, &constant(c), lanes),
            Operand::Local(_) if self.f.lanes(operand) == lanes => self.operand(operand),
            Operand::Local(_) => {
                let ty = in_lanes(elem, lanes);
                let scalar = self.operand(operand);
                let first = self.out.define(&format!("insertelement {ty} poison, {elem} {scalar}, i64 0"));
                self.out.define(&format!("shufflevector {ty} {first}, {ty} poison, <{lanes} x i32> zeroinitializer"))
            }
        }
    }

    /// With its type.
    pub(super) fn typed_spread(&mut self, operand: Operand, lanes: u32) -> String {
        let ty = in_lanes(register(self.f.operand_elem(operand)), lanes);
        format!("{ty} {}", self.spread(operand, lanes))
    }

    /// Defines a local by an expression that is about lanes.
    pub(super) fn lane_definition(&mut self, to: Local, expr: &Expr) {
        let name = format!("%l{}", to.0);
        let lanes = self.f.locals[to.index()].lanes;
        match expr {
            Expr::Iota(first) => {
                let numbers: Vec<String> = (0..lanes).map(|k| format!("i64 {k}")).collect();
                let first = self.typed_spread(*first, lanes);
                self.out.line(&format!("{name} = add {first}, <{}>", numbers.join(", ")));
            }
            Expr::Any(mask) => {
                let mask = mask_bits(self, *mask);
                self.out.line(&format!("{name} = icmp ne {mask}, 0"));
            }
            Expr::First(mask) => {
                let bits = mask_bits(self, *mask);
                let ty = format!("i{}", self.f.lanes(*mask));
                self.out.module.declare(&format!("declare {ty} @llvm.cttz.{ty}({ty}, i1)"));
                let count = self.out.define(&format!("call {ty} @llvm.cttz.{ty}({bits}, i1 false)"));
                let to_i64 = if ty == "i64" { "bitcast" } else { "zext" };
                self.out.line(&format!("{name} = {to_i64} {ty} {count} to i64"));
            }
            Expr::Fold(monoid, value) => fold(self, &name, *monoid, *value),
            Expr::Lane([value, number]) => {
                let (value, number) = (self.typed(*value), self.typed(*number));
                self.out.line(&format!("{name} = extractelement {value}, {number}"));
            }
            Expr::Copy(_) | Expr::Native { .. } | Expr::Host { .. } => {
                bug!(
                    "emission of LLVM IR",
                    format_args!("{expr:?}"),
                    "an expression on values is taken for one about lanes"
                )
            }
        }
    }

    // ---- memory

    pub(super) fn load_lanes(&mut self, to: Local, from: Place, mask: Option<Operand>) {
        let info = &self.f.locals[to.index()];
        let (elem, lanes) = (info.elem, info.lanes);
        let memory = in_memory(elem);
        let ty = in_lanes(memory, lanes);
        let form = memory_form(elem, lanes);
        let align = elem.bytes();
        let value = match mask {
            _ if self.f.lanes(from.offset) > 1 => self.gather(Elements { place: from, elem, lanes, mask }),
            None => {
                let address = self.address(from);
                format!("load {ty}, ptr {address}, align {align}")
            }
            Some(mask) => {
                let mask = self.typed_spread(mask, lanes);
                let address = self.address(from);
                let name = format!("@llvm.masked.load.{form}.p0");
                self.out.module.declare(&format!("declare {ty} {name}(ptr, i32 immarg, <{lanes} x i1>, {ty})"));
                format!("call {ty} {name}(ptr {address}, i32 {align}, {mask}, {ty} zeroinitializer)")
            }
        };
        if elem == Elem::Bool {
            let bytes = self.out.define(&value);
            return self.out.line(&format!("%l{} = icmp ne {ty} {bytes}, zeroinitializer", to.0));
        }
        self.out.line(&format!("%l{} = {value}", to.0));
    }

    pub(super) fn store_lanes(&mut self, to: Place, value: Operand, mask: Option<Operand>) {
        let elem = self.f.operand_elem(value);
        let offset_lanes = self.f.lanes(to.offset);
        let operands = [Some(to.offset), Some(value), mask];
        let most = operands.into_iter().flatten().map(|operand| self.f.lanes(operand)).max();
        let lanes = most.filter(|lanes| *lanes > 1).unwrap_or(self.lanes);
        let ty = in_lanes(in_memory(elem), lanes);
        let align = elem.bytes();
        let mut value = self.spread(value, lanes);
        if elem == Elem::Bool {
            value = self.out.define(&format!("zext <{lanes} x i1> {value} to {ty}"));
        }
        if offset_lanes > 1 {
            return self.scatter(Elements { place: to, elem, lanes, mask }, &value);
        }
        let address = self.address(to);
        let Some(mask) = mask else {
            return self.out.line(&format!("store {ty} {value}, ptr {address}, align {align}"));
        };
        let mask = self.typed_spread(mask, lanes);
        let name = format!("@llvm.masked.store.{}.p0", memory_form(elem, lanes));
        self.out.module.declare(&format!("declare void {name}({ty}, ptr, i32 immarg, <{lanes} x i1>)"));
        self.out.line(&format!("call void {name}({ty} {value}, ptr {address}, i32 {align}, {mask})"));
    }

    /// Tells the caller if a value that was stored is NaN, and its buffer is watched.
    pub(super) fn watch(&mut self, buffer: Buffer, value: Operand, mask: Option<Operand>) {
        if !self.f.watched.contains(&buffer) {
            return;
        }
        let lanes = self.f.lanes(value).max(mask.map_or(1, |mask| self.f.lanes(mask)));
        let ty = in_lanes(register(self.f.operand_elem(value)), lanes);
        let value = self.spread(value, lanes);
        let mut is_nan = self.out.define(&format!("fcmp uno {ty} {value}, {value}"));
        let bit = in_lanes("i1", lanes);
        if let Some(mask) = mask {
            let mask = self.spread(mask, lanes);
            is_nan = self.out.define(&format!("and {bit} {is_nan}, {mask}"));
        }
        if lanes > 1 {
            let bits = self.out.define(&format!("bitcast {bit} {is_nan} to i{lanes}"));
            is_nan = self.out.define(&format!("icmp ne i{lanes} {bits}, 0"));
        }
        let (found, next) = (self.out.new_label(), self.out.new_label());
        self.out.branch(&is_nan, &found, &next);
        self.out.begin(&found);
        let field = self.out.field("%ctx", layout::CTX_SAW_NAN);
        let flag = self.out.define(&format!("load ptr, ptr {field}"));
        // Other threads may do so at the same time.
        self.out.line(&format!("store atomic i8 1, ptr {flag} monotonic, align 1"));
        self.out.jump(&next);
        self.out.begin(&next);
    }

    // ---- accumulators

    pub(super) fn combine(&mut self, monoid: Monoid, target: Target, value: Operand) {
        let form = self.form(value);
        let (old, new) = (self.out.temporary(), self.out.temporary());
        let value = self.operand(value);
        match target {
            Target::Element(place) => {
                let address = self.address(place);
                self.out.load_from(&old, form.elem, &address);
                self.out.native(&new, combining(monoid), form, &[old, value]);
                self.out.store_value(&new, form.elem, &address);
            }
            Target::Local(local) => {
                let ty = form.ty();
                self.out.line(&format!("{old} = load {ty}, ptr %m{}", local.0));
                self.out.native(&new, combining(monoid), form, &[old, value]);
                self.out.line(&format!("store {ty} {new}, ptr %m{}", local.0));
            }
        }
    }
}

/// A mask as an integer with its type; the first lane is the lowest bit.
fn mask_bits(emitter: &mut FunctionEmitter<'_>, mask: Operand) -> String {
    let lanes = emitter.f.lanes(mask);
    let mask = emitter.typed(mask);
    let bits = emitter.out.define(&format!("bitcast {mask} to i{lanes}"));
    format!("i{lanes} {bits}")
}

/// Halves are combined until one lane is left.
fn fold(emitter: &mut FunctionEmitter<'_>, name: &str, monoid: Monoid, value: Operand) {
    let Form { elem, mut lanes } = emitter.form(value);
    let mut whole = emitter.operand(value);
    while lanes > 1 {
        let ty = in_lanes(register(elem), lanes);
        let half = lanes / 2;
        let mut part = |from: u32| {
            if half == 1 {
                return emitter.out.define(&format!("extractelement {ty} {whole}, i64 {from}"));
            }
            let numbers: Vec<String> = (from..from + half).map(|k| format!("i32 {k}")).collect();
            let numbers = numbers.join(", ");
            emitter.out.define(&format!("shufflevector {ty} {whole}, {ty} poison, <{half} x i32> <{numbers}>"))
        };
        let (low, high) = (part(0), part(half));
        let form = Form { elem, lanes: half };
        let sum = emitter.out.temporary();
        emitter.out.native(&sum, combining(monoid), form, &[low, high]);
        whole = sum;
        lanes = half;
    }
    let ty = register(elem);
    emitter.out.line(&format!("{name} = bitcast {ty} {whole} to {ty}"));
}

pub(super) fn memory_form(elem: Elem, lanes: u32) -> String {
    if elem == Elem::Bool { format!("v{lanes}i8") } else { Form { elem, lanes }.suffix() }
}

pub(super) fn mask_or_all(emitter: &mut FunctionEmitter<'_>, mask: Option<Operand>, lanes: u32) -> String {
    match mask {
        None => format!("<{lanes} x i1> splat (i1 true)"),
        Some(mask) => emitter.typed_spread(mask, lanes),
    }
}

/// The addresses of elements that lie apart.
pub(super) fn lane_pointers(emitter: &mut FunctionEmitter<'_>, place: Place) -> String {
    let base = emitter.base(place.buffer);
    let ty = in_memory(emitter.f.buffers[place.buffer.index()].elem);
    let offsets = emitter.typed(place.offset);
    emitter.out.define(&format!("getelementptr inbounds {ty}, ptr {base}, {offsets}"))
}
