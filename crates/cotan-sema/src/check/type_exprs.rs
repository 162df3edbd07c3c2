//! Types as they are written.

use std::collections::HashSet;

use cotan_ir::Elem;
use cotan_syntax::ast::{self, ExprKind, TypeExpr, TypeKind};
use cotan_syntax::{Diagnostic, Span};

use super::scope::{Found, is_type, path_name};
use super::type_scope::TypeScope;
use super::{Def, Definition, ModuleChecker, large_types, names, size_exprs, unknown_types};
use crate::codes;
use crate::dims::{Dim, GenericId};
use crate::typed::Field;
use crate::types::{
    Bound, EnumType, FunctionType, Generic, GenericArg, GenericKind, Scalar, StructType, Substitution, Type,
};

/// A use of a generic declaration, whose arguments must have the traits that it asks for. That is found out when all
/// impls are known.
pub(super) struct WantedTraits {
    /// What is used.
    pub(super) name: String,
    /// The parameters of it.
    pub(super) wanted: Vec<Generic>,
    /// What they stand for.
    pub(super) args: Vec<GenericArg>,
    /// Where.
    pub(super) span: Span,
    /// The parameters in brackets that the arguments are made of.
    pub(super) generics: Vec<Generic>,
}

impl ModuleChecker<'_> {
    /// A name that is declared twice in one list.
    pub(super) fn report_twice(&mut self, name: &ast::Ident, what: &str) {
        if name.name.is_empty() {
            return;
        }
        let message = format!("expected one {what} of each name, found a second `{}`", name.name);
        self.report(
            Diagnostic::error(codes::DUPLICATE_PARAMETER, name.span, message)
                .help(format!("give this {what} another name")),
        );
    }

    /// The type that is written.
    pub(super) fn resolve_type(&mut self, ty: &TypeExpr, scope: &mut TypeScope<'_>) -> Type {
        if self.is_full() {
            return Type::Error;
        }
        let resolved = resolve_written(self, ty, scope);
        if large_types::has_few_leaves(self, &resolved, "values of this type", ty.span) {
            resolved
        } else {
            Type::Error
        }
    }

    /// A type of values: everything but a function type.
    pub(super) fn value_type(&mut self, ty: &TypeExpr, scope: &mut TypeScope<'_>) -> Type {
        let resolved = self.resolve_type(ty, scope);
        if !matches!(resolved, Type::Function(_)) {
            return resolved;
        }
        let message = "expected the type of a value, found a function type";
        self.report(
            Diagnostic::error(codes::FUNCTION_TYPE, ty.span, message)
                .help("only parameters have function types, as in `fn apply(f: (f64) -> f64, x: f64) -> f64 = f(x)`")
                .repeated(names::NO_VALUE, "nor does this one have a type"),
        );
        Type::Error
    }

    /// What an alias stands for. Reports an alias that is defined by itself.
    pub(super) fn resolve_alias(&mut self, at: usize, use_span: Span) -> (Vec<Generic>, Type) {
        if let Some(resolved) = &self.aliases[at].resolved {
            return resolved.clone();
        }
        let item = self.aliases[at].item;
        if self.aliases[at].is_open {
            let message = format!("expected another type behind `{0}`, found `{0}` itself", item.name.name);
            self.report(
                Diagnostic::error(codes::TYPE_CYCLE, item.name.span, message)
                    .label(use_span, "needed here")
                    .help("let one of the types name a scalar, a tensor or a struct"),
            );
            return (Vec::new(), Type::Error);
        }
        if !self.enter_declaration(item.name.span) {
            self.aliases[at].resolved = Some((Vec::new(), Type::Error));
            return (Vec::new(), Type::Error);
        }
        self.aliases[at].is_open = true;
        let resolved = self.within(self.aliases[at].module, |this| {
            let generics = this.generics(&item.generics, &[&item.ty]);
            let mut scope = TypeScope::new(generics);
            let ty = this.value_type(&item.ty, &mut scope);
            (scope.generics, ty)
        });
        self.declaration_depth -= 1;
        self.aliases[at].resolved = Some(resolved.clone());
        resolved
    }
}

fn resolve_written(checker: &mut ModuleChecker<'_>, ty: &TypeExpr, scope: &mut TypeScope<'_>) -> Type {
    match &ty.kind {
        TypeKind::Error => Type::Error,
        TypeKind::Tuple(parts) => Type::Tuple(parts.iter().map(|part| checker.value_type(part, scope)).collect()),
        TypeKind::Path(path) => named_type(checker, path, None, ty.span, scope),
        TypeKind::Apply { base, args, args_span } => match &base.kind {
            TypeKind::Path(path) => named_type(checker, path, Some((args, *args_span)), ty.span, scope),
            TypeKind::Error | TypeKind::Apply { .. } | TypeKind::Tuple(_) | TypeKind::Function { .. } => {
                let elem = checker.value_type(base, scope);
                tensor_of(checker, elem, args, scope)
            }
        },
        TypeKind::Function { params, result } => {
            let params = params.iter().map(|param| checker.value_type(param, scope)).collect();
            let result = checker.value_type(result, scope);
            Type::Function(Box::new(FunctionType { params, result }))
        }
    }
}

fn tensor_of(checker: &mut ModuleChecker<'_>, elem: Type, args: &[ast::Arg], scope: &mut TypeScope<'_>) -> Type {
    let dims: Option<Vec<Dim>> = args.iter().map(|arg| size_exprs::extent(checker, &arg.value, scope)).collect();
    match dims {
        Some(dims) => Type::tensor(elem, dims),
        None => Type::Error,
    }
}

/// A type by its name, with or without a bracket after it.
fn named_type(
    checker: &mut ModuleChecker<'_>,
    path: &ast::Path,
    bracket: Option<(&[ast::Arg], Span)>,
    span: Span,
    scope: &mut TypeScope<'_>,
) -> Type {
    let [ident, dotted @ ..] = path.segments.as_slice() else { return Type::Error };
    let name = ident.name.as_str();
    if let (Some((id, kind)), true) = (scope.generic(name), dotted.is_empty()) {
        return match kind {
            GenericKind::Scalar(_) => maybe_tensor(checker, Type::Scalar(Scalar::Param(id)), bracket, scope),
            GenericKind::Type { .. } => maybe_tensor(checker, Type::Param(id), bracket, scope),
            GenericKind::Size => {
                report_not_a_type(checker, name, ident.span, "a size", "a type is declared as `T: Float`")
            }
            GenericKind::Pack => {
                report_not_a_type(checker, name, ident.span, "a shape pack", "a type is declared as `T: Float`")
            }
        };
    }
    if let (Some((args, _)), true) = (bracket, is_tangent_name(path) && checker.find(TANGENT).is_none()) {
        return tangent_type(checker, args, span, scope);
    }
    if let (Some(ty), "Self", true) = (scope.self_type.clone(), name, dotted.is_empty()) {
        return maybe_tensor(checker, ty, bracket, scope);
    }
    match (checker.follow_path(path), Elem::from_name(name)) {
        (Some(found), _) if found.n_dots == dotted.len() => declared_type(checker, &found, bracket, span, scope),
        (None, Some(elem)) if dotted.is_empty() => maybe_tensor(checker, Type::of(elem), bracket, scope),
        (None, None) if dotted.is_empty() => unknown_types::report(checker, ident, &scope.generics),
        (Some(Found { def: Def::Unusable, .. }), _) => Type::Error,
        (None, _) => unknown_types::report_path(checker, path),
        (Some(_), _) => {
            let help = format!("import a module of that name: `import ./{name}`");
            report_not_a_type(checker, &path_name(path), path.span, "a name with dots", &help)
        }
    }
}

/// The type of tangents, `tangent[T]`.
const TANGENT: &str = "tangent";

/// Whether a type that brackets follow is that of tangents, as far as its name says.
pub(super) fn is_tangent(ty: &TypeExpr) -> bool {
    if let TypeKind::Path(path) = &ty.kind { is_tangent_name(path) } else { false }
}

fn is_tangent_name(path: &ast::Path) -> bool {
    matches!(path.segments.as_slice(), [segment] if segment.name == TANGENT)
}

/// `tangent[T]`: the type of gradients of a `T`.
fn tangent_type(checker: &mut ModuleChecker<'_>, args: &[ast::Arg], span: Span, scope: &mut TypeScope<'_>) -> Type {
    let [arg] = args else {
        let message = format!("expected one type in the brackets of `tangent`, found {}", args.len());
        let help = "write the type of the parameter, as in `tangent[T]`";
        checker.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help(help));
        return Type::Error;
    };
    let Some(ty) = type_arg(checker, "tangent", &arg.value, scope) else { return Type::Error };
    if checker.is_differentiable(&ty, &scope.generics) {
        return tangent_in(checker, &ty, &scope.generics);
    }
    let text = checker.quoted(arg.value.span, "T");
    let message = format!("expected a type that has derivatives in the brackets of `tangent`, found `{text}`");
    let help = "types with floats in them have tangents; a parameter says so by `T: Differentiable`";
    checker.report(Diagnostic::error(codes::LACKS_TRAIT, arg.value.span, message).help(help));
    Type::Error
}

/// The type of tangents of a type that is made of these parameters.
pub(super) fn tangent_in(checker: &ModuleChecker<'_>, ty: &Type, generics: &[Generic]) -> Type {
    checker.declarations_in(generics).tangent(ty)
}

/// A declared type, with or without a bracket after it.
fn declared_type(
    checker: &mut ModuleChecker<'_>,
    found: &Found,
    bracket: Option<(&[ast::Arg], Span)>,
    span: Span,
    scope: &mut TypeScope<'_>,
) -> Type {
    match found.def {
        Def::Struct(id) => {
            let generics = checker.structs[id.0 as usize].generics.clone();
            let make = |args| Type::Struct(StructType { def: id, args, tangent: false });
            applied(checker, &found.name, &generics, make, bracket, span, scope)
        }
        Def::Enum(id) => {
            let generics = checker.enums[id.0 as usize].generics.clone();
            let make = |args| Type::Enum(EnumType { def: id, args, tangent: false });
            applied(checker, &found.name, &generics, make, bracket, span, scope)
        }
        Def::Alias(at) => {
            let (generics, ty) = checker.resolve_alias(at, found.span);
            let make = |args| Substitution::new(args).ty(&ty);
            let made = applied(checker, &found.name, &generics, make, bracket, span, scope);
            if large_types::add_type_parts(checker, &made, span) { made } else { Type::Error }
        }
        Def::Unusable => Type::Error,
        Def::Trait(_) => {
            let help = format!("a trait bounds a parameter: `[T: {}]`", found.name);
            report_not_a_type(checker, &found.name, found.span, "a trait", &help)
        }
        Def::Module(_) => {
            let help = "write a dot and the name of a type after it";
            report_not_a_type(checker, &found.name, found.span, "a module", help)
        }
        Def::Constant(_) => {
            let help = "a size stands in brackets after an element type, as in `f64[N]`";
            report_not_a_type(checker, &found.name, found.span, "a constant", help)
        }
        Def::Function(_) | Def::Pending | Def::Gradients(_) => {
            let help = "write the type of its result instead";
            report_not_a_type(checker, &found.name, found.span, "a function", help)
        }
    }
}

fn maybe_tensor(
    checker: &mut ModuleChecker<'_>,
    elem: Type,
    bracket: Option<(&[ast::Arg], Span)>,
    scope: &mut TypeScope<'_>,
) -> Type {
    match bracket {
        Some(([], span)) => report_no_sizes(checker, &elem, span, scope),
        Some((args, _)) => tensor_of(checker, elem, args, scope),
        None => elem,
    }
}

/// Reports `f64[]`, which is a vector elsewhere.
fn report_no_sizes(checker: &mut ModuleChecker<'_>, elem: &Type, span: Span, scope: &TypeScope<'_>) -> Type {
    let name = checker.show_over(&scope.generics, elem);
    let message = format!("expected sizes in the brackets after `{name}`, found none");
    let help = format!("a vector of any length is `{name}[_]`; a number has no brackets");
    checker.report(Diagnostic::error(codes::NOT_A_SIZE, span, message).help(help).fix(span, "[_]"));
    Type::Error
}

/// A struct or alias: with generics the bracket holds them, without the dims of a tensor.
fn applied(
    checker: &mut ModuleChecker<'_>,
    name: &str,
    generics: &[Generic],
    make: impl FnOnce(Vec<GenericArg>) -> Type,
    bracket: Option<(&[ast::Arg], Span)>,
    span: Span,
    scope: &mut TypeScope<'_>,
) -> Type {
    if generics.is_empty() {
        return maybe_tensor(checker, make(Vec::new()), bracket, scope);
    }
    let args = bracket.map_or(&[] as &[ast::Arg], |(args, _)| args);
    if !has_argument_count(checker, name, generics, args.len(), span) {
        return Type::Error;
    }
    let args: Option<Vec<GenericArg>> =
        generics.iter().zip(args).map(|(generic, arg)| generic_arg(checker, generic, &arg.value, scope)).collect();
    let Some(args) = args else { return Type::Error };
    checker.wanted_traits.push(WantedTraits {
        name: name.to_owned(),
        wanted: generics.to_vec(),
        args: args.clone(),
        span,
        generics: scope.generics.clone(),
    });
    make(args)
}

/// Whether a bracket holds one argument for each parameter; reports it if not.
pub(super) fn has_argument_count(
    checker: &mut ModuleChecker<'_>,
    name: &str,
    generics: &[Generic],
    found: usize,
    span: Span,
) -> bool {
    if found == generics.len() {
        return true;
    }
    let names: Vec<&str> = generics.iter().map(|generic| generic.name.as_str()).collect();
    let message = format!("expected {} parameters in the brackets of `{name}`, found {found}", generics.len());
    let help = if names.is_empty() {
        "leave the brackets out".to_owned()
    } else {
        format!("write `{name}[{}]` with a size or type for each", names.join(", "))
    };
    checker.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help(help));
    false
}

/// One parameter in brackets at a use in a type.
pub(super) fn generic_arg(
    checker: &mut ModuleChecker<'_>,
    generic: &Generic,
    arg: &ast::Expr,
    scope: &mut TypeScope<'_>,
) -> Option<GenericArg> {
    match generic.kind {
        GenericKind::Size => size_exprs::dim(checker, arg, scope).map(GenericArg::Size),
        GenericKind::Scalar(bound) => {
            let generics = scope.generics.clone();
            scalar_arg(checker, &generic.name, bound, arg, &generics).map(GenericArg::Scalar)
        }
        GenericKind::Type { .. } => type_arg(checker, &generic.name, arg, scope).map(GenericArg::Type),
        GenericKind::Pack => pack_arg(checker, &generic.name, arg, scope).map(GenericArg::Pack),
    }
}

/// A type that is given in brackets, where expressions and types look alike.
pub(super) fn type_arg(
    checker: &mut ModuleChecker<'_>,
    param: &str,
    arg: &ast::Expr,
    scope: &mut TypeScope<'_>,
) -> Option<Type> {
    match as_type(arg) {
        Some(ty) => {
            let ty = checker.value_type(&ty, scope);
            (!ty.has_error()).then_some(ty)
        }
        None => {
            if !matches!(arg.kind, ExprKind::Error) {
                let message = format!("expected a type for `{param}`, found an expression");
                let diagnostic = Diagnostic::error(codes::GENERIC_KIND, arg.span, message);
                checker.report(diagnostic.help("write a type such as `f64` or `f64[3]`"));
            }
            None
        }
    }
}

/// The sizes of a pack that are given in brackets: `[2, N]`, `[]`, `[..S, 2]` or `..S`.
pub(super) fn pack_arg(
    checker: &mut ModuleChecker<'_>,
    param: &str,
    arg: &ast::Expr,
    scope: &mut TypeScope<'_>,
) -> Option<Vec<Dim>> {
    if let ExprKind::Array(parts) = &arg.kind {
        return parts.iter().map(|part| size_exprs::extent(checker, part, scope)).collect();
    }
    if let ExprKind::Range(range) = &arg.kind
        && range.lo.is_none()
    {
        return size_exprs::extent(checker, arg, scope).map(|dim| vec![dim]);
    }
    if !matches!(arg.kind, ExprKind::Error) {
        let message = format!("expected the sizes of the shape pack `..{param}`, found something else");
        checker.report(
            Diagnostic::error(codes::GENERIC_KIND, arg.span, message)
                .help("write the sizes in brackets, as in `[2, N]` or `[]`, or pass a pack on, as in `..S`"),
        );
    }
    None
}

/// An element type that is given in brackets, where expressions and types look alike.
pub(super) fn scalar_arg(
    checker: &mut ModuleChecker<'_>,
    param: &str,
    bound: Bound,
    arg: &ast::Expr,
    generics: &[Generic],
) -> Option<Scalar> {
    let not_an_element = |this: &mut ModuleChecker<'_>, found: &str| {
        let message = format!("expected an element type for `{param}`, found {found}");
        this.report(Diagnostic::error(codes::GENERIC_KIND, arg.span, message).help("write a type such as `f64`"));
        None
    };
    let ExprKind::Name(name) = &arg.kind else {
        let is_reported = matches!(arg.kind, ExprKind::Error);
        return if is_reported { None } else { not_an_element(checker, "an expression") };
    };
    let param_of_owner = generics.iter().position(|generic| generic.name == *name);
    let elem = Elem::from_name(name).or_else(|| scalar_alias(checker, name, arg.span));
    let (scalar, fits) = match (param_of_owner, elem) {
        (Some(at), _) => match generics[at].kind {
            GenericKind::Scalar(own) => (Scalar::Param(GenericId(at as u32)), own.implies(bound)),
            GenericKind::Type { .. } | GenericKind::Size | GenericKind::Pack => {
                return not_an_element(checker, &format!("the parameter `{name}`"));
            }
        },
        (None, Some(elem)) => (Scalar::Of(elem), bound.admits(elem)),
        (None, None) if is_type(checker, name) => return not_an_element(checker, &format!("the type `{name}`")),
        (None, None) => {
            let ident = ast::Ident { name: name.clone(), span: arg.span };
            unknown_types::report(checker, &ident, generics);
            return None;
        }
    };
    if !fits {
        let message = format!("expected a type with the trait `{}` for `{param}`, found `{name}`", bound.as_str());
        checker.report(Diagnostic::error(codes::BOUND, arg.span, message).help(bound_help(bound)));
        return None;
    }
    Some(scalar)
}

fn report_not_a_type(checker: &mut ModuleChecker<'_>, name: &str, span: Span, found: &str, help: &str) -> Type {
    let message = format!("expected a type, found {found}, `{name}`");
    checker.report(Diagnostic::error(codes::NOT_A_TYPE, span, message).help(help));
    Type::Error
}

/// The scalar type that a name is an alias of.
fn scalar_alias(checker: &mut ModuleChecker<'_>, name: &str, span: Span) -> Option<Elem> {
    let Some(Definition { def: Def::Alias(at), .. }) = checker.find(name) else { return None };
    let (generics, ty) = checker.resolve_alias(at, span);
    if let (true, Type::Scalar(Scalar::Of(elem))) = (generics.is_empty(), ty) { Some(elem) } else { None }
}

/// The types that have a trait, for help.
pub(super) fn bound_help(bound: Bound) -> String {
    let types: Vec<&str> = Elem::ALL.into_iter().filter(|elem| bound.admits(*elem)).map(Elem::name).collect();
    format!("types with the trait `{}` are {}", bound.as_str(), types.join(", "))
}

/// An expression in brackets that can be read as a type: `f64`, `f64[3]`, `(f64, Q)`.
fn as_type(expr: &ast::Expr) -> Option<TypeExpr> {
    let named = |name: &str, span: Span| {
        let path = ast::Path { segments: vec![ast::Ident { name: name.to_owned(), span }], span };
        TypeExpr { id: expr.id, span, kind: TypeKind::Path(path) }
    };
    let kind = if let ExprKind::Name(name) = &expr.kind {
        named(name, expr.span).kind
    } else if let ExprKind::Tuple(parts) = &expr.kind {
        TypeKind::Tuple(parts.iter().map(as_type).collect::<Option<_>>()?)
    } else if let ExprKind::Postfix(postfix) = &expr.kind {
        let mut ty = as_type(&postfix.base)?;
        for op in &postfix.ops {
            let ast::PostfixKind::Index(args) = &op.kind else { return None };
            let span = ty.span.to(op.span);
            let kind = TypeKind::Apply { base: Box::new(ty), args: args.clone(), args_span: op.span };
            ty = TypeExpr { id: op.id, span, kind };
        }
        ty.kind
    } else {
        return None;
    };
    Some(TypeExpr { id: expr.id, span: expr.span, kind })
}

/// The fields of a struct or variant.
pub(super) fn fields(checker: &mut ModuleChecker<'_>, written: &[ast::Field], scope: &mut TypeScope<'_>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut names = HashSet::new();
    for field in written {
        if !names.insert(field.name.name.as_str()) {
            checker.report_twice(&field.name, "field");
        }
        checker.report_unknown_attributes(&field.attrs, "field");
        let ty = checker.value_type(&field.ty, scope);
        fields.push(Field { name: field.name.name.clone(), span: field.span, ty });
    }
    fields
}
