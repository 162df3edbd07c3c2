//! The command line.

use crate::examples;
use clap::{Args, Parser, Subcommand, ValueEnum};
use cotan::VersionPolicy;
use cotan::cpu::{InstructionSet, Width};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Compiles numeric programs and their derivatives, and runs them.
#[derive(Parser)]
#[command(name = "cotan", version, arg_required_else_help = true, after_help = examples::OVERVIEW)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Calls a function and prints its result.
    #[command(after_help = examples::text(examples::RUN))]
    Run(RunArgs),
    /// Value and gradient of a scalar function at a point.
    #[command(after_help = examples::text(examples::GRAD))]
    Grad(GradArgs),
    /// Value and its tangent along a direction (forward mode).
    #[command(after_help = examples::text(examples::JVP))]
    Jvp(JvpArgs),
    /// Value and the cotangents of parameters for one of the result (reverse mode).
    #[command(after_help = examples::text(examples::VJP))]
    Vjp(VjpArgs),
    /// Value and Jacobian.
    #[command(after_help = examples::text(examples::JACOBIAN))]
    Jacobian(MatrixArgs),
    /// Value and Hessian of a scalar function.
    #[command(after_help = examples::text(examples::HESSIAN))]
    Hessian(MatrixArgs),
    /// Value and the product of the Hessian with a direction.
    #[command(after_help = examples::text(examples::HVP))]
    Hvp(JvpArgs),
    /// Reports everything that is wrong with programs, without running them.
    #[command(after_help = examples::text(examples::CHECK))]
    Check(CheckArgs),
    /// Brings programs into the one layout.
    #[command(after_help = examples::text(examples::FMT))]
    Fmt(FmtArgs),
    /// Runs the tests and the examples of programs.
    #[command(after_help = examples::text(examples::TEST))]
    Test(TestArgs),
    /// Makes a folder with a small program, a gradient and a test.
    #[command(after_help = examples::text(examples::NEW))]
    New(NewArgs),
    /// Prints a step of the compiler as text.
    #[command(after_help = examples::text(examples::EMIT))]
    Emit(EmitArgs),
    /// Explains an operation, an error code, or what a gradient records.
    #[command(after_help = examples::text(examples::EXPLAIN))]
    Explain(ExplainArgs),
    /// Lists the operations with their derivatives.
    #[command(after_help = examples::text(examples::OPS))]
    Ops(OpsArgs),
    /// Times a function and its gradient.
    #[command(after_help = examples::text(examples::BENCH))]
    Bench(BenchArgs),
    /// Says what Cotan found on this machine, and what is missing.
    #[command(after_help = examples::text(examples::DOCTOR))]
    Doctor(DoctorArgs),
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) call: CallArgs,
    /// The function. Without this and --json, the integer result of `main` is the exit code.
    #[arg(long = "fn", value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// Runs again when the program, a program beside it or a file of --args has changed, until Ctrl-C.
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Args)]
pub(crate) struct GradArgs {
    #[command(flatten)]
    pub(crate) derivative: DerivativeArgs,
    /// Prints the value too (it is always there under --json).
    #[arg(long)]
    pub(crate) value: bool,
    /// Compares with finite differences and with the other mode, and fails past the tolerance.
    #[arg(long)]
    pub(crate) check: bool,
    /// The relative error that --check accepts; by default 1e-6, or 1e-2 where a parameter is f32.
    #[arg(long, value_name = "ERROR", requires = "check")]
    pub(crate) tolerance: Option<f64>,
    /// Has a proved checker confirm the gradient along the path that the arguments lead to, and fails if it does not.
    #[arg(long)]
    pub(crate) certify: bool,
    /// What computes the gradient.
    #[arg(long, value_enum, default_value_t = GradientEngine::Vjp)]
    pub(crate) engine: GradientEngine,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GradientEngine {
    /// The derivative compiled from the program.
    Vjp,
    /// A list of the scalar operations that ran, gone through backwards.
    Tape,
}

#[derive(Args)]
pub(crate) struct JvpArgs {
    #[command(flatten)]
    pub(crate) derivative: DerivativeArgs,
    /// The direction: one tangent for each parameter of --wrt, by its name; files as for --args.
    #[arg(long, value_name = "A", required = true)]
    pub(crate) tangent: Vec<String>,
}

#[derive(Args)]
pub(crate) struct VjpArgs {
    #[command(flatten)]
    pub(crate) derivative: DerivativeArgs,
    /// The cotangent of the result, as `cotangent`; files as for --args. A scalar result needs none: it is 1.
    #[arg(long, value_name = "A")]
    pub(crate) cotangent: Vec<String>,
}

#[derive(Args)]
pub(crate) struct MatrixArgs {
    #[command(flatten)]
    pub(crate) derivative: DerivativeArgs,
    /// Computes only entries that may not be zero, by as few products as a colouring allows, and gives the matrix in
    /// compressed rows (CSR). Rows and columns are the floats of the result and of a parameter, row-major.
    #[arg(long)]
    pub(crate) sparse: bool,
    /// Draws where the entries are to an SVG file, which asks for --sparse.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) spy: Option<PathBuf>,
}

/// A derivative of a function at a point.
#[derive(Args)]
pub(crate) struct DerivativeArgs {
    #[command(flatten)]
    pub(crate) call: CallArgs,
    /// The function.
    #[arg(long = "fn", value_name = "NAME")]
    pub(crate) function: String,
    /// The parameters; by default the first that has a derivative.
    #[arg(long, value_name = "p[,q]", value_delimiter = ',')]
    pub(crate) wrt: Vec<String>,
    /// The mode: a jvp is forward and a vjp reverse; for the others it is chosen by default.
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// From the result to the parameters.
    Reverse,
    /// From the parameters to the result.
    Forward,
}

/// A program, arguments for one of its functions, and where the result goes.
#[derive(Args)]
pub(crate) struct CallArgs {
    /// The program.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Writes the result to a .json, .npz, .npy, .csv or .safetensors file, which --args takes again.
    #[arg(long, value_name = "R")]
    pub(crate) out: Option<PathBuf>,
    /// Prints one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Significant digits of floats in text, at most; files and --json have all.
    #[arg(long, value_name = "N")]
    pub(crate) digits: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Args)]
pub(crate) struct InputArgs {
    /// Arguments, from FILE (.json, .npz, .safetensors, .csv) by the names in it, name=FILE (also .npy), name=FILE:path for a part, - for
    /// JSON on standard input, or inline JSON; may be repeated.
    #[arg(long = "args", value_name = "A")]
    pub(crate) args: Vec<String>,
    /// An argument or a size as JSON, or a part of one, as p.rate=0.1, over what --args gives; may be repeated.
    #[arg(long, value_name = "p=v")]
    pub(crate) set: Vec<String>,
}

impl InputArgs {
    /// Whether there are any.
    pub(crate) fn is_given(&self) -> bool {
        !self.args.is_empty() || !self.set.is_empty()
    }
}

/// What runs a program, and within which bounds.
#[derive(Args, Clone)]
#[command(next_help_heading = "How it runs")]
pub(crate) struct EngineArgs {
    /// What runs the program.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(crate) backend: Backend,
    /// The device of --backend vulkan, by its number or a part of its name, as `cotan doctor` lists them; by default
    /// COTAN_DEVICE, or the best: discrete before integrated before software.
    #[arg(long, value_name = "N|NAME")]
    pub(crate) device: Option<String>,
    /// Threads, at most 16 for each core; by default COTAN_THREADS, or as many as this process may use.
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Bytes that a call may hold beside its arguments and results; by default what the machine has to spare.
    /// Units are those of files: 64k, 1GB, 2GiB.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) memory_limit: Option<u64>,
    /// Steps that a call may take, about one for each iteration of a loop; by default as many as it wants.
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Seconds that a call may take; by default any time.
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// How hard LLVM works.
    #[arg(long, value_name = "LEVEL", value_parser = ["0", "2"], default_value = "2")]
    pub(crate) opt: String,
    /// How many lanes of a loop an operation works on, at most: a power of two. By default all that the loop has, in as many
    /// registers as it takes. No bit of a result depends on it.
    #[arg(long, value_name = "LANES")]
    pub(crate) width: Option<Width>,
    /// The instruction set that code keeps to, `x86-64-v3` (AVX2) or `x86-64-v4` (AVX-512), where the machine has more. No bit
    /// of a value depends on it.
    #[arg(long, value_name = "NAME")]
    pub(crate) cpu: Option<InstructionSet>,
    /// When functions get code for their small sizes: `when-they-pay`, which is once calls of these sizes have taken as long
    /// as it takes to make, `at-once` or `never`. No bit of a result depends on it.
    #[arg(long, value_name = "WHEN", default_value_t)]
    pub(crate) versions: VersionPolicy,
    /// Stops where a NaN is made, in a value or a derivative, and says where.
    #[arg(long)]
    pub(crate) trap_nan: bool,
    /// With --backend vulkan: fused multiply-adds, quotients and roots are the driver's own, which may round as it likes. Values
    /// then depend on the device.
    #[arg(long)]
    pub(crate) fast_math: bool,
    #[command(flatten)]
    pub(crate) later: LaterArgs,
}

/// A number of seconds, as `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

/// A number of bytes, as `65536`, `64KiB` or `1GB`.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let scale = match unit.as_str() {
        "" | "b" => Some(1),
        _ => UNITS.iter().find(|(name, _)| unit == *name || unit == format!("{name}b")).map(|(_, scale)| *scale),
    };
    let bytes = number.parse::<u64>().ok().zip(scale).and_then(|(number, scale)| number.checked_mul(scale));
    bytes.ok_or_else(|| "expected a number of bytes, such as 1000000, 64KiB or 1GB".to_owned())
}

/// Powers of 1000, and of 1024.
const UNITS: [(&str, u64); 8] = [
    ("k", 1000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
    ("t", 1_000_000_000_000),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
    ("ti", 1 << 40),
];

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// The reference interpreter.
    Interp,
    /// Compiled code for this CPU.
    Cpu,
    /// A GPU, or whatever else Vulkan finds; the CPU for programs without parallel loops.
    Vulkan,
    /// A GPU through CUDA (not supported in this version).
    Cuda,
}

impl EngineArgs {
    /// The defaults of everything but the backend.
    pub(crate) fn new(backend: Backend) -> EngineArgs {
        let (opt, later) = ("2".to_owned(), LaterArgs::default());
        EngineArgs {
            backend,
            device: None,
            threads: None,
            memory_limit: None,
            steps: None,
            timeout: None,
            opt,
            width: None,
            cpu: None,
            versions: VersionPolicy::default(),
            trap_nan: false,
            fast_math: false,
            later,
        }
    }
}

/// Options with a meaning that this version refuses instead of ignoring.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct LaterArgs {
    #[arg(long, hide = true)]
    unchecked: bool,
}

impl LaterArgs {
    /// The first such option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.unchecked.then_some("--unchecked")
    }
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// Programs, and folders whose programs are meant.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,
    /// Mends what has a certain fix, in the files, and reports what is left.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Prints one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Fails on warnings too.
    #[arg(long, value_name = "WHAT", value_parser = ["warnings"])]
    pub(crate) deny: Option<String>,
}

#[derive(Args)]
pub(crate) struct FmtArgs {
    /// Programs, and folders whose programs are meant; `-` formats the standard input to the output.
    #[arg(required = true, value_name = "FILE|DIR|-")]
    pub(crate) paths: Vec<PathBuf>,
    /// Changes nothing: prints what would change, and fails if anything would.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Programs, and folders whose programs are meant; by default this folder.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only tests whose names contain this; the example of `f` is called `example of f`.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Prints one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Args)]
pub(crate) struct NewArgs {
    /// The folder; its last part is the name of the program.
    #[arg(value_name = "NAME")]
    pub(crate) folder: PathBuf,
}

#[derive(Args)]
pub(crate) struct EmitArgs {
    /// The program.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The step.
    #[arg(long, value_enum, required_unless_present = "after", conflicts_with = "after")]
    pub(crate) stage: Option<Stage>,
    /// The core IR, or the loop nests, after the last run of this pass; `--stage passes` lists the passes.
    #[arg(long, value_name = "PASS")]
    pub(crate) after: Option<String>,
    /// One function; all by default.
    #[arg(long = "fn", value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// The gradient of the function with respect to these parameters, with the value.
    #[arg(long, value_name = "p[,q]", value_delimiter = ',', requires = "function")]
    pub(crate) grad: Vec<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// The syntax tree.
    Ast,
    /// The core IR, derivatives written.
    Ir,
    /// The core IR as a graph for Graphviz.
    Dot,
    /// The passes over the core IR: what each does, and how many times it runs for this program.
    Passes,
    /// Loop nests.
    Loops,
    /// Loop nests for a device: reductions whole, independent loops marked.
    DeviceLoops,
    /// The plan for a device: steps of the host, and kernels with their threads.
    Plan,
    /// The kernels of the plan as SPIR-V, for the device of Vulkan.
    Spirv,
    /// LLVM's IR.
    Llvm,
    /// Assembly for this CPU.
    Asm,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// What stands in a program, such as `sqrt`, `linalg.solve`, `std.nn`, `while` or `+/`; a code such as `E0101`; or a
    /// program.
    #[arg(value_name = "WORD|CODE|FILE")]
    pub(crate) subject: String,
    /// The function whose gradient is explained, or which itself, under --backend vulkan.
    #[arg(long = "fn", value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// The parameters of the gradient.
    #[arg(long, value_name = "p[,q]", value_delimiter = ',', requires = "function")]
    pub(crate) grad: Vec<String>,
    /// With `vulkan`: the kernels of a device, their threads and arrays, and what the host does. No device is needed for it.
    #[arg(long, value_enum, default_value_t = Backend::Cpu, requires = "function")]
    pub(crate) backend: Backend,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// Prints one JSON object on stdout.
    #[arg(long, requires = "function")]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct OpsArgs {
    /// Lists what has this word in its name or its description, best first; without it everything is listed by group: the
    /// prelude, the modules of the library, then what the op table has.
    #[arg(value_name = "WORD")]
    pub(crate) word: Option<String>,
    /// Lists a module of the library, such as `nn`.
    #[arg(long, value_name = "NAME", conflicts_with = "word")]
    pub(crate) module: Option<String>,
    /// Prints the manifest as JSON.
    #[arg(long, conflicts_with_all = ["word", "module"])]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// The program.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The function.
    #[arg(long = "fn", value_name = "NAME")]
    pub(crate) function: String,
    /// The parameters of the gradient; without them the function alone is timed.
    #[arg(long, value_name = "p[,q]", value_delimiter = ',')]
    pub(crate) grad: Vec<String>,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// How many samples are taken at least.
    #[arg(long, value_name = "N", default_value = "3")]
    pub(crate) repeat: usize,
    /// Seconds of samples for each function.
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) budget: f64,
    /// Where the time goes: the loop nests of the gradient, or of the function alone, on one thread.
    #[arg(long)]
    pub(crate) profile: bool,
    /// Prints one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Prints one JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Command {
    /// Whether stdout gets one JSON object.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Command::Run(a) => a.call.json,
            Command::Grad(a) => a.derivative.call.json,
            Command::Jvp(a) | Command::Hvp(a) => a.derivative.call.json,
            Command::Vjp(a) => a.derivative.call.json,
            Command::Jacobian(a) | Command::Hessian(a) => a.derivative.call.json,
            Command::Check(a) => a.json,
            Command::Test(a) => a.json,
            Command::Ops(a) => a.json,
            Command::Bench(a) => a.json,
            Command::Doctor(a) => a.json,
            Command::Explain(a) => a.json,
            Command::Emit(_) | Command::Fmt(_) | Command::New(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_units_of_files() {
        assert_eq!(bytes("65536"), Ok(65536));
        assert_eq!([bytes("64KiB"), bytes("64ki")], [Ok(65536), Ok(65536)]);
        assert_eq!([bytes("1GB"), bytes("1g")], [Ok(1_000_000_000), Ok(1_000_000_000)]);
        for text in ["", "GB", "-1", "1.5GB", "1 gigabyte", "99999999999999TB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
