//! What is checked about a snapshot's info, which anybody may have written: that the SDK allows it, and that every client can be told it. One that cannot be
//! told would end the connection of whoever asks for a list. The bounds are the SDK's (`packages/sdk/src/options/snapshots.ts`).

use super::{SnapshotInfo, names};

/// The largest number that JavaScript has exactly.
const MOST: u64 = (1 << 53) - 1;
/// The last moment that JavaScript has a date for.
const LAST_MS: u64 = 8_640_000_000_000_000;
/// Characters of a name and of a tenant.
const NAME: usize = 200;
/// How many labels, and characters of a label's name and of its text.
const LABELS: usize = 64;
const LABEL: usize = 1_000;
/// Bytes of the image's hash.
const IMAGE: usize = 128;

fn is_text(text: &str, most: usize) -> bool {
    !text.contains('\0') && text.chars().nth(most).is_none()
}

/// Names and texts as the SDK allows them. `__proto__` is none: JavaScript has no ordinary entry of that name.
fn are_labels(labels: &[(String, String)]) -> bool {
    let is_name = |name: &str| !name.is_empty() && name != "__proto__" && is_text(name, LABEL);
    labels.len() <= LABELS && labels.iter().all(|(name, text)| is_name(name) && is_text(text, LABEL))
}

impl SnapshotInfo {
    /// What of it cannot be so. A file that was exported has no tenant.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let checks = [
            (names::is_id(&self.id), "its id is none"),
            (self.parent.as_deref().is_none_or(names::is_id), "its parent is none"),
            (self.created_ms <= LAST_MS, "a time that cannot be"),
            (self.size <= MOST, "a size that cannot be"),
            (self.image.len() <= IMAGE, "an image that is none"),
            (self.name.as_deref().is_none_or(|name| !name.is_empty() && is_text(name, NAME)), "a name that cannot be"),
            (is_text(&self.tenant, NAME), "a tenant that cannot be"),
            (are_labels(&self.labels), "labels that cannot be"),
        ];
        checks.into_iter().find(|(is_so, _)| !is_so).map_or(Ok(()), |(_, reason)| Err(reason))
    }
}
