//! Instantiation: what the generics of a declaration stand for at a use.

use std::collections::BTreeSet;

use cotan_ir::Elem;
use cotan_syntax::ast::{self, Arg as AstArg};
use cotan_syntax::{Diagnostic, Span};

use super::arguments::Source;
use super::schemes::Scheme;
use super::sizes::names_in_expr;
use super::type_exprs::{WantedTraits, bound_help};
use super::{BodyChecker, ranges, sizes, type_exprs, vectors};
use crate::codes;
use crate::dims::{Atom, Dim, GenericId, LocalId};
use crate::typed::{Arg, Expr};
use crate::types::{Bound, Generic, GenericArg, GenericKind, Scalar, Substitution, Type};
use crate::unify::Elems;

/// Marks the generics of a declaration that are not known yet, so that they are no generics of the user.
const OPEN: u32 = 1 << 31;

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
    /// Pairs of extents of the declaration, which may hold shape packs, and what was found for them.
    shapes: Vec<(Vec<Dim>, Vec<Dim>)>,
    /// Whether sizes may stay open: those of payloads that a variant does not have.
    may_stay_open: bool,
    /// Whether it is a struct literal, which has braces behind the brackets.
    is_literal: bool,
    /// Whether a value was reported that no element type fits.
    is_misfit: bool,
    /// Whether something that would decide about generics is wrong itself, and reported.
    has_error: bool,
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

    pub(super) fn of(
        checker: &mut BodyChecker<'_, '_>,
        name: &str,
        generics: &[Generic],
        mut known: Vec<Option<GenericArg>>,
        span: Span,
    ) -> Self {
        for (generic, known) in generics.iter().zip(&mut known) {
            if let (GenericKind::Scalar(bound), None) = (generic.kind, &known) {
                let scalar = checker.infer.vars.fresh(Elems::of_bound(bound), None);
                checker.undecided.push((scalar, span, format!("`{}` of `{name}`", generic.name)));
                *known = Some(GenericArg::Scalar(scalar));
            }
        }
        let mut instance = Self {
            name: name.to_owned(),
            generics: generics.to_vec(),
            known,
            values: Vec::new(),
            used_values: BTreeSet::new(),
            equations: Vec::new(),
            may_stay_open: false,
            is_literal: false,
            is_misfit: false,
            has_error: false,
            shapes: Vec::new(),
        };
        instance.learn_tangents(checker);
        instance
    }

    /// Whether the value of an integer parameter stands in a dim.
    pub(super) fn uses_value(&self, param: LocalId) -> bool {
        self.used_values.contains(&param)
    }

    /// Says what an integer parameter is.
    pub(super) fn set_value(&mut self, param: LocalId, size: Dim) {
        self.values.push((param, size));
    }

    /// What is known by now, with run-time sizes of the declaration replaced by `sizes`.
    fn substitution(&self, sizes: Vec<Dim>) -> Substitution {
        let own = |(at, (generic, known)): (usize, (&Generic, &Option<GenericArg>))| {
            known.clone().unwrap_or_else(|| generic.as_arg(at | OPEN as usize))
        };
        let generics = self.generics.iter().zip(&self.known).enumerate().map(own).collect();
        Substitution { generics, values: self.values.clone(), sizes }
    }

    /// A type of the declaration at the use.
    pub(super) fn ty(&self, ty: &Type) -> Type {
        self.substitution(Vec::new()).ty(ty)
    }

    /// A type of the declaration at the use, where its run-time sizes are these.
    pub(super) fn ty_with_sizes(&self, ty: &Type, sizes: &[Dim]) -> Type {
        self.substitution(sizes.to_vec()).ty(ty)
    }

    /// The generics at the use.
    pub(super) fn args(&self) -> Vec<GenericArg> {
        self.substitution(Vec::new()).generics
    }

    /// Learns from a value that is given for something of type `formal`.
    pub(super) fn learn(&mut self, checker: &mut BodyChecker<'_, '_>, formal: &Type, value: &Expr) {
        self.learn_type(checker, formal, &value.ty, value);
    }

    /// Learns what a generic stands for from elsewhere.
    pub(super) fn learn_arg(&mut self, at: usize, arg: GenericArg) {
        if let Some(known @ None) = self.known.get_mut(at) {
            *known = Some(arg);
        }
    }

    fn learn_type(&mut self, checker: &mut BodyChecker<'_, '_>, formal: &Type, found: &Type, value: &Expr) {
        match (formal, found) {
            (_, Type::Error) | (Type::Error, _) => self.learn_nothing(checker),
            (_, Type::Never) => {}
            // A tangent follows from what it is the tangent of.
            (Type::Param(id), _) if self.generics.get(id.0 as usize).is_some_and(|it| it.tangent_of.is_some()) => {}
            (Type::Param(id), _) => {
                self.learn_arg(id.0 as usize, GenericArg::Type(found.clone()));
                self.learn_tangents(checker);
            }
            (Type::Scalar(formal), Type::Scalar(found)) => self.learn_scalar(checker, *formal, *found, value),
            (Type::Tensor { elem, dims }, _) => {
                // The elements of a tensor of any type may be tensors: they get the extents that are left.
                let all = found.dims();
                let is_any = matches!(**elem, Type::Param(_)) && !formal.has_pack() && dims.len() <= all.len();
                let (lead, rest) = all.split_at(if is_any { dims.len() } else { all.len() });
                self.learn_type(checker, elem, &Type::tensor(found.elem().clone(), rest.to_vec()), value);
                self.shapes.push((dims.clone(), lead.to_vec()));
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
            (Type::Scalar(Scalar::Param(id)), Type::Tuple(_) | Type::Struct(_) | Type::Enum(_)) => {
                if let Some((known, bound)) = self.open_scalar(*id) {
                    self.report_bound(checker, *id, bound, value);
                    checker.undecided.retain(|(scalar, ..)| *scalar != known);
                    self.is_misfit = true;
                }
            }
            (
                Type::Never | Type::Scalar(_) | Type::Tuple(_) | Type::Struct(_) | Type::Enum(_) | Type::Function(_),
                _,
            ) => {}
        }
    }

    /// Takes note that something that would decide about generics is wrong itself: nothing else is to be said of them.
    fn learn_nothing(&mut self, checker: &mut BodyChecker<'_, '_>) {
        self.has_error = true;
        let is_own = |scalar: Scalar| self.known.contains(&Some(GenericArg::Scalar(scalar)));
        checker.undecided.retain(|(scalar, ..)| !is_own(*scalar));
    }

    /// Learns the tangents of the types that are known.
    fn learn_tangents(&mut self, checker: &mut BodyChecker<'_, '_>) {
        for at in 0..self.generics.len() {
            let of = self.generics[at].tangent_of.and_then(|of| self.known[of.0 as usize].as_ref());
            if let (Some(ty), None) = (of.and_then(GenericArg::as_type), &self.known[at]) {
                checker.infer.decide_floats(&ty);
                let tangent = vectors::tangent(checker, &checker.infer.vars.resolve_type(&ty));
                self.known[at] = Some(GenericArg::Type(tangent));
            }
        }
    }

    fn learn_generic(
        &mut self,
        checker: &mut BodyChecker<'_, '_>,
        formal: &GenericArg,
        found: &GenericArg,
        value: &Expr,
    ) {
        match (formal, found) {
            (GenericArg::Size(formal), GenericArg::Size(found)) => {
                self.equations.push((formal.clone(), checker.infer.sizes.resolve(found)));
            }
            (GenericArg::Scalar(formal), GenericArg::Scalar(found)) => {
                self.learn_scalar(checker, *formal, *found, value);
            }
            (GenericArg::Type(formal), GenericArg::Type(found)) => self.learn_type(checker, formal, found, value),
            (GenericArg::Pack(formal), GenericArg::Pack(found)) => self.shapes.push((formal.clone(), found.clone())),
            (GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_), _) => {}
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
            self.learn_generic(checker, formal, found, value);
        }
    }

    fn learn_scalar(&mut self, checker: &mut BodyChecker<'_, '_>, formal: Scalar, found: Scalar, value: &Expr) {
        let Scalar::Param(id) = formal else { return };
        let Some((known, bound)) = self.open_scalar(id) else { return };
        if checker.infer.vars.unify(known, found) || checker.infer.vars.is_within(found, Elems::of_bound(bound)) {
            // A mere difference is reported where the argument is fitted.
            return;
        }
        self.report_bound(checker, id, bound, value);
        // Nothing else is to be said about the element type that this argument would have decided.
        checker.undecided.retain(|(scalar, ..)| *scalar != known);
        self.known[id.0 as usize] = Some(GenericArg::Scalar(found));
    }

    /// What stands for an element type parameter by now, and its bound.
    fn open_scalar(&self, id: GenericId) -> Option<(Scalar, Bound)> {
        let at = id.0 as usize;
        match (self.known.get(at)?, self.generics.get(at)?.kind) {
            (Some(GenericArg::Scalar(known)), GenericKind::Scalar(bound)) => Some((*known, bound)),
            (Some(_) | None, _) => None,
        }
    }

    fn report_bound(&self, checker: &mut BodyChecker<'_, '_>, id: GenericId, bound: Bound, value: &Expr) {
        let message = format!(
            "expected a type with the trait `{}` for `{}` of `{}`, found {}",
            bound.as_str(),
            self.generics[id.0 as usize].name,
            self.name,
            checker.show_value(value)
        );
        checker.report(Diagnostic::error(codes::BOUND, value.span, message).help(bound_help(bound)));
    }

    /// Solves what can be solved: each size that is linear in one unknown, each pack that is the only unknown one of a
    /// shape.
    pub(super) fn settle(&mut self) {
        let mut progress = true;
        while std::mem::take(&mut progress) {
            for (formal, found) in std::mem::take(&mut self.shapes) {
                match self.align(&formal, &found) {
                    Some(()) => progress = true,
                    None => self.shapes.push((formal, found)),
                }
            }
            let mut open = Vec::new();
            for (formal, found) in std::mem::take(&mut self.equations) {
                let is_unknown = |id: GenericId| id.0 & OPEN != 0;
                let current = self.substitution(Vec::new());
                match current.dim(&formal).and_then(|formal| formal.solve(&is_unknown, &found)) {
                    Some((id, size)) => {
                        self.known[(id.0 & !OPEN) as usize] = Some(GenericArg::Size(size));
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
        let n_locals = checker.locals.len();
        for (generic, known) in self.generics.iter().zip(&mut self.known) {
            if known.is_none() && generic.kind == GenericKind::Size {
                *known = Some(GenericArg::Size(checker.infer.sizes.open(&generic.name, &self.name, n_locals, span)));
            }
        }
    }

    /// Sets the extents of the declaration against those that were found, unless two packs among them are unknown.
    fn align(&mut self, formal: &[Dim], found: &[Dim]) -> Option<()> {
        let mut extents = Vec::new();
        for dim in formal {
            match dim.as_pack().map(|id| (id, self.known.get(id.0 as usize))) {
                Some((_, Some(Some(GenericArg::Pack(sizes))))) => extents.extend(vec![None; sizes.len()]),
                // A pack of the caller, in the signature of something without generics of its own: nothing to find.
                Some((_, None)) => extents.push(None),
                Some((_, Some(_))) | None => extents.push(Some(dim)),
            }
        }
        let packs: Vec<(usize, GenericId)> =
            extents.iter().enumerate().filter_map(|(at, dim)| Some((at, dim.as_ref()?.as_pack()?))).collect();
        match packs.as_slice() {
            [] => {}
            [(at, id)] => {
                let end = found.len().checked_sub(extents.len() - at - 1).filter(|end| end >= at);
                // Too few extents: that is said where the argument is fitted.
                let Some(end) = end else { return Some(()) };
                self.known[id.0 as usize] = Some(GenericArg::Pack(found[*at..end].to_vec()));
                extents.splice(at..=at, vec![None; end - at]);
            }
            _ => return None,
        }
        if extents.len() != found.len() {
            return Some(());
        }
        let pairs = extents.iter().zip(found).filter(|(_, found)| found.as_pack().is_none());
        let equations = pairs.filter_map(|(formal, found)| Some(((*formal)?.clone(), found.clone())));
        self.equations.extend(equations);
        Some(())
    }

    /// Whether a value was reported that nothing makes fit.
    pub(super) fn is_misfit(&self) -> bool {
        self.is_misfit
    }

    /// Whether there is something that nothing decides.
    pub(super) fn has_unknown(&self) -> bool {
        self.known.iter().any(Option::is_none)
    }

    /// Whether a type of the declaration holds something that is not known yet.
    pub(super) fn is_open(&self, ty: &Type) -> bool {
        let mut at_use = self.ty(ty);
        let mut found = false;
        at_use.each_param(&mut |id| found |= id.0 & OPEN != 0);
        at_use.each_dim_mut(&mut |dim| {
            found |= dim.has_atom(|atom| matches!(atom, Atom::Size(id) | Atom::Pack(id) if id.0 & OPEN != 0));
        });
        found
    }

    /// Reports a size that the arguments make negative, whatever the sizes around the call are.
    pub(super) fn report_negative(&self, checker: &mut BodyChecker<'_, '_>, span: Span) -> bool {
        let negative = self.generics.iter().zip(&self.known).find_map(|(generic, known)| match known {
            Some(GenericArg::Size(size)) if size.is_surely_negative() => Some((generic, size)),
            Some(GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_)) | None => {
                None
            }
        });
        let Some((generic, size)) = negative else { return false };
        let (size, name) = (checker.show_dim(size), &self.name);
        let message = format!("expected a size of at least 0 for `{}` of `{name}`, found `{size}`", generic.name);
        let help = "sizes count elements: give arguments that are long enough";
        checker.report(Diagnostic::error(codes::NEGATIVE_SIZE, span, message).help(help));
        true
    }

    /// Reports what nothing decides, unless it is left open by something that is reported already.
    pub(super) fn report_unknown(&self, checker: &mut BodyChecker<'_, '_>, span: Span) {
        if self.has_error {
            return;
        }
        let unknown = self.generics.iter().zip(&self.known).find(|(_, known)| known.is_none());
        let Some((first, _)) = unknown else { return };
        let name = &self.name;
        let (code, what, shown) = match first.kind {
            GenericKind::Size => (codes::UNKNOWN_GENERIC_SIZE, "size", first.name.clone()),
            GenericKind::Scalar(_) | GenericKind::Type { .. } => (codes::UNDECIDED_GENERIC, "type", first.name.clone()),
            GenericKind::Pack => (codes::UNDECIDED_PACK, "shape pack", format!("..{}", first.name)),
        };
        let written = self.generics.iter().filter(|generic| generic.is_written()).map(|generic| match generic.kind {
            GenericKind::Pack => "[2, 3]".to_owned(),
            GenericKind::Size | GenericKind::Scalar(_) | GenericKind::Type { .. } => generic.name.clone(),
        });
        let rest = if self.is_literal { " { ... }" } else { "(...)" };
        let help = format!("give it in brackets: `{name}[{}]{rest}`", written.collect::<Vec<_>>().join(", "));
        if !self.shapes.is_empty() && first.kind == GenericKind::Pack {
            let message = format!("expected at most one unknown shape pack in a shape of `{name}`, found more");
            checker.report(Diagnostic::error(codes::SEVERAL_PACKS, span, message).help(help));
            return;
        }
        let message = format!("expected an argument that decides the {what} `{shown}` of `{name}`, found none");
        checker.report(Diagnostic::error(code, span, message).help(help));
    }

    /// Asks for the traits that the generics must have.
    pub(super) fn want_traits(&self, checker: &mut BodyChecker<'_, '_>, span: Span) {
        let needs_any =
            |generic: &Generic| !generic.traits.is_empty() || matches!(generic.kind, GenericKind::Type { .. });
        if self.generics.iter().any(needs_any) {
            let generics = checker.generics.clone();
            let (name, wanted) = (self.name.clone(), self.generics.clone());
            checker.wanted_traits.push(WantedTraits { name, wanted, args: self.args(), span, generics });
        }
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

/// The generics of a struct literal or of a variant, and its fields, each with what a message calls it, as they fit.
pub(super) fn fields_of_literal(
    checker: &mut BodyChecker<'_, '_>,
    of: LiteralOf<'_>,
    fields: Vec<(Type, String, Source<'_>)>,
    span: Span,
) -> Option<(Vec<GenericArg>, Vec<Expr>)> {
    let mut instance = Instance::of(checker, of.name, of.generics, of.known, span);
    instance.may_stay_open = of.is_enum;
    instance.is_literal = !of.is_enum;
    let args = checker.arguments(&mut instance, fields, span)?;
    let values = args.into_iter().filter_map(|arg| match arg {
        Arg::Value(value) => Some(value),
        Arg::Function(_) | Arg::Pack(_) => None,
    });
    instance.want_traits(checker, span);
    Some((instance.args(), values.collect()))
}

/// The generic arguments that a literal or call leaves to inference or gives.
pub(super) fn explicit_generics(
    checker: &mut BodyChecker<'_, '_>,
    generics: &[Generic],
    given: &[AstArg],
    name: &str,
    span: Span,
) -> Option<Vec<Option<GenericArg>>> {
    if given.is_empty() {
        return Some(vec![None; generics.len()]);
    }
    let written: Vec<&Generic> = generics.iter().filter(|generic| generic.is_written()).collect();
    if given.len() != written.len() {
        let message =
            format!("expected {} parameters in the brackets of `{name}`, found {}", written.len(), given.len());
        let names: Vec<&str> = written.iter().map(|generic| generic.name.as_str()).collect();
        let help = if names.is_empty() {
            "leave the brackets out".to_owned()
        } else {
            format!("its parameters are `{}`", names.join("`, `"))
        };
        checker.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help(help));
        return None;
    }
    let mut args: Vec<Option<GenericArg>> = Vec::new();
    for (generic, arg) in written.iter().zip(given) {
        args.push(Some(explicit_generic(checker, generic, &arg.value)?));
    }
    args.resize(generics.len(), None);
    Some(args)
}

fn explicit_generic(checker: &mut BodyChecker<'_, '_>, generic: &Generic, arg: &ast::Expr) -> Option<GenericArg> {
    match generic.kind {
        GenericKind::Scalar(bound) => {
            let generics = checker.generics.clone();
            type_exprs::scalar_arg(checker.module, &generic.name, bound, arg, &generics).map(GenericArg::Scalar)
        }
        GenericKind::Type { .. } => sizes::in_type_scope(checker, arg.span, &names_in_expr(arg), |module, scope| {
            type_exprs::type_arg(module, &generic.name, arg, scope).map(GenericArg::Type)
        }),
        GenericKind::Pack => sizes::in_type_scope(checker, arg.span, &names_in_expr(arg), |module, scope| {
            type_exprs::pack_arg(module, &generic.name, arg, scope).map(GenericArg::Pack)
        }),
        GenericKind::Size => {
            if let ast::ExprKind::Name(name) = &arg.kind
                && checker.locals.named(name).is_none()
                && Elem::from_name(name).is_some()
            {
                let message = format!("expected a size for `{}`, found the type `{name}`", generic.name);
                checker.report(
                    Diagnostic::error(codes::GENERIC_KIND, arg.span, message).help("write an integer or a size"),
                );
                return None;
            }
            let value = checker.expr(arg);
            let value = ranges::integer(checker, value, &format!("the size `{}`", generic.name))?;
            match checker.size_of(&value) {
                Some(dim) => Some(GenericArg::Size(dim)),
                None => {
                    let message = format!("expected a size made of integers and variables for `{}`", generic.name);
                    checker.report(
                        Diagnostic::error(codes::NOT_A_SIZE, arg.span, message)
                            .help("bind the value first: `let n = ...`"),
                    );
                    None
                }
            }
        }
    }
}
