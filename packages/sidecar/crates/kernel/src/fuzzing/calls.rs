//! The target `kernel-calls`: sequences of system calls, forks, ends, signals and restores.
//!
//! The table of system calls has the form of each argument. An integer is mostly a value that its
//! name suggests, such as an open descriptor, and sometimes any integer. A call can also receive
//! eight arbitrary integers.

use super::world::World;
use crate::Status;
use crate::outside::{FlowId, LookUpAnswer, LookUpId, OutsideEvent, OutsideFailure, OutsideFailureKind};
use crate::snapshot::KernelSnapshot;
use arbitrary::{Result, Unstructured};
use coldframe_abi::system_calls::{ArgumentKind, CryptographyCall, Declaration, FAMILIES};
use coldframe_error::Errno;
use std::sync::LazyLock;

const MOST_STEPS: usize = 200;
/// The lowest result of a call: below the error numbers are the faults of cryptography.
const LOWEST: i64 = -4_196;
const MOST_COPIES: usize = 3;
/// The size of the memory behind the arguments of a call.
const MEMORY: usize = 1 << 17;

const PATHS: &[&[u8]] = &[
    b"a",
    b"b",
    b"a/b",
    b"a/../b",
    b".",
    b"..",
    b"/",
    b"/tmp",
    b"/tmp/a",
    b"/tmp/s",
    b"/tmp/a/",
    b"./a/./",
    b"/workspace/a/c",
    b"/proc/self",
    b"/proc/self/fd/0",
    b"/proc/1/stat",
    b"/proc/self/environ",
    b"/dev/null",
    b"/dev/stdin",
    b"/etc/passwd",
    b"/bin/sh",
    b"/home",
    b"/nonexistent/x",
];
const ADDRESSES: &[&[u8]] =
    &[b"127.0.0.1", b"::1", b"0.0.0.0", b"93.184.216.34", b"2001:db8::1", b"::ffff:10.0.0.1", b"/tmp/s", b"\0a"];
const NAMES: &[&[u8]] = &[b"localhost", b"example.com", b"a.example.com.", b"host.invalid"];
const FLAGS: &[i64] = &[0, 1, 2, 0o102, 0o302, 0o1102, 0o2101, 0o200_000, 0o400_000, 0o100_000, 0o10_000_000, 0o4102];
const SIZES: &[i64] = &[0, 1, -1, 3, 64, 4_095, 4_096, 65_536, 70_000, 131_071, 1 << 20, 1 << 40, i64::MAX, i64::MIN, -70_000];
const MODES: &[i64] = &[0, 0o777, 0o644, 0o600, 0o1777, 0o4755, 0o7777, -1];
const BUFFERS: &[usize] = &[0, 1, 8, 16, 64, 144, 512, 4_096, 66_000];

/// Returns the calls that the target makes. A job runs on other threads, so its end is no part of a
/// repeatable input. The target `crypto` tests the computations.
fn declarations() -> &'static [&'static Declaration] {
    static CALLS: LazyLock<Vec<&Declaration>> = LazyLock::new(|| {
        let all = FAMILIES.iter().flat_map(|family| family.declarations());
        all.filter(|call| !call.blocks && call.number != CryptographyCall::JobStart.number()).collect()
    });
    &CALLS
}

/// The arguments of a call: the integers, and the memory that they refer to.
struct Row {
    integers: [i64; 8],
    memory: Vec<u8>,
}

impl Row {
    fn of(world: &World, at: usize, call: &Declaration, input: &mut Unstructured<'_>) -> Result<Self> {
        let mut row = Self { integers: [0; 8], memory: Vec::with_capacity(256) };
        let mut place = 0;
        for argument in call.arguments {
            if argument.kind == ArgumentKind::Integer {
                row.integers[place] = integer(world, at, argument.name, input)?;
                place += 1;
                continue;
            }
            let start = row.memory.len();
            match argument.kind {
                ArgumentKind::Path => row.path(input)?,
                ArgumentKind::Buffer => row.memory.resize(start + input.choose(BUFFERS)?, 0xaa),
                _ if argument.name == "address" && input.ratio(7, 8)? => row.memory.extend_from_slice(input.choose(ADDRESSES)?),
                _ if argument.name == "name" && input.ratio(7, 8)? => row.memory.extend_from_slice(input.choose(NAMES)?),
                _ => row.bytes(input)?,
            }
            row.integers[place] = start as i64;
            row.integers[place + 1] = (row.memory.len() - start) as i64;
            place += 2;
        }
        if input.ratio(1, 48)? {
            row.integers = input.arbitrary()?;
        }
        row.memory.truncate(MEMORY);
        Ok(row)
    }

    fn path(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        match input.int_in_range(0..=15)? {
            0 => self.bytes(input)?,
            1 => self.memory.extend(b"a/".repeat(input.int_in_range(0..=2_100)?)),
            2 => self.memory.extend(vec![b'n'; input.int_in_range(250..=260)?]),
            _ => {
                for _ in 0..input.int_in_range(1..=3)? {
                    self.memory.extend_from_slice(input.choose(PATHS)?);
                    if input.ratio(1, 4)? {
                        self.memory.push(b'/');
                    }
                }
            }
        }
        Ok(())
    }

    fn bytes(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        if input.ratio(1, 8)? {
            let len = self.memory.len() + usize::from(input.arbitrary::<u16>()?);
            self.memory.resize(len, b'x');
            return Ok(());
        }
        let len = usize::from(input.arbitrary::<u8>()?).min(input.len());
        self.memory.extend_from_slice(input.bytes(len)?);
        Ok(())
    }
}

fn integer(world: &World, at: usize, name: &str, input: &mut Unstructured<'_>) -> Result<i64> {
    match input.int_in_range(0..=15)? {
        0 => return input.arbitrary(),
        1 => return Ok(input.arbitrary::<i16>()?.into()),
        _ => {}
    }
    Ok(match name {
        "fd" | "socket" | "other" => {
            let open = world.programs[at].process().files.descriptors.lock().open();
            if open.is_empty() { 0 } else { input.choose(&open)?.answer() }
        }
        "flags" => *input.choose(FLAGS)?,
        "mode" | "mask" => *input.choose(MODES)?,
        "offset" | "length" | "atime" | "mtime" | "at" | "tag_length" => *input.choose(SIZES)?,
        "pid" | "group" => match input.choose_index(world.programs.len() + 1)? {
            0 => input.int_in_range(-3..=12)?,
            other => i64::from(world.programs[other - 1].pid().get()),
        },
        "port" => input.int_in_range(79..=83)?,
        _ => input.int_in_range(-1..=24)?,
    })
}

/// Replaces the kernel by a kernel that was restored from the bytes of a snapshot.
fn copy(world: &mut World) {
    let bytes = world.snapshot().encode().expect("a kernel can be encoded");
    let read = KernelSnapshot::decode(&bytes).expect("the kernel's own bytes are valid");
    assert!(read.encode().expect("a snapshot can be encoded") == bytes, "another encoding of the decoded snapshot");
    let copied = World::restore(&read).expect("a kernel within its limits can be restored");
    assert_eq!(copied.programs.len(), world.programs.len());
    let (entries, programs, sockets) = world.kernel.counts();
    let without_flows = (entries, programs, sockets - world.kernel.sockets.flow_ends());
    assert_eq!(copied.kernel.counts(), without_flows, "processes, programs and sockets");
    std::mem::replace(world, copied).finish();
}

/// Passes an arbitrary event of the outside to the kernel. The event may break every rule.
fn event(world: &mut World, input: &mut Unstructured<'_>) -> Result<()> {
    let flow = FlowId::new(input.int_in_range(0..=12)?);
    let address = ([10, 0, 0, 7], input.arbitrary()?).into();
    let failure = |errno: Errno| OutsideFailure { kind: OutsideFailureKind::Errno(errno), message: String::new() };
    match input.int_in_range(0..=9)? {
        0..=2 => world.event(flow, OutsideEvent::Connected { local: address, peer: address }),
        3 => world.event(flow, OutsideEvent::Data(&vec![7; usize::from(input.arbitrary::<u16>()?)])),
        4 => world.event(flow, OutsideEvent::Data(&vec![7; usize::from(input.arbitrary::<u16>()?) * 8])),
        5 => world.event(flow, OutsideEvent::Credit(input.arbitrary()?)),
        6 => world.event(flow, OutsideEvent::End),
        7 => world.event(flow, OutsideEvent::Closed(None)),
        8 => {
            let errno = Errno::try_from(input.int_in_range(1..=600)?).unwrap_or(Errno::EIO);
            world.event(flow, OutsideEvent::Closed(Some(failure(errno))));
        }
        _ => {
            let id = LookUpId::new(input.int_in_range(0..=12)?);
            let text = || String::from("203.0.113.1");
            let result = match input.int_in_range(0..=3)? {
                0 => Ok(LookUpAnswer::Records(text())),
                1 => Ok(LookUpAnswer::Addresses(vec![[203, 0, 113, 1].into(); usize::from(input.arbitrary::<u8>()?)])),
                2 => Err(OutsideFailure { kind: OutsideFailureKind::Denied { reason: text(), rule: None }, message: text() }),
                _ => Err(failure(Errno::EIO)),
            };
            world.kernel.looked_up(id, result);
        }
    }
    Ok(())
}

fn step(world: &mut World, copies: &mut usize, input: &mut Unstructured<'_>) -> Result<()> {
    let at = input.choose_index(world.programs.len())?;
    match input.int_in_range(0..=31)? {
        0 => world.fork(at),
        1 if world.programs.len() > 1 => world.end(at, Status::Code(input.arbitrary()?)),
        2 => {
            let (byte, len, is_last) = (input.arbitrary()?, input.arbitrary::<u8>()?, input.ratio(1, 4)?);
            // The limit of standard input can refuse the bytes.
            let _ = world.programs[at].process().feed(&vec![byte; usize::from(len) * 16], is_last);
        }
        3 => {
            // The signal may be unknown.
            let _ = world.kernel.processes.signal(world.programs[at].pid(), input.int_in_range(-1..=32)?);
        }
        4 if *copies < MOST_COPIES => {
            *copies += 1;
            copy(world);
        }
        5 => drop(world.programs[at].process().operations.take()),
        6..=8 => event(world, input)?,
        _ => {
            let call = input.choose(declarations())?;
            let Row { integers, mut memory } = Row::of(world, at, call, input)?;
            let answer = world.call(at, call.number, integers, &mut memory).unwrap_or_else(Errno::negative);
            assert!(answer > LOWEST, "{} {integers:?} = {answer}", call.name);
            world.check_flows();
        }
    }
    world.end_killed();
    Ok(())
}

/// Runs a sequence of steps.
///
/// # Panics
/// Panics if a counter exceeds its limit, or if a restored kernel differs. Also panics if memory
/// stays charged after the end of all programs.
pub fn calls(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let (mut world, mut copies) = (World::new(), 0);
    for _ in 0..MOST_STEPS {
        if input.is_empty() || world.programs.is_empty() || step(&mut world, &mut copies, &mut input).is_err() {
            break;
        }
    }
    world.finish();
}
