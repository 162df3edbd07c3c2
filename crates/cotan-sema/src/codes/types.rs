//! Codes about types.

use super::codes;

codes! {
    /// Codes about types.
    TYPES:
    MISMATCH = "E0301", "type that does not fit",
"Types are never converted silently. Numbers are converted with `as`; literals take the type
that is needed, so `1` is a float where one is expected, and an integer variable is not.

Mended:

fn f(n: i64) -> f64 = n as f64",
"fn f(n: i64) -> f64 = n";

    OPERAND_TYPES = "E0302", "operands of different types",
"Both operands of an operator have one type.

Mended:

fn f(x: f64, n: i64) -> f64 = x * (n as f64)",
"fn f(x: f64, n: i64) -> f64 = x * n";

    OPERATOR_TYPE = "E0303", "operator that is not defined for a type",
"Arithmetic and comparison are for numbers, `!`, `&&` and `||` for `bool`, and a power has a
float base, or an integer exponent.

Mended:

fn f(a: bool, b: bool) -> bool = a || b",
"fn f(a: bool, b: bool) -> bool = a + b";

    UNDOTTED = "E0304", "scalar operator on tensors",
"Operators without a dot are for scalars. With a dot they go element by element, and lift a
scalar operand.

Mended:

fn f[N](a: f64[N], b: f64[N]) -> f64[N] = a .+ b",
"fn f[N](a: f64[N], b: f64[N]) -> f64[N] = a + b";

    DOTTED = "E0305", "tensor operator on scalars",
"Operators with a dot are for tensors; between two scalars the dot is left out.

Mended:

fn f(a: f64, b: f64) -> f64 = a * b",
"fn f(a: f64, b: f64) -> f64 = a .* b";

    NOT_CALLABLE = "E0306", "call of something that is no function",
"Only functions and lambdas are called. Tensors are indexed with brackets.

Mended:

fn f[N](v: f64[N]) -> f64 = v[0]",
"fn f[N](v: f64[N]) -> f64 = v(0)";

    ARGUMENT_COUNT = "E0307", "wrong number of arguments",
"A call gives one argument for each parameter.

Mended:

fn f(x: f64) -> f64 = max(x, 0.0)",
"fn f(x: f64) -> f64 = max(x)";

    ARGUMENT_TYPE = "E0308", "argument that the prelude's function does not take",
"The functions of the prelude say which types they take; elementary functions take floats.

Mended:

fn f(n: i64) -> f64 = sqrt(n as f64)",
"fn f(n: i64) -> f64 = sqrt(n)";

    NOT_INDEXABLE = "E0309", "index into something that is no tensor",
"Brackets after a value select elements of a tensor.

Mended:

fn f(t: (f64, f64)) -> f64 = t.0",
"fn f(t: (f64, f64)) -> f64 = t[0]";

    INDEX_COUNT = "E0310", "wrong number of indices",
"There is at most one index for each dim of the tensor.

Mended:

fn f[N](v: f64[N]) -> f64 = v[0]",
"fn f[N](v: f64[N]) -> f64 = v[0, 1]";

    INTEGER_EXPECTED = "E0311", "integer expected",
"Indices, bounds, counts and sizes are integers, of any integer type.

Mended:

fn f[N](v: f64[N], x: f64) -> f64 = v[x as i64]",
"fn f[N](v: f64[N], x: f64) -> f64 = v[x]";

    LITERAL_RANGE = "E0312", "literal that does not fit its type",
"A literal must fit the type that it gets; its sign counts.

Mended:

fn f() -> i16 = 300",
"fn f() -> i8 = 300";

    CAST = "E0313", "cast that does not exist",
"`as` converts between numbers, and from `bool` to numbers, element by element. The target is a
scalar type: a cast keeps the shape.

Mended:

fn f(n: i64) -> bool = n != 0",
"fn f(n: i64) -> bool = n as bool";

    BOUND = "E0314", "type without the trait that is needed",
"An element type parameter stands for types that have its trait.

Mended:

fn half[T: Float](x: T) -> T = x / (2 as T)
fn f(n: i64) -> f64 = half(n as f64)",
"fn half[T: Float](x: T) -> T = x / (2 as T)
fn f(n: i64) -> i64 = half(n)";

    UNDECIDED_TYPE = "E0315", "element type that can't be inferred",
"An element type parameter is inferred from the arguments. If none of them has it, it is given
in brackets.

Mended:

fn one[T: Float]() -> T = 1 as T
fn f() -> f64 = one[f64]()",
"fn one[T: Float]() -> T = 1 as T
fn f() -> i64 = one() as i64";

    GENERIC_COUNT = "E0316", "wrong number of parameters in brackets",
"Either all parameters in brackets are given or none.

Mended:

fn f[N, M](x: f64[N, M]) -> i64 = N
fn g(x: f64[2, 3]) -> i64 = f[2, 3](x)",
"fn f[N, M](x: f64[N, M]) -> i64 = N
fn g(x: f64[2, 3]) -> i64 = f[2](x)";

    GENERIC_KIND = "E0317", "size for a type or type for a size",
"A parameter such as `N` stands for a size, one such as `T: Float` for an element type.

Mended:

fn one[T: Float]() -> T = 1 as T
fn f() -> f64 = one[f64]()",
"fn one[T: Float]() -> T = 1 as T
fn f() -> f64 = one[4]()";

    MISSING_FIELDS = "E0318", "struct literal that lacks fields",
"A struct literal gives every field, or takes the others from a value after `..`.

Mended:

struct P { x: f64, y: f64 }
fn f() -> P = P { x: 1.0, y: 2.0 }",
"struct P { x: f64, y: f64 }
fn f() -> P = P { x: 1.0 }";

    CONDITION = "E0319", "condition that is no `bool`",
"Conditions, and the operands of `&&`, `||` and `!`, are `bool`: numbers are compared first.

Mended:

fn f(n: i64) -> i64 = if n != 0 { 1 } else { 2 }",
"fn f(n: i64) -> i64 = if n { 1 } else { 2 }";

    UNUSED_VALUE = "E0320", "value that is not used",
"A line that is no declaration, assignment or loop, and not the value of its block, computes
something for nothing. Often the line before should have gone on: an operator at its end
continues a line.

Mended:

fn f(a: f64, b: f64) -> f64 {
  let y = a -
    b
  y
}",
"fn f(a: f64, b: f64) -> f64 {
  let y = a
    - b
  y
}";

    FUNCTION_EXPECTED = "E0321", "value where a function is needed",
"`map`, `tabulate` and their like take a lambda or the name of a function.

Mended:

fn f[N](v: f64[N]) -> f64[N] = map(|x| x + 1.0, v)",
"fn f[N](v: f64[N]) -> f64[N] = map(1.0, v)";

    FUNCTION_AS_VALUE = "E0322", "function where a value is needed",
"Functions and lambdas are no values: they are called, or passed on as arguments.

Mended:

fn f(x: f64) -> f64 = exp(x)",
"fn f(x: f64) -> f64 {
  let g = exp
  g(x)
}";

    FUNCTION_TYPE = "E0323", "function type that is not that of a parameter",
"There are no functions among the values of a running program: only parameters have function
types, and each call is specialised.

Mended:

fn twice(f: (f64) -> f64, x: f64) -> f64 = f(f(x))",
"struct S { f: (f64) -> f64 }";

    LAMBDA_PARAMETERS = "E0324", "lambda with the wrong number of parameters",
"A lambda has as many parameters as its caller gives arguments.

Mended:

fn f[N](v: f64[N]) -> f64 = fold(0.0, |sum, x| sum + x, v)",
"fn f[N](v: f64[N]) -> f64 = fold(0.0, |x| x, v)";

    PATTERN = "E0325", "pattern that does not fit",
"The patterns of `let`, `for` and lambdas always match: names, `_`, and tuples and structs of
them, with the parts that the value has.

Mended:

fn f(t: (f64, f64)) -> f64 {
  let (a, b) = t
  a + b
}",
"fn f(t: (f64, f64)) -> f64 {
  let (a, b, c) = t
  a + b + c
}";

    NOT_ITERABLE = "E0326", "loop over something that is no range or tensor",
"`for` goes over the values of a range, or over the first axis of a tensor.

Mended:

fn f(n: i64) -> i64 {
  let mut sum = 0
  for i in 0..n { sum += i }
  sum
}",
"fn f(n: i64) -> i64 {
  let mut sum = 0
  for i in n { sum += i }
  sum
}";

    EMPTY_ARRAY = "E0327", "array without elements",
"The elements of an array tell its type, so `[]` has none.

Mended:

fn f() -> f64[0] = zeros[f64](0)",
"fn f() -> f64[0] = []";

    FOLD_OPERAND = "E0328", "fold of something that is no tensor",
"A fold stands before a tensor of numbers (or of `bool`, for `and/` and `or/`). It binds tighter
than infix operators.

Mended:

fn f[N](a: f64[N], b: f64[N]) -> f64 = +/(a .* b)",
"fn f(x: f64) -> f64 = +/ x";

    AXIS = "E0329", "axis that the tensor does not have",
"Axes are counted from 0, and each is named once.

Mended:

fn f[N, M](m: f64[N, M]) -> f64[M] = +/[axis = 0] m",
"fn f[N, M](m: f64[N, M]) -> f64[M] = +/[axis = 2] m";

    METHOD = "E0330", "method that no trait has",
"The functions of traits are called as `value.f()`, and so is `.rev()`. All other functions are
called by their names.

Mended:

fn f[N](v: f64[N]) -> f64 = sum(v)",
"fn f[N](v: f64[N]) -> f64 = v.sum()";

    TRUNCATED_QUOTIENT = "W0301", "quotient of integer literals with a remainder",
"A quotient of integers drops its remainder: `1 / 2` is 0. Where a float is expected it is 0.5, as
literals are floats there; where nothing asks for a float, it stays an integer.

Mended:

fn f(n: i64) -> i64 = n + 3",
"fn f(n: i64) -> i64 = n + 7 / 2";

    CAST_QUOTIENT = "W0302", "quotient of integers that is cast to a float",
"A quotient of integers drops its remainder before it is cast. Cast the operands where the fraction
is meant, and bind the integer to a name where it is the whole part that is meant.

Mended:

fn f(i: i64, n: i64) -> f64 = (i as f64) / (n as f64)",
"fn f(i: i64, n: i64) -> f64 = (i / n) as f64";
}
