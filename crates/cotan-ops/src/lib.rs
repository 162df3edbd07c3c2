//! The table of operations: one row for each primitive, derivative included.
//!
//! Everything arithmetic in the IR is a reference to a row of this table. A row ([`PrimRow`]) is data: types, an
//! evaluator, the partial derivatives as [`Term`]s, what happens at kinks, identities, sample points. Both derivative
//! modes, the simplifier, the backends, the reference text and the tests read the same rows and never ask for a name.
//! Structural operations on tensors ([`TensorRow`]) carry a shape rule, an evaluator and a derivative.
//!
//! This crate must not know how programs are differentiated, optimised or compiled.
//!
//! ```
//! use cotan_ir::Const;
//! use cotan_ops::{SIN, lookup};
//!
//! assert!(std::ptr::eq(lookup("sin").expect("there is a sine"), &SIN));
//! assert_eq!(SIN.eval(&[Const::f64(0.0)]), Ok(Const::f64(0.0)));
//! ```

mod carrier;
mod condition;
mod denotation;
mod element_count;
mod elementary;
mod elements;
mod float;
mod formula;
mod gamma;
mod host;
mod instruction;
mod kernel;
mod manifest;
mod mod61;
mod monoid;
mod nan;
mod num;
mod obligations;
mod operand;
mod operand_names;
pub mod reduce;
mod registry;
mod row;
mod scalar;
mod signature;
pub mod stop;
mod storage;
mod table;
mod tensor;
mod tensor_ref;
mod term;
mod value;
mod word;

pub use carrier::{Carrier, Scalar};
pub use condition::Condition;
pub use cotan_kernels::memory;
pub use denotation::Known;
pub use element_count::{ElementCount, count};
pub use elementary::{Code, Expansion, Input, Step};
pub use elements::{Elements, ElementsMut};
pub use float::Float;
pub use gamma::{BERNOULLI, Gamma, MAX_ORDER};
pub use host::{Host, HostFn, host_function, host_functions};
pub use instruction::{Instruction, InstructionTraits, Passed, Work};
pub use kernel::Kernel;
pub use manifest::{
    Backends, BatchingEntry, Kind, KinkEntry, ManifestEntry, Modes, OperandEntry, PROVED, StableHloEntry, UNPROVED,
    explain, manifest,
};
pub use mod61::Mod61;
pub use monoid::{WithOperation, with_operation};
pub use num::{Int, Num, Ring};
pub use obligations::{Denoted, Exact, Obligation, Tree, Truth, mutant_script, obligations, proof_script};
pub use operand::{Differentiability, Operand};
pub use registry::Registry;
pub use row::{
    Codegen, Constant, EdgePoint, Group, Identity, Kinks, Law, Partial, PrimRow, Proof, RealDenotation, Sample, Term,
};
pub use scalar::*;
pub use table::{instruction_kernel, lookup, lookup_tensor, row, table, tensor_row, tensor_table};
pub use tensor::argsort::ARGSORT;
pub use tensor::cholesky::CHOLESKY;
pub use tensor::concat::CONCAT;
pub use tensor::eigh::EIGH;
pub use tensor::fft::{FFT, IRFFT, RFFT};
pub use tensor::fill::FILL;
pub use tensor::from_elements::FROM_ELEMENTS;
pub use tensor::iota::IOTA;
pub use tensor::lu::{LU, LU_PERMUTATION};
pub use tensor::matmul::{MATMUL, ONE_RUN, PLAIN, RUN, STRONG, is_one_run, is_strong, runs};
pub use tensor::orthonormal::ORTHONORMAL;
pub use tensor::print::{DEBUG_MARK, FORMAT_MARK, Format, PRINT, printed, written};
pub use tensor::reshape::RESHAPE;
pub use tensor::reverse::REVERSE;
pub use tensor::slice::{PAD, SLICE};
pub use tensor::slogdet::SLOGDET;
pub use tensor::solve::SOLVE;
pub use tensor::svd::SVD;
pub use tensor::transpose::TRANSPOSE;
pub use tensor::triangular_solve::TRIANGULAR_SOLVE;
pub use tensor::{
    Array, Batching, Derivative, Evaluation, Inputs, Like, Map, Pull, Push, Routine, RoutineCall, Sampled, ShapeRule,
    Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
pub use tensor_ref::{NoTensor, TensorMut, TensorRef};
pub use term::typed_number;
pub use value::Value;
pub use word::{Needs, Word, WordElems};
