//! Cross-mode differentiation: the choice of loops to differentiate forward inside a reverse sweep, and equal derivatives.

use crate::oracle;

use cotan_ad::{ForwardLoop, Limits, Refusal, Reversal, derivative, expand};
use cotan_ir::{Elem, Function, Item, Mode, Module, Ty};
use cotan_ops::Value;
use expect_test::expect;
use oracle::{close, counted, derive, floats, int, module, run, scalar, vector, whole};
use std::sync::Arc;

/// What the gradient of `f` does with its loops.
fn reversals(text: &str, limits: &Limits) -> Vec<Reversal> {
    let mut module = module(text);
    let d = whole(&module, "f", Mode::Vjp);
    module.items.insert("df".into(), Item::Derived(d));
    expand(&mut module, limits).expect("expands").into_iter().map(|l| l.how).collect()
}

fn chosen(text: &str) -> Vec<Vec<String>> {
    let forward = |how: Reversal| match how {
        Reversal::Forward(forward) => Some(forward.inputs.iter().map(ToString::to_string).collect()),
        Reversal::Backwards(_) | Reversal::Refused(_) => None,
    };
    reversals(text, &Limits::DEFAULT).into_iter().filter_map(forward).collect()
}

/// The gradient by a module's own choice.
fn gradient_of(module: &mut Module) -> Arc<Function> {
    let d = whole(module, "f", Mode::Vjp);
    derivative(module, &d, &Limits::DEFAULT).unwrap_or_else(|e| panic!("{e}"))
}

const TWO: &str = "
fn f(n: i64, x: f64, w: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    a: f64 = mul p, w
    y: f64 = sin a
    yield y
  }
  s: f64 = mul r, r
  return s
}
";

#[test]
fn a_loop_on_two_scalars_has_tangents_in_two_directions() {
    let mut module = module(TWO);
    let f = gradient_of(&mut module);
    expect![[r#"
        fn f.vjp_1_2_of_0(n: i64, x: f64, w: f64, s_cot: f64) {
          count: i64 = max n, 0
          r: f64, r_tan: f64, r_tan.1: f64 = loop i < count (p: f64 = x, p_tan: f64 = 1.0, p_tan.1: f64 = 0.0) {
            a: f64 = mul p, w
            a_tan: f64 = mulz p_tan, w
            a_tan.1: f64 = mulz p_tan.1, w
            a_tan.2: f64 = mulz 1.0, p
            a_tan.3: f64 = add a_tan.1, a_tan.2
            y: f64 = sin a
            cos: f64 = cos a
            y_tan: f64 = mulz a_tan, cos
            y_tan.1: f64 = mulz a_tan.3, cos
            yield y, y_tan, y_tan.1
          }
          s: f64 = mul r, r
          r_cot: f64 = mulz s_cot, r
          r_cot.1: f64 = add r_cot, r_cot
          x_cot: f64 = mulz r_cot.1, r_tan
          w_cot: f64 = mulz r_cot.1, r_tan.1
          return s, x_cot, w_cot
        }
    "#]]
    .assert_eq(&f.to_string());
    let (_, stats) = counted(&module, &f.name, &[int(7), scalar(0.4), scalar(0.8), scalar(1.0)]);
    assert_eq!(stats.recorded_elements, 0);
}

#[test]
fn what_the_choice_weighs_is_told() {
    let Some(Reversal::Forward(forward)) = reversals(TWO, &Limits::DEFAULT).pop() else { panic!("not forward") };
    // The values: a product and a sine. Tangents: a product and a sum for each of `p` and `a` in the directions of `x` and `w`,
    // and for `w` in its own. In reverse the values once more, eight bytes of record, and a product and a sum for each operand.
    let values = 1 + 30;
    let expected = ForwardLoop {
        inputs: vec!["p".into(), "w".into()],
        forward: values + 2 * (2 + 3),
        reverse: 2 * values + 2 * 3 + 16,
        is_asked_for: false,
    };
    assert_eq!(forward, expected);
}

#[test]
fn with_no_tangents_allowed_every_loop_runs_backwards() {
    let all = reversals(TWO, &Limits::REVERSE_ALONE);
    assert!(matches!(all.as_slice(), [Reversal::Backwards(_)]), "{all:?}");
}

#[test]
fn a_checkpoint_changes_neither_the_choice_nor_a_bit() {
    let plain = gradient_of(&mut module(TWO)).to_string();
    for checkpoint in ["every 4", "sqrt", "levels 3", "budget 100", "all"] {
        let text = TWO.replace("(p: f64 = x)", &format!("(p: f64 = x) checkpoint {checkpoint}"));
        let with = gradient_of(&mut module(&text)).to_string();
        assert_eq!(with.replace(&format!(" checkpoint {checkpoint}"), ""), plain);
    }
}

/// The loop of `TWO` with other things in it.
fn with(params: &str, mode: &str, body: &str) -> String {
    format!(
        "\nfn f(n: i64, x: f64{params}) {{\n  r: f64 = loop i < n (p: f64 = x){mode} {{\n{body}\n  }}\n  return r\n}}\n"
    )
}

#[test]
fn loops_for_which_tangents_do_not_pay_run_backwards() {
    let array = with(", v: f64[n]", "", "    e: f64 = v[i]\n    a: f64 = mul p, e\n    y: f64 = sin a\n    yield y");
    let linear = with("", "", "    a: f64 = mul p, 0.5\n    yield a");
    let root = with("", "", "    a: f64 = sqrt p\n    y: f64 = sin a\n    yield y");
    let reverse = with("", " reverse", "    y: f64 = sin p\n    yield y");
    let many = with(
        ", a: f64, b: f64, c: f64, d: f64",
        "",
        "    y: f64 = sin p\n    k: f64 = mul y, a\n    l: f64 = mul k, b\n    m: f64 = mul l, c\n    o: f64 = mul m, d\n    yield o",
    );
    for text in [array, linear, root, reverse, many] {
        let all = reversals(&text, &Limits::DEFAULT);
        assert!(matches!(all.as_slice(), [Reversal::Backwards(_)]), "{text}\n{all:?}");
    }
}

#[test]
fn what_the_author_asks_for_outweighs_the_cost() {
    let linear = with("", " forward", "    a: f64 = mul p, 0.5\n    yield a");
    let root = with("", " forward", "    a: f64 = sqrt p\n    y: f64 = sin a\n    yield y");
    let many = with(
        ", a: f64, b: f64, c: f64, d: f64",
        " forward",
        "    y: f64 = sin p\n    k: f64 = mul y, a\n    l: f64 = mul k, b\n    m: f64 = mul l, c\n    o: f64 = mul m, d\n    yield o",
    );
    for (text, inputs) in [(linear, vec!["p"]), (root, vec!["p"]), (many, vec!["p", "a", "b", "c", "d"])] {
        assert_eq!(chosen(&text), [inputs]);
    }
}

#[test]
fn an_array_and_a_rule_are_reasons_against_what_the_author_asks_for() {
    let array = with(", v: f64[n]", " forward", "    e: f64 = v[i]\n    y: f64 = mul p, e\n    yield y");
    let all = reversals(&array, &Limits::DEFAULT);
    assert!(
        matches!(all.as_slice(), [Reversal::Refused(Refusal::Array(name)), Reversal::Backwards(_)] if &**name == "v")
    );

    let rule = with("", " forward", "    y: f64 = call g(p)\n    yield y")
        + "
fn g(a: f64) vjp g.reverse {
  y: f64 = sin a
  return y
}

fn g.reverse(a: f64, y: f64, y_cot: f64) {
  c: f64 = mul y_cot, 3.0
  return c
}
";
    let all = reversals(&rule, &Limits::DEFAULT);
    assert!(
        matches!(all.as_slice(), [Reversal::Refused(Refusal::Rule(name)), Reversal::Backwards(_)] if &**name == "g")
    );
    let mut module = module(&rule);
    let f = gradient_of(&mut module);
    let found = run(&module, &f.name, &[int(2), scalar(0.5), scalar(1.0)]);
    assert_eq!(floats(&found[1]), [9.0], "the rule says 3 for each of the two iterations");
}

#[test]
fn of_a_nest_the_outermost_loop_that_can_be_is_differentiated_forward() {
    let outer_reads_an_array = "
fn f(n: i64, x: f64, v: f64[n]) {
  r: f64 = loop i < n (p: f64 = x) {
    q: f64 = loop j < n (s: f64 = p) {
      y: f64 = sin s
      yield y
    }
    e: f64 = v[i]
    m: f64 = mul q, e
    yield m
  }
  return r
}
";
    assert_eq!(chosen(outer_reads_an_array), [["s"]]);
    let scalars_alone = outer_reads_an_array.replace("e: f64 = v[i]", "e: f64 = cos p");
    assert_eq!(chosen(&scalars_alone), [["p"]]);
}

/// Functions whose loops are asked to be differentiated forward, with arguments.
fn asked() -> Vec<(&'static str, &'static str, Vec<Value>)> {
    vec![
        ("two scalars", TWO, vec![int(4), scalar(0.4), scalar(0.8)]),
        ("no iteration", TWO, vec![int(0), scalar(0.4), scalar(0.8)]),
        (
            "a while with a branch, one start value a constant, and results of which one depends on one scalar",
            "
fn f(x: f64, w: f64) {
  on: bool = lt x, 4.0
  k: i64, go: bool, a: f64, b: f64, c: f64 = while i (g: bool = on, p: f64 = x, q: f64 = 0.3, s: f64 = w) {
    pick: bool = lt q, 0.5
    h: f64 = switch pick {
      e: f64 = exp q
      yield e
    } {
      m: f64 = mul p, w
      yield m
    }
    np: f64 = add p, h
    nq: f64 = sin h
    ns: f64 = mul s, s
    more: bool = lt np, 4.0
    yield more, np, nq, ns
  }
  t: f64 = mul a, b
  u: f64 = add t, c
  return u, c
}
",
            vec![scalar(0.4), scalar(0.8)],
        ),
        (
            "a value that is carried and read",
            "
fn f(x: f64, n: i64) {
  y: f64 = sin x
  r: f64, s: f64 = loop i < n (p: f64 = y, q: f64 = y) {
    a: f64 = mul p, y
    b: f64 = cos a
    c: f64 = mul q, p
    yield b, c
  }
  t: f64 = mul r, s
  return t
}
",
            vec![scalar(0.7), int(3)],
        ),
        (
            "parallel sums, maxima and products, and tensors, inside",
            "
fn f(n: i64, v: i64[n], x: f64, w: f64) {
  r: f64 = loop i < 3 (p: f64 = x) {
    s: f64, m: f64, z: f64, t: f64[n] = par j < n (add from w, max from p, mul from 1.0, stack) {
      k: i64 = v[j]
      e: f64 = to_f64 k
      a: f64 = mul e, p
      b: f64 = mul a, w
      c: f64 = sin b
      d: f64 = add c, 2.0
      yield c, b, d, b
    }
    u: f64[n] = exp t
    row: f64[1, n] = par a1 < 1 (stack) {
      yield u
    }
    column: f64[n, 1] = transpose row {1, 0}
    square: f64[1, 1] = matmul row, column {0}
    y: f64 = square[0, 0]
    q: f64 = mul s, m
    l: f64 = mul z, 0.01
    o: f64 = add q, l
    yy: f64 = mul y, 0.1
    oo: f64 = add o, yy
    h: f64 = tanh oo
    yield h
  }
  return r
}
",
            vec![int(3), oracle::ints(&[2, 1, -1]), scalar(0.4), scalar(0.3)],
        ),
        (
            "an array in place inside, and an accumulator of a loop",
            "
fn f(x: f64, w: f64) {
  r: f64 = loop i < 3 (p: f64 = x) {
    z: f64[4] = fill 0.5
    a: f64[4], s: f64 = loop j < 4 (b: f64[4] = z) acc (h: f64 add from w) {
      e: f64 = b[j]
      g: f64 = mul e, p
      k: f64 = sin g
      c: f64[4] = update b[j] = k
      acc_add h[] = k
      yield c
    }
    d: f64 = a[2]
    q: f64 = mul d, s
    yield q
  }
  return r
}
",
            vec![scalar(0.9), scalar(0.6)],
        ),
        (
            "a sum over the iterations",
            "
fn f(n: i64, x: f64, w: f64) {
  a: f64 = mul w, w
  r: f64, s: f64 = loop i < n (p: f64 = x) acc (h: f64 add from a) {
    y: f64 = sin p
    acc_add h[] = y
    yield y
  }
  t: f64 = mul r, s
  return t
}
",
            vec![int(3), scalar(0.7), scalar(0.4)],
        ),
        (
            "inside a parallel loop",
            "
fn f(n: i64, v: f64[n], w: f64) {
  t: f64 = par i < n (add from 0.0) {
    e: f64 = v[i]
    k: i64, go: bool, r: f64 = while j (g: bool = true, p: f64 = e) {
      a: f64 = mul p, w
      b: f64 = cos a
      more: bool = lt j, i
      yield more, b
    }
    yield r
  }
  return t
}
",
            vec![int(4), vector(&[0.3, -0.4, 1.1, 0.8]), scalar(0.8)],
        ),
        (
            "inside a loop over an array that changes it",
            "
fn f(n: i64, v: f64[n], w: f64) {
  r: f64[n] = loop i < n (a: f64[n] = v) {
    e: f64 = a[i]
    m: i64 = floor_mod i, 3
    s: f64 = loop j < m (p: f64 = e) {
      b: f64 = mul p, w
      c: f64 = cos b
      yield c
    }
    u: f64[n] = update a[i] = s
    yield u
  }
  return r
}
",
            vec![int(4), vector(&[0.3, -0.4, 1.1, 0.8]), scalar(0.8)],
        ),
        (
            "inside a loop of known length, which keeps the partial derivatives",
            "
fn f(v: f64[5], w: f64) {
  r: f64 = loop i < 5 (q: f64 = w) {
    e: f64 = v[i]
    s: f64 = loop j < 9 (p: f64 = q) {
      a: f64 = mul p, e
      b: f64 = cos a
      yield b
    }
    u: f64 = mul s, e
    yield u
  }
  return r
}
",
            vec![vector(&[0.3, -0.4, 1.1, 0.8, 0.2]), scalar(0.8)],
        ),
        (
            "single precision",
            "
fn f(n: i64, x: f32, w: f64) {
  r: f32 = loop i < n (p: f32 = x) {
    d: f64 = to_f64 p
    a: f64 = mul d, w
    b: f64 = sin a
    c: f32 = to_f32 b
    yield c
  }
  return r
}
",
            vec![int(3), oracle::of_elem(Elem::F32, &[], &[0.5]), scalar(0.8)],
        ),
    ]
}

/// The text with its outermost sequential loops asked to be differentiated in a mode.
fn in_mode(text: &str, mode: &str) -> String {
    let each = |line: &str| {
        let is_loop = (line.contains(" = loop ") || line.contains(" = while ")) && line.ends_with('{');
        if is_loop { format!("{} {mode} {{\n", &line[..line.len() - 2]) } else { format!("{line}\n") }
    };
    text.lines().map(each).collect()
}

#[test]
fn every_order_in_every_mix_is_right() {
    for (what, text, args) in asked() {
        let text = in_mode(text, "forward");
        let is_forward = |how: &Reversal| matches!(how, Reversal::Forward(forward) if forward.is_asked_for);
        assert!(reversals(&text, &Limits::REVERSE_ALONE).iter().any(is_forward), "{what}");
        let exact = !text.contains("f32");
        oracle::check(&mut module(&text), "f", &args, 11, 3, exact);
    }
}

#[test]
fn both_modes_give_one_gradient_and_the_values_the_same_bits() {
    for (what, text, args) in asked() {
        let mut found = Vec::new();
        for mode in ["forward", "reverse"] {
            let mut module = module(&in_mode(text, mode));
            found.push(oracle::gradient(&mut module, "f", &args).0);
            let results = run(&module, "f", &args);
            let vjp = derive(&mut module, "f", Mode::Vjp);
            let zeros = results.iter().map(|v| oracle::map(v, |_| 0.0));
            let all = run(&module, &vjp.name, &args.iter().cloned().chain(zeros).collect::<Vec<_>>());
            assert_eq!(&all[..results.len()], results, "{what}, {mode}");
        }
        for (a, b) in found[0].iter().zip(&found[1]) {
            for (a, b) in floats(a).into_iter().zip(floats(b)) {
                close(a, b, 1.0, if text.contains("f32") { 1e-6 } else { 1e-14 }, what);
            }
        }
    }
}

#[test]
fn a_loop_around_may_keep_the_partial_derivatives() {
    let (_, text, args) = asked().into_iter().find(|(what, ..)| what.contains("known length")).expect("a function");
    let inner = text.replacen("(p: f64 = q)", "(p: f64 = q) forward", 1);
    let mut module = module(&inner);
    let (_, stats) = oracle::gradient(&mut module, "f", &args);
    // Of each of the five iterations the result of the loop inside, with which it is multiplied, and that one's partial
    // derivatives in `q` and `e`.
    assert_eq!(stats.recorded_elements, 15);
    let text = derive(&mut module, "f", Mode::Vjp).to_string();
    assert_eq!(text.matches("loop j < 9").count(), 1, "the loop runs in the forward sweep alone:\n{text}");
}

#[test]
fn large_functions_that_are_called_are_differentiated_once_for_each_direction() {
    let mut b = cotan_ir::Builder::new();
    let [a, c] = ["a", "c"].map(|name| b.param(name, Ty::scalar(Elem::F64)));
    let mut y = b.prim(cotan_ops::MUL.prim(), &[a.into(), c.into()]);
    for _ in 0..10_001 {
        y = b.prim(cotan_ops::SIN.prim(), &[y.into()]);
        y = b.prim(cotan_ops::COS.prim(), &[y.into()]);
    }
    let text = with(", w: f64", " forward", "    y: f64 = call g(p, w)\n    yield y");
    let mut module = module(&(text + "\nfn g(a: f64, c: f64) {\n  return a\n}\n"));
    module.insert(b.finish("g", vec![y.into()]));
    let vjp = derive(&mut module, "f", Mode::Vjp).to_string();
    // The first of them gives the values, too.
    let counts = ["call g.jvp_0_of_0", "call g.jvp_0_1_of_0", ".alone("].map(|what| vjp.matches(what).count());
    assert_eq!(counts, [1, 1, 1], "{vjp}");
    oracle::check(&mut module, "f", &[int(2), scalar(0.4), scalar(0.8)], 5, 1, true);
}

#[test]
fn an_exact_zero_wins_over_an_infinite_partial_derivative_of_the_loop() {
    // At 0 the first result has an infinite derivative. Its cotangent is zero, so it says nothing.
    let text = "
fn f(n: i64, x: f64) {
  a: f64, b: f64 = loop i < n (p: f64 = x, q: f64 = x) {
    c: f64 = div 1.0, p
    d: f64 = sin q
    yield c, d
  }
  return a, b
}
";
    for mode in ["forward", "reverse"] {
        let mut module = module(&in_mode(text, mode));
        let vjp = derive(&mut module, "f", Mode::Vjp);
        let found = run(&module, &vjp.name, &[int(1), scalar(0.0), scalar(0.0), scalar(1.0)]);
        assert_eq!(floats(&found[2]), [1.0], "{mode}");
    }
}

#[test]
fn where_cotangents_cancel_at_an_infinite_slope_the_gradient_stays_finite() {
    // The root has an infinite slope at 0, and reverse mode never looks at it: its cotangent is 1 - 1.
    let text = "
fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    a: f64 = sqrt p
    b: f64 = sin a
    c: f64 = sub a, b
    d: f64 = add c, p
    yield d
  }
  return r
}
";
    let mut module = module(text);
    let vjp = gradient_of(&mut module);
    let found = run(&module, &vjp.name, &[int(1), scalar(0.0), scalar(1.0)]);
    assert_eq!(floats(&found[1]), [1.0]);
}
