//! What images, snapshots and files are called by: the SHA-256 of their content.

/// One, as bytes.
pub(crate) type Digest = [u8; 32];

/// One, as people read it.
pub(crate) fn hex(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
