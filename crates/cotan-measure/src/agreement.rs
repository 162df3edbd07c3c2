//! Whether others found the value and the derivative entries that we found. That a result is fast counts only if it is
//! right.

use crate::{Block, BlockError, compare_blocks};
use anyhow::{Context, Result, bail};

/// What is compared with others, and how far they may be away; others are built with fewer guarantees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Of the value, relative to it or to 1 if that is larger.
    pub value: f64,
    /// Of the entries, relative to the largest of their block.
    pub entries: f64,
    /// The entries begin with the result of the function, which is a tensor.
    pub has_result: bool,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { value: 1e-8, entries: 1e-8, has_result: false }
    }
}

/// A value and derivative entries.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The value.
    pub value: f64,
    /// The derivative entries, in the order of the parameters.
    pub entries: &'a [f64],
}

/// The largest error of our derivative entries, relative to the largest of the other's in their block; an error if that or
/// the value is too far away.
pub fn agreement(ours: Found<'_>, other: Found<'_>, blocks: &[Block], tolerance: Tolerance) -> Result<f64> {
    let errors = compare_blocks(ours.entries, other.entries, blocks).with_context(|| {
        format!("expected {} derivative entries as we have, found {}", ours.entries.len(), other.entries.len())
    })?;
    let error =
        errors.into_iter().map(BlockError::relative).fold(0.0, |m: f64, x| if x > m || x.is_nan() { x } else { m });
    // Written so that a NaN fails.
    let agrees =
        (ours.value - other.value).abs() <= tolerance.value * other.value.abs().max(1.0) && error <= tolerance.entries;
    if !agrees {
        bail!("gives the value {}, we {}; our derivative entries are {error:e} away", other.value, ours.value);
    }
    Ok(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn against(value: f64, entries: &[f64]) -> Result<f64> {
        let ours = Found { value: 10.0, entries: &[1.0, 2.0, 4.0] };
        agreement(ours, Found { value, entries }, &Block::in_order(&[("a", 2), ("b", 1)]), Tolerance::default())
    }

    #[test]
    fn equal_results_agree() {
        assert_eq!(against(10.0, &[1.0, 2.0, 4.0]).expect("agreement"), 0.0);
    }

    #[test]
    fn a_small_error_is_told() {
        let error = against(10.0, &[1.0, 2.0, 4.0 + 4e-10]).expect("agreement");
        assert!((error - 1e-10).abs() < 1e-15, "{error}");
    }

    #[test]
    fn a_wrong_result_is_refused() {
        assert!(against(10.1, &[1.0, 2.0, 4.0]).is_err());
        assert!(against(f64::NAN, &[1.0, 2.0, 4.0]).is_err());
        assert!(against(10.0, &[1.0, 2.0, 4.1]).is_err());
        assert!(against(10.0, &[1.0, f64::NAN, 4.0]).is_err());
        assert!(against(10.0, &[1.0, 2.0]).is_err());
    }
}
