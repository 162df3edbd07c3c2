//! Dead code elimination.
//!
//! Keeps every result of the block, and every write to an accumulator that is not introduced inside it. Each carried
//! value, stacked result and accumulator of a region lives or dies on its own: a carried value lives if it is needed
//! after the loop or by the body of a live one. A dim named by a live variable's type is a use. A check is a value
//! like any other, so it dies with the value that needs it.
//!
//! Liveness is reachability over "needs" edges between variables and regions, so it takes one pass whatever the depth.
//! The cost is that of the block, not of the function around it.

use cotan_ir::{Acc, Atom, Block, Function, Loop, Op, Par, Stmt, Var, VarInfo};
use std::collections::{HashMap, HashSet};

/// The live variables of a block, free ones included.
#[derive(Clone, Debug)]
pub struct Live(HashSet<Var>);

impl Live {
    /// Whether the variable is read by what is left.
    pub fn has(&self, v: Var) -> bool {
        self.0.contains(&v)
    }
}

/// The function without dead code.
pub fn dce(f: &Function) -> Function {
    let (body, _) = dce_block(&f.vars, f.body.clone());
    Function { body, ..f.clone() }
}

/// The block without dead code, and what is live in it. `vars` is the table of the function that it belongs to.
pub fn dce_block(vars: &[VarInfo], block: Block) -> (Block, Live) {
    let mut graph = Graph::new(vars);
    graph.block(&block, None);
    let live = graph.reach(&block);
    let block = sweep_block(block, &live, |_| true);
    (block, Live(live.vars))
}

#[derive(Clone, Copy)]
enum Node {
    Var(Var),
    /// The region statement that first binds this variable among its binders or results must run.
    Region(usize),
}

struct Graph<'a> {
    vars: &'a [VarInfo],
    /// What each variable needs.
    needs: HashMap<Var, Vec<Node>>,
    /// What each region needs to run: its control operands and the region around it.
    regions: Vec<Vec<Node>>,
    /// Accumulators written here and introduced outside of the block.
    outer_accs: Vec<Var>,
    introduced: HashSet<Var>,
}

struct Marks {
    vars: HashSet<Var>,
    regions: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn new(vars: &'a [VarInfo]) -> Graph<'a> {
        Graph {
            vars,
            needs: HashMap::new(),
            regions: Vec::new(),
            outer_accs: Vec::new(),
            introduced: HashSet::new(),
        }
    }

    fn need(&mut self, v: Var, a: Atom) {
        if let Atom::Var(u) = a {
            self.needs.entry(v).or_default().push(Node::Var(u));
        }
    }

    fn bind(&mut self, v: Var) {
        let vars = self.vars;
        for d in vars[v.index()].ty.dim_vars() {
            self.needs.entry(v).or_default().push(Node::Var(d));
        }
    }

    fn new_region(&mut self, parent: Option<usize>, control: impl IntoIterator<Item = Atom>) -> usize {
        let nodes = control.into_iter().filter_map(|a| a.var()).map(Node::Var);
        self.regions.push(nodes.chain(parent.map(Node::Region)).collect());
        self.regions.len() - 1
    }

    fn accs(&mut self, accs: &[Acc], results: &[Var], region: usize) {
        for (acc, r) in accs.iter().zip(results) {
            self.introduced.insert(acc.var);
            self.bind(acc.var);
            self.need(*r, acc.var.into());
            self.needs.entry(acc.var).or_default().push(Node::Region(region));
            if let Some(init) = acc.init {
                self.need(acc.var, init);
            }
        }
    }

    fn block(&mut self, block: &Block, region: Option<usize>) {
        for s in &block.stmts {
            self.stmt(s, region);
        }
    }

    fn stmt(&mut self, s: &Stmt, region: Option<usize>) {
        for r in &s.results {
            self.bind(*r);
        }
        match &s.op {
            Op::AccAdd { acc, .. } => {
                if !self.introduced.contains(acc) {
                    self.outer_accs.push(*acc);
                }
                s.op.each_operand(&mut |a| self.need(*acc, a));
                self.needs.entry(*acc).or_default().extend(region.map(Node::Region));
            }
            Op::Par(p) => {
                let r = self.new_region(region, p.extents.iter().copied());
                self.region_results(s, r);
                for i in p.indices.iter() {
                    self.bind(*i);
                }
                let (values, accs) = s.results.split_at(p.kinds.len());
                for ((kind, inner), outer) in p.kinds.iter().zip(&p.body.results).zip(values) {
                    self.need(*outer, *inner);
                    if let cotan_ir::ParResult::Reduced { init, .. } = kind {
                        self.need(*outer, *init);
                    }
                }
                self.accs(&p.accs, accs, r);
                self.block(&p.body, Some(r));
            }
            Op::Loop(l) => {
                let condition = if l.count.is_none() { l.params.first().map(|p| Atom::Var(*p)) } else { None };
                let r = self.new_region(region, l.count.into_iter().chain(condition));
                self.region_results(s, r);
                let split = l.split(&s.results);
                for (((p, init), next), outer) in l.params.iter().zip(&l.inits).zip(&l.body.results).zip(split.carried)
                {
                    self.bind(*p);
                    self.need(*outer, (*p).into());
                    self.need(*p, *init);
                    self.need(*p, *next);
                }
                for (inner, outer) in l.body.results[l.params.len()..].iter().zip(split.stacked) {
                    self.need(*outer, *inner);
                }
                self.accs(&l.accs, split.accs, r);
                self.block(&l.body, Some(r));
            }
            Op::Switch { selector, arms } => {
                let r = self.new_region(region, [*selector]);
                self.region_results(s, r);
                for arm in arms {
                    for (inner, outer) in arm.results.iter().zip(&s.results) {
                        self.need(*outer, *inner);
                    }
                    self.block(arm, Some(r));
                }
            }
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::Call { .. }
            | Op::Check { .. } => {
                for (k, r) in s.results.iter().enumerate() {
                    s.op.each_operand(&mut |a| self.need(*r, a));
                    // The results of a call come together: the first stands for all.
                    if k > 0 {
                        self.need(*r, s.results[0].into());
                    }
                }
            }
        }
    }

    fn region_results(&mut self, s: &Stmt, region: usize) {
        for r in &s.results {
            self.needs.entry(*r).or_default().push(Node::Region(region));
        }
    }

    fn reach(&self, block: &Block) -> Marks {
        let mut marks = Marks { vars: HashSet::new(), regions: vec![false; self.regions.len()] };
        let seeds = block.results.iter().filter_map(|a| a.var()).chain(self.outer_accs.iter().copied());
        let mut work: Vec<Node> = seeds.map(Node::Var).collect();
        while let Some(node) = work.pop() {
            match node {
                Node::Var(v) if marks.vars.insert(v) => work.extend(self.needs.get(&v).into_iter().flatten()),
                Node::Region(r) if !std::mem::replace(&mut marks.regions[r], true) => work.extend(&self.regions[r]),
                Node::Var(_) | Node::Region(_) => {}
            }
        }
        // Types of seeds name dims too, and so do types of free variables that are read.
        for v in block.results.iter().filter_map(|a| a.var()) {
            for d in self.vars[v.index()].ty.dim_vars() {
                marks.vars.insert(d);
            }
        }
        marks
    }
}

/// Keeps the entries whose flag is set.
fn keep<T>(items: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    items.retain(|_| *flags.next().expect("invariant: one flag per item"));
}

fn sweep_block(mut block: Block, live: &Marks, keep_result: impl Fn(usize) -> bool) -> Block {
    block.stmts = block.stmts.into_iter().filter_map(|s| sweep_stmt(s, live)).collect();
    let mut position = 0..;
    block.results.retain(|_| position.next().is_some_and(&keep_result));
    block
}

fn sweep_stmt(mut s: Stmt, live: &Marks) -> Option<Stmt> {
    let is_live = |v: &Var| live.vars.contains(v);
    match s.op {
        Op::AccAdd { acc, .. } => is_live(&acc).then_some(s),
        Op::Prim { .. }
        | Op::Tensor { .. }
        | Op::Index { .. }
        | Op::Update { .. }
        | Op::Call { .. }
        | Op::Check { .. } => s.results.iter().any(is_live).then_some(s),
        Op::Switch { selector, arms } => {
            let flags: Vec<bool> = s.results.iter().map(is_live).collect();
            let arms: Vec<Block> = arms.into_iter().map(|b| sweep_block(b, live, |k| flags[k])).collect();
            keep(&mut s.results, &flags);
            let is_kept = !s.results.is_empty() || arms.iter().any(has_live_write);
            is_kept.then_some(Stmt { op: Op::Switch { selector, arms }, ..s })
        }
        Op::Par(p) => {
            let n = p.kinds.len();
            let flags: Vec<bool> = s.results.iter().map(is_live).collect();
            let Par { indices, extents, mut kinds, mut accs, body } = *p;
            keep(&mut kinds, &flags[..n]);
            keep(&mut accs, &flags[n..]);
            let body = sweep_block(body, live, |k| flags[k]);
            keep(&mut s.results, &flags);
            (!s.results.is_empty() || has_live_write(&body))
                .then(|| Stmt { op: Op::Par(Box::new(Par { indices, extents, kinds, accs, body })), ..s })
        }
        Op::Loop(l) => {
            let (flags, head) = (loop_flags(&l, &s.results, live), usize::from(l.count.is_none()));
            let Loop { index, count, mut params, mut inits, mut accs, body } = *l;
            let (n, n_accs) = (params.len(), accs.len());
            let (carried, rest) = flags.split_at(n);
            let (acc_flags, stacked) = rest.split_at(n_accs);
            let body = sweep_block(body, live, |k| if k < n { carried[k] } else { stacked[k - n] });
            keep(&mut params, carried);
            keep(&mut inits, carried);
            keep(&mut accs, acc_flags);
            let any_result = s.results.iter().any(is_live);
            let mut all = vec![true; head];
            all.extend(&flags);
            keep(&mut s.results, &all);
            (any_result || has_live_write(&body))
                .then(|| Stmt { op: Op::Loop(Box::new(Loop { index, count, params, inits, accs, body })), ..s })
        }
    }
}

/// One flag per carried value, accumulator and stacked result. A carried value is kept with its parameter, whether or
/// not it is read after the loop.
fn loop_flags(l: &Loop, results: &[Var], live: &Marks) -> Vec<bool> {
    let split = l.split(results);
    let kept = l.params.iter().chain(split.accs).chain(split.stacked);
    kept.map(|v| live.vars.contains(v)).collect()
}

/// Whether the swept block writes to an accumulator; whatever is left to write is live.
fn has_live_write(block: &Block) -> bool {
    block.stmts.iter().any(|s| matches!(s.op, Op::AccAdd { .. }) || s.op.blocks().iter().any(has_live_write))
}
