//! The functions that compiled code calls: for every primitive that has neither an instruction nor a formula for all of
//! its operands, one function per element type, named `cotan_<primitive>_<type>`. They are the kernels' own functions,
//! so compiled code and the interpreter give the same bits.

use crate::elementary;
use crate::gamma::Gamma;
use crate::num::Num;
use crate::scalar::check::powi_fits;
use crate::scalar::power::Power;
use crate::*;
use cotan_ir::Elem;

/// A function with the C calling convention.
#[derive(Clone, Copy, Debug)]
pub enum HostFn {
    /// Of one f64.
    F64x1(extern "C" fn(f64) -> f64),
    /// Of two f64.
    F64x2(extern "C" fn(f64, f64) -> f64),
    /// Of an f64 and a whole number.
    F64I64(extern "C" fn(f64, i64) -> f64),
    /// Of one f32.
    F32x1(extern "C" fn(f32) -> f32),
    /// Of two f32.
    F32x2(extern "C" fn(f32, f32) -> f32),
    /// Of an f32 and a whole number.
    F32I64(extern "C" fn(f32, i64) -> f32),
    /// Of two integers of any types, extended to 64 bits by their signs; so is the result, and a `bool` is 0 or 1.
    I64x2(extern "C" fn(i64, i64) -> i64),
}

/// A function that compiled code calls by its symbol.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// The primitive.
    pub row: &'static PrimRow,
    /// The type that `T` stands for.
    pub elem: Elem,
    /// The symbol.
    pub name: &'static str,
    /// The function.
    pub function: HostFn,
}

/// Functions of floats: a shape, then row, name and generic function of each.
macro_rules! on_floats {
    ($operands:tt $args:tt $single:ident $double:ident: $($row:ident $name:literal $f:path;)+) => {
        &[$(
            Host {
                row: &$row,
                elem: Elem::F32,
                name: concat!("cotan_", $name, "_f32"),
                function: HostFn::$single({
                    type T = f32;
                    extern "C" fn host $operands -> T {
                        $f $args
                    }
                    host
                }),
            },
            Host {
                row: &$row,
                elem: Elem::F64,
                name: concat!("cotan_", $name, "_f64"),
                function: HostFn::$double({
                    type T = f64;
                    extern "C" fn host $operands -> T {
                        $f $args
                    }
                    host
                }),
            },
        )+]
    };
}

/// Functions of an integer and a whole number, for each integer type.
macro_rules! on_integers {
    ($row:ident $name:literal $f:path: $($t:ident $elem:ident)+) => {
        &[$(Host {
            row: &$row,
            elem: Elem::$elem,
            name: concat!("cotan_", $name, "_", stringify!($t)),
            function: HostFn::I64x2({
                extern "C" fn host(x: i64, y: i64) -> i64 {
                    Scalar::to_bits($f(x as $t, y)) as i64
                }
                host
            }),
        }),+]
    };
}

static UNARY: &[Host] = on_floats! {
    (x: T) (x) F32x1 F64x1:
    SIN "sin" elementary::sin;
    COS "cos" elementary::cos;
    TAN "tan" elementary::tan;
    LGAMMA "lgamma" elementary::lgamma;
    DIGAMMA "digamma" Gamma::digamma;
};

static BINARY: &[Host] = on_floats! {
    (x: T, y: T) (x, y) F32x2 F64x2:
    REM "rem" Num::rem;
};

static WITH_WHOLE: &[Host] = on_floats! {
    (x: T, n: i64) (x, n) F32I64 F64I64:
    POWI "powi" Power::powi;
    POLYGAMMA "polygamma" Gamma::polygamma;
};

static POWERS: &[Host] =
    on_integers!(POWI "powi" Power::powi: i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32 u64 U64);

static POWER_CHECKS: &[Host] =
    on_integers!(POWI_FITS "powi_fits" powi_fits: i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32 u64 U64);

/// Every host function.
pub fn host_functions() -> impl Iterator<Item = &'static Host> {
    [UNARY, BINARY, WITH_WHOLE, POWERS, POWER_CHECKS].into_iter().flatten()
}

/// The host function of a primitive for a type.
pub fn host_function(row: &PrimRow, elem: Elem) -> Option<&'static Host> {
    host_functions().find(|host| std::ptr::eq(host.row, row) && host.elem == elem)
}
