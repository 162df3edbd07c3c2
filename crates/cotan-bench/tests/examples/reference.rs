//! The examples against the values and gradients of ADBench's hand-written C++.

use crate::examples::instances::{compiler, instance, read};
use cotan::{Compiler, Engine};
use cotan_bench::{Block, BlockError, Instance, Settings, compare_blocks, evaluate, measure};
use serde_json::Value as Json;
use std::time::Duration;

/// Relative to the largest entry of a block of parameters.
const TOLERANCE: f64 = 1e-9;

fn numbers(reference: &Json, key: &str) -> Vec<f64> {
    reference[key].as_array().expect("a list").iter().flat_map(Json::as_f64).collect()
}

fn worst(errors: Option<Vec<BlockError>>) -> f64 {
    errors.expect("as many entries").into_iter().map(BlockError::relative).max_by(f64::total_cmp).unwrap_or(0.0)
}

/// Value and gradient are those of the reference.
fn assert_agrees(compiler: &Compiler, instance: &Instance, reference: &str, engine: Engine) {
    let reference: Json = serde_json::from_str(&read(reference)).expect("JSON");
    let expected = reference["value"].as_f64().expect("a number");
    let gradient = numbers(&reference, "gradient");
    let (value, entries) = evaluate(compiler, instance, engine).expect("it runs");
    assert!((value - expected).abs() <= TOLERANCE * expected.abs(), "{value} {expected}");
    assert!(worst(compare_blocks(&entries, &gradient, &instance.blocks)) <= TOLERANCE);
}

#[test]
fn the_mixture_agrees_with_the_reference_when_compiled() {
    let compiler = compiler(1);
    let instance =
        instance(&compiler, "gmm", "gmm/data/gmm_d10_K25.json", &[("alphas", 25), ("means", 250), ("icf", 1375)]);
    assert_agrees(&compiler, &instance, "gmm/data/gmm_d10_K25.reference.json", Engine::CPU);
}

#[test]
fn the_lstm_agrees_with_the_reference_on_both_engines() {
    let compiler = compiler(1);
    let instance = instance(&compiler, "lstm", "lstm/data/lstm_l2_c1024.json", &[("weights", 224), ("extra", 42)]);
    for engine in [Engine::CPU, Engine::INTERPRETER] {
        assert_agrees(&compiler, &instance, "lstm/data/lstm_l2_c1024.reference.json", engine);
    }
}

#[test]
fn every_observation_of_bundle_adjustment_has_the_block_of_the_reference() {
    let compiler = compiler(1);
    let instance = instance(&compiler, "ba", "ba/data/ba1.json", &[]);
    let reference: Json = serde_json::from_str(&read("ba/data/ba1.reference.json")).expect("JSON");
    for engine in [Engine::CPU, Engine::INTERPRETER] {
        let (_, entries) = evaluate(&compiler, &instance, engine).expect("it runs");
        assert_eq!(entries.len(), 3 * 30 + 3);
        for block in entries[..90].chunks(30) {
            let errors = compare_blocks(
                &block[..8],
                &numbers(&reference, "first"),
                &Block::in_order(&[("rotation", 3), ("centre", 3), ("focal length", 1), ("principal point", 1)]),
            );
            assert!(worst(errors) <= TOLERANCE, "{block:?}");
        }
        let last = compare_blocks(&entries[90..], &numbers(&reference, "last"), &Block::in_order(&[("weights", 3)]));
        assert!(worst(last) <= TOLERANCE);
    }
}

#[test]
fn the_hands_agree_with_the_reference_on_both_engines() {
    let compiler = compiler(1);
    for (objective, columns) in [("hand", 26), ("hand_c", 28)] {
        let names: Vec<String> = (0..columns).map(|k| format!("column {k}")).collect();
        let blocks: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 30)).collect();
        let instance = instance(&compiler, objective, &format!("hand/data/{objective}.json"), &blocks);
        let reference = read(&format!("hand/data/{objective}.reference.json"));
        let reference: Json = serde_json::from_str(&reference).expect("JSON");
        for engine in [Engine::CPU, Engine::INTERPRETER] {
            let (_, entries) = evaluate(&compiler, &instance, engine).expect("it runs");
            let errors = compare_blocks(&entries, &numbers(&reference, "jacobian"), &instance.blocks);
            assert!(worst(errors) <= TOLERANCE, "{objective} on {engine:?}");
        }
    }
}

#[test]
fn a_measurement_tells_value_entries_and_times() {
    let compiler = compiler(1);
    let instance = instance(&compiler, "lstm", "lstm/data/lstm_l2_c1024.json", &[("weights", 224), ("extra", 42)]);
    let settings = Settings { engine: Engine::CPU, threads: 1, budget: Duration::ZERO, fewest_samples: 3 };
    let (measured, entries) = measure(&compiler, &instance, settings).expect("it runs");
    assert_eq!((measured.entries, entries.len(), measured.samples), (266, 266, 3));
    assert!((measured.norm2 - 0.094_741_380_114_460_77).abs() < 1e-12);
    assert!(measured.value.is_some_and(|v| (v - 0.666_665_179_558_852_2).abs() < 1e-12));
    let times = [Some(measured.obj_min), Some(measured.obj_med), measured.grad_min, measured.grad_med];
    assert!(times.iter().all(|t| t.is_some_and(|t| t > 0.0)), "{measured:?}");
}
