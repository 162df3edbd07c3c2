//! Chunking of parallel loops: loops are cut into chunks for threads, after they have lanes.
//!
//! A loop whose iterations may run on several threads becomes a loop over chunks, each of them work for one thread. How
//! many there are follows from the number of iterations, what one of them costs, and the size of what they share, never
//! from the number of threads: so all bits are the same for any number. A loop that is not worth it when it runs is one
//! chunk, which runs where it is called.
//!
//! Iterations with lanes are cut like any others, so lanes are the same in every chunk but at the end of the last.

mod copies;

use copies::Copies;
use cotan_ir::{Const, Elem};
use cotan_loops::node::{
    Expr, For, Independence, Local, LocalInfo, LoopFunction, Node, Operand, Param, Place, Sharing, Threads,
};
use cotan_loops::{NestPass, TaskSizes};
use cotan_ops::Instruction;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "fork",
    doc: "Cuts loops whose iterations may run on several threads into chunks.",
    run: |f, context| fork(f, &context.tasks),
};

/// Chunks of a loop at most: a few for each core of a large machine.
const MOST_CHUNKS: f64 = 256.0;
/// Chunks at most where each has a copy of what iterations combine into.
const MOST_COPIES: f64 = 64.0;
/// Steps of a chunk for each byte of its copies, at least: to clear an element and to combine it take about one.
const STEPS_PER_BYTE: f64 = 2.0;
/// Bytes of all copies of a loop, unless the inputs of the function have more.
const BYTES_OF_COPIES: f64 = (32 << 20) as f64;

/// Cuts the loops of a function whose iterations may run on several threads.
pub fn fork(f: &mut LoopFunction, sizes: &TaskSizes) {
    let body = std::mem::take(&mut f.body);
    let (open, head) = (Vec::new(), Vec::new());
    let mut fork = Fork { f, sizes, open, head, input_bytes: None, chunks_around: None, is_in_loop: false };
    let body = fork.list(body);
    let mut whole = fork.head;
    whole.extend(body);
    f.body = whole;
}

struct Fork<'a> {
    f: &'a mut LoopFunction,
    sizes: &'a TaskSizes,
    /// The lists that are being written, innermost last.
    open: Vec<Vec<Node>>,
    /// What comes before everything else in the function.
    head: Vec<Node>,
    /// The bytes of all parameters, an f64, once somebody asked.
    input_bytes: Option<Operand>,
    /// The number of chunks of the loop around, an i64.
    chunks_around: Option<Operand>,
    /// Whether a sequential loop is around.
    is_in_loop: bool,
}

/// Where a loop is cut: into chunks that are as even as can be. All of it is i64.
struct Cuts {
    n_chunks: Operand,
    /// Iterations that every chunk has.
    length: Operand,
    /// The first chunks have one more, so many of them.
    n_longer: Operand,
}

impl Fork<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        if let Node::For(mut l) = node {
            return match std::mem::replace(&mut l.threads, Threads::One) {
                Threads::May(sharing) if !self.is_small(&l, &sharing) => self.cut(*l, sharing),
                // No loop of its pieces may run on several threads.
                Threads::Wave(wave) => {
                    l.threads = Threads::Wave(wave);
                    vec![Node::For(l)]
                }
                Threads::May(_) | Threads::One | Threads::Each => {
                    l.body = self.inside(l.body);
                    vec![Node::For(l)]
                }
            };
        }
        if let Node::While(go, body) = node {
            return vec![Node::While(go, self.inside(body))];
        }
        node.map_lists(|list| self.list(list));
        vec![node]
    }

    /// The body of a sequential loop.
    fn inside(&mut self, body: Vec<Node>) -> Vec<Node> {
        let outside = std::mem::replace(&mut self.is_in_loop, true);
        let body = self.list(body);
        self.is_in_loop = outside;
        body
    }

    /// Whether it is known that a loop is not worth two threads.
    fn is_small(&self, l: &For, sharing: &Sharing) -> bool {
        let least = if self.is_in_loop { self.sizes.least_inside } else { 2.0 * self.sizes.steps_of_chunk };
        match (l.count.as_i64(), float(sharing.steps)) {
            (Some(n), Some(steps)) => n as f64 * f64::from(l.lanes) * steps < least,
            (Some(n), None) => n < 2,
            (None, _) => false,
        }
    }

    fn cut(&mut self, l: For, sharing: Sharing) -> Vec<Node> {
        let has_copies = !sharing.sums.is_empty();
        let nodes = self.nodes(|this| {
            let mut copies = Copies::of(this, sharing.sums);
            let cuts = this.cuts(&l, sharing.steps, &copies);
            copies.allocate(this, cuts.n_chunks);
            let chunk = this.local("chunk", Elem::I64, false);
            let outside = this.chunks_around.replace(cuts.n_chunks);
            let body = this.nodes(|this| this.chunk(l, chunk, &cuts, &copies));
            this.chunks_around = outside;
            this.push(Node::For(Box::new(For {
                index: chunk,
                count: cuts.n_chunks,
                threads: Threads::Each,
                independence: Independence::None,
                lanes: 1,
                may_flush: false,
                body,
            })));
            copies.combine(this);
        });
        // Copies are of no use afterwards.
        if has_copies { vec![Node::Scope(nodes)] } else { nodes }
    }

    /// The body of the loop over chunks.
    fn chunk(&mut self, l: For, chunk: Local, cuts: &Cuts, copies: &Copies) {
        let mut body = l.body;
        let own = copies.open(self, chunk.into(), &mut body);
        let low = self.start_of(chunk.into(), cuts);
        let next = self.i64(Instruction::Add, chunk.into(), Operand::i64(1));
        let high = self.start_of(next, cuts);
        let count = self.i64(Instruction::Sub, high, low);
        let index = self.local("k", Elem::I64, false);
        let number = Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args: vec![low, index.into()] };
        let mut nodes = vec![Node::Let(l.index, number)];
        nodes.extend(self.list(body));
        self.push(Node::For(Box::new(For { index, count, body: nodes, ..l })));
        copies.close(self, chunk.into(), &own);
    }

    /// Where a loop is cut.
    fn cuts(&mut self, l: &For, steps: Operand, copies: &Copies) -> Cuts {
        let n_iterations = self.i64(Instruction::Max, l.count, Operand::i64(0));
        let trips = self.float_of(n_iterations);
        let steps = self.f64(Instruction::Mul, steps, number(l.lanes.into()));
        let work = self.f64(Instruction::Mul, trips, steps);
        let mut most = number(if copies.is_empty() { MOST_CHUNKS } else { MOST_COPIES });
        if let Some(around) = self.chunks_around {
            let around = self.float_of(around);
            most = self.f64(Instruction::Div, most, around);
        }
        let worth = self.f64(Instruction::Mul, work, number(1.0 / self.sizes.steps_of_chunk));
        let mut chunks = self.f64(Instruction::Min, worth, most);
        chunks = self.f64(Instruction::Min, chunks, trips);
        if !copies.is_empty() {
            let bytes = copies.bytes(self);
            let paid = self.f64(Instruction::Div, work, bytes);
            let paid = self.f64(Instruction::Mul, paid, number(1.0 / STEPS_PER_BYTE));
            let inputs = self.input_bytes();
            let room = self.f64(Instruction::Max, inputs, number(BYTES_OF_COPIES));
            let room = self.f64(Instruction::Div, room, bytes);
            chunks = self.f64(Instruction::Min, chunks, paid);
            chunks = self.f64(Instruction::Min, chunks, room);
        }
        if self.is_in_loop {
            let args = vec![number(self.sizes.least_inside), work];
            let pays =
                self.define("pays", Elem::Bool, Expr::Native { instruction: Instruction::Le, elem: Elem::F64, args });
            let args = vec![pays, chunks, number(1.0)];
            let select = Expr::Native { instruction: Instruction::Select, elem: Elem::F64, args };
            chunks = self.define("w", Elem::F64, select);
        }
        let cast = Expr::Native { instruction: Instruction::Cast(Elem::I64), elem: Elem::F64, args: vec![chunks] };
        // What is no number, because sizes overflow, becomes zero.
        let chunks = self.define("chunks", Elem::I64, cast);
        let n_chunks = self.i64(Instruction::Max, chunks, Operand::i64(1));
        let length = self.i64(Instruction::Div, n_iterations, n_chunks);
        let n_longer = self.i64(Instruction::Rem, n_iterations, n_chunks);
        Cuts { n_chunks, length, n_longer }
    }

    /// The number of the first iteration of a chunk.
    fn start_of(&mut self, chunk: Operand, cuts: &Cuts) -> Operand {
        let start = self.i64(Instruction::Mul, chunk, cuts.length);
        let longer = self.i64(Instruction::Min, chunk, cuts.n_longer);
        self.i64(Instruction::Add, start, longer)
    }

    /// The bytes of all parameters.
    fn input_bytes(&mut self) -> Operand {
        if let Some(known) = self.input_bytes {
            return known;
        }
        let tensors = self.f.params.iter().filter_map(|param| match param {
            Param::Tensor(tensor) => Some((tensor.elem, tensor.dims.clone())),
            Param::Scalar(_) => None,
        });
        let tensors: Vec<(Elem, Vec<Operand>)> = tensors.collect();
        let mut bytes = number(0.0);
        let nodes = self.nodes(|this| {
            for (elem, dims) in &tensors {
                let size = this.size_in_bytes(*elem, dims);
                bytes = this.f64(Instruction::Add, bytes, size);
            }
        });
        self.head.extend(nodes);
        self.input_bytes = Some(bytes);
        bytes
    }

    // ---- writing nodes

    fn push(&mut self, node: Node) {
        self.open.last_mut().expect("invariant: a list is open").push(node);
    }

    fn nodes(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Node> {
        self.open.push(Vec::new());
        write(self);
        self.open.pop().expect("invariant: it was opened here")
    }

    fn local(&mut self, name: &str, elem: Elem, is_mutable: bool) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable, lanes: 1 });
        Local(self.f.locals.len() as u32 - 1)
    }

    fn define(&mut self, name: &str, elem: Elem, expr: Expr) -> Operand {
        let local = self.local(name, elem, false);
        self.push(Node::Let(local, expr));
        local.into()
    }

    fn load(&mut self, name: &str, elem: Elem, from: Place) -> Operand {
        let local = self.local(name, elem, false);
        self.push(Node::Load(local, from));
        local.into()
    }

    /// A counted loop.
    fn each(&mut self, name: &str, count: Operand, independence: Independence, write: impl FnOnce(&mut Self, Operand)) {
        let index = self.local(name, Elem::I64, false);
        let body = self.nodes(|this| write(this, index.into()));
        let threads = Threads::One;
        self.push(Node::For(Box::new(For { index, count, threads, independence, lanes: 1, may_flush: false, body })));
    }

    fn i64(&mut self, instruction: Instruction, a: Operand, b: Operand) -> Operand {
        match (instruction, a.as_i64(), b.as_i64()) {
            (Instruction::Mul, Some(1), _) => b,
            (Instruction::Mul, _, Some(1)) => a,
            (Instruction::Add | Instruction::Sub, _, Some(0)) => a,
            _ => self.define("n", Elem::I64, Expr::Native { instruction, elem: Elem::I64, args: vec![a, b] }),
        }
    }

    fn f64(&mut self, instruction: Instruction, a: Operand, b: Operand) -> Operand {
        match (instruction, float(a), float(b)) {
            (Instruction::Add, Some(a), Some(b)) => number(a + b),
            (Instruction::Mul, Some(a), Some(b)) => number(a * b),
            (Instruction::Add, Some(0.0), _) | (Instruction::Mul, Some(1.0), _) => b,
            (Instruction::Mul, _, Some(1.0)) => a,
            _ => self.define("w", Elem::F64, Expr::Native { instruction, elem: Elem::F64, args: vec![a, b] }),
        }
    }

    /// An i64 as an f64.
    fn float_of(&mut self, n: Operand) -> Operand {
        let cast = Instruction::Cast(Elem::F64);
        match n.as_i64() {
            Some(n) => number(n as f64),
            None => self.define("w", Elem::F64, Expr::Native { instruction: cast, elem: Elem::I64, args: vec![n] }),
        }
    }

    /// The bytes of a tensor, an f64.
    fn size_in_bytes(&mut self, elem: Elem, extents: &[Operand]) -> Operand {
        extents.iter().fold(number(elem.bytes() as f64), |bytes, extent| {
            let extent = self.float_of(*extent);
            self.f64(Instruction::Mul, bytes, extent)
        })
    }
}

fn number(x: f64) -> Operand {
    Operand::Const(Const::float(Elem::F64, x))
}

fn float(operand: Operand) -> Option<f64> {
    match operand {
        Operand::Const(c) => c.as_float(),
        Operand::Local(_) => None,
    }
}
