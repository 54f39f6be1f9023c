//! The part of the target `http-heads` about heads and chunks: the strict checks against the parser
//! of hyper, in one piece and in many.
#![expect(clippy::panic, reason = "a target panics on a broken promise")]

use crate::{Chunks, Framing, HeadEnd, HeadFault, check_head};
use arbitrary::{Result, Unstructured};

const PARTS: &[&str] = &[
    "GET",
    "POST",
    "PRI",
    " ",
    "  ",
    "/",
    "/a?b",
    "*",
    "http://a.test/",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/2.0",
    "\r\n",
    "\r",
    "\n",
    "\r\n\r\n",
    "Host: a.test\r\n",
    "Content-Length: ",
    "Content-Length:5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "gzip, chunked",
    "Upgrade: websocket\r\n",
    "X: y\r\n",
    " : ",
    "\t",
    "\0",
    "\u{7f}",
    "é",
    ",",
    "+",
    "0x",
    "5",
    "18446744073709551616",
    "POST / HTTP/1.1\r\nHost: a.test\r\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "0\r\nx: y\r\n\r\n",
    "fffffffffffffffff",
    ";a=b",
    "00A",
];

fn bytes(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for _ in 0..input.int_in_range(1..=24)? {
        if input.ratio(1, 8)? {
            all.push(input.arbitrary()?);
        } else {
            all.extend_from_slice(input.choose(PARTS)?.as_bytes());
        }
    }
    Ok(all)
}

/// Searches the end of a head in pieces. Returns the length, or the fault.
fn search(all: &[u8], piece: usize) -> Option<std::result::Result<usize, HeadFault>> {
    let mut search = HeadEnd::default();
    let ends = (piece..all.len()).step_by(piece).chain([all.len()]);
    ends.map(|end| search.find(&all[..end])).find_map(std::result::Result::transpose)
}

fn compare_head(head: &[u8]) {
    let Ok(checked) = check_head(head) else { return };
    let mut fields = [httparse::EMPTY_HEADER; crate::MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    assert_eq!(parsed.parse(head), Ok(httparse::Status::Complete(head.len())), "{head:?}");
    assert_eq!(parsed.path, Some(checked.target));
    let values = |name: &str| -> Vec<&[u8]> {
        parsed.headers.iter().filter(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value).collect()
    };
    assert_eq!(values("host").len(), 1);
    assert_eq!(checked.asks_upgrade, !values("upgrade").is_empty());
    match (values("content-length").as_slice(), values("transfer-encoding").as_slice(), checked.framing) {
        ([], [], Framing::Length(0)) => {}
        ([length], [], Framing::Length(expected)) => {
            assert_eq!(str::from_utf8(length).ok().and_then(|length| length.parse().ok()), Some(expected));
        }
        ([], [coding], Framing::Chunked) => assert!(coding.eq_ignore_ascii_case(b"chunked")),
        other => panic!("{other:?}"),
    }
}

/// Reads chunks in pieces. Returns the number of bytes and whether the body has ended, or the
/// fault.
fn read(all: &[u8], piece: usize) -> std::result::Result<(usize, bool), HeadFault> {
    let mut chunks = Chunks::default();
    let mut count = 0;
    for part in all.chunks(piece) {
        count += chunks.read(part)?;
        if chunks.has_ended() {
            break;
        }
    }
    Ok((count, chunks.has_ended()))
}

/// Reads the same body with the parser of hyper.
fn reference(all: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let Ok(httparse::Status::Complete((used, size))) = httparse::parse_chunk_size(all.get(at..)?) else { return None };
        at += used;
        if size == 0 {
            let mut fields = [httparse::EMPTY_HEADER; crate::MAX_FIELDS];
            return match httparse::parse_headers(all.get(at..)?, &mut fields) {
                Ok(httparse::Status::Complete((used, _))) => Some(at + used),
                _ => None,
            };
        }
        at = at.checked_add(usize::try_from(size).ok()?)?;
        at += all.get(at..at.checked_add(2)?).filter(|end| *end == b"\r\n")?.len();
    }
}

/// Compares the checks with the parser of hyper.
pub(super) fn heads(input: &mut Unstructured<'_>) -> Result<()> {
    let all = bytes(input)?;
    let piece = input.int_in_range(1..=9)?;
    let whole = search(&all, all.len());
    assert_eq!(search(&all, piece), whole, "{all:?}");
    if let Some(Ok(length)) = whole {
        compare_head(&all[..length]);
    }
    let whole = read(&all, all.len());
    assert_eq!(read(&all, piece), whole, "{all:?}");
    if let Ok((count, true)) = whole {
        assert_eq!(reference(&all), Some(count), "{all:?}");
    }
    Ok(())
}
