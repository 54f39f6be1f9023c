//! The tickets of a runtime's client sessions. A ticket stays in this process, and the guest has
//! its number. Next: `engine.rs`.

use super::provider;
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use rustls::server::ProducesTickets;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The largest number of tickets of one runtime. The oldest ticket is dropped.
const MAX_TICKETS: usize = 256;

/// The tickets of one runtime.
#[derive(Default)]
pub struct Tickets {
    clients: Arc<Mutex<Kept>>,
    /// Makes the tickets of the runtime's servers.
    server: OnceLock<Option<Arc<dyn ProducesTickets>>>,
}

#[derive(Default, Debug)]
struct Kept {
    last: u64,
    tickets: BTreeMap<u64, Ticket>,
    groups: HashMap<ServerName<'static>, NamedGroup>,
}

#[derive(Debug)]
enum Ticket {
    Tls12(Tls12ClientSessionValue),
    Tls13(Tls13ClientSessionValue),
}

impl Tickets {
    /// Returns the store of one session, which offers the ticket `offered`.
    pub fn store(&self, offered: Option<u64>) -> Arc<Store> {
        let inner = Inner { offered, new: Vec::new() };
        Arc::new(Store { kept: self.clients.clone(), inner: Mutex::new(inner) })
    }

    /// Returns the maker of tickets of the runtime's servers.
    pub fn server(&self) -> Option<Arc<dyn ProducesTickets>> {
        self.server.get_or_init(provider::ticketer).clone()
    }
}

/// The tickets of one session.
#[derive(Debug)]
pub struct Store {
    kept: Arc<Mutex<Kept>>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    offered: Option<u64>,
    new: Vec<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Takes the numbers of new tickets.
    pub fn take_new(&self) -> Vec<u64> {
        std::mem::take(&mut lock(&self.inner).new)
    }

    fn keep(&self, ticket: Ticket) {
        let mut kept = lock(&self.kept);
        kept.last += 1;
        let number = kept.last;
        kept.tickets.insert(number, ticket);
        if kept.tickets.len() > MAX_TICKETS {
            kept.tickets.pop_first();
        }
        lock(&self.inner).new.push(number);
    }
}

impl ClientSessionStore for Store {
    fn set_kx_hint(&self, name: ServerName<'static>, group: NamedGroup) {
        let mut kept = lock(&self.kept);
        if kept.groups.len() >= MAX_TICKETS {
            kept.groups.clear();
        }
        kept.groups.insert(name, group);
    }

    fn kx_hint(&self, name: &ServerName<'_>) -> Option<NamedGroup> {
        let name = name.to_owned();
        lock(&self.kept).groups.get(&name).copied()
    }

    fn set_tls12_session(&self, _name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.keep(Ticket::Tls12(value));
    }

    fn tls12_session(&self, _name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        let number = lock(&self.inner).offered?;
        match lock(&self.kept).tickets.get(&number)? {
            Ticket::Tls12(value) => Some(value.clone()),
            Ticket::Tls13(_) => None,
        }
    }

    fn remove_tls12_session(&self, _name: &ServerName<'static>) {
        lock(&self.inner).offered = None;
    }

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.keep(Ticket::Tls13(value));
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // A ticket of TLS 1.3 is used once.
        let number = lock(&self.inner).offered?;
        let mut kept = lock(&self.kept);
        match kept.tickets.remove(&number)? {
            Ticket::Tls13(value) => Some(value),
            other @ Ticket::Tls12(_) => {
                kept.tickets.insert(number, other);
                None
            }
        }
    }
}
