//! How much memory the machine can still give this process: what the kernel believes to be available, and what the control groups that it is in
//! (a container, a service) leave it. A few small files, some tens of microseconds: for decisions about many megabytes.

use std::fs;
use std::path::{Path, PathBuf};

/// In bytes; `None` when the system does not say.
pub(crate) fn available_memory() -> Option<u64> {
    let machine = meminfo(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| group(&text, Path::new("/sys/fs/cgroup")));
    Some(group.and_then(|group| left_by(&group)).map_or(machine, |left| machine.min(left)))
}

fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// The folder of this process's group (version 2).
fn group(text: &str, root: &Path) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(root.join(path))
}

/// What a group and those above it leave: the least of the limits less what is in use. Files that could be dropped count as in use, so this is too little rather than
/// too much by what `memory.stat` calls them.
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
    fn this_machine_says_something_between_nothing_and_all() {
        let available = available_memory().expect("Linux says it");
        assert!((1 << 20..1 << 50).contains(&available), "{available}");
    }

    #[test]
    fn what_is_not_there_or_not_understood_is_not_guessed() {
        assert_eq!(meminfo("MemTotal: 5 kB\nMemAvailable:   24105 kB\n"), Some(24_105 << 10));
        assert_eq!(meminfo("MemAvailable: many kB\n"), None);
        assert_eq!(group("12:cpu:/x\n0::/a/b\n", Path::new("/g")), Some(PathBuf::from("/g/a/b")));
        assert_eq!(group("12:cpu:/x\n", Path::new("/g")), None);
        assert_eq!(left_by(Path::new("/nowhere/at/all")), None);
    }

    #[test]
    fn the_narrowest_group_counts() {
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
