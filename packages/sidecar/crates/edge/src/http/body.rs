//! The bodies of responses, and of forwarded requests. Next: `reply.rs`.

use super::gate::Pending;
use bytes::Bytes;
use coldframe_secrets::Mask;
use hyper::HeaderMap;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body of a forwarded request, unchanged. Its client drops the body after the last byte.
pub struct RequestBody {
    inner: Incoming,
    _pending: Pending,
}

impl RequestBody {
    /// Makes the body of a request that is not forwarded whole before the drop of `pending`.
    pub fn new(inner: Incoming, pending: Pending) -> Self {
        Self { inner, _pending: pending }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.get_mut().inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The body of a response to the guest.
pub enum ResponseBody {
    /// A body of the edge.
    Own(Option<Bytes>),
    /// The body of the peer, unchanged. Each piece is forwarded as it arrives.
    Peer(Incoming),
    /// The body of the peer, in which values of secrets are masked.
    Masked(Box<MaskedBody>),
}

/// A body in which values of secrets are masked.
pub struct MaskedBody {
    inner: Incoming,
    mask: Mask,
    trailers: Option<HeaderMap>,
    has_ended: bool,
}

impl ResponseBody {
    /// Masks the values of `mask` in the body of the peer.
    pub fn masked(inner: Incoming, mask: Mask) -> Self {
        Self::Masked(Box::new(MaskedBody { inner, mask, trailers: None, has_ended: false }))
    }
}

impl MaskedBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        while !self.has_ended {
            let bytes = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.mask.push(&data),
                    Err(frame) => {
                        self.trailers = frame.into_trailers().ok();
                        self.has_ended = true;
                        self.mask.finish()
                    }
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    self.has_ended = true;
                    self.mask.finish()
                }
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
            }
        }
        let trailers = self.trailers.take().map(|trailers| mask_headers(trailers, &mut self.mask));
        Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))))
    }
}

/// Masks the values of secrets in headers.
pub fn mask_headers(mut headers: HeaderMap, mask: &mut Mask) -> HeaderMap {
    for value in headers.values_mut() {
        let masked = mask.mask(value.as_bytes());
        // A masked value has the characters of the former value, and stars.
        if masked != value.as_bytes()
            && let Ok(masked) = masked.try_into()
        {
            *value = masked;
        }
    }
    headers
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Own(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Peer(body) => Pin::new(body).poll_frame(cx),
            Self::Masked(body) => body.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(bytes) => bytes.is_none(),
            Self::Peer(body) => body.is_end_stream(),
            Self::Masked(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Peer(body) => body.size_hint(),
            // A mask does not change the length. The peer's header has the length.
            Self::Masked(_) => SizeHint::default(),
        }
    }
}
