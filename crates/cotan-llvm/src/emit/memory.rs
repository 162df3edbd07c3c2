//! Memory: addresses, allocation, stacks, scopes, and the buffers of calls.

use super::function::{CALL, FunctionEmitter};
use super::symbol;
use super::text::{in_memory, quoted, register};
use cotan_ir::{Elem, Symbol};
use cotan_loops::node::{Argument, Buffer, BufferKind, CallResult, Effect, Home, Node, Operand, Place, Tensor};
use cotan_runtime::abi::layout;

impl FunctionEmitter<'_> {
    // ---- addresses

    /// The address of the first element of a buffer.
    pub(super) fn base(&mut self, buffer: Buffer) -> String {
        match self.f.buffers[buffer.index()].kind {
            BufferKind::Param(_) | BufferKind::Allocated(_) => format!("%b{}", buffer.0),
            BufferKind::Bound => self.define(&format!("load ptr, ptr %p{}", buffer.0)),
            BufferKind::Stack => {
                let field = self.field(&format!("%s{}", buffer.0), layout::STACK_DATA);
                self.define(&format!("load ptr, ptr {field}"))
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
        self.define(&format!("getelementptr inbounds {ty}, ptr {base}, i64 {offset}"))
    }

    /// The address of a field, by its offset in bytes.
    pub(super) fn field(&mut self, of: &str, offset: usize) -> String {
        self.define(&format!("getelementptr inbounds i8, ptr {of}, i64 {offset}"))
    }

    // ---- elements

    /// Defines `to` as the element at an address.
    pub(super) fn load_from(&mut self, to: &str, elem: Elem, address: &str) {
        if elem == Elem::Bool {
            let byte = self.define(&format!("load i8, ptr {address}"));
            return self.line(&format!("{to} = icmp ne i8 {byte}, 0"));
        }
        self.line(&format!("{to} = load {}, ptr {address}", register(elem)));
    }

    pub(super) fn store_to(&mut self, value: Operand, address: &str) {
        let (elem, value) = (self.f.operand_elem(value), self.operand(value));
        self.store_value(&value, elem, address);
    }

    /// Writes a scalar to an address.
    pub(super) fn store_value(&mut self, value: &str, elem: Elem, address: &str) {
        if elem == Elem::Bool {
            let byte = self.define(&format!("zext i1 {value} to i8"));
            return self.line(&format!("store i8 {byte}, ptr {address}"));
        }
        self.line(&format!("store {} {value}, ptr {address}", register(elem)));
    }

    pub(super) fn copy(&mut self, from: Place, to: Place, count: Operand) {
        let bytes = self.f.buffers[to.buffer.index()].elem.bytes();
        let (source, target) = (self.address(from), self.address(to));
        let size = match count.as_i64() {
            Some(n) => n.saturating_mul(bytes as i64).to_string(),
            None => {
                let count = self.operand(count);
                self.define(&format!("mul i64 {count}, {bytes}"))
            }
        };
        // The ranges may be the same one.
        self.module.declare("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)");
        self.line(&format!("call void @llvm.memmove.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)"));
    }

    // ---- allocation

    /// The size in bytes of a tensor; one that overflows is so large that no allocation succeeds.
    fn size_in_bytes(&mut self, elem: Elem, extents: &[Operand]) -> String {
        let known = extents.iter().try_fold(elem.bytes() as i64, |n, d| n.checked_mul(d.as_i64()?.max(0)));
        if let Some(bytes) = known {
            return bytes.to_string();
        }
        self.module.declare("declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)");
        self.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
        let mut bytes = elem.bytes().to_string();
        for extent in extents {
            let extent = self.operand(*extent);
            let extent = self.define(&format!("call i64 @llvm.smax.i64(i64 {extent}, i64 0)"));
            let pair =
                self.define(&format!("call {{ i64, i1 }} @llvm.smul.with.overflow.i64(i64 {bytes}, i64 {extent})"));
            let product = self.define(&format!("extractvalue {{ i64, i1 }} {pair}, 0"));
            let overflows = self.define(&format!("extractvalue {{ i64, i1 }} {pair}, 1"));
            bytes = self.define(&format!("select i1 {overflows}, i64 {}, i64 {product}", i64::MAX));
        }
        bytes
    }

    pub(super) fn allocate(&mut self, buffer: Buffer, extents: &[Operand]) {
        let info = &self.f.buffers[buffer.index()];
        let BufferKind::Allocated(home) = info.kind else { return };
        let name = format!("%b{}", buffer.0);
        match home {
            Home::Frame => {}
            Home::Arena => {
                let bytes = self.size_in_bytes(info.elem, extents);
                self.allocate_bytes(&name, buffer, &bytes);
            }
            Home::Result(k) => {
                let bytes = self.size_in_bytes(info.elem, extents);
                self.allocate_result(&name, buffer, k, &bytes);
            }
        }
    }

    fn allocate_bytes(&mut self, name: &str, buffer: Buffer, bytes: &str) {
        self.module.declare("declare noalias ptr @cotan_allocate(ptr, i64)");
        self.line(&format!("{name} = call noalias ptr @cotan_allocate(ptr %ctx, i64 {bytes})"));
        let failed = self.define(&format!("icmp eq ptr {name}, null"));
        let (none, next) = (self.no_memory(buffer), self.new_label());
        self.branch(&failed, &none, &next);
        self.begin(&next);
    }

    /// The memory that the caller offers for a result, if it suffices.
    fn allocate_result(&mut self, name: &str, buffer: Buffer, k: usize, bytes: &str) {
        let (enough, short, done) = (self.new_label(), self.new_label(), self.new_label());
        let result = self.field("%results", k * layout::BUF_SIZE);
        let data = self.field(&result, layout::BUF_DATA);
        let capacity = self.field(&result, layout::BUF_CAPACITY);
        let capacity = self.define(&format!("load i64, ptr {capacity}"));
        let fits = self.define(&format!("icmp sle i64 {bytes}, {capacity}"));
        self.branch(&fits, &enough, &short);
        self.begin(&enough);
        let offered = self.define(&format!("load ptr, ptr {data}"));
        self.jump(&done);
        self.begin(&short);
        let own = self.temporary();
        self.allocate_bytes(&own, buffer, bytes);
        self.line(&format!("store ptr {own}, ptr {data}"));
        let short_end = self.current_label();
        self.jump(&done);
        self.begin(&done);
        self.line(&format!("{name} = phi ptr [ {offered}, %{enough} ], [ {own}, %{short_end} ]"));
    }

    // ---- the size of records

    pub(super) fn count_record(&mut self, elem: Elem, extents: &[Operand]) {
        self.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
        let bytes = self.size_in_bytes(elem, extents);
        let alive = self.records_alive();
        let alive = self.define(&format!("add i64 {alive}, {bytes}"));
        self.set_records_alive(&alive);
        let field = self.field("%ctx", layout::CTX_MOST_RECORD_BYTES);
        let most = self.define(&format!("load i64, ptr {field}"));
        let most = self.define(&format!("call i64 @llvm.smax.i64(i64 {most}, i64 {alive})"));
        self.line(&format!("store i64 {most}, ptr {field}"));
    }

    fn records_alive(&mut self) -> String {
        let field = self.field("%ctx", layout::CTX_RECORD_BYTES);
        self.define(&format!("load i64, ptr {field}"))
    }

    fn set_records_alive(&mut self, bytes: &str) {
        let field = self.field("%ctx", layout::CTX_RECORD_BYTES);
        self.line(&format!("store i64 {bytes}, ptr {field}"));
    }

    /// Nodes whose records end with them: the body of a function, or of a loop.
    pub(super) fn nodes_with_records(&mut self, nodes: &[Node]) {
        let before = nodes.iter().any(counts_records).then(|| self.records_alive());
        self.nodes(nodes);
        if let Some(before) = before {
            self.set_records_alive(&before);
        }
    }

    pub(super) fn scope(&mut self, body: &[Node]) {
        self.module.declare("declare void @cotan_mark(ptr, ptr)");
        self.module.declare("declare void @cotan_release(ptr, ptr)");
        let mark = format!("%mark{}", self.temporary().trim_start_matches('%'));
        self.slot(&mark, &format!("[{} x i8]", layout::MARK_SIZE));
        self.line(&format!("call void @cotan_mark(ptr %ctx, ptr {mark})"));
        self.nodes(body);
        self.line(&format!("call void @cotan_release(ptr %ctx, ptr {mark})"));
    }

    // ---- stacks

    pub(super) fn stack_open(&mut self, buffer: Buffer) {
        self.module.declare("declare void @cotan_stack_open(ptr, ptr)");
        self.line(&format!("call void @cotan_stack_open(ptr %ctx, ptr %s{})", buffer.0));
    }

    /// Makes room for so many elements, and counts them as written.
    pub(super) fn stack_extend(&mut self, buffer: Buffer, n: Operand) {
        self.module.declare("declare i32 @cotan_stack_reserve(ptr, ptr, i64)");
        let stack = format!("%s{}", buffer.0);
        let needed = self.size_in_bytes(self.f.buffers[buffer.index()].elem, &[n]);
        let (length_at, capacity_at) =
            (self.field(&stack, layout::STACK_LENGTH), self.field(&stack, layout::STACK_CAPACITY));
        let length = self.define(&format!("load i64, ptr {length_at}"));
        let capacity = self.define(&format!("load i64, ptr {capacity_at}"));
        let (grow, ready) = (self.new_label(), self.new_label());
        let fits = self.define(&format!("icmp sle i64 {needed}, {capacity}"));
        self.branch(&fits, &ready, &grow);
        self.begin(&grow);
        let more = self.define(&format!("sub i64 {needed}, {length}"));
        let status = self.define(&format!("call i32 @cotan_stack_reserve(ptr %ctx, ptr {stack}, i64 {more})"));
        let failed = self.define(&format!("icmp ne i32 {status}, 0"));
        let none = self.no_memory(buffer);
        self.branch(&failed, &none, &ready);
        self.begin(&ready);
        // Positions may come in any order.
        self.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
        let length = self.define(&format!("call i64 @llvm.smax.i64(i64 {length}, i64 {needed})"));
        self.line(&format!("store i64 {length}, ptr {length_at}"));
    }

    // ---- results of this function

    pub(super) fn store_results(&mut self) {
        for (k, piece) in self.f.results.iter().enumerate() {
            let result = self.field("%results", k * layout::BUF_SIZE);
            match piece {
                Argument::Scalar(operand) => {
                    let data = self.field(&result, layout::BUF_DATA);
                    let data = self.define(&format!("load ptr, ptr {data}"));
                    self.store_to(*operand, &data);
                }
                Argument::Tensor(tensor) => self.store_shape(&result, tensor),
            }
        }
    }

    fn store_shape(&mut self, result: &str, tensor: &Tensor) {
        let mut stride = String::from("1");
        let extents = self.field(result, layout::BUF_EXTENTS);
        let extents = self.define(&format!("load ptr, ptr {extents}"));
        let strides = self.field(result, layout::BUF_STRIDES);
        let strides = self.define(&format!("load ptr, ptr {strides}"));
        for (k, dim) in tensor.dims.iter().enumerate().rev() {
            let dim = self.operand(*dim);
            for (array, value) in [(&extents, &dim), (&strides, &stride)] {
                let at = self.field(array, 8 * k);
                self.line(&format!("store i64 {value}, ptr {at}"));
            }
            stride = self.define(&format!("mul i64 {stride}, {dim}"));
        }
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
                    let cell = self.field(CALL, area.words(1));
                    self.store_to(*operand, &cell);
                    cell
                }
            };
            self.fill_field(k * layout::BUF_SIZE + layout::BUF_DATA, "ptr", &data);
        }
        let mut cells = Vec::new();
        for (k, result) in results.iter().enumerate() {
            let buf = first_result + k * layout::BUF_SIZE;
            match result {
                CallResult::Scalar(local) => {
                    let cell = self.field(CALL, area.words(1));
                    self.fill_field(buf + layout::BUF_DATA, "ptr", &cell);
                    cells.push((*local, cell));
                }
                CallResult::Into(tensor) => {
                    let data = self.address(tensor.place);
                    let bytes = self.size_in_bytes(tensor.elem, &tensor.dims);
                    self.fill_result(buf, &data, &bytes, area.words(2 * tensor.dims.len()), tensor.dims.len());
                }
                // The callee allocates whatever does not fit, and nothing fits here.
                CallResult::New(_, rank) => self.fill_result(buf, "null", "-1", area.words(2 * rank), *rank),
            }
        }
        self.call_bytes = self.call_bytes.max(area.n_bytes);
        let name = quoted(&symbol(callee));
        let result_bufs = self.field(CALL, first_result);
        let status = self.define(&format!("call i32 {name}(ptr %ctx, ptr {CALL}, ptr {result_bufs})"));
        self.check_status(&status);
        for (local, cell) in cells {
            self.load_from(&format!("%l{}", local.0), self.f.elem(local), &cell);
        }
        for (k, result) in results.iter().enumerate() {
            if let CallResult::New(buffer, _) = result {
                let data = self.field(CALL, first_result + k * layout::BUF_SIZE + layout::BUF_DATA);
                let data = self.define(&format!("load ptr, ptr {data}"));
                self.line(&format!("store ptr {data}, ptr %p{}", buffer.0));
            }
        }
    }

    /// Fills the [`Buf`](cotan_runtime::abi::Buf) of a tensor that a call gives, with room for its shape. Of arguments, and of
    /// scalars, a function of the module reads nothing but the address.
    fn fill_result(&mut self, buf: usize, data: &str, capacity: &str, shape: usize, rank: usize) {
        let extents = self.field(CALL, shape);
        let strides = self.field(CALL, shape + WORD * rank);
        self.fill_field(buf + layout::BUF_DATA, "ptr", data);
        self.fill_field(buf + layout::BUF_EXTENTS, "ptr", &extents);
        self.fill_field(buf + layout::BUF_STRIDES, "ptr", &strides);
        self.fill_field(buf + layout::BUF_CAPACITY, "i64", capacity);
    }

    fn fill_field(&mut self, offset: usize, ty: &str, value: &str) {
        let field = self.field(CALL, offset);
        self.line(&format!("store {ty} {value}, ptr {field}"));
    }
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

/// Whether records that a node makes are alive after it.
fn counts_records(node: &Node) -> bool {
    let is_loop = matches!(node, Node::For(_) | Node::While(..));
    node.has(Effect::CountsRecord) || !is_loop && node.lists().into_iter().flatten().any(counts_records)
}
