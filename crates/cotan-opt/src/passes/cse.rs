//! Common subexpressions, identities and constants.
//!
//! Every statement without inner blocks is replaced by an earlier equal one in scope, by an operand that it equals, or
//! by a constant. All identities used are exact to the bit; which ones a primitive has stands in the op table. Also
//! settled here: a check whose condition is true, a switch on a constant, reads and writes with no index, and the
//! range of a loop index.

use crate::passes::identities;
use cotan_ir::{Atom, Block, CheckKind, Const, Dim, Function, Op, Prim, Stmt, TensorOp, Ty, Var};
use std::collections::HashMap;

/// The function without repeated expressions.
pub fn cse(f: &Function) -> Function {
    let mut f = f.clone();
    let body = std::mem::take(&mut f.body);
    let mut pass = Cse {
        rename: vec![None; f.vars.len()],
        extent: HashMap::new(),
        known: HashMap::new(),
        scope: Vec::new(),
        f: &mut f,
    };
    let body = pass.block(body);
    Function { body, ..f }
}

/// What makes two statements equal.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Prim(Prim, Vec<Atom>),
    Tensor(TensorOp, Vec<Atom>, Vec<i64>, Vec<Dim>),
    Index(Atom, Vec<Atom>),
    Update(Atom, Vec<Atom>, Atom),
    Check(Atom, CheckKind, Atom, Vec<Dim>),
}

struct Cse<'a> {
    f: &'a mut Function,
    /// What a variable is replaced by.
    rename: Vec<Option<Atom>>,
    /// The extents of loop indices in scope: `0 <= index < extent`.
    extent: HashMap<Var, Atom>,
    /// Expressions in scope.
    known: HashMap<Key, Var>,
    /// The keys entered in the open blocks, in order.
    scope: Vec<Key>,
}

impl Cse<'_> {
    fn atom(&self, a: Atom) -> Atom {
        match a {
            Atom::Var(v) => self.rename[v.index()].unwrap_or(a),
            Atom::Const(_) => a,
        }
    }

    /// Renames the dims in the type of a variable that is bound here.
    fn bind(&mut self, v: Var) {
        for k in 0..self.f.ty(v).rank() {
            let dim = self.f.ty(v).dims[k];
            self.f.vars[v.index()].ty.dims[k] = Dim::from_atom(self.atom(dim.atom()));
        }
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
        for v in s.op.binders().into_iter().chain(s.results.iter().copied()) {
            self.bind(v);
        }
        match &mut s.op {
            Op::Par(p) => {
                self.extent.extend(p.indices.iter().copied().zip(p.extents.iter().copied()));
                p.body = self.block(std::mem::take(&mut p.body));
            }
            Op::Loop(l) => {
                self.extent.extend(l.count.map(|n| (l.index, n)));
                l.body = self.block(std::mem::take(&mut l.body));
                self.settle_invariant_carried(&s);
            }
            Op::Switch { selector, arms } => {
                if let Some(taken) = settled_arm(*selector, arms.len()) {
                    let arm = self.open_block(arms.swap_remove(taken), out);
                    for (r, a) in s.results.iter().zip(arm) {
                        self.rename[r.index()] = Some(a);
                    }
                    return;
                }
                for arm in arms {
                    *arm = self.block(std::mem::take(arm));
                }
            }
            Op::Prim { .. } | Op::Tensor { .. } | Op::Index { .. } | Op::Update { .. } | Op::Check { .. } => {
                let result = s.results[0];
                let equal = self.simpler(&s.op, result).or_else(|| self.earlier(&s.op, result));
                if let Some(a) = equal {
                    self.rename[result.index()] = Some(a);
                    return;
                }
            }
            Op::AccAdd { .. } | Op::Call { .. } => {}
        }
        out.push(s);
    }

    /// The statements of a block, put in the place of the statement that holds it.
    fn open_block(&mut self, block: Block, out: &mut Vec<Stmt>) -> Vec<Atom> {
        for s in block.stmts {
            self.stmt(s, out);
        }
        block.results.into_iter().map(|a| self.atom(a)).collect()
    }

    /// A carried value that every iteration leaves as it is equals its start value after the loop.
    fn settle_invariant_carried(&mut self, s: &Stmt) {
        let Op::Loop(l) = &s.op else { return };
        let carried = l.split(&s.results).carried;
        for (((p, init), next), result) in l.params.iter().zip(&l.inits).zip(&l.body.results).zip(carried) {
            if *next == Atom::Var(*p) {
                self.rename[result.index()] = Some(*init);
            }
        }
    }

    /// An earlier statement that is equal; this one is entered if there is none.
    fn earlier(&mut self, op: &Op, result: Var) -> Option<Atom> {
        let dims = || self.f.ty(result).dims.clone();
        let key = match op {
            Op::Prim { prim, args } => Key::Prim(*prim, args.clone()),
            Op::Tensor { op, args, attrs } => Key::Tensor(*op, args.clone(), attrs.clone(), dims()),
            Op::Index { array, indices } => Key::Index(*array, indices.clone()),
            Op::Update { array, indices, value } => Key::Update(*array, indices.clone(), *value),
            Op::Check { cond, kind, args: _, value } => Key::Check(*cond, *kind, *value, dims()),
            Op::AccAdd { .. } | Op::Par(_) | Op::Loop(_) | Op::Switch { .. } | Op::Call { .. } => return None,
        };
        if let Some(v) = self.known.get(&key) {
            return Some((*v).into());
        }
        self.scope.push(key.clone());
        self.known.insert(key, result);
        None
    }

    /// An operand or constant that the statement equals.
    fn simpler(&self, op: &Op, result: Var) -> Option<Atom> {
        match op {
            Op::Index { array, indices } if indices.is_empty() => Some(*array),
            Op::Update { indices, value, .. } if indices.is_empty() => Some(*value),
            Op::Check { cond: Atom::Const(c), value, .. }
                if c.as_bool() == Some(true) && self.f.atom_ty(*value) == *self.f.ty(result) =>
            {
                Some(*value)
            }
            Op::Prim { prim, args } if self.is_index_in_range(*prim, args) => Some(Const::bool(true).into()),
            Op::Prim { prim, args } => {
                let tys: Vec<Ty> = args.iter().map(|a| self.f.atom_ty(*a)).collect();
                identities::simpler(*prim, args, &tys, self.f.ty(result))
            }
            Op::Index { .. }
            | Op::Update { .. }
            | Op::Check { .. }
            | Op::Tensor { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. } => None,
        }
    }

    fn is_index_in_range(&self, prim: Prim, args: &[Atom]) -> bool {
        prim == cotan_ops::IN_RANGE.prim()
            && args[0].var().is_some_and(|i| self.extent.get(&i).is_some_and(|n| *n == args[1]))
    }
}

/// The arm that a constant selector takes.
fn settled_arm(selector: Atom, n_arms: usize) -> Option<usize> {
    let c = selector.constant()?;
    match c.as_bool() {
        Some(b) => Some(usize::from(!b)),
        None => Some(c.as_i64()?.clamp(0, n_arms as i64 - 1) as usize),
    }
}
