//! Derivative entries against reference values, block by block.

use crate::Block;

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
pub fn compare_blocks(entries: &[f64], reference: &[f64], blocks: &[Block]) -> Option<Vec<BlockError>> {
    let covered: usize = blocks.iter().map(Block::n_entries).sum();
    if entries.len() != reference.len() || covered != entries.len() {
        return None;
    }
    // `f64::max` would lose a NaN.
    let larger = |m: f64, x: f64| if x > m || x.is_nan() { x } else { m };
    let compare = |block: &Block| {
        let mut found = BlockError { error: 0.0, scale: 0.0 };
        for at in block.positions() {
            let (ours, theirs) = (entries.get(at)?, reference.get(at)?);
            found.error = larger(found.error, (ours - theirs).abs());
            found.scale = larger(found.scale, theirs.abs());
        }
        Some(found)
    };
    blocks.iter().map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_relative_to_the_largest_entry_of_its_block() {
        let errors = compare_blocks(&[1.0, 4.5, 0.1], &[1.0, 4.0, 0.2], &Block::in_order(&[("a", 2), ("b", 1)]))
            .expect("three entries");
        let relative: Vec<f64> = errors.into_iter().map(BlockError::relative).collect();
        assert_eq!(relative, [0.125, 0.5]);
    }

    #[test]
    fn a_nan_is_not_lost() {
        let errors = compare_blocks(&[1.0, f64::NAN], &[1.0, 2.0], &Block::in_order(&[("a", 2)])).expect("two entries");
        assert!(errors[0].relative().is_nan());
    }
}
