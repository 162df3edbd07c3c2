//! Activity through control flow: conditions, bounds and scrutinees decide what runs, and a body depends on what decides
//! whether it runs.

use cotan_syntax::Span;

use super::Activity;
use super::dependence::{Dependence, LoopDependence, Params};
use crate::typed::{Expr, ExprKind, For, If, Iterable, Match, Range, While};

impl<'p> Activity<'p> {
    /// A condition decides which arm runs.
    pub(super) fn if_arms(&mut self, it: &'p If) -> Dependence {
        let outer = self.control;
        let mut found = Dependence::default();
        for (condition, body) in &it.arms {
            let decided = self.expr(condition).decided_at(condition.span);
            self.control = self.control.and(decided);
            found = found.and(self.expr(body));
        }
        if let Some(otherwise) = &it.otherwise {
            found = found.and(self.expr(otherwise));
        }
        let found = found.and(self.control);
        self.control = outer;
        found
    }

    /// What the value is of decides which arm runs; a payload depends on it smoothly.
    pub(super) fn match_arms(&mut self, it: &'p Match) -> Dependence {
        let outer = self.control;
        let value = self.expr(&it.scrutinee);
        let is_chosen = it.arms.len() > 1;
        let mut found = Dependence::default();
        for arm in &it.arms {
            self.bind(&arm.pattern, value);
            if is_chosen {
                self.control = self.control.and(value.decided_at(arm.pattern.span));
            }
            if let Some(guard) = &arm.guard {
                let decided = self.expr(guard).decided_at(guard.span);
                self.control = self.control.and(decided);
            }
            found = found.and(self.expr(&arm.body));
        }
        let found = found.and(self.control);
        self.control = outer;
        found
    }

    /// The bounds of a range say which integers there are.
    pub(super) fn range(&mut self, range: &'p Range) -> Dependence {
        self.expr(&range.lo).and(self.expr(&range.hi)).decided_at(range.hi.span)
    }

    /// A body that runs as often as `decided` says.
    fn under(&mut self, decided: Dependence, body: &'p Expr) {
        let outer = self.control;
        self.control = outer.and(decided);
        self.expr(body);
        self.control = outer;
    }

    /// What decides a loop where it begins: in the first pass nothing has come round yet.
    pub(super) fn note_loop(&mut self, span: Span, deciders: Vec<Params>) {
        if self.is_first_pass && deciders.iter().any(|decider| *decider != 0) {
            self.loops.entry(span).or_insert(LoopDependence { span, deciders });
        }
    }

    /// The iterations of a loop see what the ones before stored.
    pub(super) fn for_loop(&mut self, it: &'p For) -> Dependence {
        let (elem, decided) = match &it.iterable {
            Iterable::Range { range, .. } => {
                let bounds = self.range(range);
                self.note_loop(range.hi.span, vec![bounds.any]);
                (bounds, bounds)
            }
            Iterable::Tensor { tensor, .. } => (self.expr(tensor), Dependence::default()),
        };
        self.bind(&it.pattern, elem);
        self.under(decided, &it.body);
        Dependence::default()
    }

    /// A loop whose condition decides how often it runs, each part of it by itself.
    pub(super) fn while_loop(&mut self, it: &'p While) -> Dependence {
        let parts = if let ExprKind::Logic { operands, .. } = &it.condition.kind {
            operands.as_slice()
        } else {
            std::slice::from_ref(&it.condition)
        };
        let found: Vec<Dependence> = parts.iter().map(|part| self.expr(part)).collect();
        self.note_loop(it.condition.span, found.iter().map(|part| part.any).collect());
        let decided = found.into_iter().fold(Dependence::default(), Dependence::and);
        self.under(decided.decided_at(it.condition.span), &it.body);
        Dependence::default()
    }

    /// A value that leaves the function at once.
    pub(super) fn return_value(&mut self, value: Option<&'p Expr>) -> Dependence {
        let found = value.map_or_else(Dependence::default, |value| self.expr(value));
        let found = found.and(self.control);
        if let Some(returned) = self.returns.last_mut() {
            *returned = returned.and(found);
        }
        Dependence::default()
    }
}
