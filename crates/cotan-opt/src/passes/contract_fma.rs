//! Floating-point contraction: `a * b + c` becomes `fma(a, b, c)`.
//!
//! Run once on lowered source code, before differentiation: from then on primal code and every copy of it compute the
//! same bits. A product is contracted if the sum is its only use and stands in the same block; of two products the
//! left one is taken. `a * b - c` and `c - a * b` use an exact negation.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Op, Prim, Stmt, Var, VarInfo, count_uses};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "contract_fma",
    doc: "Products that only one sum uses are contracted with it to `fma`.",
    promise: Promise::Rounding,
    is_idempotent: true,
    run: |f, _| contract_fma(f),
};

/// The function with products and sums of floats contracted.
pub fn contract_fma(mut f: Function) -> Function {
    let uses = count_uses(&f.body, &f.vars);
    let body = std::mem::take(&mut f.body);
    let body = Contract { f: &mut f, uses }.block(body);
    Function { body, ..f }
}

struct Contract<'a> {
    f: &'a mut Function,
    uses: Vec<u32>,
}

/// A product that its sum may take.
#[derive(Clone, Copy)]
struct Product {
    factors: [Atom; 2],
    /// The position of its statement in the block.
    at: usize,
}

/// A sum or difference of a product and something else.
struct Sum {
    product: Var,
    rest: Atom,
    negated: Negated,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Negated {
    None,
    Product,
    Rest,
}

impl Contract<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts: Vec<Option<Stmt>> = Vec::with_capacity(block.stmts.len());
        let mut products: FxHashMap<Var, Product> = FxHashMap::default();
        for mut s in block.stmts {
            s.op.map_blocks(|b| self.block(b));
            if let Op::Prim { prim, args } = &s.op
                && self.f.is_float(s.results[0].into())
            {
                if *prim == cotan_ops::MUL.prim() && self.uses[s.results[0].index()] == 1 {
                    products.insert(s.results[0], Product { factors: [args[0], args[1]], at: stmts.len() });
                } else if let Some(sum) = sum_of_product(*prim, args, &products)
                    && let Some(product) = products.remove(&sum.product)
                {
                    stmts[product.at] = None;
                    s.op = self.contracted(product.factors, &sum, &s, &mut stmts);
                }
            }
            stmts.push(Some(s));
        }
        Block { stmts: stmts.into_iter().flatten().collect(), results: block.results }
    }

    fn contracted(&mut self, [a, b]: [Atom; 2], sum: &Sum, s: &Stmt, stmts: &mut Vec<Option<Stmt>>) -> Op {
        let args = match sum.negated {
            Negated::None => vec![a, b, sum.rest],
            Negated::Product => vec![self.negate(a, s, stmts), b, sum.rest],
            Negated::Rest => vec![a, b, self.negate(sum.rest, s, stmts)],
        };
        Op::Prim { prim: cotan_ops::FMA.prim(), args }
    }

    fn negate(&mut self, a: Atom, s: &Stmt, stmts: &mut Vec<Option<Stmt>>) -> Atom {
        if let Atom::Const(c) = a
            && let Ok(negated) = cotan_ops::NEG.eval(&[c])
        {
            return negated.into();
        }
        let ty = self.f.atom_ty(a);
        let v = self.f.add_var(VarInfo { name: "neg".into(), ty, record: None });
        self.uses.push(1);
        let op = Op::Prim { prim: cotan_ops::NEG.prim(), args: vec![a] };
        stmts.push(Some(Stmt { results: vec![v], op, span: s.span }));
        v.into()
    }
}

/// The sum or difference that the primitive is, if one of these products is an operand.
fn sum_of_product(prim: Prim, args: &[Atom], products: &FxHashMap<Var, Product>) -> Option<Sum> {
    let is_sub = prim == cotan_ops::SUB.prim();
    if !is_sub && prim != cotan_ops::ADD.prim() {
        return None;
    }
    let product = |a: Atom| a.var().filter(|v| products.contains_key(v));
    match (product(args[0]), product(args[1])) {
        (Some(product), _) => {
            Some(Sum { product, rest: args[1], negated: if is_sub { Negated::Rest } else { Negated::None } })
        }
        (None, Some(product)) => {
            Some(Sum { product, rest: args[0], negated: if is_sub { Negated::Product } else { Negated::None } })
        }
        (None, None) => None,
    }
}
