//! Greedy colouring of the row that has the least choice (Brélaz, "New methods to color the vertices of a graph", 1979).

use super::orders::Incidence;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sets of colours may take so many words together.
const MAX_WORDS: usize = 1 << 24;

/// Colours next the row whose neighbours have the most colours, of several the one with the most neighbours, of several the
/// first. Gives the colours and their number, or nothing if that would not be less than `bound`.
pub(super) fn by_saturation(incidence: &Incidence<'_>, bound: usize) -> Option<(Vec<Option<u32>>, usize)> {
    let n = incidence.rows.shape().0;
    let n_words = bound.div_ceil(64);
    if n.saturating_mul(n_words) > MAX_WORDS {
        return None;
    }
    let degrees = incidence.degrees();
    // For each row the colours of its neighbours, and how many those are.
    let mut taken = vec![0u64; n * n_words];
    let mut saturation = vec![0u32; n];
    let mut colours: Vec<Option<u32>> = vec![None; n];
    let mut count = 0;
    let mut seen = vec![u32::MAX; n];
    let used = (0..n as u32).filter(|row| !incidence.rows.row(*row as usize).is_empty());
    let mut queue: BinaryHeap<_> = used.map(|row| (0, degrees[row as usize], Reverse(row))).collect();
    while let Some((at, _, Reverse(row))) = queue.pop() {
        // A row stands in the queue once for each number that it had.
        if colours[row as usize].is_some() || at != saturation[row as usize] {
            continue;
        }
        let own = &taken[row as usize * n_words..][..n_words];
        let word = own.iter().position(|word| *word != u64::MAX)?;
        let free = word * 64 + own[word].trailing_ones() as usize;
        if free + 1 >= bound {
            return None;
        }
        colours[row as usize] = Some(free as u32);
        count = count.max(free + 1);
        incidence.each_neighbour(row, &mut seen, row, |other| {
            let word = &mut taken[other as usize * n_words + free / 64];
            let bit = 1 << (free % 64);
            if *word & bit == 0 {
                *word |= bit;
                saturation[other as usize] += 1;
                if colours[other as usize].is_none() {
                    queue.push((saturation[other as usize], degrees[other as usize], Reverse(other)));
                }
            }
        });
    }
    Some((colours, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::SparsePattern;

    #[test]
    fn a_ring_of_even_length_takes_two_colours_and_gives_up_below() {
        // Row k has columns k and k + 1, so neighbours are next to each other.
        let rows: Vec<Vec<u32>> = (0..6).map(|k| vec![k, (k + 1) % 6]).collect();
        let rows = SparsePattern::from_rows(6, &rows).expect("all columns are there");
        let columns = rows.transposed();
        let incidence = Incidence { rows: &rows, columns: &columns };
        let (colours, count) = by_saturation(&incidence, 3).expect("two colours are enough");
        assert_eq!((count, colours), (2, [0, 1, 0, 1, 0, 1].map(Some).to_vec()));
        assert_eq!(by_saturation(&incidence, 2), None);
    }
}
