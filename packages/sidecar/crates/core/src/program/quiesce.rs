//! Quiescing: bringing all programs of a runtime to rest between two turns, for a snapshot.
//!
//! ```text
//! request ─► gather: programs at `next_step` rest ─► all rest: each VM's snapshot is taken
//!               ▲                                        │
//!               │                                        ├─► then the kernel snapshot is taken
//!               │                                        │                   ─► resume, or hold
//!               └── a program blocks in the middle of a turn (all resume until it continues)
//! ```
//!
//! A program that blocks in the middle of a turn (`execSync`, a blocking read) may wait for a
//! program that rests. Therefore no program rests while a program blocks. A spinning program is
//! awaited up to the timeout. A program that ends no longer rests. A program that starts during the
//! request must also rest. One snapshot is taken at a time. Further requests are queued.
//!
//! The snapshot is taken under the lock of the rounds, so control threads do not take this lock.
//! Without a request, the only cost is one check of [`Quiesce::is_wanted`] when a program has no
//! work. Each kernel has one [`Quiesce`]. `models.rs` checks the requests and the programs in every
//! order of the threads. Next: `rest.rs`, a program at rest;
//! `runtime/snapshots/take.rs`, which makes the snapshot.

use super::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, RwLock, RwLockReadGuard, check_may_wait, monotonic_ns};
use super::{Alarm, Home, Program, Scheduler, VmState, nanos};
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_panics::outside;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

/// The delay after which the timeout is checked again, in nanoseconds. VM snapshots that started
/// within the timeout may still be in progress when the timeout has passed.
const AGAIN_NS: u64 = 100_000_000;

/// Brings the programs of one kernel to rest.
pub(crate) struct Quiesce {
    this: Weak<Self>,
    scheduler: Arc<Scheduler>,
    /// Whether a snapshot is wanted, for a check without the lock.
    wanted: AtomicBool,
    /// Whether a snapshot was taken and all programs stay at rest, for a check without the lock.
    holding: AtomicBool,
    /// The number of programs in the runtime, from before the first turn until the report of the
    /// end.
    members: AtomicUsize,
    /// The number of programs that block in the middle of a turn.
    blocked: AtomicUsize,
    /// Locked for reading while the embedder changes several parts of the kernel, so that no
    /// snapshot is taken between the changes.
    changes: RwLock<()>,
    rounds: Mutex<Rounds>,
}

/// The present round and the queued requests.
#[derive(Default)]
struct Rounds {
    last: u64,
    current: Option<Round>,
    queue: VecDeque<Queued>,
    /// The reason why further requests are refused.
    closed: Option<Error>,
}

/// A request to quiesce.
pub(crate) struct QuiesceRequest {
    pub(crate) home: Arc<dyn Home>,
    pub(crate) timeout: Duration,
    /// Whether all programs stay at rest after the snapshot was taken, until [`Quiesce::release`].
    pub(crate) hold: bool,
    /// Takes the snapshot, or receives the error. Called once, and does not panic. If all programs
    /// rest, no thread changes the kernel during the call. The returned function is called after
    /// the lock of the rounds was released.
    pub(crate) take: Box<dyn FnOnce(Quiesced) -> Box<dyn FnOnce() + Send> + Send>,
}

/// The result of a request.
pub(crate) struct Quiesced {
    /// The number of the request, for [`Quiesce::release`].
    pub(crate) number: u64,
    /// All programs at rest, in the order of their pids.
    pub(crate) programs: Result<Vec<(Arc<Program>, VmState)>, Error>,
}

struct Queued {
    number: u64,
    request: QuiesceRequest,
    alarm: Option<Alarm>,
}

struct Round {
    number: u64,
    home: Arc<dyn Home>,
    timeout: Duration,
    /// `None` after the snapshot was taken, while all programs are held.
    request: Option<Queued>,
    /// Whether all programs rested at one time. Resting programs then take their VM snapshots.
    saving: bool,
    resting: BTreeMap<Pid, Resting>,
}

struct Resting {
    program: Arc<Program>,
    waker: Waker,
    vm: Option<VmState>,
}

/// The next action of a program without work while a snapshot is wanted.
pub(super) enum RestStep {
    Wait,
    Save,
    Resume,
}

/// Actions that run after the lock of the rounds was released.
#[derive(Default)]
struct FollowUp {
    wakers: Vec<Waker>,
    /// The runtime whose programs must all check their state again.
    wake_all: Option<Arc<dyn Home>>,
    alarms: Vec<Alarm>,
    then: Vec<Box<dyn FnOnce() + Send>>,
}

impl FollowUp {
    fn run(self, scheduler: &Scheduler) {
        for alarm in self.alarms {
            scheduler.timers().cancel(alarm);
        }
        self.wakers.into_iter().for_each(Waker::wake);
        if let Some(home) = self.wake_all {
            wake_all(&*home);
        }
        self.then.into_iter().for_each(|then| then());
    }
}

/// Wakes all programs, so that they check their state again.
fn wake_all(home: &dyn Home) {
    for task in home.programs().iter().filter_map(|program| program.task()) {
        Waker::from(task).wake();
    }
}

impl Quiesce {
    pub(crate) fn new(scheduler: Arc<Scheduler>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            scheduler,
            wanted: AtomicBool::new(false),
            holding: AtomicBool::new(false),
            members: AtomicUsize::new(0),
            blocked: AtomicUsize::new(0),
            changes: RwLock::default(),
            rounds: Mutex::default(),
        })
    }

    /// Returns whether a snapshot is wanted. An outdated result is harmless, because a woken
    /// program checks again.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Returns whether a program without work must rest.
    pub(super) fn must_rest(&self) -> bool {
        self.is_wanted() && self.blocked.load(Ordering::SeqCst) == 0
    }

    /// Counts a program that starts to block in the middle of a turn.
    pub(super) fn block(&self) {
        self.blocked.fetch_add(1, Ordering::SeqCst);
        if self.wanted.load(Ordering::SeqCst) {
            self.resume_resting();
        }
    }

    /// Counts a program that no longer blocks.
    pub(super) fn unblock(&self) {
        if self.blocked.fetch_sub(1, Ordering::SeqCst) == 1 && self.wanted.load(Ordering::SeqCst) {
            let home = self.rounds.lock().current.as_ref().map(|round| round.home.clone());
            home.iter().for_each(|home| wake_all(&**home));
        }
    }

    /// Resumes all resting programs, because a blocked program may wait for a resting program. Held
    /// programs stay at rest, because their snapshot has been taken.
    fn resume_resting(&self) {
        let mut rounds = self.rounds.lock();
        let Some(round) = rounds.current.as_mut().filter(|round| round.request.is_some()) else { return };
        round.saving = false;
        let resting = std::mem::take(&mut round.resting);
        drop(rounds);
        resting.into_values().for_each(|resting| resting.waker.wake());
    }

    /// Prevents snapshots until the guard is dropped, while the embedder changes several parts of
    /// the kernel.
    pub(crate) fn hold_off(&self) -> RwLockReadGuard<'_, ()> {
        check_may_wait();
        self.changes.read()
    }

    /// Counts a program that has joined the runtime.
    pub(super) fn joined(&self) {
        self.members.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts a program that has ended, after its end was reported.
    pub(super) fn left(&self) {
        self.members.fetch_sub(1, Ordering::SeqCst);
        if self.wanted.load(Ordering::SeqCst) {
            self.act(|_, _| {});
        }
    }

    /// Runs `first` under the lock, then runs the follow-up actions without the lock. A panic
    /// aborts the process, because the requests in the rounds would never be completed.
    fn act(&self, first: impl FnOnce(&mut Rounds, &mut FollowUp)) {
        check_may_wait();
        outside(|| self.act_here(first));
    }

    fn act_here(&self, first: impl FnOnce(&mut Rounds, &mut FollowUp)) {
        let mut follow_up = FollowUp::default();
        let mut rounds = self.rounds.lock();
        first(&mut rounds, &mut follow_up);
        self.advance(&mut rounds, &mut follow_up, None);
        drop(rounds);
        follow_up.run(&self.scheduler);
    }

    /// Quiesces the runtime and takes a snapshot, now or as soon as possible.
    pub(crate) fn request(&self, request: QuiesceRequest) {
        let at = monotonic_ns().saturating_add(nanos(request.timeout));
        self.act(|rounds, follow_up| {
            rounds.last += 1;
            let number = rounds.last;
            let queued = Queued { number, request, alarm: None };
            match rounds.closed.clone() {
                Some(reason) => return refuse(queued, reason, follow_up),
                None => rounds.queue.push_back(queued),
            }
            self.advance(rounds, follow_up, None);
            if let Some(queued) = rounds.find(number) {
                // The request was not completed at once, so an alarm ends the request at its
                // timeout.
                queued.alarm = Some(self.set_alarm(at, number));
            }
        });
    }

    /// Fails the request with this number, because its timeout has passed. If all programs rest
    /// already, the request continues, and its alarm is set again.
    fn expire(&self, number: u64) {
        let members = self.members.load(Ordering::SeqCst);
        self.act(|rounds, follow_up| {
            if let Some(at) = rounds.queue.iter().position(|queued| queued.number == number) {
                if let Some(queued) = rounds.queue.remove(at) {
                    let timeout_ms = millis(queued.request.timeout);
                    refuse(queued, Error::SnapshotInProgress { timeout_ms }, follow_up);
                }
                return;
            }
            let Some(round) = rounds.current.as_mut().filter(|round| round.number == number) else { return };
            let Some(queued) = &mut round.request else { return };
            if round.saving && round.resting.len() == members {
                // All programs rest, and some VM snapshots are still being taken. This work always
                // ends.
                queued.alarm = Some(self.set_alarm(monotonic_ns() + AGAIN_NS, number));
            } else {
                let reason = round.busy();
                self.fail(rounds, reason, follow_up);
            }
        });
    }

    /// Returns whether the snapshot has been taken and all programs stay at rest. The time at rest
    /// does not count for any program's timeout.
    pub(super) fn is_holding(&self) -> bool {
        self.holding.load(Ordering::Relaxed)
    }

    /// Resumes the programs that are held since the request with this number.
    pub(crate) fn release(&self, number: u64) {
        self.act(|rounds, follow_up| {
            if rounds.current.as_ref().is_some_and(|round| round.number == number && round.request.is_none()) {
                self.resume_all(rounds, follow_up);
            }
        });
    }

    /// Resumes all programs. Refuses the pending requests and all later requests.
    pub(crate) fn close(&self, reason: &Error) {
        self.act(|rounds, follow_up| {
            rounds.closed = Some(reason.clone());
            self.fail(rounds, reason.clone(), follow_up);
            for queued in std::mem::take(&mut rounds.queue) {
                refuse(queued, reason.clone(), follow_up);
            }
        });
    }

    /// Registers a program without work as resting. Returns the next action of the program.
    pub(super) fn rest(&self, program: &Arc<Program>, waker: &Waker) -> RestStep {
        outside(|| self.rest_here(program, waker))
    }

    fn rest_here(&self, program: &Arc<Program>, waker: &Waker) -> RestStep {
        let mut follow_up = FollowUp::default();
        let mut rounds = self.rounds.lock();
        let blocked = self.blocked.load(Ordering::SeqCst) > 0;
        let Some(round) = &mut rounds.current else { return RestStep::Resume };
        if blocked && round.request.is_some() {
            round.resting.remove(&program.pid);
            return RestStep::Resume;
        }
        match round.resting.get_mut(&program.pid) {
            Some(resting) => resting.waker.clone_from(waker),
            None => {
                let resting = Resting { program: program.clone(), waker: waker.clone(), vm: None };
                round.resting.insert(program.pid, resting);
            }
        }
        self.advance(&mut rounds, &mut follow_up, Some(program.pid));
        let step = match &rounds.current {
            Some(Round { saving, request, resting, .. }) => match resting.get(&program.pid) {
                Some(Resting { vm: None, .. }) if *saving && request.is_some() => RestStep::Save,
                Some(_) => RestStep::Wait,
                None => RestStep::Resume,
            },
            None => RestStep::Resume,
        };
        drop(rounds);
        follow_up.run(&self.scheduler);
        step
    }

    /// Stores the VM snapshot of a resting program, or fails the round with the error.
    pub(super) fn deposit(&self, program: &Program, saved: Result<VmState, Error>) {
        self.act(|rounds, follow_up| {
            let resting = rounds.current.as_mut().and_then(|round| round.resting.get_mut(&program.pid));
            match (resting, saved) {
                (Some(resting), Ok(vm)) => resting.vm = Some(vm),
                // A program that ends is not part of the snapshot. The other programs' snapshots
                // are still taken.
                (Some(_), Err(_)) if program.is_ending() => {}
                (Some(_), Err(error)) => self.fail(rounds, error, follow_up),
                // All programs resumed while the VM snapshot was taken.
                (None, _) => {}
            }
        });
    }

    /// Removes a program from the resting programs.
    pub(super) fn leave_rest(&self, pid: Pid) {
        let removed = self.rounds.lock().current.as_mut().and_then(|round| round.resting.remove(&pid));
        drop(removed);
    }

    /// Advances the rounds as far as possible. `own` is the calling program, which is not woken.
    fn advance(&self, rounds: &mut Rounds, follow_up: &mut FollowUp, own: Option<Pid>) {
        loop {
            let Some(round) = &mut rounds.current else {
                let Some(queued) = rounds.queue.pop_front() else {
                    self.wanted.store(false, Ordering::SeqCst);
                    return;
                };
                let (number, home, timeout) = (queued.number, queued.request.home.clone(), queued.request.timeout);
                if self.members.load(Ordering::SeqCst) > 0 {
                    self.wanted.store(true, Ordering::SeqCst);
                    follow_up.wake_all = Some(home.clone());
                }
                let resting = BTreeMap::new();
                rounds.current = Some(Round { number, home, timeout, request: Some(queued), saving: false, resting });
                continue;
            };
            if round.request.is_none() || round.resting.len() != self.members.load(Ordering::SeqCst) {
                return;
            }
            if !std::mem::replace(&mut round.saving, true) {
                let others = round.resting.values().filter(|resting| Some(resting.program.pid) != own);
                follow_up.wakers.extend(others.map(|resting| resting.waker.clone()));
            }
            if round.resting.values().any(|resting| resting.vm.is_none()) {
                return;
            }
            let _no_changes = self.changes.write();
            if round.resting.len() != self.members.load(Ordering::SeqCst) {
                // A program has started since the request and must also rest.
                self.wanted.store(true, Ordering::SeqCst);
                follow_up.wake_all = Some(round.home.clone());
                return;
            }
            let Some(Queued { number, request, alarm }) = round.request.take() else { return };
            let rested = round.resting.values_mut();
            let programs = rested.filter_map(|resting| Some((resting.program.clone(), resting.vm.take()?))).collect();
            follow_up.then.push((request.take)(Quiesced { number, programs: Ok(programs) }));
            follow_up.alarms.extend(alarm);
            if request.hold {
                self.wanted.store(true, Ordering::SeqCst);
                self.holding.store(true, Ordering::Relaxed);
                return;
            }
            self.resume_all(rounds, follow_up);
        }
    }

    /// Sets the alarm of a request. The thread of the alarms does not wait for the lock of the
    /// rounds, so another thread ends the request.
    fn set_alarm(&self, at: u64, number: u64) -> Alarm {
        let this = self.this.clone();
        self.scheduler.timers().set(at, move || {
            if let Some(quiesce) = this.upgrade() {
                let scheduler = quiesce.scheduler.clone();
                scheduler.hand_over(move || quiesce.expire(number));
            }
        })
    }

    /// Ends the round and resumes all programs.
    fn resume_all(&self, rounds: &mut Rounds, follow_up: &mut FollowUp) {
        let Some(round) = rounds.current.take() else { return };
        self.holding.store(false, Ordering::Relaxed);
        follow_up.wakers.extend(round.resting.into_values().map(|resting| resting.waker));
    }

    /// Ends the round without a snapshot.
    fn fail(&self, rounds: &mut Rounds, reason: Error, follow_up: &mut FollowUp) {
        if let Some(queued) = rounds.current.as_mut().and_then(|round| round.request.take()) {
            refuse(queued, reason, follow_up);
        }
        self.resume_all(rounds, follow_up);
    }
}

impl Rounds {
    fn find(&mut self, number: u64) -> Option<&mut Queued> {
        let current = self.current.as_mut().and_then(|round| round.request.as_mut());
        current.into_iter().chain(&mut self.queue).find(|queued| queued.number == number)
    }
}

impl Round {
    /// Returns the error that names the first program that does not rest.
    fn busy(&self) -> Error {
        let mut programs = self.home.programs();
        programs.sort_unstable_by_key(|program| program.pid);
        let busy = programs.iter().find(|program| !self.resting.contains_key(&program.pid));
        busy.map_or(Error::NotQuiet, |program| Error::Busy {
            pid: program.pid,
            command: program.command.clone(),
            timeout_ms: millis(self.timeout),
        })
    }
}

fn refuse(queued: Queued, reason: Error, follow_up: &mut FollowUp) {
    let Queued { number, request, alarm } = queued;
    follow_up.then.push((request.take)(Quiesced { number, programs: Err(reason) }));
    follow_up.alarms.extend(alarm);
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
