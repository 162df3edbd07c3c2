//! What the manifest of operations says of the functions of the prelude that are no scalar primitives: signature, doc, and
//! whether a derivative flows into each parameter.
//!
//! A new [`Builtin`] does not compile without it. This file must not know how a function is checked or lowered.

use super::{BUILTINS, ScalarFunction, scalar_functions};
use crate::typed::Builtin;
use cotan_ops::{Differentiability, Operand, WordElems};

/// A function of the prelude that is no scalar primitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreludeFunction {
    /// The name.
    pub name: &'static str,
    /// What stands in brackets in a declaration: `T: Numeric, ..S, N`; empty if nothing does.
    pub generics: &'static str,
    /// The parameters.
    pub params: Vec<Operand>,
    /// The type of the result.
    pub result: &'static str,
    /// What it computes, in Markdown.
    pub doc: String,
}

impl PreludeFunction {
    /// The declaration that it would have: `sort[T: Numeric, ..S, N](v: T[..S, N]) -> T[..S, N]`.
    pub fn signature(&self) -> String {
        let generics = if self.generics.is_empty() { String::new() } else { format!("[{}]", self.generics) };
        let param = |p: &Operand| format!("{}: {}{}", p.name, p.ty, if p.repeated { ", .." } else { "" });
        let params: Vec<String> = self.params.iter().map(param).collect();
        format!("{}{generics}({}) -> {}", self.name, params.join(", "), self.result)
    }
}

/// The functions of the prelude that are no scalar primitives, in the order of the prelude.
pub fn prelude_functions() -> Vec<PreludeFunction> {
    let builtins = BUILTINS.iter().filter_map(|(name, builtin)| {
        let Page { generics, params, result, doc } = page(*builtin)?;
        Some(PreludeFunction { name, generics, params: params.to_vec(), result, doc: doc.to_owned() })
    });
    let scalars = scalar_functions().filter(|function| function.name() != function.row.name());
    builtins.chain([einsum()]).chain(scalars.map(of_scalars)).collect()
}

/// The form whose brackets hold the names of axes; it is written out as a function before names are resolved.
fn einsum() -> PreludeFunction {
    PreludeFunction {
        name: "einsum",
        generics: "T: Numeric",
        params: vec![Operand::smooth("v", "T[..]").repeated()],
        result: "T[..]",
        doc: "`einsum[\"ij,jk->ik\"](a, b)` names the axes of each operand and, behind the arrow, those of the result: products \
              of the elements, summed over the axes that the result does not have."
            .to_owned(),
    }
}

/// The convention of a function of the prelude at its kinks, if it has any.
pub(crate) fn convention(builtin: Builtin) -> Option<&'static str> {
    page(builtin)?.params.iter().find_map(|param| match param.differentiability {
        Differentiability::Piecewise { convention } => Some(convention),
        Differentiability::Smooth { .. } | Differentiability::Zero { .. } | Differentiability::None { .. } => None,
    })
}

/// A function on scalars that is a primitive under another name.
fn of_scalars(function: ScalarFunction) -> PreludeFunction {
    const INTEGER: &str = "integers move in steps";
    let generics = match function.word.elems {
        WordElems::Float => "T: Float",
        WordElems::Numeric => "T: Numeric",
        WordElems::Integer => "T: Integer",
        WordElems::Any => "T",
    };
    let names = ["a", "b", "c"].into_iter().zip(function.operands());
    let params = names.map(|(name, operand)| match operand {
        super::Operand::Same if function.word.elems == WordElems::Integer => Operand::zero(name, "T", INTEGER),
        super::Operand::Same => Operand::smooth(name, "T"),
        super::Operand::Integer => Operand::zero(name, "i64", INTEGER),
        super::Operand::Bool => Operand::zero(name, "bool", "truth values move in steps"),
    });
    let how = if function.word.wraps { "; where the result does not fit, its low bits" } else { "" };
    PreludeFunction {
        name: function.name(),
        generics,
        params: params.collect(),
        result: if function.is_predicate() { "bool" } else { "T" },
        doc: format!("The primitive `{}`{how}. It goes element by element over tensors.", function.row.name()),
    }
}

struct Page {
    generics: &'static str,
    params: &'static [Operand],
    result: &'static str,
    doc: &'static str,
}

const COUNT: &str = "a count moves in steps";
const POSITION: &str = "a position moves in steps";
const POSITIONS: &str = "the result is made of positions, which move in steps";
const FUNCTION: &str = "a function is no number; derivatives flow into what it reads from its surroundings";
const SHAPE: &str = "the result depends on its shape alone";

/// What is said of a builtin; nothing of what has a record of its own.
fn page(builtin: Builtin) -> Option<Page> {
    let page = |generics, params, result, doc| Some(Page { generics, params, result, doc });
    match builtin {
        Builtin::Tabulate => page(
            "R, ..C",
            const { &[Operand::zero("counts", "[i64; ..C]", COUNT), Operand::none("f", "(i64, ..) -> R", FUNCTION)] },
            "R[..C]",
            "The values of `f` at all indices below the counts, in parallel: `tabulate(n, |i| e)`, `tabulate([n, m], |i, j| e)`.",
        ),
        Builtin::Map => page(
            "A, R, N",
            const { &[Operand::none("f", "(A, ..) -> R", FUNCTION), Operand::smooth("v", "A[N]").repeated()] },
            "R[N]",
            "The values of `f` at the elements (rows) of tensors of one length, in parallel; `map[..S]` goes over all axes of `S`.",
        ),
        Builtin::Zip => page(
            "A, N",
            const { &[Operand::smooth("v", "A[N]").repeated()] },
            "(A, ..)[N]",
            "The tuples of the elements (rows) of tensors of one length.",
        ),
        Builtin::Scan => page(
            "S, A, N",
            const {
                &[
                    Operand::smooth("init", "S"),
                    Operand::none("f", "(S, A) -> S", FUNCTION),
                    Operand::smooth("v", "A[N]"),
                ]
            },
            "S[N]",
            "The states after each element (row) of `v`, one after the other, from `init` on.",
        ),
        Builtin::Fold => page(
            "S, A, N",
            const {
                &[
                    Operand::smooth("init", "S"),
                    Operand::none("f", "(S, A) -> S", FUNCTION),
                    Operand::smooth("v", "A[N]"),
                ]
            },
            "S",
            "The state after the last element (row) of `v`, from `init` on.",
        ),
        Builtin::Iterate => page(
            "S",
            const {
                &[
                    Operand::zero("n", "i64", COUNT),
                    Operand::smooth("init", "S"),
                    Operand::none("f", "(S) -> S", FUNCTION),
                ]
            },
            "S",
            "`f` applied `n` times to `init`; not at all if `n` is negative.",
        ),
        Builtin::IterateUntil => page(
            "S",
            const {
                &[
                    Operand::smooth("init", "S"),
                    Operand::none("step", "(S) -> S", FUNCTION),
                    Operand::none("done", "(S) -> bool", "it decides how often, and a number of times moves in steps"),
                    Operand::zero("max", "i64", COUNT),
                ]
            },
            "S",
            "`step` applied until `done` holds for the new state, at most `max` times.",
        ),
        Builtin::Concat => page(
            "T, ..S",
            const { &[Operand::smooth("v", "T[_, ..S]").repeated()] },
            "T[_, ..S]",
            "Tensors one after the other along the first axis.",
        ),
        Builtin::Reverse => {
            page("T, N, ..S", const { &[Operand::smooth("v", "T[N, ..S]")] }, "T[N, ..S]", "The first axis backwards.")
        }
        Builtin::Transpose => page(
            "T, ..S, N, M",
            const { &[Operand::smooth("m", "T[..S, N, M]")] },
            "T[..S, M, N]",
            "The last two axes exchanged.",
        ),
        Builtin::Reshape => page(
            "T, ..S, ..R",
            const { &[Operand::smooth("v", "T[..S]"), Operand::zero("sizes", "[i64; ..R]", COUNT)] },
            "T[..R]",
            "The elements in their order under other sizes, of which there are as many.",
        ),
        Builtin::Broadcast => page(
            "T, ..S, ..R",
            const { &[Operand::smooth("v", "T[..S]"), Operand::zero("sizes", "[i64; ..R, ..S]", COUNT)] },
            "T[..R, ..S]",
            "Copies of `v` along new leading axes.",
        ),
        Builtin::Zeros => page("T, ..S", const { &[Operand::zero("sizes", "[i64; ..S]", COUNT)] }, "T[..S]", "Zeros."),
        Builtin::Ones => page("T, ..S", const { &[Operand::zero("sizes", "[i64; ..S]", COUNT)] }, "T[..S]", "Ones."),
        Builtin::Full => page(
            "T, ..S",
            const { &[Operand::zero("sizes", "[i64; ..S]", COUNT), Operand::smooth("x", "T")] },
            "T[..S]",
            "Copies of `x`.",
        ),
        Builtin::ZerosLike => {
            page("T", const { &[Operand::zero("v", "T", SHAPE)] }, "T", "Zeros of the type and shape of `v`.")
        }
        Builtin::Iota => {
            page("", const { &[Operand::zero("n", "i64", COUNT)] }, "i64[n]", "The integers `0, 1, ..., n - 1`.")
        }
        Builtin::Diag => page(
            "T: Numeric, N",
            const { &[Operand::smooth("v", "T[N]")] },
            "T[N, N]",
            "A matrix with `v` on its diagonal and zeros elsewhere; of a square matrix, its diagonal.",
        ),
        Builtin::Trace => page(
            "T: Numeric, N",
            const { &[Operand::smooth("m", "T[N, N]")] },
            "T",
            "The sum of the diagonal of a matrix.",
        ),
        Builtin::Sum => {
            page("T: Numeric, ..S", const { &[Operand::smooth("v", "T[..S]")] }, "T", "The sum of all elements.")
        }
        Builtin::Prod => page(
            "T: Numeric, ..S",
            const { &[Operand::smooth("v", "T[..S]")] },
            "T",
            "The product of all elements. Its derivative is exact for any number of zeros among them.",
        ),
        Builtin::Mean => {
            page("T: Float, ..S", const { &[Operand::smooth("v", "T[..S]")] }, "T", "The mean of all elements.")
        }
        Builtin::Dot => page(
            "T: Numeric, N",
            const { &[Operand::smooth("a", "T[N]"), Operand::smooth("b", "T[N]")] },
            "T",
            "The inner product of two vectors, as `a @ b`.",
        ),
        Builtin::Norm => page(
            "T: Float, ..S",
            const { &[Operand::piecewise("v", "T[..S]", "where all elements are 0 the derivative is 0")] },
            "T",
            "The square root of the sum of the squares of all elements; of a struct or tuple, of all its floats, as an `f64`.",
        ),
        Builtin::MapLeaves => page(
            "T: Differentiable",
            const { &[Operand::none("f", "(f64, ..) -> f64", FUNCTION), Operand::smooth("v", "T").repeated()] },
            "T",
            "The values of `f` at the floats of values of one type or of tangents of it, leaf by leaf; what is no float is that of the first.",
        ),
        Builtin::SumLeaves => page(
            "T: Differentiable",
            const { &[Operand::smooth("v", "T")] },
            "f64",
            "The sum of all floats of a value.",
        ),
        Builtin::Inner => page(
            "T: Differentiable",
            const { &[Operand::smooth("a", "T"), Operand::smooth("b", "T")] },
            "f64",
            "The sum of the products of the floats of two values of one type, or of a value and a tangent.",
        ),
        Builtin::Close => page(
            "T: Differentiable",
            const {
                &[
                    Operand::zero("a", "T", "a comparison is piecewise constant"),
                    Operand::zero("b", "T", "a comparison is piecewise constant"),
                    Operand::zero("tolerance", "f64", "a comparison is piecewise constant"),
                ]
            },
            "bool",
            "Whether all floats of two values of one type, or of a value and a tangent, agree: `abs(a - b) <= tolerance * max(1, abs(a), abs(b))`, or they are equal infinities; NaN is close to nothing.",
        ),
        Builtin::CountLeaves => page(
            "T: Differentiable",
            const { &[Operand::zero("v", "T", SHAPE)] },
            "i64",
            "How many floats there are in a value.",
        ),
        Builtin::StopGradient => page(
            "T",
            const { &[Operand::zero("x", "T", "stopping derivatives is what it is for")] },
            "T",
            "`x` itself, through which no derivative flows.",
        ),
        Builtin::Each => page(
            "A, N",
            const {
                &[
                    Operand::none("v", "A[N]", "nothing comes out of it"),
                    Operand::none("f", "(A) -> ()", "nothing comes out of it"),
                ]
            },
            "()",
            "Calls `f` for the elements (rows) of `v` in order, for what it does and not for a value.",
        ),
        Builtin::Sort => page(
            "T: Ord, ..S, N",
            const {
                &[Operand::piecewise(
                    "v",
                    "T[..S, N]",
                    "each element takes the derivative of the place that it is put to; equal ones keep their order",
                )]
            },
            "T[..S, N]",
            "The elements along the last axis in ascending order: stable, both zeros are equal, NaN comes last.",
        ),
        Builtin::Argsort => page(
            "T: Numeric, ..S, N",
            const { &[Operand::zero("v", "T[..S, N]", POSITIONS)] },
            "i64[..S, N]",
            "The positions of the elements along the last axis in the order of `sort`.",
        ),
        Builtin::Argmax => page(
            "T: Numeric, ..S, N",
            const { &[Operand::zero("v", "T[..S, N]", POSITIONS)] },
            "i64[..S]",
            "The position of the greatest element along the last axis: the first of equal ones, the first NaN if there is one.",
        ),
        Builtin::Argmin => page(
            "T: Numeric, ..S, N",
            const { &[Operand::zero("v", "T[..S, N]", POSITIONS)] },
            "i64[..S]",
            "The position of the least element along the last axis: the first of equal ones, the first NaN if there is one.",
        ),
        Builtin::Cumsum => page(
            "T: Numeric, ..S, N",
            const { &[Operand::smooth("v", "T[..S, N]")] },
            "T[..S, N]",
            "The sums of the elements up to each one, along the last axis.",
        ),
        Builtin::Cumprod => page(
            "T: Numeric, ..S, N",
            const { &[Operand::smooth("v", "T[..S, N]")] },
            "T[..S, N]",
            "The products of the elements up to each one, along the last axis.",
        ),
        Builtin::Gather => page(
            "T, I: Integer, N, ..S, ..K",
            const { &[Operand::smooth("v", "T[N, ..S]"), Operand::zero("idx", "I[..K]", POSITION)] },
            "T[..K, ..S]",
            "The elements (rows) of `v` at the positions `idx`, as `v[idx]`.",
        ),
        Builtin::WrappingAs => page(
            "T: Integer, U",
            const { &[Operand::zero("x", "U", "integers and truth values move in steps")] },
            "T",
            "`x`, an integer or a truth value, as a `T`: its low bits where it does not fit.",
        ),
        Builtin::Operation(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_of_the_prelude_has_a_signature_and_a_doc() {
        let functions = prelude_functions();
        let names: BTreeSet<&str> = functions.iter().map(|function| function.name).collect();
        assert_eq!(names.len(), functions.len());
        for name in BUILTINS.iter().map(|(name, _)| *name).chain(["wrapping_add"]) {
            assert!(names.contains(name), "{name}");
        }
        for function in &functions {
            assert!(function.doc.ends_with('.'), "{}: {}", function.name, function.doc);
            assert!(!function.params.is_empty() && !function.result.is_empty(), "{}", function.name);
        }
        let sort = functions.iter().find(|function| function.name == "sort").expect("it is there");
        assert_eq!(sort.signature(), "sort[T: Ord, ..S, N](v: T[..S, N]) -> T[..S, N]");
        let power = functions.iter().find(|function| function.name == "wrapping_pow").expect("it is there");
        assert_eq!(power.signature(), "wrapping_pow[T: Integer](a: T, b: i64) -> T");
    }
}
