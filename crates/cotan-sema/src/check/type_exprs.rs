//! Types as they are written.

use cotan_ir::Elem;
use cotan_syntax::ast::{self, ExprKind, TypeExpr, TypeKind};
use cotan_syntax::{Diagnostic, Span};

use super::scope::{Found, path_name};
use super::{Def, Definition, ModuleChecker};
use crate::codes;
use crate::dims::{Dim, GenericId};
use crate::suggest::closest;
use crate::types::{
    Bound, EnumType, FunctionType, Generic, GenericArg, GenericKind, Scalar, StructType, Substitution, Type,
};

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
        let resolved = self.resolve_written(ty, scope);
        if self.has_few_leaves(&resolved, "values of this type", ty.span) { resolved } else { Type::Error }
    }

    fn resolve_written(&mut self, ty: &TypeExpr, scope: &mut TypeScope<'_>) -> Type {
        match &ty.kind {
            TypeKind::Error => Type::Error,
            TypeKind::Tuple(parts) => Type::Tuple(parts.iter().map(|part| self.value_type(part, scope)).collect()),
            TypeKind::Path(path) => self.named_type(path, None, ty.span, scope),
            TypeKind::Apply { base, args, args_span } => match &base.kind {
                TypeKind::Path(path) => self.named_type(path, Some((args, *args_span)), ty.span, scope),
                TypeKind::Error | TypeKind::Apply { .. } | TypeKind::Tuple(_) | TypeKind::Function { .. } => {
                    let elem = self.value_type(base, scope);
                    self.tensor_of(elem, args, scope)
                }
            },
            TypeKind::Function { params, result } => {
                let params = params.iter().map(|param| self.value_type(param, scope)).collect();
                let result = self.value_type(result, scope);
                Type::Function(Box::new(FunctionType { params, result }))
            }
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
                .help("only parameters have function types, as in `fn apply(f: (f64) -> f64, x: f64) -> f64 = f(x)`"),
        );
        Type::Error
    }

    fn tensor_of(&mut self, elem: Type, args: &[ast::Arg], scope: &mut TypeScope<'_>) -> Type {
        let dims: Option<Vec<Dim>> = args.iter().map(|arg| self.extent(&arg.value, scope)).collect();
        match dims {
            Some(dims) => Type::tensor(elem, dims),
            None => Type::Error,
        }
    }

    /// A type by its name, with or without a bracket after it.
    fn named_type(
        &mut self,
        path: &ast::Path,
        bracket: Option<(&[ast::Arg], Span)>,
        span: Span,
        scope: &mut TypeScope<'_>,
    ) -> Type {
        let [ident, dotted @ ..] = path.segments.as_slice() else { return Type::Error };
        let name = ident.name.as_str();
        if let (Some((id, kind)), true) = (scope.generic(name), dotted.is_empty()) {
            return match kind {
                GenericKind::Scalar(_) => self.maybe_tensor(Type::Scalar(Scalar::Param(id)), bracket, scope),
                GenericKind::Type { .. } => self.maybe_tensor(Type::Param(id), bracket, scope),
                GenericKind::Size => {
                    self.report_not_a_type(name, ident.span, "a size", "a type is declared as `T: Float`")
                }
                GenericKind::Pack => {
                    self.report_not_a_type(name, ident.span, "a shape pack", "a type is declared as `T: Float`")
                }
            };
        }
        if let (Some(ty), "Self", true) = (scope.self_type.clone(), name, dotted.is_empty()) {
            return self.maybe_tensor(ty, bracket, scope);
        }
        match (self.follow_path(path), Elem::from_name(name)) {
            (Some(found), _) if found.n_dots == dotted.len() => self.declared_type(&found, bracket, span, scope),
            (None, Some(elem)) if dotted.is_empty() => self.maybe_tensor(Type::of(elem), bracket, scope),
            (None, None) if dotted.is_empty() => self.report_unknown_type(ident, scope),
            (Some(Found { def: Def::Unusable, .. }), _) => Type::Error,
            (Some(_) | None, _) => {
                let help = format!("import a module of that name: `import ./{name}`");
                self.report_not_a_type(&path_name(path), path.span, "a name with dots", &help)
            }
        }
    }

    /// A declared type, with or without a bracket after it.
    fn declared_type(
        &mut self,
        found: &Found,
        bracket: Option<(&[ast::Arg], Span)>,
        span: Span,
        scope: &mut TypeScope<'_>,
    ) -> Type {
        match found.def {
            Def::Struct(id) => {
                let generics = self.structs[id.0 as usize].generics.clone();
                let make = |args| Type::Struct(StructType { def: id, args, tangent: false });
                self.applied(&found.name, &generics, make, bracket, span, scope)
            }
            Def::Enum(id) => {
                let generics = self.enums[id.0 as usize].generics.clone();
                let make = |args| Type::Enum(EnumType { def: id, args, tangent: false });
                self.applied(&found.name, &generics, make, bracket, span, scope)
            }
            Def::Alias(at) => {
                let (generics, ty) = self.resolve_alias(at, found.span);
                let make = |args| Substitution::new(args).ty(&ty);
                let made = self.applied(&found.name, &generics, make, bracket, span, scope);
                if self.add_type_parts(&made, span) { made } else { Type::Error }
            }
            Def::Unusable => Type::Error,
            Def::Trait(_) => {
                let help = format!("a trait bounds a parameter: `[T: {}]`", found.name);
                self.report_not_a_type(&found.name, found.span, "a trait", &help)
            }
            Def::Module(_) => {
                let help = "write a dot and the name of a type after it";
                self.report_not_a_type(&found.name, found.span, "a module", help)
            }
            Def::Constant(_) => {
                let help = "a size stands in brackets after an element type, as in `f64[N]`";
                self.report_not_a_type(&found.name, found.span, "a constant", help)
            }
            Def::Function(_) | Def::Pending | Def::Gradients(_) => {
                let help = "write the type of its result instead";
                self.report_not_a_type(&found.name, found.span, "a function", help)
            }
        }
    }

    fn maybe_tensor(&mut self, elem: Type, bracket: Option<(&[ast::Arg], Span)>, scope: &mut TypeScope<'_>) -> Type {
        match bracket {
            Some((args, _)) => self.tensor_of(elem, args, scope),
            None => elem,
        }
    }

    /// A struct or alias: with generics the bracket holds them, without the dims of a tensor.
    fn applied(
        &mut self,
        name: &str,
        generics: &[Generic],
        make: impl FnOnce(Vec<GenericArg>) -> Type,
        bracket: Option<(&[ast::Arg], Span)>,
        span: Span,
        scope: &mut TypeScope<'_>,
    ) -> Type {
        if generics.is_empty() {
            return self.maybe_tensor(make(Vec::new()), bracket, scope);
        }
        let args = bracket.map_or(&[] as &[ast::Arg], |(args, _)| args);
        if !self.has_argument_count(name, generics, args.len(), span) {
            return Type::Error;
        }
        let args: Option<Vec<GenericArg>> =
            generics.iter().zip(args).map(|(generic, arg)| self.generic_arg(generic, &arg.value, scope)).collect();
        let Some(args) = args else { return Type::Error };
        self.wanted_traits.push(WantedTraits {
            name: name.to_owned(),
            wanted: generics.to_vec(),
            args: args.clone(),
            span,
            generics: scope.generics.clone(),
        });
        make(args)
    }

    /// Whether a bracket holds one argument for each parameter; reports it if not.
    pub(super) fn has_argument_count(&mut self, name: &str, generics: &[Generic], found: usize, span: Span) -> bool {
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
        self.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help(help));
        false
    }

    /// One parameter in brackets at a use in a type.
    pub(super) fn generic_arg(
        &mut self,
        generic: &Generic,
        arg: &ast::Expr,
        scope: &mut TypeScope<'_>,
    ) -> Option<GenericArg> {
        match generic.kind {
            GenericKind::Size => self.dim(arg, scope).map(GenericArg::Size),
            GenericKind::Scalar(bound) => {
                let generics = scope.generics.clone();
                self.scalar_arg(&generic.name, bound, arg, &generics).map(GenericArg::Scalar)
            }
            GenericKind::Type { .. } => self.type_arg(&generic.name, arg, scope).map(GenericArg::Type),
            GenericKind::Pack => self.pack_arg(&generic.name, arg, scope).map(GenericArg::Pack),
        }
    }

    /// A type that is given in brackets, where expressions and types look alike.
    pub(super) fn type_arg(&mut self, param: &str, arg: &ast::Expr, scope: &mut TypeScope<'_>) -> Option<Type> {
        match as_type(arg) {
            Some(ty) => {
                let ty = self.value_type(&ty, scope);
                (!ty.has_error()).then_some(ty)
            }
            None => {
                if !matches!(arg.kind, ExprKind::Error) {
                    let message = format!("expected a type for `{param}`, found an expression");
                    let diagnostic = Diagnostic::error(codes::GENERIC_KIND, arg.span, message);
                    self.report(diagnostic.help("write a type such as `f64` or `f64[3]`"));
                }
                None
            }
        }
    }

    /// The sizes of a pack that are given in brackets: `[2, N]`, `[]`, `[..S, 2]` or `..S`.
    pub(super) fn pack_arg(&mut self, param: &str, arg: &ast::Expr, scope: &mut TypeScope<'_>) -> Option<Vec<Dim>> {
        if let ExprKind::Array(parts) = &arg.kind {
            return parts.iter().map(|part| self.extent(part, scope)).collect();
        }
        if let ExprKind::Range(range) = &arg.kind
            && range.lo.is_none()
        {
            return self.extent(arg, scope).map(|dim| vec![dim]);
        }
        if !matches!(arg.kind, ExprKind::Error) {
            let message = format!("expected the sizes of the shape pack `..{param}`, found something else");
            self.report(
                Diagnostic::error(codes::GENERIC_KIND, arg.span, message)
                    .help("write the sizes in brackets, as in `[2, N]` or `[]`, or pass a pack on, as in `..S`"),
            );
        }
        None
    }

    /// An element type that is given in brackets, where expressions and types look alike.
    pub(super) fn scalar_arg(
        &mut self,
        param: &str,
        bound: Bound,
        arg: &ast::Expr,
        generics: &[Generic],
    ) -> Option<Scalar> {
        let not_an_element = |this: &mut Self, found: &str| {
            let message = format!("expected an element type for `{param}`, found {found}");
            this.report(Diagnostic::error(codes::GENERIC_KIND, arg.span, message).help("write a type such as `f64`"));
            None
        };
        let ExprKind::Name(name) = &arg.kind else {
            let is_reported = matches!(arg.kind, ExprKind::Error);
            return if is_reported { None } else { not_an_element(self, "an expression") };
        };
        let param_of_owner = generics.iter().position(|generic| generic.name == *name);
        let elem = Elem::from_name(name).or_else(|| self.scalar_alias(name, arg.span));
        let (scalar, fits) = match (param_of_owner, elem) {
            (Some(at), _) => match generics[at].kind {
                GenericKind::Scalar(own) => (Scalar::Param(GenericId(at as u32)), own.implies(bound)),
                GenericKind::Type { .. } | GenericKind::Size | GenericKind::Pack => {
                    return not_an_element(self, &format!("the parameter `{name}`"));
                }
            },
            (None, Some(elem)) => (Scalar::Of(elem), bound.admits(elem)),
            (None, None) if self.is_type(name) => return not_an_element(self, &format!("the type `{name}`")),
            (None, None) => {
                let ident = ast::Ident { name: name.clone(), span: arg.span };
                self.report_unknown_type(&ident, &TypeScope::new(generics.to_vec()));
                return None;
            }
        };
        if !fits {
            let message = format!("expected a type with the trait `{}` for `{param}`, found `{name}`", bound.as_str());
            self.report(Diagnostic::error(codes::BOUND, arg.span, message).help(bound_help(bound)));
            return None;
        }
        Some(scalar)
    }

    fn report_not_a_type(&mut self, name: &str, span: Span, found: &str, help: &str) -> Type {
        let message = format!("expected a type, found {found}, `{name}`");
        self.report(Diagnostic::error(codes::NOT_A_TYPE, span, message).help(help));
        Type::Error
    }

    fn report_unknown_type(&mut self, ident: &ast::Ident, scope: &TypeScope<'_>) -> Type {
        let name = ident.name.as_str();
        if name.is_empty() {
            return Type::Error;
        }
        let foreign = match name {
            "int" | "isize" => Some("i64"),
            "usize" | "uint" => Some("u64"),
            "float" | "double" => Some("f64"),
            "Self" => {
                let message = "expected a type, found `Self` outside of a trait and an `impl`";
                self.report(
                    Diagnostic::error(codes::SELF_OUTSIDE, ident.span, message)
                        .help("write the name of the type that you mean"),
                );
                return Type::Error;
            }
            _ => None,
        };
        let elems = Elem::ALL.into_iter().map(|elem| elem.name());
        let known = elems.chain(self.declared_names().filter(|name| self.is_type(name)));
        let known = known.chain(scope.generics.iter().map(|generic| generic.name.as_str()));
        let help = match foreign.or_else(|| closest(name, known)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it with `struct {name} {{ ... }}`, or as a parameter `[{name}: Float]`"),
        };
        self.report(
            Diagnostic::error(
                codes::UNKNOWN_TYPE,
                ident.span,
                format!("expected a type, found the unknown name `{name}`"),
            )
            .help(help),
        );
        Type::Error
    }

    /// Whether a name is that of a type of the program.
    fn is_type(&self, name: &str) -> bool {
        matches!(self.find(name), Some(Definition { def: Def::Struct(_) | Def::Enum(_) | Def::Alias(_), .. }))
    }

    /// The scalar type that a name is an alias of.
    fn scalar_alias(&mut self, name: &str, span: Span) -> Option<Elem> {
        let Some(Definition { def: Def::Alias(at), .. }) = self.find(name) else { return None };
        let (generics, ty) = self.resolve_alias(at, span);
        if let (true, Type::Scalar(Scalar::Of(elem))) = (generics.is_empty(), ty) { Some(elem) } else { None }
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
