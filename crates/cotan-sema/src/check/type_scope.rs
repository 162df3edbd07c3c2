//! What names mean in the types that are written at some place.

use crate::dims::{Dim, GenericId};
use crate::types::{Generic, GenericKind, Type};

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
}

/// No variable may stand in a size.
fn no_values(_: &str) -> Option<Dim> {
    None
}

impl<'s> TypeScope<'s> {
    /// A scope with these generics and nothing else.
    pub(super) fn new(generics: Vec<Generic>) -> TypeScope<'static> {
        TypeScope { generics, values: &no_values, holes: Holes::Forbidden, next_size: 0, self_type: None }
    }

    pub(super) fn generic(&self, name: &str) -> Option<(GenericId, GenericKind)> {
        let at = self.generics.iter().position(|generic| generic.name == name)?;
        Some((GenericId(at as u32), self.generics[at].kind))
    }
}
