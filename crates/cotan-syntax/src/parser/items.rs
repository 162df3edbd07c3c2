//! Declarations.

use super::brackets::List;
use super::foreign::blocks::Braceless;
use super::{Parser, attributes, blocks, foreign, recovery, signatures};
use crate::ast::{
    Attr, Const, Enum, Expr, ExprKind, Field, Function, FunctionForm, Ident, Impl, Import, ImportSource, Item,
    ItemKind, Path, Payload, Signature, Struct, Trait, TraitMethod, TypeAlias, Variant,
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

    /// Reads the declaration that `kind` begins, after that word or one that stands for it in other languages.
    pub(super) fn declaration_of(&mut self, kind: TokenKind) -> ItemKind {
        match kind {
            TokenKind::Struct => struct_item(self),
            TokenKind::Trait => trait_item(self),
            TokenKind::Import => import(self),
            TokenKind::Type => type_alias(self),
            _ => self.function(FunctionForm::Fn, Braceless::default()),
        }
    }

    /// Reads a function; `report` is what was found wrong with its first word.
    pub(super) fn function(&mut self, form: FunctionForm, mut report: Braceless) -> ItemKind {
        let signature = signatures::signature(self);
        let body = function_body(self, &signature, &mut report);
        report.report(self);
        ItemKind::Function(Function { form, signature, body })
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
    parser.starts_item() || parser.at(TokenKind::At) || parser.foreign_keyword().is_some()
}

fn ends_without_brace(parser: &Parser<'_>) -> bool {
    parser.pos > 0 && parser.tokens[parser.pos - 1].kind != TokenKind::RBrace
}

fn unended_item(parser: &Parser<'_>) -> Diagnostic {
    let found = parser.found();
    let span = parser.token().span;
    match parser.peek() {
        TokenKind::Semicolon => Diagnostic::error(codes::STRAY_SEMICOLON, span, "expected a declaration, found `;`")
            .help("remove the `;`")
            .fix(span, ""),
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
        TokenKind::Enum => enum_item(parser),
        TokenKind::Const => const_item(parser),
        TokenKind::Impl => impl_item(parser),
        TokenKind::Kernel => parser.function(FunctionForm::Kernel, Braceless::default()),
        kind @ (TokenKind::Fn | TokenKind::Struct | TokenKind::Trait | TokenKind::Import | TokenKind::Type) => {
            parser.declaration_of(kind)
        }
        _ => missing_item(parser, attrs),
    }
}

fn missing_item(parser: &mut Parser<'_>, attrs: &[Attr]) -> ItemKind {
    if parser.at(TokenKind::FoldDiv) {
        foreign::declarations::comment(parser);
        return ItemKind::Error;
    }
    if let Some(kind) = parser.foreign_keyword() {
        return foreign::declarations::declaration(parser, kind);
    }
    let found = parser.found();
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

fn function_body(parser: &mut Parser<'_>, signature: &Signature, braceless: &mut Braceless) -> Expr {
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
        TokenKind::Colon if !parser.has_failed_here() => {
            let start = parser.token().span;
            let what = format!("the head of `{}`", signature.name.name);
            let block = parser.block_of_chain(&what, braceless);
            parser.expr_node(start, ExprKind::Block(Box::new(block)))
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

fn struct_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let name = parser.ident("a struct");
    let generics = signatures::generics(parser);
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
    let fields = body_list(parser, name, "a field", |parser| {
        let doc = attributes::doc(parser);
        let start = parser.token().span;
        let attrs = attributes::attrs(parser);
        if parser.at(TokenKind::Pub) {
            public_field(parser);
        }
        if matches!(parser.peek(), TokenKind::Fn | TokenKind::Kernel) {
            function_among_fields(parser, name);
            return None;
        }
        let name = parser.ident("a field");
        let ty = if parser.eat(TokenKind::Colon).is_some() {
            parser.ty()
        } else {
            signatures::missing_param_type(parser, &name)
        };
        Some(Field { id: parser.node(), span: parser.span_from(start), doc, attrs, name, ty })
    });
    fields.into_iter().flatten().collect()
}

/// Reads and reports the `pub` in front of a field.
#[cold]
fn public_field(parser: &mut Parser<'_>) {
    let word = parser.bump();
    if matches!(parser.peek(), TokenKind::Fn | TokenKind::Kernel) {
        return;
    }
    let field = parser.token().span;
    let diagnostic = Diagnostic::error(codes::KEYWORD_AS_NAME, word, "expected the name of a field, found `pub`")
        .help("leave it out: who sees a struct sees its fields")
        .fix(Span { end: field.start, ..word }, "");
    parser.report_earlier(diagnostic);
}

/// Reads and reports a function in the braces of the struct or variant `owner`.
#[cold]
fn function_among_fields(parser: &mut Parser<'_>, owner: &Ident) {
    let (keyword, name) = (parser.token().span, parser.token_ahead(1).span);
    let declaration = keyword.to(name);
    if parser.enter() {
        parser.item();
        parser.leave();
    }
    let (head, name, owner) = (parser.text(keyword), parser.text(name), &owner.name);
    let message = format!("expected a field of `{owner}`, found the function `{name}`");
    let diagnostic = Diagnostic::error(codes::NESTED_ITEM, declaration, message);
    parser.report_earlier(diagnostic.help(format!(
        "declare it outside of the braces, `{head} {name}(s: {owner}, ...)`, and call it as `{name}(s, ...)`"
    )));
}

fn enum_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let name = parser.ident("an enum");
    let generics = signatures::generics(parser);
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
    let generics = signatures::generics(parser);
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
    let generics = signatures::generics(parser);
    let methods = body_list(parser, &name, "a function", |parser| {
        let doc = attributes::doc(parser);
        let start = parser.token().span;
        let attrs = attributes::attrs(parser);
        if !parser.at(TokenKind::Fn) {
            parser.report_expected("fn", "and a function of the trait");
            return None;
        }
        let signature = signatures::signature(parser);
        Some(TraitMethod { id: parser.node(), span: parser.span_from(start), doc, attrs, signature })
    });
    ItemKind::Trait(Trait { name, generics, methods: methods.into_iter().flatten().collect() })
}

fn impl_item(parser: &mut Parser<'_>) -> ItemKind {
    parser.bump();
    let generics = signatures::generics(parser);
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
