//! What is open, as a value. Descriptions are shared between descriptors, tables of processes, and sockets that carry them to somebody else: each is
//! saved once, under a number by which all of these name it, and so a copy shares them in the same way.
//!
//! A copy's descriptions hold the nodes that they stand for, as opening does. What lay in a mount is opened again; what cannot be is
//! [`Target::Lost`], whose every use fails. Next: `kernel/fs/saved`, the files themselves.

use super::{Description, Held, Position, Target};
use crate::ids::SocketId;
use coldframe_error::Error;
use coldframe_ids::Pid;

use crate::fs::{Device, FileSystem, FilesSnapshot, HostFileSnapshot, Ino, ListingSnapshot, Place, is_name};
use crate::usage::{Charge, Resource};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Descriptions on their way into a value.
#[derive(Default)]
pub(crate) struct DescriptionCollector {
    /// Where they are, by their addresses: nobody closes anything meanwhile.
    known: HashMap<usize, u32>,
    made: Vec<DescriptionSnapshot>,
}

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DescriptionsSnapshot(Vec<DescriptionSnapshot>);

/// The descriptions of a copy, until all who had them have them again.
pub(crate) struct Open(Vec<Arc<Description>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct DescriptionSnapshot {
    target: TargetSnapshot,
    flags: u32,
    offset: u64,
    after: Option<serde_bytes::ByteBuf>,
    listing: Option<ListingSnapshot>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum TargetSnapshot {
    Stream { owner: Pid, fd: u8 },
    Socket(SocketId),
    File(Ino),
    Directory(Place),
    Device(Device, Ino),
    Host(HostFileSnapshot),
    Lost,
}

impl DescriptionCollector {
    /// The number of a description.
    pub(crate) fn index_of(&mut self, description: &Arc<Description>) -> u32 {
        let address = Arc::as_ptr(description) as usize;
        if let Some(at) = self.known.get(&address) {
            return *at;
        }
        // Limits on descriptors keep far below.
        let at = u32::try_from(self.made.len()).unwrap_or(u32::MAX);
        self.made.push(DescriptionSnapshot::of(description));
        self.known.insert(address, at);
        at
    }

    pub(crate) fn done(self) -> DescriptionsSnapshot {
        DescriptionsSnapshot(self.made)
    }
}

impl DescriptionSnapshot {
    fn of(description: &Description) -> Self {
        let target = match &description.target {
            Target::Stream { owner, fd } => TargetSnapshot::Stream { owner: *owner, fd: *fd },
            Target::Socket(id) => TargetSnapshot::Socket(*id),
            Target::File(ino) => TargetSnapshot::File(*ino),
            Target::Directory(place) => TargetSnapshot::Directory(place.clone()),
            Target::Device(device, ino) => TargetSnapshot::Device(*device, *ino),
            Target::Host(file) => file.snapshot().map_or(TargetSnapshot::Lost, TargetSnapshot::Host),
            Target::Lost => TargetSnapshot::Lost,
        };
        let Position { offset, after, listing, held } = &mut *description.position.lock();
        let mut pays = |cost| held.first_mut().is_some_and(|charge| charge.raise_to(cost));
        let listing = listing.as_mut().map(|listing| listing.snapshot(&mut pays));
        let after = after.as_deref().map(serde_bytes::ByteBuf::from);
        Self { target, flags: description.flags, offset: *offset, after, listing }
    }

    fn restore(&self, tree: &mut FileSystem) -> Result<Description, Error> {
        let target = match &self.target {
            TargetSnapshot::Stream { owner, fd } => Target::Stream { owner: *owner, fd: *fd },
            TargetSnapshot::Socket(id) => Target::Socket(*id),
            TargetSnapshot::File(ino) => Target::File(*ino),
            TargetSnapshot::Directory(place) => Target::Directory(place.clone()),
            TargetSnapshot::Device(device, ino) => Target::Device(*device, *ino),
            TargetSnapshot::Host(file) => file.restore(tree, self.flags)?.map_or(Target::Lost, Target::Host),
            TargetSnapshot::Lost => Target::Lost,
        };
        let mut position = Position { offset: self.offset, ..Position::default() };
        position.after = self.after.as_ref().map(|name| name.as_slice().into());
        if let Some(saved) = &self.listing {
            let listing = saved.restore();
            let charge = Charge::of(&tree.usage, Resource::Kernel, listing.cost());
            let limit = tree.usage.limits.kernel_bytes;
            position.held = vec![charge.ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit })?];
            position.listing = Some(listing);
        }
        let made = Description { target, flags: self.flags, position: Mutex::new(position) };
        if let Some(Held::Node(ino)) = made.held() {
            tree.hold(ino);
        }
        Ok(made)
    }
}

impl DescriptionsSnapshot {
    /// All that was open is open again, in a copy's files.
    pub(crate) fn restore(&self, tree: &mut FileSystem) -> Result<Open, Error> {
        let made = self.0.iter().map(|saved| saved.restore(tree).map(Arc::new));
        made.collect::<Result<_, _>>().map(Open)
    }

    /// How many descriptions there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The sockets that descriptions stand for.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = SocketId> {
        self.0.iter().filter_map(|saved| if let TargetSnapshot::Socket(id) = saved.target { Some(id) } else { None })
    }

    /// Whether programs can have opened all of it, in these files; it may come out of bytes that anybody has written.
    pub(crate) fn check(&self, files: &FilesSnapshot) -> Result<(), &'static str> {
        let is_sound = self.0.iter().all(|saved| saved.is_sound(files));
        if is_sound { Ok(()) } else { Err("something open that cannot be") }
    }
}

impl DescriptionSnapshot {
    fn is_sound(&self, files: &FilesSnapshot) -> bool {
        /// Longest name in a directory.
        const MAX_NAME: usize = 255;
        let is_there = match &self.target {
            TargetSnapshot::Stream { fd, .. } => *fd <= 2,
            TargetSnapshot::File(ino) => files.is_file(*ino),
            TargetSnapshot::Directory(place) => files.is_directory(place),
            TargetSnapshot::Device(device, ino) => files.is_device(*ino, *device),
            TargetSnapshot::Host(file) => files.may_be_open(file),
            TargetSnapshot::Socket(_) | TargetSnapshot::Lost => true,
        };
        let is_directory = matches!(self.target, TargetSnapshot::Directory(_));
        let names = self.listing.as_ref().is_none_or(|listing| is_directory && listing.is_sound(is_name));
        let after = self.after.as_ref().is_none_or(|name| is_directory && name.len() <= MAX_NAME);
        is_there && names && after && i64::try_from(self.offset).is_ok()
    }
}

impl Open {
    pub(crate) fn get(&self, at: u32) -> Option<Arc<Description>> {
        self.0.get(at as usize).cloned()
    }

    /// Everybody has what was theirs: what nobody has taken is closed. Sockets are left to who looks for those that nobody has.
    pub(crate) fn settle(self, tree: &mut FileSystem) {
        for description in self.0 {
            if let Some(Held::Node(ino)) = Arc::into_inner(description).and_then(|last| last.held()) {
                tree.release(ino);
            }
        }
    }
}
