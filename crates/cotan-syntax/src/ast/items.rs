//! Declarations.

use super::{Attr, Expr, Ident, NodeId, Path, TypeExpr};
use crate::span::{FileId, Span};
use crate::token::{Comment, Token};

/// A source file.
#[derive(Clone, Debug)]
pub struct Module {
    /// The file.
    pub file: FileId,
    /// The declarations, in the order of the source.
    pub items: Vec<Item>,
    /// All tokens, the last one is [`crate::token::TokenKind::Eof`].
    pub tokens: Vec<Token>,
    /// All comments, in the order of the source.
    pub comments: Vec<Comment>,
    /// The number of nodes: every [`NodeId`] of the module is below it.
    pub n_nodes: u32,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The number of this node.
    pub id: NodeId,
    /// From the first attribute to the end.
    pub span: Span,
    /// The doc comment before it.
    pub doc: Option<Doc>,
    /// The attributes.
    pub attrs: Vec<Attr>,
    /// Where `pub` stands.
    pub public: Option<Span>,
    /// What is declared.
    pub kind: ItemKind,
}

/// The `##` lines before a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The text without `##` and one following space, lines joined by `\n`.
    pub text: String,
    /// From the first line to the last.
    pub span: Span,
}

/// The kinds of declarations.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `fn` or `kernel`.
    Function(Function),
    /// `struct`
    Struct(Struct),
    /// `enum`
    Enum(Enum),
    /// `type`
    TypeAlias(TypeAlias),
    /// `const`
    Const(Const),
    /// `trait`
    Trait(Trait),
    /// `impl`
    Impl(Impl),
    /// `import`
    Import(Import),
    /// Not a declaration; that has been reported.
    Error,
}

/// `fn` or `kernel`: the word decides what the outermost loops mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionForm {
    /// An ordinary function.
    Fn,
    /// A function whose outermost `for` loops run in parallel.
    Kernel,
}

/// A function with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// `fn` or `kernel`.
    pub form: FunctionForm,
    /// Everything before the body.
    pub signature: Signature,
    /// The body: [`super::ExprKind::Block`] for `{ ... }`, any expression after `=`.
    pub body: Expr,
}

/// Name, parameters and result of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// From `fn` to the result type.
    pub span: Span,
    /// The name.
    pub name: Ident,
    /// The parameters in brackets.
    pub generics: Vec<GenericParam>,
    /// The parameters in parentheses.
    pub params: Vec<Param>,
    /// The result type. Only `main` may leave it out; elsewhere that has been reported.
    pub result: Option<TypeExpr>,
}

/// `N`, `N: nat`, `T: Float`, `T: Area + Differentiable` or `..S`.
#[derive(Clone, Debug, PartialEq)]
pub struct GenericParam {
    /// The number of this node.
    pub id: NodeId,
    /// From the first token to the last.
    pub span: Span,
    /// Where the `..` of a shape pack stands.
    pub pack: Option<Span>,
    /// The name.
    pub name: Ident,
    /// What stands after the colon, joined by `+`.
    pub bounds: Vec<TypeExpr>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The number of this node.
    pub id: NodeId,
    /// From the first attribute to the default.
    pub span: Span,
    /// The attributes, such as `@nodiff`.
    pub attrs: Vec<Attr>,
    /// Where `mut` stands.
    pub mutable: Option<Span>,
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: TypeExpr,
    /// The value if the argument is left out.
    pub default: Option<Expr>,
}

/// `struct P[K] { x: f64, y: f64[K] }`
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name.
    pub name: Ident,
    /// The parameters in brackets.
    pub generics: Vec<GenericParam>,
    /// The fields.
    pub fields: Vec<Field>,
}

/// A field of a struct or of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The number of this node.
    pub id: NodeId,
    /// From the name to the type.
    pub span: Span,
    /// The doc comment before it.
    pub doc: Option<Doc>,
    /// The attributes, such as `@nodiff`.
    pub attrs: Vec<Attr>,
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: TypeExpr,
}

/// `enum S { Dot, Circle(f64), Box { w: f64, h: f64 } }`
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// The name.
    pub name: Ident,
    /// The parameters in brackets.
    pub generics: Vec<GenericParam>,
    /// The variants.
    pub variants: Vec<Variant>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The number of this node.
    pub id: NodeId,
    /// From the name to the end of the payload.
    pub span: Span,
    /// The doc comment before it.
    pub doc: Option<Doc>,
    /// The name.
    pub name: Ident,
    /// What a value of this variant carries.
    pub payload: Payload,
}

/// What a variant carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// `Dot`
    Unit,
    /// `Circle(f64)`
    Tuple(Vec<TypeExpr>),
    /// `Box { w: f64, h: f64 }`
    Struct(Vec<Field>),
}

/// `type Vec3 = f64[3]`
#[derive(Clone, Debug, PartialEq)]
pub struct TypeAlias {
    /// The name.
    pub name: Ident,
    /// The parameters in brackets.
    pub generics: Vec<GenericParam>,
    /// What the name stands for.
    pub ty: TypeExpr,
}

/// `const N: i64 = 4`
#[derive(Clone, Debug, PartialEq)]
pub struct Const {
    /// The name.
    pub name: Ident,
    /// The type after the colon.
    pub ty: Option<TypeExpr>,
    /// The value.
    pub value: Expr,
}

/// `trait Area { fn area(s: Self) -> f64 }`
#[derive(Clone, Debug, PartialEq)]
pub struct Trait {
    /// The name.
    pub name: Ident,
    /// The parameters in brackets.
    pub generics: Vec<GenericParam>,
    /// The functions that a type must have.
    pub methods: Vec<TraitMethod>,
}

/// A function that a trait asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct TraitMethod {
    /// The number of this node.
    pub id: NodeId,
    /// From the first attribute to the end.
    pub span: Span,
    /// The doc comment before it.
    pub doc: Option<Doc>,
    /// The attributes.
    pub attrs: Vec<Attr>,
    /// The function.
    pub signature: Signature,
}

/// `impl[K] Area for Q[K] { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Impl {
    /// The parameters in brackets.
    pub generics: Vec<GenericParam>,
    /// The trait.
    pub trait_ref: TypeExpr,
    /// The type that gets the functions.
    pub target: TypeExpr,
    /// The functions: all are of kind [`ItemKind::Function`] or [`ItemKind::Error`].
    pub items: Vec<Item>,
}

/// `import std.nn`, `import ./layers`, with or without `as name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// What is imported.
    pub source: ImportSource,
    /// The name after `as`.
    pub alias: Option<Ident>,
}

/// Where an imported module lies.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportSource {
    /// `std.nn`
    Library(Path),
    /// `./layers` or `../shared/layers`, relative to the importing file.
    Relative {
        /// How many directories up: 0 for `./`, 1 for `../`.
        parents: u32,
        /// The names between the slashes.
        segments: Vec<Ident>,
        /// From the first dot to the last name.
        span: Span,
    },
}
