//! Opens files for the start of a child: the executable file, and `/dev/null` for unused streams.
//! The first bytes of the executable file select the program that runs. Next:
//! `processes/resolve.rs`, which parses the first bytes.

use super::base;
use super::guard::RequestedOperations;
use super::mounts::OpenFlags;
use super::node::Type;
use super::tree::FileSystem;
use super::view::View;
use super::walk::{FinalLink, MountEnd, PathEnd};
use crate::descriptors::{Description, READ_WRITE, Target};
use crate::permissions::operations::files;
use crate::processes::ProgramKind;
use coldframe_error::Errno;

const EXECUTE: u32 = 1;
/// The number of first bytes that select a file's program, as on Linux.
const HEAD: usize = 256;

/// The facts about an executable file that select its program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExecutableHead {
    /// The first bytes of the file.
    pub(crate) bytes: Vec<u8>,
    /// Whether the file is one of the two command files that raise the effective user.
    pub(crate) raises: bool,
}

impl View<'_> {
    /// Returns the head of an executable file. Fails with `EACCES` if the file is not
    /// regular or not executable.
    pub(crate) fn executable(&self, path: &[u8]) -> Result<ExecutableHead, Errno> {
        let tree = self.lock();
        let (mut head, mut raises) = (vec![0; HEAD], false);
        let count = match self.walk(&tree, path, FinalLink::Follow, RequestedOperations::only(files::EXECUTE))? {
            PathEnd::Memory(end) => {
                let ino = end.existing()?;
                if tree.node(ino)?.kind() != Type::File {
                    return Err(Errno::EACCES);
                }
                tree.check(&self.user, ino, EXECUTE)?;
                raises = base::raises(ino, tree.node(ino)?);
                tree.content(ino)?.read(0, &mut head)?
            }
            PathEnd::Mount(end) => self.read_head(&tree, &end, &mut head)?,
        };
        head.truncate(count);
        self.may_run(&tree, path, ProgramKind::of(&head).as_ref().map(ProgramKind::name))?;
        Ok(ExecutableHead { bytes: head, raises })
    }

    fn read_head(&self, tree: &FileSystem, end: &MountEnd, head: &mut [u8]) -> Result<usize, Errno> {
        let stat = end.stat.ok_or(Errno::ENOENT)?;
        if stat.kind != Type::File || !stat.allows(&self.user, EXECUTE) {
            return Err(Errno::EACCES);
        }
        let how = OpenFlags { read: true, write: false, append: false, truncate: false, create: None };
        tree.mount(end.mount)?.open(end.mount, &end.path, how)?.read(0, head)
    }

    /// Opens `/dev/null` for reading and writing, and counts the open in the inode.
    pub(crate) fn open_null(&self) -> Result<Description, Errno> {
        let mut tree = self.lock();
        let PathEnd::Memory(end) = tree.walk(&self.user, None, b"/dev/null", FinalLink::Follow)? else {
            return Err(Errno::EACCES);
        };
        let ino = end.existing()?;
        tree.hold(ino);
        Ok(Description::new(Target::Device(super::Device::Null, ino), READ_WRITE))
    }
}
