//! Lines of devices: programs on the reference device and on a Vulkan device, their numbers, errors, limits and counts.
//!
//! The device is the one that is chosen by default; `VK_ICD_FILENAMES` says which drivers there are.

use super::gpu_times;
use super::suites::{campaign, count, output, output_of_tests};
use super::{Line, Measured, Workplace};
use crate::campaign::{Campaign, mixed};
use crate::oracles::{FIRST_ORDER, ON_VULKAN, Oracle, no_vulkan};
use crate::single::worst_errors;
use cotan::host::{Arguments, HostValue};
use cotan::resident::DeviceArguments;
use cotan::vulkan::{CallStatistics, Placement, Ran, doctor};
use cotan::{Compiler, Config, DerivativeForm, Engine, derivative};

pub(super) const LINES: &[Line] = &[
    Line {
        title: "all programs of tests/run with their gradients on the reference device and on Vulkan, placed on the device",
        bar: "all give the interpreter's bits and errors; at least 95 % of the functions ran on the device",
        measure: programs,
    },
    Line {
        title: "a thread or a workgroup for each iteration of at least 95 % of the nests with an independent loop",
        bar: "95 %",
        measure: shared_loops,
    },
    Line {
        title: "the probe finds what the driver gets wrong, and exact fma is exact",
        bar: "lavapipe: Fma of f32 and f64, and Trunc where its code has it; 10^8 triples without a difference",
        measure: numbers,
    },
    Line {
        title: "f32 functions: at most 2 ulp on all inputs",
        bar: "all functions of one operand",
        measure: functions_of_f32,
    },
    Line {
        title: "modules are valid, and the validation layers report nothing",
        bar: "spirv-val accepts those of the tests; no report",
        measure: valid,
    },
    Line {
        title: "stacks: long, skewed, nested, of every type",
        bar: "no option, no error, on the device; the interpreter's bits, or within 1e-10 of the CPU where that takes too long",
        measure: stacks,
    },
    Line {
        title: "programs with several errors in loops: code, place and message",
        bar: "at least 50 programs",
        measure: errors,
    },
    Line {
        title: "a device that refuses its k-th allocation, pipeline, submission or wait, for every k",
        bar: "an error each, no leak, no hang",
        measure: refusals,
    },
    Line {
        title: "random programs, values and derivatives",
        bar: "50,000 on the reference device, 3,000 on Vulkan, no mismatch; 95 % of them ran",
        measure: random_programs,
    },
    Line {
        title: "counts of the hundredth call of equal sizes",
        bar: "one submission without host decisions; no allocation, pipeline or recording; arguments and results plus 4 KiB moved, 4 KiB \
              where arrays stay on the device",
        measure: counts,
    },
    Line { title: "a `while` on data of the device", bar: "at most 7 + trips/64 read-backs", measure: rounds },
    Line {
        title: "a call of one kernel, and 1,000 steps of two kernels",
        bar: "an empty submission and 30 us; 1.2 times the same dispatches recorded by hand",
        measure: overhead,
    },
    Line {
        title: "kernels beside hand-written GLSL shaders, and gradients with their record in private memory",
        bar: "at most 1.25 times each; at most 3.0 times the function",
        measure: gpu_times::beside_shaders,
    },
    Line {
        title: "compile: Cotan's own part, the driver's pipelines for all programs of tests/run, kernels from the cache",
        bar: "2 us for each instruction; 5 s the slowest pipeline; 30 ms to the first launch",
        measure: gpu_times::compiling,
    },
];

pub(super) fn has_device() -> Result<(), String> {
    no_vulkan().map_or(Ok(()), |why| Err(format!("no Vulkan device: {why}")))
}

/// The line in which tests count something. A test that has passed before leaves a dot in front of it.
fn counts_in(text: &str, what: &str) -> String {
    let line = text.lines().find(|line| line.contains(what)).unwrap_or("no counts");
    line.trim_start_matches('.').to_owned()
}

fn programs(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let tests = ["--test", "all", "run::programs_give_the_same_on_", "--", "--nocapture"];
    let text = output_of_tests(place, "cotan-testkit", &tests, "/")?;
    let counts = counts_in(&text, "functions the same on Vulkan");
    let numbers: Vec<f64> = counts.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [same, others, ..] = numbers[..] else { return Err(counts) };
    Ok(Measured::new(same >= 0.95 * (same + others), counts))
}

fn shared_loops(place: &Workplace) -> Result<Measured, String> {
    let tests = ["--test", "all", "run::programs_give_the_same_on_the_reference_device", "--", "--nocapture"];
    let text = output_of_tests(place, "cotan-testkit", &tests, "/")?;
    let counts = counts_in(&text, "independent loops shared");
    let numbers: Vec<f64> = counts.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [shared, alone] = numbers[..] else { return Err(counts) };
    Ok(Measured::new(shared >= 0.95 * (shared + alone), counts))
}

fn numbers(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let found = doctor(&Default::default()).chosen?.1.findings;
    let names: Vec<String> = found.iter().map(|f| format!("{:?} of {}", f.instruction, f.elem)).collect();
    let tests = campaign(place, "cotan-spirv", &["--test", "all", "exact_fma::"])?;
    let has_fma = ["Fma of f32", "Fma of f64"].iter().all(|name| names.iter().any(|found| found == name));
    Ok(Measured::new(has_fma, format!("replaced: {}; triples: {tests}", names.join(", "))))
}

/// By compiled code of the CPU; that devices give the same bits is what the lines about programs say.
fn functions_of_f32(_: &Workplace) -> Result<Measured, String> {
    let worst = worst_errors(1)?;
    let texts: Vec<String> = worst.iter().map(ToString::to_string).collect();
    Ok(Measured::new(worst.len() >= 25 && worst.iter().all(|one| one.ulps <= 2.0), texts.join(", ")))
}

/// What the validation layers are asked for: all reports, those of synchronisation too, and that they are there at all.
const LAYER_SETTINGS: &str = "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,perf,info
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
";

/// What the layers print when they are loaded.
const LAYERS_ARE_ACTIVE: &str = "Khronos Validation Layer Active";

/// What they say of themselves: that they are there, and that a file of theirs was not there yet.
const OF_THE_LAYERS: [&str; 2] = [LAYERS_ARE_ACTIVE, "UNASSIGNED-cache-file-error"];

fn valid(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let modules = output_of_tests(place, "cotan-spirv", &["--test", "all", "valid::", "--", "--nocapture"], "")?;
    let validator = if modules.contains("nothing is validated") { "missing" } else { "accepts all" };
    let folder = std::env::temp_dir().join(format!("cotan-layers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    std::fs::write(folder.join("vk_layer_settings.txt"), LAYER_SETTINGS).map_err(|e| e.to_string())?;
    let settings = folder.display().to_string();
    let layers = [("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation"), ("VK_LAYER_SETTINGS_PATH", settings.as_str())];
    let suites = [
        ("cotan-spirv", vec!["--test", "all", "plans::", "--", "--nocapture"]),
        ("cotan", vec!["--test", "all", "vulkan::", "--", "--nocapture"]),
        ("cotan-testkit", vec!["--test", "all", "run::programs_give_the_same_on_vulkan", "--", "--nocapture"]),
    ];
    let mut reports = Vec::new();
    for (package, args) in suites {
        let text = output(place, package, &args, &layers)?;
        if !text.contains(LAYERS_ARE_ACTIVE) {
            return Err("the validation layers are missing: apt install vulkan-validationlayers".to_owned());
        }
        let is_report = |line: &&str| {
            let is_told = ["VUID-", "SYNC-HAZARD", "UNASSIGNED-"].iter().any(|mark| line.starts_with(mark));
            is_told && !OF_THE_LAYERS.iter().any(|own| line.contains(own))
        };
        reports.extend(text.lines().filter(is_report).map(str::to_owned));
    }
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    let first = reports.first().map(|report| format!(", the first: {report}")).unwrap_or_default();
    let text = format!("spirv-val {validator}; {} reports of the layers{first}", reports.len());
    Ok(Measured::new(validator == "accepts all" && reports.is_empty(), text))
}

fn errors(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let tests = ["--test", "all", "run::programs_give_the_same_on_vulkan", "--", "--nocapture"];
    let text = output_of_tests(place, "cotan-testkit", &tests, "errors/")?;
    let counts = counts_in(&text, "functions the same on Vulkan");
    let programs = count("tests/run/errors");
    let all_ran = counts.contains(", 0 not yet");
    Ok(Measured::new(programs >= 50 && all_ran, format!("{programs} programs: {counts}")))
}

fn random_programs(_: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let reference = FIRST_ORDER.iter().find(|oracle| oracle.name == "reference device").ok_or("no such oracle")?;
    let run = |oracle: Oracle, programs: u64, seed: u64| {
        let campaign =
            Campaign { programs, seed, compiled: 0, only: Some(oracle), stop_at_failure: false, shows_progress: true };
        let outcome = campaign.run(mixed);
        let (share, failures) = (outcome.usable_share(), &outcome.failures);
        let first = failures.first().map(|failure| format!("; the first: {failure}")).unwrap_or_default();
        let reasons: String = outcome.unusable.iter().map(|(why, n)| format!(", {n}: {why}")).collect();
        let figures = format!("{} failures, {:.1} % could be judged{reasons}{first}", failures.len(), 100.0 * share);
        (failures.is_empty() && share >= 0.95, format!("{programs} by `{}`: {figures}", oracle.name))
    };
    let all = [run(*reference, 50_000, 9_000_000), run(ON_VULKAN, 3_000, 9_500_000)];
    let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    Ok(Measured::new(all.iter().all(|(holds, _)| *holds), texts.join("; ")))
}

/// Two loops that share nothing but the array between them.
const TWO_KERNELS: &str = "fn f[N](x: f64[N]) -> f64[N] {
  let y = tabulate(N, |i| x[i] * x[i])
  tabulate(N, |i| y[i] + y[N - 1 - i])
}";

fn counts(_: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let mut config = Config::default();
    config.device.placement = Placement::Everything;
    let compiler = Compiler::new(config)?;
    let program = compiler.check("counts.cot", TWO_KERNELS);
    let request = derivative("f", DerivativeForm::Vjp, &["x"]);
    let f = compiler.function(&program, &request, Engine::VULKAN).map_err(|e| e.to_string())?;
    let taken = || match f.ran() {
        Some(Ran::OnDevice(taken)) => Ok(taken),
        other => Err(format!("it did not run on the device: {other:?}")),
    };
    let array = HostValue::f64s(&[1000], &[0.5; 1000]);
    let args = Arguments::from([("x".to_owned(), array.clone()), ("cotangent".to_owned(), array.clone())]);
    for _ in 0..100 {
        f.call(&args).map_err(|e| e.to_string())?;
    }
    let plain = taken()?;
    let array = compiler.upload(&array).map_err(|e| e.to_string())?;
    let args = DeviceArguments::from([("x".to_owned(), array.clone()), ("cotangent".to_owned(), array)]);
    for _ in 0..100 {
        f.call_on_device(&args).map_err(|e| e.to_string())?;
    }
    let resident = taken()?;
    let holds = |taken: &CallStatistics, most: u64| {
        let CallStatistics { submissions, moved_bytes, allocations, pipelines, recordings, .. } = *taken;
        submissions == 1 && moved_bytes <= most && [allocations, pipelines, recordings] == [0; 3]
    };
    let text = |taken: &CallStatistics| {
        let CallStatistics { launches, submissions, moved_bytes, allocations, pipelines, recordings, .. } = taken;
        format!(
            "{launches} launches in {submissions} submissions, {allocations} allocations, {pipelines} pipelines, \
             {recordings} recordings, {moved_bytes} bytes moved"
        )
    };
    let texts = format!("{} for 32,000 of arrays; with these on the device: {}", text(&plain), text(&resident));
    Ok(Measured::new(holds(&plain, 32_000 + 4096) && holds(&resident, 4096), texts))
}

fn refusals(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let text = output_of_tests(place, "cotan", &["--test", "all", "refusals::"], "")?;
    Ok(Measured::new(true, text.lines().filter(|line| line.starts_with("test result")).collect::<Vec<_>>().join(", ")))
}

fn stacks(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    super::stacks::stacks(place)
}

/// 0 to 1,000 trips, by a test that compares the values as well.
fn rounds(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let text = output_of_tests(place, "cotan", &["--test", "all", "rounds::"], "")?;
    Ok(Measured::new(true, text.lines().filter(|line| line.starts_with("test result")).collect::<Vec<_>>().join(", ")))
}

/// By what the test of it prints, in microseconds: the best of its rounds.
fn overhead(place: &Workplace) -> Result<Measured, String> {
    has_device()?;
    let args = ["--test", "all", "overhead::", "--", "--nocapture"];
    let text = output(place, "cotan", &args, &[("COTAN_CAMPAIGN", "1")])?;
    let rounds = |first: &str| -> Vec<(String, Vec<f64>)> {
        let of_it = text.lines().filter(|line| line.starts_with(first));
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let numbers = |line: &str| line.split(|c| !is_part(c)).filter_map(|word| word.parse().ok()).collect();
        of_it.map(|line| (line.to_owned(), numbers(line))).collect()
    };
    let beyond = |(_, numbers): &(String, Vec<f64>)| numbers[2] - numbers[0];
    let ratio = |(_, numbers): &(String, Vec<f64>)| numbers[2] / numbers[0];
    let call = rounds("empty ").into_iter().min_by(|a, b| beyond(a).total_cmp(&beyond(b))).ok_or("no calls")?;
    let steps = rounds("by hand ").into_iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b))).ok_or("no steps")?;
    Ok(Measured::new(beyond(&call) <= 30.0 && ratio(&steps) <= 1.2, format!("{}; {}", call.0, steps.0)))
}
