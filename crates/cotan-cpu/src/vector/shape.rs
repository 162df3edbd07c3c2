//! What the lanes of a value are to each other, while several iterations of one loop run side by side.
//!
//! A value is the same in all lanes, or grows by the same step from lane to lane, or neither. Shapes only go up while the
//! body is looked at again and again, until nothing changes: a value that a loop carries may turn out to vary later.

use super::lockstep::Lockstep;
use super::sums::Sums;
use crate::invariants::MOST_DEFINITIONS;
use cotan_ir::Elem;
use cotan_loops::PartialSums;
use cotan_loops::node::{
    Buffer, BufferKind, BufferUse, Definitions, Effect, Expr, For, Home, Independence, Local, LocalUse, LoopFunction,
    Mentions, Node, Operand, Param, Part, Place, Target, walk,
};
use cotan_ops::Instruction;
use cotan_ops::reduce::LANES;
use rustc_hash::{FxHashMap, FxHashSet};

/// The lanes of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// All the same.
    Uniform,
    /// An i64 that grows by this from lane to lane.
    Linear(Stride),
    /// Anything.
    Varying,
}

/// A product of a number with values that are the same in all lanes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stride {
    pub(super) factor: i64,
    pub(super) by: Vec<Operand>,
}

impl Stride {
    fn times(&self, by: Operand) -> Stride {
        let mut product = self.clone();
        match by.as_i64() {
            Some(n) => product.factor = product.factor.wrapping_mul(n),
            None => product.by.push(by),
        }
        product
    }

    /// The stride as a number.
    pub(super) fn number(&self) -> Option<i64> {
        self.by.is_empty().then_some(self.factor)
    }
}

/// What is known of the values in the body of a loop.
#[derive(Debug)]
pub(super) struct Shapes<'a> {
    pub(super) f: &'a LoopFunction,
    pub(super) definitions: &'a Definitions,
    /// How many iterations run side by side.
    pub(super) lanes: u32,
    index: Local,
    /// What is not uniform.
    shapes: FxHashMap<Local, Shape>,
    /// The locals that the body defines or assigns.
    pub(super) inside: FxHashSet<Local>,
    /// The buffers that the body allocates or opens, and further names of them: each lane has one of its own.
    pub(super) private: FxHashSet<Buffer>,
    /// The buffers that several nodes bind.
    bound_again: FxHashSet<Buffer>,
    /// The elements that the body reads.
    elements: FxHashSet<Local>,
    lockstep: Lockstep,
    /// The elements that iterations change in turn.
    pub(super) sums: Sums,
    changed: bool,
}

impl<'a> Shapes<'a> {
    /// Those of the body of a loop, or why its iterations can't run side by side.
    pub(super) fn of(
        f: &'a LoopFunction,
        definitions: &'a Definitions,
        l: &For,
        lanes: u32,
        mentions: &Mentions,
    ) -> Result<Shapes<'a>, &'static str> {
        let mut shapes = Shapes {
            f,
            definitions,
            lanes,
            index: l.index,
            shapes: FxHashMap::default(),
            inside: FxHashSet::default(),
            private: FxHashSet::default(),
            bound_again: FxHashSet::default(),
            elements: FxHashSet::default(),
            lockstep: Lockstep::of(&l.body, definitions),
            sums: Sums::of(l),
            changed: true,
        };
        shapes.raise(l.index, Shape::Linear(Stride { factor: 1, by: Vec::new() }));
        shapes.collect(&l.body);
        if shapes.carries_values(l, mentions) {
            return Err("it carries a value from one iteration to the next");
        }
        while std::mem::take(&mut shapes.changed) {
            shapes.nodes(&l.body, false);
        }
        shapes.admit(&l.body, l.independence)?;
        Ok(shapes)
    }

    /// Whether code outside of the body mentions a mutable local that the body assigns to.
    fn carries_values(&self, l: &For, mentions: &Mentions) -> bool {
        let mut mutable = self.inside.iter().filter(|local| self.f.locals[local.index()].is_mutable).peekable();
        if mutable.peek().is_none() {
            return false;
        }
        let inside = Mentions::of(&l.body);
        mutable.any(|local| !inside.has_all_of_local(*local, mentions))
    }

    /// The two operands that an i64 is the sum of.
    pub(super) fn sum(&self, operand: Operand) -> Option<[Operand; 2]> {
        self.args_of(operand, Instruction::Add)
    }

    /// Whether an i64 is the product of these two.
    pub(super) fn is_product(&self, operand: Operand, a: Local, b: Operand) -> bool {
        self.args_of(operand, Instruction::Mul) == Some([a.into(), b])
    }

    fn args_of(&self, operand: Operand, wanted: Instruction) -> Option<[Operand; 2]> {
        let Operand::Local(local) = operand else { return None };
        match self.definitions.get(&local) {
            Some(Expr::Native { instruction, elem: Elem::I64, args }) if *instruction == wanted => {
                args[..].try_into().ok()
            }
            Some(_) | None => None,
        }
    }

    /// Whether an element whose number all lanes agree on is read again and again, by inner loops with these indices: its
    /// number follows one of them, and not all.
    pub(super) fn is_read_again(&self, column: Operand, inner: &[Local]) -> bool {
        let mut followed = FxHashSet::default();
        let is_known = self.is_uniform(column) && self.follow(column, inner, &mut followed, 12);
        is_known && !followed.is_empty() && followed.len() < inner.len()
    }

    /// Finds the indices that an integer is computed from; whether nothing else in the body decides on it.
    fn follow(&self, operand: Operand, inner: &[Local], followed: &mut FxHashSet<Local>, depth: u32) -> bool {
        let Operand::Local(local) = operand else { return true };
        if inner.contains(&local) {
            followed.insert(local);
            return true;
        }
        if !self.inside.contains(&local) {
            return true;
        }
        match self.definitions.get(&local) {
            Some(Expr::Native { args, .. }) => {
                depth > 0 && args.iter().all(|arg| self.follow(*arg, inner, followed, depth - 1))
            }
            Some(Expr::Copy(of)) => depth > 0 && self.follow(*of, inner, followed, depth - 1),
            Some(
                Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_),
            )
            | None => false,
        }
    }

    /// The extents of a parameter, which nothing writes to.
    pub(super) fn extents(&self, buffer: Buffer) -> Option<&[Operand]> {
        self.f.params.iter().find_map(|param| match param {
            Param::Tensor(tensor) if tensor.place.buffer == buffer => Some(&tensor.dims[..]),
            Param::Tensor(_) | Param::Scalar(_) => None,
        })
    }

    /// The shape of an operand.
    pub(super) fn of_operand(&self, operand: Operand) -> Shape {
        match operand {
            Operand::Const(_) => Shape::Uniform,
            Operand::Local(local) => self.shapes.get(&local).cloned().unwrap_or(Shape::Uniform),
        }
    }

    pub(super) fn is_uniform(&self, operand: Operand) -> bool {
        self.of_operand(operand) == Shape::Uniform
    }

    /// Whether a number of trips differs from lane to lane, by elements that they read.
    pub(super) fn is_ragged(&self, count: Operand) -> bool {
        self.of_operand(count) == Shape::Varying && self.is_of_elements(count, MOST_DEFINITIONS)
    }

    fn is_of_elements(&self, operand: Operand, depth: usize) -> bool {
        let Operand::Local(local) = operand else { return false };
        let definition = self.definitions.get(&local);
        self.elements.contains(&local)
            || depth > 0
                && definition.is_some_and(|expr| expr.operands().iter().any(|arg| self.is_of_elements(*arg, depth - 1)))
    }

    fn collect(&mut self, nodes: &[Node]) {
        walk(nodes, &mut |node| {
            node.each_part(&mut |part| match part {
                Part::Local(local, LocalUse::Define | LocalUse::Assign) => {
                    self.inside.insert(*local);
                }
                Part::Buffer(buffer, BufferUse::Allocate | BufferUse::OpenStack) => {
                    self.private.insert(*buffer);
                }
                Part::Local(..) | Part::Operand(..) | Part::Buffer(..) | Part::List(_) | Part::Effect(_) => {}
            });
            if let Node::Load(local, _) = node {
                self.elements.insert(*local);
            }
            if let Node::Bind { buffer, to } = node
                && self.private.contains(&to.buffer)
                && !self.private.insert(*buffer)
            {
                self.bound_again.insert(*buffer);
            }
        });
    }

    fn raise(&mut self, local: Local, to: Shape) {
        let known = self.of_operand(local.into());
        let next = match (known, to) {
            (Shape::Uniform, to) => to,
            (known, Shape::Uniform) => known,
            (Shape::Linear(a), Shape::Linear(b)) if a == b => Shape::Linear(a),
            (Shape::Linear(_) | Shape::Varying, Shape::Linear(_) | Shape::Varying) => Shape::Varying,
        };
        if next != self.of_operand(local.into()) {
            self.shapes.insert(local, next);
            self.changed = true;
        }
    }

    // ---- what is computed

    fn nodes(&mut self, nodes: &[Node], diverges: bool) {
        nodes.iter().for_each(|node| self.node(node, diverges));
    }

    fn node(&mut self, node: &Node, diverges: bool) {
        if self.sums.is_part(node) {
            return;
        }
        if let Node::Let(local, expr) = node {
            let shape = if self.is_in_step(*local, expr) { Shape::Uniform } else { self.of_expr(expr) };
            self.raise(*local, shape);
        }
        if let Node::For(l) = node
            && self.runs_backward(l)
        {
            self.raise(l.index, Shape::Varying);
        }
        if let Node::Set(local, value) = node
            && (diverges || !self.is_uniform(*value))
        {
            self.raise(*local, Shape::Varying);
        }
        // What is combined inside an iteration alone is a value like any other.
        if let Node::Combine { target: Target::Local(local), value, .. } = node
            && self.inside.contains(local)
            && (diverges || !self.is_uniform(*value))
        {
            self.raise(*local, Shape::Varying);
        }
        if let Node::Load(local, place) = node
            && (self.private.contains(&place.buffer) || !self.is_uniform(place.offset))
        {
            self.raise(*local, Shape::Varying);
        }
        let diverges = diverges || node.selectors().into_iter().any(|on| !self.is_uniform(on));
        node.lists().into_iter().for_each(|list| self.nodes(list, diverges));
    }

    /// Whether a local has one value in all lanes that run where it is defined, though other lanes have had others.
    fn is_in_step(&self, local: Local, expr: &Expr) -> bool {
        self.lockstep.read_by(local).is_some_and(|values| values.iter().all(|value| self.is_uniform(*value)))
            || self.counts_down(expr).is_some()
    }

    /// Whether a variable has one value in all lanes that run in the `while` that steps it, and others behind it.
    pub(super) fn is_stepped(&self, variable: Local) -> bool {
        self.of_operand(variable.into()) == Shape::Varying
            && self.lockstep.values_of(variable).is_some_and(|values| values.iter().all(|v| self.is_uniform(*v)))
    }

    /// Whether a local reads a variable in the `while` that steps it, where all lanes that run have one value of it.
    pub(super) fn steps_with(&self, local: Local) -> bool {
        self.is_uniform(local.into()) && self.lockstep.read_by(local).is_some()
    }

    /// Whether a loop begins for each lane so late that all lanes end together.
    pub(super) fn runs_backward(&self, l: &For) -> bool {
        self.lockstep.is_backward(l) && !self.is_uniform(l.count)
    }

    /// The index of the loop around that runs backward, if an expression is the number of its last trip minus that index.
    pub(super) fn counts_down(&self, expr: &Expr) -> Option<Local> {
        self.lockstep.counted_down(expr, self.definitions)
    }

    fn of_expr(&self, expr: &Expr) -> Shape {
        match expr {
            Expr::Copy(operand) => self.of_operand(*operand),
            Expr::Native { instruction, elem: Elem::I64, args } => self.of_integer(*instruction, args),
            Expr::Native { args, .. } | Expr::Host { args, .. } => {
                if args.iter().all(|a| self.is_uniform(*a)) {
                    Shape::Uniform
                } else {
                    Shape::Varying
                }
            }
            Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => Shape::Varying,
        }
    }

    fn of_integer(&self, instruction: Instruction, args: &[Operand]) -> Shape {
        let shapes: Vec<Shape> = args.iter().map(|a| self.of_operand(*a)).collect();
        if shapes.iter().all(|s| *s == Shape::Uniform) {
            return Shape::Uniform;
        }
        match (instruction, &shapes[..]) {
            (Instruction::Add, [Shape::Linear(s), Shape::Uniform] | [Shape::Uniform, Shape::Linear(s)])
            | (Instruction::Sub, [Shape::Linear(s), Shape::Uniform]) => Shape::Linear(s.clone()),
            (Instruction::Mul, [Shape::Linear(s), Shape::Uniform]) => Shape::Linear(s.times(args[1])),
            (Instruction::Mul, [Shape::Uniform, Shape::Linear(s)]) => Shape::Linear(s.times(args[0])),
            (Instruction::Shl, [Shape::Linear(s), Shape::Uniform]) => match args[1].as_i64() {
                Some(n @ 0..=62) => Shape::Linear(s.times(Operand::i64(1 << n))),
                Some(_) | None => Shape::Varying,
            },
            (Instruction::And, [Shape::Linear(s), Shape::Uniform])
                if s.number() == Some(1) && self.is_lane_of_block(args) =>
            {
                Shape::Linear(s.clone())
            }
            _ => Shape::Varying,
        }
    }

    /// Whether the lanes of this conjunction are 0, 1, 2, ...: the number of a partial result of a reduction, where the
    /// first lane is the first number of a block.
    pub(super) fn is_lane_of_block(&self, args: &[Operand]) -> bool {
        args[1].as_i64() == Some(LANES as i64 - 1)
            && self.lanes as usize == LANES
            && self.alignment(args[0], 8) >= LANES
    }

    /// A power of two that divides the first lane of an i64.
    fn alignment(&self, operand: Operand, depth: u32) -> usize {
        const MOST: u32 = 32;
        if let Some(n) = operand.as_i64() {
            return 1 << n.trailing_zeros().min(MOST);
        }
        let Operand::Local(local) = operand else { return 1 };
        if local == self.index {
            return self.lanes as usize;
        }
        let Some(Expr::Native { instruction, elem: Elem::I64, args }) = self.definitions.get(&local) else { return 1 };
        if depth == 0 {
            return 1;
        }
        let of = |k: usize| self.alignment(args[k], depth - 1);
        if let Instruction::Add | Instruction::Sub = instruction {
            return of(0).min(of(1));
        }
        let factor = match (instruction, args.get(1).and_then(|a| a.as_i64())) {
            (Instruction::Mul, _) => of(1),
            (Instruction::Shl, Some(n @ 0..=30)) => 1 << n,
            _ => return 1,
        };
        of(0).saturating_mul(factor).min(1 << MOST)
    }

    // ---- what can't be done

    fn admit(&self, nodes: &[Node], independence: Independence) -> Result<(), &'static str> {
        for node in nodes {
            self.admit_node(node, independence)?;
            for list in node.lists() {
                self.admit(list, independence)?;
            }
        }
        Ok(())
    }

    fn admit_node(&self, node: &Node, independence: Independence) -> Result<(), &'static str> {
        if let Node::Let(local, expr) = node {
            return self.admit_value(*local, expr);
        }
        if let Node::Load(local, _) = node {
            return self.admit_elem(*local);
        }
        if let Node::Store(to, Operand::Local(new)) = node
            && self.sums.is_new(*new)
        {
            return self.admit_sum(*to);
        }
        if let Node::Store(to, _) | Node::Copy { to, .. } = node {
            return self.admit_store(*to, independence);
        }
        if let Node::Combine { target: Target::Element(place), .. } = node
            && self.sums.are_ordered
            && !self.private.contains(&place.buffer)
        {
            return self.admit_sum(*place);
        }
        if let Node::PartialSums(sums) = node {
            return self.admit_partial_sums(sums);
        }
        if let Node::Alloc { buffer, extents } = node {
            return self.admit_array(*buffer, extents);
        }
        if let Node::Bind { buffer, to } = node {
            return self.admit_name(*buffer, *to);
        }
        if let Node::LoadLanes { .. } | Node::StoreLanes { .. } = node {
            return Err("an inner loop has lanes already");
        }
        if let Node::Reduce(_) = node {
            return Err("a reduction in it is not cut into partial results");
        }
        let mut admitted = Ok(());
        node.each_part(&mut |part| match part {
            Part::Buffer(buffer, BufferUse::ExtendStack) if !self.private.contains(buffer) => {
                admitted = Err("it lets a stack grow that stands outside");
            }
            Part::Effect(Effect::UsesLibrary) => admitted = Err("it calls a library"),
            Part::Effect(Effect::Prints) => admitted = Err("it prints"),
            Part::Effect(Effect::Calls) => admitted = Err("it calls a function"),
            Part::Effect(Effect::Fails | Effect::CountsRecord)
            | Part::Local(..)
            | Part::Operand(..)
            | Part::Buffer(..)
            | Part::List(_) => {}
        });
        admitted
    }

    fn admit_array(&self, buffer: Buffer, extents: &[Operand]) -> Result<(), &'static str> {
        let info = &self.f.buffers[buffer.index()];
        match info.kind {
            BufferKind::Allocated(Home::Arena | Home::Frame) if info.is_record || self.is_known_outside(extents) => {
                Ok(())
            }
            BufferKind::Allocated(Home::Arena | Home::Frame) => {
                Err("it makes an array whose size is known only inside")
            }
            BufferKind::Allocated(Home::Result(_)) | BufferKind::Param(_) | BufferKind::Stack | BufferKind::Bound => {
                Err("it makes a result")
            }
        }
    }

    /// Lanes close blocks in partial results of their own.
    fn admit_partial_sums(&self, sums: &PartialSums) -> Result<(), &'static str> {
        if sums.stride != 1 {
            return Err("an inner loop has lanes already");
        }
        if !self.private.contains(&sums.lanes.buffer) {
            return Err("the blocks of its reduction are not those of the loop");
        }
        let is_known = self.is_uniform(sums.lanes.offset) && self.is_uniform(sums.size);
        if is_known { Ok(()) } else { Err("its reductions have values of different sizes") }
    }

    /// Whether extents are known before the loop.
    pub(super) fn is_known_outside(&self, extents: &[Operand]) -> bool {
        !extents.iter().any(|e| self.is_inside(*e))
    }

    fn is_inside(&self, operand: Operand) -> bool {
        match operand {
            Operand::Local(local) => self.inside.contains(&local) || local == self.index,
            Operand::Const(_) => false,
        }
    }

    /// A name is one for the arrays of all lanes.
    fn admit_name(&self, buffer: Buffer, to: Place) -> Result<(), &'static str> {
        let is_one = self.private.contains(&to.buffer) && !self.bound_again.contains(&buffer);
        if is_one && self.is_uniform(to.offset) { Ok(()) } else { Err("it gives memory a second name") }
    }

    /// Lanes write to memory from outside only where each has a place of its own.
    fn admit_store(&self, to: Place, independence: Independence) -> Result<(), &'static str> {
        if self.private.contains(&to.buffer) {
            return Ok(());
        }
        match (self.of_operand(to.offset), independence) {
            (Shape::Linear(_), _) | (Shape::Varying, Independence::All) => Ok(()),
            (Shape::Varying, Independence::Block | Independence::Ordered | Independence::None) => {
                Err("the blocks of its reduction are not those of the loop")
            }
            (Shape::Uniform, _) => Err("its iterations write to one place"),
        }
    }

    /// The element that lanes change in turn is the same one.
    fn admit_sum(&self, place: Place) -> Result<(), &'static str> {
        if self.is_uniform(place.offset) { Ok(()) } else { Err("its iterations change different elements in turn") }
    }

    fn admit_value(&self, local: Local, expr: &Expr) -> Result<(), &'static str> {
        if self.is_uniform(local.into()) {
            return Ok(());
        }
        self.admit_elem(local)?;
        match expr {
            Expr::Native { elem, .. } | Expr::Host { elem, .. } if elem.storage().is_some() => {
                Err("it computes with a storage type")
            }
            Expr::Native { .. }
            | Expr::Host { .. }
            | Expr::Copy(_)
            | Expr::Iota(_)
            | Expr::Any(_)
            | Expr::First(_)
            | Expr::Fold(..)
            | Expr::Lane(_) => Ok(()),
        }
    }

    fn admit_elem(&self, local: Local) -> Result<(), &'static str> {
        let is_plain = self.is_uniform(local.into()) || self.f.elem(local).storage().is_none();
        if is_plain { Ok(()) } else { Err("it computes with a storage type") }
    }
}
