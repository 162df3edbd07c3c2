//! States that live in their record, see Note [Records].

use super::write::{bind, copy, i64, is_less, renamed, size, whole};
use super::{Around, Chain, Known, Rotation, Trips, mentions};
use crate::buffer_reuse::{is_number_of_elements, is_product, sums_of};
use crate::node::{Buffer, BufferKind, BufferUse, Home, Node, Operand, Place, walk};
use cotan_ops::Instruction;

/// The record of a state.
pub(super) struct Row {
    /// Where in the list an iteration copies the state to its row.
    copied: usize,
    record: Buffer,
    trips: Trips,
}

/// The record to whose rows a loop copies the state of a chain of two arrays, if the state can live there.
pub(super) fn row_of(this: &Rotation, list: &[Node], chain: &Chain, trips: Trips, known: &Known) -> Option<Row> {
    let [_, state] = chain.arrays[..] else { return None };
    let sums = sums_of(list);
    let state_extents = &known[&state];
    let is_row = |to: &Place| {
        let is_memory =
            matches!(this.buffers[to.buffer.index()].kind, BufferKind::Allocated(Home::Arena | Home::Result(_)));
        let rows = known.get(&to.buffer).and_then(|extents| extents.split_first());
        is_memory
            && !this.named.contains(&to.buffer)
            && rows.is_some_and(|(n, row)| *n == trips.count && row == state_extents)
            && is_product(to.offset, trips.index.into(), state_extents, &sums)
    };
    let (copied, record) = list.iter().enumerate().find_map(|(at, node)| {
        let Node::Copy { from, to, count } = node else { return None };
        let is_state = *from == whole(state) && is_number_of_elements(*count, state_extents, &sums);
        (is_state && is_row(to)).then_some((at, to.buffer))
    })?;
    let end = chain.copies[0];
    let is_unchanged = list.iter().enumerate().all(|(at, node)| at == end || !changes(node, state));
    let is_apart = list.iter().enumerate().all(|(at, node)| at == copied || !mentions(node, record));
    (is_unchanged && is_apart).then_some(Row { copied, record, trips })
}

/// Whether a node writes to a buffer.
fn changes(node: &Node, buffer: Buffer) -> bool {
    let mut found = false;
    walk(std::slice::from_ref(node), &mut |inside| {
        inside.each_buffer(&mut |b, usage| found |= b == buffer && usage != BufferUse::Read);
    });
    found
}

/// Lets the state of a chain live in its record.
pub(super) fn live_in(
    this: &mut Rotation,
    list: &mut Vec<Node>,
    chain: &Chain,
    row: &Row,
    known: &Known,
    around: &mut Around,
) {
    let Row { copied, record, trips } = *row;
    let memory = [chain.arrays[1], chain.arrays[0]];
    let chain = Chain { arrays: chain.arrays.clone(), copies: vec![chain.copies[0], copied] };
    let names = renamed(this, list, &chain, &memory);
    let n = size(this, &mut around.before, &known[&memory[0]]);
    let runs = is_less(this, &mut around.before, [Operand::i64(0), trips.count]);
    around.before.push(Node::If(runs, vec![copy(memory[0], record, n)], Vec::new()));

    let mut begin = Vec::new();
    let offset = i64(this, &mut begin, Instruction::Mul, [trips.index.into(), n]);
    begin.push(Node::Bind { buffer: names[0], to: Place { buffer: record, offset } });
    let next = i64(this, &mut begin, Instruction::Add, [trips.index.into(), Operand::i64(1)]);
    let goes_on = is_less(this, &mut begin, [next, trips.count]);
    let mut in_record = Vec::new();
    let offset = i64(this, &mut in_record, Instruction::Mul, [next, n]);
    in_record.push(Node::Bind { buffer: names[1], to: Place { buffer: record, offset } });
    begin.push(Node::If(goes_on, in_record, vec![bind(names[1], memory[0])]));
    list.splice(0..0, begin);
    this.named.insert(record);
}
