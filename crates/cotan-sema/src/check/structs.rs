//! Structs and tuples: literals, fields, parts.

use cotan_syntax::ast::{self, Ident};
use cotan_syntax::{Diagnostic, Span};

use super::instantiate::LiteralOf;
use super::literal_fields::{field_sources, field_values};
use super::scope::path_name;
use super::{BodyChecker, Def, Definition, enums, foreign_members, instantiate, literal_fields};
use crate::codes;
use crate::suggest::closest;
use crate::typed::{Expr, ExprKind};
use crate::types::{StructId, StructType, Type};

pub(super) fn struct_literal(checker: &mut BodyChecker<'_, '_>, literal: &ast::StructLiteral, span: Span) -> Expr {
    if let Some(of) = enums::enum_before_variant(checker, &literal.path) {
        return enums::variant_literal(checker, of, literal, span);
    }
    let Some(id) = struct_named(checker, &literal.path) else {
        literal.fields.iter().for_each(|field| drop(checker.expr(&field.value)));
        if let Some(base) = &literal.base {
            checker.expr(base);
        }
        return Expr::error(span);
    };
    let def = checker.module.structs[id.0 as usize].clone();
    let given =
        literal_fields::given_fields(checker, &literal.fields, &def.fields, &format!("the struct `{}`", def.name));
    let base = literal.base.as_ref().map(|base| checker.expr(base));
    if base.is_none() {
        literal_fields::report_missing_fields(checker, &given, &def.fields, (&def.name, def.name_span), span);
    }
    let sources = field_sources(&given, &def.fields, &def.name);
    let own = |args| Type::Struct(StructType { def: id, args, tangent: false });
    let Some(mut known) = instantiate::explicit_generics(checker, &def.generics, &literal.generics, &def.name, span)
    else {
        return Expr::error(span);
    };
    if let (true, Some(Expr { ty: Type::Struct(of), .. })) = (literal.generics.is_empty(), &base) {
        // An update keeps the type of its base.
        known.iter_mut().zip(&of.args).for_each(|(known, arg)| *known = Some(arg.clone()));
    }
    let of = LiteralOf { name: &def.name, generics: &def.generics, known, is_enum: false };
    let Some((args, values)) = instantiate::fields_of_literal(checker, of, sources, span) else {
        return Expr::error(span);
    };
    let ty = own(args);
    let fields = field_values(&given, values);
    let kind = match base {
        Some(base) => {
            let base = Box::new(checker.fit(base, &ty, &format!("the base of `{}`", def.name)));
            ExprKind::StructUpdate { fields, base }
        }
        None => ExprKind::Struct(fields),
    };
    Expr { span, ty, kind }
}

/// The struct that a path names; reports a path that names none.
pub(super) fn struct_named(checker: &mut BodyChecker<'_, '_>, path: &ast::Path) -> Option<StructId> {
    let Some(found) = checker.module.follow_path(path) else { return report_no_struct(checker, path) };
    match found.def {
        Def::Unusable => None,
        _ if found.n_dots + 1 < path.segments.len() => report_no_struct(checker, path),
        Def::Struct(id) => Some(id),
        Def::Alias(at) => {
            let (_, ty) = checker.module.resolve_alias(at, found.span);
            if let Type::Struct(of) = ty { Some(of.def) } else { report_no_struct(checker, path) }
        }
        Def::Enum(id) => enums::report_no_variant(checker, id, path),
        Def::Function(_) | Def::Pending | Def::Gradients(_) | Def::Constant(_) | Def::Module(_) | Def::Trait(_) => {
            report_no_struct(checker, path)
        }
    }
}

fn report_no_struct(checker: &mut BodyChecker<'_, '_>, path: &ast::Path) -> Option<StructId> {
    let name = path_name(path);
    if !name.is_empty() {
        let is_struct = |name: &&str| matches!(checker.module.find(name), Some(Definition { def: Def::Struct(_), .. }));
        let help = match closest(&name, checker.module.declared_names().filter(is_struct)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if path.segments.len() > 1 => "write the name of a struct after the dot".to_owned(),
            None => format!("declare it: `struct {name} {{ ... }}`"),
        };
        let message = format!("expected the name of a struct, found `{name}`");
        checker.report(Diagnostic::error(codes::UNKNOWN_TYPE, path.span, message).help(help));
    }
    None
}

/// The position and type of a field of the value at `base`. The field of a tensor of structs is the tensor of the fields.
pub(super) fn find_field(
    checker: &mut BodyChecker<'_, '_>,
    (ty, base): (&Type, Span),
    name: &Ident,
) -> Option<(usize, Type)> {
    match ty {
        Type::Error => None,
        Type::Tensor { elem, dims } if matches!(**elem, Type::Struct(_)) => {
            let (at, field) = find_field(checker, (elem, base), name)?;
            Some((at, Type::tensor(field, dims.clone())))
        }
        Type::Struct(of) => {
            let def = &checker.module.structs[of.def.0 as usize];
            let Some(at) = def.fields.iter().position(|field| field.name == name.name) else {
                let names: Vec<String> = def.fields.iter().map(|field| field.name.clone()).collect();
                let owner = format!("the struct `{}`", def.name);
                literal_fields::report_unknown_field(checker, name, &owner, names.iter().map(String::as_str).collect());
                return None;
            };
            let definition = def.fields[at].span;
            checker.module.note_use(name.span, definition);
            let types = checker.module.declarations().field_types(of);
            types.get(at).map(|ty| (at, ty.clone()))
        }
        Type::Never
        | Type::Scalar(_)
        | Type::Tensor { .. }
        | Type::Tuple(_)
        | Type::Enum(_)
        | Type::Function(_)
        | Type::Param(_) => {
            let message = format!("expected a struct before `.{}`, found `{}`", name.name, checker.show(ty));
            let diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, name.span, message);
            let diagnostic = if let Type::Enum(of) = ty {
                diagnostic.help(checker.module.match_help(of.def))
            } else if matches!(ty.elem(), Type::Tuple(_)) {
                diagnostic.help("the parts of a tuple are `.0`, `.1` and so on")
            } else {
                foreign_members::explain_field(checker, (ty, base), name, diagnostic)
            };
            let is_explained = !diagnostic.help.is_empty();
            checker.report(if is_explained { diagnostic } else { diagnostic.help("only structs have fields") });
            None
        }
    }
}

/// The type of a part of a tuple. A part of a tensor of tuples is the tensor of the parts.
pub(super) fn find_part(checker: &mut BodyChecker<'_, '_>, ty: &Type, index: u32, span: Span) -> Option<Type> {
    if let Type::Tensor { elem, dims } = ty
        && matches!(**elem, Type::Tuple(_))
    {
        return Some(Type::tensor(find_part(checker, elem, index, span)?, dims.clone()));
    }
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
    let message = format!("expected a part of `{}`, found `.{index}`", checker.show(ty));
    checker.report(Diagnostic::error(codes::UNKNOWN_FIELD, span, message).help(help));
    None
}

pub(super) fn field(checker: &mut BodyChecker<'_, '_>, value: Expr, name: &Ident, span: Span) -> Expr {
    match find_field(checker, (&value.ty.clone(), value.span), name) {
        Some((index, ty)) => Expr { span, ty, kind: ExprKind::Field { base: Box::new(value), index } },
        None => Expr::error(span),
    }
}

pub(super) fn tuple_field(
    checker: &mut BodyChecker<'_, '_>,
    value: Expr,
    index: u32,
    index_span: Span,
    span: Span,
) -> Expr {
    match find_part(checker, &value.ty.clone(), index, index_span) {
        Some(ty) => Expr { span, ty, kind: ExprKind::Field { base: Box::new(value), index: index as usize } },
        None => Expr::error(span),
    }
}
