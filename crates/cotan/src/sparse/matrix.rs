//! Sparse matrices, row by row.

use super::pattern::SparsePattern;
use crate::host::HostValue;
use cotan_ir::{Const, Elem};
use cotan_ops::Value;
use std::ops::Range;

/// A sparse matrix in compressed rows. What is in the pattern is an entry, even where its value is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    /// Where the entries are.
    pub pattern: SparsePattern,
    /// Their values, row by row.
    pub data: Vec<f64>,
    /// The type that they were computed in, f32 or f64.
    pub elem: Elem,
}

impl SparseMatrix {
    /// Columns and values of a row. The row must be less than their number.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let columns = self.pattern.row(row);
        let start = self.pattern.starts()[row];
        columns.iter().zip(&self.data[start..]).map(|(column, x)| (*column as usize, *x))
    }

    /// The entries in a range of rows and a range of columns, as a matrix of its own.
    pub fn block(&self, rows: Range<usize>, columns: Range<usize>) -> SparseMatrix {
        let mut data = Vec::new();
        let mut lists = Vec::with_capacity(rows.len());
        for row in rows {
            let mut list = Vec::new();
            for (column, x) in self.row(row).filter(|(column, _)| columns.contains(column)) {
                list.push((column - columns.start) as u32);
                data.push(x);
            }
            lists.push(list);
        }
        let pattern = SparsePattern::from_sorted(columns.len(), lists);
        SparseMatrix { pattern, data, elem: self.elem }
    }

    /// All entries, row by row, zeros between them.
    pub fn dense(&self) -> Vec<f64> {
        let (rows, columns) = self.pattern.shape();
        let mut out = vec![0.0; rows * columns];
        for row in 0..rows {
            self.row(row).for_each(|(column, x)| out[row * columns + column] = x);
        }
        out
    }

    /// The arrays of the format by name: `shape`, `indptr`, `indices` and `data`.
    pub fn arrays(&self) -> Vec<(String, HostValue)> {
        let integers = |all: Vec<i64>| HostValue::Tensor(Value::i64s(&[all.len() as i64], &all));
        let (rows, columns) = self.pattern.shape();
        let bits = self.data.iter().map(|x| Const::float(self.elem, *x).bits()).collect();
        let data = Value { elem: self.elem, dims: vec![self.data.len() as i64], bits };
        vec![
            ("shape".to_owned(), integers(vec![rows as i64, columns as i64])),
            ("indptr".to_owned(), integers(self.pattern.starts().iter().map(|at| *at as i64).collect())),
            ("indices".to_owned(), integers(self.pattern.indices().iter().map(|column| i64::from(*column)).collect())),
            ("data".to_owned(), HostValue::Tensor(data)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> SparseMatrix {
        let pattern = SparsePattern::from_rows(3, &[vec![0, 2], vec![], vec![1, 2]]).expect("all columns are there");
        SparseMatrix { pattern, data: vec![1.0, 2.0, 0.0, 4.5], elem: Elem::F64 }
    }

    #[test]
    fn a_block_has_the_entries_of_its_rows_and_columns() {
        let block = matrix().block(1..3, 1..3);
        assert_eq!((block.pattern.shape(), block.dense()), ((2, 2), vec![0.0, 0.0, 0.0, 4.5]));
        assert_eq!(block.pattern.entries(), 2, "an entry stays one where it is 0");
        assert_eq!(matrix().block(0..3, 0..3), matrix());
    }

    #[test]
    fn the_arrays_are_those_of_compressed_rows() {
        let mut text = String::new();
        crate::host::write_json(&HostValue::Struct(matrix().arrays()), &mut text);
        let expected =
            r#"{"shape": [3, 3], "indptr": [0, 2, 2, 4], "indices": [0, 2, 1, 2], "data": [1.0, 2.0, 0.0, 4.5]}"#;
        assert_eq!(text, expected);
    }
}
