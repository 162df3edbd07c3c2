//! The parser of the text form; its grammar stands in `print.rs`.
//!
//! What it accepts is well-formed text, not yet a well-formed function: that is judged by [`verify`](crate::verify()). It never
//! panics, whatever the text. Variables keep their base names; the numbers behind them are made anew by the printer.

mod operation;
mod token;

use crate::names::is_reserved;
use crate::{
    Atom, Block, Const, Derived, Dim, Elem, Function, Item, Mode, Module, Prim, Record, Stmt, Symbol, TensorOp, Ty,
    Var, VarInfo,
};
use rustc_hash::FxHashMap;
use std::fmt;
use token::{Token, tokens};

/// Finds operations by name: the op table, as the parser sees it.
pub trait OpLookup {
    /// The primitive of that name.
    fn prim(&self, name: &str) -> Option<Prim>;
    /// The tensor operation of that name.
    fn tensor_op(&self, name: &str) -> Option<TensorOp>;
}

/// Why a text is no module or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    fn at(text: &str, offset: usize, message: String) -> ParseError {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        ParseError { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1, message }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// The module that `text` stands for.
pub fn parse_module(text: &str, ops: &dyn OpLookup) -> Result<Module, ParseError> {
    let mut p = Parser::new(text, ops)?;
    let mut module = Module::default();
    p.skip_lines();
    while *p.peek() != Token::End {
        let start = p.at;
        let (name, item) = p.item()?;
        if module.items.insert(name.clone(), item).is_some() {
            return Err(p.error_at(start, format!("`{name}` is defined twice")));
        }
        p.skip_lines();
    }
    Ok(module)
}

/// The one function that `text` stands for.
pub fn parse_function(text: &str, ops: &dyn OpLookup) -> Result<Function, ParseError> {
    let mut p = Parser::new(text, ops)?;
    p.skip_lines();
    let f = p.function()?;
    p.skip_lines();
    if *p.peek() == Token::End { Ok(f) } else { Err(p.expected("the end of the text")) }
}

/// How deep blocks may nest: far above any program, and far below what the stack holds.
const MAX_DEPTH: usize = 200;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token<'a>, usize)>,
    at: usize,
    ops: &'a dyn OpLookup,
    depth: usize,
    /// Of the function being read.
    vars: Vec<VarInfo>,
    by_name: FxHashMap<&'a str, Var>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, ops: &'a dyn OpLookup) -> Result<Parser<'a>, ParseError> {
        let tokens = tokens(text)?;
        Ok(Parser { text, tokens, at: 0, ops, depth: 0, vars: Vec::new(), by_name: FxHashMap::default() })
    }

    // ---- tokens

    fn peek(&self) -> &Token<'a> {
        self.peek_at(0)
    }

    /// The token `ahead` of the next one; the end of the text goes on for ever.
    fn peek_at(&self, ahead: usize) -> &Token<'a> {
        self.tokens.get(self.at + ahead).map_or(&Token::End, |(t, _)| t)
    }

    fn is_mark(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.peek_at(ahead), Token::Mark(m) if *m == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if *w == word)
    }

    fn eat_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(0, mark);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: &str) -> Result<(), ParseError> {
        if self.eat_mark(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    fn keyword(&mut self, word: &str) -> Result<(), ParseError> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        let Token::Word(w) = *self.peek() else { return Err(self.expected(what)) };
        self.at += 1;
        Ok(w)
    }

    fn skip_lines(&mut self) {
        while *self.peek() == Token::Line {
            self.at += 1;
        }
    }

    fn expected(&self, what: &str) -> ParseError {
        self.error_at(self.at, format!("expected {what}, found {}", self.peek()))
    }

    /// An error about an earlier token.
    fn error_at(&self, token: usize, message: String) -> ParseError {
        let offset = self.tokens.get(token).map_or(self.text.len(), |(_, offset)| *offset);
        ParseError::at(self.text, offset, message)
    }

    /// Items between separating commas, up to a closing mark.
    fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
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

    // ---- modules and functions

    fn item(&mut self) -> Result<(Symbol, Item), ParseError> {
        if self.is_word("derive") {
            let (name, derived) = self.derived()?;
            return Ok((name, Item::Derived(derived)));
        }
        let f = self.function()?;
        Ok((f.name.clone(), Item::Function(f.into())))
    }

    fn derived(&mut self) -> Result<(Symbol, Derived), ParseError> {
        self.keyword("derive")?;
        let name = self.symbol()?;
        self.mark("=")?;
        let mode = if self.eat_word("vjp") {
            Mode::Vjp
        } else {
            self.keyword("jvp")?;
            Mode::Jvp
        };
        let of = self.symbol()?;
        self.keyword("wrt")?;
        let wrt = self.positions()?;
        self.keyword("of")?;
        let outs = self.positions()?;
        Ok((name, Derived { of, mode, wrt, outs }))
    }

    fn positions(&mut self) -> Result<Vec<usize>, ParseError> {
        self.mark("(")?;
        self.list(")", |p| p.number("a position"))
    }

    fn function(&mut self) -> Result<Function, ParseError> {
        self.vars.clear();
        self.by_name.clear();
        self.keyword("fn")?;
        let name = self.symbol()?;
        self.mark("(")?;
        let params = self.list(")", Self::binding)?;
        let custom_vjp = if self.eat_word("vjp") { Some(self.symbol()?) } else { None };
        let custom_jvp = if self.eat_word("jvp") { Some(self.symbol()?) } else { None };
        let body = self.block("return")?;
        Ok(Function { name, vars: std::mem::take(&mut self.vars), params, body, custom_vjp, custom_jvp })
    }

    fn symbol(&mut self) -> Result<Symbol, ParseError> {
        let name = match self.peek() {
            Token::Word(w) => Symbol::from(*w),
            Token::Text(t) => Symbol::from(t.as_str()),
            Token::Number(_) | Token::Mark(_) | Token::Line | Token::End => {
                return Err(self.expected("the name of a function"));
            }
        };
        self.at += 1;
        Ok(name)
    }

    // ---- blocks and statements

    fn block(&mut self, end: &str) -> Result<Block, ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_at(self.at, format!("blocks nest deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        self.mark("{")?;
        let mut stmts = Vec::new();
        self.skip_lines();
        while !self.eat_word(end) {
            stmts.push(self.statement()?);
            if *self.peek() != Token::Line {
                return Err(self.expected("the end of the line"));
            }
            self.skip_lines();
        }
        let results = self.atoms()?;
        self.skip_lines();
        self.mark("}")?;
        self.depth -= 1;
        Ok(Block { stmts, results })
    }

    fn statement(&mut self) -> Result<Stmt, ParseError> {
        let mut results = Vec::new();
        if self.is_mark(1, ":") {
            results.push(self.binding()?);
            while self.eat_mark(",") {
                results.push(self.binding()?);
            }
            self.mark("=")?;
        }
        let (op, span) = self.operation()?;
        Ok(Stmt { results, op, span })
    }

    // ---- bindings and operands

    fn binding(&mut self) -> Result<Var, ParseError> {
        let name = self.new_name()?;
        self.mark(":")?;
        let ty = self.ty()?;
        let record = if self.eat_word("record") { Some(self.record()?) } else { None };
        Ok(self.bind(name, ty, record))
    }

    fn record(&mut self) -> Result<Record, ParseError> {
        let found = Record::ALL.into_iter().find(|record| self.eat_word(record.name()));
        match found.ok_or_else(|| self.expected("what is recorded"))? {
            Record::Kept { .. } => {
                let recompute = self.number("a cost")?;
                self.keyword("against")?;
                Ok(Record::Kept { recompute, store: self.number("a cost")? })
            }
            plain @ (Record::Value
            | Record::Read
            | Record::Old
            | Record::Place
            | Record::Start
            | Record::Inner
            | Record::State) => Ok(plain),
        }
    }

    /// A name that may be bound.
    fn new_name(&mut self) -> Result<&'a str, ParseError> {
        let start = self.at;
        let name = self.word("the name of a variable")?;
        let (_, number) = name.split_once('.').unwrap_or((name, "0"));
        if is_reserved(name) || !number.chars().all(|c| c.is_ascii_digit()) {
            return Err(self.error_at(start, format!("`{name}` cannot be the name of a variable")));
        }
        if self.by_name.contains_key(name) {
            return Err(self.error_at(start, format!("`{name}` is bound twice")));
        }
        Ok(name)
    }

    fn bind(&mut self, name: &'a str, ty: Ty, record: Option<Record>) -> Var {
        let base = name.split('.').next().unwrap_or(name);
        let v = Var(self.vars.len() as u32);
        self.vars.push(VarInfo { name: base.into(), ty, record });
        self.by_name.insert(name, v);
        v
    }

    fn ty(&mut self) -> Result<Ty, ParseError> {
        let Token::Word(word) = *self.peek() else { return Err(self.expected("a type")) };
        let elem = Elem::from_name(word).ok_or_else(|| self.expected("a type"))?;
        self.at += 1;
        let dims = if self.eat_mark("[") { self.list("]", Self::dim)? } else { Vec::new() };
        Ok(Ty::new(elem, dims))
    }

    fn dim(&mut self) -> Result<Dim, ParseError> {
        if let Token::Number(_) = self.peek() {
            return Ok(Dim::Const(self.number("a dim")?));
        }
        let start = self.at;
        match self.atom()? {
            Atom::Var(v) => Ok(Dim::Var(v)),
            Atom::Const(c) => Err(self.error_at(start, format!("expected a dim, found `{c}`"))),
        }
    }

    fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, ParseError> {
        let Token::Number(digits) = *self.peek() else { return Err(self.expected(what)) };
        let n = digits.parse().map_err(|_| self.expected(what))?;
        self.at += 1;
        Ok(n)
    }

    /// As many as there are, perhaps none.
    fn atoms(&mut self) -> Result<Vec<Atom>, ParseError> {
        let mut atoms = Vec::new();
        if matches!(self.peek(), Token::Word(_) | Token::Number(_)) {
            atoms.push(self.atom()?);
            while self.eat_mark(",") {
                atoms.push(self.atom()?);
            }
        }
        Ok(atoms)
    }

    fn atom(&mut self) -> Result<Atom, ParseError> {
        let (Token::Word(text) | Token::Number(text)) = *self.peek() else {
            return Err(self.expected("an operand"));
        };
        let constant = || Const::from_text(text).map(Atom::Const);
        let Some(atom) = self.by_name.get(text).map(|v| Atom::Var(*v)).or_else(constant) else {
            let is_number = matches!(self.peek(), Token::Number(_));
            let message = if is_number { format!("`{text}` is no constant") } else { format!("`{text}` is not bound") };
            return Err(self.error_at(self.at, message));
        };
        self.at += 1;
        Ok(atom)
    }
}
