//! The files of terminals in `/dev/pts`. Each terminal has a file while an end is open. A guest can
//! remove or rename the file, which changes nothing for the terminal. Next: `io.rs`, which opens
//! the files.

use super::node::{Body, Device};
use super::tree::FileSystem;
use super::user::{Owner, User};
use super::walk::{FinalLink, MemoryEnd, PathEnd};
use super::watch::Change;

/// The mode of a terminal's file, as on Linux.
const MODE: u32 = 0o620;

impl FileSystem {
    /// Adds the file of a terminal. If the limits allow no inode or the directory `/dev/pts` does
    /// not exist, the terminal has no file.
    pub(crate) fn add_terminal(&mut self, number: u32) {
        let Some(end) = self.terminal_end(number).filter(|end| end.node.is_none()) else { return };
        let Ok(ino) = self.add(Body::Device(Device::Terminal(number)), MODE, Owner::GUEST) else { return };
        let name = number.to_string();
        if self.enter(end.parent, name.as_bytes(), ino).is_ok() {
            self.notify_name(Change::Created, end.parent, name.as_bytes());
        }
    }

    /// Removes the file of a terminal, unless a program has replaced the file.
    pub(crate) fn remove_terminal(&mut self, number: u32) {
        let Some(end) = self.terminal_end(number) else { return };
        let is_own = |body: &Body| matches!(body, Body::Device(Device::Terminal(of)) if *of == number);
        let is_there = end.node.is_some_and(|ino| self.node(ino).is_ok_and(|node| is_own(&node.body)));
        if is_there {
            let _ = self.unlink(&User::EMBEDDER, &end);
        }
    }

    fn terminal_end(&self, number: u32) -> Option<MemoryEnd> {
        match self.walk(&User::EMBEDDER, None, format!("/dev/pts/{number}").as_bytes(), FinalLink::Stay) {
            Ok(PathEnd::Memory(end)) => Some(end),
            _ => None,
        }
    }
}
