//! Printed derivatives of programs small enough to check by hand.

use crate::oracle;

use cotan_ad::{Limits, derivative, fwd_rev};
use cotan_ir::{Derived, Mode};
use expect_test::{Expect, expect};
use oracle::module;

fn check(text: &str, name: &str, mode: Mode, wrt: &[usize], outs: &[usize], expected: Expect) {
    let mut module = module(text);
    let d = Derived { of: name.into(), mode, wrt: wrt.to_vec(), outs: outs.to_vec() };
    let f = derivative(&mut module, &d, &Limits::REVERSE_ALONE).expect("a derivative");
    expected.assert_eq(&f.to_string());
}

const LOSS: &str = "
fn loss(n: i64, w: f32[n], x: f32[n], y: f32) {
  pred: f32 = par i < n (add from 0.0_f32) {
    wi: f32 = w[i]
    xi: f32 = x[i]
    term: f32 = mul wi, xi
    yield term
  }
  err: f32 = sub pred, y
  square: f32 = mul err, err
  return square
}
";

#[test]
fn the_gradient_of_a_loss_has_the_names_of_the_source_and_constants_of_its_type() {
    check(
        LOSS,
        "loss",
        Mode::Vjp,
        &[1],
        &[0],
        expect![[r#"
            fn loss.vjp_1_of_0(n: i64, w: f32[n], x: f32[n], y: f32, square_cot: f32) {
              pred: f32 = par i < n (add from 0.0_f32) {
                wi: f32 = w[i]
                xi: f32 = x[i]
                term: f32 = mul wi, xi
                yield term
              }
              err: f32 = sub pred, y
              square: f32 = mul err, err
              err_cot: f32 = mulz square_cot, err
              err_cot.1: f32 = add err_cot, err_cot
              w_cot: f32[n] = par i.1 < n (stack) {
                xi.1: f32 = x[i.1]
                wi_cot: f32 = mulz err_cot.1, xi.1
                w_cot.1: f32 = add 0.0_f32, wi_cot
                yield w_cot.1
              }
              return square, w_cot
            }
        "#]],
    );
}

#[test]
fn the_tangent_of_a_loss_follows_each_statement() {
    check(
        LOSS,
        "loss",
        Mode::Jvp,
        &[1, 3],
        &[0],
        expect![[r#"
        fn loss.jvp_1_3_of_0(n: i64, w: f32[n], x: f32[n], y: f32, w_tan: f32[n], y_tan: f32) {
          pred: f32, pred_tan: f32 = par i < n (add from 0.0_f32, add from 0.0_f32) {
            wi: f32 = w[i]
            wi_tan: f32 = w_tan[i]
            xi: f32 = x[i]
            term: f32 = mul wi, xi
            term_tan: f32 = mulz wi_tan, xi
            yield term, term_tan
          }
          err: f32 = sub pred, y
          err_tan: f32 = neg y_tan
          err_tan.1: f32 = add pred_tan, err_tan
          square: f32 = mul err, err
          square_tan: f32 = mulz err_tan.1, err
          square_tan.1: f32 = add square_tan, square_tan
          return square, square_tan.1
        }
    "#]],
    );
}

#[test]
fn a_sequential_loop_records_only_what_its_reverse_reads() {
    let text = "
fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    t: f64 = sin p
    u: f64 = add t, 0.01
    yield u
  }
  return r
}
";
    check(
        text,
        "f",
        Mode::Vjp,
        &[1],
        &[0],
        expect![[r#"
        fn f.vjp_1_of_0(n: i64, x: f64, r_cot: f64) {
          count: i64 = max n, 0
          r: f64, ps: f64[count] record value = loop i < count (p: f64 = x) {
            t: f64 = sin p
            u: f64 = add t, 0.01
            yield u, p
          }
          p_cot: f64 = loop down < count (p_cot.1: f64 = r_cot) {
            last: i64 = sub count, 1
            i.1: i64 = sub last, down
            p.1: f64 = ps[i.1]
            cos: f64 = cos p.1
            p_cot.2: f64 = mulz p_cot.1, cos
            yield p_cot.2
          }
          return r, p_cot
        }
    "#]],
    );
}

#[test]
fn a_while_is_reversed_as_a_counted_loop() {
    let text = "
fn f(x: f64) {
  start: bool = lt x, 100.0
  k: i64, go: bool, r: f64 = while i (more: bool = start, p: f64 = x) {
    square: f64 = mul p, p
    less: bool = lt square, 100.0
    yield less, square
  }
  return r
}
";
    check(
        text,
        "f",
        Mode::Vjp,
        &[0],
        &[0],
        expect![[r#"
        fn f.vjp_0_of_0(x: f64, r_cot: f64) {
          start: bool = lt x, 100.0
          k: i64, go: bool, r: f64, ps: f64[k] record value = while i (more: bool = start, p: f64 = x) {
            square: f64 = mul p, p
            less: bool = lt square, 100.0
            yield less, square, p
          }
          p_cot: f64 = loop down < k (p_cot.1: f64 = r_cot) {
            last: i64 = sub k, 1
            i.1: i64 = sub last, down
            p.1: f64 = ps[i.1]
            p_cot.2: f64 = mulz p_cot.1, p.1
            p_cot.3: f64 = add p_cot.2, p_cot.2
            yield p_cot.3
          }
          return r, p_cot
        }
    "#]],
    );
}

#[test]
fn an_array_updated_in_place_is_had_again_by_undoing() {
    let text = "
fn f(n: i64, x: f64[n], at: i64[n]) {
  r: f64[n] = loop i < n (a: f64[n] = x) {
    k: i64 = at[i]
    old: f64[n] = par j < n (stack) {
      e: f64 = a[j]
      s: f64 = sin e
      yield s
    }
    v: f64 = old[k]
    a.1: f64[n] = update a[k] = v
    yield a.1
  }
  return r
}
";
    check(
        text,
        "f",
        Mode::Vjp,
        &[1],
        &[0],
        expect![[r#"
        fn f.vjp_1_of_0(n: i64, x: f64[n], at: i64[n], r_cot: f64[n]) {
          r: f64[n], total: i64, old: f64[total] record old, at.1: i64[total] record place = loop i < n (a: f64[n] = x, pos: i64 = 0) acc (old.1: f64[0] log, at.2: i64[0] log) {
            k: i64 = at[i]
            old.2: f64[n] = par j < n (stack) {
              e: f64 = a[j]
              s: f64 = sin e
              yield s
            }
            v: f64 = old.2[k]
            old.3: f64 = a[k]
            acc_add old.1[pos] = old.3
            acc_add at.2[pos] = k
            pos.1: i64 = add pos, 1
            a.1: f64[n] = update a[k] = v
            yield a.1, pos.1
          }
          a_cot: f64[n], a.2: f64[n] = loop down < n (a_cot.1: f64[n] = r_cot, a.3: f64[n] = r) {
            last: i64 = sub n, 1
            i.1: i64 = sub last, down
            elem: i64 = at.1[i.1]
            elem.1: f64 = old[i.1]
            a.4: f64[n] = update a.3[elem] = elem.1
            k.1: i64 = at[i.1]
            v_cot: f64 = a_cot.1[k.1]
            a_cot.2: f64[n] = update a_cot.1[k.1] = 0.0
            fill: f64[n] = fill 0.0
            old_cot: f64[n] = update fill[k.1] = v_cot
            a_cot.3: f64[n] = par j.1 < n (stack) {
              e.1: f64 = a.4[j.1]
              s_cot: f64 = old_cot[j.1]
              cos: f64 = cos e.1
              e_cot: f64 = mulz s_cot, cos
              yield e_cot
            }
            a_cot.4: f64[n] = add a_cot.2, a_cot.3
            yield a_cot.4, a.4
          }
          return r, a_cot
        }
    "#]],
    );
}

#[test]
fn an_arm_of_a_switch_gives_back_what_it_touched() {
    let text = "
fn f(x: f64, y: f64) {
  less: bool = lt x, y
  r: f64 = switch less {
    e: f64 = exp x
    yield e
  } {
    yield y
  }
  return r
}
";
    check(
        text,
        "f",
        Mode::Vjp,
        &[0, 1],
        &[0],
        expect![[r#"
        fn f.vjp_0_1_of_0(x: f64, y: f64, r_cot: f64) {
          less: bool = lt x, y
          r: f64 = switch less {
            e: f64 = exp x
            yield e
          } {
            yield y
          }
          x_cot: f64, y_cot: f64 = switch less {
            e.1: f64 = exp x
            x_cot.1: f64 = mulz r_cot, e.1
            yield x_cot.1, 0.0
          } {
            yield 0.0, r_cot
          }
          return r, x_cot, y_cot
        }
    "#]],
    );
}

#[test]
fn ties_of_a_maximum_are_counted_by_a_second_pass() {
    let text = "
fn f(n: i64, x: f64[n]) {
  m: f64 = par i < n (max from -inf) {
    e: f64 = x[i]
    yield e
  }
  return m
}
";
    check(
        text,
        "f",
        Mode::Vjp,
        &[1],
        &[0],
        expect![[r#"
            fn f.vjp_1_of_0(n: i64, x: f64[n], m_cot: f64) {
              m: f64 = par i < n (max from -inf) {
                e: f64 = x[i]
                yield e
              }
              ties: f64 = par i.1 < n (add from 0.0) {
                e.1: f64 = x[i.1]
                beaten: bool = lt e.1, m
                tie: f64 = select beaten, 0.0, 1.0
                yield tie
              }
              div: f64 = div 1.0, ties
              isnan: bool = isnan m
              weight: f64 = select isnan, nan, div
              share: f64 = mulz m_cot, weight
              x_cot: f64[n] = par i.2 < n (stack) {
                e.2: f64 = x[i.2]
                beaten.1: bool = lt e.2, m
                e_cot: f64 = select beaten.1, 0.0, share
                x_cot.1: f64 = add 0.0, e_cot
                yield x_cot.1
              }
              return m, x_cot
            }
        "#]],
    );
    check(
        text,
        "f",
        Mode::Jvp,
        &[1],
        &[0],
        expect![[r#"
            fn f.jvp_1_of_0(n: i64, x: f64[n], x_tan: f64[n]) {
              m: f64 = par i < n (max from -inf) {
                e: f64 = x[i]
                yield e
              }
              ties: f64, ties_tan: f64 = par i.1 < n (add from 0.0, add from 0.0) {
                e.1: f64 = x[i.1]
                e_tan: f64 = x_tan[i.1]
                beaten: bool = lt e.1, m
                ties.1: f64 = select beaten, 0.0, 1.0
                ties_tan.1: f64 = select beaten, 0.0, e_tan
                yield ties.1, ties_tan.1
              }
              div: f64 = div 1.0, ties
              isnan: bool = isnan m
              weight: f64 = select isnan, nan, div
              m_tan: f64 = mulz ties_tan, weight
              return m, m_tan
            }
        "#]],
    );
}

#[test]
fn a_check_stands_before_the_index_that_needs_it() {
    let text = "
fn f(n: i64, x: f64[n], at: i64) {
  ok: bool = in_range at, n
  k: i64 = check ok R0001(at, n) at
  e: f64 = x[k]
  s: f64 = sin e
  return s
}
";
    check(
        text,
        "f",
        Mode::Vjp,
        &[1],
        &[0],
        expect![[r#"
            fn f.vjp_1_of_0(n: i64, x: f64[n], at: i64, s_cot: f64) {
              ok: bool = in_range at, n
              k: i64 = check ok R0001(at, n) at
              e: f64 = x[k]
              s: f64 = sin e
              s_cot.1: f64 = after s_cot, s
              cos: f64 = cos e
              e_cot: f64 = mulz s_cot.1, cos
              fill: f64[n] = fill 0.0
              x_cot: f64[n] = update fill[k] = e_cot
              return s, x_cot
            }
        "#]],
    );
}

#[test]
fn the_record_between_the_two_halves_is_what_the_reverse_reads() {
    let mut module = module(LOSS);
    let halves = fwd_rev(&mut module, "loss", &[1], &[0], &Limits::REVERSE_ALONE).expect("two halves");
    expect![[r#"
        fn loss.fwd(n: i64, w: f32[n], x: f32[n], y: f32) {
          pred: f32 = par i < n (add from 0.0_f32) {
            wi: f32 = w[i]
            xi: f32 = x[i]
            term: f32 = mul wi, xi
            yield term
          }
          err: f32 = sub pred, y
          square: f32 = mul err, err
          return square, err, n, x
        }

        fn loss.rev(err: f32, n: i64, x: f32[n], square_cot: f32) {
          err_cot: f32 = mulz square_cot, err
          err_cot.1: f32 = add err_cot, err_cot
          w_cot: f32[n] = par i < n (stack) {
            xi: f32 = x[i]
            wi_cot: f32 = mulz err_cot.1, xi
            w_cot.1: f32 = add 0.0_f32, wi_cot
            yield w_cot.1
          }
          return w_cot
        }
    "#]]
    .assert_eq(&format!("{}\n{}", halves.fwd, halves.rev));
}

#[test]
fn derivatives_stand_at_the_source_position_of_the_statement_that_they_come_from() {
    let mut module = module(
        "
fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) @1:10..90 {
    t: f64 = sin p @1:20..30
    u: f64 = exp t @1:40..50
    yield u
  }
  s: f64 = cos r @1:60..70
  return s
}
",
    );
    for (mode, expected) in [
        (
            Mode::Vjp,
            expect![[r#"
                fn f.vjp_1_of_0(n: i64, x: f64, s_cot: f64) {
                  count: i64 = max n, 0 @1:10..90
                  r: f64, ps: f64[count] record value = loop i < count (p: f64 = x) @1:10..90 {
                    t: f64 = sin p @1:20..30
                    u: f64 = exp t @1:40..50
                    yield u, p
                  }
                  s: f64 = cos r @1:60..70
                  sin: f64 = sin r @1:60..70:cp
                  neg: f64 = neg sin @1:60..70:cp
                  r_cot: f64 = mulz s_cot, neg @1:60..70:c
                  p_cot: f64 = loop down < count (p_cot.1: f64 = r_cot) @1:10..90:c {
                    last: i64 = sub count, 1 @1:10..90:c
                    i.1: i64 = sub last, down @1:10..90:c
                    p.1: f64 = ps[i.1] @1:10..90:c
                    add: i64 = add i.1, 1 @1:10..90:c
                    min: i64 = min add, last @1:10..90:c
                    eq: bool = eq i.1, last @1:10..90:c
                    elem: f64 = ps[min] @1:10..90:c
                    u.1: f64 = select eq, r, elem @1:10..90:c
                    t_cot: f64 = mulz p_cot.1, u.1 @1:40..50:c
                    cos: f64 = cos p.1 @1:20..30:cp
                    p_cot.2: f64 = mulz t_cot, cos @1:20..30:c
                    yield p_cot.2
                  }
                  return s, p_cot
                }
            "#]],
        ),
        (
            Mode::Jvp,
            expect![[r#"
                fn f.jvp_1_of_0(n: i64, x: f64, x_tan: f64) {
                  r: f64, r_tan: f64 = loop i < n (p: f64 = x, p_tan: f64 = x_tan) @1:10..90 {
                    t: f64 = sin p @1:20..30
                    cos: f64 = cos p @1:20..30:tp
                    t_tan: f64 = mulz p_tan, cos @1:20..30:t
                    u: f64 = exp t @1:40..50
                    u_tan: f64 = mulz t_tan, u @1:40..50:t
                    yield u, u_tan
                  }
                  s: f64 = cos r @1:60..70
                  sin: f64 = sin r @1:60..70:tp
                  neg: f64 = neg sin @1:60..70:tp
                  s_tan: f64 = mulz r_tan, neg @1:60..70:t
                  return s, s_tan
                }
            "#]],
        ),
    ] {
        let d = Derived { of: "f".into(), mode, wrt: vec![1], outs: vec![0] };
        let f = derivative(&mut module, &d, &Limits::REVERSE_ALONE).expect("a derivative");
        expected.assert_eq(&cotan_ir::print_function(&f, cotan_ir::PrintOptions { spans: true }));
    }
}
