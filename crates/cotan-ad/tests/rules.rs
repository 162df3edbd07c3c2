//! One test per rule that is easy to get wrong.

use crate::oracle;

use cotan_ad::{Limits, derivative, fwd_rev};
use cotan_interp::{Options, RuntimeError};
use cotan_ir::{CheckKind, Derived, Elem, Function, Mode, Module, Op};
use cotan_ops::Value;
use oracle::{check, derive, floats, gradient, int, ints, module, of_elem, run, scalar, vector};

/// Checked at second order in all mixes, and against differences.
fn holds(text: &str, args: &[Value]) {
    check(&mut module(text), "f", args, 3, 2, true);
    check(&mut module(text), "f", args, 4, 3, false);
}

fn gradients(text: &str, args: &[Value]) -> Vec<Vec<f64>> {
    gradient(&mut module(text), "f", args).0.iter().map(floats).collect()
}

#[test]
fn an_array_that_is_carried_and_free_gets_both_contributions() {
    let text = "
fn f(n: i64, x: f64[n]) {
  s: f64, a: f64[n] = loop i < n (s.1: f64 = 0.0, a.1: f64[n] = x) {
    own: f64 = x[i]
    first: f64 = a.1[0]
    product: f64 = mul own, first
    s.2: f64 = add s.1, product
    a.2: f64[n] = update a.1[0] = product
    yield s.2, a.2
  }
  return s, a
}
";
    holds(text, &[int(3), vector(&[0.5, 2.0, -1.5])]);
}

#[test]
fn the_start_value_of_an_accumulator_gets_its_cotangent_even_if_nothing_active_is_written() {
    let text = "
fn f(n: i64, h: f64[n]) {
  r: f64[n] = par i < n acc (a: f64[n] add from h) {
    acc_add a[i] = 1.0
    yield
  }
  l: f64[n] = loop i.1 < n acc (b: f64[n] add from r) {
    acc_add b[0] = 2.0
    yield
  }
  return l
}
";
    holds(text, &[int(2), vector(&[0.5, 2.0])]);
    assert_eq!(gradients(text, &[int(2), vector(&[0.5, 2.0])]), [[1.0, 1.0]]);
}

#[test]
fn counting_ties_writes_to_no_other_accumulator() {
    let text = "
fn f(n: i64, x: f64[n], h: f64[n]) {
  r: f64[n] = par i < n acc (outer: f64[n] add from h) {
    m: f64 = par j < n (max from -inf) {
      e: f64 = x[j]
      k: i64 = add i, j
      even: i64 = floor_mod k, 2
      flip: bool = eq even, 0
      e.1: f64 = neg e
      v: f64 = select flip, e, e.1
      acc_add outer[j] = v
      yield v
    }
    acc_add outer[i] = m
    yield
  }
  return r
}
";
    holds(text, &[int(3), vector(&[0.5, 2.0, -1.5]), vector(&[0.1, 0.2, 0.3])]);
}

#[test]
fn a_log_has_a_tangent_at_every_position() {
    let text = "
fn f(n: i64, x: f64[n]) {
  total: i64, l: f64[total] = loop i < n (pos: i64 = 0) acc (log: f64[0] log) {
    even: i64 = floor_mod i, 2
    is_even: bool = eq even, 0
    next: i64 = switch is_even {
      e: f64 = x[i]
      s: f64 = sin e
      acc_add log[pos] = s
      p: i64 = add pos, 1
      acc_add log[p] = 3.0
      q: i64 = add pos, 2
      yield q
    } {
      yield pos
    }
    yield next
  }
  r: f64 = par j < total (add from 0.0) {
    v: f64 = l[j]
    w: f64 = mul v, v
    yield w
  }
  return r, total, l
}
";
    holds(text, &[int(5), vector(&[0.5, 2.0, -1.5, 0.3, 0.2])]);
}

#[test]
fn a_loop_that_records_in_every_way_keeps_the_roles_of_its_results() {
    let text = "
fn f(n: i64, x: f64[n], y: f64[n]) {
  go: bool = lt 0, n
  k: i64, more: bool, at: i64, s: f64, a: f64[n], w: f64[n], h: f64[n], seen: f64[k] = while i (more.1: bool = go, at.1: i64 = 0, s.1: f64 = 0.5, a.1: f64[n] = x, w.1: f64[n] = y) acc (h.1: f64[n] add from y) {
    own: f64 = x[at.1]
    big: f64 = par j < n (add from 0.0) {
      e: f64 = a.1[j]
      e.1: f64 = mul e, e
      yield e.1
    }
    t: f64 = mul own, s.1
    s.2: f64 = sin t
    u: f64 = add big, s.2
    a.2: f64[n] = update a.1[at.1] = u
    acc_add h.1[at.1] = t
    w.2: f64[n] = par j.1 < n (stack) {
      e.2: f64 = w.1[j.1]
      e.3: f64 = cos e.2
      yield e.3
    }
    at.2: i64 = add at.1, 1
    more.2: bool = lt at.2, n
    yield more.2, at.2, s.2, a.2, w.2, u
  }
  return s, a, w, h, k, seen
}
";
    holds(text, &[int(3), vector(&[0.5, 0.2, -0.5]), vector(&[0.3, -0.7, 0.1])]);
}

#[test]
fn a_duplicated_read_is_recorded_once() {
    let text = "
fn f(n: i64, o: f64[n]) {
  m: i64 = sub n, 1
  r: f64[n] = loop i < m (a: f64[n] = o) {
    at: i64 = add i, 1
    e: f64 = a[i]
    e.1: f64 = a[i]
    p: f64 = mul e, e.1
    a.1: f64[n] = update a[at] = p
    yield a.1
  }
  return r
}
";
    let (_, stats) = gradient(&mut module(text), "f", &[int(5), vector(&[0.5, 0.2, -0.5, 0.1, 0.2])]);
    assert_eq!(stats.recorded_elements, 4);
}

/// A gather with a checked index in a `par`, and one in a loop.
const CHECKED: &str = "
fn f(n: i64, x: f64[n], at: i64[n]) {
  r: f64 = par i < n (add from 0.0) {
    k: i64 = at[i]
    ok: bool = in_range k, n
    k.1: i64 = check ok R0001(k, n) k
    e: f64 = x[k.1]
    yield e
  }
  s: f64 = loop i.1 < n (p: f64 = r) {
    k.2: i64 = at[i.1]
    ok.1: bool = in_range k.2, n
    k.3: i64 = check ok.1 R0001(k.2, n) k.2
    e.1: f64 = x[k.3]
    p.1: f64 = add p, e.1
    yield p.1
  }
  return s
}
";

#[test]
fn a_gradient_without_its_value_still_checks_the_indices_that_it_uses() {
    let mut module = module(CHECKED);
    holds(CHECKED, &[int(3), vector(&[0.5, 0.2, -0.5]), ints(&[2, 0, 2])]);
    let vjp = derive(&mut module, "f", Mode::Vjp);
    let mut alone = Function::clone(&vjp);
    alone.name = "alone".into();
    alone.body.results.remove(0);
    module.insert(cotan_opt::simplify(alone));
    let outcome = |name: &str, at: &[i64]| {
        let args = [int(3), vector(&[0.5, 0.2, -0.5]), ints(at), scalar(1.0)];
        cotan_interp::run(&module, name, &args, &Options::default())
    };
    for name in [&*vjp.name, "alone"] {
        match outcome(name, &[2, 3, 2]) {
            Err(RuntimeError::Check(failure)) => assert_eq!(failure.kind, CheckKind::IndexRange, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert_eq!(outcome("alone", &[2, 0, 2]), Ok(vec![vector(&[2.0, 0.0, 4.0])]));
}

#[test]
fn checks_hide_neither_inductions_nor_updates_from_what_a_loop_records() {
    let text = "
fn f(n: i64, x: f64[n]) {
  a: f64[n], at: i64 = loop i < n (a.1: f64[n] = x, at.1: i64 = 0) {
    ok: bool = in_range at.1, n
    k: i64 = check ok R0001(at.1, n) at.1
    a.2: f64[n] = check ok R0001(at.1, n) a.1
    all: f64 = par j < n (add from 0.0) {
      e: f64 = a.2[j]
      s: f64 = sin e
      yield s
    }
    a.3: f64[n] = update a.2[k] = all
    fits: bool = lt at.1, 9
    next: i64 = add at.1, 1
    at.2: i64 = check fits R0003(at.1) next
    yield a.3, at.2
  }
  return a
}
";
    holds(text, &[int(3), vector(&[0.5, 0.2, -0.5])]);
    let (_, stats) = gradient(&mut module(text), "f", &[int(3), vector(&[0.5, 0.2, -0.5])]);
    assert_eq!(stats.recorded_elements, 6, "an old value and an index per iteration");
}

#[test]
fn an_element_written_twice_in_an_iteration_is_undone_in_order() {
    // What the reverse needs of the array is more than scalars read at the top, so it is had again by undoing.
    let sum = "
    all: f64 = par j < n (add from 0.0) {
      e: f64 = a.1[j]
      s: f64 = sin e
      yield s
    }";
    let straight = format!(
        "
fn f(n: i64, x: f64[n]) {{
  a: f64[n] = loop i < n (a.1: f64[n] = x) {{{sum}
    a.2: f64[n] = update a.1[0] = all
    twice: f64 = mul all, 2.0
    a.3: f64[n] = update a.2[0] = twice
    a.4: f64[n] = update a.3[i] = all
    yield a.4
  }}
  return a
}}
"
    );
    let nested = format!(
        "
fn f(n: i64, x: f64[n]) {{
  a: f64[n] = loop i < n (a.1: f64[n] = x) {{{sum}
    a.2: f64[n] = loop k < 4 (a.3: f64[n] = a.1) {{
      half: i64 = div k, 2
      old: f64 = a.3[half]
      new: f64 = mul old, all
      a.4: f64[n] = update a.3[half] = new
      yield a.4
    }}
    yield a.2
  }}
  return a
}}
"
    );
    for text in [straight, nested] {
        holds(&text, &[int(3), vector(&[0.5, 0.2, -0.5])]);
        let printed = derive(&mut module(&text), "f", Mode::Vjp).to_string();
        assert!(printed.contains("f64[0] log"), "{printed}");
    }
}

#[test]
fn an_array_that_an_iteration_overwrites_is_recorded_whole() {
    let text = "
fn f(n: i64, x: f64[n]) {
  a: f64[n] = loop i < n (a.1: f64[n] = x) {
    last: i64 = sub n, 1
    a.2: f64[n] = loop k < last (a.3: f64[n] = a.1) {
      old: f64 = a.3[k]
      next: i64 = add k, 1
      other: f64 = a.3[next]
      new: f64 = mul old, other
      a.4: f64[n] = update a.3[k] = new
      yield a.4
    }
    yield a.2
  }
  return a
}
";
    holds(text, &[int(3), vector(&[0.5, 0.2, -0.5])]);
    let printed = derive(&mut module(text), "f", Mode::Vjp).to_string();
    assert!(!printed.contains("f64[0] log"), "{printed}");
}

#[test]
fn a_check_that_renames_a_length_passes_derivatives() {
    let text = "
fn f(n: i64, m: i64, x: f64[n], y: f64[m]) {
  same: bool = eq n, m
  y.1: f64[n] = check same R0007(n, m) y
  less: bool = lt n, 7
  z: f64[n] = switch less {
    k: i64 = mul m, 1
    same.1: bool = eq k, m
    y.2: f64[k] = check same.1 R0007(k, m) y.1
    s: f64[k] = sin y.2
    same.2: bool = eq k, n
    s.1: f64[n] = check same.2 R0007(n, k) s
    p: f64[n] = mul s.1, x
    yield p
  } {
    yield x
  }
  r: f64[n] = loop i < 2 (q: f64[n] = z) {
    j: i64 = mul m, 1
    same.3: bool = eq j, m
    q.1: f64[j] = check same.3 R0007(j, m) q
    q.2: f64[j] = exp q.1
    q.3: f64[n] = check same.3 R0007(n, j) q.2
    yield q.3
  }
  return r
}
";
    holds(text, &[int(2), int(2), vector(&[0.5, 0.2]), vector(&[-0.3, 0.4])]);
}

#[test]
fn derivatives_have_the_element_types_of_what_they_belong_to() {
    let text = "
fn f(n: i64, x: f32[n], y: f64) {
  r: f64 = par i < n (add from 0.0) {
    e: f32 = x[i]
    s: f32 = sin e
    w: f64 = to_f64 s
    p: f64 = mul w, y
    q: f32 = to_f32 p
    v: f64 = to_f64 q
    yield v
  }
  m: f32 = par i.1 < n (max from -inf_f32) {
    e.1: f32 = x[i.1]
    yield e.1
  }
  t: f32 = loop i.2 < n (p.1: f32 = m) {
    e.2: f32 = x[i.2]
    p.2: f32 = mul p.1, e.2
    yield p.2
  }
  return r, t
}
";
    let x = of_elem(Elem::F32, &[3], &[0.5, 2.0, -1.5]);
    let mut module = module(text);
    let (found, _) = gradient(&mut module, "f", &[int(3), x.clone(), scalar(0.25)]);
    assert_eq!((found[0].elem, found[1].elem), (Elem::F32, Elem::F64));
    // t = max(x) x0 x1 x2 with the maximum at x1.
    let of_t = [2.0 * 2.0 * -1.5, 2.0 * 2.0 * 0.5 * -1.5, 2.0 * 2.0 * 0.5];
    for ((found, x), t) in floats(&found[0]).into_iter().zip(floats(&x)).zip(of_t) {
        oracle::close(found, 0.25 * x.cos() + t, 0.0, 1e-6, "f32 cotangent");
    }
    check(&mut module, "f", &[int(3), x, scalar(0.25)], 6, 3, false);
}

#[test]
fn every_tensor_operation_is_differentiated_in_all_its_operands() {
    let text = "
fn f(n: i64, x: f64[n], s: f64, m: f64[n, 3]) {
  four: i64 = mul n, 2
  six: i64 = mul n, 3
  filled: f64[n] = fill s
  twice: f64[n] = mul filled, x
  joined: f64[four] = concat x, twice {0}
  back: f64[four] = reverse joined {0}
  part: f64[n] = slice back, 1 {0}
  wide: f64[four] = pad part, 1 {0}
  bent: f64[four] = sin wide
  turned: f64[3, n] = transpose m {1, 0}
  square: f64[3, 3] = matmul turned, m {0}
  strong: f64[n, 3] = matmul m, square {1}
  flat: f64[six] = reshape strong
  curved: f64[six] = exp flat
  return four, six, bent, curved
}
";
    let m = Value::f64s(&[2, 3], &[0.1, -0.2, 0.3, 0.4, 0.0, -0.6]);
    holds(text, &[int(2), vector(&[0.5, 0.2]), scalar(0.7), m]);
}

#[test]
fn loops_that_do_not_run_pass_their_start_values() {
    let text = "
fn f(n: i64, x: f64, y: f64[n]) {
  less: i64 = sub n, 5
  r: f64, a: f64[n] = loop i < less (p: f64 = x, b: f64[n] = y) {
    e: f64 = b[i]
    q: f64 = mul p, e
    b.1: f64[n] = update b[i] = q
    yield q, b.1
  }
  k: i64, go: bool, s: f64 = while j (more: bool = false, t: f64 = r) {
    u: f64 = exp t
    yield false, u
  }
  return s, a
}
";
    holds(text, &[int(2), scalar(0.5), vector(&[0.1, 0.2])]);
    assert_eq!(gradients(text, &[int(2), scalar(0.5), vector(&[0.1, 0.2])]), [vec![1.0], vec![1.0, 1.0]]);
}

#[test]
fn what_carries_no_derivative_stays_out() {
    let text = "
fn f(n: i64, x: f64[n], c: bool) {
  all: bool, any: bool, product: i64, s: f64, high: f64 = par i < n (and from true, or from c, mul from 1, add from 0.0, max from 0.0) {
    e: f64 = x[i]
    big: bool = lt 0.3, e
    one: i64 = add i, 1
    yield big, big, one, e, 0.7
  }
  scale: f64 = to_f64 product
  t: f64 = mul s, scale
  u: f64 = add t, high
  v: f64 = select any, u, 0.0
  return v, all, product, 2.5, s, s
}
";
    holds(text, &[int(3), vector(&[0.5, 0.2, -0.1]), oracle::truth(false)]);
    let (found, _) = gradient(&mut module(text), "f", &[int(3), vector(&[0.5, 0.2, -0.1]), oracle::truth(false)]);
    assert_eq!(floats(&found[0]), [8.0; 3]);
}

#[test]
fn exact_zeros_win_against_poles_at_every_order() {
    let text = "
fn f(x: f64, y: f64) {
  s: f64 = sqrt x
  z: f64 = mul 0.0, s
  r: f64 = add y, z
  return r
}
";
    let mut module = module(text);
    let first = derive(&mut module, "f", Mode::Vjp);
    let push = derive(&mut module, "f", Mode::Jvp);
    let mixed = derive(&mut module, &first.name, Mode::Jvp);
    let second = derive(&mut module, &first.name, Mode::Vjp);
    for f in [first, push, mixed, second] {
        let mut args = vec![scalar(0.0), scalar(1.0)];
        args.resize(f.params.len(), scalar(1.0));
        let results = run(&module, &f.name, &args);
        assert!(results.iter().flat_map(floats).all(|v| v.abs() <= 1.0), "{}: {results:?}", f.name);
    }
}

#[test]
fn a_branch_not_taken_contributes_nothing_even_where_it_has_a_pole() {
    let text = "
fn f(x: f64) {
  s: f64 = sqrt x
  positive: bool = lt 0.0, x
  r: f64 = select positive, s, x
  return r
}
";
    assert_eq!(gradients(text, &[scalar(0.0)]), [[1.0]]);
    let mut module = module(text);
    let jvp = derive(&mut module, "f", Mode::Jvp);
    assert_eq!(run(&module, &jvp.name, &[scalar(0.0), scalar(1.0)]), [scalar(0.0), scalar(1.0)]);
}

#[test]
fn products_have_exact_second_derivatives_at_any_number_of_zeros() {
    let text = "
fn f(n: i64, x: f64[n]) {
  p: f64 = par i < n (mul from 1.0) {
    e: f64 = x[i]
    yield e
  }
  return p
}
";
    for x in [[0.0, 0.0, 2.0], [0.0, 3.0, 2.0], [0.0, 0.0, 0.0], [5.0, 3.0, 2.0]] {
        for unit in 0..3 {
            let direction: Vec<f64> = (0..3).map(|k| if k == unit { 1.0 } else { 0.0 }).collect();
            let entry = |k: usize| if k == unit { 0.0 } else { x[3 - k - unit] };
            let row = vector(&[entry(0), entry(1), entry(2)]);
            let mut module = module(text);
            let vjp = derive(&mut module, "f", Mode::Vjp).name.clone();
            let jvp = derive(&mut module, "f", Mode::Jvp).name.clone();
            let at = |rest: &[Value]| [&[int(3), vector(&x)], rest].concat();
            let e = || vector(&direction);

            let rev_rev = derive(&mut module, &vjp, Mode::Vjp).name.clone();
            assert_eq!(run(&module, &rev_rev, &at(&[scalar(1.0), scalar(0.0), e()]))[2], row);
            let fwd_rev = derive(&mut module, &vjp, Mode::Jvp).name.clone();
            assert_eq!(run(&module, &fwd_rev, &at(&[scalar(1.0), e(), scalar(0.0)]))[3], row);
            let rev_fwd = derive(&mut module, &jvp, Mode::Vjp).name.clone();
            assert_eq!(run(&module, &rev_fwd, &at(&[e(), scalar(0.0), scalar(1.0)]))[2], row);
        }
    }
}

#[test]
fn a_product_over_two_axes_is_a_nest_of_loops() {
    let text = "
fn f(n: i64, x: f64[n, n]) {
  p: f64[n], q: f64 = par i < n, j < n (mul from x0, mul from 2.0) {
    row: f64[n] = x[j]
    e: f64 = x[i, j]
    yield row, e
  }
  return p, q
}
"
    .replace("p: f64[n], q", "x0: f64[n] = x[0]\n  p: f64[n], q");
    holds(&text, &[int(2), Value::f64s(&[2, 2], &[0.5, 0.2, -1.1, 0.7])]);
}

#[test]
fn all_that_tie_share_equally_the_start_value_included() {
    let text = "
fn f(n: i64, x: f64[n], h: f64[n]) {
  r: f64[n] = par i < n acc (a: f64[n] max from h) {
    e: f64 = x[i]
    acc_add a[0] = e
    yield
  }
  first: f64 = r[0]
  return first
}
";
    let at = |x: [f64; 3], h: f64| gradients(text, &[int(3), vector(&x), vector(&[h, 5.0, 7.0])]);
    assert_eq!(at([1.0, 2.0, 2.0], 2.0), [[0.0, 1.0 / 3.0, 1.0 / 3.0], [1.0 / 3.0, 0.0, 0.0]]);
    assert_eq!(at([1.0, 2.0, 1.5], 0.0), [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]);
    assert!(at([1.0, f64::NAN, 1.5], 0.0)[0].iter().all(|c| c.is_nan()), "a NaN in the value is one in the derivative");
    let mut module = module(text);
    let jvp = derive(&mut module, "f", Mode::Jvp);
    let args = [
        int(3),
        vector(&[1.0, 2.0, 2.0]),
        vector(&[2.0, 0.0, 0.0]),
        vector(&[9.0, 1.0, 3.0]),
        vector(&[5.0, 9.0, 9.0]),
    ];
    assert_eq!(run(&module, &jvp.name, &args)[1], scalar((1.0 + 3.0 + 5.0) * (1.0 / 3.0)));
}

const CUSTOM: &str = "
fn f(x: f64, y: f64) {
  z: f64 = mul x, y
  g: f64, h: f64 = call g(z, x)
  r: f64 = mul g, h
  return r
}

fn g(x: f64, y: f64) vjp g.reverse jvp g.forward {
  p: f64 = mul x, y
  s: f64 = sin x
  return p, s
}

fn g.reverse(x: f64, y: f64, p: f64, s: f64, p_cot: f64, s_cot: f64) {
  a: f64 = mul p_cot, y
  c: f64 = cos x
  b: f64 = mul s_cot, c
  x_cot: f64 = add a, b
  y_cot: f64 = mul p_cot, x
  return x_cot, y_cot
}

fn g.forward(x: f64, y: f64, x_tan: f64, y_tan: f64) {
  p: f64 = mul x, y
  s: f64 = sin x
  a: f64 = mul x_tan, y
  b: f64 = mul x, y_tan
  p_tan: f64 = add a, b
  c: f64 = cos x
  s_tan: f64 = mul x_tan, c
  return p, s, p_tan, s_tan
}
";

fn calls(f: &Function) -> Vec<String> {
    let callee = |s: &cotan_ir::Stmt| if let Op::Call { callee, .. } = &s.op { Some(callee.to_string()) } else { None };
    f.body.stmts.iter().filter_map(callee).collect()
}

#[test]
fn custom_rules_replace_the_derived_ones_and_are_differentiated_themselves() {
    holds(CUSTOM, &[scalar(0.5), scalar(0.7)]);
    let mut module = module(CUSTOM);
    assert_eq!(calls(&derive(&mut module, "f", Mode::Vjp)), ["g", "g.reverse"]);
    assert_eq!(calls(&derive(&mut module, "f", Mode::Jvp)), ["g.forward"]);
    // Asked of the function that has the rules, they apply too.
    assert_eq!(calls(&derive(&mut module, "g", Mode::Vjp)), ["g", "g.reverse"]);
    assert_eq!(calls(&derive(&mut module, "g", Mode::Jvp)), ["g.forward"]);
    check(&mut module, "g", &[scalar(0.5), scalar(0.7)], 1, 3, true);
}

#[test]
fn a_call_that_is_not_inlined_is_differentiated_by_derivatives_of_its_callee() {
    // Only the reverse rule is custom, so the call stays a call and forward mode generates the callee's derivative.
    let only_reverse = CUSTOM.replace(" jvp g.forward", "");
    holds(&only_reverse, &[scalar(0.5), scalar(0.7)]);
    let mut reverse = module(&only_reverse);
    assert_eq!(calls(&derive(&mut reverse, "f", Mode::Jvp)), ["g.jvp_0_1_of_0_1"]);
    let only_forward = CUSTOM.replace(" vjp g.reverse", "");
    holds(&only_forward, &[scalar(0.5), scalar(0.7)]);
    let mut forward = module(&only_forward);
    assert_eq!(calls(&derive(&mut forward, "f", Mode::Vjp)), ["g", "g.vjp_0_1_of_0_1.alone"]);
}

#[test]
fn a_large_callee_is_not_inlined_and_gets_a_derivative_of_its_own() {
    let mut b = cotan_ir::Builder::new();
    let x = b.param("x", cotan_ir::Ty::scalar(Elem::F64));
    let mut y = x;
    for _ in 0..20_001 {
        y = b.prim(cotan_ops::SIN.prim(), &[y.into()]);
    }
    let mut module = module(
        "fn f(x: f64) {\n  y: f64 = call g(x)\n  z: f64 = mul y, y\n  return z\n}\n\nfn g(x: f64) {\n  return x\n}\n",
    );
    module.insert(b.finish("g", vec![y.into()]));
    assert_eq!(calls(&derive(&mut module, "f", Mode::Vjp)), ["g", "g.vjp_0_of_0.alone"]);
    assert_eq!(calls(&derive(&mut module, "f", Mode::Jvp)), ["g.jvp_0_of_0"]);
    check(&mut module, "f", &[scalar(0.5)], 1, 1, true);
}

#[test]
fn a_callee_tells_its_run_time_lengths_to_its_reverse() {
    let text = "
fn f(n: i64, x: f64[n]) {
  s: f64 = loop i < n (p: f64 = 0.1) {
    e: f64 = x[i]
    k: i64, v: f64, ys: f64[k] = call g(n, e, x)
    t: f64 = par j < k (add from p) {
      y: f64 = ys[j]
      z: f64 = mul y, v
      yield z
    }
    yield t
  }
  return s
}

fn g(n: i64, s: f64, a: f64[n]) jvp g.forward {
  start: bool = lt s, 2.0
  k: i64, go: bool, v: f64, ys: f64[k] = while j (more: bool = start, w: f64 = s) {
    u: f64 = mul w, 1.5
    u.1: f64 = add u, 0.1
    less: bool = lt u.1, 2.0
    first: f64 = a[0]
    y: f64 = mul w, first
    yield less, u.1, y
  }
  return k, v, ys
}

fn g.forward(n: i64, s: f64, a: f64[n], s_tan: f64, a_tan: f64[n]) {
  k: i64, v: f64, ys: f64[k], v_tan: f64, ys_tan: f64[k] = call g.inlined(n, s, a, s_tan, a_tan)
  return k, v, ys, v_tan, ys_tan
}

fn g.inlined(n: i64, s: f64, a: f64[n], s_tan: f64, a_tan: f64[n]) {
  start: bool = lt s, 2.0
  k: i64, go: bool, v: f64, v_tan: f64, ys: f64[k], ys_tan: f64[k] = while j (more: bool = start, w: f64 = s, w_tan: f64 = s_tan) {
    u: f64 = mul w, 1.5
    u_tan: f64 = mul w_tan, 1.5
    u.1: f64 = add u, 0.1
    less: bool = lt u.1, 2.0
    first: f64 = a[0]
    first_tan: f64 = a_tan[0]
    y: f64 = mul w, first
    y_tan: f64 = mul w_tan, first
    y_tan.1: f64 = mul w, first_tan
    y_tan.2: f64 = add y_tan, y_tan.1
    yield less, u.1, u_tan, y, y_tan.2
  }
  return k, v, ys, v_tan, ys_tan
}
";
    holds(text, &[int(3), vector(&[0.3, 0.5, 0.7])]);
}

/// Both halves of a reverse derivative, against the whole, bit for bit.
fn split_equals_whole(module: &mut Module, name: &str, args: &[Value]) {
    let f = module.function(name).expect("a function").clone();
    let (wrt, outs) = (oracle::float_params(&f), oracle::float_results(&f));
    let results = run(module, name, args);
    let mut rng = oracle::Rng::new(5);
    let cots: Vec<Value> = outs.iter().map(|k| rng.like(&results[*k])).collect();
    let vjp = derive(module, name, Mode::Vjp);
    let lengths = oracle::length_values(module, name, &results);
    let whole = run(module, &vjp.name, &[args, &lengths, &cots].concat());

    let halves = fwd_rev(module, name, &wrt, &outs, &Limits::REVERSE_ALONE).expect("two halves");
    assert_eq!(halves.rev.params.len(), halves.fwd.body.results.len() - results.len() + cots.len(), "{name}");
    let (fwd, rev) = (module.insert(halves.fwd), module.insert(halves.rev));
    let forward = run(module, &fwd.name, args);
    let (values, record) = forward.split_at(results.len());
    let reverse = run(module, &rev.name, &[record, &cots].concat());
    assert_eq!([values, &reverse].concat(), whole, "{name}");
}

#[test]
fn forward_and_reverse_halves_composed_are_the_whole_bit_for_bit() {
    let x = || vector(&[0.3, 0.5, 0.7, 0.4]);
    let matrix = || Value::f64s(&[3, 3], &[2.0, 0.3, 0.1, 0.3, 1.5, 0.2, 0.1, 0.2, 1.1]);
    let in_place = include_str!("shapes/in_place.cir");
    let name = "cholesky_right_looking_three_nested_in_place_loops";
    split_equals_whole(&mut module(in_place), name, &[int(3), matrix()]);
    let name = "forward_substitution";
    split_equals_whole(&mut module(in_place), name, &[int(3), matrix(), vector(&[1.0, 0.5, 2.0])]);
    let whiles = include_str!("shapes/whiles.cir");
    split_equals_whole(&mut module(whiles), "while_result_of_run_time_length", &[scalar(0.3)]);
    split_equals_whole(&mut module(whiles), "while_newton_in_a_par", &[int(4), x()]);
    let branches = include_str!("shapes/branches.cir");
    split_equals_whole(&mut module(branches), "branches_of_different_run_time_length", &[int(4), x()]);
    let bounds = include_str!("shapes/bounds.cir");
    split_equals_whole(&mut module(bounds), "sibling_loops_second_bound_from_the_first", &[int(4), x()]);
    split_equals_whole(&mut module(CUSTOM), "f", &[scalar(0.5), scalar(0.7)]);
}

#[test]
fn only_the_asked_derivatives_are_computed() {
    let text = "
fn f(x: f64, y: f64) {
  s: f64 = sin x
  t: f64 = exp y
  return s, t
}
";
    let mut module = module(text);
    let mut derived = |mode, wrt: &[usize], outs: &[usize]| {
        let d = Derived { of: "f".into(), mode, wrt: wrt.to_vec(), outs: outs.to_vec() };
        derivative(&mut module, &d, &Limits::REVERSE_ALONE).expect("a derivative").n_stmts()
    };
    assert_eq!(derived(Mode::Vjp, &[0], &[0]), 4);
    assert_eq!(derived(Mode::Vjp, &[0], &[1]), 2);
    assert_eq!(derived(Mode::Vjp, &[], &[0, 1]), 2);
    assert_eq!(derived(Mode::Jvp, &[0, 1], &[1]), 3);
}

#[test]
fn long_straight_code_is_differentiated_in_linear_time() {
    let n = 20_000;
    let mut b = cotan_ir::Builder::new();
    let x = b.param("x", cotan_ir::Ty::scalar(Elem::F64));
    let mut y = x;
    for k in 0..n {
        let row = if k % 2 == 0 { &cotan_ops::SIN } else { &cotan_ops::COS };
        y = b.prim(row.prim(), &[y.into()]);
    }
    let mut module = Module::default();
    module.insert(b.finish("f", vec![y.into()]));
    let vjp = derive(&mut module, "f", Mode::Vjp);
    let jvp = derive(&mut module, "f", Mode::Jvp);
    let reverse = run(&module, &vjp.name, &[scalar(0.3), scalar(1.0)]);
    let forward = run(&module, &jvp.name, &[scalar(0.3), scalar(1.0)]);
    oracle::close(floats(&reverse[1])[0], floats(&forward[1])[0], 0.0, 1e-12, "a long chain");
}
