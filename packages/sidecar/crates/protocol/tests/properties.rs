//! Property tests of frames. A message survives encoding and decoding. Arbitrary bytes are refused
//! without a panic. Frames do not depend on the places where the stream is cut.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::borrow::Cow;
use std::num::NonZeroU32;

use coldframe_ids::RunnerId;
use coldframe_protocol::messages::*;
use coldframe_protocol::{Decoder, Frame, FrameError, MAX_FRAME_BYTES, Request, encode, reader};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Passes `chunks` to a decoder one after the other. Returns the kind, the id and the body of each
/// frame.
fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<(u8, u32, Vec<u8>)>, FrameError> {
    let mut decoder = Decoder::new();
    let mut frames = Vec::new();
    for mut chunk in chunks {
        while !chunk.is_empty() {
            let n = decoder.push(chunk);
            chunk = &chunk[n..];
            while let Some(Frame { kind, id, body, .. }) = decoder.next_frame()? {
                frames.push((kind, id, body.to_vec()));
            }
        }
    }
    Ok(frames)
}

fn fact() -> impl Strategy<Value = Fact> {
    prop_oneof![any::<i64>().prop_map(Fact::Number), any::<String>().prop_map(Fact::Text)]
}

proptest! {
    #[test]
    fn a_process_start_survives_encoding(
        (runtime, id) in any::<(NonZeroU32, u32)>(),
        mode in prop_oneof![Just(Mode::Exec), Just(Mode::Run), Just(Mode::File)],
        (code, cwd) in any::<(String, Option<String>)>(),
        language in option::of(prop_oneof![Just(Language::Javascript), Just(Language::Python)]),
        args in option::of(vec(any::<String>(), 0..40)),
        exec_argv in option::of(vec(any::<String>(), 0..40)),
        env in option::of(vec(any::<(String, String)>(), 0..40)),
        stdin in option::of(vec(any::<u8>(), 0..2000)),
        timeout_ms in any::<Option<u64>>(),
        limits in option::of(vec(any::<(String, u64)>(), 0..4)),
        stream in any::<Option<(Option<bool>, Option<bool>)>>(),
    ) {
        let message = ProcessStart {
            runtime: runtime.into(),
            mode,
            code: &code,
            language,
            args: args.as_ref().map(|all| all.iter().map(String::as_str).collect()),
            exec_argv: exec_argv.as_ref().map(|all| all.iter().map(String::as_str).collect()),
            env: env.as_ref().map(|all| Pairs(all.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect())),
            cwd: cwd.as_deref(),
            stdin: stdin.as_deref(),
            timeout_ms,
            limits: limits.as_ref().map(|all| Numbers(all.iter().map(|(k, v)| (k.as_str(), *v)).collect())),
            stream: stream.map(|(stdout, stderr)| Stream { stdout, stderr }),
            live: None,
            user: None,
            terminal: None,
            keep_orphans: None,
        };
        let bytes = encode(Kind::ProcessStart, id, &message, 0).unwrap();
        let frame = Frame::parse(&bytes[4..]).unwrap();
        prop_assert_eq!(frame.id, id);
        prop_assert_eq!(Request::decode(&frame).unwrap(), Request::from(ProcessRequest::ProcessStart(message)));
    }

    #[test]
    fn an_outcome_survives_encoding(
        exit_code in any::<i32>(), (stdout, stderr) in any::<(Vec<u8>, Vec<u8>)>(), value in any::<Option<String>>(),
        failure in option::of(any::<(String, String)>()),
        facts in vec((any::<String>(), fact()), 0..20),
        times in any::<[u64; 4]>(),
        (stdout_truncated, stderr_truncated) in any::<(bool, bool)>(),
        signal in any::<Option<u8>>(),
    ) {
        let facts = Details(facts.into_iter().map(|(name, fact)| (Cow::Owned(name), fact)).collect());
        let failure = failure.as_ref().map(|(c, m)| Failure { code: c.into(), message: m.into(), details: facts });
        let [memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns] = times;
        let timings = Timings { memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns };
        let value = value.as_deref();
        let (stdout, stderr) = (stdout.as_slice(), stderr.as_slice());
        let message = Outcome { exit_code, signal, stdout, stderr, value, failure, stdout_truncated, stderr_truncated, timings };
        let bytes = encode(Kind::Reply, 1, &message, 0).unwrap();
        prop_assert_eq!(reader::read::<Outcome>(Frame::parse(&bytes[4..]).unwrap().body).unwrap(), message);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        let _ = decode([bytes.as_slice()]);
        if let Ok(frame) = Frame::parse(&bytes) {
            let _ = Request::decode(&frame);
        }
        for kind in Kind::all() {
            let _ = Request::decode(&Frame { kind: kind.number(), id: 1, body: &bytes, more: false });
        }
        let _ = reader::read::<Outcome>(&bytes);
        let _ = reader::read::<Failure>(&bytes);
    }

    #[test]
    fn frames_do_not_depend_on_the_cuts_of_the_stream(
        bodies in vec(vec(any::<u8>(), 0..300), 1..6),
        cuts in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut bytes = Vec::new();
        for (i, data) in bodies.iter().enumerate() {
            bytes.extend(encode(Kind::Output, i as u32, &Output { fd: 1, data }, 0).unwrap());
        }
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
        at.sort_unstable();
        let whole = decode([bytes.as_slice()]).unwrap();
        prop_assert_eq!(whole.len(), bodies.len());
        prop_assert_eq!(decode(at.windows(2).map(|w| &bytes[w[0]..w[1]])).unwrap(), whole.clone());
        prop_assert_eq!(decode(bytes.chunks(1)).unwrap(), whole);
    }
}

#[test]
fn every_single_cut_returns_equal_frames() {
    let start = RunnerEval { timeout_ms: Some(5), ..RunnerEval::new(RunnerId::new(1).unwrap(), "1 + 1") };
    let bytes = [encode(Kind::Ping, 1, &Empty {}, 0).unwrap(), encode(Kind::RunnerEval, 2, &start, 0).unwrap()].concat();
    let whole = decode([bytes.as_slice()]).unwrap();
    assert_eq!(whole.len(), 2);
    for at in 0..=bytes.len() {
        assert_eq!(decode([&bytes[..at], &bytes[at..]]).unwrap(), whole, "cut at {at}");
    }
}

#[test]
fn a_frame_of_exactly_the_limit_passes_and_one_more_byte_does_not() {
    let around = encode(Kind::Output, 1, &Output { fd: 1, data: &[7; 70_000] }, 0).unwrap().len() - 4 - 70_000;
    let data = vec![7; MAX_FRAME_BYTES - around];
    let bytes = encode(Kind::Output, 1, &Output { fd: 1, data: &data }, data.len()).unwrap();
    assert_eq!(bytes.len(), MAX_FRAME_BYTES + 4);
    assert_eq!(decode([bytes.as_slice()]).unwrap()[0].2.len(), MAX_FRAME_BYTES - 3);

    let data = vec![7; data.len() + 1];
    let too_large = FrameError::TooLarge { bytes: MAX_FRAME_BYTES as u64 + 1, max: MAX_FRAME_BYTES as u64 };
    assert_eq!(encode(Kind::Output, 1, &Output { fd: 1, data: &data }, data.len()), Err(too_large.clone()));
    assert_eq!(decode([(MAX_FRAME_BYTES as u32 + 1).to_le_bytes().as_slice()]), Err(too_large));
}

#[test]
fn a_wrong_length_allocates_nothing() {
    let mut decoder = Decoder::new();
    decoder.push(&(MAX_FRAME_BYTES as u32).to_le_bytes());
    assert_eq!(decoder.next_frame(), Ok(None));
    decoder.push(&[0; 100]);
    assert_eq!(decoder.next_frame(), Ok(None));
    assert!(decoder.capacity() <= 64 << 10, "{} bytes for a frame that never arrived", decoder.capacity());
}

#[test]
fn frees_a_large_buffer_after_its_frame() {
    let mut decoder = Decoder::new();
    let bytes = encode(Kind::Output, 1, &Output { fd: 1, data: &vec![7; 1 << 20] }, 0).unwrap();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let n = decoder.push(rest);
        rest = &rest[n..];
        assert!(decoder.next_frame().unwrap().is_some() == rest.is_empty());
    }
    decoder.spare();
    assert!(decoder.capacity() <= 64 << 10);
}
