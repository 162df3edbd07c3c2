//! Elementary functions for compiled code: those of the `libm` crate, so that compiled code and the
//! interpreter give the same bits on every machine. The system's own C library is never linked.
//!
//! An elementary function is called `cotan_` and its name in `libm`, which ends in `f` for `f32`.
//! Under its bare name LLVM would take it for the C library's: it would fold calls with constant
//! arguments by calling the machine's own, and turn `pow(x, 2)` into a product, with other bits.

use std::ffi::{c_int, c_void};

use crate::jit::HostSymbols;

/// Defines functions of `libm` under their names behind a prefix; each is wrapped in one that has C's
/// calling convention.
macro_rules! define {
    ($symbols:ident, $prefix:literal, $parameters:tt -> $result:ty, $arguments:tt: $($name:ident)*) => {
        $({
            extern "C" fn $name $parameters -> $result {
                libm::$name $arguments
            }
            // SAFETY: the signature is the one of the C library's function of this name.
            unsafe { $symbols.define(concat!($prefix, stringify!($name)), $name as *const ()) };
        })*
    };
}

/// Adds to `symbols` the elementary functions, and what LLVM itself calls.
pub(super) fn define(symbols: &mut HostSymbols) {
    define_elementary(symbols);
    define_library_calls(symbols);
}

fn define_elementary(symbols: &mut HostSymbols) {
    define!(symbols, "cotan_", (x: f64) -> f64, (x):
        exp exp2 expm1 log log2 log10 log1p cbrt
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        erf erfc tgamma lgamma);
    define!(symbols, "cotan_", (x: f64, y: f64) -> f64, (x, y): pow atan2 hypot);
    define!(symbols, "cotan_", (x: f32) -> f32, (x):
        expf exp2f expm1f logf log2f log10f log1pf cbrtf
        sinf cosf tanf asinf acosf atanf sinhf coshf tanhf asinhf acoshf atanhf
        erff erfcf tgammaf lgammaf);
    define!(symbols, "cotan_", (x: f32, y: f32) -> f32, (x, y): powf atan2f hypotf);
}

/// What LLVM calls where the machine has no instruction for an operation of the IR. These are exact,
/// so that it does not matter who computes them, and have to have the names of the C library.
fn define_library_calls(symbols: &mut HostSymbols) {
    define!(symbols, "", (x: f64) -> f64, (x): floor ceil trunc round rint roundeven);
    define!(symbols, "", (x: f64, y: f64) -> f64, (x, y): fmod);
    define!(symbols, "", (x: f64, y: f64, z: f64) -> f64, (x, y, z): fma);
    define!(symbols, "", (x: f32) -> f32, (x): floorf ceilf truncf roundf rintf roundevenf);
    define!(symbols, "", (x: f32, y: f32) -> f32, (x, y): fmodf);
    define!(symbols, "", (x: f32, y: f32, z: f32) -> f32, (x, y, z): fmaf);
    // SAFETY: these are the C functions themselves.
    unsafe {
        symbols.define("memcpy", memcpy as *const ());
        symbols.define("memmove", memmove as *const ());
        symbols.define("memset", memset as *const ());
    }
}

unsafe extern "C" {
    fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void;
}
