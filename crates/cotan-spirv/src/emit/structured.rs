//! Structured control flow over variables: branches, loops whose length only the run knows, and what ends a thread.

use super::emitter::{Emitter, OPEN, Value};
use super::register::Register;
use cotan_ir::Elem;
use rspirv::dr::{self, Operand};
use rspirv::spirv::{Capability, LoopControl, MemorySemantics, Op, Scope, SelectionControl, StorageClass, Word};

/// A variable of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    place: Word,
    register: Register,
}

/// An array of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadArray {
    place: Word,
    register: Register,
}

/// Two branches that are being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branches {
    otherwise: Word,
    after: Word,
}

/// A loop that is being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    head: Word,
    next: Word,
    after: Word,
}

impl Emitter<'_> {
    // ---- variables

    /// A new variable, with unspecified content.
    pub(crate) fn variable(&mut self, register: Register) -> Variable {
        let ty = self.ty(register);
        Variable { place: self.place(ty), register }
    }

    /// A new array of so many elements, with unspecified content.
    pub(crate) fn thread_array(&mut self, register: Register, elements: u32) -> ThreadArray {
        let (ty, length) = (self.ty(register), self.int(Register::Int32, elements.into()));
        let array = self.builder.type_array(ty, length.0);
        ThreadArray { place: self.place(array), register }
    }

    /// A place for a value of a type. Variables stand at the head of the function.
    fn place(&mut self, ty: Word) -> Word {
        let pointer = self.builder.type_pointer(None, StorageClass::Function, ty);
        let id = self.builder.id();
        let class = vec![Operand::StorageClass(StorageClass::Function)];
        let variable = dr::Instruction::new(Op::Variable, Some(pointer), Some(id), class);
        let function = self.builder.module_mut().functions.last_mut().expect(OPEN);
        function.blocks.first_mut().expect(OPEN).instructions.insert(0, variable);
        id
    }

    /// What a variable holds.
    pub(crate) fn get(&mut self, variable: Variable) -> Value {
        let ty = self.ty(variable.register);
        Value(self.builder.load(ty, None, variable.place, None, []).expect(OPEN))
    }

    /// Gives a variable a value.
    pub(crate) fn set(&mut self, variable: Variable, value: Value) {
        let value = self.hidden_zero(variable.register, value);
        self.builder.store(variable.place, value.0, None, []).expect(OPEN);
    }

    /// An element of an array of the thread.
    pub(crate) fn get_element(&mut self, array: ThreadArray, index: Value) -> Value {
        let place = self.element(array, index);
        self.get(Variable { place, register: array.register })
    }

    /// Gives an element of an array of the thread a value.
    pub(crate) fn set_element(&mut self, array: ThreadArray, index: Value, value: Value) {
        let place = self.element(array, index);
        self.set(Variable { place, register: array.register }, value);
    }

    fn element(&mut self, array: ThreadArray, index: Value) -> Word {
        let ty = self.ty(array.register);
        let pointer = self.builder.type_pointer(None, StorageClass::Function, ty);
        self.builder.access_chain(pointer, None, array.place, [index.0]).expect(OPEN)
    }

    // ---- control

    /// Begins two branches, the first of them.
    pub(crate) fn begin_branches(&mut self, condition: Value) -> Branches {
        let [then, otherwise, after] = [0; 3].map(|_| self.builder.id());
        self.builder.selection_merge(after, SelectionControl::NONE).expect(OPEN);
        self.builder.branch_conditional(condition.0, then, otherwise, []).expect(OPEN);
        self.open(then);
        Branches { otherwise, after }
    }

    /// Ends the first branch, and begins the second.
    pub(crate) fn otherwise(&mut self, branches: Branches) {
        self.builder.branch(branches.after).expect(OPEN);
        self.open(branches.otherwise);
    }

    /// Ends the second branch.
    pub(crate) fn end_branches(&mut self, branches: Branches) {
        self.jump(branches.after);
    }

    /// The thread ends where the condition holds, after what `last` writes.
    pub(crate) fn leave_if(&mut self, condition: Value, last: impl FnOnce(&mut Self)) {
        self.exits += 1;
        let [then, after] = [0; 2].map(|_| self.builder.id());
        self.builder.selection_merge(after, SelectionControl::NONE).expect(OPEN);
        self.builder.branch_conditional(condition.0, then, after, []).expect(OPEN);
        self.open(then);
        last(self);
        self.builder.ret().expect(OPEN);
        self.open(after);
    }

    /// Begins a loop, with what is asked before each turn.
    pub(crate) fn begin_loop(&mut self) -> Loop {
        let [head, asked, next, after] = [0; 4].map(|_| self.builder.id());
        self.jump(head);
        self.builder.loop_merge(after, next, LoopControl::NONE, []).expect(OPEN);
        self.jump(asked);
        Loop { head, next, after }
    }

    /// Begins a turn, if there is another one.
    pub(crate) fn begin_turn(&mut self, turn: Loop, goes_on: Value) {
        let inside = self.builder.id();
        self.builder.branch_conditional(goes_on.0, inside, turn.after, []).expect(OPEN);
        self.open(inside);
    }

    /// Ends a turn, and with it the loop.
    pub(crate) fn end_loop(&mut self, turn: Loop) {
        self.jump(turn.next);
        self.builder.branch(turn.head).expect(OPEN);
        self.open(turn.after);
    }

    // ---- memory that threads share

    /// Lowers or raises an unsigned word of 64 bits in memory, by `AtomicUMin` or `AtomicUMax`.
    pub(crate) fn atomic_extreme(&mut self, op: Op, address: Value, value: Value) {
        self.declare(Capability::Int64Atomics);
        self.needs.atomics64 = true;
        let ty = self.ty(Register::Int64);
        let (_, pointer) = self.pointer(Elem::U64, address);
        let scope = self.int(Register::Int32, i64::from(Scope::Device as u32));
        let relaxed = self.int(Register::Int32, i64::from(MemorySemantics::RELAXED.bits()));
        let id = self.builder.id();
        let operands = [pointer, scope, relaxed, value].iter().map(|value| Operand::IdRef(value.0)).collect();
        self.append(dr::Instruction::new(op, Some(ty), Some(id), operands));
    }
}
