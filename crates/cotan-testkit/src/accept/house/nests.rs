//! Loop nests as an IR: their interpreter, and both verifiers.

use super::super::suites::{campaign, count, tests};
use super::super::{Line, Measured, Workplace};

pub(super) const LINES: &[Line] = &[
    Line {
        title: "programs of `tests/run` and their gradients on the interpreter of loop nests, for CPUs and for a device, before \
                and after each pass of the nests; their nests for a device have each reduction in one node, and say of each \
                loop that is not sequential that it is independent",
        bar: "all",
        measure: programs,
    },
    Line {
        title: "tests of refusals of the verifiers of the core IR and of loop nests; that each rule has one is not counted",
        bar: "all of them pass",
        measure: refusals,
    },
];

fn programs(place: &Workplace) -> Result<Measured, String> {
    let n = count("tests/run");
    let name = "run::programs_give_the_same_on_the_interpreter_of_loop_nests";
    let result = campaign(place, "cotan-testkit", &["--test", "all", name])?;
    Ok(Measured::new(n >= 486, format!("{n} programs; {result}")))
}

fn refusals(place: &Workplace) -> Result<Measured, String> {
    let ir = tests(place, "cotan-ir", &["--test", "all", "verify::"], "")?;
    let nests = tests(place, "cotan-loops", &["--test", "all", "verify::"], "")?;
    Ok(Measured::new(true, format!("core IR: {ir}; loop nests: {nests}")))
}
