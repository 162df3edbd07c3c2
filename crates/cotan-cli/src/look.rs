//! Pretty-printing: values as text for people. A pipe gets every number as JSON; a terminal gets long tensors short and
//! matrices as matrices; derivatives get a line of type and norm, and their first entries.

use crate::args::CallArgs;
use crate::output;
use cotan::host::{HostValue, Value};
use std::io::IsTerminal;
use std::num::NonZeroUsize;

/// An axis with more positions than this is cut.
const LONG: usize = 12;

/// Positions at each end of a long axis that a terminal shows.
const EDGE: usize = 4;

/// Entries, or those of a row, that a summary shows.
const SUMMARY: usize = 8;

/// How values are printed.
pub(crate) struct Look {
    /// Significant digits of floats, at most.
    digits: Option<NonZeroUsize>,
    /// Whether long values are cut.
    is_short: bool,
}

impl Look {
    /// How a call prints what it gives.
    pub(crate) fn new(call: &CallArgs) -> Look {
        Look { digits: call.digits, is_short: std::io::stdout().is_terminal() }
    }

    /// Numbers with so many significant digits.
    pub(crate) fn to_digits(digits: NonZeroUsize) -> Look {
        Look { digits: Some(digits), is_short: true }
    }

    /// A value in lines of its own.
    pub(crate) fn value(&self, value: &HostValue) -> String {
        let value = self.rounded(value);
        let lines = if self.is_short { lines(&value) } else { vec![output::json(&value)] };
        lines.join("\n") + "\n"
    }

    /// A line with the value if it is a scalar; else type and norm, and the first entries.
    pub(crate) fn summary(&self, label: &str, value: &HostValue) -> String {
        if value.as_scalar().is_some() {
            return format!("{label} = {}\n", scalar(&self.rounded(value)));
        }
        let entries = value.floats();
        if entries.is_empty() {
            return format!("{label}: {}\n", output::json(value));
        }
        let n_columns = match value.as_tensor().map(|matrix| matrix.dims.as_slice()) {
            Some([_, columns]) => *columns as usize,
            Some(_) | None => entries.len(),
        };
        let (mut at, mut shown) = (0, Vec::new());
        value.each_scalar(&mut |c| {
            if c.elem().is_float() {
                if at / n_columns < SUMMARY && at % n_columns < SUMMARY {
                    shown.push(scalar(&self.rounded(&HostValue::Scalar(c))));
                }
                at += 1;
            }
        });
        let mut text = format!("{label}: {}, norm {}\n", value.describe(), self.number(norm(&entries)));
        for row in shown.chunks(n_columns.min(SUMMARY)) {
            let more = if n_columns > SUMMARY { format!(" ... {} more", n_columns - SUMMARY) } else { String::new() };
            text += &format!("  {}{more}\n", row.join(" "));
        }
        let n_rows = entries.len() / n_columns;
        if n_rows > SUMMARY {
            text += &format!("  ... {} more rows\n", n_rows - SUMMARY);
        }
        text
    }

    /// A float.
    pub(crate) fn number(&self, x: f64) -> String {
        scalar(&self.rounded(&HostValue::f64(x)))
    }

    /// The value with the digits that are wanted.
    fn rounded(&self, value: &HostValue) -> HostValue {
        match self.digits {
            None => value.clone(),
            Some(digits) => value.map_floats(&mut |x| {
                let decimals = digits.get() - 1;
                format!("{x:.decimals$e}").parse().unwrap_or(x)
            }),
        }
    }
}

/// A value in lines.
fn lines(value: &HostValue) -> Vec<String> {
    match value {
        HostValue::Tensor(v) if !v.dims.contains(&0) => tensor(v),
        HostValue::Array { dims, items } if items.len() > LONG => {
            let mut all = entries(items.iter().take(EDGE).enumerate().map(|(k, item)| (format!("[{k}]"), item)));
            all.push(format!("... {} more of {dims:?}", items.len() - EDGE));
            all
        }
        HostValue::Array { items, .. } if !items.is_empty() => {
            entries(items.iter().enumerate().map(|(k, item)| (format!("[{k}]"), item)))
        }
        HostValue::Tuple(parts) if !parts.is_empty() => {
            entries(parts.iter().enumerate().map(|(k, part)| (k.to_string(), part)))
        }
        HostValue::Struct(fields) => entries(fields.iter().map(|(name, field)| (name.clone(), field))),
        HostValue::Enum { variant, payload: Some(payload) } => entries([(variant.clone(), payload.as_ref())]),
        HostValue::Scalar(_) => vec![scalar(value)],
        HostValue::Tensor(_)
        | HostValue::Array { .. }
        | HostValue::Tuple(_)
        | HostValue::Enum { payload: None, .. } => vec![output::json(value)],
    }
}

/// A scalar as people write it: JSON has `nan` and `inf` in quotes alone.
fn scalar(value: &HostValue) -> String {
    output::json(value).trim_matches('"').to_owned()
}

/// Values with their names; those of several lines stand below them.
fn entries<'v>(named: impl IntoIterator<Item = (String, &'v HostValue)>) -> Vec<String> {
    let mut all = Vec::new();
    for (name, value) in named {
        match lines(value).as_slice() {
            [only] => all.push(format!("{name}: {only}")),
            several => {
                all.push(format!("{name}:"));
                all.extend(several.iter().map(|line| format!("  {line}")));
            }
        }
    }
    all
}

/// A tensor with elements: a vector in a line, a matrix in rows, the matrices of a larger one in order.
fn tensor(value: &Value) -> Vec<String> {
    let dims: Vec<usize> = value.dims.iter().map(|d| usize::try_from(*d).unwrap_or(0)).collect();
    let (rows, columns) = match dims.as_slice() {
        [] => (1, 1),
        [columns] => (1, *columns),
        [rows, columns] => (*rows, *columns),
        [n, rest @ ..] => {
            let size: usize = rest.iter().product();
            let part = |k: usize| {
                let bits = value.bits[k * size..(k + 1) * size].to_vec();
                HostValue::Tensor(Value { elem: value.elem, dims: value.dims[1..].to_vec(), bits })
            };
            let shown: Vec<(String, HostValue)> = picked(*n).map(|k| (format!("[{k}]"), part(k))).collect();
            let mut all = entries(shown.iter().map(|(name, part)| (name.clone(), part)));
            if *n > LONG {
                all.push(format!("{} of {n} shown", shown.len()));
            }
            return all;
        }
    };
    let cell = |row: usize, column: usize| scalar(&HostValue::Scalar(value.get(row * columns + column)));
    let texts: Vec<Vec<String>> =
        picked(rows).map(|row| picked(columns).map(|column| cell(row, column)).collect()).collect();
    let width = |k: usize| texts.iter().map(|row| row[k].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..texts[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut cells: Vec<String> = row.iter().zip(&widths).map(|(text, width)| format!("{text:>width$}")).collect();
        if columns > LONG {
            cells.insert(EDGE, "...".to_owned());
        }
        format!("[{}]", cells.join(", "))
    };
    let mut all: Vec<String> = texts.iter().map(line).collect();
    if rows > LONG {
        all.insert(EDGE, "...".to_owned());
    }
    if rows.max(columns) > LONG {
        all.push(value.dims.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ") + " elements");
    }
    all
}

/// The positions of an axis that are shown.
fn picked(n: usize) -> impl Iterator<Item = usize> {
    (0..n).filter(move |k| n <= LONG || *k < EDGE || *k >= n - EDGE)
}

/// The 2-norm, scaled so that large entries do not overflow.
pub(crate) fn norm(entries: &[f64]) -> f64 {
    let largest = entries.iter().fold(0.0, |m: f64, x| if x.abs() > m || x.is_nan() { x.abs() } else { m });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    // A power of two: the scaling itself rounds nothing.
    let scale = largest.log2().floor().exp2();
    scale * entries.iter().map(|x| (x / scale).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Look = Look { digits: None, is_short: false };
    const TERMINAL: Look = Look { digits: NonZeroUsize::new(3), is_short: true };

    fn counted(dims: &[i64]) -> HostValue {
        let entries: Vec<f64> = (0..dims.iter().product()).map(|k| k as f64).collect();
        HostValue::f64s(dims, &entries)
    }

    #[test]
    fn long_values_are_cut_and_matrices_stand_in_rows() {
        let text = PIPE.summary("gradient of w", &counted(&[10]));
        let first = "gradient of w: f64[10], norm 16.881943016134134\n";
        assert_eq!(text, format!("{first}  0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 ... 2 more\n"));
        let text = TERMINAL.summary("gradient of w", &counted(&[2, 3]));
        assert_eq!(text, "gradient of w: f64[2, 3], norm 7.42\n  0.0 1.0 2.0\n  3.0 4.0 5.0\n");
        let text = PIPE.summary("m", &counted(&[9, 10]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[1]), (10, "  0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 ... 2 more"));
        assert_eq!(lines[9], "  ... 1 more rows");
    }

    #[test]
    fn scalars_take_one_line() {
        assert_eq!(PIPE.summary("value", &HostValue::f64(2.0)), "value = 2.0\n");
        assert_eq!(PIPE.summary("value", &HostValue::f64(f64::NAN)), "value = nan\n");
        assert_eq!(TERMINAL.summary("value", &HostValue::f64(1234.5678)), "value = 1230.0\n");
    }

    #[test]
    fn a_terminal_gets_long_tensors_short_and_parts_by_name() {
        assert_eq!(TERMINAL.value(&counted(&[3])), "[0.0, 1.0, 2.0]\n");
        let text = TERMINAL.value(&counted(&[100]));
        assert_eq!(text, "[0.0, 1.0, 2.0, 3.0, ..., 96.0, 97.0, 98.0, 99.0]\n100 elements\n");
        assert_eq!(TERMINAL.value(&counted(&[4, 3])).lines().last(), Some("[9.0, 10.0, 11.0]"));
        let tall = TERMINAL.value(&counted(&[2000, 2]));
        assert_eq!(tall.lines().count(), 2 * EDGE + 2);
        assert!(tall.starts_with("[   0.0,    1.0]\n") && tall.ends_with("\n2000 x 2 elements\n"), "{tall}");
        let pair = HostValue::Tuple(vec![counted(&[2, 2]), HostValue::f64(1.0 / 3.0)]);
        let value = HostValue::Struct(vec![("t".to_owned(), pair), ("n".to_owned(), HostValue::i64(3))]);
        assert_eq!(TERMINAL.value(&value), "t:\n  0:\n    [0.0, 1.0]\n    [2.0, 3.0]\n  1: 0.333\nn: 3\n");
        assert_eq!(PIPE.value(&value), "{\"t\": [[[0.0, 1.0], [2.0, 3.0]], 0.3333333333333333], \"n\": 3}\n");
        assert_eq!(TERMINAL.value(&counted(&[20, 1, 1])).lines().last(), Some("8 of 20 shown"));
    }

    #[test]
    fn norms_neither_overflow_nor_hide_nan() {
        let huge = 600f64.exp2();
        assert_eq!(norm(&[3.0 * huge, 4.0 * huge]), 5.0 * huge);
        assert_eq!(norm(&[]), 0.0);
        assert!(norm(&[1.0, f64::NAN]).is_nan());
    }
}
