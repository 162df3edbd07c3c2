//! What formulas cost. That their code gives the bits of the kernels is tested with the backend.

use cotan_ir::Elem;
use cotan_ops::{Codegen, table};
use expect_test::expect;
use std::fmt::Write;

#[test]
fn the_number_of_steps_at_f64() {
    let mut text = String::new();
    for row in table() {
        if let Codegen::Expansion(formula) = row.codegen {
            writeln!(text, "{} {}", row.name(), formula.code(Elem::F64).steps.len()).expect("text grows");
        }
    }
    expect![[r#"
        cbrt 67
        pow 169
        power_below 177
        round 8
        hypot 21
        exp 32
        exp2 31
        expm1 41
        log 44
        log2 52
        log10 54
        log1p 58
        sin 48
        cos 47
        tan 60
        asin 42
        acos 46
        atan 57
        atan2 90
        sinh 73
        cosh 47
        tanh 57
        sech2 43
        asinh 103
        acosh 97
        atanh 74
        sigmoid 63
        erf 122
        erfc 123
        lgamma 174
    "#]]
    .assert_eq(&text);
}
