//! The real number that a float in a program stands for.

use super::tree::Tree;
use super::unfold::{named, written};
use crate::row::Constant;
use crate::{Codegen, Partial, RealDenotation, Term, table};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The real number that a float in a program stands for: what the op table says of constants that it names, else the
/// simplest fraction that two roundings may make it of. So 0.1 is 1/10, and what a compiler made of 1/3 - 1 is -2/3.
#[derive(Clone, Copy, Debug)]
pub enum Exact {
    /// A constant of the op table.
    Named(&'static Constant),
    /// Numerator and denominator, which is positive, in lowest terms.
    Fraction(i64, i64),
    /// The natural logarithm of a fraction, as the partials of powers of a number have it.
    Log(i64, i64),
}

/// Numerators and denominators up to here are floats.
const LARGEST: i128 = 1 << 53;

impl Exact {
    /// What a float stands for; `None` for a NaN, an infinity, and what no fraction of integers below 2^53 is near.
    pub fn of(x: f64) -> Option<Exact> {
        match constants().get(&x.to_bits()) {
            Some(constant) => Some(Exact::Named(constant)),
            None => Exact::fraction(x),
        }
    }

    /// The simplest fraction that is rounded to a float, or to one beside it, if there is one.
    pub fn fraction(x: f64) -> Option<Exact> {
        if x == libm::trunc(x) && x.abs() < LARGEST as f64 {
            return Some(Exact::Fraction(x as i64, 1));
        }
        // The float is `above / below`; the convergents of its continued fraction, the first one that is near enough.
        let (mantissa, exponent) = libm::frexp(x.abs());
        if !x.is_finite() || !(-60..=53).contains(&exponent) {
            return None;
        }
        let (mut above, mut below) = (libm::ldexp(mantissa, 53) as i128, 1i128 << (53 - exponent));
        let (mut last, mut now) = ((0i128, 1i128), (1i128, 0i128));
        while below > 0 {
            let whole = above / below;
            (last, now) = (now, (whole * now.0 + last.0, whole * now.1 + last.1));
            if now.0 > LARGEST || now.1 > LARGEST {
                return None;
            }
            if (now.0 as f64 / now.1 as f64 - x.abs()).abs() <= 2.0 * f64::EPSILON * x.abs() {
                let sign = if x < 0.0 { -1 } else { 1 };
                return Some(Exact::Fraction(sign * now.0 as i64, now.1 as i64));
            }
            (above, below) = (below, above - whole * below);
        }
        None
    }

    /// The term for it.
    pub fn tree(self) -> Tree {
        match self {
            Exact::Named(constant) => named(constant),
            Exact::Fraction(n, d) => fraction(n, d),
            Exact::Log(n, d) => {
                let [numerator, denominator] = written(libm::log(n as f64 / d as f64));
                Tree::node("Named", [numerator, denominator, Tree::node("Fn Ln", [fraction(n, d)])])
            }
        }
    }
}

fn fraction(n: i64, d: i64) -> Tree {
    Tree::node("Q", [Tree::leaf(n), Tree::leaf(d)])
}

/// The constants that rules name, by their bits.
fn constants() -> &'static BTreeMap<u64, &'static Constant> {
    static CONSTANTS: OnceLock<BTreeMap<u64, &'static Constant>> = OnceLock::new();
    CONSTANTS.get_or_init(|| {
        let mut found = BTreeMap::new();
        for row in table() {
            for partial in row.partials {
                if let Partial::Term { term, .. } = partial {
                    collect(term, &mut found);
                }
            }
            if let Codegen::Term(term) = &row.codegen {
                collect(term, &mut found);
            }
            if let RealDenotation::Term(term) = &row.denotation {
                collect(term, &mut found);
            }
        }
        found
    })
}

fn collect(term: &'static Term, found: &mut BTreeMap<u64, &'static Constant>) {
    match term {
        Term::Named(constant) => {
            found.insert(constant.value.to_bits(), constant);
        }
        Term::ToT(inner) => collect(inner, found),
        Term::Apply(_, inner) => inner.iter().for_each(|term| collect(term, found)),
        Term::Arg(_) | Term::Result | Term::Number(_) | Term::Int(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(x: f64) -> Option<String> {
        Exact::of(x).map(|exact| exact.tree().to_string())
    }

    #[test]
    fn a_float_stands_for_the_simplest_fraction() {
        assert_eq!(shown(0.1).as_deref(), Some("(Q 1 10)"));
        assert_eq!(shown(-2.5).as_deref(), Some("(Q (-5) 2)"));
        assert_eq!(shown(3.0).as_deref(), Some("(Q 3 1)"));
        assert_eq!(shown(1.0 / 7.0).as_deref(), Some("(Q 1 7)"));
        assert_eq!(shown(-2.0 / 3.0 - 1.0).as_deref(), Some("(Q (-5) 3)"));
        assert_eq!(shown(0.123456789012).as_deref(), Some("(Q 19198416 155507171)"));
        assert_eq!(shown(-0.0).as_deref(), Some("(Q 0 1)"));
        assert_eq!([f64::NAN, f64::INFINITY, 1e-300].map(shown), [None, None, None]);
    }

    #[test]
    fn constants_of_the_table_stand_for_what_they_are_exactly() {
        let ln_2 = shown(std::f64::consts::LN_2).unwrap_or_default();
        assert!(ln_2.starts_with("(Named ") && ln_2.ends_with("(Fn Ln (Q 2 1)))"), "{ln_2}");
        assert_eq!(Some(Exact::Log(2, 1).tree()), Exact::of(std::f64::consts::LN_2).map(Exact::tree));
    }
}
