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
mod derivatives;
mod enums;
pub mod forms;
mod leaves;
mod literal;
mod lookup;
mod operators;
mod output;
mod parts;
mod patterns;
mod visit;

use cotan_ir::{Checkpoint, TensorOp};
use cotan_syntax::Span;
use cotan_syntax::ast::{FoldOp, NodeId};

use crate::modules::ModuleId;

pub use crate::dims::{Dim, GenericId, LocalId, SizeId};
pub use crate::types::{
    EnumId, EnumType, Generic, GenericArg, GenericKind, StructId, StructType, TraitId, TraitRef, Type,
};
pub use derivatives::NamedForm;
pub use derivatives::{Derivative, DerivativeForm, DerivativeMode};
pub use enums::{Enum, PayloadForm, Variant};
pub use leaves::Leaf;
pub use lookup::Declarations;
pub use output::{Print, PrintPiece};
pub use parts::Part;
pub use patterns::{Match, MatchArm, Pattern, PatternKind, PatternRange};
pub use visit::TypeVisitor;

/// A function: an index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FnId(pub u32);

/// A checked program: the functions of all its modules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The structs, in the order of the modules and of their source.
    pub structs: Vec<Struct>,
    /// The enums, in the order of the modules and of their source.
    pub enums: Vec<Enum>,
    /// The traits, in the order of the modules and of their source.
    pub traits: Vec<Trait>,
    /// The impls, in the order of the modules and of their source.
    pub impls: Vec<Impl>,
    /// The functions, in the order of the modules and of their source; a function under an attribute comes before its
    /// derivatives.
    pub functions: Vec<Function>,
    /// All functions, each after those that it calls or differentiates.
    pub order: Vec<FnId>,
}

/// A struct declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The parameters in brackets.
    pub generics: Vec<Generic>,
    /// The fields, in the order of the source.
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// Where the declaration stands.
    pub span: Span,
    /// The type, over the generics of the struct.
    pub ty: Type,
}

/// A trait declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Trait {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The parameters in brackets.
    pub generics: Vec<Generic>,
    /// The functions that it asks for, each with a body of kind [`FunctionBody::Required`]. Their
    /// generics are `Self`, those of the trait, then their own.
    pub methods: Vec<FnId>,
}

/// An `impl`: the functions of a trait for one type, or for each type of one form.
#[derive(Clone, Debug, PartialEq)]
pub struct Impl {
    /// From `impl` to the type.
    pub span: Span,
    /// The parameters in brackets.
    pub generics: Vec<Generic>,
    /// The trait, over the generics.
    pub trait_ref: TraitRef,
    /// The type that gets the functions, over the generics.
    pub target: Type,
    /// The functions in the order of those of the trait. Their generics are those of the impl,
    /// then their own.
    pub methods: Vec<FnId>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name, unique in the program: `loss`, `layers.loss` in the module `layers`, `dloss`, `dloss.w` for one of several gradients,
    /// `dloss.primal` for the body under an attribute such as `@grad`, which has no name in the
    /// source.
    pub name: String,
    /// The declaration, from `fn` to the result type.
    pub span: Span,
    /// Where the name stands.
    pub name_span: Span,
    /// The doc comment.
    pub doc: Option<String>,
    /// The parameters in brackets, in the order of the source, then one size for each `_` in the
    /// types of the parameters.
    pub generics: Vec<Generic>,
    /// How many of the generics were written.
    pub n_written_generics: usize,
    /// The parameters. Parameter `k` is local `k` of the body.
    pub params: Vec<Param>,
    /// Whether it is marked `@io`: it may print. The first local after the parameters is then a
    /// mutable i64, in which lowering keeps the token that orders output.
    pub prints: bool,
    /// The type of the result, over the generics and the integer parameters. A `_` in it is a
    /// run-time size, different from those of the body.
    pub result: Type,
    /// What the function does.
    pub body: FunctionBody,
    /// What replaces its derived rules.
    pub rules: Rules,
    /// The mode in which it is differentiated where nothing else says so.
    pub mode: Option<DerivativeMode>,
    /// Whether a reverse sweep runs its loops again instead of keeping what they computed.
    pub recompute: bool,
}

/// Functions that replace the derived rules of a function, from `@vjp_for(f)` and `@jvp_for(f)`. Their types are over
/// the generics of that function. Higher orders differentiate their bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Takes the arguments, the result, and its cotangent; gives a cotangent for each parameter that has one: floats
    /// that are not marked `@nodiff`. A tuple, if there are several.
    pub vjp: Option<Callable>,
    /// Takes the arguments, then a tangent for each parameter that has one; gives `(value, tangent)`.
    pub jvp: Option<Callable>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// The type, over the generics and the integer parameters before it.
    pub ty: Type,
    /// Whether `@nodiff` stands before it: no derivative flows into it, and its tangent is zero.
    pub nodiff: bool,
    /// The value if the argument is left out: literals, arrays and tuples of them.
    pub default: Option<Expr>,
    /// Whether it is `mut`: a call by name moves what is given for it.
    pub mutable: bool,
}

/// What a function does.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionBody {
    /// What was written.
    Source(Body),
    /// The derivative of another function of the program: `@grad(w) fn ...`.
    Derivative(Derivative),
    /// What the impl for the type `Self` says: a function that a trait asks for.
    Required(TraitMethod),
}

/// Which function of which trait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraitMethod {
    /// The trait.
    pub of: TraitId,
    /// The position among its functions.
    pub index: usize,
}

/// A body with its locals.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// All locals, the parameters first.
    pub locals: Vec<Local>,
    /// All run-time sizes.
    pub sizes: Vec<RuntimeSize>,
    /// The value. Its type is the result type of the function.
    pub value: Expr,
}

/// A local variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// The name; starts with `$` for one that the source does not name.
    pub name: String,
    /// Where it is bound.
    pub span: Span,
    /// The type. It is the same for the whole life of the variable, its dims included.
    pub ty: Type,
    /// Whether it may be assigned.
    pub mutable: bool,
}

/// A size that an expression brings into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeSize {
    /// The expression.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Where it stands.
    pub span: Span,
    /// The type of its value.
    pub ty: Type,
    /// What it is.
    pub kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Something that has been reported.
    Error,
    /// A number or truth value; its type is a scalar.
    Literal(Literal),
    /// A local variable.
    Local(LocalId),
    /// A size parameter used as a value, an i64.
    Size(GenericId),
    /// `(a, b)`; `()` is empty.
    Tuple(Vec<Expr>),
    /// `[a, b]`: the values are stacked, like the results of a `tabulate`; at least one. The
    /// shapes of all are those of the first (wrapped in checks where needed).
    Array(Vec<Expr>),
    /// `P { x: 1.0, y }`: the values of the fields in the order in which they were written.
    Struct(Vec<FieldValue>),
    /// `P { x: 2.0, ..p }`: `base` is evaluated last.
    StructUpdate {
        /// The new values.
        fields: Vec<FieldValue>,
        /// Where the other fields come from.
        base: Box<Expr>,
    },
    /// `S.Circle(r)`, `S.Box { w, h }`, `S.Dot`: a value of an enum.
    Variant {
        /// The position of the variant in the declaration.
        index: usize,
        /// The values of its payload, in the order in which they were written.
        fields: Vec<FieldValue>,
    },
    /// A part of a tuple or struct.
    Field {
        /// The tuple or struct.
        base: Box<Expr>,
        /// The position.
        index: usize,
    },
    /// `-a` or `!a`, element-wise.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Scalar or tensor of scalars.
        operand: Box<Expr>,
    },
    /// A run of infix operators.
    Chain(Box<Chain>),
    /// `a && b && ...`, evaluated from the left as far as needed; at least two operands, all
    /// `bool` scalars.
    Logic {
        /// Which.
        op: LogicOp,
        /// The operands.
        operands: Vec<Expr>,
    },
    /// A scalar primitive, element-wise. Each operand has the shape of the result (wrapped in a
    /// check where needed) or is a scalar, which then lifts.
    Primitive {
        /// The name in the op table.
        name: &'static str,
        /// The operands, in the order of the op table.
        args: Vec<Expr>,
    },
    /// `e as T`, element-wise: checked where `T` can't hold every value.
    Cast(Box<Expr>),
    /// `lo..hi`: an integer tensor, empty if `hi < lo`.
    Range(Box<Range>),
    /// `a[i, lo..hi, ..]`: fewer indices than dims leave the rest whole.
    Index {
        /// A tensor.
        base: Box<Expr>,
        /// At least one.
        indices: Vec<Index>,
    },
    /// `+/ m`, `max/[axis = 0] m`: the axes of `operand` that are folded. The value itself where
    /// a shape pack turns out to leave none.
    Fold {
        /// The operation.
        op: FoldOp,
        /// The axes.
        axes: Axes,
        /// A tensor of scalars.
        operand: Box<Expr>,
    },
    /// `f/v`, `f/init/v`: strictly from left to right over the last axis, for each position of the
    /// leading axes. Without `init` the first element starts, and an empty axis is a run-time
    /// error.
    FoldBy {
        /// Takes the value so far and an element.
        function: Box<Callable>,
        /// The start value.
        init: Option<Box<Expr>>,
        /// The tensor.
        operand: Box<Expr>,
    },
    /// A call. A size that the result type leaves open is a new run-time size here; the generics
    /// of a called function are part of the [`Callable`]. All arguments are evaluated before the
    /// shape checks around them, which may be about sizes of later arguments.
    Call {
        /// What is called.
        callee: Box<Callable>,
        /// The arguments, one for each parameter.
        args: Vec<Arg>,
    },
    /// A function of the prelude that is no scalar primitive.
    Builtin {
        /// Which; says what the arguments are.
        builtin: Builtin,
        /// The arguments.
        args: Vec<Arg>,
    },
    /// The value of `operand`, whose extents must be those of this expression's type; where they
    /// are not, a run-time error. The structure of the two types is the same, aggregates
    /// included.
    ShapeCheck(Box<Expr>),
    /// A struct, or something with structs in it, as the tangent that this expression's type is: the
    /// fields without a derivative are dropped.
    AsTangent(Box<Expr>),
    /// `print(a, b)`.
    Print(Box<Print>),
    /// `if c { } else if d { } else { }`. The dims of the arms are those of the result or, where
    /// the result has a new run-time size, whatever the arm that runs gives.
    If(Box<If>),
    /// `match e { p => a, ... }`: the first arm that matches runs; one of them does. The dims of
    /// the arms are as those of an `if`.
    Match(Box<Match>),
    /// `{ ... }`
    Block(Box<Block>),
    /// `for p in e { ... }`, the unit value.
    For(Box<For>),
    /// `while c { ... }`, the unit value.
    While(Box<While>),
    /// `break`, of the innermost loop.
    Break,
    /// `continue`, of the innermost loop.
    Continue,
    /// `return e`, from the innermost lambda or the function; the unit value without `e`.
    Return(Option<Box<Expr>>),
}

/// Axes of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axes {
    /// The last one.
    Last,
    /// All of them.
    All,
    /// Those at these positions, ascending, at least one; no shape pack stands before them.
    At(Vec<usize>),
}

impl Axes {
    /// The positions of the axes in a tensor of this rank, ascending.
    pub fn of_rank(&self, rank: usize) -> Vec<usize> {
        match self {
            Self::Last => rank.checked_sub(1).into_iter().collect(),
            Self::All => (0..rank).collect(),
            Self::At(axes) => axes.clone(),
        }
    }
}

/// A literal, its sign applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `true` or `false`
    Bool(bool),
    /// An integer, or a character's code point. It fits its type.
    Int(i128),
    /// A float: the text that `str::parse` reads in the type that it has.
    Float(String),
    /// `inf`, `nan`, `pi` or `e`, in any float type.
    Constant(FloatConstant),
}

/// A named constant of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatConstant {
    /// Infinity.
    Inf,
    /// Not a number.
    Nan,
    /// The ratio of a circle's circumference to its diameter.
    Pi,
    /// The base of the natural logarithm.
    E,
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`, of integers and floats.
    Neg,
    /// `!`, of `bool`.
    Not,
}

/// A run of infix operators, evaluated from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The leftmost operand.
    pub first: Expr,
    /// The steps, at least one. The type of the last is the type of the expression.
    pub rest: Vec<Link>,
}

/// One step of a [`Chain`]: `value so far`, operator, `operand`.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The operator.
    pub op: BinaryOp,
    /// Where the operator stands.
    pub op_span: Span,
    /// The right operand. If it is a tensor, its shape is that of the value so far (wrapped in a
    /// check where needed), unless the value so far is a scalar or the operator is `@`.
    pub operand: Expr,
    /// From the start of the chain to the end of the operand.
    pub span: Span,
    /// The type of the value after this step.
    pub ty: Type,
}

/// An infix operator. Element-wise but for [`BinaryOp::MatMul`]: both operands have the shape of the
/// result or are scalars, which then lift. Whether the operator was dotted no longer matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient; truncates for integers.
    Div,
    /// Remainder, with the sign of the dividend.
    Rem,
    /// A float to the power of a float of the same type.
    Pow,
    /// A number to the power of an integer of any integer type; the exponent of an integer must
    /// not be negative.
    PowInt,
    /// Equality of numbers or truth values.
    Eq,
    /// Inequality.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// The matrix product over the last axis of the left and the first matrix axis of the right
    /// operand: `[M,K]@[K,N]`, `[M,K]@[K]`, `[K]@[K,N]`, `[K]@[K]`, batched over equal leading
    /// dims. The right operand is wrapped in a check where the dims may not agree.
    MatMul,
}

/// A lazy infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// `lo..hi` or `lo..=hi`, of one integer type.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first value.
    pub lo: Expr,
    /// The last value, or one past it.
    pub hi: Expr,
    /// Whether `hi` belongs to the range.
    pub inclusive: bool,
}

/// One index of an indexing.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// `i`, an integer scalar: the axis goes away.
    At(Expr),
    /// `lo..hi`: the axis keeps the part; ends that are missing are those of the axis.
    Slice {
        /// The first position.
        lo: Option<Expr>,
        /// The last position, or one past it.
        hi: Option<Expr>,
        /// Whether `hi` belongs to the slice.
        inclusive: bool,
        /// Where the slice stands.
        span: Span,
    },
    /// `idx`, an integer tensor: the axis becomes the axes of `idx`.
    Gather(Expr),
}

/// One field of a struct literal, or of the payload of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldValue {
    /// The position of the field in the declaration.
    pub index: usize,
    /// The value.
    pub value: Expr,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A value.
    Value(Expr),
    /// A function.
    Function(Callable),
    /// `..S` among counts: one argument for each size of the shape pack.
    Pack(GenericId),
}

/// Something that can be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Callable {
    /// Where it stands.
    pub span: Span,
    /// The types of the parameters, at this use.
    pub params: Vec<Type>,
    /// The type of the result, at this use. For a function, sizes that its result leaves open and
    /// integer arguments that are no dims have been replaced by run-time sizes of the caller.
    pub result: Type,
    /// What it is.
    pub kind: CallableKind,
}

/// The kinds of things that can be called.
#[derive(Clone, Debug, PartialEq)]
pub enum CallableKind {
    /// A function with what its generics stand for.
    Function {
        /// Which.
        function: FnId,
        /// One for each of its generics.
        generics: Vec<GenericArg>,
    },
    /// A lambda; it may be run any number of times, also in parallel.
    Lambda(Box<Lambda>),
    /// A parameter of function type.
    Param(LocalId),
    /// A derivative of something that can be called.
    Derivative(Box<Derivative>),
    /// Something that can be called, over one more axis.
    Vmap(Box<Vmap>),
}

/// `|x, (a, b)| e`. Its locals are in the table of the body that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// The parameters, one pattern for each, which always matches.
    pub params: Vec<Pattern>,
    /// The locals of the surroundings that the body reads, ascending. They are read-only there.
    pub captures: Vec<LocalId>,
    /// The value.
    pub body: Expr,
}

/// `vmap[axis](f)`: `f` for every position along an axis of its arguments, in parallel, with the results stacked. Where
/// results have shapes that only the run knows, differing ones are a run-time error, as in a `tabulate`.
#[derive(Clone, Debug, PartialEq)]
pub struct Vmap {
    /// For each argument the position of the axis in each tensor that it consists of, or the last one where there are
    /// fewer; a negative one counts from the back. `None` is an argument that is the same for every position; one at
    /// least is not.
    pub axes: Vec<Option<i64>>,
    /// The position of the axis in each tensor that the result consists of, with the same conventions.
    pub out: i64,
    /// What is called for each position. Its parameters and its result lack the axis.
    pub base: Callable,
}

/// `if c { } else if d { } else { }`
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The conditions, `bool` scalars, with what runs; at least one.
    pub arms: Vec<(Expr, Expr)>,
    /// What runs otherwise; without it the value is the unit value.
    pub otherwise: Option<Expr>,
}

/// `{ ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
    /// The value; the unit value without it.
    pub value: Option<Expr>,
    /// Whether a reverse sweep runs its loops again instead of keeping what they computed.
    pub recompute: bool,
    /// The mode in which a reverse sweep differentiates its loops, where it has a choice.
    pub mode: Option<DerivativeMode>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let p = e`
    Let {
        /// What is bound; always matches.
        pattern: Pattern,
        /// The value.
        value: Expr,
    },
    /// `place op value`
    Assign {
        /// What is changed.
        target: Target,
        /// How; for a tuple of places always [`AssignOp::Set`].
        op: AssignOp,
        /// The right side, evaluated before the indices of the places. Its shape is that of the
        /// place, or it is a scalar, which then lifts (but not for [`AssignOp::Set`]).
        value: Expr,
    },
    /// An expression of unit type or one that never ends.
    Expr(Expr),
}

/// What an assignment changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A place.
    Place(Place),
    /// `(p, q)`: the parts of a tuple, all computed before any is stored.
    Tuple(Vec<Target>),
}

/// A place: a mutable local, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it stands.
    pub span: Span,
    /// The type of what is stored there.
    pub ty: Type,
    /// The local.
    pub root: LocalId,
    /// The way from the local to the part.
    pub steps: Vec<PlaceStep>,
}

/// One step into a place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceStep {
    /// From the start of the place to the end of the step.
    pub span: Span,
    /// The type after the step.
    pub ty: Type,
    /// What the step does.
    pub kind: PlaceStepKind,
}

/// The kinds of steps into a place.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceStepKind {
    /// A part of a tuple or struct.
    Field(usize),
    /// Elements or slices of a tensor.
    Index(Vec<Index>),
}

/// What an assignment does with the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `+=`, `.*=` and so on: old value, operator, right side.
    Binary(BinaryOp),
    /// `max=`
    Max,
    /// `min=`
    Min,
}

/// `for p in e { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// What is bound in each iteration; always matches.
    pub pattern: Pattern,
    /// What is iterated over.
    pub iterable: Iterable,
    /// What runs, of unit type.
    pub body: Expr,
    /// For an outermost loop of a kernel, whose iterations run in parallel: what they write. The
    /// order in which they run makes no difference.
    pub parallel: Option<Sharing>,
    /// What a reverse sweep keeps of it.
    pub checkpoint: Option<Checkpoint>,
}

/// What the iterations of a parallel loop write of variables from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sharing {
    /// Tensors of which each iteration reads and writes its own slot.
    pub owned: Vec<Owned>,
    /// Scalars and tensors to which all iterations contribute, and which none reads.
    pub accumulated: Vec<Accumulated>,
}

/// A tensor of which each iteration of a parallel loop has a slot of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    /// The local.
    pub root: LocalId,
    /// The way to the tensor: positions of fields.
    pub path: Vec<usize>,
    /// The axis whose position belongs to the iteration.
    pub axis: usize,
    /// Which positions those are.
    pub slot: Slot,
}

/// The positions along one axis that belong to an iteration of a parallel loop over `i`.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    /// `factor * i + offset`, where the factor is not zero and the offset, a sum of products, is
    /// the same in all iterations.
    Element {
        /// The factor.
        factor: i64,
        /// The terms of the offset: a factor with an integer of any type; 1 without one.
        offset: Vec<(i64, Option<Expr>)>,
    },
    /// `i * length + j` for `j` in `0..length`: the terms of the length, as those of an offset.
    Block(Vec<(i64, Option<Expr>)>),
}

/// Something to which all iterations of a parallel loop contribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulated {
    /// The local.
    pub root: LocalId,
    /// The way to the scalar or tensor: positions of fields.
    pub path: Vec<usize>,
    /// How: `+=`, `*=`, `max=` or `min=`.
    pub op: AssignOp,
}

/// What a `for` iterates over; its bounds are evaluated once.
#[derive(Clone, Debug, PartialEq)]
pub enum Iterable {
    /// The values of a range, without a tensor in between.
    Range {
        /// The range.
        range: Range,
        /// Whether from the last to the first.
        reversed: bool,
    },
    /// The elements or rows of a tensor along its first axis.
    Tensor {
        /// The tensor.
        tensor: Expr,
        /// Whether from the last to the first.
        reversed: bool,
    },
}

/// `while c { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// A `bool` scalar.
    pub condition: Expr,
    /// What runs while it holds, of unit type.
    pub body: Expr,
    /// What a reverse sweep keeps of it.
    pub checkpoint: Option<Checkpoint>,
}

/// A function of the prelude that is no scalar primitive. `n` stands for an integer of any type,
/// `v` for a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `n.., f`: stacks `f(i..)` over all indices below the counts, in parallel. A negative count
    /// is a run-time error, and so are values of different shapes.
    Tabulate,
    /// `f, v..`: stacks `f(v[i]..)` over the first axis; with counts before `f`, or a pack that stands for them, over
    /// as many axes as there are counts.
    Map,
    /// `v..`: the tensor of the tuples of their elements (rows) along the first axis.
    Zip,
    /// `init, f, v`: stacks the accumulators after each element (row) of `v`.
    Scan,
    /// `init, f, v`: the accumulator after the last element (row) of `v`.
    Fold,
    /// `n, init, f`: `f` applied `n` times (none if negative).
    Iterate,
    /// `init, step, done, n`: `step` until `done` holds for the new state, at most `n` times.
    IterateUntil,
    /// `v..`: joined along the first axis.
    Concat,
    /// `v`: the first axis backwards.
    Reverse,
    /// `v`: the last two axes exchanged.
    Transpose,
    /// `v, n..`: the same elements with other extents. The number of elements is checked.
    Reshape,
    /// `v, n..`: repeated along new leading axes; the last extents are those of `v`, which is
    /// checked.
    Broadcast,
    /// `n..`: zeros of the result's type.
    Zeros,
    /// `n..`: ones of the result's type.
    Ones,
    /// `n.., x`: copies of a scalar.
    Full,
    /// `v`: zeros of the type and shape of `v`, a value of any type.
    ZerosLike,
    /// `n`: the integers below `n`.
    Iota,
    /// `v`: a vector as a diagonal matrix, or the diagonal of a square matrix.
    Diag,
    /// `v`: the sum of the diagonal of a square matrix.
    Trace,
    /// `v`: the sum of all elements.
    Sum,
    /// `v`: the product of all elements.
    Prod,
    /// `v`: the mean of all elements.
    Mean,
    /// `v, w`: the inner product of two vectors.
    Dot,
    /// `v`: the Euclidean norm of all elements.
    Norm,
    /// `x`: the value itself, of any type; no derivative flows through.
    StopGradient,
    /// `v, f`: `f` for its effects on each element (row) along the first axis, in order.
    Each,
    /// `v`: the elements along the last axis in ascending order, NaN last; equal ones keep their order.
    Sort,
    /// `v`: the positions along the last axis in the order of `sort`.
    Argsort,
    /// `v`: the position of the greatest element along the last axis: of several the first, of NaN
    /// the first. An empty axis is a run-time error.
    Argmax,
    /// `v`: the position of the least element along the last axis, likewise.
    Argmin,
    /// `v`: the sums of the elements up to each one, along the last axis.
    Cumsum,
    /// `v`: the products of the elements up to each one, along the last axis.
    Cumprod,
    /// `v, idx`: the elements (rows) of `v` at the positions that an integer tensor holds.
    Gather,
    /// `x`: integers or truth values as the integer type of the result, wrapped.
    WrappingAs,
    /// `attribute.., v..`: an operation of the op table, used by its name in a library. The attributes are literals.
    Operation(TensorOp, usize),
}

/// What the language server shows: which node of the source has which type and which definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceFacts {
    /// For each module the types of the values at its nodes.
    pub types: Vec<Vec<Option<Type>>>,
    /// Uses and where the name is defined, in the order of the source.
    pub definitions: Vec<Use>,
}

/// A use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Where the name is used.
    pub span: Span,
    /// Where it is defined.
    pub definition: Span,
}

impl SourceFacts {
    /// The type at a node of a module.
    pub fn type_at(&self, module: ModuleId, node: NodeId) -> Option<&Type> {
        self.types.get(module.0 as usize)?.get(node.0 as usize)?.as_ref()
    }
}
