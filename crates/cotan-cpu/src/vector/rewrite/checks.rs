//! Checks that lanes may fail, see Note [Failing lanes].

use super::{FALSE, Failing, FailingCheck, Shapes, TRUE, Writer};
use cotan_ir::{CheckKind, Elem, Span};
use cotan_loops::node::{Buffer, BufferInfo, BufferKind, Effect, Expr, Home, Local, Node, Operand, Place, any};
use cotan_ops::Instruction;

impl Writer<'_, '_> {
    pub(super) fn open_failing(&mut self) {
        let alive = self.tables.local("alive", Elem::Bool, self.lanes, true);
        let code = self.tables.local("code", Elem::I64, self.lanes, true);
        self.push(Node::Set(alive, TRUE));
        self.push(Node::Set(code, Operand::i64(0)));
        self.failing = Some(Failing { alive, code, reports: Vec::new() });
    }

    pub(super) fn check(&mut self, cond: Operand, kind: CheckKind, args: &[Operand], span: Span) {
        let Some(failing) = self.failing.clone() else {
            let (cond, args) = (self.scalar(cond), self.args(args, false));
            return self.push(Node::Check { cond, kind, args, span });
        };
        let cond = self.in_lanes(cond);
        let running = self.running().unwrap_or(TRUE);
        let fails = self.native(Instruction::Not, Elem::Bool, Elem::Bool, &[cond]);
        let bad = self.native(Instruction::And, Elem::Bool, Elem::Bool, &[running, fails]);
        let args: Vec<Operand> = args.iter().map(|a| self.in_lanes(*a)).collect();
        let elems: Vec<Elem> = args.iter().map(|a| self.elem_of(*a)).collect();
        self.checks.push(FailingCheck { kind, span, args: elems.clone() });
        let number = Operand::i64(self.checks.len() as i64);
        let any = self.define("any", Elem::Bool, 1, Expr::Any(bad));
        let nodes = self.list(|w| {
            // Nothing comes before the first lane: it need not wait for the others.
            let lane = w.define("lane", Elem::I64, 1, Expr::First(bad));
            let is_later = w.native(Instruction::Gt, Elem::I64, Elem::Bool, &[lane, Operand::i64(0)]);
            let first = args.iter().map(|arg| w.of_lane(*arg, Operand::i64(0))).collect();
            w.push(Node::Check { cond: is_later, kind, args: first, span });
            let old = w.define("code", Elem::I64, w.lanes, Expr::Copy(failing.code.into()));
            let code = w.native(Instruction::Select, Elem::I64, Elem::I64, &[bad, number, old]);
            w.push(Node::Set(failing.code, code));
            let alive = w.define("alive", Elem::Bool, w.lanes, Expr::Copy(failing.alive.into()));
            let good = w.native(Instruction::Not, Elem::Bool, Elem::Bool, &[bad]);
            let alive = w.native(Instruction::And, Elem::Bool, Elem::Bool, &[alive, good]);
            w.push(Node::Set(failing.alive, alive));
            for (k, (arg, elem)) in args.iter().zip(&elems).enumerate() {
                let buffer = w.report_buffer(*elem);
                let offset = Operand::i64(k as i64 * i64::from(w.lanes));
                w.push(Node::StoreLanes { to: Place { buffer, offset }, value: *arg, mask: Some(bad) });
            }
        });
        self.push(Node::If(any, nodes, Vec::new()));
    }

    /// A check of a whole strip: what follows it happens if no lane fails.
    pub(super) fn hope(&mut self, cond: Operand, fails: Local, rest: &[Node]) {
        let cond = self.in_lanes(cond);
        let mut bad = self.native(Instruction::Not, Elem::Bool, Elem::Bool, &[cond]);
        if let Some(live) = self.live.filter(|_| self.lanes_of(bad) > 1) {
            bad = self.native(Instruction::And, Elem::Bool, Elem::Bool, &[live, bad]);
        }
        let any = match self.lanes_of(bad) {
            1 => bad,
            _ => self.define("any", Elem::Bool, 1, Expr::Any(bad)),
        };
        let rest = self.list(|w| w.nodes(rest));
        self.push(Node::If(any, vec![Node::Set(fails, TRUE)], rest));
    }

    /// The buffer for what is reported, of a type.
    pub(super) fn report_buffer(&mut self, elem: Elem) -> Buffer {
        let failing = self.failing.as_ref().expect("invariant: lanes may fail here");
        if let Some((_, buffer)) = failing.reports.iter().find(|(known, _)| *known == elem) {
            return *buffer;
        }
        let kind = BufferKind::Allocated(Home::Frame);
        let info = BufferInfo { name: "report".into(), elem, kind, span: Span::NONE, is_record: false };
        let buffer = self.new_buffer(info);
        let failing = self.failing.as_mut().expect("invariant: lanes may fail here");
        failing.reports.push((elem, buffer));
        buffer
    }

    /// Ends the call with what the first lane that failed reports.
    pub(super) fn report_failures(&mut self) {
        let Some(failing) = self.failing.take() else { return };
        let alive = self.define("alive", Elem::Bool, self.lanes, Expr::Copy(failing.alive.into()));
        let failed = self.native(Instruction::Not, Elem::Bool, Elem::Bool, &[alive]);
        let any = self.define("any", Elem::Bool, 1, Expr::Any(failed));
        let checks = std::mem::take(&mut self.checks);
        let most = checks.iter().map(|check| check.args.len()).max().unwrap_or(0);
        for (_, buffer) in &failing.reports {
            let extents = vec![Operand::i64(most as i64), Operand::i64(self.lanes.into())];
            self.head.push(Node::Alloc { buffer: *buffer, extents });
        }
        let nodes = self.list(|w| {
            let lane = w.define("lane", Elem::I64, 1, Expr::First(failed));
            let codes = w.define("code", Elem::I64, w.lanes, Expr::Copy(failing.code.into()));
            let code = w.define("code", Elem::I64, 1, Expr::Lane([codes, lane]));
            let number = w.i64(Instruction::Add, code, Operand::i64(-1));
            let report = |w: &mut Self, check: &FailingCheck| {
                let mut args = Vec::new();
                for (k, elem) in check.args.iter().enumerate() {
                    let found = failing.reports.iter().find(|(known, _)| known == elem);
                    let (_, buffer) = found.expect("invariant: the check has written its report");
                    let offset = w.i64(Instruction::Add, lane, Operand::i64(k as i64 * i64::from(w.lanes)));
                    let arg = w.tables.local("arg", *elem, 1, false);
                    w.push(Node::Load(arg, Place { buffer: *buffer, offset }));
                    args.push(arg.into());
                }
                w.push(Node::Check { cond: FALSE, kind: check.kind, args, span: check.span });
            };
            let arms = checks.iter().map(|check| w.list(|w| report(w, check))).collect();
            w.push(Node::Switch(number, arms));
        });
        self.push(Node::If(any, nodes, Vec::new()));
    }
}

/// Whether a check among the nodes may fail in some lanes only.
pub(super) fn has_failing_checks(nodes: &[Node], shapes: &Shapes, diverges: bool) -> bool {
    nodes.iter().any(|node| {
        if let Node::Check { cond, args, .. } = node {
            return diverges || !shapes.is_uniform(*cond) || args.iter().any(|a| !shapes.is_uniform(*a));
        }
        let parts = node.selectors().into_iter().any(|on| !shapes.is_uniform(on));
        node.lists().into_iter().any(|list| has_failing_checks(list, shapes, diverges || parts))
    })
}

/// Whether all checks come before whatever writes, so that it is no harm to begin again where one fails.
pub(super) fn checks_first(body: &[Node]) -> bool {
    let n_before = body.iter().rposition(has_check).unwrap_or(0);
    let has_no_effect = |node: &Node| matches!(node, Node::Let(..) | Node::Load(..) | Node::Check { .. });
    body[..n_before].iter().all(has_no_effect)
        && body.get(n_before).is_none_or(|last| !has_check(last) || has_no_effect(last))
}

/// Whether a node is a check, or has one in it.
pub(super) fn has_check(node: &Node) -> bool {
    any(std::slice::from_ref(node), &mut |node| node.has(Effect::Fails))
}

/// Whether a node can be run where no lane is left.
pub(super) fn is_harmless(node: &Node) -> bool {
    matches!(node, Node::Let(..) | Node::Set(..) | Node::Check { .. })
}
