//! Compiled objects on disk, so that the next process need not compile them again.
//!
//! An entry is a file named by the hash of everything it depends on. It is written under a temporary
//! name and renamed, and carries the hash of its payload, so that neither concurrent writers nor a
//! crash can leave an entry that is used. Its modification time is the time of its last use.

mod error;
mod folder;
mod key;
mod packed;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

pub use error::CacheError;
pub use key::{Key, KeyBuilder};
pub(crate) use packed::{packed, unpacked};

/// Ends the file name of every entry.
const EXTENSION: &str = "obj";
/// Starts every entry; the number changes when the layout of an entry does.
const MAGIC: &[u8; 8] = b"cotan\0\0\x01";
const HEADER_BYTES: usize = MAGIC.len() + blake3::OUT_LEN;

/// A folder of compiled objects.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    max_bytes: u64,
}

impl Cache {
    /// Uses `folder`, which is created if need be, and keeps at most `max_bytes` in it. A folder
    /// that others may write to is refused.
    pub fn open(folder: impl Into<PathBuf>, max_bytes: u64) -> Result<Self, CacheError> {
        let folder = folder.into();
        folder::prepare(&folder)?;
        Ok(Self { folder, max_bytes })
    }

    /// Where the entries are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many bytes of entries are kept.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// The object stored under `key`, if there is one and it is whole.
    pub fn load(&self, key: &Key) -> Result<Option<Vec<u8>>, CacheError> {
        let path = self.folder.join(key.file_name());
        let mut bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(CacheError::io(&path)(error)),
        };
        let whole = bytes.len() >= HEADER_BYTES
            && bytes.starts_with(MAGIC)
            && blake3::hash(&bytes[HEADER_BYTES..]) == bytes[MAGIC.len()..HEADER_BYTES];
        if !whole {
            return Err(CacheError::Corrupt(path));
        }
        bytes.drain(..HEADER_BYTES);
        // A use that goes unrecorded only makes the entry leave the cache earlier.
        drop(File::open(&path).and_then(|file| file.set_modified(SystemTime::now())));
        Ok(Some(bytes))
    }

    /// Stores `object` under `key` and removes the entries used longest ago if there are too many.
    pub fn store(&self, key: &Key, object: &[u8]) -> Result<(), CacheError> {
        let temporary = self.temporary_path();
        let result = write_entry(&temporary, object)
            .and_then(|()| fs::rename(&temporary, self.folder.join(key.file_name())))
            .map_err(CacheError::io(&temporary));
        if result.is_err() {
            // It may not even exist.
            drop(fs::remove_file(&temporary));
        }
        result.and_then(|()| self.trim())
    }

    /// How many bytes the entries take.
    pub fn size(&self) -> Result<u64, CacheError> {
        Ok(self.entries()?.iter().map(|entry| entry.bytes).sum())
    }

    /// A name that no other thread or process writes to.
    fn temporary_path(&self) -> PathBuf {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("writing-{}-{count}", std::process::id()))
    }

    fn trim(&self) -> Result<(), CacheError> {
        let mut entries = self.entries()?;
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if total <= self.max_bytes {
                break;
            }
            // Another process may have removed it first.
            drop(fs::remove_file(&entry.path));
            total -= entry.bytes;
        }
        Ok(())
    }

    /// All files of the folder, left-over temporary ones included, so that those leave it too.
    fn entries(&self) -> Result<Vec<Entry>, CacheError> {
        let files = fs::read_dir(&self.folder).map_err(CacheError::io(&self.folder))?;
        Ok(files
            .filter_map(|file| {
                let file = file.ok()?;
                let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
                Some(Entry { path: file.path(), bytes: metadata.len(), used: metadata.modified().ok()? })
            })
            .collect())
    }
}

struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// Writes magic, hash and payload. The data need not reach the disk before the rename does: an entry
/// that a crash cut short fails its hash and is compiled again.
fn write_entry(path: &Path, object: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(MAGIC)?;
    file.write_all(blake3::hash(object).as_bytes())?;
    file.write_all(object)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::Duration;

    use super::*;

    fn key(text: &str) -> Key {
        KeyBuilder::new().field(text).finish()
    }

    fn cache(max_bytes: u64) -> (tempfile::TempDir, Cache) {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path().join("cotan/objects"), max_bytes).unwrap();
        (root, cache)
    }

    #[test]
    fn what_is_stored_is_loaded_and_nothing_else() {
        let (_root, cache) = cache(1 << 20);
        cache.store(&key("a"), b"object").unwrap();
        assert_eq!(cache.load(&key("a")).unwrap().unwrap(), b"object");
        assert_eq!(cache.load(&key("b")).unwrap(), None);
    }

    #[test]
    fn the_folder_is_made_for_its_owner_alone() {
        let (_root, cache) = cache(1 << 20);
        let mode = fs::metadata(cache.folder()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_can_write_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("open");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        let error = Cache::open(&path, 1).unwrap_err().to_string();
        assert!(error.ends_with("other users have access (mode 777)"), "{error}");
    }

    #[test]
    fn a_symbolic_link_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("link");
        symlink(root.path(), &path).unwrap();
        let error = Cache::open(&path, 1).unwrap_err().to_string();
        assert!(error.ends_with("it is a symbolic link"), "{error}");
    }

    #[test]
    fn every_damaged_byte_is_noticed() {
        let (_root, cache) = cache(1 << 20);
        cache.store(&key("a"), b"object").unwrap();
        let path = cache.folder().join(key("a").file_name());
        let whole = fs::read(&path).unwrap();
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert!(matches!(cache.load(&key("a")), Err(CacheError::Corrupt(_))));
            fs::write(&path, &whole[..position]).unwrap();
            assert!(matches!(cache.load(&key("a")), Err(CacheError::Corrupt(_))));
        }
    }

    #[test]
    fn the_entry_used_longest_ago_leaves_first() {
        let entry_bytes = (HEADER_BYTES + 100) as u64;
        let (_root, cache) = cache(2 * entry_bytes);
        for (age, name) in [(3, "a"), (2, "b")] {
            cache.store(&key(name), &[0; 100]).unwrap();
            let file = File::open(cache.folder().join(key(name).file_name())).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age * 60)).unwrap();
        }
        cache.load(&key("a")).unwrap().unwrap();
        cache.store(&key("c"), &[0; 100]).unwrap();
        assert!(cache.load(&key("a")).unwrap().is_some());
        assert_eq!(cache.load(&key("b")).unwrap(), None);
        assert!(cache.load(&key("c")).unwrap().is_some());
        assert_eq!(cache.size().unwrap(), 2 * entry_bytes);
    }
}
