//! The texts that inputs are made of, and the inputs that are kept: `fuzz/corpus/TARGET`, one of each kind.

use super::{Reached, Target, input, judge_guarded};
use crate::files::{files, tests_folder, workspace_file};
use crate::parallel;
use std::fs;
use std::path::{Path, PathBuf};

/// The texts that inputs are made of.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Programs: tests, examples, and blocks of the book.
    pub programs: Vec<String>,
    /// Core IR.
    pub ir: Vec<String>,
}

impl Corpus {
    /// The programs and IR files of the repository.
    pub fn load() -> Corpus {
        let read = |folder: PathBuf, ending: &str| {
            files(&folder, ending).iter().filter_map(|path| fs::read_to_string(path).ok()).collect::<Vec<_>>()
        };
        let mut programs = read(tests_folder(), ".cot");
        programs.extend(read(workspace_file("examples"), ".cot"));
        programs.extend(read(workspace_file("docs"), ".md").iter().flat_map(|page| blocks(page)));
        Corpus { programs, ir: read(tests_folder().join("ir"), ".cir") }
    }
}

/// The programs of a page of the book.
fn blocks(page: &str) -> Vec<String> {
    let parts = page.split("\n```").collect::<Vec<_>>();
    // Every second part is inside of a block; its first line says what it is.
    let inside = parts.iter().skip(1).step_by(2).filter_map(|part| part.split_once('\n'));
    inside.filter(|(info, _)| info.split(' ').next() == Some("cot")).map(|(_, text)| format!("{text}\n")).collect()
}

/// The folder of the inputs of a target that are kept.
pub fn folder(target: Target) -> PathBuf {
    workspace_file("fuzz/corpus").join(target.name())
}

/// The inputs of a target that are kept, with their names.
pub fn kept(target: Target) -> Vec<(String, Vec<u8>)> {
    let read = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Some((name?, fs::read(path).ok()?))
    };
    files(&folder(target), "").iter().filter_map(read).collect()
}

/// The longest input that is kept.
const LONGEST: usize = 8_000;

/// Writes a corpus anew from the random inputs `0..n` and what was kept: of inputs that reach the same, the shortest.
/// Gives how many there are, and of how many bytes.
pub fn minimise(target: Target, texts: &Corpus, n: u64) -> std::io::Result<(usize, usize)> {
    let mut candidates: Vec<Vec<u8>> = kept(target).into_iter().map(|(_, input)| input).collect();
    candidates.extend((0..n).map(|seed| input(target, texts, seed)));
    candidates.retain(|input| input.len() <= LONGEST);
    candidates.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    candidates.dedup();
    let reached = parallel::map(&candidates, |input| judge_guarded(target, input).unwrap_or_default());
    let mut covered = Reached::new();
    let mut chosen = Vec::new();
    for (input, reached) in candidates.iter().zip(reached) {
        if !reached.is_subset(&covered) {
            covered.extend(reached);
            chosen.push(input);
        }
    }
    let folder = folder(target);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for (k, input) in chosen.iter().enumerate() {
        fs::write(named(&folder, k), input)?;
    }
    Ok((chosen.len(), chosen.iter().map(|input| input.len()).sum()))
}

fn named(folder: &Path, k: usize) -> PathBuf {
    folder.join(format!("{k:03}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_a_page_are_its_blocks_of_that_kind() {
        let page = "Text\n\n```cot\nfn f() = 1\n```\nmore\n```output\n1.0\n```\n\n```cot error E0301\nfn g(\n```\n";
        assert_eq!(blocks(page), ["fn f() = 1\n", "fn g(\n"]);
    }
}
