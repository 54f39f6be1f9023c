//! Checks links in a writable mount. A guest must not create a link that leads out of the folder,
//! because a program of the host machine could follow the link.
//!
//! The target of a guest's link starts with at most as many `..` as the link's directory is deep.
//! All other parts of the target are names. The link therefore stays inside the mount, even if
//! other directories or links replace those names, because every new link is checked too. A link
//! must not move so near to the root that the link leaves the mount. The check applies to a rename,
//! to a second name, and to a rename of the link's directory. Next: `change.rs`.

use super::super::node::Type;
use super::super::walk::MountEnd;
use super::Mount;
use super::walk::{kind_of, parts, path};
use cap_std::fs::Dir;
use coldframe_error::Errno;
use std::os::unix::ffi::OsStringExt;

/// The maximum number of entries that are checked when a directory moves nearer to the root.
const MOST_ENTRIES: usize = 20_000;

/// Returns the path of the directory that contains the path's last name.
fn holder(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(&[], |end| &path[..end])
}

/// Returns whether a link's target stays inside the mount, for any files in the mount. `depth` is
/// the depth of the link's directory below the root.
fn stays(depth: usize, target: &[u8]) -> bool {
    let climbs = parts(target).take_while(|part| *part == b"..").count();
    let is_plain = parts(target).skip(climbs).all(|part| part != b"..");
    target.first() != Some(&b'/') && is_plain && climbs <= depth
}

fn refuse(error: std::io::Error) -> Errno {
    Errno::of(&error)
}

impl Mount {
    /// Fails with `EACCES` if a link at `at` must not lead to `target`.
    pub(super) fn check_link(&self, at: &[u8], target: &[u8]) -> Result<(), Errno> {
        if stays(parts(holder(at)).count(), target) { Ok(()) } else { Err(Errno::EACCES) }
    }

    /// Fails with `EACCES` if the file at `from` must not have the path `to`, because a link would
    /// lead out of the mount.
    pub(super) fn check_move(&self, from: &MountEnd, to: &[u8]) -> Result<(), Errno> {
        let depth = parts(holder(to)).count();
        match from.stat.ok_or(Errno::ENOENT)?.kind {
            Type::Link => self.check_link(to, &self.read_link(&from.path)?),
            Type::Directory if depth < parts(holder(&from.path)).count() => {
                let folder = self.root()?.open_dir(path(&from.path)).map_err(refuse)?;
                check_below(folder, depth + 1)
            }
            _ => Ok(()),
        }
    }
}

/// Fails with `EACCES` if a link below `folder` would lead out of the mount. `depth` is the depth
/// of the folder after its move. Fails with `EXDEV` if the folder has more than [`MOST_ENTRIES`]
/// entries. After `EXDEV`, programs usually copy the folder.
fn check_below(folder: Dir, depth: usize) -> Result<(), Errno> {
    let mut folders = vec![(folder, depth)];
    let mut left = MOST_ENTRIES;
    while let Some((folder, depth)) = folders.pop() {
        for entry in folder.entries().map_err(refuse)? {
            let entry = entry.map_err(refuse)?;
            left = left.checked_sub(1).ok_or(Errno::EXDEV)?;
            match entry.file_type().map_err(refuse).map(kind_of)? {
                Type::Directory => folders.push((entry.open_dir().map_err(refuse)?, depth + 1)),
                Type::Link => {
                    let target = folder.read_link_contents(entry.file_name()).map_err(refuse)?;
                    if !stays(depth, &target.into_os_string().into_vec()) {
                        return Err(Errno::EACCES);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::stays;

    #[test]
    fn a_link_may_climb_its_own_depth_and_then_only_descend() {
        for (depth, target) in [(0, "a/b"), (0, "."), (2, "../../a"), (1, "./../a/./b"), (1, "..")] {
            assert!(stays(depth, target.as_bytes()), "{depth} {target}");
        }
        for (depth, target) in [(0, ".."), (1, "../../a"), (9, "/"), (0, "a/../b"), (3, "../a/../.."), (9, "a/..")] {
            assert!(!stays(depth, target.as_bytes()), "{depth} {target}");
        }
    }
}
