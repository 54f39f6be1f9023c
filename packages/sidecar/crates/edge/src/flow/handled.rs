//! A flow to a name to whose requests the app responds: a flow without a socket. Next:
//! `../handled/mod.rs`.

use super::{Flow, Inner};
use crate::describe;
use crate::tls::{Roots, Socket};
use coldframe_edge_link::{Event, Failure, Refused};
use coldframe_egress::{Decision, Generation, Name, RuleId};
use std::sync::Arc;

/// The admission of a flow without a socket.
#[derive(Debug, Clone)]
pub(super) struct Handled {
    /// The name of the flow's address.
    pub name: Name,
    /// The rule that admits the flow.
    pub rule: Option<RuleId>,
    generation: Generation,
}

impl Flow {
    /// Judges a flow whose address is of a name to whose requests the app responds. Returns `false`
    /// for another address.
    ///
    /// # Errors
    /// Returns the refusal.
    pub(super) fn admit_handled(&self) -> Result<bool, Failure> {
        let Some(name) = self.runtime.state.borrow().handled.name_of(self.peer.ip()).cloned() else { return Ok(false) };
        let current = self.runtime.cell.current();
        match current.policy().judge_handled(&name, self.peer.port()) {
            Decision::Allowed { rule } => {
                let mut inner = self.inner.borrow_mut();
                inner.host = Some(name.clone());
                inner.handled = Some(Handled { name, rule, generation: current.generation() });
                Ok(true)
            }
            refused @ Decision::Refused { .. } => {
                let denied = describe::denied(current.policy(), &refused, Some(&name));
                self.runtime.event(|| Event::Denied { refused: Refused::Connect { peer: self.peer }, denied: denied.clone() });
                Err(describe::refusal(format_args!("the connection to {}", self.peer), denied))
            }
        }
    }

    /// Judges the flow again after an update of the policy, if the update asks for that.
    pub(super) fn judge_handled_again(&self, inner: &mut Inner) {
        let current = self.runtime.cell.current();
        let Some(handled) = inner.handled.as_mut().filter(|handled| self.runtime.cell.is_outdated(handled.generation)) else {
            return;
        };
        match current.policy().judge_handled(&handled.name, self.peer.port()) {
            Decision::Allowed { rule } => {
                (handled.rule, handled.generation) = (rule, current.generation());
                self.judge_rules_again(inner, self.peer);
            }
            refused @ Decision::Refused { .. } => {
                let denied = describe::denied(current.policy(), &refused, Some(&handled.name));
                self.refuse(inner, denied);
            }
        }
    }

    /// Returns whether the app responds to the requests of the flow.
    pub fn is_handled(&self) -> bool {
        self.inner.borrow().handled.is_some()
    }

    /// Returns the roots of a session to the server in this process. Returns `None` for a flow with
    /// a socket.
    pub fn handled_roots(&self) -> Option<Arc<Roots>> {
        if self.is_handled() { self.runtime.shared.authority().map(|authority| authority.roots()) } else { None }
    }
}

impl Inner {
    /// Makes the server of a session in this process.
    pub(super) fn local_server(&self, flow: &Flow) -> Option<Socket> {
        let name = &self.handled.as_ref()?.name;
        Some(Socket::Local(Box::new(flow.runtime.shared.authority()?.server(name)?)))
    }
}
