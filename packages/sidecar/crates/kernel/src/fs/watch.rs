//! Watching: programs that want to be told of changes. The tree tells of each as it happens; nobody looks for any.
//!
//! What is told is what Linux's inotify tells libuv: the watched file's own changes, and those of the names in a watched directory. An
//! operation carries one batch; what happens before the program asks again is kept for it, so that nothing is lost in between. Of mounted
//! folders the host tells (`host/watching.rs`). Next: `tree.rs`.

mod snapshot;

pub(super) use snapshot::{WatchSnapshot, check_count};

use super::feed::Feed;
use super::guard::Wanted;
use super::node::Ino;
use super::overlay::Raise;
use super::tree::FileSystem;
use super::view::View;
use super::walk::{Last, Name, Place, Side, join};
use crate::ids::OperationId;
use crate::operations::Operations;
use crate::permissions::Permissions;
use crate::permissions::operations::files;
use crate::permissions::policy::Scope;
use crate::usage::{Charge, Resource, is_near};
use crate::{Answer, Process};
use coldframe_error::Errno;
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

/// Who is told.
#[derive(Clone)]
pub(super) enum Ear {
    /// A program, by operations.
    Program(Arc<Operations>),
    /// The caller outside.
    EmbedderFiles(Arc<Feed>),
}

pub(super) struct Watcher {
    node: Ino,
    /// What changes of the watched thing itself are told under.
    name: Box<[u8]>,
    recursive: bool,
    ear: Ear,
    /// For what is kept for a program. A feed of the caller's counts for itself.
    charge: Option<Charge>,
    /// The operation that tells, or has told, the last batch.
    operation: Option<OperationId>,
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
    pub(super) fn new(node: Ino, name: Box<[u8]>, recursive: bool, ear: Ear) -> Self {
        let (kept, last) = (Vec::new(), Vec::new());
        let charge = match &ear {
            Ear::Program(operations) => Some(Charge::none(operations.usage(), Resource::Kernel)),
            Ear::EmbedderFiles(_) => None,
        };
        Self { node, name, recursive, ear, charge, operation: None, armed: false, kept, last, permissions: None }
    }

    pub(super) fn belongs_to(&self, ear: &Ear) -> bool {
        match (&self.ear, ear) {
            (Ear::Program(one), Ear::Program(other)) => Arc::ptr_eq(one, other),
            (Ear::EmbedderFiles(one), Ear::EmbedderFiles(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Whether it has told a process's last batch and the process has not asked for the next.
    pub(super) fn waits_for(&self, ear: &Ear) -> bool {
        !self.armed && self.belongs_to(ear)
    }

    /// Whether its last operation is this one.
    pub(super) fn is(&self, operation: i64, ear: &Ear) -> bool {
        self.operation.is_some_and(|own| own.answer() == operation) && self.belongs_to(ear)
    }

    pub(super) fn cancel(&self) {
        if let (Ear::Program(operations), Some(operation)) = (&self.ear, self.operation) {
            operations.cancel(operation);
        }
    }

    /// What is watched has changed itself. A program hears of it under its name, as from libuv.
    pub(super) fn tell_itself(&mut self, change: Change) {
        let name = if let Ear::Program(_) = self.ear { std::mem::take(&mut self.name) } else { Box::default() };
        self.tell(change, &name);
        if !name.is_empty() {
            self.name = name;
        }
    }

    pub(super) fn tell(&mut self, change: Change, name: &[u8]) {
        let operations = match &self.ear {
            Ear::Program(operations) => operations,
            Ear::EmbedderFiles(feed) => return feed.tell(change, name),
        };
        let name = &name[..name.len().min(usize::from(u16::MAX))];
        let mut entry = vec![change as u8, 0];
        entry.extend_from_slice(&(name.len() as u16).to_le_bytes());
        entry.extend_from_slice(name);
        if let Some(operation) = self.operation.filter(|_| self.armed) {
            self.armed = false;
            operations.complete(operation, Ok(0), entry);
            self.last.clear();
        } else if entry != self.last
            && self.kept.len() + entry.len() <= MAX_KEPT
            && self.charge.as_mut().is_none_or(|charge| charge.raise_to((self.kept.len() + 2 * entry.len()) as u64))
        {
            // As inotify does: the same change twice in a row is one.
            self.kept.extend_from_slice(&entry);
            self.last = entry;
        }
    }

    pub(super) fn arm(&mut self) -> Answer {
        let Ear::Program(operations) = &self.ear else { return Ok(0) };
        let operation = operations.begin()?;
        self.operation = Some(operation);
        self.armed = self.kept.is_empty();
        if !self.armed {
            operations.complete(operation, Ok(0), std::mem::take(&mut self.kept));
            if let Some(charge) = &mut self.charge {
                charge.shrink(u64::MAX);
            }
            self.last.clear();
        }
        Ok(operation.answer())
    }
}

/// Tells of changes of what `path` leads to, from now on, or since the last batch was told to this process.
pub(crate) fn watch(process: &Process, path: &[u8], flags: i64) -> Answer {
    let view = process.files.view(&process.kernel.files);
    let permissions = Some(process.kernel.permissions.clone());
    begin(&view, path, flags & RECURSIVE != 0, &Ear::Program(process.operations.clone()), permissions)
}

/// The same, for whoever listens; `permissions` say what it may hear of.
pub(super) fn begin(view: &View<'_>, path: &[u8], recursive: bool, ear: &Ear, permissions: Option<Arc<Permissions>>) -> Answer {
    let mut tree = view.lock();
    let spot = match view.walk_to(&mut tree, path, Last::Follow, Wanted::only(files::WATCH), Raise::Itself)? {
        Side::Memory(spot) => spot,
        Side::Host(spot) => {
            let mount = tree.mount(spot.mount)?.clone();
            if recursive || mount.proc().is_some() || mount.app().is_some() {
                return Err(Errno::ENOSYS);
            }
            return tree.host_watchers.watch(&mount, &spot, ear);
        }
    };
    let node = spot.existing()?;
    let name = match spot.name {
        Name::Plain(name) => name,
        _ => tree.node(node)?.name[..].into(),
    };
    let watchers = &mut tree.watchers.0;
    let waits = |watcher: &&mut Watcher| watcher.node == node && watcher.recursive == recursive && watcher.waits_for(ear);
    if let Some(watcher) = watchers.iter_mut().find(waits) {
        return watcher.arm();
    }
    may_watch(watchers.len(), ear)?;
    let mut watcher = Watcher::new(node, name, recursive, ear.clone());
    watcher.permissions = permissions;
    let operation = watcher.arm()?;
    watchers.push(watcher);
    tree.hold(node);
    Ok(operation)
}

/// Whether there may be one more watch. `ENOSPC` as on Linux when there may not. How many the caller outside has is bounded by what it may
/// have open.
pub(super) fn may_watch(count: usize, ear: &Ear) -> Result<(), Errno> {
    let Ear::Program(operations) = ear else { return Ok(()) };
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
    let ear = Ear::Program(process.operations.clone());
    if tree.host_watchers.unwatch(operation, &ear) {
        return Ok(0);
    }
    let is_it = |watcher: &Watcher| watcher.is(operation, &ear);
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
        self.unwatch_ear(&Ear::Program(operations.clone()));
    }

    /// Ends all watches of a listener.
    pub(super) fn unwatch_ear(&mut self, ear: &Ear) {
        self.host_watchers.unwatch_all(ear);
        let watchers = std::mem::take(&mut self.watchers.0);
        let (gone, left) = watchers.into_iter().partition(|watcher: &Watcher| watcher.belongs_to(ear));
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
        self.watchers.0.iter_mut().filter(|watcher| watcher.node == node).for_each(|watcher| watcher.tell_itself(change));
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
