//! Sizes as the checker knows them: integer polynomials in normal form.
//!
//! A [`Dim`] is a sum of monomials over [`Atom`]s. Two dims that come from the signature or from
//! literals are equal exactly when their normal forms are. A dim that exists only at run time (a
//! slice, the count of a `tabulate`) is marked so: where it can't be shown equal, the comparison
//! becomes a run-time check and not an error. The mark spreads through arithmetic and takes no
//! part in equality.
//!
//! ```
//! use cotan_sema::dims::{Atom, Dim, GenericId, Relation};
//!
//! let n = Dim::atom(Atom::Size(GenericId(0)));
//! let one = Dim::constant(1);
//! let product = n.plus(&one).and_then(|m| m.times(&n));
//! let sum = n.times(&n).and_then(|m| m.plus(&n));
//! assert_eq!(product, sum);
//! assert_eq!(n.relation(&one), Relation::Differ);
//! ```

use std::hash::{Hash, Hasher};

/// A parameter in brackets of a function, struct or alias: an index into its list of generics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GenericId(pub u32);

/// A local variable of a function body: an index into its table of locals. The parameters come
/// first, so parameter `k` of a function is local `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// A size that an expression brings into being at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeId(pub u32);

/// What a polynomial is built over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// A size parameter, never negative.
    Size(GenericId),
    /// The value of an immutable i64 local: an integer parameter or a `let`.
    Value(LocalId),
    /// A size that only exists at run time, never negative.
    Runtime(SizeId),
    /// A shape pack `..S`. As an extent it stands alone, for any number of sizes; in the number
    /// of elements of a shape it is the product of them.
    Pack(GenericId),
    /// `floor(p / q)`, opaque: equal only to the same quotient.
    Floor(Box<Dim>, Box<Dim>),
}

/// A product of powers, sorted by atom; empty for 1.
type Monomial = Vec<(Atom, u32)>;

/// Polynomials with more terms than this are given up; no program needs them, and products of
/// sums could otherwise grow without bound.
const MAX_TERMS: usize = 256;

/// A size: an integer polynomial in normal form.
#[derive(Clone, Debug, PartialOrd, Ord)]
pub struct Dim {
    /// Sorted by monomial, without zero coefficients.
    terms: Vec<(Monomial, i64)>,
    is_runtime: bool,
}

impl PartialEq for Dim {
    fn eq(&self, other: &Self) -> bool {
        self.terms == other.terms
    }
}

impl Eq for Dim {}

impl Hash for Dim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.terms.hash(state);
    }
}

/// How two dims that should be equal relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// One normal form.
    Equal,
    /// Not known before the program runs: a run-time check decides.
    Check,
    /// Different, or not shown equal though both are known from the signature: an error.
    Differ,
}

impl Dim {
    /// The constant `value`.
    pub fn constant(value: i64) -> Self {
        let terms = if value == 0 { Vec::new() } else { vec![(Vec::new(), value)] };
        Self { terms, is_runtime: false }
    }

    /// A single atom.
    pub fn atom(atom: Atom) -> Self {
        let is_runtime = match &atom {
            Atom::Size(_) | Atom::Value(_) | Atom::Pack(_) => false,
            Atom::Runtime(_) => true,
            Atom::Floor(p, q) => p.is_runtime || q.is_runtime,
        };
        Self { terms: vec![(vec![(atom, 1)], 1)], is_runtime }
    }

    /// The same size, marked as one that exists only at run time.
    pub fn at_run_time(mut self) -> Self {
        self.is_runtime = true;
        self
    }

    /// Whether the size exists only at run time.
    pub fn is_runtime(&self) -> bool {
        self.is_runtime
    }

    /// The terms: products of powers of atoms with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&[(Atom, u32)], i64)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial.as_slice(), *coefficient))
    }

    /// The value, if the size is a constant.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(monomial, value)] if monomial.is_empty() => Some(*value),
            _ => None,
        }
    }

    /// The atom, if the size is a single one.
    pub fn as_atom(&self) -> Option<&Atom> {
        match self.terms.as_slice() {
            [(monomial, 1)] => match monomial.as_slice() {
                [(atom, 1)] => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    /// The shape pack, if this extent stands for one.
    pub fn as_pack(&self) -> Option<GenericId> {
        match self.as_atom()? {
            Atom::Pack(id) => Some(*id),
            Atom::Size(_) | Atom::Value(_) | Atom::Runtime(_) | Atom::Floor(..) => None,
        }
    }

    /// Whether the size is negative for no value of its atoms, as far as the signs show it.
    pub fn is_surely_non_negative(&self) -> bool {
        self.terms.iter().all(|(monomial, coefficient)| {
            *coefficient >= 0
                && monomial.iter().all(|(atom, _)| match atom {
                    Atom::Size(_) | Atom::Runtime(_) | Atom::Pack(_) => true,
                    Atom::Value(_) => false,
                    Atom::Floor(p, q) => p.is_surely_non_negative() && q.is_surely_non_negative(),
                })
        })
    }

    /// Whether the size is less than another one for all values of their atoms, as far as the signs of the difference show
    /// it.
    pub fn is_surely_below(&self, other: &Self) -> bool {
        let gap = other.minus(self).and_then(|gap| gap.minus(&Self::constant(1)));
        gap.is_some_and(|gap| gap.is_surely_non_negative())
    }

    /// Whether the size is negative for all values of its atoms, as far as the signs show it.
    pub fn is_surely_negative(&self) -> bool {
        self.is_surely_below(&Self::constant(0))
    }

    /// Calls `f` for every atom, those inside quotients included.
    pub fn each_atom(&self, f: &mut dyn FnMut(&Atom)) {
        for (atom, _) in self.terms.iter().flat_map(|(monomial, _)| monomial) {
            f(atom);
            if let Atom::Floor(p, q) = atom {
                p.each_atom(f);
                q.each_atom(f);
            }
        }
    }

    /// Whether `predicate` holds for some atom.
    pub fn has_atom(&self, predicate: impl Fn(&Atom) -> bool) -> bool {
        let mut found = false;
        self.each_atom(&mut |atom| found |= predicate(atom));
        found
    }

    /// The sum; `None` if a coefficient does not fit.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.combine(other, 1)
    }

    /// The difference; `None` if a coefficient does not fit.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.combine(other, -1)
    }

    /// `self + sign * other`.
    fn combine(&self, other: &Self, sign: i64) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (monomial, coefficient) in &other.terms {
            add_term(&mut terms, monomial.clone(), coefficient.checked_mul(sign)?)?;
        }
        Self::normal(terms, self.is_runtime || other.is_runtime)
    }

    /// The product; `None` if it is too large to handle.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut terms = Vec::new();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                add_term(&mut terms, multiply(a, b)?, x.checked_mul(*y)?)?;
                if terms.len() > MAX_TERMS {
                    return None;
                }
            }
        }
        Self::normal(terms, self.is_runtime || other.is_runtime)
    }

    /// The quotient, rounded down. A constant divisor is taken out of the terms that it divides;
    /// everything else stays opaque. `None` for a constant divisor that is not positive.
    pub fn floor_div(&self, divisor: &Self) -> Option<Self> {
        let is_runtime = self.is_runtime || divisor.is_runtime;
        let Some(q) = divisor.as_constant() else {
            let atom = Atom::Floor(Box::new(self.clone()), Box::new(divisor.clone()));
            return Some(Self { is_runtime, ..Self::atom(atom) });
        };
        if q <= 0 {
            return None;
        }
        let mut whole = Vec::new();
        let mut rest = Vec::new();
        for (monomial, coefficient) in &self.terms {
            add_term(&mut whole, monomial.clone(), coefficient.div_euclid(q))?;
            add_term(&mut rest, monomial.clone(), coefficient.rem_euclid(q))?;
        }
        let whole = Self::normal(whole, is_runtime)?;
        let rest = Self::normal(rest, is_runtime)?;
        // A constant rest lies in `0..q` and vanishes.
        if rest.as_constant().is_some() {
            return Some(whole);
        }
        let atom = Atom::Floor(Box::new(rest), Box::new(divisor.clone()));
        whole.plus(&Self { is_runtime, ..Self::atom(atom) })
    }

    /// A polynomial of terms that are sorted already, unless there are too many.
    fn normal(terms: Vec<(Monomial, i64)>, is_runtime: bool) -> Option<Self> {
        (terms.len() <= MAX_TERMS).then_some(Self { terms, is_runtime })
    }

    /// The size with atoms replaced where `replace` gives something; `None` if the result is too
    /// large to handle or divides by zero.
    pub fn substitute(&self, replace: &dyn Fn(&Atom) -> Option<Self>) -> Option<Self> {
        let mut sum = Self::constant(0);
        for (monomial, coefficient) in &self.terms {
            let mut product = Self::constant(*coefficient);
            for (atom, power) in monomial {
                let factor = match (replace(atom), atom) {
                    (Some(factor), _) => factor,
                    (None, Atom::Floor(p, q)) => p.substitute(replace)?.floor_div(&q.substitute(replace)?)?,
                    (None, Atom::Size(_) | Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_)) => {
                        Self::atom(atom.clone())
                    }
                };
                for _ in 0..*power {
                    product = product.times(&factor)?;
                }
            }
            sum = sum.plus(&product)?;
        }
        sum.is_runtime |= self.is_runtime;
        Some(sum)
    }

    /// How this size relates to one that it should be equal to.
    pub fn relation(&self, other: &Self) -> Relation {
        if self == other {
            return Relation::Equal;
        }
        let differs_by_constant = self.minus(other).is_some_and(|difference| difference.as_constant().is_some());
        if !differs_by_constant && (self.is_runtime || other.is_runtime) { Relation::Check } else { Relation::Differ }
    }

    /// Solves `self == found` for the one size parameter among `unknown` that `self` is linear in.
    /// The solution is rounded down: whether it fits shows when it is put back.
    pub fn solve(&self, unknown: &dyn Fn(GenericId) -> bool, found: &Self) -> Option<(GenericId, Self)> {
        let mut target = None;
        let mut rest = found.clone();
        for (monomial, coefficient) in &self.terms {
            let has_unknown = monomial.iter().any(|(atom, _)| mentions(atom, unknown));
            match monomial.as_slice() {
                [(Atom::Size(id), 1)] if has_unknown && target.is_none() => target = Some((*id, *coefficient)),
                _ if has_unknown => return None,
                _ => rest = rest.minus(&Self { terms: vec![(monomial.clone(), *coefficient)], is_runtime: false })?,
            }
        }
        let (id, coefficient) = target?;
        let solution = match coefficient {
            1 => rest,
            c if c > 1 => rest.floor_div(&Self::constant(c))?,
            c => Self::constant(0).minus(&rest)?.floor_div(&Self::constant(c.checked_neg()?))?,
        };
        Some((id, solution))
    }

    /// The size as text, with atoms named by `name`; a quotient is written `p / q`.
    pub fn show(&self, name: &dyn Fn(&Atom) -> String) -> String {
        if self.terms.is_empty() {
            return "0".to_owned();
        }
        let mut text = String::new();
        // The constant, which sorts first, is read more easily at the end.
        let (constants, others): (Vec<_>, Vec<_>) = self.terms.iter().partition(|(monomial, _)| monomial.is_empty());
        for (at, (monomial, coefficient)) in others.into_iter().chain(constants).enumerate() {
            let sign = match (at, *coefficient < 0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            let factors = monomial.iter().flat_map(|(atom, power)| {
                let factor = match atom {
                    Atom::Floor(p, q) => format!("({} / {})", p.show_operand(name), q.show_operand(name)),
                    Atom::Size(_) | Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_) => name(atom),
                };
                std::iter::repeat_n(factor, *power as usize)
            });
            let magnitude = coefficient.unsigned_abs();
            let number = (magnitude != 1 || monomial.is_empty()).then(|| magnitude.to_string());
            let product = number.into_iter().chain(factors).collect::<Vec<_>>().join("*");
            text.push_str(sign);
            text.push_str(&product);
        }
        text
    }

    fn show_operand(&self, name: &dyn Fn(&Atom) -> String) -> String {
        let text = self.show(name);
        if self.as_constant().is_some() || self.as_atom().is_some() { text } else { format!("({text})") }
    }
}

/// Whether an unknown parameter stands in the atom.
fn mentions(atom: &Atom, unknown: &dyn Fn(GenericId) -> bool) -> bool {
    match atom {
        Atom::Size(id) => unknown(*id),
        Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_) => false,
        Atom::Floor(p, q) => [p, q].into_iter().any(|d| d.has_atom(|a| matches!(a, Atom::Size(id) if unknown(*id)))),
    }
}

/// Adds a term to a sorted list of terms.
fn add_term(terms: &mut Vec<(Monomial, i64)>, monomial: Monomial, coefficient: i64) -> Option<()> {
    match terms.binary_search_by(|(m, _)| m.cmp(&monomial)) {
        Ok(at) => {
            let sum = terms[at].1.checked_add(coefficient)?;
            if sum == 0 {
                terms.remove(at);
            } else {
                terms[at].1 = sum;
            }
        }
        Err(_) if coefficient == 0 => {}
        Err(at) => terms.insert(at, (monomial, coefficient)),
    }
    Some(())
}

/// The product of two monomials.
fn multiply(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut product = a.clone();
    for (atom, power) in b {
        match product.binary_search_by(|(other, _)| other.cmp(atom)) {
            Ok(at) => product[at].1 = product[at].1.checked_add(*power).filter(|p| *p <= MAX_TERMS as u32)?,
            Err(at) => product.insert(at, (atom.clone(), *power)),
        }
    }
    Some(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(k: u32) -> Dim {
        Dim::atom(Atom::Size(GenericId(k)))
    }

    fn number(value: i64) -> Dim {
        Dim::constant(value)
    }

    fn show(dim: &Dim) -> String {
        dim.show(&|atom| match atom {
            Atom::Size(id) => ["N", "M", "K"][id.0 as usize].to_owned(),
            Atom::Value(id) => format!("v{}", id.0),
            Atom::Runtime(id) => format!("_{}", id.0),
            Atom::Pack(id) => format!("..p{}", id.0),
            Atom::Floor(..) => unreachable!("quotients are written by their parts"),
        })
    }

    #[test]
    fn products_of_sums_have_one_normal_form() {
        let (n, m) = (size(0), size(1));
        let square = n.plus(&m).unwrap().times(&n.plus(&m).unwrap()).unwrap();
        let expanded = n
            .times(&n)
            .unwrap()
            .plus(&m.times(&n).unwrap().times(&number(2)).unwrap())
            .unwrap()
            .plus(&m.times(&m).unwrap());
        assert_eq!(Some(square.clone()), expanded);
        assert_eq!(show(&square), "2*N*M + N*N + M*M");
        assert_eq!(show(&n.minus(&n).unwrap()), "0");
    }

    #[test]
    fn a_constant_divisor_is_taken_out_where_it_divides() {
        let n = size(0);
        let six = n.times(&number(6)).unwrap().plus(&number(3)).unwrap();
        assert_eq!(show(&six.floor_div(&number(3)).unwrap()), "2*N + 1");
        let triangle = n.times(&n.plus(&number(1)).unwrap()).unwrap().floor_div(&number(2)).unwrap();
        assert_eq!(show(&triangle), "((N + N*N) / 2)");
        assert_eq!(number(7).floor_div(&number(2)), Some(number(3)));
        assert_eq!(number(-7).floor_div(&number(2)), Some(number(-4)));
        assert_eq!(n.floor_div(&number(0)), None);
    }

    #[test]
    fn quotients_by_sizes_stay_opaque() {
        let (n, m) = (size(0), size(1));
        let quotient = n.times(&m).unwrap().floor_div(&m).unwrap();
        assert_ne!(quotient, n);
        assert_eq!(quotient.relation(&n), Relation::Differ);
        assert_eq!(quotient, n.times(&m).unwrap().floor_div(&m).unwrap());
    }

    #[test]
    fn sizes_that_exist_at_run_time_are_checked_then() {
        let n = size(0);
        let r = Dim::atom(Atom::Runtime(SizeId(0)));
        assert_eq!(n.relation(&r), Relation::Check);
        assert_eq!(r.relation(&r.plus(&number(1)).unwrap()), Relation::Differ);
        assert_eq!(n.clone().at_run_time().relation(&n), Relation::Equal);
        assert_eq!(n.clone().at_run_time().relation(&size(1)), Relation::Check);
        assert_eq!(n.relation(&size(1)), Relation::Differ);
        assert_eq!(number(3).at_run_time().relation(&number(4)), Relation::Differ);
    }

    #[test]
    fn linear_dims_are_solved_and_others_are_not() {
        let (n, m, k) = (size(0), size(1), size(2));
        let only_n = |id: GenericId| id.0 == 0;
        let plus_one = n.plus(&number(1)).unwrap();
        assert_eq!(plus_one.solve(&only_n, &m), Some((GenericId(0), m.minus(&number(1)).unwrap())));
        let twice = n.times(&number(2)).unwrap();
        assert_eq!(twice.solve(&only_n, &number(8)), Some((GenericId(0), number(4))));
        assert_eq!(twice.solve(&only_n, &number(9)), Some((GenericId(0), number(4))), "shows when it is put back");
        assert_eq!(n.times(&n).unwrap().solve(&only_n, &number(9)), None);
        assert_eq!(n.times(&k).unwrap().solve(&only_n, &m), None);
        let from_ten = number(10).minus(&n).unwrap();
        assert_eq!(from_ten.solve(&only_n, &number(4)), Some((GenericId(0), number(6))));
    }

    #[test]
    fn substitution_reaches_into_quotients() {
        let n = size(0);
        let half = n.floor_div(&number(2)).unwrap();
        let at = |value| half.substitute(&|atom| (*atom == Atom::Size(GenericId(0))).then(|| number(value)));
        assert_eq!(at(9), Some(number(4)));
        let by = number(1).floor_div(&n).unwrap();
        assert_eq!(
            by.substitute(&|atom| (*atom == Atom::Size(GenericId(0))).then(|| number(0))),
            None,
            "a division by zero"
        );
    }

    #[test]
    fn growth_is_bounded() {
        let mut product = number(1);
        let mut given_up = false;
        for k in 0..40 {
            let factor = size(2 * k).plus(&size(2 * k + 1)).unwrap();
            match product.times(&factor) {
                Some(next) => product = next,
                None => {
                    given_up = true;
                    break;
                }
            }
        }
        assert!(given_up);
        assert_eq!(number(i64::MAX).plus(&number(1)), None);
    }
}
