//! Handles host calls: passes requests of programs to the embedder, and the embedder's results to
//! the programs.

use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{Embedder, NetworkEvent};
use coldframe_ids::{ConnectionId, HostCallId, RuntimeId};
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{self, HostCallRequest, HostCancel, HostResult};

use crate::message::{Message, Outlet};
use crate::network;
use crate::session::{FrameId, Handled, Session};

impl Session {
    /// Handles a result of a host call, or new bindings.
    pub(crate) fn host_call(&mut self, id: FrameId, request: HostCallRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            HostCallRequest::HostResult(result) => {
                // The calls of a disposed runtime ended with the runtime.
                if let Some(live) = self.live_or_pausing(result.runtime) {
                    live.runtime.notify(|runtime| runtime.answer(id.host_call(), answer(result)));
                }
                Ok(None)
            }
            HostCallRequest::BindingsSet(set) => {
                let bindings = bindings(set.bindings);
                Ok(self.on_runtime(id.request()?, set.runtime, may_run_here, move |runtime, reply| {
                    runtime.set_bindings(bindings)?;
                    Ok(reply.done())
                }))
            }
        }
    }
}

/// Sends the host calls and network events of one runtime to the embedder.
pub(crate) struct EventSender {
    pub runtime: RuntimeId,
    pub outlet: Arc<dyn Outlet>,
}

impl Embedder for EventSender {
    fn call(&self, call: core::HostCall) {
        let core::HostCall { number, pid, service, name, input } = call;
        let body = messages::HostCall { runtime: self.runtime, pid, service, name: &name, input: &input };
        // The core bounds an input to half of a frame, so a frame has space for every call.
        let hint = 64 + name.len() + input.len();
        if let Some(message) = Message::event_that_fits(Kind::HostCall, number.get(), &body, hint) {
            self.outlet.send(message);
        }
    }

    fn network(&self, id: ConnectionId, event: NetworkEvent) {
        if let Some(message) = network::event(id, &event, self.runtime) {
            self.outlet.send(message);
        }
    }

    fn secrets_wanted(&self) {
        let body = messages::InRuntime { runtime: self.runtime };
        self.outlet.send(Message::event(Kind::SecretsWanted, 0, &body, 32));
    }

    fn handler_wanted(&self, number: u32) {
        let body = messages::HandlerRequest { runtime: self.runtime, number };
        self.outlet.send(Message::event(Kind::HandlerWanted, 0, &body, 32));
    }

    fn cancel(&self, id: HostCallId) {
        self.outlet.send(Message::event(Kind::HostCancel, id.get(), &HostCancel { runtime: self.runtime }, 32));
    }
}

fn answer(result: HostResult<'_>) -> core::HostAnswer {
    match (result.ok, result.failure) {
        (Some(ok), None) => Ok(ok.to_vec()),
        (_, Some(failure)) => Err(core::HostFailure { code: failure.code.into_owned(), message: failure.message.into_owned() }),
        (None, None) => Ok(Vec::new()),
    }
}

/// Converts the bindings of a message.
pub(crate) fn bindings(given: Vec<messages::Binding<'_>>) -> Vec<core::BindingOptions> {
    let binding = |binding: messages::Binding<'_>| core::BindingOptions {
        name: binding.name.to_owned(),
        commands: binding.commands.into_iter().map(str::to_owned).collect(),
        input_bytes: binding.input_bytes,
    };
    given.into_iter().map(binding).collect()
}
