//! The embedder's access to the connections out of a runtime: options, dry runs, open connections,
//! events. Next: `permissions.rs`.

use super::{Inner, Runtime};
use crate::outside::{
    Done, OutsideEvents, Owner, QueueListener, RuntimeOutside, SecretsKey, restored, validate, with_outside, without_outside,
};
use coldframe_edge_link::{Decision, Existing, FlowInfo, Options, OptionsChange, SecretEntry, WallPart};
use coldframe_error::Error;
use coldframe_kernel::{Kernel, PermissionPolicy};
use coldframe_panics::runtime::Mutex;
use std::sync::{Arc, OnceLock, Weak};

/// The embedder's access to the connections out of a runtime.
pub struct OutsideConnections {
    inner: Arc<Inner>,
}

impl Runtime {
    /// Returns the embedder's access to the connections out of the runtime.
    pub fn outside(&self) -> OutsideConnections {
        OutsideConnections { inner: self.inner.clone() }
    }
}

impl OutsideConnections {
    /// Returns the present options. `None` means that the embedder has never set options, and no
    /// connection leaves the runtime.
    pub fn options(&self) -> Option<Options> {
        self.inner.outside.get().map(|outside| outside.options())
    }

    /// Changes the options. `done` receives an error for invalid options, which change nothing.
    /// After a success, no byte moves that the new options deny. The caller may wait for a guest.
    pub fn update(&self, change: OptionsChange, existing: Existing, done: Done<()>) {
        if let Some(outside) = self.inner.outside.get() {
            return outside.update(change, existing, done);
        }
        let options = restored(Options::default(), &self.inner.outside.restored_secrets.lock()).changed(&change);
        let set = validate(&options).and_then(|()| {
            let permissions = &self.inner.kernel().permissions;
            permissions.set(&with_outside(without_outside(permissions.policy()), true))
        });
        if set.is_ok() {
            self.inner.set_outside(options);
        }
        done(set);
    }

    /// Judges a URL, without a look-up and without a connection.
    pub fn check(&self, url: String, method: String, done: Done<Decision>) {
        match self.inner.outside.get() {
            Some(outside) => outside.check(url, method, done),
            None => {
                let reason = "not-allowed".to_owned();
                let denied = coldframe_edge_link::Denied { reason, rule: None, host: None, detail: None };
                done(Ok(Decision::Refused(denied)));
            }
        }
    }

    /// Lists the open connections.
    pub fn flows(&self, done: Done<Vec<FlowInfo>>) {
        match self.inner.outside.get() {
            Some(outside) => outside.flows(done),
            None => done(Ok(Vec::new())),
        }
    }

    /// Returns the parts of the wall around the edge process of the core. Empty before the first
    /// start of the process, and without options.
    pub fn edge_walls(&self) -> Vec<WallPart> {
        self.inner.outside.get().map(|outside| outside.edge_walls()).unwrap_or_default()
    }

    /// Returns the present secrets, without values.
    pub fn secrets(&self) -> Vec<SecretEntry> {
        self.inner.outside.secrets()
    }

    /// Requests a key for values of the secrets. The result is `None` if no edge process has the
    /// runtime.
    pub fn secrets_key(&self, done: Done<Option<SecretsKey>>) {
        match self.inner.outside.get() {
            Some(outside) => outside.secrets_key(done),
            None => done(Ok(None)),
        }
    }

    /// Passes values of secrets to the edge process, sealed to a key of the edge process.
    pub fn put_secrets(&self, key: SecretsKey, sealed: Vec<u8>, done: Done<()>) {
        match self.inner.outside.get() {
            Some(outside) => outside.put_secrets(key, sealed, done),
            None => done(Err(Error::EdgeEnded { reason: "no process has the runtime".to_owned() })),
        }
    }

    /// Replaces or removes the listener for events. Waiting events are dropped. Starts no edge
    /// process.
    pub fn listen(&self, listener: Option<Arc<dyn QueueListener>>) {
        match self.inner.outside.get() {
            Some(outside) => outside.listen(listener),
            // Without options there are no events.
            None => *self.inner.outside.listener.lock() = listener,
        }
    }

    /// Takes at most `most` waiting events, in order. After an empty result, the next event
    /// notifies the listener again.
    pub fn take(&self, most: usize) -> OutsideEvents {
        self.inner.outside.get().map(|outside| outside.take(most)).unwrap_or_default()
    }
}

/// Validates the options of a new runtime, and sets its permissions.
pub(super) fn prepare(kernel: &Kernel, permissions: PermissionPolicy, options: Option<&Options>) -> Result<(), Error> {
    options.map_or(Ok(()), validate)?;
    let permissions = with_outside(permissions, options.is_some());
    if *permissions == PermissionPolicy::default() { Ok(()) } else { kernel.permissions.set(&permissions) }
}

/// The outside of a runtime, which is set at most once.
#[derive(Default)]
pub(super) struct OutsideSlot {
    outside: OnceLock<Arc<RuntimeOutside>>,
    /// The listener for events that was set before the options.
    listener: Mutex<Option<Arc<dyn QueueListener>>>,
    /// The secrets of the snapshot that the runtime was restored from, until options are set.
    pub(super) restored_secrets: Mutex<Vec<SecretEntry>>,
}

impl OutsideSlot {
    pub(super) fn get(&self) -> Option<&Arc<RuntimeOutside>> {
        self.outside.get()
    }

    /// Returns the present secrets.
    pub(super) fn secrets(&self) -> Vec<SecretEntry> {
        match self.outside.get() {
            Some(outside) => outside.options().secrets,
            None => self.restored_secrets.lock().clone(),
        }
    }

    /// Ends the connections of the runtime.
    pub(super) fn end(&self) {
        if let Some(outside) = self.outside.get() {
            outside.end();
        }
    }
}

impl Drop for OutsideSlot {
    fn drop(&mut self) {
        self.end();
    }
}

impl Inner {
    /// Sets validated options of connections out of the runtime. Does not replace earlier options.
    pub(super) fn set_outside(self: &Arc<Self>, options: Options) -> &Arc<RuntimeOutside> {
        let outside = self.outside.outside.get_or_init(|| {
            let owner: Weak<dyn Owner> = Arc::downgrade(&(self.clone() as Arc<dyn Owner>));
            RuntimeOutside::new(self.registry.edge().clone(), self.ordinal, owner, options)
        });
        if let Some(listener) = self.outside.listener.lock().take() {
            outside.listen(Some(listener));
        }
        self.kernel().set_outside(Some(outside.clone()));
        outside
    }
}

impl Owner for Inner {
    fn notify(self: Arc<Self>, notice: &mut dyn FnMut(&Kernel)) {
        Runtime { inner: self }.notify(|runtime| notice(&runtime.inner.kernel()));
    }

    fn hand_over(&self, job: Box<dyn FnOnce() + Send>) {
        self.registry.scheduler().hand_over(job);
    }
}
