//! Output as data: a token goes through everything that prints.
//!
//! A function that is marked `@io` gets the token as its last parameter and gives it back beside its result. It lives in
//! a mutable local of the body, which every step of `print` takes and sets; so branches and loops carry it as they carry
//! any variable, and the order of output follows from data dependence. Nothing else in lowering, and no pass after it,
//! knows of effects. The function of an `each` that prints is treated in the same way, and its call becomes a loop.
//!
//! What `debug` writes and what `assert` asks for are steps too. In a pure body, of a function or a lambda, they have a token
//! of their own, and the result of the body is there once that token is: who needs the result has all steps on the way, in
//! order, and a derivative, which waits for the value, has them once.

use std::borrow::Cow;

use cotan_ir::Elem;
use cotan_ops::Format;
use cotan_syntax::Span;

use cotan_sema::dims::{Atom, Dim};
use cotan_sema::typed::{
    Arg, AssignOp, Block, Body, Builtin, Callable, CallableKind, Declarations, EnumType, Expr, ExprKind, Field, FnId,
    For, Function, FunctionBody, If, Iterable, Literal, Local, LocalId, Match, MatchArm, Param, Part, Pattern,
    PatternKind, PayloadForm, Place, Print, PrintPiece, Program, Role, RuntimeSize, Sink, Stmt, StmtKind, Target, Type,
};
use cotan_sema::types::Generic;

/// The program without effects.
pub(super) fn with_tokens(program: &Program) -> Cow<'_, Program> {
    let mut program = Cow::Borrowed(program);
    let prints: Vec<bool> = program.functions.iter().map(|function| function.prints).collect();
    let has_steps = |function: &Function| match &function.body {
        FunctionBody::Source(body) => function.prints || steps_in(&body.value, Reach::WithLambdas),
        FunctionBody::Derivative(_) | FunctionBody::Required(_) => false,
    };
    let changed: Vec<bool> = program.functions.iter().map(has_steps).collect();
    if !changed.contains(&true) {
        return program;
    }
    let (structs, enums) = (program.structs.clone(), program.enums.clone());
    let declarations = Declarations { structs: &structs, enums: &enums, generics: &[] };
    let functions = program.to_mut().functions.iter_mut().zip(changed);
    for (function, _) in functions.filter(|(_, is_changed)| *is_changed) {
        let token = LocalId(function.params.len() as u32);
        let FunctionBody::Source(Body { locals, value, .. }) = &mut function.body else { continue };
        if !function.prints {
            Tokens { prints: &prints, declarations, locals, token, ends: Ends::Plain }.pure_body(value);
            continue;
        }
        function.params.push(Param {
            name: "$output".to_owned(),
            span: function.name_span,
            ty: Type::of(Elem::I64),
            nodiff: true,
            mutable: true,
            default: None,
        });
        function.result = with_token(&function.result);
        Tokens { prints: &prints, declarations, locals, token, ends: Ends::Beside }.body(value);
    }
    program
}

/// The type of a token and a value.
fn with_token(value: &Type) -> Type {
    Type::Tuple(vec![Type::of(Elem::I64), value.clone()])
}

/// What a host calls for a function that prints: it makes the first token.
pub(super) fn entry(program: &Program, id: FnId) -> Function {
    let of = program.function(id);
    let n_params = of.params.len() - 1;
    let locals = of.params[..n_params].iter().map(|param| Local {
        name: param.name.clone(),
        span: param.span,
        ty: param.ty.clone(),
        mutable: false,
    });
    let span = of.name_span;
    let values = of.params[..n_params].iter().enumerate();
    let values = values.map(|(at, param)| Arg::Value(local(LocalId(at as u32), &param.ty, span)));
    let token = Expr { span, ty: Type::of(Elem::I64), kind: ExprKind::Literal(Literal::Int(0)) };
    let callee = Callable {
        span,
        params: of.params.iter().map(|param| param.ty.clone()).collect(),
        result: of.result.clone(),
        kind: CallableKind::Function { function: id, generics: Generic::as_args(&of.generics) },
    };
    let args = values.chain([Arg::Value(token)]).collect();
    let value = Expr { span, ty: of.result.clone(), kind: ExprKind::Call { callee: Box::new(callee), args } };
    let mut n_sizes = 0;
    of.result
        .clone()
        .each_dim_mut(&mut |dim| n_sizes += usize::from(dim.has_atom(|atom| matches!(atom, Atom::Runtime(_)))));
    let body = Body { locals: locals.collect(), sizes: vec![RuntimeSize { span }; n_sizes], value };
    Function {
        name: format!("{}.run", of.name),
        params: of.params[..n_params].to_vec(),
        body: FunctionBody::Source(body),
        ..of.clone()
    }
}

/// Puts tokens into one body.
struct Tokens<'x> {
    prints: &'x [bool],
    declarations: Declarations<'x>,
    locals: &'x mut Vec<Local>,
    /// The local that holds the token, if there is one.
    token: LocalId,
    ends: Ends,
}

/// How a body gives its token on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Beside its result: it prints.
    Beside,
    /// The result waits for it: a pure body with steps.
    Waits,
    /// It has none: a pure body without steps.
    Plain,
}

/// How far a search for steps goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Lambdas aside, which have tokens of their own.
    Body,
    WithLambdas,
}

/// Whether there are steps that pure code may have.
fn steps_in(e: &Expr, reach: Reach) -> bool {
    let is_debug = matches!(&e.kind, ExprKind::Print(print) if print.to == Sink::Debug);
    let mut found = is_debug || matches!(e.kind, ExprKind::Assert(_));
    e.each_part(&mut |part| {
        found = found
            || match part {
                Part::Expr(part) => steps_in(part, reach),
                Part::Callable(callable) => reach == Reach::WithLambdas && steps_in_callable(callable),
            };
    });
    found
}

fn steps_in_callable(callable: &Callable) -> bool {
    match &callable.kind {
        CallableKind::Lambda(lambda) => steps_in(&lambda.body, Reach::WithLambdas),
        CallableKind::Derivative(derivative) => steps_in_callable(&derivative.base),
        CallableKind::Vmap(vmap) => steps_in_callable(&vmap.base),
        CallableKind::Function { .. } | CallableKind::Param(_) => false,
    }
}

impl Tokens<'_> {
    /// A body, which gives the token beside its value.
    fn body(&mut self, value: &mut Expr) {
        self.expr(value);
        if value.ty != Type::Never {
            self.result(value);
        }
    }

    /// A body that does not print: the result waits for its steps.
    fn pure_body(&mut self, value: &mut Expr) {
        let (span, token_ty) = (value.span, Type::of(Elem::I64));
        let outer = (self.token, self.ends);
        self.ends = if steps_in(value, Reach::Body) { Ends::Waits } else { Ends::Plain };
        if self.ends == Ends::Plain {
            self.expr(value);
        } else {
            self.token = self.local("$order", &token_ty, span, true);
            let first = Expr { span, ty: token_ty, kind: ExprKind::Literal(Literal::Int(0)) };
            let first = bind(self.token, first);
            self.body(value);
            *value = block(vec![first], Some(take(value)), span);
        }
        (self.token, self.ends) = outer;
    }

    /// Something that is passed on: it is pure, unless it is that of an `each`.
    fn passed_on(&mut self, callable: &mut Callable) {
        match &mut callable.kind {
            CallableKind::Lambda(lambda) if !self.prints_in(&lambda.body) => self.pure_body(&mut lambda.body),
            CallableKind::Derivative(derivative) => self.passed_on(&mut derivative.base),
            CallableKind::Vmap(vmap) => self.passed_on(&mut vmap.base),
            CallableKind::Lambda(_) | CallableKind::Function { .. } | CallableKind::Param(_) => {}
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        e.each_role_mut(&mut |role| match role {
            Role::Operand(part) | Role::Later(part) => self.expr(part),
            Role::Callable(callable) => self.passed_on(callable),
            Role::Pattern(_) | Role::Type(_) => {}
        });
        if let ExprKind::Print(print) = &mut e.kind {
            *e = self.print(print.to, std::mem::take(&mut print.pieces), e.span);
        } else if let ExprKind::Assert(assert) = &mut e.kind {
            assert.token = Some(self.token_at(e.span));
            let step = Expr { ty: Type::of(Elem::I64), ..take(e) };
            *e = block(vec![self.set_token(step)], None, e.span);
        } else if let ExprKind::Return(Some(value)) = &mut e.kind {
            self.result(value);
        } else if let ExprKind::Builtin { builtin: Builtin::Each, args } = &mut e.kind {
            if let [Arg::Value(tensor), Arg::Function(function)] = args.as_mut_slice()
                && self.has_output(function)
            {
                self.callable(function);
                let (tensor, function) = (take(tensor), function.clone());
                *e = self.each(tensor, function, e.span);
            }
        } else if let ExprKind::Call { callee, .. } = &e.kind
            && self.calls_output(callee)
        {
            self.call(e);
        }
    }

    /// A result, with the token beside it, or waiting for it.
    fn result(&mut self, value: &mut Expr) {
        let (span, ty) = (value.span, value.ty.clone());
        match self.ends {
            Ends::Beside => {}
            Ends::Waits => {
                let (whole, token) = (Box::new(take(value)), Box::new(self.token_at(span)));
                *value = Expr { span, ty, kind: ExprKind::After { value: whole, token } };
                return;
            }
            Ends::Plain => return,
        }
        let result = self.local("$result", &ty, span, false);
        let statements = vec![bind(result, take(value))];
        let value_and_token = Expr {
            span,
            ty: with_token(&ty),
            kind: ExprKind::Tuple(vec![self.token_at(span), local(result, &ty, span)]),
        };
        *value = block(statements, Some(value_and_token), span);
    }

    fn calls_output(&self, callee: &Callable) -> bool {
        match &callee.kind {
            CallableKind::Function { function, .. } => self.prints.get(function.0 as usize) == Some(&true),
            CallableKind::Lambda(_) | CallableKind::Param(_) | CallableKind::Derivative(_) | CallableKind::Vmap(_) => {
                false
            }
        }
    }

    /// Whether something that is passed on prints.
    fn has_output(&self, callable: &Callable) -> bool {
        match &callable.kind {
            CallableKind::Lambda(lambda) => self.prints_in(&lambda.body),
            CallableKind::Function { .. }
            | CallableKind::Param(_)
            | CallableKind::Derivative(_)
            | CallableKind::Vmap(_) => self.calls_output(callable),
        }
    }

    fn prints_in(&self, e: &Expr) -> bool {
        let mut found = matches!(&e.kind, ExprKind::Print(print) if print.to == Sink::Output);
        e.each_part(&mut |part| {
            found = found
                || match part {
                    Part::Expr(part) => self.prints_in(part),
                    Part::Callable(callable) => self.has_output(callable),
                };
        });
        found
    }

    /// A function that prints: it takes the token after its parameters and gives it beside its result.
    fn callable(&mut self, callable: &mut Callable) {
        if let CallableKind::Lambda(lambda) = &mut callable.kind {
            let token = self.local("$output", &Type::of(Elem::I64), callable.span, true);
            let kind = PatternKind::Local(token);
            lambda.params.push(Pattern { span: callable.span, ty: Type::of(Elem::I64), kind });
            let outer = (self.token, self.ends);
            (self.token, self.ends) = (token, Ends::Beside);
            self.body(&mut lambda.body);
            (self.token, self.ends) = outer;
        }
        callable.params.push(Type::of(Elem::I64));
        callable.result = with_token(&callable.result);
    }

    /// A call of a function that prints.
    fn call(&mut self, e: &mut Expr) {
        let (span, ty) = (e.span, e.ty.clone());
        let mut call = take(e);
        call.ty = with_token(&ty);
        if let ExprKind::Call { callee, args } = &mut call.kind {
            callee.params.push(Type::of(Elem::I64));
            callee.result = with_token(&callee.result);
            args.push(Arg::Value(self.token_at(span)));
        }
        *e = self.called(call, &ty);
    }

    /// `{ let pair = call; token = pair.0; pair.1 }`
    fn called(&mut self, call: Expr, ty: &Type) -> Expr {
        let (span, pair_ty) = (call.span, call.ty.clone());
        let pair = self.local("$called", &pair_ty, span, false);
        let part = |index, ty: &Type| {
            let base = Box::new(local(pair, &pair_ty, span));
            Expr { span, ty: ty.clone(), kind: ExprKind::Field { base, index } }
        };
        let statements = vec![bind(pair, call), self.set_token(part(0, &Type::of(Elem::I64)))];
        block(statements, Some(part(1, ty)), span)
    }

    /// `for row in tensor { function(row) }`
    fn each(&mut self, tensor: Expr, function: Callable, span: Span) -> Expr {
        let row_ty = function.params.first().cloned().unwrap_or(Type::Error);
        let row = self.local("$row", &row_ty, span, false);
        let args = vec![Arg::Value(local(row, &row_ty, span)), Arg::Value(self.token_at(span))];
        let call =
            Expr { span, ty: function.result.clone(), kind: ExprKind::Call { callee: Box::new(function), args } };
        let body = self.called(call, &Type::UNIT);
        for_each(tensor, row, row_ty, body)
    }

    // ---- printing

    /// The steps of a `print`.
    fn print(&mut self, to: Sink, pieces: Vec<PrintPiece>, span: Span) -> Expr {
        let mut writer = Writer { to, format: Format::default(), steps: Vec::new(), text: String::new(), span };
        let mut bound = Vec::new();
        for piece in pieces {
            bound.push(match piece {
                PrintPiece::Text(text) => PrintPiece::Text(text),
                PrintPiece::Value(value, format) => {
                    let ty = value.ty.clone();
                    let printed = self.local("$printed", &ty, value.span, false);
                    writer.steps.push(bind(printed, value));
                    PrintPiece::Value(local(printed, &ty, span), format)
                }
            });
        }
        for piece in bound {
            match piece {
                PrintPiece::Text(text) => writer.text.push_str(&text),
                PrintPiece::Value(value, format) => {
                    writer.format = format;
                    self.value(&mut writer, value);
                }
            }
        }
        writer.text.push('\n');
        self.flush(&mut writer, None);
        block(writer.steps, None, span)
    }

    /// Writes a value.
    fn value(&mut self, writer: &mut Writer, value: Expr) {
        match value.ty.clone() {
            Type::Scalar(_) => self.flush(writer, Some(value)),
            Type::Tensor { elem, .. } if matches!(*elem, Type::Scalar(_)) => self.flush(writer, Some(value)),
            Type::Tensor { elem, dims } => self.elements(writer, value, *elem, &dims),
            Type::Tuple(parts) => {
                let parts = parts.into_iter().enumerate().map(|(index, ty)| field(&value, index, ty));
                self.parts(writer, parts.collect());
            }
            Type::Struct(of) => {
                let def = &self.declarations.structs[of.def.0 as usize];
                let types = self.declarations.field_types(&of);
                let fields = types.into_iter().enumerate().map(|(index, ty)| field(&value, index, ty));
                writer.text.push_str(last_name(&def.name));
                self.fields(writer, &def.fields, fields.collect());
            }
            Type::Enum(of) => self.variants(writer, value, &of),
            Type::Error | Type::Never | Type::Function(_) | Type::Param(_) => {}
        }
    }

    /// Writes `{ name: value, .. }`.
    fn fields(&mut self, writer: &mut Writer, names: &[Field], values: Vec<Expr>) {
        writer.text.push_str(" { ");
        for (index, (named, value)) in names.iter().zip(values).enumerate() {
            writer.text.push_str(if index == 0 { "" } else { ", " });
            writer.text.push_str(&format!("{}: ", named.name));
            self.value(writer, value);
        }
        writer.text.push_str(" }");
    }

    /// Writes the variant that an enum value is, with what it carries.
    fn variants(&mut self, writer: &mut Writer, value: Expr, of: &EnumType) {
        let span = writer.span;
        self.flush(writer, None);
        let def = &self.declarations.enums[of.def.0 as usize];
        let mut arms = Vec::new();
        for (at, variant) in def.variants.iter().enumerate() {
            let types = self.declarations.payload_types(of, at);
            let carried: Vec<LocalId> = types.iter().map(|ty| self.local("$carried", ty, span, false)).collect();
            let parts = carried
                .iter()
                .zip(&types)
                .enumerate()
                .map(|(at, (id, ty))| (at, Pattern { span, ty: ty.clone(), kind: PatternKind::Local(*id) }));
            let kind = PatternKind::Variant { index: at, fields: parts.collect() };
            let pattern = Pattern { span, ty: value.ty.clone(), kind };
            let values: Vec<Expr> = carried.iter().zip(&types).map(|(id, ty)| local(*id, ty, span)).collect();
            let mut inner = writer.inside(last_name(&variant.name));
            match variant.form {
                PayloadForm::Unit => {}
                PayloadForm::Tuple => self.parts(&mut inner, values),
                PayloadForm::Struct => self.fields(&mut inner, &variant.fields, values),
            }
            self.flush(&mut inner, None);
            arms.push(MatchArm { span, pattern, guard: None, body: block(inner.steps, None, span) });
        }
        let kind = ExprKind::Match(Box::new(Match { scrutinee: value, arms }));
        writer.steps.push(Stmt { span, kind: StmtKind::Expr(Expr { span, ty: Type::UNIT, kind }) });
    }

    /// Writes `(value, ..)`.
    fn parts(&mut self, writer: &mut Writer, values: Vec<Expr>) {
        writer.text.push('(');
        for (index, value) in values.into_iter().enumerate() {
            writer.text.push_str(if index == 0 { "" } else { ", " });
            self.value(writer, value);
        }
        writer.text.push(')');
    }

    /// Writes the elements (rows) of a tensor of tuples or structs.
    fn elements(&mut self, writer: &mut Writer, tensor: Expr, elem: Type, dims: &[Dim]) {
        let span = writer.span;
        writer.text.push('[');
        self.flush(writer, None);
        let bool_type = Type::of(Elem::Bool);
        let truth = |value| Expr { span, ty: Type::of(Elem::Bool), kind: ExprKind::Literal(Literal::Bool(value)) };
        let is_later = self.local("$is_later", &bool_type, span, true);
        writer.steps.push(bind(is_later, truth(false)));
        let row_ty = Type::tensor(elem, dims[1..].to_vec());
        let row = self.local("$row", &row_ty, span, false);
        let mut between = writer.inside(", ");
        self.flush(&mut between, None);
        let arms = vec![(local(is_later, &bool_type, span), block(between.steps, None, span))];
        let separator = Expr { span, ty: Type::UNIT, kind: ExprKind::If(Box::new(If { arms, otherwise: None })) };
        let mut inner = writer.inside("");
        inner.steps.push(Stmt { span, kind: StmtKind::Expr(separator) });
        inner.steps.push(assign(is_later, truth(true)));
        self.value(&mut inner, local(row, &row_ty, span));
        self.flush(&mut inner, None);
        let all = for_each(tensor, row, row_ty, block(inner.steps, None, span));
        writer.steps.push(Stmt { span, kind: StmtKind::Expr(all) });
        writer.text.push(']');
    }

    /// A step that writes the text so far and a value after it.
    fn flush(&mut self, writer: &mut Writer, value: Option<Expr>) {
        let text = std::mem::take(&mut writer.text);
        if text.is_empty() && value.is_none() {
            return;
        }
        let mut pieces = vec![PrintPiece::Text(text)];
        pieces.extend(value.map(|value| PrintPiece::Value(value, writer.format)));
        let print = Print { to: writer.to, token: Some(self.token_at(writer.span)), pieces };
        let step = Expr { span: writer.span, ty: Type::of(Elem::I64), kind: ExprKind::Print(Box::new(print)) };
        writer.steps.push(self.set_token(step));
    }

    // ---- locals

    fn local(&mut self, name: &str, ty: &Type, span: Span, mutable: bool) -> LocalId {
        self.locals.push(Local { name: name.to_owned(), span, ty: ty.clone(), mutable });
        LocalId(self.locals.len() as u32 - 1)
    }

    fn token_at(&self, span: Span) -> Expr {
        local(self.token, &Type::of(Elem::I64), span)
    }

    fn set_token(&self, value: Expr) -> Stmt {
        assign(self.token, value)
    }
}

/// The name of a declaration without that of its module.
fn last_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// What has been written so far.
struct Writer {
    to: Sink,
    /// How numbers are written.
    format: Format,
    steps: Vec<Stmt>,
    /// Text that no step writes yet.
    text: String,
    span: Span,
}

impl Writer {
    /// A writer for what stands in a block of its own, which begins with a text.
    fn inside(&self, text: &str) -> Writer {
        Writer { to: self.to, format: self.format, steps: Vec::new(), text: text.to_owned(), span: self.span }
    }
}

fn local(id: LocalId, ty: &Type, span: Span) -> Expr {
    Expr { span, ty: ty.clone(), kind: ExprKind::Local(id) }
}

fn field(base: &Expr, index: usize, ty: Type) -> Expr {
    Expr { span: base.span, ty, kind: ExprKind::Field { base: Box::new(base.clone()), index } }
}

fn bind(to: LocalId, value: Expr) -> Stmt {
    let span = value.span;
    let pattern = Pattern { span, ty: value.ty.clone(), kind: PatternKind::Local(to) };
    Stmt { span, kind: StmtKind::Let { pattern, value } }
}

fn assign(to: LocalId, value: Expr) -> Stmt {
    let place = Place { span: value.span, ty: value.ty.clone(), root: to, steps: Vec::new() };
    Stmt { span: value.span, kind: StmtKind::Assign { target: Target::Place(place), op: AssignOp::Set, value } }
}

fn block(statements: Vec<Stmt>, value: Option<Expr>, span: Span) -> Expr {
    let ty = value.as_ref().map_or(Type::UNIT, |value| value.ty.clone());
    Expr { span, ty, kind: ExprKind::Block(Box::new(Block { statements, value, recompute: false, mode: None })) }
}

fn for_each(tensor: Expr, row: LocalId, row_ty: Type, body: Expr) -> Expr {
    let span = tensor.span;
    let pattern = Pattern { span, ty: row_ty, kind: PatternKind::Local(row) };
    let iterable = Iterable::Tensor { tensor, reversed: false };
    Expr {
        span,
        ty: Type::UNIT,
        kind: ExprKind::For(Box::new(For { pattern, iterable, body, parallel: None, checkpoint: None })),
    }
}

/// Takes an expression out of its place, which is filled again.
fn take(e: &mut Expr) -> Expr {
    let empty = Expr { span: e.span, ty: e.ty.clone(), kind: ExprKind::Error };
    std::mem::replace(e, empty)
}
