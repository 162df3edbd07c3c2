//! How many bytes of records a call has, as a function of the module: the code that records, with its lengths summed up
//! and everything else dropped. So it runs only what the lengths depend on: arithmetic on sizes where trip counts are
//! known at entry, and the loops themselves where only running them tells.

use cotan_ir::{
    Atom, Block, Const, Elem, Function, Loop, Module, Monoid, Op, Par, ParResult, Span, Stmt, Symbol, Ty, Var, VarInfo,
};
use cotan_ops::{ADD, MAX, MUL, PrimRow};
use std::collections::BTreeMap;

/// Something that is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sum {
    /// The most bytes of records at any one time.
    Peak,
    /// The bytes of all records, one after the other.
    Written,
    /// The bytes of the largest instance of one record.
    Largest(Var),
}

impl Sum {
    /// How the runs of a block add up.
    fn monoid(self) -> Monoid {
        match self {
            Sum::Peak | Sum::Largest(_) => Monoid::Max,
            Sum::Written => Monoid::Add,
        }
    }

    /// The same for two runs.
    fn row(self) -> &'static PrimRow {
        match self {
            Sum::Peak | Sum::Largest(_) => &MAX,
            Sum::Written => &ADD,
        }
    }
}

/// Sums that are not zero.
type Sums = BTreeMap<Sum, Atom>;

/// The name of the function that counts for a function.
pub(super) fn counter_name(function: &str) -> Symbol {
    format!("{function}.records").into()
}

/// A module with a counter for the function of this name. It takes the same arguments, and gives the most bytes of
/// records at any one time, the bytes of all of them, and those of the largest instance of each of `records`.
///
/// Of the iterations of a parallel loop, `threads` run at the same time.
pub(super) fn counter(module: &Module, function: &str, records: &[Var], threads: i64) -> Module {
    let mut counters = Counters { module, threads, done: Module::default() };
    counters.add(function, records);
    counters.done
}

struct Counters<'a> {
    module: &'a Module,
    threads: i64,
    done: Module,
}

impl Counters<'_> {
    fn add(&mut self, function: &str, records: &[Var]) {
        let name = counter_name(function);
        let Some(source) = self.module.function(function).filter(|_| self.done.function(&name).is_none()) else {
            return;
        };
        let mut f = Function { name, ..source.as_ref().clone() };
        let body = std::mem::take(&mut f.body);
        let (mut body, sums) = Counting { f: &mut f, counters: self, is_parallel: false }.block(body);
        let wanted = [Sum::Peak, Sum::Written].into_iter().chain(records.iter().copied().map(Sum::Largest));
        body.results = wanted.map(|sum| value(&sums, sum)).collect();
        f.body = body;
        self.done.insert(cotan_opt::simplify(f));
    }
}

fn value(sums: &Sums, sum: Sum) -> Atom {
    sums.get(&sum).copied().unwrap_or(Atom::i64(0))
}

struct Counting<'a, 'c> {
    f: &'a mut Function,
    counters: &'a mut Counters<'c>,
    /// Whether a parallel loop is around, which the threads share.
    is_parallel: bool,
}

impl Counting<'_, '_> {
    /// The block with its sums. What it records itself is there until its end.
    fn block(&mut self, block: Block) -> (Block, Sums) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        let mut sums = Sums::new();
        let mut alive: Option<Atom> = None;
        for mut s in block.stmts {
            let span = s.span;
            let mut inner = self.stmt(&mut s, &mut stmts);
            let records: Vec<Var> =
                s.results.iter().copied().filter(|v| self.f.vars[v.index()].record.is_some()).collect();
            let is_shared = matches!(s.op, Op::Par(_)) && !self.is_parallel;
            stmts.push(s);
            let threads = Atom::i64(self.counters.threads);
            let mut code = Code { f: self.f, stmts: &mut stmts, span };
            for v in records {
                let bytes = code.bytes(v);
                alive = Some(alive.map_or(bytes, |alive| code.prim(&ADD, alive, bytes)));
                code.join(&mut sums, Sum::Written, bytes);
                code.join(&mut sums, Sum::Largest(v), bytes);
            }
            let nested =
                inner.remove(&Sum::Peak).map(|peak| if is_shared { code.prim(&MUL, peak, threads) } else { peak });
            let peak = match (alive, nested) {
                (Some(alive), Some(nested)) => Some(code.prim(&ADD, alive, nested)),
                (alive, nested) => alive.or(nested),
            };
            for (sum, value) in inner.into_iter().chain(peak.map(|peak| (Sum::Peak, peak))) {
                code.join(&mut sums, sum, value);
            }
        }
        (Block { stmts, results: block.results }, sums)
    }

    /// Has a statement give the sums of its blocks. What must go before it is appended to `before`.
    fn stmt(&mut self, s: &mut Stmt, before: &mut Vec<Stmt>) -> Sums {
        if let Op::Loop(l) = &mut s.op {
            self.in_loop(l, &mut s.results, s.span)
        } else if let Op::Par(p) = &mut s.op {
            self.in_par(p, &mut s.results)
        } else if let Op::Switch { arms, .. } = &mut s.op {
            self.in_switch(arms, &mut s.results)
        } else if let Op::Call { callee, args } = &mut s.op {
            self.of_call(&callee.clone(), args.clone(), s.span, before)
        } else {
            Sums::new()
        }
    }

    /// The sums are carried along.
    fn in_loop(&mut self, l: &mut Loop, results: &mut Vec<Var>, span: Span) -> Sums {
        let (mut body, sums) = self.block(std::mem::take(&mut l.body));
        let mut outer = Sums::new();
        let head = usize::from(l.count.is_none());
        for (sum, run) in sums {
            let at = l.params.len();
            let mut code = Code { f: self.f, stmts: &mut body.stmts, span };
            let (param, result) = (code.var(), code.var());
            let next = code.prim(sum.row(), param.into(), run);
            l.params.push(param);
            l.inits.push(Atom::i64(0));
            body.results.insert(at, next);
            results.insert(head + at, result);
            outer.insert(sum, result.into());
        }
        l.body = body;
        outer
    }

    /// The sums are reductions.
    fn in_par(&mut self, p: &mut Par, results: &mut Vec<Var>) -> Sums {
        let is_parallel = std::mem::replace(&mut self.is_parallel, true);
        let (mut body, sums) = self.block(std::mem::take(&mut p.body));
        self.is_parallel = is_parallel;
        let mut outer = Sums::new();
        for (sum, run) in sums {
            let result = self.var();
            results.insert(p.kinds.len(), result);
            p.kinds.push(ParResult::Reduced { monoid: sum.monoid(), init: Const::i64(0).into() });
            body.results.push(run);
            outer.insert(sum, result.into());
        }
        p.body = body;
        outer
    }

    /// The sums are results of the arm that runs.
    fn in_switch(&mut self, arms: &mut [Block], results: &mut Vec<Var>) -> Sums {
        let mut sums_of = Vec::new();
        for arm in arms.iter_mut() {
            let (counted, sums) = self.block(std::mem::take(arm));
            *arm = counted;
            sums_of.push(sums);
        }
        let mut outer = Sums::new();
        for sum in sums_of.iter().flat_map(BTreeMap::keys) {
            if outer.contains_key(sum) {
                continue;
            }
            let result = self.var();
            results.push(result);
            arms.iter_mut().zip(&sums_of).for_each(|(arm, sums)| arm.results.push(value(sums, *sum)));
            outer.insert(*sum, result.into());
        }
        outer
    }

    /// The sums of a function that is called, by its counter.
    fn of_call(&mut self, callee: &str, args: Vec<Atom>, span: Span, before: &mut Vec<Stmt>) -> Sums {
        self.counters.add(callee, &[]);
        let (peak, written) = (self.var(), self.var());
        let op = Op::Call { callee: counter_name(callee), args };
        before.push(Stmt { results: vec![peak, written], op, span });
        Sums::from([(Sum::Peak, peak.into()), (Sum::Written, written.into())])
    }

    fn var(&mut self) -> Var {
        Code { f: self.f, stmts: &mut Vec::new(), span: Span::NONE }.var()
    }
}

/// Statements that are being written.
struct Code<'a> {
    f: &'a mut Function,
    stmts: &'a mut Vec<Stmt>,
    span: Span,
}

impl Code<'_> {
    fn var(&mut self) -> Var {
        self.f.add_var(VarInfo { name: "bytes".into(), ty: Ty::scalar(Elem::I64), record: None })
    }

    fn prim(&mut self, row: &'static PrimRow, a: Atom, b: Atom) -> Atom {
        let v = self.var();
        self.stmts.push(Stmt {
            results: vec![v],
            op: Op::Prim { prim: row.prim(), args: vec![a, b] },
            span: self.span,
        });
        v.into()
    }

    /// The bytes of a variable.
    fn bytes(&mut self, v: Var) -> Atom {
        let Ty { elem, dims } = self.f.ty(v).clone();
        dims.iter().fold(Atom::i64(elem.bytes() as i64), |bytes, dim| self.prim(&MUL, bytes, dim.atom()))
    }

    /// Takes another run into account.
    fn join(&mut self, sums: &mut Sums, sum: Sum, run: Atom) {
        let joined = sums.get(&sum).map_or(run, |before| self.prim(sum.row(), *before, run));
        sums.insert(sum, joined);
    }
}
