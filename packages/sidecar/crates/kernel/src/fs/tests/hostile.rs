//! Tests that hostile arguments cause at most an error, and that the tree stays consistent. Other
//! tests cover deep directories, long links and large gaps.

use super::super::super::{Arguments, call};
use super::Guest;
use crate::limits::Limits;
use crate::steps::MAX_TRANSFER;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use proptest::prelude::*;

const EFAULT: i64 = -14;
const EINVAL: i64 = -22;
const ENAMETOOLONG: i64 = -36;

fn integer() -> impl Strategy<Value = i64> {
    let edges = prop::sample::select(vec![-1, 0, 1, 2, 3, 7, 64, 4_095, 4_096, i64::from(u32::MAX), i64::MAX, i64::MIN, -4_096]);
    prop_oneof![edges, 0_i64..9_000, any::<i64>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_integers_get_a_result(
        calls in prop::collection::vec((0x100_u32..0x130, prop::array::uniform8(integer())), 1..20),
        text in prop::collection::vec(prop::sample::select(b"/.abc\0\xff".to_vec()), 0..64),
    ) {
        let guest = Guest::new(Limits { filesystem_bytes: 1 << 20, inodes: 50, descriptors: 10, ..Limits::default() });
        let mut memory = vec![0_u8; 8_192];
        memory[..text.len()].copy_from_slice(&text);
        for (number, integers) in calls {
            let answer = call(&guest.program, number, &mut Arguments::new(integers, &mut memory));
            let answer = answer.unwrap_or_else(Errno::negative);
            prop_assert!(answer > -4_096, "{number:x} {integers:?} = {answer}");
        }
        let tree = guest.program.process().kernel.files.lock();
        prop_assert!(tree.used.bytes <= tree.limits.bytes && tree.used.inodes <= tree.limits.inodes);
    }
}

#[test]
fn refuses_paths_with_nul_or_beyond_the_limit() {
    let mut guest = Guest::new(Limits::default());
    assert_eq!(guest.stat("a\0b", true), Err(EINVAL));
    let long = format!("/{}", "a/".repeat(2_047));
    assert_eq!(long.len(), 4_095);
    assert_eq!(guest.stat(&long, true), Err(-2));
    assert_eq!(guest.stat(&format!("{long}a"), true), Err(ENAMETOOLONG));
    for asked in [FileCall::Open, FileCall::Stat, FileCall::Mkdir, FileCall::Unlink, FileCall::Chdir, FileCall::ReadFile] {
        let mut memory = [0_u8; 16];
        let integers = [8, 9, 0, 0, 0, 0, 0, 0];
        let answer = call(&guest.program, asked.number(), &mut Arguments::new(integers, &mut memory));
        assert_eq!(answer.unwrap_or_else(Errno::negative), EFAULT, "{asked:?}");
    }
}

/// Makes `levels` directories, each inside the last, and enters the deepest directory.
fn descend(guest: &mut Guest, levels: usize) {
    for _ in 0..levels {
        assert_eq!(guest.plain(FileCall::Mkdir, &["d".into(), 0o755.into()]), 0);
        assert_eq!(guest.plain(FileCall::Chdir, &["d".into()]), 0);
    }
}

#[test]
fn removes_a_directory_of_ten_thousand_levels() {
    let mut guest = Guest::new(Limits::default());
    descend(&mut guest, 10_000);
    assert_eq!(guest.sys(FileCall::Getcwd, &[super::Arg::Room(10)]).0, 10 + 20_000);
    assert_eq!(
        guest.plain(FileCall::Rename, &["/workspace/d".into(), "d".into()]),
        EINVAL,
        "a directory cannot move into itself"
    );
    assert_eq!(guest.plain(FileCall::Chdir, &["/".into()]), 0);
    let embedder = guest.program.process().kernel.embedder_files();
    embedder.remove("/workspace/d", true).expect("removed");
    assert_eq!(guest.program.process().kernel.files.lock().used.inodes, 0);
}

#[test]
fn a_walk_through_long_links_is_bounded() {
    let mut guest = Guest::new(Limits::default());
    guest.plain(FileCall::Mkdir, &["d".into(), 0o755.into()]);
    for n in 0..39 {
        let target = format!("{}l{}", "d/../".repeat(800), n + 1);
        guest.plain(FileCall::Symlink, &[target.as_str().into(), format!("l{n}").as_str().into()]);
    }
    assert_eq!(guest.stat("l0", true), Err(-40));
    assert_eq!(guest.stat("l37", true), Err(-2));
}

#[test]
fn a_walk_that_often_leaves_a_deep_directory_is_bounded() {
    use crate::permissions::policy::{PermissionPolicy, PermissionRule, ScopePolicy, Verdict};
    let mut guest = Guest::new(Limits::default());
    descend(&mut guest, 3_800);
    assert_eq!(guest.plain(FileCall::Mkdir, &["d".into(), 0o755.into()]), 0);
    for n in 0..5 {
        let target = format!("{}l{}", "d/../".repeat(800), n + 1);
        guest.plain(FileCall::Symlink, &[target.as_str().into(), format!("l{n}").as_str().into()]);
    }
    assert_eq!(guest.stat("l0", true), Err(-2), "without rules, a walk needs no paths");
    let rules = vec![PermissionRule { verdict: Verdict::Deny, operations: None, patterns: Some(vec!["/secret".to_owned()]) }];
    let fs = Some(ScopePolicy { default: Verdict::Allow, rules });
    guest
        .program
        .process()
        .kernel
        .permissions
        .set(&PermissionPolicy { fs, ..PermissionPolicy::default() })
        .expect("a good policy");
    assert_eq!(guest.stat("l0", true), Err(-40));
    assert!(guest.stat("d/../d", true).is_ok());
}

/// Denies the reading of `/tmp/secret`.
fn deny(guest: &Guest) {
    use crate::permissions::policy::{PermissionPolicy, PermissionRule, ScopePolicy, Verdict};
    let patterns = Some(vec!["/tmp/secret".to_owned()]);
    let rules = vec![PermissionRule { verdict: Verdict::Deny, operations: None, patterns }];
    let fs = Some(ScopePolicy { default: Verdict::Allow, rules });
    let policy = PermissionPolicy { fs, ..PermissionPolicy::default() };
    guest.program.process().kernel.permissions.set(&policy).expect("a good policy");
}

#[test]
fn the_end_of_the_steps_reveals_no_denied_file() {
    let mut guest = Guest::new(Limits::default());
    for path in ["/tmp/secret", "/tmp/secret/here", "/tmp/secret/here/below"] {
        guest.plain(FileCall::Mkdir, &[path.into(), 0o755.into()]);
    }
    descend(&mut guest, 100);
    guest.plain(FileCall::Mkdir, &["d".into(), 0o755.into()]);
    guest.plain(FileCall::Symlink, &["/tmp/secret".into(), "s".into()]);
    deny(&guest);
    let mut asked = |repeats: usize, dots: usize, name: &str| {
        let path = format!("{}{}s/{name}/below/f", "d/../".repeat(repeats), "./".repeat(dots));
        guest.stat(&path, true).map(|_| ())
    };
    let repeats = (1..800).find(|repeats| asked(*repeats, 0, "here") == Err(-40)).expect("the steps end");
    let mut seen = Vec::new();
    for dots in 0..200 {
        let (here, missing) = (asked(repeats - 1, dots, "here"), asked(repeats - 1, dots, "missing"));
        assert_eq!(here, missing, "{repeats} {dots}");
        seen.push(here);
    }
    assert!(seen.contains(&Err(-40)) && seen.contains(&Err(-13)), "the steps end before, inside and behind the denied directory");
}

#[test]
fn a_call_transfers_a_bounded_number_of_bytes() {
    let most = MAX_TRANSFER as i64;
    let mut guest = Guest::new(Limits::default());
    let bytes = vec![7_u8; 3 * MAX_TRANSFER / 2];
    let file = guest.plain(FileCall::Open, &["f".into(), 0o102.into(), 0o600.into()]);
    let zero = guest.plain(FileCall::Open, &["/dev/zero".into(), 0.into(), 0.into()]);
    let full = guest.plain(FileCall::Open, &["/dev/null".into(), 1.into(), 0.into()]);
    for fd in [file, full] {
        assert_eq!(guest.plain(FileCall::Write, &[fd.into(), super::Arg::Bytes(&bytes), 0.into()]), most);
    }
    assert_eq!(
        guest.plain(FileCall::Write, &[file.into(), super::Arg::Bytes(&bytes[..MAX_TRANSFER / 2]), most.into()]),
        most / 2
    );
    for fd in [file, zero] {
        assert_eq!(guest.sys(FileCall::Read, &[fd.into(), super::Arg::Room(bytes.len()), 0.into()]).0, most);
    }
    let (len, read) = guest.sys(FileCall::ReadFile, &["f".into(), super::Arg::Room(bytes.len())]);
    assert_eq!((len, read.iter().all(|byte| *byte == 0xaa)), (bytes.len() as i64, true), "a longer file is not read");
    assert_eq!(guest.plain(FileCall::Ftruncate, &[file.into(), most.into()]), 0);
    let (len, read) = guest.sys(FileCall::ReadFile, &["f".into(), super::Arg::Room(bytes.len())]);
    assert!(len == most && read[..MAX_TRANSFER] == bytes[..MAX_TRANSFER]);
}

#[test]
fn a_write_that_does_not_fit_ends_at_the_limit() {
    let mut guest = Guest::new(Limits { filesystem_bytes: 20 << 20, ..Limits::default() });
    let bytes = vec![7_u8; 30 << 20];
    let fd = guest.plain(FileCall::Open, &["f".into(), 0o2102.into(), 0o600.into()]);
    let mut written = 0;
    while let count @ 1.. = guest.plain(FileCall::Write, &[fd.into(), super::Arg::Bytes(&bytes), (-1).into()]) {
        written += count;
    }
    assert!(written > 19 << 20 && written <= 20 << 20, "{written}");
    assert_eq!(guest.plain(FileCall::Write, &[fd.into(), super::Arg::Bytes(&bytes), (-1).into()]), -28);
}

#[test]
fn a_file_with_a_hole_uses_the_space_of_its_data() {
    let mut guest = Guest::new(Limits::default());
    let fd = guest.plain(FileCall::Open, &["f".into(), 0o102.into(), 0o600.into()]);
    assert_eq!(guest.plain(FileCall::Write, &[fd.into(), "x".into(), (i64::MAX - 10).into()]), 1);
    assert_eq!(guest.plain(FileCall::Write, &[fd.into(), "x".into(), i64::MAX.into()]), -27);
    assert!(guest.program.process().kernel.files.lock().used.bytes <= 65_536);
    assert_eq!(guest.plain(FileCall::Ftruncate, &[fd.into(), i64::MAX.into()]), 0);
    assert_eq!(guest.plain(FileCall::CopyFile, &["f".into(), "g".into(), 0.into()]), 0);
    assert_eq!(guest.plain(FileCall::Ftruncate, &[fd.into(), 0.into()]), 0);
}
