//! Processes: the process table of a runtime, and the system calls of the family `processes`.
//!
//! ```text
//! spawn.rs ── spec.rs (the request) ── resolve.rs (the program) ──► Caller::start_child
//!     └──► table.rs: parents, groups, sessions, ends ──► status.rs        signals.rs, waiting.rs
//! ```
//!
//! Each runtime has one process table. A child runs in another VM of the guest image and shares the
//! kernel with its parent. Programs can see and signal the programs of their own runtime, and wait
//! for their children. Programs of other runtimes are not visible. Next: `table.rs`.

mod credentials;
mod look;
mod resolve;
mod signals;
mod snapshot;
mod spawn;
mod spec;
mod status;
mod table;
#[cfg(test)]
mod tests;
mod waiting;

pub use credentials::Credentials;
pub(crate) use resolve::MAGIC;
pub use resolve::{Command, DEFAULT_PATH, ProgramKind};
use signals::{Action, SIGCONT};
pub(crate) use signals::{SignalState as SignalsSnapshot, Signals};
pub(crate) use snapshot::ProcessTableSnapshot;
pub use spawn::{Child, find};
use status::SIGHUP;
pub use status::{SIGKILL, SIGPIPE, Status, lowest_byte};
pub(crate) use waiting::{WatchTarget, wait_for, wait_for_completion};

use super::permissions::{About, operations};
use super::usage::{Mark, Usage};
use super::{Answer, Arguments};
use crate::boot_id::BootId;
use crate::caller::Caller;
use crate::ids::{Fd, OperationId};
use crate::net::{PostedSignal, Recipient};
use coldframe_abi::system_calls::ProcessCall;
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use coldframe_sys as sys;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use table::{Change, Placement, ProcessTable, Waiter};

/// The maximum number of descriptors and children in the list of one waiting call.
pub(crate) const MAX_WATCHED: usize = 64;

/// A runtime's processes: the table, and the programs of the live processes.
pub struct Processes {
    registry: Mutex<Registry>,
    usage: Arc<Usage>,
    /// The boot id of the runtime, which `/proc` shows.
    pub(crate) boot_id: BootId,
}

struct Registry {
    table: ProcessTable,
    mark: Mark,
    programs: HashMap<Pid, Weak<dyn Caller>>,
    /// The programs of ended root processes whose output is open.
    waiting: HashMap<Pid, Weak<dyn Caller>>,
}

impl Processes {
    pub(crate) fn new(usage: Arc<Usage>) -> Self {
        let limit = usize::try_from(usage.limits.processes).unwrap_or(usize::MAX);
        let table = ProcessTable::new(limit);
        let registry = Registry { table, mark: Mark::default(), programs: HashMap::new(), waiting: HashMap::new() };
        Self { registry: Mutex::new(registry), usage, boot_id: BootId::default() }
    }

    /// Returns the present and the highest number of processes.
    pub(crate) fn used_and_highest(&self) -> (u64, u64) {
        let state = self.registry.lock();
        (state.table.entries.len() as u64, state.mark.high())
    }

    fn enter(&self, enter: impl FnOnce(&mut ProcessTable) -> Result<Pid, Errno>) -> Result<Pid, Errno> {
        let mut state = self.registry.lock();
        let pid = enter(&mut state.table)?;
        let (count, max) = (state.table.entries.len() as u64, self.usage.limits.processes);
        if state.mark.raise(count, max) {
            self.usage.warnings.add("processes", count, max, None);
        }
        Ok(pid)
    }

    /// Adds a process for a program that the embedder starts. Fails with `EAGAIN` if the limit is
    /// reached.
    pub fn enter_root(&self) -> Result<Pid, Errno> {
        self.enter(ProcessTable::enter_root)
    }

    fn enter_child(&self, parent: Pid, placement: Placement) -> Result<Pid, Errno> {
        self.enter(|table| table.enter_child(parent, placement))
    }

    /// Adds a child in the group of its parent.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn enter_plain_child(&self, parent: Pid) -> Result<Pid, Errno> {
        self.enter_child(parent, Placement::OfParent)
    }

    /// Returns whether a session has a group.
    pub(crate) fn has_group(&self, session: Pid, group: Pid) -> bool {
        self.registry.lock().table.has_group(session, group)
    }

    /// Returns whether no process could continue the processes of a group.
    pub(crate) fn is_orphaned(&self, group: Pid) -> bool {
        self.registry.lock().table.is_orphaned(group)
    }

    /// Records a stop or a continuation of a process, and notifies the parent.
    fn changed(&self, pid: Pid, change: Change) {
        let notified = {
            let mut state = self.registry.lock();
            let notified = state.table.changed(pid, change);
            notified.and_then(|(parent, operation)| Some((state.programs.get(&parent).and_then(Weak::upgrade)?, operation)))
        };
        if let Some((parent, operation)) = notified {
            parent.process().operations.complete(operation, Ok(change.number()), Vec::new());
        }
    }

    /// Delivers a signal of a terminal.
    pub(crate) fn deliver(&self, posted: PostedSignal) {
        let programs: Vec<_> = {
            let state = self.registry.lock();
            let is_receiver = |(pid, entry): &(&Pid, &table::ProcessRecord)| match posted.to {
                Recipient::Group(group) => entry.group == group,
                Recipient::Process(receiver) => **pid == receiver,
            };
            let receivers = state.table.entries.iter().filter(is_receiver);
            receivers.filter_map(|(pid, _)| state.programs.get(pid).and_then(Weak::upgrade)).collect()
        };
        programs.iter().for_each(|program| signals::send(&**program, posted.signal));
    }

    /// Stores the program of an entered process. Ends the program if the process has been condemned
    /// since its entry was made.
    pub fn register(&self, program: &Arc<dyn Caller>) {
        let condemned = {
            let mut state = self.registry.lock();
            state.programs.insert(program.pid(), Arc::downgrade(program));
            state.table.entries.get(&program.pid()).is_some_and(|entry| entry.condemned)
        };
        if condemned {
            program.end(Error::Signal { signal: SIGKILL });
        }
        program.process().begin_terminal_output(program);
    }

    /// Removes a process whose program never started.
    pub fn remove(&self, pid: Pid) {
        let mut state = self.registry.lock();
        state.table.remove(pid);
        state.programs.remove(&pid);
    }

    /// Returns the program of a live process. Returns `None` if the process has ended or is
    /// unknown.
    pub fn program(&self, pid: Pid) -> Option<Arc<dyn Caller>> {
        self.registry.lock().programs.get(&pid).and_then(Weak::upgrade)
    }

    /// Returns the program whose output streams have the owner `pid`: a live program, or an ended
    /// root program whose output is open.
    pub(crate) fn stream_owner(&self, pid: Pid) -> Option<Arc<dyn Caller>> {
        let state = self.registry.lock();
        state.programs.get(&pid).or_else(|| state.waiting.get(&pid)).and_then(Weak::upgrade)
    }

    /// Keeps the session of a root process after the end of the process.
    pub(crate) fn keep_session(&self, pid: Pid) {
        self.registry.lock().table.keep_session(pid);
    }

    /// Returns whether the session of a root process is kept after the end of the process.
    pub(crate) fn keeps_session(&self, pid: Pid) -> bool {
        self.registry.lock().table.entries.get(&pid).is_some_and(|entry| entry.keeps_session)
    }

    /// Records the end of a root program whose output is open, as [`Processes::exited`] does. The
    /// program receives output until [`Processes::output_ended`].
    pub fn exited_with_open_output(&self, program: &Arc<dyn Caller>, status: Status) {
        let pid = program.pid();
        {
            let mut state = self.registry.lock();
            state.waiting.insert(pid, Arc::downgrade(program));
            state.table.reserve(pid, true);
        }
        self.exited(pid, status, false);
    }

    /// Records that an ended root program receives no more output.
    pub fn output_ended(&self, pid: Pid) {
        let mut state = self.registry.lock();
        state.waiting.remove(&pid);
        state.table.reserve(pid, false);
    }

    /// Returns the root process above `pid`. Returns `None` if `pid` is a root process or unknown.
    pub fn root_of(&self, pid: Pid) -> Option<Pid> {
        let root = self.registry.lock().table.entries.get(&pid)?.root;
        (root != pid).then_some(root)
    }

    /// Returns whether the process has a live program.
    pub fn is_live(&self, pid: Pid) -> bool {
        self.registry.lock().programs.contains_key(&pid)
    }

    /// Returns the live programs, each with its parent and its group.
    pub fn list(&self) -> Vec<(Arc<dyn Caller>, Pid, Pid)> {
        let state = self.registry.lock();
        let live = state.table.entries.iter().filter(|(_, entry)| entry.ended.is_none());
        let with_program = |(pid, entry): (&Pid, &table::ProcessRecord)| {
            Some((state.programs.get(pid).and_then(Weak::upgrade)?, entry.parent, entry.group))
        };
        live.filter_map(with_program).collect()
    }

    /// Sends the embedder's signal to one process. For the signal 0, only checks that the process
    /// exists. Fails with `ESRCH` if no live process has the pid.
    pub fn signal(&self, pid: Pid, signal: i64) -> Result<(), Errno> {
        let signal = if signal == 0 { None } else { Some(signals::check(signal)?) };
        let program = self.program(pid).ok_or(Errno::ESRCH)?;
        if let Some(signal) = signal {
            signals::send(&*program, signal);
        }
        Ok(())
    }

    fn wait(&self, caller: Pid, pid: Pid, waiter: Waiter) -> Result<Option<i32>, Errno> {
        self.registry.lock().table.wait(caller, pid, waiter)
    }

    fn unwait(&self, pid: Pid, operation: OperationId) {
        self.registry.lock().table.unwait(pid, operation);
    }

    /// Records the end of a program. The program's descriptors must be closed already. `by_caller`
    /// is set if the embedder or a limit ended the program.
    pub fn exited(&self, pid: Pid, status: Status, by_caller: bool) {
        let (notified, ended, abandoned) = {
            let mut state = self.registry.lock();
            state.programs.remove(&pid);
            let consequences = state.table.exited(pid, status, by_caller);
            let count = state.table.entries.len() as u64;
            state.mark.lower(count, self.usage.limits.processes);
            let find = |pid: &Pid| state.programs.get(pid).and_then(Weak::upgrade);
            let notified = consequences.notified.and_then(|(parent, operation)| Some((find(&parent)?, operation)));
            let ended: Vec<_> = consequences.ended.iter().filter_map(find).collect();
            (notified, ended, consequences.abandoned.iter().filter_map(find).collect::<Vec<_>>())
        };
        if let Some((parent, operation)) = notified {
            parent.process().operations.complete(operation, Ok(status.number()), Vec::new());
        }
        for program in ended {
            program.end(Error::Signal { signal: SIGKILL });
        }
        for program in abandoned {
            signals::send(&*program, SIGHUP);
            signals::send(&*program, SIGCONT);
        }
    }

    /// Sends a signal for the program `caller`. For the signal 0, only checks that targets exist.
    /// Fails with `EACCES` if the policy denies the signal for all targets.
    fn kill(&self, caller: &dyn Caller, number: i64, signal: i64) -> Answer {
        let signal = if signal == 0 { None } else { Some(signals::check(signal)?) };
        let mut programs: Vec<_> = {
            let state = self.registry.lock();
            let targets = state.table.targets(caller.pid(), number)?;
            targets.iter().filter_map(|pid| state.programs.get(pid).and_then(Weak::upgrade)).collect()
        };
        let own = caller.process().files.credentials();
        let had_targets = !programs.is_empty();
        programs.retain(|program| own.may_signal(&program.process().files.credentials()));
        if had_targets && programs.is_empty() {
            return Err(Errno::EPERM);
        }
        let mut last_denied = None;
        programs.retain(|program| {
            signals::check_send(caller, program.pid(), signal).map_err(|denied| last_denied = Some(denied)).is_ok()
        });
        if let Some(denied) = last_denied.filter(|_| programs.is_empty()) {
            return Err(caller.process().explain(denied));
        }
        if let Some(signal) = signal {
            programs.iter().for_each(|program| signals::send(&**program, signal));
        }
        Ok(0)
    }

    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.registry.lock();
        (state.table.entries.len(), state.programs.len())
    }
}

/// Runs a system call of the family `processes`.
pub(super) fn call(program: &Arc<dyn Caller>, call: ProcessCall, arguments: &mut Arguments<'_>) -> Answer {
    let process = program.process();
    let processes = &process.kernel.processes;
    match call {
        ProcessCall::Spawn => spawn::spawn(program, arguments.bytes(0)?, arguments.bytes(2)?),
        ProcessCall::Wait => wait(program, Pid::new(arguments.number(0)?), 0),
        ProcessCall::WaitChange => match arguments.number(1)? {
            flags @ 0..=3 => wait(program, Pid::new(arguments.number(0)?), flags),
            _ => Err(Errno::EINVAL),
        },
        ProcessCall::Setsid => processes.registry.lock().table.set_session(program.pid()).map(answer),
        ProcessCall::Getsid => processes.registry.lock().table.session(pid(arguments, 0)?.unwrap_or(program.pid())).map(answer),
        ProcessCall::Kill => processes.kill(&**program, arguments.int(0), arguments.int(1)),
        ProcessCall::Getppid => Ok(answer(processes.registry.lock().table.parent(program.pid()))),
        ProcessCall::Listen => process.signals.listen(signals::check(arguments.int(0))?, Action::of(arguments.int(1))?),
        ProcessCall::TakeEvent => {
            let operation = arguments.operation(0)?.ok_or(Errno::ENOENT)?;
            let room = arguments.bytes_mut(1)?;
            process.operations.take_into(operation, room).and_then(|len| i64::try_from(len).map_err(|_| Errno::EOVERFLOW))
        }
        ProcessCall::TakeSignal => Ok(i64::from(process.signals.take())),
        ProcessCall::NextSignal => process.signals.next(&process.operations),
        ProcessCall::Getpgid => processes.registry.lock().table.group(pid(arguments, 0)?.unwrap_or(program.pid())).map(answer),
        ProcessCall::Setpgid => {
            let (pid, group) = (pid(arguments, 0)?, pid(arguments, 1)?);
            let about = pid.unwrap_or(program.pid());
            let checked = process.kernel.permissions.check(About::Process(&about.to_string()), operations::process::SETPGID);
            checked.map_err(|denied| process.explain(denied))?;
            processes.registry.lock().table.set_group(program.pid(), pid, group).map(|()| 0)
        }
        ProcessCall::Watch => watch(&**program, arguments.bytes(0)?),
        ProcessCall::MayRun => process.view().executable(&arguments.path(0)?).map(|_head| 0),
        ProcessCall::GetIds => credentials::put(&process.files.credentials(), arguments.bytes_mut(0)?),
        ProcessCall::SetId => {
            let (which, id) = (arguments.int(0), arguments.number(1)?);
            process.files.change_credentials(|own| own.set(which, id)).map(|()| 0)
        }
        ProcessCall::SetGroups => {
            let list = credentials::numbers(arguments.bytes(0)?)?;
            process.files.change_credentials(|own| own.set_groups(&list)).map(|()| 0)
        }
        ProcessCall::Reap => {
            let reaped = processes.registry.lock().table.reap(program.pid(), Pid::new(arguments.number(0)?));
            reaped.map(|status| i64::from(status.number()))
        }
    }
}

/// Returns the pid or the process group in the integer at `index`, or `None` for 0. As a pid, 0
/// means the caller. As a group, 0 means the number of the process that is moved.
fn pid(arguments: &Arguments<'_>, index: usize) -> Result<Option<Pid>, Errno> {
    let number = arguments.number(index)?;
    Ok(if number == 0 { None } else { Some(Pid::new(number)) })
}

fn answer(pid: Pid) -> i64 {
    i64::from(pid.get())
}

/// Starts an operation that completes with the child's wait status. The end of the child also
/// removes the child from the table. `changes` are the other changes that complete the operation.
/// Fails with `ECHILD` if `pid` is not a child of the program.
fn wait(program: &Arc<dyn Caller>, pid: Pid, changes: u8) -> Answer {
    let operations = &program.process().operations;
    let operation = operations.begin()?;
    match program.process().kernel.processes.wait(program.pid(), pid, Waiter { operation, reaps: true, changes }) {
        Ok(Some(status)) => operations.complete(operation, Ok(status), Vec::new()),
        Ok(None) => {}
        Err(error) => {
            operations.cancel(operation);
            return Err(error);
        }
    }
    Ok(operation.answer())
}

/// Sets the list for the next `wait_for_watched`. The list has pairs of u32: a descriptor and a
/// mask, or a child's pid and 0. Fails with `EINVAL` for more than [`MAX_WATCHED`] pairs.
fn watch(program: &dyn Caller, bytes: &[u8]) -> Answer {
    let pairs = bytes.chunks_exact(8);
    if pairs.len() > MAX_WATCHED || !pairs.remainder().is_empty() {
        return Err(Errno::EINVAL);
    }
    let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let target = |pair: &[u8]| match (number(pair), number(&pair[4..])) {
        (pid, 0) => WatchTarget::Child(Pid::new(pid)),
        (fd, mask) => WatchTarget::Descriptor(Fd::new(fd), mask),
    };
    *program.process().watched.lock() = pairs.map(target).collect();
    Ok(0)
}

/// Waits for a descriptor or child in the list of the last `watch`, for at most `timeout`
/// nanoseconds. A negative `timeout` means no time limit.
pub(super) async fn wait_for_watched(program: &Arc<dyn Caller>, timeout: i64) -> Answer {
    let targets = std::mem::take(&mut *program.process().watched.lock());
    wait_for(program, &targets, deadline(timeout)).await
}

/// Waits for the completion of an operation, for at most `timeout` nanoseconds. A negative
/// `timeout` means no time limit.
pub(super) async fn wait_for_operation(program: &Arc<dyn Caller>, operation: i64, timeout: i64) -> Answer {
    let operation = u32::try_from(operation).ok().and_then(OperationId::new).ok_or(Errno::ENOENT)?;
    wait_for_completion(program, operation, deadline(timeout)).await
}

/// Returns the time after `timeout` nanoseconds, or `None` for a negative `timeout`.
fn deadline(timeout: i64) -> Option<u64> {
    let timeout = u64::try_from(timeout).ok()?;
    Some(sys::monotonic_ns().saturating_add(timeout))
}
