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

/// Makes a file in memory unchangeable: nobody can write to it, map it to write to it, or change its length any more. Who has it mapped so must have given that up.
///
/// `F_SEAL_WRITE` would check the latter, but it also waits until nobody in the system uses one of the file's pages, and fails with `EBUSY` when
/// somebody still does after a tenth of a second, as happens on a busy machine that moves pages (`memfd_wait_for_pins` in Linux's mm/memfd.c).
pub(crate) fn seal(file: &File) -> io::Result<()> {
    // Since Linux 5.1.
    let seals = libc::F_SEAL_FUTURE_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
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
    fn a_sealed_file_stays_as_it_was() {
        let file = memory_file().expect("memfd");
        file.set_len(4 * PAGE as u64).expect("length");
        let base = reserve(4 * PAGE).expect("reserve");
        // SAFETY: the test owns the reservation and holds no reference into it.
        unsafe {
            map_shared(base, file.as_raw_fd(), 0, 4 * PAGE).expect("map");
            *((base + PAGE) as *mut u8) = 7;
            map_private(base, file.as_raw_fd(), 0, 4 * PAGE).expect("map");
            seal(&file).expect("nobody writes any more");
            let parts = touched_parts(&file, 4 * PAGE).expect("parts");
            assert_eq!(parts, [Run { offset: PAGE, len: PAGE }]);
            *((base + PAGE) as *mut u8) = 8;
            let refused = [
                write_out(&file, 0, base, PAGE),
                map_shared(base, file.as_raw_fd(), 0, PAGE),
                file.set_len(PAGE as u64),
                file.set_len(8 * PAGE as u64),
            ];
            assert_eq!(refused.map(|it| it.map_err(|error| error.raw_os_error())), [Err(Some(libc::EPERM)); 4]);
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

    #[test]
    fn it_is_sealed_also_while_the_system_uses_its_pages() {
        use std::os::unix::fs::FileExt;
        let file = memory_file().expect("memfd");
        file.write_all_at(&[7; 4 * PAGE], 0).expect("written");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        // SAFETY: no memory is touched. The pages themselves lie in the pipe from now on, as those that a disk or a network card is given, or that are being moved.
        let moved = unsafe {
            libc::splice(file.as_raw_fd(), &mut 0, writer.as_raw_fd(), std::ptr::null_mut(), 4 * PAGE, libc::SPLICE_F_NONBLOCK)
        };
        assert_eq!(moved, 4 * PAGE as isize);
        seal(&file).expect("nobody writes");
        drop((reader, writer));
    }
}
