//! A dependence test by subscripts: whether each iteration of a loop combines values into elements of its own.
//!
//! An offset is read as a number in a mixed radix, as row-major places are written: `(i * m + j) * p + k` has the digits
//! `i`, `j` and `k`. Where each digit behind the first is below its modulus, offsets are different if a digit is. So
//! iterations have their own elements if their index is a digit, and the digits behind it have the same moduli everywhere.

use cotan_loops::node::{Definitions, definitions_of, walk};
use cotan_loops::{Expr, For, Local, LoopFunction, Node, Operand, Target, shared_targets};
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// What is known of the subscripts of a function.
pub(super) struct Subscripts {
    definitions: Definitions,
    /// How often indices of loops count.
    counts: FxHashMap<Local, Operand>,
}

/// A digit: its value, and the modulus below which it is. The first one has none.
struct Digit {
    value: Operand,
    modulus: Option<Operand>,
}

impl Subscripts {
    pub(super) fn of(f: &LoopFunction) -> Subscripts {
        let mut counts = FxHashMap::default();
        walk(&f.body, &mut |node| {
            if let Node::For(l) = node {
                counts.insert(l.index, l.count);
            } else if let Node::Reduce(reduction) = node {
                counts.extend(reduction.indices.iter().copied());
            }
        });
        Subscripts { definitions: definitions_of(&f.body), counts }
    }

    /// Whether iterations of a loop share something that they combine values into.
    pub(super) fn are_shared(&self, l: &For) -> bool {
        shared_targets(&l.body).into_iter().any(|(_, target)| !self.has_own_elements(l, target))
    }

    /// Whether each iteration of a loop combines values into elements of its own.
    pub(super) fn has_own_elements(&self, l: &For, target: Target) -> bool {
        let Target::Element(_) = target else { return false };
        let mut places: Vec<Vec<Operand>> = Vec::new();
        let mut are_own = true;
        walk(&l.body, &mut |node| {
            if let Node::Combine { target: Target::Element(place), .. } = node
                && target.has_memory_of(Target::Element(*place))
            {
                match self.moduli_from(l.index, place.offset) {
                    Some(moduli) => places.push(moduli),
                    None => are_own = false,
                }
            }
        });
        let [first, others @ ..] = &places[..] else { return false };
        let is_same =
            |a: &[Operand], b: &[Operand]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same(*a, *b));
        are_own && others.iter().all(|other| is_same(first, other))
    }

    /// The moduli from the digit on that an index is; of that one only if it has one.
    fn moduli_from(&self, index: Local, offset: Operand) -> Option<Vec<Operand>> {
        let digits = self.digits(offset)?;
        let at = digits.iter().position(|digit| digit.value == index.into())?;
        let places = digits[at..].iter().map(|digit| digit.modulus.unwrap_or(Operand::i64(0)));
        Some(places.collect())
    }

    fn digits(&self, offset: Operand) -> Option<Vec<Digit>> {
        let (rest, modulus, value) = if let Some((Instruction::Add, [a, b])) = self.native(offset) {
            let row = |row: Operand, value: Operand| self.factors(row).map(|factors| (factors, value));
            let ([x, y], value) = row(a, b).or_else(|| row(b, a))?;
            if self.is_below(value, y) {
                (x, y, value)
            } else if self.is_below(value, x) {
                (y, x, value)
            } else {
                return None;
            }
        } else if let Some([rest, modulus]) = self.factors(offset) {
            (rest, modulus, Operand::i64(0))
        } else {
            return Some(vec![Digit { value: offset, modulus: None }]);
        };
        let mut digits = self.digits(rest)?;
        digits.push(Digit { value, modulus: Some(modulus) });
        Some(digits)
    }

    fn factors(&self, operand: Operand) -> Option<[Operand; 2]> {
        let (instruction, factors) = self.native(operand)?;
        (instruction == Instruction::Mul).then_some(factors)
    }

    fn native(&self, operand: Operand) -> Option<(Instruction, [Operand; 2])> {
        let Operand::Local(local) = operand else { return None };
        let Some(Expr::Native { instruction, args, .. }) = self.definitions.get(&local) else { return None };
        let [a, b] = args[..] else { return None };
        Some((*instruction, [a, b]))
    }

    /// Whether a value is not negative and below a modulus.
    fn is_below(&self, value: Operand, modulus: Operand) -> bool {
        match value {
            Operand::Const(_) => {
                let (value, modulus) = (value.as_i64(), modulus.as_i64());
                value.zip(modulus).is_some_and(|(value, modulus)| 0 <= value && value < modulus)
            }
            Operand::Local(local) => self.counts.get(&local).is_some_and(|count| self.same(*count, modulus)),
        }
    }

    /// Whether two operands are the same number, as far as their definitions show.
    fn same(&self, a: Operand, b: Operand) -> bool {
        if a == b {
            return true;
        }
        let products = self.factors(a).zip(self.factors(b));
        products.is_some_and(|(x, y)| self.same(x[0], y[0]) && self.same(x[1], y[1]))
    }
}
