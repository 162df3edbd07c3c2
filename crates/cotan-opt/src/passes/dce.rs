//! Dead code elimination.
//!
//! Keeps every result of the block, and every write to an accumulator that is not introduced inside it. Each carried
//! value, stacked result and accumulator of a region lives or dies on its own: a carried value lives if it is needed
//! after the loop or by the body of a live one. A dim named by a live variable's type is a use. A check is a value
//! like any other, so it dies with the value that needs it.
//!
//! Liveness is reachability over "needs" edges between variables and regions, so it takes one walk whatever the depth.
//! The cost is that of the block, not of the function around it.

use crate::pass::{Pass, Promise};
use cotan_ir::{Acc, Atom, Block, Function, Loop, Op, Par, ParResult, Stmt, Var, VarInfo};
use rustc_hash::{FxHashMap, FxHashSet};
use std::iter::successors;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "dce",
    doc: "Statements, carried values and accumulators that no result needs are removed.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| dce(f),
};

/// The live variables of a block, free ones included.
#[derive(Clone, Debug)]
pub struct Live(FxHashSet<Var>);

impl Live {
    /// Whether the variable is read by what is left.
    pub fn has(&self, v: Var) -> bool {
        self.0.contains(&v)
    }

    /// What is read by what is left, in no order.
    pub fn vars(&self) -> impl Iterator<Item = Var> {
        self.0.iter().copied()
    }
}

/// The function without dead code.
pub fn dce(f: Function) -> Function {
    let (body, _) = dce_block(&f.vars, f.body);
    Function { body, ..f }
}

/// The block without dead code, and what is live in it. `vars` is the table of the function that it belongs to.
pub fn dce_block(vars: &[VarInfo], block: Block) -> (Block, Live) {
    let mut graph = Graph::default();
    graph.block(vars, &block, None);
    let live = graph.reach(vars, &block);
    (sweep_block(block, &live, |_| true), live)
}

/// Something that is needed.
#[derive(Clone, Copy)]
enum Node {
    Var(Var),
    /// That a region runs, by its position in [`Graph::regions`].
    Region(usize),
}

/// Who needs what, but for the dims of types.
#[derive(Default)]
struct Graph {
    /// The last thing entered that each variable needs, by its position in `edges`.
    needs: FxHashMap<Var, usize>,
    /// What a variable needs, and the position of what it was said to need before.
    edges: Vec<(Node, Option<usize>)>,
    /// What each region needs to run: its control operands and the region around it.
    regions: Vec<Vec<Node>>,
    /// Accumulators introduced inside the block.
    introduced: FxHashSet<Var>,
    /// Accumulators written here and introduced outside.
    outer_accs: Vec<Var>,
}

impl Graph {
    fn need(&mut self, v: Var, node: Node) {
        let before = self.needs.insert(v, self.edges.len());
        self.edges.push((node, before));
    }

    fn need_atom(&mut self, v: Var, a: Atom) {
        if let Atom::Var(u) = a {
            self.need(v, Node::Var(u));
        }
    }

    /// Two variables that a statement binds both or not at all.
    fn tie(&mut self, v: Var, u: Var) {
        self.need(v, Node::Var(u));
        self.need(u, Node::Var(v));
    }

    /// A region inside `parent` whose results are there if it runs.
    fn region(&mut self, parent: Option<usize>, s: &Stmt, control: impl IntoIterator<Item = Atom>) -> usize {
        let at = self.regions.len();
        let nodes = control.into_iter().filter_map(Atom::var).map(Node::Var);
        self.regions.push(nodes.chain(parent.map(Node::Region)).collect());
        for r in &s.results {
            self.need(*r, Node::Region(at));
        }
        at
    }

    fn accs(&mut self, accs: &[Acc], results: &[Var]) {
        for (acc, r) in accs.iter().zip(results) {
            self.introduced.insert(acc.var);
            self.tie(acc.var, *r);
            acc.init.into_iter().for_each(|init| self.need_atom(acc.var, init));
        }
    }

    fn block(&mut self, vars: &[VarInfo], block: &Block, region: Option<usize>) {
        for s in &block.stmts {
            self.stmt(vars, s, region);
        }
    }

    fn stmt(&mut self, vars: &[VarInfo], s: &Stmt, region: Option<usize>) {
        if let Op::AccAdd { acc, .. } = &s.op {
            if !self.introduced.contains(acc) {
                self.outer_accs.push(*acc);
            }
            s.op.each_operand(&mut |a| self.need_atom(*acc, a));
            region.into_iter().for_each(|r| self.need(*acc, Node::Region(r)));
        } else if let Op::Par(p) = &s.op {
            let r = self.region(region, s, p.extents.iter().copied());
            let (values, accs) = s.results.split_at(p.kinds.len());
            for ((kind, inner), outer) in p.kinds.iter().zip(&p.body.results).zip(values) {
                self.need_atom(*outer, *inner);
                if let ParResult::Reduced { init, .. } = kind {
                    self.need_atom(*outer, *init);
                }
            }
            self.accs(&p.accs, accs);
            self.block(vars, &p.body, Some(r));
        } else if let Op::Loop(l) = &s.op {
            let condition = if l.count.is_none() { l.params.first().map(|p| Atom::Var(*p)) } else { None };
            let r = self.region(region, s, l.count.into_iter().chain(condition));
            let split = l.split(&s.results);
            let (next, stacked) = l.body.results.split_at(l.params.len());
            for (((p, init), next), outer) in l.params.iter().zip(&l.inits).zip(next).zip(split.carried) {
                self.tie(*p, *outer);
                self.need_atom(*p, *init);
                self.need_atom(*p, *next);
            }
            for (inner, outer) in stacked.iter().zip(split.stacked) {
                self.need_atom(*outer, *inner);
            }
            self.accs(&l.accs, split.accs);
            self.block(vars, &l.body, Some(r));
        } else if let Op::Switch { selector, arms } = &s.op {
            let r = self.region(region, s, [*selector]);
            for arm in arms {
                for (inner, outer) in arm.results.iter().zip(&s.results) {
                    self.need_atom(*outer, *inner);
                }
                self.lengths_of_arm(vars, arm, &s.results);
                self.block(vars, arm, Some(r));
            }
        } else if let Some((first, rest)) = s.results.split_first() {
            s.op.each_operand(&mut |a| self.need_atom(*first, a));
            rest.iter().for_each(|r| self.tie(*first, *r));
        }
    }

    /// A length that an arm binds itself and that the type of one of its results names is given beside that result.
    fn lengths_of_arm(&mut self, vars: &[VarInfo], arm: &Block, results: &[Var]) {
        for (k, inner) in arm.results.iter().enumerate() {
            for d in inner.var().into_iter().flat_map(|v| vars[v.index()].ty.dim_vars()) {
                let is_bound_here = || arm.stmts.iter().any(|s| s.results.contains(&d));
                if let Some(at) = arm.results[..k].iter().position(|a| *a == Atom::Var(d))
                    && is_bound_here()
                {
                    self.need(results[k], Node::Var(results[at]));
                }
            }
        }
    }

    /// Everything that the results of the block and its writes to accumulators outside lead to.
    fn reach(&self, vars: &[VarInfo], block: &Block) -> Live {
        let mut live = FxHashSet::default();
        let mut runs = vec![false; self.regions.len()];
        let results = block.results.iter().filter_map(|a| a.var());
        let mut work: Vec<Node> = results.chain(self.outer_accs.iter().copied()).map(Node::Var).collect();
        while let Some(node) = work.pop() {
            match node {
                Node::Var(v) if live.insert(v) => {
                    work.extend(vars[v.index()].ty.dim_vars().map(Node::Var));
                    let edge = |at: Option<usize>| at.map(|at| self.edges[at]);
                    let first = edge(self.needs.get(&v).copied());
                    work.extend(successors(first, |(_, before)| edge(*before)).map(|(node, _)| node));
                }
                Node::Region(r) if !std::mem::replace(&mut runs[r], true) => work.extend(&self.regions[r]),
                Node::Var(_) | Node::Region(_) => {}
            }
        }
        Live(live)
    }
}

/// Keeps the entries whose flag is set.
fn keep<T>(items: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    items.retain(|_| *flags.next().expect("invariant: one flag per item"));
}

fn sweep_block(mut block: Block, live: &Live, keep_result: impl Fn(usize) -> bool) -> Block {
    block.stmts = block.stmts.into_iter().filter_map(|s| sweep_stmt(s, live)).collect();
    let mut position = 0..;
    block.results.retain(|_| position.next().is_some_and(&keep_result));
    block
}

/// The statement without its dead results. A region without results stays if it writes to an accumulator: whatever is
/// left to write is live.
fn sweep_stmt(mut s: Stmt, live: &Live) -> Option<Stmt> {
    if let Some(acc) = s.op.written() {
        return live.has(acc).then_some(s);
    }
    if let Op::Switch { arms, .. } = &mut s.op {
        let flags: Vec<bool> = s.results.iter().map(|r| live.has(*r)).collect();
        for arm in arms {
            *arm = sweep_block(std::mem::take(arm), live, |k| flags[k]);
        }
        keep(&mut s.results, &flags);
    } else if let Op::Par(p) = &mut s.op {
        sweep_par(p, &mut s.results, live);
    } else if let Op::Loop(l) = &mut s.op {
        sweep_loop(l, &mut s.results, live);
    }
    let writes = |s: &Stmt| s.op.blocks().iter().any(has_write);
    (s.results.iter().any(|r| live.has(*r)) || writes(&s)).then_some(s)
}

fn sweep_par(p: &mut Par, results: &mut Vec<Var>, live: &Live) {
    let flags: Vec<bool> = results.iter().map(|r| live.has(*r)).collect();
    let (values, accs) = flags.split_at(p.kinds.len());
    p.body = sweep_block(std::mem::take(&mut p.body), live, |k| values[k]);
    keep(&mut p.kinds, values);
    keep(&mut p.accs, accs);
    keep(results, &flags);
}

/// The trip count of a while stays whatever happens.
fn sweep_loop(l: &mut Loop, results: &mut Vec<Var>, live: &Live) {
    let mut flags: Vec<bool> = results.iter().map(|r| live.has(*r)).collect();
    let head = usize::from(l.count.is_none());
    flags[..head].fill(true);
    let n = l.params.len();
    let (carried, rest) = flags[head..].split_at(n);
    let (accs, stacked) = rest.split_at(l.accs.len());
    l.body = sweep_block(std::mem::take(&mut l.body), live, |k| if k < n { carried[k] } else { stacked[k - n] });
    keep(&mut l.params, carried);
    keep(&mut l.inits, carried);
    keep(&mut l.accs, accs);
    keep(results, &flags);
}

fn has_write(block: &Block) -> bool {
    block.walk().any(|s| s.op.written().is_some())
}
