//! Ids that cross a boundary: between SDK and sidecar, and between guest and kernel.
//!
//! Each id has a type of its own, so that the compiler refuses a runner's id where a runtime's id
//! is needed. The ids of requests, evaluations, runtimes and runners are never 0, so that `Option`
//! needs no further space and no number means "none". Each other crate defines the ids that it
//! alone uses, with the macros of this crate. Ids in messages and in snapshots are plain numbers.
//! Next: `digest.rs`.

mod digest;

pub use digest::Digest;

/// Defines an id that may be any number of 32 bits, or of 64 bits with `Name: u64`.
#[macro_export]
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $crate::id! { $(#[$doc])* $name: u32 }
    };
    ($(#[$doc:meta])* $name:ident: $number:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name($number);

        impl $name {
            /// Makes the id with this number.
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            /// Returns the number, for a message or another boundary.
            pub const fn get(self) -> $number {
                self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// Defines an id of 32 bits that is never 0.
#[macro_export]
macro_rules! non_zero_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(::std::num::NonZeroU32);

        impl $name {
            /// Makes the id with this number. Returns `None` for 0.
            pub const fn new(number: u32) -> Option<Self> {
                match ::std::num::NonZeroU32::new(number) {
                    Some(number) => Some(Self(number)),
                    None => None,
                }
            }

            /// Returns the number, for a message or another boundary.
            pub const fn get(self) -> u32 {
                self.0.get()
            }

            /// Returns the id that follows `last`, from 1 to `highest` and then from 1 again.
            pub const fn following(last: Option<Self>, highest: u32) -> Self {
                let next = match last {
                    Some(last) if last.get() < highest => ::std::num::NonZeroU32::MIN.saturating_add(last.get()),
                    _ => ::std::num::NonZeroU32::MIN,
                };
                Self(next)
            }
        }

        impl From<::std::num::NonZeroU32> for $name {
            fn from(number: ::std::num::NonZeroU32) -> Self {
                Self(number)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

non_zero_id! {
    /// A request of the SDK. The SDK assigns the number.
    RequestId
}

impl RequestId {
    /// Returns the id of the evaluation that this request started. Both ids have the same number.
    pub const fn evaluation(self) -> EvaluationId {
        EvaluationId(self.0)
    }
}

non_zero_id! {
    /// An evaluation in a resident runner. The number is the number of the evaluation's request.
    EvaluationId
}

impl EvaluationId {
    /// Returns the id of the request that started the evaluation. Both ids have the same number.
    pub const fn request(self) -> RequestId {
        RequestId(self.0)
    }
}

non_zero_id! {
    /// A private network of a session. The sidecar assigns the number.
    NetworkId
}

non_zero_id! {
    /// A runtime of a session. The sidecar assigns the number and never reuses it for another
    /// runtime.
    RuntimeId
}

non_zero_id! {
    /// A resident runner of a session. The sidecar assigns the number.
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
    /// The number that all copies of one program share. A start assigns a random number.
    Lineage: u64
}

id! {
    /// A file, an archive or a watch that the embedder has open in a runtime.
    HandleId
}

id! {
    /// A host call. Each runtime counts its own calls.
    HostCallId
}

id! {
    /// An inbound connection, or a wait for a listener. The number is the id of the request that
    /// started the connection or the wait.
    ConnectionId
}

id! {
    /// An app file system. The SDK assigns the number.
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
