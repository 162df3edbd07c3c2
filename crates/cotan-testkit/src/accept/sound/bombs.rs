//! Bombs: programs that make a compiler work without end. Each ends with a result or an error about the program, soon and
//! in little memory.

use super::super::{Line, Measured, Workplace};
use super::bombs_list::{BOMBS, Bomb, Command};
use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

pub(super) const LINE: Line = Line {
    title: "programs that double, chain, repeat or are large, and one of 2,000 modules, through the command",
    bar: "at least 40; a result or an error of the program, each at most 5 s and 1 GB",
    measure,
};

const TIME: Duration = Duration::from_secs(5);
const BYTES: u64 = 1_000_000_000;

/// Where a command is ended that goes on.
const PATIENCE: Duration = Duration::from_secs(20);
const MOST_BYTES: u64 = 4_000_000_000;

/// What a command took, and what it said first.
struct Taken {
    status: Option<i32>,
    time: Duration,
    bytes: u64,
    said: String,
}

impl Taken {
    /// What is wrong, if anything is.
    fn fault(&self) -> Option<String> {
        let Taken { status, time, bytes, said } = self;
        let is_proper = matches!(status, Some(0 | 1 | 3)) && !said.contains("B0001");
        let holds = is_proper && *time <= TIME && *bytes <= BYTES;
        let said = said.lines().next().unwrap_or_default();
        let shown = || format!("exit {status:?}, {:.1} s, {} MB: {said}", time.as_secs_f64(), bytes / 1_000_000);
        (!holds).then(shown)
    }
}

impl Command {
    fn args(self, file: &str) -> Vec<String> {
        let of = |command: &str, more: &[&str]| {
            let args = [command, file].into_iter().chain(more.iter().copied());
            args.map(str::to_owned).collect()
        };
        match self {
            Command::Check => of("check", &[]),
            Command::Run => of("run", &["--fn", "f", "--set", "x=0.5"]),
            Command::Grad => of("grad", &["--fn", "f", "--set", "x=0.5"]),
        }
    }
}

/// Runs the command in a folder of its own, without anything that it has kept of earlier runs.
fn run(place: &Workplace, folder: &Path, args: &[String]) -> Result<Taken, String> {
    let errors = folder.join("stderr");
    let start = Instant::now();
    let child = Process::new(place.built.join("cotan"))
        .args(args)
        .env("XDG_CACHE_HOME", folder)
        .stdout(Stdio::null())
        .stderr(File::create(&errors).map_err(|e| e.to_string())?)
        .spawn();
    let (status, bytes) = watched(child.map_err(|e| format!("running the command: {e}"))?, start)?;
    let time = start.elapsed();
    let said = std::fs::read(&errors).map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&said[..said.len().min(4000)]).into_owned();
    Ok(Taken { status, time, bytes, said })
}

/// Waits for a process, and ends it where it takes far too much; its status and the most memory that it had.
fn watched(mut child: Child, start: Instant) -> Result<(Option<i32>, u64), String> {
    let mut bytes = 0;
    loop {
        bytes = bytes.max(peak(child.id()));
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok((status.code(), bytes));
        }
        if start.elapsed() > PATIENCE || bytes > MOST_BYTES {
            child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
            return Ok((None, bytes));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The largest memory of a process so far, 0 where the system does not tell.
fn peak(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// A program of so many modules, each of which imports the next one and the first.
fn modules(folder: &Path, n: usize) -> Result<(), String> {
    let write = |name: String, text: String| std::fs::write(folder.join(name), text).map_err(|e| e.to_string());
    for k in 0..n {
        let next = if k + 1 < n { format!("import ./m{}\n", k + 1) } else { String::new() };
        write(format!("m{k}.cot"), format!("{next}pub fn g(x: f64) -> f64 = x\n"))?;
    }
    let mut text = String::new();
    for k in 0..n {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "import ./m{k}");
    }
    write("program.cot".to_owned(), text + "fn f(x: f64) -> f64 = m0.g(x)\n")
}

fn measure(place: &Workplace) -> Result<Measured, String> {
    let folder = std::env::temp_dir().join(format!("cotan-bombs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let measured = measure_in(place, &folder);
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    measured
}

fn measure_in(place: &Workplace, folder: &Path) -> Result<Measured, String> {
    let file = folder.join("program.cot");
    let (mut slowest, mut largest, mut faults, mut n) = ((Duration::ZERO, ""), (0, ""), Vec::new(), 0);
    let mut enter = |name: &'static str, taken: Taken| {
        n += 1;
        slowest = slowest.max((taken.time, name));
        largest = largest.max((taken.bytes, name));
        faults.extend(taken.fault().map(|fault| format!("{name}: {fault}")));
    };
    for Bomb { name, whole, command, program, .. } in BOMBS {
        std::fs::write(&file, program(*whole)).map_err(|e| e.to_string())?;
        enter(name, run(place, folder, &command.args(&file.display().to_string()))?);
    }
    modules(folder, 2_000)?;
    enter("2,000 modules", run(place, folder, &Command::Check.args(&file.display().to_string()))?);
    let text = format!(
        "{} of {n} hold; the slowest {:.2} s ({}), the largest {} MB ({}){}{}",
        n - faults.len(),
        slowest.0.as_secs_f64(),
        slowest.1,
        largest.0 / 1_000_000,
        largest.1,
        if faults.is_empty() { "" } else { "; " },
        faults.join("; ")
    );
    Ok(Measured::new(faults.is_empty() && n >= 40, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan::{Compiler, Config, DerivativeForm, Engine, Request, derivative};

    /// Whether a bomb goes off in the ordinary tests as well, and not only where it is checked.
    fn is_picked(name: &str) -> bool {
        crate::tier::hash(name).is_multiple_of(3)
    }

    #[test]
    fn small_bombs_are_programs_or_told_why_not_and_some_of_them_run() {
        let compiler = Compiler::new(Config::default()).expect("a compiler");
        for Bomb { name, small, command, program, .. } in BOMBS {
            let program = compiler.check("bomb.cot", &program(*small));
            let errors: Vec<_> = program.diagnostics.iter().map(|d| d.code.as_str()).collect();
            let is_wrong = ["unknown", "missing", "same", "hold each other", "hold their", "which calls them"];
            let is_right = !is_wrong.iter().any(|word| name.contains(word));
            assert_eq!(program.has_errors(), !is_right, "{name}: {errors:?}");
            let request = match command {
                Command::Check => continue,
                Command::Run => Request::function("f"),
                Command::Grad => derivative("f", DerivativeForm::Grad, &["x"]),
            };
            let args = cotan::host::Arguments::from([("x".to_owned(), cotan::host::HostValue::f64(0.5))]);
            if is_picked(name) {
                let function = compiler.function(&program, &request, Engine::INTERPRETER);
                let result = function.expect(name).call(&args);
                assert!(result.is_ok(), "{name}: {result:?}");
            }
        }
    }
}
