//! The typed syntax tree: what the checker makes of a module and what the lowering reads.
//!
//! Every name is resolved, every operator is known, and nothing is left to infer but the
//! substitution of generic parameters ([`crate::types::Substitution`]). A tree without errors among
//! its diagnostics contains no [`ExprKind::Error`], no [`Type::Error`] and no scalar variable.
//!
//! **Sizes.** The dims of a type are polynomials ([`Dim`]) over the size parameters of the function,
//! its immutable i64 locals, and run-time sizes. A run-time size ([`Atom::Runtime`]) is brought
//! into being by the first expression, in order of evaluation, whose type has it as a dim of its
//! own; from there on it means that extent. Where two shapes must agree and may not, an operand
//! is wrapped in [`ExprKind::ShapeCheck`]; elsewhere shapes agree without a check, but for
//! operations whose doc says that they check.
//!
//! **Runs of operators** are flat, as in the syntax tree: [`Chain`], [`ExprKind::Logic`], and
//! blocks for pipes. A walk needs a stack only for real nesting.
//!
//! [`Atom::Runtime`]: crate::dims::Atom::Runtime

pub mod axes;
mod builtin;
mod callable;
mod derivatives;
mod enums;
mod expr;
mod facts;
pub mod forms;
mod leaves;
mod literal;
mod lookup;
mod operators;
mod output;
mod parts;
mod patterns;
mod program;
mod statements;
mod visit;

pub use crate::dims::{Dim, GenericId, LocalId, SizeId};
pub use crate::types::{
    EnumId, EnumType, Generic, GenericArg, GenericKind, StructId, StructType, TraitId, TraitRef, Type,
};
pub use builtin::Builtin;
pub use callable::{Callable, CallableKind, Lambda, Vmap};
pub use derivatives::{Derivative, DerivativeForm, DerivativeMode, NamedForm};
pub use enums::{Enum, PayloadForm, Variant};
pub use expr::{Arg, Axes, BinaryOp, Chain, Expr, ExprKind, FieldValue, If, Index, Link, LogicOp, Range, UnaryOp};
pub use facts::{SourceFacts, Use};
pub use leaves::Leaf;
pub use literal::{FloatConstant, Literal};
pub use lookup::Declarations;
pub use output::{Print, PrintPiece};
pub use parts::{Part, PartMut, Role};
pub use patterns::{Match, MatchArm, Pattern, PatternKind, PatternRange};
pub use program::{
    Body, Field, FnId, Function, FunctionBody, Impl, Local, Param, Program, Rules, RuntimeSize, Struct, Trait,
    TraitMethod,
};
pub use statements::{
    Accumulated, AssignOp, Block, For, Iterable, Owned, Place, PlaceStep, PlaceStepKind, Sharing, Slot, Stmt, StmtKind,
    Target, While,
};
pub use visit::TypeVisitor;
