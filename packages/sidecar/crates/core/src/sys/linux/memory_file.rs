//! Files in memory: filled by a save or written through a mapping, then sealed, and part of saved memories from then on.

use super::check_int;
use crate::sys::Run;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// An empty file in memory, which can be sealed.
pub(crate) fn memory_file() -> io::Result<File> {
    // SAFETY: the name is a C string; the descriptor is owned by the File from here on.
    unsafe {
        let fd = libc::memfd_create(c"coldframe".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(std::os::fd::FromRawFd::from_raw_fd(fd))
    }
}

/// Makes a file in memory unchangeable. Fails while it is mapped so that somebody could write to it.
pub(crate) fn seal(file: &File) -> io::Result<()> {
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: the descriptor is the file's; the call touches no memory.
    check_int(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })
}

/// Writes part of a memory to a file. The kernel reads it: where nothing may be read it answers with an error instead of a fault.
///
/// # Safety
/// The range lies inside a reservation that the caller owns, and nobody writes to it meanwhile.
pub(crate) unsafe fn write_out(file: &File, mut offset: u64, mut address: usize, len: usize) -> io::Result<()> {
    let end = address + len;
    while address < end {
        // SAFETY: as the caller promises; `pwrite` only reads the range.
        let written =
            unsafe { libc::pwrite(file.as_raw_fd(), address as *const libc::c_void, end - address, offset as libc::off_t) };
        match usize::try_from(written) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(written) => {
                address += written;
                offset += written as u64;
            }
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// The parts of a file in memory that hold something; between them it was never touched. Sorted, whole pages.
pub(crate) fn touched_parts(file: &File, len: usize) -> io::Result<Vec<Run>> {
    let seek = |from: usize, whence| {
        // SAFETY: the call touches no memory; nobody uses the file's own position.
        let found = unsafe { libc::lseek(file.as_raw_fd(), from as libc::off_t, whence) };
        usize::try_from(found).map_err(|_| io::Error::last_os_error())
    };
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < len {
        let begin = match seek(at, libc::SEEK_DATA) {
            Ok(begin) if begin < len => begin,
            Ok(_) => break,
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => break,
            Err(error) => return Err(error),
        };
        at = seek(begin, libc::SEEK_HOLE)?.min(len);
        parts.push(Run { offset: begin, len: at - begin });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{PAGE, map_private, map_readonly, map_shared, release, reserve};

    #[test]
    fn a_file_that_can_be_written_through_a_mapping_cannot_be_sealed() {
        let file = memory_file().expect("memfd");
        file.set_len(4 * PAGE as u64).expect("length");
        let base = reserve(4 * PAGE).expect("reserve");
        // SAFETY: the test owns the reservation and holds no reference into it.
        unsafe {
            map_shared(base, file.as_raw_fd(), 0, 4 * PAGE).expect("map");
            *((base + PAGE) as *mut u8) = 7;
            assert!(seal(&file).is_err());
            let parts = touched_parts(&file, 4 * PAGE).expect("parts");
            assert_eq!(parts, [Run { offset: PAGE, len: PAGE }]);
            map_private(base, file.as_raw_fd(), 0, 4 * PAGE).expect("map");
            seal(&file).expect("nobody can write any more");
            *((base + PAGE) as *mut u8) = 8;
            assert!(write_out(&file, 0, base, PAGE).is_err());
        }
        let view = map_readonly(file.as_raw_fd(), 0, 4 * PAGE).expect("a sealed file can be read");
        // SAFETY: the view is mapped.
        assert_eq!(unsafe { *((view + PAGE) as *const u8) }, 7);
        // SAFETY: neither is used any more.
        unsafe {
            release(view, 4 * PAGE);
            release(base, 4 * PAGE);
        }
    }
}
