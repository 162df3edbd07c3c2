//! Factors that are zero or infinite at points which programs visit on purpose, by a forward analysis of signs and poles.
//!
//! It decides what is likely, and not what is right: a product that meets `0 * inf` after all is computed again.

use cotan_ir::{Atom, Const, Function, Op, Prim};
use cotan_ops::{ABS, ADD, DIV, EXP, FMA, LOG, MAX, MUL, MULG, MULZ, NEG, POW, PrimRow, SQRT, SUB, WINS};

/// What is infinite at a number that is allowed, beside quotients.
static POLES: [&PrimRow; 2] = [&LOG, &POW];

/// What a value may be at a point that programs visit on purpose.
#[derive(Clone, Copy, Default)]
pub(super) struct Factor {
    /// Infinite.
    pub(super) is_infinite: bool,
    /// The zero of the operand that loses a maximum.
    pub(super) is_zero: bool,
    /// The operands, if it is the share of the first of them in a maximum.
    pub(super) share_of: Option<[Atom; 2]>,
    /// Infinite because it has the slope of a root: what it is multiplied with, as in the gradient of a norm, is zero there too.
    by_root: bool,
    /// A root that may be zero.
    is_root: bool,
    /// What it is divided by, if it is a quotient.
    pub(super) divisor: Option<Atom>,
    sign: Sign,
}

/// What is known of the sign of a value.
#[derive(Clone, Copy, Default)]
enum Sign {
    #[default]
    Any,
    /// Not below zero.
    Nonnegative,
    /// Above zero by a constant at least, as the length of a vector that has a one in it.
    Positive,
}

impl Sign {
    fn is_positive(self) -> bool {
        matches!(self, Sign::Positive)
    }

    fn of_constant(c: Const) -> Sign {
        match c.as_float() {
            Some(number) if number > 0.0 => Sign::Positive,
            Some(0.0) => Sign::Nonnegative,
            Some(_) | None => Sign::Any,
        }
    }

    fn product(self, other: Sign) -> Sign {
        match (self, other) {
            (Sign::Any, _) | (_, Sign::Any) => Sign::Any,
            (Sign::Positive, Sign::Positive) => Sign::Positive,
            (Sign::Nonnegative | Sign::Positive, Sign::Nonnegative | Sign::Positive) => Sign::Nonnegative,
        }
    }

    fn sum(self, other: Sign) -> Sign {
        match (self, other) {
            (Sign::Any, _) | (_, Sign::Any) => Sign::Any,
            (Sign::Nonnegative, Sign::Nonnegative) => Sign::Nonnegative,
            (Sign::Nonnegative | Sign::Positive, Sign::Nonnegative | Sign::Positive) => Sign::Positive,
        }
    }

    fn greater(self, other: Sign) -> Sign {
        match (self, other) {
            (Sign::Positive, _) | (_, Sign::Positive) => Sign::Positive,
            (Sign::Nonnegative, _) | (_, Sign::Nonnegative) => Sign::Nonnegative,
            (Sign::Any, Sign::Any) => Sign::Any,
        }
    }

    /// Of the result of a primitive on operands of which this is known.
    fn of(prim: Prim, args: &[Atom], signs: &[Sign]) -> Sign {
        let is = |row: &'static PrimRow| prim == row.prim();
        let product = || match (args[0] == args[1], signs[0].product(signs[1])) {
            (true, Sign::Any) => Sign::Nonnegative,
            (_, sign) => sign,
        };
        if is(&ADD) {
            signs[0].sum(signs[1])
        } else if is(&MUL) {
            product()
        } else if is(&FMA) {
            product().sum(signs[2])
        } else if is(&DIV) {
            signs[0].product(signs[1])
        } else if is(&MAX) {
            signs[0].greater(signs[1])
        } else if is(&SQRT) || is(&ABS) {
            signs[0].greater(Sign::Nonnegative)
        } else if is(&EXP) {
            Sign::Nonnegative
        } else {
            Sign::Any
        }
    }
}

impl Factor {
    fn of(prim: Prim, args: &[Atom], all: &[Factor]) -> Factor {
        let any = |holds: fn(&Factor) -> bool| all.iter().any(holds);
        let is = |row: &'static PrimRow| prim == row.prim();
        let is_sum = is(&ADD) || is(&SUB) || is(&NEG);
        let is_quotient = is(&DIV) && args[1].constant().is_none() && !all[1].sign.is_positive();
        let has_pole = is_quotient || POLES.iter().any(|row| is(row));
        let passes_on = is_sum || is(&MUL) || is(&MULZ) || is(&MULG) || is(&ABS);
        let by_root = is_quotient && all[1].is_root || passes_on && any(|a| a.by_root);
        Factor {
            is_infinite: by_root || has_pole || (is(&MUL) || is(&ABS)) && any(|a| a.is_infinite),
            is_zero: is(&WINS) || is(&MUL) && any(|a| a.is_zero),
            share_of: is(&WINS).then(|| [args[0], args[1]]),
            by_root,
            is_root: is(&SQRT) && !all[0].sign.is_positive() || is_sum && any(|a| a.is_root),
            divisor: is(&DIV).then(|| args[1]),
            sign: Sign::of(prim, args, &all.iter().map(|a| a.sign).collect::<Vec<_>>()),
        }
    }
}

/// The factors of a function.
pub(super) struct Factors {
    of: Vec<Factor>,
}

impl Factors {
    /// Those of the values that primitives give.
    pub(super) fn of_function(f: &Function) -> Factors {
        let mut factors = Factors { of: vec![Factor::default(); f.vars.len()] };
        for s in f.body.walk() {
            if let Op::Prim { prim, args } = &s.op {
                let all: Vec<Factor> = args.iter().map(|a| factors.of(*a)).collect();
                factors.of[s.results[0].index()] = Factor::of(*prim, args, &all);
            }
        }
        factors
    }

    /// What is known of a value.
    pub(super) fn of(&self, a: Atom) -> Factor {
        match (a.var(), a.constant()) {
            (Some(v), _) => self.of[v.index()],
            (None, Some(c)) => Factor { sign: Sign::of_constant(c), ..Factor::default() },
            (None, None) => Factor::default(),
        }
    }
}
