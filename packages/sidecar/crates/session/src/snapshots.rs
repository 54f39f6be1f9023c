//! Requests about snapshots and the store. Threads of the store do the work that waits for a disk.
//! Session tasks return the results. Next: `copies.rs`, which restores runtimes from snapshots.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use coldframe_core as core;
use coldframe_core::{Error, Retention, Snapshot, SnapshotInfo, SnapshotOptions, Store, contained};
use coldframe_ids::RequestId;
use coldframe_protocol::messages::{
    DamagedSnapshot, Pairs, RuntimePaused, SnapshotDigest, SnapshotEntries, SnapshotEntry, SnapshotList, SnapshotNamed,
    SnapshotRequest, SnapshotTake, Stored,
};

use crate::convert;
use crate::message::Message;
use crate::replies::Reply;
use crate::session::{Handled, Session, Violation};
use crate::table::ErrorContext;

/// The tenant of runtimes that are created without a tenant's name.
pub(crate) const DEFAULT_TENANT: &str = "default";

/// The default time within which programs must rest for a snapshot.
const QUIESCE_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest list in one reply: a quarter of a frame.
const MAX_LIST_BYTES: usize = 8 << 20;
/// The largest entry in a list, without the texts of its labels.
const MAX_ENTRY_BYTES: usize = 4_096;

impl Session {
    /// Handles a request about a snapshot.
    pub(crate) fn snapshot(&mut self, id: RequestId, request: SnapshotRequest<'_>, may_run_here: bool) -> Handled {
        let reply = Reply(id);
        match request {
            SnapshotRequest::SnapshotTake(take) => return self.take_snapshot(id, take, may_run_here),
            SnapshotRequest::RuntimeRollback(rollback) => self.roll_back(id, &rollback)?,
            SnapshotRequest::RuntimeClone(clone) => return self.clone_runtime(id, clone, may_run_here),
            SnapshotRequest::RuntimePause(pause) => self.pause(id, &pause)?,
            SnapshotRequest::RuntimeResume(resume) => self.resume(id, resume)?,
            SnapshotRequest::SnapshotList(list) => self.list_snapshots(id, &list)?,
            SnapshotRequest::SnapshotGet(named) => self.on_named(id, &named, move |store, tenant, name| {
                store.find(tenant, name).map(|(info, stored)| entry(reply, &info, stored))
            })?,
            SnapshotRequest::SnapshotDelete(named) => {
                self.on_named(id, &named, move |store, tenant, name| store.delete(tenant, name).map(|()| reply.done()))?;
            }
            SnapshotRequest::SnapshotPersist(named) => {
                self.on_named(id, &named, move |store, tenant, name| store.persist(tenant, name).map(|()| reply.done()))?;
            }
            SnapshotRequest::SnapshotDigest(named) => self.on_named(id, &named, move |store, tenant, name| {
                let digest = store.digest(tenant, name)?;
                Ok(reply.body(&SnapshotDigest { digest: &digest }, 96))
            })?,
            SnapshotRequest::SnapshotExport(export) => {
                let (tenant, name) = (export.tenant.to_owned(), export.snapshot.to_owned());
                let path = export.path.to_owned();
                self.on_store(id, move |store| store.export(&tenant, &name, Path::new(&path)).map(|()| reply.done()))?;
            }
            SnapshotRequest::SnapshotImport(import) => {
                let (tenant, path) = (import.tenant.to_owned(), import.path.to_owned());
                self.on_store(id, move |store| {
                    store.import(&tenant, Path::new(&path)).map(|(info, stored)| entry(reply, &info, stored))
                })?;
            }
        }
        Ok(None)
    }

    /// Answers a request with the result of work on a thread of the store.
    pub(crate) fn on_store(
        &self,
        id: RequestId,
        work: impl FnOnce(&Store) -> Result<Message, Error> + Send + 'static,
    ) -> Result<(), Violation> {
        if self.begin(id, None)? {
            let replies = self.replies.clone();
            self.store.in_background(move |store| replies.settle(id, contained(|| work(store))));
        }
        Ok(())
    }

    /// Answers a request that names a snapshot, like [`Session::on_store`].
    fn on_named(
        &self,
        id: RequestId,
        named: &SnapshotNamed<'_>,
        work: impl FnOnce(&Store, &str, &str) -> Result<Message, Error> + Send + 'static,
    ) -> Result<(), Violation> {
        let (tenant, name) = (named.tenant.to_owned(), named.snapshot.to_owned());
        self.on_store(id, move |store| work(store, &tenant, &name))
    }

    /// Calls `then`, which answers the request, with a snapshot on the session's thread. The call
    /// happens at once if the snapshot is in memory, otherwise when the store has read the
    /// snapshot.
    pub(crate) fn with_snapshot(
        &mut self,
        id: RequestId,
        (tenant, name): (&str, &str),
        then: impl FnOnce(&mut Self, Arc<Snapshot>) + Send + 'static,
    ) -> Result<(), Violation> {
        if !self.begin(id, None)? {
            return Ok(());
        }
        if let Some(snapshot) = self.store.held(tenant, name) {
            then(self, snapshot);
            return Ok(());
        }
        let (tenant, name, tasks, replies) = (tenant.to_owned(), name.to_owned(), self.tasks.clone(), self.replies.clone());
        self.store.in_background(move |store| match contained(|| store.get(&tenant, &name)) {
            Ok(snapshot) => tasks.add(move |session| then(session, snapshot)),
            Err(error) => replies.settle(id, Err(error)),
        });
        Ok(())
    }

    fn take_snapshot(&mut self, id: RequestId, take: SnapshotTake<'_>, may_run_here: bool) -> Handled {
        let Some(live) = self.open_runtime(take.runtime) else {
            self.refuse(id, &self.not_quiet(take.runtime));
            return Ok(None);
        };
        let options = SnapshotOptions {
            name: take.name.map(str::to_owned),
            labels: convert::pairs(take.labels),
            tenant: live.tenant().to_owned(),
            timeout: quiesce_timeout(take.timeout_ms),
            hold: false,
            memory: take.memory.unwrap_or(true),
        };
        let runtime = live.runtime.clone();
        if !self.begin(id, None)? {
            return Ok(None);
        }
        let (replies, store, on_disk) = (self.replies.clone(), self.store.clone(), take.disk.unwrap_or(false));
        let (reply, context) = (Reply(id), ErrorContext::runtime(take.runtime));
        let done = move |taken: Result<(Arc<Snapshot>, _), Error>| match taken {
            Ok((snapshot, _)) if on_disk => store.in_background(move |store| {
                let kept = contained(|| keep_on_disk(store, &snapshot));
                replies.settle(id, kept.map(|()| entry(reply, snapshot.info(), core::Stored::Both)));
            }),
            Ok((snapshot, _)) => {
                let kept = contained(|| store.keep(&snapshot));
                replies.settle(id, kept.map(|()| entry(reply, snapshot.info(), core::Stored::Memory)));
            }
            Err(error) => replies.fail(id, &error, context),
        };
        Ok(self.call(live, &live.calls, may_run_here, Box::new(move || runtime.snapshot(options, done))))
    }

    /// Lists the snapshots of a tenant, oldest first, up to [`MAX_LIST_BYTES`].
    fn list_snapshots(&self, id: RequestId, list: &SnapshotList<'_>) -> Result<(), Violation> {
        let tenant = list.tenant.to_owned();
        let after = list.after.map(|position| (position.created_ms, position.id.to_owned()));
        self.on_store(id, move |store| entries(Reply(id), store, &tenant, after))
    }
}

/// Keeps a snapshot in memory and writes the snapshot to disk. If the write fails, the snapshot is
/// also removed from memory.
fn keep_on_disk(store: &Store, snapshot: &Arc<Snapshot>) -> Result<(), Error> {
    store.keep(snapshot)?;
    store.write(snapshot, Retention::No).inspect_err(|_| {
        // The caller needs the error of the write, not of the deletion.
        let _ = store.delete(&snapshot.info().tenant, &snapshot.info().id);
    })
}

/// Returns the time within which programs must rest for a snapshot.
pub(crate) fn quiesce_timeout(given: Option<u64>) -> Duration {
    given.map_or(QUIESCE_TIMEOUT, Duration::from_millis)
}

/// Encodes a reply that is a snapshot's entry.
pub(crate) fn entry(reply: Reply, info: &SnapshotInfo, stored: core::Stored) -> Message {
    reply.body(&snapshot_entry(info, stored), 512)
}

/// Encodes the reply of a pause. Without a snapshot, the runtime is frozen.
pub(crate) fn pause_reply(reply: Reply, snapshot: Option<(&SnapshotInfo, core::Stored)>) -> Message {
    let snapshot = snapshot.map(|(info, stored)| snapshot_entry(info, stored));
    reply.body(&RuntimePaused { snapshot }, 512)
}

fn entries(reply: Reply, store: &Store, tenant: &str, after: Option<(u64, String)>) -> Result<Message, Error> {
    let (mut snapshots, mut damaged) = store.list(tenant);
    if let Some(after) = after {
        snapshots.retain(|(info, _)| (info.created_ms, &info.id) > (after.0, &after.1));
        damaged.clear();
    }
    let all = snapshots.len();
    let mut bytes = 0;
    let fitting = snapshots.iter().take_while(|(info, _)| {
        bytes += MAX_ENTRY_BYTES + info.labels.iter().map(|(name, text)| name.len() + text.len()).sum::<usize>();
        bytes <= MAX_LIST_BYTES
    });
    snapshots.truncate(fitting.count().max(1));
    let damaged: Vec<_> = damaged.into_iter().map(|one| (one.path.display().to_string(), one.reason)).collect();
    let body = SnapshotEntries {
        snapshots: snapshots.iter().map(|(info, stored)| snapshot_entry(info, *stored)).collect(),
        damaged: damaged.iter().map(|(path, reason)| DamagedSnapshot { path, reason }).collect(),
        more: snapshots.len() < all,
    };
    Ok(reply.body(&body, 64 + 512 * snapshots.len()))
}

fn snapshot_entry(info: &SnapshotInfo, stored: core::Stored) -> SnapshotEntry<'_> {
    SnapshotEntry {
        id: &info.id,
        parent: info.parent.as_deref(),
        name: info.name.as_deref(),
        labels: Pairs(info.labels.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()),
        tenant: &info.tenant,
        created_ms: info.created_ms,
        image: &info.image,
        size: info.size,
        programs: info.programs,
        stored: match stored {
            core::Stored::Memory => Stored::Memory,
            core::Stored::Disk => Stored::Disk,
            core::Stored::Both => Stored::Both,
        },
    }
}
