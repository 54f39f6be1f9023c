//! Mounts in snapshots: the mount points and the kinds of mounts. For a restore, the embedder
//! attaches each folder and app file system again.
//!
//! A mount keeps its number in every restored runtime, because locations and overlays refer to
//! mounts by number.
//! Next: `files/snapshot.rs`.

use super::super::app_file_system::App;
use super::super::proc::Proc;
use super::super::snapshot::RestoreContext;
use super::super::walk::{Location, join};
use super::{Mount, Source, plain, trimmed};
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use coldframe_error::Error;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// A mount point and the kind of its mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::fs) struct MountSnapshot {
    pub(in crate::fs) kind: MountKind,
    pub(in crate::fs) parent: Location,
    #[serde(with = "serde_bytes")]
    pub(in crate::fs) name: Box<[u8]>,
    #[serde(with = "serde_bytes")]
    guest_path: Box<[u8]>,
}

/// The kind of a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::fs) enum MountKind {
    Proc,
    /// A folder of the host machine that the guest reads and writes directly.
    Folder,
    /// A folder of the host machine whose changes stay in memory.
    Overlay,
    App,
    /// The library of Python, which needs no mount of the embedder.
    Library,
}

impl Mount {
    /// Returns the options that mount this folder again. Returns `None` for a mount of another
    /// kind.
    pub(in crate::fs) fn folder_options(&self) -> Option<MountOptions> {
        let host_path = OsStr::from_bytes(self.host_path()?).into();
        Some(MountOptions { guest_path: self.guest_path(), host_path, read_only: self.read_only, overlay: self.overlay })
    }

    /// Returns the options that mount this app file system again. Returns `None` for a mount of
    /// another kind.
    pub(in crate::fs) fn app_options(&self) -> Option<FileSystemOptions> {
        let number = self.app()?.number();
        Some(FileSystemOptions { guest_path: self.guest_path(), number, read_only: self.read_only })
    }

    fn guest_path(&self) -> String {
        // The path came from the embedder's options, which are UTF-8.
        String::from_utf8_lossy(&self.guest_path).into_owned()
    }
}

impl MountSnapshot {
    pub(in crate::fs) fn of(mount: &Mount) -> Self {
        let kind = match &mount.source {
            Source::Proc(_) => MountKind::Proc,
            Source::App(_) => MountKind::App,
            Source::Library(_) => MountKind::Library,
            Source::Folder { .. } if mount.overlay => MountKind::Overlay,
            Source::Folder { .. } => MountKind::Folder,
        };
        Self { kind, parent: mount.parent.clone(), name: mount.name.clone(), guest_path: mount.guest_path.clone() }
    }

    fn is_built_in(&self) -> bool {
        matches!(self.kind, MountKind::Proc | MountKind::Library)
    }

    /// Returns whether an option of the embedder mounts this folder or app file system, at
    /// `guest_path`.
    pub(in crate::fs) fn is_at(&self, guest_path: &str) -> bool {
        !self.is_built_in() && *self.guest_path == *trimmed(guest_path)
    }

    /// Restores all mounts of a runtime, in the order of their numbers. Fails if the embedder's
    /// options lack a mount of the snapshot.
    pub(in crate::fs) fn restore_all(snapshots: &[Self], around: &RestoreContext<'_>) -> Result<Vec<Arc<Mount>>, Error> {
        let mounts: Vec<Arc<Mount>> = snapshots.iter().map(|mount| mount.restore(around)).collect::<Result<_, _>>()?;
        for (number, mount) in mounts.iter().enumerate() {
            if let Location::Mount(outer, path) = &mount.parent
                && let Some(outer) = mounts.get(*outer)
            {
                outer.inner.write().push((below(path, &mount.name), number));
            }
        }
        Ok(mounts)
    }

    fn restore(&self, around: &RestoreContext<'_>) -> Result<Arc<Mount>, Error> {
        let (source, read_only) = match self.kind {
            MountKind::Proc => {
                return Ok(Arc::new(Mount::of_proc(Proc::new(around.processes.clone()), self.parent.clone())));
            }
            MountKind::Library => return Ok(around.library.mount()),
            MountKind::Folder | MountKind::Overlay => {
                let given =
                    around.mounts.iter().find(|options| self.is_at(&options.guest_path)).ok_or_else(|| self.lacks("mount"))?;
                if given.overlay != (self.kind == MountKind::Overlay) {
                    let found = if given.overlay { "an overlay" } else { "no overlay" };
                    let needed = if given.overlay { "no overlay" } else { "an overlay" };
                    let path = String::from_utf8_lossy(&self.guest_path);
                    let needed = format!("at {path:?} to be {needed}");
                    return Err(Error::SnapshotForeign { what: "the mount", needed, found: found.to_owned() });
                }
                (Source::folder(given)?, given.read_only || given.overlay)
            }
            MountKind::App => {
                let mut given = around.file_systems.iter();
                let given = given.find(|options| self.is_at(&options.guest_path)).ok_or_else(|| self.lacks("file system"))?;
                (Source::App(App::new(given.number)), given.read_only)
            }
        };
        Ok(Arc::new(Mount {
            source,
            read_only,
            overlay: self.kind == MountKind::Overlay,
            parent: self.parent.clone(),
            name: self.name.clone(),
            guest_path: self.guest_path.clone(),
            inner: coldframe_panics::runtime::RwLock::default(),
        }))
    }

    /// Returns the guest path of the mount. The path of a `/proc` mount is always `/proc`.
    pub(in crate::fs) fn path(&self) -> Vec<u8> {
        if self.kind == MountKind::Proc { b"/proc".to_vec() } else { plain(&self.guest_path) }
    }

    /// Returns whether the guest path is a possible path in the embedder's options.
    pub(in crate::fs) fn has_path(&self) -> bool {
        self.guest_path.first() == Some(&b'/') && std::str::from_utf8(&self.guest_path).is_ok()
    }

    fn lacks(&self, what: &str) -> Error {
        Error::SnapshotLacks { what: what.to_owned(), name: String::from_utf8_lossy(&self.guest_path).into_owned() }
    }
}

/// Returns the path of `name` in a directory of a mount.
pub(super) fn below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { join(directory.to_vec(), name) }
}
