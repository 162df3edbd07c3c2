//! Codes about constants and arguments.

use super::codes;

codes! {
    /// Codes about constants and arguments.
    CONSTANTS:
    NOT_CONSTANT = "E0224", "constant that is not known before the program runs",
"A constant, and the default of a parameter, is made of numbers, operators, casts, other constants
and functions on numbers such as `sqrt`, element by element on arrays too; `if` chooses between two.
Tuples and arrays hold such values.

Mended:

const RATE: f64 = sqrt(2.0) / 10.0
fn f(x: f64) -> f64 = RATE * x",
"fn rate() -> f64 = 0.1
const RATE: f64 = rate()
fn f(x: f64) -> f64 = RATE * x";

    CONSTANT_CYCLE = "E0225", "constant that is defined by itself",
"The value of a constant is computed from the values of others, so none may need itself.

Mended:

const A: i64 = 4
const B: i64 = A + 1",
"const A: i64 = B - 1
const B: i64 = A + 1";

    CONSTANT_FAILS = "E0226", "constant whose computation fails",
"Constants are computed before the program runs; what would be a run-time error there (overflow, a
division by zero, a cast that does not fit) is an error of the program.

Mended:

const MANY: i64 = 4_000_000_000 * 2_000_000_000",
"const MANY: i64 = 4_000_000_000 * 4_000_000_000";

    UNKNOWN_ARGUMENT = "E0227", "argument by a name that no parameter has",
"Arguments are given by position, or after those by the names of the parameters of a declared
function. Functions of the prelude, lambdas and functions that are passed on take them by position.

Mended:

fn scale(x: f64, by: f64 = 2.0) -> f64 = x * by
fn f(x: f64) -> f64 = scale(x, by = 3.0)",
"fn scale(x: f64, by: f64 = 2.0) -> f64 = x * by
fn f(x: f64) -> f64 = scale(x, bye = 3.0)";

    ARGUMENT_TWICE = "E0228", "argument that is given twice",
"An argument is given by position or by name, once.

Mended:

fn scale(x: f64, by: f64) -> f64 = x * by
fn f(x: f64) -> f64 = scale(x, by = 3.0)",
"fn scale(x: f64, by: f64) -> f64 = x * by
fn f(x: f64) -> f64 = scale(x, 2.0, by = 3.0)";

    MISSING_ARGUMENT = "E0229", "parameter without argument",
"Only parameters with a default may be left out of a call.

Mended:

fn scale(x: f64, by: f64, shift: f64 = 0.0) -> f64 = x * by + shift
fn f(x: f64) -> f64 = scale(x, by = 3.0)",
"fn scale(x: f64, by: f64, shift: f64 = 0.0) -> f64 = x * by + shift
fn f(x: f64) -> f64 = scale(x, shift = 3.0)";
}
