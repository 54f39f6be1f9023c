//! Taking a snapshot. It begins at once and is answered later, on whatever thread the last program comes to rest. Next: `held.rs`.

use super::{Heir, Held, Snapshot, SnapshotInfo, id};
use crate::error::Error;
use crate::kernel::{Kernel, Process};
use crate::program::{Gathered, SavedProgram, Wanted};
use crate::runtime::checks::invalid;
use crate::runtime::{Inner, Runtime};
use crate::sys;
use std::sync::Arc;
use std::time::Duration;

/// What a snapshot is taken with.
#[derive(Debug, Clone)]
pub struct SnapshotOptions {
    /// What its caller calls it; nothing that looks like an id.
    pub name: Option<String>,
    /// The caller's own.
    pub labels: Vec<(String, String)>,
    /// Whose it is.
    pub tenant: String,
    /// How long its programs may take to come to rest. Default: 5 seconds.
    pub timeout: Duration,
    /// They rest on afterwards, until the [`Held`] says otherwise.
    pub hold: bool,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        let (name, labels, tenant) = (None, Vec::new(), String::new());
        Self { name, labels, tenant, timeout: Duration::from_secs(5), hold: false }
    }
}

/// What every snapshot takes, whatever is in it: the values that it is made of, what the store keeps of it, and room for what an allocator adds.
const LEAST: u64 = 4 << 10;

/// Bytes of what lies above the kernel and the programs.
fn above_bytes(env: &[(String, String)], cwd: &str, options: &SnapshotOptions) -> u64 {
    let pairs = env.iter().chain(&options.labels);
    let pairs: usize = pairs.map(|(name, value)| size_of::<(String, String)>() + name.len() + value.len()).sum();
    let texts = cwd.len() + options.tenant.len() + options.name.as_ref().map_or(0, String::len);
    LEAST + (pairs + texts) as u64
}

/// What a snapshot came to.
type Taken = Result<(Arc<Snapshot>, Option<Held>), Error>;

impl Runtime {
    /// Takes a snapshot when all its programs have come to rest, between two of their turns. `done` is called once, when they go on again, on any
    /// thread: within this call when no program lives. `ERR_NOT_QUIET`, with its number and its command, when one does not come to rest in time.
    pub fn snapshot(&self, options: SnapshotOptions, done: impl FnOnce(Taken) + Send + 'static) {
        if let Some(name) = options.name.as_ref().filter(|name| id::is_id(name)) {
            return done(Err(invalid("name", "text that is no id of a snapshot".to_owned(), format!("{name:?}"))));
        }
        let home = self.inner.clone();
        let kernel = home.kernel();
        let (timeout, hold) = (options.timeout, options.hold);
        let take = {
            let (home, kernel) = (home.clone(), kernel.clone());
            move |gathered: Gathered| -> Box<dyn FnOnce() + Send> {
                let number = gathered.number;
                let taken = home.value(&kernel, gathered, options);
                Box::new(move || {
                    // Who is held goes on when no value came of it.
                    let held = hold.then(|| Held::new(home, kernel, number));
                    done(taken.map(|snapshot| (snapshot, held)));
                })
            }
        };
        let moment = kernel.clone();
        moment.moment.want(Wanted { home, kernel, timeout, hold, take: Box::new(take) });
    }
}

impl Inner {
    /// All of it as a value. Nobody touches the kernel meanwhile.
    fn value(&self, kernel: &Kernel, gathered: Gathered, options: SnapshotOptions) -> Result<Arc<Snapshot>, Error> {
        if self.programs.lock().disposed {
            return Err(Error::RuntimeDisposed);
        }
        let rested = gathered.programs?;
        let id = id::fresh()?;
        let mut ancestor = self.ancestor.lock();
        let mut size = above_bytes(&self.env, &self.cwd, &options);
        for (_, vm) in &rested {
            size += vm.saved.own_bytes(&*self.core.factory_of(vm.is_shell)?);
        }
        let processes: Vec<&Process> = rested.iter().map(|(program, _)| &program.process).collect();
        let saved = kernel.save(&processes);
        size += saved.own_bytes();
        let programs: Vec<SavedProgram> = rested.into_iter().map(|(program, vm)| program.save(vm, options.hold)).collect();
        size += programs.iter().map(SavedProgram::own_bytes).sum::<u64>();
        let info = SnapshotInfo {
            parent: ancestor.clone(),
            id,
            created_ms: sys::wall_ns() / 1_000_000,
            image: self.core.image_id().to_owned(),
            name: options.name,
            labels: options.labels,
            tenant: options.tenant,
            size,
            programs: u32::try_from(programs.len()).unwrap_or(u32::MAX),
        };
        info.check().map_err(|reason| Error::InvalidRequest {
            what: "snapshot".to_owned(),
            expected: "a name, labels and a tenant that can be told again".to_owned(),
            received: reason.to_owned(),
        })?;
        log::debug!(target: "snapshot", "{} taken of {}: {} programs, {} bytes", info.id, self.ordinal, info.programs, size);
        *ancestor = Some(info.id.clone());
        let (env, cwd, limits) = (self.env.clone(), self.cwd.clone(), self.limits);
        Ok(Arc::new(Snapshot { info, env, cwd, limits, kernel: saved, programs, heirs: Heir::default() }))
    }
}
