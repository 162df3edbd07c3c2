//! The benchmark command: `adbench FILE`, `loops NAME`, `all --data DIR [--marks]`, `threads --data DIR`, `products`,
//! `operations [NAME...]`, `workloads [NAME...] [--held-out]`, `gpu [NAME...]`, `hosts`.

mod baselines;
mod report;
mod suite;

use anyhow::{Context, Result, bail};
use baselines::{Baselines, Wanted};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cotan::cpu::{InstructionSet, SearchConfig, Width};
use cotan::host::Elem;
use cotan::{Compiler, Config, Engine, VersionPolicy};
use cotan_bench::{GPU_CASES, Shaders, gpu_figures, gpu_table, host_figures, host_table};
use cotan_bench::{
    HandModel, Instance, LOOPS, OPERATIONS, Objective, PRODUCT_SIDES, Settings, Workload, loop_instance,
};
use cotan_bench::{judge, operation, operation_table, read_adbench};
use cotan_bench::{
    measure_peak, newton, product_rates, product_table, profile, profile_table, throughput, throughput_table,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
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
        /// The folder of the hand's model; `model` beside the file by default.
        #[arg(long)]
        model: Option<PathBuf>,
        /// The measured points of a hand belong to triangles, not to vertices; told by the folder by default.
        #[arg(long)]
        complicated: bool,
    },
    /// One loop: newton, mass_spring or ode_rk4.
    Loops {
        /// Its name.
        name: String,
    },
    /// Every instance under a folder and every loop, with a table.
    All {
        /// The folder that holds `gmm`, `ba`, `lstm` and `hand`.
        #[arg(long)]
        data: PathBuf,
        /// Beside hand-written C++, which is built for it, and the recorded figures of other tools.
        #[arg(long)]
        marks: bool,
    },
    /// Chains of matrix products, their gradients, and the library alone: how many operations a second.
    Products,
    /// Single operations and their gradients in f32 and f64, beside what the peers' own routines take.
    Operations {
        /// Which; all by default.
        names: Vec<String>,
    },
    /// Programs of many kinds and their gradients, beside hand-written C++, which is built for it, and beside the peers.
    Workloads {
        /// Which; all by default.
        names: Vec<String>,
        /// Those that are held out, instead of the others.
        #[arg(long)]
        held_out: bool,
    },
    /// Kernels on a Vulkan device beside hand-written shaders, which are built for it.
    Gpu {
        /// Which; all by default.
        names: Vec<String>,
    },
    /// Calls from Rust beside the code that they run, on one thread.
    Hosts,
    /// The large instances on two threads, beside two copies on one thread each.
    Threads {
        /// The folder that holds `gmm`, `ba` and `lstm`.
        #[arg(long)]
        data: PathBuf,
    },
}

/// The instances of `threads`, beside newton for a million numbers.
const LARGE: [&str; 3] = ["10k_d20_K100", "ba10_n1197", "l4_c4096"];

#[derive(Args)]
struct Options {
    /// What runs the programs.
    #[arg(long, value_enum, default_value_t = Backend::Cpu, global = true)]
    backend: Backend,
    /// Threads; by default COTAN_THREADS, or as many as this process may use, and one for workloads.
    #[arg(long, global = true)]
    threads: Option<NonZeroUsize>,
    /// How many lanes of a loop an operation works on, at most: a power of two; by default all that the loop has.
    #[arg(long, value_name = "LANES", global = true)]
    width: Option<Width>,
    /// The instruction set that code keeps to, x86-64-v3 or x86-64-v4; by default all that the machine has.
    #[arg(long, value_name = "NAME", global = true)]
    cpu: Option<InstructionSet>,
    /// When functions get code for their small sizes: when-they-pay, at-once or never.
    #[arg(long, value_name = "WHEN", default_value_t, global = true)]
    versions: VersionPolicy,
    /// Seconds of samples for each function.
    #[arg(long, default_value_t = 1.0, global = true)]
    budget: f64,
    /// Writes the derivative entries of one instance as an .npy file.
    #[arg(long, global = true)]
    out: Option<PathBuf>,
    /// One JSON object a line.
    #[arg(long, global = true)]
    json: bool,
    /// Without the columns of JAX and PyTorch, which `cargo xtask peers` installs.
    #[arg(long, global = true)]
    no_peers: bool,
    /// Where the time goes: time, operations, bytes and the share of the machine's peak of each loop nest, on one thread.
    #[arg(long, global = true, conflicts_with = "out")]
    profile: bool,
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
    let threads = threads(&cli)?;
    let budget = Duration::try_from_secs_f64(cli.options.budget).context("--budget: expected seconds, at least 0")?;
    if let Command::Threads { data } = &cli.command {
        if cli.options.profile {
            bail!("`threads` has no --profile");
        }
        return on_two_threads(data, budget, &cli.options);
    }
    if let Command::Gpu { names } = &cli.command {
        if cli.options.profile {
            bail!("`gpu` has no --profile");
        }
        return beside_shaders(names, budget, &cli.options);
    }
    let compiler = compiler(threads, &cli.options)?;
    if let Command::Products = &cli.command {
        if cli.options.profile {
            bail!("`products` has no --profile");
        }
        return products(&compiler, budget, cli.options.json);
    }
    if let Command::Hosts = &cli.command {
        if cli.options.profile {
            bail!("`hosts` has no --profile");
        }
        return print_rows(&host_figures(&compiler, budget)?, host_table, cli.options.json);
    }
    let engine = match cli.options.backend {
        Backend::Interp => Engine::INTERPRETER,
        Backend::Cpu => Engine::CPU,
    };
    let settings = Settings { engine, threads: threads.get(), budget, fewest_samples: 3 };
    let cases = match &cli.command {
        Command::Adbench { file, model, complicated } => {
            vec![Case { instance: read_instance(file, model.as_deref(), *complicated)?, file: Some(file.clone()) }]
        }
        Command::Loops { name } => vec![Case { instance: loop_instance(name)?, file: None }],
        Command::All { data, marks: _ } => every_case(data)?,
        Command::Operations { names } if cli.options.profile => operation_cases(names)?,
        Command::Workloads { names, held_out } if cli.options.profile => workload_cases(names, *held_out)?,
        Command::Operations { .. }
        | Command::Workloads { .. }
        | Command::Threads { .. }
        | Command::Gpu { .. }
        | Command::Hosts
        | Command::Products => Vec::new(),
    };
    if cli.options.out.is_some() && cases.len() != 1 {
        bail!("--out takes the entries of one instance, found {} instances", cases.len());
    }
    let marks = match &cli.command {
        Command::All { marks, .. } => *marks,
        Command::Adbench { .. }
        | Command::Loops { .. }
        | Command::Threads { .. }
        | Command::Products
        | Command::Gpu { .. }
        | Command::Hosts
        | Command::Operations { .. }
        | Command::Workloads { .. } => false,
    };
    let wanted = Wanted { marks, peers: !cli.options.no_peers, instructions: cli.options.cpu };
    if cli.options.profile {
        if cli.options.threads.is_some_and(|n| n > NonZeroUsize::MIN) {
            bail!("--profile runs on one thread, found --threads {}", threads.get());
        }
        return profiles(&compiler, &cases, settings, wanted, cli.options.json);
    }
    if let Command::Workloads { names, held_out } = &cli.command {
        let all = suite::chosen(names, *held_out)?;
        return workload_rows(&compiler, &all, wanted, settings, cli.options.json);
    }
    let (baselines, missing) = Baselines::gather(wanted)?;
    missing.iter().for_each(|line| complain(line));
    if let Command::Operations { names } = &cli.command {
        return operation_rows(&compiler, &baselines, names, settings, &cli.options);
    }
    let bar = progress(cases.len());
    let mut all = Vec::new();
    for Case { instance, file } in &cases {
        bar.set_message(format!("{} {}", instance.objective, instance.name));
        let compared = baselines
            .measure(&compiler, instance, file.as_deref(), settings)
            .with_context(|| format!("{} {}", instance.objective, instance.name))?;
        if let Some(path) = &cli.options.out {
            write_entries(path, &compared.entries)?;
        }
        all.push(compared);
        bar.inc(1);
    }
    bar.finish_and_clear();
    print_rows(&report::rows(all), report::table, cli.options.json)
}

/// `--threads`, or `COTAN_THREADS`, or as many as this process may use; one for workloads, as the C++ beside them has one.
fn threads(cli: &Cli) -> Result<NonZeroUsize> {
    let option = cli.options.threads;
    let word = std::env::var_os("COTAN_THREADS").filter(|word| option.is_none() && !word.is_empty());
    let wanted =
        match word {
            Some(word) => Some(word.to_str().and_then(|word| word.parse().ok()).with_context(|| {
                format!("COTAN_THREADS: expected a number of at least 1, found `{}`", word.display())
            })?),
            None => option,
        };
    let all = match &cli.command {
        Command::Workloads { .. } | Command::Hosts => None,
        Command::Adbench { .. }
        | Command::Loops { .. }
        | Command::All { .. }
        | Command::Products
        | Command::Operations { .. }
        | Command::Gpu { .. }
        | Command::Threads { .. } => std::thread::available_parallelism().ok(),
    };
    Ok(wanted.or(all).unwrap_or(NonZeroUsize::MIN))
}

fn compiler(threads: NonZeroUsize, options: &Options) -> Result<Compiler> {
    Compiler::new(config(threads, options)).map_err(anyhow::Error::msg)
}

fn config(threads: NonZeroUsize, options: &Options) -> Config {
    Config {
        llvm: match std::env::var_os("COTAN_LLVM") {
            Some(word) if word == "none" => SearchConfig::nowhere(),
            path => SearchConfig { explicit: path.map(PathBuf::from), ..SearchConfig::default() },
        },
        threads: Some(threads),
        width: options.width,
        instructions: options.cpu,
        versions: options.versions,
        ..Config::default()
    }
}

/// Prints what two threads gain on the large instances.
fn on_two_threads(data: &Path, budget: Duration, options: &Options) -> Result<()> {
    let mut files = Vec::new();
    for folder in ["gmm", "ba", "lstm"] {
        collect(&data.join(folder), &mut files)?;
    }
    files.retain(|file| LARGE.contains(&instance_name(file).as_str()));
    files.sort();
    let read = files.iter().map(|file| read_instance(file, None, false));
    let instances: Vec<Instance> = read.chain([Ok(newton("n1e6", 1_000_000))]).collect::<Result<_>>()?;
    let compiler = compiler(NonZeroUsize::MIN.saturating_add(1), options)?;
    let mut rows = Vec::new();
    for instance in &instances {
        rows.push(throughput(&compiler, instance, budget)?);
    }
    print_rows(&rows, throughput_table, options.json)
}

/// Prints what kernels take beside hand-written shaders.
fn beside_shaders(names: &[String], budget: Duration, options: &Options) -> Result<()> {
    let mut fast = config(NonZeroUsize::MIN, options);
    fast.device.fast_math = true;
    let [exact, fast] = [config(NonZeroUsize::MIN, options), fast].map(Compiler::new);
    let (exact, fast) = (exact.map_err(anyhow::Error::msg)?, fast.map_err(anyhow::Error::msg)?);
    fast.device().map_err(|error| anyhow::anyhow!("no Vulkan device, so there is nothing to compare: {error}"))?;
    let shaders =
        Shaders { sources: baselines::benches().join("reference"), built: baselines::folder()?.join("shaders") };
    let all = GPU_CASES.into_iter().filter(|_| names.is_empty());
    let mut rows = Vec::new();
    for name in names.iter().map(String::as_str).chain(all) {
        rows.push(gpu_figures(&exact, &fast, &shaders, name, budget).with_context(|| name.to_owned())?);
    }
    print_rows(&rows, gpu_table, options.json)
}

/// Prints what chains of matrix products do a second.
fn products(compiler: &Compiler, budget: Duration, json: bool) -> Result<()> {
    let rates = PRODUCT_SIDES.iter().map(|n| product_rates(compiler, *n, budget));
    print_rows(&rates.collect::<Result<Vec<_>>>()?, product_table, json)
}

/// The rows of operations with these names, or all, in both types.
fn operation_names(names: &[String]) -> impl Iterator<Item = (&str, Elem)> {
    let all = OPERATIONS.into_iter().filter(|_| names.is_empty());
    let names = names.iter().map(String::as_str).chain(all);
    names.flat_map(|name| [Elem::F32, Elem::F64].map(|elem| (name, elem)))
}

/// The same as instances, for their profile.
fn operation_cases(names: &[String]) -> Result<Vec<Case>> {
    let case = |(name, elem)| Ok(Case { instance: operation(name, elem)?.instance, file: None });
    operation_names(names).map(case).collect()
}

/// Workloads as instances, for their profile.
fn workload_cases(names: &[String], held_out: bool) -> Result<Vec<Case>> {
    let all = suite::chosen(names, held_out)?;
    all.iter().map(|workload| Ok(Case { instance: suite::instance(workload)?, file: None })).collect()
}

/// Prints workloads beside C++ and the peers. A row of JSON is printed as soon as it is measured.
fn workload_rows(compiler: &Compiler, all: &[Workload], wanted: Wanted, settings: Settings, json: bool) -> Result<()> {
    let bar = progress(all.len());
    let rows = suite::run(compiler, all, wanted, settings, &mut |row| {
        bar.inc(1);
        if json {
            print_line(&serde_json::to_string(row)?);
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    if !json {
        suite::table(&rows).iter().for_each(|line| print_line(line));
    }
    suite::agreement(&rows)
}

/// Prints operations beside their peers. A row of JSON is printed as soon as it is measured.
fn operation_rows(
    compiler: &Compiler,
    baselines: &Baselines,
    names: &[String],
    settings: Settings,
    options: &Options,
) -> Result<()> {
    let peak = measure_peak(&baselines::reference(options.cpu)?);
    if let Err(error) = &peak {
        complain(&format!("no column of limits: {error:#}"));
    }
    let peak = peak.ok();
    let bar = progress(operation_names(names).count());
    let mut all = Vec::new();
    for (name, elem) in operation_names(names) {
        bar.set_message(format!("{name} {elem}"));
        let row = operation(name, elem)?;
        let compared = baselines.measure(compiler, &row.instance, None, settings);
        let compared = compared.with_context(|| format!("{name} {elem}"))?;
        let judged = judge(&row, &compared.measured, &compared.peers, peak);
        if options.json {
            for row in &judged {
                print_line(&serde_json::to_string(row)?);
            }
        }
        all.extend(judged);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !options.json {
        operation_table(&all).iter().for_each(|line| print_line(line));
    }
    Ok(())
}

/// Prints rows as a table, or as one JSON object a line.
fn print_rows<T: Serialize>(rows: &[T], table: impl Fn(&[T]) -> Vec<String>, json: bool) -> Result<()> {
    if json {
        for row in rows {
            print_line(&serde_json::to_string(row)?);
        }
    } else {
        table(rows).iter().for_each(|line| print_line(line));
    }
    Ok(())
}

/// Prints the profile of every instance.
fn profiles(compiler: &Compiler, cases: &[Case], settings: Settings, wanted: Wanted, json: bool) -> Result<()> {
    if wanted.marks || settings.engine != Engine::CPU {
        bail!("--profile looks into compiled code: leave out --marks and --backend interp");
    }
    let peak = measure_peak(&baselines::reference(wanted.instructions)?)?;
    for Case { instance, .. } in cases {
        let found = profile(compiler, instance, settings.budget, Some(peak))
            .with_context(|| format!("{} {}", instance.objective, instance.name))?;
        if json {
            print_line(&serde_json::to_string(&found)?);
        } else {
            profile_table(&found).iter().for_each(|line| print_line(line));
        }
    }
    Ok(())
}

/// An instance and the file that it was read from, if any.
struct Case {
    instance: Instance,
    file: Option<PathBuf>,
}

fn progress(n: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    // Drawn on stderr, and only where that is a terminal.
    ProgressBar::new(n as u64).with_style(style)
}

fn read_instance(file: &Path, model: Option<&Path>, complicated: bool) -> Result<Instance> {
    let whole = fs::canonicalize(file).with_context(|| format!("reading {}", file.display()))?;
    let objective = match Objective::of_path(&whole) {
        Some(Objective::Hand) if complicated => Objective::HandComplicated,
        Some(objective) => objective,
        None => bail!("{}: expected a file in a folder `gmm`, `ba`, `lstm` or `hand`", file.display()),
    };
    let model = if objective.needs_model() {
        let beside = whole.parent().unwrap_or(Path::new("")).join("model");
        Some(read_model(model.unwrap_or(&beside))?)
    } else {
        None
    };
    let text = read(&whole)?;
    read_adbench(objective, &instance_name(&whole), &text, model.as_ref()).with_context(|| file.display().to_string())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn read_model(folder: &Path) -> Result<HandModel> {
    let text = |name: &str| read(&folder.join(name));
    HandModel::read(&text("bones.txt")?, &text("vertices.txt")?, &text("triangles.txt")?)
        .with_context(|| folder.display().to_string())
}

/// `1k_d10_K25` for `gmm/1k/gmm_d10_K25.txt`, `l2_c1024` for `lstm/lstm_l2_c1024.txt`, `simple_small_1_c100` for
/// `hand/simple_small/hand1_t26_c100.txt`, `ba1_n49` for `ba/ba1_n49_m7776_p31843.txt`.
fn instance_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    if let Some(rest) = stem.strip_prefix("gmm_") {
        return if folder == "gmm" { rest.to_owned() } else { format!("{folder}_{rest}") };
    }
    if let Some(rest) = stem.strip_prefix("hand") {
        return format!("{folder}_{}", rest.replace("_t26", ""));
    }
    let without_points = stem.split("_m").next().unwrap_or(&stem);
    without_points.trim_start_matches("lstm_").to_owned()
}

fn every_case(data: &Path) -> Result<Vec<Case>> {
    let mut files = Vec::new();
    for folder in ["gmm", "ba", "lstm", "hand"] {
        collect(&data.join(folder), &mut files)?;
    }
    files.sort();
    let case = |file: PathBuf| Ok(Case { instance: read_instance(&file, None, false)?, file: Some(file) });
    let mut cases: Vec<Case> = files.into_iter().map(case).collect::<Result<_>>()?;
    for name in LOOPS {
        cases.push(Case { instance: loop_instance(name)?, file: None });
    }
    Ok(cases)
}

/// The instances under a folder. Models are no instances, nor are the inputs of ADBench's own unit tests.
fn collect(folder: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "model" {
            collect(&path, out)?;
        } else if name.ends_with(".txt") && name != "test.txt" {
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

/// A line on stdout. Unlike `println!` it does not panic where nobody listens any more.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A line on stderr.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
