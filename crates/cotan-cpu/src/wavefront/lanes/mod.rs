//! Loop skewing: wavefronts in the lanes of one thread.
//!
//! Where iteration `(i, j)` of a nest needs what `(i - 1, j)`, `(i, j - 1)` and `(i - 1, j - 1)` made, those of one diagonal,
//! with the same `i + j`, need nothing of each other. So rows come in strips, and a loop over the diagonals of a strip has one
//! over its rows inside, whose iterations are independent and get lanes as those of any such loop. Where `(i - 1, j + 1)` is
//! needed, too, each row lags two iterations behind the one before.
//!
//! Iterations that meet in memory keep their order, as Note [Wavefronts] shows, so no bit changes. What may fail has to
//! fail before: checks of what no iteration changes go in front of the nest (`checks.rs`).

mod checks;
mod forward;
mod nest;
mod write;

use super::access::Accesses;
use super::legal::{Loops, Stage};
use super::plan::{Survey, is_sequential, is_set_first};
use super::values::Values;
use super::write::Writer;
use crate::delinearize::nest_of;
use crate::distribute::gathers;
use crate::vector;
use checks::Checks;
use cotan_loops::node::{
    Buffer, For, Local, LocalUse, LoopFunction, Mentions, Node, Operand, Part, each_definition, walk,
};
use cotan_loops::{NestPass, TaskSizes};
use cotan_ops::Instruction;
use forward::{Ring, rings};
use nest::Nest;
use rustc_hash::FxHashSet;
use write::Skewed;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "skew",
    doc: "Runs the diagonals of nests of two sequential loops in lanes.",
    run: |f, context| skew(f, &context.tasks),
};

/// Operations between what one iteration of a row stores and what the next one does, at least: with fewer of them nobody
/// waits, and what takes time is memory, which threads share.
const LEAST_CHAIN: usize = 2;

/// What an iteration costs that is light: a small table of such ones is done before a strip of it is on its way.
const LIGHT: f64 = 64.0;

/// Rows and columns of a table that is not small, in rows of a strip.
const STRIPS: i64 = 2;

/// How many times as long as its operations an iteration takes that waits for the one before.
const WAITING: f64 = 1.3;

/// Iterations of the inner loop that a row lags behind the one before, at most.
const MOST_SKEW: i128 = 2;

/// Runs the diagonals of nests in lanes, where that keeps every dependence and is estimated to pay.
pub fn skew(f: &mut LoopFunction, sizes: &TaskSizes) {
    let survey = Survey::of(f);
    let body = std::mem::take(&mut f.body);
    let mentions = Mentions::of(&body);
    f.body = Skewing { f, survey, mentions, sizes }.list(body);
}

struct Skewing<'a> {
    f: &'a mut LoopFunction,
    survey: Survey,
    mentions: Mentions,
    sizes: &'a TaskSizes,
}

/// How a nest may be skewed.
struct Plan {
    skew: i64,
    rings: Vec<Ring>,
    /// The buffers that it changes.
    written: FxHashSet<Buffer>,
}

impl Skewing<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        if let Node::For(l) = &node {
            // Iterations of an independent loop have lanes themselves.
            if !is_sequential(l) {
                return vec![node];
            }
            if let Some(nodes) = self.skewed(l) {
                return nodes;
            }
        }
        node.map_lists(|list| self.list(list));
        vec![node]
    }

    /// What a loop around another one becomes, or one over all iterations of such a nest.
    fn skewed(&mut self, l: &For) -> Option<Vec<Node>> {
        let n_locals = self.f.locals.len();
        let Some(nest) = nest_of(self.f, &self.survey.definitions, l) else {
            return self.skewed_nest(l, l);
        };
        let mut definitions = self.survey.definitions.clone();
        // Counters that were quotients and remainders are those of loops.
        definitions.remove(&nest.index);
        each_definition(&nest.body, &mut |local, expr| match expr {
            Some(expr) => drop(definitions.insert(local, expr.clone())),
            None => drop(definitions.remove(&local)),
        });
        std::mem::swap(&mut self.survey.definitions, &mut definitions);
        let found = self.skewed_nest(&nest, l);
        self.survey.definitions = definitions;
        if found.is_none() {
            self.f.locals.truncate(n_locals);
        }
        found
    }

    /// What a nest becomes, which is written as `original`.
    fn skewed_nest(&mut self, l: &For, original: &For) -> Option<Vec<Node>> {
        let (n_locals, n_buffers) = (self.f.locals.len(), self.f.buffers.len());
        let nest = Nest::of(l)?;
        let plain = nest.without_checks();
        let plan = self.plan(l, &plain)?;
        let found = self.written(l, [&nest, &plain], &plan).and_then(|written| self.where_it_pays(written, original));
        if found.is_none() {
            self.f.locals.truncate(n_locals);
            self.f.buffers.truncate(n_buffers);
        }
        found
    }

    /// How the nest without its checks may be skewed so that the iterations of a diagonal are independent.
    fn plan(&self, l: &For, nest: &Nest) -> Option<Plan> {
        let values = Values::new(self.f, &self.survey.definitions, (l.index, &l.body), &nest.counts);
        if !nest.counts.iter().all(|count| values.is_fixed(*count)) || !self.has_own_variables(nest) {
            return None;
        }
        let [t, s] = nest.indices;
        let mut fresh = self.f.locals.len() as u32;
        let mut met = Vec::new();
        for (stage, outer, nodes) in [(Stage::Before, vec![t], &nest.before), (Stage::Inner, vec![t, s], &nest.body)] {
            let mut accesses = Accesses::new(self.f, &values, outer, fresh);
            accesses.nodes(nodes)?;
            fresh = accesses.fresh;
            met.extend(accesses.found.into_iter().map(|access| (stage, access)));
        }
        let written: FxHashSet<Buffer> =
            met.iter().filter(|(_, access)| access.writes).map(|(_, access)| access.buffer).collect();
        if nest.before.iter().any(|node| matches!(node, Node::Load(_, from) if written.contains(&from.buffer))) {
            return None;
        }
        let counts = [values.counts(nest.counts[0])?, values.counts(nest.counts[1])?];
        let loops = Loops { indices: nest.indices, counts, facts: values.facts(), fresh, skew: None };
        let skewed = (1..=MOST_SKEW).map(|skew| Loops { skew: Some(skew), ..loops.clone() });
        let loops = skewed.into_iter().find(|loops| loops.may_overlap(&met))?;
        let skew = loops.skew? as i64;
        let rings = rings(self.f, &values, &loops, nest, (skew, self.sizes.rows));
        let waits = rings.is_empty() || rings.iter().any(|ring| ring.chain(nest) >= LEAST_CHAIN);
        waits.then_some(Plan { skew, rings, written })
    }

    /// Whether the mutable locals that iterations change are their own.
    fn has_own_variables(&self, nest: &Nest) -> bool {
        let mut changed: FxHashSet<Local> = FxHashSet::default();
        walk(&nest.body, &mut |node| {
            node.each_part(&mut |part| {
                if let Part::Local(local, LocalUse::Assign | LocalUse::Combine) = part {
                    changed.insert(*local);
                }
            });
        });
        let inside = Mentions::of(&nest.body);
        changed
            .into_iter()
            .all(|local| inside.has_all_of_local(local, &self.mentions) && is_set_first(&nest.body, local))
    }

    /// The nest in lanes, with its checks in front.
    fn written(&mut self, l: &For, [nest, plain]: [&Nest; 2], plan: &Plan) -> Option<Written> {
        let mut inside = FxHashSet::from_iter(nest.indices);
        each_definition(&l.body, &mut |local, _| {
            inside.insert(local);
        });
        let checks = Checks::of(self.f, nest, &inside, &plan.written)?;
        for ring in &plan.rings {
            let info = ring.info(self.f);
            self.f.buffers.push(info);
        }
        let mut w = Writer::new(self.f, &self.survey.definitions, &inside);
        w.open();
        let counts = [w.hoisted(nest.counts[0])?, w.hoisted(nest.counts[1])?];
        let in_front = w.close();
        w.open();
        let runs = write::runs(&mut w, counts);
        checks.write(&mut w, nest, counts, runs);
        let skewed = Skewed { nest: plain, counts, skew: plan.skew, rows: self.sizes.rows, rings: &plan.rings };
        let diagonal = skewed.write(&mut w, runs);
        let nodes = w.close();
        Some(Written { in_front, counts, nodes, diagonal, in_order: plain.inner() })
    }

    /// A nest in lanes if that is estimated to pay, and where it does.
    fn where_it_pays(&mut self, written: Written, original: &For) -> Option<Vec<Node>> {
        let Written { in_front: mut nodes, counts, nodes: in_lanes, diagonal, in_order } = written;
        let cost = vector::iteration_cost(self.f, &diagonal) + gathers(&diagonal);
        let in_order = vector::iteration_cost(self.f, &in_order);
        if cost >= self.sizes.worth * WAITING * in_order {
            return None;
        }
        let least = STRIPS * self.sizes.rows;
        let are_long = counts.map(|count| count.as_i64().map(|n| n >= least));
        if in_order >= LIGHT || are_long == [Some(true); 2] {
            nodes.extend(in_lanes);
        } else if are_long.contains(&Some(false)) {
            return None;
        } else {
            let (definitions, inside) = (&self.survey.definitions, FxHashSet::default());
            let mut w = Writer::new(self.f, definitions, &inside);
            w.open();
            let [rows, columns] = counts.map(|count| w.is(Instruction::Ge, count, Operand::i64(least)));
            let is_long = write::both(&mut w, rows, columns);
            nodes.extend(w.close());
            nodes.push(Node::If(is_long, in_lanes, vec![Node::For(Box::new(original.clone()))]));
        }
        Some(nodes)
    }
}

/// A nest that was written in lanes.
struct Written {
    /// Its counts, and what computes them.
    in_front: Vec<Node>,
    counts: [Operand; 2],
    nodes: Vec<Node>,
    /// The loop over the rows of a diagonal, and the inner loop as it was.
    diagonal: For,
    in_order: For,
}
