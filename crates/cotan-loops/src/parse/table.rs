//! The tables behind the first line, and operands, places and tensors, which name what is in them.

use super::line::{Line, Token};
use super::{Names, Parsed, Parser};
use crate::node::{Argument, Buffer, BufferInfo, BufferKind, Home, Local, LocalInfo, Operand, Param, Place, Tensor};
use crate::print::unique;
use cotan_ir::{Const, Elem, Role, Span};

impl Parser<'_> {
    /// Reads the tables; gives whether sums are regrouped, and which buffers are watched.
    pub(super) fn tables(&mut self) -> Parsed<(bool, Vec<Buffer>)> {
        let is_name = |token: &Token| matches!(token, Token::Word(_));
        while self.next_begins("local", is_name) {
            let mut line = self.next()?;
            line.word("local")?;
            let name = line.any_word("a name")?.as_str().into();
            line.mark(":")?;
            let elem = line.named("a type", Elem::from_name)?;
            line.word("lanes")?;
            let lanes = line.number()?;
            let is_mutable = line.eat_word("mutable");
            line.end()?;
            self.names.locals.push(LocalInfo { name, elem, is_mutable, lanes });
        }
        while self.next_begins("buffer", is_name) {
            let mut line = self.next()?;
            line.word("buffer")?;
            let name = line.any_word("a name")?.as_str().into();
            line.mark(":")?;
            let elem = line.named("a type", Elem::from_name)?;
            let kind = kind(&mut line)?;
            let is_record = line.eat_word("record");
            let span = span(&mut line)?;
            line.end()?;
            self.names.buffers.push(BufferInfo { name, elem, kind, span, is_record });
        }
        self.names.index();
        let mut regroups = false;
        let mut watched = Vec::new();
        if matches!(self.lines.get(self.at), Some((_, tokens)) if tokens[..] == [Token::Word("regroups".to_owned())]) {
            self.at += 1;
            regroups = true;
        }
        while self.next_begins("watch", is_name) {
            let mut line = self.next()?;
            line.word("watch")?;
            watched.push(self.names.buffer(&mut line)?);
            line.end()?;
        }
        Ok((regroups, watched))
    }
}

fn kind(line: &mut Line) -> Parsed<BufferKind> {
    Ok(match line.any_word("a kind of buffer")?.as_str() {
        "param" => BufferKind::Param(line.number()?),
        "arena" => BufferKind::Allocated(Home::Arena),
        "frame" => BufferKind::Allocated(Home::Frame),
        "result" => BufferKind::Allocated(Home::Result(line.number()?)),
        "stack" => BufferKind::Stack,
        "bound" => BufferKind::Bound,
        other => return Err(format!("expected a kind of buffer, found `{other}`")),
    })
}

/// The source text at the end of a line, if there is any.
pub(super) fn span(line: &mut Line) -> Parsed<Span> {
    if !line.eat_word("@") {
        return Ok(Span::NONE);
    }
    let (file, start, end) = (line.number()?, line.number()?, line.number()?);
    let role = match line.peek(0) {
        None => Role::VALUE,
        Some(_) => line.named("a role", Role::from_text)?,
    };
    Ok(Span { file, start, end, role })
}

impl Names {
    /// Notes what the text calls the entries of the tables.
    fn index(&mut self) {
        let locals = unique(self.locals.iter().map(|info| &info.name)).into_iter().enumerate();
        self.local = locals.map(|(k, name)| (name, Local(k as u32))).collect();
        let buffers = unique(self.buffers.iter().map(|info| &info.name)).into_iter().enumerate();
        self.buffer = buffers.map(|(k, name)| (name, Buffer(k as u32))).collect();
    }

    pub(super) fn local(&self, line: &mut Line) -> Parsed<Local> {
        line.named("a local", |name| self.local.get(name).copied())
    }

    pub(super) fn buffer(&self, line: &mut Line) -> Parsed<Buffer> {
        line.named("a buffer", |name| self.buffer.get(name).copied())
    }

    pub(super) fn operand(&self, line: &mut Line) -> Parsed<Operand> {
        line.named("an operand", |name| {
            let local = self.local.get(name).map(|local| Operand::Local(*local));
            local.or_else(|| Const::from_text(name).map(Operand::Const))
        })
    }

    /// Operands between commas, up to a closing mark.
    pub(super) fn operands(&self, line: &mut Line, close: &str) -> Parsed<Vec<Operand>> {
        line.list(close, |line| self.operand(line))
    }

    pub(super) fn place(&self, line: &mut Line) -> Parsed<Place> {
        let buffer = self.buffer(line)?;
        line.mark("[")?;
        let offset = if line.is_mark(0, "]") { Operand::i64(0) } else { self.operand(line)? };
        line.mark("]")?;
        Ok(Place { buffer, offset })
    }

    pub(super) fn tensor(&self, line: &mut Line) -> Parsed<Tensor> {
        let place = self.place(line)?;
        line.mark(":")?;
        let elem = line.named("a type", Elem::from_name)?;
        line.mark("[")?;
        Ok(Tensor { place, elem, dims: self.operands(line, "]")? })
    }

    /// A scalar or a tensor.
    pub(super) fn argument(&self, line: &mut Line) -> Parsed<Argument> {
        if line.is_mark(1, "[") {
            return Ok(Argument::Tensor(self.tensor(line)?));
        }
        Ok(Argument::Scalar(self.operand(line)?))
    }

    pub(super) fn params(&self, line: &mut Line) -> Parsed<Vec<Param>> {
        line.mark("(")?;
        line.list(")", |line| {
            if line.is_mark(1, "[") {
                return Ok(Param::Tensor(self.tensor(line)?));
            }
            let local = self.local(line)?;
            line.mark(":")?;
            line.named("a type", Elem::from_name)?;
            Ok(Param::Scalar(local))
        })
    }

    /// The line at the end of the body.
    pub(super) fn results(&self, line: &mut Line) -> Parsed<Vec<Argument>> {
        line.word("return")?;
        let mut results = Vec::new();
        while line.peek(0).is_some() {
            results.push(self.argument(line)?);
            if !line.eat_mark(",") {
                break;
            }
        }
        line.end()?;
        Ok(results)
    }
}
