//! Enum declarations.

use cotan_syntax::Span;

use super::{Field, Generic};

/// An enum declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The parameters in brackets.
    pub generics: Vec<Generic>,
    /// The variants, in the order of the source.
    pub variants: Vec<Variant>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// How the payload is written.
    pub form: PayloadForm,
    /// The payload. The parts of a tuple are called `0`, `1` and so on.
    pub fields: Vec<Field>,
}

/// How the payload of a variant is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadForm {
    /// `Dot`
    Unit,
    /// `Circle(f64)`
    Tuple,
    /// `Box { w: f64, h: f64 }`
    Struct,
}
