//! Product reductions as loops, in both modes: beside `reduced(mul)` the factors are stacked and multiplied again by a
//! sequential loop `p = p * v[i]`.
//!
//! The value stays that of the reduction, to the bit; the derivative is that of the loop. Its reverse records prefix products
//! and carries the suffix product, so the gradient is exact with any number of zeros. The usual rule, which counts zeros and
//! selects, is not closed: at one zero its derivative misses the mixed second derivatives.

use super::pass::Pass;
use crate::analysis::activity::VarSet;
use cotan_ir::{
    Atom, Block, Dim, Elem, Function, Loop, Mode, Monoid, Op, Par, ParResult, ReversePolicy, Stmt, Symbol, Ty, Var,
    VarInfo,
};

/// The record of the pass.
pub(super) static PASS: Pass = Pass {
    name: "products",
    doc: "An active product reduction gets a sequential loop over its factors beside it, whose derivative is its derivative.",
    modes: &[Mode::Jvp, Mode::Vjp],
    is_idempotent: true,
    run: |mut f, preparation| {
        let active = preparation.active(&f);
        lower_products(&mut f, &active);
        f
    },
};

/// Lowers the active products of a function.
fn lower_products(f: &mut Function, active: &VarSet) {
    let body = std::mem::take(&mut f.body);
    f.body = Products { f, active }.block(body);
}

struct Products<'a> {
    f: &'a mut Function,
    active: &'a VarSet,
}

impl Products<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            for b in s.op.blocks_mut() {
                *b = self.block(std::mem::take(b));
            }
            let loops = if let Op::Par(p) = &mut s.op { self.lower(p, &mut s.results, s.span) } else { Vec::new() };
            stmts.push(s);
            stmts.extend(loops);
        }
        Block { stmts, results: block.results }
    }

    /// Stacks the factors of the products of one `par`, and gives the loops that multiply them.
    fn lower(&mut self, p: &mut Par, results: &mut Vec<Var>, span: cotan_ir::Span) -> Vec<Stmt> {
        let mut loops = Vec::new();
        for k in 0..p.kinds.len() {
            let ParResult::Reduced { monoid: Monoid::Mul, init } = p.kinds[k] else { continue };
            let product = results[k];
            if !self.active.has(product) {
                continue;
            }
            let name = self.f.vars[product.index()].name.clone();
            let factor = self.f.ty(product).clone();
            let lead = p.extents.iter().map(|e| Dim::from_atom(*e));
            let factors = self.var("factors".into(), factor.stacked(lead));
            results.insert(p.kinds.len(), factors);
            p.body.results.insert(p.kinds.len(), p.body.results[k]);
            p.kinds.push(ParResult::Stacked);
            let value = self.var(name.clone(), factor.clone());
            results[k] = value;
            let nest = Nest { name, factor, factors, span };
            let product_loop = self.multiply(&nest, &p.extents, Vec::new(), init);
            let args = vec![value.into(), product_loop.results[0].into()];
            loops.push(product_loop);
            let op = Op::Prim { prim: cotan_ops::WITH_DERIVATIVE_OF.prim(), args };
            loops.push(Stmt { results: vec![product], op, span });
        }
        loops
    }

    fn var(&mut self, name: Symbol, ty: Ty) -> Var {
        self.f.add_var(VarInfo { name, ty, record: None })
    }

    /// The loop over the first of `extents`, and over the others inside; it starts from `start`.
    fn multiply(&mut self, nest: &Nest, extents: &[Atom], indices: Vec<Atom>, start: Atom) -> Stmt {
        let result = self.var(nest.name.clone(), nest.factor.clone());
        let stmt = |results, op| Stmt { results, op, span: nest.span };
        let Some((extent, rest)) = extents.split_first() else {
            return stmt(
                vec![result],
                Op::Prim { prim: cotan_ops::MUL.prim(), args: vec![start, nest.factors.into()] },
            );
        };
        let index = self.var("i".into(), Ty::scalar(Elem::I64));
        let param = self.var(nest.name.clone(), nest.factor.clone());
        let indices: Vec<Atom> = indices.into_iter().chain([index.into()]).collect();
        let mut stmts = Vec::new();
        let next = if rest.is_empty() {
            let element = self.var("factor".into(), nest.factor.clone());
            stmts.push(stmt(vec![element], Op::Index { array: nest.factors.into(), indices }));
            let next = self.var(nest.name.clone(), nest.factor.clone());
            let args = vec![param.into(), element.into()];
            stmts.push(stmt(vec![next], Op::Prim { prim: cotan_ops::MUL.prim(), args }));
            next
        } else {
            let inner = self.multiply(nest, rest, indices, param.into());
            let next = inner.results[0];
            stmts.push(inner);
            next
        };
        let l = Loop {
            index,
            count: Some(*extent),
            params: vec![param],
            inits: vec![start],
            accs: Vec::new(),
            body: Block { stmts, results: vec![next.into()] },
            kept: ReversePolicy::default(),
        };
        stmt(vec![result], Op::Loop(Box::new(l)))
    }
}

/// The parts that all loops of one product share.
struct Nest {
    name: Symbol,
    factor: Ty,
    factors: Var,
    span: cotan_ir::Span,
}
