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
mod constant;
mod declarations;
mod derivatives;
mod facts;
pub mod forms;
mod leaves;
mod literal;
mod lookup;
mod operators;
mod parts;
mod patterns;
mod program;
mod tree;
mod visit;

pub use crate::dims::{Dim, GenericId, LocalId, SizeId};
pub use crate::types::{
    EnumId, EnumType, Generic, GenericArg, GenericKind, StructId, StructType, TraitId, TraitRef, Type,
};
pub use builtin::Builtin;
pub use declarations::{Declarations, Enum, Field, PayloadForm, Struct, Variant};
pub use derivatives::{DerivativeForm, DerivativeMode, NamedForm};
pub use facts::{SourceFacts, Use};
pub use leaves::Leaf;
pub use literal::{FloatConstant, Literal};
pub use operators::{AssignOp, BinaryOp, LogicOp, UnaryOp};
pub use parts::{Part, PartMut, Role};
pub use patterns::{Pattern, PatternKind, PatternRange};
pub use program::{Body, Function, FunctionBody, Impl, Local, Param, Program, Rules, RuntimeSize, Trait, TraitMethod};
pub use tree::{
    Accumulated, Arg, Assert, Axes, Block, Callable, CallableKind, Chain, Derivative, Expr, ExprKind, FieldValue, FnId,
    For, If, Index, Iterable, Lambda, Link, Match, MatchArm, Owned, Place, PlaceStep, PlaceStepKind, Print, PrintPiece,
    Range, Sharing, Sink, Slot, Stmt, StmtKind, Target, Vmap, While,
};
pub use visit::TypeVisitor;
