//! WASI's attributes of files, from the numbers of the kernel's stat calls. Next: `listing.rs`.

/// The bytes that the kernel's calls `stat` and `fstat` write: 18 f64.
pub(super) const KERNEL_LEN: usize = 144;

const DIRECTORY: u32 = 0o040_000;
const CHARACTER_DEVICE: u32 = 0o020_000;
const BLOCK_DEVICE: u32 = 0o060_000;
const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const SOCKET: u32 = 0o140_000;

/// A file's type, with WASI's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FileType {
    /// Also a pipe, for which WASI has no number.
    Unknown = 0,
    BlockDevice = 1,
    CharacterDevice = 2,
    Directory = 3,
    Regular = 4,
    SocketStream = 6,
    Link = 7,
}

impl FileType {
    /// Returns the type in a mode of Linux.
    fn of_mode(mode: u32) -> Self {
        match mode & 0o170_000 {
            DIRECTORY => Self::Directory,
            CHARACTER_DEVICE => Self::CharacterDevice,
            BLOCK_DEVICE => Self::BlockDevice,
            REGULAR => Self::Regular,
            LINK => Self::Link,
            SOCKET => Self::SocketStream,
            _ => Self::Unknown,
        }
    }

    /// Returns the type of a directory entry, from libuv's `UV_DIRENT_*`.
    pub(super) fn of_entry(kind: u8) -> Self {
        match kind {
            1 => Self::Regular,
            2 => Self::Directory,
            3 => Self::Link,
            5 => Self::SocketStream,
            6 => Self::CharacterDevice,
            7 => Self::BlockDevice,
            _ => Self::Unknown,
        }
    }
}

/// The attributes of a file.
pub(super) struct Attributes {
    numbers: [f64; 18],
}

impl Attributes {
    pub(super) fn of(bytes: &[u8; KERNEL_LEN]) -> Self {
        let mut numbers = [0.0; 18];
        for (number, chunk) in numbers.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *number = f64::from_le_bytes(*chunk);
        }
        Self { numbers }
    }

    pub(super) fn file_type(&self) -> FileType {
        FileType::of_mode(self.numbers[1] as u32)
    }

    pub(super) fn size(&self) -> u64 {
        self.numbers[8] as u64
    }

    /// Returns WASI's `filestat`. Times are nanoseconds since 1970, and a time before 1970 is 0.
    pub(super) fn filestat(&self) -> [u8; 64] {
        let time = |index: usize| (self.numbers[index] as u64).saturating_mul(1_000_000_000) + self.numbers[index + 1] as u64;
        let fields = [
            self.numbers[0] as u64,
            self.numbers[7] as u64,
            u64::from(self.file_type() as u8),
            self.numbers[2] as u64,
            self.size(),
            time(10),
            time(12),
            time(14),
        ];
        let mut bytes = [0; 64];
        for (chunk, field) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(fields) {
            *chunk = field.to_le_bytes();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_the_numbers_of_the_kernel() {
        let mut numbers = [0.0; 18];
        numbers[..10].copy_from_slice(&[9.0, f64::from(0o100_644), 2.0, 1_000.0, 1_000.0, 0.0, 4_096.0, 77.0, 12.0, 8.0]);
        numbers[10..].copy_from_slice(&[1.0, 5.0, 2.0, 6.0, -1.0, 7.0, 4.0, 8.0]);
        let mut bytes = [0; KERNEL_LEN];
        for (chunk, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *chunk = f64::to_le_bytes(number);
        }
        let attributes = Attributes::of(&bytes);
        let filestat = attributes.filestat();
        let fields: Vec<u64> = filestat.as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
        assert_eq!(fields, [9, 77, 4, 2, 12, 1_000_000_005, 2_000_000_006, 7]);
    }

    #[test]
    fn knows_the_types_of_modes_and_entries() {
        let modes = [0o040_755, 0o020_666, 0o060_600, 0o100_644, 0o120_777, 0o140_755, 0o010_600];
        let types = modes.map(FileType::of_mode);
        use FileType::{BlockDevice, CharacterDevice, Directory, Link, Regular, SocketStream, Unknown};
        assert_eq!(types, [Directory, CharacterDevice, BlockDevice, Regular, Link, SocketStream, Unknown]);
        let entries = [0, 1, 2, 3, 4, 5, 6, 7].map(FileType::of_entry);
        assert_eq!(entries, [Unknown, Regular, Directory, Link, Unknown, SocketStream, CharacterDevice, BlockDevice]);
    }
}
