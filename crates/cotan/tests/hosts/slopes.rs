//! The derivatives in the files, held against finite differences of the interpreter.

use super::file::{self, HostCall, HostProgram, Results};
use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, DerivativeForm, Engine, Function, Request, Subject, check_gradient};

/// How far the parameters are moved.
const STEP: f64 = 1e-5;

/// How far a pullback may be from a difference, relative to the sum of what the entries contribute.
const TOLERANCE: f64 = 1e-6;

/// A direction of ones, some of them negative, that looks like no pattern.
fn sign(k: usize) -> f64 {
    if (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 0 { 1.0 } else { -1.0 }
}

fn inner(a: &HostValue, b: &HostValue) -> f64 {
    a.floats().iter().zip(b.floats()).map(|(a, b)| a * b).sum()
}

/// The arguments with the parameters of `wrt` moved by `step` along the direction.
fn moved(program: &HostProgram, call: &HostCall, step: f64) -> Arguments {
    let mut args = call.args.clone();
    let mut k = 0;
    for name in &program.wrt {
        let value = args.get_mut(name).expect("an argument");
        *value = value.map_floats(&mut |x| {
            k += 1;
            x + step * sign(k)
        });
    }
    args
}

/// A gradient, by the check of the command line.
fn check_number(compiler: &Compiler, program: &HostProgram, function: &Function, call: &HostCall, results: &Results) {
    let forward = program.bind(compiler, &program.derivative(DerivativeForm::Jvp), Engine::INTERPRETER);
    let mut other_mode = |tangents: &[HostValue]| {
        let names = forward.signature().params.iter().skip(program.signature.params.len());
        let mut args = call.args.clone();
        args.extend(names.map(|param| param.name.clone()).zip(tangents.iter().cloned()));
        let tangent = forward.call(&args)?.into_parts().pop();
        Ok(tangent.map_or(f64::NAN, |tangent| tangent.floats().first().copied().unwrap_or(f64::NAN)))
    };
    let (args, wrt, gradient) = (&call.args, program.wrt.as_slice(), results.slopes.as_slice());
    let subject = Subject { function, args, wrt, gradient, other_mode: &mut other_mode };
    let check = check_gradient(subject, None, &mut |_, _| {});
    let check = check.unwrap_or_else(|e| panic!("{}: {e}", program.name));
    assert!(check.is_ok(), "{}: {:?}", program.name, check.parameters);
}

/// A pullback, by one central difference along a direction.
fn check_pullback(program: &HostProgram, function: &Function, call: &HostCall, results: &Results) {
    let cotangent = call.cotangent.as_ref().unwrap_or_else(|| panic!("{}: no cotangent", program.name));
    let at = |step: f64| {
        let value = function.call(&moved(program, call, step));
        inner(&value.unwrap_or_else(|e| panic!("{}: {e}", program.name)), cotangent)
    };
    let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
    let slopes: Vec<f64> = results.slopes.iter().flat_map(HostValue::floats).collect();
    let along: f64 = slopes.iter().enumerate().map(|(k, slope)| slope * sign(k + 1)).sum();
    let size: f64 = slopes.iter().map(|slope| slope.abs()).sum();
    let error = (difference - along).abs();
    assert!(
        error <= TOLERANCE * size.max(1.0),
        "{}: the pullback gives {along} along a direction, differences give {difference}",
        program.name
    );
}

#[test]
fn every_derivative_agrees_with_finite_differences() {
    let compiler = super::compiler();
    for program in file::all(&compiler).iter().filter(|_| !super::is_blessed()) {
        let function = program.bind(&compiler, &Request::function(&program.function), Engine::INTERPRETER);
        for (call, expected) in program.calls.iter().zip(program.expected()) {
            let Ok(results) = expected else { continue };
            if program.has_gradient() {
                check_number(&compiler, program, &function, call, &results);
            } else {
                check_pullback(program, &function, call, &results);
            }
        }
    }
}
