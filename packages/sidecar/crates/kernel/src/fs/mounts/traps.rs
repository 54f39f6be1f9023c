//! Links in a writable mount, as the host will see them: a guest must not leave one there that leads out of the folder, for a program of the
//! host to fall into.
//!
//! A link that a guest makes begins with as many `..` as its directory is deep, at most, and has names only after them. So it stays inside
//! whatever its names become: they are directories, or links of the same kind. What it must not do then is come nearer to the root, by
//! itself, by a second name, or with a directory that is moved. Next: `change.rs`.

use super::super::node::Type;
use super::super::walk::HostSpot;
use super::Mount;
use super::walk::{kind_of, parts, path};
use cap_std::fs::Dir;
use coldframe_error::Errno;
use std::os::unix::ffi::OsStringExt;

/// Entries that are looked at when a directory comes nearer to the root.
const MOST_ENTRIES: usize = 20_000;

/// The directory that holds a path.
fn holder(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(&[], |end| &path[..end])
}

/// Whether a target, read from a directory that deep below the root, stays inside whatever lies there.
fn stays(depth: usize, target: &[u8]) -> bool {
    let climbs = parts(target).take_while(|part| *part == b"..").count();
    let is_plain = parts(target).skip(climbs).all(|part| part != b"..");
    target.first() != Some(&b'/') && is_plain && climbs <= depth
}

fn refuse(error: std::io::Error) -> Errno {
    Errno::of(&error)
}

impl Mount {
    /// Whether a link at `at` may lead to `target`; `EACCES`.
    pub(super) fn check_link(&self, at: &[u8], target: &[u8]) -> Result<(), Errno> {
        if stays(parts(holder(at)).count(), target) { Ok(()) } else { Err(Errno::EACCES) }
    }

    /// Whether what lies at `from` may lie at `to` as well, or instead.
    pub(super) fn check_move(&self, from: &HostSpot, to: &[u8]) -> Result<(), Errno> {
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

/// Whether every link below `folder`, which is going to be that deep, stays inside: `EACCES`. With more in it than can be looked at, it is
/// `EXDEV`, and programs copy it.
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
    fn a_link_climbs_no_further_than_it_is_deep_and_then_goes_down_only() {
        for (depth, target) in [(0, "a/b"), (0, "."), (2, "../../a"), (1, "./../a/./b"), (1, "..")] {
            assert!(stays(depth, target.as_bytes()), "{depth} {target}");
        }
        for (depth, target) in [(0, ".."), (1, "../../a"), (9, "/"), (0, "a/../b"), (3, "../a/../.."), (9, "a/..")] {
            assert!(!stays(depth, target.as_bytes()), "{depth} {target}");
        }
    }
}
