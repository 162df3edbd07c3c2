//! Traps for NaN: a program that stops where a NaN is made of numbers and counts.
//!
//! Run last, behind every other pass: the checks that it adds have results that nobody reads, and so would be dropped
//! as dead code. The program computes what it computed before, to the bit, as long as no check fails.
//!
//! A NaN is *made* by an operation whose operands are none; where it came from the outside or was written in the
//! program, it is data. It *counts* where it is used by anything but arithmetic on numbers: as a result of a block or a
//! function, carried by a loop, stored, summed, compared. What a `select` does not choose, and a factor that an exact
//! zero wipes out, do not count (`counts.rs`). So the conventions of derivatives, by which an exact zero wins over a
//! partial that does not exist, and values that a program masks, never trap.
//!
//! Operations on numbers are nodes that wait until one of them counts. They are judged together, in front of the next
//! region, call or check and at the end of the block: if a result that counts is NaN, the nodes that it is made of are
//! searched, in the order of the program, for the one that made it (`judge.rs`). On tensors this is done for every
//! element.

mod counts;
mod judge;
mod site;

use crate::pass::{Pass, Promise};
pub use site::{Enclosing, Made, Shown, Site};

use cotan_ir::{
    AccKind, Atom, Block, Const, Elem, Function, Loop, Monoid, Op, Par, ParResult, Prim, Record, Span, Stmt, Ty, Var,
    VarInfo,
};
use counts::Counting;
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "trap_nan",
    doc: "Checks are added where a NaN is made of numbers and counts.",
    promise: Promise::Traps,
    is_idempotent: false,
    run: |f, _| trap_nan(f, &mut Vec::new()),
};

/// The function with traps. The places where it may make a NaN are appended to `sites`, and checks name them by their
/// position there.
pub fn trap_nan(mut f: Function, sites: &mut Vec<Site>) -> Function {
    let body = std::mem::take(&mut f.body);
    let mut trap =
        Trap { f: &mut f, sites, regions: Vec::new(), defined: FxHashMap::default(), kept: FxHashSet::default() };
    let used = body.results.clone();
    let body = trap.block(body, &used, &[]);
    Function { body, ..f }
}

const TRUE: Atom = Atom::Const(Const::bool(true));
const FALSE: Atom = Atom::Const(Const::bool(false));

struct Trap<'a> {
    f: &'a mut Function,
    sites: &'a mut Vec<Site>,
    /// The loops around the current statement, outermost first.
    regions: Vec<Region>,
    /// The source text that a variable stands for, of those without a name of their own.
    defined: FxHashMap<Var, Span>,
    /// What is read of results that a loop has kept. Whether they count was not asked where they were made, so a NaN
    /// among them is no data.
    kept: FxHashSet<Var>,
}

/// A loop around a statement.
#[derive(Clone)]
struct Region {
    span: Span,
    indices: Vec<Var>,
    /// The number of iterations, where they are gone through from the last to the first.
    backwards: Option<Atom>,
}

/// An operation whose result is judged where it counts.
#[derive(Clone)]
struct Node {
    result: Var,
    made: Made,
    /// The operands of a primitive.
    args: Vec<Atom>,
    /// Whether an operand that can't be looked at afterwards was NaN, a bool.
    given: Atom,
    span: Span,
    /// How many of the open regions are around it.
    depth: usize,
}

/// A block that is being written.
struct Open {
    stmts: Vec<Stmt>,
    waiting: Vec<Node>,
    counting: Counting,
}

impl Trap<'_> {
    /// The block with traps, of which these results are used; `waiting` are the nodes of the blocks around it that are not
    /// judged yet.
    fn block(&mut self, block: Block, used: &[Atom], waiting: &[Node]) -> Block {
        let counting = Counting::of(&block, used, waiting, self.f);
        let mut open = Open { stmts: Vec::new(), waiting: waiting.to_vec(), counting };
        for s in block.stmts {
            self.stmt(s, &mut open);
        }
        self.judge(&mut open);
        Block { stmts: open.stmts, results: block.results }
    }

    fn stmt(&mut self, mut s: Stmt, open: &mut Open) {
        let (results, span) = (s.results.clone(), s.span);
        match &mut s.op {
            Op::Prim { prim, args } => {
                self.note(results[0], prim.name(), span);
                if !self.is_float(results[0]) {
                    return open.stmts.push(s);
                }
                let node = self.node(results[0], Made::Prim(*prim), args.clone(), span);
                self.keep_shape(&node, open);
                open.stmts.push(s);
                open.waiting.push(node);
            }
            Op::Tensor { op, args, .. } => {
                self.note(results[0], op.name(), span);
                if !self.is_float(results[0]) || !judge::multiplies(*op) {
                    return open.stmts.push(s);
                }
                let (op, args) = (*op, args.clone());
                self.judge(open);
                let given = args.iter().fold(FALSE, |given, a| {
                    let any = self.any_nan(*a, span, &mut open.stmts);
                    self.either(given, any, span, &mut open.stmts)
                });
                open.stmts.push(s);
                let node = self.node(results[0], Made::Tensor(op), Vec::new(), span);
                open.waiting.push(Node { given, ..node });
            }
            Op::Index { array, .. } => {
                self.note(results[0], "elem", span);
                if array.var().is_some_and(|v| self.kept.contains(&v) || self.is_kept(v)) {
                    self.kept.insert(results[0]);
                }
                open.stmts.push(s);
            }
            Op::Update { .. } | Op::AccAdd { .. } => open.stmts.push(s),
            Op::Check { cond, .. } => {
                if cond.var().is_some() {
                    self.judge(open);
                }
                open.stmts.push(s);
            }
            Op::Call { .. } => {
                self.judge(open);
                open.stmts.push(s);
            }
            Op::Switch { arms, .. } => {
                self.judge(open);
                for arm in arms {
                    let used = arm.results.clone();
                    *arm = self.block(std::mem::take(arm), &used, &open.waiting);
                }
                open.stmts.push(s);
            }
            Op::Par(p) => {
                self.judge(open);
                let nodes = self.par(p, &mut s.results, span, open);
                open.stmts.push(s);
                self.wait_for(nodes, open);
            }
            Op::Loop(l) => {
                self.judge(open);
                let nodes = self.sequential(l, &results, span, open);
                open.stmts.push(s);
                self.wait_for(nodes, open);
            }
        }
    }

    fn par(&mut self, p: &mut Par, results: &mut Vec<Var>, span: Span, open: &mut Open) -> Vec<Node> {
        self.regions.push(Region { span, indices: p.indices.clone(), backwards: None });
        let used = p.body.results.clone();
        p.body = self.block(std::mem::take(&mut p.body), &used, &open.waiting);
        self.regions.pop();
        let mut nodes = Vec::new();
        for k in 0..p.kinds.len() {
            let ParResult::Reduced { monoid: monoid @ (Monoid::Add | Monoid::Mul), init } = p.kinds[k] else {
                continue;
            };
            if !self.is_float(results[k]) {
                continue;
            }
            // Beside the sum, whether anything that went into it was NaN.
            let element = self.is_nan(p.body.results[k], span, &mut p.body.stmts);
            let flag = Ty::new(Elem::Bool, self.f.ty(results[k]).dims.clone());
            let start = self.filled(&flag, span, &mut open.stmts);
            let any = self.var("any_nan", flag);
            p.kinds.push(ParResult::Reduced { monoid: Monoid::Or, init: start });
            p.body.results.push(element);
            results.insert(p.kinds.len() - 1, any);
            let node = self.node(results[k], Made::Reduced(monoid), vec![init], span);
            nodes.push(Node { given: any.into(), ..node });
        }
        let first_acc = p.kinds.len();
        nodes.extend(self.accumulated(p.accs.iter().map(|a| (a.kind, a.init)), &results[first_acc..], span));
        nodes
    }

    fn sequential(&mut self, l: &mut Loop, results: &[Var], span: Span, open: &Open) -> Vec<Node> {
        let backwards = l.count.filter(|_| span.role.is_backwards());
        self.regions.push(Region { span, indices: vec![l.index], backwards });
        let used = counts::used_results(l, results, self.f);
        l.body = self.block(std::mem::take(&mut l.body), &used, &open.waiting);
        self.regions.pop();
        self.accumulated(l.accs.iter().map(|a| (a.kind, a.init)), l.split(results).accs, span)
    }

    /// The final values of accumulators that add up floats. Nobody sees them before.
    fn accumulated(
        &mut self,
        accs: impl Iterator<Item = (AccKind, Option<Atom>)>,
        finals: &[Var],
        span: Span,
    ) -> Vec<Node> {
        let sums = accs.zip(finals).filter_map(|((kind, init), total)| {
            let is_sum = kind == AccKind::Reduce(Monoid::Add) && self.is_float(*total);
            is_sum.then(|| self.node(*total, Made::Accumulated, init.into_iter().collect(), span))
        });
        sums.collect()
    }

    fn wait_for(&mut self, nodes: Vec<Node>, open: &mut Open) {
        for node in nodes {
            self.keep_shape(&node, open);
            open.waiting.push(node);
        }
    }

    fn node(&self, result: Var, made: Made, args: Vec<Atom>, span: Span) -> Node {
        Node { result, made, args, given: FALSE, span, depth: self.regions.len() }
    }

    /// Judges what counts, if it has another shape than the node: what is judged together has one shape.
    fn keep_shape(&mut self, node: &Node, open: &mut Open) {
        let dims = &self.f.ty(node.result).dims;
        let differs = |n: &Node| open.counting.has(n.result) && self.f.ty(n.result).dims != *dims;
        if open.waiting.iter().any(differs) {
            self.judge(open);
        }
    }

    /// Remembers where a variable that no name of the source stands for was computed.
    fn note(&mut self, v: Var, default_name: &str, span: Span) {
        if span.is_some() && self.f.name_of(v) == default_name {
            self.defined.insert(v, span);
        }
    }

    /// Whether a variable holds results of all iterations that a loop has kept for its reverse sweep.
    fn is_kept(&self, v: Var) -> bool {
        match self.f.vars[v.index()].record {
            Some(Record::Kept { .. } | Record::Inner) => true,
            Some(Record::Value | Record::Read | Record::Old | Record::Place | Record::Start | Record::State) | None => {
                false
            }
        }
    }

    fn is_float(&self, v: Var) -> bool {
        matches!(self.f.ty(v).elem, Elem::F32 | Elem::F64)
    }

    // ---- statements

    fn var(&mut self, name: &str, ty: Ty) -> Var {
        self.f.add_var(VarInfo { name: name.into(), ty, record: None })
    }

    fn push(&mut self, name: &str, ty: Ty, op: Op, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        let v = self.var(name, ty);
        stmts.push(Stmt { results: vec![v], op, span });
        v.into()
    }

    fn prim(&mut self, prim: Prim, args: Vec<Atom>, ty: Ty, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        self.push(prim.name(), ty, Op::Prim { prim, args }, span, stmts)
    }

    /// Whether an operand is NaN, element by element.
    fn is_nan(&mut self, a: Atom, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        match a {
            Atom::Const(c) => Const::bool(c.as_float().is_some_and(f64::is_nan)).into(),
            Atom::Var(v) => {
                let ty = self.f.ty(v).with_elem(Elem::Bool);
                self.prim(cotan_ops::ISNAN.prim(), vec![a], ty, span, stmts)
            }
        }
    }

    /// Whether one of two truth values holds.
    fn either(&mut self, a: Atom, b: Atom, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        if a == FALSE || b == TRUE {
            return b;
        }
        if b == FALSE || a == TRUE {
            return a;
        }
        self.prim(cotan_ops::OR.prim(), vec![a, b], Ty::scalar(Elem::Bool), span, stmts)
    }

    /// Whether any element of a tensor is NaN.
    fn any_nan(&mut self, a: Atom, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        let Atom::Var(v) = a else { return self.is_nan(a, span, stmts) };
        let dims = self.f.ty(v).dims.clone();
        let indices: Vec<Var> = dims.iter().map(|_| self.var("k", Ty::scalar(Elem::I64))).collect();
        let mut body = Vec::new();
        let element = self.element(a, &indices, span, &mut body);
        let is_nan = self.is_nan(element, span, &mut body);
        let par = Par {
            indices,
            extents: dims.iter().map(|d| d.atom()).collect(),
            kinds: vec![ParResult::Reduced { monoid: Monoid::Or, init: FALSE }],
            accs: Vec::new(),
            body: Block { stmts: body, results: vec![is_nan] },
        };
        self.push("any_nan", Ty::scalar(Elem::Bool), Op::Par(Box::new(par)), span, stmts)
    }

    /// The element of an operand at these indices; what is a scalar stands for a tensor filled with it.
    fn element(&mut self, a: Atom, indices: &[Var], span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        let Some(v) = a.var().filter(|v| !self.f.ty(*v).is_scalar()) else { return a };
        let ty = Ty::scalar(self.f.ty(v).elem);
        let indices = indices.iter().map(|i| Atom::Var(*i)).collect();
        self.push("elem", ty, Op::Index { array: a, indices }, span, stmts)
    }

    /// `false`, or a tensor of it.
    fn filled(&mut self, ty: &Ty, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        if ty.is_scalar() {
            return FALSE;
        }
        let op = Op::Tensor { op: cotan_ops::FILL.op(), args: vec![FALSE], attrs: Vec::new() };
        self.push("fill", ty.clone(), op, span, stmts)
    }
}
