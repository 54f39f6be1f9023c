//! A runtime's side towards the caller outside: what its programs ask of it, and what they may ask for.

use super::Runtime;
use crate::host::{BindingOptions, Host, HostAnswer};
use coldframe_error::Error;
use std::sync::Arc;

impl Runtime {
    /// From now on `host` takes what the sandbox asks of the caller outside. Only the first one counts.
    pub fn attach(&self, host: Arc<dyn Host>) {
        self.inner.kernel().sockets.attach(host.clone());
        self.inner.kernel().host_calls.attach(host);
    }

    /// Answers a call of the sandbox's. Nothing happens when nobody waits for it.
    pub fn answer(&self, number: u32, answer: HostAnswer) {
        self.inner.kernel().answer(number, answer);
    }

    /// The functions that its programs can call by name: these, and no others. `EEXIST` when a command's name is taken; nothing changes then.
    pub fn set_bindings(&self, bindings: Vec<BindingOptions>) -> Result<(), Error> {
        self.inner.kernel().set_bindings(bindings)
    }
}
