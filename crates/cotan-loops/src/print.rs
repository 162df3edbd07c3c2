//! The text form of loop nests, for people: `cotan emit --stage loops`.

use crate::node::{
    Argument, Buffer, BufferKind, CallResult, Expr, For, Home, Independence, Local, LoopFunction, Node, Operand, Param,
    Place, Reduce, Sharing, Sum, Target, Tensor, Threads, View, Wave,
};
use crate::partial_sums::{BlockWork, PartialSums};
use cotan_ir::{Span, Symbol};
use rustc_hash::FxHashMap;
use std::fmt;

impl fmt::Display for LoopFunction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(self, Detail::People);
        printer.function();
        out.write_str(&printer.text)
    }
}

/// The complete text form, which [`parse_nest`](crate::parse_nest) reads: that for people, with the tables of locals and
/// buffers behind the first line, and at the ends of lines what people need not know.
pub fn print_nest(f: &LoopFunction) -> String {
    let mut printer = Printer::new(f, Detail::Complete);
    printer.function();
    printer.text
}

/// The text form of a nest for a device: that for people, with the loops marked whose iterations are independent, which
/// is what a device cuts by.
pub fn print_for_device(f: &LoopFunction) -> String {
    let mut printer = Printer::new(f, Detail::Device);
    printer.function();
    printer.text
}

/// The line that a node begins with.
pub fn heading(f: &LoopFunction, node: &Node) -> String {
    let mut printer = Printer::new(f, Detail::People);
    let mut head = node.clone();
    head.lists_mut().into_iter().for_each(Vec::clear);
    printer.node(&head, 0);
    printer.text.lines().next().unwrap_or_default().to_owned()
}

/// The texts of parts of a function, for those who print what they make of it.
pub struct NestText<'a>(Printer<'a>);

impl NestText<'_> {
    /// Those of a function for a device.
    pub fn new(f: &LoopFunction) -> NestText<'_> {
        NestText(Printer::new(f, Detail::Device))
    }

    /// The lines of nodes, so many steps from the margin.
    pub fn nodes(&mut self, nodes: &[Node], depth: usize) -> String {
        self.0.nodes(nodes, depth);
        std::mem::take(&mut self.0.text)
    }

    /// A scalar.
    pub fn operand(&self, operand: Operand) -> String {
        self.0.operand(operand)
    }

    /// A piece of memory.
    pub fn buffer(&self, buffer: Buffer) -> String {
        self.0.buffer(buffer)
    }

    /// An argument or result.
    pub fn argument(&self, argument: &Argument) -> String {
        self.0.argument(argument)
    }

    /// What is summed.
    pub fn target(&self, target: Target) -> String {
        self.0.target(target)
    }
}

/// Base names, with a number where they repeat.
pub(crate) fn unique<'a>(names: impl Iterator<Item = &'a Symbol>) -> Vec<String> {
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    let mut number = |name: &'a Symbol| {
        let n = uses.entry(name).or_default();
        *n += 1;
        if *n == 1 { name.to_string() } else { format!("{name}.{}", *n - 1) }
    };
    names.map(&mut number).collect()
}

/// How much a text says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// What people read of a nest for a CPU.
    People,
    /// Which loops are independent, too.
    Device,
    /// Everything.
    Complete,
}

struct Printer<'a> {
    f: &'a LoopFunction,
    detail: Detail,
    locals: Vec<String>,
    buffers: Vec<String>,
    text: String,
}

impl Printer<'_> {
    fn new(f: &LoopFunction, detail: Detail) -> Printer<'_> {
        let locals = unique(f.locals.iter().map(|l| &l.name));
        let buffers = unique(f.buffers.iter().map(|b| &b.name));
        Printer { f, detail, locals, buffers, text: String::new() }
    }

    fn function(&mut self) {
        let params = listed(&self.f.params, |param| match param {
            Param::Scalar(local) => format!("{}: {}", self.local(*local), self.f.elem(*local)),
            Param::Tensor(tensor) => self.tensor(tensor),
        });
        self.text = format!("fn {}({params}) {{\n", self.name(&self.f.name));
        if self.detail == Detail::Complete {
            self.tables();
        }
        self.nodes(&self.f.body, 1);
        let results = listed(&self.f.results, |result| self.argument(result));
        self.line(1, &format!("return {results}"));
        self.text += "}\n";
    }

    /// What stands behind the first line of the complete form.
    fn tables(&mut self) {
        for info in &self.f.locals {
            let mutable = if info.is_mutable { " mutable" } else { "" };
            self.line(1, &format!("local {}: {} lanes {}{mutable}", info.name, info.elem, info.lanes));
        }
        for info in &self.f.buffers {
            let kind = match info.kind {
                BufferKind::Param(k) => format!("param {k}"),
                BufferKind::Allocated(Home::Arena) => "arena".to_owned(),
                BufferKind::Allocated(Home::Frame) => "frame".to_owned(),
                BufferKind::Allocated(Home::Result(k)) => format!("result {k}"),
                BufferKind::Stack => "stack".to_owned(),
                BufferKind::Bound => "bound".to_owned(),
            };
            let record = if info.is_record { " record" } else { "" };
            self.line(1, &format!("buffer {}: {} {kind}{record}{}", info.name, info.elem, self.span(info.span)));
        }
        if self.f.regroups_sums {
            self.line(1, "regroups");
        }
        for buffer in &self.f.watched {
            self.line(1, &format!("watch {}", self.buffers[buffer.index()]));
        }
    }

    /// What the complete form has more.
    fn more(&self, text: impl FnOnce() -> String) -> String {
        self.from(Detail::Complete, text)
    }

    /// What texts of this detail have, and of more.
    fn from(&self, detail: Detail, text: impl FnOnce() -> String) -> String {
        if self.detail >= detail { text() } else { String::new() }
    }

    fn span(&self, span: Span) -> String {
        let Span { file, start, end, role } = span;
        // A span without a place may have a role.
        let is_said = span != Span::default();
        self.more(|| if is_said { format!(" @ {file} {start} {end} {role}") } else { String::new() })
    }

    /// The name of a function.
    fn name(&self, name: &Symbol) -> String {
        if self.detail == Detail::Complete { format!("{:?}", &**name) } else { name.to_string() }
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.text += &"  ".repeat(depth);
        self.text += text.trim_end();
        self.text.push('\n');
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize) {
        nodes.iter().for_each(|node| self.node(node, depth));
    }

    fn block(&mut self, head: &str, body: &[Node], depth: usize) {
        self.line(depth, &format!("{head} {{"));
        self.nodes(body, depth + 1);
        self.line(depth, "}");
    }

    fn node(&mut self, node: &Node, depth: usize) {
        let text = match node {
            Node::Scope(body) => return self.block("scope", body, depth),
            Node::Segment(body) => return self.block("segment", body, depth),
            Node::For(l) => return self.block(&self.head(l), &l.body, depth),
            Node::Reduce(reduction) => return self.block(&self.reduction(reduction), &reduction.body, depth),
            Node::While(go, body) => return self.block(&format!("while {}", self.local(*go)), body, depth),
            Node::If(cond, yes, no) => return self.branches(*cond, yes, no, depth),
            Node::Switch(on, arms) => return self.switch(*on, arms, depth),
            Node::Let(local, expr) => format!("{} = {}", self.local(*local), self.expr(expr)),
            Node::Set(local, value) => format!("{} := {}", self.local(*local), self.operand(*value)),
            Node::Load(local, from) => format!("{} = {}", self.local(*local), self.place(*from)),
            Node::Store(to, value) => format!("{} = {}", self.place(*to), self.operand(*value)),
            Node::LoadLanes { to, from, mask } => {
                format!("{} = lanes {}{}", self.local(*to), self.place(*from), self.mask(*mask))
            }
            Node::StoreLanes { to, value, mask } => {
                format!("lanes {} = {}{}", self.place(*to), self.operand(*value), self.mask(*mask))
            }
            Node::Combine { monoid, target, value } => {
                format!("{} {}= {}", self.target(*target), monoid.name(), self.operand(*value))
            }
            Node::Copy { from, to, count } => {
                format!("copy {} to {}, {}", self.place(*from), self.place(*to), self.operand(*count))
            }
            Node::PartialSums(sums) => self.partial_sums(sums),
            Node::Alloc { buffer, extents } => self.allocation(*buffer, extents),
            Node::CountRecord(elem, extents) => format!("record {elem}[{}]", self.operands(extents)),
            Node::StackOpen(buffer) => format!("stack {}: {}", self.buffer(*buffer), self.elem(*buffer)),
            Node::StackExtend(buffer, n) => format!("extend {} to {}", self.buffer(*buffer), self.operand(*n)),
            Node::Bind { buffer, to } => format!("bind {} to {}", self.buffer(*buffer), self.place(*to)),
            Node::Check { cond, kind, args, span } => {
                let (args, span) = (self.operands(args), self.span(*span));
                format!("check {} {}({args}){span}", self.operand(*cond), kind.code())
            }
            Node::Product(product) => {
                let [to, left, right] = product.views().map(|view| self.view(view));
                format!("product {to} = {left} by {right}, {}[{}]", product.elem, self.operands(&product.extents))
            }
            Node::Routine(routine) => {
                let (to, from) = (self.tensor(&routine.to), listed(&routine.from, |array| self.tensor(array)));
                format!("{to} = routine {}({from}){:?}", routine.op.name(), routine.attrs)
            }
            Node::Print { text, value, extents } => {
                let value = value.as_ref().map_or(String::new(), |value| format!(", {}", self.tensor(value)));
                let extents =
                    extents.map_or(String::new(), |place| self.more(|| format!(" extents {}", self.place(place))));
                format!("print {:?}{value}{extents}", String::from_utf8_lossy(text))
            }
            Node::Call { callee, args, results } => {
                let args = listed(args, |arg| self.argument(arg));
                let results = listed(results, |result| self.call_result(result));
                format!("{results} = call {}({args})", self.name(callee))
            }
        };
        self.line(depth, &text);
    }

    fn head(&self, l: &For) -> String {
        let threads = self.threads(&l.threads);
        let lanes = if l.lanes > 1 { format!(" lanes({})", l.lanes) } else { String::new() };
        let flushes = if l.may_flush { " flushing" } else { "" };
        let independent = match l.independence {
            Independence::None => String::new(),
            Independence::Block => self.more(|| " independent in blocks".to_owned()),
            Independence::Ordered => self.more(|| " independent in order".to_owned()),
            Independence::All => self.from(Detail::Device, || " independent".to_owned()),
        };
        format!("for {} < {}{lanes}{threads}{flushes}{independent}", self.local(l.index), self.operand(l.count))
    }

    fn reduction(&self, Reduce { indices, sums, body: _ }: &Reduce) -> String {
        let indices = listed(indices, |(index, count)| format!("{} < {}", self.local(*index), self.operand(*count)));
        let sums = listed(sums, |Sum { monoid, target, extents }| {
            let extents = self.more(|| format!(" of ({})", self.operands(extents)));
            format!("{} by {}{extents}", self.target(*target), monoid.name())
        });
        format!("reduce {indices} into {sums}")
    }

    fn branches(&mut self, cond: Operand, yes: &[Node], no: &[Node], depth: usize) {
        self.block(&format!("if {}", self.operand(cond)), yes, depth);
        if !no.is_empty() {
            self.block("else", no, depth);
        }
    }

    fn switch(&mut self, on: Operand, arms: &[Vec<Node>], depth: usize) {
        for (k, arm) in arms.iter().enumerate() {
            self.block(&format!("case {} of {}", k, self.operand(on)), arm, depth);
        }
    }

    fn threads(&self, threads: &Threads) -> String {
        match threads {
            Threads::One => String::new(),
            Threads::Each => " parallel".to_owned(),
            Threads::Wave(Wave { stages, slots }) => {
                format!(" wavefront(stages {}, slots {})", self.operand(*stages), self.operand(*slots))
            }
            Threads::May(Sharing { steps, sums }) => {
                let sums = listed(sums, |Sum { monoid, target, extents }| {
                    let extents = self.more(|| format!(" by {} of ({})", monoid.name(), self.operands(extents)));
                    format!("{}{extents}", self.target(*target))
                });
                let sums = if sums.is_empty() { String::new() } else { format!(", sums {sums}") };
                format!(" may fork(steps {}{sums})", self.operand(*steps))
            }
        }
    }

    fn target(&self, target: Target) -> String {
        match target {
            Target::Element(place) => self.place(place),
            Target::Local(local) => self.local(local),
        }
    }

    fn partial_sums(&self, sums: &PartialSums) -> String {
        let PartialSums { work, monoid, lanes, size, stride, number } = sums;
        let (work, of) = match work {
            BlockWork::Close => ("close blocks", "last"),
            BlockWork::Combine => ("combine levels", "total"),
        };
        let stride = if *stride == 1 { String::new() } else { format!(" by {stride}") };
        let (monoid, lanes) = (monoid.name(), self.place(*lanes));
        let (size, number) = (self.operand(*size), self.operand(*number));
        format!("{work} {monoid} {lanes} of {size}{stride}, {of} {number}")
    }

    fn allocation(&self, buffer: Buffer, extents: &[Operand]) -> String {
        let home = match self.f.buffers.get(buffer.index()).map(|info| info.kind) {
            Some(BufferKind::Allocated(Home::Frame)) => " in frame".to_owned(),
            Some(BufferKind::Allocated(Home::Result(k))) => format!(" as result {k}"),
            Some(BufferKind::Allocated(Home::Arena) | BufferKind::Param(_) | BufferKind::Stack | BufferKind::Bound)
            | None => String::new(),
        };
        format!("alloc {}: {}[{}]{home}", self.buffer(buffer), self.elem(buffer), self.operands(extents))
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Copy(operand) => self.operand(*operand),
            Expr::Native { instruction, elem, args } => {
                let name = format!("{instruction:?}").to_lowercase();
                format!("{name}.{elem} {}", self.operands(args))
            }
            Expr::Iota(first) => format!("iota {}", self.operand(*first)),
            Expr::Any(mask) => format!("any {}", self.operand(*mask)),
            Expr::First(mask) => format!("first {}", self.operand(*mask)),
            Expr::Fold(monoid, lanes) => format!("fold {} {}", monoid.name(), self.operand(*lanes)),
            Expr::Lane(args) => format!("lane {}", self.operands(args)),
            Expr::Host { prim, elem, args } => format!("host {}.{elem} {}", prim.name(), self.operands(args)),
        }
    }

    fn call_result(&self, result: &CallResult) -> String {
        match result {
            CallResult::Scalar(local) => self.local(*local),
            CallResult::Into(tensor) => self.tensor(tensor),
            CallResult::New(buffer, rank) => {
                format!("new {}{}", self.buffer(*buffer), self.more(|| format!(" rank {rank}")))
            }
        }
    }

    fn argument(&self, argument: &Argument) -> String {
        match argument {
            Argument::Scalar(operand) => self.operand(*operand),
            Argument::Tensor(tensor) => self.tensor(tensor),
        }
    }

    fn tensor(&self, t: &Tensor) -> String {
        format!("{}: {}[{}]", self.place(t.place), t.elem, self.operands(&t.dims))
    }

    /// `a` for the first element, `a + 3` for another one.
    fn place(&self, place: Place) -> String {
        let name = self.buffer(place.buffer);
        match place.offset.as_i64() {
            Some(0) => format!("{name}[]"),
            Some(_) | None => format!("{name}[{}]", self.operand(place.offset)),
        }
    }

    /// A matrix with the steps to its next row and to its next column.
    fn view(&self, view: &View) -> String {
        format!("{} step ({})", self.place(view.place), self.operands(&view.strides))
    }

    fn mask(&self, mask: Option<Operand>) -> String {
        mask.map_or(String::new(), |mask| format!(" where {}", self.operand(mask)))
    }

    fn operands(&self, operands: &[Operand]) -> String {
        listed(operands, |operand| self.operand(*operand))
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Local(local) => self.local(local),
            Operand::Const(c) => c.to_string(),
        }
    }

    // The verifier quotes nodes whose names are in no table.

    fn buffer(&self, buffer: Buffer) -> String {
        self.buffers.get(buffer.index()).cloned().unwrap_or_else(|| format!("buffer {}", buffer.index()))
    }

    fn elem(&self, buffer: Buffer) -> String {
        self.f.buffers.get(buffer.index()).map_or("?".to_owned(), |info| info.elem.to_string())
    }

    fn local(&self, local: Local) -> String {
        self.locals.get(local.index()).cloned().unwrap_or_else(|| format!("local {}", local.index()))
    }
}

fn listed<T>(things: &[T], text: impl Fn(&T) -> String) -> String {
    things.iter().map(text).collect::<Vec<_>>().join(", ")
}
