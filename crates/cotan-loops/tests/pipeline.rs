//! What runs passes: the one that breaks a rule is named.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_loops::{CONTRACT, CPU, Local, NestContext, NestPass, Node, Operand, lower, pipeline};
use std::panic::{AssertUnwindSafe, catch_unwind};

static GUILTY: NestPass =
    NestPass { name: "guilty", doc: "Sets what is not there.", run: |f, _| f.body.push(Node::Set(Local(0), ZERO)) };

const ZERO: Operand = Operand::Const(cotan_ir::Const::bool(false));

#[test]
fn the_guilty_pass_is_named_with_both_texts() {
    let mut b = cotan_ir::Builder::new();
    let x = b.param("x", cotan_ir::Ty::scalar(cotan_ir::Elem::F64));
    let f = b.finish("f", vec![x.into()]);
    let passes = [&CONTRACT, &GUILTY];
    let ran = catch_unwind(AssertUnwindSafe(|| {
        pipeline::run(&passes, &mut lower(&f, &CPU), &NestContext::default());
    }));
    let message = ran.unwrap_err().downcast::<String>().map_or_else(|_| String::new(), |text| *text);
    for part in ["pass `guilty`", "bool where f64 is expected", "before:\nfn f(x: f64) {", "  x := false\n"] {
        assert!(message.contains(part), "{part:?} is missing in {message}");
    }
}
