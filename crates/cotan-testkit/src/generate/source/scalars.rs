//! Expressions that are floats or integers.

use super::Writer;
use super::scope::{Dim, Scope};
use crate::generate::Construct;
use std::sync::LazyLock;

/// The first templates with one operand, `_`. Their order is a part of what a seed means: with it, the programs of a seed stay
/// what they are while the op table grows.
const UNARY: &[&str] = &[
    "sin(_)",
    "cos(_)",
    "tanh(_)",
    "atan(_)",
    "exp(tanh(_))",
    "expm1(tanh(_))",
    "sqrt(1.0 + _ * _)",
    "rsqrt(1.0 + _ * _)",
    "log(1.5 + _ * _)",
    "log2(1.5 + _ * _)",
    "log10(1.5 + _ * _)",
    "log1p(_ * _)",
    "cbrt(2.0 + sin(_))",
    "asin(0.9 * tanh(_))",
    "acos(0.9 * tanh(_))",
    "atanh(0.9 * tanh(_))",
    "acosh(2.5 + sin(_))",
    "asinh(_)",
    "sinh(sin(_))",
    "cosh(sin(_))",
    "tan(sin(_))",
    "erf(_)",
    "erfc(tanh(_))",
    "lgamma(2.5 + sin(_))",
    "sigmoid(_)",
    "relu(_)",
    "abs(_)",
    "clamp(_, -0.6, 0.8)",
    "powi(sin(_), 3)",
    "sin(_) ** 2",
    "(-_)",
    "(1.5 + sin(_)) ** 0.7",
];

/// The same with two operands, `_` and `$`; [`CHOICE`] is one of them.
const BINARY: &[&str] = &[
    "(_ + $)",
    "(_ - $)",
    "(_ * $)",
    "(_ / (2.0 + $ * $))",
    "(0.9 * _ + 0.1 * $)",
    "max(_, 0.7 * $)",
    "min(_, 0.7 * $)",
    "hypot(_, 1.0 + abs($))",
    "atan2(_, 1.5 + sin($))",
    "pow(1.5 + sin(_), tanh($))",
    "(_ % (1.5 + sin($)))",
    "fma(_, $, 0.3)",
    CHOICE,
    "select(_ < $, _, 0.5 * $)",
];

/// A choice between two computations, which is one more function of two arguments.
const CHOICE: &str = "if";

/// How random programs use the primitives: with one operand, or with two.
struct Templates {
    unary: Vec<&'static str>,
    binary: Vec<&'static str>,
}

impl Templates {
    /// Those of all rows of the op table; what is not among the first comes behind them.
    fn of_rows() -> &'static Templates {
        static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
            let all = cotan_ops::table().iter().flat_map(|row| row.expressions).copied();
            let added = all.filter(|template| !UNARY.contains(template) && !BINARY.contains(template));
            let (binary, unary): (Vec<_>, Vec<_>) = added.partition(|template| template.contains('$'));
            Templates { unary: [UNARY, &unary].concat(), binary: [BINARY, &binary].concat() }
        });
        &TEMPLATES
    }
}

impl Writer<'_> {
    /// A float with few operations.
    pub(super) fn scalar_atom(&mut self, scope: &Scope) -> String {
        let p = self.rng.unit();
        if p < 0.1 {
            return self.literal();
        }
        if p < 0.45 && scope.has_sizes {
            return self.element(scope);
        }
        if p < 0.55 && !scope.pairs.is_empty() {
            self.has(Construct::Struct);
            return format!("{}.s", self.rng.recent(&scope.pairs).name);
        }
        if p < 0.6 && !scope.integers.is_empty() {
            let i = self.rng.recent(&scope.integers);
            // A small number, whatever the arguments are: of large ones a sine is all rounding.
            return format!("(0.2 * (({i} % 9) as {}))", self.float);
        }
        self.rng.recent(&scope.scalars).clone()
    }

    /// A float literal between -1 and 1.
    pub(super) fn literal(&mut self) -> String {
        let hundredths = self.rng.range(-99, 100);
        let text = format!("{:.2}", hundredths as f64 / 100.0);
        if hundredths < 0 { format!("({text})") } else { text }
    }

    /// An element of a vector or matrix.
    pub(super) fn element(&mut self, scope: &Scope) -> String {
        if self.rng.chance(0.25) && !scope.matrices.is_empty() {
            let m = self.rng.recent(&scope.matrices).name.clone();
            let (i, j) = (self.index(scope, Dim::N), self.index(scope, Dim::D));
            return format!("{m}[{i}, {j}]");
        }
        let dim = self.dim();
        match scope.vector(self.rng, dim) {
            Some(v) => format!("{v}[{}]", self.index(scope, dim)),
            None => self.rng.recent(&scope.scalars).clone(),
        }
    }

    /// An integer in range.
    pub(super) fn index(&mut self, scope: &Scope, dim: Dim) -> String {
        let direct = scope.indices(dim);
        if !direct.is_empty() && self.rng.chance(0.55) {
            return self.rng.recent(direct).clone();
        }
        self.has(Construct::ComputedIndex);
        let i = if scope.integers.is_empty() { "1".to_owned() } else { self.rng.recent(&scope.integers).clone() };
        let step = self.rng.below(3);
        let wrapped = format!("({i} + {step}) % {}", dim.name());
        if dim == Dim::N && !scope.index_arrays.is_empty() && self.rng.chance(0.4) {
            let array = self.rng.recent(&scope.index_arrays);
            return format!("{array}[{wrapped}]");
        }
        wrapped
    }

    /// A small integer that is not negative.
    pub(super) fn small_integer(&mut self, scope: &Scope) -> String {
        if scope.integers.is_empty() || self.rng.chance(0.2) {
            return self.rng.below(4).to_string();
        }
        let i = self.rng.recent(&scope.integers).clone();
        if self.rng.chance(0.7) {
            return format!("{i} % 4");
        }
        self.has(Construct::NarrowInteger);
        let forms = [
            "(($ as i32) * 3 % 4) as i64",
            "(wrapping_mul($ as u8, 77) % 4) as i64",
            "(wrapping_as[u8]($ - 9) % 3) as i64",
            "abs(($ as i16) - 2) as i64 % 4",
        ];
        self.rng.choice(&forms).replace('$', &i)
    }

    /// A float of some operations; `depth` bounds their nesting.
    pub(super) fn scalar(&mut self, scope: &Scope, depth: usize) -> String {
        if depth == 0 {
            return self.scalar_atom(scope);
        }
        let p = self.rng.unit();
        if p < 0.3 {
            self.has(Construct::ScalarFunction);
            let template = self.rng.choice(&Templates::of_rows().unary);
            let x = self.scalar(scope, depth - 1);
            // The argument may stand twice, so keep it short there.
            let x = if template.matches('_').count() > 1 { self.scalar_atom(scope) } else { x };
            template.replace('_', &x)
        } else if p < 0.72 {
            let template = self.rng.choice(&Templates::of_rows().binary);
            if template == CHOICE {
                return self.if_expression(scope, depth);
            }
            let (x, y) = (self.scalar(scope, depth - 1), self.scalar_atom(scope));
            let x = if template.matches('_').count() > 1 { self.scalar_atom(scope) } else { x };
            template.replace('_', "\u{1}").replace('$', &y).replace('\u{1}', &x)
        } else if p < 0.76 {
            self.if_expression(scope, depth)
        } else if p < 0.81 {
            self.scalar_feature(scope).unwrap_or_else(|| self.scalar_atom(scope))
        } else if p < 0.9 && scope.has_sizes {
            self.folded(scope)
        } else if p < 0.94 && self.float == "f32" {
            self.has(Construct::FloatCast);
            let x = self.scalar_atom(scope);
            format!("(sin(1.5 * ({x} as f64)) as f32)")
        } else if p < 0.97 {
            self.called(scope)
        } else {
            self.scalar_atom(scope)
        }
    }

    fn if_expression(&mut self, scope: &Scope, depth: usize) -> String {
        self.has(Construct::IfExpression);
        let condition = self.condition(scope);
        let (x, y) = (self.scalar(scope, depth - 1), self.scalar_atom(scope));
        format!("(if {condition} {{ {x} }} else {{ {y} }})")
    }

    /// A truth value.
    pub(super) fn condition(&mut self, scope: &Scope) -> String {
        let (x, y) = (self.scalar_atom(scope), self.scalar_atom(scope));
        match self.rng.below(6) {
            0 if !scope.integers.is_empty() => format!("{} % 2 == 0", self.rng.recent(&scope.integers)),
            1 => format!("{x} > {y} && {x} < 0.9"),
            2 => format!("{x} < 0.1 || {y} > 0.4"),
            3 => format!("!({x} >= {y})"),
            _ => format!("{x} < {y}"),
        }
    }

    /// A tensor folded to a float.
    fn folded(&mut self, scope: &Scope) -> String {
        let dim = self.dim();
        let v = self.vector_atom(scope, dim);
        match self.rng.below(14) {
            8 => {
                self.has(Construct::FoldBy);
                let x = self.scalar_atom(scope);
                if self.rng.chance(0.5) {
                    format!("((|p, q| sin(p + {x} * q))/{v})")
                } else {
                    format!("((|p, q| 0.7 * sin(p) + q * {x})/0.2/{v})")
                }
            }
            9 => {
                self.has(Construct::OrderedFold);
                self.rng.choice(&["(-/ sin(_))", "(// (1.5 .+ 0.3 .* sin(_)))"]).replace('_', &v)
            }
            10 | 11 => {
                self.has(Construct::NamedSum);
                let w = self.vector_atom(scope, dim);
                let sums = [
                    "mean(#)",
                    "norm(1.5 .+ sin(#))",
                    "dot(#, sin($))",
                    "trace(diag(#))",
                    "sum(#)",
                    "prod(0.9 .+ 0.2 .* sin(#))",
                    "(inner((0.5, #), (0.3, sin($))) as %)",
                    "(norm((1.5, 1.5 .+ sin(#))) as %)",
                    "(sum_leaves(map_leaves(|p, q| p * sin(q), (0.4, #), 0.5 .* (0.2, $) .+ 0.1)) as %)",
                    "(0.1 * (count_leaves((0.5, #)) as %))",
                    "sum(map(|p| debug(\"p\", 0.7 * p) * p, #))",
                ];
                // The operands have remainders in them.
                let sum = self.rng.choice(&sums).replace('%', self.float);
                format!("sin({})", sum.replace('#', &v).replace('$', &w))
            }
            12 => {
                self.has(Construct::PositionOfExtreme);
                let (w, position) = (self.vector_atom(scope, dim), self.rng.choice(&["argmax", "argmin"]));
                format!("{w}[{position}({v})]")
            }
            0 | 1 => {
                self.has(Construct::SumFold);
                format!("(+/ {v})")
            }
            2 => {
                self.has(Construct::ProductFold);
                format!("(*/ (0.9 .+ 0.2 .* sin({v})))")
            }
            3 => {
                self.has(Construct::ExtremeFold);
                let fold = self.rng.choice(&["max", "min"]);
                format!("({fold}/ {v})")
            }
            4 => {
                self.has(Construct::MatrixProduct);
                let w = self.vector_atom(scope, dim);
                format!("sin({v} @ {w})")
            }
            5 | 6 => {
                self.has(Construct::Fold);
                let x = self.scalar_atom(scope);
                let init = self.literal();
                format!("fold({init}, |acc, u| 0.8 * sin(acc + {x}) + u * 0.3, {v})")
            }
            _ => {
                self.has(Construct::Slice);
                let hi = self.index(scope, dim);
                format!("(+/ {v}[0..{hi}])")
            }
        }
    }

    /// A call of a helper, or a derivative of one.
    fn called(&mut self, scope: &Scope) -> String {
        if !self.may_call {
            return self.scalar_atom(scope);
        }
        let (x, y) = (self.scalar_atom(scope), self.scalar_atom(scope));
        let which = self.rng.below(9);
        self.has(if which < 5 { Construct::DerivativeForm } else { Construct::Call });
        match which {
            0 => format!("sin(grad[u](curve)({x}, {y}))"),
            1 => format!("sin(jvp[u](curve)({x}, {y}, 0.5).1)"),
            2 => format!("sin(vjp[u](curve)({x}, {y}, 0.7).1)"),
            3 => format!("sin(value_and_grad[t](curve)({x}, {y}).1)"),
            4 if scope.has_sizes => {
                let v = self.vector_atom(scope, Dim::N);
                format!("sin(+/ grad[v](energy)({v}, {x}))")
            }
            5 | 6 if scope.has_sizes => {
                let v = self.vector_atom(scope, Dim::N);
                format!("energy({v}, {x})")
            }
            _ => format!("curve({x}, {y})"),
        }
    }
}
