//! The nodes of the typed tree that contain each other: expressions, what is called in them, and statements.

use super::{AssignOp, BinaryOp, Builtin, DerivativeForm, DerivativeMode, Literal, LogicOp, Pattern, UnaryOp};
use super::{GenericArg, GenericId, LocalId, Type};
use cotan_ir::Checkpoint;
use cotan_ops::{Format, PrimRow};
use cotan_syntax::Span;
use cotan_syntax::ast::FoldOp;

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

impl Expr {
    /// What stands in place of an expression that is wrong.
    pub(crate) fn error(span: Span) -> Expr {
        Expr { span, ty: Type::Error, kind: ExprKind::Error }
    }
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
        /// The row of the op table.
        row: &'static PrimRow,
        /// Whether an integer result that does not fit wraps; otherwise it is a run-time error.
        wraps: bool,
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
    /// `print(a, b)`, and what `debug` writes.
    Print(Box<Print>),
    /// `assert(condition, "message")`.
    Assert(Box<Assert>),
    /// A value that is there once a token is. Lowering alone makes it.
    After {
        /// The value.
        value: Box<Expr>,
        /// The token, an i64.
        token: Box<Expr>,
    },
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

/// `if c { } else if d { } else { }`
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The conditions, `bool` scalars, with what runs; at least one.
    pub arms: Vec<(Expr, Expr)>,
    /// What runs otherwise; without it the value is the unit value.
    pub otherwise: Option<Expr>,
}

/// `match e { p if g => a, ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The value that is looked at; evaluated once.
    pub scrutinee: Expr,
    /// The arms; for every value one without a guard matches.
    pub arms: Vec<MatchArm>,
}

/// One arm of a [`Match`].
#[derive(Clone, Debug, PartialEq)]
pub struct MatchArm {
    /// From the pattern to the end of the value.
    pub span: Span,
    /// What the value must match.
    pub pattern: Pattern,
    /// What must hold then, a `bool` scalar that reads the locals of the pattern.
    pub guard: Option<Expr>,
    /// The value.
    pub body: Expr,
}

/// `print(a, b)`: evaluates its values from the left, then writes all pieces.
///
/// The checker makes the whole call, of unit type. Lowering takes it apart into steps, each with a token: a text and at
/// most one scalar or tensor of scalars after it; the value of a step is the next token, an i64.
#[derive(Clone, Debug, PartialEq)]
pub struct Print {
    /// Where it is written to.
    pub to: Sink,
    /// The token of a step.
    pub token: Option<Expr>,
    /// What is written, one after the other; in a whole call with a newline at the end.
    pub pieces: Vec<PrintPiece>,
}

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// The output of the program: `print`.
    Output,
    /// To whoever looks for a mistake, from pure code too: `debug`.
    Debug,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq)]
pub enum PrintPiece {
    /// A text.
    Text(String),
    /// A value of any type, and how its numbers are written.
    Value(Expr, Format),
}

impl Print {
    /// The expressions in it, in order of evaluation.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let values = self.pieces.iter().filter_map(|piece| match piece {
            PrintPiece::Text(_) => None,
            PrintPiece::Value(value, _) => Some(value),
        });
        self.token.iter().chain(values)
    }
}

/// `assert(condition, "message")`: a run-time error where the condition does not hold.
///
/// The checker makes the call, of unit type. Lowering gives it a token, as a step of output has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Assert {
    /// What must hold.
    pub condition: Expr,
    /// The string, in the file of the call.
    pub message: Span,
    /// The token of the step.
    pub token: Option<Expr>,
}

// ---- what is called

/// A function: an index into [`super::Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FnId(pub u32);

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

/// A derivative of something that can be called: `grad[w](f)`, or the body of `@grad(w) fn ...`.
///
/// Parameters and result of the derivative itself are those of the [`Callable`] or function that
/// it stands in:
///
/// | form | parameters | result |
/// |---|---|---|
/// | `Grad` | those of the base | the gradients, then `aux..` |
/// | `ValueAndGrad` | those of the base | `(value, gradients.., aux..)` |
/// | `Jvp` | those of the base, then a tangent for each of `wrt` | `(value, tangent of the value)` |
/// | `Vjp` | those of the base, then a cotangent of the value | `(value, cotangents..)` |
/// | `Jacobian` | those of the base | for each of `wrt` the dims of the value, then its own |
/// | `Hessian` | those of the base | for each pair of `wrt` the dims of the first, then of the second |
/// | `Hvp` | those of the base, then a tangent for each of `wrt` | the tangents of the gradients |
///
/// Gradients, Jacobians and tangents of gradients are a tuple if there are several of `wrt`, and
/// the thing itself if there is one; a Hessian of several is a tuple of tuples. Where the base gives
/// a tuple `(value, aux..)` that begins with a float, `Grad` and `ValueAndGrad` differentiate that
/// alone; `aux..` is what the base gives beside it. A Jacobian of a tuple or struct is the tuple of
/// the Jacobians of its parts, and so is one with respect to a tuple.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivative {
    /// Where it stands.
    pub span: Span,
    /// Which derivative.
    pub form: DerivativeForm,
    /// The mode that the source asks for.
    pub mode: Option<DerivativeMode>,
    /// What is differentiated. Generic functions are instantiated; a lambda may read the locals
    /// of its surroundings, which are constants of the derivative.
    pub base: Callable,
    /// The positions of the parameters of the base that it is differentiated with respect to, in
    /// the order of the source; at least one. Leaves of integer or `bool` type in them have the
    /// unit type as their tangent.
    pub wrt: Vec<usize>,
}

// ---- statements

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
