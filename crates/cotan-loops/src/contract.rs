//! Contraction to fused multiply-adds: `a * b + c` becomes `fma(a, b, c)`, of plain products, those of derivative code.
//!
//! Run once on nests as they are executed. A machine then rounds what the nest says, wherever it has lanes and registers for
//! it; a code generator that chose would choose by how it cuts lanes into registers. As where values are contracted, a
//! product joins a sum if that is its only use and stands in the same list; of two products the left one is taken.
//!
//! A sum that began with zero is not added to zero again. The sum of products that are contracted is -0.0 only if they
//! are too small for any other number, and plain products don't keep the sign of a zero.
//!
//! On a way to devices a product stays apart from a sum that iterations of an independent loop share: which of them adds
//! when is for the plan to say, and a sum that is read and written has lost that it is one.

use crate::node::{
    Argument, Expr, Independence, Local, LocalInfo, LoopFunction, Node, Operand, Target, shared_beside_sums,
    shared_targets, walk,
};
use crate::pass::NestPass;
use cotan_ir::{Const, Elem, Monoid};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "contract",
    doc: "Contracts sums of plain products to fused multiply-adds.",
    run: |f, _| contract(f),
};

/// The record of the pass on ways to devices.
pub(crate) static UNSHARED: NestPass = NestPass {
    name: "contract_unshared",
    doc: "Contracts sums of plain products to fused multiply-adds, but those that independent iterations share.",
    run: |f, _| {
        let shared = shared(&f.body);
        contract_but(f, shared);
    },
};

/// Contracts the plain products of a function.
pub fn contract(f: &mut LoopFunction) {
    contract_but(f, Vec::new());
}

/// Contracts those that are not combined into some memory.
fn contract_but(f: &mut LoopFunction, mut apart: Vec<Target>) {
    let body = std::mem::take(&mut f.body);
    let mut uses = vec![0; f.locals.len()];
    let mut see = |operand: Operand| {
        if let Operand::Local(local) = operand {
            uses[local.index()] += 1;
        }
    };
    walk(&body, &mut |node| node.each_operand(&mut see));
    f.results.iter().flat_map(Argument::operands).for_each(&mut see);
    apart.extend(reduced(&body));
    f.body = Contract { f, uses, from_zero: FxHashSet::default(), apart }.list(body);
}

struct Contract<'a> {
    f: &'a mut LoopFunction,
    uses: Vec<u32>,
    /// The sums in which 0.0 is.
    from_zero: FxHashSet<Local>,
    /// Sums that take no products.
    apart: Vec<Target>,
}

/// What reductions combine values into. Nothing reads it while they do, so a product stays apart from such a sum.
fn reduced(body: &[Node]) -> Vec<Target> {
    let mut found = Vec::new();
    walk(body, &mut |node| {
        if let Node::Reduce(reduction) = node {
            found.extend(reduction.sums.iter().map(|sum| sum.target));
        }
    });
    found
}

/// What independent iterations combine values into together.
fn shared(body: &[Node]) -> Vec<Target> {
    let mut found = Vec::new();
    walk(body, &mut |node| {
        if let Node::For(l) = node
            && l.independence == Independence::All
        {
            found.extend(shared_targets(l).into_iter().map(|(_, target)| target));
        } else if let Node::Reduce(reduction) = node {
            found.extend(shared_beside_sums(reduction).into_iter().map(|(_, target)| target));
        }
    });
    found
}

/// A product that its sum may take.
#[derive(Clone, Copy)]
struct Product {
    factors: [Operand; 2],
    /// The position of its node in the list.
    at: usize,
}

/// The products of a list that nobody has taken.
type Products = FxHashMap<Local, Product>;

impl Contract<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut done: Vec<Option<Node>> = Vec::with_capacity(nodes.len());
        let mut products = Products::default();
        for mut node in nodes {
            node.map_lists(|list| self.list(list));
            if let Node::Let(to, Expr::Native { instruction, elem, args }) = node {
                let is_product = instruction == Instruction::Mulc && elem.is_float() && self.uses[to.index()] == 1;
                let expr = if is_product {
                    products.insert(to, Product { factors: [args[0], args[1]], at: done.len() });
                    Expr::Native { instruction, elem, args }
                } else {
                    self.sum(to, instruction, elem, args, &mut products, &mut done)
                };
                done.push(Some(Node::Let(to, expr)));
                continue;
            }
            if let Node::Combine { monoid: Monoid::Add, target, value } = node
                && !self.is_apart(target)
                && let Some(factors) = self.take(value, self.f.lanes(value), &mut products, &mut done)
            {
                self.combine(factors, target, value, &mut done);
                continue;
            }
            done.push(Some(node));
        }
        done.into_iter().flatten().collect()
    }

    fn is_apart(&self, target: Target) -> bool {
        self.apart.iter().any(|sum| sum.has_memory_of(target))
    }

    /// The factors of a product of so many lanes, which is no node of its own any more.
    fn take(
        &self,
        value: Operand,
        lanes: u32,
        products: &mut Products,
        done: &mut [Option<Node>],
    ) -> Option<[Operand; 2]> {
        let Operand::Local(local) = value else { return None };
        if self.f.lanes(value) != lanes {
            return None;
        }
        let product = products.remove(&local)?;
        done[product.at] = None;
        Some(product.factors)
    }

    /// An instruction, contracted if it adds a product.
    fn sum(
        &mut self,
        to: Local,
        instruction: Instruction,
        elem: Elem,
        args: Vec<Operand>,
        products: &mut Products,
        done: &mut Vec<Option<Node>>,
    ) -> Expr {
        if instruction == Instruction::Add && elem.is_float() {
            let zero = Operand::Const(Const::zero(elem));
            let is_from_zero = |operand: &Operand| match operand {
                Operand::Local(local) => self.from_zero.contains(local),
                Operand::Const(_) => *operand == zero,
            };
            let sum = args.iter().position(|operand| *operand == zero).map(|at| args[1 - at]);
            let sum = sum.filter(is_from_zero);
            if args.iter().any(is_from_zero) {
                self.from_zero.insert(to);
            }
            if let Some(sum) = sum {
                return Expr::Copy(sum);
            }
        }
        let lanes = self.f.lanes(to.into());
        let is_sub = instruction == Instruction::Sub;
        if is_sub || instruction == Instruction::Add {
            if let Some([a, b]) = self.take(args[0], lanes, products, done) {
                let rest = if is_sub { self.negated(args[1], elem, done) } else { args[1] };
                return fma(elem, a, b, rest);
            }
            if let Some([a, b]) = self.take(args[1], lanes, products, done) {
                let a = if is_sub { self.negated(a, elem, done) } else { a };
                return fma(elem, a, b, args[0]);
            }
        }
        Expr::Native { instruction, elem, args }
    }

    /// Adds a product to an accumulator.
    fn combine(&mut self, [a, b]: [Operand; 2], target: Target, value: Operand, done: &mut Vec<Option<Node>>) {
        let (elem, lanes) = (self.f.operand_elem(value), self.f.lanes(value));
        let (old, new) = (self.local("old", elem, lanes), self.local("sum", elem, lanes));
        let (read, write) = match target {
            Target::Element(place) => (Node::Load(old, place), Node::Store(place, new.into())),
            Target::Local(local) => (Node::Let(old, Expr::Copy(local.into())), Node::Set(local, new.into())),
        };
        done.extend([Some(read), Some(Node::Let(new, fma(elem, a, b, old.into()))), Some(write)]);
    }

    fn negated(&mut self, value: Operand, elem: Elem, done: &mut Vec<Option<Node>>) -> Operand {
        let negated = self.local("neg", elem, self.f.lanes(value));
        let expr = Expr::Native { instruction: Instruction::Neg, elem, args: vec![value] };
        done.push(Some(Node::Let(negated, expr)));
        negated.into()
    }

    fn local(&mut self, name: &str, elem: Elem, lanes: u32) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes });
        Local(self.f.locals.len() as u32 - 1)
    }
}

fn fma(elem: Elem, a: Operand, b: Operand, c: Operand) -> Expr {
    Expr::Native { instruction: Instruction::Fma, elem, args: vec![a, b, c] }
}
