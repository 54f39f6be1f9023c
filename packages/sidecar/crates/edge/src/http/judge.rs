//! Judges one request, and makes the request that is sent to the peer. Next: `credentials.rs`.
//!
//! The new request has the method, the judged path, the query, one `Host`, and the headers that end
//! at the peer. Headers about the connection are removed first, also the headers that `Connection`
//! names. Then placeholders are swapped and headers are injected (`credentials.rs`), so that the
//! guest cannot remove an injected header.

use super::credentials::Credentials;
use super::filter::Context;
use super::reply::{DENIED_HEADER, Refusal};
use crate::describe;
use coldframe_edge_link::Denied;
use coldframe_egress::{Decision, Handler, List, Name, Reason};
use coldframe_secrets::{Mask, Target};
use hyper::body::{Body, Incoming};
use hyper::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderValue, TE, UPGRADE};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, Uri, Version};

/// Headers about the connection.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "proxy-authenticate",
    "te",
    "transfer-encoding",
    "upgrade",
];
/// Compressed responses cannot be masked.
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

/// A request that is forwarded.
pub struct Forwarded {
    /// The request to the peer.
    pub request: Request<Incoming>,
    /// The values that the response must not repeat.
    pub mask: Mask,
    /// The names of the used secrets.
    pub secrets: Vec<String>,
    /// The names of secrets whose placeholder is in a place without effect.
    pub inert: Vec<String>,
    /// Whether the guest asks for a WebSocket.
    pub is_upgrade: bool,
    /// The function of the app that responds in place of the peer.
    pub to_app: Option<ToApp>,
}

/// The receiver of a request to which the app responds.
pub struct ToApp {
    /// The function of the app.
    pub handler: Handler,
    /// The scheme and the host of the request's URL.
    pub origin: String,
    /// The name of the host.
    pub name: Name,
}

/// Returns the host of a request. The only `Host` header and the URL must agree.
fn host_of(request: &Request<Incoming>) -> Result<(Name, Option<u16>), Refusal> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refusal::malformed("exactly one Host header")) };
    let host = host.to_str().map_err(|_| Refusal::malformed("a Host header of ASCII characters"))?;
    let parsed = parse_host(host).ok_or_else(|| Refusal::malformed("a Host header with a name"))?;
    if let Some(authority) = request.uri().authority() {
        let scheme = request.uri().scheme_str();
        let is_equal = parse_host(authority.as_str()).is_some_and(|other| other == parsed);
        if !is_equal || !matches!(scheme, Some("http" | "https")) {
            return Err(Refusal::malformed("a URL whose host is the Host header"));
        }
    }
    Ok(parsed)
}

fn parse_host(text: &str) -> Option<(Name, Option<u16>)> {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => {
            let is_decimal = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            (name, Some(port.parse().ok().filter(|_| is_decimal)?))
        }
        None => (text, None),
    };
    Some((Name::parse(name).ok()?, port))
}

/// Judges a request, and makes the request to the peer.
///
/// # Errors
/// Returns the refusal, with the host if the host is known.
pub fn judge(context: &Context, mut request: Request<Incoming>) -> Result<Forwarded, Refusal> {
    let (name, port) = host_of(&request)?;
    let peer = context.peer();
    if port.is_some_and(|port| port != peer.port()) || !context.has_name(&name) {
        return Err(with_host(Refusal::denied("host", None), &name));
    }
    let runtime = context.runtime();
    let current = runtime.cell.current();
    let judged = current.policy().judge_request(&name, peer.port(), request.method().as_str(), request.uri().path());
    if let Decision::Refused { reason, .. } = judged.decision {
        let mut refusal = Refusal::denied(reason.as_str(), None);
        refusal.denied = describe::denied(current.policy(), &judged.decision, Some(&name));
        if matches!(reason, Reason::InvalidPath) {
            refusal.denied.detail = Some("a path that every server reads in one way".to_owned());
        }
        return Err(refusal);
    }
    if matches!(request.method().as_str(), "CONNECT" | "TRACE") {
        return Err(with_host(Refusal::denied(Reason::Method.as_str(), None), &name));
    }
    let path = judged.path.as_ref().map_or(request.uri().path(), |path| path.as_str()).to_owned();
    let mut query = request.uri().query().map(str::to_owned);
    let is_upgrade = upgrade(&request).map_err(|refusal| with_host(refusal, &name))?;
    strip(request.headers_mut(), is_upgrade);
    let rule = judged.decision.rule().filter(|rule| rule.list == List::Http).map(|rule| rule.index);
    let rule = rule.and_then(|index| current.policy().options().http.get(index));
    let inject = rule.map(|rule| rule.inject.as_slice());
    let handler = rule.and_then(|rule| rule.handler);
    if handler.is_some() != context.is_handled() {
        // The policy has changed, and open flows were kept.
        return Err(with_host(Refusal::denied("rules-changed", None), &name));
    }
    if handler.is_some() && is_upgrade {
        let detail = "no upgrade, because the app responds to the request".to_owned();
        return Err(with_host(Refusal::denied("upgrade", Some(detail)), &name));
    }
    let host = HeaderValue::from_str(&host_text(&name, peer.port(), context.is_tls()));
    let host = host.map_err(|_| Refusal::malformed("a Host header"))?;
    let state = runtime.state.borrow();
    let mut credentials = Credentials::new(&state.secrets, Target { name: &name, port: peer.port(), is_tls: context.is_tls() });
    let method = request.method().clone();
    let is_empty = request.body().is_end_stream();
    let placed = (|| {
        request.headers_mut().insert(HOST, host);
        // The app has the values already. Its function receives the placeholders.
        if handler.is_none() {
            credentials.inject(request.headers_mut(), inject.unwrap_or_default())?;
            credentials.place_in_query(&mut query)?;
            credentials.sign(method.as_str(), &path, &mut query, request.headers_mut(), is_empty)?;
        }
        credentials.find_inert(request.headers(), &path, query.as_deref());
        let target = query.as_ref().map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
        PathAndQuery::try_from(target).map_err(|_| Refusal::malformed("a path"))
    })();
    let target = placed.map_err(|refusal| with_host(refusal, &name))?;
    let (mask, secrets, inert) = credentials.finish();
    if !mask.is_empty() {
        request.headers_mut().insert(ACCEPT_ENCODING, IDENTITY);
    }
    let to_app = handler.map(|handler| {
        let scheme = if context.is_tls() { "https" } else { "http" };
        let origin = format!("{scheme}://{}", host_text(&name, peer.port(), context.is_tls()));
        ToApp { handler, origin, name }
    });
    *request.uri_mut() = Uri::from(target);
    *request.version_mut() = Version::HTTP_11;
    Ok(Forwarded { request, mask, secrets, inert, is_upgrade, to_app })
}

fn with_host(mut refusal: Refusal, name: &Name) -> Refusal {
    refusal.denied = Denied { host: Some(name.as_str().to_owned()), ..refusal.denied };
    refusal
}

fn host_text(name: &Name, port: u16, is_tls: bool) -> String {
    if port == if is_tls { 443 } else { 80 } { name.as_str().to_owned() } else { format!("{name}:{port}", name = name.as_str()) }
}

/// Returns whether a request has an `Upgrade` header. The gate waits for its response.
pub fn asks_upgrade(request: &Request<Incoming>) -> bool {
    request.headers().contains_key(UPGRADE)
}

/// Returns whether a request or a response names a WebSocket as the only upgrade.
pub fn is_websocket(headers: &HeaderMap) -> bool {
    let asks = headers.get_all(CONNECTION).iter().any(|value| tokens(value).any(|token| token == "upgrade"));
    let mut upgrades = headers.get_all(UPGRADE).iter();
    let is_only = upgrades.next().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    asks && is_only && upgrades.next().is_none()
}

/// Returns whether a request asks for a WebSocket.
///
/// # Errors
/// Refuses every other upgrade: `h2c` would be a protocol that the edge does not judge.
fn upgrade(request: &Request<Incoming>) -> Result<bool, Refusal> {
    if !asks_upgrade(request) {
        return Ok(false);
    }
    let is_get = request.method() == Method::GET && request.version() == Version::HTTP_11;
    if is_get && is_websocket(request.headers()) {
        return Ok(true);
    }
    Err(Refusal::denied("upgrade", Some("the protocol websocket, with GET in HTTP/1.1".to_owned())))
}

fn tokens(value: &HeaderValue) -> impl Iterator<Item = String> {
    let text = value.to_str().unwrap_or_default();
    text.split(',').map(|token| token.trim().to_ascii_lowercase()).filter(|token| !token.is_empty())
}

/// Removes the headers about the connection, and the length. The new message has its own length.
fn strip(headers: &mut HeaderMap, is_upgrade: bool) {
    let keeps_trailers = headers.get_all(TE).iter().any(|value| tokens(value).any(|token| token == "trailers"));
    remove_hop_by_hop(headers);
    headers.remove(CONTENT_LENGTH);
    headers.remove(EXPECT);
    if keeps_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    if is_upgrade {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
}

/// Removes the headers about the connection, and the headers that `Connection` names.
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<String> = headers.get_all(CONNECTION).iter().flat_map(tokens).collect();
    named.iter().map(String::as_str).chain(HOP_BY_HOP).for_each(|name| drop(headers.remove(name)));
    headers.remove(DENIED_HEADER);
}
