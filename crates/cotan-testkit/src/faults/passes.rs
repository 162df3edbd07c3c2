//! Faults of passes, one in each of ten: of the core IR, in front of a derivative, and of loop nests.

use super::{Fault, Judge};

/// The faults.
pub(super) const FAULTS_OF_PASSES: &[Fault] = &[
    Fault {
        what: "expressions of one arm are known in the next",
        file: "cotan-opt/src/passes/cse.rs",
        find: "self.known.remove(&key)",
        replace: "self.known.get(&key).copied()",
        judge: Judge::Bisection("cse"),
    },
    Fault {
        what: "an accumulator does not need its start value",
        file: "cotan-opt/src/passes/dce.rs",
        find: "acc.init.into_iter().for_each(|init| self.need_atom(acc.var, init))",
        replace: "()",
        judge: Judge::Bisection("dce"),
    },
    Fault {
        what: "a product that is subtracted is added",
        file: "cotan-opt/src/passes/contract_fma.rs",
        find: "vec![self.negate(a, s, stmts), b, sum.rest]",
        replace: "vec![a, b, sum.rest]",
        judge: Judge::Bisection("contract_fma"),
    },
    Fault {
        what: "indices of two names are never equal",
        file: "cotan-opt/src/passes/forward_stores.rs",
        find: "a.constant().is_some() && b.constant().is_some() && a != b",
        replace: "a != b",
        judge: Judge::Bisection("forward_stores"),
    },
    Fault {
        what: "every copy of a body has the index of the first",
        file: "cotan-opt/src/passes/unroll/mod.rs",
        find: "Atom::i64(rest % n)",
        replace: "Atom::i64(0 * (rest % n))",
        judge: Judge::Bisection("unroll"),
    },
    Fault {
        what: "the factors of a product are not stacked",
        file: "cotan-ad/src/prepare/products.rs",
        find: "p.body.results.insert(p.kinds.len(), p.body.results[k])",
        replace: "()",
        judge: Judge::Bisection("products"),
    },
    Fault {
        what: "the index of the inner loop is that of the outer one",
        file: "cotan-ad/src/prepare/collapse_nests.rs",
        find: "counter(&REM, inner.index)",
        replace: "counter(&DIV, inner.index)",
        judge: Judge::Bisection("collapse_nests"),
    },
    Fault {
        what: "memory that is still in use is taken over",
        file: "cotan-loops/src/buffer_reuse.rs",
        find: "takes_free && *end < at",
        replace: "takes_free",
        judge: Judge::Bisection("reuse_buffers"),
    },
    Fault {
        what: "all pieces of a row of lanes are read at the first",
        file: "cotan-cpu/src/legalize_width.rs",
        find: "self.native(Instruction::Add, Elem::I64, Elem::I64, [first, Operand::i64(before)])",
        replace: "first",
        judge: Judge::Bisection("legalize_width"),
    },
    Fault {
        what: "chunks have no iterations but the odd ones",
        file: "cotan-cpu/src/fork.rs",
        find: "self.i64(Instruction::Div, n_iterations, n_chunks)",
        replace: "Operand::i64(0)",
        judge: Judge::Bisection("fork"),
    },
];
