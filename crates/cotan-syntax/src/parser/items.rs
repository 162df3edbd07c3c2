//! Declarations.

use super::Parser;
use super::brackets::List;
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

    /// Reads all declarations of the file.
    pub(super) fn module_items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.at(TokenKind::Eof) {
            let start = self.pos;
            self.most_nodes = self.n_nodes.saturating_add(self.nodes);
            let mut item = self.item();
            let is_leaving = self.is_leaving();
            if is_leaving {
                self.end = self.tokens.len() - 1;
                self.skip_to_item();
                // What was hidden belongs to the declaration, the place of the error too.
                item.span = item.span.to(self.previous_span());
            }
            items.push(item);
            if !is_leaving {
                self.end_item(start);
            }
        }
        items
    }

    /// Moves past the end of a declaration of the file, which began at the token `start`.
    fn end_item(&mut self, start: usize) {
        let token = self.token();
        if token.kind == TokenKind::Eof {
            return;
        }
        if !self.has_failed_here() {
            if token.newline_before && self.may_start_item() {
                return;
            }
            if token.kind == TokenKind::Semicolon && self.ends_without_brace() {
                self.bump();
                return;
            }
            let diagnostic = self.unended_item();
            self.report(diagnostic);
        }
        let is_next = token.newline_before && self.may_start_item() && self.pos > start;
        if !is_next {
            self.skip_to_item();
        }
    }

    fn may_start_item(&self) -> bool {
        self.starts_item() || self.at(TokenKind::At) || self.foreign_keyword().is_some()
    }

    fn ends_without_brace(&self) -> bool {
        self.pos > 0 && self.tokens[self.pos - 1].kind != TokenKind::RBrace
    }

    fn unended_item(&self) -> Diagnostic {
        let found = self.found();
        let span = self.token().span;
        match self.peek() {
            TokenKind::Semicolon => {
                Diagnostic::error(codes::STRAY_SEMICOLON, span, "expected a declaration, found `;`")
                    .help("remove the `;`")
            }
            TokenKind::FoldMul => {
                Diagnostic::error(codes::STRAY_COMMENT_END, span, "expected a declaration, found the product fold `*/`")
                    .help("`*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`")
            }
            kind if precedence::infix(kind).is_some() && self.pos > 0 => Diagnostic::error(
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

    /// Reads a declaration, or reports that there is none.
    pub(super) fn item(&mut self) -> Item {
        let doc = self.doc();
        let start = self.token().span;
        let attrs = self.attrs();
        // A doc comment may also stand between the attributes and the declaration.
        let doc = doc.or_else(|| self.doc());
        let public = self.eat(TokenKind::Pub);
        let kind = self.item_kind(&attrs);
        Item { id: self.node(), span: self.span_from(start), doc, attrs, public, kind }
    }

    fn item_kind(&mut self, attrs: &[Attr]) -> ItemKind {
        match self.peek() {
            TokenKind::Fn => self.function(FunctionForm::Fn),
            TokenKind::Kernel => self.function(FunctionForm::Kernel),
            TokenKind::Struct => self.struct_item(),
            TokenKind::Enum => self.enum_item(),
            TokenKind::Type => self.type_alias(),
            TokenKind::Const => self.const_item(),
            TokenKind::Trait => self.trait_item(),
            TokenKind::Impl => self.impl_item(),
            TokenKind::Import => self.import(),
            _ => self.missing_item(attrs),
        }
    }

    /// What to write instead of a word that starts declarations in other languages.
    fn foreign_keyword(&self) -> Option<TokenKind> {
        let word = self.word_ahead(0)?;
        let is_declaration = self.peek_ahead(1) == TokenKind::Ident && !self.token_ahead(1).newline_before;
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

    fn missing_item(&mut self, attrs: &[Attr]) -> ItemKind {
        let span = self.token().span;
        let found = self.found();
        if let Some(kind) = self.foreign_keyword() {
            let keyword = kind.text().unwrap_or("");
            let diagnostic =
                Diagnostic::error(codes::FOREIGN_KEYWORD, span, format!("expected `{keyword}`, found {found}"))
                    .help(format!("write `{keyword}`"));
            self.report(diagnostic);
            return match kind {
                TokenKind::Fn => self.function(FunctionForm::Fn),
                TokenKind::Struct => self.struct_item(),
                TokenKind::Trait => self.trait_item(),
                TokenKind::Import => self.import(),
                _ => self.type_alias(),
            };
        }
        let diagnostic = match attrs.last() {
            Some(attr) => Diagnostic::error(
                codes::MISPLACED_ATTRIBUTE,
                attr.span,
                format!("expected a declaration after the attribute `{}`, found {found}", attr.name.name),
            )
            .help("an attribute stands directly before `fn` or another declaration"),
            None => self.unended_item(),
        };
        self.report(diagnostic);
        ItemKind::Error
    }

    fn function(&mut self, form: FunctionForm) -> ItemKind {
        let signature = self.signature();
        let body = self.function_body(&signature);
        ItemKind::Function(Function { form, signature, body })
    }

    fn signature(&mut self) -> Signature {
        let start = self.bump();
        let name = self.ident("a function");
        let generics = self.generics();
        let params = if self.at(TokenKind::LParen) {
            self.list(List::parens("a parameter"), Self::param).0
        } else {
            if !self.has_failed_here() {
                let message = format!("expected `(` and the parameters of `{}`, found {}", name.name, self.found());
                let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, self.missing_span(), message)
                    .help(format!("write `fn {}()` if there are none", name.name));
                self.report(diagnostic);
            }
            Vec::new()
        };
        let result = self.result_type(&name);
        Signature { span: self.span_from(start), name, generics, params, result }
    }

    fn result_type(&mut self, name: &Ident) -> Option<TypeExpr> {
        if self.eat(TokenKind::Arrow).is_some() {
            return Some(self.ty());
        }
        if self.has_failed_here() {
            return None;
        }
        if self.at(TokenKind::Colon) || self.at(TokenKind::FatArrow) {
            let message = format!("expected `->` before the result type, found {}", self.found());
            let diagnostic = Diagnostic::error(codes::MISSING_RESULT, self.token().span, message).help("write `-> T`");
            self.report(diagnostic);
            self.bump();
            return Some(self.ty());
        }
        if name.name != "main" {
            let message = format!("expected `->` and the result type of `{}`, found {}", name.name, self.found());
            let diagnostic = Diagnostic::error(codes::MISSING_RESULT, self.missing_span(), message)
                .help("write `-> T`, or `-> ()` if there is no result");
            self.report_earlier(diagnostic);
        }
        None
    }

    fn function_body(&mut self, signature: &Signature) -> Expr {
        match self.peek() {
            TokenKind::LBrace => {
                let start = self.token().span;
                // The braces of a body are no nesting.
                let block = self.block_at_this_level(Vec::new());
                self.expr_node(start, ExprKind::Block(Box::new(block)))
            }
            TokenKind::Eq => {
                self.bump();
                self.ascribed()
            }
            _ => {
                let span = self.missing_span();
                let message =
                    format!("expected `=` or `{{` and the body of `{}`, found {}", signature.name.name, self.found());
                let diagnostic =
                    Diagnostic::error(codes::MISSING_BODY, span, message).help("a body is `= e` or `{ ... }`");
                self.report(diagnostic);
                self.error_expr(span.before())
            }
        }
    }

    /// Reads `[N, T: Float, ..S]`, if it is there.
    fn generics(&mut self) -> Vec<GenericParam> {
        if self.at(TokenKind::Lt) {
            let diagnostic = Diagnostic::error(
                codes::EXPECTED_TOKEN,
                self.token().span,
                "expected `[` before the type parameters, found `<`",
            )
            .help("write type and shape parameters in `[...]`");
            self.report(diagnostic);
            return Vec::new();
        }
        if !self.at(TokenKind::LBracket) {
            return Vec::new();
        }
        self.list(List::squares("a parameter"), |parser| {
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

    fn param(&mut self) -> Param {
        let start = self.token().span;
        let attrs = self.attrs();
        let mutable = self.eat(TokenKind::Mut);
        let name = self.ident("a parameter");
        let ty = if self.eat(TokenKind::Colon).is_some() { self.ty() } else { self.missing_param_type(&name) };
        let default = self.eat(TokenKind::Eq).map(|_| self.expr());
        Param { id: self.node(), span: self.span_from(start), attrs, mutable, name, ty, default }
    }

    fn missing_param_type(&mut self, name: &Ident) -> TypeExpr {
        let span = self.missing_span().before();
        let second = self.word_ahead(0).filter(|_| !self.token().newline_before);
        if !self.has_failed_here() {
            let message = format!("expected `:` and the type of `{}`, found {}", name.name, self.found());
            let diagnostic = Diagnostic::error(codes::MISSING_PARAM_TYPE, self.missing_span(), message);
            let name = &name.name;
            // A type may stand first, as C writes it, or the colon may be missing.
            let Some(second) = second else {
                self.report_earlier(diagnostic.help(format!("write the type: `{name}: f64`")));
                return self.error_type(span);
            };
            let is_reversed = Suffix::ALL.iter().any(|scalar| scalar.as_str() == name);
            if is_reversed {
                self.report(diagnostic.help(format!("write `{second}: {name}`")));
                self.bump();
            } else {
                self.report(diagnostic.help(format!("write `{name}: {second}`")));
                return self.ty();
            }
        }
        self.error_type(span)
    }

    fn struct_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("a struct");
        let generics = self.generics();
        let fields = self.fields(&name);
        ItemKind::Struct(Struct { name, generics, fields })
    }

    /// Reads the braces of the declaration `name`.
    fn body_list<T>(&mut self, name: &Ident, element: &'static str, read: impl FnMut(&mut Self) -> T) -> Vec<T> {
        if self.at(TokenKind::LBrace) {
            return self.list(List::braces(element), read).0;
        }
        let message = format!("expected `{{` after `{}`, found {}", name.name, self.found());
        let diagnostic = Diagnostic::error(codes::MISSING_BODY, self.missing_span(), message)
            .help(format!("write `{} {{ ... }}`", name.name));
        self.report(diagnostic);
        Vec::new()
    }

    fn fields(&mut self, name: &Ident) -> Vec<Field> {
        self.body_list(name, "a field", |parser| {
            let doc = parser.doc();
            let start = parser.token().span;
            let attrs = parser.attrs();
            let name = parser.ident("a field");
            let ty =
                if parser.eat(TokenKind::Colon).is_some() { parser.ty() } else { parser.missing_param_type(&name) };
            Field { id: parser.node(), span: parser.span_from(start), doc, attrs, name, ty }
        })
    }

    fn enum_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("an enum");
        let generics = self.generics();
        let variants = self.body_list(&name, "a variant", Self::variant);
        ItemKind::Enum(Enum { name, generics, variants })
    }

    fn variant(&mut self) -> Variant {
        let doc = self.doc();
        let start = self.token().span;
        let name = self.ident("a variant");
        let payload = match self.peek() {
            TokenKind::LParen => Payload::Tuple(self.list(List::parens("a type"), Self::ty).0),
            TokenKind::LBrace => Payload::Struct(self.fields(&name)),
            _ => Payload::Unit,
        };
        Variant { id: self.node(), span: self.span_from(start), doc, name, payload }
    }

    fn type_alias(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("a type");
        let generics = self.generics();
        self.expect(TokenKind::Eq, "and the type that the name stands for");
        let ty = self.ty();
        ItemKind::TypeAlias(TypeAlias { name, generics, ty })
    }

    fn const_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("a constant");
        let ty = self.eat(TokenKind::Colon).map(|_| self.ty());
        let value = if self.expect(TokenKind::Eq, "and the value of the constant") {
            self.ascribed()
        } else {
            let span = self.missing_span().before();
            self.error_expr(span)
        };
        ItemKind::Const(Const { name, ty, value })
    }

    fn trait_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("a trait");
        let generics = self.generics();
        let methods = self.body_list(&name, "a function", |parser| {
            let doc = parser.doc();
            let start = parser.token().span;
            let attrs = parser.attrs();
            if !parser.at(TokenKind::Fn) {
                parser.report_expected("fn", "and a function of the trait");
                return None;
            }
            let signature = parser.signature();
            Some(TraitMethod { id: parser.node(), span: parser.span_from(start), doc, attrs, signature })
        });
        ItemKind::Trait(Trait { name, generics, methods: methods.into_iter().flatten().collect() })
    }

    fn impl_item(&mut self) -> ItemKind {
        self.bump();
        let generics = self.generics();
        let trait_ref = self.ty();
        self.expect(TokenKind::For, "and the type that gets the functions");
        let target = self.ty();
        let name = Ident { name: self.text(target.span).to_owned(), span: target.span };
        let items = self.body_list(&name, "a function", |parser| {
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

    fn import(&mut self) -> ItemKind {
        self.bump();
        let source = match self.peek() {
            TokenKind::DotSlash => {
                let start = self.bump();
                self.relative_import(start, 0)
            }
            TokenKind::DotDot => {
                let start = self.token().span;
                let mut parents = 0;
                while self.eat(TokenKind::DotDot).is_some() {
                    parents += 1;
                    self.expect(TokenKind::Slash, "after `..` in the path of a module");
                }
                self.relative_import(start, parents)
            }
            TokenKind::Str => {
                let text = self.text(self.token().span).trim_matches('"').to_owned();
                let message = format!("expected the name of a module, found {}", self.found());
                let diagnostic = Diagnostic::error(codes::EXPECTED_NAME, self.token().span, message)
                    .help(format!("write the path without quotes and `.cot`: `import ./{text}`"));
                self.report(diagnostic);
                let span = self.bump();
                ImportSource::Library(Path { segments: Vec::new(), span })
            }
            _ => ImportSource::Library(self.path("a module")),
        };
        let alias = self.eat(TokenKind::As).map(|_| self.ident("an imported module"));
        ItemKind::Import(Import { source, alias })
    }

    fn relative_import(&mut self, start: Span, parents: u32) -> ImportSource {
        let mut segments = vec![self.ident("a module")];
        while self.eat(TokenKind::Slash).is_some() {
            segments.push(self.ident("a module"));
        }
        ImportSource::Relative { parents, segments, span: self.span_from(start) }
    }
}
