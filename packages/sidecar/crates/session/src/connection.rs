//! Handles messages about the connection, and the notices `credit` and `cancel`, which name a
//! request.

use coldframe_protocol::messages::{ConnectionRequest, Fact, SdkHello, SidecarResources, VERSION};

use crate::convert;
use crate::replies::Reply;
use crate::session::{FrameId, Handled, Session, Violation};

impl Session {
    /// Handles a message about the connection.
    pub(crate) fn connection(&mut self, id: FrameId, request: ConnectionRequest<'_>) -> Handled {
        match request {
            ConnectionRequest::Hello(hello) => check_version(&hello)?,
            ConnectionRequest::Ping(_) => self.send(Reply(id.request()?).done()),
            ConnectionRequest::Resources(_) => self.send(Reply(id.request()?).body(&self.resources(), 64)),
            // The reply may have been sent before this notice arrived, so the request may have
            // ended.
            ConnectionRequest::Credit(credit) => {
                if let Ok(id) = id.request() {
                    self.replies.requests.credit(id, credit.bytes);
                }
            }
            ConnectionRequest::Cancel(_) => {
                if let Ok(id) = id.request() {
                    self.replies.requests.cancel(id);
                }
            }
        }
        Ok(None)
    }

    fn resources(&self) -> SidecarResources {
        let all = self.core.resources();
        SidecarResources {
            runtimes: all.runtimes,
            processes: all.processes,
            warm_slots: all.warm_slots,
            memory_bytes: all.memory_bytes,
            buffered_bytes: all.buffered_bytes + self.replies.outlet.queued_bytes(),
        }
    }
}

fn check_version(hello: &SdkHello<'_>) -> Result<(), Violation> {
    if hello.version == VERSION {
        return Ok(());
    }
    let sdk: String = hello.version.chars().take(60).collect();
    let message = format!("the SDK is version {sdk} and the sidecar is version {VERSION}: they must be equal, install both anew");
    let facts = vec![("sdk", Fact::Text(sdk)), ("sidecar", Fact::Text(VERSION.to_owned()))];
    Err(convert::own_failure("ERR_VERSION_MISMATCH", message, facts))
}
