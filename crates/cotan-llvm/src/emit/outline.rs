//! Pieces of a function that become LLVM functions of their own: bodies of parallel loops, and segments of long blocks
//! (LLVM's time per instruction grows with the size of a function).
//!
//! What both sides use goes through the environment of the outer function, an array of cells of 8 bytes in its frame:
//! values that a piece reads, addresses of slots that both touch, and values that it defines for later. Inside,
//! everything keeps the name it has outside.

use super::function::FunctionEmitter;
use super::text::{in_lanes, register};
use super::uses::Uses;
use super::writer::FunctionWriter;
use cotan_loops::node::{Buffer, BufferKind, For, Home, LocalInfo, Node, Threads, Wave};

/// Bytes of a cell of an environment.
const CELL: usize = 8;

/// A name that both sides of an outlined piece know.
struct Shared {
    name: String,
    ty: String,
    /// The slot with the value, where the inner function has a slot of its own for it.
    slot: Option<String>,
    /// How many cells its value takes.
    n_cells: usize,
    /// Whether the outer function itself uses it, and not only other segments.
    is_used_between: bool,
}

impl Shared {
    fn pointer(name: String, is_used_between: bool) -> Shared {
        Shared { name, ty: "ptr".to_owned(), slot: None, n_cells: 1, is_used_between }
    }

    /// What a second name stands for, which does not change inside.
    fn binding(buffer: Buffer, is_used_between: bool) -> Shared {
        let slot = Some(format!("%p{}", buffer.0));
        Shared { slot, ..Shared::pointer(format!("%q{}", buffer.0), is_used_between) }
    }

    fn value(name: String, info: &LocalInfo, is_used_between: bool) -> Shared {
        let ty = in_lanes(register(info.elem), info.lanes);
        Shared { name, ty, slot: None, n_cells: info.lanes as usize, is_used_between }
    }
}

/// A function that was split off, to be called where it stood.
pub(super) struct OutlinedPiece {
    name: String,
    /// What it gives, and in which cells.
    outputs: Vec<(Shared, usize)>,
}

/// What goes through the environment.
#[derive(Default)]
struct Environment {
    /// Values that the piece reads, and slots that both sides touch: `name` holds a value of type `ty`.
    inputs: Vec<Shared>,
    /// Values that the piece defines and that are read after it.
    outputs: Vec<Shared>,
    /// What lives in slots of the piece alone.
    own: Uses,
}

impl FunctionEmitter<'_> {
    /// A loop whose iterations are pieces of work for threads.
    pub(super) fn parallel(&mut self, f: &For) {
        let mut inside = Uses::default();
        inside.defines(f.index);
        inside.nodes(self.f, &f.body);
        let env = environment(self, inside);
        let inputs = filled_cells(self, &env.inputs);
        let parameters = format!("ptr %ctx, ptr %env, i64 %l{}", f.index.0);
        let name = outline(self, &env, (&inputs, &[]), &parameters, &f.body, |inner| inner.nodes_with_records(&f.body));
        let count = self.operand(f.count);
        if let Threads::Wave(Wave { stages, slots }) = f.threads {
            self.out.module.declare("declare i32 @cotan_wavefront(ptr, ptr, ptr, i64, i64, i64)");
            let (stages, slots) = (self.operand(stages), self.operand(slots));
            let args = format!("ptr %ctx, ptr {name}, ptr %cells, i64 {count}, i64 {stages}, i64 {slots}");
            let status = self.out.define(&format!("call i32 @cotan_wavefront({args})"));
            self.out.check_status(&status);
        } else {
            self.out.call_chunks(&name, &count);
        }
    }

    /// A part of a long block. What one segment defines for another one stays in the cells: between two segments this
    /// function does nothing, so that it does not become a long block itself.
    pub(super) fn segment(&mut self, body: &[Node]) {
        let piece = self.piece(body, body, |inner| inner.nodes(body));
        let status = self.out.call_status(&piece);
        self.take_outputs(&status, piece);
    }

    /// A function of its own for some nodes, around those in `inner_nodes`, which `write` writes.
    pub(super) fn piece(
        &mut self,
        nodes: &[Node],
        inner_nodes: &[Node],
        write: impl FnOnce(&mut FunctionEmitter<'_>),
    ) -> OutlinedPiece {
        let mut inside = Uses::default();
        inside.nodes(self.f, nodes);
        let env = environment(self, inside);
        let inputs = filled_cells(self, &env.inputs);
        let outputs: Vec<usize> = env.outputs.iter().map(|shared| cell_of(self, shared)).collect();
        let name = outline(self, &env, (&inputs, &outputs), "ptr %ctx, ptr %env", inner_nodes, write);
        OutlinedPiece { name, outputs: env.outputs.into_iter().zip(outputs).collect() }
    }

    /// Ends the call if the function has failed, and else takes what it gives.
    pub(super) fn take_outputs(&mut self, status: &str, piece: OutlinedPiece) {
        self.out.check_status(status);
        for (shared, cell) in piece.outputs {
            self.left_in_cells.insert(shared.name.clone());
            if shared.is_used_between {
                let cell = self.out.field("%cells", cell * CELL);
                self.out.line(&format!("{} = load {}, ptr {cell}, align {CELL}", shared.name, shared.ty));
            }
        }
    }
}

impl FunctionWriter<'_> {
    /// Runs the chunks of a loop. A single one, as small loops have, runs at once: the host is not asked.
    fn call_chunks(&mut self, name: &str, count: &str) {
        let [alone, several, behind] = [self.new_label(), self.new_label(), self.new_label()];
        let is_one = self.define(&format!("icmp eq i64 {count}, 1"));
        self.branch(&is_one, &alone, &several);
        self.begin(&alone);
        let of_one = self.define(&format!("call i32 {name}(ptr %ctx, ptr %cells, i64 0)"));
        self.jump(&behind);
        self.begin(&several);
        self.module.declare("declare i32 @cotan_parallel_for(ptr, ptr, ptr, i64)");
        let call = format!("call i32 @cotan_parallel_for(ptr %ctx, ptr {name}, ptr %cells, i64 {count})");
        let of_all = self.define(&call);
        self.jump(&behind);
        self.begin(&behind);
        let status = self.define(&format!("phi i32 [ {of_one}, %{alone} ], [ {of_all}, %{several} ]"));
        self.check_status(&status);
    }

    /// Calls such a function; gives its status.
    pub(super) fn call_status(&mut self, piece: &OutlinedPiece) -> String {
        self.define(&format!("call i32 {}(ptr %ctx, ptr %cells)", piece.name))
    }
}

fn environment(emitter: &FunctionEmitter<'_>, inside: Uses) -> Environment {
    let mut env = Environment::default();
    if inside.allocates_results {
        env.inputs.push(Shared::pointer("%results".to_owned(), true));
    }
    for (local, n) in &inside.locals {
        let info = &emitter.f.locals[local.index()];
        let all = emitter.all_uses.locals.get(local);
        let outside = all.is_some_and(|all| all > n);
        let is_used_between = all > emitter.segment_uses.locals.get(local);
        let name = format!("%l{}", local.0);
        if info.is_mutable && outside {
            env.inputs.push(Shared::pointer(format!("%m{}", local.0), is_used_between));
        } else if info.is_mutable {
            env.own.locals.insert(*local, *n);
        } else if !inside.defined_locals.contains(local) {
            env.inputs.push(Shared::value(name, info, is_used_between));
        } else if outside {
            env.outputs.push(Shared::value(name, info, is_used_between));
        }
    }
    for (buffer, n) in &inside.buffers {
        let all = emitter.all_uses.buffers.get(buffer);
        let outside = all.is_some_and(|all| all > n);
        let is_used_between = all > emitter.segment_uses.buffers.get(buffer);
        let (name, is_slot) = match emitter.f.buffers[buffer.index()].kind {
            BufferKind::Bound => (format!("%p{}", buffer.0), true),
            BufferKind::Stack => (format!("%s{}", buffer.0), true),
            BufferKind::Allocated(Home::Frame) => (format!("%b{}", buffer.0), true),
            BufferKind::Allocated(Home::Arena | Home::Result(_)) | BufferKind::Param(_) => {
                (format!("%b{}", buffer.0), false)
            }
        };
        let shared = Shared::pointer(name, is_used_between);
        let is_bound_outside =
            emitter.f.buffers[buffer.index()].kind == BufferKind::Bound && !inside.bound_buffers.contains(buffer);
        if outside && is_bound_outside {
            env.inputs.push(Shared::binding(*buffer, is_used_between));
            env.own.buffers.insert(*buffer, *n);
        } else if is_slot && !outside {
            env.own.buffers.insert(*buffer, *n);
        } else if is_slot || !inside.defined_buffers.contains(buffer) {
            env.inputs.push(shared);
        } else if outside {
            env.outputs.push(shared);
        }
    }
    env
}

/// Splits off a function: loads what it needs from the cells at `%env`, runs `write`, stores what it gives. The two
/// lists of cells go with the inputs and outputs of `env`. Gives its name.
fn outline(
    emitter: &mut FunctionEmitter<'_>,
    env: &Environment,
    (inputs, outputs): (&[usize], &[usize]),
    parameters: &str,
    body: &[Node],
    write: impl FnOnce(&mut FunctionEmitter<'_>),
) -> String {
    let name = emitter.out.module.outlined_name(&emitter.f.name);
    let lanes = emitter.lanes;
    let known = (emitter.all_uses, emitter.bounds, emitter.strides);
    let mut inner = FunctionEmitter::new(&mut *emitter.out.module, emitter.f, known, body);
    inner.lanes = lanes;
    inner.declare_slots(&env.own);
    for (shared, cell) in env.inputs.iter().zip(inputs) {
        let cell = inner.out.field("%env", cell * CELL);
        inner.out.line(&format!("{} = load {}, ptr {cell}, align {CELL}", shared.name, shared.ty));
        if let Some(slot) = &shared.slot {
            inner.out.line(&format!("store {} {}, ptr {slot}", shared.ty, shared.name));
        }
    }
    write(&mut inner);
    for (shared, cell) in env.outputs.iter().zip(outputs) {
        let cell = inner.out.field("%env", cell * CELL);
        inner.out.line(&format!("store {} {}, ptr {cell}, align {CELL}", shared.ty, shared.name));
    }
    inner.out.succeed();
    let text = inner.finish(&format!("hidden i32 {name}({parameters})"));
    emitter.out.module.functions.push(text);
    name
}

/// The cell of this function's environment for a name.
fn cell_of(emitter: &mut FunctionEmitter<'_>, shared: &Shared) -> usize {
    if let Some(cell) = emitter.cells.get(&shared.name) {
        return *cell;
    }
    let cell = emitter.n_cells;
    emitter.n_cells += shared.n_cells;
    emitter.cells.insert(shared.name.clone(), cell);
    cell
}

/// The cells of several names, each filled unless a piece has left the value there.
fn filled_cells(emitter: &mut FunctionEmitter<'_>, names: &[Shared]) -> Vec<usize> {
    let mut cells = Vec::new();
    for shared in names {
        let cell = cell_of(emitter, shared);
        cells.push(cell);
        if !emitter.left_in_cells.contains(&shared.name) {
            let value = match &shared.slot {
                Some(slot) => emitter.out.define(&format!("load {}, ptr {slot}", shared.ty)),
                None => shared.name.clone(),
            };
            let cell = emitter.out.field("%cells", cell * CELL);
            emitter.out.line(&format!("store {} {value}, ptr {cell}, align {CELL}", shared.ty));
        }
    }
    cells
}
