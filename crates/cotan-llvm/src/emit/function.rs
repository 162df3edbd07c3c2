//! One LLVM function while it is written: its text, names, labels and slots.
//!
//! A local that is assigned once is the SSA value `%l` and its number; a mutable one is a slot `%m` in the frame, which
//! LLVM turns into SSA. A buffer is the pointer `%b`, or, where its address changes, a slot: `%p` for a bound name, `%s`
//! for a stack.

use super::bounds::Bounds;
use super::text::{constant, in_lanes, register};
use super::uses::Uses;
use super::{FunctionText, ModuleEmitter};
use cotan_ir::AllocationSite;
use cotan_loops::{Buffer, BufferKind, Home, LoopFunction, Node, Operand};
use cotan_runtime::abi::layout;
use std::collections::{BTreeMap, BTreeSet};

/// The memory of the frame for calls of functions of the module.
pub(super) const CALL: &str = "%call";

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

    /// Ends the call unless a status is [`OK`](cotan_runtime::abi::OK).
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

/// What an LLVM function with polls begins and ends with.
#[derive(Default)]
struct Stop {
    /// Instructions at its entry.
    entry: String,
    /// The block that ends the call.
    exit: String,
}

impl Stop {
    fn of(module: &mut ModuleEmitter) -> Stop {
        module.declare("declare i32 @cotan_poll(ptr, i64)");
        let entry = format!(
            "  %watch.at = getelementptr inbounds i8, ptr %ctx, i64 {}\n  %watch = load ptr, ptr %watch.at\n  \
             %watched = icmp ne ptr %watch, null\n  %budget = getelementptr i8, ptr %watch, i64 {}\n",
            layout::CTX_WATCH,
            layout::WATCH_STEPS_LEFT
        );
        // So many steps are never left: the host says why the call stops.
        let status = format!("call i32 @cotan_poll(ptr %ctx, i64 {})", i64::MAX);
        Stop { entry, exit: format!("stopped:\n  %stopped.status = {status}\n  br label %failed\n") }
    }
}
