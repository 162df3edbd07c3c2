//! The list of scalar operations that a run performed.

use crate::domain::MAX_OPERANDS;
use crate::error::{Limit, RuntimeError};
use crate::numbers::Numbers;
use crate::tape::row_use::{Id, RowUse};
use cotan_ir::{Const, Elem};
use cotan_ops::{Partial, PrimRow};

/// A tape: nodes in the order in which they were computed.
#[derive(Debug)]
pub struct Tape {
    numbers: Numbers,
    max_nodes: usize,
    nodes: Vec<Node>,
    /// Operands that are no floats.
    plain: Vec<Const>,
    /// Operands of the contests.
    parts: Vec<Id>,
    /// Operands of the combinations, each with the bits of its partial.
    terms: Vec<(Id, u64)>,
}

/// What is stored of a node: 32 bytes.
#[derive(Clone, Copy, Debug)]
struct Node {
    value: u64,
    rule: Rule,
    elem: Elem,
}

/// How a node was computed, and of what.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Leaf,
    /// Operands of float type are nodes, the others positions in the table of plain values.
    Row {
        row: &'static PrimRow,
        operands: [u32; 3],
    },
    /// The greatest or least of a range of the table of parts.
    Contest {
        start: u32,
        end: u32,
        is_greatest: bool,
    },
    /// An element of what a routine gives: a range of the table of terms.
    Combination {
        start: u32,
        end: u32,
    },
}

/// How a node was computed, and of what.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeView<'t> {
    /// An argument or a constant.
    Leaf,
    /// A row of the op table.
    Row {
        /// The name of the row.
        name: &'static str,
        /// One per operand of the row.
        operands: Vec<Operand>,
    },
    /// The greatest or the least of several nodes: all that tie have an equal share in it.
    Contest {
        /// The nodes.
        parts: &'t [Id],
        /// Whether it is the greatest.
        is_greatest: bool,
    },
    /// An element of what a numerical routine gives.
    Combination {
        /// The nodes that it depends on, each with the bits of its partial.
        terms: &'t [(Id, u64)],
    },
}

/// An operand of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// Another node, with a smaller number.
    Node(Id),
    /// A value that carries no derivative.
    Plain(Const),
}

/// What a node is, for arithmetic.
pub(crate) enum Step<'t> {
    Leaf,
    Row(RowUse),
    Contest { parts: &'t [Id], is_greatest: bool },
    Combination(&'t [(Id, u64)]),
}

impl Tape {
    pub(crate) fn new(numbers: Numbers, max_bytes: u64) -> Tape {
        let max_nodes = max_bytes / size_of::<Node>() as u64;
        let max_nodes = max_nodes.min(u32::MAX.into()) as usize;
        Tape { numbers, max_nodes, nodes: Vec::new(), plain: Vec::new(), parts: Vec::new(), terms: Vec::new() }
    }

    /// What floats are on this tape.
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The bits of a node's value (a residue, where floats are residues).
    pub fn value(&self, id: Id) -> u64 {
        self.nodes[id as usize].value
    }

    /// The element type of a node.
    pub fn elem(&self, id: Id) -> Elem {
        self.nodes[id as usize].elem
    }

    /// How a node was computed, and of what.
    pub fn node(&self, id: Id) -> NodeView<'_> {
        match self.step(id) {
            Step::Leaf => NodeView::Leaf,
            Step::Contest { parts, is_greatest } => NodeView::Contest { parts, is_greatest },
            Step::Combination(terms) => NodeView::Combination { terms },
            Step::Row(at) => {
                let operand = |k: usize| match at.ids[k] {
                    Some(id) => Operand::Node(id),
                    None => Operand::Plain(cotan_ir::Const::from_bits(at.elems[k], at.values[k])),
                };
                NodeView::Row { name: at.row.name(), operands: (0..at.arity).map(operand).collect() }
            }
        }
    }

    pub(crate) fn step(&self, id: Id) -> Step<'_> {
        match self.nodes[id as usize].rule {
            Rule::Leaf => Step::Leaf,
            Rule::Contest { start, end, is_greatest } => {
                Step::Contest { parts: &self.parts[start as usize..end as usize], is_greatest }
            }
            Rule::Combination { start, end } => Step::Combination(&self.terms[start as usize..end as usize]),
            Rule::Row { row, operands } => {
                let (mut ids, mut elems, mut values) =
                    ([None; MAX_OPERANDS], [Elem::F64; MAX_OPERANDS], [0; MAX_OPERANDS]);
                let arity = row.sig.operands.len();
                for k in 0..arity {
                    if is_node(row, k) {
                        ids[k] = Some(operands[k]);
                        elems[k] = self.elem(operands[k]);
                        values[k] = self.value(operands[k]);
                    } else {
                        let c = self.plain[operands[k] as usize];
                        elems[k] = c.elem();
                        values[k] = c.bits();
                    }
                }
                Step::Row(RowUse { row, arity, ids, elems, values })
            }
        }
    }

    /// Calls `f` with every node that the derivative of this one goes on to: its operands, but for those with a partial
    /// derivative that is zero by nature.
    pub(crate) fn each_source(&self, id: Id, mut f: impl FnMut(Id)) {
        match &self.nodes[id as usize].rule {
            Rule::Leaf => {}
            Rule::Contest { start, end, .. } => self.parts[*start as usize..*end as usize].iter().copied().for_each(f),
            // A partial that is zero here may not be elsewhere.
            Rule::Combination { start, end } => {
                self.terms[*start as usize..*end as usize].iter().for_each(|(part, _)| f(*part));
            }
            Rule::Row { row, operands } => {
                for (k, (operand, partial)) in operands.iter().zip(row.partials).enumerate() {
                    match partial {
                        Partial::Zero { .. } => {}
                        Partial::Term { .. } | Partial::Convert if is_node(row, k) => f(*operand),
                        Partial::Term { .. } | Partial::Convert => {}
                    }
                }
            }
        }
    }

    /// Appends an argument or a constant.
    pub(crate) fn leaf(&mut self, elem: Elem, value: u64) -> Result<Id, RuntimeError> {
        self.push(Node { value, rule: Rule::Leaf, elem })
    }

    /// Appends a use of a row with at least one operand of float type. `operands` are ids, or bits of the others.
    pub(crate) fn row(
        &mut self,
        row: &'static PrimRow,
        elems: &[Elem],
        operands: &[u64],
        result: (Elem, u64),
    ) -> Result<Id, RuntimeError> {
        let mut stored = [0; MAX_OPERANDS];
        for (k, (elem, operand)) in elems.iter().zip(operands).enumerate() {
            stored[k] = if is_node(row, k) {
                *operand as u32
            } else {
                self.plain.push(cotan_ir::Const::from_bits(*elem, *operand));
                self.plain.len() as u32 - 1
            };
        }
        self.push(Node { value: result.1, rule: Rule::Row { row, operands: stored }, elem: result.0 })
    }

    /// Appends the greatest or least of several nodes.
    pub(crate) fn contest(
        &mut self,
        parts: &[Id],
        elem: Elem,
        value: u64,
        is_greatest: bool,
    ) -> Result<Id, RuntimeError> {
        if self.parts.len() + parts.len() > self.max_nodes {
            return Err(RuntimeError::Limit(Limit::Tape));
        }
        let start = self.parts.len() as u32;
        self.parts.extend_from_slice(parts);
        let end = self.parts.len() as u32;
        self.push(Node { value, rule: Rule::Contest { start, end, is_greatest }, elem })
    }

    /// Appends an element of what a routine gives, with its partials.
    pub(crate) fn combination(&mut self, terms: &[(Id, u64)], elem: Elem, value: u64) -> Result<Id, RuntimeError> {
        if self.terms.len() + terms.len() > self.max_nodes {
            return Err(RuntimeError::Limit(Limit::Tape));
        }
        let start = self.terms.len() as u32;
        self.terms.extend_from_slice(terms);
        self.push(Node { value, rule: Rule::Combination { start, end: self.terms.len() as u32 }, elem })
    }

    fn push(&mut self, node: Node) -> Result<Id, RuntimeError> {
        if self.nodes.len() >= self.max_nodes {
            return Err(RuntimeError::Limit(Limit::Tape));
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as Id - 1)
    }
}

/// Whether operand `k` of a row on the tape is a node. The element type `T` of such a use is a float type, and fixed
/// types of operands are not.
fn is_node(row: &PrimRow, k: usize) -> bool {
    row.sig.operands[k] == cotan_ir::OperandElem::T
}
