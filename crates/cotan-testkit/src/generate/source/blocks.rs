//! Statements with blocks.

use super::Writer;
use super::scope::{Dim, Scope};
use super::tree::Stmt;
use crate::generate::Construct;

/// The bounds of a `for`, as text, and what is known of its index.
struct Range {
    text: String,
    dim: Option<Dim>,
    constant: Option<(i64, i64)>,
}

impl Writer<'_> {
    /// A block of statements in a scope of its own.
    pub(super) fn body(&mut self, mut scope: Scope, n: usize) -> Vec<Stmt> {
        let mut out = Vec::new();
        for _ in 0..n {
            if self.budget == 0 {
                break;
            }
            self.statement(&mut scope, &mut out);
        }
        // What a block computes should be used outside.
        if out.iter().all(|s| matches!(s, Stmt::Line(text) if text.starts_with("let "))) {
            self.assign(&mut scope, &mut out);
        }
        out
    }

    pub(super) fn for_loop(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        if self.rng.chance(0.12) && scope.has_sizes {
            return self.for_elements(scope, out);
        }
        if scope.in_loop {
            self.has(Construct::ForNested);
        }
        let index = self.fresh('i');
        let range = self.range(scope);
        let mut inner = self.enter(scope);
        inner.integers.push(index.clone());
        if let Some(dim) = range.dim {
            inner.indices[dim as usize].push(index.clone());
        }
        let is_reversed = self.rng.chance(0.15);
        let range_text = if is_reversed {
            self.has(Construct::ForReversed);
            format!("({}).rev()", range.text)
        } else {
            range.text
        };
        let (body, leaves) = self.loop_body(inner);
        let trips = range.constant.filter(|_| !leaves && !is_reversed).map(|(lo, hi)| (index.clone(), lo, hi));
        self.budget = self.budget.saturating_sub(1);
        out.push(Stmt::Block { head: format!("for {index} in {range_text}"), body, otherwise: None, trips });
    }

    fn for_elements(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        self.has(Construct::ForElements);
        let (name, dim) = (self.fresh('u'), self.dim());
        let v = self.vector_atom(scope, dim);
        let mut inner = self.enter(scope);
        inner.scalars.push(name.clone());
        let (body, _) = self.loop_body(inner);
        self.budget = self.budget.saturating_sub(1);
        out.push(Stmt::block(format!("for {name} in {v}"), body));
    }

    fn enter(&self, scope: &Scope) -> Scope {
        Scope { in_loop: true, depth: scope.depth + 1, ..scope.clone() }
    }

    /// The body of a loop, and whether something leaves it early.
    fn loop_body(&mut self, inner: Scope) -> (Vec<Stmt>, bool) {
        let before = std::mem::replace(&mut self.leaves, false);
        let n = 2 + self.rng.below(4);
        let body = self.body(inner, n);
        let leaves = self.leaves;
        self.leaves |= before;
        (body, leaves)
    }

    fn range(&mut self, scope: &Scope) -> Range {
        let plain = |text: String| Range { text, dim: None, constant: None };
        if !scope.indices(Dim::N).is_empty() && self.rng.chance(0.35) {
            self.has(Construct::ForOuterIndex);
            let i = self.rng.recent(scope.indices(Dim::N));
            let text = if self.rng.chance(0.5) { format!("0..{i}") } else { format!("{i}..N") };
            return Range { text, dim: Some(Dim::N), constant: None };
        }
        match self.rng.below(8) {
            0 | 1 => {
                self.has(Construct::ForConstant);
                let (lo, n) = (self.rng.range(0, 3), self.rng.range(0, 4));
                Range { text: format!("{lo}..{}", lo + n), dim: None, constant: Some((lo, lo + n)) }
            }
            2..=4 if scope.has_sizes => {
                self.has(Construct::ForSize);
                let dim = self.dim();
                let lo = self.rng.choice(&["0", "0", "1"]);
                Range { text: format!("{lo}..{}", dim.name()), dim: Some(dim), constant: None }
            }
            5 if scope.has_sizes && !scope.count_arrays.is_empty() => {
                self.has(Construct::ForArrayBound);
                let (i, counts) = (self.index(scope, Dim::N), self.rng.recent(&scope.count_arrays).clone());
                plain(format!("0..{counts}[{i}]"))
            }
            6 => {
                self.has(Construct::ForCastBound);
                let x = self.scalar_atom(scope);
                plain(format!("0..((1.7 + 1.4 * sin({x})) as i64)"))
            }
            _ => {
                let n = self.small_integer(scope);
                plain(format!("0..({n})"))
            }
        }
    }

    pub(super) fn while_loop(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        self.has(Construct::While);
        let (counter, value) = (self.fresh('n'), self.fresh('s'));
        let start = self.tamed(scope, 1);
        self.line(out, format!("let mut {counter} = 0"));
        self.line(out, format!("let mut {value} = {start}"));
        let mut inner = self.enter(scope);
        inner.integers.push(counter.clone());
        inner.scalars.push(value.clone());
        inner.mutable_scalars.push(value.clone());
        let (rest, _) = self.loop_body(inner);
        // The counter goes first: `continue` must not skip it.
        let x = self.scalar_atom(scope);
        let head = vec![
            Stmt::Line(format!("{counter} += 1")),
            Stmt::Line(format!("{value} = 0.9 * {value} + 0.2 * cos({x} + {value})")),
        ];
        let (trips, level) = (self.rng.range(1, 5), self.rng.choice(&["0.5", "0.8", "1.2"]));
        self.budget = self.budget.saturating_sub(3);
        let condition = format!("while {counter} < {trips} && abs({value}) < {level}");
        out.push(Stmt::block(condition, [head, rest].concat()));
        scope.scalars.push(value.clone());
        scope.mutable_scalars.push(value);
        scope.integers.push(counter);
    }

    pub(super) fn if_statement(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        self.has(Construct::IfStatement);
        let condition = self.condition(scope);
        let inner = Scope { depth: scope.depth + 1, ..scope.clone() };
        let (n, m) = (1 + self.rng.below(3), 1 + self.rng.below(2));
        let body = self.body(inner.clone(), n);
        let otherwise = if self.rng.chance(0.6) { Some(self.body(inner, m)) } else { None };
        self.budget = self.budget.saturating_sub(1);
        out.push(Stmt::Block { head: format!("if {condition}"), body, otherwise, trips: None });
    }
}
