//! The folder of compiled code: whatever lies in it, results are right, and one line says what is wrong with it.

use crate::cli::{Case, Run, holds};
use cotan_testkit::accept::sound;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The one line that a command may say about the folder.
const AGAIN: &str = "warning: compiled code is made again: code cache: ";
const NOT_KEPT: &str = "warning: compiled code is not kept: code cache: ";

fn entries(case: &Case) -> BTreeSet<PathBuf> {
    fs::read_dir(case.path("cache/cotan/objects")).expect("the folder").flatten().map(|entry| entry.path()).collect()
}

fn run(case: &Case, name: &str) -> Run {
    case.run(&["run", "program.cot", "--fn", name])
}

/// That a function gives its value, after one line that begins so.
fn told(case: &Case, name: &str, value: &str, begins: &str) {
    let run = run(case, name);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), value), "{}", run.stderr);
    assert!(run.stderr.starts_with(begins) && run.stderr.lines().count() == 1, "{begins}: {}", run.stderr);
}

fn quiet(case: &Case, name: &str, value: &str) {
    let run = run(case, name);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), value, ""));
}

/// Defect D4: `run A` gave B's value, and crashed if B had another signature.
#[test]
fn d4_entries_that_were_swapped_are_made_again() {
    let functions = [("a", "10.0\n"), ("b", "227.0\n"), ("c", "[1.0, 2.0, 3.0]\n")];
    let case = Case::new("fn a() -> f64 = 10.0\nfn b() -> f64 = 227.0\nfn c() -> f64[3] = [1.0, 2.0, 3.0]\n");
    let mut known = BTreeSet::new();
    let mut of = Vec::new();
    for (name, value) in functions {
        quiet(&case, name, value);
        let all = entries(&case);
        of.push(all.difference(&known).cloned().collect::<Vec<_>>());
        known = all;
    }
    // The first run also keeps what it found out about LLVM.
    assert_eq!(of.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 2]);
    for other in [&of[1], &of[2]] {
        for mine in &of[0] {
            let whole = fs::read(mine).expect("an entry");
            for theirs in other {
                fs::copy(theirs, mine).expect("copied");
                told(&case, "a", "10.0\n", AGAIN);
            }
            fs::write(mine, whole).expect("written");
        }
        quiet(&case, "a", "10.0\n");
    }
}

#[test]
fn a_folder_that_others_can_get_at_is_left_alone() {
    let case = Case::new("fn a() -> f64 = 10.0\n");
    quiet(&case, "a", "10.0\n");
    let count = entries(&case).len();
    for (folder, bits) in [("cache/cotan/objects", 0o755), ("cache/cotan", 0o777), ("cache", 0o777)] {
        let path = case.path(folder);
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).expect("its owner");
        told(&case, "a", "10.0\n", NOT_KEPT);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("its owner");
    }
    quiet(&case, "a", "10.0\n");
    assert_eq!(entries(&case).len(), count);
}

#[test]
fn a_command_that_runs_many_programs_says_it_once() {
    let case = Case::new("@test fn one() -> bool = true\n");
    case.write("other.cot", b"@test fn two() -> bool = true\n");
    let test = || case.run(&["test", "program.cot", "other.cot"]);
    assert_eq!(test().stderr, "");
    fs::set_permissions(case.path("cache/cotan/objects"), fs::Permissions::from_mode(0o755)).expect("its owner");
    let run = test();
    assert_eq!((run.status, run.stderr.lines().count()), (Some(0), 1), "{}", run.stderr);
    assert!(run.stderr.starts_with(NOT_KEPT), "{}", run.stderr);
}

#[test]
fn damaged_cut_and_swapped_entries_are_made_again() {
    holds(sound::cache::damage);
}

#[test]
fn what_others_may_have_made_is_not_used() {
    holds(sound::cache::strangers);
}

#[test]
fn many_commands_share_a_folder() {
    holds(sound::cache::crowd);
}

#[test]
fn disks_that_take_nothing_are_no_trouble() {
    holds(sound::cache::disks);
}
