//! Requests to which the app responds. The test plays the app.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::http::*;
use common::*;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The flow of the program, and the flow of the app.
const FLOW: u32 = 1;
const APP: u32 = 50;
/// The bytes that are sent without credit.
const WINDOW: usize = window::STREAM_WINDOW as usize;

fn handled(timeout_ms: u32) -> Vec<HttpRule> {
    let handler = Some(Handler { id: 7, timeout_ms });
    vec![HttpRule { handler, ..rule("api.test:80".to_owned(), None, None) }]
}

fn sidecar(timeout_ms: u32) -> (Sidecar, SocketAddr) {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, Options { http: handled(timeout_ms), ..Options::default() });
    let found = sidecar.look_up("api.test", LookUpFamily::Any).unwrap();
    assert_eq!(found, ["198.18.0.2"]);
    (sidecar, "198.18.0.2:80".parse().unwrap())
}

/// Sends a request, and opens the flow of the app.
fn begin(sidecar: &mut Sidecar, address: SocketAddr, bytes: &[u8]) -> u32 {
    assert_eq!(sidecar.connect(FLOW, address), Ok(()));
    for piece in bytes.chunks(MAX_DATA_BYTES) {
        sidecar.send(FLOW, &ToEdge::Data(piece));
    }
    let number = sidecar.wait(|_, got| match got {
        Got::Other(ToSidecar::HandlerWanted { runtime: 1, number }) => Some(*number),
        _ => None,
    });
    sidecar.send(APP, &ToEdge::HandlerOpen { runtime: 1, number });
    number
}

fn framed(json: &Value) -> Vec<u8> {
    let text = json.to_string();
    [&u32::try_from(text.len()).unwrap().to_le_bytes()[..], text.as_bytes()].concat()
}

/// Receives the head of the request, which is one piece.
fn head(sidecar: &mut Sidecar) -> Value {
    let bytes = sidecar.receive_without_credit(APP);
    sidecar.send(APP, &ToEdge::Credit { bytes: bytes.len() as u64 });
    let (length, json) = bytes.split_first_chunk::<4>().unwrap();
    assert_eq!(u32::from_le_bytes(*length) as usize, json.len());
    serde_json::from_slice(json).unwrap()
}

/// Receives the response of the program, until its connection ends.
fn response(sidecar: &mut Sidecar) -> String {
    sidecar.send(FLOW, &ToEdge::End {});
    let mut bytes = Vec::new();
    loop {
        let piece = sidecar.wait(|id, got| match got {
            Got::Data(piece) if id == FLOW => Some(Some(piece.clone())),
            Got::Other(ToSidecar::End {} | ToSidecar::Closed { .. }) if id == FLOW => Some(None),
            _ => None,
        });
        let Some(piece) = piece else { return String::from_utf8_lossy(&bytes).into_owned() };
        bytes.extend(piece);
    }
}

#[test]
fn a_request_and_its_response_are_heads_and_bodies() {
    let (mut sidecar, address) = sidecar(60_000);
    let fields = "X-A: \u{e9}\r\nContent-Length: 4\r\nConnection: x-b\r\nx-b: 1\r\n\r\nbody";
    let bytes = format!("POST /a/../b?c=d HTTP/1.1\r\nHost: api.test\r\n{fields}");
    begin(&mut sidecar, address, bytes.as_bytes());
    let expected = json!({
        "handler": 7, "method": "POST", "url": "http://api.test/a/../b?c=d", "headers": [["x-a", "\u{c3}\u{a9}"]],
    });
    assert_eq!(head(&mut sidecar), expected);
    assert_eq!(sidecar.receive(APP, 4), b"body");
    sidecar.ended(APP);
    sidecar.send(APP, &ToEdge::Data(&framed(&json!({ "status": 201, "headers": [["x-b", "c"], ["content-length", "9"]] }))));
    sidecar.send(APP, &ToEdge::Data(b"the answer"));
    sidecar.send(APP, &ToEdge::End {});
    assert_eq!(sidecar.closed(APP), None);
    let response = response(&mut sidecar);
    assert_eq!((status(&response), header(&response, "x-b"), header(&response, "content-length")), ("201", Some("c"), None));
    assert!(response.contains("the answer"), "{response}");
}

#[test]
fn a_wrong_head_of_the_app_is_a_status_for_the_program() {
    for (bytes, expected) in [
        (framed(&json!({ "failed": true })), "502"),
        (framed(&json!({ "status": 101 })), "502"),
        (framed(&json!({ "status": 200, "headers": [["a\r\nb", "c"]] })), "502"),
        (framed(&json!([])), "502"),
        (u32::MAX.to_le_bytes().to_vec(), "502"),
        (vec![1, 0], "502"),
    ] {
        let (mut sidecar, address) = sidecar(60_000);
        begin(&mut sidecar, address, &get("/"));
        sidecar.send(APP, &ToEdge::Data(&bytes));
        sidecar.send(APP, &ToEdge::End {});
        let response = response(&mut sidecar);
        assert_eq!((status(&response), header(&response, "coldframe-denied")), (expected, Some("handler-failed")));
    }
}

#[test]
fn an_app_without_a_response_is_a_time_out() {
    let (mut sidecar, address) = sidecar(20);
    begin(&mut sidecar, address, &get("/"));
    let response = response(&mut sidecar);
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("504", Some("handler-timeout")));
    assert_eq!(sidecar.closed(APP), Some(FailureKind::Errno(libc::ECONNRESET)));
}

#[test]
fn an_abort_of_the_app_is_a_status_before_the_head_and_a_reset_after_the_head() {
    let (mut sidecar, address) = sidecar(60_000);
    let bytes = [request("PUT", "/", &format!("Content-Length: {WINDOW}\r\n")), vec![b'x'; WINDOW / 2]].concat();
    begin(&mut sidecar, address, &bytes);
    assert_eq!(head(&mut sidecar)["method"], "PUT");
    assert_eq!(sidecar.receive(APP, WINDOW / 2), vec![b'x'; WINDOW / 2]);
    sidecar.send(APP, &ToEdge::Close { reset: true });
    assert_eq!(status(&response(&mut sidecar)), "502");

    let (mut sidecar, address) = self::sidecar(60_000);
    begin(&mut sidecar, address, &get("/"));
    sidecar.send(APP, &ToEdge::Data(&framed(&json!({ "status": 200 }))));
    assert!(sidecar.receive_without_credit(FLOW).starts_with(b"HTTP/1.1 200 OK"));
    sidecar.send(APP, &ToEdge::Close { reset: true });
    assert_eq!(sidecar.closed(FLOW), Some(FailureKind::Errno(libc::ECONNRESET)));
}

#[test]
fn credit_of_an_app_for_bytes_that_were_not_sent_ends_the_link() {
    let (mut sidecar, address) = sidecar(60_000);
    begin(&mut sidecar, address, &get("/"));
    sidecar.send(APP, &ToEdge::Credit { bytes: 2 * WINDOW as u64 });
    assert!(matches!(sidecar.finish(), Err(coldframe_edge::LinkFault::Rules("credit for sent bytes"))));
}

#[test]
fn a_request_has_one_flow_and_an_ended_request_none() {
    let (mut sidecar, address) = sidecar(60_000);
    let number = begin(&mut sidecar, address, &get("/"));
    let reset = Some(FailureKind::Errno(libc::ECONNRESET));
    sidecar.send(60, &ToEdge::HandlerOpen { runtime: 1, number });
    assert_eq!(sidecar.closed(60), reset);
    sidecar.send(61, &ToEdge::HandlerOpen { runtime: 1, number: number + 1 });
    assert_eq!(sidecar.closed(61), reset);
    sidecar.send(62, &ToEdge::HandlerOpen { runtime: 9, number });
    assert_eq!(sidecar.closed(62), reset);
    sidecar.send(FLOW, &ToEdge::Close { reset: true });
    assert_eq!(sidecar.closed(APP), reset);
}

#[test]
fn a_connection_that_an_update_keeps_reaches_neither_the_host_nor_a_former_function() {
    let (mut sidecar, address) = sidecar(60_000);
    assert_eq!(sidecar.connect(FLOW, address), Ok(()));
    let http = Change::Replace(vec![rule("api.test:80".to_owned(), None, None)]);
    let change = OptionsChange { http, ..OptionsChange::default() };
    assert_eq!(sidecar.update(1, change, Existing::Keep), ToSidecar::Done {});
    sidecar.send(FLOW, &ToEdge::Data(&get("/")));
    let response = response(&mut sidecar);
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("403", Some("rules-changed")));
}
