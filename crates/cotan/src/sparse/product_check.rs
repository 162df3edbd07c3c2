//! A sparse matrix held against one product of the derivative itself.
//!
//! Where the pattern lacks an entry, the entry is missing from the matrix or stands in another column or row of its colour.
//! Either changes the product with a random direction, which is one call. So a pattern that was found elsewhere, and does not
//! fit here, is told from one that does.

use super::{SparseError, SparseJacobian, SparseMatrix};
use crate::DerivativeMode;
use crate::gradient_check::SplitMix;
use crate::host::{Arguments, fit_arguments};
use cotan_ir::Elem;

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProductCheck {
    /// The largest error of an element of the product, relative to the sum of the magnitudes that it is made of.
    pub max_rel_err: f64,
    /// Where that is: a row in forward mode, a column in reverse mode.
    pub line: usize,
    /// The largest error that passes.
    pub tolerance: f64,
    /// Whether it passes.
    pub is_ok: bool,
}

const SEED: u64 = 0x636f_7461_6e00_0002;

impl SparseJacobian {
    /// Compares a matrix that was evaluated at these arguments with one product along a random direction (from a fixed
    /// seed): `J v` in forward mode, `w J` in reverse mode. It does not pass where the pattern is not that of these
    /// arguments. Elements that have no number in the matrix are not compared.
    pub fn check(&self, args: &Arguments, matrix: &SparseMatrix) -> Result<ProductCheck, SparseError> {
        let flat = fit_arguments(&self.entry, args)?;
        let call = self.placed(&flat)?;
        let mut random = SplitMix::new(SEED);
        // Far from zero and from each other, so that nothing hides.
        let direction: Vec<f64> = (0..call.n_given())
            .map(|_| {
                let bits = random.next();
                let size = 0.5 + (bits >> 12) as f64 / 52f64.exp2();
                // Singles hold it without rounding.
                f64::from(if bits & 1 == 0 { size as f32 } else { -size as f32 })
            })
            .collect();
        let products = self.multiply(&flat, &call, 1, &direction)?;
        let (mut sums, mut sizes) = (vec![0.0; products.len()], vec![0.0; products.len()]);
        for row in 0..matrix.pattern.shape().0 {
            for (column, x) in matrix.row(row) {
                let (line, other) = match self.colouring.mode() {
                    DerivativeMode::Forward => (row, column),
                    DerivativeMode::Reverse => (column, row),
                };
                sums[line] += x * direction[other];
                sizes[line] += (x * direction[other]).abs();
            }
        }
        let tolerance = if matrix.elem == Elem::F64 { 1e-7 } else { 1e-2 };
        let mut check = ProductCheck { max_rel_err: 0.0, line: 0, tolerance, is_ok: true };
        for (line, ((product, sum), size)) in products.iter().zip(&sums).zip(&sizes).enumerate() {
            if !sum.is_finite() || product == sum {
                continue;
            }
            let error = (product - sum).abs() / f64::max(*size, product.abs());
            let error = if error.is_nan() { f64::INFINITY } else { error };
            if error > check.max_rel_err {
                check = ProductCheck { max_rel_err: error, line, ..check };
            }
        }
        check.is_ok = check.max_rel_err <= tolerance;
        Ok(check)
    }
}
