//! The writer of a kernel: its types, constants, instructions and functions, and what is declared at its head.

use super::known::Known;
use super::register::{Format, Register};
use crate::features::{Features, FloatControls};
use crate::numbers::Numbers;
use cotan_ir::Elem;
use cotan_ops::Instruction;
use rspirv::binary::{Assemble, Disassemble};
use rspirv::dr::{self, Builder, InsertPoint, Operand};
use rspirv::spirv::{
    self, AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    GlslStd450Op, MemoryModel, Op, StorageClass, Word,
};
use std::collections::BTreeMap;

/// What the builder says where something is written outside of a block. The emitter keeps one open.
pub(super) const OPEN: &str = "invariant: the emitter has a function and a block open";

/// Words of a module in front of its instructions.
const HEAD: usize = 5;

/// A value in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(pub(crate) Word);

/// A kernel, ready for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    words: Vec<u32>,
    exits: usize,
    workgroup: u32,
    needs: Features,
}

impl Kernel {
    /// The SPIR-V module. Its entry is called `main`.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// How many instructions the module has.
    pub fn n_instructions(&self) -> usize {
        let (mut at, mut n) = (HEAD, 0);
        while let Some(first) = self.words.get(at) {
            at += (first >> 16).max(1) as usize;
            n += 1;
        }
        n
    }

    /// The module as text.
    pub fn assembly(&self) -> String {
        let module = rspirv::dr::load_words(&self.words);
        module.map_or_else(|error| format!("; {error:?}"), |module| module.disassemble())
    }

    /// In how many places a thread may end early.
    pub fn exits(&self) -> usize {
        self.exits
    }

    /// Threads of a workgroup.
    pub fn workgroup(&self) -> u32 {
        self.workgroup
    }

    /// Which of the optional features it uses.
    pub fn needs(&self) -> Features {
        self.needs
    }
}

/// Writes a kernel.
pub struct Emitter<'a> {
    pub(super) builder: Builder,
    pub(super) features: Features,
    /// Which instructions are the driver's own.
    pub(crate) numbers: &'a Numbers,
    pub(super) needs: Features,
    pub(super) types: BTreeMap<Register, Word>,
    pub(super) constants: BTreeMap<(Register, u64), Value>,
    pub(super) known: Known,
    /// The label of the block that is open.
    pub(super) block: Word,
    /// In how many places a thread may end early.
    pub(super) exits: usize,
    capabilities: Vec<Capability>,
    functions: Word,
    /// The replacements that are called, with their functions, and how many of them are written.
    replacements: Vec<(Instruction, Elem, Word)>,
    main: Word,
    workgroup: u32,
    interface: Vec<Word>,
    /// The address of the block of arguments.
    pub(super) arguments: Value,
    /// A zero that no driver knows to be one; in the kernel itself, not in functions.
    opaque_zero: Option<Value>,
    /// The number of the thread, among all threads.
    thread: Value,
}

impl<'a> Emitter<'a> {
    /// Begins a kernel for a device with these features, in workgroups of so many threads.
    pub fn new(features: Features, numbers: &'a Numbers, workgroup: u32) -> Emitter<'a> {
        let mut builder = Builder::new();
        builder.set_version(1, 5);
        builder.memory_model(AddressingModel::PhysicalStorageBuffer64, MemoryModel::GLSL450);
        let functions = builder.ext_inst_import("GLSL.std.450");
        let none = Value(0);
        let mut out = Emitter {
            builder,
            features,
            numbers,
            needs: Features { addresses: true, ..Features::default() },
            types: BTreeMap::new(),
            constants: BTreeMap::new(),
            known: Known::default(),
            block: 0,
            exits: 0,
            capabilities: Vec::new(),
            functions,
            replacements: Vec::new(),
            main: 0,
            workgroup,
            interface: Vec::new(),
            arguments: none,
            opaque_zero: None,
            thread: none,
        };
        out.declare(Capability::Shader);
        out.declare(Capability::PhysicalStorageBufferAddresses);
        out.begin();
        out
    }

    /// The entry, its variables, and what every kernel reads of them.
    fn begin(&mut self) {
        let (int, long) = (self.ty(Register::Int32), self.ty(Register::Int64));
        let vector = self.builder.type_vector(int, 3);
        let pointer = self.builder.type_pointer(None, StorageClass::Input, vector);
        let place = self.builder.variable(pointer, None, StorageClass::Input, None);
        self.builder.decorate(place, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
        let block = self.builder.type_struct([long]);
        self.builder.decorate(block, Decoration::Block, []);
        self.builder.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let pointer = self.builder.type_pointer(None, StorageClass::PushConstant, block);
        let pushed = self.builder.variable(pointer, None, StorageClass::PushConstant, None);
        self.interface = vec![place, pushed];

        let void = self.builder.type_void();
        let signature = self.builder.type_function(void, []);
        self.main = self.builder.begin_function(void, None, FunctionControl::NONE, signature).expect(OPEN);
        self.block = self.builder.begin_block(None).expect(OPEN);
        let number = self.builder.load(vector, None, place, None, []).expect(OPEN);
        let number = self.part(Register::Int32, Value(number), 0);
        self.thread = self.op(Op::UConvert, Register::Int64, &[number]);
        let pointer = self.builder.type_pointer(None, StorageClass::PushConstant, long);
        let zero = self.int(Register::Int32, 0);
        let place = self.builder.access_chain(pointer, None, pushed, [zero.0]).expect(OPEN);
        self.arguments = Value(self.builder.load(long, None, place, None, []).expect(OPEN));
        self.opaque_zero = Some(self.masked(Register::Int64, self.arguments, 7));
    }

    /// The same number, of whose range a driver can't find out anything. Mesa asks for ranges anew with every pass, back
    /// through all of the code that a number comes from, which takes seconds where fused operations are many.
    pub(crate) fn opaque(&mut self, format: Format, a: Value) -> Value {
        let Some(zero) = self.opaque_zero else { return a };
        let zero = if format.bits == Register::Int64 { zero } else { self.op(Op::UConvert, format.bits, &[zero]) };
        let bits = self.bits(format.bits, a);
        let bits = self.xor(format.bits, bits, zero);
        self.bits(format.float, bits)
    }

    /// The number of the thread among all that run, an i64.
    pub fn thread(&self) -> Value {
        self.thread
    }

    /// Threads of a workgroup.
    pub(crate) fn workgroup(&self) -> u32 {
        self.workgroup
    }

    /// Whether the device computes with `f64`.
    pub(crate) fn has_double(&self) -> bool {
        self.features.float64
    }

    /// Ends the kernel.
    pub fn finish(mut self) -> Kernel {
        self.builder.ret().expect(OPEN);
        self.builder.end_function().expect(OPEN);
        // A replacement may call others, which are then written after it.
        let mut written = 0;
        while let Some((instruction, elem, function)) = self.replacements.get(written).copied() {
            self.write_replacement(instruction, elem, function);
            written += 1;
        }
        self.control_floats();
        self.builder.entry_point(ExecutionModel::GLCompute, self.main, "main", &self.interface);
        self.builder.execution_mode(self.main, ExecutionMode::LocalSize, [self.workgroup, 1, 1]);
        Kernel {
            words: self.builder.module().assemble(),
            exits: self.exits,
            workgroup: self.workgroup,
            needs: self.needs,
        }
    }

    /// Demands of the float types in use what the device offers for them.
    fn control_floats(&mut self) {
        if self.types.contains_key(&Register::Float32) {
            self.needs.controls32 = self.features.controls32;
            self.control(32, self.needs.controls32);
        }
        if self.types.contains_key(&Register::Float64) {
            self.needs.controls64 = self.features.controls64;
            self.control(64, self.needs.controls64);
        }
    }

    fn control(&mut self, width: u32, controls: FloatControls) {
        let FloatControls { preserves_special, rounds_to_even, keeps_subnormals } = controls;
        let modes = [
            (preserves_special, Capability::SignedZeroInfNanPreserve, ExecutionMode::SignedZeroInfNanPreserve),
            (rounds_to_even, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE),
            (keeps_subnormals, Capability::DenormPreserve, ExecutionMode::DenormPreserve),
        ];
        for (offered, capability, mode) in modes {
            if offered {
                self.declare(capability);
                self.builder.execution_mode(self.main, mode, [width]);
            }
        }
    }

    /// Declares a capability, once.
    pub(super) fn declare(&mut self, capability: Capability) {
        if !self.capabilities.contains(&capability) {
            self.capabilities.push(capability);
            self.builder.capability(capability);
        }
    }

    /// The type of a register.
    pub(crate) fn ty(&mut self, register: Register) -> Word {
        if let Some(ty) = self.types.get(&register) {
            return *ty;
        }
        let ty = match register {
            Register::Bool => self.builder.type_bool(),
            Register::Int32 => self.builder.type_int(32, 0),
            Register::Int64 => {
                self.declare(Capability::Int64);
                self.needs.int64 = true;
                self.builder.type_int(64, 0)
            }
            Register::Float32 => self.builder.type_float(32, None),
            Register::Float64 => {
                self.declare(Capability::Float64);
                self.needs.float64 = true;
                self.builder.type_float(64, None)
            }
        };
        self.types.insert(register, ty);
        ty
    }

    /// Appends an instruction whose operands are values. Arithmetic on floats is not contracted.
    pub(crate) fn op(&mut self, op: Op, register: Register, args: &[Value]) -> Value {
        let id = self.builder.id();
        self.op_as(id, op, register, args)
    }

    /// The same, for a value that has its name already.
    pub(super) fn op_as(&mut self, id: Word, op: Op, register: Register, args: &[Value]) -> Value {
        let ty = self.ty(register);
        let is_arithmetic = matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv);
        let mut operands = Vec::new();
        for value in args {
            let value = if is_arithmetic || op == Op::Select { self.hidden_zero(register, *value) } else { *value };
            operands.push(Operand::IdRef(value.0));
        }
        self.append(dr::Instruction::new(op, Some(ty), Some(id), operands));
        if is_arithmetic {
            self.builder.decorate(id, Decoration::NoContraction, []);
        }
        Value(id)
    }

    /// The value, unless it is a constant zero: then one that no driver knows to be zero. Mesa leaves out sums, products and
    /// quotients with a zero, and so loses the signs of zeros and NaN. A difference of -0.0 is a sum with a zero to it. It sees
    /// a zero through memory, variables and choices as well.
    pub(crate) fn hidden_zero(&mut self, register: Register, value: Value) -> Value {
        let Some(zero) = self.opaque_zero.filter(|_| register.is_float()) else { return value };
        let sign = 1 << (register.bits() - 1);
        let known = [0, sign].into_iter().find(|bits| self.constants.get(&(register, *bits)) == Some(&value));
        let Some(bits) = known else { return value };
        let (integer, zero) = match register.bits() {
            64 => (Register::Int64, zero),
            _ => (Register::Int32, self.op(Op::UConvert, Register::Int32, &[zero])),
        };
        let sign = self.bits_constant(integer, bits);
        let number = self.or(integer, zero, sign);
        self.bits(register, number)
    }

    /// Appends a call of a function of the extended set.
    pub(crate) fn function(&mut self, function: GlslStd450Op, register: Register, args: &[Value]) -> Value {
        let ty = self.ty(register);
        let operands: Vec<Operand> = args.iter().map(|value| Operand::IdRef(value.0)).collect();
        Value(self.builder.ext_inst(ty, None, self.functions, function as u32, operands).expect(OPEN))
    }

    /// An element of a vector.
    fn part(&mut self, register: Register, vector: Value, number: u32) -> Value {
        let ty = self.ty(register);
        Value(self.builder.composite_extract(ty, None, vector.0, [number]).expect(OPEN))
    }

    pub(super) fn append(&mut self, instruction: dr::Instruction) {
        self.builder.insert_into_block(InsertPoint::End, instruction).expect(OPEN);
    }

    /// Calls what stands in for an instruction that the driver gets wrong. Its function is written after the kernel.
    pub(super) fn call_replacement(
        &mut self,
        instruction: Instruction,
        elem: Elem,
        result: Register,
        args: &[Value],
    ) -> Value {
        let known = self.replacements.iter().find(|row| (row.0, row.1) == (instruction, elem));
        let function = known.map(|row| row.2).unwrap_or_else(|| {
            let function = self.builder.id();
            self.replacements.push((instruction, elem, function));
            function
        });
        let ty = self.ty(result);
        let args = args.iter().map(|value| value.0);
        Value(self.builder.function_call(ty, None, function, args).expect(OPEN))
    }

    /// Writes the function of a replacement.
    fn write_replacement(&mut self, instruction: Instruction, elem: Elem, function: Word) {
        self.opaque_zero = None;
        let register = Register::of(elem);
        let result = self.ty(super::instruction::result(instruction, elem));
        let parameter = self.ty(register);
        let parameters = vec![parameter; super::instruction::arity(instruction)];
        let signature = self.builder.type_function(result, parameters.clone());
        self.builder.begin_function(result, Some(function), FunctionControl::PURE, signature).expect(OPEN);
        let mut args = Vec::new();
        for ty in parameters {
            args.push(Value(self.builder.function_parameter(ty).expect(OPEN)));
        }
        self.block = self.builder.begin_block(None).expect(OPEN);
        let value = self.replacement(instruction, elem, &args);
        self.builder.ret_value(value.0).expect(OPEN);
        self.builder.end_function().expect(OPEN);
    }

    /// Ends the open block by a jump and opens another.
    pub(super) fn jump(&mut self, to: spirv::Word) {
        self.builder.branch(to).expect(OPEN);
        self.open(to);
    }

    /// Opens a block.
    pub(super) fn open(&mut self, label: spirv::Word) {
        self.block = self.builder.begin_block(Some(label)).expect(OPEN);
    }
}
