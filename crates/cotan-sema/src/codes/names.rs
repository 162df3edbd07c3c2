//! Codes about names and declarations.

use super::codes;

codes! {
    /// Codes about names and declarations.
    NAMES:
    UNKNOWN_NAME = "E0201", "unknown name",
"Every name is a parameter, a variable, a declaration of this file, an imported module, or part of
the prelude.

Mended:

fn f(weight: f64) -> f64 = weight",
"fn f(weight: f64) -> f64 = wieght";

    UNKNOWN_TYPE = "E0202", "unknown type",
"Types are `bool`, the integer types `i8` to `u64`, `f32`, `f64`, the structs and aliases of
this file, and the element type parameters of the declaration.

Mended:

fn f(x: f64) -> f64 = x",
"fn f(x: flaot) -> f64 = 1.0";

    UNKNOWN_FIELD = "E0203", "unknown field or part",
"Structs have the fields that they declare, tuples the parts `.0`, `.1` and so on.

Mended:

struct P { x: f64 }
fn f(p: P) -> f64 = p.x",
"struct P { x: f64 }
fn f(p: P) -> f64 = p.y";

    DUPLICATE_ITEM = "E0204", "two declarations of one name",
"Functions, structs and types share one set of names in a file.

Mended:

fn f(x: f64) -> f64 = x
fn g(x: f64) -> f64 = -x",
"fn f(x: f64) -> f64 = x
fn f(x: f64) -> f64 = -x";

    DUPLICATE_PARAMETER = "E0205", "name twice in one list",
"Parameters, generics, fields and the names of one pattern are different from each other.

Mended:

fn f(x: f64, y: f64) -> f64 = x",
"fn f(x: f64, x: f64) -> f64 = x";

    NOT_A_VALUE = "E0206", "type where a value is needed",
"Types and values are different things: a struct becomes a value with `{ ... }`, an element
type is used with `as`.

Mended:

struct P { x: f64 }
fn f() -> P = P { x: 1.0 }",
"struct P { x: f64 }
fn f() -> P = P";

    NOT_A_TYPE = "E0207", "something else where a type is needed",
"A size or a function is no type.

Mended:

fn f[N](x: f64[N]) -> f64 = +/ x",
"fn f[N](v: f64[N]) -> f64 {
  let x: N = +/ v
  x
}";

    UNKNOWN_ATTRIBUTE = "E0208", "unknown attribute",
"Functions may have `@grad`, `@value_and_grad` and `@jvp`, parameters `@nodiff`.

Mended:

@grad(x) fn df(x: f64) -> f64 = x * x",
"@grda(x) fn df(x: f64) -> f64 = x * x";

    UNKNOWN_BOUND = "E0209", "unknown trait",
"A parameter in brackets is a size (`N` or `N: nat`), or an element type with one of the traits
`Numeric`, `Float`, `Storage`, `Integer`, `Eq`, `Ord` and `Differentiable`.

Mended:

fn f[T: Float](x: T) -> T = x",
"fn f[T: Flaot](x: T) -> f64 = 1.0";

    TYPE_CYCLE = "E0210", "type that contains itself",
"Structs are stored by value, so a struct can't contain itself, and an alias stands for
something else. Refer to other elements by their index in a tensor.

Mended:

struct Node { value: f64, next: i64 }",
"struct Node { value: f64, next: Node }";

    UNKNOWN_SIZE = "E0211", "unknown size",
"The sizes in types are declared in brackets after the name of the function or struct, or are
integer parameters before them.

Mended:

fn f[N](x: f64[N]) -> f64 = +/ x",
"fn f(x: f64[N]) -> f64 = +/ x";
}
