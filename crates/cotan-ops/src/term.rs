//! Terms: small expressions over the operands and the result of a primitive, as data.
//!
//! Partial derivatives and expansions are terms, so that both derivative modes, the tests, the reference text and the
//! proof obligations read the same thing.

use crate::{Codegen, Instruction, PrimRow, cast_to};
use cotan_ir::{Atom, Builder, Const, Elem};
use std::fmt;

/// An expression over the operands and the result of one use of a primitive. `T` is the element type of that use.
#[derive(Clone, Copy)]
pub enum Term {
    /// An operand, by position.
    Arg(usize),
    /// The result.
    Result,
    /// A constant of type `T`.
    Number(f64),
    /// A constant of type `T` that has a name.
    Named(&'static Constant),
    /// A constant of type i64.
    Int(i64),
    /// A value converted to `T`.
    ToT(&'static Term),
    /// Another primitive of the table.
    Apply(&'static PrimRow, &'static [Term]),
}

/// A real number that is rounded where it is used.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// What formulas call it.
    pub name: &'static str,
    /// The number rounded to nearest.
    pub value: f64,
    /// What it is exactly: a term without operands.
    pub exact: Term,
}

/// Not a number, in a term.
pub(crate) const NAN: Term = Term::Number(f64::NAN);
/// Infinity, in a term.
pub(crate) const INF: Term = Term::Number(f64::INFINITY);

/// `term!(1 - r * r)` is the term that this formula is. Formulas are made of:
///
/// - operands `a0`, `a1`, `a2`, the result `r`, numbers of type `T`, terms that are constants of Rust;
/// - `int(1)`, a number of type i64, and `to_T(x)`, a value converted to `T`;
/// - `+ - * /`, comparisons, `&&`, `||`, `-x`, `!x`, with the precedence and the order of Rust;
/// - `if condition { x } else { y }`, which selects between two values;
/// - `EXP(x)`, the primitive of this row.
///
/// It parses by precedence: an operand or operator is read at a time, and what stands to the left waits on levels
/// `[sign.. product sum comparison && ||]`, each empty or an operator with its left operand.
macro_rules! term {
    // A primitive of its operands, which are read up to the next comma.
    (@call $row:ident [$($done:tt)*] [$($now:tt)+]) => {
        $crate::Term::Apply(&$row, &[$($done)* $crate::term::term!($($now)+)])
    };
    (@call $row:ident [$($done:tt)*] [$($now:tt)+] , $($rest:tt)*) => {
        $crate::term::term!(@call $row [$($done)* $crate::term::term!($($now)+),] [] $($rest)*)
    };
    (@call $row:ident $done:tt [$($now:tt)*] $next:tt $($rest:tt)*) => {
        $crate::term::term!(@call $row $done [$($now)* $next] $($rest)*)
    };

    // A condition is read up to the braces.
    (@if $left:tt [$($condition:tt)+] {$($x:tt)+} else {$($y:tt)+} $($rest:tt)*) => {
        $crate::term::term!(@operator $left {
            $crate::Term::Apply(&$crate::SELECT, &[
                $crate::term::term!($($condition)+),
                $crate::term::term!($($x)+),
                $crate::term::term!($($y)+),
            ])
        } $($rest)*)
    };
    (@if $left:tt [$($condition:tt)+] {$($x:tt)+} else if $($rest:tt)+) => {
        $crate::term::term!(@if $left [$($condition)+] {$($x)+} else { if $($rest)+ })
    };
    (@if $left:tt [$($condition:tt)*] $next:tt $($rest:tt)*) => {
        $crate::term::term!(@if $left [$($condition)* $next] $($rest)*)
    };

    // An operand. Signs stand before names and parentheses; that of a number is part of it.
    (@operand [$($left:tt)*] ! $($rest:tt)*) => {
        $crate::term::term!(@operand [[NOT] $($left)*] $($rest)*)
    };
    (@operand [$($left:tt)*] - $name:ident $($rest:tt)*) => {
        $crate::term::term!(@operand [[NEG] $($left)*] $name $($rest)*)
    };
    (@operand [$($left:tt)*] - ($($inner:tt)+) $($rest:tt)*) => {
        $crate::term::term!(@operand [[NEG] $($left)*] ($($inner)+) $($rest)*)
    };
    (@operand $left:tt ($($inner:tt)+) $($rest:tt)*) => {
        $crate::term::term!(@operator $left { $crate::term::term!($($inner)+) } $($rest)*)
    };
    (@operand $left:tt if $($rest:tt)+) => { $crate::term::term!(@if $left [] $($rest)+) };
    (@operand $left:tt a0 $($rest:tt)*) => { $crate::term::term!(@operator $left { $crate::Term::Arg(0) } $($rest)*) };
    (@operand $left:tt a1 $($rest:tt)*) => { $crate::term::term!(@operator $left { $crate::Term::Arg(1) } $($rest)*) };
    (@operand $left:tt a2 $($rest:tt)*) => { $crate::term::term!(@operator $left { $crate::Term::Arg(2) } $($rest)*) };
    (@operand $left:tt r $($rest:tt)*) => { $crate::term::term!(@operator $left { $crate::Term::Result } $($rest)*) };
    (@operand $left:tt int($number:literal) $($rest:tt)*) => {
        $crate::term::term!(@operator $left { $crate::Term::Int($number) } $($rest)*)
    };
    (@operand $left:tt to_T($($inner:tt)+) $($rest:tt)*) => {
        $crate::term::term!(@operator $left { $crate::Term::ToT(&$crate::term::term!($($inner)+)) } $($rest)*)
    };
    (@operand $left:tt $row:ident($($operands:tt)+) $($rest:tt)*) => {
        $crate::term::term!(@operator $left { $crate::term::term!(@call $row [] [] $($operands)+) } $($rest)*)
    };
    (@operand $left:tt $constant:ident $($rest:tt)*) => {
        $crate::term::term!(@operator $left { $constant } $($rest)*)
    };
    (@operand $left:tt $number:literal $($rest:tt)*) => {
        $crate::term::term!(@operator $left { $crate::Term::Number($number as f64) } $($rest)*)
    };

    // The operator behind an operand. Signs come first.
    (@operator [[$sign:ident] $($left:tt)*] {$($x:tt)+} $($rest:tt)*) => {
        $crate::term::term!(@operator [$($left)*] { $crate::Term::Apply(&$crate::$sign, &[$($x)+]) } $($rest)*)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt * $($rest:tt)+) => {
        $crate::term::term!(@operand [[MUL { $crate::term::term!(@apply $x $p) }] $s $c $a $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt / $($rest:tt)+) => {
        $crate::term::term!(@operand [[DIV { $crate::term::term!(@apply $x $p) }] $s $c $a $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt + $($rest:tt)+) => {
        $crate::term::term!(@operand [[] [ADD { $crate::term::term!(@apply $x $p $s) }] $c $a $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt - $($rest:tt)+) => {
        $crate::term::term!(@operand [[] [SUB { $crate::term::term!(@apply $x $p $s) }] $c $a $o] $($rest)+)
    };
    (@operator $left:tt $x:tt == $($rest:tt)+) => { $crate::term::term!(@compare EQ $left $x $($rest)+) };
    (@operator $left:tt $x:tt != $($rest:tt)+) => { $crate::term::term!(@compare NE $left $x $($rest)+) };
    (@operator $left:tt $x:tt <= $($rest:tt)+) => { $crate::term::term!(@compare LE $left $x $($rest)+) };
    (@operator $left:tt $x:tt >= $($rest:tt)+) => { $crate::term::term!(@compare GE $left $x $($rest)+) };
    (@operator $left:tt $x:tt < $($rest:tt)+) => { $crate::term::term!(@compare LT $left $x $($rest)+) };
    (@operator $left:tt $x:tt > $($rest:tt)+) => { $crate::term::term!(@compare GT $left $x $($rest)+) };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt && $($rest:tt)+) => {
        $crate::term::term!(@operand [[] [] [] [AND { $crate::term::term!(@apply $x $p $s $c $a) }] $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt || $($rest:tt)+) => {
        $crate::term::term!(@operand [[] [] [] [] [OR { $crate::term::term!(@apply $x $p $s $c $a $o) }]] $($rest)+)
    };
    (@operator [$($left:tt)*] $x:tt) => { $crate::term::term!(@apply $x $($left)*) };
    (@compare $row:ident [$p:tt $s:tt [] $a:tt $o:tt] $x:tt $($rest:tt)+) => {
        $crate::term::term!(@operand [[] [] [$row { $crate::term::term!(@apply $x $p $s) }] $a $o] $($rest)+)
    };

    // What waits on levels, the tightest one first, takes an operand.
    (@apply {$($x:tt)+}) => { $($x)+ };
    (@apply $x:tt [] $($looser:tt)*) => { $crate::term::term!(@apply $x $($looser)*) };
    (@apply {$($x:tt)+} [$row:ident {$($y:tt)+}] $($looser:tt)*) => {
        $crate::term::term!(@apply { $crate::Term::Apply(&$crate::$row, &[$($y)+, $($x)+]) } $($looser)*)
    };

    ($($formula:tt)+) => { $crate::term::term!(@operand [[] [] [] [] []] $($formula)+) };
}
pub(crate) use term;

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

#[cfg(test)]
mod tests {
    use super::{INF, Term};
    use crate::{EXP, POWI};

    #[test]
    fn formulas_have_the_precedence_and_the_order_of_rust() {
        const HALF: Term = Term::Number(0.5);
        const SHOWN: [(Term, &str); 9] = [
            (term!(1 - r * r), "(1 - (r * r))"),
            (term!(a0 - a1 - a2), "((a0 - a1) - a2)"),
            (term!(a0 / a1 * 2), "((a0 / a1) * 2)"),
            (term!(-a0 * -(a1 + 1)), "(neg(a0) * neg((a1 + 1)))"),
            (term!(-0.5 * HALF), "(-0.5 * 0.5)"),
            (term!(a0 < 1 && !(a1 == 2) || a2 >= INF), "(((a0 < 1) and not((a1 == 2))) or (a2 >= inf))"),
            (
                term!(if a0 != 0 {
                    a1
                } else if a1 <= r {
                    0
                } else {
                    1
                }),
                "select((a0 != 0), a1, select((a1 <= r), 0, 1))",
            ),
            (term!(to_T(a1) * POWI(a0, a1 - int(1))), "(to_T(a1) * powi(a0, (a1 - 1)))"),
            (term!(EXP(-EXP(a0) + 1)), "exp((neg(exp(a0)) + 1))"),
        ];
        for (term, expected) in SHOWN {
            assert_eq!(term.to_string(), expected);
        }
    }
}
