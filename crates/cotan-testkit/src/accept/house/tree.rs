//! A copy of the tree: the files that git knows, in a folder that the next copy takes over; and what is added to it.

use super::super::Workplace;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of the tree, in which things are added.
pub(super) struct Tree {
    folder: PathBuf,
    /// Where its build goes.
    target: PathBuf,
    /// The files when the copy was made.
    before: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// A copy of the tree as it is. Files that an earlier copy has left as they are stay untouched, so that a second build
    /// builds what has changed.
    pub(super) fn copy(place: &Workplace) -> Result<Tree, String> {
        let target = place.root.join("target/copy");
        let folder = target.join("tree");
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        run(Command::new("git").current_dir(&folder).args(["init", "-q"]))?;
        let before = files(&place.root)?;
        let left = files(&folder)?;
        let tree = Tree { folder, target, before };
        for (name, content) in tree.before.iter().filter(|(name, content)| left.get(*name) != Some(*content)) {
            tree.write(name, content)?;
        }
        for name in left.keys().filter(|name| !tree.before.contains_key(*name)) {
            fs::remove_file(tree.folder.join(name)).map_err(|e| format!("{name}: {e}"))?;
        }
        Ok(tree)
    }

    /// Writes a file.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
        let path = self.folder.join(name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, content));
        written.map_err(|e| format!("{name}: {e}"))
    }

    /// A file as it is now.
    pub(super) fn read(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.folder.join(name)).map_err(|e| format!("{name}: {e}"))
    }

    /// Runs a command of cargo there; gives what it prints.
    pub(super) fn cargo(&self, args: &[&str]) -> Result<String, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        run(Command::new(cargo).current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target).args(args))
    }

    /// The files that are new or changed since the copy was made.
    pub(super) fn changed(&self) -> Result<Vec<String>, String> {
        let is_same = |(name, content): &(String, Vec<u8>)| self.before.get(name) == Some(content);
        Ok(files(&self.folder)?.into_iter().filter(|file| !is_same(file)).map(|(name, _)| name).collect())
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
