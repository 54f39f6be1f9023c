//! Requests to which a function of the app responds (`handle` of a rule of `network.http`).
//!
//! ```text
//! guest ══ flow ══ ../http/filter.rs ── exchange.rs ── stream.rs ══ link ══ sidecar ══ app
//!                  server.rs: the server of a session of TLS, in this process
//! ```
//! A name with such rules is never looked up outside. `names.rs` assigns an address of the
//! runtime's own to the name, and a flow to the address has no socket. The HTTP filter judges the
//! requests of the flow like all others. `exchange.rs` then sends the request over a stream of the
//! link.
//!
//! # A stream
//! The edge sends [`HandlerWanted`](coldframe_edge_link::ToSidecar::HandlerWanted), and the sidecar
//! opens a flow for the request. Both directions of the flow have one form:
//!
//! ```text
//! ┌──────────────┬───────────────┬───────────────────┐
//! │ u32 LE: N    │ N bytes: JSON │ the bytes of body │   End of the flow: the end of the body
//! └──────────────┴───────────────┴───────────────────┘
//! ```
//! The JSON of the edge is `{ handler, method, url, headers }`, and the JSON of the app is `{
//! status, headers }` or `{ failed: true }`. `headers` is a list of names and values, in which a
//! character is a byte. The close of a flow before its end aborts the request or the response.
//!
//! No secret is placed in such a request. Next: `names.rs`, `stream.rs`, `exchange.rs`.

mod exchange;
mod names;
mod server;
mod stream;

pub use exchange::{Fault, exchange};
pub use names::Names;
pub use server::{Authority, LocalServer};
pub use stream::{Body, Stream};

use crate::runtime::Runtime;
use coldframe_edge_link::ToSidecar;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tokio::sync::oneshot;

/// The largest number of requests of one runtime that functions of the app handle at a time.
pub const MAX_REQUESTS: usize = 256;

/// The requests of a runtime that functions of the app handle.
#[derive(Default)]
pub struct Requests(RefCell<Inner>);

#[derive(Default)]
struct Inner {
    last: u32,
    /// The requests that have no response. `None` means that the request has its stream.
    open: HashMap<u32, Option<oneshot::Sender<Rc<Stream>>>>,
}

/// A request that counts until it is dropped.
pub struct Ticket {
    runtime: Rc<Runtime>,
    number: u32,
}

impl Requests {
    /// Begins a request, and asks the sidecar for its stream. Returns `None` if too many requests
    /// are open.
    pub fn begin(runtime: &Rc<Runtime>) -> Option<(Ticket, oneshot::Receiver<Rc<Stream>>)> {
        let (sender, receiver) = oneshot::channel();
        let mut inner = runtime.requests.0.borrow_mut();
        if inner.open.len() >= MAX_REQUESTS {
            return None;
        }
        loop {
            inner.last = inner.last.wrapping_add(1);
            if !inner.open.contains_key(&inner.last) {
                break;
            }
        }
        let number = inner.last;
        inner.open.insert(number, Some(sender));
        runtime.shared.out.send(0, &ToSidecar::HandlerWanted { runtime: runtime.id, number });
        Some((Ticket { runtime: runtime.clone(), number }, receiver))
    }

    /// Passes a stream to its request. Returns false if the request has ended, or has a stream.
    pub fn pass(&self, number: u32, stream: Rc<Stream>) -> bool {
        let sender = self.0.borrow_mut().open.get_mut(&number).and_then(Option::take);
        sender.is_some_and(|sender| sender.send(stream).is_ok())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.runtime.requests.0.borrow_mut().open.remove(&self.number);
    }
}
