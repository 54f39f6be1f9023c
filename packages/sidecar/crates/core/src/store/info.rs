//! What is known of a snapshot without looking into it.

use serde::{Deserialize, Serialize};

/// What is known of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotInfo {
    /// Its name among all: `snap-` and 26 random characters.
    pub id: String,
    /// The snapshot that its runtime came from, or gave before.
    pub parent: Option<String>,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// The content hash of the image that its programs began as.
    pub image: String,
    /// What its caller calls it.
    pub name: Option<String>,
    /// The caller's own.
    pub labels: Vec<(String, String)>,
    /// Whose it is.
    pub tenant: String,
    /// Bytes that it holds beyond the image; some of them it may share with other snapshots.
    pub size: u64,
    /// How many programs live in it.
    pub programs: u32,
}
