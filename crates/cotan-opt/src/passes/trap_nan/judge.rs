//! The search for the operation that made a NaN.

use super::site::{Enclosing, Made, Shown, Site};
use super::{FALSE, Node, Open, Region, TRUE, Trap};
use cotan_ir::{Atom, Block, CheckKind, Dim, Elem, Op, Par, Role, Span, Stmt, TensorOp, Ty, Var};
use cotan_ops::{Codegen, Derivative, PrimRow, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most operands that are shown.
const MAX_OPERANDS: usize = 4;
/// The most numbers that a check may report.
const MAX_REPORTED: usize = 13;

impl Trap<'_> {
    /// Judges the waiting nodes whose results count: they wait no longer.
    pub(super) fn judge(&mut self, open: &mut Open) {
        let counting = &open.counting;
        let mut roots: Vec<Var> = open.waiting.iter().map(|n| n.result).filter(|v| counting.has(*v)).collect();
        while let Some(first) = roots.first() {
            let dims = self.f.ty(*first).dims.clone();
            let (of_this_shape, others): (Vec<Var>, Vec<Var>) =
                roots.into_iter().partition(|v| self.f.ty(*v).dims == dims);
            self.judge_shape(&of_this_shape, &dims, &open.waiting, &mut open.stmts);
            roots = others;
        }
        let counting = &open.counting;
        open.waiting.retain(|n| !counting.has(n.result));
    }

    /// Judges roots of one shape.
    fn judge_shape(&mut self, roots: &[Var], dims: &[Dim], waiting: &[Node], stmts: &mut Vec<Stmt>) {
        let nodes = behind(waiting, roots);
        if !nodes.iter().any(may_make_nan) {
            return;
        }
        let span = nodes[0].span;
        if dims.is_empty() {
            return self.search(&nodes, roots, &[], span, stmts);
        }
        let indices: Vec<Var> = dims.iter().map(|_| self.var("k", Ty::scalar(Elem::I64))).collect();
        let mut body = Block::default();
        self.search(&nodes, roots, &indices, span, &mut body.stmts);
        let extents = dims.iter().map(|d| d.atom()).collect();
        let par = Par { indices, extents, kinds: Vec::new(), accs: Vec::new(), body };
        stmts.push(Stmt { results: Vec::new(), op: Op::Par(Box::new(par)), span });
    }

    /// Checks one element of the roots. The search runs where one of them is NaN.
    fn search(&mut self, nodes: &[Node], roots: &[Var], element: &[Var], span: Span, stmts: &mut Vec<Stmt>) {
        let mut numbers = Numbers { element, read: FxHashMap::default(), nan: FxHashMap::default() };
        let mut any = FALSE;
        for root in roots {
            let is_nan = numbers.is_nan(self, (*root).into(), stmts);
            any = self.either(any, is_nan, span, stmts);
        }
        let mut arm = Vec::new();
        let relevant = self.relevant(nodes, roots, &mut numbers, &mut arm);
        for (node, relevant) in nodes.iter().zip(relevant) {
            if relevant != FALSE && may_make_nan(node) {
                self.accuse(node, nodes, relevant, &mut numbers, &mut arm);
            }
        }
        let arms = vec![Block { stmts: arm, results: Vec::new() }, Block::default()];
        stmts.push(Stmt { results: Vec::new(), op: Op::Switch { selector: any, arms }, span });
    }

    /// Of each node, whether it is NaN and makes a root NaN.
    fn relevant(&mut self, nodes: &[Node], roots: &[Var], numbers: &mut Numbers, stmts: &mut Vec<Stmt>) -> Vec<Atom> {
        let at: FxHashMap<Var, usize> = nodes.iter().enumerate().map(|(k, n)| (n.result, k)).collect();
        let mut needed = vec![FALSE; nodes.len()];
        let mut relevant = vec![FALSE; nodes.len()];
        for (k, node) in nodes.iter().enumerate().rev() {
            let is_nan = numbers.is_nan(self, node.result.into(), stmts);
            relevant[k] =
                if roots.contains(&node.result) { is_nan } else { self.both(needed[k], is_nan, node.span, stmts) };
            let Made::Prim(prim) = node.made else { continue };
            for (operand, arg) in node.args.iter().enumerate() {
                let Some(source) = arg.var().and_then(|v| at.get(&v)) else { continue };
                let passes = if prim == cotan_ops::SELECT.prim() {
                    let chosen = self.chosen(node, operand, numbers, stmts);
                    self.both(relevant[k], chosen, node.span, stmts)
                } else {
                    relevant[k]
                };
                needed[*source] = self.either(needed[*source], passes, node.span, stmts);
            }
        }
        relevant
    }

    /// Whether a select chooses this operand.
    fn chosen(&mut self, select: &Node, operand: usize, numbers: &mut Numbers, stmts: &mut Vec<Stmt>) -> Atom {
        let condition = numbers.value(self, select.args[0], stmts);
        if operand == 1 { condition } else { self.not(condition, select.span, stmts) }
    }

    /// The check that a node has not made the NaN that it is: one of its operands is NaN too.
    fn accuse(&mut self, node: &Node, nodes: &[Node], relevant: Atom, numbers: &mut Numbers, stmts: &mut Vec<Stmt>) {
        let mut excuse = numbers.value(self, node.given, stmts);
        for (operand, arg) in node.args.iter().enumerate() {
            // A NaN that the program writes is data, but one that a rule of differentiation writes says that there is
            // no derivative.
            let is_kept = arg.var().is_some_and(|v| self.kept.contains(&v));
            let is_rule = arg.constant().is_some() && node.span.role != Role::VALUE;
            if !is_float(self, *arg) || is_rule || is_kept {
                continue;
            }
            let mut is_nan = numbers.is_nan(self, *arg, stmts);
            if node.made == Made::Prim(cotan_ops::SELECT.prim()) {
                let chosen = self.chosen(node, operand, numbers, stmts);
                is_nan = self.both(is_nan, chosen, node.span, stmts);
            }
            excuse = self.either(excuse, is_nan, node.span, stmts);
        }
        let harmless = self.not(relevant, node.span, stmts);
        let cond = self.either(harmless, excuse, node.span, stmts);
        if cond == TRUE {
            return;
        }
        let args = self.reported(node, nodes, numbers, stmts);
        let op = Op::Check { cond, kind: CheckKind::Nan, args, value: Atom::i64(0) };
        self.push("trapped", Ty::scalar(Elem::I64), op, node.span, stmts);
    }

    /// What the check of a node reports; enters its site.
    fn reported(&mut self, node: &Node, nodes: &[Node], numbers: &mut Numbers, stmts: &mut Vec<Stmt>) -> Vec<Atom> {
        let mut args = vec![Atom::i64(self.sites.len() as i64)];
        let mut operands = Vec::new();
        if let Made::Prim(_) = node.made {
            let mut floats = shown(node, nodes);
            floats.retain(|v| self.is_float(*v));
            for v in floats.into_iter().take(MAX_OPERANDS) {
                args.push(numbers.value(self, v.into(), stmts));
                let (name, elem) = (self.f.vars[v.index()].name.clone(), self.f.ty(v).elem);
                operands.push(Shown { name, span: self.defined.get(&v).copied(), elem });
            }
        }
        let n_indices = numbers.element.len().min(MAX_REPORTED - args.len());
        let mut room = MAX_REPORTED - args.len() - n_indices;
        let around = self.regions[..node.depth].iter().rev().take_while(|region| {
            let fits = region.indices.len() <= room;
            room = room.saturating_sub(region.indices.len());
            fits
        });
        let mut around: Vec<Region> = around.cloned().collect();
        around.reverse();
        for region in &around {
            args.extend(self.iteration(region, node.span, stmts));
        }
        args.extend(numbers.element.iter().take(n_indices).map(|i| Atom::Var(*i)));
        let loops = around.iter().map(|r| Enclosing { span: r.span, n_indices: r.indices.len() }).collect();
        let result = self.f.vars[node.result.index()].name.clone();
        self.sites.push(Site { made: node.made, span: node.span, result, operands, loops, n_indices });
        args
    }

    /// The number of the iteration of the source.
    fn iteration(&mut self, region: &Region, span: Span, stmts: &mut Vec<Stmt>) -> Vec<Atom> {
        let Some(count) = region.backwards else { return region.indices.iter().map(|i| Atom::Var(*i)).collect() };
        let difference = |this: &mut Self, a: Atom, b: Atom, stmts: &mut Vec<Stmt>| {
            this.prim(cotan_ops::SUB.prim(), vec![a, b], Ty::scalar(Elem::I64), span, stmts)
        };
        let last = difference(self, count, Atom::i64(1), stmts);
        vec![difference(self, last, region.indices[0].into(), stmts)]
    }

    fn both(&mut self, a: Atom, b: Atom, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        if a == FALSE || b == TRUE || a == b {
            return a;
        }
        if b == FALSE || a == TRUE {
            return b;
        }
        self.prim(cotan_ops::AND.prim(), vec![a, b], Ty::scalar(Elem::Bool), span, stmts)
    }

    fn not(&mut self, a: Atom, span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        match a.truth() {
            Some(true) => FALSE,
            Some(false) => TRUE,
            None => self.prim(cotan_ops::NOT.prim(), vec![a], Ty::scalar(Elem::Bool), span, stmts),
        }
    }
}

/// Numbers of one element that were read already, and which of them are NaN.
struct Numbers<'e> {
    element: &'e [Var],
    read: FxHashMap<Var, Atom>,
    nan: FxHashMap<Var, Atom>,
}

impl Numbers<'_> {
    fn value(&mut self, trap: &mut Trap<'_>, a: Atom, stmts: &mut Vec<Stmt>) -> Atom {
        let Atom::Var(v) = a else { return a };
        if let Some(known) = self.read.get(&v) {
            return *known;
        }
        let value = trap.element(a, self.element, Span::NONE, stmts);
        self.read.insert(v, value);
        value
    }

    fn is_nan(&mut self, trap: &mut Trap<'_>, a: Atom, stmts: &mut Vec<Stmt>) -> Atom {
        let Atom::Var(v) = a else { return trap.is_nan(a, Span::NONE, stmts) };
        if let Some(known) = self.nan.get(&v) {
            return *known;
        }
        let value = self.value(trap, a, stmts);
        let is_nan = trap.is_nan(value, Span::NONE, stmts);
        self.nan.insert(v, is_nan);
        is_nan
    }
}

fn is_float(trap: &Trap<'_>, a: Atom) -> bool {
    match a {
        Atom::Var(v) => trap.is_float(v),
        Atom::Const(c) => c.elem().is_float(),
    }
}

/// The waiting nodes that roots are computed of, the roots among them, in order.
fn behind(waiting: &[Node], roots: &[Var]) -> Vec<Node> {
    let mut wanted: FxHashSet<Var> = roots.iter().copied().collect();
    let mut nodes = Vec::new();
    for node in waiting.iter().rev() {
        if wanted.contains(&node.result) {
            if let Made::Prim(_) = node.made {
                wanted.extend(node.args.iter().filter_map(|a| a.var()));
            }
            nodes.push(node.clone());
        }
    }
    nodes.reverse();
    nodes
}

/// The operands that are shown: those of the operation, and in place of partial derivatives, and of parts of the same
/// operation, what they are made of.
fn shown(node: &Node, nodes: &[Node]) -> Vec<Var> {
    let is_inner = |n: &Node| n.span.role.is_partial() || n.span == node.span && !may_make_nan(n);
    let mut found = Vec::new();
    let mut open: Vec<Var> = node.args.iter().rev().filter_map(|a| a.var()).collect();
    while let Some(v) = open.pop() {
        match nodes.iter().find(|n| n.result == v && is_inner(n)) {
            Some(inner) => open.extend(inner.args.iter().rev().filter_map(|a| a.var())),
            None if found.contains(&v) => {}
            None => found.push(v),
        }
    }
    found
}

/// Whether a node may be NaN though none of its operands is.
fn may_make_nan(node: &Node) -> bool {
    match node.made {
        Made::Prim(prim) => makes_nan(cotan_ops::row(prim)) || writes_nan(node),
        Made::Reduced(_) | Made::Accumulated | Made::Tensor(_) => true,
    }
}

/// Whether a rule of differentiation says by a constant that there is no derivative.
fn writes_nan(node: &Node) -> bool {
    let is_nan = |a: &Atom| a.constant().and_then(|c| c.as_float()).is_some_and(f64::is_nan);
    node.span.role != Role::VALUE && node.args.iter().any(is_nan)
}

fn makes_nan(row: &PrimRow) -> bool {
    match row.codegen {
        Codegen::Native(instruction) | Codegen::NativeOrHost(instruction) => instruction.traits().makes_nan,
        Codegen::Host | Codegen::Power | Codegen::Expansion(_) => true,
        Codegen::Term(term) => term_makes_nan(&term),
    }
}

fn term_makes_nan(term: &Term) -> bool {
    match term {
        Term::Number(x) => x.is_nan(),
        Term::Apply(row, operands) => makes_nan(row) || operands.iter().any(term_makes_nan),
        Term::ToT(inner) => term_makes_nan(inner),
        Term::Arg(_) | Term::Result | Term::Named(_) | Term::Int(_) => false,
    }
}

/// Whether a tensor operation multiplies its operands, and does not only move elements.
pub(super) fn multiplies(op: TensorOp) -> bool {
    match cotan_ops::tensor_row(op).derivative {
        Derivative::Multilinear { .. } | Derivative::Rule { .. } => true,
        Derivative::Linear { .. } | Derivative::None { .. } => false,
    }
}
