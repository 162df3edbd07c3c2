//! Single operations, forward and as a gradient, beside frameworks that have them as routines.
//!
//! The programs are those of `benches/operations`, the same text for either element type; the peers' are in
//! `benches/peers/in_*/operations.py`. A row of [`OPERATIONS`] says the sizes, the bar and the least work there is.

mod verdicts;

pub use verdicts::{Form, JudgedOperation, PeerTime, judge, operation_table};

use crate::random::{self, Random};
use crate::{Block, Instance, Tolerance};
use anyhow::{Result, bail};
use cotan::Request;
use cotan::host::Elem;
use cotan::host::{Arguments, HostValue};

const FILE: &str = "benches/operations/operations.cot";
const SOURCE: &str = include_str!("../../../../benches/operations/operations.cot");
/// The line of the program that chooses the element type.
const CHOICE: &str = "type Real = f64";

/// The bar of rows that memory bounds: at least as fast as the better peer.
const MEMORY: f64 = 1.0;
/// The bar of products, convolutions and transforms.
const ARITHMETIC: f64 = 1.5;

/// The names of the rows.
pub const OPERATIONS: [&str; 11] = [
    "sum",
    "softmax_rows",
    "cumsum_rows",
    "cumsum",
    "sort",
    "gather",
    "solve_8",
    "solve_4",
    "conv2d",
    "conv2d_batch",
    "fft",
];

/// The least that an operation does, however it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Numbers that are read or written, each once.
    pub bytes: f64,
    /// Operations on floats; comparisons where there are no others.
    pub flops: f64,
}

/// An operation on a certain input.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// How large its input is.
    pub size: String,
    /// `f32` or `f64`.
    pub elem: Elem,
    /// The programs and the arguments.
    pub instance: Instance,
    /// Our time is at most this many times that of the better peer.
    pub bar: f64,
    /// The least work of the operation.
    pub forward: Work,
    /// The least work of its gradient, which comes with the value.
    pub gradient: Work,
}

/// The row of that name, for `f32` or `f64`.
pub fn operation(name: &str, elem: Elem) -> Result<Operation> {
    let mut random = Random::new(elem);
    match name {
        "sum" => Ok(sum(&mut random)),
        "softmax_rows" => Ok(softmax_rows(&mut random)),
        "cumsum_rows" => Ok(cumsum(&mut random, "cumsum_rows", &[1024, 4096])),
        "cumsum" => Ok(cumsum(&mut random, "cumsum", &[1 << 22])),
        "sort" => Ok(sort(&mut random)),
        "gather" => Ok(gather(&mut random)),
        "solve_8" => Ok(solve(&mut random, "solve_8", 8)),
        "solve_4" => Ok(solve(&mut random, "solve_4", 4)),
        "conv2d" => Ok(conv2d(&mut random, "conv2d", 1)),
        "conv2d_batch" => Ok(conv2d(&mut random, "conv2d_batch", 8)),
        "fft" => Ok(fft(&mut random)),
        other => bail!("there is no operation `{other}`: expected one of {}", OPERATIONS.join(", ")),
    }
}

/// A row before its work is said.
fn row(
    random: &Random,
    name: &'static str,
    function: &str,
    args: Vec<(&str, HostValue)>,
    blocks: &[(&str, usize)],
) -> Operation {
    let elem = random.elem();
    // Sums are of other orders, and in f32 a value of millions of terms has few digits.
    let (value, entries) = if elem == Elem::F32 { (1e-3, 1e-5) } else { (1e-8, 1e-10) };
    let size = args.first().map_or_else(String::new, |(_, first)| random::size(first));
    let instance = Instance {
        objective: format!("operations.{function}"),
        name: format!("{name} {elem}"),
        file: FILE.to_owned(),
        source: SOURCE.replace(CHOICE, &format!("type Real = {elem}")),
        function: Request::function(function),
        gradient: Some(Request::function(format!("{function}_gradient"))),
        args: args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Arguments>(),
        blocks: Block::in_order(blocks),
        tolerance: Tolerance { value, entries, has_result: blocks.iter().any(|(name, _)| *name == RESULT) },
    };
    let nothing = Work { bytes: 0.0, flops: 0.0 };
    Operation { name, size, elem, instance, bar: MEMORY, forward: nothing, gradient: nothing }
}

/// The block of the forward result.
const RESULT: &str = "result";

impl Operation {
    /// The same with its work: how many floats are read and written forward and in the gradient, and how many operations
    /// there are in each.
    fn with_work(self, floats: [usize; 2], flops: [f64; 2]) -> Operation {
        let work = |k: usize| Work { bytes: (floats[k] * self.elem.bytes()) as f64, flops: flops[k] };
        Operation { forward: work(0), gradient: work(1), ..self }
    }

    fn with_bar(self, bar: f64) -> Operation {
        Operation { bar, ..self }
    }
}

fn sum(random: &mut Random) -> Operation {
    let n = 1 << 22;
    let args = vec![("x", random.eighths(&[n])), ("w", random.one())];
    row(random, "sum", "total", args, &[("x", n)]).with_work([n, 2 * n], [n as f64, n as f64])
}

fn softmax_rows(random: &mut Random) -> Operation {
    let dims = [4096, 1024];
    let n = dims.iter().product();
    let args = vec![("x", random.numbers(&dims)), ("w", random.numbers(&dims))];
    // A maximum, a difference, an exponential, a sum and a quotient; an exponential counts as 10.
    let flops = 14.0 * n as f64;
    row(random, "softmax_rows", "softmax_rows", args, &[(RESULT, n), ("x", n)])
        .with_work([2 * n, 3 * n], [flops, flops + 4.0 * n as f64])
}

fn cumsum(random: &mut Random, name: &'static str, dims: &[usize]) -> Operation {
    let n = dims.iter().product();
    // Sums of eighths have no rounding, so no order of them has another result.
    let args = vec![("x", random.eighths(dims)), ("w", random.eighths(dims))];
    let function = if dims.len() == 1 { "cumsum_vector" } else { "cumsum_rows" };
    row(random, name, function, args, &[(RESULT, n), ("x", n)]).with_work([2 * n, 3 * n], [n as f64, 4.0 * n as f64])
}

fn sort(random: &mut Random) -> Operation {
    let n = 1 << 20;
    let args = vec![("x", random.numbers(&[n])), ("w", random.numbers(&[n]))];
    let comparisons = n as f64 * (n as f64).log2();
    row(random, "sort", "sorted", args, &[(RESULT, n), ("x", n)]).with_work([2 * n, 3 * n], [comparisons, comparisons])
}

fn gather(random: &mut Random) -> Operation {
    let (n, k) = (1 << 20, 1 << 21);
    let args = vec![("x", random.numbers(&[n])), ("at", random.positions(n, &[k])), ("w", random.numbers(&[k]))];
    let positions = k * Elem::I64.bytes() / random.elem().bytes();
    row(random, "gather", "gathered", args, &[(RESULT, k), ("x", n)])
        .with_work([positions + 2 * k, positions + 2 * k + n], [0.0, 3.0 * k as f64])
}

fn solve(random: &mut Random, name: &'static str, n: usize) -> Operation {
    let batch = 10_000;
    let args =
        vec![("a", random.matrices(batch, n)), ("b", random.numbers(&[batch, n])), ("w", random.numbers(&[batch, n]))];
    let (matrix, vector) = (batch * n * n, batch * n);
    let elimination = 2.0 / 3.0 * (batch * n * n * n) as f64 + 2.0 * matrix as f64;
    row(random, name, "solved", args, &[(RESULT, vector), ("a", matrix), ("b", vector)])
        .with_work([matrix + 2 * vector, 2 * matrix + 3 * vector], [elimination, elimination + 3.0 * matrix as f64])
}

fn conv2d(random: &mut Random, name: &'static str, batch: usize) -> Operation {
    let (channels, side) = (64, 56);
    let image = [batch, channels, side, side];
    let kernels = [channels, channels, 3, 3];
    let (n, k) = (image.iter().product(), kernels.iter().product());
    let args = vec![("x", random.numbers(&image)), ("k", random.numbers(&kernels)), ("w", random.numbers(&image))];
    let flops = 2.0 * (n * channels * 9) as f64;
    row(random, name, "convolution", args, &[(RESULT, n), ("x", n), ("k", k)])
        .with_work([2 * n + k, 3 * n + 2 * k], [flops, 3.0 * flops])
        .with_bar(ARITHMETIC)
}

fn fft(random: &mut Random) -> Operation {
    let n = 1 << 16;
    let args = vec![("x", random.numbers(&[n, 2])), ("w", random.numbers(&[n, 2]))];
    let flops = 5.0 * n as f64 * (n as f64).log2();
    row(random, "fft", "transformed", args, &[(RESULT, 2 * n), ("x", 2 * n)])
        .with_work([4 * n, 6 * n], [flops, 2.0 * flops])
        .with_bar(ARITHMETIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_program_that_differs_by_the_type_alone() {
        assert!(SOURCE.contains(CHOICE));
        let of_f32 = operation("solve_4", Elem::F32).expect("a row");
        let of_f64 = operation("solve_4", Elem::F64).expect("a row");
        assert!(of_f32.instance.source.contains("type Real = f32"));
        assert_eq!(of_f64.instance.source, SOURCE);
        assert_eq!((of_f32.forward.bytes, of_f64.forward.bytes), (4.0 * 240_000.0, 8.0 * 240_000.0));
        assert_eq!(of_f32.instance.blocks.iter().map(Block::n_entries).sum::<usize>(), 240_000);
    }

    #[test]
    fn an_unknown_row_is_named() {
        let message = operation("sums", Elem::F64).expect_err("no such row").to_string();
        assert!(message.starts_with("there is no operation `sums`: expected one of sum, softmax_rows"), "{message}");
    }
}
