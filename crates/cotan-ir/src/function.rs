//! Functions and modules.

use crate::{Atom, Block, Derived, Record, Symbol, Ty, Var};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a function knows of one of its variables.
#[derive(Clone, Debug, PartialEq)]
pub struct VarInfo {
    /// Base name, taken from the source where there is one. Not unique: the printer makes it so.
    pub name: Symbol,
    /// Its type.
    pub ty: Ty,
    /// What it records, if it is a stacked result, a log or a store that exists only for a reverse sweep.
    pub record: Option<Record>,
}

/// A function: parameters, a body, and a table of all variables bound anywhere in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Unique in its module.
    pub name: Symbol,
    /// All variables; [`Var`] is an index into it. A variable is bound at most once (passes may leave unbound ones).
    pub vars: Vec<VarInfo>,
    /// Parameters; a type may name an earlier i64 parameter.
    pub params: Vec<Var>,
    /// The body. A result whose type names a variable of the body is returned together with that variable.
    pub body: Block,
    /// A function that replaces the derived reverse rule: `(arguments.., results.., cotangents of float results..) ->
    /// cotangents of float parameters`.
    pub custom_vjp: Option<Symbol>,
    /// A function that replaces the derived forward rule: `(arguments.., tangents of float parameters..) ->
    /// (results.., tangents of float results..)`.
    pub custom_jvp: Option<Symbol>,
}

impl Function {
    /// The type of a variable.
    pub fn ty(&self, v: Var) -> &Ty {
        &self.vars[v.index()].ty
    }

    /// The base name of a variable.
    pub fn name_of(&self, v: Var) -> &str {
        &self.vars[v.index()].name
    }

    /// The type of an operand.
    pub fn atom_ty(&self, a: Atom) -> Ty {
        match a {
            Atom::Var(v) => self.ty(v).clone(),
            Atom::Const(c) => Ty::of_const(c),
        }
    }

    /// Whether an operand's values carry derivatives.
    pub fn is_float(&self, a: Atom) -> bool {
        match a {
            Atom::Var(v) => self.ty(v).is_float(),
            Atom::Const(c) => c.elem().is_float(),
        }
    }

    /// Adds a variable.
    pub fn add_var(&mut self, info: VarInfo) -> Var {
        self.vars.push(info);
        Var(self.vars.len() as u32 - 1)
    }

    /// Number of statements, inner blocks included.
    pub fn n_stmts(&self) -> usize {
        fn count(b: &Block) -> usize {
            b.stmts.iter().map(|s| 1 + s.op.blocks().iter().map(count).sum::<usize>()).sum()
        }
        count(&self.body)
    }
}

/// A member of a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A function with a body.
    Function(Arc<Function>),
    /// A derivative to be written by the AD pass.
    Derived(Derived),
}

/// Functions by name. Ordered, so that everything made of it is reproducible.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The members.
    pub items: BTreeMap<Symbol, Item>,
}

impl Module {
    /// The function of that name, if there is one with a body.
    pub fn function(&self, name: &str) -> Option<&Arc<Function>> {
        match self.items.get(name) {
            Some(Item::Function(f)) => Some(f),
            Some(Item::Derived(_)) | None => None,
        }
    }

    /// Adds or replaces a function.
    pub fn insert(&mut self, f: Function) -> Arc<Function> {
        let f = Arc::new(f);
        self.items.insert(f.name.clone(), Item::Function(f.clone()));
        f
    }

    /// The functions with a body, by name.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.items.values().filter_map(|item| match item {
            Item::Function(f) => Some(f),
            Item::Derived(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Elem, Mode};

    #[test]
    fn a_module_gives_functions_with_a_body_only() {
        let mut m = Module::default();
        let f = m.insert(Builder::new().finish("f", vec![]));
        m.items.insert(
            "d".into(),
            Item::Derived(Derived { of: "f".into(), mode: Mode::Jvp, wrt: Vec::new(), outs: Vec::new() }),
        );
        assert_eq!(m.function("f"), Some(&f));
        assert_eq!(m.function("d"), None);
        assert_eq!(m.functions().collect::<Vec<_>>(), [&f]);
    }

    #[test]
    fn added_variables_are_known_by_type_and_name() {
        let mut f = Builder::new().finish("f", vec![]);
        let v = f.add_var(VarInfo { name: "x".into(), ty: Ty::scalar(Elem::F32), record: None });
        assert_eq!((f.name_of(v), f.ty(v), f.is_float(v.into())), ("x", &Ty::scalar(Elem::F32), true));
        assert_eq!(f.atom_ty(Atom::i64(1)), Ty::scalar(Elem::I64));
    }
}
