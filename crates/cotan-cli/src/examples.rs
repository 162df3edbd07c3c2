//! The examples that `--help` shows: a few command lines for each command, which run in a folder that `cotan new line` makes.

/// What `cotan --help` ends with.
pub(crate) const OVERVIEW: &str = "\
`cotan new line` makes a folder to begin with; the examples of `cotan COMMAND --help` run in it.

Exit codes: 0 done; 1 errors of the program, or a check that failed; 2 wrong usage, or arguments that do not fit;
3 a run-time error of the program; 70 a failure of Cotan itself.";

pub(crate) const RUN: &[&str] = &[
    "cotan run line.cot --fn fit --args points.json --set steps=1000 --set rate=0.1",
    "cotan run line.cot --fn loss --args points.json --set a=2 --set b=1 --out loss.json",
    "cotan run line.cot --fn loss --args '{\"a\": 2, \"b\": 1, \"x\": [0, 1], \"y\": [1, 3]}' --json",
];

pub(crate) const GRAD: &[&str] = &[
    "cotan grad line.cot --fn loss --wrt a,b --args points.json --set a=2 --set b=1 --value",
    "cotan grad line.cot --fn loss --wrt a,b --args points.json --set a=2 --set b=1 --check",
    "cotan grad line.cot --fn loss --wrt x --args points.json --set a=2 --set b=1 --out gradient.npz",
];

pub(crate) const JVP: &[&str] = &[
    "cotan jvp line.cot --fn loss --wrt a,b --args points.json --set a=2 --set b=1 --tangent '{\"a\": 1, \"b\": 0.5}'",
    "cotan jvp line.cot --fn loss --wrt x --args points.json --set a=2 --set b=1 --tangent '{\"x\": [1, 0, 0, 0]}' --json",
];

pub(crate) const VJP: &[&str] = &[
    "cotan vjp line.cot --fn loss --wrt x,y --args points.json --set a=2 --set b=1",
    "cotan vjp line.cot --fn loss --wrt a --args points.json --set a=2 --set b=1 --cotangent '{\"cotangent\": 0.5}'",
];

pub(crate) const JACOBIAN: &[&str] = &[
    "cotan jacobian line.cot --fn slope --wrt a,b --args points.json --set a=2 --set b=1",
    "cotan jacobian line.cot --fn slope --wrt x --args points.json --set a=2 --set b=1 --mode reverse",
];

pub(crate) const HESSIAN: &[&str] = &[
    "cotan hessian line.cot --fn loss --wrt a,b --args points.json --set a=2 --set b=1",
    "cotan hessian line.cot --fn loss --wrt x --args points.json --set a=2 --set b=1 --sparse --spy pattern.svg",
];

pub(crate) const HVP: &[&str] = &[
    "cotan hvp line.cot --fn loss --wrt a,b --args points.json --set a=2 --set b=1 --tangent '{\"a\": 1, \"b\": 0}'",
    "cotan hvp line.cot --fn loss --wrt x --args points.json --set a=2 --set b=1 --tangent '{\"x\": [1, 0, 0, 0]}' --json",
];

pub(crate) const CHECK: &[&str] =
    &["cotan check line.cot", "cotan check . --deny warnings", "cotan check line.cot --fix"];

pub(crate) const FMT: &[&str] = &["cotan fmt .", "cotan fmt --check line.cot"];

pub(crate) const TEST: &[&str] = &["cotan test", "cotan test line.cot --filter points"];

pub(crate) const NEW: &[&str] = &["cotan new line", "cotan new spline"];

pub(crate) const EMIT: &[&str] = &[
    "cotan emit line.cot --stage ir --fn loss --grad a,b",
    "cotan emit line.cot --stage loops --fn fit",
    "cotan emit line.cot --stage passes",
];

pub(crate) const EXPLAIN: &[&str] =
    &["cotan explain linalg.solve", "cotan explain E0301", "cotan explain line.cot --fn fit --grad rate"];

pub(crate) const OPS: &[&str] = &["cotan ops softmax", "cotan ops --module nn", "cotan ops --json"];

pub(crate) const BENCH: &[&str] = &[
    "cotan bench line.cot --fn loss --args points.json --set a=2 --set b=1 --budget 0.1",
    "cotan bench line.cot --fn loss --grad a,b --args points.json --set a=2 --set b=1 --budget 0.1",
];

pub(crate) const DOCTOR: &[&str] = &["cotan doctor", "cotan doctor --json"];

/// Command lines as the end of a help text.
pub(crate) fn text(lines: &[&str]) -> String {
    format!("Examples, in the folder that `cotan new line` makes:\n  {}", lines.join("\n  "))
}
