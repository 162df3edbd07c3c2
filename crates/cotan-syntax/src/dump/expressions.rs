//! Expressions, statements, types and patterns.

use super::Tree;
use crate::ast::{
    Arg, Attr, Block, Expr, ExprKind, FieldInit, If, Lambda, Let, Literal, Match, Path, Pattern, PatternKind,
    PatternLiteral, Postfix, PostfixKind, Range, Stmt, StmtKind, StructLiteral, TypeExpr, TypeKind,
};

pub(super) fn expr(expr: &Expr) -> Tree {
    match &expr.kind {
        ExprKind::Literal(value) => Tree::word(literal(value)),
        ExprKind::Name(name) => Tree::word(name),
        ExprKind::Hole => Tree::word("_"),
        ExprKind::Tuple(parts) => Tree::list("tuple", parts.iter().map(self::expr)),
        ExprKind::Array(parts) => Tree::list("array", parts.iter().map(self::expr)),
        ExprKind::Struct(parts) => struct_literal(parts),
        ExprKind::Unary { op, operand, .. } => Tree::list(op.as_str(), [self::expr(operand)]),
        ExprKind::Binary(chain) => {
            let rest = chain.rest.iter().flat_map(|link| [Tree::word(link.op.as_str()), self::expr(&link.operand)]);
            Tree::list("infix", [self::expr(&chain.first)].into_iter().chain(rest))
        }
        ExprKind::Pipe(pipe) => {
            let stages = pipe.stages.iter().map(|stage| self::expr(&stage.function));
            Tree::list("|>", [self::expr(&pipe.first)].into_iter().chain(stages))
        }
        ExprKind::Range(parts) => range(parts),
        ExprKind::Fold(fold) => {
            let selector = fold.selector.iter().map(|selector| Tree::list("select", selector.args.iter().map(arg)));
            let operand = self::expr(&fold.operand);
            Tree::list(fold.op.as_str(), selector.chain([operand]))
        }
        ExprKind::FoldBy(fold) => {
            let init = fold.init.iter().map(|init| Tree::list("init", [self::expr(init)]));
            let function = self::expr(&fold.function);
            let operand = self::expr(&fold.operand);
            Tree::list("fold", [function].into_iter().chain(init).chain([operand]))
        }
        ExprKind::Postfix(parts) => postfix(parts),
        ExprKind::Ascription { operand, ty } => Tree::list("ascribe", [self::expr(operand), self::ty(ty)]),
        ExprKind::Lambda(parts) => lambda(parts),
        ExprKind::LetIn(parts) => Tree::list("let-in", [binding(&parts.binding), self::expr(&parts.body)]),
        ExprKind::If(parts) => if_expr(parts),
        ExprKind::Match(parts) => match_expr(parts),
        ExprKind::Block(parts) => block(parts),
        ExprKind::For(parts) => Tree::list(
            "for",
            attrs(&parts.attrs).chain([pattern(&parts.pattern), self::expr(&parts.iterable), block(&parts.body)]),
        ),
        ExprKind::While(parts) => {
            Tree::list("while", attrs(&parts.attrs).chain([self::expr(&parts.condition), block(&parts.body)]))
        }
        ExprKind::Break => Tree::word("break"),
        ExprKind::Continue => Tree::word("continue"),
        ExprKind::Return(value) => Tree::list("return", value.iter().map(|value| self::expr(value))),
        ExprKind::Error => Tree::word("<error>"),
    }
}

pub(super) fn literal(literal: &Literal) -> String {
    let with_suffix = |text: String, suffix: &Option<crate::ast::Suffix>| match suffix {
        Some(suffix) => format!("{text}_{}", suffix.as_str()),
        None => text,
    };
    match literal {
        Literal::Int { value, suffix } => with_suffix(value.to_string(), suffix),
        Literal::Float { digits, suffix } => with_suffix(digits.clone(), suffix),
        Literal::Bool(value) => value.to_string(),
        Literal::Str(value) => format!("{value:?}"),
        Literal::Char(value) => format!("{value:?}"),
    }
}

pub(super) fn arg(arg: &Arg) -> Tree {
    match &arg.name {
        Some(name) => Tree::list("=", [Tree::word(&name.name), expr(&arg.value)]),
        None => expr(&arg.value),
    }
}

pub(super) fn attrs(attrs: &[Attr]) -> impl Iterator<Item = Tree> {
    attrs.iter().map(|attr| {
        let head = format!("@{}", attr.name.name);
        if attr.args.is_empty() { Tree::word(head) } else { Tree::list(head, attr.args.iter().map(arg)) }
    })
}

fn struct_literal(parts: &StructLiteral) -> Tree {
    let name = Tree::word(path(&parts.path));
    let generics = (!parts.generics.is_empty()).then(|| Tree::list("generics", parts.generics.iter().map(arg)));
    let field = |field: &FieldInit| Tree::list(&field.name.name, [expr(&field.value)]);
    let base = parts.base.iter().map(|base| Tree::list("..", [expr(base)]));
    let children = [name].into_iter().chain(generics);
    Tree::list("struct", children.chain(parts.fields.iter().map(field)).chain(base))
}

fn range(parts: &Range) -> Tree {
    let end = |end: &Option<Expr>| end.as_ref().map_or_else(|| Tree::word("open"), expr);
    let op = if parts.inclusive { "..=" } else { ".." };
    Tree::list(op, [end(&parts.lo), end(&parts.hi)])
}

fn postfix(parts: &Postfix) -> Tree {
    let ops = parts.ops.iter().map(|op| match &op.kind {
        PostfixKind::Call(args) => Tree::list("call", args.iter().map(arg)),
        PostfixKind::Index(args) => Tree::list("index", args.iter().map(arg)),
        PostfixKind::Field(name) => Tree::list("field", [Tree::word(&name.name)]),
        PostfixKind::TupleField { index, .. } => Tree::list("field", [Tree::word(index.to_string())]),
        PostfixKind::Cast(target) => Tree::list("as", [ty(target)]),
    });
    Tree::list("postfix", [expr(&parts.base)].into_iter().chain(ops))
}

fn lambda(parts: &Lambda) -> Tree {
    let params = parts.params.iter().map(|param| match &param.ty {
        Some(of) => Tree::list(":", [pattern(&param.pattern), ty(of)]),
        None => pattern(&param.pattern),
    });
    Tree::list("lambda", [Tree::list("params", params), expr(&parts.body)])
}

fn if_expr(parts: &If) -> Tree {
    let arms = parts.arms.iter().flat_map(|arm| [expr(&arm.condition), block(&arm.block)]);
    Tree::list("if", arms.chain(parts.otherwise.iter().map(block)))
}

fn match_expr(parts: &Match) -> Tree {
    let arms = parts.arms.iter().map(|arm| {
        let guard = arm.guard.iter().map(|guard| Tree::list("if", [expr(guard)]));
        let children = [pattern(&arm.pattern)].into_iter().chain(guard);
        Tree::list("=>", children.chain([expr(&arm.body)]))
    });
    Tree::list("match", [expr(&parts.scrutinee)].into_iter().chain(arms))
}

fn block(parts: &Block) -> Tree {
    let value = parts.value.iter().map(|value| Tree::list("value", [expr(value)]));
    Tree::list("block", attrs(&parts.attrs).chain(parts.statements.iter().map(statement)).chain(value))
}

fn statement(statement: &Stmt) -> Tree {
    match &statement.kind {
        StmtKind::Let(parts) => binding(parts),
        StmtKind::Assign(parts) => Tree::list(parts.op.as_str(), [expr(&parts.place), expr(&parts.value)]),
        StmtKind::Expr(value) => expr(value),
        StmtKind::Error => Tree::word("<error>"),
    }
}

fn binding(parts: &Let) -> Tree {
    let ty = parts.ty.iter().map(ty);
    let children = [pattern(&parts.pattern)].into_iter().chain(ty);
    Tree::list("let", children.chain([expr(&parts.value)]))
}

pub(super) fn path(path: &Path) -> String {
    let names: Vec<_> = path.segments.iter().map(|s| s.name.as_str()).collect();
    names.join(".")
}

pub(super) fn ty(ty: &TypeExpr) -> Tree {
    match &ty.kind {
        TypeKind::Path(name) => Tree::word(path(name)),
        TypeKind::Apply { base, args, .. } => {
            let base = std::iter::once(self::ty(base));
            Tree::list("apply", base.chain(args.iter().map(arg)))
        }
        TypeKind::Tuple(parts) => Tree::list("tuple", parts.iter().map(self::ty)),
        TypeKind::Function { params, result } => {
            let result = Tree::list("result", [self::ty(result)]);
            Tree::list("function", params.iter().map(self::ty).chain([result]))
        }
        TypeKind::Error => Tree::word("<error>"),
    }
}

fn pattern(pattern: &Pattern) -> Tree {
    match &pattern.kind {
        PatternKind::Wildcard => Tree::word("_"),
        PatternKind::Name { mutable, name } => match mutable {
            Some(_) => Tree::list("mut", [Tree::word(&name.name)]),
            None => Tree::word(&name.name),
        },
        PatternKind::Literal(value) => pattern_literal(value),
        PatternKind::Range { lo, hi, inclusive } => {
            let op = if *inclusive { "..=" } else { ".." };
            Tree::list(op, [pattern_literal(lo), pattern_literal(hi)])
        }
        PatternKind::Tuple(parts) => Tree::list("tuple", parts.iter().map(self::pattern)),
        PatternKind::Variant { path: name, args } => {
            let name = std::iter::once(Tree::word(path(name)));
            Tree::list("variant", name.chain(args.iter().map(self::pattern)))
        }
        PatternKind::Struct { path: name, fields, rest } => {
            let name = std::iter::once(Tree::word(path(name)));
            let fields = fields.iter().map(|field| Tree::list(&field.name.name, [self::pattern(&field.pattern)]));
            let rest = rest.map(|_| Tree::word(".."));
            Tree::list("struct", name.chain(fields).chain(rest))
        }
        PatternKind::Or(parts) => Tree::list("or", parts.iter().map(self::pattern)),
        PatternKind::Error => Tree::word("<error>"),
    }
}

fn pattern_literal(value: &PatternLiteral) -> Tree {
    let sign = if value.negative { "-" } else { "" };
    Tree::word(format!("{sign}{}", literal(&value.literal)))
}
