//! Codes about control flow, mutability, limits, and what is not there yet.

use super::codes;

codes! {
    /// Codes about control flow, mutability, limits, and what is not there yet.
    FLOW:
    IMMUTABLE = "E0601", "change of something immutable",
"Only variables that are declared with `let mut` and parameters that are marked `mut` change. Other
parameters are copied into a variable first.

Mended:

fn f(x: f64) -> f64 {
  let mut y = x
  y += 1.0
  y
}",
"fn f(x: f64) -> f64 {
  let y = x
  y += 1.0
  y
}";

    NOT_A_PLACE = "E0602", "assignment to something that is no place",
"Places are variables, their fields, elements and slices, and tuples of them.

Mended:

fn f(x: f64) -> f64 {
  let mut y = x
  y = 2.0
  y
}",
"fn f(x: f64) -> f64 {
  let mut y = x
  y + 1.0 = 2.0
  y
}";

    CAPTURED_ASSIGNMENT = "E0603", "change of a captured variable",
"A lambda may run many times and in any order: it reads what it captures and changes nothing. A
`for` loop changes variables, and `fold` carries a state.

Mended:

fn f[N](v: f64[N]) -> f64 {
  let mut sum = 0.0
  for x in v { sum += x }
  sum
}",
"fn f[N](v: f64[N]) -> f64[N] {
  let mut sum = 0.0
  map(|x| { sum += x
    sum }, v)
}";

    OUTSIDE_LOOP = "E0604", "`break` or `continue` outside of a loop",
"`break` and `continue` belong to the innermost `for` or `while` of the same function or lambda.

Mended:

fn f(x: f64) -> f64 {
  if x > 0.0 { return x }
  -x
}",
"fn f(x: f64) -> f64 {
  if x > 0.0 { break }
  -x
}";

    RECURSION = "E0605", "function that calls itself",
"Functions don't call themselves, also not through others: a loop does what recursion would.

Mended:

fn factorial(n: i64) -> i64 {
  let mut product = 1
  for k in 1..=n { product *= k }
  product
}",
"fn factorial(n: i64) -> i64 = if n <= 1 { 1 } else { n * factorial(n - 1) }";

    TOO_DEEP = "E0606", "expression that is nested too deeply",
"Expressions nest up to a limit that no program written by hand meets. Runs of operators count as
one step. Constants and type aliases that each need one further down are counted in the same way.

Mended:

fn f(v: f64[1]) -> f64 = v[0]",
"";

    TOO_MANY_INSTANCES = "E0607", "too many specialisations",
"A function with parameters of function type is specialised for every function that it is called
with. At most 10,000 specialisations are made, and each may need another one up to a depth of 64.

Mended:

fn apply(f: (f64) -> f64, x: f64) -> f64 = f(x)
fn g(x: f64) -> f64 = apply(exp, x)",
"";

    TYPE_TOO_LARGE = "E0608", "type that consists of too much",
"A value consists of at most 10,000 scalars and tensors of scalars, and the tuple types of all
expressions together of at most 2,000,000 parts. Tuples of tuples, and structs of structs, double with
every line.

Mended:

fn f(x: f64) -> f64 {
  let a = (x, x)
  let b = (a, a)
  b.0.1
}",
"struct S0 { a: f64, b: f64, c: f64, d: f64 }
struct S1 { a: S0, b: S0, c: S0, d: S0 }
struct S2 { a: S1, b: S1, c: S1, d: S1 }
struct S3 { a: S2, b: S2, c: S2, d: S2 }
struct S4 { a: S3, b: S3, c: S3, d: S3 }
struct S5 { a: S4, b: S4, c: S4, d: S4 }
struct S6 { a: S5, b: S5, c: S5, d: S5 }";

    TOO_MANY_OPERATIONS = "E0609", "program that becomes too large",
"Functions with parameters of function type, and lambdas, are copied into every call. A program may
become at most 1,000,000 operations that way.

Mended:

fn twice(f: (f64) -> f64, x: f64) -> f64 = f(f(x))
fn g(x: f64) -> f64 = twice(exp, x)",
"";

    TEST_SIGNATURE = "E0670", "test that can't be called",
"`cotan test` calls every function marked `@test` without arguments. The test passes if the result is
`true`. A result is asked for because checks belong to the values that need them: a test without a
result would need none.

Mended:

fn twice(x: f64) -> f64 = 2.0 * x
@test fn twice_of_three() -> bool = twice(3.0) == 6.0",
"fn twice(x: f64) -> f64 = 2.0 * x
@test fn twice_of_three() -> f64 = twice(3.0)";

    EFFECT = "E0620", "output where only pure code may stand",
"A function that prints is marked `@io`, and so is every function that calls it. Functions that are
passed on are pure, but for that of `each`.

Mended:

@io fn show(x: f64) -> () { print(x) }
@io fn main() { show(2.0) }",
"@io fn show(x: f64) -> () { print(x) }
fn twice(x: f64) -> f64 {
  show(x)
  2.0 * x
}";

    DERIVATIVE_OF_OUTPUT = "E0621", "derivative of a function that prints",
"Output has no derivative, and a derivative would print again. Move what is differentiated into a
function that does not print.

Mended:

fn square(x: f64) -> f64 = x * x
@io fn show(x: f64) -> f64 {
  print(x)
  grad(square)(x)
}",
"@io fn square(x: f64) -> f64 {
  print(x)
  x * x
}
fn slope(x: f64) -> f64 = grad(square)(x)";

    FORMAT = "E0623", "format that does not fit",
"The first string of a `print` with further arguments is a format if it has a place for a value: `{}`, or
`{:8.3e}` with a width, decimals and an exponent, each of which may be left out. There is one place for
each value. Braces that are none are written twice, as `{{}}`.

Mended:

@io fn main() { print(\"{:.3} of {}\", 0.5, 7) }",
"@io fn main() { print(\"{:.3} of {}\", 0.5) }";

    STRING = "E0622", "string where a value is needed",
"Strings are arguments of `print`, `print_str`, `debug` and `assert`; they are no values.

Mended:

@io fn main() { print(\"x =\", 2.0) }",
"@io fn main() {
  let label = \"x =\"
  print(2.0)
}";
}
