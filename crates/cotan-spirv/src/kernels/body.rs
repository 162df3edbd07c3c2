//! The body of a kernel: its scalars, and what each node becomes.

use super::layout::{NUMBERS, Report, Word, layout};
use super::memory::Memory;
use super::{Ends, LONG, Stage, Unsupported};
use crate::emit::{Emitter, Kernel as Module, Register, Value, Variable};
use cotan_device::{Kernel, Plan};
use cotan_ir::{Const, Elem};
use cotan_loops::{Buffer, Expr, Local, LoopFunction, Node, Operand, combining, heading};
use cotan_ops::{Instruction, instruction_kernel};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

/// A kernel that is being written.
pub(super) struct Body<'b> {
    pub(super) out: Emitter<'b>,
    pub(super) plan: &'b Plan,
    pub(super) kernel: &'b Kernel,
    pub(super) stage: Stage,
    pub(super) layout: Vec<Word>,
    /// The words of the layout, read once where the kernel begins.
    words: Vec<Value>,
    /// What immutable locals are.
    values: FxHashMap<Local, Value>,
    /// Where mutable locals lie.
    variables: FxHashMap<Local, Variable>,
    /// Where buffers lie.
    pub(super) memory: FxHashMap<Buffer, Memory>,
    /// The arrays that grow.
    pub(super) growing: FxHashMap<Buffer, super::memory::Growth>,
    /// The number of the iteration.
    iteration: Value,
    n_checks: i64,
    /// Whether a NaN was stored to a result that is watched; there is none where the kernel stores to no such result.
    pub(super) has_nan: Option<Variable>,
    /// The sums of the reductions around.
    pub(super) reducing: Vec<super::reduction::Reducing>,
}

impl<'b> Body<'b> {
    pub(super) fn new(mut out: Emitter<'b>, plan: &'b Plan, kernel: &'b Kernel, stage: Stage) -> Body<'b> {
        let iteration = out.int(LONG, 0);
        let layout = layout(plan, kernel, stage);
        let words = (0..layout.len() as u32).map(|number| out.argument(number)).collect();
        Body {
            out,
            plan,
            kernel,
            stage,
            layout,
            words,
            values: FxHashMap::default(),
            variables: FxHashMap::default(),
            memory: FxHashMap::default(),
            growing: FxHashMap::default(),
            iteration,
            n_checks: 0,
            has_nan: None,
            reducing: Vec::new(),
        }
    }

    /// Says what the host gives.
    pub(super) fn open(&mut self) {
        for local in &self.kernel.arguments {
            let bits = self.word(Word::Scalar(*local));
            let value = self.of_word(self.f().elem(*local), bits);
            self.define(*local, value);
        }
        self.open_memory();
    }

    pub(super) fn finish(mut self) -> Module {
        self.report_needs();
        self.report_nan();
        self.out.finish()
    }

    pub(super) fn f(&self) -> &'b LoopFunction {
        &self.plan.function
    }

    // ---- arguments and cells

    /// A word of the block of arguments.
    pub(super) fn word(&mut self, word: Word) -> Value {
        let number = self.layout.iter().position(|other| *other == word);
        self.words[number.expect("invariant: a kernel asks for words of its layout")]
    }

    /// The address of a word of an array of words.
    pub(super) fn word_at(&mut self, array: Value, number: usize) -> Value {
        let number = self.out.int(LONG, number as i64);
        self.out.address(Elem::U64, array, number)
    }

    /// A number of a type whose bits are a word.
    pub(super) fn of_word(&mut self, elem: Elem, bits: Value) -> Value {
        self.out.of_word(elem, bits)
    }

    pub(super) fn read_cells(&mut self) {
        self.read_scalars(&self.kernel.reads);
        let cells = self.word(Word::Cells);
        self.read_names(cells);
    }

    pub(super) fn write_cells(&mut self) {
        self.write_scalars(&self.kernel.writes);
        let cells = self.word(Word::Cells);
        self.write_names(cells);
    }

    /// Gives scalars what is in their cells.
    pub(super) fn read_scalars(&mut self, locals: &[Local]) {
        let cells = self.word(Word::Cells);
        for local in locals {
            let at = self.word_at(cells, self.plan.cells.locals[local].0 as usize);
            let bits = self.out.load(Elem::U64, at);
            let value = self.of_word(self.f().elem(*local), bits);
            self.define(*local, value);
        }
    }

    /// Leaves scalars in their cells.
    pub(super) fn write_scalars(&mut self, locals: &[Local]) {
        let cells = self.word(Word::Cells);
        for local in locals {
            let at = self.word_at(cells, self.plan.cells.locals[local].0 as usize);
            let value = self.operand((*local).into());
            let bits = self.out.as_word(self.f().elem(*local), value);
            self.out.store(Elem::U64, at, bits);
        }
    }

    // ---- threads

    /// Ends the thread if an earlier launch failed.
    pub(super) fn stop_after_failures(&mut self) {
        let (report, launch) = (self.word(Word::Report), self.word(Word::Launch));
        let at = self.word_at(report, Report::LAUNCH);
        let failed = self.out.load(Elem::U64, at);
        let stops = self.out.compare(Op::ULessThan, failed, launch);
        self.out.leave_if(stops, |_| {});
    }

    /// Ends the thread if the condition of the kernel does not hold.
    pub(super) fn stop_unless_wanted(&mut self) {
        let Some(condition) = self.kernel.only_if else { return };
        let (cells, cell) = (self.word(Word::Cells), self.plan.cells.locals[&condition]);
        let at = self.word_at(cells, cell.0 as usize);
        let (bits, zero) = (self.out.load(Elem::U64, at), self.out.int(LONG, 0));
        let stops = self.out.compare(Op::IEqual, bits, zero);
        self.out.leave_if(stops, |_| {});
    }

    /// Ends all threads but the first.
    pub(super) fn only_first_thread(&mut self) {
        let (thread, zero) = (self.out.thread(), self.out.int(LONG, 0));
        let is_other = self.out.compare(Op::INotEqual, thread, zero);
        self.out.leave_if(is_other, |_| {});
    }

    /// All iterations, in their order.
    pub(super) fn iterations(&mut self) -> Ends {
        [self.out.int(LONG, 0), self.word(Word::Iterations), self.out.int(LONG, 1)]
    }

    /// Those of the thread.
    pub(super) fn shared_iterations(&mut self) -> Ends {
        [self.out.thread(), self.word(Word::Iterations), self.word(Word::Threads)]
    }

    pub(super) fn set_iteration(&mut self, iteration: Value) {
        self.iteration = iteration;
    }

    // ---- scalars

    pub(super) fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Const(c) => self.out.constant(c),
            Operand::Local(local) if self.f().locals[local.index()].is_mutable => {
                let variable = self.variable(local);
                self.out.get(variable)
            }
            Operand::Local(local) => *self.values.get(&local).expect("invariant: a local is defined before it is used"),
        }
    }

    pub(super) fn define(&mut self, local: Local, value: Value) {
        if self.f().locals[local.index()].is_mutable {
            let variable = self.variable(local);
            self.out.set(variable, value);
        } else {
            self.values.insert(local, value);
        }
    }

    fn variable(&mut self, local: Local) -> Variable {
        let register = Register::of(self.f().elem(local));
        let out = &mut self.out;
        *self.variables.entry(local).or_insert_with(|| out.variable(register))
    }

    fn expression(&mut self, expr: &Expr) -> Result<Value, Unsupported> {
        match expr {
            Expr::Copy(operand) => Ok(self.operand(*operand)),
            Expr::Native { instruction, elem, args } => {
                let args: Vec<Value> = args.iter().map(|arg| self.operand(*arg)).collect();
                Ok(self.out.instruction(*instruction, *elem, &args)?)
            }
            Expr::Host { prim, elem, args } => {
                let args: Vec<Value> = args.iter().map(|arg| self.operand(*arg)).collect();
                self.host_function(*prim, *elem, &args)
            }
            Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
                Err(Unsupported::Node("lanes".to_owned()))
            }
        }
    }

    /// A sum, product or extreme of two values.
    pub(super) fn combined(
        &mut self,
        instruction: Instruction,
        elem: Elem,
        values: [Value; 2],
    ) -> Result<Value, Unsupported> {
        Ok(self.out.instruction(instruction, elem, &values)?)
    }

    // ---- nodes

    pub(super) fn nodes(&mut self, nodes: &[Node]) -> Result<(), Unsupported> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Unsupported> {
        match node {
            Node::Let(to, expr) => {
                let value = match cast_constant(expr) {
                    Some(constant) => self.out.constant(constant),
                    None => self.expression(expr)?,
                };
                self.define(*to, value);
            }
            Node::Set(to, value) => {
                let value = self.operand(*value);
                self.define(*to, value);
            }
            Node::Load(to, from) => {
                let value = self.load(*from);
                self.define(*to, value);
            }
            Node::Store(to, value) => {
                let value = self.operand(*value);
                self.store(*to, value);
            }
            Node::Combine { monoid, target, value } => {
                let value = self.operand(*value);
                return self.combine(combining(*monoid), *target, value);
            }
            Node::Copy { from, to, count } => return self.copy(*from, *to, *count),
            Node::Alloc { buffer, extents } => self.allocate(*buffer, extents),
            Node::StackExtend(buffer, count) => {
                let count = self.operand(*count);
                self.extend(*buffer, count);
            }
            Node::StackOpen(buffer) => self.open_stack(*buffer),
            Node::Bind { buffer, to } => self.bind(*buffer, *to),
            // What is counted is shown by a backend, and changes nothing.
            Node::CountRecord(..) => {}
            Node::Scope(body) | Node::Segment(body) => return self.nodes(body),
            Node::For(l) => return self.for_loop(l),
            Node::Reduce(reduction) => return self.reduction(reduction),
            Node::While(go, body) => return self.while_loop(*go, body),
            Node::If(cond, yes, no) => return self.branches(*cond, yes, no),
            Node::Switch(number, arms) => return self.switch(*number, arms),
            Node::Check { cond, kind: _, args, span: _ } => self.check(*cond, args),
            Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::PartialSums(_)
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. } => return Err(Unsupported::Node(heading(self.f(), node))),
        }
        Ok(())
    }

    /// Ends the thread where a condition does not hold, with a report.
    fn check(&mut self, cond: Operand, args: &[Operand]) {
        let holds = self.operand(cond);
        let fails = self.out.op(Op::LogicalNot, Register::Bool, &[holds]);
        let words: Vec<Value> = args
            .iter()
            .map(|arg| {
                let value = self.operand(*arg);
                self.out.as_word(self.f().operand_elem(*arg), value)
            })
            .collect();
        let (report, numbers, launch) = (self.word(Word::Report), self.word(Word::Numbers), self.word(Word::Launch));
        let check_at = self.word_at(report, Report::CHECK);
        let launch_at = self.word_at(report, Report::LAUNCH);
        let (iteration, number) = (self.iteration, self.n_checks);
        self.n_checks += 1;
        self.out.leave_if(fails, |out| {
            let (high, low) = (out.int(LONG, 1 << 16), out.int(LONG, number));
            let key = out.mul(LONG, iteration, high);
            let key = out.add(LONG, key, low);
            out.atomic_extreme(Op::AtomicUMin, check_at, key);
            out.atomic_extreme(Op::AtomicUMin, launch_at, launch);
            let (thread, row) = (out.thread(), out.int(LONG, NUMBERS as i64));
            let first = out.mul(LONG, thread, row);
            for (k, word) in words.iter().enumerate() {
                let k = out.int(LONG, k as i64);
                let at = out.add(LONG, first, k);
                let at = out.address(Elem::U64, numbers, at);
                out.store(Elem::U64, at, *word);
            }
        });
    }
}

/// What a cast of a constant gives. A device may lack the type of the constant alone.
fn cast_constant(expr: &Expr) -> Option<Const> {
    let Expr::Native { instruction: Instruction::Cast(to), elem, args } = expr else { return None };
    let [Operand::Const(from)] = args[..] else { return None };
    let cast = instruction_kernel(Instruction::Cast(*to), *elem)?;
    Some(Const::from_bits(*to, cast(&[from.bits()])))
}
