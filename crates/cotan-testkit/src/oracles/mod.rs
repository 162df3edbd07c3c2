//! Oracles: questions about a program whose answer is known without knowing what it computes.

mod beside_nan;
mod checkpoints;
mod comparison;
mod compiled;
mod device_nests;
mod engines;
mod evaluator;
mod failures;
mod finite_difference;
mod metamorphic;
mod nan_free;
mod nest_runs;
mod nests;
mod output;
mod plain_plans;
mod plans;
mod regions;
mod residues;
mod second_order;
mod split;
mod versions;
mod vulkan;

pub(crate) use beside_nan::beside_nan;
pub use checkpoints::{checkpoints, checkpoints_of_several_schemes};
pub(crate) use comparison::{regrouped, same_bits};
pub(crate) use compiled::{Agreement, Ran, called, interpreted, outcome_of, same_outcome};
pub use compiled::{compiled, compiled_once, compiled_quickly};
pub use device_nests::whole_on_devices;
pub(crate) use engines::close_all;
pub use engines::{dot_product, primal_value, simplified, tape, with_one_zero};
pub use evaluator::evaluator;
pub use failures::failures;
pub use finite_difference::{Difference, finite_difference, numerical_derivative};
pub use metamorphic::metamorphic;
pub use nan_free::{has_nan, nan_free};
pub(crate) use nest_runs::{agree, lowered};
pub use nests::{NestPlace, nests, same_on_nests};
pub use output::output;
pub use plans::{plans, same_on_plan};
pub use regions::{asked_forward, regions};
pub use residues::residues;
pub use second_order::second_order;
pub use split::forward_reverse;
pub use versions::{version_agrees, versions};
pub use vulkan::{OnVulkan, no_vulkan, on_vulkan, same_on_vulkan};

use crate::derived_case::Case;

/// What an oracle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is as it should be.
    Holds,
    /// The oracle cannot tell at this point, for this reason.
    Unusable(String),
    /// It is not, and this is what is wrong.
    Fails(String),
}

impl Verdict {
    /// The verdict of a sequence of checks that stops at the first failure.
    pub fn of(result: Result<(), String>) -> Verdict {
        match result {
            Ok(()) => Verdict::Holds,
            Err(reason) => Verdict::Fails(reason),
        }
    }
}

/// An oracle.
#[derive(Clone, Copy, Debug)]
pub struct Oracle {
    /// Its name in reports.
    pub name: &'static str,
    /// The question.
    pub ask: fn(&Case) -> Verdict,
}

/// The oracles that need first derivatives and the interpreter only, cheap ones first.
pub const FIRST_ORDER: &[Oracle] = &[
    Oracle { name: "value inside a derivative", ask: primal_value },
    Oracle { name: "evaluator = interpreter", ask: evaluator },
    Oracle { name: "simplified = plain", ask: simplified },
    Oracle { name: "dot product", ask: dot_product },
    Oracle { name: "tape", ask: tape },
    Oracle { name: "residues", ask: residues },
    Oracle { name: "failing checks", ask: failures },
    Oracle { name: "fwd and rev", ask: forward_reverse },
    Oracle { name: "checkpoints", ask: checkpoints },
    Oracle { name: "loops forward", ask: regions },
    Oracle { name: "loop nests", ask: nests },
    Oracle { name: "reference device", ask: plans },
    Oracle { name: "traps for NaN", ask: nan_free },
    Oracle { name: "same by other statements", ask: metamorphic },
    Oracle { name: "finite difference", ask: finite_difference },
];

/// The oracle of second derivatives; asks of a case that is derived twice.
pub const SECOND_ORDER: Oracle = Oracle { name: "second order", ask: second_order };

/// The oracle of compiled code, compiled in every way.
pub const COMPILED_IN_EVERY_WAY: Oracle = Oracle { name: "compiled = interpreter", ask: compiled };

/// The oracles of compiled code, which compile a program in one way.
pub const COMPILED: &[Oracle] = &[
    Oracle { name: "compiled = interpreter", ask: compiled_once },
    Oracle { name: "versions = general code", ask: versions },
    Oracle { name: "output", ask: output },
    ON_VULKAN,
];

/// The oracle of a Vulkan device.
pub const ON_VULKAN: Oracle = Oracle { name: "Vulkan", ask: on_vulkan };
