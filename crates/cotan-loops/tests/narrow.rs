//! Lanes in pieces.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{LoopFunction, Width, lower, narrow, vectorise};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn nest_of(text: &str) -> LoopFunction {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    let mut nest = lower(&f);
    vectorise(&mut nest);
    nest
}

fn check(text: &str, width: u32, expected: Expect) {
    let mut nest = nest_of(text);
    narrow(&mut nest, Width::new(width).unwrap());
    expected.assert_eq(&nest.to_string());
}

/// Eight lanes: those of consecutive elements, of a mask, and of elements that lie anywhere.
const GATHER: &str = "fn f(n: i64, x: f64[n], at: i64[6]) {
  y: f64[6] = par i < 6 (stack) {
    k: i64 = at[i]
    a: f64 = x[k]
    b: f64 = mul a, 2.0
    yield b
  }
  return y
}";

#[test]
fn every_piece_does_what_its_lanes_did() {
    check(
        GATHER,
        4,
        expect![[r#"
        fn f(n: i64, x[]: f64[n], at[]: i64[6]) {
          alloc y: f64[6] as result 0
          for strip < 1 lanes(8) may fork(steps 4.0) {
            v = shl.i64 strip, 3
            lanes.1 = iota v
            piece = add.i64 v, 4
            lanes.2 = iota piece
            v.2 = lt.i64 lanes.1, 6
            v.3 = lt.i64 lanes.2, 6
            k.2 = lanes at[v] where v.2
            piece.1 = add.i64 v, 4
            k.3 = lanes at[piece.1] where v.3
            a.2 = lanes x[k.2] where v.2
            a.3 = lanes x[k.3] where v.3
            b.2 = mul.f64 a.2, 2.0
            b.3 = mul.f64 a.3, 2.0
            lanes y[v] = b.2 where v.2
            piece.2 = add.i64 v, 4
            lanes y[piece.2] = b.3 where v.3
          }
          return y[]: f64[6]
        }
    "#]],
    );
}

#[test]
fn of_one_lane_a_mask_is_a_branch() {
    check(
        GATHER,
        1,
        expect![[r#"
        fn f(n: i64, x[]: f64[n], at[]: i64[6]) {
          alloc y: f64[6] as result 0
          for strip < 1 lanes(8) may fork(steps 4.0) {
            v = shl.i64 strip, 3
            lanes.1 = v
            piece = add.i64 v, 1
            lanes.2 = piece
            piece.1 = add.i64 v, 2
            lanes.3 = piece.1
            piece.2 = add.i64 v, 3
            lanes.4 = piece.2
            piece.3 = add.i64 v, 4
            lanes.5 = piece.3
            piece.4 = add.i64 v, 5
            lanes.6 = piece.4
            piece.5 = add.i64 v, 6
            lanes.7 = piece.5
            piece.6 = add.i64 v, 7
            lanes.8 = piece.6
            v.2 = lt.i64 lanes.1, 6
            v.3 = lt.i64 lanes.2, 6
            v.4 = lt.i64 lanes.3, 6
            v.5 = lt.i64 lanes.4, 6
            v.6 = lt.i64 lanes.5, 6
            v.7 = lt.i64 lanes.6, 6
            v.8 = lt.i64 lanes.7, 6
            v.9 = lt.i64 lanes.8, 6
            k.10 := 0
            if v.2 {
              k.11 = at[v]
              k.10 := k.11
            }
            k.2 = k.10
            piece.7 = add.i64 v, 1
            k.12 := 0
            if v.3 {
              k.13 = at[piece.7]
              k.12 := k.13
            }
            k.3 = k.12
            piece.8 = add.i64 v, 2
            k.14 := 0
            if v.4 {
              k.15 = at[piece.8]
              k.14 := k.15
            }
            k.4 = k.14
            piece.9 = add.i64 v, 3
            k.16 := 0
            if v.5 {
              k.17 = at[piece.9]
              k.16 := k.17
            }
            k.5 = k.16
            piece.10 = add.i64 v, 4
            k.18 := 0
            if v.6 {
              k.19 = at[piece.10]
              k.18 := k.19
            }
            k.6 = k.18
            piece.11 = add.i64 v, 5
            k.20 := 0
            if v.7 {
              k.21 = at[piece.11]
              k.20 := k.21
            }
            k.7 = k.20
            piece.12 = add.i64 v, 6
            k.22 := 0
            if v.8 {
              k.23 = at[piece.12]
              k.22 := k.23
            }
            k.8 = k.22
            piece.13 = add.i64 v, 7
            k.24 := 0
            if v.9 {
              k.25 = at[piece.13]
              k.24 := k.25
            }
            k.9 = k.24
            a.10 := 0.0
            if v.2 {
              a.11 = x[k.2]
              a.10 := a.11
            }
            a.2 = a.10
            a.12 := 0.0
            if v.3 {
              a.13 = x[k.3]
              a.12 := a.13
            }
            a.3 = a.12
            a.14 := 0.0
            if v.4 {
              a.15 = x[k.4]
              a.14 := a.15
            }
            a.4 = a.14
            a.16 := 0.0
            if v.5 {
              a.17 = x[k.5]
              a.16 := a.17
            }
            a.5 = a.16
            a.18 := 0.0
            if v.6 {
              a.19 = x[k.6]
              a.18 := a.19
            }
            a.6 = a.18
            a.20 := 0.0
            if v.7 {
              a.21 = x[k.7]
              a.20 := a.21
            }
            a.7 = a.20
            a.22 := 0.0
            if v.8 {
              a.23 = x[k.8]
              a.22 := a.23
            }
            a.8 = a.22
            a.24 := 0.0
            if v.9 {
              a.25 = x[k.9]
              a.24 := a.25
            }
            a.9 = a.24
            b.2 = mul.f64 a.2, 2.0
            b.3 = mul.f64 a.3, 2.0
            b.4 = mul.f64 a.4, 2.0
            b.5 = mul.f64 a.5, 2.0
            b.6 = mul.f64 a.6, 2.0
            b.7 = mul.f64 a.7, 2.0
            b.8 = mul.f64 a.8, 2.0
            b.9 = mul.f64 a.9, 2.0
            if v.2 {
              y[v] = b.2
            }
            piece.14 = add.i64 v, 1
            if v.3 {
              y[piece.14] = b.3
            }
            piece.15 = add.i64 v, 2
            if v.4 {
              y[piece.15] = b.4
            }
            piece.16 = add.i64 v, 3
            if v.5 {
              y[piece.16] = b.5
            }
            piece.17 = add.i64 v, 4
            if v.6 {
              y[piece.17] = b.6
            }
            piece.18 = add.i64 v, 5
            if v.7 {
              y[piece.18] = b.7
            }
            piece.19 = add.i64 v, 6
            if v.8 {
              y[piece.19] = b.8
            }
            piece.20 = add.i64 v, 7
            if v.9 {
              y[piece.20] = b.9
            }
          }
          return y[]: f64[6]
        }
    "#]],
    );
}

#[test]
fn halves_are_combined_in_the_order_of_a_fold() {
    let text = "fn f(n: i64, x: f64[n]) {
      s: f64 = par i < n (add from 0.0) {
        a: f64 = x[i]
        yield a
      }
      return s
    }";
    check(
        text,
        8,
        expect![[r#"
            fn f(n: i64, x[]: f64[n]) {
              t = add.i64 n, 4095
              t.1 = shr.i64 t, 12
              alloc totals: f64[t.1]
              for block < t.1 may fork(steps 8192.0) {
                t.2 = shl.i64 block, 12
                t.3 = sub.i64 n, t.2
                t.4 = min.i64 t.3, 4096
                alloc lanes: f64[16] in frame
                for strip < 1 lanes(16) {
                  v = shl.i64 strip, 4
                  piece = -0.0
                  lanes lanes[v] = piece
                  piece.1 = add.i64 v, 8
                  piece.2 = -0.0
                  lanes lanes[piece.1] = piece.2
                }
                v.1 = max.i64 t.4, 0
                v.2 = shr.i64 v.1, 4
                for strip.1 < v.2 lanes(16) {
                  v.3 = shl.i64 strip.1, 4
                  t.39 = add.i64 t.2, v.3
                  a.3 = lanes x[t.39]
                  piece.3 = add.i64 t.39, 8
                  a.4 = lanes x[piece.3]
                  old.13 = lanes lanes[]
                  old.14 = lanes lanes[8]
                  t.51 = add.f64 old.13, a.3
                  t.52 = add.f64 old.14, a.4
                  lanes lanes[] = t.51
                  lanes lanes[8] = t.52
                }
                v.4 = shl.i64 v.2, 4
                v.5 = lt.i64 v.4, t.4
                if v.5 {
                  lanes.3 = iota v.4
                  piece.4 = add.i64 v.4, 8
                  lanes.4 = iota piece.4
                  v.21 = lt.i64 lanes.3, t.4
                  v.22 = lt.i64 lanes.4, t.4
                  t.41 = add.i64 t.2, v.4
                  a.5 = lanes x[t.41] where v.21
                  piece.5 = add.i64 t.41, 8
                  a.6 = lanes x[piece.5] where v.22
                  old.15 = lanes lanes[] where v.21
                  old.16 = lanes lanes[8] where v.22
                  t.53 = add.f64 old.15, a.5
                  t.54 = add.f64 old.16, a.6
                  lanes lanes[] = t.53 where v.21
                  lanes lanes[8] = t.54 where v.22
                }
                for strip.2 < 1 lanes(8) {
                  v.7 = shl.i64 strip.2, 3
                  t.43 = add.i64 v.7, 8
                  old.9 = lanes lanes[v.7]
                  x.5 = lanes lanes[t.43]
                  t.44 = add.f64 old.9, x.5
                  lanes lanes[v.7] = t.44
                }
                for strip.3 < 1 lanes(4) {
                  v.8 = shl.i64 strip.3, 2
                  t.45 = add.i64 v.8, 4
                  old.10 = lanes lanes[v.8]
                  x.6 = lanes lanes[t.45]
                  t.46 = add.f64 old.10, x.6
                  lanes lanes[v.8] = t.46
                }
                for k.3 < 2 {
                  t.12 = add.i64 k.3, 2
                  old.3 = lanes[k.3]
                  x.2 = lanes[t.12]
                  t.13 = add.f64 old.3, x.2
                  lanes[k.3] = t.13
                }
                for k.4 < 1 {
                  t.14 = add.i64 k.4, 1
                  old.4 = lanes[k.4]
                  x.3 = lanes[t.14]
                  t.15 = add.f64 old.4, x.3
                  lanes[k.4] = t.15
                }
                total = lanes[]
                totals[block] = total
              }
              t.16 = min.i64 t.1, 16
              t.17 = max.i64 t.16, 1
              t.18 = ge.i64 t.1, 4096
              t.19 = select.i64 t.18, 64, t.17
              alloc lanes.1: f64[64] in frame
              v.9 = max.i64 t.19, 0
              v.10 = shr.i64 v.9, 4
              for strip.4 < v.10 lanes(16) {
                v.11 = shl.i64 strip.4, 4
                piece.6 = -0.0
                lanes lanes.1[v.11] = piece.6
                piece.7 = add.i64 v.11, 8
                piece.8 = -0.0
                lanes lanes.1[piece.7] = piece.8
              }
              v.12 = shl.i64 v.10, 4
              v.13 = lt.i64 v.12, t.19
              if v.13 {
                lanes.5 = iota v.12
                piece.9 = add.i64 v.12, 8
                lanes.6 = iota piece.9
                v.23 = lt.i64 lanes.5, t.19
                v.24 = lt.i64 lanes.6, t.19
                piece.10 = -0.0
                lanes lanes.1[v.12] = piece.10 where v.23
                piece.11 = add.i64 v.12, 8
                piece.12 = -0.0
                lanes lanes.1[piece.11] = piece.12 where v.24
              }
              t.20 = add.i64 t.1, 4095
              t.21 = shr.i64 t.20, 12
              for block.1 < t.21 {
                t.22 = shl.i64 block.1, 12
                t.23 = sub.i64 t.1, t.22
                t.24 = min.i64 t.23, 4096
                v.15 = max.i64 t.24, 0
                v.16 = shr.i64 v.15, 4
                for strip.5 < v.16 lanes(16) {
                  v.17 = shl.i64 strip.5, 4
                  t.47 = add.i64 t.22, v.17
                  value.3 = lanes totals[t.47]
                  piece.13 = add.i64 t.47, 8
                  value.4 = lanes totals[piece.13]
                  old.17 = lanes lanes.1[]
                  old.18 = lanes lanes.1[8]
                  t.55 = add.f64 old.17, value.3
                  t.56 = add.f64 old.18, value.4
                  lanes lanes.1[] = t.55
                  lanes lanes.1[8] = t.56
                }
                v.18 = shl.i64 v.16, 4
                v.19 = lt.i64 v.18, t.24
                if v.19 {
                  lanes.7 = iota v.18
                  piece.14 = add.i64 v.18, 8
                  lanes.8 = iota piece.14
                  v.25 = lt.i64 lanes.7, t.24
                  v.26 = lt.i64 lanes.8, t.24
                  t.49 = add.i64 t.22, v.18
                  value.5 = lanes totals[t.49] where v.25
                  piece.15 = add.i64 t.49, 8
                  value.6 = lanes totals[piece.15] where v.26
                  old.19 = lanes lanes.1[] where v.25
                  old.20 = lanes lanes.1[8] where v.26
                  t.57 = add.f64 old.19, value.5
                  t.58 = add.f64 old.20, value.6
                  lanes lanes.1[] = t.57 where v.25
                  lanes lanes.1[8] = t.58 where v.26
                }
                t.28 = add.i64 t.22, t.24
                t.29 = sub.i64 t.28, 1
                t.30 = and.i64 t.29, 4095
                t.31 = eq.i64 t.30, 4095
                if t.31 {
                  close blocks add lanes.1[] of 1, last t.29
                }
              }
              t.32 = ge.i64 t.1, 4096
              if t.32 {
                combine levels add lanes.1[] of 1, total t.1
              }
              else {
                for step < 4 {
                  t.33 = shr.i64 8, step
                  t.34 = sub.i64 t.17, t.33
                  t.35 = min.i64 t.34, t.33
                  for k.7 < t.35 {
                    t.36 = add.i64 k.7, t.33
                    old.6 = lanes.1[k.7]
                    x.4 = lanes.1[t.36]
                    t.37 = add.f64 old.6, x.4
                    lanes.1[k.7] = t.37
                  }
                }
              }
              total.1 = lanes.1[]
              t.38 = add.f64 0.0, total.1
              return t.38
            }
        "#]],
    );
}

#[test]
fn a_width_of_all_lanes_changes_nothing_and_widths_are_powers_of_two() {
    let mut nest = nest_of(GATHER);
    let before = nest.clone();
    narrow(&mut nest, Width::new(8).unwrap());
    assert_eq!(nest, before);
    for (lanes, is_width) in [(0, false), (1, true), (2, true), (3, false), (12, false), (16, true)] {
        assert_eq!(Width::new(lanes).map(Width::lanes), is_width.then_some(lanes));
    }
}

#[test]
fn no_value_has_more_lanes_than_the_width() {
    let text = "fn f(n: i64, x: f64[n]) {
      y: f64[n] = par i < n (stack) {
        a: f64 = x[i]
        more: bool = gt a, 1.0
        t: i64, go: bool, r: f64 = while j (g: bool = more, r1: f64 = a) {
          r2: f64 = mul r1, 0.75
          g2: bool = gt r2, 1.0
          yield g2, r2
        }
        k: i64 = to_i64 r
        ok: bool = in_range k, n
        k1: i64 = check ok R0001(k, n) k
        b: f64 = x[k1]
        yield b
      }
      return y
    }";
    for width in [1, 2, 4, 8] {
        let mut nest = nest_of(text);
        assert!(nest.locals.iter().any(|local| local.lanes == 16));
        let n_old = nest.locals.len();
        narrow(&mut nest, Width::new(width).unwrap());
        assert!(nest.locals[n_old..].iter().all(|local| local.lanes <= width));
        let text = nest.to_string();
        for word in ["= any ", "= iota ", "= first ", "= lanes "] {
            assert_eq!(text.contains(word), width > 1, "`{word}`, width {width}:\n{text}");
        }
    }
}
