//! Operations: everything behind the `=` of a statement, inner blocks included.

use super::{ParseError, Parser};
use crate::{
    Acc, AccKind, Atom, CheckKind, Checkpoint, Elem, Loop, Mode, Monoid, Op, Par, ParResult, ReversePolicy, Role, Span,
    Ty, Var,
};

impl Parser<'_> {
    pub(super) fn operation(&mut self) -> Result<(Op, Span), ParseError> {
        // In front of a bracket any word is a variable, also one that starts other operations.
        if self.is_mark(1, "[") {
            let (array, indices) = self.place()?;
            return self.with_span(Op::Index { array, indices });
        }
        let start = self.at;
        let word = self.word("an operation")?;
        match word {
            "update" => {
                let (array, indices) = self.place()?;
                self.mark("=")?;
                let value = self.atom()?;
                self.with_span(Op::Update { array, indices, value })
            }
            "acc_add" => {
                let (acc, indices) = self.place()?;
                let Atom::Var(acc) = acc else {
                    return Err(self.error_at(start + 1, "expected an accumulator, found a constant".to_owned()));
                };
                self.mark("=")?;
                let value = self.atom()?;
                self.with_span(Op::AccAdd { acc, indices, value })
            }
            "check" => {
                let cond = self.atom()?;
                let code = self.at;
                let kind = CheckKind::from_code(self.word("the code of a check")?);
                let kind = kind.ok_or_else(|| self.error_at(code, "no check has this code".to_owned()))?;
                let args = self.arguments()?;
                let value = self.atom()?;
                self.with_span(Op::Check { cond, kind, args, value })
            }
            "call" => {
                let callee = self.symbol()?;
                let args = self.arguments()?;
                self.with_span(Op::Call { callee, args })
            }
            "par" => self.par(),
            "loop" | "while" => self.sequential(word == "loop"),
            "switch" => {
                let selector = self.atom()?;
                let span = self.span()?;
                let mut arms = Vec::new();
                while self.is_mark(0, "{") {
                    arms.push(self.block("yield")?);
                }
                Ok((Op::Switch { selector, arms }, span))
            }
            name => {
                let args = self.atoms()?;
                if let Some(prim) = self.ops.prim(name) {
                    return self.with_span(Op::Prim { prim, args });
                }
                let Some(op) = self.ops.tensor_op(name) else {
                    return Err(self.error_at(start, format!("no operation is called `{name}`")));
                };
                let attrs = if self.eat_mark("{") { self.list("}", |p| p.number("an integer"))? } else { Vec::new() };
                self.with_span(Op::Tensor { op, args, attrs })
            }
        }
    }

    fn with_span(&mut self, op: Op) -> Result<(Op, Span), ParseError> {
        Ok((op, self.span()?))
    }

    fn par(&mut self) -> Result<(Op, Span), ParseError> {
        let (mut indices, mut extents) = (Vec::new(), Vec::new());
        // An index stands before `<` or `:`; without levels the next word starts the accumulators.
        if self.is_mark(1, "<") || self.is_mark(1, ":") {
            loop {
                indices.push(self.index()?);
                self.mark("<")?;
                extents.push(self.atom()?);
                if !self.eat_mark(",") {
                    break;
                }
            }
        }
        let kinds = if self.eat_mark("(") { self.list(")", Self::kind)? } else { Vec::new() };
        let accs = self.accs()?;
        let span = self.span()?;
        let body = self.block("yield")?;
        Ok((Op::Par(Box::new(Par { indices, extents, kinds, accs, body })), span))
    }

    fn kind(&mut self) -> Result<ParResult, ParseError> {
        if self.eat_word("stack") {
            return Ok(ParResult::Stacked);
        }
        let monoid = self.monoid("`stack` or a monoid")?;
        self.keyword("from")?;
        Ok(ParResult::Reduced { monoid, init: self.atom()? })
    }

    fn monoid(&mut self, what: &str) -> Result<Monoid, ParseError> {
        let found = Monoid::ALL.into_iter().find(|m| self.is_word(m.name()));
        let monoid = found.ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(monoid)
    }

    fn sequential(&mut self, is_counted: bool) -> Result<(Op, Span), ParseError> {
        let index = self.index()?;
        let count = if is_counted {
            self.mark("<")?;
            Some(self.atom()?)
        } else {
            None
        };
        let carried = |p: &mut Self| {
            let param = p.binding()?;
            p.mark("=")?;
            Ok((param, p.atom()?))
        };
        let carried = if self.eat_mark("(") { self.list(")", carried)? } else { Vec::new() };
        let (params, inits) = carried.into_iter().unzip();
        let accs = self.accs()?;
        let kept = self.kept()?;
        let span = self.span()?;
        let body = self.block("yield")?;
        Ok((Op::Loop(Box::new(Loop { index, count, params, inits, accs, body, kept })), span))
    }

    fn kept(&mut self) -> Result<ReversePolicy, ParseError> {
        let checkpoint = if self.eat_word("checkpoint") { Some(self.checkpoint()?) } else { None };
        let recompute = self.eat_word("recompute");
        Ok(ReversePolicy { checkpoint, recompute, mode: self.loop_mode() })
    }

    fn loop_mode(&mut self) -> Option<Mode> {
        let words = [("forward", Mode::Jvp), ("reverse", Mode::Vjp)];
        words.into_iter().find(|(word, _)| self.eat_word(word)).map(|(_, mode)| mode)
    }

    fn checkpoint(&mut self) -> Result<Checkpoint, ParseError> {
        if self.eat_word("sqrt") {
            return Ok(Checkpoint::Sqrt);
        }
        if self.eat_word("all") {
            return Ok(Checkpoint::All);
        }
        for word in ["every", "levels", "budget"] {
            if self.eat_word(word) {
                let n = self.number("an integer")?;
                return Ok(match word {
                    "every" => Checkpoint::Every(n),
                    "levels" => Checkpoint::Levels(n),
                    _ => Checkpoint::Budget(n),
                });
            }
        }
        Err(self.expected("`every`, `sqrt`, `levels`, `budget` or `all`"))
    }

    fn accs(&mut self) -> Result<Vec<Acc>, ParseError> {
        if !self.eat_word("acc") {
            return Ok(Vec::new());
        }
        self.mark("(")?;
        self.list(")", |p| {
            let var = p.binding()?;
            let kind = if p.eat_word("log") { AccKind::Log } else { AccKind::Reduce(p.monoid("`log` or a monoid")?) };
            let init = if p.eat_word("from") { Some(p.atom()?) } else { None };
            Ok(Acc { var, kind, init })
        })
    }

    /// A name without a type is an i64.
    fn index(&mut self) -> Result<Var, ParseError> {
        if self.is_mark(1, ":") {
            return self.binding();
        }
        let name = self.new_name()?;
        Ok(self.bind(name, Ty::scalar(Elem::I64), None))
    }

    fn place(&mut self) -> Result<(Atom, Vec<Atom>), ParseError> {
        let array = self.atom()?;
        self.mark("[")?;
        Ok((array, self.list("]", Self::atom)?))
    }

    fn arguments(&mut self) -> Result<Vec<Atom>, ParseError> {
        self.mark("(")?;
        self.list(")", Self::atom)
    }

    fn span(&mut self) -> Result<Span, ParseError> {
        if !self.eat_mark("@") {
            return Ok(Span::NONE);
        }
        let file = self.number("the number of a file")?;
        self.mark(":")?;
        let start = self.number("a position")?;
        self.mark("..")?;
        let end = self.number("a position")?;
        let role = if self.eat_mark(":") {
            let text = self.word("a role")?;
            Role::from_text(text).ok_or_else(|| self.expected("a role"))?
        } else {
            Role::VALUE
        };
        Ok(Span { file, start, end, role })
    }
}
