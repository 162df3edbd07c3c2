//! Statements without blocks of their own.

use super::Writer;
use super::scope::{Dim, Scope, Tensor};
use super::tree::Stmt;
use crate::generate::Construct;

impl Writer<'_> {
    /// One statement, or a few that belong together.
    pub(super) fn statement(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        let may_nest = scope.depth < 3;
        match self.rng.below(if may_nest { 34 } else { 20 }) {
            19 => self.feature_statement(scope, out),
            0..=3 => self.let_scalar(scope, out),
            4..=6 => self.assign(scope, out),
            7..=9 if scope.has_sizes => self.update_element(scope, out),
            10 if scope.has_sizes => self.update_part(scope, out),
            11 | 12 if scope.has_sizes => self.let_vector(scope, out),
            13 if scope.has_sizes => self.let_matrix(scope, out),
            14 => self.let_tuple(scope, out),
            15 if scope.has_sizes => self.pair(scope, out),
            16 => self.iterate_until(scope, out),
            17 if scope.in_loop => self.leave(scope, out),
            18 => self.early_return(scope, out),
            20..=27 => self.for_loop(scope, out),
            28..=30 => self.while_loop(scope, out),
            31..=33 => self.if_statement(scope, out),
            _ => self.let_scalar(scope, out),
        }
    }

    pub(super) fn line(&mut self, out: &mut Vec<Stmt>, text: String) {
        self.budget = self.budget.saturating_sub(1);
        out.push(Stmt::Line(text));
    }

    pub(super) fn let_scalar(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        let name = self.fresh('s');
        let is_mutable = self.rng.chance(0.4);
        let value = self.tamed(scope, 2);
        self.line(out, format!("let {}{name} = {value}", if is_mutable { "mut " } else { "" }));
        scope.scalars.push(name.clone());
        if is_mutable {
            scope.mutable_scalars.push(name);
        }
    }

    pub(super) fn let_vector(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        let (name, dim) = (self.fresh('v'), self.dim());
        let is_mutable = self.rng.chance(0.6);
        let (value, annotation) = if self.rng.chance(0.12) {
            // The length of the parts is known at run time only.
            self.has(Construct::Slice);
            let (v, at) = (self.vector_atom(scope, dim), self.index(scope, dim));
            (format!("concat({v}[{at}..], {v}[0..{at}])"), format!(": {}[{}]", self.float, dim.name()))
        } else {
            (self.vector(scope, dim), String::new())
        };
        self.line(out, format!("let {}{name}{annotation} = {value}", if is_mutable { "mut " } else { "" }));
        scope.vectors.push(Tensor { name, shape: dim, is_mutable });
    }

    pub(super) fn let_matrix(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        let name = self.fresh('m');
        let is_mutable = self.rng.chance(0.6);
        let value = self.matrix(scope);
        self.line(out, format!("let {}{name} = {value}", if is_mutable { "mut " } else { "" }));
        scope.matrices.push(Tensor { name, shape: (), is_mutable });
    }

    fn let_tuple(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        self.has(Construct::Tuple);
        if scope.mutable_scalars.len() > 1 && self.rng.chance(0.5) {
            let p = self.rng.recent(&scope.mutable_scalars).clone();
            let q = scope.mutable_scalars[0].clone();
            if p != q {
                let x = self.scalar_atom(scope);
                return self.line(out, format!("({p}, {q}) = ({q}, sin({p} + {x}))"));
            }
        }
        let (name, x, y) = (self.fresh('t'), self.tamed(scope, 1), self.tamed(scope, 1));
        self.line(out, format!("let {name} = ({x}, {y})"));
        let (p, q) = (self.fresh('s'), self.fresh('s'));
        self.line(out, format!("let ({p}, {q}) = ({name}.1, {name}.0)"));
        scope.scalars.extend([p, q]);
    }

    /// Makes or changes a struct.
    fn pair(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        if !self.may_call {
            return self.let_scalar(scope, out);
        }
        self.has(Construct::Struct);
        match Scope::mutable(self.rng, &scope.pairs) {
            Some((name, ())) if self.rng.chance(0.6) => match self.rng.below(3) {
                0 => {
                    let x = self.tamed(scope, 1);
                    self.line(out, format!("{name}.s = {x}"));
                }
                1 => {
                    let (i, x) = (self.index(scope, Dim::N), self.tamed(scope, 1));
                    self.line(out, format!("{name}.v[{i}] = {x}"));
                }
                _ => {
                    self.has(Construct::Call);
                    let x = self.scalar_atom(scope);
                    self.line(out, format!("{name} = moved({name}, {x})"));
                }
            },
            Some(_) | None => {
                let (name, x, v) = (self.fresh('p'), self.tamed(scope, 1), self.vector(scope, Dim::N));
                let value = match scope.pairs.last() {
                    Some(old) if self.rng.chance(0.3) => format!("Pair {{ s: {x}, ..{} }}", old.name),
                    Some(_) | None => format!("Pair {{ s: {x}, v: {v} }}"),
                };
                self.line(out, format!("let mut {name} = {value}"));
                scope.pairs.push(Tensor { name, shape: (), is_mutable: true });
            }
        }
    }

    pub(super) fn assign(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        if scope.mutable_scalars.is_empty() {
            return self.let_scalar(scope, out);
        }
        self.has(Construct::Assign);
        let name = self.rng.recent(&scope.mutable_scalars).clone();
        let value = self.tamed(scope, 2);
        let text = match self.rng.below(6) {
            0 => format!("{name} += 0.3 * {value}"),
            1 => format!("{name} -= 0.3 * {value}"),
            2 => format!("{name} *= 0.9 * {value}"),
            3 => format!("{name} = sin({name} + {value})"),
            4 => format!("{name} max= {value}"),
            _ => format!("{name} = {value}"),
        };
        self.line(out, text);
    }

    fn update_element(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        if self.rng.chance(0.25)
            && let Some((m, ())) = Scope::mutable(self.rng, &scope.matrices)
        {
            self.has(Construct::ElementUpdate);
            let (i, j) = (self.index(scope, Dim::N), self.index(scope, Dim::D));
            let value = self.tamed(scope, 2);
            return self.line(out, format!("{m}[{i}, {j}] = {value}"));
        }
        let Some((v, dim)) = Scope::mutable(self.rng, &scope.vectors) else { return self.let_vector(scope, out) };
        let (i, value) = (self.index(scope, dim), self.tamed(scope, 2));
        let text = match self.rng.below(7) {
            0 | 1 => {
                self.has(Construct::ElementAccumulate);
                format!("{v}[{i}] += 0.3 * {value}")
            }
            2 => {
                self.has(Construct::ElementAccumulate);
                let operator = self.rng.choice(&["max=", "min=", "*="]);
                format!("{v}[{i}] {operator} {value}")
            }
            3 | 4 => {
                // In a loop this reads what an earlier iteration wrote.
                if scope.in_loop {
                    self.has(Construct::ReadAfterWrite);
                }
                self.has(Construct::ElementUpdate);
                let j = self.index(scope, dim);
                format!("{v}[{i}] = sin({v}[{j}] * {value} + {v}[{i}])")
            }
            _ => {
                self.has(Construct::ElementUpdate);
                format!("{v}[{i}] = {value}")
            }
        };
        self.line(out, text);
    }

    /// A row or a slice is replaced.
    fn update_part(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        if self.rng.chance(0.5)
            && let Some((m, ())) = Scope::mutable(self.rng, &scope.matrices)
        {
            self.has(Construct::RowUpdate);
            let (i, row) = (self.index(scope, Dim::N), self.vector(scope, Dim::D));
            return self.line(out, format!("{m}[{i}] = {row}"));
        }
        let Some((v, dim)) = Scope::mutable(self.rng, &scope.vectors) else { return self.let_matrix(scope, out) };
        self.has(Construct::SliceUpdate);
        let hi = self.fresh('n');
        let at = self.index(scope, dim);
        self.line(out, format!("let {hi} = {at}"));
        let value = self.vector_atom(scope, dim);
        self.line(out, format!("{v}[0..{hi}] = sin({value}[0..{hi}])"));
        scope.integers.push(hi);
    }

    fn iterate_until(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        self.has(Construct::IterateUntil);
        let name = self.fresh('s');
        let (start, x) = (self.scalar_atom(scope), self.scalar_atom(scope));
        let trips = self.small_integer(scope);
        let text = if self.rng.chance(0.3) {
            self.has(Construct::Tuple);
            format!(
                "let ({name}, _) = iterate_until(({start}, 0), \
                 |(u, k)| (cos(u) * 0.7 + {x} * 0.2, k + 1), |(u, k)| u > 0.6 || k > 4, {trips} + 1)"
            )
        } else {
            format!("let {name} = iterate_until({start}, |u| 0.8 * sin(u + {x}) + 0.1, |u| abs(u) < 0.2, {trips})")
        };
        self.line(out, text);
        scope.scalars.push(name);
    }

    /// Leaves an iteration or the loop.
    fn leave(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        let condition = self.condition(scope);
        let word = if self.rng.chance(0.5) {
            self.has(Construct::Break);
            "break"
        } else {
            self.has(Construct::Continue);
            "continue"
        };
        self.leaves = true;
        self.budget = self.budget.saturating_sub(1);
        out.push(Stmt::block(format!("if {condition}"), vec![Stmt::Line(word.to_owned())]));
    }

    fn early_return(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        // A program that always returns at once tests nothing behind.
        if !self.may_return || self.rng.chance(0.6) {
            return self.assign(scope, out);
        }
        self.has(Construct::Return);
        self.leaves = true;
        let (x, y) = (self.scalar_atom(scope), self.tamed(scope, 2));
        self.budget = self.budget.saturating_sub(1);
        out.push(Stmt::block(format!("if {x} > 0.95"), vec![Stmt::Line(format!("return {y}"))]));
    }
}
