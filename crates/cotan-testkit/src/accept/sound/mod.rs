//! Lines of what holds whatever is fed in: no wrong value, no crash.

mod partials;

use super::Line;

pub(super) const LINES: &[Line] = &[Line {
    title: "every partial of the op table against arithmetic of more than 60 digits, over all exponents",
    bar: "within 8 units in the last place of the exact partial at 10,000 points, but for at most six rows with reasons",
    measure: partials::measure,
}];
