//! `cotan check`, `emit`, `explain`, `ops`, `bench`, `doctor`.

use crate::cli::{Case, LOSS, LOSS_ARGS};
use serde_json::{Value as Json, json};

#[test]
fn a_program_without_faults_passes_the_check() {
    let case = Case::new(LOSS);
    assert_eq!(case.json(&["check", "program.cot"]), json!({"diagnostics": []}));
    let run = case.run(&["check", "program.cot"]);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", "0 errors, 0 warnings\n"));
}

#[test]
fn the_check_reports_errors_of_all_files() {
    let case = Case::new("fn f() -> f64 = a\nfn g() -> f64 = b");
    case.write("second.cot", b"fn h() -> f64 = c");
    let run = case.run(&["check", "program.cot", "second.cot", "--json"]);
    assert_eq!(run.status, Some(1));
    let found = run.json();
    let places: Vec<(&str, u64)> = found["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|d| (d["file"].as_str().unwrap_or_default(), d["line"].as_u64().unwrap_or_default()))
        .collect();
    assert_eq!(places, [("program.cot", 1), ("program.cot", 2), ("second.cot", 1)]);
    for key in ["severity", "code", "message", "column", "end_line", "end_column", "help", "related", "fix"] {
        assert!(found["diagnostics"][0].get(key).is_some(), "{key}");
    }
}

#[test]
fn warnings_fail_only_where_they_are_denied() {
    // The cast to an integer cuts every path from the parameter to the result.
    let case = Case::new("fn f(x: f64) -> f64 = (x as i64) as f64\n@grad(x) fn df(x: f64) -> f64 = f(x)");
    let run = case.run(&["check", "program.cot", "--json"]);
    assert_eq!(run.status, Some(0), "{}", run.stdout);
    assert_eq!(run.json()["diagnostics"][0]["severity"], json!("warning"));
    assert_eq!(case.run(&["check", "program.cot", "--deny", "warnings"]).status, Some(1));
}

#[test]
fn notes_are_told_and_never_counted() {
    let case = Case::new("fn f(x: f64) -> f64 = x * ((x as i64) as f64)\n@grad(x) fn df(x: f64) -> f64 = f(x)");
    let run = case.run(&["check", "program.cot", "--json", "--deny", "warnings"]);
    assert_eq!(run.status, Some(0), "{}", run.stdout);
    let note = &run.json()["diagnostics"][0];
    assert_eq!((&note["severity"], &note["code"]), (&json!("note"), &json!("N0501")));
    let run = case.run(&["check", "program.cot", "--deny", "warnings"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("note[N0501]: a cast to an integer ends one of the ways from `x`"), "{}", run.stderr);
    assert!(run.stderr.contains("0 errors, 0 warnings"), "{}", run.stderr);
}

#[test]
fn every_stage_is_printed() {
    let case = Case::new(LOSS);
    for (stage, text) in [
        ("ast", "dloss_dw"),
        ("ir", "fn dloss_dw("),
        ("loops", "fn dloss_dw("),
        ("device-loops", " into "),
        ("plan", "launch kernel 0"),
        ("llvm", "define "),
        ("asm", "ret"),
        ("dot", "digraph cotan {"),
    ] {
        let all = case.run(&["emit", "program.cot", "--stage", stage]);
        assert_eq!(all.status, Some(0), "{stage}: {}", all.stderr);
        assert!(all.stdout.contains(text), "{stage}: {}", all.stdout);
        let one = case.run(&["emit", "program.cot", "--stage", stage, "--fn", "loss"]);
        assert_eq!(one.status, Some(0), "{stage}: {}", one.stderr);
        assert!(one.stdout.len() < all.stdout.len(), "{stage}");
    }
}

#[test]
fn a_program_is_printed_after_a_pass() {
    let case = Case::new(LOSS);
    let run = case.run(&["emit", "program.cot", "--after", "contract_fma", "--fn", "loss"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("fn loss("), "{}", run.stdout);
    let run = case.run(&["emit", "program.cot", "--after", "vectorise"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("fn loss(") && run.stdout.contains("  for "), "{}", run.stdout);
    let run = case.run(&["emit", "program.cot", "--after", "contract_fmo"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("there is no pass `contract_fmo`"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `contract_fma`? The passes are `accumulate_to_map`,"), "{}", run.stderr);
    let run = case.run(&["emit", "program.cot", "--after", "trap_nan"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("the pass `trap_nan` does not run on the way of this program"), "{}", run.stderr);
}

#[test]
fn every_pass_is_listed_with_its_runs() {
    let run = Case::new(LOSS).run(&["emit", "program.cot", "--stage", "passes"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let lines: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), cotan::emit::passes().count(), "{}", run.stdout);
    let n_runs = |name: &str| lines.iter().find(|l| l[0] == name).and_then(|l| l[1].parse::<usize>().ok());
    assert!(n_runs("cse") > Some(0) && n_runs("trap_nan") == Some(0), "{}", run.stdout);
}

#[test]
fn enums_and_patterns_stand_in_the_tree() {
    let case = Case::new(
        "enum Shape { Dot, Circle(f64), Box { w: f64 } }\n\
         fn f(s: Shape) -> f64 = match s { Dot | Circle(_) => 1.0, Shape.Box { w, .. } if w > 1.0 => w, _ => 0.0 }",
    );
    let tree = case.run(&["emit", "program.cot", "--stage", "ast"]);
    assert_eq!(tree.status, Some(0), "{}", tree.stderr);
    let words: Vec<&str> = tree.stdout.split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "(enum Shape (variant Dot) (variant Circle f64) (variant Box (field w f64))) (fn f (param s Shape) (result f64) \
         (match s (=> (or Dot (variant Circle _)) 1.0) (=> (struct Shape.Box (w w) ..) (if (infix w > 1.0)) w) \
         (=> _ 0.0)))"
    );
}

#[test]
fn a_gradient_is_printed_without_a_declaration_and_with_names_of_the_source() {
    let case = Case::new(LOSS);
    let run = case.run(&["emit", "program.cot", "--stage", "ir", "--fn", "loss", "--grad", "w"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("err_cot"), "{}", run.stdout);
}

#[test]
fn operations_and_codes_are_explained() {
    let case = Case::new("");
    let text = case.run(&["explain", "sqrt"]).stdout;
    assert!(text.starts_with("sqrt(x: T) -> T") && text.contains("kinks: "), "{text}");
    let text = case.run(&["explain", "r0001"]).stdout;
    assert!(text.starts_with("R0001: index out of range\n") && text.contains("Reported for:"), "{text}");
    let run = case.run(&["explain", "frobnicate"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("`frobnicate` is neither a word of programs nor a code"), "{}", run.stderr);
}

#[test]
fn records_of_a_gradient_are_explained_at_their_loop() {
    let case = Case::new(
        "@mode(reverse) fn f(x: f64, n: i64) -> f64 {\n  let mut y = x\n  for i in 0..n {\n    y = sin(y) * y\n  }\n  y\n}\n\
         fn g(x: f64) -> f64 = x * x\n\
         fn h(x: f64, n: i64) -> f64 {\n  let mut y = x\n  for i in 0..n { y = sin(y) * y }\n  y\n}",
    );
    let text = case.run(&["explain", "program.cot", "--fn", "f", "--grad", "x"]).stdout;
    assert!(text.contains("program.cot:3:3: for i in 0..n {") && text.contains("records `"), "{text}");
    let text = case.run(&["explain", "program.cot", "--fn", "h", "--grad", "x"]).stdout;
    assert!(text.contains("differentiated forward, with a tangent for `y`"), "{text}");
    let text = case.run(&["explain", "program.cot", "--fn", "g", "--grad", "x"]).stdout;
    assert!(text.contains("Nothing is recorded"), "{text}");
}

#[test]
fn with_arguments_the_formulas_of_an_explanation_have_numbers() {
    let case = Case::new(
        "@mode(reverse) fn f(x: f64, n: i64) -> f64 {\n  let mut y = x\n  for i in 0..n { y = y * y }\n  y\n}\n\
         @mode(reverse) fn root(a: f64) -> f64 {\n  let mut y = a\n  while y > 1.0 { y = 0.25 * y * y / a }\n  y\n}",
    );
    let command = ["explain", "program.cot", "--fn", "f", "--grad", "x", "--set", "x=0.5", "--set", "n=1000"];
    let text = case.run(&command).stdout;
    assert!(text.contains("records `y`: 8 * n = 8000 bytes"), "{text}");
    let object = case.json(&command);
    assert_eq!(object["loops"][0]["records"][0]["bytes"], "8 * n");
    assert_eq!((&object["peak_bytes"], &object["written_bytes"]), (&json!(8000), &json!(8000)));
    // Only a run tells how often this loop runs: from 8 it is 2, then 0.125.
    let object = case.json(&["explain", "program.cot", "--fn", "root", "--grad", "a", "--set", "a=8"]);
    assert_eq!(object["peak_bytes"], json!(16));
}

#[test]
fn a_benchmark_prints_the_object_of_the_bench_crate() {
    let case = Case::new(LOSS);
    case.write("args.json", LOSS_ARGS);
    let bench = ["bench", "program.cot", "--fn", "loss", "--args", "args.json", "--budget", "0"];
    let report = case.json(&[&bench[..], &["--grad", "w"]].concat());
    assert_eq!(
        (&report["objective"], &report["value"], &report["entries"]),
        (&json!("loss"), &json!(12.25), &json!(3))
    );
    for key in ["compile_s", "first_call_s", "obj_min", "obj_med", "grad_min", "grad_med"] {
        assert!(report[key].as_f64().is_some_and(|s| s > 0.0), "{key}: {report}");
    }
    assert_eq!(report["samples"], json!(3));
    let report = case.json(&bench);
    assert_eq!((&report["grad_min"], &report["entries"]), (&Json::Null, &json!(0)));
}

#[test]
fn a_profile_names_the_loop_nests_of_the_gradient() {
    let case = Case::new(LOSS);
    case.write("args.json", LOSS_ARGS);
    let bench = ["bench", "program.cot", "--fn", "loss", "--args", "args.json", "--budget", "0", "--grad", "w"];
    assert!(case.json(&bench)["profile"].is_null());
    let profile = &case.json(&[&bench[..], &["--profile"]].concat())["profile"];
    let nests = profile["nests"].as_array().expect("nests");
    assert!(!nests.is_empty() && profile["peak"].is_null(), "{profile}");
    for nest in nests {
        let within = 0.0..=profile["seconds"].as_f64().expect("a time");
        assert!(nest["seconds"].as_f64().is_some_and(|s| within.contains(&s)), "{profile}");
    }
    for count in ["flops", "bytes"] {
        assert!(nests.iter().filter_map(|nest| nest[count].as_i64()).sum::<i64>() > 0, "{count}: {profile}");
    }
    let run = case.run(&[&bench[..], &["--profile"]].concat());
    assert!(run.stdout.contains("      MB     GB/s  nest\n"), "{}", run.stdout);
    assert!(run.stdout.ends_with("everything else\n"), "{}", run.stdout);
    let run = case.run(&[&bench[..], &["--profile", "--backend", "interp"]].concat());
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.starts_with("error[U0002]: `--profile` looks into compiled code"), "{}", run.stderr);
}

/// Sums, elementary functions, a product that the library does, and a gradient through them.
#[cfg(target_arch = "x86_64")]
const MIXED: &str = "fn mixed[N](a: f64[N, N]) -> f64 {
  let b = a @ sin(a)
  +/[all] exp(b .* 0.01) + 1 / (1 + norm(b[0]))
}
fn main() -> (f64, f64[40, 40]) =
  value_and_grad(mixed)(tabulate([40, 40], |i, j| cos((i * 40 + j) as f64)) : f64[40, 40])
";

#[cfg(target_arch = "x86_64")]
#[test]
fn an_instruction_set_limits_the_code_and_changes_no_bit() {
    let case = Case::new(MIXED);
    let whole = case.json(&["run", "program.cot"])["result"].clone();
    let limited = case.run(&["run", "program.cot", "--cpu", "x86-64-v3", "--json"]);
    if limited.stderr.contains("this machine is no x86-64-v3") {
        return;
    }
    assert_eq!(serde_json::from_str::<Json>(&limited.stdout).expect("an object")["result"], whole);
    let assembly = case.run(&["emit", "program.cot", "--stage", "asm", "--fn", "mixed", "--cpu", "x86-64-v3"]);
    assert!(assembly.stdout.contains("%ymm") && !assembly.stdout.contains("%zmm"), "{}", assembly.stderr);
    let run = case.run(&["run", "program.cot", "--cpu", "x86-64-v2"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("expected x86-64-v3 or x86-64-v4"), "{}", run.stderr);
}

#[test]
fn the_doctor_says_what_it_found() {
    let case = Case::new("");
    let report = case.json(&["doctor"]);
    assert!(report["threads"].as_u64().is_some_and(|n| n > 0));
    let found = report["llvm"].is_object();
    assert_eq!(report["missing"].is_null(), found);
    assert_eq!(report["llvm"]["origin"].is_string(), found);
    assert!(report["checker"].is_null() || report["checker"].is_string());
    // A name that means another library in another folder is refused, and said to be.
    let mut command = case.command(&["doctor"]);
    command.env("COTAN_LLVM", "./libLLVM.so");
    let text = String::from_utf8(command.output().expect("the command runs").stdout).expect("text");
    let refused = "  refused  (named by the user) ./libLLVM.so: expected an absolute path";
    assert!(text.contains(refused), "{text}");
    let mut command = case.command(&["doctor"]);
    command.env("COTAN_LLVM", "none");
    let text = String::from_utf8(command.output().expect("the command runs").stdout).expect("text");
    assert!(text.contains("LLVM       none") && text.contains("install libLLVM"), "{text}");
}
