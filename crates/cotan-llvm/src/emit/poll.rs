//! Reasons to stop: a watched call takes its steps off a budget.
//!
//! A call that goes on calls nothing for that, so that no register has to be saved around a loop. Every loop that may be
//! long or without an end polls, but for those in which others do so each time round.

use super::ModuleEmitter;
use super::function::FunctionEmitter;
use crate::abi::layout;
use cotan_loops::{For, Node, Threads};

/// Constant trip counts up to this one need no poll.
const SHORT_LOOP: i64 = 1024;

/// What an LLVM function with polls begins and ends with.
#[derive(Default)]
pub(super) struct Stop {
    /// Instructions at its entry.
    pub(super) entry: String,
    /// The block that ends the call.
    pub(super) exit: String,
}

impl Stop {
    pub(super) fn of(module: &mut ModuleEmitter) -> Stop {
        module.declare("declare i32 @cotan_poll(ptr, i64)");
        let entry = format!(
            "  %watch.at = getelementptr inbounds i8, ptr %ctx, i64 {}\n  %watch = load ptr, ptr %watch.at\n  \
             %watched = icmp ne ptr %watch, null\n  %budget = getelementptr i8, ptr %watch, i64 {}\n",
            layout::CTX_WATCH,
            layout::WATCH_STEPS_LEFT
        );
        // So many steps are never left: the host says why the call stops.
        let status = format!("call i32 @cotan_poll(ptr %ctx, i64 {})", i64::MAX);
        Stop { entry, exit: format!("stopped:\n  %stopped.status = {status}\n  br label %failed\n") }
    }
}

impl FunctionEmitter<'_> {
    /// Lets a watched call be stopped; the steps are taken off its budget.
    pub(super) fn poll(&mut self, steps: &str) {
        self.polls = true;
        let (ask, take, next) = (self.new_label(), self.new_label(), self.new_label());
        self.branch("%watched", &ask, &next);
        let [left, enough, before] = [(); 3].map(|()| self.temporary());
        self.exits += &format!(
            "{ask}:\n  {left} = load atomic i64, ptr %budget monotonic, align 8\n  \
             {enough} = icmp sge i64 {left}, {steps}\n  br i1 {enough}, label %{take}, label %stopped\n\
             {take}:\n  {before} = atomicrmw sub ptr %budget, i64 {steps} monotonic\n  br label %{next}\n"
        );
        self.begin(&next);
    }
}

/// Whether a loop polls before it runs, for all its iterations.
pub(super) fn polls_once(l: &For) -> bool {
    !l.body.iter().any(has_loop) && l.count.as_i64().is_none_or(|n| n > SHORT_LOOP)
}

/// Whether nodes poll whenever they run, so that a loop around them need not.
pub(super) fn always_polls(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| {
        if let Node::For(l) = node {
            return l.threads != Threads::Each && polls_once(l);
        }
        matches!(node, Node::Scope(_) | Node::Segment(_)) && node.lists().into_iter().any(always_polls)
    })
}

/// Whether a node runs a loop.
pub(super) fn has_loop(node: &Node) -> bool {
    matches!(node, Node::For(_) | Node::While(..) | Node::Call { .. })
        || node.lists().into_iter().flatten().any(has_loop)
}
