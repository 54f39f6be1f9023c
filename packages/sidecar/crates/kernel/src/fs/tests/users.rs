//! Tests of users: owners of new files, permission bits for each user, and `chown`. Also tests the
//! ids of processes, and the command files that raise the effective user.

use super::{Arg, Guest};
use crate::fs::Owner;
use crate::limits::Limits;
use crate::{Kernel, Process};
use coldframe_abi::system_calls::{FileCall, ProcessCall};
use std::sync::Arc;

const EPERM: i64 = -1;
const EACCES: i64 = -13;
const EINVAL: i64 = -22;
const OTHER: Owner = Owner { uid: 7, gid: 7 };

fn kernel() -> Arc<Kernel> {
    Arc::new(Kernel::new(&Limits::default()))
}

fn guest(kernel: &Arc<Kernel>, owner: Owner) -> Guest {
    let pid = kernel.processes.enter_root().expect("room");
    Guest::with(Process::for_user(kernel.clone(), pid, "/workspace", owner))
}

fn owner(guest: &mut Guest, path: &str) -> (f64, f64) {
    let stat = guest.stat(path, false).expect("a file");
    (stat[3], stat[4])
}

fn chown(guest: &mut Guest, path: &str, uid: i64, gid: i64) -> i64 {
    guest.plain(FileCall::Chown, &[path.into(), uid.into(), gid.into(), 1.into()])
}

#[test]
fn new_files_belong_to_their_creator() {
    let kernel = kernel();
    let (mut root, mut user) = (guest(&kernel, Owner::ROOT), guest(&kernel, Owner::GUEST));
    assert_eq!((root.write_file("/tmp/r", b""), user.write_file("/tmp/u", b"")), (0, 0));
    assert_eq!((owner(&mut user, "/tmp/r"), owner(&mut user, "/tmp/u")), ((0.0, 0.0), (1_000.0, 1_000.0)));
    assert_eq!(root.plain(FileCall::Mkdir, &["/d".into(), 0o2777.into()]), 0, "root writes in /");
    assert_eq!(root.plain(FileCall::Chmod, &["/d".into(), 0o2777.into(), 1.into()]), 0);
    assert_eq!(user.write_file("/d/f", b""), 0);
    assert_eq!(owner(&mut user, "/d/f"), (1_000.0, 0.0), "a set-group-id directory passes its group on");
    let files = kernel.embedder_files();
    files.write("/0/app", b"", false).expect("the app writes everywhere");
    kernel.embedder_files().owned_by(Owner::ROOT).write("/1/app", b"", false).expect("written");
    assert_eq!((owner(&mut user, "/0/app"), owner(&mut user, "/0")), ((1_000.0, 1_000.0), (1_000.0, 1_000.0)));
    assert_eq!((owner(&mut user, "/1/app"), owner(&mut user, "/1")), ((0.0, 0.0), (0.0, 0.0)));
}

#[test]
fn permission_bits_apply_to_users_but_not_to_root() {
    let kernel = kernel();
    let (mut root, mut user, mut other) = (guest(&kernel, Owner::ROOT), guest(&kernel, Owner::GUEST), guest(&kernel, OTHER));
    assert_eq!(user.plain(FileCall::Mkdir, &["/tmp/own".into(), 0o700.into()]), 0);
    assert_eq!(user.write_file("/tmp/own/f", b"secret"), 0);
    assert_eq!((other.read_file("/tmp/own/f"), root.read_file("/tmp/own/f")), (Err(EACCES), Ok(b"secret".to_vec())));
    assert_eq!(root.write_file("/etc/motd", b"hello"), 0);
    assert_eq!((user.write_file("/etc/motd", b""), user.read_file("/etc/motd")), (EACCES, Ok(b"hello".to_vec())));
    assert_eq!(user.write_file("/tmp/f", b""), 0);
    let unlink = |guest: &mut Guest| guest.plain(FileCall::Unlink, &["/tmp/f".into()]);
    assert_eq!((unlink(&mut other), unlink(&mut root)), (EPERM, 0), "/tmp is sticky");
    assert_eq!(other.write_file("/workspace/f", b""), EACCES, "the directory belongs to another user");
}

#[test]
fn only_root_changes_the_owner_of_a_file() {
    let kernel = kernel();
    let (mut root, mut user) = (guest(&kernel, Owner::ROOT), guest(&kernel, Owner::GUEST));
    assert_eq!(user.write_file("/tmp/f", b""), 0);
    assert_eq!((chown(&mut user, "/tmp/f", 0, -1), chown(&mut user, "/tmp/f", -1, 0)), (EPERM, EPERM));
    assert_eq!(chown(&mut user, "/tmp/f", 1_000, 1_000), 0);
    assert_eq!(chown(&mut root, "/tmp/f", 0, 7), 0);
    assert_eq!(owner(&mut user, "/tmp/f"), (0.0, 7.0));
    assert_eq!(chown(&mut user, "/tmp/f", 1_000, 1_000), EPERM);
    assert_eq!(user.plain(FileCall::Chmod, &["/tmp/f".into(), 0o777.into(), 1.into()]), EPERM);
    assert_eq!(root.plain(FileCall::Chmod, &["/tmp/f".into(), 0o700.into(), 1.into()]), 0);
}

fn ids(guest: &mut Guest) -> Vec<u32> {
    let (count, bytes) = guest.sys(ProcessCall::GetIds, &[Arg::Room(88)]);
    let numbers = bytes.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")));
    numbers.take(usize::try_from(count).expect("ids")).collect()
}

#[test]
fn a_process_that_dropped_its_ids_cannot_raise_them() {
    let kernel = kernel();
    let mut root = guest(&kernel, Owner::ROOT);
    let set = |guest: &mut Guest, which: i64, id: i64| guest.plain(ProcessCall::SetId, &[which.into(), id.into()]);
    assert_eq!(ids(&mut root), [0; 7]);
    let groups: Vec<u8> = [7_u32, 8].iter().flat_map(|id| id.to_le_bytes()).collect();
    assert_eq!(root.plain(ProcessCall::SetGroups, &[Arg::Bytes(&groups)]), 0);
    assert_eq!(root.plain(ProcessCall::SetGroups, &[Arg::Bytes(&[0; 4 * 17])]), EINVAL);
    assert_eq!((set(&mut root, 2, 1_000), set(&mut root, 0, 1_000)), (0, 0));
    assert_eq!(ids(&mut root), [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 7, 8]);
    for which in 0..4 {
        assert_eq!(set(&mut root, which, 0), EPERM);
    }
    assert_eq!((set(&mut root, 0, i64::from(u32::MAX)), set(&mut root, 4, 0)), (EINVAL, EINVAL));
    assert_eq!(root.plain(ProcessCall::SetGroups, &[Arg::Bytes(&groups)]), EPERM);
    assert_eq!(root.write_file("/etc/f", b""), EACCES);
}

/// The commands of `root` are searched in this directory.
#[test]
fn only_the_group_of_the_user_adds_commands() {
    let kernel = kernel();
    let (mut user, mut other) = (guest(&kernel, Owner::GUEST), guest(&kernel, OTHER));
    for path in ["/usr/local/bin/own", "/usr/local/own"] {
        assert_eq!((other.write_file(path, b""), user.write_file(path, b"")), (EACCES, 0));
    }
}

#[test]
fn access_checks_the_real_user() {
    let kernel = kernel();
    let mut root = guest(&kernel, Owner::ROOT);
    assert_eq!(root.plain(ProcessCall::SetId, &[1.into(), 1_000.into()]), 0);
    assert_eq!(root.plain(FileCall::Access, &["/etc/passwd".into(), 2.into()]), 0);
    assert_eq!(root.write_file("/etc/passwd", b""), EACCES);
}

#[test]
fn a_signal_to_another_user_is_refused() {
    let kernel = kernel();
    let (root, mut user, mut other) = (guest(&kernel, Owner::ROOT), guest(&kernel, Owner::GUEST), guest(&kernel, OTHER));
    let pid = i64::from(root.program.pid().get());
    let kill = |guest: &mut Guest, pid: i64| guest.plain(ProcessCall::Kill, &[pid.into(), 0.into()]);
    assert_eq!((kill(&mut user, pid), kill(&mut other, pid)), (EPERM, EPERM));
    let pid = i64::from(user.program.pid().get());
    assert_eq!((kill(&mut user, pid), kill(&mut other, pid)), (0, EPERM));
}

#[test]
fn the_open_files_of_another_user_are_hidden_in_proc() {
    let kernel = kernel();
    let (mut root, mut user) = (guest(&kernel, Owner::ROOT), guest(&kernel, Owner::GUEST));
    let own = format!("/proc/{}", root.program.pid());
    assert_eq!(owner(&mut user, &own), (0.0, 0.0));
    let cwd = format!("{own}/cwd");
    let read = |guest: &mut Guest| guest.sys(FileCall::Readlink, &[(&*cwd).into(), Arg::Room(100)]).0;
    assert_eq!((read(&mut user), read(&mut root)), (EACCES, "/workspace".len() as i64));
    assert_eq!(user.read_file(&format!("{own}/environ")), Err(EACCES));
}

/// Returns whether the command file at `path` raises the effective user.
fn raises(guest: &Guest, path: &str) -> bool {
    guest.program.process().view().executable(path.as_bytes()).expect("an executable file").raises
}

#[test]
fn only_the_unchanged_command_files_raise_the_effective_user() {
    let kernel = kernel();
    let mut root = guest(&kernel, Owner::ROOT);
    assert!(raises(&root, "/bin/sudo") && raises(&root, "/usr/bin/su") && !raises(&root, "/bin/sh"));
    let content = root.read_file("/bin/sudo").expect("the file");
    assert_eq!(root.write_file("/tmp/sudo", &content), 0);
    assert_eq!(root.plain(FileCall::Chmod, &["/tmp/sudo".into(), 0o4755.into(), 1.into()]), 0);
    assert!(!raises(&root, "/tmp/sudo"), "a copy with the set-user-id bit");
    assert_eq!(root.plain(FileCall::Chmod, &["/bin/su".into(), 0o755.into(), 1.into()]), 0);
    assert!(!raises(&root, "/bin/su"), "the file without the bit");
    let shell = root.read_file("/bin/sh").expect("the file");
    assert_eq!(root.write_file("/bin/sudo", &shell), 0);
    assert_eq!(root.plain(FileCall::Chmod, &["/bin/sudo".into(), 0o4755.into(), 1.into()]), 0);
    assert!(!raises(&root, "/bin/sudo"), "other content");
    assert_eq!(root.write_file("/bin/sudo", &content), 0);
    assert!(raises(&root, "/bin/sudo"), "the first content again");
}
