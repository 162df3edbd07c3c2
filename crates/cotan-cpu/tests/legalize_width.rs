//! Lanes in pieces.

use crate::lowered;
use cotan_cpu::{legalize_width, vectorise};
use cotan_loops::{LoopFunction, Width};
use expect_test::{Expect, expect};

fn nest_of(text: &str) -> LoopFunction {
    let mut nest = lowered(text);
    vectorise(&mut nest);
    nest
}

fn check(text: &str, width: u32, expected: Expect) {
    let mut nest = nest_of(text);
    legalize_width(&mut nest, Width::new(width).unwrap());
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
              t = add.i64 n, -1
              t.1 = shr.i64 t, 12
              t.2 = add.i64 t.1, 1
              alloc totals: f64[t.2]
              t.3 = max.i64 n, 0
              t.4 = shr.i64 t.3, 13
              for pair < t.4 may fork(steps 16384.0) {
                t.5 = mul.i64 pair, 2
                t.6 = add.i64 t.5, 1
                t.7 = shl.i64 t.5, 12
                t.8 = sub.i64 n, t.7
                t.9 = min.i64 t.8, 4096
                alloc lanes: f64[16] in frame
                for strip < 1 lanes(16) {
                  v = shl.i64 strip, 4
                  piece = -0.0
                  lanes lanes[v] = piece
                  piece.1 = add.i64 v, 8
                  piece.2 = -0.0
                  lanes lanes[piece.1] = piece.2
                }
                t.10 = shl.i64 t.6, 12
                t.11 = sub.i64 n, t.10
                t.12 = min.i64 t.11, 4096
                alloc lanes.1: f64[16] in frame
                for strip.1 < 1 lanes(16) {
                  v.1 = shl.i64 strip.1, 4
                  piece.3 = -0.0
                  lanes lanes.1[v.1] = piece.3
                  piece.4 = add.i64 v.1, 8
                  piece.5 = -0.0
                  lanes lanes.1[piece.4] = piece.5
                }
                for strip.2 < 256 lanes(16) {
                  v.2 = shl.i64 strip.2, 4
                  t.79 = add.i64 t.7, v.2
                  a.7 = lanes x[t.79]
                  piece.6 = add.i64 t.79, 8
                  a.8 = lanes x[piece.6]
                  old.29 = lanes lanes[]
                  old.30 = lanes lanes[8]
                  t.103 = add.f64 old.29, a.7
                  t.104 = add.f64 old.30, a.8
                  lanes lanes[] = t.103
                  lanes lanes[8] = t.104
                  t.81 = add.i64 t.10, v.2
                  a.9 = lanes x[t.81]
                  piece.7 = add.i64 t.81, 8
                  a.10 = lanes x[piece.7]
                  old.31 = lanes lanes.1[]
                  old.32 = lanes lanes.1[8]
                  t.105 = add.f64 old.31, a.9
                  t.106 = add.f64 old.32, a.10
                  lanes lanes.1[] = t.105
                  lanes lanes.1[8] = t.106
                }
                for strip.3 < 1 lanes(8) {
                  v.3 = shl.i64 strip.3, 3
                  t.83 = add.i64 v.3, 8
                  old.19 = lanes lanes[v.3]
                  x.13 = lanes lanes[t.83]
                  t.84 = add.f64 old.19, x.13
                  lanes lanes[v.3] = t.84
                }
                for strip.4 < 1 lanes(4) {
                  v.4 = shl.i64 strip.4, 2
                  t.85 = add.i64 v.4, 4
                  old.20 = lanes lanes[v.4]
                  x.14 = lanes lanes[t.85]
                  t.86 = add.f64 old.20, x.14
                  lanes lanes[v.4] = t.86
                }
                for k.4 < 2 {
                  t.23 = add.i64 k.4, 2
                  old.4 = lanes[k.4]
                  x.2 = lanes[t.23]
                  t.24 = add.f64 old.4, x.2
                  lanes[k.4] = t.24
                }
                for k.5 < 1 {
                  t.25 = add.i64 k.5, 1
                  old.5 = lanes[k.5]
                  x.3 = lanes[t.25]
                  t.26 = add.f64 old.5, x.3
                  lanes[k.5] = t.26
                }
                total = lanes[]
                totals[t.5] = total
                for strip.5 < 1 lanes(8) {
                  v.5 = shl.i64 strip.5, 3
                  t.87 = add.i64 v.5, 8
                  old.21 = lanes lanes.1[v.5]
                  x.15 = lanes lanes.1[t.87]
                  t.88 = add.f64 old.21, x.15
                  lanes lanes.1[v.5] = t.88
                }
                for strip.6 < 1 lanes(4) {
                  v.6 = shl.i64 strip.6, 2
                  t.89 = add.i64 v.6, 4
                  old.22 = lanes lanes.1[v.6]
                  x.16 = lanes lanes.1[t.89]
                  t.90 = add.f64 old.22, x.16
                  lanes lanes.1[v.6] = t.90
                }
                for k.8 < 2 {
                  t.31 = add.i64 k.8, 2
                  old.8 = lanes.1[k.8]
                  x.6 = lanes.1[t.31]
                  t.32 = add.f64 old.8, x.6
                  lanes.1[k.8] = t.32
                }
                for k.9 < 1 {
                  t.33 = add.i64 k.9, 1
                  old.9 = lanes.1[k.9]
                  x.7 = lanes.1[t.33]
                  t.34 = add.f64 old.9, x.7
                  lanes.1[k.9] = t.34
                }
                total.1 = lanes.1[]
                totals[t.6] = total.1
              }
              t.35 = mul.i64 t.4, 2
              t.36 = sub.i64 t.2, t.35
              for block < t.36 {
                t.37 = add.i64 t.35, block
                t.38 = shl.i64 t.37, 12
                t.39 = sub.i64 n, t.38
                t.40 = min.i64 t.39, 4096
                t.41 = shl.i64 t.37, 12
                t.42 = sub.i64 n, t.41
                t.43 = min.i64 t.42, 4096
                alloc lanes.2: f64[16] in frame
                for strip.7 < 1 lanes(16) {
                  v.7 = shl.i64 strip.7, 4
                  piece.8 = -0.0
                  lanes lanes.2[v.7] = piece.8
                  piece.9 = add.i64 v.7, 8
                  piece.10 = -0.0
                  lanes lanes.2[piece.9] = piece.10
                }
                v.8 = max.i64 t.40, 0
                v.9 = shr.i64 v.8, 4
                for strip.8 < v.9 lanes(16) {
                  v.10 = shl.i64 strip.8, 4
                  t.91 = add.i64 t.41, v.10
                  a.11 = lanes x[t.91]
                  piece.11 = add.i64 t.91, 8
                  a.12 = lanes x[piece.11]
                  old.33 = lanes lanes.2[]
                  old.34 = lanes lanes.2[8]
                  t.107 = add.f64 old.33, a.11
                  t.108 = add.f64 old.34, a.12
                  lanes lanes.2[] = t.107
                  lanes lanes.2[8] = t.108
                }
                v.11 = shl.i64 v.9, 4
                v.12 = lt.i64 v.11, t.40
                if v.12 {
                  lanes.3 = iota v.11
                  piece.12 = add.i64 v.11, 8
                  lanes.4 = iota piece.12
                  v.28 = lt.i64 lanes.3, t.40
                  v.29 = lt.i64 lanes.4, t.40
                  t.93 = add.i64 t.41, v.11
                  a.13 = lanes x[t.93] where v.28
                  piece.13 = add.i64 t.93, 8
                  a.14 = lanes x[piece.13] where v.29
                  old.35 = lanes lanes.2[] where v.28
                  old.36 = lanes lanes.2[8] where v.29
                  t.109 = add.f64 old.35, a.13
                  t.110 = add.f64 old.36, a.14
                  lanes lanes.2[] = t.109 where v.28
                  lanes lanes.2[8] = t.110 where v.29
                }
                for strip.9 < 1 lanes(8) {
                  v.14 = shl.i64 strip.9, 3
                  t.95 = add.i64 v.14, 8
                  old.25 = lanes lanes.2[v.14]
                  x.17 = lanes lanes.2[t.95]
                  t.96 = add.f64 old.25, x.17
                  lanes lanes.2[v.14] = t.96
                }
                for strip.10 < 1 lanes(4) {
                  v.15 = shl.i64 strip.10, 2
                  t.97 = add.i64 v.15, 4
                  old.26 = lanes lanes.2[v.15]
                  x.18 = lanes lanes.2[t.97]
                  t.98 = add.f64 old.26, x.18
                  lanes lanes.2[v.15] = t.98
                }
                for k.13 < 2 {
                  t.51 = add.i64 k.13, 2
                  old.13 = lanes.2[k.13]
                  x.10 = lanes.2[t.51]
                  t.52 = add.f64 old.13, x.10
                  lanes.2[k.13] = t.52
                }
                for k.14 < 1 {
                  t.53 = add.i64 k.14, 1
                  old.14 = lanes.2[k.14]
                  x.11 = lanes.2[t.53]
                  t.54 = add.f64 old.14, x.11
                  lanes.2[k.14] = t.54
                }
                total.2 = lanes.2[]
                totals[t.37] = total.2
              }
              t.55 = min.i64 t.2, 16
              t.56 = max.i64 t.55, 1
              t.57 = ge.i64 t.2, 4096
              t.58 = select.i64 t.57, 64, t.56
              alloc lanes.3: f64[64] in frame
              v.16 = max.i64 t.58, 0
              v.17 = shr.i64 v.16, 4
              for strip.11 < v.17 lanes(16) {
                v.18 = shl.i64 strip.11, 4
                piece.14 = -0.0
                lanes lanes.3[v.18] = piece.14
                piece.15 = add.i64 v.18, 8
                piece.16 = -0.0
                lanes lanes.3[piece.15] = piece.16
              }
              v.19 = shl.i64 v.17, 4
              v.20 = lt.i64 v.19, t.58
              if v.20 {
                lanes.5 = iota v.19
                piece.17 = add.i64 v.19, 8
                lanes.6 = iota piece.17
                v.30 = lt.i64 lanes.5, t.58
                v.31 = lt.i64 lanes.6, t.58
                piece.18 = -0.0
                lanes lanes.3[v.19] = piece.18 where v.30
                piece.19 = add.i64 v.19, 8
                piece.20 = -0.0
                lanes lanes.3[piece.19] = piece.20 where v.31
              }
              t.59 = add.i64 t.2, -1
              t.60 = shr.i64 t.59, 12
              t.61 = add.i64 t.60, 1
              for block.1 < t.61 {
                t.62 = shl.i64 block.1, 12
                t.63 = sub.i64 t.2, t.62
                t.64 = min.i64 t.63, 4096
                v.22 = max.i64 t.64, 0
                v.23 = shr.i64 v.22, 4
                for strip.12 < v.23 lanes(16) {
                  v.24 = shl.i64 strip.12, 4
                  t.99 = add.i64 t.62, v.24
                  value.3 = lanes totals[t.99]
                  piece.21 = add.i64 t.99, 8
                  value.4 = lanes totals[piece.21]
                  old.37 = lanes lanes.3[]
                  old.38 = lanes lanes.3[8]
                  t.111 = add.f64 old.37, value.3
                  t.112 = add.f64 old.38, value.4
                  lanes lanes.3[] = t.111
                  lanes lanes.3[8] = t.112
                }
                v.25 = shl.i64 v.23, 4
                v.26 = lt.i64 v.25, t.64
                if v.26 {
                  lanes.7 = iota v.25
                  piece.22 = add.i64 v.25, 8
                  lanes.8 = iota piece.22
                  v.32 = lt.i64 lanes.7, t.64
                  v.33 = lt.i64 lanes.8, t.64
                  t.101 = add.i64 t.62, v.25
                  value.5 = lanes totals[t.101] where v.32
                  piece.23 = add.i64 t.101, 8
                  value.6 = lanes totals[piece.23] where v.33
                  old.39 = lanes lanes.3[] where v.32
                  old.40 = lanes lanes.3[8] where v.33
                  t.113 = add.f64 old.39, value.5
                  t.114 = add.f64 old.40, value.6
                  lanes lanes.3[] = t.113 where v.32
                  lanes lanes.3[8] = t.114 where v.33
                }
                t.68 = add.i64 t.62, t.64
                t.69 = sub.i64 t.68, 1
                t.70 = and.i64 t.69, 4095
                t.71 = eq.i64 t.70, 4095
                if t.71 {
                  close blocks add lanes.3[] of 1, last t.69
                }
              }
              t.72 = ge.i64 t.2, 4096
              if t.72 {
                combine levels add lanes.3[] of 1, total t.2
              }
              else {
                for step < 4 {
                  t.73 = shr.i64 8, step
                  t.74 = sub.i64 t.56, t.73
                  t.75 = min.i64 t.74, t.73
                  for k.17 < t.75 {
                    t.76 = add.i64 k.17, t.73
                    old.16 = lanes.3[k.17]
                    x.12 = lanes.3[t.76]
                    t.77 = add.f64 old.16, x.12
                    lanes.3[k.17] = t.77
                  }
                }
              }
              total.3 = lanes.3[]
              t.78 = add.f64 0.0, total.3
              return t.78
            }
        "#]],
    );
}

#[test]
fn a_width_of_all_lanes_changes_nothing_and_widths_are_powers_of_two() {
    let mut nest = nest_of(GATHER);
    let before = nest.clone();
    legalize_width(&mut nest, Width::new(8).unwrap());
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
        legalize_width(&mut nest, Width::new(width).unwrap());
        assert!(nest.locals[n_old..].iter().all(|local| local.lanes <= width));
        let text = nest.to_string();
        for word in ["= any ", "= iota ", "= first ", "= lanes "] {
            assert_eq!(text.contains(word), width > 1, "`{word}`, width {width}:\n{text}");
        }
    }
}
