//! A program's output, as the threads of several programs write and send the output.
//!
//! The program, its children and the embedder's thread send gathered pieces. Each of these threads
//! removes pieces and sends the pieces under one lock. The reader therefore receives the bytes in
//! the order of the writes, and receives no bytes after the end of the program or the evaluation.
//! A message after that end would violate the protocol. `output_models.rs` has the models. Next:
//! `program_sink.rs`.

use super::output::{Output, Piece, Written};
use super::sync::{Mutex, MutexGuard};
use crate::options::Streams;
use std::task::Waker;

/// The output of one program.
pub(crate) struct SharedOutput {
    output: Mutex<Output>,
    /// Locked from the removal of pieces until the pieces are sent, before `output`.
    sending: Mutex<()>,
}

/// The output at the end of a program or of an evaluation.
pub(crate) struct EndedOutput {
    /// The captured bytes of descriptors 1 and 2, and whether each descriptor's output was cut off.
    pub(crate) captured: [(Vec<u8>, bool); 2],
    /// The highest number of captured bytes.
    pub(crate) most: u64,
    /// The tasks that wait for space in the window.
    pub(crate) waiting: Vec<Waker>,
}

impl SharedOutput {
    pub(crate) fn new(streams: Streams, limit: u64) -> Self {
        Self { output: Mutex::new(Output::new(streams, limit)), sending: Mutex::new(()) }
    }

    /// Locks the output, for calls that send nothing.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Output> {
        self.output.lock()
    }

    /// Accepts as many of `bytes` as possible. The number is the number of captured bytes, if the
    /// write brought that number near the limit.
    pub(crate) fn write(&self, fd: u8, bytes: &[u8], send: impl FnMut(Piece)) -> (Written, Option<u64>) {
        let (written, effect) = self.output.lock().write(fd, bytes);
        if effect.is_full || written == Written::Full {
            self.flush(send);
        }
        (written, effect.near)
    }

    /// Sends the gathered pieces. `send` must not call this output.
    pub(crate) fn flush(&self, send: impl FnMut(Piece)) {
        let _sending = self.sending.lock();
        let pieces = self.output.lock().flush();
        pieces.into_iter().for_each(send);
    }

    /// Sends the gathered pieces, and then sends the output of these descriptors to listeners too.
    /// `add` adds a listener, which receives no earlier output.
    pub(crate) fn observe(&self, observed: Streams, send: impl FnMut(Piece), add: impl FnOnce()) {
        let _sending = self.sending.lock();
        let pieces = {
            let mut output = self.output.lock();
            let pieces = output.flush();
            output.observe(observed);
            pieces
        };
        pieces.into_iter().for_each(send);
        add();
    }

    /// Sends the gathered pieces and takes the captured bytes, because the program or the
    /// evaluation ends. Later writes are captured for the next evaluation.
    pub(crate) fn end(&self, send: impl FnMut(Piece)) -> EndedOutput {
        let _sending = self.sending.lock();
        let mut output = self.output.lock();
        let (pieces, most) = (output.flush(), output.look().1);
        let ended = EndedOutput { captured: output.take(), most, waiting: output.close() };
        drop(output);
        pieces.into_iter().for_each(send);
        ended
    }

    /// Drops the gathered pieces, because the evaluation ends without its program. After the call,
    /// no piece of the evaluation is sent. Returns the tasks that wait for space in the window.
    pub(crate) fn abandon(&self) -> Vec<Waker> {
        let _sending = self.sending.lock();
        self.output.lock().close()
    }
}
