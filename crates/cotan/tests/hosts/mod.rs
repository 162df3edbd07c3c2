//! The programs of `tests/hosts`, which every host runs: each call gives what the file beside the program says.
//!
//! `COTAN_BLESS=1` writes what the interpreter gives into the files; read the difference before you commit it.

mod coverage;
mod differences;
mod file;
mod slopes;

use cotan::{Compiler, Config, Engine};
use file::{HostProgram, Outcome, Results};

/// How far a derivative of compiled code may be from the interpreter's, relative to the largest entry.
const TOLERANCE: f64 = 1e-12;

/// The same where all floats of a parameter are f32.
const SINGLE_TOLERANCE: f64 = 1e-5;

fn compiler() -> Compiler {
    Compiler::new(Config::default()).expect("a compiler")
}

fn is_blessed() -> bool {
    std::env::var_os("COTAN_BLESS").is_some()
}

/// What is wrong with the calls of a program on an engine.
fn misfits(program: &HostProgram, engine: Engine, found: &[Outcome], expected: &[Outcome]) -> Vec<String> {
    let mut all = Vec::new();
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let place = format!("{}, call {k}, {}", program.name, engine.name());
        match (found, expected) {
            (Ok(found), Ok(expected)) => all.extend(differing(program, engine, &place, found, expected)),
            (Err(found), Err(expected)) if found == expected => {}
            (found, expected) => all.push(format!("{place}: expected {}, found {}", said(expected), said(found))),
        }
    }
    all
}

/// An outcome in a few words.
fn said(outcome: &Outcome) -> String {
    match outcome {
        Ok(_) => "results".to_owned(),
        Err(failure) => format!("the error {}: {}", failure.code, failure.message),
    }
}

/// Results that are not the expected ones.
fn differing(program: &HostProgram, engine: Engine, place: &str, found: &Results, expected: &Results) -> Vec<String> {
    let value = differences::of(&found.value, &expected.value, None).map(|what| format!("{place}, value: {what}"));
    let slopes = program.wrt.iter().zip(found.slopes.iter().zip(&expected.slopes)).filter_map(|(name, (f, e))| {
        let tolerance = if file::is_single(e) { SINGLE_TOLERANCE } else { TOLERANCE };
        let allowed = (engine != Engine::INTERPRETER).then_some(tolerance);
        differences::of(f, e, allowed).map(|what| format!("{place}, {} in {name}: {what}", program.slopes_key()))
    });
    value.into_iter().chain(slopes).collect()
}

#[test]
fn every_call_gives_what_its_file_says_on_both_engines() {
    let compiler = compiler();
    let mut wrong = Vec::new();
    for program in file::all(&compiler) {
        let interpreted = program.outcomes(&compiler, Engine::INTERPRETER);
        let expected = if is_blessed() {
            program.write(&interpreted);
            interpreted
        } else {
            let expected = program.expected();
            wrong.extend(misfits(&program, Engine::INTERPRETER, &interpreted, &expected));
            expected
        };
        let compiled = program.outcomes(&compiler, Engine::CPU);
        wrong.extend(misfits(&program, Engine::CPU, &compiled, &expected));
    }
    assert!(wrong.is_empty(), "{} results are others:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_file_is_in_the_form_that_blessing_writes() {
    let compiler = compiler();
    for program in file::all(&compiler).iter().filter(|_| !is_blessed()) {
        let text = program.rendered(&program.expected());
        assert!(text == program.json, "{}.json is not in its form: write it with COTAN_BLESS=1", program.name);
    }
}
