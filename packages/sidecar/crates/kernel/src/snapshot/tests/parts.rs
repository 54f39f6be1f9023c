//! Tests of the parts of a snapshot: pipes, sockets, processes, signals, passed descriptors,
//! standard inputs and digests.

use super::*;
use coldframe_abi::system_calls::{CryptographyCall, ProcessCall, SocketCall};

#[test]
fn every_copy_has_the_bytes_in_a_pipe() {
    let world = TestKernel::new(1);
    let (one, other) = world.guests[0].pair();
    world.guests[0].write(one, b"hello").expect("room");
    let saved = world.snapshot();
    assert_eq!(world.guests[0].read(other).expect("bytes"), b"hello");
    for _ in 0..2 {
        let copy = TestKernel::restore(&saved);
        assert_eq!(copy.guests[0].read(other).expect("bytes"), b"hello");
        copy.guests[0].write(other, b"back").expect("room");
        assert_eq!(copy.guests[0].read(one).expect("bytes"), b"back");
    }
    assert_eq!(world.guests[0].read(one), Err(Errno::EAGAIN), "copies share no state");
}

#[test]
fn a_wait_for_a_socket_completes_in_the_copy() {
    let world = TestKernel::new(1);
    let (one, other) = world.guests[0].pair();
    let operation = world.guests[0].ok(SocketCall::Arm, &[other.into(), READ.into()]);
    let copy = world.copy();
    assert_eq!(copy.guests[0].events(), []);
    copy.guests[0].write(one, b"x").expect("room");
    let completions: Vec<_> = copy.guests[0].events().iter().map(|event| (event.operation.answer(), event.result)).collect();
    assert_eq!(completions, [(operation, 1)]);
    assert_eq!(world.guests[0].events(), []);
}

/// Returns the operation and the result of each event that the program has not taken.
fn completions(guest: &Guest) -> Vec<(i64, i32)> {
    guest.events().iter().map(|event| (event.operation.answer(), event.result)).collect()
}

/// Makes a socket that listens at a port of the loopback. Returns the descriptor.
fn listen(guest: &Guest, port: i64, backlog: i64) -> i64 {
    let fd = guest.ok(SocketCall::Socket, &[2.into(), 1.into()]);
    guest.ok(SocketCall::Bind, &[fd.into(), "127.0.0.1".into(), port.into()]);
    guest.ok(SocketCall::Listen, &[fd.into(), backlog.into()]);
    fd
}

fn connect(guest: &Guest, port: i64) -> (i64, Result<i64, Errno>) {
    let fd = guest.ok(SocketCall::Socket, &[2.into(), 1.into()]);
    (fd, guest.sys(SocketCall::Connect, &[fd.into(), "127.0.0.1".into(), port.into()]).0)
}

#[test]
fn listeners_queues_and_connections_continue() {
    let world = TestKernel::new(2);
    let server = listen(&world.guests[0], 80, 0);
    let (first, connected) = connect(&world.guests[1], 80);
    assert_eq!(connected, Ok(0));
    let (second, waiting) = connect(&world.guests[1], 80);
    assert_eq!(waiting, Err(Errno::EINPROGRESS));
    world.guests[1].write(first, b"early").expect("room");
    let operation = world.guests[1].ok(SocketCall::Arm, &[second.into(), 4.into()]);
    let copy = world.copy();
    let [host, client] = &copy.guests[..] else { panic!("two programs") };
    let accepted = host.ok(SocketCall::Accept, &[server.into()]);
    assert_eq!(host.read(accepted).expect("bytes"), b"early");
    assert_eq!(completions(client), [(operation, 4)], "the queue has space for the second client");
    let accepted = host.ok(SocketCall::Accept, &[server.into()]);
    client.write(second, b"late").expect("room");
    assert_eq!(host.read(accepted).expect("bytes"), b"late");
    assert_eq!(connect(client, 81).1, Err(Errno::ECONNREFUSED));
    assert_eq!(connect(client, 80).1, Ok(0));
}

#[test]
fn an_ended_child_can_be_reaped_and_a_live_child_awaited() {
    let mut world = TestKernel::new(1);
    let children = [world.fork(0), world.fork(0)].map(|at| world.guests[at].program.pid());
    let operation = world.guests[0].ok(ProcessCall::Wait, &[i64::from(children[1].get()).into()]);
    let ended = world.guests.remove(1);
    ended.program.process().close();
    world.kernel.processes.exited(children[0], crate::Status::Code(3), false);
    let copy = world.copy();
    assert_eq!(copy.guests[0].sys(ProcessCall::Reap, &[i64::from(children[0].get()).into()]).0, Ok(0x300));
    copy.kernel.processes.exited(children[1], crate::Status::Code(4), false);
    assert_eq!(completions(&copy.guests[0]), [(operation, 0x400)]);
    assert_eq!(copy.kernel.counts().0, 1);
    assert_eq!(copy.fork_pid(0), world.fork_pid(0), "numbers continue");
}

#[test]
fn a_program_that_ended_during_the_snapshot_was_killed_in_the_copy() {
    let mut world = TestKernel::new(1);
    let (one, other) = world.guests[0].pair();
    let child = world.fork(0);
    world.guests[0].ok(SocketCall::Close, &[other.into(), 0.into()]);
    let pid = i64::from(world.guests[child].program.pid().get());
    let operation = world.guests[0].ok(ProcessCall::Wait, &[pid.into()]);
    let end = world.guests[0].ok(SocketCall::Arm, &[one.into(), READ.into()]);
    // The snapshot is taken without the child, so the snapshot does not contain the child's
    // descriptors.
    let saved = world.kernel.snapshot(&[world.guests[0].program.process()]);
    let copy = TestKernel::restore(&saved);
    let mut completed = completions(&copy.guests[0]);
    completed.sort_unstable();
    assert_eq!(completed, [(operation, 9), (end, 1 | 16)]);
    assert_eq!(copy.guests[0].read(one).expect("the end"), b"");
    assert_eq!(copy.kernel.counts(), (1, 1, 1));
}

#[test]
fn a_copy_delivers_signals_to_waiting_operations() {
    let world = TestKernel::new(1);
    world.guests[0].ok(ProcessCall::Listen, &[15.into(), 1.into()]);
    let pid = world.guests[0].program.pid();
    let copy = world.copy();
    copy.kernel.processes.signal(pid, 15).expect("the process lives");
    let operation = copy.guests[0].ok(ProcessCall::NextSignal, &[]);
    assert_eq!(completions(&copy.guests[0]), [(operation, 15)]);
    let armed = copy.guests[0].ok(ProcessCall::NextSignal, &[]);
    let again = copy.copy();
    assert_eq!(completions(&again.guests[0]), []);
    again.kernel.processes.signal(pid, 15).expect("the process lives");
    assert_eq!(completions(&again.guests[0]), [(armed, 15)]);
}

#[test]
fn passed_descriptors_are_shared_with_the_processes_that_hold_them() {
    let world = TestKernel::new(1);
    let guest = &world.guests[0];
    let ((channel, end), (sent, kept)) = (guest.pair(), guest.pair());
    guest.ok(SocketCall::Offer, &[channel.into(), sent.into()]);
    guest.ok(SocketCall::Close, &[sent.into(), 0.into()]);
    let copy = world.copy();
    let got = copy.guests[0].ok(SocketCall::Collect, &[end.into()]);
    copy.guests[0].write(kept, b"through").expect("room");
    assert_eq!(copy.guests[0].read(got).expect("bytes"), b"through");
    copy.guests[0].ok(SocketCall::Close, &[got.into(), 0.into()]);
    assert_eq!(copy.guests[0].read(kept).expect("the end"), b"", "no other descriptor holds the socket");
    // In this restored kernel no program receives the passed descriptor. Closing the channel closes
    // the descriptors in the queue.
    let other = world.copy();
    other.guests[0].ok(SocketCall::Close, &[end.into(), 0.into()]);
    assert_eq!(other.guests[0].read(kept).expect("the end"), b"");
}

#[test]
fn a_standard_input_stays_open_and_keeps_its_unread_bytes() {
    let world = TestKernel::within(1, Limits { pipe_bytes: 4_096, ..Limits::default() });
    let process = world.guests[0].program.process();
    process.open_feed(&[7; 10_000]).expect("room");
    let copy = TestKernel::try_restore(&world.snapshot(), Limits { pipe_bytes: 4_096, ..Limits::default() }).expect("room");
    let read_all = |world: &TestKernel| {
        let mut got = Vec::new();
        while let Ok(piece) = world.guests[0].read(0) {
            if piece.is_empty() {
                return (got, true);
            }
            got.extend(piece);
        }
        (got, false)
    };
    assert_eq!(read_all(&copy), (vec![7; 10_000], false));
    copy.guests[0].program.process().feed(b"more", true).expect("an open standard input");
    assert_eq!(read_all(&copy), (b"more".to_vec(), true));
    assert_eq!(copy.guests[0].program.process().feed(b"late", false), Err(Errno::EPIPE));
    copy.guests[0].program.process().close();
    assert_eq!(copy.guests[0].program.process().feed(b"later", true), Err(Errno::EPIPE), "the process has ended");
    assert_eq!(read_all(&world), (vec![7; 10_000], false), "the original has its own standard input");
}

#[test]
fn cancels_orphaned_operations_and_delivers_completed_ones_once() {
    let world = TestKernel::new(1);
    let operations = &world.guests[0].program.process().operations;
    let (done, orphan) = (operations.begin().expect("room"), operations.begin().expect("room"));
    operations.complete(done, Ok(5), b"bytes".to_vec());
    let copy = world.copy();
    let events = copy.guests[0].events();
    assert_eq!(events[0], Event { operation: done, result: 5, bytes: b"bytes".to_vec() });
    assert_eq!(events[1], Event { operation: orphan, result: -125, bytes: vec![] });
    assert_eq!(events.len(), 2);
    assert!(!copy.guests[0].program.process().operations.are_under_way());
}

#[test]
fn digests_continue_and_idle_jobs_are_kept() {
    let world = TestKernel::new(1);
    let guest = &world.guests[0];
    let hash = guest.ok(CryptographyCall::HashOpen, &[4.into()]);
    guest.ok(CryptographyCall::Update, &[hash.into(), "abc".into()]);
    let job = guest.ok(CryptographyCall::JobBegin, &[6.into(), "".into()]);
    let copy = world.copy();
    for world in [&world, &copy] {
        let (length, digest) = world.guests[0].sys(CryptographyCall::Finish, &[hash.into(), Arg::Buffer(32)]);
        assert_eq!((length, &digest[..4]), (Ok(32), &[0xba, 0x78, 0x16, 0xbf][..]));
    }
    assert_eq!(copy.guests[0].sys(CryptographyCall::JobAdd, &[job.into(), "more".into()]).0, Ok(0));
    assert_eq!(copy.guests[0].ok(CryptographyCall::HashOpen, &[4.into()]), hash + 1);
}

#[test]
fn refuses_limits_that_the_snapshot_exceeds() {
    let world = TestKernel::new(2);
    let (one, _) = world.guests[0].pair();
    world.guests[0].write(one, &[1; 5_000]).expect("room");
    world.guests[0].ok(SocketCall::Socket, &[2.into(), 1.into()]);
    world.guests[0].ok(CryptographyCall::HashOpen, &[4.into()]);
    let saved = world.snapshot();
    let refusal = |limits: Limits| match TestKernel::try_restore(&saved, limits) {
        Err(coldframe_error::Error::ResourceExhausted { resource, limit }) => (resource, limit),
        Err(other) => panic!("{other}"),
        Ok(_) => ("", 0),
    };
    let limits = Limits::default();
    assert_eq!(refusal(limits), ("", 0));
    assert_eq!(refusal(Limits { processes: 1, ..limits }), ("processes in the runtime", 1));
    assert_eq!(refusal(Limits { pipes: 0, ..limits }), ("pipes", 0));
    assert_eq!(refusal(Limits { sockets: 0, ..limits }), ("sockets", 0));
    assert_eq!(refusal(Limits { pipe_bytes: 4_096, ..limits }), ("bytes in a pipe", 4_096));
    assert_eq!(refusal(Limits { kernel_bytes: 2_047, ..limits }), ("kernel bytes", 2_047));
}
