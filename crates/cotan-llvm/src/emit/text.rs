//! Names, types and constants as LLVM writes them.

use cotan_ir::{Const, Elem};

/// A global name in quotes.
pub(super) fn quoted(name: &str) -> String {
    let mut text = String::from("@\"");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => text += &format!("\\{byte:02X}"),
            0x20..=0x7e => text.push(byte.into()),
            _ => text += &format!("\\{byte:02X}"),
        }
    }
    text.push('"');
    text
}

/// The type of a value in a register. Storage types are their bits.
pub(super) fn register(elem: Elem) -> &'static str {
    match elem {
        Elem::Bool => "i1",
        Elem::I8 | Elem::U8 => "i8",
        Elem::I16 | Elem::U16 | Elem::F16 | Elem::BF16 => "i16",
        Elem::I32 | Elem::U32 => "i32",
        Elem::I64 | Elem::U64 => "i64",
        Elem::F32 => "float",
        Elem::F64 => "double",
    }
}

/// The type of a value with lanes.
pub(super) fn in_lanes(ty: &str, lanes: u32) -> String {
    if lanes == 1 { ty.to_owned() } else { format!("<{lanes} x {ty}>") }
}

/// A constant of a type in all lanes.
pub(super) fn in_all_lanes(ty: &str, value: &str, lanes: u32) -> String {
    if lanes == 1 { value.to_owned() } else { format!("splat ({ty} {value})") }
}

/// The type of a value in memory.
pub(super) fn in_memory(elem: Elem) -> &'static str {
    if elem == Elem::Bool { "i8" } else { register(elem) }
}

/// The suffix of intrinsics on values of the type.
pub(super) fn suffix(elem: Elem) -> &'static str {
    match elem {
        Elem::F32 => "f32",
        Elem::F64 => "f64",
        Elem::Bool
        | Elem::I8
        | Elem::I16
        | Elem::I32
        | Elem::I64
        | Elem::U8
        | Elem::U16
        | Elem::U32
        | Elem::U64
        | Elem::F16
        | Elem::BF16 => register(elem),
    }
}

/// A constant: floats by their bits.
pub(super) fn constant(c: Const) -> String {
    match c.elem() {
        Elem::Bool => (c.bits() != 0).to_string(),
        Elem::F64 => format!("0x{:016X}", c.bits()),
        Elem::F32 => format!("bitcast (i32 {} to float)", c.bits() as u32),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => (c.bits() as i64).to_string(),
        Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 | Elem::F16 | Elem::BF16 => c.bits().to_string(),
    }
}
