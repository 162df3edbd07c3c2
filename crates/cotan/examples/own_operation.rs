//! An operation of one's own: a step of the Haar wavelet transform, in one file, and registered by one line.
//!
//! The record has no field that may be left out: without the declaration of a derivative it does not compile. Tests of
//! the battery take it like any other operation, see `crates/cotan/tests/own_operation.rs`.

use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, DerivativeForm, Engine, derivative, library};
use cotan_ir::{Atom, Builder, ElemSet, TensorSig};
use cotan_ops::{
    Array, Batching, Derivative, Elements, ElementsMut, Evaluation, Group, Like, Operand, Proof, Registry, RoutineCall,
    Sampled, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use cotan_sema::modules::LibraryModule;

/// Sums and differences of neighbours, divided by the square root of 2: the sums come first. As a matrix it is orthogonal,
/// so its transpose is its inverse.
pub static HAAR: TensorRow = TensorRow {
    sig: TensorSig { name: "haar", prints: false, record: &HAAR },
    group: Group::Spectral,
    operands: &[Operand::smooth("x", "T[.., n]")],
    result: "T[.., n]",
    elems: ElemSet::FLOAT,
    doc: "`haar(x){inverse}`: a step of the Haar wavelet transform along the last axis, whose length is even, or its inverse.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Linear { transpose },
    batching: Batching::Leading,
    stablehlo: StableHlo::None { reason: "it is an operation of this example" },
    failure: None,
    samples: &[
        TensorSample { args: &[Sampled { dims: &[6], like: Like::Numbers }], attrs: &[0], dims: &[6] },
        TensorSample { args: &[Sampled { dims: &[2, 4], like: Like::Numbers }], attrs: &[1], dims: &[2, 4] },
    ],
    proof: Proof::Unproved { reason: "it is an example" },
};

/// What the language sees of it: types, sizes and documentation.
pub const MODULE: LibraryModule = LibraryModule {
    name: "wavelets",
    text: "
## A step of the Haar wavelet transform: sums of neighbours, then differences, divided by the square root of 2.
pub fn haar[T: Float, ..B, N](x: T[..B, 2 * N]) -> T[..B, 2 * N] = operation(\"haar\", [0], x) : T[..B, 2 * N]

## The inverse of `haar`.
pub fn unhaar[T: Float, ..B, N](x: T[..B, 2 * N]) -> T[..B, 2 * N] = operation(\"haar\", [1], x) : T[..B, 2 * N]
",
};

fn check(shapes: &Shapes) -> Result<(), String> {
    match (shapes.args, shapes.attrs) {
        ([(elem, dims @ [.., n])], [0 | 1]) if elem.is_float() && n % 2 == 0 && shapes.result == (*elem, dims) => {
            Ok(())
        }
        _ => Err(format!("expected floats along an axis of even length, found {:?}", shapes.args)),
    }
}

fn routine(call: &mut RoutineCall) {
    let (n, is_inverse) = (call.dims.last().map_or(0, |n| *n as usize), call.attrs == [1]);
    let [Array { elements, .. }] = call.args[..] else { return };
    if let (Elements::F64(x), ElementsMut::F64(y)) = (elements, &mut call.result) {
        steps(n, is_inverse, x, y, |a, b| (a + b) * 0.5f64.sqrt());
    } else if let (Elements::F32(x), ElementsMut::F32(y)) = (elements, &mut call.result) {
        steps(n, is_inverse, x, y, |a, b| (a + b) * 0.5f32.sqrt());
    }
}

fn steps<T: Copy + std::ops::Neg<Output = T>>(
    n: usize,
    is_inverse: bool,
    x: &[T],
    y: &mut [T],
    sum: impl Fn(T, T) -> T,
) {
    for (x, y) in x.chunks(n.max(1)).zip(y.chunks_mut(n.max(1))) {
        for k in 0..n / 2 {
            let (pair, halves) = ([2 * k, 2 * k + 1], [k, n / 2 + k]);
            let (from, to) = if is_inverse { (halves, pair) } else { (pair, halves) };
            y[to[0]] = sum(x[from[0]], x[from[1]]);
            y[to[1]] = sum(x[from[0]], -x[from[1]]);
        }
    }
}

fn transpose(b: &mut Builder, at: &TensorUse, cot: Atom, _: usize) -> Atom {
    b.tensor(HAAR.op(), &[cot], &[1 - at.attrs[0]], at.result.clone()).into()
}

/// The standard library with this operation and its module.
pub fn with_wavelets() -> cotan_sema::modules::Library {
    // The registry lives as long as the process.
    let registry = Box::leak(Box::new(Registry::standard().clone().with_tensor_op(&HAAR)));
    library::standard().with_module(MODULE).with_registry(registry)
}

/// The gradient of the energy of the first half of the transform.
pub fn gradient() -> Result<HostValue, Box<dyn std::error::Error>> {
    let compiler = Compiler::new(Config { library: Some(with_wavelets()), ..Config::default() })?;
    let text = "import wavelets\nfn energy(x: f64[4]) -> f64 { let y = wavelets.haar(x)\n  y[0] * y[0] + y[1] * y[1] }";
    let program = compiler.check("energy.cot", text);
    let function = compiler.function(&program, &derivative("energy", DerivativeForm::Grad, &["x"]), Engine::CPU)?;
    let args = Arguments::from([("x".to_owned(), HostValue::f64s(&[4], &[1.0, 2.0, 3.0, 5.0]))]);
    Ok(function.call(&args)?)
}

#[expect(clippy::print_stdout, reason = "the output of an example")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The energy of the sums is that of their means, twice: 3, 3, 8, 8.
    println!("{:?}", gradient()?.floats());
    Ok(())
}
