//! The SHA-256 of content, which identifies images, snapshots and files.

use std::fmt;

/// The SHA-256 of content. Displayed as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; Self::LEN]);

impl Digest {
    /// The length in bytes.
    pub const LEN: usize = 32;

    /// Makes the digest with these bytes.
    pub const fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Reads the digest at the start of `bytes`. Returns `None` if there are too few bytes.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().copied().map(Self)
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_displayed_as_64_hexadecimal_digits() {
        let mut bytes = [0; Digest::LEN];
        (bytes[0], bytes[31]) = (0xab, 5);
        assert_eq!(Digest::new(bytes).to_string(), format!("ab{}05", "00".repeat(30)));
        assert_eq!(Digest::read(&bytes[1..]), None);
    }
}
