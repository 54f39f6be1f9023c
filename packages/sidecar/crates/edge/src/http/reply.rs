//! The responses of the edge itself: a status, the reason in a header, and the facts as JSON.

use super::body::ResponseBody;
use crate::handled;
use coldframe_edge_link::Denied;
use coldframe_egress::{HeadFault, Name};
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// The header with the reason of a refusal. The edge removes the header from responses of peers.
pub const DENIED_HEADER: HeaderName = HeaderName::from_static("coldframe-denied");

/// A request that the edge does not forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the response.
    pub status: StatusCode,
    /// The facts.
    pub denied: Denied,
    /// Whether the connection ends, because the bytes behind the message have no certain meaning.
    ends: bool,
}

impl Refusal {
    /// A request that breaks a rule of HTTP. `detail` is the broken rule.
    pub fn malformed(detail: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed-request", Some(detail.to_owned())).ending()
    }

    /// A request that the policy or the secrets of the runtime refuse.
    pub fn denied(reason: &str, detail: Option<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, reason, detail)
    }

    /// A request whose head or chunks break a rule of HTTP.
    pub fn of_head(fault: HeadFault) -> Self {
        let (status, reason) = match fault {
            HeadFault::Http2 => (StatusCode::HTTP_VERSION_NOT_SUPPORTED, "http2"),
            HeadFault::TooSlow => (StatusCode::REQUEST_TIMEOUT, "timeout"),
            _ => (StatusCode::BAD_REQUEST, "malformed-request"),
        };
        Self::new(status, reason, Some(fault.to_string())).ending()
    }

    /// A request that needs a value which the embedder cannot get at present.
    pub fn secret_unavailable(name: &str) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "secret-unavailable", Some(name.to_owned()))
    }

    /// A request to which the app does not respond.
    pub fn unhandled(fault: handled::Fault, host: &Name) -> Self {
        let mut refusal = match fault {
            handled::Fault::TimedOut => Self::new(StatusCode::GATEWAY_TIMEOUT, "handler-timeout", None),
            handled::Fault::TooMany => Self::new(StatusCode::SERVICE_UNAVAILABLE, "limit", Some("handledRequests".to_owned())),
            handled::Fault::Failed | handled::Fault::Guest => Self::new(StatusCode::BAD_GATEWAY, "handler-failed", None),
        };
        refusal.denied.host = Some(host.as_str().to_owned());
        refusal
    }

    /// A response of the peer that cannot be forwarded.
    pub fn bad_gateway(reason: &str, detail: Option<&str>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, reason, detail.map(str::to_owned)).ending()
    }

    fn new(status: StatusCode, reason: &str, detail: Option<String>) -> Self {
        Self { status, denied: Denied { reason: reason.to_owned(), rule: None, host: None, detail }, ends: false }
    }

    fn ending(self) -> Self {
        Self { ends: true, ..self }
    }

    /// Returns the response.
    pub fn response(&self) -> Response<ResponseBody> {
        let Denied { reason, rule, host, detail } = &self.denied;
        let rule = rule.as_ref().map(|rule| format!("network.{}[{}]", rule.list, rule.index));
        let body = serde_json::json!({
            "error": { "code": "ERR_ACCESS_DENIED", "permission": "network.request", "reason": reason,
                "rule": rule, "host": host, "detail": detail },
        });
        let mut response = Response::new(ResponseBody::Own(Some(body.to_string().into())));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.ends {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Ok(reason) = HeaderValue::from_str(reason) {
            headers.insert(DENIED_HEADER, reason);
        }
        response
    }
}
