//! From nodes to basic blocks: control flow and scalars.

use super::bounds::Bounds;
use super::function::FunctionEmitter;
use super::instruction::Form;
use super::pieces::is_flushing;
use super::poll::{Cut, has_loop};
use super::text::{in_lanes, quoted, register};
use super::uses::Uses;
use super::{EmittedCheck, ModuleEmitter, symbol};
use crate::abi::layout;
use cotan_ir::{CheckKind, Const, Elem, Span, bug};
use cotan_loops::{Expr, For, Local, LoopFunction, Node, Operand, Param, Threads};

impl FunctionEmitter<'_> {
    /// Prints a function of the module, and those that are split off it.
    pub(super) fn emit(module: &mut ModuleEmitter, f: &LoopFunction) {
        let (uses, bounds) = (Uses::of_function(f), Bounds::of_function(f));
        let mut emitter = FunctionEmitter::new(module, f, (&uses, &bounds), &f.body);
        emitter.declare_slots(&uses);
        emitter.load_params();
        emitter.nodes_with_records(&f.body);
        emitter.store_results();
        emitter.succeed();
        let head = format!("i32 {}(ptr %ctx, ptr %args, ptr %results)", quoted(&symbol(&f.name)));
        let text = emitter.finish(&head);
        module.functions.push(text);
    }

    fn load_params(&mut self) {
        for (k, param) in self.f.params.iter().enumerate() {
            let at = k * layout::BUF_SIZE + layout::BUF_DATA;
            let field = self.define(&format!("getelementptr inbounds i8, ptr %args, i64 {at}"));
            match param {
                Param::Scalar(local) => {
                    let data = self.define(&format!("load ptr, ptr {field}"));
                    self.load_from(&format!("%l{}", local.0), self.f.elem(*local), &data);
                }
                Param::Tensor(tensor) => self.line(&format!("%b{} = load ptr, ptr {field}", tensor.place.buffer.0)),
            }
        }
    }

    pub(super) fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Let(local, expr) => self.definition(*local, expr),
            Node::Set(local, value) => {
                let lanes = self.f.locals[local.index()].lanes;
                let value = self.typed_spread(*value, lanes);
                self.line(&format!("store {value}, ptr %m{}{}", local.0, aligned(lanes)));
            }
            Node::Load(local, from) => {
                let elem = self.f.elem(*local);
                let address = self.address(*from);
                self.load_from(&format!("%l{}", local.0), elem, &address);
            }
            Node::Store(to, value) => {
                let address = self.address(*to);
                self.store_to(*value, &address);
                self.watch(to.buffer, *value, None);
            }
            Node::LoadLanes { to, from, mask } => self.load_lanes(*to, *from, *mask),
            Node::StoreLanes { to, value, mask } => {
                self.store_lanes(*to, *value, *mask);
                self.watch(to.buffer, *value, *mask);
            }
            Node::Combine { monoid, target, value } => self.combine(*monoid, *target, *value),
            Node::Copy { from, to, count } => self.copy(*from, *to, *count),
            Node::PartialSums(sums) => self.partial_sums(sums),
            Node::Alloc { buffer, extents } => self.allocate(*buffer, extents),
            Node::CountRecord(elem, extents) => self.count_record(*elem, extents),
            Node::StackOpen(buffer) => self.stack_open(*buffer),
            Node::StackExtend(buffer, n) => self.stack_extend(*buffer, *n),
            Node::Bind { buffer, to } => {
                let address = self.address(*to);
                self.line(&format!("store ptr {address}, ptr %p{}", buffer.0));
            }
            Node::Scope(body) => self.scope(body),
            Node::Segment(body) => self.segment(body),
            Node::For(f) => match f.threads {
                Threads::Each | Threads::Wave(_) => self.parallel(f),
                // Where nobody has cut it into chunks, it stays whole.
                Threads::One | Threads::May(_) if is_flushing(f) => self.flushing(node, f),
                Threads::One | Threads::May(_) => self.counted(f),
            },
            Node::Reduce(_) => bug!("emit", self.f, "a reduction is not cut into partial results"),
            Node::While(go, body) => self.repeat_while(*go, body),
            Node::If(cond, yes, no) => self.branches(*cond, yes, no),
            Node::Switch(on, arms) => self.switch(*on, arms),
            Node::Check { cond, kind, args, span } => self.check(*cond, *kind, args, *span),
            Node::Product(product) => self.product(product),
            Node::Routine(routine) => self.routine(routine),
            Node::Print { text, value, extents } => self.print(text, value.as_ref(), *extents),
            Node::Call { callee, args, results } => self.call(callee, args, results),
        }
    }

    fn definition(&mut self, local: Local, expr: &Expr) {
        let to = format!("%l{}", local.0);
        let lanes = self.f.locals[local.index()].lanes;
        let ty = in_lanes(register(self.f.elem(local)), lanes);
        match expr {
            Expr::Copy(Operand::Local(from)) if self.f.locals[from.index()].is_mutable => {
                let slot = format!("load {ty}, ptr %m{}{}", from.0, aligned(lanes));
                if self.lanes == 1 || self.f.elem(local) != Elem::Bool {
                    return self.line(&format!("{to} = {slot}"));
                }
                // Lanes that do not run may not have been written; a mask of them must be some value, not none.
                let value = self.define(&slot);
                self.line(&format!("{to} = freeze {ty} {value}"));
            }
            Expr::Copy(operand) => {
                let value = self.spread(*operand, lanes);
                self.line(&format!("{to} = bitcast {ty} {value} to {ty}"));
            }
            Expr::Native { instruction, elem, args } => {
                let args: Vec<String> = args.iter().map(|a| self.spread(*a, lanes)).collect();
                self.native(&to, *instruction, Form { elem: *elem, lanes }, &args);
            }
            Expr::Host { prim, elem, args } => self.host_call(local, *prim, *elem, args),
            Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
                self.lane_definition(local, expr);
            }
        }
    }

    pub(super) fn counted(&mut self, f: &For) {
        let count = self.operand(f.count);
        // A loop that does nothing has no iterations.
        let count = match self.does_something(f) {
            Some(matters) => self.define(&format!("select i1 {matters}, i64 {count}, i64 0")),
            None => count,
        };
        let contains_loops = f.body.iter().any(has_loop);
        let outside = self.lanes;
        self.lanes = outside.max(f.lanes);
        let (body, latch, exit) = (self.new_label(), self.new_label(), self.new_label());
        // Where the piece of the loop that runs now starts and ends: if it polls, that is not always the whole of it.
        let piece = self.bounds.polls_once(f).then(|| self.poll_piece(f, &count));
        let (start, end) = match &piece {
            Some(Cut { start, end, .. }) => (start.clone(), end.clone()),
            None => ("0".to_owned(), count.clone()),
        };
        let before = self.current_label();
        let runs = self.define(&format!("icmp slt i64 {start}, {end}"));
        self.branch(&runs, &body, &exit);
        self.begin(&body);
        let next = self.temporary();
        let index = format!("%l{}", f.index.0);
        self.line(&format!("{index} = phi i64 [ {start}, %{before} ], [ {next}, %{latch} ]"));
        self.nodes_with_records(&f.body);
        if contains_loops && !self.bounds.is_short(f) && !self.bounds.always_polls(&f.body) {
            self.poll_iteration(&f.body);
        }
        self.jump(&latch);
        self.begin(&latch);
        self.line(&format!("{next} = add nuw nsw i64 {index}, 1"));
        let more = self.define(&format!("icmp slt i64 {next}, {end}"));
        self.branch(&more, &body, &exit);
        self.begin(&exit);
        if let Some(piece) = &piece {
            self.go_on_after(piece, &count);
        }
        self.lanes = outside;
    }

    fn repeat_while(&mut self, go: Local, body: &[Node]) {
        let (inside, exit) = (self.new_label(), self.new_label());
        let first = self.define(&format!("load i1, ptr %m{}", go.0));
        self.branch(&first, &inside, &exit);
        self.begin(&inside);
        self.nodes_with_records(body);
        if !self.bounds.always_polls(body) {
            self.poll_iteration(body);
        }
        let more = self.define(&format!("load i1, ptr %m{}", go.0));
        self.branch(&more, &inside, &exit);
        self.begin(&exit);
    }

    fn branches(&mut self, cond: Operand, yes: &[Node], no: &[Node]) {
        let cond = self.operand(cond);
        let (yes_label, no_label, exit) = (self.new_label(), self.new_label(), self.new_label());
        self.branch(&cond, &yes_label, &no_label);
        for (label, arm) in [(&yes_label, yes), (&no_label, no)] {
            self.begin(label);
            self.nodes(arm);
            self.jump(&exit);
        }
        self.begin(&exit);
    }

    fn switch(&mut self, on: Operand, arms: &[Vec<Node>]) {
        let last = arms.len() as i64 - 1;
        let low = Operand::Const(Const::i64(0));
        let high = Operand::i64(last);
        let (at_least, at) = (self.temporary(), self.temporary());
        let (on, low, high) = (self.operand(on), self.operand(low), self.operand(high));
        let form = Form { elem: Elem::I64, lanes: 1 };
        self.native(&at_least, cotan_ops::Instruction::Max, form, &[on, low]);
        self.native(&at, cotan_ops::Instruction::Min, form, &[at_least, high]);
        let labels: Vec<String> = arms.iter().map(|_| self.new_label()).collect();
        let exit = self.new_label();
        let cases: Vec<String> =
            labels.iter().enumerate().map(|(k, label)| format!("i64 {k}, label %{label}")).collect();
        let default = labels.last().unwrap_or(&exit).clone();
        self.line(&format!("switch i64 {at}, label %{default} [ {} ]", cases.join(" ")));
        for (label, arm) in labels.iter().zip(arms) {
            self.begin(label);
            self.nodes(arm);
            self.jump(&exit);
        }
        self.begin(&exit);
    }

    fn check(&mut self, cond: Operand, kind: CheckKind, args: &[Operand], span: Span) {
        let (ok, fail) = (self.new_label(), self.new_label());
        let cond = self.operand(cond);
        self.branch(&cond, &ok, &fail);
        let number = self.module.reports.checks.len();
        let elems = args.iter().map(|arg| self.f.operand_elem(*arg)).collect();
        self.module.reports.checks.push(EmittedCheck { kind, args: elems, span });
        let at = |offset: usize| format!("getelementptr inbounds i8, ptr %ctx, i64 {offset}");
        let mut exit = format!("{fail}:\n");
        let mut put = |this: &mut Self, offset: usize, value: String| {
            let field = this.temporary();
            exit += &format!("  {field} = {}\n  store {value}, ptr {field}\n", at(offset));
        };
        put(self, layout::CTX_ERROR_CODE, format!("i32 {}", number + 1));
        for (k, arg) in args.iter().enumerate() {
            let value = self.typed(*arg);
            put(self, layout::CTX_ERROR_ARGS + 8 * k, value);
        }
        exit += "  ret i32 1\n";
        self.exits += &exit;
        self.begin(&ok);
    }
}

/// How a slot of a mutable local is aligned: LLVM would take more for granted where there are lanes.
fn aligned(lanes: u32) -> &'static str {
    if lanes == 1 { "" } else { ", align 16" }
}
