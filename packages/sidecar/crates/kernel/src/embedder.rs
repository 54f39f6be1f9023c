//! Host calls: the requests of a sandbox to its embedder, and the trait that receives them.
//!
//! The kernel knows a service's name, a name inside the service, and bytes. Only the guest's
//! library and the embedder interpret the bytes. Next: `host_calls.rs`, the calls in progress.

use coldframe_error::Error;
use coldframe_ids::{ConnectionId, HostCallId, Pid};

/// Receives the calls of one runtime. The methods run on worker threads, or on the calling thread
/// when a program runs inline; they must not block.
///
/// The embedder replies to every call once, with [`crate::Runtime::answer`], also to a cancelled
/// call. Until the reply, the call counts as in progress.
pub trait Embedder: Send + Sync {
    /// Starts a call.
    fn call(&self, call: HostCall);
    /// Reports that no program waits for the call now.
    fn cancel(&self, id: HostCallId);
    /// Reports an event of a connection or a wait of the embedder, under the embedder's id. Events
    /// arrive in order, while the sandbox's sockets are locked: the method must not call the
    /// kernel.
    fn network(&self, _id: ConnectionId, _event: NetworkEvent) {}
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    /// The call's id in its runtime.
    pub number: HostCallId,
    /// The process that sent the call.
    pub pid: Pid,
    /// The service of the embedder.
    pub service: &'static str,
    /// The name of the function inside the service.
    pub name: String,
    /// The argument of the function.
    pub input: Vec<u8>,
}

/// The result of a call.
pub type HostAnswer = Result<Vec<u8>, HostFailure>;

/// The reason why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFailure {
    /// The name of a Linux error number, or a code that the guest's system call shows as `EIO`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// The function's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingOptions {
    /// The function's name.
    pub name: String,
    /// The commands on PATH that call the function.
    pub commands: Vec<String>,
    /// Bytes of input that one call may have.
    pub input_bytes: u64,
}

/// A listening socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerEntry {
    /// The process that started to listen.
    pub pid: Pid,
    /// The address that the socket is bound to, and the port.
    pub address: Option<(String, u16)>,
    /// The path of a Unix socket.
    pub path: Option<String>,
}

/// An event of an inbound connection or of a wait for a listener.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkEvent {
    /// Bytes that the guest has written.
    Data(Vec<u8>),
    /// The number of bytes that the guest's socket has taken.
    Credit(u64),
    /// The guest has ended its direction.
    Ended,
    /// The connection has ended in both directions, or has failed. The last event.
    Closed(Option<Error>),
    /// A listener was found, or the wait ended without a listener. The last event.
    Listener(Result<ListenerEntry, Error>),
}
