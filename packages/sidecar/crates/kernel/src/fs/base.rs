//! The base tree: the directories and small files that programs expect on a Linux machine. Every
//! new runtime starts with this tree.
//!
//! The tree is built once per process. A new runtime's clone of the tree copies a few words. The
//! tree contains nothing about the host machine and is equal in every process. A snapshot file
//! therefore stores only the differences from the tree (`snapshot/record.rs`). Next: `tree.rs`.

use super::content::Content;
use super::mounts::{LIBRARY, LIBRARY_PATH, Library, Mount};
use super::node::{Body, Device, Directory, Ino, Node};
use super::proc::Proc;
use super::tree::{Dense, FileSystem, ROOT, Space};
use super::user::{GUEST, Owner, ROOT_USER};
use super::walk::Location;
use crate::processes::{MAGIC, Processes};
use crate::usage::Usage;
use rpds::HashTrieMapSync;
use std::sync::{Arc, LazyLock};

/// The owner `root`, and the group of the user `user`.
const GROUP_OF_USER: Owner = Owner { uid: ROOT_USER, gid: GUEST };

const DIRECTORIES: &[(&str, u32, Owner)] = &[
    ("/bin", 0o755, Owner::ROOT),
    ("/dev", 0o755, Owner::ROOT),
    ("/dev/pts", 0o755, Owner::ROOT),
    ("/dev/shm", 0o1777, Owner::ROOT),
    ("/etc", 0o755, Owner::ROOT),
    ("/home", 0o755, Owner::ROOT),
    ("/home/user", 0o755, Owner::GUEST),
    ("/opt", 0o755, Owner::ROOT),
    ("/root", 0o755, Owner::ROOT),
    ("/run", 0o755, Owner::ROOT),
    ("/tmp", 0o1777, Owner::ROOT),
    ("/usr", 0o755, Owner::ROOT),
    ("/usr/bin", 0o755, Owner::ROOT),
    ("/usr/lib", 0o755, Owner::ROOT),
    // `pip install` of the user `user` writes to the folders of `user` and to these two. The sticky
    // bit keeps the files of `root`, such as `node`, from being replaced. Other users may not write
    // here, because the directory is in the PATH of `root`.
    ("/usr/local", 0o1775, GROUP_OF_USER),
    ("/usr/local/bin", 0o1775, GROUP_OF_USER),
    ("/usr/local/lib", 0o755, Owner::ROOT),
    ("/usr/local/lib/python3.13", 0o755, Owner::ROOT),
    ("/usr/local/lib/python3.13/site-packages", 0o755, Owner::GUEST),
    ("/var", 0o755, Owner::ROOT),
    ("/var/tmp", 0o1777, Owner::ROOT),
    ("/workspace", 0o755, Owner::GUEST),
];

const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\n\
    nobody:x:65534:65534:nobody:/:/bin/sh\n";

const FILES: &[(&str, &str)] = &[
    ("/etc/passwd", PASSWD),
    ("/etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"),
    ("/etc/hostname", "coldframe\n"),
    ("/etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.0.1\tcoldframe\n"),
    ("/etc/resolv.conf", ""),
    ("/etc/nsswitch.conf", "hosts: files dns\n"),
    ("/etc/shells", "/bin/sh\n/bin/bash\n"),
    ("/etc/pip.conf", PIP_CONFIGURATION),
    ("/etc/os-release", "NAME=\"Coldframe\"\nID=coldframe\nID_LIKE=linux\nPRETTY_NAME=\"Coldframe\"\n"),
];

/// The paths of program files, with the programs' names in `processes/resolve.rs`.
const PROGRAMS: &[(&str, &str)] = &[("/usr/local/bin/node", "node"), ("/usr/bin/env", "env"), ("/usr/bin/python3", "python")];

/// Executable files with text.
const SCRIPTS: &[(&str, &str)] = &[("/usr/bin/pip3", PIP)];

const PIP: &str = "#!/usr/bin/python3\nimport runpy\nrunpy.run_module('pip', run_name='__main__', alter_sys=True)\n";

/// The commands that start with the effective user 0. The files have the set-user-id bit.
const RAISING: [&str; 2] = ["su", "sudo"];

/// The commands of the shell's image (`packages/runner/shell`). Each command has a file in `/bin`
/// and a link in `/usr/bin`.
const COMMANDS: &str = "[ arch awk base64 basename bash cat chgrp chmod chown clear cmp column comm cp curl cut date dd df \
    diff dirname du echo egrep expand expr false fgrep file find fold free getent getfattr grep groups gunzip gzip head hexdump \
    hostname id install join jq kill killall less ln logname ls md5sum mkdir mktemp more mv nc netstat nice nl nohup nproc od \
    paste pgrep pidof pkill printenv printf ps pwd readlink realpath reset rev rg rm rmdir sed seq setfattr setsid sh sha1sum \
    sha256sum shuf sleep sort split ss stat strings stty su sudo sync tac tail tar tee test timeout touch tput tr tree true \
    truncate tty uname unexpand uniq uptime wc wget which whoami xargs xxd yes zcat";

const DEVICES: &[(&str, Device)] = &[
    ("/dev/null", Device::Null),
    ("/dev/zero", Device::Zero),
    ("/dev/full", Device::Full),
    ("/dev/random", Device::Random),
    ("/dev/urandom", Device::Random),
    ("/dev/tty", Device::Tty),
    ("/dev/ptmx", Device::TerminalMaker),
];

const LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/etc/mtab", "/proc/self/mounts"),
    ("/usr/lib/os-release", "/etc/os-release"),
    ("/usr/bin/python", "python3"),
    ("/usr/bin/python3.13", "python3"),
    ("/usr/bin/pip", "pip3"),
];

/// The defaults of pip. A variable `PIP_*` or the user's own file replaces a default.
const PIP_CONFIGURATION: &str = "# No compiler is part of the sandbox, so pip installs wheels only.\n\
    # A progress bar needs a thread beside the program.\n\
    [global]\nonly-binary = :all:\nretries = 1\nprogress-bar = off\nno-cache-dir = true\n\
    disable-pip-version-check = true\nroot-user-action = ignore\n";

const SET_USER: u32 = 0o4000;

/// The index of `/proc` in the table of mounts.
const PROC: usize = 0;

/// The times of all files of the tree: 2026-01-01T00:00:00Z, in nanoseconds.
pub(super) const MADE: i64 = 1_767_225_600_000_000_000;

static BASE: LazyLock<FileSystem> = LazyLock::new(build);

static UNCOUNTED: LazyLock<Space> = LazyLock::new(|| BASE.nodes.values().fold(Space { bytes: 0, inodes: 0 }, Space::plus));

/// Returns the space of the tree, which does not count for a runtime's limits.
pub(super) fn uncounted() -> Space {
    *UNCOUNTED
}

/// Returns the inodes of the tree. A runtime shares each inode until the runtime changes the inode.
pub(super) fn nodes() -> &'static HashTrieMapSync<Ino, Node, Dense> {
    &BASE.nodes
}

/// Returns whether an executable file raises the effective user. Only two files of this tree do so,
/// with their first content, their owner and their set-user-id bit. A file that a guest has written
/// is another inode or has other content, so its set-user-id bit has no effect.
pub(super) fn raises(ino: Ino, node: &Node) -> bool {
    if node.meta.mode & SET_USER == 0 || node.meta.uid != ROOT_USER {
        return false;
    }
    let Some(Node { meta, body: Body::File(first), .. }) = BASE.nodes.get(&ino) else { return false };
    let Body::File(content) = &node.body else { return false };
    meta.mode & SET_USER != 0 && content.len() == first.len() && content.chunks().eq(first.chunks())
}

/// Returns the directory and the name of the mount point of Python's library.
pub(super) fn library_place() -> (Ino, &'static [u8]) {
    let (holder, name) = LIBRARY_PATH.rsplit_once('/').unwrap_or_default();
    (find(&BASE, holder), name.as_bytes())
}

/// Returns a filesystem with only the base tree. The filesystem's `/proc` shows `processes`.
pub(crate) fn base(limits: Space, processes: Arc<Processes>, usage: Arc<Usage>, library: &Library) -> FileSystem {
    let mut made = BASE.clone();
    (made.limits, made.usage) = (limits, usage);
    made.mounts = vec![Arc::new(Mount::of_proc(Proc::new(processes), Location::Memory(ROOT))), library.mount()];
    made
}

fn build() -> FileSystem {
    let mut tree = FileSystem::new(Space { bytes: u64::MAX, inodes: u64::MAX });
    let mut put = |path: &str, body: Body, mode: u32, owner: Owner| {
        let (holder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = find(&tree, holder);
        let body = if matches!(body, Body::Directory(_)) { Body::Directory(Directory::new()) } else { body };
        let is_directory = matches!(body, Body::Directory(_) | Body::Mount(_));
        // The tables above are constants and the space is not limited, so these calls cannot fail.
        let Ok(ino) = tree.add(body, mode, owner) else { return };
        let _ = tree.enter(parent, name.as_bytes(), ino);
        if let (true, Ok(parent)) = (is_directory, tree.node_mut(parent)) {
            parent.meta.links += 1;
        }
    };
    for (path, mode, owner) in DIRECTORIES {
        put(path, Body::Directory(Directory::new()), *mode, *owner);
    }
    put("/proc", Body::Mount(PROC), 0o555, Owner::ROOT);
    put(LIBRARY_PATH, Body::Mount(LIBRARY), 0o555, Owner::ROOT);
    for (path, text) in FILES {
        put(path, Body::File(Content::of(text.as_bytes())), 0o644, Owner::ROOT);
    }
    for (path, name) in PROGRAMS {
        let content = Content::of(&[MAGIC, name.as_bytes(), b"\n"].concat());
        put(path, Body::File(content), 0o755, Owner::ROOT);
    }
    for (path, text) in SCRIPTS {
        put(path, Body::File(Content::of(text.as_bytes())), 0o755, Owner::ROOT);
    }
    for name in COMMANDS.split_whitespace() {
        let content = Content::of(&[MAGIC, b"shell ", name.as_bytes(), b"\n"].concat());
        let mode = if RAISING.contains(&name) { 0o755 | SET_USER } else { 0o755 };
        put(&format!("/bin/{name}"), Body::File(content), mode, Owner::ROOT);
        let target: Arc<[u8]> = Arc::from(format!("/bin/{name}").as_bytes());
        put(&format!("/usr/bin/{name}"), Body::Link(target), 0o777, Owner::ROOT);
    }
    for (path, device) in DEVICES {
        put(path, Body::Device(*device), 0o666, Owner::ROOT);
    }
    for (path, target) in LINKS {
        put(path, Body::Link(Arc::from(target.as_bytes())), 0o777, Owner::ROOT);
    }
    let mut next = ROOT;
    while next <= tree.last {
        let ino = next;
        next = ino.next();
        if let Ok(Node { meta, .. }) = tree.node_mut(ino) {
            (meta.atime, meta.mtime, meta.ctime, meta.birthtime) = (MADE, MADE, MADE, MADE);
        }
    }
    (tree.used, tree.marks) = (Space { bytes: 0, inodes: 0 }, Default::default());
    tree
}

fn find(tree: &FileSystem, path: &str) -> Ino {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.fold(ROOT, |at, name| {
        tree.directory(at).ok().and_then(|directory| directory.names.get(name.as_bytes()).ok().flatten()).unwrap_or(ROOT)
    })
}

#[cfg(test)]
mod tests {
    use super::super::user::User;
    use super::super::walk::{FinalLink, MemoryEnd, PathEnd};
    use super::*;

    fn end_of(tree: &FileSystem, path: &str) -> MemoryEnd {
        match tree.walk(&User::GUEST, None, path.as_bytes(), FinalLink::Stay).expect(path) {
            PathEnd::Memory(end) => end,
            PathEnd::Mount(_) => panic!("nothing is mounted"),
        }
    }

    #[test]
    fn contains_every_path_of_its_tables() {
        let tree =
            base(Space { bytes: 0, inodes: 0 }, Arc::new(Processes::new(Arc::default())), Arc::default(), Library::missing());
        let paths =
            DIRECTORIES.iter().map(|entry| entry.0).chain(FILES.iter().chain(PROGRAMS).chain(SCRIPTS).map(|entry| entry.0));
        for path in paths.chain(DEVICES.iter().map(|entry| entry.0)).chain(LINKS.iter().map(|entry| entry.0)) {
            assert!(end_of(&tree, path).node.is_some(), "{path}");
        }
        assert_eq!((tree.used.bytes, tree.used.inodes), (0, 0));
    }

    #[test]
    fn a_clone_does_not_see_the_changes_of_another_clone() {
        let made = || {
            base(Space { bytes: 10, inodes: 10 }, Arc::new(Processes::new(Arc::default())), Arc::default(), Library::missing())
        };
        let (mut one, other) = (made(), made());
        let place = end_of(&one, "/tmp/a");
        one.create(&User::GUEST, &place, Body::File(Content::new()), 0o644).expect("made");
        assert!(end_of(&other, "/tmp/a").node.is_none());
    }
}
