//! The pipelines: lists of passes, and the interpreter that runs them.

use crate::context::PassContext;
use crate::pass::Pass;
use crate::passes;
use Step::{Fixpoint, IfChanged, Run, Then};
use cotan_ir::Function;

/// A list of passes with a name.
#[derive(Debug)]
pub struct Pipeline {
    /// How tests name it.
    pub name: &'static str,
    /// What it makes, in one sentence.
    pub doc: &'static str,
    /// Whether a second run changes nothing.
    pub is_idempotent: bool,
    /// What is done, in order.
    pub steps: &'static [Step],
}

/// One step of a pipeline.
#[derive(Debug)]
pub enum Step {
    /// A pass.
    Run(&'static Pass),
    /// Another pipeline.
    Then(&'static Pipeline),
    /// These steps, again and again until the body stays what it is.
    Fixpoint(&'static [Step]),
    /// A pass, and if it has changed the function these steps.
    IfChanged(&'static Pass, &'static [Step]),
}

/// More rounds than this find nothing in practice; the bound keeps the cost linear.
const MAX_ROUNDS: usize = 8;

/// Repeated expressions, identities, dead code and own-slot accumulators, until nothing changes. Results keep their bits,
/// and errors that somebody needs stay. The function has a table of just its own variables.
pub static SIMPLIFY: Pipeline = Pipeline {
    name: "simplify",
    doc: "Common subexpressions, dead code and needless accumulators, until nothing changes.",
    is_idempotent: true,
    steps: &[
        Fixpoint(&[Run(&passes::cse::PASS), Run(&passes::dce::PASS), Run(&passes::accumulate_to_map::PASS)]),
        Run(&passes::renumber::PASS),
    ],
};

/// What lowered source code goes through before it is run or differentiated. This decides the bits of the primal.
pub static BEFORE_AD: Pipeline = Pipeline {
    name: "before_ad",
    doc: "Inlined and contracted code, with parts of arrays read directly, to be run or differentiated.",
    is_idempotent: true,
    steps: &[
        Run(&passes::inline::PASS),
        Then(&SIMPLIFY),
        IfChanged(&passes::compose_reads::PASS, &[Then(&SIMPLIFY)]),
        IfChanged(&passes::forward_stores::PASS, &[Then(&SIMPLIFY)]),
        Run(&passes::contract_fma::PASS),
        Then(&SIMPLIFY),
    ],
};

/// Small loops written out, small tensors as scalars and the work of branches shared, until nothing changes. For code
/// that is to be run and no more differentiated: what reverse mode records, and how it shares among ties, is decided
/// before.
pub static SCALARIZE: Pipeline = Pipeline {
    name: "scalarize",
    doc: "Unrolled loops, and scalars in the place of small tensors, until nothing changes.",
    is_idempotent: true,
    steps: &[
        Then(&SIMPLIFY),
        Fixpoint(&[
            Run(&passes::unroll::PASS),
            Run(&passes::scalar_replacement::PASS),
            Then(&SIMPLIFY),
            Run(&passes::merge_switches::PASS),
            Then(&SIMPLIFY),
        ]),
    ],
};

/// Scalarized, loop-invariant code outside of loops, work that a zero makes needless in branches, no checks that hold for
/// certain, loops over the same indices fused, and neighbours gathered.
///
/// An element that is read without a check may not be read any earlier; what comes after range analysis reads later, if
/// anything, and finds more where there are no checks.
pub static RESTRUCTURE: Pipeline = Pipeline {
    name: "restructure",
    doc: "Loops without invariant code, needless work and needless checks, fused, with neighbours gathered.",
    is_idempotent: false,
    steps: &[
        Then(&SCALARIZE),
        Run(&passes::licm::PASS),
        Then(&SIMPLIFY),
        Run(&passes::guard_zeros::PASS),
        Then(&SIMPLIFY),
        Run(&passes::eliminate_checks::PASS),
        Then(&SIMPLIFY),
        Run(&passes::fuse::PASS),
        Then(&SIMPLIFY),
        IfChanged(
            &passes::scatter_to_gather::PASS,
            &[
                Then(&SIMPLIFY),
                Run(&passes::fuse::PASS),
                Then(&SIMPLIFY),
                // The ends of what is gathered are conditions that mostly hold.
                Run(&passes::eliminate_checks::PASS),
                Then(&SIMPLIFY),
            ],
        ),
    ],
};

/// What keeps the bits of every result, derivatives included: restructured, reductions over several indices taken as one,
/// and no order for the sake of checks that are gone.
pub static OPTIMIZE: Pipeline = Pipeline {
    name: "optimize",
    doc: "Restructured loops with flat reductions; no sum of a derivative is rounded elsewhere.",
    is_idempotent: false,
    steps: &[
        Then(&RESTRUCTURE),
        Run(&passes::flatten_reductions::PASS),
        Run(&passes::drop_order::PASS),
        Then(&SIMPLIFY),
    ],
};

/// What code goes through last, derivatives written and calls inlined: what was just written is not read again, sums of
/// contributions go straight to where they end up, or are added up by matrix products, or taken before linear maps, which
/// may round them elsewhere, what a derivative would run again is run once, and the rest is optimized.
pub static BEFORE_CODE: Pipeline = Pipeline {
    name: "before_code",
    doc: "Code to be run, and no more to be differentiated.",
    is_idempotent: false,
    steps: &[
        Then(&SIMPLIFY),
        IfChanged(&passes::forward_stores::PASS, &[Then(&SIMPLIFY)]),
        Run(&passes::one_hot::PASS),
        Run(&passes::vector_products::PASS),
        Then(&SIMPLIFY),
        Run(&passes::batch_products::PASS),
        Run(&passes::forward_accumulators::PASS),
        Run(&passes::delay_updates::PASS),
        Run(&passes::recognize_matmul::PASS),
        Then(&SIMPLIFY),
        Run(&passes::region_cse::PASS),
        Then(&SIMPLIFY),
        Run(&passes::region_cse::iteration_values::PASS),
        Then(&SIMPLIFY),
        Then(&RESTRUCTURE),
        // Loops that are fused show what one iteration does to all that it sums up.
        Run(&passes::sum_before_map::PASS),
        Then(&SIMPLIFY),
        IfChanged(
            &passes::distribute_products::PASS,
            &[
                Then(&SIMPLIFY),
                Run(&passes::fuse::PASS),
                Then(&SIMPLIFY),
                // What outer products are no part of any more may be a row from outside, times one number.
                IfChanged(
                    &passes::reassociate::PASS,
                    &[Then(&SIMPLIFY), Run(&passes::sum_before_map::PASS), Then(&SIMPLIFY)],
                ),
            ],
        ),
        Run(&passes::flatten_reductions::PASS),
        Run(&passes::drop_order::PASS),
        Then(&SIMPLIFY),
    ],
};

/// What a version for known small sizes goes through, of code that is ready to be run: loops that are short now are written
/// out, and what is known of sizes drops checks. Nothing is added up in another order.
pub static FOR_SIZES: Pipeline = Pipeline {
    name: "for_sizes",
    doc: "Scalarized code without needless checks, in which every sum keeps its order.",
    is_idempotent: false,
    steps: &[
        Then(&SCALARIZE),
        Run(&passes::licm::PASS),
        Then(&SIMPLIFY),
        Run(&passes::eliminate_checks::PASS),
        Then(&SIMPLIFY),
        Run(&passes::drop_order::PASS),
        Then(&SIMPLIFY),
    ],
};

/// Every pipeline.
pub static PIPELINES: &[&Pipeline] =
    &[&SIMPLIFY, &BEFORE_AD, &SCALARIZE, &RESTRUCTURE, &OPTIMIZE, &BEFORE_CODE, &FOR_SIZES];

/// A function on its own, simplified.
pub fn simplify(f: Function) -> Function {
    SIMPLIFY.run(f, &PassContext::default())
}

impl Pipeline {
    /// Its passes in order; one that stands in it several times is there several times.
    pub fn passes(&self) -> Vec<&'static Pass> {
        self.steps.iter().flat_map(Step::passes).collect()
    }

    /// What the passes make of a function, one after the other.
    pub fn run(&self, f: Function, context: &PassContext<'_>) -> Function {
        run_steps(self.steps, f, context)
    }
}

impl Step {
    fn passes(&self) -> Vec<&'static Pass> {
        let of = |steps: &'static [Step]| steps.iter().flat_map(Step::passes);
        match self {
            Run(pass) => vec![pass],
            Then(pipeline) => pipeline.passes(),
            Fixpoint(steps) => of(steps).collect(),
            IfChanged(pass, then) => std::iter::once(*pass).chain(of(then)).collect(),
        }
    }
}

fn run_steps(steps: &[Step], f: Function, context: &PassContext<'_>) -> Function {
    steps.iter().fold(f, |f, step| run_step(step, f, context))
}

fn run_step(step: &Step, mut f: Function, context: &PassContext<'_>) -> Function {
    match step {
        Run(pass) => pass.apply(f, context),
        Then(pipeline) => pipeline.run(f, context),
        Fixpoint(steps) => {
            for _ in 0..MAX_ROUNDS {
                let before = f.body.clone();
                f = run_steps(steps, f, context);
                if f.body == before {
                    break;
                }
            }
            f
        }
        IfChanged(pass, then) => {
            let changed = pass.apply(f.clone(), context);
            if changed == f { f } else { run_steps(then, changed, context) }
        }
    }
}
