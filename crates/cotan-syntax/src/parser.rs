//! Tokens to a syntax tree, by recursive descent; infix operators by precedence climbing over
//! the table in [`crate::precedence`].
//!
//! A rule of the grammar is a function over the [`Parser`], in the file of its subject; what the rules need of each other
//! is a method.
//!
//! The parser never fails. What is wrong is reported, the tree gets a node of kind `Error` (or the
//! node that was probably meant), and parsing goes on; four rules keep one mistake from being
//! reported twice:
//!
//! - At one token at most one error is reported.
//! - After an error inside a statement the rest of its line is skipped, brackets as a whole; after
//!   an error outside of functions everything up to the next declaration at the start of a line.
//! - A closing bracket that is missing is reported once, at the token that can't be inside it.
//! - A form of another language is recognised as a whole, reported, and read as what it means here ([`foreign`]).
//!
//! Newlines are not tokens: each token knows whether a line ended before it, and only the places
//! where an operator or an argument list may continue an expression ask for it.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the tokens that it is about; all others are for other rules"
)]

mod attributes;
mod blocks;
mod brackets;
mod expressions;
mod foreign;
mod items;
mod margins;
mod mistakes;
mod operators;
mod patterns;
mod primary;
mod recovery;
mod signatures;
mod statements;
mod types;

use crate::ast::{Ident, Module, NodeId};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::lexer::lex;
use crate::sink::Sink;
use crate::span::{FileId, Span};
use crate::stack::on_deep_stack;
use crate::token::{Comment, Token, TokenKind};

/// What the parser accepts at most. Everything beyond is an error with a code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep brackets, blocks, prefix operators and the like may be nested in a declaration.
    /// The default of 1,000 fits a stack of 8 MiB; for more, parse on a thread with a larger one.
    pub nesting: u32,
    /// The length of a file in bytes; at most `u32::MAX`, which is the default.
    pub source_bytes: u32,
    /// How many nodes the syntax tree of a declaration may have.
    pub nodes: u32,
    /// How many errors of a file are told; the others are counted.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nesting: 1000, source_bytes: u32::MAX, nodes: 500_000, diagnostics: 100 }
    }
}

/// Parses a file with the default [`Limits`].
///
/// ```
/// use cotan_syntax::{FileId, parse};
/// let (module, diagnostics) = parse(FileId(0), "fn twice(x: f64) -> f64 = 2.0 * x");
/// assert_eq!((module.items.len(), diagnostics.len()), (1, 0));
/// ```
pub fn parse(file: FileId, source: &str) -> (Module, Vec<Diagnostic>) {
    parse_with(file, source, &Limits::default())
}

/// Parses a file. The diagnostics are in the order of the source.
pub fn parse_with(file: FileId, source: &str, limits: &Limits) -> (Module, Vec<Diagnostic>) {
    on_deep_stack(|| parse_on_this_stack(file, source, limits))
}

fn parse_on_this_stack(file: FileId, source: &str, limits: &Limits) -> (Module, Vec<Diagnostic>) {
    if source.len() > limits.source_bytes as usize {
        let diagnostic = Diagnostic::error(
            codes::FILE_TOO_LARGE,
            Span::new(file, 0, 0),
            format!("expected a file of at most {} bytes, found {}", limits.source_bytes, source.len()),
        )
        .help("split the file into modules, and read data from files at run time");
        let (module, _) = parse_on_this_stack(file, "", limits);
        return (module, vec![diagnostic]);
    }
    let lexed = lex(file, source, limits.diagnostics);
    let mut parser = Parser {
        source,
        tokens: &lexed.tokens,
        comments: &lexed.comments,
        pos: 0,
        end: lexed.tokens.len() - 1,
        bracket: Bracket::None,
        struct_literals: true,
        depth: 0,
        nesting: limits.nesting,
        n_nodes: 0,
        most_nodes: limits.nodes,
        nodes: limits.nodes,
        last_error: None,
        unbalanced_until: 0,
        diagnostics: lexed.diagnostics,
    };
    let items = items::module_items(&mut parser);
    let n_nodes = parser.n_nodes;
    let diagnostics = parser.diagnostics.finish();
    let module = Module { file, items, tokens: lexed.tokens, comments: lexed.comments, n_nodes };
    (module, diagnostics)
}

/// The innermost open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    None,
    Paren,
    Square,
    Brace,
}

struct Parser<'a> {
    source: &'a str,
    tokens: &'a [Token],
    comments: &'a [Comment],
    /// The index of the next token.
    pos: usize,
    /// The tokens from here on are invisible. It is the index of the last token, the end of the
    /// file, except while a declaration that is nested too deeply is being left.
    end: usize,
    /// Decides whether newlines mean something.
    bracket: Bracket,
    /// Whether `name {` starts a struct literal; not in the head of `if` and the like.
    struct_literals: bool,
    depth: u32,
    nesting: u32,
    n_nodes: u32,
    /// How many nodes there may be at the end of this declaration, and in one.
    most_nodes: u32,
    nodes: u32,
    /// The token at which the last error was reported.
    last_error: Option<usize>,
    /// Brackets before this token are skipped one by one, since one of them has no partner.
    unbalanced_until: usize,
    diagnostics: Sink,
}

/// Tokens.
impl<'a> Parser<'a> {
    fn token(&self) -> Token {
        self.token_ahead(0)
    }

    fn token_ahead(&self, ahead: usize) -> Token {
        let at = self.pos + ahead;
        if at < self.end {
            return self.tokens[at];
        }
        let hidden = self.tokens[self.end];
        Token { kind: TokenKind::Eof, span: hidden.span.before(), ..hidden }
    }

    fn peek(&self) -> TokenKind {
        self.token().kind
    }

    fn peek_ahead(&self, ahead: usize) -> TokenKind {
        self.token_ahead(ahead).kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek() == kind
    }

    /// Whether the next token is this word, which is no keyword.
    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Ident) && self.text(self.token().span) == word
    }

    fn text(&self, span: Span) -> &'a str {
        &self.source[span.range()]
    }

    /// The text of the token that is `ahead` tokens away, if it is a name.
    fn word_ahead(&self, ahead: usize) -> Option<&'a str> {
        let token = self.token_ahead(ahead);
        (token.kind == TokenKind::Ident).then(|| self.text(token.span))
    }

    /// Moves past a token and gives its span.
    fn bump(&mut self) -> Span {
        let span = self.token().span;
        if self.pos < self.end {
            self.pos += 1;
        }
        span
    }

    fn eat(&mut self, kind: TokenKind) -> Option<Span> {
        self.at(kind).then(|| self.bump())
    }

    /// Whether the two tokens at this distance touch.
    fn touches_next(&self, ahead: usize) -> bool {
        self.token_ahead(ahead).span.end == self.token_ahead(ahead + 1).span.start
    }

    /// Whether a newline here ends a statement.
    fn newlines_matter(&self) -> bool {
        matches!(self.bracket, Bracket::None | Bracket::Brace)
    }

    /// Whether the next token stands on a new line, where newlines matter.
    fn at_new_line(&self) -> bool {
        self.newlines_matter() && self.token().newline_before
    }

    /// The end of the token before this one.
    fn previous_span(&self) -> Span {
        match self.pos.checked_sub(1) {
            Some(at) => self.tokens[at].span,
            None => self.token().span.before(),
        }
    }

    /// From `start` to the end of the last token that was read.
    fn span_from(&self, start: Span) -> Span {
        if self.previous_span().end <= start.start {
            return start.before();
        }
        start.to(self.previous_span())
    }

    /// The number for a new node.
    fn node(&mut self) -> NodeId {
        let id = NodeId(self.n_nodes);
        self.n_nodes += 1;
        if self.n_nodes > self.most_nodes && !self.is_leaving() {
            self.leave_large_item();
        }
        id
    }

    /// Reports a declaration that has too many parts, and hides the rest of it.
    #[cold]
    fn leave_large_item(&mut self) {
        let message = format!("expected a declaration of at most {} parts, found more", self.nodes);
        let diagnostic = Diagnostic::error(codes::DECLARATION_TOO_LARGE, self.token().span, message);
        self.report(diagnostic.help("compute in loops, and read data from files at run time"));
        self.end = self.pos;
    }
}

/// Nesting. Functions that report are `#[cold]`: inlined, their diagnostics would take most of the
/// stack that one level of nesting needs.
impl Parser<'_> {
    /// Goes one level deeper; each success is matched by a [`Parser::leave`]. If that is too deep,
    /// reports it, hides the rest of the declaration and gives false.
    fn enter(&mut self) -> bool {
        if self.depth >= self.nesting {
            let limit = self.nesting;
            let diagnostic = Diagnostic::error(
                codes::NESTING_TOO_DEEP,
                self.token().span,
                format!("expected at most {limit} levels of nesting, found more"),
            )
            .help("give parts of the expression names with `let`, or move them to functions");
            self.report(diagnostic);
            self.end = self.pos;
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// Names.
impl Parser<'_> {
    /// Reads a name; `what` says of what, such as "a function".
    fn ident(&mut self, what: &str) -> Ident {
        let token = self.token();
        if token.kind == TokenKind::Ident && self.text(token.span) != "_" {
            let span = self.bump();
            let name = self.text(span).to_owned();
            return Ident { name, span };
        }
        let found = self.found();
        let is_keyword = TokenKind::KEYWORDS.contains(&token.kind);
        let diagnostic = if is_keyword {
            let word = self.text(token.span);
            Diagnostic::error(
                codes::KEYWORD_AS_NAME,
                token.span,
                format!("expected the name of {what}, found the keyword {found}"),
            )
            .help(format!("choose another name, such as `{word}_`"))
        } else {
            Diagnostic::error(codes::EXPECTED_NAME, token.span, format!("expected the name of {what}, found {found}"))
                .help("a name starts with a letter or `_` and goes on with letters, digits and `_`")
        };
        self.report(diagnostic);
        // A keyword that stands where a name should is meant as the name, unless it starts the
        // next line.
        if is_keyword && !token.newline_before {
            self.bump();
        }
        Ident { name: String::new(), span: token.span }
    }
}

#[cfg(test)]
mod tests;
