//! The grants of the embedder: the paths that the broker may open. The SDK writes a grant to the
//! sidecar's stdin before it sends the request that names the path. Only the broker trusts stdin:
//! the sidecar cannot write to it, so an escaped guest cannot grant itself a path.
//!
//! A grant is one letter (the letters of [`Operation`](crate::wire::Operation)), the path as the
//! request names it, and a NUL. The grant of the edge process has an empty path.

use crate::wire::Operation;
use std::collections::HashSet;
use std::io;
use std::os::fd::BorrowedFd;

/// The longest grant. A longer one is no path of Linux, and ends the channel.
const MAX_GRANT: usize = 4_096 + 2;

/// The paths that the embedder has granted.
#[derive(Debug, Default)]
pub struct Grants {
    buffer: Vec<u8>,
    granted: HashSet<Vec<u8>>,
    /// Real paths of opened folders, which a restored runtime names again.
    opened: HashSet<Vec<u8>>,
    is_over: bool,
}

fn key(operation: Operation, path: &[u8]) -> Vec<u8> {
    [&[operation.byte()], path].concat()
}

impl Grants {
    /// Returns whether no further grant can arrive.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads grants once. The descriptor must be readable.
    pub fn read(&mut self, stdin: BorrowedFd<'_>) {
        let mut bytes = [0; 4_096];
        match rustix::io::read(stdin, &mut bytes[..]) {
            Ok(0) => self.is_over = true,
            Ok(count) => self.take(&bytes[..count]),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => self.is_over = true,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == 0 {
                self.granted.insert(std::mem::take(&mut self.buffer));
            } else {
                self.buffer.push(*byte);
            }
            self.is_over |= self.buffer.len() > MAX_GRANT;
        }
    }

    /// Returns whether the embedder has granted the operation on the path.
    pub fn allow(&self, operation: Operation, path: &[u8]) -> bool {
        let has = |operation| {
            let key = key(operation, path);
            self.granted.contains(&key) || self.opened.contains(&key)
        };
        has(operation) || operation == Operation::ReadFolder && has(Operation::WriteFolder)
    }

    /// Records the real path of a granted folder.
    pub fn opened(&mut self, operation: Operation, real: &[u8]) {
        self.opened.insert(key(operation, real));
    }

    /// Uses a grant up. Grants of files serve one request.
    pub fn use_up(&mut self, operation: Operation, path: &[u8]) {
        self.granted.remove(&key(operation, path));
    }
}

/// Returns the error for a path without a grant.
pub fn refusal() -> io::Error {
    io::Error::from_raw_os_error(libc::EACCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_only_what_was_granted() {
        let mut grants = Grants::default();
        grants.take(b"r/a\0w/b\0i/c\0e/d\0r/par");
        for (operation, path, allowed) in [
            (Operation::ReadFolder, "/a", true),
            (Operation::WriteFolder, "/a", false),
            (Operation::ReadFolder, "/b", true),
            (Operation::WriteFolder, "/b", true),
            (Operation::ReadFolder, "/", false),
            (Operation::ReadFolder, "/a/", false),
            (Operation::ReadFolder, "/a/../etc", false),
            (Operation::ReadFolder, "/par", false),
            (Operation::ReadFile, "/c", true),
            (Operation::ReadFile, "/a", false),
            (Operation::Replace, "/c", false),
            (Operation::Replace, "/d", true),
            (Operation::ReadFolder, "/d", false),
        ] {
            assert_eq!(grants.allow(operation, path.as_bytes()), allowed, "{operation:?} {path}");
        }
        grants.take(b"tial\0");
        assert!(grants.allow(Operation::ReadFolder, b"/partial"));
        grants.use_up(Operation::ReadFile, b"/c");
        assert!(!grants.allow(Operation::ReadFile, b"/c"));
    }

    #[test]
    fn a_grant_that_is_no_path_ends_the_channel() {
        let mut grants = Grants::default();
        grants.take(&[b'r'; MAX_GRANT + 1]);
        assert!(grants.is_over());
    }
}
