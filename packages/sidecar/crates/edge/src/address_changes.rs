//! The task that follows changes of the host machine's addresses. Next: `interfaces.rs`.

use crate::interfaces::Interfaces;
use crate::link::Shared;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use tokio::io::unix::AsyncFd;

/// The socket of changes of the host machine's addresses.
pub struct Changes(pub Interfaces);

impl AsRawFd for Changes {
    fn as_raw_fd(&self) -> RawFd {
        self.0.changes().as_raw_fd()
    }
}

/// Replaces the addresses of the host machine after each change.
pub async fn follow(interfaces: AsyncFd<Changes>, shared: Rc<Shared>) {
    while let Ok(mut ready) = interfaces.readable().await {
        ready.clear_ready();
        let Changes(sockets) = interfaces.get_ref();
        // After a failure the former addresses stay in force until the next change.
        if let Ok(all) = sockets.drop_changes().and_then(|()| sockets.addresses()) {
            shared.set_addresses(all);
        }
    }
}
