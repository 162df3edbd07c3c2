//! The examples against the values and gradients of ADBench's hand-written C++.

use cotan::host::{Arguments, from_json};
use cotan::{Compiler, Config, Engine, Request};
use cotan_bench::{BlockError, Instance, Settings, compare_blocks, evaluate, measure};
use serde_json::Value as Json;
use std::path::Path;
use std::time::Duration;

/// Relative to the largest entry of a block of parameters.
const TOLERANCE: f64 = 1e-9;

fn read(path: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(examples.join(path)).expect("a file of the repository")
}

fn compiler() -> Compiler {
    Compiler::new(Config::default()).expect("threads")
}

/// An example with its arguments.
fn instance(compiler: &Compiler, objective: &str, data: &str, blocks: &[usize]) -> Instance {
    let file = format!("{objective}/{objective}.cot");
    let source = read(&file);
    let function = Request::function(objective);
    let program = compiler.check(&file, &source);
    let entry = compiler.lower(&program, &function).expect("a function of the example").entry;
    let json: Json = serde_json::from_str(&read(data)).expect("JSON");
    let value = |name: &str, ty| (name.to_owned(), from_json(&json[name], ty).expect("a value of the type"));
    let args: Arguments = entry.params.iter().map(|p| value(&p.name, &p.ty)).collect();
    Instance {
        objective: objective.to_owned(),
        name: data.to_owned(),
        file,
        source,
        function,
        gradient: Some(Request::function(format!("{objective}_gradient"))),
        args,
        blocks: blocks.to_vec(),
    }
}

/// Value and gradient are those of the reference.
fn assert_agrees(compiler: &Compiler, instance: &Instance, reference: &str, engine: Engine) {
    let reference: Json = serde_json::from_str(&read(reference)).expect("JSON");
    let expected = reference["value"].as_f64().expect("a number");
    let gradient: Vec<f64> = reference["gradient"].as_array().expect("a list").iter().flat_map(Json::as_f64).collect();
    let (value, entries) = evaluate(compiler, instance, engine).expect("it runs");
    assert!((value - expected).abs() <= TOLERANCE * expected.abs(), "{value} {expected}");
    let errors = compare_blocks(&entries, &gradient, &instance.blocks).expect("as many entries");
    let errors: Vec<f64> = errors.into_iter().map(BlockError::relative).collect();
    assert!(errors.iter().all(|e| *e <= TOLERANCE), "{errors:?}");
}

#[test]
fn the_mixture_agrees_with_the_reference_when_compiled() {
    let compiler = compiler();
    let instance = instance(&compiler, "gmm", "gmm/data/gmm_d10_K25.json", &[25, 250, 1375]);
    assert_agrees(&compiler, &instance, "gmm/data/gmm_d10_K25.reference.json", Engine::Cpu);
}

#[test]
fn the_lstm_agrees_with_the_reference_on_both_engines() {
    let compiler = compiler();
    let instance = instance(&compiler, "lstm", "lstm/data/lstm_l2_c1024.json", &[224, 42]);
    for engine in [Engine::Cpu, Engine::Interpreter] {
        assert_agrees(&compiler, &instance, "lstm/data/lstm_l2_c1024.reference.json", engine);
    }
}

#[test]
fn a_measurement_tells_value_entries_and_times() {
    let compiler = compiler();
    let instance = instance(&compiler, "lstm", "lstm/data/lstm_l2_c1024.json", &[224, 42]);
    let settings = Settings { engine: Engine::Cpu, threads: 1, budget: Duration::ZERO, fewest_samples: 3 };
    let (measured, entries) = measure(&compiler, &instance, settings).expect("it runs");
    assert_eq!((measured.entries, entries.len(), measured.samples), (266, 266, 3));
    assert!((measured.norm2 - 0.094_741_380_114_460_77).abs() < 1e-12);
    assert!(measured.value.is_some_and(|v| (v - 0.666_665_179_558_852_2).abs() < 1e-12));
    let times = [Some(measured.obj_min), Some(measured.obj_med), measured.grad_min, measured.grad_med];
    assert!(times.iter().all(|t| t.is_some_and(|t| t > 0.0)), "{measured:?}");
}
