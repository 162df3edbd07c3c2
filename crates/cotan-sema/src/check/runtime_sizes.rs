//! The run-time sizes of a body, some of them open until unification decides them.
//!
//! A size is open that only a payload which is not there has, as `N` in `S.Dot` of an `enum S[N]`. Nothing in such a
//! value says what the size is, and nothing about the value depends on it. So it is open until the type meets another
//! one, whose size it takes.

use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;
use crate::dims::{Atom, Dim, SizeId};
use crate::typed::RuntimeSize;
use crate::types::Type;

/// The run-time sizes of a body.
#[derive(Default)]
pub(super) struct RuntimeSizes {
    /// All of them, by their ids.
    pub(super) all: Vec<RuntimeSize>,
    /// Those that only a payload which is not there has.
    open: Vec<OpenSize>,
}

/// An open size.
#[derive(Clone, Debug)]
struct OpenSize {
    id: SizeId,
    span: Span,
    /// The name that the declaration gives it.
    name: String,
    /// The enum.
    owner: String,
    /// The locals that there are where it comes into being.
    n_locals: u32,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Undecided,
    Is(Dim),
    /// It met a size that does not exist yet where it comes into being: the run compares them.
    OfItsOwn,
}

impl RuntimeSizes {
    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// A size that comes into being at `span`.
    pub(super) fn fresh(&mut self, span: Span) -> Dim {
        self.all.push(RuntimeSize { span });
        Dim::atom(Atom::Runtime(SizeId(self.len() - 1)))
    }

    /// A new open size of `owner`, whose declaration calls it `name`, where there are `n_locals` locals.
    pub(super) fn open(&mut self, name: &str, owner: &str, n_locals: u32, span: Span) -> Dim {
        // What follows the last dot is the variant.
        let owner = owner.rsplit_once('.').map_or(owner, |(owner, _)| owner);
        self.push_open(name.to_owned(), owner.to_owned(), n_locals, span)
    }

    /// Lets the open sizes of a type be what they are: a `_` is written for them.
    pub(super) fn leave_open(&mut self, ty: &Type) {
        let mut dims = Vec::new();
        ty.clone().each_dim_mut(&mut |dim| dims.push(dim.clone()));
        for dim in dims {
            let dim = self.resolve(&dim);
            if let Some(at) = self.undecided(&dim) {
                self.open[at].state = State::OfItsOwn;
            }
        }
    }

    fn push_open(&mut self, name: String, owner: String, n_locals: u32, span: Span) -> Dim {
        let dim = self.fresh(span);
        self.open.push(OpenSize { id: SizeId(self.len() - 1), span, name, owner, n_locals, state: State::Undecided });
        dim
    }

    /// A size, in which open sizes are what they have been found to be.
    pub(super) fn resolve(&self, dim: &Dim) -> Dim {
        if self.open.is_empty() {
            return dim.clone();
        }
        let found = |atom: &Atom| {
            let Atom::Runtime(id) = atom else { return None };
            match &self.open.iter().find(|open| open.id == *id)?.state {
                State::Is(dim) => Some(self.resolve(dim)),
                State::Undecided | State::OfItsOwn => None,
            }
        };
        dim.substitute(&found).unwrap_or_else(|| dim.clone())
    }

    /// A type, in which open sizes are what they have been found to be.
    pub(super) fn resolve_type(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        ty.each_dim_mut(&mut |dim| *dim = self.resolve(dim));
        ty
    }

    /// Makes two sizes one if that is all it takes: if one of them is open, and the other one
    /// existed before it.
    pub(super) fn decide(&mut self, a: &Dim, b: &Dim) -> bool {
        if a == b {
            return true;
        }
        self.decide_one(a, b) || self.decide_one(b, a)
    }

    fn decide_one(&mut self, open: &Dim, other: &Dim) -> bool {
        let Some(at) = self.undecided(open) else { return false };
        let OpenSize { id, n_locals, .. } = self.open[at];
        let is_later = other.has_atom(|atom| match atom {
            Atom::Runtime(size) => *size >= id,
            Atom::Value(local) => local.0 >= n_locals,
            Atom::Size(_) | Atom::Pack(_) | Atom::Floor(..) => false,
        });
        if is_later {
            // Two open sizes are compared in both orders; one of these works.
            if self.undecided(other).is_none() {
                self.open[at].state = State::OfItsOwn;
            }
            return false;
        }
        self.open[at].state = State::Is(other.clone());
        true
    }

    fn undecided(&self, dim: &Dim) -> Option<usize> {
        let Some(Atom::Runtime(id)) = dim.as_atom() else { return None };
        let is_open = |open: &OpenSize| open.id == *id && matches!(open.state, State::Undecided);
        self.open.iter().position(is_open)
    }

    /// The type with every size and variable that belongs to an inner function, arm or loop
    /// replaced by a run-time size: outside, they mean nothing. An open size stays open.
    pub(super) fn escape(&mut self, ty: &Type, first_local: u32, first_size: u32, span: Span) -> Type {
        let mut escaped = self.resolve_type(ty);
        let mut still_open = Vec::new();
        let mut n_new = self.len();
        escaped.each_dim_mut(&mut |dim| {
            let is_inner = dim.has_atom(|atom| match atom {
                Atom::Runtime(size) => size.0 >= first_size,
                Atom::Value(local) => local.0 >= first_local,
                Atom::Size(_) | Atom::Pack(_) | Atom::Floor(..) => false,
            });
            if is_inner {
                still_open.push(self.undecided(dim));
                *dim = Dim::atom(Atom::Runtime(SizeId(n_new)));
                n_new += 1;
            }
        });
        for open in still_open {
            let Some(at) = open else {
                self.all.push(RuntimeSize { span });
                continue;
            };
            let OpenSize { name, owner, span, .. } = self.open[at].clone();
            let outer = self.push_open(name, owner, first_local, span);
            self.open[at].state = State::Is(outer);
        }
        escaped
    }
}

/// Reports the sizes that are still open at the end of a body.
pub(super) fn report_open_sizes(checker: &mut BodyChecker<'_, '_>) {
    let open = checker.infer.sizes.open.iter().filter(|open| matches!(open.state, State::Undecided));
    for OpenSize { span, name, owner, .. } in open.cloned().collect::<Vec<_>>() {
        let message = format!("expected something that decides the size `{name}` of `{owner}`, found nothing");
        checker.report(
            Diagnostic::error(codes::OPEN_PAYLOAD_SIZE, span, message)
                .help(format!("give it in brackets after `{owner}`, as in `{owner}[4]`")),
        );
    }
}
