//! What a sandbox asks of the caller outside: the shape of such a call, and who takes it.
//!
//! The core knows a service's name, a name inside it, and bytes. What they mean is between the guest's library and the caller. Next:
//! `kernel/host_calls.rs`, the calls under way.

use coldframe_error::Error;
use coldframe_ids::{ConnectionId, HostCallId, Pid};

/// Takes the calls of one runtime. Called on worker threads, or on the calling thread when a program runs inline; it must not block.
///
/// Every call is answered once, with [`crate::Runtime::answer`], also one that was cancelled: until then it counts as under way.
pub trait Embedder: Send + Sync {
    /// A call begins.
    fn call(&self, call: HostCall);
    /// Nobody waits for the call any more.
    fn cancel(&self, id: HostCallId);
    /// Something happens to a connection or a wait of the caller's, by the caller's number for it. Told in order, with the sandbox's sockets
    /// locked: it must not call back.
    fn network(&self, _id: ConnectionId, _event: NetworkEvent) {}
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    /// The call's id in its runtime.
    pub number: HostCallId,
    /// The process that asks.
    pub pid: Pid,
    /// Which of the caller's services is meant.
    pub service: &'static str,
    /// What is called in it.
    pub name: String,
    /// What it is given.
    pub input: Vec<u8>,
}

/// What comes of a call.
pub type HostAnswer = Result<Vec<u8>, HostFailure>;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFailure {
    /// The name of a Linux error number where one says it, else a code that the guest's system call shows as `EIO`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// A function of the caller's that guests can call by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingOptions {
    /// Its name.
    pub name: String,
    /// The commands on PATH that call it.
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
