//! Removes ordering constraints that no error can observe.
//!
//! An `after` keeps alive what its second operand needs, for the sake of errors that must come first. Where nothing in
//! that can fail any more, it only gives its first operand.

use super::rename::{may_become, sizes, substitute};
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Op, Var, free_vars};
use cotan_ops::AFTER;
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "drop_order",
    doc: "Ordering constraints go where no error can observe them.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| drop_order(f),
};

/// The function without `after`s that order nothing.
pub fn drop_order(mut f: Function) -> Function {
    let mut body = std::mem::take(&mut f.body);
    let sizes = sizes(&f.vars, &body);
    let mut pass = Order { f: &f, sizes, failing: FxHashSet::default(), firsts: FxHashMap::default() };
    pass.block(&body);
    let firsts = pass.firsts;
    let first = |mut a: Atom| {
        while let Some(of) = a.var().and_then(|v| firsts.get(&v)) {
            a = *of;
        }
        a
    };
    substitute(&mut body, &first);
    Function { body, ..f }
}

struct Order<'a> {
    f: &'a Function,
    /// The numbers of elements or of iterations.
    sizes: FxHashSet<Var>,
    /// What may fail, or print, before it is there.
    failing: FxHashSet<Var>,
    /// What the needless ones give.
    firsts: FxHashMap<Var, Atom>,
}

impl Order<'_> {
    fn block(&mut self, block: &Block) {
        for s in &block.stmts {
            let binders = s.op.binders();
            let mut read = s.op.blocks().iter().flat_map(|b| free_vars(self.f, b, &binders));
            let waits = s.op.operands().iter().any(|a| self.is_failing(*a)) || read.any(|v| self.failing.contains(&v));
            if waits || s.is_sequenced() {
                // Whatever is bound inside may be carried from one iteration to the next.
                self.failing.extend(s.results.iter().chain(&binders));
            } else if let Op::Prim { prim, args } = &s.op
                && *prim == AFTER.prim()
                && may_become(s.results[0], args[0], &self.f.vars, &self.sizes)
            {
                self.firsts.insert(s.results[0], args[0]);
            }
            s.op.blocks().iter().for_each(|b| self.block(b));
        }
    }

    fn is_failing(&self, a: Atom) -> bool {
        a.var().is_some_and(|v| self.failing.contains(&v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_function;
    use cotan_ops::Registry;

    /// A number that waits for the end of a loop over the operand, checked or not.
    fn ordered(check: &str, operand: &str) -> String {
        let text = format!(
            "fn f(n: i64, a: f64) {{
  x: f64 = loop i < n (y: f64 = a) {{
{check}    z: f64 = sin {operand}
    yield z
  }}
  u: f64 = exp x
  t: f64 = after a, u
  r: f64 = neg t
  return r
}}
"
        );
        let f = parse_function(&text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"));
        crate::simplify(drop_order(f)).to_string()
    }

    #[test]
    fn what_cannot_fail_is_not_waited_for() {
        assert_eq!(ordered("", "y"), "fn f(n: i64, a: f64) {\n  r: f64 = neg a\n  return r\n}\n");
    }

    #[test]
    fn what_may_fail_is_computed_first() {
        let check = "    ok: bool = gt y, 0.0\n    c: f64 = check ok R0012() y\n";
        let ordered = ordered(check, "c");
        assert!(ordered.contains("after a, u"), "{ordered}");
    }
}
