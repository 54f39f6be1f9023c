//! Tests of the encoding: a decoded snapshot equals the encoded snapshot, and invalid bytes are
//! refused or harmless.

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
fn encoding_is_deterministic_and_reversible() {
    let world = beginning();
    world.guests[0].pair();
    let bytes = world.snapshot().encode().expect("an encoded snapshot");
    let read = KernelSnapshot::decode(&bytes).expect("a decoded snapshot");
    assert_eq!(read.encode().expect("an encoded snapshot"), bytes);
    assert_eq!(read.pids().collect::<Vec<_>>(), [2, 3].map(Pid::new));
    assert_eq!(read.own_bytes(), world.snapshot().own_bytes());
}

#[test]
fn refuses_truncated_extended_and_foreign_bytes() {
    let bytes = TestKernel::new(1).snapshot().encode().expect("an encoded snapshot");
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
fn stores_standard_files_only_where_they_were_changed() {
    let world = TestKernel::new(1);
    let fresh = world.snapshot().encode().expect("an encoded snapshot").len();
    assert!(fresh < 1_000, "{fresh} bytes");
    let files = world.kernel.embedder_files();
    files.remove("/etc/hostname", false).expect("removed");
    files.remove("/opt", true).expect("removed");
    files.write("/etc/hosts", b"mine", false).expect("written");
    files.rename("/bin/ls", "/bin/list").expect("renamed");
    files.chmod("/etc/group", 0o600, true).expect("changed");
    let bytes = world.snapshot().encode().expect("an encoded snapshot");
    let read = KernelSnapshot::decode(&bytes).expect("a decoded snapshot");
    assert_eq!(read.encode().expect("an encoded snapshot"), bytes);
    let copy = TestKernel::restore(&read);
    let copied = copy.kernel.embedder_files();
    let names = |path: &str| copied.list(path).expect(path).into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    assert!(!names("/etc").contains(&"hostname".to_owned()) && !names("/").contains(&"opt".to_owned()));
    assert!(!names("/bin").contains(&"ls".to_owned()) && names("/bin").contains(&"list".to_owned()));
    assert_eq!(copied.read("/etc/hosts", 0, 9).expect("read").0, b"mine");
    assert_eq!(copied.stat("/etc/group", true).expect("the file exists").mode & 0o777, 0o600);
    let passwd = "/etc/passwd";
    assert_eq!(copied.stat(passwd, true).expect(passwd), files.stat(passwd, true).expect(passwd));
}

#[test]
fn a_digest_without_exportable_state_fails_with_ecanceled_in_the_copy() {
    let world = TestKernel::new(1);
    let guest = &world.guests[0];
    let (blake, sha) = (guest.ok(CryptographyCall::HashOpen, &[13.into()]), guest.ok(CryptographyCall::HashOpen, &[4.into()]));
    let direct = TestKernel::restore(&world.snapshot());
    assert_eq!(direct.guests[0].sys(CryptographyCall::Update, &[blake.into(), "a".into()]).0, Ok(0));
    let copy = world.copy();
    let canceled = |call: CryptographyCall, arguments: &[Arg<'_>]| {
        assert_eq!(copy.guests[0].sys(call, arguments).0, Err(Errno::ECANCELED), "{call:?}");
    };
    canceled(CryptographyCall::Update, &[blake.into(), "a".into()]);
    canceled(CryptographyCall::Copy, &[blake.into()]);
    canceled(CryptographyCall::Finish, &[blake.into(), Arg::Buffer(64)]);
    assert_eq!(copy.guests[0].sys(CryptographyCall::Update, &[sha.into(), "a".into()]).0, Ok(0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// After a few bytes were changed, mostly after the files, a snapshot that passes the checks
    /// can be restored and used.
    #[test]
    fn changed_bytes_cause_no_panic(
        before in steps(60),
        changes in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
        after in steps(60),
    ) {
        let mut world = beginning();
        world.steps(before);
        let mut bytes = world.snapshot().encode().expect("an encoded snapshot");
        for (anywhere, at, byte) in changes {
            let most = if anywhere { bytes.len() } else { bytes.len().min(2_000) };
            let at = bytes.len() - 1 - at.index(most);
            bytes[at] = byte;
        }
        match KernelSnapshot::decode(&bytes).and_then(|saved| TestKernel::try_restore(&saved, Limits::default())) {
            Ok(mut copy) => {
                copy.steps(after);
                let bytes = copy.snapshot().encode().expect("an encoded snapshot");
                prop_assert_eq!(code(KernelSnapshot::decode(&bytes)), "", "the restored kernel can be stored again");
                copy.guests.iter().for_each(|guest| guest.program.process().close());
            }
            Err(error) => {
                let known = ["ERR_SNAPSHOT_DAMAGED", "ERR_SNAPSHOT_FOREIGN", "ERR_RESOURCE_EXHAUSTED", "ERR_SNAPSHOT_LACKS"];
                prop_assert!(known.contains(&error.code()), "{}", error);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = KernelSnapshot::decode(&bytes);
        let _ = KernelSnapshot::decode(&[&[VERSION], &crate::fs::standard()[..], &bytes[..]].concat());
    }
}
