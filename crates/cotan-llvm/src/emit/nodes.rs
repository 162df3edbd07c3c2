//! From nodes to basic blocks: control flow and scalars.

use super::bounds::Bounds;
use super::function::FunctionEmitter;
use super::instruction::Form;
use super::memory::store_results;
use super::pieces::is_flushing;
use super::poll::{Cut, has_loop};
use super::strides::Strides;
use super::text::{in_lanes, quoted, register};
use super::uses::Uses;
use super::{ModuleEmitter, symbol};
use cotan_ir::{CheckKind, Const, Elem, Span, bug};
use cotan_loops::{Expr, For, Local, LoopFunction, Node, Operand, Param, Threads};
use cotan_runtime::EmittedCheck;
use cotan_runtime::abi::layout;

impl FunctionEmitter<'_> {
    /// Prints a function of the module, and those that are split off it.
    pub(super) fn emit(module: &mut ModuleEmitter, f: &LoopFunction) {
        let (uses, bounds, strides) = (Uses::of_function(f), Bounds::of_function(f), Strides::of_function(f));
        let mut emitter = FunctionEmitter::new(module, f, (&uses, &bounds, &strides), &f.body);
        emitter.declare_slots(&uses);
        load_params(&mut emitter);
        emitter.nodes_with_records(&f.body);
        store_results(&mut emitter);
        emitter.out.succeed();
        let head = format!("i32 {}(ptr %ctx, ptr %args, ptr %results)", quoted(&symbol(&f.name)));
        let text = emitter.finish(&head);
        module.functions.push(text);
    }

    pub(super) fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Let(local, expr) => definition(self, *local, expr),
            Node::Set(local, value) => {
                let lanes = self.f.locals[local.index()].lanes;
                let value = self.typed_spread(*value, lanes);
                self.out.line(&format!("store {value}, ptr %m{}{}", local.0, aligned(lanes)));
            }
            Node::Load(local, from) => {
                let elem = self.f.elem(*local);
                let address = self.address(*from);
                self.out.load_from(&format!("%l{}", local.0), elem, &address);
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
            Node::StackOpen(buffer) => self.out.stack_open(*buffer),
            Node::StackExtend(buffer, n) => self.stack_extend(*buffer, *n),
            Node::Bind { buffer, to } => {
                let address = self.address(*to);
                self.out.line(&format!("store ptr {address}, ptr %p{}", buffer.0));
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
            Node::While(go, body) => repeat_while(self, *go, body),
            Node::If(cond, yes, no) => branches(self, *cond, yes, no),
            Node::Switch(on, arms) => switch(self, *on, arms),
            Node::Check { cond, kind, args, span } => check(self, *cond, *kind, args, *span),
            Node::Product(product) => self.product(product),
            Node::Routine(routine) => self.routine(routine),
            Node::Print { text, value, extents } => self.print(text, value.as_ref(), *extents),
            Node::Call { callee, args, results } => self.call(callee, args, results),
        }
    }

    pub(super) fn counted(&mut self, f: &For) {
        let count = self.operand(f.count);
        // A loop that does nothing has no iterations.
        let count = match self.does_something(f) {
            Some(matters) => self.out.define(&format!("select i1 {matters}, i64 {count}, i64 0")),
            None => count,
        };
        let contains_loops = f.body.iter().any(has_loop);
        let outside = self.lanes;
        self.lanes = outside.max(f.lanes);
        let (body, latch, exit) = (self.out.new_label(), self.out.new_label(), self.out.new_label());
        // Where the piece of the loop that runs now starts and ends: if it polls, that is not always the whole of it.
        let piece = self.bounds.polls_once(f).then(|| self.poll_piece(f, &count));
        let (start, end) = match &piece {
            Some(Cut { start, end, .. }) => (start.clone(), end.clone()),
            None => ("0".to_owned(), count.clone()),
        };
        let before = self.out.current_label();
        let runs = self.out.define(&format!("icmp slt i64 {start}, {end}"));
        self.out.branch(&runs, &body, &exit);
        self.out.begin(&body);
        let next = self.out.temporary();
        let index = format!("%l{}", f.index.0);
        self.out.line(&format!("{index} = phi i64 [ {start}, %{before} ], [ {next}, %{latch} ]"));
        self.nodes_with_records(&f.body);
        if contains_loops && !self.bounds.is_short(f) && !self.bounds.always_polls(&f.body) {
            self.poll_iteration(&f.body);
        }
        self.out.jump(&latch);
        self.out.begin(&latch);
        self.out.line(&format!("{next} = add nuw nsw i64 {index}, 1"));
        let more = self.out.define(&format!("icmp slt i64 {next}, {end}"));
        self.out.branch(&more, &body, &exit);
        self.out.begin(&exit);
        if let Some(piece) = &piece {
            self.out.go_on_after(piece, &count);
        }
        self.lanes = outside;
    }
}

fn load_params(emitter: &mut FunctionEmitter<'_>) {
    for (k, param) in emitter.f.params.iter().enumerate() {
        let at = k * layout::BUF_SIZE + layout::BUF_DATA;
        let field = emitter.out.define(&format!("getelementptr inbounds i8, ptr %args, i64 {at}"));
        match param {
            Param::Scalar(local) => {
                let data = emitter.out.define(&format!("load ptr, ptr {field}"));
                emitter.out.load_from(&format!("%l{}", local.0), emitter.f.elem(*local), &data);
            }
            Param::Tensor(tensor) => emitter.out.line(&format!("%b{} = load ptr, ptr {field}", tensor.place.buffer.0)),
        }
    }
}

fn definition(emitter: &mut FunctionEmitter<'_>, local: Local, expr: &Expr) {
    let to = format!("%l{}", local.0);
    let lanes = emitter.f.locals[local.index()].lanes;
    let ty = in_lanes(register(emitter.f.elem(local)), lanes);
    match expr {
        Expr::Copy(Operand::Local(from)) if emitter.f.locals[from.index()].is_mutable => {
            let slot = format!("load {ty}, ptr %m{}{}", from.0, aligned(lanes));
            if emitter.lanes == 1 || emitter.f.elem(local) != Elem::Bool {
                return emitter.out.line(&format!("{to} = {slot}"));
            }
            // Lanes that do not run may not have been written; a mask of them must be some value, not none.
            let value = emitter.out.define(&slot);
            emitter.out.line(&format!("{to} = freeze {ty} {value}"));
        }
        Expr::Copy(operand) => {
            let value = emitter.spread(*operand, lanes);
            emitter.out.line(&format!("{to} = bitcast {ty} {value} to {ty}"));
        }
        Expr::Native { instruction, elem, args } => {
            let args: Vec<String> = args.iter().map(|a| emitter.spread(*a, lanes)).collect();
            emitter.out.native(&to, *instruction, Form { elem: *elem, lanes }, &args);
        }
        Expr::Host { prim, elem, args } => emitter.host_call(local, *prim, *elem, args),
        Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
            emitter.lane_definition(local, expr);
        }
    }
}

fn repeat_while(emitter: &mut FunctionEmitter<'_>, go: Local, body: &[Node]) {
    let (inside, exit) = (emitter.out.new_label(), emitter.out.new_label());
    let first = emitter.out.define(&format!("load i1, ptr %m{}", go.0));
    emitter.out.branch(&first, &inside, &exit);
    emitter.out.begin(&inside);
    emitter.nodes_with_records(body);
    if !emitter.bounds.always_polls(body) {
        emitter.poll_iteration(body);
    }
    let more = emitter.out.define(&format!("load i1, ptr %m{}", go.0));
    emitter.out.branch(&more, &inside, &exit);
    emitter.out.begin(&exit);
}

fn branches(emitter: &mut FunctionEmitter<'_>, cond: Operand, yes: &[Node], no: &[Node]) {
    let cond = emitter.operand(cond);
    let (yes_label, no_label, exit) = (emitter.out.new_label(), emitter.out.new_label(), emitter.out.new_label());
    emitter.out.branch(&cond, &yes_label, &no_label);
    for (label, arm) in [(&yes_label, yes), (&no_label, no)] {
        emitter.out.begin(label);
        emitter.nodes(arm);
        emitter.out.jump(&exit);
    }
    emitter.out.begin(&exit);
}

fn switch(emitter: &mut FunctionEmitter<'_>, on: Operand, arms: &[Vec<Node>]) {
    let last = arms.len() as i64 - 1;
    let low = Operand::Const(Const::i64(0));
    let high = Operand::i64(last);
    let (at_least, at) = (emitter.out.temporary(), emitter.out.temporary());
    let (on, low, high) = (emitter.operand(on), emitter.operand(low), emitter.operand(high));
    let form = Form { elem: Elem::I64, lanes: 1 };
    emitter.out.native(&at_least, cotan_ops::Instruction::Max, form, &[on, low]);
    emitter.out.native(&at, cotan_ops::Instruction::Min, form, &[at_least, high]);
    let labels: Vec<String> = arms.iter().map(|_| emitter.out.new_label()).collect();
    let exit = emitter.out.new_label();
    let cases: Vec<String> = labels.iter().enumerate().map(|(k, label)| format!("i64 {k}, label %{label}")).collect();
    let default = labels.last().unwrap_or(&exit).clone();
    emitter.out.line(&format!("switch i64 {at}, label %{default} [ {} ]", cases.join(" ")));
    for (label, arm) in labels.iter().zip(arms) {
        emitter.out.begin(label);
        emitter.nodes(arm);
        emitter.out.jump(&exit);
    }
    emitter.out.begin(&exit);
}

fn check<'a>(emitter: &mut FunctionEmitter<'a>, cond: Operand, kind: CheckKind, args: &[Operand], span: Span) {
    let (ok, fail) = (emitter.out.new_label(), emitter.out.new_label());
    let cond = emitter.operand(cond);
    emitter.out.branch(&cond, &ok, &fail);
    let number = emitter.out.module.reports.checks.len();
    let elems = args.iter().map(|arg| emitter.f.operand_elem(*arg)).collect();
    emitter.out.module.reports.checks.push(EmittedCheck { kind, args: elems, span });
    let at = |offset: usize| format!("getelementptr inbounds i8, ptr %ctx, i64 {offset}");
    let mut exit = format!("{fail}:\n");
    let mut put = |this: &mut FunctionEmitter<'a>, offset: usize, value: String| {
        let field = this.out.temporary();
        exit += &format!("  {field} = {}\n  store {value}, ptr {field}\n", at(offset));
    };
    put(emitter, layout::CTX_ERROR_CODE, format!("i32 {}", number + 1));
    for (k, arg) in args.iter().enumerate() {
        let value = emitter.typed(*arg);
        put(emitter, layout::CTX_ERROR_ARGS + 8 * k, value);
    }
    exit += "  ret i32 1\n";
    emitter.out.exits += &exit;
    emitter.out.begin(&ok);
}

/// How a slot of a mutable local is aligned: LLVM would take more for granted where there are lanes.
fn aligned(lanes: u32) -> &'static str {
    if lanes == 1 { "" } else { ", align 16" }
}
