//! Expressions: the kinds that are no operators, calls or control flow.

use cotan_ir::Elem;
use cotan_syntax::ast::{self, Arg, Ident, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::calls::{Callee, Source};
use super::{BodyChecker, Def, FnId, Frame, LocalFacts, ModuleChecker};
use crate::codes;
use crate::prelude;
use crate::suggest::closest;
use crate::typed::{Builtin, Expr, ExprKind, FieldValue, GenericKind, Literal, Local, LocalId, Range};
use crate::types::{GenericArg, Scalar, StructId, StructType, Type};
use crate::unify::{Elems, ScalarVars};

impl<'m, 'a> BodyChecker<'m, 'a> {
    pub(super) fn new(module: &'m mut ModuleChecker<'a>, owner: FnId) -> Self {
        let generics = module.signature(owner).generics.clone();
        let bounds = generics.iter().map(|generic| match generic.kind {
            GenericKind::Scalar(bound) => Some(bound),
            GenericKind::Size => None,
        });
        let vars = ScalarVars::new(bounds.collect());
        Self {
            module,
            owner,
            generics,
            vars,
            locals: Vec::new(),
            local_facts: Vec::new(),
            sizes: Vec::new(),
            names: std::collections::BTreeMap::new(),
            scopes: vec![Vec::new()],
            frames: vec![Frame::default()],
            node_types: Vec::new(),
            undecided: Vec::new(),
            depth: 0,
        }
    }

    /// Checks an expression. Nesting beyond the limit is reported and cut off.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        if self.depth >= self.module.limits.nesting {
            return self.too_deep(expr.span);
        }
        self.depth += 1;
        let kind = self.expr_kind(expr);
        self.depth -= 1;
        self.node_types.push((expr.id, kind.ty.clone()));
        kind
    }

    fn too_deep(&mut self, span: Span) -> Expr {
        let message = format!("expected at most {} nested steps, found more", self.module.limits.nesting);
        self.report(Diagnostic::error(codes::TOO_DEEP, span, message).help("bind parts of the expression with `let`"));
        error(span)
    }

    fn expr_kind(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Error => error(span),
            ast::ExprKind::Literal(literal) => self.literal(literal, false, span),
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Hole => {
                self.report(
                    Diagnostic::error(codes::OPEN_SIZE, span, "expected a value, found `_`")
                        .help("`_` leaves a size open in a type; here a value is needed"),
                );
                error(span)
            }
            ast::ExprKind::Tuple(parts) => {
                let parts: Vec<Expr> = parts.iter().map(|part| self.value(part)).collect();
                let ty = Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
                Expr { span, ty, kind: ExprKind::Tuple(parts) }
            }
            ast::ExprKind::Array(parts) => self.array(parts, span),
            ast::ExprKind::Struct(literal) => self.struct_literal(literal, span),
            ast::ExprKind::Unary { op, op_span, operand } => self.unary(*op, *op_span, operand, span),
            ast::ExprKind::Binary(chain) => self.chain(chain, span),
            ast::ExprKind::Pipe(pipe) => self.pipe(pipe, span),
            ast::ExprKind::Range(range) => self.range_value(range, span),
            ast::ExprKind::Fold(fold) => self.fold(fold, span),
            ast::ExprKind::FoldBy(fold) => self.fold_by_lambda(fold, span),
            ast::ExprKind::Postfix(postfix) => self.postfix(postfix, span),
            ast::ExprKind::Ascription { operand, ty } => self.ascription(operand, ty),
            ast::ExprKind::Lambda(_) => self.function_as_value(span, "a lambda"),
            ast::ExprKind::LetIn(it) => self.let_in(it, span),
            ast::ExprKind::If(it) => self.if_expr(it, span),
            ast::ExprKind::Match(it) => {
                self.expr(&it.scrutinee);
                self.module.report_later(span, "`match`", "write `if` and `else if`");
                error(span)
            }
            ast::ExprKind::Block(block) => self.block(block),
            ast::ExprKind::For(it) => self.for_loop(it, span),
            ast::ExprKind::While(it) => self.while_loop(it, span),
            ast::ExprKind::Break => self.jump(ExprKind::Break, "break", span),
            ast::ExprKind::Continue => self.jump(ExprKind::Continue, "continue", span),
            ast::ExprKind::Return(value) => self.return_expr(value.as_deref(), span),
        }
    }

    /// An expression whose value is used: one that never ends is as good as any.
    pub(super) fn value(&mut self, expr: &ast::Expr) -> Expr {
        self.expr(expr)
    }

    /// A literal, with the minus sign that stands before it.
    pub(super) fn literal(&mut self, literal: &ast::Literal, negative: bool, span: Span) -> Expr {
        let (scalar, kind) = match literal {
            ast::Literal::Int { value, suffix } => {
                let value = if negative { -i128::from(*value) } else { i128::from(*value) };
                let Some(scalar) = self.literal_type(*suffix, span, true) else { return error(span) };
                (scalar, Literal::Int(value))
            }
            ast::Literal::Float { digits, suffix } => {
                let Some(scalar) = self.literal_type(*suffix, span, false) else { return error(span) };
                (scalar, Literal::Float(if negative { format!("-{digits}") } else { digits.clone() }))
            }
            ast::Literal::Bool(value) => (Scalar::Of(Elem::Bool), Literal::Bool(*value)),
            ast::Literal::Char(value) => (Scalar::Of(Elem::I32), Literal::Int(i128::from(u32::from(*value)))),
            ast::Literal::Str(_) => {
                self.module.report_later(span, "a string", "use numbers: `cotan run` prints the result");
                return error(span);
            }
        };
        Expr { span, ty: Type::Scalar(scalar), kind: ExprKind::Literal(kind) }
    }

    fn literal_type(&mut self, suffix: Option<ast::Suffix>, span: Span, is_integer: bool) -> Option<Scalar> {
        let Some(suffix) = suffix else {
            return Some(if is_integer { self.vars.integer_literal() } else { self.vars.float_literal() });
        };
        let elem = Elem::from_name(suffix.as_str());
        if elem.is_none() {
            self.module.report_later(span, &format!("the storage type `{}`", suffix.as_str()), "use `f32`");
        }
        elem.map(Scalar::Of)
    }

    /// The local that a name stands for, recorded as a use and as a capture.
    pub(super) fn lookup_local(&mut self, name: &str, span: Span) -> Option<LocalId> {
        let local = *self.names.get(name)?.last()?;
        let definition = self.locals[local.0 as usize].span;
        self.module.note_use(span, definition);
        for frame in self.frames.iter_mut().rev() {
            if local.0 >= frame.first_local {
                break;
            }
            frame.captures.insert(local);
        }
        Some(local)
    }

    fn name(&mut self, name: &str, span: Span) -> Expr {
        if let Some(local) = self.lookup_local(name, span) {
            let ty = self.locals[local.0 as usize].ty.clone();
            if matches!(ty, Type::Function(_)) {
                return self.function_as_value(span, &format!("the function `{name}`"));
            }
            return Expr { span, ty, kind: ExprKind::Local(local) };
        }
        if let Some(at) = self.generics.iter().position(|generic| generic.name == name) {
            return match self.generics[at].kind {
                GenericKind::Size => {
                    Expr { span, ty: Type::of(Elem::I64), kind: ExprKind::Size(crate::dims::GenericId(at as u32)) }
                }
                GenericKind::Scalar(_) => self.not_a_value(name, "an element type", span, "write `x as T` to convert"),
            };
        }
        if let Some(definition) = self.module.definitions.get(name).copied() {
            self.module.note_use(span, definition.span);
            return match definition.def {
                Def::Function(_) => self.function_as_value(span, &format!("the function `{name}`")),
                Def::Gradients(_) => {
                    self.not_a_value(name, "a set of gradients", span, "name one and call it, as in `dloss.w(x)`")
                }
                Def::Struct(_) | Def::Alias(_) => {
                    self.not_a_value(name, "a type", span, "make a value of it with `{ ... }` after the name")
                }
                Def::Unusable => error(span),
            };
        }
        if let Some(constant) = prelude::constant(name) {
            let scalar = self.vars.float_literal();
            return Expr { span, ty: Type::Scalar(scalar), kind: ExprKind::Literal(Literal::Constant(constant)) };
        }
        if prelude::scalar_function(name).is_some() || prelude::builtin(name).is_some() {
            return self.function_as_value(span, &format!("the function `{name}`"));
        }
        self.unknown_name(name, span)
    }

    /// Reports a name that stands for nothing.
    pub(super) fn unknown_name(&mut self, name: &str, span: Span) -> Expr {
        if name.is_empty() {
            return error(span);
        }
        if let Some(instead) = prelude::later(name) {
            self.module.report_later(span, &format!("the function `{name}`"), instead);
            return error(span);
        }
        let help = {
            let locals = self.names.iter().filter(|(_, ids)| !ids.is_empty()).map(|(name, _)| name.as_str());
            let items = self.module.definitions.keys().map(String::as_str);
            let generics = self.generics.iter().map(|generic| generic.name.as_str());
            let known = locals.chain(generics).chain(items).chain(prelude::names());
            match (foreign_name(name), closest(name, known)) {
                (Some(help), _) => help.to_owned(),
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => format!("bind it with `let {name} = ...`, or make it a parameter"),
            }
        };
        self.report(Diagnostic::error(codes::UNKNOWN_NAME, span, format!("expected a name that is declared, found `{name}`")).help(help));
        error(span)
    }

    fn not_a_value(&mut self, name: &str, found: &str, span: Span, help: &str) -> Expr {
        let message = format!("expected a value, found {found}, `{name}`");
        self.report(Diagnostic::error(codes::NOT_A_VALUE, span, message).help(help));
        error(span)
    }

    /// Reports a function where a value is needed.
    pub(super) fn function_as_value(&mut self, span: Span, what: &str) -> Expr {
        let message = format!("expected a value, found {what}");
        self.report(
            Diagnostic::error(codes::FUNCTION_AS_VALUE, span, message)
                .help("functions are no values: call it, or pass it on as an argument, as in `map(f, v)`"),
        );
        error(span)
    }

    fn array(&mut self, parts: &[ast::Expr], span: Span) -> Expr {
        let mut values: Vec<Expr> = parts.iter().map(|part| self.value(part)).collect();
        let Some(first) = values.first() else {
            self.report(
                Diagnostic::error(codes::EMPTY_ARRAY, span, "expected at least one element, found `[]`")
                    .help("an empty tensor needs a type: write `zeros[f64](0)`"),
            );
            return error(span);
        };
        let elem = first.ty.clone();
        let first_span = first.span;
        let rest = values.split_off(1);
        for value in rest {
            let origin = Some((first_span, "the first element decides the type"));
            let value = self.fit_as(value, &elem, "an element of the array", super::fit::Strictness::Exact, origin);
            values.push(value);
        }
        let ty = elem.stacked(&[crate::dims::Dim::constant(values.len() as i64)]);
        Expr { span, ty, kind: ExprKind::Array(values) }
    }

    fn ascription(&mut self, operand: &ast::Expr, ty: &ast::TypeExpr) -> Expr {
        let value = self.value(operand);
        let wanted = self.written_type(ty, Some(&value.ty));
        let origin = Some((ty.span, "this type is asked for"));
        self.fit_as(value, &wanted, "", super::fit::Strictness::Ascribed, origin)
    }

    fn struct_literal(&mut self, literal: &ast::StructLiteral, span: Span) -> Expr {
        let Some(id) = self.struct_named(&literal.path) else {
            literal.fields.iter().for_each(|field| drop(self.value(&field.value)));
            if let Some(base) = &literal.base {
                self.value(base);
            }
            return error(span);
        };
        let def = self.module.structs[id.0 as usize].clone();
        let mut given: Vec<Option<&ast::FieldInit>> = vec![None; def.fields.len()];
        let mut order = Vec::new();
        for field in &literal.fields {
            let Some(at) = def.fields.iter().position(|other| other.name == field.name.name) else {
                self.value(&field.value);
                let names = def.fields.iter().map(|field| field.name.as_str());
                self.report_unknown_field(&field.name, &format!("the struct `{}`", def.name), names.collect());
                continue;
            };
            if given[at].is_some() {
                self.module.report_twice(&field.name, "field");
                self.value(&field.value);
                continue;
            }
            self.module.note_use(field.name.span, def.fields[at].span);
            given[at] = Some(field);
            order.push(at);
        }
        let base = literal.base.as_ref().map(|base| self.value(base));
        if base.is_none() {
            self.report_missing_fields(&def, &given, span);
        }
        let sources = order.iter().filter_map(|at| {
            let field = given[*at]?;
            Some((def.fields[*at].ty.clone(), def.fields[*at].name.clone(), Source::Ast(&field.value)))
        });
        let sources: Vec<(Type, String, Source<'_>)> = sources.collect();
        let base_type = base.as_ref().map(|base| base.ty.clone());
        let own = |args| Type::Struct(StructType { def: id, args, tangent: false });
        let Some((args, values)) = self.fields_of_literal(&def, &literal.generics, sources, base_type.as_ref(), span)
        else {
            return error(span);
        };
        let ty = own(args);
        let fields: Vec<FieldValue> =
            order.iter().zip(values).map(|(index, value)| FieldValue { index: *index, value }).collect();
        let kind = match base {
            Some(base) => {
                let base = Box::new(self.fit(base, &ty, &format!("the base of `{}`", def.name)));
                ExprKind::StructUpdate { fields, base }
            }
            None => ExprKind::Struct(fields),
        };
        Expr { span, ty, kind }
    }

    fn struct_named(&mut self, path: &ast::Path) -> Option<StructId> {
        let [ident] = path.segments.as_slice() else {
            self.module.report_later(path.span, "a name with dots before `{`", "use a struct of this file");
            return None;
        };
        match self.module.definitions.get(&ident.name).copied() {
            Some(definition) => {
                self.module.note_use(ident.span, definition.span);
                match definition.def {
                    Def::Struct(id) => Some(id),
                    Def::Unusable => None,
                    Def::Alias(at) => match self.module.resolve_alias(at, ident.span).1 {
                        Type::Struct(of) => Some(of.def),
                        _ => self.report_no_struct(ident),
                    },
                    Def::Function(_) | Def::Gradients(_) => self.report_no_struct(ident),
                }
            }
            None => self.report_no_struct(ident),
        }
    }

    fn report_no_struct(&mut self, ident: &Ident) -> Option<StructId> {
        if !ident.name.is_empty() {
            let names = self.module.structs.iter().map(|def| def.name.as_str());
            let help = match closest(&ident.name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it: `struct {} {{ ... }}`", ident.name),
            };
            let message = format!("expected the name of a struct, found `{}`", ident.name);
            self.report(Diagnostic::error(codes::UNKNOWN_TYPE, ident.span, message).help(help));
        }
        None
    }

    fn report_missing_fields(&mut self, def: &crate::typed::Struct, given: &[Option<&ast::FieldInit>], span: Span) {
        let missing: Vec<String> = def
            .fields
            .iter()
            .zip(given)
            .filter(|(_, given)| given.is_none())
            .map(|(field, _)| format!("`{}`", field.name))
            .collect();
        if !missing.is_empty() {
            let message = format!("expected a value for every field of `{}`, found none for {}", def.name, missing.join(", "));
            self.report(
                Diagnostic::error(codes::MISSING_FIELDS, span, message)
                    .label(def.name_span, "declared here")
                    .help("give the missing fields, or take them from another value with `..value`"),
            );
        }
    }

    fn report_unknown_field(&mut self, name: &Ident, owner: &str, fields: Vec<&str>) {
        if name.name.is_empty() {
            return;
        }
        let help = match closest(&name.name, fields.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if fields.is_empty() => "it has no fields".to_owned(),
            None => format!("its fields are `{}`", fields.join("`, `")),
        };
        let message = format!("expected a field of {owner}, found `{}`", name.name);
        self.report(Diagnostic::error(codes::UNKNOWN_FIELD, name.span, message).help(help));
    }

    /// A value followed by calls, indices, fields and casts.
    fn postfix(&mut self, postfix: &ast::Postfix, span: Span) -> Expr {
        if self.depth + postfix.ops.len() >= self.module.limits.nesting {
            return self.too_deep(span);
        }
        self.depth += postfix.ops.len();
        let value = self.postfix_steps(postfix);
        self.depth -= postfix.ops.len();
        value
    }

    fn postfix_steps(&mut self, postfix: &ast::Postfix) -> Expr {
        let ops = &postfix.ops;
        let (mut value, mut at) = match self.callee(&postfix.base, ops) {
            Some((callee, used)) => match ops.get(used) {
                Some(PostfixOp { id, kind: PostfixKind::Call(args), span }) => {
                    let whole = postfix.base.span.to(*span);
                    let value = self.call_with_args(callee, args, whole);
                    self.node_types.push((*id, value.ty.clone()));
                    (value, used + 1)
                }
                _ if matches!(callee, Callee::Failed) => (error(postfix.base.span), ops.len()),
                _ => {
                    let span = ops.get(used.saturating_sub(1)).map_or(postfix.base.span, |op| op.span);
                    (self.function_as_value(postfix.base.span.to(span), "a function"), ops.len())
                }
            },
            None => match self.reversed_range(&postfix.base, ops) {
                Some(value) => (value, 2),
                None => (self.value(&postfix.base), 0),
            },
        };
        while let Some(op) = ops.get(at) {
            let whole = postfix.base.span.to(op.span);
            value = match &op.kind {
                PostfixKind::Field(name) if matches!(ops.get(at + 1), Some(next) if matches!(next.kind, PostfixKind::Call(_))) =>
                {
                    at += 1;
                    self.method(value, name, whole)
                }
                PostfixKind::Call(args) => self.call_of_value(value, args, op.span),
                PostfixKind::Index(args) => self.index(value, args, whole),
                PostfixKind::Field(name) => self.field(value, name, whole),
                PostfixKind::TupleField { index, span } => self.tuple_field(value, *index, *span, whole),
                PostfixKind::Cast(ty) => self.cast(value, ty, whole),
            };
            self.node_types.push((op.id, value.ty.clone()));
            at += 1;
        }
        value
    }

    fn reversed_range(&mut self, base: &ast::Expr, ops: &[PostfixOp]) -> Option<Expr> {
        let ast::ExprKind::Range(range) = &base.kind else { return None };
        let [
            PostfixOp { kind: PostfixKind::Field(name), .. },
            PostfixOp { kind: PostfixKind::Call(args), span, .. },
            ..,
        ] = ops
        else {
            return None;
        };
        (name.name == "rev" && args.is_empty()).then(|| {
            let value = self.range_value(range, base.span);
            self.reverse(value, base.span.to(*span))
        })
    }

    /// `v.rev()`, and the methods of other languages.
    fn method(&mut self, value: Expr, name: &Ident, span: Span) -> Expr {
        if value.ty.has_error() {
            return error(span);
        }
        if name.name == "rev" {
            return self.reverse(value, span);
        }
        let is_function = self.module.definitions.contains_key(&name.name)
            || prelude::scalar_function(&name.name).is_some()
            || prelude::builtin(&name.name).is_some();
        let help = match name.name.as_str() {
            "len" | "shape" | "size" => "sizes stand in the types: name the size of a parameter and use it".to_owned(),
            "T" | "t" => "write `transpose(m)`".to_owned(),
            _ if is_function => format!("call it as a function: `{}(value)`", name.name),
            _ => "write a function call: there are no methods but `.rev()`".to_owned(),
        };
        let message = format!("expected a function, found the method `{}` of a `{}`", name.name, self.show(&value.ty));
        self.report(Diagnostic::error(codes::METHOD, name.span, message).help(help));
        error(span)
    }

    fn reverse(&mut self, value: Expr, span: Span) -> Expr {
        let ty = value.ty.clone();
        if ty.has_error() {
            return error(span);
        }
        if ty.dims().is_empty() {
            let message = format!("expected a range or a tensor before `.rev()`, found `{}`", self.show(&ty));
            self.report(
                Diagnostic::error(codes::METHOD, span, message).help("put parentheses around a range: `(0..n).rev()`"),
            );
            return error(span);
        }
        let args = vec![crate::typed::Arg::Value(value)];
        Expr { span, ty, kind: ExprKind::Builtin { builtin: Builtin::Reverse, args } }
    }

    /// The position and type of a field.
    pub(super) fn find_field(&mut self, ty: &Type, name: &Ident) -> Option<(usize, Type)> {
        match ty {
            Type::Error => None,
            Type::Struct(of) => {
                let def = &self.module.structs[of.def.0 as usize];
                let Some(at) = def.fields.iter().position(|field| field.name == name.name) else {
                    let names: Vec<String> = def.fields.iter().map(|field| field.name.clone()).collect();
                    let owner = format!("the struct `{}`", def.name);
                    self.report_unknown_field(name, &owner, names.iter().map(String::as_str).collect());
                    return None;
                };
                let definition = def.fields[at].span;
                self.module.note_use(name.span, definition);
                let types = crate::typed::field_types_in(&self.module.structs, of);
                types.get(at).map(|ty| (at, ty.clone()))
            }
            Type::Never | Type::Scalar(_) | Type::Tensor { .. } | Type::Tuple(_) | Type::Function(_) => {
                let help = match ty {
                    Type::Tensor { elem, .. } if matches!(**elem, Type::Struct(_)) => {
                        format!("take the field of each element: `map(|p| p.{}, v)`", name.name)
                    }
                    Type::Tuple(_) => "the parts of a tuple are `.0`, `.1` and so on".to_owned(),
                    _ => "only structs have fields".to_owned(),
                };
                let message = format!("expected a struct before `.{}`, found `{}`", name.name, self.show(ty));
                self.report(Diagnostic::error(codes::UNKNOWN_FIELD, name.span, message).help(help));
                None
            }
        }
    }

    /// The type of a part of a tuple.
    pub(super) fn find_part(&mut self, ty: &Type, index: u32, span: Span) -> Option<Type> {
        if ty.has_error() && !matches!(ty, Type::Tuple(_)) {
            return None;
        }
        if let Some(part) = ty.parts().get(index as usize) {
            return Some(part.clone());
        }
        let help = match ty.parts() {
            [] => "only tuples have numbered parts".to_owned(),
            parts => format!("its parts are `.0` to `.{}`", parts.len() - 1),
        };
        let message = format!("expected a part of `{}`, found `.{index}`", self.show(ty));
        self.report(Diagnostic::error(codes::UNKNOWN_FIELD, span, message).help(help));
        None
    }

    fn field(&mut self, value: Expr, name: &Ident, span: Span) -> Expr {
        match self.find_field(&value.ty.clone(), name) {
            Some((index, ty)) => Expr { span, ty, kind: ExprKind::Field { base: Box::new(value), index } },
            None => error(span),
        }
    }

    fn tuple_field(&mut self, value: Expr, index: u32, index_span: Span, span: Span) -> Expr {
        match self.find_part(&value.ty.clone(), index, index_span) {
            Some(ty) => Expr { span, ty, kind: ExprKind::Field { base: Box::new(value), index: index as usize } },
            None => error(span),
        }
    }

    /// `e as T`
    fn cast(&mut self, value: Expr, ty: &ast::TypeExpr, span: Span) -> Expr {
        let target = self.written_type(ty, None);
        if value.ty.has_error() || target.has_error() {
            return error(span);
        }
        let Type::Scalar(to) = target else {
            let message = format!("expected a scalar type after `as`, found `{}`", self.show(&target));
            let help = match target.scalar() {
                Some(scalar) => format!("a cast keeps the shape: write `as {}`", self.show_scalar(scalar)),
                None => "only numbers are converted".to_owned(),
            };
            self.report(Diagnostic::error(codes::CAST, ty.span, message).help(help));
            return error(span);
        };
        let Some(from) = value.ty.scalar() else {
            let message = format!("expected a number before `as`, found {}", self.show_value(&value));
            self.report(Diagnostic::error(codes::CAST, value.span, message).help("convert the parts one by one"));
            return error(span);
        };
        let to_bool = self.vars.resolve(to) == Scalar::Of(Elem::Bool);
        if to_bool && !self.vars.is_within(from, Elems::bool()) {
            let message = format!("expected `bool` before `as bool`, found {}", self.show_value(&value));
            self.report(Diagnostic::error(codes::CAST, span, message).help("compare, as in `x != 0`"));
            return error(span);
        }
        let ty = value.ty.with_scalar(to);
        Expr { span, ty, kind: ExprKind::Cast(Box::new(value)) }
    }

    /// A range as a tensor of integers.
    fn range_value(&mut self, range: &ast::Range, span: Span) -> Expr {
        let Some(range) = self.range(range, span) else { return error(span) };
        let dim = self.range_extent(&range, span);
        let ty = Type::tensor(range.lo.ty.clone(), vec![dim]);
        Expr { span, ty, kind: ExprKind::Range(Box::new(range)) }
    }

    fn range_extent(&mut self, range: &Range, span: Span) -> crate::dims::Dim {
        let zero = crate::dims::Dim::constant(0);
        let one = crate::dims::Dim::constant(i64::from(range.inclusive));
        let length = match (self.size_of(&range.lo), self.size_of(&range.hi)) {
            (Some(lo), Some(hi)) if lo == zero => hi.plus(&one).filter(crate::dims::Dim::is_surely_non_negative),
            (Some(lo), Some(hi)) => {
                let length = hi.plus(&one).and_then(|hi| hi.minus(&lo));
                length.filter(|length| length.as_constant().is_some_and(|value| value >= 0))
            }
            _ => None,
        };
        length.map_or_else(|| self.new_size(span), crate::dims::Dim::at_run_time)
    }

    /// The bounds of a range, of one integer type.
    pub(super) fn range(&mut self, range: &ast::Range, span: Span) -> Option<Range> {
        let (Some(lo), Some(hi)) = (&range.lo, &range.hi) else {
            // An open end outside of an index has been reported by the parser.
            [&range.lo, &range.hi].into_iter().flatten().for_each(|end| drop(self.value(end)));
            return None;
        };
        let (lo, hi) = (self.value(lo), self.value(hi));
        let (lo, hi) = (self.integer(lo, "a bound of the range")?, self.integer(hi, "a bound of the range")?);
        let wanted = lo.ty.clone();
        let hi = self.fit(hi, &wanted, "the upper bound of the range");
        (!hi.ty.has_error()).then_some(Range { lo, hi, inclusive: range.inclusive }).filter(|_| span.end >= span.start)
    }

    /// The value, if it is an integer scalar; reported otherwise.
    pub(super) fn integer(&mut self, value: Expr, subject: &str) -> Option<Expr> {
        if value.ty.has_error() {
            return None;
        }
        if let Type::Scalar(scalar) = value.ty
            && self.vars.require(scalar, Elems::integer())
        {
            return Some(value);
        }
        let message = format!("expected an integer for {subject}, found {}", self.show_value(&value));
        let help = match (&value.ty, &value.kind) {
            (Type::Scalar(_), ExprKind::Literal(Literal::Float(_))) => "write an integer without a point",
            (Type::Scalar(scalar), _) if self.vars.is_within(*scalar, Elems::float()) => {
                "convert with `as i64`, which is checked"
            }
            _ => "give an integer such as `n` or `3`",
        };
        self.report(Diagnostic::error(codes::INTEGER_EXPECTED, value.span, message).help(help));
        None
    }

    /// A new local with a name, in the innermost scope.
    pub(super) fn bind(&mut self, name: &str, span: Span, ty: Type, mutable: bool) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name: name.to_owned(), span, ty, mutable });
        self.local_facts.push(LocalFacts::default());
        if !name.is_empty() {
            self.names.entry(name.to_owned()).or_default().push(id);
            if let Some(scope) = self.scopes.last_mut() {
                scope.push(name.to_owned());
            }
        }
        id
    }

    /// Runs `inside` in a scope of its own.
    pub(super) fn scoped<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(Vec::new());
        let result = inside(self);
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(ids) = self.names.get_mut(&name) {
                ids.pop();
                if ids.is_empty() {
                    self.names.remove(&name);
                }
            }
        }
        result
    }

    /// The generic arguments that a struct literal leaves to inference or gives.
    pub(super) fn explicit_generics(
        &mut self,
        generics: &[crate::types::Generic],
        given: &[Arg],
        name: &str,
        span: Span,
    ) -> Option<Vec<Option<GenericArg>>> {
        if given.is_empty() {
            return Some(vec![None; generics.len()]);
        }
        let written: Vec<&crate::types::Generic> = generics.iter().filter(|generic| generic.name != "_").collect();
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

    fn explicit_generic(&mut self, generic: &crate::types::Generic, arg: &ast::Expr) -> Option<GenericArg> {
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
                let value = self.value(arg);
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

    /// The indices of an indexing with the dims that they leave.
    pub(super) fn index(&mut self, value: Expr, args: &[Arg], span: Span) -> Expr {
        let base = self.show_value(&value);
        match self.indices(&value.ty, (&base, value.span), args, span) {
            Some((indices, ty)) => Expr { span, ty, kind: ExprKind::Index { base: Box::new(value), indices } },
            None => error(span),
        }
    }
}

/// An expression in place of one that is wrong.
pub(super) fn error(span: Span) -> Expr {
    Expr { span, ty: Type::Error, kind: ExprKind::Error }
}

/// What names of other languages are called here.
fn foreign_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "print" | "println" | "printf" => "return the value: `cotan run` prints the result",
        "len" | "length" => "sizes stand in the types: name the size of a parameter and use it",
        "ln" => "the natural logarithm is `log`",
        "fabs" => "the absolute value is `abs`",
        "arange" | "range" => "write a range, as in `0..n`",
        "matmul" => "write `a @ b`",
        "True" => "write `true`",
        "False" => "write `false`",
        "PI" => "the constant is called `pi`",
        "np" | "math" | "torch" | "jnp" => "the functions of the prelude need no module before them",
        _ => return None,
    })
}
