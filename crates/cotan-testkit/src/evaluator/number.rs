//! Numbers that know their derivatives: forward mode on scalars, to any order.
//!
//! A lifted number is a number and its tangents in as many directions as somebody asked for; a direction that is missing
//! has the tangent zero. Each derivative that is being taken has a tag, and later ones lie inside earlier ones, so the
//! parts of a lifted number are numbers of smaller tags. Rules are the partials of the op table, evaluated on numbers
//! again: that is all that second derivatives need.

use cotan_ir::{Const, Elem};
use cotan_ops::{ADD, MAX, MIN, MULZ, Partial, PrimRow, Term, cast_to, typed_number};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A derivative that is being taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tag(pub(super) u32);

/// A scalar, perhaps with derivatives.
#[derive(Clone, Debug)]
pub(super) enum Number {
    /// What no derivative is taken of.
    Plain(Const),
    /// A number with its tangents.
    Lifted(Rc<Lifted>),
}

/// A number with its tangents.
#[derive(Debug)]
pub(super) struct Lifted {
    tag: Tag,
    primal: Number,
    tangents: Tangents,
}

/// Tangents by direction; those that are zero may be missing.
pub(super) type Tangents = BTreeMap<usize, Number>;

/// Whether the greatest or the least of several numbers is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extreme {
    Max,
    Min,
}

impl Extreme {
    /// The primitive of two numbers.
    pub(super) fn row(self) -> &'static PrimRow {
        match self {
            Extreme::Max => &MAX,
            Extreme::Min => &MIN,
        }
    }
}

impl Number {
    /// The number with one tangent.
    pub(super) fn lifted(primal: Number, tag: Tag, direction: usize, tangent: Number) -> Number {
        Number::with(primal, tag, Tangents::from([(direction, tangent)]))
    }

    /// A number with tangents in several directions.
    pub(super) fn with(primal: Number, tag: Tag, tangents: Tangents) -> Number {
        if tangents.is_empty() { primal } else { Number::Lifted(Rc::new(Lifted { tag, primal, tangents })) }
    }

    /// The zero of a type.
    pub(super) fn zero(elem: Elem) -> Number {
        Number::Plain(Const::zero(elem))
    }

    /// The one of a type.
    pub(super) fn one(elem: Elem) -> Number {
        Number::Plain(typed_number(elem, 1.0))
    }

    /// The scalar itself, without any derivative.
    pub(super) fn plain(&self) -> Const {
        match self {
            Number::Plain(c) => *c,
            Number::Lifted(lifted) => lifted.primal.plain(),
        }
    }

    /// The element type.
    pub(super) fn elem(&self) -> Elem {
        self.plain().elem()
    }

    /// The derivative that was begun last of those that the number carries.
    pub(super) fn tag(&self) -> Option<Tag> {
        match self {
            Number::Plain(_) => None,
            Number::Lifted(lifted) => Some(lifted.tag),
        }
    }

    /// The number without the tangents of one derivative.
    pub(super) fn primal(&self, tag: Tag) -> Number {
        match self {
            Number::Lifted(lifted) if lifted.tag == tag => lifted.primal.clone(),
            Number::Plain(_) | Number::Lifted(_) => self.clone(),
        }
    }

    /// The tangents of one derivative.
    pub(super) fn tangents(&self, tag: Tag) -> Tangents {
        match self {
            Number::Lifted(lifted) if lifted.tag == tag => lifted.tangents.clone(),
            Number::Plain(_) | Number::Lifted(_) => Tangents::new(),
        }
    }

    /// The tangent in one direction, in the type that the number is computed with.
    pub(super) fn tangent(&self, tag: Tag, direction: usize) -> Number {
        self.tangents(tag).remove(&direction).unwrap_or_else(|| Number::zero(self.elem().computed()))
    }

    /// A number of a storage type in the type that it is computed with.
    pub(super) fn computed(&self) -> Number {
        self.converted(self.elem().computed())
    }

    /// The number in another float type.
    pub(super) fn converted(&self, elem: Elem) -> Number {
        if self.elem() == elem { self.clone() } else { Number::apply(cast_to(elem), std::slice::from_ref(self)) }
    }

    /// The sum.
    pub(super) fn plus(&self, other: &Number) -> Number {
        Number::apply(&ADD, &[self.clone(), other.clone()])
    }

    /// The product in which an exact zero wins, as in all derivatives.
    pub(super) fn times(&self, other: &Number) -> Number {
        Number::apply(&MULZ, &[self.clone(), other.clone()])
    }

    /// A primitive. Its types are those that the checker found.
    pub(super) fn apply(row: &'static PrimRow, args: &[Number]) -> Number {
        let Some(tag) = args.iter().filter_map(Number::tag).max() else {
            let constants: Vec<Const> = args.iter().map(Number::plain).collect();
            return match row.eval(&constants) {
                Ok(value) => Number::Plain(value),
                Err(e) => panic!("invariant: the checker finds wrong types: {e}"),
            };
        };
        let primals: Vec<Number> = args.iter().map(|arg| arg.primal(tag)).collect();
        let result = Number::apply(row, &primals);
        if !result.elem().is_float() {
            return result;
        }
        let elems: Vec<Elem> = args.iter().map(Number::elem).collect();
        let of_use = Use { elem: row.t_of(&elems).unwrap_or(result.elem()), args: &primals, result: &result };
        let mut tangents = Tangents::new();
        for (arg, partial) in args.iter().zip(row.partials) {
            let of_arg = arg.tangents(tag);
            if of_arg.is_empty() {
                continue;
            }
            match partial {
                Partial::Zero { .. } => {}
                Partial::Convert => {
                    // Tangents of what is stored narrow are not narrow themselves.
                    let elem = result.elem().computed();
                    of_arg.into_iter().for_each(|(at, tangent)| add(&mut tangents, at, tangent.converted(elem)));
                }
                Partial::Term { term, .. } => {
                    let partial = of_use.term(term);
                    of_arg.into_iter().for_each(|(at, tangent)| add(&mut tangents, at, tangent.times(&partial)));
                }
            }
        }
        Number::with(result, tag, tangents)
    }

    /// The greatest or least of numbers, at least one. All that reach it share its derivative equally; where it is NaN,
    /// so is the derivative.
    pub(super) fn extreme(which: Extreme, numbers: &[Number]) -> Number {
        let Some(tag) = numbers.iter().filter_map(Number::tag).max() else {
            return reduced(numbers, |a, b| Number::apply(which.row(), &[a.clone(), b.clone()]))
                .unwrap_or_else(|| panic!("invariant: an extreme of no numbers"));
        };
        let primals: Vec<Number> = numbers.iter().map(|n| n.primal(tag)).collect();
        let value = Number::extreme(which, &primals);
        let reached = value.plain().as_float().unwrap_or(f64::NAN);
        let is_tie = |n: &Number| {
            let x = n.plain().as_float().unwrap_or(f64::NAN);
            x == reached || reached.is_nan()
        };
        let ties: Vec<&Number> = numbers.iter().filter(|n| is_tie(n)).collect();
        let share = if reached.is_nan() { f64::NAN } else { 1.0 / ties.len() as f64 };
        let share = Number::Plain(Const::float(value.elem(), share));
        let mut sums = Tangents::new();
        for tie in ties {
            tie.tangents(tag).into_iter().for_each(|(at, tangent)| add(&mut sums, at, tangent));
        }
        let tangents = sums.into_iter().map(|(at, sum)| (at, sum.times(&share))).collect();
        Number::with(value, tag, tangents)
    }
}

/// Adds to the tangent of one direction.
pub(super) fn add(tangents: &mut Tangents, at: usize, more: Number) {
    let sum = match tangents.get(&at) {
        Some(before) => before.plus(&more),
        None => more,
    };
    tangents.insert(at, sum);
}

/// One use of a primitive, for its partials.
struct Use<'a> {
    elem: Elem,
    args: &'a [Number],
    result: &'a Number,
}

impl Use<'_> {
    fn term(&self, term: &Term) -> Number {
        match term {
            Term::Arg(k) => self.args[*k].clone(),
            Term::Result => self.result.clone(),
            Term::Number(x) => Number::Plain(typed_number(self.elem, *x)),
            Term::Named(constant) => Number::Plain(typed_number(self.elem, constant.value)),
            Term::Int(n) => Number::Plain(Const::i64(*n)),
            Term::ToT(inner) => Number::apply(cast_to(self.elem), &[self.term(inner)]),
            Term::Apply(row, operands) => {
                let operands: Vec<Number> = operands.iter().map(|operand| self.term(operand)).collect();
                Number::apply(row, &operands)
            }
        }
    }
}

/// Values in a block of the documented tree, and partial results of a block.
const BLOCK: usize = 4096;
const LANES: usize = 16;

/// Values combined in the one documented order: in blocks, each with 16 interleaved partial results, which are combined
/// pairwise; then the results of the blocks by the same rule. `None` of no values.
pub(super) fn reduced(values: &[Number], op: impl Fn(&Number, &Number) -> Number + Copy) -> Option<Number> {
    let block = |values: &[Number]| {
        let mut lanes: Vec<Number> = values.iter().take(LANES).cloned().collect();
        for (at, value) in values.iter().enumerate().skip(LANES) {
            lanes[at % LANES] = op(&lanes[at % LANES], value);
        }
        let mut width = LANES;
        while width > 1 {
            width /= 2;
            for k in 0..width.min(lanes.len().saturating_sub(width)) {
                lanes[k] = op(&lanes[k], &lanes[k + width]);
            }
            lanes.truncate(width);
        }
        lanes.into_iter().next()
    };
    let totals: Vec<Number> = values.chunks(BLOCK).filter_map(block).collect();
    match totals.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        several => reduced(several, op),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ops::{EXP, MUL, SIN, SQRT};

    fn number(x: f64) -> Number {
        Number::Plain(Const::f64(x))
    }

    fn float(x: &Number) -> f64 {
        x.plain().as_float().expect("a float")
    }

    fn variable(x: f64, tag: u32) -> Number {
        Number::lifted(number(x), Tag(tag), 0, number(1.0))
    }

    #[test]
    fn derivatives_nest() {
        let x = Number::lifted(variable(0.3, 1), Tag(2), 0, number(1.0));
        let y = Number::apply(&SIN, &[Number::apply(&MUL, &[x.clone(), x])]);
        let first = y.tangent(Tag(2), 0);
        let second = first.tangent(Tag(1), 0);
        assert_eq!(float(&first), 2.0 * 0.3 * 0.09f64.cos());
        let expected = 2.0 * 0.09f64.cos() - 4.0 * 0.09 * 0.09f64.sin();
        assert!((float(&second) - expected).abs() < 1e-15);
    }

    #[test]
    fn directions_are_kept_apart_and_missing_ones_are_zero() {
        let x = Number::lifted(number(2.0), Tag(0), 0, number(1.0));
        let y = Number::lifted(number(3.0), Tag(0), 1, number(1.0));
        let product = Number::apply(&MUL, &[x, y]);
        let found: Vec<f64> = (0..3).map(|d| float(&product.tangent(Tag(0), d))).collect();
        assert_eq!(found, [3.0, 2.0, 0.0]);
    }

    #[test]
    fn an_exact_zero_wins_over_an_infinite_partial() {
        let x = Number::apply(&MUL, &[variable(0.0, 0), number(0.0)]);
        assert_eq!(float(&Number::apply(&SQRT, &[x]).tangent(Tag(0), 0)), 0.0);
    }

    #[test]
    fn all_that_tie_share_the_derivative_of_an_extreme() {
        let of = |x: f64, d: usize| Number::lifted(number(x), Tag(0), d, number(1.0));
        let greatest = Number::extreme(Extreme::Max, &[of(2.0, 0), of(1.0, 1), of(2.0, 2)]);
        let shares: Vec<f64> = (0..3).map(|d| float(&greatest.tangent(Tag(0), d))).collect();
        assert_eq!((float(&greatest), shares), (2.0, vec![0.5, 0.0, 0.5]));
    }

    #[test]
    fn sums_take_the_documented_tree() {
        let values: Vec<f64> = (0..10_000).map(|k| 1.0 / (k as f64 + 1.0)).collect();
        for n in [1, 2, 15, 16, 17, 33, 4096, 4097, 10_000] {
            let numbers: Vec<Number> = values[..n].iter().map(|x| number(*x)).collect();
            let found = reduced(&numbers, Number::plus).map(|sum| float(&sum).to_bits());
            let expected = cotan_ops::reduce::reduce(&values[..n], -0.0, |a, b| a + b);
            assert_eq!(found, Some(expected.to_bits()), "{n} values");
        }
    }

    #[test]
    fn a_function_of_the_table_brings_its_own_derivative() {
        let y = Number::apply(&EXP, &[variable(1.0, 0)]);
        assert_eq!(float(&y), float(&y.tangent(Tag(0), 0)));
    }
}
