//! The attempts of the stand-in, by what they would reach.

use super::Control::{Depends, Skipped, Succeeds};
use super::{Attempt, Control, Stage, text};
use coldframe_sys::host_access;
use libc::{c_long, c_void, syscall};
use std::path::Path;
use std::ptr::{null, null_mut};

macro_rules! attempts {
    ($($name:literal, $control:expr, |$stage:pat_param| $run:expr;)*) => {
        /// All attempts.
        pub const ATTEMPTS: &[Attempt] = &[$(Attempt {
            name: $name,
            control: $control,
            run: {
                #[allow(unused_unsafe, reason = "requests to the broker are safe")]
                fn run($stage: &Stage) -> c_long {
                    // SAFETY: every attempt passes valid pointers or null, and a call that succeeds
                    // changes no memory of this process that other code uses.
                    unsafe { $run }
                }
                run
            },
        }),*];
    };
}

/// Opens a path.
unsafe fn open(path: &str, flags: i32) -> c_long {
    let path = text(Path::new(path));
    // SAFETY: the path outlives the call.
    unsafe { libc::open(path.as_ptr(), flags, 0o600).into() }
}

/// Opens a file of the app's process.
unsafe fn of_app(stage: &Stage, name: &str, flags: i32) -> c_long {
    // SAFETY: see `open`.
    unsafe { open(&format!("/proc/{}/{name}", stage.app), flags) }
}

/// Maps a page. Returns a negative number after a failure.
unsafe fn map(protection: i32, flags: i32, fd: i32) -> c_long {
    // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
    let page = unsafe { libc::mmap(null_mut(), 4096, protection, flags, fd, 0) };
    if page == libc::MAP_FAILED { -1 } else { page as c_long }
}

/// Executes `work` in a child if a child can be made, else in this process, which a success may
/// replace. Returns a negative number if `work` failed.
unsafe fn in_child(work: impl Fn() -> c_long) -> c_long {
    // SAFETY: the child only makes system calls.
    match unsafe { libc::fork() } {
        -1 => work(),
        0 => {
            let result = work();
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(i32::from(result < 0)) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is a valid place to write to.
            unsafe { libc::waitpid(child, &mut status, 0) };
            if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 { 0 } else { -1 }
        }
    }
}

/// Makes a child that exits at once.
unsafe fn child(made: c_long) -> c_long {
    if made == 0 {
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(0) }
    }
    made
}

/// Converts the result of a request to the broker.
fn asked<T>(result: std::io::Result<T>) -> c_long {
    if result.is_ok() { 0 } else { -1 }
}

unsafe fn execute(path: &str) -> c_long {
    let path = text(Path::new(path));
    let arguments = [path.as_ptr(), c"-c".as_ptr(), c"exit 0".as_ptr(), null()];
    // SAFETY: the lists end with null.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), [null()].as_ptr()).into() }
}

unsafe fn copy_from_app(stage: &Stage, call: c_long) -> c_long {
    let mut byte = 0_u8;
    let own = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 0 };
    let remote = libc::iovec { iov_base: 0x1000 as *mut c_void, iov_len: 0 };
    // SAFETY: both lists have one entry without bytes.
    unsafe { syscall(call, stage.app, &raw const own, 1_usize, &raw const remote, 1_usize, 0_usize) }
}

#[cfg(target_arch = "x86_64")]
unsafe fn change_segments() -> c_long {
    // SAFETY: the call reads no entry.
    unsafe { syscall(libc::SYS_modify_ldt, 0, null::<u8>(), 0) }
}
#[cfg(not(target_arch = "x86_64"))]
unsafe fn change_segments() -> c_long {
    -1
}

const SHELL: &str = "/bin/sh";

attempts! {
    // Files of the host machine.
    "reads a file of the host", Succeeds, |stage| libc::open(stage.path("secret").as_ptr(), libc::O_RDONLY).into();
    "writes a file of the host", Succeeds, |stage| libc::open(stage.path("secret").as_ptr(), libc::O_RDWR).into();
    "makes a file on the host", Succeeds, |stage| {
        libc::open(stage.path("made").as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600).into()
    };
    "removes a file of the host", Succeeds, |stage| libc::unlink(stage.path("made").as_ptr()).into();
    "lists a folder of the host", Succeeds, |stage| {
        libc::open(text(&stage.folder).as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY).into()
    };
    "asks for the status of a file of the host", Succeeds, |stage| {
        libc::access(stage.path("secret").as_ptr(), libc::F_OK).into()
    };
    "links a file of the host", Succeeds, |stage| {
        libc::link(stage.path("secret").as_ptr(), stage.path("linked").as_ptr()).into()
    };
    "renames a file of the host", Succeeds, |stage| {
        libc::rename(stage.path("linked").as_ptr(), stage.path("renamed").as_ptr()).into()
    };
    "reads the list of users", Succeeds, |_| open("/etc/passwd", libc::O_RDONLY);
    "reads a device", Succeeds, |_| open("/dev/urandom", libc::O_RDONLY);
    "lists the devices", Succeeds, |_| open("/dev", libc::O_RDONLY | libc::O_DIRECTORY);
    "lists the kernel's settings", Succeeds, |_| open("/sys", libc::O_RDONLY | libc::O_DIRECTORY);
    "writes a setting of the kernel", Depends, |_| open("/proc/sys/kernel/core_pattern", libc::O_WRONLY);
    "makes a folder in the root", Skipped, |_| libc::mkdir(c"/escaped".as_ptr(), 0o700).into();
    "climbs out of the image by ..", Succeeds, |stage| {
        let image = libc::open(text(&stage.image).as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY);
        libc::openat(image, c"../../../../../../../../../../etc/passwd".as_ptr(), libc::O_RDONLY).into()
    };
    "writes the image", Succeeds, |stage| libc::open(text(&stage.image.join("guest.image")).as_ptr(), libc::O_RDWR).into();
    "adds a file to the image", Skipped, |stage| {
        libc::open(text(&stage.image.join("escaped")).as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600).into()
    };
    "removes the image", Skipped, |stage| libc::unlink(text(&stage.image.join("guest.image")).as_ptr()).into();
    "opens a file by its handle", Skipped, |_| syscall(libc::SYS_open_by_handle_at, -1, null::<u8>(), 0);
    "makes a device", Skipped, |stage| {
        syscall(libc::SYS_mknodat, libc::AT_FDCWD, stage.path("device").as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(1, 1))
    };
    // The app and other processes.
    "reads the app's environment", Succeeds, |stage| of_app(stage, "environ", libc::O_RDONLY);
    "reads the app's memory", Succeeds, |stage| of_app(stage, "mem", libc::O_RDONLY);
    "writes the app's memory", Succeeds, |stage| of_app(stage, "mem", libc::O_RDWR);
    "lists the app's descriptors", Succeeds, |stage| of_app(stage, "fd", libc::O_RDONLY | libc::O_DIRECTORY);
    "reads the app's root", Succeeds, |stage| of_app(stage, "root/etc/passwd", libc::O_RDONLY);
    "reads the root of the first process", Depends, |_| open("/proc/1/root/etc/passwd", libc::O_RDONLY);
    "reads its own root", Succeeds, |_| open("/proc/self/root/etc/passwd", libc::O_RDONLY);
    "writes its own code through /proc", Succeeds, |_| open("/proc/self/mem", libc::O_RDWR);
    "traces the app", Depends, |stage| syscall(libc::SYS_ptrace, libc::PTRACE_SEIZE, stage.app, 0, 0);
    "copies from the app's memory", Succeeds, |stage| copy_from_app(stage, libc::SYS_process_vm_readv);
    "copies to the app's memory", Succeeds, |stage| copy_from_app(stage, libc::SYS_process_vm_writev);
    "signals the app", Succeeds, |stage| syscall(libc::SYS_kill, stage.app, 0);
    "signals a thread of the app", Succeeds, |stage| syscall(libc::SYS_tgkill, stage.app, stage.app, 0);
    "signals a thread", Succeeds, |stage| syscall(libc::SYS_tkill, stage.app, 0);
    "signals all processes", Skipped, |_| syscall(libc::SYS_kill, -1, 0);
    "queues a signal", Depends, |stage| {
        let info: libc::siginfo_t = std::mem::zeroed();
        syscall(libc::SYS_rt_sigqueueinfo, stage.app, 0, &raw const info)
    };
    "opens the app's process", Succeeds, |stage| syscall(libc::SYS_pidfd_open, stage.app, 0);
    "takes a descriptor of the app", Skipped, |_| syscall(libc::SYS_pidfd_getfd, 3, 0, 0);
    "signals through a descriptor", Skipped, |_| syscall(libc::SYS_pidfd_send_signal, 3, 0, 0, 0);
    "changes the app's limits", Succeeds, |stage| {
        let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        syscall(libc::SYS_prlimit64, stage.app, libc::RLIMIT_NOFILE, 0, &raw mut old)
    };
    "sends the app a signal of a descriptor", Succeeds, |stage| libc::fcntl(2, libc::F_SETOWN, stage.app).into();
    "changes the app's priority", Succeeds, |stage| syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, stage.app).min(0);
    "reads the app's processors", Succeeds, |stage| {
        let mut set = [0_u64;
        16];
        syscall(libc::SYS_sched_getaffinity, stage.app, 128, set.as_mut_ptr())
    };
    // Sockets.
    "makes a TCP socket", Succeeds, |_| libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0).into();
    "makes a UDP socket", Succeeds, |_| libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).into();
    "makes an IPv6 socket", Depends, |_| libc::socket(libc::AF_INET6, libc::SOCK_STREAM, 0).into();
    "makes a Unix socket", Succeeds, |_| libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0).into();
    "makes a netlink socket", Succeeds, |_| libc::socket(libc::AF_NETLINK, libc::SOCK_RAW, 0).into();
    "makes a packet socket", Depends, |_| libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).into();
    "makes a vsock socket", Depends, |_| libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0).into();
    "makes a socket of the crypto API", Depends, |_| libc::socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0).into();
    "makes a pair of sockets", Succeeds, |_| {
        let mut fds = [0;
        2];
        libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, fds.as_mut_ptr()).into()
    };
    "connects to an abstract socket", Skipped, |_| {
        let address = libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
        libc::connect(3, (&raw const address).cast(), 8).into()
    };
    "listens", Skipped, |_| libc::listen(3, 1).into();
    "accepts", Skipped, |_| libc::accept(3, null_mut(), null_mut()).into();
    // Programs and processes.
    "executes a shell", Succeeds, |_| in_child(|| execute(SHELL));
    "executes a file without a name", Succeeds, |_| in_child(|| {
        let file = libc::open(c"/bin/sh".as_ptr(), libc::O_RDONLY);
        let arguments = [c"sh".as_ptr(), c"-c".as_ptr(), c"exit 0".as_ptr(), null()];
        syscall(libc::SYS_execveat, file, c"".as_ptr(), arguments.as_ptr(), [null::<i8>()].as_ptr(), libc::AT_EMPTY_PATH)
    });
    "forks", Succeeds, |_| child(syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0));
    "forks and shares descriptors", Succeeds, |_| {
        child(syscall(libc::SYS_clone, libc::CLONE_FILES | libc::SIGCHLD, 0, 0, 0, 0))
    };
    "forks into a user namespace", Depends, |_| {
        child(syscall(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0))
    };
    "forks by clone3", Succeeds, |_| {
        let mut arguments: libc::clone_args = std::mem::zeroed();
        arguments.exit_signal = libc::SIGCHLD as u64;
        child(syscall(libc::SYS_clone3, &raw mut arguments, size_of::<libc::clone_args>()))
    };
    // Namespaces and mounts.
    "makes a user namespace", Depends, |_| in_child(|| libc::unshare(libc::CLONE_NEWUSER).into());
    "makes a mount namespace", Succeeds, |_| in_child(|| libc::unshare(libc::CLONE_NEWNS).into());
    "makes a network namespace", Succeeds, |_| in_child(|| libc::unshare(libc::CLONE_NEWNET).into());
    "makes a time namespace", Depends, |_| in_child(|| libc::unshare(libc::CLONE_NEWTIME).into());
    "joins a namespace", Succeeds, |stage| {
        let ns = of_app(stage, "ns/uts", libc::O_RDONLY);
        libc::setns(ns as i32, 0).into()
    };
    "mounts", Skipped, |_| libc::mount(c"none".as_ptr(), c"/".as_ptr(), c"tmpfs".as_ptr(), 0, null()).into();
    "unmounts", Skipped, |_| libc::umount2(c"/proc/self/fd".as_ptr(), libc::MNT_DETACH).into();
    "clones a mount", Succeeds, |_| syscall(libc::SYS_open_tree, libc::AT_FDCWD, c"/".as_ptr(), 1);
    "opens a file system", Succeeds, |_| syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0);
    "moves a mount", Skipped, |_| syscall(libc::SYS_move_mount, 3, c"".as_ptr(), 3, c"".as_ptr(), 4);
    "makes a mount writable", Skipped, |stage| {
        let attributes = libc::mount_attr { attr_set: 0, attr_clr: 1, propagation: 0, userns_fd: 0 };
        let (image, len) = (text(&stage.image), size_of::<libc::mount_attr>());
        syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, image.as_ptr(), 0, &raw const attributes, len)
    };
    "changes the root", Succeeds, |_| libc::chroot(c"/".as_ptr()).into();
    "pivots the root", Skipped, |_| syscall(libc::SYS_pivot_root, c"/".as_ptr(), c"/".as_ptr());
    // Parts of the kernel with many faults.
    "makes an io_uring", Depends, |_| {
        let mut parameters = [0_u8;
        512];
        syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr())
    };
    "loads a BPF program", Depends, |_| { let attributes = [0_u8; 128]; syscall(libc::SYS_bpf, 0, attributes.as_ptr(), 128) };
    "makes a userfaultfd", Depends, |_| syscall(libc::SYS_userfaultfd, 1);
    "reads a keyring", Depends, |_| syscall(libc::SYS_keyctl, 0, -3, 0);
    "adds a key", Depends, |_| syscall(libc::SYS_add_key, c"user".as_ptr(), c"coldframe".as_ptr(), c"x".as_ptr(), 1, -3);
    "opens a performance counter", Depends, |_| {
        let attributes = [0_u8;
        128];
        syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 0)
    };
    "loads a kernel module", Skipped, |_| syscall(libc::SYS_init_module, null::<u8>(), 0, c"".as_ptr());
    "loads another kernel", Skipped, |_| syscall(libc::SYS_kexec_load, 0, 0, null::<u8>(), 0);
    "reads the kernel's log", Depends, |_| syscall(libc::SYS_syslog, 10, null::<u8>(), 0);
    "restarts the machine", Skipped, |_| syscall(libc::SYS_reboot, 0, 0, 0, 0);
    "watches all files", Depends, |_| syscall(libc::SYS_fanotify_init, 0, 0);
    "makes a message queue", Depends, |_| syscall(libc::SYS_msgget, 0, 0o600 | libc::IPC_CREAT);
    "makes a semaphore", Depends, |_| syscall(libc::SYS_semget, 0, 1, 0o600 | libc::IPC_CREAT);
    // Executable memory.
    "maps executable memory", Succeeds, |_| {
        map(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
    };
    "maps memory that is only executable", Succeeds, |_| map(libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1);
    "makes memory executable", Succeeds, |_| {
        let page = map(libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1);
        libc::mprotect(page as *mut c_void, 4096, libc::PROT_READ | libc::PROT_EXEC).into()
    };
    "makes memory executable with a key", Depends, |_| {
        let page = map(libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1);
        syscall(libc::SYS_pkey_mprotect, page, 4096, libc::PROT_READ | libc::PROT_EXEC, -1)
    };
    "maps a file in memory executable", Succeeds, |_| {
        let file = libc::memfd_create(c"code".as_ptr(), 0);
        libc::ftruncate(file, 4096);
        map(libc::PROT_READ | libc::PROT_EXEC, libc::MAP_SHARED, file)
    };
    "maps a file of the image executable", Succeeds, |stage| {
        let file = libc::open(text(&stage.image.join("guest.image")).as_ptr(), libc::O_RDONLY);
        map(libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE, file)
    };
    "attaches executable shared memory", Depends, |_| {
        let segment = libc::shmget(libc::IPC_PRIVATE, 4096, 0o700 | libc::IPC_CREAT);
        libc::shmat(segment, null(), libc::SHM_EXEC) as c_long
    };
    "makes readable memory executable by its personality", Succeeds, |_| syscall(libc::SYS_personality, 0x0040_0000);
    // Rights of the process.
    "becomes root", Succeeds, |_| libc::setuid(0).into();
    "changes its group", Succeeds, |_| libc::setgid(libc::getgid()).into();
    "changes all user ids", Succeeds, |_| libc::setresuid(0, 0, 0).into();
    "changes its groups", Succeeds, |_| libc::setgroups(0, null()).into();
    "changes the user of file access", Skipped, |_| if libc::syscall(libc::SYS_setfsuid, 0) < 0 { -1 } else { 0 };
    "takes capabilities", Depends, |_| {
        let header = [0x2008_0522_u32, 0];
        let sets = [u32::MAX;
        6];
        syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr())
    };
    "becomes dumpable", Succeeds, |_| libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0).into();
    "undoes no_new_privs", Skipped, |_| libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0).into();
    "lets a process trace it", Depends, |_| libc::prctl(libc::PR_SET_PTRACER, -1, 0, 0, 0).into();
    "changes its secure bits", Succeeds, |_| libc::prctl(libc::PR_SET_SECUREBITS, 0, 0, 0, 0).into();
    "outlives its parent", Succeeds, |_| libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0).into();
    "adds a filter of system calls", Skipped, |_| syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_STRICT, 1, 0);
    "raises a limit", Succeeds, |_| {
        let limit = libc::rlimit { rlim_cur: 64, rlim_max: 1 << 16 };
        libc::setrlimit(libc::RLIMIT_MEMLOCK, &limit).into()
    };
    "raises its priority", Skipped, |_| syscall(libc::SYS_setpriority, libc::PRIO_USER, 0, 0);
    "changes its scheduler", Succeeds, |_| {
        let priority = 0_i32;
        syscall(libc::SYS_sched_setscheduler, 0, 0, &raw const priority)
    };
    "locks memory", Succeeds, |stage| syscall(libc::SYS_mlock, stage as *const Stage, 8);
    "renames the machine", Skipped, |_| libc::sethostname(c"escaped".as_ptr(), 7).into();
    "sets the time", Skipped, |_| syscall(libc::SYS_clock_settime, libc::CLOCK_REALTIME, null::<u8>());
    "types into a terminal", Depends, |_| libc::ioctl(2, libc::TIOCSTI, c"x".as_ptr()).into();
    "changes its segments", Depends, |_| change_segments();
    // The broker, with forged requests.
    "asks the broker for the root", Succeeds, |_| asked(host_access().folder(Path::new("/"), true));
    "asks the broker for a folder of the host", Succeeds, |stage| asked(host_access().folder(&stage.folder, true));
    "asks the broker to write a folder of the host", Succeeds, |stage| asked(host_access().folder(&stage.folder, false));
    "asks the broker for the image for writing", Succeeds, |stage| asked(host_access().folder(&stage.image, false));
    "asks the broker for a file of the host", Succeeds, |stage| asked(host_access().file(&stage.folder.join("secret")));
    "asks the broker to replace a file of the host", Succeeds, |stage| {
        asked(host_access().replace(&stage.folder.join("secret"), ".part"))
    };
    "asks the broker for a program", Succeeds, |_| asked(host_access().start_edge(Path::new("/bin/true")));
    "asks the broker for an empty path", Depends, |_| asked(host_access().folder(Path::new(""), true));
    "asks the broker for the app's process", Succeeds, |stage| {
        asked(host_access().folder(Path::new(&format!("/proc/{}", stage.app)), true))
    };
    // A call of another architecture ends the process, so this attempt is made alone.
    "calls the kernel as x32", Control::Ends, |_| syscall(0x4000_0000 + 39);
}
