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
use cotan_loops::node::{Buffer, For, Local, LocalUse, LoopFunction, Mentions, Node, Part, each_definition, walk};
use cotan_loops::{NestPass, TaskSizes};
use nest::Nest;
use rustc_hash::FxHashSet;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "skew",
    doc: "Runs the diagonals of nests of two sequential loops in lanes.",
    run: |f, context| skew(f, &context.tasks),
};

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

/// What is known of a nest that may be skewed.
struct Legal {
    skew: i64,
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
            return self.skewed_nest(l);
        };
        let mut definitions = self.survey.definitions.clone();
        // Counters that were quotients and remainders are those of loops.
        definitions.remove(&nest.index);
        each_definition(&nest.body, &mut |local, expr| match expr {
            Some(expr) => drop(definitions.insert(local, expr.clone())),
            None => drop(definitions.remove(&local)),
        });
        std::mem::swap(&mut self.survey.definitions, &mut definitions);
        let found = self.skewed_nest(&nest);
        self.survey.definitions = definitions;
        if found.is_none() {
            self.f.locals.truncate(n_locals);
        }
        found
    }

    fn skewed_nest(&mut self, l: &For) -> Option<Vec<Node>> {
        let n_locals = self.f.locals.len();
        let nest = Nest::of(l)?;
        let legal = self.legal(l, &nest)?;
        let found = self.written(l, &nest, &legal);
        if found.is_none() {
            self.f.locals.truncate(n_locals);
        }
        found
    }

    /// Whether the iterations of a diagonal are independent.
    fn legal(&self, l: &For, nest: &Nest) -> Option<Legal> {
        let values = Values::new(self.f, &self.survey.definitions, (l.index, &l.body), &nest.counts);
        if !nest.counts.iter().all(|count| values.is_fixed(*count)) || !self.has_own_variables(nest) {
            return None;
        }
        let [t, s] = nest.indices;
        let mut fresh = self.f.locals.len() as u32;
        let mut met = Vec::new();
        for (stage, outer, nodes) in [(Stage::Before, vec![t], &nest.before), (Stage::Inner, vec![t, s], &nest.body)] {
            let mut accesses = Accesses::new(self.f, &values, outer, fresh);
            nodes
                .iter()
                .filter(|node| !matches!(node, Node::Check { .. }))
                .try_for_each(|node| accesses.nodes(std::slice::from_ref(node)))?;
            fresh = accesses.fresh;
            met.extend(accesses.found.into_iter().map(|access| (stage, access)));
        }
        let written: FxHashSet<Buffer> =
            met.iter().filter(|(_, access)| access.writes).map(|(_, access)| access.buffer).collect();
        if nest.before.iter().any(|node| matches!(node, Node::Load(_, from) if written.contains(&from.buffer))) {
            return None;
        }
        let counts = [values.counts(nest.counts[0])?, values.counts(nest.counts[1])?];
        (1..=MOST_SKEW).find_map(|skew| {
            let (counts, facts, skewed) = (counts.clone(), values.facts(), Some(skew));
            let loops = Loops { indices: nest.indices, counts, facts, fresh, skew: skewed };
            loops.may_overlap(&met).then(|| Legal { skew: skew as i64, written: written.clone() })
        })
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

    /// The nest in lanes, if that is estimated to pay.
    fn written(&mut self, l: &For, nest: &Nest, legal: &Legal) -> Option<Vec<Node>> {
        let mut inside = FxHashSet::from_iter(nest.indices);
        each_definition(&l.body, &mut |local, _| {
            inside.insert(local);
        });
        let hoisted = checks::Checks::of(self.f, nest, &inside, &legal.written)?;
        let plain = nest.without_checks();
        let mut w = Writer::new(self.f, &self.survey.definitions, &inside);
        w.open();
        let counts = [w.hoisted(plain.counts[0])?, w.hoisted(plain.counts[1])?];
        let runs = write::runs(&mut w, counts);
        hoisted.write(&mut w, nest, counts, runs);
        let skewed = write::Skewed { nest: &plain, counts, skew: legal.skew, rows: self.sizes.rows };
        let diagonal = skewed.write(&mut w, runs);
        let nodes = w.close();
        let in_order = plain.inner();
        let cost = vector::iteration_cost(self.f, &diagonal) + gathers(&diagonal);
        (cost < self.sizes.worth * vector::iteration_cost(self.f, &in_order)).then_some(nodes)
    }
}
