//! Calls: what is called, what its generics stand for, and whether the arguments fit.

use cotan_ir::Elem;
use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::expressions::error;
use super::fit::{Misfit, Strictness};
use super::instantiate::Instance;
use super::{BodyChecker, CallEdge, Def};
use crate::codes;
use crate::dims::{Atom, Dim, LocalId};
use crate::prelude::{self, Domain, Operand, ScalarFunction};
use crate::suggest::closest;
use crate::typed::{
    self, Arg, Block, Builtin, Callable, CallableKind, Derivative, DerivativeForm, DerivativeMode, Expr, ExprKind,
    FnId, Pattern, PatternKind, Stmt, StmtKind,
};
use crate::types::{FunctionType, Generic, GenericArg, Scalar, Type};
use crate::unify::Elems;

/// An argument before it is checked, or after.
pub(super) enum Source<'s> {
    /// As it is written.
    Ast(&'s ast::Expr),
    /// Checked already.
    Typed(Expr),
}

/// What stands before the parentheses of a call.
pub(super) enum Callee<'s> {
    /// Something with a signature.
    Scheme(Box<Scheme>),
    /// A scalar function of the prelude.
    Scalar(&'static ScalarFunction),
    /// Another function of the prelude, with the element type in brackets.
    Builtin(Builtin, Option<Scalar>),
    /// A lambda: the arguments decide the types of its parameters.
    Lambda(&'s ast::Lambda, Span),
    /// A derivative of something whose signature depends on the arguments, or not.
    Derivative(Box<DerivativeCallee<'s>>),
    /// Reported.
    Failed,
}

/// `grad[w](f)` before the arguments are known.
pub(super) struct DerivativeCallee<'s> {
    pub(super) form: DerivativeForm,
    pub(super) selector: &'s [AstArg],
    pub(super) base: Callee<'s>,
    pub(super) span: Span,
}

/// The signature of something that can be called.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    pub(super) name: String,
    pub(super) span: Span,
    /// The generics to find, with those that were given. Types below are closed over them.
    pub(super) generics: Vec<Generic>,
    pub(super) given: Vec<Option<GenericArg>>,
    pub(super) params: Vec<SchemeParam>,
    pub(super) result: Type,
    /// How many run-time sizes the result leaves open.
    pub(super) n_open_sizes: u32,
    pub(super) definition: Option<Span>,
    pub(super) target: SchemeTarget,
}

/// A parameter of a [`Scheme`].
#[derive(Clone, Debug)]
pub(super) struct SchemeParam {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) nodiff: bool,
}

/// What a [`Scheme`] is the signature of.
#[derive(Clone, Debug)]
pub(super) enum SchemeTarget {
    /// A function: types are closed over its generics, and integer parameters may stand in dims.
    Function(FnId),
    /// Something without generics: types are those of the caller.
    Callable(Callable),
    /// A derivative; generics and dims are those of its base.
    Derivative { form: DerivativeForm, mode: Option<DerivativeMode>, wrt: Vec<usize>, base: Box<Scheme> },
}

impl Scheme {
    /// The function that the types of the scheme belong to, if they are not those of the caller.
    pub(super) fn owner(&self) -> Option<FnId> {
        match &self.target {
            SchemeTarget::Function(id) => Some(*id),
            SchemeTarget::Callable(_) => None,
            SchemeTarget::Derivative { base, .. } => base.owner(),
        }
    }
}

impl Callee<'_> {
    /// Whether the types of the parameters come from the arguments.
    fn needs_argument_types(&self) -> bool {
        match self {
            Self::Scheme(_) | Self::Failed => false,
            Self::Scalar(_) | Self::Builtin(..) | Self::Lambda(..) => true,
            Self::Derivative(derivative) => derivative.base.needs_argument_types(),
        }
    }
}

impl BodyChecker<'_, '_> {
    /// What can be called at the beginning of `base ops..`, with how many of the steps belong to
    /// it. `None` if a value stands there.
    pub(super) fn callee<'s>(&mut self, base: &'s ast::Expr, ops: &'s [PostfixOp]) -> Option<(Callee<'s>, usize)> {
        let name = match &base.kind {
            ast::ExprKind::Lambda(lambda) => return Some((Callee::Lambda(lambda, base.span), 0)),
            ast::ExprKind::Name(name) => name.as_str(),
            _ => return None,
        };
        if self.names.contains_key(name) {
            let local = *self.names.get(name)?.last()?;
            let Type::Function(ty) = self.locals[local.0 as usize].ty.clone() else { return None };
            self.lookup_local(name, base.span);
            return Some((Callee::Scheme(Box::new(param_scheme(name, base.span, local, *ty))), 0));
        }
        if self.generics.iter().any(|generic| generic.name == name) {
            return None;
        }
        if let Some(definition) = self.module.definitions.get(name).copied() {
            return match definition.def {
                Def::Function(id) => {
                    self.module.note_use(base.span, definition.span);
                    Some(self.function_callee(id, base.span, ops, 0))
                }
                Def::Gradients(at) => self.gradient_callee(at, name, base.span, ops),
                Def::Unusable => ops.iter().any(|op| matches!(op.kind, PostfixKind::Call(_))).then(|| {
                    let call = ops.iter().position(|op| matches!(op.kind, PostfixKind::Call(_)));
                    (Callee::Failed, call.unwrap_or(0))
                }),
                Def::Struct(_) | Def::Alias(_) => None,
            };
        }
        if let Some(form) = DerivativeForm::from_name(name) {
            return Some(self.derivative_callee(form, base.span, ops));
        }
        if let Some(function) = prelude::scalar_function(name) {
            return Some((Callee::Scalar(function), 0));
        }
        let builtin = prelude::builtin(name)?;
        Some(match ops.first() {
            Some(PostfixOp { kind: PostfixKind::Index(args), span, .. }) => {
                (self.builtin_with_type(builtin, args, *span), 1)
            }
            _ => (Callee::Builtin(builtin, None), 0),
        })
    }

    fn function_callee<'s>(&mut self, id: FnId, span: Span, ops: &'s [PostfixOp], used: usize) -> (Callee<'s>, usize) {
        let signature = self.module.signature(id).clone();
        let (args, used): (&[AstArg], usize) = match ops.get(used) {
            Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => (args, used + 1),
            _ => (&[], used),
        };
        let Some(given) = self.explicit_generics(&signature.generics, args, &signature.name, span) else {
            return (Callee::Failed, used);
        };
        let params = signature.params.iter().map(|param| SchemeParam {
            name: param.name.clone(),
            ty: param.ty.clone(),
            nodiff: param.nodiff,
        });
        let scheme = Scheme {
            name: signature.name.clone(),
            span,
            given,
            params: params.collect(),
            result: signature.result,
            n_open_sizes: signature.n_open_sizes,
            generics: signature.generics,
            definition: Some(signature.name_span),
            target: SchemeTarget::Function(id),
        };
        (Callee::Scheme(Box::new(scheme)), used)
    }

    /// `dloss.w`
    fn gradient_callee<'s>(
        &mut self,
        at: usize,
        name: &str,
        span: Span,
        ops: &'s [PostfixOp],
    ) -> Option<(Callee<'s>, usize)> {
        let Some(PostfixOp { kind: PostfixKind::Field(param), .. }) = ops.first() else {
            let names: Vec<String> =
                self.module.gradients[at].keys().map(|param| format!("`{name}.{param}`")).collect();
            let message = format!("expected the name of one gradient, found `{name}`, which stands for several");
            self.report(
                Diagnostic::error(codes::NOT_CALLABLE, span, message).help(format!("call {}", names.join(" or "))),
            );
            return Some((Callee::Failed, 0));
        };
        if let Some(id) = self.module.gradients[at].get(&param.name).copied() {
            let definition = self.module.signature(id).name_span;
            self.module.note_use(span, definition);
            return Some(self.function_callee(id, span.to(param.span), ops, 1));
        }
        let known = self.module.gradients[at].keys().map(String::as_str);
        let help = match closest(&param.name, known) {
            Some(near) => format!("did you mean `{name}.{near}`?"),
            None => format!("add `@grad({})` to its declaration", param.name),
        };
        let message = format!("expected a gradient of `{name}`, found `{}`", param.name);
        self.report(Diagnostic::error(codes::UNKNOWN_FIELD, param.span, message).help(help));
        Some((Callee::Failed, 1))
    }

    fn derivative_callee<'s>(&mut self, form: DerivativeForm, span: Span, ops: &'s [PostfixOp]) -> (Callee<'s>, usize) {
        let (selector, used): (&[AstArg], usize) = match ops.first() {
            Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => (args, 1),
            _ => (&[], 0),
        };
        let Some(PostfixOp { kind: PostfixKind::Call(args), span: call_span, .. }) = ops.get(used) else {
            self.report_needs_function(form, span);
            return (Callee::Failed, used);
        };
        let whole = span.to(*call_span);
        let base = match args.as_slice() {
            [AstArg { name: None, value }] => self.function_expr(value),
            _ => None,
        };
        match base {
            Some(base) => {
                (Callee::Derivative(Box::new(DerivativeCallee { form, selector, base, span: whole })), used + 1)
            }
            None => {
                if !args.iter().any(|arg| matches!(arg.value.kind, ast::ExprKind::Error)) {
                    self.report_needs_function(form, whole);
                }
                (Callee::Failed, used + 1)
            }
        }
    }

    fn report_needs_function(&mut self, form: DerivativeForm, span: Span) {
        let name = form.as_str();
        let message = format!("expected a function to differentiate in `{name}(f)`, found a value");
        self.report(
            Diagnostic::error(codes::NEEDS_FUNCTION, span, message)
                .help(format!("write the name of a function and then its arguments: `{name}[w](f)(w, x)`")),
        );
    }

    /// What can be called, if the whole expression is that.
    pub(super) fn function_expr<'s>(&mut self, expr: &'s ast::Expr) -> Option<Callee<'s>> {
        match &expr.kind {
            ast::ExprKind::Postfix(postfix) => {
                let (callee, used) = self.callee(&postfix.base, &postfix.ops)?;
                (used == postfix.ops.len()).then_some(callee)
            }
            ast::ExprKind::Lambda(_) | ast::ExprKind::Name(_) => self.callee(expr, &[]).map(|(callee, _)| callee),
            _ => None,
        }
    }

    /// A call with the arguments as they are written.
    pub(super) fn call_with_args(&mut self, callee: Callee<'_>, args: &[AstArg], span: Span) -> Expr {
        let sources = self.sources(args);
        self.apply(callee, sources, span)
    }

    fn sources<'s>(&mut self, args: &'s [AstArg]) -> Vec<Source<'s>> {
        for arg in args {
            if let Some(name) = &arg.name {
                let what = format!("the named argument `{}`", name.name);
                self.module.report_later(name.span, &what, "give the arguments by position");
            }
        }
        args.iter().map(|arg| Source::Ast(&arg.value)).collect()
    }

    /// A call of something that turned out to be a value.
    pub(super) fn call_of_value(&mut self, value: Expr, args: &[AstArg], span: Span) -> Expr {
        args.iter().for_each(|arg| drop(self.value(&arg.value)));
        if !value.ty.has_error() {
            let message = format!("expected a function before the parentheses, found `{}`", self.show(&value.ty));
            let help = match value.ty {
                Type::Tensor { .. } => "a tensor is indexed with brackets: `v[i]`",
                _ => "only functions are called; to multiply, write `*`",
            };
            self.report(Diagnostic::error(codes::NOT_CALLABLE, value.span, message).help(help));
        }
        error(value.span.to(span))
    }

    /// Applies a callee to arguments.
    pub(super) fn apply(&mut self, callee: Callee<'_>, mut sources: Vec<Source<'_>>, span: Span) -> Expr {
        match callee {
            Callee::Scalar(function) => self.scalar_call(function, sources, span),
            Callee::Builtin(builtin, elem) => self.builtin_call(builtin, elem, sources, span),
            Callee::Failed => {
                self.check_anyway(sources);
                error(span)
            }
            Callee::Scheme(_) | Callee::Lambda(..) | Callee::Derivative(_) => {
                let types = if callee.needs_argument_types() {
                    sources = sources.into_iter().map(|source| Source::Typed(self.source(source))).collect();
                    sources.iter().map(source_type).collect()
                } else {
                    Vec::new()
                };
                match self.scheme(callee, &types) {
                    Some(scheme) => self.call(&scheme, sources, span),
                    None => {
                        self.check_anyway(sources);
                        error(span)
                    }
                }
            }
        }
    }

    /// The value of an argument.
    pub(super) fn source(&mut self, source: Source<'_>) -> Expr {
        match source {
            Source::Ast(expr) => self.value(expr),
            Source::Typed(expr) => expr,
        }
    }

    /// Checks arguments of a call that has failed, but for functions, whose types are not known.
    fn check_anyway(&mut self, sources: Vec<Source<'_>>) {
        for source in sources {
            if let Source::Ast(expr) = &source
                && self.looks_like_function(expr)
            {
                continue;
            }
            self.source(source);
        }
    }

    fn looks_like_function(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Lambda(_) => true,
            ast::ExprKind::Name(name) => {
                !self.names.contains_key(name)
                    && (matches!(self.module.definitions.get(name).map(|found| found.def), Some(Def::Function(_)))
                        || prelude::scalar_function(name).is_some()
                        || prelude::builtin(name).is_some())
            }
            _ => false,
        }
    }

    /// The signature of a callee that is called with arguments of these types.
    pub(super) fn scheme(&mut self, callee: Callee<'_>, types: &[Type]) -> Option<Scheme> {
        match callee {
            Callee::Failed => None,
            Callee::Scheme(scheme) => Some(*scheme),
            Callee::Lambda(lambda, span) => {
                let n = lambda.params.len().min(types.len());
                let callable = self.lambda(lambda, &types[..n], span)?;
                let names = lambda.params.iter().map(|param| match &param.pattern.kind {
                    ast::PatternKind::Name { name, .. } => name.name.clone(),
                    _ => "_".to_owned(),
                });
                Some(callable_scheme("the lambda", callable, names.collect()))
            }
            callee @ (Callee::Scalar(_) | Callee::Builtin(..)) => {
                let n = match &callee {
                    Callee::Scalar(function) => function.operands.len().min(types.len()),
                    _ => types.len(),
                };
                let span = Span::default();
                let callable = self.eta(callee, &types[..n], span)?;
                let names = (0..n).map(|at| format!("{at}")).collect();
                Some(callable_scheme("the function", callable, names))
            }
            Callee::Derivative(derivative) => {
                let DerivativeCallee { form, selector, base, span } = *derivative;
                let base = self.scheme(base, types)?;
                self.derivative_scheme(form, selector, base, span)
            }
        }
    }

    /// The call of something with a signature.
    fn call(&mut self, scheme: &Scheme, sources: Vec<Source<'_>>, span: Span) -> Expr {
        if sources.len() != scheme.params.len() {
            self.report_argument_count(&scheme.name, scheme.params.len(), sources.len(), span, scheme.definition);
            self.check_anyway(sources);
            return error(span);
        }
        let wanted = scheme
            .params
            .iter()
            .map(|param| (param.ty.clone(), format!("the argument `{}` of `{}`", param.name, scheme.name)));
        let parts: Vec<(Type, String, Source<'_>)> =
            wanted.zip(sources).map(|((ty, subject), source)| (ty, subject, source)).collect();
        let mut instance = Instance::new(self, scheme, span);
        let Some(args) = self.arguments(&mut instance, parts, span) else { return error(span) };
        let Some(callable) = self.instantiate(scheme, &instance, span) else { return error(span) };
        let ty = callable.result.clone();
        if args.iter().any(|arg| matches!(arg, Arg::Value(value) if value.ty.has_error())) {
            return Expr { ty: if ty.has_error() { Type::Error } else { ty }, ..error(span) };
        }
        Expr { span, ty, kind: ExprKind::Call { callee: Box::new(callable), args } }
    }

    /// Checks arguments against parameter types that are closed over the generics of `instance`,
    /// finding these on the way.
    pub(super) fn arguments(
        &mut self,
        instance: &mut Instance,
        parts: Vec<(Type, String, Source<'_>)>,
        span: Span,
    ) -> Option<Vec<Arg>> {
        let mut pending: Vec<(Type, String, Result<Expr, Source<'_>>)> = Vec::new();
        for (at, (ty, subject, source)) in parts.into_iter().enumerate() {
            if matches!(ty, Type::Function(_)) {
                pending.push((ty, subject, Err(source)));
                continue;
            }
            let mut value = self.source(source);
            let param = LocalId(at as u32);
            if instance.uses_value(param) && !value.ty.has_error() {
                let size = match self.size_of(&value) {
                    Some(size) => size,
                    None => {
                        let (bound, size) = self.bound_value(value);
                        value = bound;
                        size
                    }
                };
                instance.set_value(param, size);
            }
            instance.learn(self, &ty, &value);
            pending.push((ty, subject, Ok(value)));
        }
        instance.settle();
        let mut args = Vec::new();
        let mut failed = false;
        for (ty, subject, part) in pending {
            match (part, ty) {
                (Ok(value), ty) => args.push((subject, ty, Arg::Value(value))),
                (Err(source), Type::Function(ty)) => match self.function_argument(instance, &ty, source, &subject) {
                    Some(callable) => args.push((subject, Type::Function(ty), Arg::Function(callable))),
                    None => failed = true,
                },
                (Err(source), _) => drop(self.source(source)),
            }
        }
        if failed {
            return None;
        }
        instance.settle();
        if instance.has_unknown() {
            if !self.report_ranks(&args) {
                instance.report_unknown(self, span);
            }
            return None;
        }
        let fitted = args.into_iter().map(|(subject, ty, arg)| match arg {
            Arg::Value(value) => {
                let wanted = instance.ty(&ty);
                Arg::Value(self.fit(value, &wanted, &subject))
            }
            function @ Arg::Function(_) => function,
        });
        Some(fitted.collect())
    }

    /// Reports arguments of another rank than their parameters; `false` if there are none.
    fn report_ranks(&mut self, args: &[(String, Type, Arg)]) -> bool {
        let mut is_reported = false;
        for (subject, wanted, arg) in args {
            let Arg::Value(value) = arg else { continue };
            let rank = wanted.dims().len();
            if value.ty.has_error() || value.ty.dims().len() == rank {
                continue;
            }
            let message = format!("expected {rank} dims for {subject}, found {}", self.show_value(value));
            let help = self.misfit_help(value, wanted, &Misfit::Rank);
            self.report(Diagnostic::error(codes::RANK_MISMATCH, value.span, message).help(help));
            is_reported = true;
        }
        is_reported
    }

    /// An argument for a parameter of function type.
    fn function_argument(
        &mut self,
        instance: &mut Instance,
        wanted: &FunctionType,
        source: Source<'_>,
        subject: &str,
    ) -> Option<Callable> {
        let params: Vec<Type> = wanted.params.iter().map(|param| instance.ty(param)).collect();
        let callable = match source {
            Source::Ast(expr) => self.function_arg(expr, &params)?,
            Source::Typed(expr) => {
                self.function_as_value(expr.span, "a function");
                return None;
            }
        };
        let result = Expr { span: callable.span, ty: callable.result.clone(), kind: ExprKind::Error };
        instance.learn(self, &wanted.result, &result);
        instance.settle();
        let wanted_result = instance.ty(&wanted.result);
        let fitted = self.fit(result, &wanted_result, &format!("the result of {subject}"));
        (!fitted.ty.has_error()).then_some(callable)
    }

    /// Something that can be called with arguments of these types, as an argument of another call:
    /// functions are wrapped in a lambda.
    pub(super) fn function_arg(&mut self, expr: &ast::Expr, params: &[Type]) -> Option<Callable> {
        let callee = match self.function_expr(expr) {
            Some(Callee::Failed) => return None,
            Some(callee) => callee,
            None => {
                let value = self.value(expr);
                if !value.ty.has_error() {
                    let message = format!("expected a function, found {}", self.show_value(&value));
                    self.report(
                        Diagnostic::error(codes::FUNCTION_EXPECTED, expr.span, message)
                            .help("write a lambda such as `|x| x + 1.0`, or the name of a function"),
                    );
                }
                return None;
            }
        };
        if params.iter().any(Type::has_error) {
            return None;
        }
        match callee {
            Callee::Lambda(lambda, span) => self.lambda(lambda, params, span),
            Callee::Scheme(scheme) if matches!(scheme.target, SchemeTarget::Callable(_)) => {
                let SchemeTarget::Callable(callable) = &scheme.target else { return None };
                self.fits_callable(callable, params, expr.span).then(|| callable.clone())
            }
            callee => self.eta(callee, params, expr.span),
        }
    }

    /// Whether a function parameter takes arguments of these types; reports if not.
    fn fits_callable(&mut self, callable: &Callable, params: &[Type], span: Span) -> bool {
        if callable.params.len() != params.len() {
            self.report_argument_count("the function", callable.params.len(), params.len(), span, None);
            return false;
        }
        let pairs: Vec<(Type, Type)> = params.iter().cloned().zip(callable.params.iter().cloned()).collect();
        pairs.into_iter().all(|(found, wanted)| {
            let value = Expr { span, ty: found, kind: ExprKind::Error };
            !self.fit(value, &wanted, "a parameter of the function").ty.has_error()
        })
    }

    /// `|a, b| f(a, b)`
    fn eta(&mut self, callee: Callee<'_>, params: &[Type], span: Span) -> Option<Callable> {
        let n_errors = self.module.diagnostics.len();
        let callable = self.in_lambda(params, span, |this, locals| {
            let args = locals
                .iter()
                .zip(params)
                .map(|(local, ty)| Source::Typed(Expr { span, ty: ty.clone(), kind: ExprKind::Local(*local) }));
            this.apply(callee, args.collect(), span)
        });
        (self.module.diagnostics.len() == n_errors || !callable.result.has_error()).then_some(callable)
    }

    /// The callable with what its generics stand for.
    fn instantiate(&mut self, scheme: &Scheme, instance: &Instance, span: Span) -> Option<Callable> {
        let first_open = self.sizes.len() as u32;
        for _ in 0..scheme.n_open_sizes {
            self.new_size(span);
        }
        let callable = self.instantiate_from(scheme, instance, first_open);
        if callable.result.has_error() && !scheme.result.has_error() {
            self.module.report_too_complex(span);
            return None;
        }
        Some(callable)
    }

    fn instantiate_from(&mut self, scheme: &Scheme, instance: &Instance, first_open: u32) -> Callable {
        let kind = match &scheme.target {
            SchemeTarget::Callable(callable) => return callable.clone(),
            SchemeTarget::Function(function) => {
                self.module.edges.push(CallEdge { caller: self.owner, callee: *function, span: scheme.span });
                CallableKind::Function { function: *function, generics: instance.args() }
            }
            SchemeTarget::Derivative { form, mode, wrt, base } => CallableKind::Derivative(Box::new(Derivative {
                span: scheme.span,
                form: *form,
                mode: *mode,
                base: self.instantiate_from(base, instance, first_open),
                wrt: wrt.clone(),
            })),
        };
        let params = scheme.params.iter().map(|param| instance.ty(&param.ty)).collect();
        let mut result = instance.ty(&scheme.result);
        if scheme.n_open_sizes > 0 {
            let open = open_sizes(&scheme.result, &instance.ty(&scheme.result), first_open, scheme.n_open_sizes);
            result = open;
        }
        Callable { span: scheme.span, params, result, kind }
    }

    pub(super) fn report_argument_count(
        &mut self,
        name: &str,
        expected: usize,
        found: usize,
        span: Span,
        definition: Option<Span>,
    ) {
        let plural = if expected == 1 { "" } else { "s" };
        let name = if name.contains(' ') { name.to_owned() } else { format!("`{name}`") };
        let message = format!("expected {expected} argument{plural} of {name}, found {found}");
        let mut diagnostic = Diagnostic::error(codes::ARGUMENT_COUNT, span, message);
        if let Some(definition) = definition {
            diagnostic = diagnostic.label(definition, "declared here");
        }
        let help =
            if found < expected { "give the arguments that are missing" } else { "leave the extra arguments out" };
        self.report(diagnostic.help(help));
    }

    /// A scalar function of the prelude, on scalars or element-wise.
    fn scalar_call(&mut self, function: &'static ScalarFunction, sources: Vec<Source<'_>>, span: Span) -> Expr {
        let name = function.name;
        if sources.len() != function.operands.len() {
            self.report_argument_count(name, function.operands.len(), sources.len(), span, None);
            self.check_anyway(sources);
            return error(span);
        }
        let mut args: Vec<Expr> = sources.into_iter().map(|source| self.source(source)).collect();
        if args.iter().any(|arg| arg.ty.has_error()) {
            return error(span);
        }
        let allowed = match function.domain {
            Domain::Float => Elems::float(),
            Domain::Numeric => Elems::numeric(),
            Domain::Any => Elems::any(),
        };
        let shared = self.vars.fresh(allowed, None);
        for (arg, operand) in args.iter().zip(function.operands) {
            let fits = arg.ty.scalar().is_some_and(|scalar| match operand {
                Operand::Same => self.vars.require(scalar, allowed) && self.vars.unify(scalar, shared),
                Operand::Integer => self.vars.require(scalar, Elems::integer()),
                Operand::Bool => self.vars.require(scalar, Elems::bool()),
            });
            if !fits {
                self.report_scalar_operand(function, *operand, arg, shared, allowed);
                return error(span);
            }
        }
        let shape = args.iter().map(|arg| (arg.ty.dims().to_vec(), arg.span)).find(|(dims, _)| !dims.is_empty());
        let (dims, shape_span) = shape.unwrap_or((Vec::new(), span));
        let mut fitted = Vec::new();
        for arg in args.drain(..) {
            if arg.ty.is_scalar() {
                fitted.push(arg);
                continue;
            }
            let wanted = Type::tensor(arg.ty.elem().clone(), dims.clone());
            let origin = Some((shape_span, "this argument has another shape"));
            fitted.push(self.fit_as(arg, &wanted, &format!("an argument of `{name}`"), Strictness::Exact, origin));
        }
        if fitted.iter().any(|arg| arg.ty.has_error()) {
            return error(span);
        }
        let scalar = if function.is_predicate { Scalar::Of(Elem::Bool) } else { shared };
        Expr { span, ty: Type::tensor(Type::Scalar(scalar), dims), kind: ExprKind::Primitive { name, args: fitted } }
    }

    fn report_scalar_operand(
        &mut self,
        function: &ScalarFunction,
        operand: Operand,
        arg: &Expr,
        shared: Scalar,
        allowed: Elems,
    ) {
        let found = self.show_value(arg);
        let is_other_type =
            operand == Operand::Same && arg.ty.scalar().is_some_and(|scalar| self.vars.is_within(scalar, allowed));
        let wanted = match operand {
            Operand::Same if is_other_type => format!("`{}`, as the other arguments are", self.show_scalar(shared)),
            Operand::Same if allowed == Elems::float() => "a float".to_owned(),
            Operand::Same => "a number".to_owned(),
            Operand::Integer => "an integer".to_owned(),
            Operand::Bool => "`bool`".to_owned(),
        };
        let help = match (operand, arg.ty.scalar()) {
            (Operand::Same, Some(scalar)) => {
                let target = if is_other_type { shared } else { self.vars.float_literal() };
                self.scalar_help(arg, scalar, target)
            }
            (Operand::Integer, Some(_)) => "write an integer such as `2`, or call `pow`".to_owned(),
            (Operand::Bool, Some(_)) => "compare, as in `x > 0.0`".to_owned(),
            (_, None) => format!("`{}` works on scalars and tensors of scalars", function.name),
        };
        let message = format!("expected {wanted} for an argument of `{}`, found {found}", function.name);
        self.report(Diagnostic::error(codes::ARGUMENT_TYPE, arg.span, message).help(help));
    }

    /// `x |> f(y) |> g`: each value is bound, so that long pipes stay flat.
    pub(super) fn pipe(&mut self, pipe: &ast::Pipe, span: Span) -> Expr {
        let mut value = self.value(&pipe.first);
        let mut statements = Vec::new();
        for stage in &pipe.stages {
            let local = self.bind("", value.span, value.ty.clone(), false);
            self.locals[local.0 as usize].name = "$pipe".to_owned();
            self.local_facts[local.0 as usize].known = self.size_of(&value);
            let (ty, value_span) = (value.ty.clone(), value.span);
            let pattern = Pattern { span: value_span, ty: ty.clone(), kind: PatternKind::Local(local) };
            statements.push(Stmt { span: value_span, kind: StmtKind::Let { pattern, value } });
            let piped = Source::Typed(Expr { span: value_span, ty, kind: ExprKind::Local(local) });
            let whole = span.to(stage.function.span);
            value = self.pipe_stage(&stage.function, piped, whole);
            self.node_types.push((stage.id, value.ty.clone()));
        }
        let ty = value.ty.clone();
        Expr { span, ty, kind: ExprKind::Block(Box::new(Block { statements, value: Some(value) })) }
    }

    fn pipe_stage(&mut self, function: &ast::Expr, piped: Source<'_>, span: Span) -> Expr {
        if let ast::ExprKind::Postfix(postfix) = &function.kind
            && let Some((PostfixOp { kind: PostfixKind::Call(args), .. }, before)) = postfix.ops.split_last()
            && !self.is_derivative_form(&postfix.base, before)
            && let Some((callee, used)) = self.callee(&postfix.base, &postfix.ops)
        {
            if used == before.len() {
                let mut sources = vec![piped];
                sources.extend(self.sources(args));
                return self.apply(callee, sources, span);
            }
        } else if let Some(callee) = self.function_expr(function) {
            return self.apply(callee, vec![piped], span);
        }
        let message = "expected a function after `|>`, found a value";
        self.report(
            Diagnostic::error(codes::NOT_CALLABLE, function.span, message)
                .help("write the name of a function, a call that lacks its first argument, or a lambda in parentheses"),
        );
        error(span)
    }

    /// Whether the last call of `base before (..)` takes the function of `grad[w](f)`.
    fn is_derivative_form(&self, base: &ast::Expr, before: &[PostfixOp]) -> bool {
        let ast::ExprKind::Name(name) = &base.kind else { return false };
        DerivativeForm::from_name(name).is_some()
            && !self.names.contains_key(name)
            && !self.module.definitions.contains_key(name)
            && before.iter().all(|op| matches!(op.kind, PostfixKind::Index(_)))
    }
}

fn source_type(source: &Source<'_>) -> Type {
    match source {
        Source::Ast(_) => Type::Error,
        Source::Typed(expr) => expr.ty.clone(),
    }
}

/// The signature of a parameter of function type.
fn param_scheme(name: &str, span: Span, local: LocalId, ty: FunctionType) -> Scheme {
    let callable =
        Callable { span, params: ty.params.clone(), result: ty.result.clone(), kind: CallableKind::Param(local) };
    let names = (0..ty.params.len()).map(|at| at.to_string()).collect();
    Scheme { name: name.to_owned(), ..callable_scheme(name, callable, names) }
}

/// The signature of something without generics.
fn callable_scheme(name: &str, callable: Callable, names: Vec<String>) -> Scheme {
    let params = callable.params.iter().zip(names);
    Scheme {
        name: name.to_owned(),
        span: callable.span,
        generics: Vec::new(),
        given: Vec::new(),
        params: params.map(|(ty, name)| SchemeParam { name, ty: ty.clone(), nodiff: false }).collect(),
        result: callable.result.clone(),
        n_open_sizes: 0,
        definition: None,
        target: SchemeTarget::Callable(callable),
    }
}

/// The result type with the sizes that the declaration leaves open replaced by those of the call.
fn open_sizes(declared: &Type, instantiated: &Type, first_open: u32, n_open: u32) -> Type {
    let mut is_open = Vec::new();
    declared.clone().each_dim_mut(&mut |dim| {
        is_open.push(match dim.as_atom() {
            Some(Atom::Runtime(size)) if size.0 < n_open => Some(size.0),
            _ => None,
        });
    });
    let mut result = instantiated.clone();
    let mut next = is_open.into_iter();
    result.each_dim_mut(&mut |dim| {
        if let Some(Some(open)) = next.next() {
            *dim = Dim::atom(Atom::Runtime(typed::SizeId(first_open + open)));
        }
    });
    result
}
