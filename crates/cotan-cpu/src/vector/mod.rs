//! Vectorisation of inner and outer loops: their iterations run side by side, in the lanes of vector registers.
//!
//! Which loops: of the independent ones, those that are estimated to gain most, from the outside in. A loop around
//! others is often the better one (all its lanes run the inner loops together, whatever these carry), if its lanes do
//! not lie far apart in memory. The number of lanes is a property of the loop and not of the machine, so that what the
//! lanes add up has the same bits everywhere; a machine works on as many registers as it takes.

mod cost;
mod interleave;
mod lockstep;
mod rewrite;
mod rows;
mod shape;
mod sums;

use crate::legalize_width::legalize_list;
use cost::Estimate;
use cotan_ir::Elem;
use cotan_loops::node::{
    Definitions, Expr, For, Independence, Local, LocalInfo, LoopFunction, Mentions, Node, Operand, Target, any, count,
    definitions_of, rounds, walk,
};
use cotan_loops::{NestPass, Width, is_small, small_version};
use cotan_ops::Instruction;
use cotan_ops::reduce::LANES;
use rewrite::{Tables, Writing, rewrite};
use rustc_hash::FxHashSet;
use shape::{Shape, Shapes};

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "vectorise",
    doc: "Gives independent loops lanes where that is estimated to pay.",
    run: |f, _| vectorise(f),
};

/// Bodies with more nodes than this stay as they are: they are straight-line code that takes long to compile.
const MOST_NODES: usize = 4000;

/// Bytes that the arrays of all lanes together may take; beyond, iterations run one after the other. That is what a
/// cache holds.
const MOST_BYTES: i64 = 1 << 20;

/// The same for the rows of all lanes, of each of which an element is read at a time. That is what the first cache holds:
/// the lines of rows that are a power of two apart push each other out of it, and no prefetcher follows so many.
const MOST_BYTES_OF_ROWS: i64 = 1 << 15;

/// The same for arrays of loops that gain much by lanes, and would lose more without them than what caches give.
const MOST_BYTES_OF_MUCH: i64 = 1 << 26;

/// Iterations that run side by side at most.
const MOST_LANES: u32 = 32;

/// Iterations that run side by side where they keep their order in sums: no bit depends on it, and waiting lanes cost.
const LANES_IN_ORDER: u32 = 16;

/// Iterations of an innermost loop that are added up in order, and not by lanes: code for just these sizes, in which they
/// are written out, then has the same bits.
const IN_ORDER_INNERMOST: i64 = 16;

/// The same of a loop around others, which has lanes from a quarter of them on.
const IN_ORDER_AROUND: i64 = MOST_LANES as i64 / 4 - 1;

/// How many times as fast lanes are estimated to make a loop that gains much.
const MUCH: f64 = 1.5;

/// Gives the loops of a function lanes, where that is estimated to pay.
pub fn vectorise(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    f.body = vectorise_list(f, body);
}

/// The same for nodes that mention no mutable local of nodes elsewhere.
pub(crate) fn vectorise_list(f: &mut LoopFunction, nodes: Vec<Node>) -> Vec<Node> {
    let (definitions, mentions) = (definitions_of(&nodes), Mentions::of(&nodes));
    Vectoriser { f, definitions, mentions, is_alternative: false }.list(nodes)
}

/// What an iteration of a loop is estimated to cost, in lanes where they pay.
pub(crate) fn iteration_cost(f: &mut LoopFunction, l: &For) -> f64 {
    let (definitions, mentions) = (definitions_of(&l.body), Mentions::of(&l.body));
    let estimate = Vectoriser { f, definitions, mentions, is_alternative: false };
    let plan = estimate.choose(l, estimate.interleaved_cost(l));
    plan.map_or_else(|| estimate.one_by_one(&l.body), |plan| plan.cost)
}

/// Where lanes pay for a loop whose iterations keep their order in sums: a test, and the nodes in front of it. Nothing if they
/// are not estimated to cost so much less.
pub(crate) fn where_lanes_pay(f: &mut LoopFunction, l: &For, worth: f64) -> Option<(Vec<Node>, Operand)> {
    let (definitions, mentions) = (definitions_of(&l.body), Mentions::of(&l.body));
    let mut vectoriser = Vectoriser { f, definitions, mentions, is_alternative: false };
    let plan = vectoriser.estimate(l)?;
    let gain = vectoriser.one_by_one(&l.body) / plan.cost;
    if gain * worth <= 1.0 {
        return None;
    }
    let shapes = Shapes::of(vectoriser.f, &vectoriser.definitions, l, plan.lanes, &vectoriser.mentions).ok()?;
    let rows = vectoriser.row_sizes(l, &shapes);
    let mut nodes = Vec::new();
    let pays = vectoriser.pays(l, plan.lanes, gain, rows, &[], &mut nodes)?;
    Some((nodes, pays))
}

/// How iterations of a loop run side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// In the lanes of vectors.
    Lanes,
    /// In scalar code, see [`interleave`].
    Interleaved,
}

/// A decision for a loop.
#[derive(Clone, Copy)]
struct Plan {
    form: Form,
    lanes: u32,
    /// What an iteration is estimated to cost.
    cost: f64,
    /// How many iterations are added up in order, and not by lanes, if lanes add up.
    in_order: Option<i64>,
}

struct Vectoriser<'a> {
    f: &'a mut LoopFunction,
    definitions: Definitions,
    /// Those of the whole function.
    mentions: Mentions,
    /// Whether this is what runs where the lanes of a loop around do not pay: code that is rarely run should be short.
    is_alternative: bool,
}

impl Vectoriser<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        if let Node::For(l) = node {
            return self.counted(l);
        }
        node.map_lists(|list| self.list(list));
        vec![node]
    }

    fn counted(&mut self, mut l: Box<For>) -> Vec<Node> {
        // Lanes have no library for matrix products: they are for those that turn out to be small.
        let (small, products) = small_version(&l).unzip();
        let interleaved = self.interleaved_cost(&l);
        let small = small.as_ref().unwrap_or(&l);
        let Some(plan) = self.choose(small, interleaved) else {
            l.body = self.list(l.body);
            return vec![Node::For(l)];
        };
        if plan.form == Form::Interleaved {
            return self.interleaved(*l);
        }
        if l.independence == Independence::Ordered {
            // It stands where lanes pay, beside the loop that it was.
            return self.with_lanes(&l, plan.lanes, Writing::Replaced);
        }
        let (mut nodes, lanes) = (Vec::new(), plan.lanes);
        let gain = self.one_by_one(&small.body) / plan.cost;
        let shapes = Shapes::of(self.f, &self.definitions, small, lanes, &self.mentions);
        let rows = shapes.map_or_else(|_| Vec::new(), |shapes| self.row_sizes(small, &shapes));
        let reads_rows = !rows.is_empty();
        let mut pays = self.pays(small, lanes, gain, rows, &products.unwrap_or_default(), &mut nodes);
        if let Some(most) = plan.in_order
            && l.count.as_i64().is_none()
        {
            pays = Some(self.is_long(l.count, most, pays, &mut nodes));
        }
        let writing = if pays.is_none() { Writing::Replaced } else { Writing::Beside };
        let strips = self.with_lanes(small, lanes, writing);
        match pays {
            None => nodes.extend(strips),
            Some(pays) => {
                let outside = std::mem::replace(&mut self.is_alternative, true);
                // Where rows are no reason, there are too few iterations for either.
                let others = if reads_rows && interleaved.is_some() {
                    self.interleaved(*l)
                } else {
                    l.body = self.list(l.body);
                    vec![Node::For(l)]
                };
                self.is_alternative = outside;
                nodes.push(Node::If(pays, strips, others));
            }
        }
        nodes
    }

    /// The strips of a loop.
    fn with_lanes(&mut self, l: &For, lanes: u32, writing: Writing) -> Vec<Node> {
        // The tables grow; what is looked up is in the old part.
        let old = LoopFunction {
            name: self.f.name.clone(),
            locals: self.f.locals.clone(),
            buffers: self.f.buffers.clone(),
            params: self.f.params.clone(),
            body: Vec::new(),
            results: Vec::new(),
            regroups_sums: false,
            watched: Vec::new(),
        };
        let tables = Tables {
            locals: std::mem::take(&mut self.f.locals),
            buffers: std::mem::take(&mut self.f.buffers),
            regroups_sums: self.f.regroups_sums,
        };
        let shapes = Shapes::of(&old, &self.definitions, l, lanes, &self.mentions);
        let shapes = shapes.expect("invariant: it was chosen because it can be done");
        let (nodes, tables) = rewrite(tables, &old, &shapes, l, writing);
        self.f.locals = tables.locals;
        self.f.buffers = tables.buffers;
        self.f.regroups_sums = tables.regroups_sums;
        nodes
    }

    /// Several iterations at a time in scalar code where there are so many, else one after the other, see [`interleave`].
    fn interleaved(&mut self, l: For) -> Vec<Node> {
        let strips = self.with_lanes(&l, interleave::LANES, Writing::Repeating);
        let strips = legalize_list(self.f, strips, Width::ONE, interleave::LANES);
        if l.count.as_i64().is_some() {
            return strips;
        }
        let fits = self.local("fits", Elem::Bool);
        let args = vec![l.count, Operand::i64(interleave::LANES.into())];
        let test = Expr::Native { instruction: Instruction::Ge, elem: Elem::I64, args };
        vec![Node::Let(fits, test), Node::If(fits.into(), strips, vec![Node::For(Box::new(l))])]
    }

    fn local(&mut self, name: &str, elem: Elem) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes: 1 });
        Local(self.f.locals.len() as u32 - 1)
    }

    /// Whether a loop has more iterations than are added up in order, and lanes pay.
    fn is_long(&mut self, count: Operand, most: i64, pays: Option<Operand>, nodes: &mut Vec<Node>) -> Operand {
        let mut test = |instruction, elem, args: [Operand; 2]| {
            let local = self.local("is_long", Elem::Bool);
            nodes.push(Node::Let(local, Expr::Native { instruction, elem, args: args.to_vec() }));
            Operand::from(local)
        };
        let is_long = test(Instruction::Gt, Elem::I64, [count, Operand::i64(most)]);
        pays.map_or(is_long, |pays| test(Instruction::And, Elem::Bool, [is_long, pays]))
    }

    /// Whether lanes pay, where that depends on sizes: a loop around others should have iterations for a good part of
    /// its lanes, their rows and arrays, one for each, should not take too much memory, and matrix products with these
    /// extents should be small. `None` if they always do.
    fn pays(
        &mut self,
        l: &For,
        lanes: u32,
        gain: f64,
        rows: Vec<(i64, Operand)>,
        products: &[[Operand; 3]],
        nodes: &mut Vec<Node>,
    ) -> Option<Operand> {
        let arrays = private_sizes(l, self.f);
        let has_loop = l.body.iter().any(Node::has_loop);
        if !has_loop && arrays.is_empty() && products.is_empty() {
            return None;
        }
        let rows = rows.into_iter().map(|(size, length)| (size, vec![length])).collect();
        let mut emit = |instruction, elem, result, args: [Operand; 2]| {
            let args = args.to_vec();
            let local = self.local("pays", result);
            nodes.push(Node::Let(local, Expr::Native { instruction, elem, args }));
            Operand::Local(local)
        };
        let most = if gain < MUCH { MOST_BYTES } else { MOST_BYTES_OF_MUCH };
        let mut pays = emit(Instruction::Ge, Elem::I64, Elem::Bool, [l.count, Operand::i64(i64::from(lanes) / 4)]);
        for (sizes, most) in [(rows, MOST_BYTES_OF_ROWS), (arrays, most)] {
            let bytes = sizes.iter().fold(Operand::i64(0), |bytes, (size, extents)| {
                let size = Operand::i64(size * i64::from(lanes));
                let product = extents.iter().fold(size, |n, e| emit(Instruction::Mul, Elem::I64, Elem::I64, [n, *e]));
                emit(Instruction::Add, Elem::I64, Elem::I64, [bytes, product])
            });
            let fits = emit(Instruction::Le, Elem::I64, Elem::Bool, [bytes, Operand::i64(most)]);
            pays = emit(Instruction::And, Elem::Bool, Elem::Bool, [fits, pays]);
        }
        for extents in products {
            let small = is_small(*extents, &mut |instruction, elem, args| {
                emit(instruction, elem, if instruction == Instruction::Lt { Elem::Bool } else { elem }, args)
            });
            pays = emit(Instruction::And, Elem::Bool, Elem::Bool, [small, pays]);
        }
        Some(pays)
    }

    /// How iterations of a loop run side by side, if they do, given what an iteration costs if several are interleaved.
    fn choose(&self, l: &For, interleaved: Option<f64>) -> Option<Plan> {
        let has_loop = l.body.iter().any(Node::has_loop);
        let in_lanes = if self.is_alternative && has_loop { None } else { self.estimate(l) };
        let plans = [
            in_lanes,
            interleaved.map(|cost| Plan { form: Form::Interleaved, lanes: interleave::LANES, cost, in_order: None }),
        ];
        let best = plans.into_iter().flatten().min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        (best.cost < self.one_by_one(&l.body)).then_some(best)
    }

    /// What an iteration costs if several are interleaved, where they can be.
    fn interleaved_cost(&self, l: &For) -> Option<f64> {
        if l.independence != Independence::All || l.count.as_i64().is_some_and(|n| n < i64::from(interleave::LANES)) {
            return None;
        }
        let shapes = Shapes::of(self.f, &self.definitions, l, interleave::LANES, &self.mentions).ok()?;
        interleave::cost(l, &shapes)
    }

    /// The plan that gives a loop lanes.
    fn estimate(&self, l: &For) -> Option<Plan> {
        let n_nodes = count(&l.body);
        if l.independence == Independence::None || l.count.as_i64().is_some_and(|n| n < 3) || n_nodes > MOST_NODES {
            return None;
        }
        let shapes_of = |lanes| Shapes::of(self.f, &self.definitions, l, lanes, &self.mentions).ok();
        let lanes = match given_lanes(l) {
            Some(lanes) => lanes,
            None => lanes_of(l, n_nodes, &shapes_of(MOST_LANES)?),
        };
        let shapes = shapes_of(lanes)?;
        let in_order = added_in_order(l, &shapes);
        if in_order.zip(l.count.as_i64()).is_some_and(|(most, n)| n <= most) {
            return None;
        }
        let strip = Estimate { shapes: &shapes, lanes: lanes.into() }.nodes(&l.body);
        let iterations = l.count.as_i64().map_or(i64::from(lanes), |n| {
            let n_strips = n / i64::from(lanes) + i64::from(n % i64::from(lanes) > 0);
            n / n_strips.max(1)
        });
        Some(Plan { form: Form::Lanes, lanes, cost: strip / iterations.max(1) as f64, in_order })
    }

    /// What nodes cost if they run one after the other, the loops in them as they are best.
    fn one_by_one(&self, nodes: &[Node]) -> f64 {
        nodes.iter().map(|node| self.one(node)).sum()
    }

    fn one(&self, node: &Node) -> f64 {
        if let Node::For(l) = node {
            let plain = self.one_by_one(&l.body);
            let in_lanes = self.estimate(l).map(|plan| plan.cost);
            let best = in_lanes.into_iter().chain(self.interleaved_cost(l)).fold(plain, f64::min);
            return cost::trips(l.count, &self.definitions) * best + 2.0;
        }
        let inside = node.lists().into_iter().map(|list| self.one_by_one(list)).fold(0.0, f64::max);
        if let Node::While(..) = node {
            cost::ASSUMED_TRIPS * inside + 2.0
        } else if let Node::If(..) | Node::Switch(..) = node {
            inside + 2.0
        } else {
            inside + cost::scalar(node, &self.definitions)
        }
    }
}

/// How many iterations run side by side, where that is given by the blocks of a reduction or by how few there are.
fn given_lanes(l: &For) -> Option<u32> {
    if l.independence == Independence::Block {
        return Some(LANES as u32);
    }
    l.count.as_i64().and_then(|n| [4, 8, 16].into_iter().find(|lanes: &u32| n <= i64::from(*lanes)))
}

/// How many iterations run side by side elsewhere: fewer where many values are alive at once, more where inner loops are
/// short. Where lanes add up, the number decides on bits, and depends on the number of iterations alone.
fn lanes_of(l: &For, n_nodes: usize, shapes: &Shapes) -> u32 {
    if l.independence == Independence::Ordered {
        LANES_IN_ORDER
    } else if l.body.iter().any(|node| node.has_loop() || adds_up(node, shapes)) {
        MOST_LANES
    } else if n_nodes > 100 {
        8
    } else {
        16
    }
}

/// Whether lanes combine floats with each other, in an order that shows.
fn adds_up(node: &Node, shapes: &Shapes) -> bool {
    any(std::slice::from_ref(node), &mut |node| {
        let Node::Combine { monoid, target, value } = node else { return false };
        rounds(*monoid, shapes.f.operand_elem(*value)) && !has_one_of_its_own(*target, shapes)
    })
}

/// How many iterations of a loop are added up in order, if that shows: what all lanes add is not in their own memory. Where
/// each has an element of its own it shows if several contributions of an iteration go to one array. Lanes with checks may
/// have to begin again one by one, and there is one such copy of a loop, so those add up whatever their number.
fn added_in_order(l: &For, shapes: &Shapes) -> Option<i64> {
    let has_checks = any(&l.body, &mut |node| matches!(node, Node::Check { .. }));
    if [Independence::Block, Independence::Ordered].contains(&l.independence) || has_checks {
        return None;
    }
    let mut own: FxHashSet<Local> = FxHashSet::default();
    walk(&l.body, &mut |node| {
        if let Node::Set(local, _) = node {
            own.insert(*local);
        }
    });
    let is_own = |target: Target| match target {
        Target::Local(local) => own.contains(&local),
        Target::Element(place) => shapes.private.contains(&place.buffer),
    };
    let mut targets: Vec<Target> = Vec::new();
    walk(&l.body, &mut |node| {
        if let Node::Combine { monoid, target, value } = node
            && rounds(*monoid, shapes.f.operand_elem(*value))
            && !is_own(*target)
        {
            targets.push(*target);
        }
    });
    let is_repeated = |(k, target): (usize, &Target)| targets[..k].iter().any(|other| target.has_memory_of(*other));
    let shows = targets.iter().any(|target| !has_one_of_its_own(*target, shapes))
        || targets.iter().enumerate().any(is_repeated);
    let most = if l.body.iter().any(Node::has_loop) { IN_ORDER_AROUND } else { IN_ORDER_INNERMOST };
    shows.then_some(most)
}

/// Whether every lane has an element of its own to combine with.
fn has_one_of_its_own(target: Target, shapes: &Shapes) -> bool {
    let Target::Element(place) = target else { return false };
    match shapes.of_operand(place.offset) {
        Shape::Linear(stride) => stride.number().is_some_and(|n| n != 0),
        Shape::Uniform | Shape::Varying => false,
    }
}

/// The arrays that iterations allocate: bytes of an element, and extents that are known before the loop.
fn private_sizes(l: &For, f: &LoopFunction) -> Vec<(i64, Vec<Operand>)> {
    let (mut found, mut inside) = (Vec::new(), FxHashSet::from_iter([Operand::from(l.index)]));
    walk(&l.body, &mut |node| {
        node.each_definition(&mut |local, _| {
            inside.insert(local.into());
        });
        if let Node::Alloc { buffer, extents } = node
            && !extents.iter().any(|e| inside.contains(e))
        {
            found.push((f.buffers[buffer.index()].elem.bytes() as i64, extents.clone()));
        }
    });
    found
}
