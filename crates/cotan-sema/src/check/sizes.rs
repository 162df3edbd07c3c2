//! Sizes that expressions stand for, and sizes that only exist at run time.

use cotan_ir::Elem;
use cotan_syntax::{Diagnostic, Span, ast};

use super::infer::Infer;
use super::locals::Locals;
use super::type_scope::{Holes, TypeScope};
use super::{BodyChecker, ModuleChecker};
use crate::dims::{Atom, Dim};
use crate::show::Names;
use crate::typed::{BinaryOp, Block, Expr, ExprKind, Literal, Local, LocalId, Pattern, PatternKind, Stmt, StmtKind};
use crate::types::{EnumType, GenericArg, Scalar, StructType, Type};

impl BodyChecker<'_, '_> {
    /// The size that an integer expression stands for, if it is made of literals, sizes and
    /// immutable variables.
    pub(super) fn size_of(&self, expr: &Expr) -> Option<Dim> {
        if let ExprKind::Literal(Literal::Int(value)) = expr.kind {
            return i64::try_from(value).ok().map(Dim::constant);
        }
        if let ExprKind::Size(id) = expr.kind {
            return Some(Dim::atom(Atom::Size(id)));
        }
        if !self.is_i64(&expr.ty) {
            return None;
        }
        if let ExprKind::Local(local) = expr.kind {
            return size_of_local(self, local);
        }
        let ExprKind::Chain(chain) = &expr.kind else { return None };
        let mut sum = self.size_of(&chain.first)?;
        for link in &chain.rest {
            let operand = self.size_of(&link.operand)?;
            sum = match link.op {
                BinaryOp::Add => sum.plus(&operand)?,
                BinaryOp::Sub => sum.minus(&operand)?,
                BinaryOp::Mul => sum.times(&operand)?,
                // Division truncates, sizes round down: one thing where nothing is negative.
                BinaryOp::Div if sum.is_surely_non_negative() && operand.is_surely_non_negative() => {
                    sum.floor_div(&operand)?
                }
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Pow
                | BinaryOp::PowInt
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::MatMul => return None,
            };
        }
        Some(sum)
    }

    /// Whether a type is i64, or will be unless something else decides it.
    pub(super) fn is_i64(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(scalar) => match self.infer.vars.resolve(*scalar) {
                Scalar::Of(elem) => elem == Elem::I64,
                open @ Scalar::Var(_) => self.infer.vars.default_of(open) == Some(Elem::I64),
                Scalar::Param(_) => false,
            },
            Type::Error
            | Type::Never
            | Type::Tensor { .. }
            | Type::Tuple(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Function(_)
            | Type::Param(_) => false,
        }
    }

    /// The type that is written; `_` in it is taken from the type that is `found` there.
    pub(super) fn written_type(&mut self, ty: &ast::TypeExpr, found: Option<&Type>) -> Type {
        let first_hole = self.infer.sizes.len();
        let mut written = in_type_scope(self, ty.span, &names_in(ty), |module, scope| module.value_type(ty, scope));
        written = self.module.without_enum_elements(written, ty.span);
        let has_holes = self.infer.sizes.len() > first_hole;
        if let Some(found) = found {
            fill_holes(&mut written, found, first_hole);
            if has_holes {
                self.infer.sizes.leave_open(found);
            }
        }
        written
    }

    /// A type as text.
    pub(super) fn show(&self, ty: &Type) -> String {
        self.with_names(|names| names.ty(ty))
    }

    /// A value as a message names it: a variable with its type, anything else by its type alone.
    pub(super) fn show_value(&self, value: &Expr) -> String {
        let ty = self.show(&value.ty);
        // What the checker binds itself has a name that no source has.
        if let ExprKind::Local(local) = value.kind
            && let name = &self.locals.get(local).name
            && !name.starts_with('$')
        {
            return format!("`{name}: {ty}`");
        }
        format!("`{ty}`")
    }

    /// A scalar type as text.
    pub(super) fn show_scalar(&self, scalar: Scalar) -> String {
        self.with_names(|names| names.scalar(scalar))
    }

    /// A size as text.
    pub(super) fn show_dim(&self, dim: &Dim) -> String {
        self.with_names(|names| names.dim(dim))
    }

    fn with_names(&self, show: impl FnOnce(&Names<'_>) -> String) -> String {
        let module: &ModuleChecker<'_> = self.module;
        let structs = |at: u32| module.struct_name(at);
        let enums = |at: u32| module.enum_name(at);
        let local =
            |at: u32| self.locals.all.get(at as usize).map_or_else(|| "?".to_owned(), |local| local.name.clone());
        let (generics, vars) = (&self.generics, &self.infer.vars);
        show(&Names { generics, structs: &structs, enums: &enums, locals: &local, vars })
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.module.report(diagnostic);
    }
}

/// The value of an immutable variable as a size.
fn size_of_local(checker: &BodyChecker<'_, '_>, local: LocalId) -> Option<Dim> {
    let Local { mutable, ty, .. } = checker.locals.get(local);
    if *mutable {
        return None;
    }
    if let Some(known) = checker.locals.known(local) {
        return Some(known.clone());
    }
    // A literal that defaults to i64 may yet turn out to be something else.
    if checker.infer.vars.resolve_type(ty) != Type::of(Elem::I64) {
        return None;
    }
    let atom = Dim::atom(Atom::Value(local));
    let is_param = (local.0 as usize) < checker.n_params;
    Some(if is_param { atom } else { atom.at_run_time() })
}

/// The value bound to a local of its own, so that sizes may be made of it.
pub(super) fn bound_value(locals: &mut Locals, value: Expr) -> (Expr, Dim) {
    let (span, ty) = (value.span, value.ty.clone());
    let local = locals.push("$n", span, ty.clone(), false);
    let pattern = Pattern { span, ty: ty.clone(), kind: PatternKind::Local(local) };
    let statements = vec![Stmt { span, kind: StmtKind::Let { pattern, value } }];
    let value = Some(Expr { span, ty: ty.clone(), kind: ExprKind::Local(local) });
    let block =
        Expr { span, ty, kind: ExprKind::Block(Box::new(Block { statements, value, recompute: false, mode: None })) };
    (block, Dim::atom(Atom::Value(local)).at_run_time())
}

/// The extent that a count gives: what it stands for, or a run-time size.
pub(super) fn extent(checker: &mut BodyChecker<'_, '_>, count: &Expr) -> Dim {
    match checker.size_of(count) {
        Some(dim) => dim.at_run_time(),
        None => checker.infer.sizes.fresh(count.span),
    }
}

/// Resolves something written at `span` that types stand in; `mentioned` are the names in its sizes. Every `_` in it
/// becomes a run-time size.
pub(super) fn in_type_scope<T>(
    checker: &mut BodyChecker<'_, '_>,
    span: Span,
    mentioned: &[String],
    resolve: impl FnOnce(&mut ModuleChecker<'_>, &mut TypeScope<'_>) -> T,
) -> T {
    let this = &*checker;
    let values = |name: &str| {
        let local = this.locals.named(name)?;
        (this.locals.get(local).ty == Type::of(Elem::I64)).then(|| size_of_local(this, local)).flatten()
    };
    let known: Vec<(String, Dim)> = mentioned.iter().filter_map(|name| Some((name.clone(), values(name)?))).collect();
    let values = |name: &str| known.iter().find(|(other, _)| other == name).map(|(_, dim)| dim.clone());
    let first_hole = checker.infer.sizes.len();
    let scope = TypeScope::with_values(checker.generics.clone(), &values, Holes::Sizes, checker.self_type.clone());
    let mut scope = TypeScope { next_size: first_hole, ..scope };
    let resolved = resolve(checker.module, &mut scope);
    let n_holes = scope.next_size - first_hole;
    for _ in 0..n_holes {
        checker.infer.sizes.fresh(span);
    }
    resolved
}

/// The names that stand in the sizes of a written type.
fn names_in(ty: &ast::TypeExpr) -> Vec<String> {
    let mut names = Vec::new();
    let mut types = vec![ty];
    let mut exprs: Vec<&ast::Expr> = Vec::new();
    while let Some(ty) = types.pop() {
        match &ty.kind {
            ast::TypeKind::Path(_) | ast::TypeKind::Error => {}
            ast::TypeKind::Apply { base, args, .. } => {
                types.push(base);
                exprs.extend(args.iter().map(|arg| &arg.value));
            }
            ast::TypeKind::Tuple(parts) => types.extend(parts),
            ast::TypeKind::Function { params, result } => {
                types.extend(params);
                types.push(result);
            }
        }
    }
    exprs.into_iter().for_each(|expr| names.extend(names_in_expr(expr)));
    names
}

/// The names that stand in a size, or in a type that is written as an expression.
pub(super) fn names_in_expr(expr: &ast::Expr) -> Vec<String> {
    let mut names = Vec::new();
    let mut exprs = vec![expr];
    while let Some(expr) = exprs.pop() {
        if let ast::ExprKind::Name(name) = &expr.kind {
            names.push(name.clone());
        } else if let ast::ExprKind::Unary { operand, .. } = &expr.kind {
            exprs.push(operand);
        } else if let ast::ExprKind::Binary(chain) = &expr.kind {
            exprs.push(&chain.first);
            exprs.extend(chain.rest.iter().map(|link| &link.operand));
        } else if let ast::ExprKind::Array(parts) | ast::ExprKind::Tuple(parts) = &expr.kind {
            exprs.extend(parts);
        } else if let ast::ExprKind::Postfix(postfix) = &expr.kind {
            exprs.push(&postfix.base);
            for op in &postfix.ops {
                if let ast::PostfixKind::Index(args) = &op.kind {
                    exprs.extend(args.iter().map(|arg| &arg.value));
                }
            }
        }
    }
    names
}

/// Puts the sizes of `found` where `written` has a hole.
fn fill_holes(written: &mut Type, found: &Type, first_hole: u32) {
    let is_hole = |dim: &Dim| matches!(dim.as_atom(), Some(Atom::Runtime(size)) if size.0 >= first_hole);
    match (written, found) {
        (Type::Tensor { elem, dims }, Type::Tensor { elem: found_elem, dims: found_dims }) => {
            fill_holes(elem, found_elem, first_hole);
            for (dim, found) in dims.iter_mut().zip(found_dims) {
                if is_hole(dim) && found.as_pack().is_none() {
                    *dim = found.clone();
                }
            }
        }
        (Type::Tuple(parts), Type::Tuple(found)) => {
            for (part, found) in parts.iter_mut().zip(found) {
                fill_holes(part, found, first_hole);
            }
        }
        (Type::Struct(StructType { args, .. }), Type::Struct(StructType { args: found, .. }))
        | (Type::Enum(EnumType { args, .. }), Type::Enum(EnumType { args: found, .. })) => {
            for (arg, found) in args.iter_mut().zip(found) {
                if let GenericArg::Size(dim) = arg
                    && is_hole(dim)
                {
                    *arg = found.clone();
                }
            }
        }
        _ => {}
    }
}

/// A declared result whose `_` are the sizes that were found.
pub(super) fn without_holes(infer: &mut Infer, declared: &Type, found: &Type, n_open: u32) -> Type {
    if n_open > 0 {
        infer.sizes.leave_open(found);
    }
    let mut found_dims = Vec::new();
    found.clone().each_dim_mut(&mut |dim| found_dims.push(dim.clone()));
    let mut wanted = declared.clone();
    let mut at = 0;
    wanted.each_dim_mut(&mut |dim| {
        let is_open = matches!(dim.as_atom(), Some(crate::dims::Atom::Runtime(size)) if size.0 < n_open);
        if let (true, Some(found)) = (is_open, found_dims.get(at)) {
            *dim = found.clone();
        }
        at += 1;
    });
    wanted
}
