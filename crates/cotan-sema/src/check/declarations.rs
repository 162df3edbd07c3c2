//! Functions: their signatures, what `@grad` and its like make of them, and the bodies to check.

use cotan_syntax::ast::{self, Ident, Item};
use cotan_syntax::{Diagnostic, Span};
use std::collections::BTreeMap;

use cotan_ir::Elem;

use super::bodies::Plan;
use super::loop_attributes::Hints;
use super::type_scope::{Holes, NewSizes, NoSize, TypeScope};
use super::{Def, ModuleChecker, Signature, attributes, constants, declared, finish, generics, testing};
use crate::codes;
use crate::dims::{Atom, Dim, GenericId, LocalId};
use crate::typed::{self, FnId, FunctionBody, Rules};
use crate::types::{Bound, Generic, GenericKind, Type};

/// What a function is declared in: a trait or an `impl`; nothing of a function of the module.
#[derive(Clone, Default)]
pub(super) struct Owner {
    /// The generics that come before those of the function.
    pub(super) generics: Vec<Generic>,
    /// What `Self` is.
    pub(super) self_type: Option<Type>,
}

impl<'a> ModuleChecker<'a> {
    pub(super) fn add_function(&mut self, signature: Signature, body: Option<FunctionBody>) -> FnId {
        self.signatures.push(signature);
        self.bodies.push(body);
        FnId(self.signatures.len() as u32 - 1)
    }

    /// The position of a parameter that a derivative names.
    pub(super) fn find_parameter(&mut self, ident: &Ident, params: &[(&str, Span)], form: &str) -> Option<usize> {
        if let Some(at) = params.iter().position(|(name, _)| *name == ident.name) {
            self.note_use(ident.span, params[at].1);
            return Some(at);
        }
        if !ident.name.is_empty() {
            let names: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
            let help = match crate::suggest::closest(&ident.name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "the function has no parameters".to_owned(),
                None => format!("its parameters are `{}`", names.join("`, `")),
            };
            let message = format!("expected a parameter of the function in `{form}`, found `{}`", ident.name);
            self.report(Diagnostic::error(codes::UNKNOWN_PARAMETER, ident.span, message).help(help));
        }
        None
    }

    /// Whether values of a type have a derivative.
    pub(super) fn is_differentiable(&self, ty: &Type, generics: &[Generic]) -> bool {
        ty.has_error() || !has_opaque(ty, generics) && self.declarations().has_tangent(ty)
    }
}

/// Takes in a function: its signature, and those of the derivatives that it declares.
pub(super) fn declare_function<'a>(checker: &mut ModuleChecker<'a>, item: &'a Item, function: &'a ast::Function) {
    let attrs = attributes::function_attributes(checker, &item.attrs);
    let prints = attributes::may_print(checker, &attrs, function);
    let signature = read_signature(checker, item.doc.as_ref(), &function.signature, &Owner::default());
    let signature = Signature { hints: attrs.hints, prints, ..signature };
    testing::check_test(checker, &item.attrs, &signature);
    let name = &function.signature.name;
    match attrs.derivatives.as_slice() {
        [] => {
            let id = FnId(checker.signatures.len() as u32);
            checker.rules.extend(attrs.rule.map(|rule| (checker.current, id, rule)));
            checker.redefine(name, Def::Function(id));
            checker.add_function(signature, None);
            checker.plans.push(Plan { module: checker.current, function: id, item: function, inferred_for: None });
        }
        [attr] => {
            let id = FnId(checker.signatures.len() as u32 + 1);
            checker.redefine(name, Def::Function(id));
            let function_name = signature.name.clone();
            declared::declare_derivatives(checker, signature, function, vec![(attr, function_name)], None);
        }
        several => {
            let at = checker.gradients.len();
            checker.gradients.push(BTreeMap::new());
            checker.redefine(name, Def::Gradients(at));
            let named = declared::name_gradients(checker, several, &signature.name);
            declared::declare_derivatives(checker, signature, function, named, Some(at));
        }
    }
}

/// Name, parameters and result of a function.
pub(super) fn read_signature(
    checker: &mut ModuleChecker<'_>,
    doc: Option<&ast::Doc>,
    signature: &ast::Signature,
    owner: &Owner,
) -> Signature {
    let types = signature.params.iter().map(|param| &param.ty).chain(&signature.result);
    let uses: Vec<&ast::TypeExpr> = types.collect();
    let (outer, self_type) = (owner.generics.clone(), owner.self_type.clone());
    let generics = generics::more_generics(checker, outer, &signature.generics, &uses, self_type.as_ref());
    let n_written_generics = generics.len();
    let mut integers: BTreeMap<String, Dim> = BTreeMap::new();
    let mut params: Vec<typed::Param> = Vec::with_capacity(signature.params.len());
    let mut generics = generics;
    for (at, param) in signature.params.iter().enumerate() {
        let name = &param.name;
        let is_taken = params.iter().any(|other| other.name == name.name)
            || generics[..n_written_generics].iter().any(|generic| generic.name == name.name);
        if is_taken {
            checker.report_twice(name, "parameter");
        }
        let nodiff = attributes::has_nodiff(checker, param);
        let values = |name: &str| integers.get(name).cloned();
        let scope = TypeScope::with_values(generics, &values, Holes::Generics, self_type.clone());
        let mut scope = TypeScope { new_sizes: Some(NewSizes::of(signature)), ..scope };
        let ty = checker.resolve_type(&param.ty, &mut scope);
        generics = scope.generics;
        let ty = checker.without_enum_elements(ty, param.ty.span);
        // What may change is no size.
        let mutable = param.mutable.is_some();
        if ty == Type::of(Elem::I64) && !mutable {
            integers.insert(name.name.clone(), Dim::atom(Atom::Value(LocalId(at as u32))));
        }
        finish::record_type(checker, param.id, &ty);
        let default = default_of(checker, param, &ty, &generics, &params);
        params.push(typed::Param { name: name.name.clone(), span: name.span, ty, nodiff, mutable, default });
    }
    let values = |name: &str| integers.get(name).cloned();
    let no_sizes = params.iter().zip(&signature.params).filter(|(param, _)| param.ty.is_scalar() && !param.mutable);
    let no_size = |(param, written): (&typed::Param, &ast::Param)| NoSize {
        name: param.name.clone(),
        ty: (checker.show_over(&generics, &param.ty), written.ty.span),
        is_reported: false,
    };
    let no_sizes = no_sizes.map(no_size).collect();
    let scope = TypeScope::with_values(generics, &values, Holes::Sizes, self_type.clone());
    let mut scope = TypeScope { no_sizes, ..scope };
    let result = match &signature.result {
        Some(result) => {
            let ty = checker.value_type(result, &mut scope);
            checker.without_enum_elements(ty, result.span)
        }
        None if signature.name.name == "main" => Type::UNIT,
        None => Type::Error,
    };
    // Nothing more is said about a parameter that was to be a size.
    for no_size in scope.no_sizes.iter().filter(|no_size| no_size.is_reported) {
        params.iter_mut().filter(|param| param.name == no_size.name).for_each(|param| param.ty = Type::Error);
    }
    let n_open_sizes = scope.next_size;
    Signature {
        name: checker.full_name(&signature.name.name),
        span: signature.span,
        name_span: signature.name.span,
        doc: doc.map(|doc| doc.text.clone()),
        generics: scope.generics,
        n_written_generics,
        self_type,
        params,
        result,
        n_open_sizes,
        prints: false,
        rules: Rules::default(),
        hints: Hints::default(),
    }
}

/// The default of a parameter: one before it, or a constant.
fn default_of(
    checker: &mut ModuleChecker<'_>,
    param: &ast::Param,
    ty: &Type,
    generics: &[Generic],
    before: &[typed::Param],
) -> Option<typed::Expr> {
    let default = param.default.as_ref()?;
    let subject = format!("the default of `{}`", param.name.name);
    if matches!(ty, Type::Function(_)) {
        let message = format!("expected a number for {subject}, found a parameter of function type");
        checker.report(
            Diagnostic::error(codes::NOT_CONSTANT, default.span, message)
                .help("leave the default out: functions are always given"),
        );
        return None;
    }
    if let ast::ExprKind::Name(name) = &default.kind
        && let Some(at) = before.iter().position(|other| other.name == *name && other.ty == *ty && !other.mutable)
    {
        checker.note_use(default.span, before[at].span);
        return Some(typed::Expr {
            span: default.span,
            ty: ty.clone(),
            kind: typed::ExprKind::Local(LocalId(at as u32)),
        });
    }
    constants::constant_value(checker, default, Some((ty.clone(), param.ty.span)), generics, &subject)
}

/// Whether a type parameter that may stand for something without derivative is part of a type.
fn has_opaque(ty: &Type, generics: &[Generic]) -> bool {
    let is_opaque = |id: GenericId| match generics.get(id.0 as usize).map(|generic| generic.kind) {
        Some(GenericKind::Scalar(bound)) => !bound.implies(Bound::Differentiable),
        Some(GenericKind::Type { is_differentiable }) => !is_differentiable,
        Some(GenericKind::Size | GenericKind::Pack) | None => false,
    };
    let mut found = false;
    ty.each_param(&mut |id| found |= is_opaque(id));
    found
}
