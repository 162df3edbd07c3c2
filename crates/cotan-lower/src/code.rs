//! Code generation state of one IR function: its builder, and facts of its variables (names, signs, bounds). Must not know
//! the program that is lowered.

use std::collections::HashSet;

use cotan_ir::{Atom, Builder, Span as IrSpan, Var};
use cotan_syntax::Span;
use cotan_syntax::span::FileId;

/// The statements that have been written, and facts of their variables.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) b: Builder,
    /// Variables that carry a name of the source.
    pub(super) named: HashSet<Var>,
    /// Numbers that are known not to be negative.
    pub(super) non_negative: HashSet<Var>,
    /// Numbers that are known to lie below some other i64.
    pub(super) bounded: HashSet<Var>,
}

impl Code {
    pub(super) fn new() -> Self {
        Self { b: Builder::new(), named: HashSet::new(), non_negative: HashSet::new(), bounded: HashSet::new() }
    }

    /// The source position of the statements that follow.
    pub(super) fn span(&self) -> Span {
        let IrSpan { file, start, end, role: _ } = self.b.span();
        Span::new(FileId(file), start, end)
    }

    /// Gives a leaf of a local its name, unless it has a name of the source.
    pub(super) fn name_leaf(&mut self, name: &str, local: &str, leaf: Atom) {
        if let Atom::Var(v) = leaf
            && !local.starts_with('$')
            && self.named.insert(v)
        {
            self.b.info_mut(v).name = name.into();
        }
    }

    // ---- facts

    /// Whether an i64 operand is known not to be negative.
    pub(super) fn is_non_negative(&self, a: Atom) -> bool {
        match a {
            Atom::Var(v) => self.non_negative.contains(&v),
            Atom::Const(c) => c.as_i64().is_some_and(|n| n >= 0),
        }
    }

    pub(super) fn note_non_negative(&mut self, a: Atom) {
        if let Atom::Var(v) = a {
            self.non_negative.insert(v);
        }
    }

    pub(super) fn note_bounded(&mut self, a: Atom) {
        if let Atom::Var(v) = a {
            self.bounded.insert(v);
        }
    }
}
