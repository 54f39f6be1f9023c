//! The refusal of a wrong body names the field, the expectation and the value.
#![expect(clippy::unwrap_used, reason = "a test")]

use coldframe_ids::RuntimeId;
use coldframe_protocol::messages::{RuntimeDispose, RuntimeRequest};
use coldframe_protocol::{Frame, Kind, MAX_ENTRIES, Request};
use serde::Serialize;
use serde_json::{Value, json};

fn refusal_of(kind: Kind, body: &[u8]) -> String {
    Request::decode(&Frame { kind: kind.number(), id: 1, body, more: false }).unwrap_err().to_string()
}

fn refusal(kind: Kind, body: Value) -> String {
    let mut bytes = Vec::new();
    body.serialize(&mut rmp_serde::Serializer::new(&mut bytes)).unwrap();
    refusal_of(kind, &bytes)
}

#[test]
fn names_the_field_the_expectation_and_the_value() {
    let start = |key: &str, value: Value| {
        let mut body = json!({ "runtime": 1, "mode": "exec", "code": "" });
        body[key] = value;
        refusal(Kind::ProcessStart, body)
    };
    let long = "x".repeat(100);
    for (received, expected) in [
        (start("code", json!(7)), "process.start.code: expected a string, received number 7"),
        (start("mode", json!("exit")), "process.start.mode: expected one of exec, run, file, command, received string \"exit\""),
        (start("mode", json!(1)), "process.start.mode: expected one of exec, run, file, command, received number 1"),
        (start("runtime", json!(-1)), "process.start.runtime: expected a whole number from 1 to 4294967295, received number -1"),
        (
            start("runtime", json!(1.5)),
            "process.start.runtime: expected a whole number from 1 to 4294967295, received number 1.5",
        ),
        (
            start("runtime", json!(4_294_967_296_u64)),
            "process.start.runtime: expected a whole number from 1 to 4294967295, received number 4294967296",
        ),
        (start("runtime", json!(0)), "process.start.runtime: expected a whole number from 1 to 4294967295, received number 0"),
        (start("args", json!(["a", "b", "c", null])), "process.start.args[3]: expected a string, received nil"),
        (start("env", json!({ "A": 1 })), "process.start.env.A: expected a string, received number 1"),
        (start("env", json!([])), "process.start.env: expected a map of strings, received a list"),
        (start("stdin", json!([1])), "process.start.stdin: expected binary data, received a list"),
        (
            start("stream", json!({ "stdin": true })),
            "process.start.stream.stdin: expected only the keys stdout, stderr, received an unknown key",
        ),
        (refusal(Kind::RunnerEval, json!({ "runner": 1 })), "runner.eval.code: expected a value, received nothing"),
        (refusal(Kind::Ping, json!({ "a": 1 })), "ping.a: expected no keys, received an unknown key"),
        (refusal(Kind::RuntimeDispose, json!(null)), "runtime.dispose.runtime: expected a value, received nothing"),
        (refusal(Kind::RuntimeDispose, json!([1])), "runtime.dispose: expected a map, received a list"),
        (refusal(Kind::Reply, json!({})), "kind: expected a kind of message that the SDK sends, received reply"),
        (
            start(&long, json!(1)).replace(&"x".repeat(60), "X"),
            "process.start.X…: expected only the keys runtime, mode, code, language, args, execArgv, env, cwd, stdin, timeoutMs, \
             limits, stream, live, user, terminal, keepOrphans, received an unknown key",
        ),
    ] {
        assert_eq!(received, expected);
    }
}

#[test]
fn refuses_broken_message_pack() {
    assert_eq!(refusal_of(Kind::Ping, &[]), "ping: expected 1 more bytes, received 0");
    assert_eq!(refusal_of(Kind::Ping, &[0x80, 0x80]), "ping: expected the end of the frame, received 1 more bytes");
    assert_eq!(refusal_of(Kind::Ping, &[0x81, 0x01, 0x01]), "ping: expected text as a key, received another value");
    assert_eq!(refusal_of(Kind::Ping, &[0x81, 0xa1, 0xff, 0x01]), "ping: expected UTF-8 text, received other bytes at 0");
    assert_eq!(
        refusal_of(Kind::Ping, &[0xdf, 0xff, 0xff, 0xff, 0xff]),
        format!("ping: expected at most {MAX_ENTRIES} entries, received 4294967295")
    );
    assert_eq!(refusal_of(Kind::Ping, &[0xde, 0xff, 0xff, 0x00]), "ping: expected 65535 entries, received 1 more bytes");
    assert!(refusal_of(Kind::Ping, &[0xc7, 0x00, 0x01]).ends_with("received a value that begins with byte 0xc7"));
    assert_eq!(
        refusal_of(Kind::RuntimeDispose, &[&[0x82][..], b"\xa7runtime\x01", b"\xa7runtime\x01"].concat()),
        "runtime.dispose.runtime: expected one value, received two"
    );
    let unknown = Request::decode(&Frame { kind: 255, id: 1, body: &[0x80], more: false }).unwrap_err();
    assert_eq!(unknown.to_string(), "kind: expected a kind of message that is in the protocol, received number 255");
}

#[test]
fn refuses_too_many_entries() {
    let many = |n: usize| refusal(Kind::ProcessStart, json!({ "args": vec![""; n] }));
    assert_eq!(many(MAX_ENTRIES), "process.start.runtime: expected a value, received nothing");
    assert_eq!(
        many(MAX_ENTRIES + 1),
        format!("process.start.args: expected at most {MAX_ENTRIES} entries, received {}", MAX_ENTRIES + 1)
    );
}

#[test]
fn accepts_a_float_that_is_a_whole_number() {
    let bytes = [b"\x81\xa7runtime\xcb".as_slice(), &4_294_967_295.0f64.to_be_bytes()].concat();
    let frame = Frame { kind: Kind::RuntimeDispose.number(), id: 1, body: &bytes, more: false };
    let dispose = RuntimeDispose { runtime: RuntimeId::new(u32::MAX).unwrap() };
    assert_eq!(Request::decode(&frame), Ok(RuntimeRequest::RuntimeDispose(dispose).into()));
}
