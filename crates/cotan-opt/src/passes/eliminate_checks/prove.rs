//! Proofs that a polynomial is not negative where some others are not.
//!
//! A fact `f >= 0` in which an unknown stands alone lets that unknown be replaced by what it is in terms of the value of
//! `f`, a natural number. A polynomial in naturals with no negative coefficient is not negative. So the search replaces
//! unknowns until that is seen, for a while.

use cotan_ir::{Unknown, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A polynomial of integers of this kind.
pub(super) type PolyOf<S> = cotan_ir::Poly<S, MAX_DEGREE, MAX_TERMS>;

/// An unknown integer of a question.
type Sym = u32;

/// A polynomial of a question.
type Poly = PolyOf<Sym>;

/// Polynomials with more factors or terms than this are not worth it.
const MAX_DEGREE: usize = 4;
const MAX_TERMS: usize = 24;
/// How many unknowns are replaced, one after the other.
const MAX_STEPS: usize = 4;
/// How many polynomials a proof looks at.
const FUEL: usize = 150;
/// The same where it sets out from a fact about a product. One that helps does so soon; where there are many, each gets less.
const FUEL_BESIDE: std::ops::RangeInclusive<usize> = 8..=32;
/// What all such proofs look at together, about.
const FUEL_BESIDE_IN_ALL: usize = 512;
/// A number that no code writes: in a question whether something fits, the greatest one that does.
const LARGE: i128 = 1 << 62;

/// What is known: polynomials that are not negative.
#[derive(Clone, Debug, Default)]
struct Known {
    facts: Vec<Poly>,
    naturals: BTreeSet<Sym>,
    next: Sym,
}

/// Answers questions, and remembers the answers: code that is run again asks the same ones of other variables.
#[derive(Default)]
pub(super) struct Prover {
    answers: FxHashMap<Question, bool>,
}

/// A goal, and what is known; unknowns are numbered from zero in the order of their names.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    goal: Poly,
    facts: Vec<Poly>,
}

impl Prover {
    /// Whether `goal >= 0` follows from the facts, which are all not negative. Gives the positions of the facts that were
    /// looked at.
    pub(super) fn follows(&mut self, goal: &PolyOf<Var>, facts: &[&PolyOf<Var>]) -> Option<Vec<usize>> {
        if let Some(n) = goal.as_number() {
            return (n >= 0).then(Vec::new);
        }
        let used = relevant(goal, facts);
        let used_facts: Vec<&PolyOf<Var>> = used.iter().map(|k| facts[*k]).collect();
        let names: BTreeSet<Var> = used_facts.iter().copied().chain([goal]).flat_map(PolyOf::unknowns).collect();
        let numbers: FxHashMap<Var, Sym> = names.iter().copied().zip(0..).collect();
        let numbered = |p: &PolyOf<Var>| p.renamed(|s| numbers[&s]);
        let mut seen = FxHashSet::default();
        let facts = used_facts.into_iter().filter(|f| seen.insert(*f)).map(numbered).collect();
        let question = Question { goal: numbered(goal), facts };
        let answer = match self.answers.get(&question) {
            Some(answer) => *answer,
            None => {
                let answer = question.answer(names.len() as Sym);
                self.answers.insert(question, answer);
                answer
            }
        };
        answer.then_some(used)
    }
}

impl Question {
    /// Whether the goal follows; unknowns from `next` on are free for use.
    fn answer(&self, next: Sym) -> bool {
        let goal = &self.goal;
        let mut known = Known { facts: Vec::new(), naturals: BTreeSet::new(), next };
        for f in &self.facts {
            known.naturals.extend(natural_unknown(f));
            if f.as_unknown().is_none() {
                known.facts.push(f.clone());
            }
        }
        // A fact about a product helps as a whole.
        let products = known.facts.iter().filter(|f| f.has_products() || f.constant().abs() >= LARGE);
        let mut goals: Vec<Poly> = products.filter_map(|f| goal.minus(f)).collect();
        if goal.constant().abs() >= LARGE {
            // What fits may be what is below something else that does.
            let unknowns: BTreeSet<Sym> = known.facts.iter().chain([goal]).flat_map(Poly::unknowns).collect();
            let fits = |s: &Sym| Poly::number(i64::MAX.into()).minus(&Poly::unknown(*s));
            goals.extend(unknowns.iter().filter_map(fits).filter_map(|fit| goal.minus(&fit)));
        }
        known.facts.retain(|f| f.constant().abs() < LARGE);
        goals.push(goal.clone());
        known.say_one_of(&goals) || {
            let beside = (FUEL_BESIDE_IN_ALL / goals.len()).clamp(*FUEL_BESIDE.start(), *FUEL_BESIDE.end());
            let mut fuel = vec![beside; goals.len()];
            fuel[goals.len() - 1] = FUEL;
            (1..=MAX_STEPS).any(|n| goals.iter().zip(&mut fuel).any(|(goal, fuel)| search(goal, &known, n, fuel)))
        }
    }
}

impl Known {
    /// Whether a polynomial is a sum of products of naturals.
    fn says(&self, goal: &Poly) -> bool {
        goal.is_sum_of_naturals(|s| self.naturals.contains(&s))
    }

    /// Whether one of some polynomials is such a sum, or a fact and such a sum.
    fn say_one_of(&self, goals: &[Poly]) -> bool {
        let rest = |goal: &Poly| self.facts.iter().filter_map(|f| goal.minus(f)).any(|rest| self.says(&rest));
        goals.iter().any(|goal| self.says(goal)) || goals.iter().any(rest)
    }
}

/// The unknown that a fact alone says is not negative.
fn natural_unknown(fact: &Poly) -> Option<Sym> {
    let unknowns = fact.unknowns();
    let sym = unknowns.first().filter(|_| unknowns.len() == 1)?;
    let above = Poly::unknown(*sym).minus(fact)?.as_number()?;
    (above >= 0).then_some(*sym)
}

/// The positions of the facts that have to do with the goal, directly or through others.
fn relevant<S: Unknown>(goal: &PolyOf<S>, facts: &[&PolyOf<S>]) -> Vec<usize> {
    let mut unknowns = goal.unknowns();
    let mut taken = vec![false; facts.len()];
    let mut grows = true;
    while grows {
        grows = false;
        for (taken, f) in taken.iter_mut().zip(facts) {
            if !*taken && unknowns.iter().any(|s| f.has(*s)) {
                *taken = true;
                grows = true;
                unknowns.extend(f.unknowns());
            }
        }
    }
    (0..facts.len()).filter(|k| taken[*k]).collect()
}

/// Whether replacing so many unknowns shows that the goal, which does not show it itself, is not negative.
fn search(goal: &Poly, known: &Known, steps: usize, fuel: &mut usize) -> bool {
    let mut in_the_way = goal.subtracted();
    let is_in_the_way = |s: &Sym| goal.constant() < 0 || !known.naturals.contains(s);
    in_the_way.extend(goal.unknowns().into_iter().filter(is_in_the_way));
    for sym in in_the_way.into_iter().rev() {
        for at in 0..known.facts.len() {
            if *fuel == 0 {
                return false;
            }
            let Some(value) = known.facts[at].solved_for(sym, known.next) else { continue };
            let Some(goal) = goal.with(sym, &value) else { continue };
            *fuel -= 1;
            if goal.is_sum_of_naturals(|s| s == known.next || s != sym && known.naturals.contains(&s))
                || steps > 1 && search(&goal, &known.replaced(sym, at, value), steps - 1, fuel)
            {
                return true;
            }
        }
    }
    false
}

impl Known {
    /// What is known with an unknown replaced by what a fact says of it.
    fn replaced(&self, sym: Sym, fact: usize, value: Poly) -> Known {
        let mut naturals = self.naturals.clone();
        naturals.insert(self.next);
        let mut facts: Vec<Poly> = Vec::with_capacity(self.facts.len());
        for (at, f) in self.facts.iter().enumerate() {
            if at != fact {
                facts.extend(if f.has(sym) { f.with(sym, &value) } else { Some(f.clone()) });
            }
        }
        if naturals.remove(&sym) {
            facts.push(value);
        }
        Known { facts, naturals, next: self.next + 1 }
    }
}
