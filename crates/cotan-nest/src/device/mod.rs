//! The reference device: it runs the kernels of a plan thread by thread, on memory that it checks.
//!
//! Each thread has a frame of its own, in which only what the kernel asks for has a value, so a plan that forgets to hand
//! something over is a bug that is found. Threads run one after the other; that one of them reads or writes what another one
//! of the launch has written is a bug as well.

mod kernel;

use crate::error::RuntimeError;
use crate::growth::Growth;
use crate::machine::{Machine, Options};
use crate::memory::{Address, Mark, Memory};
use cotan_device::{ArrayAt, Capacities, Cell, Device, KernelId, Launch, Limits, Plan, RunError, Until};
use cotan_loops::BufferInfo;
use cotan_ops::Value;

/// The least there is, so that every array that grows is too small at first.
const FIRST_CAPACITY: i64 = 1;

/// Runs a plan, and gives its results.
pub fn run_plan(plan: &Plan, args: &[Value], options: &Options) -> Result<Vec<Value>, RunError> {
    run_plan_with_output(plan, args, options, &mut |_| {})
}

/// The same; output goes to `output`, piece by piece as it happens.
pub fn run_plan_with_output(
    plan: &Plan,
    args: &[Value],
    options: &Options,
    output: &mut dyn FnMut(&str),
) -> Result<Vec<Value>, RunError> {
    let mut device = ReferenceDevice {
        memory: Memory::new(options.max_bytes),
        max_bytes: options.max_bytes,
        scalars: Vec::new(),
        names: Vec::new(),
        steps_left: options.steps,
    };
    let limits = Limits { steps: options.steps, ..Limits::default() };
    let capacities = &mut Capacities::new(plan, FIRST_CAPACITY);
    let values = cotan_device::run(plan, &mut device, args, &limits, capacities, output)?;
    let has_nan = |value: &Value| value.floats().is_some_and(|numbers| numbers.iter().any(|x| x.is_nan()));
    let is_watched = |value: &&Value| !plan.function.watched.is_empty() && !value.dims.is_empty();
    if values.iter().filter(is_watched).any(has_nan) { Err(RunError::ForHost) } else { Ok(values) }
}

/// The device: its memory, and the cells.
struct ReferenceDevice {
    memory: Memory,
    max_bytes: u64,
    scalars: Vec<Option<u64>>,
    names: Vec<Option<Address>>,
    steps_left: u64,
}

impl Device for ReferenceDevice {
    type Address = Address;
    type Mark = Mark;
    type Kept = Vec<u64>;

    fn allocate(&mut self, info: &BufferInfo, count: i64, until: Until) -> Result<Address, RunError> {
        match until {
            Until::ScopeEnds => self.memory.allocate_in_arena(info, count),
            Until::CallEnds => self.memory.allocate(info, count),
        }
        .map_err(failure)
    }

    fn extend(&mut self, at: Address, info: &BufferInfo, [_, new]: [i64; 2]) -> Result<Address, RunError> {
        self.memory.extend(at, info, new).map_err(failure)?;
        Ok(at)
    }

    fn mark(&self) -> Mark {
        self.memory.mark()
    }

    fn release(&mut self, mark: Mark) {
        self.memory.release(mark);
    }

    fn end_call(&mut self, _mark: Mark) {
        self.memory = Memory::new(self.max_bytes);
    }

    fn plus(&self, at: Address, _info: &BufferInfo, elements: i64) -> Address {
        at.plus(elements)
    }

    fn write(&mut self, to: Address, _info: &BufferInfo, elements: &[u64]) -> Result<(), RunError> {
        self.memory.elements_mut(to, elements.len()).map_err(failure)?.copy_from_slice(elements);
        Ok(())
    }

    fn read(&mut self, from: Address, _info: &BufferInfo, count: usize) -> Result<Vec<u64>, RunError> {
        Ok(self.memory.elements(from, count).map_err(failure)?.to_vec())
    }

    fn copy(&mut self, from: Address, to: Address, _info: &BufferInfo, count: i64) -> Result<(), RunError> {
        self.memory.copy(from, to, usize::try_from(count).unwrap_or(0)).map_err(failure)
    }

    fn open_cells(&mut self, count: usize) -> Result<(), RunError> {
        self.scalars = vec![None; count];
        self.names = vec![None; count];
        Ok(())
    }

    fn scalars<const N: usize>(&mut self, cells: [Cell; N]) -> Result<[u64; N], RunError> {
        let mut found = [0; N];
        for (bits, cell) in found.iter_mut().zip(cells) {
            let written = self.scalars.get(cell.0 as usize).copied().flatten();
            *bits = written.ok_or_else(|| RunError::Bug(format!("cell {} is read before it is written", cell.0)))?;
        }
        Ok(found)
    }

    fn name(&mut self, cell: Cell) -> Result<Address, RunError> {
        let name = self.names.get(cell.0 as usize).copied().flatten();
        name.ok_or_else(|| RunError::Bug(format!("cell {} is read before it names memory", cell.0)))
    }

    fn launch(&mut self, plan: &Plan, kernel: KernelId, launch: &Launch<'_, Address>) -> Result<(), RunError> {
        let growth = Growth::new(&plan.growing, launch.capacities);
        let mut machine = Machine::of_kernel(std::mem::take(&mut self.memory), self.steps_left, growth);
        let outcome = kernel::Threads {
            plan,
            kernel: &plan.kernels[kernel.index()],
            launch,
            scalars: &mut self.scalars,
            names: &mut self.names,
        }
        .run(&mut machine);
        let needs = machine.take_back(&mut self.memory, &mut self.steps_left);
        outcome.map_err(failure)?;
        if needs.is_empty() { Ok(()) } else { Err(RunError::Needs(needs)) }
    }

    fn finish(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn keep(&mut self, array: &ArrayAt<'_, Address>) -> Result<Vec<u64>, RunError> {
        self.read(array.at, array.info, array.count)
    }
}

fn failure(error: RuntimeError) -> RunError {
    match error {
        RuntimeError::Check(failure) => RunError::Check { kind: failure.kind, args: failure.args, span: failure.span },
        RuntimeError::OutOfMemory(error) => RunError::OutOfMemory(error),
        RuntimeError::OutOfSteps => RunError::OutOfSteps,
        RuntimeError::TooLittleRoom | RuntimeError::Argument(_) | RuntimeError::Bug { .. } => {
            RunError::Bug(error.to_string())
        }
    }
}
