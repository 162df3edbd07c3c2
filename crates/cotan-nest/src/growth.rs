//! Arrays of kernels that grow: where one has too little room, the thread goes on counting, and leaves when it would read
//! what is not there.

use cotan_device::Need;
use cotan_loops::Buffer;
use rustc_hash::{FxHashMap, FxHashSet};

/// The arrays of a plan whose size only the run knows, during a launch.
#[derive(Default)]
pub(crate) struct Growth {
    numbers: FxHashMap<Buffer, usize>,
    capacities: Vec<i64>,
    needs: Vec<Option<i64>>,
    /// Those in which the thread misses elements.
    missing: FxHashSet<Buffer>,
}

impl Growth {
    /// Arrays by number, with their capacities.
    pub(crate) fn new(growing: &[Buffer], capacities: &[i64]) -> Growth {
        let numbers = growing.iter().enumerate().map(|(number, buffer)| (*buffer, number)).collect();
        Growth {
            numbers,
            capacities: capacities.to_vec(),
            needs: vec![None; growing.len()],
            missing: FxHashSet::default(),
        }
    }

    /// A thread begins, which misses nothing yet.
    pub(crate) fn begin_thread(&mut self) {
        self.missing.clear();
    }

    /// Whether an array has room for so many elements; what does not grow has.
    pub(crate) fn has_room(&mut self, buffer: Buffer, elements: i64) -> bool {
        let Some(number) = self.numbers.get(&buffer) else { return true };
        if elements <= self.capacities[*number] {
            return true;
        }
        let need = self.needs[*number].get_or_insert(elements);
        *need = elements.max(*need);
        self.missing.insert(buffer);
        false
    }

    /// Whether elements of an array are missing.
    pub(crate) fn lacks(&self, buffer: Buffer) -> bool {
        self.missing.contains(&buffer)
    }

    /// The capacities that were too small.
    pub(crate) fn needs(self) -> Vec<Need> {
        let needs = self.needs.into_iter().enumerate();
        needs.filter_map(|(number, elements)| Some(Need { number, elements: elements? })).collect()
    }
}
