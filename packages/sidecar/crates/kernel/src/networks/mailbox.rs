//! The mail of a runtime: the events that other runtimes have posted and that its socket table has
//! not handled yet.
//!
//! A thread posts mail while it may have its own table locked. The thread then visits the receivers
//! with [`deliver_posted`], without a locked table. A visit locks the receiver's table only if the
//! table is free. Otherwise the holder of the table visits after its release, because each release
//! checks the mailbox (`net/turn.rs`).
//!
//! The credit of each flow bounds the bytes in a mailbox. Next: `wire.rs`.

use super::wire::Wire;
use crate::outside::{OutsideFailure, OutsideFailureKind};
use coldframe_error::Errno;
use coldframe_panics::process::Mutex;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

/// The maximum number of bytes of datagrams in a mailbox. Further datagrams are lost.
const MAX_DATAGRAM_BYTES: usize = 256 << 10;

/// Runs work of other runtimes' threads for one runtime, and contains panics of the work.
pub trait MemberScope: Send + Sync {
    /// Calls `work`, unless the runtime has ended.
    fn run(&self, work: &mut dyn FnMut());
}

/// The owner of a socket table, which receives mail.
pub(crate) trait MailReceiver: Send + Sync {
    /// Handles the waiting mail, unless another thread has locked the table. That thread handles
    /// the mail after its release.
    fn take_mail(&self);

    /// Waits for the table, and handles the waiting mail.
    fn settle(&self);
}

/// A message to a socket table.
pub(crate) enum Mail {
    /// A connection to a listener of the receiver. The receiver is the second end of the wire.
    Arrival(Arc<Wire>),
    /// An event of the flow at the end `side` of the wire.
    Event { wire: Arc<Wire>, side: usize, event: WireEvent },
    /// A datagram.
    Datagram { from: SocketAddr, to: SocketAddr, bytes: Vec<u8> },
    /// The membership with this number has ended.
    Leave(u32),
}

/// An event of a flow, as [`crate::OutsideEvent`] with own bytes.
#[derive(Debug)]
pub(crate) enum WireEvent {
    Connected,
    Data(Vec<u8>),
    Credit(u64),
    End,
    Closed(Option<OutsideFailure>),
}

impl WireEvent {
    /// Returns the end of a connection that was reset or refused.
    pub(crate) fn failed(errno: Errno) -> Self {
        Self::Closed(Some(OutsideFailure { kind: OutsideFailureKind::Errno(errno), message: String::new() }))
    }
}

/// The mailbox of one socket table.
pub(crate) struct Mailbox {
    receiver: Weak<dyn MailReceiver>,
    scope: Box<dyn MemberScope>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    mail: VecDeque<Mail>,
    datagram_bytes: usize,
    is_closed: bool,
}

thread_local! {
    /// The mailboxes that this thread must visit.
    static POSTED: RefCell<VecDeque<Arc<Mailbox>>> = const { RefCell::new(VecDeque::new()) };
    /// Whether this thread visits mailboxes at present.
    static IS_DELIVERING: Cell<bool> = const { Cell::new(false) };
}

/// Visits the mailboxes to which this thread has posted. The caller must have no table locked. Has
/// no effect within a visit, because the visiting loop continues.
pub(crate) fn deliver_posted() {
    struct Ended;
    impl Drop for Ended {
        fn drop(&mut self) {
            IS_DELIVERING.set(false);
        }
    }
    if IS_DELIVERING.replace(true) {
        return;
    }
    let _ended = Ended;
    while let Some(mailbox) = POSTED.with_borrow_mut(VecDeque::pop_front) {
        mailbox.visit();
    }
}

impl Mailbox {
    pub(crate) fn new(receiver: Weak<dyn MailReceiver>, scope: Box<dyn MemberScope>) -> Arc<Self> {
        Arc::new(Self { receiver, scope, queue: Mutex::default() })
    }

    /// Adds mail. The caller must call [`deliver_posted`] after its last lock is released, which
    /// the release of a socket table does.
    pub(crate) fn post(self: &Arc<Self>, mail: Mail) {
        let mut queue = self.queue.lock();
        if queue.is_closed {
            drop(queue);
            return refuse(mail);
        }
        if let Mail::Datagram { bytes, .. } = &mail {
            if queue.datagram_bytes + bytes.len() > MAX_DATAGRAM_BYTES {
                return;
            }
            queue.datagram_bytes += bytes.len();
        }
        queue.mail.push_back(mail);
        drop(queue);
        self.visit_later();
    }

    /// Makes this thread visit the mailbox with its next [`deliver_posted`].
    pub(crate) fn visit_later(self: &Arc<Self>) {
        POSTED.with_borrow_mut(|posted| {
            if !posted.iter().any(|other| Arc::ptr_eq(other, self)) {
                posted.push_back(self.clone());
            }
        });
    }

    /// Returns whether mail waits.
    pub(crate) fn has_mail(&self) -> bool {
        !self.queue.lock().mail.is_empty()
    }

    /// Removes all mail.
    pub(crate) fn take(&self) -> VecDeque<Mail> {
        let mut queue = self.queue.lock();
        queue.datagram_bytes = 0;
        std::mem::take(&mut queue.mail)
    }

    /// Refuses all present and later mail.
    pub(crate) fn close(&self) {
        let mail = {
            let mut queue = self.queue.lock();
            queue.is_closed = true;
            std::mem::take(&mut queue.mail)
        };
        mail.into_iter().for_each(refuse);
    }

    /// Waits until the table has handled the mail. The caller must have no table locked.
    pub(crate) fn settle(&self) {
        if let Some(receiver) = self.receiver.upgrade() {
            self.scope.run(&mut || receiver.settle());
        }
    }

    fn visit(&self) {
        let mut receiver = self.receiver.upgrade();
        if receiver.is_none() {
            return self.close();
        }
        // The last reference to the receiver is dropped inside of the scope.
        self.scope.run(&mut || {
            if let Some(receiver) = receiver.take() {
                receiver.take_mail();
            }
        });
    }
}

/// Refuses mail that no table handles. The ends of open flows are reset by the table that closes
/// the mailbox, so only a new connection needs a reply.
fn refuse(mail: Mail) {
    if let Mail::Arrival(wire) = mail {
        wire.send(1, WireEvent::failed(Errno::ECONNREFUSED));
        wire.forget(false);
    }
}
