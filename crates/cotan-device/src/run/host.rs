//! Nodes that the host does itself: scalars, memory, copies, checks, routines, output.

use super::Host;
use crate::device::{Device, RunError, Until};
use cotan_ir::{CheckKind, Const, Elem, Span};
use cotan_loops::{Buffer, BufferKind, Home, Node, Operand, Place, Routine, Tensor};
use cotan_ops::{Inputs, Value, tensor_row, written};

impl<D: Device> Host<'_, D> {
    pub(super) fn node(&mut self, node: &Node) -> Result<(), RunError> {
        match node {
            Node::Let(to, expr) => self.define(*to, expr),
            Node::Set(to, value) => {
                let bits = self.bits(*value);
                self.set(*to, bits);
                Ok(())
            }
            Node::Copy { from, to, count } => {
                let (source, target) = (self.address(*from)?, self.address(*to)?);
                self.device.copy(source, target, self.info(to.buffer), self.int(*count))
            }
            Node::Alloc { buffer, extents } => self.allocate(*buffer, extents),
            Node::StackOpen(buffer) => {
                let number = self.number(*buffer)?;
                let at = self.device.allocate(self.info(*buffer), self.state.capacities[number], Until::ScopeEnds)?;
                self.state.memory[buffer.index()] = Some(at);
                Ok(())
            }
            Node::StackExtend(buffer, count) => self.extend(*buffer, self.int(*count)),
            Node::Bind { buffer, to } => {
                self.state.memory[buffer.index()] = Some(self.address(*to)?);
                Ok(())
            }
            Node::Check { cond, kind, args, span } => self.check(*cond, *kind, args, *span),
            Node::Routine(routine) => self.routine(routine),
            Node::Print { text, value, extents } => self.print(text, value.as_ref(), *extents),
            Node::Load(..)
            | Node::Store(..)
            | Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::Combine { .. }
            | Node::PartialSums(_)
            | Node::CountRecord(..)
            | Node::Scope(_)
            | Node::Segment(_)
            | Node::For(_)
            | Node::Reduce(_)
            | Node::While(..)
            | Node::If(..)
            | Node::Switch(..)
            | Node::Product(_)
            | Node::Call { .. } => Err(RunError::Bug("a step that is none of the host's".to_owned())),
        }
    }

    fn allocate(&mut self, buffer: Buffer, extents: &[Operand]) -> Result<(), RunError> {
        let info = self.info(buffer);
        let BufferKind::Allocated(home) = info.kind else {
            return Err(RunError::Bug(format!("`{}` is not allocated", info.name)));
        };
        let count = self.count(info.elem, extents);
        let at = match (home, self.state.kept.get(&buffer)) {
            (Home::Arena, _) => self.device.allocate(info, count, Until::ScopeEnds)?,
            (Home::Frame, Some(at)) => *at,
            (Home::Frame | Home::Result(_), _) => self.device.allocate(info, count, Until::CallEnds)?,
        };
        if home != Home::Arena {
            self.state.kept.insert(buffer, at);
        }
        self.state.memory[buffer.index()] = Some(at);
        Ok(())
    }

    /// Makes room in a stack.
    fn extend(&mut self, buffer: Buffer, count: i64) -> Result<(), RunError> {
        let number = self.number(buffer)?;
        if count <= self.state.capacities[number] {
            return Ok(());
        }
        // Twice as much, so that a stack is moved a few times only.
        let room = count.max(self.state.capacities[number].saturating_mul(2));
        let at = self.address(Place { buffer, offset: Operand::i64(0) })?;
        self.state.memory[buffer.index()] =
            Some(self.device.extend(at, self.info(buffer), [self.state.capacities[number], room])?);
        self.state.capacities[number] = room;
        Ok(())
    }

    /// The number of an array that grows.
    fn number(&self, buffer: Buffer) -> Result<usize, RunError> {
        let number = self.plan.growing.iter().position(|other| *other == buffer);
        number.ok_or_else(|| RunError::Bug(format!("`{}` does not grow", self.info(buffer).name)))
    }

    /// The number of elements of an array. Negative extents count as zero, and bytes that overflow are the most there are.
    fn count(&self, elem: Elem, extents: &[Operand]) -> i64 {
        let bytes = elem.bytes() as i64;
        let product = |all: i64, extent: &Operand| all.checked_mul(self.int(*extent).max(0)).unwrap_or(i64::MAX);
        let all = extents.iter().fold(bytes, product);
        if all == i64::MAX { all } else { all / bytes }
    }

    /// A check that the host does.
    fn check(&mut self, cond: Operand, kind: CheckKind, args: &[Operand], span: Span) -> Result<(), RunError> {
        if self.bits(cond) != 0 {
            return Ok(());
        }
        let shown = |arg: &Operand| {
            let constant = Const::from_bits(self.plan.function.operand_elem(*arg), self.bits(*arg));
            constant.as_integer().unwrap_or(constant.bits().into())
        };
        Err(RunError::Check { kind, args: args.iter().map(shown).collect(), span })
    }

    fn routine(&mut self, routine: &Routine) -> Result<(), RunError> {
        let args = routine.from.iter().map(|from| self.value(from)).collect::<Result<Vec<Value>, RunError>>()?;
        let (elem, dims) = (routine.to.elem, self.ints(&routine.to.dims));
        let args: Vec<&Value> = args.iter().collect();
        let inputs = Inputs { args: &args, attrs: &routine.attrs, result: (elem, &dims), in_field: false };
        let Some(value) = tensor_row(routine.op).value(&inputs) else {
            return Err(RunError::Bug(format!("`{}` has no value", routine.op.name())));
        };
        let to = self.address(routine.to.place)?;
        self.device.write(to, self.info(routine.to.place.buffer), &value.bits)
    }

    /// Writes. Nothing is written behind a kernel that failed.
    fn print(&mut self, text: &[u8], value: Option<&Tensor>, extents: Option<Place>) -> Result<(), RunError> {
        self.device.finish()?;
        let value = match value {
            Some(tensor) => {
                let dims = match extents {
                    Some(place) => {
                        let at = self.address(place)?;
                        let dims = self.device.read(at, self.info(place.buffer), tensor.dims.len())?;
                        dims.into_iter().map(|bits| bits as i64).collect()
                    }
                    None => self.ints(&tensor.dims),
                };
                Some(self.value_of(tensor.place, tensor.elem, dims)?)
            }
            None => None,
        };
        let value = value.as_ref().map(|value| (value.elem, value.dims.as_slice(), value.bits.as_slice()));
        (self.output)(&written(&String::from_utf8_lossy(text), value));
        Ok(())
    }
}
