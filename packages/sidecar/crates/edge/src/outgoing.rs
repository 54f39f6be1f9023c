//! The bytes to the sidecar: a buffer, the task that writes the buffer, and the queues of events.
//!
//! Replies and the ends of flows are never dropped. Data of flows waits while the buffer is full,
//! so that a sidecar that reads slowly slows the peers. Requests wait while the buffer is far too
//! full. Events wait in their own queues, and are lost if a queue is full. Next: `runtime.rs`.

use coldframe_edge_link::{
    DATA_HEAD_BYTES, Event, Failure, FailureKind, MAX_DATA_BYTES, Message, ToSidecar, Unencodable, data_head,
};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::ReadBuf;
use tokio::net::UnixStream;

/// The largest number of events of one runtime that wait.
pub const MAX_EVENTS: usize = 4_096;
/// The number of waiting bytes from which on flows wait. A message waits behind these bytes, which
/// take 0.1 ms at 2.5 GB/s.
const FLOWS_WAIT: usize = 256 << 10;
/// The number of waiting bytes from which on the edge reads no message.
const READER_WAITS: usize = 8 << 20;
/// The number of waiting bytes up to which events are added.
const EVENTS_WAIT: usize = 64 << 10;
/// A larger buffer is freed when the buffer is empty.
const SMALL_BUFFER: usize = 1 << 20;

/// The bytes to the sidecar.
#[derive(Default)]
pub struct Outgoing(RefCell<Inner>);

#[derive(Default)]
struct Inner {
    /// The bytes at `start..end` wait. The bytes behind are initialized, so that data is read into
    /// the buffer without a copy.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    scratch: Vec<u8>,
    writer: Option<Waker>,
    reader: Option<Waker>,
    flows: HashMap<u32, Waker>,
    events: HashMap<u64, Queue>,
    /// The runtimes with waiting events, in turns.
    with_events: VecDeque<u64>,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    lost: u64,
}

impl Inner {
    fn waiting(&self) -> usize {
        self.end - self.start
    }

    /// Returns the initialized bytes behind the waiting bytes, at least `count`.
    fn space(&mut self, count: usize) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > SMALL_BUFFER {
                self.buffer = Vec::new();
            }
        }
        if self.buffer.len() - self.end < count && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buffer.len() - self.end < count {
            let size = (self.buffer.len() * 2).max(self.end + count).max(FLOWS_WAIT);
            self.buffer.resize(size, 0);
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    fn append(&mut self, id: u32, message: &ToSidecar<'_>) -> Result<(), Unencodable> {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        let encoded = message.encode(id, &mut bytes);
        if let Some(space) = self.space(bytes.len()).get_mut(..bytes.len()) {
            space.copy_from_slice(&bytes);
            self.end += bytes.len();
        }
        if bytes.capacity() <= MAX_DATA_BYTES {
            self.scratch = bytes;
        }
        self.wake_writer();
        encoded
    }

    fn wake_writer(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
    }

    /// Adds waiting events to the buffer, one of each runtime in turn.
    fn add_events(&mut self) {
        while self.waiting() < EVENTS_WAIT {
            let Some(runtime) = self.with_events.pop_front() else { return };
            let Some(queue) = self.events.get_mut(&runtime) else { continue };
            let Some(event) = queue.events.pop_front() else { continue };
            let lost = std::mem::take(&mut queue.lost);
            if !queue.events.is_empty() {
                self.with_events.push_back(runtime);
            }
            // An event is far shorter than a frame.
            let _ = self.append(0, &ToSidecar::Event { runtime, event, lost });
        }
    }

    fn written(&mut self, count: usize) {
        self.start += count;
        if self.waiting() < FLOWS_WAIT {
            self.flows.drain().for_each(|(_, waker)| waker.wake());
        }
        if self.waiting() < READER_WAITS {
            self.reader.take().into_iter().for_each(Waker::wake);
        }
    }
}

impl Outgoing {
    /// Adds a message. A reply that is longer than a frame becomes a failure.
    pub fn send(&self, id: u32, message: &ToSidecar<'_>) {
        let mut inner = self.0.borrow_mut();
        if let Err(error) = inner.append(id, message) {
            let kind = FailureKind::Dns("EBADRESP".to_owned());
            let _ = inner.append(id, &ToSidecar::Failed { failure: Failure { kind, message: error.to_string() } });
        }
    }

    /// Reads at most `most` bytes of a flow into the buffer. `read` reads. Returns the number of
    /// bytes. Waits while the buffer is full.
    pub fn read(
        &self,
        id: u32,
        most: usize,
        cx: &mut Context<'_>,
        read: impl FnOnce(&mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<()>>,
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.0.borrow_mut();
        if inner.waiting() >= FLOWS_WAIT {
            inner.flows.insert(id, cx.waker().clone());
            return Poll::Pending;
        }
        let most = most.min(MAX_DATA_BYTES);
        let space = inner.space(DATA_HEAD_BYTES + most);
        let Some((head, data)) = space.split_first_chunk_mut::<DATA_HEAD_BYTES>() else { return Poll::Ready(Ok(0)) };
        let mut data = ReadBuf::new(data.get_mut(..most).unwrap_or_default());
        ready!(read(cx, &mut data))?;
        let count = data.filled().len();
        if count > 0 {
            *head = data_head(ToSidecar::DATA_KIND, id, count);
            inner.end += DATA_HEAD_BYTES + count;
            inner.wake_writer();
        }
        Poll::Ready(Ok(count))
    }

    /// Waits until the buffer has space for a datagram of a flow.
    pub fn poll_space_of(&self, id: u32, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.0.borrow_mut();
        if inner.waiting() < FLOWS_WAIT {
            return Poll::Ready(());
        }
        inner.flows.insert(id, cx.waker().clone());
        Poll::Pending
    }

    /// Turns the events of a runtime on or off.
    pub fn watch(&self, runtime: u64, on: bool) {
        let mut inner = self.0.borrow_mut();
        if on {
            inner.events.entry(runtime).or_default();
        } else {
            inner.events.remove(&runtime);
            inner.with_events.retain(|other| *other != runtime);
        }
    }

    /// Adds an event of a runtime if the runtime is watched.
    pub fn event(&self, runtime: u64, event: impl FnOnce() -> Event) {
        let mut inner = self.0.borrow_mut();
        let Some(queue) = inner.events.get_mut(&runtime) else { return };
        if queue.events.len() >= MAX_EVENTS {
            queue.lost += 1;
            return;
        }
        queue.events.push_back(event());
        if queue.events.len() == 1 {
            inner.with_events.push_back(runtime);
        }
        inner.wake_writer();
    }

    /// Waits until the buffer has space for replies.
    pub fn poll_space(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.0.borrow_mut();
        if inner.waiting() < READER_WAITS {
            return Poll::Ready(());
        }
        inner.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Writes the buffer to the link. Ends with the error of the link.
    pub fn poll_write(&self, link: &UnixStream, cx: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            let mut inner = self.0.borrow_mut();
            inner.add_events();
            let bytes = inner.buffer.get(inner.start..inner.end).unwrap_or_default();
            if bytes.is_empty() {
                inner.writer = Some(cx.waker().clone());
                return Poll::Pending;
            }
            match link.try_write(bytes) {
                Ok(0) => return Poll::Ready(io::ErrorKind::WriteZero.into()),
                Ok(count) => inner.written(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    drop(inner);
                    if let Err(error) = ready!(link.poll_write_ready(cx)) {
                        return Poll::Ready(error);
                    }
                }
                Err(error) => return Poll::Ready(error),
            }
        }
    }
}
