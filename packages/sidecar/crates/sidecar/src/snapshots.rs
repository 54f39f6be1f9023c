//! Requests about snapshots: taking them, and the store that keeps them. What takes a while is done elsewhere and comes back to the reading thread as a
//! note ([`crate::notes`]). Next: `copies.rs`, what is made of a snapshot.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use coldframe_core as core;
use coldframe_core::{Retention, Snapshot, SnapshotInfo, SnapshotOptions, Store};
use coldframe_protocol::Request;
use coldframe_protocol::messages::{
    DamagedSnapshot, Empty, Kind, Pairs, SnapshotDigest, SnapshotEntries, SnapshotEntry, SnapshotTake, Stored,
};

use crate::session::{Session, Violation};
use crate::sinks::Answers;
use crate::table::Place;
use crate::wire;

/// Whose a runtime is that is given no tenant.
pub const DEFAULT_TENANT: &str = "default";

/// How long programs may take to come to rest.
const QUIET: Duration = Duration::from_secs(5);

/// Bytes of the snapshots in one reply: a quarter of a frame.
const LIST: usize = 8 << 20;
/// Bytes of a snapshot in a reply, at most, without its labels' texts.
const ENTRY: usize = 4_096;

/// A request's place that no error names.
const NOWHERE: Place = Place { runtime: 0, runner: 0 };

type Answer = Result<Vec<u8>, core::Error>;

impl Session {
    /// Requests that are about snapshots.
    pub(crate) fn about_snapshots(&mut self, id: u32, request: Request<'_>) -> Result<(), Violation> {
        match request {
            Request::SnapshotTake(take) => self.take_snapshot(id, take)?,
            Request::RuntimeRollback(rollback) => self.roll_back(id, &rollback)?,
            Request::RuntimeClone(clone) => self.clone_runtime(id, clone)?,
            Request::RuntimePause(pause) => self.pause(id, &pause)?,
            Request::RuntimeResume(resume) => self.resume(id, resume)?,
            Request::ProcessAttach(attach) => self.attach(id, &attach)?,
            Request::SnapshotList(list) => {
                let tenant = list.tenant.to_owned();
                let after = list.after.map(|place| (place.created_ms, place.id.to_owned()));
                self.of_store(id, move |store| entries(id, store, &tenant, after))?;
            }
            Request::SnapshotGet(named) => {
                let (tenant, name) = (named.tenant.to_owned(), named.snapshot.to_owned());
                self.of_store(id, move |store| store.find(&tenant, &name).map(|(info, stored)| entry(id, &info, stored)))?;
            }
            Request::SnapshotDelete(named) => {
                let (tenant, name) = (named.tenant.to_owned(), named.snapshot.to_owned());
                self.of_store(id, move |store| store.delete(&tenant, &name).map(|()| done(id)))?;
            }
            Request::SnapshotPersist(named) => {
                let (tenant, name) = (named.tenant.to_owned(), named.snapshot.to_owned());
                self.of_store(id, move |store| store.persist(&tenant, &name).map(|()| done(id)))?;
            }
            Request::SnapshotDigest(named) => {
                let (tenant, name) = (named.tenant.to_owned(), named.snapshot.to_owned());
                self.of_store(id, move |store| {
                    let digest = store.digest(&tenant, &name)?;
                    Ok(wire::frame(Kind::Reply, id, &SnapshotDigest { digest: &digest }, 96))
                })?;
            }
            Request::SnapshotExport(export) => {
                let (tenant, name) = (export.tenant.to_owned(), export.snapshot.to_owned());
                let path = export.path.to_owned();
                self.of_store(id, move |store| store.export(&tenant, &name, Path::new(&path)).map(|()| done(id)))?;
            }
            Request::SnapshotImport(import) => {
                let (tenant, path) = (import.tenant.to_owned(), import.path.to_owned());
                self.of_store(id, move |store| {
                    store.import(&tenant, Path::new(&path)).map(|(info, stored)| entry(id, &info, stored))
                })?;
            }
            request => self.inside(id, &request),
        }
        Ok(())
    }

    /// A request that the store answers, on a thread of its own.
    pub(crate) fn of_store(&self, id: u32, work: impl FnOnce(&Store) -> Answer + Send + 'static) -> Result<(), Violation> {
        if self.begin(id, 0)? {
            let answers = self.answers.clone();
            self.store.in_background(move |store| answer(&answers, id, work(store)));
        }
        Ok(())
    }

    /// A request that needs a snapshot: at once when it lies in memory, else when it has been read.
    pub(crate) fn with_snapshot(
        &mut self,
        id: u32,
        (tenant, name): (&str, &str),
        then: impl FnOnce(&mut Self, &Arc<Snapshot>) -> Answer + Send + 'static,
    ) -> Result<(), Violation> {
        if !self.begin(id, 0)? {
            return Ok(());
        }
        let answers = self.answers.clone();
        if let Some(snapshot) = self.store.held(tenant, name) {
            answer(&answers, id, then(self, &snapshot));
            return Ok(());
        }
        let (tenant, name, notes) = (tenant.to_owned(), name.to_owned(), self.notes.clone());
        self.store.in_background(move |store| match store.get(&tenant, &name) {
            Ok(snapshot) => notes.leave(move |session| answer(&answers, id, then(session, &snapshot))),
            Err(error) => answers.fail(id, &error, NOWHERE),
        });
        Ok(())
    }

    fn take_snapshot(&mut self, id: u32, take: SnapshotTake<'_>) -> Result<(), Violation> {
        let Some(live) = self.runtimes.get(take.runtime) else {
            self.refuse(id, &self.no_runtime(take.runtime));
            return Ok(());
        };
        let options = SnapshotOptions {
            name: take.name.map(str::to_owned),
            labels: wire::pairs(take.labels),
            tenant: live.tenant().to_owned(),
            timeout: timeout(take.timeout_ms),
            hold: false,
        };
        let runtime = live.runtime.clone();
        if !self.begin(id, 0)? {
            return Ok(());
        }
        let (answers, store, on_disk) = (self.answers.clone(), self.store.clone(), take.disk.unwrap_or(false));
        let place = Place { runtime: take.runtime, runner: 0 };
        runtime.snapshot(options, move |taken| match taken {
            Ok((snapshot, _)) if on_disk => store.in_background(move |store| {
                let kept = store.keep(&snapshot).and_then(|()| {
                    store.write(&snapshot, Retention::No).inspect_err(|_| {
                        let _ = store.delete(&snapshot.info().tenant, &snapshot.info().id);
                    })
                });
                answer(&answers, id, kept.map(|()| entry(id, snapshot.info(), core::Stored::Both)));
            }),
            Ok((snapshot, _)) => {
                answer(&answers, id, store.keep(&snapshot).map(|()| entry(id, snapshot.info(), core::Stored::Memory)));
            }
            Err(error) => answers.fail(id, &error, place),
        });
        Ok(())
    }
}

/// What was asked for, or what is usual.
pub fn timeout(given: Option<u64>) -> Duration {
    given.map_or(QUIET, Duration::from_millis)
}

/// Answers a request that has begun.
pub fn answer(answers: &Answers, id: u32, answer: Answer) {
    match answer {
        Ok(frame) => answers.answer(id, || frame),
        Err(error) => answers.fail(id, &error, NOWHERE),
    }
}

fn done(id: u32) -> Vec<u8> {
    wire::frame(Kind::Reply, id, &Empty {}, 32)
}

/// A reply that is a snapshot.
pub fn entry(id: u32, info: &SnapshotInfo, stored: core::Stored) -> Vec<u8> {
    wire::frame(Kind::Reply, id, &told(info, stored), 512)
}

/// As many of a tenant's as one frame holds with room to spare, from the oldest on, or from behind a place.
fn entries(id: u32, store: &Store, tenant: &str, after: Option<(u64, String)>) -> Answer {
    let (mut snapshots, mut damaged) = store.list(tenant);
    if let Some(after) = after {
        snapshots.retain(|(info, _)| (info.created_ms, &info.id) > (after.0, &after.1));
        damaged.clear();
    }
    let all = snapshots.len();
    let mut bytes = 0;
    let fitting = snapshots.iter().take_while(|(info, _)| {
        bytes += ENTRY + info.labels.iter().map(|(name, text)| name.len() + text.len()).sum::<usize>();
        bytes <= LIST
    });
    snapshots.truncate(fitting.count().max(1));
    let damaged: Vec<_> = damaged.into_iter().map(|one| (one.path.display().to_string(), one.reason)).collect();
    let body = SnapshotEntries {
        snapshots: snapshots.iter().map(|(info, stored)| told(info, *stored)).collect(),
        damaged: damaged.iter().map(|(path, reason)| DamagedSnapshot { path, reason }).collect(),
        more: snapshots.len() < all,
    };
    Ok(wire::frame(Kind::Reply, id, &body, 64 + 512 * snapshots.len()))
}

fn told(info: &SnapshotInfo, stored: core::Stored) -> SnapshotEntry<'_> {
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
