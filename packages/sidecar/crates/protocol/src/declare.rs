//! The macros that declare messages. Each message has one row, beside the struct of its body.
//!
//! A family of messages is one file in `messages/`. Only the rows of that file define the number
//! and the name of a message, and the reply of a request. `crates/codegen` reads these rows and
//! structs, and writes the SDK's types, decoders and the tables of `docs/internals/protocol.md`.
//! Next: `messages/mod.rs`.

/// Declares a family of messages of the SDK: an enum with one variant for each message.
///
/// A row is `Variant(Body) = NUMBER "name" -> Reply`. A row without `-> Reply` is a notice, which
/// has no reply.
macro_rules! requests {
    (
        $(#[$family_doc:meta])*
        pub enum $family:ident<'a> {
            $($(#[$doc:meta])* $variant:ident($body:ty) = $number:literal $name:literal $(-> $reply:ty)?,)*
        }
    ) => {
        $(#[$family_doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::enum_variant_names, reason = "a variant has the name of its message")]
        #[allow(clippy::large_enum_variant, reason = "a request is read once and never stored")]
        pub enum $family<'a> {
            $($(#[$doc])* $variant($body),)*
        }

        impl<'a> $family<'a> {
            /// The rows of the family.
            pub(crate) const ROWS: &'static [$crate::messages::Row] = &[$(
                $crate::messages::Row {
                    kind: $crate::messages::Kind::$variant,
                    name: $name,
                    has_reply: crate::declare::has_reply!($($reply)?),
                },
            )*];

            /// Reads the body of a message of this family. Returns `None` if the kind belongs to
            /// another family.
            pub(crate) fn decode(
                kind: $crate::messages::Kind,
                body: &'a [u8],
            ) -> Option<Result<Self, $crate::Invalid>> {
                Some(match kind {
                    $($crate::messages::Kind::$variant => {
                        $crate::reader::read(body).map(Self::$variant)
                    })*
                    _ => return None,
                })
            }
        }

        crate::declare::kinds! { $($(#[$doc])* $variant = $number,)* }

        // The compiler checks that every reply is a type.
        const _: () = {
            #[expect(dead_code, reason = "only its signature counts")]
            #[allow(clippy::needless_lifetimes, clippy::too_many_arguments, reason = "no code calls it")]
            fn replies<'a>(_: &'a (), $($(_: $reply,)?)*) {}
        };
    };
}

/// Declares messages of the sidecar. A row is `Name(Body) = NUMBER "name"`.
///
/// `shared` lists messages of the sidecar that have the number and the name of a message of the
/// SDK.
macro_rules! events {
    (
        $rows:ident { $($(#[$doc:meta])* $variant:ident($body:ty) = $number:literal $name:literal,)* }
        $(shared { $($(#[$shared_doc:meta])* $shared:ident($shared_body:ty),)* })?
    ) => {
        pub(crate) const $rows: &[$crate::messages::Row] = &[$(
            $crate::messages::Row { kind: $crate::messages::Kind($number), name: $name, has_reply: false },
        )*];

        crate::declare::kinds! { $($(#[$doc])* $variant = $number,)* }

        // The compiler checks that every body is a type.
        const _: () = {
            #[expect(dead_code, reason = "only its signature counts")]
            #[allow(clippy::needless_lifetimes, clippy::too_many_arguments, reason = "no code calls it")]
            fn bodies<'a>(_: &'a (), $(_: $body,)* $($(_: $shared_body,)*)?) {}
        };
    };
}

/// Declares the constants of [`Kind`](crate::messages::Kind).
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $number:literal,)*) => {
        #[allow(non_upper_case_globals, reason = "a kind has the name of its message")]
        impl $crate::messages::Kind {
            $($(#[$doc])* pub const $variant: Self = Self($number);)*
        }
    };
}

macro_rules! has_reply {
    () => {
        false
    };
    ($reply:ty) => {
        true
    };
}

pub(crate) use {events, has_reply, kinds, requests};
