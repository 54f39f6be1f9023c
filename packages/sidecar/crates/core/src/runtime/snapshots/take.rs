//! Takes a snapshot of a runtime. The call does not wait for the programs. The thread that
//! completes the request calls `done` with the result, usually the thread of the last program that
//! rests. Next: `held.rs`.

use super::Held;
use crate::checks::invalid;
use crate::containment::contained_in;
use crate::program::{ProgramSnapshot, QuiesceRequest, Quiesced};
use crate::runtime::{Inner, Runtime};
use crate::snapshot::{Snapshot, SnapshotInfo, SnapshotUse, fresh_id, is_id};
use coldframe_error::Error;
use coldframe_kernel::snapshot::KernelSnapshot;
use coldframe_kernel::{Kernel, Process};
use coldframe_sys as sys;
use std::sync::Arc;
use std::time::Duration;

/// The options of a snapshot.
#[derive(Debug, Clone)]
pub struct SnapshotOptions {
    /// The embedder's name for the snapshot. The name must not have the form of an id.
    pub name: Option<String>,
    /// The embedder's labels.
    pub labels: Vec<(String, String)>,
    /// The tenant that owns the snapshot.
    pub tenant: String,
    /// The time within which all programs must rest. Default: 5 seconds.
    pub timeout: Duration,
    /// Whether the programs stay at rest after the snapshot was taken, until the [`Held`] is
    /// dropped or used.
    pub hold: bool,
    /// Whether the snapshot contains the programs. A snapshot without programs has only the files,
    /// and waits for no program.
    pub memory: bool,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        let (name, labels, tenant) = (None, Vec::new(), String::new());
        Self { name, labels, tenant, timeout: Duration::from_secs(5), hold: false, memory: true }
    }
}

/// The fixed size of a snapshot in bytes: its structs, the store's entry, and the allocator's
/// overhead.
const BASE_BYTES: u64 = 4 << 10;

/// Returns the number of bytes of the state above the kernel and the programs.
fn runtime_bytes(env: &[(String, String)], cwd: &str, options: &SnapshotOptions) -> u64 {
    let pairs = env.iter().chain(&options.labels);
    let pairs: usize = pairs.map(|(name, value)| size_of::<(String, String)>() + name.len() + value.len()).sum();
    let texts = cwd.len() + options.tenant.len() + options.name.as_ref().map_or(0, String::len);
    BASE_BYTES + (pairs + texts) as u64
}

/// The result of a snapshot.
type Taken = Result<(Arc<Snapshot>, Option<Held>), Error>;

impl Runtime {
    /// Takes a snapshot when all programs rest between two turns.
    ///
    /// `done` is called once, on any thread, after the snapshot was taken or has failed. If no
    /// program lives, `done` is called within this call. If a program does not rest within the
    /// timeout, the result is `ERR_NOT_QUIET` with the program's pid and command.
    pub fn snapshot(&self, options: SnapshotOptions, done: impl FnOnce(Taken) + Send + 'static) {
        if let Some(name) = options.name.as_ref().filter(|name| is_id(name)) {
            return done(Err(invalid("name", "text that is no id of a snapshot".to_owned(), format!("{name:?}"))));
        }
        let home = self.inner.clone();
        let generation = home.generation();
        if !options.memory {
            let taken = home.complete_snapshot(generation.kernel.files_snapshot(), Vec::new(), 0, options);
            return done(taken.map(|snapshot| (snapshot, None)));
        }
        let (timeout, hold) = (options.timeout, options.hold);
        let take = {
            let (home, generation) = (home.clone(), generation.clone());
            move |quiesced: Quiesced| -> Box<dyn FnOnce() + Send> {
                let number = quiesced.number;
                let take = || home.take_snapshot(&generation.kernel, quiesced, options);
                // The caller has the lock of the rounds, so a broken runtime ends below.
                let taken = contained_in(&home.health, || {}, take);
                Box::new(move || {
                    home.end_broken();
                    // If the snapshot failed, dropping the `Held` resumes the held programs.
                    let held = hold.then(|| Held::new(home, generation, number));
                    done(taken.map(|snapshot| (snapshot, held)));
                })
            }
        };
        generation.quiesce.request(QuiesceRequest { home, timeout, hold, take: Box::new(take) });
    }
}

impl Inner {
    /// Takes the snapshot. No other thread changes the kernel during the call.
    fn take_snapshot(&self, kernel: &Kernel, quiesced: Quiesced, options: SnapshotOptions) -> Result<Arc<Snapshot>, Error> {
        if self.programs.lock().disposed {
            return Err(Error::RuntimeDisposed);
        }
        let rested = quiesced.programs?;
        let mut size = 0;
        for (_, vm) in &rested {
            size += vm.snapshot.own_bytes(&*self.registry.installation().factory(vm.image)?);
        }
        let processes: Vec<&Process> = rested.iter().map(|(program, _)| &program.process).collect();
        let saved = kernel.snapshot(&processes);
        let programs: Vec<ProgramSnapshot> = rested.into_iter().map(|(program, vm)| program.snapshot(vm, options.hold)).collect();
        self.complete_snapshot(saved, programs, size, options)
    }

    /// Completes a snapshot. `size` is the number of bytes of the programs' memories.
    fn complete_snapshot(
        &self,
        saved: KernelSnapshot,
        programs: Vec<ProgramSnapshot>,
        mut size: u64,
        options: SnapshotOptions,
    ) -> Result<Arc<Snapshot>, Error> {
        if self.programs.lock().disposed {
            return Err(Error::RuntimeDisposed);
        }
        let id = fresh_id()?;
        let mut latest = self.latest.lock();
        size += runtime_bytes(&self.env, &self.cwd, &options) + saved.own_bytes();
        size += programs.iter().map(ProgramSnapshot::own_bytes).sum::<u64>();
        let info = SnapshotInfo {
            parent: latest.id.clone(),
            id,
            created_ms: sys::wall_ns() / 1_000_000,
            image: self.registry.installation().image_id().to_owned(),
            name: options.name,
            labels: options.labels,
            tenant: options.tenant,
            size,
            programs: u32::try_from(programs.len()).unwrap_or(u32::MAX),
        };
        info.check().map_err(|reason| Error::InvalidRequest {
            what: "snapshot".to_owned(),
            expected: "a valid name, valid labels and a valid tenant".to_owned(),
            received: reason.to_owned(),
        })?;
        log::debug!(target: "snapshot", "{} taken of {}: {} programs, {} bytes", info.id, self.ordinal, info.programs, size);
        latest.id = Some(info.id.clone());
        let (env, cwd, limits) = (self.env.clone(), self.cwd.clone(), self.limits);
        let secrets = self.outside.secrets();
        Ok(Arc::new(Snapshot { info, env, cwd, secrets, limits, kernel: saved, programs, users: SnapshotUse::default() }))
    }
}
