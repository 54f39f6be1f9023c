//! The wall around the process in several environments. A filter of system calls on the test's side
//! simulates systems that lack a part.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::os::unix::process::CommandExt;
use std::process::Command;

use coldframe_protocol::messages::*;
use common::{Copies, Parent, SIDECAR, command, fact, program, wait_for_exit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

const NAMESPACES: [&str; 4] = ["userNamespace", "mountNamespace", "ipcNamespace", "utsNamespace"];
/// The parts that need no support beyond the oldest supported kernel.
const ALWAYS: [&str; 5] = ["noNewPrivileges", "capabilities", "limits", "notDumpable", "seccomp"];

/// Makes a filter with which some system calls fail.
fn refusing(calls: &[libc::c_long], errno: i32) -> BpfProgram {
    let rules: BTreeMap<i64, _> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(errno.cast_unsigned());
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).unwrap().try_into().unwrap()
}

/// Installs a filter in the process of a command.
fn behind(command: &mut Command, filter: BpfProgram) {
    let install = move || -> Result<()> { apply_filter(&filter).map_err(|_| Error::last_os_error()) };
    // SAFETY: between fork and exec only system calls are made.
    unsafe { command.pre_exec(install) };
}

/// Checks that programs run, and returns the missing parts.
fn missing((mut parent, walls): (Parent, Vec<(String, Option<String>)>)) -> Vec<(String, String)> {
    let runtime = parent.runtime();
    let code = "import { execFileSync } from 'node:child_process';\
                console.log(execFileSync('sh', ['-c', 'echo walled']).toString().trim());";
    let reply = parent.ask(Kind::ProcessStart, 3, &program(runtime, code));
    let outcome: Outcome<'_> = reply.read();
    assert_eq!(outcome.stdout, b"walled\n", "{walls:?} {}", String::from_utf8_lossy(outcome.stderr));
    parent.assert_alive();
    for name in ALWAYS {
        assert!(walls.contains(&(name.to_owned(), None)), "{name} must stand: {walls:?}");
    }
    walls.into_iter().filter_map(|(name, reason)| Some((name, reason?))).collect()
}

fn names(missing: &[(String, String)]) -> Vec<&str> {
    missing.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "landlock").collect()
}

#[test]
fn a_process_behind_the_wall_has_no_right_left() {
    let (mut parent, _) = Parent::walled(|_| {}, &[]);
    parent.assert_alive();
    let status = std::fs::read_to_string(format!("/proc/{}/status", parent.child.id())).unwrap();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), ("1".to_owned(), "2".to_owned()));
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
}

#[test]
fn the_wall_can_be_off() {
    let (mut parent, walls) = Parent::walled(|_| {}, &["--walls", "off"]);
    parent.assert_alive();
    assert_eq!(walls, []);
}

#[test]
fn programs_run_behind_the_wall() {
    missing(Parent::walled(|_| {}, &[]));
}

#[test]
fn a_container_that_refuses_namespaces_only_loses_the_namespaces() {
    // The default profile of Docker refuses these calls to a process without capabilities.
    let calls =
        [libc::SYS_unshare, libc::SYS_setns, libc::SYS_mount, libc::SYS_open_tree, libc::SYS_move_mount, libc::SYS_pivot_root];
    let found = missing(Parent::walled(|command| behind(command, refusing(&calls, libc::EPERM)), &[]));
    assert_eq!(names(&found), NAMESPACES);
    assert!(found[0].1.contains("a container or a setting of the system"), "{found:?}");
}

#[test]
fn a_user_namespace_without_rights_is_not_used() {
    // AppArmor's restriction lets a process make a user namespace in which it has no capability.
    let calls = [libc::SYS_mount, libc::SYS_fsopen, libc::SYS_open_tree, libc::SYS_move_mount, libc::SYS_setns];
    let found = missing(Parent::walled(|command| behind(command, refusing(&calls, libc::EPERM)), &[]));
    assert_eq!(names(&found), NAMESPACES);
}

#[test]
fn a_kernel_without_landlock_only_loses_landlock() {
    let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];
    let found = missing(Parent::walled(|command| behind(command, refusing(&calls, libc::ENOSYS)), &[]));
    assert!(found.contains(&("landlock".to_owned(), "the kernel has no Landlock".to_owned())), "{found:?}");
}

#[test]
fn landlock_bounds_the_files_where_there_is_no_empty_root() {
    let calls = [libc::SYS_unshare];
    let start = |more: &[&str]| missing(Parent::walled(|command| behind(command, refusing(&calls, libc::EPERM)), more));
    let reasons = |found: &[(String, String)]| found.iter().filter(|(name, _)| name == "landlock").count();
    // If the kernel's Landlock is complete, it is enforced once all folders are declared.
    if reasons(&missing(Parent::walled(|_| {}, &[]))) == 0 {
        assert_eq!(reasons(&start(&["--mount-root", ""])), 0);
    }
    assert_eq!(reasons(&start(&[])), 1);
}

#[test]
fn a_missing_part_refuses_the_start_if_the_wall_is_required() {
    let mut parts = command(SIDECAR);
    behind(&mut parts.0, refusing(&[libc::SYS_unshare], libc::EPERM));
    let (mut parent, received) = Parent::greeted(parts, &["--walls", "required", "--mount-root", ""]);
    assert_eq!(received.kind, Kind::Error);
    let failure = received.failure();
    assert_eq!(failure.code, "ERR_WALLS_MISSING");
    let Fact::Text(missing) = fact(&failure, "missing") else { panic!("{failure:?}") };
    assert!(missing.starts_with(&NAMESPACES.join(",")), "{missing}");
    assert!(failure.message.contains("userNamespace (unshare: "), "{failure:?}");
    assert_eq!(wait_for_exit(&mut parent.child).code(), Some(1));
}

#[test]
fn an_unprivileged_user_gets_the_wall() {
    if !rustix::process::geteuid().is_root() {
        return; // The other tests run as an unprivileged user already.
    }
    const NOBODY: u32 = 65_534;
    let as_nobody = |command: &mut Command| {
        command.uid(NOBODY).gid(NOBODY);
    };
    // The user may not enter the folder of the build.
    let copies = Copies::new("nobody");
    let (program, image) = (copies.0.join("sidecar"), copies.image());
    missing(Parent::walled_program(program.to_str().unwrap(), as_nobody, &["--image", image.to_str().unwrap()]));
}

#[test]
fn a_process_with_no_new_privs_gets_the_wall() {
    let set = || -> Result<()> { Ok(rustix::thread::set_no_new_privs(true)?) };
    let without_privileges = |command: &mut Command| {
        // SAFETY: between fork and exec only a system call is made.
        unsafe { command.pre_exec(set) };
    };
    missing(Parent::walled(without_privileges, &[]));
}

/// The image for `node` takes the place of Python's image.
#[test]
fn python_and_its_library_can_be_read_behind_each_wall() {
    let copies = Copies::new("python");
    let folder = copies.image();
    std::fs::copy(folder.join("guest.image"), folder.join("python.image")).unwrap();
    std::fs::create_dir_all(folder.join("root/usr/lib/python3.13")).unwrap();
    std::fs::write(folder.join("root/usr/lib/python3.13/os.py"), "name = 'posix'").unwrap();
    let python = ["--python", folder.to_str().unwrap()];
    let refused = || refusing(&[libc::SYS_unshare], libc::EPERM);
    let walled = [
        Parent::walled(|_| {}, &python),
        Parent::walled(|_| {}, &[&python[..], &["--walls", "off"]].concat()),
        Parent::walled(|command| behind(command, refused()), &python),
        Parent::walled(|command| behind(command, refused()), &[&python[..], &["--mount-root", ""]].concat()),
    ];
    for (mut parent, walls) in walled {
        let runtime = parent.runtime();
        let code = "const fs = process.getBuiltinModule('fs');\
                    console.log(process.argv0, fs.readFileSync('/usr/lib/python3.13/os.py', 'utf8'));";
        let start = ProcessStart { language: Some(Language::Python), ..program(runtime, code) };
        let reply = parent.ask(Kind::ProcessStart, 3, &start);
        let outcome: Outcome<'_> = reply.read();
        assert_eq!(outcome.stdout, b"python3 name = 'posix'\n", "{walls:?} {}", String::from_utf8_lossy(outcome.stderr));
    }
}
