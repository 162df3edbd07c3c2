//! Binomial checkpointing (revolve): the reverse of a loop that stores as many states as a number of bytes allows.
//!
//! Note [Replay]. The reverse loop carries a store of states, a stack ordered by iteration: rows, the iteration of each,
//! and the number of rows taken. To reverse an iteration it pops the last row and runs the source from there up to that
//! iteration, forward and unrecorded. On the way, it pushes states where a binomial schedule wants them: with `s` rows, the
//! current one included, `C(s + r, s)` iterations can be reversed so that none is repeated more than `r` times, and no
//! schedule needs fewer runs in all. (Griewank and Walther, *Algorithm 799: revolve*, TOMS 2000.)
//!
//! The first replay starts from the loop's start values, so the forward copy of the loop records nothing, and a while is
//! no different: when it is reversed, the number of its iterations is known.
//!
//! A state holds the values that the reverse body reads and the values needed to recompute those; an array that is only
//! written to is not stored.

use crate::analysis::closed_form::{ClosedForm, closed_form};
use crate::report::Restored;
use crate::state::{Reverse, ReverseLoop};
use cotan_ir::{Atom, Block, Const, Dim, Elem, Loop, Op, Record, ReversePolicy, Ty, Var};
use cotan_ops::{ADD, AND, EQ, FLOOR_DIV, LT, MAX, MIN, MUL, SUB};
use cotan_opt::passes::dce::dce_block;

/// A store never has fewer rows, whatever its bytes, unless there are fewer iterations: with four, a million iterations
/// are repeated at most 68 times each.
const LEAST_ROWS: i64 = 4;

/// One iteration of the source, restricted to the carried values that a replay needs.
struct Step {
    /// The number of the iteration.
    iteration: Var,
    /// The positions of these values among the carried ones.
    carried: Vec<usize>,
    params: Vec<Var>,
    body: Block,
}

/// The store during one iteration of a loop, or its start values.
struct Store<V> {
    /// One per value of a step, `[row, value..]`.
    states: Vec<V>,
    /// The iteration before which each row was taken.
    iterations: V,
    /// How many rows are taken.
    top: V,
}

impl<V: Copy> Store<V> {
    fn all(&self) -> impl Iterator<Item = V> {
        self.states.iter().copied().chain([self.iterations, self.top])
    }
}

impl Reverse<'_, '_> {
    /// Settles the placeholders of a reverse loop by replaying the source from states within a number of bytes.
    pub(crate) fn replay<'a>(&mut self, mut reverse: ReverseLoop<'a>, bytes: i64) -> ReverseLoop<'a> {
        let stmts = reverse.body.stmts.split_off(reverse.head);
        let results = std::mem::take(&mut reverse.body.results);
        let (body, live) = dce_block(self.b.vars(), Block { stmts, results });
        reverse.body.results = body.results;
        let read: Vec<usize> = (0..reverse.placeholders.len()).filter(|q| live.has(reverse.placeholders[*q])).collect();
        let step = self.step(&reverse, &read);

        let first = (!step.carried.is_empty()).then(|| self.first_store(&reverse, &step, bytes));
        self.b.open_block();
        if let Some((rows, first)) = first {
            let (store, finals) = (self.store(&step.params, rows), self.store(&step.params, rows));
            let next = self.advance(&reverse, step, rows, &store);
            for (((param, init), next), result) in store.all().zip(first.all()).zip(next.all()).zip(finals.all()) {
                reverse.add_carried(param, init, next.into(), result);
            }
        }
        let mut restored = vec![Restored::Unread; reverse.placeholders.len()];
        for q in read {
            restored[q] = match closed_form(self.src, reverse.source, q) {
                Some(form) => {
                    self.compute(&reverse, q, &form, reverse.iteration, reverse.placeholders[q]);
                    form.restored()
                }
                None => Restored::Replayed,
            };
        }
        let head = self.b.close_block(Vec::new());
        reverse.body.stmts.extend(head.stmts);
        reverse.body.stmts.extend(body.stmts);
        self.report_backwards(&reverse, restored);
        reverse
    }

    /// The step from the carried values that are read, and those they depend on, to their next values. It writes to no
    /// accumulator.
    fn step(&mut self, reverse: &ReverseLoop<'_>, read: &[usize]) -> Step {
        let l = reverse.source;
        let forms: Vec<Option<ClosedForm>> = (0..l.params.len()).map(|q| closed_form(self.src, l, q)).collect();
        let mut env = reverse.env.clone();
        let iteration = self.b.copy_var(self.src, l.index, &mut env);
        let params: Vec<Var> = l.params.iter().map(|p| self.b.copy_var(self.src, *p, &mut env)).collect();
        self.b.open_block();
        l.body.stmts.iter().for_each(|s| self.b.copy_stmt(self.src, s, &mut env));
        let next = env.atoms(&l.body.results[..l.params.len()]);
        let whole = self.b.close_block(next);

        let mut carried: Vec<usize> = read.iter().copied().filter(|q| forms[*q].is_none()).collect();
        let (body, live) = loop {
            let results = carried.iter().map(|q| whole.results[*q]).collect();
            let (body, live) = dce_block(self.b.vars(), Block { stmts: whole.stmts.clone(), results });
            let is_missing = |q: &usize| !carried.contains(q) && forms[*q].is_none() && live.has(params[*q]);
            let missing: Vec<usize> = (0..params.len()).filter(is_missing).collect();
            if missing.is_empty() {
                break (body, live);
            }
            carried.extend(missing);
        };
        self.b.open_block();
        for (q, form) in forms.iter().enumerate() {
            if let Some(form) = form
                && live.has(params[q])
            {
                self.compute(reverse, q, form, iteration.into(), params[q]);
            }
        }
        self.b.stmts().extend(body.stmts);
        let body = self.b.close_block(body.results);
        let params = carried.iter().map(|q| params[*q]).collect();
        Step { iteration, carried, params, body }
    }

    /// The number of rows, and a store with the start values of the loop in its first row.
    fn first_store(&mut self, reverse: &ReverseLoop<'_>, step: &Step, bytes: i64) -> (Var, Store<Atom>) {
        let mut each = Atom::i64(Elem::I64.bytes() as i64);
        for p in &step.params {
            let ty = self.b.var_ty(*p).clone();
            let mut size = Atom::i64(ty.elem.bytes() as i64);
            for dim in ty.dims {
                size = self.b.prim(MUL.prim(), &[size, dim.atom()]).into();
            }
            each = self.b.prim(ADD.prim(), &[each, size]).into();
        }
        let rows = self.b.prim(FLOOR_DIV.prim(), &[Atom::i64(bytes), each]);
        let rows = self.b.prim(MAX.prim(), &[rows.into(), Atom::i64(LEAST_ROWS)]);
        let useful = self.b.prim(MAX.prim(), &[reverse.count, Atom::i64(1)]);
        let rows = self.b.named("rows").prim(MIN.prim(), &[rows.into(), useful.into()]);

        let inits: Vec<Atom> = step.carried.iter().map(|q| reverse.outer.atom(reverse.source.inits[*q])).collect();
        let states = step.params.iter().zip(inits).map(|(p, init)| {
            let info = self.b.info(*p).clone();
            let empty = self.empty(&format!("{}s", info.name), info.ty, rows);
            self.b.named(&format!("{}s", info.name)).update(empty.into(), &[Atom::i64(0)], init).into()
        });
        let states = states.collect();
        let iterations = self.empty("taken", Ty::scalar(Elem::I64), rows).into();
        (rows, Store { states, iterations, top: Atom::i64(1) })
    }

    /// A column of the store.
    fn empty(&mut self, name: &str, value: Ty, rows: Var) -> Var {
        let zero = Const::zero(value.elem).into();
        let column = self.b.named(name).tensor(cotan_ops::FILL.op(), &[zero], &[], value.stacked([Dim::Var(rows)]));
        self.b.info_mut(column).record = Some(Record::State);
        column
    }

    /// Variables for a store of such values.
    fn store(&mut self, values: &[Var], rows: Var) -> Store<Var> {
        let column = |r: &mut Self, v: &Var| {
            let info = r.b.info(*v).clone();
            r.b.var(&format!("{}s", info.name), info.ty.stacked([Dim::Var(rows)]))
        };
        let states = values.iter().map(|v| column(self, v)).collect();
        let i64 = Ty::scalar(Elem::I64);
        let iterations = self.b.var("taken", i64.stacked([Dim::Var(rows)]));
        Store { states, iterations, top: self.b.var("top", i64) }
    }

    /// Binds the stored placeholders of the iteration under reversal, and gives the remaining store.
    fn advance(&mut self, reverse: &ReverseLoop<'_>, step: Step, rows: Var, store: &Store<Var>) -> Store<Var> {
        let one = Atom::i64(1);
        let base = self.b.named("base").prim(SUB.prim(), &[store.top.into(), one]);
        let from = self.b.named("from").index(store.iterations.into(), &[base.into()]);
        let distance = self.b.named("distance").prim(SUB.prim(), &[reverse.iteration, from.into()]);
        let end = self.b.named("end").prim(ADD.prim(), &[reverse.iteration, one]);
        let bases: Vec<Var> = store.states.iter().map(|rows| self.b.index((*rows).into(), &[base.into()])).collect();

        let index = self.b.var("ahead", Ty::scalar(Elem::I64));
        let wanted = self.b.var("wanted", Ty::scalar(Elem::I64));
        let inner = self.store(&step.params, rows);
        self.b.open_block();
        self.b.push(vec![step.iteration], Op::Prim { prim: ADD.prim(), args: vec![from.into(), index.into()] });
        let (kept, next_wanted) = self.put(&step, rows, end, &inner, wanted);
        self.b.stmts().extend(step.body.stmts);
        let next = step.body.results.iter().copied().chain(kept.all().map(Atom::Var)).chain([next_wanted.into()]);
        let next = next.collect();
        let body = self.b.close_block(next);

        let left = self.store(&step.params, rows);
        let unused = self.b.var("wanted", Ty::scalar(Elem::I64));
        let states = step.carried.iter().map(|q| reverse.placeholders[*q]);
        let results = states.chain(left.all()).chain([unused]).collect();
        let params = step.params.iter().copied().chain(inner.all()).chain([wanted]).collect();
        // The popped row is pushed again by the first step, if there is one.
        let inits = bases.into_iter().chain(store.states.iter().copied()).chain([store.iterations, base, from]);
        let inits = inits.map(Atom::Var).collect();
        let kept = ReversePolicy::default();
        let l = Loop { index, count: Some(distance.into()), params, inits, accs: Vec::new(), body, kept };
        self.b.push(results, Op::Loop(Box::new(l)));
        left
    }

    /// Pushes the state at the start of a step, if the schedule wants it. Gives the store and the next iteration whose state
    /// is wanted.
    fn put(&mut self, step: &Step, rows: Var, end: Var, store: &Store<Var>, wanted: Var) -> (Store<Var>, Var) {
        let is_wanted = self.b.prim(EQ.prim(), &[step.iteration.into(), wanted.into()]);
        self.b.open_block();
        let row = [store.top.into()];
        let mut write = |column: Var, value: Var| Atom::Var(self.b.update(column.into(), &row, value.into()));
        let mut results: Vec<Atom> = store.states.iter().zip(&step.params).map(|(to, p)| write(*to, *p)).collect();
        results.push(write(store.iterations, step.iteration));
        let top = self.b.named("top").prim(ADD.prim(), &[store.top.into(), Atom::i64(1)]);
        let left = self.b.prim(SUB.prim(), &[end.into(), step.iteration.into()]);
        let free = self.b.prim(SUB.prim(), &[rows.into(), top.into()]);
        let ahead = self.binomial_distance(left.into(), free.into());
        let next = self.b.named("wanted").prim(ADD.prim(), &[step.iteration.into(), ahead.into()]);
        results.extend([Atom::Var(top), next.into()]);
        let taken = self.b.close_block(results);
        let as_before = store.all().chain([wanted]).map(Atom::Var).collect();
        let passed = Block { stmts: Vec::new(), results: as_before };
        let mut states = self.b.finish_switch(is_wanted.into(), vec![taken, passed]);
        let mut last = || states.pop().expect("invariant: the arms give the store and what is wanted");
        let (next, top, iterations) = (last(), last(), last());
        (Store { states, iterations, top }, next)
    }

    /// The best distance from a row just taken to the next one, where `left` iterations are left to reverse from here with
    /// `free` more rows; zero if no row is taken.
    ///
    /// With `s = free + 1` and the least `r` that has `C(s + r, s) >= left`, both the range behind the next row and the
    /// range ahead of it must be reversible by their rows in about as many repetitions. Such distances are an interval; this
    /// is its upper end.
    fn binomial_distance(&mut self, left: Atom, free: Atom) -> Var {
        let scalar = |elem| Ty::scalar(elem);
        let one = Atom::i64(1);
        let rows = self.b.prim(ADD.prim(), &[free, one]);
        let is_several = self.b.prim(LT.prim(), &[one, left]);
        let is_room = self.b.prim(LT.prim(), &[Atom::i64(0), free]);
        let searching = self.b.prim(AND.prim(), &[is_several.into(), is_room.into()]);
        let index = self.b.var("r", scalar(Elem::I64));
        let running = self.b.var("searching", scalar(Elem::Bool));
        // The ranges of `r`, `r - 1` and `r - 2` repetitions.
        let [range, shorter, shortest] = ["range", "shorter", "shortest"].map(|n| self.b.var(n, scalar(Elem::I64)));
        self.b.open_block();
        let repetitions = self.b.prim(ADD.prim(), &[index.into(), one]);
        let factor = self.b.prim(ADD.prim(), &[rows.into(), repetitions.into()]);
        let product = self.b.prim(MUL.prim(), &[range.into(), factor.into()]);
        let longer = self.b.prim(FLOOR_DIV.prim(), &[product.into(), repetitions.into()]);
        let goes_on = self.b.prim(LT.prim(), &[longer.into(), left]);
        let body = self.b.close_block(vec![goes_on.into(), longer.into(), range.into(), shorter.into()]);
        let inits = vec![searching.into(), one, Atom::i64(0), Atom::i64(0)];
        let params = vec![running, range, shorter, shortest];
        let l = Loop { index, count: None, params, inits, accs: Vec::new(), body, kept: ReversePolicy::default() };
        let results = self.b.finish_loop(l, &[]);
        let (shorter, shortest) = (results[3], results[4]);
        let behind = self.b.prim(SUB.prim(), &[left, shorter.into()]);
        let most = self.b.prim(ADD.prim(), &[behind.into(), shortest.into()]);
        self.b.prim(MIN.prim(), &[shorter.into(), most.into()])
    }
}
