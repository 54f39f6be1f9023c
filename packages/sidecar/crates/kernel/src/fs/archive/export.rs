//! Packs a part of the tree into an archive. The export visits one name after the other while the
//! embedder reads the archive. The tree is not locked between two reads.
//!
//! Programs may therefore change the tree during an export. A file that was removed is left out. A
//! file that became shorter is filled with zeros. Sockets, devices and the directory `/proc` are
//! left out. Every further name of a file becomes a link to the first name. Large ranges without
//! data of files in memory are not stored. Next: `header.rs`.

use super::super::node::Type;
use super::super::open::{self, Opened, PIECE};
use super::super::stat::{DEVICE, Stat};
use super::super::user::Owner;
use super::super::user_attributes::UserAttributes;
use super::super::view::View;
use super::super::walk::{Location, join};
use super::header::{self, Entry};
use super::{BLOCK, padding};
use crate::permissions::operations::files;
use coldframe_error::Errno;
use std::collections::{HashMap, VecDeque};
use tar::EntryType;

const READ_NO_FOLLOW: u32 = 0o400_000;
const DIRECTORY_NO_FOLLOW: u32 = 0o600_000;
const PERMISSIONS: u32 = 0o7777;
/// The device number of `/proc`, which is the first mount.
const PROC: u64 = DEVICE + 1;
/// The minimum number of bytes without data for which a file in memory is stored as a sparse file.
const LARGE_HOLES: u64 = 64 << 10;

/// An archive that is written piece by piece.
pub struct Export {
    levels: Vec<Level>,
    current: Option<Current>,
    out: Vec<u8>,
    /// The name in the archive of each file with several names, by the device and inode numbers.
    linked: HashMap<(u64, u64), Vec<u8>>,
    ended: bool,
}

/// A directory whose names are being packed.
struct Level {
    path: Vec<u8>,
    /// The directory's name in the archive, with a slash at its end. Empty for the exported
    /// directory.
    name: Vec<u8>,
    left: std::vec::IntoIter<Vec<u8>>,
}

/// The file whose data is being packed.
struct Current {
    opened: Opened,
    parts: VecDeque<(u64, u64)>,
    padding: usize,
}

impl Export {
    /// Creates an export of `path`: the contents of a directory, or one file.
    pub(in crate::fs) fn new(view: &View<'_>, path: &[u8]) -> Result<Self, Errno> {
        let path = view.real_path(path)?;
        let levels = if view.stat(&path, false)?.kind == Type::Directory {
            let left = names(view, &path)?.into_iter();
            vec![Level { path, name: Vec::new(), left }]
        } else {
            let cut = path.iter().rposition(|byte| *byte == b'/').ok_or(Errno::EINVAL)?;
            let left = vec![path[cut + 1..].to_vec()].into_iter();
            vec![Level { path: path[..cut.max(1)].to_vec(), name: Vec::new(), left }]
        };
        Ok(Self { levels, current: None, out: Vec::new(), linked: HashMap::new(), ended: false })
    }

    /// Returns at most `most` of the next bytes. Returns no bytes at the end of the archive. An
    /// error contains the path.
    pub(in crate::fs) fn pull(&mut self, view: &View<'_>, most: usize) -> Result<Vec<u8>, (Errno, Vec<u8>)> {
        while self.out.len() < most && !self.ended {
            match self.current.take() {
                Some(current) => self.pull_data(view, current),
                None => self.pull_entry(view)?,
            }
        }
        let rest = self.out.split_off(most.min(self.out.len()));
        Ok(std::mem::replace(&mut self.out, rest))
    }

    /// Closes the file that is being packed. The caller must not read further bytes.
    pub(in crate::fs) fn give_up(&mut self, view: &View<'_>) {
        if let Some(current) = self.current.take() {
            current.opened.release(&mut view.lock());
        }
    }

    fn pull_data(&mut self, view: &View<'_>, mut current: Current) {
        let Some((offset, len)) = current.parts.pop_front() else {
            current.opened.release(&mut view.lock());
            self.out.resize(self.out.len() + current.padding, 0);
            return;
        };
        let wanted = usize::try_from(len).unwrap_or(usize::MAX).min(PIECE);
        let begin = self.out.len();
        self.out.resize(begin + wanted, 0);
        // Bytes that cannot be read are zeros, because the header already has the number of bytes.
        let _ = current.opened.read(&mut view.lock(), offset, &mut self.out[begin..]);
        let left = len - wanted as u64;
        if left > 0 {
            current.parts.push_front((offset + wanted as u64, left));
        }
        self.current = Some(current);
    }

    fn pull_entry(&mut self, view: &View<'_>) -> Result<(), (Errno, Vec<u8>)> {
        let Some(level) = self.levels.last_mut() else {
            header::write_end(&mut self.out);
            self.ended = true;
            return Ok(());
        };
        let Some(name) = level.left.next() else {
            self.levels.pop();
            return Ok(());
        };
        let path = join(level.path.clone(), &name);
        let name = [&level.name[..], &name].concat();
        match self.pack(view, &path, name) {
            // A program has removed the file since its directory was listed.
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err((errno, path)),
        }
    }

    fn pack(&mut self, view: &View<'_>, path: &[u8], mut name: Vec<u8>) -> Result<(), Errno> {
        let stat = view.stat(path, false)?;
        let link = if stat.kind == Type::Link { view.readlink(path)? } else { Vec::new() };
        let attributes = attributes_of(view, path);
        let entry = |kind, path, link, size| Entry {
            kind,
            path,
            link,
            mode: stat.mode & PERMISSIONS,
            owner: Owner { uid: stat.uid, gid: stat.gid },
            mtime: stat.mtime,
            size,
            real_size: None,
            attributes: attributes.clone(),
        };
        match stat.kind {
            Type::Directory if stat.dev == PROC => {}
            Type::Directory => {
                let left = names(view, path)?.into_iter();
                name.push(b'/');
                header::write(&mut self.out, &entry(EntryType::Directory, &name, b"", 0));
                self.levels.push(Level { path: path.to_vec(), name, left });
            }
            Type::Link => header::write(&mut self.out, &entry(EntryType::Symlink, &name, &link, 0)),
            Type::File => {
                let id = (stat.dev, stat.ino);
                if let Some(first) = self.linked.get(&id) {
                    header::write(&mut self.out, &entry(EntryType::Link, &name, first, 0));
                    return Ok(());
                }
                self.begin_file(view, path, &name, &stat, attributes)?;
                if stat.links > 1 {
                    self.linked.insert(id, name);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn begin_file(
        &mut self,
        view: &View<'_>,
        path: &[u8],
        name: &[u8],
        stat: &Stat,
        attributes: UserAttributes,
    ) -> Result<(), Errno> {
        let mut tree = view.lock();
        let opened = open::find(&mut tree, view, path, READ_NO_FOLLOW, 0)?;
        let size = opened.size(&tree)?;
        let parts = match &opened {
            Opened::Memory(ino) => {
                let content = tree.content(*ino)?;
                (size.saturating_sub(content.stored()) >= LARGE_HOLES).then(|| whole_blocks(content.extents(), size))
            }
            Opened::Host(_) => None,
            Opened::Device(..) | Opened::Descriptor(_) | Opened::Directory(_) => return Ok(()),
        };
        opened.hold(&mut tree);
        drop(tree);
        let list = parts.as_deref().map(|parts| list(parts, size)).unwrap_or_default();
        let parts: VecDeque<_> = parts.map_or_else(|| [(0, size)].into_iter().filter(|_| size > 0).collect(), VecDeque::from);
        let stored = list.len() as u64 + parts.iter().map(|(_, len)| len).sum::<u64>();
        let entry = Entry {
            kind: EntryType::Regular,
            path: name,
            link: b"",
            mode: stat.mode & PERMISSIONS,
            owner: Owner { uid: stat.uid, gid: stat.gid },
            mtime: stat.mtime,
            size: stored,
            real_size: (!list.is_empty()).then_some(size),
            attributes,
        };
        header::write(&mut self.out, &entry);
        self.out.extend_from_slice(&list);
        self.current = Some(Current { opened, parts, padding: padding(stored) });
        Ok(())
    }
}

/// Returns the user attributes of a file. A file of a mount has none.
fn attributes_of(view: &View<'_>, path: &[u8]) -> UserAttributes {
    let attributes = view.with_attributes(path, false, files::READ, |_, _, attributes| Ok(attributes.clone()));
    attributes.unwrap_or_default()
}

/// Extends the parts to whole blocks, except a part at the file's end, because GNU tar reads each
/// part in blocks. The extended parts do not overlap.
fn whole_blocks(mut parts: Vec<(u64, u64)>, size: u64) -> Vec<(u64, u64)> {
    for (offset, len) in &mut parts {
        *len = len.next_multiple_of(BLOCK as u64).min(size.saturating_sub(*offset));
    }
    parts
}

/// Returns the list of parts in version 1.0 of GNU's format. The list precedes the data and is
/// padded to whole blocks.
fn list(parts: &[(u64, u64)], size: u64) -> Vec<u8> {
    // An empty part at the end marks the end of the file.
    let mut text = format!("{}\n", parts.len() + 1);
    for (offset, len) in parts.iter().chain([&(size, 0)]) {
        text.push_str(&format!("{offset}\n{len}\n"));
    }
    let mut bytes = text.into_bytes();
    bytes.resize(bytes.len() + padding(bytes.len() as u64), 0);
    bytes
}

/// Returns the names in a directory, sorted, so that equal trees make equal archives.
fn names(view: &View<'_>, path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let mut tree = view.lock();
    let Opened::Directory(place) = open::find(&mut tree, view, path, DIRECTORY_NO_FOLLOW, 0)? else { return Err(Errno::ENOTDIR) };
    let mut listing = match &place {
        Location::Memory(ino) => match tree.merged(*ino)? {
            Some(listing) => listing,
            None => return tree.directory(*ino)?.names.after(None).map(|entry| entry.map(|(name, _)| name.to_vec())).collect(),
        },
        Location::Mount(mount, path) => tree.mount(*mount)?.list(path)?,
    };
    drop(tree);
    let mut names = Vec::new();
    while let Some((name, _)) = listing.next()? {
        names.push(name);
    }
    names.sort();
    Ok(names)
}
