//! The tickets of a runtime's client sessions. A ticket stays in this process, and the guest has
//! its number. Next: `engine.rs`.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use rustls::server::ProducesTickets;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The largest number of tickets of one runtime. The oldest ticket is dropped.
const MAX_TICKETS: usize = 256;
/// The time that clients may keep a ticket, as in rustls.
const LIFETIME_SECONDS: u32 = 12 * 60 * 60;

/// The tickets of one runtime.
#[derive(Default)]
pub struct Tickets {
    clients: Arc<Mutex<Kept>>,
    /// The secret of the runtime's servers. No ticket outlives the runtime.
    secret: OnceLock<Option<hmac::Key>>,
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
        Arc::new(Store { kept: self.clients.clone(), offered, inner: Mutex::default() })
    }

    /// Returns the maker of tickets of the runtime's servers that have the same keys. The guest
    /// chooses `keys`, and cannot read or make a ticket.
    pub fn server(&self, keys: &[u8]) -> Option<Arc<dyn ProducesTickets>> {
        let secret = self.secret.get_or_init(new_secret).as_ref()?;
        let key = hmac::sign(secret, keys);
        let key = UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()).ok()?;
        Some(Arc::new(Ticketer(LessSafeKey::new(key))))
    }
}

fn new_secret() -> Option<hmac::Key> {
    hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()
}

/// Makes the tickets of servers: a nonce, and the sealed state of the session.
struct Ticketer(LessSafeKey);

impl std::fmt::Debug for Ticketer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ticketer")
    }
}

impl ProducesTickets for Ticketer {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        LIFETIME_SECONDS
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut sealed = plain.to_vec();
        self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed).ok()?;
        Some([&nonce[..], &sealed].concat())
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = ticket.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let plain = self.0.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::empty(), &mut sealed).ok()?;
        Some(plain.to_vec())
    }
}

/// The tickets of one session.
#[derive(Debug)]
pub struct Store {
    kept: Arc<Mutex<Kept>>,
    /// The number of the ticket that the session offers.
    offered: Option<u64>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The session offers no ticket of TLS 1.2.
    is_removed: bool,
    new: Vec<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Takes the numbers of new tickets. The new tickets of a resumed session replace the ticket
    /// that the session has offered. So a program can offer the bytes of a session several times,
    /// as in OpenSSL, and no ticket of TLS 1.3 is used twice.
    pub fn take_new(&self, is_resumed: bool) -> Vec<u64> {
        let new = std::mem::take(&mut lock(&self.inner).new);
        let Some(offered) = self.offered.filter(|_| is_resumed) else { return new };
        let mut kept = lock(&self.kept);
        for number in new {
            if let Some(ticket) = kept.tickets.remove(&number) {
                kept.tickets.insert(offered, ticket);
            }
        }
        Vec::new()
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
        let number = self.offered.filter(|_| !lock(&self.inner).is_removed)?;
        match lock(&self.kept).tickets.get(&number)? {
            Ticket::Tls12(value) => Some(value.clone()),
            Ticket::Tls13(_) => None,
        }
    }

    fn remove_tls12_session(&self, _name: &ServerName<'static>) {
        lock(&self.inner).is_removed = true;
    }

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.keep(Ticket::Tls13(value));
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // A ticket of TLS 1.3 is used once.
        let number = self.offered?;
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
