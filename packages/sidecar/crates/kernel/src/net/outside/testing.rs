//! An implementation of [`Outside`] that records the calls, and the check of the calls, for tests
//! and fuzz targets.

use crate::STREAM_WINDOW;
use crate::outside::{DATAGRAM_COST, FlowId, LookUpFamily, LookUpId, Outside};
use coldframe_panics::runtime::Mutex;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The port of the host machine's loopback that [`FakeOutside`] opens.
pub(crate) const HOST_PORT: u16 = 5_432;

/// A call of the kernel. The variants are the methods of the trait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    LookUp(LookUpId, String, LookUpFamily),
    Query(LookUpId, String, u16),
    Cancel(LookUpId),
    Connect(FlowId, SocketAddr),
    OpenDatagrams(FlowId, SocketAddr),
    SendDatagram(FlowId, Vec<u8>),
    Dropped(FlowId, u64),
    OpenTls(FlowId),
    AttachTls(FlowId, FlowId),
    Write(FlowId, Vec<u8>),
    End(FlowId),
    Credit(FlowId, u64),
    Close(FlowId, bool),
}

/// Records the calls of the kernel.
#[derive(Default)]
pub(crate) struct FakeOutside(Mutex<Vec<Asked>>);

impl FakeOutside {
    /// Removes and returns the calls since the last `take`.
    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Outside for FakeOutside {
    fn look_up(&self, id: LookUpId, name: &str, family: LookUpFamily) {
        self.0.lock().push(Asked::LookUp(id, name.to_owned(), family));
    }

    fn query(&self, id: LookUpId, name: &str, record_type: u16) {
        self.0.lock().push(Asked::Query(id, name.to_owned(), record_type));
    }

    fn cancel(&self, id: LookUpId) {
        self.0.lock().push(Asked::Cancel(id));
    }

    fn opens_loopback(&self, peer: SocketAddr) -> bool {
        peer.port() == HOST_PORT
    }

    fn opens_loopback_datagrams(&self, peer: SocketAddr) -> bool {
        peer.port() == HOST_PORT
    }

    fn open_datagrams(&self, flow: FlowId, peer: SocketAddr) {
        self.0.lock().push(Asked::OpenDatagrams(flow, peer));
    }

    fn send_datagram(&self, flow: FlowId, bytes: &[u8]) {
        self.0.lock().push(Asked::SendDatagram(flow, bytes.to_vec()));
    }

    fn dropped(&self, flow: FlowId, count: u64) {
        self.0.lock().push(Asked::Dropped(flow, count));
    }

    fn connect(&self, flow: FlowId, peer: SocketAddr) {
        self.0.lock().push(Asked::Connect(flow, peer));
    }

    fn open_tls(&self, flow: FlowId) {
        self.0.lock().push(Asked::OpenTls(flow));
    }

    fn attach_tls(&self, session: FlowId, connection: FlowId) {
        self.0.lock().push(Asked::AttachTls(session, connection));
    }

    fn write(&self, flow: FlowId, bytes: &[u8]) {
        self.0.lock().push(Asked::Write(flow, bytes.to_vec()));
    }

    fn end(&self, flow: FlowId) {
        self.0.lock().push(Asked::End(flow));
    }

    fn credit(&self, flow: FlowId, bytes: u64) {
        self.0.lock().push(Asked::Credit(flow, bytes));
    }

    fn close(&self, flow: FlowId, reset: bool) {
        self.0.lock().push(Asked::Close(flow, reset));
    }
}

/// The state of a flow, as the outside knows it.
#[derive(Default)]
struct Seen {
    ended: bool,
    closed: bool,
    /// The bytes without credit.
    unread: u64,
}

/// Checks that the kernel's calls follow the rules of [`Outside`].
#[derive(Default)]
pub(crate) struct FlowRules(BTreeMap<FlowId, Seen>);

impl FlowRules {
    /// Checks calls of the kernel.
    ///
    /// # Panics
    /// Panics if a call breaks a rule.
    pub(crate) fn check(&mut self, asked: Vec<Asked>) {
        for asked in asked {
            match asked {
                Asked::Connect(flow, _) | Asked::OpenDatagrams(flow, _) | Asked::OpenTls(flow) | Asked::AttachTls(flow, _) => {
                    assert!(self.0.insert(flow, Seen::default()).is_none(), "a number twice")
                }
                Asked::Write(flow, bytes) => {
                    let seen = self.open(flow);
                    assert!(!seen.ended && !bytes.is_empty(), "bytes after the end");
                    seen.unread += bytes.len() as u64;
                    assert!(seen.unread <= STREAM_WINDOW, "more bytes than the window");
                }
                Asked::SendDatagram(flow, bytes) => {
                    let seen = self.open(flow);
                    seen.unread += bytes.len() as u64 + DATAGRAM_COST;
                    assert!(seen.unread <= STREAM_WINDOW, "more datagrams than the window");
                }
                Asked::Dropped(flow, count) => {
                    self.open(flow);
                    assert!(count > 0, "no datagram");
                }
                Asked::End(flow) => assert!(!std::mem::replace(&mut self.open(flow).ended, true), "two ends"),
                Asked::Credit(flow, bytes) => {
                    self.open(flow);
                    assert!(bytes > 0, "no credit");
                }
                Asked::Close(flow, _) => self.open(flow).closed = true,
                Asked::LookUp(..) | Asked::Query(..) | Asked::Cancel(_) => {}
            }
        }
    }

    #[expect(clippy::expect_used, reason = "a broken rule fails the test")]
    fn open(&mut self, flow: FlowId) -> &mut Seen {
        self.0.get_mut(&flow).filter(|seen| !seen.closed).expect("no call after the end of a flow")
    }

    /// Records that the outside has sent credit.
    pub(crate) fn credit(&mut self, flow: FlowId, bytes: u64) {
        if let Some(seen) = self.0.get_mut(&flow) {
            seen.unread = seen.unread.saturating_sub(bytes);
        }
    }

    /// Records that the outside has closed the flow.
    pub(crate) fn close(&mut self, flow: FlowId) {
        if let Some(seen) = self.0.get_mut(&flow) {
            seen.closed = true;
        }
    }

    /// Returns the number of all flows.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the flows that are not closed.
    pub(crate) fn open_flows(&self) -> Vec<FlowId> {
        self.0.iter().filter(|(_, seen)| !seen.closed).map(|(id, _)| *id).collect()
    }
}
