//! What a runtime's programs ask of the SDK, as messages, and the SDK's answers.

use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{Embedder, NetworkEvent, Runtime};
use coldframe_protocol::encode;
use coldframe_protocol::messages::{self, BindingsSet, HostCancel, HostResult, Kind};

use crate::network;
use crate::outgoing::Outgoing;

/// Asks for one runtime.
pub struct Asking {
    /// The runtime's number on this connection.
    pub runtime: u32,
    /// Where the questions go.
    pub outgoing: Arc<Outgoing>,
}

impl Embedder for Asking {
    fn call(&self, call: core::HostCall) {
        let core::HostCall { number, pid, service, name, input } = call;
        let body = messages::HostCall { runtime: self.runtime, pid, service, name: &name, input: &input };
        // The core holds an input to half of what a frame may hold.
        if let Ok(frame) = encode(Kind::HostCall, number, &body, 64 + name.len() + input.len()) {
            self.outgoing.push(frame);
        }
    }

    fn network(&self, number: u32, event: NetworkEvent) {
        self.outgoing.push(network::frame(number, &event, self.runtime));
    }

    fn cancel(&self, number: u32) {
        if let Ok(frame) = encode(Kind::HostCancel, number, &HostCancel { runtime: self.runtime }, 32) {
            self.outgoing.push(frame);
        }
    }
}

/// Hands an answer on. What nobody waits for is nothing to complain about: it crossed an end.
pub fn answer(number: u32, result: HostResult<'_>, runtime: &Runtime) {
    let answer = match (result.ok, result.failure) {
        (Some(ok), None) => Ok(ok.to_vec()),
        (_, Some(failure)) => Err(core::HostFailure { code: failure.code.into_owned(), message: failure.message.into_owned() }),
        (None, None) => Ok(Vec::new()),
    };
    runtime.answer(number, answer);
}

/// Carries `bindings.set` out.
pub fn set_bindings(set: BindingsSet<'_>, runtime: &Runtime) -> Result<(), core::Error> {
    runtime.set_bindings(bindings(set.bindings))
}

/// Bindings of a message as the core takes them.
pub fn bindings(given: Vec<messages::Binding<'_>>) -> Vec<core::BindingOptions> {
    let binding = |binding: messages::Binding<'_>| core::BindingOptions {
        name: binding.name.to_owned(),
        commands: binding.commands.into_iter().map(str::to_owned).collect(),
        input_bytes: binding.input_bytes,
    };
    given.into_iter().map(binding).collect()
}
