//! The fuzz target `frames`: the decoder of frames and all messages.
//!
//! The first byte of an input chooses the sizes of the pieces that arrive. The rest is the stream.
//! The received bytes bound the memory of the decoder and of a message.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use crate::messages::{
    Failure, HostCall, HostCancel, LimitWarning, Listeners, Outcome, Output, PermissionsPending, PermissionsTaken,
    RestoredPrograms, RunnerCreated, RuntimeCopies, RuntimeCreated, RuntimeUsage, SidecarHello, SidecarResources,
    SnapshotEntries, StreamClosed, StreamData,
};
use crate::{Decoder, Frame, Invalid, MAX_FRAME_BYTES, Request, reader};

/// Counts the memory that each thread has allocated.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes unchanged to the system's allocator. The counters have no destructor and
// do not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + layout.size().cast_signed());
        PEAK.set(PEAK.get().max(LIVE.get()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `work`. Returns the result of `work`, and the peak of the memory that `work` allocated on
/// this thread, in bytes.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let value = work();
    (value, (PEAK.get() - before).max(0).cast_unsigned())
}

/// Decodes the body as each type of message. Returns whether any type accepted the body.
fn message(frame: &Frame<'_>) -> bool {
    fn taken<T>(result: Result<T, Invalid>) -> bool {
        black_box(result).is_ok()
    }
    let body = frame.body;
    taken(reader::read::<Outcome>(body))
        | taken(reader::read::<Failure>(body))
        | taken(reader::read::<Output>(body))
        | taken(reader::read::<SidecarHello>(body))
        | taken(reader::read::<RunnerCreated>(body))
        | taken(reader::read::<RuntimeCreated>(body))
        | taken(reader::read::<SidecarResources>(body))
        | taken(reader::read::<LimitWarning<'_>>(body))
        | taken(reader::read::<RuntimeUsage<'_>>(body))
        | taken(reader::read::<HostCall>(body))
        | taken(reader::read::<HostCancel>(body))
        | taken(reader::read::<PermissionsPending>(body))
        | taken(reader::read::<PermissionsTaken>(body))
        | taken(reader::read::<Listeners>(body))
        | taken(reader::read::<StreamClosed>(body))
        | taken(reader::read::<StreamData>(body))
        | taken(reader::read::<SnapshotEntries>(body))
        | taken(reader::read::<RuntimeCopies>(body))
        | taken(reader::read::<RestoredPrograms>(body))
        | taken(Request::decode(frame))
}

/// Decodes a stream. The decoder may allocate 64 KiB and, while its buffer grows, three times the
/// received bytes. A message may allocate 4 KiB, and 24 bytes for each byte of its body. An empty
/// argument is one byte long, and a borrowed string 16.
///
/// # Panics
/// Panics if the decoder or a message allocates more.
pub fn frames(data: &[u8]) {
    let Some((piece, stream)) = data.split_first() else { return };
    let mut decoder = Decoder::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let piece = &rest[..rest.len().min(1 + usize::from(*piece) * 7)];
        let (taken, peak) = peak_of(|| decoder.push(piece));
        let received = stream.len() - rest.len() + taken;
        let held = decoder.capacity();
        assert!(held <= (64 << 10) + 2 * received && held <= MAX_FRAME_BYTES + 4, "{held} bytes held after {received}");
        assert!(peak <= (64 << 10) + 3 * received, "{peak} bytes taken after {received}");
        rest = &rest[taken..];
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => {
                    let (_, peak) = peak_of(|| message(&frame));
                    let limit = 4096 + 24 * frame.body.len();
                    assert!(peak <= limit, "{peak} bytes for a body of {}, more than {limit}", frame.body.len());
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn kept_inputs_keep_the_bounds_of_memory() {
        coldframe_testing::run_kept_inputs("frames", frames);
    }

    #[test]
    fn golden_frames_keep_the_bounds_of_memory() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/frames");
        coldframe_testing::run_files(&folder, |frame| {
            for piece in [0, 1, 255] {
                frames(&[&[piece], frame].concat());
            }
        });
    }

    /// The decoder allocates announced bytes only as the bytes arrive, also near the limit.
    #[test]
    fn the_largest_frame_keeps_the_bounds_of_memory() {
        let data = vec![7; MAX_FRAME_BYTES - 64];
        let large = crate::encode(crate::Kind::Output, 1, &Output { fd: 1, data: &data }, data.len());
        frames(&[&[255], &large.expect("encoded")[..]].concat());
    }
}
