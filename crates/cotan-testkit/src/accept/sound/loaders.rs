//! Lines on files of arguments: mutated ones, and those that are made to fill memory.

use super::super::{Line, Measured, Workplace};
use crate::hostile::bombs::{BOMBS, Bomb, PROGRAM};
use crate::hostile::mutants::{Format, mutants};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) const LINES: &[Line] = &[
    Line { title: "mutated files of arguments, by format", bar: "100,000 of each, no panic", measure: mutated },
    Line {
        title: "files that are made to fill memory are refused",
        bar: "12 kinds, exit 2 below 64 MiB beside the size of the file, within 10 s",
        measure: bombs,
    },
];

/// Mutants of each format.
const MUTANTS: u64 = 100_000;
/// What a refusal may take beside the file.
const BYTES: u64 = 64 << 20;
/// How long it may take.
const TIME: Duration = Duration::from_secs(10);

fn mutated(_: &Workplace) -> Result<Measured, String> {
    let mut texts = Vec::new();
    for format in Format::ALL {
        let read = mutants(format, 0..MUTANTS)?;
        texts.push(format!("{format:?} {MUTANTS}, of which {read} were read"));
    }
    Ok(Measured::new(true, texts.join("; ")))
}

fn bombs(place: &Workplace) -> Result<Measured, String> {
    let folder = std::env::temp_dir().join(format!("cotan-bombs-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let measured = BOMBS.iter().map(|bomb| measure(place, &folder, bomb)).collect::<Result<Vec<_>, String>>();
    fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    let measured = measured?;
    let failed: Vec<&str> = measured.iter().filter_map(|(failure, _)| failure.as_deref()).collect();
    let most = measured.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let text = format!("{} kinds, at most {:.1} MiB beside the file", BOMBS.len(), most as f64 / f64::from(1 << 20));
    Ok(Measured::new(failed.is_empty(), [&[text.as_str()], failed.as_slice()].concat().join("; ")))
}

/// What is wrong with the refusal of a bomb, if anything, and the bytes that it took beside the file.
fn measure(place: &Workplace, folder: &Path, bomb: &Bomb) -> Result<(Option<String>, u64), String> {
    let fail = |e: std::io::Error| format!("{}: {e}", bomb.name);
    fs::write(folder.join("program.cot"), PROGRAM).map_err(fail)?;
    let path = folder.join(bomb.file);
    (bomb.make)(&path).map_err(fail)?;
    let size = fs::symlink_metadata(&path).map_err(fail)?.len().min(bomb.counted);
    let mut command = Command::new(place.built.join("cotan"));
    command.args(["run", "program.cot", "--backend", "interp", "--fn", bomb.function, "--args", bomb.source]);
    let start = Instant::now();
    let mut child = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(fail)?;
    let mut peak = 0;
    let status = loop {
        peak = super::super::limits::peak(child.id()).max(peak);
        if let Some(status) = child.try_wait().map_err(fail)? {
            break status;
        }
        if start.elapsed() > TIME {
            child.kill().map_err(fail)?;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    fs::remove_file(&path).map_err(fail)?;
    let beside = peak.saturating_sub(size);
    let is_refused = status.code() == Some(2) && beside < BYTES && start.elapsed() < TIME;
    let failure = || format!("{}: status {:?}, {beside} bytes, {:?}", bomb.name, status.code(), start.elapsed());
    Ok(((!is_refused).then(failure), beside))
}
