//! What must happen, worked out from the numbers of a signature and a call.

use super::linear::{Linear, always};
use super::{Body, Call, Signature, Size, Slice};
use cotan_ir::CheckKind;

/// What must happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// The arguments are refused.
    Refused,
    /// A check fails.
    Fails(CheckKind),
    /// The sum of all floats of the result.
    Gives(f64),
}

impl Signature {
    /// The code of the error that the checker must report, if it must.
    pub fn told(&self) -> Option<&'static str> {
        let below_zero = |n: Linear| always(n, Linear::number(0), |n, zero| n < zero);
        if below_zero(self.extent) {
            return Some("E0405");
        }
        let fails = match self.body {
            Body::At(p) | Body::Write(p) => self.is_outside(p),
            Body::Sum(slice) | Body::Length(slice) | Body::WriteSlice(slice) | Body::Kernel(slice) => {
                self.is_bad(slice)
            }
            Body::Part(slice, p) => self.is_bad(slice) || self.is_outside_of(p, slice),
            Body::Ones(n) | Body::Tabulate(n) | Body::Result(n) => return below_zero(n).then_some("E0405"),
            Body::Loop(_) => false,
            Body::Inner(less) => return below_zero(self.extent.plus(-less)).then_some("E0405"),
        };
        fails.then_some("E0415")
    }

    /// Whether a position is outside in every run.
    fn is_outside(&self, p: Linear) -> bool {
        always(p, Linear::number(0), |p, zero| p < zero) || always(p, self.extent, |p, extent| p >= extent)
    }

    /// The same of the elements that a slice selects.
    fn is_outside_of(&self, p: Linear, slice: Slice) -> bool {
        let (lo, end) = self.ends(slice);
        let length =
            Linear { size: end.size - lo.size, value: end.value - lo.value, constant: end.constant - lo.constant };
        always(p, Linear::number(0), |p, zero| p < zero) || always(p, length, |p, length| p >= length)
    }

    /// The start of a slice, and the position behind it.
    fn ends(&self, slice: Slice) -> (Linear, Linear) {
        let lo = slice.lo.unwrap_or(Linear::number(0));
        (lo, slice.hi.map_or(self.extent, |hi| hi.plus(i64::from(slice.inclusive))))
    }

    /// Whether one of the conditions of a slice fails in every run.
    fn is_bad(&self, slice: Slice) -> bool {
        let (lo, end) = self.ends(slice);
        always(lo, Linear::number(0), |lo, zero| lo < zero)
            || always(end, Linear::number(0), |end, zero| end < zero)
            || always(end, lo, |end, lo| end < lo)
            || always(end, self.extent, |end, extent| end > extent)
    }

    /// What a call may do as well: who needs no element of a slice does not need the check that they are there, only that
    /// there are not fewer than none.
    pub fn also_right(&self, call: Call) -> Option<Expected> {
        // Nor does who needs no element of an array that has none need what was written to it.
        if matches!(self.body, Body::Write(_) | Body::WriteSlice(_) | Body::Kernel(_)) {
            return (call.found == 0).then_some(Expected::Gives(0.0));
        }
        let (Body::Length(slice) | Body::Sum(slice)) = self.body else { return None };
        let size = self.size(call)?;
        let (lo, end) = self.ends(slice);
        let length = end.at(size, call.value) - lo.at(size, call.value);
        let is_sum = matches!(self.body, Body::Sum(_));
        (length == 0 || length > 0 && !is_sum).then_some(Expected::Gives(length as f64))
    }

    /// What a call of a function without errors must do.
    pub fn expected(&self, call: Call) -> Expected {
        let Some(size) = self.size(call) else { return Expected::Refused };
        let at = |n: Linear| n.at(size, call.value);
        let extent = call.found;
        let index = |p: i64, extent: i64| if (0..extent).contains(&p) { Ok(p) } else { Err(CheckKind::IndexRange) };
        let range = |slice: Slice| {
            let (lo, end) = self.ends(slice);
            let (lo, end) = (at(lo), at(end));
            if 0 <= lo && lo <= end && end <= extent { Ok((lo, end)) } else { Err(CheckKind::SliceRange) }
        };
        let count = |n: i64| if n >= 0 { Ok(n as f64) } else { Err(CheckKind::NegativeSize) };
        // The elements are 1, 2, 3 and so on.
        let sum = |lo: i64, end: i64| (lo..end).map(|k| (k + 1) as f64).sum::<f64>();
        let found = match self.body {
            Body::At(p) => index(at(p), extent).map(|p| (p + 1) as f64),
            Body::Sum(slice) => range(slice).map(|(lo, end)| sum(lo, end)),
            Body::Length(slice) => range(slice).map(|(lo, end)| (end - lo) as f64),
            Body::Part(slice, p) => {
                range(slice).and_then(|(lo, end)| index(at(p), end - lo).map(|p| (lo + p + 1) as f64))
            }
            Body::Write(p) => index(at(p), extent).map(|p| sum(0, extent) - (p + 1) as f64 + 0.5),
            Body::WriteSlice(slice) => range(slice).map(|(lo, end)| sum(0, extent) - 0.5 * (end - lo) as f64),
            // Two rows, of which the second goes on counting.
            Body::Kernel(slice) => range(slice).map(|(lo, end)| sum(0, 2 * extent) - (end - lo) as f64),
            Body::Ones(n) | Body::Tabulate(n) | Body::Result(n) => count(at(n)),
            Body::Loop(slice) => {
                let (lo, end) = self.ends(slice);
                Ok((at(end) - at(lo)).max(0) as f64)
            }
            Body::Inner(less) => count(extent - less),
        };
        found.map_or_else(Expected::Fails, Expected::Gives)
    }

    /// The size of a call; none if the arguments do not fit.
    fn size(&self, call: Call) -> Option<i64> {
        let Linear { size: factor, constant, .. } = self.extent;
        let size = match self.sized {
            Size::Beside | Size::Named => call.size,
            Size::Solved => (call.found - constant) / factor,
        };
        (size >= 0 && self.extent.at(size, 0) == call.found).then_some(size)
    }
}
