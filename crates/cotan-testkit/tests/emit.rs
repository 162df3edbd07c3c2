//! What the gradient of a ten-line function looks like: `tests/emit/logistic.ir` is the text that `emit --stage ir` gives.

use cotan::Request;
use cotan_opt::passes::dce::dce;
use cotan_testkit::files::workspace_file;
use cotan_testkit::frontend::{checked, lower};
use std::fs;

const MOST_STATEMENTS: usize = 40;

#[test]
fn the_gradient_of_a_ten_line_function_is_short_has_source_names_and_nothing_dead() {
    let source = fs::read_to_string(workspace_file("tests/emit/logistic.cot")).expect("the program");
    let program = checked("logistic.cot", &source).expect("a program without errors");
    let lowered = lower(&program, &Request::function("dlogistic")).expect("a gradient");
    let f = lowered.module.function(&lowered.entry.symbol).expect("the entry");

    let snapshot = workspace_file("tests/emit/logistic.ir");
    if std::env::var_os("COTAN_BLESS").is_some() {
        fs::write(&snapshot, f.to_string()).expect("a snapshot that can be written");
    }
    assert_eq!(f.to_string(), fs::read_to_string(&snapshot).expect("the snapshot"));
    assert!(f.n_stmts() <= MOST_STATEMENTS, "{} statements", f.n_stmts());
    for name in ["err", "err_cot", "prob", "score_cot", "w_cot"] {
        assert!(f.vars.iter().any(|v| &*v.name == name), "no variable is named `{name}`");
    }
    assert_eq!(dce(f.as_ref().clone()).body, f.body, "dead statements");
}
