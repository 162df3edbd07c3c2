//! Steps with a token: what `print`, `debug` and `assert` become, and what waits for them.

use cotan_ir::{Atom, CheckKind, Elem, Ty};
use cotan_ops::{AFTER, DEBUG_MARK, FORMAT_MARK, Format, GE, PRINT};
use cotan_sema::typed::{Assert, Expr, Print, PrintPiece, Sink};

use super::Result;
use super::body::{Body, Value};
use super::code::Code;

/// One step of output: the next token.
pub(super) fn output_step<'p>(body: &mut Body<'_, 'p>, step: &'p Print) -> Result<Atom> {
    let mut operands = Vec::new();
    for value in step.values() {
        operands.push(body.scalar(value)?);
    }
    let mut text = String::new();
    text.extend((step.to == Sink::Debug).then_some(DEBUG_MARK));
    for piece in &step.pieces {
        match piece {
            PrintPiece::Text(part) => text.push_str(part),
            PrintPiece::Value(_, format) if *format == Format::default() => {}
            PrintPiece::Value(_, format) => text.push_str(&format!("{FORMAT_MARK}{format}")),
        }
    }
    let text: Vec<i64> = text.bytes().map(i64::from).collect();
    Ok(body.code.b.tensor(PRINT.op(), &operands, &text, Ty::scalar(Elem::I64)).into())
}

/// A check that a program writes, as a step: the next token. It reports where its message stands.
pub(super) fn assert_step<'p>(body: &mut Body<'_, 'p>, step: &'p Assert) -> Result<Atom> {
    let condition = body.scalar(&step.condition)?;
    let token = match &step.token {
        Some(token) => body.scalar(token)?,
        None => Atom::i64(0),
    };
    let place = [step.message.start, step.message.end].map(|at| Atom::i64(at.into()));
    Ok(body.code.check(condition, CheckKind::Assertion, &place, token))
}

/// A value that is there once a token is: its floats are, or, if it has none, all of it but what tells variants apart.
pub(super) fn after<'p>(body: &mut Body<'_, 'p>, value: &'p Expr, token: &'p Expr) -> Result<Value> {
    let types = body.layout.leaf_types(&value.ty);
    let (value, token) = (body.expr(value)?, body.scalar(token)?);
    let has_floats = types.iter().any(|leaf| leaf.elem.is_float());
    let waits = types.iter().map(|leaf| if has_floats { leaf.elem.is_float() } else { !leaf.is_tag });
    let leaves = value.into_iter().zip(waits.collect::<Vec<bool>>());
    Ok(leaves.map(|(leaf, waits)| if waits { body.code.after(leaf, token) } else { leaf }).collect())
}

impl Code {
    /// A leaf once a token is there.
    fn after(&mut self, leaf: Atom, token: Atom) -> Atom {
        let elem = self.b.ty(leaf).elem;
        let is_bool = elem == Elem::Bool;
        let token = if is_bool { self.prim(&GE, &[token, Atom::i64(0)]) } else { self.convert(token, elem) };
        self.element_wise(&AFTER, &[leaf, token])
    }
}
