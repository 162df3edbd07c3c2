//! Enums: their declarations, and the values that are made of them.

use cotan_syntax::ast::{self, Arg as AstArg, Ident, Payload, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::arguments::Source;
use super::instantiate::LiteralOf;
use super::literal_fields::{field_sources, field_values};
use super::scope::field_name;
use super::scope::path_name;
use super::type_scope::TypeScope;
use super::{BodyChecker, Def, ModuleChecker, arguments, instantiate, literal_fields, type_exprs};
use crate::codes;
use crate::suggest::closest;
use crate::typed::{self, Expr, ExprKind, FieldValue, PayloadForm, Variant};
use crate::types::{EnumId, EnumType, GenericArg, Type};

/// An enum that a name stands for, with the parameters that an alias gives it.
pub(super) struct EnumHead {
    pub(super) id: EnumId,
    known: Option<Vec<GenericArg>>,
}

impl<'a> ModuleChecker<'a> {
    /// The position of a variant; reports one that the enum does not have.
    pub(super) fn find_variant(&mut self, id: EnumId, name: &Ident) -> Option<usize> {
        let def = &self.enums[id.0 as usize];
        if let Some(index) = def.variants.iter().position(|variant| variant.name == name.name) {
            let definition = def.variants[index].name_span;
            self.note_use(name.span, definition);
            return Some(index);
        }
        if name.name.is_empty() {
            return None;
        }
        let names = def.variants.iter().map(|variant| variant.name.as_str());
        let help = match closest(&name.name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its variants are {}", list(&def.variants)),
        };
        let message = format!("expected a variant of `{}`, found `{}`", def.name, name.name);
        let declared = def.name_span;
        self.report(
            Diagnostic::error(codes::UNKNOWN_VARIANT, name.span, message)
                .label(declared, "the enum is declared here")
                .help(help),
        );
        None
    }

    /// What to do with an enum where its payload is wanted.
    pub(super) fn match_help(&self, id: EnumId) -> String {
        let example = self.enums[id.0 as usize].variants.first().map_or("_".to_owned(), construction);
        format!("look at the payload with `match`: `match s {{ {example} => ..., _ => ... }}`")
    }

    /// How to make a value of an enum.
    pub(super) fn construct_help(&self, id: EnumId) -> String {
        let def = &self.enums[id.0 as usize];
        match def.variants.first() {
            Some(variant) => format!("name a variant, as in `{}.{}`", def.name, construction(variant)),
            None => "it has no variants".to_owned(),
        }
    }

    /// An enum of the current module with a variant of that name.
    pub(super) fn enum_with(&self, variant: &str) -> Option<&str> {
        let has_variant = |name: &&str| match self.find(name).map(|definition| definition.def) {
            Some(Def::Enum(id)) => self.enums[id.0 as usize].variants.iter().any(|v| v.name == variant),
            Some(_) | None => false,
        };
        self.declared_names().find(has_variant)
    }

    /// Reports a tensor whose elements would be, or contain, enums; `found` is what the message calls an element.
    pub(super) fn report_enum_element(&mut self, id: EnumId, found: &str, span: Span) {
        let name = &self.enums[id.0 as usize].name;
        let message = format!("expected elements that are alike in a tensor, found {found} with the enum `{name}`");
        self.report(Diagnostic::error(codes::ENUM_ELEMENT, span, message).help(
            "keep one tensor for each variant, or a tensor of numbers that tell the variants apart and a tensor for each payload",
        ));
    }
}

/// Takes in the name of an enum; its variants follow when all names are known.
pub(super) fn declare_enum<'a>(checker: &mut ModuleChecker<'a>, item: &'a ast::Enum, is_public: bool) {
    let id = EnumId(checker.enums.len() as u32);
    if checker.define(&item.name, Def::Enum(id), is_public) {
        checker.enum_items.push((checker.current, item));
        checker.enums.push(typed::Enum {
            name: checker.full_name(&item.name.name),
            name_span: item.name.span,
            generics: Vec::new(),
            variants: Vec::new(),
        });
    }
}

/// Takes in the variants of an enum, whose generics are known.
pub(super) fn resolve_variants(checker: &mut ModuleChecker<'_>, at: usize) {
    let (module, item) = checker.enum_items[at];
    checker.current = module;
    let mut scope = TypeScope::new(checker.enums[at].generics.clone());
    if item.variants.is_empty() {
        let message = format!("expected at least one variant of `{}`, found none", item.name.name);
        checker.report(
            Diagnostic::error(codes::EMPTY_ENUM, item.name.span, message)
                .help("an enum without variants has no values: declare a variant, or an empty struct"),
        );
    }
    let mut variants: Vec<Variant> = Vec::new();
    for variant in &item.variants {
        if variants.iter().any(|other| other.name == variant.name.name) {
            checker.report_twice(&variant.name, "variant");
            continue;
        }
        let (form, fields) = match &variant.payload {
            Payload::Unit => (PayloadForm::Unit, Vec::new()),
            Payload::Tuple(types) => {
                let part = |(at, ty): (usize, &ast::TypeExpr)| typed::Field {
                    name: at.to_string(),
                    span: ty.span,
                    ty: checker.value_type(ty, &mut scope),
                };
                (PayloadForm::Tuple, types.iter().enumerate().map(part).collect())
            }
            Payload::Struct(fields) => (PayloadForm::Struct, type_exprs::fields(checker, fields, &mut scope)),
        };
        variants.push(Variant { name: variant.name.name.clone(), name_span: variant.name.span, form, fields });
    }
    checker.enums[at].variants = variants;
}

impl BodyChecker<'_, '_> {
    /// Whether a value may be the element of a tensor; reports one that may not.
    pub(super) fn require_element(&mut self, value: &Expr) -> bool {
        let Some(id) = self.module.declarations().enum_in(&value.ty) else { return true };
        let found = self.show_value(value);
        self.module.report_enum_element(id, &found, value.span);
        false
    }
}

/// The enum that a name, with the names after its dots, stands for, and how many of those it needs.
fn enum_named<'n>(
    checker: &mut BodyChecker<'_, '_>,
    name: &str,
    span: Span,
    rest: impl FnMut(usize) -> Option<&'n Ident>,
) -> Option<(EnumHead, usize)> {
    if !checker.is_item(name) {
        return None;
    }
    let (n_uses, n_errors) = (checker.module.facts.definitions.len(), checker.module.diagnostics.len());
    let found = checker.module.follow(name, span, rest)?;
    let head = match found.def {
        Def::Enum(id) => Some(EnumHead { id, known: None }),
        Def::Alias(at) => {
            let (generics, ty) = checker.module.resolve_alias(at, span);
            if let Type::Enum(of) = ty {
                Some(EnumHead { id: of.def, known: generics.is_empty().then_some(of.args) })
            } else {
                None
            }
        }
        Def::Function(_)
        | Def::Pending
        | Def::Gradients(_)
        | Def::Struct(_)
        | Def::Constant(_)
        | Def::Trait(_)
        | Def::Module(_)
        | Def::Unusable => None,
    };
    if head.is_none() {
        // It is looked up again as something else.
        checker.module.facts.definitions.truncate(n_uses);
        checker.module.take_back(n_errors);
    }
    head.map(|head| (head, found.n_dots))
}

/// The enum before the variant that a path names.
pub(super) fn enum_before_variant(checker: &mut BodyChecker<'_, '_>, path: &ast::Path) -> Option<EnumHead> {
    let (_, owner) = path.segments.split_last()?;
    let (first, rest) = owner.split_first()?;
    let (head, n_dots) = enum_named(checker, &first.name, first.span, |at| rest.get(at))?;
    (n_dots == rest.len()).then_some(head)
}

/// `S.Circle(r)`, `S.Dot`, `S[4].Dot` at the beginning of `base ops..`, with how many of the
/// steps belong to it.
pub(super) fn variant_value(
    checker: &mut BodyChecker<'_, '_>,
    base: &ast::Expr,
    ops: &[PostfixOp],
) -> Option<(Expr, usize)> {
    let ast::ExprKind::Name(name) = &base.kind else { return None };
    let (head, mut used) = enum_named(checker, name, base.span, |at| field_name(ops.get(at)))?;
    let mut brackets: &[AstArg] = &[];
    if let Some(PostfixOp { kind: PostfixKind::Index(args), .. }) = ops.get(used) {
        brackets = args;
        used += 1;
    }
    let Some(PostfixOp { kind: PostfixKind::Field(variant), span: field_span, .. }) = ops.get(used) else {
        return None;
    };
    used += 1;
    let mut span = base.span.to(*field_span);
    if let Some(PostfixOp { kind: PostfixKind::Index(args), span: bracket, .. }) = ops.get(used)
        && brackets.is_empty()
    {
        (brackets, span) = (args, span.to(*bracket));
        used += 1;
    }
    let mut args: Option<&[AstArg]> = None;
    if let Some(PostfixOp { kind: PostfixKind::Call(given), span: call, .. }) = ops.get(used) {
        args = Some(given);
        span = span.to(*call);
        used += 1;
    }
    let value = tuple_variant(checker, head, variant, brackets, args, span);
    for op in &ops[..used] {
        checker.node_types.push((op.id, value.ty.clone()));
    }
    Some((value, used))
}

fn tuple_variant(
    checker: &mut BodyChecker<'_, '_>,
    head: EnumHead,
    name: &Ident,
    brackets: &[AstArg],
    args: Option<&[AstArg]>,
    span: Span,
) -> Expr {
    let given = arguments::given(args.unwrap_or(&[]));
    let Some(sources) = arguments::by_position(checker, &format!("the variant `{}`", name.name), given) else {
        return Expr::error(span);
    };
    let Some(index) = checker.module.find_variant(head.id, name) else {
        checker.check_anyway(sources);
        return Expr::error(span);
    };
    let variant = checker.module.enums[head.id.0 as usize].variants[index].clone();
    let found = match (variant.form, args) {
        (PayloadForm::Unit, None) | (PayloadForm::Tuple, Some(_)) => None,
        (PayloadForm::Unit | PayloadForm::Struct, Some(_)) => Some("values in parentheses"),
        (PayloadForm::Tuple | PayloadForm::Struct, None) => Some("none"),
    };
    if let Some(found) = found {
        checker.check_anyway(sources);
        let help = format!("{}.{}", checker.module.enum_name(head.id.0), construction(&variant));
        let wanted = if variant.form == PayloadForm::Unit { "no payload" } else { "the payload" };
        report_payload(checker, &variant, span, wanted, found, &help);
        return Expr::error(span);
    }
    if sources.len() != variant.fields.len() {
        check_anyway_counted(checker, &variant, sources, span);
        return Expr::error(span);
    }
    let owner = format!("{}.{}", checker.module.enum_name(head.id.0), variant.name);
    let parts = variant.fields.iter().zip(sources);
    let parts = parts.map(|(field, source)| (field.ty.clone(), format!("the payload of `{owner}`"), source));
    let parts: Vec<(Type, String, Source<'_>)> = parts.collect();
    let value = variant_of(checker, head, index, brackets, parts, span);
    let Some((ty, values)) = value else { return Expr::error(span) };
    let fields = values.into_iter().enumerate().map(|(index, value)| FieldValue { index, value }).collect();
    Expr { span, ty, kind: ExprKind::Variant { index, fields } }
}

fn check_anyway_counted(checker: &mut BodyChecker<'_, '_>, variant: &Variant, sources: Vec<Source<'_>>, span: Span) {
    let n_found = sources.len();
    checker.check_anyway(sources);
    arguments::report_argument_count(
        checker,
        &variant.name,
        variant.fields.len(),
        n_found,
        span,
        Some(variant.name_span),
    );
}

/// `S.Box { w: 1.0, h: 2.0 }`
pub(super) fn variant_literal(
    checker: &mut BodyChecker<'_, '_>,
    head: EnumHead,
    literal: &ast::StructLiteral,
    span: Span,
) -> Expr {
    let found = literal.path.segments.last().and_then(|name| checker.module.find_variant(head.id, name));
    let Some(index) = found else {
        literal.fields.iter().for_each(|field| drop(checker.expr(&field.value)));
        return Expr::error(span);
    };
    let variant = checker.module.enums[head.id.0 as usize].variants[index].clone();
    if variant.form != PayloadForm::Struct {
        literal.fields.iter().for_each(|field| drop(checker.expr(&field.value)));
        let help = format!("{}.{}", checker.module.enum_name(head.id.0), construction(&variant));
        let wanted = if variant.form == PayloadForm::Unit { "no payload" } else { "values in parentheses" };
        report_payload(checker, &variant, span, wanted, "fields in braces", &help);
        return Expr::error(span);
    }
    let name = format!("{}.{}", checker.module.enum_name(head.id.0), variant.name);
    let given =
        literal_fields::given_fields(checker, &literal.fields, &variant.fields, &format!("the variant `{name}`"));
    if let Some(base) = &literal.base {
        let base = checker.expr(base);
        let found = checker.show_value(&base);
        let message = format!("expected the fields of `{name}` alone, found {found} to take them from");
        checker.report(
            Diagnostic::error(codes::VARIANT_PAYLOAD, base.span, message)
                .help("a value of an enum may be of another variant: take the fields with `match`"),
        );
    } else {
        literal_fields::report_missing_fields(checker, &given, &variant.fields, (&name, variant.name_span), span);
    }
    let sources = field_sources(&given, &variant.fields, &name);
    let value = variant_of(checker, head, index, &literal.generics, sources, span);
    let Some((ty, values)) = value else { return Expr::error(span) };
    Expr { span, ty, kind: ExprKind::Variant { index, fields: field_values(&given, values) } }
}

/// The type of a value of a variant, and its payload as it fits.
fn variant_of(
    checker: &mut BodyChecker<'_, '_>,
    head: EnumHead,
    index: usize,
    brackets: &[AstArg],
    parts: Vec<(Type, String, Source<'_>)>,
    span: Span,
) -> Option<(Type, Vec<Expr>)> {
    let (name, generics) = {
        let def = &checker.module.enums[head.id.0 as usize];
        (format!("{}.{}", def.name, def.variants[index].name), def.generics.clone())
    };
    let known = match head.known {
        Some(known) if brackets.is_empty() => known.into_iter().map(Some).collect(),
        Some(_) | None => instantiate::explicit_generics(checker, &generics, brackets, &name, span)?,
    };
    let of = LiteralOf { name: &name, generics: &generics, known, is_enum: true };
    let (args, values) = instantiate::fields_of_literal(checker, of, parts, span)?;
    let is_wrong = values.iter().any(|value| value.ty.has_error());
    let ty = Type::Enum(EnumType { def: head.id, args, tangent: false });
    (!is_wrong).then_some((ty, values))
}

/// Reports an enum where the name of a struct is needed.
pub(super) fn report_no_variant<T>(checker: &mut BodyChecker<'_, '_>, id: EnumId, path: &ast::Path) -> Option<T> {
    let message = format!("expected the name of a struct, found the enum `{}`", path_name(path));
    let help = checker.module.construct_help(id);
    checker.report(Diagnostic::error(codes::UNKNOWN_VARIANT, path.span, message).help(help));
    None
}

/// How a variant is written where a value of it is made, or matched.
fn construction(variant: &Variant) -> String {
    let names = variant.fields.iter().map(|field| field.name.as_str());
    match variant.form {
        PayloadForm::Unit => variant.name.clone(),
        PayloadForm::Tuple => {
            let names: Vec<&str> = ["a", "b", "c", "d"].into_iter().cycle().take(variant.fields.len()).collect();
            format!("{}({})", variant.name, names.join(", "))
        }
        PayloadForm::Struct => format!("{} {{ {} }}", variant.name, names.collect::<Vec<_>>().join(", ")),
    }
}

fn list(variants: &[Variant]) -> String {
    let names: Vec<String> = variants.iter().map(|variant| format!("`{}`", variant.name)).collect();
    names.join(", ")
}

/// Reports a payload that is not that of its variant.
pub(super) fn report_payload(
    checker: &mut BodyChecker<'_, '_>,
    variant: &Variant,
    span: Span,
    wanted: &str,
    found: &str,
    help: &str,
) {
    let message = format!("expected {wanted} of the variant `{}`, found {found}", variant.name);
    checker.report(
        Diagnostic::error(codes::VARIANT_PAYLOAD, span, message)
            .label(variant.name_span, "declared here")
            .help(format!("write `{help}`")),
    );
}
