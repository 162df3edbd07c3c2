//! Rows of a pattern as a graph, and an order for a greedy colouring to take them in.
//!
//! Two rows are neighbours if they share a column. The graph of neighbours is never written down: those of a row are found
//! through its columns.

use super::pattern::SparsePattern;

/// A pattern with its transpose: rows to be coloured, and the rows of each column.
pub(super) struct Incidence<'a> {
    pub(super) rows: &'a SparsePattern,
    pub(super) columns: &'a SparsePattern,
}

impl Incidence<'_> {
    /// Calls `f` for each neighbour of a row once. `seen` has a place for each row, and `stamp` is in none of them.
    pub(super) fn each_neighbour(&self, row: u32, seen: &mut [u32], stamp: u32, mut f: impl FnMut(u32)) {
        seen[row as usize] = stamp;
        for column in self.rows.row(row as usize) {
            for other in self.columns.row(*column as usize) {
                if seen[*other as usize] != stamp {
                    seen[*other as usize] = stamp;
                    f(*other);
                }
            }
        }
    }

    /// The number of neighbours of each row.
    pub(super) fn degrees(&self) -> Vec<u32> {
        let n = self.rows.shape().0;
        let mut seen = vec![u32::MAX; n];
        let mut degrees = vec![0; n];
        for (row, degree) in degrees.iter_mut().enumerate() {
            self.each_neighbour(row as u32, &mut seen, row as u32, |_| *degree += 1);
        }
        degrees
    }

    /// The row with the fewest neighbours comes last, and so on for the rows before it without it (Matula, Marble and
    /// Isaacson, 1972; for Jacobians Coleman and Moré, 1983).
    pub(super) fn smallest_last(&self) -> Vec<u32> {
        let degrees = self.degrees();
        let mut buckets = Buckets::new(&degrees);
        let mut seen = vec![u32::MAX; degrees.len()];
        let mut order = vec![0; degrees.len()];
        for (stamp, place) in order.iter_mut().rev().enumerate() {
            let row = buckets.take_smallest();
            *place = row;
            self.each_neighbour(row, &mut seen, stamp as u32, |other| buckets.lower(other));
        }
        order
    }
}

/// Rows by the number of neighbours that are left, the smallest number first: a sorted array in which a row moves to the
/// one before by changing places with the first of its kind (Batagelj and Zaveršnik, 2003).
struct Buckets {
    /// The number of each row; of those that are taken it does not change.
    degrees: Vec<u32>,
    sorted: Vec<u32>,
    place: Vec<u32>,
    /// Where the rows of each number begin.
    starts: Vec<u32>,
    n_taken: u32,
}

impl Buckets {
    fn new(degrees: &[u32]) -> Buckets {
        let most = degrees.iter().copied().max().unwrap_or(0) as usize;
        let mut starts = vec![0; most + 2];
        for degree in degrees {
            starts[*degree as usize + 1] += 1;
        }
        for degree in 0..=most {
            starts[degree + 1] += starts[degree];
        }
        let mut sorted: Vec<u32> = (0..degrees.len() as u32).collect();
        sorted.sort_by_key(|row| degrees[*row as usize]);
        let mut place = vec![0; degrees.len()];
        for (at, row) in sorted.iter().enumerate() {
            place[*row as usize] = at as u32;
        }
        Buckets { degrees: degrees.to_vec(), sorted, place, starts, n_taken: 0 }
    }

    /// Takes a row with the smallest number. There must be one left.
    fn take_smallest(&mut self) -> u32 {
        let row = self.sorted[self.n_taken as usize];
        self.n_taken += 1;
        let start = &mut self.starts[self.degrees[row as usize] as usize];
        *start = (*start).max(self.n_taken);
        row
    }

    /// One neighbour less, unless the row is taken.
    fn lower(&mut self, row: u32) {
        let at = self.place[row as usize];
        if at < self.n_taken {
            return;
        }
        let degree = self.degrees[row as usize] as usize;
        // Rows with this number begin after those that are taken.
        let first_at = self.starts[degree].max(self.n_taken);
        let first = self.sorted[first_at as usize];
        self.sorted.swap(first_at as usize, at as usize);
        self.place[first as usize] = at;
        self.place[row as usize] = first_at;
        self.starts[degree] = first_at + 1;
        // The rows of the number below may all be taken, and their start be behind.
        self.starts[degree - 1] = self.starts[degree - 1].max(self.n_taken).min(first_at);
        self.degrees[row as usize] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orders of a star: row 0 shares a column with each other row, which share none with each other.
    #[test]
    fn the_centre_of_a_star_is_among_the_first_two() {
        let rows = [vec![0, 1, 2, 3], vec![0], vec![1], vec![2], vec![3]];
        let rows = SparsePattern::from_rows(4, &rows).expect("all columns are there");
        let columns = rows.transposed();
        let incidence = Incidence { rows: &rows, columns: &columns };
        assert_eq!(incidence.degrees(), [4, 1, 1, 1, 1]);
        assert!(incidence.smallest_last()[..2].contains(&0), "{:?}", incidence.smallest_last());
    }

    /// Whatever is removed, a row that is taken has no more neighbours left than any other.
    #[test]
    fn the_smallest_is_last_at_every_step() {
        let mut state = 3u64;
        let mut random = move |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..50 {
            let (n, m) = (random(30) as usize + 1, random(20) as usize + 1);
            let lists: Vec<Vec<u32>> =
                (0..n).map(|_| (0..random(4)).map(|_| random(m as u64) as u32).collect()).collect();
            let rows = SparsePattern::from_rows(m, &lists).expect("all columns are there");
            let columns = rows.transposed();
            let order = Incidence { rows: &rows, columns: &columns }.smallest_last();
            let is_near = |a: u32, b: u32| rows.row(a as usize).iter().any(|c| rows.row(b as usize).contains(c));
            for end in (1..=n).rev() {
                let left = &order[..end];
                let count = |row: u32| left.iter().filter(|other| **other != row && is_near(row, **other)).count();
                let least = left.iter().map(|row| count(*row)).min();
                assert_eq!(Some(count(left[end - 1])), least);
            }
            let mut all = order;
            all.sort_unstable();
            assert!(all.into_iter().eq(0..n as u32));
        }
    }
}
