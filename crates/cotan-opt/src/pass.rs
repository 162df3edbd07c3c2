//! Pass records: what a pass over the core IR is, and what it promises.
//!
//! In debug builds, [`Pass::apply`] verifies what passes make of a function, and names the guilty one.

use crate::context::PassContext;
use cotan_ir::{Function, Module, bug, verify};
use std::fmt;

/// A pass over the core IR, as a record. Pipelines are lists of references to these.
pub struct Pass {
    /// How tests, messages and `cotan emit --after` name it.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// What stays as it was.
    pub promise: Promise,
    /// Whether a second run changes nothing.
    pub is_idempotent: bool,
    /// The pass itself. Pipelines go through [`Pass::apply`].
    pub run: fn(Function, &PassContext<'_>) -> Function,
}

/// What a pass keeps. No pass adds an error but [`Traps`](Promise::Traps), and none drops one whose value is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Results keep their bits. Where the order of a sum is free, as in derivatives, it may change.
    Bits,
    /// Results are the same in exact arithmetic, and may be rounded elsewhere.
    Rounding,
    /// Results are the same numbers if none of them is NaN afterwards; a zero may have the other sign.
    UnlessNan,
    /// Results keep their bits, unless a check that the pass has added fails.
    Traps,
}

impl Pass {
    /// What the pass makes of a function.
    ///
    /// # Panics
    /// In debug builds, if the pass has made it malformed.
    pub fn apply(&'static self, f: Function, context: &PassContext<'_>) -> Function {
        let before = is_verified(&f).then(|| f.clone());
        let after = (self.run)(f, context);
        if let Some(before) = before.filter(|before| *before != after) {
            self.check(&before, &after, context);
        }
        if let Some(observer) = context.observer {
            observer(self.name, &after);
        }
        after
    }

    fn check(&self, before: &Function, after: &Function, context: &PassContext<'_>) {
        let errors = |f: &Function| match context.module {
            Some(module) => verify(module, f).err(),
            None if needs_module(f) => None,
            None => verify(&Module::default(), f).err(),
        };
        let Some(found) = errors(after) else { return };
        let name = self.name;
        if let Some(found) = errors(before) {
            bug!(
                format_args!("pass `{name}`"),
                before,
                "it was given `{}`, which is malformed: {}",
                before.name,
                found[0]
            );
        }
        let texts = format_args!("before:\n{before}after:\n{after}");
        bug!(format_args!("pass `{name}`"), texts, "it made `{}` malformed: {}", after.name, found[0]);
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pass({})", self.name)
    }
}

/// Functions with at most so many variables are verified after every pass.
const SMALL: usize = 64;

/// Of larger functions, one in so many.
const ROTATION: usize = 8;

/// Whether a run of a pass on this function is verified. To keep what was before costs more than to verify it, so larger
/// functions take turns, by the number of their variables, which changes from pass to pass.
fn is_verified(f: &Function) -> bool {
    cfg!(debug_assertions) && (f.vars.len() <= SMALL || f.vars.len().is_multiple_of(ROTATION))
}

/// Whether only the module of a function knows the types in it.
fn needs_module(f: &Function) -> bool {
    f.custom_vjp.is_some() || f.custom_jvp.is_some() || f.body.callees().next().is_some()
}

// Release builds verify nothing between passes.
#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::pipelines::{Pipeline, Step};
    use cotan_ir::parse_function;
    use cotan_ops::Registry;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Forgets the statement that binds a result.
    static FORGETS: Pass = Pass {
        name: "forgets",
        doc: "The last statement is forgotten.",
        promise: Promise::Bits,
        is_idempotent: false,
        run: |mut f, _| {
            f.body.stmts.pop();
            f
        },
    };

    fn message(f: Function) -> String {
        static FAULTY: Pipeline = Pipeline {
            name: "faulty",
            doc: "",
            is_idempotent: false,
            steps: &[Step::Run(&crate::passes::cse::PASS), Step::Run(&FORGETS)],
        };
        let panic = catch_unwind(AssertUnwindSafe(|| FAULTY.run(f, &PassContext::default())))
            .expect_err("a fault was not found");
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    }

    #[test]
    fn a_pass_that_makes_a_function_malformed_is_named_with_both_texts() {
        let text = "fn f(x: f64) {\n  y: f64 = sin x\n  return y\n}\n";
        let f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"));
        let found = message(f);
        assert!(found.starts_with("bug: pass `forgets`: it made `f` malformed: "), "{found}");
        assert!(found.contains(&format!("before:\n{text}after:\nfn f(x: f64) {{\n")), "{found}");
    }

    #[test]
    fn a_pass_that_is_given_a_malformed_function_is_not_blamed() {
        let text = "fn f(x: f64) {\n  y: f64 = sin x\n  z: f64 = cos y\n  return z\n}\n";
        let mut f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"));
        f.body.stmts.remove(0);
        let found = message(f);
        assert!(found.starts_with("bug: pass `forgets`: it was given `f`, which is malformed: "), "{found}");
    }
}
