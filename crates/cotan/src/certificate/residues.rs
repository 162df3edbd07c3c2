//! Terms on residues modulo 2^61 - 1: equal residues at random points are how equal values are found.
//!
//! Sums, products and quotients are exact, and a fixed polynomial stands for every other function. Comparisons hold or not
//! by chance, so there are several points at once. Two terms have the same residues if the axioms of a field make them
//! equal, and hardly ever otherwise (Schwartz, "Fast probabilistic algorithms for verification of polynomial identities",
//! 1980).

use super::program;
use super::program::{How, Program, denoted};
use cotan_interp::path::{Id, Path, Step};
use cotan_ops::{Denoted, Mod61, Ring, Tree, Truth};

/// How many points there are: a cotangent behind a chain of comparisons is other than 0 at few of them.
const POINTS: usize = 256;

/// What a value is at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Residue([Mod61; POINTS]);

/// What values are at random points.
pub(super) struct Residues {
    /// Of each step of the path; of truth values nothing.
    pub(super) steps: Vec<Residue>,
    /// Of each value of the program the derivative of the output with respect to it.
    pub(super) cotangents: Vec<Residue>,
}

impl Residue {
    /// The same number at all points.
    fn number(n: i128) -> Residue {
        Residue([Mod61::new(n); POINTS])
    }

    /// The small integer that it is at all points, if it is one.
    pub(super) fn small(self) -> Option<i64> {
        [0, 1, -1].into_iter().find(|n| self == Residue::number((*n).into()))
    }

    fn map(self, f: impl Fn(Mod61) -> Mod61) -> Residue {
        Residue(self.0.map(f))
    }

    fn with(self, other: Residue, f: impl Fn(Mod61, Mod61) -> Mod61) -> Residue {
        Residue(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }

    fn add(self, other: Residue) -> Residue {
        self.with(other, Mod61::add)
    }

    fn sub(self, other: Residue) -> Residue {
        self.with(other, Mod61::sub)
    }

    fn mul(self, other: Residue) -> Residue {
        self.with(other, Mod61::mul)
    }

    /// 1 or 0, at each point by a chance of its own: constants are the same at all points.
    fn by_chance(self) -> Residue {
        let bit = |k: usize| self.0[k].value().wrapping_add(k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63;
        Residue(std::array::from_fn(|k| Mod61::new(bit(k).into())))
    }

    fn inverse(self) -> Residue {
        self.map(Mod61::inverse)
    }
}

impl Residues {
    pub(super) fn new(path: &Path, program: &Program) -> Residues {
        let mut random = Random(0x5eed);
        let mut steps = vec![Residue::number(0); path.len()];
        let mut truths: Vec<Option<Truth>> = vec![None; path.len()];
        for id in 0..path.len() as Id {
            let row = match path.step(id) {
                Step::Row { row, operands } => {
                    let number = |id: Id| path.value(id).elem().is_float().then_some(id);
                    let operands = denoted(operands, &number, &|id| truths[id as usize].as_ref());
                    operands.and_then(|operands| row.unfolded(operands))
                }
                Step::Constant(c) => Some(Denoted::Real(program.constant(*c))),
                Step::Input => None,
            };
            let is_given = program.number(id).is_some_and(|n| matches!(program.values()[n as usize].how, How::Input));
            match row {
                Some(Denoted::Truth(truth)) => truths[id as usize] = Some(truth),
                Some(other) if !is_given => steps[id as usize] = value(&other.real(), &|n| steps[n]),
                Some(_) | None => steps[id as usize] = Residue(std::array::from_fn(|_| random.next())),
            }
        }
        let cotangents = cotangents(program, &steps);
        Residues { steps, cotangents }
    }
}

fn cotangents(program: &Program, steps: &[Residue]) -> Vec<Residue> {
    let mut values: Vec<Residue> = Vec::with_capacity(program.len());
    for origin in program.values() {
        values.push(match (origin.step, &origin.how) {
            (Some(id), _) => steps[id as usize],
            (None, How::Number(exact)) => value(&exact.tree(), &|n| values[n]),
            (None, How::Choice(relation, args)) => {
                let [a, b, yes, no] = args.map(|n| Denoted::numbered(n).real());
                value(&program::choice(relation, &[a, b], [yes, no]), &|n| values[n])
            }
            (None, How::Input | How::Use { .. }) => Residue::number(0),
        });
    }
    let mut cots = vec![Residue::number(0); program.len()];
    cots[program.output as usize] = Residue::number(1);
    for (n, origin) in program.values().iter().enumerate().rev() {
        for (to, partial) in program::partials(n as u32, origin) {
            let sent = cots[n].mul(value(&partial, &|n| values[n]));
            cots[to as usize] = cots[to as usize].add(sent);
        }
    }
    cots
}

/// The residue of a term, where values have these.
fn value(term: &Tree, of: &dyn Fn(usize) -> Residue) -> Residue {
    let at = |k: usize| value(&term.operands[k], of);
    let integer = |k: usize| term.operands.get(k).map_or(0, whole);
    match term.head.as_str() {
        "X" => of(integer(0) as usize),
        "Q" => Residue::number(integer(0)).mul(Residue::number(integer(1)).inverse()),
        "Named" => at(2),
        "OfWhole" => Residue::number(integer(0)),
        "Neg" => Residue::number(0).sub(at(0)),
        "Add" => at(0).add(at(1)),
        "Sub" => at(0).sub(at(1)),
        "Mul" => at(0).mul(at(1)),
        "Div" => at(0).mul(at(1).inverse()),
        "PowZ" => {
            let exponent = integer(1).unsigned_abs() as u64;
            let power = at(0).map(|x| x.power(exponent));
            if integer(1) < 0 { power.inverse() } else { power }
        }
        "Gamma" => function(&format!("Gamma {}", integer(1)), &[at(0)]),
        "If" => {
            let relation = term.operands[0].head.as_str();
            let holds = match relation {
                "Less" if at(1) == at(2) => Residue::number(0),
                _ if at(1) == at(2) => Residue::number(1),
                _ => function(relation, &[at(1), at(2)]).by_chance(),
            };
            holds.mul(at(3)).add(Residue::number(1).sub(holds).mul(at(4)))
        }
        other => function(other, &(0..term.operands.len()).map(at).collect::<Vec<_>>()),
    }
}

/// A whole number in a term.
fn whole(term: &Tree) -> i128 {
    match (term.head.as_str(), term.operands.as_slice()) {
        ("Lit", [n]) => whole(n),
        (n, _) => n.parse().unwrap_or_default(),
    }
}

/// What stands for a function of that name: a cubic polynomial in each operand.
fn function(name: &str, operands: &[Residue]) -> Residue {
    let hash = name.bytes().fold(7, |hash: i128, byte| (hash * 131 + i128::from(byte)) % 1_000_003);
    let (mut total, mut coefficient) = (Residue::number(hash), hash);
    for x in operands {
        coefficient = (coefficient * 31 + 17) % 1_000_003;
        let linear = x.mul(Residue::number(coefficient));
        total = x.mul(x.mul(*x)).add(linear).add(total.mul(total));
    }
    total
}

/// Steps of Weyl's sequence, mixed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> Mod61 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Mod61::new((z ^ (z >> 31)).into())
    }
}
