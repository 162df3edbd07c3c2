//! Types and patterns.

use super::Tree;
use super::expressions::{arg, literal};
use crate::ast::{Path, Pattern, PatternKind, PatternLiteral, TypeExpr, TypeKind};

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

pub(super) fn pattern(pattern: &Pattern) -> Tree {
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
