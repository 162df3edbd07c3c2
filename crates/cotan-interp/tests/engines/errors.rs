//! Whatever goes wrong is an error of its kind, with its place; nothing panics.

use crate::engines::support::{f64, i64, i64s, module, results, vector};
use cotan_interp::{ArgumentError, Bug, CheckFailure, Limit, Limits, Options, RuntimeError, run};
use cotan_ir::{
    Atom, Block, Builder, CheckKind, Const, Elem, Loop, Module, Op, Par, ParResult, ReversePolicy, Span, Ty,
    parse_module,
};
use cotan_ops::{ADD, Registry, Value};

fn truth(b: bool) -> Value {
    Value::from(Const::bool(b))
}

// ---- checks

#[test]
fn every_kind_of_check_fails_with_its_arguments_and_its_span() {
    for kind in CheckKind::ALL {
        let code = kind.code();
        let text = format!(
            "fn f(c: bool, n: i64, small: u8, x: f64) {{
                y: f64 = check c {code}(n, 7, small, x, true) x @3:14..15
                return y
            }}"
        );
        let args = |c| [truth(c), i64(-2), Value::from(Const::integer(Elem::U8, 200)), f64(1.5)];
        assert_eq!(results(&text, &args(true)), Ok(vec![f64(1.5)]), "{code} holds");
        // Of a NaN the operands are told, whatever their types; a float by its bits.
        let of_operands: &[i128] = &[1.5_f64.to_bits().into(), 1];
        let more = if kind == CheckKind::Nan { of_operands } else { &[] };
        let args_told = [&[-2, 7, 200], more].concat();
        let failure = CheckFailure { kind, args: args_told, span: Span::new(3, 14, 15) };
        assert_eq!(results(&text, &args(false)), Err(RuntimeError::Check(failure)), "{code} fails");
    }
}

#[test]
fn the_first_iteration_that_fails_is_reported() {
    let text = "fn f(n: i64, x: i64[n]) {
        s: i64 = par i < n (add from 0) {
            e: i64 = x[i]
            ok: bool = ge e, 0
            c: i64 = check ok R0001(e, i) e @0:1..2
            small: bool = lt c, 10
            d: i64 = check small R0003(e) c @0:5..6
            yield d
        }
        return s
    }";
    let error = results(text, &[i64(4), i64s(&[1, 20, -3, 4])]).unwrap_err();
    let span = Span::new(0, 5, 6);
    assert_eq!(error, RuntimeError::Check(CheckFailure { kind: CheckKind::IntegerOverflow, args: vec![20], span }));
    assert_eq!(error.to_string(), "integer overflow: operand 20");
}

#[test]
fn a_check_in_an_arm_that_does_not_run_does_not_fail() {
    let text = "fn f(c: bool) {
        a: i64 = switch c {
            yield 1
        } {
            b: i64 = check false R0008(-1) 2
            yield b
        }
        return a
    }";
    assert_eq!(results(text, &[truth(true)]), Ok(vec![i64(1)]));
    let failure = CheckFailure { kind: CheckKind::NegativeSize, args: vec![-1], span: Span::NONE };
    assert_eq!(results(text, &[truth(false)]), Err(RuntimeError::Check(failure)));
}

// ---- arguments

#[test]
fn arguments_must_fit_the_parameters() {
    let text = "fn f(n: i64, x: f64[n, 2]) {
        return x
    }";
    let fits = Value::f64s(&[1, 2], &[1.0, 2.0]);
    let error = |args: &[Value]| match results(text, args) {
        Err(RuntimeError::Argument(e)) => e,
        other => panic!("expected an error of the arguments, found {other:?}"),
    };
    assert_eq!(results(text, &[i64(1), fits.clone()]), Ok(vec![fits.clone()]));
    assert_eq!(error(&[i64(1)]), ArgumentError::Count { expected: 2, found: 1 });
    assert_eq!(
        error(&[f64(1.0), fits.clone()]),
        ArgumentError::Elem { position: 0, expected: Elem::I64, found: Elem::F64 }
    );
    assert_eq!(
        error(&[i64(3), fits.clone()]),
        ArgumentError::Dims { position: 1, expected: vec![3, 2], found: vec![1, 2] }
    );
    assert_eq!(error(&[i64s(&[1]), fits]), ArgumentError::Dims { position: 0, expected: vec![], found: vec![1] });
    let negative = Value { elem: Elem::F64, dims: vec![-1, 2], bits: Vec::new() };
    assert_eq!(
        error(&[i64(-1), negative]),
        ArgumentError::Dims { position: 1, expected: vec![-1, 2], found: vec![-1, 2] }
    );
    let short = Value { elem: Elem::F64, dims: vec![1, 2], bits: vec![0] };
    assert_eq!(error(&[i64(1), short]), ArgumentError::Dims { position: 1, expected: vec![1, 2], found: vec![1, 2] });
}

#[test]
fn an_unknown_function_is_an_error_of_the_caller() {
    let unknown = run(&Module::default(), "g", &[], &Options::default());
    assert_eq!(unknown, Err(RuntimeError::Argument(ArgumentError::UnknownFunction("g".to_owned()))));
}

// ---- limits

fn limited(text: &str, args: &[Value], limits: Limits) -> Result<Vec<Value>, RuntimeError> {
    run(&module(text), "f", args, &Options { limits, ..Options::default() })
}

#[test]
fn a_loop_without_end_stops_at_the_limit_of_steps() {
    let text = "fn f() {
        k: i64, c: bool = while i (go: bool = true) {
            yield go
        }
        return k
    }";
    let limits = Limits { steps: 10_000, ..Limits::default() };
    assert_eq!(limited(text, &[], limits), Err(RuntimeError::Limit(Limit::Steps)));
}

#[test]
fn tensors_of_any_size_stop_at_the_limit_of_bytes_before_they_are_made() {
    let fill = "fn f(n: i64) {
        x: f64[n, n, n] = fill 0.0
        return x
    }";
    let stack = "fn f(n: i64) {
        x: i64[n] = par i < n (stack) {
            yield i
        }
        return x
    }";
    let element_wise = "fn f(n: i64) {
        x: f64[n] = add 0.0, 1.0
        return x
    }";
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    for text in [fill, stack, element_wise] {
        for n in [1 << 20, i64::MAX] {
            let Err(RuntimeError::OutOfMemory(error)) = limited(text, &[i64(n)], limits) else { panic!("{text}") };
            assert!(error.wanted > 1 << 20 || error.held + error.wanted > 1 << 20, "{error}");
            assert_eq!((error.limit, error.site.expect("a site").name.as_ref()), (Some(1 << 20), "x"));
        }
    }
}

#[test]
fn memory_that_is_not_read_again_counts_no_more() {
    let text = "fn f(n: i64, x: f64[n]) {
        y: f64[n] = loop i < n (a: f64[n] = x) {
            b: f64[n] = add a, 1.0
            c: f64[n] = update b[i] = 0.0
            yield c
        }
        return y
    }";
    let limits = Limits { bytes: 3 * 8 * 100, ..Limits::default() };
    let results = limited(text, &[i64(100), vector(&[0.0; 100])], limits).unwrap();
    let expected: Vec<f64> = (0..100).rev().map(f64::from).collect();
    assert_eq!(results, [vector(&expected)]);
}

#[test]
fn p2_memory_for_what_is_stacked_is_asked_for_before_the_first_iteration() {
    // Where an iteration ran, its check would fail.
    let function = |head: &str, given: &str| {
        format!(
            "fn f(n: i64) {{
                {head} {{
                    ok: bool = lt i, 0
                    j: i64 = check ok R0001(i, n) i @0:1..2
                    yield {given}
                }}
                return x
            }}"
        )
    };
    let par = function("x: i64[n] = par i < n (stack)", "j");
    let counted = function("s: i64, x: i64[n] = loop i < n (s1: i64 = 0)", "s1, j");
    for text in [par, counted] {
        for n in [4_000_000_000_000, i64::MAX] {
            let outcome = limited(&text, &[i64(n)], Limits::default());
            let Err(RuntimeError::OutOfMemory(error)) = outcome else { panic!("{text}: {outcome:?}") };
            assert_eq!((error.held, error.site.expect("a site").name.as_ref()), (0, "x"));
        }
        assert!(matches!(limited(&text, &[i64(3)], Limits::default()), Err(RuntimeError::Check(_))));
    }
}

/// `x + 1` under `depth` parallel loops of one iteration.
fn nest(depth: usize) -> Module {
    let mut b = Builder::new();
    let x = b.param("x", Ty::scalar(Elem::F64));
    (0..depth).for_each(|_| b.open_block());
    let mut result = b.prim(ADD.prim(), &[x.into(), Const::f64(1.0).into()]);
    for _ in 0..depth {
        let body = b.close_block(vec![result.into()]);
        let index = b.var("i", Ty::scalar(Elem::I64));
        let init = Const::f64(0.0).into();
        let kind = ParResult::Reduced { monoid: cotan_ir::Monoid::Add, init };
        result = b.finish_par(vec![index], vec![Const::i64(1).into()], vec![kind], Vec::new(), body)[0];
    }
    let mut module = Module::default();
    module.insert(b.finish("f", vec![result.into()]));
    module
}

#[test]
fn a_thousand_nested_blocks_run_and_deeper_ones_are_refused() {
    let options = Options::default();
    assert_eq!(run(&nest(1_000), "f", &[f64(2.0)], &options), Ok(vec![f64(3.0)]));
    let too_deep = run(&nest(2_000), "f", &[f64(2.0)], &options);
    assert_eq!(too_deep, Err(RuntimeError::Limit(Limit::Depth)));
}

#[test]
fn functions_that_call_each_other_without_end_stop_at_the_limit_of_depth() {
    let text = "fn f(x: f64) {
        y: f64 = call g(x)
        return y
    }
    fn g(x: f64) {
        y: f64 = call f(x)
        return y
    }";
    assert_eq!(results(text, &[f64(1.0)]), Err(RuntimeError::Limit(Limit::Depth)));
}

// ---- broken contracts

fn bug(text: &str, args: &[Value]) -> (String, String) {
    let module = parse_module(text, Registry::standard()).unwrap();
    match run(&module, "f", args, &Options::default()) {
        Err(RuntimeError::Bug(Bug { what, statement: Some(statement) })) => (what, statement),
        other => panic!("expected a bug, found {other:?}"),
    }
}

#[test]
fn an_index_out_of_range_is_a_bug_that_shows_the_statement() {
    let text = "fn f(x: f64[3], i: i64) {
        row: f64[2] = par k < 2 (stack) {
            j: i64 = add i, k
            y: f64 = x[j]
            yield y
        }
        return row
    }";
    let expected = ("index [3] out of range of [3]".to_owned(), "y: f64 = x[j]".to_owned());
    assert_eq!(bug(text, &[vector(&[1.0, 2.0, 3.0]), i64(2)]), expected);
    assert_eq!(bug(text, &[vector(&[1.0, 2.0, 3.0]), i64(-1)]).0, "index [-1] out of range of [3]");
}

#[test]
fn writes_that_do_not_fit_are_bugs() {
    let update = "fn f(x: f64[3], n: i64, y: f64[n]) {
        z: f64[3] = update x[] = y
        return z
    }";
    let args = [vector(&[1.0, 2.0, 3.0]), i64(2), vector(&[1.0, 2.0])];
    assert_eq!(bug(update, &args).0, "a value of extents [2] for a place of [3]");
    let acc = "fn f(x: f64[3], n: i64, y: f64[n]) {
        z: f64[3] = par i < 1 acc (a: f64[3] add from x) {
            acc_add a[n] = 1.0
            yield
        }
        return z
    }";
    let args = [vector(&[1.0, 2.0, 3.0]), i64(3), vector(&[0.0; 3])];
    assert_eq!(bug(acc, &args), ("index [3] out of range of [3]".to_owned(), "acc_add a[n] = 1.0".to_owned()));
}

#[test]
fn element_wise_operands_of_different_lengths_are_a_bug() {
    let text = "fn f(n: i64, x: f64[n], m: i64, y: f64[m]) {
        z: f64[n] = add x, y
        return z
    }";
    let (what, statement) = bug(text, &[i64(1), vector(&[1.0]), i64(2), vector(&[1.0, 2.0])]);
    assert_eq!(what, "an operand of extents [2] for a result of [1]");
    assert_eq!(statement, "z: f64[n] = add x, y");
}

#[test]
fn ragged_stacks_are_a_bug() {
    let text = "fn f(n: i64) {
        x: f64[3, n] = par i < 3 (stack) {
            k: i64 = add i, 1
            row: f64[k] = fill 0.0
            yield row
        }
        return x
    }";
    assert_eq!(bug(text, &[i64(1)]).0, "a row of extents [2] among rows of [1]");
}

#[test]
fn logs_with_holes_repetitions_or_another_length_are_bugs() {
    let log = |position: &str, length: &str| {
        format!(
            "fn f() {{
                len: i64, y: i64[len] = loop i < 3 (at: i64 = 0) acc (log: i64[0] log) {{
                    p: i64 = {position}
                    acc_add log[p] = i
                    q: i64 = {length}
                    yield q
                }}
                return y
            }}"
        )
    };
    assert_eq!(
        results(&log("add i, 0", "add i, 1").replace("return y", "return len, y"), &[]).unwrap()[1],
        i64s(&[0, 1, 2])
    );
    let returning = |text: String| text.replace("return y", "return len, y");
    assert_eq!(bug(&returning(log("mul i, 2", "add i, 3")), &[]).0, "position 1 of a log is not written");
    assert_eq!(bug(&returning(log("div i, 2", "add i, 1")), &[]).0, "position 0 of a log is written twice");
    assert_eq!(bug(&returning(log("sub i, 1", "add i, 1")), &[]).0, "a negative position in a log");
    assert_eq!(bug(&returning(log("add i, 0", "add i, 2")), &[]).0, "`y` has extents [4], its value [3]");
}

#[test]
fn negative_extents_are_a_bug() {
    let par = "fn f(n: i64) {
        s: f64 = par i < n (add from 0.0) {
            yield 1.0
        }
        return s
    }";
    assert_eq!(bug(par, &[i64(-1)]).0, "negative extents [-1]");
    let fill = "fn f(n: i64) {
        x: f64[n] = fill 1.0
        return x
    }";
    assert_eq!(bug(fill, &[i64(-4)]).0, "negative extents [-4]");
}

/// What is wrong with a function of one f64 that the verifier refuses.
fn refused(build: impl FnOnce(&mut Builder, Atom)) -> String {
    let mut b = Builder::new();
    let x = b.param("x", Ty::scalar(Elem::F64));
    build(&mut b, x.into());
    let mut module = Module::default();
    module.insert(b.finish("f", vec![x.into()]));
    match run(&module, "f", &[f64(1.0)], &Options::default()) {
        Err(RuntimeError::Bug(Bug { what, .. })) => what,
        other => panic!("expected a bug, found {other:?}"),
    }
}

#[test]
fn modules_that_the_verifier_refuses_are_bugs() {
    let block = |results: Vec<Atom>| Block { stmts: Vec::new(), results };
    let unbound = refused(|b, x| {
        let y = b.var("y", Ty::scalar(Elem::F64));
        b.prim(ADD.prim(), &[x, y.into()]);
    });
    assert_eq!(unbound, "`y` has no value here");
    let no_accumulator = refused(|b, x| b.acc_add(x.var().unwrap(), &[], x));
    assert_eq!(no_accumulator, "a write to what is no accumulator here");
    let par = refused(|b, x| {
        let y = b.var("y", Ty::scalar(Elem::F64));
        let kinds = vec![ParResult::Stacked];
        let body = block(vec![x, x]);
        let par = Par { indices: Vec::new(), extents: Vec::new(), kinds, accs: Vec::new(), body };
        b.push(vec![y], Op::Par(Box::new(par)));
    });
    assert_eq!(par, "a wrong number of results");
    let repeat = refused(|b, x| {
        let index = b.var("i", Ty::scalar(Elem::I64));
        let body = block(Vec::new());
        let repeat = Loop {
            index,
            count: Some(Atom::i64(1)),
            params: Vec::new(),
            inits: vec![x],
            accs: Vec::new(),
            body,
            kept: ReversePolicy::default(),
        };
        b.push(Vec::new(), Op::Loop(Box::new(repeat)));
    });
    assert_eq!(repeat, "a wrong number of results");
    let switch = refused(|b, _| b.push(Vec::new(), Op::Switch { selector: Atom::i64(0), arms: Vec::new() }));
    assert_eq!(switch, "a switch without arms");
}
