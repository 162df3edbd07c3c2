//! Emitter state of one LLVM function: uses, bounds and cells of the loop nests that it runs. [`super::writer`] has its text.
//!
//! A local that is assigned once is the SSA value `%l` and its number; a mutable one is a slot `%m` in the frame, which
//! LLVM turns into SSA. A buffer is the pointer `%b`, or, where its address changes, a slot: `%p` for a bound name, `%s`
//! for a stack.

use super::bounds::Bounds;
use super::strides::Strides;
use super::text::{constant, in_lanes, register};
use super::uses::Uses;
use super::writer::FunctionWriter;
use super::{FunctionText, ModuleEmitter};
use cotan_ir::AllocationSite;
use cotan_loops::{Buffer, BufferKind, Home, LoopFunction, Node, Operand};
use cotan_runtime::abi::layout;
use std::collections::{BTreeMap, BTreeSet};

/// Emits one LLVM function.
pub(super) struct FunctionEmitter<'a> {
    pub(super) out: FunctionWriter<'a>,
    pub(super) f: &'a LoopFunction,
    /// How often the whole function mentions each local and buffer.
    pub(super) all_uses: &'a Uses,
    /// What numbers of the whole function are at most.
    pub(super) bounds: &'a Bounds,
    /// How far apart the offsets of neighbouring lanes are.
    pub(super) strides: &'a Strides,
    /// How many elements it reads and writes one by one for lanes.
    pub(super) n_single: u32,
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
    /// The block that reports that there is no memory for a buffer.
    no_memory: BTreeMap<Buffer, String>,
    /// The most bytes that a call of a function of the module takes for what it is told.
    pub(super) call_bytes: usize,
}

impl<'a> FunctionEmitter<'a> {
    /// An emitter of the LLVM function that runs `body`.
    pub(super) fn new(
        module: &'a mut ModuleEmitter,
        f: &'a LoopFunction,
        (all_uses, bounds, strides): (&'a Uses, &'a Bounds, &'a Strides),
        body: &[Node],
    ) -> FunctionEmitter<'a> {
        FunctionEmitter {
            out: FunctionWriter::new(module),
            f,
            all_uses,
            bounds,
            strides,
            n_single: 0,
            segment_uses: Uses::of_segments(f, body),
            cells: BTreeMap::new(),
            n_cells: 0,
            lanes: 1,
            left_in_cells: BTreeSet::new(),
            no_memory: BTreeMap::new(),
            call_bytes: 0,
        }
    }

    /// The text of the function.
    pub(super) fn finish(self, head: &str) -> FunctionText {
        self.out.finish(head, self.n_cells, self.call_bytes)
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
                self.out.slot(&format!("%m{}", local.0), &in_lanes(register(info.elem), info.lanes));
            }
        }
        for buffer in own.buffers() {
            let info = &self.f.buffers[buffer.index()];
            match info.kind {
                BufferKind::Bound => self.out.slot(&format!("%p{}", buffer.0), "ptr"),
                BufferKind::Stack => {
                    self.out.slot(&format!("%s{}", buffer.0), &format!("[{} x i8]", layout::STACK_SIZE));
                }
                BufferKind::Allocated(Home::Frame) => {
                    let bytes = frame_bytes(self, buffer);
                    self.out.slots += &format!("  %b{} = alloca [{bytes} x i8], align 64\n", buffer.0);
                }
                BufferKind::Allocated(Home::Arena | Home::Result(_)) | BufferKind::Param(_) => {}
            }
        }
    }

    /// The block that ends the call where there is no memory for a buffer. The host has said why; who asked is known
    /// here.
    pub(super) fn no_memory(&mut self, buffer: Buffer) -> String {
        if let Some(label) = self.no_memory.get(&buffer) {
            return label.clone();
        }
        let info = &self.f.buffers[buffer.index()];
        let site = AllocationSite { name: info.name.clone(), span: info.span, is_record: info.is_record };
        self.out.module.reports.sites.push(site);
        let (label, field) = (self.out.new_label(), self.out.temporary());
        self.out.exits += &format!(
            "{label}:\n  {field} = getelementptr inbounds i8, ptr %ctx, i64 {}\n  store i64 {}, ptr {field}\n  ret i32 1\n",
            layout::CTX_ERROR_SPAN,
            self.out.module.reports.sites.len()
        );
        self.no_memory.insert(buffer, label.clone());
        label
    }
}

fn frame_bytes(emitter: &FunctionEmitter<'_>, buffer: Buffer) -> i64 {
    emitter.all_uses.frame_bytes(buffer).max(1)
}
