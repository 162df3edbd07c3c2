//! Roots and powers.
//!
//! `sqrt' = 1/(2 r)`, `rsqrt' = -r^3/2`, `cbrt' = 1/(3 r^2)`, `recip' = -r^2`, `square' = 2 a0`,
//! `powi' = a1 a0^(a1 - 1)`; `pow`: `a1 a0^(a1 - 1)` and `r ln a0`. In these products an exact zero wins, which makes
//! the powers exact at `a0 = 0`. The power beside the exponent is [`POWER_BELOW`], a row of its own because `a1 - 1` may be
//! rounded, and that error counts as often as the logarithm of `a0` says: up to 700 times.

use crate::condition::Condition;
use crate::elementary::{self, expansion};
use crate::float::Float;
use crate::formula::term;
use crate::kernel::kernels;
use crate::num::Ring;
use crate::row::{Codegen, EdgePoint, Group, Identity, Kinks, Law, Partial, Proof, Sample};
use crate::signature::{BINARY, UNARY, WITH_I64, same};
use crate::{ABS, Constant, Instruction, Known, LOG, MULZ, POWI_FITS, PrimRow, RealDenotation, Term, Word, WordElems};
use cotan_ir::ElemSet;

const THIRD: Term = Term::Named(&Constant { name: "1/3", value: 1.0 / 3.0, exact: term!(1 / 3) });

/// Square root. The 0 that its partial adds to the result makes the derivative +inf at -0.0 too.
pub static SQRT: PrimRow = PrimRow {
    sig: same(&SQRT, "sqrt", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The square root of `a0`; NaN below 0.",
    words: &[Word::new("sqrt", WordElems::Float)],
    kernels: kernels!(Float::sqrt, (T) on float),
    denotation: RealDenotation::Known(Known::Sqrt),
    codegen: Codegen::Native(Instruction::Sqrt),
    fits: None,
    partials: &[Partial::term(term!(0.5 * ABS(1 / r)))],
    kinks: Kinks::At("at 0 the derivative is +inf, unless what it is multiplied with is exactly 0"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    expressions: &["sqrt(1.0 + _ * _)"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[0.0], value: 0.0, partials: &[f64::INFINITY], why: "the slope of the root" },
        EdgePoint { at: &[-0.0], value: -0.0, partials: &[f64::INFINITY], why: "both zeros are the same point" },
        EdgePoint { at: &[-1.0], value: f64::NAN, partials: &[f64::NAN], why: "outside the domain" },
    ],
    proof: Proof::Proved,
};

/// Reciprocal of the square root.
pub static RSQRT: PrimRow = PrimRow {
    sig: same(&RSQRT, "rsqrt", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`1 / sqrt(a0)`; NaN below 0.",
    words: &[Word::new("rsqrt", WordElems::Float)],
    kernels: kernels!(rsqrt, (T) on float),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(1 / SQRT(a0))),
    fits: None,
    partials: &[Partial::term(term!(-0.5 * r * (r * r)))],
    kinks: Kinks::At("at 0 the derivative is -inf"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    expressions: &["rsqrt(1.0 + _ * _)"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[0.0], value: f64::INFINITY, partials: &[f64::NEG_INFINITY], why: "the pole" },
        EdgePoint { at: &[-1.0], value: f64::NAN, partials: &[f64::NAN], why: "outside the domain" },
    ],
    proof: Proof::Proved,
};

fn rsqrt<F: Float>(x: F) -> F {
    F::ONE.div(F::sqrt(x))
}

/// Cube root.
pub static CBRT: PrimRow = PrimRow {
    sig: same(&CBRT, "cbrt", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The cube root of `a0`.",
    words: &[Word::new("cbrt", WordElems::Float)],
    kernels: kernels!(elementary::cbrt, (T) on float),
    denotation: RealDenotation::Term(term!(if a0 >= 0 { POW(a0, THIRD) } else { -POW(-a0, THIRD) })),
    codegen: Codegen::Expansion(expansion!(|x| elementary::cbrt(x))),
    fits: None,
    partials: &[Partial::term(term!(THIRD / (r * r)))],
    kinks: Kinks::At("at 0 the derivative is +inf"),
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    expressions: &["cbrt(2.0 + sin(_))"],
    identities: &[],
    edge_points: &[EdgePoint { at: &[0.0], value: 0.0, partials: &[f64::INFINITY], why: "the slope of the root" }],
    proof: Proof::Proved,
};

/// Reciprocal.
pub static RECIP: PrimRow = PrimRow {
    sig: same(&RECIP, "recip", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The reciprocal `1 / a0`.",
    words: &[Word::new("recip", WordElems::Float)],
    kernels: kernels!(recip, (T) on field),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(1 / a0)),
    fits: None,
    partials: &[Partial::term(term!(-(r * r)))],
    kinks: Kinks::At("at 0 the derivative is -inf"),
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[EdgePoint { at: &[0.0], value: f64::INFINITY, partials: &[f64::NEG_INFINITY], why: "the pole" }],
    proof: Proof::Proved,
};

fn recip<S: Ring>(x: S) -> S {
    S::ONE.div(x)
}

/// Square.
pub static SQUARE: PrimRow = PrimRow {
    sig: same(&SQUARE, "square", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "`a0 * a0`; integers wrap.",
    words: &[Word::new("square", WordElems::Float)],
    kernels: kernels!(square, (T) on ring),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(a0 * a0)),
    fits: None,
    partials: &[Partial::term(term!(2 * a0))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

fn square<S: Ring>(x: S) -> S {
    x.mul(x)
}

/// Whole power.
pub static POWI: PrimRow = PrimRow {
    sig: same(&POWI, "powi", WITH_I64, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "`a0` to a whole power, by repeated squaring; integers wrap, and cut the fraction of a negative power.",
    words: &[Word::new("powi", WordElems::Float), Word::wrapping("wrapping_pow")],
    kernels: kernels!(Power::powi, (T, i64) on numeric),
    denotation: RealDenotation::Known(Known::PowerInt),
    codegen: Codegen::Power,
    fits: Some(&POWI_FITS),
    partials: &[
        Partial::term(term!(MULZ(to_T(a1), POWI(a0, a1 - int(1))))),
        Partial::zero("a whole exponent cannot move"),
    ],
    kinks: Kinks::At("at 0 a power of 0 has derivative 0, a negative one an infinite derivative"),
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 2.0), Sample::Whole(-3, 4)],
    expressions: &["powi(sin(_), 3)", "sin(_) ** 2"],
    identities: &[
        Identity { on: ElemSet::NUMERIC, law: Law::Neutral { operand: 1, value: 1.0, gives: 0 } },
        Identity { on: ElemSet::NUMERIC, law: Law::Absorbing { operand: 1, value: 0.0, result: 1.0 } },
    ],
    edge_points: &[
        EdgePoint { at: &[0.0, 0.0], value: 1.0, partials: &[0.0, 0.0], why: "a constant" },
        EdgePoint { at: &[0.0, 1.0], value: 0.0, partials: &[1.0, 0.0], why: "the identity" },
        EdgePoint { at: &[0.0, 2.0], value: 0.0, partials: &[0.0, 0.0], why: "exact" },
        EdgePoint { at: &[-1.0, 3.0], value: -1.0, partials: &[3.0, 0.0], why: "exact below 0" },
    ],
    proof: Proof::Proved,
};

/// The largest exponent whose products are written out.
const MOST_WRITTEN_OUT: u64 = 64;

/// The products that a power is made of, those of its evaluator: each one multiplies two values, of which number 0 is the base and
/// number `k` the product `k - 1`. The last value is the power, for a negative exponent its reciprocal. None of an exponent that
/// is not written out.
#[must_use]
pub fn power_products(exponent: i64) -> Option<Vec<[usize; 2]>> {
    let mut left = exponent.unsigned_abs();
    if !(1..=MOST_WRITTEN_OUT).contains(&left) {
        return None;
    }
    let (mut products, mut base, mut result) = (Vec::new(), 0, None);
    let mut multiply = |a: usize, b: usize| {
        products.push([a, b]);
        products.len()
    };
    loop {
        if left & 1 == 1 {
            result = Some(result.map_or(base, |result| multiply(result, base)));
        }
        left >>= 1;
        if left == 0 {
            return Some(products);
        }
        base = multiply(base, base);
    }
}

/// Whole powers.
pub(crate) trait Power {
    fn powi(self, exponent: i64) -> Self;
}

macro_rules! float_power {
    ($($t:ty)+) => {
        $(impl Power for $t {
            fn powi(self, exponent: i64) -> $t {
                let (mut base, mut left, mut result) = (self, exponent.unsigned_abs(), 1.0);
                while left > 0 {
                    if left & 1 == 1 {
                        result *= base;
                    }
                    left >>= 1;
                    // Squaring once more than needed could overflow, but nobody would read that.
                    base *= base;
                }
                if exponent < 0 { 1.0 / result } else { result }
            }
        })+
    };
}

macro_rules! integer_power {
    ($($t:ty)+) => {
        $(impl Power for $t {
            fn powi(self, exponent: i64) -> $t {
                let (mut base, mut left, mut result) = (self, exponent.unsigned_abs(), <$t>::ONE);
                while left > 0 {
                    if left & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    left >>= 1;
                    base = base.wrapping_mul(base);
                }
                // Of the reciprocals of integers only those of 1 and -1 are not cut to 0.
                if exponent >= 0 || self == <$t>::ONE || i128::from(self) == -1 { result } else { 0 }
            }
        })+
    };
}

float_power!(f32 f64);
integer_power!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Power.
pub static POW: PrimRow = PrimRow {
    sig: same(&POW, "pow", BINARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`a0` to the power `a1`.",
    words: &[Word::new("pow", WordElems::Float)],
    kernels: kernels!(elementary::pow, (T, T) on float),
    denotation: RealDenotation::Known(Known::Power),
    codegen: Codegen::Expansion(expansion!(|x, y| elementary::pow(x, y))),
    fits: None,
    partials: &[
        Partial::term(term!(MULZ(a1, POWER_BELOW(a0, a1)))),
        Partial::term(term!(if a0 == 0 && a1 >= 0 { 0 } else { MULZ(r, LOG(a0)) })),
    ],
    kinks: Kinks::At("at `a0 = 0`: exact in `a0` for `a1 >= 1`, 0 for `a1 = 0`; 0 in `a1` for `a1 >= 0`"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.3, 3.0), Sample::Span(-2.0, 3.0)],
    expressions: &["pow(1.5 + sin(_), tanh($))", "(1.5 + sin(_)) ** 0.7"],
    identities: &[
        Identity { on: ElemSet::FLOAT, law: Law::Absorbing { operand: 1, value: 0.0, result: 1.0 } },
        Identity { on: ElemSet::FLOAT, law: Law::Neutral { operand: 1, value: 1.0, gives: 0 } },
    ],
    edge_points: &[
        EdgePoint {
            at: &[0.0, 0.0],
            value: 1.0,
            partials: &[0.0, 0.0],
            why: "0 to the power 0 is 1, and a constant in both directions",
        },
        EdgePoint { at: &[0.0, 1.0], value: 0.0, partials: &[1.0, 0.0], why: "the identity" },
        EdgePoint { at: &[0.0, 2.0], value: 0.0, partials: &[0.0, 0.0], why: "exact" },
        EdgePoint { at: &[0.0, 0.5], value: 0.0, partials: &[f64::INFINITY, 0.0], why: "the slope of the root" },
        EdgePoint {
            at: &[-2.0, 2.0],
            value: 4.0,
            partials: &[-4.0, f64::NAN],
            why: "exact in the base; no real power beside a whole exponent",
        },
    ],
    proof: Proof::Proved,
};

/// The power whose exponent is less by 1: the slope of a power is a multiple of it.
pub static POWER_BELOW: PrimRow = PrimRow {
    sig: same(&POWER_BELOW, "power_below", BINARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`a0` to the power `a1 - 1`, a difference that is not rounded.",
    words: &[],
    kernels: kernels!(elementary::power_below, (T, T) on float),
    denotation: RealDenotation::Term(term!(POW(a0, a1 - 1))),
    codegen: Codegen::Expansion(expansion!(|x, y| elementary::power_below(x, y))),
    fits: None,
    partials: &[
        Partial::term(term!(MULZ(a1 - 1, POWER_BELOW(a0, a1 - 1)))),
        Partial::term(term!(if a0 == 0 && a1 >= 1 { 0 } else { MULZ(r, LOG(a0)) })),
    ],
    kinks: Kinks::At("at `a0 = 0`: exact in `a0` for `a1 >= 2`, 0 for `a1 = 1`; 0 in `a1` for `a1 >= 1`"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.3, 3.0), Sample::Span(-1.0, 4.0)],
    expressions: &[],
    identities: &[
        Identity { on: ElemSet::FLOAT, law: Law::Absorbing { operand: 1, value: 1.0, result: 1.0 } },
        Identity { on: ElemSet::FLOAT, law: Law::Neutral { operand: 1, value: 2.0, gives: 0 } },
    ],
    edge_points: &[
        EdgePoint { at: &[0.0, 1.0], value: 1.0, partials: &[0.0, 0.0], why: "a constant" },
        EdgePoint { at: &[0.0, 2.0], value: 0.0, partials: &[1.0, 0.0], why: "the identity" },
        EdgePoint { at: &[0.0, 3.0], value: 0.0, partials: &[0.0, 0.0], why: "exact" },
    ],
    proof: Proof::Proved,
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&SQRT, &RSQRT, &CBRT, &RECIP, &SQUARE, &POWI, &POW, &POWER_BELOW];

#[cfg(test)]
mod tests {
    use super::*;

    fn written_out(x: f64, exponent: i64) -> f64 {
        let mut values = vec![x];
        for [a, b] in power_products(exponent).unwrap() {
            values.push(values[a] * values[b]);
        }
        let power = values[values.len() - 1];
        if exponent < 0 { 1.0 / power } else { power }
    }

    #[test]
    fn what_is_written_out_has_the_bits_of_the_evaluator() {
        for x in [1.1, -0.7, 3.0, -0.0, 1e-200, f64::INFINITY] {
            for exponent in (-64..=64).filter(|n| *n != 0) {
                assert_eq!(written_out(x, exponent).to_bits(), Power::powi(x, exponent).to_bits(), "{x} to {exponent}");
            }
        }
        assert!([0, 65, -65, i64::MIN].into_iter().all(|exponent| power_products(exponent).is_none()));
    }
}
