//! Sets of element numbers, shared: equal sets are kept once as far as that is cheap to see.
//!
//! A set is a sorted list of spans in one arena, so a dense set takes one span whatever it holds, and a sparse one as many as
//! it has elements at most. What two sets have together is remembered for a while, as loops ask for the same ones again.

use crate::error::{Limit, RuntimeError};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The number of a set. That of the empty set is 0, that of `{k}` is `k + 1`.
pub(crate) type SetId = u32;

/// The empty set.
pub(crate) const EMPTY: SetId = 0;

/// Consecutive elements: the first, and the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Span {
    start: u32,
    end: u32,
}

/// Up to so many spans are always joined where they touch.
const SHORT: usize = 16;

/// How many unions are remembered, a power of two.
const REMEMBERED: usize = 1 << 15;

/// Sets of elements of `0..n`.
pub(crate) struct Sets {
    spans: Vec<Span>,
    /// Where the spans of each set begin, and how many there are.
    sets: Vec<(usize, u32)>,
    /// Unions by a hash of their operands; a later one takes the place of an earlier one.
    unions: Vec<(SetId, SetId, SetId)>,
    by_content: FxHashMap<u64, SetId>,
    max_spans: usize,
}

impl Sets {
    /// The empty set and the sets of one element. More sets may take so many bytes.
    pub(crate) fn new(n: u32, max_bytes: u64) -> Sets {
        let spans: Vec<Span> = (0..n).map(|k| Span { start: k, end: k + 1 }).collect();
        let sets = std::iter::once((0, 0)).chain((0..n as usize).map(|k| (k, 1))).collect();
        let max_spans = usize::try_from(max_bytes / size_of::<Span>() as u64).unwrap_or(usize::MAX);
        let max_spans = spans.len().saturating_add(max_spans);
        Sets { spans, sets, unions: vec![(0, 0, 0); REMEMBERED], by_content: FxHashMap::default(), max_spans }
    }

    /// The set of one element.
    pub(crate) fn single(element: u32) -> SetId {
        element + 1
    }

    /// How many elements a set has.
    pub(crate) fn count(&self, id: SetId) -> usize {
        self.spans_of(id).iter().map(|span| (span.end - span.start) as usize).sum()
    }

    /// The elements of a set, ascending.
    pub(crate) fn elements(&self, id: SetId) -> impl Iterator<Item = u32> + '_ {
        self.spans_of(id).iter().flat_map(|span| span.start..span.end)
    }

    fn spans_of(&self, id: SetId) -> &[Span] {
        let (start, n) = self.sets[id as usize];
        &self.spans[start..start + n as usize]
    }

    /// What is in one of two sets.
    pub(crate) fn union(&mut self, a: SetId, b: SetId) -> Result<SetId, RuntimeError> {
        if a == b || b == EMPTY {
            return Ok(a);
        }
        if a == EMPTY {
            return Ok(b);
        }
        let (a, b) = (a.min(b), a.max(b));
        let place = hash(&(a, b)) as usize % REMEMBERED;
        let (known_a, known_b, known) = self.unions[place];
        if (known_a, known_b) == (a, b) {
            return Ok(known);
        }
        let union = self.new_union(a, b)?;
        self.unions[place] = (a, b, union);
        Ok(union)
    }

    /// What is in one of several sets.
    pub(crate) fn union_all(&mut self, ids: &mut Vec<SetId>) -> Result<SetId, RuntimeError> {
        ids.sort_unstable();
        ids.dedup();
        if let [a, b] | [EMPTY, a, b] = ids[..] {
            return self.union(a, b);
        }
        let mut spans: Vec<Span> = ids.iter().flat_map(|id| self.spans_of(*id)).copied().collect();
        spans.sort_unstable();
        let start = self.spans.len();
        spans.into_iter().for_each(|span| push(&mut self.spans, start, span));
        self.insert(start)
    }

    fn new_union(&mut self, a: SetId, b: SetId) -> Result<SetId, RuntimeError> {
        let (long, short) = if self.sets[a as usize].1 < self.sets[b as usize].1 { (b, a) } else { (a, b) };
        if self.contains(long, short) {
            return Ok(long);
        }
        let ((long_start, n_long), (short_start, n_short)) = (self.sets[long as usize], self.sets[short as usize]);
        let (long_end, short_end) = (long_start + n_long as usize, short_start + n_short as usize);
        let start = self.spans.len();
        // A sum over a loop meets its terms in order: a long set that lies last in the arena just grows, and the set
        // before shares its spans. It may then have spans that touch, which costs a later comparison and nothing else.
        if n_long as usize > SHORT && long_end == start && self.spans[start - 1].end <= self.spans[short_start].start {
            self.spans.extend_from_within(short_start..short_end);
            self.check_size()?;
            self.sets.push((long_start, n_long + n_short));
            return Ok(self.sets.len() as SetId - 1);
        }
        let (mut at_long, mut at_short) = (long_start, short_start);
        while at_long < long_end || at_short < short_end {
            let is_long = at_short == short_end || at_long < long_end && self.spans[at_long] <= self.spans[at_short];
            let next = if is_long { &mut at_long } else { &mut at_short };
            let span = self.spans[*next];
            *next += 1;
            push(&mut self.spans, start, span);
        }
        self.insert(start)
    }

    /// Whether every span of one set lies in a span of another.
    fn contains(&self, id: SetId, part: SetId) -> bool {
        let spans = self.spans_of(id);
        self.spans_of(part).iter().all(|span| {
            let after = spans.partition_point(|other| other.start <= span.start);
            after > 0 && span.end <= spans[after - 1].end
        })
    }

    /// The set of the spans from `start` to the end of the arena, which are dropped again if there is such a set.
    fn insert(&mut self, start: usize) -> Result<SetId, RuntimeError> {
        self.check_size()?;
        let spans = &self.spans[start..];
        match spans {
            [] => return Ok(EMPTY),
            [span] if span.end == span.start + 1 => {
                let id = Sets::single(span.start);
                self.spans.truncate(start);
                return Ok(id);
            }
            _ => {}
        }
        let content = hash(spans);
        if let Some(known) = self.by_content.get(&content).copied()
            && self.spans_of(known) == spans
        {
            self.spans.truncate(start);
            return Ok(known);
        }
        let n = spans.len() as u32;
        self.sets.push((start, n));
        let id = self.sets.len() as SetId - 1;
        self.by_content.insert(content, id);
        Ok(id)
    }

    fn check_size(&self) -> Result<(), RuntimeError> {
        let is_full = self.spans.len() > self.max_spans || self.sets.len() >= u32::MAX as usize;
        if is_full { Err(RuntimeError::Limit(Limit::Tape)) } else { Ok(()) }
    }
}

/// Appends a span to those from `start` on, none of which begins after it.
fn push(spans: &mut Vec<Span>, start: usize, span: Span) {
    match spans[start..].last_mut() {
        Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
        Some(_) | None => spans.push(span),
    }
}

fn hash(of: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    let bits = hasher.finish();
    // The multiplication that the hash ends with leaves its best bits at the top.
    bits ^ (bits >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(sets: &Sets, id: SetId) -> Vec<u32> {
        sets.elements(id).collect()
    }

    fn union(sets: &mut Sets, a: SetId, b: SetId) -> SetId {
        sets.union(a, b).expect("there is room")
    }

    #[test]
    fn equal_sets_have_one_number_however_they_came_about() {
        let mut sets = Sets::new(10, 1 << 20);
        let [one, two, five] = [1, 2, 5].map(Sets::single);
        let a = union(&mut sets, one, five);
        let a = union(&mut sets, a, two);
        let b = union(&mut sets, two, five);
        let b = union(&mut sets, b, one);
        let c = sets.union_all(&mut vec![five, one, EMPTY, two, one]).expect("there is room");
        assert_eq!((a, elements(&sets, a)), (b, vec![1, 2, 5]));
        assert_eq!(a, c);
        assert_eq!(union(&mut sets, a, two), a, "what is in a set already adds nothing");
        assert_eq!(union(&mut sets, EMPTY, two), two);
        assert_eq!(sets.union_all(&mut vec![EMPTY]).expect("there is room"), EMPTY);
        assert_eq!(sets.union_all(&mut vec![two]).expect("there is room"), two);
    }

    #[test]
    fn consecutive_elements_take_one_span() {
        let mut sets = Sets::new(1000, 1 << 20);
        let all = (1..1000).fold(Sets::single(0), |all, k| union(&mut sets, all, Sets::single(k)));
        assert_eq!((sets.count(all), sets.spans_of(all).len()), (1000, 1));
    }

    #[test]
    fn a_long_sum_in_order_takes_room_for_its_terms_and_not_for_its_partial_sums() {
        let mut sets = Sets::new(20_000, 1 << 20);
        let odd: Vec<u32> = (0..10_000).map(|k| 2 * k + 1).collect();
        let sum = odd.iter().fold(EMPTY, |sum, k| union(&mut sets, sum, Sets::single(*k)));
        assert_eq!(elements(&sets, sum), odd);
        assert!(sets.spans.len() < 20_000 + 10_000 + 200, "{}", sets.spans.len());
    }

    #[test]
    fn sets_that_take_too_much_room_are_an_error() {
        let mut sets = Sets::new(1000, 1 << 10);
        let backwards = (0..500).rev().try_fold(EMPTY, |sum, k| sets.union(sum, Sets::single(2 * k)));
        assert_eq!(backwards, Err(RuntimeError::Limit(Limit::Tape)));
    }

    #[test]
    fn unions_hold_what_bit_masks_say() {
        let mut sets = Sets::new(64, 1 << 24);
        let mut known: Vec<(SetId, u64)> = (0..64).map(|k| (Sets::single(k), 1 << k)).collect();
        let mut state = 7u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let [a, b] = [(state >> 33) as usize % known.len(), (state >> 13) as usize % known.len()];
            let (a, b) = (known[a], known[b]);
            let id = union(&mut sets, a.0, b.0);
            let mask = elements(&sets, id).into_iter().fold(0, |mask, k| mask | 1 << k);
            assert_eq!(mask, a.1 | b.1);
            // A few large sets would swallow all others.
            if mask.count_ones() < 20 {
                known.push((id, mask));
            }
        }
        assert!(known.len() > 500, "{}", known.len());
    }
}
