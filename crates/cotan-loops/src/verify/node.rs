//! The rules of single nodes: what they mention, define and write to.

use super::{Checked, NestError, Verifier, is_zero, require};
use crate::node::Part;
use crate::{
    Argument, Buffer, BufferKind, CallResult, Home, Local, Node, Operand, PartialSums, Place, Product, Routine, Sum,
    Target, Tensor,
};
use cotan_ir::{CheckKind, Elem, Monoid};
use cotan_ops::reduce::monoid_row;
use cotan_ops::{Evaluation, tensor_row};

impl<'a> Verifier<'a> {
    pub(super) fn node(&mut self, node: &'a Node) -> Result<(), NestError> {
        // Its text can't be written before that.
        self.in_tables(node).map_err(|message| self.error("", message))?;
        let checked = match node {
            Node::Scope(body) => return self.scope(body),
            Node::Segment(body) => return self.list(body),
            Node::For(l) => return self.counted(node, l),
            Node::Reduce(reduction) => return self.reduction(node, reduction),
            Node::While(go, body) => return self.repeated(node, *go, body),
            Node::If(cond, yes, no) => return self.either(node, *cond, yes, no),
            Node::Switch(on, arms) => return self.switch(node, *on, arms),
            Node::Let(local, expr) => self.expression(*local, expr).and_then(|()| self.define(*local)),
            Node::Set(local, value) => self.set(*local, *value),
            Node::Load(local, from) => self.load(*local, *from),
            Node::Store(to, value) => self.store(*to, *value),
            Node::LoadLanes { to, from, mask } => self.load_lanes(*to, *from, *mask),
            Node::StoreLanes { to, value, mask } => self.store_lanes(*to, *value, *mask),
            Node::Combine { monoid, target, value } => self.combine(*monoid, *target, *value),
            Node::Copy { from, to, count } => self.copy(*from, *to, *count),
            Node::PartialSums(sums) => self.partial_sums(sums),
            Node::Alloc { buffer, extents } => self.allocation(*buffer, extents),
            Node::CountRecord(_, extents) => self.i64s(extents),
            Node::StackOpen(buffer) => self.stack_open(*buffer),
            Node::StackExtend(buffer, count) => self.stack_extend(*buffer, *count),
            Node::Bind { buffer, to } => self.bind(*buffer, *to),
            Node::Check { cond, kind, args, span: _ } => self.check(*cond, *kind, args),
            Node::Product(product) => self.product(product),
            Node::Routine(routine) => self.routine(routine),
            Node::Print { text: _, value, extents } => self.print(value.as_ref(), *extents),
            Node::Call { callee: _, args, results } => self.call(args, results),
        };
        self.about(node, checked)
    }

    /// Whether the tables have all that a node mentions.
    fn in_tables(&self, node: &Node) -> Checked {
        let mut checked = Ok(());
        node.each_part(&mut |part| {
            let found = match part {
                Part::Local(local, _) => self.info(*local).map(drop),
                Part::Operand(operand, _) => self.elem_of(*operand).map(drop),
                Part::Buffer(buffer, _) => self.buffer_info(*buffer).map(drop),
                Part::List(_) | Part::Effect(_) => Ok(()),
            };
            if checked.is_ok() {
                checked = found;
            }
        });
        checked
    }

    // ---- mutable locals

    /// The number of the innermost loop around whose iterations threads share.
    pub(super) fn shared_here(&self) -> usize {
        self.shared.last().map_or(0, |(number, _)| *number)
    }

    fn variable(&self, local: Local) -> Checked {
        let info = self.info(local)?;
        require(info.is_mutable, || format!("`{}` is not mutable, and set", info.name))
    }

    fn variable_set(&mut self, local: Local) -> Checked {
        self.variable(local)?;
        let here = self.shared_here();
        let first = *self.set_in[local.index()].get_or_insert(here);
        require(first == here, || {
            format!(
                "`{}` is set by iterations that threads share, and outside of them",
                self.f.locals[local.index()].name
            )
        })
    }

    pub(super) fn variable_read(&self, local: Local) -> Checked {
        let name = &self.info(local)?.name;
        let Some(first) = self.set_in[local.index()] else { return Err(format!("`{name}` is read before it is set")) };
        let is_around = first == 0 || self.shared.iter().any(|(number, _)| *number == first);
        require(is_around, || format!("`{name}` is set by iterations that threads share, and read outside of them"))?;
        require(!self.sums().any(|sum| sum.target == Target::Local(local)), || format!("`{name}`, a sum, is read"))
    }

    // ---- sums

    fn sums(&self) -> impl Iterator<Item = &'a Sum> + '_ {
        self.shared.iter().flat_map(|(_, sums)| sums.iter())
    }

    /// A buffer that is no sum of a loop around.
    pub(super) fn no_sum(&self, buffer: Buffer) -> Checked {
        let is_it = |sum: &Sum| matches!(sum.target, Target::Element(place) if place.buffer == buffer);
        require(!self.sums().any(is_it), || {
            format!("`{}`, a sum of a loop around, is used for more than sums", self.f.buffers[buffer.index()].name)
        })
    }

    fn is_defined(&self, monoid: Monoid, elem: Elem) -> Checked {
        require(monoid_row(monoid).sig.domain.has(elem), || format!("`{}` is not defined on {elem}", monoid.name()))
    }

    fn combine(&mut self, monoid: Monoid, target: Target, value: Operand) -> Checked {
        let elem = self.elem_of(value)?;
        self.is_defined(monoid, elem)?;
        let sum = self.sums().find(|sum| sum.target.has_memory_of(target));
        if let Some(sum) = sum {
            require(sum.monoid == monoid, || format!("`{}` into a sum by `{}`", monoid.name(), sum.monoid.name()))?;
        }
        match target {
            Target::Element(place) => {
                self.value(value, elem)?;
                self.place(place, elem)?;
                self.writable(place.buffer)
            }
            Target::Local(local) => {
                let info = self.info(local)?;
                self.spread(value, info.elem, info.lanes)?;
                let found = self.lanes_of(value)?;
                require(found == info.lanes, || format!("{found} lanes are combined with {}", info.lanes))?;
                self.variable(local)?;
                match self.set_in[local.index()] {
                    None => Err(format!("`{}` is combined before it is set", info.name)),
                    Some(_) if sum.is_some() => Ok(()),
                    Some(_) => self.variable_set(local),
                }
            }
        }
    }

    // ---- elements

    fn set(&mut self, local: Local, value: Operand) -> Checked {
        let info = self.info(local)?;
        self.spread(value, info.elem, info.lanes)?;
        self.variable_set(local)
    }

    fn load(&mut self, local: Local, from: Place) -> Checked {
        let info = self.info(local)?;
        require(info.lanes == 1, || "lanes are read from one place".to_owned())?;
        self.read(from, info.elem)?;
        self.define(local)
    }

    fn store(&self, to: Place, value: Operand) -> Checked {
        self.value(value, self.elem_at(to)?)?;
        self.written(to, self.elem_of(value)?)
    }

    fn load_lanes(&mut self, to: Local, from: Place, mask: Option<Operand>) -> Checked {
        let info = self.info(to)?;
        require(info.lanes > 1, || "one value is read as lanes".to_owned())?;
        self.lanes_at(from, mask, info.elem, info.lanes)?;
        self.define(to)
    }

    fn store_lanes(&self, to: Place, value: Operand, mask: Option<Operand>) -> Checked {
        let elem = self.elem_at(to)?;
        let lanes = self.stored_lanes(to, value, mask)?;
        self.spread(value, elem, lanes)?;
        self.lanes_at(to, mask, elem, lanes)?;
        self.writable(to.buffer)
    }

    fn copy(&self, from: Place, to: Place, count: Operand) -> Checked {
        self.value(count, Elem::I64)?;
        self.read(from, self.elem_at(to)?)?;
        self.written(to, self.elem_at(from)?)
    }

    /// The places of lanes.
    fn lanes_at(&self, place: Place, mask: Option<Operand>, elem: Elem, lanes: u32) -> Checked {
        self.spread(place.offset, Elem::I64, lanes)?;
        mask.iter().try_for_each(|mask| self.spread(*mask, Elem::Bool, lanes))?;
        self.same_elem(elem, self.buffer(place.buffer)?.elem)
    }

    /// How many lanes are stored: those of an operand, else those of the loop.
    fn stored_lanes(&self, to: Place, value: Operand, mask: Option<Operand>) -> Result<u32, String> {
        let operands = [Some(to.offset), Some(value), mask];
        let lanes = operands.into_iter().flatten().map(|o| self.lanes_of(o)).collect::<Result<Vec<u32>, _>>()?;
        let lanes = lanes.into_iter().max().filter(|lanes| *lanes > 1).unwrap_or(self.lanes);
        require(lanes > 1, || "one value is stored as lanes".to_owned())?;
        Ok(lanes)
    }

    fn partial_sums(&self, sums: &PartialSums) -> Checked {
        let PartialSums { work: _, monoid, lanes, size, stride, number } = sums;
        let elem = self.elem_at(*lanes)?;
        self.is_defined(*monoid, elem)?;
        self.i64s(&[*size, *number])?;
        require(*stride > 0, || "partial results lie nowhere".to_owned())?;
        self.written(*lanes, elem)
    }

    // ---- memory

    fn is_of_kind(&self, buffer: Buffer, kind: BufferKind) -> Checked {
        let info = self.buffer_info(buffer)?;
        require(info.kind == kind, || format!("`{}` gets its memory otherwise", info.name))
    }

    fn allocation(&mut self, buffer: Buffer, extents: &[Operand]) -> Checked {
        let info = self.buffer_info(buffer)?;
        self.i64s(extents)?;
        match info.kind {
            BufferKind::Allocated(Home::Arena) => {}
            BufferKind::Allocated(Home::Frame) => {
                let is_known = extents.iter().all(|extent| extent.as_i64().is_some());
                require(is_known, || format!("`{}` lies in the frame, and has no known size", info.name))?;
            }
            BufferKind::Allocated(Home::Result(k)) => {
                let is_tensor = matches!(self.f.results.get(k), Some(Argument::Tensor(_)));
                require(is_tensor, || format!("`{}` lies in the memory of result {k}, which has none", info.name))?;
            }
            BufferKind::Param(_) | BufferKind::Stack | BufferKind::Bound => {
                return Err(format!("`{}` gets its memory otherwise", info.name));
            }
        }
        self.buffers.define(buffer.index(), &info.name)
    }

    fn stack_open(&mut self, buffer: Buffer) -> Checked {
        self.is_of_kind(buffer, BufferKind::Stack)?;
        self.buffers.define(buffer.index(), &self.buffer_info(buffer)?.name)
    }

    fn stack_extend(&self, buffer: Buffer, count: Operand) -> Checked {
        self.is_of_kind(buffer, BufferKind::Stack)?;
        self.buffer(buffer)?;
        self.value(count, Elem::I64)
    }

    fn bind(&mut self, buffer: Buffer, to: Place) -> Checked {
        self.is_of_kind(buffer, BufferKind::Bound)?;
        self.place(to, self.buffer_info(buffer)?.elem)?;
        self.no_sum(to.buffer)?;
        self.read_only[buffer.index()] |= self.read_only[to.buffer.index()];
        self.buffers.show(buffer.index());
        Ok(())
    }

    /// A sum of a loop.
    pub(super) fn sum(&self, sum: &Sum) -> Checked {
        self.i64s(&sum.extents)?;
        match sum.target {
            Target::Element(place) => {
                require(is_zero(place.offset), || "a sum is no whole buffer".to_owned())?;
                let elem = self.elem_at(place)?;
                self.place(place, elem)?;
                self.writable(place.buffer)?;
                self.is_defined(sum.monoid, elem)
            }
            Target::Local(local) => {
                let info = self.info(local)?;
                self.variable(local)?;
                require(self.set_in[local.index()].is_some(), || format!("`{}` is a sum before it is set", info.name))?;
                self.is_defined(sum.monoid, info.elem)
            }
        }
    }

    // ---- operations

    fn check(&self, cond: Operand, kind: CheckKind, args: &[Operand]) -> Checked {
        self.value(cond, Elem::Bool)?;
        args.iter().try_for_each(|arg| {
            let elem = self.elem_of(*arg)?;
            let is_reported = matches!(elem, Elem::I64 | Elem::U64) || elem.is_float() && kind.reports(elem);
            require(is_reported, || format!("{elem} is not reported"))?;
            self.value(*arg, elem)
        })
    }

    fn product(&self, product: &Product) -> Checked {
        require(self.in_second_arm, || "a product without loops that do the same".to_owned())?;
        require(matches!(product.elem, Elem::F32 | Elem::F64), || format!("a product of {}", product.elem))?;
        self.i64s(&product.extents)?;
        let [to, left, right] = product.views();
        for view in [to, left, right] {
            self.i64s(&view.strides)?;
        }
        self.written(to.place, product.elem)?;
        for factor in [left, right] {
            self.read(factor.place, product.elem)?;
            self.apart(factor.place, to.place)?;
        }
        Ok(())
    }

    fn routine(&self, routine: &Routine) -> Checked {
        let is_routine = matches!(tensor_row(routine.op).evaluation, Evaluation::Routine(_));
        require(is_routine, || format!("`{}` is no routine", routine.op.name()))?;
        self.tensor(&routine.to)?;
        self.written(routine.to.place, routine.to.elem)?;
        routine.from.iter().try_for_each(|from| {
            self.tensor(from)?;
            self.read(from.place, from.elem)?;
            self.apart(from.place, routine.to.place)
        })
    }

    fn apart(&self, from: Place, to: Place) -> Checked {
        require(from.buffer != to.buffer, || {
            format!("`{}` is read and written to at once", self.f.buffers[to.buffer.index()].name)
        })
    }

    fn print(&self, value: Option<&Tensor>, extents: Option<Place>) -> Checked {
        if let Some(value) = value {
            self.tensor(value)?;
            self.read(value.place, value.elem)?;
            require(value.dims.is_empty() || extents.is_some(), || "a tensor is printed without extents".to_owned())?;
        }
        extents.iter().try_for_each(|place| self.read(*place, Elem::I64))
    }

    fn call(&mut self, args: &[Argument], results: &[CallResult]) -> Checked {
        args.iter().try_for_each(|arg| self.argument(arg))?;
        results.iter().try_for_each(|result| self.call_result(result))
    }

    fn argument(&self, argument: &Argument) -> Checked {
        match argument {
            Argument::Scalar(operand) => self.value(*operand, self.elem_of(*operand)?),
            Argument::Tensor(tensor) => {
                self.tensor(tensor)?;
                self.read(tensor.place, tensor.elem)
            }
        }
    }

    fn call_result(&mut self, result: &CallResult) -> Checked {
        match result {
            CallResult::Scalar(local) => {
                require(self.info(*local)?.lanes == 1, || "lanes are a result".to_owned())?;
                self.define(*local)
            }
            CallResult::Into(tensor) => {
                self.tensor(tensor)?;
                self.written(tensor.place, tensor.elem)
            }
            CallResult::New(buffer, _) => {
                self.is_of_kind(*buffer, BufferKind::Bound)?;
                self.buffers.show(buffer.index());
                Ok(())
            }
        }
    }
}
