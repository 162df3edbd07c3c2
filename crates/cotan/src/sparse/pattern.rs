//! Where a matrix may have entries that are not zero.

use cotan_interp::tape::Dependence;

/// The pattern of a sparse matrix: for each row the columns that have an entry, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparsePattern {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
}

impl SparsePattern {
    /// The pattern of a matrix with so many columns and these rows, each a list of columns in any order. `None` if one of
    /// them is not less than `columns`.
    pub fn from_rows(columns: usize, rows: &[Vec<u32>]) -> Option<SparsePattern> {
        let mut rows = rows.to_vec();
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
            if row.last().is_some_and(|last| *last as usize >= columns) {
                return None;
            }
        }
        Some(SparsePattern::from_sorted(columns, rows))
    }

    /// The pattern with these rows, each an ascending list of columns that are there.
    pub(super) fn from_sorted(columns: usize, rows: impl IntoIterator<Item = Vec<u32>>) -> SparsePattern {
        let mut pattern = SparsePattern { columns, starts: vec![0], indices: Vec::new() };
        for row in rows {
            pattern.indices.extend(row);
            pattern.starts.push(pattern.indices.len());
        }
        pattern
    }

    pub(super) fn of(dependence: Dependence) -> SparsePattern {
        let Dependence { columns, starts, elements } = dependence;
        SparsePattern { columns, starts, indices: elements }
    }

    /// The number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.starts.len() - 1, self.columns)
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// The columns of a row, ascending. The row must be less than their number.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.indices[self.starts[row]..self.starts[row + 1]]
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.indices[ends[0]..ends[1]])
    }

    /// Where each row begins among all entries, and where the last one ends.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The columns of all entries, row by row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The largest number of entries in a row.
    pub fn largest_row(&self) -> usize {
        self.rows().map(<[u32]>::len).max().unwrap_or(0)
    }

    /// The pattern of the transpose.
    pub fn transposed(&self) -> SparsePattern {
        let mut starts = vec![0; self.columns + 1];
        for column in &self.indices {
            starts[*column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; self.indices.len()];
        for (row, columns) in self.rows().enumerate() {
            for column in columns {
                let at = &mut next[*column as usize];
                indices[*at] = row as u32;
                *at += 1;
            }
        }
        SparsePattern { columns: self.starts.len() - 1, starts, indices }
    }

    /// The pattern that has an entry wherever this one or its transpose has one. Of a square matrix.
    pub(super) fn symmetrised(&self) -> SparsePattern {
        self.union(&self.transposed())
    }

    /// The pattern that has an entry wherever one of two of the same shape has one.
    pub(super) fn union(&self, other: &SparsePattern) -> SparsePattern {
        if self == other {
            return self.clone();
        }
        let both = self.rows().zip(other.rows()).map(|(a, b)| {
            let mut row = [a, b].concat();
            row.sort_unstable();
            row.dedup();
            row
        });
        SparsePattern::from_sorted(self.columns, both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_columns_out_of_range_are_refused() {
        let pattern = SparsePattern::from_rows(4, &[vec![3, 0, 3], vec![], vec![1]]).expect("all columns are there");
        assert_eq!((pattern.shape(), pattern.entries(), pattern.largest_row()), ((3, 4), 3, 2));
        assert_eq!(pattern.rows().collect::<Vec<_>>(), [&[0, 3][..], &[], &[1]]);
        assert_eq!((pattern.starts(), pattern.indices()), (&[0, 2, 2, 3][..], &[0, 3, 1][..]));
        assert_eq!(SparsePattern::from_rows(3, &[vec![3]]), None);
    }

    #[test]
    fn the_transpose_has_the_rows_of_each_column() {
        let pattern = SparsePattern::from_rows(3, &[vec![0, 2], vec![2]]).expect("all columns are there");
        let transposed = pattern.transposed();
        assert_eq!(transposed.shape(), (3, 2));
        assert_eq!(transposed.rows().collect::<Vec<_>>(), [&[0][..], &[], &[0, 1]]);
        assert_eq!(transposed.transposed(), pattern);
    }

    #[test]
    fn a_symmetric_pattern_has_what_either_side_has() {
        let pattern = SparsePattern::from_rows(3, &[vec![1], vec![1, 2], vec![]]).expect("all columns are there");
        let symmetric = pattern.symmetrised();
        assert_eq!(symmetric.rows().collect::<Vec<_>>(), [&[1][..], &[0, 1, 2], &[1]]);
        assert_eq!(symmetric.symmetrised(), symmetric);
    }
}
