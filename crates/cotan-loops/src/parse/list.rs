//! Nodes, and the lists in them.

use super::line::{Line, Token};
use super::table::span;
use super::{MAX_DEPTH, Names, Parsed, Parser};
use crate::node::{
    Argument, Buffer, CallResult, For, Independence, Node, Operand, Product, Reduce, Routine, Sharing, Sum, Target,
    Tensor, Threads, View, Wave,
};
use crate::partial_sums::{BlockWork, PartialSums};
use cotan_ir::{CheckKind, Elem, OpLookup};

impl Parser<'_> {
    /// The nodes of a list up to the line that begins with `end`.
    pub(super) fn list(&mut self, end: &str) -> Parsed<Vec<Node>> {
        if self.depth == MAX_DEPTH {
            return Err(format!("lists nest deeper than {MAX_DEPTH}"));
        }
        self.depth += 1;
        let mut nodes = Vec::new();
        while !self.ends_with(end)? {
            let line = self.next()?;
            nodes.push(self.node(line)?);
        }
        self.depth -= 1;
        Ok(nodes)
    }

    /// Whether the next line ends a list.
    fn ends_with(&self, end: &str) -> Parsed<bool> {
        let (_, tokens) = self.lines.get(self.at).ok_or("the text ends too early")?;
        Ok(match &tokens[..] {
            [Token::Mark(mark)] => *mark == end,
            [Token::Word(word), rest @ ..] => {
                let is_assigned = matches!(rest.first(), Some(Token::Mark(":=" | "=")));
                word == end && !is_assigned
            }
            _ => false,
        })
    }

    /// A list between braces, of which the first ends this line.
    fn braced(&mut self, mut line: Line) -> Parsed<Vec<Node>> {
        line.mark("{")?;
        line.end()?;
        let nodes = self.list("}")?;
        self.next()?;
        Ok(nodes)
    }

    fn node(&mut self, mut line: Line) -> Parsed<Node> {
        let is_head = line.rest().last() == Some(&Token::Mark("{"));
        if !is_head {
            let node = self.names.step(&mut line, self.ops)?;
            line.end()?;
            return Ok(node);
        }
        match line.any_word("a loop, a branch or a scope")?.as_str() {
            "scope" => Ok(Node::Scope(self.braced(line)?)),
            "segment" => Ok(Node::Segment(self.braced(line)?)),
            "while" => {
                let go = self.names.local(&mut line)?;
                Ok(Node::While(go, self.braced(line)?))
            }
            "if" => {
                let cond = self.names.operand(&mut line)?;
                let yes = self.braced(line)?;
                let has_else = self.next_begins("else", |token| *token == Token::Mark("{"));
                let no = if has_else {
                    let mut line = self.next()?;
                    line.word("else")?;
                    self.braced(line)?
                } else {
                    Vec::new()
                };
                Ok(Node::If(cond, yes, no))
            }
            "case" => self.switch(line),
            "for" => {
                let mut l = self.names.counted(&mut line)?;
                l.body = self.braced(line)?;
                Ok(Node::For(Box::new(l)))
            }
            "reduce" => {
                let mut reduction = self.names.reduction(&mut line)?;
                reduction.body = self.braced(line)?;
                Ok(Node::Reduce(Box::new(reduction)))
            }
            other => Err(format!("expected a loop, a branch or a scope, found `{other}`")),
        }
    }

    /// The arms of a switch: cases that count on from 0.
    fn switch(&mut self, mut line: Line) -> Parsed<Node> {
        let mut arms = Vec::new();
        loop {
            let number: usize = line.number()?;
            if number != arms.len() {
                return Err(format!("expected case {}, found {number}", arms.len()));
            }
            line.word("of")?;
            let on = self.names.operand(&mut line)?;
            arms.push(self.braced(line)?);
            let next = Token::Word(arms.len().to_string());
            if !self.next_begins("case", |token| *token == next) {
                return Ok(Node::Switch(on, arms));
            }
            line = self.next()?;
            line.word("case")?;
        }
    }
}

impl Names {
    /// The head of a counted loop, behind `for`.
    fn counted(&self, line: &mut Line) -> Parsed<For> {
        let index = self.local(line)?;
        line.mark("<")?;
        let count = self.operand(line)?;
        let mut lanes = 1;
        if line.eat_word("lanes") {
            line.mark("(")?;
            lanes = line.number()?;
            line.mark(")")?;
        }
        let threads = self.threads(line)?;
        let may_flush = line.eat_word("flushing");
        let independence = match line.eat_word("independent") {
            false => Independence::None,
            true if line.eat_word("in") => {
                if line.eat_word("order") {
                    Independence::Ordered
                } else {
                    line.word("blocks")?;
                    Independence::Block
                }
            }
            true => Independence::All,
        };
        Ok(For { index, count, threads, independence, lanes, may_flush, body: Vec::new() })
    }

    /// The head of a reduction, behind `reduce`.
    fn reduction(&self, line: &mut Line) -> Parsed<Reduce> {
        let index = |line: &mut Line| {
            let index = self.local(line)?;
            line.mark("<")?;
            Ok((index, self.operand(line)?))
        };
        let indices = line.some(index)?;
        line.word("into")?;
        Ok(Reduce { indices, sums: line.some(|line| self.sum(line))?, body: Vec::new() })
    }

    fn threads(&self, line: &mut Line) -> Parsed<Threads> {
        if line.eat_word("parallel") {
            return Ok(Threads::Each);
        }
        if line.eat_word("wavefront") {
            line.mark("(")?;
            line.word("stages")?;
            let stages = self.operand(line)?;
            line.mark(",")?;
            line.word("slots")?;
            let slots = self.operand(line)?;
            line.mark(")")?;
            return Ok(Threads::Wave(Wave { stages, slots }));
        }
        if !line.eat_word("may") {
            return Ok(Threads::One);
        }
        line.word("fork")?;
        line.mark("(")?;
        line.word("steps")?;
        let steps = self.operand(line)?;
        let mut sums = Vec::new();
        if line.eat_mark(",") {
            line.word("sums")?;
            sums = line.list(")", |line| self.sum(line))?;
        } else {
            line.mark(")")?;
        }
        Ok(Threads::May(Sharing { steps, sums }))
    }

    fn sum(&self, line: &mut Line) -> Parsed<Sum> {
        let target = self.target(line)?;
        line.word("by")?;
        let monoid = line.monoid()?;
        line.word("of")?;
        line.mark("(")?;
        Ok(Sum { monoid, target, extents: self.operands(line, ")")? })
    }

    fn target(&self, line: &mut Line) -> Parsed<Target> {
        if line.is_mark(1, "[") {
            return Ok(Target::Element(self.place(line)?));
        }
        Ok(Target::Local(self.local(line)?))
    }

    /// A node without lists in it. A line that begins with a keyword goes on with a word.
    fn step(&self, line: &mut Line, ops: &dyn OpLookup) -> Parsed<Node> {
        let is_call = |pair: &[Token]| matches!(pair, [Token::Word(word), Token::Text(_)] if word == "call");
        if line.rest().windows(2).any(is_call) {
            return self.call(line);
        }
        if let Some(Token::Text(_)) = line.peek(1) {
            line.word("print")?;
            return self.print(line);
        }
        let keyword = match (line.peek(0), line.peek(1), line.peek(2)) {
            // A sum into a local is a word behind a word, too.
            (_, Some(Token::Word(_)), Some(Token::Mark("="))) => None,
            (Some(Token::Word(word)), Some(Token::Word(_)), _) => Some(word.clone()),
            _ => None,
        };
        match keyword.as_deref() {
            Some(word) => {
                line.word(word)?;
                self.keyword(word, line)
            }
            None if line.is_mark(1, "[") => self.at_place(line, ops),
            None => self.at_local(line, ops),
        }
    }

    fn keyword(&self, word: &str, line: &mut Line) -> Parsed<Node> {
        match word {
            "lanes" => {
                let to = self.place(line)?;
                line.mark("=")?;
                let value = self.operand(line)?;
                Ok(Node::StoreLanes { to, value, mask: self.mask(line)? })
            }
            "copy" => {
                let from = self.place(line)?;
                line.word("to")?;
                let to = self.place(line)?;
                line.mark(",")?;
                Ok(Node::Copy { from, to, count: self.operand(line)? })
            }
            "close" => self.partial_sums(line, BlockWork::Close, ["blocks", "last"]),
            "combine" => self.partial_sums(line, BlockWork::Combine, ["levels", "total"]),
            "alloc" => self.allocation(line),
            "record" => {
                let elem = line.named("a type", Elem::from_name)?;
                line.mark("[")?;
                Ok(Node::CountRecord(elem, self.operands(line, "]")?))
            }
            "stack" => {
                let buffer = self.buffer(line)?;
                line.mark(":")?;
                line.named("a type", Elem::from_name)?;
                Ok(Node::StackOpen(buffer))
            }
            "extend" => {
                let buffer = self.buffer(line)?;
                line.word("to")?;
                Ok(Node::StackExtend(buffer, self.operand(line)?))
            }
            "bind" => {
                let buffer = self.buffer(line)?;
                line.word("to")?;
                Ok(Node::Bind { buffer, to: self.place(line)? })
            }
            "check" => {
                let cond = self.operand(line)?;
                let kind = line.named("an error code", CheckKind::from_code)?;
                line.mark("(")?;
                let args = self.operands(line, ")")?;
                Ok(Node::Check { cond, kind, args, span: span(line)? })
            }
            "product" => self.product(line),
            other => Err(format!("expected a node, found `{other}`")),
        }
    }

    /// A node that begins with a place.
    fn at_place(&self, line: &mut Line, ops: &dyn OpLookup) -> Parsed<Node> {
        let place = self.place(line)?;
        if line.eat_mark(":") {
            let elem = line.named("a type", Elem::from_name)?;
            line.mark("[")?;
            let to = Tensor { place, elem, dims: self.operands(line, "]")? };
            line.mark("=")?;
            line.word("routine")?;
            let op = line.named("an operation", |name| ops.tensor_op(name))?;
            line.mark("(")?;
            let from = line.list(")", |line| self.tensor(line))?;
            line.mark("[")?;
            let attrs = line.list("]", Line::number)?;
            return Ok(Node::Routine(Box::new(Routine { op, attrs, to, from })));
        }
        if line.eat_mark("=") {
            return Ok(Node::Store(place, self.operand(line)?));
        }
        self.combined(line, Target::Element(place))
    }

    /// A node that begins with a local.
    fn at_local(&self, line: &mut Line, ops: &dyn OpLookup) -> Parsed<Node> {
        let local = self.local(line)?;
        if line.eat_mark(":=") {
            return Ok(Node::Set(local, self.operand(line)?));
        }
        if !line.eat_mark("=") {
            return self.combined(line, Target::Local(local));
        }
        if line.is_mark(1, "[") {
            return Ok(Node::Load(local, self.place(line)?));
        }
        if line.is_word(0, "lanes") && line.is_mark(2, "[") {
            line.word("lanes")?;
            let from = self.place(line)?;
            return Ok(Node::LoadLanes { to: local, from, mask: self.mask(line)? });
        }
        Ok(Node::Let(local, self.expression(line, ops)?))
    }

    fn combined(&self, line: &mut Line, target: Target) -> Parsed<Node> {
        let monoid = line.monoid()?;
        line.mark("=")?;
        Ok(Node::Combine { monoid, target, value: self.operand(line)? })
    }

    fn mask(&self, line: &mut Line) -> Parsed<Option<Operand>> {
        if line.eat_word("where") { self.operand(line).map(Some) } else { Ok(None) }
    }

    fn partial_sums(&self, line: &mut Line, work: BlockWork, [what, number]: [&str; 2]) -> Parsed<Node> {
        line.word(what)?;
        let monoid = line.monoid()?;
        let lanes = self.place(line)?;
        line.word("of")?;
        let size = self.operand(line)?;
        let stride = if line.eat_word("by") { line.number()? } else { 1 };
        line.mark(",")?;
        line.word(number)?;
        let number = self.operand(line)?;
        Ok(Node::PartialSums(PartialSums { work, monoid, lanes, size, stride, number }))
    }

    /// Behind the extents the line says again what the table does.
    fn allocation(&self, line: &mut Line) -> Parsed<Node> {
        let buffer = self.buffer(line)?;
        line.mark(":")?;
        line.named("a type", Elem::from_name)?;
        line.mark("[")?;
        let extents = self.operands(line, "]")?;
        if line.eat_word("in") {
            line.word("frame")?;
        } else if line.eat_word("as") {
            line.word("result")?;
            line.number::<usize>()?;
        }
        Ok(Node::Alloc { buffer, extents })
    }

    fn product(&self, line: &mut Line) -> Parsed<Node> {
        let to = self.view(line)?;
        line.mark("=")?;
        let left = self.view(line)?;
        line.word("by")?;
        let right = self.view(line)?;
        line.mark(",")?;
        let elem = line.named("a type", Elem::from_name)?;
        line.mark("[")?;
        let extents = self.operands(line, "]")?;
        let extents = extents.try_into().map_err(|_| "a product has three extents".to_owned())?;
        Ok(Node::Product(Box::new(Product { elem, to, left, right, extents })))
    }

    fn view(&self, line: &mut Line) -> Parsed<View> {
        let place = self.place(line)?;
        line.word("step")?;
        line.mark("(")?;
        let strides = self.operands(line, ")")?;
        Ok(View { place, strides: strides.try_into().map_err(|_| "a matrix has two steps".to_owned())? })
    }

    fn print(&self, line: &mut Line) -> Parsed<Node> {
        let text = line.text()?.into_bytes();
        let value = if line.eat_mark(",") { Some(self.tensor(line)?) } else { None };
        let extents = if line.eat_word("extents") { Some(self.place(line)?) } else { None };
        Ok(Node::Print { text, value, extents })
    }

    fn call(&self, line: &mut Line) -> Parsed<Node> {
        let results = line.list("=", |line| self.call_result(line))?;
        line.word("call")?;
        let callee = line.text()?.as_str().into();
        line.mark("(")?;
        Ok(Node::Call { callee, args: line.list(")", |line| self.argument(line))?, results })
    }

    fn call_result(&self, line: &mut Line) -> Parsed<CallResult> {
        if line.is_word(0, "new") && line.is_word(2, "rank") {
            line.word("new")?;
            let buffer: Buffer = self.buffer(line)?;
            line.word("rank")?;
            return Ok(CallResult::New(buffer, line.number()?));
        }
        Ok(match self.argument(line)? {
            Argument::Tensor(tensor) => CallResult::Into(tensor),
            Argument::Scalar(Operand::Local(local)) => CallResult::Scalar(local),
            Argument::Scalar(Operand::Const(_)) => return line.expected("a local in front"),
        })
    }
}
