//! An implementation of [`Outside`] that records the calls, for tests and fuzz targets.

use crate::outside::{FlowId, LookUpFamily, LookUpId, Outside};
use coldframe_panics::runtime::Mutex;
use std::net::SocketAddr;

/// A call of the kernel. The variants are the methods of the trait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    LookUp(LookUpId, String, LookUpFamily),
    Query(LookUpId, String, u16),
    Cancel(LookUpId),
    Connect(FlowId, SocketAddr),
    OpenTls(FlowId),
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

    fn connect(&self, flow: FlowId, peer: SocketAddr) {
        self.0.lock().push(Asked::Connect(flow, peer));
    }

    fn open_tls(&self, flow: FlowId) {
        self.0.lock().push(Asked::OpenTls(flow));
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
