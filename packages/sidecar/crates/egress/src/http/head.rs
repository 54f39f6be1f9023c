//! Checks the head of a request before a parser reads it: one reading, or none.
//!
//! Servers read an ambiguous head in different ways, and a request that hides in such a difference
//! is judged by no rule. The check refuses every form that some servers accept and others do not.
//! Examples are line ends other than CRLF, folded lines, a space before a colon, several `Host`
//! headers, and a length beside a coding. The caller writes each request again, so that the check
//! decides what is accepted, and never what is sent. Next: `chunks.rs`.

use displaydoc::Display;

/// The maximum length of a head, in bytes.
pub const MAX_HEAD_BYTES: usize = 64 << 10;
/// The maximum number of fields of a head.
pub const MAX_FIELDS: usize = 128;
/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// The rule that a request breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, thiserror::Error)]
pub enum HeadFault {
    /// HTTP/1.1, and not HTTP/2
    Http2,
    /// a head of at most 65536 bytes
    TooLong,
    /// at most 128 header fields
    TooManyFields,
    /// a request that does not end within its head
    Truncated,
    /// CRLF at the end of each line
    LineEnd,
    /// a head without control bytes
    Control,
    /// a request line of a method, a target and a version, with single spaces
    RequestLine,
    /// a method of at most 32 characters of a token
    Method,
    /// a path, a URL with the scheme http or https, or * for OPTIONS
    Target,
    /// the version HTTP/1.1 or HTTP/1.0
    Version,
    /// a token as the name of each header field, directly before its colon
    FieldName,
    /// header fields of one line each
    FoldedField,
    /// exactly one Host header
    Host,
    /// one Content-Length of decimal digits
    ContentLength,
    /// chunked as the only Transfer-Encoding, in HTTP/1.1
    TransferEncoding,
    /// Content-Length or Transfer-Encoding, and not both
    Framing,
    /// chunk sizes of hexadecimal digits without extensions
    ChunkSize,
    /// CRLF after each chunk
    ChunkEnd,
    /// trailer fields of at most 16384 bytes
    Trailers,
    /// the head of a request within 60 seconds
    TooSlow,
}

/// The length of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The number of bytes. A request without `Content-Length` has no body.
    Length(u64),
    /// Chunks.
    Chunked,
}

/// The facts of a checked head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// The target, as in the request line.
    pub target: &'a str,
    /// The length of the body.
    pub framing: Framing,
    /// Whether the request has an `Upgrade` header, so that bytes behind the request may belong to
    /// another protocol.
    pub asks_upgrade: bool,
}

/// Searches the end of a head, byte by byte as they arrive.
#[derive(Debug, Default)]
pub struct HeadEnd {
    scanned: usize,
}

impl HeadEnd {
    /// Returns the length of the head if `bytes` has a whole head. `bytes` begins with the bytes of
    /// the former calls.
    ///
    /// # Errors
    /// Fails at the first byte that no head contains, so that no peer waits for the end of such a
    /// head.
    pub fn find(&mut self, bytes: &[u8]) -> Result<Option<usize>, HeadFault> {
        while let Some(byte) = bytes.get(self.scanned) {
            let before = self.scanned.checked_sub(1).and_then(|before| bytes.get(before));
            match byte {
                _ if self.scanned >= MAX_HEAD_BYTES => return Err(HeadFault::TooLong),
                b'\n' if before != Some(&b'\r') => return Err(HeadFault::LineEnd),
                _ if before == Some(&b'\r') && *byte != b'\n' => return Err(HeadFault::LineEnd),
                0..=8 | 11 | 12 | 14..=31 | 127 => return Err(HeadFault::Control),
                _ => {}
            }
            self.scanned += 1;
            // The first line is no empty line, which some servers ignore before a request.
            if *byte == b'\n' && self.scanned == 2 {
                return Err(HeadFault::RequestLine);
            }
            if *byte == b'\n' && bytes.get(..self.scanned).is_some_and(|head| head.ends_with(END)) {
                return Ok(Some(self.scanned));
            }
        }
        Ok(None)
    }
}

/// Returns whether bytes are a token: the name of a method or of a field.
pub(crate) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Checks a head that ends with its empty line.
///
/// # Errors
/// Returns the first broken rule.
pub fn check_head(head: &[u8]) -> Result<RequestHead<'_>, HeadFault> {
    if HeadEnd::default().find(head)? != Some(head.len()) {
        return Err(HeadFault::Truncated);
    }
    let mut lines = head.get(..head.len() - END.len()).unwrap_or_default().split(|byte| *byte == b'\n').map(without_cr);
    let (target, is_http_11) = request_line(lines.next().unwrap_or_default())?;
    let (mut hosts, mut length, mut is_chunked, mut asks_upgrade) = (0_usize, None, false, false);
    for (index, line) in lines.enumerate() {
        if index >= MAX_FIELDS {
            return Err(HeadFault::TooManyFields);
        }
        let (name, value) = field(line)?;
        if name.eq_ignore_ascii_case(b"host") {
            hosts += 1;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let number = content_length(value).filter(|_| length.is_none());
            length = Some(number.ok_or(HeadFault::ContentLength)?);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if is_chunked || !is_http_11 || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(HeadFault::TransferEncoding);
            }
            is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"upgrade") {
            asks_upgrade = true;
        }
    }
    match (hosts, length, is_chunked) {
        (1, length, false) => Ok(RequestHead { target, framing: Framing::Length(length.unwrap_or(0)), asks_upgrade }),
        (1, None, true) => Ok(RequestHead { target, framing: Framing::Chunked, asks_upgrade }),
        (1, Some(_), true) => Err(HeadFault::Framing),
        _ => Err(HeadFault::Host),
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Checks a request line. Returns the target, and whether the version is HTTP/1.1.
fn request_line(line: &[u8]) -> Result<(&str, bool), HeadFault> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(HeadFault::RequestLine);
    };
    if !is_token(method) || method.len() > super::MAX_METHOD_BYTES {
        return Err(HeadFault::Method);
    }
    let is_http_11 = match version {
        b"HTTP/1.1" => true,
        b"HTTP/1.0" => false,
        b"HTTP/2.0" if method == b"PRI" => return Err(HeadFault::Http2),
        _ => return Err(HeadFault::Version),
    };
    let text = str::from_utf8(target).ok().filter(|text| text.bytes().all(|byte| (0x21..0x7f).contains(&byte) && byte != b'#'));
    let text = text.ok_or(HeadFault::Target)?;
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_url = scheme.is_some_and(|scheme| ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)));
    // CONNECT has a host as its target. The policy refuses the method with its own reason.
    let is_known = text.starts_with('/') || is_url || (text == "*" && method == b"OPTIONS") || method == b"CONNECT";
    if is_known { Ok((text, is_http_11)) } else { Err(HeadFault::Target) }
}

/// Splits a field into its name and its value without the spaces around the value. Some servers do
/// not ignore tabs there, so a tab is a part of the value.
pub(crate) fn field(line: &[u8]) -> Result<(&[u8], &[u8]), HeadFault> {
    if matches!(line.first(), Some(b' ' | b'\t')) {
        return Err(HeadFault::FoldedField);
    }
    let colon = line.iter().position(|byte| *byte == b':').ok_or(HeadFault::FieldName)?;
    let (name, value) = (line.get(..colon).unwrap_or_default(), line.get(colon + 1..).unwrap_or_default());
    if !is_token(name) {
        return Err(HeadFault::FieldName);
    }
    let first = value.iter().position(|byte| *byte != b' ').unwrap_or(value.len());
    let last = value.iter().rposition(|byte| *byte != b' ').map_or(first, |last| last + 1);
    Ok((name, value.get(first..last).unwrap_or_default()))
}

fn content_length(value: &[u8]) -> Option<u64> {
    let is_decimal = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number: u64 = str::from_utf8(value).ok()?.parse().ok()?;
    // Servers have signed lengths.
    (is_decimal && i64::try_from(number).is_ok()).then_some(number)
}
