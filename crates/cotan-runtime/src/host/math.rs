//! Functions of floats for compiled code: what the op table leaves to the host, and what LLVM calls of its own accord.
//! The system's own C library is never linked.
//!
//! A function of the op table is called `cotan_` and the name of its row, with an `f` at the end for `f32`. Under a bare
//! name LLVM would take it for the C library's: it would fold calls with constant arguments by calling the machine's own,
//! and turn `pow(x, 2)` into a product, with other bits.

use crate::abi::HostSymbols;
use cotan_ir::Elem;
use cotan_ops::{HostFn, PrimRow, host_functions};
use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// Defines functions of `libm` under their names; each is wrapped in one that has C's
/// calling convention.
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

/// Adds to `symbols` the elementary functions, and what LLVM itself calls.
pub(super) fn define(symbols: &mut HostSymbols) {
    define_elementary(symbols);
    define_library_calls(symbols);
}

fn define_elementary(symbols: &mut HostSymbols) {
    for (name, address) in elementary() {
        // SAFETY: the function takes and gives numbers of its type alone, as emitted code declares it.
        unsafe { symbols.define(name, address) };
    }
}

/// Functions of floats alone, under their names.
fn elementary() -> impl Iterator<Item = (String, *const ())> {
    host_functions().filter_map(|host| {
        let address = match host.function {
            HostFn::F64x1(f) => f as *const (),
            HostFn::F64x2(f) => f as *const (),
            HostFn::F32x1(f) => f as *const (),
            HostFn::F32x2(f) => f as *const (),
            HostFn::F64I64(_) | HostFn::F32I64(_) | HostFn::I64x2(_) => return None,
        };
        Some((elementary_name(host.row, host.elem), address))
    })
}

fn elementary_name(row: &PrimRow, elem: Elem) -> String {
    let ending = if elem == Elem::F32 { "f" } else { "" };
    format!("cotan_{}{ending}", row.name())
}

/// The symbol of an elementary function of floats, if the host has it.
#[must_use]
pub fn elementary_symbol(row: &PrimRow, elem: Elem) -> Option<String> {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| elementary().map(|(name, _)| name).collect());
    let is_register = matches!(elem, Elem::F32 | Elem::F64);
    Some(elementary_name(row, elem)).filter(|name| is_register && names.contains(name))
}

/// What LLVM calls where the machine has no instruction for an operation of the IR. These are exact,
/// so that it does not matter who computes them, and have to have the names of the C library.
fn define_library_calls(symbols: &mut HostSymbols) {
    define!(symbols, (x: f64) -> f64, (x): floor ceil trunc round rint roundeven);
    define!(symbols, (x: f64, y: f64) -> f64, (x, y): fmod);
    define!(symbols, (x: f64, y: f64, z: f64) -> f64, (x, y, z): fma);
    define!(symbols, (x: f32) -> f32, (x): floorf ceilf truncf roundf rintf roundevenf);
    define!(symbols, (x: f32, y: f32) -> f32, (x, y): fmodf);
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
