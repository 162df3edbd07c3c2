//! Programs of extreme size and nesting: the command ends with a result or a diagnostic, soon and in little memory.

use super::{Line, Measured, Workplace};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) const LINES: &[Line] = &[
    Line {
        title: "nesting 10, 999, 1,000 and 100,000 of everything that nests: `check`, then `run` of what is accepted",
        bar: "a result or a diagnostic, each under 5 s and 1 GB",
        measure: nesting,
    },
    Line {
        title: "a file of 10 MB, 10,000 functions, chains of 20,000 terms: `check`, then `run`",
        bar: "a result, each under 5 s and 1 GB",
        measure: size,
    },
    Line {
        title: "the same programs through `fmt --check`",
        bar: "formatted or a diagnostic, each under 5 s and 1 GB",
        measure: formatting,
    },
];

const TIME: Duration = Duration::from_secs(5);
const BYTES: u64 = 1_000_000_000;

/// The depths of nesting.
const DEPTHS: [usize; 4] = [10, 999, 1_000, 100_000];

/// A form that nests: what opens a level, what stands inside, and what closes a level.
struct Nest {
    name: &'static str,
    head: &'static str,
    open: &'static str,
    inner: &'static str,
    close: &'static str,
    tail: &'static str,
}

/// A form in the body of `fn f() -> f64`.
const fn nest(name: &'static str, open: &'static str, inner: &'static str, close: &'static str) -> Nest {
    Nest { name, head: "fn f() -> f64 {\n  let mut x = 1.0\n  ", open, inner, close, tail: "\n}\n" }
}

/// A form whose value is not that of the body.
const fn unused(name: &'static str, open: &'static str, inner: &'static str, close: &'static str) -> Nest {
    Nest { tail: "\n  x\n}\n", ..nest(name, open, inner, close) }
}

const LET: &str = "fn f() -> f64 {\n  let x = 1.0\n  let a = ";

const NESTS: &[Nest] = &[
    nest("parentheses", "(", "x", ")"),
    nest("calls", "sin(", "x", ")"),
    nest("blocks", "{", "x", "}"),
    nest("ifs", "if x > 0.0 {", "x", "} else { x }"),
    nest("elses", "if x < 0.0 { x } else {", "x", "}"),
    nest("else ifs", "if x < 0.0 { x } else ", "{ x }", ""),
    nest("lambdas", "+/ tabulate(1, |i| ", "x", ")"),
    nest("signs", "-", "x", ""),
    nest("powers", "x ** ", "x", ""),
    nest("lets", "let y = x in ", "x", ""),
    Nest {
        head: "fn f() -> f64 {\n  let b = ",
        tail: "\n  if b { 1.0 } else { 2.0 }\n}\n",
        ..nest("nots", "!", "true", "")
    },
    Nest { head: LET, ..unused("arrays", "[", "x", "]") },
    Nest { head: LET, ..unused("tuples", "(x, ", "x", ")") },
    nest("matches", "match x > 0.0 { true => ", "x", ", false => x }"),
    unused("for loops", "for i in 0..1 { ", "x += 1.0", "}"),
    unused("while loops", "while x < 2.0 { ", "x += 1.0", "}"),
    Nest {
        name: "types",
        head: "fn g(x: ",
        open: "(f64, ",
        inner: "f64",
        close: ")",
        tail: ") -> f64 = 1.0\nfn f() -> f64 = 1.0\n",
    },
    Nest { name: "comments", head: "", open: "/* ", inner: "", close: " */", tail: "\nfn f() -> f64 = 1.0\n" },
];

impl Nest {
    fn program(&self, depth: usize) -> String {
        let Nest { head, open, inner, close, tail, .. } = self;
        format!("{head}{}{inner}{}{tail}", open.repeat(depth), close.repeat(depth))
    }
}

/// Long programs by name.
fn long_programs() -> Vec<(&'static str, String)> {
    let chain = |link: &str| format!("fn f() -> f64 {{\n  let x = 1.0\n  x{}\n}}\n", link.repeat(20_000));
    let mut file = String::new();
    let mut k = 0;
    while file.len() < 10_000_000 {
        // Writing to a string cannot fail.
        let _ = write!(
            file,
            "## Function number {k}.\nfn g{k}(x: f64, n: i64) -> f64 {{\n  let mut y = x\n  for i in 0..n {{ y += \
             sin(x) * {k}.0 }}\n  y\n}}\n"
        );
        k += 1;
    }
    file += "fn f() -> f64 = g1(1.0, 2)\n";
    let mut functions = String::from("fn g0(x: f64) -> f64 = x\n");
    for k in 1..10_000 {
        let _ = writeln!(functions, "fn g{k}(x: f64) -> f64 = g{}(x) + 1.0", k - k.min(7));
    }
    functions += "fn f() -> f64 = g9999(1.0)\n";
    vec![
        ("a file of 10 MB", file),
        ("10,000 functions", functions),
        ("a sum", chain(" + x")),
        ("a product", chain(" * x")),
        ("a pipe", chain(" |> sin")),
    ]
}

/// What a command took.
struct Taken {
    status: Option<i32>,
    time: Duration,
    bytes: u64,
}

impl Taken {
    /// Whether the command ended as it should, and within the bars.
    fn holds(&self, statuses: &[i32]) -> bool {
        self.status.is_some_and(|status| statuses.contains(&status)) && self.time < TIME && self.bytes < BYTES
    }
}

/// Runs the command and watches its memory.
fn run(place: &Workplace, args: &[&str]) -> Result<Taken, String> {
    let start = Instant::now();
    let mut command = Command::new(place.built.join("cotan"));
    let silent = command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = silent.spawn().map_err(|e| format!("running the command: {e}"))?;
    let mut bytes = 0;
    let status = loop {
        bytes = bytes.max(peak(child.id()));
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Ok(Taken { status: status.code(), time: start.elapsed(), bytes })
}

/// The largest memory of a process so far, 0 where the system does not tell.
pub(super) fn peak(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Commands on many programs: how many held, and the largest figures.
#[derive(Default)]
struct Tally {
    n: usize,
    time: Duration,
    bytes: u64,
    failed: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, taken: &Taken, statuses: &[i32]) {
        self.n += 1;
        self.time = self.time.max(taken.time);
        self.bytes = self.bytes.max(taken.bytes);
        if !taken.holds(statuses) {
            let Taken { status, time, bytes } = taken;
            self.failed.push(format!("{name}: exit {status:?}, {:.1} s, {} MB", time.as_secs_f64(), bytes / 1_000_000));
        }
    }

    fn measured(&self) -> Measured {
        let text = format!(
            "{} of {} hold, at most {:.2} s and {} MB{}{}",
            self.n - self.failed.len(),
            self.n,
            self.time.as_secs_f64(),
            self.bytes / 1_000_000,
            if self.failed.is_empty() { "" } else { "; " },
            self.failed.join("; "),
        );
        Measured::new(self.failed.is_empty(), text)
    }
}

/// Calls `measure` with each program in a file.
fn with_files(
    programs: Vec<(String, String)>,
    measure: &mut dyn FnMut(&str, &str) -> Result<(), String>,
) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("cotan-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let path = folder.join("program.cot");
    let outcome = programs.into_iter().try_for_each(|(name, text)| {
        std::fs::write(&path, text).map_err(|e| e.to_string())?;
        measure(&name, &shown(&path))
    });
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    outcome
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn nested_programs() -> Vec<(String, String)> {
    let programs = NESTS.iter().flat_map(|nest| DEPTHS.map(|depth| (nest, depth)));
    programs.map(|(nest, depth)| (format!("{depth} {}", nest.name), nest.program(depth))).collect()
}

fn named(programs: Vec<(&str, String)>) -> Vec<(String, String)> {
    programs.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

fn nesting(place: &Workplace) -> Result<Measured, String> {
    let mut tally = Tally::default();
    with_files(nested_programs(), &mut |name, file| {
        let check = run(place, &["check", file])?;
        tally.add(name, &check, &[0, 1]);
        if check.status == Some(0) {
            tally.add(&format!("{name}, run"), &run(place, &["run", file, "--fn", "f"])?, &[0]);
        }
        Ok(())
    })?;
    Ok(tally.measured())
}

fn size(place: &Workplace) -> Result<Measured, String> {
    let mut tally = Tally::default();
    let mut runs = Vec::new();
    with_files(named(long_programs()), &mut |name, file| {
        tally.add(name, &run(place, &["check", file])?, &[0]);
        let taken = run(place, &["run", file, "--fn", "f"])?;
        tally.add(&format!("{name}, run"), &taken, &[0]);
        runs.push(format!("{name} {:.1} s", taken.time.as_secs_f64()));
        Ok(())
    })?;
    let Measured { text, holds } = tally.measured();
    Ok(Measured::new(holds, format!("{text}; `run`: {}", runs.join(", "))))
}

fn formatting(place: &Workplace) -> Result<Measured, String> {
    let mut tally = Tally::default();
    let programs = nested_programs().into_iter().chain(named(long_programs())).collect();
    with_files(programs, &mut |name, file| {
        tally.add(name, &run(place, &["fmt", "--check", file])?, &[0, 1]);
        Ok(())
    })?;
    Ok(tally.measured())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan::Program;
    use cotan_sema::Limits;

    /// The codes that a program has, on a stack such as the command has.
    fn codes(name: &str, text: String) -> Vec<&'static str> {
        let check = move || Program::check("program.cot", &text, &Limits::default()).diagnostics;
        let thread = std::thread::Builder::new().stack_size(512 << 20).spawn(check).expect("a thread");
        let diagnostics = thread.join().unwrap_or_else(|_| panic!("{name}"));
        diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
    }

    #[test]
    fn what_nests_is_accepted_at_depth_10_and_at_most_one_error_at_20_000() {
        for nest in NESTS {
            assert_eq!(codes(nest.name, nest.program(10)), Vec::<&str>::new(), "{}", nest.program(10));
            let deep = codes(nest.name, nest.program(20_000));
            assert!(deep.is_empty() || deep == ["E0130"], "{}: {deep:?}", nest.name);
        }
    }

    #[test]
    fn chains_are_accepted() {
        for (name, text) in long_programs().into_iter().filter(|(_, text)| text.len() < 1_000_000) {
            assert_eq!(codes(name, text), Vec::<&str>::new(), "{name}");
        }
    }
}
