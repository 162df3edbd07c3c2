//! Codes about type parameters, traits and shape packs.

use super::codes;

codes! {
    /// Codes about type parameters, traits and shape packs.
    TRAITS:
    UNDECIDED_GENERIC = "E0360", "type parameter that nothing decides",
"The type that a parameter stands for is found from the arguments of the call, or given in
brackets.

Mended:

trait Area { fn area(s: Self) -> f64 }
impl Area for f64 { fn area(s: f64) -> f64 = s * s }
fn count[T: Area](n: i64) -> i64 = n
fn f() -> i64 = count[f64](3)",
"trait Area { fn area(s: Self) -> f64 }
impl Area for f64 { fn area(s: f64) -> f64 = s * s }
fn count[T: Area](n: i64) -> i64 = n
fn f() -> i64 = count(3)";

    LACKS_TRAIT = "E0361", "type without the trait that is asked for",
"A type has a trait if there is an `impl` of the trait for it. A type parameter has the traits
that its bounds name. Sizes in the type of an `impl` must be known to be equal.

Mended:

trait Area { fn area(s: Self) -> f64 }
struct Square { side: f64 }
impl Area for Square { fn area(s: Self) -> f64 = s.side * s.side }
fn f(s: Square) -> f64 = s.area()",
"trait Area { fn area(s: Self) -> f64 }
struct Square { side: f64 }
fn f(s: Square) -> f64 = s.area()";

    AMBIGUOUS_METHOD = "E0362", "function that several traits have",
"Where two traits of a type have a function of one name, the call says which trait is meant.

Mended:

trait Area { fn size(s: Self) -> f64 }
trait Count { fn size(s: Self) -> f64 }
impl Area for f64 { fn size(s: f64) -> f64 = s * s }
impl Count for f64 { fn size(s: f64) -> f64 = 1.0 }
fn f(x: f64) -> f64 = Area.size(x)",
"trait Area { fn size(s: Self) -> f64 }
trait Count { fn size(s: Self) -> f64 }
impl Area for f64 { fn size(s: f64) -> f64 = s * s }
impl Count for f64 { fn size(s: f64) -> f64 = 1.0 }
fn f(x: f64) -> f64 = x.size()";

    OVERLAPPING_IMPLS = "E0363", "two impls for one type",
"A type gets the functions of a trait from one `impl`. Impls are told apart by the structure of
their types and by element types; sizes don't count, nor does how often a parameter stands in a
type.

Mended:

trait Area { fn area(s: Self) -> f64 }
impl[N] Area for f64[N] { fn area(s: f64[N]) -> f64 = +/ s }",
"trait Area { fn area(s: Self) -> f64 }
impl[N] Area for f64[N] { fn area(s: f64[N]) -> f64 = +/ s }
impl Area for f64[3] { fn area(s: f64[3]) -> f64 = s[0] }";

    MISSING_METHOD = "E0364", "impl that lacks a function of its trait",
"An `impl` gives every function that the trait asks for.

Mended:

trait Shape { fn area(s: Self) -> f64, fn edge(s: Self) -> f64 }
impl Shape for f64 { fn area(s: f64) -> f64 = s * s, fn edge(s: f64) -> f64 = 4.0 * s }",
"trait Shape { fn area(s: Self) -> f64, fn edge(s: Self) -> f64 }
impl Shape for f64 { fn area(s: f64) -> f64 = s * s }";

    EXTRA_METHOD = "E0365", "function that the trait does not ask for",
"An `impl` holds the functions of its trait and no others.

Mended:

trait Area { fn area(s: Self) -> f64 }
impl Area for f64 { fn area(s: f64) -> f64 = s * s }
fn edge(s: f64) -> f64 = 4.0 * s",
"trait Area { fn area(s: Self) -> f64 }
impl Area for f64 { fn area(s: f64) -> f64 = s * s, fn edge(s: f64) -> f64 = 4.0 * s }";

    METHOD_SIGNATURE = "E0366", "function that differs from what the trait asks for",
"The functions of an `impl` have the parameters and results of the trait, with the type of the
`impl` in place of `Self`.

Mended:

trait Area { fn area(s: Self) -> f64 }
impl Area for f64 { fn area(s: f64) -> f64 = s * s }",
"trait Area { fn area(s: Self) -> f64 }
impl Area for f64 { fn area(s: f64) -> f32 = 1.0 }";

    NO_RECEIVER = "E0367", "function of a trait without `Self`",
"The functions of a trait are called on a value, `s.area()`: that is their first parameter.

Mended:

trait Area { fn area(s: Self, unit: f64) -> f64 }",
"trait Area { fn area(unit: f64) -> f64 }";

    IMPL_TARGET = "E0368", "impl for a type that does not decide its parameters",
"Which `impl` a type belongs to, and what its parameters stand for, is read off the type. So
each parameter stands in it, and sizes are parameters or integers.

Mended:

trait Area { fn area(s: Self) -> f64 }
impl[N] Area for f64[N] { fn area(s: f64[N]) -> f64 = +/ s }",
"trait Area { fn area(s: Self) -> f64 }
impl[N] Area for f64[2*N] { fn area(s: f64[2*N]) -> f64 = +/ s }";

    NOT_A_TRAIT = "E0369", "impl of something that is no trait",
"An `impl` gives a type the functions of a trait of the program.

Mended:

trait Area { fn area(s: Self) -> f64 }
impl Area for f64 { fn area(s: f64) -> f64 = s * s }",
"impl Area for f64 { fn area(s: f64) -> f64 = s * s }";

    SELF_OUTSIDE = "E0370", "`Self` outside of a trait and an impl",
"`Self` is the type that an `impl` is for. Elsewhere there is none.

Mended:

fn f(x: f64) -> f64 = x",
"fn f(x: Self) -> f64 = 1.0";

    UNDECIDED_PACK = "E0410", "shape pack that nothing decides",
"The sizes that a pack stands for are found from the shapes of the arguments, or given in
brackets, where a pack is one argument: `[2, 3]`, `[]` or `..S`.

Mended:

fn start[..S](x: f64) -> f64[..S, 2] = full([..S, 2], x)
fn f() -> f64[3, 2] = start[[3]](1.0)",
"fn start[..S](x: f64) -> f64[..S, 2] = full([..S, 2], x)
fn f() -> f64[3, 2] = start(1.0)";

    SEVERAL_PACKS = "E0411", "two unknown shape packs in one shape",
"Where two packs stand in one shape, nothing says where the first ends. One of them must be known
from another argument, or be given in brackets.

Mended:

fn lead[..S, ..R](x: f64[..S, ..R], y: f64[..R]) -> f64 = sum(x) + sum(y)
fn f(x: f64[2, 3], y: f64[3]) -> f64 = lead(x, y)",
"fn lead[..S, ..R](x: f64[..S, ..R]) -> f64 = sum(x)
fn f(x: f64[2, 3]) -> f64 = lead(x)";

    AXIS_IN_PACK = "E0412", "axis that is part of a shape pack",
"What goes over an axis needs one whose position is known: the first axis is, if it stands before
a pack, the last one, if it stands behind it. The elements of a tensor of any type may be tensors
themselves, so its last axis is not known either.

Mended:

fn f[..S, N](x: f64[..S, N]) -> f64[..S] = +/ x",
"fn f[..S](x: f64[..S]) -> f64 = +/ x";

    NOT_A_PACK = "E0413", "shape pack in the wrong place",
"A pack `..S` is declared in brackets and stands, with its dots, among the extents of a tensor or
among the sizes of `reshape`, `broadcast`, `zeros`, `ones` and `full`. It is no size.

Mended:

fn f[..S, N](x: f64[..S, N]) -> f64[..S, N] = 2.0 .* x",
"fn f[S, N](x: f64[..S, N]) -> f64[..S, N] = 2.0 .* x";
}
