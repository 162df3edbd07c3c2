//! Every primitive, at every type, on scalars.

use crate::agreement::harness::Program;
use cotan_ir::{Builder, Const, Elem, Module, OperandElem, Ty};
use cotan_ops::{Carrier, PrimRow, Value, table, typed_number};

/// Interesting operands of a type.
fn operands(elem: Elem) -> Vec<Const> {
    match elem {
        Elem::Bool => vec![Const::bool(false), Const::bool(true)],
        Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 => {
            let numbers = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                -2.5,
                1e-3,
                3.75,
                1e10,
                -7.25e18,
                1e300,
                f64::MIN_POSITIVE,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                127.9,
                -128.5,
                255.99,
                4294967295.0,
                9223372036854775808.0,
                // Ties of the storage types, and what lies beside them.
                2049.0,
                2051.0,
                2051.0000000001,
                65519.99,
                65520.0,
                -8.940696716308594e-8,
                2.9802322387695312e-8,
                3.3961775292304957e38,
            ];
            numbers.iter().map(|x| typed_number(elem, *x)).collect()
        }
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            let (least, greatest) = elem.integer_range().unwrap();
            [0, 1, 2, 3, 7, 64, 100, 2049, (1 << 62) + (1 << 54) + 1, -1, -3, least, least + 1, greatest, greatest - 1]
                .iter()
                .filter(|n| (least..=greatest).contains(*n))
                .map(|n| Const::integer(elem, *n))
                .collect()
        }
    }
}

/// Every combination of operands, thinned out where there are many.
fn tuples(elems: &[Elem]) -> Vec<Vec<Const>> {
    let mut all: Vec<Vec<Const>> = vec![Vec::new()];
    for elem in elems {
        all = all
            .into_iter()
            .flat_map(|t| operands(*elem).into_iter().map(move |c| t.iter().copied().chain([c]).collect()))
            .collect();
    }
    let step = if all.len() > 500 { 7 } else { 1 };
    all.into_iter().step_by(step).collect()
}

/// One function for one type: all its primitives, each applied to operands from vectors.
fn agrees_at(elem: Elem) {
    let rows: Vec<&PrimRow> = table().iter().copied().filter(|r| (r.kernels)(Carrier::Elem(elem)).is_some()).collect();
    for row in rows {
        let takes_t = row.sig.operands.contains(&OperandElem::T);
        if takes_t && !row.sig.domain.has(elem) || !takes_t && elem != Elem::I64 {
            continue;
        }
        let elems: Vec<Elem> = row
            .sig
            .operands
            .iter()
            .map(|o| match o {
                OperandElem::T => elem,
                OperandElem::Is(elem) => *elem,
            })
            .collect();
        let mut b = Builder::new();
        let n = b.param("n", Ty::scalar(Elem::I64));
        let params: Vec<_> = elems.iter().map(|e| b.param("x", Ty::new(*e, vec![n.into()]))).collect();
        let params: Vec<_> = params.into_iter().map(cotan_ir::Atom::from).collect();
        let y = b.prim(row_prim(row), &params);
        let mut module = Module::default();
        module.insert(b.finish("f", vec![y.into()]));

        let tuples = tuples(&elems);
        let n = tuples.len() as i64;
        let mut args = vec![Value::i64s(&[], &[n])];
        for (k, elem) in elems.iter().enumerate() {
            args.push(Value { elem: *elem, dims: vec![n], bits: tuples.iter().map(|t| t[k].bits()).collect() });
        }
        let results = Program::new(&module.to_string()).agree(&args);
        assert_eq!(results[0].bits.len(), tuples.len(), "{}", row.name());
    }
}

fn row_prim(row: &PrimRow) -> cotan_ir::Prim {
    cotan_ops::lookup(row.name()).unwrap().prim()
}

#[test]
fn primitives_agree_on_f64() {
    agrees_at(Elem::F64);
}

#[test]
fn primitives_agree_on_f32() {
    agrees_at(Elem::F32);
}

#[test]
fn primitives_agree_on_wide_integers() {
    agrees_at(Elem::I64);
    agrees_at(Elem::U64);
}

#[test]
fn primitives_agree_on_narrow_integers() {
    for elem in [Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32] {
        agrees_at(elem);
    }
}

#[test]
fn primitives_agree_on_truth_values() {
    agrees_at(Elem::Bool);
}

#[test]
fn constants_keep_their_bits() {
    let program = Program::new(
        "fn f(x: f64, y: f32) {
           a = add x, 0.1
           b = mul y, 0.1_f32
           c: i8 = to_i8 -3
           return a, b, -0.0, nan, inf_f32, c, 255_u8, true
         }"
        .replace("a = ", "a: f64 = ")
        .replace("b = ", "b: f32 = ")
        .as_str(),
    );
    program.agree(&[Value::f64s(&[], &[0.2]), Value { elem: Elem::F32, dims: vec![], bits: vec![0x3f80_0001] }]);
}

#[test]
fn every_number_of_a_storage_type_is_widened_and_narrowed_alike() {
    for elem in [Elem::F16, Elem::BF16] {
        let program = Program::new(&format!(
            "fn f(n: i64, x: {elem}[n]) {{
               wide: f32[n] = to_f32 x
               third: f32[n] = mul wide, 0.3333_f32
               narrow: {elem}[n] = to_{elem} third
               double: f64[n] = to_f64 wide
               once: f64[n] = mul double, 1.0001220703125
               narrow_double: {elem}[n] = to_{elem} once
               return wide, narrow, narrow_double
             }}"
        ));
        let bits: Vec<u64> = (0..=u64::from(u16::MAX)).collect();
        let n = Value::from(Const::i64(bits.len() as i64));
        program.agree(&[n, Value { elem, dims: vec![bits.len() as i64], bits }]);
    }
}
