//! Conversions of the storage types, in integer instructions: not every machine has others, and the functions that LLVM
//! would call instead are not there. Step by step the same as [`Storage`] in the IR, so the bits are the same.

use super::text::register;
use super::writer::FunctionWriter;
use cotan_ir::{Elem, Storage};

impl FunctionWriter<'_> {
    /// A number of a storage type as an f32, exactly.
    pub(super) fn widen(&mut self, storage: Storage, a: &str) -> String {
        let bits = self.define(&format!("zext i16 {a} to i32"));
        if storage == Storage::BF16 {
            let upper = self.define(&format!("shl i32 {bits}, 16"));
            return self.define(&format!("bitcast i32 {upper} to float"));
        }
        let sign = self.define(&format!("and i32 {bits}, 32768"));
        let sign = self.define(&format!("shl i32 {sign}, 16"));
        let magnitude = self.define(&format!("and i32 {bits}, 32767"));
        let magnitude = self.define(&format!("shl i32 {magnitude}, 13"));
        let exponent = self.define(&format!("and i32 {bits}, 31744"));
        let is_special = self.define(&format!("icmp eq i32 {exponent}, 31744"));
        let special = self.define(&format!("or i32 {magnitude}, {}", 0x7f80_0000));
        // The exponent is 112 too small; the product moves it, and normalises what is subnormal.
        let small = self.define(&format!("bitcast i32 {magnitude} to float"));
        let factor = format!("bitcast (i32 {} to float)", (127 + 112) << 23);
        let moved = self.define(&format!("fmul float {small}, {factor}"));
        let moved = self.define(&format!("bitcast float {moved} to i32"));
        let wide = self.define(&format!("select i1 {is_special}, i32 {special}, i32 {moved}"));
        let signed = self.define(&format!("or i32 {wide}, {sign}"));
        self.define(&format!("bitcast i32 {signed} to float"))
    }

    /// A number of type `from`, which is no storage type, as the nearest one of a storage type.
    pub(super) fn narrow(&mut self, storage: Storage, from: Elem, a: &str) -> String {
        let single = match from {
            Elem::F32 => a.to_owned(),
            Elem::F64 => rounded_to_odd(self, a),
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
            | Elem::BF16 => {
                let double = integer_rounded_to_odd(self, from, a);
                rounded_to_odd(self, &double)
            }
        };
        let bits = self.define(&format!("bitcast float {single} to i32"));
        let sign = self.define(&format!("lshr i32 {bits}, 16"));
        let sign = self.define(&format!("and i32 {sign}, 32768"));
        let magnitude = self.define(&format!("and i32 {bits}, {}", 0x7fff_ffff));
        let is_nan = self.define(&format!("icmp ugt i32 {magnitude}, {}", 0x7f80_0000));
        let (rounded, nan) = match storage {
            Storage::BF16 => (round_off(self, &magnitude, 0, 16), 0x7fc0),
            Storage::F16 => (narrow_half(self, &magnitude), 0x7e00),
        };
        let rounded = self.define(&format!("select i1 {is_nan}, i32 {nan}, i32 {rounded}"));
        let signed = self.define(&format!("or i32 {rounded}, {sign}"));
        self.define(&format!("trunc i32 {signed} to i16"))
    }
}

/// The bits of a magnitude without so many of its last ones, rounded to even; `bias` is taken off before.
fn round_off(out: &mut FunctionWriter<'_>, magnitude: &str, bias: u32, n_bits: u32) -> String {
    let odd = out.define(&format!("lshr i32 {magnitude}, {n_bits}"));
    let odd = out.define(&format!("and i32 {odd}, 1"));
    let half = (1u32 << (n_bits - 1)).wrapping_sub(1).wrapping_sub(bias) as i32;
    let sum = out.define(&format!("add i32 {magnitude}, {half}"));
    let sum = out.define(&format!("add i32 {sum}, {odd}"));
    out.define(&format!("lshr i32 {sum}, {n_bits}"))
}

/// The magnitude of an f32 as that of a half.
fn narrow_half(out: &mut FunctionWriter<'_>, magnitude: &str) -> String {
    let normal = round_off(out, magnitude, 112 << 23, 13);
    // Below the least normal number the sum with 1/2 has the spacing of the subnormal ones, so it rounds.
    let small = out.define(&format!("bitcast i32 {magnitude} to float"));
    let half = 0.5f32.to_bits();
    let sum = out.define(&format!("fadd float {small}, bitcast (i32 {half} to float)"));
    let sum = out.define(&format!("bitcast float {sum} to i32"));
    let subnormal = out.define(&format!("sub i32 {sum}, {half}"));
    let is_subnormal = out.define(&format!("icmp ult i32 {magnitude}, {}", 0x3880_0000));
    let rounded = out.define(&format!("select i1 {is_subnormal}, i32 {subnormal}, i32 {normal}"));
    let is_large = out.define(&format!("icmp uge i32 {magnitude}, {}", 0x4780_0000));
    out.define(&format!("select i1 {is_large}, i32 31744, i32 {rounded}"))
}

/// The f32 that an f64 is, or of its two neighbours the one with an odd last bit.
fn rounded_to_odd(out: &mut FunctionWriter<'_>, a: &str) -> String {
    let nearest = out.define(&format!("fptrunc double {a} to float"));
    let back = out.define(&format!("fpext float {nearest} to double"));
    let differs = out.define(&format!("fcmp one double {back}, {a}"));
    out.module.declare("declare double @llvm.fabs.f64(double)");
    let found = out.define(&format!("call double @llvm.fabs.f64(double {back})"));
    let wanted = out.define(&format!("call double @llvm.fabs.f64(double {a})"));
    let is_beyond = out.define(&format!("fcmp ogt double {found}, {wanted}"));
    let bits = out.define(&format!("bitcast float {nearest} to i32"));
    let step = out.define(&format!("zext i1 {is_beyond} to i32"));
    let inner = out.define(&format!("sub i32 {bits}, {step}"));
    let odd = out.define(&format!("or i32 {inner}, 1"));
    let chosen = out.define(&format!("select i1 {differs}, i32 {odd}, i32 {bits}"));
    out.define(&format!("bitcast i32 {chosen} to float"))
}

/// The f64 that an integer is, or one beyond 2^53 that lies on the same side of all numbers of 16 bits.
fn integer_rounded_to_odd(out: &mut FunctionWriter<'_>, from: Elem, a: &str) -> String {
    let ty = register(from);
    let sign = if from.is_signed() { "s" } else { "u" };
    if from == Elem::Bool || from.bytes() < 8 {
        return out.define(&format!("{sign}itofp {ty} {a} to double"));
    }
    let low = out.define(&format!("and i64 {a}, 4095"));
    let cut = out.define(&format!("sub i64 {a}, {low}"));
    let odd = out.define(&format!("or i64 {cut}, 2048"));
    let magnitude = match from.is_signed() {
        true => {
            out.module.declare("declare i64 @llvm.abs.i64(i64, i1)");
            out.define(&format!("call i64 @llvm.abs.i64(i64 {a}, i1 false)"))
        }
        false => a.to_owned(),
    };
    let is_small = out.define(&format!("icmp ult i64 {magnitude}, {}", 1i64 << 53));
    let is_round = out.define(&format!("icmp eq i64 {low}, 0"));
    let is_exact = out.define(&format!("or i1 {is_small}, {is_round}"));
    let chosen = out.define(&format!("select i1 {is_exact}, i64 {a}, i64 {odd}"));
    out.define(&format!("{sign}itofp i64 {chosen} to double"))
}
