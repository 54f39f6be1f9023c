//! The table of system calls.
//!
//! A system call has a number and up to eight integers. Calls of one topic are a family of 256
//! numbers. Each family has its own enum, so that a part of the kernel matches its calls
//! exhaustively. [`SystemCall`] is any call that the import `sys` executes. [`BlockingCall`] is any
//! call that the import `sys_wait` executes: these calls block the VM. To add a call, add a row to
//! a family and run `pnpm generate`. Next: `files.rs`.

mod bindings;
mod blocking;
mod clocks;
mod cryptography;
mod files;
mod processes;
mod sockets;
mod terminals;

pub use bindings::BindingCall;
pub use blocking::BlockingCall;
pub use clocks::ClockCall;
pub use cryptography::CryptographyCall;
pub use files::FileCall;
pub use processes::ProcessCall;
pub use sockets::SocketCall;
pub use terminals::TerminalCall;

/// The largest number of integers that a call has.
pub const MAX_INTEGERS: usize = 8;
/// The bits of a call's number that select the family.
const FAMILY_MASK: u32 = !0xff;

/// The form of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// One integer.
    Integer,
    /// A path in UTF-8: address and length.
    Path,
    /// Text in UTF-8: address and length.
    Text,
    /// Bytes that the kernel reads: address and length.
    Bytes,
    /// A buffer that the kernel writes: address and length.
    Buffer,
}

impl ArgumentKind {
    /// Returns the number of integers that encode the argument.
    pub const fn integers(self) -> usize {
        match self {
            Self::Integer => 1,
            Self::Path | Self::Text | Self::Bytes | Self::Buffer => 2,
        }
    }
}

/// An argument of a call.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// The name.
    pub name: &'static str,
    /// The form.
    pub kind: ArgumentKind,
}

/// The result of a call that does not fail.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    /// 0.
    Zero,
    /// A value from 0 on.
    Value(&'static str),
    /// The number of an operation. The text describes the COMPLETE event.
    Operation(&'static str),
}

/// A row of the table, for the generator.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// The variant's name, as in `CopyFile`.
    pub name: &'static str,
    /// The number.
    pub number: u32,
    /// The arguments in order.
    pub arguments: &'static [Argument],
    /// The result.
    pub returns: Returns,
    /// Whether the import is `sys_wait`.
    pub blocks: bool,
    /// The comment of the variant.
    pub docs: &'static str,
}

macro_rules! argument_kind {
    () => {
        $crate::system_calls::ArgumentKind::Integer
    };
    ($kind:ident) => {
        $crate::system_calls::ArgumentKind::$kind
    };
}

/// Declares an enum of calls. A row is `Name(argument, argument: Kind) = number => Returns(text);`.
macro_rules! system_calls {
    (
        $(#[doc = $about:literal])+
        $family:ident, blocks: $blocks:literal {
            $(
                $(#[doc = $docs:literal])+
                $name:ident($($argument:ident $(: $kind:ident)?),*) = $number:literal => $returns:ident $(($result:literal))?;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $family {
            $($(#[doc = $docs])+ $name = $number,)+
        }

        impl $family {
            /// All calls in order.
            pub const DECLARATIONS: &'static [$crate::system_calls::Declaration] = &[$(
                $crate::system_calls::Declaration {
                    name: stringify!($name),
                    number: $number,
                    arguments: &[$($crate::system_calls::Argument {
                        name: stringify!($argument),
                        kind: $crate::system_calls::argument_kind!($($kind)?),
                    }),*],
                    returns: $crate::system_calls::Returns::$returns $(($result))?,
                    blocks: $blocks,
                    docs: concat!($($docs),+),
                },
            )+];

            /// Returns the number.
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// Returns the call with this number.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }
        }

        impl From<$family> for u32 {
            fn from(call: $family) -> Self {
                call.number()
            }
        }

        impl From<$family> for i64 {
            fn from(call: $family) -> Self {
                Self::from(call.number())
            }
        }
    };
}
pub(crate) use {argument_kind, system_calls};

/// A family of calls, for the generator.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The name of the family in generated files.
    pub name: &'static str,
    /// The first of the family's 256 numbers.
    pub first: u32,
    calls: &'static [Declaration],
}

impl Family {
    /// Returns the calls of the family, blocking ones too, in the order of their numbers.
    pub fn declarations(&self) -> Vec<&'static Declaration> {
        let blocking = BlockingCall::DECLARATIONS.iter().filter(|call| call.number & FAMILY_MASK == self.first);
        let mut all: Vec<_> = self.calls.iter().chain(blocking).collect();
        all.sort_by_key(|call| call.number);
        all
    }
}

macro_rules! families {
    ($($(#[doc = $docs:literal])+ $variant:ident($calls:ident) = $first:literal, $name:literal;)+) => {
        /// A call that the import `sys` executes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum SystemCall {
            $($(#[doc = $docs])+ $variant($calls),)+
        }

        impl SystemCall {
            /// Returns the call with this number. `None` for a number without a call, and for a
            /// [`BlockingCall`].
            pub const fn from_number(number: u32) -> Option<Self> {
                match number & FAMILY_MASK {
                    $($first => match $calls::from_number(number) {
                        Some(call) => Some(Self::$variant(call)),
                        None => None,
                    },)+
                    _ => None,
                }
            }
        }

        /// All families in order.
        pub const FAMILIES: &[Family] = &[$(Family { name: $name, first: $first, calls: $calls::DECLARATIONS },)+];
    };
}

families! {
    /// Files, directories and descriptors.
    File(FileCall) = 0x100, "files";
    /// Sockets and pipes.
    Socket(SocketCall) = 0x200, "sockets";
    /// Digests, ciphers and long computations.
    Cryptography(CryptographyCall) = 0x300, "cryptography";
    /// Processes and signals.
    Process(ProcessCall) = 0x400, "processes";
    /// Time zones.
    Clock(ClockCall) = 0x500, "clocks";
    /// Functions of the app.
    Binding(BindingCall) = 0x600, "bindings";
    /// Terminals.
    Terminal(TerminalCall) = 0x700, "terminals";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_contains_its_numbers_once_and_in_order() {
        for family in FAMILIES {
            let numbers: Vec<_> = family.declarations().iter().map(|call| call.number).collect();
            assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{}", family.name);
            assert!(numbers.iter().all(|number| number & FAMILY_MASK == family.first), "{}", family.name);
        }
        let listed: usize = FAMILIES.iter().map(|family| family.declarations().len()).sum();
        let declared: usize = FAMILIES.iter().map(|family| family.calls.len()).sum();
        assert_eq!(listed, declared + BlockingCall::DECLARATIONS.len());
    }

    #[test]
    fn a_number_is_a_call_of_one_import_at_most() {
        for number in 0..0x1000 {
            let (plain, blocking) = (SystemCall::from_number(number), BlockingCall::from_number(number));
            assert!(plain.is_none() || blocking.is_none(), "{number:#x}");
            let declared = FAMILIES.iter().flat_map(Family::declarations).find(|call| call.number == number);
            assert_eq!(declared.map(|call| call.blocks), blocking.map(|_| true).or(plain.map(|_| false)), "{number:#x}");
        }
        assert_eq!(SystemCall::from_number(u32::MAX), None);
    }

    #[test]
    fn a_call_has_at_most_eight_integers() {
        for call in FAMILIES.iter().flat_map(Family::declarations) {
            let integers: usize = call.arguments.iter().map(|argument| argument.kind.integers()).sum();
            assert!(integers <= MAX_INTEGERS, "{}", call.name);
        }
    }
}
