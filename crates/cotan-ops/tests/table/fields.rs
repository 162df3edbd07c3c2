//! The field of integers modulo 2^61 - 1.

use cotan_ops::{ADD, Carrier, DIV, FMA, MUL, MULZ, Mod61, NEG, Ring, SUB};

const P: i128 = (1 << 61) - 1;

fn elements() -> Vec<Mod61> {
    [0, 1, 2, 3, 5, 12_345_678_901, P / 2, P - 2, P - 1, P, P + 1, -1, -7, i128::MAX].map(Mod61::new).to_vec()
}

#[test]
fn the_field_laws_hold() {
    for a in elements() {
        assert_eq!(a.add(a.neg()), Mod61::ZERO);
        assert_eq!(a.sub(a), Mod61::ZERO);
        assert_eq!(a.mul(Mod61::ONE), a);
        assert_eq!(a.mul(a.inverse()), if a == Mod61::ZERO { Mod61::ZERO } else { Mod61::ONE });
        for b in elements() {
            assert_eq!(a.add(b), b.add(a));
            assert_eq!(a.mul(b), b.mul(a));
            assert_eq!(i128::from(a.mul(b).value()), i128::from(a.value()) * i128::from(b.value()) % P);
            for c in elements() {
                assert_eq!(a.add(b).add(c), a.add(b.add(c)));
                assert_eq!(a.mul(b).mul(c), a.mul(b.mul(c)));
                assert_eq!(a.mul(b.add(c)), a.mul(b).add(a.mul(c)));
                assert_eq!(a.fma(b, c), a.mul(b).add(c));
            }
        }
    }
}

#[test]
fn floats_map_to_the_fractions_that_they_are() {
    let number = Mod61::from_f64;
    assert_eq!(number(0.5).add(number(0.5)), Mod61::ONE);
    assert_eq!(number(-3.0), Mod61::new(-3));
    assert_eq!(number(0.1).mul(number(1024.0)), number(0.1 * 1024.0));
    assert_eq!(number(5e-324).mul(Mod61::new(2).power(1074)), Mod61::ONE);
    assert_eq!((number(0.0), number(-0.0)), (Mod61::ZERO, Mod61::ZERO));
    assert_eq!([f64::NAN, f64::INFINITY, -f64::INFINITY].map(|x| number(x).value()), [2_718_281_828, P as u64 - 1, 0]);
}

#[test]
fn ring_rows_compute_in_the_field() {
    let run = |row: &cotan_ops::PrimRow, args: &[u64]| (row.kernels)(Carrier::Mod61).map(|kernel| kernel(args));
    let p = P as u64;
    assert_eq!(run(&ADD, &[p - 1, 3]), Some(2));
    assert_eq!(run(&SUB, &[1, 3]), Some(p - 2));
    assert_eq!(run(&MUL, &[p - 1, p - 1]), Some(1));
    assert_eq!(run(&MULZ, &[0, 9]), Some(0));
    assert_eq!(run(&NEG, &[0]), Some(0));
    assert_eq!(run(&FMA, &[p - 1, 2, 3]), Some(1));
    assert_eq!(run(&DIV, &[6, 3]), Some(2));
}
