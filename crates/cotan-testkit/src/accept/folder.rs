//! A folder for what a line writes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of this process that is removed in the end.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Folder, String> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("cotan-accept-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Folder(path))
    }

    /// A file or folder in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in it, and the folders that it lies in.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
        let path = self.path(name);
        let fails = |e: std::io::Error| format!("{}: {e}", path.display());
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(fails)?;
        std::fs::write(&path, content).map_err(fails)
    }

    /// The folder of the cache of commands.
    pub(super) fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    pub(super) fn empty_cache(&self) -> Result<(), String> {
        let path = self.cache();
        if path.exists() { std::fs::remove_dir_all(&path).map_err(|e| e.to_string()) } else { Ok(()) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in a folder for temporary files harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
