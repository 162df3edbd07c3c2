//! The values of definitions.

use super::line::Line;
use super::{Names, Parsed};
use crate::node::{Expr, Operand};
use cotan_ir::{Elem, OpLookup};
use cotan_ops::Instruction;

impl Names {
    /// The value of a definition. A word is a keyword if something follows it, for an operand stands alone.
    pub(super) fn expression(&self, line: &mut Line, ops: &dyn OpLookup) -> Parsed<Expr> {
        if line.peek(1).is_none() {
            return Ok(Expr::Copy(self.operand(line)?));
        }
        let word = line.any_word("a value")?;
        Ok(match word.as_str() {
            "iota" => Expr::Iota(self.operand(line)?),
            "any" => Expr::Any(self.operand(line)?),
            "first" => Expr::First(self.operand(line)?),
            "fold" => Expr::Fold(line.monoid()?, self.operand(line)?),
            "lane" => {
                let value = self.operand(line)?;
                line.mark(",")?;
                Expr::Lane([value, self.operand(line)?])
            }
            "host" => {
                let (prim, elem) = line.named("a primitive and its type", |word| {
                    let (name, elem) = word.rsplit_once('.')?;
                    Some((ops.prim(name)?, Elem::from_name(elem)?))
                })?;
                Expr::Host { prim, elem, args: self.rest(line)? }
            }
            name => {
                let (instruction, elem) = instruction(name, line)?;
                Expr::Native { instruction, elem, args: self.rest(line)? }
            }
        })
    }

    /// Operands up to the end of the line.
    fn rest(&self, line: &mut Line) -> Parsed<Vec<Operand>> {
        let mut operands = Vec::new();
        while line.peek(0).is_some() {
            operands.push(self.operand(line)?);
            if !line.eat_mark(",") {
                break;
            }
        }
        Ok(operands)
    }
}

/// Those that are about the type of their operands alone.
const PLAIN: [Instruction; 37] = [
    Instruction::Add,
    Instruction::Sub,
    Instruction::Mul,
    Instruction::Div,
    Instruction::Rem,
    Instruction::Neg,
    Instruction::Abs,
    Instruction::Fma,
    Instruction::Sqrt,
    Instruction::Floor,
    Instruction::Ceil,
    Instruction::Trunc,
    Instruction::Copysign,
    Instruction::Mulz,
    Instruction::Mulg,
    Instruction::Mulc,
    Instruction::Min,
    Instruction::Max,
    Instruction::Eq,
    Instruction::Ne,
    Instruction::Lt,
    Instruction::Le,
    Instruction::Gt,
    Instruction::Ge,
    Instruction::IsNan,
    Instruction::And,
    Instruction::Or,
    Instruction::Xor,
    Instruction::Not,
    Instruction::Shl,
    Instruction::Shr,
    Instruction::Select,
    Instruction::Identity,
    Instruction::AddFits,
    Instruction::SubFits,
    Instruction::MulFits,
    Instruction::ShiftFits,
];

/// `add.f64`, or `cast(f32).f64` of those that name a second type.
fn instruction(word: &str, line: &mut Line) -> Parsed<(Instruction, Elem)> {
    let unknown = || format!("expected an instruction, found `{word}`");
    if line.eat_mark("(") {
        let to = line.named("a type", Elem::from_name)?;
        line.mark(")")?;
        let elem = line.named("a type", |word| Elem::from_name(word.strip_prefix('.')?))?;
        let all = [Instruction::Cast(to), Instruction::CastFits(to), Instruction::Bitcast(to)];
        let is_it = |i: &Instruction| text(*i).split('(').next() == Some(word);
        return Ok((all.into_iter().find(is_it).ok_or_else(unknown)?, elem));
    }
    let (name, elem) = word.rsplit_once('.').ok_or_else(unknown)?;
    let elem = Elem::from_name(elem).ok_or_else(unknown)?;
    Ok((PLAIN.into_iter().find(|i| text(*i) == name).ok_or_else(unknown)?, elem))
}

fn text(instruction: Instruction) -> String {
    format!("{instruction:?}").to_lowercase()
}
