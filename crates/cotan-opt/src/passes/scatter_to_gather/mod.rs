//! Scatter to gather: a loop that writes to its neighbours becomes one that reads from them.
//!
//! A `par` adds contributions of iteration `i` to the elements `i + c` of an accumulator, for several constants `c`: what
//! reverse mode makes of a loop that reads an array at its own index and at those beside it. One iteration writes where
//! another one has just written, so lanes wait for each other through memory, and threads need accumulators of their
//! own. It becomes a loop that gives the contributions as stacked results, and one over the elements, each of which takes
//! the start value and the contributions of the iterations `j - c`, in the order in which these ran: sums keep their bits.
//! The second loop reads at its own index what the first one of another gather has made, so loops can be fused.
//!
//! A contribution under a condition that is a function of the indices is taken under that condition, evaluated again.
//! An index that is clamped at the border reaches the first or last element from iterations beside it, under the condition that it
//! is one of those. Another contribution is stacked as the negative zero where it is not made, which changes no sum. What is a contribution but for its
//! sign or a factor is stacked once, and what an element is cheaply computed of is read again instead, if the first loop
//! is left with nothing to do.
//!
//! The second loop goes through the whole accumulator, so its extents must be those of the loop, but for a constant, or the
//! start value is a constant that all of it has to be filled with anyway. Elsewhere a loop of a few iterations would pay for a
//! large array. Where all contributions go to the same offset no two iterations meet, and nothing would be gained.

mod again;
mod extents;
mod nest;
mod plan;

use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{
    Atom, Block, Const, Dim, Elem, Function, Op, Par, ParResult, Prim, Span, Stmt, Ty, Var, VarInfo, bug, print_stmt,
};
use cotan_ops::{ADD, AND, EQ, GE, LT, NOT, SUB};
use extents::Extents;
use nest::Nest;
use plan::{Contribution, End, Leaf, Plan, Start};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "scatter_to_gather",
    doc: "Loops that add to elements at constant offsets become loops that read their contributions.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| scatter_to_gather(f),
};

/// The function with accumulators that neighbouring iterations write to computed element by element.
pub fn scatter_to_gather(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let body = Gather { f: &mut f, splats: Splats::of(&body), extents: Extents::default() }.block(body);
    Function { body, ..f }
}

struct Gather<'a> {
    f: &'a mut Function,
    splats: Splats,
    extents: Extents,
}

impl Gather<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            self.extents.enter(&s);
            s.op.map_blocks(|b| self.block(b));
            let mut gathers = Vec::new();
            while let Op::Par(p) = &s.op
                && let Some(plan) = (0..p.accs.len()).find_map(|acc| self.plan(p, acc))
            {
                let before = p.clone();
                let nest = Nest::of(self.f, &before, before.accs[plan.acc].var);
                gathers.push(self.split(&mut s, &nest, &plan));
            }
            stmts.push(s);
            stmts.extend(gathers);
        }
        Block { stmts, results: block.results }
    }

    /// Takes an accumulator out of a `par`, and gives the loop over its elements.
    fn split(&mut self, s: &mut Stmt, nest: &Nest<'_>, plan: &Plan) -> Stmt {
        let span = s.span;
        let Op::Par(p) = &mut s.op else {
            bug!("scatter_to_gather", print_stmt(self.f, s), "only a parallel loop is split")
        };
        let stacked = plan.leaves.iter().map(|leaf| self.stack(p, &mut s.results, &nest.positions, leaf)).collect();
        let total = s.results.remove(p.kinds.len() + plan.acc);
        let acc = p.accs.remove(plan.acc);
        remove_writes(&mut p.body, acc.var);
        let indices: Vec<Var> = nest.indices.iter().map(|i| self.like(*i)).collect();
        let mut elements = Elements { f: &mut *self.f, nest, stacked, indices: &indices, stmts: Vec::new(), span };
        let sum = elements.sum(plan);
        let body = Block { stmts: elements.stmts, results: vec![sum] };
        let extents = self.f.ty(total).dims.iter().map(|d| d.atom()).collect();
        let p = Par { indices, extents, kinds: vec![ParResult::Stacked], accs: Vec::new(), body };
        Stmt { results: vec![total], op: Op::Par(Box::new(p)), span }
    }

    /// Makes a value of the iterations a result of the outermost loop.
    fn stack(&mut self, p: &mut Par, results: &mut Vec<Var>, positions: &[usize], leaf: &Leaf) -> Stacked {
        let array = self.stack_from(p, results, &positions[..leaf.level], leaf);
        Stacked { array, n_indices: self.f.ty(array).rank() }
    }

    fn stack_from(&mut self, p: &mut Par, results: &mut Vec<Var>, positions: &[usize], leaf: &Leaf) -> Var {
        let element = match positions.split_first() {
            None => self.lift(&mut p.body, &leaf.arms, leaf.value),
            Some((at, positions)) => {
                let inner = &mut p.body.stmts[*at];
                let Op::Par(q) = &mut inner.op else {
                    bug!("scatter_to_gather", print_stmt(self.f, inner), "a nest has a loop at each of its positions")
                };
                self.stack_from(q, &mut inner.results, positions, leaf).into()
            }
        };
        let ty = self.f.atom_ty(element).stacked(p.extents.iter().map(|n| Dim::from_atom(*n)));
        let array = self.named_like(leaf.value, ty);
        results.insert(p.kinds.len(), array);
        p.kinds.push(ParResult::Stacked);
        p.body.results.push(element);
        array
    }

    /// A value of an arm as a value of the block around; the negative zero in other arms.
    fn lift(&mut self, block: &mut Block, arms: &[(usize, usize)], value: Atom) -> Atom {
        let Some(((at, taken), inner)) = arms.split_first() else { return value };
        let s = &mut block.stmts[*at];
        let Op::Switch { arms, .. } = &mut s.op else {
            bug!("scatter_to_gather", print_stmt(self.f, s), "a path through arms leads through switches")
        };
        let value = self.lift(&mut arms[*taken], inner, value);
        let ty = self.f.atom_ty(value);
        let nothing = Const::float(ty.elem, -0.0).into();
        for (k, arm) in arms.iter_mut().enumerate() {
            arm.results.push(if k == *taken { value } else { nothing });
        }
        let result = self.named_like(value, ty);
        s.results.push(result);
        result.into()
    }

    fn named_like(&mut self, a: Atom, ty: Ty) -> Var {
        let name = a.var().map_or("value", |v| self.f.name_of(v)).into();
        self.f.add_var(VarInfo { name, ty, record: None })
    }

    fn like(&mut self, v: Var) -> Var {
        self.f.add_var(self.f.vars[v.index()].clone())
    }
}

fn remove_writes(block: &mut Block, to: Var) {
    block.stmts.retain(|s| !matches!(s.op, Op::AccAdd { acc, .. } if acc == to));
    block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut()).for_each(|b| remove_writes(b, to));
}

/// An array of values of the iterations, of the outer loops of a nest or of all.
struct Stacked {
    array: Var,
    n_indices: usize,
}

/// The body of the loop over the elements.
struct Elements<'a> {
    f: &'a mut Function,
    nest: &'a Nest<'a>,
    /// One for each leaf.
    stacked: Vec<Stacked>,
    indices: &'a [Var],
    stmts: Vec<Stmt>,
    span: Span,
}

impl Elements<'_> {
    /// The start value and the contributions.
    fn sum(&mut self, plan: &Plan) -> Atom {
        let start = match plan.start {
            Start::Constant(c) => c.into(),
            Start::Array(array) => {
                let indices = self.indices.iter().map(|i| Atom::Var(*i)).collect();
                self.scalar("start", plan.elem, Op::Index { array, indices })
            }
        };
        plan.contributions.iter().fold(start, |sum, c| self.plus(sum, c, plan))
    }

    /// The sum with a contribution, if it was made.
    fn plus(&mut self, sum: Atom, c: &Contribution, plan: &Plan) -> Atom {
        let indices = self.indices;
        let iteration: Vec<Atom> = indices.iter().zip(&c.offset).map(|(j, c)| self.back(*j, *c)).collect();
        let mut again: FxHashMap<Var, Atom> =
            self.nest.indices.iter().copied().zip(iteration.iter().copied()).collect();
        let mut conditions = self.inside(&iteration, c, plan);
        conditions.extend(c.only.map(|end| self.is_at(&iteration, end)));
        for (condition, truth) in &c.conditions {
            let holds = again::again(self.f, self.nest, *condition, &mut again, &mut self.stmts);
            conditions.push(if *truth { holds } else { self.prim("not", Elem::Bool, NOT.prim(), vec![holds]) });
        }
        let all = conditions.into_iter().reduce(|a, b| self.prim("and", Elem::Bool, AND.prim(), vec![a, b]));
        let Some(all) = all else { return self.added(sum, c, &iteration, &mut again, plan) };
        let outside = std::mem::take(&mut self.stmts);
        let with = self.added(sum, c, &iteration, &mut again, plan);
        let taken = Block { stmts: std::mem::replace(&mut self.stmts, outside), results: vec![with] };
        let left = Block { stmts: Vec::new(), results: vec![sum] };
        self.scalar("sum", plan.elem, Op::Switch { selector: all, arms: vec![taken, left] })
    }

    fn added(
        &mut self,
        sum: Atom,
        c: &Contribution,
        iteration: &[Atom],
        again: &mut FxHashMap<Var, Atom>,
        plan: &Plan,
    ) -> Atom {
        let mut value = c.value;
        if let Some(k) = c.leaf {
            let Stacked { array, n_indices } = self.stacked[k];
            let indices = iteration[..n_indices].to_vec();
            let element = self.scalar("elem", plan.elem, Op::Index { array: array.into(), indices });
            let leaf = plan.leaves[k].value;
            again.extend(leaf.var().map(|v| (v, element)));
            value = if value == leaf { element } else { value };
        }
        let value = again::again(self.f, self.nest, value, again, &mut self.stmts);
        self.prim("sum", plan.elem, ADD.prim(), vec![sum, value])
    }

    /// What must hold so that there is such an iteration.
    fn inside(&mut self, iteration: &[Atom], c: &Contribution, plan: &Plan) -> Vec<Atom> {
        let mut conditions = Vec::new();
        for (m, k) in iteration.iter().enumerate() {
            if c.offset[m] > 0 {
                conditions.push(self.prim("ge", Elem::Bool, GE.prim(), vec![*k, Atom::i64(0)]));
            }
            // Of an array that is longer by so much than the loop the last element is that many iterations behind its end.
            if plan.longer[m].is_none_or(|longer| longer > c.offset[m]) {
                let extent = self.nest.extents[m];
                conditions.push(self.prim("lt", Elem::Bool, LT.prim(), vec![*k, extent]));
            }
        }
        conditions
    }

    /// Whether an iteration is the one at this distance from an end.
    fn is_at(&mut self, iteration: &[Atom], end: End) -> Atom {
        let number = match end.is_at_start {
            true => Atom::i64(end.distance),
            false => {
                let less = Atom::i64(end.distance + 1);
                self.prim("last", Elem::I64, SUB.prim(), vec![self.nest.extents[end.axis], less])
            }
        };
        self.prim("is_end", Elem::Bool, EQ.prim(), vec![iteration[end.axis], number])
    }

    fn back(&mut self, j: Var, offset: i64) -> Atom {
        match offset {
            0 => j.into(),
            1.. => self.prim("sub", Elem::I64, SUB.prim(), vec![j.into(), Atom::i64(offset)]),
            ..0 => self.prim("add", Elem::I64, ADD.prim(), vec![j.into(), Atom::i64(-offset)]),
        }
    }

    fn prim(&mut self, name: &str, elem: Elem, prim: Prim, args: Vec<Atom>) -> Atom {
        self.scalar(name, elem, Op::Prim { prim, args })
    }

    fn scalar(&mut self, name: &str, elem: Elem, op: Op) -> Atom {
        let v = self.f.add_var(VarInfo { name: name.into(), ty: Ty::scalar(elem), record: None });
        self.stmts.push(Stmt { results: vec![v], op, span: self.span });
        v.into()
    }
}
