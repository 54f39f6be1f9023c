//! Locks on single bytes of a file, which need not exist. They are the open file's, so another one of the same process is refused too, and the system lets go of
//! them when it is closed or its process ends, however it does. See fcntl(2), "Open file description locks".

use super::check_int;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The last byte that can be locked.
pub(crate) const LAST_BYTE: u64 = i64::MAX as u64 - 1;

/// Locks a byte for an open file. Fails with `WouldBlock` when it is another one's. The file is open for writing.
pub(crate) fn lock_byte(file: &File, at: u64) -> io::Result<()> {
    set(file, &region(libc::F_WRLCK, at, 1))
}

/// Lets go of a byte.
pub(crate) fn unlock_byte(file: &File, at: u64) -> io::Result<()> {
    set(file, &region(libc::F_UNLCK, at, 1))
}

/// Lets go of all bytes, also when another process has a copy of the descriptor, as each one has between fork and exec.
pub(crate) fn unlock_all(file: &File) -> io::Result<()> {
    set(file, &region(libc::F_UNLCK, 0, 0))
}

fn set(file: &File, wanted: &libc::flock) -> io::Result<()> {
    // SAFETY: the descriptor is the file's; the call only reads `wanted`.
    check_int(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const *wanted) })
}

/// Whether a byte is locked by another open file.
pub(crate) fn is_byte_locked(file: &File, at: u64) -> io::Result<bool> {
    let mut found = region(libc::F_WRLCK, at, 1);
    // SAFETY: the descriptor is the file's; the call reads and writes `found`, which outlives it.
    check_int(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut found) })?;
    Ok(found.l_type != libc::F_UNLCK as libc::c_short)
}

/// `len` 0 is to the end. The process must be 0 for locks of open files.
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
    fn a_byte_is_locked_until_it_is_let_go_of_or_the_file_is_closed() {
        let path = std::env::temp_dir().join(format!("coldframe-byte-lock-{}", std::process::id()));
        let open = || File::options().create(true).truncate(false).read(true).write(true).open(&path).expect("a file");
        let (one, other) = (open(), open());
        for at in [0, 7, LAST_BYTE] {
            lock_byte(&one, at).expect("free");
            lock_byte(&one, at).expect("it has it");
            assert!(is_byte_locked(&other, at).expect("known") && !is_byte_locked(&one, at).expect("known"));
            assert_eq!(lock_byte(&other, at).map_err(|error| error.kind()), Err(io::ErrorKind::WouldBlock));
            unlock_byte(&other, at).expect("nothing to let go of");
            assert!(is_byte_locked(&other, at).expect("known"), "it was not its own");
        }
        assert!(!is_byte_locked(&other, 6).expect("known"));
        unlock_byte(&one, 7).expect("let go of");
        assert!(!is_byte_locked(&other, 7).expect("known") && is_byte_locked(&other, 0).expect("known"));
        let copy = one.try_clone().expect("a copy of the descriptor");
        drop(one);
        assert!(is_byte_locked(&other, 0).expect("known"));
        unlock_all(&copy).expect("let go of");
        assert!(!is_byte_locked(&other, 0).expect("known") && !is_byte_locked(&other, LAST_BYTE).expect("known"));
        std::fs::remove_file(&path).expect("removed");
    }
}
