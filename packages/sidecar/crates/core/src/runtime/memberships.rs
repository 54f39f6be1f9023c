//! The memberships of a runtime in private networks. Next: `outside.rs`.

use super::{Inner, Runtime};
use coldframe_error::Error;
use coldframe_kernel::{MemberScope, PrivateNetwork};
use std::sync::{Arc, Weak};

impl Runtime {
    /// Joins a private network under a name. Returns the number of the membership. A rollback or
    /// the end of the runtime ends the membership.
    pub fn join(&self, network: &Arc<PrivateNetwork>, name: &str, tags: Vec<String>) -> Result<u32, Error> {
        let programs = self.inner.programs.lock();
        if programs.disposed {
            return Err(Error::RuntimeDisposed);
        }
        let kernel = self.inner.kernel();
        drop(programs);
        kernel.join(network, name, tags, Box::new(Scope(Arc::downgrade(&self.inner))))
    }

    /// Leaves a private network. Returns false if the runtime is no member.
    pub fn leave(&self, network: &Arc<PrivateNetwork>) -> bool {
        self.inner.kernel().leave(network)
    }
}

/// Runs the work of other runtimes' threads for a runtime. A panic of the work breaks this runtime
/// and not the other runtime.
struct Scope(Weak<Inner>);

impl MemberScope for Scope {
    fn run(&self, work: &mut dyn FnMut()) {
        if let Some(inner) = self.0.upgrade() {
            Runtime { inner }.notify(|_| work());
        }
    }
}
