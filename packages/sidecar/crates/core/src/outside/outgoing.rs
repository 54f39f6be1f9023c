//! The bytes that wait for the edge process. No caller of [`Outgoing::push`] waits.
//!
//! The caller writes to the socket itself if nothing waits and the socket accepts the bytes,
//! because waking another thread takes longer than the write. All other bytes wait in a queue for
//! the writing thread. Bytes also wait until the greeting of the edge process is complete. Next:
//! `link.rs`.

use coldframe_panics::process::{Condvar, Mutex};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// The largest number of bytes that wait. The edge process never stops reading, and the windows of
/// flows bound the bytes of a runtime. An edge process with more waiting bytes has stopped.
pub(super) const MAX_WAITING_BYTES: usize = 1 << 30;

/// The bytes that wait for the edge process.
#[derive(Default)]
pub(super) struct Outgoing {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    socket: Option<Arc<OwnedFd>>,
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    /// Whether the writing thread is writing bytes that are no longer in `waiting`.
    is_writing: bool,
    /// Whether the greeting is complete, so that bytes may be written.
    is_open: bool,
    /// The time after which the edge process is idle. `None` while a runtime uses the process.
    idle: Option<Duration>,
    is_closed: bool,
}

/// The next action of the writing thread.
pub(super) enum Next {
    Write(Arc<OwnedFd>, VecDeque<Vec<u8>>),
    /// No runtime has used the edge process for the time that was set.
    Idle,
    End,
}

impl Outgoing {
    /// Sends or queues a frame. Returns false if too many bytes wait, or the link has ended.
    pub fn push(&self, frame: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        if state.is_closed {
            return false;
        }
        let mut sent = 0;
        if state.is_open
            && state.waiting.is_empty()
            && !state.is_writing
            && let Some(socket) = &state.socket
        {
            sent = send_now(socket, &frame);
        }
        if sent == frame.len() {
            return true;
        }
        let frame = if sent == 0 { frame } else { frame.get(sent..).unwrap_or_default().to_vec() };
        state.waiting_bytes += frame.len();
        state.waiting.push_back(frame);
        self.ready.notify_one();
        state.waiting_bytes <= MAX_WAITING_BYTES
    }

    /// Sets the socket. The waiting bytes are written after [`Outgoing::open`]. Returns false if
    /// the link has ended.
    pub fn connect(&self, socket: Arc<OwnedFd>) -> bool {
        let mut state = self.state.lock();
        state.socket = Some(socket);
        !state.is_closed
    }

    /// Ends the wait for the greeting. The waiting bytes are written next.
    pub fn open(&self) {
        self.state.lock().is_open = true;
        self.ready.notify_one();
    }

    /// Waits for bytes to write. Only the writing thread calls this function.
    pub fn next(&self) -> Next {
        let mut state = self.state.lock();
        state.is_writing = false;
        loop {
            if state.is_closed {
                return Next::End;
            }
            if let Some(socket) = state.socket.clone().filter(|_| state.is_open && !state.waiting.is_empty()) {
                state.is_writing = true;
                state.waiting_bytes = 0;
                return Next::Write(socket, std::mem::take(&mut state.waiting));
            }
            match state.idle {
                None => self.ready.wait(&mut state),
                Some(time) => {
                    let is_over = self.ready.wait_for(&mut state, time).timed_out();
                    if is_over && state.idle.is_some() && !state.is_closed && state.waiting.is_empty() {
                        return Next::Idle;
                    }
                }
            }
        }
    }

    /// Sets the time after which the edge process is idle. `None` means never.
    pub fn set_idle(&self, idle: Option<Duration>) {
        let mut state = self.state.lock();
        // The writing thread waits again, with the new time.
        if std::mem::replace(&mut state.idle, idle) != idle {
            self.ready.notify_all();
        }
    }

    /// Drops the waiting bytes and ends the writing thread. Bytes in the socket are lost too.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.waiting = VecDeque::new();
        if let Some(socket) = state.socket.take() {
            // The reading thread then reads the end of the stream.
            let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Both);
        }
        self.ready.notify_all();
    }
}

/// Writes as many bytes as the socket accepts at once.
fn send_now(socket: &OwnedFd, bytes: &[u8]) -> usize {
    loop {
        match send(socket.as_fd(), bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(count) => return count,
            Err(Errno::INTR) => {}
            // The reading thread reports a broken socket.
            Err(_) => return 0,
        }
    }
}

/// Writes all bytes. Returns false if the socket is broken.
pub(super) fn send_all(socket: &OwnedFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match send(socket.as_fd(), bytes, SendFlags::NOSIGNAL) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}
