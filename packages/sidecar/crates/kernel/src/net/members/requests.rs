//! Joining and leaving networks, and the delivery of mail. Next: `../stream.rs`.

use super::{Membership, both};
use crate::Kernel;
use crate::net::sockets::{SocketState, Sockets};
use crate::networks::mailbox::{MailReceiver, Mailbox, deliver_posted};
use crate::networks::{MAX_MEMBERSHIPS, MemberScope, PrivateNetwork};
use coldframe_error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Weak};

impl Kernel {
    /// Joins a network under a name. Returns the number of the membership. `scope` runs the work of
    /// other runtimes' threads for this runtime. Fails with `ERR_INVALID_REQUEST` if the runtime is
    /// a member already, if it is a member of too many networks, and if the name is taken. Fails
    /// with `ERR_RUNTIME_DISPOSED` after [`Sockets::detach`].
    pub fn join(
        self: &Arc<Self>,
        network: &Arc<PrivateNetwork>,
        name: &str,
        tags: Vec<String>,
        scope: Box<dyn MemberScope>,
    ) -> Result<u32, Error> {
        let mailbox = self
            .sockets
            .mailbox
            .get_or_init(|| {
                let receiver: Weak<dyn MailReceiver> = Arc::downgrade(&(self.clone() as Arc<dyn MailReceiver>));
                Mailbox::new(receiver, scope)
            })
            .clone();
        let mut state = self.sockets.lock();
        if state.has_left_networks {
            return Err(Error::RuntimeDisposed);
        }
        if state.memberships.iter().any(|membership| Arc::ptr_eq(&membership.network, network)) {
            return Err(invalid("network", "a network that the runtime is not a member of", network.name()));
        }
        if state.memberships.len() >= MAX_MEMBERSHIPS {
            let expected = format!("at most {MAX_MEMBERSHIPS} networks of one runtime");
            return Err(invalid("network", &expected, network.name()));
        }
        let number = network.add(name, tags, &mailbox)?;
        let own: [IpAddr; 2] = both(number).into();
        state.network.own.extend(own);
        state.memberships.push(Membership { network: network.clone(), number, mailbox });
        Ok(number)
    }

    /// Leaves a network. Connections of the network are reset. Returns false if the runtime is no
    /// member.
    pub fn leave(&self, network: &Arc<PrivateNetwork>) -> bool {
        let number = {
            let state = self.sockets.lock();
            let own = state.memberships.iter().find(|membership| Arc::ptr_eq(&membership.network, network));
            own.map(|membership| membership.number)
        };
        number.is_some_and(|number| network.expel(number))
    }
}

impl Sockets {
    /// Leaves all networks, and joins no network afterwards.
    pub(in crate::net) fn leave_networks(&self) {
        let left: Vec<(Arc<PrivateNetwork>, u32)> = {
            let mut state = self.lock();
            state.has_left_networks = true;
            let Some(mailbox) = self.mailbox.get() else { return };
            let left: Vec<_> = state.memberships.iter().map(|own| (own.network.clone(), own.number)).collect();
            left.iter().for_each(|(_, number)| state.leave(*number));
            state.deliver_wakes();
            mailbox.close();
            left
        };
        for (network, number) in left {
            network.remove(number);
        }
        deliver_posted();
    }

    fn open_all(&self, state: &mut SocketState) {
        let Some(mailbox) = self.mailbox.get() else { return };
        loop {
            let mail = mailbox.take();
            if mail.is_empty() {
                return;
            }
            mail.into_iter().for_each(|mail| state.open_mail(mail));
            state.deliver_wakes();
        }
    }
}

impl MailReceiver for Kernel {
    fn take_mail(&self) {
        if let Some(mut state) = self.sockets.try_lock() {
            self.sockets.open_all(&mut state);
        }
    }

    fn settle(&self) {
        let mut state = self.sockets.lock();
        self.sockets.open_all(&mut state);
    }
}

impl Drop for Sockets {
    /// Resets the connections of a table that was not detached.
    fn drop(&mut self) {
        self.leave_networks();
    }
}

fn invalid(what: &str, expected: &str, received: &str) -> Error {
    Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received: received.to_owned() }
}
