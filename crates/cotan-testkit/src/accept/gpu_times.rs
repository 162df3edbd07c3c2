//! Lines of devices about time: kernels beside hand-written shaders, and what it takes until a kernel can be launched.

use super::command::{number, output};
use super::gpu::has_device;
use super::suites::output_of_tests;
use super::{Measured, Workplace};
use cotan::{Compiler, Config, Engine};
use cotan_bench::{GPU_CASES, gpu_program};
use cotan_llvm::cache::Cache;
use serde_json::Value as Json;
use std::process::Command;
use std::time::Instant;

/// The most that kernels may take, in times of the hand-written shader.
const BESIDE_SHADER: f64 = 1.25;

/// The most that a gradient may take whose record is in private memory, in times of the function.
const OVER_FUNCTION: f64 = 3.0;

/// Milliseconds until the first launch, where kernels are kept.
const FROM_CACHE: f64 = 30.0;

/// How often a compiler begins anew; the shortest time counts.
const RUNS: usize = 7;

/// By the benchmark command, which compares results before it times anything.
pub(super) fn beside_shaders(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let mut command = Command::new(place.built.join("cotan-bench"));
    command.current_dir(&place.root).args(["gpu", "--json", "--budget", "2"]);
    let text = String::from_utf8(output(&mut command)?.stdout).map_err(|e| e.to_string())?;
    let (mut holds, mut texts) = (true, Vec::new());
    for line in text.lines() {
        let row: Json = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let [by_hand, fast, exact] = ["by_hand", "fast", "exact"].map(|key| number(&row, key));
        let (by_hand, fast, exact) = (by_hand?, fast?, exact?);
        holds &= fast <= BESIDE_SHADER * by_hand;
        let name = row["name"].as_str().unwrap_or_default();
        texts.push(format!("{name} {:.2} (exact numbers {:.2})", fast / by_hand, exact / by_hand));
        if let Some(function) = row["function"].as_f64() {
            holds &= fast <= OVER_FUNCTION * function;
            texts.push(format!("its gradient over the function {:.2}", fast / function));
        }
    }
    Ok(Measured::new(holds && !texts.is_empty(), texts.join(", ")))
}

/// By what the test of all programs prints, and compilers that find their kernels in the cache.
pub(super) fn compiling(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let tests = ["--test", "all", "run::programs_give_the_same_on_vulkan", "--", "--nocapture"];
    let text = output_of_tests(place, "cotan-testkit", &tests, "/")?;
    let times = text.lines().find(|line| line.contains("us of Cotan for each")).ok_or("no times of compiling")?;
    let numbers: Vec<f64> = times.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [each, _, pipeline, _] = numbers[..] else { return Err(times.to_owned()) };
    let mut slowest = 0.0_f64;
    for name in GPU_CASES {
        slowest = slowest.max(from_cache(name)?);
    }
    let holds = each <= 2.0 && pipeline <= 5.0 && slowest <= FROM_CACHE;
    Ok(Measured::new(holds, format!("{times}; from the cache {slowest:.1} ms to the first launch")))
}

/// Milliseconds from nothing to a function whose kernels were kept: the compiler, the device, the program, the pipelines.
fn from_cache(name: &str) -> Result<f64, String> {
    let (text, request) = gpu_program(name).map_err(|e| e.to_string())?;
    let folder = std::env::temp_dir().join(format!("cotan-kernels-{}", std::process::id()));
    let mut least = f64::INFINITY;
    for run in 0..=RUNS {
        let start = Instant::now();
        let cache = Cache::open(&folder, 1 << 28).map_err(|e| e.to_string())?;
        let config = Config { cache: Some(cache), build: Some("accept".to_owned()), ..Config::default() };
        let compiler = Compiler::new(config)?;
        let program = compiler.check(&format!("{name}.cot"), text);
        compiler.function(&program, &request, Engine::VULKAN).map_err(|e| e.to_string())?;
        // The first one may have to fill the cache.
        if run > 0 {
            least = least.min(1e3 * start.elapsed().as_secs_f64());
        }
    }
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    Ok(least)
}
