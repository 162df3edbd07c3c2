//! Memory: addresses, allocation, stacks, scopes, and the buffers of calls.

use super::function::FunctionEmitter;
use super::symbol;
use super::text::{in_memory, quoted, register};
use super::writer::CALL;
use super::writer::FunctionWriter;
use cotan_ir::{Elem, Symbol};
use cotan_loops::node::{Argument, Buffer, BufferKind, CallResult, Home, Node, Operand, Place, Tensor};
use cotan_runtime::abi::layout;

impl FunctionEmitter<'_> {
    // ---- addresses

    /// The address of the first element of a buffer.
    pub(super) fn base(&mut self, buffer: Buffer) -> String {
        match self.f.buffers[buffer.index()].kind {
            BufferKind::Param(_) | BufferKind::Allocated(_) => format!("%b{}", buffer.0),
            BufferKind::Bound => self.out.define(&format!("load ptr, ptr %p{}", buffer.0)),
            BufferKind::Stack => {
                let field = self.out.field(&format!("%s{}", buffer.0), layout::STACK_DATA);
                self.out.define(&format!("load ptr, ptr {field}"))
            }
        }
    }

    pub(super) fn address(&mut self, place: Place) -> String {
        let base = self.base(place.buffer);
        if place.offset.as_i64() == Some(0) {
            return base;
        }
        let ty = in_memory(self.f.buffers[place.buffer.index()].elem);
        let offset = self.operand(place.offset);
        self.out.define(&format!("getelementptr inbounds {ty}, ptr {base}, i64 {offset}"))
    }

    pub(super) fn store_to(&mut self, value: Operand, address: &str) {
        let (elem, value) = (self.f.operand_elem(value), self.operand(value));
        self.out.store_value(&value, elem, address);
    }

    pub(super) fn copy(&mut self, from: Place, to: Place, count: Operand) {
        let bytes = self.f.buffers[to.buffer.index()].elem.bytes();
        let (source, target) = (self.address(from), self.address(to));
        let size = match count.as_i64() {
            Some(n) => n.saturating_mul(bytes as i64).to_string(),
            None => {
                let count = self.operand(count);
                self.out.define(&format!("mul i64 {count}, {bytes}"))
            }
        };
        // The ranges may be the same one.
        self.out.module.declare("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)");
        self.out.line(&format!("call void @llvm.memmove.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)"));
    }

    pub(super) fn allocate(&mut self, buffer: Buffer, extents: &[Operand]) {
        let info = &self.f.buffers[buffer.index()];
        let BufferKind::Allocated(home) = info.kind else { return };
        let name = format!("%b{}", buffer.0);
        match home {
            Home::Frame => {}
            Home::Arena => {
                let bytes = size_in_bytes(self, info.elem, extents);
                allocate_bytes(self, &name, buffer, &bytes);
            }
            Home::Result(k) => {
                let bytes = size_in_bytes(self, info.elem, extents);
                allocate_result(self, &name, buffer, k, &bytes);
            }
        }
    }

    // ---- the size of records

    pub(super) fn count_record(&mut self, elem: Elem, extents: &[Operand]) {
        self.out.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
        let bytes = size_in_bytes(self, elem, extents);
        let alive = records_alive(&mut self.out);
        let alive = self.out.define(&format!("add i64 {alive}, {bytes}"));
        set_records_alive(&mut self.out, &alive);
        let field = self.out.field("%ctx", layout::CTX_MOST_RECORD_BYTES);
        let most = self.out.define(&format!("load i64, ptr {field}"));
        let most = self.out.define(&format!("call i64 @llvm.smax.i64(i64 {most}, i64 {alive})"));
        self.out.line(&format!("store i64 {most}, ptr {field}"));
    }

    /// Nodes whose records end with them: the body of a function, or of a loop.
    pub(super) fn nodes_with_records(&mut self, nodes: &[Node]) {
        let before = nodes.iter().any(Node::leaves_records).then(|| records_alive(&mut self.out));
        self.nodes(nodes);
        if let Some(before) = before {
            set_records_alive(&mut self.out, &before);
        }
    }

    pub(super) fn scope(&mut self, body: &[Node]) {
        self.out.module.declare("declare void @cotan_mark(ptr, ptr)");
        self.out.module.declare("declare void @cotan_release(ptr, ptr)");
        let mark = format!("%mark{}", self.out.temporary().trim_start_matches('%'));
        self.out.slot(&mark, &format!("[{} x i8]", layout::MARK_SIZE));
        self.out.line(&format!("call void @cotan_mark(ptr %ctx, ptr {mark})"));
        self.nodes(body);
        self.out.line(&format!("call void @cotan_release(ptr %ctx, ptr {mark})"));
    }

    /// Makes room for so many elements, and counts them as written.
    pub(super) fn stack_extend(&mut self, buffer: Buffer, n: Operand) {
        self.out.module.declare("declare i32 @cotan_stack_reserve(ptr, ptr, i64)");
        let stack = format!("%s{}", buffer.0);
        let needed = size_in_bytes(self, self.f.buffers[buffer.index()].elem, &[n]);
        let (length_at, capacity_at) =
            (self.out.field(&stack, layout::STACK_LENGTH), self.out.field(&stack, layout::STACK_CAPACITY));
        let length = self.out.define(&format!("load i64, ptr {length_at}"));
        let capacity = self.out.define(&format!("load i64, ptr {capacity_at}"));
        let (grow, ready) = (self.out.new_label(), self.out.new_label());
        let fits = self.out.define(&format!("icmp sle i64 {needed}, {capacity}"));
        self.out.branch(&fits, &ready, &grow);
        self.out.begin(&grow);
        let more = self.out.define(&format!("sub i64 {needed}, {length}"));
        let status = self.out.define(&format!("call i32 @cotan_stack_reserve(ptr %ctx, ptr {stack}, i64 {more})"));
        let failed = self.out.define(&format!("icmp ne i32 {status}, 0"));
        let none = self.no_memory(buffer);
        self.out.branch(&failed, &none, &ready);
        self.out.begin(&ready);
        // Positions may come in any order.
        self.out.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
        let length = self.out.define(&format!("call i64 @llvm.smax.i64(i64 {length}, i64 {needed})"));
        self.out.line(&format!("store i64 {length}, ptr {length_at}"));
    }

    // ---- calls

    /// Calls a function of the module. What it is told of arguments and results lies in memory of the frame that all
    /// calls share, because none is open when the next one begins.
    pub(super) fn call(&mut self, callee: &Symbol, args: &[Argument], results: &[CallResult]) {
        let mut area = CallArea { n_bytes: (args.len() + results.len()) * layout::BUF_SIZE };
        let first_result = args.len() * layout::BUF_SIZE;
        for (k, arg) in args.iter().enumerate() {
            let data = match arg {
                Argument::Tensor(tensor) => self.address(tensor.place),
                Argument::Scalar(operand) => {
                    let cell = self.out.field(CALL, area.words(1));
                    self.store_to(*operand, &cell);
                    cell
                }
            };
            fill_field(&mut self.out, k * layout::BUF_SIZE + layout::BUF_DATA, "ptr", &data);
        }
        let mut cells = Vec::new();
        for (k, result) in results.iter().enumerate() {
            let buf = first_result + k * layout::BUF_SIZE;
            match result {
                CallResult::Scalar(local) => {
                    let cell = self.out.field(CALL, area.words(1));
                    fill_field(&mut self.out, buf + layout::BUF_DATA, "ptr", &cell);
                    cells.push((*local, cell));
                }
                CallResult::Into(tensor) => {
                    let data = self.address(tensor.place);
                    let bytes = size_in_bytes(self, tensor.elem, &tensor.dims);
                    fill_result(
                        &mut self.out,
                        buf,
                        &data,
                        &bytes,
                        area.words(2 * tensor.dims.len()),
                        tensor.dims.len(),
                    );
                }
                // The callee allocates whatever does not fit, and nothing fits here.
                CallResult::New(_, rank) => fill_result(&mut self.out, buf, "null", "-1", area.words(2 * rank), *rank),
            }
        }
        self.call_bytes = self.call_bytes.max(area.n_bytes);
        let name = quoted(&symbol(callee));
        let result_bufs = self.out.field(CALL, first_result);
        let status = self.out.define(&format!("call i32 {name}(ptr %ctx, ptr {CALL}, ptr {result_bufs})"));
        self.out.check_status(&status);
        for (local, cell) in cells {
            self.out.load_from(&format!("%l{}", local.0), self.f.elem(local), &cell);
        }
        for (k, result) in results.iter().enumerate() {
            if let CallResult::New(buffer, _) = result {
                let data = self.out.field(CALL, first_result + k * layout::BUF_SIZE + layout::BUF_DATA);
                let data = self.out.define(&format!("load ptr, ptr {data}"));
                self.out.line(&format!("store ptr {data}, ptr %p{}", buffer.0));
            }
        }
    }
}

impl FunctionWriter<'_> {
    /// The address of a field, by its offset in bytes.
    pub(super) fn field(&mut self, of: &str, offset: usize) -> String {
        self.define(&format!("getelementptr inbounds i8, ptr {of}, i64 {offset}"))
    }

    /// Defines `to` as the element at an address.
    pub(super) fn load_from(&mut self, to: &str, elem: Elem, address: &str) {
        if elem == Elem::Bool {
            let byte = self.define(&format!("load i8, ptr {address}"));
            return self.line(&format!("{to} = icmp ne i8 {byte}, 0"));
        }
        self.line(&format!("{to} = load {}, ptr {address}", register(elem)));
    }

    /// Writes a scalar to an address.
    pub(super) fn store_value(&mut self, value: &str, elem: Elem, address: &str) {
        if elem == Elem::Bool {
            let byte = self.define(&format!("zext i1 {value} to i8"));
            return self.line(&format!("store i8 {byte}, ptr {address}"));
        }
        self.line(&format!("store {} {value}, ptr {address}", register(elem)));
    }

    pub(super) fn stack_open(&mut self, buffer: Buffer) {
        self.module.declare("declare void @cotan_stack_open(ptr, ptr)");
        self.line(&format!("call void @cotan_stack_open(ptr %ctx, ptr %s{})", buffer.0));
    }
}

/// The size in bytes of a tensor; one that overflows is so large that no allocation succeeds.
fn size_in_bytes(emitter: &mut FunctionEmitter<'_>, elem: Elem, extents: &[Operand]) -> String {
    let known = extents.iter().try_fold(elem.bytes() as i64, |n, d| n.checked_mul(d.as_i64()?.max(0)));
    if let Some(bytes) = known {
        return bytes.to_string();
    }
    emitter.out.module.declare("declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)");
    emitter.out.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
    let mut bytes = elem.bytes().to_string();
    for extent in extents {
        let extent = emitter.operand(*extent);
        let extent = emitter.out.define(&format!("call i64 @llvm.smax.i64(i64 {extent}, i64 0)"));
        let pair =
            emitter.out.define(&format!("call {{ i64, i1 }} @llvm.smul.with.overflow.i64(i64 {bytes}, i64 {extent})"));
        let product = emitter.out.define(&format!("extractvalue {{ i64, i1 }} {pair}, 0"));
        let overflows = emitter.out.define(&format!("extractvalue {{ i64, i1 }} {pair}, 1"));
        bytes = emitter.out.define(&format!("select i1 {overflows}, i64 {}, i64 {product}", i64::MAX));
    }
    bytes
}

fn allocate_bytes(emitter: &mut FunctionEmitter<'_>, name: &str, buffer: Buffer, bytes: &str) {
    emitter.out.module.declare("declare noalias ptr @cotan_allocate(ptr, i64)");
    emitter.out.line(&format!("{name} = call noalias ptr @cotan_allocate(ptr %ctx, i64 {bytes})"));
    let failed = emitter.out.define(&format!("icmp eq ptr {name}, null"));
    let (none, next) = (emitter.no_memory(buffer), emitter.out.new_label());
    emitter.out.branch(&failed, &none, &next);
    emitter.out.begin(&next);
}

/// The memory that the caller offers for a result, if it suffices.
fn allocate_result(emitter: &mut FunctionEmitter<'_>, name: &str, buffer: Buffer, k: usize, bytes: &str) {
    let (enough, short, done) = (emitter.out.new_label(), emitter.out.new_label(), emitter.out.new_label());
    let result = emitter.out.field("%results", k * layout::BUF_SIZE);
    let data = emitter.out.field(&result, layout::BUF_DATA);
    let capacity = emitter.out.field(&result, layout::BUF_CAPACITY);
    let capacity = emitter.out.define(&format!("load i64, ptr {capacity}"));
    let fits = emitter.out.define(&format!("icmp sle i64 {bytes}, {capacity}"));
    emitter.out.branch(&fits, &enough, &short);
    emitter.out.begin(&enough);
    let offered = emitter.out.define(&format!("load ptr, ptr {data}"));
    emitter.out.jump(&done);
    emitter.out.begin(&short);
    let own = emitter.out.temporary();
    allocate_bytes(emitter, &own, buffer, bytes);
    emitter.out.line(&format!("store ptr {own}, ptr {data}"));
    let short_end = emitter.out.current_label();
    emitter.out.jump(&done);
    emitter.out.begin(&done);
    emitter.out.line(&format!("{name} = phi ptr [ {offered}, %{enough} ], [ {own}, %{short_end} ]"));
}

fn records_alive(out: &mut FunctionWriter<'_>) -> String {
    let field = out.field("%ctx", layout::CTX_RECORD_BYTES);
    out.define(&format!("load i64, ptr {field}"))
}

fn set_records_alive(out: &mut FunctionWriter<'_>, bytes: &str) {
    let field = out.field("%ctx", layout::CTX_RECORD_BYTES);
    out.line(&format!("store i64 {bytes}, ptr {field}"));
}

pub(super) fn store_results(emitter: &mut FunctionEmitter<'_>) {
    for (k, piece) in emitter.f.results.iter().enumerate() {
        let result = emitter.out.field("%results", k * layout::BUF_SIZE);
        match piece {
            Argument::Scalar(operand) => {
                let data = emitter.out.field(&result, layout::BUF_DATA);
                let data = emitter.out.define(&format!("load ptr, ptr {data}"));
                emitter.store_to(*operand, &data);
            }
            Argument::Tensor(tensor) => store_shape(emitter, &result, tensor),
        }
    }
}

fn store_shape(emitter: &mut FunctionEmitter<'_>, result: &str, tensor: &Tensor) {
    let mut stride = String::from("1");
    let extents = emitter.out.field(result, layout::BUF_EXTENTS);
    let extents = emitter.out.define(&format!("load ptr, ptr {extents}"));
    let strides = emitter.out.field(result, layout::BUF_STRIDES);
    let strides = emitter.out.define(&format!("load ptr, ptr {strides}"));
    for (k, dim) in tensor.dims.iter().enumerate().rev() {
        let dim = emitter.operand(*dim);
        for (array, value) in [(&extents, &dim), (&strides, &stride)] {
            let at = emitter.out.field(array, 8 * k);
            emitter.out.line(&format!("store i64 {value}, ptr {at}"));
        }
        stride = emitter.out.define(&format!("mul i64 {stride}, {dim}"));
    }
}

/// Fills the [`Buf`](cotan_runtime::abi::Buf) of a tensor that a call gives, with room for its shape. Of arguments, and of
/// scalars, a function of the module reads nothing but the address.
fn fill_result(out: &mut FunctionWriter<'_>, buf: usize, data: &str, capacity: &str, shape: usize, rank: usize) {
    let extents = out.field(CALL, shape);
    let strides = out.field(CALL, shape + WORD * rank);
    fill_field(out, buf + layout::BUF_DATA, "ptr", data);
    fill_field(out, buf + layout::BUF_EXTENTS, "ptr", &extents);
    fill_field(out, buf + layout::BUF_STRIDES, "ptr", &strides);
    fill_field(out, buf + layout::BUF_CAPACITY, "i64", capacity);
}

fn fill_field(out: &mut FunctionWriter<'_>, offset: usize, ty: &str, value: &str) {
    let field = out.field(CALL, offset);
    out.line(&format!("store {ty} {value}, ptr {field}"));
}

/// Bytes of a scalar or an extent in the memory of the frame for calls.
const WORD: usize = 8;

/// How much of that memory a call takes so far.
struct CallArea {
    n_bytes: usize,
}

impl CallArea {
    /// The offset of so many words more.
    fn words(&mut self, n: usize) -> usize {
        let at = self.n_bytes;
        self.n_bytes += WORD * n;
        at
    }
}
