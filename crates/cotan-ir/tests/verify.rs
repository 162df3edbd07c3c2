//! One refusal per rule of the verifier, and what it must not refuse. A test quotes the beginning of its rule; that every rule
//! has one is a test of `cotan-testkit`.

use crate::table;

use cotan_ir::{Atom, Builder, Dim, Elem, Function, Module, Op, Ty, Var, verify, verify_module};
use table::{function, module};

/// The messages about `text`, a function in a module with `others`.
fn messages_beside(others: &str, text: &str) -> Vec<String> {
    messages_of(&module(others), &function(text))
}

fn messages(text: &str) -> Vec<String> {
    messages_beside("", text)
}

fn messages_of(module: &Module, f: &Function) -> Vec<String> {
    verify(module, f).err().into_iter().flatten().map(|e| e.message).collect()
}

/// The messages about a module.
fn module_messages(text: &str) -> Vec<String> {
    verify_module(&module(text)).err().into_iter().flatten().map(|e| e.message).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn every_construct_is_accepted() {
    assert_eq!(verify_module(&module(include_str!("text/every_construct.cir"))), Ok(()));
}

#[test]
fn an_error_names_the_function_and_the_line() {
    let text = "fn f(n: i64) {\n  x: f64[n] = par i < n (stack) {\n    y: f64 = exp 1\n    yield y\n  }\n  return x\n}";
    let errors = verify(&Module::default(), &function(text)).expect_err("exp of an integer");
    let shown: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
    assert_eq!(shown, ["in `f`: `exp` is not defined on i64\n  y: f64 = exp 1"]);
}

#[test]
fn errors_about_parameters_and_results_name_their_lines() {
    let text = "fn f(x: f64[-1]) {\n  return\n}";
    let errors = verify(&Module::default(), &function(text)).expect_err("a negative dim");
    assert_eq!(errors[0].statement, "fn f(x: f64[-1])");
    let text = "fn f(c: bool) {\n  switch c {\n    x: f64 = exp 1.0\n    yield\n  } {\n    yield x\n  }\n  return\n}";
    let errors = verify(&Module::default(), &function(text)).expect_err("out of scope");
    assert_eq!(errors[0].statement, "yield x");
}

// ---- names and scopes

/// Rule: "Every variable is in its function's table".
#[test]
fn variables_are_in_the_table() {
    let mut b = Builder::new();
    b.param("x", Ty::new(Elem::F64, vec![Dim::Var(Var(5))]));
    b.push(vec![Var(6)], Op::AccAdd { acc: Var(7), indices: vec![], value: Var(8).into() });
    let f = b.finish("f", vec![Var(9).into()]);
    let expected = [5, 8, 7, 6, 9].map(|n| format!("variable {n} is not in the table of the function"));
    assert_eq!(messages_of(&Module::default(), &f), expected);
}

/// Rule: "Every variable is in its function's table and is bound once".
#[test]
fn variables_are_bound_once() {
    let mut b = Builder::new();
    let x = b.param("x", Ty::scalar(Elem::F64));
    b.push(vec![x], Op::Index { array: x.into(), indices: vec![] });
    assert_eq!(messages_of(&Module::default(), &b.finish("f", vec![])), ["`x` is bound twice"]);
}

/// Rule: "An operand is a value in scope".
#[test]
fn operands_are_in_scope() {
    let inner = "fn f(n: i64) {\n  x: f64[n] = par i < n (stack) {\n    y: f64 = exp 1.0\n    yield y\n  }\n";
    assert_eq!(messages(&format!("{inner}  z: f64 = exp y\n  return z\n}}")), ["`y` is not in scope"]);
    assert_eq!(messages(&format!("{inner}  return i\n}}")), ["`i` is not in scope"]);
    assert_eq!(messages("fn f() {\n  y: f64 = exp y\n  return y\n}"), ["`y` is not in scope"]);
    let own = "fn f(n: i64) {\n  x: f64 = par i < n (add from 0.0) {\n    yield x\n  }\n  return x\n}";
    assert_eq!(messages(own), ["`x` is not in scope"]);
    let arms = "fn f(c: bool) {\n  x: f64 = switch c {\n    y: f64 = exp 1.0\n    yield y\n  } {\n    yield y\n  }\n  return x\n}";
    assert_eq!(messages(arms), ["`y` is not in scope"]);
}

/// Rule: "An accumulator is named by `acc_add` alone".
#[test]
fn accumulators_are_only_added_to_and_only_in_scope() {
    let read = "fn f(n: i64) {\n  s: f64 = par i < n acc (a: f64 add from 0.0) {\n    x: f64 = exp a\n    acc_add a[] = a\n    yield\n  }\n  return s\n}";
    let cannot_be_read = "`a` is an accumulator and cannot be read";
    assert_eq!(messages(read), [cannot_be_read, cannot_be_read]);
    let late = "fn f(n: i64) {\n  s: f64 = par i < n acc (a: f64 add from 0.0) {\n    yield\n  }\n  acc_add a[] = s\n  return s\n}";
    assert_eq!(messages(late), ["`a` is no accumulator in scope"]);
    assert_eq!(messages("fn f(x: f64) {\n  acc_add x[] = 1.0\n  return\n}"), ["`x` is no accumulator in scope"]);
    let deep = "fn f(n: i64, c: bool) {\n  s: f64 = par i < n acc (a: f64 add from 0.0) {\n    loop j < n {\n      switch c {\n        acc_add a[] = 1.0\n        yield\n      } {\n        yield\n      }\n      yield\n    }\n    yield\n  }\n  return s\n}";
    assert_eq!(messages(deep), NONE);
}

/// Rule: "A dim is not negative, or names an i64 scalar in scope".
#[test]
fn dims_are_sizes_in_scope() {
    assert_eq!(messages("fn f(x: f64[-2]) {\n  return\n}"), ["`x` has a negative dim"]);
    assert_eq!(messages("fn f() {\n  x: f64[3, -1] = fill 0.0\n  return x\n}"), ["`x` has a negative dim"]);
    let sum = "fn f() {\n  s: f64 = par i < -1 (add from 0.0) {\n    yield 1.0\n  }\n  return s\n}";
    assert_eq!(messages(sum), ["a negative extent"]);
    assert_eq!(messages("fn f(n: i32, x: f64[n]) {\n  return\n}"), ["`n`, a dim of `x`, is no i64 scalar"]);
    assert_eq!(messages("fn f(n: i64[1], x: f64[n]) {\n  return\n}"), ["`n`, a dim of `x`, is no i64 scalar"]);
    let mut b = Builder::new();
    let n = b.var("n", Ty::scalar(Elem::I64));
    b.param("x", Ty::new(Elem::F64, vec![n.into()]));
    assert_eq!(messages_of(&Module::default(), &b.finish("f", vec![])), ["`n`, a dim of `x`, is not in scope"]);
    let acc =
        "fn f(n: i64) {\n  par i < n acc (a: i64 add from 0) {\n    x: f64[a] = fill 0.0\n    yield\n  }\n  return\n}";
    assert_eq!(messages(acc), ["`a`, a dim of `x`, is not in scope", "results: expected 1, found 0"]);
}

/// Rule: "A dim is not negative, or names an i64 scalar in scope".
#[test]
fn what_a_region_binds_has_dims_from_outside() {
    let text = "fn f(n: i64, x: f64[n]) {\n  k: i64, r: f64[n] = loop i < n (k.1: i64 = n, p: f64[k.1] = x) {\n    yield k.1, x\n  }\n  return r\n}";
    assert_eq!(messages(text), ["`k.1`, a dim of `p`, is not in scope"]);
    let text = "fn f(n: i64, x: f64[n]) {\n  k: i64, r: f64[n] = loop i < n (k.1: i64 = n, p: f64[n] = x) {\n    yield k.1, x\n  }\n  return r\n}";
    assert_eq!(messages(text), NONE);
}

/// Rule: "A result of a function or of a switch arm".
#[test]
fn lengths_of_results_come_before_them() {
    let body = "fn f(n: i64) {\n  k: i64 = add n, 1\n  x: f64[k] = fill 0.0\n";
    assert_eq!(messages(&format!("{body}  return k, x, x\n}}")), NONE);
    let missing = "`k`, a dim of `x`, is not among the earlier results";
    assert_eq!(messages(&format!("{body}  return x\n}}")), [missing]);
    assert_eq!(messages(&format!("{body}  return x, k\n}}")), [missing]);
    let arm = |results: &str, yielded: &str| {
        format!(
            "fn f(n: i64, c: bool, y: f64[n]) {{\n  {results} = switch c {{\n    k: i64 = add n, 1\n    x: f64[k] = fill 0.0\n    \
             yield {yielded}\n  }} {{\n    yield n, y\n  }}\n  return\n}}"
        )
    };
    assert_eq!(messages(&arm("m: i64, r: f64[m]", "k, x")), NONE);
    assert_eq!(messages(&arm("m: i64, r: f64[m]", "n, x")), [missing]);
}

/// Rule: "A result of a function or of a switch arm".
#[test]
fn elements_of_regions_have_dims_from_outside() {
    let head = "fn f(n: i64) {\n";
    let element = "    k: i64 = add i, 1\n    x: f64[k] = fill 0.0\n    yield x\n  }\n  return\n}";
    let inside = "`k`, a dim of the element `x`, is bound in the region";
    let stacked = format!("{head}  s: f64[n, n] = par i < n (stack) {{\n{element}");
    assert_eq!(messages(&stacked), [inside]);
    let reduced = format!("{head}  y: f64[n] = fill 0.0\n  s: f64[n] = par i < n (add from y) {{\n{element}");
    assert_eq!(messages(&reduced), [inside]);
    let loop_stacked = format!("{head}  s: f64[n, n] = loop i < n {{\n{element}");
    assert_eq!(messages(&loop_stacked), [inside]);
}

// ---- types of straight-line operations

/// The messages about one statement in a function with some parameters.
fn about(statement: &str) -> Vec<String> {
    let params = "n: i64, m: i64, c: bool, x: f64, v: f64[n], w: f64[3], u: f64[4], a: f64[n, 3], k: i64[2]";
    messages(&format!("fn f({params}) {{\n  {statement}\n  return\n}}"))
}

/// Rule: "A primitive's operands".
#[test]
fn operands_and_result_of_a_primitive_have_the_types_of_its_signature() {
    assert_eq!(about("y: f64[n] = select true, v, 0.0"), NONE);
    assert_eq!(about("y: f64 = add x"), ["`add` takes 2 operands, found 1"]);
    assert_eq!(about("y: f64 = add x, 1"), ["`add` expects operands of one type, found f64 and i64"]);
    assert_eq!(about("y: bool = add c, c"), ["`add` is not defined on bool"]);
    assert_eq!(about("y: f64 = select x, x, x"), ["`select` expects bool, found f64"]);
    assert_eq!(about("y: f64 = lt x, x"), ["the result: expected bool, found f64"]);
    assert_eq!(about("exp x"), ["results: expected 1, found 0"]);
}

/// Rule: "A primitive's operands".
#[test]
fn operands_of_a_primitive_have_the_shape_of_its_result() {
    assert_eq!(about("y: f64[n] = add v, x"), ["the shape of an operand: expected f64[n], found f64"]);
    assert_eq!(about("y: f64 = exp v"), ["the shape of an operand: expected f64, found f64[n]"]);
    assert_eq!(about("y: f64[3] = add w, u"), ["the shape of an operand: expected f64[3], found f64[4]"]);
    assert_eq!(about("y: bool[m] = lt v, 0.0"), NONE);
    assert_eq!(about("y: f64[n] = add v, w"), NONE);
}

/// Rule: "A tensor operation has one result".
#[test]
fn a_tensor_operation_has_one_result() {
    assert_eq!(about("fill x"), ["results: expected 1, found 0"]);
    assert_eq!(about("y: f64, z: f64 = fill x"), ["results: expected 1, found 2"]);
}

/// Rule: "Indices are i64 scalars".
#[test]
fn indices_are_integers_and_at_most_the_rank() {
    assert_eq!(about("y: f64[3] = a[0]"), NONE);
    assert_eq!(about("y: f64[n, 3] = a[]"), NONE);
    assert_eq!(about("y: f64 = a[0, 1, 2]"), ["3 indices into f64[n, 3]"]);
    assert_eq!(about("y: f64 = a[0, 1_i32]"), ["an index: expected i64, found i32"]);
    assert_eq!(about("y: f64 = v[k]"), ["an index: expected i64, found i64[2]"]);
    assert_eq!(about("y: f64[4] = a[0]"), ["the result: expected f64[3], found f64[4]"]);
    assert_eq!(about("y: f64 = a[0]"), ["the result: expected f64[3], found f64"]);
    assert_eq!(about("y: f32 = v[0]"), ["the result: expected f64, found f32"]);
}

/// Rule: "Indices are i64 scalars".
#[test]
fn an_update_writes_what_the_indices_select() {
    assert_eq!(about("y: f64[n, 3] = update a[0] = w"), NONE);
    assert_eq!(about("y: f64[n, 3] = update a[0] = u"), ["the new value: expected f64[3], found f64[4]"]);
    assert_eq!(about("y: f64[n, 3] = update a[0, 0] = 1"), ["the new value: expected f64, found i64"]);
    assert_eq!(about("y: f64[n, 3] = update a[0, 0, 0] = x"), ["3 indices into f64[n, 3]"]);
}

/// Rule: "An update's result agrees with the array".
#[test]
fn an_update_gives_the_type_of_its_array() {
    assert_eq!(about("y: f64[n, 4] = update a[0] = w"), ["the result: expected f64[n, 3], found f64[n, 4]"]);
    assert_eq!(about("y: f64[n] = update a[0] = w"), ["the result: expected f64[n, 3], found f64[n]"]);
}

/// The messages about one write to accumulators of a loop.
fn about_write(statement: &str) -> Vec<String> {
    messages(&format!(
        "fn f(n: i64, h: f64[n, 3], x: f64[4]) {{\n  k: i64, h.1: f64[n, 3], l: f64[k] = loop i < n (k.1: i64 = 0) acc \
         (h.2: f64[n, 3] add from h, l.1: f64[0] log) {{\n    {statement}\n    yield k.1\n  }}\n  return k, h.1, l\n}}"
    ))
}

/// Rule: "Indices are i64 scalars".
#[test]
fn a_write_adds_what_the_indices_select() {
    assert_eq!(about_write("acc_add h.2[i, 0] = 1.0"), NONE);
    assert_eq!(about_write("acc_add h.2[] = h"), NONE);
    assert_eq!(about_write("acc_add h.2[i] = x"), ["what is added: expected f64[3], found f64[4]"]);
    assert_eq!(about_write("acc_add h.2[i, true] = 1.0"), ["an index: expected i64, found bool"]);
    assert_eq!(about_write("acc_add h.2[i, 0, 0] = 1.0"), ["3 indices into f64[n, 3]"]);
}

/// Rule: "A write to a log has one index".
#[test]
fn a_write_to_a_log_has_one_index() {
    assert_eq!(about_write("acc_add l.1[k.1] = 1.0"), NONE);
    assert_eq!(
        about_write("acc_add l.1[] = x"),
        ["a write to a log has one index, found 0", "what is added: expected f64[0], found f64[4]"]
    );
}

/// Rule: "A write to a log has one index. `acc_add` has no result".
#[test]
fn a_write_has_no_result() {
    assert_eq!(about_write("y: f64 = acc_add h.2[i, 0] = 1.0"), ["results: expected 0, found 1"]);
}

/// Rule: "A check's condition".
#[test]
fn a_check_guards_a_value_by_a_condition() {
    assert_eq!(about("y: f64[m] = check c R0007(n, m) v"), NONE);
    assert_eq!(about("y: f64[3] = check c R0007(4, 3) u"), NONE);
    assert_eq!(about("y: f64 = check x R0005() x"), ["the condition: expected bool, found f64"]);
    assert_eq!(about("y: f64 = check c R0005(v) x"), ["the argument `v` of a check is no scalar"]);
    assert_eq!(about("y: f64 = check c R0005() v"), ["the result: expected f64[n], found f64"]);
    assert_eq!(about("y: f32[n] = check c R0005() v"), ["the result: expected f64[n], found f32[n]"]);
}

// ---- types of regions

/// The messages about one region with an empty line for its body.
fn about_region(head: &str, yielded: &str) -> Vec<String> {
    about(&format!("{head} {{\n    yield {yielded}\n  }}"))
}

/// Rule: "A `par` has one i64 extent".
#[test]
fn a_par_has_one_index_and_extent_per_level() {
    assert_eq!(about_region("par i < n, j < 3", ""), NONE);
    assert_eq!(about_region("par i < x", ""), ["an extent: expected i64, found f64"]);
    assert_eq!(about_region("par i < 3_i32", ""), ["an extent: expected i64, found i32"]);
    assert_eq!(about_region("par i: i32 < n", ""), ["an index: expected i64, found i32"]);
    let mut f = function("fn f(n: i64) {\n  par i < n {\n    yield\n  }\n  return\n}");
    if let Op::Par(p) = &mut f.body.stmts[0].op {
        p.extents.push(Atom::i64(1));
    }
    assert_eq!(messages_of(&Module::default(), &f), ["1 indices with 2 extents"]);
}

/// Rule: "A `par` has one i64 extent".
#[test]
fn a_par_has_one_kind_and_result_per_result_of_its_body() {
    assert_eq!(about_region("y: f64[n] = par i < n (stack)", "x, x"), ["1 kinds for 2 results of the body"]);
    assert_eq!(about_region("y: f64[n] = par i < n (stack, stack)", "x, x"), ["results: expected 2, found 1"]);
    let acc = "y: f64[n] = par i < n (stack) acc (a.1: f64 add from x)";
    assert_eq!(about_region(acc, "x"), ["results: expected 2, found 1"]);
}

/// Rule: "A `par` has one i64 extent".
#[test]
fn a_stacked_result_has_the_extents_before_the_element() {
    let stack = |ty: &str, yielded: &str| about_region(&format!("y: {ty} = par i < n, j < 3 (stack)"), yielded);
    assert_eq!(stack("f64[n, 3, 4]", "u"), NONE);
    assert_eq!(stack("f64[n, 4, 4]", "u"), ["a stacked result: expected f64[n, 3, 4], found f64[n, 4, 4]"]);
    assert_eq!(stack("f64[n, 3]", "u"), ["a stacked result: expected f64[n, 3, 4], found f64[n, 3]"]);
    assert_eq!(stack("f32[n, 3]", "x"), ["a stacked result: expected f64[n, 3], found f32[n, 3]"]);
}

/// Rule: "A `par` has one i64 extent".
#[test]
fn a_reduced_result_has_the_type_of_the_element() {
    assert_eq!(about_region("y: f64 = par i < n (mul from 1.0)", "x"), NONE);
    assert_eq!(
        about_region("y: f64[4] = par i < n (add from w)", "w"),
        ["a reduced result: expected f64[3], found f64[4]"]
    );
}

/// Rule: "A reduction's monoid".
#[test]
fn a_reduction_starts_from_a_value_of_its_type() {
    assert_eq!(about_region("y: f64 = par i < n (add from 0)", "x"), ["a start value: expected f64, found i64"]);
    assert_eq!(
        about_region("y: f64[3] = par i < n (add from 0.0)", "w"),
        ["a start value: expected f64[3], found f64"]
    );
}

/// Rule: "A reduction's monoid".
#[test]
fn a_monoid_is_defined_on_its_elements() {
    assert_eq!(about_region("y: bool, z: bool = par i < n (and from true, or from c)", "c, c"), NONE);
    assert_eq!(about_region("y: bool = par i < n (max from true)", "c"), ["`max` does not reduce bool"]);
    assert_eq!(about_region("y: f64 = par i < n (and from x)", "x"), ["`and` does not reduce f64"]);
    assert_eq!(about_region("y: bool = par i < n acc (a.1: bool add from c)", ""), ["`add` does not reduce bool"]);
}

/// Rule: "An accumulator adds".
#[test]
fn an_accumulator_of_a_par_adds_or_takes_an_extremum() {
    let acc = |kind: &str| about_region(&format!("y: f64 = par i < n acc (a.1: f64 {kind} from x)"), "");
    assert_eq!([acc("add"), acc("max"), acc("min")].concat(), NONE);
    assert_eq!(acc("mul"), ["an accumulator of a par adds or takes the maximum or minimum"]);
    assert_eq!(acc("or"), ["an accumulator of a par adds or takes the maximum or minimum", "`or` does not reduce f64"]);
}

/// Rule: "An accumulator adds".
#[test]
fn an_accumulator_of_a_loop_adds() {
    let acc = |kind: &str| about_region(&format!("y: f64 = loop i < n acc (a.1: f64 {kind} from x)"), "");
    assert_eq!(acc("add"), NONE);
    for kind in ["mul", "max", "min", "and", "or"] {
        assert_eq!(acc(kind), ["an accumulator of a loop adds or is a log"]);
    }
}

/// Rule: "An accumulator adds".
#[test]
fn start_value_and_result_agree_with_the_accumulator() {
    for region in ["par", "loop"] {
        let acc = |result: &str, init: &str| {
            about_region(&format!("y: {result} = {region} i < n acc (a.1: f64[3] add{init})"), "")
        };
        assert_eq!(acc("f64[3]", " from w"), NONE);
        assert_eq!(acc("f64[3]", ""), ["the accumulator `a.1` has no start value"]);
        assert_eq!(acc("f64[3]", " from u"), ["a start value: expected f64[3], found f64[4]"]);
        assert_eq!(acc("f64[4]", " from w"), ["the final accumulator: expected f64[3], found f64[4]"]);
    }
}

/// Rule: "A log belongs to a loop".
#[test]
fn a_log_belongs_to_a_loop_and_is_as_long_as_a_carried_value() {
    let log = |head: &str, acc: &str, yielded: &str| about_region(&format!("{head} acc ({acc})"), yielded);
    let counted = "z: i64, l: f64[z] = loop i < n (z.1: i64 = 0)";
    assert_eq!(log(counted, "l.1: f64[0] log", "z.1"), NONE);
    assert_eq!(
        log("l: f64[n] = par i < n", "l.1: f64[0] log", ""),
        ["an accumulator of a par adds or takes the maximum or minimum", "the accumulator `l.1` has no start value",]
    );
    assert_eq!(log(counted, "l.1: f64[0] log from v", "z.1"), ["the log `l.1` has a start value"]);
    assert_eq!(log(counted, "l.1: f64[1] log", "z.1"), ["dim 0 of the log `l.1` is not 0"]);
    assert_eq!(log(counted, "l.1: f64 log", "z.1"), ["dim 0 of the log `l.1` is not 0"]);
    assert_eq!(log(counted, "l.1: f64[0, 3] log", "z.1"), ["the final log: expected f64[z, 3], found f64[z]"]);
    assert_eq!(log(counted, "l.1: f32[0] log", "z.1"), ["the final log: expected f32[z], found f64[z]"]);
    let elsewhere = "the length of a log is no carried result of its loop";
    assert_eq!(log("z: i64, l: f64[n] = loop i < n (z.1: i64 = 0)", "l.1: f64[0] log", "z.1"), [elsewhere]);
    assert_eq!(log("z: i64, l: f64[0] = loop i < n (z.1: i64 = 0)", "l.1: f64[0] log", "z.1"), [elsewhere]);
}

/// Rule: "A loop's index and count are i64 scalars".
#[test]
fn a_loop_counts_in_integers() {
    assert_eq!(about_region("loop i < n", ""), NONE);
    assert_eq!(about_region("loop i < x", ""), ["the count: expected i64, found f64"]);
    assert_eq!(about_region("loop i < k", ""), ["the count: expected i64, found i64[2]"]);
    assert_eq!(about_region("loop i: f64 < n", ""), ["the index: expected i64, found f64"]);
}

/// Rule: "A loop's index and count are i64 scalars".
#[test]
fn a_loop_has_a_result_per_role() {
    assert_eq!(about_region("y: f64 = loop i < n", ""), ["results: expected 0, found 1"]);
    assert_eq!(about_region("y: f64 = loop i < n (p: f64 = x)", "p, x"), ["results: expected 2, found 1"]);
    assert_eq!(about_region("y: f64 = loop i < n (p: f64 = x)", ""), ["0 results of the body for 1 carried"]);
    assert_eq!(about_region("y: bool = while i (go: bool = c)", "go"), ["results: expected 2, found 1"]);
    let mut f = function("fn f(n: i64) {\n  loop i < n {\n    yield\n  }\n  return\n}");
    if let Op::Loop(l) = &mut f.body.stmts[0].op {
        l.inits.push(Atom::i64(1));
    }
    assert_eq!(messages_of(&Module::default(), &f), ["0 carried values with 1 start values"]);
}

/// Rule: "A loop's index and count are i64 scalars".
#[test]
fn a_carried_value_keeps_its_type() {
    let carried = |result: &str, init: &str, next: &str| {
        about_region(&format!("y: {result} = loop i < n (p: f64[3] = {init})"), next)
    };
    assert_eq!(carried("f64[3]", "w", "p"), NONE);
    assert_eq!(carried("f64[3]", "v", "w"), NONE);
    assert_eq!(carried("f64[3]", "u", "p"), ["a start value: expected f64[3], found f64[4]"]);
    assert_eq!(carried("f64[3]", "w", "u"), ["the next carried value: expected f64[3], found f64[4]"]);
    assert_eq!(carried("f64[3]", "w", "x"), ["the next carried value: expected f64[3], found f64"]);
    assert_eq!(carried("f64[4]", "w", "p"), ["a carried result: expected f64[3], found f64[4]"]);
}

/// Rule: "A loop's index and count are i64 scalars".
#[test]
fn what_a_loop_stacks_has_the_count_before_the_element() {
    assert_eq!(about_region("y: f64[5, 3] = loop i < 5", "w"), NONE);
    assert_eq!(
        about_region("y: f64[4, 3] = loop i < 5", "w"),
        ["a stacked result: expected f64[5, 3], found f64[4, 3]"]
    );
    assert_eq!(about_region("y: f64[5] = loop i < 5", "w"), ["a stacked result: expected f64[5, 3], found f64[5]"]);
    let trips =
        |len: &str| about_region(&format!("t: i64, go: bool, y: f64[{len}] = while i (go.1: bool = c)"), "c, x");
    assert_eq!(trips("t"), NONE);
    assert_eq!(trips("n"), ["what a while stacks is as long as its trip count"]);
}

/// Rule: "A while's trip count".
#[test]
fn a_while_counts_its_trips_and_carries_its_condition() {
    assert_eq!(about_region("t: i64, go: bool = while i (go.1: bool = c)", "c"), NONE);
    assert_eq!(
        about_region("t: f64, go: bool = while i (go.1: bool = c)", "c"),
        ["the trip count: expected i64, found f64"]
    );
    assert_eq!(
        about_region("t: i64, go: f64 = while i (go.1: f64 = x)", "x"),
        ["the first carried value of a while: expected bool, found f64"]
    );
    assert_eq!(about_region("t: i64 = while i", ""), ["a while carries nothing to decide on"]);
}

/// Rule: "A switch has a scalar selector".
#[test]
fn a_selector_chooses_among_arms() {
    let arms = |selector: &str, n: usize| about(&format!("switch {selector}{}", " {\n    yield\n  }".repeat(n)));
    assert_eq!([arms("c", 2), arms("n", 1), arms("n", 3)].concat(), NONE);
    assert_eq!(arms("c", 1), ["a selector bool with 1 arms"]);
    assert_eq!(arms("c", 3), ["a selector bool with 3 arms"]);
    assert_eq!(arms("n", 0), ["a selector i64 with 0 arms"]);
    assert_eq!(arms("x", 2), ["a selector f64 with 2 arms"]);
    assert_eq!(arms("k", 2), ["a selector i64[2] with 2 arms"]);
}

/// Rule: "A switch has a scalar selector".
#[test]
fn every_arm_gives_the_results() {
    let arms = |results: &str, a: &str, b: &str| {
        about(&format!("{results} = switch c {{\n    yield {a}\n  }} {{\n    yield {b}\n  }}"))
    };
    assert_eq!(arms("y: f64", "x", "0.0"), NONE);
    assert_eq!(arms("y: f64", "x", ""), ["an arm gives 0 results for 1"]);
    assert_eq!(arms("y: f64", "x", "n"), ["the result of an arm: expected f64, found i64"]);
    assert_eq!(arms("y: f64[3]", "w", "u"), ["the result of an arm: expected f64[3], found f64[4]"]);
    assert_eq!(arms("z: i64, y: f64[z]", "3, w", "4, u"), NONE);
    assert_eq!(arms("z: i64, y: f64[z]", "3, w", "3, u"), ["the result of an arm: expected f64[3], found f64[4]"]);
}

/// Rule: "A callee exists".
#[test]
fn a_call_fits_its_callee() {
    let g = "fn g(n: i64, x: f64[n], y: f64) {\n  k: i64 = add n, 1\n  z: f64[k] = fill y\n  return k, x, z\n}";
    let call = |call: &str| messages_beside(g, &format!("fn f(w: f64[3], m: i64, y: f64) {{\n  {call}\n  return\n}}"));
    assert_eq!(call("k: i64, a: f64[3], z: f64[k] = call g(3, w, y)"), NONE);
    assert_eq!(call("k: i64, a: f64[m], z: f64[k] = call g(m, w, y)"), NONE);
    assert_eq!(call("call h()"), ["the module has no function `h`"]);
    assert_eq!(call("k: i64 = call g(3, w)"), ["`g` takes 3 arguments, found 2"]);
    assert_eq!(call("k: i64 = call g(3, w, y)"), ["results: expected 3, found 1"]);
    let args = |args: &str| call(&format!("k: i64, a: f64[m], z: f64[k] = call g({args})"));
    assert_eq!(args("4, w, y"), ["an argument: expected f64[4], found f64[3]"]);
    assert_eq!(args("y, w, y"), ["an argument: expected i64, found f64"]);
    assert_eq!(args("m, y, y"), ["an argument: expected f64[?], found f64"]);
    assert_eq!(
        call("k: i64, a: f64[2], z: f64[k] = call g(3, w, y)"),
        ["a result of the call: expected f64[3], found f64[2]"]
    );
    assert_eq!(
        call("k: i64, a: f64[3], z: f64 = call g(3, w, y)"),
        ["a result of the call: expected f64[?], found f64"]
    );
}

#[test]
fn a_derivative_that_is_not_written_yet_may_be_called() {
    let others = "fn g(x: f64) {\n  return x\n}\nderive d = jvp g wrt (0) of (0)";
    assert_eq!(messages_beside(others, "fn f(x: f64) {\n  y: f64, t: f64 = call d(x, 1.0)\n  return t\n}"), NONE);
}

// ---- modules

/// Rule: "A custom rule is a function of the module".
#[test]
fn a_custom_rule_takes_and_gives_what_the_rule_needs() {
    let module = |rule: &str| {
        module_messages(&format!(
            "fn f(n: i64, x: f64) {rule} {{\n  return n, x\n}}\n
fn f.vjp(n: i64, x: f64, n.1: i64, x.1: f64, x_cot: f64) {{\n  return x_cot\n}}\n
fn f.jvp(n: i64, x: f64, x_tan: f64) {{\n  return n, x, x_tan\n}}"
        ))
    };
    assert_eq!(module("vjp f.vjp jvp f.jvp"), NONE);
    assert_eq!(module("vjp f.jvp"), ["the custom rule `f.jvp` takes 3 and gives 3, expected 5 and 1"]);
    assert_eq!(module("jvp f.vjp"), ["the custom rule `f.vjp` takes 5 and gives 1, expected 3 and 3"]);
    assert_eq!(module("jvp g"), ["the module has no function `g`"]);
}

/// Rule: "A function stands under its own name".
#[test]
fn a_function_stands_under_its_own_name() {
    let mut m = module("fn f() {\n  return\n}");
    let f = m.items.remove("f").expect("in the text");
    m.items.insert("g".into(), f);
    let errors = verify_module(&m).expect_err("another name");
    assert_eq!(errors[0].to_string(), "in `g`: the function `f` stands under another name\n  ");
}

/// Rule: "A derivative to be written leads to a function with a body".
#[test]
fn a_derivative_leads_to_a_function() {
    let f = "fn f(x: f64) {\n  return x\n}\n";
    assert_eq!(module_messages(&format!("{f}derive d = vjp f wrt (0) of (0)\nderive e = jvp d wrt (0) of (0)")), NONE);
    assert_eq!(module_messages("derive d = vjp f wrt () of ()"), ["`f` leads to no function with a body"]);
    assert_eq!(
        module_messages("derive d = vjp e wrt () of ()\nderive e = jvp d wrt () of ()"),
        ["`e` leads to no function with a body", "`d` leads to no function with a body"]
    );
}

/// Rule: "A derivative to be written leads to a function with a body".
#[test]
fn a_derivative_is_taken_at_ascending_float_positions() {
    let derive = |wrt: &str, of: &str| {
        let f = "fn f(n: i64, x: f64, y: f32) {\n  return x, n, y\n}";
        module_messages(&format!("{f}\nderive d = vjp f wrt ({wrt}) of ({of})"))
    };
    assert_eq!(derive("1, 2", "0, 2"), NONE);
    assert_eq!(derive("0, 1", "0"), ["parameter 0 of `f` is no float"]);
    assert_eq!(derive("3", "0"), ["parameter 3 of `f` is no float"]);
    assert_eq!(derive("1", "1"), ["result 1 of `f` is no float"]);
    assert_eq!(derive("2, 1", "0"), ["the positions of `wrt` do not ascend"]);
    assert_eq!(derive("1", "0, 0"), ["the positions of `outs` do not ascend"]);
}
