//! The text form of loop nests, for people: `cotan emit --stage loops`.

use crate::node::{
    Argument, BufferKind, CallResult, Expr, Home, Local, LoopFunction, Node, Operand, Param, Place, Sharing, Target,
    Tensor, Threads, View, Wave,
};
use crate::partial_sums::{BlockWork, PartialSums};
use cotan_ir::Symbol;
use rustc_hash::FxHashMap;
use std::fmt;

impl fmt::Display for LoopFunction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let locals = unique(self.locals.iter().map(|l| &l.name));
        let buffers = unique(self.buffers.iter().map(|b| &b.name));
        let mut printer = Printer { f: self, locals, buffers, text: String::new() };
        printer.function();
        out.write_str(&printer.text)
    }
}

/// Base names, with a number where they repeat.
fn unique<'a>(names: impl Iterator<Item = &'a Symbol>) -> Vec<String> {
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    let mut number = |name: &'a Symbol| {
        let n = uses.entry(name).or_default();
        *n += 1;
        if *n == 1 { name.to_string() } else { format!("{name}.{}", *n - 1) }
    };
    names.map(&mut number).collect()
}

struct Printer<'a> {
    f: &'a LoopFunction,
    locals: Vec<String>,
    buffers: Vec<String>,
    text: String,
}

impl Printer<'_> {
    fn function(&mut self) {
        let params = self.f.params.iter().map(|p| match p {
            Param::Scalar(local) => format!("{}: {}", self.local(*local), self.f.elem(*local)),
            Param::Tensor(tensor) => self.tensor(tensor),
        });
        let params: Vec<String> = params.collect();
        self.text = format!("fn {}({}) {{\n", self.f.name, params.join(", "));
        self.nodes(&self.f.body, 1);
        let results: Vec<String> = self.f.results.iter().map(|r| self.piece(r)).collect();
        self.line(1, &format!("return {}", results.join(", ")));
        self.text += "}\n";
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
        match node {
            Node::Scope(body) => self.block("scope", body, depth),
            Node::Segment(body) => self.block("segment", body, depth),
            Node::For(f) => {
                let threads = self.threads(&f.threads);
                let lanes = if f.lanes > 1 { format!(" lanes({})", f.lanes) } else { String::new() };
                let flushes = if f.may_flush { " flushing" } else { "" };
                let head = format!("for {} < {}{lanes}{threads}{flushes}", self.local(f.index), self.operand(f.count));
                self.block(&head, &f.body, depth);
            }
            Node::While(go, body) => self.block(&format!("while {}", self.local(*go)), body, depth),
            Node::If(cond, yes, no) => {
                self.block(&format!("if {}", self.operand(*cond)), yes, depth);
                if !no.is_empty() {
                    self.block("else", no, depth);
                }
            }
            Node::Switch(on, arms) => {
                for (k, arm) in arms.iter().enumerate() {
                    self.block(&format!("case {} of {}", k, self.operand(*on)), arm, depth);
                }
            }
            Node::Let(..)
            | Node::Set(..)
            | Node::Load(..)
            | Node::Store(..)
            | Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::Combine { .. }
            | Node::Copy { .. }
            | Node::PartialSums(_)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::Check { .. }
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. } => {
                let text = self.step(node);
                self.line(depth, &text);
            }
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
                let sums: Vec<String> = sums.iter().map(|sum| self.target(sum.target)).collect();
                let sums = if sums.is_empty() { String::new() } else { format!(", sums {}", sums.join(", ")) };
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

    /// A node without inner nodes.
    fn step(&self, node: &Node) -> String {
        match node {
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
            Node::PartialSums(PartialSums { work, monoid, lanes, size, stride, number }) => {
                let (work, of) = match work {
                    BlockWork::Close => ("close blocks", "last"),
                    BlockWork::Combine => ("combine levels", "total"),
                };
                let stride = if *stride == 1 { String::new() } else { format!(" by {stride}") };
                let (monoid, lanes) = (monoid.name(), self.place(*lanes));
                let (size, number) = (self.operand(*size), self.operand(*number));
                format!("{work} {monoid} {lanes} of {size}{stride}, {of} {number}")
            }
            Node::Alloc { buffer, extents } => {
                let info = &self.f.buffers[buffer.index()];
                let home = match info.kind {
                    BufferKind::Allocated(Home::Frame) => " in frame".to_owned(),
                    BufferKind::Allocated(Home::Result(k)) => format!(" as result {k}"),
                    BufferKind::Allocated(Home::Arena)
                    | BufferKind::Param(_)
                    | BufferKind::Stack
                    | BufferKind::Bound => String::new(),
                };
                let name = &self.buffers[buffer.index()];
                format!("alloc {name}: {}[{}]{home}", info.elem, self.operands(extents))
            }
            Node::CountRecord(elem, extents) => format!("record {elem}[{}]", self.operands(extents)),
            Node::StackOpen(buffer) => {
                format!("stack {}: {}", self.buffers[buffer.index()], self.f.buffers[buffer.index()].elem)
            }
            Node::StackExtend(buffer, n) => format!("extend {} to {}", self.buffers[buffer.index()], self.operand(*n)),
            Node::Bind { buffer, to } => format!("bind {} to {}", self.buffers[buffer.index()], self.place(*to)),
            Node::Check { cond, kind, args, .. } => {
                format!("check {} {}({})", self.operand(*cond), kind.code(), self.operands(args))
            }
            Node::Product(product) => {
                let [to, left, right] = product.views().map(|view| self.view(view));
                format!("product {to} = {left} by {right}, {}[{}]", product.elem, self.operands(&product.extents))
            }
            Node::Routine(routine) => {
                let mut arrays = routine.arrays().map(|array| self.piece(&Argument::Tensor(array.clone())));
                let to = arrays.next().unwrap_or_default();
                let from: Vec<String> = arrays.collect();
                format!("{to} = routine {}({}){:?}", routine.op.name(), from.join(", "), routine.attrs)
            }
            Node::Print { text, value, .. } => {
                let value = value
                    .as_ref()
                    .map_or(String::new(), |value| format!(", {}", self.piece(&Argument::Tensor(value.clone()))));
                format!("print {:?}{value}", String::from_utf8_lossy(text))
            }
            Node::Call { callee, args, results } => {
                let args: Vec<String> = args.iter().map(|a| self.piece(a)).collect();
                let results: Vec<String> = results.iter().map(|r| self.call_result(r)).collect();
                format!("{} = call {callee}({})", results.join(", "), args.join(", "))
            }
            Node::Scope(_) | Node::Segment(_) | Node::For(_) | Node::While(..) | Node::If(..) | Node::Switch(..) => {
                String::new()
            }
        }
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
            CallResult::New(buffer, _) => format!("new {}", self.buffers[buffer.index()]),
        }
    }

    fn piece(&self, piece: &Argument) -> String {
        match piece {
            Argument::Scalar(operand) => self.operand(*operand),
            Argument::Tensor(tensor) => self.tensor(tensor),
        }
    }

    fn tensor(&self, t: &Tensor) -> String {
        format!("{}: {}[{}]", self.place(t.place), t.elem, self.operands(&t.dims))
    }

    /// `a` for the first element, `a + 3` for another one.
    fn place(&self, place: Place) -> String {
        let name = &self.buffers[place.buffer.index()];
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
        operands.iter().map(|o| self.operand(*o)).collect::<Vec<_>>().join(", ")
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Local(local) => self.local(local),
            Operand::Const(c) => c.to_string(),
        }
    }

    fn local(&self, local: Local) -> String {
        self.locals[local.index()].clone()
    }
}
