//! The folder that holds the cache. Its content is machine code that this process will run, so
//! nobody else may be able to write to it.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use super::error::CacheError;

/// Creates `path` for this user alone, or checks that it is so.
pub(super) fn prepare(path: &Path) -> Result<(), CacheError> {
    const OTHERS: u32 = 0o077;
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(CacheError::io(path))?;
    let metadata = fs::symlink_metadata(path).map_err(CacheError::io(path))?;
    let reason = if metadata.file_type().is_symlink() {
        "it is a symbolic link".to_owned()
    } else if metadata.uid() != effective_user() {
        format!("it belongs to user {}", metadata.uid())
    } else if metadata.mode() & OTHERS != 0 {
        format!("other users have access (mode {:o})", metadata.mode() & 0o777)
    } else {
        return Ok(());
    };
    Err(CacheError::Unsafe { path: path.to_owned(), reason })
}

fn effective_user() -> u32 {
    unsafe extern "C" {
        safe fn geteuid() -> u32;
    }
    geteuid()
}
