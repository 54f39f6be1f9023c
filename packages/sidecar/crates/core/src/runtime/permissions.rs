//! What the caller outside does about permissions: another policy, and hearing of decisions.

use super::{Inner, Runtime};
use crate::policy::{Decisions, PermissionListener, PermissionPolicy};
use coldframe_error::Error;
use std::sync::Arc;

/// A runtime's permissions, for its owner.
#[derive(Clone)]
pub struct Permissions {
    inner: Arc<Inner>,
}

impl Runtime {
    /// Its permissions.
    pub fn permissions(&self) -> Permissions {
        Permissions { inner: self.inner.clone() }
    }
}

impl Permissions {
    /// Replaces the policy for all its programs, those that run included, from their next system call on. What is open stays open. A policy with
    /// a mistake changes nothing.
    pub fn set(&self, policy: &PermissionPolicy) -> Result<(), Error> {
        self.inner.kernel().permissions.set(policy)
    }

    /// From now on `listener` hears of every decision, instead of who did before; with none nobody does. What waited is forgotten.
    pub fn listen(&self, listener: Option<Arc<dyn PermissionListener>>) {
        self.inner.kernel().permissions.listen(listener);
    }

    /// At most `most` decisions that wait for the listener, in order. When there are none it hears of the next one again.
    pub fn take(&self, most: usize) -> Decisions {
        self.inner.kernel().permissions.take(most)
    }
}
