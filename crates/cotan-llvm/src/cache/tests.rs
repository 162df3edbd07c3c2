//! Tests of the folder and what is in it: only what was stored under a key, by this user, is ever given back.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::sync::{Arc, Mutex};

use super::*;

fn key(text: &str) -> Key {
    KeyBuilder::new().field(text).finish()
}

/// A cache in a folder of its own, and what it says.
struct Setting {
    root: tempfile::TempDir,
    told: Arc<Mutex<Vec<String>>>,
}

impl Setting {
    fn new() -> Setting {
        Setting { root: tempfile::tempdir().unwrap(), told: Arc::default() }
    }

    fn path(&self) -> PathBuf {
        self.root.path().join("cotan/objects")
    }

    fn entry(&self, text: &str) -> PathBuf {
        self.path().join(key(text).file_name())
    }

    fn open(&self, max_bytes: u64) -> Cache {
        let told = Arc::clone(&self.told);
        let cache = Cache::open(self.path(), max_bytes).unwrap();
        cache.on_trouble(move |error| told.lock().unwrap().push(error.to_string()))
    }

    /// What was said since this was asked for the last time.
    fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap())
    }

    /// That the entry `a` is not used, for this reason, and works again when it was stored anew.
    fn refuses(&self, reason: &str) {
        assert_eq!(self.open(1 << 20).load(&key("a")), None, "{reason}");
        assert_eq!(self.told(), [format!("code cache: {}: {reason}", self.entry("a").display())]);
        self.open(1 << 20).store(&key("a"), b"object");
        assert_eq!(self.open(1 << 20).load(&key("a")).unwrap(), b"object", "{reason}");
        assert_eq!(self.told(), Vec::<String>::new());
    }

    fn refuses_folder(&self, reason: &str) {
        let error = Cache::open(self.path(), 1).unwrap_err().to_string();
        assert!(error.ends_with(reason), "{error}");
    }
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, Permissions::from_mode(bits)).unwrap();
}

/// Whether tests may give files away and make devices.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn what_is_stored_is_loaded_and_nothing_else() {
    let setting = Setting::new();
    let cache = setting.open(1 << 20);
    cache.store(&key("a"), b"object");
    assert_eq!(cache.load(&key("a")).unwrap(), b"object");
    assert_eq!(cache.load(&key("b")), None);
    assert_eq!(setting.told(), Vec::<String>::new());
}

#[test]
fn the_folder_is_made_for_its_owner_alone() {
    let setting = Setting::new();
    let cache = setting.open(1 << 20);
    for folder in [cache.folder(), cache.folder().parent().unwrap()] {
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
    cache.store(&key("a"), b"object");
    assert_eq!(fs::metadata(setting.entry("a")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_that_others_can_get_at_is_refused() {
    let setting = Setting::new();
    drop(setting.open(1));
    for bits in [0o777, 0o707, 0o770, 0o710, 0o701] {
        mode(&setting.path(), bits);
        setting.refuses_folder(&format!("other users have access (mode {bits:o})"));
    }
    mode(&setting.path(), 0o700);
    let parent = setting.path().parent().unwrap().to_owned();
    for bits in [0o777, 0o757, 0o775] {
        mode(&parent, bits);
        setting.refuses_folder(&format!("cotan: other users can write to it (mode {bits:o})"));
    }
    // Where files are their owners' to remove, nobody can put another folder in the place of this one.
    mode(&parent, 0o1777);
    drop(setting.open(1));
}

#[test]
fn folders_and_entries_of_other_users_are_refused() {
    if !is_root() {
        return;
    }
    let setting = Setting::new();
    setting.open(1 << 20).store(&key("a"), b"object");
    chown(setting.entry("a"), Some(12345), None).unwrap();
    setting.refuses("it belongs to user 12345");
    chown(setting.path(), Some(12345), None).unwrap();
    setting.refuses_folder("it belongs to user 12345");
    chown(setting.path(), Some(0), None).unwrap();
    chown(setting.path().parent().unwrap(), Some(12345), None).unwrap();
    setting.refuses_folder("it belongs to user 12345, expected this user or root");
}

#[test]
fn a_link_or_a_file_is_no_folder() {
    let setting = Setting::new();
    fs::create_dir(setting.path().parent().unwrap()).unwrap();
    symlink(setting.root.path(), setting.path()).unwrap();
    setting.refuses_folder("it is a symbolic link");
    fs::remove_file(setting.path()).unwrap();
    fs::write(setting.path(), "").unwrap();
    setting.refuses_folder("Not a directory (os error 20)");
    assert!(
        Cache::open("objects", 1).unwrap_err().to_string().ends_with("expected an absolute path that ends in a name")
    );
}

/// Defect D4: the hash of an entry did not cover its name.
#[test]
fn d4_an_entry_under_another_name_is_damaged() {
    let setting = Setting::new();
    let cache = setting.open(1 << 20);
    cache.store(&key("a"), b"object");
    cache.store(&key("b"), b"of another");
    fs::copy(setting.entry("b"), setting.entry("a")).unwrap();
    setting.refuses("damaged entry");
    // Damage that was there before the other file is noticed too.
    fs::write(setting.entry("a"), b"cotan").unwrap();
    setting.refuses("damaged entry");
}

/// Defect D4: an entry was opened whatever it was, and reading a pipe waits for ever.
#[test]
fn d4_what_is_no_plain_file_of_this_user_is_refused_at_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let setting = Setting::new();
    let entry = setting.entry("a");
    setting.open(1 << 20).store(&key("a"), b"object");
    let aside = setting.root.path().join("aside");
    fs::rename(&entry, &aside).unwrap();
    symlink(&aside, &entry).unwrap();
    setting.refuses("it is a symbolic link");
    fs::remove_file(&entry).unwrap();
    mknodat(CWD, &entry, FileType::Fifo, Mode::RWXU, 0).unwrap();
    setting.refuses("it is no plain file");
    if is_root() {
        fs::remove_file(&entry).unwrap();
        // The numbers of /dev/zero. A container may not have devices.
        if mknodat(CWD, &entry, FileType::CharacterDevice, Mode::RWXU, rustix::fs::makedev(1, 5)).is_ok()
            && File::open(&entry).is_ok()
        {
            setting.refuses("it is no plain file");
        }
    }
    for bits in [0o622, 0o602, 0o620] {
        setting.open(1 << 20).store(&key("a"), b"object");
        mode(&entry, bits);
        setting.refuses(&format!("other users can write to it (mode {bits:o})"));
    }
    fs::write(&entry, vec![0; (1 << 20) + 1]).unwrap();
    setting.refuses("it has 1048577 bytes, more than 1048576");
}

#[test]
fn a_folder_is_the_one_that_was_opened_even_if_another_takes_its_place() {
    let setting = Setting::new();
    let cache = setting.open(1 << 20);
    cache.store(&key("a"), b"object");
    fs::rename(setting.path(), setting.root.path().join("moved")).unwrap();
    fs::create_dir(setting.path()).unwrap();
    assert_eq!(cache.load(&key("a")).unwrap(), b"object");
    cache.store(&key("b"), b"another");
    assert!(!setting.entry("b").exists());
    assert_eq!(setting.told(), Vec::<String>::new());
}

#[test]
fn the_entry_used_longest_ago_leaves_first() {
    let entry_bytes = (entry::HEADER_BYTES + 100) as u64;
    let setting = Setting::new();
    let cache = setting.open(2 * entry_bytes);
    for (age, name) in [(3, "a"), (2, "b")] {
        cache.store(&key(name), &[0; 100]);
        let file = File::open(setting.entry(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age * 60)).unwrap();
    }
    cache.load(&key("a")).unwrap();
    cache.store(&key("c"), &[0; 100]);
    assert!(cache.load(&key("a")).is_some());
    assert_eq!(cache.load(&key("b")), None);
    assert!(cache.load(&key("c")).is_some());
    assert_eq!(cache.size().unwrap(), 2 * entry_bytes);
    assert_eq!(setting.told(), Vec::<String>::new());
}

#[test]
fn files_of_others_stay_and_what_a_process_left_leaves() {
    let setting = Setting::new();
    let cache = setting.open(10);
    let old = SystemTime::now() - 2 * LONGEST_WRITE;
    for (name, time) in [
        ("notes.txt", old),
        ("writing-x", old),
        ("x.obj", old),
        ("writing-1-0", old),
        ("writing-1-1", SystemTime::now()),
    ] {
        let file = File::create(setting.path().join(name)).unwrap();
        file.set_modified(time).unwrap();
    }
    cache.store(&key("a"), b"more than ten bytes");
    let mut left: Vec<_> = fs::read_dir(setting.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["notes.txt", "writing-1-1", "writing-x", "x.obj"]);
}

#[test]
fn a_name_that_is_left_over_is_passed_over() {
    let setting = Setting::new();
    let cache = setting.open(1 << 20);
    // Other tests of this process count on as well.
    for count in 0..50 {
        fs::write(setting.path().join(format!("writing-{}-{count}", std::process::id())), "").unwrap();
    }
    cache.store(&key("a"), b"object");
    assert_eq!(cache.load(&key("a")).unwrap(), b"object");
}

#[test]
fn writers_side_by_side_leave_whole_entries() {
    let setting = Setting::new();
    let cache = setting.open(1 << 20);
    let content = |writer: u8, round: usize| vec![writer; 1 + 37 * round];
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..200 {
                    cache.store(&key("shared"), &content(writer, round));
                    let found = cache.load(&key("shared")).unwrap();
                    assert!(found.iter().all(|byte| *byte == found[0]));
                }
            });
        }
    });
    assert_eq!(setting.told(), Vec::<String>::new());
}
