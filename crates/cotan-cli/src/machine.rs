//! How much memory this process may take: what a call is limited to unless the user says otherwise, so that a loop that
//! records without end stops with an error, and not because the system kills the process.

use std::fs;
use std::path::Path;

/// What is left to the rest of the process: one part of so many.
pub(crate) const SPARED_PART: u64 = 16;

/// Bytes that the machine, and the control groups of this process, have to spare; nothing where the system does not
/// tell.
pub(crate) fn spare_memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let in_groups = groups.lines().filter_map(|line| spare_in_groups(Path::new("/sys/fs/cgroup"), line)).min();
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let least = [machine, in_groups].into_iter().flatten().min()?;
    Some(least - least / SPARED_PART)
}

/// `MemAvailable` of `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The least that a control group and those around it have to spare. The line is one of `/proc/self/cgroup`: `0::/path`
/// in version 2, `number:controllers:/path` in version 1.
fn spare_in_groups(root: &Path, line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let (root, names) = match controllers {
        "" => (root.to_owned(), ["memory.max", "memory.current"]),
        list if list.split(',').any(|name| name == "memory") => {
            (root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes"])
        }
        _ => return None,
    };
    let group = root.join(path.trim_start_matches('/'));
    let around = group.ancestors().take_while(|folder| folder.starts_with(&root));
    around.filter_map(|folder| spare_in_group(folder, names)).min()
}

fn spare_in_group(folder: &Path, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    // Without a limit there is a word instead of a number.
    let (limit, usage) = (number(limit)?, number(usage)?);
    // Files that were read a while ago are dropped when memory runs short.
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let files = statistics.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let files = files.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(usage.saturating_sub(files)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_what_is_available() {
        let text = "MemTotal:  24682416 kB\nMemFree: 1 kB\nMemAvailable:   23593672 kB\n";
        assert_eq!(available(text), Some(23_593_672 * 1024));
        assert_eq!(available("MemTotal: 5 kB\n"), None);
    }

    #[test]
    fn the_tightest_control_group_counts_in_both_versions() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "900\n");
        write("a/memory.stat", "anon 1\ninactive_file 300\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "5\n");
        assert_eq!(spare_in_groups(root.path(), "0::/a/b"), Some(400));
        assert_eq!(spare_in_groups(root.path(), "0::/"), None);
        write("memory/c/memory.limit_in_bytes", "50\n");
        write("memory/c/memory.usage_in_bytes", "70\n");
        assert_eq!(spare_in_groups(root.path(), "4:memory:/c"), Some(0));
        assert_eq!(spare_in_groups(root.path(), "3:cpuset:/c"), None);
    }
}
