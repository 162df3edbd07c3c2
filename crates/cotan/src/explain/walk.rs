//! The records in a function: whose they are, how large, how long they live, how many live at once.

use super::formula::Formula;
use super::sizes::Sizes;
use cotan_ir::{Atom, Block, Function, Loop, Module, Op, Record, Span, Stmt, Var};
use cotan_syntax::SourceMap;
use std::collections::BTreeMap;

/// One thing that a loop records.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recorded {
    /// The source text of the loop.
    pub(super) span: Span,
    /// What it is called in the source.
    pub(super) name: String,
    pub(super) how: Record,
    /// What one entry is.
    pub(super) element: String,
    pub(super) bytes: Formula,
    /// The parallel and sequential loops around, outermost first: it lives during one run of the body of the last.
    pub(super) within: Vec<Span>,
    /// The variables that hold it.
    pub(super) vars: Vec<Var>,
    /// How many there are of it, in functions that are called.
    pub(super) copies: usize,
}

/// The records of a function, and the most bytes of them at any one time.
#[derive(Clone)]
pub(super) struct Records {
    pub(super) all: Vec<Recorded>,
    pub(super) peak: Formula,
}

/// What the function of this name and those that it calls record.
pub(super) fn records(module: &Module, name: &str, sources: &SourceMap) -> Records {
    records_of(module, name, sources, &mut Seen::default(), &|_| true)
}

/// The most bytes at any one time that one loop of the source records.
pub(super) fn peak_of(module: &Module, name: &str, sources: &SourceMap, of: Span) -> Formula {
    records_of(module, name, sources, &mut Seen::default(), &|span| super::source_of(span) == of).peak
}

/// The functions that were looked at.
#[derive(Default)]
struct Seen {
    /// Those being walked through.
    open: Vec<String>,
    /// What the others record.
    known: BTreeMap<String, Records>,
}

fn records_of(
    module: &Module,
    name: &str,
    sources: &SourceMap,
    seen: &mut Seen,
    is_meant: &dyn Fn(Span) -> bool,
) -> Records {
    if let Some(known) = seen.known.get(name) {
        return known.clone();
    }
    let mut records = Records { all: Vec::new(), peak: Formula::default() };
    if let Some(f) = module.function(name).filter(|_| !seen.open.iter().any(|open| open == name)) {
        seen.open.push(name.to_owned());
        let sizes = Sizes::new(f, sources);
        let mut walk = Walk {
            module,
            f,
            sources,
            sizes: &sizes,
            seen,
            is_meant,
            within: Vec::new(),
            is_parallel: false,
            all: Vec::new(),
        };
        records.peak = walk.block(&f.body);
        records.all = walk.all;
        seen.open.pop();
        seen.known.insert(name.to_owned(), records.clone());
    }
    records
}

struct Walk<'a> {
    module: &'a Module,
    f: &'a Function,
    sources: &'a SourceMap,
    sizes: &'a Sizes<'a>,
    seen: &'a mut Seen,
    is_meant: &'a dyn Fn(Span) -> bool,
    within: Vec<Span>,
    /// Whether a parallel loop is around, which the threads share.
    is_parallel: bool,
    all: Vec<Recorded>,
}

impl Walk<'_> {
    /// The most bytes at once in a block. What it records itself is there until its end.
    fn block(&mut self, block: &Block) -> Formula {
        let mut own = Formula::default();
        let mut nested = Formula::default();
        for s in &block.stmts {
            if (self.is_meant)(s.span) {
                own = own.plus(&self.recorded(s));
            }
            nested = nested.max(self.inside(s));
        }
        own.plus(&nested)
    }

    /// The most bytes at once in the blocks of a statement.
    fn inside(&mut self, s: &Stmt) -> Formula {
        if let Op::Loop(l) = &s.op {
            self.region(s, &l.body, Some(l.index))
        } else if let Op::Par(p) = &s.op {
            let is_shared = !std::mem::replace(&mut self.is_parallel, true);
            let peak = self.region(s, &p.body, p.indices.first().copied());
            self.is_parallel = !is_shared;
            if is_shared { peak.times(&self.sizes.threads()) } else { peak }
        } else if let Op::Switch { arms, .. } = &s.op {
            arms.iter().map(|arm| self.block(arm)).fold(Formula::default(), Formula::max)
        } else if let Op::Call { callee, args } = &s.op {
            self.call(callee, args)
        } else {
            Formula::default()
        }
    }

    fn region(&mut self, s: &Stmt, body: &Block, index: Option<Var>) -> Formula {
        self.within.push(s.span);
        let peak = self.block(body);
        self.within.pop();
        self.sizes.largest(&peak, index.and_then(|index| self.sizes.region_of(index)))
    }

    /// What a function that is called records, in the sizes of the caller.
    fn call(&mut self, callee: &str, args: &[Atom]) -> Formula {
        let inner = records_of(self.module, callee, self.sources, self.seen, self.is_meant);
        let Some(f) = self.module.function(callee) else { return Formula::default() };
        let in_caller = |formula: &Formula| {
            formula.replaced(&|symbol| {
                let at = f.params.iter().position(|p| f.name_of(*p) == symbol.name)?;
                Some(self.sizes.atom(*args.get(at)?))
            })
        };
        let all = inner.all.into_iter().map(|recorded| Recorded {
            bytes: in_caller(&recorded.bytes),
            within: self.within.iter().copied().chain(recorded.within).collect(),
            // They are variables of another function.
            vars: Vec::new(),
            ..recorded
        });
        let peak = in_caller(&inner.peak);
        // What is called again and again records the same.
        for recorded in all.collect::<Vec<_>>() {
            let is_same = |other: &&mut Recorded| Recorded { copies: recorded.copies, ..(**other).clone() } == recorded;
            match self.all.iter_mut().find(is_same) {
                Some(same) => same.copies = same.copies.saturating_add(recorded.copies),
                None => self.all.push(recorded),
            }
        }
        peak
    }

    /// Notes what a statement records; how many bytes.
    fn recorded(&mut self, s: &Stmt) -> Formula {
        let mut sum = Formula::default();
        for (k, v) in s.results.iter().enumerate() {
            let info = &self.f.vars[v.index()];
            let Some(how) = info.record else { continue };
            let bytes = self.sizes.bytes(&info.ty);
            sum = sum.plus(&bytes);
            let log = match how {
                Record::Place | Record::Start => self.log_of(s, *v),
                Record::Value | Record::Read | Record::Old | Record::Kept { .. } | Record::Inner | Record::State => {
                    None
                }
            };
            match log {
                // The parts of an undo log are one thing to a reader.
                Some(log) => {
                    log.bytes = log.bytes.plus(&bytes);
                    log.vars.push(*v);
                }
                None => self.all.push(Recorded {
                    span: s.span,
                    name: self.name(s, k, how),
                    how,
                    element: self.element(*v),
                    bytes,
                    within: self.within.clone(),
                    vars: vec![*v],
                    copies: 1,
                }),
            }
        }
        sum
    }
}

/// How things are called.
impl Walk<'_> {
    /// The undo log that a place or a start belongs to.
    fn log_of(&mut self, s: &Stmt, v: Var) -> Option<&mut Recorded> {
        let Op::Loop(l) = &s.op else { return None };
        let length = log_length(self.f, l, &s.results, v)?;
        let f = self.f;
        let is_it = |recorded: &&mut Recorded| {
            matches!(recorded.how, Record::Old | Record::Inner)
                && recorded.vars.iter().any(|log| f.ty(*log).dims[0].var() == Some(length))
        };
        self.all.iter_mut().rev().find(is_it)
    }

    /// What result `k` of a statement records, as the source would write it.
    fn name(&self, s: &Stmt, k: usize, how: Record) -> String {
        let v = s.results[k];
        // Columns of a store and records of loops inside have the name of the value, with an `s`.
        let value_of = |records: Var| {
            let name = self.f.name_of(records);
            name.strip_suffix('s').unwrap_or(name).to_owned()
        };
        let Op::Loop(l) = &s.op else { return value_of(v) };
        let parts = l.split(&s.results);
        let entry = match parts.stacked.iter().position(|r| *r == v) {
            Some(k) => l.body.results[l.params.len() + k].var(),
            None => parts.accs.iter().position(|r| *r == v).and_then(|k| logged(&l.body, l.accs[k].var)),
        };
        let entry = entry.unwrap_or(v);
        match how {
            Record::Inner => value_of(entry),
            Record::Value
            | Record::Read
            | Record::Old
            | Record::Place
            | Record::Start
            | Record::Kept { .. }
            | Record::State => self.sizes.read(entry).unwrap_or_else(|| self.f.name_of(entry).to_owned()),
        }
    }

    /// The type of one entry.
    fn element(&self, v: Var) -> String {
        let ty = self.f.ty(v);
        let dims: Vec<String> = ty.dims.iter().skip(1).map(|dim| self.sizes.atom(dim.atom()).to_string()).collect();
        if dims.is_empty() { ty.elem.to_string() } else { format!("{}[{}]", ty.elem, dims.join(", ")) }
    }
}

/// The variable that says how long the undo log is that record `v` of a loop belongs to.
fn log_length(f: &Function, l: &Loop, results: &[Var], v: Var) -> Option<Var> {
    let parts = l.split(results);
    match parts.stacked.iter().position(|r| *r == v) {
        // Where the part of an iteration begins is the length so far.
        Some(k) => {
            let length = l.body.results[l.params.len() + k].var()?;
            Some(parts.carried[l.params.iter().position(|p| *p == length)?])
        }
        None => f.ty(v).dims.first()?.var(),
    }
}

/// A variable that a block writes to a log.
fn logged(block: &Block, log: Var) -> Option<Var> {
    let written = |s: &Stmt| {
        if let Op::AccAdd { acc, value, .. } = &s.op
            && *acc == log
        {
            value.var()
        } else {
            None
        }
    };
    let inner = || block.stmts.iter().flat_map(|s| s.op.blocks()).find_map(|inner| logged(inner, log));
    block.stmts.iter().find_map(written).or_else(inner)
}
