//! Calls of the host's functions for primitives without an instruction.
//!
//! The elementary functions of floats are called directly. Any other primitive is called through its evaluator, so that
//! every row of the op table can be compiled, and to the same bits.

use super::function::FunctionEmitter;
use super::text::{in_lanes, register};
use super::writer::FunctionWriter;
use cotan_ir::{Elem, Prim};
use cotan_loops::{Local, Operand};
use cotan_ops::row;
use cotan_runtime::{elementary_symbol, evaluator_symbol};

impl FunctionEmitter<'_> {
    /// Defines `to` as the value of a primitive at `elem` for its `T`, lane by lane.
    pub(super) fn host_call(&mut self, to: Local, prim: Prim, elem: Elem, args: &[Operand]) {
        let info = &self.f.locals[to.index()];
        let (name, result, lanes) = (format!("%l{}", to.0), info.elem, info.lanes);
        if lanes == 1 {
            let args: Vec<(Elem, String)> = args.iter().map(|a| (self.f.operand_elem(*a), self.operand(*a))).collect();
            return host_scalar(&mut self.out, &name, result, prim, elem, &args);
        }
        let ty = in_lanes(register(result), lanes);
        let mut whole = String::from("poison");
        for lane in 0..lanes {
            let mut of_lane = Vec::new();
            for arg in args {
                let value = match self.f.lanes(*arg) {
                    1 => self.operand(*arg),
                    _ => {
                        let typed = self.typed(*arg);
                        self.out.define(&format!("extractelement {typed}, i64 {lane}"))
                    }
                };
                of_lane.push((self.f.operand_elem(*arg), value));
            }
            let value = self.out.temporary();
            host_scalar(&mut self.out, &value, result, prim, elem, &of_lane);
            let next = if lane + 1 == lanes { name.clone() } else { self.out.temporary() };
            self.out.line(&format!("{next} = insertelement {ty} {whole}, {} {value}, i64 {lane}", register(result)));
            whole = next;
        }
    }
}

fn host_scalar(out: &mut FunctionWriter<'_>, to: &str, result: Elem, prim: Prim, elem: Elem, args: &[(Elem, String)]) {
    let row = row(prim);
    match elementary_symbol(row, elem) {
        Some(name) => {
            let ty = register(elem);
            let types = vec![ty; args.len()].join(", ");
            out.module.declare(&format!("declare {ty} @{name}({types}) nounwind willreturn memory(none)"));
            let args: Vec<String> = args.iter().map(|(elem, a)| format!("{} {a}", register(*elem))).collect();
            out.line(&format!("{to} = call {ty} @{name}({})", args.join(", ")));
        }
        None => kernel_call(out, to, result, &evaluator_symbol(row.name(), elem), args),
    }
}

fn kernel_call(out: &mut FunctionWriter<'_>, to: &str, result: Elem, kernel: &str, args: &[(Elem, String)]) {
    out.module.declare("declare i64 @cotan_kernel(ptr, ptr, i64)");
    out.module.declare(&format!("@{kernel} = external constant i8"));
    let cells = format!("%kernel{}", out.temporary().trim_start_matches('%'));
    out.slot(&cells, &format!("[{} x i64]", args.len().max(1)));
    for (k, (elem, value)) in args.iter().enumerate() {
        let bits = bits_of(out, *elem, value);
        let cell = out.field(&cells, 8 * k);
        out.line(&format!("store i64 {bits}, ptr {cell}"));
    }
    let n = args.len();
    let bits = out.define(&format!("call i64 @cotan_kernel(ptr @{kernel}, ptr {cells}, i64 {n})"));
    define_of_bits(out, to, result, &bits);
}

/// The bits of a value as evaluators take them.
fn bits_of(out: &mut FunctionWriter<'_>, elem: Elem, value: &str) -> String {
    let ty = register(elem);
    match elem {
        Elem::I64 | Elem::U64 => value.to_owned(),
        Elem::F64 => out.define(&format!("bitcast double {value} to i64")),
        Elem::F32 => {
            let bits = out.define(&format!("bitcast float {value} to i32"));
            out.define(&format!("zext i32 {bits} to i64"))
        }
        Elem::I8 | Elem::I16 | Elem::I32 => out.define(&format!("sext {ty} {value} to i64")),
        Elem::Bool | Elem::U8 | Elem::U16 | Elem::U32 | Elem::F16 | Elem::BF16 => {
            out.define(&format!("zext {ty} {value} to i64"))
        }
    }
}

fn define_of_bits(out: &mut FunctionWriter<'_>, to: &str, elem: Elem, bits: &str) {
    match elem {
        Elem::I64 | Elem::U64 => out.line(&format!("{to} = bitcast i64 {bits} to i64")),
        Elem::F64 => out.line(&format!("{to} = bitcast i64 {bits} to double")),
        Elem::F32 => {
            let low = out.define(&format!("trunc i64 {bits} to i32"));
            out.line(&format!("{to} = bitcast i32 {low} to float"));
        }
        Elem::Bool => out.line(&format!("{to} = icmp ne i64 {bits}, 0")),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::F16 | Elem::BF16 => {
            out.line(&format!("{to} = trunc i64 {bits} to {}", register(elem)));
        }
    }
}
