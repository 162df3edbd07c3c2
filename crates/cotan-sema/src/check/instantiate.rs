//! What the generics of a declaration stand for at a use.

use std::collections::BTreeSet;

use cotan_ir::Elem;
use cotan_syntax::ast::{self, Arg as AstArg};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::calls::Source;
use super::schemes::Scheme;
use super::type_exprs::bound_help;
use crate::codes;
use crate::dims::{Atom, Dim, GenericId, LocalId};
use crate::typed::{Arg, Expr};
use crate::types::{Generic, GenericArg, GenericKind, Scalar, Substitution, Type};
use crate::unify::Elems;

/// The generics of a declaration at one use, as far as they are known.
pub(super) struct Instance {
    name: String,
    generics: Vec<Generic>,
    known: Vec<Option<GenericArg>>,
    values: Vec<(LocalId, Dim)>,
    /// The integer parameters whose values stand in dims.
    used_values: BTreeSet<LocalId>,
    /// Pairs of a size of the declaration and the size that was found for it.
    equations: Vec<(Dim, Dim)>,
    /// Whether sizes may stay open: those of payloads that a variant does not have.
    may_stay_open: bool,
}

/// The declaration that a literal makes a value of.
pub(super) struct LiteralOf<'d> {
    pub(super) name: &'d str,
    pub(super) generics: &'d [Generic],
    /// What the generics are known to be.
    pub(super) known: Vec<Option<GenericArg>>,
    /// Whether it is an enum, whose sizes may be those of another variant alone.
    pub(super) is_enum: bool,
}

impl Instance {
    /// The generics of a call; element types that are not given are open.
    pub(super) fn new(checker: &mut BodyChecker<'_, '_>, scheme: &Scheme, span: Span) -> Self {
        let mut instance = Self::of(checker, &scheme.name, &scheme.generics, scheme.given.clone(), span);
        if scheme.owner().is_some() {
            let types = scheme.params.iter().map(|param| &param.ty).chain([&scheme.result]);
            types.for_each(|ty| add_values(ty, &mut instance.used_values));
        }
        instance
    }

    fn of(
        checker: &mut BodyChecker<'_, '_>,
        name: &str,
        generics: &[Generic],
        mut known: Vec<Option<GenericArg>>,
        span: Span,
    ) -> Self {
        for (generic, known) in generics.iter().zip(&mut known) {
            if let (GenericKind::Scalar(bound), None) = (generic.kind, &known) {
                let scalar = checker.vars.fresh(Elems::of_bound(bound), None);
                checker.undecided.push((scalar, span, format!("`{}` of `{name}`", generic.name)));
                *known = Some(GenericArg::Scalar(scalar));
            }
        }
        Self {
            name: name.to_owned(),
            generics: generics.to_vec(),
            known,
            values: Vec::new(),
            used_values: BTreeSet::new(),
            equations: Vec::new(),
            may_stay_open: false,
        }
    }

    /// Whether the value of an integer parameter stands in a dim.
    pub(super) fn uses_value(&self, param: LocalId) -> bool {
        self.used_values.contains(&param)
    }

    /// Says what an integer parameter is.
    pub(super) fn set_value(&mut self, param: LocalId, size: Dim) {
        self.values.push((param, size));
    }

    fn substitution(&self) -> Substitution {
        let own = |(at, known): (usize, &Option<GenericArg>)| {
            known.clone().unwrap_or_else(|| GenericArg::Size(Dim::atom(Atom::Size(GenericId(at as u32)))))
        };
        let generics = self.known.iter().enumerate().map(own).collect();
        Substitution { generics, values: self.values.clone() }
    }

    /// A type of the declaration at the use.
    pub(super) fn ty(&self, ty: &Type) -> Type {
        self.substitution().ty(ty)
    }

    /// The generics at the use.
    pub(super) fn args(&self) -> Vec<GenericArg> {
        self.substitution().generics
    }

    /// Learns from a value that is given for something of type `formal`.
    pub(super) fn learn(&mut self, checker: &mut BodyChecker<'_, '_>, formal: &Type, value: &Expr) {
        self.learn_type(checker, formal, &value.ty, value);
    }

    fn learn_type(&mut self, checker: &mut BodyChecker<'_, '_>, formal: &Type, found: &Type, value: &Expr) {
        match (formal, found) {
            (Type::Scalar(formal), Type::Scalar(found)) => self.learn_scalar(checker, *formal, *found, value),
            (Type::Tensor { elem: a, dims: formal }, Type::Tensor { elem: b, dims: found }) => {
                self.learn_type(checker, a, b, value);
                if formal.len() == found.len() {
                    self.equations.extend(formal.iter().cloned().zip(found.iter().cloned()));
                }
            }
            (Type::Tuple(formal), Type::Tuple(found)) => {
                for (formal, found) in formal.iter().zip(found) {
                    self.learn_type(checker, formal, found, value);
                }
            }
            (Type::Struct(formal), Type::Struct(found)) if formal.def == found.def => {
                self.learn_args(checker, &formal.args, &found.args, value);
            }
            (Type::Enum(formal), Type::Enum(found)) if formal.def == found.def => {
                self.learn_args(checker, &formal.args, &found.args, value);
            }
            _ => {}
        }
    }

    fn learn_args(
        &mut self,
        checker: &mut BodyChecker<'_, '_>,
        formal: &[GenericArg],
        found: &[GenericArg],
        value: &Expr,
    ) {
        for (formal, found) in formal.iter().zip(found) {
            match (formal, found) {
                (GenericArg::Size(formal), GenericArg::Size(found)) => {
                    self.equations.push((formal.clone(), checker.resolve_size(found)));
                }
                (GenericArg::Scalar(formal), GenericArg::Scalar(found)) => {
                    self.learn_scalar(checker, *formal, *found, value);
                }
                (GenericArg::Size(_), GenericArg::Scalar(_)) | (GenericArg::Scalar(_), GenericArg::Size(_)) => {}
            }
        }
    }

    fn learn_scalar(&mut self, checker: &mut BodyChecker<'_, '_>, formal: Scalar, found: Scalar, value: &Expr) {
        let Scalar::Param(id) = formal else { return };
        let at = id.0 as usize;
        let (Some(Some(GenericArg::Scalar(known))), Some(generic)) =
            (self.known.get(at).cloned(), self.generics.get(at))
        else {
            return;
        };
        let GenericKind::Scalar(bound) = generic.kind else { return };
        if checker.vars.unify(known, found) || checker.vars.is_within(found, Elems::of_bound(bound)) {
            // A mere difference is reported where the argument is fitted.
            return;
        }
        let message = format!(
            "expected a type with the trait `{}` for `{}` of `{}`, found {}",
            bound.as_str(),
            generic.name,
            self.name,
            checker.show_value(value)
        );
        checker.report(Diagnostic::error(codes::BOUND, value.span, message).help(bound_help(bound)));
        // Nothing else is to be said about the element type that this argument would have decided.
        checker.undecided.retain(|(scalar, ..)| *scalar != known);
        self.known[at] = Some(GenericArg::Scalar(found));
    }

    /// Solves what can be solved: each size that is linear in one unknown.
    pub(super) fn settle(&mut self) {
        let mut progress = true;
        while std::mem::take(&mut progress) {
            let mut open = Vec::new();
            for (formal, found) in std::mem::take(&mut self.equations) {
                let is_unknown = |id: GenericId| matches!(self.known.get(id.0 as usize), Some(None));
                let solved = self.substitution().dim(&formal).and_then(|formal| formal.solve(&is_unknown, &found));
                match solved {
                    Some((id, size)) => {
                        self.known[id.0 as usize] = Some(GenericArg::Size(size));
                        progress = true;
                    }
                    None => open.push((formal, found)),
                }
            }
            self.equations = open;
        }
    }

    /// Gives sizes that nothing decides a name of their own, if that is all right.
    pub(super) fn open_unknown(&mut self, checker: &mut BodyChecker<'_, '_>, span: Span) {
        if !self.may_stay_open {
            return;
        }
        for (generic, known) in self.generics.iter().zip(&mut self.known) {
            if known.is_none() {
                *known = Some(GenericArg::Size(checker.open_size(&generic.name, &self.name, span)));
            }
        }
    }

    /// Whether there are sizes that nothing decides.
    pub(super) fn has_unknown(&self) -> bool {
        self.known.iter().any(Option::is_none)
    }

    /// Reports the sizes that nothing decides.
    pub(super) fn report_unknown(&self, checker: &mut BodyChecker<'_, '_>, span: Span) {
        let unknown: Vec<&str> = self
            .generics
            .iter()
            .zip(&self.known)
            .filter(|(_, known)| known.is_none())
            .map(|(generic, _)| generic.name.as_str())
            .collect();
        let Some(first) = unknown.first() else { return };
        let message = format!("expected an argument that decides the size `{first}` of `{}`, found none", self.name);
        let names: Vec<&str> =
            self.generics.iter().map(|generic| generic.name.as_str()).filter(|name| *name != "_").collect();
        let help = format!("give it in brackets: `{}[{}](...)`", self.name, names.join(", "));
        checker.report(Diagnostic::error(codes::UNKNOWN_GENERIC_SIZE, span, message).help(help));
    }
}

/// Adds the variables whose values stand in the dims of a type.
pub(super) fn add_values(ty: &Type, values: &mut BTreeSet<LocalId>) {
    ty.clone().each_dim_mut(&mut |dim| {
        dim.each_atom(&mut |atom| {
            if let Atom::Value(local) = atom {
                values.insert(*local);
            }
        });
    });
}

impl BodyChecker<'_, '_> {
    /// The generics of a struct literal or of a variant, and its fields, each with what a message calls it, as they fit.
    pub(super) fn fields_of_literal(
        &mut self,
        of: LiteralOf<'_>,
        fields: Vec<(Type, String, Source<'_>)>,
        span: Span,
    ) -> Option<(Vec<GenericArg>, Vec<Expr>)> {
        let mut instance = Instance::of(self, of.name, of.generics, of.known, span);
        instance.may_stay_open = of.is_enum;
        let args = self.arguments(&mut instance, fields, span)?;
        let values = args.into_iter().filter_map(|arg| match arg {
            Arg::Value(value) => Some(value),
            Arg::Function(_) => None,
        });
        Some((instance.args(), values.collect()))
    }

    /// The generic arguments that a literal or call leaves to inference or gives.
    pub(super) fn explicit_generics(
        &mut self,
        generics: &[Generic],
        given: &[AstArg],
        name: &str,
        span: Span,
    ) -> Option<Vec<Option<GenericArg>>> {
        if given.is_empty() {
            return Some(vec![None; generics.len()]);
        }
        let written: Vec<&Generic> = generics.iter().filter(|generic| generic.name != "_").collect();
        if given.len() != written.len() {
            let message =
                format!("expected {} parameters in the brackets of `{name}`, found {}", written.len(), given.len());
            let names: Vec<&str> = written.iter().map(|generic| generic.name.as_str()).collect();
            let help = if names.is_empty() {
                "leave the brackets out".to_owned()
            } else {
                format!("its parameters are `{}`", names.join("`, `"))
            };
            self.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help(help));
            return None;
        }
        let mut args: Vec<Option<GenericArg>> = Vec::new();
        for (generic, arg) in written.iter().zip(given) {
            args.push(Some(self.explicit_generic(generic, &arg.value)?));
        }
        args.resize(generics.len(), None);
        Some(args)
    }

    fn explicit_generic(&mut self, generic: &Generic, arg: &ast::Expr) -> Option<GenericArg> {
        match generic.kind {
            GenericKind::Scalar(bound) => {
                let generics = self.generics.clone();
                self.module.scalar_arg(&generic.name, bound, arg, &generics).map(GenericArg::Scalar)
            }
            GenericKind::Size => {
                if let ast::ExprKind::Name(name) = &arg.kind
                    && !self.names.contains_key(name)
                    && Elem::from_name(name).is_some()
                {
                    let message = format!("expected a size for `{}`, found the type `{name}`", generic.name);
                    self.report(
                        Diagnostic::error(codes::GENERIC_KIND, arg.span, message).help("write an integer or a size"),
                    );
                    return None;
                }
                let value = self.expr(arg);
                let value = self.integer(value, &format!("the size `{}`", generic.name))?;
                match self.size_of(&value) {
                    Some(dim) => Some(GenericArg::Size(dim)),
                    None => {
                        let message = format!("expected a size made of integers and variables for `{}`", generic.name);
                        self.report(
                            Diagnostic::error(codes::NOT_A_SIZE, arg.span, message)
                                .help("bind the value first: `let n = ...`"),
                        );
                        None
                    }
                }
            }
        }
    }
}
