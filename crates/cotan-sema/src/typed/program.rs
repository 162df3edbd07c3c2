//! A typed program: its traits, impls, functions and their bodies.

use super::{Callable, Derivative, DerivativeMode, Enum, Expr, FnId, Generic, Struct, TraitId, TraitRef, Type};
use cotan_syntax::Span;

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

impl Rules {
    /// Whether there is one.
    pub fn any(&self) -> bool {
        self.vjp.is_some() || self.jvp.is_some()
    }
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
    /// The value if the argument is left out: a parameter before it, or literals, arrays and tuples of them.
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
