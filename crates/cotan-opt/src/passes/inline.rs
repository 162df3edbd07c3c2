//! Inlining: calls are replaced by the bodies of their callees.
//!
//! Calls inside of a copied body are replaced like those of the caller, so the cost is that of what comes out, however
//! long a chain of calls is. How large a callee becomes is known before it is copied. A function with a custom derivative
//! rule stays a call, so that the rule is found when the caller is differentiated; so does a call that closes a cycle of
//! calls.
//!
//! In a program that is large with all its calls inlined, a function that is not small and is called from several places
//! stays a call. A chain of functions that each call the one before twice would be copied `2^k` times else.

use super::rename::{may_become, rename_block, rename_ty, retyped, sizes};
use crate::context::InlineLimit;
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Item, Module, Op, Span, Stmt, Symbol, Var, VarInfo};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "inline",
    doc: "Calls are replaced by the bodies of their callees, within limits of size.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, context| match context.module {
        Some(module) => inline(module, &f, context.inline),
        None => f,
    },
};

impl InlineLimit {
    /// The limit for a function of a module and all that it needs: derivatives, and what these are derivatives of, among
    /// it. It is decided once for all of them, because a function that stays a call in a large one is not large itself.
    #[must_use]
    pub fn for_entry(self, module: &Module, entry: &str) -> InlineLimit {
        let mut needed: Vec<&Symbol> = module.items.get_key_value(entry).map(|(name, _)| name).into_iter().collect();
        let mut seen: FxHashSet<&Symbol> = needed.iter().copied().collect();
        let mut at = 0;
        while let Some(name) = needed.get(at).copied() {
            at += 1;
            let more: Vec<&Symbol> = match module.items.get(name) {
                Some(Item::Function(f)) => {
                    let rules = f.custom_vjp.iter().chain(&f.custom_jvp);
                    f.body.callees().chain(rules).collect()
                }
                Some(Item::Derived(d)) => vec![&d.of],
                None => Vec::new(),
            };
            needed.extend(more.into_iter().filter(|callee| seen.insert(*callee)));
        }
        let settled = settled(needed, |name| module.function(name).map(AsRef::as_ref));
        let mut whole: FxHashMap<&Symbol, usize> = FxHashMap::default();
        for Settled { name, function, .. } in settled {
            let n = n_stmts_with(function, |callee| whole.get(callee).copied().unwrap_or(1));
            whole.insert(name, n);
        }
        if whole.values().all(|n| *n <= self.whole_stmts) {
            InlineLimit { shared_stmts: usize::MAX, ..self }
        } else {
            self
        }
    }

    /// The limit for functions that have been inlined into before and are simplified since. What stayed a call then is to
    /// stay one, though it has fewer statements now.
    #[must_use]
    pub fn of_simplified(self) -> InlineLimit {
        match self.shared_stmts {
            usize::MAX => self,
            n => InlineLimit { shared_stmts: n / 4, ..self },
        }
    }
}

/// Statements that a call is taken for that stays: it hands over its operands and results in memory.
const STAYING_CALL: usize = 10;

/// The function with its calls inlined, and the calls of those, as far as the module holds their bodies.
pub fn inline(module: &Module, f: &Function, limit: InlineLimit) -> Function {
    let callables = callables(module, f, limit);
    let mut new = f.clone();
    if callables.is_empty() {
        return new;
    }
    let body = std::mem::take(&mut new.body);
    let mut pass = Inline {
        callables: &callables,
        left: limit.copied_stmts,
        depth: limit.depth,
        sizes: sizes(&new.vars, &body),
        renamed: vec![None; new.vars.len()],
        vars: &mut new.vars,
    };
    new.body = pass.block(body);
    new
}

/// A function that may be copied.
struct Callable<'m> {
    function: &'m Function,
    /// Its own statements.
    n_own: usize,
    /// Its statements when its own calls are inlined.
    n_inlined: usize,
}

type Callables<'m> = FxHashMap<&'m Symbol, Callable<'m>>;

/// What `f` calls, and what that calls, as far as it may be copied.
fn callables<'m>(module: &'m Module, f: &'m Function, limit: InlineLimit) -> Callables<'m> {
    let body = |name: &Symbol| {
        let g = module.function(name)?;
        (*name != f.name && g.custom_vjp.is_none() && g.custom_jvp.is_none()).then_some(g.as_ref())
    };
    let called: Vec<&Symbol> = f.body.callees().collect();
    let mut n_places: FxHashMap<&Symbol, usize> = FxHashMap::default();
    called.iter().for_each(|callee| *n_places.entry(*callee).or_default() += 1);
    let settled = settled(called, body);
    for callee in settled.iter().flat_map(|s| s.function.body.callees()) {
        *n_places.entry(callee).or_default() += 1;
    }
    let mut found = Callables::default();
    for Settled { name, function, closes_cycle } in settled {
        let n_own = function.n_stmts();
        let n_inlined =
            n_stmts_with(function, |callee| found.get(callee).map_or(STAYING_CALL, |callable| callable.n_inlined));
        let is_shared = n_places.get(name).is_some_and(|n| *n > 1);
        let limit = if is_shared { limit.callee_stmts.min(limit.shared_stmts) } else { limit.callee_stmts };
        // The calls of what is open again and again would never end.
        if n_inlined <= limit && !closes_cycle {
            found.insert(name, Callable { function, n_own, n_inlined });
        }
    }
    found
}

/// The statements of a function in which each call stands for so many.
fn n_stmts_with<'m>(function: &'m Function, of_call: impl Fn(&'m Symbol) -> usize) -> usize {
    let calls: Vec<&Symbol> = function.body.callees().collect();
    let others = function.n_stmts() - calls.len();
    calls.into_iter().map(of_call).fold(others, usize::saturating_add)
}

/// A function and what is known of it when all that it calls is settled.
struct Settled<'m> {
    name: &'m Symbol,
    function: &'m Function,
    /// Whether something that it calls calls it.
    closes_cycle: bool,
}

/// Functions and what they call, as far as they have a body, callees in front of their callers.
fn settled<'m>(first: Vec<&'m Symbol>, body: impl Fn(&'m Symbol) -> Option<&'m Function>) -> Vec<Settled<'m>> {
    let mut settled = Vec::new();
    let mut seen = FxHashMap::default();
    // A function comes up twice: to open it, and when all that it calls is settled.
    let mut work: Vec<(&Symbol, bool)> = first.into_iter().map(|name| (name, false)).collect();
    while let Some((name, is_done)) = work.pop() {
        let Some(function) = body(name) else { continue };
        if is_done {
            let closes_cycle = seen.insert(name, Seen::Done) == Some(Seen::InCycle);
            settled.push(Settled { name, function, closes_cycle });
            continue;
        }
        match seen.get_mut(name) {
            Some(state @ Seen::Open) => *state = Seen::InCycle,
            Some(Seen::InCycle | Seen::Done) => {}
            None => {
                seen.insert(name, Seen::Open);
                work.push((name, true));
                work.extend(function.body.callees().map(|callee| (callee, false)));
            }
        }
    }
    settled
}

/// How far a function has been looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// What it calls is being looked at.
    Open,
    /// And that calls it again.
    InCycle,
    Done,
}

struct Inline<'a> {
    callables: &'a Callables<'a>,
    /// Statements that may still be copied.
    left: usize,
    /// Regions that may still be opened around a call.
    depth: usize,
    /// The numbers of elements or of iterations.
    sizes: FxHashSet<Var>,
    vars: &'a mut Vec<VarInfo>,
    /// What parameters of callees and results of inlined calls stand for, by variable.
    renamed: Vec<Option<Atom>>,
}

/// A copied body whose statements are being entered, and the call that it replaces.
struct Entered {
    statements: std::vec::IntoIter<Stmt>,
    results: Vec<Atom>,
    call: Option<(Vec<Var>, Span)>,
}

impl Inline<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        let outer = Entered { statements: block.stmts.into_iter(), results: block.results, call: None };
        let mut entered = vec![outer];
        loop {
            let innermost = entered.last_mut().expect("invariant: the block itself is left last");
            if let Some(s) = innermost.statements.next() {
                entered.extend(self.stmt(s, &mut stmts));
                continue;
            }
            let left = entered.pop().expect("invariant: it was there above");
            let results: Vec<Atom> = left.results.into_iter().map(|a| self.atom(a)).collect();
            let Some((call_results, span)) = left.call else { return Block { stmts, results } };
            for (r, a) in call_results.into_iter().zip(results) {
                self.settle(r, a, span, &mut stmts);
            }
        }
    }

    fn atom(&self, a: Atom) -> Atom {
        a.var().and_then(|v| self.renamed[v.index()]).unwrap_or(a)
    }

    /// Renames the dims in the type of a variable that is bound here.
    fn bind(&mut self, v: Var) {
        let renamed = &self.renamed;
        rename_ty(&mut self.vars[v.index()].ty, &|d| renamed[d.index()].unwrap_or(d.into()));
    }

    /// Appends a statement, or gives the body that replaces it.
    fn stmt(&mut self, mut s: Stmt, stmts: &mut Vec<Stmt>) -> Option<Entered> {
        s.op.map_operands(&mut |a| self.atom(a));
        if let Op::Call { callee, args } = &s.op
            && let Some(callable) = self.callables.get(callee)
            && callable.n_inlined <= self.left
            && self.depth > 0
        {
            self.left -= callable.n_own;
            let Block { stmts: statements, results } = self.copy(callable.function, args, s.span, stmts);
            return Some(Entered { statements: statements.into_iter(), results, call: Some((s.results, s.span)) });
        }
        s.op.binders().iter().chain(&s.results).for_each(|v| self.bind(*v));
        let depth = self.depth;
        self.depth = depth.saturating_sub(1);
        s.op.map_blocks(|b| self.block(b));
        self.depth = depth;
        stmts.push(s);
        None
    }

    /// Makes a variable stand for an operand.
    fn settle(&mut self, v: Var, a: Atom, span: Span, stmts: &mut Vec<Stmt>) {
        self.bind(v);
        if may_become(v, a, self.vars, &self.sizes) {
            self.renamed[v.index()] = Some(a);
        } else {
            stmts.push(Stmt { results: vec![v], op: retyped(a), span });
        }
    }

    /// The body of a callee with variables of its own, which are added to the table behind the others. Its parameters
    /// stand for the arguments.
    fn copy(&mut self, callee: &Function, args: &[Atom], span: Span, stmts: &mut Vec<Stmt>) -> Block {
        let base = self.vars.len() as u32;
        let moved = |v: Var| Var(base + v.0);
        self.vars.extend(callee.vars.iter().cloned().map(|mut info| {
            rename_ty(&mut info.ty, &|d| moved(d).into());
            info
        }));
        self.renamed.resize(self.vars.len(), None);
        self.sizes.extend(sizes(&callee.vars, &callee.body).into_iter().map(moved));
        for (p, a) in callee.params.iter().zip(args) {
            self.settle(moved(*p), *a, span, stmts);
        }
        let mut body = callee.body.clone();
        rename_block(&mut body, &moved);
        body
    }
}
