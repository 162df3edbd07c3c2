//! Loop distribution: what is not on a cycle of an ordered loop runs in lanes.
//!
//! A recurrence, or a sum into elements at places that depend on data, has an order, and most of what an iteration does is not
//! part of it. So the loop is cut into strips. In each strip the parts run one after the other: loops without an order,
//! which get lanes, and loops of what has one. They hand values on in arrays of a strip, which stay in the first cache; an
//! index, or an element that nothing changes, is had again instead. All additions come in the order in which they came before,
//! so no bit changes.

mod groups;

use crate::invariants::{Renamed, Steps, defined_in};
use crate::vector;
use cotan_ir::{Elem, Span};
use cotan_loops::node::{
    Buffer, BufferInfo, BufferKind, BufferUse, Definitions, Expr, For, Home, Independence, Local, LocalInfo, LocalUse,
    LoopFunction, Mentions, Node, Operand, Part, PartMut, Place, Threads, definitions_of, walk, walk_mut,
};
use cotan_loops::{NestPass, TaskSizes};
use cotan_ops::Instruction;
use groups::{Group, Touched, groups, is_private};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "distribute",
    doc: "Splits ordered loops, so that what is not on a cycle gets lanes.",
    run: |f, context| distribute(f, context.tasks),
};

/// Values that one part hands on to others, at most.
const MOST_VALUES: usize = 16;

/// Nodes by which a value is had again, at most.
const MOST_AGAIN: usize = 6;

/// What an element costs that lanes gather, beside what the vectoriser takes for it.
const GATHERED: f64 = 4.0;

/// Distributes the ordered innermost loops of a function that are not inside of independent ones.
pub fn distribute(f: &mut LoopFunction, sizes: TaskSizes) {
    let body = std::mem::take(&mut f.body);
    let (mentions, renamed) = (Mentions::of(&body), Renamed::of(&body));
    let body = Distribution { f, mentions, renamed, sizes }.list(body);
    f.body = body;
}

struct Distribution<'a> {
    f: &'a mut LoopFunction,
    mentions: Mentions,
    /// The buffers whose memory has other names.
    renamed: Renamed,
    sizes: TaskSizes,
}

impl Distribution<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        if let Node::For(l) = node {
            let is_candidate = l.independence == Independence::None && self.is_whole(&l);
            if is_candidate {
                return self.distributed(*l);
            }
            return vec![Node::For(self.around(l))];
        }
        node.map_lists(|list| self.list(list));
        vec![node]
    }

    /// A loop around others. Independent ones get lanes themselves.
    fn around(&mut self, mut l: Box<For>) -> Box<For> {
        if l.independence == Independence::None {
            l.body = self.list(l.body);
        }
        l
    }

    /// Whether a loop may be distributed as far as its head tells: an innermost loop that nothing was done with.
    fn is_whole(&self, l: &For) -> bool {
        let is_long = l.count.as_i64().is_none_or(|n| n >= self.sizes.least_distributed);
        l.threads == Threads::One && l.lanes == 1 && is_long && !l.body.iter().any(Node::has_loop)
    }

    fn distributed(&mut self, l: For) -> Vec<Node> {
        let touched: Vec<Touched> = l.body.iter().map(|node| Touched::by(node, self.f)).collect();
        let (n_locals, n_buffers) = (self.f.locals.len(), self.f.buffers.len());
        let parts = groups(self.f, &l, &touched, &self.mentions)
            .filter(|_| {
                touched.iter().flat_map(Touched::changed).all(|buffer| self.renamed.has_one_name(self.f, buffer))
            })
            .and_then(|groups| Parts::new(self.f, &l, &touched, &groups, &self.mentions).written(self.sizes.strip));
        if let Some(parts) = parts {
            let cost: f64 = parts.loops.iter().map(|part| vector::iteration_cost(self.f, part) + gathers(part)).sum();
            if cost < self.sizes.worth * vector::iteration_cost(self.f, &l) {
                return self.where_long(l, parts.in_strips);
            }
        }
        self.f.locals.truncate(n_locals);
        self.f.buffers.truncate(n_buffers);
        vec![Node::For(Box::new(l))]
    }

    /// The parts where the loop has enough iterations, else the loop.
    fn where_long(&mut self, l: For, parts: Vec<Node>) -> Vec<Node> {
        if l.count.as_i64().is_some() {
            return parts;
        }
        let args = vec![l.count, Operand::i64(self.sizes.least_distributed)];
        let is_long = new_local(self.f, "is_long", Elem::Bool);
        let test = Expr::Native { instruction: Instruction::Ge, elem: Elem::I64, args };
        vec![Node::Let(is_long, test), Node::If(is_long.into(), parts, vec![Node::For(Box::new(l))])]
    }
}

/// The parts of a loop.
struct Written {
    /// What stands in the place of the loop.
    in_strips: Vec<Node>,
    /// The loops over a strip.
    loops: Vec<For>,
}

/// Writes the parts of a loop.
struct Parts<'a> {
    f: &'a mut LoopFunction,
    l: &'a For,
    touched: &'a [Touched],
    groups: &'a [Group],
    mentions: &'a Mentions,
    definitions: Definitions,
    /// What the iterations change.
    changed: FxHashSet<Buffer>,
    /// Loads, by what they define.
    loads: FxHashMap<Local, Place>,
    /// The group that defines each local.
    group_of: FxHashMap<Local, usize>,
    /// The arrays of a strip, by what they hold.
    arrays: Vec<(Local, Buffer)>,
    /// Whether memory is gone through backwards.
    is_backwards: bool,
}

impl<'a> Parts<'a> {
    fn new(
        f: &'a mut LoopFunction,
        l: &'a For,
        touched: &'a [Touched],
        groups: &'a [Group],
        mentions: &'a Mentions,
    ) -> Parts<'a> {
        let definitions = definitions_of(&l.body);
        let defined = defined_in(&l.body);
        let in_loop = Steps { index: l.index, defined: &defined, definitions: &definitions };
        let (mut changed, mut loads, mut group_of) = (FxHashSet::default(), FxHashMap::default(), FxHashMap::default());
        let mut steps = 0;
        walk(&l.body, &mut |node| {
            node.each_part(&mut |part| {
                if let Part::Buffer(buffer, BufferUse::Write | BufferUse::Update) = part {
                    changed.insert(*buffer);
                }
            });
            if let Node::Load(local, place) = node {
                loads.insert(*local, *place);
                steps += in_loop.of(place.offset).unwrap_or(0).signum();
            }
        });
        for (number, group) in groups.iter().enumerate() {
            let defined = group.nodes.iter().flat_map(|k| &touched[*k].defined);
            group_of.extend(defined.map(|local| (*local, number)));
        }
        // The first iteration that fails ends the call.
        let is_backwards = steps < 0 && !touched.iter().any(|node| node.fails);
        Parts {
            f,
            l,
            touched,
            groups,
            mentions,
            definitions,
            changed,
            loads,
            group_of,
            arrays: Vec::new(),
            is_backwards,
        }
    }

    /// `None` if too much would be handed on.
    fn written(mut self, length: i64) -> Option<Written> {
        let numbers = 0..self.groups.len();
        let again: Vec<Vec<Local>> = numbers.clone().map(|number| self.handed_on(number)).collect::<Option<_>>()?;
        let [strip, base, left, n] = ["strip", "base", "left", "n"].map(|name| new_local(self.f, name, Elem::I64));
        let loops: Vec<For> = numbers.map(|number| self.part(number, &again[number], base, n)).collect();
        let mut body = vec![
            native(base, Instruction::Mul, [strip.into(), Operand::i64(length)]),
            native(left, Instruction::Sub, [self.l.count, base.into()]),
            native(n, Instruction::Min, [left.into(), Operand::i64(length)]),
        ];
        body.extend(loops.iter().map(|part| Node::For(Box::new(part.clone()))));
        let [last, number_of_last, strips] =
            ["last", "last_strip", "strips"].map(|name| new_local(self.f, name, Elem::I64));
        let alloc =
            |(_, buffer): &(Local, Buffer)| Node::Alloc { buffer: *buffer, extents: vec![Operand::i64(length)] };
        let mut in_strips: Vec<Node> = self.arrays.iter().map(alloc).collect();
        // There is an iteration, so this overflows for no count.
        in_strips.push(native(last, Instruction::Sub, [self.l.count, Operand::i64(1)]));
        in_strips.push(native(number_of_last, Instruction::Div, [last.into(), Operand::i64(length)]));
        in_strips.push(native(strips, Instruction::Add, [number_of_last.into(), Operand::i64(1)]));
        in_strips.push(Node::For(Box::new(For { index: strip, count: strips.into(), body, ..self.head() })));
        Some(Written { in_strips, loops })
    }

    /// The loop without its body.
    fn head(&self) -> For {
        let For { index, count, lanes, may_flush, .. } = *self.l;
        For {
            index,
            count,
            threads: Threads::One,
            independence: Independence::None,
            lanes,
            may_flush,
            body: Vec::new(),
        }
    }

    /// The locals that a group has again, each behind what it takes; those that it takes from earlier groups get arrays.
    fn handed_on(&mut self, number: usize) -> Option<Vec<Local>> {
        let mut again: Vec<Local> = Vec::new();
        let nodes = self.groups[number].nodes.iter();
        let mut wanted: Vec<Local> = nodes.flat_map(|k| self.touched[*k].read.iter().copied()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for local in wanted {
            if self.is_at_hand(local, number) {
                continue;
            }
            let mut chain = again.clone();
            if self.is_had_again(local, number, &mut chain) && chain.len() <= again.len() + MOST_AGAIN {
                again = chain;
            } else if !self.arrays.iter().any(|(known, _)| *known == local) {
                let LocalInfo { name, elem, .. } = self.f.locals[local.index()].clone();
                let (kind, span) = (BufferKind::Allocated(Home::Frame), Span::default());
                self.f.buffers.push(BufferInfo { name, elem, kind, span, is_record: false });
                self.arrays.push((local, Buffer(self.f.buffers.len() as u32 - 1)));
            }
        }
        (self.arrays.len() <= MOST_VALUES).then_some(again)
    }

    /// Whether a local comes from outside, or from the group itself.
    fn is_at_hand(&self, local: Local, number: usize) -> bool {
        self.group_of.get(&local).is_none_or(|group| *group == number)
    }

    /// Whether a local is an integer, or an element that nothing changes; it and what it takes go to the end of `chain`.
    fn is_had_again(&self, local: Local, number: usize, chain: &mut Vec<Local>) -> bool {
        if chain.contains(&local) || self.is_at_hand(local, number) {
            return true;
        }
        let needed: Vec<Operand> = match (self.loads.get(&local), self.definitions.get(&local)) {
            (Some(place), _) if !self.changed.contains(&place.buffer) => vec![place.offset],
            (None, Some(Expr::Native { elem: Elem::I64, args, .. })) => args.clone(),
            (Some(_) | None, _) => return false,
        };
        let holds = needed.iter().all(|operand| match operand {
            Operand::Local(needed) => {
                !self.f.locals[needed.index()].is_mutable && self.is_had_again(*needed, number, chain)
            }
            Operand::Const(_) => true,
        });
        chain.push(local);
        holds
    }

    /// The loop of a group over a strip.
    fn part(&mut self, number: usize, again: &[Local], base: Local, n: Local) -> For {
        let (groups, touched) = (self.groups, self.touched);
        let group = &groups[number];
        let [index, iteration] = ["k", "i"].map(|name| new_local(self.f, name, Elem::I64));
        let mut body = Vec::new();
        // A part without an order goes through memory forwards: its array has the last iteration first then.
        let mut back = index;
        if self.is_backwards {
            let [last, at] = ["last", "back"].map(|name| new_local(self.f, name, Elem::I64));
            body.push(native(last, Instruction::Sub, [n.into(), Operand::i64(1)]));
            body.push(native(at, Instruction::Sub, [last.into(), index.into()]));
            back = at;
        }
        let (in_strip, in_array) = if group.is_ordered { (index, back) } else { (back, index) };
        body.push(native(iteration, Instruction::Add, [base.into(), in_strip.into()]));
        let mut names = FxHashMap::from_iter([(self.l.index, iteration)]);
        for local in again {
            let node = match (self.loads.get(local), self.definitions.get(local)) {
                (Some(place), _) => Node::Load(*local, *place),
                (None, Some(expr)) => Node::Let(*local, expr.clone()),
                (None, None) => continue,
            };
            self.copy(node, &mut names, &mut body);
        }
        let is_read = |local: Local| group.nodes.iter().any(|k| touched[*k].read.contains(&local));
        for (local, buffer) in self.arrays.clone() {
            if is_read(local) && !self.is_at_hand(local, number) {
                self.copy(Node::Load(local, Place { buffer, offset: in_array.into() }), &mut names, &mut body);
            }
        }
        for k in &group.nodes {
            self.copy(self.l.body[*k].clone(), &mut names, &mut body);
        }
        for (local, buffer) in &self.arrays {
            if self.group_of.get(local) == Some(&number) {
                let value = names.get(local).copied().unwrap_or(*local);
                body.push(Node::Store(Place { buffer: *buffer, offset: in_array.into() }, value.into()));
            }
        }
        let independence = if group.is_ordered { Independence::None } else { Independence::All };
        For { index, count: n.into(), independence, body, ..self.head() }
    }

    /// A node of the loop with names of its own for what it defines, as the loop itself may stand beside its parts.
    fn copy(&mut self, node: Node, names: &mut FxHashMap<Local, Local>, body: &mut Vec<Node>) {
        let mut nodes = vec![node];
        let mut defined = FxHashSet::default();
        walk(&nodes, &mut |node| {
            node.each_part(&mut |part| match part {
                Part::Local(local, LocalUse::Define) => {
                    defined.insert(*local);
                }
                Part::Local(local, LocalUse::Assign) if is_private(self.f, self.l, *local, self.mentions) => {
                    defined.insert(*local);
                }
                Part::Local(..) | Part::Operand(..) | Part::Buffer(..) | Part::List(_) | Part::Effect(_) => {}
            });
        });
        let mut defined: Vec<Local> = defined.into_iter().collect();
        defined.sort_unstable();
        for local in defined {
            names.entry(local).or_insert_with(|| {
                self.f.locals.push(self.f.locals[local.index()].clone());
                Local(self.f.locals.len() as u32 - 1)
            });
        }
        walk_mut(&mut nodes, &mut |node| {
            node.each_part_mut(&mut |part| {
                if let PartMut::Local(local, _) | PartMut::Operand(Operand::Local(local), _) = part
                    && let Some(name) = names.get(local)
                {
                    *local = *name;
                }
            });
        });
        body.append(&mut nodes);
    }
}

/// What lanes lose that gather their elements one by one: machines load several at a time for scalar code.
pub(crate) fn gathers(part: &For) -> f64 {
    let (definitions, defined) = (definitions_of(&part.body), defined_in(&part.body));
    let steps = Steps { index: part.index, defined: &defined, definitions: &definitions };
    let is_gathered = |place: Place| !matches!(steps.of(place.offset), Some(0 | 1));
    let is_in_lanes = part.independence == Independence::All;
    let loads = part.body.iter().filter(|node| matches!(node, Node::Load(_, place) if is_gathered(*place)));
    if is_in_lanes { GATHERED * loads.count() as f64 } else { 0.0 }
}

fn native(to: Local, instruction: Instruction, args: [Operand; 2]) -> Node {
    Node::Let(to, Expr::Native { instruction, elem: Elem::I64, args: args.to_vec() })
}

fn new_local(f: &mut LoopFunction, name: &str, elem: Elem) -> Local {
    f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes: 1 });
    Local(f.locals.len() as u32 - 1)
}
