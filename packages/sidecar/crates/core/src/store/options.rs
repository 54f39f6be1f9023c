//! The options of a store: its folder and its capacity. Next: `layered_store.rs`.

use std::path::PathBuf;

/// The default of [`StoreOptions::max_bytes`].
const MAX_BYTES: u64 = 16 << 30;

/// Options of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// The folder. `None` means `coldframe/snapshots` in `$XDG_DATA_HOME` or `~/.local/share`.
    pub directory: Option<PathBuf>,
    /// The largest number of bytes of all files together.
    pub max_bytes: u64,
    /// The largest number of bytes of all snapshots in memory together. Bytes of the image do not
    /// count.
    pub memory_bytes: u64,
}

impl Default for StoreOptions {
    /// Returns 16 GiB on disk, and a quarter of the machine's memory.
    fn default() -> Self {
        Self { directory: None, max_bytes: MAX_BYTES, memory_bytes: machine_bytes() / 4 }
    }
}

impl StoreOptions {
    /// Returns `directory`, or the default folder.
    pub(super) fn folder(&self) -> PathBuf {
        let data = || {
            // A relative path is ignored, because it would name another folder after a start in
            // another directory.
            let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
            absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        };
        let chosen = self.directory.clone().or_else(|| data().map(|data| data.join("coldframe/snapshots")));
        // A process may have no home directory. Every use of this path fails with an error that
        // names the path.
        chosen.unwrap_or_else(|| PathBuf::from("/nonexistent/coldframe/snapshots"))
    }
}

fn machine_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit.max(1)))
}
