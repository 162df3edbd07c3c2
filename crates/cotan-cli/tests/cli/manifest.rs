//! `cotan ops` and `cotan explain`: the manifest of operations.

use super::Case;
use boon::{Compiler, Schemas};
use serde_json::{Value as Json, json};
use std::path::Path;

fn schema() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/operations.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the schema")).expect("JSON")
}

/// What is wrong with a value by the schema.
fn judge(schema: Json, value: &Json) -> Result<(), String> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    let name = "https://cotan.invalid/operations.schema.json";
    compiler.add_resource(name, schema).map_err(|e| e.to_string())?;
    let at = compiler.compile(name, &mut schemas).map_err(|e| e.to_string())?;
    schemas.validate(value, at).map_err(|e| format!("{e:#}"))
}

/// The objects of a schema that describe properties.
fn described(schema: &Json, at: &str, problems: &mut Vec<String>) {
    let Some(object) = schema.as_object() else { return };
    if let Some(properties) = object.get("properties").and_then(Json::as_object) {
        if object.get("additionalProperties") != Some(&json!(false)) {
            problems.push(format!("{at} admits more properties"));
        }
        if object.get("required").and_then(Json::as_array).map(Vec::len) != Some(properties.len()) {
            problems.push(format!("{at} may lack properties"));
        }
        for (name, property) in properties {
            if property["description"].as_str().is_none_or(|text| !text.ends_with('.')) {
                problems.push(format!("{at}.{name} is not described"));
            }
            described(property, &format!("{at}.{name}"), problems);
        }
    }
    for (name, definition) in object.get("$defs").and_then(Json::as_object).into_iter().flatten() {
        described(definition, name, problems);
    }
    if let Some(items) = object.get("items") {
        described(items, &format!("{at}[]"), problems);
    }
}

#[test]
fn the_manifest_is_one_object_of_the_form_that_the_schema_describes() {
    let manifest = Case::new("").json(&["ops"]);
    judge(schema(), &manifest).expect("it fits");
    let mut problems = Vec::new();
    described(&schema(), "manifest", &mut problems);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(manifest["version"], json!(env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_does_not_fit_the_schema_is_noticed() {
    let manifest = Case::new("").json(&["ops"]);
    let changed = |pointer: &str, value: Json| {
        let mut changed = manifest.clone();
        *changed.pointer_mut(pointer).expect("it is there") = value;
        judge(schema(), &changed).is_err()
    };
    assert!(changed("/operations/0/kind", json!("operator")));
    assert!(changed("/operations/0/operands/0/differentiability", json!("mostly")));
    assert!(changed("/operations/0/tests", json!([])), "an operation without a test");
    assert!(changed("/operations/0/doc", json!(7)));
    assert!(changed("/operations/0/modes", json!({"jvp": true, "vjp": true})), "a field is missing");
    assert!(changed("/operations/0/proof", Json::Null));
    assert!(changed("/operations/0/backends", json!({"interpreter": "native", "cpu": "native", "gpu": "native"})));
}

#[test]
fn the_manifest_lists_primitives_operations_on_tensors_the_prelude_and_the_library() {
    let case = Case::new("");
    let manifest = case.json(&["ops"]);
    let entry = |kind: &str, name: &str| {
        let all = manifest["operations"].as_array().expect("a list");
        all.iter()
            .find(|op| op["kind"] == kind && op["name"] == name)
            .unwrap_or_else(|| panic!("{kind} {name}"))
            .clone()
    };
    let sqrt = entry("primitive", "sqrt");
    assert_eq!(sqrt["modes"], json!({"jvp": true, "vjp": true, "order": null}));
    assert!(sqrt["tests"].as_array().expect("a list").contains(&json!("kinks:sqrt_0")), "{sqrt}");
    let pad = entry("tensor", "pad");
    assert_eq!(pad["operands"][1]["differentiability"], "zero");
    assert_eq!(pad["stablehlo"], json!({"form": "operation", "name": "stablehlo.pad", "reason": null}));
    assert_eq!(entry("prelude", "argmax")["rule"], "zero");
    let solve = entry("library", "std.linalg.solve");
    assert_eq!((&solve["group"], &solve["rule"]), (&json!("std.linalg"), &json!("definition")));
    assert!(solve["tests"].as_array().expect("a list").contains(&json!("cases:linalg/solve__batched")), "{solve}");
}

#[test]
fn the_table_of_operations_is_grouped() {
    let text = Case::new("").run(&["ops"]).stdout;
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(at("arithmetic (primitive)\n") < at("elementary (primitive)\n"));
    assert!(at("std.sort (library)") < at("arithmetic (primitive)\n"), "what programs call stands first");
    assert!(at("prelude (prelude)\n") < at("std.linalg (library): Linear algebra on dense matrices.\n"));
    assert!(at("\n  solve_vector ") > at("std.linalg (library)"));
    assert!(text.ends_with("everything.\n"), "{text}");
}

#[test]
fn each_group_of_operations_is_listed_once() {
    let text = Case::new("").run(&["ops"]).stdout;
    let mut groups: Vec<&str> = text.lines().filter(|line| line.contains(" (primitive)")).collect();
    let n_listed = groups.len();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!((n_listed, groups.len()), (6, 6), "{groups:?}");
}

#[test]
fn a_word_is_searched_in_names_and_descriptions() {
    let case = Case::new("");
    let text = case.run(&["ops", "Softmax"]).stdout;
    assert!(text.starts_with("  std.nn.softmax ") && text.contains("  std.nn.cross_entropy "), "{text}");
    let text = case.run(&["ops", "solve"]).stdout;
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(at("  std.linalg.solve ") < at("  std.linalg.solve_vector "), "exact names stand first: {text}");
    assert!(at("  std.linalg.solve_vector ") < at("\n  solve "), "what programs call stands first: {text}");
    let run = case.run(&["ops", "xyzzy"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("no operation has `xyzzy`"), "{}", run.stderr);
}

#[test]
fn a_module_is_listed_by_its_name() {
    let case = Case::new("");
    let text = case.run(&["ops", "--module", "nn"]).stdout;
    assert!(text.starts_with("std.nn: ") && text.contains("\nimport std.nn\n"), "{text}");
    assert!(text.contains("\n  softmax ") && !text.contains("std.linalg"), "{text}");
    assert_eq!(case.run(&["explain", "std.nn"]).stdout, text);
    assert_eq!(case.run(&["explain", "nn"]).stdout, text);
    let text = case.run(&["ops", "--module", "complex"]).stdout;
    assert!(text.contains("struct complex[T: Float]"), "types stand there too: {text}");
    let run = case.run(&["ops", "--module", "keras"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("`keras` is no module") && run.stderr.contains("`std.nn`"), "{}", run.stderr);
}

#[test]
fn what_stands_in_programs_is_explained() {
    let case = Case::new("");
    for (word, form) in [
        ("while", "while c { ... }"),
        ("grad", "grad[w](loss)(w, x)"),
        ("vmap", "vmap[0](f)(xs)"),
        (".*", "v .* w"),
        ("+/", "+/ v"),
        ("@", "a @ b"),
        ("for", "for i in lo..hi { ... }"),
    ] {
        let text = case.run(&["explain", word]).stdout;
        assert!(text.starts_with(form) && text.contains("\nMore: docs/reference/"), "{word}: {text}");
    }
    let full = case.run(&["explain", "std.linalg.pinv"]).stdout;
    assert_eq!(case.run(&["explain", "linalg.pinv"]).stdout, full);
    assert!(case.run(&["explain", "tabulate"]).stdout.starts_with("tabulate["));
}

#[test]
fn a_name_of_another_language_is_explained_by_what_to_write() {
    let case = Case::new("");
    for (name, code) in [("np.linalg.inv", "`linalg.inverse`"), ("relu6", "`clamp(s, 0.0, 6.0)`"), ("double", "`f64`")]
    {
        let text = case.run(&["explain", name]).stdout;
        assert!(text.contains("other languages") && text.contains(code), "{name}: {text}");
    }
    for (name, own) in [("np.linspace", "shape.linspace"), ("torch.nn.functional.gelu", "nn.gelu"), ("np.clip", "clip")]
    {
        assert_eq!(case.run(&["explain", name]).stdout, case.run(&["explain", own]).stdout);
    }
}

#[test]
fn operations_are_explained_by_their_full_name_or_by_the_last_part_of_it() {
    let case = Case::new("");
    let full = case.run(&["explain", "std.linalg.pinv"]).stdout;
    assert!(full.starts_with("pinv[T: Float, M, N](a: T[M, N], rcond: T = 1e-12) -> T[N, M]\n"), "{full}");
    assert!(full.contains("  a: smooth, derived from the definition\n") || full.contains("  a: piecewise"), "{full}");
    assert_eq!(case.run(&["explain", "pinv"]).stdout, full);
    let both = case.run(&["explain", "solve"]).stdout;
    assert!(both.starts_with("solve(T[.., n, n]") && both.contains("In the library: `std.linalg.solve`"), "{both}");
    let sort = case.run(&["explain", "sort"]).stdout;
    assert!(sort.contains("sort[T: Ord, ..S, N](v: T[..S, N]) -> T[..S, N]"), "{sort}");
}

#[test]
fn a_name_that_is_unknown_gets_a_suggestion() {
    let run = Case::new("").run(&["explain", "std.linalg.sovle"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("did you mean `std.linalg.solve`?"), "{}", run.stderr);
    let run = Case::new("").run(&["explain", "expn"]);
    assert!(run.stderr.contains("did you mean `exp"), "{}", run.stderr);
}
