//! Tests of terminals: the calls of guests, job control, the embedder's end, and snapshots.

use super::*;
use crate::WindowSize;
use coldframe_abi::system_calls::{FileCall, ProcessCall, TerminalCall};
use coldframe_error::Error;

const SIZE: WindowSize = WindowSize { rows: 24, columns: 80 };
const SIGTTIN: i64 = 21;
const SIGTTOU: i64 = 22;

impl Guest {
    fn number(&self, call: impl Into<u32>, arguments: &[Arg<'_>]) -> Result<i64, Errno> {
        self.sys(call, arguments).0
    }

    fn terminal(&self, call: TerminalCall, arguments: &[Arg<'_>]) -> Result<i64, Errno> {
        self.number(call, arguments)
    }

    fn text(&self, fd: i64) -> Result<String, Errno> {
        let (answer, mut bytes) = self.sys(SocketCall::Read, &[fd.into(), Arg::Buffer(100)]);
        bytes.truncate(answer? as usize);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn put(&self, fd: i64, text: &str) -> Result<i64, Errno> {
        self.write(fd, text.as_bytes())
    }

    fn open(&self, path: &str) -> Result<i64, Errno> {
        self.number(FileCall::Open, &[path.into(), 2.into(), 0.into()])
    }

    /// Makes a terminal. Returns the master and a slave.
    fn open_pair(&self) -> (i64, i64) {
        let master = self.terminal(TerminalCall::Open, &[24.into(), 80.into()]).expect("room");
        let number = self.terminal(TerminalCall::Number, &[master.into()]).expect("a terminal");
        (master, self.open(&format!("/dev/pts/{number}")).expect("a slave"))
    }

    fn is_ending(&self) -> bool {
        self.program.is_ending()
    }

    fn is_stopped(&self) -> bool {
        self.program.process().is_stopped()
    }
}

#[test]
fn both_ends_transfer_bytes_through_the_line_discipline() {
    let world = TestKernel::new(1);
    let guest = &world.guests[0];
    let (master, slave) = guest.open_pair();
    assert_eq!(guest.number(FileCall::Kind, &[slave.into()]), Ok(1));
    assert_eq!((guest.text(slave), guest.text(master)), (Err(Errno::EAGAIN), Err(Errno::EAGAIN)));
    assert_eq!(guest.put(master, "ab\x7fc\r"), Ok(5));
    assert_eq!(guest.text(slave), Ok("ac\n".to_owned()));
    assert_eq!(guest.put(slave, "x\n"), Ok(2));
    assert_eq!(guest.text(master), Ok("ab\x08 \x08c\r\nx\r\n".to_owned()));
    let again = guest.open("/dev/pts/0").expect("a second slave");
    guest.number(SocketCall::Close, &[slave.into(), 0.into()]).expect("closed");
    assert_eq!(guest.put(again, "y"), Ok(1));
    guest.number(SocketCall::Close, &[again.into(), 0.into()]).expect("closed");
    assert_eq!((guest.text(master), guest.text(master)), (Ok("y".to_owned()), Err(Errno::EIO)));
    assert_eq!(guest.put(master, "dropped"), Ok(7));
    guest.number(SocketCall::Close, &[master.into(), 0.into()]).expect("closed");
    assert_eq!(guest.open("/dev/pts/0"), Err(Errno::ENOENT));
    assert_eq!(world.kernel.counts().2, 0);
}

#[test]
fn a_full_terminal_refuses_writes_until_the_master_reads() {
    let world = TestKernel::new(1);
    let guest = &world.guests[0];
    let (master, slave) = guest.open_pair();
    let text = "x".repeat(100);
    let mut written = 0;
    while let Ok(count) = guest.put(slave, &text) {
        written += count;
        assert!(written < 1 << 20);
    }
    assert_eq!(guest.put(slave, &text), Err(Errno::EAGAIN));
    assert_eq!(guest.text(master).map(|text| text.len()), Ok(100));
    assert_eq!(guest.put(slave, &text), Ok(100));
    assert!(world.kernel.held_bytes() >= written as u64);
}

#[test]
fn calls_refuse_descriptors_and_arguments_that_fit_no_terminal() {
    let world = TestKernel::within(1, Limits { terminals: 1, ..Limits::default() });
    let guest = &world.guests[0];
    for call in 0x701_u32..=0x70a {
        assert_eq!(guest.number(call, &[0.into(), Arg::Int(0), Arg::Int(0)]), Err(Errno::ENOTTY), "{call:#x}");
        assert_eq!(guest.number(call, &[99.into()]), Err(Errno::EBADF), "{call:#x}");
    }
    let (master, slave) = guest.open_pair();
    assert_eq!(guest.terminal(TerminalCall::Open, &[1.into(), 1.into()]), Err(Errno::ENOSPC));
    assert_eq!(guest.open("/dev/ptmx"), Err(Errno::ENOSPC));
    assert_eq!(guest.terminal(TerminalCall::Open, &[(-1).into(), 1.into()]), Err(Errno::EINVAL));
    assert_eq!(guest.terminal(TerminalCall::GetAttributes, &[slave.into(), Arg::Buffer(35)]), Err(Errno::EINVAL));
    assert_eq!(guest.terminal(TerminalCall::SetAttributes, &[slave.into(), 0.into(), Arg::Bytes(&[0; 35])]), Err(Errno::EINVAL));
    assert_eq!(guest.terminal(TerminalCall::SetAttributes, &[slave.into(), 3.into(), Arg::Bytes(&[0; 36])]), Err(Errno::EINVAL));
    assert_eq!(guest.terminal(TerminalCall::SetSize, &[slave.into(), 65_536.into(), 1.into()]), Err(Errno::EINVAL));
    assert_eq!(guest.terminal(TerminalCall::Flush, &[slave.into(), 3.into()]), Err(Errno::EINVAL));
    assert_eq!(guest.terminal(TerminalCall::GetForeground, &[master.into()]), Err(Errno::ENOTTY), "no session");
    assert_eq!(guest.open("/dev/tty"), Err(Errno::ENXIO));
}

/// Makes a root program with a terminal of the embedder, and two children in groups of their own.
fn session() -> TestKernel {
    let mut world = TestKernel::new(0);
    let pid = world.kernel.processes.enter_root().expect("room");
    let process = Process::new(world.kernel.clone(), pid, "/workspace");
    process.open_terminal(SIZE).expect("a terminal");
    world.guests.push(guest(process));
    for _ in 0..2 {
        let child = world.fork(0);
        assert_eq!(world.guests[child].number(ProcessCall::Setpgid, &[0.into(), 0.into()]), Ok(0));
    }
    world
}

fn pid_of(world: &TestKernel, guest: usize) -> i64 {
    i64::from(world.guests[guest].program.pid().get())
}

fn type_keys(world: &TestKernel, keys: &str) {
    world.guests[0].program.process().feed(keys.as_bytes(), false).expect("room");
}

#[test]
fn signals_of_the_keyboard_reach_the_foreground_group_only() {
    let world = session();
    let [leader, job, other] = [0, 1, 2].map(|at| &world.guests[at]);
    assert_eq!(leader.terminal(TerminalCall::GetForeground, &[0.into()]), Ok(pid_of(&world, 0)));
    assert_eq!(leader.terminal(TerminalCall::GetSession, &[0.into()]), Ok(pid_of(&world, 0)));
    assert_eq!(leader.terminal(TerminalCall::SetForeground, &[0.into(), 999.into()]), Err(Errno::EPERM));
    assert_eq!(leader.terminal(TerminalCall::SetForeground, &[0.into(), pid_of(&world, 1).into()]), Ok(0));
    type_keys(&world, "\x1a");
    assert!(job.is_stopped() && !other.is_stopped() && !leader.is_stopped());
    let change = leader.ok(ProcessCall::WaitChange, &[pid_of(&world, 1).into(), 3.into()]);
    let events = leader.events();
    assert_eq!((events[0].operation.answer(), events[0].result), (change, 0x147f));
    assert_eq!(leader.number(ProcessCall::Kill, &[(-pid_of(&world, 1)).into(), 18.into()]), Ok(0));
    assert!(!job.is_stopped());
    type_keys(&world, "\x03");
    assert!(job.is_ending() && !other.is_ending() && !leader.is_ending());
}

#[test]
fn a_background_process_is_stopped_by_a_read_and_by_a_change() {
    let world = session();
    let (leader, job) = (&world.guests[0], &world.guests[1]);
    assert_eq!(job.text(0), Err(Errno::EAGAIN));
    assert!(job.is_stopped());
    leader.number(ProcessCall::Kill, &[pid_of(&world, 1).into(), 18.into()]).expect("sent");
    let own = pid_of(&world, 1);
    assert_eq!(job.terminal(TerminalCall::SetForeground, &[0.into(), own.into()]), Err(Errno::EINTR));
    assert!(job.is_stopped());
    leader.number(ProcessCall::Kill, &[own.into(), 18.into()]).expect("sent");
    for signal in [SIGTTIN, SIGTTOU] {
        job.number(ProcessCall::Listen, &[signal.into(), 2.into()]).expect("a signal");
    }
    assert_eq!(job.text(0), Err(Errno::EIO));
    assert_eq!(job.put(0, "shown"), Ok(5));
    assert_eq!(job.terminal(TerminalCall::SetForeground, &[0.into(), own.into()]), Ok(0));
    assert!(!job.is_stopped());
}

#[test]
fn the_end_of_the_leader_hangs_up() {
    let world = session();
    let (leader, job) = (&world.guests[0], &world.guests[1]);
    leader.terminal(TerminalCall::SetForeground, &[0.into(), pid_of(&world, 1).into()]).expect("set");
    let rest = leader.program.process();
    job.put(0, "last").expect("written");
    rest.take_terminal_output();
    rest.close();
    assert!(job.is_ending(), "SIGHUP");
    assert!(!leader.is_ending(), "the hang-up does not change the exit code of the leader");
    assert_eq!((job.text(0), job.put(0, "x")), (Ok(String::new()), Err(Errno::EIO)));
    assert_eq!(job.terminal(TerminalCall::GetSize, &[0.into(), Arg::Buffer(8)]), Err(Errno::EIO));
    for guest in &world.guests[1..] {
        guest.program.process().close();
    }
    assert_eq!(world.kernel.counts().2, 0);
    assert_eq!(world.kernel.sockets.terminals_used_and_highest(), (0, 1));
}

#[test]
fn a_snapshot_has_terminals_with_their_input_sessions_and_stops() {
    let world = session();
    let (leader, job) = (&world.guests[0], &world.guests[1]);
    leader.program.process().resize_terminal(WindowSize { rows: 5, columns: 7 }).expect("a terminal");
    assert_eq!(job.text(0), Err(Errno::EAGAIN), "stopped by SIGTTIN");
    type_keys(&world, "one\rtw");
    let copy = world.copy();
    type_keys(&copy, "o\r");
    let [restored, stopped] = [0, 1].map(|at| &copy.guests[at]);
    assert_eq!((restored.text(0), restored.text(0)), (Ok("one\n".to_owned()), Ok("two\n".to_owned())));
    assert_eq!(leader.text(0), Ok("one\n".to_owned()), "the original keeps its input");
    assert_eq!(leader.text(0), Err(Errno::EAGAIN));
    assert!(stopped.is_stopped());
    let (_, size) = restored.sys(TerminalCall::GetSize, &[0.into(), Arg::Buffer(8)]);
    assert_eq!(size, [5, 0, 7, 0, 0, 0, 0, 0]);
    assert_eq!(restored.terminal(TerminalCall::GetForeground, &[0.into()]), Ok(pid_of(&copy, 0)));
    assert!(restored.open("/dev/tty").is_ok());
    let refused = TestKernel::try_restore(&world.snapshot(), Limits { terminals: 0, ..Limits::default() });
    assert!(matches!(refused.err(), Some(Error::ResourceExhausted { resource: "terminals", limit: 0 })));
}

#[test]
fn damaged_bytes_of_a_snapshot_with_terminals_are_refused_or_harmless() {
    let world = session();
    world.guests[0].open_pair();
    type_keys(&world, "line\rpart");
    let bytes = world.snapshot().encode().expect("an encoded snapshot");
    for at in 0..bytes.len() {
        for flip in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            let Ok(read) = KernelSnapshot::decode(&damaged) else { continue };
            let Ok(copy) = TestKernel::try_restore(&read, Limits::default()) else { continue };
            for guest in &copy.guests {
                let _ = (guest.text(0), guest.put(0, "x"), guest.open("/dev/tty"));
                guest.program.process().close();
            }
        }
    }
}
