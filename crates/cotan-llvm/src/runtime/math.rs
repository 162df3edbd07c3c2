//! Elementary functions for compiled code: those of the `libm` crate, so that compiled code and the
//! interpreter give the same bits on every machine.
//!
//! They have the names of the C library, with `f` at the end for `f32`, and the system's own C
//! library is never linked. Some are also what LLVM itself calls where a machine has no instruction
//! (`fma`, `fmod`, `floor`, ...), beside the three functions for memory.

use std::ffi::{c_int, c_void};

use crate::jit::HostSymbols;

/// Defines functions of `libm` under their own names; each is wrapped in one that has C's calling
/// convention.
macro_rules! define {
    ($symbols:ident, $parameters:tt -> $result:ty, $arguments:tt: $($name:ident)*) => {
        $({
            extern "C" fn $name $parameters -> $result {
                libm::$name $arguments
            }
            // SAFETY: the signature is the one of the C library's function of this name.
            unsafe { $symbols.define(stringify!($name), $name as *const ()) };
        })*
    };
}

/// Adds the elementary functions and the memory functions to `symbols`.
pub(super) fn define(symbols: &mut HostSymbols) {
    define!(symbols, (x: f64) -> f64, (x):
        exp exp2 expm1 log log2 log10 log1p sqrt cbrt
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        erf erfc tgamma lgamma floor ceil trunc round rint roundeven);
    define!(symbols, (x: f64, y: f64) -> f64, (x, y): pow atan2 hypot fmod copysign fmin fmax);
    define!(symbols, (x: f64, y: f64, z: f64) -> f64, (x, y, z): fma);
    define!(symbols, (x: f32) -> f32, (x):
        expf exp2f expm1f logf log2f log10f log1pf sqrtf cbrtf
        sinf cosf tanf asinf acosf atanf sinhf coshf tanhf asinhf acoshf atanhf
        erff erfcf tgammaf lgammaf floorf ceilf truncf roundf rintf roundevenf);
    define!(symbols, (x: f32, y: f32) -> f32, (x, y): powf atan2f hypotf fmodf copysignf fminf fmaxf);
    define!(symbols, (x: f32, y: f32, z: f32) -> f32, (x, y, z): fmaf);
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
