//! The folder of compiled code in every condition: the command gives right results, says once what is wrong, and never
//! waits.

use super::super::folder::Folder;
use super::super::{Line, Measured};
use super::ran::{Ran, run};
use super::{Part, Tally};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "entries of the cache with one bit flipped (all of the header, 1,000 of the rest), cut, and swapped with others",
        bar: "right results after one line, none slower than 10 s",
        measure: |place| damage(&place.built.join("cotan"), Part::Whole),
    },
    Line {
        title: "a pipe, a device, a link, a file of another user or of wide modes as entry; wide modes and owners of folders",
        bar: "right results after one line, none slower than 10 s",
        measure: |place| strangers(&place.built.join("cotan"), Part::Whole),
    },
    Line {
        title: "two commands that compile the same, 200 times; 16 processes of 50 commands on one cache",
        bar: "right results and not a word",
        measure: |place| crowd(&place.built.join("cotan"), Part::Whole),
    },
    Line {
        title: "a full disk and one that can only be read",
        bar: "right results after one line at most, none slower than 10 s",
        measure: |place| disks(&place.built.join("cotan"), Part::Whole),
    },
];

/// Functions with the same signature and with others, and what they print.
const PROGRAM: &str =
    "fn a() -> f64 = 10.0\nfn b() -> f64 = 227.0\nfn c() -> f64[3] = [1.0, 2.0, 3.0]\nfn d() -> i64 = 7\n";
const FUNCTIONS: [(&str, &str); 4] = [("a", "10.0\n"), ("b", "227.0\n"), ("c", "[1.0, 2.0, 3.0]\n"), ("d", "7\n")];

/// How the one line begins.
const AGAIN: &str = "warning: compiled code is made again: code cache: ";
const NOT_KEPT: &str = "warning: compiled code is not kept: code cache: ";

/// The size of what stands in front of the payload of an entry.
const HEADER_BYTES: usize = 48;
const BODY_BITS: usize = 1000;

/// A command with a cache of its own.
struct Setting {
    folder: Folder,
    cotan: PathBuf,
}

/// What an entry holds, by its path.
type Entries = Vec<(PathBuf, Vec<u8>)>;

impl Setting {
    fn new(cotan: &Path) -> Result<Setting, String> {
        let setting = Setting { folder: Folder::new()?, cotan: cotan.to_owned() };
        setting.folder.write("program.cot", PROGRAM)?;
        Ok(setting)
    }

    fn command(&self, function: &str) -> Command {
        let mut command = Command::new(&self.cotan);
        command.current_dir(&self.folder.0).env("XDG_CACHE_HOME", self.folder.cache());
        command.env_remove("COTAN_LLVM").env_remove("COTAN_THREADS");
        command.args(["run", "program.cot", "--fn", function]);
        command
    }

    fn objects(&self) -> PathBuf {
        self.folder.cache().join("cotan/objects")
    }

    fn entries(&self) -> Result<Entries, String> {
        let fails = |e: std::io::Error| format!("{}: {e}", self.objects().display());
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.objects()).map_err(fails)? {
            let path = entry.map_err(fails)?.path();
            entries.push((path.clone(), fs::read(path).map_err(fails)?));
        }
        entries.sort();
        Ok(entries)
    }

    /// Puts entries back as they were.
    fn restore(&self, entries: &Entries) -> Result<(), String> {
        for (path, content) in entries {
            // It may be anything by now.
            let _ = fs::remove_file(path);
            fs::write(path, content).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(())
    }

    /// The entries that a function adds.
    fn added_by(&self, function: &str) -> Result<Entries, String> {
        let known: BTreeSet<PathBuf> = match self.objects().exists() {
            true => self.entries()?.into_iter().map(|(path, _)| path).collect(),
            false => BTreeSet::new(),
        };
        judge(&run(&mut self.command(function))?, function, "")?;
        Ok(self.entries()?.into_iter().filter(|(path, _)| !known.contains(path)).collect())
    }

    /// Runs `a` and counts whether its value comes after one line that begins so, and after none for no text.
    fn count(&self, tally: &mut Tally, what: &str, begins: &str) -> Result<(), String> {
        let ran = run(&mut self.command("a"))?;
        tally.count(ran.seconds, judge(&ran, "a", begins).map_err(|e| format!("{what}: {e}")));
        Ok(())
    }
}

/// Whether a command gave what a function does, after one line that begins so; no line for no text.
fn judge(ran: &Ran, function: &str, begins: &str) -> Result<(), String> {
    let value = FUNCTIONS.iter().find(|(name, _)| *name == function).map(|(_, value)| *value);
    let n_lines = usize::from(!begins.is_empty());
    let is_right = ran.status == Some(0) && Some(ran.stdout.as_str()) == value;
    let is_told = ran.stderr.starts_with(begins) && ran.stderr.lines().count() == n_lines;
    if is_right && is_told { Ok(()) } else { Err(ran.shown()) }
}

/// Damaged and swapped entries.
pub fn damage(cotan: &Path, part: Part) -> Result<Measured, String> {
    let setting = Setting::new(cotan)?;
    let mine = setting.added_by("a")?;
    let others: Vec<Entries> =
        ["b", "c", "d"].map(|function| setting.added_by(function)).into_iter().collect::<Result<_, _>>()?;
    let mut tally = Tally::default();
    let mut try_one = |path: &Path, content: &[u8], what: &str| {
        setting.restore(&mine)?;
        fs::write(path, content).map_err(|e| e.to_string())?;
        setting.count(&mut tally, what, AGAIN)
    };
    let step = if part == Part::Whole { 1 } else { 97 };
    for (path, whole) in &mine {
        let n_bits = 8 * whole.len();
        let body = n_bits.saturating_sub(8 * HEADER_BYTES);
        // Spread over the body; of three entries each has a third of them.
        let in_body =
            (0..BODY_BITS.div_ceil(mine.len())).map(|k| 8 * HEADER_BYTES + k * body / BODY_BITS.div_ceil(mine.len()));
        for bit in (0..8 * HEADER_BYTES).chain(in_body).step_by(step).filter(|bit| *bit < n_bits) {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            try_one(path, &damaged, &format!("bit {bit}"))?;
        }
        let cuts = [0, 1, 7, 8, 15, 16, HEADER_BYTES - 1, HEADER_BYTES, whole.len() / 2, whole.len() - 1];
        for cut in cuts.into_iter().step_by(if part == Part::Whole { 1 } else { 5 }) {
            try_one(path, &whole[..cut], &format!("cut to {cut} bytes"))?;
        }
        for (_, theirs) in others.iter().flatten().chain(&mine).filter(|(other, _)| other != path) {
            try_one(path, theirs, "swapped")?;
        }
    }
    Ok(tally.measured("damaged entries", ""))
}

/// Entries and folders that others may have made.
pub fn strangers(cotan: &Path, _: Part) -> Result<Measured, String> {
    let setting = Setting::new(cotan)?;
    let mine = setting.added_by("a")?;
    let is_root = fs::metadata(&setting.folder.0).map_err(|e| e.to_string())?.uid() == 0;
    let mut tally = Tally::default();
    let io = |e: std::io::Error| e.to_string();
    let make = |program: &str, args: &[&str], path: &Path| {
        let status = Command::new(program).args(args).arg(path).status().map_err(io)?;
        if status.success() { Ok(()) } else { Err(format!("{program}: {status}")) }
    };
    for (path, whole) in &mine {
        let aside = setting.folder.path("aside");
        fs::write(&aside, whole).map_err(io)?;
        let device = |path: &Path| {
            let made = Command::new("mknod").arg(path).args(["c", "1", "5"]).status().map_err(io)?;
            if made.success() { Ok(()) } else { Err("mknod".to_owned()) }
        };
        let linked = |path: &Path| symlink(&aside, path).map_err(io);
        let foreign = |path: &Path| fs::write(path, whole).and_then(|()| chown(path, Some(12345), None)).map_err(io);
        let wide = |path: &Path, mode: u32| {
            fs::write(path, whole).and_then(|()| fs::set_permissions(path, Permissions::from_mode(mode))).map_err(io)
        };
        type Making<'a> = (&'a str, Box<dyn Fn(&Path) -> Result<(), String> + 'a>);
        let mut kinds: Vec<Making> = vec![
            ("a pipe", Box::new(|path| make("mkfifo", &["-m", "600"], path))),
            ("a link", Box::new(linked)),
            ("mode 666", Box::new(|path| wide(path, 0o666))),
            ("mode 620", Box::new(|path| wide(path, 0o620))),
            ("mode 602", Box::new(|path| wide(path, 0o602))),
        ];
        if is_root {
            kinds.push(("a device", Box::new(device)));
            kinds.push(("another owner", Box::new(foreign)));
        }
        for (what, make) in kinds {
            setting.restore(&mine)?;
            fs::remove_file(path).map_err(io)?;
            make(path)?;
            setting.count(&mut tally, what, AGAIN)?;
        }
    }
    let objects = setting.objects();
    let folders: Vec<&Path> = objects.ancestors().take(3).collect();
    for (at, folder) in folders.iter().enumerate() {
        let old = fs::metadata(folder).map_err(io)?;
        // The folder itself is nobody else's to read either.
        for mode in [0o777, 0o757, 0o775].into_iter().chain((at == 0).then_some(0o755)) {
            fs::set_permissions(folder, Permissions::from_mode(mode)).map_err(io)?;
            setting.count(&mut tally, &format!("{} of mode {mode:o}", folder.display()), NOT_KEPT)?;
        }
        fs::set_permissions(folder, old.permissions()).map_err(io)?;
        if is_root {
            chown(folder, Some(12345), None).map_err(io)?;
            setting.count(&mut tally, &format!("{} of another owner", folder.display()), NOT_KEPT)?;
            chown(folder, Some(0), None).map_err(io)?;
        }
    }
    let moved = setting.folder.path("moved");
    fs::rename(&objects, &moved).map_err(io)?;
    symlink(&moved, &objects).map_err(io)?;
    setting.count(&mut tally, "a link as folder", NOT_KEPT)?;
    let remark = if is_root { "" } else { " (no device and no other owner: this user may not make them)" };
    Ok(tally.measured("entries and folders", remark))
}

/// Many commands at once.
pub fn crowd(cotan: &Path, part: Part) -> Result<Measured, String> {
    let setting = Setting::new(cotan)?;
    let (rounds, processes, commands) = if part == Part::Whole { (200, 16, 50) } else { (3, 4, 4) };
    let mut tally = Tally::default();
    for _ in 0..rounds {
        setting.folder.empty_cache()?;
        for outcome in at_once(2, |_| run(&mut setting.command("a")))? {
            tally.count(outcome.seconds, judge(&outcome, "a", ""));
        }
    }
    setting.folder.empty_cache()?;
    let many = |process: usize| {
        let function = |k: usize| FUNCTIONS[(process + k) % FUNCTIONS.len()].0;
        let one = |k| Ok((function(k), run(&mut setting.command(function(k)))?));
        (0..commands).map(one).collect::<Result<Vec<_>, String>>()
    };
    for (function, outcome) in at_once(processes, many)?.into_iter().flatten() {
        // On a busy machine a command waits for its turn; that it waits for ever is what the limit of each is for.
        tally.count(outcome.seconds, judge(&outcome, function, ""));
    }
    Ok(tally.measured("commands", ""))
}

/// Does the same on several threads.
fn at_once<R: Send>(n: usize, work: impl Fn(usize) -> Result<R, String> + Sync) -> Result<Vec<R>, String> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..n).map(|k| scope.spawn(move || work(k))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?).collect()
    })
}

/// Disks that take no more: memory disks in a view of the file system of one command, which only root can make.
pub fn disks(cotan: &Path, _: Part) -> Result<Measured, String> {
    let setting = Setting::new(cotan)?;
    fs::create_dir(setting.folder.cache()).map_err(|e| e.to_string())?;
    let command = |script: &str, function: &str| {
        let mut command = Command::new("unshare");
        let inner = setting.command(function);
        command.current_dir(&setting.folder.0);
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args([
            "-m",
            "sh",
            "-c",
            &format!("mount -t tmpfs -o mode=700,size=256k none cache && {script} && exec \"$@\""),
        ]);
        command.arg("sh").arg(inner.get_program()).args(inner.get_args());
        command
    };
    if run(&mut command("true", "a"))?.status != Some(0) {
        return Ok(Measured::new(true, "not tried: this user can't mount a disk"));
    }
    let full = "head -c 1M /dev/zero > cache/fill 2> fill.txt; true";
    let warm = "\"$@\" > warm.txt";
    let cases = [
        // Whether a folder still fits depends on the system.
        ("full", full.to_owned(), "a", "warning: compiled code is "),
        ("full, with a folder", format!("mkdir -m 700 -p cache/cotan/objects && {{ {full}; }}"), "a", AGAIN),
        ("full, with entries", format!("{warm} && {{ {full}; }}"), "a", ""),
        ("only to be read", "mount -o remount,ro cache".to_owned(), "a", NOT_KEPT),
        ("only to be read, with entries", format!("{warm} && mount -o remount,ro cache"), "a", ""),
        (
            "only to be read, with other entries",
            format!("{} run program.cot --fn b > warm.txt && mount -o remount,ro cache", setting.cotan.display()),
            "a",
            AGAIN,
        ),
    ];
    let mut tally = Tally::default();
    for (what, script, function, begins) in cases {
        let ran = run(&mut command(&script, function))?;
        tally.count(ran.seconds, judge(&ran, function, begins).map_err(|e| format!("{what}: {e}")));
    }
    Ok(tally.measured("disks", ""))
}
