//! Terms of the table unfolded until only functions are left that the proofs know.

use super::tree::Tree;
use crate::row::Constant;
use crate::{Condition, Known, PrimRow, RealDenotation, Term};
use cotan_ir::{Elem, OperandElem, bug};

/// A term of the proofs, by what it denotes.
#[derive(Clone, Debug)]
pub enum Denoted {
    /// A real number.
    Real(Tree),
    /// A whole number.
    Whole(Tree),
    /// A truth value.
    Truth(Truth),
}

/// A condition. There is no term for it alone: only choices have conditions.
#[derive(Clone, Debug)]
pub enum Truth {
    /// An operand, by its position among those that are no real numbers.
    Flag(usize),
    /// Two real numbers and how they are related.
    Related(&'static str, Tree, Tree),
    /// Both hold.
    And(Box<Truth>, Box<Truth>),
    /// One of them holds, or both.
    Or(Box<Truth>, Box<Truth>),
    /// It does not hold.
    Not(Box<Truth>),
    /// A truth value.
    Always(bool),
}

impl Denoted {
    /// The value of a step or an input.
    pub fn numbered(n: u32) -> Denoted {
        Denoted::Real(Tree::node("X", [Tree::leaf(n)]))
    }

    /// An integer.
    pub fn int(n: i64) -> Denoted {
        Denoted::Whole(Tree::node("Lit", [Tree::leaf(n)]))
    }

    /// The term for a real number.
    pub fn real(self) -> Tree {
        match self {
            Denoted::Real(tree) => tree,
            Denoted::Whole(tree) => Tree::node("OfWhole", [tree]),
            Denoted::Truth(found) => {
                bug!("export of rules", format_args!("{found:?}"), "a truth value is no operand of arithmetic")
            }
        }
    }

    fn whole(self) -> Tree {
        match self {
            Denoted::Whole(tree) => tree,
            found @ (Denoted::Real(_) | Denoted::Truth(_)) => {
                bug!("export of rules", format_args!("{found:?}"), "a whole number is asked for")
            }
        }
    }

    /// The condition.
    pub fn truth(self) -> Truth {
        match self {
            Denoted::Truth(truth) => truth,
            found @ (Denoted::Real(_) | Denoted::Whole(_)) => {
                bug!("export of rules", format_args!("{found:?}"), "the condition of a choice is a truth value")
            }
        }
    }
}

impl Truth {
    /// The term that is `yes` where this holds, else `no`.
    fn choice(&self, yes: Tree, no: Tree) -> Tree {
        match self {
            Truth::Flag(k) => Tree::node("IfFlag", [Tree::leaf(k), yes, no]),
            Truth::Related(relation, a, b) => Tree::node("If", [Tree::leaf(relation), a.clone(), b.clone(), yes, no]),
            Truth::And(p, q) => p.choice(q.choice(yes, no.clone()), no),
            Truth::Or(p, q) => p.choice(yes.clone(), q.choice(yes, no)),
            Truth::Not(p) => p.choice(no, yes),
            Truth::Always(true) => yes,
            Truth::Always(false) => no,
        }
    }
}

/// The operands of a row. Real numbers are counted, and so are the others.
pub(super) fn operands(row: &PrimRow) -> Vec<Denoted> {
    let (mut n_reals, mut n_others) = (0, 0);
    let operand = |elem: &OperandElem| {
        let count = if *elem == OperandElem::T { &mut n_reals } else { &mut n_others };
        let k = *count;
        *count += 1;
        match elem {
            OperandElem::T => Denoted::Real(Tree::node("X", [Tree::leaf(k)])),
            OperandElem::Is(Elem::Bool) => Denoted::Truth(Truth::Flag(k)),
            OperandElem::Is(_) => Denoted::Whole(Tree::node("Par", [Tree::leaf(k)])),
        }
    };
    row.sig.operands.iter().map(operand).collect()
}

/// A term over these operands and this result.
pub(super) fn unfolded(term: &Term, operands: &[Denoted], result: &Tree) -> Denoted {
    match term {
        Term::Arg(n) => operands[*n].clone(),
        Term::Result => Denoted::Real(result.clone()),
        Term::Number(x) => Denoted::Real(number(*x)),
        Term::Named(constant) => Denoted::Real(named(constant)),
        Term::Int(n) => Denoted::int(*n),
        Term::ToT(inner) => Denoted::Real(unfolded(inner, operands, result).real()),
        Term::Apply(row, inner) => applied(row, inner.iter().map(|t| unfolded(t, operands, result)).collect()),
    }
}

/// A constant that has a name.
pub(super) fn named(constant: &Constant) -> Tree {
    let [numerator, denominator] = written(constant.value);
    let exact = unfolded(&constant.exact, &[], &result()).real();
    Tree::node("Named", [numerator, denominator, exact])
}

/// The result of a rule, in its partials.
pub(super) fn result() -> Tree {
    Tree::leaf("Y")
}

/// A primitive applied to values. Its row has a meaning on real numbers.
pub(super) fn applied(row: &PrimRow, values: Vec<Denoted>) -> Denoted {
    match (row.denotation, row.term()) {
        (RealDenotation::Known(known), _) => known_applied(known, values),
        // The term says what the result is, so it does not name it.
        (_, Some(term)) => unfolded(term, &values, &result()),
        (RealDenotation::Always(truth), None) => Denoted::Truth(Truth::Always(truth)),
        (RealDenotation::Term(_) | RealDenotation::Codegen | RealDenotation::Other, None) => {
            bug!("export of rules", row.name(), "the terms of rules are made of functions of real numbers")
        }
    }
}

fn known_applied(known: Known, mut values: Vec<Denoted>) -> Denoted {
    let is_whole = values.iter().any(|value| matches!(value, Denoted::Whole(_)));
    let real =
        |name: &str, values: Vec<Denoted>| Denoted::Real(Tree::node(name, values.into_iter().map(Denoted::real)));
    match known {
        Known::Add if is_whole => whole("IAdd", i64::wrapping_add, values),
        Known::Sub if is_whole => whole("ISub", i64::wrapping_sub, values),
        Known::Add => real("Add", values),
        Known::Sub => real("Sub", values),
        Known::Mul => real("Mul", values),
        Known::Div => real("Div", values),
        Known::Neg => real("Neg", values),
        Known::Exp => real("Fn Exp", values),
        Known::Log => real("Fn Ln", values),
        Known::Sqrt => real("Fn Sqrt", values),
        Known::Sin => real("Fn Sin", values),
        Known::Cos => real("Fn Cos", values),
        Known::Tan => real("Fn Tan", values),
        Known::Asin => real("Fn Asin", values),
        Known::Acos => real("Fn Acos", values),
        Known::Atan => real("Fn Atan", values),
        Known::Sinh => real("Fn Sinh", values),
        Known::Cosh => real("Fn Cosh", values),
        Known::Tanh => real("Fn Tanh", values),
        Known::Erf => real("Fn Erf", values),
        Known::Floor => real("Fn Floor", values),
        Known::Power => real("Pow", values),
        Known::PowerInt => with_whole("PowZ", values),
        Known::LogGamma => with_whole("Gamma", vec![values.remove(0), Denoted::int(-1)]),
        Known::Digamma => with_whole("Gamma", vec![values.remove(0), Denoted::int(0)]),
        Known::Polygamma => with_whole("Gamma", values),
        Known::Less => related("Less", values),
        Known::AtMost => related("AtMost", values),
        Known::Equal => related("Same", values),
        Known::Not => Denoted::Truth(Truth::Not(Box::new(values.remove(0).truth()))),
        Known::And => connected(Truth::And, values),
        Known::Or => connected(Truth::Or, values),
        Known::Select => {
            let [condition, yes, no] = exactly(values);
            Denoted::Real(condition.truth().choice(yes.real(), no.real()))
        }
    }
}

/// A sum or a difference of whole numbers, worked out if both are known.
fn whole(name: &str, f: fn(i64, i64) -> i64, values: Vec<Denoted>) -> Denoted {
    let [a, b] = exactly(values).map(Denoted::whole);
    let known = |tree: &Tree| match (tree.head.as_str(), tree.operands.as_slice()) {
        ("Lit", [n]) => n.head.parse().ok(),
        _ => None,
    };
    match (known(&a), known(&b)) {
        (Some(a), Some(b)) => Denoted::int(f(a, b)),
        _ => Denoted::Whole(Tree::node(name, [a, b])),
    }
}

/// A function of a real and a whole number.
fn with_whole(name: &str, values: Vec<Denoted>) -> Denoted {
    let [x, n] = exactly(values);
    Denoted::Real(Tree::node(name, [x.real(), n.whole()]))
}

fn related(relation: &'static str, values: Vec<Denoted>) -> Denoted {
    let [a, b] = exactly(values);
    Denoted::Truth(Truth::Related(relation, a.real(), b.real()))
}

fn connected(connective: fn(Box<Truth>, Box<Truth>) -> Truth, values: Vec<Denoted>) -> Denoted {
    let [p, q] = exactly(values).map(|value| Box::new(value.truth()));
    Denoted::Truth(connective(p, q))
}

fn exactly<const N: usize>(values: Vec<Denoted>) -> [Denoted; N] {
    values.try_into().unwrap_or_else(|values| {
        bug!("export of rules", format_args!("{values:?}"), "a term gives a primitive as many operands as it has")
    })
}

/// A condition of a domain.
pub(super) fn condition(condition: &Condition, operands: &[Denoted]) -> Tree {
    let x = |k: usize| operands[k].clone().real();
    let minus = |a: Tree, b: Tree| Tree::node("Sub", [a, b]);
    let less = |k: usize, y: f64| if y == 0.0 { x(k) } else { minus(x(k), number(y)) };
    let (positive, nonzero) = (|a| Tree::node("Positive", [a]), |a| Tree::node("Nonzero", [a]));
    let (not_whole, or) = (|a| Tree::node("NotWhole", [a]), |a, b| Tree::node("Or", [a, b]));
    match *condition {
        Condition::Above(k, bound) => positive(less(k, bound)),
        Condition::Below(k, bound) => positive(minus(number(bound), x(k))),
        Condition::IsNot(k, value) => nonzero(less(k, value)),
        Condition::NotWhole(k) => not_whole(x(k)),
        Condition::NotHalf(k) => not_whole(Tree::node("Add", [x(k), number(0.5)])),
        Condition::NotWholeRatio(a, b) => not_whole(Tree::node("Div", [x(a), x(b)])),
        Condition::NotPole(k) => nonzero(Tree::node("Fn Cos", [x(k)])),
        Condition::NotGammaPole(k) => or(positive(x(k)), not_whole(x(k))),
        Condition::Differ(a, b) => nonzero(minus(x(a), x(b))),
        Condition::NotBothZero(a, b) => or(nonzero(x(a)), nonzero(x(b))),
        Condition::OffCut(a, b) => or(positive(x(a)), nonzero(x(b))),
    }
}

/// A number as a term.
pub(super) fn number(x: f64) -> Tree {
    if x.is_nan() { Tree::leaf("Undefined") } else { Tree::node("Q", written(x)) }
}

/// Numerator and denominator of a number in lowest terms. It is a binary fraction, and both parts of those in terms fit.
pub(super) fn written(x: f64) -> [Tree; 2] {
    let (mut numerator, mut denominator) = (x, 1u128);
    while numerator != libm::trunc(numerator) && denominator < 1 << 100 {
        numerator *= 2.0;
        denominator *= 2;
    }
    [Tree::leaf(numerator as i128), Tree::leaf(denominator)]
}
