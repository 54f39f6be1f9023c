//! The secrets of a runtime: their declarations in the options, and the values, which are sealed.
//!
//! The options have names, hosts and placeholders. After the first options with secrets, the edge
//! asks for values ([`ToSidecar::SecretsWanted`]). The embedder requests a key ([`Keys::make`]) and
//! sends values sealed to the key ([`put`]). Until a value has arrived, a request that may need the
//! value waits ([`Arrival::wait`]). Next: `seal.rs`.

use crate::describe;
use crate::runtime::Runtime;
use crate::seal::{KEY_BYTES, OpeningKey};
use coldframe_edge_link::{
    Failure, MAX_SEALED_BYTES, Options, SEAL_INFO, SealedValue, SecretEntry, ToSidecar, ValueState, decode_values,
};
use coldframe_secrets::{Absence, AwsKey, Credential, Host, Place, Placeholder, Secret, SecretValue, Signing};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The largest number of keys of one runtime without a message. A further key replaces the oldest.
const MAX_KEYS: usize = 16;
/// The longest time that a request waits for the first value of a secret.
const PENDING_WAIT: Duration = Duration::from_secs(30);

/// The keys of one runtime that have opened no message.
#[derive(Default)]
pub struct Keys(VecDeque<OpeningKey>);

impl Keys {
    /// Makes a key. Returns the public key.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub fn make(&mut self) -> Result<[u8; KEY_BYTES], Failure> {
        let key = OpeningKey::new().ok_or_else(|| describe::invalid("secrets", "random numbers of the system", "none"))?;
        if self.0.len() >= MAX_KEYS {
            self.0.pop_front();
        }
        let public = key.public();
        self.0.push_back(key);
        Ok(public)
    }

    fn take(&mut self, public: &[u8; KEY_BYTES]) -> Option<OpeningKey> {
        let at = self.0.iter().position(|key| key.public() == *public)?;
        self.0.remove(at)
    }
}

/// The arrival of values.
#[derive(Default)]
pub struct Arrival {
    notify: Notify,
    was_asked: Cell<bool>,
}

impl Arrival {
    /// Asks the embedder for values, once.
    pub fn ask(&self, runtime: &Runtime) {
        let has_secrets = !runtime.state.borrow().secrets.is_empty();
        if has_secrets && !self.was_asked.replace(true) {
            runtime.shared.out.send(0, &ToSidecar::SecretsWanted { runtime: runtime.id });
        }
    }

    /// Waits until `is_pending` returns false, or for the longest time.
    pub async fn wait(&self, is_pending: impl Fn() -> bool) {
        let arrived = async {
            loop {
                // The notification of a value that arrives after the check is not lost.
                let notified = self.notify.notified();
                if !is_pending() {
                    return;
                }
                notified.await;
            }
        };
        if is_pending() {
            let _ = timeout(PENDING_WAIT, arrived).await;
        }
    }
}

/// Opens sealed values and sets them. If one value is wrong, no value is set.
///
/// # Errors
/// Returns the first wrong value.
pub fn put(runtime: &Runtime, key: &[u8; KEY_BYTES], sealed: &[u8]) -> Result<(), Failure> {
    let wrong = |what: &str, expected: &str| describe::invalid(what, expected, "other bytes");
    if sealed.len() > MAX_SEALED_BYTES {
        return Err(wrong("secrets", "at most 256 KiB of values"));
    }
    let key = runtime.state.borrow_mut().secret_keys.take(key).ok_or_else(|| wrong("secrets", "a key that is in use"))?;
    let opened = key.open(SEAL_INFO, sealed).ok_or_else(|| wrong("secrets", "values that are sealed to the key"))?;
    let values = decode_values(&opened).ok_or_else(|| wrong("secrets", "a list of values"))?;
    let values: Vec<_> = values.iter().map(|value| Ok((value.name, parse(value)?))).collect::<Result<_, Failure>>()?;
    let mut state = runtime.state.borrow_mut();
    for (name, value) in values {
        // A secret that was removed meanwhile needs no value.
        state.secrets.set_value(name, value);
    }
    drop(state);
    runtime.arrival.notify.notify_waiters();
    Ok(())
}

/// Returns the value or the reason of its absence. An error has no part of the value.
fn parse(value: &SealedValue<'_>) -> Result<Result<Credential, Absence>, Failure> {
    let invalid =
        |fault: coldframe_secrets::InvalidValue| describe::invalid(&format!("secrets.{}", value.name), fault, "another value");
    match (value.state, value.parts.as_slice()) {
        (ValueState::Missing, _) => Ok(Err(Absence::Missing)),
        (ValueState::Unavailable, _) => Ok(Err(Absence::Unavailable)),
        (ValueState::Value, [part]) => SecretValue::new(part.0.to_vec()).map(|text| Ok(Credential::Text(text))).map_err(invalid),
        (ValueState::Aws, [id, secret, token @ ..]) => {
            let key = AwsKey::new(id.0, secret.0, token.first().map(|token| token.0));
            key.map(|key| Ok(Credential::Aws(key))).map_err(invalid)
        }
        _ => Err(describe::invalid(&format!("secrets.{}", value.name), "a value of a secret", "other parts")),
    }
}

/// Returns the secrets of options, without values.
///
/// # Errors
/// Returns the first wrong secret.
pub fn compile(options: &Options) -> Result<Vec<(String, Secret)>, Failure> {
    options.secrets.iter().map(|entry| Ok((entry.name.clone(), secret(entry)?))).collect()
}

fn secret(entry: &SecretEntry) -> Result<Secret, Failure> {
    let what = |field: &str| format!("secrets.{}.{field}", entry.name);
    let placeholder = entry.placeholder.as_deref().map(Placeholder::parse).transpose();
    let hosts = entry.hosts.iter().map(|host| Host::parse(host)).collect::<Result<_, _>>();
    let places = match &entry.places {
        Some(places) => places.iter().map(|place| Place::parse(place)).collect::<Result<_, _>>(),
        None => Ok(Place::defaults()),
    };
    Ok(Secret {
        placeholder: placeholder.map_err(|fault| describe::invalid(&what("placeholder"), fault, ""))?,
        value: None,
        absence: Absence::Pending,
        hosts: hosts.map_err(|fault| describe::invalid(&what("hosts"), fault, ""))?,
        places: places.map_err(|fault| describe::invalid(&what("in"), fault, ""))?,
        insecure: entry.insecure,
        signs: entry.sign.as_ref().map(|sign| Signing { region: sign.region.clone(), service: sign.service.clone() }),
    })
}

/// Replaces the secrets of a runtime. A known name keeps its value.
///
/// # Errors
/// Returns the first wrong secret. The former secrets stay in force.
pub fn replace(secrets: &RefCell<crate::runtime::State>, compiled: Vec<(String, Secret)>) -> Result<(), Failure> {
    let replaced = secrets.borrow_mut().secrets.replace(compiled);
    replaced.map_err(|(name, fault)| describe::invalid(&format!("secrets.{name}"), fault, ""))
}
