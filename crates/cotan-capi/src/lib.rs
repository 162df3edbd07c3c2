//! Cotan as a C library. `include/cotan.h` says what there is; each function of it stands here, in the file of its subject.
//!
//! Nothing unwinds into the caller, and there is no state beside what handles stand for. What comes in is looked at as far
//! as it can be: pointers that are NULL, handles that are dead or of something else, elements, ranks, extents, strides, overlap.
#![allow(unsafe_code, reason = "pointers of a C program")]

mod call;
mod compiler;
mod function;
mod handle;
mod status;
mod tensor;

pub use call::{cotan_call, cotan_copied_bytes, cotan_result_extents, cotan_tensor_free};
pub use compiler::{
    CotanConfig, cotan_compiler_free, cotan_compiler_new, cotan_program_free, cotan_program_load, cotan_program_parse,
    cotan_version,
};
pub use function::{
    CotanDerivative, CotanLeaf, CotanRequest, cotan_function_argument, cotan_function_counts, cotan_function_free,
    cotan_function_new, cotan_function_result,
};
pub use handle::Handle;
pub use status::{CotanError, Status, cotan_error_free};
pub use tensor::{CotanTensor, number_of};
