//! Contraction of accumulated products: `fma(a, b, -0.0)` becomes one `fma` with what it is added to.
//!
//! Products of derivatives in versions for known sizes are contracted before loops are written out, but for those that
//! accumulators and reductions take up. These wait for that as `fma(a, b, -0.0)`, which is the rounded product. All other
//! sums stay as they are, so this runs there in the place of [`contract`](crate::contract).

use crate::node::{Expr, Local, LocalInfo, LoopFunction, Node, Operand, Target};
use crate::pass::NestPass;
use cotan_ir::{Const, Monoid};
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "contract_accumulated",
    doc: "Contracts products that wait for what they are added to.",
    run: |f, _| contract(f),
};

/// Contracts the waiting products of a function.
fn contract(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    f.body = Contract { f, products: FxHashMap::default() }.list(body);
}

struct Contract<'a> {
    f: &'a mut LoopFunction,
    /// The factors of products that wait. No factor changes while its product may be asked for.
    products: FxHashMap<Local, [Operand; 2]>,
}

impl Contract<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        node.map_lists(|list| self.list(list));
        if let Node::Let(to, Expr::Native { instruction, elem, args }) = &mut node {
            if let [a, b, Operand::Const(rest)] = args[..]
                && *instruction == Instruction::Fma
                && rest == Const::float(*elem, -0.0)
                && [a, b].iter().all(|factor| !self.is_mutable(*factor))
            {
                self.products.insert(*to, [a, b]);
            } else if *instruction == Instruction::Add
                && let Some((at, [a, b])) = self.product_of(args, self.f.lanes((*to).into()))
            {
                *args = vec![a, b, args[1 - at]];
                *instruction = Instruction::Fma;
            }
        } else if let Node::Combine { monoid: Monoid::Add, target, value } = node
            && let Some((_, factors)) = self.product_of(&[value], self.f.lanes(value))
        {
            return self.combine(factors, target, value);
        }
        vec![node]
    }

    fn is_mutable(&self, operand: Operand) -> bool {
        match operand {
            Operand::Local(local) => self.f.locals[local.index()].is_mutable,
            Operand::Const(_) => false,
        }
    }

    /// The first of the operands that is a waiting product of so many lanes, and its factors.
    fn product_of(&self, operands: &[Operand], lanes: u32) -> Option<(usize, [Operand; 2])> {
        operands.iter().enumerate().find_map(|(at, operand)| {
            let Operand::Local(local) = operand else { return None };
            let factors = self.products.get(local).filter(|_| self.f.lanes(*operand) == lanes)?;
            Some((at, *factors))
        })
    }

    /// Adds a product to an accumulator.
    fn combine(&mut self, [a, b]: [Operand; 2], target: Target, value: Operand) -> Vec<Node> {
        let (elem, lanes) = (self.f.operand_elem(value), self.f.lanes(value));
        let mut local = |name: &str| {
            self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes });
            Local(self.f.locals.len() as u32 - 1)
        };
        let (old, new) = (local("old"), local("sum"));
        let (read, write) = match target {
            Target::Element(place) => (Node::Load(old, place), Node::Store(place, new.into())),
            Target::Local(local) => (Node::Let(old, Expr::Copy(local.into())), Node::Set(local, new.into())),
        };
        let sum = Expr::Native { instruction: Instruction::Fma, elem, args: vec![a, b, old.into()] };
        vec![read, Node::Let(new, sum), write]
    }
}
