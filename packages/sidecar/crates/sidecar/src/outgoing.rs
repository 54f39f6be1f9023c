//! The writing side of the connection, shared by all threads.
//!
//! The thread that ends a program sends the reply itself, because passing the reply to the reading
//! thread would cost a wake-up. No thread blocks on a slow embedder. When the socket is full,
//! frames are queued in [`Outgoing`]. An event descriptor wakes the reading thread, which sends the
//! queued frames when the socket is writable. While the reading thread handles a batch of frames,
//! its own replies wait for the end of the batch and are sent in one call. This module does not
//! bound the queue: stream windows bound `output`, and [`crate::serve`] reads no new requests while
//! more than [`HIGH_WATER`] bytes wait.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use coldframe_panics::process::Mutex;
use coldframe_session::{Message, Outlet};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::channel::{Attempt, Channel};

/// The number of queued bytes above which no new requests are read.
pub const HIGH_WATER: usize = 1 << 20;

/// The number of bytes above which the replies of a batch are sent before the batch ends.
const BATCH_BYTES: usize = 128 << 10;

/// The largest number of frames in one system call.
const SLICES: usize = 64;

/// The longest time that an ending connection waits until its last frames are sent.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

thread_local! {
    /// Whether this thread reads and handles a batch.
    static IN_BATCH: Cell<bool> = const { Cell::new(false) };
    /// The number of frames that this thread has pushed.
    static PUSHED: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of frames that this thread has pushed.
pub fn pushed_here() -> u64 {
    PUSHED.get()
}

/// The queue of outgoing frames and the socket.
pub struct Outgoing {
    channel: Channel,
    wake: OwnedFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    /// Sent bytes of the first frame in `queue`.
    sent: usize,
    /// Bytes in `queue` that were not sent.
    waiting: usize,
    /// Whether the socket is full. The reading thread sends the queued frames when the socket is
    /// writable.
    blocked: bool,
    /// Whether the embedder has disconnected. If so, further frames are dropped.
    disconnected: bool,
}

/// The state of the queue, for the reading thread before it sleeps.
pub struct Backlog {
    /// Whether the socket must become writable before the next frame is sent.
    pub blocked: bool,
    /// Whether no new requests may be read.
    pub full: bool,
}

impl Outgoing {
    /// Makes the writing side of `channel`.
    pub fn new(channel: Channel) -> rustix::io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { channel, wake, state: Mutex::default() })
    }

    /// Returns the socket, for reading.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Returns a descriptor that becomes readable when another thread wakes the reading thread,
    /// because the socket is full or the session has tasks.
    pub fn wakes(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Sends or queues a frame. Drops the frame if the embedder has disconnected. Never blocks.
    pub fn push(&self, frame: Vec<u8>) {
        let mut state = self.state.lock();
        if state.disconnected {
            return;
        }
        state.waiting += frame.len();
        state.queue.push_back(frame);
        PUSHED.set(PUSHED.get() + 1);
        if state.blocked || (IN_BATCH.get() && state.waiting < BATCH_BYTES) {
            return;
        }
        self.send_queued(&mut state);
        if state.blocked && !IN_BATCH.get() {
            // The reading thread may be blocked in `poll`.
            self.wake_reader();
        }
    }

    /// Wakes the reading thread. The call cannot fail, because the counter is far below its limit.
    fn wake_reader(&self) {
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Runs `work`, and then sends the frames that `work` has pushed on this thread in one call.
    pub fn batch<T>(&self, work: impl FnOnce() -> T) -> T {
        IN_BATCH.set(true);
        let value = work();
        IN_BATCH.set(false);
        let mut state = self.state.lock();
        if !state.blocked {
            self.send_queued(&mut state);
        }
        value
    }

    /// Continues sending when the socket may be writable.
    pub fn resume(&self) {
        let mut state = self.state.lock();
        state.blocked = false;
        self.send_queued(&mut state);
    }

    /// Resets the event descriptor after the descriptor has woken the reading thread.
    pub fn woken(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }

    /// Returns the state of the queue.
    pub fn backlog(&self) -> Backlog {
        let state = self.state.lock();
        Backlog { blocked: state.blocked, full: state.waiting > HIGH_WATER }
    }

    /// Waits until all frames are sent, for at most [`DRAIN_TIMEOUT`]. The last frame has the
    /// reason why the connection ends.
    pub fn drain(&self) {
        let end = Instant::now() + DRAIN_TIMEOUT;
        loop {
            self.resume();
            let left = end.saturating_duration_since(Instant::now());
            if !self.backlog().blocked || left.is_zero() {
                return;
            }
            let time = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
            let _ = poll(&mut [PollFd::new(&self.channel, PollFlags::OUT)], Some(&time));
        }
    }

    /// Sends frames until the queue is empty or the socket is full.
    fn send_queued(&self, state: &mut State) {
        while !state.queue.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let mut count = 0;
            for (slice, frame) in slices.iter_mut().zip(&state.queue) {
                let skip = if count == 0 { state.sent } else { 0 };
                *slice = IoSlice::new(&frame[skip..]);
                count += 1;
            }
            match self.channel.send(&slices[..count]) {
                Attempt::Done(n) => state.advance(n),
                Attempt::Later => {
                    state.blocked = true;
                    return;
                }
                Attempt::Disconnected => {
                    // The reading side detects the end of the connection and exits.
                    *state = State { disconnected: true, ..State::default() };
                    return;
                }
            }
        }
    }
}

impl Outlet for Outgoing {
    fn send(&self, message: Message) {
        self.push(message.into_frame());
    }

    fn wake(&self) {
        self.wake_reader();
    }

    fn queued_bytes(&self) -> u64 {
        self.state.lock().waiting as u64
    }
}

impl State {
    /// Removes `n` sent bytes from the front.
    fn advance(&mut self, n: usize) {
        self.waiting -= n;
        self.sent += n;
        while let Some(frame) = self.queue.front().filter(|frame| frame.len() <= self.sent) {
            self.sent -= frame.len();
            self.queue.pop_front();
        }
    }
}
