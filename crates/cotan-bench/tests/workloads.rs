//! The workloads: what the manifest says of them holds, and their gradients are right at small sizes. Nothing is timed here.
//! Programs that are held out are checked and not run.

use crate::examples::instances::compiler;
use cotan::Engine;
use cotan::host::{Arguments, fit_arguments};
use cotan_bench::{
    Found, Instance, MECHANISMS, Sizes, Workload, agreement, evaluate, evaluate_by_tape, workload_instance, workloads,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches/workloads")
}

fn small(workload: &Workload) -> Instance {
    workload_instance(workload, &folder(), Sizes::Small).expect("a program and inputs")
}

#[test]
fn every_workload_is_written_three_times_and_every_folder_is_one() {
    let names: BTreeSet<String> = workloads().expect("a manifest").into_iter().map(|w| w.name).collect();
    for name in &names {
        for file in [format!("{name}.cot"), format!("{name}.cpp"), "in_jax.py".to_owned()] {
            assert!(folder().join(name).join(&file).is_file(), "{name}/{file}");
        }
    }
    let entries = std::fs::read_dir(folder()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let folders = entries.filter(|path| path.is_dir()).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    assert_eq!(folders.collect::<BTreeSet<String>>(), names);
}

#[test]
fn programs_have_no_findings_and_their_inputs_fit() {
    let compiler = compiler(1);
    for workload in workloads().expect("a manifest") {
        for sizes in [Sizes::Small, Sizes::Timed] {
            let instance = workload_instance(&workload, &folder(), sizes).expect("a program and inputs");
            let program = compiler.check(&instance.file, &instance.source);
            assert!(program.diagnostics.is_empty(), "{}: {:?}", workload.name, program.diagnostics);
            for request in std::iter::once(&instance.function).chain(&instance.gradient) {
                let entry = compiler.lower(&program, request).expect("a function of the program").entry;
                fit_arguments(&entry, &instance.args).unwrap_or_else(|error| panic!("{}: {error}", workload.name));
            }
        }
    }
}

#[test]
fn gradients_are_those_of_the_tape_and_of_differences() {
    let compiler = compiler(1);
    for workload in workloads().expect("a manifest").iter().filter(|workload| !workload.is_held_out) {
        let name = &workload.name;
        let instance = small(workload);
        let (value, entries) = evaluate(&compiler, &instance, Engine::INTERPRETER).expect("it runs");
        let wrt: Vec<&str> = workload.differentiated.iter().map(String::as_str).collect();
        let (expected, gradient) = evaluate_by_tape(&compiler, &instance, &wrt).expect("it runs");
        let (ours, tape) = (Found { value, entries: &entries }, Found { value: expected, entries: &gradient });
        agreement(ours, tape, &instance.blocks, instance.tolerance).unwrap_or_else(|error| panic!("{name}: {error}"));

        let direction = direction(&instance.args, &wrt);
        let along = |step: f64| {
            let args = moved(&instance.args, &wrt, step, &direction);
            evaluate(&compiler, &Instance { args, ..instance.clone() }, Engine::INTERPRETER).expect("it runs").0
        };
        let step = 1e-5;
        let difference = (along(step) - along(-step)) / (2.0 * step);
        let parts = || entries.iter().zip(&direction).map(|(entry, by)| entry * by);
        let (slope, scale): (f64, f64) = (parts().sum(), parts().map(f64::abs).sum());
        assert!((difference - slope).abs() <= 1e-6 * scale, "{name}: {difference} and {slope}");
    }
}

/// How far each differentiated element moves in a step of 1: a part of the largest element of its parameter.
fn direction(args: &Arguments, wrt: &[&str]) -> Vec<f64> {
    let of_parameter = |name: &&str| {
        let elements = args[*name].floats();
        let largest = elements.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        (0..elements.len()).map(move |k| largest * (1.0 + k as f64).sin())
    };
    wrt.iter().flat_map(of_parameter).collect()
}

/// Arguments of which the differentiated elements, which lie one after the other in a direction, have moved.
fn moved(args: &Arguments, wrt: &[&str], step: f64, direction: &[f64]) -> Arguments {
    let mut moved = args.clone();
    let mut rest = direction.iter();
    for name in wrt {
        let value = args[*name].map_floats(&mut |x| x + step * rest.next().copied().unwrap_or(0.0));
        moved.insert((*name).to_owned(), value);
    }
    moved
}

#[test]
fn the_manifest_covers_every_mechanism_twice_and_holds_out_half() {
    let all = workloads().expect("a manifest");
    let is_met = |mechanism: u32, held: bool| {
        all.iter().filter(|w| w.is_held_out == held && w.mechanisms.contains(&mechanism)).count()
    };
    for mechanism in MECHANISMS {
        assert!(is_met(mechanism, false) > 0 && is_met(mechanism, true) > 0, "mechanism {mechanism}");
    }
    assert!(all.len() >= 25, "{}", all.len());
    let n_held = all.iter().filter(|workload| workload.is_held_out).count();
    assert!(n_held.abs_diff(all.len() - n_held) <= 1, "{n_held} of {}", all.len());
}
