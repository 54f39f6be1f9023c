//! A runtime's host calls: the embedder that receives them, and the bindings that programs can
//! call. Next: `permissions.rs`.

use super::Runtime;
use coldframe_error::Error;
use coldframe_ids::HostCallId;
use coldframe_kernel::{BindingOptions, Embedder, HostAnswer};
use std::sync::Arc;

impl Runtime {
    /// Attaches the embedder that receives host calls and network events. Later calls have no
    /// effect.
    pub fn attach(&self, embedder: Arc<dyn Embedder>) {
        self.inner.kernel().sockets.attach(embedder.clone());
        self.inner.kernel().host_calls.attach(embedder);
    }

    /// Completes a host call. An unknown or abandoned call is ignored.
    pub fn answer(&self, id: HostCallId, answer: HostAnswer) {
        self.inner.kernel().answer(id, answer);
    }

    /// Replaces the bindings that programs can call. If another file already has the name of a new
    /// command, the call fails with `EEXIST` and the bindings stay unchanged.
    pub fn set_bindings(&self, bindings: Vec<BindingOptions>) -> Result<(), Error> {
        self.inner.kernel().set_bindings(bindings)
    }
}
