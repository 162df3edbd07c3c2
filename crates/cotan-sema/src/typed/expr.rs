//! The expressions of the typed tree.

use super::{Block, Builtin, Callable, For, GenericId, Literal, LocalId, Match, Print, Type, While};
use cotan_ops::PrimRow;
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

/// `if c { } else if d { } else { }`
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The conditions, `bool` scalars, with what runs; at least one.
    pub arms: Vec<(Expr, Expr)>,
    /// What runs otherwise; without it the value is the unit value.
    pub otherwise: Option<Expr>,
}
