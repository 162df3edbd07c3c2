//! Structural operations, element-wise primitives on tensors, every element type in memory.

use crate::agreement::harness::{Program, f64s, i64_of, i64s, numbers};
use cotan_ir::{Const, Elem};
use cotan_ops::{Value, tensor_table};

#[test]
fn every_structural_operation_is_lowered() {
    let missing: Vec<&str> = tensor_table().iter().filter(|r| !cotan_loops::lowers(r.op())).map(|r| r.name()).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn elements_move_as_they_should() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           k: i64 = mul n, m
           flat: f64[k] = reshape x
           back: f64[m, n] = reshape flat
           t: f64[m, n] = transpose x {1, 0}
           r0: f64[n, m] = reverse x {0}
           r1: f64[n, m] = reverse x {1}
           n2: i64 = add n, n
           c: f64[n2, m] = concat x, r1 {0}
           m2: i64 = add m, m
           d: f64[n, m2] = concat r0, x {1}
           s: f64[n, m] = slice d, m {1}
           m3: i64 = add m, 2
           p: f64[n, m3] = pad x, 1 {1}
           g: f64[3, n, m] = fill x
           h: f64[n] = fill 1.5
           i: i64[n] = iota
           fl: f32[n] = iota
           return k, flat, back, t, r0, r1, n2, c, m2, d, s, m3, p, g, h, i, fl
         }",
    );
    for (n, m) in [(0, 2), (2, 0), (1, 1), (2, 3), (5, 4)] {
        program.agree(&[i64_of(n), i64_of(m), Value::f64s(&[n, m], &numbers((n * m) as usize))]);
    }
}

#[test]
fn tensors_are_made_of_scalars() {
    let program = Program::new(
        "fn f(x: f64, k: i64, c: bool) {
           m: f64[2, 2] = from_elements x, 1.0, x, -0.0
           one: f64[1] = from_elements x
           ks: i64[3] = from_elements k, 7, k
           cs: bool[2] = from_elements c, true
           h: f16 = to_f16 x
           hs: f16[2] = from_elements h, h
           rows: f64[3, 2] = par i < 3 (stack) {
             z: f64 = to_f64 i
             row: f64[2] = from_elements z, x
             yield row
           }
           return m, one, ks, cs, hs, rows
         }",
    );
    for x in [1.5, -0.0, f64::INFINITY] {
        program.agree(&[Value::f64s(&[], &[x]), i64_of(3), Const::bool(false).into()]);
    }
}

#[test]
fn higher_ranks_are_permuted() {
    let program = Program::new(
        "fn f(x: f64[2, 3, 4]) {
           a: f64[4, 2, 3] = transpose x {2, 0, 1}
           b: f64[3, 4, 2] = transpose x {1, 2, 0}
           c: f64[2, 3, 4] = reverse x {1}
           d: f64[2, 2, 4] = slice x, 1 {1}
           return a, b, c, d
         }",
    );
    program.agree(&[Value::f64s(&[2, 3, 4], &numbers(24))]);
}

#[test]
fn matrix_products_agree() {
    let program = Program::new(
        "fn f(m: i64, k: i64, n: i64, a: f64[m, k], b: f64[k, n], v: f64[k]) {
           ab: f64[m, n] = matmul a, b {0}
           av: f64[m] = matmul a, v {0}
           vb: f64[n] = matmul v, b {0}
           vv: f64 = matmul v, v {0}
           strong: f64[m, n] = matmul a, b {1}
           return ab, av, vb, vv, strong
         }",
    );
    for (m, k, n) in [(0, 2, 3), (2, 0, 3), (1, 1, 1), (3, 4, 5), (20, 17, 9)] {
        let a = Value::f64s(&[m, k], &numbers((m * k) as usize));
        let b = Value::f64s(&[k, n], &numbers((k * n) as usize));
        program.agree(&[i64_of(m), i64_of(k), i64_of(n), a, b, f64s(&numbers(k as usize))]);
    }
}

#[test]
fn batched_products_agree() {
    let program = Program::new(
        "fn f(q: i64, a: f64[q, 2, 3], b: f64[q, 3, 2]) {
           ab: f64[q, 2, 2] = matmul a, b {0}
           return ab
         }",
    );
    for q in [0, 1, 4] {
        let (a, b) =
            (Value::f64s(&[q, 2, 3], &numbers(6 * q as usize)), Value::f64s(&[q, 3, 2], &numbers(6 * q as usize)));
        program.agree(&[i64_of(q), a, b]);
    }
}

#[test]
fn every_type_keeps_its_width_in_memory() {
    for elem in Elem::ALL {
        let program = Program::new(&format!(
            "fn f(n: i64, x: {elem}[n], i: i64) {{
               r: {elem}[n] = reverse x {{0}}
               a: {elem} = x[i]
               b: {elem}[n] = update r[i] = a
               return r, a, b
             }}"
        ));
        let bits: Vec<u64> = match elem {
            Elem::Bool => vec![1, 0, 1],
            Elem::F16 | Elem::BF16 => vec![0x3e00, 0xc000, 1],
            Elem::F32 => vec![0x3f80_0000, 0xc000_0000, 1],
            Elem::F64 => vec![1.5f64.to_bits(), (-0.0f64).to_bits(), 1],
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => vec![5, (-100i64) as u64, u64::MAX],
            Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => vec![5, 200, 255],
        };
        program.agree(&[i64_of(3), Value { elem, dims: vec![3], bits }, i64_of(1)]);
    }
}

#[test]
fn a_gather_reads_at_an_index_vector() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n, 2], k: i64, at: i64[k]) {
           y: f64[k, 2] = par i < k (stack) {
             j: i64 = at[i]
             row: f64[2] = x[j]
             yield row
           }
           return y
         }",
    );
    program.agree(&[i64_of(3), Value::f64s(&[3, 2], &numbers(6)), i64_of(4), i64s(&[2, 0, 0, 1])]);
}
