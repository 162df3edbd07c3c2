//! The two loops between which a record passes: the forward copy, which is patched, and the reverse.

use super::ForwardCopy;
use cotan_ir::{Acc, Atom, Block, Dim, Env, Loop, Span, Var};

/// A reverse loop before its placeholders are settled.
pub(crate) struct ReverseLoop<'a> {
    pub(crate) source: &'a Loop,
    pub(crate) forward_copy: &'a ForwardCopy,
    /// Source variables to target operands, around the loop.
    pub(crate) outer: &'a Env,
    /// The same in the reverse body.
    pub(crate) env: &'a Env,
    /// Variables that stand for the carried values of the source in the reverse body.
    pub(crate) placeholders: &'a [Var],
    /// How many statements of the body, behind its head, re-execute the source's.
    pub(crate) n_recomputed: usize,
    /// The iteration under reversal.
    pub(crate) iteration: Atom,
    /// The last one.
    pub(crate) last: Atom,
    /// How many there are.
    pub(crate) count: Atom,
    /// How many statements of the body compute the iteration number.
    pub(crate) head: usize,
    pub(crate) results: Vec<Var>,
    pub(crate) params: Vec<Var>,
    pub(crate) inits: Vec<Atom>,
    pub(crate) body: Block,
}

impl ReverseLoop<'_> {
    /// Carries one more value, behind the cotangents.
    pub(crate) fn add_carried(&mut self, param: Var, init: Atom, next: Atom, result: Var) {
        self.params.push(param);
        self.inits.push(init);
        self.results.push(result);
        self.body.results.push(next);
    }
}

/// A loop taken out of its block to get more results. They are addressed by role, because every addition shifts
/// the positions of others.
pub(crate) struct Patch {
    pub(crate) results: Vec<Var>,
    pub(crate) l: Loop,
    pub(crate) span: Span,
}

impl Patch {
    /// The final value of carried value `q`.
    pub(crate) fn carried(&self, q: usize) -> Var {
        self.l.split(&self.results).carried[q]
    }

    /// Carries one more value.
    pub(crate) fn add_carried(&mut self, param: Var, init: Atom, next: Atom, result: Var) {
        let at = self.l.params.len();
        let position = usize::from(self.l.count.is_none()) + at;
        self.results.insert(position, result);
        self.l.params.push(param);
        self.l.inits.push(init);
        self.l.body.results.insert(at, next);
    }

    /// Introduces one more accumulator.
    pub(crate) fn add_acc(&mut self, acc: Acc, result: Var) {
        let position = usize::from(self.l.count.is_none()) + self.l.params.len() + self.l.accs.len();
        self.results.insert(position, result);
        self.l.accs.push(acc);
    }

    /// The number of iterations.
    pub(crate) fn length(&self) -> Dim {
        match self.l.count {
            Some(n) => Dim::from_atom(n),
            None => Dim::Var(self.results[0]),
        }
    }
}
