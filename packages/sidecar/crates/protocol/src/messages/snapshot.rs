//! Messages about snapshots, the store, and the state of whole runtimes.
//!
//! The field `snapshot` of a request is an id, a name, or the beginning of a digest. A name means
//! the newest snapshot with that name. A tenant sees only its own snapshots.

use coldframe_ids::RuntimeId;
use serde::{Deserialize, Serialize};

use super::{Binding, Empty, Failure, Mount, OutsideOptions, RestoredProgram};
use crate::declare::requests;
use crate::maps::Pairs;

requests! {
    /// Requests about snapshots.
    pub enum SnapshotRequest<'a> {
        /// Takes a snapshot of a runtime.
        SnapshotTake(SnapshotTake<'a>) = 70 "snapshot.take" -> SnapshotEntry<'a>,
        /// Puts a snapshot's state in place of the present state of a runtime.
        RuntimeRollback(RuntimeRollback<'a>) = 71 "runtime.rollback" -> RestoredPrograms,
        /// Makes clones of a runtime. If one clone fails and `settle` is not true, the request
        /// fails and no clone is left.
        RuntimeClone(RuntimeClone<'a>) = 72 "runtime.clone" -> RuntimeCopies<'a>,
        /// Writes a runtime to disk and frees its memory, or freezes the runtime in memory.
        RuntimePause(RuntimePause) = 73 "runtime.pause" -> RuntimePaused<'a>,
        /// Restores a paused runtime under its id.
        RuntimeResume(RuntimeResume<'a>) = 74 "runtime.resume" -> RestoredPrograms,
        /// Lists the snapshots of a tenant.
        SnapshotList(SnapshotList<'a>) = 75 "snapshot.list" -> SnapshotEntries<'a>,
        /// Returns the entry of a snapshot.
        SnapshotGet(SnapshotNamed<'a>) = 76 "snapshot.get" -> SnapshotEntry<'a>,
        /// Deletes a snapshot.
        SnapshotDelete(SnapshotNamed<'a>) = 77 "snapshot.delete" -> Empty,
        /// Writes a snapshot to a file of the host machine.
        SnapshotExport(SnapshotExport<'a>) = 78 "snapshot.export" -> Empty,
        /// Reads a snapshot from a file of the host machine.
        SnapshotImport(SnapshotImport<'a>) = 79 "snapshot.import" -> SnapshotEntry<'a>,
        /// Writes a snapshot that is in memory to disk too.
        SnapshotPersist(SnapshotNamed<'a>) = 81 "snapshot.persist" -> Empty,
        /// Returns the hash of a snapshot's content.
        SnapshotDigest(SnapshotNamed<'a>) = 82 "snapshot.digest" -> SnapshotDigest<'a>,
    }
}

/// `snapshot.take`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SnapshotTake<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// Texts of the embedder, by name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Pairs<'a>>,
    /// Whether the snapshot is written to disk before the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<bool>,
    /// Whether the snapshot contains the programs. Default true. Without programs, the snapshot has
    /// only the files, and waits for no program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<bool>,
    /// The time in which the programs must quiesce. Default: 5 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// `runtime.rollback`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeRollback<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// A snapshot of the runtime's tenant.
    pub snapshot: &'a str,
}

/// The reply to `runtime.rollback` and `runtime.resume`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoredPrograms {
    /// Resident runners, and programs that a request can attach to.
    pub programs: Vec<RestoredProgram>,
}

/// `runtime.clone`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeClone<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The number of clones.
    pub count: u32,
    /// The time in which the programs must quiesce. Default: 5 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether the other clones are kept if one clone fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<bool>,
    /// Whether the sidecar sends `limit.warning` for the clones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn: Option<bool>,
    /// The mounts of the runtime, for the clones.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<Mount<'a>>>,
    /// Bindings that the clones have from the start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bindings: Option<Vec<Binding<'a>>>,
    /// The policy for connections out of the clones. Omitted: no connection leaves the clones.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideOptions<'a>>,
}

/// An entry of the reply to `runtime.clone`: a runtime, or the reason why the clone failed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeCopy<'a> {
    /// The new runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeId>,
    /// Resident runners, and programs that a request can attach to.
    #[serde(default)]
    pub programs: Vec<RestoredProgram>,
    /// The reason why the clone failed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure<'a>>,
}

/// The reply to `runtime.clone`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeCopies<'a> {
    /// As many entries as clones were requested.
    #[serde(borrow)]
    pub copies: Vec<RuntimeCopy<'a>>,
}

/// `runtime.pause`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimePause {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The time in which the programs must quiesce. Default: 5 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether the store may delete the snapshot once the sidecar has exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<bool>,
    /// Whether the runtime is frozen in memory if its programs do not quiesce in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<bool>,
}

/// The reply to `runtime.pause`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimePaused<'a> {
    /// The snapshot on disk. Omitted if the runtime is frozen in memory.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotEntry<'a>>,
}

/// `runtime.resume`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeResume<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// Whether the sidecar sends `limit.warning`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn: Option<bool>,
    /// The mounts of the runtime.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<Mount<'a>>>,
    /// Bindings that the runtime has before its programs run.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bindings: Option<Vec<Binding<'a>>>,
    /// The policy for connections out of the runtime. Omitted: no connection leaves the runtime.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideOptions<'a>>,
}

/// `snapshot.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotList<'a> {
    /// The owner.
    pub tenant: &'a str,
    /// The last entry of the previous reply. The list continues after this entry.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub after: Option<SnapshotPosition<'a>>,
}

/// The position of a snapshot in a list. The position stays valid if the snapshot is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SnapshotPosition<'a> {
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// The snapshot's id.
    pub id: &'a str,
}

/// A body that names one snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotNamed<'a> {
    /// The owner.
    pub tenant: &'a str,
    /// The snapshot.
    pub snapshot: &'a str,
}

/// `snapshot.export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotExport<'a> {
    /// The owner.
    pub tenant: &'a str,
    /// The snapshot.
    pub snapshot: &'a str,
    /// The file on the host machine.
    pub path: &'a str,
}

/// `snapshot.import`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotImport<'a> {
    /// The new owner.
    pub tenant: &'a str,
    /// The file on the host machine.
    pub path: &'a str,
}

/// The storage of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stored {
    /// In the sidecar's memory.
    Memory,
    /// In a file.
    Disk,
    /// In memory and in a file.
    Both,
}

/// The description of a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SnapshotEntry<'a> {
    /// The id.
    pub id: &'a str,
    /// The previous snapshot of the runtime, or the snapshot that the runtime was restored from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<&'a str>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// Texts of the embedder, by name.
    #[serde(borrow)]
    pub labels: Pairs<'a>,
    /// The owner.
    pub tenant: &'a str,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// The content hash of the guest image that the snapshot needs.
    pub image: &'a str,
    /// The number of bytes beyond the guest image, including pages that other snapshots share.
    pub size: u64,
    /// The number of programs in the snapshot.
    pub programs: u32,
    /// Where the snapshot is stored.
    pub stored: Stored,
}

/// The reply to `snapshot.list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotEntries<'a> {
    /// Snapshots of the tenant, oldest first.
    #[serde(borrow)]
    pub snapshots: Vec<SnapshotEntry<'a>>,
    /// Files in the store that are not valid snapshots. Only the first reply of a list has entries.
    #[serde(borrow)]
    pub damaged: Vec<DamagedSnapshot<'a>>,
    /// Whether more snapshots follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// A file in the store that is not a valid snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DamagedSnapshot<'a> {
    /// The file.
    pub path: &'a str,
    /// A sentence that describes the defect.
    pub reason: &'a str,
}

/// The reply to `snapshot.digest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotDigest<'a> {
    /// SHA-256 of the content, in hex.
    pub digest: &'a str,
}
