//! A line of the text form, token by token.

use super::Parsed;
use cotan_ir::Monoid;
use std::fmt;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, a keyword or a number.
    Word(String),
    /// A quoted text, without its escapes.
    Text(String),
    /// Punctuation.
    Mark(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) => write!(f, "`{w}`"),
            Token::Text(t) => write!(f, "{t:?}"),
            Token::Mark(m) => write!(f, "`{m}`"),
        }
    }
}

const MARKS: [&str; 11] = [":=", "(", ")", "[", "]", "{", "}", ",", ":", "=", "<"];

/// The tokens of a line.
pub(super) fn tokens(line: &str) -> Parsed<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first == '"' {
            quoted(rest)?
        } else if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            (Token::Mark(mark), mark.len())
        } else if let Some(length) = Some(word_length(rest)).filter(|length| *length > 0) {
            (Token::Word(rest[..length].to_owned()), length)
        } else {
            return Err(format!("unexpected character `{first}`"));
        };
        found.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

fn word_length(text: &str) -> usize {
    let ends =
        |c: char| matches!(c, '"' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | ':' | '=' | '<') || c.is_whitespace();
    text.find(ends).unwrap_or(text.len())
}

/// A quoted text, with the escapes of Rust.
fn quoted(text: &str) -> Parsed<(Token, usize)> {
    let without_end = || "a quoted text without end".to_owned();
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(content), at + 1)),
            '\\' => content.push(match chars.next().ok_or_else(without_end)?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    let digits: String = chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    code.ok_or_else(|| format!("`{digits}` is no character"))?
                }
                other => other,
            }),
            other => content.push(other),
        }
    }
    Err(without_end())
}

/// A line that is being read.
pub(super) struct Line {
    tokens: Vec<Token>,
    at: usize,
}

impl Line {
    pub(super) fn new(tokens: Vec<Token>) -> Line {
        Line { tokens, at: 0 }
    }

    /// The token `ahead` of the next one.
    pub(super) fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    /// What is left of the line.
    pub(super) fn rest(&self) -> &[Token] {
        self.tokens.get(self.at..).unwrap_or_default()
    }

    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = self.peek(0).map_or("the end of the line".to_owned(), Token::to_string);
        Err(format!("expected {what}, found {found}"))
    }

    pub(super) fn is_mark(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.peek(ahead), Some(Token::Mark(m)) if *m == mark)
    }

    pub(super) fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek(ahead), Some(Token::Word(w)) if w == word)
    }

    pub(super) fn eat_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(0, mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(0, word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn mark(&mut self, mark: &str) -> Parsed<()> {
        if self.eat_mark(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    pub(super) fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// Any word.
    pub(super) fn any_word(&mut self, what: &str) -> Parsed<String> {
        let Some(Token::Word(word)) = self.peek(0) else { return self.expected(what) };
        let word = word.clone();
        self.at += 1;
        Ok(word)
    }

    pub(super) fn text(&mut self) -> Parsed<String> {
        let Some(Token::Text(text)) = self.peek(0) else { return self.expected("a quoted text") };
        let text = text.clone();
        self.at += 1;
        Ok(text)
    }

    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let word = self.any_word("a number")?;
        word.parse().map_err(|_| format!("expected a number, found `{word}`"))
    }

    /// What a word stands for.
    pub(super) fn named<T>(&mut self, what: &str, find: impl FnOnce(&str) -> Option<T>) -> Parsed<T> {
        let word = self.any_word(what)?;
        find(&word).ok_or_else(|| format!("expected {what}, found `{word}`"))
    }

    pub(super) fn monoid(&mut self) -> Parsed<Monoid> {
        self.named("a monoid", |name| Monoid::ALL.into_iter().find(|monoid| monoid.name() == name))
    }

    /// Items between commas, up to a closing mark.
    pub(super) fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Line) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.is_mark(0, close) {
            items.push(item(self)?);
            if !self.eat_mark(",") {
                break;
            }
        }
        self.mark(close)?;
        Ok(items)
    }

    /// Items between commas, one at least.
    pub(super) fn some<T>(&mut self, mut item: impl FnMut(&mut Line) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_mark(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Nothing is left.
    pub(super) fn end(&self) -> Parsed<()> {
        if self.peek(0).is_none() { Ok(()) } else { self.expected("the end of the line") }
    }
}
