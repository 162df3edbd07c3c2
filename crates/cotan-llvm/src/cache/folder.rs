//! The folder that holds the cache, as a handle that is opened once. Its content is machine code that this process will
//! run, so nobody else may be able to write to it, and whatever is no plain file of this user in it is left alone.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::error::CacheError;
use crate::trust;

/// How temporary names begin.
const WRITING: &str = "writing-";
/// Names that are tried for a temporary file: one may be left over from a process of the same number.
const MOST_NAMES: u32 = 100;

/// The folder.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

/// A file in it.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// When it was last written to or used: nanoseconds since 1970.
    pub(super) used: i128,
}

impl Folder {
    /// Opens the folder at `path`, which is made for this user alone if need be. One that others can get at is refused.
    pub(super) fn open(path: PathBuf) -> Result<Folder, CacheError> {
        Ok(Folder { handle: trust::private_folder(&path)?, path })
    }

    /// Where it is, or was when it was opened.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What a file holds; `None` if there is none. Only a plain file of this user with at most so many bytes is read.
    pub(super) fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, CacheError> {
        // A pipe that nobody writes to must not hold this process up.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(self.refused(name, "it is a symbolic link".to_owned())),
            Err(error) => return Err(self.failed(name, error)),
        };
        let found = fs::fstat(&handle).map_err(|error| self.failed(name, error))?;
        let bytes = u64::try_from(found.st_size).unwrap_or(u64::MAX);
        let reason = if trust::kind(&found) != FileType::RegularFile {
            "it is no plain file".to_owned()
        } else if !trust::is_own(&found) {
            format!("it belongs to user {}", found.st_uid)
        } else if trust::is_writable_by_others(&found) {
            format!("other users can write to it (mode {:o})", found.st_mode & 0o777)
        } else if bytes > most {
            format!("it has {bytes} bytes, more than {most}")
        } else {
            let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
            let mut file = File::from(handle);
            // It may be growing.
            (&mut file).take(most).read_to_end(&mut content).map_err(|error| self.failed(name, error))?;
            // A use that goes unrecorded only makes the entry leave the cache earlier.
            drop(file.set_modified(SystemTime::now()));
            return Ok(Some(content));
        };
        Err(self.refused(name, reason))
    }

    /// Writes a file of parts. It is there as a whole or not at all: it is written under another name and renamed. The data
    /// need not reach the disk before the new name does, as a file that a crash cut short is no entry.
    pub(super) fn write(&self, name: &str, parts: &[&[u8]]) -> Result<(), CacheError> {
        let (temporary, mut file) = self.create()?;
        let written = parts.iter().try_for_each(|part| file.write_all(part)).and_then(|()| {
            fs::renameat(&self.handle, &temporary, &self.handle, name)?;
            Ok(())
        });
        written.map_err(|error| {
            self.remove(&temporary);
            self.failed(name, error)
        })
    }

    /// A new file under a temporary name.
    fn create(&self) -> Result<(String, File), CacheError> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut tries = 0;
        loop {
            let name = format!("{WRITING}{}-{}", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
            match fs::openat(&self.handle, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(handle) => return Ok((name, File::from(handle))),
                Err(Errno::EXIST) if tries < MOST_NAMES => tries += 1,
                Err(error) => return Err(self.failed(&name, error)),
            }
        }
    }

    /// The plain files with names that `is_wanted` knows.
    pub(super) fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Listed>, CacheError> {
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(|error| self.failed("", error))? {
            let entry = entry.map_err(|error| self.failed("", error))?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !is_wanted(name) {
                continue;
            }
            // Another process may have removed it meanwhile.
            let Ok(found) = fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if trust::kind(&found) == FileType::RegularFile {
                let used = 1_000_000_000 * i128::from(found.st_mtime) + i128::from(found.st_mtime_nsec);
                let bytes = u64::try_from(found.st_size).unwrap_or(0);
                files.push(Listed { name: name.to_owned(), bytes, used });
            }
        }
        Ok(files)
    }

    /// Removes a file, if it is still there.
    pub(super) fn remove(&self, name: &str) {
        // Another process may have been faster.
        let _ = fs::unlinkat(&self.handle, name, AtFlags::empty());
    }

    fn refused(&self, name: &str, reason: String) -> CacheError {
        CacheError::Unsafe { path: self.path.join(name), reason }
    }

    fn failed(&self, name: &str, error: impl Into<io::Error>) -> CacheError {
        CacheError::Io { path: self.path.join(name), error: error.into() }
    }
}

/// Whether a name is one that files have while they are written.
pub(super) fn is_temporary(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(WRITING).and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, count)| is_number(process) && is_number(count))
}
