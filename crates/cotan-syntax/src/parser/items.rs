//! Declarations.

use super::brackets::List;
use super::{Parser, attributes, blocks, recovery, types};
use crate::ast::{
    Attr, Const, Enum, Expr, ExprKind, Field, Function, FunctionForm, GenericParam, Ident, Impl, Import, ImportSource,
    Item, ItemKind, Param, Path, Payload, Signature, Struct, Suffix, Trait, TraitMethod, TypeAlias, TypeExpr, Variant,
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::precedence;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Whether a declaration starts with the next token, attributes left aside.
    pub(super) fn starts_item(&self) -> bool {
        self.starts_item_ahead(0)
    }

    pub(super) fn starts_item_ahead(&self, ahead: usize) -> bool {
        matches!(
            self.peek_ahead(ahead),
            TokenKind::Fn
                | TokenKind::Kernel
                | TokenKind::Struct
                | TokenKind::Enum
                | TokenKind::Type
                | TokenKind::Const
                | TokenKind::Trait
                | TokenKind::Impl
                | TokenKind::Import
                | TokenKind::Pub
        )
    }

    /// Reads a declaration, or reports that there is none.
    pub(super) fn item(&mut self) -> Item {
        let doc = attributes::doc(self);
        let start = self.token().span;
        let attrs = attributes::attrs(self);
        // A doc comment may also stand between the attributes and the declaration.
        let doc = doc.or_else(|| attributes::doc(self));
        let public = self.eat(TokenKind::Pub);
        let kind = item_kind(self, &attrs);
        Item { id: self.node(), span: self.span_from(start), doc, attrs, public, kind }
    }
}

/// Reads all declarations of the file.
pub(super) fn module_items(parser: &mut Parser<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    while !parser.at(TokenKind::Eof) {
        let start = parser.pos;
        parser.most_nodes = parser.n_nodes.saturating_add(parser.nodes);
        let mut item = parser.item();
        let is_leaving = parser.is_leaving();
        if is_leaving {
            parser.end = parser.tokens.len() - 1;
            recovery::skip_to_item(parser);
            // What was hidden belongs to the declaration, the place of the error too.
            item.span = item.span.to(parser.previous_span());
        }
        items.push(item);
        if !is_leaving {
            end_item(parser, start);
        }
    }
    items
}

/// Moves past the end of a declaration of the file, which began at the token `start`.
fn end_item(parser: &mut Parser<'_>, start: usize) {
    let token = parser.token();
    if token.kind == TokenKind::Eof {
        return;
    }
    if !parser.has_failed_here() {
        if token.newline_before && may_start_item(parser) {
            return;
        }
        if token.kind == TokenKind::Semicolon && ends_without_brace(parser) {
            parser.bump();
            return;
        }
        let diagnostic = unended_item(parser);
        parser.report(diagnostic);
    }
    let is_next = token.newline_before && may_start_item(parser) && parser.pos > start;
    if !is_next {
        recovery::skip_to_item(parser);
    }
}

fn may_start_item(parser: &Parser<'_>) -> bool {
    parser.starts_item() || parser.at(TokenKind::At) || foreign_keyword(parser).is_some()
}

fn ends_without_brace(parser: &Parser<'_>) -> bool {
    parser.pos > 0 && parser.tokens[parser.pos - 1].kind != TokenKind::RBrace
}

fn unended_item(parser: &Parser<'_>) -> Diagnostic {
    let found = parser.found();
    let span = parser.token().span;
    match parser.peek() {
        TokenKind::Semicolon => {
            Diagnostic::error(codes::STRAY_SEMICOLON, span, "expected a declaration, found `;`").help("remove the `;`")
        }
        TokenKind::FoldMul => {
            Diagnostic::error(codes::STRAY_COMMENT_END, span, "expected a declaration, found the product fold `*/`")
                .help("`*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`")
        }
        kind if precedence::infix(kind).is_some() && parser.pos > 0 => Diagnostic::error(
            codes::OPERATOR_AT_LINE_START,
            span,
            format!("expected a declaration, found the infix operator {found}"),
        )
        .help(format!("end the line before with {found}")),
        TokenKind::RBrace | TokenKind::RParen | TokenKind::RBracket => Diagnostic::error(
            codes::UNMATCHED_BRACKET,
            span,
            format!("expected an open bracket before {found}, found none"),
        )
        .help(format!("remove {found}, or add the bracket that it closes")),
        _ => Diagnostic::error(codes::EXPECTED_ITEM, span, format!("expected a declaration, found {found}"))
            .help("outside of functions stand only declarations such as `fn`, `struct` and `const`")
            .help("put each declaration on a line of its own"),
    }
}

fn item_kind(parser: &mut Parser<'_>, attrs: &[Attr]) -> ItemKind {
    match parser.peek() {
        TokenKind::Fn => function(parser, FunctionForm::Fn),
        TokenKind::Kernel => function(parser, FunctionForm::Kernel),
        TokenKind::Struct => struct_item(parser),
        TokenKind::Enum => enum_item(parser),
        TokenKind::Type => type_alias(parser),
        TokenKind::Const => const_item(parser),
        TokenKind::Trait => trait_item(parser),
        TokenKind::Impl => impl_item(parser),
        TokenKind::Import => import(parser),
        _ => missing_item(parser, attrs),
    }
}

/// What to write instead of a word that starts declarations in other languages.
fn foreign_keyword(parser: &Parser<'_>) -> Option<TokenKind> {
    let word = parser.word_ahead(0)?;
    let is_declaration = parser.peek_ahead(1) == TokenKind::Ident && !parser.token_ahead(1).newline_before;
    let kind = match word {
        "function" | "def" | "fun" | "func" | "proc" | "fnc" => TokenKind::Fn,
        "class" | "record" => TokenKind::Struct,
        "interface" | "protocol" => TokenKind::Trait,
        "use" | "include" | "using" => TokenKind::Import,
        "typedef" | "alias" | "newtype" => TokenKind::Type,
        _ => return None,
    };
    is_declaration.then_some(kind)
}

fn missing_item(parser: &mut Parser<'_>, attrs: &[Attr]) -> ItemKind {
    let span = parser.token().span;
    let found = parser.found();
    if let Some(kind) = foreign_keyword(parser) {
        let keyword = kind.text().unwrap_or("");
        let diagnostic =
            Diagnostic::error(codes::FOREIGN_KEYWORD, span, format!("expected `{keyword}`, found {found}"))
                .help(format!("write `{keyword}`"));
        parser.report(diagnostic);
        return match kind {
            TokenKind::Fn => function(parser, FunctionForm::Fn),
            TokenKind::Struct => struct_item(parser),
            TokenKind::Trait => trait_item(parser),
            TokenKind::Import => import(parser),
            _ => type_alias(parser),
        };
    }
    let diagnostic = match attrs.last() {
        Some(attr) => Diagnostic::error(
            codes::MISPLACED_ATTRIBUTE,
            attr.span,
            format!("expected a declaration after the attribute `{}`, found {found}", attr.name.name),
        )
        .help("an attribute stands directly before `fn` or another declaration"),
        None => unended_item(parser),
    };
    parser.report(diagnostic);
    ItemKind::Error
}

fn function(parser: &mut Parser<'_>, form: FunctionForm) -> ItemKind {
    let signature = signature(parser);
    let body = function_body(parser, &signature);
    ItemKind::Function(Function { form, signature, body })
}

fn signature(parser: &mut Parser<'_>) -> Signature {
    let start = parser.bump();
    let name = parser.ident("a function");
    let generics = generics(parser);
    let params = if parser.at(TokenKind::LParen) {
        parser.list(List::parens("a parameter"), param).0
    } else {
        if !parser.has_failed_here() {
            let message = format!("expected `(` and the parameters of `{}`, found {}", name.name, parser.found());
            let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, parser.missing_span(), message)
                .help(format!("write `fn {}()` if there are none", name.name));
            parser.report(diagnostic);
        }
        Vec::new()
    };
    let result = result_type(parser, &name);
    Signature { span: parser.span_from(start), name, generics, params, result }
}

fn result_type(parser: &mut Parser<'_>, name: &Ident) -> Option<TypeExpr> {
    if parser.eat(TokenKind::Arrow).is_some() {
        return Some(parser.ty());
    }
    if parser.has_failed_here() {
        return None;
    }
    if parser.at(TokenKind::Colon) || parser.at(TokenKind::FatArrow) {
        let message = format!("expected `->` before the result type, found {}", parser.found());
        let diagnostic = Diagnostic::error(codes::MISSING_RESULT, parser.token().span, message).help("write `-> T`");
        parser.report(diagnostic);
        parser.bump();
        return Some(parser.ty());
    }
    if name.name != "main" {
        let message = format!("expected `->` and the result type of `{}`, found {}", name.name, parser.found());
        let diagnostic = Diagnostic::error(codes::MISSING_RESULT, parser.missing_span(), message)
            .help("write `-> T`, or `-> ()` if there is no result");
        parser.report_earlier(diagnostic);
    }
    None
}

fn function_body(parser: &mut Parser<'_>, signature: &Signature) -> Expr {
    match parser.peek() {
        TokenKind::LBrace => {
            let start = parser.token().span;
            // The braces of a body are no nesting.
            let block = blocks::block_at_this_level(parser, Vec::new());
            parser.expr_node(start, ExprKind::Block(Box::new(block)))
        }
        TokenKind::Eq => {
            parser.bump();
            parser.ascribed()
        }
        _ => {
            let span = parser.missing_span();
            let message =
                format!("expected `=` or `{{` and the body of `{}`, found {}", signature.name.name, parser.found());
            let diagnostic = Diagnostic::error(codes::MISSING_BODY, span, message).help("a body is `= e` or `{ ... }`");
            parser.report(diagnostic);
            parser.error_expr(span.before())
        }
    }
}

/// Reads `[N, T: Float, ..S]`, if it is there.
fn generics(parser: &mut Parser<'_>) -> Vec<GenericParam> {
    if parser.at(TokenKind::Lt) {
        let diagnostic = Diagnostic::error(
            codes::EXPECTED_TOKEN,
            parser.token().span,
            "expected `[` before the type parameters, found `<`",
        )
        .help("write type and shape parameters in `[...]`");
        parser.report(diagnostic);
        return Vec::new();
    }
    if !parser.at(TokenKind::LBracket) {
        return Vec::new();
    }
    parser
        .list(List::squares("a parameter"), |parser| {
            let start = parser.token().span;
            let pack = parser.eat(TokenKind::DotDot);
            let name = parser.ident("a type or shape parameter");
            let mut bounds = Vec::new();
            if parser.eat(TokenKind::Colon).is_some() {
                bounds.push(parser.ty());
                while parser.eat(TokenKind::Plus).is_some() {
                    bounds.push(parser.ty());
                }
            }
            GenericParam { id: parser.node(), span: parser.span_from(start), pack, name, bounds }
        })
        .0
}

fn param(parser: &mut Parser<'_>) -> Param {
    let start = parser.token().span;
    let attrs = attributes::attrs(parser);
    let mutable = parser.eat(TokenKind::Mut);
    let name = parser.ident("a parameter");
    let ty = if parser.eat(TokenKind::Colon).is_some() { parser.ty() } else { missing_param_type(parser, &name) };
    let default = parser.eat(TokenKind::Eq).map(|_| parser.expr());
    Param { id: parser.node(), span: parser.span_from(start), attrs, mutable, name, ty, default }
}

fn missing_param_type(parser: &mut Parser<'_>, name: &Ident) -> TypeExpr {
    let span = parser.missing_span().before();
    let second = parser.word_ahead(0).filter(|_| !parser.token().newline_before);
    if !parser.has_failed_here() {
        let message = format!("expected `:` and the type of `{}`, found {}", name.name, parser.found());
        let diagnostic = Diagnostic::error(codes::MISSING_PARAM_TYPE, parser.missing_span(), message);
        let name = &name.name;
        // A type may stand first, as C writes it, or the colon may be missing.
        let Some(second) = second else {
            parser.report_earlier(diagnostic.help(format!("write the type: `{name}: f64`")));
            return types::error_type(parser, span);
        };
        let is_reversed = Suffix::ALL.iter().any(|scalar| scalar.as_str() == name);
        if is_reversed {
            parser.report(diagnostic.help(format!("write `{second}: {name}`")));
            parser.bump();
        } else {
            parser.report(diagnostic.help(format!("write `{name}: {second}`")));
            return parser.ty();
        }
    }
    types::error_type(parser, span)
}

fn struct_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let name = parser.ident("a struct");
    let generics = generics(parser);
    let fields = fields(parser, &name);
    ItemKind::Struct(Struct { name, generics, fields })
}

/// Reads the braces of the declaration `name`.
fn body_list<T>(
    parser: &mut Parser<'_>,
    name: &Ident,
    element: &'static str,
    read: impl FnMut(&mut Parser<'_>) -> T,
) -> Vec<T> {
    if parser.at(TokenKind::LBrace) {
        return parser.list(List::braces(element), read).0;
    }
    let message = format!("expected `{{` after `{}`, found {}", name.name, parser.found());
    let diagnostic = Diagnostic::error(codes::MISSING_BODY, parser.missing_span(), message)
        .help(format!("write `{} {{ ... }}`", name.name));
    parser.report(diagnostic);
    Vec::new()
}

fn fields(parser: &mut Parser<'_>, name: &Ident) -> Vec<Field> {
    body_list(parser, name, "a field", |parser| {
        let doc = attributes::doc(parser);
        let start = parser.token().span;
        let attrs = attributes::attrs(parser);
        let name = parser.ident("a field");
        let ty = if parser.eat(TokenKind::Colon).is_some() { parser.ty() } else { missing_param_type(parser, &name) };
        Field { id: parser.node(), span: parser.span_from(start), doc, attrs, name, ty }
    })
}

fn enum_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let name = parser.ident("an enum");
    let generics = generics(parser);
    let variants = body_list(parser, &name, "a variant", variant);
    ItemKind::Enum(Enum { name, generics, variants })
}

fn variant(parser: &mut Parser<'_>) -> Variant {
    let doc = attributes::doc(parser);
    let start = parser.token().span;
    let name = parser.ident("a variant");
    let payload = match parser.peek() {
        TokenKind::LParen => Payload::Tuple(parser.list(List::parens("a type"), Parser::ty).0),
        TokenKind::LBrace => Payload::Struct(fields(parser, &name)),
        _ => Payload::Unit,
    };
    Variant { id: parser.node(), span: parser.span_from(start), doc, name, payload }
}

fn type_alias(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let name = parser.ident("a type");
    let generics = generics(parser);
    parser.expect(TokenKind::Eq, "and the type that the name stands for");
    let ty = parser.ty();
    ItemKind::TypeAlias(TypeAlias { name, generics, ty })
}

fn const_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let name = parser.ident("a constant");
    let ty = parser.eat(TokenKind::Colon).map(|_| parser.ty());
    let value = if parser.expect(TokenKind::Eq, "and the value of the constant") {
        parser.ascribed()
    } else {
        let span = parser.missing_span().before();
        parser.error_expr(span)
    };
    ItemKind::Const(Const { name, ty, value })
}

fn trait_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let name = parser.ident("a trait");
    let generics = generics(parser);
    let methods = body_list(parser, &name, "a function", |parser| {
        let doc = attributes::doc(parser);
        let start = parser.token().span;
        let attrs = attributes::attrs(parser);
        if !parser.at(TokenKind::Fn) {
            parser.report_expected("fn", "and a function of the trait");
            return None;
        }
        let signature = signature(parser);
        Some(TraitMethod { id: parser.node(), span: parser.span_from(start), doc, attrs, signature })
    });
    ItemKind::Trait(Trait { name, generics, methods: methods.into_iter().flatten().collect() })
}

fn impl_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let generics = generics(parser);
    let trait_ref = parser.ty();
    parser.expect(TokenKind::For, "and the type that gets the functions");
    let target = parser.ty();
    let name = Ident { name: parser.text(target.span).to_owned(), span: target.span };
    let items = body_list(parser, &name, "a function", |parser| {
        if !matches!(parser.peek(), TokenKind::Fn | TokenKind::Kernel | TokenKind::At | TokenKind::Pub) {
            parser.report_expected("fn", "and a function of the trait");
            return None;
        }
        let start = parser.token().span;
        let item = parser.item();
        if matches!(item.kind, ItemKind::Function(_) | ItemKind::Error) {
            return Some(item);
        }
        let message = "expected a function in `impl`, found another declaration";
        let diagnostic = Diagnostic::error(codes::NESTED_ITEM, start, message);
        parser.report_earlier(diagnostic.help("move the declaration out of the `impl`"));
        None
    });
    ItemKind::Impl(Impl { generics, trait_ref, target, items: items.into_iter().flatten().collect() })
}

fn import(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let source = match parser.peek() {
        TokenKind::DotSlash => {
            let start = parser.bump();
            relative_import(parser, start, 0)
        }
        TokenKind::DotDot => {
            let start = parser.token().span;
            let mut parents = 0;
            while parser.eat(TokenKind::DotDot).is_some() {
                parents += 1;
                parser.expect(TokenKind::Slash, "after `..` in the path of a module");
            }
            relative_import(parser, start, parents)
        }
        TokenKind::Str => {
            let text = parser.text(parser.token().span).trim_matches('"').to_owned();
            let message = format!("expected the name of a module, found {}", parser.found());
            let diagnostic = Diagnostic::error(codes::EXPECTED_NAME, parser.token().span, message)
                .help(format!("write the path without quotes and `.cot`: `import ./{text}`"));
            parser.report(diagnostic);
            let span = parser.bump();
            ImportSource::Library(Path { segments: Vec::new(), span })
        }
        _ => ImportSource::Library(parser.path("a module")),
    };
    let alias = parser.eat(TokenKind::As).map(|_| parser.ident("an imported module"));
    ItemKind::Import(Import { source, alias })
}

fn relative_import(parser: &mut Parser<'_>, start: Span, parents: u32) -> ImportSource {
    let mut segments = vec![parser.ident("a module")];
    while parser.eat(TokenKind::Slash).is_some() {
        segments.push(parser.ident("a module"));
    }
    ImportSource::Relative { parents, segments, span: parser.span_from(start) }
}
