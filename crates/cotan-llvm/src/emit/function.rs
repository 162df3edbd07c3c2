//! One function: control flow and scalars.
//!
//! A local that is assigned once is the SSA value `%l` and its number; a mutable one is a slot `%m` in the frame, which
//! LLVM turns into SSA. A buffer is the pointer `%b`, or, where its address changes, a slot: `%p` for a bound name, `%s`
//! for a stack.

use super::bounds::Bounds;
use super::flush::FLUSHES;
use super::instruction::Form;
use super::memory::CALL;
use super::outline::Uses;
use super::poll::{Cut, Stop, has_loop};
use super::text::{constant, in_lanes, quoted, register};
use super::{EmittedCheck, symbol};
use super::{FunctionText, ModuleEmitter};
use crate::abi::layout;
use cotan_ir::{AllocationSite, CheckKind, Const, Elem, Span};
use cotan_loops::{Buffer, BufferKind, Expr, For, Home, Local, LoopFunction, Node, Operand, Param, Threads};
use std::collections::{BTreeMap, BTreeSet};

/// Writes one LLVM function.
pub(super) struct FunctionEmitter<'a> {
    pub(super) module: &'a mut ModuleEmitter,
    pub(super) f: &'a LoopFunction,
    /// How often the whole function mentions each local and buffer.
    pub(super) all_uses: &'a Uses,
    /// What numbers of the whole function are at most.
    pub(super) bounds: &'a Bounds,
    /// How often the segments of this LLVM function do.
    pub(super) segment_uses: Uses,
    /// The cells of the environment that this function has for the pieces split off it.
    pub(super) cells: BTreeMap<String, usize>,
    /// How many cells there are; a value with lanes takes several.
    pub(super) n_cells: usize,
    /// How many lanes the loop has that is being written; 1 outside of such loops.
    pub(super) lanes: u32,
    /// The names whose values segments have left in their cells.
    pub(super) left_in_cells: BTreeSet<String>,
    /// The slots of the frame.
    slots: String,
    code: String,
    /// Blocks that end the call, apart from the code that runs.
    pub(super) exits: String,
    /// The block that reports that there is no memory for a buffer.
    no_memory: BTreeMap<Buffer, String>,
    /// The block that is being written.
    label: String,
    n_temporaries: usize,
    n_labels: usize,
    /// The most bytes that a call of a function of the module takes for what it is told.
    pub(super) call_bytes: usize,
    /// Whether it looks for reasons to stop.
    pub(super) polls: bool,
}

impl<'a> FunctionEmitter<'a> {
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

    /// An emitter of the LLVM function that runs `body`.
    pub(super) fn new(
        module: &'a mut ModuleEmitter,
        f: &'a LoopFunction,
        (all_uses, bounds): (&'a Uses, &'a Bounds),
        body: &[Node],
    ) -> FunctionEmitter<'a> {
        FunctionEmitter {
            module,
            f,
            all_uses,
            bounds,
            segment_uses: Uses::of_segments(f, body),
            cells: BTreeMap::new(),
            n_cells: 0,
            lanes: 1,
            left_in_cells: BTreeSet::new(),
            slots: String::new(),
            code: String::new(),
            exits: String::new(),
            no_memory: BTreeMap::new(),
            label: "start".to_owned(),
            n_temporaries: 0,
            n_labels: 0,
            call_bytes: 0,
            polls: false,
        }
    }

    /// The text of the function.
    pub(super) fn finish(self, head: &str) -> FunctionText {
        let FunctionEmitter { module, mut slots, code, exits, n_cells, call_bytes, polls, .. } = self;
        if call_bytes > 0 {
            slots += &format!("  {CALL} = alloca [{call_bytes} x i8], align 16\n");
        }
        if n_cells > 0 {
            slots += &format!("  %cells = alloca [{n_cells} x i64], align 16\n");
        }
        let Stop { entry, exit } = if polls { Stop::of(module) } else { Stop::default() };
        let definition = format!(
            "define {head} nounwind \"probe-stack\"=\"inline-asm\" {{\nentry:\n{slots}{entry}  br label %start\nstart:\n{code}{exits}{exit}failed:\n  \
             ret i32 1\n}}\n"
        );
        FunctionText { declaration: format!("declare {head} nounwind"), definition }
    }

    // ---- text

    /// Ends the function in success.
    pub(super) fn succeed(&mut self) {
        self.line("ret i32 0");
    }

    pub(super) fn line(&mut self, text: &str) {
        self.code += "  ";
        self.code += text;
        self.code.push('\n');
    }

    /// Writes blocks that stand behind the others, out of the way of what usually runs.
    pub(super) fn behind<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(&mut self.code);
        let result = write(self);
        let blocks = std::mem::replace(&mut self.code, before);
        self.exits += &blocks;
        result
    }

    /// A new slot of the frame.
    pub(super) fn slot(&mut self, name: &str, ty: &str) {
        self.slots += &format!("  {name} = alloca {ty}, align 16\n");
    }

    pub(super) fn temporary(&mut self) -> String {
        self.n_temporaries += 1;
        format!("%t{}", self.n_temporaries)
    }

    /// A temporary with this value.
    pub(super) fn define(&mut self, value: &str) -> String {
        let name = self.temporary();
        self.line(&format!("{name} = {value}"));
        name
    }

    pub(super) fn new_label(&mut self) -> String {
        self.n_labels += 1;
        format!("L{}", self.n_labels)
    }

    pub(super) fn begin(&mut self, label: &str) {
        self.code += &format!("{label}:\n");
        label.clone_into(&mut self.label);
    }

    pub(super) fn jump(&mut self, label: &str) {
        self.line(&format!("br label %{label}"));
    }

    pub(super) fn branch(&mut self, cond: &str, yes: &str, no: &str) {
        self.line(&format!("br i1 {cond}, label %{yes}, label %{no}"));
    }

    pub(super) fn current_label(&self) -> String {
        self.label.clone()
    }

    /// Ends the call unless a status is [`OK`](crate::abi::OK).
    pub(super) fn check_status(&mut self, status: &str) {
        let failed = self.define(&format!("icmp ne i32 {status}, 0"));
        let next = self.new_label();
        self.branch(&failed, "failed", &next);
        self.begin(&next);
    }

    // ---- operands

    pub(super) fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Local(local) => format!("%l{}", local.0),
            Operand::Const(c) => constant(c),
        }
    }

    /// With its type.
    pub(super) fn typed(&self, operand: Operand) -> String {
        format!("{} {}", self.form(operand).ty(), self.operand(operand))
    }

    // ---- slots

    /// Makes a slot for everything mentioned here that lives in one.
    pub(super) fn declare_slots(&mut self, own: &Uses) {
        for local in own.locals() {
            let info = &self.f.locals[local.index()];
            if info.is_mutable {
                self.slot(&format!("%m{}", local.0), &in_lanes(register(info.elem), info.lanes));
            }
        }
        for buffer in own.buffers() {
            let info = &self.f.buffers[buffer.index()];
            match info.kind {
                BufferKind::Bound => self.slot(&format!("%p{}", buffer.0), "ptr"),
                BufferKind::Stack => {
                    self.slot(&format!("%s{}", buffer.0), &format!("[{} x i8]", layout::STACK_SIZE));
                }
                BufferKind::Allocated(Home::Frame) => {
                    let bytes = self.frame_bytes(buffer);
                    self.slots += &format!("  %b{} = alloca [{bytes} x i8], align 64\n", buffer.0);
                }
                BufferKind::Allocated(Home::Arena | Home::Result(_)) | BufferKind::Param(_) => {}
            }
        }
    }

    fn frame_bytes(&self, buffer: Buffer) -> i64 {
        self.all_uses.frame_bytes(buffer).max(1)
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

    // ---- nodes

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
                Threads::One | Threads::May(_) if f.may_flush && FLUSHES => self.flushing(node, f),
                Threads::One | Threads::May(_) => self.counted(f),
            },
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

    /// The block that ends the call where there is no memory for a buffer. The host has said why; who asked is known
    /// here.
    pub(super) fn no_memory(&mut self, buffer: Buffer) -> String {
        if let Some(label) = self.no_memory.get(&buffer) {
            return label.clone();
        }
        let info = &self.f.buffers[buffer.index()];
        let site = AllocationSite { name: info.name.clone(), span: info.span, is_record: info.is_record };
        self.module.reports.sites.push(site);
        let (label, field) = (self.new_label(), self.temporary());
        self.exits += &format!(
            "{label}:\n  {field} = getelementptr inbounds i8, ptr %ctx, i64 {}\n  store i64 {}, ptr {field}\n  ret i32 1\n",
            layout::CTX_ERROR_SPAN,
            self.module.reports.sites.len()
        );
        self.no_memory.insert(buffer, label.clone());
        label
    }
}

/// How a slot of a mutable local is aligned: LLVM would take more for granted where there are lanes.
fn aligned(lanes: u32) -> &'static str {
    if lanes == 1 { "" } else { ", align 16" }
}
