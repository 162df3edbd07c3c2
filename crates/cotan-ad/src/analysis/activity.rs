//! Activity analysis: the variables that depend on an input and reach an output.
//!
//! Variables are unique in a function, so this is reachability along value edges, those across region boundaries
//! included, and one flat set serves all scopes. Accumulators are members like any other variable; their start value
//! is an edge of its own: the result varies even if no varying value is ever written.

use cotan_ir::{Acc, Atom, Block, Function, Loop, Op, ParResult, Stmt, Var};
use cotan_ops::Partial;

/// A set of variables of one function.
#[derive(Clone, Debug)]
pub(crate) struct VarSet(Vec<bool>);

impl VarSet {
    fn new(f: &Function) -> VarSet {
        VarSet(vec![false; f.vars.len()])
    }

    pub(crate) fn has(&self, v: Var) -> bool {
        self.0[v.index()]
    }

    /// The variable, if the operand is a member.
    pub(crate) fn member(&self, a: Atom) -> Option<Var> {
        a.var().filter(|v| self.has(*v))
    }
}

/// The variables that depend on one of `inputs` and reach one of the results `outs`.
pub(crate) fn active(f: &Function, inputs: &[Var], outs: &[Var]) -> VarSet {
    let mut edges = Edges { f, pairs: Vec::new() };
    edges.block(&f.body);
    let pairs = edges.pairs;
    let varied = reach(f, pairs.iter().copied(), inputs);
    let useful = reach(f, pairs.iter().map(|(from, to)| (*to, *from)), outs);
    VarSet(varied.0.iter().zip(&useful.0).map(|(v, u)| *v && *u).collect())
}

/// For each of some inputs of a statement, the active variables that depend on it within the statement.
pub(crate) fn directions(f: &Function, s: &Stmt, inputs: &[Var], active: &VarSet) -> Vec<VarSet> {
    let mut edges = Edges { f, pairs: Vec::new() };
    edges.stmt(s);
    s.op.blocks().iter().for_each(|b| edges.block(b));
    let pairs: Vec<(Var, Var)> = edges.pairs.into_iter().filter(|(_, to)| active.has(*to)).collect();
    inputs.iter().map(|x| reach(f, pairs.iter().copied(), &[*x])).collect()
}

/// The active values that a loop depends on: those that its carried values and accumulators start from, and those that
/// its body reads.
pub(crate) fn inputs(f: &Function, l: &Loop, active: &VarSet) -> Vec<Var> {
    let bound = l.params.iter().copied().chain([l.index]).chain(l.accs.iter().map(|acc| acc.var));
    let bound: Vec<Var> = bound.collect();
    let starts = l.params.iter().zip(&l.inits).filter(|(p, _)| active.has(**p)).filter_map(|(_, init)| init.var());
    let starts = starts.chain(l.accs.iter().filter_map(|acc| acc.init?.var()));
    let mut inputs: Vec<Var> = Vec::new();
    for v in starts.chain(cotan_ir::free_vars(f, &l.body, &bound)) {
        if active.has(v) && !inputs.contains(&v) {
            inputs.push(v);
        }
    }
    inputs
}

fn reach(f: &Function, pairs: impl Iterator<Item = (Var, Var)>, seeds: &[Var]) -> VarSet {
    let mut next = vec![Vec::new(); f.vars.len()];
    for (from, to) in pairs {
        next[from.index()].push(to);
    }
    let mut reached = VarSet::new(f);
    let mut work = seeds.to_vec();
    while let Some(v) = work.pop() {
        if !std::mem::replace(&mut reached.0[v.index()], true) {
            work.extend(&next[v.index()]);
        }
    }
    reached
}

/// Collects the pairs (from, to) of float variables along which derivatives pass.
struct Edges<'a> {
    f: &'a Function,
    pairs: Vec<(Var, Var)>,
}

impl Edges<'_> {
    fn edge(&mut self, from: Atom, to: Var) {
        if let Atom::Var(from) = from
            && self.f.ty(from).is_float()
            && self.f.ty(to).is_float()
        {
            self.pairs.push((from, to));
        }
    }

    fn block(&mut self, block: &Block) {
        for s in &block.stmts {
            self.stmt(s);
            s.op.blocks().iter().for_each(|b| self.block(b));
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.op {
            Op::Prim { prim, args } => {
                for (a, partial) in args.iter().zip(cotan_ops::row(*prim).partials) {
                    match partial {
                        Partial::Term { .. } | Partial::Convert => self.edge(*a, s.results[0]),
                        Partial::Zero { .. } => {}
                    }
                }
            }
            Op::Tensor { args, .. } | Op::Call { args, .. } => {
                for a in args {
                    s.results.iter().for_each(|r| self.edge(*a, *r));
                }
            }
            Op::Index { array, .. } => self.edge(*array, s.results[0]),
            Op::Update { array, value, .. } => {
                self.edge(*array, s.results[0]);
                self.edge(*value, s.results[0]);
            }
            Op::AccAdd { acc, value, .. } => self.edge(*value, *acc),
            Op::Check { value, .. } => self.edge(*value, s.results[0]),
            Op::Par(p) => {
                let (values, accs) = s.results.split_at(p.kinds.len());
                for ((kind, inner), outer) in p.kinds.iter().zip(&p.body.results).zip(values) {
                    self.edge(*inner, *outer);
                    match kind {
                        ParResult::Stacked => {}
                        ParResult::Reduced { init, .. } => self.edge(*init, *outer),
                    }
                }
                self.accs(&p.accs, accs);
            }
            Op::Loop(l) => {
                let results = l.split(&s.results);
                let nexts = &l.body.results[..l.params.len()];
                for (((p, init), next), outer) in l.params.iter().zip(&l.inits).zip(nexts).zip(results.carried) {
                    self.edge(*init, *p);
                    self.edge(*next, *p);
                    self.edge((*p).into(), *outer);
                }
                for (inner, outer) in l.body.results[l.params.len()..].iter().zip(results.stacked) {
                    self.edge(*inner, *outer);
                }
                self.accs(&l.accs, results.accs);
            }
            Op::Switch { arms, .. } => {
                for arm in arms {
                    arm.results.iter().zip(&s.results).for_each(|(inner, outer)| self.edge(*inner, *outer));
                }
            }
        }
    }

    fn accs(&mut self, accs: &[Acc], results: &[Var]) {
        for (acc, r) in accs.iter().zip(results) {
            if let Some(init) = acc.init {
                self.edge(init, acc.var);
            }
            self.edge(acc.var.into(), *r);
        }
    }
}
