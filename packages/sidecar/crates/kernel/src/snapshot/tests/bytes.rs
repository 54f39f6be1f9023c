//! The bytes: the same value comes out, and whatever else they say, nothing breaks.

use super::super::file::VERSION;
use super::same::{beginning, steps};
use super::*;
use coldframe_abi::system_calls::CryptographyCall;
use coldframe_error::Error;
use coldframe_ids::Pid;
use proptest::prelude::*;

fn code(read: Result<KernelSnapshot, Error>) -> &'static str {
    read.err().map_or("", |error| error.code())
}

#[test]
fn the_same_value_is_the_same_bytes_and_comes_out_of_them() {
    let world = beginning();
    world.guests[0].pair();
    let bytes = world.snapshot().encode().expect("it can be written");
    let read = KernelSnapshot::decode(&bytes).expect("it can be read");
    assert_eq!(read.encode().expect("it can be written"), bytes);
    assert_eq!(read.pids().collect::<Vec<_>>(), [2, 3].map(Pid::new));
    assert_eq!(read.own_bytes(), world.snapshot().own_bytes());
}

#[test]
fn what_is_cut_short_too_long_or_of_another_version_is_refused() {
    let bytes = World::new(1).snapshot().encode().expect("it can be written");
    for len in (0..bytes.len()).rev().step_by(7) {
        assert_eq!(code(KernelSnapshot::decode(&bytes[..len])), "ERR_SNAPSHOT_DAMAGED", "{len}");
    }
    assert_eq!(code(KernelSnapshot::decode(&[&bytes[..], &[0]].concat())), "ERR_SNAPSHOT_DAMAGED");
    let mut foreign = bytes.clone();
    foreign[0] += 1;
    assert_eq!(code(KernelSnapshot::decode(&foreign)), "ERR_SNAPSHOT_FOREIGN");
    let mut other_files = bytes;
    other_files[1] ^= 1;
    assert_eq!(code(KernelSnapshot::decode(&other_files)), "ERR_SNAPSHOT_FOREIGN");
}

#[test]
fn what_every_runtime_begins_with_is_written_only_where_it_was_changed() {
    let world = World::new(1);
    let fresh = world.snapshot().encode().expect("it can be written").len();
    assert!(fresh < 1_000, "{fresh} bytes");
    let outside = world.kernel.embedder_files();
    outside.remove("/etc/hostname", false).expect("removed");
    outside.remove("/opt", true).expect("removed");
    outside.write("/etc/hosts", b"mine", false).expect("written");
    outside.rename("/bin/ls", "/bin/list").expect("renamed");
    outside.chmod("/etc/group", 0o600, true).expect("changed");
    let bytes = world.snapshot().encode().expect("it can be written");
    let read = KernelSnapshot::decode(&bytes).expect("it can be read");
    assert_eq!(read.encode().expect("it can be written"), bytes);
    let copy = World::restore(&read);
    let copied = copy.kernel.embedder_files();
    let names = |path: &str| copied.list(path).expect(path).into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    assert!(!names("/etc").contains(&"hostname".to_owned()) && !names("/").contains(&"opt".to_owned()));
    assert!(!names("/bin").contains(&"ls".to_owned()) && names("/bin").contains(&"list".to_owned()));
    assert_eq!(copied.read("/etc/hosts", 0, 9).expect("read").0, b"mine");
    assert_eq!(copied.stat("/etc/group", true).expect("there").mode & 0o777, 0o600);
    assert_eq!(copied.stat("/etc/passwd", true).expect("there"), outside.stat("/etc/passwd", true).expect("there"));
}

#[test]
fn a_digest_that_cannot_be_written_says_so_in_the_copy() {
    let world = World::new(1);
    let guest = &world.guests[0];
    let (blake, sha) = (guest.ok(CryptographyCall::HashOpen, &[13.into()]), guest.ok(CryptographyCall::HashOpen, &[4.into()]));
    let direct = World::restore(&world.snapshot());
    assert_eq!(direct.guests[0].sys(CryptographyCall::Update, &[blake.into(), "a".into()]).0, Ok(0));
    let copy = world.copy();
    let canceled = |call: CryptographyCall, arguments: &[Arg<'_>]| {
        assert_eq!(copy.guests[0].sys(call, arguments).0, Err(Errno::ECANCELED), "{call:?}");
    };
    canceled(CryptographyCall::Update, &[blake.into(), "a".into()]);
    canceled(CryptographyCall::Copy, &[blake.into()]);
    canceled(CryptographyCall::Finish, &[blake.into(), Arg::Room(64)]);
    assert_eq!(copy.guests[0].sys(CryptographyCall::Update, &[sha.into(), "a".into()]).0, Ok(0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes that are changed here and there, mostly behind the files: a value that passes can be lived with.
    #[test]
    fn changed_bytes_do_no_harm(
        before in steps(60),
        changes in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
        after in steps(60),
    ) {
        let mut world = beginning();
        world.steps(before);
        let mut bytes = world.snapshot().encode().expect("it can be written");
        for (anywhere, at, byte) in changes {
            let most = if anywhere { bytes.len() } else { bytes.len().min(2_000) };
            let at = bytes.len() - 1 - at.index(most);
            bytes[at] = byte;
        }
        match KernelSnapshot::decode(&bytes).and_then(|saved| World::try_revive(&saved, Limits::default())) {
            Ok(mut copy) => {
                copy.steps(after);
                let bytes = copy.snapshot().encode().expect("it can be written");
                prop_assert_eq!(code(KernelSnapshot::decode(&bytes)), "", "what lives can be saved again");
                copy.guests.iter().for_each(|guest| guest.program.process().close());
            }
            Err(error) => {
                let known = ["ERR_SNAPSHOT_DAMAGED", "ERR_SNAPSHOT_FOREIGN", "ERR_RESOURCE_EXHAUSTED", "ERR_SNAPSHOT_LACKS"];
                prop_assert!(known.contains(&error.code()), "{}", error);
            }
        }
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = KernelSnapshot::decode(&bytes);
        let _ = KernelSnapshot::decode(&[&[VERSION], &crate::fs::standard()[..], &bytes[..]].concat());
    }
}
