//! The cut (host-device partitioning): nodes in a row that a single thread runs become one kernel, each loop and reduction
//! that many threads share becomes one, and control around those becomes steps of the host.

mod addition;
mod ahead;
mod dead;
mod grouped;
mod kernels;
mod own;
mod recomputed;
mod regions;
mod scattered;
mod staged;
mod watched;
mod writer;

use crate::cost::{MOST, cost};
use crate::inline::inlined;
use crate::parallel::Role;
use crate::places::OnDevice;
use crate::plan::{Cells, Kernel, KernelId, Plan, PlanError, PlanParts, Shape, Step};
use cotan_ir::bug;
use cotan_loops::node::{BufferUse, Effect, OperandUse, Part, any};
use cotan_loops::{Argument, Local, LoopFunction, Node, Operand, VerifiedNests};
use own::Subscripts;

/// The plan of a function, with all that it calls. The nests are those of [`DEVICE`](cotan_loops::DEVICE), with the passes
/// [`FOR_DEVICES`](cotan_loops::pipeline::FOR_DEVICES) run.
pub fn plan(functions: &VerifiedNests, name: &str) -> Result<Plan, PlanError> {
    inlined(functions, name).map(planned)
}

/// The plan of a function with plain products, a call of which is one for the host where a result that is an array has a NaN. Of
/// results that are scalars the caller sees it.
pub fn plan_watching(functions: &VerifiedNests, name: &str) -> Result<Plan, PlanError> {
    let mut function = inlined(functions, name)?;
    watched::watch_all_results(&mut function);
    Ok(planned(function))
}

fn planned(mut function: LoopFunction) -> Plan {
    recomputed::recompute_elements(&mut function);
    staged::stage_reductions(&mut function);
    scattered::distribute_accumulation(&mut function);
    let body = std::mem::take(&mut function.body);
    let whole = LoopFunction { body, ..function.clone() };
    let mut device = OnDevice::of(&whole);
    let subscripts = Subscripts::of(&whole);
    let results: Vec<Operand> = function.results.iter().flat_map(Argument::operands).collect();
    let (f, kernels) = (&mut function, Vec::new());
    let mut cut = Cut { f, device: &mut device, subscripts: &subscripts, kernels, in_device_loop: 0 };
    let mut steps = cut.list(&whole.body);
    cut.read_back(&results, &mut steps);
    let mut plan = PlanParts { kernels: cut.kernels, function, steps, cells: Cells::default(), growing: Vec::new() };
    kernels::connect(&mut plan, &device);
    dead::remove_dead_kernels(&mut plan);
    regions::size(&mut plan);
    Plan::new(plan)
}

struct Cut<'c> {
    f: &'c mut LoopFunction,
    device: &'c mut OnDevice,
    subscripts: &'c Subscripts,
    kernels: Vec<Kernel>,
    /// How many loops are around whose length only the device knows.
    in_device_loop: usize,
}

/// Steps that are being written, and behind them what the next kernel of one thread runs.
#[derive(Default)]
struct Row {
    steps: Vec<Step>,
    pending: Vec<Node>,
    /// The cost of what is pending.
    cost: usize,
}

impl Cut<'_> {
    fn list(&mut self, nodes: &[Node]) -> Vec<Step> {
        let mut row = Row::default();
        nodes.iter().for_each(|node| self.node(node, &mut row));
        self.flush(&mut row);
        row.steps
    }

    fn node(&mut self, node: &Node, row: &mut Row) {
        match Role::of(self.f, node) {
            Role::Thread => self.thread(node, row),
            Role::Kernel => {
                self.flush(row);
                self.wide(node, row);
            }
            Role::Control => self.control(node, row),
            Role::Host => {
                self.flush(row);
                self.host(node, row);
            }
        }
    }

    /// A node that a thread runs, unless the host can.
    fn thread(&mut self, node: &Node, row: &mut Row) {
        if let Node::Segment(body) = node {
            body.iter().for_each(|node| self.node(node, row));
        } else if let Node::Let(to, _) = node
            && !self.device.locals.contains(to)
        {
            row.steps.push(Step::Node(node.clone()));
        } else if let Node::Set(to, _) = node
            && !self.device.locals.contains(to)
        {
            if mentions(&row.pending, *to) {
                self.flush(row);
            }
            row.steps.push(Step::Node(node.clone()));
        } else if node.has(Effect::CountsRecord) {
            // What is counted is shown by a backend, and changes nothing.
        } else if moves_memory(node) {
            self.host(node, row);
        } else if node.has(Effect::Fails) && row.pending.is_empty() && !self.any_on_device(node) {
            row.steps.push(Step::Node(node.clone()));
        } else {
            // A kernel that takes drivers too long to compile would be refused.
            let cost = cost(node);
            if row.cost + cost > MOST {
                self.flush(row);
            }
            row.cost += cost;
            row.pending.push(node.clone());
        }
    }

    /// A step of the host, which knows the numbers in it.
    fn host(&mut self, node: &Node, row: &mut Row) {
        let mut operands = Vec::new();
        let mut names = Vec::new();
        node.each_part(&mut |part| match part {
            Part::Operand(operand, OperandUse::Read | OperandUse::Note) => operands.push(*operand),
            Part::Buffer(buffer, usage) if !matches!(usage, BufferUse::Bind) => names.push(*buffer),
            Part::Local(..) | Part::Buffer(..) | Part::List(_) | Part::Effect(_) => {}
        });
        names.retain(|name| self.device.names.contains(name));
        if !names.is_empty() || operands.iter().any(|operand| self.device.has(*operand)) {
            self.flush(row);
        }
        self.read_back(&operands, &mut row.steps);
        row.steps.extend(names.into_iter().map(Step::ReadName));
        row.steps.push(Step::Node(node.clone()));
    }

    /// A node that many threads share.
    fn wide(&mut self, node: &Node, row: &mut Row) {
        if let Node::For(l) = node {
            let mut indices = vec![(l.index, l.count)];
            let mut body = &l.body;
            let is_shared = self.subscripts.are_shared(l);
            // A perfect nest is one index space.
            while !is_shared
                && let [Node::For(inner)] = &body[..]
                && Role::of(self.f, &body[0]) == Role::Kernel
                && !self.subscripts.are_shared(inner)
                && !indices.iter().any(|(index, _)| inner.count == (*index).into())
            {
                indices.push((inner.index, inner.count));
                body = &inner.body;
            }
            self.read_back(&Vec::from_iter(indices.iter().map(|(_, count)| *count)), &mut row.steps);
            if is_shared {
                let shape = Shape::InOrder { index: l.index, count: l.count };
                self.launch(shape, body.clone(), row);
            } else {
                self.launch(Shape::Each(indices), body.clone(), row);
            }
        } else if let Node::Reduce(reduction) = node {
            self.read_back(&Vec::from_iter(reduction.indices.iter().map(|(_, count)| *count)), &mut row.steps);
            let shape = Shape::Reduce { indices: reduction.indices.clone(), sums: reduction.sums.clone() };
            self.launch(shape, reduction.body.clone(), row);
        } else if let Node::Copy { from, to, count } = node {
            if self.in_device_loop > 0 {
                self.copy_kernel(*from, *to, *count, row);
            } else {
                self.host(node, row);
            }
        } else {
            bug!("plan for a device", self.f, "a kernel of no loop: {node:?}");
        }
    }

    /// Control that the host takes over.
    fn control(&mut self, node: &Node, row: &mut Row) {
        if let Node::Segment(body) = node {
            body.iter().for_each(|node| self.node(node, row));
            return;
        }
        if let Node::While(go, body) = node
            && self.device.locals.contains(go)
        {
            self.device_loop(*go, body, row);
            return;
        }
        self.flush(row);
        self.read_back(&node.selectors(), &mut row.steps);
        let step = if let Node::Scope(body) = node {
            Step::Scope(self.list(body))
        } else if let Node::For(l) = node {
            Step::For { index: l.index, count: l.count, body: self.list(&l.body) }
        } else if let Node::While(go, body) = node {
            Step::While(*go, self.list(body))
        } else if let Node::If(cond, yes, no) = node {
            Step::If(*cond, self.list(yes), self.list(no))
        } else if let Node::Switch(number, arms) = node {
            Step::Switch(*number, arms.iter().map(|arm| self.list(arm)).collect())
        } else {
            bug!("plan for a device", self.f, "control of no kind: {node:?}")
        };
        row.steps.push(step);
    }

    // ---- rows

    /// Ends the kernel of one thread.
    fn flush(&mut self, row: &mut Row) {
        if !row.pending.is_empty() {
            let body = std::mem::take(&mut row.pending);
            row.cost = 0;
            self.launch(Shape::One, body, row);
        }
    }

    fn launch(&mut self, shape: Shape, body: Vec<Node>, row: &mut Row) {
        row.steps.push(Step::Launch(KernelId(self.kernels.len() as u32)));
        self.kernels.push(Kernel::new(shape, body));
    }

    /// Lets the host know operands that lie on the device.
    fn read_back(&self, operands: &[Operand], steps: &mut Vec<Step>) {
        for operand in operands {
            if let Operand::Local(local) = operand
                && self.device.has(*operand)
                && !matches!(steps.last(), Some(Step::ReadBack(last)) if last == local)
            {
                steps.push(Step::ReadBack(*local));
            }
        }
    }

    fn any_on_device(&self, node: &Node) -> bool {
        let mut found = false;
        node.each_operand(&mut |operand| found |= self.device.has(operand));
        found
    }
}

/// Whether it gives memory, or names it.
fn moves_memory(node: &Node) -> bool {
    let mut moves = false;
    node.each_buffer(&mut |_, usage| {
        moves |= matches!(
            usage,
            BufferUse::Allocate | BufferUse::OpenStack | BufferUse::ExtendStack | BufferUse::Bind | BufferUse::Receive
        );
    });
    moves
}

fn mentions(nodes: &[Node], local: Local) -> bool {
    any(nodes, &mut |node| {
        let mut found = false;
        node.each_operand(&mut |operand| found |= operand == local.into());
        found
    })
}

impl Kernel {
    fn new(shape: Shape, body: Vec<Node>) -> Kernel {
        Kernel {
            shape,
            body,
            arguments: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            buffers: Vec::new(),
            regions: Vec::new(),
            reads_names: Vec::new(),
            writes_names: Vec::new(),
            only_if: None,
        }
    }
}
