//! Every code that a diagnostic may have, with the page that explains it.
//!
//! The front end has pages of its own (`E...`). Here are those of running programs: `R...` for checks that fail while a
//! program runs, `A...` for arguments that do not fit, `U...` for what this version does not support, `B...` for bugs.

use cotan_ir::CheckKind;
use cotan_syntax::{Code, CodeInfo};

/// A limit of a call was reached: memory, steps, nesting.
pub const LIMIT: Code = Code("R0100");
/// The time of a call is over.
pub const TIMED_OUT: Code = Code("R0101");
/// A call was cancelled.
pub const CANCELLED: Code = Code("R0102");
/// The device of a call failed.
pub const DEVICE_FAILED: Code = Code("R0103");
/// An argument is missing.
pub const MISSING_ARGUMENT: Code = Code("A0001");
/// An argument that no parameter has the name of.
pub const UNKNOWN_ARGUMENT: Code = Code("A0002");
/// An argument of another type than its parameter.
pub const ARGUMENT_TYPE: Code = Code("A0003");
/// An argument of another shape than its parameter.
pub const ARGUMENT_SHAPE: Code = Code("A0004");
/// A size that follows from no argument.
pub const UNKNOWN_SIZE: Code = Code("A0005");
/// A file that can't be read or written.
pub const UNREADABLE_FILE: Code = Code("A0006");
/// A file of arguments that is not what its name says.
pub const MALFORMED_FILE: Code = Code("A0007");
/// A request that does not fit the function.
pub const UNFIT_REQUEST: Code = Code("A0008");
/// A number of an option that is out of its range.
pub const NUMBER_OUT_OF_RANGE: Code = Code("A0020");
/// A size or an extent that would be negative.
pub const NEGATIVE_SIZE: Code = Code("A0009");
/// A parameter with two arguments.
pub const ARGUMENT_TWICE: Code = Code("A0010");
/// A device that this version does not support.
pub const UNSUPPORTED_DEVICE: Code = Code("U0001");
/// An option that this version does not support.
pub const UNSUPPORTED_OPTION: Code = Code("U0002");
/// A construct that a device lacks.
pub const UNSUPPORTED_CONSTRUCT: Code = Code("U0003");
/// A derivative beyond the limits on order and size.
pub const DERIVATIVE_LIMIT: Code = Code("E0701");
/// A bug of Cotan.
pub const BUG: Code = Code("B0001");

/// The page of a code.
pub fn page(code: &str) -> Option<&'static CodeInfo> {
    all().find(|info| info.code.as_str() == code)
}

/// The pages of all codes, those of the front end first.
pub fn all() -> impl Iterator<Item = &'static CodeInfo> {
    cotan_syntax::codes::all().chain(cotan_sema::codes::all()).chain(RUN_TIME).chain(SHELL)
}

/// The code of a failed check.
pub fn of_check(kind: CheckKind) -> Code {
    Code(kind.code())
}

const fn info(
    code: &'static str,
    title: &'static str,
    explanation: &'static str,
    failing_example: &'static str,
) -> CodeInfo {
    CodeInfo { code: Code(code), title, explanation, failing_example }
}

/// What can go wrong while a program runs. Each example fails when its `main` is called.
pub static RUN_TIME: &[CodeInfo] = &[
    info(
        "R0001",
        "index out of range",
        "An index must be at least 0 and less than the extent of its axis; indices do not count from the end.\n\n\
         Mended:\n\nfn main() -> f64 {\n  let v = [1.0, 2.0, 3.0]\n  v[2]\n}",
        "fn at(v: f64[3], i: i64) -> f64 = v[i]\nfn main() -> f64 = at([1.0, 2.0, 3.0], 3)",
    ),
    info(
        "R0002",
        "slice out of range",
        "The bounds of a slice lo..hi must satisfy 0 <= lo <= hi <= extent.\n\n\
         Mended:\n\nfn tail(v: f64[3], from: i64) -> f64 = +/ v[min(from, 3)..3]\n\
         fn main() -> f64 = tail([1.0, 2.0, 3.0], 4)",
        "fn tail(v: f64[3], from: i64) -> f64 = +/ v[from..3]\nfn main() -> f64 = tail([1.0, 2.0, 3.0], 4)",
    ),
    info(
        "R0003",
        "integer overflow",
        "Integer arithmetic never wraps silently. Use a wider type, or `wrapping_add`, `wrapping_sub` and \
         `wrapping_mul` where wrapping is meant.\n\n\
         Mended:\n\nfn twice(n: i64) -> i64 = wrapping_add(n, n)\nfn main() -> i64 = twice(9223372036854775807)",
        "fn twice(n: i64) -> i64 = n + n\nfn main() -> i64 = twice(9223372036854775807)",
    ),
    info(
        "R0004",
        "integer division by zero",
        "Division and remainder of integers need a divisor other than zero; floats divide as IEEE 754 says.\n\n\
         Mended:\n\nfn share(n: i64, k: i64) -> i64 = if k == 0 { 0 } else { n / k }\nfn main() -> i64 = share(6, 0)",
        "fn share(n: i64, k: i64) -> i64 = n / k\nfn main() -> i64 = share(6, 0)",
    ),
    info(
        "R0005",
        "cast out of range",
        "A value that is cast with `as` must fit the type: a float must be finite and, without its fraction, in the \
         range of the integer type. A cast binds more tightly than a sign: the least value of a type is `(-128) as i8`, since \
         `-128 as i8` casts 128.\n\n\
         Mended:\n\nfn count(x: f64) -> i64 = if x < 1e18 && x > -1e18 { x as i64 } else { 0 }\n\
         fn main() -> i64 = count(1e300)",
        "fn count(x: f64) -> i64 = x as i64\nfn main() -> i64 = count(1e300)",
    ),
    info(
        "R0006",
        "shift out of range",
        "The distance of `shl` and `shr` must be at least 0 and less than the number of bits of the type.\n\n\
         Mended:\n\nfn bit(k: i64) -> u8 = shl(1, min(k, 7))\nfn main() -> u8 = bit(8)",
        "fn bit(k: i64) -> u8 = shl(1, k)\nfn main() -> u8 = bit(8)",
    ),
    info(
        "R0007",
        "shape mismatch",
        "Two extents that must be equal are not. Sizes known to the compiler are compared there; those that only a run \
         knows are compared here. A variable keeps the sizes of its first value. A quotient in a type rounds down, as \
         `floor_div`, and one in a body truncates.\n\n\
         Mended:\n\nfn add(n: i64, m: i64) -> f64 = +/ (zeros[f64](n) .+ zeros[f64](m)[0..n])\n\
         fn main() -> f64 = add(2, 3)",
        "fn add(n: i64, m: i64) -> f64 = +/ (zeros[f64](n) .+ zeros[f64](m))\nfn main() -> f64 = add(2, 3)",
    ),
    info(
        "R0008",
        "negative size",
        "A tensor has at least 0 elements along an axis.\n\n\
         Mended:\n\nfn total(n: i64) -> f64 = +/ zeros[f64](max(n, 0))\nfn main() -> f64 = total(-1)",
        "fn total(n: i64) -> f64 = +/ zeros[f64](n)\nfn main() -> f64 = total(-1)",
    ),
    info(
        "R0009",
        "fold of an empty axis",
        "The largest and the smallest of no elements do not exist. Give a start value, or make sure that there is an \
         element.\n\n\
         Mended:\n\nfn largest(n: i64) -> f64 = if n > 0 { max/ zeros[f64](n) } else { 0.0 }\n\
         fn main() -> f64 = largest(0)",
        "fn largest(n: i64) -> f64 = max/ zeros[f64](n)\nfn main() -> f64 = largest(0)",
    ),
    info(
        "R0010",
        "negative power of an integer",
        "An integer raised to a negative power is no integer. Raise a float instead.\n\n\
         Mended:\n\nfn power(n: i64) -> f64 = 2.0 ** n\nfn main() -> f64 = power(-1)",
        "fn power(n: i64) -> i64 = 2 ** n\nfn main() -> i64 = power(-1)",
    ),
    info(
        "R0011",
        "elements of different shapes",
        "All elements that a `tabulate` or `map` stacks must have one shape.\n\n\
         Mended:\n\nfn even(n: i64) -> f64 = +/[all] tabulate(n, |i| zeros[f64](n))\nfn main() -> f64 = even(3)",
        "fn ragged(n: i64) -> f64 = +/[all] tabulate(n, |i| zeros[f64](n - i))\nfn main() -> f64 = ragged(3)",
    ),
    info(
        "R0012",
        "a NaN was made",
        "Under --trap-nan a call stops where an operation makes a NaN of numbers that are none, in a value or in a \
         derivative. The message names the operation, its operands and the iterations of the loops around it. A NaN counts \
         where it is used: as a result, carried by a loop, stored, summed or compared. What a `select` does not choose, and \
         what a factor of exactly zero wipes out of a derivative, does not trap. A NaN in an argument or written in the \
         program is data; if the result is NaN because of an argument, that argument is named.\n\n\
         Mended:\n\nfn norm(x: f64, y: f64) -> f64 {\n  let s = x * x + y * y\n  if s > 0.0 { sqrt(s) } else { 0.0 }\n}\n\
         fn main() -> f64 = norm(0.0, 0.0)",
        "",
    ),
    info(
        "R0013",
        "singular matrix",
        "A matrix that is to be inverted, or factored by elimination, has linearly dependent columns. `std.linalg` gives \
         solutions of smallest error with `lstsq` and `pinv`, and says how large a determinant is with `slogdet`.\n\n\
         Mended:\n\nimport std.linalg\nfn main() -> f64 = linalg.solve_vector([[1.0, 2.0], [2.0, 5.0]], [1.0, 1.0])[0]",
        "import std.linalg\nfn main() -> f64 = linalg.solve_vector([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])[0]",
    ),
    info(
        "R0014",
        "matrix is not positive definite",
        "Only a symmetric matrix whose eigenvalues are all positive has a Cholesky factor. Rounding may take the smallest \
         ones away: adding a small multiple of the identity gives them back.\n\n\
         Mended:\n\nimport std.linalg\nfn main() -> f64 = linalg.cholesky([[5.0, 2.0], [2.0, 1.0]])[1, 1]",
        "import std.linalg\nfn main() -> f64 = linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])[1, 1]",
    ),
    info(
        "R0015",
        "a routine did not converge",
        "Eigenvalues and singular values are found by iteration, which ends for numbers that are not too large to be \
         squared. Scale the matrix first, and its eigenvalues back.\n\n\
         Mended:\n\nimport std.linalg\nfn main() -> f64 = 1e300 * linalg.eigh([[1.0, 1.0], [1.0, 1.0]]).0[1]",
        "",
    ),
    info(
        "R0016",
        "an assertion does not hold",
        "`assert(condition, \"message\")` ends the program where the condition is false. It stands for a whole body: whoever \
         needs the result of the function or the lambda has it, and a derivative has it once.\n\n\
         Mended:\n\nfn root(x: f64) -> f64 {\n  assert(x >= 0.0, \"a root is of a number that is not negative\")\n  sqrt(x)\n}\n\
         fn main() -> f64 = root(2.0)",
        "fn root(x: f64) -> f64 {\n  assert(x >= 0.0, \"a root is of a number that is not negative\")\n  sqrt(x)\n}\n\
         fn main() -> f64 = root(-2.0)",
    ),
    info(
        "R0040",
        "tangent of another variant",
        "The tangent or cotangent of a value of an enum is of the variant of that value: a circle changes as a circle \
         does.\n\n\
         Mended:\n\nenum Shape { Dot, Circle(f64) }\nfn area(s: Shape) -> f64 = match s {\n  Dot => 0.0,\n  Circle(r) => r * r\n}\n\
         fn main() -> f64 = jvp[s](area)(Shape.Circle(2.0), Shape.Circle(1.0)).1",
        "enum Shape { Dot, Circle(f64) }\nfn area(s: Shape) -> f64 = match s {\n  Dot => 0.0,\n  Circle(r) => r * r\n}\n\
         fn main() -> f64 = jvp[s](area)(Shape.Circle(2.0), Shape.Dot).1",
    ),
    info(
        "R0100",
        "a limit of the call was reached",
        "The call needs more memory, steps or nested blocks than it may use. Where memory is short, the message names who \
         asked for it (a tensor, or the record of a loop), the bytes that it needs, those that the call holds, and the \
         limit. `@checkpoint(sqrt)` in front of a loop makes its reverse sweep record less and compute more; \
         --memory-limit BYTES allows more. Without that option a call may hold what the machine, and the control group \
         of the process, have to spare. Arguments and results do not count; what routines work in does. Compiled code counts the bytes that it holds, \
         up to 64 KiB more than is used for each tensor that grows; the interpreter counts 8 bytes for each element, \
         whatever its type. --steps N bounds the steps of a call: compiled code counts about one for each iteration of a \
         loop, the interpreter the statements and elements too.",
        "",
    ),
    info(
        "R0101",
        "the time of the call is over",
        "The call took longer than --timeout SECONDS allows, or than the deadline that a host has set. Loops, products of \
         matrices and parallel loops end within some milliseconds; a routine of a library that is at work, such as a \
         factorisation or a sort, is not waited for. Without the option a call may take any time.",
        "",
    ),
    info(
        "R0102",
        "the call was cancelled",
        "The host that called the function has cancelled the call. The function can be called again.",
        "",
    ),
    info(
        "R0103",
        "the device failed",
        "The driver refused memory, a kernel or its work, did not end its work in time, or lost the device. The message says \
         what was asked of it, and names the kernel. The next call opens the device anew; with --backend cpu no device is \
         needed. An array that a host keeps on a device is lost with it: upload it again. One that lies on another device than \
         the function has to be read, and uploaded with the compiler that made the function.",
        "",
    ),
];

/// What the command itself refuses. There is no program that shows it.
pub static SHELL: &[CodeInfo] = &[
    info(
        "A0001",
        "an argument is missing",
        "Every parameter without a default needs an argument: --args FILE takes all whose names are in a .json, .npz, .safetensors \
         or .csv file, --args name=FILE or name=FILE:path takes one, --args - reads JSON from standard input, and --set name=value \
         gives a value as JSON.",
        "",
    ),
    info(
        "A0002",
        "no parameter has this name",
        "An argument is given by name, as in --args z=data.npz or --set z=1, and the function has no such parameter. Names \
         are those of the signature; sizes that follow from no argument are given by name too. What is in a file that is \
         given as a whole may have any names: the rest is left over, with a note.",
        "",
    ),
    info(
        "A0003",
        "an argument has another type than its parameter",
        "What loses nothing is converted, with a note: f32 arrays go into f64, integers into floats that hold them. Nothing \
         is rounded or cut: an f32 parameter takes no f64 array, and an i64 parameter no floats. In JSON, tensors are \
         nested lists of equal lengths, structs are objects, tuples are lists. In .npz, .safetensors and .csv files a struct is one \
         array, or column, for each of its leaves: p.w, p.b.",
        "",
    ),
    info(
        "A0004",
        "an argument has another shape than its parameter",
        "The extents of the arguments decide the sizes in brackets, and every extent must agree with them.",
        "",
    ),
    info(
        "A0005",
        "a size follows from no argument",
        "The size stands in no shape of a parameter from which it could be computed. Give it by name: --set N=5.",
        "",
    ),
    info(
        "A0006",
        "a file can't be read or written",
        "The operating system refused the file; the message says why.",
        "",
    ),
    info(
        "A0007",
        "a file is not what its name says",
        "Arguments are read from .json, .npz, .npy, .csv and .safetensors files. Python objects inside arrays are never read. A key of an object, or a name in an archive, stands for one value. What is read takes at most half the memory that is to spare, where an element has eight bytes; the arrays of an archive that take more than 32 MiB may be at most 200 times as large as their compressed forms. An array that is larger for good reasons can be saved without compression.",
        "",
    ),
    info(
        "A0008",
        "the request does not fit the function",
        "There is no function of this name, no such parameter, or the function has no scalar result to differentiate.",
        "",
    ),
    info(
        "A0020",
        "a number is out of its range",
        "--threads and COTAN_THREADS take at least 1, and at most 16 for each core that this process may use: more threads \
         only wait for each other. Without them there is one thread for each core.",
        "",
    ),
    info(
        "A0009",
        "a size would be negative",
        "A size counts elements. Sizes are solved from the extents of the arguments: x: f64[N + 5] needs at least five \
         elements, or N would be negative. Give longer arguments, or a size of at least 0: --set N=0.",
        "",
    ),
    info(
        "A0010",
        "a parameter has two arguments",
        "Two sources have a value for one parameter. Leave one out, or take the parts that are meant by name: \
         --args x=a.npz:x --args y=b.npz:y. Only --set goes over what --args gives.",
        "",
    ),
    info(
        "U0001",
        "there is no such device",
        "`--backend vulkan` needs a loader and a driver of Vulkan 1.2 or later, with buffer addresses and integers of 64 bits, \
         and with numbers of type f64 where the program has them. `cotan doctor` lists the devices that were found; \
         --device N or --device NAME chooses one. On Debian the packages libvulkan1 and mesa-vulkan-drivers hold a loader \
         and drivers, one for the CPU among them. CUDA is not supported in this version. The same program runs with \
         --backend cpu and --backend interp.",
        "",
    ),
    info(
        "U0003",
        "this device lacks a construct of the program",
        "The message names the construct, shows where the program needs it, and says what is nearest. The same program runs \
         with --backend cpu and --backend interp.",
        "",
    ),
    info("U0002", "this option is not supported in this version", "Leave it out: the result is the same.", ""),
    info(
        "E0701",
        "a derivative is too large",
        "Derivatives of derivatives may be nested eight deep, and a generated function has a limit on its size.",
        "",
    ),
    info(
        "B0001",
        "a bug of Cotan",
        "Cotan broke a rule of its own, and the exit code is 70. Please report the program, its arguments and the message.",
        "",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_page_of_numbers_names_the_bound() {
        let page = page(NUMBER_OUT_OF_RANGE.as_str()).expect("a page");
        let bound = format!("at most {} for each core", cotan_runtime::MOST_THREADS_PER_CORE);
        assert!(page.explanation.contains(&bound), "{}", page.explanation);
    }

    #[test]
    fn every_code_has_one_page() {
        let mut seen = BTreeSet::new();
        for info in all() {
            assert!(seen.insert(info.code), "{} has two pages", info.code);
            assert!(!info.title.is_empty() && !info.explanation.is_empty(), "{}", info.code);
        }
        for kind in CheckKind::ALL {
            assert!(page(kind.code()).is_some(), "{}", kind.code());
        }
    }
}
