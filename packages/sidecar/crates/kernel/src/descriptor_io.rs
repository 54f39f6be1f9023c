//! Descriptors across the parts of the kernel: allocating numbers, reading, writing and closing.
//!
//! A descriptor may refer to a file, a device, a stream or a socket, so these functions use the
//! filesystem and the sockets. Next: `processes/`, which passes descriptors to children.

use super::descriptors::{Description, HeldObject, READ_WRITE, Target};
use super::processes::{WatchTarget, wait_for};
use super::{Answer, Process, fs, net};
use crate::caller::{Blocked, Caller};
use crate::ids::{Fd, SocketId};
use coldframe_error::Errno;
use coldframe_sys as sys;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

/// The numbers of the descriptor kinds that Node's `guessHandleType` uses. `INVALID` means that the
/// descriptor is not open.
const TCP: i64 = 0;
const TTY: i64 = 1;
const UDP: i64 = 2;
const FILE: i64 = 3;
const PIPE: i64 = 4;
const INVALID: i64 = 6;

const STDIN: Fd = Fd::new(0);
const STDOUT: Fd = Fd::new(1);
const STDERR: Fd = Fd::new(2);

impl Process {
    /// Allocates the lowest free descriptor for `description`. Fails with `EMFILE` if no descriptor
    /// is free.
    pub(super) fn add_descriptor(&self, description: Arc<Description>) -> Result<Fd, Errno> {
        self.add_descriptor_from(0, description)
    }

    fn add_descriptor_from(&self, lowest: usize, description: Arc<Description>) -> Result<Fd, Errno> {
        let (fd, near) = self.files.descriptors.lock().add_from(lowest, description)?;
        if near {
            let usage = &self.kernel.usage;
            let open = self.files.descriptors.lock().used_and_highest().0;
            usage.warnings.add("descriptors", open, usage.limits.descriptors, Some(self.pid));
        }
        Ok(fd)
    }

    /// Allocates the lowest free descriptor for a socket. If no descriptor is free, closes the
    /// socket and fails with `EMFILE`.
    pub(super) fn install_socket(&self, id: SocketId) -> Result<Fd, Errno> {
        let description = Arc::new(Description::new(Target::Socket(id), READ_WRITE));
        let added = self.add_descriptor(description);
        added.inspect_err(|_| self.release(HeldObject::Socket(id), false))
    }

    /// Opens another descriptor for the description of `fd`: the lowest free descriptor that is at
    /// least `lowest`. Fails with `EINVAL` if no descriptor may have the number `lowest`.
    pub(super) fn duplicate(&self, fd: Fd, lowest: usize) -> Result<Fd, Errno> {
        let description = self.files.descriptors.lock().get(fd)?;
        if lowest >= self.files.descriptors.lock().limit() {
            return Err(Errno::EINVAL);
        }
        self.add_descriptor_from(lowest, description)
    }

    /// Makes `to` a descriptor of the description of `fd`, and closes the old description of `to`.
    pub(super) fn duplicate_to(&self, fd: Fd, to: Fd) -> Result<Fd, Errno> {
        let old = {
            let mut descriptors = self.files.descriptors.lock();
            let description = descriptors.get(fd)?;
            if fd == to { None } else { descriptors.replace(to, description)? }
        };
        if let Some(old) = old {
            if let Target::Socket(id) = old.target {
                self.cancel_waits(id);
            }
            self.drop_all(vec![old]);
            self.sweep_terminals();
        }
        Ok(to)
    }

    /// Completes the program's operations on a socket with `EBADF`, unless the program has another
    /// descriptor of the socket. A stream of the program waits for the socket if another part of
    /// the program closes the descriptor. Without the completions, no event would reach the stream.
    fn cancel_waits(&self, id: SocketId) {
        let is_of_socket = |description: &Arc<Description>| matches!(description.target, Target::Socket(other) if other == id);
        if self.files.descriptors.lock().slots().iter().flatten().any(is_of_socket) {
            return;
        }
        for operation in self.kernel.sockets.forget(id, self.pid) {
            self.operations.complete(operation, Err(Errno::EBADF), Vec::new());
        }
    }

    /// Closes a descriptor. If `abort` is set and no other descriptor refers to the connection, the
    /// connection is reset. Fails with `EBADF` if the descriptor is not open.
    pub(super) fn close_descriptor(&self, fd: Fd, abort: bool) -> Answer {
        let (socket, left) = {
            let mut descriptors = self.files.descriptors.lock();
            let description = descriptors.get(fd)?;
            let socket = if let Target::Socket(id) = description.target { Some(id) } else { None };
            drop(description);
            (socket, descriptors.close(fd)?)
        };
        if let Some(id) = socket {
            self.cancel_waits(id);
        }
        if let Some(held) = left {
            self.release(held, abort);
        }
        Ok(0)
    }

    fn forget_socket(&self, id: SocketId) {
        for operation in self.kernel.sockets.forget(id, self.pid) {
            self.operations.cancel(operation);
        }
    }

    pub(super) fn release(&self, held: HeldObject, abort: bool) {
        match held {
            HeldObject::Node(ino) => self.kernel.files.lock().release(ino),
            HeldObject::Socket(id) => {
                self.drop_all(self.kernel.sockets.close(id, abort));
                self.sweep_terminals();
            }
        }
    }

    /// Drops the descriptions, and releases the object of each description to which no other table
    /// refers. Closing a socket drops the descriptions passed to the socket, which may refer to
    /// sockets too. A program can make a long chain of such sockets, so the function loops and does
    /// not recurse.
    pub(super) fn drop_all(&self, mut descriptions: Vec<Arc<Description>>) {
        while let Some(description) = descriptions.pop() {
            match Arc::into_inner(description).and_then(|last| last.held()) {
                Some(HeldObject::Node(ino)) => self.kernel.files.lock().release(ino),
                Some(HeldObject::Socket(id)) => descriptions.extend(self.kernel.sockets.close(id, false)),
                None => {}
            }
        }
    }

    /// Passes the description of `fd` to the reader at the other end of `channel`.
    pub(super) fn offer(&self, channel: SocketId, fd: Fd) -> Answer {
        let description = self.files.descriptors.lock().get(fd)?;
        self.kernel.sockets.offer(channel, description).map(|()| 0)
    }

    /// Allocates a descriptor for the first description that was passed to `channel`. If no
    /// descriptor is free, fails with `EMFILE` and leaves the description in the queue.
    pub(super) fn collect(&self, channel: SocketId) -> Result<Fd, Errno> {
        if !self.files.descriptors.lock().has_room() {
            return Err(Errno::EMFILE);
        }
        let description = self.kernel.sockets.collect(channel)?;
        let added = self.add_descriptor(description.clone());
        added.inspect_err(|_| self.drop_all(vec![description]))
    }

    /// Releases the ended process's descriptors, watches, host calls and operations.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        let open = self.files.descriptors.lock().take_all();
        for description in &open {
            if let Target::Socket(id) = description.target {
                self.forget_socket(id);
            }
        }
        self.drop_all(open);
        if let Some(feed) = self.feed.lock().take() {
            self.drop_all(self.kernel.sockets.close_feed(feed));
        }
        self.kernel.sockets.end_session(self.pid);
        self.sweep_terminals();
        self.kernel.sockets.forget_process(self.pid);
        self.kernel.host_calls.abandon_all(self.pid);
        let mut tree = self.kernel.files.lock();
        tree.unwatch_all(&self.operations);
        self.files.leave(&mut tree);
        drop(tree);
        self.operations.close();
    }

    /// Makes a pipe for the process's standard input and writes `bytes` to the pipe. The embedder
    /// owns the writing end.
    pub fn open_feed(&self, bytes: &[u8]) -> Result<(), Errno> {
        let (own, feed) = self.kernel.sockets.open_feed()?;
        self.files.descriptors.lock().put(STDIN, Arc::new(Description::new(Target::Socket(own), READ_WRITE)));
        *self.feed.lock() = Some(feed);
        self.feed(bytes, false)
    }

    /// Appends `bytes` to the standard input. If `ends` is set, the input ends after these bytes.
    /// Fails with `EBADF` if the standard input is not a pipe of the embedder, and with `EPIPE`
    /// after the end of the process.
    pub fn feed(&self, bytes: &[u8], ends: bool) -> Result<(), Errno> {
        // The embedder may write while the process ends, and then the input has no reader.
        let without_input = || if self.is_closed.load(Ordering::Acquire) { Errno::EPIPE } else { Errno::EBADF };
        let feed = (*self.feed.lock()).ok_or_else(without_input)?;
        let fed = self.kernel.sockets.feed(feed, bytes, ends);
        fed.map_err(|error| if error == Errno::EBADF { without_input() } else { error })
    }

    /// Returns the kind of a descriptor as a number of Node's `guessHandleType`. Returns
    /// [`INVALID`] if the descriptor is not open.
    pub(super) fn kind_of(&self, fd: Result<Fd, Errno>) -> Answer {
        let Ok(description) = fd.and_then(|fd| self.files.descriptors.lock().get(fd)) else { return Ok(INVALID) };
        let Target::Socket(id) = description.target else { return Ok(FILE) };
        Ok(match self.kernel.sockets.kind(id)? {
            net::SocketKind::Tcp => TCP,
            net::SocketKind::Udp => UDP,
            net::SocketKind::Pipe => PIPE,
            net::SocketKind::Terminal => TTY,
        })
    }

    /// Returns whether the process listens to a signal or ignores the signal.
    pub fn withstands(&self, signal: u8) -> bool {
        self.signals.withstands(signal)
    }

    /// Returns the socket of a descriptor. Returns `None` if the descriptor refers to another
    /// object. Fails with `EBADF` if the descriptor is not open.
    pub(super) fn socket_of(&self, fd: Fd) -> Result<Option<SocketId>, Errno> {
        let description = self.files.descriptors.lock().get(fd)?;
        Ok(if let Target::Socket(id) = description.target { Some(id) } else { None })
    }
}

/// Writes to a descriptor of any kind: the import `write`. If a root program has closed descriptor
/// 1 or 2, the bytes still reach the embedder. The engine writes its last message to these
/// descriptors.
pub fn write(program: &dyn Caller, fd: Fd, bytes: &mut [u8]) -> Answer {
    match fs::write(program, fd, bytes, None) {
        Err(Errno::EBADF) if program.is_root() && (fd == STDOUT || fd == STDERR) => {
            as_answer(program.write_output(fd.get() as u8, bytes)?)
        }
        answer => answer,
    }
}

/// Reads from a descriptor of any kind: the import `read`.
pub fn read(program: &dyn Caller, fd: Fd, bytes: &mut [u8]) -> Answer {
    fs::read(program, fd, bytes, None)
}

/// Blocks the VM until a socket or an output stream is ready for an event in `mask`. Other
/// descriptors are always ready. Fails with `EBADF` if the descriptor is not open.
pub async fn wait_ready(program: &Arc<dyn Caller>, fd: Fd, mask: u32) -> Answer {
    let process = program.process();
    let description = process.files.descriptors.lock().get(fd)?;
    match description.target {
        Target::Stream { owner, .. } if mask & net::OUT != 0 => {
            drop(description);
            let owner = if owner == program.pid() { Some(program.clone()) } else { process.kernel.processes.stream_owner(owner) };
            match owner {
                Some(owner) => wait_for_output_room(&**program, &*owner).await,
                None => Ok(0),
            }
        }
        Target::Socket(id) => {
            drop(description);
            let limit = if mask & net::IN != 0 { process.kernel.sockets.read_time_limit(id) } else { None };
            let deadline = limit.map(|limit| sys::monotonic_ns().saturating_add(limit));
            let waited = wait_for(program, &[WatchTarget::Descriptor(fd, mask)], deadline).await;
            if waited == Ok(1) {
                process.kernel.sockets.end_read_time(id);
            }
            waited.map(|_| 0)
        }
        _ => Ok(0),
    }
}

/// Returns the events in `mask` for which a descriptor is ready, and an error or the end of a
/// stream. Descriptors that are no sockets are always ready.
pub fn readiness(program: &dyn Caller, fd: Fd, mask: u32) -> Result<u32, Errno> {
    let process = program.process();
    match process.socket_of(fd)? {
        Some(id) => process.kernel.sockets.readiness(id).map(|ready| ready & (mask | net::ERR | net::HUP)),
        None => Ok(mask),
    }
}

/// Blocks the VM until one of the descriptors is ready for an event in its mask, or `deadline` has
/// passed. `deadline` is in nanoseconds of the monotonic clock. Fails with `EINTR` if the caller's
/// work must stop.
pub async fn wait_for_any(program: &Arc<dyn Caller>, descriptors: &[(Fd, u32)], deadline: Option<u64>) -> Answer {
    let targets: Vec<_> = descriptors.iter().map(|(fd, mask)| WatchTarget::Descriptor(*fd, *mask)).collect();
    wait_for(program, &targets, deadline).await
}

/// Blocks the VM until a standard stream of `owner` accepts a write, `owner` ends or the caller's
/// work must stop. Fails with `EINTR` if the caller is ending.
async fn wait_for_output_room(caller: &dyn Caller, owner: &dyn Caller) -> Answer {
    let mut blocked = None;
    poll_fn(|context| {
        if caller.is_ending() {
            return Poll::Ready(Err(Errno::EINTR));
        }
        if owner.is_ending() || caller.must_stop() || owner.has_output_room(context.waker()) {
            return Poll::Ready(Ok(0));
        }
        blocked.get_or_insert_with(|| Blocked::new(caller));
        Poll::Pending
    })
    .await
}

fn as_answer(count: usize) -> Answer {
    i64::try_from(count).map_err(|_| Errno::EINVAL)
}
