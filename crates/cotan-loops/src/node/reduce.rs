//! Reductions that are one node: what is reduced how, from which start values, not yet cut into partial results.

use super::{Local, Node, Operand, Sum};

/// A reduction over all index tuples, as in the `reduction` clause of parallel loops: iterations are independent but for
/// what they reduce, and for what else they [`Node::Combine`].
///
/// Each iteration combines one value into every element of its sums, in its body by [`Node::Combine`]. What a sum holds
/// before is the start value. Values are combined in the order of [`cotan_ops::reduce`], the index tuples row-major, and
/// the start value last: so a machine cuts the work as it likes, and the bits are those of any other.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduce {
    /// The indices, outermost first, each an i64 defined here that counts from 0 up to an i64, not at all if that is
    /// negative.
    pub indices: Vec<(Local, Operand)>,
    /// What is reduced: iterations do nothing else with it, and only they.
    pub sums: Vec<Sum>,
    /// Run once per index tuple.
    pub body: Vec<Node>,
}
