//! Induction variables of loops that lanes leave one by one: what is the same in all lanes that still run.
//!
//! The trips of a `while` are counted in a variable that ends with another number in each lane. But the lanes that run have made
//! the same trips, so what the body reads of it is one number: element `k` of a record is written by all lanes at once, beside
//! each other. A counted loop that goes through a record from its last element to the first has that element in common if it
//! begins for each lane so late that all lanes end together.

use cotan_ir::Elem;
use cotan_loops::node::{Definitions, Expr, For, Local, LocalUse, Node, Operand, Part, walk};
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// Variables and loops of a body whose lanes may go in lockstep.
#[derive(Debug, Default)]
pub(super) struct Lockstep {
    /// What a variable is set to before a `while` and in each of its trips, of those that are set nowhere else.
    values: FxHashMap<Local, Vec<Operand>>,
    /// What the body of the `while` reads of such a variable.
    reads: FxHashMap<Local, Local>,
    /// The counts of loops whose index is subtracted from the number of the last trip, by index.
    backward: FxHashMap<Local, Operand>,
}

impl Lockstep {
    /// What may go in lockstep in the body of a loop.
    pub(super) fn of(body: &[Node], definitions: &Definitions) -> Lockstep {
        let (mut found, mut n_changes) = (Lockstep::default(), FxHashMap::default());
        walk(body, &mut |node| {
            node.each_part(&mut |part| {
                if let Part::Local(local, LocalUse::Assign | LocalUse::Combine) = part {
                    *n_changes.entry(*local).or_insert(0) += 1;
                }
            });
            if let Node::For(l) = node {
                found.counted(l, definitions);
            }
        });
        found.list(body, &n_changes);
        found
    }

    /// The values of the variable that a local reads in the `while` that steps it.
    pub(super) fn read_by(&self, local: Local) -> Option<&[Operand]> {
        self.reads.get(&local).and_then(|variable| self.values_of(*variable))
    }

    /// What a variable is set to, if a `while` steps it.
    pub(super) fn values_of(&self, variable: Local) -> Option<&[Operand]> {
        self.values.get(&variable).map(Vec::as_slice)
    }

    /// The index of the loop around, if an expression is the number of its last trip minus that index.
    pub(super) fn counted_down(&self, expr: &Expr, definitions: &Definitions) -> Option<Local> {
        let (last, index) = difference(expr)?;
        let Operand::Local(index) = index else { return None };
        let count = self.backward.get(&index)?;
        is_last(last, *count, definitions).then_some(index)
    }

    /// Whether a loop reads its index from the end.
    pub(super) fn is_backward(&self, l: &For) -> bool {
        self.backward.contains_key(&l.index)
    }

    fn counted(&mut self, l: &For, definitions: &Definitions) {
        walk(&l.body, &mut |node| {
            if let Node::Let(_, expr) = node
                && let Some((last, index)) = difference(expr)
                && index == l.index.into()
                && is_last(last, l.count, definitions)
            {
                self.backward.insert(l.index, l.count);
            }
        });
    }

    fn list(&mut self, nodes: &[Node], n_changes: &FxHashMap<Local, usize>) {
        let nodes = flat(nodes);
        for (at, node) in nodes.iter().enumerate() {
            if let Node::While(_, body) = node {
                self.repeated(&nodes[..at], body, n_changes);
            }
            node.lists().into_iter().for_each(|list| self.list(list, n_changes));
        }
    }

    /// A `while` behind other nodes of its list.
    fn repeated(&mut self, before: &[&Node], body: &[Node], n_changes: &FxHashMap<Local, usize>) {
        let mut steps: FxHashMap<Local, Vec<Operand>> = FxHashMap::default();
        for (local, value) in flat(body).into_iter().filter_map(set) {
            steps.entry(local).or_default().push(value);
        }
        for (local, value) in before.iter().copied().filter_map(set) {
            steps.entry(local).and_modify(|values| values.push(value));
        }
        steps.retain(|local, values| n_changes[local] == values.len());
        walk(body, &mut |node| {
            if let Node::Let(local, Expr::Copy(Operand::Local(variable))) = node
                && steps.contains_key(variable)
            {
                self.reads.insert(*local, *variable);
            }
        });
        self.values.extend(steps);
    }
}

/// The nodes of a list, with those of scopes and segments in it.
fn flat(nodes: &[Node]) -> Vec<&Node> {
    let mut found = Vec::new();
    for node in nodes {
        if let Node::Scope(body) | Node::Segment(body) = node {
            found.extend(flat(body));
        } else {
            found.push(node);
        }
    }
    found
}

fn set(node: &Node) -> Option<(Local, Operand)> {
    if let Node::Set(local, value) = node { Some((*local, *value)) } else { None }
}

fn difference(expr: &Expr) -> Option<(Operand, Operand)> {
    let Expr::Native { instruction: Instruction::Sub, elem: Elem::I64, args } = expr else { return None };
    Some((args[0], args[1]))
}

/// Whether an operand is one less than a count.
fn is_last(operand: Operand, count: Operand, definitions: &Definitions) -> bool {
    let Operand::Local(local) = operand else { return false };
    let Some(Expr::Native { instruction, elem: Elem::I64, args }) = definitions.get(&local) else { return false };
    let one = if *instruction == Instruction::Add { -1 } else { 1 };
    [Instruction::Add, Instruction::Sub].contains(instruction) && args[..] == [count, Operand::i64(one)]
}
