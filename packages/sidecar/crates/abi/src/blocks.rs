//! Blocks of fixed layout in the guest's memory. All numbers are little-endian. The sidecar decodes
//! a block from bytes, and the generator writes each block as a struct of the shim's header.

use crate::GuestStatus;

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// An unsigned 32-bit integer.
    U32,
    /// A signed 32-bit integer.
    I32,
    /// A 64-bit float.
    F64,
}

impl FieldKind {
    /// Returns the size in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U32 | Self::I32 => 4,
            Self::F64 => 8,
        }
    }
}

/// A field of a block, for the generator.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The distance from the start of the block in bytes.
    pub offset: usize,
    /// The type.
    pub kind: FieldKind,
    /// The name.
    pub name: &'static str,
    /// The comment of the field.
    pub docs: &'static str,
}

macro_rules! field_kind {
    (u32) => {
        FieldKind::U32
    };
    (i32) => {
        FieldKind::I32
    };
    (f64) => {
        FieldKind::F64
    };
}

macro_rules! blocks {
    ($(
        $(#[doc = $about:literal])+
        $name:ident: $len:literal { $($(#[doc = $docs:literal])+ $offset:literal $field:ident: $kind:tt,)+ }
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name {
            $($(#[doc = $docs])+ pub $field: $kind,)+
        }

        impl $name {
            /// The length in bytes.
            pub const LEN: usize = $len;

            /// All fields in order.
            pub const FIELDS: &'static [Field] = &[$(Field {
                offset: $offset,
                kind: field_kind!($kind),
                name: stringify!($field),
                docs: concat!($($docs),+),
            },)+];

            /// Reads the block.
            pub fn decode(block: &[u8; Self::LEN]) -> Self {
                Self {
                    $($field: {
                        let mut bytes = [0; size_of::<$kind>()];
                        bytes.copy_from_slice(&block[$offset..$offset + size_of::<$kind>()]);
                        $kind::from_le_bytes(bytes)
                    },)+
                }
            }

            /// Returns the block's bytes.
            pub fn encode(&self) -> [u8; Self::LEN] {
                let mut block = [0; Self::LEN];
                $(block[$offset..$offset + size_of::<$kind>()].copy_from_slice(&self.$field.to_le_bytes());)+
                block
            }
        }
    )+};
}

blocks! {
    /// The guest's version, addresses and lengths. `cf_info` returns the address of this block.
    InfoBlock: 24 {
        /// The ABI version of the guest.
        0 abi_version: u32,
        /// The address of the state block.
        4 state_ptr: u32,
        /// The address of the inbox for events.
        8 inbox_ptr: u32,
        /// The length of the inbox in bytes.
        12 inbox_len: u32,
        /// The address after the last page of the immortal objects.
        16 frozen_end: u32,
        /// The length of the guest's stack in bytes.
        20 stack_size: u32,
    }

    /// The guest's state, which the guest writes and the sidecar reads after a turn.
    StateBlock: 48 {
        /// 0 idle, 1 exited.
        0 status: u32,
        /// The exit code. Valid after the exit.
        4 exit_code: i32,
        /// The deadline of the next timer in milliseconds of the monotonic clock, or -1. A pending
        /// immediate counts as a timer that is due now.
        8 timer_at: f64,
        /// The reason of the exit.
        16 exit_reason: u32,
        /// The address of the JSON text that the program or the evaluation passed to `__return`, or
        /// 0. Modes `run` and `resident`.
        20 value_ptr: u32,
        /// The length of the text at `value_ptr` in bytes.
        24 value_len: u32,
        /// Mode `resident`: the id of the evaluation that ended in this turn, or 0.
        28 eval_done: u32,
        /// The exit code of the evaluation `eval_done`.
        32 eval_exit_code: i32,
        /// The reason why the evaluation `eval_done` ended, as `exit_reason`.
        36 eval_reason: u32,
        /// The number of referenced operations and handles, without timers and immediates.
        40 keep_alive: u32,
        /// Always 0.
        44 reserved: u32,
    }

    /// The header of an event.
    EventHeader: 16 {
        /// The kind of the event.
        0 kind: u32,
        /// The event's id, by kind.
        4 id: u32,
        /// The result of an operation, otherwise 0.
        8 result: i32,
        /// The length of the payload in bytes.
        12 len: u32,
    }
}

impl StateBlock {
    /// Returns whether the program has ended.
    pub const fn has_exited(&self) -> bool {
        self.status == GuestStatus::Exited.number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_each_other_without_gaps() {
        for (len, fields) in
            [(InfoBlock::LEN, InfoBlock::FIELDS), (StateBlock::LEN, StateBlock::FIELDS), (EventHeader::LEN, EventHeader::FIELDS)]
        {
            let end = fields.iter().fold(0, |at, field| {
                assert_eq!(field.offset, at, "{}", field.name);
                assert_eq!(at % field.kind.size(), 0, "{} is not aligned", field.name);
                at + field.kind.size()
            });
            assert_eq!(end, len);
        }
    }

    #[test]
    fn a_block_survives_encoding() {
        let mut bytes = [0; StateBlock::LEN];
        bytes.iter_mut().zip(1..).for_each(|(byte, value)| *byte = value);
        let state = StateBlock::decode(&bytes);
        assert_eq!(state.exit_code, 0x0807_0605);
        assert_eq!(state.timer_at.to_bits(), 0x100f_0e0d_0c0b_0a09);
        assert_eq!(state.encode(), bytes);
    }
}
