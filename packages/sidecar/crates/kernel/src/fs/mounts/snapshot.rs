//! Mounts as values: where something is mounted and what kind of thing it is. The thing itself is the caller's, who brings it again for a copy.
//!
//! A mount has the same number in every copy, because places and overlays name it by that. Next: `files/saved.rs`.

use super::super::app_file_system::App;
use super::super::proc::Proc;
use super::super::snapshot::Surroundings;
use super::super::walk::{Place, join};
use super::{Mount, Source, plain, trimmed};
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use coldframe_error::Error;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::fs) struct MountSnapshot {
    pub(in crate::fs) kind: Kind,
    pub(in crate::fs) parent: Place,
    #[serde(with = "serde_bytes")]
    pub(in crate::fs) name: Box<[u8]>,
    #[serde(with = "serde_bytes")]
    guest_path: Box<[u8]>,
}

/// What is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::fs) enum Kind {
    Proc,
    /// A folder of the host that is as it is there.
    Folder,
    /// ... or is never written.
    Overlay,
    App,
}

impl Mount {
    /// The options that mount the same again, if it is a folder of the host.
    pub(in crate::fs) fn folder_options(&self) -> Option<MountOptions> {
        let host_path = OsStr::from_bytes(self.host_path()?).into();
        Some(MountOptions { guest_path: self.guest_path(), host_path, read_only: self.read_only, overlay: self.overlay })
    }

    /// The same, if it is a file system of the caller's.
    pub(in crate::fs) fn app_options(&self) -> Option<FileSystemOptions> {
        let number = self.app()?.number();
        Some(FileSystemOptions { guest_path: self.guest_path(), number, read_only: self.read_only })
    }

    fn guest_path(&self) -> String {
        // It was text when the caller gave it.
        String::from_utf8_lossy(&self.guest_path).into_owned()
    }
}

impl MountSnapshot {
    pub(in crate::fs) fn of(mount: &Mount) -> Self {
        let kind = match &mount.source {
            Source::Proc(_) => Kind::Proc,
            Source::App(_) => Kind::App,
            Source::Folder { .. } if mount.overlay => Kind::Overlay,
            Source::Folder { .. } => Kind::Folder,
        };
        Self { kind, parent: mount.parent.clone(), name: mount.name.clone(), guest_path: mount.guest_path.clone() }
    }

    /// Whether it was mounted there.
    pub(in crate::fs) fn is_at(&self, guest_path: &str) -> bool {
        self.kind != Kind::Proc && *self.guest_path == *trimmed(guest_path)
    }

    /// All of a runtime, in the order of their numbers.
    pub(in crate::fs) fn revive_all(saved: &[Self], around: &Surroundings<'_>) -> Result<Vec<Arc<Mount>>, Error> {
        let mounts: Vec<Arc<Mount>> = saved.iter().map(|mount| mount.restore(around).map(Arc::new)).collect::<Result<_, _>>()?;
        for (number, mount) in mounts.iter().enumerate() {
            if let Place::There(outer, path) = &mount.parent
                && let Some(outer) = mounts.get(*outer)
            {
                outer.inner.write().push((below(path, &mount.name), number));
            }
        }
        Ok(mounts)
    }

    fn restore(&self, around: &Surroundings<'_>) -> Result<Mount, Error> {
        let (source, read_only) = match self.kind {
            Kind::Proc => return Ok(Mount::of_proc(Proc::new(around.processes.clone()), self.parent.clone())),
            Kind::Folder | Kind::Overlay => {
                let given =
                    around.mounts.iter().find(|options| self.is_at(&options.guest_path)).ok_or_else(|| self.lacks("mount"))?;
                if given.overlay != (self.kind == Kind::Overlay) {
                    let found = if given.overlay { "an overlay" } else { "no overlay" };
                    let needed = if given.overlay { "no overlay" } else { "an overlay" };
                    let path = String::from_utf8_lossy(&self.guest_path);
                    let needed = format!("at {path:?} to be {needed}");
                    return Err(Error::SnapshotForeign { what: "the mount", needed, found: found.to_owned() });
                }
                (Source::folder(given)?, given.read_only || given.overlay)
            }
            Kind::App => {
                let mut given = around.file_systems.iter();
                let given = given.find(|options| self.is_at(&options.guest_path)).ok_or_else(|| self.lacks("file system"))?;
                (Source::App(App::new(given.number)), given.read_only)
            }
        };
        Ok(Mount {
            source,
            read_only,
            overlay: self.kind == Kind::Overlay,
            parent: self.parent.clone(),
            name: self.name.clone(),
            guest_path: self.guest_path.clone(),
            inner: parking_lot::RwLock::default(),
        })
    }

    /// Where it was mounted. `/proc` is nobody's choice.
    pub(in crate::fs) fn path(&self) -> Vec<u8> {
        if self.kind == Kind::Proc { b"/proc".to_vec() } else { plain(&self.guest_path) }
    }

    /// Whether the caller can have said so.
    pub(in crate::fs) fn has_path(&self) -> bool {
        self.guest_path.first() == Some(&b'/') && std::str::from_utf8(&self.guest_path).is_ok()
    }

    fn lacks(&self, what: &str) -> Error {
        Error::SnapshotLacks { what: what.to_owned(), name: String::from_utf8_lossy(&self.guest_path).into_owned() }
    }
}

/// The path of a name in a directory of a mount.
pub(super) fn below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { join(directory.to_vec(), name) }
}
