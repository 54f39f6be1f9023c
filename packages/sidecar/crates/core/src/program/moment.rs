//! The moment at which a whole runtime is saved: every program rests between two turns, and nobody touches the kernel.
//!
//! ```text
//! want ─► gather: who comes to `next_step` rests ─► all rest: save, each on its worker ─► all are saved: the kernel's value ─► go on, or hold
//!            ▲                                                  │
//!            └──── somebody waits in the middle of a turn ◄─────┘   (then all go on until it has got what it waits for)
//! ```
//! A program that is in the middle of a turn and waits there (`execSync`, a blocking read) may wait for one that rests: therefore nobody rests
//! while somebody is [`Blocked`]. Who spins is not waited for beyond the timeout. A program that ends while it rests rests no more, and one that is born
//! meanwhile must come to rest as well. One value is taken at a time; who wants one meanwhile waits.
//!
//! A runtime of which nobody wants a value pays for this with one look at [`Moment::is_wanted`] where a program has nothing to do. There is one for each
//! kernel. Next: `rest.rs`, the side of a program; `runtime/snapshots/take.rs` makes the value.

use super::saved::SavedVm;
use super::{Program, nanos};
use crate::kernel::Kernel;
use crate::runtime::Inner;
use crate::sched::Alarm;
use coldframe_error::Error;
use coldframe_sys as sys;
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;

/// How long a save that has begun in time may take beyond it, before it is looked at again.
const AGAIN_NS: u64 = 100_000_000;

/// See the module.
#[derive(Default)]
pub(crate) struct Moment {
    /// Whether a value is wanted, for a look without the lock.
    wanted: AtomicBool,
    /// Programs that have a place in the runtime: from before their first turn to after their end was told.
    members: AtomicUsize,
    /// Programs that wait in the middle of a turn.
    blocked: AtomicUsize,
    /// Held by those who change several parts of the kernel for the caller outside, so that no value is taken in between.
    door: RwLock<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    round: Option<Round>,
    next: VecDeque<Request>,
    /// No more values are taken, for this reason.
    closed: Option<Error>,
}

/// What is wanted.
pub(crate) struct Wanted {
    pub(crate) home: Arc<Inner>,
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) timeout: Duration,
    /// All go on resting afterwards, until [`Moment::let_go`].
    pub(crate) hold: bool,
    /// Takes the value: called once, while nobody touches the kernel. What it returns is called when all may go on.
    pub(crate) take: Box<dyn FnOnce(Gathered) -> Box<dyn FnOnce() + Send> + Send>,
}

/// What a moment came to.
pub(crate) struct Gathered {
    /// Names the moment, for [`Moment::let_go`].
    pub(crate) number: u64,
    /// All programs, by their numbers.
    pub(crate) programs: Result<Vec<(Arc<Program>, SavedVm)>, Error>,
}

struct Request {
    number: u64,
    wanted: Wanted,
    alarm: Option<Alarm>,
}

struct Round {
    number: u64,
    home: Arc<Inner>,
    timeout: Duration,
    /// None when the value has been taken, and all are held.
    request: Option<Request>,
    /// Everybody rested at the same time: those who rest save.
    saving: bool,
    resting: BTreeMap<u32, Resting>,
}

struct Resting {
    program: Arc<Program>,
    waker: Waker,
    vm: Option<SavedVm>,
}

/// What a program that has nothing to do does while a value is wanted.
pub(super) enum Rest {
    Wait,
    Save,
    Go,
}

/// What follows, when the lock is free again.
#[derive(Default)]
struct After {
    wakers: Vec<Waker>,
    /// All its programs are to look again.
    call: Option<Arc<Inner>>,
    alarms: Vec<(Arc<Inner>, Alarm)>,
    then: Vec<Box<dyn FnOnce() + Send>>,
}

impl After {
    fn run(self) {
        for (home, alarm) in self.alarms {
            home.timers().cancel(alarm);
        }
        self.wakers.into_iter().for_each(Waker::wake);
        if let Some(home) = self.call {
            call(&home);
        }
        self.then.into_iter().for_each(|then| then());
    }
}

/// Has all programs look again.
fn call(home: &Inner) {
    for task in home.live().iter().filter_map(|program| program.task()) {
        Waker::from(task).wake();
    }
}

/// A program waits in the middle of a turn while this lives.
pub(crate) struct Blocked<'a>(&'a Moment);

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        if self.0.blocked.fetch_sub(1, Ordering::SeqCst) == 1 && self.0.wanted.load(Ordering::SeqCst) {
            let home = self.0.state.lock().round.as_ref().map(|round| round.home.clone());
            home.iter().for_each(|home| call(home));
        }
    }
}

impl Moment {
    /// Whether somebody wants a value. May come late; who is called looks again.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Whether who has nothing to do must rest.
    pub(super) fn calls(&self) -> bool {
        self.is_wanted() && self.blocked.load(Ordering::SeqCst) == 0
    }

    /// See [`Blocked`].
    pub(super) fn block(&self) -> Blocked<'_> {
        self.blocked.fetch_add(1, Ordering::SeqCst);
        if self.wanted.load(Ordering::SeqCst) {
            self.scatter();
        }
        Blocked(self)
    }

    /// Those who rest go on: somebody may wait for them. Who is held stays; the value has been taken.
    fn scatter(&self) {
        let mut state = self.state.lock();
        let Some(round) = state.round.as_mut().filter(|round| round.request.is_some()) else { return };
        round.saving = false;
        let resting = std::mem::take(&mut round.resting);
        drop(state);
        resting.into_values().for_each(|resting| resting.waker.wake());
    }

    /// No value is taken while this is held. For those who change several parts of the kernel from outside.
    pub(crate) fn pass(&self) -> RwLockReadGuard<'_, ()> {
        self.door.read()
    }

    /// Another program has a place in the runtime.
    pub(crate) fn entered(&self) {
        self.members.fetch_add(1, Ordering::SeqCst);
    }

    /// A program has ended, and all that follows from that has been done.
    pub(crate) fn left(&self) {
        self.members.fetch_sub(1, Ordering::SeqCst);
        if self.wanted.load(Ordering::SeqCst) {
            self.act(|_, _| {});
        }
    }

    /// Does something, and what follows from it.
    fn act(&self, first: impl FnOnce(&mut State, &mut After)) {
        let mut after = After::default();
        let mut state = self.state.lock();
        first(&mut state, &mut after);
        self.pump(&mut state, &mut after, None);
        drop(state);
        after.run();
    }

    /// Has a value taken, now or when it can be.
    pub(crate) fn want(&self, wanted: Wanted) {
        let (home, kernel) = (wanted.home.clone(), wanted.kernel.clone());
        let at = sys::monotonic_ns().saturating_add(nanos(wanted.timeout));
        self.act(|state, after| {
            state.last += 1;
            let request = Request { number: state.last, wanted, alarm: None };
            match state.closed.clone() {
                Some(reason) => return refuse(request, reason, after),
                None => state.next.push_back(request),
            }
            let number = state.last;
            self.pump(state, after, None);
            if let Some(request) = state.request(number) {
                // It could not be taken at once: that is not waited for for ever.
                request.alarm = Some(set_alarm(&home, &kernel, at, number));
            }
        });
    }

    /// The time for a value is over.
    fn expire(&self, number: u64) {
        let members = self.members.load(Ordering::SeqCst);
        self.act(|state, after| {
            if let Some(at) = state.next.iter().position(|request| request.number == number) {
                if let Some(request) = state.next.remove(at) {
                    let timeout_ms = millis(request.wanted.timeout);
                    refuse(request, Error::Busy { pid: 0, command: "another snapshot".to_owned(), timeout_ms }, after);
                }
                return;
            }
            let Some(round) = state.round.as_mut().filter(|round| round.number == number) else { return };
            let Some(request) = &mut round.request else { return };
            if round.saving && round.resting.len() == members {
                // All are at rest, and some still save: that ends by itself.
                let at = sys::monotonic_ns() + AGAIN_NS;
                request.alarm = Some(set_alarm(&request.wanted.home, &request.wanted.kernel, at, number));
            } else {
                let reason = round.culprit();
                fail(state, reason, after);
            }
        });
    }

    /// Whether its value has been taken and all go on resting: the time that passes now is no program's.
    pub(super) fn holds(&self) -> bool {
        self.is_wanted() && self.state.lock().round.as_ref().is_some_and(|round| round.request.is_none())
    }

    /// Those who are held since the moment of this number go on.
    pub(crate) fn let_go(&self, number: u64) {
        self.act(|state, after| {
            if state.round.as_ref().is_some_and(|round| round.number == number && round.request.is_none()) {
                release(state, after);
            }
        });
    }

    /// No more values are taken: everybody goes on, and those who want one hear why not.
    pub(crate) fn close(&self, reason: &Error) {
        self.act(|state, after| {
            state.closed = Some(reason.clone());
            fail(state, reason.clone(), after);
            for request in std::mem::take(&mut state.next) {
                refuse(request, reason.clone(), after);
            }
        });
    }

    /// A program has nothing to do. What it does now.
    pub(super) fn rest(&self, program: &Arc<Program>, waker: &Waker) -> Rest {
        let mut after = After::default();
        let mut state = self.state.lock();
        let blocked = self.blocked.load(Ordering::SeqCst) > 0;
        let Some(round) = &mut state.round else { return Rest::Go };
        if blocked && round.request.is_some() {
            round.resting.remove(&program.pid);
            return Rest::Go;
        }
        match round.resting.get_mut(&program.pid) {
            Some(resting) => resting.waker.clone_from(waker),
            None => {
                let resting = Resting { program: program.clone(), waker: waker.clone(), vm: None };
                round.resting.insert(program.pid, resting);
            }
        }
        self.pump(&mut state, &mut after, Some(program.pid));
        let rest = match &state.round {
            Some(Round { saving, request, resting, .. }) => match resting.get(&program.pid) {
                Some(Resting { vm: None, .. }) if *saving && request.is_some() => Rest::Save,
                Some(_) => Rest::Wait,
                None => Rest::Go,
            },
            None => Rest::Go,
        };
        drop(state);
        after.run();
        rest
    }

    /// A program that rests has saved its VM, or could not.
    pub(super) fn deposit(&self, program: &Program, saved: Result<SavedVm, Error>) {
        self.act(|state, after| {
            let resting = state.round.as_mut().and_then(|round| round.resting.get_mut(&program.pid));
            match (resting, saved) {
                (Some(resting), Ok(vm)) => resting.vm = Some(vm),
                // It ends: what it was would have been no part of the value, and all others save.
                (Some(_), Err(_)) if program.is_ending() => {}
                (Some(_), Err(error)) => fail(state, error, after),
                // All have gone on meanwhile.
                (None, _) => {}
            }
        });
    }

    /// A program rests no more.
    pub(super) fn stir(&self, pid: u32) {
        let removed = self.state.lock().round.as_mut().and_then(|round| round.resting.remove(&pid));
        drop(removed);
    }

    /// Goes as far as can be gone now. `own`: who calls, and need not be woken.
    fn pump(&self, state: &mut State, after: &mut After, own: Option<u32>) {
        loop {
            let Some(round) = &mut state.round else {
                let Some(request) = state.next.pop_front() else {
                    self.wanted.store(false, Ordering::SeqCst);
                    return;
                };
                let (number, home, timeout) = (request.number, request.wanted.home.clone(), request.wanted.timeout);
                if self.members.load(Ordering::SeqCst) > 0 {
                    self.wanted.store(true, Ordering::SeqCst);
                    after.call = Some(home.clone());
                }
                let resting = BTreeMap::new();
                state.round = Some(Round { number, home, timeout, request: Some(request), saving: false, resting });
                continue;
            };
            if round.request.is_none() || round.resting.len() != self.members.load(Ordering::SeqCst) {
                return;
            }
            if !std::mem::replace(&mut round.saving, true) {
                let others = round.resting.values().filter(|resting| Some(resting.program.pid) != own);
                after.wakers.extend(others.map(|resting| resting.waker.clone()));
            }
            if round.resting.values().any(|resting| resting.vm.is_none()) {
                return;
            }
            let _closed = self.door.write();
            if round.resting.len() != self.members.load(Ordering::SeqCst) {
                // One was started meanwhile: it must come to rest too.
                self.wanted.store(true, Ordering::SeqCst);
                after.call = Some(round.home.clone());
                return;
            }
            let Some(Request { number, wanted, alarm }) = round.request.take() else { return };
            let rested = round.resting.values_mut();
            let programs = rested.filter_map(|resting| Some((resting.program.clone(), resting.vm.take()?))).collect();
            after.then.push((wanted.take)(Gathered { number, programs: Ok(programs) }));
            after.alarms.extend(alarm.map(|alarm| (wanted.home, alarm)));
            if wanted.hold {
                self.wanted.store(true, Ordering::SeqCst);
                return;
            }
            release(state, after);
        }
    }
}

impl State {
    fn request(&mut self, number: u64) -> Option<&mut Request> {
        let current = self.round.as_mut().and_then(|round| round.request.as_mut());
        current.into_iter().chain(&mut self.next).find(|request| request.number == number)
    }
}

impl Round {
    /// Who has not come to rest.
    fn culprit(&self) -> Error {
        let mut live = self.home.live();
        live.sort_unstable_by_key(|program| program.pid);
        let culprit = live.iter().find(|program| !self.resting.contains_key(&program.pid));
        let (pid, command) = culprit.map_or((0, String::new()), |program| (program.pid, program.command.clone()));
        Error::Busy { pid, command, timeout_ms: millis(self.timeout) }
    }
}

/// Everybody goes on.
fn release(state: &mut State, after: &mut After) {
    let Some(round) = state.round.take() else { return };
    after.wakers.extend(round.resting.into_values().map(|resting| resting.waker));
}

/// No value comes of it.
fn fail(state: &mut State, reason: Error, after: &mut After) {
    if let Some(request) = state.round.as_mut().and_then(|round| round.request.take()) {
        refuse(request, reason, after);
    }
    release(state, after);
}

fn refuse(request: Request, reason: Error, after: &mut After) {
    let Request { number, wanted, alarm } = request;
    after.then.push((wanted.take)(Gathered { number, programs: Err(reason) }));
    after.alarms.extend(alarm.map(|alarm| (wanted.home, alarm)));
}

fn set_alarm(home: &Inner, kernel: &Arc<Kernel>, at: u64, number: u64) -> Alarm {
    let kernel = Arc::downgrade(kernel);
    home.timers().set(at, move || {
        if let Some(kernel) = kernel.upgrade() {
            kernel.moment.expire(number);
        }
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
