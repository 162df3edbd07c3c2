//! Formulas: the notation in which rows write their terms.

use crate::Term;

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
        $crate::Term::Apply(&$row, &[$($done)* $crate::formula::term!($($now)+)])
    };
    (@call $row:ident [$($done:tt)*] [$($now:tt)+] , $($rest:tt)*) => {
        $crate::formula::term!(@call $row [$($done)* $crate::formula::term!($($now)+),] [] $($rest)*)
    };
    (@call $row:ident $done:tt [$($now:tt)*] $next:tt $($rest:tt)*) => {
        $crate::formula::term!(@call $row $done [$($now)* $next] $($rest)*)
    };

    // A condition is read up to the braces.
    (@if $select:ident $left:tt [$($condition:tt)+] {$($x:tt)+} else {$($y:tt)+} $($rest:tt)*) => {
        $crate::formula::term!(@operator $left {
            $crate::Term::Apply(&$crate::$select, &[
                $crate::formula::term!($($condition)+),
                $crate::formula::term!($($x)+),
                $crate::formula::term!($($y)+),
            ])
        } $($rest)*)
    };
    (@if $select:ident $left:tt [$($condition:tt)+] {$($x:tt)+} else if $($rest:tt)+) => {
        $crate::formula::term!(@if $select $left [$($condition)+] {$($x)+} else { if $($rest)+ })
    };
    (@if $select:ident $left:tt [$($condition:tt)*] $next:tt $($rest:tt)*) => {
        $crate::formula::term!(@if $select $left [$($condition)* $next] $($rest)*)
    };

    // An operand. Signs stand before names and parentheses; that of a number is part of it.
    (@operand [$($left:tt)*] ! $($rest:tt)*) => {
        $crate::formula::term!(@operand [[NOT] $($left)*] $($rest)*)
    };
    (@operand [$($left:tt)*] - $name:ident $($rest:tt)*) => {
        $crate::formula::term!(@operand [[NEG] $($left)*] $name $($rest)*)
    };
    (@operand [$($left:tt)*] - ($($inner:tt)+) $($rest:tt)*) => {
        $crate::formula::term!(@operand [[NEG] $($left)*] ($($inner)+) $($rest)*)
    };
    (@operand $left:tt ($($inner:tt)+) $($rest:tt)*) => {
        $crate::formula::term!(@operator $left { $crate::formula::term!($($inner)+) } $($rest)*)
    };
    (@operand $left:tt if $($rest:tt)+) => { $crate::formula::term!(@if SELECT $left [] $($rest)+) };
    (@operand $left:tt a0 $($rest:tt)*) => { $crate::formula::term!(@operator $left { $crate::Term::Arg(0) } $($rest)*) };
    (@operand $left:tt a1 $($rest:tt)*) => { $crate::formula::term!(@operator $left { $crate::Term::Arg(1) } $($rest)*) };
    (@operand $left:tt a2 $($rest:tt)*) => { $crate::formula::term!(@operator $left { $crate::Term::Arg(2) } $($rest)*) };
    (@operand $left:tt r $($rest:tt)*) => { $crate::formula::term!(@operator $left { $crate::Term::Result } $($rest)*) };
    (@operand $left:tt int($number:literal) $($rest:tt)*) => {
        $crate::formula::term!(@operator $left { $crate::Term::Int($number) } $($rest)*)
    };
    (@operand $left:tt to_T($($inner:tt)+) $($rest:tt)*) => {
        $crate::formula::term!(@operator $left { $crate::Term::ToT(&$crate::formula::term!($($inner)+)) } $($rest)*)
    };
    (@operand $left:tt $row:ident($($operands:tt)+) $($rest:tt)*) => {
        $crate::formula::term!(@operator $left { $crate::formula::term!(@call $row [] [] $($operands)+) } $($rest)*)
    };
    (@operand $left:tt $constant:ident $($rest:tt)*) => {
        $crate::formula::term!(@operator $left { $constant } $($rest)*)
    };
    (@operand $left:tt $number:literal $($rest:tt)*) => {
        $crate::formula::term!(@operator $left { $crate::Term::Number($number as f64) } $($rest)*)
    };

    // The operator behind an operand. Signs come first.
    (@operator [[$sign:ident] $($left:tt)*] {$($x:tt)+} $($rest:tt)*) => {
        $crate::formula::term!(@operator [$($left)*] { $crate::Term::Apply(&$crate::$sign, &[$($x)+]) } $($rest)*)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt * $($rest:tt)+) => {
        $crate::formula::term!(@operand [[MUL { $crate::formula::term!(@apply $x $p) }] $s $c $a $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt / $($rest:tt)+) => {
        $crate::formula::term!(@operand [[DIV { $crate::formula::term!(@apply $x $p) }] $s $c $a $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt + $($rest:tt)+) => {
        $crate::formula::term!(@operand [[] [ADD { $crate::formula::term!(@apply $x $p $s) }] $c $a $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt - $($rest:tt)+) => {
        $crate::formula::term!(@operand [[] [SUB { $crate::formula::term!(@apply $x $p $s) }] $c $a $o] $($rest)+)
    };
    (@operator $left:tt $x:tt == $($rest:tt)+) => { $crate::formula::term!(@compare EQ $left $x $($rest)+) };
    (@operator $left:tt $x:tt != $($rest:tt)+) => { $crate::formula::term!(@compare NE $left $x $($rest)+) };
    (@operator $left:tt $x:tt <= $($rest:tt)+) => { $crate::formula::term!(@compare LE $left $x $($rest)+) };
    (@operator $left:tt $x:tt >= $($rest:tt)+) => { $crate::formula::term!(@compare GE $left $x $($rest)+) };
    (@operator $left:tt $x:tt < $($rest:tt)+) => { $crate::formula::term!(@compare LT $left $x $($rest)+) };
    (@operator $left:tt $x:tt > $($rest:tt)+) => { $crate::formula::term!(@compare GT $left $x $($rest)+) };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt && $($rest:tt)+) => {
        $crate::formula::term!(@operand [[] [] [] [AND { $crate::formula::term!(@apply $x $p $s $c $a) }] $o] $($rest)+)
    };
    (@operator [$p:tt $s:tt $c:tt $a:tt $o:tt] $x:tt || $($rest:tt)+) => {
        $crate::formula::term!(@operand [[] [] [] [] [OR { $crate::formula::term!(@apply $x $p $s $c $a $o) }]] $($rest)+)
    };
    (@operator [$($left:tt)*] $x:tt) => { $crate::formula::term!(@apply $x $($left)*) };
    (@compare $row:ident [$p:tt $s:tt [] $a:tt $o:tt] $x:tt $($rest:tt)+) => {
        $crate::formula::term!(@operand [[] [] [$row { $crate::formula::term!(@apply $x $p $s) }] $a $o] $($rest)+)
    };

    // What waits on levels, the tightest one first, takes an operand.
    (@apply {$($x:tt)+}) => { $($x)+ };
    (@apply $x:tt [] $($looser:tt)*) => { $crate::formula::term!(@apply $x $($looser)*) };
    (@apply {$($x:tt)+} [$row:ident {$($y:tt)+}] $($looser:tt)*) => {
        $crate::formula::term!(@apply { $crate::Term::Apply(&$crate::$row, &[$($y)+, $($x)+]) } $($looser)*)
    };

    ($($formula:tt)+) => { $crate::formula::term!(@operand [[] [] [] [] []] $($formula)+) };
}
pub(crate) use term;

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
