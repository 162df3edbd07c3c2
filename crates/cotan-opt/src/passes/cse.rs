//! Common subexpression elimination, constant folding and algebraic identities.
//!
//! Every statement without inner blocks is replaced by an earlier equal one in scope, by an operand that it equals, or
//! by a constant. All identities used are exact to the bit; which ones a primitive has stands in the op table. Also
//! settled here: a check whose condition is true, a switch on a constant, reads and writes with no index, reads of a
//! filled tensor, operations on one and another tensor, the range of a loop index, carried values that no iteration changes, accumulators that nobody writes.

use super::identities;
use super::rename::{lengths, may_become, rename_ty, retyped, sizes};
use super::value_key::ValueKey;
use crate::analysis::integer_facts::IntegerFacts;
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Const, Elem, Function, Loop, Op, ParResult, Stmt, Ty, Var, written_accs};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "cse",
    doc: "Common subexpressions, constants and operands of identities take the place of computations.",
    promise: Promise::Bits,
    is_idempotent: false,
    run: |f, _| cse(f),
};

/// The function without repeated expressions.
pub fn cse(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let mut pass = Cse {
        rename: vec![None; f.vars.len()],
        lengths: lengths(&f.vars),
        sizes: sizes(&f.vars, &body),
        written: written_accs(&body),
        facts: IntegerFacts::default(),
        filled: FxHashMap::default(),
        known: FxHashMap::default(),
        scope: Vec::new(),
        f: &mut f,
    };
    let body = pass.block(body);
    Function { body, ..f }
}

/// What makes two statements equal: the operation, and the type of the result.
type Key = (ValueKey, Ty);

struct Cse<'a> {
    f: &'a mut Function,
    /// What a variable is replaced by.
    rename: Vec<Option<Atom>>,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    /// The numbers of elements or of iterations.
    sizes: FxHashSet<Var>,
    /// The accumulators that are written anywhere.
    written: FxHashSet<Var>,
    /// The extents of the indices of regions. No check is learned: what follows from a check needs that check.
    facts: IntegerFacts,
    /// What filled tensors are filled with.
    filled: FxHashMap<Var, Atom>,
    /// Expressions in scope.
    known: FxHashMap<Rc<Key>, Var>,
    /// The expressions entered in the open blocks, in order.
    scope: Vec<Rc<Key>>,
}

impl Cse<'_> {
    fn atom(&self, a: Atom) -> Atom {
        a.var().and_then(|v| self.rename[v.index()]).unwrap_or(a)
    }

    /// Renames the dims in the type of a variable that is bound here.
    fn bind(&mut self, v: Var) {
        let rename = &self.rename;
        rename_ty(&mut self.f.vars[v.index()].ty, &|d| rename[d.index()].unwrap_or(d.into()));
    }

    fn may_become(&self, v: Var, a: Atom) -> bool {
        may_become(v, a, &self.f.vars, &self.sizes)
    }

    fn block(&mut self, block: Block) -> Block {
        let mark = self.scope.len();
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for s in block.stmts {
            self.stmt(s, &mut stmts);
        }
        for key in self.scope.drain(mark..) {
            self.known.remove(&key);
        }
        let results = block.results.into_iter().map(|a| self.atom(a)).collect();
        Block { stmts, results }
    }

    fn stmt(&mut self, mut s: Stmt, out: &mut Vec<Stmt>) {
        s.op.map_operands(&mut |a| self.atom(a));
        self.facts.bind_indices(&s.op);
        if let Op::Par(_) = &s.op {
            self.region(&mut s);
            self.enter_filled(&s);
        } else if let Op::Loop(l) = &mut s.op {
            l.params.iter().for_each(|p| self.bind(*p));
            self.settle_params(l);
            self.region(&mut s);
            self.settle_carried(&mut s);
        } else if let Op::Switch { selector, arms } = &mut s.op {
            match settled_arm(*selector, arms.len()) {
                Some(taken) => return self.open_arm(arms.swap_remove(taken), &s, out),
                None => self.region(&mut s),
            }
        } else if s.op.is_value() {
            self.take_fillers(&mut s.op);
            let result = s.results[0];
            self.bind(result);
            // Two records that begin alike are filled apart.
            let is_record = self.f.vars[result.index()].record.is_some();
            let equal = self.simpler(&s.op, result).or_else(|| self.earlier(&s.op, result).filter(|_| !is_record));
            if let Some(a) = equal {
                self.rename[result.index()] = Some(a);
                return;
            }
        } else {
            s.results.iter().for_each(|r| self.bind(*r));
        }
        out.push(s);
    }

    /// Notes that every iteration of a loop gives a value that is there already.
    fn enter_filled(&mut self, s: &Stmt) {
        let Op::Par(p) = &s.op else { return };
        let is_index = |a: &Atom| a.var().is_some_and(|v| p.indices.contains(&v));
        if let ([result], [value], [ParResult::Stacked], []) =
            (&s.results[..], &p.body.results[..], &p.kinds[..], &p.accs[..])
            && p.body.stmts.is_empty()
            && !is_index(value)
        {
            self.filled.insert(*result, *value);
        }
    }

    /// Constants in the place of tensors filled with them, where another operand has the shape.
    fn take_fillers(&self, op: &mut Op) {
        let Op::Prim { args, .. } = op else { return };
        let filler = |a: Atom| self.filled.get(&a.var()?).copied().filter(|filler| filler.constant().is_some());
        if args.iter().any(|a| !self.f.atom_ty(*a).is_scalar() && filler(*a).is_none()) {
            args.iter_mut().for_each(|a| *a = filler(*a).unwrap_or(*a));
        }
    }

    fn region(&mut self, s: &mut Stmt) {
        s.op.binders().iter().for_each(|v| self.bind(*v));
        s.op.map_blocks(|b| self.block(b));
        s.results.iter().for_each(|r| self.bind(*r));
        for (acc, result) in s.op.accs().iter().zip(s.op.acc_results(&s.results)) {
            if let Some(init) = acc.init
                && !self.written.contains(&acc.var)
            {
                self.settle_result(s, *result, init);
            }
        }
    }

    /// A carried value that every iteration leaves as it is equals its start value in the loop.
    fn settle_params(&mut self, l: &Loop) {
        for ((p, init), next) in l.params.iter().zip(&l.inits).zip(&l.body.results) {
            if *next == Atom::Var(*p) && self.may_become(*p, *init) {
                self.rename[p.index()] = Some(*init);
            }
        }
    }

    /// And it equals its start value after the loop. If the value must stay carried, it is still seen to be unchanged.
    fn settle_carried(&mut self, s: &mut Stmt) {
        let Op::Loop(l) = &mut s.op else { return };
        for (p, next) in l.params.iter().zip(&mut l.body.results) {
            if self.rename[p.index()].is_some() {
                *next = Atom::Var(*p);
            }
        }
        let Op::Loop(l) = &s.op else { return };
        let carried = l.split(&s.results).carried;
        for (((p, init), next), result) in l.params.iter().zip(&l.inits).zip(&l.body.results).zip(carried) {
            if *next == Atom::Var(*p) {
                self.settle_result(s, *result, *init);
            }
        }
    }

    /// Replaces a result that the statement goes on binding. The type of another result may name it, and that name must
    /// be given wherever the other is.
    fn settle_result(&mut self, s: &Stmt, result: Var, a: Atom) {
        let is_named = || s.results.iter().any(|r| self.f.ty(*r).dims.contains(&result.into()));
        if self.may_become(result, a) && !(self.lengths.contains(&result) && is_named()) {
            self.rename[result.index()] = Some(a);
        }
    }

    /// The statements of an arm in the place of the switch.
    fn open_arm(&mut self, arm: Block, switch: &Stmt, out: &mut Vec<Stmt>) {
        for s in arm.stmts {
            self.stmt(s, out);
        }
        for (r, a) in switch.results.iter().zip(arm.results) {
            let a = self.atom(a);
            self.bind(*r);
            if self.may_become(*r, a) {
                self.rename[r.index()] = Some(a);
            } else {
                out.push(Stmt { results: vec![*r], op: retyped(a), span: switch.span });
            }
        }
    }

    /// An earlier statement that is equal; this one is entered if there is none.
    fn earlier(&mut self, op: &Op, result: Var) -> Option<Atom> {
        let expr = ValueKey::of(op)?;
        let key = (expr, self.f.ty(result).clone());
        if let Some(v) = self.known.get(&key) {
            return Some((*v).into());
        }
        let key = Rc::new(key);
        self.scope.push(key.clone());
        self.known.insert(key, result);
        None
    }

    /// An operand or constant that the statement equals.
    fn simpler(&mut self, op: &Op, result: Var) -> Option<Atom> {
        if let Some(args) = op.args_of_tensor(cotan_ops::FILL.op()) {
            self.filled.insert(result, args[0]);
        }
        let equal = if let Op::Prim { prim, args } = op {
            if *prim == cotan_ops::IN_RANGE.prim() && self.facts.is_in_range(args[0], args[1]) {
                Some(Const::bool(true).into())
            } else {
                let elems: Vec<Elem> = args.iter().map(|a| self.elem(*a)).collect();
                return identities::equals(*prim, args, &elems, self.f.ty(result).elem)
                    .find(|a| self.may_become(result, *a));
            }
        } else if let Op::Index { array, indices } = op {
            if indices.is_empty() { Some(*array) } else { self.filler(*array, indices) }
        } else if let Op::Update { indices, value, .. } = op {
            indices.is_empty().then_some(*value)
        } else if let Op::Check { value, .. } = op {
            (!op.effects().fails).then_some(*value)
        } else {
            // A reshape that changes no dim.
            op.args_of_tensor(cotan_ops::RESHAPE.op()).map(|args| args[0])
        };
        equal.filter(|a| self.may_become(result, *a))
    }

    fn elem(&self, a: Atom) -> Elem {
        match a {
            Atom::Var(v) => self.f.ty(v).elem,
            Atom::Const(c) => c.elem(),
        }
    }

    /// What a filled tensor holds at these indices. They must be known to be in range: a check that an index passes
    /// through belongs to the value that is read.
    fn filler(&self, array: Atom, indices: &[Atom]) -> Option<Atom> {
        let array = array.var()?;
        let filler = self.filled.get(&array)?;
        let dims = &self.f.ty(array).dims;
        let are_in_range = indices.iter().zip(dims).all(|(i, d)| self.facts.is_in_range(*i, d.atom()));
        are_in_range.then_some(*filler)
    }
}

/// The arm that a constant selector takes.
fn settled_arm(selector: Atom, n_arms: usize) -> Option<usize> {
    match selector.truth() {
        Some(b) => Some(usize::from(!b)),
        None => Some(selector.constant()?.as_i64()?.clamp(0, n_arms as i64 - 1) as usize),
    }
}
