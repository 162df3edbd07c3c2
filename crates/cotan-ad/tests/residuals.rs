//! Residuals: the results that a loop records beside its carried values or in place of them, and equal derivatives.

use crate::oracle;

use cotan_ir::{Mode, Record};
use cotan_ops::Value;
use oracle::{derive, gradient, int, module, scalar, vector};

/// Checks all derivatives up to order 2; gives the elements and bytes that the gradient records, and its text.
fn recorded(text: &str, args: &[Value]) -> (u64, u64, String) {
    oracle::check(&mut module(text), "f", args, 3, 2, true);
    let mut module = module(text);
    let (_, stats) = gradient(&mut module, "f", args);
    let f = derive(&mut module, "f", Mode::Vjp);
    (stats.recorded_elements, stats.recorded_bytes, f.to_string())
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn a_dear_result_takes_the_place_of_what_it_was_made_of() {
    let (elements, _, text) = recorded(
        "
fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    y: f64 = exp p
    h: f64 = mul y, 0.15
    q: f64 = add h, 0.1
    yield q
  }
  return r
}
",
        &[int(5), scalar(0.4)],
    );
    assert_eq!(elements, 5, "{text}");
    assert_eq!((count(&text, " exp "), count(&text, "record kept 30 against 16")), (1, 1), "{text}");
}

#[test]
fn a_dear_result_is_kept_beside_the_carried_value_that_is_read_too() {
    let (elements, _, text) = recorded(
        "
fn f(n: i64, x: f64, w: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    a: f64 = mul p, w
    y: f64 = tanh a
    h: f64 = mul y, y
    q: f64 = add h, 0.1
    yield q
  }
  return r
}
",
        &[int(5), scalar(0.4), scalar(0.8)],
    );
    assert_eq!((elements, count(&text, "tanh")), (10, 1), "{text}");
}

#[test]
fn a_next_value_is_read_from_the_record_of_the_next_iteration() {
    let (elements, _, text) = recorded(
        "
fn f(n: i64, x: f64, w: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    a: f64 = mul p, w
    y: f64 = tan a
    yield y
  }
  return r
}
",
        &[int(5), scalar(0.4), scalar(0.8)],
    );
    assert_eq!((elements, count(&text, "tan a")), (5, 1), "{text}");
}

#[test]
fn a_next_tensor_is_read_from_the_record_of_the_next_iteration() {
    let text = "
fn f(n: i64, k: i64, x: f64[k], w: f64[k]) {
  r: f64[k] = loop i < n (p: f64[k] = x) {
    a: f64[k] = mul p, w
    y: f64[k] = tan a
    yield y
  }
  return r
}
";
    for n in [0, 1, 4] {
        let args = [int(n), int(3), vector(&[0.4, -0.2, 0.9]), vector(&[0.8, 1.1, -0.7])];
        let (elements, _, text) = recorded(text, &args);
        assert_eq!((elements, count(&text, "tan a")), (3 * n as u64, 1), "{text}");
    }
}

#[test]
fn what_a_loop_keeps_is_bounded_by_its_carried_values() {
    let functions = ["tanh", "sin", "exp", "cos", "atan", "sinh"];
    let mut body = String::new();
    let mut product = "p".to_owned();
    for (k, function) in functions.iter().enumerate() {
        body += &format!("    a{k}: f64 = {function} p\n    m{k}: f64 = mul {product}, a{k}\n");
        product = format!("m{k}");
    }
    let text = format!(
        "
fn f(n: i64, x: f64) {{
  r: f64 = loop i < n (p: f64 = x) {{
{body}    q: f64 = add {product}, 0.4
    yield q
  }}
  return r
}}
"
    );
    let (elements, _, text) = recorded(&text, &[int(4), scalar(0.4)]);
    assert_eq!(elements, 8, "the carried value and one of the functions: {text}");
}

#[test]
fn a_branch_that_is_linear_records_one_byte() {
    let (elements, bytes, text) = recorded(
        "
fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    big: bool = gt p, 1.0
    q: f64 = switch big {
      y: f64 = mul p, 0.5
      yield y
    } {
      y.1: f64 = mul p, 1.7
      yield y.1
    }
    yield q
  }
  return r
}
",
        &[int(7), scalar(0.9)],
    );
    assert_eq!((elements, bytes), (7, 7), "{text}");
}

#[test]
fn a_branch_on_data_or_on_the_iteration_records_nothing() {
    let (elements, _, text) = recorded(
        "
fn f(n: i64, x: f64[n], w: f64) {
  r: f64 = loop i < n (p: f64 = w) {
    e: f64 = x[i]
    big: bool = gt e, 0.5
    q: f64 = switch big {
      y: f64 = add p, e
      yield y
    } {
      late: bool = gt i, 2
      y.1: f64 = switch late {
        z: f64 = mul p, 1.7
        yield z
      } {
        yield p
      }
      yield y.1
    }
    yield q
  }
  return r
}
",
        &[int(6), vector(&[0.1, 0.9, 0.7, 0.3, 0.2, 0.8]), scalar(0.9)],
    );
    assert_eq!(elements, 0, "{text}");
}

#[test]
fn runge_kutta_records_its_state_and_nothing_else() {
    let slope = |k: usize, x: &str, y: &str| {
        format!(
            "    xy{k}: f64 = mul {x}, {y}
    gx{k}: f64 = mul a, {x}
    lx{k}: f64 = mul b, xy{k}
    dx{k}: f64 = sub gx{k}, lx{k}
    gy{k}: f64 = mul d, xy{k}
    ly{k}: f64 = mul c, {y}
    dy{k}: f64 = sub gy{k}, ly{k}
"
        )
    };
    let stage = |k: usize, from: usize, step: &str| {
        format!(
            "    hx{k}: f64 = mul {step}, dx{from}
    sx{k}: f64 = add x, hx{k}
    hy{k}: f64 = mul {step}, dy{from}
    sy{k}: f64 = add y, hy{k}
"
        )
    };
    let sum = |z: &str| {
        format!(
            "    m{z}: f64 = add d{z}2, d{z}3
    t{z}: f64 = mul 2.0, m{z}
    e{z}: f64 = add d{z}1, d{z}4
    w{z}: f64 = add t{z}, e{z}
    h{z}: f64 = mul 0.0016666666666666668, w{z}
    n{z}: f64 = add {z}, h{z}
"
        )
    };
    let body = [
        slope(1, "x", "y"),
        stage(2, 1, "0.005"),
        slope(2, "sx2", "sy2"),
        stage(3, 2, "0.005"),
        slope(3, "sx3", "sy3"),
        stage(4, 3, "0.01"),
        slope(4, "sx4", "sy4"),
        sum("x"),
        sum("y"),
    ]
    .concat();
    let text = format!(
        "
fn f(n: i64, x0: f64, y0: f64, a: f64, b: f64, c: f64, d: f64) {{
  rx: f64, ry: f64 = loop i < n (x: f64 = x0, y: f64 = y0) {{
{body}    yield nx, ny
  }}
  return rx, ry
}}
"
    );
    let rates = [1.1, 0.4, 0.4, 0.1].map(scalar);
    let args: Vec<Value> = [int(6), scalar(10.0), scalar(5.0)].into_iter().chain(rates).collect();
    let (elements, bytes, text) = recorded(&text, &args);
    assert_eq!((elements, bytes), (12, 96), "{text}");
    assert!(!text.contains(Record::Kept { recompute: 0, store: 0 }.name()), "{text}");
}

#[test]
fn a_next_value_of_a_while_is_read_from_the_record_of_the_next_iteration() {
    let (elements, _, text) = recorded(
        "
fn f(x: f64, w: f64) {
  k: i64, go: bool, r: f64 = while i (on: bool = true, p: f64 = x) {
    a: f64 = mul p, w
    y: f64 = tan a
    more: bool = gt y, 0.2
    yield more, y
  }
  return r
}
",
        &[scalar(0.9), scalar(0.8)],
    );
    assert!(elements > 2, "{text}");
    assert_eq!((count(&text, " record "), count(&text, "tan a")), (1, 1), "{text}");
}

#[test]
fn a_loop_inside_whose_result_alone_is_read_is_not_run_again() {
    let (elements, _, text) = recorded(
        "
fn f(n: i64, m: i64, x: f64, w: f64[m]) {
  r: f64 = loop i < n (p: f64 = x) {
    s: f64 = loop j < m (t: f64 = 0.1) {
      e: f64 = w[j]
      u: f64 = add t, e
      yield u
    }
    a: f64 = mul p, s
    b: f64 = sin a
    yield b
  }
  return r
}
",
        &[int(4), int(3), scalar(0.9), vector(&[0.3, 0.2, -0.1])],
    );
    // The sum is the same in every iteration, but nobody knows that here.
    assert_eq!((elements, count(&text, "add t")), (8, 1), "{text}");
}

#[test]
fn a_slope_that_costs_little_beside_its_function_is_recorded() {
    for (function, elements) in [("tanh", 5), ("sigmoid", 5), ("sin", 5)] {
        let (found, _, text) = recorded(
            &format!(
                "
fn f(n: i64, x: f64) {{
  r: f64 = loop i < n (p: f64 = x) {{
    y: f64 = {function} p
    q: f64 = add y, 0.1
    yield q
  }}
  return r
}}
"
            ),
            &[int(5), scalar(0.4)],
        );
        assert_eq!(found, elements, "{text}");
        let (forward, reverse) = text.split_once(" down ").expect("a reverse loop");
        // That of a sine is a cosine, which takes as long in one place as in the other.
        let is_recorded = function != "sin";
        assert_eq!((count(forward, "sech2 ") > 0, forward.contains("cos ")), (is_recorded, false), "{text}");
        assert_eq!((count(reverse, "sech2 ") > 0, reverse.contains("cos ")), (false, !is_recorded), "{text}");
    }
}

#[test]
fn of_a_chain_of_partials_the_product_is_recorded() {
    let cell = |last: &str| {
        format!(
            "
fn f(n: i64, x: f64, w: f64) {{
  r: f64 = loop i < n (p: f64 = x) {{
    a: f64 = mul p, w
    y: f64 = sigmoid a
    b: f64 = add p, 0.5
    z: f64 = tanh b
    q: f64 = mul y, z
    s: f64 = {last}
    yield s
  }}
  return r
}}
"
        )
    };
    let args = [int(5), scalar(0.4), scalar(0.9)];
    let (elements, _, text) = recorded(&cell("add q, 0.1"), &args);
    let (forward, _) = text.split_once(" down ").expect("a reverse loop");
    // Beside the operand: the limit leaves room for one.
    assert_eq!((elements, count(forward, "mulz "), text.contains(" y_cot:")), (10, 1, false), "{text}");
    // Where there is another use of a value, it has a cotangent of its own.
    let (elements, _, text) = recorded(&cell("add q, y"), &args);
    let (forward, _) = text.split_once(" down ").expect("a reverse loop");
    assert_eq!((elements, count(forward, "mulz "), text.contains(" y_cot:")), (10, 1, true), "{text}");
}

#[test]
fn a_slope_in_a_branch_is_computed_where_it_is_read() {
    let (_, _, text) = recorded(
        "
fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    big: bool = gt p, 0.3
    q: f64 = switch big {
      yield p
    } {
      y: f64 = tanh p
      yield y
    }
    yield q
  }
  return r
}
",
        &[int(5), scalar(0.4)],
    );
    let (forward, reverse) = text.split_once(" down ").expect("a reverse loop");
    assert_eq!((count(forward, "sech2 "), count(reverse, "sech2 ")), (0, 1), "{text}");
}
