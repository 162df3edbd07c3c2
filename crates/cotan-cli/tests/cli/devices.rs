//! `--backend vulkan`: on a device where there is one, and in one line where there is none.

use super::{Case, Run};

const SQUARES: &str = "fn f[N](x: f64[N]) -> f64 = +/(tabulate(N, |i| x[i] * x[i]))\n";

/// Whether this machine has a device; one line if it has none.
pub(super) fn has_device(case: &Case) -> bool {
    let vulkan = &case.json(&["doctor"])["vulkan"];
    if vulkan["chosen"].is_null() {
        eprintln!("no device, so nothing runs on one: {}", vulkan["missing"]);
    }
    !vulkan["chosen"].is_null()
}

#[test]
fn without_a_driver_there_is_one_line_with_a_way_out() {
    let case = Case::new(SQUARES);
    let run = |args: &[&str]| {
        let mut command = case.command(args);
        Run::of(command.env("VK_ICD_FILENAMES", "/none").env("VK_DRIVER_FILES", "/none").output().expect("it runs"))
    };
    let args = ["run", "program.cot", "--fn", "f", "--set", "x=[1, 2]", "--backend", "vulkan"];
    let found = run(&args);
    assert_eq!(found.status, Some(2), "{}{}", found.stdout, found.stderr);
    assert!(found.stderr.starts_with("error[U0001]: "), "{}", found.stderr);
    assert!(found.stderr.contains("libvulkan1 mesa-vulkan-drivers"), "{}", found.stderr);
    assert!(found.stderr.contains("--backend cpu"), "{}", found.stderr);
    let doctor = run(&["doctor"]);
    assert_eq!(doctor.status, Some(0));
    assert!(doctor.stdout.contains("\nVulkan     none, which only --backend vulkan needs: "), "{}", doctor.stdout);
    let emitted = run(&["emit", "program.cot", "--fn", "f", "--stage", "spirv"]);
    assert_eq!(emitted.status, Some(2), "{}", emitted.stderr);
    // What needs no device needs none.
    let explained = run(&["explain", "program.cot", "--fn", "f", "--backend", "vulkan"]);
    assert_eq!(explained.status, Some(0), "{}", explained.stderr);
}

#[test]
fn a_device_belongs_to_vulkan_and_is_found_by_name() {
    let case = Case::new(SQUARES);
    let args = ["run", "program.cot", "--fn", "f", "--set", "x=[1, 2]"];
    let found = case.run(&[&args[..], &["--device", "0"]].concat());
    assert_eq!(found.status, Some(2), "{}", found.stderr);
    assert!(found.stderr.starts_with("error[U0002]: `--device` names a device of Vulkan"), "{}", found.stderr);
    if !has_device(&case) {
        return;
    }
    let vulkan = [&args[..], &["--backend", "vulkan"]].concat();
    let found = case.run(&[&vulkan[..], &["--device", "no such device"]].concat());
    assert_eq!(found.status, Some(2), "{}", found.stderr);
    assert!(found.stderr.starts_with("error[U0001]: there is no Vulkan device `no such device`"), "{}", found.stderr);
    let by_variable = Run::of(case.command(&vulkan).env("COTAN_DEVICE", "7").output().expect("it runs"));
    assert!(by_variable.stderr.starts_with("error[U0001]: there is no Vulkan device `7`"), "{}", by_variable.stderr);
}

#[test]
fn every_command_that_runs_a_program_runs_it_on_a_device() {
    let program = "fn f[N](x: f64[N]) -> f64 = +/(tabulate(N, |i| x[i] ** 3.0))
fn g[N](x: f64[N]) -> f64[N] = tabulate(N, |i| x[i] * x[0])
@test fn cubes() -> bool = f([1.0, 2.0]) == 9.0
";
    let case = Case::new(program);
    if !has_device(&case) {
        return;
    }
    let (of_f, of_g) = (["--fn", "f", "--set", "x=[1, 2, 3]"], ["--fn", "g", "--set", "x=[1, 2, 3]"]);
    let commands: [(&str, &[&str], &[&str]); 7] = [
        ("run", &of_f, &[]),
        ("grad", &of_f, &["--wrt", "x"]),
        ("jvp", &of_f, &["--tangent", "{\"x\": [1, 0, 2]}"]),
        ("vjp", &of_g, &["--cotangent", "{\"cotangent\": [1, 2, 3]}"]),
        ("jacobian", &of_g, &["--wrt", "x"]),
        ("hessian", &of_f, &["--wrt", "x"]),
        ("test", &[], &[]),
    ];
    for (command, of, more) in commands {
        let args = [&[command, "program.cot"], of, more].concat();
        let found = ["cpu", "vulkan"].map(|backend| case.run(&[&args[..], &["--backend", backend]].concat()));
        let [cpu, vulkan] = &found;
        assert_eq!((cpu.status, vulkan.status), (Some(0), Some(0)), "{command}: {}{}", cpu.stderr, vulkan.stderr);
        assert_eq!(cpu.stdout, vulkan.stdout, "{command}");
    }
}

#[test]
fn the_bench_counts_launches_and_times_the_cpu_beside_the_device() {
    let case = Case::new(SQUARES);
    if !has_device(&case) {
        return;
    }
    let args = ["bench", "program.cot", "--fn", "f", "--grad", "x", "--set", "x=[1, 2, 3]", "--budget", "0.01"];
    let found = case.json(&[&args[..], &["--repeat", "2", "--backend", "vulkan"]].concat());
    assert_eq!(found["backend"], "vulkan", "{found}");
    let device = &found["device"];
    assert!(device["on_host"].is_null(), "{found}");
    assert!(device["launches"].as_u64() > Some(0) && device["moved_bytes"].as_u64() >= Some(48), "{found}");
    assert!(device["cpu_min"].as_f64() > Some(0.0), "{found}");
}

#[test]
fn kernels_are_explained_and_shown_as_spirv() {
    let case = Case::new(SQUARES);
    let explained = case.json(&["explain", "program.cot", "--fn", "f", "--backend", "vulkan"]);
    assert_eq!(explained["parallel"], true, "{explained}");
    let text = case.run(&["explain", "program.cot", "--fn", "f", "--grad", "x", "--backend", "vulkan"]).stdout;
    assert!(text.starts_with("kernel 0: "), "{text}");
    if has_device(&case) {
        let text = case.run(&["emit", "program.cot", "--fn", "f", "--stage", "spirv"]).stdout;
        assert!(text.starts_with("; kernel 0\n") && text.contains("OpEntryPoint GLCompute"), "{text}");
    }
}
