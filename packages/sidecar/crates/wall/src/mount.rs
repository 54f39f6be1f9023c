//! The calls of Linux for mounts. The code uses `libc`: the feature `mount` of rustix would make
//! cargo compile wasmtime, which uses rustix too, again.

use rustix::io::Errno;
use std::ffi::{CStr, CString, c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

/// No set-id bit has an effect, no device can be opened, and no file can be executed or mapped as
/// code.
pub const LOCKED: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC;
/// [`LOCKED`], and nothing can be written.
pub const READ_ONLY: u64 = LOCKED | libc::MOUNT_ATTR_RDONLY;

const OPEN_TREE_CLONE: c_int = 1;
const FSOPEN_CLOEXEC: c_int = 1;
const FSCONFIG_SET_STRING: c_int = 1;
const FSCONFIG_CMD_CREATE: c_int = 6;
const FSMOUNT_CLOEXEC: c_int = 1;
const MOVE_MOUNT_F_EMPTY_PATH: c_int = 4;
const NOTHING: *const libc::c_char = null();

fn check(result: c_long) -> Result<c_long, Errno> {
    if result >= 0 { Ok(result) } else { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}

/// Takes the ownership of a descriptor that a call has made.
fn owned(result: c_long) -> Result<OwnedFd, Errno> {
    let fd = check(result)? as c_int;
    // SAFETY: the call has just made the descriptor, and no other code knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn text(path: &Path) -> Result<CString, Errno> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)
}

/// Ends the propagation of mounts to and from all mounts of the namespace.
pub fn make_private() -> Result<(), Errno> {
    // SAFETY: the path outlives the call, and the other pointers may be null.
    check(unsafe { libc::mount(NOTHING, c"/".as_ptr(), NOTHING, libc::MS_REC | libc::MS_PRIVATE, null()) }.into()).map(drop)
}

/// Clones the mounts at and below a folder, and adds attributes to the clones. The clone's root has
/// no parent, so `..` cannot leave the folder.
pub fn clone(path: &Path, attributes: u64) -> Result<OwnedFd, Errno> {
    let (path, flags) = (text(path)?, OPEN_TREE_CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE);
    // SAFETY: the path outlives the call.
    let tree = owned(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })?;
    set_attributes(&tree, attributes, libc::AT_RECURSIVE)?;
    Ok(tree)
}

/// Adds attributes to a mount, and ends the propagation of mounts to and from the mount. `flags`
/// may be `AT_RECURSIVE`.
pub fn set_attributes(mount: &OwnedFd, attributes: u64, flags: c_int) -> Result<(), Errno> {
    let set = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let (fd, flags, len) = (mount.as_raw_fd(), libc::AT_EMPTY_PATH | flags, size_of::<libc::mount_attr>());
    // SAFETY: the path and the attributes outlive the call, which only reads them.
    check(unsafe { libc::syscall(libc::SYS_mount_setattr, fd, c"".as_ptr(), flags, &raw const set, len) }).map(drop)
}

/// Makes a file system in memory that is not attached to a path.
pub fn memory(size: &CStr, mode: &CStr) -> Result<OwnedFd, Errno> {
    // SAFETY: the text outlives the call.
    let context = owned(unsafe { libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), FSOPEN_CLOEXEC) })?;
    let configure = |command: c_int, key: *const libc::c_char, value: *const libc::c_char| {
        // SAFETY: the texts outlive the call, and the command needs the pointers that are null not.
        check(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), command, key, value, 0) })
    };
    configure(FSCONFIG_SET_STRING, c"size".as_ptr(), size.as_ptr())?;
    configure(FSCONFIG_SET_STRING, c"mode".as_ptr(), mode.as_ptr())?;
    configure(FSCONFIG_CMD_CREATE, NOTHING, NOTHING)?;
    // SAFETY: the call has no pointers.
    owned(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, LOCKED) })
}

/// Attaches a mount at a path below `folder`. Without a folder the path must be absolute.
pub fn attach(mount: &OwnedFd, folder: Option<BorrowedFd<'_>>, path: &Path) -> Result<(), Errno> {
    let (folder, path) = (folder.map_or(libc::AT_FDCWD, |folder| folder.as_raw_fd()), text(path)?);
    let (from, to) = (c"".as_ptr(), path.as_ptr());
    // SAFETY: the paths outlive the call.
    let moved = unsafe { libc::syscall(libc::SYS_move_mount, mount.as_raw_fd(), from, folder, to, MOVE_MOUNT_F_EMPTY_PATH) };
    check(moved).map(drop)
}

/// Detaches the mount at a path.
pub fn detach(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path outlives the call.
    check(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }.into()).map(drop)
}
