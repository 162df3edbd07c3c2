//! `print(token, x)`: writes a text, then a value, to the output of the run.
//!
//! The token orders output: a statement takes the token of the one before it and gives its own, so order and liveness
//! follow from data dependence. The result here is the token alone; whoever runs the statement writes
//! [`printed`] to its output.
//!
//! A text may end with a [`Format`] of the value behind [`FORMAT_MARK`], and one that begins with [`DEBUG_MARK`] is for whoever
//! looks for a mistake, not for the reader of the results. Strings of programs have neither character.

use super::{Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow};
use crate::{Group, Operand, Proof, Value};
use cotan_ir::{Const, Elem, ElemSet, TensorSig};
use std::fmt;

/// Output.
pub static PRINT: TensorRow = TensorRow {
    sig: TensorSig { name: "print", prints: true, record: &PRINT },
    group: Group::Output,
    operands: &[
        Operand::none("token", "i64", "a token orders output and is no number"),
        Operand::none("x", "T[..]", "what is written leaves the program"),
    ],
    result: "i64",
    elems: ElemSet::ANY,
    doc: "`print(token, x) [text..]`: writes the text, given as UTF-8 bytes, then `x` if it is there; the next token. A format \
          of `x` may stand at the end of the text, behind U+001F.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::None { reason: "a token orders output and is no number" },
    batching: Batching::Each { reason: "output is written in order" },
    stablehlo: StableHlo::None { reason: "programs that are exported have no output" },
    failure: None,
    samples: &[],
    proof: Proof::Nothing,
};

fn check(shapes: &Shapes) -> Result<(), String> {
    if shapes.args.is_empty() || shapes.args.len() > 2 {
        return Err(format!("expected a token and at most one value, found {} operands", shapes.args.len()));
    }
    if shapes.args[0] != (Elem::I64, &[]) || shapes.result != (Elem::I64, &[]) {
        return Err("expected tokens that are i64 scalars".to_owned());
    }
    match text(shapes.attrs) {
        Some(_) => Ok(()),
        None => Err("expected the bytes of a text as attributes".to_owned()),
    }
}

fn eval(inputs: &Inputs) -> Value {
    let token = Const::i64(inputs.position(0).wrapping_add(1));
    Value { elem: Elem::I64, dims: Vec::new(), bits: vec![token.bits()] }
}

/// The text that the attributes hold.
fn text(attrs: &[i64]) -> Option<String> {
    let bytes: Option<Vec<u8>> = attrs.iter().map(|byte| u8::try_from(*byte).ok()).collect();
    String::from_utf8(bytes?).ok()
}

/// What separates a text from the format of the value.
pub const FORMAT_MARK: char = '\u{1f}';

/// What a text begins with that is written by `debug`.
pub const DEBUG_MARK: char = '\u{1e}';

/// How a number is written: `8.3e` is at least eight characters, three decimals, with an exponent. Nothing is the fewest
/// digits that read back to the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Characters at least; shorter numbers stand at the right.
    pub width: usize,
    /// Digits after the point of a float.
    pub decimals: Option<usize>,
    /// Whether a float has an exponent.
    pub has_exponent: bool,
}

impl Format {
    /// No number has more characters or decimals.
    pub const MOST: usize = 100;

    /// The format that a text says: a width, decimals after a point, and `e`, each of which may be left out.
    pub fn from_text(text: &str) -> Option<Format> {
        let (rest, has_exponent) = text.strip_suffix('e').map_or((text, false), |rest| (rest, true));
        let (width, decimals) = rest.split_once('.').map_or((rest, None), |(width, decimals)| (width, Some(decimals)));
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|n| is_number && *n <= Format::MOST)
        };
        Some(Format {
            width: if width.is_empty() { 0 } else { number(width)? },
            decimals: decimals.map(|decimals| number(decimals).ok_or(())).transpose().ok()?,
            has_exponent,
        })
    }

    fn scalar(self, elem: Elem, bits: u64) -> String {
        let Format { width, decimals, has_exponent } = self;
        let value = Const::from_bits(elem, bits).as_float().filter(|value| value.is_finite());
        let text = match (value, decimals, has_exponent) {
            (None, _, _) | (_, None, false) => scalar(elem, bits),
            (Some(value), None, true) => format!("{value:e}"),
            (Some(value), Some(decimals), true) => format!("{value:.decimals$e}"),
            (Some(value), Some(decimals), false) => format!("{value:.decimals$}"),
        };
        format!("{text:>width$}")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.width > 0 {
            write!(f, "{}", self.width)?;
        }
        if let Some(decimals) = self.decimals {
            write!(f, ".{decimals}")?;
        }
        f.write_str(if self.has_exponent { "e" } else { "" })
    }
}

/// What a use writes.
pub fn printed(inputs: &Inputs) -> String {
    let text = text(inputs.attrs).unwrap_or_default();
    written(&text, inputs.args.get(1).map(|value| (value.elem, value.dims.as_slice(), value.bits.as_slice())))
}

/// What is written for a text and a value with its element type and extents. Floats have the fewest digits that read back
/// to the same bits, unless the text ends with a format.
pub fn written(text: &str, value: Option<(Elem, &[i64], &[u64])>) -> String {
    let (text, format) = text.rsplit_once(FORMAT_MARK).unwrap_or((text, ""));
    let mut out = text.to_owned();
    if let Some((elem, dims, bits)) = value {
        write_value(elem, dims, bits, Format::from_text(format).unwrap_or_default(), &mut out);
    }
    out
}

/// Writes a scalar, or a tensor as nested lists.
fn write_value(elem: Elem, dims: &[i64], bits: &[u64], format: Format, out: &mut String) {
    let Some((n, inner)) = dims.split_first() else {
        if let Some(bits) = bits.first() {
            out.push_str(&format.scalar(elem, *bits));
        }
        return;
    };
    out.push('[');
    let n = usize::try_from(*n).unwrap_or(0);
    let each = bits.len() / n.max(1);
    for at in 0..n {
        out.push_str(if at == 0 { "" } else { ", " });
        write_value(elem, inner, &bits[at * each..(at + 1) * each], format, out);
    }
    out.push(']');
}

fn scalar(elem: Elem, bits: u64) -> String {
    let constant = Const::from_bits(elem, bits);
    if let Some(value) = constant.as_bool() {
        return value.to_string();
    }
    if let Some(value) = constant.as_integer() {
        return value.to_string();
    }
    match constant.as_float() {
        Some(value) if value.is_nan() => "nan".to_owned(),
        Some(_) => constant.digits(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_as_they_read() {
        let shown = |elem, dims: &[i64], bits: &[u64]| written("", Some((elem, dims, bits)));
        let f64s: Vec<u64> = [0.1, -2.0, f64::INFINITY, f64::NAN].iter().map(|x: &f64| x.to_bits()).collect();
        assert_eq!(shown(Elem::F64, &[2, 2], &f64s), "[[0.1, -2.0], [inf, nan]]");
        assert_eq!(shown(Elem::F32, &[], &[Const::f32(0.1).bits()]), "0.1");
        assert_eq!(shown(Elem::Bool, &[2], &[1, 0]), "[true, false]");
        assert_eq!(shown(Elem::I8, &[], &[Const::integer(Elem::I8, -3).bits()]), "-3");
        assert_eq!(shown(Elem::I64, &[2, 0], &[]), "[[], []]");
    }

    #[test]
    fn a_format_says_how_numbers_are_written() {
        let shown =
            |format: &str, x: f64| written(&format!("x = \u{1f}{format}"), Some((Elem::F64, &[], &[x.to_bits()])));
        assert_eq!(shown(".3", 2.0 / 3.0), "x = 0.667");
        assert_eq!(shown("8.2", -1.005), "x =    -1.00");
        assert_eq!(shown(".2e", 12345.0), "x = 1.23e4");
        assert_eq!(shown("e", 12345.0), "x = 1.2345e4");
        assert_eq!(shown("5.1", f64::NAN), "x =   nan");
        assert_eq!(written("\u{1f}4.1", Some((Elem::I64, &[2], &[7, 12]))), "[   7,   12]");
        assert_eq!(written("ü", None), "ü");
        for text in ["", "8", ".3", "8.3", "e", "8.3e"] {
            assert_eq!(Format::from_text(text).map(|format| format.to_string()).as_deref(), Some(text));
        }
        for text in ["x", "+3", "3.", "-1", "101", ".3f", "3ee"] {
            assert_eq!(Format::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_comes_before_the_value() {
        let (token, x) = (Value::zeros(Elem::I64, &[]), Value::f64s(&[], &[1.5]));
        let attrs: Vec<i64> = "x = ü ".bytes().map(i64::from).collect();
        let inputs = Inputs { args: &[&token, &x], attrs: &attrs, result: (Elem::I64, &[]), in_field: false };
        assert_eq!(printed(&inputs), "x = ü 1.5");
        assert_eq!(eval(&inputs).bits, [1]);
    }
}
