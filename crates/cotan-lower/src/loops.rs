//! Sequential loops: counted where nothing leaves them early, else a while.

use std::collections::BTreeSet;

use cotan_ir::{Atom, Checkpoint, Const, Elem, Loop, Ty, Var};
use cotan_ops::{ADD, LE, LT, MAX, MIN, SELECT, SUB, cast_to};

use super::Result;
use super::body::{Body, Flow, Share, Truth, Value};
use super::code::Code;
use super::control::{Rest, Test, UNIT};
use super::values::LeafTy;
use super::walk::{each_assigned, escapes};
use cotan_sema::typed::{Expr, For, Iterable, LocalId, LogicOp, PatternKind, PlaceStepKind, Range, Type, While};

/// What decides how often a loop runs.
#[derive(Clone, Copy)]
enum Head<'p> {
    Times(Atom),
    Condition(&'p Expr),
}

/// Lowers the body of a loop, given the iteration number and the carried values.
pub(super) type Iteration<'x, 'a, 'p> = &'x mut dyn FnMut(&mut Body<'a, 'p>, Atom, &[Atom]) -> Result<Vec<Atom>>;

/// Like [`Iteration`]; also given the logs.
type LoggingIteration<'x, 'a, 'p> = &'x mut dyn FnMut(&mut Body<'a, 'p>, Atom, &[Atom], &[Var]) -> Result<Vec<Atom>>;

/// The values of a range: as many as `count` says, from `lo` on.
#[derive(Clone, Copy)]
pub(super) struct Values {
    pub(super) lo: Atom,
    pub(super) count: Atom,
}

/// What a `for` loop runs over.
pub(super) struct Space {
    /// What the number of an iteration is called.
    pub(super) name: String,
    /// The number of iterations; none if negative.
    pub(super) count: Atom,
    /// Whether from the last to the first.
    pub(super) reversed: bool,
    /// The first value of a range.
    pub(super) lo: Option<Atom>,
    /// The leaves of a tensor.
    rows: Value,
}

impl<'a, 'p> Body<'a, 'p> {
    /// A loop with carried values. `count` is `None` for a while, whose first carried value decides. The body gives the
    /// next carried values and then what is stacked; so do the results.
    pub(super) fn repeat(
        &mut self,
        index_name: &str,
        count: Option<Atom>,
        inits: &[(&str, Atom)],
        body: Iteration<'_, 'a, 'p>,
    ) -> Result<Vec<Atom>> {
        repeat_with_logs(self, index_name, count, inits, &[], &mut |this, index, params, _| body(this, index, params))
    }

    /// A counted loop.
    pub(super) fn counted(
        &mut self,
        count: Atom,
        inits: &[(&str, Atom)],
        body: Iteration<'_, 'a, 'p>,
    ) -> Result<Vec<Atom>> {
        self.repeat("i", Some(count), inits, body)
    }

    // ---- for and while

    /// A `for` loop. Where it may return: whether it did, and what.
    pub(super) fn for_loop(&mut self, l: &'p For) -> Result<Option<(Atom, Value)>> {
        let name = match &l.pattern.kind {
            PatternKind::Local(id) => self.current().table[id.0 as usize].name.as_str(),
            PatternKind::Wildcard
            | PatternKind::Fields(_)
            | PatternKind::Literal(_)
            | PatternKind::Range(_)
            | PatternKind::Variant { .. }
            | PatternKind::Or(_) => "i",
        };
        let space = space(self, name, &l.iterable)?;
        match &l.parallel {
            Some(sharing) => self.parallel_loop(l, &space, sharing).map(|()| None),
            None => self.sequential_for(l, &space),
        }
    }

    /// Binds the pattern of a loop in iteration number `index`. Gives the position in the range or tensor, an i64.
    pub(super) fn bind_iteration(&mut self, l: &'p For, space: &Space, index: Atom) -> Result<Atom> {
        let index = if space.reversed { reversed_index(&mut self.code, space.count, index) } else { index };
        let Some(lo) = space.lo else {
            let row = self.code.row(&space.rows, &[index]);
            self.bind(&l.pattern, row)?;
            return Ok(index);
        };
        let value = value_at(&mut self.code, Values { lo, count: space.count }, index);
        self.bind(&l.pattern, vec![value])?;
        Ok(self.code.as_i64(value))
    }

    /// A `for` loop whose iterations run one after the other; like [`Self::for_loop`].
    pub(super) fn sequential_for(&mut self, l: &'p For, space: &Space) -> Result<Option<(Atom, Value)>> {
        let mut bind = |body: &mut Self, index: Atom| body.bind_iteration(l, space, index).map(drop);
        sequential(self, &space.name, Head::Times(space.count), &l.body, l.checkpoint, &mut bind)
    }

    /// A `while` loop; like [`Self::for_loop`].
    pub(super) fn while_loop(&mut self, l: &'p While) -> Result<Option<(Atom, Value)>> {
        sequential(self, "i", Head::Condition(&l.condition), &l.body, l.checkpoint, &mut |_, _| Ok(()))
    }

    /// Whether another iteration follows this one.
    pub(super) fn test(&mut self, test: Test<'p>) -> Result<Truth> {
        let holds = match test {
            Test::Below { index, count } => {
                let next = self.code.prim(&ADD, &[index, Atom::i64(1)]);
                self.code.prim(&LT, &[next, count])
            }
            Test::Condition(condition) => self.scalar(condition)?,
        };
        Ok(match holds.truth() {
            Some(known) => Truth::Known(known),
            None => Truth::Is(holds),
        })
    }

    // ---- what loops run over

    /// First value and number of values of a range.
    pub(super) fn range_values(&mut self, range: &'p Range) -> Result<Values> {
        let lo = self.scalar(&range.lo)?;
        let mut hi = self.scalar(&range.hi)?;
        let elem = self.code.b.ty(lo).elem;
        let mut first = lo;
        let is_narrow = elem != Elem::I64 && elem != Elem::U64;
        if is_narrow {
            (first, hi) = (self.code.as_i64(first), self.code.as_i64(hi));
        }
        let one: Atom = Const::number(self.code.b.ty(first).elem, 1).into();
        let known = first.constant().and_then(Const::as_integer);
        if !range.inclusive {
            let count = distance(&mut self.code, first, hi, is_narrow);
            return Ok(Values { lo, count: trip_count(&mut self.code, count) });
        }
        let count = if is_narrow {
            // One past the largest value of a narrow type fits an i64.
            let end = self.code.prim(&ADD, &[hi, one]);
            distance(&mut self.code, first, end, true)
        } else if known == Some(0) {
            self.code.fitting(&ADD, &[hi, one])
        } else if let Some(known) = known.filter(|known| *known > 0) {
            // The largest value of the type has none after it, but the smallest of the range has one before it.
            let before = Const::integer(elem, known - 1).into();
            distance(&mut self.code, before, hi, false)
        } else {
            let past_first = distance(&mut self.code, first, hi, false);
            let count = self.code.fitting(&ADD, &[past_first, one]);
            let is_there = self.code.prim(&LE, &[first, hi]);
            self.code.prim(&SELECT, &[is_there, count, Const::number(elem, 0).into()])
        };
        Ok(Values { lo, count: trip_count(&mut self.code, count) })
    }

    /// The extent of a tensor along its first axis.
    pub(super) fn first_extent(&mut self, ty: &Type, value: &Value) -> Atom {
        match value.first() {
            Some(leaf) => self.code.b.ty(*leaf).dims[0].atom(),
            // A tensor of units has no leaf to ask.
            None => ty.dims().first().and_then(|dim| self.size(dim)).unwrap_or(Atom::i64(0)),
        }
    }
}

impl Code {
    /// The element or row of every leaf at leading positions that are in range.
    pub(super) fn row(&mut self, value: &Value, at: &[Atom]) -> Value {
        value.iter().map(|leaf| self.b.index(*leaf, at).into()).collect()
    }
}

/// A loop that also writes logs, each as long as the final value of one of the carried values. Their results stand
/// after the carried ones.
fn repeat_with_logs<'a, 'p>(
    body: &mut Body<'a, 'p>,
    index_name: &str,
    count: Option<Atom>,
    inits: &[(&str, Atom)],
    logs: &[(Elem, usize)],
    step: LoggingIteration<'_, 'a, 'p>,
) -> Result<Vec<Atom>> {
    let index = body.code.b.var(index_name, Ty::scalar(Elem::I64));
    body.code.non_negative.insert(index);
    body.code.bounded.insert(index);
    let param = |this: &mut Body<'a, 'p>, (name, init): &(&str, Atom)| {
        let ty = this.code.b.ty(*init);
        let v = this.code.b.var(name, ty);
        this.code.named.insert(v);
        v
    };
    let params: Vec<_> = inits.iter().map(|init| param(body, init)).collect();
    let values: Vec<Atom> = params.iter().map(|v| Atom::Var(*v)).collect();
    let accs = body.code.logs(logs);
    let kept = body.kept;
    body.kept.checkpoint = None;
    let log_vars: Vec<Var> = accs.iter().map(|acc| acc.var).collect();
    body.code.b.open_block();
    let next = body.scoped(|this| step(this, index.into(), &values, &log_vars))?;
    let block = body.code.b.close_block(next);
    let inits = inits.iter().map(|(_, init)| *init).collect();
    let l = Loop { index, count, params, inits, accs, body: block, kept };
    let n_trips = usize::from(count.is_none());
    let lengths: Vec<usize> = logs.iter().map(|(_, length)| *length).collect();
    let results = body.code.b.finish_loop(l, &lengths);
    body.code.named.extend(results[n_trips..].iter().take(values.len()).copied());
    Ok(results[n_trips..].iter().map(|v| Atom::Var(*v)).collect())
}

/// What a loop runs over.
fn space<'p>(body: &mut Body<'_, 'p>, name: &str, iterable: &'p Iterable) -> Result<Space> {
    let name = name.to_owned();
    match iterable {
        Iterable::Range { range, reversed } => {
            let Values { lo, count } = body.range_values(range)?;
            Ok(Space { name, count, reversed: *reversed, lo: Some(lo), rows: Value::new() })
        }
        Iterable::Tensor { tensor, reversed } => {
            let rows = body.expr(tensor)?;
            let count = body.first_extent(&tensor.ty, &rows);
            Ok(Space { name, count, reversed: *reversed, lo: None, rows })
        }
    }
}

fn sequential<'a, 'p>(
    body: &mut Body<'a, 'p>,
    name: &str,
    head: Head<'p>,
    inner: &'p Expr,
    checkpoint: Option<Checkpoint>,
    bind: &mut dyn FnMut(&mut Body<'a, 'p>, Atom) -> Result<()>,
) -> Result<Option<(Atom, Value)>> {
    let exits = escapes(inner);
    let is_while = matches!(head, Head::Condition(_)) || exits.breaks || exits.returns;
    let carried = carried(body, head, inner);
    let mut inits: Vec<(String, Atom)> = Vec::new();
    if is_while {
        let running = match head {
            Head::Times(count) => body.code.prim(&LT, &[Atom::i64(0), count]),
            Head::Condition(condition) => body.scalar(condition)?,
        };
        inits.push(("running".to_owned(), running));
    }
    let n_running = inits.len();
    let returning = exits.returns.then(|| body.returning());
    let mut logs = Vec::new();
    if let Some(returning) = &returning {
        inits.extend(returning.inits.iter().cloned());
        logs.extend(returning.logs.iter().map(|(elem, at)| (*elem, n_running + at)));
    }
    let n_control = inits.len();
    let mut carried_types: Vec<LeafTy> = Vec::new();
    for (id, leaf) in &carried {
        let local = &body.current().table[id.0 as usize];
        let (name, ty) =
            (body.layout.leaf_names(&local.name, &local.ty)[*leaf].clone(), body.layout.leaf_types(&local.ty));
        let init = body.steady_leaf(&ty[*leaf], &body.local(*id), *leaf);
        inits.push((name, init));
        carried_types.push(ty[*leaf].clone());
    }
    let named: Vec<(&str, Atom)> = inits.iter().map(|(name, init)| (name.as_str(), *init)).collect();
    let flow = std::mem::take(&mut body.flow);
    let in_loop = std::mem::replace(&mut body.in_loop, true);
    let count = match head {
        Head::Times(count) if !is_while => Some(count),
        Head::Times(_) | Head::Condition(_) => None,
    };
    body.kept.checkpoint = checkpoint;
    let results = repeat_with_logs(body, name, count, &named, &logs, &mut |this, index, params, logs| {
        set_leaves(this, &carried, &params[n_control..]);
        this.flow = Flow::default();
        bind(this, index)?;
        let test = match head {
            Head::Times(count) => Test::Below { index, count },
            Head::Condition(condition) => Test::Condition(condition),
        };
        iteration(this, inner, is_while.then_some(test))?;
        let flow = std::mem::take(&mut this.flow);
        let mut next = Vec::new();
        if is_while {
            next.push(this.code.truth(flow.running));
        }
        if let Some(returning) = &returning {
            let returned = this.code.truth(flow.returned);
            next.extend(this.code.next_returned(returning, returned, flow.result, &params[n_running..n_control], logs));
        }
        for ((id, leaf), (ty, param)) in carried.iter().zip(carried_types.iter().zip(&params[n_control..])) {
            let local = this.local(*id);
            let extents: Vec<Atom> = this.code.b.ty(*param).dims.iter().map(|dim| dim.atom()).collect();
            next.push(this.code.leaf_like(ty, &local, *leaf, &extents));
        }
        Ok(next)
    })?;
    body.flow = flow;
    body.in_loop = in_loop;
    let (control, rest) = results.split_at(n_control);
    let (mutable, logs) = rest.split_at(carried.len());
    set_leaves(body, &carried, mutable);
    Ok(returning.map(|plan| (control[n_running], body.returned_value(&plan, &control[n_running..], logs))))
}

/// One iteration; afterwards the flow says whether another one follows.
fn iteration<'p>(body: &mut Body<'_, 'p>, inner: &'p Expr, test: Option<Test<'p>>) -> Result<()> {
    let exits = escapes(inner);
    let Some(test) = test else {
        return match exits.continues {
            true => body.run(inner, &Rest::Join(&UNIT)).map(|_| ()),
            false => body.expr(inner).map(|_| ()),
        };
    };
    if exits.continues {
        // Every path but that of a `break` ends in the test, which stands once.
        body.run(inner, &Rest::Join(&UNIT))?;
        let running = body.code.truth(body.flow.running);
        let running = body.lazy(LogicOp::And, running, &mut |body| {
            let test = body.test(test)?;
            Ok(body.code.truth(test))
        })?;
        body.flow.running = Truth::Is(running);
    } else if exits.any() {
        body.run(inner, &Rest::Iteration(test))?;
    } else {
        body.expr(inner)?;
        body.flow.running = body.test(test)?;
    }
    Ok(())
}

/// The leaves of locals from outside that the loop assigns.
fn carried<'p>(body: &Body<'_, 'p>, head: Head<'p>, inner: &'p Expr) -> Vec<(LocalId, usize)> {
    let mut leaves = BTreeSet::new();
    let mutable: BTreeSet<LocalId> = body.current().mutable.iter().copied().collect();
    let mut note = |place: &cotan_sema::typed::Place| {
        if !mutable.contains(&place.root) {
            return;
        }
        let mut ty = &body.current().table[place.root.0 as usize].ty;
        let mut range = 0..body.layout.n_leaves(ty);
        for step in &place.steps {
            match step.kind {
                PlaceStepKind::Field(index) => {
                    let part = body.layout.part_leaves(ty, index);
                    range = range.start + part.start..range.start + part.end;
                    ty = &step.ty;
                }
                PlaceStepKind::Index(_) => break,
            }
        }
        // What goes into an accumulator does not change here.
        let is_carried = |leaf: &usize| match body.share(place.root, *leaf) {
            None | Some(Share::Slot(_)) => true,
            Some(Share::Accumulator(_) | Share::Elsewhere) => false,
        };
        leaves.extend(range.filter(is_carried).map(|leaf| (place.root, leaf)));
    };
    each_assigned(inner, &mut note);
    if let Head::Condition(condition) = head {
        each_assigned(condition, &mut note);
    }
    leaves.into_iter().collect()
}

fn set_leaves(body: &mut Body<'_, '_>, leaves: &[(LocalId, usize)], values: &[Atom]) {
    for ((id, leaf), value) in leaves.iter().zip(values) {
        if let Some(Some(local)) = body.current_mut().locals.get_mut(id.0 as usize) {
            local[*leaf] = *value;
        }
    }
}

/// A number of iterations as an i64: those that are more never end.
fn trip_count(code: &mut Code, count: Atom) -> Atom {
    if code.b.ty(count).elem != Elem::U64 {
        return code.as_i64(count);
    }
    let most = Const::integer(Elem::U64, i64::MAX.into()).into();
    let count = code.prim(&MIN, &[count, most]);
    code.as_i64(count)
}

/// The number of values from `first` up to `hi`, which is not one of them; none are there if it is negative. In a
/// narrow type they are far from the limits of an i64.
fn distance(code: &mut Code, first: Atom, hi: Atom, is_narrow: bool) -> Atom {
    let is_zero = first.constant().is_some_and(|c| c.is_number(0));
    if is_zero {
        hi
    } else if code.is_non_negative(first) && code.is_non_negative(hi) || is_narrow {
        code.prim(&SUB, &[hi, first])
    } else {
        // An empty range may end far below where it starts.
        let hi = code.prim(&MAX, &[hi, first]);
        if code.is_non_negative(first) { code.prim(&SUB, &[hi, first]) } else { code.fitting(&SUB, &[hi, first]) }
    }
}

/// Value number `index` of a range, in the type of its bounds. It lies between the bounds, so that nothing wraps.
fn value_at(code: &mut Code, values: Values, index: Atom) -> Atom {
    let elem = code.b.ty(values.lo).elem;
    let offset = if elem == Elem::I64 { index } else { code.prim(cast_to(elem), &[index]) };
    if values.lo.constant().is_some_and(|c| c.is_number(0)) {
        return offset;
    }
    let value = code.prim(&ADD, &[values.lo, offset]);
    code.note_bounded(value);
    value
}

/// Position `index` counted from the end.
fn reversed_index(code: &mut Code, count: Atom, index: Atom) -> Atom {
    let last = code.prim(&SUB, &[count, Atom::i64(1)]);
    let at = code.prim(&SUB, &[last, index]);
    code.note_non_negative(at);
    at
}
