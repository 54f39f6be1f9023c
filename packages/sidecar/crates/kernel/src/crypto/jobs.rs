//! A program's long computations, called jobs. The guest passes a request piece by piece, a thread
//! computes the result, and the guest reads the result.
//!
//! `job_begin` makes a job, and `job_add` appends bytes to its request. `job_start` starts the job
//! as an operation. `job_wait` runs the job while the VM is blocked, and `job_read` then copies the
//! result. The bytes of requests and results count for `limits.kernelBytes`. Next: `job.rs`.

use super::{MAX_COPY, job, pool, refused};
use crate::Answer;
use crate::caller::{Blocked, Caller};
use crate::ids::{JobId, MAX_ID, OperationId};
use crate::usage::{Charge, Footprint, Resource, Usage, fitted, reserve_charged};
use coldframe_crypto::{Command, Fault};
use coldframe_error::Errno;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

/// The maximum number of live jobs of a program.
const MAX_JOBS: usize = 16_384;
/// The kernel memory of a job in bytes, besides its request and result.
const JOB_COST: u64 = 256;
/// The maximum number of jobs of a program that run at a time.
const MAX_RUNNING: usize = 2;

/// The jobs of one program.
pub(crate) struct Jobs(Mutex<State>);

struct State {
    last: Option<JobId>,
    live: HashMap<JobId, Job>,
    /// The charge for all jobs with their requests and results.
    charge: Charge,
    queue: VecDeque<JobId>,
    running: usize,
}

struct Job {
    command: Command,
    /// The request. After the computation, the result.
    bytes: Vec<u8>,
    phase: Phase,
    canceled: Arc<AtomicBool>,
}

enum Phase {
    Filling,
    /// Queued or running, with the waiter for the result. Also a finished job whose result the
    /// blocked VM has not received.
    Started(JobWaiter),
    Done,
}

enum JobWaiter {
    Operation(OperationId),
    Waiting(Option<Waker>),
    Finished(Result<i64, Fault>),
}

impl State {
    fn job(&mut self, id: JobId) -> Result<&mut Job, Errno> {
        self.live.get_mut(&id).ok_or(Errno::EBADF)
    }

    fn remove(&mut self, id: JobId) -> Option<Job> {
        let job = self.live.remove(&id)?;
        self.charge.shrink(JOB_COST + job.bytes.footprint());
        Some(job)
    }
}

/// A snapshot of the jobs that are not queued and do not run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct JobsSnapshot {
    last: Option<JobId>,
    /// The jobs, in ascending order of their ids.
    idle: Vec<(JobId, JobSnapshot)>,
}

/// A snapshot of one job.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct JobSnapshot {
    #[serde(with = "command_number")]
    command: Command,
    /// The bytes of the request so far, or the result.
    bytes: Vec<u8>,
    is_done: bool,
}

/// Serializes a command as its number.
mod command_number {
    use super::Command;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(command: &Command, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*command as u8)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Command, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Command::of(number.into()).ok_or_else(|| D::Error::custom("an unknown command"))
    }
}

impl JobsSnapshot {
    /// Returns whether a program could have produced the snapshot.
    pub(super) fn is_valid(&self) -> bool {
        let in_order = self.idle.is_sorted_by(|(one, _), (other, _)| one < other);
        in_order && self.last.is_none_or(|last| last.get() <= MAX_ID) && self.idle.len() <= MAX_JOBS
    }

    /// Returns the kernel memory of the jobs in bytes.
    pub(super) fn own_bytes(&self) -> u64 {
        self.idle.iter().map(|(_, job)| JOB_COST + job.bytes.footprint()).sum()
    }
}

impl Jobs {
    pub(super) fn snapshot(&self) -> JobsSnapshot {
        let state = self.0.lock();
        let idle = state.live.iter().filter_map(|(id, job)| {
            let is_done = match job.phase {
                Phase::Filling => false,
                Phase::Done => true,
                Phase::Started(_) => return None,
            };
            Some((*id, JobSnapshot { command: job.command, bytes: job.bytes.clone(), is_done }))
        });
        let mut idle: Vec<_> = idle.collect();
        idle.sort_unstable_by_key(|(id, _)| *id);
        JobsSnapshot { last: state.last, idle }
    }

    /// Restores jobs from a snapshot. Returns `None` if the jobs exceed the limit of kernel memory.
    pub(super) fn restore(saved: &JobsSnapshot, usage: &Arc<Usage>) -> Option<Self> {
        let made = Self::new(usage);
        {
            let mut state = made.0.lock();
            state.last = saved.last;
            if !state.charge.grow(saved.own_bytes()) {
                return None;
            }
            for (id, JobSnapshot { command, bytes, is_done }) in &saved.idle {
                let phase = if *is_done { Phase::Done } else { Phase::Filling };
                let job = Job { command: *command, bytes: bytes.clone(), phase, canceled: Arc::default() };
                state.live.insert(*id, job);
            }
        }
        Some(made)
    }

    pub(super) fn new(usage: &Arc<Usage>) -> Self {
        let charge = Charge::none(usage, Resource::Kernel);
        Self(Mutex::new(State { last: None, live: HashMap::new(), charge, queue: VecDeque::new(), running: 0 }))
    }

    pub(super) fn begin(&self, command: Command, bytes: &[u8]) -> Result<JobId, Errno> {
        let mut state = self.0.lock();
        if state.live.len() >= MAX_JOBS {
            return Err(Errno::ENOBUFS);
        }
        if !state.charge.grow(JOB_COST) {
            return Err(Errno::ENOMEM);
        }
        loop {
            let id = JobId::following(state.last, MAX_ID);
            state.last = Some(id);
            if state.live.contains_key(&id) {
                continue;
            }
            let job = Job { command, bytes: Vec::new(), phase: Phase::Filling, canceled: Arc::default() };
            state.live.insert(id, job);
            drop(state);
            return self.add(id, bytes).map(|()| id).inspect_err(|_| {
                let _ = self.forget(id);
            });
        }
    }

    pub(super) fn add(&self, id: JobId, bytes: &[u8]) -> Result<(), Errno> {
        let mut state = self.0.lock();
        let State { live, charge, .. } = &mut *state;
        let job = live.get_mut(&id).ok_or(Errno::EBADF)?;
        if !matches!(job.phase, Phase::Filling) {
            return Err(Errno::EBUSY);
        }
        if !reserve_charged(&mut job.bytes, bytes.len(), usize::MAX, charge) {
            return Err(Errno::ENOMEM);
        }
        job.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Copies the part of the result at `offset` to `out`, at most [`MAX_COPY`] bytes. Returns the
    /// length of the part. Fails with `EBUSY` if the job has no result yet.
    pub(super) fn read(&self, id: JobId, offset: usize, out: &mut [u8]) -> Answer {
        let mut state = self.0.lock();
        let job = state.job(id)?;
        if !matches!(job.phase, Phase::Done) {
            return Err(Errno::EBUSY);
        }
        let rest = job.bytes.get(offset..).ok_or(Errno::EINVAL)?;
        let len = rest.len().min(out.len()).min(MAX_COPY);
        out[..len].copy_from_slice(&rest[..len]);
        i64::try_from(len).map_err(|_| Errno::EOVERFLOW)
    }

    /// Removes a job. Fails with `EBUSY` if the job is queued or runs, and with `EBADF` if no job
    /// has the number.
    pub(super) fn forget(&self, id: JobId) -> Result<(), Errno> {
        let mut state = self.0.lock();
        if matches!(state.job(id)?.phase, Phase::Started(_)) {
            return Err(Errno::EBUSY);
        }
        state.remove(id);
        Ok(())
    }

    /// Wakes the VM if a job blocks the VM. The VM then cancels the job if the program must stop.
    pub(crate) fn wake(&self) {
        let mut waiting = Vec::new();
        for job in self.0.lock().live.values_mut() {
            if let Phase::Started(JobWaiter::Waiting(waker)) = &mut job.phase {
                waiting.extend(waker.take());
            }
        }
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Starts a job as an operation. The operation's completion has the result as bytes.
pub(super) fn start(program: &Arc<dyn Caller>, id: JobId) -> Result<OperationId, Errno> {
    let operation = program.process().operations.begin()?;
    enqueue(program, id, JobWaiter::Operation(operation)).inspect_err(|_| {
        program.process().operations.cancel(operation);
    })?;
    Ok(operation)
}

/// Runs a job while the VM is blocked. Returns the length of the result, which [`Jobs::read`]
/// copies. If the computation failed, removes the job and returns the fault as a negative number.
pub(super) async fn run_and_wait(program: &Arc<dyn Caller>, id: JobId) -> Answer {
    enqueue(program, id, JobWaiter::Waiting(None))?;
    let jobs = &program.process().crypto.jobs;
    let _blocked = Blocked::new(&**program);
    poll_fn(|context| {
        let mut state = jobs.0.lock();
        let job = match state.job(id) {
            Ok(job) => job,
            Err(error) => return Poll::Ready(Err(error)),
        };
        match &mut job.phase {
            Phase::Started(JobWaiter::Finished(answer)) => {
                let answer = answer.unwrap_or_else(refused);
                job.phase = Phase::Done;
                if answer < 0 {
                    state.remove(id);
                }
                Poll::Ready(Ok(answer))
            }
            Phase::Started(JobWaiter::Waiting(waker)) => {
                if program.must_stop() {
                    job.canceled.store(true, Ordering::Release);
                }
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(Err(Errno::EINVAL)),
        }
    })
    .await
}

fn enqueue(program: &Arc<dyn Caller>, id: JobId, listener: JobWaiter) -> Result<(), Errno> {
    let mut state = program.process().crypto.jobs.0.lock();
    let job = state.job(id)?;
    if !matches!(job.phase, Phase::Filling) {
        return Err(Errno::EBUSY);
    }
    job.phase = Phase::Started(listener);
    state.queue.push_back(id);
    drop(state);
    run_queued(program);
    Ok(())
}

/// Passes queued jobs to the pool until [`MAX_RUNNING`] jobs of the program run.
fn run_queued(program: &Arc<dyn Caller>) {
    loop {
        let mut state = program.process().crypto.jobs.0.lock();
        if state.running >= MAX_RUNNING {
            return;
        }
        let Some(id) = state.queue.pop_front() else { return };
        let Some(job) = state.live.get_mut(&id) else { continue };
        let (command, request, canceled) = (job.command, std::mem::take(&mut job.bytes), job.canceled.clone());
        let cost = request.footprint();
        state.running += 1;
        drop(state);
        let owner = program.clone();
        let share = program.process().kernel.crypto_share.clone();
        let work: pool::Work = Box::new(move |turn| {
            let answer = job::compute(&owner, command, &request, canceled, turn);
            drop(request);
            finish(&owner, id, cost, answer);
            run_queued(&owner);
        });
        if !pool::run(&share, work) {
            finish(program, id, cost, Err(Fault::Memory));
        }
    }
}

/// Completes the operation of a finished job, or stores the result and wakes the blocked VM. A
/// result that exceeds the limit of kernel memory becomes `Fault::Memory`.
fn finish(program: &Arc<dyn Caller>, id: JobId, request_cost: u64, answer: Result<Vec<u8>, Fault>) {
    let mut state = program.process().crypto.jobs.0.lock();
    state.running -= 1;
    let State { live, charge, .. } = &mut *state;
    charge.shrink(request_cost);
    let Some(job) = live.get_mut(&id) else { return };
    let Phase::Started(listener) = &mut job.phase else { return };
    match listener {
        JobWaiter::Operation(operation) => {
            let operation = *operation;
            state.remove(id);
            drop(state);
            let (result, bytes) = match answer {
                Ok(bytes) => (0, bytes),
                Err(fault) => (fault.negative(), Vec::new()),
            };
            program.process().operations.complete(operation, Ok(result), bytes);
        }
        JobWaiter::Waiting(waker) => {
            let waker = waker.take();
            let answer = answer.map(fitted);
            let fits = answer.as_ref().is_ok_and(|bytes| charge.grow(bytes.footprint()));
            let answer = if fits { answer } else { answer.and(Err(Fault::Memory)) };
            let len = answer.as_ref().map(|bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX)).map_err(|fault| *fault);
            *listener = JobWaiter::Finished(len);
            job.bytes = answer.unwrap_or_default();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        JobWaiter::Finished(_) => {}
    }
}
