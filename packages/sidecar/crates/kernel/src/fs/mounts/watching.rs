//! Watches of mounted folders. The host machine reports changes through inotify, so nothing polls.
//!
//! A runtime with watches of mounted folders has one inotify descriptor and one thread that waits
//! for events. The first watch starts the thread, and the end of the last watch ends the thread. A
//! watched file is first opened beneath the mount. The file's handle is then passed to inotify, so
//! no link leads out of the mount. Programs receive the kinds of libuv. Recursive watches are not
//! supported in mounted folders, because on Linux Node's library adds a watch for each directory.
//! Next: `fs/watch.rs`.

mod snapshot;

pub(in crate::fs) use snapshot::HostWatchSnapshot;

use super::super::node::Type;
use super::super::walk::MountEnd;
use super::super::watch::{Change, Subscriber, Watcher, may_watch};
use super::Mount;
use super::walk::path;
use crate::Answer;
use crate::usage::{Charge, Resource, Usage};
use cap_std::fs::{OpenOptions, OpenOptionsExt};
use coldframe_error::Errno;
use coldframe_panics::runtime::Mutex;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The bytes of events that are read at a time.
const BUFFER: usize = 16 << 10;
/// The number of events after which a read ends: the default length of inotify's queue.
const MOST_EVENTS: u32 = 16_384;
/// The number of descriptors of a runtime with watches.
const DESCRIPTORS: u64 = 2;

/// The watches of a runtime's mounted folders. A clone of the filesystem has no watches, because
/// watches belong to running programs and to the embedder.
#[derive(Default)]
pub(in crate::fs) struct HostWatchers(Option<Arc<Shared>>);

struct Shared {
    /// The charge for the two descriptors.
    _charge: Option<Charge>,
    inotify: OwnedFd,
    /// An eventfd, readable when the thread must end.
    stop: OwnedFd,
    watches: Mutex<Vec<Watch>>,
    /// Held from the reading of events to the end of their reports, so that the reports are in
    /// order.
    reading: Mutex<()>,
}

/// The first half of a move.
struct Moved {
    cookie: u32,
    descriptor: i32,
    name: Box<[u8]>,
}

struct Watch {
    descriptor: i32,
    watcher: Watcher,
    /// The number of the watched file's mount. `path` is the path in the mount.
    mount: usize,
    path: Box<[u8]>,
    is_directory: bool,
}

impl Clone for HostWatchers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Drop for HostWatchers {
    fn drop(&mut self) {
        self.end();
    }
}

fn of(error: rustix::io::Errno) -> Errno {
    Errno::of(&error.into())
}

/// Converts an error of inotify. If a limit of the host machine is reached, returns the error that
/// Linux returns for the limit on watches.
fn full(error: rustix::io::Errno) -> Errno {
    if matches!(error, rustix::io::Errno::MFILE | rustix::io::Errno::NFILE | rustix::io::Errno::NOMEM) {
        Errno::ENOSPC
    } else {
        of(error)
    }
}

/// Opens a descriptor of the file, so that the watch is added for this file even if its path
/// changes.
fn hold(mount: &Mount, at: &[u8], kind: Type) -> Result<OwnedFd, Errno> {
    let of = |error: std::io::Error| Errno::of(&error);
    match kind {
        Type::Directory if at.is_empty() => Ok(mount.root()?.try_clone().map_err(of)?.into_std_file().into()),
        Type::Directory => Ok(mount.root()?.open_dir(path(at)).map_err(of)?.into_std_file().into()),
        Type::File => {
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW | libc::O_CLOEXEC);
            Ok(mount.root()?.open_with(path(at), &options).map_err(of)?.into_std().into())
        }
        _ => Err(Errno::EACCES),
    }
}

impl HostWatchers {
    /// Watches the file at `end` for `subscriber`. If a watch of the subscriber for this file has
    /// reported its last batch, the watch continues with a new operation.
    pub(in crate::fs) fn watch(&mut self, mount: &Mount, end: &MountEnd, subscriber: &Subscriber) -> Answer {
        let kind = end.stat.ok_or(Errno::ENOENT)?.kind;
        let shared = match &self.0 {
            Some(shared) => shared.clone(),
            None => {
                let usage = if let Subscriber::Program(operations) = subscriber { Some(operations.usage()) } else { None };
                self.0.insert(Shared::begin(usage)?).clone()
            }
        };
        let began = shared.watch(mount, end, kind, subscriber);
        self.end_if_idle();
        began
    }

    /// Ends the watch whose last operation is `operation`. Returns false if no watch has the
    /// operation.
    pub(in crate::fs) fn unwatch(&mut self, operation: i64, subscriber: &Subscriber) -> bool {
        let Some(shared) = &self.0 else { return false };
        let found = shared.remove(|watcher| watcher.is(operation, subscriber)) > 0;
        self.end_if_idle();
        found
    }

    /// Ends all watches of a subscriber. The thread ends with the last watch.
    pub(in crate::fs) fn unwatch_all(&mut self, subscriber: &Subscriber) {
        if let Some(shared) = &self.0 {
            shared.remove(|watcher| watcher.belongs_to(subscriber));
            self.end_if_idle();
        }
    }

    fn end_if_idle(&mut self) {
        if self.0.as_ref().is_some_and(|shared| shared.watches.lock().is_empty()) {
            self.end();
        }
    }

    fn end(&mut self) {
        if let Some(shared) = self.0.take() {
            // The thread owns the last reference and closes the descriptors at its end.
            let _ = rustix::io::write(&shared.stop, &1_u64.to_ne_bytes());
        }
    }

    /// Reports the changes that the host machine has reported until now.
    pub(in crate::fs) fn pump(&self) {
        if let Some(shared) = &self.0 {
            shared.pump();
        }
    }

    /// Returns the number of watches. Returns `None` if no thread is running.
    pub(in crate::fs) fn count(&self) -> Option<usize> {
        self.0.as_ref().map(|shared| shared.watches.lock().len())
    }
}

impl Shared {
    /// Starts the thread. The descriptors are charged to the runtime with the counters `usage`, or
    /// to no runtime.
    fn begin(usage: Option<&Arc<Usage>>) -> Result<Arc<Self>, Errno> {
        let charge = usage.map(|usage| Charge::of(usage, Resource::HostFiles, DESCRIPTORS).ok_or(Errno::ENOSPC)).transpose()?;
        let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(full)?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(full)?;
        let shared = Arc::new(Self { _charge: charge, inotify, stop, watches: Mutex::default(), reading: Mutex::default() });
        let for_thread = shared.clone();
        let thread = std::thread::Builder::new().name("coldframe-watch".to_owned()).stack_size(128 << 10);
        thread.spawn(move || for_thread.run()).map_err(|_| Errno::ENOSPC)?;
        Ok(shared)
    }

    fn watch(&self, mount: &Mount, end: &MountEnd, kind: Type, subscriber: &Subscriber) -> Answer {
        let at = &end.path[..];
        let held = hold(mount, at, kind)?;
        let mut watches = self.watches.lock();
        let descriptor = self.listen(&held)?;
        let waits = |watch: &&mut Watch| watch.descriptor == descriptor && watch.watcher.waits_for(subscriber);
        if let Some(watch) = watches.iter_mut().find(waits) {
            return watch.watcher.arm();
        }
        let name = at.rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty()).unwrap_or(&mount.name);
        let mut watcher = Watcher::new(None, name.into(), false, subscriber.clone());
        let begun = may_watch(watches.len(), subscriber).and_then(|()| watcher.arm());
        match begun {
            Ok(operation) => {
                let is_directory = kind == Type::Directory;
                watches.push(Watch { descriptor, watcher, mount: end.mount, path: at.into(), is_directory });
                Ok(operation)
            }
            Err(error) => {
                self.remove_unused(&watches, &[descriptor]);
                Err(error)
            }
        }
    }

    /// Adds an inotify watch for an open file. If the file already has an inotify watch, returns
    /// the descriptor of that watch.
    fn listen(&self, held: &OwnedFd) -> Result<i32, Errno> {
        let flags = WatchFlags::ATTRIB | WatchFlags::CREATE | WatchFlags::MODIFY | WatchFlags::DELETE;
        let flags = flags | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
        add_watch(&self.inotify, format!("/proc/self/fd/{}", held.as_raw_fd()), flags).map_err(full)
    }

    /// Removes the watches that `is_it` selects. Returns the number of removed watches.
    fn remove(&self, is_it: impl Fn(&Watcher) -> bool) -> usize {
        let mut watches = self.watches.lock();
        let (removed, left): (Vec<Watch>, Vec<Watch>) =
            std::mem::take(&mut *watches).into_iter().partition(|watch| is_it(&watch.watcher));
        *watches = left;
        removed.iter().for_each(|watch| watch.watcher.cancel());
        let descriptors: Vec<i32> = removed.iter().map(|watch| watch.descriptor).collect();
        self.remove_unused(&watches, &descriptors);
        removed.len()
    }

    /// Removes the inotify watches in `descriptors` that no remaining watch uses.
    fn remove_unused(&self, left: &[Watch], descriptors: &[i32]) {
        for descriptor in descriptors {
            if left.iter().all(|watch| watch.descriptor != *descriptor) {
                // inotify has already removed the watch of a removed file, so errors are ignored.
                let _ = remove_watch(&self.inotify, *descriptor);
            }
        }
    }

    /// Runs the thread: waits for events and reports the events to the watchers.
    fn run(&self) {
        loop {
            let both: [BorrowedFd<'_>; 2] = [self.inotify.as_fd(), self.stop.as_fd()];
            let mut waits = both.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            match poll(&mut waits, None) {
                Ok(_) if !waits[1].revents().is_empty() => return,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
            self.pump();
        }
    }

    /// Reads all events that wait, and reports the events to the watchers.
    fn pump(&self) {
        let _reading = self.reading.lock();
        let mut buffer = [MaybeUninit::<u8>::uninit(); BUFFER];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        // A move from a watched directory, until the next event, which may be the other half.
        let mut moved: Option<Moved> = None;
        for count in 0.. {
            // The caller may hold the lock of the files, and events may follow without an end.
            if count >= MOST_EVENTS && reader.is_buffer_empty() {
                break;
            }
            let Ok(event) = reader.next() else { break };
            let events = event.events();
            if events.contains(ReadFlags::IGNORED) {
                continue;
            }
            let name = event.file_name().map(std::ffi::CStr::to_bytes);
            let from = moved.take();
            if let (Some(name), true) = (name, events.contains(ReadFlags::MOVED_TO)) {
                let pair = from.as_ref().filter(|from| from.cookie == event.cookie());
                if pair.is_none() {
                    self.report_move(from.as_ref(), None);
                }
                self.report_move(pair, Some((event.wd(), name)));
                continue;
            }
            self.report_move(from.as_ref(), None);
            if let (Some(name), true) = (name, events.contains(ReadFlags::MOVED_FROM)) {
                moved = Some(Moved { cookie: event.cookie(), descriptor: event.wd(), name: name.into() });
                continue;
            }
            let change = match events {
                events if events.contains(ReadFlags::MODIFY) => Change::Written,
                events if events.contains(ReadFlags::ATTRIB) => Change::Attributes,
                events if events.contains(ReadFlags::CREATE) => Change::Created,
                events if events.contains(ReadFlags::MOVE_SELF) => Change::Moved,
                _ => Change::Removed,
            };
            for watch in self.watches.lock().iter_mut().filter(|watch| watch.descriptor == event.wd()) {
                match name {
                    Some(name) => watch.watcher.notify(change, name),
                    None => watch.watcher.notify_itself(change),
                }
            }
        }
        self.report_move(moved.as_ref(), None);
    }

    /// Reports a move to the watchers of both directories.
    fn report_move(&self, from: Option<&Moved>, to: Option<(i32, &[u8])>) {
        if from.is_none() && to.is_none() {
            return;
        }
        for watch in self.watches.lock().iter_mut() {
            let old = from.filter(|from| from.descriptor == watch.descriptor).map(|from| &*from.name);
            let new = to.filter(|(descriptor, _)| *descriptor == watch.descriptor).map(|(_, name)| name);
            if old.is_some() || new.is_some() {
                watch.watcher.notify_move(old, new);
            }
        }
    }
}
