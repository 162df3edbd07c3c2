//! Partial derivatives to more than sixty decimal digits, and how far the op table's are from them.
//!
//! The arithmetic is written for this: the sums, products and series of `number`, `functions` and `gamma` share nothing
//! with what they judge. `partials` holds a closed form for every partial of the table, from calculus and not from the
//! rows; `points` chooses operands over all exponents; `errors` counts units in the last place.

mod errors;
mod functions;
mod gamma;
mod number;
mod partials;
mod points;

pub use errors::{BOUND, EXCEPTIONS, Exception, Known, Range, Worst, judged, known_partials, units, worst_errors};
pub use functions::{cosh, exp, ln, ln_2, pi, power, sin_cos, sinh};
pub use gamma::polygamma;
pub use number::{Float, Number};
pub use partials::{Exact, exact_partials, without_partials};
pub use points::points;
