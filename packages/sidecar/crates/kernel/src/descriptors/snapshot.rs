//! The snapshot of open descriptions. Several descriptors, processes and queues of passed
//! descriptors can share a description. The snapshot stores each description once, and refers to
//! the description by index, so that the restored processes share the descriptions in the same way.
//!
//! A restored description holds its inode, as after an open. The files of mounts are opened again.
//! A file that cannot be opened becomes [`Target::Lost`], and every operation on the description,
//! except closing, fails with `EIO`. Next: `fs/snapshot/`, the files.

use super::{Description, HeldObject, OpenOutput, Position, Target};
use crate::ids::SocketId;
use coldframe_error::Error;
use coldframe_ids::Pid;

use crate::fs::{Device, FileSystem, FilesSnapshot, HostFileSnapshot, Ino, ListingSnapshot, Location, is_name};
use crate::usage::{Charge, Resource};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Collects descriptions for a snapshot.
#[derive(Default)]
pub(crate) struct DescriptionCollector {
    /// The indices by address. Addresses identify descriptions, because no description is dropped
    /// during the snapshot.
    known: HashMap<usize, u32>,
    made: Vec<DescriptionSnapshot>,
}

/// The snapshots of all descriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DescriptionsSnapshot(Vec<DescriptionSnapshot>);

/// The restored descriptions. Each description stays in this list until descriptors or queues refer
/// to the description.
pub(crate) struct RestoredDescriptions {
    made: Vec<Arc<Description>>,
    /// The open outputs of the programs whose end waits for their output.
    outputs: OpenOutputs,
}

type OpenOutputs = HashMap<Pid, Arc<OpenOutput>>;

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
    Stream {
        owner: Pid,
        fd: u8,
        /// Whether the description keeps the output of `owner` open.
        keeps_open: bool,
    },
    Socket(SocketId),
    File(Ino),
    Directory(Location),
    Device(Device, Ino),
    Host(HostFileSnapshot),
    Lost,
}

impl DescriptionCollector {
    /// Returns the index of a description. Stores the description on the first call.
    pub(crate) fn index_of(&mut self, description: &Arc<Description>) -> u32 {
        let address = Arc::as_ptr(description) as usize;
        if let Some(at) = self.known.get(&address) {
            return *at;
        }
        // The limits on descriptors are far below `u32::MAX`.
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
            Target::Stream { owner, fd, open } => TargetSnapshot::Stream { owner: *owner, fd: *fd, keeps_open: open.is_some() },
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
        Self { target, flags: description.flags(), offset: *offset, after, listing }
    }

    fn restore(&self, tree: &mut FileSystem, outputs: &mut OpenOutputs) -> Result<Description, Error> {
        let target = match &self.target {
            TargetSnapshot::Stream { owner, fd, keeps_open } => {
                let open = keeps_open.then(|| outputs.entry(*owner).or_default().clone());
                Target::Stream { owner: *owner, fd: *fd, open }
            }
            TargetSnapshot::Socket(id) => Target::Socket(*id),
            TargetSnapshot::File(ino) => Target::File(*ino),
            TargetSnapshot::Directory(place) => Target::Directory(place.clone()),
            TargetSnapshot::Device(device, ino) => Target::Device(*device, *ino),
            TargetSnapshot::Host(file) => {
                file.restore(tree, self.flags)?.map_or(Target::Lost, |file| Target::Host(Box::new(file)))
            }
            TargetSnapshot::Lost => Target::Lost,
        };
        let mut position = Position { offset: self.offset, ..Position::default() };
        position.after = self.after.as_ref().map(|name| name.as_slice().into());
        if let Some(saved) = &self.listing {
            let listing = saved.restore();
            let charge = Charge::of(&tree.usage, Resource::Kernel, listing.cost());
            let limit = tree.usage.limits.kernel_bytes;
            position.held = vec![charge.ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit })?];
            position.listing = Some(Box::new(listing));
        }
        let made = Description::at(target, self.flags, position);
        if let Some(HeldObject::Node(ino)) = made.held() {
            tree.hold(ino);
        }
        Ok(made)
    }
}

impl DescriptionsSnapshot {
    /// Restores all descriptions. `tree` has the restored files. Fails if listings exceed the limit
    /// of kernel memory.
    pub(crate) fn restore(&self, tree: &mut FileSystem) -> Result<RestoredDescriptions, Error> {
        let mut outputs = OpenOutputs::new();
        let made = self.0.iter().map(|saved| saved.restore(tree, &mut outputs).map(Arc::new));
        Ok(RestoredDescriptions { made: made.collect::<Result<_, _>>()?, outputs })
    }

    /// Returns the number of descriptions. Other parts of a snapshot refer to descriptions by lower
    /// indices.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the sockets that descriptions refer to.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = SocketId> {
        self.0.iter().filter_map(|saved| if let TargetSnapshot::Socket(id) = saved.target { Some(id) } else { None })
    }

    /// Checks that programs could have opened all descriptions with these files. The snapshot may
    /// have been read from untrusted bytes.
    pub(crate) fn check(&self, files: &FilesSnapshot) -> Result<(), &'static str> {
        let is_sound = self.0.iter().all(|saved| saved.is_sound(files));
        if is_sound { Ok(()) } else { Err("an invalid open description") }
    }
}

impl DescriptionSnapshot {
    fn is_sound(&self, files: &FilesSnapshot) -> bool {
        /// The length of the longest name in a directory, in bytes.
        const MAX_NAME: usize = 255;
        let is_there = match &self.target {
            TargetSnapshot::Stream { fd, keeps_open, .. } => *fd <= 2 && (*fd > 0 || !keeps_open),
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

impl RestoredDescriptions {
    pub(crate) fn get(&self, at: u32) -> Option<Arc<Description>> {
        self.made.get(at as usize).cloned()
    }

    /// Returns the open output of a program whose end waits for its output.
    pub(crate) fn output_of(&self, owner: Pid) -> Weak<OpenOutput> {
        self.outputs.get(&owner).map(Arc::downgrade).unwrap_or_default()
    }

    /// Releases the descriptions to which no descriptor or queue refers. Sockets are closed later,
    /// with all other sockets without an owner.
    pub(crate) fn settle(self, tree: &mut FileSystem) {
        for description in self.made {
            if let Some(HeldObject::Node(ino)) = Arc::into_inner(description).and_then(|last| last.held()) {
                tree.release(ino);
            }
        }
    }
}
