//! Watches notify programs and the embedder of changes of files. The tree reports each change when
//! the change happens, so nothing polls.
//!
//! Programs receive the changes that libuv reports from inotify: changes of the watched file
//! itself, and of the names in a watched directory. The completion of an operation has one batch of
//! changes. Changes before the program's next operation are stored, up to a bound of [`MAX_KEPT`]
//! bytes. Further changes are lost. Mounted folders report changes through the host machine
//! (`mounts/watching.rs`). Next: `tree.rs`.

mod snapshot;

pub(super) use snapshot::{WatchSnapshot, check_count};

use super::feed::ChangeFeed;
use super::guard::RequestedOperations;
use super::node::Ino;
use super::overlay::Raise;
use super::tree::FileSystem;
use super::view::View;
use super::walk::{FinalLink, Name, PathEnd};
use crate::arguments::MAX_PATH;
use crate::ids::OperationId;
use crate::operations::Operations;
use crate::permissions::Permissions;
use crate::permissions::operations::files;
use crate::permissions::policy::Scope;
use crate::steps::StepScope;
use crate::usage::{Charge, Footprint, Resource, is_near, reserve_charged};
use crate::{Answer, Process};
use coldframe_error::Errno;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of bytes that are stored for a watcher whose program has no waiting
/// operation.
const MAX_KEPT: usize = 64 << 10;

const RECURSIVE: i64 = 1;

/// A change of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// The name was added.
    Created,
    /// The name was removed.
    Removed,
    /// The file was moved away from the name.
    Moved,
    /// The file's bytes changed.
    Written,
    /// The file's attributes changed.
    Attributes,
}

impl Change {
    /// Returns libuv's number of the kind of change, which programs receive.
    fn kind(self) -> u8 {
        /// The name was added, removed or moved.
        const RENAME: u8 = 1;
        /// The file's bytes or attributes changed.
        const CHANGE: u8 = 2;
        match self {
            Self::Created | Self::Removed | Self::Moved => RENAME,
            Self::Written | Self::Attributes => CHANGE,
        }
    }
}

/// The receiver of changes.
#[derive(Clone)]
pub(super) enum Subscriber {
    /// A program, which receives changes in the completions of operations.
    Program(Arc<Operations>),
    /// The embedder.
    Embedder(Arc<ChangeFeed>),
}

pub(super) struct Watcher {
    /// The watched inode. `None` in a watch of a mounted folder.
    node: Option<Ino>,
    /// The name under which changes of the watched file itself are reported.
    name: Box<[u8]>,
    recursive: bool,
    subscriber: Subscriber,
    /// The charge for the bytes that are stored for a program. A feed of the embedder has a bound
    /// of its own.
    charge: Option<Charge>,
    /// The operation that reports the next batch, or reported the last batch.
    operation: Option<OperationId>,
    armed: bool,
    kept: Vec<u8>,
    last: Vec<u8>,
    /// The permissions to check for changes below the directory. `None` for watches of mounted
    /// folders, which are not recursive.
    permissions: Option<Arc<Permissions>>,
}

/// The directories above a changed name, for the recursive watchers.
struct Way {
    /// The path from the highest directory of the way to the name.
    path: Vec<u8>,
    /// The offset in `path` at which the path from a directory begins.
    starts: HashMap<Ino, usize>,
    /// Whether the way begins at the root. Otherwise the path from the root is too long for a
    /// report.
    is_whole: bool,
    /// Whether the permissions of the runtime's programs allow reports of the name, once checked.
    visible: Cell<Option<bool>>,
}

impl Way {
    /// Returns the path from the directory `top` to the name. Returns `None` if the name is not
    /// below `top`, or the path is too long.
    fn below(&self, top: Ino) -> Option<&[u8]> {
        self.starts.get(&top).and_then(|start| self.path.get(*start..)).filter(|path| path.len() <= MAX_PATH)
    }

    /// Returns whether the permissions allow reports of the name. All programs of a runtime have
    /// the same permissions.
    fn is_visible(&self, permissions: &Permissions) -> bool {
        let visible = self.visible.get().unwrap_or_else(|| {
            let real = || [b"/", &*self.path].concat();
            !permissions.checks(Scope::Fs) || (self.is_whole && permissions.sees(&real(), files::WATCH))
        });
        self.visible.set(Some(visible));
        visible
    }
}

/// All watchers of a filesystem. A clone of the filesystem has no watchers, because watchers belong
/// to running programs and to the embedder.
#[derive(Default)]
pub(super) struct Watchers(Vec<Watcher>);

impl Clone for Watchers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Watcher {
    pub(super) fn new(node: Option<Ino>, name: Box<[u8]>, recursive: bool, subscriber: Subscriber) -> Self {
        let (kept, last) = (Vec::new(), Vec::new());
        let charge = match &subscriber {
            Subscriber::Program(operations) => Some(Charge::none(operations.usage(), Resource::Kernel)),
            Subscriber::Embedder(_) => None,
        };
        Self { node, name, recursive, subscriber, charge, operation: None, armed: false, kept, last, permissions: None }
    }

    pub(super) fn belongs_to(&self, subscriber: &Subscriber) -> bool {
        match (&self.subscriber, subscriber) {
            (Subscriber::Program(one), Subscriber::Program(other)) => Arc::ptr_eq(one, other),
            (Subscriber::Embedder(one), Subscriber::Embedder(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Returns whether `subscriber` has received the last batch and not requested the next batch
    /// yet.
    pub(super) fn waits_for(&self, subscriber: &Subscriber) -> bool {
        !self.armed && self.belongs_to(subscriber)
    }

    /// Returns whether `operation` is the last operation of this watcher.
    pub(super) fn is(&self, operation: i64, subscriber: &Subscriber) -> bool {
        self.operation.is_some_and(|own| own.answer() == operation) && self.belongs_to(subscriber)
    }

    pub(super) fn cancel(&self) {
        if let (Subscriber::Program(operations), Some(operation)) = (&self.subscriber, self.operation) {
            operations.cancel(operation);
        }
    }

    /// Reports a change of the watched file itself. A program receives the file's name, as from
    /// libuv. The embedder receives an empty name.
    pub(super) fn notify_itself(&mut self, change: Change) {
        let name = if let Subscriber::Program(_) = self.subscriber { std::mem::take(&mut self.name) } else { Box::default() };
        self.notify(change, &name);
        if !name.is_empty() {
            self.name = name;
        }
    }

    pub(super) fn notify(&mut self, change: Change, name: &[u8]) {
        let operations = match &self.subscriber {
            Subscriber::Program(operations) => operations,
            Subscriber::Embedder(feed) => return feed.notify(change, name),
        };
        if name.len() > MAX_PATH {
            return;
        }
        let mut entry = vec![change.kind(), 0];
        entry.extend_from_slice(&(name.len() as u16).to_le_bytes());
        entry.extend_from_slice(name);
        if let Some(operation) = self.operation.filter(|_| self.armed) {
            self.armed = false;
            operations.complete(operation, Ok(0), entry);
            self.last = Vec::new();
        } else if entry != self.last
            && self.kept.len() + entry.len() <= MAX_KEPT
            && self.charge.as_mut().is_none_or(|charge| {
                charge.set(self.kept.footprint() + entry.footprint())
                    && reserve_charged(&mut self.kept, entry.len(), MAX_KEPT, charge)
            })
        {
            // Two equal changes in a row are merged, as in inotify.
            self.kept.extend_from_slice(&entry);
            self.last = entry;
        }
    }

    /// Reports that a file was moved from one name to another. A name is `None` if the watcher does
    /// not watch the name. A program receives a change of each name, as from libuv.
    pub(super) fn notify_move(&mut self, from: Option<&[u8]>, to: Option<&[u8]>) {
        if let Subscriber::Embedder(feed) = &self.subscriber {
            return feed.notify_move(from, to);
        }
        if let Some(from) = from {
            self.notify(Change::Moved, from);
        }
        if let Some(to) = to {
            self.notify(Change::Created, to);
        }
    }

    /// Returns the path that a report of `name` in `directory` has. Returns `None` if the watcher
    /// does not watch the name, or the permissions do not allow the report.
    fn path_of<'w>(&self, directory: Ino, name: &'w [u8], way: Option<&'w Way>) -> Option<&'w [u8]> {
        if self.node == Some(directory) {
            return Some(name);
        }
        let way = way.filter(|_| self.recursive)?;
        let path = self.node.and_then(|node| way.below(node))?;
        self.permissions.as_ref().is_none_or(|permissions| way.is_visible(permissions)).then_some(path)
    }

    pub(super) fn arm(&mut self) -> Answer {
        let Subscriber::Program(operations) = &self.subscriber else { return Ok(0) };
        let operation = operations.begin()?;
        self.operation = Some(operation);
        self.armed = self.kept.is_empty();
        if !self.armed {
            // The result has a charge of its own.
            if let Some(charge) = &mut self.charge {
                charge.shrink(u64::MAX);
            }
            operations.complete(operation, Ok(0), std::mem::take(&mut self.kept));
            self.last = Vec::new();
        }
        Ok(operation.answer())
    }
}

/// Watches the file at `path` for the process. Returns the operation that receives the next batch.
/// If a watch of the process for this file has reported its last batch, the watch continues with
/// the new operation.
pub(crate) fn watch(process: &Process, path: &[u8], flags: i64) -> Answer {
    let view = process.files.view(&process.kernel.files);
    let permissions = Some(process.kernel.permissions.clone());
    begin(&view, path, flags & RECURSIVE != 0, &Subscriber::Program(process.operations.clone()), permissions)
}

/// Starts a watch for a subscriber, or continues a watch as [`watch`] does. `permissions` limits
/// the changes that the subscriber receives. Fails with `ENOSYS` for `/proc`, for app file systems
/// and for recursive watches of mounted folders.
pub(super) fn begin(
    view: &View<'_>,
    path: &[u8],
    recursive: bool,
    subscriber: &Subscriber,
    permissions: Option<Arc<Permissions>>,
) -> Answer {
    let mut tree = view.lock();
    let end = match view.walk_to(&mut tree, path, FinalLink::Follow, RequestedOperations::only(files::WATCH), Raise::Itself)? {
        PathEnd::Memory(end) => end,
        PathEnd::Mount(end) => {
            let mount = tree.mount(end.mount)?.clone();
            if recursive || mount.is_built_in() || mount.app().is_some() {
                return Err(Errno::ENOSYS);
            }
            return tree.host_watchers.watch(&mount, &end, subscriber);
        }
    };
    let node = end.existing()?;
    let name = match end.name {
        Name::Plain(name) => name,
        _ => tree.node(node)?.name[..].into(),
    };
    let watchers = &mut tree.watchers.0;
    let waits =
        |watcher: &&mut Watcher| watcher.node == Some(node) && watcher.recursive == recursive && watcher.waits_for(subscriber);
    if let Some(watcher) = watchers.iter_mut().find(waits) {
        return watcher.arm();
    }
    may_watch(watchers.len(), subscriber)?;
    let mut watcher = Watcher::new(Some(node), name, recursive, subscriber.clone());
    watcher.permissions = permissions;
    let operation = watcher.arm()?;
    watchers.push(watcher);
    tree.hold(node);
    Ok(operation)
}

/// Fails with `ENOSPC` if the limit allows no further watch, as on Linux. Watches of the embedder
/// are bounded by the limit on open handles instead.
pub(super) fn may_watch(count: usize, subscriber: &Subscriber) -> Result<(), Errno> {
    let Subscriber::Program(operations) = subscriber else { return Ok(()) };
    let (usage, count) = (operations.usage(), count as u64 + 1);
    let max = usage.limits.watches;
    if count > max {
        return Err(Errno::ENOSPC);
    }
    usage.peaks.watches.record(count);
    if is_near(count, max) && !is_near(count - 1, max) {
        usage.warnings.add("watches", count, max, None);
    }
    Ok(())
}

/// Ends the watch whose last operation is `operation`. Fails with `EINVAL` if no watch of the
/// process has this operation.
pub(crate) fn unwatch(process: &Process, operation: i64) -> Answer {
    let mut tree = process.kernel.files.lock();
    let subscriber = Subscriber::Program(process.operations.clone());
    if tree.host_watchers.unwatch(operation, &subscriber) {
        return Ok(0);
    }
    let is_it = |watcher: &Watcher| watcher.is(operation, &subscriber);
    let at = tree.watchers.0.iter().position(is_it).ok_or(Errno::EINVAL)?;
    let watcher = tree.watchers.0.swap_remove(at);
    watcher.cancel();
    if let Some(node) = watcher.node {
        tree.release(node);
    }
    Ok(0)
}

impl FileSystem {
    /// Returns the number of watches in memory and in mounted folders.
    pub(crate) fn watches(&self) -> u64 {
        (self.watchers.0.len() + self.host_watchers.count().unwrap_or(0)) as u64
    }

    /// Ends all watches of the process that has these operations.
    pub(crate) fn unwatch_all(&mut self, operations: &Arc<Operations>) {
        self.unwatch_subscriber(&Subscriber::Program(operations.clone()));
    }

    /// Ends all watches of a subscriber, in memory and in mounted folders.
    pub(super) fn unwatch_subscriber(&mut self, subscriber: &Subscriber) {
        self.host_watchers.unwatch_all(subscriber);
        let watchers = std::mem::take(&mut self.watchers.0);
        let (removed, left) = watchers.into_iter().partition(|watcher: &Watcher| watcher.belongs_to(subscriber));
        self.watchers.0 = left;
        let removed: Vec<Watcher> = removed;
        removed.iter().filter_map(|watcher| watcher.node).for_each(|node| self.release(node));
    }

    /// Reports that `name` in `directory` was added, removed or changed.
    pub(super) fn notify_name(&mut self, change: Change, directory: Ino, name: &[u8]) {
        if self.watchers.0.is_empty() {
            return;
        }
        // A change must not be lost because a call has used up its steps. A report finds the way at
        // most once and checks the permissions at most once, so its own steps bound the work.
        let _steps = StepScope::begin();
        let mut watchers = std::mem::take(&mut self.watchers.0);
        let way = watchers.iter().any(|watcher| watcher.recursive).then(|| self.way_to(directory, name));
        for watcher in &mut watchers {
            if let Some(path) = watcher.path_of(directory, name, way.as_ref()) {
                watcher.notify(change, path);
            }
        }
        self.watchers.0 = watchers;
    }

    /// Reports that a file was moved. Both places are a directory and a name.
    pub(super) fn notify_move(&mut self, from: (Ino, &[u8]), to: (Ino, &[u8])) {
        if self.watchers.0.is_empty() {
            return;
        }
        let mut watchers = std::mem::take(&mut self.watchers.0);
        let is_recursive = watchers.iter().any(|watcher| watcher.recursive);
        // As in `notify_name`. Each way has its own steps.
        let [old, new] = [from, to].map(|(directory, name)| {
            let _steps = StepScope::begin();
            is_recursive.then(|| self.way_to(directory, name))
        });
        let _steps = StepScope::begin();
        for watcher in &mut watchers {
            let old = watcher.path_of(from.0, from.1, old.as_ref());
            let new = watcher.path_of(to.0, to.1, new.as_ref());
            if old.is_some() || new.is_some() {
                watcher.notify_move(old, new);
            }
        }
        self.watchers.0 = watchers;
    }

    /// Returns the directories above a name. The way is found once for all watchers, because a
    /// runtime may have a thousand watchers of a deep directory.
    fn way_to(&self, directory: Ino, name: &[u8]) -> Way {
        let (mut above, mut at, mut len, mut is_whole) = (Vec::new(), directory, name.len(), false);
        while let Ok(node) = self.node(at)
            && let Ok(parent) = node.parent()
            && len <= MAX_PATH
        {
            above.push((at, node.name.clone()));
            is_whole = parent == at;
            if is_whole {
                break;
            }
            len += node.name.len() + 1;
            at = parent;
        }
        let (mut path, mut starts) = (Vec::with_capacity(len), HashMap::with_capacity(above.len()));
        for (place, (ino, own)) in above.iter().rev().enumerate() {
            if place > 0 {
                path.extend_from_slice(own);
                path.push(b'/');
            }
            starts.insert(*ino, path.len());
        }
        path.extend_from_slice(name);
        Way { path, starts, is_whole, visible: Cell::new(None) }
    }

    /// Reports that the inode itself was removed, moved or changed.
    pub(super) fn notify_inode(&mut self, change: Change, node: Ino) {
        self.watchers.0.iter_mut().filter(|watcher| watcher.node == Some(node)).for_each(|watcher| watcher.notify_itself(change));
    }

    /// Reports that the inode's bytes or attributes changed.
    pub(super) fn notify_content(&mut self, change: Change, node: Ino) {
        if self.watchers.0.is_empty() {
            return;
        }
        self.notify_inode(change, node);
        let _steps = StepScope::begin();
        let Ok(found) = self.node(node) else { return };
        let (Ok(parent), name) = (found.parent(), found.name.clone()) else { return };
        // The inode's newest name may have been removed since the name was stored.
        if parent != node && self.directory(parent).is_ok_and(|directory| directory.names.get(&name[..]) == Ok(Some(node))) {
            self.notify_name(change, parent, &name);
        }
    }
}
