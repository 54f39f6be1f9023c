//! Locks on single bytes of a file. The bytes need not exist.
//!
//! A lock belongs to an open file. A second open file of one process therefore cannot lock the byte
//! either. The system releases the lock when the file is closed or the process ends. fcntl(2)
//! describes the locks under "Open file description locks". The code uses `libc`, because rustix
//! has no call for these locks. Next: `memory_file.rs`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The last byte that can be locked.
pub const LAST_BYTE: u64 = i64::MAX as u64 - 1;

/// Locks a byte of a file that is open for writing. Fails with `WouldBlock` if another open file
/// has the lock.
pub fn lock_byte(file: &File, at: u64) -> io::Result<()> {
    set(file, &region(libc::F_WRLCK, at, 1))
}

/// Releases the lock of a byte.
pub fn unlock_byte(file: &File, at: u64) -> io::Result<()> {
    set(file, &region(libc::F_UNLCK, at, 1))
}

/// Releases all locks of an open file. The call works even if another process has a copy of the
/// descriptor, as every child has between fork and exec.
pub fn unlock_all(file: &File) -> io::Result<()> {
    set(file, &region(libc::F_UNLCK, 0, 0))
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set(file: &File, wanted: &libc::flock) -> io::Result<()> {
    // SAFETY: the descriptor is the file's, and the call only reads `wanted`.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const *wanted) })
}

/// Returns whether another open file has locked a byte.
pub fn is_byte_locked(file: &File, at: u64) -> io::Result<bool> {
    let mut found = region(libc::F_WRLCK, at, 1);
    // SAFETY: the descriptor is the file's. The call reads and writes `found`, which outlives the
    // call.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut found) })?;
    Ok(found.l_type != libc::F_UNLCK as libc::c_short)
}

/// Returns the description of a region for `fcntl`. A `len` of 0 means up to the end of the file.
/// `l_pid` must be 0 for locks that belong to an open file.
fn region(what: libc::c_int, at: u64, len: libc::off_t) -> libc::flock {
    libc::flock {
        l_type: what as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: at.min(LAST_BYTE) as libc::off_t,
        l_len: len,
        l_pid: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_stays_locked_until_it_is_released_or_the_file_is_closed() {
        let path = std::env::temp_dir().join(format!("coldframe-byte-lock-{}", std::process::id()));
        let open = || File::options().create(true).truncate(false).read(true).write(true).open(&path).expect("a file");
        let (one, other) = (open(), open());
        for at in [0, 7, LAST_BYTE] {
            lock_byte(&one, at).expect("free");
            lock_byte(&one, at).expect("its own lock");
            assert!(is_byte_locked(&other, at).expect("known") && !is_byte_locked(&one, at).expect("known"));
            assert_eq!(lock_byte(&other, at).map_err(|error| error.kind()), Err(io::ErrorKind::WouldBlock));
            unlock_byte(&other, at).expect("no lock to release");
            assert!(is_byte_locked(&other, at).expect("known"), "another file has the lock");
        }
        assert!(!is_byte_locked(&other, 6).expect("known"));
        unlock_byte(&one, 7).expect("released");
        assert!(!is_byte_locked(&other, 7).expect("known") && is_byte_locked(&other, 0).expect("known"));
        let copy = one.try_clone().expect("a copy of the descriptor");
        drop(one);
        assert!(is_byte_locked(&other, 0).expect("known"));
        unlock_all(&copy).expect("released");
        assert!(!is_byte_locked(&other, 0).expect("known") && !is_byte_locked(&other, LAST_BYTE).expect("known"));
        std::fs::remove_file(&path).expect("removed");
    }
}
