//! The benchmark command: `adbench FILE`, `loops NAME`, `all --data DIR`.

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cotan::llvm::load::SearchConfig;
use cotan::{Compiler, Config, Engine};
use cotan_bench::{Instance, LOOPS, Measured, Objective, Settings, loop_instance, measure, read_adbench};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Times the objectives of ADBench and data-dependent loops, and their derivatives.
#[derive(Parser)]
#[command(name = "cotan-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum Command {
    /// One instance of ADBench; the objective is told by the folder.
    Adbench {
        /// The instance's file.
        file: PathBuf,
    },
    /// One loop: newton, mass_spring or ode_rk4.
    Loops {
        /// Its name.
        name: String,
    },
    /// Every instance under a folder and every loop, with a table.
    All {
        /// The folder that holds `gmm` and `lstm`.
        #[arg(long)]
        data: PathBuf,
    },
}

#[derive(Args)]
struct Options {
    /// What runs the programs.
    #[arg(long, value_enum, default_value_t = Backend::Cpu, global = true)]
    backend: Backend,
    /// Threads; all cores by default.
    #[arg(long, global = true)]
    threads: Option<NonZeroUsize>,
    /// Seconds of samples for each function.
    #[arg(long, default_value_t = 1.0, global = true)]
    budget: f64,
    /// Writes the derivative entries of one instance as an .npy file.
    #[arg(long, global = true)]
    out: Option<PathBuf>,
    /// One JSON object a line.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// The reference interpreter.
    Interp,
    /// Compiled code.
    Cpu,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let threads = cli.options.threads.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let budget = Duration::try_from_secs_f64(cli.options.budget).context("--budget: expected seconds, at least 0")?;
    let config = Config {
        llvm: match std::env::var_os("COTAN_LLVM") {
            Some(word) if word == "none" => SearchConfig::nowhere(),
            path => SearchConfig { explicit: path.map(PathBuf::from), ..SearchConfig::default() },
        },
        threads: Some(threads),
        ..Config::default()
    };
    let compiler = Compiler::new(config).map_err(anyhow::Error::msg)?;
    let engine = match cli.options.backend {
        Backend::Interp => Engine::Interpreter,
        Backend::Cpu => Engine::Cpu,
    };
    let settings = Settings { engine, threads: threads.get(), budget, fewest_samples: 3 };
    let instances = match &cli.command {
        Command::Adbench { file } => vec![read_instance(file)?],
        Command::Loops { name } => vec![loop_instance(name)?],
        Command::All { data } => every_instance(data)?,
    };
    if cli.options.out.is_some() && instances.len() != 1 {
        bail!("--out takes the entries of one instance, found {} instances", instances.len());
    }
    let bar = progress(instances.len());
    let mut rows = Vec::new();
    for instance in &instances {
        bar.set_message(format!("{} {}", instance.objective, instance.name));
        let (row, entries) = measure(&compiler, instance, settings)
            .with_context(|| format!("{} {}", instance.objective, instance.name))?;
        if let Some(path) = &cli.options.out {
            write_entries(path, &entries)?;
        }
        if cli.options.json {
            print_line(&serde_json::to_string(&row)?);
        }
        rows.push(row);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !cli.options.json {
        print_table(&rows);
    }
    Ok(())
}

fn progress(n: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    // Drawn on stderr, and only where that is a terminal.
    ProgressBar::new(n as u64).with_style(style)
}

fn read_instance(file: &Path) -> Result<Instance> {
    let whole = fs::canonicalize(file).with_context(|| format!("reading {}", file.display()))?;
    let Some(objective) = Objective::of_path(&whole) else {
        bail!("{}: expected a file in a folder `gmm` or `lstm`", file.display());
    };
    let text = fs::read_to_string(&whole).with_context(|| format!("reading {}", file.display()))?;
    read_adbench(objective, &instance_name(&whole), &text).with_context(|| file.display().to_string())
}

/// `1k_d10_K25` for `gmm/1k/gmm_d10_K25.txt`, `l2_c1024` for `lstm/lstm_l2_c1024.txt`.
fn instance_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    match stem.strip_prefix("gmm_") {
        Some(rest) if folder != "gmm" => format!("{folder}_{rest}"),
        Some(rest) => rest.to_owned(),
        None => stem.trim_start_matches("lstm_").to_owned(),
    }
}

fn every_instance(data: &Path) -> Result<Vec<Instance>> {
    let mut files = Vec::new();
    for folder in ["gmm", "lstm"] {
        collect(&data.join(folder), &mut files)?;
    }
    files.sort();
    let mut instances: Vec<Instance> = files.iter().map(|f| read_instance(f)).collect::<Result<_>>()?;
    for name in LOOPS {
        instances.push(loop_instance(name)?);
    }
    Ok(instances)
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "txt") {
            out.push(path);
        }
    }
    Ok(())
}

/// Written beside and renamed, so that a failure leaves an old file as it was.
fn write_entries(path: &Path, entries: &[f64]) -> Result<()> {
    let value = cotan::host::HostValue::f64s(&[entries.len() as i64], entries);
    let bytes = cotan::host::write_npy(&value).context("entries are one tensor")?;
    let beside = path.with_extension("npy.partial");
    fs::write(&beside, bytes).with_context(|| format!("writing {}", beside.display()))?;
    fs::rename(&beside, path).with_context(|| format!("writing {}", path.display()))
}

fn print_table(rows: &[Measured]) {
    print_line(&format!(
        "{:<12} {:<14} {:>7} {:>22} {:>9} {:>11} {:>11} {:>11} {:>7}",
        "objective", "instance", "backend", "value", "entries", "compile", "objective", "gradient", "ratio"
    ));
    for r in rows {
        print_line(&format!(
            "{:<12} {:<14} {:>7} {:>22} {:>9} {:>9.1}ms {:>9.3}ms {:>9.3}ms {:>7.2}",
            r.objective,
            r.instance,
            r.backend,
            r.value.unwrap_or(f64::NAN),
            r.entries,
            1e3 * r.compile_s,
            1e3 * r.obj_min,
            1e3 * r.grad_min.unwrap_or(f64::NAN),
            r.grad_min.unwrap_or(f64::NAN) / r.obj_min
        ));
    }
}

/// A line on stdout. Unlike `println!` it does not panic where nobody listens any more.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
