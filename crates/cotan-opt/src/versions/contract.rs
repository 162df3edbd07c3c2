//! Contraction of the products of derivatives before a version is made, as nests of the general code are contracted.
//!
//! A product joins a sum that is its only use and stands in the same block. One that an accumulator or a reduction takes up
//! is contracted when that is done, with what is there so far. Until then it is `fma(a, b, -0.0)`, which is the rounded
//! product, and which nothing else is: see [`accumulated_product`]. All other products stay rounded, wherever their values
//! meet a sum later.

use cotan_ir::{Atom, Block, Const, Elem, Function, Monoid, Op, ParResult, Prim, Stmt, Ty, Var, VarInfo, count_uses};
use cotan_ops::{ADD, FMA, MULC, NEG, SUB};
use rustc_hash::{FxHashMap, FxHashSet};

/// The factors, if this is a product that is contracted with what it is added to.
pub(crate) fn accumulated_product(op: &Op) -> Option<[Atom; 2]> {
    let [a, b, rest] = *op.args_of(FMA.prim())? else { return None };
    let is_nothing = |c: Const| c.elem().is_float() && c == nothing(c.elem());
    rest.constant().is_some_and(is_nothing).then_some([a, b])
}

/// The zero that changes no bit of what it is added to.
fn nothing(elem: Elem) -> Const {
    Const::float(elem, -0.0)
}

/// The function with its products of derivatives contracted. `None` if it has something that looks like what this makes.
pub(super) fn contract(mut f: Function) -> Option<Function> {
    if f.body.walk().any(|s| accumulated_product(&s.op).is_some()) {
        return None;
    }
    let uses = count_uses(&f.body, &f.vars);
    let body = std::mem::take(&mut f.body);
    let body = Contract { f: &mut f, uses }.block(body, &FxHashSet::default());
    Some(Function { body, ..f })
}

struct Contract<'a> {
    f: &'a mut Function,
    uses: Vec<u32>,
}

/// A product that a sum may take.
#[derive(Clone, Copy)]
struct Product {
    factors: [Atom; 2],
    /// The position of its statement in the block.
    at: usize,
}

impl Contract<'_> {
    /// A block, with the positions of the results that a sum takes up.
    fn block(&mut self, block: Block, summed: &FxHashSet<usize>) -> Block {
        let mut stmts: Vec<Stmt> = Vec::with_capacity(block.stmts.len());
        let mut products: FxHashMap<Var, Product> = FxHashMap::default();
        for mut s in block.stmts {
            let summed = summed_results(&s.op);
            s.op.map_blocks(|b| self.block(b, &summed));
            if let Op::Prim { prim, args } = &s.op
                && self.f.ty(s.results[0]).is_scalar()
            {
                let product = s.results[0];
                if *prim == MULC.prim() && self.f.is_float(product.into()) && self.uses[product.index()] == 1 {
                    products.insert(product, Product { factors: [args[0], args[1]], at: stmts.len() });
                } else if let Some(sum) = self.sum(*prim, &args.clone(), &s, &mut products, &mut stmts) {
                    s.op = sum;
                }
            } else if let Op::AccAdd { value, .. } = &s.op {
                self.accumulate(*value, &mut products, &mut stmts);
            }
            stmts.push(s);
        }
        for (k, result) in block.results.iter().enumerate() {
            if summed.contains(&k) {
                self.accumulate(*result, &mut products, &mut stmts);
            }
        }
        Block { stmts, results: block.results }
    }

    /// A sum with a product in it, contracted. The product itself stays, for nobody.
    fn sum(
        &mut self,
        prim: Prim,
        args: &[Atom],
        s: &Stmt,
        products: &mut FxHashMap<Var, Product>,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Op> {
        let is_sub = prim == SUB.prim();
        if !is_sub && prim != ADD.prim() {
            return None;
        }
        let mut take = |a: Atom| Some(products.remove(&a.var()?)?.factors);
        let args = if let Some([a, b]) = take(args[0]) {
            vec![a, b, if is_sub { self.negated(args[1], s, stmts) } else { args[1] }]
        } else {
            let [a, b] = take(args[1])?;
            vec![if is_sub { self.negated(a, s, stmts) } else { a }, b, args[0]]
        };
        Some(Op::Prim { prim: FMA.prim(), args })
    }

    fn negated(&mut self, a: Atom, s: &Stmt, stmts: &mut Vec<Stmt>) -> Atom {
        let ty: Ty = self.f.atom_ty(a);
        let negated = self.f.add_var(VarInfo { name: "neg".into(), ty, record: None });
        self.uses.push(1);
        let op = Op::Prim { prim: NEG.prim(), args: vec![a] };
        stmts.push(Stmt { results: vec![negated], op, span: s.span });
        negated.into()
    }

    /// Marks the product that a value is, if it is one, as one that is contracted with what it is added to.
    fn accumulate(&mut self, value: Atom, products: &mut FxHashMap<Var, Product>, stmts: &mut [Stmt]) {
        let Some(Product { factors: [a, b], at }) = value.var().and_then(|v| products.remove(&v)) else { return };
        let nothing = nothing(self.f.atom_ty(value).elem);
        stmts[at].op = Op::Prim { prim: FMA.prim(), args: vec![a, b, nothing.into()] };
    }
}

/// The positions of the results of a body that a parallel loop adds up.
fn summed_results(op: &Op) -> FxHashSet<usize> {
    let Op::Par(p) = op else { return FxHashSet::default() };
    let is_sum = |kind: &ParResult| matches!(kind, ParResult::Reduced { monoid: Monoid::Add, .. });
    p.kinds.iter().enumerate().filter_map(|(k, kind)| is_sum(kind).then_some(k)).collect()
}
