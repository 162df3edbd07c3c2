//! `print(token, x)`: writes a text, then a value, to the output of the run.
//!
//! The token orders output: a statement takes the token of the one before it and gives its own, so order and liveness
//! follow from data dependence. The result here is the token alone; whoever runs the statement writes
//! [`printed`] to its output.

use super::{Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow};
use crate::{Group, Operand, Proof, Value};
use cotan_ir::{Const, Elem, ElemSet, TensorSig};

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
    doc: "`print(token, x) [text..]`: writes the text, given as UTF-8 bytes, then `x` if it is there; the next token.",
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

/// What a use writes.
pub fn printed(inputs: &Inputs) -> String {
    let mut out = text(inputs.attrs).unwrap_or_default();
    if let Some(value) = inputs.args.get(1) {
        write_value(value.elem, &value.dims, &value.bits, &mut out);
    }
    out
}

/// Writes a scalar, or a tensor as nested lists. Floats have the fewest digits that read back to the same bits.
pub fn write_value(elem: Elem, dims: &[i64], bits: &[u64], out: &mut String) {
    let Some((n, inner)) = dims.split_first() else {
        if let Some(bits) = bits.first() {
            out.push_str(&scalar(elem, *bits));
        }
        return;
    };
    out.push('[');
    let n = usize::try_from(*n).unwrap_or(0);
    let each = bits.len() / n.max(1);
    for at in 0..n {
        out.push_str(if at == 0 { "" } else { ", " });
        write_value(elem, inner, &bits[at * each..(at + 1) * each], out);
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
        let shown = |elem, dims: &[i64], bits: &[u64]| {
            let mut out = String::new();
            write_value(elem, dims, bits, &mut out);
            out
        };
        let f64s: Vec<u64> = [0.1, -2.0, f64::INFINITY, f64::NAN].iter().map(|x: &f64| x.to_bits()).collect();
        assert_eq!(shown(Elem::F64, &[2, 2], &f64s), "[[0.1, -2.0], [inf, nan]]");
        assert_eq!(shown(Elem::F32, &[], &[Const::f32(0.1).bits()]), "0.1");
        assert_eq!(shown(Elem::Bool, &[2], &[1, 0]), "[true, false]");
        assert_eq!(shown(Elem::I8, &[], &[Const::integer(Elem::I8, -3).bits()]), "-3");
        assert_eq!(shown(Elem::I64, &[2, 0], &[]), "[[], []]");
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
