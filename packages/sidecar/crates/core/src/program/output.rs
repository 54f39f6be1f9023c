//! A program's output: captured for the outcome, and streamed in pieces to a reader.
//!
//! A limit bounds the captured output. Output beyond the limit is cut off. The window bounds the
//! streamed bytes for which the reader has returned no credit. A guest that writes into a full
//! window waits. A guest that has filled the capture continues, and its output is marked as
//! truncated. Next: `shared_output.rs`, which the threads of several programs call.

use crate::options::Streams;
use coldframe_ids::EvaluationId;
use coldframe_kernel::usage::Mark;
use std::task::Waker;

/// The largest number of streamed bytes without credit (`docs/internals/protocol.md`).
const WINDOW: u64 = 256 << 10;
/// The part of the window that a terminal leaves free for the output that remains when its program
/// ends. The queue of a terminal has at most this number of bytes.
const TERMINAL_REST: u64 = 32 << 10;
/// The number of gathered bytes at which a piece is sent.
const PIECE: usize = 64 << 10;

/// The most bytes of a descriptor from before an evaluation that the evaluation's reader receives.
const EARLIER: usize = WINDOW as usize / 4;

/// The result of a guest's `write`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// The number of accepted bytes. At least 1, unless the write was empty.
    Taken(usize),
    /// The window is full: the guest must wait for the reader.
    Full,
}

/// Streamed bytes of a descriptor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The evaluation of a resident program that receives the bytes.
    pub(crate) evaluation: Option<EvaluationId>,
    pub(crate) fd: u8,
    pub(crate) data: Vec<u8>,
}

/// The consequences of a write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Whether the gathered bytes fill a piece and must be sent now.
    pub(crate) is_full: bool,
    /// The number of captured bytes of the descriptor, if this write brought that number near the
    /// limit and the descriptor has no reader.
    pub(crate) near: Option<u64>,
}

#[derive(Debug, Default)]
struct Descriptor {
    captured: Vec<u8>,
    truncated: bool,
    mark: Mark,
    /// Streamed bytes that were gathered and not sent yet.
    gathered: Vec<u8>,
}

/// The captured bytes of the standard streams, and whether each stream was cut off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutputSnapshot {
    pub(crate) stdout: (Vec<u8>, bool),
    pub(crate) stderr: (Vec<u8>, bool),
}

impl OutputSnapshot {
    /// Returns the larger of the two streams' numbers of captured bytes.
    pub(crate) fn most(&self) -> u64 {
        self.stdout.0.len().max(self.stderr.0.len()) as u64
    }

    /// Returns the number of captured bytes of both streams together.
    pub(super) fn own_bytes(&self) -> u64 {
        (self.stdout.0.len() + self.stderr.0.len()) as u64
    }
}

/// The output of one program or of one evaluation.
#[derive(Debug)]
pub(crate) struct Output {
    descriptors: [Descriptor; 2],
    streams: Streams,
    /// The descriptors whose output is also sent to listeners, for which the program does not wait.
    observed: Streams,
    /// The evaluation of a resident program that receives the streamed bytes.
    evaluation: Option<EvaluationId>,
    /// Whether the program or the evaluation has ended.
    is_closed: bool,
    limit: u64,
    /// Streamed bytes without credit, including gathered bytes.
    unread: u64,
    /// Tasks that wait for space in the window.
    pub(crate) waiting: Vec<Waker>,
}

impl Output {
    pub(crate) fn new(streams: Streams, limit: u64) -> Self {
        Self {
            descriptors: Default::default(),
            streams,
            observed: Streams::default(),
            evaluation: None,
            is_closed: false,
            limit,
            unread: 0,
            waiting: Vec::new(),
        }
    }

    /// Streams these descriptors from now on, for the next evaluation. Each stream begins with the
    /// last bytes captured since the last evaluation, up to a quarter of the window.
    pub(crate) fn begin_evaluation(&mut self, evaluation: EvaluationId, streams: Streams) {
        self.begin(Some(evaluation), streams);
        for (descriptor, is_streamed) in self.descriptors.iter_mut().zip([streams.stdout, streams.stderr]) {
            if is_streamed {
                let skipped = descriptor.captured.len().saturating_sub(EARLIER);
                descriptor.gathered = descriptor.captured[skipped..].to_vec();
                self.unread += descriptor.gathered.len() as u64;
            }
        }
    }

    /// Streams these descriptors from now on, for a restored program or evaluation. Resets the
    /// window, and keeps the captured bytes.
    pub(crate) fn begin(&mut self, evaluation: Option<EvaluationId>, streams: Streams) {
        self.evaluation = evaluation;
        self.streams = streams;
        self.is_closed = false;
        self.unread = 0;
    }

    /// Streams no descriptor from now on, and drops the gathered bytes. Returns the tasks that wait
    /// for space in the window. Their next writes are captured.
    pub(crate) fn close(&mut self) -> Vec<Waker> {
        self.begin(None, Streams::default());
        self.is_closed = true;
        self.observed = Streams::default();
        self.descriptors.iter_mut().for_each(|descriptor| descriptor.gathered = Vec::new());
        std::mem::take(&mut self.waiting)
    }

    /// Sends the output of these descriptors to listeners from now on, without waiting for the
    /// listeners.
    pub(crate) fn observe(&mut self, observed: Streams) {
        if !self.is_closed {
            self.observed = observed;
        }
    }

    pub(crate) fn streams(&self) -> Streams {
        self.streams
    }

    /// Streams these descriptors from now on. Newly streamed descriptors begin with the captured
    /// bytes, which may exceed the window. Returns false if the program has ended.
    pub(crate) fn stream(&mut self, streams: Streams) -> bool {
        if self.is_closed {
            return false;
        }
        let newly = [streams.stdout && !self.streams.stdout, streams.stderr && !self.streams.stderr];
        for (descriptor, is_new) in self.descriptors.iter_mut().zip(newly) {
            if is_new {
                self.unread += descriptor.captured.len() as u64;
                descriptor.gathered = descriptor.captured.clone();
            }
        }
        self.streams = streams;
        true
    }

    /// Returns the captured output.
    pub(super) fn snapshot(&self) -> OutputSnapshot {
        let [stdout, stderr] = self.descriptors.each_ref().map(|descriptor| (descriptor.captured.clone(), descriptor.truncated));
        OutputSnapshot { stdout, stderr }
    }

    /// Restores the captured output of the original program.
    pub(super) fn restore(&mut self, saved: &OutputSnapshot) {
        for (descriptor, (captured, truncated)) in self.descriptors.iter_mut().zip([&saved.stdout, &saved.stderr]) {
            descriptor.captured.clone_from(captured);
            descriptor.truncated = *truncated;
            // The warning was sent to the original's embedder.
            descriptor.mark.raise(captured.len() as u64, u64::MAX);
        }
    }

    fn streamed(&self, fd: u8) -> bool {
        if fd == 1 { self.streams.stdout } else { self.streams.stderr }
    }

    fn observed(&self, fd: u8) -> bool {
        if fd == 1 { self.observed.stdout } else { self.observed.stderr }
    }

    /// Accepts as many of `bytes` as possible. `fd` is 1 or 2.
    pub(crate) fn write(&mut self, fd: u8, bytes: &[u8]) -> (Written, Effect) {
        let (streamed, observed) = (self.streamed(fd), self.observed(fd));
        let window = WINDOW.saturating_sub(self.unread) as usize;
        let taken = match (streamed, observed) {
            (true, _) => bytes.len().min(window).min(PIECE),
            (false, true) => bytes.len().min(PIECE),
            (false, false) => bytes.len(),
        };
        if taken == 0 && !bytes.is_empty() {
            return (Written::Full, Effect::default());
        }
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let descriptor = &mut self.descriptors[usize::from(fd == 2)];
        let room = limit.saturating_sub(descriptor.captured.len()).min(taken);
        let needed = descriptor.captured.len() + room;
        if needed > descriptor.captured.capacity() {
            // The capacity has the same limit as the length.
            let capacity = (2 * descriptor.captured.capacity()).min(limit).max(needed);
            descriptor.captured.reserve_exact(capacity - descriptor.captured.len());
        }
        descriptor.captured.extend_from_slice(&bytes[..room]);
        descriptor.truncated |= room < taken;
        let held = descriptor.captured.len() as u64;
        let is_near = !streamed && descriptor.mark.raise(held, self.limit);
        let mut effect = Effect { is_full: false, near: is_near.then_some(held) };
        if streamed {
            self.unread += taken as u64;
        }
        if streamed || observed {
            descriptor.gathered.extend_from_slice(&bytes[..taken]);
            effect.is_full = descriptor.gathered.len() >= PIECE;
        }
        (Written::Taken(taken), effect)
    }

    /// Accepts bytes of the program's terminal as streamed bytes of descriptor 1, and captures no
    /// bytes. Returns the number of accepted bytes, 0 without a reader and in a full window.
    pub(crate) fn write_terminal(&mut self, bytes: &[u8]) -> usize {
        if !self.streams.stdout {
            return 0;
        }
        let window = (WINDOW - TERMINAL_REST).saturating_sub(self.unread) as usize;
        let taken = bytes.len().min(window).min(PIECE);
        self.unread += taken as u64;
        self.descriptors[0].gathered.extend_from_slice(&bytes[..taken]);
        taken
    }

    /// Returns whether a write to a streamed descriptor would be accepted.
    pub(crate) fn has_room(&self) -> bool {
        self.unread < WINDOW
    }

    /// Adds credit for `bytes`. Returns the tasks that can continue.
    pub(crate) fn credit(&mut self, bytes: u64) -> Vec<Waker> {
        self.unread = self.unread.saturating_sub(bytes);
        if self.unread < WINDOW - TERMINAL_REST { std::mem::take(&mut self.waiting) } else { Vec::new() }
    }

    /// Takes the gathered pieces, because a piece is full, or the guest waits or ends.
    pub(crate) fn flush(&mut self) -> Vec<Piece> {
        let (evaluation, mut pieces) = (self.evaluation, Vec::new());
        for (fd, descriptor) in [1, 2].into_iter().zip(&mut self.descriptors) {
            if !descriptor.gathered.is_empty() {
                pieces.push(Piece { evaluation, fd, data: std::mem::take(&mut descriptor.gathered) });
            }
        }
        pieces
    }

    /// Takes the captured bytes of descriptors 1 and 2, and whether each descriptor's output was
    /// cut off.
    pub(crate) fn take(&mut self) -> [(Vec<u8>, bool); 2] {
        self.descriptors.each_mut().map(|descriptor| {
            descriptor.mark.lower(0, u64::MAX);
            (std::mem::take(&mut descriptor.captured), std::mem::take(&mut descriptor.truncated))
        })
    }

    /// Returns the present and the highest number of captured bytes. Each number is the larger
    /// number of the two descriptors.
    pub(crate) fn look(&self) -> (u64, u64) {
        let most = |of: fn(&Descriptor) -> u64| self.descriptors.iter().map(of).max().unwrap_or(0);
        (most(|descriptor| descriptor.captured.len() as u64), most(|descriptor| descriptor.mark.high()))
    }

    /// Wakes `waker` when a streamed write would be accepted.
    pub(crate) fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    /// Returns the number of bytes that wait for readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.descriptors.iter().map(|descriptor| (descriptor.captured.len() + descriptor.gathered.len()) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Streams = Streams { stdout: true, stderr: true };

    fn piece(fd: u8, data: &[u8]) -> Piece {
        Piece { evaluation: None, fd, data: data.to_vec() }
    }

    #[test]
    fn captures_up_to_the_limit_and_marks_the_rest_as_truncated() {
        let mut output = Output::new(Streams::default(), 5);
        assert_eq!(output.write(1, b"abc"), (Written::Taken(3), Effect::default()));
        assert_eq!(output.write(1, b"defg"), (Written::Taken(4), Effect { is_full: false, near: Some(5) }));
        assert_eq!(
            output.write(1, &[0; 1_000]),
            (Written::Taken(1_000), Effect::default()),
            "the write is accepted and not kept"
        );
        assert_eq!(output.write(2, b"x").1, Effect::default(), "each descriptor has its own limit");
        assert_eq!(output.take(), [(b"abcde".to_vec(), true), (b"x".to_vec(), false)]);
        assert_eq!(output.write(1, b"abcd").1.near, Some(4), "later output counts from zero");
    }

    #[test]
    fn captured_output_uses_no_more_memory_than_its_limit() {
        let mut output = Output::new(Streams::default(), 100_000);
        for _ in 0..30 {
            output.write(1, &[7; 7_001]);
            let held = &output.descriptors[0].captured;
            assert!(held.capacity() <= 100_000 && held.len() <= 100_000, "{}", held.capacity());
        }
        assert_eq!(output.take()[0].0.len(), 100_000);
    }

    #[test]
    fn a_full_window_stops_writes_until_credit_arrives() {
        let mut output = Output::new(BOTH, 10);
        let block = vec![7_u8; PIECE];
        for _ in 0..WINDOW as usize / PIECE {
            let (written, effect) = output.write(1, &block);
            assert_eq!(written, Written::Taken(PIECE));
            assert_eq!(effect, Effect { is_full: true, near: None }, "a reader exists");
            assert_eq!(output.flush(), [piece(1, &block)]);
        }
        assert_eq!(output.write(1, b"more").0, Written::Full);
        assert_eq!(output.write(2, b"more").0, Written::Full, "both streams share one window");
        assert!(output.credit(3).is_empty());
        assert_eq!(output.write(1, b"more").0, Written::Taken(3));
        assert_eq!(output.flush(), [piece(1, b"mor")]);
        assert_eq!(output.buffered(), 10);
    }

    #[test]
    fn a_terminal_leaves_space_for_its_last_output_and_is_not_captured() {
        let mut output = Output::new(Streams::default(), 10);
        assert_eq!(output.write_terminal(b"lost"), 0, "no reader");
        output.begin(None, Streams { stdout: true, stderr: false });
        let block = vec![7_u8; PIECE];
        let mut sent = 0;
        while let taken @ 1.. = output.write_terminal(&block) {
            sent += taken;
        }
        assert_eq!(sent as u64, WINDOW - TERMINAL_REST);
        let rest = vec![7_u8; TERMINAL_REST as usize];
        assert_eq!(output.write(1, &rest).0, Written::Taken(rest.len()));
        output.wait(Waker::noop());
        assert!(output.credit(TERMINAL_REST).is_empty(), "the terminal has no space yet");
        assert_eq!(output.credit(1).len(), 1);
        assert_eq!((output.write_terminal(&block), output.take()[0].0.len()), (1, 10));
    }

    #[test]
    fn listeners_receive_later_output_and_never_stop_writes() {
        let mut output = Output::new(Streams { stdout: false, stderr: true }, 10);
        output.write(1, b"ab");
        output.observe(Streams { stdout: true, stderr: false });
        let block = vec![7_u8; 10 * PIECE];
        for _ in 0..WINDOW as usize / PIECE + 1 {
            let (written, effect) = output.write(1, &block);
            assert_eq!((written, effect.is_full), (Written::Taken(PIECE), true));
            assert_eq!(output.flush(), [piece(1, &block[..PIECE])]);
        }
        assert!(output.has_room(), "only the streamed descriptor has a window");
        output.write(2, b"x");
        assert_eq!(output.flush(), [piece(2, b"x")]);
        output.close();
        output.observe(BOTH);
        output.write(1, b"late");
        assert!(output.flush().is_empty());
    }

    #[test]
    fn small_writes_are_sent_together() {
        let mut output = Output::new(BOTH, 10);
        for _ in 0..3 {
            assert_eq!(output.write(2, b"ab").1, Effect::default());
        }
        assert_eq!(output.flush(), [piece(2, b"ababab")]);
        assert!(output.flush().is_empty());
    }

    #[test]
    fn bytes_between_two_evaluations_are_streamed_to_the_next_evaluation() {
        let [first, second] = [7, 8].map(|id| EvaluationId::new(id).unwrap());
        let mut output = Output::new(Streams::default(), 10);
        output.begin_evaluation(first, BOTH);
        output.write(1, b"ab");
        assert_eq!(output.flush(), [Piece { evaluation: Some(first), ..piece(1, b"ab") }]);
        output.take();
        output.close();
        output.write(1, b"cd");
        assert!(output.flush().is_empty());
        output.begin_evaluation(second, BOTH);
        output.write(1, b"ef");
        assert_eq!(output.flush(), [Piece { evaluation: Some(second), ..piece(1, b"cdef") }]);
        assert_eq!(output.take()[0].0, b"cdef");
    }

    #[test]
    fn the_end_of_streaming_wakes_the_tasks_that_wait_for_the_window() {
        let mut output = Output::new(BOTH, 10);
        while output.write(1, &[7; PIECE]).0 != Written::Full {}
        output.wait(Waker::noop());
        assert_eq!(output.close().len(), 1);
        assert_eq!(output.write(1, b"more").0, Written::Taken(4));
    }
}
