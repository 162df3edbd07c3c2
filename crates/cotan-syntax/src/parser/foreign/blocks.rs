//! Blocks without braces: told by a colon or a word and indentation, or ended by `end`.

use super::super::{Parser, statements};
use crate::ast::{Block, Stmt};
use crate::codes;
use crate::diagnostic::{Diagnostic, Edit};
use crate::span::Span;
use crate::token::TokenKind;

/// The blocks of one statement that have no braces: they are one mistake, and have one fix.
#[derive(Default)]
pub(in crate::parser) struct Braceless {
    diagnostic: Option<Diagnostic>,
    edits: Vec<Edit>,
    /// Whether one of the blocks could not be read, so that braces would not mend it.
    is_broken: bool,
}

impl Braceless {
    /// What is wrong with a statement before its blocks are read, and how it is mended.
    pub(in crate::parser) fn with(diagnostic: Diagnostic) -> Self {
        Self { diagnostic: Some(diagnostic), ..Self::default() }
    }

    /// Adds the error about a block without braces; only the first is told.
    fn add(&mut self, diagnostic: Diagnostic) {
        self.diagnostic.get_or_insert(diagnostic);
    }

    fn edit(&mut self, span: Span, text: impl Into<String>) {
        self.edits.push(Edit { span, text: text.into() });
    }

    /// Makes an edit part of the fix, if there is something to report.
    pub(in crate::parser) fn absorbs(&mut self, span: Span, text: &str) -> bool {
        if self.diagnostic.is_some() {
            self.edit(span, text);
        }
        self.diagnostic.is_some()
    }

    /// Reports the blocks, once the whole statement was read.
    pub(in crate::parser) fn report(self, parser: &mut Parser<'_>) {
        let Some(diagnostic) = self.diagnostic else { return };
        let edits = if self.is_broken { Vec::new() } else { self.edits };
        parser.report_earlier(edits.into_iter().fold(diagnostic, |d, edit| d.fix(edit.span, edit.text)));
    }
}

/// Whether a word or mark stands here that begins a block elsewhere.
pub(in crate::parser) fn at_mark(parser: &Parser<'_>) -> bool {
    parser.at_word("then") || parser.at_word("do") || parser.at(TokenKind::Colon)
}

/// Reads the block after the head of `what` that has no brace; none if nothing that stands here belongs to it.
#[cold]
pub(in crate::parser) fn block(parser: &mut Parser<'_>, what: &str, braceless: &mut Braceless) -> Option<Block> {
    let has_mark = at_mark(parser);
    let first = parser.token_ahead(usize::from(has_mark));
    let indent = parser.indent_of(parser.previous_span());
    let is_indented = first.newline_before && parser.newlines_matter() && parser.column(first.span) > indent;
    let is_on_line = !first.newline_before && parser.starts_expression_ahead(usize::from(has_mark));
    let is_block = first.kind == TokenKind::LBrace;
    if parser.has_failed_here() || is_block || !(is_indented || is_on_line) || !parser.enter() {
        return None;
    }
    let message = format!("expected `{{` after {what}, found {}", parser.found());
    let diagnostic = Diagnostic::error(codes::MISSING_BLOCK, parser.missing_span(), message);
    braceless.add(if has_mark {
        diagnostic.help(format!("write `{{ ... }}` instead of {}", parser.found()))
    } else {
        diagnostic.help("put braces round the body: `{ ... }`")
    });
    let head = parser.previous_span().after();
    let open = if has_mark { head.to(parser.bump()) } else { head };
    let n_found = parser.diagnostics.n_found();
    let statements = if is_indented {
        braceless.edit(open, " {");
        indented(parser, indent, braceless)
    } else {
        braceless.edit(Span { end: first.span.start, ..open }, " { ");
        let statement = statements::statement(parser);
        braceless.edit(parser.previous_span().after(), " }");
        let is_end =
            matches!(parser.peek(), TokenKind::Else | TokenKind::RBrace | TokenKind::Semicolon | TokenKind::Eof);
        braceless.is_broken |= !(is_end || parser.token().newline_before) || parser.diagnostics.n_found() > n_found;
        statement.into_iter().collect()
    };
    parser.leave();
    Some(parser.block_of(first.span, statements))
}

/// Reads the statements of the lines from here on that are indented deeper, and an `end` after them.
fn indented(parser: &mut Parser<'_>, indent: usize, braceless: &mut Braceless) -> Vec<Stmt> {
    let mut found = Vec::new();
    loop {
        let token = parser.token();
        let is_deeper = token.newline_before && parser.column(token.span) > indent;
        if !is_deeper || matches!(token.kind, TokenKind::RBrace | TokenKind::Eof) || parser.at_unindented_item() {
            break;
        }
        let start = parser.pos;
        if let Some(statement) = statements::statement(parser) {
            found.push(statement);
            parser.end_statement(start);
        }
        if parser.pos == start {
            parser.bump();
        }
    }
    let close = format!("\n{}}}", " ".repeat(indent));
    if parser.at_word("end") && parser.token().newline_before {
        let end = parser.bump();
        braceless.edit(end, "}");
    } else {
        braceless.edit(parser.previous_span().after(), close);
    }
    found
}
