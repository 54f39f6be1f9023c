//! What a process is made of: the beginning of an executable file, and `/dev/null` for streams that nobody wants.
//! Next: `kernel/processes/resolve.rs`, which reads the beginning.

use super::guard::Wanted;
use super::mounts::How;
use super::node::Type;
use super::tree::FileSystem;
use super::view::View;
use super::walk::{HostSpot, Last, Side};
use crate::descriptors::{Description, READ_WRITE, Target};
use crate::permissions::operations::files;
use crate::processes::ProgramKind;
use coldframe_error::Errno;

const EXECUTE: u32 = 1;
/// As much as Linux looks at.
const HEAD: usize = 256;

impl View<'_> {
    /// The first bytes of a file that may be executed. `EACCES` when it may not, or is no file.
    pub(crate) fn executable(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let tree = self.lock();
        let mut head = vec![0; HEAD];
        let count = match self.walk(&tree, path, Last::Follow, Wanted::only(files::EXECUTE))? {
            Side::Memory(spot) => {
                let ino = spot.existing()?;
                if tree.node(ino)?.kind() != Type::File {
                    return Err(Errno::EACCES);
                }
                tree.check(self.user, ino, EXECUTE)?;
                tree.content(ino)?.read(0, &mut head)
            }
            Side::Host(spot) => self.beginning(&tree, &spot, &mut head)?,
        };
        head.truncate(count);
        self.may_run(&tree, path, ProgramKind::of(&head).as_ref().map(ProgramKind::name))?;
        Ok(head)
    }

    fn beginning(&self, tree: &FileSystem, spot: &HostSpot, head: &mut [u8]) -> Result<usize, Errno> {
        let stat = spot.stat.ok_or(Errno::ENOENT)?;
        if stat.kind != Type::File || !stat.allows(self.user, EXECUTE) {
            return Err(Errno::EACCES);
        }
        let how = How { read: true, write: false, append: false, truncate: false, create: None };
        tree.mount(spot.mount)?.open(spot.mount, &spot.path, how)?.read(0, head)
    }

    /// Opens `/dev/null`, and holds on to its node.
    pub(crate) fn open_null(&self) -> Result<Description, Errno> {
        let mut tree = self.lock();
        let Side::Memory(spot) = tree.walk(self.user, None, b"/dev/null", Last::Follow)? else { return Err(Errno::EACCES) };
        let ino = spot.existing()?;
        tree.hold(ino);
        Ok(Description::new(Target::Device(super::Device::Null, ino), READ_WRITE))
    }
}
