//! Expressions that are vectors or matrices. Their elements stay bounded.

use super::Writer;
use super::scope::{Dim, Scope};
use crate::generate::Construct;

impl Writer<'_> {
    pub(super) fn dim(&mut self) -> Dim {
        if self.rng.chance(0.7) { Dim::N } else { Dim::D }
    }

    /// A vector without operations.
    pub(super) fn vector_atom(&mut self, scope: &Scope, dim: Dim) -> String {
        let p = self.rng.unit();
        if p < 0.15 && !scope.matrices.is_empty() {
            let m = self.rng.recent(&scope.matrices).name.clone();
            let other = if dim == Dim::N { Dim::D } else { Dim::N };
            let i = self.index(scope, other);
            return if dim == Dim::N { format!("{m}[.., {i}]") } else { format!("{m}[{i}]") };
        }
        if p < 0.25 && dim == Dim::N && !scope.pairs.is_empty() {
            self.has(Construct::Struct);
            return format!("{}.v", self.rng.recent(&scope.pairs).name);
        }
        match scope.vector(self.rng, dim) {
            Some(v) => v,
            None => format!("full([{}], 0.3)", dim.name()),
        }
    }

    /// A vector.
    pub(super) fn vector(&mut self, scope: &Scope, dim: Dim) -> String {
        let size = dim.name();
        let (v, w) = (self.vector_atom(scope, dim), self.vector_atom(scope, dim));
        match self.rng.below(32) {
            which @ 0..=2 => self.dotted(scope, which, &v, &w),
            3 | 4 => {
                self.has(Construct::Tabulate);
                let (index, inner) = self.lambda_index(scope, dim);
                format!("tabulate({size}, |{index}| {})", self.tamed(&inner, 2))
            }
            5 => {
                self.has(Construct::Map);
                let (name, inner) = self.lambda_scalar(scope);
                format!("map(|{name}| {}, {v})", self.tamed(&inner, 1))
            }
            6 => {
                self.has(Construct::Map);
                format!("map(|p, q| sin(p * q + {}), {v}, {w})", self.scalar_atom(scope))
            }
            7 => {
                self.has(Construct::Scan);
                let x = self.scalar_atom(scope);
                let init = self.literal();
                format!("scan({init}, |acc, u| sin(acc * {x} + u), {v})")
            }
            8 => {
                self.has(Construct::Iterate);
                let trips = self.small_integer(scope);
                format!("iterate({trips}, {v}, |state| sin(state .+ 0.5 .* {w}))")
            }
            9 => {
                self.has(Construct::SumFold);
                let m = self.matrix_atom(scope);
                if dim == Dim::N { format!("sin(+/ {m})") } else { format!("sin(+/[axis = 0] {m})") }
            }
            10 => {
                self.has(Construct::MatrixProduct);
                let m = self.matrix_atom(scope);
                let other = self.vector_atom(scope, if dim == Dim::N { Dim::D } else { Dim::N });
                if dim == Dim::N { format!("sin({m} @ {other})") } else { format!("sin({other} @ {m})") }
            }
            11 if dim == Dim::N && !scope.index_arrays.is_empty() => {
                self.has(Construct::Gather);
                format!("{v}[{}]", self.rng.recent(&scope.index_arrays))
            }
            12 => {
                self.has(Construct::Rearranged);
                format!("reverse({v})")
            }
            14 => {
                self.has(Construct::Sort);
                format!("sort({v})")
            }
            15 => {
                self.has(Construct::RunningTotal);
                let total = self.rng.choice(&["cumsum(_)", "cumprod(0.9 .+ 0.2 .* sin(_))"]);
                format!("sin({})", total.replace('_', &v))
            }
            16..=19 => self.rearranged(scope, dim, &v),
            20 | 21 => {
                self.has(Construct::Zip);
                format!("map(|(p, q)| sin(p + 0.5 * q), zip({v}, {w}))")
            }
            22 | 23 => {
                self.has(Construct::NumbersInOrder);
                let numbers = self.rng.choice(&["(0.._)", "iota(_)"]).replace('_', size);
                format!("sin(0.3 .* ({numbers} as {}) .+ {v})", self.float)
            }
            24..=29 if dim == Dim::N => self.vector_feature(scope).unwrap_or_else(|| format!("cos({v})")),
            13 => {
                self.has(Construct::IfExpression);
                format!("if {} {{ {v} }} else {{ {w} }}", self.condition(scope))
            }
            _ => format!("cos({v})"),
        }
    }

    /// Two vectors element by element, in one of three ways.
    fn dotted(&mut self, scope: &Scope, which: usize, v: &str, w: &str) -> String {
        self.has(Construct::Dotted);
        match which {
            0 => {
                let operator = self.rng.choice(&[".+", ".-", ".*"]);
                format!("sin({v} {operator} {w})")
            }
            1 => {
                let s = self.scalar_atom(scope);
                format!("{s} .* tanh({v}) .+ 0.1")
            }
            _ => format!("max({v}, 0.8 .* {w})"),
        }
    }

    /// The elements of a vector in other places.
    fn rearranged(&mut self, scope: &Scope, dim: Dim, v: &str) -> String {
        self.has(Construct::Rearranged);
        let size = dim.name();
        match self.rng.below(4) {
            0 => {
                let m = self.matrix_atom(scope);
                let other = if dim == Dim::N { Dim::D } else { Dim::N };
                let i = self.index(scope, other);
                if dim == Dim::N { format!("transpose({m})[{i}]") } else { format!("transpose({m})[.., {i}]") }
            }
            1 => format!("reshape({v}, [{size}, 1])[.., 0]"),
            2 => format!("broadcast({v}, [3, {size}])[1]"),
            _ => format!("diag(0.9 .* diag({v}))"),
        }
    }

    pub(super) fn matrix_atom(&mut self, scope: &Scope) -> String {
        if scope.matrices.is_empty() {
            return "full([N, D], 0.4)".to_owned();
        }
        self.rng.recent(&scope.matrices).name.clone()
    }

    /// A matrix.
    pub(super) fn matrix(&mut self, scope: &Scope) -> String {
        let (m, k) = (self.matrix_atom(scope), self.matrix_atom(scope));
        match self.rng.below(5) {
            0 => {
                self.has(Construct::Dotted);
                format!("sin({m} .* {k} .+ 0.2)")
            }
            1 => {
                self.has(Construct::Tabulate2);
                let (i, inner) = self.lambda_index(scope, Dim::N);
                let (j, inner) = self.lambda_index(&inner, Dim::D);
                format!("tabulate([N, D], |{i}, {j}| {})", self.tamed(&inner, 2))
            }
            2 => {
                self.has(Construct::TabulateNested);
                let (i, inner) = self.lambda_index(scope, Dim::N);
                let (j, inner) = self.lambda_index(&inner, Dim::D);
                format!("tabulate(N, |{i}| tabulate(D, |{j}| {}))", self.tamed(&inner, 1))
            }
            3 => {
                self.has(Construct::TabulateNested);
                let (i, inner) = self.lambda_index(scope, Dim::N);
                format!("tabulate(N, |{i}| {})", self.vector(&inner, Dim::D))
            }
            _ => format!("tanh({m})"),
        }
    }

    /// A bounded float.
    pub(super) fn tamed(&mut self, scope: &Scope, depth: usize) -> String {
        let outer = self.rng.choice(&["sin", "tanh", "cos", "atan"]);
        format!("{outer}({})", self.scalar(scope, depth))
    }

    /// The index of a lambda, and the scope of its body: nothing outside may be changed there.
    fn lambda_index(&mut self, scope: &Scope, dim: Dim) -> (String, Scope) {
        let index = self.fresh('i');
        let mut inner = scope.clone();
        inner.indices[dim as usize].push(index.clone());
        inner.integers.push(index.clone());
        (index, inner)
    }

    fn lambda_scalar(&mut self, scope: &Scope) -> (String, Scope) {
        let name = self.fresh('u');
        let mut inner = scope.clone();
        inner.scalars.push(name.clone());
        (name, inner)
    }
}
