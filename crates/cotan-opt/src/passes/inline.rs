//! Calls replaced by the bodies of their callees.
//!
//! Callees are inlined into one another first, so that sizes are known when a body is copied. A function with a custom
//! derivative rule stays a call, so that the rule is found when the caller is differentiated; so does a call in a
//! cycle of calls.

use super::rename::{lengths, may_become, rename_block, rename_ty, retyped};
use cotan_ir::{Atom, Block, Function, Module, Op, Span, Stmt, Symbol, Var, VarInfo};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// How much inlining may copy.
#[derive(Clone, Copy, Debug)]
pub struct InlineLimit {
    /// Statements of one callee, its own inlined calls included. A call of a larger one stays.
    pub callee_stmts: usize,
    /// Statements that a caller may gain in all. A call that would make it larger stays.
    pub copied_stmts: usize,
}

impl Default for InlineLimit {
    fn default() -> InlineLimit {
        InlineLimit { callee_stmts: 20_000, copied_stmts: 200_000 }
    }
}

/// The function with its calls inlined, and the calls of those, as far as the module holds their bodies.
pub fn inline(module: &Module, f: &Function, limit: InlineLimit) -> Function {
    let mut bodies: FxHashMap<Symbol, Body<'_>> = FxHashMap::default();
    for callee in callees_first(module, f) {
        let Some(g) = module.function(&callee) else { continue };
        let function = inline_into(g, &bodies, limit);
        let n_stmts = function.n_stmts();
        // What still calls itself is part of a cycle: copying it would unroll the cycle once per run of this pass.
        if n_stmts <= limit.callee_stmts && !callees(&function.body).contains(&callee) {
            bodies.insert(callee, Body { function, n_stmts });
        }
    }
    inline_into(f, &bodies, limit).into_owned()
}

/// A function to be copied, with its own calls inlined.
struct Body<'m> {
    function: Cow<'m, Function>,
    n_stmts: usize,
}

/// The functions to inline, each behind those that it calls.
fn callees_first(module: &Module, f: &Function) -> Vec<Symbol> {
    let is_inlined = |name: &Symbol| {
        *name != f.name && module.function(name).is_some_and(|g| g.custom_vjp.is_none() && g.custom_jvp.is_none())
    };
    let mut ordered = Vec::new();
    let mut seen = FxHashSet::default();
    // A symbol comes up twice: to open it, and when all that it calls is ordered.
    let mut work: Vec<(Symbol, bool)> = callees(&f.body).into_iter().map(|c| (c, false)).collect();
    while let Some((name, is_done)) = work.pop() {
        if is_done {
            ordered.push(name);
        } else if is_inlined(&name)
            && seen.insert(name.clone())
            && let Some(g) = module.function(&name)
        {
            work.push((name, true));
            work.extend(callees(&g.body).into_iter().map(|c| (c, false)));
        }
    }
    ordered
}

/// The names that a block calls.
fn callees(block: &Block) -> Vec<Symbol> {
    fn collect(block: &Block, names: &mut Vec<Symbol>) {
        for s in &block.stmts {
            if let Op::Call { callee, .. } = &s.op {
                names.push(callee.clone());
            }
            s.op.blocks().iter().for_each(|b| collect(b, names));
        }
    }
    let mut names = Vec::new();
    collect(block, &mut names);
    names
}

/// The function with calls replaced by the bodies that are there.
fn inline_into<'m>(f: &'m Function, bodies: &FxHashMap<Symbol, Body<'_>>, limit: InlineLimit) -> Cow<'m, Function> {
    if !callees(&f.body).iter().any(|c| bodies.contains_key(c)) {
        return Cow::Borrowed(f);
    }
    let mut new = f.clone();
    let body = std::mem::take(&mut new.body);
    let mut pass = Inline {
        bodies,
        left: limit.copied_stmts,
        lengths: lengths(&new.vars),
        renamed: vec![None; new.vars.len()],
        vars: &mut new.vars,
    };
    new.body = pass.block(body);
    Cow::Owned(new)
}

struct Inline<'a> {
    bodies: &'a FxHashMap<Symbol, Body<'a>>,
    /// Statements that may still be copied.
    left: usize,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    vars: &'a mut Vec<VarInfo>,
    /// What parameters of callees and results of inlined calls stand for, by variable.
    renamed: Vec<Option<Atom>>,
}

impl Inline<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for s in block.stmts {
            self.stmt(s, &mut stmts);
        }
        Block { stmts, results: block.results.into_iter().map(|a| self.atom(a)).collect() }
    }

    fn atom(&self, a: Atom) -> Atom {
        a.var().and_then(|v| self.renamed[v.index()]).unwrap_or(a)
    }

    /// Renames the dims in the type of a variable that is bound here.
    fn bind(&mut self, v: Var) {
        let renamed = &self.renamed;
        rename_ty(&mut self.vars[v.index()].ty, &|d| renamed[d.index()].unwrap_or(d.into()));
    }

    fn stmt(&mut self, mut s: Stmt, stmts: &mut Vec<Stmt>) {
        s.op.map_operands(&mut |a| self.atom(a));
        if let Op::Call { callee, args } = &s.op
            && let Some(body) = self.bodies.get(callee)
            && body.n_stmts <= self.left
        {
            self.left -= body.n_stmts;
            let results = self.copy(&body.function, args, s.span, stmts);
            for (r, a) in s.results.iter().zip(results) {
                self.settle(*r, a, s.span, stmts);
            }
            return;
        }
        s.op.binders().iter().chain(&s.results).for_each(|v| self.bind(*v));
        for b in s.op.blocks_mut() {
            *b = self.block(std::mem::take(b));
        }
        stmts.push(s);
    }

    /// Makes a variable stand for an operand.
    fn settle(&mut self, v: Var, a: Atom, span: Span, stmts: &mut Vec<Stmt>) {
        self.bind(v);
        if may_become(v, a, self.vars, &self.lengths) {
            self.renamed[v.index()] = Some(a);
        } else {
            stmts.push(Stmt { results: vec![v], op: retyped(a), span });
        }
    }

    /// Appends the statements of a callee; gives its results. Its variables are added to the table behind the others.
    fn copy(&mut self, callee: &Function, args: &[Atom], span: Span, stmts: &mut Vec<Stmt>) -> Vec<Atom> {
        let base = self.vars.len() as u32;
        let moved = |v: Var| Var(base + v.0);
        self.vars.extend(callee.vars.iter().cloned().map(|mut info| {
            rename_ty(&mut info.ty, &|d| moved(d).into());
            info
        }));
        self.renamed.resize(self.vars.len(), None);
        self.lengths.extend(lengths(&callee.vars).into_iter().map(moved));
        for (p, a) in callee.params.iter().zip(args) {
            self.settle(moved(*p), *a, span, stmts);
        }
        let mut body = callee.body.clone();
        rename_block(&mut body, &moved);
        body.stmts.into_iter().for_each(|s| self.stmt(s, stmts));
        body.results.into_iter().map(|a| self.atom(a)).collect()
    }
}
