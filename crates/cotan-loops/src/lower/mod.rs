//! From a function of the core IR to a loop nest.
//!
//! Lowering walks the blocks once, in order. Every variable becomes a [`Value`]: a scalar operand, or a tensor at a place
//! in a buffer. Three ideas keep copies away:
//! - a part of a tensor is a place in the same buffer ([`memory`] knows which variables share one);
//! - a tensor that nobody reads any more may be overwritten by the statement that replaces it, so an array that a loop
//!   carries and updates stays in one buffer;
//! - the memory where a result has to end up is offered to the statement that first allocates it.

mod access;
mod block_reduction;
mod call;
mod code;
mod matmul;
mod memory;
mod output;
mod par;
mod reduction;
mod scalar;
mod sequential;
mod switch;
mod tensor_op;
mod whole_reduction;
mod work;

use crate::context::NestContext;
use crate::liveness::Scopes;
use crate::node::{Argument, Buffer, BufferKind, LoopFunction, Node, Operand, Param, Place, Tensor};
use crate::pipeline::{run, verify_if_debug};
use crate::target::TargetKind;
use access::Accumulator;
use cotan_ir::{Atom, Block, Function, Op, Span, Stmt, Var, bug};
use matmul::Columns;
use memory::Destination;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
pub use tensor_op::lowers;

/// Lowers a function for a target, and runs the passes of that. The function must have passed the verifier.
pub fn lower(f: &Function, target: &'static TargetKind) -> LoopFunction {
    let mut nest = lower_only(f, target);
    run(target.after_lowering, &mut nest, &NestContext::default());
    nest
}

/// The same without the passes.
pub fn lower_only(f: &Function, target: &'static TargetKind) -> LoopFunction {
    let mut lowering = Lowering::new(f, target);
    lower_function(&mut lowering);
    let nest = LoopFunction {
        name: f.name.clone(),
        locals: lowering.locals,
        buffers: lowering.buffers,
        params: lowering.params,
        body: lowering.open.pop().unwrap_or_default(),
        results: lowering.results,
        regroups_sums: false,
        watched: Vec::new(),
    };
    if let Err(error) = verify_if_debug(&nest) {
        bug!("lowering to nests", nest, "`{}` breaks a rule of loop nests: {error}", f.name);
    }
    nest
}

/// What a variable has become.
#[derive(Clone, Debug)]
enum Value {
    Scalar(Operand),
    Tensor(Tensor),
}

impl Value {
    /// The operand of a structural operation.
    fn tensor(&self) -> Tensor {
        match self {
            Value::Tensor(tensor) => tensor.clone(),
            Value::Scalar(_) => {
                bug!("lowering to nests", format_args!("{self:?}"), "the operand of a structural operation is a tensor")
            }
        }
    }
}

/// The state of lowering one function.
struct Lowering<'a> {
    f: &'a Function,
    target: &'static TargetKind,
    /// The statement that binds a variable, and which result it is.
    definitions: FxHashMap<Var, (&'a Stmt, usize)>,

    locals: Vec<crate::node::LocalInfo>,
    buffers: Vec<crate::node::BufferInfo>,
    params: Vec<Param>,
    results: Vec<Argument>,
    /// The node lists that are being written, innermost last.
    open: Vec<Vec<Node>>,
    /// Whether the innermost loop body takes memory from the arena that must be released.
    allocates: bool,
    /// Bytes of small buffers in the function's frame so far.
    frame_bytes: i64,
    /// Whether a parallel loop encloses the current statement.
    is_in_par: bool,
    /// Whether a sequential loop does.
    is_in_loop: bool,
    /// The source text of the current statement, or of the innermost one around it that has any.
    span: Span,

    scopes: Scopes,
    values: FxHashMap<Var, Value>,
    accumulators: FxHashMap<Var, Accumulator>,
    /// The variables that lie in a buffer and may be read again.
    sharers: FxHashMap<Buffer, Vec<Var>>,
    destinations: Vec<Destination>,
    destination_of: FxHashMap<Var, usize>,
    /// The transposed matrices that nothing but products reads: they share the memory of what they were made of.
    transposed: FxHashSet<Var>,
    /// The matrices that were transposed in front of the loop that multiplies by them.
    columns: FxHashMap<Var, Columns>,
}

impl<'a> Lowering<'a> {
    fn new(f: &'a Function, target: &'static TargetKind) -> Lowering<'a> {
        let mut definitions = FxHashMap::default();
        index_definitions(&f.body, &mut definitions);
        Lowering {
            f,
            target,
            definitions,
            locals: Vec::new(),
            buffers: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            open: vec![Vec::new()],
            allocates: false,
            frame_bytes: 0,
            is_in_par: false,
            is_in_loop: false,
            span: Span::NONE,
            scopes: Scopes::default(),
            values: FxHashMap::default(),
            accumulators: FxHashMap::default(),
            sharers: FxHashMap::default(),
            destinations: Vec::new(),
            destination_of: FxHashMap::default(),
            transposed: matmul::only_multiplied(f),
            columns: FxHashMap::default(),
        }
    }

    /// Lowers the statements of a block whose frame is open.
    fn statements(&mut self, block: &'a Block) {
        for (position, stmt) in block.stmts.iter().enumerate() {
            self.scopes.advance(position);
            let around = self.span;
            if stmt.span.is_some() {
                self.span = stmt.span;
            }
            self.statement(stmt);
            self.span = around;
        }
        self.scopes.advance(block.stmts.len());
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        match &stmt.op {
            Op::Prim { prim, args } => self.prim(stmt.results[0], *prim, args),
            Op::Tensor { op, args, attrs } => self.tensor_op(stmt.results[0], *op, args, attrs),
            Op::Index { array, indices } => self.index(stmt.results[0], *array, indices),
            Op::Update { array, indices, value } => self.update(stmt, *array, indices, *value),
            Op::AccAdd { acc, indices, value } => self.acc_add(*acc, indices, *value),
            Op::Par(p) => self.par(stmt, p),
            Op::Loop(l) => self.sequential(stmt, l),
            Op::Switch { selector, arms } => self.switch(stmt, *selector, arms),
            Op::Call { callee, args } => self.call(stmt, callee, args),
            Op::Check { cond, kind, args, value } => {
                let check = self.check(*cond, *kind, args, stmt.span);
                self.push(check);
                let value = match self.value_of(*value) {
                    Value::Scalar(operand) => Value::Scalar(operand),
                    // The check may be what makes a run-time size a known one.
                    Value::Tensor(t) => Value::Tensor(Tensor { dims: self.dims(self.f.ty(stmt.results[0])), ..t }),
                };
                self.bind(stmt.results[0], value);
            }
        }
    }
}

fn lower_function(this: &mut Lowering) {
    this.scopes.open(&this.f.body, false);
    for (position, v) in this.f.params.iter().enumerate() {
        let param = param(this, position, *v);
        this.params.push(param);
    }
    let results = &this.f.body.results;
    let destinations: Vec<(Atom, Destination)> =
        results.iter().enumerate().map(|(k, r)| (*r, Destination::Result(k))).collect();
    this.offer(&destinations);
    this.statements(&this.f.body);
    this.results = function_results(this, results);
    this.scopes.close();
}

/// Puts the results of the function into their own memory, where they are not there.
fn function_results(this: &mut Lowering, results: &[Atom]) -> Vec<Argument> {
    let mut values: Vec<Value> = results.iter().map(|r| this.value_of(*r)).collect();
    let is_home =
        |this: &Lowering, t: &Tensor, k: usize| this.home_of(t.place) == Some(k) && t.place.offset.as_i64() == Some(0);
    let mut away = BTreeSet::new();
    for (k, value) in values.iter().enumerate() {
        if let Value::Tensor(t) = value
            && !is_home(this, t, k)
        {
            away.insert(k);
        }
    }
    // What lies in memory that another result is about to take must get out of its way.
    for k in &away {
        if let Value::Tensor(t) = &values[*k]
            && this.home_of(t.place).is_some_and(|home| away.contains(&home))
        {
            values[*k] = Value::Tensor(this.saved(&t.clone()));
        }
    }
    let arguments = values.into_iter().enumerate().map(|(k, value)| match value {
        Value::Scalar(operand) => Argument::Scalar(operand),
        Value::Tensor(from) if away.contains(&k) => {
            let to = this.allocate_result("result", from.elem, from.dims.clone(), k);
            this.copy_tensor(&from, to.place);
            Argument::Tensor(to)
        }
        Value::Tensor(tensor) => Argument::Tensor(tensor),
    });
    arguments.collect()
}

fn param(this: &mut Lowering, position: usize, v: Var) -> Param {
    let ty = this.f.ty(v);
    if ty.is_scalar() {
        let local = this.new_local(this.f.name_of(v), ty.elem, false);
        this.bind(v, Value::Scalar(local.into()));
        return Param::Scalar(local);
    }
    let buffer = this.new_buffer(this.f.name_of(v), ty.elem, BufferKind::Param(position));
    let place = Place { buffer, offset: Operand::i64(0) };
    let tensor = Tensor { place, elem: ty.elem, dims: this.dims(ty) };
    this.bind(v, Value::Tensor(tensor.clone()));
    Param::Tensor(tensor)
}

fn index_definitions<'a>(block: &'a Block, definitions: &mut FxHashMap<Var, (&'a Stmt, usize)>) {
    for stmt in &block.stmts {
        for (k, v) in stmt.results.iter().enumerate() {
            definitions.insert(*v, (stmt, k));
        }
        stmt.op.blocks().iter().for_each(|b| index_definitions(b, definitions));
    }
}
