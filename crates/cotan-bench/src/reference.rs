//! Derivative entries against reference values, block by block.

/// The largest error of one parameter block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockError {
    /// The largest difference between an entry and its reference.
    pub error: f64,
    /// The largest magnitude of a reference entry in the block.
    pub scale: f64,
}

impl BlockError {
    /// The error relative to the block's largest entry; a NaN anywhere makes it NaN.
    pub fn relative(self) -> f64 {
        if self.error == 0.0 { 0.0 } else { self.error / self.scale }
    }
}

/// One error for each block. `None` if the numbers of entries do not agree.
pub fn compare_blocks(entries: &[f64], reference: &[f64], blocks: &[usize]) -> Option<Vec<BlockError>> {
    if entries.len() != reference.len() || blocks.iter().sum::<usize>() != entries.len() {
        return None;
    }
    // `f64::max` would lose a NaN.
    let largest = |xs: &mut dyn Iterator<Item = f64>| xs.fold(0.0, |m: f64, x| if x > m || x.is_nan() { x } else { m });
    let mut first = 0;
    let mut errors = Vec::new();
    for n in blocks {
        let (ours, theirs) = (&entries[first..first + n], &reference[first..first + n]);
        let error = largest(&mut ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()));
        errors.push(BlockError { error, scale: largest(&mut theirs.iter().map(|b| b.abs())) });
        first += n;
    }
    Some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_relative_to_the_largest_entry_of_its_block() {
        let errors = compare_blocks(&[1.0, 4.5, 0.1], &[1.0, 4.0, 0.2], &[2, 1]).expect("three entries");
        let relative: Vec<f64> = errors.into_iter().map(BlockError::relative).collect();
        assert_eq!(relative, [0.125, 0.5]);
    }

    #[test]
    fn a_nan_is_not_lost() {
        let errors = compare_blocks(&[1.0, f64::NAN], &[1.0, 2.0], &[2]).expect("two entries");
        assert!(errors[0].relative().is_nan());
    }
}
