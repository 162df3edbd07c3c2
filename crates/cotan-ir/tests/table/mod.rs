//! A small op table for the tests: names and signatures, no meaning.

use cotan_ir::{
    Elem, ElemSet, Function, Module, OpLookup, OperandElem as O, Prim, PrimSig, ResultElem as R, TensorOp, TensorSig,
    parse_function, parse_module,
};

const fn prim(name: &'static str, domain: ElemSet, operands: &'static [O], result: R) -> PrimSig {
    PrimSig { name, domain, operands, result, record: &() }
}

static PRIMS: [PrimSig; 5] = [
    prim("add", ElemSet::NUMERIC, &[O::T, O::T], R::T),
    prim("mul", ElemSet::NUMERIC, &[O::T, O::T], R::T),
    prim("exp", ElemSet::FLOAT, &[O::T], R::T),
    prim("lt", ElemSet::NUMERIC, &[O::T, O::T], R::Is(Elem::Bool)),
    prim("select", ElemSet::ANY, &[O::Is(Elem::Bool), O::T, O::T], R::T),
];

static TENSOR_OPS: [TensorSig; 3] = [
    TensorSig { name: "fill", prints: false, record: &() },
    TensorSig { name: "transpose", prints: false, record: &() },
    TensorSig { name: "iota", prints: false, record: &() },
];

/// The table as the parser sees it.
pub(crate) struct Table;

impl OpLookup for Table {
    fn prim(&self, name: &str) -> Option<Prim> {
        PRIMS.iter().find(|p| p.name == name).map(Prim)
    }

    fn tensor_op(&self, name: &str) -> Option<TensorOp> {
        TENSOR_OPS.iter().find(|p| p.name == name).map(TensorOp)
    }
}

/// The function of that text.
pub(crate) fn function(text: &str) -> Function {
    parse_function(text, &Table).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The module of that text.
pub(crate) fn module(text: &str) -> Module {
    parse_module(text, &Table).unwrap_or_else(|e| panic!("{e}\n{text}"))
}
