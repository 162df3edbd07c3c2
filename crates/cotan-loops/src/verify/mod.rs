//! The verifier: what every loop nest must satisfy.
//!
//! Names and scopes
//! - Locals and buffers are in the tables of the function.
//! - A local is defined once, by a parameter or by one node; a mutable one is set, and never defined.
//! - An operand is a constant or a local that is defined before, on every way to the node. A scope and a segment belong
//!   to the list around them; what the body of a loop or an arm of a branch defines ends with it.
//! - A mutable local is read by a plain copy alone, and set before, earlier in the text.
//! - A buffer is allocated, or opened as a stack, once. It is mentioned after that, in the same list and the lists in it;
//!   a segment belongs to the list around it.
//! - A bound name is bound before it is mentioned, on every way to the node.
//! - Iterations that threads share in any order set no mutable local that is mentioned outside of the loop, but for sums.
//!
//! Types and lanes
//! - Lanes are a power of two. Operands of a value with lanes have as many, or none.
//! - An instruction has the operands and the result of its signature, and so has a function of the host.
//! - Offsets, extents and counts are i64 without lanes; offsets of lanes may have lanes.
//! - A condition is a bool without lanes, a switch is on an i64 and has an arm.
//! - What is loaded, stored, copied or combined has the element type of the buffer, or of the mutable local.
//! - A monoid is defined on the type that it combines.
//! - A mask is of bools, `iota` counts in i64, and `any`, `first`, `fold` and `lane` make one value of all lanes.
//! - A check reports numbers: of 64 bits, or floats.
//!
//! Memory
//! - Each kind of buffer gets its memory from its own kind of node: `alloc`, `stack`, `bind` or a call.
//! - An array in the frame has extents that are known.
//! - Nothing is written to a parameter, nor to a name that is bound to one.
//! - Nothing that a product or a routine reads lies in the buffer that it writes to.
//! - Memory of a result is that of a tensor, and a result that is one begins where its memory does.
//! - Watched buffers are results of floats.
//!
//! Loops on threads
//! - The sums of a loop are whole buffers, or mutable locals, that its iterations do nothing with but combine, each by
//!   the monoid of the sum; lanes of a buffer are read, combined and written.
//! - The numbers of a wavefront are i64; an estimate of steps is an f64.
//!
//! Reductions
//! - A reduction has an index and a sum; its indices are i64 without lanes.
//! - Its sums are whole buffers, or mutable locals, that its iterations do nothing with but combine, each by the monoid of
//!   the sum.
//!
//! Operations
//! - A product stands in the second arm of a branch, and is one of floats that machines compute with.
//! - A routine is an operation of the op table that is computed by one.
//! - A value of some rank is printed with its extents.
//! - A callee exists; arguments and results have the types of its parameters and results.

mod control;
mod expression;
mod module;
mod node;
mod scope;

use crate::{Argument, Buffer, BufferKind, Home, Local, LocalInfo, LoopFunction, Operand, Param, Place, Sum, Tensor};
use cotan_ir::{Elem, Symbol};
pub use module::{VerifiedNests, verify_nests};
use scope::Names;
use std::fmt;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestError {
    /// The function that it is in.
    pub function: Symbol,
    /// The line of the text form that it is about; nothing where it is about the function.
    pub node: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for NestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in the nest of `{}`: {}", self.function, self.message)?;
        if self.node.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.node) }
    }
}

impl std::error::Error for NestError {}

/// What a rule says: nothing, or what is wrong.
type Checked = Result<(), String>;

/// Checks a function against the rules of the module documentation, but for those about callees.
pub fn verify(f: &LoopFunction) -> Result<(), NestError> {
    let mut v = Verifier::new(f);
    v.function().map_err(|message| v.error("", message))?;
    v.list(&f.body)?;
    v.results().map_err(|message| v.error("", message))
}

/// A function that is being checked.
struct Verifier<'a> {
    f: &'a LoopFunction,
    /// The locals that are defined here.
    locals: Names,
    /// The buffers that may be mentioned here.
    buffers: Names,
    /// Names that stand for memory that nothing is written to.
    read_only: Vec<bool>,
    /// The loop whose iterations threads share in which a mutable local is set, by its number; 0 is outside of all.
    set_in: Vec<Option<usize>>,
    /// The loops whose iterations threads share that are around the node, the innermost last, with their sums.
    shared: Vec<(usize, &'a [Sum])>,
    n_shared: usize,
    /// The lanes of the loop around.
    lanes: u32,
    /// Whether the list is the second arm of a branch, or in one.
    in_second_arm: bool,
}

impl<'a> Verifier<'a> {
    fn new(f: &'a LoopFunction) -> Verifier<'a> {
        Verifier {
            f,
            locals: Names::new(f.locals.len()),
            buffers: Names::new(f.buffers.len()),
            read_only: vec![false; f.buffers.len()],
            set_in: vec![None; f.locals.len()],
            shared: Vec::new(),
            n_shared: 0,
            lanes: 1,
            in_second_arm: false,
        }
    }

    fn error(&self, node: &str, message: String) -> NestError {
        NestError { function: self.f.name.clone(), node: node.to_owned(), message }
    }

    // ---- the function

    fn function(&mut self) -> Checked {
        for info in &self.f.locals {
            require(info.lanes.is_power_of_two(), || format!("`{}` has {} lanes", info.name, info.lanes))?;
        }
        for param in &self.f.params {
            if let Param::Scalar(local) = param {
                self.define(*local)?;
            }
        }
        for (position, param) in self.f.params.iter().enumerate() {
            if let Param::Tensor(tensor) = param {
                self.param(position, tensor)?;
            }
        }
        self.watched()
    }

    fn param(&mut self, position: usize, tensor: &Tensor) -> Checked {
        let info = self.buffer_info(tensor.place.buffer)?;
        require(info.kind == BufferKind::Param(position), || format!("`{}` is no parameter {position}", info.name))?;
        self.read_only[tensor.place.buffer.index()] = true;
        self.buffers.define(tensor.place.buffer.index(), &info.name)?;
        self.tensor(tensor)
    }

    fn watched(&self) -> Checked {
        self.f.watched.iter().try_for_each(|buffer| {
            let info = self.buffer_info(*buffer)?;
            let is_result = matches!(info.kind, BufferKind::Allocated(Home::Result(_)));
            let is_float = info.elem.is_float() && info.elem.storage().is_none();
            require(is_result && is_float, || format!("`{}` is watched and no result of floats", info.name))
        })
    }

    fn results(&self) -> Checked {
        self.f.results.iter().enumerate().try_for_each(|(k, result)| match result {
            Argument::Scalar(operand) => self.value(*operand, self.elem_of(*operand)?),
            Argument::Tensor(tensor) => {
                let info = self.buffer_info(tensor.place.buffer)?;
                let is_home = info.kind == BufferKind::Allocated(Home::Result(k));
                require(is_home && is_zero(tensor.place.offset), || {
                    format!("result {k} does not lie in memory of its own, but in `{}`", info.name)
                })?;
                require(self.buffers.is_reached(tensor.place.buffer.index()), || {
                    format!("`{}` is not allocated on every way to the end", info.name)
                })?;
                self.same_elem(tensor.elem, info.elem)?;
                self.i64s(&tensor.dims)
            }
        })
    }

    // ---- operands

    fn info(&self, local: Local) -> Result<&'a LocalInfo, String> {
        self.f.locals.get(local.index()).ok_or_else(|| format!("local {} is not in the table", local.0))
    }

    fn buffer_info(&self, buffer: Buffer) -> Result<&'a crate::BufferInfo, String> {
        self.f.buffers.get(buffer.index()).ok_or_else(|| format!("buffer {} is not in the table", buffer.0))
    }

    /// Defines a local.
    fn define(&mut self, local: Local) -> Checked {
        let info = self.info(local)?;
        require(!info.is_mutable, || format!("`{}` is mutable, and defined", info.name))?;
        self.locals.define(local.index(), &info.name)
    }

    /// An operand in scope, of any type and number of lanes.
    fn operand(&self, operand: Operand) -> Checked {
        let Operand::Local(local) = operand else { return Ok(()) };
        let info = self.info(local)?;
        require(!info.is_mutable, || format!("`{}` is mutable, and read by more than a copy", info.name))?;
        require(self.locals.is_visible(local.index()), || format!("`{}` is not defined here", info.name))
    }

    fn elem_of(&self, operand: Operand) -> Result<Elem, String> {
        match operand {
            Operand::Local(local) => Ok(self.info(local)?.elem),
            Operand::Const(c) => Ok(c.elem()),
        }
    }

    fn lanes_of(&self, operand: Operand) -> Result<u32, String> {
        match operand {
            Operand::Local(local) => Ok(self.info(local)?.lanes),
            Operand::Const(_) => Ok(1),
        }
    }

    /// An operand of a type and without lanes.
    fn value(&self, operand: Operand, elem: Elem) -> Checked {
        self.spread(operand, elem, 1)
    }

    /// An operand of a type that has so many lanes, or none.
    fn spread(&self, operand: Operand, elem: Elem, lanes: u32) -> Checked {
        self.operand(operand)?;
        self.same_elem(self.elem_of(operand)?, elem)?;
        let found = self.lanes_of(operand)?;
        require(found == 1 || found == lanes, || format!("an operand has {found} lanes where there are {lanes}"))
    }

    fn i64s(&self, operands: &[Operand]) -> Checked {
        operands.iter().try_for_each(|operand| self.value(*operand, Elem::I64))
    }

    fn same_elem(&self, found: Elem, expected: Elem) -> Checked {
        require(found == expected, || format!("{found} where {expected} is expected"))
    }

    // ---- memory

    /// A buffer that has memory here.
    fn buffer(&self, buffer: Buffer) -> Result<&'a crate::BufferInfo, String> {
        let info = self.buffer_info(buffer)?;
        require(self.buffers.is_visible(buffer.index()), || format!("`{}` has no memory here", info.name))?;
        Ok(info)
    }

    /// A place of an element of a type.
    fn place(&self, place: Place, elem: Elem) -> Checked {
        self.value(place.offset, Elem::I64)?;
        self.same_elem(elem, self.buffer(place.buffer)?.elem)
    }

    /// A place that is read.
    fn read(&self, place: Place, elem: Elem) -> Checked {
        self.place(place, elem)?;
        self.no_sum(place.buffer)
    }

    /// A place that is written to.
    fn written(&self, place: Place, elem: Elem) -> Checked {
        self.place(place, elem)?;
        self.no_sum(place.buffer)?;
        self.writable(place.buffer)
    }

    fn writable(&self, buffer: Buffer) -> Checked {
        require(!self.read_only[buffer.index()], || {
            format!("`{}` is a parameter, and written to", self.f.buffers[buffer.index()].name)
        })
    }

    /// The place and the extents of a tensor.
    fn tensor(&self, tensor: &Tensor) -> Checked {
        self.place(tensor.place, tensor.elem)?;
        self.i64s(&tensor.dims)
    }

    /// The element type that lies at a place.
    fn elem_at(&self, place: Place) -> Result<Elem, String> {
        Ok(self.buffer_info(place.buffer)?.elem)
    }
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

fn is_zero(operand: Operand) -> bool {
    operand.as_i64() == Some(0)
}
