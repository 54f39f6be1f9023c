//! The embedder's access to a runtime's permissions: the policy, and the decisions. Next:
//! `usage.rs`.

use super::{Inner, Runtime};
use crate::outside::with_outside;
use coldframe_error::Error;
use coldframe_kernel::{Decisions, PermissionListener, PermissionPolicy};
use std::sync::Arc;

/// The embedder's access to a runtime's permissions.
#[derive(Clone)]
pub struct Permissions {
    inner: Arc<Inner>,
}

impl Runtime {
    /// Returns the embedder's access to the runtime's permissions.
    pub fn permissions(&self) -> Permissions {
        Permissions { inner: self.inner.clone() }
    }
}

impl Permissions {
    /// Replaces the policy of all programs. The new policy applies from each program's next system
    /// call. Open files stay open. If the policy omits the scope `network`, the scope allows what
    /// the options of outside connections allow. If the policy is invalid, the call fails and the
    /// old policy stays.
    pub fn set(&self, policy: &PermissionPolicy) -> Result<(), Error> {
        let policy = with_outside(policy.clone(), self.inner.outside.get().is_some());
        self.inner.kernel().permissions.set(&policy)
    }

    /// Replaces or removes the listener for permission decisions. Waiting decisions are dropped.
    pub fn listen(&self, listener: Option<Arc<dyn PermissionListener>>) {
        self.inner.kernel().permissions.listen(listener);
    }

    /// Takes at most `most` waiting decisions, in order. After an empty result, the next decision
    /// notifies the listener again.
    pub fn take(&self, most: usize) -> Decisions {
        self.inner.kernel().permissions.take(most)
    }
}
