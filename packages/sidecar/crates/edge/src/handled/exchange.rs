//! One request to the app, and its response. Next: `server.rs`.

use super::stream::{Body, Stream, Use};
use super::{Requests, Ticket};
use crate::http::remove_hop_by_hop;
use crate::runtime::Runtime;
use bytes::Bytes;
use coldframe_egress::{Handler, MAX_FIELDS, MAX_HEAD_BYTES};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde::Deserialize;
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::timeout;

/// The bytes of the length before a head.
const PREFIX: usize = 4;

/// The reason why a request has no response of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The function of the app has failed, or has returned no valid response.
    Failed,
    /// The head of the response has not arrived in time.
    TimedOut,
    /// Too many requests are open.
    TooMany,
    /// The guest has ended within the request.
    Guest,
}

/// The head of a response.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(default)]
    status: u16,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    failed: bool,
}

/// Sends a judged request to the app. `origin` is the scheme and the host of its URL.
///
/// # Errors
/// Returns the reason if there is no response.
pub async fn exchange(
    runtime: &Rc<Runtime>,
    request: Request<Incoming>,
    origin: &str,
    handler: Handler,
) -> Result<Response<Body>, Fault> {
    let (ticket, stream) = Requests::begin(runtime).ok_or(Fault::TooMany)?;
    let has_guest_failed = Rc::new(Cell::new(false));
    let responding = async {
        let stream = Use(stream.await.map_err(|_| Fault::Failed)?);
        let (head, body) = request.into_parts();
        let headers: Vec<_> =
            head.headers.iter().filter(|(name, _)| *name != HOST).map(|(name, value)| (name.as_str(), latin1(value))).collect();
        let url = format!("{origin}{}", head.uri);
        let json = serde_json::json!({
            "handler": handler.id, "method": head.method.as_str(), "url": url, "headers": headers,
        });
        let (sending, failed) = (stream.0.clone(), has_guest_failed.clone());
        runtime.spawn(async move { failed.set(send(framed(&json.to_string()), body, &sending).await.is_err()) });
        read_head(stream, ticket).await
    };
    let response = timeout(Duration::from_millis(handler.timeout_ms.into()), responding).await.unwrap_or(Err(Fault::TimedOut));
    response.map_err(|fault| if has_guest_failed.get() { Fault::Guest } else { fault })
}

fn framed(json: &str) -> Bytes {
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&length[..], json.as_bytes()].concat().into()
}

/// Returns a value with a character for each byte.
fn latin1(value: &HeaderValue) -> String {
    value.as_bytes().iter().copied().map(char::from).collect()
}

/// Sends the head and the body of a request. Fails if the guest ends within the body.
async fn send(mut head: Bytes, mut body: Incoming, stream: &Stream) -> Result<(), hyper::Error> {
    // The end of the stream is the end of this function, and of no interest to the guest.
    if poll_fn(|cx| stream.poll_write(&mut head, cx)).await.is_err() {
        return Ok(());
    }
    loop {
        let next = poll_fn(|cx| {
            if stream.poll_over(cx).is_ready() {
                return Poll::Ready(Ok(None));
            }
            Pin::new(&mut body).poll_frame(cx).map(|frame| frame.transpose().map(Some))
        });
        match next.await {
            Ok(None) => return Ok(()),
            Ok(Some(None)) => {
                stream.send_end();
                return Ok(());
            }
            // Trailers are no part of a `Request`.
            Ok(Some(Some(frame))) => {
                let Ok(mut bytes) = frame.into_data() else { continue };
                if poll_fn(|cx| stream.poll_write(&mut bytes, cx)).await.is_err() {
                    return Ok(());
                }
            }
            Err(error) => {
                stream.finish(true);
                return Err(error);
            }
        }
    }
}

/// Reads the head of the response.
async fn read_head(stream: Use, ticket: Ticket) -> Result<Response<Body>, Fault> {
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        if let Some((length, rest)) = bytes.split_first_chunk::<PREFIX>() {
            let length = u32::from_le_bytes(*length) as usize;
            if length > MAX_HEAD_BYTES {
                return Err(Fault::Failed);
            }
            if let Some((json, first)) = rest.split_at_checked(length) {
                let head = serde_json::from_slice(json).ok().and_then(parts).ok_or(Fault::Failed)?;
                let mut response = Response::new(Body::new(stream, Bytes::copy_from_slice(first), ticket));
                (*response.status_mut(), *response.headers_mut()) = head;
                return Ok(response);
            }
        }
        let read: io::Result<Option<Bytes>> = poll_fn(|cx| stream.0.poll_read(cx)).await;
        bytes.extend_from_slice(&read.ok().flatten().ok_or(Fault::Failed)?);
    }
}

/// Returns the status and the headers that the guest receives. The server chooses the framing.
fn parts(head: Head) -> Option<(StatusCode, HeaderMap)> {
    let status = StatusCode::from_u16(head.status).ok().filter(|status| !head.failed && (200..600).contains(&status.as_u16()))?;
    if head.headers.len() > MAX_FIELDS {
        return None;
    }
    let mut headers = HeaderMap::new();
    for (name, value) in &head.headers {
        let value: Option<Vec<u8>> = value.chars().map(|character| u8::try_from(character).ok()).collect();
        headers.append(HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(&value?).ok()?);
    }
    remove_hop_by_hop(&mut headers);
    headers.remove(CONTENT_LENGTH);
    Some((status, headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<(StatusCode, HeaderMap)> {
        serde_json::from_str(json).ok().and_then(parts)
    }

    #[test]
    fn a_head_of_the_app_is_checked() {
        let json = r#"{"status":201,"headers":[["x-a","\u00e9"],["content-length","9"],["connection","x-b"],["x-b","1"]]}"#;
        let value = HeaderValue::from_bytes(&[0xe9]).unwrap();
        let expected = HeaderMap::from_iter([(HeaderName::from_static("x-a"), value)]);
        assert_eq!(read(json), Some((StatusCode::CREATED, expected)));
        for wrong in [
            "{}",
            r#"{"failed":true}"#,
            r#"{"status":200,"failed":true}"#,
            r#"{"status":101}"#,
            r#"{"status":600}"#,
            r#"{"status":200,"more":1}"#,
            r#"{"status":200,"headers":[["a b","x"]]}"#,
            r#"{"status":200,"headers":[["a","x\r\nb: c"]]}"#,
            r#"{"status":200,"headers":[["a","\u20ac"]]}"#,
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let many = vec![r#"["a","x"]"#; MAX_FIELDS + 1].join(",");
        assert_eq!(read(&format!(r#"{{"status":200,"headers":[{many}]}}"#)), None);
    }
}
