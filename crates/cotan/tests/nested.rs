//! Requests that nest: a derivative of a derivative, asked for by a host, is what the language says of the same forms.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it has compared"
)]

use cotan::host::{Arguments, HostType, HostValue, Value};
use cotan::{CompileError, Compiler, Config, DerivativeForm, Engine, Request, Signature};

const TEXT: &str =
    "fn number[N](w: f64[N], x: f64[N]) -> f64 = +/tabulate(N, |i| sin(w[i] * x[i]) + w[0] * x[i] * x[i])
fn vector[N](w: f64[N], x: f64[N]) -> f64[N] = tabulate(N, |i| exp(0.25 * w[i]) * x[i] + w[0] * w[0])
";

/// A value for each parameter: numbers that follow from its place.
fn argument(ty: &HostType, number: usize) -> HostValue {
    let element = |k: usize| 0.25 + ((number * 7 + k * 3) % 11) as f64 / 8.0;
    let leaves: Vec<Value> = ty
        .leaves()
        .iter()
        .map(|leaf| {
            let dims: Vec<i64> = leaf.dims.iter().map(|dim| dim.as_constant().unwrap_or(2)).collect();
            let n = dims.iter().product::<i64>() as usize;
            Value::f64s(&dims, &(0..n).map(element).collect::<Vec<f64>>())
        })
        .collect();
    cotan::host::rebuild(ty, &mut leaves.into_iter()).unwrap()
}

fn arguments(signature: &Signature) -> Arguments {
    let params = signature.params.iter().enumerate();
    params.map(|(k, param)| (param.name.clone(), argument(&param.ty, k))).collect()
}

/// A derivative, and its parameter.
type Step = (DerivativeForm, &'static str);

/// The forms in the language, around a function.
fn in_language(function: &str, steps: &[Step]) -> String {
    steps.iter().fold(function.to_owned(), |inner, (form, wrt)| format!("{}[{wrt}]({inner})", form.as_str()))
}

/// Compares a chain with the language; whether there is such a derivative.
fn compare(compiler: &Compiler, function: &str, steps: &[Step]) -> bool {
    let program = compiler.check("nested.cot", TEXT);
    assert!(!program.has_errors());
    let request = steps.iter().fold(Request::function(function), |request, (form, wrt)| request.then(*form, &[wrt]));
    let what = in_language(function, steps);
    let chain = match compiler.function(&program, &request, Engine::INTERPRETER) {
        Ok(chain) => chain,
        Err(CompileError::Diagnostics(_)) => return false,
        Err(other) => panic!("{what}: {other}"),
    };
    let signature = chain.signature();
    assert_eq!(&compiler.signature(&program, &request).unwrap(), signature, "{what}");
    let typed = |param: &cotan::host::EntryParam| format!("{}: {}", param.name, signature.show(&param.ty));
    let params: Vec<String> = signature.params.iter().map(typed).collect();
    let names: Vec<&str> = signature.params.iter().map(|param| param.name.as_str()).collect();
    let result = signature.show(&signature.result);
    let text = format!("{TEXT}fn chained[N]({}) -> {result} = {what}({})\n", params.join(", "), names.join(", "));
    let written = compiler.check("written.cot", &text);
    assert!(!written.has_errors(), "{what}: {:?}\n{text}", written.diagnostics);
    let of_language = compiler.function(&written, &Request::function("chained"), Engine::INTERPRETER).unwrap();
    let args = arguments(signature);
    assert_eq!(chain.call(&args), of_language.call(&args), "{what}");
    true
}

#[test]
fn every_chain_of_two_is_that_of_the_language() {
    let compiler = Compiler::new(Config::default()).unwrap();
    let mut n_compared = 0;
    for function in ["number", "vector"] {
        for first in DerivativeForm::ALL {
            for second in DerivativeForm::ALL {
                n_compared += usize::from(compare(&compiler, function, &[(first, "w"), (second, "w")]));
            }
        }
    }
    println!("{n_compared} chains of two");
    assert!(n_compared >= 30, "{n_compared} chains");
}

#[test]
fn chains_of_three_are_those_of_the_language() {
    let compiler = Compiler::new(Config::default()).unwrap();
    let forms = DerivativeForm::ALL;
    let mut n_compared = 0;
    for function in ["number", "vector"] {
        for wrt in [["w", "w", "w"], ["x", "w", "x"]] {
            let chain = |k: usize| [(forms[k % 7], wrt[0]), (forms[k / 7 % 7], wrt[1]), (forms[k / 49], wrt[2])];
            n_compared += (0..forms.len().pow(3)).filter(|k| compare(&compiler, function, &chain(*k))).count();
        }
    }
    println!("{n_compared} chains of three");
    assert!(n_compared >= 200, "{n_compared} chains");
}

#[test]
fn a_chain_that_makes_no_sense_is_refused() {
    let compiler = Compiler::new(Config::default()).unwrap();
    let program = compiler.check("nested.cot", TEXT);
    let request = |forms: &[(DerivativeForm, &str)]| {
        forms.iter().fold(Request::function("number"), |request, (form, wrt)| request.then(*form, &[wrt]))
    };
    let gradient_of_gradient = request(&[(DerivativeForm::Grad, "w"), (DerivativeForm::Grad, "w")]);
    let of_nothing = request(&[(DerivativeForm::Jvp, "w"), (DerivativeForm::Jvp, "v")]);
    for request in [gradient_of_gradient, of_nothing] {
        assert!(compiler.function(&program, &request, Engine::INTERPRETER).is_err(), "{request:?}");
    }
    // What a derivative takes beside the arguments has names of its own.
    let twice = request(&[(DerivativeForm::Jvp, "w"), (DerivativeForm::Jvp, "w")]);
    let signature = compiler.signature(&program, &twice).unwrap();
    let names: Vec<&str> = signature.params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["w", "x", "dw", "ddw"]);
    let back = request(&[(DerivativeForm::Vjp, "w"), (DerivativeForm::Vjp, "w")]);
    let signature = compiler.signature(&program, &back).unwrap();
    assert_eq!(signature.params.last().map(|param| param.name.as_str()), Some("cotangent2"));
}
