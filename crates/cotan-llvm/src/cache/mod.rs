//! Compiled objects on disk, so that the next process need not compile them again.
//!
//! An entry is a file named by the hash of everything it depends on. It is written under a temporary
//! name and renamed, and carries a hash of its name and payload, so that neither concurrent writers, nor a
//! crash, nor files that were mixed up can leave an entry that is used. Its modification time is the time of its last use.
//!
//! Nothing about a cache is an error: what can't be read is made again, and what can't be stored is made again the next
//! time. Who opens a cache may hear of the first such trouble.

mod entry;
mod error;
mod folder;
mod key;
mod packed;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use folder::{Folder, Listed};

pub use error::CacheError;
pub use key::{Key, KeyBuilder};
pub(crate) use packed::{packed, unpacked};

/// A file that has been written to for longer than this was left by a process that ended.
const LONGEST_WRITE: Duration = Duration::from_secs(3600);

/// Hears of trouble.
type Listener = Box<dyn Fn(&CacheError) + Send + Sync>;

/// A folder of compiled objects.
pub struct Cache {
    folder: Folder,
    max_bytes: u64,
    listener: Option<Listener>,
    has_told: AtomicBool,
}

impl Cache {
    /// Uses the folder at an absolute path, which is created if need be, and keeps at most `max_bytes` in it. A folder
    /// that others can get at is refused, and one that others could put another one in the place of: it belongs to this
    /// user alone, and the folders around it to this user or root, and nobody else can write to them.
    pub fn open(folder: impl Into<PathBuf>, max_bytes: u64) -> Result<Self, CacheError> {
        let folder = Folder::open(folder.into())?;
        Ok(Self { folder, max_bytes, listener: None, has_told: AtomicBool::new(false) })
    }

    /// The same, which tells of the first entry that is damaged or can't be stored.
    #[must_use]
    pub fn on_trouble(self, listener: impl Fn(&CacheError) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Box::new(listener)), ..self }
    }

    /// Where the entries are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How many bytes of entries are kept.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// What is stored under `key`, if there is anything and it is whole. Anything else of that name is removed.
    pub fn load(&self, key: &Key) -> Option<Vec<u8>> {
        let name = key.file_name();
        let loaded = self.folder.read(&name, self.max_bytes).and_then(|file| match file {
            None => Ok(None),
            Some(file) => match entry::payload(key, file) {
                Some(payload) => Ok(Some(payload)),
                None => Err(CacheError::Corrupt(self.folder.path().join(&name))),
            },
        });
        loaded.unwrap_or_else(|error| {
            self.tell(&error);
            // Whatever it is, the next process need not meet it. Where reading failed it may be an entry.
            if !matches!(error, CacheError::Io { .. }) {
                self.folder.remove(&name);
            }
            None
        })
    }

    /// Stores `object` under `key` and removes the entries used longest ago if there are too many.
    pub fn store(&self, key: &Key, object: &[u8]) {
        let header = entry::header(key, object);
        let stored = self.folder.write(&key.file_name(), &[&header, object]).and_then(|()| self.trim());
        if let Err(error) = stored {
            self.tell(&error);
        }
    }

    /// How many bytes the entries take.
    pub fn size(&self) -> Result<u64, CacheError> {
        Ok(self.folder.files(key::is_file_name)?.iter().map(|entry| entry.bytes).sum())
    }

    /// Lets the listener know of trouble, the first time that there is any.
    pub(crate) fn tell(&self, error: &CacheError) {
        if let Some(listener) = &self.listener
            && !self.has_told.swap(true, Ordering::Relaxed)
        {
            listener(error);
        }
    }

    /// Removes the entries used longest ago as long as there are too many, and what processes left that ended while they
    /// wrote. Other files in the folder are not the cache's.
    fn trim(&self) -> Result<(), CacheError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let oldest = now.saturating_sub(LONGEST_WRITE).as_nanos() as i128;
        let own = self.folder.files(|name| key::is_file_name(name) || folder::is_temporary(name))?;
        let (temporary, mut entries): (Vec<Listed>, Vec<Listed>) =
            own.into_iter().partition(|file| folder::is_temporary(&file.name));
        let is_left = |file: &&Listed| file.used < oldest;
        temporary.iter().filter(is_left).for_each(|file| self.folder.remove(&file.name));
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if total <= self.max_bytes {
                break;
            }
            self.folder.remove(&entry.name);
            total -= entry.bytes;
        }
        Ok(())
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("folder", &self.folder)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
