//! Sums of a size, an integer of the run and a number, and what they are in every run.

use std::fmt;

/// `size*N + value*n + constant`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// How often the size `N` is in it.
    pub size: i64,
    /// How often the integer `n` is in it.
    pub value: i64,
    /// The number.
    pub constant: i64,
}

/// The sizes that stand for all of them: the numbers of a signature are small beside the last one.
const SIZES: std::ops::RangeInclusive<i64> = 0..=64;
/// The integers that stand for all of them.
const VALUES: [i64; 9] = [-500, -64, -7, -1, 0, 1, 7, 64, 500];

impl Linear {
    /// A number.
    pub fn number(constant: i64) -> Linear {
        Linear { size: 0, value: 0, constant }
    }

    /// The value for a size and an integer.
    pub fn at(self, size: i64, value: i64) -> i64 {
        self.size * size + self.value * value + self.constant
    }

    /// With a number added.
    pub fn plus(self, more: i64) -> Linear {
        Linear { constant: self.constant + more, ..self }
    }
}

/// Whether something holds of two sums in every run.
pub(super) fn always(a: Linear, b: Linear, holds: impl Fn(i64, i64) -> bool) -> bool {
    let values = if a.value == b.value { &VALUES[..1] } else { &VALUES[..] };
    SIZES.into_iter().all(|size| values.iter().all(|value| holds(a.at(size, *value), b.at(size, *value))))
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (factor, name) in [(self.size, "N"), (self.value, "n")] {
            let sign = match (text.is_empty(), factor < 0) {
                (true, true) => "0 - ",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            match factor.abs() {
                0 => {}
                1 => text += &format!("{sign}{name}"),
                n => text += &format!("{sign}{n} * {name}"),
            }
        }
        match (text.is_empty(), self.constant) {
            (true, n) => write!(f, "{n}"),
            (false, 0) => f.write_str(&text),
            (false, n) if n < 0 => write!(f, "{text} - {}", -n),
            (false, n) => write!(f, "{text} + {n}"),
        }
    }
}
