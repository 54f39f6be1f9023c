//! A program's output: captured for its outcome, and sent on piece by piece where the caller reads along.
//!
//! What is captured is bounded by the limit, and cut off there; what is sent on is bounded by the window: bytes that the reader has not given
//! credit for. A guest that writes into a full window waits; one that has filled the capture goes on, and its output is marked as truncated.

use crate::kernel::usage::Mark;
use crate::options::Streams;
use std::task::Waker;

/// Bytes of streamed output that may be on their way to a reader (`docs/internals/protocol.md`).
const WINDOW: u64 = 256 << 10;
/// Bytes gathered before they are sent on.
const PIECE: usize = 64 << 10;

/// Answer to a guest's `write`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// That many bytes, at least one unless none were given.
    Taken(usize),
    /// The window is full: wait until the reader has caught up.
    Full,
}

/// What else a write has caused.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// A piece that must be sent on now.
    pub(crate) piece: Option<(u8, Vec<u8>)>,
    /// The capture of a descriptor that nobody reads along has come near its limit: how much it holds.
    pub(crate) near: Option<u64>,
}

#[derive(Debug, Default)]
struct Descriptor {
    captured: Vec<u8>,
    truncated: bool,
    mark: Mark,
    /// Streamed, but not sent yet.
    gathered: Vec<u8>,
}

/// What a program's standard streams have captured, and whether there was more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SavedOutput {
    pub(crate) stdout: (Vec<u8>, bool),
    pub(crate) stderr: (Vec<u8>, bool),
}

impl SavedOutput {
    /// Bytes of the fuller one.
    pub(crate) fn most(&self) -> u64 {
        self.stdout.0.len().max(self.stderr.0.len()) as u64
    }

    /// Bytes of both.
    pub(super) fn own_bytes(&self) -> u64 {
        (self.stdout.0.len() + self.stderr.0.len()) as u64
    }
}

/// Output of one program, or of one evaluation.
#[derive(Debug)]
pub(crate) struct Output {
    descriptors: [Descriptor; 2],
    streams: Streams,
    limit: u64,
    /// Streamed bytes without credit, gathered ones included.
    unread: u64,
    /// Tasks that wait for the window.
    pub(crate) waiting: Vec<Waker>,
}

impl Output {
    pub(crate) fn new(streams: Streams, limit: u64) -> Self {
        Self { descriptors: Default::default(), streams, limit, unread: 0, waiting: Vec::new() }
    }

    /// From now on these descriptors are sent on: another evaluation begins. What was captured since the last one stays.
    pub(crate) fn set_streams(&mut self, streams: Streams) {
        self.streams = streams;
        self.unread = 0;
    }

    pub(crate) fn streams(&self) -> Streams {
        self.streams
    }

    /// The same, and what was captured so far is sent on first where nothing was sent on before. More than the window, perhaps: it is there.
    pub(crate) fn stream(&mut self, streams: Streams) {
        let news = [streams.stdout && !self.streams.stdout, streams.stderr && !self.streams.stderr];
        for (descriptor, is_new) in self.descriptors.iter_mut().zip(news) {
            if is_new {
                self.unread += descriptor.captured.len() as u64;
                descriptor.gathered = descriptor.captured.clone();
            }
        }
        self.streams = streams;
    }

    /// What is captured, as a value.
    pub(super) fn save(&self) -> SavedOutput {
        let [stdout, stderr] = self.descriptors.each_ref().map(|descriptor| (descriptor.captured.clone(), descriptor.truncated));
        SavedOutput { stdout, stderr }
    }

    /// What was captured by the program that this one is a copy of.
    pub(super) fn revive(&mut self, saved: &SavedOutput) {
        for (descriptor, (captured, truncated)) in self.descriptors.iter_mut().zip([&saved.stdout, &saved.stderr]) {
            descriptor.captured.clone_from(captured);
            descriptor.truncated = *truncated;
            // Whoever was warned of it was the original's caller.
            descriptor.mark.rose(captured.len() as u64, u64::MAX);
        }
    }

    fn streamed(&self, fd: u8) -> bool {
        if fd == 1 { self.streams.stdout } else { self.streams.stderr }
    }

    /// Takes as much of `bytes` as may be taken now. `fd` is 1 or 2.
    pub(crate) fn write(&mut self, fd: u8, bytes: &[u8]) -> (Written, Effect) {
        let streamed = self.streamed(fd);
        let window = WINDOW.saturating_sub(self.unread) as usize;
        let taken = if streamed { bytes.len().min(window).min(PIECE) } else { bytes.len() };
        if taken == 0 && !bytes.is_empty() {
            return (Written::Full, Effect::default());
        }
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let descriptor = &mut self.descriptors[usize::from(fd == 2)];
        let room = limit.saturating_sub(descriptor.captured.len()).min(taken);
        descriptor.captured.extend_from_slice(&bytes[..room]);
        descriptor.truncated |= room < taken;
        let held = descriptor.captured.len() as u64;
        let is_near = !streamed && descriptor.mark.rose(held, self.limit);
        let mut effect = Effect { piece: None, near: is_near.then_some(held) };
        if streamed {
            self.unread += taken as u64;
            descriptor.gathered.extend_from_slice(&bytes[..taken]);
            if descriptor.gathered.len() >= PIECE {
                effect.piece = Some((fd, std::mem::take(&mut descriptor.gathered)));
            }
        }
        (Written::Taken(taken), effect)
    }

    /// Whether a write to a streamed descriptor would be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.unread < WINDOW
    }

    /// The reader has caught up by `bytes`; the tasks that can go on now.
    pub(crate) fn credit(&mut self, bytes: u64) -> Vec<Waker> {
        self.unread = self.unread.saturating_sub(bytes);
        if self.has_room() { std::mem::take(&mut self.waiting) } else { Vec::new() }
    }

    /// What was gathered and must be sent on, because the guest pauses or ends.
    pub(crate) fn flush(&mut self) -> Vec<(u8, Vec<u8>)> {
        let mut pieces = Vec::new();
        for (fd, descriptor) in [1, 2].into_iter().zip(&mut self.descriptors) {
            if !descriptor.gathered.is_empty() {
                pieces.push((fd, std::mem::take(&mut descriptor.gathered)));
            }
        }
        pieces
    }

    /// Captured bytes and whether there was more, for descriptors 1 and 2.
    pub(crate) fn take(&mut self) -> [(Vec<u8>, bool); 2] {
        self.descriptors.each_mut().map(|descriptor| {
            descriptor.mark.fell(0, u64::MAX);
            (std::mem::take(&mut descriptor.captured), std::mem::take(&mut descriptor.truncated))
        })
    }

    /// The most that one descriptor has captured now, and has at most.
    pub(crate) fn look(&self) -> (u64, u64) {
        let most = |of: fn(&Descriptor) -> u64| self.descriptors.iter().map(of).max().unwrap_or(0);
        (most(|descriptor| descriptor.captured.len() as u64), most(|descriptor| descriptor.mark.high()))
    }

    /// Has `waker` called when there is room.
    pub(crate) fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    /// Bytes held for readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.descriptors.iter().map(|descriptor| (descriptor.captured.len() + descriptor.gathered.len()) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Streams = Streams { stdout: true, stderr: true };

    #[test]
    fn captures_up_to_the_limit_and_says_so() {
        let mut output = Output::new(Streams::default(), 5);
        assert_eq!(output.write(1, b"abc"), (Written::Taken(3), Effect::default()));
        assert_eq!(output.write(1, b"defg"), (Written::Taken(4), Effect { piece: None, near: Some(5) }));
        assert_eq!(output.write(1, &[0; 1_000]), (Written::Taken(1_000), Effect::default()), "it goes on, and is not kept");
        assert_eq!(output.write(2, b"x").1, Effect::default(), "each descriptor has its own limit");
        assert_eq!(output.take(), [(b"abcde".to_vec(), true), (b"x".to_vec(), false)]);
        assert_eq!(output.write(1, b"abcd").1.near, Some(4), "what comes after is counted anew");
    }

    #[test]
    fn a_full_window_stops_the_guest_and_credit_lets_it_go_on() {
        let mut output = Output::new(BOTH, 10);
        let block = vec![7_u8; PIECE];
        for _ in 0..WINDOW as usize / PIECE {
            let (written, effect) = output.write(1, &block);
            assert_eq!(written, Written::Taken(PIECE));
            assert_eq!(effect.piece.map(|(fd, piece)| (fd, piece.len())), Some((1, PIECE)));
            assert_eq!(effect.near, None, "a reader is there");
        }
        assert_eq!(output.write(1, b"more").0, Written::Full);
        assert_eq!(output.write(2, b"more").0, Written::Full, "the window is one for both");
        assert!(output.credit(3).is_empty());
        assert_eq!(output.write(1, b"more").0, Written::Taken(3));
        assert_eq!(output.flush(), [(1, b"mor".to_vec())]);
        assert_eq!(output.buffered(), 10);
    }

    #[test]
    fn small_writes_are_sent_together() {
        let mut output = Output::new(BOTH, 10);
        for _ in 0..3 {
            assert_eq!(output.write(2, b"ab").1, Effect::default());
        }
        assert_eq!(output.flush(), [(2, b"ababab".to_vec())]);
        assert!(output.flush().is_empty());
    }
}
