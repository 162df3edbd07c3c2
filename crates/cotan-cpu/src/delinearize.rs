//! Delinearization: an ordered loop over all iterations of a nest becomes the nest again.
//!
//! Differentiation collapses nests, so that they record and reverse as one loop, whose body gets both counters by a
//! division. As a nest it has counters of its own, whose offsets are polynomials, and divides nothing. Iterations and their
//! order stay the same.

use crate::invariants::Invariants;
use cotan_ir::Elem;
use cotan_loops::NestPass;
use cotan_loops::node::{
    Definitions, Expr, For, Independence, Local, LocalInfo, LoopFunction, Node, Operand, Param, Threads, walk,
};
use cotan_ops::Instruction;
use rustc_hash::FxHashSet;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "delinearize",
    doc: "Makes nests again of ordered loops that divide their number by the count of an inner loop.",
    run: |f, _| delinearize(f),
};

/// Makes nests of the ordered loops of a function over all iterations of one.
pub fn delinearize(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    let mut values = Invariants::of(f, &body);
    f.body = list(&mut values, body);
}

fn list(values: &mut Invariants, nodes: Vec<Node>) -> Vec<Node> {
    nodes.into_iter().flat_map(|node| of_node(values, node)).collect()
}

fn of_node(values: &mut Invariants, mut node: Node) -> Vec<Node> {
    node.map_lists(|nodes| list(values, nodes));
    if let Node::For(l) = &node
        && let Some(nest) = nest_of(values.f, &values.definitions, l)
    {
        // Without an inner iteration the outer loop may have any number of them.
        return values.if_it_runs(l.count, vec![Node::For(Box::new(nest))]);
    }
    vec![node]
}

/// The nest whose iterations a loop has, if it is an ordered one over all of them.
pub(crate) fn nest_of(f: &mut LoopFunction, definitions: &Definitions, l: &For) -> Option<For> {
    if l.independence != Independence::None || l.threads != Threads::One || l.lanes != 1 {
        return None;
    }
    let flat = Flat::of(definitions, l)?;
    let counts = factors(definitions, l.count, flat.length)?;
    // The product of two negative counts is positive, and such a nest has no iterations.
    if !counts.iter().any(|count| is_natural(f, definitions, *count)) {
        return None;
    }
    Some(flat.nest(f, l, counts))
}

/// How a loop gets the counters of a nest.
struct Flat {
    /// The number that is divided: that of the iteration, or the number of the last one minus it.
    number: Local,
    is_backwards: bool,
    /// The count of the inner loop, or 1 where that has no iterations.
    length: Operand,
}

impl Flat {
    fn of(definitions: &Definitions, l: &For) -> Option<Flat> {
        l.body.iter().find_map(|node| {
            let Node::Let(_, expr) = node else { return None };
            let [dividend, length] =
                [Instruction::Div, Instruction::Rem].into_iter().find_map(|of| arguments(expr, of))?;
            let Operand::Local(number) = dividend else { return None };
            let is_backwards = number != l.index;
            let is_number = !is_backwards || counts_down(definitions, number, l);
            is_number.then_some(Flat { number, is_backwards, length })
        })
    }

    /// The node that defines a counter of the nest, the result of an instruction.
    fn definition(&self, l: &For, instruction: Instruction) -> Option<(usize, Local)> {
        let args = [self.number.into(), self.length];
        l.body.iter().enumerate().find_map(|(position, node)| {
            let Node::Let(local, expr) = node else { return None };
            (arguments(expr, instruction) == Some(args)).then_some((position, *local))
        })
    }

    fn nest(&self, f: &mut LoopFunction, l: &For, counts: [Operand; 2]) -> For {
        let found = [Instruction::Div, Instruction::Rem].map(|instruction| self.definition(l, instruction));
        let counters = found.map(|found| match found {
            Some((_, local)) => local,
            None => local(f, "i"),
        });
        let is_gone = |position: &usize| {
            let defines = matches!(&l.body[*position], Node::Let(local, _) if *local == self.number);
            defines || found.iter().flatten().any(|(gone, _)| gone == position)
        };
        let rest = (0..l.body.len()).filter(|k| !is_gone(k)).map(|k| l.body[k].clone()).collect::<Vec<Node>>();
        let mut heads = [Vec::new(), Vec::new()];
        let indices = [0, 1].map(|k| self.counter(f, counters[k], counts[k], &mut heads[k]));
        let [mut body, mut inner] = heads;
        let [outer_counter, counter] = counters.map(Operand::from);
        let read = read_by(&rest);
        if read.contains(&self.number) || read.contains(&l.index) {
            let row = define(f, "row", Instruction::Mul, [outer_counter, counts[1]], &mut inner);
            inner.push(i64_node(self.number, Instruction::Add, [row, counter]));
        }
        if self.is_backwards && read.contains(&l.index) {
            let last = define(f, "last", Instruction::Sub, [l.count, Operand::i64(1)], &mut inner);
            inner.push(i64_node(l.index, Instruction::Sub, [last, self.number.into()]));
        }
        inner.extend(rest);
        body.push(Node::For(Box::new(head(l, indices[1], counts[1], false, inner))));
        head(l, indices[0], counts[0], l.may_flush, body)
    }

    /// The index of a loop of the nest, given the counter that the body reads.
    fn counter(&self, f: &mut LoopFunction, counter: Local, count: Operand, nodes: &mut Vec<Node>) -> Local {
        if !self.is_backwards {
            return counter;
        }
        let down = local(f, "down");
        let last = define(f, "last", Instruction::Sub, [count, Operand::i64(1)], nodes);
        nodes.push(i64_node(counter, Instruction::Sub, [last, down.into()]));
        down
    }
}

fn local(f: &mut LoopFunction, name: &str) -> Local {
    f.locals.push(LocalInfo { name: name.into(), elem: Elem::I64, is_mutable: false, lanes: 1 });
    Local(f.locals.len() as u32 - 1)
}

fn define(
    f: &mut LoopFunction,
    name: &str,
    instruction: Instruction,
    args: [Operand; 2],
    nodes: &mut Vec<Node>,
) -> Operand {
    let local = local(f, name);
    nodes.push(i64_node(local, instruction, args));
    local.into()
}

fn i64_node(to: Local, instruction: Instruction, args: [Operand; 2]) -> Node {
    Node::Let(to, Expr::Native { instruction, elem: Elem::I64, args: args.to_vec() })
}

fn head(l: &For, index: Local, count: Operand, may_flush: bool, body: Vec<Node>) -> For {
    let (threads, independence) = (Threads::One, Independence::None);
    For { index, count, threads, independence, lanes: l.lanes, may_flush, body }
}

/// The locals that nodes read.
fn read_by(nodes: &[Node]) -> FxHashSet<Local> {
    let mut read = FxHashSet::default();
    walk(nodes, &mut |node| {
        node.each_operand(&mut |operand| {
            if let Operand::Local(local) = operand {
                read.insert(local);
            }
        });
    });
    read
}

/// The operands of an instruction on i64.
fn arguments(expr: &Expr, wanted: Instruction) -> Option<[Operand; 2]> {
    let Expr::Native { instruction, elem: Elem::I64, args } = expr else { return None };
    if *instruction == wanted { args[..].try_into().ok() } else { None }
}

fn arguments_of(definitions: &Definitions, operand: Operand, wanted: Instruction) -> Option<[Operand; 2]> {
    let Operand::Local(local) = operand else { return None };
    arguments(definitions.get(&local)?, wanted)
}

/// Whether a local is the number of the last iteration minus that of this one.
fn counts_down(definitions: &Definitions, local: Local, l: &For) -> bool {
    let Some([last, index]) = arguments_of(definitions, local.into(), Instruction::Sub) else { return false };
    let is_last = match (last.as_i64(), l.count.as_i64()) {
        (Some(last), Some(count)) => count.checked_sub(1) == Some(last),
        (_, _) => arguments_of(definitions, last, Instruction::Sub) == Some([l.count, Operand::i64(1)]),
    };
    index == l.index.into() && is_last
}

/// Whether a count is known not to be negative: a number, a maximum with one, or an extent of a parameter.
fn is_natural(f: &LoopFunction, definitions: &Definitions, count: Operand) -> bool {
    let is_number = |operand: Operand| operand.as_i64().is_some_and(|n| n >= 0);
    let is_extent = f.params.iter().any(|param| match param {
        Param::Tensor(tensor) => tensor.dims.contains(&count),
        Param::Scalar(_) => false,
    });
    let maximum = arguments_of(definitions, count, Instruction::Max);
    is_number(count) || is_extent || maximum.is_some_and(|sides| sides.into_iter().any(is_number))
}

/// The counts of the outer and the inner loop of a nest with so many iterations, of which `length` are in a row.
fn factors(definitions: &Definitions, count: Operand, length: Operand) -> Option<[Operand; 2]> {
    if let (Some(all), Some(row)) = (count.as_i64(), length.as_i64()) {
        return (row > 0 && all % row == 0).then(|| [Operand::i64(all / row), length]);
    }
    let product = match arguments_of(definitions, count, Instruction::Max) {
        Some([product, least]) if least.as_i64() == Some(0) => product,
        _ => count,
    };
    let [n, m] = arguments_of(definitions, product, Instruction::Mul)?;
    let is_length = |m: Operand| {
        m == length && m.as_i64().is_some_and(|m| m > 0)
            || arguments_of(definitions, length, Instruction::Max) == Some([m, Operand::i64(1)])
    };
    [[n, m], [m, n]].into_iter().find(|[_, m]| is_length(*m))
}
