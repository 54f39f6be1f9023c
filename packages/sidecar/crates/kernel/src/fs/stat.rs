//! The results of `stat` and `statfs`. The fields and the format of the numbers equal Node's own
//! arrays. Next: `tree.rs`.

use super::node::{Body, Device, Ino, Node, Type};
use super::user::{Owner, User};
use coldframe_error::Errno;
use serde::{Deserialize, Serialize};

/// The number of fields in a stat array.
const STAT_FIELDS: usize = 18;

/// The attributes of a file in memory or in a mount. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stat {
    pub(crate) dev: u64,
    pub(crate) kind: Type,
    /// Permissions with set-id and sticky bits.
    pub(crate) mode: u32,
    pub(crate) links: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) rdev: u64,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    /// Units of 512 bytes.
    pub(crate) blocks: u64,
    pub(crate) atime: i64,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) birthtime: i64,
}

/// The device number of the filesystem in memory. The numbers of mounts follow.
pub(crate) const DEVICE: u64 = 1;
const BLOCK: u64 = 4_096;

impl Stat {
    pub(crate) fn of(ino: Ino, node: &Node) -> Self {
        let meta = &node.meta;
        let rdev = match node.body {
            // Linux's number of the null device: major 1, minor 3. The other devices have Linux's
            // numbers too.
            Body::Device(Device::Null) => 0x103,
            Body::Device(Device::Zero) => 0x105,
            Body::Device(Device::Full) => 0x107,
            Body::Device(Device::Random) => 0x109,
            Body::Device(Device::Tty) => 0x500,
            Body::Device(Device::TerminalMaker) => 0x502,
            Body::Device(Device::Terminal(number)) => terminal_device(number),
            _ => 0,
        };
        Self {
            dev: DEVICE,
            kind: node.kind(),
            mode: meta.mode,
            links: u64::from(meta.links),
            uid: meta.uid,
            gid: meta.gid,
            rdev,
            ino: ino.get(),
            size: node.size(),
            blocks: if matches!(node.body, Body::File(_)) { node.content_stored().div_ceil(BLOCK) * (BLOCK / 512) } else { 0 },
            atime: meta.atime,
            mtime: meta.mtime,
            ctime: meta.ctime,
            birthtime: meta.birthtime,
        }
    }

    /// Returns whether the owner, the group and the mode grant `user` the permission bits `wanted`.
    pub(crate) fn allows(&self, user: &User, wanted: u32) -> bool {
        user.may((self.uid, self.gid), self.mode, self.kind == Type::Directory, wanted)
    }

    /// Returns the attributes of a standard stream, which is a pipe.
    pub(crate) fn of_stream(fd: u64, owner: Owner, at: i64) -> Self {
        Self {
            dev: DEVICE + 0xffff,
            kind: Type::Pipe,
            mode: 0o600,
            links: 1,
            uid: owner.uid,
            gid: owner.gid,
            rdev: 0,
            ino: fd + 1,
            size: 0,
            blocks: 0,
            atime: at,
            mtime: at,
            ctime: at,
            birthtime: at,
        }
    }

    /// Returns the attributes of a socket or of one end of a pipe.
    pub(crate) fn of_socket(id: u64, owner: Owner, at: i64) -> Self {
        Self { dev: DEVICE + 0xfffe, kind: Type::Socket, mode: 0o777, ..Self::of_stream(id, owner, at) }
    }

    /// Returns the attributes of an end of a terminal.
    pub(crate) fn of_terminal(number: u32, owner: Owner, at: i64) -> Self {
        Self {
            kind: Type::Character,
            mode: 0o620,
            rdev: terminal_device(number),
            ..Self::of_stream(u64::from(number) + 2, owner, at)
        }
    }

    /// Writes Node's array: dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks, and four
    /// times as seconds and nanoseconds. Fails with `EFAULT` if `out` is too short.
    pub(crate) fn put(&self, out: &mut [u8]) -> Result<(), Errno> {
        let numbers = [
            self.dev,
            u64::from(self.mode | self.kind.mode_bits()),
            self.links,
            u64::from(self.uid),
            u64::from(self.gid),
            self.rdev,
            BLOCK,
            self.ino,
            self.size,
            self.blocks,
        ];
        let times = [self.atime, self.mtime, self.ctime, self.birthtime];
        let mut fields = [0.0; STAT_FIELDS];
        let (first, second) = fields.split_at_mut(numbers.len());
        first.iter_mut().zip(numbers).for_each(|(field, number)| *field = number as f64);
        for (pair, time) in second.chunks_exact_mut(2).zip(times) {
            pair[0] = time.div_euclid(1_000_000_000) as f64;
            pair[1] = time.rem_euclid(1_000_000_000) as f64;
        }
        put_numbers(&fields, out)
    }
}

/// Returns Linux's device number of a terminal: major 136.
fn terminal_device(number: u32) -> u64 {
    0x8800 + u64::from(number)
}

/// Writes numbers in the format of the guest's `Float64Array`. Fails with `EFAULT` if `out` is too
/// short.
pub(crate) fn put_numbers(numbers: &[f64], out: &mut [u8]) -> Result<(), Errno> {
    if out.len() < numbers.len() * 8 {
        return Err(Errno::EFAULT);
    }
    for (place, number) in out.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    Ok(())
}
