//! Namespaces of the sidecar. The broker makes them while the sidecar loads its image, and the
//! sidecar joins them.
//!
//! The root of the mount namespace is an empty folder in memory, with the image, Python, the folder
//! of snapshots, and `/proc/self/fd` of the sidecar. No other file of the host machine has a path.
//! To detach the files of the host machine, Linux waits for all processors. The broker does this
//! while the sidecar builds the other parts and greets the embedder. The sidecar then waits for the
//! broker before it reads a request ([`wait_until_detached`]).
//!
//! There are two namespaces that the wall does not make. A network namespace costs half a
//! millisecond, and the filter of system calls refuses every socket. A process cannot move itself
//! into a pid namespace, and no call is left that names another process.

use crate::client::Broker;
use crate::walls::PartName;
use crate::wire;
use crate::{Config, folders, mount};
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, chdir, fchdir, getegid, geteuid, pidfd_open, pivot_root};
use rustix::thread::{
    LinkNameSpaceType, ThreadNameSpaceType, UnshareFlags, move_into_link_name_space, move_into_thread_name_spaces, unshare_unsafe,
};
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// The namespaces: the part, its bit in the broker's first reply, and its flag.
const KINDS: [(PartName, u64, ThreadNameSpaceType); 4] = [
    (PartName::UserNamespace, 1, ThreadNameSpaceType::USER),
    (PartName::MountNamespace, 2, ThreadNameSpaceType::MOUNT),
    (PartName::IpcNamespace, 4, ThreadNameSpaceType::INTER_PROCESS_COMMUNICATION),
    (PartName::UtsNamespace, 8, ThreadNameSpaceType::HOST_NAME_AND_NIS_DOMAIN_NAME),
];
/// The folder at which the files of the host machine are until they are detached. It exists because
/// `/proc/self/fd` is below it.
const OLD_ROOT: &CStr = c"/proc";
const USER: u64 = 1;
const MOUNT: u64 = 2;

/// The parts, each with its result.
pub type Results = Vec<(PartName, Result<(), String>)>;

/// Returns all namespaces as missing parts.
pub fn all_missing(reason: &str) -> Results {
    KINDS.iter().map(|(name, ..)| (*name, Err(reason.to_owned()))).collect()
}

/// Joins the namespaces that the broker has made. Returns an error if the sidecar is in no
/// namespace, and the broker is of no use.
pub fn join(broker: &Broker) -> Result<Results, String> {
    let ready = wire::receive_reply(broker.socket()).map_err(|error| format!("the broker: {error}"))?;
    let reason = String::from_utf8_lossy(&ready.path).into_owned();
    if ready.number == 0 {
        return Err(reason);
    }
    let made = KINDS.iter().filter(|(_, bit, _)| ready.number & bit != 0);
    let flags = made.fold(ThreadNameSpaceType::empty(), |flags, (.., flag)| flags | *flag);
    let pidfd = pidfd_open(broker.pid(), PidfdFlags::empty()).map_err(|error| format!("pidfd_open: {error}"))?;
    move_into_thread_name_spaces(pidfd.as_fd(), flags).map_err(|error| format!("setns: {error}"))?;
    let result = |bit| if ready.number & bit != 0 { Ok(()) } else { Err(reason.clone()) };
    Ok(KINDS.iter().map(|(name, bit, _)| (*name, result(*bit))).collect())
}

/// Waits until the files of the host machine have no path in the mount namespace.
pub fn wait_until_detached(broker: &Broker) -> Result<(), String> {
    let reply = wire::receive_reply(broker.socket()).map_err(|error| format!("the broker: {error}"))?;
    if reply.path.is_empty() { Ok(()) } else { Err(String::from_utf8_lossy(&reply.path).into_owned()) }
}

/// The namespaces that the broker is in, after the sidecar has joined.
pub struct Made {
    /// The bits of the namespaces.
    pub bits: u64,
    /// The reason why namespaces are missing. Empty if none is.
    pub reason: String,
    /// The broker's own mount namespace, with the files of the host machine.
    own: Option<OwnedFd>,
}

impl Made {
    /// Detaches the files of the host machine from the mount namespace. Returns `None` if the
    /// sidecar has no mount namespace.
    pub fn detach_files(&self) -> Option<Result<(), String>> {
        self.own.as_ref().map(|_| mount::detach(OLD_ROOT).map_err(|error| format!("umount: {error}")))
    }

    /// Returns to the broker's own mount namespace. Returns whether the broker may clone mounts.
    pub fn return_to_files(&self) -> bool {
        let back = |own: &OwnedFd| move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Mount));
        self.own.as_ref().is_some_and(|own| back(own).is_ok())
    }
}

/// Makes the namespaces around the calling process. After an error, the process must not be used.
pub fn make(config: &Config, sidecar: u32) -> Result<Made, String> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let most = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    // SAFETY: the flags do not unshare the table of descriptors.
    let unshared = |flags| unsafe { unshare_unsafe(flags) };
    let (mut bits, mut reason) = (15, String::new());
    if let Err(error) = unshared(most | UnshareFlags::NEWUSER) {
        reason = refusal(error);
        unshared(most).map_err(|_| reason.clone())?;
        bits &= !USER;
    } else {
        // Without its own user in the namespace, the process could make no file.
        let own = open("/proc/self", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(|error| format!("/proc: {error}"))?;
        let write = |name: &str, text: &str| {
            let file = openat(&own, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
            let written = file.and_then(|file| rustix::io::write(&file, text.as_bytes()));
            written.map(drop).map_err(|error| format!("/proc/self/{name}: {error}"))
        };
        write("setgroups", "deny")?;
        write("uid_map", &format!("{user} {user} 1"))?;
        write("gid_map", &format!("{group} {group} 1"))?;
    }
    let own = match empty_root(config, sidecar) {
        Ok(own) => Some(own),
        Err(error) => {
            (bits, reason) = (bits & !MOUNT, error);
            None
        }
    };
    Ok(Made { bits, reason, own })
}

fn refusal(error: Errno) -> String {
    let hint = match error {
        Errno::PERM => ": a container or a setting of the system refuses user namespaces",
        Errno::NOSPC => ": user.max_user_namespaces is reached",
        _ => "",
    };
    format!("unshare: {error}{hint}")
}

/// Moves the calling process into a mount namespace with an empty root. Returns the namespace that
/// the process was in.
fn empty_root(config: &Config, sidecar: u32) -> Result<OwnedFd, String> {
    let told = |what: &'static str| move |error: Errno| format!("{what}: {error}");
    mount::make_private().map_err(told("mount"))?;
    let own = open("/proc/self/ns/mnt", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(told("/proc/self/ns/mnt"))?;
    // SAFETY: the flag does not unshare the table of descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.map_err(told("unshare"))?;
    let moved = build(config, sidecar);
    if moved.is_err() {
        // The broker needs the files of the host machine again.
        move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Mount)).map_err(told("setns"))?;
    }
    moved.map(|()| own)
}

fn build(config: &Config, sidecar: u32) -> Result<(), String> {
    let told = |what: &'static str| move |error: Errno| format!("{what}: {error}");
    let mut shown: Vec<(PathBuf, PathBuf, u64)> = vec![
        (config.image.clone(), config.image.clone(), mount::READ_ONLY),
        (PathBuf::from(format!("/proc/{sidecar}/fd")), PathBuf::from("/proc/self/fd"), mount::READ_ONLY),
    ];
    // A missing folder means that Python is not installed, which its first program reports.
    if let Some(python) = config.python.as_ref().filter(|python| python.is_dir()) {
        shown.push((python.clone(), python.clone(), mount::READ_ONLY));
    }
    // A folder that cannot be created cannot be used either, and the first snapshot reports this.
    if let Some(store) = config.store.as_ref().filter(|store| folders::make(store).is_ok()) {
        shown.push((store.clone(), store.clone(), mount::LOCKED));
    }
    // Outer folders are first, because a mount hides what was mounted below its path.
    shown.sort_by_key(|(_, at, _)| at.components().count());
    let mut trees = Vec::new();
    for (from, at, attributes) in shown {
        trees.push((mount::clone(&from, attributes).map_err(|error| format!("{}: {error}", from.display()))?, at));
    }
    let root = mount::memory(c"64k", c"0755").map_err(told("tmpfs"))?;
    mount::attach(&root, None, Path::new("/")).map_err(told("move_mount"))?;
    fchdir(&root).map_err(told("fchdir"))?;
    for (tree, at) in &trees {
        let at = at.strip_prefix("/").map_err(|error| error.to_string())?;
        folders_in(&root, at).map_err(told("mkdir"))?;
        mount::attach(tree, Some(root.as_fd()), at).map_err(told("move_mount"))?;
    }
    mount::set_attributes(&root, mount::READ_ONLY, 0).map_err(told("mount_setattr"))?;
    pivot_root(c".", &OLD_ROOT[1..]).map_err(told("pivot_root"))?;
    chdir("/").map_err(told("chdir"))
}

/// Makes the folders of a relative path.
fn folders_in(root: &OwnedFd, path: &Path) -> Result<(), Errno> {
    let mut at = PathBuf::new();
    for component in path.components().filter(|component| matches!(component, Component::Normal(_))) {
        at.push(component);
        match mkdirat(root, &at, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
