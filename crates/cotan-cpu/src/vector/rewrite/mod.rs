//! Writes a loop whose iterations run side by side.
//!
//! One iteration of the new loop, a strip, runs as many of the old one as it has lanes. What is the same in all lanes
//! stays a scalar; what an iteration allocates is one array for each lane, element by element beside each other, made
//! once for a strip. Where lanes part, at branches and at loops whose trips differ, a mask says which of them run: an
//! arm runs if any lane takes it, a loop until none is left. The lanes of the last strip that stand for no iteration
//! are never in a mask.
//!
//! Note [Failing lanes]. A lane whose check fails takes no part in what follows, and leaves the number of the check and
//! what it reports behind. After the strip the first lane that failed ends the call: so the lowest iteration is
//! reported, as if they had run one after the other. The first lane of all ends it on the spot, however long the others
//! would go on, and so does a check that looks at nothing that differs between lanes. A whole strip whose checks come
//! before everything that it writes has no use for such masks: where a lane fails, nothing is done, and its iterations
//! run one after the other until that one ends the call. They are those of the loop as it was, which may stand in one
//! place only: where it runs if lanes do not pay, strips have such masks, and so has the last strip of a short body.
//!
//! Note [Rows]. Lanes that each read a row of a matrix read elements that lie a row apart. Where inner loops read the
//! same rows again and again, the rows of all lanes are brought together once, at the head of a strip, element by
//! element beside each other. It takes a matrix with a row for each iteration, so that all of them are there.

mod checks;
mod control;
mod in_order;
mod lane_sums;
mod memory;
mod records;
mod scalars;
mod scatter;

use super::shape::{Shape, Shapes, Stride};
use checks::{checks_first, has_check, has_failing_checks, is_harmless};
use cotan_ir::{CheckKind, Const, Elem, Span, bug};
use cotan_loops::node::{
    Buffer, BufferInfo, Expr, For, Independence, Local, LocalInfo, LoopFunction, Node, Operand, Threads, any, count,
};
use cotan_ops::Instruction;
use lane_sums::LaneSum;
use records::{Records, has_uneven_records};
use rustc_hash::FxHashMap;
use scatter::Scatters;

/// Bytes of an array for all lanes up to which it stays in the frame.
const FRAME_BYTES: i64 = 4096;

/// Nodes of an arm of a branch up to which all lanes run it, if it has nothing in it but arithmetic and memory of lanes.
const SHORT_ARM: usize = 12;

/// Nodes of a body up to which it is written twice, so that strips with an iteration for every lane go without masks.
const SHORT_BODY: usize = 64;

/// The tables that a rewriting adds to.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) locals: Vec<LocalInfo>,
    pub(super) buffers: Vec<BufferInfo>,
    pub(super) regroups_sums: bool,
}

impl Tables {
    fn local(&mut self, name: &str, elem: Elem, lanes: u32, is_mutable: bool) -> Local {
        self.locals.push(LocalInfo { name: name.into(), elem, is_mutable, lanes });
        Local(self.locals.len() as u32 - 1)
    }
}

/// How the strips of a loop are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// In the place of the loop, whose locals may be bound once more.
    Replaced,
    /// Beside the loop, which stands where lanes do not pay.
    Beside,
    /// Beside the loop, for at least as many iterations as there are lanes: the last strip is whole, too, and begins with
    /// iterations that ran before.
    Repeating,
}

/// The loop over strips that does what `l` does.
pub(super) fn rewrite(
    tables: Tables,
    f: &LoopFunction,
    shapes: &Shapes,
    l: &For,
    writing: Writing,
) -> (Vec<Node>, Tables) {
    let mut w = Writer {
        f,
        shapes,
        tables,
        lanes: shapes.lanes,
        values: FxHashMap::default(),
        buffers: FxHashMap::default(),
        mutable: FxHashMap::default(),
        open: vec![Vec::new()],
        head: Vec::new(),
        rows: FxHashMap::default(),
        scatters: Scatters::default(),
        lane_sums: Vec::new(),
        keeps_lane_sums: l.threads == Threads::One,
        inner: Vec::new(),
        from_the_end: FxHashMap::default(),
        index: l.index,
        count: l.count,
        mask: Mask { number: 0, lanes: None },
        live: None,
        n_live: Operand::i64(shapes.lanes.into()),
        n_masks: 1,
        failing: None,
        records: None,
        checks: Vec::new(),
        hopeful: None,
        is_replaced: writing == Writing::Replaced,
        is_repeating: writing == Writing::Repeating,
        takes_arena: false,
    };
    let nodes = if writing == Writing::Repeating { w.repeating(l) } else { w.strips(l) };
    (nodes, w.tables)
}

/// What an old local has become.
#[derive(Clone, Debug)]
enum Value {
    /// The same in all lanes, or the first of linear lanes.
    Scalar(Operand),
    /// One value in each.
    Lanes(Operand),
}

/// A mutable local, and the mask under which it got its first value.
#[derive(Clone, Copy, Debug)]
struct Variable {
    local: Local,
    first_mask: usize,
    /// What all lanes that run have in common, of a variable that a `while` steps.
    in_step: Option<Local>,
}

/// An array of which each lane has one.
#[derive(Clone, Copy, Debug)]
struct Private {
    /// Where those of all lanes lie.
    buffer: Buffer,
    /// The mask under which they were allocated: nobody reads what the others have.
    mask: usize,
}

/// The lanes that run, `None` for all of them. The number tells masks apart.
#[derive(Clone, Copy, Debug)]
struct Mask {
    number: usize,
    lanes: Option<Operand>,
}

/// Where lanes that failed leave their traces, see Note [Failing lanes].
#[derive(Clone, Debug)]
struct Failing {
    /// The lanes that have not failed.
    alive: Local,
    /// The number of the check that each lane failed.
    code: Local,
    /// What is reported: a buffer for each type.
    reports: Vec<(Elem, Buffer)>,
}

/// A check that lanes may fail.
struct FailingCheck {
    kind: CheckKind,
    span: Span,
    args: Vec<Elem>,
}

/// Whether a body is short enough to be written twice.
fn is_short(body: &[Node]) -> bool {
    let is_simple = |node: &Node| !matches!(node, Node::Alloc { .. } | Node::Scope(_) | Node::Segment(_));
    if !body.iter().any(Node::has_loop) {
        return body.len() <= SHORT_BODY && body.iter().all(is_simple) && checks_first(body);
    }
    let has_own_way = |node: &Node| !is_simple(node) || matches!(node, Node::While(..) | Node::StackOpen(_));
    count(body) <= SHORT_BODY && !body.iter().any(has_check) && !any(body, &mut |node| has_own_way(node))
}

struct Writer<'a, 'b> {
    f: &'a LoopFunction,
    shapes: &'b Shapes<'a>,
    tables: Tables,
    lanes: u32,
    values: FxHashMap<Local, Value>,
    buffers: FxHashMap<Buffer, Private>,
    mutable: FxHashMap<Local, Variable>,
    /// The lists that are being written, innermost last.
    open: Vec<Vec<Node>>,
    /// What is allocated at the head of a strip.
    head: Vec<Node>,
    /// The rows that were brought together, by matrix, see Note [Rows].
    rows: FxHashMap<Buffer, Buffer>,
    scatters: Scatters,
    lane_sums: Vec<LaneSum>,
    /// Whether what is combined with locals from outside stays in lanes until all strips are done.
    keeps_lane_sums: bool,
    /// The loops inside this one that are being written: index and count.
    inner: Vec<(Local, Operand)>,
    /// The numbers of the trips of loops that run backward, by index.
    from_the_end: FxHashMap<Local, Operand>,
    index: Local,
    count: Operand,
    mask: Mask,
    /// The lanes that stand for an iteration, `None` for all of them.
    live: Option<Operand>,
    /// How many these are, the first ones, where iterations keep their order in sums.
    n_live: Operand,
    n_masks: usize,
    failing: Option<Failing>,
    records: Option<Records>,
    checks: Vec<FailingCheck>,
    /// Whether a lane of a whole strip has failed, where that strip is then run again.
    hopeful: Option<Local>,
    /// Whether the loop as it was stands nowhere any more.
    is_replaced: bool,
    /// Whether its strips run in scalar code.
    is_repeating: bool,
    takes_arena: bool,
}

const TRUE: Operand = Operand::Const(Const::bool(true));
const FALSE: Operand = Operand::Const(Const::bool(false));

impl Writer<'_, '_> {
    // ---- writing nodes

    fn push(&mut self, node: Node) {
        self.open.last_mut().expect("invariant: a list is open").push(node);
    }

    fn list(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Node> {
        self.open.push(Vec::new());
        write(self);
        self.open.pop().expect("invariant: it was opened here")
    }

    fn define(&mut self, name: &str, elem: Elem, lanes: u32, expr: Expr) -> Operand {
        let local = self.tables.local(name, elem, lanes, false);
        self.push(Node::Let(local, expr));
        local.into()
    }

    fn elem_of(&self, operand: Operand) -> Elem {
        match operand {
            Operand::Local(local) => self.tables.locals[local.index()].elem,
            Operand::Const(c) => c.elem(),
        }
    }

    fn lanes_of(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Local(local) => self.tables.locals[local.index()].lanes,
            Operand::Const(_) => 1,
        }
    }

    /// An instruction on what has lanes, if any operand has.
    fn native(&mut self, instruction: Instruction, elem: Elem, result: Elem, args: &[Operand]) -> Operand {
        let lanes = args.iter().map(|a| self.lanes_of(*a)).max().unwrap_or(1);
        self.define("v", result, lanes, Expr::Native { instruction, elem, args: args.to_vec() })
    }

    fn both(&mut self, a: Option<Operand>, b: Operand) -> Operand {
        match a {
            None => b,
            Some(a) => self.native(Instruction::And, Elem::Bool, Elem::Bool, &[a, b]),
        }
    }

    fn i64(&mut self, instruction: Instruction, a: Operand, b: Operand) -> Operand {
        match (instruction, a.as_i64(), b.as_i64()) {
            (Instruction::Mul, Some(a), Some(b)) => Operand::i64(a.wrapping_mul(b)),
            (Instruction::Mul, _, Some(1)) => a,
            (Instruction::Mul, Some(1), _) => b,
            (Instruction::Add, Some(a), Some(b)) => Operand::i64(a.wrapping_add(b)),
            (Instruction::Max, Some(a), Some(b)) => Operand::i64(a.max(b)),
            (Instruction::Shl, Some(a), Some(b)) => Operand::i64(a << b),
            (Instruction::Shr, Some(a), Some(b)) => Operand::i64(a >> b),
            (Instruction::Add, Some(0), _) => b,
            (Instruction::Add, _, Some(0)) => a,
            _ => self.native(instruction, Elem::I64, Elem::I64, &[a, b]),
        }
    }

    // ---- values

    /// The value of an operand that is the same in all lanes; of linear lanes, the first.
    fn scalar(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Const(_) => operand,
            Operand::Local(local) => match self.values.get(&local) {
                None => operand,
                Some(Value::Scalar(value)) => *value,
                Some(Value::Lanes(_)) => {
                    bug!("vectorise", self.f, "{local:?} has a value of its own in each lane")
                }
            },
        }
    }

    /// The value of an operand in every lane; one without lanes is the same in all.
    fn in_lanes(&mut self, operand: Operand) -> Operand {
        if let Operand::Local(local) = operand
            && let Some(Value::Lanes(value)) = self.values.get(&local)
        {
            return *value;
        }
        match self.shapes.of_operand(operand) {
            Shape::Uniform => self.scalar(operand),
            Shape::Linear(stride) => {
                let first = self.scalar(operand);
                self.linear(first, &stride)
            }
            Shape::Varying => bug!("vectorise", self.f, "{operand:?} has lanes that nothing has written"),
        }
    }

    /// Lanes that grow from the first one on.
    fn linear(&mut self, first: Operand, stride: &Stride) -> Operand {
        if stride.number() == Some(1) {
            return self.define("lanes", Elem::I64, self.lanes, Expr::Iota(first));
        }
        let step = self.step(stride);
        let numbers = self.define("lanes", Elem::I64, self.lanes, Expr::Iota(Operand::i64(0)));
        let mut offsets = self.i64(Instruction::Mul, numbers, step);
        if self.is_repeating && stride.number().is_none() {
            // A compiler that knows that rows are equally far apart walks from each to the next one, by additions in a row.
            offsets = self.native(Instruction::Identity, Elem::I64, Elem::I64, &[offsets]);
        }
        self.i64(Instruction::Add, offsets, first)
    }

    fn step(&mut self, stride: &Stride) -> Operand {
        let by: Vec<Operand> = stride.by.iter().map(|o| self.scalar(*o)).collect();
        by.into_iter().fold(Operand::i64(stride.factor), |product, o| self.i64(Instruction::Mul, product, o))
    }

    // ---- masks

    fn new_mask(&mut self, lanes: Operand) -> Mask {
        self.n_masks += 1;
        Mask { number: self.n_masks, lanes: Some(lanes) }
    }

    /// The lanes that may touch memory: those that run, and have not failed.
    fn running(&mut self) -> Option<Operand> {
        match self.failing.clone() {
            None => self.mask.lanes,
            Some(failing) => {
                let alive = self.define("alive", Elem::Bool, self.lanes, Expr::Copy(failing.alive.into()));
                Some(self.both(self.mask.lanes, alive))
            }
        }
    }

    /// What runs under another mask.
    fn under(&mut self, mask: Mask, write: impl FnOnce(&mut Self)) -> Vec<Node> {
        let outside = std::mem::replace(&mut self.mask, mask);
        let nodes = self.list(write);
        self.mask = outside;
        nodes
    }

    // ---- the loop

    fn strips(&mut self, l: &For) -> Vec<Node> {
        let lanes = i64::from(self.lanes);
        let bits = Operand::i64(self.lanes.trailing_zeros().into());
        let is_even = l.count.as_i64().is_some_and(|n| n % lanes == 0);
        let may_be_whole = l.count.as_i64().is_none_or(|n| n > lanes);
        if is_even || may_be_whole && is_short(&l.body) {
            let count = self.i64(Instruction::Max, l.count, Operand::i64(0));
            let n_whole = self.i64(Instruction::Shr, count, bits);
            self.each_strip(l, n_whole, bits, |w, first| w.whole(l, first));
            if !is_even {
                self.rest(l, n_whole, bits);
            }
        } else {
            let last = self.i64(Instruction::Add, l.count, Operand::i64(lanes - 1));
            let n_strips = self.i64(Instruction::Shr, last, bits);
            self.each_strip(l, n_strips, bits, |w, first| w.only_masked(l, first));
        }
        let strips = self.open.pop().expect("invariant: the outermost list is open");
        self.around_lane_sums(strips)
    }

    /// Whole strips, the last of which begins so early that it has an iteration for every lane.
    fn repeating(&mut self, l: &For) -> Vec<Node> {
        let lanes = i64::from(self.lanes);
        let bits = Operand::i64(self.lanes.trailing_zeros().into());
        let is_even = l.count.as_i64().is_some_and(|n| n % lanes == 0);
        let last = self.i64(Instruction::Add, l.count, Operand::i64(lanes - 1));
        let n_strips = self.i64(Instruction::Shr, last, bits);
        let latest = self.i64(Instruction::Add, l.count, Operand::i64(-lanes));
        self.each_strip(l, n_strips, bits, |w, first| {
            if !is_even {
                let first = w.i64(Instruction::Min, first, latest);
                w.values.insert(l.index, Value::Scalar(first));
            }
            w.body(l);
        });
        self.open.pop().expect("invariant: the outermost list is open")
    }

    fn each_strip(&mut self, l: &For, count: Operand, bits: Operand, write: impl FnOnce(&mut Self, Operand)) {
        let strip = self.tables.local("strip", Elem::I64, 1, false);
        // What comes after the loop knows nothing of what is defined in it.
        let (values, mutable) = (self.values.clone(), self.mutable.clone());
        let body = self.list(|w| {
            let first = w.i64(Instruction::Shl, strip.into(), bits);
            w.values.insert(l.index, Value::Scalar(first));
            write(w, first);
        });
        (self.values, self.mutable) = (values, mutable);
        self.rows.clear();
        self.push(Node::For(Box::new(For {
            index: strip,
            count,
            threads: l.threads.clone(),
            independence: Independence::None,
            lanes: self.lanes,
            may_flush: l.may_flush,
            body,
        })));
    }

    /// The iterations that whole strips leave.
    fn rest(&mut self, l: &For, n_whole: Operand, bits: Operand) {
        let first = self.i64(Instruction::Shl, n_whole, bits);
        self.values.insert(l.index, Value::Scalar(first));
        let is_some = self.native(Instruction::Lt, Elem::I64, Elem::Bool, &[first, l.count]);
        let nodes = self.list(|w| w.masked(l, first));
        self.push(Node::If(is_some, nodes, Vec::new()));
    }

    /// A strip with an iteration for every lane.
    fn whole(&mut self, l: &For, first: Operand) {
        let n_lanes = Operand::i64(self.lanes.into());
        if self.may_hope(l) { self.hopeful(l, first, n_lanes) } else { self.body(l) }
    }

    /// Whether nothing is done in a strip where a lane fails, and its iterations are then run one by one, see
    /// Note [Failing lanes].
    fn may_hope(&self, l: &For) -> bool {
        self.is_replaced && checks_first(&l.body) && has_failing_checks(&l.body, self.shapes, false)
    }

    /// A strip that is run again, one iteration after the other, if a lane fails.
    fn hopeful(&mut self, l: &For, first: Operand, n_lanes: Operand) {
        let fails = self.tables.local("fails", Elem::Bool, 1, true);
        self.push(Node::Set(fails, FALSE));
        self.hopeful = Some(fails);
        self.body(l);
        self.hopeful = None;
        let failed = self.define("failed", Elem::Bool, 1, Expr::Copy(fails.into()));
        let one_by_one = self.list(|w| {
            let lane = w.tables.local("lane", Elem::I64, 1, false);
            let args = vec![first, lane.into()];
            let number = Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args };
            let mut body = vec![Node::Let(l.index, number)];
            body.extend(l.body.iter().cloned());
            w.push_loop(lane, n_lanes, body, false);
        });
        self.push(Node::If(failed, one_by_one, Vec::new()));
    }

    /// Masks the lanes of a strip that stand for no iteration.
    fn mask_strip(&mut self, l: &For, first: Operand) {
        let numbers = self.define("lanes", Elem::I64, self.lanes, Expr::Iota(first));
        let live = self.native(Instruction::Lt, Elem::I64, Elem::Bool, &[numbers, l.count]);
        self.mask = Mask { number: 0, lanes: Some(live) };
        self.live = Some(live);
        if l.independence == Independence::Ordered {
            self.n_live = self.count_live(l, first);
        }
    }

    /// How many lanes of a strip stand for an iteration.
    fn count_live(&mut self, l: &For, first: Operand) -> Operand {
        let left = self.i64(Instruction::Sub, l.count, first);
        self.i64(Instruction::Min, left, Operand::i64(self.lanes.into()))
    }

    /// The iterations of a strip that has some lanes to spare.
    fn masked(&mut self, l: &For, first: Operand) {
        self.mask_strip(l, first);
        self.body(l);
    }

    /// The same of a loop all strips of which are written once.
    fn only_masked(&mut self, l: &For, first: Operand) {
        self.mask_strip(l, first);
        if !self.may_hope(l) {
            return self.body(l);
        }
        let n_live = self.count_live(l, first);
        self.hopeful(l, first, n_live);
    }

    fn body(&mut self, l: &For) {
        let body = self.list(|w| {
            if w.hopeful.is_none() && has_failing_checks(&l.body, w.shapes, false) {
                w.open_failing();
            }
            if has_uneven_records(&l.body, w.shapes, false) {
                w.open_records();
            }
            w.nodes(&l.body);
            w.report_records();
            w.report_failures();
        });
        let mut nodes = std::mem::take(&mut self.head);
        self.scatters.forget_arrays();
        nodes.extend(body);
        if self.takes_arena {
            self.push(Node::Scope(nodes));
        } else {
            nodes.into_iter().for_each(|node| self.push(node));
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for (k, node) in nodes.iter().enumerate() {
            let rest = &nodes[k + 1..];
            if !self.scatters.may_wait_for(node) {
                self.flush_scattered();
            }
            if let (Some(fails), Node::Check { cond, .. }) = (self.hopeful, node) {
                return self.hope(*cond, fails, rest);
            }
            self.node(node);
            if self.failing.is_some() && has_check(node) && !rest.iter().all(is_harmless) {
                // Where no lane is left, what all lanes share may be out of bounds.
                let running = self.running().unwrap_or(TRUE);
                let any = self.define("any", Elem::Bool, 1, Expr::Any(running));
                let rest = self.list(|w| w.nodes(rest));
                return self.push(Node::If(any, rest, Vec::new()));
            }
        }
        self.flush_scattered();
    }

    fn node(&mut self, node: &Node) {
        if self.shapes.sums.is_part(node) {
            // The store does it all.
            return;
        }
        if let Node::Store(to, Operand::Local(new)) = node
            && self.shapes.sums.is_new(*new)
        {
            return self.update_in_order(*to, *new);
        }
        match node {
            Node::Let(local, expr) => self.definition(*local, expr),
            Node::Set(local, value) => self.assign(*local, *value),
            Node::Load(local, from) => self.load(*local, *from),
            Node::Store(to, value) => {
                let value = self.in_lanes(*value);
                self.store(*to, value);
            }
            Node::Combine { monoid, target, value } => self.combine(*monoid, *target, *value),
            Node::Copy { from, to, count } => self.copy(*from, *to, *count),
            Node::PartialSums(sums) => self.partial_sums(sums),
            Node::Alloc { buffer, extents } => self.allocate(*buffer, extents),
            Node::CountRecord(elem, extents) => self.count_record(*elem, extents),
            Node::StackOpen(buffer) => self.open_stack(*buffer),
            Node::StackExtend(buffer, count) => self.extend_stack(*buffer, *count),
            Node::Bind { buffer, to } => self.bind(*buffer, *to),
            Node::Scope(body) | Node::Segment(body) => self.nodes(body),
            Node::For(l) => self.counted(l),
            Node::While(go, body) => self.repeat_while(*go, body),
            Node::If(cond, yes, no) => self.branches(*cond, yes, no),
            Node::Switch(on, arms) => self.switch(*on, arms),
            Node::Check { cond, kind, args, span } => self.check(*cond, *kind, args, *span),
            Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::Reduce(_)
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. } => bug!("vectorise", self.f, "a node cannot have lanes: {node:?}"),
        }
    }
}
