//! The synchronization and the processes of the requests in flight and of the sinks. `models.rs`
//! compiles these modules with other types in their place. Next: `requests.rs`.

pub(crate) use coldframe_core::{Process, Runtime};
pub(crate) use coldframe_panics::process::Mutex;
pub(crate) use std::sync::OnceLock;
