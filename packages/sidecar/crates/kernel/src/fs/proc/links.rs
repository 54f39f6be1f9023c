//! The links of `/proc`: their texts and their targets. A descriptor's link leads to the open file,
//! even if the file was renamed or has no name. Next: `facts.rs`.

use super::{Proc, ProcEntry, may_inspect};
use crate::caller::Caller;
use crate::caller_scope::current_caller;
use crate::descriptors::Target;
use crate::fs::node::Ino;
use crate::fs::tree::{FileSystem, ROOT};
use crate::fs::walk::{Location, join};
use crate::ids::Fd;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::sync::Arc;

pub(super) enum Link {
    /// The link `self`, which leads to the directory of the calling process.
    Own(Pid),
    Mounts,
    /// The link `net`, which leads to the directory of the calling process.
    Net,
    Executable(Arc<dyn Caller>),
    Root(Arc<dyn Caller>),
    Cwd(Arc<dyn Caller>),
    Descriptor(Arc<dyn Caller>, Fd),
}

impl Proc {
    fn link(&self, at: &[u8]) -> Result<Link, Errno> {
        if let ProcEntry::Link(link) = self.entry(at)? { Ok(link) } else { Err(Errno::EINVAL) }
    }

    /// Returns the text of a link. Fails with `EINVAL` if the file at `at` is no link.
    pub(in crate::fs) fn read_link(&self, tree: &FileSystem, at: &[u8]) -> Result<Vec<u8>, Errno> {
        match self.link(at)? {
            Link::Own(pid) => Ok(pid.to_string().into_bytes()),
            Link::Mounts => Ok(b"self/mounts".to_vec()),
            Link::Net => Ok(b"self/net".to_vec()),
            Link::Executable(program) => Ok(program.process().facts.executable().into_bytes()),
            Link::Root(_) => Ok(b"/".to_vec()),
            Link::Cwd(program) => {
                may_inspect(&self.processes, &*program)?;
                program.process().files.getcwd(tree)
            }
            Link::Descriptor(program, fd) => {
                may_inspect(&self.processes, &*program)?;
                let descriptors = program.process().files.descriptors.lock();
                match &descriptors.peek(fd).ok_or(Errno::ENOENT)?.target {
                    Target::Stream { owner, fd, .. } => {
                        Ok(format!("pipe:[{}]", (u64::from(owner.get()) << 8) + u64::from(*fd)).into_bytes())
                    }
                    Target::Socket(id) => Ok(match program.process().kernel.sockets.terminal_number(*id) {
                        Some(number) => format!("/dev/pts/{number}").into_bytes(),
                        None => format!("socket:[{id}]").into_bytes(),
                    }),
                    Target::File(ino) | Target::Device(_, ino) => path_of_file(tree, *ino),
                    Target::Directory(place) => tree.path_of(place),
                    Target::Host(file) => tree.path_of(&Location::Mount(file.number, file.path.clone())),
                    Target::Lost => Err(Errno::EIO),
                }
            }
        }
    }

    /// Returns the target of a link: a location, and a path that starts at the location.
    pub(in crate::fs) fn follow(&self, tree: &FileSystem, at: &[u8]) -> Result<(Location, Vec<u8>), Errno> {
        let place = match self.link(at)? {
            Link::Cwd(program) => {
                may_inspect(&self.processes, &*program)?;
                program.process().files.working_directory().ok_or(Errno::ENOENT)?
            }
            Link::Descriptor(program, fd) => {
                may_inspect(&self.processes, &*program)?;
                let descriptors = program.process().files.descriptors.lock();
                match &descriptors.peek(fd).ok_or(Errno::ENOENT)?.target {
                    Target::Stream { .. } | Target::Socket(_) => Location::Mount(
                        self.mount_number(tree)?,
                        [format!("{}/fd", program.pid()).as_bytes(), b"\0/", fd.to_string().as_bytes()].concat(),
                    ),
                    Target::File(ino) | Target::Device(_, ino) => Location::Memory(*ino),
                    Target::Directory(place) => place.clone(),
                    Target::Host(file) => Location::Mount(file.number, file.path.clone()),
                    Target::Lost => return Err(Errno::EIO),
                }
            }
            Link::Executable(_) | Link::Root(_) => return Ok((Location::Memory(ROOT), self.read_link(tree, at)?)),
            Link::Own(_) | Link::Mounts | Link::Net => {
                return Ok((Location::Mount(self.mount_number(tree)?, Vec::new()), self.read_link(tree, at)?));
            }
        };
        Ok((place, Vec::new()))
    }

    /// Returns the descriptor of a path that [`Proc::follow`] made, or `None` for any other path.
    /// Fails with `EACCES` for a descriptor of another process.
    pub(in crate::fs) fn own_stream(&self, at: &[u8]) -> Result<Option<Fd>, Errno> {
        match self.entry(at)? {
            ProcEntry::Stream(pid, fd) if current_caller() == Some(pid) => Ok(Some(fd)),
            ProcEntry::Stream(..) => Err(Errno::EACCES),
            _ => Ok(None),
        }
    }

    fn mount_number(&self, tree: &FileSystem) -> Result<usize, Errno> {
        tree.mounts.iter().position(|mount| mount.proc().is_some()).ok_or(Errno::ENOENT)
    }
}

fn path_of_file(tree: &FileSystem, ino: Ino) -> Result<Vec<u8>, Errno> {
    let node = tree.node(ino)?;
    if node.meta.links == 0 {
        // If the directory was removed too, the path is the file's last name below the root.
        let mut path = match tree.path_of(&Location::Memory(node.parent()?)) {
            Err(Errno::ENOENT) => b"/".to_vec(),
            found => found?,
        };
        path = join(path, &node.name);
        path.extend_from_slice(b" (deleted)");
        return Ok(path);
    }
    tree.path_of(&Location::Memory(ino))
}
