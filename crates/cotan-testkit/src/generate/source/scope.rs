//! What a piece of a program may mention.

use crate::random::Rng;

/// One of the two sizes of generated programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    N,
    D,
}

impl Dim {
    pub(super) fn name(self) -> &'static str {
        match self {
            Dim::N => "N",
            Dim::D => "D",
        }
    }
}

/// A tensor in scope.
#[derive(Clone, Debug)]
pub(super) struct Tensor<S> {
    pub(super) name: String,
    pub(super) shape: S,
    pub(super) is_mutable: bool,
}

/// What a piece of a program may mention, by type; the newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) scalars: Vec<String>,
    pub(super) mutable_scalars: Vec<String>,
    pub(super) vectors: Vec<Tensor<Dim>>,
    /// Matrices are all `[N, D]`.
    pub(super) matrices: Vec<Tensor<()>>,
    /// Structs of the type `Pair`.
    pub(super) pairs: Vec<Tensor<()>>,
    /// Integers that are not negative and small.
    pub(super) integers: Vec<String>,
    /// Integers in `0..N` and in `0..D`.
    pub(super) indices: [Vec<String>; 2],
    /// Arrays of integers in `0..N`, and of small numbers, of length `N`.
    pub(super) index_arrays: Vec<String>,
    pub(super) count_arrays: Vec<String>,
    /// Whether statements that leave a loop early may stand here.
    pub(super) in_loop: bool,
    /// The number of loops around.
    pub(super) depth: usize,
    /// Whether there are sizes here: helpers of scalars have none.
    pub(super) has_sizes: bool,
}

impl Scope {
    pub(super) fn indices(&self, dim: Dim) -> &[String] {
        &self.indices[dim as usize]
    }

    /// The name of a vector of this length.
    pub(super) fn vector(&self, rng: &mut Rng, dim: Dim) -> Option<String> {
        let fitting: Vec<&str> = self.vectors.iter().filter(|v| v.shape == dim).map(|v| v.name.as_str()).collect();
        if fitting.is_empty() { None } else { Some((*rng.recent(&fitting)).to_owned()) }
    }

    /// The name of a tensor of this shape that may be written to; there is one in the function to test.
    pub(super) fn mutable_of<S: Copy + PartialEq>(rng: &mut Rng, tensors: &[Tensor<S>], shape: S) -> String {
        let fitting: Vec<&str> =
            tensors.iter().filter(|t| t.is_mutable && t.shape == shape).map(|t| t.name.as_str()).collect();
        (*rng.recent(&fitting)).to_owned()
    }

    /// The name of a tensor that may be written to.
    pub(super) fn mutable<S: Copy>(rng: &mut Rng, tensors: &[Tensor<S>]) -> Option<(String, S)> {
        let fitting: Vec<(&str, S)> =
            tensors.iter().filter(|t| t.is_mutable).map(|t| (t.name.as_str(), t.shape)).collect();
        if fitting.is_empty() {
            return None;
        }
        let (name, shape) = *rng.recent(&fitting);
        Some((name.to_owned(), shape))
    }
}
