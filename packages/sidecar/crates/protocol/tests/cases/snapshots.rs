//! The messages of the golden frames about snapshots. `mod.rs` has the macros.

use std::borrow::Cow;

use coldframe_ids::Pid;
use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, encode, reader};

use super::{Case, runner, runtime};

const ID: &str = "snap-4q7x2mzk5v3ahw6tbndj2ceysu";
const IMAGE: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn entry(name: Option<&'static str>, stored: Stored) -> SnapshotEntry<'static> {
    let (id, image) = (ID, IMAGE);
    let labels = Pairs(if name.is_some() { vec![("größe", "ß"), ("empty", "")] } else { vec![] });
    let parent = name.map(|_| "snap-aaaaaaaaaaaaaaaaaaaaaaaaaa");
    let (created_ms, size) = (1_700_000_000_123, 1 << 33);
    SnapshotEntry { id, parent, name, labels, tenant: "default", created_ms, image, size, programs: 2, stored }
}

fn programs() -> Vec<RestoredProgram> {
    vec![
        RestoredProgram { pid: Pid::new(2), runner: Some(runner(65_536)) },
        RestoredProgram { pid: Pid::new(70_000), runner: None },
    ]
}

fn bindings() -> Option<Vec<Binding<'static>>> {
    Some(vec![Binding { name: "weather", commands: vec!["weather", "wttr"], input_bytes: 1_048_576 }])
}

fn named(snapshot: &'static str) -> SnapshotNamed<'static> {
    SnapshotNamed { tenant: "mieter ä", snapshot }
}

fn take() -> SnapshotTake<'static> {
    SnapshotTake { runtime: runtime(1), name: None, labels: None, disk: None, memory: None, timeout_ms: None }
}

fn clone() -> RuntimeClone<'static> {
    let (timeout_ms, settle, warn, mounts, bindings, outside) = (None, None, None, None, None, None);
    RuntimeClone { runtime: runtime(1), count: 1, timeout_ms, settle, warn, mounts, bindings, outside }
}

pub fn add(all: &mut Vec<Case>) {
    sdk!(all, "snapshot-take", SnapshotTake, 20, SnapshotTake, take());
    sdk!(all, "snapshot-take-everything", SnapshotTake, 20, SnapshotTake, {
        let labels = Some(Pairs(vec![("a", "1"), ("KÜRZEL", "")]));
        SnapshotTake {
            runtime: runtime(1),
            name: Some("vor dem Umbau"),
            labels,
            disk: Some(true),
            memory: None,
            timeout_ms: Some(5_000),
        }
    });
    sdk!(all, "runtime-rollback", RuntimeRollback, 21, RuntimeRollback, RuntimeRollback { runtime: runtime(1), snapshot: ID });
    sdk!(all, "runtime-clone", RuntimeClone, 22, RuntimeClone, clone());
    sdk!(all, "runtime-clone-everything", RuntimeClone, 22, RuntimeClone, {
        let mount = Mount { guest_path: "/data", host_path: "/srv/größe", read_only: true, overlay: None, file_system: None };
        let (timeout_ms, settle, warn) = (Some(1), Some(true), Some(true));
        RuntimeClone {
            runtime: runtime(1),
            count: 65_536,
            timeout_ms,
            settle,
            warn,
            mounts: Some(vec![mount]),
            bindings: bindings(),
            outside: Some(super::outside::options()),
        }
    });
    sdk!(
        all,
        "runtime-pause",
        RuntimePause,
        23,
        RuntimePause,
        RuntimePause { runtime: runtime(1), timeout_ms: Some(300), temporary: Some(true), freeze: Some(true) }
    );
    sdk!(all, "runtime-resume", RuntimeResume, 24, RuntimeResume, {
        let outside = Some(super::outside::options());
        RuntimeResume { runtime: runtime(1), warn: Some(true), mounts: Some(vec![]), bindings: bindings(), outside }
    });
    sdk!(all, "snapshot-list", SnapshotList, 25, SnapshotList, SnapshotList { tenant: "default", after: None });
    sdk!(all, "snapshot-list-after", SnapshotList, 25, SnapshotList, {
        SnapshotList { tenant: "default", after: Some(SnapshotPosition { created_ms: 1_793_232_000_000, id: ID }) }
    });
    sdk!(all, "snapshot-get", SnapshotGet, 26, SnapshotNamed, named("vor dem Umbau"));
    sdk!(all, "snapshot-delete", SnapshotDelete, 27, SnapshotNamed, named(ID));
    sdk!(all, "snapshot-export", SnapshotExport, 28, SnapshotExport, {
        SnapshotExport { tenant: "default", snapshot: ID, path: "/srv/größe.snapshot" }
    });
    sdk!(all, "snapshot-import", SnapshotImport, 29, SnapshotImport, SnapshotImport { tenant: "default", path: "/a" });
    sdk!(
        all,
        "process-attach",
        ProcessAttach,
        30,
        ProcessAttach,
        ProcessAttach { runtime: runtime(1), pid: Pid::new(2), stream: None }
    );
    sdk!(all, "process-attach-stream", ProcessAttach, 30, ProcessAttach, {
        ProcessAttach { runtime: runtime(1), pid: Pid::new(70_000), stream: Some(Stream { stdout: Some(true), stderr: None }) }
    });
    sdk!(all, "snapshot-persist", SnapshotPersist, 31, SnapshotNamed, named(ID));
    sdk!(all, "snapshot-digest", SnapshotDigest, 32, SnapshotNamed, named(ID));
    sdk!(all, "runtime-create-snapshot", RuntimeCreate, 33, RuntimeCreate, {
        RuntimeCreate { bindings: bindings(), snapshot: Some(ID), tenant: Some("mieter ä"), ..RuntimeCreate::default() }
    });

    reply!(all, "reply-snapshot-take", SnapshotTake, 20, SnapshotEntry, entry(None, Stored::Memory));
    reply!(all, "reply-snapshot-get", SnapshotGet, 26, SnapshotEntry, entry(Some("vor dem Umbau"), Stored::Both));
    reply!(all, "reply-runtime-pause", RuntimePause, 23, RuntimePaused, {
        RuntimePaused { snapshot: Some(entry(None, Stored::Disk)) }
    });
    reply!(all, "reply-runtime-pause-frozen", RuntimePause, 23, RuntimePaused, RuntimePaused { snapshot: None });
    reply!(all, "reply-snapshot-import", SnapshotImport, 29, SnapshotEntry, entry(Some("ß"), Stored::Disk));
    reply!(all, "reply-snapshot-list", SnapshotList, 25, SnapshotEntries, {
        let damaged = vec![DamagedSnapshot { path: "/srv/größe", reason: "page 3 of memory 2 is not what it was" }];
        SnapshotEntries { snapshots: vec![entry(None, Stored::Memory), entry(Some("a"), Stored::Disk)], damaged, more: false }
    });
    reply!(all, "reply-snapshot-list-more", SnapshotList, 25, SnapshotEntries, {
        SnapshotEntries { snapshots: vec![entry(None, Stored::Memory)], damaged: vec![], more: true }
    });
    reply!(all, "reply-snapshot-digest", SnapshotDigest, 32, SnapshotDigest, SnapshotDigest { digest: IMAGE });
    reply!(all, "reply-runtime-rollback", RuntimeRollback, 21, RestoredPrograms, RestoredPrograms { programs: programs() });
    reply!(all, "reply-runtime-resume", RuntimeResume, 24, RestoredPrograms, RestoredPrograms::default());
    reply!(all, "reply-runtime-create-snapshot", RuntimeCreate, 33, RuntimeCreated, {
        let restored = Some(Restored {
            programs: programs(),
            cwd: "/workspace/größe",
            permissions: super::policy(),
            secrets: Some(vec![RestoredSecret { name: "KEY", hosts: vec!["api.example.com"] }]),
        });
        RuntimeCreated { runtime: runtime(2), configure_ns: 1_250_000, restored }
    });
    reply!(all, "reply-runtime-clone", RuntimeClone, 22, RuntimeCopies, {
        let details = [("resource", Fact::Text("runtimes".to_owned())), ("limit", Fact::Number(65_536))];
        let failure = super::failure("ERR_RESOURCE_EXHAUSTED", "no more runtimes: the limit is 65536", &details);
        let made = RuntimeCopy { runtime: Some(runtime(3)), programs: programs(), failure: None };
        RuntimeCopies { copies: vec![made, RuntimeCopy { failure: Some(failure), ..RuntimeCopy::default() }] }
    });
    sidecar!(all, "error-not-quiet", Error, 20, Failure, {
        let details = Details(vec![
            (Cow::Borrowed("pid"), Fact::Number(2)),
            (Cow::Borrowed("command"), Fact::Text("node größe.js".to_owned())),
        ]);
        Failure { code: Cow::Borrowed("ERR_NOT_QUIET"), message: Cow::Borrowed("process 2 did not come to rest"), details }
    });
}
