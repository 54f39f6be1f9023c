//! The writing side of the connection, shared by all threads.
//!
//! Whoever ends a program sends the answer itself, at once: handing it to the reading thread would cost a wake-up. No thread ever blocks
//! on a slow parent. When the socket is full, frames queue up here, the reading thread is woken through an event descriptor and sends
//! them as the socket drains. While the reading thread handles a batch of frames, its own answers wait for the end of the batch and leave
//! in one call. What may pile up is bounded elsewhere: the stream windows bound `output`, and [`crate::serve`] takes no new requests
//! while more than [`HIGH_WATER`] bytes wait.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::channel::{Attempt, Channel};

/// While more bytes than this wait for the parent, no new requests are read.
pub const HIGH_WATER: usize = 1 << 20;

/// A batch that has queued this much does not wait for its end.
const BATCH_BYTES: usize = 128 << 10;

/// Frames per call to the kernel.
const SLICES: usize = 64;

/// How long a dying connection waits for its last frames to leave.
const LAST_WORDS: Duration = Duration::from_secs(1);

thread_local! {
    /// This thread reads and is handling a batch.
    static IN_BATCH: Cell<bool> = const { Cell::new(false) };
    /// Frames that this thread has pushed so far.
    static PUSHED: Cell<u64> = const { Cell::new(0) };
}

/// How many frames this thread has pushed so far.
pub fn pushed_here() -> u64 {
    PUSHED.get()
}

/// See the module.
pub struct Outgoing {
    channel: Channel,
    wake: OwnedFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    /// Bytes of the first frame in `queue` that have been sent.
    sent: usize,
    /// Bytes in `queue` that have not been sent.
    waiting: usize,
    /// The socket was full; the reading thread will go on when it is not.
    blocked: bool,
    /// The parent has gone: nothing is kept any more.
    gone: bool,
}

/// What the reading thread needs to know before it sleeps.
pub struct Backlog {
    /// It must wait for room in the socket.
    pub blocked: bool,
    /// It must not read new requests.
    pub full: bool,
}

impl Outgoing {
    /// The writing side of `channel`.
    pub fn new(channel: Channel) -> rustix::io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { channel, wake, state: Mutex::default() })
    }

    /// The socket, for reading.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Becomes readable when [`Outgoing::backlog`] has changed behind the reading thread's back.
    pub fn wakes(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Sends a frame, or queues it. Never blocks.
    pub fn push(&self, frame: Vec<u8>) {
        let mut state = self.state.lock();
        if state.gone {
            return;
        }
        state.waiting += frame.len();
        state.queue.push_back(frame);
        PUSHED.set(PUSHED.get() + 1);
        if state.blocked || (IN_BATCH.get() && state.waiting < BATCH_BYTES) {
            return;
        }
        self.send(&mut state);
        if state.blocked && !IN_BATCH.get() {
            // The reading thread may be asleep and know nothing of this.
            self.wake();
        }
    }

    /// Wakes the reading thread. It cannot fail: the counter is far from its limit.
    pub fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Handles a batch: frames that this thread pushes in `work` leave together afterwards.
    pub fn batch<T>(&self, work: impl FnOnce() -> T) -> T {
        IN_BATCH.set(true);
        let value = work();
        IN_BATCH.set(false);
        let mut state = self.state.lock();
        if !state.blocked {
            self.send(&mut state);
        }
        value
    }

    /// The reading thread goes on sending: the socket may have room again.
    pub fn resume(&self) {
        let mut state = self.state.lock();
        state.blocked = false;
        self.send(&mut state);
    }

    /// The reading thread has seen that it was woken.
    pub fn woken(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        let state = self.state.lock();
        Backlog { blocked: state.blocked, full: state.waiting > HIGH_WATER }
    }

    /// Bytes that wait for the parent.
    pub fn waiting(&self) -> u64 {
        self.state.lock().waiting as u64
    }

    /// Waits until all has been sent, for [`LAST_WORDS`] at most: a connection's last frame says why it ends.
    pub fn drain(&self) {
        let end = Instant::now() + LAST_WORDS;
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

    /// Sends from the queue until it is empty or the socket is full.
    fn send(&self, state: &mut State) {
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
                Attempt::Gone => {
                    // The reading side notices by itself and ends the process.
                    *state = State { gone: true, ..State::default() };
                    return;
                }
            }
        }
    }
}

impl State {
    /// `n` bytes from the front have been sent.
    fn advance(&mut self, n: usize) {
        self.waiting -= n;
        self.sent += n;
        while let Some(frame) = self.queue.front().filter(|frame| frame.len() <= self.sent) {
            self.sent -= frame.len();
            self.queue.pop_front();
        }
    }
}
