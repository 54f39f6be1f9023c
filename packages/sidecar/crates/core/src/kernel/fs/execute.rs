//! What a process is made of: the beginning of an executable file, and `/dev/null` for streams that nobody wants.
//! Next: `kernel/processes/resolve.rs`, which reads the beginning.

use super::host::How;
use super::node::Type;
use super::view::View;
use super::walk::{Last, Side};
use crate::kernel::Errno;
use crate::kernel::descriptors::{Description, READ_WRITE, Target};

const EXECUTE: u32 = 1;
/// As much as Linux looks at.
const HEAD: usize = 256;

impl View<'_> {
    /// The first bytes of a file that may be executed. `EACCES` when it may not, or is no file.
    pub(crate) fn executable(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        if self.stat(path, true)?.kind != Type::File {
            return Err(Errno::EACCES);
        }
        self.access(path, EXECUTE)?;
        let tree = self.lock();
        let mut head = vec![0; HEAD];
        let count = match self.walk(&tree, path, Last::Follow)? {
            Side::Memory(spot) => tree.content(spot.existing()?)?.read(0, &mut head),
            Side::Host(spot) => {
                let how = How { read: true, write: false, append: false, truncate: false, create: None };
                tree.mount(spot.mount)?.open(spot.mount, &spot.path, how)?.read(0, &mut head)?
            }
        };
        head.truncate(count);
        Ok(head)
    }

    /// Opens `/dev/null`, and holds on to its node.
    pub(crate) fn open_null(&self) -> Result<Description, Errno> {
        let mut tree = self.lock();
        let Side::Memory(spot) = self.walk(&tree, b"/dev/null", Last::Follow)? else { return Err(Errno::EACCES) };
        let ino = spot.existing()?;
        tree.hold(ino);
        Ok(Description::new(Target::Device(super::Device::Null, ino), READ_WRITE))
    }
}
