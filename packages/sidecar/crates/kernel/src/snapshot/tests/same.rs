//! Property test: after any sequence of calls, every later call has equal results and events in the
//! original runtime and in a restored runtime.

use super::*;
use crate::Status;
use coldframe_abi::system_calls::{CryptographyCall, FileCall, ProcessCall, SocketCall};
use proptest::prelude::*;

/// One step: the kind of step, the program, and two small numbers.
pub(super) type Step = (u8, u8, u8, u8);

/// The result, the written bytes and the events of a step.
type Observed = (Result<i64, Errno>, Vec<u8>, Vec<Event>);

const KINDS: u8 = 41;

impl TestKernel {
    /// Runs a step. Returns everything that programs can observe.
    fn step(&mut self, (kind, who, a, b): Step) -> Observed {
        if self.guests.is_empty() {
            return (Ok(0), Vec::new(), Vec::new());
        }
        let at = usize::from(who) % self.guests.len();
        let (answer, bytes) = match kind % KINDS {
            0 if self.guests.len() < 6 => (Ok(self.fork(at) as i64), Vec::new()),
            1 => (Ok(self.exit(at, a)), Vec::new()),
            2 => {
                let fed = self.guests[at].program.process().feed(&vec![a; usize::from(b) * 8], a == 7);
                (fed.map(|()| 0), Vec::new())
            }
            3 => {
                let pid = self.guests[at].program.pid();
                (self.kernel.processes.signal(pid, [10, 12, 17][usize::from(a) % 3]).map(|()| 0), Vec::new())
            }
            kind => self.guests[at].call(kind, a, b),
        };
        // The test has no scheduler, so the test itself ends the programs that must end.
        while let Some(ending) = self.guests.iter().position(|guest| guest.program.is_ending()) {
            self.end(ending, Status::Signal(9));
        }
        let events = self.guests.iter().flat_map(Guest::events).collect();
        (answer, bytes, events)
    }

    pub(super) fn steps(&mut self, steps: Vec<Step>) {
        for step in steps {
            let _seen = self.step(step);
        }
    }

    fn exit(&mut self, at: usize, code: u8) -> i64 {
        if self.guests.len() < 2 {
            return -1;
        }
        self.end(at, Status::Code(code))
    }

    fn end(&mut self, at: usize, status: Status) -> i64 {
        let ended = self.guests.remove(at).program;
        ended.process().close();
        self.kernel.processes.exited(ended.pid(), status, false);
        i64::from(ended.pid().get())
    }
}

impl Guest {
    /// Makes a system call of the given kind as the guest.
    fn call(&self, kind: u8, a: u8, b: u8) -> (Result<i64, Errno>, Vec<u8>) {
        // `pick` mostly returns an open descriptor, sometimes an invalid number.
        let open = self.program.process().files.descriptors.lock().open();
        let pick = |at: u8| match usize::from(at) % (open.len() + 1) {
            at if at < open.len() => open[at].answer(),
            _ => 99,
        };
        let (fd, other) = (pick(a), pick(b));
        let (port, data) = (80 + i64::from(b % 3), vec![b; usize::from(b) * 16]);
        let (here, file) = ("127.0.0.1", format!("/tmp/{}", b % 3));
        // New pids start at 2, and all other new numbers start at 1. Each new process, operation
        // and context receives the next number.
        let (pid, number) = (2 + i64::from(a % 8), 1 + i64::from(b % 8));
        match kind {
            4 => self.sys(SocketCall::Pair, &[Arg::Buffer(8)]),
            5 => self.sys(SocketCall::Socket, &[[1, 2, 10][usize::from(a) % 3].into(), (1 + i64::from(b % 2)).into()]),
            6 => {
                let made = self.ok_or_99(SocketCall::Socket, &[2.into(), (1 + i64::from(a % 2)).into()]);
                self.sys(SocketCall::Bind, &[made.into(), here.into(), port.into(), i64::from(b % 4).into()])
            }
            7 => {
                let made = self.ok_or_99(SocketCall::Socket, &[1.into(), 1.into()]);
                self.sys(SocketCall::Bind, &[made.into(), file.as_str().into(), 0.into()])
            }
            8 => {
                // The socket that was bound last usually has the highest descriptor.
                let listener = open.last().map_or(99, |fd| fd.answer());
                self.sys(SocketCall::Listen, &[listener.into(), i64::from(b % 3).into()])
            }
            9 => {
                let made = self.ok_or_99(SocketCall::Socket, &[2.into(), 1.into()]);
                self.sys(SocketCall::Connect, &[made.into(), here.into(), port.into()])
            }
            10 => {
                let made = self.ok_or_99(SocketCall::Socket, &[1.into(), 1.into()]);
                self.sys(SocketCall::Connect, &[made.into(), file.as_str().into(), 0.into()])
            }
            11 => {
                let accepted =
                    open.iter().map(|fd| self.sys(SocketCall::Accept, &[fd.answer().into()])).find(|(answer, _)| answer.is_ok());
                accepted.unwrap_or((Err(Errno::EAGAIN), Vec::new()))
            }
            12 | 13 => self.sys(SocketCall::Read, &[fd.into(), Arg::Buffer(usize::from(b) * 24)]),
            14 | 15 => self.sys(SocketCall::Write, &[fd.into(), data[..].into()]),
            16 => self.sys(SocketCall::Shutdown, &[fd.into()]),
            17 => self.sys(SocketCall::Close, &[fd.into(), i64::from(b % 2).into()]),
            18 => self.sys(SocketCall::Name, &[fd.into(), i64::from(b % 2).into(), Arg::Buffer(128)]),
            19 | 20 => self.sys(SocketCall::Arm, &[fd.into(), [1, 4, 5][usize::from(b) % 3].into()]),
            // Only waits for sockets are cancelled. Cancelling another operation would have
            // different effects in a restored runtime.
            21 if !self.waits_for_socket(number) => (Ok(0), Vec::new()),
            21 => self.sys(SocketCall::Disarm, &[fd.into(), number.into()]),
            22 => {
                let sender = self.ok_or_99(SocketCall::Socket, &[2.into(), 2.into()]);
                self.sys(SocketCall::Send, &[sender.into(), data[..].into(), here.into(), port.into()])
            }
            23 => {
                let got = open
                    .iter()
                    .map(|fd| self.sys(SocketCall::Receive, &[fd.answer().into(), Arg::Buffer(4_096), Arg::Bytes(&[0; 64])]));
                got.into_iter().find(|(answer, _)| answer.is_ok()).unwrap_or((Err(Errno::EAGAIN), Vec::new()))
            }
            24 => self.sys(SocketCall::Error, &[fd.into()]),
            25 => self.sys(SocketCall::Offer, &[fd.into(), other.into()]),
            26 => {
                let got =
                    open.iter().map(|fd| self.sys(SocketCall::Collect, &[fd.answer().into()])).find(|(answer, _)| answer.is_ok());
                got.unwrap_or((Err(Errno::EAGAIN), Vec::new()))
            }
            27 => self.sys(ProcessCall::Listen, &[[10, 12][usize::from(a) % 2].into(), i64::from(b % 2).into()]),
            28 => self.sys(ProcessCall::NextSignal, &[]),
            29 => self.sys(ProcessCall::Wait, &[pid.into()]),
            30 => self.sys(ProcessCall::Reap, &[pid.into()]),
            31 => self.sys(ProcessCall::Setpgid, &[pid.into(), (1 + number).into()]),
            // The step uses only algorithms whose state can be stored in a file.
            32 => self.sys(CryptographyCall::HashOpen, &[(1 + i64::from(a % 12)).into()]),
            33 => self.sys(CryptographyCall::Update, &[number.into(), data[..].into()]),
            34 => self.sys(CryptographyCall::Finish, &[number.into(), Arg::Buffer([16, 20, 28, 32, 48, 64][usize::from(a) % 6])]),
            35 => self.sys(FileCall::Open, &[file.as_str().into(), 0o102.into(), 0o666.into()]),
            36 => self.sys(FileCall::Write, &[fd.into(), data[..].into(), (-1).into()]),
            37 => self.sys(FileCall::Read, &[fd.into(), Arg::Buffer(100), (-1).into()]),
            38 => self.sys(FileCall::Close, &[fd.into()]),
            39 => self.sys(FileCall::Watch, &["/tmp".into(), 0.into()]),
            _ => self.sys(FileCall::Unlink, &[file.as_str().into()]),
        }
    }

    fn waits_for_socket(&self, operation: i64) -> bool {
        let waiters = self.program.process().kernel.sockets.waiters();
        waiters.iter().any(|(pid, own)| (*pid, own.answer()) == (self.program.pid(), operation))
    }

    fn ok_or_99(&self, number: impl Into<u32>, arguments: &[Arg<'_>]) -> i64 {
        self.sys(number, arguments).0.unwrap_or(99)
    }
}

pub(super) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 0..most)
}

/// Makes two programs, each with a standard input that the embedder writes to.
pub(super) fn beginning() -> TestKernel {
    let world = TestKernel::within(2, Limits { pipe_bytes: 4_096, socket_bytes: 4_096, ..Limits::default() });
    for guest in &world.guests {
        guest.program.process().open_feed(b"first").expect("room");
    }
    world
}

impl TestKernel {
    fn copy_within(&self) -> Self {
        Self::try_restore(&self.saved(), self.kernel.usage.limits).expect("all of it fits")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_behaves_like_the_original(before in steps(120), between in steps(40), after in steps(120)) {
        let mut world = beginning();
        world.steps(before);
        let mut copy = world.copy_within();
        for step in between {
            prop_assert_eq!(world.step(step), copy.step(step), "{:?}", step);
        }
        let mut second = copy.copy_within();
        for step in after {
            let seen = world.step(step);
            prop_assert_eq!(&seen, &copy.step(step), "{:?}", step);
            prop_assert_eq!(&seen, &second.step(step), "{:?} in the copy's copy", step);
        }
        prop_assert_eq!(world.kernel.counts(), second.kernel.counts());
        prop_assert_eq!(world.kernel.sockets.used_and_highest().1, second.kernel.sockets.used_and_highest().1);
    }

    #[test]
    fn releases_all_kernel_memory_when_all_programs_have_ended(before in steps(120)) {
        let mut world = beginning();
        world.steps(before);
        let mut copy = world.copy_within();
        while copy.guests.len() > 1 {
            copy.exit(0, 0);
        }
        copy.guests.iter().for_each(|guest| guest.program.process().close());
        let kernel = copy.kernel.clone();
        drop(copy);
        prop_assert_eq!(kernel.usage.kernel_bytes(), 0, "all charges are returned");
    }
}
