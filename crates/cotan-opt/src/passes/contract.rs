//! Contraction of `a * b + c` to `fma(a, b, c)`.
//!
//! Run once on lowered source code, before differentiation: from then on primal code and every copy of it compute the
//! same bits. A product is contracted if the sum is its only use and stands in the same block; of two products the
//! left one is taken. `a * b - c` and `c - a * b` use an exact negation.

use cotan_ir::{Atom, Block, Function, Op, Prim, Stmt, Var, VarInfo};
use std::collections::HashMap;

/// The function with products and sums of floats contracted.
pub fn contract(f: &Function) -> Function {
    let mut f = f.clone();
    let mut uses = vec![0u32; f.vars.len()];
    count_uses(&f.body, &mut uses);
    let body = std::mem::take(&mut f.body);
    let body = Contract { f: &mut f, uses }.block(body);
    Function { body, ..f }
}

fn count_uses(block: &Block, uses: &mut [u32]) {
    let mut using = |a: Atom| {
        if let Atom::Var(v) = a {
            uses[v.index()] += 1;
        }
    };
    for s in &block.stmts {
        s.op.each_operand(&mut using);
    }
    block.results.iter().copied().for_each(&mut using);
    for s in &block.stmts {
        s.op.blocks().iter().for_each(|b| count_uses(b, uses));
    }
}

struct Contract<'a> {
    f: &'a mut Function,
    uses: Vec<u32>,
}

impl Contract<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts: Vec<Option<Stmt>> = Vec::with_capacity(block.stmts.len());
        let mut products: HashMap<Var, usize> = HashMap::new();
        for mut s in block.stmts {
            for b in s.op.blocks_mut() {
                *b = self.block(std::mem::take(b));
            }
            if let Op::Prim { prim, args } = &s.op
                && self.f.is_float(s.results[0].into())
            {
                if *prim == cotan_ops::MUL.prim() && self.uses[s.results[0].index()] == 1 {
                    products.insert(s.results[0], stmts.len());
                } else if let Some((product, rest, negated)) = self.sum_of_product(*prim, args, &products) {
                    let at = products.remove(&product).expect("invariant: the product was found here");
                    let taken = stmts[at].take().expect("invariant: a product is contracted once");
                    let Op::Prim { args: factors, .. } = taken.op else { continue };
                    let (mut a, b, mut c) = (factors[0], factors[1], rest);
                    if negated == Negated::Product {
                        a = self.negate(a, &s, &mut stmts);
                    } else if negated == Negated::Rest {
                        c = self.negate(c, &s, &mut stmts);
                    }
                    s.op = Op::Prim { prim: cotan_ops::FMA.prim(), args: vec![a, b, c] };
                }
            }
            stmts.push(Some(s));
        }
        Block { stmts: stmts.into_iter().flatten().collect(), results: block.results }
    }

    /// The product in a sum or difference, the other operand, and which of the two is subtracted.
    fn sum_of_product(
        &self,
        prim: Prim,
        args: &[Atom],
        products: &HashMap<Var, usize>,
    ) -> Option<(Var, Atom, Negated)> {
        let is_sub = prim == cotan_ops::SUB.prim();
        if !is_sub && prim != cotan_ops::ADD.prim() {
            return None;
        }
        let product = |a: Atom| a.var().filter(|v| products.contains_key(v));
        match (product(args[0]), product(args[1])) {
            (Some(p), _) => Some((p, args[1], if is_sub { Negated::Rest } else { Negated::None })),
            (None, Some(p)) => Some((p, args[0], if is_sub { Negated::Product } else { Negated::None })),
            (None, None) => None,
        }
    }

    fn negate(&mut self, a: Atom, s: &Stmt, stmts: &mut Vec<Option<Stmt>>) -> Atom {
        if let Atom::Const(c) = a
            && let Ok(negated) = cotan_ops::NEG.eval(&[c])
        {
            return negated.into();
        }
        let ty = self.f.atom_ty(a);
        let v = self.f.add_var(VarInfo { name: "neg".into(), ty, is_record: false });
        self.uses.push(1);
        let op = Op::Prim { prim: cotan_ops::NEG.prim(), args: vec![a] };
        stmts.push(Some(Stmt { results: vec![v], op, span: s.span }));
        v.into()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Negated {
    None,
    Product,
    Rest,
}
