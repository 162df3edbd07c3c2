//! Expressions and statements.

use super::{Arg, AssignOp, Attr, BinaryOp, FoldOp, Ident, Literal, NodeId, Path, Pattern, TypeExpr, UnaryOp};
use crate::span::Span;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The number of this node.
    pub id: NodeId,
    /// Where it stands, parentheses around it included.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `1`, `2.5_f32`, `true`, `"text"`, `'c'`
    Literal(Literal),
    /// `x`
    Name(String),
    /// `_`, only in brackets: a size that is left open.
    Hole,
    /// `(a, b)`; `()` is empty. `(a)` is just `a`.
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `P { x: 1.0, y, ..p }`
    Struct(Box<StructLiteral>),
    /// `-a`, `!a`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Where it stands.
        op_span: Span,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// A run of infix operators of one level, such as `a - b + c`. Comparisons and powers have
    /// one link.
    Binary(Box<Chain>),
    /// `x |> f(y) |> g`
    Pipe(Box<Pipe>),
    /// `lo..hi`, `lo..=hi`; ends may be missing only in brackets.
    Range(Box<Range>),
    /// `+/ v`, `max/[axis = 0] m`
    Fold(Box<Fold>),
    /// `(|a, b| e)/v`, `(|a, b| e)/init/v`
    FoldBy(Box<FoldBy>),
    /// `base` followed by calls, indices, fields and casts.
    Postfix(Box<Postfix>),
    /// `(e : T)`
    Ascription {
        /// The value.
        operand: Box<Expr>,
        /// The type that it shall have.
        ty: Box<TypeExpr>,
    },
    /// `|x, (a, b), z: f64| e`
    Lambda(Box<Lambda>),
    /// `let x = e in b`
    LetIn(Box<LetIn>),
    /// `if c { } else if d { } else { }`
    If(Box<If>),
    /// `match e { p => a, ... }`
    Match(Box<Match>),
    /// `{ ... }`
    Block(Box<Block>),
    /// `for p in e { ... }`
    For(Box<For>),
    /// `while c { ... }`
    While(Box<While>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`, `return e`
    Return(Option<Box<Expr>>),
    /// Not an expression; that has been reported.
    Error,
}

/// A run of infix operators of one level: `first op operand op operand ...`, from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The leftmost operand.
    pub first: Expr,
    /// The rest, at least one.
    pub rest: Vec<Link>,
}

/// One step of a [`Chain`].
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Stands for the value of the chain up to and including this step; its span goes from the
    /// start of the chain to the end of the operand. The last one is the value of the chain.
    pub id: NodeId,
    /// The operator.
    pub op: BinaryOp,
    /// Where the operator stands.
    pub op_span: Span,
    /// The right operand.
    pub operand: Expr,
}

/// `first |> f(y) |> g`
#[derive(Clone, Debug, PartialEq)]
pub struct Pipe {
    /// The value that is passed on.
    pub first: Expr,
    /// The functions, at least one.
    pub stages: Vec<Stage>,
}

/// One step of a [`Pipe`].
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Stands for the value after this step.
    pub id: NodeId,
    /// Where `|>` stands.
    pub op_span: Span,
    /// `f(y)`, which gets one more argument in front, or anything else, which is called.
    pub function: Expr,
}

/// `lo..hi` or `lo..=hi`
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first value.
    pub lo: Option<Expr>,
    /// The last value, or one past it.
    pub hi: Option<Expr>,
    /// Whether `hi` belongs to the range.
    pub inclusive: bool,
    /// Where `..` or `..=` stands.
    pub op_span: Span,
    /// Whether it stands in brackets, where an end may be missing if it is a whole index; elsewhere the parser has reported
    /// that.
    pub in_brackets: bool,
}

/// A fold by an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// The operator.
    pub op: FoldOp,
    /// Where it stands.
    pub op_span: Span,
    /// `[all]` or `[axis = 0, ...]`
    pub selector: Option<Selector>,
    /// The tensor.
    pub operand: Expr,
}

/// The bracket after a fold operator: the single name `all`, or arguments of which the first is
/// `axis = INT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    /// The bracket.
    pub span: Span,
    /// What stands in it.
    pub args: Vec<Arg>,
}

/// A fold by a parenthesised lambda.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldBy {
    /// The lambda.
    pub function: Expr,
    /// The start value.
    pub init: Option<Expr>,
    /// The tensor.
    pub operand: Expr,
}

/// A value and what is done with it, from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Postfix {
    /// The leftmost value, which is no postfix expression unless it is parenthesised.
    pub base: Expr,
    /// The steps, at least one.
    pub ops: Vec<PostfixOp>,
}

/// One step of a [`Postfix`].
#[derive(Clone, Debug, PartialEq)]
pub struct PostfixOp {
    /// Stands for the value up to and including this step; its span goes from the start of the
    /// whole expression to the end of this step.
    pub id: NodeId,
    /// This step alone, such as `[i, j]`.
    pub span: Span,
    /// What is done.
    pub kind: PostfixKind,
}

/// The kinds of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum PostfixKind {
    /// `(x, stride = 2)`
    Call(Vec<Arg>),
    /// `[i, .., lo..hi]`, `[f64]`, `[w, mode = forward]`
    Index(Vec<Arg>),
    /// `.x`
    Field(Ident),
    /// `.0`
    TupleField {
        /// The position.
        index: u32,
        /// Where the number stands.
        span: Span,
    },
    /// `as T`
    Cast(TypeExpr),
}

/// `P { x: 1.0, y, ..p }`
#[derive(Clone, Debug, PartialEq)]
pub struct StructLiteral {
    /// The struct, or the variant with its type.
    pub path: Path,
    /// The parameters in brackets after the path.
    pub generics: Vec<Arg>,
    /// The fields.
    pub fields: Vec<FieldInit>,
    /// The value after `..`, from which the other fields come.
    pub base: Option<Expr>,
}

/// `name: value`, or `name` for `name: name`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldInit {
    /// The name of the field.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
    /// Whether only the name was written.
    pub shorthand: bool,
}

/// `|x, (a, b), z: f64| e`
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Between the bars.
    pub params: Vec<LambdaParam>,
    /// The value.
    pub body: Expr,
}

/// A parameter of a lambda.
#[derive(Clone, Debug, PartialEq)]
pub struct LambdaParam {
    /// What is bound.
    pub pattern: Pattern,
    /// The type after the colon.
    pub ty: Option<TypeExpr>,
}

/// `let x = e in b`
#[derive(Clone, Debug, PartialEq)]
pub struct LetIn {
    /// What is bound.
    pub binding: Let,
    /// Where it is visible.
    pub body: Expr,
}

/// `if c { } else if d { } else { }`
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The conditions with their blocks, at least one.
    pub arms: Vec<IfArm>,
    /// The block of the last `else`.
    pub otherwise: Option<Block>,
}

/// One condition of an [`If`].
#[derive(Clone, Debug, PartialEq)]
pub struct IfArm {
    /// The condition.
    pub condition: Expr,
    /// What runs if it holds.
    pub block: Block,
}

/// `match e { p if g => a, ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The value that is looked at.
    pub scrutinee: Expr,
    /// The arms.
    pub arms: Vec<MatchArm>,
}

/// One arm of a [`Match`].
#[derive(Clone, Debug, PartialEq)]
pub struct MatchArm {
    /// From the pattern to the end of the value.
    pub span: Span,
    /// What the value must match.
    pub pattern: Pattern,
    /// The condition after `if`.
    pub guard: Option<Expr>,
    /// The value.
    pub body: Expr,
}

/// `{ ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The number of this node; stands for the value of the block.
    pub id: NodeId,
    /// The braces and what is between them.
    pub span: Span,
    /// The attributes before it, such as `@mode(forward)`.
    pub attrs: Vec<Attr>,
    /// The statements.
    pub statements: Vec<Stmt>,
    /// The expression at the end, if the block does not end in a statement.
    pub value: Option<Box<Expr>>,
}

/// `for p in e { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The attributes before it, such as `@checkpoint(every = 8)`.
    pub attrs: Vec<Attr>,
    /// What is bound in each iteration.
    pub pattern: Pattern,
    /// What is iterated over.
    pub iterable: Expr,
    /// What runs.
    pub body: Block,
}

/// `while c { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// The attributes before it.
    pub attrs: Vec<Attr>,
    /// The condition.
    pub condition: Expr,
    /// What runs while it holds.
    pub body: Block,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The number of this node.
    pub id: NodeId,
    /// Where it stands, without the `;`.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let x = e`
    Let(Box<Let>),
    /// `place op value`
    Assign(Box<Assign>),
    /// An expression that is not the value of its block.
    Expr(Expr),
    /// Not a statement; that has been reported.
    Error,
}

/// `let pattern: ty = value`
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// What is bound; `mut` stands in the pattern.
    pub pattern: Pattern,
    /// The type after the colon.
    pub ty: Option<TypeExpr>,
    /// The value.
    pub value: Expr,
}

/// `place op value`
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// What is changed: a name, a field, an element, a slice, or a tuple of them. The parser
    /// accepts any expression here.
    pub place: Expr,
    /// The operator.
    pub op: AssignOp,
    /// Where it stands.
    pub op_span: Span,
    /// The right side.
    pub value: Expr,
}
