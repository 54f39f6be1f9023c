//! Descriptors across the parts of the kernel: giving numbers to sockets, reading and writing whatever a number stands for, closing.
//! Next: `processes/`, which hands descriptors on to children.

use super::descriptors::{Description, Held, READ_WRITE, Target};
use super::{Answer, Process, fs, net};
use crate::caller::{Blocked, Caller};
use crate::ids::SocketId;
use coldframe_error::Errno;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// libuv's words for what a descriptor is, in the order of Node's `guessHandleType`.
const TCP: i64 = 0;
const UDP: i64 = 2;
const FILE: i64 = 3;
const PIPE: i64 = 4;
const INVALID: i64 = 6;

impl Process {
    /// Gives what was opened the lowest free number.
    pub(super) fn add_descriptor(&self, description: Arc<Description>) -> Answer {
        let (fd, near) = self.files.descriptors.lock().add(description)?;
        if near {
            let usage = &self.kernel.usage;
            let open = self.files.descriptors.lock().look().0;
            usage.warnings.add("descriptors", open, usage.limits.descriptors, Some(self.pid));
        }
        Ok(fd)
    }

    /// Gives a socket the lowest free number; when there is none, the socket is closed.
    pub(super) fn install_socket(&self, id: SocketId) -> Answer {
        let description = Arc::new(Description::new(Target::Socket(id), READ_WRITE));
        let added = self.add_descriptor(description);
        added.inspect_err(|_| self.release(Held::Socket(id), false))
    }

    /// Frees a descriptor. `abort`: a connection is reset.
    pub(super) fn close_descriptor(&self, fd: i64, abort: bool) -> Answer {
        let (socket, left) = {
            let mut descriptors = self.files.descriptors.lock();
            let description = descriptors.get(fd)?;
            let socket = if let Target::Socket(id) = description.target { Some(id) } else { None };
            drop(description);
            (socket, descriptors.close(fd)?)
        };
        if let Some(id) = socket {
            self.forget_socket(id);
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

    pub(super) fn release(&self, held: Held, abort: bool) {
        match held {
            Held::Node(ino) => self.kernel.files.lock().release(ino),
            Held::Socket(id) => self.drop_all(self.kernel.sockets.close(id, abort)),
        }
    }

    /// Lets go of descriptions that no table holds, or that one has held. With a socket goes what waited there, which may be a socket too: no
    /// recursion, a program can make that chain long.
    pub(super) fn drop_all(&self, mut descriptions: Vec<Arc<Description>>) {
        while let Some(description) = descriptions.pop() {
            match Arc::into_inner(description).and_then(|last| last.held()) {
                Some(Held::Node(ino)) => self.kernel.files.lock().release(ino),
                Some(Held::Socket(id)) => descriptions.extend(self.kernel.sockets.close(id, false)),
                None => {}
            }
        }
    }

    /// Sends what `fd` stands for along to who reads at the other end of `channel`.
    pub(super) fn offer(&self, channel: SocketId, fd: i64) -> Answer {
        let description = self.files.descriptors.lock().get(fd)?;
        self.kernel.sockets.offer(channel, description).map(|()| 0)
    }

    /// Gives the first socket that waits at `channel` a number. `EMFILE`: it goes on waiting.
    pub(super) fn collect(&self, channel: SocketId) -> Answer {
        if !self.files.descriptors.lock().has_room() {
            return Err(Errno::EMFILE);
        }
        let description = self.kernel.sockets.collect(channel)?;
        let added = self.add_descriptor(description.clone());
        added.inspect_err(|_| self.drop_all(vec![description]))
    }

    /// It has ended: lets go of what it holds in the kernel.
    pub fn close(&self) {
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
        self.kernel.sockets.leave(self.pid);
        self.kernel.host_calls.leave(self.pid);
        let mut tree = self.kernel.files.lock();
        tree.unwatch_all(&self.operations);
        self.files.leave(&mut tree);
        drop(tree);
        self.operations.close();
    }

    /// Makes its standard input a pipe that the caller outside writes to, `bytes` first.
    pub fn open_feed(&self, bytes: &[u8]) -> Result<(), Errno> {
        let (own, feed) = self.kernel.sockets.open_feed()?;
        self.files.descriptors.lock().put(0, Arc::new(Description::new(Target::Socket(own), READ_WRITE)));
        *self.feed.lock() = Some(feed);
        self.feed(bytes, false)
    }

    /// More for its standard input.
    pub fn feed(&self, bytes: &[u8], ends: bool) -> Result<(), Errno> {
        let feed = *self.feed.lock();
        self.kernel.sockets.feed(feed.ok_or(Errno::EBADF)?, bytes, ends)
    }

    /// What a descriptor is, as Node's library asks.
    pub(super) fn kind_of(&self, fd: i64) -> Answer {
        let Ok(description) = self.files.descriptors.lock().get(fd) else { return Ok(INVALID) };
        let Target::Socket(id) = description.target else { return Ok(FILE) };
        Ok(match self.kernel.sockets.kind(id)? {
            net::Kind::Tcp => TCP,
            net::Kind::Udp => UDP,
            net::Kind::Pipe => PIPE,
        })
    }

    /// The socket behind a descriptor, if there is one.
    pub(super) fn socket_of(&self, fd: i64) -> Result<Option<SocketId>, Errno> {
        let description = self.files.descriptors.lock().get(fd)?;
        Ok(if let Target::Socket(id) = description.target { Some(id) } else { None })
    }
}

/// The import `write`: what a program writes to a descriptor without asking what it is. The caller outside hears what is written to a
/// standard stream of its own program even when that descriptor has been closed: the engine's last words go there.
pub fn write(program: &dyn Caller, fd: i64, bytes: &mut [u8]) -> Answer {
    match fs::write(program, fd, bytes, None) {
        Err(Errno::EBADF) if program.is_root() && (fd == 1 || fd == 2) => as_answer(program.write_output(fd as u8, bytes)?),
        answer => answer,
    }
}

/// The import `read`.
pub fn read(program: &dyn Caller, fd: i64, bytes: &mut [u8]) -> Answer {
    fs::read(program, fd, bytes, None)
}

/// Blocks the VM until a descriptor is ready for something in `mask`.
pub async fn wait_ready(program: &Arc<dyn Caller>, fd: i64, mask: u32) -> Answer {
    let process = program.process();
    let description = process.files.descriptors.lock().get(fd)?;
    match description.target {
        Target::Stream { owner, .. } if mask & net::OUT != 0 => {
            drop(description);
            let owner = if owner == program.pid() { Some(program.clone()) } else { process.kernel.processes.program(owner) };
            match owner {
                Some(owner) => wait_for_output_room(&**program, &*owner).await,
                None => Ok(0),
            }
        }
        Target::Socket(_) => {
            drop(description);
            super::processes::wait_for(program, &[(fd, mask)], &[], None).await
        }
        _ => Ok(0),
    }
}

/// Blocks the VM until a write to a standard stream of `owner` would be taken.
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
