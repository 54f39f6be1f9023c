//! The fuzz target `edge-link`: the decoder of frames and the messages of both directions.
//!
//! The first byte of an input chooses the sizes of the pieces that arrive. The rest is the stream.
//! A decoded message becomes an equal message when it is encoded and decoded again, and the pieces
//! do not change the messages.

#![expect(clippy::expect_used, reason = "a broken promise panics")]

use crate::{Decoder, Frame, Invalid, MAX_FRAME_BYTES, Message, ToEdge, ToSidecar};
use std::fmt::Debug;

/// Runs the target.
pub fn frames(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else { return };
    let piece = usize::from(choice).max(1);
    for pieces in [piece, stream.len().max(1)] {
        let ends = [read::<ToEdge<'_>>(stream, pieces), read::<ToSidecar<'_>>(stream, pieces)];
        let whole = [read::<ToEdge<'_>>(stream, usize::MAX), read::<ToSidecar<'_>>(stream, usize::MAX)];
        assert_eq!(ends, whole, "the pieces change the messages");
    }
}

/// Reads a stream to its end or its first fault. Returns the frames that were messages of the
/// direction, and the fault of the stream.
fn read<M: for<'a> Direction<'a>>(stream: &[u8], pieces: usize) -> (Vec<bool>, Option<Invalid>) {
    let mut decoder = Decoder::new();
    let mut seen = Vec::new();
    for piece in stream.chunks(pieces.min(stream.len().max(1))) {
        let mut piece = piece;
        while !piece.is_empty() {
            let space = decoder.spare();
            let count = space.len().min(piece.len());
            space[..count].copy_from_slice(&piece[..count]);
            decoder.filled(count);
            piece = &piece[count..];
            loop {
                match decoder.next_frame() {
                    Ok(Some(frame)) => seen.push(M::check(frame)),
                    Ok(None) => break,
                    Err(invalid) => return (seen, Some(invalid)),
                }
            }
        }
    }
    (seen, None)
}

/// The messages of one direction.
trait Direction<'a> {
    /// Checks the promises for a frame. Returns whether the frame is a message.
    fn check(frame: Frame<'a>) -> bool;
}

impl<'a> Direction<'a> for ToEdge<'_> {
    fn check(frame: Frame<'a>) -> bool {
        survives::<ToEdge<'a>>(frame, |bytes, message| {
            ToEdge::decode(again(&mut Decoder::new(), bytes)).expect("an encoded message") == *message
        })
    }
}

impl<'a> Direction<'a> for ToSidecar<'_> {
    fn check(frame: Frame<'a>) -> bool {
        survives::<ToSidecar<'a>>(frame, |bytes, message| {
            ToSidecar::decode(again(&mut Decoder::new(), bytes)).expect("an encoded message") == *message
        })
    }
}

fn survives<'a, M: Message<'a> + Debug>(frame: Frame<'a>, same: impl Fn(&[u8], &M) -> bool) -> bool {
    let Ok(message) = M::decode(frame) else { return false };
    let mut bytes = Vec::new();
    // The encoder may need more bytes than the received frame, for example for long numbers.
    if message.encode(frame.id, &mut bytes).is_ok() {
        assert!(bytes.len() <= MAX_FRAME_BYTES + 4);
        assert!(same(&bytes, &message), "{message:?}");
    } else {
        assert!(bytes.is_empty());
    }
    true
}

fn again<'a>(decoder: &'a mut Decoder, bytes: &[u8]) -> Frame<'a> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = decoder.spare();
        let count = space.len().min(rest.len());
        space[..count].copy_from_slice(&rest[..count]);
        decoder.filled(count);
        rest = &rest[count..];
    }
    decoder.next_frame().expect("an encoded frame").expect("a whole frame")
}
