//! Paths that only this user and root decide about: the folder of compiled code, and libraries that nobody named.
//!
//! A path is walked from the root of the file system by handles, and symbolic links are followed here and not by the
//! system. So each folder that decides what the path means is checked, those that links lead through too, and the handle
//! that is given back is that of what was checked, whatever happens to the path meanwhile.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Links on one path; the system stops at as many.
const MOST_LINKS: u32 = 40;

/// Why a path is not used, and which part of it is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Distrust {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// What is done about folders of a path that are missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// They are made, for this user alone.
    Make,
    /// The path is refused.
    Refuse,
}

/// Opens the folder of this user alone at an absolute path: nobody else may read or write it, or put another in its
/// place. It may not be a link. It is made if it is missing.
pub(crate) fn private_folder(path: &Path) -> Result<OwnedFd, Distrust> {
    const OTHERS: u32 = 0o077;
    let refuse = |reason: String| Distrust { path: path.to_owned(), reason };
    let (true, Some(parent), Some(name)) = (path.is_absolute(), path.parent(), path.file_name()) else {
        return Err(refuse("expected an absolute path that ends in a name".to_owned()));
    };
    let parent = Walk::along(parent, Missing::Make)?.folder()?;
    if status(&parent, name, Missing::Make).is_ok_and(|found| kind(&found) == FileType::Symlink) {
        return Err(refuse("it is a symbolic link".to_owned()));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = fs::openat(&parent, name, flags, Mode::empty());
    let (folder, found) = opened
        .and_then(|folder| fs::fstat(&folder).map(|found| (folder, found)))
        .map_err(|error| refuse(error.to_string()))?;
    if !is_own(&found) {
        return Err(refuse(format!("it belongs to user {}", found.st_uid)));
    }
    if found.st_mode & OTHERS != 0 {
        return Err(refuse(format!("other users have access (mode {:o})", found.st_mode & 0o777)));
    }
    Ok(folder)
}

/// Checks that the file at an absolute path, and the folders that it lies in, belong to this user or root, and that nobody
/// else can write to them.
pub(crate) fn check_file(path: &Path) -> Result<(), Distrust> {
    let walk = Walk::along(path, Missing::Refuse)?;
    let refuse = |reason: String| Distrust { path: walk.path.clone(), reason };
    match &walk.file {
        Some(found) if kind(found) == FileType::RegularFile => judge(found).map_err(refuse),
        Some(_) | None => Err(refuse("expected a file".to_owned())),
    }
}

/// Whether a file belongs to this user.
pub(crate) fn is_own(found: &Stat) -> bool {
    found.st_uid == geteuid().as_raw()
}

/// Whether others than its owner may write to a file.
pub(crate) fn is_writable_by_others(found: &Stat) -> bool {
    can_others_write(Mode::from_raw_mode(found.st_mode), found.st_uid, found.st_gid)
}

/// Many systems make a group for each user, with the number of the user and nobody else in it, and let that write to all
/// that the user makes.
fn can_others_write(mode: Mode, user: u32, group: u32) -> bool {
    let is_group_of_one = user != 0 && group == user;
    mode.contains(Mode::WOTH) || (mode.contains(Mode::WGRP) && !is_group_of_one)
}

/// What a file is.
pub(crate) fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// Refuses what belongs to others, or what they may write to.
fn judge(found: &Stat) -> Result<(), String> {
    judge_owner(found)?;
    if is_writable_by_others(found) {
        return Err(format!("other users can write to it (mode {:o})", found.st_mode & 0o7777));
    }
    Ok(())
}

fn judge_owner(found: &Stat) -> Result<(), String> {
    if is_own(found) || found.st_uid == 0 {
        return Ok(());
    }
    Err(format!("it belongs to user {}, expected this user or root", found.st_uid))
}

/// Refuses a folder in which others may put something in the place of the next part of a path. Where files are their
/// owners' to remove, as in `/tmp`, nobody may: the owner of the next part is looked at in its turn.
fn judge_folder(found: &Stat) -> Result<(), String> {
    if Mode::from_raw_mode(found.st_mode).contains(Mode::SVTX) { judge_owner(found) } else { judge(found) }
}

/// What lies under a name in a folder, itself and not what it links to.
fn status(folder: &OwnedFd, name: &OsStr, missing: Missing) -> Result<Stat, Errno> {
    match fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) if missing == Missing::Make => {
            match fs::mkdirat(folder, name, Mode::RWXU) {
                // Another process was faster.
                Ok(()) | Err(Errno::EXIST) => fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW),
                Err(error) => Err(error),
            }
        }
        found => found,
    }
}

/// A path that is walked.
struct Walk {
    /// The folder that was reached, and where it lies.
    at: OwnedFd,
    path: PathBuf,
    /// The file that it ended at, if it is no folder; `path` then names it.
    file: Option<Stat>,
}

impl Walk {
    /// Goes to the end of a path. Every folder and link on it passed its check.
    fn along(path: &Path, missing: Missing) -> Result<Walk, Distrust> {
        if !path.is_absolute() {
            return Err(Distrust { path: path.to_owned(), reason: "expected an absolute path".to_owned() });
        }
        let mut walk = Walk::at_root()?;
        let mut links = 0;
        // The parts that are left, the next one last.
        let mut rest = parts(path);
        while let Some(name) = rest.pop() {
            if name == "/" {
                walk = Walk::at_root()?;
                continue;
            }
            let here =
                if name == ".." { walk.path.parent().unwrap_or(&walk.path).to_owned() } else { walk.path.join(&name) };
            let refuse = |reason: String| Distrust { path: here.clone(), reason };
            let system = |error: Errno| refuse(error.to_string());
            let found = status(&walk.at, &name, missing).map_err(system)?;
            match kind(&found) {
                FileType::Symlink => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(system(Errno::LOOP));
                    }
                    judge_owner(&found).map_err(refuse)?;
                    let target = fs::readlinkat(&walk.at, &name, Vec::new()).map_err(system)?;
                    rest.append(&mut parts(Path::new(&OsString::from_vec(target.into_bytes()))));
                }
                FileType::Directory => {
                    walk = Walk::enter(fs::openat(&walk.at, &name, PASS, Mode::empty()).map_err(system)?, here)?;
                }
                FileType::RegularFile
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown => {
                    if !rest.is_empty() {
                        return Err(system(Errno::NOTDIR));
                    }
                    return Ok(Walk { path: here, file: Some(found), ..walk });
                }
            }
        }
        Ok(walk)
    }

    fn at_root() -> Result<Walk, Distrust> {
        let root = PathBuf::from("/");
        let opened = fs::open(&root, PASS, Mode::empty());
        Walk::enter(opened.map_err(|error| Distrust { path: root.clone(), reason: error.to_string() })?, root)
    }

    fn enter(at: OwnedFd, path: PathBuf) -> Result<Walk, Distrust> {
        let judged = fs::fstat(&at).map_err(|error| error.to_string()).and_then(|found| judge_folder(&found));
        match judged {
            Ok(()) => Ok(Walk { at, path, file: None }),
            Err(reason) => Err(Distrust { path, reason }),
        }
    }

    /// The folder that the path leads to.
    fn folder(self) -> Result<OwnedFd, Distrust> {
        match self.file {
            None => Ok(self.at),
            Some(_) => Err(Distrust { path: self.path, reason: Errno::NOTDIR.to_string() }),
        }
    }
}

/// How folders are opened that are passed on the way: to look up a name in them takes no permission to read them.
const PASS: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(LOOK_UP);

#[cfg(target_os = "linux")]
const LOOK_UP: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK_UP: OFlags = OFlags::RDONLY;

/// The parts of a path, the first one last. The root is the part `/`.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn mode(path: &Path, bits: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(bits)).unwrap();
    }

    /// A folder of this user with `a/b/file` in it.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a/b/file");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        for folder in ["a", "a/b"] {
            mode(&root.path().join(folder), 0o755);
        }
        mode(&file, 0o644);
        (root, file)
    }

    fn refusal(path: &Path) -> String {
        check_file(path).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_trusted_if_nobody_else_can_write_it_or_a_folder_on_its_path() {
        let (root, file) = tree();
        assert_eq!(check_file(&file), Ok(()));
        for part in ["a/b/file", "a/b", "a"] {
            let part = root.path().join(part);
            for bits in [0o777, 0o775, 0o757] {
                mode(&part, bits);
                assert_eq!(refusal(&file), format!("{}: other users can write to it (mode {bits:o})", part.display()));
            }
            mode(&part, 0o755);
        }
        // As /tmp is.
        mode(&root.path().join("a"), 0o1777);
        assert_eq!(check_file(&file), Ok(()));
    }

    #[test]
    fn a_group_may_write_if_it_is_the_users_own() {
        let open = Mode::RWXU | Mode::RWXG;
        assert!(!can_others_write(open, 1000, 1000));
        assert!(can_others_write(open, 1000, 100));
        assert!(can_others_write(open, 0, 0));
        assert!(can_others_write(open | Mode::WOTH, 1000, 1000));
        assert!(!can_others_write(Mode::RWXU | Mode::RGRP | Mode::ROTH, 1000, 100));
    }

    #[test]
    fn the_folders_behind_links_are_checked_too() {
        let (root, file) = tree();
        let (elsewhere, target) = tree();
        std::fs::remove_file(&file).unwrap();
        symlink(&target, &file).unwrap();
        symlink("b/../b", root.path().join("a/link")).unwrap();
        let through = root.path().join("a/link/file");
        assert_eq!(check_file(&through), Ok(()));
        let open = elsewhere.path().join("a");
        mode(&open, 0o777);
        assert_eq!(refusal(&through), format!("{}: other users can write to it (mode 777)", open.display()));
        symlink("loop", root.path().join("loop")).unwrap();
        assert!(refusal(&root.path().join("loop")).contains("symbolic links"));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let (root, file) = tree();
        assert!(refusal(&root.path().join("a")).ends_with("expected a file"));
        assert!(refusal(&root.path().join("none")).contains("No such file"));
        assert!(refusal(&file.join("below")).contains("Not a directory"));
        assert!(refusal(Path::new("a/file")).ends_with("expected an absolute path"));
        assert!(refusal(Path::new("/dev/null")).ends_with("expected a file"));
    }

    #[test]
    fn files_folders_and_links_of_other_users_are_refused() {
        let (root, file) = tree();
        if geteuid().as_raw() != 0 {
            // Only root can give files away.
            return;
        }
        for part in ["a/b/file", "a/b", "a"] {
            let part = root.path().join(part);
            chown(&part, Some(12345), None).unwrap();
            let reason = "it belongs to user 12345, expected this user or root";
            assert_eq!(refusal(&file), format!("{}: {reason}", part.display()));
            chown(&part, Some(0), None).unwrap();
        }
        let link = root.path().join("link");
        symlink(&file, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
        assert!(refusal(&link).contains("it belongs to user 12345"));
    }
}
