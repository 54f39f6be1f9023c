//! Watching: programs that want to be told of changes. The tree tells of each as it happens; nobody looks for any.
//!
//! What is told is what Linux's inotify tells libuv: the watched file's own changes, and those of the names in a watched directory. An
//! operation carries one batch; what happens before the program asks again is kept for it, so that nothing is lost in between. Of mounted
//! folders the host tells (`host/watching.rs`). Next: `tree.rs`.

use super::guard::Wanted;
use super::node::Ino;
use super::overlay::Raise;
use super::tree::FileSystem;
use super::walk::{Last, Name, Place, Side, join};
use crate::kernel::operations::Operations;
use crate::kernel::permissions::Permissions;
use crate::kernel::permissions::operations::files;
use crate::kernel::usage::{Charge, Resource, is_near};
use crate::kernel::{Answer, Errno, Process};
use crate::policy::Scope;
use std::sync::Arc;

/// Bytes that are kept for a watcher that does not ask.
const MAX_KEPT: usize = 64 << 10;
/// Directories between a change and a watcher of everything below it.
const MAX_DEPTH: usize = 4_096;

const RECURSIVE: i64 = 1;

/// What happened to a name, as libuv tells them apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It came, went or moved.
    Name = 1,
    /// What it names has other bytes or attributes.
    Content = 2,
}

pub(super) struct Watcher {
    node: Ino,
    /// What changes of the watched thing itself are told under.
    name: Box<[u8]>,
    recursive: bool,
    operations: Arc<Operations>,
    /// For itself and what is kept.
    charge: Charge,
    /// The operation that tells, or has told, the last batch.
    operation: u32,
    armed: bool,
    kept: Vec<u8>,
    last: Vec<u8>,
    /// Whom to ask about what lies below; of the host's folders nothing does.
    permissions: Option<Arc<Permissions>>,
}

/// All watchers of a filesystem. A clone begins without: they belong to running programs.
#[derive(Default)]
pub(super) struct Watchers(Vec<Watcher>);

impl Clone for Watchers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Watcher {
    pub(super) fn new(node: Ino, name: Box<[u8]>, recursive: bool, operations: Arc<Operations>) -> Self {
        let (kept, last) = (Vec::new(), Vec::new());
        let charge = Charge::none(operations.usage(), Resource::Kernel);
        Self { node, name, recursive, operations, charge, operation: 0, armed: false, kept, last, permissions: None }
    }

    pub(super) fn belongs_to(&self, operations: &Arc<Operations>) -> bool {
        Arc::ptr_eq(&self.operations, operations)
    }

    /// Whether it has told a process's last batch and the process has not asked for the next.
    pub(super) fn waits_for(&self, operations: &Arc<Operations>) -> bool {
        !self.armed && self.belongs_to(operations)
    }

    /// Whether its last operation is this one.
    pub(super) fn is(&self, operation: i64, operations: &Arc<Operations>) -> bool {
        i64::from(self.operation) == operation && self.belongs_to(operations)
    }

    pub(super) fn cancel(&self) {
        self.operations.cancel(self.operation);
    }

    /// What is watched has changed itself.
    pub(super) fn tell_itself(&mut self, change: Change) {
        let name = std::mem::take(&mut self.name);
        self.tell(change, &name);
        self.name = name;
    }

    pub(super) fn tell(&mut self, change: Change, name: &[u8]) {
        let name = &name[..name.len().min(usize::from(u16::MAX))];
        let mut entry = vec![change as u8, 0];
        entry.extend_from_slice(&(name.len() as u16).to_le_bytes());
        entry.extend_from_slice(name);
        if self.armed {
            self.armed = false;
            self.operations.complete(self.operation, Ok(0), entry);
            self.last.clear();
        } else if entry != self.last
            && self.kept.len() + entry.len() <= MAX_KEPT
            && self.charge.raise_to((self.kept.len() + 2 * entry.len()) as u64)
        {
            // As inotify does: the same change twice in a row is one.
            self.kept.extend_from_slice(&entry);
            self.last = entry;
        }
    }

    pub(super) fn arm(&mut self) -> Answer {
        self.operation = self.operations.begin()?;
        self.armed = self.kept.is_empty();
        if !self.armed {
            self.operations.complete(self.operation, Ok(0), std::mem::take(&mut self.kept));
            self.charge.shrink(u64::MAX);
            self.last.clear();
        }
        Ok(i64::from(self.operation))
    }
}

/// Tells of changes of what `path` leads to, from now on, or since the last batch was told to this process.
pub(crate) fn watch(process: &Process, path: &[u8], flags: i64) -> Answer {
    let view = process.files.view(&process.kernel.files);
    let mut tree = view.lock();
    let spot = match view.walk_to(&mut tree, path, Last::Follow, Wanted::only(files::WATCH), Raise::Itself)? {
        Side::Memory(spot) => spot,
        Side::Host(spot) => {
            let mount = tree.mount(spot.mount)?.clone();
            if flags & RECURSIVE != 0 || mount.proc().is_some() {
                return Err(Errno::ENOSYS);
            }
            return tree.host_watchers.watch(&mount, &spot, &process.operations);
        }
    };
    let node = spot.existing()?;
    let name = match spot.name {
        Name::Plain(name) => name,
        _ => tree.node(node)?.name[..].into(),
    };
    let recursive = flags & RECURSIVE != 0;
    let watchers = &mut tree.watchers.0;
    let waits =
        |watcher: &&mut Watcher| watcher.node == node && watcher.recursive == recursive && watcher.waits_for(&process.operations);
    if let Some(watcher) = watchers.iter_mut().find(waits) {
        return watcher.arm();
    }
    may_watch(watchers.len(), &process.operations)?;
    let mut watcher = Watcher::new(node, name, recursive, process.operations.clone());
    watcher.permissions = Some(process.kernel.permissions.clone());
    let operation = watcher.arm()?;
    watchers.push(watcher);
    tree.hold(node);
    Ok(operation)
}

/// Whether there may be one more watch. `ENOSPC` as on Linux when there may not.
pub(super) fn may_watch(count: usize, operations: &Operations) -> Result<(), Errno> {
    let (usage, count) = (operations.usage(), count as u64 + 1);
    let max = usage.limits.watches;
    if count > max {
        return Err(Errno::ENOSPC);
    }
    usage.peaks.watches.saw(count);
    if is_near(count, max) && !is_near(count - 1, max) {
        usage.warnings.add("watches", count, max, None);
    }
    Ok(())
}

/// Ends the watch whose last operation this is.
pub(crate) fn unwatch(process: &Process, operation: i64) -> Answer {
    let mut tree = process.kernel.files.lock();
    if tree.host_watchers.unwatch(operation, &process.operations) {
        return Ok(0);
    }
    let is_it = |watcher: &Watcher| watcher.is(operation, &process.operations);
    let at = tree.watchers.0.iter().position(is_it).ok_or(Errno::EINVAL)?;
    let watcher = tree.watchers.0.swap_remove(at);
    watcher.cancel();
    tree.release(watcher.node);
    Ok(0)
}

impl FileSystem {
    /// How many watches there are.
    pub(crate) fn watches(&self) -> u64 {
        (self.watchers.0.len() + self.host_watchers.count().unwrap_or(0)) as u64
    }

    /// Ends all watches of a process.
    pub(crate) fn unwatch_all(&mut self, operations: &Arc<Operations>) {
        self.host_watchers.unwatch_all(operations);
        let watchers = std::mem::take(&mut self.watchers.0);
        let (gone, left) = watchers.into_iter().partition(|watcher: &Watcher| watcher.belongs_to(operations));
        self.watchers.0 = left;
        let gone: Vec<Watcher> = gone;
        gone.iter().for_each(|watcher| self.release(watcher.node));
    }

    /// The name `name` in `directory` came, went or changed.
    pub(super) fn tell_name(&mut self, change: Change, directory: Ino, name: &[u8]) {
        if self.watchers.0.is_empty() {
            return;
        }
        let mut watchers = std::mem::take(&mut self.watchers.0);
        for watcher in &mut watchers {
            if watcher.node == directory {
                watcher.tell(change, name);
            } else if watcher.recursive
                && let Some(mut path) = self.path_below(watcher.node, directory)
                && self.may_tell(watcher, directory, name)
            {
                path.extend_from_slice(name);
                watcher.tell(change, &path);
            }
        }
        self.watchers.0 = watchers;
    }

    /// Whether a watcher of everything below a directory may hear of this name.
    fn may_tell(&self, watcher: &Watcher, directory: Ino, name: &[u8]) -> bool {
        let Some(permissions) = watcher.permissions.as_ref().filter(|permissions| permissions.asks(Scope::Fs)) else {
            return true;
        };
        self.path_of(&Place::Here(directory)).is_ok_and(|path| permissions.sees(&join(path, name), files::WATCH))
    }

    /// The node itself came to an end, moved or changed.
    pub(super) fn tell_self(&mut self, change: Change, node: Ino) {
        for watcher in self.watchers.0.iter_mut().filter(|watcher| watcher.node == node) {
            let name = std::mem::take(&mut watcher.name);
            watcher.tell(change, &name);
            watcher.name = name;
        }
    }

    /// The node has other bytes or attributes.
    pub(super) fn tell_content(&mut self, node: Ino) {
        if self.watchers.0.is_empty() {
            return;
        }
        self.tell_self(Change::Content, node);
        let Ok(found) = self.node(node) else { return };
        let (parent, name) = (found.parent, found.name.clone());
        // A further name, or the last one, may have been removed since.
        if parent != node && self.directory(parent).is_ok_and(|directory| directory.names.get(&name[..]) == Some(&node)) {
            self.tell_name(Change::Content, parent, &name);
        }
    }

    /// The path from `top` down to `directory`, with a slash at its end; none when it does not lie below.
    fn path_below(&self, top: Ino, directory: Ino) -> Option<Vec<u8>> {
        let (mut parts, mut at) = (Vec::new(), directory);
        while at != top {
            let node = self.node(at).ok()?;
            if node.parent == at || parts.len() > MAX_DEPTH {
                return None;
            }
            parts.push(node.name.clone());
            at = node.parent;
        }
        Some(parts.iter().rev().flat_map(|name| name.iter().copied().chain([b'/'])).collect())
    }
}
