//! If-conversion: short branches become selects.
//!
//! Iterations that part at a branch have masks in lanes, and in order they wait for a guess of the processor that data often prove
//! wrong. A branch that computes a few floats, and sets variables or adds to them, does both arms and selects. What one arm alone
//! adds is -0.0 for the other one, which changes no bit of a sum.
//!
//! Products and sums that are one operation later are so by the lists that they stand in, so a branch stays where it parts
//! such a product from a sum, or would bring it to one.

use cotan_ir::{Const, Elem, Monoid};
use cotan_loops::NestPass;
use cotan_loops::node::{Expr, Local, LocalInfo, LoopFunction, Node, Operand, Target, each_definition, walk};
use cotan_ops::reduce::neutral;
use cotan_ops::{Instruction, Work};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of this pass.
pub(crate) static PASS: NestPass =
    NestPass { name: "if_conversion", doc: "Makes selects of short branches.", run: |f, _| convert_branches(f) };

/// What both arms compute and change together, at most.
const MOST_LETS: usize = 4;
const MOST_CHANGES: usize = 4;

/// Makes selects of the short branches of a function.
fn convert_branches(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    let mut uses = FxHashMap::default();
    walk(&body, &mut |node| {
        node.each_operand(&mut |operand| *uses.entry(operand).or_default() += 1);
    });
    let mut products = FxHashSet::default();
    each_definition(&body, &mut |local, expr| {
        if expr.is_some_and(is_product) {
            products.insert(local);
        }
    });
    let body = Conversion { f, uses, products }.list(body);
    f.body = body;
}

struct Conversion<'a> {
    f: &'a mut LoopFunction,
    uses: FxHashMap<Operand, u32>,
    /// The products that a sum may take up before they are rounded.
    products: FxHashSet<Local>,
}

/// What an arm does.
#[derive(Default)]
struct Arm {
    lets: Vec<Node>,
    changes: Vec<Change>,
}

/// What is done to a mutable local.
#[derive(Clone, Copy, PartialEq)]
struct Change {
    to: Local,
    /// Whether the value is added to what it was.
    is_sum: bool,
    value: Operand,
}

impl Conversion<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        node.map_lists(|list| self.list(list));
        let Node::If(cond, yes, no) = &node else { return vec![node] };
        let selects = self.arm(yes).zip(self.arm(no)).and_then(|(yes, no)| self.selects(*cond, yes, no));
        selects.unwrap_or_else(|| vec![node])
    }

    /// An arm, if it computes little and changes each variable once, behind all that it computes.
    fn arm(&self, nodes: &[Node]) -> Option<Arm> {
        let mut arm = Arm::default();
        for node in nodes {
            if let Node::Let(local, expr) = node {
                let is_cheap = arm.changes.is_empty() && self.is_cheap(*local, expr);
                if !is_cheap || !self.keeps_products(expr, &arm) {
                    return None;
                }
                arm.lets.push(node.clone());
                continue;
            }
            let change = change_of(node)?;
            let elem = self.f.elem(change.to);
            let is_plain = elem.is_float() && elem.storage().is_none() && !self.is_mutable(change.value);
            let is_first = arm.changes.iter().all(|other| other.to != change.to);
            let is_taken_up = change.is_sum && self.is_product_of(change.value, &arm);
            if !is_plain || !is_first || is_taken_up {
                return None;
            }
            arm.changes.push(change);
        }
        Some(arm)
    }

    /// Whether a value may be computed where nobody wants it: nothing but floats and conditions, by short instructions.
    fn is_cheap(&self, local: Local, expr: &Expr) -> bool {
        let is_plain = |elem: Elem| elem == Elem::Bool || elem.is_float() && elem.storage().is_none();
        let is_short = match expr {
            Expr::Copy(_) => true,
            Expr::Native { instruction, elem, .. } => is_plain(*elem) && instruction.traits().work == Work::Step,
            Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => false,
        };
        is_short && is_plain(self.f.elem(local))
    }

    fn is_mutable(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.f.locals[local.index()].is_mutable)
    }

    /// Whether a sum in an arm takes up no product from outside of it once both are in one list.
    fn keeps_products(&self, expr: &Expr, arm: &Arm) -> bool {
        let Expr::Native { args, .. } = expr else { return true };
        let is_alone = |operand: &Operand| self.uses.get(operand) == Some(&1);
        args.iter().all(|arg| {
            let Operand::Local(local) = arg else { return true };
            !self.products.contains(local) || !is_alone(arg) || self.is_product_of(*arg, arm)
        })
    }

    /// Whether an operand is a product that an arm makes.
    fn is_product_of(&self, operand: Operand, arm: &Arm) -> bool {
        let is_defined = |node: &Node| matches!(node, Node::Let(local, _) if Operand::from(*local) == operand);
        matches!(operand, Operand::Local(local) if self.products.contains(&local)) && arm.lets.iter().any(is_defined)
    }

    /// Both arms, and what they do to variables by selected values.
    fn selects(&mut self, cond: Operand, yes: Arm, no: Arm) -> Option<Vec<Node>> {
        let mut pairs: Vec<[Change; 2]> = Vec::new();
        for change in &yes.changes {
            let other = no.changes.iter().find(|other| other.to == change.to);
            let other = other.copied().or_else(|| self.nothing(*change))?;
            if other.is_sum != change.is_sum || change.value == other.value && !self.stays_rounded(change.value) {
                return None;
            }
            pairs.push([*change, other]);
        }
        for change in &no.changes {
            if yes.changes.iter().all(|other| other.to != change.to) {
                pairs.push([self.nothing(*change)?, *change]);
            }
        }
        let n_lets = yes.lets.len() + no.lets.len();
        if pairs.is_empty() || pairs.len() > MOST_CHANGES || n_lets > MOST_LETS {
            return None;
        }
        let mut nodes: Vec<Node> = yes.lets.into_iter().chain(no.lets).collect();
        let mut changes = Vec::with_capacity(pairs.len());
        for [a, b] in pairs {
            let value = if a.value == b.value { a.value } else { self.select(cond, a, b, &mut nodes) };
            let (to, monoid) = (a.to, Monoid::Add);
            let combine = Node::Combine { monoid, target: Target::Local(to), value };
            changes.push(if a.is_sum { combine } else { Node::Set(to, value) });
        }
        nodes.extend(changes);
        Some(nodes)
    }

    /// What an arm does that leaves a variable alone, if that is nothing.
    fn nothing(&self, change: Change) -> Option<Change> {
        let value = Operand::Const(neutral(Monoid::Add, self.f.elem(change.to)));
        change.is_sum.then_some(Change { value, ..change })
    }

    /// Whether what both arms add is no product that one sum would take up.
    fn stays_rounded(&self, value: Operand) -> bool {
        let is_product = matches!(value, Operand::Local(local) if self.products.contains(&local));
        !is_product || self.uses.get(&value).is_none_or(|uses| *uses > 2)
    }

    fn select(&mut self, cond: Operand, a: Change, b: Change, nodes: &mut Vec<Node>) -> Operand {
        let elem = self.f.elem(a.to);
        let local = Local(self.f.locals.len() as u32);
        self.f.locals.push(LocalInfo { name: "chosen".into(), elem, is_mutable: false, lanes: 1 });
        let args = vec![cond, a.value, b.value];
        nodes.push(Node::Let(local, Expr::Native { instruction: Instruction::Select, elem, args }));
        local.into()
    }
}

/// What a node does to a mutable local, if it sets it or adds to it.
fn change_of(node: &Node) -> Option<Change> {
    if let Node::Set(to, value) = node {
        return Some(Change { to: *to, is_sum: false, value: *value });
    }
    let Node::Combine { monoid: Monoid::Add, target: Target::Local(to), value } = node else { return None };
    Some(Change { to: *to, is_sum: true, value: *value })
}

/// Whether an expression is a product that a sum may take up: a plain one, or one that waits for what it is added to.
fn is_product(expr: &Expr) -> bool {
    let Expr::Native { instruction, elem, args } = expr else { return false };
    let waits = |rest: &Operand| *rest == Operand::Const(Const::float(*elem, -0.0));
    *instruction == Instruction::Mulc
        || *instruction == Instruction::Fma && elem.is_float() && args.get(2).is_some_and(waits)
}
