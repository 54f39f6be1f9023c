//! The boot id of a runtime, which programs read in `/proc/sys/kernel/random/boot_id`.
//!
//! The id belongs to the memory of the programs. A runtime that a snapshot with programs restores
//! has the id of the snapshot, because its programs continue. A new runtime and a runtime with only
//! the files of a snapshot have a new id. The id is made at its first use, so a start makes no
//! random numbers. Next: `fs/proc/machine.rs`, which shows the id.

use coldframe_sys as sys;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::sync::OnceLock;

/// A random UUID of version 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uuid([u8; 16]);

impl Uuid {
    /// Returns a new id, or `None` without entropy.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        sys::entropy(&mut bytes).ok()?;
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Some(Self(bytes))
    }
}

impl Display for Uuid {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let dash = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(formatter, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

/// The boot id of one runtime.
#[derive(Debug, Default)]
pub(crate) struct BootId(OnceLock<Uuid>);

impl BootId {
    pub(crate) fn restored(saved: Option<Uuid>) -> Self {
        Self(saved.map_or_else(OnceLock::new, OnceLock::from))
    }

    /// Returns the id. Returns `None` without entropy.
    pub(crate) fn get(&self) -> Option<Uuid> {
        if let Some(id) = self.0.get() {
            return Some(*id);
        }
        let made = Uuid::random()?;
        // Another call may have made the id meanwhile.
        Some(*self.0.get_or_init(|| made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_that_stays_equal() {
        let (one, other) = (BootId::default(), BootId::default());
        let text = one.get().expect("entropy").to_string();
        let lengths: Vec<_> = text.split('-').map(str::len).collect();
        assert_eq!((lengths, &text[14..15]), (vec![8, 4, 4, 4, 12], "4"));
        assert_eq!((one.get(), BootId::restored(one.get()).get()), (one.get(), one.get()));
        assert_ne!(one.get(), other.get());
    }
}
