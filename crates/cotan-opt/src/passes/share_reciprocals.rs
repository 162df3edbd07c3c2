//! Reciprocal sharing: quotients of derivatives by one number are products with its reciprocal.
//!
//! The partial derivatives of `a / b` are `1 / b` and `-(a / b) / b`: two divisions, where the second is the first times a
//! quotient that is there already. So a quotient that is a factor in products of derivatives and nothing else becomes a
//! product with the reciprocal of its divisor, where that is computed anyway or where there are two such quotients. At a divisor of
//! zero both are the same; only where the divisor is subnormal, so that its reciprocal overflows, do they differ by more than
//! a rounding. Values are never touched.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Const, Function, Op, Stmt, Var, VarInfo};
use cotan_ops::{DIV, MUL, MULC, MULZ, NEG};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "share_reciprocals",
    doc: "Quotients of derivatives by one number become products with its reciprocal.",
    promise: Promise::Rounding,
    is_idempotent: true,
    run: |f, _| share_reciprocals(f),
};

/// The function with fewer divisions.
pub fn share_reciprocals(mut f: Function) -> Function {
    let others = used_otherwise(&f);
    let mut body = std::mem::take(&mut f.body);
    Sharing { f: &mut f, others, reciprocals: FxHashMap::default() }.block(&mut body);
    Function { body, ..f }
}

/// The variables that are more than factors in products of derivatives, negated or not.
fn used_otherwise(f: &Function) -> FxHashSet<Var> {
    let mut others: FxHashSet<Var> = FxHashSet::default();
    let mut negated: Vec<[Var; 2]> = Vec::new();
    for s in f.body.walk() {
        others.extend(s.op.blocks().iter().flat_map(|b| &b.results).filter_map(|a| a.var()));
        match &s.op {
            Op::Prim { prim, .. } if *prim == MULZ.prim() || *prim == MULC.prim() => {}
            Op::Prim { prim, args } if *prim == NEG.prim() => {
                negated.extend(args[0].var().map(|of| [s.results[0], of]));
            }
            op => others.extend(op.operands().into_iter().filter_map(|a| a.var())),
        }
    }
    others.extend(f.body.results.iter().filter_map(|a| a.var()));
    // A negation stands behind what it negates.
    for [result, of] in negated.into_iter().rev() {
        if others.contains(&result) {
            others.insert(of);
        }
    }
    others
}

struct Sharing<'a> {
    f: &'a mut Function,
    others: FxHashSet<Var>,
    /// Reciprocals in scope.
    reciprocals: FxHashMap<Var, Var>,
}

impl Sharing<'_> {
    fn block(&mut self, block: &mut Block) {
        let outside = self.reciprocals.clone();
        let mut divided: FxHashMap<Var, usize> = FxHashMap::default();
        for s in &block.stmts {
            if let Some((_, divisor)) = self.quotient(s) {
                *divided.entry(divisor).or_default() += 1;
            }
        }
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in std::mem::take(&mut block.stmts) {
            s.op.blocks_mut().iter_mut().for_each(|b| self.block(b));
            if let Some(divisor) = reciprocal(&s.op) {
                self.reciprocals.entry(divisor).or_insert(s.results[0]);
            } else if let Some((numerator, divisor)) = self.quotient(&s) {
                if divided[&divisor] >= 2 && !self.reciprocals.contains_key(&divisor) {
                    stmts.push(self.new_reciprocal(divisor, &s));
                }
                if let Some(reciprocal) = self.reciprocals.get(&divisor) {
                    s.op = Op::Prim { prim: MUL.prim(), args: vec![numerator, (*reciprocal).into()] };
                }
            }
            stmts.push(s);
        }
        block.stmts = stmts;
        self.reciprocals = outside;
    }

    /// The numerator and divisor of a quotient that is a factor in products of derivatives alone.
    fn quotient(&self, s: &Stmt) -> Option<(Atom, Var)> {
        let [numerator, divisor] = s.op.args_of(DIV.prim())?[..] else { return None };
        let divisor = divisor.var()?;
        let ty = self.f.ty(s.results[0]);
        let is_float = ty.is_scalar() && ty.elem.is_float() && ty.elem.storage().is_none();
        (is_float && !self.others.contains(&s.results[0])).then_some((numerator, divisor))
    }

    fn new_reciprocal(&mut self, divisor: Var, s: &Stmt) -> Stmt {
        let ty = self.f.ty(divisor).clone();
        let one = Const::float(ty.elem, 1.0).into();
        let result = self.f.add_var(VarInfo { name: "reciprocal".into(), ty, record: None });
        self.reciprocals.insert(divisor, result);
        Stmt { results: vec![result], op: Op::Prim { prim: DIV.prim(), args: vec![one, divisor.into()] }, span: s.span }
    }
}

/// The number that an operation is the reciprocal of.
fn reciprocal(op: &Op) -> Option<Var> {
    let [one, divisor] = op.args_of(DIV.prim())?[..] else { return None };
    if one.constant().and_then(|c| c.as_float()) == Some(1.0) { divisor.var() } else { None }
}
