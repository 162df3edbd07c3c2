//! Proofs that a polynomial is not negative where some others are not.
//!
//! A fact `f >= 0` in which an unknown stands alone lets that unknown be replaced by what it is in terms of the value of
//! `f`, a natural number. A polynomial in naturals with no negative coefficient is not negative. So the search replaces
//! unknowns until that is seen, for a while.

use super::poly::{Poly, Sym};
use std::collections::BTreeSet;

/// How many unknowns are replaced, one after the other.
const MAX_STEPS: usize = 4;
/// How many polynomials a proof looks at.
const FUEL: usize = 150;
/// A number that no code writes: in a question whether something fits, the greatest one that does.
const LARGE: i128 = 1 << 62;

/// What is known: polynomials that are not negative.
#[derive(Clone, Debug, Default)]
struct Known {
    facts: Vec<Poly>,
    naturals: BTreeSet<Sym>,
    next: Sym,
}

/// Whether `goal >= 0` follows from the facts, which are all not negative; unknowns from `next` on are free for use.
/// Gives the positions of the facts that were looked at.
pub(super) fn follows(goal: &Poly, facts: &[&Poly], next: Sym) -> Option<Vec<usize>> {
    if let Some(n) = goal.as_number() {
        return (n >= 0).then(Vec::new);
    }
    let used = relevant(goal, facts);
    let mut known = Known { facts: Vec::new(), naturals: BTreeSet::new(), next };
    for f in used.iter().map(|k| facts[*k]) {
        known.naturals.extend(natural_unknown(f));
        if f.as_unknown().is_none() && !known.facts.contains(f) {
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
    goals.iter().any(|goal| follows_from(goal, &known)).then_some(used)
}

fn follows_from(goal: &Poly, known: &Known) -> bool {
    let mut fuel = FUEL;
    let mut rests = known.facts.iter().filter_map(|f| goal.minus(f));
    known.says(goal)
        || rests.any(|rest| known.says(&rest))
        || (1..=MAX_STEPS).any(|steps| search(goal, known, steps, &mut fuel))
}

impl Known {
    /// Whether a polynomial is a sum of products of naturals.
    fn says(&self, goal: &Poly) -> bool {
        goal.is_sum_of_naturals(|s| self.naturals.contains(&s))
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
fn relevant(goal: &Poly, facts: &[&Poly]) -> Vec<usize> {
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
