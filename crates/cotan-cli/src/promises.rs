//! The defaults of the command that the page of promises states are those of the code.

use crate::args::{Backend, BenchArgs, Cli, Command, EngineArgs, RunArgs};
use crate::commands::certify::CHECKER_SECONDS;
use crate::commands::fmt::MOST_LINES_COMPARED;
use crate::environment::CACHE_BYTES;
use crate::input::PART_FOR_FILES;
use crate::machine::SPARED_PART;
use clap::{Parser, ValueEnum};

/// Every default with the name that the page gives it.
fn defaults() -> Vec<(&'static str, String)> {
    let run = Cli::try_parse_from(["cotan", "run", "p.cot"]).unwrap().command;
    let Command::Run(RunArgs { call, .. }) = run else { panic!("`cotan run` is another command") };
    let EngineArgs { backend, opt, threads, steps, timeout, versions, .. } = call.engine;
    let bench = Cli::try_parse_from(["cotan", "bench", "p.cot", "--fn", "f"]).unwrap().command;
    let Command::Bench(BenchArgs { repeat, .. }) = bench else { panic!("`cotan bench` is another command") };
    let spared = format!("{}/{SPARED_PART} of what the machine and its control groups have to spare", SPARED_PART - 1);
    vec![
        ("`--memory-limit`", spared),
        ("`--steps`", steps.map_or("none".to_owned(), |n| n.to_string())),
        ("`--timeout`", timeout.map_or("none".to_owned(), |t| t.as_secs().to_string())),
        ("`--threads`", threads.map_or("all".to_owned(), |n| n.to_string())),
        ("data files", format!("1/{PART_FOR_FILES} of the default of `--memory-limit`")),
        ("`--opt`", opt),
        ("`--backend`", Backend::to_possible_value(&backend).unwrap().get_name().to_owned()),
        ("`--versions`", versions.to_string()),
        ("`--repeat` of `bench`", repeat.to_string()),
        ("the cache", CACHE_BYTES.to_string()),
        ("`--certify`", CHECKER_SECONDS.to_string()),
        ("`fmt --check`", MOST_LINES_COMPARED.to_string()),
    ]
}

#[test]
fn the_defaults_of_the_command_are_those_of_the_page() {
    let page = include_str!("../../../docs/promises.md");
    let lines = page.lines().skip_while(|line| !line.starts_with("| option |")).skip(2);
    let stated: Vec<(&str, String)> = lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            let name = cells.next().unwrap_or_default();
            let value = cells.next().unwrap_or_default();
            let is_number = value.chars().all(|c| c.is_ascii_digit() || c == ',');
            (name, if is_number { value.replace(',', "") } else { value.to_owned() })
        })
        .collect();
    assert_eq!(stated, defaults());
}
