//! Converts values of the core into values of the protocol, and back. Next: `requests.rs`.

use std::borrow::Cow;

use coldframe_core as core;
use coldframe_ids::RequestId;
use coldframe_protocol::messages::{self, Details, Failure, Mode};
use coldframe_protocol::{FrameError, Invalid, Kind, MAX_FRAME_BYTES, encode};
use serde::Serialize;

use crate::table::ErrorContext;

/// The largest output and value of one reply together. The remaining 64 KiB of the frame are for
/// the other fields.
const MAX_OUTCOME_BYTES: usize = MAX_FRAME_BYTES - (64 << 10);

/// Encodes a message. A message that does not fit into a frame becomes an `error` with the same id.
pub(crate) fn frame<T: Serialize>(kind: Kind, id: u32, body: &T, hint: usize) -> Vec<u8> {
    encode(kind, id, body, hint).unwrap_or_else(|error| error_frame(id, &frame_violation(&error)))
}

/// Encodes an `error` message.
pub(crate) fn error_frame(id: u32, failure: &Failure<'_>) -> Vec<u8> {
    // The texts of a failure are our own sentences and shortened values, so the frame is small
    // enough. If the encoding still fails, a failure with only the code is sent.
    encode(Kind::Error, id, failure, 512).unwrap_or_else(|_| {
        let bare = Failure {
            code: failure.code.clone(),
            message: Cow::Borrowed("the error is too large to send"),
            details: Details::default(),
        };
        encode(Kind::Error, id, &bare, 512).unwrap_or_default()
    })
}

/// Encodes the last message of a connection: the reason why the connection ends.
pub fn connection_error(failure: &Failure<'_>) -> Vec<u8> {
    error_frame(0, failure)
}

/// Converts an owner of files or of a program.
pub(crate) fn owner(owner: messages::Owner) -> core::Owner {
    core::Owner { uid: owner.uid, gid: owner.gid }
}

/// Encodes the outcome of a program or an evaluation as the reply to the request `id`.
pub(crate) fn outcome(id: RequestId, outcome: &core::Outcome, context: ErrorContext) -> Vec<u8> {
    let core::Outcome { exit_code, signal, value, failure, timings: times, .. } = outcome;
    let value_len = value.as_deref().map_or(0, str::len);
    let [stdout, stderr] = fit([&outcome.stdout, &outcome.stderr], MAX_OUTCOME_BYTES.saturating_sub(value_len));
    let body = messages::Outcome {
        exit_code: *exit_code,
        signal: *signal,
        stdout,
        stderr,
        value: value.as_deref(),
        failure: failure.as_ref().map(|error| self::failure(error, context)),
        stdout_truncated: outcome.stdout_truncated || stdout.len() < outcome.stdout.len(),
        stderr_truncated: outcome.stderr_truncated || stderr.len() < outcome.stderr.len(),
        timings: timings(times),
    };
    frame(Kind::Reply, id.get(), &body, 256 + stdout.len() + stderr.len() + value_len)
}

/// Returns the name of the shell of a resident runner, or an empty text for another language.
pub(crate) fn shell_of(language: Option<messages::RunnerLanguage>) -> String {
    match language {
        Some(messages::RunnerLanguage::Bash) => "bash".to_owned(),
        _ => String::new(),
    }
}

/// Converts the language of a resident runner. A shell has no language of the core.
pub(crate) fn runner_language(language: Option<messages::RunnerLanguage>) -> core::Language {
    match language {
        Some(messages::RunnerLanguage::Python) => core::Language::Python,
        _ => core::Language::JavaScript,
    }
}

/// Converts the language of a program.
pub(crate) fn language(language: Option<messages::Language>) -> core::Language {
    match language {
        Some(messages::Language::Python) => core::Language::Python,
        Some(messages::Language::Javascript) | None => core::Language::JavaScript,
    }
}

/// Converts the language of a cell.
pub(crate) fn cell_language(language: messages::CellLanguage) -> core::CellLanguage {
    match language {
        messages::CellLanguage::Javascript => core::CellLanguage::JavaScript,
        messages::CellLanguage::Typescript => core::CellLanguage::TypeScript,
    }
}

/// Cuts two outputs to `most` bytes together. The longer output is cut first. If that is not
/// sufficient, each output is cut to half of `most`.
fn fit(outputs: [&[u8]; 2], most: usize) -> [&[u8]; 2] {
    let [one, other] = outputs.map(<[u8]>::len);
    let cut = |len: usize, beside: usize| len.min((most / 2).max(most.saturating_sub(beside)));
    [&outputs[0][..cut(one, other)], &outputs[1][..cut(other, one)]]
}

/// Converts the times of a start.
pub(crate) fn timings(timings: &core::Timings) -> messages::Timings {
    let core::Timings { memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns } = *timings;
    messages::Timings { memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns }
}

/// Converts an error of the core. `context` adds the ids that only the session has.
pub fn failure(error: &core::Error, context: ErrorContext) -> Failure<'static> {
    let known = error.facts().into_iter().map(|(name, fact)| {
        let fact = match fact {
            core::Fact::Number(n) => messages::Fact::Number(n),
            core::Fact::Text(text) => messages::Fact::Text(text),
        };
        (Cow::Borrowed(name), fact)
    });
    let more = context.fact(error).map(|(name, n)| (Cow::Borrowed(name), messages::Fact::Number(i64::from(n))));
    let details = Details(more.into_iter().chain(known).collect());
    Failure { code: Cow::Borrowed(error.code()), message: Cow::Owned(error.to_string()), details }
}

/// Makes an error for which the core has no type.
pub(crate) fn own_failure(code: &'static str, message: String, details: Vec<(&'static str, messages::Fact)>) -> Failure<'static> {
    let details = Details(details.into_iter().map(|(name, fact)| (Cow::Borrowed(name), fact)).collect());
    Failure { code: Cow::Borrowed(code), message: Cow::Owned(message), details }
}

/// Converts the refusal of a malformed message.
pub(crate) fn invalid(invalid: Invalid) -> Failure<'static> {
    let Invalid { what, expected, received } = invalid;
    failure(&core::Error::InvalidRequest { what, expected, received }, ErrorContext::NONE)
}

/// Makes the error for a message that breaks the protocol.
pub(crate) fn violation(what: &str, expected: &str, received: String) -> Failure<'static> {
    let (what, expected) = (what.to_owned(), expected.to_owned());
    failure(&core::Error::InvalidRequest { what, expected, received }, ErrorContext::NONE)
}

/// Makes the error for bytes that are not frames, and for a message that cannot be encoded or is
/// too large for a frame.
pub fn frame_violation(error: &FrameError) -> Failure<'static> {
    let number = |n: u64| messages::Fact::Number(i64::try_from(n).unwrap_or(i64::MAX));
    match error {
        FrameError::TooLarge { bytes, max } => {
            let facts = vec![("bytes", number(*bytes)), ("maxBytes", number(*max))];
            own_failure("ERR_FRAME_TOO_LARGE", error.to_string(), facts)
        }
        FrameError::Malformed { expected, received } => violation("frame", expected, received.clone()),
        FrameError::Unencodable(reason) => violation("reply", "a message that can be encoded", reason.clone()),
    }
}

/// Converts the environment or the labels of a message.
pub(crate) fn pairs(pairs: Option<messages::Pairs<'_>>) -> Vec<(String, String)> {
    pairs.unwrap_or_default().0.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Converts a map from names to numbers.
pub(crate) fn numbers(numbers: Option<messages::Numbers<'_>>) -> Vec<(String, u64)> {
    numbers.unwrap_or_default().0.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Converts a list of texts.
pub(crate) fn texts(texts: Option<Vec<&str>>) -> Vec<String> {
    texts.unwrap_or_default().into_iter().map(str::to_owned).collect()
}

/// Converts the descriptors that are streamed.
pub(crate) fn streams(stream: Option<messages::Stream>) -> core::Streams {
    let stream = stream.unwrap_or_default();
    core::Streams { stdout: stream.stdout.unwrap_or(false), stderr: stream.stderr.unwrap_or(false) }
}

/// Converts the size of a terminal.
pub(crate) fn size(size: messages::TerminalSize) -> core::WindowSize {
    core::WindowSize { rows: size.rows, columns: size.columns }
}

/// Converts the mode of a program.
pub(crate) fn mode(mode: Mode) -> core::Mode {
    match mode {
        Mode::Exec => core::Mode::Exec,
        Mode::Run => core::Mode::Run,
        Mode::File => core::Mode::File,
        Mode::Command => core::Mode::Command,
    }
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn cuts_outputs_that_are_too_large_to_equal_halves() {
        let lens = |one: usize, other: usize| {
            let (one, other) = (vec![0; one], vec![0; other]);
            fit([&one, &other], 100).map(<[u8]>::len)
        };
        assert_eq!([lens(60, 40), lens(0, 0), lens(100, 0)], [[60, 40], [0, 0], [100, 0]]);
        assert_eq!([lens(200, 30), lens(30, 200)], [[70, 30], [30, 70]]);
        assert_eq!([lens(90, 90), lens(200, 50), lens(51, 51)], [[50, 50], [50, 50], [50, 50]]);
    }
}
