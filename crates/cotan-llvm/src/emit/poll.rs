//! Reasons to stop: a watched call takes its steps off a budget.
//!
//! A call that goes on calls nothing for that, so that no register has to be saved around a loop. Every loop that may be
//! long or without an end polls, but for those in which others do so each time round.

use super::bounds::Bounds;
use super::function::FunctionEmitter;
use super::pieces::is_split_off;
use super::writer::FunctionWriter;
use cotan_loops::PartialSums;
use cotan_loops::node::{For, Node, any, count};
use cotan_ops::reduce::BLOCK;

/// Loops that together have at most as many iterations need no poll.
const SHORT: i64 = BLOCK as i64;

/// The most steps that a poll takes. Threads that poll at the same time all see what is left before any of them takes its
/// steps: however many there are, they do not take so much that the budget wraps round to a fresh one. Nobody lives to
/// see a loop of more iterations end.
const MOST_TAKEN: i64 = 1 << 48;

/// How many nodes a loop without loops in it runs, over all iterations, between two polls: some milliseconds of work.
const NODES_PER_POLL: i64 = 1 << 18;

/// A loop in pieces between which it polls.
pub(super) struct Cut {
    /// The first iteration of the piece that runs.
    pub(super) start: String,
    /// The iteration after its last one.
    pub(super) end: String,
    /// The block that the pieces start in.
    head: String,
    /// Whether there is one piece, for certain.
    is_whole: bool,
}

impl FunctionEmitter<'_> {
    /// Begins a piece of a loop without loops in it, and lets a watched call be stopped before it. A call that nobody
    /// watches runs the loop in one piece.
    pub(super) fn poll_piece(&mut self, f: &For, count: &str) -> Cut {
        let longest = (NODES_PER_POLL / (n_nodes(&f.body) * i64::from(f.lanes))).max(1);
        let is_whole = self.bounds.of(f.count).is_some_and(|most| most <= longest);
        let before = self.out.current_label();
        let head = self.out.new_label();
        // A loop around a loop without iterations takes steps, too, and one that starts behind its end gives none back.
        self.out.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
        let steps_of = |out: &mut FunctionWriter<'_>, n: &str| {
            let n = out.define(&format!("call i64 @llvm.smax.i64(i64 {n}, i64 0)"));
            let n = if f.lanes == 1 { n } else { out.define(&format!("mul i64 {n}, {}", f.lanes)) };
            out.define(&format!("add i64 {n}, 1"))
        };
        if is_whole {
            let steps = steps_of(&mut self.out, count);
            poll(&mut self.out, &steps);
            return Cut { start: "0".to_owned(), end: count.to_owned(), head, is_whole };
        }
        self.out.polls = true;
        self.out.jump(&head);
        self.out.begin(&head);
        let start = self.out.temporary();
        // Where it goes on from is known when the piece is written.
        self.out.line(&format!("{start} = phi i64 [ 0, %{before} ], [ {start}.next, %{head}.again ]"));
        let (cut, next) = (self.out.new_label(), self.out.new_label());
        self.out.branch("%watched", &cut, &next);
        let (piece_end, take) = self.out.behind(|out| {
            out.begin(&cut);
            let left = out.define(&format!("sub i64 {count}, {start}"));
            let is_long = out.define(&format!("icmp sgt i64 {left}, {longest}"));
            let length = out.define(&format!("select i1 {is_long}, i64 {longest}, i64 {left}"));
            let piece_end = out.define(&format!("add i64 {start}, {length}"));
            let steps = steps_of(out, &length);
            let budget = out.define("load atomic i64, ptr %budget monotonic, align 8");
            let enough = out.define(&format!("icmp sge i64 {budget}, {steps}"));
            let take = out.new_label();
            out.branch(&enough, &take, "stopped");
            out.begin(&take);
            out.define(&format!("atomicrmw sub ptr %budget, i64 {steps} monotonic"));
            out.jump(&next);
            (piece_end, take)
        });
        self.out.begin(&next);
        let end = self.out.define(&format!("phi i64 [ {count}, %{head} ], [ {piece_end}, %{take} ]"));
        Cut { start, end, head, is_whole }
    }

    /// Lets a watched call be stopped after an iteration of a loop around others. Takes a step for itself, and those of
    /// the loops in it that are too short to do so.
    pub(super) fn poll_iteration(&mut self, body: &[Node]) {
        let mut known = 1_i64;
        let mut unknown = Vec::new();
        for l in short_loops(self, body) {
            match l.count.as_i64() {
                Some(n) => known = known.saturating_add(n.max(0).saturating_mul(i64::from(l.lanes))),
                None => unknown.push((l.count, l.lanes)),
            }
        }
        let mut steps = known.to_string();
        for (count, lanes) in unknown {
            self.out.module.declare("declare i64 @llvm.smax.i64(i64, i64)");
            let count = self.operand(count);
            let count = self.out.define(&format!("call i64 @llvm.smax.i64(i64 {count}, i64 0)"));
            let count = if lanes == 1 { count } else { self.out.define(&format!("mul i64 {count}, {lanes}")) };
            steps = self.out.define(&format!("add i64 {steps}, {count}"));
        }
        poll(&mut self.out, &steps);
    }
}

impl FunctionWriter<'_> {
    /// Goes on with the next piece of a loop after one.
    pub(super) fn go_on_after(&mut self, cut: &Cut, count: &str) {
        let Cut { start, end, head, is_whole } = cut;
        if *is_whole {
            return;
        }
        let (check, done) = (self.new_label(), self.new_label());
        // Only where it is watched there may be more, and else the whole count need not be at hand.
        self.branch("%watched", &check, &done);
        self.behind(|out| {
            let again = format!("{head}.again");
            out.begin(&check);
            let more = out.define(&format!("icmp slt i64 {end}, {count}"));
            out.branch(&more, &again, &done);
            out.begin(&again);
            out.line(&format!("{start}.next = add i64 {end}, 0"));
            out.jump(head);
        });
        self.begin(&done);
    }
}

/// Lets a watched call be stopped; the steps are taken off its budget.
fn poll(out: &mut FunctionWriter<'_>, steps: &str) {
    out.polls = true;
    let (ask, take, next) = (out.new_label(), out.new_label(), out.new_label());
    out.branch("%watched", &ask, &next);
    let [left, enough, taken, before] = [(); 4].map(|()| out.temporary());
    out.module.declare("declare i64 @llvm.smin.i64(i64, i64)");
    out.exits += &format!(
        "{ask}:\n  {left} = load atomic i64, ptr %budget monotonic, align 8\n  \
         {enough} = icmp sge i64 {left}, {steps}\n  br i1 {enough}, label %{take}, label %stopped\n\
         {take}:\n  {taken} = call i64 @llvm.smin.i64(i64 {steps}, i64 {MOST_TAKEN})\n  \
         {before} = atomicrmw sub ptr %budget, i64 {taken} monotonic\n  br label %{next}\n"
    );
    out.begin(&next);
}

/// The short loops that nodes run whenever they run.
fn short_loops<'n>(emitter: &FunctionEmitter<'_>, nodes: &'n [Node]) -> Vec<&'n For> {
    let mut found = Vec::new();
    for node in nodes {
        if let Node::For(l) = node
            && emitter.bounds.is_short(l)
        {
            found.push(&**l);
        } else if let Node::Scope(body) = node {
            found.extend(short_loops(emitter, body));
        }
    }
    found
}

impl Bounds {
    /// Whether a loop polls before it runs, for all its iterations.
    pub(super) fn polls_once(&self, l: &For) -> bool {
        !l.body.iter().any(has_loop) && !self.is_short(l)
    }

    /// Whether nodes poll whenever they run, so that a loop around them need not.
    pub(super) fn always_polls(&self, nodes: &[Node]) -> bool {
        nodes.iter().any(|node| {
            if let Node::For(l) = node {
                return !is_split_off(l) && self.polls_once(l);
            }
            matches!(node, Node::Scope(_) | Node::Segment(_))
                && node.lists().into_iter().any(|list| self.always_polls(list))
        })
    }

    /// Whether a loop is over so soon that it need not poll.
    pub(super) fn is_short(&self, l: &For) -> bool {
        self.steps_of_loop(l).is_some()
    }

    fn steps_of_loop(&self, l: &For) -> Option<i64> {
        let steps = self.steps(&l.body)?.max(1).checked_mul(self.of(l.count)?.max(0))?;
        (!is_split_off(l) && steps <= SHORT).then_some(steps)
    }

    /// How many iterations of loops nodes run at most, if those are few and nothing in them works on more elements.
    fn steps(&self, nodes: &[Node]) -> Option<i64> {
        nodes.iter().try_fold(0, |steps: i64, node| {
            let more = if let Node::For(l) = node {
                self.steps_of_loop(l)?
            } else if matches!(node, Node::While(..) | Node::Call { .. }) {
                return None;
            } else if let Node::Copy { count: n, .. } | Node::PartialSums(PartialSums { size: n, .. }) = node {
                self.of(*n).filter(|n| *n <= SHORT).map(|_| 0)?
            } else {
                node.lists().into_iter().try_fold(0, |all, list| Some(all + self.steps(list)?))?
            };
            Some(steps + more).filter(|steps| *steps <= SHORT)
        })
    }
}

/// How many nodes there are, at any depth, or one if there is none.
fn n_nodes(nodes: &[Node]) -> i64 {
    count(nodes).max(1) as i64
}

/// Whether a node runs a loop.
pub(super) fn has_loop(node: &Node) -> bool {
    any(std::slice::from_ref(node), &mut |node| matches!(node, Node::For(_) | Node::While(..) | Node::Call { .. }))
}
