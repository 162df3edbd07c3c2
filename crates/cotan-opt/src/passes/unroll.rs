//! Small loops written out.
//!
//! A `par` or counted `loop` of a small constant number of iterations becomes one copy of its body for each of them, with
//! the indices as constants, from the inside out. Reductions are combined in the order of [`cotan_ops::reduce`],
//! accumulators become values that each write replaces, stacked results are tensors of what the copies give. Iterations
//! keep their order, so the first check that fails stays the first.
//!
//! A loop stays if what comes out would be long; if it gives something that is not small (rows of unknown length, a
//! carried array); if it keeps a record or a log; or if a branch writes to one of its accumulators.
//!
//! Not for code that is still to be differentiated: a reduced maximum shares among ties otherwise than its steps.

use super::rename::lengths;
use super::small::is_small;
use cotan_ir::{
    Acc, AccKind, Atom, Block, Builder, Const, Dim, Env, Function, Loop, Monoid, Op, Par, ParResult, Stmt, Ty, Var,
};
use cotan_ops::reduce::{monoid_row, reduce};
use cotan_ops::{CONCAT, FILL, FROM_ELEMENTS, RESHAPE};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Iterations of a parallel loop that is written out.
const MOST_TRIPS: i64 = 32;
/// Iterations of a sequential loop that is written out. What it carries passes through all of them, so there is less to
/// gain, and a backend runs several of the loops around it side by side as well.
const MOST_TRIPS_IN_ORDER: i64 = 8;
/// Statements that a loop may become, loops inside it written out.
const MOST_STMTS: usize = 1024;
/// Statements up to which a function may grow.
const MOST_STMTS_OF_FUNCTION: usize = 6 * MOST_STMTS;

/// The function with small loops written out.
pub fn unroll(f: Function) -> Function {
    let mut plan = Plan { f: &f, lengths: lengths(&f.vars), written_out: FxHashMap::default() };
    plan.block(&f.body);
    if plan.written_out.is_empty() {
        return f;
    }
    let mut pass = Unroll {
        f: &f,
        written_out: plan.written_out,
        b: Builder::new(),
        accs: FxHashMap::default(),
        left: MOST_STMTS_OF_FUNCTION.saturating_sub(f.n_stmts()),
        is_inside: false,
    };
    let mut env = Env::new();
    for p in &f.params {
        let new = pass.b.param(f.name_of(*p), env.ty(f.ty(*p)));
        env.insert(*p, new.into());
    }
    pass.stmts(&f.body, &mut env);
    let results = env.atoms(&f.body.results);
    let new = pass.b.finish(&f.name, results);
    Function { custom_vjp: f.custom_vjp, custom_jvp: f.custom_jvp, ..new }
}

/// Which loops are written out.
struct Plan<'a> {
    f: &'a Function,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    /// How many statements each of them becomes.
    written_out: FxHashMap<*const Stmt, usize>,
}

/// What becomes of a block.
#[derive(Default)]
struct Contents {
    /// Its statements, with those of inner blocks.
    size: usize,
    /// The accumulators that it writes itself.
    plain: FxHashSet<Var>,
    /// Those that regions write which stay.
    hidden: FxHashSet<Var>,
}

impl Plan<'_> {
    fn block(&mut self, block: &Block) -> Contents {
        let mut contents = Contents::default();
        for s in &block.stmts {
            if let Op::AccAdd { acc, .. } = &s.op {
                contents.plain.insert(*acc);
            }
            let inner = self.stmt(s);
            contents.size = contents.size.saturating_add(inner.size);
            contents.plain.extend(inner.plain);
            contents.hidden.extend(inner.hidden);
        }
        contents
    }

    fn stmt(&mut self, s: &Stmt) -> Contents {
        let mut inner = Contents::default();
        for block in s.op.blocks() {
            let of_block = self.block(block);
            inner.size = inner.size.saturating_add(of_block.size);
            inner.plain.extend(of_block.plain);
            inner.hidden.extend(of_block.hidden);
        }
        match self.size_written_out(s, &inner) {
            Some(size) => {
                self.written_out.insert(s, size);
                inner.size = size;
            }
            None => {
                inner.size = inner.size.saturating_add(1);
                inner.hidden.extend(inner.plain.drain());
            }
        }
        for acc in s.op.accs() {
            inner.plain.remove(&acc.var);
            inner.hidden.remove(&acc.var);
        }
        inner
    }

    /// How many statements a loop becomes if it is written out; `None` if it must stay.
    fn size_written_out(&self, s: &Stmt, inner: &Contents) -> Option<usize> {
        let (trips, keeps_types) = match &s.op {
            Op::Par(p) => {
                let trips = p.extents.iter().try_fold(1i64, |n, e| n.checked_mul(number(*e)?.max(0)))?;
                (trips, self.par_keeps_types(p, &s.results))
            }
            Op::Loop(l) => (number(l.count?)?.max(0), self.loop_keeps_types(l, &s.results)),
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => return None,
        };
        let gives_small = s.results.iter().all(|r| self.is_small_value(*r));
        let carries_lengths = s.results.iter().chain(&s.op.binders()).any(|v| self.lengths.contains(v));
        let are_sums = s.op.accs().iter().all(|acc| acc.kind != AccKind::Log && !inner.hidden.contains(&acc.var));
        let size = inner.size.checked_mul(usize::try_from(trips).ok()?)?;
        let most_trips = if s.op.as_loop().is_some() { MOST_TRIPS_IN_ORDER } else { MOST_TRIPS };
        let is_short = trips <= most_trips && size <= MOST_STMTS;
        (is_short && keeps_types && gives_small && !carries_lengths && are_sums).then_some(size)
    }

    /// A scalar, or a tensor of few elements or none, that is no record.
    fn is_small_value(&self, v: Var) -> bool {
        let info = &self.f.vars[v.index()];
        let has_few = info.ty.is_scalar() || info.ty.dims.contains(&Dim::Const(0)) || is_small(&info.ty);
        has_few && info.record.is_none()
    }

    /// Whether what replaces the results has their types. Other names of equal extents would not do, because code further
    /// on may rely on them.
    fn par_keeps_types(&self, p: &Par, results: &[Var]) -> bool {
        let lead = || p.extents.iter().map(|e| Dim::from_atom(*e));
        let (values, accs) = results.split_at(p.kinds.len());
        let mut all = p.kinds.iter().zip(&p.body.results).zip(values);
        all.all(|((kind, element), result)| match kind {
            ParResult::Stacked => *self.f.ty(*result) == self.f.atom_ty(*element).stacked(lead()),
            ParResult::Reduced { init, .. } => self.have_type_of(*result, [*element, *init]),
        }) && self.accs_keep_types(&p.accs, accs)
    }

    fn loop_keeps_types(&self, l: &Loop, results: &[Var]) -> bool {
        let results = l.split(results);
        let (next, elements) = l.body.results.split_at(l.params.len());
        let mut carried = l.params.iter().zip(&l.inits).zip(next).zip(results.carried);
        let count = l.count.map(Dim::from_atom);
        carried.all(|(((p, init), next), result)| self.have_type_of(*result, [(*p).into(), *init, *next]))
            && (elements.iter().zip(results.stacked))
                .all(|(element, result)| *self.f.ty(*result) == self.f.atom_ty(*element).stacked(count))
            && self.accs_keep_types(&l.accs, results.accs)
    }

    fn accs_keep_types(&self, accs: &[Acc], results: &[Var]) -> bool {
        accs.iter()
            .zip(results)
            .all(|(acc, result)| self.have_type_of(*result, [Some(acc.var.into()), acc.init].into_iter().flatten()))
    }

    fn have_type_of(&self, v: Var, operands: impl IntoIterator<Item = Atom>) -> bool {
        operands.into_iter().all(|a| self.f.atom_ty(a) == *self.f.ty(v))
    }
}

fn number(a: Atom) -> Option<i64> {
    a.constant()?.as_i64()
}

struct Unroll<'a> {
    f: &'a Function,
    written_out: FxHashMap<*const Stmt, usize>,
    b: Builder,
    /// What the accumulators of loops that are written out are so far.
    accs: FxHashMap<Var, (Monoid, Atom)>,
    /// Statements that may still come of loops.
    left: usize,
    /// Whether the statement stands in a loop that is written out.
    is_inside: bool,
}

impl Unroll<'_> {
    fn stmts(&mut self, block: &Block, env: &mut Env) {
        block.stmts.iter().for_each(|s| self.stmt(s, env));
    }

    fn stmt(&mut self, s: &Stmt, env: &mut Env) {
        self.b.set_span(s.span);
        match &s.op {
            Op::Par(p) if self.opens(s) => self.written_out(|this| this.par(p, s, env)),
            Op::Loop(l) if self.opens(s) => self.written_out(|this| this.sequential(l, s, env)),
            Op::AccAdd { acc, indices, value } if self.accs.contains_key(acc) => {
                self.write(*acc, &env.atoms(indices), env.atom(*value));
            }
            op => self.copy(op, s, env),
        }
    }

    /// Whether the loop is written out. One inside of another that is has been counted with it.
    fn opens(&mut self, s: &Stmt) -> bool {
        let Some(size) = self.written_out.get(&std::ptr::from_ref(s)) else { return false };
        if self.is_inside {
            return true;
        }
        let left = self.left.checked_sub(*size);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    fn written_out(&mut self, write: impl FnOnce(&mut Self)) {
        let was_inside = std::mem::replace(&mut self.is_inside, true);
        write(self);
        self.is_inside = was_inside;
    }

    /// A copy, the blocks inside written out.
    fn copy(&mut self, op: &Op, s: &Stmt, env: &mut Env) {
        let mut copied = shell(op);
        copied.map_operands(&mut |a| env.atom(a));
        let mut inner = if op.blocks().is_empty() { Env::new() } else { env.clone() };
        match &mut copied {
            Op::AccAdd { acc, .. } => *acc = env.var(*acc),
            Op::Par(p) => {
                p.indices.iter_mut().for_each(|v| *v = self.b.copy_var(self.f, *v, &mut inner));
                p.accs.iter_mut().for_each(|acc| acc.var = self.b.copy_var(self.f, acc.var, &mut inner));
            }
            Op::Loop(l) => {
                l.index = self.b.copy_var(self.f, l.index, &mut inner);
                l.params.iter_mut().for_each(|v| *v = self.b.copy_var(self.f, *v, &mut inner));
                l.accs.iter_mut().for_each(|acc| acc.var = self.b.copy_var(self.f, acc.var, &mut inner));
            }
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => {}
        }
        for (block, new) in op.blocks().iter().zip(copied.blocks_mut()) {
            let mut env = inner.clone();
            self.b.open_block();
            self.stmts(block, &mut env);
            *new = self.b.close_block(env.atoms(&block.results));
        }
        self.b.push_copy(self.f, s, copied, env);
    }

    // ---- loops

    fn par(&mut self, p: &Par, s: &Stmt, env: &mut Env) {
        self.open_accs(&s.op, env);
        let extents: Vec<i64> = p.extents.iter().filter_map(|e| number(*e)).collect();
        let mut given: Vec<Vec<Atom>> = vec![Vec::new(); p.kinds.len()];
        for trip in 0..extents.iter().map(|n| (*n).max(0)).product() {
            let mut inner = env.clone();
            let mut rest = trip;
            for (index, n) in p.indices.iter().zip(&extents).rev() {
                inner.insert(*index, Atom::i64(rest % n));
                rest /= n;
            }
            self.stmts(&p.body, &mut inner);
            for (column, r) in given.iter_mut().zip(&p.body.results) {
                column.push(inner.atom(*r));
            }
        }
        self.b.set_span(s.span);
        let (results, accs) = s.results.split_at(p.kinds.len());
        for ((kind, column), result) in p.kinds.iter().zip(given).zip(results) {
            let value = match kind {
                ParResult::Stacked => self.stacked(*result, &column),
                ParResult::Reduced { monoid, init } => {
                    let ty = self.f.ty(*result).clone();
                    let builder = RefCell::new(&mut self.b);
                    let combine = |x, y| combined(&mut builder.borrow_mut(), *monoid, x, y, &ty);
                    reduce(&column, env.atom(*init), combine)
                }
            };
            env.insert(*result, value);
        }
        self.close_accs(&s.op, accs, env);
    }

    fn sequential(&mut self, l: &Loop, s: &Stmt, env: &mut Env) {
        self.open_accs(&s.op, env);
        let results = l.split(&s.results);
        let mut carried = env.atoms(&l.inits);
        let mut given: Vec<Vec<Atom>> = vec![Vec::new(); results.stacked.len()];
        for trip in 0..l.count.and_then(number).unwrap_or(0) {
            let mut inner = env.clone();
            inner.insert(l.index, Atom::i64(trip));
            inner.extend(l.params.iter().copied().zip(carried));
            self.stmts(&l.body, &mut inner);
            let next = inner.atoms(&l.body.results);
            carried = next[..l.params.len()].to_vec();
            for (column, element) in given.iter_mut().zip(&next[l.params.len()..]) {
                column.push(*element);
            }
        }
        self.b.set_span(s.span);
        env.extend(results.carried.iter().copied().zip(carried));
        for (column, result) in given.iter().zip(results.stacked) {
            let value = self.stacked(*result, column);
            env.insert(*result, value);
        }
        self.close_accs(&s.op, results.accs, env);
    }

    /// The tensor of what iterations gave.
    fn stacked(&mut self, result: Var, column: &[Atom]) -> Atom {
        let ty = self.f.ty(result).clone();
        let name = self.f.name_of(result);
        let Some(first) = column.first() else {
            let zero = Const::zero(ty.elem).into();
            return self.b.named(name).tensor(FILL.op(), &[zero], &[], ty).into();
        };
        let element = self.b.ty(*first);
        if element.is_scalar() {
            return self.b.named(name).tensor(FROM_ELEMENTS.op(), column, &[], ty).into();
        }
        let row = element.stacked([Dim::Const(1)]);
        let rows: Vec<Atom> =
            column.iter().map(|part| self.b.tensor(RESHAPE.op(), &[*part], &[], row.clone()).into()).collect();
        let all = element.stacked([Dim::Const(column.len() as i64)]);
        let joined = self.b.tensor(CONCAT.op(), &rows, &[0], all);
        self.b.named(name).tensor(RESHAPE.op(), &[joined.into()], &[], ty).into()
    }

    // ---- accumulators

    fn open_accs(&mut self, op: &Op, env: &Env) {
        for acc in op.accs() {
            if let (AccKind::Reduce(monoid), Some(init)) = (acc.kind, acc.init) {
                self.accs.insert(acc.var, (monoid, env.atom(init)));
            }
        }
    }

    fn write(&mut self, acc: Var, indices: &[Atom], value: Atom) {
        let Some((monoid, whole)) = self.accs.get(&acc).copied() else { return };
        let part = self.f.ty(acc).inner(indices.len());
        let new = if indices.is_empty() {
            combined(&mut self.b, monoid, whole, value, &part)
        } else {
            let old = self.b.index(whole, indices).into();
            let new = combined(&mut self.b, monoid, old, value, &part);
            self.b.update(whole, indices, new).into()
        };
        self.accs.insert(acc, (monoid, new));
    }

    fn close_accs(&mut self, op: &Op, results: &[Var], env: &mut Env) {
        for (acc, result) in op.accs().iter().zip(results) {
            if let Some((_, value)) = self.accs.remove(&acc.var) {
                env.insert(*result, value);
            }
        }
    }
}

/// Two values of a type combined, element by element. Both may be constants that stand for a tensor.
fn combined(b: &mut Builder, monoid: Monoid, x: Atom, y: Atom, ty: &Ty) -> Atom {
    let prim = monoid_row(monoid).prim();
    let result = b.var(prim.name(), ty.clone());
    b.push(vec![result], Op::Prim { prim, args: vec![x, y] });
    result.into()
}

/// The operation with empty blocks.
fn shell(op: &Op) -> Op {
    match op {
        Op::Par(p) => Op::Par(Box::new(Par {
            indices: p.indices.clone(),
            extents: p.extents.clone(),
            kinds: p.kinds.clone(),
            accs: p.accs.clone(),
            body: Block::default(),
        })),
        Op::Loop(l) => Op::Loop(Box::new(Loop {
            index: l.index,
            count: l.count,
            params: l.params.clone(),
            inits: l.inits.clone(),
            accs: l.accs.clone(),
            body: Block::default(),
            kept: l.kept,
        })),
        Op::Switch { selector, arms } => Op::Switch { selector: *selector, arms: vec![Block::default(); arms.len()] },
        Op::Prim { .. }
        | Op::Tensor { .. }
        | Op::Index { .. }
        | Op::Update { .. }
        | Op::AccAdd { .. }
        | Op::Call { .. }
        | Op::Check { .. } => op.clone(),
    }
}
