//! Calls by position, on leaves that a host lends, and what is known of them before.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, Elem, HostValue, TensorMut, TensorRef, Value};
use cotan::{CallError, Compiler, Config, DerivativeForm, Engine, Function, Request, derivative};

const TEXT: &str = "import std.index

struct Line { slope: f64, offset: f64, steps: i64 }
enum Shape { Round(f64), Box(f64, f64) }

fn on_line[N](p: Line, x: f64[N]) -> f64[N] = tabulate(N, |i| p.slope * x[i] + p.offset + (p.steps as f64))

fn loss[N](p: Line, x: f64[N]) -> f64 = +/ on_line(p, x)

fn area(s: Shape) -> f64 = match s { Round(r) => 3 * r * r, Box(a, b) => a * b }

fn padded[N](x: f64[N]) -> f64[N + 2] = tabulate(N + 2, |i| if i < N { x[i] } else { 0.5 })

fn of_size[N](x: f64) -> f64[N] = tabulate(N, |i| x)

fn some[N](x: f64[N]) -> f64[_] = index.compress(x, x .> 0.5)

fn same[N, M](x: f64[N, M], y: f64[N]) -> f64[N] = tabulate(N, |i| x[i, 0] * y[i])
";

fn function(engine: Engine, request: &Request) -> Function {
    let compiler = Compiler::new(Config::default()).unwrap();
    let program = compiler.check("leaves.cot", TEXT);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    compiler.function(&program, request, engine).unwrap()
}

fn on_engines(request: &Request, check: impl Fn(&Function)) {
    [Engine::INTERPRETER, Engine::CPU].into_iter().for_each(|engine| check(&function(engine, request)));
}

fn doubles<'t>(dims: &'t [i64], elements: &'t [f64]) -> TensorRef<'t> {
    TensorRef::new(Elem::F64, dims, elements).unwrap()
}

/// A call whose only result has these extents.
fn called(f: &Function, args: &[TensorRef<'_>], dims: &[i64]) -> Result<Vec<f64>, CallError> {
    let mut room = vec![f64::NAN; dims.iter().product::<i64>() as usize];
    f.call_leaves(args, &mut [TensorMut::new(Elem::F64, dims, room.as_mut_slice()).unwrap()])?;
    Ok(room)
}

#[test]
fn the_leaves_of_a_struct_are_those_of_its_fields() {
    on_engines(&Request::function("on_line"), |f| {
        let steps = TensorRef::i64(&3);
        let args = [doubles(&[], &[2.0]), doubles(&[], &[0.25]), steps, doubles(&[2], &[1.0, -1.0])];
        assert_eq!(called(f, &args, &[2]).unwrap(), [5.25, 1.25]);
        assert_eq!(f.sizes(&args).unwrap(), [2]);
    });
    let request = derivative("loss", DerivativeForm::Grad, &["p", "x"]);
    on_engines(&request, |f| {
        let args = [doubles(&[], &[2.0]), doubles(&[], &[0.25]), TensorRef::i64(&3), doubles(&[2], &[1.0, -4.0])];
        let (mut slope, mut offset, mut x) = ([0.0], [0.0], [0.0; 2]);
        let room = |dims, room| TensorMut::new(Elem::F64, dims, room).unwrap();
        let mut results = [room(&[], &mut slope[..]), room(&[], &mut offset[..]), room(&[2], &mut x[..])];
        f.call_leaves(&args, &mut results).unwrap();
        assert_eq!((slope, offset, x), ([-3.0], [2.0], [2.0; 2]));
    });
}

#[test]
fn the_leaves_of_an_enum_are_its_number_and_all_payloads() {
    on_engines(&Request::function("area"), |f| {
        let zero = doubles(&[], &[0.0]);
        let round = [TensorRef::i64(&0), doubles(&[], &[2.0]), zero, zero];
        assert_eq!(called(f, &round, &[]).unwrap(), [12.0]);
        let sides = [TensorRef::i64(&1), zero, doubles(&[], &[2.0]), doubles(&[], &[3.0])];
        assert_eq!(called(f, &sides, &[]).unwrap(), [6.0]);
    });
}

#[test]
fn sizes_that_follow_from_nothing_stand_behind_the_leaves() {
    on_engines(&Request::function("of_size"), |f| {
        assert_eq!(called(f, &[doubles(&[], &[1.5]), TensorRef::i64(&3)], &[3]).unwrap(), [1.5; 3]);
        let error = called(f, &[doubles(&[], &[1.5])], &[3]).unwrap_err().to_string();
        assert!(error.contains("expected 2 leaves and sizes, found 1"), "{error}");
    });
}

#[test]
fn extents_of_results_are_known_before_the_call_where_sizes_decide_them() {
    let padded = function(Engine::CPU, &Request::function("padded"));
    assert_eq!(padded.result_extents(&[3]).unwrap(), [[Some(5)]]);
    assert_eq!(called(&padded, &[doubles(&[1], &[2.0])], &[3]).unwrap(), [2.0, 0.5, 0.5]);
    let some = function(Engine::INTERPRETER, &Request::function("some"));
    assert_eq!(some.result_extents(&[3]).unwrap(), [[None]]);
    assert!(padded.result_extents(&[]).is_err() && padded.result_extents(&[-1]).is_err());
}

#[test]
fn what_does_not_fit_is_told_as_it_is_of_calls_by_name() {
    let f = function(Engine::CPU, &Request::function("same"));
    let x = doubles(&[2, 1], &[1.0, 2.0]);
    let named =
        |x, y| f.call_into(&[("x", x), ("y", y)], &mut [TensorMut::new(Elem::F64, &[2], &mut [0.0; 2][..]).unwrap()]);
    let single = TensorRef::new(Elem::F32, &[2], &[0.5_f32; 2][..]).unwrap();
    for y in [doubles(&[3], &[1.0; 3]), doubles(&[1, 2], &[1.0; 2]), single] {
        let found = called(&f, &[x, y], &[2]).unwrap_err();
        assert_eq!(found, named(x, y).unwrap_err());
        assert!(found.to_string().contains("argument `y"), "{found}");
    }
    assert!(called(&f, &[x, doubles(&[2], &[1.0; 2])], &[3]).is_err(), "a result of other extents");
    assert_eq!(called(&f, &[x, doubles(&[2], &[3.0, 4.0])], &[2]).unwrap(), [3.0, 8.0]);
}

#[test]
fn threads_that_call_one_function_have_results_of_their_own() {
    let f = function(Engine::CPU, &Request::function("padded"));
    std::thread::scope(|scope| {
        for k in 0..24 {
            let f = &f;
            scope.spawn(move || {
                let number = f64::from(k);
                for _ in 0..200 {
                    assert_eq!(called(f, &[doubles(&[1], &[number])], &[3]).unwrap(), [number, 0.5, 0.5]);
                }
            });
        }
    });
    let x = Arguments::from([("x".to_owned(), HostValue::Tensor(Value::f64s(&[1], &[2.0])))]);
    assert_eq!(f.call(&x).unwrap(), HostValue::f64s(&[3], &[2.0, 0.5, 0.5]));
}
