//! Structs and tuples: literals, fields, parts.

use cotan_syntax::ast::{self, Ident};
use cotan_syntax::{Diagnostic, Span};

use super::arguments::Source;
use super::instantiate::LiteralOf;
use super::scope::path_name;
use super::{BodyChecker, Def, Definition};
use crate::codes;
use crate::suggest::closest;
use crate::typed::{self, Expr, ExprKind, FieldValue};
use crate::types::{StructId, StructType, Type};

impl BodyChecker<'_, '_> {
    pub(super) fn struct_literal(&mut self, literal: &ast::StructLiteral, span: Span) -> Expr {
        if let Some(of) = self.enum_before_variant(&literal.path) {
            return self.variant_literal(of, literal, span);
        }
        let Some(id) = self.struct_named(&literal.path) else {
            literal.fields.iter().for_each(|field| drop(self.expr(&field.value)));
            if let Some(base) = &literal.base {
                self.expr(base);
            }
            return Expr::error(span);
        };
        let def = self.module.structs[id.0 as usize].clone();
        let given = self.given_fields(&literal.fields, &def.fields, &format!("the struct `{}`", def.name));
        let base = literal.base.as_ref().map(|base| self.expr(base));
        if base.is_none() {
            self.report_missing_fields(&given, &def.fields, (&def.name, def.name_span), span);
        }
        let sources = field_sources(&given, &def.fields, &def.name);
        let own = |args| Type::Struct(StructType { def: id, args, tangent: false });
        let Some(mut known) = self.explicit_generics(&def.generics, &literal.generics, &def.name, span) else {
            return Expr::error(span);
        };
        if let (true, Some(Expr { ty: Type::Struct(of), .. })) = (literal.generics.is_empty(), &base) {
            // An update keeps the type of its base.
            known.iter_mut().zip(&of.args).for_each(|(known, arg)| *known = Some(arg.clone()));
        }
        let of = LiteralOf { name: &def.name, generics: &def.generics, known, is_enum: false };
        let Some((args, values)) = self.fields_of_literal(of, sources, span) else { return Expr::error(span) };
        let ty = own(args);
        let fields = field_values(&given, values);
        let kind = match base {
            Some(base) => {
                let base = Box::new(self.fit(base, &ty, &format!("the base of `{}`", def.name)));
                ExprKind::StructUpdate { fields, base }
            }
            None => ExprKind::Struct(fields),
        };
        Expr { span, ty, kind }
    }

    /// The fields that a literal gives, each once and by position, in the order in which they are written.
    pub(super) fn given_fields<'s>(
        &mut self,
        written: &'s [ast::FieldInit],
        fields: &[typed::Field],
        owner: &str,
    ) -> Vec<(usize, &'s ast::FieldInit)> {
        let mut given: Vec<(usize, &ast::FieldInit)> = Vec::new();
        for field in written {
            let Some(at) = fields.iter().position(|other| other.name == field.name.name) else {
                self.expr(&field.value);
                let names = fields.iter().map(|field| field.name.as_str());
                self.report_unknown_field(&field.name, owner, names.collect());
                continue;
            };
            if given.iter().any(|(other, _)| *other == at) {
                self.module.report_twice(&field.name, "field");
                self.expr(&field.value);
                continue;
            }
            self.module.note_use(field.name.span, fields[at].span);
            given.push((at, field));
        }
        given
    }

    /// The struct that a path names; reports a path that names none.
    pub(super) fn struct_named(&mut self, path: &ast::Path) -> Option<StructId> {
        let Some(found) = self.module.follow_path(path) else { return self.report_no_struct(path) };
        match found.def {
            Def::Unusable => None,
            _ if found.n_dots + 1 < path.segments.len() => self.report_no_struct(path),
            Def::Struct(id) => Some(id),
            Def::Alias(at) => {
                let (_, ty) = self.module.resolve_alias(at, found.span);
                if let Type::Struct(of) = ty { Some(of.def) } else { self.report_no_struct(path) }
            }
            Def::Enum(id) => self.report_no_variant(id, path),
            Def::Function(_) | Def::Pending | Def::Gradients(_) | Def::Constant(_) | Def::Module(_) | Def::Trait(_) => {
                self.report_no_struct(path)
            }
        }
    }

    fn report_no_struct(&mut self, path: &ast::Path) -> Option<StructId> {
        let name = path_name(path);
        if !name.is_empty() {
            let is_struct =
                |name: &&str| matches!(self.module.find(name), Some(Definition { def: Def::Struct(_), .. }));
            let help = match closest(&name, self.module.declared_names().filter(is_struct)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if path.segments.len() > 1 => "write the name of a struct after the dot".to_owned(),
                None => format!("declare it: `struct {name} {{ ... }}`"),
            };
            let message = format!("expected the name of a struct, found `{name}`");
            self.report(Diagnostic::error(codes::UNKNOWN_TYPE, path.span, message).help(help));
        }
        None
    }

    /// Reports the fields of `owner` that a literal lacks.
    pub(super) fn report_missing_fields(
        &mut self,
        given: &[(usize, &ast::FieldInit)],
        fields: &[typed::Field],
        owner: (&str, Span),
        span: Span,
    ) {
        let is_missing = |(at, _): &(usize, _)| !given.iter().any(|(other, _)| other == at);
        let missing = fields.iter().enumerate().filter(is_missing).map(|(_, field)| format!("`{}`", field.name));
        let missing: Vec<String> = missing.collect();
        if !missing.is_empty() {
            let message =
                format!("expected a value for every field of `{}`, found none for {}", owner.0, missing.join(", "));
            self.report(
                Diagnostic::error(codes::MISSING_FIELDS, span, message)
                    .label(owner.1, "declared here")
                    .help("give the missing fields, or take them from another value with `..value`"),
            );
        }
    }

    pub(super) fn report_unknown_field(&mut self, name: &Ident, owner: &str, fields: Vec<&str>) {
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

    /// The position and type of a field. The field of a tensor of structs is the tensor of the fields.
    pub(super) fn find_field(&mut self, ty: &Type, name: &Ident) -> Option<(usize, Type)> {
        match ty {
            Type::Error => None,
            Type::Tensor { elem, dims } if matches!(**elem, Type::Struct(_)) => {
                let (at, field) = self.find_field(elem, name)?;
                Some((at, Type::tensor(field, dims.clone())))
            }
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
                let types = self.module.declarations().field_types(of);
                types.get(at).map(|ty| (at, ty.clone()))
            }
            Type::Never
            | Type::Scalar(_)
            | Type::Tensor { .. }
            | Type::Tuple(_)
            | Type::Enum(_)
            | Type::Function(_)
            | Type::Param(_) => {
                let help = if let Type::Enum(of) = ty {
                    self.module.match_help(of.def)
                } else if matches!(ty.elem(), Type::Tuple(_)) {
                    "the parts of a tuple are `.0`, `.1` and so on".to_owned()
                } else {
                    "only structs have fields".to_owned()
                };
                let message = format!("expected a struct before `.{}`, found `{}`", name.name, self.show(ty));
                self.report(Diagnostic::error(codes::UNKNOWN_FIELD, name.span, message).help(help));
                None
            }
        }
    }

    /// The type of a part of a tuple. A part of a tensor of tuples is the tensor of the parts.
    pub(super) fn find_part(&mut self, ty: &Type, index: u32, span: Span) -> Option<Type> {
        if let Type::Tensor { elem, dims } = ty
            && matches!(**elem, Type::Tuple(_))
        {
            return Some(Type::tensor(self.find_part(elem, index, span)?, dims.clone()));
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
        let message = format!("expected a part of `{}`, found `.{index}`", self.show(ty));
        self.report(Diagnostic::error(codes::UNKNOWN_FIELD, span, message).help(help));
        None
    }

    pub(super) fn field(&mut self, value: Expr, name: &Ident, span: Span) -> Expr {
        match self.find_field(&value.ty.clone(), name) {
            Some((index, ty)) => Expr { span, ty, kind: ExprKind::Field { base: Box::new(value), index } },
            None => Expr::error(span),
        }
    }

    pub(super) fn tuple_field(&mut self, value: Expr, index: u32, index_span: Span, span: Span) -> Expr {
        match self.find_part(&value.ty.clone(), index, index_span) {
            Some(ty) => Expr { span, ty, kind: ExprKind::Field { base: Box::new(value), index: index as usize } },
            None => Expr::error(span),
        }
    }
}

/// What a literal gives for the fields of `owner`, with their types and what a message calls them.
pub(super) fn field_sources<'s>(
    given: &[(usize, &'s ast::FieldInit)],
    fields: &[typed::Field],
    owner: &str,
) -> Vec<(Type, String, Source<'s>)> {
    let source = |(at, field): &(usize, &'s ast::FieldInit)| {
        let subject = format!("the field `{}` of `{owner}`", fields[*at].name);
        (fields[*at].ty.clone(), subject, Source::Ast(&field.value))
    };
    given.iter().map(source).collect()
}

/// Values for the fields that a literal gives.
pub(super) fn field_values(given: &[(usize, &ast::FieldInit)], values: Vec<Expr>) -> Vec<FieldValue> {
    given.iter().zip(values).map(|((index, _), value)| FieldValue { index: *index, value }).collect()
}
