//! The steps of a path walk inside a mount: a step finds the file of a name or the target of a
//! link. The path walk of all mounts (`../walk.rs`) calls these steps. Next: `files.rs`.

use super::super::node::Type;
use super::super::stat::{DEVICE, Stat};
use super::super::tree::{FileSystem, ROOT};
use super::super::user::{GUEST, NOBODY};
use super::super::walk::{End, FinalLink, Found, Location, Name, join};
use super::{Mount, Source};
use cap_std::fs::{FileTypeExt, Metadata, MetadataExt};
use coldframe_error::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

pub(super) fn path(bytes: &[u8]) -> &Path {
    // The root has an empty path, which system calls do not accept.
    if bytes.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(bytes)) }
}

impl Mount {
    /// Finds the file `name` in the directory `at` of this mount. `number` is the mount's number.
    /// Returns `None` if no such file exists.
    pub(in crate::fs) fn look(&self, number: usize, at: &[u8], name: &[u8]) -> Result<Option<Found>, Errno> {
        let full = if at.is_empty() { name.to_vec() } else { join(at.to_vec(), name) };
        if let Some(inner) = self.inner(&full) {
            return Ok(Some(Found { place: Location::Mount(inner, Vec::new()), kind: Type::Directory, stat: None }));
        }
        match self.stat(number, &full) {
            Ok(stat) => Ok(Some(Found { place: Location::Mount(number, full), kind: stat.kind, stat: Some(stat) })),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Resolves all names of `rest` below `at` in one step on the host machine, beneath the mount's
    /// root. Returns `None` if the step fails or the result needs further steps. The path walk then
    /// continues name by name. Fails with `ENOENT` if the file is missing and the call does not
    /// create a file.
    pub(in crate::fs) fn walk_at_once(
        &self,
        number: usize,
        at: &[u8],
        rest: &[u8],
        last: FinalLink,
    ) -> Result<Option<End>, Errno> {
        let simple = rest.split(|byte| *byte == b'/').all(|part| !part.is_empty() && part != b"." && part != b"..");
        if !simple || self.overlay || self.root().is_err() || !self.inner.read().is_empty() {
            return Ok(None);
        }
        let full = if at.is_empty() { rest.to_vec() } else { join(at.to_vec(), rest) };
        let follows = matches!(last, FinalLink::Follow | FinalLink::Create);
        match self.stat(number, &full) {
            Ok(stat) if stat.kind == Type::Link && follows => Ok(None),
            Ok(stat) => {
                let end = full.iter().rposition(|byte| *byte == b'/');
                let (holder, name) = end.map_or((&[][..], &full[..]), |end| (&full[..end], &full[end + 1..]));
                let (parent, name) = (Location::Mount(number, holder.to_vec()), Name::Plain(name.into()));
                let node = Some(Location::Mount(number, full));
                Ok(Some(End { parent, name, node, slash: false, stat: Some(stat) }))
            }
            // The location of a missing file is needed only by calls that create a file.
            Err(Errno::ENOENT) if matches!(last, FinalLink::Follow | FinalLink::Stay) => Err(Errno::ENOENT),
            Err(_) => Ok(None),
        }
    }

    /// Returns the number of the mount at the path `full` inside this mount.
    pub(super) fn inner(&self, full: &[u8]) -> Option<usize> {
        self.inner.read().iter().find(|(path, _)| path == full).map(|(_, number)| *number)
    }

    /// Returns the names of the mounts directly in the directory `at`.
    pub(super) fn inner_names(&self, at: &[u8]) -> Vec<Vec<u8>> {
        let inner = self.inner.read();
        let below = inner.iter().filter_map(|(path, _)| {
            let rest = if at.is_empty() { &path[..] } else { path.strip_prefix(at)?.strip_prefix(b"/")? };
            (!rest.contains(&b'/')).then(|| rest.to_vec())
        });
        below.collect()
    }

    /// Returns the attributes of a file. A link at the path's end is not followed.
    pub(in crate::fs) fn stat(&self, number: usize, at: &[u8]) -> Result<Stat, Errno> {
        if let Some(proc) = self.proc() {
            return proc.stat(number, at);
        }
        if let Some(app) = self.app() {
            return app.stat(DEVICE + 1 + number as u64, at);
        }
        if self.is_missing_library() {
            return self.stat_of_missing(number, at);
        }
        let root = self.root()?;
        let metadata = if at.is_empty() { root.dir_metadata() } else { root.symlink_metadata(path(at)) };
        Ok(self.stat_of(number, &metadata.map_err(|error| Errno::of(&error))?))
    }

    /// Converts the attributes of a file on the host machine. The guest sees only two owners: the
    /// guest's user and `NOBODY`.
    pub(super) fn stat_of(&self, number: usize, metadata: &Metadata) -> Stat {
        let time =
            |seconds: i64, nanoseconds: i64| seconds.checked_mul(1_000_000_000).and_then(|time| time.checked_add(nanoseconds));
        let birthtime = metadata.created().ok().and_then(|time| time.into_std().duration_since(std::time::UNIX_EPOCH).ok());
        let own = if let Source::Folder { owner, .. } = &self.source { Some(*owner) } else { None };
        let owner = |id: u32| if Some(id) == own { GUEST } else { NOBODY };
        let ctime = super::or_now(time(metadata.ctime(), metadata.ctime_nsec()));
        let stat = Stat {
            dev: DEVICE + 1 + number as u64,
            kind: kind_of(metadata.file_type()),
            mode: metadata.mode() & 0o7777,
            links: metadata.nlink(),
            uid: owner(metadata.uid()),
            gid: owner(metadata.uid()),
            rdev: 0,
            ino: metadata.ino(),
            size: metadata.size(),
            blocks: metadata.blocks(),
            atime: super::or_now(time(metadata.atime(), metadata.atime_nsec())),
            mtime: super::or_now(time(metadata.mtime(), metadata.mtime_nsec())),
            ctime,
            birthtime: birthtime.and_then(|time| i64::try_from(time.as_nanos()).ok()).unwrap_or(ctime),
        };
        if self.is_library() { self.as_library(stat) } else { stat }
    }

    pub(in crate::fs) fn read_link(&self, at: &[u8]) -> Result<Vec<u8>, Errno> {
        if let Some(app) = self.app() {
            return app.read_link(at);
        }
        let target = self.root()?.read_link_contents(path(at)).map_err(|error| Errno::of(&error))?;
        Ok(target.into_os_string().into_vec())
    }
}

pub(super) fn kind_of(file_type: cap_std::fs::FileType) -> Type {
    match file_type {
        kind if kind.is_file() => Type::File,
        kind if kind.is_dir() => Type::Directory,
        kind if kind.is_symlink() => Type::Link,
        kind if kind.is_fifo() => Type::Pipe,
        kind if kind.is_socket() => Type::Socket,
        kind if kind.is_char_device() => Type::Character,
        kind if kind.is_block_device() => Type::Block,
        _ => Type::Unknown,
    }
}

impl FileSystem {
    /// Returns the location and the path with which the path walk continues after a link in a
    /// mount. If the target is inside the mount, the walk continues in the mount. The text of any
    /// other target is compared with the paths of the mounted folders. If a folder contains the
    /// target, the walk continues in that mount. Otherwise the walk fails with `EACCES`, and the
    /// embedder must mount the folder that contains the target.
    pub(in crate::fs) fn follow_on_host(&self, at: Location, number: usize, link: &[u8]) -> Result<(Location, Vec<u8>), Errno> {
        let mount = self.mount(number)?;
        if let Some(proc) = mount.proc() {
            return proc.follow(self, link);
        }
        // If another program has replaced the link by another file, the name counts as removed.
        let to_missing = |error| if error == Errno::EINVAL { Errno::ENOENT } else { error };
        let target = mount.read_link(link).map_err(to_missing)?;
        let holder = link.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |end| &link[..end]);
        let relative = target.first() != Some(&b'/');
        if mount.app().is_some() {
            // The target is a guest path, as for links in memory.
            return Ok((if relative { at } else { Location::Memory(ROOT) }, target));
        }
        if relative && stays_inside(holder, &target) {
            return Ok((at, target));
        }
        if mount.is_library() {
            return Err(Errno::EACCES);
        }
        let base = [mount.host_path().unwrap_or_default(), b"/", holder].concat();
        let wanted = plain(if relative { &base } else { b"" }, &target);
        let inside = |other: &Mount| {
            let host_path = other.host_path()?;
            let rest = wanted.strip_prefix(host_path)?;
            (rest.is_empty() || rest[0] == b'/' || host_path == b"/").then(|| rest.to_vec())
        };
        let candidates = self.mounts.iter().enumerate().filter_map(|(number, other)| Some((number, other, inside(other)?)));
        // If several mounts contain the target, the mount with the longest host path is used.
        let Some((number, _, rest)) = candidates.max_by_key(|(_, other, _)| other.host_path().map_or(0, <[u8]>::len)) else {
            let link = self.path_of(&Location::Mount(number, link.to_vec()))?;
            let (link, target) = (String::from_utf8_lossy(&link), String::from_utf8_lossy(&target));
            let reason = format!(
                "the link '{link}' leads out of its mounted folder, to '{target}': mount the folder that contains the target"
            );
            self.reason.set(reason);
            return Err(Errno::EACCES);
        };
        let rest = rest.iter().copied().skip_while(|byte| *byte == b'/').collect();
        Ok((Location::Mount(number, Vec::new()), rest))
    }
}

/// Returns whether a relative target never leads above the root. The target starts in the directory
/// `holder`.
pub(super) fn stays_inside(holder: &[u8], target: &[u8]) -> bool {
    let mut depth = parts(holder).count();
    for part in parts(target) {
        match part {
            b".." if depth == 0 => return false,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    true
}

/// Appends `target` to `base` and removes `.` and `..`.
fn plain(base: &[u8], target: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in parts(base).chain(parts(target)) {
        if part == b".." {
            kept.pop();
        } else {
            kept.push(part);
        }
    }
    [&b"/"[..], &kept.join(&b'/')].concat()
}

pub(super) fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}
