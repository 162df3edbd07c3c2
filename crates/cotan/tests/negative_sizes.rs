//! Sizes and extents are never negative, wherever they come from: arguments, sizes by name, flat operands.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, HostValue};
use cotan::{CallError, Compiler, Config, Engine, Function, Request};
use cotan_ir::{Const, Elem};
use cotan_ops::Value;

fn function(text: &str, engine: Engine) -> Function {
    let compiler = Compiler::new(Config::default()).unwrap();
    let program = compiler.check("sizes.cot", text);
    let name = text.split_once("fn ").unwrap().1.split(['[', '(']).next().unwrap();
    compiler.function(&program, &Request::function(name), engine).unwrap()
}

/// The message about arguments that are refused on both engines, with the code of negative sizes.
fn refused(text: &str, args: &[(&str, HostValue)]) -> String {
    let args: Arguments = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let messages = [Engine::INTERPRETER, Engine::CPU].map(|engine| match function(text, engine).call(&args) {
        Err(CallError::Arguments(misfit)) => {
            assert_eq!(misfit.code().as_str(), "A0009", "{text}: {misfit}");
            misfit.to_string()
        }
        other => panic!("{text}: {other:?}"),
    });
    assert_eq!(messages[0], messages[1]);
    messages[0].clone()
}

fn vector(n: usize) -> HostValue {
    HostValue::f64s(&[n as i64], &vec![1.0; n])
}

#[test]
fn d1_a_size_that_an_argument_makes_negative_is_refused_with_what_made_it() {
    let tail = "fn a[N](x: f64[N + 5]) -> f64 = +/ x[0..N]";
    let message =
        "argument `x: f64[N + 5]`: expected an extent of at least 5 on axis 0, found 3: the size `N` would be -2";
    assert_eq!(refused(tail, &[("x", vector(3))]), message);
    assert!(refused(tail, &[("x", vector(0))]).ends_with("found 0: the size `N` would be -5"));
    let conv =
        "fn conv[N, K](x: f64[N + K - 1], w: f64[K]) -> f64[N] = tabulate(N, |i| +/ tabulate(K, |k| x[i + k] * w[k]))";
    let message = refused(conv, &[("x", vector(1)), ("w", vector(3))]);
    assert!(message.contains("at least 2 on axis 0, found 1: the size `N` would be -1"), "{message}");
    let rest = "fn rest[N](x: f64[5 - N]) -> f64 = +/ x";
    assert!(refused(rest, &[("x", vector(7))]).contains("of at most 5 on axis 0, found 7"));
    let pairs = "fn pairs[N](x: f64[2 * N + 4]) -> f64 = +/ x";
    assert!(refused(pairs, &[("x", vector(2))]).contains("the size `N` would be -1"));
    let field = "struct S[N] { x: f64[N + 2] }\nfn field[N](s: S[N]) -> f64 = +/ s.x";
    let text = field.rsplit_once("\n").map(|(of, f)| format!("{f}\n{of}")).unwrap();
    let short = HostValue::Struct(vec![("x".to_owned(), vector(1))]);
    assert!(refused(&text, &[("s", short)]).contains("the size `N` would be -1"));
}

#[test]
fn d1_a_negative_size_by_name_is_refused() {
    let zeros = "fn z[N](x: f64) -> f64[N] = zeros[f64](N) .+ x";
    let args = [("x", HostValue::f64(1.0)), ("N", HostValue::i64(-5))];
    assert_eq!(refused(zeros, &args), "size `N`: expected at least 0, found -5");
}

#[test]
fn d1_an_extent_that_the_sizes_make_negative_is_refused() {
    let shorter = "fn shorter[N](x: f64[N], k: f64[N - 3]) -> f64 = +/ x + +/ k";
    let message = refused(shorter, &[("x", vector(1)), ("k", vector(0))]);
    assert!(message.contains("argument `k`") && message.contains("expected at least 0, found -2"), "{message}");
    let counted = "fn counted(n: i64, x: f64[n - 1]) -> f64 = +/ x";
    assert!(refused(counted, &[("n", HostValue::i64(-4)), ("x", vector(0))]).contains("found -5"));
}

#[test]
fn d1_an_empty_array_of_structs_tells_its_own_extent_and_takes_those_of_its_elements_from_the_sizes() {
    let text = "fn rows[N, M](s: S[N][M], y: f64[N]) -> (f64, i64) = (+/ y, M)\nstruct S[N] { x: f64[N - 2] }";
    let none = HostValue::Array { dims: vec![0], items: Vec::new() };
    let message = refused(text, &[("s", none.clone()), ("y", vector(1))]);
    assert!(message.contains("argument `s`") && message.contains("found -1"), "{message}");
    for engine in [Engine::INTERPRETER, Engine::CPU] {
        let args = [("s".to_owned(), none.clone()), ("y".to_owned(), vector(5))].into_iter().collect();
        let found = function(text, engine).call(&args).map_err(|e| e.to_string());
        assert_eq!(found, Ok(HostValue::Tuple(vec![HostValue::f64(5.0), HostValue::i64(0)])));
    }
}

#[test]
fn d1_values_have_as_many_elements_as_their_extents_say() {
    let sum = "fn sum[N](x: f64[N]) -> f64 = +/ x";
    for (dims, n) in [(vec![5], 2), (vec![-1], 0), (vec![-1], 1), (vec![i64::MAX], 1), (vec![0], 1)] {
        let value = HostValue::Tensor(Value { elem: Elem::F64, dims, bits: vec![0; n] });
        for engine in [Engine::INTERPRETER, Engine::CPU] {
            let args = [("x".to_owned(), value.clone())].into_iter().collect();
            let error = function(sum, engine).call(&args).unwrap_err();
            assert!(matches!(&error, CallError::Arguments(m) if m.code().as_str() == "A0004"), "{value:?}: {error}");
        }
    }
}

#[test]
fn d1_flat_operands_have_no_negative_sizes_and_extents() {
    let text = "fn ends[N](x: f64[N], k: f64[N - 1]) -> f64 = +/ tabulate(N - 1, |i| k[i] * x[i + 1])";
    let number = |n: i64| Value::from(Const::i64(n));
    let none = Value::zeros(Elem::F64, &[0]);
    for engine in [Engine::INTERPRETER, Engine::CPU] {
        let f = function(text, engine);
        for (n, extent) in [(-1, -2), (0, -1), (i64::MIN, i64::MAX)] {
            let operands = [number(n), number(extent), none.clone(), none.clone()];
            for outcome in [f.call_flat(&operands), f.call_again(&operands, Vec::new())] {
                let error = outcome.unwrap_err();
                assert!(matches!(&error, CallError::Arguments(_)), "{n}, {extent}: {error}");
            }
        }
    }
}
