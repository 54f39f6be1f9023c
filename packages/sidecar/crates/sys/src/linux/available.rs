//! The memory that this process can still allocate. The value is Linux's estimate of available
//! memory, bounded by the limits of the process's control groups (a container, a service).
//!
//! [`available_memory`] reads a few small files, which takes some tens of microseconds. Callers
//! therefore check only before they allocate many megabytes. Next: `byte_lock.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the available memory in bytes. Returns `None` if the system does not report the
/// available memory.
pub fn available_memory() -> Option<u64> {
    let machine = meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| group(&text, Path::new("/sys/fs/cgroup")));
    Some(group.and_then(|group| left_by(&group)).map_or(machine, |left| machine.min(left)))
}

fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// Returns the folder of this process's control group (version 2).
fn group(text: &str, root: &Path) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(root.join(path))
}

/// Returns the memory that a group and its ancestors leave: the smallest difference of limit and
/// use. Inactive files of `memory.stat` do not count as used, because the kernel can drop these
/// files. Other cached files count as used, so the result can be too small.
fn left_by(group: &Path) -> Option<u64> {
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        let limit = number(folder.join("memory.max"))?;
        let used = number(folder.join("memory.current"))?;
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        Some(limit.saturating_sub(used.saturating_sub(inactive_files(&stat))))
    };
    group.ancestors().take_while(|folder| folder.starts_with("/sys/fs/cgroup") || cfg!(test)).filter_map(left).min()
}

fn inactive_files(stat: &str) -> u64 {
    stat.lines().find_map(|line| line.strip_prefix("inactive_file ")).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_memory_of_this_machine() {
        let available = available_memory().expect("Linux reports it");
        assert!((1 << 20..1 << 50).contains(&available), "{available}");
    }

    #[test]
    fn returns_none_for_missing_or_malformed_files() {
        assert_eq!(meminfo("MemTotal: 5 kB\nMemAvailable:   24105 kB\n"), Some(24_105 << 10));
        assert_eq!(meminfo("MemAvailable: many kB\n"), None);
        assert_eq!(group("12:cpu:/x\n0::/a/b\n", Path::new("/g")), Some(PathBuf::from("/g/a/b")));
        assert_eq!(group("12:cpu:/x\n", Path::new("/g")), None);
        assert_eq!(left_by(Path::new("/nowhere/at/all")), None);
    }

    #[test]
    fn uses_the_group_that_leaves_the_least() {
        let root = std::env::temp_dir().join(format!("coldframe-groups-{}", std::process::id()));
        let inner = root.join("a/b");
        fs::create_dir_all(&inner).expect("folders");
        let write = |folder: &Path, limit: &str, used: &str, stat: &str| {
            for (name, text) in [("memory.max", limit), ("memory.current", used), ("memory.stat", stat)] {
                fs::write(folder.join(name), text).expect("a file");
            }
        };
        write(&inner, "max\n", "5\n", "");
        write(&root.join("a"), "1000\n", "700\n", "anon 5\ninactive_file 100\n");
        write(&root, "100000\n", "700\n", "");
        assert_eq!(left_by(&inner), Some(400));
        let _ = fs::remove_dir_all(&root);
    }
}
