//! The host: takes the steps of a plan on a device. Its scalars are integers and conditions, a few for each launch, so it
//! interprets them.

mod ahead;
mod host;
mod scalars;

use crate::capacity::Capacities;
use crate::device::{ArrayAt, Device, Launch, RunError, Until};
use crate::plan::{Cell, Plan, Step};
use cotan_ir::{Const, Elem};
use cotan_loops::{Argument, ArgumentShape, Buffer, BufferInfo, Local, Operand, Param, Place, Tensor, check_shapes};
use cotan_ops::stop::Stop;
use cotan_ops::{ElementCount, Value};
use rustc_hash::FxHashMap;

/// What a run may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Steps of the host.
    pub steps: u64,
    /// What stops it: the host looks before each step, so a kernel that runs is waited for.
    pub stop: Option<Stop>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: u64::MAX, stop: None }
    }
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a, A> {
    /// A value of the host.
    Value(&'a Value),
    /// An array that lies on the device, with as many elements as its extents say.
    Array {
        /// Type of the elements.
        elem: Elem,
        /// Extents, outermost first.
        dims: &'a [i64],
        /// Where it lies.
        at: A,
    },
}

/// A result of a call.
#[derive(Clone, Debug)]
pub enum Found<K> {
    /// A value of the host.
    Value(Value),
    /// An array that has stayed on the device.
    Array {
        /// Type of the elements.
        elem: Elem,
        /// Extents, outermost first.
        dims: Vec<i64>,
        /// The array.
        kept: K,
    },
}

/// Where the arrays go that a call gives. Its scalars go to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// To the host.
    ToHost,
    /// They stay on the device.
    Stay,
}

/// Runs a plan, and gives the results. What it prints goes to `output`. Where a
/// capacity is too small it is raised, and the call begins anew.
pub fn run<D: Device>(
    plan: &Plan,
    device: &mut D,
    args: &[Value],
    limits: &Limits,
    capacities: &mut Capacities,
    output: &mut dyn FnMut(&str),
) -> Result<Vec<Value>, RunError> {
    let args: Vec<Given<'_, D::Address>> = args.iter().map(Given::Value).collect();
    let call = Call { plan, args: &args, results: Results::ToHost, limits };
    let found = run_call(&call, device, capacities, output)?;
    let value = |found| match found {
        Found::Value(value) => Ok(value),
        Found::Array { .. } => Err(RunError::Bug("an array has stayed on the device".to_owned())),
    };
    found.into_iter().map(value).collect()
}

/// What is called, with what, and how.
#[derive(Debug)]
pub struct Call<'c, A> {
    /// The plan.
    pub plan: &'c Plan,
    /// The arguments.
    pub args: &'c [Given<'c, A>],
    /// Where its arrays go.
    pub results: Results,
    /// What it may use.
    pub limits: &'c Limits,
}

/// Runs a plan whose arguments and results may lie on the device, as [`run`] does.
pub fn run_call<D: Device>(
    call: &Call<'_, D::Address>,
    device: &mut D,
    capacities: &mut Capacities,
    output: &mut dyn FnMut(&str),
) -> Result<Vec<Found<D::Kept>>, RunError> {
    let shapes: Vec<ArgumentShape<'_>> = call.args.iter().map(Given::shape).collect();
    check_shapes(&call.plan.function, &shapes).map_err(RunError::Arguments)?;
    let mark = device.mark();
    let mut n_written = 0;
    loop {
        let mut n_pieces = 0;
        // What an earlier try has written is not written twice.
        let mut write = |piece: &str| {
            n_pieces += 1;
            if n_pieces > n_written {
                output(piece);
                n_written = n_pieces;
            }
        };
        let found = once(call, device, capacities, &mut write);
        device.end_call(mark);
        match found {
            Err(RunError::Needs(needs)) if capacities.raise(&needs) => {}
            found => return found,
        }
    }
}

impl<A> Given<'_, A> {
    fn shape(&self) -> ArgumentShape<'_> {
        match self {
            Given::Value(value) => ArgumentShape::from(*value),
            Given::Array { elem, dims, .. } => {
                ArgumentShape { elem: *elem, dims, scalar: None, is_whole: ElementCount::of(dims).is_some() }
            }
        }
    }
}

fn once<D: Device>(
    call: &Call<'_, D::Address>,
    device: &mut D,
    capacities: &Capacities,
    output: &mut dyn FnMut(&str),
) -> Result<Vec<Found<D::Kept>>, RunError> {
    let (plan, f) = (call.plan, &call.plan.function);
    let mut host = Host {
        plan,
        device,
        state: State {
            scalars: vec![0; f.locals.len()],
            memory: vec![None; f.buffers.len()],
            kept: FxHashMap::default(),
            capacities: capacities.all().to_vec(),
        },
        steps_left: call.limits.steps,
        stop: call.limits.stop.as_ref(),
        output,
    };
    host.device.open_cells(plan.cells.count())?;
    for (param, arg) in f.params.iter().zip(call.args) {
        host.take(param, arg)?;
    }
    host.list(&plan.steps)?;
    host.results(&f.results, call.results)
}

/// A call that is running.
struct Host<'h, D: Device> {
    plan: &'h Plan,
    device: &'h mut D,
    state: State<D::Address>,
    steps_left: u64,
    stop: Option<&'h Stop>,
    output: &'h mut dyn FnMut(&str),
}

/// What the host knows at some time of a call.
#[derive(Clone)]
struct State<A> {
    /// The values of scalars, by local.
    scalars: Vec<u64>,
    /// Where buffers lie, by buffer.
    memory: Vec<Option<A>>,
    /// Arrays that no scope releases, of known size or results.
    kept: FxHashMap<Buffer, A>,
    /// How many elements there is room for in what grows, by number.
    capacities: Vec<i64>,
}

impl<'h, D: Device> Host<'h, D> {
    fn list(&mut self, steps: &'h [Step]) -> Result<(), RunError> {
        steps.iter().try_for_each(|step| {
            self.spend()?;
            self.step(step)
        })
    }

    fn step(&mut self, step: &'h Step) -> Result<(), RunError> {
        match step {
            Step::Node(node) => {
                let outcome = self.node(node);
                self.behind_kernels(outcome)
            }
            Step::Launch(id) => {
                let State { scalars, memory, capacities, .. } = &self.state;
                let launch = Launch { scalars, memory, capacities };
                let outcome = self.device.launch(self.plan, *id, &launch);
                self.behind_kernels(outcome)
            }
            Step::ReadBack(local) => {
                let [bits] = self.device.scalars([self.cell(*local)?])?;
                self.set(*local, bits);
                Ok(())
            }
            Step::ReadName(buffer) => {
                let Some(cell) = self.plan.cells.buffers.get(buffer) else {
                    return Err(RunError::Bug(format!("`{}` has no cell", self.info(*buffer).name)));
                };
                self.state.memory[buffer.index()] = Some(self.device.name(*cell)?);
                Ok(())
            }
            Step::Scope(body) => {
                let mark = self.device.mark();
                self.list(body)?;
                self.device.release(mark);
                Ok(())
            }
            Step::For { index, count, body } => {
                for k in 0..self.int(*count) {
                    self.spend()?;
                    self.set(*index, k as u64);
                    self.list(body)?;
                }
                Ok(())
            }
            Step::While(go, body) => {
                while self.bits((*go).into()) != 0 {
                    self.spend()?;
                    self.list(body)?;
                }
                Ok(())
            }
            Step::Rounds(rounds) => self.rounds(rounds),
            Step::If(cond, yes, no) => self.list(if self.bits(*cond) != 0 { yes } else { no }),
            Step::Switch(number, arms) => {
                let last = arms.len().saturating_sub(1);
                let number = usize::try_from(self.int(*number).max(0)).map_or(last, |n| n.min(last));
                self.list(&arms[number])
            }
        }
    }

    /// What a step gave. Where it failed, kernels in front of it come first: they may still have to run.
    fn behind_kernels<T>(&mut self, outcome: Result<T, RunError>) -> Result<T, RunError> {
        outcome.or_else(|error| self.device.finish().and(Err(error)))
    }

    fn spend(&mut self) -> Result<(), RunError> {
        if self.stop.is_some_and(Stop::is_requested) {
            return Err(RunError::Stopped);
        }
        self.steps_left = self.steps_left.checked_sub(1).ok_or(RunError::OutOfSteps)?;
        Ok(())
    }

    /// Takes an argument.
    fn take(&mut self, param: &Param, arg: &Given<'_, D::Address>) -> Result<(), RunError> {
        match (param, arg) {
            (Param::Scalar(local), Given::Value(value)) => {
                self.set(*local, value.bits.first().copied().unwrap_or_default());
            }
            (Param::Scalar(_), Given::Array { .. }) => {
                return Err(RunError::Arguments("a scalar is given by the host".to_owned()));
            }
            (Param::Tensor(tensor), Given::Value(value)) => {
                let info = self.info(tensor.place.buffer);
                let at = self.device.allocate(info, value.bits.len() as i64, Until::CallEnds)?;
                self.device.write(at, info, &value.bits)?;
                self.state.memory[tensor.place.buffer.index()] = Some(at);
            }
            (Param::Tensor(tensor), Given::Array { at, .. }) => {
                self.state.memory[tensor.place.buffer.index()] = Some(*at)
            }
        }
        Ok(())
    }

    /// What the call gives, once all of it has run.
    fn results(&mut self, pieces: &[Argument], to: Results) -> Result<Vec<Found<D::Kept>>, RunError> {
        let mut found = Vec::new();
        let (mut arrays, mut read) = (Vec::new(), Vec::new());
        for piece in pieces {
            let tensor = match piece {
                Argument::Scalar(operand) => {
                    let elem = self.plan.function.operand_elem(*operand);
                    found.push(Found::Value(Const::from_bits(elem, self.bits(*operand)).into()));
                    continue;
                }
                Argument::Tensor(tensor) => tensor,
            };
            let (elem, dims) = (tensor.elem, self.ints(&tensor.dims));
            let array = self.array(tensor.place, &dims)?;
            found.push(match to {
                Results::Stay => {
                    let kept = self.device.keep(&array);
                    Found::Array { elem, dims, kept: self.behind_kernels(kept)? }
                }
                Results::ToHost => {
                    read.push(found.len());
                    arrays.push(array);
                    Found::Value(Value { elem, dims, bits: Vec::new() })
                }
            });
        }
        for (at, elements) in read.into_iter().zip(self.device.finish_with(&arrays)?) {
            if let Found::Value(value) = &mut found[at] {
                value.bits = elements;
            }
        }
        Ok(found)
    }

    // ---- what the host knows

    /// The cell of a scalar that the device has.
    fn cell(&self, local: Local) -> Result<Cell, RunError> {
        let cell = self.plan.cells.locals.get(&local).copied();
        cell.ok_or_else(|| RunError::Bug(format!("local {} has no cell", local.0)))
    }

    fn bits(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Const(c) => c.bits(),
            Operand::Local(local) => self.state.scalars[local.index()],
        }
    }

    fn int(&self, operand: Operand) -> i64 {
        self.bits(operand) as i64
    }

    fn ints(&self, operands: &[Operand]) -> Vec<i64> {
        operands.iter().map(|operand| self.int(*operand)).collect()
    }

    fn set(&mut self, local: Local, bits: u64) {
        self.state.scalars[local.index()] = bits;
    }

    fn info(&self, buffer: Buffer) -> &'h BufferInfo {
        &self.plan.function.buffers[buffer.index()]
    }

    fn address(&self, place: Place) -> Result<D::Address, RunError> {
        let info = self.info(place.buffer);
        match self.state.memory[place.buffer.index()] {
            Some(at) => Ok(self.device.plus(at, info, self.int(place.offset))),
            None => Err(RunError::Bug(format!("`{}` has no memory", info.name))),
        }
    }

    /// A tensor on the device, as a value.
    fn value(&mut self, tensor: &Tensor) -> Result<Value, RunError> {
        let dims = self.ints(&tensor.dims);
        self.value_of(tensor.place, tensor.elem, dims)
    }

    fn value_of(&mut self, place: Place, elem: Elem, dims: Vec<i64>) -> Result<Value, RunError> {
        let ArrayAt { at, info, count } = self.array(place, &dims)?;
        let bits = self.device.read(at, info, count)?;
        Ok(Value { elem, dims, bits })
    }

    /// Elements of these extents.
    fn array(&self, place: Place, dims: &[i64]) -> Result<ArrayAt<'h, D::Address>, RunError> {
        let Some(count) = ElementCount::of(dims) else {
            return Err(RunError::Bug(format!("a tensor of extents {dims:?}")));
        };
        Ok(ArrayAt { at: self.address(place)?, info: self.info(place.buffer), count: count.get() })
    }
}
