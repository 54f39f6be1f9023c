//! Where the store is, and how much it may hold.

use std::path::PathBuf;

/// Bytes on disk, unless told otherwise.
const MAX_BYTES: u64 = 16 << 30;

/// Options of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// The folder. `None`: `coldframe/snapshots` in `$XDG_DATA_HOME` or `~/.local/share`.
    pub directory: Option<PathBuf>,
    /// Bytes that all files together may have.
    pub max_bytes: u64,
    /// Bytes that all snapshots in memory may hold beyond the image.
    pub memory_bytes: u64,
}

impl Default for StoreOptions {
    /// 16 GiB on disk, and a quarter of the machine's memory.
    fn default() -> Self {
        Self { directory: None, max_bytes: MAX_BYTES, memory_bytes: machine_bytes() / 4 }
    }
}

impl StoreOptions {
    /// The folder that is meant.
    pub(super) fn folder(&self) -> PathBuf {
        let data = || {
            // A path that depends on where the process was started would be another one tomorrow.
            let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
            absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        };
        let chosen = self.directory.clone().or_else(|| data().map(|data| data.join("coldframe/snapshots")));
        // Nobody's home: as a daemon has it. Using it fails with this path.
        chosen.unwrap_or_else(|| PathBuf::from("/nonexistent/coldframe/snapshots"))
    }
}

fn machine_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit.max(1)))
}
