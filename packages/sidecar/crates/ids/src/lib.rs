//! Ids that cross a boundary: between SDK and sidecar, and between guest and kernel.
//!
//! Each id has a type of its own, so that the compiler refuses a runner's id where a runtime's is
//! needed. A [`NonZeroU32`] id is allotted by this side of the boundary and is never 0, so that
//! `Option` costs nothing and no number means "none". Ids that stay inside one crate live there.
//! On the wire and in snapshots every id is a plain number.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Defines an id that may be any number of 32 bits.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The id with this number.
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The number, for a boundary.
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// Defines an id that is never 0.
macro_rules! non_zero_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id with this number. `None` for 0.
            pub const fn new(number: u32) -> Option<Self> {
                match NonZeroU32::new(number) {
                    Some(number) => Some(Self(number)),
                    None => None,
                }
            }

            /// The number, for a boundary.
            pub const fn get(self) -> u32 {
                self.0.get()
            }
        }

        impl From<NonZeroU32> for $name {
            fn from(number: NonZeroU32) -> Self {
                Self(number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

non_zero_id! {
    /// A request of the SDK. The SDK allots the number.
    RequestId
}

impl RequestId {
    /// The same number as the id of an evaluation. Every evaluation is one request.
    pub const fn evaluation(self) -> EvaluationId {
        EvaluationId(self.0)
    }
}

non_zero_id! {
    /// An evaluation in a resident runner: the number of the request that asked for it.
    EvaluationId
}

impl EvaluationId {
    /// The same number as the id of the request.
    pub const fn request(self) -> RequestId {
        RequestId(self.0)
    }
}

non_zero_id! {
    /// A runtime of a session. The sidecar allots the number and never reuses it for another
    /// runtime.
    RuntimeId
}

non_zero_id! {
    /// A resident runner of a session. The sidecar allots the number.
    RunnerId
}

id! {
    /// An entry of a runtime's process table.
    Pid
}

impl Pid {
    /// The parent of every root program. No process has this number.
    pub const INIT: Self = Self(1);
}

id! {
    /// A file, an archive or a watch that the embedder keeps open in a runtime.
    HandleId
}

id! {
    /// A host call. Each runtime counts its own calls.
    HostCallId
}

id! {
    /// An inbound connection, or a wait for a listener: the number of the request that began it.
    ConnectionId
}

id! {
    /// An app file system. The SDK allots the number.
    FileSystemId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_non_zero_id_refuses_0() {
        assert_eq!(RuntimeId::new(0), None);
        assert_eq!(RuntimeId::new(7).map(RuntimeId::get), Some(7));
    }

    #[test]
    fn an_optional_non_zero_id_needs_no_further_space() {
        assert_eq!(size_of::<Option<RunnerId>>(), size_of::<u32>());
    }
}
