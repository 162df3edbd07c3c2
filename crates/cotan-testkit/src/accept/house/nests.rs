//! Loop nests as an IR: their interpreter, and both verifiers.

use super::super::suites::{campaign, count, tests};
use super::super::{Line, Measured, Workplace};
use crate::refusals::{Traced, VERIFIERS, traced_files};

pub(super) const LINES: &[Line] = &[
    Line {
        title: "programs of `tests/run` and their gradients on the interpreter of loop nests, for CPUs and for a device, before \
                and after each pass of the nests; their nests for a device have each reduction in one node, and say of each \
                loop that is not sequential that it is independent",
        bar: "all",
        measure: programs,
    },
    Line {
        title: "rules of the verifiers of the core IR and of loop nests, and tests of refusals that quote them",
        bar: "each rule has one, and all of them pass",
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
    let [of_ir, of_nests] = VERIFIERS.map(traced_files);
    let (of_ir, of_nests) = (of_ir?, of_nests?);
    let text = |of: &Traced, result: &str| format!("{} rules, {} tests quote one, {result}", of.n_rules, of.n_tests);
    let wrong = [of_ir.wrong.as_slice(), &of_nests.wrong].concat();
    let text = format!("core IR: {}; loop nests: {}; {wrong:?}", text(&of_ir, &ir), text(&of_nests, &nests));
    Ok(Measured::new(wrong.is_empty(), text))
}
