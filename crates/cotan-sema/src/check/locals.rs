//! The locals of a body: the scopes in which names stand for them, and the functions and lambdas that they belong to.

use std::collections::{BTreeMap, BTreeSet};

use cotan_syntax::Span;

use crate::typed::{Dim, Local, LocalId};
use crate::types::Type;

/// A function or lambda whose body is being checked.
#[derive(Default)]
pub(super) struct Frame {
    /// The first local that belongs to it.
    pub(super) first_local: u32,
    /// Locals of the surroundings that it reads.
    pub(super) captures: BTreeSet<LocalId>,
    /// The type of its result, once it is known.
    pub(super) result: Option<Type>,
    /// How many loops surround the current place inside of it.
    pub(super) n_loops: usize,
    /// Whether it may print.
    pub(super) may_print: bool,
}

/// The locals of a body.
pub(super) struct Locals {
    /// All of them, by their ids.
    pub(super) all: Vec<Local>,
    /// The values of immutable ones of type i64, as sizes.
    known: Vec<Option<Dim>>,
    /// What a name stands for, innermost last; a name that stands for none is not there.
    names: BTreeMap<String, Vec<LocalId>>,
    /// The names bound in each open scope.
    scopes: Vec<Vec<String>>,
    /// The function or constant, and the lambdas around the current place.
    pub(super) frames: Vec<Frame>,
}

impl Locals {
    /// No locals, in the scope of a function.
    pub(super) fn new() -> Locals {
        Locals {
            all: Vec::new(),
            known: Vec::new(),
            names: BTreeMap::new(),
            scopes: vec![Vec::new()],
            frames: vec![Frame::default()],
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// A local.
    pub(super) fn get(&self, id: LocalId) -> &Local {
        &self.all[id.0 as usize]
    }

    /// The value of a local as a size, if that is known.
    pub(super) fn known(&self, id: LocalId) -> Option<&Dim> {
        self.known[id.0 as usize].as_ref()
    }

    /// Says what the value of a local is as a size.
    pub(super) fn set_known(&mut self, id: LocalId, size: Option<Dim>) {
        self.known[id.0 as usize] = size;
    }

    /// The local that a name stands for.
    pub(super) fn named(&self, name: &str) -> Option<LocalId> {
        self.names.get(name)?.last().copied()
    }

    /// The names that stand for locals.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Notes that a local is read here: the lambdas between it and this place capture it.
    pub(super) fn capture(&mut self, local: LocalId) {
        for frame in self.frames.iter_mut().rev() {
            if local.0 >= frame.first_local {
                break;
            }
            frame.captures.insert(local);
        }
    }

    /// A new local with a name, in the innermost scope.
    pub(super) fn bind(&mut self, name: &str, span: Span, ty: Type, mutable: bool) -> LocalId {
        let id = self.push(name, span, ty, mutable);
        if !name.is_empty() {
            self.names.entry(name.to_owned()).or_default().push(id);
            if let Some(scope) = self.scopes.last_mut() {
                scope.push(name.to_owned());
            }
        }
        id
    }

    /// A new local that the checker binds itself, by a name that no source has.
    pub(super) fn push(&mut self, name: &str, span: Span, ty: Type, mutable: bool) -> LocalId {
        let id = LocalId(self.len());
        self.all.push(Local { name: name.to_owned(), span, ty, mutable });
        self.known.push(None);
        id
    }

    /// Opens a scope.
    pub(super) fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Closes the innermost scope.
    pub(super) fn leave(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(ids) = self.names.get_mut(&name) {
                ids.pop();
                if ids.is_empty() {
                    self.names.remove(&name);
                }
            }
        }
    }
}
