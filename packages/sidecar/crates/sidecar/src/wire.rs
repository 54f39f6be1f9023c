//! The core's values as messages.

use std::borrow::Cow;

use coldframe_core as core;
use coldframe_protocol::messages::{self, Details, Failure, Kind, Mode};
use coldframe_protocol::{FrameError, Invalid, MAX_FRAME_BYTES, encode};
use serde::Serialize;

use crate::table::Place;

/// Bytes of output and value that one reply may carry: what fits into a frame together with the rest of it.
const MOST_OUTPUT: usize = MAX_FRAME_BYTES - (64 << 10);

/// Encodes a message; one that does not fit into a frame becomes the request's `error`.
pub fn frame<T: Serialize>(kind: Kind, id: u32, body: &T, hint: usize) -> Vec<u8> {
    encode(kind, id, body, hint).unwrap_or_else(|error| self::error(id, &unsendable(&error)))
}

/// An `error` message.
pub fn error(id: u32, failure: &Failure<'_>) -> Vec<u8> {
    // A failure's texts are our own sentences and shortened values: it fits. If it ever does not, its code alone does.
    encode(Kind::Error, id, failure, 512).unwrap_or_else(|_| {
        let bare = Failure {
            code: failure.code.clone(),
            message: Cow::Borrowed("the error is too large to send"),
            details: Details::default(),
        };
        encode(Kind::Error, id, &bare, 512).unwrap_or_default()
    })
}

/// The reply to `process.start` and `runner.eval`.
pub fn outcome(id: u32, outcome: &core::Outcome, place: Place) -> Vec<u8> {
    let core::Outcome { exit_code, value, failure, timings: times, .. } = outcome;
    let value_len = value.as_deref().map_or(0, str::len);
    let [stdout, stderr] = fitting([&outcome.stdout, &outcome.stderr], MOST_OUTPUT.saturating_sub(value_len));
    let body = messages::Outcome {
        exit_code: *exit_code,
        stdout,
        stderr,
        value: value.as_deref(),
        failure: failure.as_ref().map(|error| self::failure(error, place.facts(error))),
        stdout_truncated: outcome.stdout_truncated || stdout.len() < outcome.stdout.len(),
        stderr_truncated: outcome.stderr_truncated || stderr.len() < outcome.stderr.len(),
        timings: timings(times),
    };
    frame(Kind::Reply, id, &body, 256 + stdout.len() + stderr.len() + value_len)
}

/// What of two outputs a reply can carry: all, or of the longer one less, or half of the room each.
fn fitting(outputs: [&[u8]; 2], room: usize) -> [&[u8]; 2] {
    let [one, other] = outputs.map(<[u8]>::len);
    let most = |len: usize, beside: usize| len.min((room / 2).max(room.saturating_sub(beside)));
    [&outputs[0][..most(one, other)], &outputs[1][..most(other, one)]]
}

/// Where the time of a start went.
pub fn timings(timings: &core::Timings) -> messages::Timings {
    let core::Timings { memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns } = *timings;
    messages::Timings { memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns }
}

/// One of the core's errors, with a fact that only the connection knows.
pub fn failure(error: &core::Error, more: Option<(&'static str, u32)>) -> Failure<'static> {
    let known = error.facts().into_iter().map(|(name, fact)| {
        let fact = match fact {
            core::Fact::Number(n) => messages::Fact::Number(n),
            core::Fact::Text(text) => messages::Fact::Text(text),
        };
        (Cow::Borrowed(name), fact)
    });
    let more = more.map(|(name, n)| (Cow::Borrowed(name), messages::Fact::Number(i64::from(n))));
    let details = Details(more.into_iter().chain(known).collect());
    Failure { code: Cow::Borrowed(error.code()), message: Cow::Owned(error.to_string()), details }
}

/// An error that the core knows nothing of.
pub fn own_failure(code: &'static str, message: String, details: Vec<(&'static str, messages::Fact)>) -> Failure<'static> {
    let details = Details(details.into_iter().map(|(name, fact)| (Cow::Borrowed(name), fact)).collect());
    Failure { code: Cow::Borrowed(code), message: Cow::Owned(message), details }
}

/// A message that is not what it must be.
pub fn invalid(invalid: Invalid) -> Failure<'static> {
    let Invalid { what, expected, received } = invalid;
    failure(&core::Error::InvalidRequest { what, expected, received }, None)
}

/// Something that breaks the protocol, in our own words.
pub fn violation(what: &str, expected: &str, received: String) -> Failure<'static> {
    failure(&core::Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received }, None)
}

/// A stream that is not one of frames, or a message that cannot be one.
pub fn unsendable(error: &FrameError) -> Failure<'static> {
    let number = |n: u64| messages::Fact::Number(i64::try_from(n).unwrap_or(i64::MAX));
    match error {
        FrameError::TooLarge { bytes, max } => {
            own_failure("ERR_FRAME_TOO_LARGE", error.to_string(), vec![("bytes", number(*bytes)), ("maxBytes", number(*max))])
        }
        FrameError::Malformed { expected, received } => violation("frame", expected, received.clone()),
        FrameError::Unencodable(reason) => violation("reply", "a message that can be encoded", reason.clone()),
    }
}

/// The environment of a message as the core takes it.
pub fn pairs(pairs: Option<messages::Pairs<'_>>) -> Vec<(String, String)> {
    pairs.unwrap_or_default().0.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Which descriptors are streamed.
pub fn streams(stream: Option<messages::Stream>) -> core::Streams {
    let stream = stream.unwrap_or_default();
    core::Streams { stdout: stream.stdout.unwrap_or(false), stderr: stream.stderr.unwrap_or(false) }
}

/// What a program is for.
pub fn mode(mode: Mode) -> core::Mode {
    match mode {
        Mode::Exec => core::Mode::Exec,
        Mode::Run => core::Mode::Run,
        Mode::File => core::Mode::File,
        Mode::Command => core::Mode::Command,
    }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn outputs_that_do_not_fit_share_the_room() {
        let lens = |one: usize, other: usize| {
            let (one, other) = (vec![0; one], vec![0; other]);
            fitting([&one, &other], 100).map(<[u8]>::len)
        };
        assert_eq!([lens(60, 40), lens(0, 0), lens(100, 0)], [[60, 40], [0, 0], [100, 0]]);
        assert_eq!([lens(200, 30), lens(30, 200)], [[70, 30], [30, 70]]);
        assert_eq!([lens(90, 90), lens(200, 50), lens(51, 51)], [[50, 50], [50, 50], [50, 50]]);
    }
}
