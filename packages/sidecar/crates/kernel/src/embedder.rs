//! Host calls: the requests of a runtime to its embedder, and the trait that receives host calls.
//!
//! A host call has a service name, a function name inside the service, and bytes. The kernel does
//! not interpret the bytes. Next: `host_calls.rs`, the calls in progress.

use coldframe_error::Error;
use coldframe_ids::{ConnectionId, HostCallId, Pid};

/// Receives the host calls of one runtime. The methods run on worker threads, or on the calling
/// thread if a program runs inline. The methods must not block.
///
/// The embedder replies to every call once, with [`crate::Kernel::answer`], also to a cancelled
/// call. A call counts as in progress until its reply.
pub trait Embedder: Send + Sync {
    /// Starts a call.
    fn call(&self, call: HostCall);
    /// Reports that the program no longer waits for the reply to the call.
    fn cancel(&self, id: HostCallId);
    /// Reports an event of an inbound connection, or of a wait for a listener, that the embedder
    /// started under the id `_id`. Events are in order. The runtime's sockets are locked during the
    /// call, so the method must not call the kernel.
    fn network(&self, _id: ConnectionId, _event: NetworkEvent) {}
    /// Reports that the edge process needs the values of the runtime's secrets.
    fn secrets_wanted(&self) {}
    /// Reports that a request out of the runtime waits for a function of the embedder. The embedder
    /// opens a connection to the request with its number, under an id of its own. Events of the
    /// connection arrive as [`Embedder::network`].
    fn handler_wanted(&self, _number: u32) {}
}

/// A request of a program to the embedder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    /// The call's id in its runtime.
    pub number: HostCallId,
    /// The process that made the call.
    pub pid: Pid,
    /// The service of the embedder.
    pub service: &'static str,
    /// The name of the function inside the service.
    pub name: String,
    /// The argument of the function.
    pub input: Vec<u8>,
}

/// The result of a host call.
pub type HostAnswer = Result<Vec<u8>, HostFailure>;

/// The reason why a host call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFailure {
    /// The name of a Linux error number, or another code. The guest's system call fails with that
    /// error number, and with `EIO` for another code.
    pub code: String,
    /// A message for users.
    pub message: String,
}

/// A function of the embedder that guests can call by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingOptions {
    /// The function's name.
    pub name: String,
    /// The commands on PATH that call the function.
    pub commands: Vec<String>,
    /// The maximum length of one call's input in bytes.
    pub input_bytes: u64,
}

/// A listening socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerEntry {
    /// The process that started to listen.
    pub pid: Pid,
    /// The address that the socket is bound to, and the port. `None` for a Unix socket.
    pub address: Option<(String, u16)>,
    /// The path of a Unix socket. `None` for a TCP socket.
    pub path: Option<String>,
}

/// An event of an inbound connection or of a wait for a listener.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkEvent {
    /// Bytes that the guest has written.
    Data(Vec<u8>),
    /// The number of bytes that the guest's socket has accepted. The embedder may send this number
    /// of bytes more.
    Credit(u64),
    /// The guest has ended its sending direction.
    Ended,
    /// The connection has ended in both directions, or has failed. No other event follows.
    Closed(Option<Error>),
    /// A listener was found, or the wait ended without a listener. No other event follows.
    Listener(Result<ListenerEntry, Error>),
}
