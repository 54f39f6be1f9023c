//! The checks of heads and chunks.

use super::HeadFault as Of;
use super::*;

fn fault(head: &str) -> Option<HeadFault> {
    check_head(head.as_bytes()).err()
}

#[test]
fn a_head_has_one_reading() {
    let head = |fields: &str| format!("POST /a?b HTTP/1.1\r\nhost: a.test\r\n{fields}\r\n");
    let text = head("Content-Length: 007\r\nx: \té\r\nUPGRADE: websocket\r\n");
    assert_eq!(check_head(text.as_bytes()), Ok(RequestHead { target: "/a?b", framing: Framing::Length(7), asks_upgrade: true }));
    let text = head("Transfer-Encoding:Chunked\r\n");
    assert_eq!(check_head(text.as_bytes()).map(|head| head.framing), Ok(Framing::Chunked));
    for (fields, expected) in [
        ("Host: a.test\r\n", Of::Host),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", Of::Framing),
        ("Content-Length: 1\r\nContent-Length: 1\r\n", Of::ContentLength),
        ("Content-Length: 1,1\r\n", Of::ContentLength),
        ("Content-Length: +1\r\n", Of::ContentLength),
        ("Content-Length: 9223372036854775808\r\n", Of::ContentLength),
        ("Transfer-Encoding: gzip, chunked\r\n", Of::TransferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Of::TransferEncoding),
        ("Transfer-Encoding:\tchunked\r\n", Of::TransferEncoding),
        ("x : 1\r\n", Of::FieldName),
        (": 1\r\n", Of::FieldName),
        ("x\r\n", Of::FieldName),
        ("x: 1\r\n y\r\n", Of::FoldedField),
        ("x: 1\n", Of::LineEnd),
        ("x: 1\ry\r\n", Of::LineEnd),
        ("x: \0\r\n", Of::Control),
        ("x: \x7f\r\n", Of::Control),
        (&"x: 1\r\n".repeat(MAX_FIELDS), Of::TooManyFields),
        (&format!("x: {}\r\n", "a".repeat(MAX_HEAD_BYTES)), Of::TooLong),
    ] {
        assert_eq!(fault(&head(fields)), Some(expected), "{fields:?}");
    }
    for (line, expected) in [
        ("GET / HTTP/1.2", Of::Version),
        ("GET / http/1.1", Of::Version),
        ("PRI * HTTP/2.0", Of::Http2),
        ("GET /", Of::RequestLine),
        ("GET  / HTTP/1.1", Of::RequestLine),
        ("GET / HTTP/1.1 ", Of::RequestLine),
        ("\r\nGET / HTTP/1.1", Of::RequestLine),
        ("G@T / HTTP/1.1", Of::Method),
        (&format!("{} / HTTP/1.1", "A".repeat(33)), Of::Method),
        ("GET a HTTP/1.1", Of::Target),
        ("GET * HTTP/1.1", Of::Target),
        ("GET /# HTTP/1.1", Of::Target),
        ("GET /é HTTP/1.1", Of::Target),
        ("GET ftp://a/ HTTP/1.1", Of::Target),
    ] {
        assert_eq!(fault(&format!("{line}\r\nhost: a\r\n\r\n")), Some(expected), "{line:?}");
    }
    assert_eq!(fault("GET / HTTP/1.1\r\n\r\n"), Some(Of::Host));
    assert_eq!(fault("GET / HTTP/1.1\r\nhost: a\r\n"), Some(Of::Truncated));
    assert_eq!(fault("POST / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"), Some(Of::TransferEncoding));
}

#[test]
fn a_byte_that_no_head_contains_is_refused_before_the_end_of_the_head() {
    for bytes in ["GET / HTTP/1.1\n", "GET / HTTP/1.1\rX", "\x16\x03\x01", "\r\n"] {
        assert!(HeadEnd::default().find(bytes.as_bytes()).is_err(), "{bytes:?}");
    }
    let mut search = HeadEnd::default();
    let head = b"GET / HTTP/1.1\r\nhost: a\r\n\r\nbehind";
    for end in 0..head.len() - 6 {
        assert_eq!(search.find(&head[..end]), Ok(None));
    }
    assert_eq!(search.find(head), Ok(Some(head.len() - 6)));
}

#[test]
fn chunks_have_one_reading() {
    let read = |body: &str| {
        let mut chunks = Chunks::default();
        chunks.read(body.as_bytes()).map(|count| (count, chunks.has_ended()))
    };
    assert_eq!(read("0005\r\nhello\r\nA\r\nhellohello\r\n00\r\nx: y\r\n\r\nGET"), Ok((40, true)));
    assert_eq!(read("5\r\nhel"), Ok((6, false)));
    for (body, expected) in [
        ("\r\n", Of::ChunkSize),
        ("+5\r\n", Of::ChunkSize),
        ("0x5\r\n", Of::ChunkSize),
        ("5 \r\n", Of::ChunkSize),
        ("5;a\r\n", Of::ChunkSize),
        ("5\n", Of::ChunkSize),
        ("5\r5", Of::ChunkSize),
        ("1000000000000000\r\n", Of::ChunkSize),
        ("3\r\nhello", Of::ChunkEnd),
        ("3\r\nhel\n", Of::ChunkEnd),
        ("3\r\nhel\rX", Of::ChunkEnd),
        ("0\r\nx: y\n", Of::LineEnd),
        ("0\r\nx y\r\n", Of::FieldName),
        ("0\r\n x: y\r\n", Of::FoldedField),
        ("0\r\nHost: y\r\n", Of::Framing),
        ("0\r\nContent-Length: 1\r\n", Of::Framing),
        (&format!("0\r\nx: {}", "a".repeat(16 << 10)), Of::Trailers),
    ] {
        assert_eq!(read(body), Err(expected), "{body:?}");
    }
}
