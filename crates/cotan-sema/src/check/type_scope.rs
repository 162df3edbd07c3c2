//! What names mean in the types that are written at some place.

use crate::dims::{Dim, GenericId};
use crate::types::{Generic, GenericKind, Type};
use cotan_syntax::{Span, ast};

/// What `_` means where a type stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holes {
    /// An error.
    Forbidden,
    /// One more size parameter of the function.
    Generics,
    /// A run-time size.
    Sizes,
}

/// Where a function may get another size parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewSizes {
    place: Span,
    /// Whether there are brackets that it goes into.
    has_brackets: bool,
}

impl NewSizes {
    /// Behind the last parameter in brackets, or behind the name.
    pub(super) fn of(signature: &ast::Signature) -> NewSizes {
        let last = signature.generics.last();
        let place = last.map_or(signature.name.span, |generic| generic.span).after();
        NewSizes { place, has_brackets: last.is_some() }
    }

    /// The edit that declares a size.
    pub(super) fn declaring(self, name: &str) -> (Span, String) {
        (self.place, if self.has_brackets { format!(", {name}") } else { format!("[{name}]") })
    }
}

/// A parameter of a function that is no size, because of its type.
pub(super) struct NoSize {
    pub(super) name: String,
    /// Its type as messages show it, and where it is written.
    pub(super) ty: (String, Span),
    /// Whether a size was made of it, which was reported.
    pub(super) is_reported: bool,
}

/// What names mean in the types at some place.
pub(super) struct TypeScope<'s> {
    /// The parameters in brackets; those for `_` are appended.
    pub(super) generics: Vec<Generic>,
    /// Integer variables that may stand in sizes.
    pub(super) values: &'s dyn Fn(&str) -> Option<Dim>,
    /// What `_` means.
    pub(super) holes: Holes,
    /// The next run-time size.
    pub(super) next_size: u32,
    /// What `Self` is, in a trait and an `impl`.
    pub(super) self_type: Option<Type>,
    /// Where sizes that are not declared may be.
    pub(super) new_sizes: Option<NewSizes>,
    /// Parameters of the function that would be sizes if they were integers.
    pub(super) no_sizes: Vec<NoSize>,
}

/// No variable may stand in a size.
fn no_values(_: &str) -> Option<Dim> {
    None
}

impl<'s> TypeScope<'s> {
    /// A scope with these generics and nothing else.
    pub(super) fn new(generics: Vec<Generic>) -> TypeScope<'static> {
        TypeScope::with_values(generics, &no_values, Holes::Forbidden, None)
    }

    /// A scope in which variables may stand in sizes.
    pub(super) fn with_values(
        generics: Vec<Generic>,
        values: &'s dyn Fn(&str) -> Option<Dim>,
        holes: Holes,
        self_type: Option<Type>,
    ) -> TypeScope<'s> {
        TypeScope { generics, values, holes, next_size: 0, self_type, new_sizes: None, no_sizes: Vec::new() }
    }

    pub(super) fn generic(&self, name: &str) -> Option<(GenericId, GenericKind)> {
        let at = self.generics.iter().position(|generic| generic.name == name)?;
        Some((GenericId(at as u32), self.generics[at].kind))
    }
}
