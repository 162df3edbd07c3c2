//! Tokens of the text form.

use super::ParseError;
use crate::names::{continues_name, starts_name};
use std::fmt;

/// One token; lines matter, so their ends are tokens too.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A name, its parts separated by dots; also keywords and the constants that are words.
    Word(&'a str),
    /// A constant that starts with a digit or a sign.
    Number(&'a str),
    /// A quoted name, without its escapes.
    Text(String),
    /// Punctuation.
    Mark(&'static str),
    /// The end of a line that is not inside parentheses or brackets.
    Line,
    /// The end of the text.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) | Token::Number(w) => write!(f, "`{w}`"),
            Token::Text(t) => write!(f, "{t:?}"),
            Token::Mark(m) => write!(f, "`{m}`"),
            Token::Line => f.write_str("the end of the line"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

const MARKS: [&str; 12] = ["(", ")", "[", "]", "{", "}", ",", ":", "=", "<", "@", ".."];

/// The tokens of `text` with their byte offsets; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, ParseError> {
    let mut lexer = Lexer { text, at: 0, open: 0 };
    let mut out = Vec::new();
    loop {
        let (token, start) = lexer.next()?;
        let is_end = token == Token::End;
        out.push((token, start));
        if is_end {
            return Ok(out);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Open parentheses and brackets.
    open: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes that many bytes.
    fn take(&mut self, len: usize) -> &'a str {
        let taken = &self.rest()[..len];
        self.at += len;
        taken
    }

    fn take_while(&mut self, f: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|c| !f(c)).unwrap_or(rest.len()))
    }

    fn next(&mut self) -> Result<(Token<'a>, usize), ParseError> {
        loop {
            let is_inside = self.open > 0;
            self.take_while(|c| matches!(c, ' ' | '\t' | '\r') || c == '\n' && is_inside);
            if !self.rest().starts_with("//") {
                break;
            }
            self.take_while(|c| c != '\n');
        }
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok((Token::End, start)) };
        let token = if first == '\n' {
            self.take(1);
            Token::Line
        } else if starts_name(first) {
            Token::Word(self.word())
        } else if first == '-' || first.is_ascii_digit() {
            Token::Number(self.number())
        } else if first == '"' {
            Token::Text(self.quoted()?)
        } else if let Some(mark) = MARKS.into_iter().find(|m| self.rest().starts_with(m)) {
            self.take(mark.len());
            match mark {
                "(" | "[" => self.open += 1,
                ")" | "]" => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            Token::Mark(mark)
        } else {
            return Err(ParseError::at(self.text, start, format!("unexpected character `{first}`")));
        };
        Ok((token, start))
    }

    /// A dot belongs to a word if the word goes on behind it.
    fn word(&mut self) -> &'a str {
        let start = self.at;
        self.take_while(continues_name);
        while self.rest().strip_prefix('.').is_some_and(|r| r.starts_with(continues_name)) {
            self.take(1);
            self.take_while(continues_name);
        }
        &self.text[start..self.at]
    }

    /// Everything that may belong to a number; whether it is one is the parser's business.
    fn number(&mut self) -> &'a str {
        let start = self.at;
        self.take(1);
        self.take_while(continues_name);
        if self.rest().strip_prefix('.').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())) {
            self.take(1);
            self.take_while(continues_name);
        }
        if self.text[start..self.at].ends_with('e') && self.rest().starts_with('-') {
            self.take(1);
            self.take_while(continues_name);
        }
        &self.text[start..self.at]
    }

    fn quoted(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        self.take(1);
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += offset + 1;
                    return Ok(out);
                }
                '\n' => break,
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, escaped)) => out.push(escaped),
                    None => break,
                },
                _ => out.push(c),
            }
        }
        Err(ParseError::at(self.text, start, "a quoted name without end".to_owned()))
    }
}
