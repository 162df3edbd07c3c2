//! Terms, small expressions over the operands and the result of a primitive: their statements, values and text.

use crate::{Codegen, Instruction, Term, cast_to};
use cotan_ir::{Atom, Builder, Const, Elem};
use std::fmt;

impl Term {
    /// The constant that the term is, if it is a number of type `T`.
    pub fn number(&self) -> Option<f64> {
        match self {
            Term::Number(x) => Some(*x),
            Term::Named(constant) => Some(constant.value),
            Term::Arg(_) | Term::Result | Term::Int(_) | Term::ToT(_) | Term::Apply(..) => None,
        }
    }

    /// Appends the statements that compute the term. `elem` is `T`; `args` and `result` are those of the use.
    pub fn emit(&self, b: &mut Builder, elem: Elem, args: &[Atom], result: Atom) -> Atom {
        match self {
            Term::Arg(n) => args[*n],
            Term::Result => result,
            Term::Number(x) => typed_number(elem, *x).into(),
            Term::Named(constant) => typed_number(elem, constant.value).into(),
            Term::Int(n) => Atom::i64(*n),
            Term::ToT(inner) => {
                let inner = inner.emit(b, elem, args, result);
                b.prim(cast_to(elem).prim(), &[inner]).into()
            }
            Term::Apply(row, operands) => {
                let operands: Vec<Atom> = operands.iter().map(|t| t.emit(b, elem, args, result)).collect();
                // A constant stands for a tensor of any shape, a statement on constants alone only for a scalar.
                let constants: Option<Vec<Const>> = operands.iter().map(|a| a.constant()).collect();
                match constants.and_then(|c| row.eval(&c).ok()) {
                    Some(value) => value.into(),
                    None => b.prim(row.prim(), &operands).into(),
                }
            }
        }
    }

    /// The value of the term; an error only where a row of the term is not defined on these types.
    pub fn eval(&self, elem: Elem, args: &[Const], result: Const) -> Result<Const, String> {
        match self {
            Term::Arg(n) => Ok(args[*n]),
            Term::Result => Ok(result),
            Term::Number(x) => Ok(typed_number(elem, *x)),
            Term::Named(constant) => Ok(typed_number(elem, constant.value)),
            Term::Int(n) => Ok(Const::i64(*n)),
            Term::ToT(inner) => cast_to(elem).eval(&[inner.eval(elem, args, result)?]),
            Term::Apply(row, operands) => {
                let operands: Result<Vec<Const>, String> =
                    operands.iter().map(|t| t.eval(elem, args, result)).collect();
                row.eval(&operands?)
            }
        }
    }
}

/// The number `x` as a constant of any type: rounded for floats, cut for integers, `x != 0` for `bool`.
pub fn typed_number(elem: Elem, x: f64) -> Const {
    if elem.is_float() {
        Const::float(elem, x)
    } else if elem.is_integer() {
        Const::integer(elem, x as i128)
    } else {
        Const::bool(x != 0.0)
    }
}

/// The instructions that formulas write between their operands.
const INFIX: [(Instruction, &str); 12] = [
    (Instruction::Add, "+"),
    (Instruction::Sub, "-"),
    (Instruction::Mul, "*"),
    (Instruction::Div, "/"),
    (Instruction::Eq, "=="),
    (Instruction::Ne, "!="),
    (Instruction::Lt, "<"),
    (Instruction::Le, "<="),
    (Instruction::Gt, ">"),
    (Instruction::Ge, ">="),
    (Instruction::And, "and"),
    (Instruction::Or, "or"),
];

/// Formula notation: `a0`, `r`, numbers, `name(..)`, `(a0 + r)`.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Arg(n) => write!(f, "a{n}"),
            Term::Result => f.write_str("r"),
            Term::Number(x) => write!(f, "{x}"),
            Term::Named(constant) => write!(f, "({})", constant.name),
            Term::Int(n) => write!(f, "{n}"),
            Term::ToT(inner) => write!(f, "to_T({inner})"),
            Term::Apply(row, operands) => {
                let infix = |(instruction, symbol): &(Instruction, &'static str)| match row.codegen {
                    Codegen::Native(found) if found == *instruction => Some(*symbol),
                    Codegen::Native(_)
                    | Codegen::Host
                    | Codegen::Power
                    | Codegen::NativeOrHost(_)
                    | Codegen::Term(_)
                    | Codegen::Expansion(_) => None,
                };
                if let (Some(symbol), [x, y]) = (INFIX.iter().find_map(infix), *operands) {
                    return write!(f, "({x} {symbol} {y})");
                }
                write!(f, "{}(", row.name())?;
                for (k, operand) in operands.iter().enumerate() {
                    let comma = if k > 0 { ", " } else { "" };
                    write!(f, "{comma}{operand}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
