//! Which elements of the arguments each element of the results depends on: the pattern of a Jacobian.
//!
//! A tape is straight-line code, whatever loops and indices led to it, so one pass over its nodes finds the pattern: the
//! set of a node is the union of those of its operands. An operand counts unless its partial derivative is zero by
//! nature; all operands of a choice (`select`, `max`, the greatest of several) count, whichever it took. So a pattern
//! stays right as long as the run takes the same branches, trips and indices, whatever its floats are.
//!
//! The sets go along with the nodes (index domains, as in Griewank and Walther, "Evaluating Derivatives", 2008,
//! section 7.1); only nodes that lead to a result have one.

use crate::error::RuntimeError;
use crate::tape::row_use::Id;
use crate::tape::sets::{EMPTY, SetId, Sets};
use crate::tape::{Traced, nodes_at};

/// For each of some elements, others that it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// How many others there are.
    pub columns: usize,
    /// Where the list of each element begins in `elements`, and where the last one ends.
    pub starts: Vec<usize>,
    /// The numbers of the others, ascending for each element.
    pub elements: Vec<u32>,
}

impl Traced {
    /// The dependence of the elements of the results in `outs` on those of the parameters in `wrt` (both are positions of
    /// floats; elements are numbered through all of them, row-major). The sets that are needed on the way may take
    /// `max_bytes`.
    pub fn dependence(&self, wrt: &[usize], outs: &[usize], max_bytes: u64) -> Result<Dependence, RuntimeError> {
        let sources: Vec<Id> =
            nodes_at(&self.params, wrt)?.into_iter().flat_map(|(_, _, nodes)| nodes).copied().collect();
        let results: Vec<Id> =
            nodes_at(&self.results, outs)?.into_iter().flat_map(|(_, _, nodes)| nodes).copied().collect();
        // A tape has less than 2^32 nodes, and each source is one.
        let mut sets = Sets::new(sources.len() as u32, max_bytes);
        let mut set_of: Vec<SetId> = vec![EMPTY; self.tape.len()];
        for (k, id) in sources.iter().enumerate() {
            set_of[*id as usize] = Sets::single(k as u32);
        }
        let needed = self.needed(&results);
        let mut parts = Vec::new();
        for id in (0..self.tape.len() as Id).filter(|id| needed[*id as usize]) {
            parts.clear();
            self.tape.each_source(id, |source| parts.push(set_of[source as usize]));
            match parts[..] {
                // Leaves: an argument has its set, a constant the empty one.
                [] => {}
                [a] => set_of[id as usize] = a,
                [a, b] => set_of[id as usize] = sets.union(a, b)?,
                [a, b, c] => {
                    let ab = sets.union(a, b)?;
                    set_of[id as usize] = sets.union(ab, c)?;
                }
                _ => set_of[id as usize] = sets.union_all(&mut parts)?,
            }
        }
        let mut starts = Vec::with_capacity(results.len() + 1);
        starts.push(0);
        let mut elements = Vec::with_capacity(results.iter().map(|id| sets.count(set_of[*id as usize])).sum());
        for id in &results {
            elements.extend(sets.elements(set_of[*id as usize]));
            starts.push(elements.len());
        }
        Ok(Dependence { columns: sources.len(), starts, elements })
    }

    /// The nodes that some nodes are made of.
    fn needed(&self, results: &[Id]) -> Vec<bool> {
        let mut needed = vec![false; self.tape.len()];
        results.iter().for_each(|id| needed[*id as usize] = true);
        for id in (0..self.tape.len() as Id).rev() {
            if needed[id as usize] {
                self.tape.each_source(id, |source| needed[source as usize] = true);
            }
        }
        needed
    }
}
