//! The parser of the complete text form of loop nests, which [`print_nest`](crate::print_nest) writes.
//!
//! The form is read line by line: a line is a node, or the head or the end of a list. What it accepts is well-formed text,
//! not yet a well-formed nest: that is judged by [`verify`](crate::verify()). It never panics, whatever the text.
//!
//! ```text
//! fn "name"(n: i64, x[]: f64[n]) {
//!   local n: i64 lanes 1            the tables: base names, in order; `mutable` ends a line
//!   buffer x: f64 param 0           or arena, frame, result K, stack, bound; then `record`, `@ FILE START END ROLE`
//!   regroups                        whether sums are regrouped
//!   watch y                         a buffer that is watched
//!   for i < n lanes(4) {            then `parallel`, `wavefront(..)`, `may fork(..)`, `flushing`, `independent`
//!     a = x[i]                      nodes, as people see them
//!   }
//!   return y[]: f64[n]
//! }
//! ```

mod expression;
mod line;
mod list;
mod table;

use crate::node::{Buffer, BufferInfo, Local, LocalInfo, LoopFunction};
use cotan_ir::OpLookup;
use line::{Line, Token, tokens};
use rustc_hash::FxHashMap;
use std::fmt;

/// Why a text is no loop nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for NestParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for NestParseError {}

/// A part of a line, or what is wrong with it.
type Parsed<T> = Result<T, String>;

/// The loop nest that `text` stands for. Lines that begin with `//` are comments.
pub fn parse_nest(text: &str, ops: &dyn OpLookup) -> Result<LoopFunction, NestParseError> {
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let is_empty = line.trim().is_empty() || line.trim_start().starts_with("//");
        if !is_empty {
            let tokens = tokens(line).map_err(|message| NestParseError { line: k + 1, message })?;
            lines.push((k + 1, tokens));
        }
    }
    let last = lines.last().map_or(1, |(number, _)| *number);
    let mut parser = Parser { lines, at: 0, ops, names: Names::default(), depth: 0 };
    let parsed = parser.function();
    let line = parser.lines.get(parser.at.saturating_sub(1)).map_or(last, |(number, _)| *number);
    parsed.map_err(|message| NestParseError { line, message })
}

/// How deep lists may nest: far above any program, and far below what the stack holds.
const MAX_DEPTH: usize = 400;

struct Parser<'a> {
    /// The lines with something on them, by their number.
    lines: Vec<(usize, Vec<Token>)>,
    at: usize,
    ops: &'a dyn OpLookup,
    names: Names,
    depth: usize,
}

/// The tables of the function, and what the text calls them.
#[derive(Default)]
struct Names {
    locals: Vec<LocalInfo>,
    buffers: Vec<BufferInfo>,
    local: FxHashMap<String, Local>,
    buffer: FxHashMap<String, Buffer>,
}

impl Parser<'_> {
    /// The next line.
    fn next(&mut self) -> Parsed<Line> {
        let (_, tokens) = self.lines.get_mut(self.at).ok_or("the text ends too early")?;
        self.at += 1;
        Ok(Line::new(std::mem::take(tokens)))
    }

    /// Whether the next line begins with a word and another token like this.
    fn next_begins(&self, word: &str, is_second: impl Fn(&Token) -> bool) -> bool {
        let Some((_, tokens)) = self.lines.get(self.at) else { return false };
        matches!(&tokens[..], [Token::Word(first), second, ..] if first == word && is_second(second))
    }

    fn function(&mut self) -> Parsed<LoopFunction> {
        let mut head = self.next()?;
        head.word("fn")?;
        let name = head.text()?;
        let (regroups_sums, watched) = self.tables()?;
        let params = self.names.params(&mut head)?;
        head.mark("{")?;
        head.end()?;
        let body = self.list("return")?;
        let mut last = self.next()?;
        let results = self.names.results(&mut last)?;
        let mut end = self.next()?;
        end.mark("}")?;
        end.end()?;
        if self.at < self.lines.len() {
            self.at += 1;
            return Err("text behind the end of the function".to_owned());
        }
        let Names { locals, buffers, .. } = std::mem::take(&mut self.names);
        Ok(LoopFunction { name: name.as_str().into(), locals, buffers, params, body, results, regroups_sums, watched })
    }
}
