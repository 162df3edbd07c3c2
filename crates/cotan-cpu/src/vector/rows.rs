//! Working sets of lanes: the rows of matrices that lanes of a loop read across, an element of each at a time.

use super::Vectoriser;
use super::shape::{Shape, Shapes};
use cotan_loops::node::{Buffer, BufferKind, For, Independence, Node, Operand, Param, Place};
use rustc_hash::FxHashSet;

/// Steps of an iteration beside which it does not count whether an element that it reads is in the first cache.
const MANY_STEPS: f64 = 64.0;

impl Vectoriser<'_> {
    /// The rows of matrices that have one for each iteration, and of which lanes read an element each at a time: bytes of an
    /// element, and the length. Lanes that read neighbours read a row as it lies in memory.
    pub(super) fn row_sizes(&self, l: &For, shapes: &Shapes) -> Vec<(i64, Operand)> {
        let mut apart: FxHashSet<Buffer> = FxHashSet::default();
        self.find_apart(&l.body, false, shapes, &mut apart);
        // Which array has another name is not looked up.
        let is_named_again = apart.iter().any(|b| shapes.f.buffers[b.index()].kind == BufferKind::Bound);
        let rows = shapes.f.params.iter().filter_map(|param| match param {
            Param::Tensor(tensor) if is_named_again || apart.contains(&tensor.place.buffer) => match tensor.dims[..] {
                [rows, length] if rows == l.count => Some((tensor.elem.bytes() as i64, length)),
                _ => None,
            },
            Param::Tensor(_) | Param::Scalar(_) => None,
        });
        rows.collect()
    }

    /// What lanes read apart, but for elements beside which an iteration of an ordered loop inside does much else. The iterations of
    /// another one may run side by side themselves, and then read neighbours.
    fn find_apart(&self, body: &[Node], is_ordered: bool, shapes: &Shapes, apart: &mut FxHashSet<Buffer>) {
        let (mut elements, mut loops) = (Vec::new(), Vec::new());
        of_iteration(body, &mut elements, &mut loops, &mut |place| {
            if !are_neighbours(place, shapes) {
                apart.insert(place.buffer);
            }
        });
        elements.retain(|place| !are_neighbours(*place, shapes) && !apart.contains(&place.buffer));
        let are_beside_much = elements.is_empty() || is_ordered && self.one_by_one(body) >= MANY_STEPS;
        if !are_beside_much {
            apart.extend(elements.iter().map(|place| place.buffer));
        }
        loops.into_iter().for_each(|(body, is_ordered)| self.find_apart(body, is_ordered, shapes, apart));
    }
}

/// The elements that an iteration reads outside of the loops in it, those loops and whether they are ordered, and the rows that it
/// copies or names.
fn of_iteration<'n>(
    nodes: &'n [Node],
    elements: &mut Vec<Place>,
    loops: &mut Vec<(&'n [Node], bool)>,
    see_row: &mut impl FnMut(Place),
) {
    for node in nodes {
        if let Node::Load(_, place) = node {
            elements.push(*place);
        } else if let Node::Copy { from: place, .. } | Node::Bind { to: place, .. } = node {
            see_row(*place);
        }
        let is_while = matches!(node, Node::While(..));
        let is_ordered =
            if let Node::For(l) = node { Some(l.independence == Independence::None) } else { is_while.then_some(true) };
        for list in node.lists() {
            if let Some(is_ordered) = is_ordered {
                loops.push((list, is_ordered));
            } else {
                of_iteration(list, elements, loops, see_row);
            }
        }
    }
}

/// Whether lanes read neighbours, or all the same element.
fn are_neighbours(place: Place, shapes: &Shapes) -> bool {
    match shapes.of_operand(place.offset) {
        Shape::Uniform => true,
        Shape::Linear(stride) => stride.number() == Some(1),
        Shape::Varying => false,
    }
}
