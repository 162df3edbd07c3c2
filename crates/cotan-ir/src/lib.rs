//! The core intermediate representation of Cotan.
//!
//! A function is a block in A-normal form. A statement binds one or more results of one operation; four of the
//! operations ([`Par`], [`Loop`], [`Op::Switch`], [`Op::Call`]) structure control, the rest compute. Every variable is
//! bound once in its function, nothing is mutated, and a value is a scalar or a dense row-major tensor whose dims are
//! constants or i64 variables in scope. A result's type may name earlier i64 results of the same statement; that one
//! rule types every length that is known only at run time.
//!
//! This crate must not know what any single operation computes: primitives and tensor operations are references to
//! records of the op table ([`Prim`], [`TensorOp`]), of which only the signature is visible here.
//!
//! ```
//! use cotan_ir::{Builder, Elem, Ty};
//!
//! let mut b = Builder::new();
//! let n = b.param("n", Ty::scalar(Elem::I64));
//! let x = b.param("x", Ty::new(Elem::F64, vec![n.into()]));
//! let last = b.named("last").index(x.into(), &[n.into()]);
//! let function = b.finish("last", vec![last.into()]);
//! assert_eq!(function.ty(last).rank(), 0);
//! ```

mod atom;
mod bug;
mod build;
mod check;
mod copy;
mod elem;
mod env;
mod function;
mod memory;
mod names;
mod op;
mod parse;
mod polynomial;
mod prim;
mod print;
mod record;
mod reverse_policy;
mod span;
mod storage;
mod symbol;
mod ty;
mod verify;
mod visit;

pub use atom::{Atom, Const, Var};
pub use build::Builder;
pub use check::CheckKind;
pub use copy::OnUnknownAcc;
pub use elem::{Elem, ElemSet};
pub use env::Env;
pub use function::{Function, Item, Module, VarInfo};
pub use memory::{AllocationSite, OutOfMemory};
pub use op::{
    Acc, AccKind, Block, Effects, Loop, LoopResults, Monoid, Op, OperandRole, Par, ParResult, Part, PartMut, Stmt, Walk,
};
pub use parse::{OpLookup, ParseError, parse_function, parse_module};
pub use polynomial::{Poly, Unknown};
pub use prim::{OperandElem, Prim, PrimSig, ResultElem, TensorOp, TensorSig};
pub use print::{PrintOptions, print_function, print_module, print_stmt};
pub use record::Record;
pub use reverse_policy::{Checkpoint, ReversePolicy};
pub use span::{Role, Span, Sweep};
pub use storage::Storage;
pub use symbol::{Derived, Mode, Symbol};
pub use ty::{Dim, Ty};
pub use verify::{VerifiedModule, VerifyError, verify, verify_module};
pub use visit::{count_uses, free_vars, written_accs};
