//! Codes about modules.

use super::codes;

codes! {
    /// Codes about modules.
    MODULES:
    MODULE_NOT_FOUND = "E0220", "module that is not there",
"`import ./layers` is the file `layers.cot` beside the importing file, `import ../shared/layers` one
in another folder, `import std.nn` a module of the standard library.

Mended:

import std.complex
fn f(x: f64) -> f64 = complex.modulus(complex.of(x, 0.0))",
"import std.complx
fn f(x: f64) -> f64 = x";

    MODULE_CYCLE = "E0221", "module that imports itself",
"Modules are read in an order in which each comes after those that it imports; so none may import
itself, directly or by way of others. Move what both sides need into a module of its own.

Mended:

import std.complex
fn f(x: f64) -> f64 = complex.modulus(complex.of(x, 0.0))",
"import ./main
fn f(x: f64) -> f64 = x";

    PRIVATE_ITEM = "E0222", "declaration that belongs to another module alone",
"Other modules see the declarations that are marked `pub`, and no others.

Mended:

import std.linalg
fn f[N](a: f64[N, N]) -> f64[N, N] = linalg.symmetric(a)",
"import std.linalg
fn f[N](a: f64[N, N]) -> f64[N, N] = linalg.upper(a)";

    UNKNOWN_ITEM = "E0223", "unknown declaration of a module",
"After the name of a module and a dot stands one of its declarations.

Mended:

import std.complex
fn f(x: f64) -> f64 = complex.modulus(complex.of(x, 0.0))",
"import std.complex
fn f(x: f64) -> f64 = complex.absolute(complex.of(x, 0.0))";
}
