//! Lines of hosts: what calls cost, and what each host gives on the programs that all of them run.

use super::command::{number, output as output_of};
use super::suites::{output_of_tests, tests};
use super::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::process::Command;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "the gradient of five numbers: by position, and by name with values",
        bar: "at most 150 ns, and 1.5 us, on one thread",
        measure: short_calls,
    },
    Line {
        title: "axpy of 10^6 numbers in f32 and f64, row-major",
        bar: "at most 1.1 times its code",
        measure: long_calls,
    },
    Line {
        title: "one function from two threads, beside two functions",
        bar: "at least 0.9 of the throughput",
        measure: two_threads,
    },
    Line {
        title: "10,000 warm calls on arrays of the host; a call in a forked child",
        bar: "0 allocations; it returns",
        measure: warm_calls,
    },
    Line { title: "halves of derivatives, and their records", bar: "the bits of vjp", measure: not_built },
    Line {
        title: "chains of derivatives, asked for by a host",
        bar: "every chain of two and 200 of three have the bits of the language",
        measure: chains,
    },
    Line {
        title: "typed handles, derive, and the graph builder",
        bar: "round trips and 20 misfits each",
        measure: not_built,
    },
    Line {
        title: "C: programs, misuses, and the programs of all hosts",
        bar: "no warning of gcc and clang, sanitizers silent, 25 misuses with their texts, the bits of Rust",
        measure: c_library,
    },
    Line { title: "exported C", bar: "the bits of the CPU backend, in both dialects", measure: not_built },
    Line {
        title: "a program by cotan-build, without LLVM",
        bar: "it runs, and adds at most 1 MiB",
        measure: not_built,
    },
    Line { title: "StableHLO", bar: "at least 26 of the programs, within 1e-12", measure: not_built },
];

fn not_built(_: &Workplace) -> Result<Measured, String> {
    Err("not built yet".to_owned())
}

/// The rows of `cotan-bench hosts` of which these words are a part.
fn rows(place: &Workplace, words: &str) -> Result<Vec<Json>, String> {
    let mut command = Command::new(place.built.join("cotan-bench"));
    command.current_dir(&place.root).args(["hosts", "--json", "--budget", "2"]);
    let text = String::from_utf8(output_of(&mut command)?.stdout).map_err(|e| e.to_string())?;
    let all = text.lines().map(serde_json::from_str).collect::<Result<Vec<Json>, _>>().map_err(|e| e.to_string())?;
    let is_one = |row: &Json| row["name"].as_str().is_some_and(|name| name.contains(words));
    Ok(all.into_iter().filter(is_one).collect())
}

fn short_calls(place: &Workplace) -> Result<Measured, String> {
    let rows = rows(place, "of five numbers")?;
    let times = rows.iter().map(|row| number(row, "nanoseconds")).collect::<Result<Vec<f64>, _>>()?;
    let [by_position, by_name, values] = times[..] else { return Err(format!("{} rows", times.len())) };
    let text = format!("by position {by_position:.0} ns, by name {by_name:.0} ns, with values {values:.0} ns");
    Ok(Measured::new(by_position <= 150.0 && values <= 1500.0, text))
}

/// What calls take in times of what stands beside them.
fn ratios(place: &Workplace, words: &str) -> Result<Vec<f64>, String> {
    let ratio = |row: &Json| Ok(number(row, "nanoseconds")? / number(row, "code")?);
    rows(place, words)?.iter().map(ratio).collect()
}

fn long_calls(place: &Workplace) -> Result<Measured, String> {
    let all = ratios(place, "axpy")?;
    Ok(Measured::new(all.len() == 2 && all.iter().all(|ratio| *ratio <= 1.1), format!("{all:.2?} (f64, f32)")))
}

fn two_threads(place: &Workplace) -> Result<Measured, String> {
    let all = ratios(place, "by two threads")?;
    let [ratio] = all[..] else { return Err(format!("{} rows", all.len())) };
    Ok(Measured::new(ratio <= 1.0 / 0.9, format!("{:.2} of the throughput", 1.0 / ratio)))
}

fn warm_calls(place: &Workplace) -> Result<Measured, String> {
    let calls = tests(place, "cotan-testkit", &["--test", "memory", "ten_thousand_calls_on_lent_arrays"], "")?;
    let fork = tests(place, "cotan-runtime", &["--lib", "loops_run_in_a_forked_child"], "")?;
    Ok(Measured::new(true, format!("{calls}; {fork}")))
}

fn chains(place: &Workplace) -> Result<Measured, String> {
    let text = output_of_tests(place, "cotan", &["--test", "all", "nested::", "--", "--nocapture"], "")?;
    let count = |words: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_suffix(words)?.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        line.ok_or_else(|| format!("nothing about{words}"))
    };
    let (two, three): (usize, usize) = (count(" chains of two")?, count(" chains of three")?);
    Ok(Measured::new(three >= 200, format!("{two} of two, {three} of three")))
}

fn c_library(place: &Workplace) -> Result<Measured, String> {
    for compiler in ["gcc", "g++", "clang", "clang++"] {
        Command::new(compiler).arg("--version").output().map_err(|error| format!("{compiler}: {error}"))?;
    }
    Ok(Measured::new(true, tests(place, "cotan-capi", &["--test", "all"], "")?))
}
