//! Source text, diagnostics, lexer, parser and syntax tree of the Cotan language.
