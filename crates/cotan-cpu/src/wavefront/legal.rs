//! Whether stages of different tiles may overlap.
//!
//! Note [Wavefronts]. Iterations of a nest have two coordinates: the number `t` of the outer loop and the stage, which
//! is what stands before the inner loop, an iteration `s` of it, or what stands behind. With tiles of several `t`, what
//! changes is the order of two iterations of which the later one, by `t`, has an earlier stage. So it has to be shown
//! that no such two touch one element, unless both read it. Their offsets differ by a polynomial in the distances and in
//! the counters inside; it must be positive everywhere or negative everywhere. That is tried for all distances of `t`
//! from some number on, and for each of the few below it: the neighbour in the row before lies on the other side than
//! all rows further up.
//!
//! In lanes all iterations with one number `s + skew t` run together, in the order of these numbers. So there it has to
//! be shown for iterations of which the later one, `d` rows further down, lies `skew d` or more before the earlier one in
//! its row.

use super::access::Access;
use super::bounds::{Counter, Facts, Poly};
use cotan_loops::node::{Buffer, Local};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many distances are looked at one by one.
const NEAR: i128 = 3;

/// The loops of a nest.
#[derive(Clone)]
pub(super) struct Loops {
    /// The counters of the outer and the inner loop.
    pub(super) indices: [Local; 2],
    /// What their counts are at most, where they run.
    pub(super) counts: [Vec<Poly>; 2],
    /// What is known of numbers outside.
    pub(super) facts: Facts,
    /// The number of a local that there is not.
    pub(super) fresh: u32,
    /// How many iterations of the inner loop each row lags behind the one before, in lanes; `None` for stages of tiles.
    pub(super) skew: Option<i128>,
}

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Stage {
    Before,
    Inner,
    Behind,
}

impl Stage {
    pub(super) const ALL: [Stage; 3] = [Stage::Before, Stage::Inner, Stage::Behind];
}

impl Loops {
    /// Whether the stages may overlap, see Note [Wavefronts]. `accesses` leave out what each `t` has for itself.
    pub(super) fn may_overlap(&self, accesses: &[(Stage, Access)]) -> bool {
        let written: FxHashSet<Buffer> =
            accesses.iter().filter(|(_, access)| access.writes).map(|(_, access)| access.buffer).collect();
        let mut of_buffer: FxHashMap<Buffer, Vec<&(Stage, Access)>> = FxHashMap::default();
        for access in accesses.iter().filter(|(_, access)| written.contains(&access.buffer)) {
            of_buffer.entry(access.1.buffer).or_default().push(access);
        }
        of_buffer.values().all(|all| {
            all.iter().all(|(earlier_stage, earlier)| {
                all.iter().all(|(later_stage, later)| {
                    let is_swapped = later_stage < earlier_stage || [*later_stage, *earlier_stage] == [Stage::Inner; 2];
                    !is_swapped
                        || !(earlier.writes || later.writes)
                        || self.are_apart((*earlier_stage, earlier), (*later_stage, later)).is_some()
                })
            })
        })
    }

    /// Whether no two iterations of the inner loop have the same offset.
    pub(super) fn are_all_apart(&self, offset: &Poly) -> bool {
        let [t, s] = self.indices;
        let in_row = offset.split(s).is_some_and(|(_, slope)| slope.as_number().is_some_and(|n| n != 0));
        let rows_are_apart = || {
            let mut pair = Pair { loops: self, fresh: self.fresh, facts: self.facts.clone() };
            let [distance, other] = [pair.counter(), pair.counter()];
            pair.run(0, 1)?;
            pair.run(1, 0)?;
            let further = Poly::unknown(t).plus(&Poly::unknown(distance))?.plus(&Poly::number(1))?;
            let difference = offset.with(t, &further)?.with(s, &Poly::unknown(other))?.minus(offset)?;
            let row = pair.ends(1, 1, &Poly::number(0))?;
            let counters = [
                Counter { local: other, most: row.clone() },
                Counter { local: s, most: row },
                Counter { local: distance, most: pair.ends(0, 2, &Poly::unknown(t))? },
                Counter { local: t, most: pair.ends(0, 2, &Poly::number(0))? },
            ];
            let negated = Poly::number(0).minus(&difference)?;
            [difference, negated].iter().any(|poly| pair.facts.is_positive(poly, &counters)).then_some(())
        };
        in_row && rows_are_apart().is_some()
    }

    /// Shows that a later `t` never meets in an earlier stage what the first access touches.
    fn are_apart(&self, (x_stage, x): (Stage, &Access), (y_stage, y): (Stage, &Access)) -> Option<()> {
        let mut pair = Pair { loops: self, fresh: self.fresh, facts: self.facts.clone() };
        let [t, s] = self.indices;
        let [distance, between] = [pair.counter(), pair.counter()];
        let is_inside = [x_stage, y_stage] == [Stage::Inner; 2];
        // There are two numbers of the outer loop, and of the inner one where both are inside.
        pair.run(0, 1)?;
        if x_stage == Stage::Inner || y_stage == Stage::Inner {
            pair.run(1, if is_inside { self.skew.unwrap_or(1) } else { 0 })?;
        }
        (0..2).for_each(|_| [x, y].iter().flat_map(|access| &access.counts).for_each(|count| pair.facts.runs(count)));
        let names: FxHashMap<Local, Local> = y.counters.iter().map(|c| (c.local, pair.counter())).collect();
        let of_s = Poly::unknown(s);
        let differ = |pair: &Pair, far: Poly, distances: Option<Counter>, nearest: i128| -> Option<()> {
            // How far the earlier one lies ahead in its row, at least.
            let lead = match self.skew {
                _ if !is_inside => Poly::number(0),
                Some(skew) => Poly::number(0).plus_times(skew, &far)?,
                None => Poly::number(1),
            };
            let x_s = if is_inside { of_s.plus(&Poly::unknown(between))?.plus(&lead)? } else { of_s.clone() };
            let x = x.moved(&FxHashMap::default(), &[(s, x_s)])?;
            let mut inner = Vec::new();
            if is_inside {
                inner.push(Counter { local: between, most: pair.ends(1, 1, &lead.plus(&of_s)?)? });
            }
            if x_stage == Stage::Inner || y_stage == Stage::Inner {
                inner.push(Counter { local: s, most: pair.ends(1, 1, &lead)? });
            }
            let y = y.moved(&names, &[(t, Poly::unknown(t).plus(&far)?)])?;
            let difference = y.offset.clone()?.minus(x.offset.as_ref()?)?;
            let t_range = Counter { local: t, most: pair.ends(0, nearest + 1, &Poly::number(0))? };
            let counters = [&y.counters, &x.counters, &inner].into_iter().flatten().cloned();
            let counters: Vec<Counter> = counters.chain(distances).chain([t_range]).collect();
            let negated = Poly::number(0).minus(&difference)?;
            let differs = pair.facts.is_positive(&difference, &counters) || pair.facts.is_positive(&negated, &counters);
            differs.then_some(())
        };
        for nearest in 1..=NEAR {
            let least = Poly::number(nearest);
            let range = Counter { local: distance, most: pair.ends(0, nearest + 1, &Poly::unknown(t))? };
            if differ(&pair, Poly::unknown(distance).plus(&least)?, Some(range), nearest).is_some() {
                return Some(());
            }
            differ(&pair, least, None, nearest)?;
        }
        None
    }
}

/// What is looked at for two accesses.
struct Pair<'a> {
    loops: &'a Loops,
    fresh: u32,
    facts: Facts,
}

impl Pair<'_> {
    fn counter(&mut self) -> Local {
        self.fresh += 1;
        Local(self.fresh - 1)
    }

    /// A loop runs more than `n` times.
    fn run(&mut self, which: usize, n: i128) -> Option<()> {
        for count in &self.loops.counts[which] {
            self.facts.runs(&count.minus(&Poly::number(n))?);
        }
        Some(())
    }

    /// The counts of a loop less a number and a polynomial.
    fn ends(&self, which: usize, less: i128, and: &Poly) -> Option<Vec<Poly>> {
        let end = |count: &Poly| count.minus(&Poly::number(less))?.minus(and);
        self.loops.counts[which].iter().map(end).collect()
    }
}

impl Access {
    /// With other counters, and polynomials in the place of outer ones.
    fn moved(&self, names: &FxHashMap<Local, Local>, outer: &[(Local, Poly)]) -> Option<Access> {
        let renamed = |poly: &Poly| {
            let poly = outer.iter().try_fold(poly.clone(), |poly, (local, by)| poly.with(*local, by))?;
            self.counters
                .iter()
                .filter_map(|c| names.get(&c.local).map(|name| (c.local, name)))
                .try_fold(poly, |poly, (local, name)| poly.with(local, &Poly::unknown(*name)))
        };
        let counters = self.counters.iter().map(|counter| {
            let local = names.get(&counter.local).copied().unwrap_or(counter.local);
            let most = counter.most.iter().map(&renamed).collect::<Option<_>>()?;
            Some(Counter { local, most })
        });
        let counters = counters.collect::<Option<_>>()?;
        let offset = match &self.offset {
            Some(offset) => Some(renamed(offset)?),
            None => None,
        };
        Some(Access { offset, counters, counts: self.counts.clone(), ..*self })
    }
}
