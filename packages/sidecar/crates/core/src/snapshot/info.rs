//! The facts about a snapshot, and their check.
//!
//! A file with facts may come from any source. The check refuses facts that the SDK does not allow,
//! and facts that do not fit into a message. A message that is too large would end the connection
//! of an embedder that lists its snapshots. The bounds equal the SDK's bounds
//! (`packages/sdk/src/options/snapshots.ts`). Next: `id.rs`.

use super::is_id;
use serde::{Deserialize, Serialize};

/// The facts about a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotInfo {
    /// The unique id: `snap-` and 26 random characters.
    pub id: String,
    /// The id of the runtime's previous snapshot, or of the snapshot that the runtime was restored
    /// from or rolled back to.
    pub parent: Option<String>,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// The content hash of the image that the programs started with.
    pub image: String,
    /// The name that the embedder chose.
    pub name: Option<String>,
    /// The embedder's labels.
    pub labels: Vec<(String, String)>,
    /// The tenant that owns the snapshot.
    pub tenant: String,
    /// The number of bytes beyond the image, including pages that other snapshots share.
    pub size: u64,
    /// The number of live programs.
    pub programs: u32,
}

/// The largest integer that JavaScript represents exactly.
const MAX_INTEGER: u64 = (1 << 53) - 1;
/// The last time that a JavaScript date represents.
const LAST_MS: u64 = 8_640_000_000_000_000;
/// The largest number of characters of a name and of a tenant.
const NAME: usize = 200;
/// The largest number of labels.
const LABELS: usize = 64;
/// The largest number of characters of a label's name and of its text.
const LABEL: usize = 1_000;
/// The largest number of bytes of the image's hash.
const IMAGE: usize = 128;

fn is_text(text: &str, most: usize) -> bool {
    !text.contains('\0') && text.chars().nth(most).is_none()
}

/// Returns whether the SDK allows the labels. A label `__proto__` is refused, because JavaScript
/// has no ordinary property of that name.
fn are_labels(labels: &[(String, String)]) -> bool {
    let is_name = |name: &str| !name.is_empty() && name != "__proto__" && is_text(name, LABEL);
    labels.len() <= LABELS && labels.iter().all(|(name, text)| is_name(name) && is_text(text, LABEL))
}

impl SnapshotInfo {
    /// Checks the facts. The error names the first wrong fact. An exported file has no tenant, so
    /// an empty tenant is valid.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let checks = [
            (is_id(&self.id), "its id is invalid"),
            (self.parent.as_deref().is_none_or(is_id), "its parent is invalid"),
            (self.created_ms <= LAST_MS, "an invalid time"),
            (self.size <= MAX_INTEGER, "an invalid size"),
            (self.image.len() <= IMAGE, "an invalid image"),
            (self.name.as_deref().is_none_or(|name| !name.is_empty() && is_text(name, NAME)), "an invalid name"),
            (is_text(&self.tenant, NAME), "an invalid tenant"),
            (are_labels(&self.labels), "invalid labels"),
        ];
        checks.into_iter().find(|(is_so, _)| !is_so).map_or(Ok(()), |(_, reason)| Err(reason))
    }
}
