//! `/proc`: facts about the machine and about processes, in Linux's format.
//!
//! Nothing in `/proc` is stored. Names are looked up in the process table. The text of a file is
//! made when the file is opened. The texts agree with `node:os` and `process` in the guest, and do
//! not depend on the host machine. `/proc` is a mount, so all calls treat `/proc` as a read-only
//! directory. The links under `fd` lead to the open file of a descriptor, as on Linux. Next:
//! `machine.rs`, `process.rs`, `net.rs`, `links.rs`.

mod facts;
mod links;
mod machine;
mod net;
mod process;

pub use facts::Facts;
pub(crate) use facts::ProcessFactsSnapshot;

use super::node::Type;
use super::stat::{DEVICE, Stat};
use super::tree::{FileSystem, now};
use super::user::{Owner, ROOT_USER};
use crate::caller::Caller;
use crate::caller_scope::current_caller;
use crate::ids::Fd;
use crate::net::ListedKind;
use crate::processes::Processes;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use links::Link;
use std::sync::Arc;

/// The `/proc` mount of a runtime.
pub(crate) struct Proc {
    processes: Arc<Processes>,
}

/// The file at a path below `/proc`.
enum ProcEntry {
    Directory(Folder),
    Link(Link),
    Machine(machine::Text),
    Process(Arc<dyn Caller>, process::Text),
    /// A list of sockets.
    Sockets(Arc<dyn Caller>, ListedKind),
    /// An open stream or socket of a process, as the target of a link under `fd`. The path contains
    /// a NUL, so no program can pass the path to a system call.
    Stream(Pid, Fd),
}

enum Folder {
    Root,
    Sys,
    Kernel,
    Random,
    Process(Arc<dyn Caller>),
    /// The directory `net` of a process. All processes of a runtime have equal directories.
    Net,
    Descriptors(Arc<dyn Caller>),
}

/// Parses the decimal number of a process or a descriptor. Fails with `ENOENT` for any other name,
/// for example with leading zeros.
fn number(name: &[u8]) -> Result<u32, Errno> {
    let number: Option<u32> = std::str::from_utf8(name).ok().and_then(|text| text.parse().ok());
    number.filter(|number| number.to_string().as_bytes() == name).ok_or(Errno::ENOENT)
}

fn in_table<T: Copy>(table: &[(&str, T)], name: &[u8]) -> Result<T, Errno> {
    table.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, found)| *found).ok_or(Errno::ENOENT)
}

impl FileSystem {
    /// Returns whether the present work of the calling program must stop. Long operations call this
    /// method regularly.
    pub(super) fn must_stop(&self) -> bool {
        let proc = self.mounts.iter().find_map(|mount| mount.proc());
        let asks = current_caller().and_then(|pid| proc?.processes.program(pid));
        asks.is_some_and(|program| program.must_stop())
    }
}

impl Proc {
    pub(super) fn new(processes: Arc<Processes>) -> Self {
        Self { processes }
    }

    fn program(&self, pid: &[u8]) -> Result<Arc<dyn Caller>, Errno> {
        self.processes.program(Pid::new(number(pid)?)).ok_or(Errno::ENOENT)
    }

    fn entry(&self, at: &[u8]) -> Result<ProcEntry, Errno> {
        let parts: Vec<&[u8]> = at.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
        let folder = |folder| Ok(ProcEntry::Directory(folder));
        match parts[..] {
            [] => folder(Folder::Root),
            [b"sys"] => folder(Folder::Sys),
            [b"sys", b"kernel"] => folder(Folder::Kernel),
            [b"sys", b"kernel", b"random"] => folder(Folder::Random),
            [b"self"] => current_caller().map(|pid| ProcEntry::Link(Link::Own(pid))).ok_or(Errno::ENOENT),
            [b"mounts"] => Ok(ProcEntry::Link(Link::Mounts)),
            [b"net"] => Ok(ProcEntry::Link(Link::Net)),
            [b"sys", b"kernel", name] => in_table(machine::KERNEL, name).map(ProcEntry::Machine),
            [b"sys", b"kernel", b"random", name] => in_table(machine::RANDOM, name).map(ProcEntry::Machine),
            [name] if name.first().is_some_and(u8::is_ascii_digit) => {
                self.program(name).and_then(|program| folder(Folder::Process(program)))
            }
            [name] => in_table(machine::ROOT, name).map(ProcEntry::Machine),
            [pid, b"fd"] => folder(Folder::Descriptors(self.program(pid)?)),
            [pid, b"fd", fd] => {
                let (program, fd) = (self.program(pid)?, Fd::new(number(fd)?));
                let there = program.process().files.descriptors.lock().peek(fd).is_some();
                if there { Ok(ProcEntry::Link(Link::Descriptor(program, fd))) } else { Err(Errno::ENOENT) }
            }
            [pid, b"fd\0", fd] => Ok(ProcEntry::Stream(self.program(pid)?.pid(), Fd::new(number(fd)?))),
            [pid, b"net"] => self.program(pid).and_then(|_| folder(Folder::Net)),
            [pid, b"net", name] => Ok(ProcEntry::Sockets(self.program(pid)?, in_table(net::FILES, name)?)),
            [pid, b"exe"] => self.program(pid).map(|program| ProcEntry::Link(Link::Executable(program))),
            [pid, b"root"] => self.program(pid).map(|program| ProcEntry::Link(Link::Root(program))),
            [pid, b"cwd"] => self.program(pid).map(|program| ProcEntry::Link(Link::Cwd(program))),
            [pid, name] => Ok(ProcEntry::Process(self.program(pid)?, in_table(process::TEXTS, name)?)),
            _ => Err(Errno::ENOENT),
        }
    }

    pub(super) fn stat(&self, mount: usize, at: &[u8]) -> Result<Stat, Errno> {
        let root = Owner::ROOT;
        let (kind, mode, owner) = match self.entry(at)? {
            ProcEntry::Directory(Folder::Process(program)) => (Type::Directory, 0o555, owner_of(&*program)),
            ProcEntry::Directory(Folder::Descriptors(program)) => (Type::Directory, 0o500, owner_of(&*program)),
            ProcEntry::Directory(_) => (Type::Directory, 0o555, root),
            ProcEntry::Link(Link::Own(_) | Link::Mounts | Link::Net) => (Type::Link, 0o777, root),
            ProcEntry::Link(Link::Descriptor(program, _)) => (Type::Link, 0o700, owner_of(&*program)),
            ProcEntry::Link(Link::Executable(program) | Link::Root(program) | Link::Cwd(program)) => {
                (Type::Link, 0o777, owner_of(&*program))
            }
            ProcEntry::Machine(_) | ProcEntry::Sockets(..) => (Type::File, 0o444, root),
            ProcEntry::Process(program, _) if at.ends_with(b"/environ") => (Type::File, 0o400, owner_of(&*program)),
            ProcEntry::Process(program, _) => (Type::File, 0o444, owner_of(&*program)),
            ProcEntry::Stream(pid, fd) => {
                let owner = self.processes.program(pid).map_or(root, |program| owner_of(&*program));
                return Ok(Stat::of_stream(u64::from(pid.get()) << 8 | u64::from(fd.get()), owner, now()));
            }
        };
        let now = now();
        Ok(Stat {
            dev: DEVICE + 1 + mount as u64,
            kind,
            mode,
            links: if kind == Type::Directory { 2 } else { 1 },
            uid: owner.uid,
            gid: owner.gid,
            rdev: 0,
            ino: inode(at),
            size: 0,
            blocks: 0,
            atime: now,
            mtime: now,
            ctime: now,
            birthtime: now,
        })
    }

    /// Returns the names and types of a directory's entries.
    pub(super) fn list(&self, at: &[u8]) -> Result<Vec<(Vec<u8>, Type)>, Errno> {
        let ProcEntry::Directory(folder) = self.entry(at)? else { return Err(Errno::ENOTDIR) };
        let mut names: Vec<(String, Type)> = Vec::new();
        let mut add = |name: &str, kind| names.push((name.to_owned(), kind));
        match folder {
            Folder::Root => {
                self.processes.living().iter().for_each(|pid| add(&pid.to_string(), Type::Directory));
                machine::ROOT.iter().for_each(|(name, _)| add(name, Type::File));
                add("mounts", Type::Link);
                add("net", Type::Link);
                if current_caller().is_some() {
                    add("self", Type::Link);
                }
                add("sys", Type::Directory);
            }
            Folder::Sys => add("kernel", Type::Directory),
            Folder::Kernel => {
                machine::KERNEL.iter().for_each(|(name, _)| add(name, Type::File));
                add("random", Type::Directory);
            }
            Folder::Random => machine::RANDOM.iter().for_each(|(name, _)| add(name, Type::File)),
            Folder::Process(_) => {
                process::TEXTS.iter().for_each(|(name, _)| add(name, Type::File));
                ["cwd", "exe", "root"].iter().for_each(|name| add(name, Type::Link));
                add("fd", Type::Directory);
                add("net", Type::Directory);
            }
            Folder::Net => net::FILES.iter().for_each(|(name, _)| add(name, Type::File)),
            Folder::Descriptors(program) => {
                let open = program.process().files.descriptors.lock().open();
                open.iter().for_each(|fd| add(&fd.to_string(), Type::Link));
            }
        }
        // Callers remove entries from the end of a listing.
        Ok(names.into_iter().rev().map(|(name, kind)| (name.into_bytes(), kind)).collect())
    }

    /// Returns the present text of a file.
    pub(super) fn text(&self, tree: &FileSystem, at: &[u8]) -> Result<Vec<u8>, Errno> {
        match self.entry(at)? {
            ProcEntry::Machine(text) => Ok(text(self, tree).into_bytes()),
            ProcEntry::Process(program, text) => Ok(text(self, tree, &*program)),
            ProcEntry::Sockets(program, kind) => Ok(net::text(self, kind, &*program)),
            ProcEntry::Directory(_) => Err(Errno::EISDIR),
            ProcEntry::Link(_) => Err(Errno::ELOOP),
            ProcEntry::Stream(..) => Err(Errno::EACCES),
        }
    }
}

/// Returns the owner of the files of a process.
fn owner_of(program: &dyn Caller) -> Owner {
    program.process().files.user().owner()
}

/// Fails with `EACCES` if the calling program may not see the open files and the directory of
/// `program`. Only programs of the same user and of `root` may.
fn may_inspect(processes: &Processes, program: &dyn Caller) -> Result<(), Errno> {
    let Some(caller) = current_caller().and_then(|pid| processes.program(pid)) else { return Ok(()) };
    let (own, target) = (owner_of(&*caller).uid, owner_of(program).uid);
    if own == ROOT_USER || own == target { Ok(()) } else { Err(Errno::EACCES) }
}

/// Returns the inode number for a path: a hash, within the integers that a double represents
/// exactly.
fn inode(at: &[u8]) -> u64 {
    let hash = at.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    (hash >> 12) | 1 << 40
}
