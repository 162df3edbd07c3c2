//! Terms of the table unfolded until only functions are left that the proofs know.

use super::tree::Tree;
use crate::{Condition, Known, Meaning, PrimRow, Term};
use cotan_ir::{Elem, OperandElem};

/// A term of the proofs, by what it denotes.
#[derive(Clone)]
pub(super) enum Value {
    Real(Tree),
    Whole(Tree),
    Truth(Truth),
}

/// A condition. There is no term for it alone: only choices have conditions.
#[derive(Clone)]
pub(super) enum Truth {
    /// An operand, by its position among those that are no real numbers.
    Flag(usize),
    /// Two real numbers and how they are related.
    Related(&'static str, Tree, Tree),
    And(Box<Truth>, Box<Truth>),
    Or(Box<Truth>, Box<Truth>),
    Not(Box<Truth>),
    Always(bool),
}

impl Value {
    pub(super) fn real(self) -> Tree {
        match self {
            Value::Real(tree) => tree,
            Value::Whole(tree) => Tree::node("OfWhole", [tree]),
            Value::Truth(_) => unreachable!("invariant: a truth value is no operand of arithmetic"),
        }
    }

    fn whole(self) -> Tree {
        match self {
            Value::Whole(tree) => tree,
            Value::Real(_) | Value::Truth(_) => unreachable!("invariant: a whole number is asked for"),
        }
    }

    fn truth(self) -> Truth {
        match self {
            Value::Truth(truth) => truth,
            Value::Real(_) | Value::Whole(_) => unreachable!("invariant: the condition of a choice is a truth value"),
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
pub(super) fn operands(row: &PrimRow) -> Vec<Value> {
    let (mut n_reals, mut n_others) = (0, 0);
    let operand = |elem: &OperandElem| {
        let count = if *elem == OperandElem::T { &mut n_reals } else { &mut n_others };
        let k = *count;
        *count += 1;
        match elem {
            OperandElem::T => Value::Real(Tree::node("X", [Tree::leaf(k)])),
            OperandElem::Is(Elem::Bool) => Value::Truth(Truth::Flag(k)),
            OperandElem::Is(_) => Value::Whole(Tree::node("Par", [Tree::leaf(k)])),
        }
    };
    row.sig.operands.iter().map(operand).collect()
}

/// A term over these operands.
pub(super) fn unfolded(term: &Term, operands: &[Value]) -> Value {
    match term {
        Term::Arg(n) => operands[*n].clone(),
        Term::Result => Value::Real(Tree::leaf("Y")),
        Term::Number(x) => Value::Real(number(*x)),
        Term::Named(constant) => {
            let [numerator, denominator] = fraction(constant.value);
            let exact = unfolded(&constant.exact, &[]).real();
            Value::Real(Tree::node("Named", [numerator, denominator, exact]))
        }
        Term::Int(n) => whole_number(*n),
        Term::ToT(inner) => Value::Real(unfolded(inner, operands).real()),
        Term::Apply(row, inner) => applied(row, inner.iter().map(|t| unfolded(t, operands)).collect()),
    }
}

/// A primitive applied to values.
pub(super) fn applied(row: &PrimRow, values: Vec<Value>) -> Value {
    match (row.meaning, row.term()) {
        (Meaning::Known(known), _) => known_applied(known, values),
        (_, Some(term)) => unfolded(term, &values),
        (Meaning::Always(truth), None) => Value::Truth(Truth::Always(truth)),
        (Meaning::Term(_) | Meaning::Expansion | Meaning::Other, None) => {
            unreachable!("invariant: the terms of rules are made of functions of real numbers")
        }
    }
}

fn known_applied(known: Known, mut values: Vec<Value>) -> Value {
    let is_whole = values.iter().any(|value| matches!(value, Value::Whole(_)));
    let real = |name: &str, values: Vec<Value>| Value::Real(Tree::node(name, values.into_iter().map(Value::real)));
    match known {
        Known::Add if is_whole => Value::Whole(Tree::node("IAdd", values.into_iter().map(Value::whole))),
        Known::Sub if is_whole => Value::Whole(Tree::node("ISub", values.into_iter().map(Value::whole))),
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
        Known::LogGamma => with_whole("Gamma", vec![values.remove(0), whole_number(-1)]),
        Known::Digamma => with_whole("Gamma", vec![values.remove(0), whole_number(0)]),
        Known::Polygamma => with_whole("Gamma", values),
        Known::Less => related("Less", values),
        Known::AtMost => related("AtMost", values),
        Known::Equal => related("Same", values),
        Known::Not => Value::Truth(Truth::Not(Box::new(values.remove(0).truth()))),
        Known::And => connected(Truth::And, values),
        Known::Or => connected(Truth::Or, values),
        Known::Select => {
            let [condition, yes, no] = exactly(values);
            Value::Real(condition.truth().choice(yes.real(), no.real()))
        }
    }
}

/// A function of a real and a whole number.
fn with_whole(name: &str, values: Vec<Value>) -> Value {
    let [x, n] = exactly(values);
    Value::Real(Tree::node(name, [x.real(), n.whole()]))
}

fn related(relation: &'static str, values: Vec<Value>) -> Value {
    let [a, b] = exactly(values);
    Value::Truth(Truth::Related(relation, a.real(), b.real()))
}

fn connected(connective: fn(Box<Truth>, Box<Truth>) -> Truth, values: Vec<Value>) -> Value {
    let [p, q] = exactly(values).map(|value| Box::new(value.truth()));
    Value::Truth(connective(p, q))
}

fn exactly<const N: usize>(values: Vec<Value>) -> [Value; N] {
    values.try_into().unwrap_or_else(|_| unreachable!("invariant: a term gives a primitive as many operands as it has"))
}

/// A condition of a domain.
pub(super) fn condition(condition: &Condition, operands: &[Value]) -> Tree {
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
    if x.is_nan() { Tree::leaf("Undefined") } else { Tree::node("Q", fraction(x)) }
}

fn whole_number(n: i64) -> Value {
    Value::Whole(Tree::node("Lit", [Tree::leaf(n)]))
}

/// Numerator and denominator of a number in lowest terms. It is a binary fraction, and both parts of those in terms fit.
fn fraction(x: f64) -> [Tree; 2] {
    let (mut numerator, mut denominator) = (x, 1u128);
    while numerator != libm::trunc(numerator) && denominator < 1 << 100 {
        numerator *= 2.0;
        denominator *= 2;
    }
    [Tree::leaf(numerator as i128), Tree::leaf(denominator)]
}
