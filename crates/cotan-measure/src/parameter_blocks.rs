//! Which derivative entries belong to which block of parameters.

/// The entries of one block: `count` runs of `length` entries each, one every `stride` entries from `first` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The parameters.
    pub name: String,
    /// The first entry.
    pub first: usize,
    /// Entries of one run.
    pub length: usize,
    /// From the start of a run to that of the next.
    pub stride: usize,
    /// How many runs.
    pub count: usize,
}

impl Block {
    /// Blocks that lie one after another, of so many entries each.
    pub fn in_order(sizes: &[(&str, usize)]) -> Vec<Block> {
        let mut first = 0;
        let mut blocks = Vec::new();
        for (name, length) in sizes {
            blocks.push(Block { name: (*name).to_owned(), first, length: *length, stride: *length, count: 1 });
            first += length;
        }
        blocks
    }

    /// The positions of the entries.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).flat_map(move |run| (0..self.length).map(move |k| self.first + run * self.stride + k))
    }

    /// The number of entries.
    pub fn n_entries(&self) -> usize {
        self.length * self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_matrix_are_a_block_of_runs() {
        let block = Block { name: "columns 1 and 2".to_owned(), first: 1, length: 2, stride: 5, count: 3 };
        assert_eq!(block.positions().collect::<Vec<_>>(), [1, 2, 6, 7, 11, 12]);
        assert_eq!(block.n_entries(), 6);
    }

    #[test]
    fn blocks_in_order_cover_every_entry_once() {
        let blocks = Block::in_order(&[("a", 2), ("b", 3)]);
        let positions: Vec<usize> = blocks.iter().flat_map(Block::positions).collect();
        assert_eq!(positions, [0, 1, 2, 3, 4]);
    }
}
