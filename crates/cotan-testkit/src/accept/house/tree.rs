//! A copy of the tree: the files that git knows, in a folder that goes away in the end; and what is added to it.

use super::super::Workplace;
use super::super::folder::Folder;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of the tree, in which things are added.
pub(super) struct Tree {
    folder: Folder,
    /// Where its build goes: what does not lie in the tree is built once for all copies.
    target: PathBuf,
    /// The files when the copy was made.
    before: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// A copy of the tree as it is.
    pub(super) fn copy(place: &Workplace) -> Result<Tree, String> {
        let folder = Folder::new()?;
        let before = files(&place.root)?;
        for (name, content) in &before {
            folder.write(name, content)?;
        }
        run(Command::new("git").current_dir(&folder.0).args(["init", "-q"]))?;
        Ok(Tree { folder, target: place.root.join("target/copy"), before })
    }

    /// Writes a file.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), String> {
        self.folder.write(name, content)
    }

    /// A file as it is now.
    pub(super) fn read(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.folder.path(name)).map_err(|e| format!("{name}: {e}"))
    }

    /// Runs a command of cargo there; gives what it prints.
    pub(super) fn cargo(&self, args: &[&str]) -> Result<String, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        run(Command::new(cargo).current_dir(&self.folder.0).env("CARGO_TARGET_DIR", &self.target).args(args))
    }

    /// The files that are new or changed since the copy was made.
    pub(super) fn changed(&self) -> Result<Vec<String>, String> {
        let is_same = |(name, content): &(String, Vec<u8>)| self.before.get(name) == Some(content);
        Ok(files(&self.folder.0)?.into_iter().filter(|file| !is_same(file)).map(|(name, _)| name).collect())
    }
}

/// Something that is added.
#[derive(Clone, Copy)]
pub(super) struct Addition {
    /// Adds it.
    pub(super) add: fn(&Tree) -> Result<(), String>,
    /// Whether a file belongs to it.
    pub(super) is_own: fn(&str) -> bool,
}

/// The files below a folder that git knows or would take.
fn files(root: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let names = run(Command::new("git").current_dir(root).args(["ls-files", "-z", "-co", "--exclude-standard"]))?;
    let read = |name: &str| {
        let content = fs::read(root.join(name)).map_err(|e| format!("{name}: {e}"))?;
        Ok((name.to_owned(), content))
    };
    names.split('\0').filter(|name| root.join(name).is_file()).map(read).collect()
}

fn run(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if out.status.success() { Ok(text) } else { Err(format!("{text}{}", String::from_utf8_lossy(&out.stderr))) }
}
