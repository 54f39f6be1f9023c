//! A stand-in for code that has taken over the edge process. A child process makes the attempts
//! twice. Behind the wall they must fail. Without the wall they must succeed, so that a wrong
//! attempt does not pass.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

/// The environment variable that makes this program make the attempts.
const ROLE: &str = "COLDFRAME_EDGE_ATTEMPTS";

type Attempt = (&'static str, fn() -> i64);

/// The attempts, each with the result of a system call: negative after a failure.
const ATTEMPTS: &[Attempt] = &[
    ("opens a file", || {
        // SAFETY: the path is a literal.
        unsafe { libc::open(c"/etc/hostname".as_ptr(), libc::O_RDONLY).into() }
    }),
    ("opens a folder", || {
        // SAFETY: the path is a literal.
        unsafe { libc::openat(libc::AT_FDCWD, c"/".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY).into() }
    }),
    ("reads the memory of a process", || {
        // SAFETY: the path is a literal.
        unsafe { libc::open(c"/proc/self/mem".as_ptr(), libc::O_RDWR).into() }
    }),
    ("makes a Unix socket", || {
        // SAFETY: the call has no pointers.
        unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0).into() }
    }),
    ("makes a netlink socket", || {
        // SAFETY: the call has no pointers.
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW, 0).into() }
    }),
    ("listens", || {
        // SAFETY: the calls have no pointers.
        unsafe {
            let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0);
            libc::listen(socket, 1).into()
        }
    }),
    ("makes a process", || {
        // SAFETY: the child only ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(0);
            }
            child.into()
        }
    }),
    ("makes memory executable", || {
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
        let page =
            unsafe { libc::mmap(std::ptr::null_mut(), 4_096, libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        if page == libc::MAP_FAILED { -1 } else { 1 }
    }),
    ("becomes dumpable", || {
        // SAFETY: the call has no pointers.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0).into() }
    }),
    ("removes a file", || {
        let path = std::env::temp_dir().join(format!("coldframe-edge-{}", std::process::id()));
        let text = std::ffi::CString::new(path.into_os_string().into_encoded_bytes()).unwrap();
        // SAFETY: the path outlives the calls.
        unsafe {
            libc::close(libc::open(text.as_ptr(), libc::O_CREAT | libc::O_WRONLY, 0o600));
            libc::unlink(text.as_ptr()).into()
        }
    }),
    ("executes a program", || {
        let arguments = [c"/bin/true".as_ptr(), std::ptr::null()];
        // SAFETY: the arguments outlive the calls. The child of `vfork` only executes or ends.
        unsafe {
            match libc::fork() {
                -1 => libc::execve(arguments[0], arguments.as_ptr(), [std::ptr::null()].as_ptr()).into(),
                0 => {
                    libc::execve(arguments[0], arguments.as_ptr(), [std::ptr::null()].as_ptr());
                    libc::_exit(1)
                }
                child => {
                    let mut status = 0;
                    libc::waitpid(child, &mut status, 0);
                    if status == 0 { 0 } else { -1 }
                }
            }
        }
    }),
];

/// Makes the attempts, if this process is the child.
#[test]
fn attempts() {
    let Ok(role) = std::env::var(ROLE) else { return };
    if role == "walled" {
        assert_eq!(coldframe_wall::close_edge().missing(), Vec::<&str>::new());
    }
    for (name, attempt) in ATTEMPTS {
        let result = attempt();
        println!("attempt\t{name}\t{}", if result < 0 { "refused" } else { "done" });
    }
    // The exit handlers of the test harness open files.
    println!("all attempts made");
    std::process::exit(0);
}

fn results(role: &str) -> Vec<(String, String)> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    // One thread, as in the edge.
    command.args(["--exact", "attempts", "--nocapture", "--test-threads=1"]).env(ROLE, role);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("all attempts made"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let fields = |line: &str| {
        let mut fields = line.split('\t').skip(1).map(str::to_owned);
        (fields.next().unwrap(), fields.next().unwrap())
    };
    text.lines().filter_map(|line| line.find("attempt\t").map(|place| fields(&line[place..]))).collect()
}

#[test]
fn the_wall_refuses_every_attempt_that_succeeds_without_it() {
    let (open, walled) = (results("open"), results("walled"));
    assert_eq!((open.len(), walled.len()), (ATTEMPTS.len(), ATTEMPTS.len()));
    for ((name, without), (_, behind)) in open.iter().zip(&walled) {
        assert_eq!((without.as_str(), behind.as_str()), ("done", "refused"), "{name}");
    }
}
