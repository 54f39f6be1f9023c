//! The program: its link, its end, and its wall.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::*;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Starts the program with one end of a socket pair as descriptor 3.
fn start(change: impl FnOnce(&mut Command)) -> (Child, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coldframe-edge"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    change(&mut command);
    let fd = theirs.as_raw_fd();
    let inherit = move || {
        // SAFETY: between fork and exec only system calls are made. A descriptor that is 3 already
        // must lose its flag.
        let result = unsafe { if fd == 3 { libc::fcntl(3, libc::F_SETFD, 0) } else { libc::dup2(fd, 3) } };
        if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: see above.
    unsafe { command.pre_exec(inherit) };
    (command.spawn().unwrap(), ours)
}

fn ended(mut child: Child) -> (ExitStatus, String) {
    let status = child.wait().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    (status, text)
}

#[test]
fn the_program_serves_behind_its_wall_and_ends_with_the_link() {
    let echo = Counting::echo();
    let (child, stream) = start(|_| {});
    let mut sidecar = Sidecar::over(stream);
    sidecar.hello();
    let parts: Vec<_> = sidecar.walls.iter().map(|part| (&*part.name, part.missing.as_deref())).collect();
    let names = ["noNewPrivileges", "capabilities", "limits", "notDumpable", "seccomp"];
    assert_eq!(parts, names.map(|name| (name, None)));
    sidecar.set(1, loopback());
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    // A terminal signals the whole process group.
    for signal in [libc::SIGINT, libc::SIGHUP] {
        // SAFETY: the process is the test's child.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
    }
    sidecar.send(1, &ToEdge::Data(b"through the wall"));
    assert_eq!(sidecar.receive(1, 16), b"through the wall");
    // The server truncates its response over UDP.
    let server = common::dns::Server::new(|query| {
        let mut response = query.response();
        response.metadata.truncation = true;
        let whole = || query.answer(&[(&query.name(), 60, "8.8.8.8"), (&query.name(), 60, "2606:4700::1111")]);
        vec![if query.over_tcp { whole() } else { response.to_vec().unwrap() }]
    });
    let options = Options {
        allow: vec!["a.example".to_owned()],
        dns_servers: vec![server.address.to_string()],
        limits: wide(),
        ..Options::default()
    };
    sidecar.set(2, options);
    let reply = sidecar.ask(&ToEdge::LookUp { runtime: 2, name: "a.example".to_owned(), family: LookUpFamily::V4 });
    assert_eq!(reply, ToSidecar::Addresses { addresses: vec!["8.8.8.8".parse().unwrap()] });

    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    let fields = ["NoNewPrivs:", "Seccomp:", "Threads:", "CapPrm:", "CapEff:", "CapInh:", "CapAmb:"].map(field);
    let none = "0000000000000000";
    assert_eq!(fields, ["1", "2", "1", none, none, none, none], "{status}");
    // An undumpable process belongs to root, so that only root lists its descriptors.
    if let Ok(entries) = std::fs::read_dir(format!("/proc/{}/fd", child.id())) {
        for entry in entries.flatten() {
            let target = std::fs::read_link(entry.path()).unwrap();
            let target = target.to_string_lossy();
            let is_expected =
                target == "/dev/null" || ["socket:", "pipe:", "anon_inode:"].iter().any(|kind| target.starts_with(kind));
            assert!(is_expected, "{target}");
        }
    }
    drop(sidecar);
    let (status, text) = ended(child);
    assert_eq!((status.code(), &*text), (Some(0), ""));
}

#[test]
fn requests_are_filtered_and_secrets_are_received_behind_the_wall() {
    let origin = common::http::Origin::ok();
    let (child, stream) = start(|_| {});
    let mut sidecar = Sidecar::over(stream);
    sidecar.hello();
    let host = format!("api.test:{}", origin.port());
    let secrets = vec![common::embedder::entry(&[&host], true)];
    sidecar.set(1, Options { secrets, ..common::http::options(vec![common::http::rule(host, Some(&["GET"]), None)]) });
    let embedder = common::embedder::Embedder::asked(&mut sidecar, 1);
    embedder.value(&mut sidecar, common::embedder::VALUE).unwrap();
    let more = format!("x-api-key: {}\r\n", common::embedder::KEY);
    let response = common::http::exchange(&mut sidecar, 1, &origin, &common::http::request("GET", "/", &more));
    assert_eq!(common::http::status(&response), "200");
    assert_eq!(common::http::header(&origin.seen()[0], "x-api-key"), Some(common::embedder::VALUE));
    let response = common::http::exchange(&mut sidecar, 2, &origin, &common::http::request("POST", "/", ""));
    assert_eq!(common::http::status(&response), "403");
    drop(sidecar);
    let (status, text) = ended(child);
    assert_eq!((status.code(), &*text), (Some(0), ""));
}

#[test]
fn the_end_of_the_sidecar_ends_the_program_while_bytes_move() {
    let flood = Counting::new(|mut stream| {
        use std::io::Write;
        while stream.write_all(&[7; 65_536]).is_ok() {}
    });
    let (child, stream) = start(|_| {});
    let mut sidecar = Sidecar::over(stream);
    sidecar.hello();
    sidecar.set(1, loopback());
    assert_eq!(sidecar.connect(1, flood.address), Ok(()));
    drop(sidecar);
    let (status, _) = ended(child);
    assert!(status.code() == Some(0) || status.code() == Some(1), "{status}");
    assert_eq!(status.signal(), None);
}

/// The edge waits for a sidecar that does not read, and must notice its end nevertheless.
#[test]
fn the_end_of_a_sidecar_that_does_not_read_ends_the_program() {
    let (child, stream) = start(|_| {});
    let mut sidecar = Sidecar::over(stream.try_clone().unwrap());
    sidecar.hello();
    let check = ToEdge::Check { runtime: 1, url: "http://a.example".to_owned(), method: String::new() };
    let mut bytes = Vec::new();
    (0..1_000).for_each(|id| check.encode(id, &mut bytes).unwrap());
    // The edge stops reading, so that the writes fail at the end of the time.
    stream.set_write_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
    while std::io::Write::write_all(&mut &stream, &bytes).is_ok() {
        let mut next = Vec::new();
        (0..1_000).for_each(|id| check.encode(id, &mut next).unwrap());
        bytes = next;
    }
    drop((sidecar, stream));
    let (status, text) = ended(child);
    assert_eq!(status.code(), Some(0), "{text}");
}

#[test]
fn the_program_refuses_arguments_and_a_descriptor_that_is_no_socket() {
    let (child, _stream) = start(|command| {
        command.arg("--config=/tmp/x");
    });
    assert_eq!(ended(child).0.code(), Some(2));
    let mut command = Command::new(env!("CARGO_BIN_EXE_coldframe-edge"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (status, text) = ended(child);
    assert_eq!(status.code(), Some(2), "{text}");
}

#[test]
fn a_fault_of_the_link_is_reported_and_ends_the_program() {
    let (child, stream) = start(|_| {});
    let mut sidecar = Sidecar::over(stream);
    sidecar.send(9, &ToEdge::Data(b"x"));
    assert!(sidecar.read().is_none());
    let (status, text) = ended(child);
    assert_eq!(status.code(), Some(1));
    assert!(text.contains("broke the rules of the link"), "{text}");
}

/// Makes the system call that marks the process as undumpable fail, in the process and its program.
fn refuse_undumpable() -> std::io::Result<()> {
    let load = |offset| libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: offset };
    let skip_unless = |value: i32, count| libc::sock_filter { code: 0x15, jt: 0, jf: count, k: value as u32 };
    let result = |value| libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: value };
    // The offsets of `nr` and of the first argument in `seccomp_data`.
    let mut filter = [
        load(0),
        skip_unless(libc::SYS_prctl as i32, 3),
        load(16),
        skip_unless(libc::PR_SET_DUMPABLE, 1),
        result(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        result(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its instructions outlive the calls.
    let is_set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if is_set { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn the_program_reports_a_part_of_its_wall_that_the_system_refuses() {
    let (child, stream) = start(|command| {
        // SAFETY: between fork and exec only system calls are made.
        unsafe { command.pre_exec(refuse_undumpable) };
    });
    let mut sidecar = Sidecar::over(stream);
    sidecar.hello();
    let missing: Vec<_> = sidecar.walls.iter().filter(|part| part.missing.is_some()).map(|part| &*part.name).collect();
    assert_eq!(missing, ["notDumpable"]);
    drop(sidecar);
    assert_eq!(ended(child).0.code(), Some(0));
}
