//! Columns, or rows, that one product with the matrix can tell apart.
//!
//! Columns without a common row can be found by one product in forward mode, as each entry of it belongs to one of them
//! (Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices", 1974). To need few products is to colour the graph
//! of columns, two being neighbours if they have a common row, with few colours (Coleman and Moré, "Estimation of sparse
//! Jacobian matrices and graph coloring problems", 1983; Gebremedhin, Manne and Pothen, "What color is your Jacobian?", 2005).
//! Reverse mode does the same with rows.

use super::orders::Incidence;
use super::pattern::SparsePattern;
use super::saturation::by_saturation;
use crate::DerivativeMode;

/// Which columns (forward) or rows (reverse) share a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colouring {
    mode: DerivativeMode,
    colours: Vec<Option<u32>>,
    count: usize,
}

/// Orders that look at neighbours of neighbours are left out where there are more pairs of entries in a common line.
const MAX_PAIRS: u64 = 1 << 27;

impl Colouring {
    /// Colours the columns or the rows of a pattern; without a mode, whichever need fewer colours, the columns where both
    /// need the same. The number of colours is at least the largest number of entries in a row (of columns), or in a column
    /// (of rows).
    pub fn new(pattern: &SparsePattern, mode: Option<DerivativeMode>) -> Colouring {
        let transposed = pattern.transposed();
        let columns = || Colouring::of_rows(&transposed, pattern, DerivativeMode::Forward);
        let rows = || Colouring::of_rows(pattern, &transposed, DerivativeMode::Reverse);
        match mode {
            Some(DerivativeMode::Forward) => columns(),
            Some(DerivativeMode::Reverse) => rows(),
            None => {
                let (least_forward, least_reverse) = (pattern.largest_row(), transposed.largest_row());
                // What cannot win is not coloured: a single dense line would take long.
                if least_forward <= least_reverse {
                    let forward = columns();
                    if forward.count <= least_reverse {
                        return forward;
                    }
                    let reverse = rows();
                    if reverse.count < forward.count { reverse } else { forward }
                } else {
                    let reverse = rows();
                    if reverse.count < least_forward {
                        return reverse;
                    }
                    let forward = columns();
                    if forward.count <= reverse.count { forward } else { reverse }
                }
            }
        }
    }

    /// Colours the rows of a pattern, of which `columns` is the transpose.
    fn of_rows(rows: &SparsePattern, columns: &SparsePattern, mode: DerivativeMode) -> Colouring {
        let n = rows.shape().0;
        let least = columns.largest_row();
        let n_used = rows.rows().filter(|row| !row.is_empty()).count();
        if least == n_used {
            // A column has all of them: each is for itself.
            let mut next = 0..;
            let colours = rows.rows().map(|row| if row.is_empty() { None } else { next.next() }).collect();
            return Colouring { mode, colours, count: n_used };
        }
        let incidence = Incidence { rows, columns };
        let mut best = greedy(&incidence, 0..n as u32, mode);
        let pairs: u64 = columns.rows().map(|column| (column.len() as u64).pow(2)).sum();
        if best.count > least
            && pairs <= MAX_PAIRS
            && let Some((colours, count)) = by_saturation(&incidence, best.count)
        {
            best = Colouring { mode, colours, count };
        }
        if best.count > least && pairs <= MAX_PAIRS {
            let other = greedy(&incidence, incidence.smallest_last().into_iter(), mode);
            if other.count < best.count {
                best = other;
            }
        }
        best
    }

    /// What the products are: of columns tangents, of rows cotangents.
    pub fn mode(&self) -> DerivativeMode {
        self.mode
    }

    /// The number of colours, and of products.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The colour of each column (forward) or row (reverse); `None` for those without entries.
    pub fn colours(&self) -> &[Option<u32>] {
        &self.colours
    }
}

/// Gives each row the first colour that no neighbour has yet.
fn greedy(incidence: &Incidence<'_>, order: impl Iterator<Item = u32>, mode: DerivativeMode) -> Colouring {
    let mut colours: Vec<Option<u32>> = vec![None; incidence.rows.shape().0];
    // The last row that found the colour taken.
    let mut taken_for: Vec<u32> = Vec::new();
    for row in order {
        let columns = incidence.rows.row(row as usize);
        for column in columns {
            for other in incidence.columns.row(*column as usize) {
                if let Some(colour) = colours[*other as usize] {
                    taken_for[colour as usize] = row;
                }
            }
        }
        if columns.is_empty() {
            continue;
        }
        let free = taken_for.iter().position(|last| *last != row).unwrap_or(taken_for.len());
        if free == taken_for.len() {
            // No row has this number.
            taken_for.push(u32::MAX);
        }
        colours[row as usize] = Some(free as u32);
    }
    Colouring { mode, colours, count: taken_for.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(n: usize, row: impl Fn(usize) -> Vec<usize>) -> SparsePattern {
        let rows: Vec<Vec<u32>> =
            (0..n).map(|i| row(i).into_iter().filter(|j| *j < n).map(|j| j as u32).collect()).collect();
        SparsePattern::from_rows(n, &rows).expect("all columns are there")
    }

    /// No two columns of one colour have a common row, or rows a common column.
    fn check(pattern: &SparsePattern, colouring: &Colouring) {
        let lines = match colouring.mode() {
            DerivativeMode::Forward => pattern.clone(),
            DerivativeMode::Reverse => pattern.transposed(),
        };
        for line in lines.rows() {
            let mut colours: Vec<u32> = line.iter().filter_map(|k| colouring.colours()[*k as usize]).collect();
            assert_eq!(colours.len(), line.len(), "all that have entries have a colour");
            colours.sort_unstable();
            colours.dedup();
            assert_eq!(colours.len(), line.len(), "two of a line have one colour");
            assert!(colours.iter().all(|colour| (*colour as usize) < colouring.count()));
        }
    }

    fn count(pattern: &SparsePattern, mode: Option<DerivativeMode>) -> usize {
        let colouring = Colouring::new(pattern, mode);
        check(pattern, &colouring);
        colouring.count()
    }

    #[test]
    fn a_band_takes_as_many_colours_as_it_is_wide() {
        for half in 0..5usize {
            let band = pattern(50, |i| (i.saturating_sub(half)..=i + half).collect());
            assert_eq!(count(&band, Some(DerivativeMode::Forward)), 2 * half + 1);
            assert_eq!(count(&band, Some(DerivativeMode::Reverse)), 2 * half + 1);
        }
    }

    #[test]
    fn a_five_point_stencil_takes_five_colours() {
        for (height, width) in [(8, 8), (17, 40), (64, 64), (5, 200)] {
            let stencil = pattern(height * width, |k| {
                let (i, j) = (k / width, k % width);
                let near = [(i, j), (i.wrapping_sub(1), j), (i + 1, j), (i, j.wrapping_sub(1)), (i, j + 1)];
                near.into_iter().filter(|(i, j)| *i < height && *j < width).map(|(i, j)| i * width + j).collect()
            });
            assert_eq!(count(&stencil, None), 5, "{height} x {width}");
        }
    }

    #[test]
    fn the_mode_with_fewer_colours_is_chosen() {
        // A dense first row makes columns neighbours of each other, a dense first column rows.
        let dense_row = pattern(40, |i| if i == 0 { (0..40).collect() } else { vec![i] });
        assert_eq!((count(&dense_row, None), Colouring::new(&dense_row, None).mode()), (2, DerivativeMode::Reverse));
        let dense_column = dense_row.transposed();
        assert_eq!(
            (count(&dense_column, None), Colouring::new(&dense_column, None).mode()),
            (2, DerivativeMode::Forward)
        );
        let arrow = pattern(40, |i| if i == 0 { (0..40).collect() } else { vec![0, i] });
        assert_eq!((count(&arrow, None), Colouring::new(&arrow, None).mode()), (40, DerivativeMode::Forward));
    }

    #[test]
    fn lines_without_entries_have_no_colour() {
        let pattern = SparsePattern::from_rows(3, &[vec![], vec![2]]).expect("all columns are there");
        let columns = Colouring::new(&pattern, Some(DerivativeMode::Forward));
        assert_eq!((columns.count(), columns.colours()), (1, &[None, None, Some(0)][..]));
        let rows = Colouring::new(&pattern, Some(DerivativeMode::Reverse));
        assert_eq!((rows.count(), rows.colours()), (1, &[None, Some(0)][..]));
        let empty = SparsePattern::from_rows(0, &[]).expect("all columns are there");
        assert_eq!(count(&empty, None), 0);
    }

    #[test]
    fn random_patterns_are_coloured_properly_in_both_modes() {
        let mut state = 11u64;
        let mut random = move |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..100 {
            let (n, m) = (random(40) as usize, random(40) as usize + 1);
            let rows: Vec<Vec<u32>> =
                (0..n).map(|_| (0..random(6)).map(|_| random(m as u64) as u32).collect()).collect();
            let pattern = SparsePattern::from_rows(m, &rows).expect("all columns are there");
            assert!(count(&pattern, Some(DerivativeMode::Forward)) >= pattern.largest_row());
            assert!(count(&pattern, Some(DerivativeMode::Reverse)) >= pattern.transposed().largest_row());
            count(&pattern, None);
        }
    }
}
