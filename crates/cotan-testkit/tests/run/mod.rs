//! Programs that run, under `tests/run`: what their headers say is what every engine gives.

pub(crate) mod check;
mod counts;

mod nans;
mod nests;
mod parallel;
mod shapes;
mod trips;
mod versions;

use check::Failures;
use cotan_testkit::files::{programs, report, tests_folder};
use cotan_testkit::oracles::{OnVulkan, no_vulkan};
use cotan_testkit::tier;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Of so many programs one runs on the interpreter of loop nests each time.
const NESTS_ONE_OF: u64 = 2;

/// Of so many programs one runs on the reference device each time.
const PLANS_ONE_OF: u64 = 4;

/// Of so many programs one runs on a Vulkan device each time, where there is one.
const VULKAN_ONE_OF: u64 = 16;

/// The programs of a folder of `tests/run` or, without one, those of all folders but `nans`, as path and text.
fn wanted(folder: Option<&str>) -> Vec<(String, String)> {
    let root = tests_folder().join("run");
    // `COTAN_RUN=loops/` runs the programs with that in their path alone.
    let wanted = std::env::var("COTAN_RUN").unwrap_or_default();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
        let is_of_it = folder.map_or(!name.starts_with("nans"), |folder| name.starts_with(folder));
        let text = || std::fs::read_to_string(path).unwrap_or_else(|e| panic!("reading {name}: {e}"));
        (is_of_it && path.to_string_lossy().contains(&wanted)).then(|| (name.clone(), text()))
    };
    programs(&root).iter().filter_map(read).collect()
}

/// What is wrong with each program. They are read, checked and lowered once for all tests of them.
fn outcomes() -> &'static [Failures] {
    static OUTCOMES: OnceLock<Vec<Failures>> = OnceLock::new();
    OUTCOMES.get_or_init(|| cotan_testkit::parallel::map(&wanted(None), |(name, text)| check::check(name, text)))
}

#[test]
fn programs_give_what_their_headers_say_in_every_way_to_run_them() {
    report(outcomes().iter().flat_map(|failures| failures.of_values.clone()).collect(), outcomes().len());
}

#[test]
fn a_nan_is_located_where_it_is_made() {
    let programs = wanted(Some("nans"));
    let failures = cotan_testkit::parallel::map(&programs, |(name, text)| nans::check(name, text));
    report(failures.concat(), programs.len());
    if std::env::var_os("COTAN_RUN").is_none() {
        let of_derivatives = programs.iter().filter(|(_, text)| nans::is_of_a_derivative(text)).count();
        assert!(programs.len() >= 20 && of_derivatives >= 8, "{of_derivatives} of {}", programs.len());
    }
}

#[test]
fn a_clean_program_never_traps() {
    report(outcomes().iter().flat_map(|failures| failures.of_traps.clone()).collect(), outcomes().len());
}

#[test]
fn programs_give_the_same_on_the_interpreter_of_loop_nests() {
    let programs = of_this_tier(wanted(None), NESTS_ONE_OF);
    let failures = cotan_testkit::parallel::map(&programs, |(name, text)| nests::check(name, text));
    report(failures.concat(), programs.len());
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are shown by `-- --nocapture`")]
fn programs_give_the_same_on_the_reference_device() {
    let programs = of_this_tier(for_devices(), PLANS_ONE_OF);
    let (n_shared, n_alone) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let tell = |[shared, alone]: [usize; 2]| {
        n_shared.fetch_add(shared, Ordering::Relaxed);
        n_alone.fetch_add(alone, Ordering::Relaxed);
    };
    let failures = cotan_testkit::parallel::map(&programs, |(name, text)| nests::check_plans(name, text, &tell));
    let (n_shared, n_alone) = (n_shared.into_inner(), n_alone.into_inner());
    println!("{n_shared} independent loops shared among threads, {n_alone} in one thread");
    report(failures.concat(), programs.len());
    let is_whole = std::env::var_os("COTAN_RUN").is_none();
    assert!(
        !is_whole || n_shared >= 19 * n_alone,
        "only {n_shared} independent loops are shared among threads, {n_alone} are not"
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are shown by `-- --nocapture`")]
fn programs_give_the_same_on_vulkan() {
    if let Some(reason) = no_vulkan() {
        println!("no Vulkan device: {reason}");
        return;
    }
    let programs = of_this_tier(for_devices(), VULKAN_ONE_OF);
    let told = Mutex::new(Vec::new());
    let tell = |outcome| told.lock().expect("nobody panics with it").push(outcome);
    let failures = cotan_testkit::parallel::map(&programs, |(name, text)| nests::check_vulkan(name, text, &tell));
    let told = told.into_inner().expect("nobody panics with it");
    let (same, others): (Vec<_>, Vec<_>) =
        told.into_iter().partition(|outcome| matches!(outcome, OnVulkan::Same { .. }));
    let mut reasons = BTreeMap::<String, usize>::new();
    for outcome in &others {
        if let OnVulkan::NotYet(reason) = outcome {
            *reasons.entry(reason.clone()).or_default() += 1;
        }
    }
    println!("{} functions the same on Vulkan, {} not yet: {reasons:?}", same.len(), others.len());
    println!("{}", compiling(&same));
    assert!(same.len() > others.len(), "most programs have no kernels: {reasons:?}");
    report(failures.concat(), programs.len());
}

/// What making kernels took.
fn compiling(all: &[OnVulkan]) -> String {
    let (mut ours, mut instructions, mut pipeline, mut call) = (0.0, 0, 0.0_f64, 0.0_f64);
    for outcome in all {
        if let OnVulkan::Same { cutting, loading, first_call } = outcome {
            ours += (*cutting + loading.written).as_secs_f64();
            instructions += loading.instructions;
            pipeline = pipeline.max(loading.slowest.as_secs_f64());
            call = call.max(first_call.as_secs_f64());
        }
    }
    let each = 1e6 * ours / f64::from(u32::try_from(instructions).unwrap_or(u32::MAX));
    format!(
        "{each:.3} us of Cotan for each of {instructions} instructions, {pipeline:.2} s the slowest pipeline, {call:.2} s the longest first call"
    )
}

/// Programs that no device does yet: sums of arrays that are kept whole have no memory for the values, and loops of
/// thousands of millions of iterations that do nothing are run.
const NOT_ON_DEVICES: [&str; 2] =
    ["sound/constant_sizes_whose_product_overflows.cot", "sound/loops_around_empty_axes.cot"];

/// The programs that devices run.
fn for_devices() -> Vec<(String, String)> {
    let mut programs = wanted(None);
    programs.retain(|(name, _)| !NOT_ON_DEVICES.contains(&name.as_str()));
    programs
}

/// Those of programs that run in this tier, one of so many.
fn of_this_tier(mut programs: Vec<(String, String)>, one_of: u64) -> Vec<(String, String)> {
    programs.retain(|(name, _)| takes(name, one_of));
    programs
}

/// Whether a program is in the part, one of so many, that runs in this tier. All are where programs are asked for by name.
pub(crate) fn takes(name: &str, one_of: u64) -> bool {
    tier::takes(name, one_of) || std::env::var_os("COTAN_RUN").is_some()
}

#[test]
fn versions_for_small_sizes_give_the_bits_of_general_code() {
    let programs = wanted(None);
    let outcomes = cotan_testkit::parallel::map(&programs, |(name, text)| versions::check(name, text));
    report(outcomes.iter().flat_map(|outcome| outcome.failures.clone()).collect(), programs.len());
    let n_versions: usize = outcomes.iter().map(|outcome| outcome.n_versions).sum();
    if std::env::var_os("COTAN_RUN").is_none() {
        assert!(n_versions >= 10, "only {n_versions} versions were made");
    }
}
