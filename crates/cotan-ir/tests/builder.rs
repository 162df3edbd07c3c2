//! What the builder infers, what copies rename, what blocks use.

use crate::table;

use cotan_ir::{
    Acc, AccKind, Atom, Builder, CheckKind, Const, Dim, Elem, Env, Function, Loop, Module, Monoid, Op, OpLookup,
    ParResult, Prim, Record, ReversePolicy, Span, Stmt, Ty, Var, free_vars, verify, written_accs,
};
use table::{Table, function, module};

fn prim(name: &str) -> Prim {
    Table.prim(name).expect("in the table")
}

fn i64_scalar() -> Ty {
    Ty::scalar(Elem::I64)
}

fn zero() -> Atom {
    Const::f64(0.0).into()
}

/// Holds a built function against its text, and against the rules.
fn check(f: &Function, expected: &str) {
    assert_eq!(f.to_string(), expected);
    assert_eq!(verify(&Module::default(), f), Ok(()));
}

/// Parameters `n: i64, a: f64[n, 3], c: bool`.
fn start() -> (Builder, Var, Var, Var) {
    let mut b = Builder::new();
    let n = b.param("n", i64_scalar());
    let a = b.param("a", Ty::new(Elem::F64, vec![n.into(), Dim::Const(3)]));
    let c = b.param("c", Ty::scalar(Elem::Bool));
    (b, n, a, c)
}

#[test]
fn straight_line_results_have_the_types_of_their_operations() {
    let (mut b, n, a, c) = start();
    let row = b.named("row").index(a.into(), &[Atom::i64(0)]);
    let doubled = b.prim(prim("mul"), &[Const::f64(2.0).into(), row.into()]);
    let mask = b.named("mask").prim(prim("lt"), &[doubled.into(), row.into()]);
    let chosen = b.prim(prim("select"), &[mask.into(), zero(), row.into()]);
    let updated = b.update(a.into(), &[Atom::i64(1)], chosen.into());
    let transpose = Table.tensor_op("transpose").expect("in the table");
    let turned = b.tensor(transpose, &[updated.into()], &[1, 0], Ty::new(Elem::F64, vec![Dim::Const(3), n.into()]));
    let checked = b.check(c.into(), CheckKind::ShapeMismatch, &[n.into()], turned.into(), None);
    check(
        &b.finish("f", vec![checked.into()]),
        "fn f(n: i64, a: f64[n, 3], c: bool) {
  row: f64[3] = a[0]
  mul: f64[3] = mul 2.0, row
  mask: bool[3] = lt mul, row
  select: f64[3] = select mask, 0.0, row
  updated: f64[n, 3] = update a[1] = select
  transpose: f64[3, n] = transpose updated {1, 0}
  checked: f64[3, n] = check c R0007(n) transpose
  return checked
}
",
    );
}

#[test]
fn a_par_gives_stacked_reduced_and_accumulated_results() {
    let (mut b, n, a, _) = start();
    let i = b.var("i", i64_scalar());
    let hist = b.var("hist", Ty::new(Elem::F64, vec![n.into(), Dim::Const(3)]));
    b.open_block();
    let row = b.named("row").index(a.into(), &[i.into()]);
    let x = b.index(a.into(), &[i.into(), Atom::i64(0)]);
    b.acc_add(hist, &[i.into()], row.into());
    let body = b.close_block(vec![row.into(), x.into()]);
    let kinds = vec![ParResult::Stacked, ParResult::Reduced { monoid: Monoid::Add, init: zero() }];
    let accs = vec![Acc { var: hist, kind: AccKind::Reduce(Monoid::Add), init: Some(a.into()) }];
    let results = b.named("rows").finish_par(vec![i], vec![n.into()], kinds, accs, body);
    let results = results.into_iter().map(Atom::from).collect();
    check(
        &b.finish("f", results),
        "fn f(n: i64, a: f64[n, 3], c: bool) {
  rows: f64[n, 3], elem: f64, hist: f64[n, 3] = par i < n (stack, add from 0.0) acc (hist.1: f64[n, 3] add from a) {
    row: f64[3] = a[i]
    elem.1: f64 = a[i, 0]
    acc_add hist.1[i] = row
    yield row, elem.1
  }
  return rows, elem, hist
}
",
    );
}

#[test]
fn a_while_types_logs_by_a_carried_result_and_stacks_by_its_trips() {
    let (mut b, _, a, c) = start();
    let index = b.var("i", i64_scalar());
    let go = b.var("go", Ty::scalar(Elem::Bool));
    let count = b.var("count", i64_scalar());
    let log = b.var("log", Ty::new(Elem::F64, vec![Dim::Const(0), Dim::Const(3)]));
    b.info_mut(log).record = Some(Record::Old);
    b.open_block();
    let row = b.named("row").index(a.into(), &[index.into()]);
    b.acc_add(log, &[count.into()], row.into());
    let next = b.prim(prim("add"), &[count.into(), Atom::i64(1)]);
    let body = b.close_block(vec![go.into(), next.into(), row.into()]);
    let l = Loop {
        index,
        count: None,
        params: vec![go, count],
        inits: vec![c.into(), Atom::i64(0)],
        accs: vec![Acc { var: log, kind: AccKind::Log, init: None }],
        body,
        kept: ReversePolicy::default(),
    };
    let results = b.finish_loop(l, &[1]).into_iter().map(Atom::from).collect();
    check(
        &b.finish("f", results),
        "fn f(n: i64, a: f64[n, 3], c: bool) {
  trips: i64, go: bool, count: i64, log: f64[count, 3] record old, row: f64[trips, 3] = \
         while i (go.1: bool = c, count.1: i64 = 0) acc (log.1: f64[0, 3] record old log) {
    row.1: f64[3] = a[i]
    acc_add log.1[count.1] = row.1
    add: i64 = add count.1, 1
    yield go.1, add, row.1
  }
  return trips, go, count, log, row
}
",
    );
}

#[test]
fn lengths_of_switch_and_call_results_are_renamed_to_earlier_results() {
    let callee = function("fn g(n: i64) {\n  k: i64 = add n, 1\n  x: f64[k] = fill 0.0\n  return k, x\n}");
    let mut b = Builder::new();
    let c = b.param("c", Ty::scalar(Elem::Bool));
    b.open_block();
    let called = b.call(&callee, &[Atom::i64(2)]).into_iter().map(Atom::from).collect();
    let called = b.close_block(called);
    b.open_block();
    let twice = b.named("length").call(&callee, &[Atom::i64(5)]).into_iter().map(Atom::from).collect();
    let twice = b.close_block(twice);
    let results = b.finish_switch(c.into(), vec![called, twice]).into_iter().map(Atom::from).collect();
    let f = b.finish("f", results);
    let mut m = Module::default();
    m.insert(callee);
    assert_eq!(verify(&m, &f), Ok(()));
    assert_eq!(
        f.to_string(),
        "fn f(c: bool) {
  k: i64, x: f64[k] = switch c {
    k.1: i64, x.1: f64[k.1] = call g(2)
    yield k.1, x.1
  } {
    length: i64, x.2: f64[length] = call g(5)
    yield length, x.2
  }
  return k, x
}
"
    );
}

#[test]
fn statements_carry_the_span_that_was_set() {
    let (mut b, _, a, _) = start();
    let span = Span::new(1, 4, 9);
    b.index(a.into(), &[Atom::i64(0)]);
    b.set_span(span);
    b.index(a.into(), &[Atom::i64(1)]);
    let spans: Vec<Span> = b.finish("f", vec![]).body.stmts.iter().map(|s| s.span).collect();
    assert_eq!(spans, [Span::NONE, span]);
}

// ---- copies

fn every_construct() -> Function {
    let m = module(include_str!("text/every_construct.cir"));
    m.function("every_construct").expect("in the file").as_ref().clone()
}

#[test]
fn a_copied_function_prints_the_same() {
    let f = every_construct();
    let mut b = Builder::new();
    let mut env = Env::new();
    for v in &f.params {
        let copy = b.param(f.name_of(*v), env.ty(f.ty(*v)));
        env.insert(*v, copy.into());
    }
    for s in &f.body.stmts {
        b.copy_stmt(&f, s, &mut env);
    }
    let mut copy = b.finish(&f.name, env.atoms(&f.body.results));
    (copy.custom_vjp, copy.custom_jvp) = (f.custom_vjp.clone(), f.custom_jvp.clone());
    assert_eq!(copy.to_string(), f.to_string());
}

#[test]
fn two_copies_in_one_function_share_no_variable() {
    let f = function(
        "fn f(n: i64) {\n  x: f64[n] = par i < n (stack) {\n    y: f64 = exp 1.0\n    yield y\n  }\n  return x\n}",
    );
    let mut b = Builder::new();
    let n = b.param("size", i64_scalar());
    let mut results = Vec::new();
    for arg in [n.into(), Atom::i64(4)] {
        let mut env: Env = [(f.params[0], arg)].into_iter().collect();
        b.copy_stmt(&f, &f.body.stmts[0], &mut env);
        results.extend(env.atoms(&f.body.results));
    }
    check(
        &b.finish("twice", results),
        "fn twice(size: i64) {
  x: f64[size] = par i < size (stack) {
    y: f64 = exp 1.0
    yield y
  }
  x.1: f64[4] = par i.1 < 4 (stack) {
    y.1: f64 = exp 1.0
    yield y.1
  }
  return x, x.1
}
",
    );
}

/// A `par` whose body writes to an accumulator at two depths.
fn with_writes() -> Function {
    function(
        "fn f(n: i64, x: f64) {
  s: f64 = par i < n acc (a: f64 add from x) {
    acc_add a[] = x
    loop j < n {
      acc_add a[] = 1.0
      yield
    }
    yield
  }
  return s
}
",
    )
}

/// Copies the statements inside the `par` of [`with_writes`] under `env`, without its accumulator.
fn copy_body(on_unknown: &mut dyn FnMut(&mut Builder, &Op, &Env)) -> String {
    let f = with_writes();
    let mut b = Builder::new();
    let n = b.param("n", i64_scalar());
    let x = b.param("x", Ty::scalar(Elem::F64));
    let mut env: Env = f.params.iter().copied().zip([n.into(), x.into()]).collect();
    for s in &f.body.stmts[0].op.blocks()[0].stmts {
        b.copy_stmt_with(&f, s, &mut env, on_unknown);
    }
    b.finish("copy", vec![]).to_string()
}

#[test]
fn writes_to_unknown_accumulators_are_erased_or_handed_over() {
    assert_eq!(
        copy_body(&mut |_, _, _| {}),
        "fn copy(n: i64, x: f64) {\n  loop j < n {\n    yield\n  }\n  return\n}\n"
    );
    let mut replace = |b: &mut Builder, op: &Op, env: &Env| {
        if let Op::AccAdd { value, .. } = op {
            b.named("seen").prim(prim("exp"), &[env.atom(*value)]);
        }
    };
    assert_eq!(
        copy_body(&mut replace),
        "fn copy(n: i64, x: f64) {\n  seen: f64 = exp x\n  loop j < n {\n    seen.1: f64 = exp 1.0\n    yield\n  }\n  \
         return\n}\n"
    );
}

// ---- what blocks use

fn names(f: &Function, vars: impl IntoIterator<Item = Var>) -> Vec<&str> {
    vars.into_iter().map(|v| f.name_of(v)).collect()
}

#[test]
fn free_variables_come_in_order_of_first_use_with_dims_and_written_accumulators() {
    let f = function(
        "fn f(n: i64, m: i64, unused: f64, x: f64, start: f64, v: f64[n]) {
  total: f64 = par i < n acc (a: f64 add from start) {
    shape: f64[m] = fill x
    acc_add a[] = x
    last: f64 = v[i]
    again: f64 = exp last
    r: f64 = loop j < 3 (p: f64 = again) {
      q: f64 = add p, start
      acc_add a[] = q
      yield q
    }
    yield
  }
  return total
}
",
    );
    assert_eq!(names(&f, free_vars(&f, &f.body, &f.params)), [""; 0]);
    assert_eq!(names(&f, free_vars(&f, &f.body, &[])), ["n", "start", "x", "m", "v"]);
    let body = &f.body.stmts[0].op.blocks()[0];
    assert_eq!(names(&f, free_vars(&f, body, &f.params)), ["a", "i"]);
    assert_eq!(names(&f, free_vars(&f, body, &[])), ["x", "m", "a", "v", "i", "start"]);
}

#[test]
fn results_of_a_block_are_uses() {
    let f = function("fn f(x: f64, y: f64) {\n  return y, x, y\n}");
    assert_eq!(names(&f, free_vars(&f, &f.body, &[])), ["y", "x"]);
}

#[test]
fn written_accumulators_are_found_at_any_depth() {
    let f = with_writes();
    assert_eq!(names(&f, written_accs(&f.body)), ["a"]);
    let statements: &[Stmt] = &f.body.stmts[0].op.blocks()[0].stmts;
    assert_eq!(names(&f, written_accs(&statements[1].op.blocks()[0])), ["a"]);
    assert_eq!(f.n_stmts(), 4);
}
