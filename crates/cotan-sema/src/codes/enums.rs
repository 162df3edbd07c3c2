//! Codes about enums and patterns.

use super::codes;

codes! {
    /// Codes about enums and patterns.
    ENUMS:
    UNKNOWN_VARIANT = "E0340", "variant that the enum does not have",
"A value of an enum is made with one of its variants, by the name of the enum, a point and the
name of the variant.

Mended:

enum Shape { Dot, Circle(f64) }

fn unit() -> Shape = Shape.Circle(1.0)",
"enum Shape { Dot, Circle(f64) }

fn unit() -> Shape = Shape.Disk(1.0)";

    VARIANT_PAYLOAD = "E0341", "payload that is not that of the variant",
"A variant is made, and matched, as it is declared: by its name alone, with parts in parentheses,
or with fields in braces.

Mended:

enum Shape { Dot, Box { w: f64, h: f64 } }

fn area(s: Shape) -> f64 = match s {
  Dot => 0.0,
  Box { w, h } => w * h
}",
"enum Shape { Dot, Box { w: f64, h: f64 } }

fn area(s: Shape) -> f64 = match s {
  Dot => 0.0,
  Box(w, h) => w * h
}";

    NOT_EXHAUSTIVE = "E0342", "match that does not cover every value",
"Every value must find an arm. An arm with a guard covers nothing, as the guard may not hold; of
floats and of large types the last arm is usually `_`.

Mended:

enum Shape { Dot, Circle(f64) }

fn area(s: Shape) -> f64 = match s {
  Circle(r) => pi * r * r,
  Dot => 0.0
}",
"enum Shape { Dot, Circle(f64) }

fn area(s: Shape) -> f64 = match s {
  Circle(r) => pi * r * r
}";

    OR_BINDINGS = "E0343", "alternatives that bind different names",
"All alternatives of a pattern bind the same names with the same types, so that the arm can use
them whichever matched.

Mended:

enum Length { Meters(f64), Feet(f64), Unknown }

fn is_long(l: Length) -> bool = match l {
  Meters(x) | Feet(x) => x > 100.0,
  Unknown => false
}",
"enum Length { Meters(f64), Feet(f64), Unknown }

fn is_long(l: Length) -> bool = match l {
  Meters(x) | Unknown => x > 100.0,
  Feet(_) => false
}";

    REFUTABLE_PATTERN = "E0344", "pattern that might not match",
"The pattern of a `let`, a `for` or a lambda matches every value. Where it depends on the value
what happens, `match` chooses.

Mended:

enum Shape { Dot, Circle(f64) }

fn radius(s: Shape) -> f64 = match s {
  Circle(r) => r,
  Dot => 0.0
}",
"enum Shape { Dot, Circle(f64) }

fn radius(s: Shape) -> f64 {
  let Circle(r) = s
  r
}";

    EMPTY_ENUM = "E0345", "enum without variants",
"An enum has at least one variant: without one it would have no values.

Mended:

enum Mode { Plain }

fn f(m: Mode) -> f64 = 1.0",
"enum Mode {}

fn f(m: Mode) -> f64 = 1.0";

    ENUM_ELEMENT = "E0346", "tensor of enums",
"The elements of a tensor are stored as one tensor for each of their parts, so all have the same
parts. Elements of different variants are kept apart: one tensor for each variant, or numbers
that tell the variants apart.

Mended:

enum Shape { Dot, Circle(f64) }

fn area(s: Shape) -> f64 = match s {
  Dot => 0.0,
  Circle(r) => pi * r * r
}

fn total[N](radii: f64[N]) -> f64 = +/ map(|r| area(Shape.Circle(r)), radii)",
"enum Shape { Dot, Circle(f64) }

fn first[N](shapes: Shape[N]) -> f64 = 1.0";

    OPEN_PAYLOAD_SIZE = "E0347", "size of an enum that nothing decides",
"A variant without a payload of a size says nothing about it. The size comes from another value of
the enum, from a declared type, or from brackets.

Mended:

enum Row[N] { Empty, Full(f64[N]) }

fn f() -> i64 {
  let row = Row[4].Empty
  match row {
    Empty => 0,
    Full(_) => 1
  }
}",
"enum Row[N] { Empty, Full(f64[N]) }

fn f() -> i64 {
  let row = Row.Empty
  match row {
    Empty => 0,
    Full(_) => 1
  }
}";

    PATTERNS_TOO_HARD = "E0348", "patterns with too many combinations",
"Whether a match covers every value is a question that can take exponentially long. Programs do
not get there by accident; a match of the parts, one after the other, always works. No short
example exists: it takes dozens of columns that exclude each other.

Mended:

fn f(a: bool, b: bool) -> i64 = match a {
  true => match b { true => 1, false => 2 },
  false => 3
}",
"fn f(a: bool, b: bool) -> i64 = match (a, b) {
  (true, true) => 1,
  (true, false) => 2
}";

    EMPTY_PATTERN_RANGE = "E0349", "range without a value in a pattern",
"A range in a pattern goes from the smaller to the larger end; `lo..hi` ends before `hi`.

Mended:

fn f(n: i64) -> i64 = match n {
  1..=5 => 1,
  _ => 0
}",
"fn f(n: i64) -> i64 = match n {
  5..1 => 1,
  _ => 0
}";

    ENUM_MATRIX = "E0350", "Jacobian or Hessian of an enum",
"A Jacobian has an entry for each pair of an element of the result and an element of a parameter.
A value of an enum has other elements from one variant to the next. Its gradient, and products
with the Jacobian (`jvp`, `vjp`, `hvp`), follow the variant that is there.

Mended:

enum Shape { Dot, Circle(f64) }

fn area(s: Shape) -> f64 = match s {
  Dot => 0.0,
  Circle(r) => pi * r * r
}

fn slope(s: Shape) -> f64 = match grad[s](area)(s) {
  Dot => 0.0,
  Circle(d) => d
}",
"enum Shape { Dot, Circle(f64) }

fn area(s: Shape) -> f64 = match s {
  Dot => 0.0,
  Circle(r) => pi * r * r
}

fn slope(s: Shape) -> f64 {
  let j = jacobian[s](area)(s)
  0.0
}";

    UNREACHABLE_ARM = "W0520", "pattern that is never reached",
"Arms are tried from the top: what the arms above match never comes here.

Mended:

fn f(n: i64) -> i64 = match n {
  0 => 1,
  _ => 2
}",
"fn f(n: i64) -> i64 = match n {
  _ => 2,
  0 => 1
}";
}
