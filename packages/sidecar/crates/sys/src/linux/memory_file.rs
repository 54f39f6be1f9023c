//! Files in memory (memfd). A save fills a file, or a guest writes the file through a mapping. The
//! file is then sealed, so that saved images can share the pages. Next: `page_map.rs`.

use crate::Run;
use rustix::fs::{MemfdFlags, SealFlags, SeekFrom, fcntl_add_seals, memfd_create, seek};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Makes an empty file in memory, which can be sealed.
pub fn memory_file() -> io::Result<File> {
    Ok(memfd_create(c"coldframe", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?.into())
}

/// Seals a file in memory. Afterwards the file cannot be written, mapped for writing, shortened or
/// extended. The caller must have removed all mappings for writing.
///
/// `F_SEAL_WRITE` would check that no mapping for writing exists. But that seal also waits until
/// the system uses no page of the file, and fails with `EBUSY` after a tenth of a second. A busy
/// machine that moves pages can use a page for longer (`memfd_wait_for_pins` in Linux's
/// mm/memfd.c).
pub fn seal(file: &File) -> io::Result<()> {
    // `F_SEAL_FUTURE_WRITE` exists since Linux 5.1.
    let seals = SealFlags::FUTURE_WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    Ok(fcntl_add_seals(file, seals)?)
}

/// Writes `len` bytes at `address` to a file at `offset`. The system's kernel reads the bytes: for
/// an inaccessible range the call fails and does not fault.
///
/// The code uses `libc`, because rustix takes a slice, and a slice of an inaccessible range is
/// undefined behaviour.
///
/// # Safety
/// The range is inside a reservation that the caller owns, and no code writes to the range during
/// the call.
pub unsafe fn write_out(file: &File, mut offset: u64, mut address: usize, len: usize) -> io::Result<()> {
    let end = address + len;
    while address < end {
        // SAFETY: the caller owns the range, and `pwrite` only reads it.
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

/// Returns the parts of the first `len` bytes of a file in memory that contain data. The gaps
/// between the parts were never written. The parts are sorted and consist of whole pages. The call
/// moves the file's own position.
pub fn touched_parts(file: &File, len: usize) -> io::Result<Vec<Run>> {
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < len {
        let begin = match seek(file, SeekFrom::Data(at as u64)) {
            Ok(begin) if begin < len as u64 => begin,
            Ok(_) | Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        at = (seek(file, SeekFrom::Hole(begin))? as usize).min(len);
        parts.push(Run { offset: begin as usize, len: at - begin as usize });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PAGE, map_private, map_readonly, map_shared, release, reserve};
    use std::os::fd::AsFd;

    #[test]
    fn a_sealed_file_stays_unchanged() {
        let file = memory_file().expect("memfd");
        file.set_len(4 * PAGE as u64).expect("length");
        let base = reserve(4 * PAGE).expect("reserve");
        // SAFETY: the test owns the reservation and holds no reference into it.
        unsafe {
            map_shared(base, file.as_fd(), 0, 4 * PAGE).expect("map");
            *((base + PAGE) as *mut u8) = 7;
            map_private(base, file.as_fd(), 0, 4 * PAGE).expect("map");
            seal(&file).expect("no mapping writes");
            let parts = touched_parts(&file, 4 * PAGE).expect("parts");
            assert_eq!(parts, [Run { offset: PAGE, len: PAGE }]);
            *((base + PAGE) as *mut u8) = 8;
            let refused = [
                write_out(&file, 0, base, PAGE),
                map_shared(base, file.as_fd(), 0, PAGE),
                file.set_len(PAGE as u64),
                file.set_len(8 * PAGE as u64),
            ];
            assert_eq!(refused.map(|it| it.map_err(|error| error.raw_os_error())), [Err(Some(libc::EPERM)); 4]);
        }
        let view = map_readonly(file.as_fd(), 0, 4 * PAGE).expect("a sealed file can be read");
        // SAFETY: the view is mapped.
        assert_eq!(unsafe { *((view + PAGE) as *const u8) }, 7);
        // SAFETY: neither mapping is used afterwards.
        unsafe {
            release(view, 4 * PAGE);
            release(base, 4 * PAGE);
        }
    }

    #[test]
    fn a_file_is_sealed_while_the_system_uses_its_pages() {
        use std::os::unix::fs::FileExt;
        let file = memory_file().expect("memfd");
        file.write_all_at(&[7; 4 * PAGE], 0).expect("written");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        // The pipe now refers to the pages themselves, as a disk, a network card or page migration
        // does.
        let flags = rustix::pipe::SpliceFlags::NONBLOCK;
        let moved = rustix::pipe::splice(&file, Some(&mut 0), &writer, None, 4 * PAGE, flags);
        assert_eq!(moved, Ok(4 * PAGE));
        seal(&file).expect("no mapping writes");
        drop((reader, writer));
    }
}
